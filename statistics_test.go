package hashring_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// What the tests of statistics measure by: formulas for tokens at independent, random positions, and names of nodes and
// keys as people give them. Names follow from the seed. With the one that is set, a test that passed goes on passing;
// with others it fails as often as its comment says, by chance.

// unlikely is the probability with which a test fails by chance that compares one number with a limit on each side.
const unlikely = 1e-6

// deviations returns how many standard deviations above its mean a normal quantity is with probability p: 4.75 for 1e-6.
func deviations(p float64) float64 { return math.Sqrt2 * math.Erfcinv(2*p) }

// aboveChiSquare returns the probability that a chi-square with an even number of degrees of freedom is above x: the one
// of fewer than df/2 events in a Poisson process of which x/2 are expected.
func aboveChiSquare(x float64, df int) float64 {
	sum, term := 0.0, math.Exp(-x/2)
	for k := range df / 2 {
		sum += term
		term *= x / 2 / float64(k+1)
	}
	return sum
}

// betaMoments returns the mean and the variance of the share of a node with v of all tokens, which has the distribution
// Beta(v, all-v); and a bound on the excess kurtosis, which is that of Gamma(v), of which a small share is a part.
func betaMoments(v, all float64) (mean, variance, kurtosis float64) {
	return v / all, v * (all - v) / (all * all * (all + 1)), 6 / v
}

// shareLimits returns limits of the shares of n nodes with v virtual nodes each, divided by the mean share: that any is
// above the upper has at most the probability p, and so has that any is below the lower. They are the two solutions of
// v(x - 1 - ln x) = ln(n/p): the Chernoff bounds of the gamma distribution with mean 1 and shape v, below which such a
// share is in the convex order, for n nodes.
func shareLimits(n, v int, p float64) (lower, upper float64) {
	l := math.Log(float64(n) / p)
	solve := func(inside, outside float64) float64 {
		for range 100 {
			x := (inside + outside) / 2
			if float64(v)*(x-1-math.Log(x)) < l {
				inside = x
			} else {
				outside = x
			}
		}
		return outside
	}
	return solve(1, 0), solve(1, 1+math.Sqrt(2*l/float64(v))+l/float64(v))
}

// The formulas against tables: of the normal and chi-square distributions, and of limits that were computed apart.
func TestFormulas(t *testing.T) {
	require.InDelta(t, 1.959964, deviations(0.025), 1e-6)
	require.InDelta(t, 4.753424, deviations(1e-6), 1e-6)
	for _, row := range []struct {
		x  float64
		df int
		p  float64
	}{{13.816, 2, 1e-3}, {27.631, 2, 1e-6}, {45.315, 20, 1e-3}, {31.410, 20, 0.05}, {10.851, 20, 0.95}, {5.921, 20, 0.999}, {149.449, 100, 1e-3}} {
		require.InEpsilon(t, row.p, aboveChiSquare(row.x, row.df), 1e-3, "%+v", row)
	}
	for _, row := range []struct {
		n, v         int
		lower, upper float64
	}{
		{3, 160, 0.564, 1.617}, {10, 40, 0.271, 2.487}, {10, 100, 0.465, 1.840}, {10, 160, 0.555, 1.636}, {10, 256, 0.634, 1.486},
		{100, 100, 0.446, 1.890}, {100, 160, 0.538, 1.673}, {100, 256, 0.619, 1.513}, {100, 512, 0.718, 1.348}, {1000, 160, 0.521, 1.708},
		{1000, 256, 0.604, 1.539}, {1000, 512, 0.706, 1.365}, {10000, 160, 0.506, 1.742}, {10000, 512, 0.696, 1.382},
	} {
		lower, upper := shareLimits(row.n, row.v, 1e-9)
		require.InDelta(t, row.lower, lower, 6e-4, "%+v", row)
		require.InDelta(t, row.upper, upper, 6e-4, "%+v", row)
	}
}

// shape is how somebody names nodes or keys: a name for each number below most, and no two alike.
type shape struct {
	name string
	most int
	of   func(i uint64) string
}

