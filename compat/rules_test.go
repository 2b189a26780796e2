package compat

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// everyRule returns a rule of each constructor under several settings.
func everyRule(t testing.TB) []*Rule {
	t.Helper()
	var rules []*Rule
	add := func(r *Rule, err error) {
		require.NoError(t, err)
		rules = append(rules, r)
	}
	rules = append(rules, Libketama(), Nginx(), Serialx(), Serialx2019())
	for _, distribution := range []string{"consistent", "consistent_weighted", "ketama", "ketama_spy", "ketama_spy_weighted", "ketama_weighted"} {
		add(Libmemcached(distribution, ""))
		add(Libmemcached(distribution, "murmur"))
	}
	for _, tag := range []string{"", "{}", ",=", "=,"} {
		add(Twemproxy("", tag))
		add(Twemproxy("md5", tag))
	}
	add(CacheMemcachedFast(160))
	add(CacheMemcachedFast(7))
	add(HAProxy("", false))
	add(HAProxy("sdbm", false))
	add(HAProxy("crc32", true))
	add(Uhashring(0, ""))
	add(Uhashring(10, "crc32"))
	add(UhashringKetama(0, 0))
	add(UhashringKetama(7, 3))
	add(Envoy(0, 0, ""))
	add(Envoy(64, 100, "murmur_hash_2"))
	add(GRPC(0, 0))
	add(GRPC(64, 100))
	add(Dubbo(0))
	add(Dubbo(320))
	add(Groupcache(0))
	add(Stathat(0, ""))
	add(Stathat(3, "fnv32a"))
	add(Buraksezer010(0))
	add(Buraksezer1(40))
	return rules
}

// serversFor returns n servers that every rule takes.
func serversFor(n int) []hashring.Node {
	var nodes []hashring.Node
	for i := range n {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("10.0.0.%d:11212", i+1)})
		if i%2 > 0 {
			nodes[i].Zone = "b"
		}
	}
	return nodes
}

// labelled gives nodes ids for HAProxy, and leaves them to other rules as they are.
func labelled(t testing.TB, r *Rule, nodes []hashring.Node) []hashring.Node {
	if !strings.HasPrefix(r.Name(), "haproxy") {
		return nodes
	}
	nodes, err := HAProxyIDs(nodes)
	require.NoError(t, err)
	return nodes
}

func ringUnder(t testing.TB, r *Rule, nodes ...hashring.Node) *hashring.Ring {
	t.Helper()
	ring, err := hashring.New(nodes, &hashring.Options{Placement: r})
	require.NoError(t, err, r.Name())
	return ring
}

// Under every rule everything that a ring can do works, and a change gives the ring that New gives.
func TestEveryRuleMakesARing(t *testing.T) {
	for _, r := range everyRule(t) {
		nodes := labelled(t, r, serversFor(9))
		ring := ringUnder(t, r, nodes...)
		require.Equal(t, 9, ring.Len())
		require.Equal(t, r.Hash(), ring.Options().Placement.Hash())

		grown := ringUnder(t, r)
		_, ok := grown.Owner("key")
		require.False(t, ok, r.Name())
		for _, n := range nodes {
			var err error
			grown, err = grown.With(n)
			require.NoError(t, err)
		}
		require.True(t, ring.Equal(grown), r.Name())

		live := hashring.NewLive(ring)
		_, err := live.Remove(nodes[3].Name, nodes[8].Name)
		require.NoError(t, err)
		require.True(t, live.Load().Equal(ringUnder(t, r, append(slices.Clone(nodes[:3]), nodes[4:8]...)...)), r.Name())
		_, err = live.Set(nil)
		require.NoError(t, err)
		require.Zero(t, live.Load().NumTokens())

		for i := range 100 {
			key := fmt.Sprintf("key-%d", i)
			replicas := slices.Collect(ring.Replicas(key))
			require.Len(t, replicas, 9, r.Name())
			owner, _ := ring.Owner(key)
			require.Equal(t, owner, replicas[0])
			first := slices.Collect(Attempts(ring, key))
			require.Len(t, first, ring.NumTokens())
			require.Equal(t, owner, first[0])
			var distinct []string
			for _, name := range first {
				if !slices.Contains(distinct, name) {
					distinct = append(distinct, name)
				}
			}
			require.Equal(t, replicas, distinct, "the walk meets the servers in the order of their points")
		}
		require.NotEqual(t, ring.AppendSpread(nil, "key", 1), ring.AppendSpread(nil, "key", 2)[1:])
	}
}

