package antientropy_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// A comparison of two small sets, byte by byte: testdata/messages.txt has requests and replies. The format is fixed for
// version 1, on every architecture.
func TestMessagesAreFrozen(t *testing.T) {
	here, there := new(antientropy.Set), new(antientropy.Set)
	for i := range uint64(40) {
		here.Put(i<<58, i)
		there.Put(i<<58, i)
	}
	there.Put(3<<58, 300)
	there.Put(1<<63+1, 7)
	here.Put(math.MaxUint64, 8)
	want, err := os.ReadFile("testdata/messages.txt")
	require.NoError(t, err)
	var got strings.Builder
	ranges := []hashring.Range{{After: 1 << 60, Through: 1 << 60}}
	d, err := antientropy.Compare(t.Context(), here, ranges, func(_ context.Context, request []byte) ([]byte, error) {
		reply, err := there.Respond(request, nil)
		fmt.Fprintf(&got, "> %x\n< %x\n", request, reply)
		return reply, err
	}, &antientropy.Options{FanOut: 2})
	require.NoError(t, err)
	require.Equal(t, []antientropy.Item{{Position: math.MaxUint64, Digest: 8}}, d.Here)
	require.Equal(t, []antientropy.Item{{Position: 1<<63 + 1, Digest: 7}}, d.There)
	require.Equal(t, []antientropy.Unlike{{Position: 3 << 58, Here: 3, There: 300}}, d.Unlike)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got.String())
}

// Equal sets cost what the doc comment of Compare says.
func TestCostOfEqualSets(t *testing.T) {
	s, other := filled(100_000), filled(100_000)
	d, err := antientropy.Compare(t.Context(), s, []hashring.Range{{}}, peer(other, nil), nil)
	require.NoError(t, err)
	require.Zero(t, d.Keys())
	require.Equal(t, 1, d.RoundTrips)
	require.Equal(t, 3, d.Received)
	require.InDelta(t, 150, d.Sent, 5)

	d, err = antientropy.Compare(t.Context(), s, arcs(384), peer(other, nil), nil)
	require.NoError(t, err)
	require.Zero(t, d.Keys())
	require.Equal(t, 1, d.RoundTrips)
	require.Equal(t, 3, d.Received)
	require.LessOrEqual(t, d.Sent, 27*384)
}

// size writes a number of bytes as docs/antientropy.md does.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n, " B")
	case n < 10_000:
		return fmt.Sprintf("%d,%03d B", n/1000, n%1000)
	case n < million:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

// The costs that are promised at 1e6 items, in bytes and round trips, and those that docs/antientropy.md has: they do not
// depend on the machine.
func TestCostOfAMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("two sets of 1e6 items")
	}
	const all = 16 * million // what all items cost
	limits := map[string]struct{ bytes, trips int }{
		"nothing":                  {200, 1},
		"1 key":                    {1000, 3},
		"1,000 scattered":          {550_000, 3},
		"1,000 missing in one arc": {20_000, 4},
		"10,000 scattered":         {4_000_000, 12},
		"100,000 scattered":        {all * 11 / 10, 30},
		"all":                      {all * 11 / 10, 30},
		"peer is empty":            {1000, 2},
	}
	doc, err := os.ReadFile("../docs/antientropy.md")
	require.NoError(t, err)
	here, there := filled(million), filled(million)
	require.LessOrEqual(t, antientropy.Bytes(here), 26*million)
	if strconv.IntSize == 64 { // where pointers are smaller, so is the tree
		require.Contains(t, string(doc), fmt.Sprintf("| memory | %.1f bytes an item;", float64(antientropy.Bytes(here))/million))
	}
	for _, sc := range scenarios {
		sc.alter(there)
		var d antientropy.Difference
		_, row, ok := strings.Cut(string(doc), "\n| "+sc.name+" |")
		require.True(t, ok, sc.name)
		cells := strings.SplitN(row, "|", 3)
		for i, fanOut := range []int{16, 64} {
			opts := &antientropy.Options{FanOut: fanOut}
			d, err = antientropy.Compare(t.Context(), here, []hashring.Range{{}}, peer(there, nil), opts)
			require.NoError(t, err)
			t.Logf("%s, fan-out %d: %d keys, %d bytes, %d round trips", sc.name, fanOut, d.Keys(), d.Sent+d.Received, d.RoundTrips)
			require.True(t, strings.HasPrefix(cells[i], fmt.Sprintf(" %s, %d, ", size(d.Sent+d.Received), d.RoundTrips)), "docs/antientropy.md has %s", cells[i])
			if fanOut == 16 {
				require.LessOrEqual(t, d.Sent+d.Received, limits[sc.name].bytes, sc.name)
				require.LessOrEqual(t, d.RoundTrips, limits[sc.name].trips, sc.name)
			}
			require.LessOrEqual(t, d.Sent+d.Received, max(all*11/10, 3*limits[sc.name].bytes), sc.name)
		}
		for _, it := range d.Here {
			there.Put(it.Position, it.Digest)
		}
		for _, u := range d.Unlike {
			there.Put(u.Position, u.Here)
		}
		require.Empty(t, d.There)
	}
}

