package hashring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
)

// benchKeys are random keys of 16 to 24 bytes.
var benchKeys = func() []string {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]string, 1<<16)
	buf := make([]byte, 0, len(keys)*24) // packed, as keys out of a request's buffer are
	for i := range keys {
		start := len(buf)
		for range 16 + rng.IntN(9) {
			buf = append(buf, byte('a'+rng.IntN(26)))
		}
		keys[i] = string(buf[start:])
	}
	return keys
}()

func key(i int) string { return benchKeys[i&(len(benchKeys)-1)] }

func benchNodes(n int, weighted bool) []hashring.Node {
	nodes := make([]hashring.Node, n)
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("10.0.%d.%d:6379", i/250, i%250)
		if weighted {
			nodes[i].Weight = float64(1 + i%4)
		}
	}
	return nodes
}

// sink keeps results alive.
var sink atomic.Int64

// sizes runs f for rings of 10, 100 and 1,000 nodes.
func sizes(b *testing.B, f func(b *testing.B, nodes []hashring.Node, r *hashring.Ring)) {
	for _, n := range []int{10, 100, 1000} {
		nodes := benchNodes(n, false)
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) { f(b, nodes, mustNew(b, nodes, nil)) })
	}
}

// BenchmarkHash is the bare default hash of the keys that BenchmarkOwner looks up: what no lookup can be faster than.
func BenchmarkHash(b *testing.B) {
	for _, h := range builtins {
		b.Run(h.Name(), func(b *testing.B) {
			r := ringBy(b, h)
			i, s := 0, uint64(0)
			for b.Loop() {
				s += r.Position(key(i))
				i++
			}
			sink.Add(int64(s))
		})
	}
}

// BenchmarkOwner looks keys up, and reports the quality of the ring: the deviation of shares against theory (1, give or
// take 1/sqrt(2N) on a single ring), the largest share against that node's part by weight, what part of the circle moves when a node joins or
// leaves beside the ideal, and the memory that the ring retains.
func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, virtualNodes := range []int{40, 160, 512} {
			for _, kind := range []string{"equal", "weighted"} {
				b.Run(fmt.Sprintf("nodes=%d/virtual=%d/%s", n, virtualNodes, kind), func(b *testing.B) {
					nodes := benchNodes(n, kind == "weighted")
					opts := &hashring.Options{VirtualNodes: virtualNodes}
					before := heap()
					r := mustNew(b, nodes, opts)
					retained := float64(heap() - before)
					i, s := 0, 0
					for b.Loop() {
						owner, _ := r.Owner(key(i))
						s += len(owner)
						i++
					}
					sink.Add(int64(s))
					q := quality(r)
					b.ReportMetric(q.deviation, "deviation/theory")
					b.ReportMetric(q.peak, "peak/mean")
					join := mustWith(b, r, hashring.Node{Name: "joiner"})
					leave := mustWithout(b, r, nodes[n/2].Name)
					total := float64(r.NumTokens())
					b.ReportMetric(100*movedShare(r, join), "join-%")
					b.ReportMetric(100*float64(join.NumTokens()-r.NumTokens())/float64(join.NumTokens()), "join-ideal-%")
					b.ReportMetric(100*movedShare(r, leave), "leave-%")
					b.ReportMetric(100*(total-float64(leave.NumTokens()))/total, "leave-ideal-%")
					b.ReportMetric(retained/total, "B/token")
				})
			}
		}
	}
}

// heap returns the bytes in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers of the first held back
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

type ringQuality struct{ deviation, peak float64 }

// quality compares exact shares with theory: node i, with v of T tokens, has a share of v/T with a deviation of
// sqrt((T-v)/(v(T+1))) of that.
func quality(r *hashring.Ring) (q ringQuality) {
	tokens := make(map[string]float64)
	for _, name := range r.Tokens() {
		tokens[name]++
	}
	total, sum := float64(r.NumTokens()), 0.0
	for name, share := range shares(r) {
		v := tokens[name]
		ratio := share / (v / total)
		q.peak = max(q.peak, ratio)
		sum += (ratio - 1) * (ratio - 1) * v * (total + 1) / (total - v)
	}
	q.deviation = math.Sqrt(sum / float64(r.Len()))
	return q
}

// movedShare returns the part of the circle that has another owner in b than in a.
func movedShare(a, b *hashring.Ring) float64 {
	at := boundaries(a, b)
	last, moved := at[len(at)-1], 0.0
	for _, pos := range at {
		was, _ := a.OwnerAt(pos)
		if is, _ := b.OwnerAt(pos); is != was {
			moved += float64(pos - last)
		}
		last = pos
	}
	return moved / (1 << 64)
}

