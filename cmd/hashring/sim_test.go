package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func mustRing(t *testing.T, nodes []hashring.Node, opts *hashring.Options) *hashring.Ring {
	t.Helper()
	r, err := hashring.New(nodes, opts)
	require.NoError(t, err)
	return r
}

// changingFlags returns the flags that args give, and a node that joins.
func changingFlags(joiner hashring.Node, args ...string) *changing {
	f := newFlags("test")
	c := f.changing()
	if _, done := f.parse(args, "", streams{}); done {
		panic("bad flags")
	}
	c.joiner = joiner
	return c
}

func seq(keys []string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, key := range keys {
			if !yield([]byte(key)) {
				return
			}
		}
	}
}

// TestSimulate compares the report with one that is made the slow way: each key is looked up by name in rings that are
// built anew, and lists are searched for what hash % N says.
func TestSimulate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for round := range 40 {
		var nodes []hashring.Node
		for i := range 1 + rnd.IntN(8) {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("n%d", i), Weight: float64(1+rnd.IntN(8)) / 2, Zone: "z"})
		}
		opts := &hashring.Options{VirtualNodes: 2 + 2*rnd.IntN(20), Hash: hashring.BuiltinHash(round % 6)}
		joiner := hashring.Node{Name: []string{"a", "m", "z"}[rnd.IntN(3)], Weight: 1.5}
		leaver, doubler := rnd.IntN(len(nodes)), rnd.IntN(len(nodes))
		var keys []string
		for range 500 {
			keys = append(keys, fmt.Sprint("user:", rnd.IntN(400)))
		}

		without := append(append([]hashring.Node{}, nodes[:leaver]...), nodes[leaver+1:]...)
		doubled := append([]hashring.Node{}, nodes...)
		doubled[doubler].Weight *= 2
		after := [][]hashring.Node{append(append([]hashring.Node{}, nodes...), joiner), without, doubled}

		f := changingFlags(joiner, "-leave", nodes[leaver].Name, "-double", nodes[doubler].Name)
		ring := mustRing(t, nodes, opts)
		var p problems
		rep := simulate(ring, f.of(ring, &p, join, leave, double), seq(keys))
		require.Empty(t, p.kept)

		weights := func(nodes []hashring.Node) (sum float64) {
			for _, n := range nodes {
				sum += n.Weight
			}
			return sum
		}
		require.EqualValues(t, len(keys), rep.Keys)
		require.Len(t, rep.Nodes, len(nodes))
		circle := 0.0
		for i, n := range rep.Nodes {
			owned, held := 0, 0
			for _, key := range keys {
				if owner, _ := ring.Owner(key); owner == nodes[i].Name {
					owned++
				}
			}
			for _, owner := range ring.Tokens() {
				if owner == nodes[i].Name {
					held++
				}
			}
			require.Equal(t, nodes[i].Name, n.Name)
			require.EqualValues(t, owned, n.Keys)
			require.Equal(t, held, n.Tokens)
			require.InDelta(t, float64(owned)/float64(len(keys)), n.KeyShare, 1e-9)
			require.InDelta(t, nodes[i].Weight/weights(nodes), n.Expected, 1e-9)
			circle += n.CircleShare
		}
		require.InDelta(t, 1, circle, 1e-8)

		byModulo := func(key string, nodes []hashring.Node) string {
			if len(nodes) == 0 {
				return ""
			}
			return nodes[ring.Position(key)%uint64(len(nodes))].Name
		}
		ideal := []float64{1.5 / weights(after[0]), nodes[leaver].Weight / weights(nodes),
			doubled[doubler].Weight/weights(doubled) - nodes[doubler].Weight/weights(nodes)}
		for i, name := range []string{joiner.Name, nodes[leaver].Name, nodes[doubler].Name} {
			c := rep.Changes[i]
			require.Equal(t, []string{"join", "leave", "double"}[i], c.Change)
			require.Equal(t, name, c.Node)
			next := mustRing(t, after[i], opts)
			moved, others, movedByModulo := 0, 0, 0
			for _, key := range keys {
				old, _ := ring.Owner(key)
				now, _ := next.Owner(key)
				if old != now {
					moved++
					if old != name && now != name {
						others++
					}
				}
				if byModulo(key, nodes) != byModulo(key, after[i]) {
					movedByModulo++
				}
			}
			require.Zero(t, others)
			require.Zero(t, c.BetweenOthers)
			require.EqualValues(t, moved, c.Moved)
			require.InDelta(t, float64(moved)/float64(len(keys)), c.MovedShare, 1e-9)
			require.InDelta(t, ideal[i], c.Ideal, 1e-9)
			if c.Change == double {
				require.Nil(t, c.Modulo)
			} else {
				require.EqualValues(t, movedByModulo, c.Modulo.Moved)
			}
		}
	}
}

