package hashring_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// A binary search gives -1 below the first point, the length above the last, or on equality the index in place of what is
// there. redis/redis-rb #9, predis/predis #2, dakatsuka/node-consistent-hashing #1, vedhavyas/hashring #1
func TestFault29_EndsOfTheBinarySearch(t *testing.T) {
	const top = math.MaxUint64
	type owners map[uint64]string
	for _, c := range []struct {
		nodes []hashring.Node
		want  owners
	}{
		{[]hashring.Node{faultAt("10", 10), faultAt("20", 20), faultAt("30", 30)},
			owners{0: "10", 9: "10", 10: "10", 11: "20", 19: "20", 20: "20", 21: "30", 29: "30", 30: "30", 31: "10", top: "10"}},
		{[]hashring.Node{faultAt("x", 10)}, owners{0: "x", 9: "x", 10: "x", 11: "x", top: "x"}},
		{[]hashring.Node{faultAt("x", 0)}, owners{0: "x", 1: "x", top: "x"}},
		{[]hashring.Node{faultAt("x", top)}, owners{0: "x", 1: "x", top - 1: "x", top: "x"}},
		{[]hashring.Node{faultAt("low", 0), faultAt("high", top)},
			owners{0: "low", 1: "high", 1 << 63: "high", top - 1: "high", top: "high"}},
		{[]hashring.Node{faultAt("low", 1), faultAt("high", top-1)},
			owners{0: "low", 1: "low", 2: "high", top - 1: "high", top: "low"}},
		{[]hashring.Node{faultAt("b", top), faultAt("a", top), faultAt("c", 5)},
			owners{0: "c", 5: "c", 6: "a", top - 1: "a", top: "a"}},
	} {
		keys := make(faultTable)
		for pos := range c.want {
			keys[fmt.Sprint(pos)] = pos
		}
		r := faultRing(t, &hashring.Options{Hash: keys}, c.nodes...)
		for pos, want := range c.want {
			byKey, ok := r.Owner(fmt.Sprint(pos))
			require.True(t, ok)
			require.Equal(t, want, byKey, "%d on %v", pos, faultTokens(r))
			byBytes, _ := r.OwnerBytes(fmt.Append(nil, pos))
			byPosition, _ := r.OwnerAt(pos)
			byIndex, first := r.Name(r.IndexAt(pos)), r.AppendReplicas(nil, fmt.Sprint(pos), 1)[0]
			require.Equal(t, []string{want, want, want, want}, []string{byBytes, byPosition, byIndex, first},
				"%d on %v", pos, faultTokens(r))
		}
	}
	// Many tokens close together, which are searched in another way, and the same on a token, below and above it.
	var nodes []hashring.Node
	for i := range uint64(100) {
		nodes = append(nodes, faultAt(fmt.Sprintf("%03d", i), 1<<40+3*i, 1<<62+3*i, top-3*i))
	}
	r := faultRing(t, nil, nodes...)
	for _, r := range []*hashring.Ring{r, mustWith(t, faultRing(t, nil, nodes[:50]...), nodes[50:]...)} {
		tokens := faultTokens(r)
		require.Len(t, tokens, 300)
		for i, token := range tokens {
			next := tokens[(i+1)%len(tokens)]
			for pos, want := range map[uint64]string{token.pos - 1: token.node, token.pos: token.node, token.pos + 1: next.node} {
				owner, _ := r.OwnerAt(pos)
				require.Equal(t, want, owner, "%d", pos)
			}
		}
	}
}

