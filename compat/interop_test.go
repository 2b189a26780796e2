package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// The tests of this file start the programs themselves, on loopback, give them random servers, and ask them for random
// keys. They run if HASHRING_INTEROP is set, which make interop does; then a program that is not installed skips its
// test, or fails it if the value is "require".

const (
	liveSets = 4    // of servers, for each program
	liveKeys = 2000 // for each set
)

// needs returns the paths of programs, or skips.
func needs(t *testing.T, programs ...string) []string {
	t.Helper()
	mode := os.Getenv("HASHRING_INTEROP")
	if mode == "" {
		t.Skip("make interop runs this")
	}
	require.Equal(t, "linux", runtime.GOOS, "make interop needs Linux: it uses all of 127.0.0.0/8")
	var paths []string
	for _, p := range programs {
		path, err := exec.LookPath(p)
		if err != nil && mode == "require" {
			t.Fatalf("%s is not installed, and HASHRING_INTEROP=require", p)
		} else if err != nil {
			t.Skipf("%s is not installed", p)
		}
		paths = append(paths, path)
	}
	return paths
}

// backend is a server under test: a node, and what it answers on.
type backend struct {
	node     hashring.Node
	listener net.Listener
}

// listen opens servers on random addresses of 127.0.0.0/8, in the order of the list, some of them on unix sockets if
// there is a prefix for their addresses.
func listen(t *testing.T, rng *rand.Rand, n int, socketPrefix *string, weight func() float64) []backend {
	t.Helper()
	dir := t.TempDir()
	backends := make([]backend, n)
	for i := range backends {
		b := &backends[i]
		var err error
		if socketPrefix != nil && rng.IntN(5) == 0 {
			path := filepath.Join(dir, fmt.Sprintf("s%d", i))
			b.listener, err = net.Listen("unix", path)
			b.node.Name = *socketPrefix + path
		} else {
			b.listener, err = net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+rng.IntN(250), rng.IntN(250), 1+rng.IntN(250)))
			if err == nil {
				b.node.Name = b.listener.Addr().String()
			}
		}
		require.NoError(t, err)
		b.node.Weight = weight()
		t.Cleanup(func() { b.listener.Close() })
	}
	return backends
}

func nodesOf(backends []backend) []hashring.Node {
	var nodes []hashring.Node
	for _, b := range backends {
		nodes = append(nodes, b.node)
	}
	return nodes
}

// start runs a program until the test ends, and waits until it answers on a unix socket.
func start(t *testing.T, socket string, command ...string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	for range 1000 { // 10 s and more
		select {
		case <-ended:
			require.Fail(t, command[0]+" ended", said.String())
		default:
		}
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Fail(t, command[0]+" does not answer")
}

// run runs a program to its end and returns what it writes.
func run(t *testing.T, stdin string, command ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &said
	require.NoError(t, cmd.Run(), "%s", &said)
	return out.String()
}

// randomKey returns up to 60 bytes that have no control characters or spaces and are not in without: half the time
// letters and digits, else any, else valid UTF-8.
func randomKey(rng *rand.Rand, without string) string {
	kind, n := rng.IntN(4), 1+rng.IntN(20)
	var b []byte
	for len(b) < n {
		switch kind {
		case 0, 1:
			b = append(b, "abcdefghijklmnopqrstuvwxyz0123456789-_:/"[rng.IntN(40)])
		case 2:
			if c := byte(0x21 + rng.IntN(0xdf)); c != 0x7f && !strings.Contains(without, string(rune(c))) {
				b = append(b, c)
			}
		case 3:
			b = append(b, string([]rune("Straße中文ключ😀é")[rng.IntN(13)])...)
		}
	}
	return string(b)
}

// randomKeys returns distinct keys.
func randomKeys(rng *rand.Rand, n int, without string) []string {
	seen := make(map[string]bool)
	var keys []string
	for len(keys) < n {
		if k := randomKey(rng, without); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// agree compares what a program answered to keys with what the ring says.
func agree(t *testing.T, rule *Rule, nodes []hashring.Node, keys, answers []string) {
	t.Helper()
	ring, err := hashring.New(nodes, &hashring.Options{Placement: rule})
	require.NoError(t, err)
	require.Len(t, answers, len(keys))
	wrong := 0
	for i, key := range keys {
		if owner, _ := ring.Owner(key); owner != answers[i] {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %q is on %s, the ring says %s", rule.Name(), key, answers[i], owner)
			}
		}
	}
	require.Zero(t, wrong, "of %d keys on %v, %v", len(keys), ring, nodes)
	t.Logf("%s: %d keys on %d servers agree", rule.Name(), len(keys), len(nodes))
}

// answerHTTP answers every request with the node's name.
func answerHTTP(t *testing.T, backends []backend) {
	for _, b := range backends {
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, b.node.Name)
		})}
		go s.Serve(b.listener)
		t.Cleanup(func() { s.Close() })
	}
}

