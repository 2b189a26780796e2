package gossip

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
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

// tunings are memberlist's own configurations, beside that of this package.
var tunings = []struct {
	name string
	tune func(*memberlist.Config)
}{
	{"DefaultLocalConfig", as(memberlist.DefaultLocalConfig)},
	{"DefaultLANConfig", as(memberlist.DefaultLANConfig)},
	{"this package", nil},
}

// as sets what makes memberlist fast or slow to what a configuration of its own has.
func as(config func() *memberlist.Config) func(*memberlist.Config) {
	return func(conf *memberlist.Config) {
		d := config()
		conf.TCPTimeout, conf.IndirectChecks, conf.RetransmitMult, conf.SuspicionMult = d.TCPTimeout, d.IndirectChecks, d.RetransmitMult, d.SuspicionMult
		conf.PushPullInterval, conf.ProbeTimeout, conf.ProbeInterval = d.PushPullInterval, d.ProbeTimeout, d.ProbeInterval
		conf.GossipInterval, conf.GossipToTheDeadTime = d.GossipInterval, d.GossipToTheDeadTime
		conf.DeadNodeReclaimTime, conf.EnableCompression = d.DeadNodeReclaimTime, d.EnableCompression
	}
}

// TestConvergence measures, in fake time, how long it takes until all rings are the same after a change, and what a member
// sends meanwhile. It prints the tables of docs/membership.md, and takes minutes: GOSSIP_CONVERGENCE=1.
func TestConvergence(t *testing.T) {
	if os.Getenv("GOSSIP_CONVERGENCE") == "" {
		t.Skip("set GOSSIP_CONVERGENCE to measure")
	}
	const rounds = 30
	seed := seed.Of(t)
	for _, n := range sizes {
		for _, tuning := range tunings {
			times := make(map[string][]time.Duration)
			idle, disagree := 0.0, 0.0
			inCluster(t, seed, func(c *cluster) {
				c.feed = feed.Options{HoldDown: -1}
				c.tune = tuning.tune
				c.start(numbered(n)...)
				c.agree(2*time.Minute, numbered(n)...)
				time.Sleep(time.Minute)
				before := c.net.sent()
				time.Sleep(time.Minute)
				idle = float64(c.net.sent()-before) / 60 / float64(n)
				took := func(what string) {
					times[what] = append(times[what], c.agree(2*time.Minute, c.names()...))
					time.Sleep(5 * time.Second)
				}
				for i := range rounds {
					name := fmt.Sprint("new", i)
					c.start(name)
					took("join")
					m := c.members[name]
					m.cfg.Node.Weight = 2
					go m.SetWeight(c.t.Context(), 2)
					took("weight")
					delete(c.members, name)
					go m.Leave(c.t.Context(), nil)
					took("leave")
					c.start("crash" + name)
					took("join")
					c.crash("crash" + name)
					took("crash")
					time.Sleep(15 * time.Second)
				}
				disagree = c.churn(2 * time.Minute)
			})
			for _, what := range []string{"join", "weight", "leave", "crash"} {
				d := times[what]
				slices.Sort(d)
				t.Logf("%3d members, %-18s %-6s median %5.2f s, worst of %d %5.2f s", n, tuning.name, what, d[len(d)/2].Seconds(), len(d), d[len(d)-1].Seconds())
			}
			t.Logf("%3d members, %-18s idle %.0f B/s a member; in churn two members name different owners of %.1f %% of the keys",
				n, tuning.name, idle, 100*disagree)
		}
	}
}

