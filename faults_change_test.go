package hashring_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// A lookup on an empty or closed ring panics. dgryski/go-rendezvous #1, redis/go-redis #2153 and #2126
func TestFault41_LookupOnAnEmptyRing(t *testing.T) {
	table := &hashring.Options{Placement: faultPlacement{}}
	for what, r := range map[string]*hashring.Ring{
		"the zero Ring":                {},
		"new of nil":                   faultRing(t, nil),
		"new of none":                  faultRing(t, &hashring.Options{Hash: hashring.MD5}, []hashring.Node{}...),
		"emptied":                      mustWithout(t, faultRing(t, nil, hashring.Nodes("a", "b")...), "a", "b"),
		"of the zero Live":             new(hashring.Live).Load(),
		"of NewLive(nil)":              hashring.NewLive(nil).Load(),
		"placed, without nodes":        faultRing(t, table),
		"placed, nodes without tokens": faultRing(t, table, hashring.Nodes("a", "b")...),
	} {
		requireNone := func(name string, ok bool) {
			t.Helper()
			require.False(t, ok, what)
			require.Empty(t, name, what)
		}
		requireNone(r.Owner("key"))
		requireNone(r.Owner(""))
		requireNone(r.OwnerBytes([]byte("key")))
		requireNone(r.OwnerBytes(nil))
		for _, pos := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
			requireNone(r.OwnerAt(pos))
			require.Equal(t, -1, r.IndexAt(pos), what)
			require.Empty(t, slices.Collect(r.WalkAt(pos)), what)
			require.Empty(t, slices.Collect(r.SpreadAt(pos)), what)
			require.Empty(t, r.AppendReplicasAt(nil, pos, 3), what)
			require.Empty(t, r.AppendSpreadAt(nil, pos, 3), what)
			for range r.TokensFrom(pos) {
				require.Fail(t, what)
			}
		}
		require.Empty(t, slices.Collect(r.Replicas("key")), what)
		require.Empty(t, slices.Collect(r.Spread("key")), what)
		require.Empty(t, r.AppendReplicas(nil, "key", 3), what)
		require.Empty(t, r.AppendSpread(nil, "key", 3), what)
		require.Empty(t, faultTokens(r), what)
		require.Zero(t, r.NumTokens(), what)
		require.Contains(t, r.String(), "0 tokens", what)
		_, ok := r.Node("absent")
		require.False(t, ok, what)
		require.Same(t, r, mustWithout(t, r, "absent", ""), what)
		require.Same(t, r, mustWith(t, r), what)
		if r.Options().Placement == nil {
			require.Equal(t, 0, r.Len(), what)
			owner, ok := mustWith(t, r, hashring.Node{Name: "first"}).Owner("key")
			require.True(t, ok, what)
			require.Equal(t, "first", owner, what)
		}
	}
	var live hashring.Live
	_, ok := live.Owner("key")
	require.False(t, ok)
	require.Empty(t, slices.Collect(live.Replicas("key")))
}

// With fewer than four virtual nodes, four of which come from one digest, there is none, and the index runs out of range.
// apache/dubbo-go #3510
func TestFault42_FewVirtualNodes(t *testing.T) {
	for v := 1; v <= 5; v++ {
		r := faultRing(t, &hashring.Options{VirtualNodes: v}, hashring.Nodes("a", "b", "c")...)
		held := make(map[string]int)
		for _, token := range faultTokens(r) {
			held[token.node]++
		}
		require.Equal(t, map[string]int{"a": v, "b": v, "c": v}, held)
		owner, ok := r.Owner("key")
		require.True(t, ok)
		require.Equal(t, faultOwner(r, r.Position("key")), owner)
	}
	_, err := hashring.New(nil, &hashring.Options{VirtualNodes: -1})
	require.ErrorIs(t, err, hashring.ErrOptions)
	require.Equal(t, 160, faultRing(t, &hashring.Options{VirtualNodes: 0}, hashring.Nodes("a")...).NumTokens())
}

// Statistics of nothing divide by zero. buraksezer/consistent #19, risingwavelabs/risingwave #8190
func TestFault43_StatisticsOfNothing(t *testing.T) {
	for _, r := range []*hashring.Ring{
		new(hashring.Ring),
		faultRing(t, &hashring.Options{Placement: faultPlacement{}}, hashring.Nodes("has", "no", "tokens")...),
	} {
		o := r.Ownership(hashring.Policy{N: 3})
		require.Len(t, o.Nodes, r.Len())
		require.Equal(t, [2]hashring.Balance{}, [2]hashring.Balance{o.Owned, o.Held})
		require.Zero(t, o.Theory)
		for _, n := range o.Nodes {
			require.Zero(t, n.Owned())
			require.Zero(t, n.Held())
			require.InDelta(t, 1.0/3, n.Ideal, 1e-12)
		}
	}
}

