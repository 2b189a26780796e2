package gossip

import (
	"io"
	"log"
	"testing"
	"testing/synctest"
	"time"

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

// noise returns n random bytes.
func (c *cluster) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(c.random.Uint32())
	}
	return b
}

func TestStrangersWithGarbage(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		good := encoded(c.t, metadata{params: c.members["m000"].self.params, boot: 1, weight: 1e300})
		var ends []func()
		for i, s := range []stranger{
			{nil, nil},
			{[]byte{0}, []byte{0}},
			{c.noise(1), c.noise(1)},
			{c.noise(100), c.noise(1000)},
			{c.noise(512), c.noise(1 << 20)},
			{append([]byte{metaVersion}, c.noise(60)...), append([]byte{gravesVersion}, c.noise(60)...)},
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
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		h := c.net.plug(c.config("noise").Bind)
		for range 2000 {
			b := c.noise(1 + c.random.IntN(300))
			if c.random.IntN(2) == 0 { // as if it were of this cluster
				b = append([]byte("\xf4\x04test"), b...)
				b[6] = byte(c.random.IntN(16)) // a type of message
			}
			addr := address(1 + c.random.IntN(n)).String()
			if c.random.IntN(10) > 0 {
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

// A tombstone of a member that is alive, by mistake or malice: it is off the rings until it objects. Tombstones travel from
// one member to another in exchanges of all state alone, every 5 s, or 15 s among 100.
func TestMemberObjectsToItsOwnTombstone(t *testing.T) {
	eachSize(t, func(c *cluster, n int) {
		c.boot(n)
		m := c.members["m003"]
		boot := m.self.boot
		forged := newGraves(time.Hour, 10)
		forged.bury(instance{"m003", boot}, time.Now(), time.Now())
		delegate{c.members["m001"].Member}.MergeRemoteState(forged.append(nil, time.Now()), false)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		_, on := c.members["m001"].live.Load().Node("m003")
		require.False(c.t, on)
		bound := map[int]time.Duration{5: 30 * time.Second, 32: 45 * time.Second, 100: 150 * time.Second}[n]
		c.t.Logf("agreed after %v", c.agree(bound, c.names()...))
		require.NotEqual(c.t, boot, m.self.boot)
		c.unchanged(time.Minute)
	})
}
