package feed_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// world is a Feed with all that it writes to. Its ring is asked for after the goroutines have come to rest.
type world struct {
	t *testing.T
	*feed.Feed
	live *hashring.Live
	log  *lines

	mu    sync.Mutex
	rings []string // that OnChange was told of
}

// seen returns what OnChange was told.
func (w *world) seen() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rings
}

// lines collects a log.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inWorld runs test in fake time, with a Feed for a ring of the given nodes.
func inWorld(t *testing.T, names string, opts feed.Options, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		live := hashring.NewLive(nil)
		if names != "" {
			_, err := live.Set(nodes(names))
			require.NoError(t, err)
		}
		w := &world{t: t, live: live, log: new(lines)}
		if opts.Logger == nil {
			opts.Logger = slog.New(slog.NewTextHandler(w.log, nil))
		}
		if opts.OnChange == nil {
			opts.OnChange = func(c hashring.Change) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.rings = append(w.rings, ringOf(c.New))
			}
		}
		f, err := feed.New(live, &opts)
		require.NoError(t, err)
		defer f.Close()
		w.Feed = f
		test(w)
	})
}

func nodes(names string) []hashring.Node { return hashring.Nodes(strings.Fields(names)...) }

func ringOf(r *hashring.Ring) string {
	var names []string
	for _, n := range r.Nodes() {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

func (w *world) update(names string) { require.NoError(w.t, w.Update(nodes(names))) }

// after lets d pass and requires what the ring is then.
func (w *world) after(d time.Duration, ring string) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	require.Equal(w.t, ring, ringOf(w.live.Load()))
}

const settled = 200 * time.Millisecond

func TestNewsSettles(t *testing.T) {
	inWorld(t, "", feed.Options{}, func(w *world) {
		require.Equal(t, feed.Status{}, w.Status())
		w.update("a")
		require.Equal(t, feed.Settling, w.Status().State)
		w.after(settled-1, "")
		w.update("a b")
		w.after(settled-1, "")
		require.Equal(t, []string{"a", "b"}, w.Status().Held, "not published yet")
		w.after(1, "a b")
		require.Equal(t, feed.Status{Changed: time.Now()}, w.Status())
		w.after(time.Hour, "a b")
		require.Equal(t, []string{"a b"}, w.seen(), "one step")
	})
}

func TestNewsThatNeverSettlesIsPublishedAllTheSame(t *testing.T) {
	inWorld(t, "", feed.Options{}, func(w *world) {
		start := time.Now()
		list := ""
		for i := range 100 {
			list += fmt.Sprint(" n", i)
			w.update(list)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if time.Since(start) == time.Second {
				require.Equal(t, 10, w.live.Load().Len(), "after MaxWait")
			}
		}
		require.Len(t, w.seen(), 10)
	})
}

func TestDurationsBelowZeroAreNone(t *testing.T) {
	inWorld(t, "", feed.Options{Settle: -1, MaxWait: -1, FailGrace: -1, HoldDown: -1}, func(w *world) {
		w.update("a b c d")
		w.after(0, "a b c d")
		w.Fail("b")
		w.after(0, "a c d")
		w.update("a b c d")
		w.after(0, "a b c d")
	})
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, loss := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		_, err := feed.New(hashring.NewLive(nil), &feed.Options{MaxLoss: loss})
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, fmt.Sprint(loss))
	}
	f, err := feed.New(hashring.NewLive(nil), nil)
	require.NoError(t, err)
	f.Close()
}

// The same nodes in any order change nothing, whereas other programs rebuild, or move keys.
func TestFault85_EqualStateChangesNothing(t *testing.T) {
	random := seed.Random(t)
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("node-", i))
	}
	list := strings.Join(names, " ")
	inWorld(t, "", feed.Options{}, func(w *world) {
		w.update(list)
		time.Sleep(time.Minute)
		ring, status := w.live.Load(), w.Status()
		for range 1000 {
			random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			w.update(strings.Join(names, " "))
			require.Equal(t, feed.Steady, w.Status().State, "this is no news")
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		}
		time.Sleep(time.Minute)
		require.Same(t, ring, w.live.Load())
		require.Equal(t, status.Changed, w.Status().Changed)
		require.Len(t, w.seen(), 1)
	})
}

