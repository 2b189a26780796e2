package hashring_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

func mustDiff(t testing.TB, old, new *hashring.Ring) []hashring.Move {
	t.Helper()
	moves, err := hashring.Diff(old, new)
	require.NoError(t, err)
	return slices.Collect(moves)
}

func mustDiffReplicas(t testing.TB, old, new *hashring.Ring, from, to hashring.Policy) []hashring.ReplicaMove {
	t.Helper()
	moves, err := hashring.DiffReplicas(old, new, from, to)
	require.NoError(t, err)
	return slices.Collect(moves)
}

// requireDiff checks Diff against the owners at the given positions.
func requireDiff(t *testing.T, old, new *hashring.Ring, at []uint64) {
	t.Helper()
	moves := mustDiff(t, old, new)
	ranges := make([]hashring.Range, len(moves))
	for i, m := range moves {
		ranges[i] = m.Range
		require.NotEqual(t, m.From, m.To)
	}
	requireClockwise(t, ranges, func(i, j int) bool { return moves[i].From == moves[j].From && moves[i].To == moves[j].To })
	for _, pos := range at {
		from, _ := old.OwnerAt(pos)
		to, _ := new.OwnerAt(pos)
		if i := containing(ranges, pos); i < 0 {
			if from != to {
				require.Equal(t, from, to, "at %d, with no move: %v", pos, moves)
			}
		} else if moves[i].From != from || moves[i].To != to {
			require.Equal(t, []string{from, to}, []string{moves[i].From, moves[i].To}, "at %d", pos)
		}
	}
}

// containing returns the index of the range with pos in it, of disjoint ones that come by After; -1 if it is in none.
func containing(ranges []hashring.Range, pos uint64) int {
	i, _ := slices.BinarySearchFunc(ranges, pos, func(a hashring.Range, pos uint64) int { return cmp.Compare(a.After, pos) })
	for _, i := range []int{i - 1, len(ranges) - 1} { // the last may go round the end
		if i >= 0 && ranges[i].Contains(pos) {
			return i
		}
	}
	return -1
}

// set returns the replicas of pos by name, in the order of names.
func set(r *hashring.Ring, p hashring.Policy, pos uint64) []string {
	at := r.AppendReplicasAt(nil, pos, max(1, p.N)) // what Policy.AppendAt is, written once more
	if p.Spread {
		at = r.AppendSpreadAt(nil, pos, max(1, p.N))
	}
	names := []string{}
	for _, i := range at {
		names = append(names, r.Name(i))
	}
	slices.Sort(names)
	return names
}

// requireDiffReplicas checks DiffReplicas against the sets at the given positions.
func requireDiffReplicas(t *testing.T, old, new *hashring.Ring, from, to hashring.Policy, at []uint64) {
	t.Helper()
	moves := mustDiffReplicas(t, old, new, from, to)
	ranges := make([]hashring.Range, len(moves))
	for i, m := range moves {
		ranges[i] = m.Range
		require.NotEmpty(t, slices.Concat(m.Gained, m.Lost, m.Departed))
	}
	requireClockwise(t, ranges, func(i, j int) bool {
		a, b := moves[i], moves[j]
		return slices.Equal(a.Gained, b.Gained) && slices.Equal(a.Kept, b.Kept) && slices.Equal(a.Lost, b.Lost) && slices.Equal(a.Departed, b.Departed)
	})
	for _, pos := range at {
		before, after := set(old, from, pos), set(new, to, pos)
		i := containing(ranges, pos)
		if i < 0 {
			if !slices.Equal(before, after) {
				require.Equal(t, before, after, "at %d, with no move", pos)
			}
			continue
		}
		var want hashring.ReplicaMove
		for _, name := range after {
			if slices.Contains(before, name) {
				want.Kept = append(want.Kept, name)
			} else {
				want.Gained = append(want.Gained, name)
			}
		}
		for _, name := range before {
			if slices.Contains(after, name) {
				continue
			}
			if _, stays := new.Node(name); stays {
				want.Lost = append(want.Lost, name)
			} else {
				want.Departed = append(want.Departed, name)
			}
		}
		require.ElementsMatch(t, before, moves[i].Sources(), "all that had it")
		want.Range = moves[i].Range
		require.Equal(t, want, moves[i], "at %d", pos)
	}
}

