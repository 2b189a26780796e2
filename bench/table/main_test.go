package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/table.md anew")

// testdata/bench.txt was made by hand: rows that hashring wins, loses and draws, that some do not have, and that are 0.
func TestTable(t *testing.T) {
	in, err := os.ReadFile("testdata/bench.txt")
	require.NoError(t, err)
	results, err := parse(bytes.NewReader(in))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, write(&out, results))
	if *update {
		require.NoError(t, os.WriteFile("testdata/table.md", out.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/table.md")
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func TestInputThatIsNoRun(t *testing.T) {
	const good = "BenchmarkLookup/nodes=10/kind=ring/peer=hashring-2 100 20.0 ns/op\n"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "no results"},
		{"other benchmarks", "BenchmarkOther-2 100 20.0 ns/op\n", "no results"},
		{"a failure", good + "--- FAIL: BenchmarkLookup\n", "line 2: the run failed"},
		{"a package that failed", good + "FAIL\tgithub.com/clockwise-go/hashring/bench\t1s\n", "line 2: the run failed"},
		{"a panic", "panic: key is nobody's\n", "line 1: the run failed: panic: key is nobody's"},
		{"no number", strings.Replace(good, "20.0", "twenty", 1), `line 1: "twenty" is not a number`},
		{"no reference", strings.Replace(good, "=hashring", "=other", 1), "Lookup, nodes 10: nothing to compare with, no result of hashring"},
	} {
		results, err := parse(strings.NewReader(c.in))
		if err == nil {
			err = write(new(bytes.Buffer), results)
		}
		require.ErrorContains(t, err, c.want, c.name)
	}
	broken := errors.New("broken pipe")
	_, err := parse(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestSummarize(t *testing.T) {
	_, ok := summarize(nil)
	require.False(t, ok)
	for _, c := range []struct {
		values []float64
		want   summary
	}{
		{[]float64{7}, summary{7, 0}},
		{[]float64{0, 0}, summary{0, 0}},
		{[]float64{4, 2}, summary{3, 1.0 / 6}}, // quartiles 2.5 and 3.5
		{[]float64{30, 10, 20, 40, 50}, summary{30, 10.0 / 30}},
	} {
		s, ok := summarize(c.values)
		require.True(t, ok)
		require.InDelta(t, c.want.median, s.median, 1e-12)
		require.InDelta(t, c.want.spread, s.spread, 1e-12)
	}
}

func TestBoldIsALoss(t *testing.T) {
	for _, c := range []struct {
		theirs float64
		want   string
	}{{5, "**0.500**"}, {9.94, "**0.994**"}, {9.96, "0.996"}, {10, "1.00"}, {12, "1.20"}} {
		require.Equal(t, c.want, compare(summary{median: c.theirs}, summary{median: 10}, "ns/op"))
	}
	require.Equal(t, "2.00 ±30%", compare(summary{20, 0.1}, summary{10, 0.2}, "ns/op"))
	require.Equal(t, "2 ±10%", compare(summary{2, 0.1}, summary{}, "allocs/op"))
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{23.456, "ns/op", "23.5 ns"},
		{9.876, "ns/op", "9.88 ns"},
		{999, "ns/op", "999 ns"},
		{1000, "ns/op", "1.00 µs"},
		{2_345_678, "ns/op", "2.35 ms"},
		{50e9, "ns/op", "50.0 s"},
		{0, "ns/op", "0 ns"},
		{21.04, "B/point", "21.0"},
		{0.0456, "stray-%", "0.0456"},
		{12345, "B/node", "12345"},
		{3, "allocs/op", "3"},
		{0.9996, "peak/mean", "1.00"},
		{99.96, "B/node", "100"},
	} {
		require.Equal(t, c.want, measure(c.value, c.unit))
	}
}
