package hashring_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// Removing a node drops a point that another node holds too, and its keys go elsewhere. zeromicro/go-zero #5595
func TestFault01_RemoveKeepsTheOtherNodesToken(t *testing.T) {
	opts := &hashring.Options{Hash: faultTable{"x": 15, "y": 25}}
	a, b := faultAt("a", 10, 20), faultAt("b", 20, 30)
	both := faultRing(t, opts, a, b)
	faultHolds(t, both, "10:a 20:a 20:b 30:b")

	left := mustWithout(t, both, "b")
	faultHolds(t, left, "10:a 20:a")
	faultSame(t, faultRing(t, opts, a), left)
	owner, _ := left.Owner("x")
	require.Equal(t, "a", owner)

	left = mustWithout(t, both, "a")
	faultHolds(t, left, "20:b 30:b")
	faultSame(t, faultRing(t, opts, b), left)
	owner, _ = left.Owner("x")
	require.Equal(t, "b", owner)
}

// The host that was added last takes over the point, and its removal leaves a hole. lafikl/consistent #10 and #1
func TestFault02_AddThenRemoveRestoresTheRing(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} { // the one that joins loses the tie, and wins it
		before := faultRing(t, nil, faultAt(names[0], 10, 20))
		joined := mustWith(t, before, faultAt(names[1], 20, 21))
		owner, _ := joined.OwnerAt(20)
		require.Equal(t, "a", owner)
		faultSame(t, before, mustWithout(t, joined, names[1]))
	}
}

// A point that two nodes hold belongs to the one added last, so that processes with one list disagree.
// stathat/consistent #5 and #13
func TestFault03_OrderOfAdding(t *testing.T) {
	a, b, c := faultAt("a", 10, 20), faultAt("b", 20, 30), faultAt("c", 10, 30)
	want := faultRing(t, nil, a, b, c)
	faultHolds(t, want, "10:a 10:c 20:a 20:b 30:b 30:c")
	orders := faultOrders(a, b, c)
	require.Len(t, orders, 6)
	for _, order := range orders {
		faultSame(t, want, faultRing(t, nil, order...))
		one := faultRing(t, nil)
		for _, n := range order {
			one = mustWith(t, one, n)
		}
		faultSame(t, want, one)
		faultSame(t, want, mustWith(t, faultRing(t, nil, order[0]), order[1:]...))
		faultSame(t, want, mustWith(t, faultRing(t, nil, order[1:]...), order[0]))
		faultSame(t, want, mustWith(t, mustWithout(t, want, order[0].Name, order[1].Name), order[1], order[0]))
	}
}

// Three pairs of hosts that share a point of ketama: the names, and the point as a 32-bit number.
var faultKetamaPairs = []struct {
	a, b  string
	point uint64
}{
	{"10.0.2.53:11211", "10.0.2.161:11211", 3152960057},
	{"10.0.1.124:11211", "10.0.3.95:11211", 1741064620},
	{"10.0.0.225:11211", "10.0.3.105:11211", 1622187688},
}

// Removing the second of two nodes that share a point is a key error. ultrabug/uhashring #6
func TestFault04_RemoveAfterARealCollision(t *testing.T) {
	opts := &hashring.Options{Placement: faultKetama{}}
	for _, pair := range faultKetamaPairs {
		for _, order := range [][]string{{pair.a, pair.b}, {pair.b, pair.a}} {
			both := faultRing(t, opts, hashring.Nodes(order...)...)
			require.Equal(t, 320, both.NumTokens())
			var holders []string
			for _, token := range faultTokens(both) {
				if token.pos == pair.point<<32 {
					holders = append(holders, token.node)
				}
			}
			require.Equal(t, order, holders, "the two share the point, and the first in the list comes first")
			owner, _ := both.OwnerAt(pair.point << 32)
			require.Equal(t, order[0], owner)

			for i := range 2 {
				one := mustWithout(t, both, order[i])
				require.Equal(t, 160, one.NumTokens())
				faultSame(t, faultRing(t, opts, hashring.Node{Name: order[1-i]}), one)
				owner, _ := one.OwnerAt(pair.point << 32)
				require.Equal(t, order[1-i], owner)
				none := mustWithout(t, one, order[1-i])
				require.Zero(t, none.NumTokens())
				faultSame(t, faultRing(t, opts), none)
			}
		}
	}
}