func TestUpdateRefusesANameTwice(t *testing.T) {
	inWorld(t, "a b", feed.Options{}, func(w *world) {
		err := w.Update(nodes("c d c"))
		require.ErrorIs(t, err, hashring.ErrDuplicateNode)
		var at *hashring.NodeError
		require.ErrorAs(t, err, &at)
		require.Equal(t, "c", at.Name)
		require.Equal(t, 2, at.Index)
		w.after(time.Hour, "a b")
	})
}

func TestUpdateRefusesNodesThatAreNone(t *testing.T) {
	inWorld(t, "a b", feed.Options{}, func(w *world) {
		err := w.Update([]hashring.Node{{Name: "a"}, {Name: "b", Weight: math.NaN()}, {Name: ""}})
		require.ErrorIs(t, err, hashring.ErrInvalidNode)
		require.ErrorContains(t, err, `"b"`)
		require.ErrorContains(t, err, "the name is empty")
		w.after(time.Hour, "a b")
		require.NoError(t, w.Status().Err)
		require.Equal(t, feed.Steady, w.Status().State)
	})
}

func TestAListThatTheRingRefuses(t *testing.T) {
	inWorld(t, "a b", feed.Options{}, func(w *world) {
		require.NoError(t, w.Update([]hashring.Node{{Name: "a"}, {Name: "b", Weight: 1e9}}))
		w.after(time.Hour, "a b")
		err := w.Status().Err
		require.ErrorIs(t, err, hashring.ErrTooManyTokens)
		require.ErrorContains(t, err, `"b"`)
		require.Contains(t, w.log.String(), "the ring refuses")
		w.update("a b c")
		w.after(settled, "a b c")
		require.NoError(t, w.Status().Err)
	})
}

func TestUpdateKeepsNothingOfItsCaller(t *testing.T) {
	inWorld(t, "", feed.Options{}, func(w *world) {
		list := []hashring.Node{{Name: "a", Tokens: []uint64{1, 2}}, {Name: "b"}}
		require.NoError(t, w.Update(list))
		list[0].Tokens[0] = 77
		list[1].Name = "x"
		w.after(settled, "a b")
		a, _ := w.live.Load().Node("a")
		require.Equal(t, []uint64{1, 2}, a.Tokens)
	})
}

func TestWhatANodeIsMayChange(t *testing.T) {
	inWorld(t, "a b", feed.Options{}, func(w *world) {
		changes := [][]hashring.Node{
			{{Name: "a", Weight: 2}, {Name: "b"}},
			{{Name: "a", Weight: 2, Zone: "z"}, {Name: "b"}},
			{{Name: "a", Weight: 2, Zone: "z"}, {Name: "b", Label: "l"}},
			{{Name: "a", Weight: 2, Zone: "z"}, {Name: "b", Label: "l", Tokens: []uint64{5}}},
		}
		for _, list := range changes {
			before := w.live.Load()
			require.NoError(t, w.Update(list))
			w.after(settled, "a b")
			want, err := hashring.New(list, nil)
			require.NoError(t, err)
			require.True(t, w.live.Load().Equal(want))
			require.False(t, w.live.Load().Equal(before))
		}
	})
}

func TestALostNodeStaysForFailGrace(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{FailGrace: 10 * time.Second}, func(w *world) {
		w.Fail("b")
		w.after(9*time.Second, "a b c d")
		require.Equal(t, []string{"b"}, w.Status().Lost)
		require.Equal(t, feed.Steady, w.Status().State)
		w.update("a b c d") // back in time: nothing ever happened
		w.after(time.Hour, "a b c d")
		require.Empty(t, w.seen())

		w.update("a c d") // lost, without a word
		w.after(10*time.Second-1, "a b c d")
		w.after(1, "a c d")
		require.Empty(t, w.Status().Lost)
	})
}

