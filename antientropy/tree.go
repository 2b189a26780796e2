package antientropy

import (
	"iter"

	"github.com/clockwise-go/hashring"
)

// TreeNode is a node of a [Set] seen as a Merkle tree. The node at some depth and index spans the positions whose first
// depth bits are the number index:
//
//	depth 0                     0                       the root: the circle
//	depth 1             0               1
//	depth 2         0       1       2       3
//
// A node with few items is a bucket, where the tree ends: the next to compare are its items. The tree follows from the
// items alone, and not from how they came to be in the set, so two peers that hold the same have the same tree.
type TreeNode struct {
	Depth  int
	Index  uint64
	Range  hashring.Range // what it spans
	Hash   uint64         // the fingerprint of Range
	Len    int            // items in Range
	Bucket bool           // Len is at most 32: it is not split
}

// maxDepth is where a node spans one position.
const maxDepth = 64

// TreeNode returns the node at depth and index, or false if there is none: a depth that is not between 0 and 64, or an
// index of more than depth bits. The nodes below it are (depth+1, 2*index) and (depth+1, 2*index+1); their hashes add up
// to its own, modulo 2^64, as their lengths do, so its hash tells all that a hash of theirs would. (It is the sum, rather
// than a hash, because then ranges which are no nodes have fingerprints too.) The cost is that of Fingerprint.
//
// Two peers that walk their trees from the root down, into the nodes whose hashes differ, end at the buckets that differ.
// [Compare] does the same in steps of four levels, over any ranges.
func (s *Set) TreeNode(depth int, index uint64) (n TreeNode, ok bool) {
	if depth < 0 || depth > maxDepth || index>>depth > 0 {
		return TreeNode{}, false
	}
	n = TreeNode{Depth: depth, Index: index}
	if depth > 0 {
		first := index << (maxDepth - depth)
		n.Range = hashring.Range{After: first - 1, Through: first + (1<<(maxDepth-depth) - 1)}
	}
	n.Hash, n.Len = s.Fingerprint(n.Range)
	n.Bucket = n.Len <= fewItems
	return n, true
}

// TreeNodes yields the nodes of the tree from the root down to the buckets, each before those below it, which come in
// the order of their positions. It takes the lock for one node at a time, so of a set that changes meanwhile the nodes
// need not add up.
func (s *Set) TreeNodes() iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) { s.walk(0, 0, yield) }
}

// walk yields the tree under a node, and reports whether to go on.
func (s *Set) walk(depth int, index uint64, yield func(TreeNode) bool) bool {
	n, _ := s.TreeNode(depth, index)
	return yield(n) && (n.Bucket || s.walk(depth+1, 2*index, yield) && s.walk(depth+1, 2*index+1, yield))
}
