package hashring_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func mustNew(t testing.TB, nodes []hashring.Node, opts *hashring.Options) *hashring.Ring {
	r, err := hashring.New(nodes, opts)
	if err != nil { // so that the many calls that succeed need no t.Helper, which costs more than they do
		t.Helper()
		require.NoError(t, err)
	}
	return r
}

func mustWith(t testing.TB, r *hashring.Ring, nodes ...hashring.Node) *hashring.Ring {
	s, err := r.With(nodes...)
	if err != nil { // so that the many calls that succeed need no t.Helper, which costs more than they do
		t.Helper()
		require.NoError(t, err)
	}
	return s
}

func mustWithout(t testing.TB, r *hashring.Ring, names ...string) *hashring.Ring {
	s, err := r.Without(names...)
	if err != nil { // so that the many calls that succeed need no t.Helper, which costs more than they do
		t.Helper()
		require.NoError(t, err)
	}
	return s
}

func TestEmptyRing(t *testing.T) {
	var zero hashring.Ring
	for name, r := range map[string]*hashring.Ring{
		"zero":                 &zero,
		"new":                  mustNew(t, nil, nil),
		"emptied":              mustWithout(t, mustNew(t, hashring.Nodes("a", "b"), nil), "a", "b"),
		"no tokens":            mustNew(t, nil, &hashring.Options{Placement: listed{}}),
		"nodes, but no tokens": mustNew(t, hashring.Nodes("a"), &hashring.Options{Placement: listed{}}),
	} {
		t.Run(name, func(t *testing.T) {
			owner, ok := r.Owner("key")
			require.False(t, ok)
			require.Empty(t, owner)
			_, ok = r.OwnerBytes([]byte("key"))
			require.False(t, ok)
			_, ok = r.OwnerAt(math.MaxUint64)
			require.False(t, ok)
			require.Equal(t, -1, r.IndexAt(0))
			require.Zero(t, r.NumTokens())
			require.Empty(t, slices.Collect(r.Replicas("key")))
			require.Empty(t, slices.Collect(r.Spread("key")))
			require.Empty(t, slices.Collect(r.WalkAt(7)))
			require.Empty(t, slices.Collect(r.SpreadAt(7)))
			require.Empty(t, r.AppendReplicas(nil, "key", 3))
			require.Empty(t, r.AppendReplicasAt(nil, 7, 3))
			require.Empty(t, r.AppendSpread(nil, "key", 3))
			require.Empty(t, r.AppendSpreadAt(nil, 7, 3))
			for range r.Tokens() {
				require.Fail(t, "a token")
			}
			for range r.TokensFrom(3) {
				require.Fail(t, "a token")
			}
			_, ok = r.Node("nobody")
			require.False(t, ok)
			require.Same(t, r, mustWithout(t, r, "nobody"))
			require.Same(t, r, mustWith(t, r))
		})
	}
	require.True(t, zero.Equal(mustNew(t, nil, nil)))
	require.Equal(t, mustNew(t, nil, nil).Options(), zero.Options())
	require.True(t, mustWith(t, &zero, hashring.Nodes("a")...).Equal(mustNew(t, hashring.Nodes("a"), nil)), "the zero Ring has the default options")
	require.Equal(t, hashring.XXH64.Sum64("k"), zero.Position("k"))
	require.Equal(t, hashring.XXH64.Sum64("k"), zero.PositionBytes([]byte("k")))
}

