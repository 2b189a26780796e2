package compat

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// everyName returns the names of rules of every constructor, with all that each can be told by name.
func everyName(t testing.TB) []string {
	var names []string
	for _, r := range everyRule(t) {
		names = append(names, r.Name())
	}
	add := func(prefix string, hashes []string) {
		for _, h := range hashes {
			names = append(names, prefix+h)
		}
	}
	for _, distribution := range []string{"ketama", "ketama_spy", "ketama_spy_weighted", "ketama_weighted"} {
		add("libmemcached,distribution="+distribution+",hash=", slices.Sorted(maps.Keys(libmemcachedHashes)))
	}
	add("twemproxy,hash=", slices.Sorted(maps.Keys(twemproxyHashes)))
	add("haproxy,avalanche=true,hash=", slices.Sorted(maps.Keys(haproxyHashes)))
	add("haproxy,hash=", slices.Sorted(maps.Keys(haproxyHashes)))
	add("envoy,min=8,max=64,hash=", slices.Sorted(maps.Keys(envoyHashes)))
	add("uhashring,vnodes=3,hash=", []string{"md5", "crc32"})
	add("stathat,replicas=3,hash=", []string{"crc32", "fnv32a"})
	slices.Sort(names)
	return slices.Compact(names)
}

// Whatever the name of the rule and the nodes, there is a ring or a typed error. A ring has for every key the owner that a
// search of all the program's points finds, is the ring of the rest when a node leaves, and is restored by its encoding.
func FuzzRules(f *testing.F) {
	for _, name := range everyName(f) {
		f.Add(name, "10.0.0.1:11211", "7", 1.0, "10.0.0.2", "", 3.0, "key{tag}")
	}
	f.Fuzz(func(t *testing.T, rule, name1, label1 string, weight1 float64, name2, label2 string, weight2 float64, key string) {
		r, err := Named(rule)
		if err != nil {
			require.ErrorIs(t, err, hashring.ErrOptions, rule)
			return
		}
		same, err := Named(r.Name())
		require.NoError(t, err)
		require.Equal(t, r.Name(), same.Name())

		nodes := []hashring.Node{{Name: name1, Label: label1, Weight: weight1}, {Name: name2, Label: label2, Weight: weight2}}
		if strings.HasPrefix(rule, "haproxy") {
			if given, err := HAProxyIDs(nodes); err == nil {
				nodes = given
			} else {
				require.ErrorIs(t, err, hashring.ErrInvalidNode)
			}
		}
		opts := &hashring.Options{Placement: r, MaxTokens: 1 << 13}
		ring, err := hashring.New(nodes, opts)
		if err != nil {
			requireCause(t, err)
			return
		}
		requireSearched(t, r, ring, key)

		rest, err := ring.Without(name1)
		alone, err2 := hashring.New(nodes[1:], opts)
		require.Equal(t, err == nil, err2 == nil, "%v, %v", err, err2)
		if err == nil {
			require.True(t, rest.Equal(alone))
			requireSearched(t, r, rest, key)
		} else {
			requireCause(t, err)
		}

		data, err := ring.MarshalBinary()
		require.NoError(t, err)
		back, err := hashring.Decode(data, &hashring.Options{Placement: same, MaxTokens: 1 << 13})
		require.NoError(t, err)
		require.True(t, back.Equal(ring))

		if strings.HasPrefix(rule, "buraksezer") {
			b, err := NewBuraksezer(ring, 1+len(key), 1.25)
			if err != nil {
				require.ErrorIs(t, err, hashring.ErrOptions)
			} else {
				owner, ok := b.Owner(key)
				require.True(t, ok)
				require.Contains(t, []string{name1, name2}, owner)
			}
		}
	})
}

// requireCause checks that err has a cause that the nodes can be of.
func requireCause(t *testing.T, err error) {
	t.Helper()
	for _, cause := range []error{hashring.ErrInvalidNode, hashring.ErrDuplicateNode, hashring.ErrTooManyTokens} {
		if errors.Is(err, cause) {
			return
		}
	}
	require.Fail(t, "cause", "%v", err)
}

