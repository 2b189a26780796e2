package compat

import (
	"fmt"
	"math/bits"

	"github.com/clockwise-go/hashring"
)

// Groupcache is the rule of groupcache's consistenthash with its default hash (golang/groupcache,
// consistenthash/consistenthash.go, at 2c02b820), and of the libraries that copied it. replicas is the argument of New, or
// HTTPPoolOptions.Replicas, 0 the default of that, 50.
//
// A peer has that many points CRC-32(k name), with nothing between. The first at or above CRC-32(key) owns; of equal points
// that of the peer added last, so the order matters: "1" and "11" both have a point of "111". There are no weights.
func Groupcache(replicas int) (*Rule, error) {
	if replicas == 0 {
		replicas = 50
	}
	return replicated("groupcache", replicas, "", crc32Hash, false)
}

// Stathat is the rule of stathat.com/c/consistent (consistent.go, at 30ea17e8). replicas is NumberOfReplicas, 0 the default
// of 20. hash is crc32, or empty, or fnv32a for UseFnv, which release 1.0.0 does not have.
//
// An element has that many points hash(k name), with nothing between. The first above hash(key), not at it, owns; of equal
// points that of the element added last. There are no weights. In the program Remove takes a point that two elements have
// from both; here the other keeps it.
func Stathat(replicas int, hash string) (*Rule, error) {
	if replicas == 0 {
		replicas = 20
	}
	if hash == "" {
		hash = "crc32"
	}
	keys, err := hashCalled(map[string]*hash32{"crc32": crc32Hash, "fnv32a": {"fnv1a-32", fnv1a32}}, "stathat", hash)
	if err != nil {
		return nil, err
	}
	return replicated("stathat", replicas, ",hash="+hash, keys, true)
}

// replicated returns the rule of a library that hashes the index and the name.
func replicated(program string, replicas int, settings string, keys *hash32, strict bool) (*Rule, error) {
	if err := checkCount(program, "replicas", replicas); err != nil {
		return nil, err
	}
	return &Rule{
		name:     fmt.Sprintf("%s,replicas=%d%s", program, replicas, settings),
		keys:     keys,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), unweighted(n, program) },
		lastWins: true,
		plan:     fixed(uint64(replicas), prefixed("", keys.point)),
		circle:   circle{narrow: true, strict: strict},
	}, nil
}

// Serialx is the rule of serialx/hashring since November 2019 with its default hash (hashring.go and key.go, at 22c0c7ab).
//
// A node of weight w has w points, one by default, MD5(name-k) as two little-endian halves, compared as signed numbers.
// The first above MD5(key), not at it, owns. Weights are whole.
func Serialx() *Rule {
	return &Rule{
		name:   "serialx",
		keys:   serialxHash{},
		label:  func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "serialx", maxUint32) },
		plan:   fixed(1, joined("-", serialxHash{}.Sum64)),
		circle: circle{strict: true},
	}
}

// serialxHash is the upper half of an MD5 as serialx/hashring orders it, which tells points apart as well as the whole.
type serialxHash struct{}

func (serialxHash) Name() string { return "md5-le64-signed" }

func (serialxHash) Sum64(key string) uint64 {
	return bits.ReverseBytes64(hashring.MD5.Sum64(key)) ^ signBit
}

// Serialx2019 is the rule of serialx/hashring before November 2019 (at 8b29126), which is like ketama.
//
// A node of weight w of a total of W on n nodes has 40*n*w/W digests MD5(name-k), rounded down in whole numbers, each of
// which gives three points, its little-endian words. The first above MD5(key)'s first word, not at it, owns; of equal
// points that of the node listed last. (From NewWithWeights that is up to chance, as it ranges over a map.) Weights are
// whole.
func Serialx2019() *Rule {
	return &Rule{
		name:     "serialx-2019",
		keys:     md5Hash,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "serialx", maxUint32) },
		total:    noLimit,
		lastWins: true,
		plan:     share(wholeDigests(40), digestWords("-", 3)),
		circle:   circle{narrow: true, strict: true},
	}
}
