package gossip

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
)

func TestBoot(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.t.Logf("agreed after %v", c.boot(n))
	})
}

func TestJoin(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.start("new")
		c.t.Logf("agreed after %v", c.agree(time.Second, c.names()...))
	})
}

func TestWeightChange(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		m := c.members["m001"]
		m.cfg.Node.Weight = 2.5
		require.NoError(c.t, m.SetWeight(c.t.Context(), 2.5))
		c.t.Logf("agreed after %v", c.agree(2*time.Second, c.names()...))
	})
}

// A member that is suspected all the time objects all the time, and memberlist drops an update that an objection overtakes.
// It is told again.
func TestNewsOfAMemberThatIsSuspected(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		m := c.members["m001"]
		m.mu.Lock()
		m.self.weight = 9
		m.mu.Unlock()
		require.False(c.t, m.isTold())
		h := c.net.plug(c.config("rumour").Bind)
		stop := make(chan struct{})
		go func() {
			for i := uint32(1); ; i++ {
				suspect := []byte("\xf4\x04test\x03\x83\xabIncarnation\xce") // a label, a message of type 3, a map of 3
				suspect = binary.BigEndian.AppendUint32(suspect, 10*i)
				suspect = append(suspect, "\xa4Node\xa4m001\xa4From\xa4m002"...)
				h.WriteTo(suspect, m.host.addr.String())
				select {
				case <-stop:
					return
				case <-time.After(500 * time.Microsecond):
				}
			}
		}()
		for i := range 20 {
			weight := float64(2 + i)
			start := time.Now()
			require.NoError(c.t, m.SetWeight(c.t.Context(), weight))
			require.Less(c.t, time.Since(start), 5*time.Second)
			require.True(c.t, m.isTold())
			m.cfg.Node.Weight = weight
			c.agree(2*time.Second, c.names()...)
		}
		close(stop)
		require.Positive(c.t, m.Status().Health, "it was suspected, and noticed")
		c.net.unplug(h)
	})
}

// A member that leaves is off the rings at once, whereas one that failed would be in grace.
func TestLeave(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		for _, name := range numbered(n) {
			cfg := c.config(name)
			cfg.Feed.FailGrace = time.Minute
			_, err := c.join(cfg)
			require.NoError(c.t, err)
		}
		c.agree(2*time.Second, numbered(n)...)
		gone := c.members["m003"]
		delete(c.members, "m003")
		left := make(chan error, 1)
		go func() { left <- gone.Leave(context.Background(), nil) }()
		c.t.Logf("agreed after %v", c.agree(time.Second, c.names()...))
		require.NoError(c.t, <-left)
		_, on := gone.live.Load().Node("m003")
		require.False(c.t, on, "its own ring too")
		c.unchanged(20 * time.Second)
	})
}

func TestCrash(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.crash("m003")
		c.t.Logf("agreed after %v", c.agree(15*time.Second, c.names()...))
	})
}

func TestCrashOfAThird(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		for _, name := range numbered(n)[n-n/3:] {
			c.crash(name)
		}
		c.t.Logf("agreed after %v", c.agree(30*time.Second, c.names()...))
	})
}

func TestShortPartition(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.split(numbered(n)[:n/2]...)
		c.unchanged(3 * time.Second)
		c.net.heal()
		c.unchanged(30 * time.Second)
	})
}

// A partition that outlasts all that memberlist remembers: only Rejoin heals it.
func TestLongPartition(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.split(numbered(n)[:n/2]...)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		small := c.members["m000"] // of 5, this side has 2, and does not believe that it lost 3
		if n == 5 {
			require.Equal(c.t, Degraded, small.Status().State)
			require.Equal(c.t, n, small.live.Load().Len())
		} else {
			require.Equal(c.t, n/2, small.live.Load().Len())
		}
		other := c.members[numbered(n)[n-1]]
		require.Equal(c.t, n-n/2, other.live.Load().Len())
		c.net.heal()
		c.t.Logf("agreed after %v", c.agree(32*time.Second, c.names()...))
	})
}

// The seeds are gone for good; the members remember each other.
func TestLongPartitionWithoutSeeds(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		for _, name := range []string{"m000", "m001", "m002"} {
			c.leave(name)
		}
		c.split(c.names()[:(n-3)/2]...)
		time.Sleep(3 * time.Minute)
		c.net.heal()
		c.t.Logf("agreed after %v", c.agree(32*time.Second, c.names()...))
	})
}

