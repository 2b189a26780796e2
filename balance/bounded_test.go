package balance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

func mustBalance(t testing.TB, l *hashring.Live, factor float64) *balance.Balancer {
	t.Helper()
	b, err := balance.New(l, factor)
	require.NoError(t, err)
	return b
}

func acquire(t testing.TB, b *balance.Balancer, key string) balance.Lease {
	t.Helper()
	lease, ok := b.Acquire(key)
	require.True(t, ok)
	return lease
}

// countOf returns the load of a node, or -1 if Loads does not have it.
func countOf(b *balance.Balancer, node string) int {
	for l := range b.Loads() {
		if l.Node == node {
			return l.Count
		}
	}
	return -1
}

func TestFactorsThatAreRefused(t *testing.T) {
	r := mustNew(t, equalNodes(3), nil)
	for _, factor := range []float64{0, -1, 0.5, math.Nextafter(1, 0), math.NaN(), math.Inf(1), math.Inf(-1)} {
		b, err := balance.New(hashring.NewLive(r), factor)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, fmt.Sprintf("the factor is %v,", factor))
		require.Nil(t, b)
		bounds, err := balance.NewBounds(r, factor)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.Nil(t, bounds)
		p, err := balance.Partition(r, 16, factor)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.Nil(t, p)
	}
	for _, factor := range []float64{1, math.Nextafter(1, 2), 1.25, 1e300, math.MaxFloat64} {
		b := mustBalance(t, hashring.NewLive(r), factor)
		for i := range 10 {
			acquire(t, b, fmt.Sprint(i))
		}
		require.Equal(t, 10, b.Total())
	}
}

// leased is a lease and what the model knows of it.
type leased struct {
	balance.Lease
	node string
}

// A million operations in the order that chance has them: after each, loads, total, bounds and the node chosen are
// those of a model that counts in a map.
func TestBalancerIsItsModel(t *testing.T) {
	rng := seed.Random(t)
	ops := seed.Rounds(t, 200_000)
	for _, world := range []struct {
		factor float64
		opts   hashring.Options
		out    int // leases that are out, about
	}{
		{1, hashring.Options{VirtualNodes: 1}, 30},
		{1.05, hashring.Options{VirtualNodes: 16}, 100},
		{1.25, hashring.Options{VirtualNodes: 40}, 10},
		{2, hashring.Options{Placement: starving{}}, 40},
		{1000, hashring.Options{VirtualNodes: 4}, 300},
	} {
		t.Run(fmt.Sprint(world.factor), func(t *testing.T) {
			againstModel(t, rng, world.factor, &world.opts, world.out, ops)
		})
	}
}

