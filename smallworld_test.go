package hashring_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// smallWorld is all rings of so many nodes of two tokens each, on a few positions: tokens that collide, wrap, and are of
// one node in every way there is.
type smallWorld struct {
	nodes int
	at    []uint64 // the positions, ascending
}

// sixPositions are at both ends of the circle and in its middle, with neighbours and without.
var sixPositions = []uint64{0, 1, 1 << 62, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}

func (w smallWorld) String() string { return fmt.Sprintf("%dx2-on-%d", w.nodes, len(w.at)) }

// keys returns the positions, those next to them, and so one of every arc there can be.
func (w smallWorld) keys() []uint64 {
	var keys []uint64
	for _, p := range w.at {
		keys = append(keys, p-1, p, p+1)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// rings returns how many there are: each node has any two positions, in any order, also one twice.
func (w smallWorld) rings() int {
	n := 1
	for range 2 * w.nodes {
		n *= len(w.at)
	}
	return n
}

// ring returns the nodes of one of the rings. Their Labels are their positions, as digits: see positioned.
func (w smallWorld) ring(number int) []hashring.Node {
	nodes := make([]hashring.Node, w.nodes)
	for i := range nodes {
		first := number % len(w.at)
		second := number / len(w.at) % len(w.at)
		number /= len(w.at) * len(w.at)
		nodes[i] = hashring.Node{Name: "abcd"[i : i+1], Zone: "1213"[i : i+1], Weight: 1, Label: fmt.Sprint(first, second)}
	}
	return nodes
}

// raceDetector says that the race detector is on, which is slow, and has nothing to find in what one goroutine does: see
// race_test.go.
var raceDetector bool

// each calls f with every ring, but under -short and with the race detector one of 97. Rings with one pair of positions
// for the first node are a subtest; they run on all processors.
func (w smallWorld) each(t *testing.T, f func(t *testing.T, number int, nodes []hashring.Node)) {
	step, pairs := 1, len(w.at)*len(w.at)
	if testing.Short() || raceDetector {
		step = 97
	}
	t.Logf("soak: %d rings of %s in %s", (w.rings()+step-1)/step, w, t.Name())
	for pair := range pairs {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			t.Parallel()
			for number := pair; number < w.rings(); number += pairs * step {
				f(t, number, w.ring(number))
			}
		})
	}
}

// positioned is the Placement by the Labels of nodes. It emits the first token of all nodes and then the second ones, so
// that of equal tokens now the one and now the other node's comes first.
type positioned struct{ at []uint64 }

func (positioned) Name() string        { return "positioned" }
func (positioned) Hash() hashring.Hash { return nil }

func (p positioned) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	for _, t := range p.tokens(nodes) {
		if !emit(t.node, t.pos) {
			break
		}
	}
	return nil
}

func (p positioned) tokens(nodes []hashring.Node) []naiveToken {
	tokens := make([]naiveToken, 0, 2*len(nodes))
	for k := range 2 {
		for i, n := range nodes {
			tokens = append(tokens, naiveToken{p.at[n.Label[2*k]-'0'], i})
		}
	}
	return tokens
}

// smallWorlds calls f with the world of 46,656 rings, and if HASHRING_SOAK is above 1 with those of 262,144 and 1,679,616.
func smallWorlds(t *testing.T, f func(t *testing.T, w smallWorld)) {
	worlds := []smallWorld{{3, sixPositions}}
	if seed.Soak(t) > 1 {
		eight := slices.Sorted(slices.Values(append([]uint64{1<<63 - 1, 1<<63 + 1}, sixPositions...)))
		worlds = append(worlds, smallWorld{3, eight}, smallWorld{4, sixPositions})
	}
	for _, w := range worlds {
		t.Run(w.String(), func(t *testing.T) { f(t, w) })
	}
}

