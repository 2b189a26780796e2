package hashring

import (
	"errors"
	"iter"
	"sync"
	"sync/atomic"
)

// Live holds the current ring of a program whose membership changes. Readers load it with one atomic read: they never
// wait for a writer, and see each change whole or not at all. Writers take turns. The zero Live holds an empty ring with
// the default options. A Live must not be copied after first use.
type Live struct {
	mu  sync.Mutex // of writers
	cur atomic.Pointer[Ring]
}

// Change is what one call changed: the ring before and after. They are the same pointer if it changed nothing, as in
// every call that returns an error.
type Change struct{ Old, New *Ring }

// NewLive returns a Live that holds r, or an empty ring with the default options if r is nil.
func NewLive(r *Ring) *Live {
	l := new(Live)
	if r != nil {
		l.cur.Store(r)
	}
	return l
}

var emptyRing Ring

// Load returns the current ring, which is never nil. A caller that asks it more than one question has the answers of
// one and the same membership. It costs one atomic read.
func (l *Live) Load() *Ring {
	if r := l.cur.Load(); r != nil {
		return r
	}
	return &emptyRing
}

// Owner is [Ring.Owner] on the current ring.
func (l *Live) Owner(key string) (name string, ok bool) { return l.Load().Owner(key) }

// Replicas is [Ring.Replicas] on the ring that is current when the walk begins: a walk never mixes two.
func (l *Live) Replicas(key string) iter.Seq[string] {
	return func(yield func(string) bool) { l.Load().Replicas(key)(yield) }
}

// Add adds nodes, or replaces those of the same names, as [Ring.With] does.
func (l *Live) Add(nodes ...Node) (Change, error) {
	return l.Update(func(r *Ring) (*Ring, error) { return r.With(nodes...) })
}

// Remove removes nodes, as [Ring.Without] does. Names that are not there are ignored.
func (l *Live) Remove(names ...string) (Change, error) {
	return l.Update(func(r *Ring) (*Ring, error) { return r.Without(names...) })
}

// Set makes nodes the whole membership: those that are not in the list leave. The same nodes again change nothing and
// cost O(N log N); a change costs what it does in [Ring.With], in one step however many nodes come and go.
func (l *Live) Set(nodes []Node) (Change, error) {
	return l.Update(func(r *Ring) (*Ring, error) { return r.set(nodes) })
}

// Update calls f once with the current ring, and then publishes what f returns. Calls take turns, so f sees the latest
// ring, and what it does besides is done before any reader can see its ring; it must not call a method of l that changes
// it. If f returns an error, or no ring, the ring stays as it was.
func (l *Live) Update(f func(*Ring) (*Ring, error)) (Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.Load()
	next, err := f(old)
	if err == nil && next == nil {
		err = errors.New("hashring: Update: no ring and no error")
	}
	if err != nil {
		return Change{old, old}, err
	}
	l.cur.Store(next)
	return Change{old, next}, nil
}
