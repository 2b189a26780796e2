package hashring_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
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

// Eight readers ask while a writer publishes a thousand rings: each answer is one that a published ring gives, and each
// reader sees the rings in the order of their publication.
func TestLiveSoak(t *testing.T) {
	const readers, versions = 8, 1000
	rounds, each := seed.Soak(t), 100_000 // each reader's, of a ring and four questions to it and the one after
	if testing.Short() {
		each = 3000
	}
	rings := soakRings(t, versions)
	want := make([][]answer, len(rings)) // by version and key
	for v, r := range rings {
		for k := range soakKeys {
			want[v] = append(want[v], answerOf(r, k))
		}
	}
	for range rounds {
		l := hashring.NewLive(rings[0])
		var reads atomic.Int64
		var wg sync.WaitGroup
		faults := make(chan string, readers)
		for reader := range readers {
			wg.Go(func() {
				last := 0
				for n := range each {
					k := (n + reader) % len(soakKeys)
					snapshot := l.Load()
					v := soakVersion(snapshot)
					if got := answerOf(snapshot, k); v < last || !got.equal(want[v][k]) {
						faults <- fmt.Sprintf("reader %d: ring %d after %d says %v of %q, not %v", reader, v, last, got, soakKeys[k], want[v][k])
						break
					}
					last = v
					// Owner and Replicas load for themselves: the answer is of this ring or of a later one.
					owner, ok := l.Owner(soakKeys[k])
					walk := slices.Collect(l.Replicas(soakKeys[k]))
					after := soakVersion(l.Load())
					fits := func(good func(answer) bool) bool {
						return slices.ContainsFunc(want[v:after+1], func(a []answer) bool { return good(a[k]) })
					}
					if !fits(func(a answer) bool { return a.owner == owner && a.ok == ok }) ||
						!fits(func(a answer) bool { return slices.Equal(a.walk, walk) }) {
						faults <- fmt.Sprintf("reader %d: no ring from %d to %d says %q and %v of %q", reader, v, after, owner, walk, soakKeys[k])
						break
					}
					reads.Add(1)
				}
			})
		}
		wait := make(chan struct{})
		go func() { wg.Wait(); close(wait) }()
		for v := 1; v <= versions; v++ {
			for done := false; !done && reads.Load() < int64(v)*readers*int64(each)/(versions+1); { // evenly over the reads
				select {
				case <-wait: // a reader gave up
					done = true
				default:
					runtime.Gosched()
				}
			}
			_, err := l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return rings[v], nil })
			require.NoError(t, err)
		}
		<-wait
		close(faults)
		for f := range faults {
			require.Fail(t, f)
		}
	}
	t.Logf("soak: %d reads of %d rings as they are published", 4*rounds*readers*each, rounds*versions)
}

var soakKeys = []string{"alpha", "beta", "gamma", "delta", "a key that is longer than the others by far, and then some"}

// soakRings returns an empty ring and n others. The number of a ring is in the one node that changes with it.
func soakRings(t *testing.T, n int) []*hashring.Ring {
	rings := []*hashring.Ring{mustNew(t, nil, &hashring.Options{VirtualNodes: 20})}
	for v := 1; v <= n; v++ {
		nodes := []hashring.Node{{Name: fmt.Sprint("v", v), Zone: "version", Weight: float64(v) / 50}}
		for i := range v % 6 {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("n", (v*7+i)%12)})
		}
		last := rings[v-1]
		without, err := last.Without(names(last)...)
		require.NoError(t, err)
		rings = append(rings, mustWith(t, without, nodes...))
	}
	return rings
}

// soakVersion returns the number of a ring, from the node that has it in its name.
func soakVersion(r *hashring.Ring) (v int) {
	for i := range r.Len() {
		if name := r.Name(i); name[0] == 'v' {
			v, _ = strconv.Atoi(name[1:])
		}
	}
	return v
}

// answer is what a ring says of a key: its owner, nine replicas, and all.
type answer struct {
	owner string
	ok    bool
	nine  []string
	walk  []string
}

func answerOf(r *hashring.Ring, k int) answer {
	owner, ok := r.Owner(soakKeys[k])
	return answer{owner, ok, r.AppendReplicas(nil, soakKeys[k], 9), slices.Collect(r.Replicas(soakKeys[k]))}
}

func (a answer) equal(b answer) bool {
	return a.owner == b.owner && a.ok == b.ok && slices.Equal(a.nine, b.nine) && slices.Equal(a.walk, b.walk)
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
