package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Join adds a node that takes the first half of the largest range.
func (s *Store) Join(name string) (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.ring.SplitLargest()
	if !ok { // the first node owns the whole circle, wherever its token is
		token = 0
	}
	return s.join(name, token)
}

// Relieve adds a node that takes the first half of the range of the node that owns most items.
func (s *Store) Relieve(name string) (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	loads := s.byLoad()
	if len(loads) == 0 {
		return Moved{}, fmt.Errorf("join %q: there is no node to relieve", name)
	}
	token, ok := s.ring.SplitLargestOf(loads[0].name)
	if !ok {
		return Moved{}, fmt.Errorf("join %q: the range of %q is a single position", name, loads[0].name)
	}
	return s.join(name, token)
}

func (s *Store) join(name string, token uint64) (Moved, error) {
	if s.nodes[name] != nil { // With would move its token
		return Moved{}, fmt.Errorf("join %q: there is such a node", name)
	}
	next, err := s.ring.With(hashring.Node{Name: name, Tokens: []uint64{token}})
	if err != nil {
		return Moved{}, err
	}
	return s.moveTo(next)
}

// Remove removes nodes. Their ranges go to the next ones clockwise, and so do their items: from themselves if need be,
// or from those that have the other copies if they are down. The last node that is up stays.
func (s *Store) Remove(names ...string) (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	up := false // one of names is
	for _, name := range names {
		n := s.nodes[name]
		if n == nil {
			return Moved{}, fmt.Errorf("remove %q: there is no such node", name)
		}
		up = up || !n.down
	}
	next, err := s.ring.Without(names...)
	if err != nil {
		return Moved{}, err
	}
	if next.NumTokens() == 0 && up {
		return Moved{}, errors.New("remove: no node would be left to take the items")
	}
	return s.moveTo(next)
}

// Rebalance moves one token: that of the busiest node whose next node clockwise owns fewer items. It moves back, so that
// the items behind it go to that next node, and both own as many. Calls repeated end at a balance as near as can be, and
// then change nothing.
func (s *Store) Rebalance() (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, from := range s.byLoad() {
		n, _ := s.ring.Node(from.name)
		to, _ := s.ring.OwnerAt(n.Tokens[0] + 1)
		surplus := (from.load - s.load(to)) / 2
		if surplus <= 0 {
			continue
		}
		parts := s.owned(from.name)
		own := slices.Concat(parts[:]...)
		n.Tokens[0] = own[len(own)-1-surplus].pos // of the last item that stays
		if n.Tokens[0] == own[len(own)-1].pos {
			continue // all those behind it are at one position, and go together
		}
		next, err := s.ring.With(n)
		if err != nil {
			return Moved{}, err
		}
		return s.moveTo(next)
	}
	return Moved{Change: hashring.Change{Old: s.ring, New: s.ring}}, nil
}
