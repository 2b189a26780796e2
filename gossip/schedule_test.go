package gossip

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// schedule is a random life of some 20 members: they join, leave, crash, restart here or elsewhere and change their
// weights, while the network loses, duplicates and delays messages, is cut in one direction or in two, and heals.
type schedule struct {
	*cluster
	events  map[string]int
	crashed []Config
	left    []string // no name twice: who has left is not started again
	fresh   int
	seeds   func(context.Context) ([]string, error) // nil: those of cluster.config
}

const crowd = 20

func (s *schedule) member() *node {
	all := make([]string, 0, len(s.members))
	for name := range s.members {
		all = append(all, name)
	}
	slices.Sort(all)
	return s.members[all[s.random.IntN(len(all))]]
}

// running is what a name server says: where some members are that run at the moment.
func (c *cluster) running(context.Context) (addrs []string, err error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for addr := range c.net.hosts { // in random order
		if addrs = append(addrs, addr.String()); len(addrs) == 4 {
			break
		}
	}
	return addrs, nil
}

// seeded reports whether a member that begins has somebody to call. It does not look so closely that nobody tries in vain.
func (s *schedule) seeded() bool {
	if s.seeds != nil || s.random.IntN(20) == 0 {
		return true
	}
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	for i := range 3 {
		if s.net.hosts[address(i+1)] != nil {
			return true
		}
	}
	return false
}

// enter lets a member join, if it can.
func (s *schedule) enter(cfg Config) {
	if s.seeds != nil {
		cfg.Seeds = s.seeds
	}
	if n, err := s.join(cfg); err == nil {
		n.cfg = cfg
	} else {
		s.events["could not join"]++
		s.crashed = append(s.crashed, cfg)
	}
}

// search returns whether all members can find each other, by seeds and by whom they remember, and after how long each has
// called all that it remembers: those that failed are called in turn.
func (c *cluster) search() (findable bool, within time.Duration) {
	byAddr := make(map[string]*node)
	for _, m := range c.members {
		byAddr[m.host.addr.String()] = m
	}
	finds := make(map[*node][]*node) // in one direction or the other
	for _, m := range c.members {
		seeds, err := m.cfg.Seeds(c.t.Context())
		require.NoError(c.t, err)
		addrs, failed := slices.Clone(seeds), 0
		m.mu.Lock()
		for _, p := range m.view.peers {
			addrs = append(addrs, p.gossip)
			if !p.alive() {
				failed++
			}
		}
		m.mu.Unlock()
		within = max(within, m.Member.cfg.Rejoin*time.Duration((failed+callFailed-1)/callFailed))
		for _, addr := range addrs {
			if other := byAddr[addr]; other != nil {
				finds[m], finds[other] = append(finds[m], other), append(finds[other], m)
			}
		}
	}
	found := make(map[*node]bool)
	var visit func(*node)
	visit = func(m *node) {
		if !found[m] {
			found[m] = true
			for _, other := range finds[m] {
				visit(other)
			}
		}
	}
	for _, m := range c.members {
		visit(m)
		break
	}
	return len(found) == len(c.members), within
}

// settle requires that within a time all members have the ring of those who live, and then go on having it, and returns how
// long that took. They may agree for a moment before that, since a suspicion from the time of the faults may end after it.
// Whom they agreed is gone of its own will never comes back.
func (s *schedule) settle(within time.Duration) time.Duration {
	start := time.Now()
	for {
		s.agree(within-time.Since(start), s.names()...)
		took := time.Since(start)
		other := s.change(time.Minute)
		if other == nil {
			return took
		}
		s.t.Logf("agreed after %v, but after %v %s has %s", took, time.Since(start), other.cfg.Node.Name, namesOf(other.live.Load()))
		require.Less(s.t, time.Since(start), within, "the ring changed again")
	}
}

// change lets a time pass in which no ring should change, and returns who has one that did.
func (s *schedule) change(d time.Duration) *node {
	want := s.print(s.expected(s.names()))
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		synctest.Wait()
		for _, n := range s.members {
			if ring := n.live.Load(); s.print(ring) != want {
				for _, name := range s.left {
					_, on := ring.Node(name)
					require.False(s.t, on, "%s has left", name)
				}
				return n
			}
		}
	}
	return nil
}

func (s *schedule) partition() {
	side := make(map[netip.AddrPort]bool)
	for _, m := range s.members {
		side[m.host.addr] = s.random.IntN(2) == 0
	}
	s.net.set(func(from, to netip.AddrPort) bool { return side[from] != side[to] })
}

