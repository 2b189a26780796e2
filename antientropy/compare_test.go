package antientropy_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// peer answers from s, as a replica would that was sent the bytes.
func peer(s *antientropy.Set, opts *antientropy.Options) antientropy.Peer {
	return func(_ context.Context, request []byte) ([]byte, error) { return s.Respond(slices.Clone(request), opts) }
}

// difference returns what differs in ranges, by the definition.
func difference(here, there model, ranges []hashring.Range) (d antientropy.Difference) {
	in := func(pos uint64) bool {
		return slices.ContainsFunc(ranges, func(a hashring.Range) bool { return a.Contains(pos) })
	}
	for pos, digest := range here {
		if other, ok := there[pos]; in(pos) && !ok {
			d.Here = append(d.Here, antientropy.Item{Position: pos, Digest: digest})
		} else if in(pos) && other != digest {
			d.Unlike = append(d.Unlike, antientropy.Unlike{Position: pos, Here: digest, There: other})
		}
	}
	for pos, digest := range there {
		if _, ok := here[pos]; in(pos) && !ok {
			d.There = append(d.There, antientropy.Item{Position: pos, Digest: digest})
		}
	}
	slices.SortFunc(d.Here, byPosition)
	slices.SortFunc(d.There, byPosition)
	slices.SortFunc(d.Unlike, unlikeByPosition)
	return d
}

func byPosition(a, b antientropy.Item) int         { return cmp.Compare(a.Position, b.Position) }
func unlikeByPosition(a, b antientropy.Unlike) int { return cmp.Compare(a.Position, b.Position) }

// collected adds up what several comparisons found.
type collected struct{ antientropy.Difference }

func (c *collected) add(d antientropy.Difference) {
	c.Here, c.There, c.Unlike = append(c.Here, d.Here...), append(c.There, d.There...), append(c.Unlike, d.Unlike...)
}

// difference returns the sum as one comparison would have.
func (c *collected) difference() antientropy.Difference {
	slices.SortFunc(c.Here, byPosition)
	slices.SortFunc(c.There, byPosition)
	slices.SortFunc(c.Unlike, unlikeByPosition)
	return c.Difference
}

func requireDifference(t *testing.T, want, got antientropy.Difference) {
	t.Helper()
	require.Equal(t, want.Here, got.Here, "only here")
	require.Equal(t, want.There, got.There, "only there")
	require.Equal(t, want.Unlike, got.Unlike, "unlike")
	require.Empty(t, got.Left)
	require.Equal(t, len(want.Here)+len(want.There)+len(want.Unlike), got.Keys())
}

// pair returns two models with so many items of w, that differ more or less.
func (w world) pair(r *rand.Rand, n int) (here, there model) {
	here, there = model{}, model{}
	share := []float64{0, 0.01, 0.1, 0.5, 1}[r.IntN(5)]
	a := w.arc(r)
	for range n {
		pos, digest := w.pos(r), r.Uint64N(1000)
		here[pos], there[pos] = digest, digest
		if r.IntN(4) == 0 && !a.Contains(pos) || r.Float64() >= share {
			continue
		}
		switch r.IntN(3) {
		case 0:
			delete(here, pos)
		case 1:
			delete(there, pos)
		case 2:
			there[pos]++
		}
	}
	if r.IntN(10) == 0 {
		clear(here)
	}
	if r.IntN(10) == 0 {
		clear(there)
	}
	return here, there
}

func (w world) arcs(r *rand.Rand) (ranges []hashring.Range) {
	for range r.IntN(6) {
		ranges = append(ranges, w.arc(r))
	}
	return ranges
}

func randomOptions(r *rand.Rand) *antientropy.Options {
	if r.IntN(4) == 0 {
		return nil
	}
	return &antientropy.Options{FanOut: 2 + r.IntN(2<<r.IntN(8))%255, MaxReply: 1<<12 + r.IntN(1<<12)}
}