// Under a Placement the order of the nodes counts, so each ring is made in all orders, but of four nodes in one: but for
// the names it is another of the rings in any other. Each is its model's: every key, every number of replicas. Without any
// of its nodes it is the ring of the others in their order, and with that again the ring in which it comes last.
func TestEveryPlacementOfASmallWorld(t *testing.T) {
	smallWorlds(t, func(t *testing.T, w smallWorld) {
		p, keys := positioned{w.at}, w.keys()
		opts := &hashring.Options{Placement: p}
		w.each(t, func(t *testing.T, number int, nodes []hashring.Node) {
			turn := 0
			permutations(len(nodes), func(order []int) {
				if turn++; len(nodes) > 3 && turn-1 != number%24 {
					return
				}
				list := make([]hashring.Node, 0, len(nodes))
				for _, i := range order {
					list = append(list, nodes[i])
				}
				r := mustNew(t, list, opts)
				requireModel(t, newNaive(list, p.tokens), r, keys)
				for i, n := range list {
					rest := slices.Delete(slices.Clone(list), i, i+1)
					s := mustWithout(t, r, n.Name)
					requireSame(t, s, mustNew(t, rest, opts))
					if n.Label == "0 0" { // the same rest comes again with every other label
						requireModel(t, newNaive(rest, p.tokens), s, keys)
						requireDiff(t, r, s, keys)
					}
					requireSame(t, mustWith(t, s, n), mustNew(t, append(rest, n), opts))
				}
			})
		})
	})
}

func requireSame(t *testing.T, r, s *hashring.Ring) {
	if !r.Equal(s) {
		t.Helper()
		require.JSONEq(t, string(must(json.Marshal(s))), string(must(json.Marshal(r))))
	}
}

// With explicit tokens the order of the nodes does not count: adding them in any order, one by one, and removing them in
// any order gives the one ring of those that are there, and its index is right after each of these merges. So are the
// reports that follow from it, what moves when a node leaves, and its encodings. A token twice in a node is refused.
func TestEveryRingOfASmallWorld(t *testing.T) {
	smallWorlds(t, func(t *testing.T, w smallWorld) {
		place, keys := nativeTokens(hashring.XXH64, 1), w.keys()
		w.each(t, func(t *testing.T, _ int, nodes []hashring.Node) {
			repeated, ascending := 0, true
			for i := range nodes {
				a, b := nodes[i].Label[0]-'0', nodes[i].Label[2]-'0'
				nodes[i].Tokens, nodes[i].Label = []uint64{w.at[a], w.at[b]}, ""
				if a == b {
					repeated++
				}
				ascending = ascending && a < b
			}
			if repeated > 0 {
				r, err := hashring.New(nodes, nil)
				require.Nil(t, r)
				require.ErrorIs(t, err, hashring.ErrInvalidNode)
				require.Equal(t, repeated, strings.Count(err.Error(), "is there more than once"))
				return
			}
			all, m := mustNew(t, nodes, nil), newNaive(nodes, place)
			requireModel(t, m, all, keys)
			if !ascending { // the same tokens come again in order
				return
			}
			permutations(len(nodes), func(order []int) {
				var have []hashring.Node
				r := new(hashring.Ring)
				step := func() {
					slices.SortFunc(have, func(a, b hashring.Node) int { return strings.Compare(a.Name, b.Name) })
					requireModel(t, newNaive(have, place), r, keys)
				}
				for _, i := range order {
					r, have = mustWith(t, r, nodes[i]), append(have, nodes[i])
					step()
				}
				requireSame(t, r, all)
				for _, i := range order {
					r = mustWithout(t, r, nodes[i].Name)
					have = slices.DeleteFunc(have, func(n hashring.Node) bool { return n.Name == nodes[i].Name })
					step()
				}
			})
			requireReports(t, all, nodes, keys)
		})
	})
}

// requireReports checks what follows from a ring, one policy after another as rings go by: shares, ranges, what moves when
// a node leaves or comes, and encodings.
func requireReports(t *testing.T, r *hashring.Ring, nodes []hashring.Node, keys []uint64) {
	t.Helper()
	turn := r.Fingerprint()
	requireOwnership(t, r, policies[turn%uint64(len(policies))])
	for i, n := range nodes {
		s := mustWithout(t, r, n.Name)
		requireDiff(t, r, s, keys)
		requireDiff(t, s, r, keys)
		from, to := policies[(turn>>8+uint64(i))%uint64(len(policies))], policies[(turn>>16)%uint64(len(policies))]
		requireDiffReplicas(t, r, s, from, from, keys)
		requireDiffReplicas(t, s, r, from, to, keys)

		ranges := slices.Collect(r.Ranges(n.Name))
		for _, pos := range keys {
			if owner, _ := r.OwnerAt(pos); (owner == n.Name) != slices.ContainsFunc(ranges, func(a hashring.Range) bool { return a.Contains(pos) }) {
				require.Failf(t, "ranges", "of %s are %v, but %d is owned by %s", n.Name, ranges, pos, owner)
			}
		}
	}
	requireSame(t, must(hashring.Decode(must(r.MarshalBinary()), nil)), r)
	requireSame(t, must(hashring.DecodeJSON(must(json.Marshal(r)), nil)), r)
}