func TestInvalidNodes(t *testing.T) {
	tokens := func(n ...uint64) []uint64 { return n }
	for _, c := range []struct {
		nodes []hashring.Node
		opts  *hashring.Options
		index int
		is    error
		says  string
	}{
		{[]hashring.Node{{Name: "a"}, {}}, nil, 1, hashring.ErrInvalidNode, `hashring: node 1 (""): invalid node: the name is empty`},
		{[]hashring.Node{{Name: "a", Weight: -1}}, nil, 0, hashring.ErrInvalidNode, `hashring: node 0 ("a"): invalid node: weight -1 is not a positive number`},
		{[]hashring.Node{{Name: "a", Weight: math.NaN()}}, nil, 0, hashring.ErrInvalidNode, "weight NaN"},
		{[]hashring.Node{{Name: "a", Weight: math.Inf(1)}}, nil, 0, hashring.ErrInvalidNode, "weight +Inf"},
		{[]hashring.Node{{Name: "a", Weight: math.Inf(-1)}}, nil, 0, hashring.ErrInvalidNode, "weight -Inf"},
		{[]hashring.Node{{Name: "a", Tokens: tokens(3, 1, 3)}}, nil, 0, hashring.ErrInvalidNode, "token 3 is there more than once"},
		{[]hashring.Node{{Name: "a", Tokens: tokens(1)}}, &hashring.Options{Placement: listed{}}, 0, hashring.ErrInvalidNode, "Placement"},
		{hashring.Nodes("a", "b", "a"), nil, 2, hashring.ErrDuplicateNode, `node 2 ("a"): duplicate node`},
		{[]hashring.Node{{Name: strings.Repeat("x", 1<<20), Weight: -1}}, nil, 0, hashring.ErrInvalidNode, "xxx…"},
	} {
		check := func(r *hashring.Ring, err error) {
			t.Helper()
			require.Nil(t, r)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
			require.Less(t, len(err.Error()), 300)
			var at *hashring.NodeError
			require.ErrorAs(t, err, &at)
			require.Equal(t, c.index, at.Index)
			require.Equal(t, c.nodes[c.index].Name, at.Name)
		}
		check(hashring.New(c.nodes, c.opts))
		base := mustNew(t, hashring.Nodes("base", "a"), c.opts)
		before := base.String()
		check(base.With(c.nodes...))
		check(nil, base.Check(c.nodes))
		require.Equal(t, before, base.String())
	}
}

// All problems come at once, up to 16 and then a count.
func TestErrorsAreCollected(t *testing.T) {
	nodes := make([]hashring.Node, 40)
	for i := range nodes {
		nodes[i] = hashring.Node{Name: fmt.Sprint("node", i), Weight: -1}
	}
	_, err := hashring.New(nodes, nil)
	require.ErrorIs(t, err, hashring.ErrInvalidNode)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 17)
	require.Contains(t, lines[15], "node15")
	require.Equal(t, "hashring: and 24 more problems", lines[16])

	_, err = hashring.New([]hashring.Node{{Weight: -1, Tokens: []uint64{1, 1}}}, nil)
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "all that is wrong with one node")
}

func TestOptionErrors(t *testing.T) {
	unnamed := hashring.NewHash("", rawFNV1a)
	for says, opts := range map[string]hashring.Options{
		`the Hash is called ""`:              {Hash: unnamed},
		`the Hash is called "\xff"`:          {Hash: hashring.NewHash("\xff", rawFNV1a)},
		"VirtualNodes is -1":                 {VirtualNodes: -1},
		"MaxTokens is -1":                    {MaxTokens: -1},
		`the Placement is called ""`:         {Placement: named{}},
		`the Placement is called "\xff"`:     {Placement: named{name: "\xff"}},
		"the Placement is called native/1":   {Placement: named{name: "native/1"}},
		"VirtualNodes is 160, but placement": {Placement: listed{}, VirtualNodes: 160},
		"Hash is md5, but placement listed":  {Placement: listed{hash: hashring.XXH64}, Hash: hashring.MD5},
		"BuiltinHash(77)":                    {Placement: listed{hash: hashring.BuiltinHash(77)}},
	} {
		r, err := hashring.New(hashring.Nodes("a"), &opts)
		require.Nil(t, r)
		require.ErrorIs(t, err, hashring.ErrOptions, says)
		require.ErrorContains(t, err, says)
	}
	_, err := hashring.New(nil, &hashring.Options{Hash: unnamed, VirtualNodes: -1, MaxTokens: -1})
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "all at once")
}

// named is a Placement with any name.
type named struct {
	listed
	name string
}

func (p named) Name() string { return p.name }

// What Options returns is what New takes, and gives the same ring.
func TestOptionsRoundTrip(t *testing.T) {
	require.Equal(t, hashring.Options{Hash: hashring.XXH64, VirtualNodes: 160, MaxTokens: 1 << 24}, mustNew(t, nil, nil).Options())
	for _, opts := range []*hashring.Options{
		nil, {}, {Hash: hashring.CRC32, VirtualNodes: 7}, {MaxTokens: 5000}, {Placement: placeBy(placeLittle)},
		{Placement: placeBy(placeLittle), Hash: hashring.MD5}, {Placement: listed{hash: hashring.MD5, list: []listedToken{{"a", 1}}}},
	} {
		r := mustNew(t, hashring.Nodes("b", "a"), opts)
		full := r.Options()
		s := mustNew(t, hashring.Nodes("b", "a"), &full)
		require.True(t, r.Equal(s))
		require.Equal(t, r.Position("key"), s.Position("key"))
	}
}