// In a tree map the node added last takes the point, and the removal of one deletes that of the other.
// pragmaticalabs/pragmatica #1324
func TestFault05_TreeOfPoints(t *testing.T) {
	a, b := faultAt("a", 7), faultAt("b", 7, 9)
	for _, order := range faultOrders(a, b) {
		r := mustWith(t, mustWith(t, faultRing(t, nil), order[0]), order[1])
		faultHolds(t, r, "7:a 7:b 9:b")
		faultHolds(t, mustWithout(t, r, "b"), "7:a")
		faultHolds(t, mustWithout(t, r, "a"), "7:b 9:b")
	}
}

// A point that collides is overwritten, so that a node has fewer than its weight asks for, and nobody is told.
// apache/pekko #3279
func TestFault06_TokensLostInCollisions(t *testing.T) {
	requireCounts := func(r *hashring.Ring) {
		require.Equal(t, 24, r.NumTokens())
		count := make(map[string]int)
		for _, token := range faultTokens(r) {
			count[token.node]++
		}
		require.Equal(t, map[string]int{"a": 8, "b": 8, "c": 8}, count)
	}
	// Four positions for 24 tokens, two times each in each node.
	four := []uint64{0, 1, 2, 3, 0, 1, 2, 3}
	opts := &hashring.Options{Placement: faultPlacement{"a": four, "b": four, "c": four}}
	r := faultRing(t, opts, hashring.Nodes("a", "b", "c")...)
	requireCounts(r)
	faultHolds(t, r, "0:a 0:a 0:b 0:b 0:c 0:c 1:a 1:a 1:b 1:b 1:c 1:c 2:a 2:a 2:b 2:b 2:c 2:c 3:a 3:a 3:b 3:b 3:c 3:c")

	// A hash of four values does not make the native tokens collide, but must not lose any either.
	mod4 := faultHash(func(key string) uint64 { return hashring.CRC32.Sum64(key) % 4 })
	requireCounts(faultRing(t, &hashring.Options{Hash: mod4, VirtualNodes: 8}, hashring.Nodes("a", "b", "c")...))
}

// Two equal points make the building of the ring fail, and from then on there is no node for any key.
// akkadotnet/akka.net #8031, #2535 and #8294
func TestFault07_EveryTokenCollides(t *testing.T) {
	nodes := hashring.Nodes("a", "b", "c")
	requireAll := func(r *hashring.Ring, want ...string) {
		for _, key := range faultNames("key-", 20) {
			owner, ok := r.Owner(key)
			require.True(t, ok)
			require.Equal(t, want[0], owner)
			require.Equal(t, want, r.AppendReplicas(nil, key, 3))
		}
	}
	always := faultHash(func(string) uint64 { return 42 })
	native := faultRing(t, &hashring.Options{Hash: always}, nodes...)
	require.Equal(t, 3*160, native.NumTokens())
	replicas := native.AppendReplicas(nil, "any", 4)
	require.ElementsMatch(t, []string{"a", "b", "c"}, replicas)
	require.Equal(t, faultOwner(native, 42), replicas[0])
	requireAll(native, replicas...)

	for _, order := range faultOrders(faultAt("a", 42), faultAt("b", 42), faultAt("c", 42)) {
		requireAll(faultRing(t, &hashring.Options{Hash: always}, order...), "a", "b", "c")
	}
	many := slices.Repeat([]uint64{42}, 100)
	opts := &hashring.Options{Hash: always, Placement: faultPlacement{"a": many, "b": many, "c": many}}
	r := faultRing(t, opts, nodes...)
	require.Equal(t, 300, r.NumTokens())
	requireAll(r, "a", "b", "c")
	requireAll(faultRing(t, opts, hashring.Nodes("c", "a", "b")...), "c", "a", "b") // the one emitted first owns
	requireAll(mustWithout(t, r, "a"), "b", "c")
}

