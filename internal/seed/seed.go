// Package seed gives tests their random numbers.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
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

// Rounds returns how often a random test repeats itself: perCommit, or that times the whole number in the environment
// variable HASHRING_SOAK, and a tenth of it, at least one, under -short. It logs that, for make soak to add up.
func Rounds(t testing.TB, perCommit int) int {
	t.Helper()
	n := perCommit * Soak(t)
	if testing.Short() {
		n = max(1, n/10)
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	t.Logf("soak: %d rounds of %s", n, test)
	return n
}

// Soak returns HASHRING_SOAK: how many times the usual work tests are to do, 1 if it is not set.
func Soak(t testing.TB) int {
	t.Helper()
	s := os.Getenv("HASHRING_SOAK")
	if s == "" {
		return 1
	}
	factor, err := strconv.ParseUint(s, 10, 20)
	if err != nil || factor == 0 {
		t.Fatalf("HASHRING_SOAK is %q, not a whole number from 1 to %d", s, 1<<20-1)
	}
	return int(factor)
}