// If all weights are zero it crashes, or a node of weight zero stays on the ring. bnoguchi/node-hash-ring #5,
// iqiyi/dpvs #376
func TestFault45_AllWeightsZero(t *testing.T) {
	weighted := func(weights ...float64) []hashring.Node {
		nodes := hashring.Nodes("a", "b", "c", "d", "e")[:len(weights)]
		for i, w := range weights {
			nodes[i].Weight = w
		}
		return nodes
	}
	ones := faultRing(t, nil, weighted(1, 1)...)
	faultSame(t, ones, faultRing(t, nil, weighted(0, 0)...))
	faultSame(t, ones, faultRing(t, nil, weighted(math.Copysign(0, -1), 0)...))
	r := faultRing(t, nil, weighted(0, 1)...)
	faultSame(t, ones, r)
	keys, owners := faultNames("key-", 100), make(map[string]int)
	for _, key := range keys {
		owner, _ := r.Owner(key)
		owners[owner]++
	}
	require.Len(t, owners, 2)

	left := mustWithout(t, r, "a") // how a node is drained
	for _, key := range keys {
		owner, ok := left.Owner(key)
		require.True(t, ok)
		require.Equal(t, "b", owner)
	}
	_, ok := mustWithout(t, left, "b").Owner("key")
	require.False(t, ok)

	bad := weighted(-1, 1, math.NaN(), math.Inf(1), math.Inf(-1))
	live := hashring.NewLive(ones)
	_, newErr := hashring.New(bad, nil)
	_, withErr := ones.With(bad...)
	change, addErr := live.Add(bad...)
	_, setErr := live.Set(bad)
	require.Same(t, ones, change.New)
	require.Same(t, ones, live.Load())
	for _, err := range []error{newErr, withErr, addErr, setErr} {
		require.ErrorIs(t, err, hashring.ErrInvalidNode)
		var at *hashring.NodeError
		require.True(t, errors.As(err, &at))
		require.Equal(t, "a", at.Name)
		require.Equal(t, 0, at.Index)
		for _, name := range []string{"a", "c", "d", "e"} {
			require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		}
		require.NotContains(t, err.Error(), `"b"`)
	}
	for _, w := range []float64{-1, -1e-300, math.NaN(), math.Inf(1), math.Inf(-1), -math.MaxFloat64} {
		_, err := hashring.New(weighted(w), nil)
		require.ErrorIs(t, err, hashring.ErrInvalidNode, "%v", w)
	}
}

// Weight 0 means "not on the ring" to one program and 1 to another. grpc/grpc #30079, libmemcached
func TestFault46_WeightZeroIsOne(t *testing.T) {
	one := faultRing(t, nil, hashring.Node{Name: "a", Weight: 1}, hashring.Node{Name: "b", Weight: 3})
	zero := faultRing(t, nil, hashring.Node{Name: "a"}, hashring.Node{Name: "b", Weight: 3})
	faultSame(t, one, zero)
	require.Equal(t, 160+480, zero.NumTokens())
	n, _ := zero.Node("a")
	require.Equal(t, 1.0, n.Weight, "stored as what it means")
	require.Same(t, one, mustWith(t, one, hashring.Node{Name: "a"}))
	faultSame(t, one, mustWith(t, mustWith(t, one, hashring.Node{Name: "a", Weight: 2}), hashring.Node{Name: "a"}))
}

