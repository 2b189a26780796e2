package balance_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func mustNew(t testing.TB, nodes []hashring.Node, opts *hashring.Options) *hashring.Ring {
	t.Helper()
	r, err := hashring.New(nodes, opts)
	require.NoError(t, err)
	return r
}

// equalNodes returns n nodes of weight 1.
func equalNodes(n int) []hashring.Node {
	nodes := make([]hashring.Node, n)
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("node-%03d", i)
	}
	return nodes
}

// weightedNodes returns n nodes of the weights 1 to 4.
func weightedNodes(n int) []hashring.Node {
	nodes := equalNodes(n)
	for i := range nodes {
		nodes[i].Weight = float64(1 + i%4)
	}
	return nodes
}

// share is the weights of the nodes that have tokens, and their sum, found token by token.
type share struct {
	weight map[string]float64
	sum    float64
}

func sharesOf(r *hashring.Ring) share {
	s := share{weight: make(map[string]float64)}
	for _, name := range r.Tokens() {
		if _, met := s.weight[name]; !met {
			n, _ := r.Node(name)
			s.weight[name] = n.Weight
			s.sum += n.Weight
		}
	}
	return s
}

// bound is the formula, as far as it is counted, or 0 for a node without tokens.
func (s share) bound(node string, factor float64, total int) int {
	w, ok := s.weight[node]
	if !ok {
		return 0
	}
	return int(min(math.Ceil(factor*float64(total)*w/s.sum), math.MaxInt32))
}

// choose is the rule, in the slowest way: the first node clockwise that one more leaves within its bound; else the one
// with the least load for its weight.
func choose(
	r *hashring.Ring, s share, key string, factor float64, loads map[string]int, total int, admit func(string) bool,
) (node string, within, ok bool) {
	least := math.Inf(1)
	for name := range r.Replicas(key) {
		if !admit(name) {
			continue
		}
		if loads[name]+1 <= s.bound(name, factor, total+1) {
			return name, true, true
		}
		if ratio := float64(loads[name]) / s.weight[name]; ratio < least {
			node, least, ok = name, ratio, true
		}
	}
	return node, false, ok
}

// withoutTokens returns rings that have none, with nodes and without.
func withoutTokens(t *testing.T) []*hashring.Ring {
	return []*hashring.Ring{
		new(hashring.Ring),
		mustNew(t, hashring.Nodes("odd"), &hashring.Options{Placement: starving{}}),
	}
}

// starving is a Placement by which nodes of an odd number of letters get no tokens, the others three per unit of
// weight.
type starving struct{}

func (starving) Name() string        { return "starving" }
func (starving) Hash() hashring.Hash { return nil }
func (starving) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	for i, n := range nodes {
		for k := range int(3 * n.Weight) {
			if len(n.Name)%2 == 0 && !emit(i, hashring.XXH64.Sum64(fmt.Sprint(n.Name, "/", k))) {
				return nil
			}
		}
	}
	return nil
}
