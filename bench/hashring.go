package bench

import "github.com/clockwise-go/hashring"

var hashringPeer = peer{
	name:   "hashring",
	kind:   ring,
	make:   func(nodes []string) placer { return hashRing{newRing(nodes)} },
	shared: func(nodes []string) changer { return liveRing{hashring.NewLive(newRing(nodes))} },
}

func newRing(nodes []string) *hashring.Ring {
	return must(hashring.New(hashring.Nodes(nodes...), &hashring.Options{VirtualNodes: points}))
}

// must returns v. The benchmarks give the libraries nothing that one of them could refuse.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type hashRing struct{ r *hashring.Ring }

func (h hashRing) Owner(key string) string {
	owner, _ := h.r.Owner(key)
	return owner
}

func (h hashRing) AppendReplicas(dst []string, key string, n int) []string {
	return h.r.AppendReplicas(dst, key, n)
}

func (h hashRing) With(node string) changer {
	return hashRing{must(h.r.With(hashring.Node{Name: node}))}
}

func (h hashRing) Without(node string) changer { return hashRing{must(h.r.Without(node))} }

type liveRing struct{ l *hashring.Live }

func (l liveRing) Owner(key string) string {
	owner, _ := l.l.Owner(key)
	return owner
}

func (l liveRing) With(node string) changer {
	must(l.l.Add(hashring.Node{Name: node}))
	return l
}

func (l liveRing) Without(node string) changer {
	must(l.l.Remove(node))
	return l
}
