package gossip

import (
	"io"
	"log"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
)

// stranger speaks memberlist's language, and nothing else that makes sense.
type stranger struct {
	meta, state []byte
}

func (s stranger) NodeMeta(int) []byte             { return s.meta }
func (s stranger) NotifyMsg([]byte)                {}
func (s stranger) GetBroadcasts(_, _ int) [][]byte { return nil }
func (s stranger) LocalState(bool) []byte          { return s.state }
func (s stranger) MergeRemoteState([]byte, bool)   {}

// stranger starts a bare memberlist that calls all seeds, and returns what ends it.
func (c *cluster) stranger(name string, s stranger) func() {
	conf := memberlist.DefaultLANConfig()
	h := c.net.plug(c.config(name).Bind)
	conf.Name, conf.Label, conf.Transport, conf.Delegate = name, "test", h, s
	conf.Logger = log.New(io.Discard, "", 0)
	list, err := memberlist.Create(conf)
	require.NoError(c.t, err)
	list.Join([]string{"10.0.0.1:7946", "10.0.0.2:7946", "10.0.0.3:7946"})
	return func() {
		c.net.unplug(h)
		list.Shutdown()
	}
}

func TestStrangersWithGarbage(t *testing.T) {
	seed := seed.Of(t)
	random := rand.New(rand.NewPCG(seed, 3))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	inCluster(t, seed, func(c *cluster) {
		c.boot(5)
		good := encoded(c.t, metadata{params: c.members["m000"].self.params, boot: 1, weight: 1e300})
		var ends []func()
		for i, s := range []stranger{
			{nil, nil},
			{[]byte{0}, []byte{0}},
			{noise(1), noise(1)},
			{noise(100), noise(1000)},
			{noise(512), noise(1 << 20)},
			{append([]byte{metaVersion}, noise(60)...), append([]byte{gravesVersion}, noise(60)...)},
			{[]byte{99}, []byte{99, 1, 2}}, // from a later release
			{good, []byte{gravesVersion, 0}},
		} {
			ends = append(ends, c.stranger("stranger"+string(rune('a'+i)), s))
		}
		c.unchanged(2 * time.Minute)
		for _, end := range ends {
			end()
		}
		c.unchanged(time.Minute)
		c.start("new")
		c.agree(time.Second, c.names()...)
	})
}

// Packets and connections of noise, to every member. Nothing falls over, and no ring changes.
func TestNoise(t *testing.T) {
	seed := seed.Of(t)
	random := rand.New(rand.NewPCG(seed, 4))
	inCluster(t, seed, func(c *cluster) {
		c.boot(5)
		h := c.net.plug(c.config("noise").Bind)
		for range 2000 {
			b := make([]byte, 1+random.IntN(300))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			if random.IntN(2) == 0 { // as if it were of this cluster
				b = append([]byte("\xf4\x04test"), b...)
				b[6] = byte(random.IntN(16)) // a type of message
			}
			to := c.config("").Bind.Addr().As4()
			to[2], to[3] = 0, byte(1+random.IntN(5))
			addr := netip.AddrPortFrom(netip.AddrFrom4(to), defaultPort).String()
			if random.IntN(10) > 0 {
				h.WriteTo(b, addr)
			} else if conn, err := h.DialTimeout(addr, time.Second); err == nil {
				conn.Write(b)
				conn.Close()
			}
			time.Sleep(10 * time.Millisecond)
		}
		c.unchanged(time.Minute)
		c.net.unplug(h)
	})
}

// A tombstone of a member that is alive, by mistake or malice: it is off the rings until it objects.
func TestMemberObjectsToItsOwnTombstone(t *testing.T) {
	inCluster(t, seed.Of(t), func(c *cluster) {
		t := c.t
		c.boot(5)
		m := c.members["m003"]
		boot := m.self.boot
		forged := newGraves(time.Hour, 10)
		forged.bury(instance{"m003", boot}, time.Now(), time.Now())
		delegate{c.members["m001"].Member}.MergeRemoteState(forged.append(nil, time.Now()), false)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		_, on := c.members["m001"].live.Load().Node("m003")
		require.False(t, on)
		t.Logf("agreed after %v", c.agree(30*time.Second, c.names()...))
		require.NotEqual(t, boot, m.self.boot)
		c.unchanged(time.Minute)
	})
}