func TestLeaveDuringAPartition(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.split(numbered(n)[:n/2]...)
		time.Sleep(10 * time.Second)
		c.leave("m000") // a seed; the others go on with two
		time.Sleep(10 * time.Second)
		c.net.heal()
		c.t.Logf("agreed after %v", c.agree(32*time.Second, c.names()...))
		c.watch(time.Minute, "m000")
	})
}

// stale lets a member miss that another leaves, so that it is heard of as alive, from one who believes it, when all others
// have forgotten that name. It returns for how long the ring of another had the member that left.
//
// memberlist forgets once it has probed all members, which is once in as many seconds as there are.
func stale(c *cluster, n int, tombstone time.Duration) (back time.Duration) {
	for _, name := range numbered(n) {
		cfg := c.config(name)
		cfg.Tombstone = tombstone
		cfg.Tune = func(conf *memberlist.Config) {
			conf.GossipToTheDeadTime = 2 * time.Second
			if name == "m004" {
				conf.ProbeInterval = time.Hour // it finds nobody dead, as if it had not run meanwhile
			}
		}
		_, err := c.join(cfg)
		require.NoError(c.t, err)
	}
	c.agree(2*time.Second, numbered(n)...)
	c.split("m004")
	time.Sleep(time.Second)
	c.leave("m003")
	time.Sleep(15*time.Second + 2*time.Second*time.Duration(n))
	c.net.heal()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		synctest.Wait()
		for name, m := range c.members {
			if _, on := m.live.Load().Node("m003"); on && name != "m004" {
				back += 100 * time.Millisecond
				break
			}
		}
	}
	return back
}

func TestStaleMemberBringsNobodyBack(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		require.Zero(c.t, stale(c, n, 0))
		c.agree(0, c.names()...) // and has been told
	})
}

// Without tombstones, or with ones that do not last, the same schedule does bring it back: so the test above can fail.
func TestStaleMemberBringsOthersBackOnceTombstonesAreOver(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		back := stale(c, n, time.Second)
		c.t.Logf("back for %v", back)
		require.NotZero(c.t, back)
	})
}

func TestRestartAtTheSameAddress(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		old := c.crash("m003")
		time.Sleep(500 * time.Millisecond)
		_, err := c.join(old.cfg)
		require.NoError(c.t, err)
		c.agree(time.Second, c.names()...)
		delete(c.members, "m003") // whose own ring has just begun
		c.unchanged(30 * time.Second)
	})
}

func TestRestartAtAnotherAddress(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.crash("m003")
		start := time.Now()
		c.start("m003") // waits until the old address is given up
		c.agree(7*time.Second, c.names()...)
		took := time.Since(start)
		c.t.Logf("agreed after %v", took)
		require.LessOrEqual(c.t, took, 15*time.Second+5*time.Second+2*time.Second)
	})
}

func TestRestartAfterLeaving(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		for range 10 {
			cfg := c.leave("m003").cfg
			c.start("m003") // elsewhere, and at once: word of its leaving is on its way still
			c.agree(time.Second, c.names()...)
			c.leave("m003")
			_, err := c.join(cfg) // at the old address
			require.NoError(c.t, err)
			c.agree(time.Second, c.names()...)
		}
	})
}

// Peers hold it for dead with a higher incarnation than a process that has just begun can know of.
func TestFault81_RestartAfterAllTakeItForDead(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		for range 3 {
			require.NoError(c.t, c.members["m003"].SetWeight(c.t.Context(), 2))
		}
		old := c.crash("m003")
		c.agree(15*time.Second, c.names()...)
		_, err := c.join(old.cfg)
		require.NoError(c.t, err)
		c.agree(7*time.Second, c.names()...)
	})
}

func TestOneNameTwice(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		_, err := c.join(c.config("m003"))
		require.ErrorIs(c.t, err, ErrConflict)
		require.ErrorContains(c.t, err, c.members["m003"].host.addr.String())
		c.unchanged(30 * time.Second)
		require.Equal(c.t, Conflict, c.members["m003"].Status().State)
		time.Sleep(time.Minute)
		require.Equal(c.t, Steady, c.members["m003"].Status().State)
	})
}

// The name is still that of a member that crashed, and the context ends before it is given up.
func TestNameThatIsNotFreeYet(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.crash("m003")
		c.patient = 3 * time.Second
		_, err := c.join(c.config("m003"))
		require.ErrorIs(c.t, err, ErrConflict)
		require.ErrorIs(c.t, err, context.DeadlineExceeded)
		require.ErrorContains(c.t, err, "does not answer")
	})
}

