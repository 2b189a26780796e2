package hashring

import "math/bits"

// The index cuts the circle into buckets of equal width, two a token, and holds for each the place of the first token at
// or after its start. One more entry, the number of tokens, is the end of the last bucket. On a circle of 60 positions:
//
//	bucket    0..9   10..19  20..29  30..39  40..49  50..59
//	tokens    5, 9             24                             sentinel
//	index       0       2       2       3       3       3       3
//
// The first token at or after a position is in the position's bucket, or is the first of those behind it. Tokens of
// hashed nodes are spread evenly, so a bucket holds half a token on average and the search is a step or two. Tokens that
// crowd in a bucket, as explicit ones may, are searched by halves.
//
// The sentinel is the largest position, behind all tokens, and is owned like the smallest token. So the search needs no
// test for the end, and going round is no special case:
//
//	pos > all tokens:   tokens[...] | pos | sentinel -> owner of tokens[0]

// crowd is how many tokens of a bucket are looked at one by one.
const crowd = 8

// buckets returns how many buckets the index of n tokens has.
func buckets(n int) int { return 2 * n }

// bucketOf returns which of n buckets pos is in: floor(pos*n / 2^64).
func bucketOf(pos uint64, n int) int {
	hi, _ := bits.Mul64(pos, uint64(n))
	return int(hi)
}

// locate returns the place in tokens of the first that is at least pos: the sentinel's, if none other is. The ring must
// have tokens.
func (r *Ring) locate(pos uint64) int {
	b := bucketOf(pos, len(r.index)-1)
	i, end := r.index[b], r.index[b+1]
	for end-i > crowd {
		mid := i + (end-i)/2
		if r.tokens[mid] < pos {
			i = mid + 1
		} else {
			end = mid
		}
	}
	for r.tokens[i] < pos {
		i++
	}
	return int(i)
}

// first is locate, with the first token in the sentinel's place, on a ring with or without tokens.
func (r *Ring) first(pos uint64) int {
	if len(r.tokens) == 0 {
		return 0
	}
	i := r.locate(pos)
	if i == len(r.tokens)-1 {
		return 0
	}
	return i
}

// newIndex returns the index of tokens, which are ascending and without a sentinel.
func newIndex(tokens []uint64) []uint32 {
	n := buckets(len(tokens))
	index := make([]uint32, n+1)
	b := 0
	for i, t := range tokens {
		for end := bucketOf(t, n); b <= end; b++ {
			index[b] = uint32(i)
		}
	}
	for ; b <= n; b++ {
		index[b] = uint32(len(tokens))
	}
	return index
}
