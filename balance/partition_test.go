package balance_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

func mustPartition(t testing.TB, r *hashring.Ring, count int, factor float64) *balance.Partitions {
	t.Helper()
	p, err := balance.Partition(r, count, factor)
	require.NoError(t, err)
	return p
}

// firstPosition is ceil(partition * 2^64 / count), without any limit of size.
func firstPosition(partition, count int) uint64 {
	n := new(big.Int).Lsh(big.NewInt(int64(partition)), 64)
	n.Add(n, big.NewInt(int64(count-1)))
	return n.Div(n, big.NewInt(int64(count))).Uint64()
}

func ownersOf(p *balance.Partitions) []string {
	owners := make([]string, p.Count())
	for k := range owners {
		owners[k], _ = p.OwnerOf(k)
	}
	return owners
}

// requireRule checks p against the rule, partition by partition.
func requireRule(t *testing.T, r *hashring.Ring, count int, factor float64, p *balance.Partitions) {
	t.Helper()
	s, loads := sharesOf(r), make(map[string]int)
	for k := range count {
		pos := firstPosition(k, count)
		var want string
		for i := range r.WalkAt(pos) {
			if name := r.Name(i); loads[name] < s.bound(name, factor, count) {
				want = name
				break
			}
		}
		loads[want]++
		got, ok := p.OwnerOf(k)
		if !ok || got != want || p.At(pos) != k || p.At(pos-1) != (k+count-1)%count {
			t.Fatalf("partition %d of %d, factor %v, on %v: %q, not %q", k, count, factor, r, got, want)
		}
	}
	i := 0
	for l := range p.Loads() {
		require.Equal(t, balance.Load{Node: r.Name(i), Count: loads[l.Node], Bound: s.bound(l.Node, factor, count)}, l)
		require.LessOrEqual(t, l.Count, l.Bound)
		i++
	}
	require.Equal(t, r.Len(), i)
}

// Every number of partitions and nodes up to 12, by every factor, with few and many virtual nodes, equal and weighted.
func TestEveryPartitionOfASmallWorld(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, virtualNodes := range []int{1, 2, 16, 160} {
			for _, nodes := range [][]hashring.Node{equalNodes(n), weightedNodes(n)} {
				r := mustNew(t, nodes, &hashring.Options{VirtualNodes: virtualNodes})
				for count := 1; count <= 12; count++ {
					for _, factor := range []float64{1, 1.05, 1.25, 1.5, 2, 3, 12, 1e300} {
						requireRule(t, r, count, factor, mustPartition(t, r, count, factor))
					}
				}
			}
		}
	}
}

func TestPartitionsAreTheRule(t *testing.T) {
	rng := seed.Random(t)
	for range seed.Rounds(t, 200) {
		opts := &hashring.Options{VirtualNodes: 1 + rng.IntN(40)}
		nodes := weightedNodes(1 + rng.IntN(60))
		if rng.IntN(3) == 0 {
			opts = &hashring.Options{Placement: starving{}}
			for i := range nodes {
				nodes[i].Name = fmt.Sprint(i) // some of one digit
			}
			nodes = append(nodes, hashring.Node{Name: "even"})
		}
		count, factor := 1+rng.IntN(3000), 1+rng.ExpFloat64()*float64(rng.IntN(2))
		r := mustNew(t, nodes, opts)
		requireRule(t, r, count, factor, mustPartition(t, r, count, factor))
	}
}

// Tokens that crowd before a run of those of another node: a walk for each partition would look at half of all tokens.
func TestPartitionOfCrowdedTokens(t *testing.T) {
	const n = 200_000
	crowd := make([]uint64, n)
	for i := range crowd {
		crowd[i] = uint64(1 + i)
	}
	r := mustNew(t, []hashring.Node{{Name: "crowd", Tokens: crowd}, {Name: "one", Tokens: []uint64{0}}}, nil)
	p := mustPartition(t, r, n, 1)
	at, _ := p.OwnerOf(0)
	require.Equal(t, "one", at)
	for l := range p.Loads() {
		require.Equal(t, n/2, l.Count)
	}
}

