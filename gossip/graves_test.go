package gossip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

var day = time.Unix(1_800_000_000, 0)

func gravesOf(ages map[instance]time.Duration) *graves {
	g := newGraves(24*time.Hour, maxGraves)
	for i, age := range ages {
		g.bury(i, day.Add(-age), day)
	}
	return g
}

// union is what merging is by definition.
func union(a, b map[instance]time.Time) map[instance]time.Time {
	out := maps.Clone(a)
	for i, at := range b {
		if was, ok := out[i]; !ok || at.Before(was) {
			out[i] = at
		}
	}
	return out
}

func equalGraves(a, b map[instance]time.Time) bool { return maps.EqualFunc(a, b, time.Time.Equal) }

func (g *graves) take(t *testing.T, from *graves) *graves {
	_, err := g.merge(from.append(nil, day), day)
	require.NoError(t, err)
	return g
}

// Every pair and triple of states of a world of two names, two lives and three ages, that is 256 states: what is known
// after merging does not depend on the order, on repetition, or on who tells whom.
func TestLawsOfMerging(t *testing.T) {
	keys := []instance{{"a", 1}, {"a", 2}, {"b", 1}, {"b", 2}}
	world := make([]map[instance]time.Duration, 0, 256)
	for code := range 256 {
		ages := map[instance]time.Duration{}
		for i, key := range keys {
			if digit := code >> (2 * i) & 3; digit > 0 {
				ages[key] = time.Duration(digit) * time.Hour
			}
		}
		world = append(world, ages)
	}
	for _, a := range world {
		for _, b := range world {
			x, y := gravesOf(a), gravesOf(b)
			want := union(x.since, y.since)
			ab, ba := gravesOf(a).take(t, y), gravesOf(b).take(t, x)
			if !equalGraves(want, ab.since) || !equalGraves(want, ba.since) || !equalGraves(want, ab.take(t, y).take(t, x).since) {
				t.Fatalf("merging %v and %v gives %v, %v, not %v", a, b, ab.since, ba.since, want)
			}
		}
	}
	random := seed.Random(t)
	for range 100_000 {
		a, b, c := world[random.IntN(256)], world[random.IntN(256)], world[random.IntN(256)]
		left := gravesOf(a).take(t, gravesOf(b)).take(t, gravesOf(c))
		right := gravesOf(a).take(t, gravesOf(b).take(t, gravesOf(c)))
		if !equalGraves(left.since, right.since) {
			t.Fatalf("merging %v, %v and %v gives %v or %v", a, b, c, left.since, right.since)
		}
	}
}

func TestGravesAreReportedOnce(t *testing.T) {
	a := gravesOf(map[instance]time.Duration{{"x", 1}: time.Hour, {"y", 2}: 0})
	b := gravesOf(map[instance]time.Duration{{"y", 2}: time.Minute})
	news, err := b.merge(a.append(nil, day), day)
	require.NoError(t, err)
	require.Equal(t, []instance{{"x", 1}}, news)
	news, err = b.merge(a.append(nil, day), day)
	require.NoError(t, err)
	require.Empty(t, news)
	require.True(t, b.has(instance{"x", 1}))
	require.False(t, b.has(instance{"x", 2}), "another life")
}

// Two members that tell each other of a grave again and again do not keep it for ever.
func TestGravesAreForgottenEverywhere(t *testing.T) {
	a, b := newGraves(time.Hour, 10), newGraves(time.Hour, 10)
	i := instance{"x", 1}
	a.bury(i, day, day)
	now := day
	for now.Before(day.Add(time.Hour)) {
		require.True(t, now.After(day.Add(59*time.Minute)) || a.has(i), "nor much too early")
		now = now.Add(700 * time.Millisecond)
		for _, pair := range [][2]*graves{{a, b}, {b, a}} {
			_, err := pair[1].merge(pair[0].append(nil, now), now)
			require.NoError(t, err)
		}
	}
	a.expire(now)
	b.expire(now)
	require.Empty(t, a.since)
	require.Empty(t, b.since)
}

