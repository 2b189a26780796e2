// Rangestore is a small key-value store in memory, partitioned as a classic range ring: each node has one token, chosen
// when it joins, and owns the range from the token before it through its own. Each item is on two nodes, so that either
// may die.
//
//	go run ./examples/rangestore
//
// puts some items, lets nodes join, die, leave and give to each other, and shows after each step what moved, and that
// nothing is lost.
//
// What to read: membership.go is where tokens come from, move.go how items follow the ring, shelf.go how a node finds
// those of a range, and store.go who is asked for a key.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	items := flag.Int("items", 10_000, "how many items to put")
	flag.Parse()
	var err error
	if flag.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flag.Arg(0))
	} else {
		err = demo(*items, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rangestore:", err)
		os.Exit(1)
	}
}