func TestKeysAreInThePartitionOfTheirPosition(t *testing.T) {
	r := mustNew(t, equalNodes(10), nil)
	for _, count := range []int{1, 2, 3, 100, 271, 1024, 1 << 20} {
		p := mustPartition(t, r, count, 1.25)
		require.Equal(t, count, p.Count())
		require.Zero(t, p.At(0))
		require.Equal(t, count-1, p.At(math.MaxUint64))
		for i := range 500 {
			key := fmt.Sprint("key-", i)
			pos := new(big.Int).SetUint64(r.Position(key))
			want := int(pos.Rsh(pos.Mul(pos, big.NewInt(int64(count))), 64).Int64())
			require.Equal(t, want, p.Of(key))
			require.Equal(t, want, p.At(r.PositionBytes([]byte(key))))
			owner, ok := p.Owner(key)
			require.True(t, ok)
			of, ok := p.OwnerOf(want)
			require.True(t, ok)
			require.Equal(t, of, owner)
		}
		for _, none := range []int{-1, count, math.MinInt, math.MaxInt} {
			_, ok := p.OwnerOf(none)
			require.False(t, ok)
			require.Empty(t, slices.Collect(p.Replicas(none)))
		}
	}
}

// Without a bound that matters, a partition is where the ring has its first position.
func TestPartitionsWithRoomAreTheRings(t *testing.T) {
	r := mustNew(t, weightedNodes(20), nil)
	p := mustPartition(t, r, 1000, 100)
	for k := range 1000 {
		want, _ := r.OwnerAt(firstPosition(k, 1000))
		got, _ := p.OwnerOf(k)
		require.Equal(t, want, got)
		var replicas []string
		for _, i := range r.AppendReplicasAt(nil, firstPosition(k, 1000), 20) {
			replicas = append(replicas, r.Name(i))
		}
		require.Equal(t, replicas, slices.Collect(p.Replicas(k)))
	}
}

// A token at the first position of a partition owns it; one before that does not, however close.
func TestPartitionsBeginAtTheirFirstPosition(t *testing.T) {
	for _, count := range []int{1, 2, 3, 7, 100, 1 << 20} {
		for _, k := range []int{0, count / 3, count / 2, count - 1} {
			first := firstPosition(k, count)
			r := mustNew(t, []hashring.Node{
				{Name: "before", Tokens: []uint64{first - 1}},
				{Name: "at", Tokens: []uint64{first}},
				{Name: "behind", Tokens: []uint64{first + 1}},
			}, nil)
			p := mustPartition(t, r, count, 1e300)
			owner, _ := p.OwnerOf(k)
			require.Equal(t, "at", owner, "partition %d of %d", k, count)
			for name := range p.Replicas(k) {
				require.Equal(t, "at", name)
				break
			}
			require.Equal(t, []string{"at", "behind", "before"}, slices.Collect(p.Replicas(k)))
		}
	}
}

func TestReplicasOfAPartition(t *testing.T) {
	r := mustNew(t, weightedNodes(20), nil)
	p := mustPartition(t, r, 1000, 1)
	elsewhere := 0
	for k := range 1000 {
		owner, _ := p.OwnerOf(k)
		var want []string
		for _, i := range r.AppendReplicasAt(nil, firstPosition(k, 1000), 20) {
			if r.Name(i) != owner {
				want = append(want, r.Name(i))
			}
		}
		if first, _ := r.OwnerAt(firstPosition(k, 1000)); first != owner {
			elsewhere++
			require.Equal(t, first, want[0])
		}
		got := slices.Collect(p.Replicas(k))
		require.Equal(t, append([]string{owner}, want...), got)
		var ringsFirst []string
		for _, i := range r.AppendReplicasAt(nil, firstPosition(k, 1000), 3) {
			ringsFirst = append(ringsFirst, r.Name(i))
		}
		if slices.Contains(ringsFirst, owner) {
			require.ElementsMatch(t, ringsFirst, got[:3], "the bound says who is first, not who has a copy")
		}
		for stop := range 3 {
			var some []string
			for name := range p.Replicas(k) {
				if some = append(some, name); len(some) > stop {
					break
				}
			}
			require.Len(t, some, stop+1)
		}
	}
	require.Positive(t, elsewhere)
}

// The figures that the comment on Partitions states: the peak by the bound, and what moves besides what must. The rings
// are the same each time, so the limits are close to what comes out.
func TestPeakAndMovementOfPartitions(t *testing.T) {
	const count = 16384
	r := mustNew(t, equalNodes(100), nil)
	for _, tc := range []struct{ factor, peak, least, most float64 }{
		{1.05, 1.07, 0.001, 0.005},
		{1.25, 1.26, 0, 0.0002},
	} {
		before := mustPartition(t, r, count, tc.factor)
		peak := 0.0
		for l := range before.Loads() {
			peak = max(peak, float64(l.Count)*100/count)
		}
		require.LessOrEqual(t, peak, tc.peak)

		var moved, between int
		for i := range 10 {
			changed := fmt.Sprintf("node-%03d", 10*i)
			leave, err := r.Without(changed)
			require.NoError(t, err)
			joiner := fmt.Sprint("joiner-", i)
			join, err := r.With(hashring.Node{Name: joiner})
			require.NoError(t, err)
			for after, touched := range map[*hashring.Ring]string{leave: changed, join: joiner} {
				moves, err := balance.DiffPartitions(before, mustPartition(t, after, count, tc.factor))
				require.NoError(t, err)
				for m := range moves {
					if m.From == touched || m.To == touched {
						moved++
					} else {
						between++
					}
				}
			}
		}
		must, besides := float64(moved)/20/count, float64(between)/20/count // by one change, of all
		t.Logf("factor %v: peak/mean %.3f; a change moves %.2f %%, and %.2f %% between other nodes",
			tc.factor, peak, 100*must, 100*besides)
		require.InDelta(t, 0.01, must, 0.002)
		require.GreaterOrEqual(t, besides, tc.least)
		require.LessOrEqual(t, besides, tc.most)
	}
}

