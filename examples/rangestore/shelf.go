package main

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/clockwise-go/hashring"
)

// item is a key with its value, and the position that the ring gives the key.
type item struct {
	pos        uint64
	key, value string
}

// shelf is the items of one node, by position and those of one position by key. So to find the items of a range takes
// two binary searches, and nothing else is looked at.
type shelf []item

// find returns where the item with this position and key is, or would be.
func (s shelf) find(pos uint64, key string) (int, bool) {
	return slices.BinarySearchFunc(s, item{pos: pos, key: key}, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), strings.Compare(a.key, b.key))
	})
}

func (s shelf) get(pos uint64, key string) (string, bool) {
	i, ok := s.find(pos, key)
	if !ok {
		return "", false
	}
	return s[i].value, true
}

// put adds it, or replaces the item of the same key.
func (s *shelf) put(it item) {
	i, ok := s.find(it.pos, it.key)
	if ok {
		(*s)[i] = it
		return
	}
	*s = slices.Insert(*s, i, it)
}

// bounds returns where the items from first through last begin and end.
func (s shelf) bounds(first, last uint64) (from, to int) {
	from = sort.Search(len(s), func(i int) bool { return s[i].pos >= first })
	to = sort.Search(len(s), func(i int) bool { return s[i].pos > last })
	return from, to
}

// in returns the items in a, clockwise: as parts of s, two if a goes round the end of the circle.
func (s shelf) in(a hashring.Range) (parts [][]item) {
	for first, last := range a.Intervals() {
		from, to := s.bounds(first, last)
		parts = append(parts, s[from:to])
	}
	return parts
}

// count returns how many items are in a.
func (s shelf) count(a hashring.Range) (n int) {
	for _, part := range s.in(a) {
		n += len(part)
	}
	return n
}

// add adds the items of a range, from another node's shelf, and returns how many there are. A node has nothing yet in a
// range that it gains, so each part goes in as a whole.
func (s *shelf) add(parts [][]item) int {
	before := len(*s)
	for _, part := range parts {
		if len(part) > 0 {
			i, _ := s.find(part[0].pos, part[0].key)
			*s = slices.Insert(*s, i, part...)
		}
	}
	return len(*s) - before
}

// drop removes the items in a and returns how many there were.
func (s *shelf) drop(a hashring.Range) int {
	before := len(*s)
	for first, last := range a.Intervals() { // the second lies before the first, which does not move it
		from, to := s.bounds(first, last)
		*s = slices.Delete(*s, from, to)
	}
	return before - len(*s)
}
