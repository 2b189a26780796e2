package compat

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Envoy is the rule of Envoy's ring_hash load balancer
// (source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc, at 13e9fdb2). minimumRingSize and maximumRingSize
// are its settings of these names, 0 the defaults of 1,024 and 8,388,608, which is also the limit; hash is its
// hash_function, of points: xx_hash, or empty, or murmur_hash_2.
//
// The label, a node's Label or else its name, is the endpoint's hash_key in the metadata of envoy.lb; without that the host
// name, if use_hostname_for_hashing says so; else address:port. Endpoints are taken in the order given, which is that of
// the host set.
//
// A ring has about scale points, where scale is ceil(w*minimumRingSize)/w for the smallest weight w, as a fraction of all,
// but at most maximumRingSize. Each endpoint gets points hash(label_i) for i = 0, 1, ... until the ring has as many as
// scale times the weights so far. So how many one has depends on the others, and a change of one can move any key. The first
// point at or above the hash owns. Weights are whole; with locality weights they are the products, up to how Envoy rounds
// those. Two endpoints with one label, between which Envoy's choice is not specified, are refused.
//
// Keys are hashed by XXH64, whatever the hash of points. Where a route's hash policies combine several hashes, compute
// that, and ask [hashring.Ring.OwnerAt]. Further attempts go to [Attempts].
func Envoy(minimumRingSize, maximumRingSize uint64, hash string) (*Rule, error) {
	if hash == "" {
		hash = "xx_hash"
	}
	sum, err := hashCalled(envoyHashes, "envoy", hash)
	if err != nil {
		return nil, err
	}
	minSize, maxSize, err := ringSizes("envoy", minimumRingSize, maximumRingSize, 8<<20, 8<<20)
	if err != nil {
		return nil, err
	}
	return &Rule{
		name:     fmt.Sprintf("envoy,min=%d,max=%d,hash=%s", minSize, maxSize, hash),
		keys:     hashring.XXH64,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "envoy", noLimit) },
		distinct: true,
		total:    noLimit,
		plan:     runningSum(minSize, maxSize, joined("_", sum)),
	}, nil
}

// GRPC is the rule of gRPC's ring_hash_experimental, as in its proposal A42 (grpc/grpc-go, balancer/ringhash/ring.go,
// picker.go and config.go, at 1.85.0). minRingSize and maxRingSize are its settings of these names, 0 the defaults of 1,024
// and 4,096; what is above 4,096 is taken as that, since clients cap it (GRPC_RING_HASH_CAP).
//
// It is [Envoy] with XXH64, but endpoints are taken in the order of their labels, so the order given makes no difference.
// The label, a node's Label or else its name, is the endpoint's hash key attribute, or else its first address. Weights are
// whole numbers up to 2^32-1, also together. Keys are the request hash header's values, joined by ",", or the strings that are hashed
// for the request. Of an endpoint in TRANSIENT_FAILURE [Attempts] has the next. Two endpoints with one label are refused.
//
// A grpc-go whose compiler fuses multiplications with additions (arm64, or GOAMD64=v3) can count points otherwise for some
// weights; the rule is that without.
func GRPC(minRingSize, maxRingSize uint64) (*Rule, error) {
	const limit = 4096
	minSize, maxSize, err := ringSizes("grpc", min(minRingSize, limit), min(maxRingSize, limit), limit, limit)
	if err != nil {
		return nil, err
	}
	return &Rule{
		name:     fmt.Sprintf("grpc,min=%d,max=%d", minSize, maxSize),
		keys:     hashring.XXH64,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "grpc", maxUint32) },
		order:    func(a, b server) int { return strings.Compare(a.label, b.label) },
		distinct: true,
		total:    maxUint32,
		plan:     runningSum(minSize, maxSize, joined("_", hashring.XXH64.Sum64)),
	}, nil
}

// ringSizes returns the sizes with the defaults filled in.
func ringSizes(program string, minSize, maxSize, defaultMax, limit uint64) (uint64, uint64, error) {
	if minSize == 0 {
		minSize = 1024
	}
	if maxSize == 0 {
		maxSize = defaultMax
	}
	if minSize > maxSize || maxSize > limit {
		return 0, 0, badOption("%s's ring sizes are %d to %d, but the first is at most the second, and that at most %d",
			program, minSize, maxSize, limit)
	}
	return minSize, maxSize, nil
}

// runningSum returns the plan of Envoy and gRPC. The product below is converted so that no compiler may fuse it with the
// sum, which would give other counts for some weights.
func runningSum(minSize, maxSize uint64, expand expander) func([]server) expander {
	return func(servers []server) expander {
		if len(servers) == 0 {
			return expand
		}
		total := 0.0
		for _, s := range servers {
			total += s.weight
		}
		lightest := slices.MinFunc(servers, func(a, b server) int { return cmp.Compare(a.weight, b.weight) })
		least := lightest.weight / total
		scale := min(math.Ceil(float64(least*float64(minSize)))/least, float64(maxSize))
		points, target := 0.0, 0.0
		for i := range servers {
			target += float64(scale * (servers[i].weight / total))
			if n := math.Ceil(target) - points; n > 0 {
				servers[i].count = uint64(n)
				points += n
			}
		}
		return expand
	}
}

var envoyHashes = map[string]func(string) uint64{"xx_hash": hashring.XXH64.Sum64, "murmur_hash_2": murmur2Wide}

// murmur2Wide is MurmurHash2 in 64 bits, as in libstdc++'s _Hash_bytes with the seed 0xc70f6907.
func murmur2Wide(s string) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := 0xc70f6907 ^ uint64(len(s))*m
	for ; len(s) >= 8; s = s[8:] {
		k := word64(s) * m
		h = (h ^ (k^k>>47)*m) * m
	}
	if s != "" {
		var last [8]byte
		copy(last[:], s)
		h = (h ^ binary.LittleEndian.Uint64(last[:])) * m
	}
	h = (h ^ h>>47) * m
	return h ^ h>>47
}