// Rules that sort do not depend on the order given; the others keep it.
func TestOrderOfServers(t *testing.T) {
	for _, r := range everyRule(t) {
		nodes := labelled(t, r, serversFor(9))
		turned := slices.Clone(nodes)
		slices.Reverse(turned)
		a, b := ringUnder(t, r, nodes...), ringUnder(t, r, turned...)
		require.Equal(t, "10.0.0.1:11212", a.Name(0))
		require.Equal(t, "10.0.0.9:11212", b.Name(0))
		same := maps.Equal(maps.Collect(a.Tokens()), maps.Collect(b.Tokens()))
		require.True(t, same || r.order == nil, r.Name())
	}
}

func TestNamedFindsEveryRule(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range everyRule(t) {
		if strings.Contains(r.Name(), "distribution=ketama,") {
			continue // is there twice, as consistent is another name for it
		}
		require.False(t, seen[r.Name()], "two rules are called %s", r.Name())
		seen[r.Name()] = true
		same, err := Named(r.Name())
		require.NoError(t, err)
		require.Equal(t, r.Name(), same.Name())
		nodes := labelled(t, r, serversFor(5))
		a, b := ringUnder(t, r, nodes...), ringUnder(t, same, nodes...)
		require.True(t, a.Equal(b), r.Name())
		for _, key := range []string{"", "k", "a{b}c", "a=b,c=", "ключ"} {
			require.Equal(t, a.Position(key), b.Position(key), r.Name())
		}
	}
}

// A name without settings has the defaults of the constructor.
func TestNamedDefaults(t *testing.T) {
	for name, full := range map[string]string{
		"libmemcached":                         "libmemcached,distribution=ketama_weighted,hash=md5",
		"libmemcached,distribution=consistent": "libmemcached,distribution=ketama,hash=one_at_a_time",
		"libmemcached,hash=crc":                "libmemcached,distribution=ketama_weighted,hash=crc",
		"twemproxy":                            "twemproxy,hash=fnv1a_64",
		"twemproxy,hash_tag=$$":                "twemproxy,hash=fnv1a_64,hash_tag=$$",
		"cache-memcached-fast":                 "cache-memcached-fast,ketama_points=160",
		"haproxy":                              "haproxy,hash=sdbm,avalanche=true",
		"haproxy,hash=sdbm":                    "haproxy,hash=sdbm,avalanche=false",
		"haproxy,avalanche=true,hash=wt6":      "haproxy,hash=wt6,avalanche=true",
		"uhashring":                            "uhashring,vnodes=160,hash=md5",
		"uhashring-ketama":                     "uhashring-ketama,vnodes=40,replicas=4",
		"envoy":                                "envoy,min=1024,max=8388608,hash=xx_hash",
		"grpc":                                 "grpc,min=1024,max=4096",
		"grpc,max=9000":                        "grpc,min=1024,max=4096",
		"dubbo":                                "dubbo,hash.nodes=160",
		"groupcache":                           "groupcache,replicas=50",
		"stathat":                              "stathat,replicas=20,hash=crc32",
		"buraksezer-0.10":                      "buraksezer-0.10,replicas=20",
		"buraksezer-1":                         "buraksezer-1,replicas=20",
	} {
		r, err := Named(name)
		require.NoError(t, err)
		require.Equal(t, full, r.Name())
	}
}

