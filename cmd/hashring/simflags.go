package main

import (
	"flag"
	"io"

	"github.com/clockwise-go/hashring"
)

const simUsage = `Sim looks keys up in a ring of nodes. It shows how many each node gets and which part of the
circle it owns, beside what its weight says. Then it shows how many of these keys move when a node
joins, one leaves or one doubles its weight, beside those that hash(key) % N would move.

Usage:

  hashring sim [flags]

For example:

  hashring sim -file nodes.txt -keys keys.txt
  cut -d' ' -f7 access.log | hashring sim -nodes cache-a,cache-b,cache-c -keys -
  hashring sim -n 10 -generate 1000000 -json

Nodes, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

Keys, one of:

  -keys FILE       one a line; - is standard input
  -generate N      N keys, called key-0, key-1, ... (default 100000, without -keys)
  -unique          count a key that comes again once; holds all distinct keys in memory

The ring:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

What changes:

  -join NAME       the node that joins (default joiner)
  -joinweight W    its weight (default 1)
  -leave NAME      the node that leaves (default the first by name)
  -double NAME     the node that doubles its weight (default the first by name)

Output:

  -json            print the report as JSON
`

// simFlags are the flags of sim.
type simFlags struct {
	file, nodes string
	n           int
	keys        string
	generate    int64
	unique      bool
	hash        string
	vnodes      int
	join        string
	joinWeight  string // parsed later, with an error that knows why a weight is not 0
	leave       string
	double      string
	json        bool

	set map[string]bool // which were given
}

func newSimFlags() (*simFlags, *flag.FlagSet) {
	f, fs := &simFlags{set: make(map[string]bool)}, flag.NewFlagSet("sim", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported like all others, and the usage is simUsage
	fs.StringVar(&f.file, "file", "", "")
	fs.StringVar(&f.nodes, "nodes", "", "")
	fs.IntVar(&f.n, "n", 0, "")
	fs.StringVar(&f.keys, "keys", "", "")
	fs.Int64Var(&f.generate, "generate", 100000, "")
	fs.BoolVar(&f.unique, "unique", false, "")
	fs.StringVar(&f.hash, "hash", hashring.XXH64.Name(), "")
	fs.IntVar(&f.vnodes, "vnodes", 160, "")
	fs.StringVar(&f.join, "join", "joiner", "")
	fs.StringVar(&f.joinWeight, "joinweight", "1", "")
	fs.StringVar(&f.leave, "leave", "", "")
	fs.StringVar(&f.double, "double", "", "")
	fs.BoolVar(&f.json, "json", false, "")
	return f, fs
}
