package gossip

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/hashicorp/memberlist"
)

// Config says who a member is, and how it finds the others. Cluster and Node.Name are required.
type Config struct {
	// Cluster is what the members of one ring have in common: up to 255 bytes, which are in every message. Members of
	// another cluster are not heard, though they may get the address that one of this had before.
	Cluster string

	// Node is the member on the ring. The name is its identity, to be unique in the cluster and to stay with it. A weight of
	// 0 stands for 1. Tokens must be empty: they follow from the name. Zone, Label and Addr together have room for some
	// 170 bytes.
	Node hashring.Node

	// Observer makes a member that follows the ring and is never on it, as a load balancer in front of the others is.
	Observer bool

	// Addr is where the node serves, told to the others as it is: see Member.Addr. It may be empty.
	Addr string

	// Bind is where to listen for other members, on UDP and TCP. A port of 0 stands for any. The zero value stands for port
	// 7946 on all IPv4 addresses. Advertise is where the others reach that, if it is somewhere else.
	Bind, Advertise netip.AddrPort

	// Seeds returns addresses of some members, as "host:port"; a host may have many. It is asked until one of them has taken
	// this member in, and again and again after that, see Rejoin. All members may have the same seeds. nil, or none but this
	// member itself, makes it the first. Static makes a fixed list.
	Seeds func(ctx context.Context) ([]string, error)

	// Keys of 16, 24 or 32 bytes encrypt and authenticate all that members say: the first encrypts, all decrypt. Without
	// any, everyone who reaches Bind can change the ring. Who has a key is trusted.
	Keys [][]byte

	// MinMembers is how many nodes the ring must have for Ready.
	MinMembers int

	// Rejoin is how often seeds are called that are not among the members alive, and three members that have failed, in
	// turn: nothing else heals a partition that has lasted long. 0 stands for 30 s.
	Rejoin time.Duration

	// Tombstone is for how long members that left or failed are remembered, which must be longer than any member is cut
	// off. 0 stands for 24 h.
	Tombstone time.Duration

	// LeaveTimeout is how long Leave waits, in the end, for its last message to be on its way. 0 stands for 5 s.
	LeaveTimeout time.Duration

	// Feed is what stands between the news and the ring.
	Feed feed.Options

	// Logger gets what happens to the membership; what memberlist has to say as well. nil stands for slog.Default().
	Logger *slog.Logger

	// Tune may change what memberlist is configured with; what this package relies on is set after it. It is for those who
	// know memberlist, and may have to be changed with a new version of that.
	Tune func(*memberlist.Config)
}

// Static returns a function for Config.Seeds that always returns addrs.
func Static(addrs ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return addrs, nil }
}

const defaultPort = 7946

// withDefaults returns c with the defaults filled in, if all is well.
func (c Config) withDefaults() (Config, error) {
	fail := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("gossip: %w: %w", hashring.ErrOptions, fmt.Errorf(format, args...))
	}
	switch {
	case c.Cluster == "" || len(c.Cluster) > memberlist.LabelMaxSize:
		return fail("Cluster has %d bytes, not between 1 and %d", len(c.Cluster), memberlist.LabelMaxSize)
	case len(c.Node.Name) > maxName:
		return c, fmt.Errorf("gossip: %w: the name has %d bytes, more than %d", ErrMetaTooBig, len(c.Node.Name), maxName)
	case len(c.Node.Tokens) > 0:
		return fail("the Node has tokens, which the others would not know of")
	case c.Rejoin < 0 || c.Tombstone < 0 || c.LeaveTimeout < 0:
		return fail("Rejoin %v, Tombstone %v or LeaveTimeout %v is negative", c.Rejoin, c.Tombstone, c.LeaveTimeout)
	}
	if err := checkKeys(c.Keys); err != nil {
		return fail("%w", err)
	}
	if c.Node.Weight == 0 {
		c.Node.Weight = 1
	}
	if !c.Bind.IsValid() {
		c.Bind = netip.AddrPortFrom(netip.IPv4Unspecified(), defaultPort)
	}
	c.Rejoin = orDefault(c.Rejoin, 30*time.Second)
	c.Tombstone = orDefault(c.Tombstone, 24*time.Hour)
	c.LeaveTimeout = orDefault(c.LeaveTimeout, 5*time.Second)
	c.Feed.Settle = orDefault(c.Feed.Settle, 200*time.Millisecond) // Ready wants to know it
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Feed.Logger == nil {
		c.Feed.Logger = c.Logger
	}
	return c, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

func checkKeys(keys [][]byte) error {
	for i, key := range keys {
		if err := memberlist.ValidateKey(key); err != nil {
			return fmt.Errorf("key %d has %d bytes, not 16, 24 or 32", i, len(key))
		}
	}
	return nil
}

// tuned returns a configuration for memberlist. In that of a LAN, news goes to a few peers, and who is missed learns of it
// by an exchange of all state every 30 s; so now and then members disagree for half a minute. Here news is sent twice as often,
// in half the time, and exchanges are every 5 s. That costs a member 0.3 kB/s among 5, and 1.5 kB/s among 32 or 100.
// docs/membership.md has what it gains.
func (c Config) tuned() *memberlist.Config {
	conf := memberlist.DefaultLANConfig()
	conf.BindAddr, conf.BindPort = c.Bind.Addr().String(), int(c.Bind.Port())
	conf.AdvertisePort = int(c.Bind.Port())
	if c.Advertise.IsValid() {
		conf.AdvertiseAddr, conf.AdvertisePort = c.Advertise.Addr().String(), int(c.Advertise.Port())
	}
	conf.RetransmitMult = 8
	conf.GossipInterval = 100 * time.Millisecond
	conf.PushPullInterval = 5 * time.Second
	conf.GossipToTheDeadTime = time.Minute     // until then, who was cut off is told, and can object
	conf.DeadNodeReclaimTime = 5 * time.Second // after which a name that failed may come back from elsewhere
	conf.TCPTimeout = 5 * time.Second
	conf.EnableCompression = false // little to gain on a few hundred random bytes
	if c.Tune != nil {
		c.Tune(conf)
	}
	conf.Name, conf.Label, conf.SkipInboundLabelCheck = c.Node.Name, c.Cluster, false
	conf.SecretKey, conf.Keyring = nil, nil
	conf.GossipVerifyIncoming, conf.GossipVerifyOutgoing = true, true
	conf.LogOutput = nil
	return conf
}
