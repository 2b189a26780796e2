package hashring_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// The name and the number of a point are joined with nothing between them, so that "host"+"11" is "host1"+"1".
// buraksezer/consistent #17, lafikl/consistent #11, uber-node/ringpop-node #241
func TestFault19_NameAndIndexWithoutSeparator(t *testing.T) {
	for _, names := range [][]string{
		{"a", "a1", "a11", "a111", "1a", "11a"},
		{"1", "11", "111", "0", "00", "10"},
		{"a", "a#", "a#1", "a#1#1", "#", "#1"},
		{"a", "a\x00", "a\x00\x00", "\x00", "\x00\x00", "a\x00\x00\x00\x01", "a\x01", "a\x01\x00\x00\x00"},
		{"a-", "a-1", "a:1", "a_1", "a/1", "a 1", "a\n1", "-1", ":1"},
	} {
		for _, h := range []hashring.Hash{nil, hashring.CRC32, faultHash(func(key string) uint64 { return uint64(len(key)) })} {
			r := faultRing(t, &hashring.Options{VirtualNodes: 200, Hash: h}, hashring.Nodes(names...)...)
			require.Equal(t, 200*len(names), r.NumTokens())
			tokens := faultTokens(r)
			for i := range tokens[1:] {
				if tokens[i].pos == tokens[i+1].pos {
					require.Failf(t, "a shared token", "%q and %q at %d", tokens[i].node, tokens[i+1].node, tokens[i].pos)
				}
			}
		}
	}
}

// A repair of 19 in a minor release moved the keys of everybody. buraksezer/consistent #31
func TestFault20_PlacementIsPartOfTheContract(t *testing.T) {
	r := faultRing(t, &hashring.Options{VirtualNodes: 3}, hashring.Nodes("alpha", "beta", "gamma", "delta", "epsilon")...)
	require.Equal(t, []faultToken{ // from another implementation of the rule
		{0x210b1752b61e7d85, "beta"},
		{0x21c95ab4de000099, "gamma"},
		{0x3bd2ed458f4e373a, "beta"},
		{0x5c9491e928a1400d, "gamma"},
		{0x5cbe1a0fcf48115d, "epsilon"},
		{0xa3d76238de6f1a18, "epsilon"},
		{0xaa6aaea3eb78e81d, "delta"},
		{0xacca1e4cf9cb3542, "epsilon"},
		{0xae717e3e4efbbe57, "alpha"},
		{0xce48f47b8a4e752d, "beta"},
		{0xd55f324573abcf45, "alpha"},
		{0xd91d41aa4f45a39d, "delta"},
		{0xed69d8d1203d4fd6, "delta"},
		{0xf2b9a18b5b19fd6b, "alpha"},
		{0xfcde66b9d07c2cc4, "gamma"},
	}, faultTokens(r))
	for i, want := range []string{
		"beta", "delta", "epsilon", "epsilon", "epsilon", "epsilon", "beta", "gamma", "beta", "beta",
		"delta", "gamma", "gamma", "beta", "gamma", "beta", "delta", "epsilon", "epsilon", "beta",
	} {
		owner, _ := r.Owner(fmt.Sprint("key-", i))
		require.Equal(t, want, owner, "key-%d", i)
	}
}

// The node is hashed with all that is known of it, the time of its start too, so that a restart moves its keys.
// apache/dubbo #590
func TestFault21_VolatileDataInTheIdentity(t *testing.T) {
	before := faultRing(t, nil,
		hashring.Node{Name: "n1", Label: "10.0.0.1:80?started=1700000000", Zone: "east"},
		hashring.Node{Name: "n2"}, hashring.Node{Name: "n3"})
	after := mustWith(t, before, hashring.Node{Name: "n1", Label: "10.9.9.9:81?started=1800000000", Zone: "west"})
	require.Equal(t, faultTokens(before), faultTokens(after))
	require.Zero(t, faultMoved(t, before, after, ""))
	restarted := faultRing(t, nil, // as all other processes build it
		hashring.Node{Name: "n1", Label: "10.9.9.9:81?started=1800000000", Zone: "west"},
		hashring.Node{Name: "n2"}, hashring.Node{Name: "n3"})
	faultSame(t, restarted, after)
	n, ok := after.Node("n1")
	require.True(t, ok)
	require.Equal(t, hashring.Node{Name: "n1", Label: "10.9.9.9:81?started=1800000000", Zone: "west", Weight: 1}, n)
	require.False(t, before.Equal(after), "what is known of the node did change")
}

// The ring is keyed by the default string form of an object, which holds its address in memory, so that no two processes
// agree. apache/gluten #12350 and #12351, jaysonsantos/python-binary-memcached #236
func TestFault22_IdentityOfAnObject(t *testing.T) {
	build := func() []hashring.Node { // equal nodes that share no memory
		var nodes []hashring.Node
		for _, name := range []string{"a", "b", "c"} {
			nodes = append(nodes, hashring.Node{
				Name: strings.Clone(name), Label: string(bytes.Repeat([]byte(name), 3)), Zone: strings.Clone(name + "z")})
		}
		return append(nodes, faultAt(strings.Clone("d"), slices.Clone([]uint64{1, 1 << 40})...))
	}
	r, s := faultRing(t, nil, build()...), faultRing(t, nil, build()...)
	faultSame(t, r, s)
	require.Same(t, r, mustWith(t, r, build()...), "the same nodes, in other memory, change nothing")
}