// The comment of Named lists the programs and their settings.
func TestNamedComment(t *testing.T) {
	source, err := os.ReadFile("named.go")
	require.NoError(t, err)
	listed := make(map[string][]string)
	for line := range strings.Lines(string(source)) {
		if words, ok := strings.CutPrefix(line, "//\t"); ok {
			fields := strings.Fields(words)
			listed[fields[0]] = fields[1:]
		}
	}
	require.Len(t, listed, len(programs))
	for name, p := range programs {
		require.Equal(t, append([]string{}, p.settings...), listed[name], name)
		_, err := Named(name)
		require.NoError(t, err)
	}
}

// What a program does not have is ErrOptions, and says what it has.
func TestOptionsRefused(t *testing.T) {
	refused := func(r *Rule, err error) func(says string) {
		return func(says string) {
			t.Helper()
			require.Nil(t, r)
			require.ErrorIs(t, err, hashring.ErrOptions)
			require.ErrorContains(t, err, says)
		}
	}
	refused(Libmemcached("modula", ""))("ketama_spy_weighted")
	refused(Libmemcached("", ""))("ketama_weighted")
	refused(Libmemcached("ketama", "hsieh"))("murmur3")
	refused(Twemproxy("sha1", ""))("fnv1a_64")
	refused(Twemproxy("", "{"))(`"{"`)
	refused(Twemproxy("", "{}}"))("two characters")
	refused(CacheMemcachedFast(0))("ketama_points is 0")
	refused(CacheMemcachedFast(-1))("ketama_points is -1")
	for _, points := range []int{1, maxInt32} {
		_, err := CacheMemcachedFast(points)
		require.NoError(t, err)
	}
	refused(HAProxy("xxh3", true))("crc32, djb2, sdbm, wt6")
	refused(Uhashring(-1, ""))("vnodes is -1")
	refused(Uhashring(maxCount+1, ""))("vnodes")
	refused(Uhashring(0, "sha1"))("crc32, md5")
	for _, replicas := range []int{1, 4} {
		_, err := UhashringKetama(1, replicas)
		require.NoError(t, err)
	}
	refused(UhashringKetama(0, 5))("replicas is 5")
	refused(UhashringKetama(0, -1))("replicas is -1")
	refused(UhashringKetama(-1, 0))("vnodes is -1")
	refused(Envoy(2, 1, ""))("2 to 1")
	refused(Envoy(0, 1000, ""))("1024 to 1000")
	refused(Envoy(0, 8<<20+1, ""))("8388609")
	refused(Envoy(0, 0, "crc32"))("murmur_hash_2, xx_hash")
	refused(GRPC(2, 1))("2 to 1")
	for nodes := -1; nodes < 4; nodes++ {
		if nodes != 0 {
			refused(Dubbo(nodes))("hash.nodes")
		}
	}
	refused(Groupcache(-1))("replicas is -1")
	refused(Stathat(0, "fnv1a"))("crc32, fnv32a")
	refused(Stathat(-1, ""))("replicas is -1")
	refused(Buraksezer010(-1))("replicas is -1")
	refused(Buraksezer1(maxCount + 1))("replicas")

	refused(Named(""))("nginx")
	refused(Named("Nginx"))("nginx")
	refused(Named("nginx,"))(`no setting ""`)
	refused(Named("nginx,weight=1"))("no setting")
	refused(Named("dubbo,hash.nodes"))("no setting")
	refused(Named("dubbo,hash.nodes=x"))("hash.nodes=x")
	refused(Named("dubbo,hash.nodes=0"))("hash.nodes=0")
	refused(Named("dubbo,hash.nodes=-4"))("hash.nodes=-4")
	refused(Named("dubbo,hash.nodes=4294967296"))("hash.nodes=4294967296")
	refused(Named("dubbo,hash.nodes=8,hash.nodes=8"))("twice")
	refused(Named("haproxy,hash=crc32,avalanche=maybe"))("avalanche=maybe")
	refused(Named("haproxy,avalanche=false"))("behind a hash function")
	refused(Named("cache-memcached-fast,ketama_points=0"))("ketama_points=0")
	refused(Named("envoy,min=5,max=4"))("5 to 4")
	refused(Named("libmemcached,hash=nope"))("nope")
	refused(Named("twemproxy,hash_tag=abc,hash=md5"))("two characters")
	refused(Named("twemproxy,hash_tag=\xe5,"))("not UTF-8")
}

