// Repair is a small replicated store that finds and repairs the writes its replicas have missed.
//
// Each node is a process that serves HTTP on loopback; a key is on two of them. Some writes, deletions among them, are lost
// on the way to one replica. Then each two nodes compare what they share, by antientropy.Compare over
// hashring.Ring.SharedRanges, find those writes and nothing else, and repair them. A node joins, and takes over exactly
// the ranges of hashring.DiffReplicas.
//
//	go run ./examples/repair
//
// What to read: repair.go is the repair, store.go what a store has to keep for it, and node.go how it goes over HTTP, and
// what a node does that joins.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"

	"github.com/clockwise-go/hashring"
)

func main() {
	node := flag.String("node", "", "be the node of this name, until standard input ends; the demo starts these itself")
	keys := flag.Int("keys", 2000, "number of keys that the demo writes")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case *node != "":
		err = serve(*node, os.Stdin, os.Stdout)
	case *keys < 100 || *keys > 1_000_000:
		err = fmt.Errorf("-keys is %d, not between 100 and 1000000", *keys)
	default:
		err = demo(ctx, *keys, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "repair:", err)
		os.Exit(1)
	}
}

// demo writes keys to three nodes, loses some of the writes, lets them be repaired, and lets a fourth node join. All goes
// over real connections; only the ports differ from run to run.
func demo(ctx context.Context, keys int, out io.Writer) (err error) {
	c := NewCluster(2)
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.Start(ctx, "a", "b", "c"); err != nil {
		return err
	}
	data, lost, err := load(ctx, c, keys)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "3 processes, 2 replicas of each of %d keys; of %d keys one replica has missed the last write\n\n", keys, len(lost))
	for _, title := range []string{"repair", "repair once more"} {
		reports, err := c.Repair(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "%s\tranges\tkeys that differ\ttaken\tgiven\tround trips\tbytes\t\n", title)
		for _, pair := range [][2]string{{"a", "b"}, {"a", "c"}, {"b", "c"}} {
			line(table, pair[0]+" with "+pair[1], reports[pair])
		}
		table.Flush()
		stale, _, err := c.Stale(ctx, data)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%d replicas are out of date\n\n", stale)
	}

	before, err := c.Start(ctx, "d")
	if err != nil {
		return err
	}
	var reports []Report
	if err := c.node("d").call(ctx, "/join", before, &reports); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "d joins\tranges\tkeys that differ\ttaken\tgiven\tround trips\tbytes\t\n")
	var gained hashring.Share
	for _, r := range reports {
		line(table, "d from "+r.With, r)
		for _, a := range r.Ranges {
			gained = gained.Add(a.Share())
		}
	}
	table.Flush()
	dropped := 0
	for _, name := range []string{"a", "b", "c"} {
		var n int
		if err := c.node(name).call(ctx, "/drop", before, &n); err != nil {
			return err
		}
		dropped += n
	}
	stale, stray, err := c.Stale(ctx, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "compared %.1f%% of the circle; then a, b and c dropped %d entries that are d's now\n", 100*gained.Fraction(), dropped)
	fmt.Fprintf(out, "%d replicas are out of date, %d entries are where they should not be\n", stale, stray)
	return nil
}

func line(out io.Writer, what string, r Report) {
	fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", what, len(r.Ranges), len(r.Differ), r.Taken, r.Given, r.RoundTrips, r.Bytes)
}

// load writes so many keys, changes some and deletes some. One in 97 writes does not reach one of the replicas. It returns
// what the store should hold, and the keys whose last write was lost.
func load(ctx context.Context, c *Cluster, keys int) (data map[string]Entry, lost map[string]bool, err error) {
	data, lost = make(map[string]Entry), make(map[string]bool)
	writes := 0
	write := func(e Entry) error {
		writes++
		data[e.Key] = e
		if writes%97 > 0 {
			delete(lost, e.Key) // a write before this one makes no difference any longer
			return c.Write(ctx, e)
		}
		lost[e.Key] = true
		return c.Write(ctx, e, c.Ring.AppendReplicas(nil, e.Key, 2)[writes%2])
	}
	for i := range keys {
		if err := write(Entry{Key: fmt.Sprint("user:", i), Value: fmt.Sprint("v", i)}); err != nil {
			return nil, nil, err
		}
	}
	for i := 0; i < keys; i += 7 {
		e := Entry{Key: fmt.Sprint("user:", i), Value: "changed"}
		if i%2 == 0 {
			e = Entry{Key: e.Key, Deleted: true}
		}
		if err := write(e); err != nil {
			return nil, nil, err
		}
	}
	return data, lost, nil
}
