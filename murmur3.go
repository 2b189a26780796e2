package hashring

import (
	"encoding/binary"
	"math/bits"
)

// murmur3Sum returns the first half of MurmurHash3_x64_128 of key with seed 0, after Austin Appleby's public-domain
// reference, src/MurmurHash3.cpp of smhasher. It reads words as little-endian on every machine, and key does not escape:
// for either reason it is here, and not a library (docs/design-notes.md).
func murmur3Sum(key []byte) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	n := uint64(len(key))
	for ; len(key) >= 16; key = key[16:] {
		h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(key)*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(key[8:])*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte // zero bytes behind the key change nothing
	copy(tail[:], key)
	h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[:])*c1, 31) * c2
	h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[8:])*c2, 33) * c1

	h1, h2 = h1^n, h2^n
	h1 += h2
	h2 += h1
	return murmur3Mix(h1) + murmur3Mix(h2)
}

func murmur3Mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
