package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// TestSeventeenNodes lets 17 nodes join one by one, two of them die, others leave, one and several at a time, down to
// the last, and checks each step, and after each step that any one node may die.
func TestSeventeenNodes(t *testing.T) {
	r := newRig(t)
	for i := range 17 {
		m := r.change(func() (Moved, error) { return r.Join(nodeName(i)) })
		for _, h := range m.Handed {
			require.Equal(t, nodeName(i), h.To, "only the newcomer takes")
		}
		require.LessOrEqual(t, len(m.Handed), 1)
		for k := range 15 {
			r.put(fmt.Sprint("item ", i, "-", k), fmt.Sprint("value ", k))
		}
		r.requirePlaced()
		if !testing.Short() || i%5 == 0 {
			r.requireAnyMayDie()
		}
	}
	shares := make(map[hashring.Share]int)
	for _, n := range r.ring.Ownership(copies).Nodes {
		shares[n.Owned()]++
	}
	require.Equal(t, map[hashring.Share]int{{Positions: 1 << 60}: 15, {Positions: 1 << 59}: 2}, shares)
	for _, dead := range []string{nodeName(0), nodeName(7)} {
		require.NoError(t, r.Kill(dead))
		r.requirePlaced()
		r.put("put while "+dead+" is dead", "x")
		r.change(func() (Moved, error) { return r.Remove(dead) })
	}
	for _, leave := range [][]string{
		{nodeName(3)}, {nodeName(4), nodeName(5), nodeName(4)}, {nodeName(16), nodeName(1), nodeName(12), nodeName(11)},
	} {
		m := r.change(func() (Moved, error) { return r.Remove(leave...) })
		for _, h := range m.Handed {
			require.Contains(t, leave, h.From, "only those that leave give")
		}
		r.requireAnyMayDie()
	}
	for r.ring.Len() > 1 {
		r.change(func() (Moved, error) { return r.Remove(r.ring.Name(0)) })
		r.requireAnyMayDie()
	}
	require.Len(t, r.model, 17*15+2)
}

// crowded is a hash that knows few positions, those at the ends of the circle among them: a key that begins with a digit
// is at that one.
type crowded struct{}

func (crowded) Name() string { return "crowded" }

func (crowded) Sum64(key string) uint64 {
	places := [...]uint64{0, 1, 2, 1 << 60, 1 << 61, 3 << 60, 1 << 63, 1<<63 + 1, ^uint64(1), ^uint64(0)}
	i, err := strconv.Atoi(key[:min(1, len(key))])
	if err != nil {
		i = len(key) % len(places)
	}
	return places[i]
}

// width returns how many positions the node called name owns, or 0 for all.
func (r *rig) width(name string) uint64 {
	a, _ := r.rangeOf(name)
	return a.Through - a.After
}

// TestRandomOperations compares a store with a map over random sequences of operations, every one of which is checked.
func TestRandomOperations(t *testing.T) {
	lives, steps := 8, 80
	if testing.Short() {
		lives, steps = 2, 40
	}
	rng := seed.Random(t)
	kinds := make(map[string]int)
	for life := range lives {
		r := newRig(t)
		if life%2 == 1 {
			ring, err := hashring.New(nil, &hashring.Options{Hash: crowded{}})
			require.NoError(t, err)
			r.ring = ring
		}
		for range steps {
			n := r.ring.Len()
			one := func() string { return r.ring.Name(rng.IntN(n)) }
			op := rng.IntN(8)
			if n == 0 {
				op = 0
			}
			switch op {
			case 0, 1:
				fresh := nodeName(rng.IntN(30))
				if _, ok := r.ring.Node(fresh); ok {
					continue
				}
				if n == 0 || op == 0 {
					r.change(func() (Moved, error) { return r.Join(fresh) })
				} else if loads, _ := r.byLoad(); r.width(loads[0].name) != 1 {
					r.change(func() (Moved, error) { return r.Relieve(fresh) })
				} else {
					_, err := r.Relieve(fresh)
					require.ErrorContains(t, err, "is a single position")
					r.requirePlaced()
				}
				kinds["join"]++
			case 2:
				leave := []string{one(), one(), one()}[:1+rng.IntN(3)]
				if next, err := r.ring.Without(leave...); err != nil || next.Len() == 0 {
					continue
				}
				r.change(func() (Moved, error) { return r.Remove(leave...) })
				kinds["leave"]++
			case 3:
				if n == 1 {
					continue
				}
				dead := one()
				require.NoError(t, r.Kill(dead))
				r.requirePlaced()
				r.put(fmt.Sprint(rng.IntN(400)), fmt.Sprint(rng.Uint64()))
				r.requirePlaced()
				r.change(func() (Moved, error) { return r.Remove(dead) })
				kinds["death"]++
			case 4:
				for calls := 0; ; calls++ {
					m := r.change(r.Rebalance)
					if m.Old == m.New {
						break
					}
					require.Less(t, calls, n*(n-1)/2)
					kinds["rebalance"]++
				}
			default:
				for range rng.IntN(30) {
					r.put(fmt.Sprint(rng.IntN(400)), fmt.Sprint(rng.Uint64()))
				}
				r.requirePlaced()
			}
			if rng.IntN(8) == 0 {
				r.requireAnyMayDie()
			}
		}
	}
	t.Log(kinds)
	if testing.Short() {
		return // so few steps may leave one out
	}
	for _, kind := range []string{"join", "leave", "death", "rebalance"} { // each is one step of eight, of 640
		require.NotZero(t, kinds[kind], kind)
	}
}