// refused requires that a join fails, and that it changes no ring.
func (c *cluster) refused(cfg Config, cause error) error {
	_, err := c.join(cfg)
	require.ErrorIs(c.t, err, cause)
	c.unchanged(20 * time.Second)
	return err
}

func TestOtherParameters(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		for _, opts := range []hashring.Options{
			{VirtualNodes: 17},
			{VirtualNodes: 16, Hash: hashring.Murmur3},
			{VirtualNodes: 16, Hash: hashring.NewHash("xxh64", func(string) uint64 { return 1 })},
		} {
			right := c.opts
			c.opts = opts
			err := c.refused(c.config("other"), ErrParams)
			require.ErrorContains(c.t, err, `"m0`)
			c.opts = right
		}
	})
}

func TestOtherLabelOrKey(t *testing.T) {
	key := func(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 16)) }
	eachSize(t, func(c *cluster, n int) {
		c.patient = 15 * time.Second // for those that are never let in
		for _, name := range numbered(n) {
			cfg := c.config(name)
			cfg.Keys = [][]byte{key('a')}
			_, err := c.join(cfg)
			require.NoError(c.t, err)
		}
		c.agree(2*time.Second, numbered(n)...)
		cfg := c.config("label")
		cfg.Cluster, cfg.Keys = "other", [][]byte{key('a')}
		c.refused(cfg, ErrNoSeed)
		cfg = c.config("key")
		cfg.Keys = [][]byte{key('b')}
		c.refused(cfg, ErrNoSeed)
		cfg = c.config("none")
		c.refused(cfg, ErrNoSeed)
	})
}

// Nobody is taken for dead, but for once in some 7 hours among 32: that, and no more, is let pass. memberlist's queue has
// one of two messages of the same length overwrite the other now and then, and if that was a member's objection to being
// suspected, nobody hears of it (its pull requests 263 and 324, open in November 2026).
//
// 10 minutes among 100 members take a minute of computing, so they have 3: as many probes as 32 send in 10.
func TestLoss20(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.net.disturb(0.2, 0.1, quick)
		off := make(map[string]time.Duration) // for how long a member was off some ring
		const step = 100 * time.Millisecond
		end := time.Now().Add(map[int]time.Duration{5: 10, 32: 10, 100: 3}[n] * time.Minute)
		for ; time.Now().Before(end); time.Sleep(step) {
			synctest.Wait()
			missing := make(map[string]bool)
			for _, m := range c.members {
				if ring := m.live.Load(); ring.Len() < n {
					for name := range c.members {
						if _, on := ring.Node(name); !on {
							missing[name] = true
						}
					}
				}
			}
			for name := range missing {
				off[name] += step
			}
		}
		require.LessOrEqual(c.t, len(off), 1, "%v", off)
		for _, d := range off {
			require.Less(c.t, d, 30*time.Second, "%v", off)
		}
		c.agree(30*time.Second, c.names()...)
		c.start("new")
		c.t.Logf("join: agreed after %v", c.agree(10*time.Second, c.names()...))
		c.leave("m003")
		c.t.Logf("leave: agreed after %v", c.agree(10*time.Second, c.names()...))
	})
}

func TestLoss50(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		c.net.disturb(0.5, 0.1, quick)
		time.Sleep(time.Minute)
		c.start("new")
		c.leave("m003")
		c.crash("m004")
		time.Sleep(time.Minute)
		c.net.disturb(0, 0, quick)
		c.t.Logf("agreed after %v", c.agree(time.Minute, c.names()...))
	})
}

// One member cannot send to another, though the other way works: those between tell that it is alive.
func TestOneWayCutBetweenTwo(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		a, b := c.members["m003"].host.addr, c.members["m004"].host.addr
		c.net.set(func(from, to netip.AddrPort) bool { return from == a && to == b })
		c.unchanged(time.Minute)
	})
}

// One member hears all, and nobody hears it. The others go on without; it knows nothing of that.
func TestOneWayCutFromAll(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		a := c.members["m003"]
		c.net.set(func(from, to netip.AddrPort) bool { return from == a.host.addr })
		delete(c.members, "m003")
		c.t.Logf("agreed after %v", c.agree(time.Minute, c.names()...))
		c.members["m003"] = a
		c.net.heal()
		c.t.Logf("agreed after %v", c.agree(time.Minute, c.names()...))
	})
}