// placeLittle gives each node four tokens far below 2^64, of which neighbours share some.
func placeLittle(nodes []hashring.Node, emit func(int, uint64) bool) error {
	for i := range nodes {
		for k := range 4 {
			if !emit(i, uint64(3*i+7*k)) {
				return nil
			}
		}
	}
	return nil
}

// Arguments are copied, results are the caller's own.
func TestNothingAliases(t *testing.T) {
	nodes := []hashring.Node{{Name: "a", Tokens: []uint64{1, 2, 3}}, {Name: "b", Tokens: []uint64{10}}}
	opts := &hashring.Options{VirtualNodes: 3}
	r := mustNew(t, nodes, opts)
	want := mustNew(t, nodes, opts)
	nodes[0].Name, nodes[0].Tokens[0], opts.VirtualNodes = "x", 99, 9
	require.True(t, r.Equal(want))

	a, _ := r.Node("a")
	a.Tokens[0] = 50
	for _, n := range r.Nodes() {
		n.Tokens[0] = 50
	}
	o := r.Options()
	o.VirtualNodes = 50
	require.True(t, r.Equal(want))

	s := mustWith(t, r, hashring.Node{Name: "c", Tokens: []uint64{5}})
	mustWith(t, r, hashring.Node{Name: "a", Tokens: []uint64{7}}, hashring.Node{Name: "b", Zone: "z"})
	u := mustWithout(t, s, "a")
	require.True(t, r.Equal(want), "derived rings share no memory that is written to")
	require.True(t, mustWithout(t, s, "c").Equal(want))
	require.Equal(t, []string{"b", "c"}, names(u))
}

func TestChangeOfNothingIsTheSameRing(t *testing.T) {
	for _, opts := range []*hashring.Options{nil, {Placement: placeBy(placeLittle)}} {
		r := mustNew(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 2, Zone: "z", Label: "l"}}, opts)
		require.Same(t, r, mustWith(t, r))
		require.Same(t, r, mustWith(t, r, hashring.Node{Name: "a"}))
		require.Same(t, r, mustWith(t, r, hashring.Node{Name: "a", Weight: 1}))
		require.Same(t, r, mustWith(t, r, hashring.Node{Name: "b", Weight: 2, Zone: "z", Label: "l"}, hashring.Node{Name: "a"}))
		require.Same(t, r, mustWithout(t, r))
		require.Same(t, r, mustWithout(t, r, "nobody", "", "nobody"))
		for _, n := range []hashring.Node{{Name: "c"}, {Name: "b", Weight: 3, Zone: "z", Label: "l"}, {Name: "b", Weight: 2, Zone: "y", Label: "l"}, {Name: "b", Weight: 2, Zone: "z", Label: "m"}} {
			s := mustWith(t, r, n)
			require.NotSame(t, r, s)
			require.False(t, r.Equal(s), "%v", n)
			require.False(t, s.Equal(r), "%v", n)
		}
	}
	r := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{3, 1}}}, nil)
	require.Same(t, r, mustWith(t, r, hashring.Node{Name: "a", Tokens: []uint64{1, 3}}), "tokens are a set")
	require.NotSame(t, r, mustWith(t, r, hashring.Node{Name: "a"}))
}

func TestWithoutTakesNamesAsASet(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a", "b", "c"), nil)
	require.Equal(t, []string{"b"}, names(mustWithout(t, r, "c", "a", "c", "nobody")))
}

func TestEqual(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a", "b"), nil)
	same := func(opts *hashring.Options) bool { return r.Equal(mustNew(t, hashring.Nodes("b", "a"), opts)) }
	require.True(t, same(&hashring.Options{Hash: hashring.XXH64, VirtualNodes: 160, MaxTokens: 12345}))
	require.False(t, same(&hashring.Options{Hash: hashring.MD5}))
	require.False(t, same(&hashring.Options{VirtualNodes: 159}))
	// A hash under the name of another is found out by the positions it gives.
	require.False(t, same(&hashring.Options{Hash: hashring.NewHash("xxh64", rawFNV1a)}))
	require.True(t, same(&hashring.Options{Hash: rawHash{"xxh64", hashring.XXH64.Sum64}}))
	empty := mustNew(t, nil, nil)
	require.False(t, empty.Equal(mustNew(t, nil, &hashring.Options{Placement: listed{}})))
	require.False(t, empty.Equal(mustNew(t, nil, &hashring.Options{Hash: hashring.NewHash("xxh64", rawFNV1a)})))
	require.False(t, empty.Equal(mustNew(t, nil, &hashring.Options{VirtualNodes: 159})), "it will have other tokens")
}