// A server that a program would refuse is an error that names it, and the ring stays as it was.
func TestNodesRefused(t *testing.T) {
	weighted := func(w float64) hashring.Node { return hashring.Node{Name: "bad:1", Weight: w, Label: "7"} }
	named := func(name string) hashring.Node { return hashring.Node{Name: name} }
	for _, c := range []struct {
		rule  string
		nodes []hashring.Node
		says  string
	}{
		{"libketama", []hashring.Node{weighted(1.5), weighted(0.5), weighted(1 << 54)}, "whole number"},
		{"libmemcached", []hashring.Node{weighted(1.5), weighted(1 << 32)}, "whole number from 1 to 4294967295"},
		{"libmemcached", []hashring.Node{named("h:x"), named("h:"), named(":1"), named("h:65536"), named("h:-1")}, "not host:port"},
		{"libmemcached", []hashring.Node{named("[::1]:11211")}, "without brackets"},
		{"twemproxy", []hashring.Node{weighted(1.5), weighted(1 << 31)}, "whole number from 1 to 2147483647"},
		{"twemproxy", []hashring.Node{{Name: "bad", Label: "good:1"}}, "another server"},
		{"nginx", []hashring.Node{weighted(1.5), weighted(1 << 31)}, "whole number"},
		{"nginx", []hashring.Node{named("::1"), named("h:"), named(":80"), named("h:0"), named("unix:"), named("h:65536"), named("h:x"), named("[::1]x:80")},
			"not a server's address"},
		{"cache-memcached-fast", []hashring.Node{weighted(1 << 32)}, "more than 2^31-1"},
		{"cache-memcached-fast", []hashring.Node{named("h"), named("h:"), named("h:x")}, "host:port"},
		{"haproxy", []hashring.Node{weighted(257), weighted(1.5)}, "whole number from 1 to 256"},
		{"haproxy", []hashring.Node{named("s1"), {Name: "s", Label: "0"}, {Name: "s", Label: "1048577"}, {Name: "s", Label: "-1"}}, "HAProxyIDs"},
		{"haproxy", []hashring.Node{{Name: "s", Label: "0001"}}, "another server"},
		{"uhashring", []hashring.Node{weighted(1.5), weighted(1 << 32)}, "whole number"},
		{"uhashring-ketama", []hashring.Node{weighted(1.5), weighted(1 << 32)}, "whole number"},
		{"envoy", []hashring.Node{weighted(1.5), weighted(1 << 54)}, "whole number"},
		{"envoy", []hashring.Node{{Name: "bad", Label: "good:1"}}, "another server"},
		{"grpc", []hashring.Node{weighted(1.5), weighted(1 << 32)}, "whole number"},
		{"serialx", []hashring.Node{weighted(1.5)}, "whole number"},
		{"serialx-2019", []hashring.Node{weighted(1.5)}, "whole number"},
		{"groupcache", []hashring.Node{weighted(2), weighted(0.5)}, "no weights"},
		{"stathat", []hashring.Node{weighted(2)}, "no weights"},
		{"buraksezer-0.10", []hashring.Node{weighted(2)}, "no weights"},
		{"buraksezer-1", []hashring.Node{weighted(2)}, "no weights"},
	} {
		r, err := Named(c.rule)
		require.NoError(t, err)
		good := hashring.Node{Name: "good:1"}
		if c.rule == "haproxy" {
			good.Label = "1"
		}
		for _, bad := range c.nodes {
			ring := ringUnder(t, r, good)
			_, err := ring.With(bad)
			require.ErrorIs(t, err, hashring.ErrInvalidNode, "%s: %+v", c.rule, bad)
			require.ErrorContains(t, err, c.says, "%s: %+v", c.rule, bad)
			var at *hashring.NodeError
			require.ErrorAs(t, err, &at)
			require.Equal(t, bad.Name, at.Name)
			require.Equal(t, 0, at.Index)
			require.Equal(t, 1, ring.Len())
		}
	}
}

