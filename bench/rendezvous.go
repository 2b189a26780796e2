package bench

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	gorendezvous "github.com/dgryski/go-rendezvous"
)

var rendezvousPeer = peer{
	name: "rendezvous",
	kind: rendezvous,
	make: func(nodes []string) placer { return newRendezvous(nodes) },
}

// rendezvousNodes is a Rendezvous, whose Remove indexes a slice by its length and so always panics: Without makes
// another.
type rendezvousNodes struct {
	r     *gorendezvous.Rendezvous
	nodes []string
}

func newRendezvous(nodes []string) *rendezvousNodes {
	return &rendezvousNodes{gorendezvous.New(nodes, xxhash.Sum64String), slices.Clone(nodes)}
}

func (r *rendezvousNodes) Owner(key string) string { return r.r.Lookup(key) }

func (r *rendezvousNodes) With(node string) changer {
	r.r.Add(node)
	r.nodes = append(r.nodes, node)
	return r
}

func (r *rendezvousNodes) Without(node string) changer {
	return newRendezvous(without(r.nodes, node))
}
