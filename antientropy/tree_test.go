package antientropy_test

import (
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// Nodes of the tree have the items whose positions begin with their index, and the sum of the hashes below them.
func TestTreeModel(t *testing.T) {
	r := seed.Random(t)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for range rounds(20) {
				m := model{}
				for range r.IntN(1 << r.IntN(12)) {
					m[w.pos(r)] = r.Uint64()
				}
				s := m.set()
				type place struct {
					depth int
					index uint64
				}
				seen := map[place]antientropy.TreeNode{}
				covered := 0
				next := uint64(0) // the first position behind the bucket before
				for n := range s.TreeNodes() {
					var items []antientropy.Item
					for pos, digest := range m {
						if n.Depth == 0 || pos>>(64-n.Depth) == n.Index {
							items = append(items, antientropy.Item{Position: pos, Digest: digest})
							require.True(t, n.Range.Contains(pos))
						}
					}
					require.Equal(t, fingerprint(items), n.Hash)
					require.Equal(t, len(items), n.Len)
					require.Equal(t, n.Len <= 32, n.Bucket)
					sum, k := s.Fingerprint(n.Range)
					require.Equal(t, n.Hash, sum)
					require.Equal(t, n.Len, k)
					same, ok := s.TreeNode(n.Depth, n.Index)
					require.True(t, ok)
					require.Equal(t, n, same)
					if n.Bucket {
						covered += n.Len
						if n.Depth > 0 {
							require.Equal(t, next, n.Range.After+1, "in the order of positions")
						}
						next = n.Range.Through + 1
					}
					if n.Depth > 0 {
						parent, ok := seen[place{n.Depth - 1, n.Index / 2}]
						require.True(t, ok, "a node comes before those below it")
						require.False(t, parent.Bucket)
					}
					seen[place{n.Depth, n.Index}] = n
				}
				require.Equal(t, len(m), covered, "the buckets have all items")
				for at, n := range seen {
					if left, ok := seen[place{at.depth + 1, 2 * at.index}]; ok {
						right := seen[place{at.depth + 1, 2*at.index + 1}]
						require.Equal(t, n.Hash, left.Hash+right.Hash)
						require.Equal(t, n.Len, left.Len+right.Len)
					} else {
						require.True(t, n.Bucket)
					}
				}
			}
		})
	}
}

func TestTreeNodeOutOfRange(t *testing.T) {
	s := filled(10)
	for _, at := range []struct {
		depth int
		index uint64
		ok    bool
	}{
		{-1, 0, false}, {65, 0, false}, {0, 1, false}, {1, 2, false}, {63, 1 << 63, false},
		{0, 0, true}, {1, 1, true}, {63, 1<<63 - 1, true}, {64, 1<<64 - 1, true}, {64, 0, true},
	} {
		n, ok := s.TreeNode(at.depth, at.index)
		require.Equal(t, at.ok, ok, "%+v", at)
		if !ok {
			require.Zero(t, n)
		}
	}
	n, _ := s.TreeNode(64, 7)
	require.Equal(t, hashring.Range{After: 6, Through: 7}, n.Range)
	n, _ = s.TreeNode(64, 0)
	require.Equal(t, hashring.Range{After: 1<<64 - 1, Through: 0}, n.Range)
	for range s.TreeNodes() {
		break // the iterator stops
	}
	require.Len(t, slices.Collect(new(antientropy.Set).TreeNodes()), 1)
}
