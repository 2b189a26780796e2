package hashring_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func TestLiveStartsEmpty(t *testing.T) {
	var zero hashring.Live
	for _, l := range []*hashring.Live{&zero, hashring.NewLive(nil)} {
		require.NotNil(t, l.Load())
		require.Same(t, l.Load(), l.Load())
		require.True(t, l.Load().Equal(mustNew(t, nil, nil)))
		_, ok := l.Owner("key")
		require.False(t, ok)
		require.Empty(t, slices.Collect(l.Replicas("key")))
		c, err := l.Remove("nobody")
		require.NoError(t, err)
		require.Same(t, c.Old, c.New)
		c, err = l.Add(hashring.Nodes("a")...)
		require.NoError(t, err)
		require.Zero(t, c.Old.Len())
		require.Same(t, l.Load(), c.New)
	}
}

func TestLiveChanges(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a", "b"), nil)
	l := hashring.NewLive(r)
	require.Same(t, r, l.Load())

	c, err := l.Add(hashring.Node{Name: "c", Weight: 2})
	require.NoError(t, err)
	require.Same(t, r, c.Old)
	require.Same(t, l.Load(), c.New)
	require.Equal(t, []string{"a", "b", "c"}, names(c.New))

	c, err = l.Remove("a", "nobody")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, names(c.New))

	c, err = l.Set(hashring.Nodes("x", "c"))
	require.NoError(t, err)
	require.Equal(t, []string{"c", "x"}, names(c.New))
	node, _ := c.New.Node("c")
	require.Equal(t, 1.0, node.Weight, "Set replaces")
	require.True(t, c.New.Equal(mustNew(t, hashring.Nodes("c", "x"), nil)))

	owner, ok := l.Owner("key")
	want, _ := c.New.Owner("key")
	require.True(t, ok)
	require.Equal(t, want, owner)
	require.Equal(t, slices.Collect(c.New.Replicas("key")), slices.Collect(l.Replicas("key")))
	for range l.Replicas("key") {
		break
	}
}

// The same nodes, in any order, change nothing, place nothing and make no token: a counting hash sees no call.
func TestLiveSetOfTheSameNodesBuildsNothing(t *testing.T) {
	var sums atomic.Int64
	h := rawHash{"counting", func(key string) uint64 { sums.Add(1); return rawFNV1a(key) }}
	l := hashring.NewLive(mustNew(t, nil, &hashring.Options{Hash: h}))
	nodes := []hashring.Node{{Name: "a", Tokens: []uint64{2, 1}}, {Name: "b", Weight: 2}, {Name: "c", Zone: "z"}}
	_, err := l.Set(nodes)
	require.NoError(t, err)
	require.Equal(t, int64(2), sums.Load(), "once for each native node")
	before := l.Load()
	permutations(3, func(order []int) {
		var shuffled []hashring.Node
		for _, i := range order {
			shuffled = append(shuffled, nodes[i])
		}
		c, err := l.Set(shuffled)
		require.NoError(t, err)
		require.Same(t, c.Old, c.New)
	})
	require.Same(t, before, l.Load())
	require.Equal(t, int64(2), sums.Load())
	_, err = l.Add(hashring.Node{Name: "d"})
	require.NoError(t, err)
	require.Equal(t, int64(3), sums.Load(), "only the newcomer's tokens are made")

	placed := 0
	l = hashring.NewLive(mustNew(t, []hashring.Node{{Name: "b", Weight: 2}, {Name: "a", Weight: 2}}, &hashring.Options{Placement: colliding{mod: 7, placed: &placed}}))
	require.Equal(t, 1, placed)
	_, err = l.Set([]hashring.Node{{Name: "b", Weight: 2}, {Name: "a", Weight: 2}})
	require.NoError(t, err)
	_, err = l.Add(hashring.Node{Name: "a", Weight: 2})
	require.NoError(t, err)
	require.Equal(t, 1, placed)
	_, err = l.Set([]hashring.Node{{Name: "a", Weight: 2}, {Name: "b", Weight: 2}}) // there the order counts
	require.NoError(t, err)
	require.Equal(t, 2, placed)
}

// A change of zones, labels or of the weights of explicit tokens moves no token and hashes nothing.
func TestChangeOfZoneKeepsTheTokens(t *testing.T) {
	var sums atomic.Int64
	h := rawHash{"counting", func(key string) uint64 { sums.Add(1); return rawFNV1a(key) }}
	r := mustNew(t, []hashring.Node{{Name: "a"}, {Name: "b"}, {Name: "e", Tokens: []uint64{5}}}, &hashring.Options{Hash: h})
	before := sums.Load()
	s := mustWith(t, r, hashring.Node{Name: "a", Zone: "z"}, hashring.Node{Name: "b", Label: "l"}, hashring.Node{Name: "e", Tokens: []uint64{5}, Weight: 9})
	require.Equal(t, before, sums.Load())
	require.False(t, r.Equal(s))
	require.Zero(t, requireOnlyTouchedMove(t, r, s, nil))
}

