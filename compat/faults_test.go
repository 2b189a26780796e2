package compat

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// Faults that users of other implementations of these rules have reported, each with its source. The right behaviour is
// what the tests hold.

// digestToken is the token of the first point of MD5(text) under a rule of ketama's kind.
func digestToken(text string) uint64 {
	d := md5.Sum([]byte(text))
	return uint64(binary.LittleEndian.Uint32(d[:])) << 32
}

func holds(ring *hashring.Ring, token uint64, node string) bool {
	for at, i := range ring.TokensFrom(token) {
		return at == token && ring.Name(i) == node
	}
	return false
}

// 3rd-Eden/node-hashring PR 23, vieapps/Enyim.Caching PR 2: libmemcached drops its default port from the label, and clients
// that do not share no key with it.
func TestFault25_DefaultPortInTheLabel(t *testing.T) {
	nodes := hashring.Nodes("192.0.2.1:11211", "192.0.2.2:11211", "192.0.2.1:11300")
	r, err := Libmemcached("ketama_weighted", "")
	require.NoError(t, err)
	ring := ringUnder(t, r, nodes...)
	require.True(t, holds(ring, digestToken("192.0.2.1-0"), "192.0.2.1:11211"))
	require.True(t, holds(ring, digestToken("192.0.2.1:11300-0"), "192.0.2.1:11300"))
	require.False(t, holds(ring, digestToken("192.0.2.1:11211-0"), "192.0.2.1:11211"))
	ring = ringUnder(t, Libketama(), nodes...)
	require.True(t, holds(ring, digestToken("192.0.2.1:11211-0"), "192.0.2.1:11211"))
	require.False(t, holds(ring, digestToken("192.0.2.1-0"), "192.0.2.1:11211"))
}

// twitter/twemproxy issue 337, haproxytech/kubernetes-ingress issue 574, jcmoraisjr/haproxy-ingress issue 798: keys move
// when a tool sorts a list of servers in another way. Without equal points no rule here but Envoy's looks at the order,
// and that only where the largest size of the ring cuts points off.
func TestFault26_ListSortedInAnotherWay(t *testing.T) {
	capped, err := Envoy(64, 64, "") // 64 points of 11 servers
	require.NoError(t, err)
	for _, r := range append(everyRule(t), capped) {
		nodes := labelled(t, r, serversFor(11)) // 1, 2, ... 10, 11
		ring := ringUnder(t, r, nodes...)
		sorted := slices.Clone(nodes) // 10, 11, 1, 2, ...
		slices.SortFunc(sorted, func(a, b hashring.Node) int { return strings.Compare(a.Name, b.Name) })
		other := ringUnder(t, r, sorted...)
		same := slices.Equal(slices.Collect(tokenSeq(ring)), slices.Collect(tokenSeq(other)))
		require.Equal(t, r.Name() != capped.Name(), same, r.Name())
	}
}

// HAProxy's own ids, by place in the list, do move nearly all keys when the first server is taken out of a configuration;
// ids that are written down move only that server's.
func TestFault26_HAProxyIDsByPlace(t *testing.T) {
	r, err := HAProxy("", false)
	require.NoError(t, err)
	written, err := HAProxyIDs(serversFor(10))
	require.NoError(t, err)
	byPlace, err := HAProxyIDs(serversFor(10)[1:])
	require.NoError(t, err)
	keys := func(yield func(string) bool) {
		for i := range 10000 {
			if !yield(fmt.Sprint(i)) {
				return
			}
		}
	}
	before := ringUnder(t, r, written...)
	moved := 0
	for range hashring.DiffKeys(before, ringUnder(t, r, byPlace...), keys) {
		moved++
	}
	require.Greater(t, moved, 8500)
	for m := range hashring.DiffKeys(before, ringUnder(t, r, written[1:]...), keys) {
		require.Equal(t, written[0].Name, m.From)
	}
}

