package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func collect(l *lines) []string {
	var all []string
	for _, line := range l.all() {
		all = append(all, string(line))
	}
	return all
}

func TestLines(t *testing.T) {
	long := strings.Repeat("0123456789", 30_000) // the buffer holds 65,536 bytes
	exact := strings.Repeat("x", 1<<16)
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\nb\n", []string{"a", "b"}},
		{"a\r\n\r\nb\r", []string{"a", "", "b"}},
		{"a\rb\r\r\n", []string{"a\rb\r"}},
		{"\uFEFFa\n\uFEFFb\n", []string{"a", "\uFEFFb"}},
		{" a b \n", []string{" a b "}},
		{long, []string{long}},
		{"a\n" + long + "\r\n" + exact + "\nb\n" + long + long, []string{"a", long, exact, "b", long + long}},
	} {
		for _, r := range []io.Reader{
			strings.NewReader(tc.text),
			iotest.DataErrReader(strings.NewReader(tc.text)),
			iotest.HalfReader(strings.NewReader(tc.text)),
		} {
			l := newLines(r)
			require.True(t, slices.Equal(tc.want, collect(l)), "%.40q", tc.text)
			require.NoError(t, l.err)
		}
	}
	l := newLines(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a\nb\n"))))
	require.Empty(t, collect(l), "a line cut short is no line")
	require.ErrorIs(t, l.err, iotest.ErrTimeout)
}

func TestKeys(t *testing.T) {
	var got []string
	for key := range newLines(strings.NewReader("b\n\n#a\r\n\r\n b\nb\n")).keys() {
		got = append(got, string(key))
	}
	require.Equal(t, []string{"b", "#a", " b", "b"}, got)

	got = nil
	for key := range unique(newLines(strings.NewReader("b\na\nb\na\nc\n")).keys()) {
		got = append(got, string(key))
	}
	require.Equal(t, []string{"b", "a", "c"}, got)

	got = nil
	for key := range generated(12) {
		got = append(got, string(key))
	}
	require.Len(t, got, 12)
	require.Equal(t, "key-0", got[0])
	require.Equal(t, "key-11", got[11])

	for range generated(3) { // it stops when told to
		break
	}
}

func TestReadNodes(t *testing.T) {
	var p problems
	list, ok := readNodes(strings.NewReader("\uFEFF# the\n\na\r\n\tb 2 # the big one\nc#1 0.5 eu #west\n# d\n10.0.0.1:80 1e-3 ü"), "n", &p)
	require.True(t, ok)
	require.Empty(t, p.kept)
	require.Equal(t, []hashring.Node{
		{Name: "a", Weight: 1},
		{Name: "b", Weight: 2},
		{Name: "c#1", Weight: 0.5, Zone: "eu"},
		{Name: "10.0.0.1:80", Weight: 1e-3, Zone: "ü"},
	}, list.nodes)
	require.Equal(t, []string{"n:3", "n:4", "n:5", "n:7"}, list.where)
}

func TestParseWeight(t *testing.T) {
	for s, want := range map[string]float64{"1": 1, "0.25": 0.25, "1e-9": 1e-9, "1e9": 1e9, "+3": 3, ".5": 0.5} {
		w, err := parseWeight(s)
		require.NoError(t, err)
		require.Equal(t, want, w)
	}
	for s, want := range map[string]string{
		"0": "to drain a node, remove it", "-0": "to drain a node, remove it", "0.0": "to drain a node, remove it",
		"-1": "to drain a node, remove it", "-inf": "to drain a node, remove it",
		"": "is not a number", "NaN": "is not a number", "1,5": "is not a number", "1x": "is not a number",
		"inf": "is not between", "1e-10": "is not between", "1.1e9": "is not between", "1e400": "is not between",
	} {
		_, err := parseWeight(s)
		require.ErrorContains(t, err, want, s)
	}
}

// TestProgress runs against a clock that goes on by a fixed step each time that it is read.
func TestProgress(t *testing.T) {
	watch := func(step time.Duration, total int64) (keys int, shown string) {
		var b bytes.Buffer
		now := time.Unix(0, 0)
		p := &progress{w: &b, total: total, now: func() time.Time { now = now.Add(step); return now }}
		for range p.watch(generated(5000)) {
			keys++
		}
		return keys, b.String()
	}
	n, shown := watch(249*time.Millisecond, 5000)
	require.Equal(t, 5000, n)
	require.Empty(t, shown, "the run takes less than a second")

	n, shown = watch(250*time.Millisecond, 5000)
	require.Equal(t, 5000, n)
	require.Equal(t, "\r4096 of 5000 keys, 81 %\r"+strings.Repeat(" ", 23)+"\r", shown)

	_, shown = watch(400*time.Millisecond, 0)
	require.Equal(t, "\r3072 keys\r4096 keys\r         \r", shown)
}

func TestProgressOfSteps(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &b, now: func() time.Time { now = now.Add(400 * time.Millisecond); return now }}
	for i, what := range []string{"one", "two", "three", "four", "five"} {
		p.step(i, 5, what)
	}
	p.erase()
	require.Equal(t, "\r4 of 5: four\r5 of 5: five\r            \r", b.String())
	p = nil
	p.step(0, 5, "nothing")
	p.erase()
}

// TestNoProgress checks that only a terminal gets to see a progress: not a buffer, not a file.
func TestNoProgress(t *testing.T) {
	f, err := os.Open("testdata/nodes.txt")
	require.NoError(t, err)
	defer f.Close()
	for _, w := range []io.Writer{f, new(bytes.Buffer), io.Discard} {
		p := newProgress(w, 10)
		require.Nil(t, p)
		n := 0
		for range p.watch(generated(10)) {
			n++
		}
		require.Equal(t, 10, n)
	}
}
