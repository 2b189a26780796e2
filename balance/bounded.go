package balance

import (
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clockwise-go/hashring"
)

// Balancer is consistent hashing with bounded loads over the current ring of a [hashring.Live]. The load of a node is
// the number of its leases: of requests that [Balancer.Acquire] sent to it and that are not yet done with. It follows
// each change of the ring: an Acquire that begins after the change is over knows it.
//
// A Balancer is made by [New]. All methods may be called from any number of goroutines. A lock is taken only by the
// first calls after a change of the ring, which wait while one of them takes note of it.
//
// # What concurrency does to the bound
//
// The loads and their total are words of their own, and a call reads the total once, at its start. What it reads
// counts each lease that is out and each call that is under way, so it is never too small, and too large only by the
// calls that are under way and by leases released since. Hence, on one ring: as long as at most M leases are out or
// being acquired or released, no node ever has more than ceil(factor*M*w/W). From one goroutine that is the bound
// itself.
//
// Two things let a node have more, and then it gets nothing until it has less. A change of nodes or weights, or
// releases elsewhere, can lower the bound of a node below the load that it has. And where a whole walk finds no room,
// the node with the least load for its weight is taken: each such lease may stand above the bound. That comes about
// only when others acquire and release all round the walk, or when a caller of [Balancer.AcquireIf] leaves too few
// nodes.
type Balancer struct {
	live  *hashring.Live
	mu    sync.Mutex // of those who set cur
	cur   atomic.Pointer[membership]
	_     [lineSize]byte
	total atomic.Int64 // leases that are out, and calls under way: raised before a node's load is, lowered after
	_     [lineSize]byte
}

// lineSize is at least the size of a cache line, and of the pair of them that some processors fetch together.
const lineSize = 128

// membership is a ring and the counters of its nodes.
type membership struct {
	*Bounds
	counters []*counter // by index
	departed []*counter // of nodes that have left, until a later change finds them without load
}

// counter is the load of a node, for as long as that is on the ring or has load. There is never more than one for a
// name: a node that comes back while it has load finds its counter again.
type counter struct {
	load atomic.Int64 // closed, once there may be another counter for the name
	node string
	of   *Balancer
	_    [lineSize - 32]byte // the allocator aligns what is of this size to it
}

// closed is the load of a counter that no longer counts: the node has left and has no load. Those who met it on an old
// ring pass it by.
const closed = -1

// New returns a Balancer over l. The factor is a finite number of at least 1; others are [hashring.ErrOptions].
func New(l *hashring.Live, factor float64) (*Balancer, error) {
	none, err := NewBounds(new(hashring.Ring), factor)
	if err != nil {
		return nil, err
	}
	b := &Balancer{live: l}
	b.cur.Store(&membership{Bounds: none})
	return b, nil
}

// Acquire leases the first node clockwise from key whose load is below its bound. While nothing is under way that is
// the owner. The lease counts as load until it is released: a request that ends in any way must release it. ok is
// false if and only if the ring has no tokens.
//
// The walk passes a node only if that is at its bound, and ends within one round. Acquire and Release do not allocate,
// but to replace what a garbage collection has freed, and as [hashring.Ring.Replicas] does. What limits them on many
// cores is the total, one word that all of them write: on two cores two goroutines do 1.45 times what one does
// (an Acquire and its Release take 43 ns in place of 63), where two that only write one word do half of what one does.
func (b *Balancer) Acquire(key string) (lease Lease, ok bool) { return b.AcquireIf(key, nil) }

// AcquireIf is [Balancer.Acquire] among the nodes that admit says yes to, for passing by those that are down or have
// been tried. The bounds remain those of the whole ring. When the nodes left are all at their bounds, the one with the
// least load for its weight is leased. ok is false if and only if admit refused all nodes that have tokens.
func (b *Balancer) AcquireIf(key string, admit func(node string) bool) (lease Lease, ok bool) {
	total := float64(b.total.Add(1))
	defer func() {
		if !ok { // also where admit panics
			b.total.Add(-1)
		}
	}()
	for m := b.current(); ; {
		c, least := m.take(key, total, admit)
		if c == nil && least != nil && least.add() {
			c = least
		}
		if c != nil {
			s := slots.Get().(*slot)
			return Lease{s, s.generation.Load(), c}, true
		}
		latest := b.current()
		if latest == m {
			return Lease{}, false
		}
		m = latest // perhaps all nodes of the other had gone
	}
}

