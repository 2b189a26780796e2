package hashring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// latin1 undoes what make.py does to put bytes into JSON: one character a byte.
func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		b = append(b, byte(c))
	}
	return string(b)
}

func parseUint(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err)
	return v
}

func hashCalled(t *testing.T, name string) hashring.Hash {
	t.Helper()
	i := slices.IndexFunc(builtins, func(h hashring.BuiltinHash) bool { return h.Name() == name })
	require.GreaterOrEqual(t, i, 0, "no hash %s", name)
	return builtins[i]
}

// splitMix is one step of SplitMix64 in state x.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Placement is a promise. testdata/native.json was made by an independent implementation of the rule and never changes:
// not for a bug, not for speed. A change of the rule would be another rule, under another name, in another major version.
func TestNativeVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/native.json")
	require.NoError(t, err)
	var doc struct {
		Nodes []struct {
			Hash, Name string
			Tokens     []string
		}
		Rings []struct {
			Hash         string
			VirtualNodes int `json:"virtual_nodes"`
			Nodes        []struct {
				Name   string
				Weight float64
			}
			Tokens int
			Fold   string
			Keys   [][3]any
		}
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	require.Len(t, doc.Nodes, 90)
	require.Len(t, doc.Rings, 10)

	for _, c := range doc.Nodes {
		r, err := hashring.New(hashring.Nodes(latin1(c.Name)), &hashring.Options{Hash: hashCalled(t, c.Hash), VirtualNodes: len(c.Tokens)})
		require.NoError(t, err)
		want := []uint64{}
		for _, s := range c.Tokens {
			want = append(want, parseUint(t, s))
		}
		slices.Sort(want)
		got := []uint64{}
		for token := range r.Tokens() {
			got = append(got, token)
		}
		require.Equal(t, want, got, "%s of %q", c.Hash, c.Name)
	}

	for _, c := range doc.Rings {
		var nodes []hashring.Node
		for _, n := range c.Nodes {
			nodes = append(nodes, hashring.Node{Name: latin1(n.Name), Weight: n.Weight})
		}
		r, err := hashring.New(nodes, &hashring.Options{Hash: hashCalled(t, c.Hash), VirtualNodes: c.VirtualNodes})
		require.NoError(t, err)
		require.Equal(t, c.Tokens, r.NumTokens())
		fold := uint64(0)
		for token, i := range r.TokensFrom(0) {
			fold = splitMix(fold^token) + uint64(i)
		}
		require.Equal(t, parseUint(t, c.Fold), fold, "tokens and owners of %v", r)
		require.Len(t, c.Keys, 66)
		for _, row := range c.Keys {
			key, pos := latin1(row[0].(string)), parseUint(t, row[1].(string))
			require.Equal(t, pos, r.Position(key), "position of %q", key)
			want := []string{}
			for _, name := range row[2].([]any) {
				want = append(want, latin1(name.(string)))
			}
			require.Equal(t, want, r.AppendReplicas(nil, key, 3), "replicas of %q on %v", key, r)
			owner, ok := r.Owner(key)
			require.True(t, ok)
			require.Equal(t, want[0], owner, "owner of %q on %v", key, r)
		}
	}
}

// tokensOf returns the tokens of each node, ascending.
func tokensOf(r *hashring.Ring) map[string][]uint64 {
	m := make(map[string][]uint64)
	for token, name := range r.Tokens() {
		m[name] = append(m[name], token)
	}
	return m
}

func TestTokenCount(t *testing.T) {
	for _, c := range []struct {
		virtualNodes int
		weight       float64
		want         int
	}{
		{0, 0, 160}, {0, 1, 160}, {0, math.Copysign(0, -1), 160}, {0, 0.5, 80}, {0, 2, 320},
		{1, 1, 1}, {1, 0.001, 1}, {160, 0.003, 1}, {160, math.SmallestNonzeroFloat64, 1},
		{1, 1.5, 2}, {1, 2.5, 3}, {1, 2.4999, 2}, {10, 0.25, 3}, {3, 1.0 / 3, 1}, {160, 1.0 / 320, 1}, {160, 3.0 / 320, 2},
	} {
		r, err := hashring.New([]hashring.Node{{Name: "n", Weight: c.weight}}, &hashring.Options{VirtualNodes: c.virtualNodes})
		require.NoError(t, err)
		require.Equal(t, c.want, r.NumTokens(), "%d virtual nodes, weight %v", c.virtualNodes, c.weight)
	}
}

