package bench

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// randomKeys returns n random keys of 16 to 24 bytes, and pathKeys n paths of 60, packed as keys out of a request's
// buffer are. They are the same in every run.
func randomKeys(n int) []string {
	rng := rand.New(rand.NewPCG(1, 1))
	return packed(n, func(buf []byte) []byte {
		for range 16 + rng.IntN(9) {
			buf = append(buf, byte('a'+rng.IntN(26)))
		}
		return buf
	})
}

func pathKeys(n int) []string {
	rng := rand.New(rand.NewPCG(2, 2))
	return packed(n, func(buf []byte) []byte {
		return fmt.Appendf(buf, "/v1/tenants/%06d/bucket/%06d/object/%08x/part/%06d", // 60 bytes
			rng.IntN(1e6), rng.IntN(1e6), rng.Uint32(), rng.IntN(1e6))
	})
}

// packed returns n keys that add appends, one behind the other in memory.
func packed(n int, add func(buf []byte) []byte) []string {
	var buf []byte
	ends := make([]int, n)
	for i := range ends {
		buf = add(buf)
		ends[i] = len(buf)
	}
	all, keys, start := string(buf), make([]string, n), 0
	for i, end := range ends {
		keys[i], start = all[start:end], end
	}
	return keys
}

// keySets are the keys of lookups: a power of two, and more than the caches near a core hold.
var keySets = sync.OnceValue(func() map[string][]string {
	return map[string][]string{"random": randomKeys(1 << 16), "path": pathKeys(1 << 16)}
})

// nodeNames returns n names of nodes, others for each set.
func nodeNames(n, set int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("10.%d.%d.%d:6379", set, i/250, i%250)
	}
	return names
}

// joiner is a node that is in no set.
const joiner = "10.255.0.1:6379"