// Removing the last node, one that is not there, or one twice, panics or builds the ring anew. stratosnet/sds #691,
// serialx/hashring #3, arriqaaq/xring #3, zonyitoo/conhash-rs #4, vlingo/xoom-lattice #12
func TestFault48_RemoveLastAbsentTwice(t *testing.T) {
	for what, nodes := range map[string][]hashring.Node{
		"native":   hashring.Nodes("a", "b"),
		"explicit": {faultAt("a", 10, 20), faultAt("b", 15, 20)},
	} {
		fresh := faultRing(t, nil, nodes...)
		live := hashring.NewLive(nil)
		requireNothing := func(names ...string) {
			t.Helper()
			change, err := live.Remove(names...)
			require.NoError(t, err)
			require.Same(t, change.Old, change.New, what)
			require.Same(t, change.Old, live.Load(), what)
		}
		requireNothing("x")
		_, err := live.Add(nodes...)
		require.NoError(t, err)
		requireNothing("x")
		requireNothing("x", "", "A")
		requireNothing()

		change, err := live.Remove("b", "b", "x")
		require.NoError(t, err)
		require.Equal(t, 2, change.Old.Len())
		require.Equal(t, 1, change.New.Len())
		requireNothing("b")
		change, err = live.Remove("a")
		require.NoError(t, err)
		require.Zero(t, change.New.Len())
		faultSame(t, faultRing(t, nil), live.Load())
		requireNothing("a")
		_, ok := live.Owner("key")
		require.False(t, ok)

		_, err = live.Add(nodes[1])
		require.NoError(t, err)
		_, err = live.Add(nodes[0])
		require.NoError(t, err)
		faultSame(t, fresh, live.Load())
	}
}

// A node added twice is there twice, or two nodes of one name become one without a word. stathat/consistent #32,
// redis/redis-rb #354
func TestFault49_AddedTwice(t *testing.T) {
	live := hashring.NewLive(nil)
	change, err := live.Add(hashring.Node{Name: "a", Weight: 1})
	require.NoError(t, err)
	require.NotSame(t, change.Old, change.New)
	change, err = live.Add(hashring.Node{Name: "a", Weight: 1})
	require.NoError(t, err)
	require.Same(t, change.Old, change.New, "which is how it is reported")

	change, err = live.Add(hashring.Node{Name: "a", Weight: 2}) // replaces the node, as documented
	require.NoError(t, err)
	require.Equal(t, 1, change.New.Len())
	faultSame(t, faultRing(t, nil, hashring.Node{Name: "a", Weight: 2}), change.New)

	twice := []hashring.Node{{Name: "a"}, {Name: "a", Weight: 2}, {Name: "b"}}
	_, newErr := hashring.New(twice, nil)
	_, addErr := live.Add(twice...)
	_, setErr := live.Set(twice)
	for _, err := range []error{newErr, addErr, setErr} {
		require.ErrorIs(t, err, hashring.ErrDuplicateNode)
		var at *hashring.NodeError
		require.True(t, errors.As(err, &at))
		require.Equal(t, 1, at.Index, "the second of them")
		require.Equal(t, "a", at.Name)
	}
	require.Same(t, change.New, live.Load(), "an error changes nothing")
}

// The ring has a fixed number of points in total, so that a node that joins takes points from all others, and keys move
// between those. istio/istio #41814
func TestFault64_AJoinMovesNothingBetweenOldNodes(t *testing.T) {
	r := faultRing(t, nil, hashring.Nodes("node-0", "node-1")...)
	for n := 2; n <= 20; n++ {
		joiner := fmt.Sprint("node-", n)
		joined := faultRing(t, nil, hashring.Nodes(faultNames("node-", n+1)...)...) // anew, with nothing kept of the old one
		require.True(t, joined.Equal(mustWith(t, r, hashring.Node{Name: joiner})))
		moved := faultMoved(t, r, joined, joiner)
		require.InDelta(t, 1/float64(n+1), moved, 0.4/float64(n+1))
		require.InDelta(t, shares(joined)[joiner], moved, 1e-9, "what moved is what the new node has")
		require.InDelta(t, moved, faultMoved(t, joined, mustWithout(t, joined, joiner), joiner), 1e-9)
		r = joined
	}
}

// Points are dealt by the share of the total weight, so that more weight for one node moves keys between others.
// RJ/ketama, 3rd-Eden/node-hashring #53, pda/flexihash #25
func TestFault65_WeightMovesKeysOnlyToTheNodeRaised(t *testing.T) {
	before := faultRing(t, nil, hashring.Nodes(faultNames("node-", 10)...)...)
	after := mustWith(t, before, hashring.Node{Name: "node-4", Weight: 2})
	moved := faultMoved(t, before, after, "node-4")
	require.InDelta(t, 2.0/11-1.0/10, moved, 0.03)
	require.InDelta(t, shares(after)["node-4"]-shares(before)["node-4"], moved, 1e-9, "none moved away from it")
}

