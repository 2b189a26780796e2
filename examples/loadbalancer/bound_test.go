//go:build !js && !wasip1

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// settled checks that the proxy has done with a request and counts it no more.
func settled(t *testing.T, r *rig) {
	t.Helper()
	<-r.done
	require.Zero(t, r.balancer.Total())
}

// One request at a time each user has the backend that he has without a bound, be it that one is down or not.
func TestBoundWithoutLoadChangesNothing(t *testing.T) {
	const users = 100
	r := newBoundedRig(t, 5, "header:X-User", 1, nil)
	r.done = make(chan struct{}, 1)
	ask := func() []string {
		served := make([]string, users)
		for i := range served {
			var status int
			status, served[i] = do(t, http.DefaultClient, request(t, http.MethodGet, r.url, fmt.Sprint("user-", i), nil))
			require.Equal(t, http.StatusOK, status)
			settled(t, r)
		}
		return served
	}
	const dead = "backend-3"
	want, failedOver := make([]string, users), make([]string, users)
	for i := range users {
		replicas := r.live.Load().AppendReplicas(nil, fmt.Sprint("user-", i), 2)
		want[i], failedOver[i] = replicas[0], replicas[0]
		if replicas[0] == dead {
			failedOver[i] = replicas[1]
		}
	}
	require.Equal(t, want, ask())
	require.NoError(t, r.fleet.kill(dead))
	require.Equal(t, failedOver, ask())
	require.NoError(t, r.fleet.start(dead))
	require.Equal(t, want, ask())
	require.NoError(t, r.fleet.remove(dead))
	require.Equal(t, failedOver, ask())
}

// Requests of one user that are under way together fill the backends one after another; one that is down has none,
// and the others have more, all the same.
func TestBoundSpreadsTheRequestsOfOneUser(t *testing.T) {
	arrived, letGo := make(chan string), make(chan struct{})
	r := newBoundedRig(t, 4, "header:X-User", 1, func(name string) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			arrived <- name
			<-letGo
		})
	})
	r.done = make(chan struct{}, 12)
	replicas := r.live.Load().AppendReplicas(nil, "alice", 4)
	answers := make(chan error)
	send := func() string {
		go func() {
			_, err := ask(t.Context(), r.url, "alice")
			answers <- err
		}()
		return <-arrived
	}
	letAllGo := func(n int) {
		for range n {
			letGo <- struct{}{}
			require.NoError(t, <-answers)
			<-r.done
		}
		require.Zero(t, r.balancer.Total())
	}
	served := make(map[string]int)
	for range 12 {
		served[send()]++
	}
	require.Equal(t, map[string]int{replicas[0]: 3, replicas[1]: 3, replicas[2]: 3, replicas[3]: 3}, served)
	letAllGo(12)

	require.NoError(t, r.fleet.kill(replicas[1]))
	clear(served)
	for range 12 {
		served[send()]++
	}
	require.Equal(t, map[string]int{replicas[0]: 4, replicas[2]: 4, replicas[3]: 4}, served)
	letAllGo(12)
}

// However a request ends, it is not counted any more.
func TestNoRequestIsCountedForEver(t *testing.T) {
	inBackend := make(chan struct{}, 1)
	r := newBoundedRig(t, 3, "header:X-User", 1.25, func(string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch req.URL.Path {
			case "/error":
				w.WriteHeader(http.StatusServiceUnavailable)
			case "/breaks-off":
				panic(http.ErrAbortHandler)
			case "/breaks-off-late":
				w.Header().Set("Content-Length", "10")
				io.WriteString(w, "12345")
				panic(http.ErrAbortHandler)
			case "/waits":
				inBackend <- struct{}{}
				<-req.Context().Done()
			}
		})
	})
	r.done = make(chan struct{}, 1)
	for _, path := range []string{"/", "/error", "/breaks-off", "/breaks-off-late"} {
		resp, err := http.DefaultClient.Do(request(t, http.MethodGet, r.url+path, "alice", nil))
		require.NoError(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		settled(t, r)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-inBackend
		cancel()
	}()
	_, err := http.DefaultClient.Do(request(t, http.MethodGet, r.url+"/waits", "alice", nil).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	settled(t, r)

	for _, name := range r.fleet.names() {
		require.NoError(t, r.fleet.kill(name))
	}
	for range 2 { // dialled, then held
		status, _ := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
		require.Equal(t, http.StatusBadGateway, status)
		settled(t, r)
	}
}

// No backend is tried twice for one request, though it is passed over for no time.
func TestBoundTriesEachOnce(t *testing.T) {
	r := newBoundedRig(t, 3, "header:X-User", 1.25, nil)
	r.hold = 0
	inner, dials := r.transport, 0
	defer func() { r.transport = inner }()
	r.transport = roundTripFunc(func(*http.Request) (*http.Response, error) {
		dials++
		return nil, &net.OpError{Op: "dial", Err: io.EOF}
	})
	status, text := do(t, http.DefaultClient, request(t, http.MethodGet, r.url, "alice", nil))
	require.Equal(t, http.StatusBadGateway, status)
	require.Equal(t, "none of the 3 backends can be reached", text)
	require.Equal(t, 3, dials)
}

func TestBoundsThatAreRefused(t *testing.T) {
	for _, bound := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
		_, err := NewProxy(nil, 0, bound, nil)
		require.Error(t, err)
		require.ErrorContains(t, serve(t.Context(), config{by: "addr", bound: bound}, io.Discard), "-bound")
		require.ErrorContains(t, loadDemo(t.Context(), 3, bound, io.Discard), "factor")
	}
}

// The README shows what the load demo prints, and the loads stay within the bound.
func TestLoadDemo(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, loadDemo(t.Context(), 5, 1.25, &out))
	require.Contains(t, strings.ReplaceAll(string(readme), "\r\n", "\n"), "\n"+out.String()+"```")
	require.Error(t, loadDemo(t.Context(), 1, 1.25, io.Discard))

	for _, bound := range []float64{1, 1.25} {
		res, err := runLoad(t.Context(), 4, bound)
		require.NoError(t, err)
		for _, name := range res.names {
			require.LessOrEqual(t, res.peak[name], int(math.Ceil(bound*float64(res.peak[""])/4)))
		}
	}
}
