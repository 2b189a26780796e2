package hashring

import (
	"math/bits"
	"slices"
)

// The index cuts the circle into buckets of equal width, a power of two of them, and holds for each the place of the
// first token at or after its start. One more entry, the number of tokens, is the end of the last bucket. On a circle of
// 64 positions with 8 buckets:
//
//	bucket    0..7   8..15  16..23  24..31  32..39  40..47  48..55  56..63
//	tokens    5      9                      33, 36                           two sentinels
//	index       0      1       2       2       2       4       4       4       4
//
// The first token at or after a position is in the position's bucket, or is the first of those behind it. Tokens of
// hashed nodes are spread evenly, so a bucket holds about half a token, and what is looked for is the first or second
// token from the bucket's start, but for one lookup in twenty. Which of the two is as random as a coin: adding up a borrow
// costs less than a branch. Tokens that crowd in a bucket, as explicit ones may, are searched by halves.
//
// The sentinels are the largest position, behind all tokens. The first is owned like the smallest token; the other is
// there to be compared. So the search needs no test for the end, and going round is no special case:
//
//	pos > all tokens:   tokens[...] | pos | sentinel -> owner of tokens[0]

// sentinels is how many there are: as many as tokens are compared at once.
const sentinels = 2

// bucketBits returns the binary logarithm of how many buckets the index of n tokens has, n at least 1: a bucket holds
// between 3/8 and 3/4 of a token.
func bucketBits(n int) int { return bits.Len(uint(n + n/3)) }

// locate returns the place in tokens of the first that is at least pos: the first sentinel's, if none other is. There
// must be tokens.
func (c *circle) locate(pos uint64) int {
	i := int(c.index[pos>>(c.shift&63)])
	t := c.tokens[i : i+sentinels]
	if t[1] < pos {
		return c.locateBehind(pos)
	}
	_, less := bits.Sub64(t[0], pos, 0)
	return i + int(less)
}

// locateBehind is locate where the first two tokens of the bucket are less than pos.
func (c *circle) locateBehind(pos uint64) int {
	b := pos >> (c.shift & 63)
	start := c.index[b] + sentinels
	n, _ := slices.BinarySearch(c.tokens[start:c.index[b+1]], pos)
	return int(start) + n
}

// first is locate, with the first token in the sentinel's place, with or without tokens.
func (c *circle) first(pos uint64) int {
	if len(c.tokens) == 0 {
		return 0
	}
	i := c.locate(pos)
	if i == len(c.tokens)-sentinels {
		return 0
	}
	return i
}