// askHTTP asks what listens on a unix socket for each key, in a header.
func askHTTP(t *testing.T, socket string, keys []string) []string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", socket)
	}}}
	defer client.CloseIdleConnections()
	var answers []string
	for _, key := range keys {
		req, err := http.NewRequest("GET", "http://localhost/", nil)
		require.NoError(t, err)
		req.Header.Set("X-Key", key)
		resp, err := client.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, "%s", body)
		answers = append(answers, string(body))
	}
	return answers
}

// startNginx starts nginx in front of backends, of which some may be down, and returns the socket that it listens on.
func startNginx(t *testing.T, path string, backends []backend, down func(int) bool) string {
	t.Helper()
	answerHTTP(t, backends)
	dir := t.TempDir()
	socket := filepath.Join(dir, "listen")
	var servers strings.Builder
	for i, b := range backends {
		fmt.Fprintf(&servers, "server %s weight=%v", b.node.Name, b.node.Weight)
		if down(i) {
			servers.WriteString(" down")
		}
		servers.WriteString(";\n")
	}
	config := fmt.Sprintf(`
daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
	access_log off; proxy_temp_path %[1]s/a; client_body_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c;
	scgi_temp_path %[1]s/d; uwsgi_temp_path %[1]s/e;
	upstream pool { hash $http_x_key consistent; %[2]s }
	server { listen unix:%[3]s; location / { proxy_pass http://pool; } }
}`, dir, servers.String(), socket)
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	start(t, socket, path, "-c", file, "-p", dir, "-e", "stderr")
	return socket
}

func TestLiveNginx(t *testing.T) {
	path := needs(t, "nginx")[0]
	rng := seed.Random(t)
	for range liveSets {
		prefix := "unix:"
		backends := listen(t, rng, 2+rng.IntN(14), &prefix, func() float64 { return float64(1 + rng.IntN(5)) })
		socket := startNginx(t, path, backends, func(int) bool { return false })
		keys := randomKeys(rng, liveKeys, "")
		agree(t, Nginx(), nodesOf(backends), keys, askHTTP(t, socket, keys))
	}
}

// Of 40 servers 36 are down: one key in nine finds none of the others in 21 attempts, and goes to any of them.
func TestLiveNginxDown(t *testing.T) {
	path := needs(t, "nginx")[0]
	rng := seed.Random(t)
	backends := listen(t, rng, 40, nil, func() float64 { return 1 })
	up := map[string]bool{}
	socket := startNginx(t, path, backends, func(i int) bool {
		up[backends[i].node.Name] = i%10 == 0
		return i%10 != 0
	})
	ring, err := hashring.New(nodesOf(backends), &hashring.Options{Placement: Nginx()})
	require.NoError(t, err)
	keys := randomKeys(rng, liveKeys, "")
	last := 0                    // keys that the last attempt serves
	exhausted, elsewhere := 0, 0 // keys that none serves, and of those the ones that are not served by walking on
	for i, answer := range askHTTP(t, socket, keys) {
		attempts, want := 0, ""
		for name := range NginxAttempts(ring, keys[i]) {
			attempts++
			if up[name] {
				want = name
				break
			}
		}
		if want != "" {
			require.Equal(t, want, answer, "%q after %d attempts", keys[i], attempts)
			if attempts == 21 {
				last++
			}
			continue
		}
		require.Equal(t, 21, attempts)
		exhausted++
		for name := range Attempts(ring, keys[i]) {
			if up[name] {
				if name != answer {
					elsewhere++
				}
				break
			}
		}
	}
	t.Logf("of %d keys %d were served by the last attempt, %d by none, and of those %d not by the next on the ring", len(keys), last,
		exhausted, elsewhere)
	require.NotZero(t, last)
	require.Greater(t, elsewhere, exhausted/4) // by round robin three in four
}

