package hashring_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// Contains is what the three cases of the doc comment say, and Share counts the positions.
func TestRange(t *testing.T) {
	ends := []uint64{0, 1, 2, 3, 1 << 63, 1<<63 + 1, math.MaxUint64 - 2, math.MaxUint64 - 1, math.MaxUint64}
	for _, after := range ends {
		for _, through := range ends {
			a := hashring.Range{After: after, Through: through}
			for _, pos := range ends {
				want := after < pos && pos <= through
				switch {
				case after > through:
					want = pos > after || pos <= through
				case after == through:
					want = true
				}
				require.Equal(t, want, a.Contains(pos), "%v contains %d", a, pos)
			}
			width := new(big.Int).Sub(new(big.Int).SetUint64(through), new(big.Int).SetUint64(after))
			if width.Sign() <= 0 {
				width.Add(width, circle)
			}
			require.Zero(t, width.Cmp(exact(a.Share())), "%v", a)

			var n, count uint64
			for first, last := range a.Intervals() {
				require.LessOrEqual(t, first, last)
				require.Equal(t, n == 0, first == after+1, "%v: clockwise, from the first position on", a)
				require.True(t, a.Contains(first) && a.Contains(last))
				n, count = n+1, count+last-first+1
			}
			require.Equal(t, a.Share().Positions, count, "%v: all, and none twice", a) // of the whole circle 0
			require.LessOrEqual(t, n, uint64(2))
			require.Equal(t, n == 2, after >= through && after != math.MaxUint64, "%v", a)
			for range a.Intervals() {
				break // and no panic
			}
		}
	}
}

var circle = new(big.Int).Lsh(big.NewInt(1), 64)

// exact returns s as one number.
func exact(s hashring.Share) *big.Int {
	n := new(big.Int).SetUint64(s.Circles)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(s.Positions))
}

func TestShare(t *testing.T) {
	rng := seed.Random(t)
	pick := func() hashring.Share {
		return hashring.Share{Circles: rng.Uint64N(3), Positions: []uint64{0, 1, math.MaxUint64, 1 << 63, rng.Uint64()}[rng.IntN(5)]}
	}
	for range seed.Rounds(t, 1000) {
		a, b := pick(), pick()
		require.Zero(t, new(big.Int).Add(exact(a), exact(b)).Cmp(exact(a.Add(b))))
		require.Equal(t, exact(a).Cmp(exact(b)), a.Compare(b))
		want, _ := new(big.Float).SetInt(exact(a)).Float64()
		require.InEpsilon(t, want/(1<<64)+1, a.Fraction()+1, 1e-15)
	}
	require.Equal(t, 1.0, hashring.Share{Circles: 1}.Fraction())
	require.Equal(t, 0x1p-64, hashring.Share{Positions: 1}.Fraction())
}

