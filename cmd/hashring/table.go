package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// round rounds fractions to 9 digits. The last bits of a float64 depend on the architecture, as some fuse a product with
// a sum.
func round(xs ...*float64) {
	for _, x := range xs {
		*x = math.Round(*x*1e9) / 1e9
	}
}

// report is what a command found.
type report interface{ writeText(w io.Writer) error }

// writeReport writes rep as JSON, for machines, or as text, for people. It returns the exit status.
func writeReport(rep report, asJSON bool, std streams, p *problems) int {
	write := rep.writeText
	if asJSON {
		write = func(w io.Writer) error { return writeJSON(w, rep) }
	}
	if err := write(std.out); err != nil {
		p.failure(err)
	}
	return p.report(std.err)
}

func writeJSON(w io.Writer, rep report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}

// percent formats a part of 1.
func percent(x float64) string { return fmt.Sprintf("%.2f%%", 100*x) }

// ratio formats a ratio, which is about 1 unless weights are far apart.
func ratio(x float64) string {
	if x >= 1e6 {
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func weight(w float64) string { return strconv.FormatFloat(w, 'g', -1, 64) }

// count formats a number of things.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatInt(n, 10) + " " + thing + "s"
}

// table is lines of cells, as many in each. Columns are aligned to the right but for the first ones.
type table struct {
	left int // how many are aligned to the left
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *strings.Builder) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < t.left {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
