//go:build !js && !wasip1

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the demo run this binary as the program.
func TestMain(m *testing.M) {
	name, value, _ := strings.Cut(asChild, "=")
	if os.Getenv(name) == value {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-demo"}, &out, io.Discard))
	t.Log("\n" + out.String())
	times := regexp.MustCompile(`\d+\.\d s`)
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[3:] {
		lines = append(lines, strings.Join(strings.Fields(times.ReplaceAllString(line, "_")), " "))
	}
	require.Equal(t, []string{
		"five start _ a: abcde 03a3 b: abcde 03a3 c: abcde 03a3 d: abcde 03a3 e: abcde 03a3",
		"e is killed _ a: abcd 4b04 b: abcd 4b04 c: abcd 4b04 d: abcd 4b04",
		"e starts again _ a: abcde 03a3 b: abcde 03a3 c: abcde 03a3 d: abcde 03a3 e: abcde 03a3",
		"a b are cut from c d e _ a: abcde! 03a3 b: abcde! 03a3 c: cde 1a1c d: cde 1a1c e: cde 1a1c",
		"the cut heals _ a: abcde 03a3 b: abcde 03a3 c: abcde 03a3 d: abcde 03a3 e: abcde 03a3",
		"e leaves _ a: abcd 4b04 b: abcd 4b04 c: abcd 4b04 d: abcd 4b04",
	}, lines)
}

// output is written by one goroutine and read by another.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start runs the program until the test ends, and returns where it answers.
func start(t *testing.T, args ...string) (addr string, out *output, ended chan error) {
	out, ended = new(output), make(chan error, 1)
	ctx, cancel := signal.NotifyContext(t.Context(), os.Interrupt)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- run(ctx, args, out, io.Discard)
	}()
	t.Cleanup(func() { cancel(); <-done })
	for {
		if found := greeting.FindStringSubmatch(out.String()); found != nil {
			return found[2], out, ended
		}
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func get(t *testing.T, url string, answer any) int {
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	if answer != nil {
		require.NoError(t, json.NewDecoder(resp.Body).Decode(answer))
	}
	return resp.StatusCode
}

func post(t *testing.T, url string) int {
	resp, err := http.Post(url, "", nil)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

func TestAMemberAnswers(t *testing.T) {
	addr, out, ended := start(t, "-name", "a", "-zone", "z", "-weight", "2", "-cut")
	base := "http://" + addr
	for get(t, base+"/ready", nil) != http.StatusOK {
		time.Sleep(20 * time.Millisecond)
	}
	var owner ownerAnswer
	require.Equal(t, http.StatusOK, get(t, base+"/owner?key=user:42", &owner))
	require.Equal(t, "user:42", owner.Key)
	require.Equal(t, place{"a", addr}, owner.Owner)
	require.Equal(t, []place{{"a", addr}}, owner.Replicas)
	var ring ringAnswer
	require.Equal(t, http.StatusOK, get(t, base+"/ring", &ring))
	require.Equal(t, owner.Fingerprint, ring.Fingerprint)
	require.Equal(t, []nodeAnswer{{place{"a", addr}, 2, "z", 1}}, ring.Nodes)
	require.Contains(t, out.String(), "ring "+ring.Fingerprint+"  a 100.0%")

	require.Equal(t, http.StatusOK, post(t, base+"/weight?w=3"))
	for ring.Nodes[0].Weight != 3 {
		get(t, base+"/ring", &ring)
	}
	require.Equal(t, http.StatusBadRequest, post(t, base+"/weight?w=0"))
	require.Equal(t, http.StatusBadRequest, post(t, base+"/weight?w=x"))
	require.Equal(t, http.StatusBadRequest, post(t, base+"/cut?from=nowhere"))
	require.Equal(t, http.StatusOK, post(t, base+"/cut?from=127.0.0.1:9"))
	require.Equal(t, http.StatusOK, post(t, base+"/heal"))
	require.Equal(t, http.StatusAccepted, post(t, base+"/leave"))
	require.NoError(t, <-ended)
	require.Contains(t, out.String(), "a leaves, and 1 ranges move")
}

func TestAnObserverAloneHasNoOwner(t *testing.T) {
	addr, _, _ := start(t, "-name", "lb", "-observer")
	require.Equal(t, http.StatusServiceUnavailable, get(t, "http://"+addr+"/owner?key=x", nil))
	var ring ringAnswer
	get(t, "http://"+addr+"/ring", &ring)
	require.Empty(t, ring.Nodes)
	require.Equal(t, 1, ring.Observers)
	require.Equal(t, http.StatusNotFound, post(t, "http://"+addr+"/cut"), "without -cut")
}

func TestCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"":                                      "-name is required",
		"-name a b":                             `unexpected argument "b"`,
		"-name a -weight 0":                     "-observer",
		"-name a -bind x":                       "-bind",
		"-name a -advertise x":                  "-advertise",
		"-name a -keys xyz":                     "-keys",
		"-name a -keys 00":                      "key 0 has 1 bytes",
		"-name a -weight -1":                    "invalid node",
		"-nonsense":                             "not defined",
		"-name a -http 300.0.0.1:bad":           "unknown port",
		"-name a -join 50ms -seeds 127.0.0.1:1": "no seed",
	} {
		err := run(context.Background(), strings.Fields(line), io.Discard, io.Discard)
		require.ErrorContains(t, err, want, line)
	}
	require.NoError(t, run(context.Background(), []string{"-h"}, io.Discard, io.Discard))
}