// faultFailing is a Placement that fails when there is a node called "bad".
type faultFailing struct{ faultPlacement }

func (p faultFailing) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	if slices.ContainsFunc(nodes, func(n hashring.Node) bool { return n.Name == "bad" }) {
		return errors.New("no place for it")
	}
	return p.faultPlacement.Place(nodes, emit)
}

// The same reports: one failure to build lasts until a restart. A change that fails must leave the ring that was there.
func TestFault07_AFailureDoesNotLast(t *testing.T) {
	rule := faultFailing{faultPlacement{"a": {1}, "b": {2}, "c": {3}}}
	live := hashring.NewLive(faultRing(t, &hashring.Options{Placement: rule}, hashring.Nodes("a", "b")...))
	before := live.Load()
	for range 3 {
		change, err := live.Add(hashring.Node{Name: "bad"})
		require.ErrorIs(t, err, hashring.ErrPlacement)
		require.ErrorContains(t, err, "no place for it")
		require.Same(t, before, change.New)
		require.Same(t, before, live.Load())
		owner, ok := live.Owner("key")
		require.True(t, ok)
		require.Equal(t, faultOwner(before, before.Position("key")), owner)
	}
	_, err := live.Add(hashring.Node{Name: "c"})
	require.NoError(t, err)
	faultHolds(t, live.Load(), "1:a 2:b 3:c")
}

// With some 800 nodes two of the points are equal, and adding a node crashes. bitwalker/libring #9
func TestFault08_SixteenBitsForAThousandNodes(t *testing.T) {
	n, per := 1_000, 128
	if testing.Short() {
		n = 600 // still more tokens than positions
	}
	names := faultNames("node-", n)
	for _, shift := range []int{0, 48} { // crowded at the start of the circle, and all around it
		place := make(faultPlacement)
		for _, name := range names {
			for i := range per {
				place[name] = append(place[name], hashring.XXH64.Sum64(name)*uint64(2*i+1)>>48<<shift)
			}
		}
		opts := &hashring.Options{Placement: place}
		r := faultRing(t, opts, hashring.Nodes(names...)...)
		require.Equal(t, n*per, r.NumTokens())
		held := make([]int, n)
		var at []uint64  // the distinct positions
		var owners []int // of each, the node emitted first
		lastNode := 0
		for pos, node := range r.TokensFrom(0) {
			held[node]++
			if len(at) == 0 || at[len(at)-1] != pos {
				at, owners = append(at, pos), append(owners, node)
			} else if lastNode > node {
				require.Failf(t, "equal tokens are not in the order of emission", "at %d: %d, then %d", pos, lastNode, node)
			}
			lastNode = node
		}
		require.Less(t, len(at), 1<<16+1)
		require.Equal(t, slices.Repeat([]int{per}, n), held)
		for i, pos := range at {
			next := owners[(i+1)%len(at)]
			if a, b := r.IndexAt(pos), r.IndexAt(pos+1); a != owners[i] || b != next {
				require.Failf(t, "wrong owner", "of %d and the position after: %d and %d, not %d and %d", pos, a, b, owners[i], next)
			}
		}
		grown := faultRing(t, opts, hashring.Nodes(names[:n/2]...)...)
		faultHeldBy(t, r, mustWith(t, grown, hashring.Nodes(names[n/2:]...)...))
	}
}

// faultHeldBy is faultSame for large rings: it looks at the tokens alone.
func faultHeldBy(t *testing.T, want, got *hashring.Ring) {
	t.Helper()
	require.True(t, want.Equal(got))
	require.True(t, slices.Equal(faultTokens(want), faultTokens(got)), "the tokens differ")
}

// A point that is taken makes the next one move up by one, so that the place of a node depends on who came first.
// graphite-project/carbon #196
func TestFault09_ProbingForTheNextFreePoint(t *testing.T) {
	a, b, c := faultAt("a", 5), faultAt("b", 5), faultAt("c", 6)
	for _, order := range faultOrders(a, b, c) {
		r := faultRing(t, nil)
		for _, n := range order {
			r = mustWith(t, r, n)
		}
		faultHolds(t, r, "5:a 5:b 6:c")
		left := mustWithout(t, r, "a")
		faultHolds(t, left, "5:b 6:c")
		faultSame(t, r, mustWith(t, left, a))
	}
}

