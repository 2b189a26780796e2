package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// TestShelf compares what a shelf says of every range between some positions, those at the ends of the circle too, with
// Range.Contains on each of its items.
func TestShelf(t *testing.T) {
	positions := []uint64{0, 1, 2, 1 << 62, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	rng := seed.Random(t)
	for range 50 {
		var s shelf
		model := make(map[string]item)
		for range rng.IntN(40) {
			pos := positions[rng.IntN(len(positions))]
			it := item{pos, fmt.Sprint(pos, " ", rng.IntN(3)), fmt.Sprint(rng.Uint64())}
			s.put(it)
			model[it.key] = it
		}
		require.Len(t, s, len(model))
		for key, it := range model {
			value, ok := s.get(it.pos, key)
			require.True(t, ok)
			require.Equal(t, it.value, value)
			_, ok = s.get(it.pos, key+" is not there")
			require.False(t, ok)
			_, ok = s.get(it.pos+1, key)
			require.False(t, ok)
		}
		for _, after := range positions {
			for _, through := range positions {
				a := hashring.Range{After: after, Through: through}
				parts := s.in(a)
				in := slices.Concat(parts[:]...)
				require.Equal(t, len(in), s.count(a))
				for i, it := range in { // counted from the start of a they ascend
					require.True(t, a.Contains(it.pos))
					require.True(t, i == 0 || in[i-1].pos-after-1 <= it.pos-after-1, "clockwise")
				}
				var out []string
				for key, it := range model {
					if !a.Contains(it.pos) {
						out = append(out, key)
					}
				}
				require.Equal(t, len(model), len(in)+len(out))

				rest := slices.Clone(s)
				require.Equal(t, len(in), rest.drop(a))
				require.Len(t, rest, len(out))
				for _, key := range out {
					_, ok := rest.get(model[key].pos, key)
					require.True(t, ok)
				}
				require.Zero(t, rest.count(a))
				require.Equal(t, len(in), rest.add(parts))
				require.Equal(t, s, rest, "dropped and added again, all are where they were")
			}
		}
	}
}
