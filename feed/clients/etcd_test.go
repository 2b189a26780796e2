package clients

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcd is a real one, with a proxy before it that can be cut.
type etcd struct {
	t       *testing.T
	host    string // of this machine, and of this etcd alone
	dir     string
	cluster string // all members, as in the flag
	stop    func()
	direct  *clientv3.Client // not through the proxy

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// startEtcd starts an etcd for a test. It skips the test if there is none; with HASHRING_INTEROP=require it fails then.
func startEtcd(t *testing.T) *etcd { return startCluster(t, 1)[0] }

// startCluster starts so many members of one cluster.
func startCluster(t *testing.T, members int) (all []*etcd) {
	t.Helper()
	if _, err := exec.LookPath("etcd"); err != nil {
		if os.Getenv("HASHRING_INTEROP") == "require" {
			t.Fatal("etcd is not installed, and HASHRING_INTEROP=require")
		}
		t.Skip("etcd is not installed")
	}
	var cluster []string
	for range members {
		host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
		all = append(all, &etcd{t: t, host: host, dir: t.TempDir()})
		cluster = append(cluster, host+"=http://"+host+":2380")
	}
	for _, e := range all {
		e.cluster = strings.Join(cluster, ",")
		e.launch()
		t.Cleanup(func() { e.stop() })
	}
	for _, e := range all {
		e.await()
		e.direct = e.client(e.host + ":2379")
		t.Cleanup(func() { e.direct.Close() })

		proxy, err := net.Listen("tcp", e.host+":2378")
		require.NoError(t, err)
		var serving sync.WaitGroup
		serving.Go(func() { e.serve(proxy) })
		t.Cleanup(func() {
			proxy.Close()
			e.cut(true)
			serving.Wait()
		})
	}
	return all
}

// launch runs etcd, with the data that it has.
func (e *etcd) launch() {
	client, peer := "http://"+e.host+":2379", "http://"+e.host+":2380"
	cmd := exec.Command("etcd", "--name", e.host, "--data-dir", e.dir, "--logger", "zap", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", e.cluster)
	require.NoError(e.t, cmd.Start())
	e.stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// await waits until etcd answers.
func (e *etcd) await() {
	c := e.client(e.host + ":2379")
	defer c.Close()
	eventually(e.t, "etcd answers", func() bool {
		ctx, stop := context.WithTimeout(e.t.Context(), 100*time.Millisecond)
		defer stop()
		_, err := c.Get(ctx, "anything")
		return err == nil
	})
}

// restart kills etcd and runs it again.
func (e *etcd) restart() {
	e.stop()
	e.launch()
	e.await()
}

func (e *etcd) client(address string) *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	require.NoError(e.t, err)
	return c
}

// serve passes connections on to etcd, while there is no cut.
func (e *etcd) serve(proxy net.Listener) {
	var passing sync.WaitGroup
	defer passing.Wait()
	for {
		from, err := proxy.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", e.host+":2379")
		e.mu.Lock()
		if err != nil || e.down {
			from.Close()
			if to != nil {
				to.Close()
			}
		} else {
			e.conns = append(e.conns, from, to)
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				passing.Go(func() {
					io.Copy(pair[1], pair[0])
					pair[1].Close()
				})
			}
		}
		e.mu.Unlock()
	}
}

// cut ends all that goes through the proxy, or lets it through again.
func (e *etcd) cut(down bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = down
	for _, c := range e.conns {
		c.Close()
	}
	e.conns = nil
}

// put registers nodes without a lease.
func (e *etcd) put(names ...string) {
	for _, name := range names {
		_, err := e.direct.Put(e.t.Context(), "nodes/"+name, "zone of "+name)
		require.NoError(e.t, err)
	}
}

func (e *etcd) remove(names ...string) {
	for _, name := range names {
		_, err := e.direct.Delete(e.t.Context(), "nodes/"+name)
		require.NoError(e.t, err)
	}
}

// run runs source until the test ends, or what it returns is called.
func (e *etcd) run(source func(context.Context, *clientv3.Client) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	client := e.client(e.host + ":2378")
	var running sync.WaitGroup
	running.Go(func() {
		again(ctx, func(ctx context.Context) error { return source(ctx, client) })
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		client.Close()
	})
	e.t.Cleanup(stop)
	return stop
}

// follow keeps a ring in step with what is under nodes/, and reads all again after a time.
func (e *etcd) follow(atMost time.Duration) (*feed.Feed, *hashring.Live) {
	live := empty(e.t)
	f, err := feed.New(live, &feed.Options{Settle: 10 * time.Millisecond, HoldDown: -1})
	require.NoError(e.t, err)
	e.t.Cleanup(f.Close)
	e.run(func(ctx context.Context, c *clientv3.Client) error { return followEtcd(ctx, f, c, "nodes/", atMost) })
	return f, live
}

// eventually waits for what is to happen, for half a minute and more.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Fail(t, "never: "+what)
}

