package bench

import (
	"sort"

	"github.com/cespare/xxhash/v2"
)

// sortSearchPeer is hashring's own tokens in the way that most libraries search theirs, with no map behind it.
var sortSearchPeer = peer{name: "sort.Search", kind: yardstick, make: newSortSearch}

type sortSearch struct {
	tokens []uint64
	owners []int
	names  []string
}

func newSortSearch(nodes []string) placer {
	s := new(sortSearch)
	r := newRing(nodes)
	for token, node := range r.TokensFrom(0) {
		s.tokens, s.owners = append(s.tokens, token), append(s.owners, node)
	}
	for _, node := range r.Nodes() {
		s.names = append(s.names, node.Name)
	}
	return s
}

func (s *sortSearch) Owner(key string) string {
	pos := xxhash.Sum64String(key)
	i := sort.Search(len(s.tokens), func(i int) bool { return s.tokens[i] >= pos })
	if i == len(s.tokens) {
		i = 0
	}
	return s.names[s.owners[i]]
}