// The tokens of a weight are those of any smaller weight and some more.
func TestTokensOfSmallerWeightAreAPrefix(t *testing.T) {
	var before []uint64
	for w := 0.1; w < 8; w += 0.37 {
		r, err := hashring.New([]hashring.Node{{Name: "n", Weight: w}}, nil)
		require.NoError(t, err)
		now := tokensOf(r)["n"]
		require.Greater(t, len(now), len(before))
		for _, token := range before {
			require.True(t, slices.Contains(now, token), "weight %v", w)
		}
		before = now
	}
}

// Names that collide under a weak key hash share no token, since XXH64 of the name is in the seed.
func TestNodesThatCollideUnderTheKeyHashShareNoTokens(t *testing.T) {
	r, err := hashring.New(hashring.Nodes("a", "b"), &hashring.Options{Hash: hashring.NewHash("constant", func(string) uint64 { return 42 })})
	require.NoError(t, err)
	tokens := make(map[uint64]bool)
	for token := range r.Tokens() {
		tokens[token] = true
	}
	require.Len(t, tokens, 320)
}

// A seeded hash moves the tokens of nodes too, so knowing the names is not knowing the tokens.
func TestKeyHashIsPartOfTheTokens(t *testing.T) {
	seeded := func(seed string) hashring.Hash {
		return hashring.NewHash("seeded-"+seed, func(key string) uint64 { return rawFNV1a(seed + key) })
	}
	a, err := hashring.New(hashring.Nodes("n"), &hashring.Options{Hash: seeded("1")})
	require.NoError(t, err)
	b, err := hashring.New(hashring.Nodes("n"), &hashring.Options{Hash: seeded("2")})
	require.NoError(t, err)
	require.NotEqual(t, tokensOf(a), tokensOf(b))
}

func TestExplicitTokens(t *testing.T) {
	tokens := []uint64{30, 10, 20}
	nodes := []hashring.Node{{Name: "b", Tokens: tokens, Weight: 7}, {Name: "a", Tokens: []uint64{20, math.MaxUint64}}, {Name: "native"}, {Name: "z", Tokens: []uint64{}}}
	r, err := hashring.New(nodes, nil)
	require.NoError(t, err)
	require.Equal(t, 3+2+160+160, r.NumTokens())
	require.Equal(t, []uint64{30, 10, 20}, tokens, "the argument is left as it was")
	tokens[0] = 99
	b, ok := r.Node("b")
	require.True(t, ok)
	require.Equal(t, hashring.Node{Name: "b", Tokens: []uint64{10, 20, 30}, Weight: 7}, b)

	for pos, want := range map[uint64]string{0: "b", 10: "b", 11: "a", 20: "a", 21: "b", 30: "b", math.MaxUint64: "a"} {
		owner, ok := r.OwnerAt(pos)
		require.True(t, ok)
		require.Equal(t, want, owner, "owner of %d", pos)
	}
	r, err = r.Without("a") // b held 20 all along
	require.NoError(t, err)
	owner, _ := r.OwnerAt(20)
	require.Equal(t, "b", owner)
	owner, _ = r.OwnerAt(math.MaxUint64)
	require.Equal(t, "b", owner, "round to the smallest token")
}

// listed is a Placement that emits the tokens it is given: by name of the node, in that order.
type listed struct {
	hash hashring.Hash
	list []listedToken
}

type listedToken struct {
	name string
	pos  uint64
}

func (p listed) Name() string        { return "listed" }
func (p listed) Hash() hashring.Hash { return p.hash }
func (p listed) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	for _, tok := range p.list {
		if i := slices.IndexFunc(nodes, func(n hashring.Node) bool { return n.Name == tok.name }); i >= 0 && !emit(i, tok.pos) {
			return nil
		}
	}
	return nil
}

// placeBy is a Placement of a function.
type placeBy func(nodes []hashring.Node, emit func(int, uint64) bool) error

func (placeBy) Name() string        { return "func" }
func (placeBy) Hash() hashring.Hash { return nil }
func (p placeBy) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	return p(nodes, emit)
}