// requireSearched checks the owner of key, of all nodes' names as keys, of hashes at some points, next to them and
// halfway to the next, against a search of the program's points one by one.
func requireSearched(t *testing.T, r *Rule, ring *hashring.Ring, key string) {
	t.Helper()
	var nodes []hashring.Node
	keys := []string{key}
	for _, n := range ring.Nodes() {
		nodes, keys = append(nodes, n), append(keys, n.Name)
	}
	servers, err := r.admit(nodes)
	require.NoError(t, err)
	if r.order != nil {
		slices.SortStableFunc(servers, r.order)
	}
	expand, points := r.plan(servers), make([][]uint64, len(servers))
	for i, s := range servers {
		expand(s, func(point uint64) bool {
			points[i] = append(points[i], point)
			return true
		})
	}
	shift, mask := 0, ^uint64(0)
	if r.circle.narrow {
		shift, mask = 32, 1<<32-1
	}
	check := func(hash uint64) {
		owner, ok := ring.OwnerAt(hash << shift)
		i := searched(points, r.circle, r.lastWins, hash)
		if ok != (i >= 0) || ok && owner != nodes[servers[i].node].Name {
			require.Failf(t, "owner", "of %d under %s is %q, %t, not that of server %d of %v", hash, r.name, owner, ok, i, servers)
		}
	}
	for _, key := range keys {
		require.Zero(t, ring.Position(key)&^(mask<<shift))
		check(ring.Position(key) >> shift)
		owner, _ := ring.OwnerAt(ring.Position(key))
		first := ""
		for first = range Attempts(ring, key) {
			break
		}
		require.Equal(t, owner, first)
	}
	all := slices.Sorted(slices.Values(slices.Concat(points...)))
	for i := 0; i < len(all); i += 1 + len(all)/16 {
		p, next := all[i], all[(i+1)%len(all)]
		half := p + (next-p)&mask/2
		for _, hash := range []uint64{p - 1, p, p + 1, half, half + 1} {
			check(hash & mask)
		}
	}
}

// Tokens of Cassandra are signed, and a key belongs to the first at or above its own, round to the least. Of equal ones
// that of the node with the lowest name owns.
func FuzzCassandra(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b, c, d int64, key string) {
		nodes := []hashring.Node{CassandraNode("a", a, b), CassandraNode("b", c, d), CassandraNode("c", a), CassandraNode("d", d, c)}
		opts := &hashring.Options{Hash: Murmur3Partitioner()}
		ring, err := hashring.New(nodes, opts)
		if a == b || c == d {
			require.ErrorIs(t, err, hashring.ErrInvalidNode)
			return
		}
		require.NoError(t, err)
		token := CassandraToken(ring.Position(key))
		require.True(t, key == "" || token != -1<<63, "the least token is of no key but the empty one")
		for _, at := range []int64{token, a, a + 1, b - 1, c, d + 1, -1 << 63, 1<<63 - 1} {
			owner, above := "", int64(0)
			least, lowest := "", int64(0)
			for _, n := range []struct { // in the order of names
				name  string
				token int64
			}{{"a", a}, {"a", b}, {"b", c}, {"b", d}, {"c", a}, {"d", d}, {"d", c}} {
				if n.token >= at && (owner == "" || n.token < above) {
					owner, above = n.name, n.token
				}
				if least == "" || n.token < lowest {
					least, lowest = n.name, n.token
				}
			}
			if owner == "" {
				owner = least
			}
			got, ok := ring.OwnerAt(ring.Position(key) - uint64(token) + uint64(at))
			require.True(t, ok)
			require.Equal(t, owner, got, "of %d", at)
			require.Equal(t, at, CassandraToken(ring.Position(key)-uint64(token)+uint64(at)))
		}
	})
}