// Two clients of one ring disagree on the keys below the lowest point, of which there is one in some hundred.
// enyim/EnyimMemcached #100
func TestFault30_BelowTheLowestPoint(t *testing.T) {
	for _, c := range []struct {
		ring        *hashring.Ring
		below       string // a key below all tokens, and its position
		belowAt     uint64
		above       string // a key above all tokens, and its position
		aboveAt     uint64
		first, last faultToken
	}{
		{
			ring:  faultRing(t, nil, hashring.Nodes("a", "b", "c", "d")...),
			below: "key-412", belowAt: 0x20b7ec5836d2a7,
			above: "key-218", aboveAt: 0xff9d9002f4da9af3,
			first: faultToken{0x9f46ce6a227aad, "c"}, last: faultToken{0xff9bf63bd618dcc6, "d"},
		},
		{
			ring:  faultRing(t, &hashring.Options{Placement: faultKetama{}}, hashring.Nodes("10.0.2.53:11211", "10.0.2.161:11211")...),
			below: "key-197", belowAt: 5365656 << 32,
			above: "key-789", aboveAt: 4292147630 << 32,
			first: faultToken{7935530 << 32, "10.0.2.53:11211"}, last: faultToken{4291388880 << 32, "10.0.2.161:11211"},
		},
	} {
		tokens := faultTokens(c.ring)
		require.Equal(t, c.first, tokens[0])
		require.Equal(t, c.last, tokens[len(tokens)-1])
		require.NotEqual(t, c.first.node, c.last.node, "so that they can be mixed up")
		require.Equal(t, c.belowAt, c.ring.Position(c.below))
		require.Equal(t, c.aboveAt, c.ring.Position(c.above))
		require.Less(t, c.belowAt, c.first.pos)
		require.Greater(t, c.aboveAt, c.last.pos)
		for _, key := range []string{c.below, c.above} {
			owner, ok := c.ring.Owner(key)
			require.True(t, ok)
			require.Equal(t, c.first.node, owner, key)
			require.Equal(t, c.first.node, c.ring.AppendReplicas(nil, key, 2)[0], key)
		}
	}
}

// A node added twice is counted twice, and the walk for as many nodes as are counted never ends if it starts at the first
// point. stathat/consistent #32
func TestFault31_WalkThatNeverEnds(t *testing.T) {
	a, b := faultAt("a", 10, 30, 50), faultAt("b", 20, 40)
	_, err := hashring.New([]hashring.Node{a, b, b}, nil)
	require.ErrorIs(t, err, hashring.ErrDuplicateNode)

	r := mustWith(t, faultRing(t, nil, a, b), b)
	require.Equal(t, 2, r.Len())
	for pos := uint64(0); pos <= 60; pos += 5 { // every place to start from
		require.ElementsMatch(t, []int{0, 1}, r.AppendReplicasAt(nil, pos, 3), "from %d", pos)
		require.ElementsMatch(t, []int{0, 1}, r.AppendSpreadAt(nil, pos, 3), "from %d", pos)
		require.ElementsMatch(t, []int{0, 1}, slices.Collect(r.WalkAt(pos)), "from %d", pos)
		steps := 0
		for token, node := range r.TokensFrom(pos) {
			if steps == 0 {
				require.Equal(t, faultOwner(r, pos), r.Name(node))
				require.True(t, token >= pos || pos > 50)
			}
			steps++
		}
		require.Equal(t, 5, steps, "from %d", pos)
	}
}

// Asked for more replicas than there are hosts, the walk spins for ever. grobian/carbon-c-relay #117, thanos-io/thanos #5639
// and #6168
func TestFault32_MoreReplicasThanNodes(t *testing.T) {
	for _, r := range []*hashring.Ring{
		faultRing(t, nil, hashring.Nodes("a", "b")...),
		faultRing(t, nil, hashring.Node{Name: "a", Zone: "x"}, hashring.Node{Name: "b", Zone: "y"}),
		faultRing(t, nil, faultAt("a", 0), faultAt("b", math.MaxUint64)),
		// A node without tokens cannot be met.
		faultRing(t, &hashring.Options{Placement: faultPlacement{"a": {1}, "b": {2}}}, hashring.Nodes("none", "a", "b", "nothing")...),
	} {
		for _, key := range faultNames("key-", 20) {
			for _, n := range []int{math.MinInt, -1, 0, 1, 2, 3, math.MaxInt32, math.MaxInt} {
				want := min(max(n, 0), 2)
				require.Len(t, r.AppendReplicas(nil, key, n), want, "%d replicas", n)
				require.Len(t, r.AppendSpread(nil, key, n), want, "spread of %d", n)
			}
			require.ElementsMatch(t, []string{"a", "b"}, slices.Collect(r.Replicas(key)))
			require.ElementsMatch(t, []string{"a", "b"}, slices.Collect(r.Spread(key)))
		}
	}
}

