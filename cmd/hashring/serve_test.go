package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServeBadInput(t *testing.T) {
	for _, tc := range []struct{ args, stdin, stderr string }{
		{"-vnodes 0 -listen nowhere x", "", "hashring serve: \"x\" is not a flag, and nothing else is expected\n" +
			"-listen: address nowhere: missing port in address\n-vnodes: 0 is less than 1\n"},
		{"-n 65", "", "hashring serve: there are 65 nodes; the page shows 64\n"},
		{"-vnodes 2000", "", "hashring serve: 2000 virtual nodes are not between 1 and 1024\n"},
		{"-n 64 -vnodes 512", "", "hashring serve: node 32 (\"node-32\"): too many tokens: with its tokens there are more than 16384\n"},
		{"-n 2 -nodes a", "", "hashring serve: give only one of -file, -nodes and -n\n"},
		{"-file -", "a 5000\nb 0\n", "stdin:2: weight 0 is not greater than 0; to drain a node, remove it\n"},
		{"-file -", "a 5000\nb 1e-5\n", "hashring serve: node \"a\": weight 5000 is not between 0.001 and 1000\n" +
			"hashring serve: node \"b\": weight 1e-05 is not between 0.001 and 1000\n"},
	} {
		var out, err bytes.Buffer
		status := serve(t.Context(), strings.Fields(tc.args), streams{strings.NewReader(tc.stdin), &out, &err})
		require.Equal(t, tc.stderr, err.String(), tc.args)
		require.Equal(t, exitInput, status)
		require.Empty(t, out.String())
	}
}

// TestServe checks that the page is where the command says it is, until it is interrupted.
func TestServe(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there is no network")
	}
	said, out := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	status := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		status <- serve(ctx, []string{"-listen", "127.0.0.1:0"}, streams{nil, out, &stderr})
		out.Close()
	}()
	var line string
	for _, text := range newLines(said).all() {
		line = string(text)
		break
	}
	url, rest, _ := strings.Cut(line, " ")
	require.Equal(t, "shows the ring; interrupt to stop", rest)
	require.True(t, strings.HasPrefix(url, "http://127.0.0.1:"), url)
	resp, err := http.Get(url + "start")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	require.Contains(t, string(body), `"name":"cache-d"`)
	require.Contains(t, string(body), `"virtualNodes":16,"hash":"xxh64"`)
	interrupt()
	require.Equal(t, exitOK, <-status)
	require.Empty(t, stderr.String())
	_, err = http.Get(url)
	require.Error(t, err)
}

// TestServeWhereItCannot checks what an address that is taken is answered with.
func TestServeWhereItCannot(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there is no network")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFailure, serve(t.Context(), []string{"-listen", l.Addr().String()}, streams{nil, &stdout, &stderr}))
	require.True(t, strings.HasPrefix(stderr.String(), "hashring: listen tcp 127.0.0.1:"), stderr.String())
	require.Empty(t, stdout.String())
	require.Equal(t, exitFailure, serve(t.Context(), []string{"-listen", "127.0.0.1:0"}, streams{nil, brokenWriter{io.ErrClosedPipe}, &stderr}))
}