func (s *schedule) step() {
	event := ""
	switch dice := s.random.IntN(100); {
	case dice < 20 && len(s.members) < crowd && s.seeded():
		event = "join"
		s.fresh++
		cfg := s.config(fmt.Sprint("n", s.fresh))
		cfg.Node.Zone = fmt.Sprint("z", s.random.IntN(3))
		s.enter(cfg)
	case dice < 30 && len(s.members) > crowd/2:
		event = "leave"
		m := s.member()
		delete(s.members, m.cfg.Node.Name)
		s.left = append(s.left, m.cfg.Node.Name)
		m.Leave(s.t.Context(), nil) // which takes its time without a network, and may not get through
		s.net.unplug(m.host)
	case dice < 40 && len(s.members) > crowd/2:
		event = "crash"
		m := s.member()
		s.crash(m.cfg.Node.Name)
		s.crashed = append(s.crashed, m.cfg)
	case dice < 55 && len(s.crashed) > 0 && s.seeded():
		event = "restart"
		i := s.random.IntN(len(s.crashed))
		cfg := s.crashed[i]
		s.crashed = slices.Delete(s.crashed, i, i+1)
		if s.random.IntN(2) == 0 {
			cfg.Bind = s.config("").Bind
			event = "restart elsewhere"
		}
		s.enter(cfg)
	case dice < 65:
		event = "weight"
		m := s.member()
		m.cfg.Node.Weight = float64(1+s.random.IntN(40)) / 10
		m.SetWeight(s.t.Context(), m.cfg.Node.Weight)
	case dice < 70:
		event = "partition"
		s.partition()
	case dice < 75:
		event = "one-way cuts"
		p := s.random.Float64() / 4
		s.net.set(func(netip.AddrPort, netip.AddrPort) bool { return s.random.Float64() < p })
	case dice < 85:
		event = "heal"
		s.net.heal()
	case dice < 90:
		event = "loss"
		s.net.disturb(s.random.Float64()*0.4, s.random.Float64()*0.2, time.Duration(s.random.Int64N(int64(200*time.Millisecond))))
	default:
		event = "calm"
		time.Sleep(time.Duration(s.random.Int64N(int64(10 * time.Second))))
	}
	s.events[event]++
	slog.New(s.log).Info("schedule: "+event, "members", slices.Sorted(maps.Keys(s.members)))
	time.Sleep(time.Duration(s.random.Int64N(int64(500 * time.Millisecond))))
}

// After the faults stop, all members have one ring: that of those who live. Nobody who left is on any, then or later.
func TestRandomSchedules(t *testing.T) {
	count, events := 6, 500
	if testing.Short() {
		count, events = 2, 200
	}
	if s := os.Getenv("GOSSIP_SCHEDULES"); s != "" {
		var err error
		count, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	seed := seed.Of(t)
	var slowest time.Duration
	total := make(map[string]int)
	for i := range count {
		seed := seed + uint64(i)
		hold, bound := time.Duration(-1), time.Minute // detection, and the next call of the seeds
		if i%2 == 1 {
			hold, bound = 0, bound+5*time.Minute // and the longest hold-down
		}
		inCluster(t, seed, func(c *cluster) {
			s := &schedule{cluster: c, events: total}
			s.feed.HoldDown = hold
			if i%3 > 0 { // else the seeds may all be gone, and members go by whom they knew
				s.seeds = c.running
			}
			defer func() {
				if c.t.Failed() {
					c.t.Logf("to see it again: HASHRING_SEED=%d GOSSIP_SCHEDULES=%d", seed-uint64(i%6), 1+i%6)
				}
			}()
			s.boot(crowd)
			s.patient = 10 * time.Second
			for range events {
				s.step()
			}
			s.partition() // the last fault is one that takes time to get over
			time.Sleep(time.Duration(s.random.Int64N(int64(3 * time.Minute))))
			c.net.heal()
			c.net.disturb(0, 0, quick)
			if s.seeds == nil {
				findable, within := c.search()
				if !findable { // then somebody has to start a seed again
					s.events["nobody to call"]++
					cfg := c.config("seed")
					cfg.Bind = address(1)
					_, err := c.join(cfg)
					require.NoError(c.t, err)
				}
				bound += within
			}
			took := s.settle(bound)
			c.t.Logf("schedule %d: agreed after %v, of %v", i, took, bound)
			if hold < 0 {
				slowest = max(slowest, took)
			}
		})
	}
	t.Logf("soak: %d events in %d schedules of gossip", count*events, count)
	t.Logf("%v", total)
	t.Logf("without hold-down, they agreed after %v at most", slowest)
}
