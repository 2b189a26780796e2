package bench

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/golang/groupcache/consistenthash"
)

// groupcachePeer has the hash that groupcache has unless told otherwise, CRC-32.
var groupcachePeer = peer{
	name: "groupcache",
	kind: ring,
	make: func(nodes []string) placer { return newGroupcache(nodes, nil) },
}

var groupcacheXXHash = peer{
	name: "groupcache+xxhash",
	kind: ring,
	make: func(nodes []string) placer {
		return newGroupcache(nodes, func(data []byte) uint32 { return uint32(xxhash.Sum64(data)) })
	},
}

// groupcacheMap is a Map, which cannot remove: like groupcache's own HTTPPool, Without makes another.
type groupcacheMap struct {
	m     *consistenthash.Map
	hash  consistenthash.Hash
	nodes []string
}

func newGroupcache(nodes []string, hash consistenthash.Hash) *groupcacheMap {
	m := consistenthash.New(points, hash)
	m.Add(nodes...)
	return &groupcacheMap{m, hash, slices.Clone(nodes)}
}

func (g *groupcacheMap) Owner(key string) string { return g.m.Get(key) }

func (g *groupcacheMap) With(node string) changer {
	g.m.Add(node)
	g.nodes = append(g.nodes, node)
	return g
}

func (g *groupcacheMap) Without(node string) changer {
	return newGroupcache(without(g.nodes, node), g.hash)
}
