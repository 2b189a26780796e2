package antientropy

import (
	"cmp"
	"slices"
)

// node is a node of the radix tree over positions: the root spans the circle, and an inner node's halves span the two
// halves of what it spans. A leaf holds its items in order. Every node knows the sum of the terms of its items and their
// number, so what lies up to a position is added up on the way down to it:
//
//	                  sum of all
//	          0...              1...
//	      00..    01..      10..    11..
//	                          ▲
//	upTo(1010) =  0...  +  the items of 10.. up to 1010
//
// Positions are hashes, hence spread evenly, so the tree is about log2(n/maxLeaf) deep and needs no rebalancing. Where
// they are not, it is deeper, but never deeper than a position has bits.
type node struct {
	summary
	half  *[2]node // nil in a leaf
	items []Item   // of a leaf, ascending by position
}

const (
	maxLeaf  = 48          // a leaf with more items is split
	minInner = maxLeaf / 2 // an inner node with no more becomes a leaf. Far from maxLeaf, lest it be split at once again
	step     = 8           // leaves grow by so many items: 128 bytes, of which each multiple is a size that is allocated
)

func (s *summary) add(fingerprint uint64, n int) {
	s.fingerprint += fingerprint
	s.n += n
}

// bit returns which half of a node at depth pos is in.
func bit(pos uint64, depth int) int { return int(pos >> (63 - depth) & 1) }

// put puts it into the tree under n, and returns what that adds to the sum and the number of n's items.
func (n *node) put(it Item, depth int) (sum uint64, added int) {
	switch {
	case n.half != nil:
		sum, added = n.half[bit(it.Position, depth)].put(it, depth+1)
	default:
		i, found := search(n.items, it.Position)
		if found {
			sum = it.term() - n.items[i].term()
			n.items[i] = it
			break
		}
		if len(n.items) == maxLeaf { // of one position there is one item, so a leaf at the full depth is never split
			n.split(depth)
			return n.put(it, depth)
		}
		if len(n.items) == cap(n.items) {
			n.items = resized(n.items)
		}
		n.items = slices.Insert(n.items, i, it)
		sum, added = it.term(), 1
	}
	n.add(sum, added)
	return sum, added
}

// split makes the leaf n an inner node with two leaves.
func (n *node) split(depth int) {
	mid, _ := slices.BinarySearchFunc(n.items, 1, func(it Item, half int) int { return bit(it.Position, depth) - half })
	n.half = new([2]node)
	for i, items := range [2][]Item{n.items[:mid], n.items[mid:]} {
		half := &n.half[i]
		half.items = resized(items)
		for _, it := range items {
			half.add(it.term(), 1)
		}
	}
	n.items = nil
}

// remove removes the item at pos from the tree under n, and returns what it had added to the sum.
func (n *node) remove(pos uint64, depth int) (sum uint64, ok bool) {
	if n.half != nil {
		sum, ok = n.half[bit(pos, depth)].remove(pos, depth+1)
	} else if i, found := search(n.items, pos); found {
		sum, ok = n.items[i].term(), true
		n.items = slices.Delete(n.items, i, i+1)
		if cap(n.items)-len(n.items) >= 2*step {
			n.items = resized(n.items)
		}
	}
	if !ok {
		return 0, false
	}
	n.add(-sum, -1)
	if n.half != nil && n.n <= minInner {
		n.items = resized(n.appendTo(nil, 0, 0, 1<<64-1, depth, n.n))
		n.half = nil
	}
	return sum, true
}

// upTo returns the summary of the items at positions up to pos and at it.
func (n *node) upTo(pos uint64) (sum summary) {
	for depth := 0; n.half != nil; depth++ {
		i := bit(pos, depth)
		if i == 1 {
			sum.add(n.half[0].fingerprint, n.half[0].n)
		}
		n = &n.half[i]
	}
	for _, it := range n.items {
		if it.Position > pos {
			break
		}
		sum.add(it.term(), 1)
	}
	return sum
}

// appendTo appends the items of n from position low to high to dst, both included, until dst has max of them. The first
// position that n spans is start.
func (n *node) appendTo(dst []Item, start, low, high uint64, depth, max int) []Item {
	if n.half != nil {
		mid := start + 1<<(63-depth)
		if low < mid && len(dst) < max {
			dst = n.half[0].appendTo(dst, start, low, high, depth+1, max)
		}
		if high >= mid && len(dst) < max {
			dst = n.half[1].appendTo(dst, mid, low, high, depth+1, max)
		}
		return dst
	}
	i, _ := search(n.items, low)
	for ; i < len(n.items) && n.items[i].Position <= high && len(dst) < max; i++ {
		dst = append(dst, n.items[i])
	}
	return dst
}

// search returns the place of the item at pos in items, or where it would be.
func search(items []Item, pos uint64) (int, bool) {
	return slices.BinarySearchFunc(items, pos, func(it Item, pos uint64) int { return cmp.Compare(it.Position, pos) })
}

// resized returns a copy of items with room for a few more.
func resized(items []Item) []Item {
	return append(make([]Item, 0, (len(items)+step)/step*step), items...)
}
