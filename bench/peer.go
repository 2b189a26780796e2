package bench

import (
	"slices"
	"sync/atomic"
)

// points is how many points of the circle each node has in every library that has points: hashring's default.
const points = 160

// placer is what every library can do. Each is a pointer, so that == tells whether two are one.
type placer interface {
	Owner(key string) string
}

// changer is a placer to and from which nodes come and go. With and Without return the changed placer: the receiver
// itself if the library changes in place, else another, and the receiver is as it was.
type changer interface {
	placer
	With(node string) changer
	Without(node string) changer
}

// replicator is a placer that knows more than one node for a key. AppendReplicas appends to dst the n nodes that have
// key; a library that makes a list of its own returns that.
type replicator interface {
	placer
	AppendReplicas(dst []string, key string, n int) []string
}

// peer is a library, or one way of using it.
type peer struct {
	name string
	kind kind
	make func(nodes []string) placer

	// shared is make of a changer that may be read while one goroutine changes it. A library that has none is published:
	// that is nil.
	shared func(nodes []string) changer

	// slow is set where nodes can only be added one at a time, at the cost of sorting all: 1,000 take many seconds.
	slow bool

	// clients is set where a node is a network client. Its memory, and the time to make it, are not those of placing.
	clients bool
}

type kind string

const (
	ring       kind = "ring"
	rendezvous kind = "rendezvous"
	jump       kind = "jump"
	yardstick  kind = "yardstick" // no library: only lookups are measured
)

// peers are all that is measured: hashring first, and of the others the rings before the rest.
var peers = []peer{
	hashringPeer,
	groupcachePeer,
	groupcacheXXHash,
	serialxPeer,
	serialxXXHash,
	goZeroPeer,
	goZeroXXHash,
	authzedPeer,
	jumpPeer,
	rendezvousPeer,
	goRedisPeer,
	sortSearchPeer,
}

// share returns a changer of p that may be read while one goroutine changes it.
func (p peer) share(nodes []string) changer {
	if p.shared != nil {
		return p.shared(nodes)
	}
	s := &published{make: p.make, nodes: slices.Clone(nodes)}
	s.publish()
	return s
}

// published makes a library that has no lock fit for change while it is read, in the way that costs readers least: each
// membership is made aside and published by one atomic write.
type published struct {
	make  func(nodes []string) placer
	nodes []string
	cur   atomic.Pointer[placer]
}

func (s *published) publish() {
	p := s.make(s.nodes)
	s.cur.Store(&p)
}

func (s *published) Owner(key string) string { return (*s.cur.Load()).Owner(key) }

func (s *published) With(node string) changer {
	s.nodes = append(s.nodes, node)
	s.publish()
	return s
}

func (s *published) Without(node string) changer {
	s.nodes = without(s.nodes, node)
	s.publish()
	return s
}

// without returns a copy of nodes without node.
func without(nodes []string, node string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return n == node })
}