func TestOnChangeThatBlocksForEver(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		block := make(chan struct{})
		cfg := c.config("slow")
		cfg.Feed.OnChange = func(hashring.Change) { <-block }
		slow, err := c.join(cfg)
		require.NoError(c.t, err)
		c.agree(time.Second, c.names()...)
		for _, name := range []string{"x", "y", "z"} {
			c.start(name)
			c.agree(time.Second, c.names()...) // the slow one too
		}
		c.unchanged(2 * time.Minute)
		start := time.Now()
		delete(c.members, "slow")
		require.NoError(c.t, slow.Close())
		require.LessOrEqual(c.t, time.Since(start), time.Second)
		close(block)
	})
}

func TestFlapping(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		noticed := map[int]time.Duration{5: 9 * time.Second, 32: 11 * time.Second, 100: 13 * time.Second}[n]
		c.boot(n)
		watcher := c.members["m001"]
		before := watcher.changes.Load()
		start := time.Now()
		for i := 0; time.Since(start) < 5*time.Minute; i++ {
			old := c.crash("m003")
			if i%2 == 0 {
				time.Sleep(noticed)
			}
			time.Sleep(2 * time.Second)
			_, err := c.join(old.cfg)
			require.NoError(c.t, err)
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		changes := watcher.changes.Load() - before
		c.t.Logf("%d changes", changes)
		require.NotZero(c.t, changes, "it was noticed")
		require.LessOrEqual(c.t, changes, int64(8))
		c.agree(6*time.Minute, c.names()...)
	})
}

func TestIsolation(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		lonely := c.members["m003"]
		ring := lonely.live.Load()
		c.split("m003")
		for range 200 + 4*n { // since its probes fail, it makes fewer and fewer
			time.Sleep(time.Second)
			require.GreaterOrEqual(c.t, lonely.live.Load().Len(), n/2, "never the owner of all")
		}
		require.Equal(c.t, Degraded, lonely.Status().State)
		require.True(c.t, lonely.live.Load().Equal(ring), "the ring that it had")
		delete(c.members, "m003")
		c.agree(0, c.names()...)
		c.members["m003"] = lonely
		c.net.heal()
		c.t.Logf("agreed after %v", c.agree(32*time.Second, c.names()...))
		time.Sleep(10 * time.Second)
		require.Equal(c.t, Steady, lonely.Status().State)
	})
}

// errorsIn counts what is logged as an error.
type errorsIn struct {
	slog.Handler
	count *atomic.Int64
}

func (e errorsIn) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError || e.Handler.Enabled(ctx, l)
}

func (e errorsIn) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		e.count.Add(1)
	}
	return e.Handler.Handle(ctx, r)
}

func (e errorsIn) WithAttrs(a []slog.Attr) slog.Handler {
	return errorsIn{e.Handler.WithAttrs(a), e.count}
}

func TestKeyRotation(t *testing.T) {
	old, next := []byte("0123456789abcdef"), []byte("fedcba9876543210fedcba9876543210")
	eachSize(t, func(c *cluster, n int) {
		failures := new(atomic.Int64)
		c.log = errorsIn{c.log, failures}
		with := func(name string, keys ...[]byte) {
			cfg := c.config(name)
			cfg.Keys = keys
			_, err := c.join(cfg)
			require.NoError(c.t, err)
		}
		for _, name := range numbered(n) {
			with(name, old)
		}
		c.agree(2*time.Second, c.names()...)
		for i, keys := range [][][]byte{{old, next}, {next, old}, {next}} {
			for _, m := range c.members {
				require.NoError(c.t, m.Rotate(keys))
				time.Sleep(15 * time.Second / time.Duration(n)) // some have the new keys, others the old ones
			}
			with([]string{"x", "y", "z"}[i], keys...)
			c.agree(2*time.Second, c.names()...)
		}
		c.unchanged(10 * time.Second)
		require.Zero(c.t, failures.Load(), "messages that could not be read")

		m := c.members["x"]
		mine := [][]byte{[]byte("0000000000000000")}
		require.NoError(c.t, m.Rotate([][]byte{next, mine[0]}))
		mine[0][0] = 1
		require.Equal(c.t, [][]byte{next, []byte("0000000000000000")}, m.keys.GetKeys(), "they are copied")
		require.NoError(c.t, m.Rotate([][]byte{next}))
		require.Equal(c.t, [][]byte{next}, m.keys.GetKeys())
		for _, keys := range [][][]byte{nil, {[]byte("short")}} {
			require.ErrorIs(c.t, m.Rotate(keys), hashring.ErrOptions)
		}
		cfg := c.config("old")
		cfg.Keys = [][]byte{old}
		c.refused(cfg, ErrNoSeed)
	})
}

