package antientropy

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// The parts of a range follow each other, cover it, and are equal but for one position.
func TestParts(t *testing.T) {
	r := seed.Random(t)
	for range 1000 {
		a := hashring.Range{After: r.Uint64(), Through: r.Uint64()}
		switch r.IntN(4) {
		case 0:
			a.Through = a.After
		case 1:
			a.Through = a.After + 1 + r.Uint64N(300)
		}
		p := atMost(a, 1+r.IntN(maxFanOut))
		require.LessOrEqual(t, uint64(p-1), extent(a), "each part has a position")
		at, small, large := a.After, uint64(math.MaxUint64), uint64(0)
		for i := range p {
			b := part(a, i, p)
			require.Equal(t, at, b.After)
			at = b.Through
			if p > 1 {
				small, large = min(small, b.Through-b.After), max(large, b.Through-b.After)
			}
			start := new(big.Int).SetUint64(extent(a)) // floor(i*w/p), the rule that both sides go by
			start.Add(start, big.NewInt(1)).Mul(start, big.NewInt(int64(i))).Div(start, big.NewInt(int64(p)))
			require.Equal(t, start.Uint64(), offset(a, b.After+1))
		}
		require.Equal(t, a.Through, at)
		if p > 1 {
			require.LessOrEqual(t, large-small, uint64(1))
		}
	}
	require.Equal(t, 3, atMost(hashring.Range{After: math.MaxUint64, Through: 2}, 16))
	require.Equal(t, 1, numParts(hashring.Range{}, 0, 16))
	require.Equal(t, 4, numParts(hashring.Range{}, 33, 16))
	require.Equal(t, 16, numParts(hashring.Range{}, 1000, 16))
	require.Equal(t, 2, numParts(hashring.Range{After: 5, Through: 7}, 1000, 16))
	require.Equal(t, hashring.Range{After: 1 << 62, Through: 1 << 63}, part(hashring.Range{}, 1, 4), "parts of the circle are nodes of the tree")
	require.Equal(t, hashring.Range{After: 3 << 62, Through: 0}, part(hashring.Range{}, 3, 4))
}

// All lists of three ranges with seven borders, against the positions at and beside the borders.
func TestUnion(t *testing.T) {
	borders := []uint64{0, 1, 2, 1 << 40, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	var all []hashring.Range
	for _, after := range borders {
		for _, through := range borders {
			all = append(all, hashring.Range{After: after, Through: through})
		}
	}
	positions := []uint64{3, 1<<40 - 1, 1<<40 + 1, 1<<63 - 1, 1<<63 + 1, math.MaxUint64 - 2}
	positions = append(positions, borders...)
	check := func(ranges ...hashring.Range) {
		given := slices.Clone(ranges)
		got := union(ranges)
		if !slices.Equal(given, ranges) {
			t.Fatalf("union(%v) has changed its argument", given)
		}
		for _, pos := range positions {
			in, times := false, 0
			for _, a := range ranges {
				in = in || a.Contains(pos)
			}
			for _, a := range got {
				if a.Contains(pos) {
					times++
				}
			}
			if in && times != 1 || !in && times != 0 {
				t.Fatalf("union(%v) = %v has %d %d times", ranges, got, pos, times)
			}
		}
		for i, a := range got {
			if len(got) > 1 && (a.Through == got[(i+1)%len(got)].After || i > 0 && a.After <= got[i-1].After) {
				t.Fatalf("union(%v) = %v: not as long as can be, or not in order", ranges, got)
			}
		}
	}
	check()
	for _, a := range all {
		check(a)
		for _, b := range all {
			check(a, b)
			for _, c := range all {
				check(a, b, c)
			}
		}
	}
}