func TestALostNodeIsHeldDown(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{}, func(w *world) {
		hold := 5 * time.Second
		for range 10 {
			w.Fail("b")
			w.after(settled, "a c d")
			w.update("a b c d")
			w.after(hold-settled-1, "a c d")
			require.Equal(t, []string{"b"}, w.Status().Held)
			w.after(1, "a b c d")
			require.Empty(t, w.Status().Held)
			hold = min(2*hold, 5*time.Minute)
		}
		time.Sleep(10 * time.Minute)
		w.Fail("b")
		w.update("a b c d")
		w.after(time.Second, "a b c d") // never off the ring
		w.Fail("b")
		w.after(10*time.Second-1, "a c d")
		w.update("a b c d")
		w.after(settled, "a b c d") // 10 s: what was more than 10 minutes ago is forgotten, but this is the second
	})
}

func TestHoldDownMayBeLongerThanDoublingMakesIt(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{HoldDown: time.Hour}, func(w *world) {
		w.Fail("b")
		w.after(settled, "a c d")
		w.update("a b c d")
		w.after(time.Hour-settled-1, "a c d")
		w.after(1, "a b c d")
	})
}

func TestANodeThatLeaves(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{FailGrace: time.Minute}, func(w *world) {
		w.Leave("b")
		w.Leave("nobody")
		w.Fail("nobody")
		w.after(settled, "a c d")
		w.update("a b c d")
		w.after(settled, "a b c d")
		for _, name := range []string{"a", "b", "c"} {
			w.Leave(name)
		}
		w.after(settled, "d")
		require.Equal(t, feed.Steady, w.Status().State, "however many leave")
		w.Leave("d")
		w.after(settled, "")
	})
}

func TestALossOfTooManyIsNotBelieved(t *testing.T) {
	inWorld(t, "a b c d e", feed.Options{}, func(w *world) {
		w.update("a b c")
		w.after(settled, "a b c") // 2 of 5
		w.Fail("b")
		w.after(settled, "a b c d e") // 3 of 5: those that had gone are back
		require.Equal(t, feed.Degraded, w.Status().State)
		require.Equal(t, []string{"b", "d", "e"}, w.Status().Lost)
		require.Contains(t, w.log.String(), "more nodes are lost")
		w.after(100*time.Hour, "a b c d e") // time proves nothing
		w.update("")
		w.after(time.Second, "a b c d e")
		w.update("a f")
		w.after(settled, "a b c d e f") // new nodes may come all the same
		w.update("a b")
		w.after(settled, "a b c d e f")
		w.update("a b c f")
		w.after(settled, "a b c f") // 2 of 6 are lost
		require.Equal(t, feed.Steady, w.Status().State)
		require.Contains(t, w.log.String(), "enough nodes are back")
	})
}

func TestDegradedEndsWhenSomeoneWhoKnowsSaysSo(t *testing.T) {
	inWorld(t, "a b c d e", feed.Options{}, func(w *world) {
		w.update("a")
		w.after(time.Hour, "a b c d e")
		w.Leave("b")
		w.after(settled, "a c d e")
		w.Leave("c")
		w.after(settled, "a d e")
		w.Leave("d")
		w.after(settled, "a") // 1 of 2 is not too many
		require.Equal(t, feed.Steady, w.Status().State)
	})
}

func TestSlowLossesAreBelieved(t *testing.T) {
	inWorld(t, "a b c d e", feed.Options{}, func(w *world) {
		for _, list := range []string{"a b c d", "a b c", "a b", "a"} {
			w.update(list)
			w.after(time.Minute, list)
			require.Equal(t, feed.Steady, w.Status().State)
		}
		w.update("")
		w.after(time.Hour, "a") // but the last is more than half
	})
}

// A process that is cut off may find that out node by node, and slowly.
func TestLossesOneAfterTheOtherAreTakenTogether(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint("n", 10+i))
	}
	list := strings.Join(all, " ")
	inWorld(t, list, feed.Options{}, func(w *world) {
		for i, name := range all[:39] {
			w.Fail(name)
			ring := strings.Join(all[i+1:], " ")
			if i >= 20 {
				ring = list
			}
			w.after(time.Minute-1, ring)
		}
		w.after(time.Hour, list)
	})
}