// becomes waits until live has a ring.
func becomes(t *testing.T, live *hashring.Live, ring string) {
	t.Helper()
	eventually(t, ring, func() bool { return ringOf(live.Load()) == ring })
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	e.put("a", "b")
	_, err := e.direct.Put(t.Context(), "nodes", "not under the prefix")
	require.NoError(t, err)
	_, live := e.follow(time.Hour)
	becomes(t, live, "a b")
	n, _ := live.Load().Node("b")
	require.Equal(t, hashring.Node{Name: "b", Weight: 1, Zone: "zone of b"}, n)
	e.put("c", "d")
	becomes(t, live, "a b c d")
	e.remove("b")
	becomes(t, live, "a c d")
	e.put("b")
	becomes(t, live, "a b c d")
	_, err = e.direct.Put(t.Context(), "nodes/b", "another zone")
	require.NoError(t, err)
	eventually(t, "another zone", func() bool {
		n, _ := live.Load().Node("b")
		return n.Zone == "another zone"
	})
}

// A node whose context ends goes at once, whatever its lease, unless another has its name by then. One that loses its
// lease registers anew.
func TestEtcdLeases(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	e.put("a", "b")
	_, live := e.follow(time.Hour)
	register := func(ttl int64) (leave func()) {
		return e.run(func(ctx context.Context, client *clientv3.Client) error {
			return registerEtcd(ctx, client, "nodes/c", "zone", ttl)
		})
	}
	lease := func() (id int64) {
		got, err := e.direct.Get(t.Context(), "nodes/c")
		require.NoError(t, err)
		for _, kv := range got.Kvs {
			id = kv.Lease
		}
		return id
	}
	leave := register(3600)
	becomes(t, live, "a b c")
	leave()
	becomes(t, live, "a b")

	leave = register(3600)
	becomes(t, live, "a b c")
	first := lease()
	register(3)
	eventually(t, "the second's lease", func() bool { return lease() != first })
	second := lease()
	leave()
	require.Equal(t, second, lease())

	_, err := e.direct.Revoke(t.Context(), clientv3.LeaseID(second))
	require.NoError(t, err)
	require.Zero(t, lease())
	eventually(t, "a third lease", func() bool { return lease() != 0 })
	becomes(t, live, "a b c")
}

// A node that is cut off is gone when its lease has ended, and back when it is not cut off any more.
func TestEtcdLeaseEnds(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	e.put("a", "b")
	e.run(func(ctx context.Context, client *clientv3.Client) error {
		return registerEtcd(ctx, client, "nodes/c", "zone", 2)
	})
	registered := func() bool {
		all, err := e.direct.Get(t.Context(), "nodes/c")
		require.NoError(t, err)
		return len(all.Kvs) == 1
	}
	eventually(t, "registered", registered)
	e.cut(true)
	eventually(t, "the end of the lease", func() bool { return !registered() })
	e.cut(false)
	eventually(t, "registered again", registered)
}

