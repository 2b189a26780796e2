package compat

import (
	"fmt"
	"math"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// What the vectors of a system do not show.

func vectorsOf(t testing.TB, system, name string) vectors {
	t.Helper()
	all := loadVectors(t, system)
	i := slices.IndexFunc(all, func(v vectors) bool { return v.name == name })
	require.GreaterOrEqual(t, i, 0, "%s/%s", system, name)
	return all[i]
}

// Cache::Memcached::Fast with 160 points has nginx's rule, also where a key's hash is a point, of one server or of two.
func TestCacheMemcachedFastIsNginx(t *testing.T) {
	r, err := CacheMemcachedFast(160)
	require.NoError(t, err)
	for _, name := range []string{"collide-ab", "equal-4", "many-50", "weighted-1-2-3-7"} {
		require.Zero(t, vectorsOf(t, "nginx", name).ask(t, r).wrong, name)
	}
	half := ringUnder(t, r, hashring.Node{Name: "a:1", Weight: 0.003}, hashring.Node{Name: "b:1", Weight: 0.0032}, hashring.Node{Name: "c:1"})
	require.Equal(t, 161, half.NumTokens(), "0.003*160 is rounded down, 0.0032*160 up")
}

// Of two servers that own one point, listed in descending order, twemproxy takes the one whose label comes first.
func TestTwemproxySortsServers(t *testing.T) {
	v := vectorsOf(t, "twemproxy", "md5__collide-ab")
	slices.Reverse(v.servers)
	r := v.rule(t)
	require.Zero(t, v.ask(t, r).wrong)
	unsorted := *r
	unsorted.order = nil
	require.NotZero(t, v.ask(t, &unsorted).wrong, "libmemcached takes the one listed first")

	short, long := hashring.Node{Name: "z:1"}, hashring.Node{Name: "aa:1"}
	require.Equal(t, -1, r.order(server{label: short.Name}, server{label: long.Name}), "the shorter comes first")
}

// Libraries that hash the index and the name without anything between: peers "1" and "11" both have a point of "111", and
// the one added last owns it. A key "111" is on that point.
func TestLastAddedOwnsAnEqualPoint(t *testing.T) {
	groupcache, err := Groupcache(20)
	require.NoError(t, err)
	for _, names := range [][]string{{"1", "11"}, {"11", "1"}} {
		ring := ringUnder(t, groupcache, hashring.Nodes(names...)...)
		owner, _ := ring.Owner("111")
		require.Equal(t, names[1], owner)
		left, err := ring.Without(names[1])
		require.NoError(t, err)
		owner, _ = left.Owner("111")
		require.Equal(t, names[0], owner, "and when it leaves, the other does")
	}
	old := Serialx2019()
	require.True(t, old.lastWins)
}

// A member of serialx/hashring of weight 1 has one point, as the first lines of its source have it.
func TestSerialxPoints(t *testing.T) {
	ring := ringUnder(t, Serialx(), hashring.Node{Name: "a"}, hashring.Node{Name: "b", Weight: 3})
	require.Equal(t, 4, ring.NumTokens())
	ring = ringUnder(t, Serialx2019(), hashring.Node{Name: "a"}, hashring.Node{Name: "b", Weight: 3})
	require.Equal(t, 3*(20+60), ring.NumTokens())
}

// One server above a weight of 1 turns the points of all of libmemcached's servers into those of the weighted
// distributions, but not the hash of keys.
func TestLibmemcachedWeightChangesPoints(t *testing.T) {
	plain, err := Libmemcached("ketama", "")
	require.NoError(t, err)
	weighted, err := Libmemcached("consistent_weighted", "")
	require.NoError(t, err)
	equal := serversFor(4)
	require.Equal(t, 400, ringUnder(t, plain, equal...).NumTokens())
	require.Equal(t, 640, ringUnder(t, weighted, equal...).NumTokens())
	equal[2].Weight = 2
	a, b := ringUnder(t, plain, equal...), ringUnder(t, weighted, equal...)
	require.Equal(t, slices.Collect(tokenSeq(a)), slices.Collect(tokenSeq(b)))
	require.Equal(t, a.Position("key"), b.Position("key"))
	compatible, err := Libmemcached("ketama_weighted", "")
	require.NoError(t, err)
	require.NotEqual(t, compatible.Hash().Name(), plain.Hash().Name())
}

func tokenSeq(r *hashring.Ring) func(func(string) bool) {
	return func(yield func(string) bool) {
		for token, node := range r.Tokens() {
			if !yield(fmt.Sprint(token, node)) {
				return
			}
		}
	}
}

// Under a rule by share a server that is too light for a digest owns nothing, and is a member nevertheless.
func TestServerTooLightForAPoint(t *testing.T) {
	for _, name := range []string{"libketama", "libmemcached", "twemproxy", "uhashring-ketama", "serialx-2019"} {
		r, err := Named(name)
		require.NoError(t, err)
		ring := ringUnder(t, r, hashring.Node{Name: "heavy:1", Weight: 900}, hashring.Node{Name: "light:1"})
		require.Equal(t, 2, ring.Len())
		require.Equal(t, []string{"heavy:1"}, ring.AppendReplicas(nil, "key", 2), name)
	}
}

// Envoy and gRPC: the ring has about as many points as the smallest size says, and no more than the largest.
func TestRingSizes(t *testing.T) {
	for _, c := range []struct {
		min, max uint64
		weights  []float64
		points   int
	}{
		{1024, 4096, []float64{1, 1}, 1024},
		{1000, 4096, []float64{1, 1, 1}, 1002},
		{1, 4096, []float64{1, 1, 1}, 3},
		{1024, 4096, []float64{1, 4095}, 4096},
		{4096, 4096, []float64{1, 1 << 31}, 4096},
		{10, 10, []float64{3, 3, 4}, 10},
	} {
		envoy, err := Envoy(c.min, c.max, "")
		require.NoError(t, err)
		grpc, err := GRPC(c.min, c.max)
		require.NoError(t, err)
		for _, r := range []*Rule{envoy, grpc} {
			nodes := serversFor(len(c.weights))
			for i, w := range c.weights {
				nodes[i].Weight = w
			}
			require.Equal(t, c.points, ringUnder(t, r, nodes...).NumTokens(), "%s %v", r.Name(), c.weights)
		}
	}
}

// One HAProxy server has all keys, wherever its points are.
func TestHAProxyAlone(t *testing.T) {
	r, err := HAProxy("", false)
	require.NoError(t, err)
	ring := ringUnder(t, r, hashring.Node{Name: "s", Label: fmt.Sprint(maxHAProxyID)})
	require.Equal(t, 16, ring.NumTokens())
	owner, _ := ring.Owner("key")
	require.Equal(t, "s", owner)
}

func TestHAProxyIDs(t *testing.T) {
	ids := func(labels ...string) []string {
		var nodes []hashring.Node
		for i, label := range labels {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("s", i), Label: label})
		}
		given := slices.Clone(nodes)
		out, err := HAProxyIDs(nodes)
		require.NoError(t, err)
		require.Equal(t, given, nodes, "the argument is not changed")
		var got []string
		for _, n := range out {
			got = append(got, n.Label)
		}
		return got
	}
	require.Equal(t, []string{"1", "2", "3"}, ids("", "", ""))
	require.Equal(t, []string{"101", "2", "7", "4"}, ids("101", "", "7", ""), "explicit ids count as places")
	require.Equal(t, []string{"2", "3", "1", "5"}, ids("", "", "1", ""), "what is taken is passed over")
	require.Equal(t, []string{"02", "3", "4"}, ids("02", "", "4"))
	require.Empty(t, ids())

	for _, bad := range []string{"0", "-1", "x", "1048577", "1.5"} {
		_, err := HAProxyIDs([]hashring.Node{{Name: "a"}, {Name: "b", Label: bad}})
		var at *hashring.NodeError
		require.ErrorAs(t, err, &at)
		require.ErrorIs(t, err, hashring.ErrInvalidNode)
		require.Equal(t, 1, at.Index)
		require.Equal(t, "b", at.Name)
	}
	_, err := HAProxyIDs([]hashring.Node{{Name: "a", Label: "7"}, {Name: "b", Label: "007"}})
	require.ErrorContains(t, err, "id 7 is that of another server")
}

