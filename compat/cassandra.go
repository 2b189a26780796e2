package compat

import (
	"math"
	"math/bits"

	"github.com/clockwise-go/hashring"
)

// Murmur3Partitioner is the hash of Apache Cassandra's Murmur3Partitioner (org.apache.cassandra.dht.Murmur3Partitioner and
// utils.MurmurHash), of the serialised partition key: a text is its bytes, a bigint eight of them, big-endian. It is the first half of MurmurHash3 x64 128, but with the last bytes of a key, behind
// the blocks of 16, sign-extended.
//
// Cassandra's nodes have their tokens by configuration or by chance, not by a rule. So a ring of it has no Placement: its
// nodes are those of [CassandraNode], and its Options.Hash is this. A key belongs to the first token at or above its own,
// as signed numbers; the first of [hashring.Ring.Replicas] are what SimpleStrategy has.
func Murmur3Partitioner() hashring.Hash { return murmur3Partitioner{} }

// CassandraNode returns the node called name with its tokens as Cassandra has them, initial_token or what nodetool ring
// shows. It must have one at least: a node without would get tokens of the ring's native rule.
func CassandraNode(name string, token int64, more ...int64) hashring.Node {
	n := hashring.Node{Name: name, Tokens: make([]uint64, 0, 1+len(more))}
	for _, t := range append([]int64{token}, more...) {
		n.Tokens = append(n.Tokens, uint64(t)^signBit)
	}
	return n
}

// CassandraToken returns a position of a ring, as a key's or a Range's, as Cassandra's token.
func CassandraToken(position uint64) int64 { return int64(position ^ signBit) }

// signBit turns the order of signed numbers into that of unsigned ones.
const signBit = 1 << 63

type murmur3Partitioner struct{}

func (murmur3Partitioner) Name() string { return "cassandra-murmur3" }

// Sum64 has the least token for the empty key, and the largest where another key's hash would be the least.
func (murmur3Partitioner) Sum64(key string) uint64 {
	if key == "" {
		return 0
	}
	token := int64(signedMurmur3(key))
	if token == math.MinInt64 {
		token = math.MaxInt64
	}
	return uint64(token) ^ signBit
}

func signedMurmur3(key string) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	a := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	b := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	n := uint64(len(key))
	var h1, h2 uint64
	for ; len(key) >= 16; key = key[16:] {
		h1 = bits.RotateLeft64(h1^a(word64(key)), 27)
		h1 = (h1+h2)*5 + 0x52dce729
		h2 = bits.RotateLeft64(h2^b(word64(key[8:])), 31)
		h2 = (h2+h1)*5 + 0x38495ab5
	}
	var k1, k2 uint64
	for i := range len(key) { // xor, as the extended signs reach into the other bytes
		x := uint64(int8(key[i])) << (i % 8 * 8)
		if i < 8 {
			k1 ^= x
		} else {
			k2 ^= x
		}
	}
	h1, h2 = h1^a(k1)^n, h2^b(k2)^n
	h1 += h2
	h2 += h1
	h1, h2 = fmix64(h1), fmix64(h2)
	return h1 + h2
}

func fmix64(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func word64(s string) uint64 { return uint64(word32(s, 0)) | uint64(word32(s, 4))<<32 }
