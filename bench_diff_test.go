package hashring_test

import (
	"fmt"
	"testing"

	"github.com/clockwise-go/hashring"
)

// diffRings are 1,000 nodes of 160 tokens in 7 zones, and the same with another node.
func diffRings(b *testing.B) (old, new *hashring.Ring) {
	nodes := benchNodes(1001, false)
	for i := range nodes {
		nodes[i].Zone = fmt.Sprint("zone-", i%7)
	}
	new = mustNew(b, nodes, nil)
	return mustWithout(b, new, nodes[500].Name), new
}

// BenchmarkDiff measures Diff of two rings of 160,000 tokens, BenchmarkCopyBoth what it is held against: copying the
// tokens and owners of both, 12 bytes each.
func BenchmarkDiff(b *testing.B) {
	old, joined := diffRings(b)
	reweighed := mustNew(b, benchNodes(1000, true), &hashring.Options{VirtualNodes: 64}) // as many tokens, most move
	for _, c := range []struct {
		name string
		new  *hashring.Ring
	}{{"join", joined}, {"unlike", reweighed}, {"from nothing", new(hashring.Ring)}} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				moves, err := hashring.Diff(c.new, old)
				if err != nil {
					b.Fatal(err)
				}
				n = 0
				for range moves {
					n++
				}
			}
			b.ReportMetric(float64(n), "moves")
		})
	}
}

func BenchmarkCopyBoth(b *testing.B) {
	old, new := diffRings(b)
	tokens, owners := make([]uint64, old.NumTokens()+new.NumTokens()), make([]uint32, old.NumTokens()+new.NumTokens())
	for b.Loop() {
		sink.Add(int64(copy(append([]uint64(nil), tokens...), tokens)))
		sink.Add(int64(copy(append([]uint32(nil), owners...), owners)))
	}
}

func BenchmarkDiffReplicas(b *testing.B) {
	old, new := diffRings(b)
	for _, p := range []hashring.Policy{{N: 3}, {N: 3, Spread: true}, {N: 10}, {N: 10, Spread: true}} {
		b.Run(fmt.Sprintf("n=%d/spread=%v", p.N, p.Spread), func(b *testing.B) {
			n := 0
			for b.Loop() {
				moves, err := hashring.DiffReplicas(old, new, p, p)
				if err != nil {
					b.Fatal(err)
				}
				n = 0
				for range moves {
					n++
				}
			}
			b.ReportMetric(float64(n), "moves")
		})
	}
}

func BenchmarkOwnership(b *testing.B) {
	_, r := diffRings(b)
	for _, p := range []hashring.Policy{{N: 1}, {N: 3}, {N: 3, Spread: true}} {
		b.Run(fmt.Sprintf("n=%d/spread=%v", p.N, p.Spread), func(b *testing.B) {
			for b.Loop() {
				sink.Add(int64(len(r.Ownership(p).Nodes)))
			}
		})
	}
}

func BenchmarkRanges(b *testing.B) {
	_, r := diffRings(b)
	for b.Loop() {
		for range r.Ranges(r.Name(0)) {
			sink.Add(1)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	_, r := diffRings(b)
	for b.Loop() {
		sink.Add(int64(r.Fingerprint()))
	}
}

func BenchmarkEncode(b *testing.B) {
	_, r := diffRings(b)
	for name, encode := range map[string]func() ([]byte, error){"binary": r.MarshalBinary, "json": r.MarshalJSON} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				data, err := encode()
				if err != nil {
					b.Fatal(err)
				}
				n = len(data)
			}
			b.ReportMetric(float64(n), "bytes")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	_, r := diffRings(b)
	bin, text := must(r.MarshalBinary()), must(r.MarshalJSON())
	b.Run("binary", func(b *testing.B) {
		for b.Loop() {
			sink.Add(int64(must(hashring.Decode(bin, nil)).Len()))
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			sink.Add(int64(must(hashring.DecodeJSON(text, nil)).Len()))
		}
	})
}

func BenchmarkTransition(b *testing.B) {
	old, new := diffRings(b)
	t := hashring.Transition{Old: old, New: new, Policy: hashring.Policy{N: 3}}
	var buf [16]string
	i := 0
	for b.Loop() {
		sink.Add(int64(len(t.AppendWrite(buf[:0], key(i)))))
		i++
	}
}
