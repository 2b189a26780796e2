package hashring_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// conn is a value that knows whose it is and that it is another than any other.
type conn struct {
	node   string
	number int
}

// opener opens conns and remembers for whom.
type opener struct {
	opened []string
	fails  map[string]error
}

func (o *opener) open(n hashring.Node) (conn, error) {
	if err := o.fails[n.Name]; err != nil {
		return conn{}, err
	}
	o.opened = append(o.opened, n.Name)
	return conn{n.Name, len(o.opened)}, nil
}

// requireTable checks that t is a table of r by every way to ask it.
func requireTable(t *testing.T, r *hashring.Ring, table *hashring.Table[conn]) {
	t.Helper()
	require.Same(t, r, table.Ring())
	i := 0
	for name, v := range table.All() {
		require.Equal(t, r.Name(i), name)
		require.Equal(t, name, v.node)
		require.Equal(t, v, table.At(i))
		got, ok := table.Value(name)
		require.True(t, ok)
		require.Equal(t, v, got)
		i++
	}
	require.Equal(t, r.Len(), i)
	_, ok := table.Value("nobody")
	require.False(t, ok)
	for k := range 50 {
		key := fmt.Sprint("key-", k)
		owner, ok := r.Owner(key)
		v, got := table.Get(key)
		require.Equal(t, ok, got)
		require.Equal(t, owner, v.node)
		var names []string
		for name, v := range table.Replicas(key) {
			require.Equal(t, name, v.node)
			names = append(names, name)
		}
		require.Equal(t, r.AppendReplicas(nil, key, r.Len()), names)
	}
}

// Random changes against a model: a map from name to value. Values stay with their nodes, new ones are opened once, and
// Gone is exactly what the next table does not have.
func TestTableFollowsItsRing(t *testing.T) {
	rng := seed.Random(t)
	for _, opts := range []*hashring.Options{nil, {VirtualNodes: 3}, {Placement: colliding{mod: 7}}} {
		ring := mustNew(t, nil, opts)
		var o opener
		table, err := hashring.Bind(ring, nil, o.open)
		require.NoError(t, err)
		model := make(map[string]conn)
		for range seed.Rounds(t, 300) {
			old := maps.Clone(model)
			prev := table
			name := fmt.Sprint("node-", rng.IntN(12))
			switch rng.IntN(4) {
			case 0, 1:
				ring = mustWith(t, ring, hashring.Node{Name: name, Weight: float64(1 + rng.IntN(3)), Zone: fmt.Sprint(rng.IntN(3))})
			case 2:
				ring = mustWithout(t, ring, name, "node-1")
			case 3:
				v, had := model[name]
				next, ok := table.With(name, conn{name, -v.number - 1000})
				require.Equal(t, had, ok)
				if !ok {
					require.Nil(t, next)
					continue
				}
				model[name] = conn{name, -v.number - 1000}
				table = next
			}
			opened := len(o.opened)
			next, err := hashring.Bind(ring, table, o.open)
			require.NoError(t, err)
			if table.Ring() == ring {
				require.Same(t, table, next)
			}
			var fresh []string
			for _, n := range ring.Nodes() {
				if _, had := model[n.Name]; !had {
					fresh = append(fresh, n.Name)
					model[n.Name] = conn{n.Name, opened + len(fresh)}
				}
			}
			require.Equal(t, fresh, append([]string(nil), o.opened[opened:]...), "each new one once, by index")
			for name := range model {
				if _, ok := ring.Node(name); !ok {
					delete(model, name)
				}
			}
			table = next
			requireTable(t, ring, table)
			require.Equal(t, model, maps.Collect(table.All()))

			gone := make(map[string]conn)
			for name, v := range old {
				if model[name] != v {
					gone[name] = v
				}
			}
			require.Equal(t, gone, maps.Collect(prev.Gone(table)))
			require.Equal(t, old, maps.Collect(prev.All()), "a table never changes")
			require.Equal(t, old, maps.Collect(prev.Gone(new(hashring.Table[conn]))))
			require.Empty(t, maps.Collect(prev.Gone(prev)))
		}
	}
}

// Values that are equal are still told apart: a node that left and came back has another.
func TestGoneTellsEqualValuesApart(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a", "b"), nil)
	open := func(hashring.Node) (struct{}, error) { return struct{}{}, nil }
	bind := func(r *hashring.Ring, prev *hashring.Table[struct{}]) *hashring.Table[struct{}] {
		table, err := hashring.Bind(r, prev, open)
		require.NoError(t, err)
		return table
	}
	first := bind(r, nil)
	back := bind(r, bind(mustWithout(t, r, "a"), first))
	require.Equal(t, []string{"a"}, slices.Collect(maps.Keys(maps.Collect(first.Gone(back)))))
	other := bind(r, nil)
	require.Len(t, maps.Collect(first.Gone(other)), 2)
	renewed, ok := first.With("b", struct{}{})
	require.True(t, ok)
	for name := range first.Gone(renewed) {
		require.Equal(t, "b", name)
	}
	for range first.Gone(other) {
		break
	}
	for range first.All() {
		break
	}
	for range first.Replicas("key") {
		break
	}
}

