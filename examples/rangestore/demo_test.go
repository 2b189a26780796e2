package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo checks that README.md shows what the demo prints.
func TestDemo(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, demo(10_000, &out))
	require.Contains(t, strings.ReplaceAll(string(readme), "\r\n", "\n"), "\n"+out.String()+"```")
	for _, items := range []int{0, 1, 2, 17} {
		require.NoError(t, demo(items, io.Discard))
	}
	require.ErrorContains(t, demo(-1, io.Discard), "-1")
}

// TestDescribe checks the description of a store without nodes, with one, and while a node is down.
func TestDescribe(t *testing.T) {
	r := newRig(t)
	describe := func() []string {
		var out strings.Builder
		require.NoError(t, r.Describe(&out))
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	require.Len(t, describe(), 1)
	r.change(func() (Moved, error) { return r.Join("a") })
	r.put("key", "value")
	row := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	require.Equal(t, "a ffffffffffffffff ffffffffffffffff 100.00% 1 1 -", row(describe()[1]))
	r.change(func() (Moved, error) { return r.Join("b") })
	for k := range 98 {
		r.put(fmt.Sprint("item ", k), "value")
	}
	require.NoError(t, r.Kill("a"))
	a := r.load("a")
	require.NotZero(t, a)
	require.Equal(t, []string{
		fmt.Sprint("b ffffffffffffffff 7fffffffffffffff 50.00% ", 99-a, " 99 a"),
		fmt.Sprint("a 7fffffffffffffff ffffffffffffffff 50.00% ", a, " down b"),
	}, []string{row(describe()[1]), row(describe()[2])})
}
