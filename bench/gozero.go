package bench

import (
	"github.com/cespare/xxhash/v2"
	"github.com/zeromicro/go-zero/core/hash"
)

// goZeroPeer has the hash that go-zero has unless told otherwise, Murmur3. It has a lock of its own.
var goZeroPeer = peer{
	name:   "go-zero",
	kind:   ring,
	make:   func(nodes []string) placer { return newGoZero(nodes, nil) },
	shared: func(nodes []string) changer { return newGoZero(nodes, nil) },
	slow:   true,
}

var goZeroXXHash = peer{
	name:   "go-zero+xxhash",
	kind:   ring,
	make:   func(nodes []string) placer { return newGoZero(nodes, xxhash.Sum64) },
	shared: func(nodes []string) changer { return newGoZero(nodes, xxhash.Sum64) },
	slow:   true,
}

type goZero struct{ h *hash.ConsistentHash }

func newGoZero(nodes []string, fn hash.Func) goZero {
	h := hash.NewCustomConsistentHash(points, fn)
	for _, node := range nodes {
		h.Add(node)
	}
	return goZero{h}
}

func (g goZero) Owner(key string) string {
	owner, _ := g.h.Get(key)
	name, _ := owner.(string)
	return name
}

func (g goZero) With(node string) changer {
	g.h.Add(node)
	return g
}

func (g goZero) Without(node string) changer {
	g.h.Remove(node)
	return g
}