// current returns the membership of the current ring.
func (b *Balancer) current() *membership {
	if m := b.cur.Load(); m.ring == b.live.Load() {
		return m
	}
	return b.follow()
}

// follow makes the membership of the current ring, unless somebody has.
func (b *Balancer) follow() *membership {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, r := b.cur.Load(), b.live.Load()
	if old.ring == r {
		return old
	}
	// A counter is closed one change after its node has left at the earliest, so whoever meets a closed one has a
	// membership that is not the current.
	for _, c := range old.departed {
		c.load.CompareAndSwap(0, closed)
	}
	held := make(map[string]*counter, len(old.counters))
	for _, c := range slices.Concat(old.counters, old.departed) {
		if c.load.Load() != closed {
			held[c.node] = c
		}
	}
	m := &membership{Bounds: newBounds(r, old.factor), counters: make([]*counter, r.Len())}
	for i := range m.counters {
		name := r.Name(i)
		c := held[name]
		if c == nil {
			c = &counter{node: name, of: b}
		}
		delete(held, name)
		m.counters[i] = c
	}
	for _, c := range slices.Concat(old.counters, old.departed) {
		if held[c.node] == c {
			m.departed = append(m.departed, c)
		}
	}
	b.cur.Store(m)
	return m
}

// take adds one to the load of the first node for key that has room, where total are to be out with it, and returns its
// counter. If none has, it returns that of the node with the least load for its weight, or nil if all nodes are refused
// or gone.
func (m *membership) take(key string, total float64, admit func(node string) bool) (taken, least *counter) {
	var l leastLoaded
	for i := range m.ring.WalkAt(m.ring.Position(key)) {
		c := m.counters[i]
		if admit != nil && !admit(c.node) {
			continue
		}
		n, ok := c.addBelow(m.limit(i, total))
		if ok {
			return c, nil
		}
		if n != closed {
			l.meet(i, float64(n), m.weights[i])
		}
	}
	if l.met {
		least = m.counters[l.node]
	}
	return nil, least
}

// addBelow adds one to a load that has room below limit, and returns what it was, or what it is.
func (c *counter) addBelow(limit float64) (load int64, ok bool) {
	for {
		n := c.load.Load()
		if n == closed || !room(float64(n), limit) {
			return n, false
		}
		if c.load.CompareAndSwap(n, n+1) {
			return n, true
		}
	}
}

// add adds one to a load unless it is closed.
func (c *counter) add() bool {
	_, ok := c.addBelow(math.Inf(1))
	return ok
}

// Total returns how many leases are out, and calls of Acquire and Release under way.
func (b *Balancer) Total() int { return int(b.total.Load()) }

// Loads yields the load and the bound, of a request that arrives now, of each node of the current ring, by index; then
// those of nodes that have left and still have load. When nothing is under way the loads add up to Total; else each is
// as it was when it was read. No load is ever below 0.
func (b *Balancer) Loads() iter.Seq[Load] {
	return func(yield func(Load) bool) {
		m := b.current()
		total := float64(b.total.Load() + 1)
		for i, c := range m.counters {
			if !yield(Load{c.node, c.count(), m.bound(i, total)}) {
				return
			}
		}
		for _, c := range m.departed {
			if n := c.count(); n > 0 && !yield(Load{Node: c.node, Count: n}) {
				return
			}
		}
	}
}

func (c *counter) count() int { return int(max(0, c.load.Load())) }

// Lease is the right of one request to one node. Copies are the same lease. The zero Lease is of no node, and has been
// released.
type Lease struct {
	slot       *slot
	generation uint64
	counter    *counter
}

// slot says which leases are out. It is used for one lease after another, and its generation is the number of those
// that were released: the lease that has another number is not out.
type slot struct {
	generation atomic.Uint64
	_          [56]byte // a cache line each: others are in use elsewhere
}

var slots = sync.Pool{New: func() any { return new(slot) }}

// Node returns the name of the node, or "" for the zero Lease. [hashring.Table.Value] has what goes with the name.
func (l Lease) Node() string {
	if l.counter == nil {
		return ""
	}
	return l.counter.node
}

// Release takes the request off the node's load, if it is the first call for this lease: others, from whatever
// goroutine, do nothing. It may be called when the node has left the ring, and when it has come back.
func (l Lease) Release() {
	if l.slot == nil || !l.slot.generation.CompareAndSwap(l.generation, l.generation+1) {
		return
	}
	l.counter.load.Add(-1)
	l.counter.of.total.Add(-1)
	slots.Put(l.slot)
}
