// Mkpaths makes the keys that the tests and the examples of the command hashring work on: the paths that 20,000 requests
// to a web shop ask for, one a line. The shop and its access log are made up, and the same every time.
//
//	cd cmd/hashring
//	go run ./testdata/mkpaths > testdata/paths.txt
//	go run ./testdata/mkpaths -log    # the access log itself, in Combined Log Format
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"github.com/clockwise-go/hashring/cmd/hashring/testdata/accesslog"
)

func main() {
	log := flag.Bool("log", false, "print the access log rather than its paths")
	n := flag.Int("n", 20_000, "requests")
	flag.Parse()
	if err := write(*n, *log); err != nil {
		fmt.Fprintln(os.Stderr, "mkpaths:", err)
		os.Exit(1)
	}
}

func write(n int, log bool) error {
	if log {
		return accesslog.Write(os.Stdout, n)
	}
	var buf bytes.Buffer
	if err := accesslog.Write(&buf, n); err != nil {
		return err
	}
	return accesslog.Paths(os.Stdout, &buf)
}
