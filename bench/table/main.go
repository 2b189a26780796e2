// Table reads the output of the benchmarks of this module and writes a table of ratios in Markdown: a row for each thing
// measured, a column for each library.
//
//	go test -run '^$' -bench . -count 10 | go run ./table
//
// The first column is what was measured of hashring, the others the same of others divided by that: 5.0 is five times
// hashring's time, memory or deviation, and **0.5**, set in bold, is half of it, where hashring loses. Where hashring's is
// 0 no ratio exists, and the others' own figures are given. The column "best ring" is the smallest of the other rings'.
//
// Figures are medians over -count. What follows them is half the distance of their quartiles, in percent: of a ratio, that
// of both of its terms added up.
package main

import (
	"fmt"
	"os"
)

func main() {
	results, err := parse(os.Stdin)
	if err == nil {
		err = write(os.Stdout, results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}