// However many keys differ, and in whatever way, a comparison costs no more than 1.1 times all items.
func TestCostIsBounded(t *testing.T) {
	r := seed.Random(t)
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, share := range []float64{0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 1} {
			here, there := new(antientropy.Set), new(antientropy.Set)
			for range rounds(n) {
				pos := r.Uint64()
				here.Put(pos, 1)
				switch {
				case r.Float64() >= share:
					there.Put(pos, 1)
				case r.IntN(3) == 0:
					there.Put(pos, 2)
				case r.IntN(2) == 0:
					there.Put(r.Uint64(), 1)
				}
			}
			d, err := antientropy.Compare(t.Context(), here, []hashring.Range{{}}, peer(there, nil), nil)
			require.NoError(t, err)
			t.Logf("%d items, %d differ: %d bytes", here.Len(), d.Keys(), d.Sent+d.Received)
			require.LessOrEqual(t, d.Sent+d.Received, 16*max(here.Len(), there.Len())*11/10+200)
		}
	}
}

// Small replies cost more round trips, and hardly more bytes.
func TestCostOfSmallReplies(t *testing.T) {
	here, there := filled(50_000), filled(50_000)
	scattered(50_000)(there)
	d, err := antientropy.Compare(t.Context(), here, []hashring.Range{{}}, peer(there, nil), &antientropy.Options{MaxReply: 4096})
	require.NoError(t, err)
	require.Equal(t, 50_000, d.Keys())
	t.Logf("%d bytes in %d round trips", d.Sent+d.Received, d.RoundTrips)
	require.LessOrEqual(t, d.Sent+d.Received, 50_000*16*12/10)
}

// Memory an item, however many there are, where they are spread evenly, and where they crowd.
func TestMemory(t *testing.T) {
	s := new(antientropy.Set)
	for i := range uint64(300_000) {
		s.Put(mix(i), i)
		if i > 1000 && i%1000 == 0 {
			require.LessOrEqual(t, antientropy.Bytes(s), 21*s.Len(), "%d items", s.Len())
		}
	}
	for i := range uint64(300_000) {
		s.Delete(mix(i))
		if i%1000 == 0 && s.Len() > 1000 {
			require.LessOrEqual(t, antientropy.Bytes(s), 34*s.Len(), "%d items, of 300,000", s.Len())
		}
	}
	// As deep as can be, with as few items: one more than fit a leaf in clusters of neighbours, less what keeps them apart.
	for i := range uint64(100) {
		for j := range uint64(65) {
			s.Put(mix(i)&^0xff|j, j)
		}
		for j := range uint64(32) {
			s.Delete(mix(i)&^0xff | j)
		}
	}
	require.Equal(t, 3300, s.Len())
	require.LessOrEqual(t, antientropy.Bytes(s), 180*s.Len())
}

// request returns a request for the items in a, by hand.
func request(questions ...[]byte) []byte {
	return slices.Concat([]byte{'Q', 1, 16, 0x80, 0x20}, slices.Concat(questions...))
}

var askAll = []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0} // whole circle, its items

func TestRespondRefuses(t *testing.T) {
	s := filled(100)
	for name, c := range map[string]struct {
		request []byte
		err     error
		message string
	}{
		"nothing":                      {nil, antientropy.ErrMessage, "does not begin"},
		"a reply":                      {[]byte{'A', 1, 0}, antientropy.ErrMessage, "does not begin"},
		"another version":              {[]byte{'Q', 2, 16, 0x80, 0x20}, antientropy.ErrVersion, "unknown version: 2"},
		"no fan-out":                   {[]byte{'Q', 1}, antientropy.ErrMessage, "ends within a number"},
		"fan-out 1":                    {[]byte{'Q', 1, 1, 0x80, 0x20}, antientropy.ErrMessage, "in 1"},
		"fan-out 257":                  {[]byte{'Q', 1, 0x81, 2, 0x80, 0x20}, antientropy.ErrMessage, "257 where 256 is the most"},
		"replies of 4095 bytes":        {[]byte{'Q', 1, 16, 0xff, 0x1f}, antientropy.ErrMessage, "4095 bytes"},
		"an endless number":            {request(bytes.Repeat([]byte{0xff}, 11)), antientropy.ErrMessage, "ends within a number"},
		"half a question":              {request(askAll[:5]), antientropy.ErrMessage, "ends within a number"},
		"more parts than fingerprints": {request(askAll[:11], []byte{2}, make([]byte, 15)), antientropy.ErrMessage, "2 parts and 15 bytes"},
		"more parts than positions":    {request([]byte{0, 1, 3}, make([]byte, 24)), antientropy.ErrMessage, "3 where 2 is the most"},
		"too long":                     {request(bytes.Repeat([]byte{0, 0, 0}, 1<<20/3)), antientropy.ErrMessage, "1048580 bytes"},
	} {
		reply, err := s.Respond(c.request, nil)
		require.ErrorIs(t, err, c.err, name)
		require.ErrorContains(t, err, c.message, name)
		require.True(t, strings.HasPrefix(err.Error(), "antientropy: request: "), "%v", err)
		require.Nil(t, reply, name)
	}
}

