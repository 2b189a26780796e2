package history

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// members is a set of the nodes a to e, bit by bit. It is all there is to the state of a Live.
type members uint8

const (
	names  = "abcde"
	all    = members(1<<len(names) - 1)
	nobody = '-'
)

func (m members) nodes() (nodes []hashring.Node) {
	for i := range names {
		if m>>i&1 == 1 {
			nodes = append(nodes, hashring.Node{Name: names[i : i+1]})
		}
	}
	return nodes
}

func membersOf(r *hashring.Ring) (m members) {
	for _, n := range r.Nodes() {
		m |= 1 << (n.Name[0] - names[0])
	}
	return m
}

// live is what a [hashring.Live] can do.
type live interface {
	Load() *hashring.Ring
	Owner(key string) (string, bool)
	Add(...hashring.Node) (hashring.Change, error)
	Remove(...string) (hashring.Change, error)
	Set([]hashring.Node) (hashring.Change, error)
	Update(func(*hashring.Ring) (*hashring.Ring, error)) (hashring.Change, error)
}

// call is one call and what it is about: a key, or the nodes of a change.
type call struct {
	op    op
	key   string
	arg   members
	yield [2]bool // others may go first, others may go on before it is known to have returned
}

type op int

const (
	load op = iota
	owner
	add
	remove
	set
	fail // an Update that returns an error
	ops
)

// answer is what a call returned: the ring before and after it, or the owner that it found.
type answer struct {
	old, new members
	owner    byte
}

var errNo = errors.New("no")

func (c call) do(l live) answer {
	change := func(ch hashring.Change, err error) answer {
		if (c.op == fail) != (err != nil) {
			panic(err)
		}
		return answer{old: membersOf(ch.Old), new: membersOf(ch.New)}
	}
	switch c.op {
	case load:
		m := membersOf(l.Load())
		return answer{old: m, new: m}
	case owner:
		if name, ok := l.Owner(c.key); ok {
			return answer{owner: name[0]}
		}
		return answer{owner: nobody}
	case add:
		return change(l.Add(c.arg.nodes()...))
	case remove:
		var gone []string
		for _, n := range c.arg.nodes() {
			gone = append(gone, n.Name)
		}
		return change(l.Remove(gone...))
	case set:
		return change(l.Set(c.arg.nodes()))
	default:
		return change(l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return nil, errNo }))
	}
}

var keys = []string{"alpha", "beta", "gamma", "delta"}

// owners are those of each key, in each set of members, each on a ring that was made for it.
var owners = sync.OnceValue(func() map[string][]byte {
	found := make(map[string][]byte)
	for m := range all + 1 {
		r, err := hashring.New(m.nodes(), options)
		if err != nil {
			panic(err)
		}
		for _, key := range keys {
			name, ok := r.Owner(key)
			if !ok {
				name = string(nobody)
			}
			found[key] = append(found[key], name[0])
		}
	}
	return found
})

var options = &hashring.Options{VirtualNodes: 7}

// sequential is what a Live does when it is called by one goroutine.
var sequential = porcupine.Model{
	Init: func() any { return members(0) },
	Step: func(state, input, output any) (bool, any) {
		now, c := state.(members), input.(call)
		next := now
		switch c.op {
		case owner:
			return output.(answer).owner == owners()[c.key][now], now
		case add:
			next |= c.arg
		case remove:
			next &^= c.arg
		case set:
			next = c.arg
		}
		return output.(answer) == answer{old: now, new: next}, next
	},
}

// record lets six goroutines call l at random, each some times, and returns when each call began and ended.
func record(random *rand.Rand, l live) []porcupine.Operation {
	const clients, each = 6, 12
	history := make([]porcupine.Operation, clients*each)
	var clock atomic.Int64
	var ready, done sync.WaitGroup
	ready.Add(clients)
	for client := range clients {
		mine := history[client*each:][:each]
		for i := range mine {
			c := call{op: op(random.IntN(int(ops))), key: keys[random.IntN(len(keys))], arg: members(random.IntN(int(all) + 1))}
			c.yield = [2]bool{random.IntN(2) == 0, random.IntN(2) == 0}
			mine[i] = porcupine.Operation{ClientId: client, Input: c}
		}
		done.Go(func() {
			ready.Done()
			ready.Wait()
			for i := range mine {
				o, c := &mine[i], mine[i].Input.(call)
				o.Call = clock.Add(1)
				if c.yield[0] {
					runtime.Gosched()
				}
				o.Output = c.do(l)
				if c.yield[1] {
					runtime.Gosched()
				}
				o.Return = clock.Add(1)
			}
		})
	}
	done.Wait()
	return history
}

func TestLiveIsLinearizable(t *testing.T) {
	random := seed.Random(t)
	histories, overlaps := seed.Rounds(t, 1000), 0
	for range histories {
		history := record(random, hashring.NewLive(must(hashring.New(nil, options))))
		for _, o := range history {
			if o.Return > o.Call+1 {
				overlaps++
			}
		}
		require.True(t, porcupine.CheckOperations(sequential, history), "%v", history)
	}
	t.Logf("soak: %d histories of %d calls, %d of them at the same time as others", histories, 72*histories, overlaps)
	require.Positive(t, overlaps, "calls at one time are what this is about")
}

// torn is a Live whose writers do not take turns.
type torn struct{ *hashring.Live }

func (l torn) Add(nodes ...hashring.Node) (hashring.Change, error) {
	old := l.Load()
	runtime.Gosched()
	next, err := old.With(nodes...)
	if err != nil {
		return hashring.Change{}, err
	}
	_, err = l.Update(func(*hashring.Ring) (*hashring.Ring, error) { return next, nil })
	return hashring.Change{Old: old, New: next}, err
}

// stale is a Live whose readers see a change one change late.
type stale struct {
	*hashring.Live
	before *atomic.Pointer[hashring.Ring]
}

func (l stale) Load() *hashring.Ring { return l.before.Load() }

func (l stale) Set(nodes []hashring.Node) (hashring.Change, error) {
	c, err := l.Live.Set(nodes)
	l.before.Store(c.Old)
	return c, err
}

// The check finds what is not linearizable, so that its silence means something.
func TestWhatIsNotLinearizableIsFound(t *testing.T) {
	random := seed.Random(t)
	faulty := map[string]func(*hashring.Live) live{
		"writers that do not take turns": func(l *hashring.Live) live { return torn{l} },
		"readers that see the past": func(l *hashring.Live) live {
			before := new(atomic.Pointer[hashring.Ring])
			before.Store(l.Load())
			return stale{l, before}
		},
	}
	for name, make := range faulty {
		t.Run(name, func(t *testing.T) {
			found := 0
			for range 200 {
				if !porcupine.CheckOperations(sequential, record(random, make(hashring.NewLive(must(hashring.New(nil, options)))))) {
					found++
				}
			}
			t.Logf("found in %d of 200 histories", found)
			require.Positive(t, found)
		})
	}
}

func must(r *hashring.Ring, err error) *hashring.Ring {
	if err != nil {
		panic(err)
	}
	return r
}
