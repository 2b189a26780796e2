package hashring

import (
	"iter"
	"slices"
)

// Table is a ring with a value for each node, as a connection to it. Ring and values are one snapshot: the value that
// a key gets is that of its owner, whatever changes meanwhile. A Table is immutable and safe for any number of
// goroutines, as far as its values are. The zero Table is that of an empty ring.
//
// A program whose membership changes holds the current one in an atomic.Pointer. [Bind] derives the table of the next
// ring, which has the values of the nodes that stay, and opens those of new ones. [Table.Gone] says which the next
// table has no more, and so are to be closed. But not at once: a reader that has loaded the old table may be about to
// use one. That is over when everyone who loaded it is done. So close a value after a time that exceeds any use, or
// let values count their users, or have ones whose closing waits for them or disturbs nobody.
type Table[T any] struct {
	ring   *Ring
	values []boundValue[T] // by index
}

// boundValue is a value and what tells it from every other that was opened, equal ones too.
type boundValue[T any] struct {
	value T
	of    *opening
}

type opening struct{ _ byte } // pointers to things without a size may be equal

// BindError says that a value could not be opened, and holds those that were opened before it in the same call. They
// are in no table, so they are the caller's to close.
type BindError[T any] struct {
	Opened []T
	Err    *NodeError // which node, by index in the ring, and what open returned
}

// Error is that of e.Err.
func (e *BindError[T]) Error() string { return e.Err.Error() }

// Unwrap returns e.Err.
func (e *BindError[T]) Unwrap() error { return e.Err }

// Bind returns the table of r. Nodes that prev has a value for keep it, whatever else about them has changed; the
// others' are opened by open, one after another by index. A nil prev has none. If prev is of r itself, Bind returns
// prev.
//
// If open fails for a node, Bind ends and returns a [*BindError], which wraps a [*NodeError] and the cause. prev is as
// it was, as it is in any case: what is to be closed is prev.Gone of the table that Bind returned. It costs O(N log
// N), and the calls of open.
func Bind[T any](r *Ring, prev *Table[T], open func(Node) (T, error)) (*Table[T], error) {
	if prev == nil {
		prev = new(Table[T])
	}
	if prev.ring == r {
		return prev, nil
	}
	t := &Table[T]{r, make([]boundValue[T], r.Len())}
	var opened []T
	for i, n := range r.nodes {
		if j, ok := prev.Ring().find(n.Name); ok {
			t.values[i] = prev.values[j]
			continue
		}
		v, err := open(n.clone())
		if err != nil {
			return nil, &BindError[T]{opened, &NodeError{i, n.Name, err}}
		}
		opened = append(opened, v)
		t.values[i] = boundValue[T]{v, new(opening)}
	}
	return t, nil
}

// Ring returns the ring of the table.
func (t *Table[T]) Ring() *Ring {
	if t.ring == nil {
		return &emptyRing
	}
	return t.ring
}

// Get returns the value of the node that owns key. ok is false if and only if the ring has no tokens. It costs what
// [Ring.Owner] does.
func (t *Table[T]) Get(key string) (value T, ok bool) {
	r := t.Ring()
	i := r.IndexAt(sumOf(r.hash, key))
	if i < 0 {
		return value, false
	}
	return t.values[i].value, true
}

// Replicas yields the nodes of [Ring.Replicas] with their values: the owner of key first, and then those to go to when
// it is down. It allocates as that does.
func (t *Table[T]) Replicas(key string) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		r := t.Ring()
		for i := range r.WalkAt(sumOf(r.hash, key)) {
			if !yield(r.names[i], t.values[i].value) {
				return
			}
		}
	}
}

// At returns the value of the node with index i in the table's ring, for use with the methods of [Ring] that give
// indexes, as [Ring.SpreadAt]. It panics if there is none.
func (t *Table[T]) At(i int) T { return t.values[i].value }

// Value returns the value of the node called name. ok is false if there is no such node. It costs O(log N).
func (t *Table[T]) Value(name string) (value T, ok bool) {
	i, ok := t.Ring().find(name)
	if !ok {
		return value, false
	}
	return t.values[i].value, true
}

// All yields all nodes with their values, by index.
func (t *Table[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for i, v := range t.values {
			if !yield(t.ring.names[i], v.value) {
				return
			}
		}
	}
}

// With returns the table with another value for the node called name: for a node whose ring is the same, but not what
// the value was made of, as when its address has changed. ok is false if there is no such node. It costs O(N).
func (t *Table[T]) With(name string, value T) (next *Table[T], ok bool) {
	i, ok := t.Ring().find(name)
	if !ok {
		return nil, false
	}
	next = &Table[T]{t.ring, slices.Clone(t.values)}
	next.values[i] = boundValue[T]{value, new(opening)}
	return next, true
}

// Gone yields the nodes and values of t that next does not have, by index: those of nodes that left, and those that
// [Table.With] replaced. See [Table] for when to close them. It costs O(N log N).
func (t *Table[T]) Gone(next *Table[T]) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for i, v := range t.values {
			j, ok := next.Ring().find(t.ring.names[i])
			if ok && next.values[j].of == v.of {
				continue
			}
			if !yield(t.ring.names[i], v.value) {
				return
			}
		}
	}
}
