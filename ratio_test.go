package hashring_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// What is fast stays fast: ratios of times within this process, which hold on any machine, with limits that a change of
// the machine or the compiler does not reach and a slip does: an index that does not narrow the search, a walk that
// allocates, a change that does more than go over the tokens a few times. Benchmarks say what the ratios are.
func TestRatios(t *testing.T) {
	skipWhereTimesMeanNothing(t)
	for _, nodes := range []int{10, 100} {
		r := mustNew(t, benchNodes(nodes, false), nil)
		search := sortSearch(r)
		owner := lookups(func(key string) int { owner, _ := r.Owner(key); return len(owner) })
		searching := lookups(func(key string) int { return len(search(r.Position(key))) })
		replicas := lookups(func(key string) int {
			var buf [3]string
			return len(r.AppendReplicas(buf[:0], key, 3))
		})
		requireRatio(t, 0.5, owner, searching, "Owner / sort.Search, %d nodes", nodes)
		requireRatio(t, 2.7, replicas, owner, "AppendReplicas of 3 / Owner, %d nodes", nodes)
	}

	// This ring is larger than the cache of one core, so its speed depends on who else uses the machine, but for that of
	// a sixteenth of the circle.
	r := mustNew(t, benchNodes(1000, false), nil)
	search := sortSearch(r)
	owner := lookups(func(key string) int { owner, _ := r.OwnerAt(r.Position(key) >> 4); return len(owner) })
	searching := lookups(func(key string) int { return len(search(r.Position(key) >> 4)) })
	requireRatio(t, 0.5, owner, searching, "OwnerAt / sort.Search, 1000 nodes")

	tokens, owners := make([]uint64, r.NumTokens()), make([]uint32, r.NumTokens())
	with := func(int) { mustWith(t, r, hashring.Node{Name: "joiner"}) }
	copying := func(int) {
		t, o := slices.Clone(tokens), slices.Clone(owners)
		sink.Add(int64(t[0]) + int64(o[0]))
	}
	// By fastest rounds a change takes about 6.5 times as long as such a copy, and one that makes the index anew 25 times.
	requireRatio(t, 10, with, copying, "With one node / copying 12 bytes a token, %d tokens", r.NumTokens())
}

// A ring of many tokens retains 12 bytes for a token and its owner, and 5 to 11 for the index. Its nodes add some, and no list may be left with room that it does not need.
func TestBytesPerToken(t *testing.T) {
	skipWhereTimesMeanNothing(t)
	nodes := benchNodes(1000, false)
	before := heap()
	r := mustNew(t, nodes, nil)
	built := heap()
	s := mustWith(t, r, hashring.Node{Name: "joiner"})
	changed := heap()
	require.Less(t, float64(built-before)/float64(r.NumTokens()), 26.0, "after New")
	require.Less(t, float64(changed-built)/float64(s.NumTokens()), 26.0, "after With")
	runtime.KeepAlive(r)
	runtime.KeepAlive(s)
}

// requireRatio requires that a round of a takes at most limit times the time of one of b. Rounds take turns, so that both
// see the same machine, and the fastest of each counts: what disturbs a process only ever slows it. It goes on for as
// long as the ratio is over the limit, up to a number of rounds in which some are undisturbed on a busy machine too.
func requireRatio(t *testing.T, limit float64, a, b func(round int), format string, args ...any) {
	t.Helper()
	const atLeast, atMost = 8, 100
	name, ratio := fmt.Sprintf(format, args...), 0.0
	fastestA, fastestB := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for round := range atMost {
		fastestA, fastestB = min(fastestA, timed(a, round)), min(fastestB, timed(b, round))
		ratio = float64(fastestA) / float64(fastestB)
		if round+1 >= atLeast && ratio <= limit {
			break
		}
	}
	t.Logf("%s: %.2f, at most %.2f", name, ratio, limit)
	require.LessOrEqual(t, ratio, limit, name)
}

func timed(f func(round int), round int) time.Duration {
	start := time.Now()
	f(round)
	return time.Since(start)
}

// lookups returns a round of lookups, of other keys than the round before, so that no branch of it is learnt by heart.
func lookups(lookup func(key string) int) func(round int) {
	const n = 1 << 13
	return func(round int) {
		s := 0
		for i := range n {
			s += lookup(key(round*n + i))
		}
		sink.Add(int64(s))
	}
}

// sortSearch is OwnerAt of r by sort.Search.
func sortSearch(r *hashring.Ring) func(pos uint64) string {
	var tokens []uint64
	var owners []int
	for token, i := range r.TokensFrom(0) {
		tokens, owners = append(tokens, token), append(owners, i)
	}
	return func(pos uint64) string {
		at := sort.Search(len(tokens), func(k int) bool { return tokens[k] >= pos })
		if at == len(tokens) {
			at = 0
		}
		return r.Name(owners[at])
	}
}

// skipWhereTimesMeanNothing skips what compares the cost of two pieces of code where neither is what the compiler makes
// of it for a processor that it knows, or where time is short.
func skipWhereTimesMeanNothing(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("takes a second or two")
	case runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64":
		t.Skip("the limits are those of 64-bit processors with a fast multiplication")
	case testing.CoverMode() != "":
		t.Skip("coverage counts statements")
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" || s.Key == "-gcflags" {
				t.Skip("built with", s.Key)
			}
		}
	}
	// In QEMU's user mode /proc/self is made to look like the program; this one is not.
	if exe, err := os.Readlink("/proc/thread-self/exe"); err == nil && strings.Contains(exe, "qemu") {
		t.Skip("emulated")
	}
}
