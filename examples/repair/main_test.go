//go:build !js && !wasip1

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// The test binary is a node when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-node" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The demo prints what README.md says it prints.
func TestDemo(t *testing.T) {
	var out strings.Builder
	requireStarted(t, demo(t.Context(), 2000, &out))
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(readme), "\r\n", "\n"), "```\n"+out.String()+"```\n")
}

func newCluster(t *testing.T, names ...string) *Cluster {
	c := NewCluster(2)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, err := c.Start(t.Context(), names...)
	requireStarted(t, err)
	return c
}

// requireStarted checks that there is no error. In an emulator the test is skipped: the kernel cannot start a process of
// another architecture.
func requireStarted(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip(err)
	}
	require.NoError(t, err)
}

// Processes that have lost writes find the keys that they have lost, each two those that are theirs, and no others; then
// every replica has the last write, and there is nothing left to find.
func TestLostWritesAreFoundAndRepaired(t *testing.T) {
	c := newCluster(t, "a", "b", "c")
	data, lost, err := load(t.Context(), c, 1500)
	require.NoError(t, err)
	deleted := 0
	for key := range lost {
		if data[key].Deleted {
			deleted++
		}
	}
	require.Positive(t, deleted, "some of the lost writes are deletions")
	stale, _, err := c.Stale(t.Context(), data)
	require.NoError(t, err)
	require.Equal(t, len(lost), stale)

	reports, err := c.Repair(t.Context())
	require.NoError(t, err)
	found := make(map[string]bool)
	for pair, report := range reports {
		require.Equal(t, pair[1], report.With)
		require.Equal(t, slices.Collect(c.Ring.SharedRanges(c.Policy, pair[0], pair[1])), report.Ranges)
		require.Len(t, report.Differ, report.Missing+report.Extra+report.Unlike)
		require.Equal(t, len(report.Differ), report.Taken+report.Given)
		for _, key := range report.Differ {
			require.ElementsMatch(t, pair[:], c.Ring.AppendReplicas(nil, key, 2))
			found[key] = true
		}
	}
	require.Equal(t, lost, found)
	stale, stray, err := c.Stale(t.Context(), data)
	require.NoError(t, err)
	require.Zero(t, stale)
	require.Zero(t, stray)

	reports, err = c.Repair(t.Context())
	require.NoError(t, err)
	for _, report := range reports {
		require.Empty(t, report.Differ)
		require.Equal(t, 1, report.RoundTrips)
	}
}

// A node that joins compares what it gains and nothing else, and has it all then.
func TestJoin(t *testing.T) {
	c := newCluster(t, "a", "b")
	data, _, err := load(t.Context(), c, 1000)
	require.NoError(t, err)
	_, err = c.Repair(t.Context())
	require.NoError(t, err)
	before, err := c.Start(t.Context(), "c")
	require.NoError(t, err)
	var reports []Report
	require.NoError(t, c.node("c").call(t.Context(), "/join", before, &reports))

	var want, compared []hashring.Range
	moves, err := hashring.DiffReplicas(before, c.Ring, c.Policy, c.Policy)
	require.NoError(t, err)
	for m := range moves {
		require.Equal(t, []string{"c"}, m.Gained)
		want = append(want, m.Range)
	}
	taken := 0
	for _, report := range reports {
		compared = append(compared, report.Ranges...)
		require.Zero(t, report.Given)
		taken += report.Taken
	}
	require.ElementsMatch(t, want, compared)

	stale, stray, err := c.Stale(t.Context(), data)
	require.NoError(t, err)
	require.Zero(t, stale)
	require.Equal(t, taken, stray, "what a and b have given is still there")
	for _, name := range []string{"a", "b"} {
		var dropped int
		require.NoError(t, c.node(name).call(t.Context(), "/drop", before, &dropped))
		taken -= dropped
	}
	require.Zero(t, taken)
	stale, stray, err = c.Stale(t.Context(), data)
	require.NoError(t, err)
	require.Zero(t, stale)
	require.Zero(t, stray)
}

