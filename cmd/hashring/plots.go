package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/cmd/hashring/internal/plot"
)

// The most that a picture can show.
const (
	plotTokens = 4096
	plotKeys   = 3
	plotSizes  = 5
)

// fits reports a ring that no picture of its arcs can show.
func fits(ring *hashring.Ring, p *problems) {
	if ring.Len() > plot.Colours {
		p.input("hashring plot", "there are %d nodes, but colours for %d", ring.Len(), plot.Colours)
	}
	if ring.NumTokens() > plotTokens {
		p.input("hashring plot", "there are %d tokens, more than the %d that can be seen; lower -vnodes",
			ring.NumTokens(), plotTokens)
	}
}

func (f *plotFlags) drawRing(ring *hashring.Ring, _ streams, p *problems) string {
	fits(ring, p)
	keys := f.Args()[1:]
	if len(keys) > plotKeys {
		p.input(f.where(), "there are %d keys; a picture has room for %d", len(keys), plotKeys)
	}
	if f.replicas < 1 {
		p.input("-replicas", "%d is less than 1", f.replicas)
	}
	if p.status != exitOK {
		return ""
	}
	return plot.Ring(ring, keys, f.replicas)
}

func (f *plotFlags) drawMove(ring *hashring.Ring, _ streams, p *problems) string {
	kind, given := join, 0
	for _, k := range []string{join, leave, double} {
		if f.given[k] {
			kind = k
			given++
		}
	}
	if given > 1 {
		p.input(f.where(), "give only one of -join, -leave and -double")
		return ""
	}
	c := f.changing.of(ring, p, kind)[0]
	if p.status != exitOK {
		return ""
	}
	larger := ring
	if c.ring.NumTokens() > ring.NumTokens() {
		larger = c.ring
	}
	if fits(larger, p); p.status != exitOK {
		return ""
	}
	svg, err := plot.Move(ring, c.ring, describe(c.kind, c.node.Name, c.node.Weight))
	if err != nil {
		p.failure(err)
	}
	return svg
}

func (f *plotFlags) drawLoad(ring *hashring.Ring, std streams, p *problems) string {
	if ring.Len() > plot.MaxLoads {
		p.input(f.where(), "there are %d nodes; a picture has room for %d", ring.Len(), plot.MaxLoads)
	}
	title, unit, proviso := "What each node owns of the circle", "share of the circle / share of the weights", ""
	counts, total := make([]int64, ring.Len()), int64(0)
	if f.given["keys"] {
		keys, done := openKeys(f.keys, f.where(), std.in, f.members.file == "-", p)
		if keys != nil {
			for key := range newProgress(std.err, 0).watch(keys) {
				counts[ring.IndexAt(ring.PositionBytes(key))]++
				total++
			}
		}
		if done(); p.status == exitOK && total == 0 {
			p.input("-keys", "there are no keys in %s", f.keys)
		}
		title, unit = fmt.Sprintf("Who has how much of %s", count(total, "key")), "share of the keys / share of the weights"
		proviso = ", if no key came twice"
	}
	if p.status != exitOK {
		return ""
	}
	var loads []plot.Load
	for i, n := range ring.Ownership(hashring.Policy{}).Nodes {
		share, variance := n.Owned().Fraction(), shareVariance(n.Tokens, ring.NumTokens())
		if total > 0 {
			share = part(counts[i], total)
			variance += drawVariance(n.Tokens, ring.NumTokens()) / float64(total)
		}
		mean := float64(n.Tokens) / float64(ring.NumTokens()) / n.Ideal
		l := plot.Load{Node: n.Name, Ratio: share / n.Ideal, Mean: mean, Deviation: mean * math.Sqrt(variance)}
		round(&l.Ratio, &l.Mean, &l.Deviation)
		loads = append(loads, l)
	}
	return plot.Loads(loads, title, unit, proviso)
}

// What drawPeak measures: means over as many rings as have so many tokens together, of random names. The fewer tokens a
// ring has, the more its peak varies, and the more rings there are.
const (
	peakNodes      = 2000 // of a ring at most
	peakTokens     = 600_000
	minPeakRings   = 2
	maxPeakRings   = 200
	peakConfidence = 0.999999
)

func (f *plotFlags) drawPeak(_ *hashring.Ring, std streams, p *problems) string {
	var sizes []int
	for word := range strings.SplitSeq(f.sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		switch {
		case err != nil || n < 2 || n > peakNodes:
			p.input("-sizes", "%q is not a number from 2 to %d", word, peakNodes)
		case slices.Contains(sizes, n):
			p.input("-sizes", "%d is there more than once", n)
		default:
			sizes = append(sizes, n)
		}
	}
	if len(sizes) > plotSizes {
		p.input("-sizes", "there are %d sizes; a picture has room for %d", len(sizes), plotSizes)
	}
	if p.status != exitOK {
		return ""
	}
	shown := newProgress(std.err, 0)
	defer shown.erase()
	var curves []plot.Curve
	for i, n := range sizes {
		shown.step(i, len(sizes), fmt.Sprintf("rings of %d nodes", n))
		curve, err := peaks(n)
		if err != nil {
			p.failure(err)
			return ""
		}
		curves = append(curves, curve)
	}
	return plot.Peaks(curves, fmt.Sprintf("solid: means over %d to %d rings; dashed: what at most one ring in 1,000,000 exceeds",
		minPeakRings, maxPeakRings))
}

// peaks measures rings of n nodes.
func peaks(n int) (plot.Curve, error) {
	curve := plot.Curve{Nodes: n}
	for v := 10; v <= 1280; v *= 2 {
		rings := min(max(minPeakRings, peakTokens/(n*v)), maxPeakRings)
		sum := 0.0
		for i := range rings {
			nodes := make([]hashring.Node, n)
			for j := range nodes {
				nodes[j].Name = fmt.Sprintf("ring-%d-node-%d", i, j)
			}
			ring, err := hashring.New(nodes, &hashring.Options{VirtualNodes: v})
			if err != nil {
				return curve, err
			}
			sum += ring.Ownership(hashring.Policy{}).Owned.Peak
		}
		mean := sum / float64(rings)
		round(&mean)
		curve.Measured = append(curve.Measured, plot.Point{VirtualNodes: v, Peak: mean})
	}
	for excess := 1.6; ; excess *= 0.94 {
		v, err := hashring.VirtualNodesFor(n, 1+excess, peakConfidence)
		if err != nil {
			return curve, err
		}
		if v > plot.MaxVirtualNodes {
			return curve, nil
		}
		curve.Bound = append(curve.Bound, plot.Point{VirtualNodes: v, Peak: 1 + excess})
	}
}