func TestLiveKeepsItsRingOnErrors(t *testing.T) {
	l := hashring.NewLive(mustNew(t, hashring.Nodes("a"), nil))
	before := l.Load()
	boom := errors.New("boom")
	for _, change := range []func() (hashring.Change, error){
		func() (hashring.Change, error) { return l.Add(hashring.Node{Name: "b"}, hashring.Node{Weight: 1}) },
		func() (hashring.Change, error) { return l.Set([]hashring.Node{{Name: "x", Weight: -1}}) },
		func() (hashring.Change, error) { return l.Set(hashring.Nodes("x", "x")) },
		func() (hashring.Change, error) {
			return l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return mustNew(t, nil, nil), boom })
		},
		func() (hashring.Change, error) {
			return l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return nil, nil })
		},
	} {
		c, err := change()
		require.Error(t, err)
		require.Same(t, before, c.Old)
		require.Same(t, before, c.New)
		require.Same(t, before, l.Load())
	}
	// Also when Update's function panics: the writers' turn is not lost.
	require.Panics(t, func() { _, _ = l.Update(func(*hashring.Ring) (*hashring.Ring, error) { panic("x") }) })
	require.Same(t, before, l.Load())
	_, err := l.Add(hashring.Node{Name: "b"})
	require.NoError(t, err)
}

// A walk is over the ring that was current when it began, whatever happens meanwhile.
func TestLiveWalkIsOfOneRing(t *testing.T) {
	l := hashring.NewLive(mustNew(t, hashring.Nodes("a", "b", "c"), nil))
	want := slices.Collect(l.Replicas("key"))
	var got []string
	for name := range l.Replicas("key") {
		got = append(got, name)
		_, err := l.Set(hashring.Nodes("x", "y", "z"))
		require.NoError(t, err)
	}
	require.Equal(t, want, got)
}

// Eight readers ask while a writer changes the ring: each answer is one that a published ring gives, and each reader
// sees the rings in the order of their publication. No change is lost when many write.
func TestLiveSoak(t *testing.T) {
	versions, readers := 400, 8
	if testing.Short() {
		versions = 40
	}
	keys := []string{"alpha", "beta", "gamma", "delta", "a key that is longer than the others by far, and then some"}
	l := hashring.NewLive(mustNew(t, nil, &hashring.Options{VirtualNodes: 20}))

	// The number of a ring is in the name of the one node that changes with it.
	version := func(r *hashring.Ring) int {
		for _, n := range r.Nodes() {
			if n.Zone == "version" {
				return int(n.Weight)
			}
		}
		return 0
	}
	rings := make([]*hashring.Ring, versions+1)
	rings[0] = l.Load()
	for v := 1; v <= versions; v++ {
		nodes := []hashring.Node{{Name: fmt.Sprint("v", v), Zone: "version", Weight: float64(v)}}
		for i := range v % 6 {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", (v*7+i)%12)})
		}
		var err error
		rings[v], err = rings[v-1].Without(names(rings[v-1])...)
		require.NoError(t, err)
		rings[v] = mustWith(t, rings[v], nodes...)
	}

	var done atomic.Bool
	var wg sync.WaitGroup
	faults := make(chan string, readers)
	for reader := range readers {
		wg.Go(func() {
			last, buf := 0, make([]string, 0, 8)
			for n := reader; !done.Load() || n < reader+50; n++ {
				key := keys[n%len(keys)]
				snapshot := l.Load()
				v := version(snapshot)
				owner, ok := snapshot.Owner(key)
				want, wantOK := rings[v].Owner(key)
				if v < last || owner != want || ok != wantOK || !slices.Equal(rings[v].AppendReplicas(nil, key, 9), snapshot.AppendReplicas(buf[:0], key, 9)) {
					faults <- fmt.Sprintf("reader %d: ring %d after %d, owner %q, want %q", reader, v, last, owner, want)
					return
				}
				last = v
				// Owner and Replicas load for themselves: the answer is of this ring or of a later one.
				owner, ok = l.Owner(key)
				replicas := slices.Collect(l.Replicas(key))
				after := version(l.Load())
				fits := func(good func(*hashring.Ring) bool) bool { return slices.ContainsFunc(rings[v:after+1], good) }
				if !fits(func(r *hashring.Ring) bool { o, k := r.Owner(key); return o == owner && k == ok }) ||
					!fits(func(r *hashring.Ring) bool { return slices.Equal(slices.Collect(r.Replicas(key)), replicas) }) {
					faults <- fmt.Sprintf("reader %d: no ring from %d to %d gives %q or %v", reader, v, after, owner, replicas)
					return
				}
				if n%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for v := 1; v <= versions; v++ {
		_, err := l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return rings[v], nil })
		require.NoError(t, err)
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()
	close(faults)
	for f := range faults {
		require.Fail(t, f)
	}
}

// Writers take turns: of many concurrent changes none is lost, and each sees the one before it.
func TestLiveWritersTakeTurns(t *testing.T) {
	l := hashring.NewLive(mustNew(t, nil, &hashring.Options{VirtualNodes: 3}))
	var mu sync.Mutex
	from, to := make(map[*hashring.Ring]int), make(map[*hashring.Ring]int)
	var wg sync.WaitGroup
	const writers, each = 8, 20
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				c, err := l.Add(hashring.Node{Name: fmt.Sprintf("w%d-%d", w, i)})
				if err != nil {
					panic(err)
				}
				mu.Lock()
				from[c.Old]++
				to[c.New]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, writers*each, l.Load().Len())
	require.Len(t, from, writers*each, "no two changes began with one ring")
	require.Len(t, to, writers*each)
	require.Equal(t, 1, to[l.Load()])
}
