package main

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
	*flags
	members  *members
	keys     *keySource
	placing  *placing
	changing *changing
	json     bool
}

func newSimFlags() *simFlags {
	f := newFlags("sim")
	s := &simFlags{flags: f, members: f.members(), keys: f.keySource(), placing: f.placing(160), changing: f.changing()}
	f.BoolVar(&s.json, "json", false, "")
	return s
}