// Nodes that come show that the source can see: so nodes that are replaced one by one are not taken for a disaster.
func TestNodesThatComeEndARunOfLosses(t *testing.T) {
	inWorld(t, "n10 n11 n12 n13 n14", feed.Options{}, func(w *world) {
		for i := range 50 {
			list := ""
			for j := range 5 {
				list += fmt.Sprint(" n", 11+i+j)
			}
			w.update(list)
			w.after(10*time.Second, list[1:])
			require.Equal(t, feed.Steady, w.Status().State)
		}
	})
}

func TestMaxLossOfOneTrustsAnyNews(t *testing.T) {
	inWorld(t, "a b c d e", feed.Options{MaxLoss: 1}, func(w *world) {
		w.update("")
		w.after(settled, "")
	})
}

func TestNodesThatAreHeldDownAreNoLoss(t *testing.T) {
	inWorld(t, "a b c", feed.Options{}, func(w *world) {
		w.Fail("b")
		w.after(settled, "a c")
		w.update("a b c") // held down
		w.after(time.Second, "a c")
		w.Fail("b")
		w.after(time.Second, "a c")
		require.Equal(t, feed.Steady, w.Status().State)
	})
}

func TestNodesThatAreHeldDownHaveNoGrace(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{FailGrace: time.Second, HoldDown: time.Minute}, func(w *world) {
		w.Fail("b")
		w.after(time.Second, "a c d")
		w.update("a b c d")
		w.after(10*time.Second, "a c d")
		w.Fail("b")
		w.after(settled, "a c d")
	})
}

// While nodes are in grace, those that are lost meanwhile are taken together with them.
func TestLossesInGraceAreTakenTogether(t *testing.T) {
	inWorld(t, "a b c d e", feed.Options{FailGrace: 5 * time.Minute}, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.Fail(name)
			w.after(2*time.Minute, "a b c d e")
		}
		require.Equal(t, feed.Degraded, w.Status().State)
		w.after(time.Hour, "a b c d e")
	})
}

func TestNewsThatComesToNothingIsNoChange(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{}, func(w *world) {
		w.update("a b c d e")
		w.after(time.Minute, "a b c d e")
		changed := w.Status().Changed
		w.Fail("b")
		w.update("a b c d e")
		w.after(time.Minute, "a b c d e")
		require.Equal(t, changed, w.Status().Changed)
		require.Len(t, w.seen(), 1)
	})
}

// A ring that was there before is not given up because a source begins with little.
func TestARingFromBeforeIsProtected(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{}, func(w *world) {
		w.after(10*time.Hour, "a b c d")
		w.update("a")
		w.after(time.Hour, "a b c d")
		w.update("a b c")
		w.after(time.Hour, "a b c")
	})
}

// listed is a placement for which the order of the nodes counts.
type listed struct{}

func (listed) Name() string        { return "listed" }
func (listed) Hash() hashring.Hash { return nil }
func (listed) Place(nodes []hashring.Node, emit func(int, uint64) bool) error {
	for i := range nodes {
		emit(i, uint64(i))
	}
	return nil
}

func TestOrderIsThatOfTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring, err := hashring.New(nil, &hashring.Options{Placement: listed{}})
		require.NoError(t, err)
		w := &world{t: t, live: hashring.NewLive(ring)}
		w.Feed, err = feed.New(w.live, &feed.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		require.NoError(t, err)
		defer w.Close()
		w.update("c a e b d")
		w.after(settled, "c a e b d")
		w.update("b")
		w.after(settled, "c a e b d") // in their places
		w.update("d e")
		w.after(settled, "c a d e b") // c and a were first, b stood behind e
		w.update("e b d c a")
		w.after(settled, "e b d c a")
		w.update("b e d c a")
		w.after(settled, "b e d c a")
	})
}

// A node that fails and comes back every 2 seconds for 5 minutes.
func TestFlapping(t *testing.T) {
	inWorld(t, "a b c d", feed.Options{}, func(w *world) {
		for range 150 {
			w.Fail("b")
			time.Sleep(time.Second)
			w.update("a b c d")
			time.Sleep(time.Second)
		}
		synctest.Wait()
		t.Logf("%d changes of the ring", len(w.seen()))
		require.LessOrEqual(t, len(w.seen()), 2)
		w.after(6*time.Minute, "a b c d")
	})
}

