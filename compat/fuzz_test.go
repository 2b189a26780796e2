package compat

import (
	"errors"
	"testing"

	"github.com/clockwise-go/hashring"
)

// Whatever the name of the rule and the nodes, there is a ring or a typed error, and under a ring every key has an owner if
// there are tokens.
func FuzzRules(f *testing.F) {
	for _, r := range everyRule(f) {
		f.Add(r.Name(), "10.0.0.1:11211", "7", 1.0, "10.0.0.2", "", 3.0, "key{tag}")
	}
	f.Add("nginx", "h:", "", 1.5, "[", "]", 1e300, "")
	f.Fuzz(func(t *testing.T, rule, name1, label1 string, weight1 float64, name2, label2 string, weight2 float64, key string) {
		r, err := Named(rule)
		if err != nil {
			if !errors.Is(err, hashring.ErrOptions) {
				t.Fatalf("%q: %v", rule, err)
			}
			return
		}
		nodes := []hashring.Node{{Name: name1, Label: label1, Weight: weight1}, {Name: name2, Label: label2, Weight: weight2}}
		ring, err := hashring.New(nodes, &hashring.Options{Placement: r, MaxTokens: 1 << 14})
		if err != nil {
			for _, known := range []error{hashring.ErrInvalidNode, hashring.ErrDuplicateNode, hashring.ErrTooManyTokens} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("%q: %v", rule, err)
		}
		if owner, ok := ring.Owner(key); ok != (ring.NumTokens() > 0) || ok && owner != name1 && owner != name2 {
			t.Fatalf("%q: %q is on %q, %t", rule, key, owner, ok)
		}
		same, err := Named(r.Name())
		if err != nil || same.Name() != r.Name() {
			t.Fatalf("%q: %v", r.Name(), err)
		}
	})
}
