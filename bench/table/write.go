package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// write writes r as a table in Markdown.
func write(out io.Writer, r *results) error {
	others := slices.DeleteFunc(slices.Clone(r.peers), func(p peer) bool { return p.name == reference })
	header := []string{"", reference, "best ring"}
	for _, p := range others {
		header = append(header, p.name)
	}
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	b.WriteString("|---|" + strings.Repeat("--:|", len(header)-1) + "\n")
	for _, at := range r.rows {
		ours, ok := summarize(r.cells[cell{at, reference}])
		if !ok {
			return fmt.Errorf("%s: nothing to compare with, no result of %s", title(at), reference)
		}
		best, found := math.Inf(1), "–"
		var cells []string
		for _, p := range others {
			theirs, ok := summarize(r.cells[cell{at, p.name}])
			if !ok {
				cells = append(cells, "–")
				continue
			}
			text := compare(theirs, ours, at.unit)
			cells = append(cells, text)
			if p.kind == "ring" && theirs.median < best {
				best, found = theirs.median, text
			}
		}
		line(append([]string{title(at), measure(ours.median, at.unit) + ours.plusMinus(), found}, cells...))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// title is how a row is called: "Lookup/nodes=10/keys=path" in ns/op as "Lookup, nodes 10, keys path", and in another
// unit with that behind it.
func title(at row) string {
	s := strings.NewReplacer("/", ", ", "=", " ").Replace(at.what)
	if at.unit != "ns/op" {
		s += ": " + at.unit
	}
	return s
}

// summary is the median of some values, and half the distance of their quartiles as a part of it.
type summary struct{ median, spread float64 }

// summarize is false for no values.
func summarize(values []float64) (summary, bool) {
	if len(values) == 0 {
		return summary{}, false
	}
	values = slices.Sorted(slices.Values(values))
	s := summary{median: quantile(values, 0.5)}
	if s.median != 0 {
		s.spread = (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / math.Abs(s.median)
	}
	return s, true
}

// quantile returns the value that a part q of the sorted values is below, between two of them by interpolation.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// plusMinus is the spread in whole percent, if it is one or more.
func (s summary) plusMinus() string {
	if percent := math.Round(100 * s.spread); percent >= 1 {
		return fmt.Sprintf(" ±%.0f%%", percent)
	}
	return ""
}

// compare is theirs over ours, in bold where theirs is less.
func compare(theirs, ours summary, unit string) string {
	if ours.median == 0 {
		return measure(theirs.median, unit) + theirs.plusMinus()
	}
	ratio := summary{theirs.median / ours.median, theirs.spread + ours.spread}
	text := significant(ratio.median)
	if ratio.median < 0.995 { // and so does not read 1.00
		text = "**" + text + "**"
	}
	return text + ratio.plusMinus()
}

// measure is a value with its unit, if the title of its row does not say that already.
func measure(value float64, unit string) string {
	switch unit {
	case "ns/op":
	case "allocs/op":
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		return significant(value)
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if value >= u.ns {
			return significant(value/u.ns) + " " + u.name
		}
	}
	return significant(value) + " ns"
}

// significant is v in three digits, or all of them before the point.
func significant(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := func(v float64) int { return max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))) }
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals(v), 64), 64) // 0.9999 to 1.000, which has four
	return strconv.FormatFloat(v, 'f', decimals(rounded), 64)
}
