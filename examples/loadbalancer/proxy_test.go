//go:build !js && !wasip1

package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rig is a proxy on loopback with real backends behind it. Its clock stands still until a test moves it.
type rig struct {
	*Proxy
	fleet *fleet
	url   string
	done  chan struct{} // gets a value as each request is done with, if a test has made it

	clock atomic.Int64
}

// newRig starts n backends that answer with answer, or with their name if it is nil.
func newRig(t *testing.T, n int, by string, answer func(name string) http.Handler) *rig {
	t.Helper()
	return newBoundedRig(t, n, by, 0, answer)
}

func newBoundedRig(t *testing.T, n int, by string, bound float64, answer func(name string) http.Handler) *rig {
	t.Helper()
	sources, err := parseBy(by)
	require.NoError(t, err)
	proxy, err := NewProxy(sources, time.Second, bound, log.New(io.Discard, "", 0))
	require.NoError(t, err)
	r := &rig{Proxy: proxy}
	r.now = func() time.Time { return time.Unix(0, r.clock.Load()) }
	if answer == nil {
		answer = func(name string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, name) })
		}
	}
	r.fleet = newFleet(r.Proxy, answer)
	for i := range n {
		require.NoError(t, r.fleet.start(fmt.Sprintf("backend-%d", i+1)))
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.done != nil {
			defer func() { r.done <- struct{}{} }()
		}
		r.ServeHTTP(w, req)
	}))
	r.url = front.URL
	t.Cleanup(func() {
		r.fleet.close()
		front.Close()
		r.transport.(*http.Transport).CloseIdleConnections()
	})
	return r
}

// do sends a request and returns the status and the body of the response.
func do(t *testing.T, c *http.Client, req *http.Request) (int, string) {
	t.Helper()
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, strings.TrimSuffix(string(body), "\n")
}

func request(t *testing.T, method, url, user string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	require.NoError(t, err)
	req.Header.Set("X-User", user)
	return req
}

// upNow returns the names of the candidates for key.
func (r *rig) upNow(key string) []string {
	var names []string
	x := &exchange{key: key}
	defer func() { x.lease.Release() }()
	for c := range r.candidates(r.table.Load(), x) {
		names = append(names, c.name)
	}
	return names
}

// TestOnlyTheKeysOfADeadBackendMove asks for 300 users who has them, kills a backend, and asks again.
func TestOnlyTheKeysOfADeadBackendMove(t *testing.T) {
	const users = 300
	client := func(int) *http.Client { return http.DefaultClient }
	for _, tc := range []struct {
		by     string
		key    func(i int) string
		mark   func(req *http.Request, key string)
		client func(i int) *http.Client
	}{
		{"header:X-User", func(i int) string { return fmt.Sprint("user-", i) },
			func(req *http.Request, key string) { req.Header.Set("X-User", key) }, client},
		{"cookie:session", func(i int) string { return fmt.Sprint("session-", i) },
			func(req *http.Request, key string) { req.AddCookie(&http.Cookie{Name: "session", Value: key}) }, client},
		{"addr", func(i int) string { return source(i).String() }, func(*http.Request, string) {}, clientFrom},
	} {
		t.Run(tc.by, func(t *testing.T) {
			if tc.by == "addr" {
				ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: source(0)})
				if err != nil {
					t.Skip("this system has one loopback address only:", err)
				}
				ln.Close()
			}
			r := newRig(t, 5, tc.by, nil)
			ring := r.live.Load()
			ask := func() []string {
				served := make([]string, users)
				for i := range served {
					req, err := http.NewRequest(http.MethodGet, r.url, nil)
					require.NoError(t, err)
					tc.mark(req, tc.key(i))
					var status int
					status, served[i] = do(t, tc.client(i), req)
					require.Equal(t, http.StatusOK, status)
				}
				return served
			}
			first, second := make([]string, users), make([]string, users) // replicas
			for i := range users {
				replicas := ring.AppendReplicas(nil, tc.key(i), 2)
				first[i], second[i] = replicas[0], replicas[1]
			}
			require.Equal(t, first, ask())

			const dead = "backend-3"
			require.NoError(t, r.fleet.kill(dead))
			want, moved := make([]string, users), 0
			for i := range users {
				want[i] = first[i]
				if first[i] == dead {
					want[i] = second[i]
					moved++
				}
			}
			require.NotZero(t, moved)
			require.Equal(t, want, ask(), "only the keys of %s move, each to its second replica", dead)
			require.Same(t, ring, r.live.Load(), "a backend that is down stays on the ring")

			require.NoError(t, r.fleet.start(dead))
			require.Equal(t, first, ask(), "started again, at another port, it has its keys")

			require.NoError(t, r.fleet.remove(dead))
			require.Equal(t, 4, r.live.Load().Len())
			require.Equal(t, want, ask(), "leaving the ring moves the same keys to the same places")

			require.NoError(t, r.fleet.start(dead))
			require.Equal(t, first, ask(), "on the ring again, it has its keys")
		})
	}
}

