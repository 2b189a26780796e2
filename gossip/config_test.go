package gossip

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
)

func TestConfigsThatMakeNoSense(t *testing.T) {
	good := Config{Cluster: "c", Node: hashring.Node{Name: "a"}, Logger: slog.New(slog.DiscardHandler)}
	for what, test := range map[string]struct {
		change func(*Config)
		cause  error
		names  string
	}{
		"no cluster":    {func(c *Config) { c.Cluster = "" }, hashring.ErrOptions, "Cluster has 0 bytes"},
		"long cluster":  {func(c *Config) { c.Cluster = strings.Repeat("c", 256) }, hashring.ErrOptions, "Cluster has 256 bytes"},
		"no name":       {func(c *Config) { c.Node.Name = "" }, hashring.ErrInvalidNode, "the name is empty"},
		"long name":     {func(c *Config) { c.Node.Name = strings.Repeat("n", 256) }, ErrMetaTooBig, "the name has 256 bytes"},
		"tokens":        {func(c *Config) { c.Node.Tokens = []uint64{1} }, hashring.ErrOptions, "tokens"},
		"weight":        {func(c *Config) { c.Node.Weight = -1 }, hashring.ErrInvalidNode, `"a"`},
		"weight of NaN": {func(c *Config) { c.Node.Weight = math.NaN() }, hashring.ErrInvalidNode, `"a"`},
		"large weight":  {func(c *Config) { c.Node.Weight = 1e9 }, hashring.ErrTooManyTokens, `"a"`},
		"long zone":     {func(c *Config) { c.Node.Zone = strings.Repeat("z", 180) }, ErrMetaTooBig, "zone 180"},
		"short key":     {func(c *Config) { c.Keys = [][]byte{make([]byte, 16), make([]byte, 5)} }, hashring.ErrOptions, "key 1 has 5 bytes"},
		"rejoin":        {func(c *Config) { c.Rejoin = -1 }, hashring.ErrOptions, "Rejoin -1ns"},
		"feed":          {func(c *Config) { c.Feed.MaxLoss = 7 }, hashring.ErrOptions, "MaxLoss is 7"},
	} {
		t.Run(what, func(t *testing.T) {
			cfg := good
			test.change(&cfg)
			before := runtime.NumGoroutine()
			_, err := Join(t.Context(), new(hashring.Live), cfg)
			require.ErrorIs(t, err, test.cause)
			require.ErrorContains(t, err, test.names)
			require.Equal(t, before, runtime.NumGoroutine())
		})
	}
}

func TestTuneCannotTakeAwayWhatIsReliedOn(t *testing.T) {
	cfg, err := Config{Cluster: "c", Node: hashring.Node{Name: "a"}, Tune: func(conf *memberlist.Config) {
		require.Equal(t, 8, conf.RetransmitMult)
		conf.GossipNodes = 9
		conf.Name, conf.Label, conf.SecretKey = "x", "y", make([]byte, 16)
		conf.SkipInboundLabelCheck, conf.GossipVerifyIncoming = true, false
	}}.withDefaults()
	require.NoError(t, err)
	conf := cfg.tuned()
	require.Equal(t, 9, conf.GossipNodes)
	require.Equal(t, []string{"a", "c"}, []string{conf.Name, conf.Label})
	require.False(t, conf.SkipInboundLabelCheck)
	require.True(t, conf.GossipVerifyIncoming)
	require.False(t, conf.EncryptionEnabled())
	require.Empty(t, conf.SecretKey)
}

func TestBindAndAdvertise(t *testing.T) {
	base := Config{Cluster: "c", Node: hashring.Node{Name: "a"}}
	for _, test := range []struct {
		bind, advertise string
		want            [4]any
	}{
		{"", "", [4]any{"0.0.0.0", 7946, "", 7946}},
		{"127.0.0.1:0", "", [4]any{"127.0.0.1", 0, "", 0}},
		{"[::1]:5", "192.0.2.1:6", [4]any{"::1", 5, "192.0.2.1", 6}},
	} {
		cfg := base
		if test.bind != "" {
			cfg.Bind = netip.MustParseAddrPort(test.bind)
		}
		if test.advertise != "" {
			cfg.Advertise = netip.MustParseAddrPort(test.advertise)
		}
		cfg, err := cfg.withDefaults()
		require.NoError(t, err)
		conf := cfg.tuned()
		require.Equal(t, test.want, [4]any{conf.BindAddr, conf.BindPort, conf.AdvertiseAddr, conf.AdvertisePort})
	}
}

