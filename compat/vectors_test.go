package compat

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// vectors are answers of one program under one configuration. testdata/README.md describes the files.
type vectors struct {
	system, name string
	params       params
	servers      []vectorServer
	keys         []vectorKey
	points       []vectorPoint // 128-bit ones by their upper halves
	counts       map[string]int
}

type params struct {
	Mode         string `json:"mode"`
	Hash         string `json:"hash"`
	HashTag      string `json:"hash_tag"`
	Avalanche    bool   `json:"avalanche"`
	KetamaPoints int    `json:"ketama_points"`
	VNodes       int    `json:"vnodes"`
	Replicas     int    `json:"replicas"`
	MinRingSize  uint64 `json:"min_ring_size"`
	MaxRingSize  uint64 `json:"max_ring_size"`
	HashNodes    int    `json:"hash_nodes"`
	Scheme       string `json:"scheme"`
	Steps        uint64 `json:"steps"`
	Partitions   int    `json:"partitions"`
	Load         float64
	Counts       map[string]int `json:"counts"`
}

type vectorServer struct {
	Name, Server string
	Weight       float64
	ID           int
	Flag         string
	Tokens       []string
}

type vectorKey struct{ key, owner string } // owner is a token in two files of cassandra

type vectorPoint struct {
	point uint64
	owner string
}

func readGzipped(t testing.TB, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into), name)
}

var vectorKeys struct {
	sync.Once
	keys []string
}

// loadVectors returns all cases of a system.
func loadVectors(t testing.TB, system string) []vectors {
	t.Helper()
	vectorKeys.Do(func() { readGzipped(t, "keys", &vectorKeys.keys) })
	var cases []struct {
		Case      string
		Params    params
		Servers   []vectorServer
		Keys      [][2]json.RawMessage
		Points    [][2]json.RawMessage
		PointsHex [][2]json.RawMessage `json:"points_hex"`
	}
	readGzipped(t, system, &cases)
	var all []vectors
	for _, c := range cases {
		v := vectors{system: system, name: c.Case, params: c.Params, servers: c.Servers, counts: c.Params.Counts}
		owner := func(raw json.RawMessage) string {
			if raw[0] == '"' {
				return unquoted(t, raw)
			}
			i, err := strconv.Atoi(string(raw))
			require.NoError(t, err)
			return c.Servers[i].Name
		}
		for _, row := range c.Keys {
			i, err := strconv.Atoi(string(row[0]))
			require.NoError(t, err)
			v.keys = append(v.keys, vectorKey{vectorKeys.keys[i], owner(row[1])})
		}
		point := uint64(0)
		for _, row := range c.Points { // each as what it is more than the one before
			step, err := strconv.ParseUint(strings.Trim(string(row[0]), `"`), 10, 64)
			require.NoError(t, err)
			point += step
			v.points = append(v.points, vectorPoint{point, owner(row[1])})
		}
		for _, row := range c.PointsHex {
			upper, err := strconv.ParseUint(unquoted(t, row[0])[:16], 16, 64)
			require.NoError(t, err)
			v.points = append(v.points, vectorPoint{upper, owner(row[1])})
		}
		all = append(all, v)
	}
	return all
}

func unquoted(t testing.TB, raw json.RawMessage) (s string) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