// A weight that changes has no effect before a restart. weibocom/nginx-upsync-module #239, grpc/grpc-go #5460
func TestFault66_WeightTakesEffectAndCanBeTakenBack(t *testing.T) {
	live := hashring.NewLive(faultRing(t, nil, hashring.Nodes(faultNames("node-", 10)...)...))
	change, err := live.Add(hashring.Node{Name: "node-3", Weight: 3})
	require.NoError(t, err)
	require.InDelta(t, 3.0/12, shares(live.Load())["node-3"], 0.04)
	require.NotSame(t, change.Old, change.New)
	require.Same(t, change.New, live.Load())
	_, err = live.Add(hashring.Node{Name: "node-3", Weight: 1})
	require.NoError(t, err)
	require.InDelta(t, 1.0/10, shares(live.Load())["node-3"], 0.03)
	faultSame(t, change.Old, live.Load())
}

// A ring that was saved with so many virtual nodes is restored with another number. grafana/dskit #79
func TestFault67_RestoredWithOtherVirtualNodes(t *testing.T) {
	saved := faultRing(t, &hashring.Options{VirtualNodes: 128}, hashring.Nodes("a", "b")...)
	data, err := saved.MarshalBinary()
	require.NoError(t, err)
	restored, err := hashring.Decode(data, &hashring.Options{VirtualNodes: 512}) // it is the saved ring, whose number this is
	require.NoError(t, err)
	require.Equal(t, 256, restored.NumTokens())
	require.Equal(t, 128, restored.Options().VirtualNodes)
	faultSame(t, saved, restored)
	require.NotEqual(t, saved.Fingerprint(), faultRing(t, &hashring.Options{VirtualNodes: 512}, hashring.Nodes("a", "b")...).Fingerprint())
}