func TestSeedsThatCannotBeResolved(t *testing.T) {
	for _, name := range []string{"no port", "::1", "host:port:more", "127.0.0.1:nonsense-service"} {
		_, err := resolve(t.Context(), name)
		require.ErrorContains(t, err, name)
	}
	got, err := resolve(t.Context(), "127.0.0.1:80")
	require.NoError(t, err)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:80")}, got)
	got, err = resolve(t.Context(), "localhost:7946")
	require.NoError(t, err)
	require.Subset(t, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7946"), netip.MustParseAddrPort("[::1]:7946")}, got)
	require.NotEmpty(t, got)
	_, err = resolve(t.Context(), "no-such-host.invalid:7946")
	require.ErrorContains(t, err, "no-such-host.invalid:7946")
	got, err = resolve(t.Context(), "[::ffff:127.0.0.1]:80")
	require.NoError(t, err)
	require.Equal(t, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:80")}, got)
}

func TestSeedsThatFail(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		down := errors.New("the name server is down")
		cfg := c.config("a")
		cfg.Seeds = func(context.Context) ([]string, error) { return nil, down }
		_, err := c.join(cfg)
		require.ErrorIs(c.t, err, ErrNoSeed)
		require.ErrorIs(c.t, err, down)
		cfg = c.config("b") // it is up again after a while
		start := time.Now()
		cfg.Seeds = func(context.Context) ([]string, error) {
			if time.Since(start) < 10*time.Second {
				return nil, down
			}
			return nil, nil
		}
		_, err = c.join(cfg)
		require.NoError(c.t, err)
		require.GreaterOrEqual(c.t, time.Since(start), 10*time.Second)
	})
}

// A member that is its own only seed is the first, also if it does not know itself by the address that it is given.
func TestMemberThatIsItsOwnSeed(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		cfg := c.config("a")
		cfg.Seeds = Static(cfg.Bind.String())
		start := time.Now()
		_, err := c.join(cfg)
		require.NoError(c.t, err)
		require.Zero(c.t, time.Since(start))

		cfg = c.config("b")
		other := netip.MustParseAddrPort("10.1.1.1:1")
		cfg.Seeds = Static(other.String())
		time.AfterFunc(10*time.Millisecond, func() { // the same host by another address
			c.net.mu.Lock()
			defer c.net.mu.Unlock()
			c.net.hosts[other] = c.net.hosts[cfg.Bind]
		})
		start = time.Now()
		_, err = c.join(cfg)
		require.NoError(c.t, err)
		require.Less(c.t, time.Since(start), 5*time.Second)
	})
}

func TestPortInUse(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no sockets")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	cfg := Config{
		Cluster: "c",
		Node:    hashring.Node{Name: "a"},
		Bind:    netip.MustParseAddrPort(l.Addr().String()),
		Logger:  slog.New(slog.DiscardHandler),
	}
	_, err = Join(t.Context(), new(hashring.Live), cfg)
	require.ErrorContains(t, err, "address already in use")
}

func TestSetWeightRefusesWhatTheRingWould(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		c.boot(2)
		m := c.members["m000"]
		for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			err := m.SetWeight(c.t.Context(), w)
			require.ErrorIs(c.t, err, hashring.ErrInvalidNode)
			require.ErrorContains(c.t, err, "m000")
		}
		require.ErrorIs(c.t, m.SetWeight(c.t.Context(), 1e9), hashring.ErrTooManyTokens)
		c.unchanged(5 * time.Second)
		ctx, cancel := context.WithCancel(c.t.Context())
		cancel()
		require.ErrorIs(c.t, m.SetWeight(ctx, 2), context.Canceled)
		m.cfg.Node.Weight = 2
		c.agree(2*time.Second, "m000", "m001") // it is told all the same
	})
}

func TestRotateWithoutKeys(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		c.boot(1)
		require.ErrorIs(c.t, c.members["m000"].Rotate([][]byte{make([]byte, 16)}), hashring.ErrOptions)
	})
}

func TestStateNames(t *testing.T) {
	var names []string
	for s := Settling; s <= Closed+1; s++ {
		names = append(names, s.String())
	}
	require.Equal(t, []string{"settling", "steady", "degraded", "conflict", "leaving", "closed", "State(6)"}, names)
}
