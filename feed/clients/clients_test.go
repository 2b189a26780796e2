package clients

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
	"github.com/clockwise-go/hashring/feed"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// What sources and clients log is not what is tested.
func TestMain(m *testing.M) {
	quiet := slog.New(slog.DiscardHandler)
	slog.SetDefault(quiet)
	klog.SetSlogLogger(quiet)
	utilruntime.ErrorHandlers = nil // one sleeps if an error comes soon after the start of the process, by real time
	os.Exit(m.Run())
}

// memory is a network of one address without a network, since only what stays in the process can be in fake time.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func() // closes closed, once

	mu   sync.Mutex
	down bool // connections are refused
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { m.close(); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	m.mu.Lock()
	down := m.down
	m.mu.Unlock()
	if down {
		return nil, syscall.ECONNREFUSED
	}
	here, there := net.Pipe()
	select {
	case m.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// world is a Feed in fake time, with a server that a source asks.
type world struct {
	t      *testing.T
	f      *feed.Feed
	live   *hashring.Live
	server *httptest.Server
	net    *memory
	client *http.Client
	slack  time.Duration // within which a source ends with its context
}

// inWorld runs test in fake time. A goroutine that is left when it has ended, and all clients and servers are closed, is
// a failure.
func inWorld(t *testing.T, handler http.Handler, names string, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		live := empty(t)
		if names != "" {
			_, err := live.Add(hashring.Nodes(strings.Fields(names)...)...)
			require.NoError(t, err)
		}
		f, err := feed.New(live, nil)
		require.NoError(t, err)
		defer f.Close()
		m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
		m.close = sync.OnceFunc(func() { close(m.closed) })
		server := &httptest.Server{Listener: m, Config: &http.Server{Handler: handler}}
		server.Start()
		transport := &http.Transport{DialContext: m.dial}
		defer server.Close()
		defer transport.CloseIdleConnections()
		test(&world{t: t, f: f, live: live, server: server, net: m, client: &http.Client{Transport: transport},
			slack: 100 * time.Millisecond})
	})
}

// follow runs source until what it returns is called, which requires that source then ends within w.slack.
func (w *world) follow(source func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		again(ctx, source)
		close(ended)
	}()
	return func() {
		cancel()
		start := time.Now()
		<-ended
		require.LessOrEqual(w.t, time.Since(start), w.slack)
	}
}

// after lets d pass and requires what the ring is then.
func (w *world) after(d time.Duration, ring string) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	require.Equal(w.t, ring, ringOf(w.live.Load()))
}

// cut makes the server unreachable, or reachable again.
func (w *world) cut(down bool) {
	w.net.mu.Lock()
	w.net.down = down
	w.net.mu.Unlock()
	if down {
		w.server.CloseClientConnections()
	}
}

// empty returns a ring without nodes. It has a Placement, so the order of nodes counts: it has to be that of their names,
// or processes would have different rings.
func empty(t *testing.T) *hashring.Live {
	ring, err := hashring.New(nil, &hashring.Options{Placement: compat.Serialx()})
	require.NoError(t, err)
	return hashring.NewLive(ring)
}

func ringOf(r *hashring.Ring) string {
	var names []string
	for _, n := range r.Nodes() {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

const (
	settled = 200 * time.Millisecond // of a Feed
	soon    = 3 * time.Second        // to begin anew, and to settle
)

// A source that comes back is begun anew a second later, and one that is to end is not.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var begun []time.Duration
		again(ctx, func(context.Context) error {
			begun = append(begun, time.Since(start))
			if len(begun) == 4 {
				cancel()
			}
			return []error{nil, io.EOF}[len(begun)%2]
		})
		require.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, begun)
		require.Equal(t, 3*time.Second, time.Since(start))
		again(ctx, func(context.Context) error { panic("ended") })
	})
}

func TestByName(t *testing.T) {
	a, b := hashring.Node{Name: "a", Zone: "z"}, hashring.Node{Name: "b", Zone: "y"}
	require.Equal(t, []int{-1, 0, 1}, []int{byName(a, b), byName(a, a), byName(b, a)})
}
