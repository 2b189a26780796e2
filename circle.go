package hashring

import (
	"cmp"
	"math"
	"slices"
)

// circle is the tokens of a ring, ready to be searched: see search.go. The zero circle has none.
type circle struct {
	tokens []uint64 // ascending, equal ones in the order of emission; then the sentinels
	owners []uint32 // owners[i] is the index of the node that holds tokens[i]; the first sentinel's is owners[0]
	index  []uint32 // by bucket, the place of the first token at or after its start; then the number of tokens
	shift  uint8    // the bucket of a position is its highest bits: pos >> shift
}

// gone stands for the index of a node that a ring does not have, or that has other tokens there.
const gone = math.MaxUint32

// len returns the number of tokens.
func (c *circle) len() int { return max(0, len(c.tokens)-sentinels) }

// newCircle returns a circle with room for n tokens, at least 1, and with the sentinels behind them.
func newCircle(n int) circle {
	c := circle{make([]uint64, n+sentinels), make([]uint32, n+1), nil, uint8(64 - bucketBits(n))}
	for i := range sentinels {
		c.tokens[n+i] = math.MaxUint64
	}
	return c
}

// arrange returns the circle of tokens and their owners, equal ones in the order given.
//
// It is a bucket sort into the buckets of the index, which falls out of it: in O(n) where tokens are spread evenly.
// Where they crowd, a bucket is sorted by comparisons, so that the worst case is O(n log n).
func arrange(tokens []uint64, owners []uint32) circle {
	n := len(tokens)
	if n == 0 {
		return circle{}
	}
	if n > coarse {
		tokens, owners = group(tokens, owners)
	}
	c := newCircle(n)
	ends := make([]uint32, 1<<bucketBits(n)+2) // first the size of bucket b at b+2, then its start at b+1, at last its end
	for _, t := range tokens {
		ends[t>>(c.shift&63)+2]++
	}
	var crowds []int
	for b, size := range ends {
		if size > crowd {
			crowds = append(crowds, b-2)
		}
		if b > 0 {
			ends[b] += ends[b-1]
		}
	}
	for i, t := range tokens {
		place := &ends[t>>(c.shift&63)+1]
		c.tokens[*place], c.owners[*place] = t, owners[i]
		*place++
	}
	c.index = ends[:len(ends)-1]
	for _, b := range crowds {
		sortCrowd(c.tokens[c.index[b]:c.index[b+1]], c.owners[c.index[b]:c.index[b+1]])
	}
	for i := 1; i < n; i++ { // insertion sort: no token is farther from its place than its bucket is long
		t, o, j := c.tokens[i], c.owners[i], i
		if c.tokens[i-1] <= t {
			continue
		}
		for ; j > 0 && c.tokens[j-1] > t; j-- {
			c.tokens[j], c.owners[j] = c.tokens[j-1], c.owners[j-1]
		}
		c.tokens[j], c.owners[j] = t, o
	}
	c.owners[n] = c.owners[0]
	return c
}

const (
	crowd  = 32      // tokens of a bucket beyond which it is sorted by comparisons
	coarse = 1 << 18 // tokens beyond which they are grouped first: what is written to no longer fits a cache
)

// group returns tokens and their owners grouped by their highest bits, 12,000 to 25,000 to a group if they are spread
// evenly, and within a group in the order given. A bucket sort of that writes to one small part of memory after another.
func group(tokens []uint64, owners []uint32) ([]uint64, []uint32) {
	shift := 64 - bucketBits(len(tokens)>>15)
	ends := make([]int, 1<<(64-shift)+1)
	for _, t := range tokens {
		ends[t>>shift+1]++
	}
	for b := 1; b < len(ends); b++ {
		ends[b] += ends[b-1]
	}
	outT, outO := make([]uint64, len(tokens)), make([]uint32, len(tokens))
	for i, t := range tokens {
		place := &ends[t>>shift]
		outT[*place], outO[*place] = t, owners[i]
		*place++
	}
	return outT, outO
}

// sortCrowd sorts tokens with their owners, equal ones in the order given.
func sortCrowd(tokens []uint64, owners []uint32) {
	type held struct {
		token        uint64
		place, owner uint32
	}
	all := make([]held, len(tokens))
	for i, t := range tokens {
		all[i] = held{t, uint32(i), owners[i]}
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.place, b.place))
	})
	for i, h := range all {
		tokens[i], owners[i] = h.token, h.owner
	}
}

// merge returns the circle of old's tokens that are kept, so many of them, and of fresh's, which may have none. to says
// by index in old who owns a token now, or gone if it is not kept. Equal tokens are put in the order of their owners.
func merge(old circle, to []uint32, kept int, fresh circle) circle {
	c := newCircle(kept + fresh.len())
	var dropped []uint64 // ascending, as fresh.tokens are
	i, n := 0, 0         // in old, in c
	keepUntil := func(end int) {
		for i < end { // as far as all are kept, and one that is not
			from, into := old.owners[i:end], c.owners[n:]
			from = from[:min(len(from), len(into))]
			into = into[:len(from)]
			k := 0
			for ; k < len(from) && to[from[k]] != gone; k++ {
				into[k] = to[from[k]]
			}
			copy(c.tokens[n:], old.tokens[i:i+k])
			i, n = i+k, n+k
			if k < len(from) {
				dropped = append(dropped, old.tokens[i])
				i++
			}
		}
	}
	for j, t := range fresh.tokens[:fresh.len()] {
		o := fresh.owners[j]
		end := max(i, old.locate(t))
		for end < old.len() && old.tokens[end] == t && (to[old.owners[end]] < o || to[old.owners[end]] == gone) {
			end++
		}
		keepUntil(end)
		c.tokens[n], c.owners[n] = t, o
		n++
	}
	keepUntil(old.len())
	c.owners[n] = c.owners[0]
	if c.shift == old.shift {
		c.index = shiftIndex(old.index, c.shift, fresh.tokens[:fresh.len()], dropped)
	} else {
		c.index = newIndex(c.tokens[:n], c.shift)
	}
	return c
}

// shiftIndex returns index after tokens have come and gone, both ascending: the place of each bucket's first token is
// shifted by how many came before, and how many went.
func shiftIndex(index []uint32, shift uint8, came, went []uint64) []uint32 {
	out := make([]uint32, len(index))
	by, b := uint32(0), 0 // by wraps below 0, and back when it is added
	next := func(tokens []uint64) int {
		if len(tokens) == 0 {
			return len(index) - 1
		}
		return int(tokens[0] >> (shift & 63))
	}
	for b < len(index) {
		end := min(next(came), next(went)) // the bucket of the next token that changes those behind it
		from, into := index[b:end+1], out[b:end+1]
		into = into[:len(from)]
		for i, place := range from {
			into[i] = place + by
		}
		b = end + 1
		for len(came) > 0 && next(came) == end {
			came = came[1:]
			by++
		}
		for len(went) > 0 && next(went) == end {
			went = went[1:]
			by--
		}
	}
	return out
}

// newIndex returns the index of tokens, which are ascending and without sentinels.
func newIndex(tokens []uint64, shift uint8) []uint32 {
	index := make([]uint32, 1<<(64-shift)+1)
	b := 0
	for i, t := range tokens {
		for end := int(t >> (shift & 63)); b <= end; b++ {
			index[b] = uint32(i)
		}
	}
	for ; b < len(index); b++ {
		index[b] = uint32(len(tokens))
	}
	return index
}
