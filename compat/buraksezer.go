package compat

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/clockwise-go/hashring"
)

// Buraksezer010 is the ring of buraksezer/consistent at 0.10.0 with xxhash as its Hasher, and Buraksezer1 that at 1.0.0,
// which is another: a change of placement between two releases. [NewBuraksezer] puts its partitions on it. replicas is
// Config.ReplicationFactor, 0 the default of 20.
//
// A member has that many points XXH64(name k), with nothing between; at 1.0.0 XXH64(k:name). The first at or above a hash
// owns; of equal points that of the member added last. There are no weights.
func Buraksezer010(replicas int) (*Rule, error) { return buraksezer(burak010, replicas) }

// Buraksezer1 is [Buraksezer010] for the release 1.0.0.
func Buraksezer1(replicas int) (*Rule, error) { return buraksezer(burak1, replicas) }

// The programs in the names of the two rules.
const burak010, burak1 = "buraksezer-0.10", "buraksezer-1"

func buraksezer(program string, replicas int) (*Rule, error) {
	if replicas == 0 {
		replicas = 20
	}
	if err := checkCount(program, "replicas", replicas); err != nil {
		return nil, err
	}
	expand := joined("", xxhash.Sum64String)
	if program == burak1 {
		expand = prefixed(":", xxhash.Sum64String)
	}
	return &Rule{
		name:     fmt.Sprintf("%s,replicas=%d", program, replicas),
		keys:     hashring.XXH64,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), unweighted(n, program) },
		lastWins: true,
		plan:     fixed(uint64(replicas), expand),
	}, nil
}

// Buraksezer is what buraksezer/consistent makes of its ring: a fixed number of partitions, each of which belongs to a
// member, of which none has more than its share times a factor. It never changes, and any number of goroutines may use it.
type Buraksezer struct {
	ring   *hashring.Ring
	owners []uint32 // by partition, the index of its member in ring
}

// NewBuraksezer distributes partitions over the members of a ring of [Buraksezer010] or [Buraksezer1]. partitions and load
// are Config.PartitionCount and Config.Load, 0 the defaults of 271 and 1.25.
//
// A partition goes to the first member clockwise from the hash of its number, eight bytes little-endian, that has less than
// ceil(partitions/members * load). At 0.10.0 that quotient is a whole number, rounded down. Where the program panics since
// there is no room, and for a ring of another rule, the error is [hashring.ErrOptions]. It takes O(P) time for P partitions
// while there is room, O(P*T) at worst for T tokens.
func NewBuraksezer(r *hashring.Ring, partitions int, load float64) (*Buraksezer, error) {
	program, _, _ := strings.Cut(placementName(r), ",")
	if program != burak010 && program != burak1 {
		return nil, badOption("%v is not a ring of buraksezer/consistent", r)
	}
	if partitions == 0 {
		partitions = 271
	}
	if load == 0 {
		load = 1.25
	}
	if partitions < 1 || partitions > maxPartitions {
		return nil, badOption("buraksezer's partition count is %d, not from 1 to %d", partitions, maxPartitions)
	}
	if !(load >= 1) || math.IsInf(load, 1) {
		return nil, badOption("buraksezer's load is %v, not a number from 1", load)
	}
	b := &Buraksezer{ring: r}
	if r.Len() == 0 {
		return b, nil
	}
	each := float64(partitions) / float64(r.Len())
	if program == burak010 {
		each = float64(partitions / r.Len())
	}
	limit := math.Ceil(float64(each * load))
	loads := make([]float64, r.Len())
	b.owners = make([]uint32, partitions)
	var number [8]byte
	for p := range b.owners {
		binary.LittleEndian.PutUint64(number[:], uint64(p))
		member := firstBelow(r, xxhash.Sum64(number[:]), loads, limit)
		if member < 0 {
			return nil, badOption("no room for partition %d of %d: each of %d members has %v, the most at load %v",
				p, partitions, r.Len(), limit, load)
		}
		loads[member]++
		b.owners[p] = uint32(member)
	}
	return b, nil
}

// maxPartitions is 64 MiB of table.
const maxPartitions = 1 << 24

// firstBelow returns the first member clockwise from pos whose load is below the limit; -1 if there is none.
func firstBelow(r *hashring.Ring, pos uint64, loads []float64, limit float64) int {
	for member := range distinctPoints(r, pos) {
		if loads[member]+1 <= limit {
			return member
		}
	}
	return -1
}

func placementName(r *hashring.Ring) string {
	if p := r.Options().Placement; p != nil {
		return p.Name()
	}
	return ""
}

// Owner returns the member that key belongs to. ok is false if and only if there is none.
func (b *Buraksezer) Owner(key string) (name string, ok bool) { return b.OwnerOf(b.Partition(key)) }

// Partition returns the partition that key is in: XXH64(key) modulo their number. It is -1 if there are no members.
func (b *Buraksezer) Partition(key string) int {
	if len(b.owners) == 0 {
		return -1
	}
	return int(xxhash.Sum64String(key) % uint64(len(b.owners)))
}

// OwnerOf returns the member that a partition belongs to. ok is false if there is no such partition.
func (b *Buraksezer) OwnerOf(partition int) (name string, ok bool) {
	if partition < 0 || partition >= len(b.owners) {
		return "", false
	}
	return b.ring.Name(int(b.owners[partition])), true
}
