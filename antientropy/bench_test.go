package antientropy_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/stretchr/testify/require"
)

// filled returns a set of n items at hashed positions.
func filled(n int) *antientropy.Set {
	s := new(antientropy.Set)
	fill(s, n)
	return s
}

func fill(s *antientropy.Set, n int) {
	for i := range uint64(n) {
		s.Put(mix(i), i)
	}
}

const million = 1_000_000

// BenchmarkPut puts 1e6 items into an empty set, and then other digests in their places.
func BenchmarkPut(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		var s *antientropy.Set
		b.ReportAllocs()
		i := uint64(0)
		for b.Loop() {
			if i%million == 0 {
				s = new(antientropy.Set)
			}
			s.Put(mix(i%million), i)
			i++
		}
	})
	s := filled(million)
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		i := uint64(0)
		for b.Loop() {
			s.Put(mix(mix(i)%million), i)
			i++
		}
	})
	b.Run("delete and put", func(b *testing.B) {
		b.ReportAllocs()
		i := uint64(0)
		for b.Loop() {
			pos := mix(mix(i) % million)
			s.Delete(pos)
			s.Put(pos, i)
			i++
		}
	})
}

// BenchmarkFingerprint asks 1e6 items for the fingerprints of random arcs.
func BenchmarkFingerprint(b *testing.B) {
	s := filled(million)
	b.ReportAllocs()
	i, sum := uint64(0), uint64(0)
	for b.Loop() {
		f, _ := s.Fingerprint(hashring.Range{After: mix(i), Through: mix(^i)})
		sum += f
		i++
	}
	require.NotZero(b, sum)
	b.ReportMetric(float64(antientropy.Bytes(s))/million, "bytes/item")
}