func TestEndingTwice(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		m := c.members["m003"]
		delete(c.members, "m003")
		require.NoError(c.t, m.Err())
		require.NoError(c.t, m.Leave(c.t.Context(), nil))
		require.NoError(c.t, m.Leave(c.t.Context(), nil))
		require.NoError(c.t, m.Close())
		<-m.Done()
		require.ErrorIs(c.t, m.Err(), ErrClosed)
		require.ErrorIs(c.t, m.SetWeight(c.t.Context(), 2), ErrClosed)
		require.Equal(c.t, Closed, m.Status().State)

		m = c.crash("m004")
		require.NoError(c.t, m.Close())
		require.ErrorIs(c.t, m.Leave(c.t.Context(), nil), ErrClosed)

		m = c.members["m002"]
		delete(c.members, "m002")
		drained := errors.New("drain was cut short")
		left := make(chan error, 2)
		for range 2 {
			go func() {
				left <- m.Leave(c.t.Context(), func(ctx context.Context, _ []hashring.Move) error {
					<-ctx.Done()
					return drained
				})
			}()
		}
		time.Sleep(10 * time.Second)
		require.Equal(c.t, Leaving, m.Status().State)
		require.NoError(c.t, m.Close())
		err := errors.Join(<-left, <-left) // one of them does it, the other waits
		require.ErrorIs(c.t, err, ErrClosed)
		require.ErrorIs(c.t, err, drained)
		c.agree(15*time.Second, c.names()...)
	})
}

// The context ends while the member joins.
func TestCloseDuringJoin(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		cfg := c.config("m000")
		cfg.Seeds = Static("10.9.9.9:7946")
		cfg.Bind = netip.MustParseAddrPort("10.0.0.77:7946")
		host := c.net.plug(cfg.Bind)
		cfg.Tune = func(conf *memberlist.Config) { conf.Transport = host }
		ctx, cancel := context.WithCancel(c.t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := Join(ctx, new(hashring.Live), cfg)
		require.ErrorIs(t, err, ErrNoSeed)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// The context ends while one of the others may be taking the member in: if so, it is taken for failed.
func TestContextThatEndsAnywhereInAJoin(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		takenIn := 0 // without knowing
		for c.patient = 0; len(c.members) == n; c.patient += 4 * time.Millisecond {
			require.Less(c.t, c.patient, 100*time.Millisecond)
			name := fmt.Sprint("hasty after ", c.patient)
			_, err := c.join(c.config(name))
			if err == nil {
				break
			}
			require.ErrorIs(c.t, err, ErrNoSeed)
			require.ErrorIs(c.t, err, context.DeadlineExceeded)
			time.Sleep(time.Second)
			synctest.Wait()
			if _, on := c.members["m004"].live.Load().Node(name); on {
				takenIn++
			}
			c.agree(15*time.Second, c.names()...)
		}
		c.t.Logf("in after %v; of those who gave up before, %d were on the rings for a moment", c.patient, takenIn)
		c.agree(time.Second, c.names()...)
	})
}

func TestObserversFollowAndOwnNothing(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		cfg := c.config("lb")
		cfg.Observer = true
		cfg.Seeds = nil
		lb, err := c.join(cfg)
		require.NoError(c.t, err)
		c.start(numbered(n)...)
		c.agree(35*time.Second, numbered(n)...)
		c.leave("m003")
		c.agree(time.Second, c.names()...)
		s := lb.Status()
		require.Equal(c.t, n-1, s.Owners)
		require.Equal(c.t, 1, s.Observers)
		require.NoError(c.t, lb.Leave(c.t.Context(), func(_ context.Context, moves []hashring.Move) error {
			require.Empty(c.t, moves)
			return nil
		}))
	})
}

