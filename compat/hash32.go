package compat

import (
	"hash/crc32"
	"math/bits"

	"github.com/clockwise-go/hashring"
)

// hash32 is a program's 32-bit hash of keys as a [hashring.Hash]: its positions are the hashes, shifted up. Two programs
// that hash alike have the same, under one name, so that their rings can be compared range by range.
type hash32 struct {
	name string
	sum  func(key string) uint32
}

func (h *hash32) Name() string              { return h.name }
func (h *hash32) Sum64(key string) uint64   { return uint64(h.sum(key)) << 32 }
func (h *hash32) point(label string) uint64 { return uint64(h.sum(label)) }

// The hashes that more than one program has.
var (
	md5Hash   = &hash32{"md5-le32", md5Word}
	crc32Hash = &hash32{"crc32-32", crc32IEEE}
)

// md5Word returns the first 4 bytes of the MD5 of key, little-endian: the ketama hash.
func md5Word(key string) uint32 {
	return bits.ReverseBytes32(uint32(hashring.MD5.Sum64(key) >> 32))
}

// crc32IEEE is crc32.ChecksumIEEE for a string.
func crc32IEEE(key string) uint32 {
	c := ^uint32(0)
	for i := range len(key) {
		c = crc32.IEEETable[byte(c)^key[i]] ^ c>>8
	}
	return ^c
}

// fnv1a32 is FNV-1a as published by its authors.
func fnv1a32(key string) uint32 {
	h := uint32(0x811c9dc5)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 0x01000193
	}
	return h
}
