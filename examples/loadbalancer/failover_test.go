//go:build !js && !wasip1

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHold checks that a backend that could not be reached is not dialled for the time of the hold, and is after it.
func TestHold(t *testing.T) {
	r := newRig(t, 3, "header:X-User", nil)
	replicas := r.live.Load().AppendReplicas(nil, "alice", 3)
	owner := address(t, r, replicas[0])
	inner, down, dials := r.transport, true, 0 // one request at a time
	r.transport = roundTripFunc(func(req *http.Request) (*http.Response, error) {
		if req.URL.Host == owner {
			dials++
			if down {
				return nil, fmt.Errorf("wrapped: %w", &net.OpError{Op: "dial", Err: io.EOF})
			}
		}
		return inner.RoundTrip(req)
	})
	defer func() { r.transport = inner }()
	for _, step := range []struct {
		at     time.Duration
		down   bool
		served string
		dials  int
	}{
		{0, true, replicas[1], 1},
		{0, true, replicas[1], 1}, // held
		{time.Second - 1, false, replicas[1], 1},
		{time.Second, true, replicas[1], 2}, // the hold is over, but it is still down
		{2*time.Second - 1, false, replicas[1], 2},
		{2 * time.Second, false, replicas[0], 3},
		{2 * time.Second, false, replicas[0], 4},
	} {
		r.clock.Store(int64(step.at))
		down = step.down
		_, served := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
		require.Equal(t, step.served, served, "%+v", step)
		require.Equal(t, step.dials, dials, "%+v", step)
	}
}

// echo answers with the body that it was sent.
func echo(string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Write(body)
	})
}

// TestBodyAfterFailOver checks that a body reaches the second, and the third replica whole.
func TestBodyAfterFailOver(t *testing.T) {
	for _, size := range []int{0, 1, 1000, maxBuffered, maxBuffered + 1, 1 << 20} {
		for _, chunked := range []bool{false, true} {
			for dead := range 3 {
				t.Run(fmt.Sprintf("size=%d/chunked=%v/dead=%d", size, chunked, dead), func(t *testing.T) {
					r := newRig(t, 3, "header:X-User", echo)
					for _, name := range r.live.Load().AppendReplicas(nil, "alice", dead) {
						require.NoError(t, r.fleet.kill(name))
					}
					want := strings.Repeat("0123456789abcdef", size/16+1)[:size]
					var body io.Reader = strings.NewReader(want)
					if chunked {
						body = io.MultiReader(body) // hides the length
					}
					status, got := do(t, http.DefaultClient, request(t, http.MethodPost, r.url, "alice", body))
					require.Equal(t, http.StatusOK, status)
					require.True(t, want == got, "%d bytes arrived", len(got))
				})
			}
		}
	}
}

// TestNoSecondTry checks that a request goes nowhere else when a backend breaks off after it was reached, and when it
// answers with an error.
func TestNoSecondTry(t *testing.T) {
	var served atomic.Int32
	r := newRig(t, 3, "header:X-User", func(string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			served.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
	})
	owner, _ := r.live.Owner("alice")
	status, _ := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.EqualValues(t, 1, served.Load(), "a response is the answer, whatever it says")

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	var reached atomic.Int32
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			bufio.NewReader(conn).ReadString('\n')
			conn.Close()
		}
	}()
	require.NoError(t, r.Add(owner, ln.Addr().String()))
	tries := int32(0)
	for _, size := range []int{0, 100, 2 * maxBuffered} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			body := bytes.NewReader(make([]byte, size))
			status, text := do(t, http.DefaultClient, request(t, method, r.url, "alice", body))
			tries++
			require.Equal(t, http.StatusBadGateway, status)
			require.Equal(t, owner+" failed before it answered", text)
			require.Equal(t, tries, reached.Load())
			require.EqualValues(t, 1, served.Load(), "no other backend has it")
			require.Contains(t, r.upNow("alice"), owner, "only a failed dial holds a backend down")
		}
	}
}

func TestNobodyThere(t *testing.T) {
	r := newRig(t, 3, "header:X-User", nil)
	for _, name := range r.fleet.names() {
		require.NoError(t, r.fleet.kill(name))
	}
	for range 2 { // dialled, then held
		status, text := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
		require.Equal(t, http.StatusBadGateway, status)
		require.Equal(t, "none of the 3 backends can be reached", text)
		require.Empty(t, r.upNow("alice"))
	}
	for i := range 3 {
		require.NoError(t, r.fleet.remove(fmt.Sprintf("backend-%d", i+1)))
	}
	status, text := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "there are no backends", text)

	require.NoError(t, r.fleet.start("backend-9"))
	_, served := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
	require.Equal(t, "backend-9", served)
}

// TestClientGoesAway checks that a client that gives up, while a backend answers or is dialled, holds no backend down.
func TestClientGoesAway(t *testing.T) {
	arrived, aborted := make(chan struct{}), make(chan struct{})
	r := newRig(t, 3, "header:X-User", func(string) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			close(arrived)
			<-req.Context().Done()
			close(aborted)
		})
	})
	r.done = make(chan struct{}, 1)
	all := r.upNow("alice")
	require.Len(t, all, 3)

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := http.DefaultClient.Do(request(t, http.MethodGet, r.url, "alice", nil).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	<-aborted
	<-r.done
	require.Equal(t, all, r.upNow("alice"))

	ctx, cancel = context.WithCancel(t.Context())
	inner, dials := r.transport, 0
	defer func() { r.transport = inner }()
	r.transport = roundTripFunc(func(req *http.Request) (*http.Response, error) {
		dials++
		cancel()
		<-req.Context().Done()
		return nil, &net.OpError{Op: "dial", Err: req.Context().Err()}
	})
	_, err = http.DefaultClient.Do(request(t, http.MethodGet, r.url, "alice", nil).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	<-r.done
	require.Equal(t, 1, dials, "there is nobody to try another backend for")
	require.Equal(t, all, r.upNow("alice"))
}
