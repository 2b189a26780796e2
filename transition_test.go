package hashring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// The four lists are what the replicas of both rings make them, for rings that differ in anything.
func TestTransition(t *testing.T) {
	rng := seed.Random(t)
	var rings []*hashring.Ring
	for _, opts := range []*hashring.Options{nil, {Hash: hashring.MD5}, {VirtualNodes: 3}} {
		for _, n := range []int{0, 1, 3, 6} {
			var nodes []hashring.Node
			for _, i := range rng.Perm(7)[:n] {
				nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", i), Zone: zoneNames[i%3]})
			}
			rings = append(rings, mustNew(t, nodes, opts))
		}
	}
	replicas := func(r *hashring.Ring, p hashring.Policy, key string) []string {
		if p.Spread {
			return r.AppendSpread(nil, key, max(1, p.N))
		}
		return r.AppendReplicas(nil, key, max(1, p.N))
	}
	for _, r := range rings {
		for _, p := range policies {
			key := fmt.Sprint("key", rng.Uint32())
			require.Equal(t, append([]string{"x"}, replicas(r, p, key)...), p.Append([]string{"x"}, r, key))
			names := []string{"x"}
			for _, i := range p.AppendAt([]int{-7}, r, r.Position(key))[1:] {
				names = append(names, r.Name(i))
			}
			require.Equal(t, p.Append([]string{"x"}, r, key), names)
		}
	}
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
	}
	for _, old := range rings {
		for _, new := range rings {
			for _, p := range policies {
				tr := hashring.Transition{Old: old, New: new, Policy: p}
				key := fmt.Sprint("key", rng.Uint32())
				before, after := replicas(old, p, key), replicas(new, p, key)
				head := []string{"what was there", strings.Join(before[:min(1, len(before))], "")} // a replica, which makes no difference
				join := func(more ...[]string) []string { return slices.Concat(append([][]string{head}, more...)...) }
				require.Equal(t, join(before), tr.AppendRead(head, key))
				require.Equal(t, join(before, without(after, before)), tr.AppendWrite(head, key))
				require.Equal(t, join(without(after, before)), tr.AppendPending(head, key))
				require.Equal(t, join(without(before, after)), tr.AppendLeaving(head, key))
			}
		}
	}
}

// A store takes the four steps of Transition's comment, its processes one at a time and at any moment between writes,
// one replica being enough for a read and all being needed for a write. Every process reads what was written last, all
// the time, and at the end each node has what is its, and only that.
func TestTransitionLosesNothing(t *testing.T) {
	rng := seed.Random(t)
	const keys = 60
	for round := range seed.Rounds(t, 60) {
		p := hashring.Policy{N: 1 + rng.IntN(3), Spread: rng.IntN(2) == 0}
		node := func(i int) hashring.Node { return hashring.Node{Name: fmt.Sprint("n", i), Zone: zoneNames[i%3]} }
		var nodes []hashring.Node
		for i := range 2 + rng.IntN(5) {
			nodes = append(nodes, node(i))
		}
		opts := &hashring.Options{VirtualNodes: 8}
		old := mustNew(t, nodes, opts)
		new := mustWith(t, mustWithout(t, old, "n0"), node(8), node(9))
		if round%5 == 0 { // another hash of keys: nothing is where it was, and DiffReplicas cannot say what moves
			new = mustNew(t, nodes[1:], &hashring.Options{Hash: hashring.Murmur3})
		}

		stores := make(map[string]map[string]int) // by node, by key
		put := func(node, key string, version int) {
			if stores[node] == nil {
				stores[node] = make(map[string]int)
			}
			stores[node][key] = max(stores[node][key], version)
		}
		steps := []hashring.Transition{{Old: old, New: old}, {Old: old, New: new}, {Old: new, New: old}, {Old: new, New: new}}
		at := make([]int, 3) // the step of each process
		latest := make(map[string]int)
		work := func() {
			for range 20 {
				key := fmt.Sprint("key", rng.IntN(keys))
				tr := steps[at[rng.IntN(len(at))]]
				tr.Policy = p
				if rng.IntN(2) == 0 {
					latest[key]++
					for _, node := range tr.AppendWrite(nil, key) {
						put(node, key, latest[key])
					}
					continue
				}
				for _, node := range tr.AppendRead(nil, key) {
					require.Equal(t, latest[key], stores[node][key], "%s on %s, processes at %v", key, node, at)
				}
			}
		}
		for range 10 {
			work()
		}
		for step := 1; step < len(steps); step++ {
			for _, process := range rng.Perm(len(at)) {
				at[process] = step
				work()
			}
			if step > 1 {
				continue
			}
			moves, err := hashring.DiffReplicas(old, new, p, p)
			if err != nil { // copy by key
				require.ErrorIs(t, err, hashring.ErrHash)
				tr := hashring.Transition{Old: old, New: new, Policy: p}
				for key := range latest {
					for _, node := range tr.AppendPending(nil, key) {
						put(node, key, stores[tr.AppendRead(nil, key)[0]][key])
					}
				}
				continue
			}
			for m := range moves {
				sources := slices.Concat(m.Kept, m.Lost, m.Departed)
				for key, version := range stores[sources[rng.IntN(len(sources))]] {
					if m.Contains(old.Position(key)) {
						for _, node := range m.Gained {
							put(node, key, version)
						}
					}
				}
				work()
			}
		}
		for key, version := range latest {
			for _, node := range steps[3].AppendRead(nil, key) {
				require.Equal(t, version, stores[node][key])
			}
		}
	}
}