// TestBetweenOthersCounts checks that the number that is always 0 is counted: a change that is no change of one node
// makes it another.
func TestBetweenOthersCounts(t *testing.T) {
	r := mustRing(t, hashring.Nodes("a", "b", "c"), nil)
	other := mustRing(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 5}, {Name: "c"}}, nil)
	a, _ := r.Node("a")
	rep := simulate(r, []change{{double, a, other}}, generated(1000))
	require.NotZero(t, rep.Changes[0].BetweenOthers)
	require.Less(t, rep.Changes[0].BetweenOthers, rep.Changes[0].Moved)
}

// TestChangesRefused checks that a change that makes a ring too large is blamed on its flag.
func TestChangesRefused(t *testing.T) {
	r := mustRing(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 2}}, &hashring.Options{VirtualNodes: 10, MaxTokens: 40})
	f := changingFlags(hashring.Node{Name: "c", Weight: 2}, "-double", "b")
	var p problems
	f.of(r, &p, join, double)
	require.Equal(t, exitInput, p.report(io.Discard))
	require.Equal(t, []string{
		`-join: node "c": too many tokens: with its tokens there are more than 40`,
		`-double: node "b": too many tokens: with its tokens there are more than 40`,
	}, p.kept)
}

// TestTheory checks the theory of a report against many rings: the mean square of what they deviate must be near its
// square. Equal nodes must have sqrt((N-1)/(NV+1)).
func TestTheory(t *testing.T) {
	const rings = 200
	for _, tc := range []struct {
		name    string
		weights []float64
		vnodes  int
		keys    int64
	}{
		{"equal", []float64{1, 1, 1, 1, 1, 1, 1, 1}, 40, 300},
		{"weighted", []float64{1, 1, 2, 3, 5}, 20, 300},
		{"rounded", []float64{0.12, 0.12, 0.14, 1, 2.3}, 10, 300},
		{"few keys", []float64{1, 2, 1, 1}, 30, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var circle, keys float64
			var rep Report
			for round := range rings {
				var nodes []hashring.Node
				for i, w := range tc.weights {
					nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("%s-%d-%d", tc.name, round, i), Weight: w})
				}
				r := mustRing(t, nodes, &hashring.Options{VirtualNodes: tc.vnodes})
				rep = simulate(r, nil, generated(tc.keys))
				circle += square(rep.Balance.Circle.Deviation) / rings
				keys += square(rep.Balance.Keys.Deviation) / rings
			}
			require.InDelta(t, 1, circle/square(rep.Balance.Circle.Theory), 0.15)
			require.InDelta(t, 1, keys/square(rep.Balance.Keys.Theory), 0.15)
			if n, v := float64(len(tc.weights)), float64(tc.vnodes); tc.name == "equal" {
				require.InDelta(t, math.Sqrt((n-1)/(n*v+1)), rep.Balance.Circle.Theory, 1e-9)
			}
		})
	}
}

// TestExtremeWeights checks that no weight that is accepted makes a number that JSON does not have.
func TestExtremeWeights(t *testing.T) {
	status, stdout, stderr := hashringRun("a 1e9\nb 1e-9\n", "sim", "-file", "-", "-vnodes", "1", "-json")
	require.Equal(t, exitInput, status)
	require.Contains(t, stderr, "stdin:1: node \"a\": too many tokens")
	require.Empty(t, stdout)

	status, stdout, _ = hashringRun("a 1e4\nb 1e-9\n", "sim", "-file", "-", "-vnodes", "1", "-json", "-generate", "9")
	require.Equal(t, exitOK, status)
	require.True(t, json.Valid([]byte(stdout)))
	_, stdout, _ = hashringRun("a 1e4\nb 1e-9\n", "sim", "-file", "-", "-vnodes", "1", "-generate", "9")
	for line := range strings.Lines(stdout) {
		require.LessOrEqual(t, len(line), 101)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 5} {
		for _, keys := range []int64{0, 500} {
			r := mustRing(t, numberedNodes(n).nodes, nil)
			var changes []change
			if n > 0 {
				changes = changingFlags(hashring.Node{Name: "joiner", Weight: 1}).of(r, new(problems), join, leave, double)
			}
			rep := simulate(r, changes, generated(keys))
			var b bytes.Buffer
			require.NoError(t, writeJSON(&b, &rep))
			var back Report
			dec := json.NewDecoder(&b)
			dec.DisallowUnknownFields()
			require.NoError(t, dec.Decode(&back))
			require.Equal(t, rep, back)
		}
	}
}