// Compare finds what differs and nothing else, within any arcs of sets of any shape, whatever the options of both sides.
func TestCompareModel(t *testing.T) {
	r := seed.Random(t)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for range rounds(400) {
				here, there := w.pair(r, r.IntN(1<<r.IntN(13)))
				s, other := here.set(), there.set()
				for range 8 {
					ranges := w.arcs(r)
					opts, others := randomOptions(r), randomOptions(r)
					got, err := antientropy.Compare(t.Context(), s, ranges, peer(other, others), opts)
					require.NoError(t, err)
					requireDifference(t, difference(here, there, ranges), got)
				}
				requireSet(t, here, s, w.arc(r))
				requireSet(t, there, other, w.arc(r))
			}
		})
	}
}

// Without ranges there is nothing to ask.
func TestCompareNothing(t *testing.T) {
	d, err := antientropy.Compare(t.Context(), new(antientropy.Set), nil, nil, nil)
	require.NoError(t, err)
	require.Equal(t, antientropy.Difference{}, d)
}

// Compare ends at MaxKeys, says what is left, and goes on from there: what it finds in all is what differs.
func TestCompareInSteps(t *testing.T) {
	r := seed.Random(t)
	for _, w := range worlds {
		for range rounds(30) {
			here, there := w.pair(r, r.IntN(2000))
			s, other := here.set(), there.set()
			first := w.arcs(r)
			opts := randomOptions(r)
			if opts == nil {
				opts = new(antientropy.Options)
			}
			opts.MaxKeys = 1 + r.IntN(300)
			var all collected
			for ranges := first; len(ranges) > 0; {
				d, err := antientropy.Compare(t.Context(), s, ranges, peer(other, nil), opts)
				require.NoError(t, err)
				require.LessOrEqual(t, d.Keys(), opts.MaxKeys)
				if len(d.Left) > 0 {
					require.Equal(t, opts.MaxKeys, d.Keys())
				}
				for i, a := range d.Left {
					require.True(t, i == 0 || d.Left[i-1].Through < a.After, "in order, and not to be merged: %v", d.Left)
				}
				all.add(d)
				ranges = d.Left
			}
			requireDifference(t, difference(here, there, first), all.difference())
		}
	}
}

// When the peer fails, what was found is returned, and what is left to compare; going on finds the rest.
func TestCompareGoesOnAfterFailure(t *testing.T) {
	r := seed.Random(t)
	w := worlds[0]
	for range rounds(50) {
		here, there := w.pair(r, 4000)
		s, other := here.set(), there.set()
		opts := &antientropy.Options{MaxReply: 1 << 12}
		broken := errors.New("broken")
		var all collected
		ranges := []hashring.Range{{}}
		for try := 0; len(ranges) > 0; try++ {
			left := try // answers before it breaks
			d, err := antientropy.Compare(t.Context(), s, ranges, func(ctx context.Context, request []byte) ([]byte, error) {
				if left--; left < 0 {
					return nil, broken
				}
				return other.Respond(request, nil)
			}, opts)
			if err != nil {
				require.ErrorIs(t, err, antientropy.ErrPeer)
				require.ErrorIs(t, err, broken)
				require.NotEmpty(t, d.Left)
				require.Equal(t, try, d.RoundTrips)
			}
			all.add(d)
			ranges = d.Left
		}
		requireDifference(t, difference(here, there, []hashring.Range{{}}), all.difference())
	}
}

// Nothing more is asked once the context is done, and its error is returned.
func TestCompareContext(t *testing.T) {
	s, other := new(antientropy.Set), new(antientropy.Set)
	for i := range uint64(5000) {
		s.Put(mix(i), 1)
		other.Put(mix(i), 1+i/4999)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	d, err := antientropy.Compare(ctx, s, []hashring.Range{{}}, func(got context.Context, request []byte) ([]byte, error) {
		require.Equal(t, ctx, got)
		if calls++; calls == 1 {
			cancel()
		}
		return other.Respond(request, nil)
	}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, calls)
	require.Equal(t, 1, d.RoundTrips)
	require.NotEmpty(t, d.Left)
}