func TestAgesOfGraves(t *testing.T) {
	i := instance{"x", 1}
	g := newGraves(time.Hour, 10)
	g.bury(i, day, day)
	h := newGraves(time.Hour, 10)
	_, err := h.merge(g.append(nil, day.Add(1500*time.Microsecond)), day.Add(1500*time.Microsecond))
	require.NoError(t, err)
	require.Equal(t, day.Add(-500*time.Microsecond), h.since[i], "older by the rounding, never younger")
	require.Equal(t, []byte{gravesVersion, 0}, g.append(nil, day.Add(time.Hour)), "what is too old is not told")
	require.False(t, h.bury(i, day.Add(-time.Hour), day), "nor noted")
}

func TestMemoryOfAHundredThousandLeaves(t *testing.T) {
	g := newGraves(24*time.Hour, maxGraves)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range 100_000 {
		at := day.Add(time.Duration(n) * time.Millisecond)
		g.bury(instance{fmt.Sprintf("member-%d", n), uint64(n)}, at, at)
		require.LessOrEqual(t, len(g.since), maxGraves)
	}
	for n := 100_000 - maxGraves/2; n < 100_000; n++ {
		require.True(t, g.has(instance{fmt.Sprintf("member-%d", n), uint64(n)}), "the oldest go first")
	}
	encoded := g.append(nil, day.Add(2*time.Minute))
	t.Logf("%d graves, %d bytes to send", len(g.since), len(encoded))
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(10<<20))
	runtime.KeepAlive(g)

	small := newGraves(24*time.Hour, 100)
	_, err := small.merge(encoded, day.Add(2*time.Minute))
	require.NoError(t, err)
	require.LessOrEqual(t, len(small.since), 100, "nor can others make them more")
}

// Entries with a time of nothing or in the future, or without a name, were ghosts that could not be removed elsewhere.
func TestFault84_GravesWithStrangeAges(t *testing.T) {
	one := func(name string, age uint64) []byte {
		b := append([]byte{gravesVersion, 1}, appendText(nil, name)...)
		b = binary.BigEndian.AppendUint64(b, 7)
		return binary.AppendUvarint(b, age)
	}
	g := newGraves(time.Hour, 10)
	for _, age := range []uint64{3_600_000, 3_600_001, 1 << 40, 1<<64 - 1} {
		news, err := g.merge(one("x", age), day)
		require.NoError(t, err)
		require.Empty(t, news, "too old to matter")
	}
	news, err := g.merge(one("x", 3_599_000), day)
	require.NoError(t, err)
	require.Len(t, news, 1)
	g.expire(day.Add(time.Second))
	require.Empty(t, g.since)
	_, err = g.merge(one("", 0), day)
	require.ErrorIs(t, err, errGraves)
	g.bury(instance{"future", 1}, day.Add(time.Hour), day) // a clock that was set back
	require.Equal(t, one("future", 0)[:9], g.append(nil, day)[:9])
}

func TestGravesThatAreNone(t *testing.T) {
	good := gravesOf(map[instance]time.Duration{{"x", 1}: time.Hour, {"y", 2}: 0}).append(nil, day)
	for n := range good {
		g := newGraves(time.Hour, 10)
		_, err := g.merge(good[:n], day)
		require.ErrorIs(t, err, errGraves, "cut at %d", n)
		require.Empty(t, g.since, "nothing is taken")
	}
	g := newGraves(24*time.Hour, 10)
	_, err := g.merge(append(bytes.Clone(good), 0), day)
	require.ErrorIs(t, err, errGraves)
	_, err = g.merge([]byte{gravesVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, day)
	require.ErrorIs(t, err, errGraves)
	news, err := g.merge([]byte{gravesVersion + 1, 1, 2, 3}, day)
	require.NoError(t, err, "of a later version")
	require.Empty(t, news)
	require.Empty(t, g.since)
}

func FuzzGraves(f *testing.F) {
	f.Add(gravesOf(nil).append(nil, day))
	f.Add(gravesOf(map[instance]time.Duration{{"x", 1}: time.Hour, {"yy", 2}: 0}).append(nil, day))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := newGraves(24*time.Hour, 100)
		news, err := g.merge(b, day)
		if err != nil {
			require.ErrorIs(t, err, errGraves)
			require.Empty(t, g.since)
			return
		}
		require.LessOrEqual(t, len(g.since), 100)
		for _, i := range news {
			require.NotEmpty(t, i.name)
		}
		h := newGraves(24*time.Hour, 100)
		h.take(t, g)
		require.ElementsMatch(t, slices.Collect(maps.Keys(g.since)), slices.Collect(maps.Keys(h.since)))
	})
}