func TestLiveHAProxy(t *testing.T) {
	path := needs(t, "haproxy")[0]
	rng := seed.Random(t)
	functions := []string{"", "crc32", "djb2", "sdbm", "wt6"}
	for set := range 2 * liveSets {
		backends := listen(t, rng, 1+rng.IntN(12), nil, func() float64 { return float64(rng.IntN(9)) })
		backends[0].node.Weight = 256
		function, avalanche := functions[set%len(functions)], rng.IntN(2) == 0
		line := function
		if function != "" && avalanche {
			line += " avalanche"
		}
		dir := t.TempDir()
		socket := filepath.Join(dir, "listen")
		var servers strings.Builder
		ids := rng.Perm(2 * len(backends)) // so that some are such as others would have by their place
		for i := range backends {
			b := &backends[i]
			fmt.Fprintf(&servers, "\tserver s%d %s weight %v", i, b.node.Name, b.node.Weight)
			b.node.Name = fmt.Sprintf("s%d", i)
			if rng.IntN(3) == 0 {
				b.node.Label = strconv.Itoa(1 + ids[i])
				fmt.Fprintf(&servers, " id %s", b.node.Label)
			}
			fmt.Fprintln(&servers)
		}
		answerHTTP(t, backends)
		config := fmt.Sprintf(`
defaults
	mode http
	timeout connect 10s
	timeout client 10s
	timeout server 10s
listen pool
	bind unix@%s
	balance hdr(x-key)
	hash-type consistent %s
%s`, socket, line, servers.String())
		file := filepath.Join(dir, "haproxy.cfg")
		require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
		start(t, socket, path, "-db", "-f", file)

		nodes, err := HAProxyIDs(nodesOf(backends))
		require.NoError(t, err)
		var loaded []hashring.Node
		for i, n := range nodes {
			if backends[i].node.Weight > 0 { // the others have an id, but no points
				loaded = append(loaded, n)
			}
		}
		rule, err := HAProxy(function, avalanche)
		require.NoError(t, err)
		keys := randomKeys(rng, liveKeys, ",")
		agree(t, rule, loaded, keys, askHTTP(t, socket, keys))
	}
}

// answerMemcache answers every get with the node's name.
func answerMemcache(backends []backend) {
	serve := func(c net.Conn, name string) {
		defer c.Close()
		r := bufio.NewReader(c)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			words := strings.Split(strings.TrimRight(line, "\r\n"), " ")
			for _, key := range words[1:] {
				fmt.Fprintf(c, "VALUE %s 0 %d\r\n%s\r\n", key, len(name), name)
			}
			io.WriteString(c, "END\r\n")
		}
	}
	for _, b := range backends {
		go func() {
			for {
				c, err := b.listener.Accept()
				if err != nil {
					return
				}
				go serve(c, b.node.Name)
			}
		}()
	}
}

