package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// rig is a store beside the model of it: a map of what was put.
type rig struct {
	*testing.T
	*Store
	model map[string]string
}

func newRig(t *testing.T) *rig { return &rig{t, NewStore(), make(map[string]string)} }

// check is require.True for what is asked so often that its arguments would take most of the time.
func (r *rig) check(ok bool, format string, args ...any) {
	if !ok {
		r.Helper()
		require.Failf(r, "misplaced", format, args...)
	}
}

// put puts a value in both.
func (r *rig) put(key, value string) {
	r.Helper()
	require.NoError(r, r.Put(key, value))
	r.model[key] = value
}

// clone returns a rig on its own, with a copy of everything.
func (r *rig) clone() *rig {
	c := newRig(r.T)
	c.ring = r.ring
	for name, n := range r.nodes {
		c.nodes[name] = &node{slices.Clone(n.shelf), n.down}
	}
	maps.Copy(c.model, r.model)
	return c
}

// shelves returns which keys each node has.
func (r *rig) shelves() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for name, n := range r.nodes {
		all[name] = make(map[string]bool)
		for _, it := range n.shelf {
			all[name][it.key] = true
		}
	}
	return all
}

// requirePlaced checks that each item of the model is on the nodes that Owner and AppendReplicas name and that are up,
// on no others, in order, and that it can be read.
func (r *rig) requirePlaced() {
	r.Helper()
	want := make(map[string]shelf)
	for _, n := range r.ring.Nodes() {
		want[n.Name] = nil
		require.Len(r, n.Tokens, 1)
	}
	for key, value := range r.model {
		names := r.ring.AppendReplicas(nil, key, 2)
		owner, _ := r.ring.Owner(key)
		r.check(len(names) == min(2, r.ring.Len()) && names[0] == owner, "%q belongs to %s and %v", key, owner, names)
		for _, name := range names {
			if !r.nodes[name].down {
				want[name] = append(want[name], item{r.ring.Position(key), key, value})
			}
		}
		got, err := r.Get(key)
		r.check(err == nil && got == value, "%q is %q, %v, not %q", key, got, err, value)
	}
	require.Len(r, r.nodes, len(want))
	for name, items := range want {
		require.Contains(r, r.nodes, name)
		slices.SortFunc(items, func(a, b item) int {
			return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.key, b.key))
		})
		require.True(r, slices.Equal(items, r.nodes[name].shelf), "the shelf of %s", name)
	}
	_, err := r.Get("never put")
	if len(want) == 0 {
		require.ErrorIs(r, err, ErrUnavailable)
	} else {
		require.ErrorIs(r, err, ErrNotFound)
	}
}

// change makes a change, of which it checks that it moved exactly what Diff and DiffReplicas say, item by item and by
// their positions; and that afterwards everything is in its place.
func (r *rig) change(do func() (Moved, error)) Moved {
	r.Helper()
	old, before := r.ring, r.shelves()
	wasDown := make(map[string]bool)
	for name, n := range r.nodes {
		wasDown[name] = n.down
	}
	m, err := do()
	require.NoError(r, err)
	require.Same(r, old, m.Old)
	require.Same(r, r.ring, m.New)
	after := r.shelves()

	moves, err := hashring.Diff(m.Old, m.New)
	require.NoError(r, err)
	var handed []hashring.Move
	items := 0 // that were handed on
	for _, h := range m.Handed {
		handed = append(handed, h.Move)
		if h.To != "" {
			require.Equal(r, r.within(h.Range), h.Items)
		}
		items += h.Items
	}
	require.Equal(r, slices.Collect(moves), handed)

	all, err := hashring.DiffReplicas(m.Old, m.New, copies, copies)
	require.NoError(r, err)
	changes := slices.Collect(all)
	owners, copied, dropped := 0, 0, 0
	for key := range r.model {
		pos := m.Old.Position(key)
		from, _ := m.Old.OwnerAt(pos)
		to, _ := m.New.OwnerAt(pos)
		h := only(r, handed, pos, func(m hashring.Move) hashring.Range { return m.Range })
		r.check((from != to) == (h != nil), "%q went from %s to %s, and Diff says %v", key, from, to, h)
		if h != nil {
			r.check(h.From == from && h.To == to, "%q went from %s to %s, not as %v", key, from, to, h)
			owners++
		}

		var said hashring.ReplicaMove
		if c := only(r, changes, pos, func(m hashring.ReplicaMove) hashring.Range { return m.Range }); c != nil {
			said = *c
		}
		for name := range after {
			came := after[name][key] && !before[name][key]
			r.check(came == slices.Contains(said.Gained, name), "%q came to %s: %v, against %v", key, name, came, said)
			if came {
				toIt := slices.DeleteFunc(slices.Clone(m.Copied), func(c Copied) bool { return c.To != name })
				c := only(r, toIt, pos, func(c Copied) hashring.Range { return c.Range })
				r.check(c != nil && before[c.From][key], "%q came to %s by %v, from where it was not", key, name, c)
				copied++
			}
		}
		for name := range before {
			went, of := before[name][key] && !after[name][key], said.Lost
			if after[name] == nil {
				of = said.Departed
			} else if went {
				dropped++
			}
			r.check(went == slices.Contains(of, name) || wasDown[name], "%q went from %s: %v, against %v", key, name, went, said)
		}
	}
	require.Equal(r, owners, items)
	require.Equal(r, copied, m.copied(), "nothing is copied in vain")
	require.Equal(r, dropped, m.dropped())
	for _, c := range m.Copied {
		require.Equal(r, r.within(c.Range), c.Items)
	}
	for _, d := range m.Dropped {
		require.Equal(r, r.within(d.Range), d.Items)
	}
	require.Empty(r, m.Lost)
	r.requirePlaced()
	return m
}

// within returns how many items of the model are in a.
func (r *rig) within(a hashring.Range) (n int) {
	for key := range r.model {
		if a.Contains(r.ring.Position(key)) {
			n++
		}
	}
	return n
}

// only returns the one element whose range has pos in it, or nil if there is none.
func only[E any](r *rig, list []E, pos uint64, of func(E) hashring.Range) (found *E) {
	for i, e := range list {
		if of(e).Contains(pos) {
			r.check(found == nil, "position %d is in two ranges", pos)
			found = &list[i]
		}
	}
	return found
}

// requireAnyMayDie checks, for each node, that if it dies everything can still be read, and written; and that once it is
// removed, everything has two copies again. The store is as it was then.
func (r *rig) requireAnyMayDie() {
	r.Helper()
	if len(r.nodes) < 2 {
		return
	}
	for name := range r.nodes {
		c := r.clone()
		require.NoError(r, c.Kill(name))
		require.Empty(r, c.nodes[name].shelf)
		c.requirePlaced()
		c.put("written meanwhile", name)
		for key := range c.model {
			c.put(key, "again")
			break
		}
		c.requirePlaced()
		c.change(func() (Moved, error) { return c.Remove(name) })
	}
}

// nodeName returns the name of node i.
func nodeName(i int) string { return fmt.Sprintf("n%02d", i) }
