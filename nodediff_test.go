package hashring_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// heldTokens returns the tokens that the node called name holds.
func heldTokens(r *hashring.Ring, name string) (tokens []uint64) {
	for token, holder := range r.Tokens() {
		if holder == name {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// DiffNodes lists what differs between any two rings, node by node.
func TestDiffNodesModel(t *testing.T) {
	rng := seed.Random(t)
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			for range seed.Rounds(t, 30) {
				old, new := randomNodes(rng, w), randomNodes(rng, w)
				if rng.IntN(3) == 0 {
					new = slices.Clone(old)
					for i := range new {
						if rng.IntN(3) == 0 {
							new[i].Zone += "'"
						}
					}
				}
				a, b := mustNew(t, old, &w.opts), mustNew(t, new, &w.opts)
				want := []hashring.NodeDiff{}
				for i := range 10 {
					d := hashring.NodeDiff{Name: fmt.Sprint("n", i)}
					var inA, inB bool
					d.Old, inA = a.Node(d.Name)
					d.New, inB = b.Node(d.Name)
					if inA && inB {
						d.Weight, d.Zone, d.Label = d.Old.Weight != d.New.Weight, d.Old.Zone != d.New.Zone, d.Old.Label != d.New.Label
						d.Tokens = !slices.Equal(heldTokens(a, d.Name), heldTokens(b, d.Name))
					}
					if inA != inB || d.Weight || d.Zone || d.Label || d.Tokens {
						want = append(want, d)
					}
				}
				got := slices.AppendSeq([]hashring.NodeDiff{}, hashring.DiffNodes(a, b))
				require.Equal(t, want, got)
				if w.opts.Placement == nil {
					require.Equal(t, len(got) == 0, a.Fingerprint() == b.Fingerprint())
				}
			}
		})
	}
}

func randomNodes(rng *rand.Rand, w world) (nodes []hashring.Node) {
	for _, i := range rng.Perm(10)[:rng.IntN(10)] {
		nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
	}
	return nodes
}

func TestDiffNodesSaysWhat(t *testing.T) {
	old := mustNew(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 2, Zone: "x"}, {Name: "c", Label: "1"},
		{Name: "e", Tokens: []uint64{1}}, {Name: "same"}}, nil)
	new := mustNew(t, []hashring.Node{{Name: "b", Zone: "y"}, {Name: "c", Label: "2"}, {Name: "d"},
		{Name: "e", Tokens: []uint64{2}}, {Name: "same"}}, nil)
	var lines []string
	for d := range hashring.DiffNodes(old, new) {
		lines = append(lines, d.String())
	}
	require.Equal(t, strings.Join([]string{
		`"a": in the old ring only`,
		`"b": weight 2 and 1, zone "x" and "y", other tokens`,
		`"c": label "1" and "2"`,
		`"d": in the new ring only`,
		`"e": other tokens`,
	}, "\n"), strings.Join(lines, "\n"))

	// Other options show in the tokens; of a placement, so do other nodes.
	few := mustNew(t, hashring.Nodes("a", "b"), &hashring.Options{VirtualNodes: 2})
	many := mustNew(t, hashring.Nodes("a", "b"), &hashring.Options{VirtualNodes: 3})
	for d := range hashring.DiffNodes(few, many) {
		require.Equal(t, hashring.NodeDiff{Name: d.Name, Old: d.Old, New: d.New, Tokens: true}, d)
	}
	require.Len(t, slices.Collect(hashring.DiffNodes(few, many)), 2)

	for range hashring.DiffNodes(few, old) {
		break // the iterator stops
	}
	// What it yields is the caller's own.
	for d := range hashring.DiffNodes(old, new) {
		if d.Name == "e" {
			d.Old.Tokens[0], d.New.Tokens[0] = 9, 9
		}
	}
	e, _ := old.Node("e")
	require.Equal(t, []uint64{1}, e.Tokens)
}

// Two processes whose rings should be one: the one sends its ring, the other says where they disagree.
func ExampleDiffNodes() {
	mine, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b", Weight: 2}, {Name: "c", Zone: "east"}}, nil)
	if err != nil {
		panic(err)
	}
	yours, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b"}, {Name: "c", Zone: "west"}, {Name: "d"}}, nil)
	if err != nil {
		panic(err)
	}
	if mine.Fingerprint() != yours.Fingerprint() {
		for d := range hashring.DiffNodes(mine, yours) {
			fmt.Println(d)
		}
	}
	// Output:
	// "b": weight 2 and 1, other tokens
	// "c": zone "east" and "west"
	// "d": in the new ring only
}

func BenchmarkDiffNodes(b *testing.B) {
	sizes(b, func(b *testing.B, nodes []hashring.Node, r *hashring.Ring) {
		changed := mustWith(b, r, hashring.Node{Name: nodes[0].Name, Weight: 2})
		b.ReportAllocs()
		differ := 0
		for b.Loop() {
			for range hashring.DiffNodes(r, changed) {
				differ++
			}
		}
		require.Equal(b, b.N, differ)
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*r.NumTokens()), "ns/token")
	})
}