// sampled returns positions at which the owners in any of the rings may change, and some between.
func sampled(rng *rand.Rand, n int, rings ...*hashring.Ring) []uint64 {
	at := []uint64{0, math.MaxUint64}
	for _, r := range rings {
		for token := range r.Tokens() {
			at = append(at, token, token+1)
		}
	}
	for range n {
		at = append(at, rng.Uint64())
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// requireClockwise checks that ranges are disjoint and in the order that is promised, and that no two of them that meet
// should be one: same says whether those with two indexes are alike.
func requireClockwise(t *testing.T, ranges []hashring.Range, same func(i, j int) bool) {
	t.Helper()
	for i, a := range ranges {
		if i+1 < len(ranges) {
			require.LessOrEqual(t, a.After, a.Through, "only the last goes round the end: %v", ranges)
			require.NotEqual(t, a.After, a.Through, "the whole circle leaves room for no other: %v", ranges)
			require.True(t, a.Through <= ranges[i+1].After, "%v", ranges)
		} else if i > 0 && a.After > a.Through {
			require.True(t, a.Through <= ranges[0].After, "the last goes beyond the first: %v", ranges)
		}
		if next := (i + 1) % len(ranges); next != i && a.Through == ranges[next].After {
			require.False(t, same(i, next), "%v and %v are one", a, ranges[next])
		}
	}
}

// Every position is in a range of its owner, and in none of another node; the ranges are as long as can be.
func TestRanges(t *testing.T) {
	rng := seed.Random(t)
	for _, w := range worlds() {
		for range 20 {
			var nodes []hashring.Node
			for i := range rng.IntN(6) {
				nodes = append(nodes, w.node(rng, fmt.Sprint("n", i)))
			}
			r := mustNew(t, nodes, &w.opts)
			at := sampled(rng, 20, r)
			all := make(map[string][]hashring.Range)
			for a, owner := range r.AllRanges() {
				all[owner] = append(all[owner], a)
			}
			for _, n := range r.Nodes() {
				ranges := slices.Collect(r.Ranges(n.Name))
				require.Equal(t, all[n.Name], ranges)
				requireClockwise(t, ranges, func(i, j int) bool { return true })
				for _, pos := range at {
					owner, _ := r.OwnerAt(pos)
					require.Equal(t, owner == n.Name, slices.ContainsFunc(ranges, func(a hashring.Range) bool { return a.Contains(pos) }))
				}
			}
		}
	}
	r := mustNew(t, hashring.Nodes("a", "b"), nil)
	require.Empty(t, slices.Collect(r.Ranges("c")))
	require.Empty(t, slices.Collect(new(hashring.Ring).Ranges("")))
	whole := slices.Collect(mustNew(t, hashring.Nodes("a"), nil).Ranges("a"))
	require.Len(t, whole, 1)
	require.Equal(t, hashring.Range{After: math.MaxUint64, Through: math.MaxUint64}, whole[0], "wherever its tokens are")
	for range r.Ranges("a") {
		break // and no panic
	}
	for range r.AllRanges() {
		break
	}
	for range new(hashring.Ring).AllRanges() {
		require.Fail(t, "nothing owns a range")
	}
}

// A token in the middle of the largest range leaves its owner half of it, and takes nothing from anybody else.
func TestSplitLargest(t *testing.T) {
	rng := seed.Random(t)
	widest := func(r *hashring.Ring, name string) (most uint64, found bool) { // minus 1, as the circle has 2^64
		tokens := []uint64{}
		for token := range r.Tokens() {
			tokens = append(tokens, token)
		}
		for i, token := range tokens {
			after := tokens[(i+len(tokens)-1)%len(tokens)]
			if owner, _ := r.OwnerAt(token); (name == "" || owner == name) && (i == 0 || after != token) {
				most, found = max(most, token-after-1), true
			}
		}
		return most, found && most > 0
	}
	requireHalf := func(r *hashring.Ring, name string, token uint64, ok bool) {
		t.Helper()
		most, found := widest(r, name)
		require.Equal(t, found, ok)
		if !ok {
			require.Zero(t, token)
			return
		}
		loser, _ := r.OwnerAt(token)
		if name != "" {
			require.Equal(t, name, loser)
		}
		joined := mustWith(t, r, hashring.Node{Name: "0 comes first in the order of names", Tokens: []uint64{token}})
		moves, err := hashring.Diff(r, joined)
		require.NoError(t, err)
		got := slices.Collect(moves)
		require.Len(t, got, 1)
		require.Equal(t, loser, got[0].From)
		require.Equal(t, token, got[0].Through)
		require.Equal(t, most/2+1, got[0].Share().Positions, "half, the middle one included")
		for have := range r.Tokens() {
			require.NotEqual(t, have, token)
		}
	}
	for range seed.Rounds(t, 300) {
		var nodes []hashring.Node
		for i := range 1 + rng.IntN(4) {
			n := hashring.Node{Name: fmt.Sprint("n", i)}
			for range 1 + rng.IntN(3) {
				token := []uint64{rng.Uint64(), rng.Uint64N(8), -rng.Uint64N(8)}[rng.IntN(3)]
				if !slices.Contains(n.Tokens, token) {
					n.Tokens = append(n.Tokens, token)
				}
			}
			nodes = append(nodes, n)
		}
		r := mustNew(t, nodes, nil)
		token, ok := r.SplitLargest()
		requireHalf(r, "", token, ok)
		for _, n := range nodes {
			token, ok := r.SplitLargestOf(n.Name)
			requireHalf(r, n.Name, token, ok)
		}
		_, ok = r.SplitLargestOf("nobody")
		require.False(t, ok)
	}
	_, ok := new(hashring.Ring).SplitLargest()
	require.False(t, ok)
	token, ok := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{7}}}, nil).SplitLargest()
	require.True(t, ok)
	require.Equal(t, uint64(7+1<<63), token, "the other side of the circle")
	even := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{0, 1 << 62, 2 << 62, 3 << 62}}}, nil)
	token, _ = even.SplitLargest()
	require.Equal(t, uint64(7<<61), token, "of equal ones the range of the first token, which goes round the end")
}