// nodes returns the servers as a user of the package would write them. Owners are then the servers' names in the vectors,
// but twemproxy's, which are named by what it hashes: there a node is called by its address.
func (v vectors) nodes(t testing.TB) []hashring.Node {
	t.Helper()
	var nodes []hashring.Node
	for _, s := range v.servers {
		n := hashring.Node{Name: s.Name, Weight: s.Weight}
		switch v.system {
		case "haproxy":
			n.Label = strconv.Itoa(s.ID)
		case "twemproxy":
			if n.Name = s.Server; strings.TrimSuffix(s.Server, ":11211") != s.Name {
				n.Label = s.Name // the configuration has a name behind the address
			}
		case "cassandra":
			var tokens []int64
			for _, text := range s.Tokens {
				token, err := strconv.ParseInt(text, 10, 64)
				require.NoError(t, err)
				tokens = append(tokens, token)
			}
			n = CassandraNode(s.Name, tokens[0], tokens[1:]...)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// rule returns the rule of the configuration.
func (v vectors) rule(t testing.TB) *Rule {
	t.Helper()
	p := v.params
	must := func(r *Rule, err error) *Rule {
		require.NoError(t, err, "%s/%s", v.system, v.name)
		return r
	}
	switch v.system {
	case "libketama":
		return Libketama()
	case "libmemcached", "php-memcached":
		hash := strings.TrimSuffix(strings.TrimPrefix(p.Hash, "default("), ")")
		distribution := p.Mode
		switch {
		case p.Mode == "consistent_md5":
			distribution = "consistent"
		case strings.HasPrefix(p.Mode, "ketama_") && !slices.Contains([]string{"ketama_spy", "ketama_spy_weighted", "ketama_weighted"}, p.Mode):
			distribution = "ketama" // and the rest is the hash
		}
		return must(Libmemcached(distribution, hash))
	case "twemproxy":
		return must(Twemproxy(p.Hash, p.HashTag))
	case "nginx":
		return Nginx()
	case "cache-memcached-fast":
		return must(CacheMemcachedFast(p.KetamaPoints))
	case "haproxy":
		return must(HAProxy(p.Hash, p.Avalanche))
	case "uhashring":
		if p.Mode == "ketama" {
			return must(UhashringKetama(p.VNodes, p.Replicas))
		}
		return must(Uhashring(p.VNodes, p.Hash))
	case "envoy-ringhash":
		return must(Envoy(p.MinRingSize, p.MaxRingSize, p.Hash))
	case "grpc-ringhash":
		return must(GRPC(p.MinRingSize, p.MaxRingSize))
	case "dubbo":
		return must(Dubbo(p.HashNodes))
	case "groupcache":
		return must(Groupcache(p.Replicas))
	case "stathat-consistent":
		return must(Stathat(p.Replicas, p.Hash))
	case "buraksezer-consistent":
		if p.Scheme == "%s%d" {
			return must(Buraksezer010(p.Replicas))
		}
		return must(Buraksezer1(p.Replicas))
	case "serialx-hashring":
		if p.Scheme == "old3" {
			return Serialx2019()
		}
		return Serialx()
	}
	require.Fail(t, "no rule for "+v.system)
	return nil
}

// asked are the rows of vectors, and wrong are those to which a ring has another answer.
type asked struct{ keys, points, counts, wrong, wrongPoints, wrongCounts int }

// ask asks a ring under r for every row.
func (v vectors) ask(t testing.TB, r *Rule) asked {
	t.Helper()
	if v.system == "cassandra" {
		return v.askCassandra(t, Murmur3Partitioner(), 0)
	}
	return v.askRing(t, r, r.circle)
}

// askRing is ask for a placement by way of a circle.
func (v vectors) askRing(t testing.TB, p hashring.Placement, c circle) asked {
	t.Helper()
	ring, err := hashring.New(v.nodes(t), &hashring.Options{Placement: p})
	require.NoError(t, err, "%s/%s", v.system, v.name)

	called := func(node string) string { return node }
	if v.system == "twemproxy" {
		names := make(map[string]string)
		for _, s := range v.servers {
			names[s.Server] = s.Name
		}
		called = func(node string) string { return names[node] }
	}
	ownerOf := ring.Owner
	switch {
	case v.system == "envoy-ringhash": // whose vectors have hashes of requests
		ownerOf = func(key string) (string, bool) { return ring.OwnerAt(uintOf(t, key)) }
	case v.system == "buraksezer-consistent":
		partitions, err := NewBuraksezer(ring, v.params.Partitions, v.params.Load)
		require.NoError(t, err)
		ownerOf = partitions.Owner
	case v.name == "down-server":
		ownerOf = func(key string) (string, bool) { return v.firstUp(ring, key) }
	}
	a := asked{keys: len(v.keys), points: len(v.points), counts: len(v.counts)}
	for _, row := range v.keys {
		if owner, ok := ownerOf(row.key); !ok || called(owner) != row.owner {
			a.wrong++
		}
	}
	a.wrongPoints = v.wrongPoints(ring, c)
	if v.params.Steps > 0 {
		got := make(map[string]int)
		for i := range v.params.Steps {
			owner, _ := ring.OwnerAt(i * (^uint64(0) / v.params.Steps))
			got[owner]++
		}
		for name, n := range v.counts {
			if got[name] != n {
				a.wrongCounts++
			}
		}
	}
	return a
}

// firstUp returns the server that nginx takes for key: the first on its way that is not down.
func (v vectors) firstUp(ring *hashring.Ring, key string) (string, bool) {
	for name := range NginxAttempts(ring, key) {
		if !slices.ContainsFunc(v.servers, func(s vectorServer) bool { return s.Name == name && s.Flag == "down" }) {
			return name, true
		}
	}
	return "", false
}

func uintOf(t testing.TB, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err)
	return n
}

// wrongPoints compares the tokens of the ring with the points listed, in number, place, order and owner.
func (v vectors) wrongPoints(ring *hashring.Ring, c circle) int {
	if len(v.points) == 0 {
		return 0
	}
	var got []vectorPoint
	for token, owner := range ring.Tokens() {
		if c.strict {
			token++
		}
		if c.narrow {
			token >>= 32
		}
		if n := len(got); v.system == "uhashring" && n > 0 && got[n-1].point == token {
			owner = got[n-1].owner // it lists the winner twice
		}
		got = append(got, vectorPoint{token, owner})
	}
	wrong := max(len(got), len(v.points)) - min(len(got), len(v.points))
	for i := range min(len(got), len(v.points)) {
		if got[i] != v.points[i] {
			wrong++
		}
	}
	return wrong
}

// askCassandra asks for tokens, or for owners where there are nodes, each of whose tokens is by less too low.
func (v vectors) askCassandra(t testing.TB, keys hashring.Hash, less uint64) asked {
	t.Helper()
	a := asked{keys: len(v.keys)}
	nodes := v.nodes(t)
	for i := range nodes {
		for j := range nodes[i].Tokens {
			nodes[i].Tokens[j] -= less
		}
	}
	ring, err := hashring.New(nodes, &hashring.Options{Hash: keys})
	require.NoError(t, err)
	for _, row := range v.keys {
		key := row.key
		if v.name == "tokens-hexkeys" {
			raw, err := hex.DecodeString(key)
			require.NoError(t, err)
			key = string(raw)
		}
		got := strconv.FormatInt(CassandraToken(ring.Position(key)), 10)
		if len(v.servers) > 0 {
			got, _ = ring.Owner(key)
		}
		if got != row.owner {
			a.wrong++
		}
	}
	return a
}

// vectorSystems are the files of testdata with their numbers of cases, rows of keys, and rows of points.
var vectorSystems = []struct {
	name                        string
	cases, keys, points, counts int
}{
	{"libketama", 8, 5449, 16136, 0},
	{"libmemcached", 47, 31789, 64308, 0},
	{"php-memcached", 10, 6030, 0, 0},
	{"twemproxy", 20, 12466, 0, 0},
	{"nginx", 6, 3967, 0, 0},
	{"cache-memcached-fast", 4, 2412, 0, 0},
	{"haproxy", 24, 15698, 0, 0},
	{"uhashring", 12, 8211, 10272 + 480, 0},
	{"envoy-ringhash", 9, 38, 40, 7},
	{"grpc-ringhash", 6, 3562, 0, 0},
	{"dubbo", 12, 8080, 0, 0},
	{"cassandra", 4, 2488, 0, 0},
	{"serialx-hashring", 10, 7190, 0, 0},
	{"stathat-consistent", 10, 7230, 0, 0},
	{"groupcache", 5, 3645, 0, 0},
	{"buraksezer-consistent", 10, 7230, 0, 0},
}

// Every row of every file: the ring has the program's answer.
func TestVectors(t *testing.T) {
	for _, system := range vectorSystems {
		t.Run(system.name, func(t *testing.T) {
			cases := loadVectors(t, system.name)
			require.Len(t, cases, system.cases)
			var sum asked
			for _, v := range cases {
				var r *Rule
				if v.system != "cassandra" {
					r = v.rule(t)
				}
				a := v.ask(t, r)
				if a.wrong+a.wrongPoints+a.wrongCounts > 0 {
					t.Errorf("%s: %+v", v.name, a)
				}
				sum.keys += a.keys
				sum.points += a.points
				sum.counts += a.counts
			}
			require.Equal(t, asked{keys: system.keys, points: system.points, counts: system.counts}, sum)
		})
	}
}