// The point is in the sorted list twice and in the map once, and its owner is a matter of luck. vimeo/galaxycache #33
func TestFault11_LastInsertWins(t *testing.T) {
	firstByte := faultHash(func(key string) uint64 {
		if key == "" {
			return 0
		}
		return uint64(key[0])
	})
	opts := &hashring.Options{Hash: firstByte}
	at := faultOrders(faultAt("Ba", 'B'), faultAt("Bb", 'B'), faultAt("Bc", 'B'))
	for _, order := range at {
		r := faultRing(t, opts, order...)
		faultHolds(t, r, "66:Ba 66:Bb 66:Bc")
		faultSame(t, faultRing(t, opts, at[0]...), r)
		owner, _ := r.Owner("Beta")
		require.Equal(t, "Ba", owner)
	}
	want := faultRing(t, opts, hashring.Nodes("Ba", "Bb", "Bc")...)
	for _, order := range faultOrders(hashring.Nodes("Ba", "Bb", "Bc")...) {
		faultSame(t, want, faultRing(t, opts, order...))
	}
	shares := shares(want) // names with one sum have tokens of their own
	for _, name := range []string{"Ba", "Bb", "Bc"} {
		require.InDelta(t, 1.0/3, shares[name], 0.15, name)
	}
}

// Equal points are in the order that an unstable sort left them in, so that one client writes to A and another reads
// from B. awesomized/libmemcached #41
func TestFault12_UnstableSort(t *testing.T) {
	rounds := 1_000
	if testing.Short() {
		rounds = 100
	}
	pair := faultKetamaPairs[0]
	a, b := faultAt(pair.a, faultKetamaTokens(pair.a)...), faultAt(pair.b, faultKetamaTokens(pair.b)...)
	rng := rand.New(rand.NewPCG(12, 0))
	want := faultRing(t, nil, a, b)
	for range rounds {
		a.Tokens, b.Tokens = faultShuffled(rng, a.Tokens), faultShuffled(rng, b.Tokens)
		r := faultRing(t, nil, faultShuffled(rng, []hashring.Node{a, b})...)
		owner, _ := r.OwnerAt(pair.point << 32)
		require.Equal(t, pair.b, owner, "10.0.2.161 is lower than 10.0.2.53, byte by byte")
		require.True(t, want.Equal(r))
	}
	// Many equal tokens, and unequal ones among them, of nodes in no order of their names.
	var nodes []hashring.Node
	for i := range 200 {
		nodes = append(nodes, faultAt(fmt.Sprintf("n%03d", i), 7, 5+uint64(i%3), uint64(100+i)<<50))
		if i%3 == 2 {
			nodes[i].Tokens[1] = 8
		}
	}
	want = faultRing(t, nil, nodes...)
	for range rounds / 10 {
		faultSame(t, want, faultRing(t, nil, faultShuffled(rng, nodes)...))
	}
	tokens := faultTokens(want)
	for i := range tokens[1:] {
		x, y := tokens[i], tokens[i+1]
		require.True(t, x.pos < y.pos || x.pos == y.pos && x.node < y.node, "%v %v", x, y)
	}
}

// The ring is built by ranging over a map, so that the winner of a collision differs from one start of the process to the
// next. open-falcon-archive/graph #21, open-falcon-archive/common #4
func TestFault13_BuiltByRangingOverAMap(t *testing.T) {
	members := map[string][]uint64{"a": {10, 20}, "b": {20, 30}, "c": {10, 30}}
	want := faultRing(t, nil, faultAt("a", 10, 20), faultAt("b", 20, 30), faultAt("c", 10, 30))
	firsts := make(map[string]bool)
	for range 200 {
		var nodes []hashring.Node
		for name, tokens := range members {
			nodes = append(nodes, faultAt(name, tokens...))
		}
		firsts[nodes[0].Name] = true
		faultSame(t, want, faultRing(t, nil, nodes...))
	}
	require.Len(t, slices.Collect(maps.Keys(firsts)), 3, "the map was ranged over in several orders")
}

