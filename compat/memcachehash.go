package compat

import "math/bits"

// The key hashes of libmemcached (src/libhashkit) and twemproxy (src/hashkit).
//
// Both are written in C with plain chars, which are signed on x86: a byte of 0x80 or more is taken as a negative number
// wherever signed appears below, so keys outside ASCII do not get the hash that the literature has. On machines with
// unsigned chars (ARM) both programs place such keys elsewhere; the rules here are those of x86.
var (
	oneAtATimeHash = &hash32{"one_at_a_time-signed", oneAtATime}
	fnv132Hash     = &hash32{"fnv1_32-signed", func(key string) uint32 { return fnv1(key, 0x811c9dc5, 0x01000193) }}
	fnv1a32Hash    = &hash32{"fnv1a_32-signed", func(key string) uint32 { return fnv1a(key, 0x811c9dc5, 0x01000193) }}
	// The names say 64, but both programs keep the lower 32 bits alone, of the offset and the prime too.
	fnv164Hash  = &hash32{"fnv1_64-low32-signed", func(key string) uint32 { return fnv1(key, 0x84222325, 0x1b3) }}
	fnv1a64Hash = &hash32{"fnv1a_64-low32-signed", func(key string) uint32 { return fnv1a(key, 0x84222325, 0x1b3) }}
	crc15Hash   = &hash32{"crc32-15", func(key string) uint32 { return crc32IEEE(key) >> 16 & 0x7fff }}
	crc16Hash   = &hash32{"crc16-wide", crc16}
	murmur2Hash = &hash32{"murmur2-32", murmur2}
	murmur3Hash = &hash32{"murmur3-32", murmur3}
	jenkinsHash = &hash32{"lookup3-13", lookup3}
	hsiehHash   = &hash32{"hsieh-signed", hsieh}
)

// What the two programs have, by the names that they give.
var (
	libmemcachedHashes = map[string]*hash32{
		"one_at_a_time": oneAtATimeHash, "md5": md5Hash, "crc": crc15Hash, "fnv1_64": fnv164Hash, "fnv1a_64": fnv1a64Hash,
		"fnv1_32": fnv132Hash, "fnv1a_32": fnv1a32Hash, "jenkins": jenkinsHash, "murmur": murmur2Hash, "murmur3": murmur3Hash,
	}
	twemproxyHashes = map[string]*hash32{
		"one_at_a_time": oneAtATimeHash, "md5": md5Hash, "crc16": crc16Hash, "crc32": crc15Hash, "crc32a": crc32Hash,
		"fnv1_64": fnv164Hash, "fnv1a_64": fnv1a64Hash, "fnv1_32": fnv132Hash, "fnv1a_32": fnv1a32Hash,
		"hsieh": hsiehHash, "murmur": murmur2Hash, "jenkins": jenkinsHash,
	}
)

// signed returns a byte as C's signed char, widened.
func signed(b byte) uint32 { return uint32(int32(int8(b))) }

// oneAtATime is Bob Jenkins' one-at-a-time hash, on signed chars.
func oneAtATime(key string) uint32 {
	h := uint32(0)
	for i := range len(key) {
		h += signed(key[i])
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	return h + h<<15
}

func fnv1(key string, offset, prime uint32) uint32 {
	h := offset
	for i := range len(key) {
		h = h*prime ^ signed(key[i])
	}
	return h
}

func fnv1a(key string, offset, prime uint32) uint32 {
	h := offset
	for i := range len(key) {
		h = (h ^ signed(key[i])) * prime
	}
	return h
}

// crc16 is CRC-16/XMODEM (polynomial 0x1021), but kept in 32 bits that are never masked: what is shifted out of the
// lower 16 stays.
func crc16(key string) uint32 {
	c := uint32(0)
	for i := range len(key) {
		x := (c>>8 ^ uint32(key[i])) & 0xff << 8
		for range 8 {
			if x <<= 1; x > 0xffff {
				x = x&0xffff ^ 0x1021
			}
		}
		c = c<<8 ^ x
	}
	return c
}

func word32[S string | []byte](s S, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// rest returns the up to 3 last bytes of key from i as a little-endian number.
func rest(key string, i int) uint32 {
	x := uint32(0)
	for j := len(key) - 1; j >= i; j-- {
		x = x<<8 | uint32(key[j])
	}
	return x
}

// murmur2 is MurmurHash2 with the seed 0xdeadbeef times the length.
func murmur2(key string) uint32 {
	const m = 0x5bd1e995
	h := 0xdeadbeef*uint32(len(key)) ^ uint32(len(key))
	i := 0
	for ; i+4 <= len(key); i += 4 {
		k := word32(key, i) * m
		h = h*m ^ (k^k>>24)*m
	}
	if i < len(key) {
		h = (h ^ rest(key, i)) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// murmur3 is MurmurHash3 x86 32 with the seed 0xdeadbeef times the length.
func murmur3(key string) uint32 {
	scramble := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
	h := 0xdeadbeef * uint32(len(key))
	i := 0
	for ; i+4 <= len(key); i += 4 {
		h = bits.RotateLeft32(h^scramble(word32(key, i)), 13)*5 + 0xe6546b64
	}
	h ^= scramble(rest(key, i)) ^ uint32(len(key))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// lookup3 is the hash "hashlittle" of Bob Jenkins' lookup3 with the initial value 13.
func lookup3(key string) uint32 {
	a := 0xdeadbeef + uint32(len(key)) + 13
	b, c := a, a
	if key == "" {
		return c
	}
	for ; len(key) > 12; key = key[12:] {
		a, b, c = a+word32(key, 0), b+word32(key, 4), c+word32(key, 8)
		a = (a - c) ^ bits.RotateLeft32(c, 4)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 6)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 8)
		b += a
		a = (a - c) ^ bits.RotateLeft32(c, 16)
		c += b
		b = (b - a) ^ bits.RotateLeft32(a, 19)
		a += c
		c = (c - b) ^ bits.RotateLeft32(b, 4)
		b += a
	}
	var last [12]byte
	copy(last[:], key)
	a, b, c = a+word32(last[:], 0), b+word32(last[:], 4), c+word32(last[:], 8)
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	return (c ^ b) - bits.RotateLeft32(b, 24)
}

// hsieh is Paul Hsieh's SuperFastHash from the initial value 0. The last byte of a tail of 3 is signed, but not that of 1.
func hsieh(key string) uint32 {
	pair := func(i int) uint32 { return uint32(key[i]) | uint32(key[i+1])<<8 }
	h, i := uint32(0), 0
	for ; i+4 <= len(key); i += 4 {
		h += pair(i)
		h = h<<16 ^ (pair(i+2)<<11 ^ h)
		h += h >> 11
	}
	switch len(key) - i {
	case 3:
		h += pair(i)
		h ^= h << 16
		h ^= signed(key[i+2]) << 18
		h += h >> 11
	case 2:
		h += pair(i)
		h ^= h << 11
		h += h >> 17
	case 1:
		h += uint32(key[i])
		h ^= h << 10
		h += h >> 1
	}
	h ^= h << 3
	h += h >> 5
	h ^= h << 4
	h += h >> 17
	h ^= h << 25
	return h + h>>6
}
