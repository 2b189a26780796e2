package compat

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
)

// BenchmarkPlace builds rings of 100 servers.
func BenchmarkPlace(b *testing.B) {
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		b.Run(program, func(b *testing.B) {
			r, err := Named(program)
			if err != nil {
				b.Fatal(err)
			}
			nodes := labelled(b, r, serversFor(100))
			tokens := 0
			for b.Loop() {
				tokens = ringUnder(b, r, nodes...).NumTokens()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tokens), "ns/token")
		})
	}
}

// BenchmarkOwner looks keys of 16 bytes up: nearly all of it is the key hash.
func BenchmarkOwner(b *testing.B) {
	var keys []string
	for i := range 1024 {
		keys = append(keys, fmt.Sprintf("session:%08d", i))
	}
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		b.Run(program, func(b *testing.B) {
			r, err := Named(program)
			if err != nil {
				b.Fatal(err)
			}
			ring, err := hashring.New(labelled(b, r, serversFor(100)), &hashring.Options{Placement: r})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				ring.Owner(keys[i%len(keys)])
				i++
			}
		})
	}
}