// One server under two names ("localhost" and its host name) is two to the ring. petergoldstein/dalli #318
func TestFault23_OneServerUnderTwoNames(t *testing.T) {
	addresses := faultRing(t, nil, hashring.Nodes("localhost:1", "b:1")...)
	others := faultRing(t, nil, hashring.Nodes("a:1", "b:1")...)
	require.False(t, addresses.Equal(others), "the name is the identity; nobody resolves it")
	require.NotEqual(t, faultTokens(addresses), faultTokens(others))

	stable := faultRing(t, nil, hashring.Node{Name: "n1", Label: "localhost:1"}, hashring.Node{Name: "n2", Label: "b:1"})
	moved := faultRing(t, nil, hashring.Node{Name: "n1", Label: "a:1"}, hashring.Node{Name: "n2", Label: "b:1"})
	require.Equal(t, faultTokens(stable), faultTokens(moved), "a name that is not the address outlives it")
}

// Names that differ in case, or in blanks at the end, are taken for one node by some and for two by others.
// hashicorp/consul #1911
func TestFault24_CaseAndBlanks(t *testing.T) {
	names := []string{
		"Node1", "node1", "node1 ", " node1", "node1\n", "node1\x00", "\xffnode1",
		"n\u043ede1",                // a Cyrillic o
		"n\u00f6de1", "no\u0308de1", // an o with two dots, as one and as two code points
	}
	r := faultRing(t, nil, hashring.Nodes(names...)...)
	require.Equal(t, len(names), r.Len())
	shares := shares(r)
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(shares)))
	for _, name := range names {
		require.InDelta(t, 0.1, shares[name], 0.04, "%q", name)
		n, ok := r.Node(name)
		require.True(t, ok, "%q", name)
		require.Equal(t, name, n.Name)
		left := mustWithout(t, r, name)
		require.Equal(t, len(names)-1, left.Len(), "%q", name)
		_, ok = left.Node(name)
		require.False(t, ok, "%q", name)
	}
	_, ok := r.Node("NODE1")
	require.False(t, ok)
	require.Same(t, r, mustWithout(t, r, "NODE1", "node1  ", "n\u00d6de1", ""))

	live := hashring.NewLive(nil)
	for _, name := range names { // one after the other is a change, of all keys
		change, err := live.Set(hashring.Nodes(name))
		require.NoError(t, err)
		require.NotSame(t, change.Old, change.New, "%q", name)
		owner, _ := live.Owner("key")
		require.Equal(t, name, owner)
	}
}

// The place in the list is the identity, so that a tool that sorts the list in another way moves all keys.
// twitter/twemproxy #337, haproxytech/kubernetes-ingress #574, jcmoraisjr/haproxy-ingress #798
func TestFault26_PlaceInTheListIsTheIdentity(t *testing.T) {
	byNumber := faultNames("server-", 12)
	byName := slices.Clone(byNumber)
	slices.Sort(byName)
	require.NotEqual(t, byNumber, byName)
	want := faultRing(t, nil, hashring.Nodes(byNumber...)...)
	faultSame(t, want, faultRing(t, nil, hashring.Nodes(byName...)...))

	live := hashring.NewLive(want)
	change, err := live.Set(hashring.Nodes(byName...))
	require.NoError(t, err)
	require.Same(t, want, change.New)

	// The first of the list leaves: all others move up, and none of their keys may.
	left := faultRing(t, nil, hashring.Nodes(byNumber[1:]...)...)
	require.InDelta(t, 1.0/12, faultMoved(t, want, left, byNumber[0]), 0.03)
}

// The colons of an IPv6 address are taken for that of the port, or its brackets for decoration.
// elad/node-cluster-socket.io #28, grpc/grpc #26356
func TestFault28_IPv6(t *testing.T) {
	names := []string{"[2001:db8::1]:80", "2001:db8::1:80", "[fe80::1%eth0]:80", "::1"}
	r := faultRing(t, nil, hashring.Nodes(names...)...)
	shares := shares(r)
	require.Len(t, shares, 4)
	for _, name := range names {
		require.InDelta(t, 0.25, shares[name], 0.08, name)
		n, ok := r.Node(name)
		require.True(t, ok)
		require.Equal(t, name, n.Name)
	}
	for _, other := range []string{"2001:db8::1", "[2001:db8::1]", "2001:db8:0:0:0:0:0:1:80", "[::1]", "0:0:0:0:0:0:0:1"} {
		_, ok := r.Node(other)
		require.False(t, ok, other)
	}
}
