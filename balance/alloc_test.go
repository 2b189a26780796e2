package balance_test

import (
	"fmt"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// Every operation that promises not to allocate. (AllocsPerRun rounds down, so the slot that sync.Pool loses now and
// then, under the race detector above all, does not count.)
func TestNoAllocs(t *testing.T) {
	sink := 0
	for _, n := range []int{1, 10, 100, 1000} {
		r := mustNew(t, weightedNodes(n), &hashring.Options{VirtualNodes: 16})
		b := mustBalance(t, hashring.NewLive(r), 1)
		for i := range 3 * n { // some walks pass full nodes
			acquire(t, b, fmt.Sprint("held-", i))
		}
		bounds, p, i := mustBound(t, r, 1.25), mustPartition(t, r, 1000, 1.25), 0
		load := func(node string) float64 { return float64(len(node)) }
		keys := make([]string, 100)
		for i := range keys {
			keys[i] = fmt.Sprint("key-", i)
		}
		down := r.Name(0)
		for name, f := range map[string]func(key string){
			"Acquire and Release": func(key string) { l, _ := b.Acquire(key); sink += len(l.Node()); l.Release() },
			"AcquireIf": func(key string) {
				l, _ := b.AcquireIf(key, func(node string) bool { return node != down })
				sink += len(l.Node())
				l.Release()
			},
			"Total": func(string) { sink += b.Total() },
			"Balancer.Loads": func(string) {
				for l := range b.Loads() {
					sink += l.Count
				}
			},
			"Bounds.Walk": func(key string) {
				for node := range bounds.Walk(key, load) {
					sink += len(node)
					break
				}
			},
			"Partitions.Owner": func(key string) { o, _ := p.Owner(key); sink += len(o) },
			"Partitions.Of":    func(key string) { sink += p.Of(key) + p.Count() },
			"OwnerOf":          func(string) { o, _ := p.OwnerOf(i); sink += len(o) },
			"Partitions.Replicas": func(string) {
				k := 0
				for node := range p.Replicas(i) {
					if sink += len(node); k == 2 {
						break
					}
					k++
				}
			},
			"Partitions.Loads": func(string) {
				for l := range p.Loads() {
					sink += l.Count
				}
			},
		} {
			require.Zero(t, testing.AllocsPerRun(len(keys), func() {
				f(keys[i%len(keys)])
				i++
			}), "%s, %d nodes", name, n)
		}
	}
	require.NotZero(t, sink)
}