// nginx gives up after 21 points, takes equal points as one, and goes once round a ring with fewer.
func TestNginxAttempts(t *testing.T) {
	ring := ringUnder(t, Nginx(), serversFor(4)...)
	for i := range 200 {
		key := fmt.Sprint(i)
		all := slices.Collect(Attempts(ring, key))
		require.Equal(t, all[:21], slices.Collect(NginxAttempts(ring, key)))
	}

	v := vectorsOf(t, "nginx", "collide-ab")
	ring = ringUnder(t, Nginx(), v.nodes(t)...)
	ties := 0
	for _, row := range v.keys {
		var tokens []uint64
		var owners []string
		for token, node := range ring.TokensFrom(ring.Position(row.key)) {
			if !slices.Contains(tokens, token) {
				owners = append(owners, ring.Name(node))
			}
			tokens = append(tokens, token)
		}
		if tokens[0] == tokens[1] {
			ties++
		}
		require.Equal(t, owners[:21], slices.Collect(NginxAttempts(ring, row.key)), row.key)
	}
	require.NotZero(t, ties)

	// tokens at the ends of the circle, of two nodes each
	ends, err := hashring.New([]hashring.Node{{Name: "a", Tokens: []uint64{0, math.MaxUint64}}, {Name: "b", Tokens: []uint64{0, math.MaxUint64}},
		{Name: "c", Tokens: []uint64{1}}}, &hashring.Options{Hash: start0{}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c", "a"}, slices.Collect(NginxAttempts(ends, "key")))
	require.Equal(t, []string{"a", "b", "c", "a", "b"}, slices.Collect(Attempts(ends, "key")))

	require.Empty(t, slices.Collect(NginxAttempts(ringUnder(t, Nginx()), "key")))
	few, err := CacheMemcachedFast(3)
	require.NoError(t, err)
	require.Len(t, slices.Collect(NginxAttempts(ringUnder(t, few, serversFor(4)...), "key")), 12)
	for range NginxAttempts(ring, "key") {
		break
	}
	for range Attempts(ring, "key") {
		break
	}
}

// start0 has every key at position 0.
type start0 struct{}

func (start0) Name() string        { return "0" }
func (start0) Sum64(string) uint64 { return 0 }

func TestBuraksezer(t *testing.T) {
	r, err := Buraksezer1(0)
	require.NoError(t, err)
	ring := ringUnder(t, r, serversFor(5)...)
	b, err := NewBuraksezer(ring, 0, 0)
	require.NoError(t, err)
	loads := make(map[string]int)
	for p := range 271 {
		owner, ok := b.OwnerOf(p)
		require.True(t, ok)
		loads[owner]++
	}
	for name, n := range loads {
		require.LessOrEqual(t, n, 68, name) // ceil(271/5 * 1.25)
	}
	require.Len(t, loads, 5)
	for i := range 100 {
		key := fmt.Sprint("key", i)
		byKey, ok := b.Owner(key)
		require.True(t, ok)
		byPartition, _ := b.OwnerOf(b.Partition(key))
		require.Equal(t, byPartition, byKey)
	}
	for _, p := range []int{-1, 271, math.MaxInt} {
		_, ok := b.OwnerOf(p)
		require.False(t, ok)
	}

	empty, err := NewBuraksezer(ringUnder(t, r), 7, 1)
	require.NoError(t, err)
	_, ok := empty.Owner("key")
	require.False(t, ok)
	require.Equal(t, -1, empty.Partition("key"))

	_, err = NewBuraksezer(ringUnder(t, r), maxPartitions, 1)
	require.NoError(t, err)
	one, err := NewBuraksezer(ring, 1, 0)
	require.NoError(t, err)
	require.Zero(t, one.Partition("key"))

	refused := func(ring *hashring.Ring, partitions int, load float64, says string) {
		t.Helper()
		b, err := NewBuraksezer(ring, partitions, load)
		require.Nil(t, b)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, says)
	}
	native, err := hashring.New(serversFor(5), nil)
	require.NoError(t, err)
	refused(native, 0, 0, "not a ring of buraksezer")
	refused(new(hashring.Ring), 0, 0, "not a ring of buraksezer")
	refused(ringUnder(t, Libketama(), serversFor(5)...), 0, 0, "not a ring of buraksezer")
	refused(ring, -1, 0, "-1")
	refused(ring, maxPartitions+1, 0, "not from 1")
	for _, load := range []float64{0.99, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		refused(ring, 0, load, "load")
	}
	old, err := Buraksezer010(0)
	require.NoError(t, err)
	refused(ringUnder(t, old, serversFor(5)...), 9, 1, "no room for partition 5 of 9") // 9/5 is 1 there
}

func TestGetter(t *testing.T) {
	ring := ringUnder(t, Libketama(), serversFor(4)...)
	names := []string{"10.0.0.4:11212", "10.0.0.2:11212", "10.0.0.1:11212"}
	g, err := NewGetter(ring, names)
	require.NoError(t, err)
	left, err := ring.Without("10.0.0.3:11212")
	require.NoError(t, err)
	for i := range 100 {
		want, _ := left.Owner(fmt.Sprint(i))
		require.Equal(t, want, g.Get(fmt.Sprint(i)))
	}
	g, err = NewGetter(ring, nil)
	require.NoError(t, err)
	require.Empty(t, g.Get("key"))
	require.Empty(t, Getter{}.Get("key"))
	_, err = NewGetter(ring, []string{"10.0.0.1:11212", "stranger"})
	var at *hashring.NodeError
	require.ErrorAs(t, err, &at)
	require.Equal(t, "stranger", at.Name)
	require.Equal(t, 1, at.Index)
	require.ErrorIs(t, err, hashring.ErrInvalidNode)
}

func TestSelector(t *testing.T) {
	live := new(hashring.Live)
	s := NewSelector(live)
	_, err := s.PickServer("key")
	require.ErrorIs(t, err, ErrNoServers)
	require.NoError(t, s.Each(func(net.Addr) error { return ErrNoServers }), "there are none")

	_, err = live.Set(serversFor(4))
	require.NoError(t, err)
	for i := range 100 {
		addr, err := s.PickServer(fmt.Sprint(i))
		require.NoError(t, err)
		owner, _ := live.Owner(fmt.Sprint(i))
		require.Equal(t, owner, addr.String())
		require.Equal(t, "tcp", addr.Network())
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { s.PickServer("key") }))

	_, err = live.Remove("10.0.0.2:11212")
	require.NoError(t, err)
	var all []string
	require.NoError(t, s.Each(func(a net.Addr) error {
		all = append(all, a.String())
		return nil
	}))
	require.Equal(t, []string{"10.0.0.1:11212", "10.0.0.3:11212", "10.0.0.4:11212"}, all)
	calls := 0
	require.ErrorIs(t, s.Each(func(net.Addr) error {
		calls++
		return net.ErrClosed
	}), net.ErrClosed)
	require.Equal(t, 1, calls)
}