// elad/node-cluster-socket.io issue 28, grpc/grpc PR 26356: IPv6 addresses, with brackets, zones and without. They are
// bytes: four distinct servers, or refused where the program refuses them.
func TestFault28_IPv6(t *testing.T) {
	names := []string{"[2001:db8::1]:80", "2001:db8::1:80", "[fe80::1%eth0]:80", "::1"}
	for _, r := range everyRule(t) {
		var taken []hashring.Node
		for _, n := range labelled(t, r, hashring.Nodes(names...)) {
			_, err := hashring.New([]hashring.Node{n}, &hashring.Options{Placement: r})
			if err == nil {
				taken = append(taken, n)
				continue
			}
			require.ErrorIs(t, err, hashring.ErrInvalidNode)
		}
		want := 4
		switch program, _, _ := strings.Cut(r.Name(), ","); program {
		case "libmemcached", "nginx":
			want = 2 // without brackets; with them
		}
		require.Len(t, taken, want, r.Name())
		require.Equal(t, want, ringUnder(t, r, taken...).Len())
	}
}

// enyim/EnyimMemcached issue 100: two clients treat a key below the lowest point in two ways. It belongs to the lowest, as
// does one above the highest.
func TestFault30_BelowTheLowestPoint(t *testing.T) {
	v := vectorsOf(t, "libketama", "equal-4")
	lowest, highest := v.points[0], v.points[len(v.points)-1]
	below, above := 0, 0
	for _, row := range v.keys {
		switch hash := Libketama().Hash().Sum64(row.key) >> 32; {
		case hash < lowest.point:
			below++
		case hash > highest.point:
			above++
		default:
			continue
		}
		require.Equal(t, lowest.owner, row.owner, "as libketama says")
	}
	ring := ringUnder(t, Libketama(), v.nodes(t)...)
	for i := range 20000 {
		key := fmt.Sprint(i)
		switch hash := ring.Position(key) >> 32; {
		case hash < lowest.point:
			below++
		case hash > highest.point:
			above++
		default:
			continue
		}
		owner, _ := ring.Owner(key)
		require.Equal(t, lowest.owner, owner)
	}
	require.NotZero(t, below)
	require.NotZero(t, above)
}

// apache/dubbo-go issue 3510: fewer than 4 virtual nodes at 4 points a digest make an empty ring, and a panic later.
func TestFault42_FewerPointsThanADigestHas(t *testing.T) {
	for nodes := 1; nodes <= 9; nodes++ {
		r, err := Dubbo(nodes)
		if nodes < 4 {
			require.ErrorIs(t, err, hashring.ErrOptions)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 3*(nodes/4*4), ringUnder(t, r, serversFor(3)...).NumTokens())
	}
	for vnodes := 1; vnodes <= 5; vnodes++ {
		r, err := UhashringKetama(vnodes, 4)
		require.NoError(t, err)
		require.Equal(t, 3*vnodes*4, ringUnder(t, r, serversFor(3)...).NumTokens())
	}
}

// grpc/grpc PR 30079: weight 0 is "ignore" in one system and 1 in another. libmemcached reads it as 1; so does a Node.
func TestFault46_WeightZero(t *testing.T) {
	r, err := Libmemcached("ketama_weighted", "")
	require.NoError(t, err)
	zero := ringUnder(t, r, hashring.Node{Name: "a:1"}, hashring.Node{Name: "b:1", Weight: 1})
	require.Equal(t, 320, zero.NumTokens())
	require.True(t, zero.Equal(ringUnder(t, r, hashring.Nodes("a:1", "b:1")...)))
}

// RJ/ketama and its heirs scale a server by the total weight (3rd-Eden/node-hashring issue 53, pda/flexihash issue 25): when
// one of ten gets twice its weight, keys move between the other nine too. The native rule has none of that.
func TestFault65_KetamaMovesKeysBetweenOthers(t *testing.T) {
	nodes := serversFor(10)
	heavy := slices.Clone(nodes)
	heavy[0].Weight = 2
	var keys []string
	for i := range 100000 {
		keys = append(keys, fmt.Sprint(i))
	}
	between := func(opts *hashring.Options) int {
		before, err := hashring.New(nodes, opts)
		require.NoError(t, err)
		after, err := hashring.New(heavy, opts)
		require.NoError(t, err)
		n := 0
		for m := range hashring.DiffKeys(before, after, slices.Values(keys)) {
			if m.From != nodes[0].Name && m.To != nodes[0].Name {
				n++
			}
		}
		return n
	}
	ketama := between(&hashring.Options{Placement: Libketama()})
	t.Logf("of %d keys %d move between servers whose weight did not change", len(keys), ketama)
	require.Greater(t, ketama, len(keys)/100)
	require.Zero(t, between(nil))
}
