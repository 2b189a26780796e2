package bench

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The benchmarks are named What/nodes=N/.../kind=K/peer=P, and each runs all peers at one size before the next, so that
// what is compared is near in time.

// each runs f for every size and every peer that pick picks.
func each(b *testing.B, sizes []int, pick func(p peer, n int) bool, f func(b *testing.B, p peer, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			for _, p := range peers {
				if pick(p, n) {
					f(b, p, n)
				}
			}
		})
	}
}

// path is the end of the name of each benchmark of p.
func path(p peer) string { return fmt.Sprintf("kind=%s/peer=%s", p.kind, p.name) }

// affordable leaves out what would take minutes to make, and more network clients than a benchmark should hold.
func affordable(p peer, n int) bool { return n <= 1000 || !p.slow && !p.clients }

// libraries are all but the yardstick.
func libraries(p peer, _ int) bool { return p.kind != yardstick }

// placing are the libraries whose nodes are nothing but names.
func placing(p peer, n int) bool { return libraries(p, n) && !p.clients }

// slowly holds the large placers that take long to make, by the name of the peer. Who changes one changes it back.
var slowly sync.Map

// made returns a placer of p of n nodes.
func made(p peer, n int) placer {
	if !p.slow || n < 1000 {
		return p.make(nodeNames(n, 0))
	}
	name := fmt.Sprintf("%s/%d", p.name, n)
	if r, ok := slowly.Load(name); ok {
		return r.(placer)
	}
	r := p.make(nodeNames(n, 0))
	slowly.Store(name, r)
	return r
}

// sink keeps results alive.
var sink atomic.Int64

// BenchmarkLookup finds the owner of one key.
func BenchmarkLookup(b *testing.B) {
	each(b, []int{10, 100, 1000, 10000}, affordable, func(b *testing.B, p peer, n int) {
		r := sync.OnceValue(func() placer { return made(p, n) })
		for _, name := range []string{"random", "path"} {
			keys := keySets()[name]
			b.Run("keys="+name+"/"+path(p), func(b *testing.B) {
				r := r()
				b.ReportAllocs()
				i, s := 0, 0
				for b.Loop() {
					s += len(r.Owner(keys[i&(len(keys)-1)]))
					i++
				}
				sink.Add(int64(s))
			})
		}
	})
}

// BenchmarkReplicas finds three nodes for one key, in peers that can.
func BenchmarkReplicas(b *testing.B) {
	replicators := func(p peer, _ int) bool {
		_, ok := p.make(nodeNames(1, 0)).(replicator)
		return ok
	}
	each(b, []int{10, 100, 1000}, replicators, func(b *testing.B, p peer, n int) {
		r := sync.OnceValue(func() replicator { return made(p, n).(replicator) })
		b.Run(path(p), func(b *testing.B) {
			r, keys := r(), keySets()["random"]
			b.ReportAllocs()
			var buf [3]string
			i, s := 0, 0
			for b.Loop() {
				s += len(r.AppendReplicas(buf[:0], keys[i&(len(keys)-1)], 3))
				i++
			}
			sink.Add(int64(s))
		})
	})
}

// BenchmarkParallel finds owners on all processors, in what may be changed meanwhile, without a writer and with one that
// changes the nodes every 10 ms, or as often as it can. Time is divided by the lookups of all processors together.
func BenchmarkParallel(b *testing.B) {
	each(b, []int{100, 1000}, libraries, func(b *testing.B, p peer, n int) {
		s := sync.OnceValue(func() changer {
			if p.slow {
				return made(p, n).(changer) // has a lock
			}
			return p.share(nodeNames(n, 0))
		})
		for _, writer := range []string{"none", "10ms"} {
			b.Run("writer="+writer+"/"+path(p), func(b *testing.B) {
				s, found := s(), 0
				stop := func() {}
				if writer != "none" {
					stop = changing(s, 10*time.Millisecond)
				}
				for b.Loop() {
					found += lookupsIn(100*time.Millisecond, s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(found), "ns/op")
				stop()
			})
		}
	})
}

// lookupsIn returns how many lookups as many goroutines as there are processors do in that time. A number of lookups in
// place of a time would never end where a writer that holds a lock lets in one reader for each of its changes.
func lookupsIn(t time.Duration, s placer) int {
	var found atomic.Int64
	var over atomic.Bool
	var readers sync.WaitGroup
	keys := keySets()["random"]
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			n, i := 0, 0
			for ; !over.Load(); i += 16 {
				for k := range 16 {
					n += len(s.Owner(keys[(i+k)&(len(keys)-1)]))
				}
			}
			sink.Add(int64(n))
			found.Add(int64(i))
		})
	}
	time.Sleep(t)
	over.Store(true)
	readers.Wait()
	return int(found.Load())
}

// changing lets a node join and leave s in turn, one change at each tick, until stop is called. Then it is not in s.
func changing(s changer, every time.Duration) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for in := false; ; in = !in {
			select {
			case <-done:
				if in {
					s.Without(joiner)
				}
				return
			case <-tick.C:
			}
			if in {
				s.Without(joiner)
			} else {
				s.With(joiner)
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

// BenchmarkChange lets one node join, and one from the middle of the list leave. Taking it back is not measured.
func BenchmarkChange(b *testing.B) {
	each(b, []int{10, 100, 1000}, placing, func(b *testing.B, p peer, n int) {
		var r changer
		measure := func(do string, change, back func(node string) changer, node string) {
			b.Run("do="+do+"/"+path(p), func(b *testing.B) {
				if r == nil {
					r = made(p, n).(changer)
				}
				for b.Loop() {
					if change(node) == r { // in place
						b.StopTimer()
						r = back(node)
						b.StartTimer()
					}
				}
			})
		}
		with := func(node string) changer { return r.With(node) }
		without := func(node string) changer { return r.Without(node) }
		measure("join", with, without, joiner)
		measure("leave", without, with, nodeNames(n, 0)[n/2])
	})
}

// quick leaves out what takes seconds to make, in loops that make it again and again.
func quick(p peer, n int) bool { return placing(p, n) && (n < 1000 || !p.slow) }

// BenchmarkBuild makes a ring from the list of its nodes.
func BenchmarkBuild(b *testing.B) {
	each(b, []int{10, 100, 1000, 10000}, quick, func(b *testing.B, p peer, n int) {
		nodes := nodeNames(n, 0)
		b.Run(path(p), func(b *testing.B) {
			for b.Loop() {
				p.make(nodes)
			}
		})
	})
}

// BenchmarkMemory reports the heap that a ring retains, for each node and for each point. It measures no time.
func BenchmarkMemory(b *testing.B) {
	each(b, []int{10, 100, 1000}, quick, func(b *testing.B, p peer, n int) {
		node := sync.OnceValue(func() float64 { return retained(p, n) })
		b.Run(path(p), func(b *testing.B) {
			b.ReportMetric(node(), "B/node")
			if p.kind == ring {
				b.ReportMetric(node()/points, "B/point")
			}
			b.ReportMetric(0, "ns/op")
		})
	})
}

// retained returns the bytes of heap that each of n nodes of p takes, in as many rings as it needs for nothing else on
// the heap to count.
func retained(p peer, n int) float64 {
	total := 10_000 // nodes of all rings
	if p.slow {
		total = 1000
	}
	nodes, kept := nodeNames(n, 0), make([]placer, total/n)
	before := heap()
	for i := range kept {
		kept[i] = p.make(nodes)
	}
	after := heap()
	runtime.KeepAlive(kept)
	return float64(after-before) / float64(total)
}

// heap returns the bytes in use after a collection, and after what cleanups let go.
func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // they run beside
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