func TestLiveTwemproxy(t *testing.T) {
	path := needs(t, "nutcracker")[0]
	rng := seed.Random(t)
	hashes := []string{"", "crc16", "crc32", "crc32a", "fnv1_32", "fnv1_64", "fnv1a_32", "fnv1a_64", "hsieh", "jenkins", "md5", "murmur",
		"one_at_a_time"}
	for _, hash := range hashes {
		prefix := ""
		backends := listen(t, rng, 1+rng.IntN(12), &prefix, func() float64 { return float64(1 + rng.IntN(5)) })
		answerMemcache(backends)
		dir := t.TempDir()
		socket := filepath.Join(dir, "listen")
		config := fmt.Sprintf("pool:\n  listen: %s\n  distribution: ketama\n  timeout: 10000\n", socket)
		if hash != "" {
			config += "  hash: " + hash + "\n"
		}
		tag := ""
		if rng.IntN(2) == 0 {
			tag = "{}"
			config += "  hash_tag: \"{}\"\n"
		}
		config += "  servers:\n"
		for i := range backends {
			b := &backends[i].node
			config += fmt.Sprintf("    - %s:%v", b.Name, b.Weight)
			if rng.IntN(3) == 0 {
				b.Label = fmt.Sprintf("name%d:11211", rng.IntN(1000)*16+i)
				config += " " + b.Label
			}
			config += "\n"
		}
		file := filepath.Join(dir, "nutcracker.yml")
		require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
		start(t, socket, path, "-c", file, "-o", filepath.Join(dir, "log"), "-p", filepath.Join(dir, "pid"),
			"-a", fmt.Sprintf("127.%d.%d.%d", 1+rng.IntN(250), rng.IntN(250), 1+rng.IntN(250))) // of its statistics

		rule, err := Twemproxy(hash, tag)
		require.NoError(t, err)
		keys := randomKeys(rng, liveKeys, "")
		for i := range keys[:liveKeys/4] { // some with braces, also empty ones and single ones
			braces := []string{"{", "{}", "{" + randomKey(rng, "") + "}", "}{x"}[i%4]
			keys[i] = randomKey(rng, "") + braces + randomKey(rng, "") + "}" + keys[i]
		}
		c, err := net.Dial("unix", socket)
		require.NoError(t, err)
		r := bufio.NewReader(c)
		var answers []string
		for _, key := range keys {
			fmt.Fprintf(c, "get %s\r\n", key)
			head, err := r.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "VALUE "+key, head[:min(len(head), len("VALUE "+key))], "%s", config)
			value, err := r.ReadString('\n')
			require.NoError(t, err)
			answers = append(answers, strings.TrimRight(value, "\r\n"))
			_, err = r.ReadString('\n') // END
			require.NoError(t, err)
		}
		require.NoError(t, c.Close())
		agree(t, rule, nodesOf(backends), keys, answers)
	}
}

func TestLiveCacheMemcachedFast(t *testing.T) {
	path := needs(t, "perl")[0]
	if out, err := exec.Command(path, "-MCache::Memcached::Fast", "-e1").CombinedOutput(); err != nil {
		require.NotEqual(t, "require", os.Getenv("HASHRING_INTEROP"), "Cache::Memcached::Fast is not installed: %s", out)
		t.Skip("Cache::Memcached::Fast is not installed")
	}
	rng := seed.Random(t)
	for range liveSets {
		prefix := ""
		backends := listen(t, rng, 1+rng.IntN(12), &prefix, func() float64 { return float64(1+rng.IntN(4000)) / 1000 })
		answerMemcache(backends)
		points := 1 + rng.IntN(300)
		keys := randomKeys(rng, liveKeys, "")
		stdin := fmt.Sprintf("%d\n%d\n", points, len(backends))
		for _, b := range backends {
			stdin += fmt.Sprintf("%s %v\n", b.node.Name, b.node.Weight)
		}
		out := run(t, stdin+strings.Join(keys, "\n")+"\n", path, "testdata/ask_fast.pl")
		rule, err := CacheMemcachedFast(points)
		require.NoError(t, err)
		agree(t, rule, nodesOf(backends), keys, strings.Split(strings.TrimSuffix(out, "\n"), "\n"))
	}
}

