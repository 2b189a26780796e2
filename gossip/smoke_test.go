package gossip

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// onLoopback returns the configuration of a member on this machine.
func onLoopback(name string, seeds ...string) Config {
	return Config{
		Cluster: "loopback",
		Node:    hashring.Node{Name: name},
		Bind:    netip.MustParseAddrPort("127.0.0.1:0"),
		Seeds:   Static(seeds...),
		Logger:  slog.New(slog.DiscardHandler),
	}
}

// Five members over sockets of this machine, in real time: they join, one changes its weight, one leaves, all end, and
// nothing of them is left.
func TestSmokeOverLoopback(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no sockets")
	}
	goroutines := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var members []*Member
	var lives []*hashring.Live
	var seeds []string
	for i := range 5 {
		live := hashring.NewLive(nil)
		cfg := onLoopback(fmt.Sprint("node-", i), seeds...)
		cfg.Addr = fmt.Sprint("127.0.0.1:", 8000+i)
		cfg.Keys = [][]byte{bytes.Repeat([]byte{7}, 32)}
		cfg.MinMembers = 5
		m, err := Join(ctx, live, cfg)
		require.NoError(t, err)
		seeds = append(seeds, m.Gossip().String())
		members, lives = append(members, m), append(lives, live)
	}
	for _, m := range members {
		select {
		case <-m.Ready():
		case <-ctx.Done():
			require.Fail(t, "not ready", "%+v", m.Status())
		}
	}
	agree := func(nodes ...hashring.Node) {
		t.Helper()
		want, err := hashring.New(nodes, nil)
		require.NoError(t, err)
		for _, l := range lives {
			for !l.Load().Equal(want) {
				require.NoError(t, ctx.Err(), "%v is not %v", l.Load(), want)
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	agree(hashring.Nodes("node-0", "node-1", "node-2", "node-3", "node-4")...)
	require.NoError(t, members[1].SetWeight(ctx, 3))
	agree(append(hashring.Nodes("node-0", "node-2", "node-3", "node-4"), hashring.Node{Name: "node-1", Weight: 3})...)
	require.NoError(t, members[4].Leave(ctx, nil))
	agree(append(hashring.Nodes("node-0", "node-2", "node-3"), hashring.Node{Name: "node-1", Weight: 3})...)
	addr, ok := members[0].Addr("node-2")
	require.True(t, ok)
	require.Equal(t, "127.0.0.1:8002", addr)

	for _, m := range members {
		require.NoError(t, m.Close())
	}
	for runtime.NumGoroutine() > goroutines {
		if ctx.Err() != nil {
			buf := make([]byte, 1<<20)
			require.Fail(t, "goroutines are left", "%s", buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}
