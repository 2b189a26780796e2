package bench

import (
	"context"
	"maps"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

// goRedisPeer is the rendezvous hashing in the Ring client of go-redis, which is reached through the client: a node is a
// client that has not connected, and each is told to be up. It has a lock of its own.
var goRedisPeer = peer{
	name:    "go-redis",
	kind:    rendezvous,
	make:    func(nodes []string) placer { return newGoRedis(nodes) },
	shared:  func(nodes []string) changer { return newGoRedis(nodes) },
	clients: true,
}

type goRedis struct {
	r     *redis.Ring
	addrs map[string]string
}

func newGoRedis(nodes []string) *goRedis {
	addrs := make(map[string]string, len(nodes))
	for _, node := range nodes {
		addrs[node] = node
	}
	r := redis.NewRing(&redis.RingOptions{
		Addrs:              addrs,
		HeartbeatFrequency: time.Hour,
		HeartbeatFn:        func(context.Context, *redis.Client) bool { return true },
	})
	g := &goRedis{r, maps.Clone(addrs)}
	runtime.AddCleanup(g, func(r *redis.Ring) { _ = r.Close() }, r)
	return g
}

func (g *goRedis) Owner(key string) string {
	return must(g.r.GetShardClientForKey(key)).Options().Addr
}

func (g *goRedis) With(node string) changer {
	g.addrs[node] = node
	g.r.SetAddrs(g.addrs)
	return g
}

func (g *goRedis) Without(node string) changer {
	delete(g.addrs, node)
	g.r.SetAddrs(g.addrs)
	return g
}