func TestBindFails(t *testing.T) {
	boom := errors.New("boom")
	r := mustNew(t, hashring.Nodes("b"), nil)
	o := opener{fails: map[string]error{"d": boom}}
	prev, err := hashring.Bind(r, nil, o.open)
	require.NoError(t, err)

	next := mustWith(t, r, hashring.Nodes("a", "c", "d", "e")...)
	table, err := hashring.Bind(next, prev, o.open)
	require.Nil(t, table)
	require.ErrorIs(t, err, boom)
	require.EqualError(t, err, `hashring: node 3 ("d"): boom`)
	var failed *hashring.BindError[conn]
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []conn{{"a", 2}, {"c", 3}}, failed.Opened, "what b has is not of this call, and e was not tried")
	var at *hashring.NodeError
	require.ErrorAs(t, err, &at)
	require.Equal(t, "d", at.Name)
	requireTable(t, r, prev)

	o.fails = nil
	table, err = hashring.Bind(next, prev, o.open)
	require.NoError(t, err)
	requireTable(t, next, table)
	require.Equal(t, []string{"b", "a", "c", "a", "c", "d", "e"}, o.opened)
}

func TestZeroTable(t *testing.T) {
	var table hashring.Table[conn]
	requireTable(t, table.Ring(), &table)
	require.Zero(t, table.Ring().Len())
	_, ok := table.With("a", conn{})
	require.False(t, ok)
	require.Empty(t, maps.Collect(table.Gone(&table)))
	var o opener
	r := mustNew(t, hashring.Nodes("a"), nil)
	next, err := hashring.Bind(r, &table, o.open)
	require.NoError(t, err)
	requireTable(t, r, next)
	require.Empty(t, maps.Collect(table.Gone(next)))
	empty, err := hashring.Bind(new(hashring.Live).Load(), next, o.open)
	require.NoError(t, err)
	require.Len(t, maps.Collect(next.Gone(empty)), 1)
}

// The node that open gets shares nothing with the ring.
func TestOpenGetsACopy(t *testing.T) {
	r := mustNew(t, []hashring.Node{{Name: "a", Tokens: []uint64{1, 2}}}, nil)
	_, err := hashring.Bind(r, nil, func(n hashring.Node) (int, error) {
		n.Tokens[0] = 7
		return 0, nil
	})
	require.NoError(t, err)
	n, _ := r.Node("a")
	require.Equal(t, []uint64{1, 2}, n.Tokens)
}

// A value is that of the owner on the table's own ring, whatever happens to the Live beside it.
func TestTableUnderChanges(t *testing.T) {
	live := hashring.NewLive(mustNew(t, hashring.Nodes("a", "b", "c"), nil))
	var o opener
	var current atomic.Pointer[hashring.Table[conn]]
	bind := func(r *hashring.Ring) {
		next, err := hashring.Bind(r, current.Load(), o.open)
		if err != nil {
			t.Error(err)
			return
		}
		current.Store(next)
	}
	bind(live.Load())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			_, err := live.Update(func(r *hashring.Ring) (*hashring.Ring, error) {
				var next *hashring.Ring
				var err error
				if i%2 == 0 {
					next, err = r.Without("b")
				} else {
					next, err = r.With(hashring.Node{Name: "b"})
				}
				if err == nil {
					bind(next)
				}
				return next, err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}()
	for i := 0; ; i++ {
		table := current.Load()
		key := fmt.Sprint(i)
		owner, _ := table.Ring().Owner(key)
		v, ok := table.Get(key)
		require.True(t, ok)
		require.Equal(t, owner, v.node)
		select {
		case <-done:
			return
		default:
			if i%16 == 0 { // there may be but one thread
				runtime.Gosched()
			}
		}
	}
}

func TestTableDoesNotAllocate(t *testing.T) {
	sink := 0
	for _, n := range []int{1, 10, 1000} {
		r := mustNew(t, benchNodes(n, false), &hashring.Options{VirtualNodes: 10})
		var o opener
		table, err := hashring.Bind(r, nil, o.open)
		require.NoError(t, err)
		name := r.Name(n / 2)
		for what, f := range map[string]func(){
			"Get":   func() { v, _ := table.Get("key"); sink += v.number },
			"Value": func() { v, _ := table.Value(name); sink += v.number },
			"At":    func() { sink += table.At(n/2).number + table.Ring().Len() },
			"Replicas, 3": func() {
				k := 0
				for _, v := range table.Replicas("key") {
					if sink += v.number; k == 2 {
						break
					}
					k++
				}
			},
			"All": func() {
				for _, v := range table.All() {
					sink += v.number
				}
			},
			"Gone": func() {
				for _, v := range table.Gone(table) {
					sink += v.number
				}
			},
		} {
			require.Zero(t, testing.AllocsPerRun(5, f), "%s, %d nodes", what, n)
		}
	}
	require.NotZero(t, sink)
}

// BenchmarkTable looks values up, and beside it the names of their nodes.
func BenchmarkTable(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		table, err := hashring.Bind(r, nil, func(n hashring.Node) (*conn, error) { return &conn{node: n.Name}, nil })
		require.NoError(b, err)
		b.Run("Owner", func(b *testing.B) {
			i, s := 0, 0
			for b.Loop() {
				if _, ok := r.Owner(key(i)); ok {
					s++
				}
				i++
			}
			sink.Add(int64(s))
		})
		b.Run("Get", func(b *testing.B) {
			i, s := 0, 0
			for b.Loop() {
				if _, ok := table.Get(key(i)); ok {
					s++
				}
				i++
			}
			sink.Add(int64(s))
		})
	})
}

// BenchmarkBind binds a ring with one node more.
func BenchmarkBind(b *testing.B) {
	sizes(b, func(b *testing.B, _ []hashring.Node, r *hashring.Ring) {
		open := func(n hashring.Node) (*conn, error) { return &conn{node: n.Name}, nil }
		table, err := hashring.Bind(r, nil, open)
		require.NoError(b, err)
		join := mustWith(b, r, hashring.Node{Name: "joiner"})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hashring.Bind(join, table, open); err != nil {
				b.Fatal(err)
			}
		}
	})
}