func TestPlacementKeepsTheOrderOfNodesAndOfEmission(t *testing.T) {
	p := listed{list: []listedToken{{"a", 30}, {"c", 10}, {"b", 10}, {"a", 10}, {"b", 30}, {"b", 10}}}
	r, err := hashring.New(hashring.Nodes("b", "a", "idle", "c"), &hashring.Options{Placement: p})
	require.NoError(t, err)
	require.Equal(t, 4, r.Len())
	require.Equal(t, 6, r.NumTokens())
	got := []listedToken{}
	for pos, name := range r.Tokens() {
		got = append(got, listedToken{name, pos})
	}
	require.Equal(t, []listedToken{{"c", 10}, {"b", 10}, {"a", 10}, {"b", 10}, {"a", 30}, {"b", 30}}, got)
	require.Equal(t, []int{3, 0, 1}, slices.Collect(r.WalkAt(5)), "idle has no tokens")
	require.Equal(t, []string{"b", "a", "idle", "c"}, names(r))

	// With replaces in place and appends; Without keeps the rest in order.
	s, err := r.With(hashring.Node{Name: "d"}, hashring.Node{Name: "a", Zone: "z"})
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a", "idle", "c", "d"}, names(s))
	a, _ := s.Node("a")
	require.Equal(t, "z", a.Zone)
	s, err = s.Without("a", "d")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "idle", "c"}, names(s))
	s, err = s.With(hashring.Node{Name: "a"}) // not where it was: the order is part of such a ring
	require.NoError(t, err)
	require.Equal(t, []string{"b", "idle", "c", "a"}, names(s))
	require.False(t, s.Equal(r))
}

func names(r *hashring.Ring) []string {
	out := []string{}
	for _, n := range r.Nodes() {
		out = append(out, n.Name)
	}
	return out
}

func TestPlacementFixesTheKeyHash(t *testing.T) {
	p := listed{hash: hashring.MD5, list: []listedToken{{"a", 1}}}
	r, err := hashring.New(hashring.Nodes("a"), &hashring.Options{Placement: p})
	require.NoError(t, err)
	require.Equal(t, hashring.MD5.Sum64("key"), r.Position("key"))

	r, err = hashring.New(hashring.Nodes("a"), &hashring.Options{Placement: listed{}, Hash: hashring.SHA256})
	require.NoError(t, err)
	require.Equal(t, hashring.SHA256.Sum64("key"), r.Position("key"))

	_, err = hashring.New(nil, &hashring.Options{Placement: p, Hash: hashring.MD5, VirtualNodes: 3})
	require.ErrorIs(t, err, hashring.ErrOptions)
	require.ErrorContains(t, err, "fixes the hash of keys")
	require.ErrorContains(t, err, "VirtualNodes is 3")
}

func TestPlacementFailures(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		place placeBy
		is    []error
		says  string
		node  string
	}{
		"error": {func([]hashring.Node, func(int, uint64) bool) error { return boom },
			[]error{hashring.ErrPlacement, boom}, "func: boom", ""},
		"index below": {func(_ []hashring.Node, emit func(int, uint64) bool) error { emit(-1, 5); return nil },
			[]error{hashring.ErrPlacement}, "node index -1 of 2 nodes", ""},
		"index above": {func(_ []hashring.Node, emit func(int, uint64) bool) error { emit(0, 1); emit(2, 5); return nil },
			[]error{hashring.ErrPlacement}, "node index 2 of 2 nodes", ""},
		"without end, heeding stop": {func(_ []hashring.Node, emit func(int, uint64) bool) error {
			for i := uint64(0); emit(1, i); i++ {
			}
			return boom
		}, []error{hashring.ErrTooManyTokens}, "more than 100", "b"},
		"without end, heeding nothing": {func(_ []hashring.Node, emit func(int, uint64) bool) error {
			for i := uint64(0); ; i++ {
				emit(1, i)
			}
		}, []error{hashring.ErrTooManyTokens}, "more than 100", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := hashring.New(hashring.Nodes("a", "b"), &hashring.Options{Placement: c.place, MaxTokens: 100})
			require.Nil(t, r)
			for _, is := range c.is {
				require.ErrorIs(t, err, is)
			}
			require.ErrorContains(t, err, c.says)
			var at *hashring.NodeError
			require.Equal(t, c.node != "", errors.As(err, &at))
			if at != nil {
				require.Equal(t, c.node, at.Name)
				require.Equal(t, 1, at.Index)
			}
		})
	}
	// All nodes that a rule refuses are reported, by their index in the call, and what it says besides.
	refuses := placeBy(func(nodes []hashring.Node, _ func(int, uint64) bool) error {
		all := []error{errors.New("besides")}
		for i, n := range nodes {
			if n.Weight > 1 {
				all = append(all, &hashring.NodeError{Index: i, Name: n.Name, Err: fmt.Errorf("%w: too heavy", hashring.ErrInvalidNode)})
			}
		}
		if len(all) == 1 {
			return nil
		}
		return errors.Join(all...)
	})
	heavy := func(name string) hashring.Node { return hashring.Node{Name: name, Weight: 2} }
	base := mustNew(t, hashring.Nodes("a", "b"), &hashring.Options{Placement: refuses})
	_, err := base.With(hashring.Node{Name: "c"}, heavy("b"), heavy("d"))
	require.ErrorIs(t, err, hashring.ErrInvalidNode)
	require.Equal(t, []string{"besides", `hashring: node 1 ("b"): invalid node: too heavy`, `hashring: node 2 ("d"): invalid node: too heavy`},
		strings.Split(err.Error(), "\n"))

	// A panic of the rule's own is not swallowed.
	require.PanicsWithValue(t, "own", func() {
		_, _ = hashring.New(hashring.Nodes("a"), &hashring.Options{Placement: placeBy(func([]hashring.Node, func(int, uint64) bool) error { panic("own") })})
	})
}