// The next section of the ring belongs to the same node, which then is in the replica set twice. thanos-io/thanos #5604,
// jeromefroe/hashring-rs #31
func TestFault33_OneNodeTwiceInAReplicaSet(t *testing.T) {
	r := faultRing(t, &hashring.Options{Hash: faultTable{"x": 9}}, faultAt("a", 10, 11, 12), faultAt("b", 50))
	require.Equal(t, []string{"a", "b"}, r.AppendReplicas(nil, "x", 2))

	weights := []float64{4, 1, 1, 0.1, 2, 1}
	nodes := hashring.Nodes(faultNames("node-", len(weights))...)
	for i, w := range weights {
		nodes[i].Weight, nodes[i].Zone = w, fmt.Sprint("z", i%3)
	}
	r = faultRing(t, &hashring.Options{VirtualNodes: 10}, nodes...)
	for _, key := range faultNames("key-", 500) {
		owner, _ := r.Owner(key)
		for _, first := range []func([]string, string, int) []string{r.AppendReplicas, r.AppendSpread} {
			all := first(nil, key, len(nodes))
			require.Len(t, all, len(nodes))
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), len(nodes), "%s: distinct", key)
			require.Equal(t, owner, all[0], key)
			for n := range all {
				require.Equal(t, all[:n], first([]string{}, key, n), "%s: %d are the first %d of all", key, n, n)
			}
		}
	}
}

// Asked for two of two nodes, there is one. bitwalker/libring #39
func TestFault34_TwoOfTwo(t *testing.T) {
	r := faultRing(t, nil, hashring.Nodes("a", "b")...)
	buf := make([]string, 0, 2)
	firsts := make(map[string]int)
	for i := range 10_000 {
		buf = r.AppendReplicas(buf[:0], fmt.Sprint(i), 2)
		if len(buf) != 2 || buf[0] == buf[1] {
			require.Failf(t, "not two nodes", "key %d: %v", i, buf)
		}
		firsts[buf[0]]++
	}
	require.Len(t, firsts, 2)
}

// A node of little weight has no point, so that a ring of 1,000 has 987 and a walk for all never ends.
// serialx/hashring #22, coreos/torus #246
func TestFault35_LightNodeWithoutTokens(t *testing.T) {
	requireAll := func(r *hashring.Ring, counts map[string]int) {
		held := make(map[string]int)
		for _, token := range faultTokens(r) {
			held[token.node]++
		}
		require.Equal(t, counts, held)
		require.Equal(t, len(counts), r.Len())
		for pos := range uint64(5) {
			require.Len(t, r.AppendReplicasAt(nil, pos<<61, r.Len()), r.Len())
		}
	}
	requireAll(faultRing(t, &hashring.Options{VirtualNodes: 40},
		hashring.Node{Name: "a", Weight: 900}, hashring.Node{Name: "b", Weight: 900}, hashring.Node{Name: "c", Weight: 4}),
		map[string]int{"a": 36_000, "b": 36_000, "c": 160})
	requireAll(faultRing(t, &hashring.Options{VirtualNodes: 1},
		hashring.Node{Name: "a", Weight: 0.49}, hashring.Node{Name: "b", Weight: 1e-300}, hashring.Node{Name: "c", Weight: 2.5}),
		map[string]int{"a": 1, "b": 1, "c": 3})

	var nodes []hashring.Node
	counts := make(map[string]int)
	for i := 1; i <= 500; i++ {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprint("node-", i), Weight: float64(i)})
		counts[nodes[i-1].Name] = i
	}
	requireAll(faultRing(t, &hashring.Options{VirtualNodes: 1}, nodes...), counts)
	for i := range nodes { // the same weights, as parts of the heaviest
		nodes[i].Weight /= 50_000
		counts[nodes[i].Name] = max(1, int(math.Round(nodes[i].Weight*100)))
	}
	requireAll(faultRing(t, &hashring.Options{VirtualNodes: 100}, nodes...), counts)
}

// The search for the next node that is up stops at the end of the array. upyun/lua-resty-checkups #3
func TestFault36_FailoverStopsAtTheEndOfTheArray(t *testing.T) {
	r := faultRing(t, &hashring.Options{Hash: faultTable{"x": 25}}, faultAt("a", 10), faultAt("b", 20), faultAt("c", 30))
	up := func(down ...string) string {
		for node := range r.Replicas("x") {
			if slices.Contains(down, node) {
				continue
			}
			return node
		}
		return ""
	}
	require.Equal(t, "c", up())
	require.Equal(t, "a", up("c"))
	require.Equal(t, "b", up("c", "a"))
	require.Equal(t, "b", up("a", "c"))
	require.Equal(t, "", up("a", "b", "c"))
}

