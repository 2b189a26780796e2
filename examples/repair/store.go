package main

import (
	"strconv"
	"sync"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
)

// Entry is what a replica holds of a key: the last write that reached it. A deletion is a write like any other, and its
// entry, the tombstone, stays: without it a replica that missed the deletion could not be told from one that has seen a
// new key, and repair would bring the key back.
type Entry struct {
	Key     string
	Value   string `json:",omitempty"`
	Deleted bool   `json:",omitempty"`
	Version uint64 // of two writes of a key the higher is the later one
}

// Store is the data of one node: entries by the position of their key, and a set that says of each position what is there.
type Store struct {
	mu  sync.Mutex
	at  map[uint64][]Entry // nearly always one entry; two keys may have one position
	set antientropy.Set
}

func NewStore() *Store { return &Store{at: make(map[uint64][]Entry)} }

// Set is what other replicas compare theirs with.
func (s *Store) Set() *antientropy.Set { return &s.set }

// Apply takes e, whose key is at pos, unless what the store has of the key is as new, and reports whether it did. The set
// follows under the same lock, so that it never says what is not so.
func (s *Store) Apply(pos uint64, e Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.at[pos]
	i := 0
	for i < len(entries) && entries[i].Key != e.Key {
		i++
	}
	switch {
	case i == len(entries):
		s.at[pos] = append(entries, e)
	case entries[i].Version >= e.Version:
		return false
	default:
		entries[i] = e
	}
	s.set.Put(pos, digest(s.at[pos]))
	return true
}

// digest returns the digest of the entries at one position: the sum, so that their order makes no difference.
func digest(entries []Entry) (sum uint64) {
	for _, e := range entries {
		sum += hashring.XXH64.Sum64(strconv.FormatUint(e.Version, 10) + " " + e.Key)
	}
	return sum
}

// Get returns what the store has of key, which is at pos. ok is false if it has nothing, not even a tombstone.
func (s *Store) Get(pos uint64, key string) (e Entry, ok bool) {
	for _, e := range s.At(pos) {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// At returns the entries at the given positions.
func (s *Store) At(positions ...uint64) (entries []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pos := range positions {
		entries = append(entries, s.at[pos]...)
	}
	return entries
}

// Drop removes all that is in a, of which the node is no replica any longer.
func (s *Store) Drop(a hashring.Range) (n int) {
	for it := range s.set.Items(a) {
		s.mu.Lock()
		n += len(s.at[it.Position])
		delete(s.at, it.Position)
		s.set.Delete(it.Position)
		s.mu.Unlock()
	}
	return n
}