func TestDiffPartitions(t *testing.T) {
	r := mustNew(t, weightedNodes(10), nil)
	s, err := r.Without("node-004")
	require.NoError(t, err)
	a, b := mustPartition(t, r, 300, 1.1), mustPartition(t, s, 300, 1.1)
	none := mustPartition(t, new(hashring.Ring), 300, 1.1)
	for _, pair := range [][2]*balance.Partitions{{a, b}, {b, a}, {a, none}, {none, a}, {none, none}, {a, a}} {
		var want []balance.PartitionMove
		from, to := ownersOf(pair[0]), ownersOf(pair[1])
		for k := range from {
			if from[k] != to[k] {
				want = append(want, balance.PartitionMove{Partition: k, From: from[k], To: to[k]})
			}
		}
		moves, err := balance.DiffPartitions(pair[0], pair[1])
		require.NoError(t, err)
		require.Equal(t, want, slices.Collect(moves))
		for m := range moves {
			require.Equal(t, want[0], m)
			break
		}
	}
	_, err = balance.DiffPartitions(a, mustPartition(t, r, 301, 1.1))
	require.ErrorIs(t, err, hashring.ErrOptions)
	require.ErrorContains(t, err, "300 partitions cannot be compared with 301")
	byMD5 := mustNew(t, weightedNodes(10), &hashring.Options{Hash: hashring.MD5})
	_, err = balance.DiffPartitions(a, mustPartition(t, byMD5, 300, 1.1))
	require.ErrorIs(t, err, hashring.ErrHash)
	require.ErrorContains(t, err, "balance: ")
}

func TestPartitionsThatAreRefused(t *testing.T) {
	r := mustNew(t, equalNodes(3), nil)
	for _, count := range []int{0, -1, math.MinInt, 1<<24 + 1, math.MaxInt} {
		p, err := balance.Partition(r, count, 1)
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, fmt.Sprintf("the number of partitions is %d,", count))
		require.Nil(t, p)
	}
	if !testing.Short() { // it takes 64 MB
		require.Equal(t, 1<<24, mustPartition(t, r, 1<<24, 1).Count())
	}
	_, err := balance.Partition(r, 0, math.NaN())
	require.ErrorContains(t, err, "the number of partitions is 0,")
	require.ErrorContains(t, err, "the factor is NaN,", "all at once")
}

func TestPartitionsWithoutTokens(t *testing.T) {
	for _, r := range withoutTokens(t) {
		p := mustPartition(t, r, 10, 1)
		_, ok := p.Owner("key")
		require.False(t, ok)
		_, ok = p.OwnerOf(0)
		require.False(t, ok)
		require.Empty(t, slices.Collect(p.Replicas(0)))
		require.Equal(t, 10, p.Count())
		require.Less(t, p.Of("key"), 10)
		require.Len(t, slices.Collect(p.Loads()), r.Len())
		for l := range p.Loads() {
			require.Equal(t, balance.Load{Node: "odd"}, l)
			break
		}
	}
}

// What has which partition is the same in every process, release and architecture.
func TestPartitionsNeverChange(t *testing.T) {
	nodes := weightedNodes(30)
	for i := range nodes {
		nodes[i].Weight *= 0.7
	}
	for _, tc := range []struct {
		count  int
		factor float64
		want   uint64
	}{{1000, 1, 0x90eee9fb295aaf86}, {4096, 1.05, 0x42102f215f5ce45f}, {16384, 1.25, 0xedefe988e2326a58}} {
		h := fnv.New64a()
		for _, name := range ownersOf(mustPartition(t, mustNew(t, nodes, nil), tc.count, tc.factor)) {
			fmt.Fprintln(h, name)
		}
		require.Equal(t, tc.want, h.Sum64(), "%d partitions, factor %v", tc.count, tc.factor)
	}
}