// All nodes at fault are in Place's error, up to 16 and a count.
func TestPlaceReportsEveryNode(t *testing.T) {
	var nodes []hashring.Node
	for i := range 20 {
		nodes = append(nodes, hashring.Node{Name: fmt.Sprintf("bad%02d:1", i), Weight: 1.5})
	}
	err := Nginx().Place(nodes, func(int, uint64) bool { return true })
	for i, n := range nodes {
		require.Equal(t, i < 16, strings.Contains(err.Error(), n.Name), n.Name)
	}
	require.ErrorContains(t, err, "and 4 more problems")
	err = Nginx().Place(nodes[:16], func(int, uint64) bool { return true })
	require.ErrorContains(t, err, "bad15:1")
	require.NotContains(t, err.Error(), "more problems")
}

// Programs that add weights up in 32 bits get no sum that is larger.
func TestWeightsTogether(t *testing.T) {
	for rule, limit := range map[string]float64{"twemproxy": maxUint32, "grpc": maxUint32} {
		r, err := Named(rule)
		require.NoError(t, err)
		half := math.Floor(limit / 2)
		a, b := hashring.Node{Name: "a:1", Weight: half}, hashring.Node{Name: "b:1", Weight: limit - half - 1}
		if b.Weight > maxInt32 {
			b.Weight = maxInt32
		}
		ring := ringUnder(t, r, a, b)
		ring, err = ring.With(hashring.Node{Name: "c:1", Weight: limit - a.Weight - b.Weight})
		require.NoError(t, err)
		_, err = ring.With(hashring.Node{Name: "d:1", Weight: 1})
		require.ErrorIs(t, err, hashring.ErrInvalidNode)
		require.ErrorContains(t, err, "add up to more than 4294967295")
	}
	var many []hashring.Node
	for i := range 4097 {
		many = append(many, hashring.Node{Name: fmt.Sprint("s", i), Weight: 256, Label: fmt.Sprint(i + 1)})
	}
	r, err := HAProxy("", false)
	require.NoError(t, err)
	_, err = hashring.New(many, &hashring.Options{Placement: r, MaxTokens: 1 << 26})
	require.ErrorIs(t, err, hashring.ErrInvalidNode)
	require.ErrorContains(t, err, `"s4096"`)
}

// A weight beyond all bounds is refused by MaxTokens before memory for it is taken, and in no more time than that many
// tokens take.
func TestWeightsBeyondMaxTokens(t *testing.T) {
	for _, name := range []string{"nginx", "cache-memcached-fast", "uhashring", "serialx", "groupcache", "uhashring-ketama", "dubbo"} {
		r, err := Named(name)
		require.NoError(t, err)
		n := hashring.Node{Name: "a:1", Weight: maxInt32}
		switch name {
		case "groupcache":
			r, err = Groupcache(maxCount)
			n.Weight = 1
		case "uhashring-ketama":
			r, err = UhashringKetama(maxCount, 4)
		case "dubbo":
			r, err = Dubbo(maxCount)
		}
		require.NoError(t, err)
		_, err = hashring.New([]hashring.Node{n}, &hashring.Options{Placement: r, MaxTokens: 1000})
		require.ErrorIs(t, err, hashring.ErrTooManyTokens, name)
	}
	r, err := Named("haproxy") // whose weights have a limit of their own
	require.NoError(t, err)
	_, err = hashring.New([]hashring.Node{{Name: "a:1", Label: "1", Weight: 256}}, &hashring.Options{Placement: r, MaxTokens: 1000})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
}