func againstModel(t *testing.T, rng *rand.Rand, factor float64, opts *hashring.Options, about, ops int) {
	live := hashring.NewLive(mustNew(t, nil, opts))
	b := mustBalance(t, live, factor)
	var (
		ring  = live.Load()
		s     = sharesOf(ring)
		loads = make(map[string]int)
		out   []leased
		done  []balance.Lease // released, and to be released again
	)
	change := func() {
		name := func() string { return "n123456789"[:1+rng.IntN(10)] + fmt.Sprint(rng.IntN(2)) }
		var err error
		switch rng.IntN(10) {
		case 0:
			_, err = live.Set(nil)
		case 1, 2, 3, 4:
			_, err = live.Remove(name(), name())
		default:
			_, err = live.Add(hashring.Node{Name: name(), Weight: float64(1+rng.IntN(8)) / 2})
		}
		require.NoError(t, err)
		ring = live.Load()
		s = sharesOf(ring)
	}
	for op := range ops {
		switch p := rng.IntN(1000); {
		case p < 10 || ring.Len() == 0 && p < 500:
			change()
		case p < 60 && len(done) > 0: // once more
			done[rng.IntN(len(done))].Release()
		case p < 500+5*(about-len(out)) || len(out) == 0:
			key := fmt.Sprint("key-", rng.IntN(50))
			admit, all := func(string) bool { return true }, p%4 > 0
			if !all {
				bits := rng.Uint32()
				admit = func(node string) bool { return bits>>(len(node)%32)&1 == 1 }
			}
			want, within, wantOK := choose(ring, s, key, factor, loads, len(out), admit)
			var lease balance.Lease
			var ok bool
			if all {
				lease, ok = b.Acquire(key)
				if ok && !within || ok != (ring.NumTokens() > 0) {
					t.Fatalf("op %d: there is always room, and a node if there are tokens: %v, %v", op, within, ok)
				}
			} else {
				lease, ok = b.AcquireIf(key, admit)
			}
			if ok != wantOK || lease.Node() != want {
				t.Fatalf("op %d: %q went to %q, %v in place of %q, %v", op, key, lease.Node(), ok, want, wantOK)
			}
			if owner, _ := ring.Owner(key); all && ok && len(out) == 0 && want != owner {
				t.Fatalf("op %d: with nothing under way %q went to %q, not to its owner %q", op, key, want, owner)
			}
			if ok {
				loads[want]++
				out = append(out, leased{lease, want})
			}
		default:
			i := rng.IntN(len(out))
			l := out[i]
			out = slices.Delete(out, i, i+1)
			l.Release()
			loads[l.node]--
			if len(done) < 100 {
				done = append(done, l.Lease)
			} else {
				done[rng.IntN(100)] = l.Lease
			}
		}
		if b.Total() != len(out) {
			t.Fatalf("op %d: total %d of %d leases", op, b.Total(), len(out))
		}
		i, sum := 0, 0
		for l := range b.Loads() {
			onRing := i < ring.Len()
			if onRing && (l.Node != ring.Name(i) || l.Bound != s.bound(l.Node, factor, len(out)+1)) {
				t.Fatalf("op %d: load %d is %+v", op, i, l)
			}
			if !onRing && (l.Count == 0 || l.Bound != 0) {
				t.Fatalf("op %d: load %d, of a node that has left, is %+v", op, i, l)
			}
			if l.Count != loads[l.Node] || l.Count < 0 {
				t.Fatalf("op %d: %+v, in place of %d", op, l, loads[l.Node])
			}
			i++
			sum += l.Count
		}
		if i < ring.Len() || sum != len(out) {
			t.Fatalf("op %d: %d of %d nodes, with %d of %d leases", op, i, ring.Len(), sum, len(out))
		}
	}
}

// The count of requests only rises, so that one key goes from node to node though nothing is under way. apache/dubbo
// #11947
func TestFault76_CounterThatOnlyRises(t *testing.T) {
	for _, factor := range []float64{1, 1.25, 100} {
		live := hashring.NewLive(mustNew(t, weightedNodes(10), nil))
		b := mustBalance(t, live, factor)
		owner, _ := live.Owner("key")
		for range 1000 {
			lease := acquire(t, b, "key")
			require.Equal(t, owner, lease.Node())
			lease.Release()
		}
	}
}

// The bound is the same for nodes of all weights, and the search gives up after a few tries. Here weights 1 and 9 with
// 100 requests under way and a factor of 1.1 make bounds of 12 and 100; and when all but the last node are full, that
// one is found. envoyproxy/envoy #11888, #12529
func TestFault79_BoundsWithoutWeightsAndTooFewTries(t *testing.T) {
	nodes := []hashring.Node{{Name: "light", Weight: 1}, {Name: "heavy", Weight: 9}}
	b := mustBalance(t, hashring.NewLive(mustNew(t, nodes, nil)), 1.1)
	for range 100 {
		acquire(t, b, "key")
	}
	for l := range b.Loads() {
		require.Equal(t, map[string]int{"light": 12, "heavy": 100}[l.Node], l.Bound)
	}

	const n = 200
	b = mustBalance(t, hashring.NewLive(mustNew(t, equalNodes(n), nil)), 1)
	for i := range 3 * n { // one key alone fills the nodes one after another to the last
		acquire(t, b, "hot")
		for l := range b.Loads() {
			require.LessOrEqual(t, l.Count, i/n+1, "request %d", i)
		}
	}
	for l := range b.Loads() {
		require.Equal(t, 3, l.Count)
	}
}

