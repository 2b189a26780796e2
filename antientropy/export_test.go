package antientropy

import "unsafe"

// Bytes returns the memory of the nodes and items that s holds beside itself.
func Bytes(s *Set) int { return s.root.bytes() }

func (n *node) bytes() int {
	size := cap(n.items) * int(unsafe.Sizeof(Item{}))
	if n.half != nil {
		size += int(unsafe.Sizeof(*n.half)) + n.half[0].bytes() + n.half[1].bytes()
	}
	return size
}