func TestLiveLibmemcached(t *testing.T) {
	cc := needs(t, "cc")[0]
	program := filepath.Join(t.TempDir(), "libmemcached")
	if out, err := exec.Command(cc, "-o", program, "testdata/ask_libmemcached.c", "-lmemcached").CombinedOutput(); err != nil {
		require.NotEqual(t, "require", os.Getenv("HASHRING_INTEROP"), "%s", out)
		t.Skipf("libmemcached's header is not installed: %s", out)
	}
	rng := seed.Random(t)
	hashes := []string{"", "crc", "fnv1_32", "fnv1_64", "fnv1a_32", "fnv1a_64", "jenkins", "md5", "murmur", "murmur3", "one_at_a_time"}
	for _, distribution := range []string{"consistent", "consistent_weighted", "ketama", "ketama_spy", "ketama_spy_weighted", "ketama_weighted"} {
		for _, hash := range hashes {
			weights := 1 + rng.Int64N(2)*rng.Int64N(1<<rng.IntN(32)) // half of the sets are of equal weights
			var nodes []hashring.Node
			var servers strings.Builder
			for i := range 1 + rng.IntN(70) {
				host, port := fmt.Sprintf("10.%d.%d.%d", rng.IntN(256), rng.IntN(256), i), 11211
				switch rng.IntN(6) {
				case 0:
					host = fmt.Sprintf("2001:db8::%x:%x", rng.IntN(1<<16), i)
				case 1:
					host = fmt.Sprintf("cache-%d.example.com", i)
				case 2:
					host, port = fmt.Sprintf("/run/cache-%d", i), -1
				}
				if port > 0 && rng.IntN(2) == 0 {
					port = 1 + rng.IntN(65535)
				}
				n := hashring.Node{Name: fmt.Sprintf("%s:%d", host, port), Weight: float64(rng.Int64N(weights + 1))} // 0 is 1
				if port < 0 {
					n.Name = host
				}
				nodes = append(nodes, n)
				fmt.Fprintf(&servers, "%s %d %.0f\n", host, port, n.Weight)
			}
			keys := randomKeys(rng, liveKeys, "")
			stdin := fmt.Sprintf("%s %s\n%d\n%s%d\n", distribution, orDash(hash), len(nodes), servers.String(),
				len(keys))
			for _, key := range keys {
				stdin += hex.EncodeToString([]byte(key)) + "\n"
			}
			var answers []string
			for line := range strings.Lines(run(t, stdin, program)) {
				i, err := strconv.Atoi(strings.TrimSpace(line))
				require.NoError(t, err)
				answers = append(answers, nodes[i].Name)
			}
			rule, err := Libmemcached(distribution, hash)
			require.NoError(t, err)
			agree(t, rule, nodes, keys, answers)
		}
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func TestLiveUhashring(t *testing.T) {
	python := needs(t, "/usr/bin/python3")[0] // Debian's, which has Debian's packages
	if out, err := exec.Command(python, "-c", "import uhashring").CombinedOutput(); err != nil {
		require.NotEqual(t, "require", os.Getenv("HASHRING_INTEROP"), "%s", out)
		t.Skip("python3-uhashring is not installed")
	}
	rng := seed.Random(t)
	for set := range 3 * liveSets {
		var nodes []hashring.Node
		var servers [][2]any
		for i := range 1 + rng.IntN(30) {
			n := hashring.Node{Name: fmt.Sprintf("%s-%d", randomKeys(rng, 1, "")[0], i), Weight: float64(1 + rng.IntN(5))}
			n.Name = strings.ToValidUTF8(n.Name, "?")
			nodes = append(nodes, n)
			servers = append(servers, [2]any{n.Name, n.Weight})
		}
		vnodes := 1 + rng.IntN(200)
		args := map[string]any{"vnodes": vnodes}
		rule, err := Uhashring(vnodes, "")
		switch set % 3 {
		case 1:
			args["hash_fn"] = "crc32"
			rule, err = Uhashring(vnodes, "crc32")
		case 2:
			replicas := 1 + rng.IntN(4)
			args["hash_fn"], args["replicas"] = "ketama", replicas
			rule, err = UhashringKetama(vnodes, replicas)
		}
		require.NoError(t, err)
		var keys []string
		for len(keys) < liveKeys {
			if k := randomKey(rng, ""); strings.ToValidUTF8(k, "") == k {
				keys = append(keys, k)
			}
		}
		stdin, err := json.Marshal(map[string]any{"args": args, "nodes": servers, "keys": keys})
		require.NoError(t, err)
		var answers []string
		require.NoError(t, json.Unmarshal([]byte(run(t, string(stdin), python, "testdata/ask_uhashring.py")), &answers))
		agree(t, rule, nodes, keys, answers)
	}
}
