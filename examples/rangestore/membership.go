package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Join adds a node that takes the first half of the largest range.
func (s *Store) Join(name string) (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.ring.SplitLargest()
	if !ok { // the first node owns the whole circle, wherever its token is
		token = math.MaxUint64
	}
	return s.join(name, token)
}

// Relieve adds a node that takes the first half of the range of the node that owns most items.
func (s *Store) Relieve(name string) (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	loads, _ := s.byLoad()
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

// Rebalance moves one token: that of the busiest node, back to where it owns the mean, rounded up. The items behind go
// to the next node clockwise, which may then be the busiest, and give in its turn. (Items at one position stay together,
// so a node may have to keep more. It is passed over if it has nothing else to give.)
//
// Where no node can give, a call changes nothing. That is so after N(N-1)/2 calls at most for N nodes: none gives twice
// but for what it was given in between, and one never gives, since a node that has given still owns the mean.
func (s *Store) Rebalance() (Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	loads, sum := s.byLoad()
	for _, busy := range loads {
		mean := (sum + len(loads) - 1) / len(loads)
		if busy.load <= mean {
			break
		}
		own := slices.Concat(s.owned(busy.name)...)
		token := own[mean-1].pos // of the last item that stays
		if token == own[len(own)-1].pos {
			continue
		}
		next, err := s.ring.With(hashring.Node{Name: busy.name, Tokens: []uint64{token}})
		if err != nil {
			return Moved{}, err
		}
		return s.moveTo(next)
	}
	return Moved{Change: hashring.Change{Old: s.ring, New: s.ring}}, nil
}