// BenchmarkSortSearch is the yardstick: the same tokens searched by sort.Search.
func BenchmarkSortSearch(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		var tokens []uint64
		var owners []int
		for token, i := range r.TokensFrom(0) {
			tokens, owners = append(tokens, token), append(owners, i)
		}
		i, s := 0, 0
		for b.Loop() {
			pos := r.Position(key(i))
			at := sort.Search(len(tokens), func(k int) bool { return tokens[k] >= pos })
			if at == len(tokens) {
				at = 0
			}
			s += len(r.Name(owners[at]))
			i++
		}
		sink.Add(int64(s))
	})
}

func BenchmarkOwnerBytes(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		keys := make([][]byte, len(benchKeys))
		for i, k := range benchKeys {
			keys[i] = []byte(k)
		}
		b.ReportAllocs()
		i, s := 0, 0
		for b.Loop() {
			owner, _ := r.OwnerBytes(keys[i&(len(keys)-1)])
			s += len(owner)
			i++
		}
		sink.Add(int64(s))
	})
}

func BenchmarkOwnerAt(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		pos, s := uint64(0), 0
		for b.Loop() {
			owner, _ := r.OwnerAt(pos)
			s += len(owner)
			pos += 0x9e3779b97f4a7c15
		}
		sink.Add(int64(s))
	})
}

func BenchmarkAppendReplicas(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		var buf [3]string
		i, s := 0, 0
		for b.Loop() {
			s += len(r.AppendReplicas(buf[:0], key(i), 3))
			i++
		}
		sink.Add(int64(s))
	})
}

func BenchmarkReplicas(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		i, s := 0, 0
		for b.Loop() {
			n := 0
			for name := range r.Replicas(key(i)) {
				s += len(name)
				if n++; n == 3 {
					break
				}
			}
			i++
		}
		sink.Add(int64(s))
	})
}

// BenchmarkAppendSpread takes three replicas in three of three zones.
func BenchmarkAppendSpread(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, _ *hashring.Ring) {
		for i := range nodes {
			nodes[i].Zone = string(rune('a' + i%3))
		}
		r := mustNew(b, nodes, nil)
		b.ReportAllocs()
		var buf [3]string
		i, s := 0, 0
		for b.Loop() {
			s += len(r.AppendSpread(buf[:0], key(i), 3))
			i++
		}
		sink.Add(int64(s))
	})
}

func BenchmarkNew(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		for b.Loop() {
			mustNew(b, nodes, nil)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumTokens()), "ns/token")
	})
}

func BenchmarkWith(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		for b.Loop() {
			mustWith(b, r, hashring.Node{Name: "joiner"})
		}
	})
}

func BenchmarkWithout(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		for b.Loop() {
			mustWithout(b, r, nodes[len(nodes)/2].Name)
		}
	})
}

// BenchmarkCopy is the yardstick of a change: copying 12 bytes a token into fresh memory.
func BenchmarkCopy(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		tokens, owners := make([]uint64, r.NumTokens()), make([]uint32, r.NumTokens())
		for b.Loop() {
			t, o := append([]uint64(nil), tokens...), append([]uint32(nil), owners...)
			sink.Add(int64(len(t) + len(o)))
		}
	})
}

// BenchmarkSetUnchanged gives a Live the membership it has, as a poller does.
func BenchmarkSetUnchanged(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, r *hashring.Ring) {
		l := hashring.NewLive(r)
		for b.Loop() {
			if c, err := l.Set(nodes); err != nil || c.Old != c.New {
				b.Fatal("changed")
			}
		}
	})
}

// BenchmarkLiveParallel looks keys up in a Live from all processors, without a writer and with one that changes the
// ring every 10 ms.
func BenchmarkLiveParallel(b *testing.B) {
	for _, writer := range []bool{false, true} {
		b.Run(fmt.Sprintf("writer=%v", writer), func(b *testing.B) {
			sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
				l := hashring.NewLive(r)
				stop, stopped := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(stopped)
					tick := time.NewTicker(10 * time.Millisecond)
					defer tick.Stop()
					for on := false; writer; on = !on {
						select {
						case <-stop:
							return
						case <-tick.C:
						}
						var err error
						if on {
							_, err = l.Remove("joiner")
						} else {
							_, err = l.Add(hashring.Node{Name: "joiner"})
						}
						if err != nil {
							panic(err)
						}
					}
				}()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					i, s := 0, 0
					for pb.Next() {
						owner, _ := l.Owner(key(i))
						s += len(owner)
						i++
					}
					sink.Add(int64(s))
				})
				b.StopTimer()
				close(stop)
				<-stopped
			})
		})
	}
}
