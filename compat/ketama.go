package compat

import (
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Libketama is the rule of the original ketama library (RJ/ketama, libketama/ketama.c: ketama_create_continuum and
// ketama_get_server, at commit 18cf9a77), on a C library whose qsort is stable, as glibc's is.
//
// The label is the first word of the servers file, verbatim, with the port even where that is 11211. A server of weight w
// of a total of W on n servers has floor(w/W * 40 * n) digests MD5(label-k), each of which gives four points, its
// little-endian words. The share w/W is rounded to a float32, which costs each of 61 equal servers a digest. The first
// point at or above MD5(key)'s first word owns; of equal points that of the first server. Keys are C strings: they end at
// a NUL. Weights are whole.
func Libketama() *Rule {
	return &Rule{
		name: "libketama",
		keys: &hash32{"md5-le32-cstring", func(key string) uint32 {
			key, _, _ = strings.Cut(key, "\x00")
			return md5Word(key)
		}},
		label: func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "libketama", noLimit) },
		total: noLimit,
		plan:  share(libketamaDigests, digestWords("-", 4)),

		circle: circle{narrow: true},
	}
}

// share returns a plan for a rule that scales every server by the total weight: digests says how many one of weight w
// of a total has on n servers.
func share(digests func(w, total float64, n int) uint64, expand expander) func([]server) expander {
	return func(servers []server) expander {
		total := 0.0
		for _, s := range servers {
			total += s.weight
		}
		for i := range servers {
			servers[i].count = digests(servers[i].weight, total, len(servers))
		}
		return expand
	}
}

// Every product below is converted where C stores or rounds it. A conversion also forbids the compiler to fuse the
// product with a sum, which would round once less and give another count.

// libketamaDigests is floorf of a float share times doubles.
func libketamaDigests(w, total float64, n int) uint64 {
	pct := float32(float32(w) / float32(total))
	return uint64(math.Floor(float64(float32(float64(float64(float64(pct)*40) * float64(float32(n)))))))
}

// libmemcachedDigests is in float32 throughout, so its counts are not libketama's.
func libmemcachedDigests(w, total float64, n int) uint64 {
	return uint64(math.Floor(float64(float32(floatShare(w, total, n) + 1e-10))))
}

// twemproxyDigests adds the constant as a double. No weights are known for which that makes a difference.
func twemproxyDigests(w, total float64, n int) uint64 {
	return uint64(math.Floor(float64(float32(float64(floatShare(w, total, n)) + 1e-10))))
}

func floatShare(w, total float64, n int) float32 {
	pct := float32(float32(w) / float32(total))
	return float32(float32(float32(pct*160)/4) * float32(n))
}

// wholeDigests returns the count of digests in whole numbers: each*n*w/total, rounded down.
func wholeDigests(each uint64) func(w, total float64, n int) uint64 {
	return func(w, total float64, n int) uint64 {
		hi, lo := bits.Mul64(each*uint64(n), uint64(w))
		q, _ := bits.Div64(hi, lo, uint64(total)) // does not overflow, as w <= total
		return q
	}
}

// digestWords makes points of the first words, little-endian, of MD5(label, separator, k) for k = 0, 1, 2, ...
func digestWords(separator string, words int) expander {
	return func(s server, emit func(point uint64) bool) bool {
		text := append([]byte(s.label), separator...)
		for k := range s.count {
			digest := md5.Sum(strconv.AppendUint(text, k, 10))
			for i := range words {
				if !emit(uint64(binary.LittleEndian.Uint32(digest[4*i:]))) {
					return false
				}
			}
		}
		return true
	}
}

// joined makes one point of each hash(label, separator, k) for k = 0, 1, 2, ...
func joined(separator string, hash func(string) uint64) expander {
	return func(s server, emit func(point uint64) bool) bool {
		text := append([]byte(s.label), separator...)
		for k := range s.count {
			if !emit(hash(string(strconv.AppendUint(text, k, 10)))) {
				return false
			}
		}
		return true
	}
}

// prefixed makes one point of each hash(k, separator, label) for k = 0, 1, 2, ...
func prefixed(separator string, hash func(string) uint64) expander {
	return func(s server, emit func(point uint64) bool) bool {
		var text []byte
		for k := range s.count {
			text = append(append(strconv.AppendUint(text[:0], k, 10), separator...), s.label...)
			if !emit(hash(string(text))) {
				return false
			}
		}
		return true
	}
}