// A selector that is asked while the ring changes answers from one ring or the other.
func TestSelectorWhileTheRingChanges(t *testing.T) {
	live := new(hashring.Live)
	_, err := live.Set(serversFor(4))
	require.NoError(t, err)
	s := NewSelector(live)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			if _, err := live.Remove("10.0.0.1:11212"); err != nil {
				t.Error(err)
			}
			if _, err := live.Add(serversFor(1)...); err != nil {
				t.Error(err)
			}
		}
	}()
	for asking := true; asking; {
		runtime.Gosched() // there may be one processor, which is not taken away
		select {
		case <-done:
			asking = false
		default:
		}
		addr, err := s.PickServer("key")
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(addr.String(), "10.0.0."))
	}
	addr, err := s.PickServer("key")
	require.NoError(t, err)
	owner, _ := live.Owner("key")
	require.Equal(t, owner, addr.String())
}

func TestAddresses(t *testing.T) {
	for name, want := range map[string]string{
		"10.0.0.1:11212":     "tcp 10.0.0.1:11212",
		"10.0.0.1":           "tcp 10.0.0.1:11211",
		"cache.example":      "tcp cache.example:11211",
		"2001:db8::1:11211":  "tcp [2001:db8::1]:11211",
		"[2001:db8::1]:1234": "tcp [2001:db8::1]:1234",
		"[2001:db8::1]":      "tcp [2001:db8::1]:11211",
		"/run/m.sock":        "unix /run/m.sock",
	} {
		a := addressOf(name)
		require.Equal(t, want, a.Network()+" "+a.String(), name)
	}
}

