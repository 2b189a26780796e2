package balance

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func liveOf(t *testing.T, nodes []hashring.Node, opts *hashring.Options) *hashring.Live {
	t.Helper()
	r, err := hashring.New(nodes, opts)
	require.NoError(t, err)
	return hashring.NewLive(r)
}

// What the comment on Balancer says of concurrency: with at most M leases out or in the hands of a call, no load is
// above ceil(factor*M*w/W) but by those leases that were taken without room. Each goroutine here has at most 4 at
// once.
func TestConcurrentLoadsStayWithinTheirBounds(t *testing.T) {
	const goroutines, each, M = 8, 4, 8 * 4
	rounds := 20_000
	if testing.Short() {
		rounds = 500
	}
	for _, factor := range []float64{1, 1.05, 1.25, 2} {
		live := liveOf(t, []hashring.Node{{Name: "a"}, {Name: "b", Weight: 2}, {Name: "c", Weight: 3}, {Name: "d", Weight: 5}},
			nil)
		b, err := New(live, factor)
		require.NoError(t, err)
		m := b.current()
		var forced [4]atomic.Int64 // leases taken without room, by node
		index := make(map[*counter]int)
		for i, c := range m.counters {
			index[c] = i
		}
		check := func(i int) {
			n := m.counters[i].load.Load() // before forced, which only rises
			if may := int64(m.bound(i, M)) + forced[i].Load(); n < 0 || n > may {
				t.Errorf("factor %v: node %d has %d, of %d", factor, i, n, may)
			}
		}
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				var held []*counter
				for i := range rounds {
					if len(held) == each || len(held) > 0 && i%3 == 0 {
						held[0].load.Add(-1)
						b.total.Add(-1)
						held = held[1:]
						continue
					}
					total := float64(b.total.Add(1))
					c, least := m.take(fmt.Sprint(g, i), total, nil)
					if c == nil {
						forced[index[least]].Add(1)
						if c = least; !c.add() {
							t.Error("nobody has left")
						}
					}
					check(index[c])
					held = append(held, c)
				}
				for _, c := range held {
					c.load.Add(-1)
					b.total.Add(-1)
				}
			})
		}
		wg.Wait()
		require.Zero(t, b.Total())
		for i := range forced {
			require.Zero(t, m.counters[i].load.Load())
			t.Logf("factor %v, %s: %d leases without room", factor, m.counters[i].node, forced[i].Load())
		}
	}
}

// Nodes that all seem full when a walk comes by them: the one with the least load for its weight is taken.
func TestLeastLoadedWhenNoneHasRoom(t *testing.T) {
	live := liveOf(t, []hashring.Node{{Name: "a", Weight: 2}, {Name: "b"}, {Name: "c", Weight: 4}}, nil)
	b, err := New(live, 1)
	require.NoError(t, err)
	m := b.current()
	for i, n := range []int64{10, 6, 17} {
		m.counters[i].load.Store(n)
	}
	for i, want := range []string{"c", "c", "c"} { // has 17/4, 18/4, 19/4; the others have 10/2 and 6/1
		l, ok := b.Acquire(fmt.Sprint("key-", i))
		require.True(t, ok)
		require.Equal(t, want, l.Node())
	}
}

// A ring whose nodes all leave, and are forgotten, while a call that has loaded it hashes its key.
func TestAcquireWhileItsWholeRingGoes(t *testing.T) {
	live := new(hashring.Live)
	var b *Balancer
	armed := false
	h := hashring.NewHash("meddling", func(key string) uint64 {
		if key == "key" && armed {
			armed = false
			for _, name := range []string{"y", "z"} {
				_, err := live.Set(hashring.Nodes(name))
				require.NoError(t, err)
				b.current()
			}
		}
		return uint64(len(key))
	})
	live = liveOf(t, hashring.Nodes("w", "x"), &hashring.Options{Hash: h})
	b, err := New(live, 1)
	require.NoError(t, err)
	old := b.current()
	armed = true
	l, ok := b.Acquire("key")
	require.True(t, ok)
	require.Equal(t, "z", l.Node())
	for _, c := range old.counters {
		require.EqualValues(t, closed, c.load.Load())
		require.False(t, c.add(), "nobody can have a lease of a counter that is forgotten")
		require.Zero(t, c.count())
	}
	require.Equal(t, 1, b.Total())
	l.Release()
	require.Zero(t, b.Total())
}

// Names that come and go leave nothing behind, and a name with load keeps its one counter.
func TestCountersOfThoseWhoLeftAreDropped(t *testing.T) {
	live := liveOf(t, hashring.Nodes("stays"), nil)
	b, err := New(live, 1)
	require.NoError(t, err)
	lease, _ := b.Acquire("key")
	c := b.current().counters[0]
	for i := range 1000 {
		names := []string{fmt.Sprint("passing-", i)}
		if i%10 == 9 {
			names = append(names, "stays")
		}
		_, err := live.Set(hashring.Nodes(names...))
		require.NoError(t, err)
		m := b.current()
		require.LessOrEqual(t, len(m.departed), 2)
		if i%10 == 9 {
			require.Same(t, c, m.counters[1])
		} else {
			require.Contains(t, m.departed, c)
		}
	}
	lease.Release()
	for i := range 2 {
		_, err := live.Set(hashring.Nodes(fmt.Sprint("last-", i)))
		require.NoError(t, err)
		b.current()
	}
	require.NotContains(t, b.current().departed, c)
}

// Two counters, and the total and anything else, are never on one cache line.
func TestCountersHaveTheirOwnCacheLines(t *testing.T) {
	live := liveOf(t, hashring.Nodes("a", "b", "c", "d", "e"), nil)
	b, err := New(live, 1)
	require.NoError(t, err)
	at := func(p any) uintptr { return reflect.ValueOf(p).Pointer() }
	counters := b.current().counters
	for i, c := range counters {
		require.Zero(t, at(c)%lineSize, "the allocator aligns it")
		for _, d := range counters[:i] {
			require.GreaterOrEqual(t, math.Abs(float64(at(&c.load))-float64(at(&d.load))), 64.0)
			require.NotEqual(t, at(&c.load)/64, at(&d.load)/64)
		}
	}
	typ := reflect.TypeOf(b).Elem()
	total, _ := typ.FieldByName("total")
	cur, _ := typ.FieldByName("cur")
	require.GreaterOrEqual(t, total.Offset-cur.Offset, uintptr(lineSize))
	require.GreaterOrEqual(t, typ.Size()-total.Offset, uintptr(lineSize))
}