// source returns one of many loopback addresses.
func source(i int) net.IP { return net.IPv4(127, 0, byte(1+i/250), byte(1+i%250)) }

// clientFrom returns a client whose address is source(i).
func clientFrom(i int) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: source(i)}}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
}

func address(t *testing.T, r *rig, name string) string {
	t.Helper()
	v, ok := r.table.Load().Value(name)
	require.True(t, ok)
	return v.addr
}

// TestChangesUnderLoad removes a backend and adds it, at one address and another, while requests are served: none fails.
func TestChangesUnderLoad(t *testing.T) {
	r := newRig(t, 5, "header:X-User", nil)
	const clients, each = 4, 200
	ticks := make(chan struct{}, clients) // one a request, so that there are as many changes, on one processor too
	var readers, writer sync.WaitGroup
	for c := range clients {
		readers.Go(func() {
			for i := range each {
				ticks <- struct{}{}
				req, err := http.NewRequest(http.MethodGet, r.url, nil)
				if err != nil {
					t.Error(err)
					continue
				}
				req.Header.Set("X-User", fmt.Sprint(c, "-", i))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					continue
				}
				name, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(name), "backend-") {
					t.Errorf("%v %q %v", resp.Status, name, err)
				}
			}
		})
	}
	addrs := []string{address(t, r, "backend-2"), address(t, r, "backend-4")}
	writer.Go(func() {
		n := 0
		for range ticks {
			var err error
			if n%2 == 0 {
				_, err = r.Remove("backend-2")
			} else {
				err = r.Add("backend-2", addrs[n/2%2])
			}
			if err != nil {
				t.Error(err)
			}
			n++
		}
	})
	readers.Wait()
	close(ticks)
	writer.Wait()
	require.Equal(t, 5, r.live.Load().Len())
}

// TestForwarded checks what a backend is told of the client.
func TestForwarded(t *testing.T) {
	r := newRig(t, 1, "addr", func(string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			fmt.Fprint(w, req.Header["X-Forwarded-For"], " ", req.Host)
		})
	})
	req := request(t, http.MethodGet, r.url, "alice", nil)
	req.Host = "shop.example"
	req.Header.Set("X-Forwarded-For", "192.0.2.1") // a client says so, who may say anything
	_, got := do(t, http.DefaultClient, req)
	require.Equal(t, "[127.0.0.1] shop.example", got)
}

func TestKey(t *testing.T) {
	req := httptest.NewRequest(http.MethodGet, "http://shop.example/", nil)
	req.RemoteAddr = "[2001:db8::7]:1234"
	key := func(by string) string {
		sources, err := parseBy(by)
		require.NoError(t, err)
		p, err := NewProxy(sources, 0, 0, nil)
		require.NoError(t, err)
		return p.key(req)
	}
	require.Equal(t, "2001:db8::7", key(defaultBy))
	require.Equal(t, "2001:db8::7", key("header:X-User"), "without the header the address is left")
	req.AddCookie(&http.Cookie{Name: "session", Value: "7f3a"})
	require.Equal(t, "7f3a", key(defaultBy))
	req.Header.Set("X-User", "")
	require.Equal(t, "7f3a", key(defaultBy), "an empty header is none")
	req.Header.Set("X-User", "alice")
	require.Equal(t, "alice", key(defaultBy))
	require.Equal(t, "7f3a", key("cookie:session, header:x-user"))
	require.Equal(t, "2001:db8::7", key("addr,header:X-User"))
	require.Equal(t, "shop.example", key("header:Host"))
	for _, bad := range []string{"", "header", "header:", "cookie:", "addr:x", "addr,", "path"} {
		_, err := parseBy(bad)
		require.ErrorContains(t, err, "-by", "%q", bad)
	}
}