// The agreement between programs that docs/compat.md states, of the keys that two cases have in common.
func TestProgramsThatDisagree(t *testing.T) {
	for _, c := range []struct {
		system1, case1, system2, case2 string
		same, of                       int
	}{
		{"libmemcached", "ketama_weighted__equal-default-port", "libmemcached", "ketama_default__equal-default-port", 197, 669},
		{"libketama", "equal-4", "libmemcached", "ketama_weighted__equal-default-port", 170, 653},
		{"libketama", "equal-4-other-port", "libmemcached", "ketama_weighted__equal-other-port", 669, 669},
		{"haproxy", "default__equal-4", "haproxy", "sdbm__equal-4", 160, 653},
		{"buraksezer-consistent", "v1-xx-p271-r20__equal-4", "buraksezer-consistent", "xx-p271-r20__equal-4", 164, 693},
		{"serialx-hashring", "equal-4", "serialx-hashring", "old3__equal-4", 191, 693},
	} {
		owners := make(map[string]string)
		for _, row := range vectorsOf(t, c.system1, c.case1).keys {
			owners[row.key] = row.owner
		}
		same, of := 0, 0
		for _, row := range vectorsOf(t, c.system2, c.case2).keys {
			owner, ok := owners[row.key]
			if ok {
				of++
			}
			if owner == row.owner {
				same++
			}
		}
		require.Equal(t, []int{c.same, c.of}, []int{same, of}, "%s and %s", c.case1, c.case2)
	}
}
