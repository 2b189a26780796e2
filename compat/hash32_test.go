package compat

import (
	"bytes"
	"hash/crc32"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// The hashes of which the literature has values, or the standard library an implementation.
func TestHashesAgainstOthers(t *testing.T) {
	rng := seed.Random(t)
	for n := range 70 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		key := string(b)
		require.Equal(t, crc32.ChecksumIEEE(b), crc32IEEE(key))
		h := fnv.New32a()
		h.Write(b)
		require.Equal(t, h.Sum32(), fnv1a32(key))
		ascii := bytes.Map(func(r rune) rune { return r & 0x7f }, b) // where a signed byte is a byte
		h = fnv.New32a()
		h.Write(ascii)
		require.Equal(t, h.Sum32(), fnv1a32Hash.sum(string(ascii)))
		h = fnv.New32()
		h.Write(ascii)
		require.Equal(t, h.Sum32(), fnv132Hash.sum(string(ascii)))
	}
	require.Equal(t, uint32(0x31c3), crc16("123456789")&0xffff, "CRC-16/XMODEM")
	require.Equal(t, uint32(0x519e91f5), oneAtATime("The quick brown fox jumps over the lazy dog"))
}

// No length reads beyond its key, and every byte of a key counts.
func TestEveryByteCounts(t *testing.T) {
	hashes := []*hash32{md5Hash, crc32Hash, haproxyHashes["djb2"], haproxyHashes["sdbm"]} // wt6 maps some bytes alike
	for _, h := range libmemcachedHashes {
		hashes = append(hashes, h)
	}
	for _, h := range twemproxyHashes {
		hashes = append(hashes, h)
	}
	for _, h := range hashes {
		if h.name == crc15Hash.name {
			continue // of 15 bits, which collide
		}
		for n := range 70 {
			key := bytes.Repeat([]byte{0x80}, n)
			sum := h.sum(string(key))
			for i := range key {
				for _, c := range []byte{0, 0x7f, 0xff} {
					other := slices.Clone(key)
					other[i] = c
					require.NotEqual(t, sum, h.sum(string(other)), "%s, byte %d of %d", h.name, i, n)
				}
			}
		}
	}
}

// Envoy's MurmurHash2 is libstdc++'s _Hash_bytes with the seed 0xc70f6907, which said this (GCC 12).
func TestMurmur2Wide(t *testing.T) {
	for key, want := range map[string]uint64{
		"":                                  0x553e93901e462a6e,
		"a":                                 0x454ddee488c1ed6b,
		"1234567":                           0x6d7a4e79e8a2cbf6,
		"12345678":                          0x8c5b90a33a04dca5,
		"123456789":                         0xaaeb28d3d5f165c0,
		"0123456789abcdef":                  0x934b0d760642ed86,
		"0123456789abcdef0123456789abcdef0": 0xd2d5a8180b0d0f94,
		"\x80\xff\x7f":                      0x44197f5a291a9f5c,
	} {
		require.Equal(t, want, murmur2Wide(key), "%q", key)
	}
}
