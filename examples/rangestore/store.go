package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/clockwise-go/hashring"
)

// copies is where each item is: on its owner and on the next node clockwise, so that either may die.
var copies = hashring.Policy{N: 2}

var (
	ErrNotFound    = errors.New("there is no such item")
	ErrUnavailable = errors.New("no node that should have it is up")
)

// Store is a key-value store over several nodes. Each node has one token, which somebody chose, and owns the range from
// the token before it through its own; each item is on the two nodes that the ring names. All methods may be called from
// any number of goroutines.
//
// Its nodes are in this process, and a change of the ring holds up everything else until the items have moved. A store
// whose nodes are elsewhere goes on serving meanwhile: [hashring.Transition] says in which steps.
type Store struct {
	mu    sync.RWMutex
	ring  *hashring.Ring
	nodes map[string]*node // those of the ring
}

type node struct {
	shelf
	down bool // it has died, and its items with it
}

// NewStore returns a store without nodes, which cannot hold anything yet.
func NewStore() *Store {
	return &Store{ring: new(hashring.Ring), nodes: make(map[string]*node)}
}

// Put stores value under key, on all nodes that should have it and are up. If there is none, the error is
// [ErrUnavailable].
func (s *Store) Put(key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := item{s.ring.Position(key), key, value}
	up := s.up(it.pos)
	if len(up) == 0 {
		return fmt.Errorf("put %q: %w", key, ErrUnavailable)
	}
	for _, n := range up {
		n.put(it)
	}
	return nil
}

// Get returns what was put under key last. The error is [ErrNotFound], or [ErrUnavailable] if nobody is left to ask.
func (s *Store) Get(key string) (value string, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	pos := s.ring.Position(key)
	up := s.up(pos)
	if len(up) == 0 {
		return "", fmt.Errorf("get %q: %w", key, ErrUnavailable)
	}
	value, ok := up[0].get(pos, key) // the others have the same
	if !ok {
		return "", fmt.Errorf("get %q: %w", key, ErrNotFound)
	}
	return value, nil
}

// up returns the nodes that should have the items at pos and are up, the owner first.
func (s *Store) up(pos uint64) []*node {
	var up []*node
	for _, i := range copies.AppendAt(nil, s.ring, pos) {
		if n := s.nodes[s.ring.Name(i)]; !n.down {
			up = append(up, n)
		}
	}
	return up
}

// Kill ends a node as a crash does: its items are gone, and the ring is not told. Until it is removed, what it had is on
// one other node only, so should that die too, it is lost.
func (s *Store) Kill(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[name]
	if n == nil {
		return fmt.Errorf("kill %q: there is no such node", name)
	}
	n.shelf, n.down = nil, true
	return nil
}
