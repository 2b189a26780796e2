package hashring

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// Hash decides the position of a key. Its Name is part of a ring's identity: two rings whose hashes have the same name
// are taken to place keys alike, so a function that is changed, or is given another seed, needs another name.
//
// Sum64 must be pure (the same result for the same key, be it empty, in every process, for ever), safe for concurrent
// use, and must not retain its argument. Its results should be spread evenly over 64 bits; [NewHash] makes any function
// do that. A type of your own that implements Hash is used as it is, which is what agreement with a foreign system needs.
type Hash interface {
	Name() string
	Sum64(key string) uint64
}

// BuiltinHash is a hash that comes with the package. The constants are values, not variables: no import can swap them.
type BuiltinHash uint8

// The built-in hashes. The digests give their first 8 bytes, big-endian: the first 16 digits of the usual hexadecimal
// form. None allocates, and all give the same values on every architecture.
const (
	XXH64   BuiltinHash = iota // xxHash64 with seed 0: the default, and the fastest
	Murmur3                    // the first half of MurmurHash3 x64 128 with seed 0
	FNV1a                      // 64-bit FNV-1a, finalised as NewHash does, since alone it spreads short keys badly
	SHA256                     // the first 8 bytes of SHA-256
	MD5                        // the first 8 bytes of MD5
	CRC32                      // CRC-32 (IEEE), finalised as NewHash does; only 2^32 positions
)

var builtinNames = [...]string{XXH64: "xxh64", Murmur3: "murmur3", FNV1a: "fnv1a", SHA256: "sha256", MD5: "md5", CRC32: "crc32"}

// Name returns the lower-case name of h, such as "xxh64".
func (h BuiltinHash) Name() string {
	if int(h) >= len(builtinNames) {
		return fmt.Sprintf("BuiltinHash(%d)", uint8(h))
	}
	return builtinNames[h]
}

// HashNamed returns the built-in hash that has the given name.
func HashNamed(name string) (h BuiltinHash, ok bool) {
	for i, n := range builtinNames {
		if n == name {
			return BuiltinHash(i), true
		}
	}
	return 0, false
}

// Sum64 returns the hash of key. It panics if h is none of the constants; [New] refuses such a hash with [ErrOptions].
func (h BuiltinHash) Sum64(key string) uint64 {
	return h.sum(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// sum is where strings and bytes meet, so that neither is ever copied into the other. Every call below is direct and
// keeps nothing of key, which lets a caller's key stay on its stack.
func (h BuiltinHash) sum(key []byte) uint64 {
	switch h {
	case XXH64:
		return xxhash.Sum64(key)
	case Murmur3:
		return murmur3Sum(key)
	case FNV1a:
		return mix(fnv1aSum(key))
	case SHA256:
		d := sha256.Sum256(key)
		return binary.BigEndian.Uint64(d[:])
	case MD5:
		d := md5.Sum(key)
		return binary.BigEndian.Uint64(d[:])
	case CRC32:
		return mix(uint64(crc32Sum(key)))
	}
	panic("hashring: " + h.Name() + " is not a built-in hash")
}

// NewHash makes a Hash of sum64, under a name that must not be empty. The result is finalised: every bit of what sum64
// returns is mixed into every bit of the position, by a bijection, so that even a function that spreads its results
// badly (a plain FNV-1a, a CRC, a counter) gives shares as even as the theory allows. It panics if sum64 is nil.
//
// The bijection is one step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014). It costs about 2 ns.
func NewHash(name string, sum64 func(key string) uint64) Hash {
	if sum64 == nil {
		panic("hashring: NewHash: sum64 is nil")
	}
	return funcHash{name, sum64}
}

type funcHash struct {
	name  string
	sum64 func(string) uint64
}

func (h funcHash) Name() string            { return h.name }
func (h funcHash) Sum64(key string) uint64 { return mix(h.sum64(key)) }

// gamma is what SplitMix64 adds to its state at each step: 2^64 divided by the golden ratio, made odd.
const gamma = 0x9e3779b97f4a7c15

// mix returns the output of SplitMix64 in state x. It is a bijection.
func mix(x uint64) uint64 {
	x += gamma
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sumOf returns the position that h, or XXH64 if h is nil, gives key. The default is a direct call.
func sumOf(h Hash, key string) uint64 {
	if h == nil {
		return xxhash.Sum64String(key)
	}
	return h.Sum64(key)
}

// sumOfBytes is sumOf for a key in bytes. A Hash of the caller's own gets a copy: handing it the bytes themselves would
// move the key of every caller, of the built-in hashes too, to the heap.
func sumOfBytes(h Hash, key []byte) uint64 {
	if h == nil {
		return xxhash.Sum64(key)
	}
	if b, ok := h.(BuiltinHash); ok {
		return b.sum(key)
	}
	return h.Sum64(string(key))
}

func fnv1aSum(key []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range key {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}

// crc32Sum is crc32.ChecksumIEEE, which calls through a variable and so would let key escape.
func crc32Sum(key []byte) uint32 {
	c := ^uint32(0)
	for _, b := range key {
		c = crc32.IEEETable[byte(c)^b] ^ c>>8
	}
	return ^c
}