func TestOnChangeIsToldInOrder(t *testing.T) {
	inWorld(t, "a", feed.Options{}, func(w *world) {
		w.update("a b")
		w.after(settled, "a b")
		w.update("a b c")
		w.after(settled, "a b c")
		require.Equal(t, []string{"a b", "a b c"}, w.seen())
	})
	var told []hashring.Change
	release := make(chan struct{})
	slow := feed.Options{OnChange: func(c hashring.Change) { told = append(told, c); <-release }}
	inWorld(t, "a", slow, func(w *world) {
		release = make(chan struct{}) // of this bubble
		first := w.live.Load()
		w.update("a b")
		w.after(settled, "a b")
		second := w.live.Load()
		w.update("a b c")
		w.after(settled, "a b c") // OnChange is in no one's way
		w.update("a b c d")
		w.after(settled, "a b c d")
		close(release)
		synctest.Wait()
		require.Equal(t, []hashring.Change{{Old: first, New: second}, {Old: second, New: w.live.Load()}}, told)
	})
}

func TestOnChangeThatNeverReturns(t *testing.T) {
	block := make(chan struct{})
	inWorld(t, "a", feed.Options{OnChange: func(hashring.Change) { <-block }}, func(w *world) {
		block = make(chan struct{})
		w.update("a b")
		w.after(settled, "a b")
		w.update("a b c")
		w.after(settled, "a b c")
		start := time.Now()
		w.Close()
		require.Zero(t, time.Since(start))
		close(block) // else the goroutine would outlive the test, which fails then
	})
}

func TestOnChangeIsNotCalledAfterClose(t *testing.T) {
	for range 20 { // since a select that could go either way picks one
		calls := 0
		var release chan struct{}
		inWorld(t, "a", feed.Options{OnChange: func(hashring.Change) { calls++; <-release }}, func(w *world) {
			release = make(chan struct{})
			w.update("a b")
			w.after(settled, "a b")
			w.update("a b c")
			w.after(settled, "a b c")
			w.Close()
			close(release)
			synctest.Wait()
			require.Equal(t, 1, calls)
		})
	}
}

func TestOnChangeMayCloseTheFeed(t *testing.T) {
	var w *world
	closed := false
	inWorld(t, "a", feed.Options{OnChange: func(hashring.Change) { w.Close(); closed = true }}, func(v *world) {
		w = v
		w.update("a b")
		w.after(settled, "a b")
		require.True(t, closed)
	})
}

func TestCallersDoNotWaitForTheRing(t *testing.T) {
	inWorld(t, "a b", feed.Options{}, func(w *world) {
		release := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := w.live.Update(func(r *hashring.Ring) (*hashring.Ring, error) { <-release; return r, nil })
			require.NoError(t, err)
		})
		synctest.Wait()
		w.update("a b c")
		time.Sleep(settled)
		start := time.Now() // now the feed waits for the writer
		w.update("a b c d")
		w.Fail("a")
		w.Leave("b")
		w.Status()
		require.Zero(t, time.Since(start))
		close(release)
		wg.Wait()
		w.after(settled, "c d")
	})
}

func TestClose(t *testing.T) {
	inWorld(t, "a", feed.Options{}, func(w *world) {
		w.update("a b")
		w.Close()
		w.Close()
		require.ErrorIs(t, w.Update(nodes("c")), feed.ErrClosed)
		w.Fail("a")
		w.Leave("a")
		w.after(time.Hour, "a")
		require.Empty(t, w.seen())
	})
}

func TestUseByManyGoroutines(t *testing.T) {
	live := hashring.NewLive(nil)
	f, err := feed.New(live, &feed.Options{Settle: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), OnChange: func(hashring.Change) {}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				if err := f.Update(nodes(fmt.Sprint("a b c n", i%7))); err != nil && !errors.Is(err, feed.ErrClosed) {
					t.Error(err)
				}
				f.Fail("a")
				f.Leave(fmt.Sprint("n", g))
				f.Status()
			}
		})
	}
	wg.Wait()
	f.Close()
}

func TestStateNames(t *testing.T) {
	names := []string{feed.Steady.String(), feed.Settling.String(), feed.Degraded.String(), feed.State(9).String()}
	require.Equal(t, []string{"steady", "settling", "degraded", "State(9)"}, slices.Clone(names))
}