func TestReleaseAfterTheNodeHasLeftAndComeBack(t *testing.T) {
	live := hashring.NewLive(mustNew(t, hashring.Nodes("a"), nil))
	b := mustBalance(t, live, 1)
	first, second, third := acquire(t, b, "k"), acquire(t, b, "k"), acquire(t, b, "k")
	set := func(names ...string) {
		_, err := live.Set(hashring.Nodes(names...))
		require.NoError(t, err)
	}
	set("b")
	require.Equal(t, 3, countOf(b, "a"), "it has left with requests under way")
	require.Equal(t, 3, b.Total())
	for l := range b.Loads() {
		require.Equal(t, l.Node == "b", l.Bound > 0, "only what is on the ring has a bound")
	}
	first.Release()
	require.Equal(t, 2, countOf(b, "a"))
	require.Equal(t, "a", first.Node())
	set("a", "b")
	require.Equal(t, 2, countOf(b, "a"), "it is back, with its load")
	second.Release()
	require.Equal(t, 1, countOf(b, "a"))
	set("c")
	set("d")
	third.Release()
	require.Equal(t, -1, countOf(b, "a"))
	require.Zero(t, b.Total())
	set("a")
	require.Zero(t, countOf(b, "a"))
	for _, l := range []balance.Lease{first, second, third} {
		l.Release() // twice, when the node is another's
	}
	require.Zero(t, countOf(b, "a"))
	require.Zero(t, b.Total())
}

// Releasing more often than was acquired takes nothing off what others have acquired since.
func TestSecondReleaseDoesNothing(t *testing.T) {
	b := mustBalance(t, hashring.NewLive(mustNew(t, hashring.Nodes("a"), nil)), 1.25)
	balance.Lease{}.Release()
	require.Empty(t, balance.Lease{}.Node())
	var old []balance.Lease
	for range 100 {
		l := acquire(t, b, "k")
		l.Release()
		l.Release()
		old = append(old, l)
	}
	held := acquire(t, b, "k") // by all likelihood with the slot of one of those
	for _, l := range old {
		l.Release()
	}
	require.Equal(t, 1, b.Total())
	require.Equal(t, 1, countOf(b, "a"))
	same := held
	var releasing sync.WaitGroup
	for range 8 {
		releasing.Go(func() { same.Release() })
	}
	releasing.Wait()
	held.Release()
	require.Zero(t, b.Total())
	require.Zero(t, countOf(b, "a"))
}

func TestAcquireWithoutTokens(t *testing.T) {
	for _, r := range withoutTokens(t) {
		live := hashring.NewLive(r)
		b := mustBalance(t, live, 1.25)
		lease, ok := b.Acquire("k")
		require.False(t, ok)
		require.Empty(t, lease.Node())
		lease.Release()
		require.Zero(t, b.Total())
		for l := range b.Loads() {
			require.Equal(t, balance.Load{Node: "odd"}, l)
		}
		_, err := live.Add(hashring.Nodes("even")...)
		require.NoError(t, err)
		require.Equal(t, "even", acquire(t, b, "k").Node())
	}
}

func TestAcquireIf(t *testing.T) {
	live := hashring.NewLive(mustNew(t, equalNodes(5), nil))
	b := mustBalance(t, live, 1)
	replicas := live.Load().AppendReplicas(nil, "k", 5)
	down := map[string]bool{replicas[0]: true, replicas[2]: true}
	up := func(node string) bool { return !down[node] }
	for round := range 10 { // above the bounds of two in five, and still even
		for _, want := range []string{replicas[1], replicas[3], replicas[4]} {
			l, ok := b.AcquireIf("k", up)
			require.True(t, ok)
			require.Equal(t, want, l.Node(), "round %d", round)
		}
	}
	_, ok := b.AcquireIf("k", func(string) bool { return false })
	require.False(t, ok)
	require.Equal(t, 30, b.Total())
	require.Equal(t, replicas[0], acquire(t, b, "k").Node(), "one that was down has room first")

	require.Panics(t, func() { b.AcquireIf("k", func(string) bool { panic("of the caller") }) })
	require.Equal(t, 31, b.Total(), "that was no lease")
}