func TestStatusCountsWhoAgrees(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		c.boot(5)
		require.Equal(t, Agreement{Unheard: 4}, c.members["m000"].Status().Agreement)
		time.Sleep(20 * time.Second)
		for _, m := range c.members {
			s := m.Status()
			require.Equal(t, Agreement{Agree: 4}, s.Agreement)
			require.Equal(t, m.live.Load().Fingerprint(), s.Fingerprint)
			require.Equal(t, Steady, s.State)
			require.Equal(t, 5, s.Owners)
			require.Zero(t, s.Health)
		}
		// One has another ring.
		_, err := c.members["m003"].live.Remove("m001")
		require.NoError(t, err)
		time.Sleep(20 * time.Second)
		require.Equal(t, Agreement{Agree: 3, Disagree: 1}, c.members["m000"].Status().Agreement)
		require.Equal(t, Agreement{Disagree: 4}, c.members["m003"].Status().Agreement)
	})
}

func TestDrainIsToldWhatMoves(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		c.boot(5)
		m := c.members["m003"]
		delete(c.members, "m003")
		old := m.live.Load()
		next, err := old.Without("m003")
		require.NoError(t, err)
		diff, err := hashring.Diff(old, next)
		require.NoError(t, err)
		var want []hashring.Move
		for move := range diff {
			want = append(want, move)
		}
		err = m.Leave(c.t.Context(), func(ctx context.Context, moves []hashring.Move) error {
			require.Equal(t, want, moves)
			c.agree(time.Second, c.names()...) // it is off the rings while it drains
			time.Sleep(30 * time.Second)
			c.agree(0, c.names()...)
			addr, ok := c.members["m000"].Addr("m003")
			require.True(t, ok, "and still known")
			require.Equal(t, "m003:80", addr)
			return nil
		})
		require.NoError(t, err)
		c.unchanged(20 * time.Second)
	})
}

func TestReady(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		cfg := c.config("m000")
		cfg.MinMembers = 3
		m, err := c.join(cfg)
		require.NoError(t, err)
		isReady := func() bool {
			synctest.Wait()
			select {
			case <-m.Ready():
				return true
			default:
				return false
			}
		}
		time.Sleep(time.Hour)
		require.False(t, isReady(), "alone")
		c.start("m001", "m002")
		c.agree(time.Second, c.names()...)
		require.False(t, isReady(), "the ring has just changed")
		time.Sleep(time.Second)
		require.True(t, isReady())
	})
}

// The same seeds for all, and all begin at once: none waits for another for ever, and all find each other.
func TestAllBeginAtOnce(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		cfgs := make([]Config, n)
		for i, name := range numbered(n) {
			cfgs[i] = c.config(name)
		}
		type result struct {
			n   *node
			err error
		}
		results := make(chan result)
		for _, cfg := range cfgs {
			go func() {
				host := c.net.plug(cfg.Bind)
				cfg.Tune = func(conf *memberlist.Config) { conf.Transport = host }
				ring, _ := hashring.New(nil, &c.opts)
				live := hashring.NewLive(ring)
				m, err := Join(context.Background(), live, cfg)
				results <- result{&node{Member: m, cfg: cfg, live: live, host: host}, err}
			}()
		}
		start := time.Now()
		for range cfgs {
			r := <-results
			require.NoError(c.t, r.err)
			c.members[r.n.cfg.Node.Name] = r.n
			c.all = append(c.all, r.n)
		}
		joined := time.Since(start)
		c.t.Logf("joined after %v, agreed after %v more", joined, c.agree(5*time.Second, numbered(n)...))
	})
}

func TestIdleTraffic(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		time.Sleep(30 * time.Second)
		before := c.net.sent()
		time.Sleep(time.Minute)
		rate := float64(c.net.sent()-before) / 60 / float64(n)
		c.t.Logf("%.0f bytes a second from each member", rate)
		require.Less(c.t, rate, map[int]float64{5: 500, 32: 2000, 100: 2000}[n])
	})
}

func TestAddr(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		c.boot(5)
		m := c.members["m000"]
		for _, name := range numbered(5) {
			addr, ok := m.Addr(name)
			require.True(t, ok)
			require.Equal(t, name+":80", addr)
		}
		_, ok := m.Addr("nobody")
		require.False(t, ok)
		c.crash("m003")
		c.agree(15*time.Second, c.names()...)
		_, ok = m.Addr("m003")
		require.True(t, ok, "it failed, and may be back")
		c.leave("m002")
		c.agree(time.Second, c.names()...)
		time.Sleep(time.Second)
		_, ok = m.Addr("m002")
		require.False(t, ok, "it left")
	})
}

func TestFeedOptionsAreUsed(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		cfg := c.config("m000")
		cfg.Feed = feed.Options{MaxLoss: 2}
		_, err := c.join(cfg)
		require.ErrorIs(t, err, hashring.ErrOptions)
	})
}
