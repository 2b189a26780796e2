//go:build !js && !wasip1

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdmin(t *testing.T) {
	r := newRig(t, 2, "addr", nil)
	admin := r.fleet.admin()
	post := func(path, origin string) int {
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8081/admin/"+path, nil)
		req.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		admin.ServeHTTP(w, req)
		return w.Code
	}
	const self = "http://127.0.0.1:8081"
	require.Equal(t, http.StatusConflict, post("start/backend-1", self))
	require.Equal(t, http.StatusOK, post("kill/backend-1", self))
	require.Equal(t, http.StatusConflict, post("kill/backend-1", self))
	require.Equal(t, []string{"backend-2"}, r.fleet.names())
	require.Equal(t, 2, r.live.Load().Len())
	require.Equal(t, http.StatusOK, post("remove/backend-1", self))
	require.Equal(t, http.StatusConflict, post("remove/backend-1", self))
	require.Equal(t, 1, r.live.Load().Len())
	require.Equal(t, http.StatusOK, post("start/backend-3", self))
	require.Equal(t, []string{"backend-2", "backend-3"}, r.fleet.names())
	require.Equal(t, http.StatusForbidden, post("kill/backend-3", "https://elsewhere.example"))
	require.Equal(t, 2, r.live.Load().Len())
}

// TestServe starts everything and ends it as an interrupt does.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := config{listen: "127.0.0.1:0", admin: "127.0.0.1:0", backends: 2, by: defaultBy}
	var out bytes.Buffer
	require.NoError(t, serve(ctx, cfg, &out))
	require.Contains(t, out.String(), "backend-1, backend-2")

	for _, bad := range []func(*config){
		func(c *config) { c.by = "path" },
		func(c *config) { c.backends = -1 },
		func(c *config) { c.listen = "nowhere" },
		func(c *config) { c.admin = "nowhere" },
	} {
		c := cfg
		bad(&c)
		require.Error(t, serve(ctx, c, io.Discard))
	}
}

// TestDemo checks that the README shows what the demo prints.
func TestDemo(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), 3, &out))
	require.Contains(t, strings.ReplaceAll(string(readme), "\r\n", "\n"), "\n"+out.String()+"```")
	require.Error(t, demo(t.Context(), 1, io.Discard))
}
