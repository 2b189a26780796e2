package compat

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// change is a rule changed on purpose, and how many rows of keys then have another owner, in the systems that notice.
type change struct {
	name  string
	do    func(*Rule, vectors)
	wrong map[string]int
}

// The vectors bite: any of these changes to a rule makes so many of their rows wrong, and in no other system any.
func TestVectorsNoticeChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("the same on every machine")
	}
	words := digestWords("-", 4)
	unsigned := map[string]func(string) uint32{
		oneAtATimeHash.name: func(key string) uint32 {
			h := uint32(0)
			for i := range len(key) {
				h += uint32(key[i])
				h += h << 10
				h ^= h >> 6
			}
			h += h << 3
			h ^= h >> 11
			return h + h<<15
		},
		fnv132Hash.name:  func(key string) uint32 { return unsignedFNV1(key, 0x811c9dc5, 0x01000193) },
		fnv1a32Hash.name: fnv1a32,
		fnv164Hash.name:  func(key string) uint32 { return unsignedFNV1(key, 0x84222325, 0x1b3) },
		fnv1a64Hash.name: func(key string) uint32 {
			h := uint32(0x84222325)
			for i := range len(key) {
				h = (h ^ uint32(key[i])) * 0x1b3
			}
			return h
		},
	}
	weighted := func(v vectors) bool { // of libmemcached's, those with points by share
		return strings.Contains(v.params.Mode, "weighted") || v.system == "twemproxy" ||
			slices.ContainsFunc(v.servers, func(s vectorServer) bool { return s.Weight > 1 })
	}
	countedBy := func(digests func(w, total float64, n int) uint64, systems ...string) func(*Rule, vectors) {
		return func(r *Rule, v vectors) {
			if slices.Contains(systems, v.system) && (v.system == "libketama" || weighted(v)) {
				r.plan = share(digests, words)
			}
		}
	}
	others := []string{"libmemcached", "php-memcached", "twemproxy"}
	var all []vectors
	for _, system := range vectorSystems {
		if system.name != "cassandra" { // see below
			all = append(all, loadVectors(t, system.name)...)
		}
	}

	for _, c := range []change{
		{"above for at or above, and the other way", func(r *Rule, _ vectors) { r.circle.strict = !r.circle.strict },
			map[string]int{"dubbo": 190, "envoy-ringhash": 23, "groupcache": 131, "grpc-ringhash": 103, "libketama": 167,
				"libmemcached": 709, "nginx": 21, "serialx-hashring": 226, "stathat-consistent": 322, "twemproxy": 157,
				"uhashring": 247}},
		{"the other server wins a collision", func(r *Rule, _ vectors) { r.lastWins = !r.lastWins },
			map[string]int{"buraksezer-consistent": 69, "dubbo": 235, "libketama": 25, "libmemcached": 44, "nginx": 29,
				"stathat-consistent": 16, "twemproxy": 25, "uhashring": 50}},
		{"the next point for the nearest", func(r *Rule, _ vectors) { r.circle.nearest = false },
			map[string]int{"haproxy": 6253}},
		{"port 11211 in the label", func(r *Rule, v vectors) {
			if slices.Contains(others[:2], v.system) && !strings.Contains(v.params.Mode, "spy") {
				r.label = func(n hashring.Node) (string, error) { return n.Name, nil }
			}
		}, map[string]int{"libmemcached": 9201, "php-memcached": 4566}},
		{"digests counted in whole numbers", countedBy(wholeDigests(40), others...),
			map[string]int{"libmemcached": 75, "php-memcached": 15, "twemproxy": 57}},
		{"digests counted as by libketama", countedBy(libketamaDigests, others...),
			map[string]int{"libmemcached": 52, "php-memcached": 15, "twemproxy": 57}},
		{"digests counted as by libmemcached", countedBy(libmemcachedDigests, "libketama"), map[string]int{"libketama": 41}},
		{"servers not sorted", func(r *Rule, _ vectors) { r.order = nil }, map[string]int{"grpc-ringhash": 1}},
		{"unsigned bytes", func(r *Rule, _ vectors) {
			if h, ok := r.keys.(*hash32); ok && unsigned[strings.TrimSuffix(h.name, "-or-0")] != nil {
				r.keys = &hash32{h.name, unsigned[strings.TrimSuffix(h.name, "-or-0")]}
			}
		}, map[string]int{"libmemcached": 1243, "php-memcached": 177, "twemproxy": 353}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := make(map[string]int)
			for _, v := range all {
				r := *v.rule(t)
				c.do(&r, v)
				if a := v.ask(t, &r); a.wrong > 0 {
					wrong[v.system] += a.wrong
				}
			}
			require.Equal(t, c.wrong, wrong)
		})
	}
}

func unsignedFNV1(key string, offset, prime uint32) uint32 {
	h := offset
	for i := range len(key) {
		h = h*prime ^ uint32(key[i])
	}
	return h
}

// halfUp is HAProxy's placement with a key halfway between two points given to the upper.
type halfUp struct{ *Rule }

func (p halfUp) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	type point struct {
		at   uint32
		node int
	}
	var points []point
	servers := make([]server, len(nodes))
	for i, n := range nodes {
		servers[i] = server{node: i, label: n.Label, weight: n.Weight}
	}
	expand := p.plan(servers)
	for _, s := range servers {
		expand(s, func(at uint64) bool {
			points = append(points, point{uint32(at), s.node})
			return true
		})
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	for i, p := range points {
		next := points[(i+1)%len(points)].at
		if !emit(p.node, uint64(p.at+(next-p.at-1)/2)<<32) {
			return nil
		}
	}
	return nil
}

func TestVectorsNoticeHalfway(t *testing.T) {
	wrong := 0
	for _, v := range loadVectors(t, "haproxy") {
		r := v.rule(t)
		wrong += v.askRing(t, halfUp{r}, r.circle).wrong
	}
	require.Equal(t, 10, wrong)
}

// notNormalised is Cassandra's hash without the largest token in place of the least.
type notNormalised struct{ hashring.Hash }

func (h notNormalised) Sum64(key string) uint64 {
	if signedMurmur3(key) == 1<<63 {
		return 0
	}
	return h.Hash.Sum64(key)
}

// textbook is Cassandra's hash with the bytes behind the last block taken as they are.
type textbook struct{ hashring.Hash }

func (textbook) Sum64(key string) uint64 {
	token := hashring.Murmur3.Sum64(key)
	if token == 1<<63 {
		token = math.MaxInt64
	}
	return token ^ signBit
}

func TestVectorsNoticeChangesOfCassandra(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  hashring.Hash
		less  uint64
		wrong int
	}{
		{"above for at or above", Murmur3Partitioner(), 1, 14},
		{"no largest token for the least", notNormalised{Murmur3Partitioner()}, 0, 2},
		{"unsigned bytes", textbook{Murmur3Partitioner()}, 0, 625},
	} {
		wrong := 0
		for _, v := range loadVectors(t, "cassandra") {
			wrong += v.askCassandra(t, c.keys, c.less).wrong
		}
		require.Equal(t, c.wrong, wrong, c.name)
	}
}