// A circle of 256 positions, up to 4 nodes of 3 tokens: between every two subsets of the nodes, at every position.
func TestDiffOfASmallWorld(t *testing.T) {
	circles := seed.Rounds(t, 5)
	rng := seed.Random(t)
	var at []uint64
	for p := range uint64(256) {
		at = append(at, p<<56, p<<56+1) // an 8-bit hash gives the first; nothing may depend on that
	}
	at = append(at, math.MaxUint64)
	policies := []hashring.Policy{{}, {N: 1, Spread: true}, {N: 2}, {N: 2, Spread: true}, {N: 3}, {N: 3, Spread: true}, {N: 9}, {N: -1}}
	for range circles {
		var nodes []hashring.Node
		for i := range 4 {
			n := hashring.Node{Name: fmt.Sprint("n", i), Zone: zoneNames[rng.IntN(3)]}
			for len(n.Tokens) < 3 {
				if token := rng.Uint64N(256) >> rng.IntN(6) << 56; !slices.Contains(n.Tokens, token) { // the smaller, the more collide
					n.Tokens = append(n.Tokens, token)
				}
			}
			nodes = append(nodes, n)
		}
		var rings []*hashring.Ring
		for subset := range 16 {
			var some []hashring.Node
			for i, n := range nodes {
				if subset>>i&1 == 1 {
					some = append(some, n)
				}
			}
			rings = append(rings, mustNew(t, some, nil))
		}
		for _, old := range rings {
			for _, new := range rings {
				requireDiff(t, old, new, at)
				from, to := policies[rng.IntN(len(policies))], policies[rng.IntN(len(policies))]
				requireDiffReplicas(t, old, new, from, from, at)
				requireDiffReplicas(t, old, new, from, to, at)
			}
		}
	}
}

// Rings of any rule, at every token: also from and to an empty one, and between unlike sets.
func TestDiffOfAnyRings(t *testing.T) {
	rounds := seed.Rounds(t, 30)
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			rng := seed.Random(t)
			ring := func() *hashring.Ring {
				var nodes []hashring.Node
				for _, i := range rng.Perm(8)[:rng.IntN(9)] {
					nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
				}
				return mustNew(t, nodes, &w.opts)
			}
			for range rounds {
				old, new := ring(), ring()
				at := sampled(rng, 10, old, new)
				requireDiff(t, old, new, at)
				for _, n := range []int{1, 2, 3, 5, 8, 100} {
					requireDiffReplicas(t, old, new, hashring.Policy{N: n}, hashring.Policy{N: n}, at)
					requireDiffReplicas(t, old, new, hashring.Policy{N: n, Spread: true}, hashring.Policy{N: n, Spread: true}, at)
				}
				requireDiffReplicas(t, old, old, hashring.Policy{N: 2}, hashring.Policy{N: 3}, at)
				requireDiffReplicas(t, old, new, hashring.Policy{N: 3}, hashring.Policy{N: 3, Spread: true}, at)
			}
		})
	}
}

// Large rings and every kind of change, at 10,000 positions each.
func TestDiffOfLargeRings(t *testing.T) {
	rng := seed.Random(t)
	samples, n := 10_000, 200
	if testing.Short() {
		samples, n = 500, 50
	}
	node := func(i int) hashring.Node {
		return hashring.Node{Name: fmt.Sprint("node-", i), Weight: 0.1 + 2*rng.Float64(), Zone: fmt.Sprint(rng.IntN(1 << rng.IntN(8)))}
	}
	for range seed.Rounds(t, 2) {
		var nodes []hashring.Node
		for i := range n {
			nodes = append(nodes, node(i))
		}
		old := mustNew(t, nodes, nil)
		fewer := mustNew(t, nodes, &hashring.Options{VirtualNodes: 20})
		for _, new := range []*hashring.Ring{mustWith(t, old, node(n)), mustWithout(t, old, "node-7"), mustWith(t, old, node(3)), fewer,
			mustWithout(t, mustWith(t, old, node(n), node(n+1), node(5)), "node-1", "node-2")} {
			var at []uint64
			for range samples {
				at = append(at, rng.Uint64())
			}
			requireDiff(t, old, new, at)
			for _, p := range []hashring.Policy{{N: 3}, {N: 3, Spread: true}, {N: 7, Spread: true}} {
				requireDiffReplicas(t, old, new, p, p, at[:samples/4])
			}
			requireDiffReplicas(t, old, new, hashring.Policy{N: 2}, hashring.Policy{N: 3, Spread: true}, at[:samples/4])
		}
	}
}