// Membership is written under a lock for readers. apache/incubator-seata-go #1081 and #1080, stratosnet/sds #130,
// redis/go-redis #578
func TestFault68_WritingWhileOthersRead(t *testing.T) {
	versions, reads := 300, 2_000
	if testing.Short() {
		versions, reads = 100, 500
	}
	// Each version has three nodes that stay, and one named after the version.
	version := func(v int) []hashring.Node {
		return append(hashring.Nodes("a", "b", "c"), hashring.Node{Name: fmt.Sprint(v)})
	}
	live := hashring.NewLive(faultRing(t, nil, version(0)...))
	var written atomic.Int64
	var wait sync.WaitGroup
	wait.Go(func() {
		for v := 1; v <= versions; v++ {
			written.Store(int64(v)) // before it is published: no reader may see more
			var err error
			if v%2 == 0 {
				_, err = live.Set(version(v))
			} else {
				_, err = live.Update(func(r *hashring.Ring) (*hashring.Ring, error) {
					if r, err = r.Without(fmt.Sprint(v - 1)); err != nil {
						return nil, err
					}
					return r.With(hashring.Node{Name: fmt.Sprint(v)})
				})
			}
			if err != nil {
				t.Error(err)
			}
			runtime.Gosched()
		}
	})
	for g := range 8 {
		wait.Go(func() {
			last := 0
			for i := range reads {
				key := fmt.Sprint(g, "/", i)
				var replicas []string
				for node := range live.Replicas(key) {
					replicas = append(replicas, node)
				}
				slices.Sort(replicas) // digits are before letters
				v := -1
				if len(replicas) == 4 && slices.Equal(replicas[1:], []string{"a", "b", "c"}) {
					fmt.Sscan(replicas[0], &v)
				}
				if v < last || v > int(written.Load()) {
					t.Errorf("replicas %v after version %d", replicas, last)
					return
				}
				last = v
				r := live.Load()
				owner, ok := r.Owner(key)
				if _, member := r.Node(owner); !ok || !member || r.Len() != 4 || r.NumTokens() != 640 {
					t.Errorf("owner %q on %v", owner, r)
					return
				}
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wait.Wait()
	faultSame(t, faultRing(t, nil, version(versions)...), live.Load())
}

// The hash and the table of nodes are exchanged one after the other, so that a reader finds a name of the new one that is
// not in the old. redis/go-redis #2283
func TestFault69_SetExchangedInTwoSteps(t *testing.T) {
	rounds := 3_000
	if testing.Short() {
		rounds = 500
	}
	sets := [2][]hashring.Node{hashring.Nodes("a", "b", "c"), hashring.Nodes("x", "y", "z")}
	live := hashring.NewLive(faultRing(t, &hashring.Options{VirtualNodes: 20}, sets[0]...))
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 1; i <= rounds; i++ {
			change, err := live.Set(sets[i%2])
			if err != nil || change.Old == change.New || change.New.Len() != 3 {
				t.Errorf("%v %v", change, err)
			}
			runtime.Gosched()
		}
	})
	for g := range 4 {
		wait.Go(func() {
			for i := range rounds {
				key := fmt.Sprint(g, "/", i)
				var replicas []string
				for node := range live.Replicas(key) {
					replicas = append(replicas, node)
					runtime.Gosched() // the set changes in the middle of the walk
				}
				if got := strings.Join(slices.Sorted(slices.Values(replicas)), ""); got != "abc" && got != "xyz" {
					t.Errorf("one walk gave %v", replicas)
					return
				}
				r := live.Load()
				if owner, _ := r.Owner(key); owner != r.Name(r.IndexAt(r.Position(key))) {
					t.Errorf("owner %s of %v", owner, r)
					return
				}
			}
		})
	}
	wait.Wait()
}

// The hash works in a buffer that all callers share. vlingo/xoom-lattice #18
func TestFault70_BufferSharedByCallers(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for _, h := range builtins {
		r := faultRing(t, &hashring.Options{Hash: h}, hashring.Nodes(faultNames("node-", 10)...)...)
		keys := make([][]string, 64) // by goroutine
		want := make([][]string, 64)
		for g := range keys {
			keys[g] = faultNames(strings.Repeat("k", g)+"/", 20)
			for _, key := range keys[g] {
				want[g] = append(want[g], strings.Join(r.AppendReplicas(nil, key, 3), " "))
			}
		}
		start := make(chan struct{})
		var wait sync.WaitGroup
		for g := range keys {
			wait.Go(func() {
				<-start
				for range rounds {
					for i, key := range keys[g] {
						if got := strings.Join(r.AppendReplicas(nil, key, 3), " "); got != want[g][i] {
							t.Errorf("%s: %q has replicas %s, then %s", h.Name(), key, want[g][i], got)
							return
						}
						owner, _ := r.OwnerBytes([]byte(key))
						if !strings.HasPrefix(want[g][i], owner+" ") {
							t.Errorf("%s: %q is owned by %s, then %s", h.Name(), key, want[g][i], owner)
							return
						}
					}
				}
			})
		}
		close(start)
		wait.Wait()
	}
}

// faultCountingHash counts how often the name of a node is hashed: a name that begins with "node-".
type faultCountingHash struct{ names *atomic.Int64 }

func (faultCountingHash) Name() string { return "counting" }

func (h faultCountingHash) Sum64(key string) uint64 {
	if strings.HasPrefix(key, "node-") {
		h.names.Add(1)
	}
	return hashring.XXH64.Sum64(key)
}

// faultCountingPlacement counts how often a ring is placed.
type faultCountingPlacement struct {
	faultKetama
	builds *atomic.Int64
}

func (p faultCountingPlacement) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	p.builds.Add(1)
	return p.faultKetama.Place(nodes, emit)
}

// All callers that come during a change build the new ring each, or each call does since the list is another object with
// the same content. apache/dubbo #4270, #5424 and #5429
func TestFault72_StampedeOfBuilds(t *testing.T) {
	const readers = 200
	var builds, names atomic.Int64
	nodes := hashring.Nodes(faultNames("node-", 20)...)
	for _, c := range []struct {
		opts  *hashring.Options
		count *atomic.Int64
		first int64 // what New and With of one node cost
		one   int64
		order bool // the order of the list is part of the membership
	}{
		{&hashring.Options{Placement: faultCountingPlacement{builds: &builds}}, &builds, 1, 1, true},
		{&hashring.Options{Hash: faultCountingHash{&names}}, &names, 20, 1, false},
	} {
		live := hashring.NewLive(faultRing(t, c.opts, nodes...))
		require.Equal(t, c.first, c.count.Swap(0))
		during := func(change func(i int)) { // while all others read
			start := make(chan struct{})
			var wait sync.WaitGroup
			for i := range readers {
				wait.Go(func() {
					<-start
					for j := range 10 {
						key := fmt.Sprint("key-", i, j)
						live.Owner(key)
						live.Load().AppendReplicas(nil, key, 3)
						if j == 5 {
							change(i)
						}
					}
				})
			}
			close(start)
			wait.Wait()
		}
		during(func(i int) {
			if i == readers/2 {
				if _, err := live.Add(hashring.Node{Name: "node-new"}); err != nil {
					t.Error(err)
				}
			}
		})
		require.Equal(t, 21, live.Load().Len())
		require.Equal(t, c.one, c.count.Swap(0), "one change, one build")

		var changed atomic.Int64
		during(func(int) { // all of them learn of the same change at once
			change, err := live.Add(hashring.Node{Name: "node-newer"})
			if err != nil {
				t.Error(err)
			}
			if change.Old != change.New {
				changed.Add(1)
			}
		})
		require.Equal(t, int64(1), changed.Load())
		require.Equal(t, c.one, c.count.Swap(0), "one change, one build")

		before := live.Load()
		members := append(slices.Clone(nodes), hashring.Nodes("node-new", "node-newer")...)
		rng := rand.New(rand.NewPCG(72, 0))
		for range 100 {
			list := slices.Clone(members)
			if !c.order {
				list = faultShuffled(rng, list)
			}
			for i := range list {
				list[i].Name = strings.Clone(list[i].Name)
			}
			change, err := live.Set(list)
			require.NoError(t, err)
			require.Same(t, before, change.New)
		}
		require.Zero(t, c.count.Load(), "nothing changed, nothing is built")
	}
}

// Each ring starts a goroutine that never ends. sensu/sensu-go #1746, troubling/hummingbird #111
func TestFault74_GoroutinesLeft(t *testing.T) {
	rounds := 1_000
	if testing.Short() {
		rounds = 100
	}
	before := runtime.NumGoroutine()
	for i := range rounds {
		live := hashring.NewLive(faultRing(t, &hashring.Options{VirtualNodes: 2}, hashring.Nodes("a", "b", "c")...))
		_, err := live.Add(hashring.Node{Name: fmt.Sprint(i)})
		require.NoError(t, err)
		_, err = live.Remove("a")
		require.NoError(t, err)
		_, err = live.Set(nil)
		require.NoError(t, err)
		_, err = live.Add(hashring.Node{Weight: -1})
		require.Error(t, err)
		for range live.Replicas("key") {
			break
		}
		for range faultRing(t, nil, faultAt("a", 1), faultAt("b", 2)).Spread("key") {
			break
		}
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// A change sorts once for each point or node, or looks through all points for each that is removed. discord/hash_ring #2,
// jeromefroe/hashring-rs #21, redis/redis-rb #1378, grpc/grpc #26420, kkdai/consistent #2
func TestFault75_CostOfAChange(t *testing.T) {
	type cost struct{ with, replace, without float64 }
	measure := func(n int) cost {
		var names atomic.Int64
		opts := &hashring.Options{Hash: faultCountingHash{&names}}
		r := faultRing(t, opts, hashring.Nodes(faultNames("node-", n)...)...)
		require.Equal(t, int64(n), names.Swap(0), "New hashes each name once")
		joined := mustWith(t, r, hashring.Node{Name: "node-new"})
		require.Equal(t, int64(1), names.Swap(0), "With hashes the name that is new, and no other")
		mustWith(t, r, hashring.Node{Name: "node-3", Weight: 2})
		require.Equal(t, int64(1), names.Swap(0))
		mustWith(t, r, hashring.Node{Name: "node-3", Zone: "elsewhere"})
		require.Zero(t, names.Swap(0), "the tokens stay")
		left := mustWithout(t, joined, "node-new")
		require.Zero(t, names.Swap(0), "Without hashes none")
		faultHeldBy(t, r, left)
		return cost{
			testing.AllocsPerRun(5, func() { _, _ = r.With(hashring.Node{Name: "node-new"}) }),
			testing.AllocsPerRun(5, func() { _, _ = r.With(hashring.Node{Name: "node-3", Weight: 2}) }),
			testing.AllocsPerRun(5, func() { _, _ = joined.Without("node-new") }),
		}
	}
	small, large := measure(10), measure(1_000)
	for _, pair := range [][2]float64{{small.with, large.with}, {small.replace, large.replace}, {small.without, large.without}} {
		require.Less(t, pair[0], 40.0, "allocations on 10 nodes")
		require.Less(t, pair[1], 40.0, "allocations on 1,000 nodes")
		require.InDelta(t, pair[0], pair[1], 2, "allocations on 10 and on 1,000 nodes")
	}
	build := func(n int) float64 {
		nodes := hashring.Nodes(faultNames("node-", n)...)
		return testing.AllocsPerRun(2, func() { _, _ = hashring.New(nodes, nil) })
	}
	require.Less(t, build(1_000), build(10)+60, "New allocates a few times, not for each node")
}
