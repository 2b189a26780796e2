package hashring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// naive is a ring as the definitions have it: the tokens in the order of emission, and a scan over all of them for every
// question. It shares no code with the package but the functions that say which tokens a node has.
type naive struct {
	nodes  []hashring.Node // in the order that the ring must hold them
	tokens []naiveToken
}

type naiveToken struct {
	pos  uint64
	node int
}

// place is how a model learns the tokens of its nodes.
type placeFunc func(nodes []hashring.Node) []naiveToken

func newNaive(nodes []hashring.Node, place placeFunc) *naive {
	return &naive{nodes: nodes, tokens: place(nodes)}
}

// next returns which token comes first clockwise from pos, of those that take accepts; -1 if it accepts none. Of equal
// tokens it is the one emitted first.
func (m *naive) next(pos uint64, take func(naiveToken) bool) int {
	best := -1
	for i, t := range m.tokens {
		if take(t) && (best < 0 || t.pos-pos < m.tokens[best].pos-pos) {
			best = i
		}
	}
	return best
}

func (m *naive) owner(pos uint64) int {
	i := m.next(pos, func(naiveToken) bool { return true })
	if i < 0 {
		return -1
	}
	return m.tokens[i].node
}

// replicas returns all nodes that have tokens, in the order in which they are met.
func (m *naive) replicas(pos uint64) []int {
	met := []int{}
	for {
		i := m.next(pos, func(t naiveToken) bool { return !slices.Contains(met, t.node) })
		if i < 0 {
			return met
		}
		met = append(met, m.tokens[i].node)
	}
}

// spread takes from the replicas those of round 0, 1 and so on, where a node's round is how many of its zone come before
// it: the order by (rank within the zone, place in the walk), which is how Spread is defined.
func (m *naive) spread(pos uint64) []int {
	walk := m.replicas(pos)
	out := make([]int, 0, len(walk))
	for round := 0; len(out) < len(walk); round++ {
		for i, n := range walk {
			rank := 0
			for _, before := range walk[:i] {
				if m.nodes[before].Zone == m.nodes[n].Zone {
					rank++
				}
			}
			if rank == round {
				out = append(out, n)
			}
		}
	}
	return out
}

// sorted returns the tokens as Ring.Tokens must give them.
func (m *naive) sorted() []naiveToken {
	s := slices.Clone(m.tokens)
	sort.SliceStable(s, func(i, j int) bool { return s[i].pos < s[j].pos })
	return s
}

// positions returns positions at which a ring with these tokens could go wrong: the tokens, their neighbours, the ends.
func (m *naive) positions() []uint64 {
	p := []uint64{0, 1, math.MaxUint64 - 1, math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 31}
	for _, t := range m.tokens {
		p = append(p, t.pos-1, t.pos, t.pos+1)
	}
	slices.Sort(p)
	return slices.Compact(p)
}

// requireModel checks that r answers as m does at the given positions, in every way that a ring can be asked. What it
// compares is equal nearly always, so it asks require for words only where that is not so.
func requireModel(t *testing.T, m *naive, r *hashring.Ring, positions []uint64) {
	t.Helper()
	name := func(i int) string { return m.nodes[i].Name }
	if r.Len() != len(m.nodes) || r.NumTokens() != len(m.tokens) {
		require.Equal(t, []int{len(m.nodes), len(m.tokens)}, []int{r.Len(), r.NumTokens()}, "nodes and tokens")
	}
	for i, n := range r.Nodes() {
		if n.Name != name(i) || r.Name(i) != name(i) {
			require.Equal(t, []string{name(i), name(i)}, []string{n.Name, r.Name(i)})
		}
	}
	i, want := 0, m.sorted()
	for pos, node := range r.Tokens() {
		if i == len(want) || pos != want[i].pos || node != name(want[i].node) {
			require.Failf(t, "tokens", "%d is %d of %s; want %v of %v", i, pos, node, want, m.nodes)
		}
		i++
	}
	require.Equal(t, len(want), i)

	var buf []int
	for _, pos := range positions {
		owner := m.owner(pos)
		node, ok := r.OwnerAt(pos)
		if r.IndexAt(pos) != owner || ok != (owner >= 0) || ok && node != name(owner) || !ok && node != "" {
			require.Failf(t, "owner", "of %d: node %d, %q, %v; want node %d of %v", pos, r.IndexAt(pos), node, ok, owner, m.nodes)
		}
		walk, spread := m.replicas(pos), m.spread(pos)
		buf = slices.AppendSeq(buf[:0], r.WalkAt(pos))
		requireInts(t, walk, buf, "walk", pos)
		buf = slices.AppendSeq(buf[:0], r.SpreadAt(pos))
		requireInts(t, spread, buf, "spread", pos)
		for _, n := range [...]int{-1, 0, 1, 2, 3, 4, len(walk), len(walk) + 1, math.MaxInt} {
			k := min(max(n, 0), len(walk))
			buf = r.AppendReplicasAt(append(buf[:0], -7), pos, n)
			requireInts(t, walk[:k], buf[1:], "replicas", pos)
			buf = r.AppendSpreadAt(append(buf[:0], -7), pos, n)
			requireInts(t, spread[:k], buf[1:], "spread replicas", pos)
		}
	}
}