func TestOptions(t *testing.T) {
	s := filled(100)
	for _, o := range []antientropy.Options{
		{FanOut: 1}, {FanOut: -1}, {FanOut: 257}, {MaxReply: 4095}, {MaxReply: 1<<26 + 1}, {MaxReply: -1}, {MaxKeys: -1},
	} {
		_, err := s.Respond(request(askAll), &o)
		require.ErrorIs(t, err, antientropy.ErrOptions)
		d, err := antientropy.Compare(t.Context(), s, []hashring.Range{{}}, peer(s, nil), &o)
		require.ErrorIs(t, err, antientropy.ErrOptions)
		require.Equal(t, antientropy.Difference{}, d)
	}
	_, err := s.Respond(request(askAll), &antientropy.Options{FanOut: 300, MaxReply: 1, MaxKeys: -5})
	require.ErrorContains(t, err, "FanOut is 300, not between 2 and 256")
	require.ErrorContains(t, err, "MaxReply is 1, not between 4096 and 67108864")
	require.ErrorContains(t, err, "MaxKeys is -5, not between 1 and 2147483647")
	_, err = s.Respond(request(askAll), &antientropy.Options{FanOut: 256, MaxReply: 1 << 26, MaxKeys: math.MaxInt32})
	require.NoError(t, err)
}

// A reply is never longer than either side allows, and the memory it takes is in proportion to that.
func TestRespondIsBounded(t *testing.T) {
	s := filled(200_000)
	many := request(bytes.Repeat(askAll, 80_000))
	for _, limit := range []int{4096, 5000, 1 << 16} {
		for _, req := range [][]byte{request(askAll), many} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			reply, err := s.Respond(req, &antientropy.Options{MaxReply: limit})
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.LessOrEqual(t, len(reply), 4096, "what the request allows")
			require.Greater(t, len(reply), 4096-64, "and it is made use of")
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<10))
		}
	}
	large := slices.Concat([]byte{'Q', 1, 16, 0x80, 0x80, 0x40}, askAll) // up to 1 MiB, of 3 MB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reply, err := s.Respond(large, nil)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.InDelta(t, 1<<20-32, len(reply), 32)
	require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(10*len(reply)))
}

