package bench

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	gojump "github.com/dgryski/go-jump"
)

// jumpPeer takes keys as numbers, here by XXH64, and gives the number of a node in a list that grows and shrinks at its
// end. To remove another node is to renumber those behind it.
var jumpPeer = peer{
	name: "jump",
	kind: jump,
	make: func(nodes []string) placer { return &jumper{slices.Clone(nodes)} },
}

type jumper struct{ nodes []string }

func (j *jumper) Owner(key string) string {
	return j.nodes[gojump.Hash(xxhash.Sum64String(key), len(j.nodes))]
}

func (j *jumper) With(node string) changer {
	return &jumper{append(slices.Clip(slices.Clone(j.nodes)), node)}
}

func (j *jumper) Without(node string) changer { return &jumper{without(j.nodes, node)} }
