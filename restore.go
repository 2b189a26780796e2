package hashring

import "fmt"

// saved is what an encoding of a ring holds, in whatever format.
type saved struct {
	hash, placement string
	virtualNodes    int
	nodes           []Node
	fingerprint     uint64
}

// restore makes the ring. opts supplies what is not built in.
func (s saved) restore(opts *Options) (*Ring, error) {
	if opts == nil {
		opts = new(Options)
	}
	o := Options{VirtualNodes: s.virtualNodes, MaxTokens: opts.MaxTokens}
	if s.placement != nativeRule {
		if opts.Placement == nil || opts.Placement.Name() != s.placement {
			return nil, fmt.Errorf("hashring: %w: the ring is placed by %q, which is not among the options", ErrPlacement, s.placement)
		}
		o.Placement = opts.Placement
	}
	hash, err := s.hashOf(o.Placement, opts.Hash)
	if err != nil {
		return nil, err
	}
	o.Hash = hash
	for i, n := range s.nodes {
		if n.Weight == 0 { // which New would take for 1
			return nil, &NodeError{i, n.Name, fmt.Errorf("%w: weight 0; to drain a node is to remove it", ErrInvalidNode)}
		}
	}
	r, err := New(s.nodes, &o)
	if err != nil {
		return nil, err
	}
	if got := r.Fingerprint(); got != s.fingerprint {
		return nil, fmt.Errorf("hashring: %w: %d, of the ring that was encoded %d", ErrFingerprint, got, s.fingerprint)
	}
	return r, nil
}

// hashOf returns what Options.Hash must be: given, if that has the name of the ring's hash, or a built-in one. It is nil
// if placement fixes the hash.
func (s saved) hashOf(placement Placement, given Hash) (Hash, error) {
	if placement != nil {
		if fixed := placement.Hash(); fixed != nil {
			if fixed.Name() != s.hash {
				return nil, fmt.Errorf("hashring: %w: the ring places keys by %q, but placement %s fixes %s", ErrHash, s.hash, s.placement, fixed.Name())
			}
			return nil, nil
		}
	}
	if given != nil && given.Name() == s.hash {
		return given, nil
	}
	if builtin, ok := HashNamed(s.hash); ok {
		return builtin, nil
	}
	return nil, fmt.Errorf("hashring: %w: the ring places keys by %q, which is neither built in nor among the options", ErrHash, s.hash)
}