// What is hashed for a server, by its name or Label.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ rule, name, label, hashed string }{
		{"libketama", "10.0.0.1:11211", "", "10.0.0.1:11211"},
		{"libketama", "a", "b", "b"},
		{"libmemcached", "10.0.0.1:11211", "", "10.0.0.1"},
		{"libmemcached", "10.0.0.1", "", "10.0.0.1"},
		{"libmemcached", "10.0.0.1:011212", "", "10.0.0.1:11212"},
		{"libmemcached", "2001:db8::1:11211", "", "2001:db8::1"},
		{"libmemcached", "/run/m", "", "/run/m:0"},
		{"libmemcached", "a", "b:11211", "b:11211"},
		{"libmemcached,distribution=ketama_spy", "10.0.0.1", "", "/10.0.0.1:11211"},
		{"libmemcached,distribution=ketama_spy", "10.0.0.1:11212", "", "/10.0.0.1:11212"},
		{"libmemcached,distribution=ketama_spy", "/run/m", "", "//run/m:0"},
		{"twemproxy", "10.0.0.1:11211", "", "10.0.0.1"},
		{"twemproxy", "10.0.0.1:11212", "", "10.0.0.1:11212"},
		{"twemproxy", "/run/m", "", "/run/m:"},
		{"twemproxy", "server1", "", "server1"},
		{"twemproxy", "10.0.0.1:11211", "name:11211", "name:11211"},
		{"twemproxy", ":11211", "", ":11211"},
		{"nginx", "10.0.0.1:80", "", "10.0.0.1\x0080"},
		{"nginx", "10.0.0.1", "", "10.0.0.1\x00"},
		{"nginx", "Host.Example", "", "Host.Example\x00"},
		{"nginx", "[::1]:80", "", "[::1]\x0080"},
		{"nginx", "[::1]", "", "[::1]\x00"},
		{"nginx", "unix:/run/m", "", "/run/m\x00"},
		{"nginx", "UNIX:/run/m:80", "", "/run/m:80\x00"},
		{"nginx", "a", "b:80", "b\x0080"},
		{"cache-memcached-fast", "/run/m:1", "", "/run/m:1\x00"},
		{"cache-memcached-fast", "h:11211", "", "h\x0011211"},
		{"haproxy", "s", "007", "7"},
		{"envoy", "10.0.0.1:80", "", "10.0.0.1:80"},
		{"envoy", "10.0.0.1:80", "key", "key"},
		{"dubbo", "10.0.0.1:20880", "", "10.0.0.1:20880"},
		{"dubbo", "10.0.0.1:0", "", "10.0.0.1"},
		{"dubbo", "10.0.0.1:-1", "", "10.0.0.1"},
		{"dubbo", ":0", "", ":0"},
	} {
		r, err := Named(c.rule)
		require.NoError(t, err)
		got, err := r.label(hashring.Node{Name: c.name, Label: c.label, Weight: 1})
		require.NoError(t, err)
		require.Equal(t, c.hashed, got, "%+v", c)
	}
}

// Two programs that hash keys alike have one Hash, so that their rings can be compared range by range.
func TestHashesAreShared(t *testing.T) {
	same := [][]string{
		{"libmemcached", "dubbo", "uhashring-ketama", "serialx-2019"},
		{"nginx", "cache-memcached-fast", "groupcache", "stathat", "haproxy,hash=crc32", "uhashring,hash=crc32"},
		{"envoy", "grpc", "buraksezer-1"},
		{"twemproxy,hash=md5", "twemproxy,hash=md5"},
	}
	for _, names := range same {
		var first *Rule
		for _, name := range names {
			r, err := Named(name)
			require.NoError(t, err)
			if first == nil {
				first = r
			}
			require.Equal(t, first.Hash().Name(), r.Hash().Name(), name)
			for i := range 100 {
				key := fmt.Sprint("ключ", i)
				require.Equal(t, first.Hash().Sum64(key), r.Hash().Sum64(key), name)
			}
		}
	}
	names := make(map[string]bool) // and those that differ for some key have another name
	for _, other := range []string{"libketama", "libmemcached", "twemproxy,hash=md5", "twemproxy,hash=md5,hash_tag={}"} {
		r, err := Named(other)
		require.NoError(t, err)
		names[r.Hash().Name()] = true
	}
	require.Len(t, names, 4)
}

