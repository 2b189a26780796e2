package bench

import (
	"math"
	"sync"
	"testing"
)

// quality is how evenly a peer places keys, and how many it moves, in percent.
type quality struct {
	deviation float64 // standard deviation of the nodes' keys, in percent of their mean
	peak      float64 // the fullest node, over the mean
	join      float64 // keys that move when a node joins: at best 100/(n+1)
	leave     float64 // keys that move when a node from the middle of the list leaves: at best 100/n
	stray     float64 // keys that moved, in both, between nodes that were there before and after
}

// qualityOf counts keys on rings of n nodes, and on enough rings that chance, of which a small ring has much, evens out.
func qualityOf(p peer, n int) quality {
	rings, keys := 1, allKeys() // 1,000 nodes: their own number evens it out
	switch {
	case n <= 10:
		rings, keys = 64, keys[:1<<15]
	case n <= 100:
		rings, keys = 8, keys[:1<<18]
	}
	var q quality
	var squares float64
	for set := range rings {
		names := nodeNames(n+1, set)
		nodes, joiner := names[:n], names[n]
		var r changer
		if set == 0 {
			r = made(p, n).(changer)
		} else {
			r = p.make(nodes).(changer)
		}
		was := owners(r, keys)
		peak, sq := spreadOf(was, n)
		q.peak += peak
		squares += sq

		joined := r.With(joiner)
		is := owners(joined, keys)
		q.join += float64(moved(was, is))
		q.stray += float64(stray(was, is, joiner))
		if joined == r {
			r = joined.Without(joiner)
		}

		leaver := nodes[n/2]
		left := r.Without(leaver)
		is = owners(left, keys)
		q.leave += float64(moved(was, is))
		q.stray += float64(stray(was, is, leaver))
		if left == r {
			left.With(leaver) // the ring may be one that others use too
		}
	}
	q.deviation = 100 * math.Sqrt(squares/float64(rings*n))
	q.peak /= float64(rings)
	percent := 100 / float64(rings*len(keys))
	q.join *= percent
	q.leave *= percent
	q.stray *= percent
	return q
}

var allKeys = sync.OnceValue(func() []string { return randomKeys(1 << 20) })

func owners(r placer, keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = r.Owner(key)
	}
	return out
}

// spreadOf returns, of n nodes, the largest number of keys over the mean, and the sum of the squares of what all such
// ratios differ from 1.
func spreadOf(owners []string, n int) (peak, squares float64) {
	counts := make(map[string]int, n)
	for _, owner := range owners {
		counts[owner]++
	}
	mean := float64(len(owners)) / float64(n)
	for _, c := range counts {
		ratio := float64(c) / mean
		peak = max(peak, ratio)
		squares += (ratio - 1) * (ratio - 1)
	}
	return peak, squares + float64(n-len(counts)) // nodes without a key
}

// moved returns how many keys have another owner.
func moved(was, is []string) (n int) {
	for i := range was {
		if was[i] != is[i] {
			n++
		}
	}
	return n
}

// stray returns how many keys moved neither from nor to the node that changed.
func stray(was, is []string, changed string) (n int) {
	for i := range was {
		if was[i] != is[i] && was[i] != changed && is[i] != changed {
			n++
		}
	}
	return n
}

// BenchmarkQuality reports the quality of each peer. It measures no time.
func BenchmarkQuality(b *testing.B) {
	each(b, []int{10, 100, 1000}, libraries, func(b *testing.B, p peer, n int) {
		q := sync.OnceValue(func() quality { return qualityOf(p, n) })
		b.Run(path(p), func(b *testing.B) {
			b.ReportMetric(q().deviation, "deviation-%")
			b.ReportMetric(q().peak, "peak/mean")
			b.ReportMetric(q().join, "join-%")
			b.ReportMetric(q().leave, "leave-%")
			b.ReportMetric(q().stray, "stray-%")
			b.ReportMetric(0, "ns/op")
		})
	})
}