func requireInts(t *testing.T, want, got []int, what string, pos uint64) {
	if !slices.Equal(want, got) {
		t.Helper()
		require.Equal(t, want, got, "%s from %d", what, pos)
	}
}

// nativeTokens is the native rule and explicit tokens, written once more from their description.
func nativeTokens(h hashring.Hash, virtualNodes int) placeFunc {
	return func(nodes []hashring.Node) (tokens []naiveToken) {
		for i, n := range nodes {
			for _, pos := range n.Tokens {
				tokens = append(tokens, naiveToken{pos, i})
			}
			if len(n.Tokens) > 0 {
				continue
			}
			seed := splitMix(hashring.XXH64.Sum64(n.Name) + 2*h.Sum64(n.Name))
			weight := n.Weight
			if weight == 0 {
				weight = 1
			}
			for k := range max(1, int(math.Round(float64(virtualNodes)*weight))) {
				tokens = append(tokens, naiveToken{splitMix(seed + uint64(k)*0x9e3779b97f4a7c15), i})
			}
		}
		return tokens
	}
}

// colliding is a Placement that has no more than mod positions for the tokens of all nodes, spread over the circle or
// crowded at its end. The weight of a node is the number of its tokens, and may be 0.
type colliding struct {
	mod    uint64
	crowd  bool
	placed *int // counts calls of Place, if not nil
}

func (p colliding) Name() string        { return fmt.Sprintf("colliding-%d-%v", p.mod, p.crowd) }
func (p colliding) Hash() hashring.Hash { return collidingKeys{p} }

func (p colliding) at(h uint64) uint64 {
	if p.crowd {
		return -(h % p.mod) // 0, and the largest positions
	}
	return h % p.mod * (math.MaxUint64 / p.mod)
}

func (p colliding) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	if p.placed != nil {
		*p.placed++
	}
	for _, t := range p.tokens(nodes) {
		if !emit(t.node, t.pos) {
			break
		}
	}
	return nil
}

func (p colliding) tokens(nodes []hashring.Node) (tokens []naiveToken) {
	for k := range 3 { // not node by node: the order of emission is not that of the nodes
		for i, n := range nodes {
			if k < int(n.Weight)-1 {
				tokens = append(tokens, naiveToken{p.at(hashring.FNV1a.Sum64(fmt.Sprint(n.Label, n.Name, k))), i})
			}
		}
	}
	return tokens
}

type collidingKeys struct{ p colliding }

func (h collidingKeys) Name() string            { return h.p.Name() }
func (h collidingKeys) Sum64(key string) uint64 { return h.p.at(hashring.FNV1a.Sum64(key)) }

// world is one way to make rings, and the model of it.
type world struct {
	name  string
	opts  hashring.Options
	place placeFunc
	node  func(rng *rand.Rand, name string) hashring.Node
}

var zoneNames = []string{"", "x", "y", "z"}