// nodeShapes are names of nodes, which others come from with another seed.
func nodeShapes(seed uint64) []shape {
	const many = 1 << 28
	uuid := func(i uint64) string {
		x := splitMix(seed + i)
		return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", x>>32, x>>16&0xffff, x&0xfff, x>>20&0xffff, splitMix(x)>>16)
	}
	pod := func(i uint64) string {
		const letters = "bcdfghjklmnpqrstvwxz2456789" // as Kubernetes has them
		name := []byte(fmt.Sprintf("cache-%08x-", uint32(splitMix(seed))))
		for x, k := i*7919, 0; k < 6; x, k = x/27, k+1 {
			name = append(name, letters[x%27])
		}
		return string(name)
	}
	kilobyte := strings.Repeat(fmt.Sprintf("%016x", splitMix(seed)), 63)
	byteOf := func(i uint64) string { return string([]byte{byte(i*77 + seed)}) }
	return []shape{
		{"sequential", many, func(i uint64) string { return fmt.Sprint("node", seed, "-", i) }},
		{"zero-padded", many, func(i uint64) string { return fmt.Sprintf("cache%d-%09d", seed, i) }},
		{"IPv4 and port", many, func(i uint64) string {
			a := uint32(10<<24 + splitMix(seed)<<28 + i)
			return fmt.Sprintf("%d.%d.%d.%d:11211", a>>24, a>>16&0xff, a>>8&0xff, a&0xff)
		}},
		{"IPv6 and port", many, func(i uint64) string { return fmt.Sprintf("[2001:db8::%x:%x]:6379", seed&0xffff, i) }},
		{"UUID", many, uuid},
		{"one byte", 256, byteOf},
		{"1 KiB", many, func(i uint64) string { return fmt.Sprintf("%s%016d", kilobyte, i) }},
		{"pod", many, pod},
		{"URL", many, func(i uint64) string { return fmt.Sprintf("https://shard-%d.eu-%d.example.com:8443/cache", i, seed) }},
		{"first byte", 256, func(i uint64) string { return byteOf(i) + fmt.Sprint("-cache.example.com:", seed) }},
		{"last byte", 256, func(i uint64) string { return fmt.Sprint("cache.example.com:", seed, "-") + byteOf(i) }},
		{"unicode", many, func(i uint64) string {
			return fmt.Sprintf("节点-%c%c-ü%d", rune(0x4e00+i%20000), rune(0x1f300+i/20000%500), seed+i/10_000_000)
		}},
	}
}

// keyShapes are keys.
func keyShapes(seed uint64) []shape {
	const many = 1 << 28
	prefix := strings.Repeat("/tenants/of/the/long/way", 8)
	return []shape{
		{"counter", many, func(i uint64) string { return fmt.Sprint(seed<<40>>1 + i) }},
		{"path", many, func(i uint64) string { return fmt.Sprintf("/img/%d/%d/%d.png", seed, i%97, i) }},
		{"UUID", many, nodeShapes(seed)[4].of},
		{"8 bytes", many, func(i uint64) string {
			x := seed<<40 + i
			return string([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), byte(x >> 40), byte(x >> 48), byte(x >> 56)})
		}},
		{"long prefix", many, func(i uint64) string { return fmt.Sprintf("%s/%d/%d", prefix, seed, i) }},
	}
}

func TestShapesHaveDistinctNames(t *testing.T) {
	s := seed.Of(t)
	for _, s := range slices.Concat(nodeShapes(s), keyShapes(s)) {
		seen := make(map[string]bool)
		for i := range min(s.most, 100_000) {
			name := s.of(uint64(i))
			require.False(t, seen[name], "%s: %q again", s.name, name)
			seen[name] = true
		}
	}
}

// named returns n nodes of a shape, from number first.
func (s shape) named(first, n int) []hashring.Node {
	nodes := make([]hashring.Node, n)
	for i := range nodes {
		nodes[i].Name = s.of(uint64(first + i))
	}
	return nodes
}

// requireMean checks the mean of independent numbers against theory, by their variance, or if that is 0 by the one that
// they show. Of some hundred numbers it is off by more than 5 deviations with a probability of 6e-7, or 1e-6.
func requireMean(t *testing.T, want, variance float64, x []float64, what string, args ...any) {
	t.Helper()
	n := float64(len(x))
	mean := 0.0
	for _, x := range x {
		mean += x / n
	}
	if variance == 0 {
		for _, x := range x {
			variance += (x - mean) * (x - mean) / (n - 1)
		}
	}
	off := (mean - want) / math.Sqrt(variance/n)
	t.Logf("%s: mean %.6g of %d, theory %.6g, off by %.2f deviations", fmt.Sprintf(what, args...), mean, len(x), want, off)
	require.LessOrEqual(t, math.Abs(off), 5.0, what, args)
}

// requireVariance checks the variance of independent numbers with a known mean and excess kurtosis in the same way: the
// square of the distance from the mean has the variance (2 + kurtosis) * variance².
func requireVariance(t *testing.T, mean, variance, kurtosis float64, x []float64, what string, args ...any) {
	t.Helper()
	squares := make([]float64, len(x))
	for i, x := range x {
		squares[i] = (x - mean) * (x - mean) / variance
	}
	requireMean(t, 1, 2+kurtosis, squares, what+", variance", args...)
}
