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

// bounds returns where the items after a.After and those after a.Through begin.
func (s shelf) bounds(a hashring.Range) (from, to int) {
	after := func(pos uint64) int { return sort.Search(len(s), func(i int) bool { return s[i].pos > pos }) }
	return after(a.After), after(a.Through)
}

// in returns the items in a, clockwise. They are two parts of s if a goes round the end of the circle, or is all of it.
func (s shelf) in(a hashring.Range) (parts [2][]item) {
	from, to := s.bounds(a)
	if a.After < a.Through {
		parts[0] = s[from:to]
	} else {
		parts[0], parts[1] = s[from:], s[:to]
	}
	return parts
}

// count returns how many items are in a.
func (s shelf) count(a hashring.Range) int {
	parts := s.in(a)
	return len(parts[0]) + len(parts[1])
}

// add adds the items of a range, from another node's shelf, and returns how many there are. A node has nothing yet in a
// range that it gains, so each part goes in as a whole.
func (s *shelf) add(parts [2][]item) int {
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
	from, to := s.bounds(a)
	if a.After < a.Through {
		*s = slices.Delete(*s, from, to)
	} else {
		*s = slices.Delete(slices.Delete(*s, from, len(*s)), 0, to)
	}
	return before - len(*s)
}
