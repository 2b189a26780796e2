package antientropy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// rounds returns n, or less under -short.
func rounds(n int) int {
	if testing.Short() {
		return max(1, n/20)
	}
	return n
}

// model is a set as its definition has it.
type model map[uint64]uint64

// items returns the items in a, clockwise, by looking at each position.
func (m model) items(a hashring.Range) []antientropy.Item {
	items := []antientropy.Item{}
	for pos, digest := range m {
		if a.Contains(pos) {
			items = append(items, antientropy.Item{Position: pos, Digest: digest})
		}
	}
	slices.SortFunc(items, func(x, y antientropy.Item) int {
		if x.Position-a.After-1 < y.Position-a.After-1 {
			return -1
		}
		return 1
	})
	return items
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fingerprint is what docs/antientropy.md says it is.
func fingerprint(items []antientropy.Item) (sum uint64) {
	for _, it := range items {
		sum += mix(mix(it.Position+0x9e3779b97f4a7c15) + it.Digest + 0x9e3779b97f4a7c15)
	}
	return sum
}

func (m model) set() *antientropy.Set {
	s := new(antientropy.Set)
	for pos, digest := range m {
		s.Put(pos, digest)
	}
	return s
}

// world is where positions may be. In small and clustered ones, arcs begin and end at items, and leaves are deep.
type world struct {
	name string
	pos  func(*rand.Rand) uint64
}

var worlds = []world{
	{"uniform", (*rand.Rand).Uint64},
	{"32 bits", func(r *rand.Rand) uint64 { return uint64(r.Uint32()) }},
	{"at the ends", func(r *rand.Rand) uint64 { return uint64(r.IntN(600)) - 300 }},
	{"few", func(r *rand.Rand) uint64 { return uint64(r.IntN(100)) << 57 }},
	{"clusters", func(r *rand.Rand) uint64 { return mix(uint64(r.IntN(20)))&^0xff | uint64(r.IntN(256)) }},
}

// arc returns a range of m's world: any, one that begins or ends at items, a short one, or the whole circle.
func (w world) arc(r *rand.Rand) hashring.Range {
	a := hashring.Range{After: w.pos(r), Through: w.pos(r)}
	switch r.IntN(8) {
	case 0:
		a.Through = a.After
	case 1:
		a.After--
	case 2:
		a.Through = a.After + uint64(r.IntN(5))
	case 3:
		a = hashring.Range{After: r.Uint64(), Through: r.Uint64()}
	case 4:
		a.After = []uint64{0, math.MaxUint64, 1 << 63}[r.IntN(3)]
	case 5:
		a.Through = []uint64{0, math.MaxUint64, 1 << 63}[r.IntN(3)]
	}
	return a
}

// requireSet checks all that s says of the ranges against m.
func requireSet(t *testing.T, m model, s *antientropy.Set, ranges ...hashring.Range) {
	t.Helper()
	require.Equal(t, len(m), s.Len())
	for _, a := range ranges {
		want := m.items(a)
		sum, n := s.Fingerprint(a)
		require.Equal(t, len(want), n, "%+v", a)
		require.Equal(t, fingerprint(want), sum, "%+v", a)
		if got := slices.AppendSeq([]antientropy.Item{}, s.Items(a)); !slices.Equal(want, got) {
			require.Equal(t, want, got, "%+v", a)
		}
	}
}

// A set does what the model does, whatever is put and deleted, while it grows and while it shrinks to nothing.
func TestSetModel(t *testing.T) {
	r := seed.Random(t)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for range rounds(4) {
				m, s := model{}, new(antientropy.Set)
				known := []uint64{}
				grow := 0.8
				for step := range 6000 {
					if step == 2500 {
						grow = 0.1
					}
					pos := w.pos(r)
					if len(known) > 0 && r.IntN(2) == 0 {
						pos = known[r.IntN(len(known))]
					}
					if r.Float64() < grow {
						digest := r.Uint64N(3)
						m[pos] = digest
						s.Put(pos, digest)
						if r.IntN(4) == 0 {
							s.Put(pos, digest)
						}
						known = append(known, pos)
					} else {
						_, want := m[pos]
						delete(m, pos)
						require.Equal(t, want, s.Delete(pos))
						require.False(t, s.Delete(pos))
					}
					if step%20 == 0 {
						requireSet(t, m, s, w.arc(r))
					}
				}
				requireSet(t, m, s, hashring.Range{}, hashring.Range{After: 7, Through: 7}, w.arc(r))
				for pos := range m {
					delete(m, pos)
					require.True(t, s.Delete(pos))
				}
				requireSet(t, m, s, hashring.Range{}, w.arc(r))
				require.LessOrEqual(t, antientropy.Bytes(s), 128, "memory of a set that is empty again")
			}
		})
	}
}