// Two members hold one token, and which of them owns differs from one copy of the ring to the next. grafana/dskit #438
func TestFault14_TwoMembersOfOneToken(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	nodes := []hashring.Node{faultAt("a", 10, 20), faultAt("b", 10, 30)}
	live := hashring.NewLive(nil)
	for i := range 1_000 {
		nodes = faultShuffled(rng, nodes)
		r := faultRing(t, nil, nodes...)
		owner, _ := r.OwnerAt(10)
		require.Equal(t, "a", owner)
		require.Equal(t, []string{"a", "b"}, slices.Collect(r.Replicas("a key above all tokens")))

		change, err := live.Set(nodes)
		require.NoError(t, err)
		require.Equal(t, i == 0, change.Old != change.New)
		require.Equal(t, "a", live.Load().Name(live.Load().IndexAt(10)))
	}
}

// The place of a node depends on when it was added, or on a random generator, so that no two processes agree.
// andrasq/consistent-hash-js #4, #1 and #5
func TestFault16_OrderWithoutCollisions(t *testing.T) {
	forward := hashring.Nodes(faultNames("n", 10)...)
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	r, s := faultRing(t, nil), faultRing(t, nil)
	for i := range forward {
		r, s = mustWith(t, r, forward[i]), mustWith(t, s, backward[i])
	}
	faultSame(t, r, s)
	faultSame(t, faultRing(t, nil, forward...), s)
	sum := uint64(0)
	for _, key := range faultNames("key-", 1_000) {
		a, _ := r.Owner(key)
		b, _ := s.Owner(key)
		require.Equal(t, a, b, key)
		sum = faultFold(sum, uint64(a[1]-'0'))
	}
	require.Equal(t, uint64(0xb6d74deb39cdacd7), sum, "the owners in any other process")
}

// A few thousand slots are given to whoever comes first, so that those late in the list have less. It shows at the end of
// long lists. open-telemetry/opentelemetry-collector-contrib #49585 and #41271
func TestFault17_LateInTheListHasLess(t *testing.T) {
	n := 2_000
	if testing.Short() {
		n = 200
	}
	names := faultNames("endpoint-", n)
	slices.Sort(names)
	opts := &hashring.Options{VirtualNodes: 100}
	want := faultRing(t, opts, hashring.Nodes(names...)...)
	require.Equal(t, n*100, want.NumTokens())
	last := 0.0
	shares := shares(want)
	for _, name := range names[n-n/10:] {
		last += shares[name]
	}
	deviation := math.Sqrt(0.1 * 0.9 / float64(n*100)) // of the share of a tenth of all tokens
	require.InDelta(t, 0.1, last, 4*deviation)

	slices.Reverse(names)
	faultHeldBy(t, want, faultRing(t, opts, hashring.Nodes(names...)...))
	faultHeldBy(t, want, faultRing(t, opts, hashring.Nodes(faultShuffled(rand.New(rand.NewPCG(17, 0)), names)...)...))
}

// Points are made from the place of a node in the list, so that a shuffled list gives other answers. serialx/hashring #16
func TestFault18_ShuffledList(t *testing.T) {
	nodes := hashring.Nodes("ant", "bee", "cat", "dog", "eel", "fox", "gnu")
	for i := range nodes {
		nodes[i].Weight = float64(1 + i%3)
	}
	keys := faultNames("key-", 50)
	want := faultRing(t, nil, nodes...)
	rng := rand.New(rand.NewPCG(18, 0))
	for range 100 {
		r := faultRing(t, nil, faultShuffled(rng, nodes)...)
		require.True(t, want.Equal(r))
		for _, key := range keys {
			a, _ := want.Owner(key)
			b, _ := r.Owner(key)
			require.Equal(t, a, b, key)
			require.Equal(t, want.AppendReplicas(nil, key, 7), r.AppendReplicas(nil, key, 7), key)
		}
	}
}