// The index in a NodeError is that in the nodes of the call, also where the rule placed the whole ring.
func TestPlacementErrorNamesTheNodeOfTheCall(t *testing.T) {
	p := placeBy(func(nodes []hashring.Node, emit func(int, uint64) bool) error {
		for i, n := range nodes {
			for k := range uint64(n.Weight) {
				if !emit(i, k) {
					return nil
				}
			}
		}
		return nil
	})
	r, err := hashring.New(hashring.Nodes("a", "b", "c"), &hashring.Options{Placement: p, MaxTokens: 10})
	require.NoError(t, err)
	_, err = r.With(hashring.Node{Name: "x", Weight: 2}, hashring.Node{Name: "y", Weight: 9})
	var at *hashring.NodeError
	require.ErrorAs(t, err, &at)
	require.Equal(t, 1, at.Index)
	require.Equal(t, "y", at.Name)
	_, err = r.With(hashring.Node{Name: "a", Weight: 9}) // it is c, unchanged, that finds no room
	require.ErrorAs(t, err, &at)
	require.Equal(t, -1, at.Index)
	require.Equal(t, "c", at.Name)
	require.ErrorContains(t, err, `hashring: node "c"`)
}

// A rule that writes to the nodes it is given writes to a copy.
func TestPlacementGetsACopy(t *testing.T) {
	p := placeBy(func(nodes []hashring.Node, emit func(int, uint64) bool) error {
		for i := range nodes {
			emit(i, uint64(i))
			nodes[i].Name = "spoilt"
		}
		return nil
	})
	r, err := hashring.New(hashring.Nodes("a", "b"), &hashring.Options{Placement: p})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names(r))
}

func TestMaxTokens(t *testing.T) {
	opts := &hashring.Options{VirtualNodes: 10, MaxTokens: 25}
	r, err := hashring.New(hashring.Nodes("a", "b"), opts)
	require.NoError(t, err)
	var at *hashring.NodeError

	_, err = hashring.New(hashring.Nodes("z", "y", "x"), opts) // in the order of the call, not of the names
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	require.ErrorAs(t, err, &at)
	require.Equal(t, 2, at.Index)
	require.Equal(t, "x", at.Name)
	require.NoError(t, r.Check(hashring.Nodes("z", "y", "x")), "which counts no tokens")

	same, err := r.With(hashring.Node{Name: "c"})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	require.Nil(t, same)
	s, err := r.With(hashring.Node{Name: "c", Weight: 0.5})
	require.NoError(t, err)
	require.Equal(t, 25, s.NumTokens())
	s, err = r.With(hashring.Node{Name: "a", Weight: 1.5}) // its ten old tokens make room
	require.NoError(t, err)
	require.Equal(t, 25, s.NumTokens())
	_, err = r.With(hashring.Node{Name: "a", Weight: 1.6})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	_, err = r.With(hashring.Node{Name: "t", Tokens: []uint64{1, 2, 3, 4, 5, 6}})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)

	for _, w := range []float64{1e6, 1e18, 1 << 31, 1 << 32, 1 << 63, math.MaxFloat64} {
		allocs := testing.AllocsPerRun(1, func() {
			_, err = hashring.New([]hashring.Node{{Name: "ok"}, {Name: "huge", Weight: w}}, nil)
		})
		require.ErrorIs(t, err, hashring.ErrTooManyTokens, "weight %v", w)
		require.ErrorAs(t, err, &at)
		require.Equal(t, "huge", at.Name)
		require.Less(t, allocs, 30.0)
	}
	_, err = hashring.New([]hashring.Node{{Name: "a", Weight: 1 << 40}}, &hashring.Options{MaxTokens: 1<<30 - 1}) // the largest
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	_, err = hashring.New(hashring.Nodes("a"), &hashring.Options{VirtualNodes: bits.UintSize, MaxTokens: 1})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	for _, bad := range []int{-1, 1 << 30} {
		_, err = hashring.New(nil, &hashring.Options{MaxTokens: bad})
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, fmt.Sprint(bad))
	}
	_, err = hashring.New(nil, &hashring.Options{VirtualNodes: -5})
	require.ErrorIs(t, err, hashring.ErrOptions)
}