// Fingerprints and items of tens of thousands of arcs of random sets, against the definition.
func TestArcsModel(t *testing.T) {
	r := seed.Random(t)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for range rounds(100) {
				m := model{}
				for range r.IntN(1 << r.IntN(11)) {
					m[w.pos(r)] = r.Uint64()
				}
				s := m.set()
				for range 60 {
					requireSet(t, m, s, w.arc(r))
				}
			}
		})
	}
}

// A set is a function of its items: the way to them leaves no trace.
func TestSetHasNoHistory(t *testing.T) {
	r := seed.Random(t)
	a, b := new(antientropy.Set), new(antientropy.Set)
	var positions []uint64
	for range 5000 {
		positions = append(positions, r.Uint64())
	}
	for _, pos := range positions {
		a.Put(pos, 1)
		a.Put(pos, pos)
	}
	for range 20_000 {
		pos := r.Uint64()
		b.Put(pos, 0)
		defer b.Delete(pos)
		positions = append(positions, pos)
	}
	for i, pos := range positions {
		if i < 5000 {
			b.Put(pos, pos)
		} else {
			b.Delete(pos)
		}
	}
	require.Equal(t, slices.Collect(a.Items(hashring.Range{})), slices.Collect(b.Items(hashring.Range{})))
	require.Equal(t, slices.Collect(a.TreeNodes()), slices.Collect(b.TreeNodes()))
}

// One item more, one less, or another digest in one of them always shows; so do two digests that change places.
func TestFingerprintSeesEachChange(t *testing.T) {
	r := seed.Random(t)
	m := model{}
	for range 1000 {
		m[r.Uint64()] = r.Uint64N(4) // versions: small numbers that many keys share
	}
	s := m.set()
	before, _ := s.Fingerprint(hashring.Range{})
	differs := func(what string) {
		t.Helper()
		after, _ := s.Fingerprint(hashring.Range{})
		require.NotEqual(t, before, after, what)
	}
	var last uint64
	for pos, digest := range m {
		s.Put(pos, digest+1)
		differs("another digest")
		if d, ok := m[last]; ok && d != digest {
			s.Put(pos, d)
			s.Put(last, digest)
			differs("two digests swapped")
			s.Put(last, d)
		}
		s.Delete(pos)
		differs("an item less")
		s.Put(pos, digest)
		s.Put(pos+1, digest)
		differs("an item more")
		s.Delete(pos + 1)
		last = pos
	}
	after, _ := s.Fingerprint(hashring.Range{})
	require.Equal(t, before, after)
}

// Fingerprints of ranges that do not overlap add up.
func TestFingerprintsAddUp(t *testing.T) {
	r := seed.Random(t)
	m := model{}
	for range 3000 {
		m[r.Uint64()] = r.Uint64()
	}
	s := m.set()
	for range 1000 {
		cuts := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
		slices.Sort(cuts)
		var sum uint64
		n := 0
		for i := range cuts {
			f, k := s.Fingerprint(hashring.Range{After: cuts[i], Through: cuts[(i+1)%len(cuts)]})
			sum, n = sum+f, n+k
		}
		all, k := s.Fingerprint(hashring.Range{})
		require.Equal(t, all, sum)
		require.Equal(t, k, n)
	}
}

// The fingerprint is part of the protocol: it is what it was in the first release.
func TestFingerprintIsFrozen(t *testing.T) {
	s := new(antientropy.Set)
	for i := range uint64(1000) {
		s.Put(mix(i), i*i)
	}
	for _, want := range []struct {
		a hashring.Range
		f uint64
		n int
	}{
		{hashring.Range{}, 9142904850953567141, 1000},
		{hashring.Range{After: 1 << 62, Through: 1 << 63}, 2764744076491921853, 227},
		{hashring.Range{After: 1 << 63, Through: 1 << 62}, 6378160774461645288, 773},
	} {
		f, n := s.Fingerprint(want.a)
		require.Equal(t, want.f, f)
		require.Equal(t, want.n, n)
	}
}
