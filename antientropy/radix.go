package antientropy

import "slices"

// node is a node of the radix tree over positions: the root spans the circle, and the quarters of an inner node span the
// quarters of what it spans. A leaf holds its items in order. Every node knows the summary of what is under it, so what
// lies up to a position is added up on the way down to it:
//
//	                        all
//	    0...        1...        2...        3...
//	                        20..  21..  22..  23..
//	                               ▲
//	upTo(2130) =  0...  +  1...  +  20..  +  the items of 21.. up to 2130
//
// Positions are hashes, hence spread evenly, so the tree is about log4(n/maxLeaf) deep and needs no rebalancing. Where
// they are not, it is deeper, but never deeper than a position has digits.
type node struct {
	summary
	quarters *[4]node // nil in a leaf
	items    []Item   // of a leaf, ascending by position
}

// summary is what there is to say of items: the sum of their terms, and their number.
type summary struct {
	fingerprint uint64
	n           int
}

func (s *summary) add(fingerprint uint64, n int) {
	s.fingerprint += fingerprint
	s.n += n
}

const (
	maxLeaf  = 64          // a leaf with more items is split
	minInner = maxLeaf / 2 // an inner node with no more becomes a leaf. Far from maxLeaf, lest it be split at once again
	step     = 4           // leaves grow by so many items: 64 bytes, nearly each multiple of which is a size of the allocator's
)

// shift returns how far down the digit of a position is that tells in which quarter of a node at depth it is.
func shift(depth int) int { return 62 - 2*depth }

func digit(pos uint64, depth int) int { return int(pos >> shift(depth) & 3) }

// put puts it into the tree under n, and returns what that adds to the fingerprint and the number of n's items.
func (n *node) put(it Item, depth int) (fingerprint uint64, added int) {
	if n.quarters != nil {
		fingerprint, added = n.quarters[digit(it.Position, depth)].put(it, depth+1)
	} else if i, found := search(n.items, it.Position); found {
		fingerprint = it.term() - n.items[i].term()
		n.items[i] = it
	} else if len(n.items) == maxLeaf { // which no leaf is that spans a single position
		n.split(depth)
		return n.put(it, depth)
	} else {
		if len(n.items) == cap(n.items) {
			n.items = resized(n.items)
		}
		n.items = slices.Insert(n.items, i, it)
		fingerprint, added = it.term(), 1
	}
	n.add(fingerprint, added)
	return fingerprint, added
}

// split makes the leaf n an inner node.
func (n *node) split(depth int) {
	n.quarters = new([4]node)
	for rest := n.items; len(rest) > 0; {
		i, end := digit(rest[0].Position, depth), 0
		q := &n.quarters[i]
		for end < len(rest) && digit(rest[end].Position, depth) == i {
			q.add(rest[end].term(), 1)
			end++
		}
		q.items, rest = resized(rest[:end]), rest[end:]
	}
	n.items = nil
}

// remove removes the item at pos from the tree under n, and returns what it had added to the fingerprint.
func (n *node) remove(pos uint64, depth int) (fingerprint uint64, ok bool) {
	if n.quarters != nil {
		fingerprint, ok = n.quarters[digit(pos, depth)].remove(pos, depth+1)
	} else if i, found := search(n.items, pos); found {
		fingerprint, ok = n.items[i].term(), true
		n.items = slices.Delete(n.items, i, i+1)
		if cap(n.items)-len(n.items) >= 3*step {
			n.items = resized(n.items)
		}
	}
	if !ok {
		return 0, false
	}
	n.add(-fingerprint, -1)
	if n.quarters != nil && n.n <= minInner {
		n.items = resized(n.appendTo(nil, 0, 1<<64-1, 0, depth, n.n))
		n.quarters = nil
	}
	return fingerprint, true
}

// upTo returns the summary of the items at positions up to pos and at it.
func (n *node) upTo(pos uint64) (s summary) {
	for depth := 0; n.quarters != nil; depth++ {
		d := digit(pos, depth)
		for i := range n.quarters[:d] {
			s.add(n.quarters[i].fingerprint, n.quarters[i].n)
		}
		n = &n.quarters[d]
	}
	i, found := search(n.items, pos)
	if found {
		i++
	}
	if i <= len(n.items)/2 {
		for _, it := range n.items[:i] {
			s.add(it.term(), 1)
		}
		return s
	}
	s.add(n.fingerprint, n.n)
	for _, it := range n.items[i:] {
		s.add(-it.term(), -1)
	}
	return s
}

// appendTo appends the items of n from position low to high to dst, both included, until dst has max of them. The first
// position that n spans is start.
func (n *node) appendTo(dst []Item, low, high, start uint64, depth, max int) []Item {
	if n.quarters != nil {
		for i := range n.quarters {
			first := start + uint64(i)<<shift(depth)
			last := first + (1<<shift(depth) - 1)
			if low <= last && first <= high && len(dst) < max {
				dst = n.quarters[i].appendTo(dst, low, high, first, depth+1, max)
			}
		}
		return dst
	}
	i, _ := search(n.items, low)
	for ; i < len(n.items) && n.items[i].Position <= high && len(dst) < max; i++ {
		dst = append(dst, n.items[i])
	}
	return dst
}

// search returns the place of the item at pos in items, of a leaf, or where it would be. It looks at one after the other,
// since memory is fetched ahead for that: by halves, it would wait for each of several cache lines.
func search(items []Item, pos uint64) (i int, found bool) {
	for i < len(items) && items[i].Position < pos {
		i++
	}
	return i, i < len(items) && items[i].Position == pos
}

// resized returns a copy of items with room for a few more, up to a multiple of step.
func resized(items []Item) []Item {
	return append(make([]Item, 0, (len(items)+step)/step*step), items...)
}
