package compat

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// searched is what a program does with its own points: it looks at all of them. points[i] are those of server i.
func searched(points [][]uint64, c circle, lastWins bool, hash uint64) int {
	mask := ^uint64(0)
	if c.narrow {
		mask = 1<<32 - 1
	}
	best, owner := uint64(0), -1
	for i := range points {
		for _, p := range points[i] {
			var far uint64 // how far clockwise from hash
			switch up, down := (p-hash)&mask, (hash-p)&mask; {
			case c.nearest && down <= up:
				far = 2 * down
			case c.nearest:
				far = 2*up + 1 // of two as far the lower is nearer
			case c.strict:
				far = (p - hash - 1) & mask
			default:
				far = up
			}
			if owner < 0 || far < best || far == best && lastWins {
				best, owner = far, i
			}
		}
	}
	return owner
}

// On circles with few points, some at the ends and some of two servers, the ring's one search over tokens finds what each
// program's search finds over points, for every hash next to a point or halfway between two.
func TestCirclesBecomeTokens(t *testing.T) {
	rng := seed.Random(t)
	for _, c := range []circle{
		{}, {narrow: true}, {strict: true}, {narrow: true, strict: true}, {narrow: true, nearest: true},
	} {
		for _, lastWins := range []bool{false, true} {
			top, shift := ^uint64(0), 0
			if c.narrow {
				top, shift = 1<<32-1, 32
			}
			for range seed.Rounds(t, 300) {
				points := make([][]uint64, 1+rng.IntN(4))
				var all []uint64
				for i := range points {
					for range 1 + rng.IntN(4) {
						p := rng.Uint64() & top
						switch rng.IntN(5) {
						case 0:
							p = rng.Uint64N(5)
						case 1:
							p = top - rng.Uint64N(5)
						}
						points[i], all = append(points[i], p), append(all, p)
					}
				}
				if c.nearest { // whose points are distinct
					seen := make(map[uint64]bool)
					for i := range points {
						for j, p := range points[i] {
							for seen[p] {
								p = (p + 1) & top
							}
							seen[p], points[i][j] = true, p
							all = append(all, p)
						}
					}
				}
				r := &Rule{
					name: "points", keys: hashring.XXH64, circle: c, lastWins: lastWins,
					label: func(n hashring.Node) (string, error) { return n.Name, nil },
					plan: func([]server) expander {
						return func(s server, emit func(uint64) bool) bool {
							for _, p := range points[s.node] {
								if !emit(p) {
									return false
								}
							}
							return true
						}
					},
				}
				var nodes []hashring.Node
				for i := range points {
					nodes = append(nodes, hashring.Node{Name: strconv.Itoa(i)})
				}
				ring, err := hashring.New(nodes, &hashring.Options{Placement: r})
				require.NoError(t, err)
				hashes := []uint64{0, 1, top - 1, top, top / 2}
				for _, p := range all {
					hashes = append(hashes, p-2, p-1, p, p+1, p+2)
					q := all[rng.IntN(len(all))]
					hashes = append(hashes, p+(q-p)&top/2, p+(q-p)&top/2+1)
				}
				for _, h := range hashes {
					h &= top
					owner, _ := ring.OwnerAt(h << shift)
					want := strconv.Itoa(searched(points, c, lastWins, h))
					require.Equal(t, want, owner, "%+v, last wins: %t, hash %d, points %v", c, lastWins, h, points)
				}
			}
		}
	}
}

// The counts of digests by floating point, at every number of equal servers: where they are one short is pinned, and
// follows from nothing but the order of roundings.
func TestDigestsOfEqualServers(t *testing.T) {
	short := func(digests func(w, total float64, n int) uint64, upTo int) (at []int) {
		for n := 1; n <= upTo; n++ {
			switch got := digests(1, float64(n), n); got {
			case 40:
			case 39:
				at = append(at, n)
			default:
				require.Fail(t, fmt.Sprintf("%d digests of %d equal servers", got, n))
			}
		}
		return at
	}
	require.Equal(t, []int{61, 122, 237, 244}, short(libketamaDigests, 400))
	require.Equal(t, []int{25, 47, 50, 55, 61, 71, 94, 100, 107, 109, 110, 115, 122}, short(libmemcachedDigests, 122))
	require.Equal(t, short(libmemcachedDigests, 400), short(twemproxyDigests, 400))
	require.Empty(t, short(wholeDigests(40), 400))
}

// Whole counts are exact where the product does not fit into 64 bits.
func TestWholeDigestsDoNotOverflow(t *testing.T) {
	require.Equal(t, uint64(maxCount)*1000, wholeDigests(maxCount)(maxUint32, maxUint32, 1000))
	require.Equal(t, uint64(maxCount)*1000/2, wholeDigests(maxCount)(1<<52, 1<<53, 1000))
	require.Equal(t, uint64(0), wholeDigests(40)(1, 1<<53, 4))
}

// times64 and times32 multiply in a call of their own, which no compiler can fuse with what is done with the result.
//
//go:noinline
func times64(x, y float64) float64 { return x * y }

//go:noinline
func times32(x, y float32) float32 { return x * y }

// No product is fused with a sum, on any machine: the counts are those of every operation rounded for itself. Some of the
// weights are such that one fused operation would give another count.
func TestCountsAreNotFused(t *testing.T) {
	rng := seed.Random(t)
	sensitive := 0
	for range seed.Rounds(t, 30000) {
		servers := make([]server, 1+rng.IntN(20))
		total := 0.0
		for i := range servers {
			servers[i].weight = float64(1 + rng.IntN(100))
			total += servers[i].weight
		}
		least := math.Inf(1)
		for _, s := range servers {
			least = min(least, s.weight/total)
		}
		scale := min(math.Ceil(times64(least, 1024))/least, 4096)
		counts := func(add func(share, target float64) float64) (counts []uint64) {
			points, target := 0.0, 0.0
			for _, s := range servers {
				n := uint64(0)
				for target = add(s.weight/total, target); points < target; points++ {
					n++
				}
				counts = append(counts, n)
			}
			return counts
		}
		want := counts(func(share, target float64) float64 { return target + times64(scale, share) })
		if !slices.Equal(want, counts(func(share, target float64) float64 { return math.FMA(scale, share, target) })) {
			sensitive++
		}
		runningSum(1024, 4096, nil)(servers)
		for i, s := range servers {
			require.Equal(t, want[i], s.count, "server %d of %v", i, servers)
		}

		w, n := servers[0].weight, len(servers)
		pct := float32(w) / float32(total)
		product := times32(times32(pct, 160)/4, float32(n))
		require.Equal(t, uint64(math.Floor(float64(product+1e-10))), libmemcachedDigests(w, total, n))
		require.Equal(t, uint64(math.Floor(float64(float32(float64(product)+1e-10)))), twemproxyDigests(w, total, n))
		exact := times64(times64(float64(pct), 40), float64(n))
		require.Equal(t, uint64(math.Floor(float64(float32(exact)))), libketamaDigests(w, total, n))
	}
	t.Logf("%d sets would have other counts with a fused operation", sensitive)
	require.NotZero(t, sensitive)
}