// Weights beyond reason: their sum overflows, or a part of it is too small for a number. All nodes get something, none
// too much.
func TestWeightsBeyondReason(t *testing.T) {
	at := func(name string, token uint64, weight float64) hashring.Node {
		return hashring.Node{Name: name, Tokens: []uint64{token}, Weight: weight}
	}
	const huge, tiny = math.MaxFloat64, math.SmallestNonzeroFloat64
	r := mustNew(t, []hashring.Node{at("a", 1, huge), at("b", 2, huge), at("c", 3, huge), at("d", 4, tiny)}, nil)
	idle := func(string) float64 { return 0 }
	require.Equal(t, []string{"a", "b", "c", "d"}, slices.Collect(mustBound(t, r, 1).Walk("k", idle)))
	b := mustBalance(t, hashring.NewLive(r), 1)
	for range 1501 {
		acquire(t, b, "k")
	}
	for l := range b.Loads() {
		require.LessOrEqual(t, l.Count, map[string]int{"a": 501, "b": 501, "c": 501, "d": 1}[l.Node])
	}

	p, err := balance.Partition(r, 1501, 1)
	require.NoError(t, err)
	sum := 0
	for l := range p.Loads() {
		require.LessOrEqual(t, l.Count, l.Bound)
		require.Equal(t, map[string]int{"a": 501, "b": 501, "c": 501, "d": 1}[l.Node], l.Bound)
		sum += l.Count
	}
	require.Equal(t, 1501, sum)
}

// An Acquire that begins when a change is over gets no node that has left, under whatever other calls.
func TestAcquireFollowsTheRing(t *testing.T) {
	live := hashring.NewLive(mustNew(t, equalNodes(4), nil))
	b := mustBalance(t, live, 1.25)
	stop := make(chan struct{})
	var others sync.WaitGroup
	for g := range 3 {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					l, _ := b.Acquire(fmt.Sprint(g, i))
					l.Release()
					runtime.Gosched() // there may be but one thread
				}
			}
		})
	}
	for i := range 500 {
		away := fmt.Sprintf("node-%03d", i%4)
		_, err := live.Remove(away)
		require.NoError(t, err)
		for k := range 4 {
			l := acquire(t, b, fmt.Sprint(k))
			require.NotEqual(t, away, l.Node())
			l.Release()
		}
		_, err = live.Add(hashring.Node{Name: away})
		require.NoError(t, err)
	}
	close(stop)
	others.Wait()
	require.Zero(t, b.Total())
}

// Acquires, releases from other goroutines and twice, and changes of the ring, all at once. No load is ever seen below
// 0, and when all is done nothing is left anywhere.
func TestBalancerUnderChanges(t *testing.T) {
	live := hashring.NewLive(mustNew(t, weightedNodes(8), nil))
	b := mustBalance(t, live, 1.25)
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	leases := make(chan balance.Lease, 64)
	var acquiring, releasing, watching sync.WaitGroup
	for g := range 4 {
		acquiring.Go(func() {
			for i := range rounds {
				l, ok := b.Acquire(fmt.Sprint(g, i))
				if !ok {
					t.Error("there are always tokens")
					return
				}
				leases <- l
			}
		})
		releasing.Go(func() {
			for l := range leases {
				var twice sync.WaitGroup
				twice.Go(l.Release)
				l.Release()
				twice.Wait()
			}
		})
	}
	var over atomic.Bool
	watching.Go(func() {
		for i := 0; !over.Load(); i++ {
			name := fmt.Sprintf("node-%03d", i%8)
			if _, err := live.Remove(name); err != nil {
				t.Error(err)
			}
			if _, err := live.Add(hashring.Node{Name: name, Weight: float64(1 + i%3)}); err != nil {
				t.Error(err)
			}
			for l := range b.Loads() {
				if l.Count < 0 {
					t.Errorf("%+v", l)
				}
			}
			if b.Total() < 0 {
				t.Error("the total is negative")
			}
			runtime.Gosched() // there may be but one thread
		}
	})
	acquiring.Wait()
	close(leases)
	releasing.Wait()
	over.Store(true)
	watching.Wait()
	require.Zero(t, b.Total())
	n := 0
	for l := range b.Loads() {
		require.Zero(t, l.Count)
		n++
	}
	require.Equal(t, 8, n)
}

func TestLoadsStops(t *testing.T) {
	live := hashring.NewLive(mustNew(t, equalNodes(3), nil))
	b := mustBalance(t, live, 1)
	for range 3 {
		acquire(t, b, "k")
	}
	_, err := live.Remove("node-001", "node-002")
	require.NoError(t, err)
	for stop := range 3 {
		n := 0
		for range b.Loads() {
			if n++; n > stop {
				break
			}
		}
		require.Equal(t, stop+1, n)
	}
}
