package hashring

import (
	"fmt"
	"unicode/utf8"
)

// Options says how a ring places keys and nodes. The zero value is the default. All but MaxTokens are part of the
// ring's identity: rings that have to agree need the same.
type Options struct {
	// Hash is the hash of keys; nil is [XXH64]. It must be nil with a Placement that fixes its own.
	Hash Hash

	// VirtualNodes is the number of tokens that a node has per unit of weight; 0 is 160. The shares of equal nodes have a
	// standard deviation of about 1/sqrt(VirtualNodes) of their mean: 8 % by default. It must be 0 with a Placement.
	VirtualNodes int

	// Placement decides the tokens of nodes; nil is the native rule, under which a change of one node moves no keys
	// between the others.
	Placement Placement

	// MaxTokens bounds the tokens of a ring, and with them its memory, at 17 to 23 bytes a token; 0 is 1<<24. More are
	// refused with [ErrTooManyTokens] before memory for them is taken.
	MaxTokens int
}

const (
	defaultVirtualNodes = 160
	defaultMaxTokens    = 1 << 24
	maxMaxTokens        = 1<<30 - 1 // places are counted in 32 bits
)

// withDefaults returns o with the defaults filled in, and the hash of keys: nil for XXH64. It accepts its own result.
func (o Options) withDefaults() (Options, Hash, error) {
	var p problems
	fail := func(format string, args ...any) {
		p.add(fmt.Errorf("hashring: %w: %s", ErrOptions, fmt.Sprintf(format, args...)))
	}
	if o.VirtualNodes < 0 {
		fail("VirtualNodes is %d", o.VirtualNodes)
	}
	if o.MaxTokens < 0 || o.MaxTokens > maxMaxTokens {
		fail("MaxTokens is %d, not between 0 and %d", o.MaxTokens, maxMaxTokens)
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	hash := o.Hash
	if o.Placement == nil {
		if o.VirtualNodes == 0 {
			o.VirtualNodes = defaultVirtualNodes
		}
	} else {
		name := o.Placement.Name()
		if name == nativeRule {
			fail("the Placement is called %s, as the native rule is", name)
		}
		if name == "" || !utf8.ValidString(name) {
			fail("the Placement is called %q: it needs a name in UTF-8", name)
		}
		if o.VirtualNodes > 0 {
			fail("VirtualNodes is %d, but placement %s decides the tokens of a node", o.VirtualNodes, name)
		}
		if fixed := o.Placement.Hash(); fixed != nil {
			if hash != nil {
				fail("Hash is %s, but placement %s fixes the hash of keys, %s", hash.Name(), name, fixed.Name())
			}
			hash = fixed
		}
	}
	switch h := hash.(type) {
	case nil: // neither is given
		o.Hash = XXH64
	case BuiltinHash:
		if int(h) >= len(builtinNames) {
			fail("%s is not a built-in hash", h.Name())
		}
		if h == XXH64 {
			hash = nil
		}
	default:
		if name := hash.Name(); name == "" || !utf8.ValidString(name) {
			fail("the Hash is called %q: it needs a name in UTF-8", name)
		}
	}
	return o, hash, p.err()
}

func placementName(p Placement) string {
	if p == nil {
		return nativeRule
	}
	return p.Name()
}

func hashName(h Hash) string {
	if h == nil {
		return XXH64.Name()
	}
	return h.Name()
}

// probes are keys whose positions tell hashes of one name apart, as those of another seed. One is longer than the
// blocks that hashes work in.
var probes = [...]string{"", "hashring", "The quick brown fox jumps over the lazy dog, again and again and again."}

// sameHash reports whether a and b have the same name and give the probes the same positions.
func sameHash(a, b Hash) bool {
	if hashName(a) != hashName(b) {
		return false
	}
	for _, key := range probes {
		if sumOf(a, key) != sumOf(b, key) {
			return false
		}
	}
	return true
}
