package gossip

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
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

// TestMain has the garbage of memberlist collected less often: hundreds of members make so much of it that this would take
// a third of all time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// cluster is a number of members on a network in memory, in fake time. A seed decides the network and the schedule; how
// goroutines take turns it cannot.
type cluster struct {
	t       *testing.T
	net     *network
	random  *rand.Rand
	opts    hashring.Options
	members map[string]*node // that run
	all     []*node          // that ever ran
	prints  map[*hashring.Ring]uint64
	addrs   int
	patient time.Duration // how long a member may take to join
	feed    feed.Options
	tune    func(*memberlist.Config)
	log     slog.Handler
}

// node is one member with all that belongs to it.
type node struct {
	*Member
	cfg     Config
	live    *hashring.Live
	host    *host
	changes atomic.Int64 // that OnChange was told of
}

func inCluster(t *testing.T, seed uint64, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{
			t:       t,
			net:     newNetwork(seed),
			random:  rand.New(rand.NewPCG(seed, 2)),
			opts:    hashring.Options{VirtualNodes: 16},
			members: make(map[string]*node),
			prints:  make(map[*hashring.Ring]uint64),
			patient: time.Minute,
			log:     slog.DiscardHandler,
		}
		if os.Getenv("GOSSIP_LOG") != "" {
			c.log = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})
		}
		defer func() {
			for _, n := range c.all {
				n.Close()
			}
			time.Sleep(time.Minute) // what waits for the network gives up
		}()
		test(c)
	})
}

// address returns the i-th address that is given out, from 1 on.
func address(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), defaultPort)
}

// config returns the configuration of a member at an address of its own.
func (c *cluster) config(name string) Config {
	c.addrs++
	return Config{
		Cluster: "test",
		Node:    hashring.Node{Name: name},
		Addr:    name + ":80",
		Bind:    address(c.addrs),
		Seeds:   Static("10.0.0.1:7946", "10.0.0.2:7946", "10.0.0.3:7946"),
		Logger:  slog.New(c.log).With("member", name),
		Feed:    c.feed,
		Tune:    c.tune,
	}
}

// join makes a member.
func (c *cluster) join(cfg Config) (*node, error) {
	n := &node{cfg: cfg, host: c.net.plug(cfg.Bind)}
	ring, err := hashring.New(nil, &c.opts)
	require.NoError(c.t, err)
	n.live = hashring.NewLive(ring)
	if cfg.Feed.OnChange == nil {
		cfg.Feed.OnChange = func(hashring.Change) { n.changes.Add(1) }
	}
	tune := cfg.Tune
	cfg.Tune = func(conf *memberlist.Config) {
		if tune != nil {
			tune(conf)
		}
		conf.Transport = n.host
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patient)
	defer cancel()
	n.Member, err = Join(ctx, n.live, cfg)
	if err != nil {
		c.net.unplug(n.host)
		return nil, err
	}
	c.members[cfg.Node.Name] = n
	c.all = append(c.all, n)
	return n, nil
}

// start is join for those who expect no error.
func (c *cluster) start(names ...string) {
	for _, name := range names {
		_, err := c.join(c.config(name))
		require.NoError(c.t, err)
	}
}

// boot starts n members that come one after the other, and waits until they agree, and returns how long that took. Two
// seconds are enough, but where memberlist's queue loses one of two messages of a length, as the news of a hundred members
// at once are: once in some hundred such boots one member hears of another only at an exchange of all state, of which a
// member of a hundred has one each 15 s.
func (c *cluster) boot(n int) time.Duration {
	c.start(numbered(n)...)
	within := 2 * time.Second
	if n > 32 {
		within = time.Minute
	}
	return c.agree(within, numbered(n)...)
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("m%03d", i))
	}
	return names
}

// crash ends a member without a word, and takes it off the network first, so that no word can get out.
func (c *cluster) crash(name string) *node {
	n := c.members[name]
	delete(c.members, name)
	c.net.unplug(n.host)
	n.Close()
	return n
}

func (c *cluster) leave(name string) *node {
	n := c.members[name]
	delete(c.members, name)
	require.NoError(c.t, n.Leave(c.t.Context(), nil))
	c.net.unplug(n.host)
	return n
}

func (c *cluster) names() (names []string) {
	for name, n := range c.members {
		if !n.cfg.Observer {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *cluster) print(r *hashring.Ring) uint64 {
	if p, ok := c.prints[r]; ok {
		return p
	}
	p := r.Fingerprint()
	c.prints[r] = p
	return p
}

// expected returns the ring of nodes, with the weights and zones that the members have now.
func (c *cluster) expected(names []string) *hashring.Ring {
	var nodes []hashring.Node
	for _, name := range names {
		node := hashring.Node{Name: name}
		if n := c.members[name]; n != nil {
			node = n.cfg.Node
		}
		nodes = append(nodes, node)
	}
	ring, err := hashring.New(nodes, &c.opts)
	require.NoError(c.t, err)
	return ring
}

// agree requires that within a time all members have the ring of the nodes, and returns how long that took.
func (c *cluster) agree(within time.Duration, names ...string) time.Duration {
	c.t.Helper()
	want := c.print(c.expected(names))
	start := time.Now()
	for {
		synctest.Wait()
		var other []string
		for name, n := range c.members {
			if c.print(n.live.Load()) != want {
				other = append(other, name)
			}
		}
		took := time.Since(start)
		if len(other) == 0 {
			return took
		}
		if took > within {
			slices.Sort(other)
			rings := make(map[string][]string)
			for _, name := range other {
				s := c.members[name].Status()
				ring := fmt.Sprintf("%s %v %+v", namesOf(c.members[name].live.Load()), s.State, s.Agreement)
				rings[ring] = append(rings[ring], name)
			}
			require.Failf(c.t, "no agreement", "%d of %d members have another ring than %v after %v: %v",
				len(other), len(c.members), names, took, rings)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// watch lets a time pass in which no ring may have a node.
func (c *cluster) watch(d time.Duration, never string) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		synctest.Wait()
		for name, n := range c.members {
			_, on := n.live.Load().Node(never)
			require.False(c.t, on, "%s has %s on its ring", name, never)
		}
	}
}

// unchanged lets a time pass in which no ring may change.
func (c *cluster) unchanged(d time.Duration) {
	c.t.Helper()
	before := make(map[string]*hashring.Ring)
	for name, n := range c.members {
		before[name] = n.live.Load()
	}
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		synctest.Wait()
		for name, n := range c.members {
			if r := before[name]; r != nil {
				require.Same(c.t, r, n.live.Load(), "%s had %s, now %s", name, namesOf(r), namesOf(n.live.Load()))
			}
		}
	}
}

// split cuts the network between the members that are named and all others.
func (c *cluster) split(names ...string) {
	side := make(map[netip.AddrPort]bool)
	for _, name := range names {
		side[c.members[name].host.addr] = true
	}
	c.net.set(func(from, to netip.AddrPort) bool { return side[from] != side[to] })
}

func namesOf(r *hashring.Ring) string {
	var names []string
	for _, n := range r.Nodes() {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

var sizes = []int{5, 32, 100}

// eachSize runs a test of a cluster at each size.
func eachSize(t *testing.T, test func(c *cluster, n int)) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n > 32 && testing.Short() {
				t.Skip("100 members take long")
			}
			inCluster(t, seed.Of(t), func(c *cluster) { test(c, n) })
		})
	}
}
