// Hashring shows what consistent-hash rings do, before a program depends on it.
//
// Usage:
//
//	hashring <command> [flags]
//
// The commands are:
//
//	sim    how evenly nodes share keys, and what moves when one joins, leaves or doubles
//	owner  which nodes have a key
//	check  whether a ring has keys where another program has them
//	diff   what moves from whom to whom between two files of nodes
//	plan   how many virtual nodes to have, and what a join or a leave would move
//	plot   pictures of rings, and of how even they are
//	serve  a page in the browser: change nodes, see what moves
//	bench  what a lookup costs on this machine
//
// "hashring <command> -h" describes one.
//
// # sim
//
// Sim builds a ring of nodes, looks every key of a set up in it, and prints what each node got beside what its weight
// says it should get. Then it counts which of these very keys move when one node joins, when one leaves and when one
// doubles its weight, beside those that hash(key) % N would move.
//
//	hashring sim -file nodes.txt -keys keys.txt
//	cut -d' ' -f7 access.log | hashring sim -nodes cache-a,cache-b,cache-c -keys -
//	hashring sim -n 10 -generate 1000000 -json
//
// A file of nodes has a line "name [weight [zone]]" for each. The weight is 1 unless it is there, and must be greater
// than 0. Empty lines are skipped, and so is what follows a "#" that starts a line or comes after a space.
//
// A file of keys has one a line, of any length; empty lines are skipped. Each line counts, so a key that is there twice
// counts twice, as two requests for it would, unless -unique is given. The file is read once, and not held in memory.
//
// # owner, check, diff, plan
//
// Owner prints who has a key, with its replicas. Check compares a ring with answers that are known, of another program. Diff compares two files of nodes: what moves from whom to whom, and what
// has to be copied. Plan says how even a ring is, how many virtual nodes it takes to be more so, and what a change of one
// node would move.
//
//	hashring owner -file nodes.txt -replicas 3 -spread user:1 user:2
//	hashring check -as nginx -file servers.txt -vectors answers.json
//	hashring diff -keys keys.txt old.txt new.txt
//	hashring plan -file nodes.txt -join cache-f -leave cache-a
//
// # plot, serve
//
// Plot draws a ring, a change, the load of nodes or the theory of it, as SVG. Serve shows a ring in the browser, for
// trying changes out.
//
//	hashring plot -file nodes.txt -vnodes 8 -leave cache-a move > move.svg
//	hashring serve -file nodes.txt
//
// # bench
//
// Bench measures what lookups in a ring of the given nodes cost on this machine.
//
//	hashring bench -file nodes.txt -keys keys.txt
//
// # Exit status
//
// 0 if all went well, 3 if check found keys that differ, 1 if a file could not be read or the output not be written, 2 if flags or files are not right. All
// that is wrong with them is reported on standard error, up to 16 problems and then a count, and nothing is printed. Owner
// alone prints while it reads: what it has printed when reading fails is right, but not all.
package main

import (
	"fmt"
	"io"
	"os"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // reading or writing failed
	exitInput   = 2 // flags or files are not right
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is one of the things that the program does.
type command struct {
	name  string
	short string // for the list of commands
	usage string
	run   func(args []string, std streams) int
}

var commands = []command{
	{"sim", "how evenly nodes share keys, and what moves when one joins, leaves or doubles", simUsage, runSim},
	{"owner", "which nodes have a key", ownerUsage, runOwner},
	{"check", "whether a ring has keys where another program has them", checkUsage, runCheck},
	{"diff", "what moves from whom to whom between two files of nodes", diffUsage, runDiff},
	{"plan", "how many virtual nodes to have, and what a join or a leave would move", planUsage, runPlan},
	{"plot", "pictures of rings, and of how even they are", plotUsage, runPlot},
	{"serve", "a page in the browser: change nodes, see what moves", serveUsage, runServe},
	{"bench", "what a lookup costs on this machine", benchUsage, runBench},
}

// run does what args, which are those after the program's name, ask for. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	std := streams{stdin, stdout, stderr}
	if len(args) == 0 {
		writeUsage(stderr)
		return exitInput
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(args) == 0 {
			writeUsage(stdout)
			return exitOK
		}
		name, args = args[0], []string{"-h"}
	}
	for _, c := range commands {
		if c.name == name {
			return c.run(args, std)
		}
	}
	fmt.Fprintf(stderr, "hashring: there is no command %q\nRun 'hashring -h' for the commands.\n", name)
	return exitInput
}

func writeUsage(w io.Writer) {
	fmt.Fprint(w, "Hashring shows what consistent-hash rings do.\n\nUsage:\n\n  hashring <command> [flags]\n\nCommands:\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-6s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\nRun 'hashring <command> -h' for the flags of one.\n")
}