// A watch that was cut off goes on from its revision; if that is compacted, all is read again.
func TestEtcdWatchIsCutOff(t *testing.T) {
	t.Parallel()
	for _, compacted := range []bool{false, true} {
		t.Run(fmt.Sprintf("compacted=%v", compacted), func(t *testing.T) {
			t.Parallel()
			e := startEtcd(t)
			e.put("a", "b", "c", "d")
			_, live := e.follow(time.Hour)
			becomes(t, live, "a b c d")
			e.cut(true)
			e.put("e")
			e.remove("b")
			all, err := e.direct.Get(t.Context(), "nodes/")
			require.NoError(t, err)
			if compacted {
				_, err := e.direct.Compact(t.Context(), all.Header.Revision)
				require.NoError(t, err)
			}
			require.Equal(t, "a b c d", ringOf(live.Load()))
			e.cut(false)
			becomes(t, live, "a c d e")
			e.put("f")
			becomes(t, live, "a c d e f")
		})
	}
}

// etcd is killed, and starts again with its data.
func TestEtcdCrashes(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	e.put("a", "b", "c")
	_, live := e.follow(time.Hour)
	becomes(t, live, "a b c")
	ring := live.Load()
	e.restart()
	e.put("d")
	becomes(t, live, "a b c d")
	change, err := ring.With(hashring.Node{Name: "d", Zone: "zone of d"})
	require.NoError(t, err)
	require.True(t, change.Equal(live.Load()))
}

// A member that has lost its cluster still takes connections, and would leave a watch waiting for what it does not hear of.
func TestEtcdHasNoLeader(t *testing.T) {
	t.Parallel()
	all := startCluster(t, 3)
	e := all[0]
	e.put("a", "b")
	live := empty(t)
	f, err := feed.New(live, nil)
	require.NoError(t, err)
	defer f.Close()
	came := make(chan error, 100)
	e.run(func(ctx context.Context, c *clientv3.Client) error {
		err := followEtcd(ctx, f, c, "nodes/", time.Hour)
		came <- err
		return err
	})
	becomes(t, live, "a b")
	all[1].stop()
	all[2].stop()
	require.ErrorIs(t, <-came, rpctypes.ErrNoLeader)
	require.Equal(t, "a b", ringOf(live.Load()))
	all[1].launch()
	e.await()
	e.put("c")
	becomes(t, live, "a b c")
}

// An etcd that was restored from a backup has not come to the revision yet that a watch waits for. So the watch does not
// hear of e and f; reading all again does.
func TestEtcdIsRestored(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	for range 20 {
		e.put("a", "b", "c", "d")
	}
	_, live := e.follow(2 * time.Second)
	becomes(t, live, "a b c d")
	e.dir = t.TempDir()
	e.restart()
	e.put("a", "b", "c", "e", "f")
	becomes(t, live, "a b c e f")
}

func TestEtcdEmptyAnswerDoesNotEmptyTheRing(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	e.put("a", "b", "c")
	f, live := e.follow(time.Hour)
	becomes(t, live, "a b c")
	_, err := e.direct.Delete(t.Context(), "nodes/", clientv3.WithPrefix())
	require.NoError(t, err)
	eventually(t, "degraded", func() bool { return f.Status().State == feed.Degraded })
	becomes(t, live, "a b c")
	e.put("a", "b", "c")
	eventually(t, "steady", func() bool { return f.Status().State == feed.Steady })
	becomes(t, live, "a b c")
}

// When sources have ended and their clients are closed, no goroutine is left; nor does the end wait for an etcd that does
// not answer.
func TestEtcdEnds(t *testing.T) {
	e := startEtcd(t)
	e.put("a")
	f, live := e.follow(time.Hour)
	becomes(t, live, "a")
	for _, down := range []bool{false, true} {
		before := runtime.NumGoroutine()
		follow := e.run(func(ctx context.Context, c *clientv3.Client) error {
			return followEtcd(ctx, f, c, "nodes/", time.Hour)
		})
		register := e.run(func(ctx context.Context, c *clientv3.Client) error {
			return registerEtcd(ctx, c, "nodes/b", "", 3600)
		})
		becomes(t, live, "a b")
		e.cut(down)
		follow()
		register()
		eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	}
}
