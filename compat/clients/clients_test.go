package clients

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// needs returns the path of a program. It skips the test if HASHRING_INTEROP is not set, or if the program is not
// installed; with HASHRING_INTEROP=require it fails then.
func needs(t *testing.T, program string) string {
	t.Helper()
	mode := os.Getenv("HASHRING_INTEROP")
	if mode == "" {
		t.Skip("make interop runs this")
	}
	path, err := exec.LookPath(program)
	if err != nil && mode == "require" {
		t.Fatalf("%s is not installed, and HASHRING_INTEROP=require", program)
	} else if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}

// eventually waits for what a program is to do, for 10 s and more.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Fail(t, what)
}

// start runs a program until the test ends, or what it returns is called, and waits until it answers on address.
func start(t *testing.T, network, address string, command ...string) (stop func()) {
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
	stop = func() {
		cmd.Process.Kill()
		<-ended
	}
	t.Cleanup(stop)
	eventually(t, command[0]+" does not answer", func() bool {
		select {
		case <-ended:
			require.Fail(t, command[0]+" ended", said.String())
		default:
		}
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return stop
}

func keys(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("session:%d", i))
	}
	return all
}

// gomemcache with a Selector of libmemcached's rule puts every key on the server that libmemcached would ask, and only
// there; when a server has left, keys go where libmemcached's rebuilt ring has them.
func TestGomemcache(t *testing.T) {
	path := needs(t, "memcached")
	dir := t.TempDir()
	var nodes []hashring.Node
	alone := make(map[string]*memcache.Client)
	for i := range 5 {
		n := hashring.Node{Name: filepath.Join(dir, strconv.Itoa(i)), Weight: float64(1 + i%2)}
		network, args := "unix", []string{path, "-u", "root", "-s", n.Name}
		if i > 1 { // at libmemcached's default port, which is not in the label
			host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
			n.Name = host + ":11211"
			network, args = "tcp", []string{path, "-u", "root", "-l", host, "-p", "11211", "-U", "0"}
		}
		start(t, network, n.Name, args...)
		nodes = append(nodes, n)
		c := memcache.New(n.Name)
		c.Timeout = 10 * time.Second
		t.Cleanup(func() { c.Close() })
		alone[n.Name] = c
	}
	rule, err := compat.Libmemcached("ketama_weighted", "")
	require.NoError(t, err)
	ring, err := hashring.New(nodes, &hashring.Options{Placement: rule})
	require.NoError(t, err)
	live := hashring.NewLive(ring)
	client := memcache.NewFromSelector(compat.NewSelector(live))
	client.Timeout = 10 * time.Second
	require.NoError(t, client.Ping(), "which asks Each")

	check := func() {
		for _, key := range keys(500) {
			require.NoError(t, client.Set(&memcache.Item{Key: key, Value: []byte(key)}))
		}
		found, err := client.GetMulti(keys(500))
		require.NoError(t, err)
		require.Len(t, found, 500)
		used := make(map[string]int)
		for _, key := range keys(500) {
			owner, _ := live.Owner(key)
			used[owner]++
			for _, n := range live.Load().Nodes() {
				_, err := alone[n.Name].Get(key)
				if n.Name == owner {
					require.NoError(t, err, "%s on %s", key, n.Name)
				} else {
					require.ErrorIs(t, err, memcache.ErrCacheMiss, "%s on %s", key, n.Name)
				}
			}
		}
		require.Len(t, used, live.Load().Len())
	}
	check()
	require.NoError(t, client.FlushAll())
	_, err = live.Remove(nodes[3].Name)
	require.NoError(t, err)
	check()

	_, err = live.Set(nil)
	require.NoError(t, err)
	_, err = client.Get("session:1")
	require.ErrorIs(t, err, compat.ErrNoServers)
}

// go-redis' Ring with a Getter puts every key on the shard that the ring says; when a shard is down, its keys go where the
// ring without it has them.
func TestGoRedis(t *testing.T) {
	path := needs(t, "redis-server")
	ctx := context.Background()
	dir := t.TempDir()
	addrs := make(map[string]string)
	stops := make(map[string]func())
	alone := make(map[string]*redis.Client)
	for _, name := range []string{"a", "b", "c", "d"} {
		addrs[name] = filepath.Join(dir, name)
		stops[name] = start(t, "unix", addrs[name], path, "--port", "0", "--unixsocket", addrs[name], "--save", "", "--dir", dir)
		alone[name] = redis.NewClient(&redis.Options{Network: "unix", Addr: addrs[name]})
		t.Cleanup(func() { alone[name].Close() })
	}
	rule, err := compat.Twemproxy("md5", "{}")
	require.NoError(t, err)
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d"), &hashring.Options{Placement: rule})
	require.NoError(t, err)
	redis.SetLogger(quiet{})
	client := redis.NewRing(&redis.RingOptions{
		Addrs:              addrs,
		HeartbeatFrequency: 20 * time.Millisecond,
		NewClient: func(opt *redis.Options) *redis.Client {
			opt.Network = "unix"
			return redis.NewClient(opt)
		},
		NewConsistentHash: func(shards []string) redis.ConsistentHash {
			getter, err := compat.NewGetter(ring, shards)
			if err != nil {
				panic(err)
			}
			return getter
		},
	})
	defer client.Close()

	check := func(ring *hashring.Ring) {
		used := make(map[string]int)
		for i, key := range keys(500) {
			if i%4 == 0 {
				key = fmt.Sprintf("{user:%d}:cart", i)
			}
			require.NoError(t, client.Set(ctx, key, i, 0).Err())
			owner, _ := ring.Owner(key)
			used[owner]++
			value, err := alone[owner].Get(ctx, key).Int()
			require.NoError(t, err, "%s on %s", key, owner)
			require.Equal(t, i, value)
			n := int64(0)
			for _, node := range ring.Nodes() {
				n += alone[node.Name].Exists(ctx, key).Val()
			}
			require.Equal(t, int64(1), n, "%s is on one shard", key)
		}
		require.Len(t, used, ring.Len())
	}
	check(ring)
	require.NoError(t, client.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error { return shard.FlushAll(ctx).Err() }))
	stops["b"]()
	eventually(t, "go-redis does not see that a shard is down", func() bool { return client.Len() == 3 })
	left, err := ring.Without("b")
	require.NoError(t, err)
	check(left)
}

// quiet drops what go-redis logs of the shard that is stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