// TestTwoDeaths checks that what had its only two copies on two nodes that died is reported, and nothing else is lost.
func TestTwoDeaths(t *testing.T) {
	r := newRig(t)
	for i := range 8 {
		r.change(func() (Moved, error) { return r.Join(nodeName(i)) })
	}
	for k := range 1000 {
		r.put(fmt.Sprint("item ", k), "x")
	}
	owner, _ := r.ring.Owner("item 0")
	dead := r.ring.AppendReplicas(nil, "item 0", 2)
	require.NoError(t, r.Kill(dead[0]))
	require.NoError(t, r.Kill(dead[1]))
	_, err := r.Get("item 0")
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, r.Put("item 0", "y"), ErrUnavailable)
	require.ErrorContains(t, r.Put("item 0", "y"), `"item 0"`)

	before := r.ring
	for _, do := range []func() (Moved, error){
		func() (Moved, error) { return r.Join("newcomer") },
		func() (Moved, error) { return r.Remove(dead[0]) },
		r.Rebalance,
	} {
		_, err = do()
		require.ErrorContains(t, err, "is down and has to be removed first")
		require.Same(t, before, r.ring)
	}
	m, err := r.Remove(dead...)
	require.NoError(t, err)
	var gone []hashring.Range
	for a := range before.Ranges(owner) {
		gone = append(gone, a)
	}
	require.Equal(t, gone, m.Lost)
	lost := 0
	for key := range r.model {
		if gone[0].Contains(before.Position(key)) {
			_, err := r.Get(key)
			require.ErrorIs(t, err, ErrNotFound)
			delete(r.model, key)
			lost++
		}
	}
	require.Positive(t, lost)
	r.requirePlaced()
	r.requireAnyMayDie()
}

// TestLastNodeDies checks that a store all of whose nodes are dead can begin anew.
func TestLastNodeDies(t *testing.T) {
	r := newRig(t)
	r.change(func() (Moved, error) { return r.Join("a") })
	r.put("key", "value")
	require.NoError(t, r.Kill("a"))
	_, err := r.Get("key")
	require.ErrorIs(t, err, ErrUnavailable)
	m, err := r.Remove("a")
	require.NoError(t, err)
	require.Len(t, m.Lost, 1)
	require.Equal(t, hashring.Share{Circles: 1}, m.Lost[0].Share())
	clear(r.model)
	r.requirePlaced()
	r.change(func() (Moved, error) { return r.Join("b") })
	r.put("key", "value")
	r.requirePlaced()
}

// TestErrors checks that what cannot be done is said, with the name, and changes nothing.
func TestErrors(t *testing.T) {
	r := newRig(t)
	require.ErrorIs(t, r.Put("key", "value"), ErrUnavailable)
	_, err := r.Get("key")
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, r.Kill("a"), `"a"`)
	m, err := r.Rebalance()
	require.NoError(t, err)
	require.Same(t, m.Old, m.New)
	_, err = r.Relieve("a")
	require.ErrorContains(t, err, `"a": there is no node to relieve`)
	require.Empty(t, r.nodes)

	r.change(func() (Moved, error) { return r.Join("a") })
	r.change(func() (Moved, error) { return r.Relieve("b") })
	r.put("key", "value")
	_, err = r.Get("nothing")
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, `"nothing"`)
	before, shelves := r.ring, r.shelves()
	for want, do := range map[string]func() (Moved, error){
		`join "b": there is such a node`:          func() (Moved, error) { return r.Join("b") },
		`the name is empty`:                       func() (Moved, error) { return r.Relieve("") },
		`remove "c": there is no such node`:       func() (Moved, error) { return r.Remove("a", "c") },
		`no node would be left to take the items`: func() (Moved, error) { return r.Remove("a", "b") },
	} {
		_, err := do()
		require.ErrorContains(t, err, want)
		require.Same(t, before, r.ring)
		require.Equal(t, shelves, r.shelves())
	}
	_, err = r.Join("")
	require.ErrorIs(t, err, hashring.ErrInvalidNode)
	r.requirePlaced()

	require.NoError(t, r.Kill("b"))
	for _, all := range [][]string{{"a", "b"}, {"b", "a"}} {
		_, err = r.Remove(all...)
		require.ErrorContains(t, err, "no node would be left", "one of %v is up", all)
		require.Same(t, before, r.ring)
	}
	r.requirePlaced()
}

// TestWhileTheRingChanges checks that whoever writes and reads while nodes come, go and die finds what he wrote.
func TestWhileTheRingChanges(t *testing.T) {
	s := NewStore()
	_, err := s.Join("first")
	require.NoError(t, err)
	const clients, changes, keys = 4, 20, 50
	ticks := make(chan struct{}) // one a round of a client: between two changes there are some
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			for i := range changes * keys {
				if i%keys == 0 {
					ticks <- struct{}{}
				}
				key, value := fmt.Sprint("item ", c, "-", i%keys), fmt.Sprint(i)
				if err := s.Put(key, value); err != nil {
					t.Error(err)
				}
				if got, err := s.Get(key); err != nil || got != value {
					t.Errorf("%s is %q, %v, not %q", key, got, err, value)
				}
			}
		})
	}
	must := func(m Moved, err error) {
		if err != nil || len(m.Lost) > 0 {
			t.Error(err, m.Lost)
		}
	}
	for i := range changes {
		for range clients {
			<-ticks
		}
		must(s.Join(nodeName(i)))
		if i%3 == 2 {
			must(s.Remove(nodeName(i - 1)))
			must(Moved{}, s.Kill(nodeName(i)))
			must(Moved{}, s.Describe(new(strings.Builder)))
			must(s.Remove(nodeName(i)))
		}
		must(s.Rebalance())
	}
	running.Wait()
	for c := range clients {
		for i := range keys {
			got, err := s.Get(fmt.Sprint("item ", c, "-", i))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint((changes-1)*keys+i), got)
		}
	}
}