// BenchmarkItems ranges over 1e6 items.
func BenchmarkItems(b *testing.B) {
	s := filled(million)
	for b.Loop() {
		n := 0
		for range s.Items(hashring.Range{}) {
			n++
		}
		require.Equal(b, million, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/item")
}

// scenario is a way in which there differs from here. Both hold 1e6 items but for those.
type scenario struct {
	name  string
	alter func(there *antientropy.Set)
}

var scenarios = []scenario{
	{"nothing", func(*antientropy.Set) {}},
	{"1 key", func(there *antientropy.Set) { there.Put(mix(4711), 0) }},
	{"1,000 scattered", scattered(1000)},
	{"1,000 missing in one arc", func(there *antientropy.Set) {
		for i, it := range slices.Collect(there.Items(hashring.Range{After: 1 << 63})) {
			if i == 1000 {
				break
			}
			there.Delete(it.Position)
		}
	}},
	{"10,000 scattered", scattered(10_000)},
	{"100,000 scattered", scattered(100_000)},
	{"all", scattered(million)},
	{"peer is empty", func(there *antientropy.Set) {
		for i := range uint64(million) {
			there.Delete(mix(i))
		}
	}},
}

// scattered gives n items another digest.
func scattered(n int) func(*antientropy.Set) {
	return func(there *antientropy.Set) {
		for i := range uint64(n) {
			there.Put(mix(i), ^i)
		}
	}
}

// arcs returns n ranges that cover the circle, as those that two nodes of a ring share.
func arcs(n int) (ranges []hashring.Range) {
	cuts := make([]uint64, n)
	for i := range cuts {
		cuts[i] = mix(^uint64(i))
	}
	slices.Sort(cuts)
	for i := range cuts {
		// Short of the next by one, so that they are not one range.
		ranges = append(ranges, hashring.Range{After: cuts[i], Through: cuts[(i+1)%n] - 1})
	}
	return ranges
}

// method is a way to find what differs; it returns bytes both ways, and round trips.
type method struct {
	name string
	run  func(b *testing.B, here, there *antientropy.Set) (bytes, trips int)
}

func comparing(name string, ranges []hashring.Range, opts *antientropy.Options) method {
	return method{name, func(b *testing.B, here, there *antientropy.Set) (bytes, trips int) {
		d, err := antientropy.Compare(b.Context(), here, ranges, func(_ context.Context, request []byte) ([]byte, error) {
			return there.Respond(request, nil)
		}, opts)
		require.NoError(b, err)
		require.Empty(b, d.Left)
		return d.Sent + d.Received, d.RoundTrips
	}}
}

var methods = []method{
	comparing("compare", []hashring.Range{{}}, nil),
	comparing("compare, fan-out 64", []hashring.Range{{}}, &antientropy.Options{FanOut: 64}),
	comparing("compare, 384 ranges", arcs(384), nil),
	{"all digests", allDigests},
	{"whole tree, depth 15", wholeTree},
}

// allDigests is what one does without a tree: the peer sends all items, 16 bytes each, and they are merged.
func allDigests(b *testing.B, here, there *antientropy.Set) (bytes, trips int) {
	var msg []byte
	for it := range there.Items(hashring.Range{}) {
		msg = binary.BigEndian.AppendUint64(msg, it.Position)
		msg = binary.BigEndian.AppendUint64(msg, it.Digest)
	}
	return len(msg) + mergeList(here, hashring.Range{}, msg, new(int)), 1
}

// mergeList counts in differs what is not the same here as in msg, the items of the peer in a.
func mergeList(here *antientropy.Set, a hashring.Range, msg []byte, differs *int) int {
	key := func(pos uint64) uint64 { return pos - a.After - 1 }
	for it := range here.Items(a) {
		for len(msg) > 0 && key(binary.BigEndian.Uint64(msg)) < key(it.Position) {
			*differs++
			msg = msg[16:]
		}
		if len(msg) > 0 && binary.BigEndian.Uint64(msg) == it.Position {
			if binary.BigEndian.Uint64(msg[8:]) != it.Digest {
				*differs++
			}
			msg = msg[16:]
		} else {
			*differs++
		}
	}
	*differs += len(msg) / 16
	return 0
}

// wholeTree is what Cassandra does, whose trees have a depth of 15 by default: each side builds a tree by a scan over all
// items, in which a leaf is the XOR of what it has; the peer's leaves are sent whole; then each leaf that differs is
// streamed. That is counted in one direction, at the 16 bytes of a digest for each key (of which Cassandra sends the data).
func wholeTree(b *testing.B, here, there *antientropy.Set) (bytes, trips int) {
	const depth = 15
	build := func(s *antientropy.Set) (tree []uint64) {
		tree = make([]uint64, 2<<depth)
		for it := range s.Items(hashring.Range{}) {
			tree[1<<depth+it.Position>>(64-depth)] ^= mix(mix(it.Position) + it.Digest)
		}
		for i := 1<<depth - 1; i > 0; i-- {
			tree[i] = mix(tree[2*i] + bits.RotateLeft64(tree[2*i+1], 32))
		}
		return tree
	}
	ours, theirs := build(here), build(there)
	var msg []byte
	for _, leaf := range theirs[1<<depth:] {
		msg = binary.BigEndian.AppendUint64(msg, leaf)
	}
	bytes, trips = len(msg), 1
	differs := 0
	var walk func(i int)
	walk = func(i int) {
		if ours[i] == theirs[i] {
			return
		}
		if i < 1<<depth {
			walk(2 * i)
			walk(2*i + 1)
			return
		}
		trips = 2
		first := uint64(i-1<<depth) << (64 - depth)
		a := hashring.Range{After: first - 1, Through: first + (1<<(64-depth) - 1)}
		msg = msg[:0]
		for it := range there.Items(a) {
			msg = binary.BigEndian.AppendUint64(msg, it.Position)
			msg = binary.BigEndian.AppendUint64(msg, it.Digest)
		}
		bytes += len(msg)
		mergeList(here, a, msg, &differs)
	}
	walk(1)
	return bytes, trips
}

// BenchmarkCompare finds what differs between two sets of 1e6 items: the figures of docs/antientropy.md. Both sides run
// in one goroutine, without a network.
func BenchmarkCompare(b *testing.B) {
	here := filled(million)
	for _, sc := range scenarios {
		there := filled(million)
		sc.alter(there)
		for _, m := range methods {
			b.Run(fmt.Sprintf("%s/%s", sc.name, m.name), func(b *testing.B) {
				var bytes, trips int
				for b.Loop() {
					bytes, trips = m.run(b, here, there)
				}
				b.ReportMetric(float64(bytes), "bytes")
				b.ReportMetric(float64(trips), "trips")
			})
		}
	}
}