// The walk does not go on from a node that is filtered out, tests it again and again, and then returns it.
// zalando/skipper #4138 and #4139
func TestFault37_WalkStaysAtAFilteredNode(t *testing.T) {
	r := faultRing(t, &hashring.Options{Hash: faultTable{"x": 5}},
		faultAt("a", 10, 40, 41), faultAt("b", 20, 21, 22), faultAt("c", 30, 31))
	overloaded, filtered := map[string]bool{"a": true}, map[string]bool{"b": true}
	for _, walk := range []func(func(string) bool){r.Replicas("x"), r.Spread("x")} {
		var tried []string
		for node := range walk {
			tried = append(tried, node)
			if !overloaded[node] && !filtered[node] {
				break
			}
		}
		require.Equal(t, []string{"a", "b", "c"}, tried)

		tried = nil
		for node := range walk { // all are filtered: the walk ends
			tried = append(tried, node)
		}
		require.Equal(t, []string{"a", "b", "c"}, tried)
	}
}

// With more replicas than zones some are left out without a word, or there are too many in one zone.
// cortexproject/cortex #5411 and #2351, grafana/mimir #4355
func TestFault39_MoreReplicasThanZones(t *testing.T) {
	zoned := func(zones ...int) *hashring.Ring { // the number of nodes in each
		var nodes []hashring.Node
		for z, n := range zones {
			for i := range n {
				nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("z%d-%d", z, i), Zone: fmt.Sprint("z", z)})
			}
		}
		return faultRing(t, nil, nodes...)
	}
	for _, c := range []struct {
		ring *hashring.Ring
		rf   int
		want string // the number of replicas in each zone, largest first
	}{
		{zoned(2, 2), 1, "[1 0]"},
		{zoned(2, 2), 2, "[1 1]"},
		{zoned(2, 2), 3, "[2 1]"},
		{zoned(2, 2), 4, "[2 2]"},
		{zoned(2, 2), 5, "[2 2]"},
		{zoned(4, 4, 4), 3, "[1 1 1]"},
		{zoned(4, 4, 4), 7, "[3 2 2]"},
		{zoned(1, 5), 3, "[2 1]"},
		{zoned(1, 5), 5, "[4 1]"},
		{zoned(1, 5), 9, "[5 1]"},
	} {
		for _, key := range faultNames("key-", 200) {
			replicas := c.ring.AppendSpread(nil, key, c.rf)
			zones := make(map[string]int)
			for _, n := range c.ring.Nodes() {
				zones[n.Zone] += 0
			}
			for _, name := range replicas {
				n, _ := c.ring.Node(name)
				zones[n.Zone]++
			}
			var counts []int
			for _, n := range zones {
				counts = append(counts, n)
			}
			slices.Sort(counts)
			slices.Reverse(counts)
			require.Equal(t, c.want, fmt.Sprint(counts), "%d replicas of %s", c.rf, key)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(replicas))), len(replicas), "distinct")
		}
	}
}

// One node that joins changes more than one member of a replica set, so that a quorum of the old copies is lost.
// cortexproject/cortex #5429, #5467 and #3299
func TestFault40_OneJoinChangesMoreThanOneReplica(t *testing.T) {
	const rf = 6
	keys := 10_000
	if testing.Short() {
		keys = 1_000
	}
	var nodes []hashring.Node
	for i := range 12 {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint("zone-", i%3)})
	}
	before := faultRing(t, nil, nodes...)
	for _, joiner := range []hashring.Node{{Name: "node-12", Zone: "zone-0"}, {Name: "node-12", Zone: "zone-3"}, {Name: "node-12"}} {
		after := mustWith(t, before, joiner)
		var was, is [rf]string
		changed := 0
		for i := range keys {
			key := fmt.Sprint("key-", i)
			old, now := before.AppendSpread(was[:0], key, rf), after.AppendSpread(is[:0], key, rf)
			lost, gained := 0, 0
			for j := range rf {
				if !slices.Contains(now, old[j]) {
					lost++
				}
				if !slices.Contains(old, now[j]) {
					gained++
					if now[j] != joiner.Name {
						require.Failf(t, "an old node became a replica because another one joined", "%s: %v, then %v", key, old, now)
					}
				}
			}
			if len(old) != rf || len(now) != rf || lost > 1 || gained != lost {
				require.Failf(t, "more than one member changed", "%s: %v, then %v", key, old, now)
			}
			changed += lost
		}
		require.Greater(t, changed, keys/10, "the joiner has its part")
	}
}