func TestString(t *testing.T) {
	require.Equal(t, "hashring: 2 nodes, 320 tokens, keys by xxh64, 160 virtual nodes by native/1", mustNew(t, hashring.Nodes("a", "b"), nil).String())
	require.Equal(t, "hashring: 1 nodes, 1 tokens, keys by md5, placed by listed",
		mustNew(t, hashring.Nodes("a"), &hashring.Options{Placement: listed{hash: hashring.MD5, list: []listedToken{{"a", 1}}}}).String())
	var zero hashring.Ring
	require.Equal(t, "hashring: 0 nodes, 0 tokens, keys by xxh64, 160 virtual nodes by native/1", zero.String())
}

func TestNodeLookup(t *testing.T) {
	for _, opts := range []*hashring.Options{nil, {Placement: placeBy(placeLittle)}} {
		var nodes []hashring.Node
		for i := range 50 {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint(i * 7 % 50), Weight: float64(i)})
		}
		r := mustNew(t, nodes, opts)
		for _, want := range nodes {
			if want.Weight == 0 {
				want.Weight = 1
			}
			got, ok := r.Node(want.Name)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		for _, name := range []string{"", "50", "a", "4x"} {
			_, ok := r.Node(name)
			require.False(t, ok)
		}
	}
}

// Every iterator stops where its caller does.
func TestIteratorsStop(t *testing.T) {
	r := mustNew(t, []hashring.Node{{Name: "a", Zone: "x"}, {Name: "b", Zone: "y"}, {Name: "c", Zone: "x"}, {Name: "d", Zone: "x"}}, nil)
	for n := range 4 {
		counts := make([]int, 7)
		for range r.Replicas("k") {
			if counts[0]++; counts[0] > n {
				break
			}
		}
		for range r.Spread("k") {
			if counts[1]++; counts[1] > n {
				break
			}
		}
		for range r.WalkAt(5) {
			if counts[2]++; counts[2] > n {
				break
			}
		}
		for range r.SpreadAt(5) {
			if counts[3]++; counts[3] > n {
				break
			}
		}
		for range r.Nodes() {
			if counts[4]++; counts[4] > n {
				break
			}
		}
		for range r.Tokens() {
			if counts[5]++; counts[5] > n {
				break
			}
		}
		for range r.TokensFrom(5) {
			if counts[6]++; counts[6] > n {
				break
			}
		}
		for i, c := range counts {
			require.Equal(t, n+1, c, "iterator %d", i)
		}
	}
}

func TestTokensFrom(t *testing.T) {
	r := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{10, 30}}, {Name: "b", Tokens: []uint64{20, 30, math.MaxUint64}}}, nil)
	for pos, want := range map[uint64][]uint64{
		0: {10, 20, 30, 30, math.MaxUint64}, 10: {10, 20, 30, 30, math.MaxUint64}, 11: {20, 30, 30, math.MaxUint64, 10},
		30: {30, 30, math.MaxUint64, 10, 20}, 31: {math.MaxUint64, 10, 20, 30, 30}, math.MaxUint64: {math.MaxUint64, 10, 20, 30, 30},
	} {
		got, owners := []uint64{}, []int{}
		for token, i := range r.TokensFrom(pos) {
			got, owners = append(got, token), append(owners, i)
		}
		require.Equal(t, want, got, "from %d", pos)
		require.Equal(t, r.IndexAt(pos), owners[0])
	}
}

func TestNameOfNoNodePanics(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a"), nil)
	require.Equal(t, "a", r.Name(0))
	require.Panics(t, func() { r.Name(1) })
	require.Panics(t, func() { r.Name(-1) })
}

func TestNodeErrorUnwraps(t *testing.T) {
	err := &hashring.NodeError{Index: 3, Name: "n", Err: fmt.Errorf("%w: why", hashring.ErrInvalidNode)}
	require.Equal(t, `hashring: node 3 ("n"): invalid node: why`, err.Error())
	require.True(t, errors.Is(err, hashring.ErrInvalidNode))
	err.Name = strings.Repeat("x", 64)
	require.Contains(t, err.Error(), `"`+err.Name+`"`)
	err.Name += "y" // longer names are cut: they come from outside
	require.Contains(t, err.Error(), `"`+strings.Repeat("x", 64)+`…"`)
}
