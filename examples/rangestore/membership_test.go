package main

import (
	"fmt"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// TestRelieve checks that a newcomer takes half of the range of the node that owns most items, although another range is
// larger, and none of any other.
func TestRelieve(t *testing.T) {
	r := newRig(t)
	for i := range 3 { // the second owns half of the circle
		r.change(func() (Moved, error) { return r.Join(nodeName(i)) })
	}
	busy := nodeName(2)
	for k := 0; r.load(busy) < 100; k++ {
		if key := fmt.Sprint("item ", k); owns(r, busy, key) || k%10 == 0 {
			r.put(key, "x")
		}
	}
	was, _ := r.rangeOf(busy)
	m := r.change(func() (Moved, error) { return r.Relieve("newcomer") })
	require.Len(t, m.Handed, 1)
	half := was.After + (was.Through-was.After)/2
	require.Equal(t, hashring.Range{After: was.After, Through: half}, m.Handed[0].Range)
	require.Equal(t, busy, m.Handed[0].From)
	require.Equal(t, "newcomer", m.Handed[0].To)
	r.requireAnyMayDie()
}

func owns(r *rig, name, key string) bool {
	owner, _ := r.ring.Owner(key)
	return owner == name
}

// TestRebalance checks that each call moves one token, that of the busiest node, and that they end at a balance, however
// uneven it was before.
func TestRebalance(t *testing.T) {
	rng := seed.Random(t)
	r := newRig(t)
	for i := range 9 {
		r.change(func() (Moved, error) { return r.Join(nodeName(i)) })
	}
	crowd := r.ring.Name(rng.IntN(9))
	for k := 0; len(r.model) < 700; k++ {
		if key := fmt.Sprint("item ", k); owns(r, crowd, key) || k%20 == 0 {
			r.put(key, "x")
		}
	}
	calls := 0
	for {
		loads, sum := r.byLoad()
		require.Equal(t, 700, sum)
		m := r.change(r.Rebalance)
		if m.Old == m.New {
			require.Equal(t, 78, loads[0].load, "700 items on 9 nodes, rounded up")
			break
		}
		require.Less(t, calls, 9*8/2)
		calls++
		require.Len(t, m.Handed, 1)
		require.Equal(t, loads[0].name, m.Handed[0].From)
		require.Equal(t, 78, r.load(loads[0].name))
		moved := 0
		for _, n := range m.New.Nodes() {
			if old, _ := m.Old.Node(n.Name); old.Tokens[0] != n.Tokens[0] {
				require.Equal(t, loads[0].name, n.Name)
				moved++
			}
		}
		require.Equal(t, 1, moved)
	}
	require.Positive(t, calls)
	r.requireAnyMayDie()
}

// TestRebalanceKeepsPositionsTogether checks that items at one position stay on one node, and that a node which can give
// nothing for that reason does not keep others from giving.
func TestRebalanceKeepsPositionsTogether(t *testing.T) {
	r := newRig(t)
	ring, err := hashring.New(nil, &hashring.Options{Hash: crowded{}})
	require.NoError(t, err)
	r.ring = ring
	for i := range 4 {
		r.change(func() (Moved, error) { return r.Join(nodeName(i)) })
	}
	for k := range 100 { // in one range
		r.put(fmt.Sprint("4 ", k), "x") // at 1<<61
		r.put(fmt.Sprint("5 ", k), "x") // at 3<<60
	}
	m := r.change(r.Rebalance)
	require.Len(t, m.Handed, 1)
	require.Equal(t, 100, m.Handed[0].Items)
	m = r.change(r.Rebalance)
	require.Same(t, m.Old, m.New, "two nodes own 100 at one position each, and two nothing")

	for k := range 76 { // in another range, owned by a node that is less busy; the mean is 74 now
		r.put(fmt.Sprint("6 ", k), "x") // at 1<<63
	}
	for k := range 20 {
		r.put(fmt.Sprint("7 ", k), "x") // right behind
	}
	m = r.change(r.Rebalance)
	require.Len(t, m.Handed, 1)
	require.Equal(t, 20, m.Handed[0].Items)
}
