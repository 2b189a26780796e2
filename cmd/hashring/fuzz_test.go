package main

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// FuzzNodes reads any text as a file of nodes. Each problem names the line it is on; without those lines the text has no
// problem and the other nodes. Nodes without a problem make a ring, and written down they are read as the same. Nor does
// any text harm the -nodes flag.
func FuzzNodes(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		list, p := readText(t, text)
		if p.more == 0 {
			faulty := make(map[string]bool)
			for _, problem := range p.kept {
				where, _, ok := strings.Cut(problem, ": ")
				require.True(t, ok, problem)
				number, err := strconv.Atoi(strings.TrimPrefix(where, "n:"))
				require.NoError(t, err, problem)
				require.LessOrEqual(t, number, 1+strings.Count(text, "\n"))
				faulty[where] = true
			}
			var good []string
			for i, line := range strings.Split(text, "\n") {
				if !faulty["n:"+strconv.Itoa(i+1)] {
					good = append(good, line)
				} else if i == 0 {
					good = append(good, "") // so that the next does not become the first line
				}
			}
			var want []hashring.Node
			for i, n := range list.nodes {
				if !faulty[list.where[i]] {
					want = append(want, n)
				}
			}
			list, p = readText(t, strings.Join(good, "\n"))
			require.Empty(t, p.kept)
			require.Equal(t, want, list.nodes)
			requireGood(t, list)
		}

		p = new(problems)
		if list, ok := splitNodes(text, p); p.status == exitOK {
			require.True(t, ok)
			require.Len(t, list.nodes, 1+strings.Count(text, ","))
			ring(t, list)
		} else {
			require.NotEmpty(t, p.kept)
		}
	})
}

// readText reads text as a file called n, in one piece and byte by byte.
func readText(t *testing.T, text string) (nodeList, *problems) {
	t.Helper()
	p, again := new(problems), new(problems)
	list, ok := readNodes(strings.NewReader(text), "n", p)
	require.True(t, ok)
	require.Equal(t, len(list.nodes), len(list.where))
	same, ok := readNodes(iotest.OneByteReader(strings.NewReader(text)), "n", again)
	require.True(t, ok)
	require.Equal(t, list, same)
	require.Equal(t, p, again)
	return list, p
}

// requireGood checks nodes that were read without a problem.
func requireGood(t *testing.T, list nodeList) {
	t.Helper()
	ring(t, list)
	var b bytes.Buffer
	b.WriteString("# not the first line, where a name could start with what would be taken for a byte order mark\n")
	for _, n := range list.nodes {
		b.WriteString(n.Name + "\t" + strconv.FormatFloat(n.Weight, 'g', -1, 64) + " " + n.Zone + "\r\n")
	}
	same, p := readText(t, b.String())
	require.Empty(t, p.kept)
	require.Equal(t, list.nodes, same.nodes)
}

// ring makes the ring of nodes without a problem, of which there may only be too many tokens.
func ring(t *testing.T, list nodeList) {
	t.Helper()
	r, err := hashring.New(list.nodes, &hashring.Options{VirtualNodes: 1, MaxTokens: 1000})
	if !errors.Is(err, hashring.ErrTooManyTokens) {
		require.NoError(t, err)
		require.Equal(t, len(list.nodes), r.Len())
	}
}