func worlds() []world {
	var all []world
	for _, h := range []hashring.Hash{
		hashring.XXH64, hashring.CRC32, hashring.NewHash("fnv", rawFNV1a),
		rawHash{"mod1", func(string) uint64 { return 0 }},
		rawHash{"mod2", func(k string) uint64 { return rawFNV1a(k) % 2 }},
		rawHash{"mod7", func(k string) uint64 { return rawFNV1a(k) % 7 }},
		rawHash{"mod64", func(k string) uint64 { return rawFNV1a(k) % 64 }},
	} {
		all = append(all, world{"native " + h.Name(), hashring.Options{Hash: h, VirtualNodes: 3}, nativeTokens(h, 3),
			func(rng *rand.Rand, name string) hashring.Node {
				return hashring.Node{Name: name, Weight: float64(rng.IntN(9)) / 3, Zone: zoneNames[rng.IntN(4)]}
			}})
	}
	for _, mod := range []uint64{1, 2, 7, 64} { // explicit tokens, mixed with native ones
		all = append(all, world{fmt.Sprint("explicit tokens mod ", mod), hashring.Options{VirtualNodes: 2}, nativeTokens(hashring.XXH64, 2),
			func(rng *rand.Rand, name string) hashring.Node {
				n := hashring.Node{Name: name, Weight: 1, Zone: zoneNames[rng.IntN(4)]}
				for range rng.IntN(7) {
					if pos := math.MaxUint64 - rng.Uint64N(mod)*3; !slices.Contains(n.Tokens, pos) {
						n.Tokens = append(n.Tokens, pos)
					}
				}
				return n
			}})
	}
	for _, mod := range []uint64{1, 2, 7, 64} {
		for _, crowd := range []bool{false, true} {
			p := colliding{mod: mod, crowd: crowd}
			all = append(all, world{p.Name(), hashring.Options{Placement: p}, p.tokens,
				func(rng *rand.Rand, name string) hashring.Node {
					return hashring.Node{Name: name, Weight: float64(1 + rng.IntN(4)), Zone: zoneNames[rng.IntN(4)], Label: fmt.Sprint(rng.IntN(3))}
				}})
		}
	}
	return all
}

// apply gives the nodes after nodes are added or replaced, in the order that a ring must hold them.
func (w world) add(have []hashring.Node, more ...hashring.Node) []hashring.Node {
	have = slices.Clone(have)
	for _, n := range more {
		if i := slices.IndexFunc(have, func(h hashring.Node) bool { return h.Name == n.Name }); i >= 0 {
			have[i] = n
		} else {
			have = append(have, n)
		}
	}
	return w.order(have)
}

func (w world) order(nodes []hashring.Node) []hashring.Node {
	if w.opts.Placement == nil {
		slices.SortFunc(nodes, func(a, b hashring.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	return nodes
}

// After every one of a random sequence of changes the ring answers as the model does, and is the ring that New makes. The
// ring that it was made from, as it was before and in what it answers, has not changed.
func TestModel(t *testing.T) {
	steps := seed.Rounds(t, 500)
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			rng := seed.Random(t)
			var nodes []hashring.Node
			live := hashring.NewLive(mustNew(t, nil, &w.opts))
			last, parent := newNaive(nil, w.place), mustNew(t, nil, &w.opts) // made apart from those of live
			for step := range steps {
				var names []string
				for i := range 1 + rng.IntN(3) {
					names = append(names, fmt.Sprint("n", (rng.IntN(9)+3*i)%9))
				}
				slices.Sort(names)
				names = slices.Compact(names)
				before := live.Load()
				var err error
				switch op := rng.IntN(10); {
				case op < 5:
					var more []hashring.Node
					for _, name := range names {
						more = append(more, w.node(rng, name))
					}
					nodes = w.add(nodes, more...)
					_, err = live.Add(more...)
				case op < 9:
					nodes = slices.DeleteFunc(slices.Clone(nodes), func(n hashring.Node) bool { return slices.Contains(names, n.Name) })
					_, err = live.Remove(names...)
				default:
					nodes = nil
					for _, i := range rng.Perm(9)[:rng.IntN(9)] {
						nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
					}
					_, err = live.Set(nodes)
					nodes = w.order(slices.Clone(nodes))
				}
				require.NoError(t, err)
				r := live.Load()
				m := newNaive(nodes, w.place)
				requireModel(t, m, r, m.positions())
				require.True(t, before.Equal(parent), "the ring before is as it was")
				requireModel(t, last, before, last.positions())
				last, parent = m, mustNew(t, nodes, &w.opts)
				require.True(t, r.Equal(parent))
				require.Equal(t, before == r, before.Equal(r), "a change of nothing, and only that, is the same ring")
				for range 5 {
					requireKey(t, m, r, fmt.Sprint("key", step, rng.Uint32()))
				}
			}
		})
	}
}

