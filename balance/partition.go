package balance

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/clockwise-go/hashring"
)

// Partitions cuts the circle of a ring into a fixed number of partitions and gives each to a node, none of which has
// more than its bound. It follows from the ring, the number and the factor alone. Moving, locking and counting are
// then done by partition, of which there are few, rather than by key. Partitions is immutable and safe for any number
// of goroutines.
//
// Partition p of count is the positions pos with floor(pos*count / 2^64) = p: an arc of the circle, of equal width but
// for one position. A key is in the partition of its position, so which keys make up a partition depends on the hash
// and the count, and never on the nodes. In the order of their numbers, each partition goes to the first node
// clockwise from its first position that has less than its bound, ceil(factor*count*w/W).
//
// The price of the bound is that a change of nodes also moves a few partitions between nodes that did not change: what
// a node loses by its bound, or has room for, is passed on. The evener, the more: with a factor of 1.05, 16,384
// partitions and 100 nodes of 160 tokens, where the busiest has 1.06 times the mean, one node more or less moves some
// 0.3 % of the partitions so, beside the 1 % that have to move. With 1.25, which is above the ring's own peak, next to
// none. Bounds are rounded up, so the factor is kept closely only where a node has many partitions: a hundred or more.
type Partitions struct {
	bounds *Bounds
	count  int
	owners []uint32 // by partition, the index of its node; empty if the ring has no tokens
	loads  []int    // by index of the node
}

// maxPartitions bounds the memory: 4 bytes a partition.
const maxPartitions = 1 << 24

// Partition gives each of count partitions to a node of r. The count is from 1 to 1<<24, the factor a finite number of
// at least 1; others are [hashring.ErrOptions]. It costs little more than O(count+T) for T tokens, and 4 bytes a
// partition.
func Partition(r *hashring.Ring, count int, factor float64) (*Partitions, error) {
	bounds, err := NewBounds(r, factor)
	if count < 1 || count > maxPartitions {
		err = errors.Join(fmt.Errorf("balance: %w: the number of partitions is %d, not between 1 and %d",
			hashring.ErrOptions, count, maxPartitions), err)
	}
	if err != nil {
		return nil, err
	}
	p := &Partitions{bounds: bounds, count: count, loads: make([]int, r.Len())}
	if r.NumTokens() > 0 {
		p.assign()
	}
	return p, nil
}

// assign gives each partition to the first node with room. While one is left without a node there is room, since the
// bounds add up to count at least.
func (p *Partitions) assign() {
	r := p.bounds.ring
	bounds := make([]int, r.Len())
	for i := range bounds {
		bounds[i] = p.bounds.bound(i, float64(p.count))
	}
	// A walk would meet the tokens of full nodes again and again. So next[t] is where to go on from token t when its
	// node is full: all tokens from t to before that are of full nodes.
	n := r.NumTokens()
	tokens, nodes, next := make([]uint64, 0, n), make([]uint32, 0, n), make([]uint32, n)
	for token, i := range r.TokensFrom(0) {
		tokens, nodes = append(tokens, token), append(nodes, uint32(i))
	}
	for t := range next {
		next[t] = uint32((t + 1) % n)
	}
	full := func(t uint32) bool { return p.loads[nodes[t]] >= bounds[nodes[t]] }

	p.owners = make([]uint32, p.count)
	at := 0 // the first token at or after the partition's first position, or n
	for k := range p.owners {
		for start := firstOf(k, p.count); at < n && tokens[at] < start; {
			at++
		}
		t := uint32(at % n)
		for full(t) {
			if after := next[t]; full(after) {
				next[t] = next[after] // so that paths get shorter each time they are walked
			}
			t = next[t]
		}
		p.owners[k] = nodes[t]
		p.loads[nodes[t]]++
	}
}

// firstOf returns the first position of a partition: ceil(partition * 2^64 / count).
func firstOf(partition, count int) uint64 {
	pos, rest := bits.Div64(uint64(partition), 0, uint64(count))
	if rest > 0 {
		pos++
	}
	return pos
}

// Count returns the number of partitions.
func (p *Partitions) Count() int { return p.count }

// Of returns the partition of key, from 0 to Count()-1. It costs little more than hashing the key.
func (p *Partitions) Of(key string) int { return p.At(p.bounds.ring.Position(key)) }

// At returns the partition of a position, as [hashring.Ring.Position] and [hashring.Ring.PositionBytes] give it.
func (p *Partitions) At(pos uint64) int {
	hi, _ := bits.Mul64(pos, uint64(p.count))
	return int(hi)
}

// Owner returns the node that has key: the owner of its partition. ok is false if and only if the ring has no tokens.
// It hashes the key and reads a table, and does not allocate with a built-in hash.
func (p *Partitions) Owner(key string) (name string, ok bool) { return p.OwnerOf(p.Of(key)) }

// OwnerOf returns the node that has a partition. ok is false if there is no such partition, or the ring has no tokens.
func (p *Partitions) OwnerOf(partition int) (name string, ok bool) {
	if partition < 0 || partition >= len(p.owners) {
		return "", false
	}
	return p.bounds.ring.Name(int(p.owners[partition])), true
}

// Replicas yields the nodes for the copies of a partition, all distinct: its owner, and then the others that are met
// clockwise from the partition's first position. No bound is put on what a node has beside what it owns.
//
// So where the bound sends a partition to another than the ring's owner, that one comes second, and a change of bounds
// which only lets the two trade places does not change who has a copy. It yields nothing if there is no such partition,
// and costs what [hashring.Ring.Replicas] does.
func (p *Partitions) Replicas(partition int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if partition < 0 || partition >= len(p.owners) {
			return
		}
		r, owner := p.bounds.ring, int(p.owners[partition])
		if !yield(r.Name(owner)) {
			return
		}
		for i := range r.WalkAt(firstOf(partition, p.count)) {
			if i != owner && !yield(r.Name(i)) {
				return
			}
		}
	}
}

// Loads yields for each node by index how many partitions it owns, and its bound.
func (p *Partitions) Loads() iter.Seq[Load] {
	return func(yield func(Load) bool) {
		for i, n := range p.loads {
			if !yield(Load{p.bounds.ring.Name(i), n, p.bounds.bound(i, float64(p.count))}) {
				return
			}
		}
	}
}

// PartitionMove is a partition that goes from one node to another. From or To is empty where one of the rings has no
// tokens.
type PartitionMove struct {
	Partition int
	From, To  string
}

// DiffPartitions yields the partitions that have another owner in new than in old, by number. It returns
// [hashring.ErrOptions] if they are not as many, and [hashring.ErrHash] as [hashring.Diff] does: then a key may be in two
// partitions, so that data moves between them, not with them. It costs O(count).
func DiffPartitions(old, new *Partitions) (iter.Seq[PartitionMove], error) {
	if old.count != new.count {
		return nil, fmt.Errorf("balance: %w: %d partitions cannot be compared with %d",
			hashring.ErrOptions, old.count, new.count)
	}
	if _, err := hashring.Diff(old.bounds.ring, new.bounds.ring); err != nil {
		return nil, fmt.Errorf("balance: %w", err)
	}
	return func(yield func(PartitionMove) bool) {
		for k := range old.count {
			from, _ := old.OwnerOf(k)
			to, _ := new.OwnerOf(k)
			if from != to && !yield(PartitionMove{k, from, to}) {
				return
			}
		}
	}, nil
}
