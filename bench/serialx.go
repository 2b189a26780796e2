package bench

import (
	"github.com/cespare/xxhash/v2"
	"github.com/serialx/hashring"
)

// serialxPeer has the hash that serialx/hashring has unless told otherwise, MD5. A node's weight is its number of points.
var serialxPeer = peer{
	name: "serialx",
	kind: ring,
	make: func(nodes []string) placer {
		return serialxRing{hashring.NewWithWeights(serialxWeights(nodes))}
	},
}

var serialxXXHash = peer{
	name: "serialx+xxhash",
	kind: ring,
	make: func(nodes []string) placer {
		hash := func(data []byte) hashring.HashKey { return serialxKey(xxhash.Sum64(data)) }
		return serialxRing{hashring.NewWithHashAndWeights(serialxWeights(nodes), hash)}
	},
}

func serialxWeights(nodes []string) map[string]int {
	weights := make(map[string]int, len(nodes))
	for _, node := range nodes {
		weights[node] = points
	}
	return weights
}

type serialxKey uint64

func (k serialxKey) Less(other hashring.HashKey) bool { return k < other.(serialxKey) }

type serialxRing struct{ r *hashring.HashRing }

func (s serialxRing) Owner(key string) string {
	owner, _ := s.r.GetNode(key)
	return owner
}

func (s serialxRing) AppendReplicas(_ []string, key string, n int) []string {
	replicas, _ := s.r.GetNodes(key, n)
	return replicas
}

func (s serialxRing) With(node string) changer { return serialxRing{s.r.AddWeightedNode(node, points)} }

func (s serialxRing) Without(node string) changer { return serialxRing{s.r.RemoveNode(node)} }
