package hashring

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Ring is a consistent-hash ring: a circle of 2^64 positions with tokens on it, each held by a node. It is immutable:
// [New] builds one, [Ring.With] and [Ring.Without] derive others, and nothing ever changes one. The zero Ring is an
// empty ring with the default options. Every method may be called from any number of goroutines and takes no lock; none
// shares memory that can be written to with its caller.
//
// The owner of a position is the node of the first token at or after it, going round to the smallest token behind the
// largest. Of equal tokens all are kept and the first owns: that of the node whose name is lowest, or that which the
// [Placement] emitted first.
//
// A ring is a function of its nodes and options alone: the order in which nodes were given, added and removed, the
// process, the architecture and the release within this major version make no difference. Only under a Placement does
// the order count, since it does in the programs that such rules come from.
type Ring struct {
	circle          // see circle.go; empty without tokens
	hash   Hash     // of keys; nil is XXH64
	names  []string // of nodes, by index: all that a lookup needs of them, on few cache lines
	nodes  []Node   // in the order of their names; under a Placement in the order given
	sorted []uint32 // under a Placement, the indexes in the order of their names; else nil
	live   int      // how many nodes have tokens: all, but under a Placement
	zones  zones    // see spread.go
	opts   Options  // with the defaults filled in, but in the zero Ring
}

// New returns the ring of nodes. A nil opts means the defaults.
//
// Errors are [ErrOptions], [ErrInvalidNode], [ErrDuplicateNode], [ErrTooManyTokens] and [ErrPlacement]; those that a
// node causes are a [*NodeError] each. New sorts: it takes O(T) time for T tokens that are spread evenly, as hashed ones
// are, and O(T log T) at worst.
func New(nodes []Node, opts *Options) (*Ring, error) {
	if opts == nil {
		opts = new(Options)
	}
	full, hash, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	empty := &Ring{opts: full, hash: hash}
	return empty.set(nodes)
}

// set returns the ring of nodes, with the options of r.
func (r *Ring) set(nodes []Node) (*Ring, error) {
	next, err := r.check(nodes, 0)
	if err != nil {
		return nil, err
	}
	return r.derive(next, nodes)
}

// With returns the ring of r's nodes and those given; one whose name is in r already replaces that. If this changes
// nothing, it returns r itself. A change costs O(T): a merge of the new tokens into the old, or placing all anew under a
// Placement. Under one a replaced node keeps its place in the order, and others go to the end. Errors are those of [New].
//
// Keys move only to or from the nodes given, between others never. (Under a Placement, as its rule has it.)
func (r *Ring) With(nodes ...Node) (*Ring, error) {
	held := r.NumTokens()
	for _, n := range nodes {
		if i, ok := r.find(n.Name); ok && r.opts.Placement == nil {
			held -= tokenCount(r.nodes[i], r.opts.VirtualNodes)
		}
	}
	fresh, err := r.check(nodes, held)
	if err != nil {
		return nil, err
	}
	next := slices.Clone(r.nodes)
	for _, n := range fresh {
		if i, ok := r.find(n.Name); ok {
			next[i] = n
		} else {
			next = append(next, n)
		}
	}
	return r.derive(next, nodes)
}

// Without returns the ring of r's nodes but those named. Names that are not in r are ignored; if none is, it returns r
// itself. The cost is that of [Ring.With]. Keys move only away from the nodes named. An error can only come from a
// Placement, and is [ErrPlacement] or [ErrTooManyTokens].
func (r *Ring) Without(names ...string) (*Ring, error) {
	leave := make(map[int]bool, len(names))
	for _, name := range names {
		if i, ok := r.find(name); ok {
			leave[i] = true
		}
	}
	if len(leave) == 0 {
		return r, nil
	}
	next := make([]Node, 0, len(r.nodes)-len(leave))
	for i, n := range r.nodes {
		if !leave[i] {
			next = append(next, n)
		}
	}
	return r.derive(next, nil)
}

// Check returns what is wrong with nodes, as [New] with the options of r would: a [NodeError] for each that is
// [ErrInvalidNode] or [ErrDuplicateNode]. It makes no tokens, so it neither counts them nor asks a Placement. A source of
// nodes can tell with it at once that a list is no good. It costs O(N) for N nodes.
func (r *Ring) Check(nodes []Node) error {
	_, err := checked(nodes, r.opts.Placement != nil)
	return err
}

// check returns nodes in the form that a ring stores, or why they cannot be in one that has held tokens besides.
func (r *Ring) check(nodes []Node, held int) ([]Node, error) {
	opts := r.Options()
	out, err := checked(nodes, opts.Placement != nil)
	if err != nil || opts.Placement != nil {
		return out, err
	}
	for i, n := range out {
		c := tokenCount(n, opts.VirtualNodes)
		if c > opts.MaxTokens-held {
			return nil, &NodeError{i, n.Name, fmt.Errorf("%w: with its tokens there are more than %d", ErrTooManyTokens, opts.MaxTokens)}
		}
		held += c
	}
	return out, nil
}

// find returns the index of the node called name.
func (r *Ring) find(name string) (int, bool) {
	if r.sorted == nil {
		return slices.BinarySearchFunc(r.nodes, name, func(n Node, name string) int { return strings.Compare(n.Name, name) })
	}
	i, ok := slices.BinarySearchFunc(r.sorted, name, func(n uint32, name string) int { return strings.Compare(r.names[n], name) })
	if !ok {
		return 0, false
	}
	return int(r.sorted[i]), true
}