// A deletion that a replica has missed is repaired as one, whichever side finds out; a key that was deleted and written
// again lives.
func TestTombstones(t *testing.T) {
	for _, asks := range []string{"a", "b"} {
		c := newCluster(t, "a", "b")
		ctx := t.Context()
		require.NoError(t, c.Write(ctx, Entry{Key: "gone", Value: "1"}))
		require.NoError(t, c.Write(ctx, Entry{Key: "gone", Deleted: true}, "a"))
		require.NoError(t, c.Write(ctx, Entry{Key: "back", Value: "1"}))
		require.NoError(t, c.Write(ctx, Entry{Key: "back", Deleted: true}))
		require.NoError(t, c.Write(ctx, Entry{Key: "back", Value: "2"}, "b"))
		require.NoError(t, c.Write(ctx, Entry{Key: "never seen", Deleted: true}, "a"))

		other := map[string]string{"a": "b", "b": "a"}[asks]
		var report Report
		require.NoError(t, c.node(asks).call(ctx, "/repair", other, &report))
		require.Equal(t, []string{"back", "gone", "never seen"}, report.Differ)
		for _, name := range []string{"a", "b"} {
			for key, want := range map[string]Entry{
				"gone":       {Key: "gone", Deleted: true, Version: 2},
				"back":       {Key: "back", Value: "2", Version: 5},
				"never seen": {Key: "never seen", Deleted: true, Version: 6},
			} {
				got, ok, err := c.node(name).Get(ctx, key)
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, want, got, "on %s", name)
			}
		}
	}
}

// A node refuses what it cannot read, and says so.
func TestBadRequests(t *testing.T) {
	srv := httptest.NewServer(NewNode("a").Handler())
	defer srv.Close()
	c := client(strings.TrimPrefix(srv.URL, "http://"))
	for _, r := range []struct {
		path, body, message string
		status              int
	}{
		{"/compare", "", "invalid message", http.StatusBadRequest},
		{"/compare", "Q\x02", "unknown version", http.StatusBadRequest},
		{"/apply", "{", "unexpected EOF", http.StatusBadRequest},
		{"/view", "{}", "without a ring", http.StatusBadGateway},
		{"/nothing", "", "not found", http.StatusNotFound},
	} {
		_, err := c.post(t.Context(), r.path, []byte(r.body))
		require.ErrorContains(t, err, r.message)
		require.ErrorContains(t, err, fmt.Sprint("status ", r.status))
	}
	_, ok, err := c.Get(t.Context(), "nothing")
	require.NoError(t, err)
	require.False(t, ok)
}

// direct is a peer in the same process.
type direct struct {
	*Store
	position func(string) uint64
}

func (d direct) Respond(_ context.Context, request []byte) ([]byte, error) {
	return d.Set().Respond(request, nil)
}

func (d direct) At(_ context.Context, positions []uint64) ([]Entry, error) {
	return d.Store.At(positions...), nil
}

func (d direct) Apply(_ context.Context, entries []Entry) (newer int, err error) {
	for _, e := range entries {
		if d.Store.Apply(d.position(e.Key), e) {
			newer++
		}
	}
	return newer, nil
}

// Keys that share a position are kept apart, and each is repaired.
func TestKeysOnOnePosition(t *testing.T) {
	same := func(string) uint64 { return 42 }
	a, b := NewStore(), NewStore()
	for _, e := range []Entry{{Key: "x", Value: "1", Version: 1}, {Key: "y", Value: "2", Version: 2}, {Key: "z", Value: "3", Version: 3}} {
		require.True(t, a.Apply(42, e))
		require.False(t, a.Apply(42, e), "it is there")
	}
	for _, e := range []Entry{{Key: "z", Value: "3", Version: 3}, {Key: "y", Value: "4", Version: 4}} { // x is lost, y is newer
		require.True(t, b.Apply(42, e))
	}
	report, err := repair(t.Context(), a, same, []hashring.Range{{}}, direct{b, same})
	require.NoError(t, err)
	require.Equal(t, 1, report.Unlike)
	require.Equal(t, 1, report.Taken, "y")
	require.Equal(t, 1, report.Given, "x")
	require.ElementsMatch(t, a.At(42), b.At(42))
	report, err = repair(t.Context(), a, same, []hashring.Range{{}}, direct{b, same})
	require.NoError(t, err)
	require.Zero(t, report.Unlike)
}

// A node that has nothing takes more than one comparison finds, in steps.
func TestRepairInSteps(t *testing.T) {
	a, b := NewStore(), NewStore()
	position := hashring.XXH64.Sum64
	for i := range uint64(2*maxKeys + 100) {
		key := fmt.Sprint(i)
		require.True(t, b.Apply(position(key), Entry{Key: key, Version: i}))
	}
	report, err := repair(t.Context(), a, position, []hashring.Range{{}}, direct{b, position})
	require.NoError(t, err)
	require.Equal(t, 2*maxKeys+100, report.Taken)
	require.Equal(t, 2*maxKeys+100, a.Set().Len())
	require.Equal(t, report.Taken, a.Drop(hashring.Range{}))
	require.Zero(t, a.Set().Len())
	require.Empty(t, a.At(position("7")))
}
