package compat

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"

	"github.com/clockwise-go/hashring"
)

// Getter has the method that go-redis wants of the consistent hash of its Ring client:
//
//	client := redis.NewRing(&redis.RingOptions{
//		Addrs: map[string]string{"a": "10.0.0.1:6379", "b": "10.0.0.2:6379"},
//		NewConsistentHash: func(shards []string) redis.ConsistentHash {
//			getter, err := compat.NewGetter(ring, shards)
//			if err != nil {
//				panic(err) // ring and Addrs do not have the same names
//			}
//			return getter
//		},
//	})
//
// go-redis calls that with the shards that are up whenever they change. It asks for what is between { and } of a key that
// has that.
type Getter struct{ ring *hashring.Ring }

// NewGetter returns a Getter of those of ring's nodes that are among shards. Their order is that in the ring, since that of
// go-redis is random and a rule may depend on it. A shard that is not in the ring is a [*hashring.NodeError], since no key
// would ever reach it.
func NewGetter(ring *hashring.Ring, shards []string) (Getter, error) {
	up := make(map[string]bool, len(shards))
	for i, name := range shards {
		if _, ok := ring.Node(name); !ok {
			return Getter{}, &hashring.NodeError{Index: i, Name: name, Err: refuse("the ring does not have this shard")}
		}
		up[name] = true
	}
	var down []string
	for _, n := range ring.Nodes() {
		if !up[n.Name] {
			down = append(down, n.Name)
		}
	}
	left, err := ring.Without(down...)
	return Getter{left}, err
}

// Get returns the owner of key, or "" if there is none, which go-redis takes for that.
func (g Getter) Get(key string) string {
	if g.ring == nil {
		return ""
	}
	owner, _ := g.ring.Owner(key)
	return owner
}

// ErrNoServers is what a Selector returns while its ring is empty.
var ErrNoServers = errors.New("compat: no servers")

// Selector has the methods that gomemcache wants of a ServerSelector:
//
//	client := memcache.NewFromSelector(compat.NewSelector(live))
//
// The names of nodes are the addresses of servers, as the constructors for memcached's clients have them: host:port, or
// host where the port is 11211, or the path of a unix socket; an IPv6 address may have brackets or not. Host names are
// resolved when gomemcache connects. Any number of goroutines may use it.
type Selector struct {
	live  *hashring.Live
	bound atomic.Pointer[boundAddrs]
}

// boundAddrs are the addresses of the nodes of a ring, by index.
type boundAddrs struct {
	ring  *hashring.Ring
	addrs []net.Addr
}

// NewSelector returns a Selector of the nodes that are current in live when it is asked.
func NewSelector(live *hashring.Live) *Selector { return &Selector{live: live} }

// PickServer returns the address of the owner of key, or [ErrNoServers]. It takes no lock and allocates nothing, but for the
// first call after a change, which takes O(N).
func (s *Selector) PickServer(key string) (net.Addr, error) {
	b := s.current()
	i := b.ring.IndexAt(b.ring.Position(key))
	if i < 0 {
		return nil, ErrNoServers
	}
	return b.addrs[i], nil
}

// Each calls f with the address of every node, in the order of the ring, until it returns an error, and returns that.
func (s *Selector) Each(f func(net.Addr) error) error {
	for _, addr := range s.current().addrs {
		if err := f(addr); err != nil {
			return err
		}
	}
	return nil
}

// current returns the current ring with its addresses.
func (s *Selector) current() *boundAddrs {
	ring := s.live.Load()
	b := s.bound.Load()
	if b != nil && b.ring == ring {
		return b
	}
	b = &boundAddrs{ring, make([]net.Addr, 0, ring.Len())}
	for _, n := range ring.Nodes() {
		b.addrs = append(b.addrs, addressOf(n.Name))
	}
	s.bound.Store(b) // also if another goroutine did, perhaps with a newer ring: the next call sees to that
	return b
}

// serverAddr is a net.Addr that is yet to be resolved.
type serverAddr struct{ network, address string }

func (a serverAddr) Network() string { return a.network }
func (a serverAddr) String() string  { return a.address }

// addressOf returns the address that the name of a memcached server stands for, in the form that net.Dial takes.
func addressOf(name string) net.Addr {
	if strings.HasPrefix(name, "/") {
		return serverAddr{"unix", name}
	}
	host, port := splitPort(name)
	if port == "" {
		port = "11211"
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return serverAddr{"tcp", net.JoinHostPort(host, port)}
}
