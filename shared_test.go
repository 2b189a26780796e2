package hashring_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// requireShared checks the ranges that a and b share against the replicas of each position at which they could change.
func requireShared(t *testing.T, r *hashring.Ring, p hashring.Policy, a, b string) {
	t.Helper()
	shared := func(pos uint64) bool {
		var replicas []string
		for _, i := range replicasAt(r, p, pos) {
			replicas = append(replicas, r.Name(i))
		}
		return slices.Contains(replicas, a) && slices.Contains(replicas, b)
	}
	ranges := slices.Collect(r.SharedRanges(p, a, b))
	for _, pos := range boundaries(r, r) {
		times := 0
		for _, g := range ranges {
			if g.Contains(pos) {
				times++
			}
		}
		want := 0
		if shared(pos) {
			want = 1
		}
		require.Equal(t, want, times, "%d is in %v", pos, ranges)
	}
	for i, g := range ranges {
		require.True(t, i == 0 || ranges[i-1].Through < g.After, "clockwise, and not to be merged: %v", ranges)
		if len(ranges) > 1 || g.After != g.Through {
			require.False(t, shared(g.After), "%v could begin earlier", g)
			require.False(t, shared(g.Through+1), "%v could end later", g)
			require.True(t, g.After < g.Through || i == len(ranges)-1, "that round the end comes last: %v", ranges)
		}
	}
}

func replicasAt(r *hashring.Ring, p hashring.Policy, pos uint64) []int {
	if p.Spread {
		return r.AppendSpreadAt(nil, pos, max(1, p.N))
	}
	return r.AppendReplicasAt(nil, pos, max(1, p.N))
}

// SharedRanges does what its definition says, on rings of every world, for all pairs of nodes and all policies.
func TestSharedRangesModel(t *testing.T) {
	rng := seed.Random(t)
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			for range seed.Rounds(t, 6) {
				var nodes []hashring.Node
				for i := range rng.IntN(6) {
					nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
				}
				r := mustNew(t, nodes, &w.opts)
				for n := range 5 {
					for _, spread := range []bool{false, true} {
						p := hashring.Policy{N: n, Spread: spread}
						for i := range nodes {
							for j := range nodes {
								requireShared(t, r, p, nodes[i].Name, nodes[j].Name)
								require.Equal(t, slices.Collect(r.SharedRanges(p, nodes[i].Name, nodes[j].Name)),
									slices.Collect(r.SharedRanges(p, nodes[j].Name, nodes[i].Name)))
							}
						}
					}
				}
			}
		})
	}
}

func TestSharedRangesCorners(t *testing.T) {
	two := hashring.Policy{N: 2}
	var empty hashring.Ring
	require.Empty(t, slices.Collect(empty.SharedRanges(two, "a", "a")))
	r := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{100}}, {Name: "b", Tokens: []uint64{200}},
		{Name: "c", Tokens: []uint64{300}}}, nil)
	for _, pair := range [][2]string{{"a", "x"}, {"x", "a"}, {"x", "x"}, {"", "a"}} {
		require.Empty(t, slices.Collect(r.SharedRanges(two, pair[0], pair[1])))
	}
	require.Equal(t, []hashring.Range{{After: 300, Through: 100}}, slices.Collect(r.SharedRanges(two, "a", "b")))
	require.Equal(t, []hashring.Range{{After: 100, Through: 200}}, slices.Collect(r.SharedRanges(two, "b", "c")))
	require.Equal(t, []hashring.Range{{After: 200, Through: 100}}, slices.Collect(r.SharedRanges(two, "a", "a")), "all that a has")
	whole := slices.Collect(r.SharedRanges(hashring.Policy{N: 3}, "a", "c"))
	require.Len(t, whole, 1)
	require.Equal(t, whole[0].After, whole[0].Through, "the whole circle")

	// Of policy 1 a node shares with itself what it owns.
	r = mustNew(t, hashring.Nodes("a", "b", "c"), nil)
	for _, name := range []string{"a", "b", "c"} {
		require.Equal(t, slices.Collect(r.Ranges(name)), slices.Collect(r.SharedRanges(hashring.Policy{}, name, name)))
	}
	for range r.SharedRanges(two, "a", "b") {
		break // the iterator stops
	}
}

// What two stores compare with each other, so that each write reaches all replicas in the end: package antientropy does it.
func ExampleRing_SharedRanges() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a", Tokens: []uint64{1 << 62, 4 << 61}},
		{Name: "b", Tokens: []uint64{3 << 61}},
		{Name: "c", Tokens: []uint64{5 << 61, 6 << 61}},
	}, nil)
	if err != nil {
		panic(err)
	}
	for _, peer := range []string{"b", "c"} {
		for g := range ring.SharedRanges(hashring.Policy{N: 2}, "a", peer) {
			fmt.Printf("a and %s: (%x, %x], %.1f%% of the circle\n", peer, g.After, g.Through, 100*g.Share().Fraction())
		}
	}
	// Output:
	// a and b: (c000000000000000, 6000000000000000], 62.5% of the circle
	// a and c: (6000000000000000, c000000000000000], 37.5% of the circle
}

func BenchmarkSharedRanges(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, r *hashring.Ring) {
		b.ReportAllocs()
		ranges := 0
		for b.Loop() {
			for range r.SharedRanges(hashring.Policy{N: 3}, nodes[0].Name, nodes[1].Name) {
				ranges++
			}
		}
		sink.Add(int64(ranges))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*r.NumTokens()), "ns/token")
	})
}
