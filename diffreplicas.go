package hashring

import (
	"iter"
	"math"
	"slices"
)

// ReplicaMove is a range of the circle that has another set of replicas in one ring than in another. Each node of either
// set is in one of the four lists, which are in the order of names.
type ReplicaMove struct {
	Range
	Gained   []string // are replicas in the new ring only: they need the range's data
	Kept     []string // are replicas in both: the sources to copy from
	Lost     []string // were replicas, and are in the new ring but not for the range: further sources, which may delete it then
	Departed []string // were replicas, and are not in the new ring: sources too, while they can be reached
}

// Sources returns the nodes that have the range's data: those in Kept, then in Lost, then in Departed.
func (m ReplicaMove) Sources() []string { return slices.Concat(m.Kept, m.Lost, m.Departed) }

// DiffReplicas yields the ranges whose set of replicas changes from policy from in the ring old to policy to in the ring
// new: each as long as it can be, clockwise, the one that goes round the end of the circle last. Either the rings or the
// policies may be the same: more replicas, or Spread turned on, is a change like any other. Which node of a set is the
// owner makes no difference here; [Diff] tells that.
//
// The error is [ErrHash], as from Diff. It costs O(T*n) for n replicas, spent before the first range is yielded, and takes
// memory for all ranges.
func DiffReplicas(old, new *Ring, from, to Policy) (iter.Seq[ReplicaMove], error) {
	if err := samePositions(old, new); err != nil {
		return nil, err
	}
	return func(yield func(ReplicaMove) bool) {
		d := newReplicaDiff(old, new)
		d.sweep(newSweep(old, from), newSweep(new, to))
		for _, m := range d.clockwise() {
			if !yield(d.move(m)) {
				return
			}
		}
	}, nil
}

// replicaDiff collects what changes between two rings. A node has one number in both: its place in the order of names.
type replicaDiff struct {
	names    []string
	old, new []uint64    // by index in the ring, the number
	member   []bool      // by number, of the new ring
	in       []uint64    // by number, which of two sets the node is in: 0 between calls of add
	sets     []uint64    // scratch of add
	changes  []setChange // counterclockwise
}

// setChange is a range with the nodes of its two sets, ascending: each is its number times 4, plus inOld, inNew or both.
type setChange struct {
	Range
	sets []uint64
}

const inOld, inNew = 1, 2

func newReplicaDiff(old, new *Ring) *replicaDiff {
	d := &replicaDiff{names: slices.Concat(old.names, new.names)}
	slices.Sort(d.names)
	d.names = slices.Compact(d.names)
	d.member, d.in = make([]bool, len(d.names)), make([]uint64, len(d.names))
	number := func(names []string) []uint64 {
		numbers := make([]uint64, len(names))
		for i, name := range names {
			n, _ := slices.BinarySearch(d.names, name)
			numbers[i] = uint64(n)
		}
		return numbers
	}
	d.old, d.new = number(old.names), number(new.names)
	for _, n := range d.new {
		d.member[n] = true
	}
	return d
}

// sweep adds what changes from old to new, from the end of the circle to its start.
func (d *replicaDiff) sweep(old, new *sweep) {
	for a := (Range{Through: math.MaxUint64}); ; a.Through = a.After {
		old.passTo(a.Through)
		new.passTo(a.Through)
		t, more := old.next()
		u, also := new.next()
		a.After = max(t, u)
		if !more && !also { // the rest is [0, Through]
			a.After = math.MaxUint64
			d.add(a, old.held, new.held)
			return
		}
		d.add(a, old.held, new.held)
	}
}

// add adds a if its set changes. If the range that was added last has the same change, that is made longer.
func (d *replicaDiff) add(a Range, old, new []met) {
	d.sets = d.sets[:0]
	for _, m := range old {
		d.in[d.old[m.node]] = inOld
	}
	changed := len(old) != len(new)
	for _, m := range new {
		n := d.new[m.node]
		if d.in[n] == 0 {
			d.sets = append(d.sets, n*4|inNew)
			changed = true
		}
		d.in[n] |= inNew
	}
	for _, m := range old {
		n := d.old[m.node]
		d.sets = append(d.sets, n*4|d.in[n])
	}
	for _, both := range d.sets {
		d.in[both/4] = 0
	}
	if !changed {
		return
	}
	slices.Sort(d.sets)
	if n := len(d.changes); n > 0 {
		if last := &d.changes[n-1]; last.After == a.Through && slices.Equal(last.sets, d.sets) {
			last.After = a.After
			return
		}
	}
	d.changes = append(d.changes, setChange{a, slices.Clone(d.sets)})
}

// clockwise returns the changes in the order in which they are yielded. What the sweep began and ended with may be two
// parts of one range that goes round the end of the circle.
func (d *replicaDiff) clockwise() []setChange {
	slices.Reverse(d.changes)
	n := len(d.changes)
	if n < 2 || d.changes[0].After != math.MaxUint64 {
		return d.changes
	}
	head, last := d.changes[0], &d.changes[n-1]
	if last.Through == math.MaxUint64 && slices.Equal(head.sets, last.sets) {
		last.Through = head.Through
		return d.changes[1:]
	}
	return append(d.changes[1:], head)
}

// move returns c with the names of nodes.
func (d *replicaDiff) move(c setChange) ReplicaMove {
	m := ReplicaMove{Range: c.Range}
	for _, s := range c.sets {
		list, n := &m.Kept, s/4
		switch {
		case s%4 == inNew:
			list = &m.Gained
		case s%4 == inOld && d.member[n]:
			list = &m.Lost
		case s%4 == inOld:
			list = &m.Departed
		}
		*list = append(*list, d.names[n])
	}
	return m
}
