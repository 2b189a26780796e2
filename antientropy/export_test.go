package antientropy

import "unsafe"

// Bytes returns the memory of the nodes and items that s holds beside itself.
func Bytes(s *Set) int { return s.root.bytes() }

func (n *node) bytes() int {
	size := cap(n.items) * int(unsafe.Sizeof(Item{}))
	if n.quarters != nil {
		size += int(unsafe.Sizeof(*n.quarters))
		for i := range n.quarters {
			size += n.quarters[i].bytes()
		}
	}
	return size
}
