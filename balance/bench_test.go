package balance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
)

// sink keeps results alive.
var sink atomic.Int64

var benchKeys = func() []string {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = fmt.Sprintf("user:%016x", rng.Uint64())
	}
	return keys
}()

func key(i int) string { return benchKeys[i&(len(benchKeys)-1)] }

func sizes(b *testing.B, f func(b *testing.B, r *hashring.Ring)) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) { f(b, mustNew(b, weightedNodes(n), nil)) })
	}
}

// BenchmarkOwner is the ring's own lookup of the same keys: what the others are to be compared with.
func BenchmarkOwner(b *testing.B) {
	sizes(b, func(b *testing.B, r *hashring.Ring) {
		i, s := 0, 0
		for b.Loop() {
			o, _ := r.Owner(key(i))
			s += len(o)
			i++
		}
		sink.Add(int64(s))
	})
}

// BenchmarkAcquire acquires and releases, beside 10 leases a node that are out.
func BenchmarkAcquire(b *testing.B) {
	sizes(b, func(b *testing.B, r *hashring.Ring) {
		for _, factor := range []float64{1, 1.25, 2} {
			b.Run(fmt.Sprint("factor=", factor), func(b *testing.B) {
				bal := mustBalance(b, hashring.NewLive(r), factor)
				for i := range 10 * r.Len() {
					acquire(b, bal, key(i))
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					l, _ := bal.Acquire(key(i))
					l.Release()
					i++
				}
			})
		}
	})
}

// BenchmarkAcquireParallel acquires and releases from one goroutine and from two; and for what limits those, does to a
// single word what both do to the total.
func BenchmarkAcquireParallel(b *testing.B) {
	split := func(b *testing.B, goroutines int, f func(i int)) {
		var wg sync.WaitGroup
		b.ResetTimer()
		for g := range goroutines {
			wg.Go(func() {
				for i := range b.N / goroutines {
					f(g<<12 + i)
				}
			})
		}
		wg.Wait()
	}
	for _, goroutines := range []int{1, 2} {
		b.Run(fmt.Sprintf("balancer/goroutines=%d", goroutines), func(b *testing.B) {
			bal := mustBalance(b, hashring.NewLive(mustNew(b, weightedNodes(100), nil)), 1.25)
			for i := range 1000 {
				acquire(b, bal, key(i))
			}
			split(b, goroutines, func(i int) {
				l, _ := bal.Acquire(key(i))
				l.Release()
			})
		})
		b.Run(fmt.Sprintf("word/goroutines=%d", goroutines), func(b *testing.B) {
			var total atomic.Int64
			split(b, goroutines, func(int) {
				total.Add(1)
				total.Add(-1)
			})
		})
	}
}

// BenchmarkWalk is the choice among nodes whose loads the caller knows. It asks for the load of each.
func BenchmarkWalk(b *testing.B) {
	sizes(b, func(b *testing.B, r *hashring.Ring) {
		bounds := mustBound(b, r, 1.25)
		b.ReportAllocs()
		i, s := 0, 0
		for b.Loop() {
			for node := range bounds.Walk(key(i), func(node string) float64 { return float64(node[len(node)-1]) }) {
				s += len(node)
				break
			}
			i++
		}
		sink.Add(int64(s))
	})
}

func BenchmarkPartitionsOwner(b *testing.B) {
	sizes(b, func(b *testing.B, r *hashring.Ring) {
		p := mustPartition(b, r, 16384, 1.05)
		i, s := 0, 0
		for b.Loop() {
			o, _ := p.Owner(key(i))
			s += len(o)
			i++
		}
		sink.Add(int64(s))
	})
}

// BenchmarkPartition partitions rings of equal nodes, and reports the peak, and what part of the partitions moves to or
// from a node that leaves, and between others.
func BenchmarkPartition(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, factor := range []float64{1, 1.05, 1.25} {
			b.Run(fmt.Sprintf("nodes=%d/factor=%v", n, factor), func(b *testing.B) {
				r := mustNew(b, equalNodes(n), nil)
				const count = 16384
				var p *balance.Partitions
				for b.Loop() {
					p = mustPartition(b, r, count, factor)
				}
				peak := 0
				for l := range p.Loads() {
					peak = max(peak, l.Count)
				}
				const changes = 10
				moved, between := 0, 0
				for i := range changes {
					left := r.Name(i * n / changes)
					s, err := r.Without(left)
					if err != nil {
						b.Fatal(err)
					}
					moves, err := balance.DiffPartitions(p, mustPartition(b, s, count, factor))
					if err != nil {
						b.Fatal(err)
					}
					for m := range moves {
						if m.From == left {
							moved++
						} else {
							between++
						}
					}
				}
				b.ReportMetric(float64(peak*n)/count, "peak/mean")
				b.ReportMetric(100*float64(moved)/count/changes, "moved-%")
				b.ReportMetric(100*float64(between)/count/changes, "between-others-%")
			})
		}
	}
}

