package antientropy_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/stretchr/testify/require"
)

// Sets that are written to while they are compared, by both sides at once: what is not touched is reported as it is, and
// nothing else but what is touched.
func TestCompareDuringWrites(t *testing.T) {
	here, there := filled(20_000), filled(20_000)
	scattered(100)(there)
	touched := func(pos uint64) bool { return pos&1 == 1 }
	for i := range uint64(20_000) { // even positions are left alone
		for _, s := range []*antientropy.Set{here, there} {
			if pos := mix(i); touched(pos) {
				s.Delete(pos)
			}
		}
	}
	var want []antientropy.Unlike
	for i := range uint64(100) {
		if pos := mix(i); !touched(pos) {
			want = append(want, antientropy.Unlike{Position: pos, Here: i, There: ^i})
		}
	}
	slices.SortFunc(want, unlikeByPosition)

	var wg sync.WaitGroup
	for k, s := range []*antientropy.Set{here, there} {
		wg.Go(func() {
			for i := range uint64(3000) {
				s.Put(mix(i+uint64(k))|1, i)
				s.Delete(mix(i/2) | 1)
			}
		})
	}
	for _, pair := range [][2]*antientropy.Set{{here, there}, {there, here}} {
		wg.Go(func() {
			for range 4 {
				opts := &antientropy.Options{MaxReply: 1 << 14}
				d, err := antientropy.Compare(context.Background(), pair[0], []hashring.Range{{}}, peer(pair[1], nil), opts)
				if err != nil {
					t.Error(err)
					return
				}
				got := slices.DeleteFunc(d.Unlike, func(u antientropy.Unlike) bool { return touched(u.Position) })
				if pair[0] == there {
					for i := range got {
						got[i].Here, got[i].There = got[i].There, got[i].Here
					}
				}
				if !slices.Equal(want, got) {
					t.Errorf("want %d, got %d", len(want), len(got))
				}
				for _, it := range slices.Concat(d.Here, d.There) {
					if !touched(it.Position) {
						t.Errorf("%d differs on no side", it.Position)
					}
				}
			}
		})
	}
	wg.Wait()
}

// The loop over Items may change the set: all items that are there throughout are yielded once, in order.
func TestItemsWhileTheSetChanges(t *testing.T) {
	s := filled(5000)
	want := slices.Collect(s.Items(hashring.Range{After: 99}))
	var got []antientropy.Item
	i := uint64(0)
	for it := range s.Items(hashring.Range{After: 99}) {
		if it.Digest < 5000 {
			got = append(got, it)
		}
		s.Delete(it.Position)
		s.Put(mix(i)^1, 10_000+i)
		i++
	}
	require.Equal(t, want, got)
	for range s.Items(hashring.Range{}) {
		break // the iterator stops
	}
}

// A peer gets the context, and may be asked for a long time: no lock is held meanwhile.
func TestNoLockWhileThePeerIsWaitedFor(t *testing.T) {
	here, there := filled(1000), filled(1000)
	scattered(10)(there)
	_, err := antientropy.Compare(t.Context(), here, []hashring.Range{{}}, func(_ context.Context, request []byte) ([]byte, error) {
		here.Put(1, 1) // would wait for ever
		here.Delete(1)
		return there.Respond(request, nil)
	}, nil)
	require.NoError(t, err)
}

// Neither Fingerprint nor a Put in the place of another allocates.
func TestNoAllocs(t *testing.T) {
	s := filled(10_000)
	sum := uint64(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		f, n := s.Fingerprint(hashring.Range{After: 1 << 60, Through: 5})
		sum += f + uint64(n)
	}))
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Put(mix(5), sum) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Delete(2) }))
}