// churn lets a member join, stay half a second, and leave or crash, over and over, and returns for which part of the keys
// two members, any two, name different owners, on average.
func (c *cluster) churn(d time.Duration) float64 {
	keys := make([]string, 200)
	for i := range keys {
		keys[i] = fmt.Sprint("key-", i)
	}
	steady := c.names()
	var differ, total int
	end := time.Now().Add(d)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; time.Now().Before(end); i++ {
			name := fmt.Sprint("churn", i)
			n, err := c.join(c.config(name))
			if err != nil {
				continue
			}
			time.Sleep(500 * time.Millisecond)
			if i%2 == 0 {
				n.Leave(c.t.Context(), nil)
			} else {
				c.net.unplug(n.host)
				n.Close()
			}
			c.net.unplug(n.host)
		}
	}()
	for time.Now().Before(end) {
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		for i, name := range steady {
			a, b := c.members[name].live.Load(), c.members[steady[(i+1)%len(steady)]].live.Load()
			for _, key := range keys {
				x, _ := a.Owner(key)
				y, _ := b.Owner(key)
				total++
				if x != y {
					differ++
				}
			}
		}
	}
	<-done
	return float64(differ) / float64(total)
}

// Lookups in the ring of a load balancer, beside five members over sockets of this machine: idle, and while four others
// join, double their weight and leave, over and over. All are in this process, so a lookup shares its processors with
// what nine members do. A figure is the mean of a batch of 64 lookups, since one takes hardly longer than a look at the
// clock. It takes some seconds until there are enough changes: -benchtime 20s.
func BenchmarkOwnerInChurn(b *testing.B) {
	for _, churners := range []int{0, 4} {
		b.Run(fmt.Sprint("churners=", churners), func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var seeds []string
			for i := range 5 {
				m, err := Join(ctx, hashring.NewLive(nil), onLoopback(fmt.Sprint("steady-", i), seeds...))
				require.NoError(b, err)
				defer m.Close()
				seeds = append(seeds, m.Gossip().String())
			}
			live := hashring.NewLive(nil)
			cfg := onLoopback("balancer", seeds...)
			cfg.Observer, cfg.MinMembers = true, len(seeds)
			var changes atomic.Int64
			cfg.Feed.Settle = -1 // so that each change is one of the ring
			cfg.Feed.OnChange = func(hashring.Change) { changes.Add(1) }
			balancer, err := Join(ctx, live, cfg)
			require.NoError(b, err)
			defer balancer.Close()
			<-balancer.Ready()

			var churn sync.WaitGroup
			defer churn.Wait()
			defer stop()
			for i := range churners {
				churn.Go(func() { comeAndGo(ctx, fmt.Sprint("churner-", i), seeds) })
			}
			if churners > 0 { // they have begun
				for live.Load().Len() == len(seeds) {
					time.Sleep(time.Millisecond)
				}
			}

			keys := make([]string, 1024)
			for i := range keys {
				keys[i] = fmt.Sprint("user:", i)
			}
			var batches [1 << 17]uint32 // how many took so many nanoseconds, or more for the last
			before := changes.Load()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				for j := range 64 {
					live.Owner(keys[(i*64+j)%len(keys)])
				}
				batches[min(time.Since(start), time.Duration(len(batches)-1))]++
			}
			for _, p := range []struct {
				name string
				at   float64
			}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}} {
				b.ReportMetric(percentile(batches[:], p.at)/64, "ns/"+p.name)
			}
			b.ReportMetric(float64(changes.Load()-before)/b.Elapsed().Seconds(), "changes/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// comeAndGo lets a member join, change its weight and leave, over and over, until ctx ends.
func comeAndGo(ctx context.Context, name string, seeds []string) {
	for ctx.Err() == nil {
		m, err := Join(ctx, hashring.NewLive(nil), onLoopback(name, seeds...))
		if err != nil {
			continue
		}
		time.Sleep(300 * time.Millisecond)
		m.SetWeight(ctx, 2)
		time.Sleep(300 * time.Millisecond)
		m.Leave(ctx, nil)
	}
}

// percentile returns the value below which a part of the values lie, of which counts[v] are v.
func percentile(counts []uint32, part float64) float64 {
	total := uint64(0)
	for _, n := range counts {
		total += uint64(n)
	}
	below := uint64(0)
	for v, n := range counts {
		if below += uint64(n); float64(below) >= part*float64(total) {
			return float64(v)
		}
	}
	return float64(len(counts))
}
