package main

import (
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Moved is what a change of the ring did to the items. Old and New are the same ring if it changed nothing.
type Moved struct {
	hashring.Change
	Handed  []Handed         // what has another owner
	Copied  []Copied         // what a node was sent that had it not
	Dropped []Dropped        // what a node threw away that is not to have it any more
	Lost    []hashring.Range // of which all copies have died: what was there is nowhere now
}

// Handed is a range that has another owner now, and how many items are there.
type Handed struct {
	hashring.Move
	Items int
}

// Copied is a range whose items, so many, went from one node to another.
type Copied struct {
	hashring.Range
	From, To string
	Items    int
}

// Dropped is a range of which a node threw its items away, so many.
type Dropped struct {
	hashring.Range
	Node  string
	Items int
}

// moveTo makes next the ring and moves the items to where it wants them: by what [hashring.DiffReplicas] says, and by
// nothing else. No item outside of those ranges is looked at. On an error nothing has changed.
func (s *Store) moveTo(next *hashring.Ring) (Moved, error) {
	moved := Moved{Change: hashring.Change{Old: s.ring, New: next}}
	for _, n := range next.Nodes() { // any of them may have to take items
		if held := s.nodes[n.Name]; held != nil && held.down {
			return Moved{}, fmt.Errorf("%q is down and has to be removed first", n.Name)
		}
	}
	holders, err := hashring.DiffReplicas(s.ring, next, copies, copies)
	if err != nil {
		return Moved{}, err
	}
	owners, err := hashring.Diff(s.ring, next)
	if err != nil {
		return Moved{}, err
	}

	for _, n := range next.Nodes() {
		if s.nodes[n.Name] == nil {
			s.nodes[n.Name] = new(node)
		}
	}
	for m := range holders {
		had := m.Sources()
		i := slices.IndexFunc(had, func(name string) bool { return !s.nodes[name].down })
		if i >= 0 {
			from := s.nodes[had[i]]
			for _, name := range m.Gained {
				moved.Copied = append(moved.Copied, Copied{m.Range, had[i], name, s.nodes[name].add(from.in(m.Range))})
			}
		} else if len(had) > 0 {
			moved.Lost = append(moved.Lost, m.Range)
		}
		for _, name := range m.Lost {
			moved.Dropped = append(moved.Dropped, Dropped{m.Range, name, s.nodes[name].drop(m.Range)})
		}
	}
	for _, n := range s.ring.Nodes() {
		if _, stays := next.Node(n.Name); !stays {
			delete(s.nodes, n.Name)
		}
	}
	s.ring = next
	for m := range owners {
		h := Handed{Move: m}
		if m.To != "" {
			h.Items = s.nodes[m.To].count(m.Range)
		}
		moved.Handed = append(moved.Handed, h)
	}
	return moved, nil
}