// requireKey checks that r answers for a key as for its position.
func requireKey(t *testing.T, m *naive, r *hashring.Ring, key string) {
	t.Helper()
	pos := r.Position(key)
	require.Equal(t, pos, r.PositionBytes([]byte(key)))
	var walk, spread []string
	for _, n := range m.replicas(pos) {
		walk = append(walk, m.nodes[n].Name)
	}
	for _, n := range m.spread(pos) {
		spread = append(spread, m.nodes[n].Name)
	}
	owner, ok := r.Owner(key)
	owner2, ok2 := r.OwnerBytes([]byte(key))
	require.Equal(t, len(walk) > 0, ok)
	require.Equal(t, ok, ok2)
	require.Equal(t, owner, owner2)
	if ok {
		require.Equal(t, walk[0], owner)
	}
	require.Equal(t, walk, slices.Collect(r.Replicas(key)))
	require.Equal(t, spread, slices.Collect(r.Spread(key)))
	for n := -1; n < len(walk)+2; n++ {
		k := min(max(n, 0), len(walk))
		require.Equal(t, append([]string{"x"}, walk[:k]...), r.AppendReplicas([]string{"x"}, key, n))
		require.Equal(t, append([]string{"x"}, spread[:k]...), r.AppendSpread([]string{"x"}, key, n))
	}
}

// Native and explicit nodes: every order of adding and of removing, alone and in batches, gives one ring. Under a
// Placement the order of the nodes counts, so there Add then Remove is the identity.
func TestEveryOrderGivesOneRing(t *testing.T) {
	nodes := []hashring.Node{{Name: "a", Tokens: []uint64{10, 20}}, {Name: "b", Tokens: []uint64{20, 30}, Zone: "z"},
		{Name: "c", Tokens: []uint64{10, 30}}, {Name: "d", Weight: 0.5}, {Name: "e", Weight: 2}}
	opts := &hashring.Options{VirtualNodes: 4}
	all := mustNew(t, nodes, opts)
	left := mustNew(t, nodes[2:4], opts)
	permutations(len(nodes), func(order []int) {
		r := mustNew(t, nil, opts)
		var shuffled []hashring.Node
		for _, i := range order {
			r = mustWith(t, r, nodes[i])
			shuffled = append(shuffled, nodes[i])
		}
		require.True(t, r.Equal(all))
		require.True(t, mustNew(t, shuffled, opts).Equal(all))
		require.True(t, mustWith(t, mustNew(t, shuffled[:2], opts), shuffled[1:]...).Equal(all))
		for _, i := range order {
			if i < 2 || i > 3 {
				r = mustWithout(t, r, nodes[i].Name)
			}
		}
		require.True(t, r.Equal(left))
		require.True(t, mustWithout(t, all, "e", "b", "a").Equal(left))
		for _, i := range order { // there and back
			require.True(t, mustWithout(t, mustWith(t, left, nodes[i], hashring.Node{Name: "extra"}), nodes[i].Name, "extra").
				Equal(mustWithout(t, left, nodes[i].Name)))
		}
	})
	for _, mod := range []uint64{1, 2, 7, 64} {
		opts := &hashring.Options{Placement: colliding{mod: mod}}
		r := mustNew(t, []hashring.Node{{Name: "b", Weight: 3}, {Name: "a", Weight: 4}, {Name: "c", Weight: 2}}, opts)
		require.True(t, mustWithout(t, mustWith(t, r, hashring.Node{Name: "0", Weight: 4}), "0").Equal(r))
	}
}

// permutations calls f with every order of 0..n-1.
func permutations(n int, f func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(int)
	rec = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}
