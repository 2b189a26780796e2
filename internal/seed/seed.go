// Package seed gives tests their random numbers.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Of returns the seed of a test, which it logs: the same in each run, so that a commit that passed goes on passing. The
// environment variable HASHRING_SEED sets another, or with the value "random" a new one for each test, which is how new
// cases are found: see make soak.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	switch s := os.Getenv("HASHRING_SEED"); s {
	case "":
	case "random":
		seed = rand.Uint64()
	default:
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("HASHRING_SEED is %q, neither a number nor random", s)
		}
	}
	t.Logf("HASHRING_SEED=%d", seed)
	return seed
}

// Random returns random numbers from the seed of a test.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Of(t), 0))
}
