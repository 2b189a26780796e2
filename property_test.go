package hashring_test

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// boundaries returns every token of both rings once. Between two of them no owner changes, in either ring.
func boundaries(a, b *hashring.Ring) []uint64 {
	var all []uint64
	for token := range a.Tokens() {
		all = append(all, token)
	}
	for token := range b.Tokens() {
		all = append(all, token)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// requireOnlyTouchedMove checks, arc by arc, that no position moves between two nodes that are not in touched, and
// returns how many arcs moved.
func requireOnlyTouchedMove(t *testing.T, before, after *hashring.Ring, touched map[string]bool) (moved int) {
	t.Helper()
	for _, pos := range boundaries(before, after) {
		was, had := before.OwnerAt(pos)
		is, has := after.OwnerAt(pos)
		if was == is {
			continue
		}
		moved++
		if had && has && !touched[was] && !touched[is] {
			require.Failf(t, "moved", "%d moved from %s to %s, but only %v changed", pos, was, is, touched)
		}
	}
	return moved
}

// A change moves nothing between nodes that did not change, over 2,000 random changes, checked on every arc. And a
// change there and back again is no change.
func TestMovementIsMinimal(t *testing.T) {
	changes := seed.Rounds(t, 2000)
	rng := seed.Random(t)
	opts := &hashring.Options{VirtualNodes: 20}
	r := mustNew(t, hashring.Nodes("n0", "n1", "n2"), opts)
	kinds := make(map[string]int)
	for range changes {
		name := fmt.Sprint("n", rng.IntN(30))
		old, had := r.Node(name)
		var s *hashring.Ring
		switch {
		case !had:
			s = mustWith(t, r, hashring.Node{Name: name, Weight: rng.Float64() * 4})
			kinds["join"]++
			for _, pos := range boundaries(r, s) {
				is, _ := s.OwnerAt(pos)
				if was, ok := r.OwnerAt(pos); ok && is != was {
					require.Equal(t, name, is, "a join moves keys to the newcomer alone")
				}
			}
			require.True(t, mustWithout(t, s, name).Equal(r))
		case rng.IntN(2) == 0:
			s = mustWithout(t, r, name)
			kinds["leave"]++
			for _, pos := range boundaries(r, s) {
				was, _ := r.OwnerAt(pos)
				if is, _ := s.OwnerAt(pos); is != was {
					require.Equal(t, name, was, "a leave moves keys from the leaver alone")
				}
			}
			require.True(t, mustWith(t, s, old).Equal(r))
		default:
			weight := rng.Float64() * 4
			s = mustWith(t, r, hashring.Node{Name: name, Weight: weight})
			kinds["weight"]++
			for _, pos := range boundaries(r, s) {
				was, _ := r.OwnerAt(pos)
				is, _ := s.OwnerAt(pos)
				if is != was {
					require.Equal(t, name, map[bool]string{true: is, false: was}[weight > old.Weight], "a weight that rises takes, one that falls gives")
				}
			}
			require.True(t, mustWith(t, s, old).Equal(r))
		}
		requireOnlyTouchedMove(t, r, s, map[string]bool{name: true})
		r = s
	}
	for _, kind := range []string{"join", "leave", "weight"} {
		require.Greater(t, kinds[kind], changes/10, kind)
	}
}

// requireOneMember checks promise 10 at pos for sets of n: at most k members changed, and those that came or went are
// in touched, unless touched is nil.
func requireOneMember(t *testing.T, before, after *hashring.Ring, pos uint64, n, k int, touched map[string]bool) {
	t.Helper()
	for kind, get := range map[string]func(*hashring.Ring) []int{
		"replicas": func(r *hashring.Ring) []int { return r.AppendReplicasAt(nil, pos, n) },
		"spread":   func(r *hashring.Ring) []int { return r.AppendSpreadAt(nil, pos, n) },
	} {
		in := func(r *hashring.Ring) map[string]bool {
			set := make(map[string]bool)
			for _, i := range get(r) {
				set[r.Name(i)] = true
			}
			return set
		}
		was, is := in(before), in(after)
		var left, came []string
		for name := range was {
			if !is[name] {
				left = append(left, name)
			}
		}
		for name := range is {
			if !was[name] {
				came = append(came, name)
			}
		}
		require.LessOrEqual(t, max(len(left), len(came)), k, "%s of %d at %d: %v left, %v came", kind, n, pos, left, came)
		if touched == nil || len(left)+len(came) == 0 {
			continue
		}
		byTouched := slices.ContainsFunc(slices.Concat(left, came), func(name string) bool { return touched[name] })
		require.True(t, byTouched, "%s of %d at %d: %v left, %v came, but %v changed", kind, n, pos, left, came, touched)
	}
}

// A join, a leave or a change of weight changes at most one member of any replica set, and only by that node coming or
// going; k changes at most k; a change of zone at most one. Zones come and go with their only nodes.
func TestReplicaSetsMoveOneAtATime(t *testing.T) {
	changes := seed.Rounds(t, 1500)
	rng := seed.Random(t)
	zones := []string{"", "x", "y", "z", "w"}
	node := func(i int) hashring.Node {
		return hashring.Node{Name: fmt.Sprint("n", i), Weight: rng.Float64() * 2, Zone: zones[rng.IntN(len(zones))]}
	}
	opts := &hashring.Options{VirtualNodes: 4}
	r := mustNew(t, []hashring.Node{node(0), node(1), node(2), node(3)}, opts)
	first := r // of a run of k changes
	k := 0
	for range changes {
		changed := node(rng.IntN(14))
		old, had := r.Node(changed.Name)
		touched := map[string]bool{changed.Name: true}
		var s *hashring.Ring
		switch {
		case had && rng.IntN(2) == 0 && r.Len() > 2:
			s = mustWithout(t, r, changed.Name)
		case had && rng.IntN(3) > 0: // weight alone
			changed.Zone = old.Zone
			s = mustWith(t, r, changed)
		case had: // zone alone
			changed.Weight = old.Weight
			s, touched = mustWith(t, r, changed), nil
		default:
			s = mustWith(t, r, changed)
		}
		k++
		at := boundaries(r, s)
		for range 40 {
			n := 1 + rng.IntN(7)
			requireOneMember(t, r, s, at[rng.IntN(len(at))], n, 1, touched)
			requireOneMember(t, first, s, rng.Uint64(), n, k, nil)
		}
		if r = s; k == 5 {
			first, k = r, 0
		}
	}
}

// The definition of Spread in the design's own terms: as many zones as there can be, each as often as can be.
func TestSpreadFillsZonesEvenly(t *testing.T) {
	rng := seed.Random(t)
	for range seed.Rounds(t, 200) {
		var nodes []hashring.Node
		size := make(map[string]int)
		for i := range 1 + rng.IntN(12) {
			zone := zoneNames[rng.IntN(4)]
			size[zone]++
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", i), Zone: zone})
		}
		r := mustNew(t, nodes, &hashring.Options{VirtualNodes: 3})
		for n := range len(nodes) + 1 {
			got := make(map[string]int)
			for _, name := range r.AppendSpread(nil, fmt.Sprint("key", rng.Uint32()), n) {
				node, _ := r.Node(name)
				got[node.Zone]++
			}
			require.Len(t, got, min(n, len(size)))
			for a := range size { // no zone has two more than another that has nodes left
				for b := range size {
					require.False(t, got[a] > got[b]+1 && got[b] < size[b], "%v of %v", got, size)
				}
			}
		}
	}
}

// Beyond 1,024 nodes the walk keeps its books elsewhere, and beyond 16 of those elsewhere again.
func TestWalksOfLargeRings(t *testing.T) {
	const n = 1500
	var nodes []hashring.Node
	for i := range n {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("n%04d", i), Zone: fmt.Sprint(i * i % 37)}) // 19 zones, uneven
	}
	nodes[n-1].Tokens = []uint64{1, 2, 4} // met again and again
	nodes[n-2].Tokens = []uint64{3, 5, 6}
	r := mustNew(t, nodes, &hashring.Options{VirtualNodes: 2})
	rng := seed.Random(t)
	for try := range 20 {
		key := fmt.Sprint(rng.Uint64())
		pos := r.Position(key)
		if try == 0 {
			pos = 0
		}
		var walk []int
		met := make(map[int]bool)
		for _, i := range r.TokensFrom(pos) {
			if !met[i] {
				met[i] = true
				walk = append(walk, i)
			}
		}
		require.Len(t, walk, n)
		rank, seen := make([]int, n), make(map[string]int)
		for _, i := range walk {
			zone := nodes[i].Zone
			rank[i], seen[zone] = seen[zone], seen[zone]+1
		}
		spread := slices.Clone(walk)
		sort.SliceStable(spread, func(a, b int) bool { return rank[spread[a]] < rank[spread[b]] })
		require.Equal(t, walk, slices.Collect(r.WalkAt(pos)))
		require.Equal(t, spread, slices.Collect(r.SpreadAt(pos)))
		for _, k := range []int{1, 3, 16, 17, 40, 500, n - 1, n, n + 1} {
			require.Equal(t, walk[:min(k, n)], r.AppendReplicasAt(nil, pos, k))
			require.Equal(t, spread[:min(k, n)], r.AppendSpreadAt(nil, pos, k))
			if try > 0 {
				require.Equal(t, namesOf(r, walk[:min(k, n)]), r.AppendReplicas(nil, key, k))
				require.Equal(t, namesOf(r, spread[:min(k, n)]), r.AppendSpread(nil, key, k))
			}
		}
	}
}

func namesOf(r *hashring.Ring, nodes []int) (names []string) {
	for _, i := range nodes {
		names = append(names, r.Name(i))
	}
	return names
}

// shares returns the exact part of the circle that each node owns, from the arcs between tokens.
func shares(r *hashring.Ring) map[string]float64 {
	arcs := make(map[string]*[2]uint64) // 128 bits a node
	var first, last uint64
	n := 0
	add := func(name string, width uint64) {
		if arcs[name] == nil {
			arcs[name] = new([2]uint64)
		}
		sum, carry := bits.Add64(arcs[name][0], width, 0)
		arcs[name][0], arcs[name][1] = sum, arcs[name][1]+carry
	}
	for token := range r.Tokens() {
		if n == 0 {
			first = token
		} else if token != last {
			owner, _ := r.OwnerAt(token)
			add(owner, token-last)
		}
		last = token
		n++
	}
	owner, _ := r.OwnerAt(first)
	if first == last { // one position: the whole circle, which is 2^64
		arcs[owner] = &[2]uint64{0, 1}
	} else {
		add(owner, first-last)
	}
	out := make(map[string]float64)
	for name, a := range arcs {
		out[name] = float64(a[1]) + float64(a[0])/(1<<64)
	}
	return out
}