// policy chooses a node for key, and says at how many it looked. The place is that of a request that is done.
type policy func(key string, place int) (node, looked int)

// BenchmarkSkewedLoad serves 200,000 requests whose keys are Zipf-distributed (s = 1.1, of 100,000 keys: the first
// alone is an eighth of all) on 50 nodes of the weights 1 to 4, 10,000 of them at a time: whenever one that is chosen
// at random is done, the next arrives. It reports the highest load by weight that any node had after the first 20,000,
// against the mean; how many requests the owner of their key served; and how many nodes a request looked at. Beside
// bounded loads: the plain ring, and what one would use who does not care which node serves a key, the better of two
// random nodes and the least loaded one.
func BenchmarkSkewedLoad(b *testing.B) {
	r := mustNew(b, weightedNodes(50), nil)
	weights, sum := make([]float64, r.Len()), 0.0
	byWeight := []int(nil) // each node as often as its weight
	index := make(map[string]int)
	for i, n := range r.Nodes() {
		weights[i], index[n.Name] = n.Weight, i
		sum += n.Weight
		for range int(n.Weight) {
			byWeight = append(byWeight, i)
		}
	}
	const atOnce, warm, requests = 10_000, 20_000, 200_000

	simulate := func(b *testing.B, choose func(loads []int, rng *rand.Rand) policy) {
		var peak, owned, looked float64
		for b.Loop() {
			rng := rand.New(rand.NewPCG(1, 2))
			zipf := rand.NewZipf(rng, 1.1, 1, 100_000-1)
			loads := make([]int, r.Len())
			pick := choose(loads, rng)
			var out [atOnce]int // the nodes of the requests under way
			peak, owned, looked = 0, 0, 0
			for n := range requests {
				place := n
				if n >= atOnce {
					place = rng.IntN(atOnce)
					loads[out[place]]--
				}
				key := fmt.Sprint("page-", zipf.Uint64())
				node, steps := pick(key, place)
				out[place] = node
				loads[node]++
				if n < warm {
					continue
				}
				peak = max(peak, float64(loads[node])/weights[node])
				looked += float64(steps)
				if r.IndexAt(r.Position(key)) == node {
					owned++
				}
			}
		}
		b.ReportMetric(peak*sum/atOnce, "peak/mean")
		b.ReportMetric(100*owned/(requests-warm), "owner-%")
		b.ReportMetric(looked/(requests-warm), "nodes/request")
	}
	b.Run("ring", func(b *testing.B) {
		simulate(b, func([]int, *rand.Rand) policy {
			return func(key string, _ int) (int, int) { return r.IndexAt(r.Position(key)), 1 }
		})
	})
	for _, factor := range []float64{1, 1.05, 1.25, 2} {
		b.Run(fmt.Sprint("bounded=", factor), func(b *testing.B) {
			simulate(b, func([]int, *rand.Rand) policy {
				bal := mustBalance(b, hashring.NewLive(r), factor)
				var out [atOnce]balance.Lease
				return func(key string, place int) (int, int) {
					out[place].Release()
					out[place] = acquire(b, bal, key)
					node := index[out[place].Node()]
					return node, 1 + slices.Index(r.AppendReplicasAt(nil, r.Position(key), r.Len()), node)
				}
			})
		})
	}
	b.Run("two-choices", func(b *testing.B) {
		simulate(b, func(loads []int, rng *rand.Rand) policy {
			return func(string, int) (int, int) {
				i, j := byWeight[rng.IntN(len(byWeight))], byWeight[rng.IntN(len(byWeight))]
				if float64(loads[j])/weights[j] < float64(loads[i])/weights[i] {
					i = j
				}
				return i, 2
			}
		})
	})
	b.Run("least-loaded", func(b *testing.B) {
		simulate(b, func(loads []int, _ *rand.Rand) policy {
			return func(string, int) (int, int) {
				least, at := math.Inf(1), 0
				for i, l := range loads {
					if ratio := float64(l) / weights[i]; ratio < least {
						least, at = ratio, i
					}
				}
				return at, len(loads)
			}
		})
	})
}