// A native ring over a rule's hash has its keys where that has them.
func TestNativeRingOverARulesHash(t *testing.T) {
	for _, r := range everyRule(t) {
		ring, err := hashring.New(serversFor(3), &hashring.Options{Hash: r.Hash()})
		require.NoError(t, err)
		foreign := ringUnder(t, r, labelled(t, r, serversFor(3))...)
		for i := range 50 {
			key := fmt.Sprint(i)
			require.Equal(t, foreign.Position(key), ring.Position(key))
		}
	}
}

// Looking a key up allocates nothing under any rule.
func TestLookupsDoNotAllocate(t *testing.T) {
	key := strings.Repeat("a long key {with a tag} ", 5)
	for _, r := range everyRule(t) {
		ring := ringUnder(t, r, labelled(t, r, serversFor(9))...)
		require.Zero(t, testing.AllocsPerRun(100, func() { ring.Owner(key) }), r.Name())
	}
}

// The empty key, and what twemproxy and libketama make of particular ones.
func TestParticularKeys(t *testing.T) {
	tagged, err := Twemproxy("md5", "{}")
	require.NoError(t, err)
	plain, err := Twemproxy("md5", "")
	require.NoError(t, err)
	at := func(r *Rule, key string) uint64 { return r.Hash().Sum64(key) }
	require.Zero(t, at(plain, ""))
	require.Zero(t, at(tagged, ""))
	for key, hashed := range map[string]string{
		"a{b}c": "b", "{b}": "b", "a{b}{c}": "b", "a{{b}c": "{b", "a{}c": "a{}c", "a{}{b}": "a{}{b}", "a{b": "a{b", "a}b{c": "a}b{c", "a}{b}": "b",
	} {
		require.Equal(t, at(plain, hashed), at(tagged, key), key)
	}
	same, err := Twemproxy("md5", "$$")
	require.NoError(t, err)
	require.Equal(t, at(plain, "b"), at(same, "a$b$c"))
	require.Equal(t, at(Libketama(), "a"), at(Libketama(), "a\x00b"), "libketama's keys end at NUL")
	require.NotEqual(t, at(plain, "a"), at(plain, "a\x00b"))
	require.Zero(t, Murmur3Partitioner().Sum64(""), "Cassandra's least token")
}

// Place stops when emit says so.
func TestPlaceStops(t *testing.T) {
	for _, r := range everyRule(t) {
		nodes := labelled(t, r, serversFor(3))
		for i := range nodes {
			nodes[i].Weight = 1
		}
		calls := 0
		require.NoError(t, r.Place(nodes, func(int, uint64) bool {
			calls++
			return calls < 2
		}))
		require.Equal(t, 2, calls, r.Name())
	}
}

// One rule serves any number of goroutines, which build rings and look keys up.
func TestRulesInManyGoroutines(t *testing.T) {
	for _, r := range everyRule(t) {
		nodes := labelled(t, r, serversFor(5))
		want := ringUnder(t, r, nodes...)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				ring, err := hashring.New(nodes, &hashring.Options{Placement: r})
				if err != nil || !ring.Equal(want) {
					t.Error(r.Name(), err)
				}
				for i := range 20 {
					key := fmt.Sprint(i)
					if owner, _ := ring.Owner(key); owner != want.AppendReplicas(nil, key, 1)[0] {
						t.Error(r.Name(), key)
					}
				}
			})
		}
		wg.Wait()
	}
}