// What comes from the peer is checked: no reply is taken that does not answer what was asked, and then nothing of it is.
func TestCompareRefuses(t *testing.T) {
	s := filled(100) // asks for 16 parts of the circle, since 100 is more than a few
	head := []byte{'A', 1}
	item := func(gap byte) []byte { return append([]byte{gap}, make([]byte, 8)...) }
	for name, c := range map[string]struct {
		reply   []byte
		err     error
		message string
	}{
		"nothing":                   {nil, antientropy.ErrMessage, "does not begin"},
		"the request":               {request(askAll), antientropy.ErrMessage, "does not begin"},
		"another version":           {[]byte{'A', 2, 0}, antientropy.ErrVersion, "unknown version: 2"},
		"no state":                  {head, antientropy.ErrMessage, "ends within a number"},
		"another state":             {slices.Concat(head, []byte{3}), antientropy.ErrMessage, "3 where 2 is the most"},
		"half a record":             {slices.Concat(head, []byte{0, 0}), antientropy.ErrMessage, "ends within a number"},
		"half a split":              {slices.Concat(head, []byte{0, 0, 0, 16}, make([]byte, 127)), antientropy.ErrMessage, "ends within a fingerprint"},
		"a split in nothing":        {slices.Concat(head, []byte{0, 0, 0, 0}), antientropy.ErrMessage, "splits a range in nothing"},
		"a split in too many":       {slices.Concat(head, []byte{0, 0, 0, 17}, make([]byte, 136)), antientropy.ErrMessage, "17 where 16 is the most"},
		"beyond the last part":      {slices.Concat(head, []byte{0, 16, 1}), antientropy.ErrMessage, "goes beyond"},
		"a part too many":           {slices.Concat(head, []byte{0}, bytes.Repeat([]byte{0, 1}, 17)), antientropy.ErrMessage, "goes beyond"},
		"more items than there are": {slices.Concat(head, []byte{0, 0, 3}, item(0)), antientropy.ErrMessage, "3 where 2 is the most"},
		"items beyond their range": {slices.Concat(head, []byte{0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, make([]byte, 8)),
			antientropy.ErrMessage, "is the most"},
		"an item more than fits their range": {slices.Concat(head, []byte{0, 11, 3}, binary.AppendUvarint(nil, 1537228672809129301), make([]byte, 8), item(0)),
			antientropy.ErrMessage, "behind the end"},
		"cut short at once":     {slices.Concat(head, []byte{1}), antientropy.ErrMessage, "before it says anything"},
		"cut short in no items": {slices.Concat(head, []byte{2, 0, 1}), antientropy.ErrMessage, "within no items"},
		"cut short in a split":  {slices.Concat(head, []byte{2, 0, 0, 16}, make([]byte, 128)), antientropy.ErrMessage, "within no items"},
		"too long":              {slices.Concat(head, make([]byte, 4095)), antientropy.ErrMessage, "4097 bytes"},
	} {
		d, err := antientropy.Compare(t.Context(), s, []hashring.Range{{}}, func(context.Context, []byte) ([]byte, error) {
			return c.reply, nil
		}, &antientropy.Options{MaxReply: 4096})
		require.ErrorIs(t, err, c.err, name)
		require.ErrorContains(t, err, c.message, name)
		require.Equal(t, antientropy.Difference{Left: []hashring.Range{{}}}, d, name)
	}

	// To a question for items there must be an answer, and it must be items. Here are two such questions, for all that two
	// ranges have, after a reply by which all parts of both differ.
	few := filled(20)
	two := []hashring.Range{{After: 0, Through: 1 << 62}, {After: 1 << 63, Through: 3 << 62}}
	differs := append([]byte{0, 0, 16}, bytes.Repeat([]byte{1, 2}, 64)...)
	for name, second := range map[string][]byte{
		"leaves out items": {'A', 1, 0},
		"skips what":       {'A', 1, 0, 1, 1},
		"goes beyond":      {'A', 1, 0, 0, 1, 0, 1, 0, 1},
		"splits a range":   slices.Concat([]byte{'A', 1, 0}, differs),
	} {
		calls := 0
		_, err := antientropy.Compare(t.Context(), few, two, func(_ context.Context, request []byte) ([]byte, error) {
			if calls++; calls == 1 {
				return slices.Concat([]byte{'A', 1, 0}, differs, differs), nil
			}
			return second, nil
		}, nil)
		require.ErrorIs(t, err, antientropy.ErrMessage, name)
		require.ErrorContains(t, err, name)
		require.Equal(t, 2, calls, name)
	}
}

// More ranges than one request has room for are asked about in several.
func TestManyRanges(t *testing.T) {
	here, there := filled(1000), filled(1000)
	scattered(10)(there)
	ranges, requests := arcs(80_000), 0
	d, err := antientropy.Compare(t.Context(), here, ranges, func(_ context.Context, request []byte) ([]byte, error) {
		requests++
		require.LessOrEqual(t, len(request), 1<<20)
		return there.Respond(request, nil)
	}, nil)
	require.NoError(t, err)
	require.Len(t, d.Unlike, 10)
	require.GreaterOrEqual(t, requests, 2)
	require.Equal(t, requests, d.RoundTrips)
}

// A peer that lies without end costs no more keys than are allowed, and round trips no more than it takes to be told them.
func TestCompareEndsWithALiar(t *testing.T) {
	s := filled(10_000)
	lie := uint64(0)
	for name, liar := range map[string]antientropy.Peer{
		"everything differs": func(_ context.Context, request []byte) ([]byte, error) {
			other := new(antientropy.Set) // another one each time
			for range 10_000 {
				lie++
				other.Put(mix(lie), lie)
			}
			return other.Respond(request, nil)
		},
		"a little at a time": func(_ context.Context, request []byte) ([]byte, error) {
			other := new(antientropy.Set)
			for range 10_000 {
				lie++
				other.Put(mix(lie), lie)
			}
			reply, err := other.Respond(request, nil)
			if len(reply) > 3+3+16*8 && reply[4] == 0 && reply[5] == 16 {
				reply = reply[:3+3+16*8]
				reply[2] = 1
			}
			return reply, err
		},
	} {
		d, err := antientropy.Compare(t.Context(), s, []hashring.Range{{}}, liar, &antientropy.Options{MaxKeys: 5000})
		require.NoError(t, err, name)
		require.LessOrEqual(t, d.Keys(), 5000, name)
		require.LessOrEqual(t, d.RoundTrips, 2000, name)
	}
}