// The errors and the corners of Diff, DiffReplicas, Summary and DiffKeys.
func TestDiffAcrossHashes(t *testing.T) {
	nodes := hashring.Nodes("a", "b")
	xx, md5 := mustNew(t, nodes, nil), mustNew(t, nodes, &hashring.Options{Hash: hashring.MD5})
	other := mustNew(t, nodes, &hashring.Options{Hash: hashring.NewHash("xxh64", rawFNV1a)})
	for _, pair := range [][2]*hashring.Ring{{xx, md5}, {md5, xx}, {xx, other}} {
		_, err := hashring.Diff(pair[0], pair[1])
		require.ErrorIs(t, err, hashring.ErrHash)
		require.ErrorContains(t, err, "xxh64")
		_, err = hashring.DiffReplicas(pair[0], pair[1], hashring.Policy{}, hashring.Policy{})
		require.ErrorIs(t, err, hashring.ErrHash)
	}
	_, err := hashring.Diff(xx, md5)
	require.ErrorContains(t, err, "md5")

	var empty hashring.Ring // has no key anywhere, so its hash does not matter
	for _, r := range []*hashring.Ring{xx, md5, other} {
		for _, m := range mustDiff(t, &empty, r) {
			require.Empty(t, m.From)
		}
		for _, m := range mustDiff(t, r, &empty) {
			require.Empty(t, m.To)
		}
	}
	require.Empty(t, mustDiff(t, &empty, &empty))
	require.Empty(t, mustDiff(t, xx, xx))
	require.Empty(t, mustDiffReplicas(t, &empty, &empty, hashring.Policy{}, hashring.Policy{N: 3}))

	var keys []string
	for i := range 500 {
		keys = append(keys, fmt.Sprint("key", i))
	}
	moved := make(map[string]hashring.KeyMove)
	for m := range hashring.DiffKeys(xx, md5, slices.Values(keys)) {
		moved[m.Key] = m
	}
	for _, key := range keys {
		from, _ := xx.Owner(key)
		to, _ := md5.Owner(key)
		if from == to {
			require.NotContains(t, moved, key)
		} else {
			require.Equal(t, hashring.KeyMove{Key: key, From: from, To: to}, moved[key])
		}
	}
	for range hashring.DiffKeys(&empty, xx, slices.Values(keys)) {
		break // and no panic
	}
	for range must(hashring.Diff(&empty, xx)) {
		break
	}
	for range must(hashring.DiffReplicas(&empty, xx, hashring.Policy{}, hashring.Policy{})) {
		break
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The flows of a leave are what the leaver had, and go to its heirs; the largest come first.
func TestSummary(t *testing.T) {
	rng := seed.Random(t)
	var nodes []hashring.Node
	for i := range 20 {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", i), Weight: 0.1 + rng.Float64()})
	}
	r := mustNew(t, nodes, &hashring.Options{VirtualNodes: 20})
	for i, n := range r.Ownership(hashring.Policy{}).Nodes {
		flows := hashring.Summary(must(hashring.Diff(r, mustWithout(t, r, n.Name))))
		var sum hashring.Share
		for j, f := range flows {
			require.Equal(t, n.Name, f.From)
			require.NotEqual(t, n.Name, f.To)
			sum = sum.Add(f.Share)
			if j > 0 {
				require.LessOrEqual(t, f.Share.Compare(flows[j-1].Share), 0)
			}
		}
		require.Equal(t, n.Owned(), sum, "node %d", i)
	}
	tied := hashring.Summary(slices.Values([]hashring.Move{
		{Range: hashring.Range{After: 0, Through: 5}, From: "b", To: "c"}, {Range: hashring.Range{After: 10, Through: 13}, From: "b", To: "a"},
		{Range: hashring.Range{After: 20, Through: 25}, From: "a", To: "c"}, {Range: hashring.Range{After: 30, Through: 32}, From: "b", To: "a"},
	}))
	five := hashring.Share{Positions: 5}
	require.Equal(t, []hashring.Flow{{From: "a", To: "c", Share: five}, {From: "b", To: "a", Share: five}, {From: "b", To: "c", Share: five}}, tied)
	require.Empty(t, hashring.Summary(slices.Values([]hashring.Move(nil))))
}