// Owner returns the node that owns key. ok is false if and only if the ring has no tokens, as an empty one has none. It
// does not allocate with a built-in hash, and costs little more than hashing the key, whatever the size of the ring.
func (r *Ring) Owner(key string) (name string, ok bool) {
	if r.hash == nil { // what sumOf does, without a call of it
		return r.OwnerAt(xxhash.Sum64String(key))
	}
	return r.OwnerAt(r.hash.Sum64(key))
}

// OwnerBytes is [Ring.Owner] for a key in bytes. With a built-in hash it does not copy or retain key.
func (r *Ring) OwnerBytes(key []byte) (name string, ok bool) {
	return r.OwnerAt(sumOfBytes(r.hash, key))
}

// OwnerAt is [Ring.Owner] for the key's position.
func (r *Ring) OwnerAt(pos uint64) (name string, ok bool) {
	if len(r.tokens) == 0 {
		return "", false
	}
	return r.names[r.owners[r.locate(pos)]], true
}

// Position returns where on the circle key is: its hash.
func (r *Ring) Position(key string) uint64 { return sumOf(r.hash, key) }

// PositionBytes is [Ring.Position] for a key in bytes. It copies key only for a Hash that is not built in.
func (r *Ring) PositionBytes(key []byte) uint64 { return sumOfBytes(r.hash, key) }

// IndexAt returns the index of the node that owns pos, or -1 if the ring has no tokens. Indexes run from 0 to Len()-1,
// and mean nothing on another ring.
func (r *Ring) IndexAt(pos uint64) int {
	if len(r.tokens) == 0 {
		return -1
	}
	return int(r.owners[r.locate(pos)])
}

// Name returns the name of the node with index i. It panics if there is none.
func (r *Ring) Name(i int) string { return r.names[i] }

// Node returns the node called name as the ring holds it: no weight is 0, tokens are ascending. It costs O(log N) for N
// nodes.
func (r *Ring) Node(name string) (node Node, ok bool) {
	i, ok := r.find(name)
	if !ok {
		return Node{}, false
	}
	return r.nodes[i].clone(), true
}

// Nodes yields the nodes by index: in the order of their names, or under a Placement in the order given.
func (r *Ring) Nodes() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		for i, n := range r.nodes {
			if !yield(i, n.clone()) {
				return
			}
		}
	}
}

// Len returns the number of nodes, those that a Placement gave no tokens included: a ring with nodes may own nothing.
func (r *Ring) Len() int { return len(r.nodes) }

// NumTokens returns the number of tokens.
func (r *Ring) NumTokens() int { return r.circle.len() }

// Tokens yields all tokens with the names of the nodes that hold them, ascending. Of equal tokens the first owns.
func (r *Ring) Tokens() iter.Seq2[uint64, string] {
	return func(yield func(uint64, string) bool) {
		for i := range r.NumTokens() {
			if !yield(r.tokens[i], r.names[r.owners[i]]) {
				return
			}
		}
	}
}

// TokensFrom yields every token once with the index of the node that holds it, clockwise from the first token at or
// after pos. A node comes as often as it has tokens.
func (r *Ring) TokensFrom(pos uint64) iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		n, i := r.NumTokens(), r.first(pos)
		for range n {
			if !yield(r.tokens[i], int(r.owners[i])) {
				return
			}
			if i++; i == n {
				i = 0
			}
		}
	}
}

// Options returns the options of the ring with the defaults filled in. New accepts them as they are.
func (r *Ring) Options() Options {
	if r.opts.MaxTokens == 0 { // the zero Ring
		opts, _, _ := Options{}.withDefaults()
		return opts
	}
	return r.opts
}

// Equal reports whether r and s have the same options but for MaxTokens, nodes and tokens. Hashes and placements are
// compared by name, and hashes also by the position of a few keys. It costs O(T).
func (r *Ring) Equal(s *Ring) bool {
	a, b := r.Options(), s.Options()
	return a.VirtualNodes == b.VirtualNodes && placementName(a.Placement) == placementName(b.Placement) && sameHash(r.hash, s.hash) &&
		slices.EqualFunc(r.nodes, s.nodes, sameNode) && slices.Equal(r.tokens, s.tokens) && slices.Equal(r.owners, s.owners)
}

// String describes the ring in one line, as in "hashring: 3 nodes, 480 tokens, keys by xxh64, 160 virtual nodes by
// native/1".
func (r *Ring) String() string {
	opts := r.Options()
	s := fmt.Sprintf("hashring: %d nodes, %d tokens, keys by %s, ", r.Len(), r.NumTokens(), hashName(r.hash))
	if opts.Placement != nil {
		return s + "placed by " + opts.Placement.Name()
	}
	return s + fmt.Sprintf("%d virtual nodes by %s", opts.VirtualNodes, nativeRule)
}

// reindex makes the index of each node in err that of the node in the nodes of the call.
func reindex(err error, call []Node) error {
	var at *NodeError
	if !errors.As(err, &at) {
		return err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all := slices.Clone(joined.Unwrap())
		for i := range all {
			all[i] = reindex(all[i], call)
		}
		return errors.Join(all...)
	}
	i := slices.IndexFunc(call, func(n Node) bool { return n.Name == at.Name })
	return &NodeError{i, at.Name, at.Err}
}
