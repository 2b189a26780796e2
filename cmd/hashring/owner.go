package main

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/clockwise-go/hashring"
)

const ownerUsage = `Owner looks keys up in a ring of nodes. It prints a line for each: the key, its owner, and its other
replicas if there are to be more, all with tabs between them.

Usage:

  hashring owner [flags] [KEY...]

For example:

  hashring owner -file nodes.txt user:1 user:2
  hashring owner -file nodes.txt -replicas 3 -spread < keys.txt
  hashring owner -as nginx -file servers.txt user:1
  hashring owner -nodes a,b,c -json -- -key-that-begins-with-a-dash

Keys are the arguments, or else what standard input or a file has. They are printed as they are looked
up; one with control characters, that is not UTF-8, or that begins with a quote, is quoted as in Go.

  -keys FILE       one a line; - is standard input (default -, without arguments)

Nodes, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring:

` + foreignUsage + `  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

Replicas:

  -replicas N      how many nodes have a key (default 1)
  -spread          put them into as many zones as there are

Output:

  -json            print a JSON object a line: key, or key64 in base64 if it is not UTF-8; position; nodes
`

// ownerFlags are the flags of owner.
type ownerFlags struct {
	*flags
	members     *members
	placing     *placing
	foreign     *foreign
	replication *replication
	keys        string
	json        bool
}

func newOwnerFlags() *ownerFlags {
	f := newFlags("owner")
	o := &ownerFlags{flags: f, members: f.members(), placing: f.placing(160), foreign: f.foreign(), replication: f.replication()}
	f.StringVar(&o.keys, "keys", "-", "")
	f.BoolVar(&o.json, "json", false, "")
	return o
}

func runOwner(args []string, std streams) int {
	f := newOwnerFlags()
	if status, done := f.parse(args, ownerUsage, std); done {
		return status
	}
	var p problems
	f.refuseLateFlags("key", &p)
	f.replication.check(&p)
	ring := f.foreign.ring(f.members, f.placing, std.in, &p)
	keys, done := f.open(std.in, &p)
	if p.status == exitOK && ring.NumTokens() == 0 {
		p.input(f.where(), "there are no nodes, so nothing owns a key")
	}
	if p.status != exitOK {
		done()
		return p.report(std.err)
	}
	if !isTerminal(std.out) { // else what is printed shows how far it is
		keys = newProgress(std.err, int64(f.NArg())).watch(keys)
	}
	out := bufio.NewWriter(std.out)
	write := writeOwnersText
	if f.json {
		write = writeOwnersJSON
	}
	err := write(out, ring, f.replication.policy, keys)
	if done(); err == nil {
		err = out.Flush()
	}
	if err != nil {
		p.failure(err)
	}
	return p.report(std.err)
}

// open returns the keys, as keySource.open does.
func (f *ownerFlags) open(stdin io.Reader, p *problems) (keys iter.Seq[[]byte], done func()) {
	if f.NArg() == 0 {
		return openKeys(f.keys, f.where(), stdin, f.members.file == "-", p)
	}
	if f.given["keys"] {
		p.input(f.where(), "give keys as arguments or by -keys, not both")
	}
	return func(yield func([]byte) bool) {
		for _, key := range f.Args() {
			if !yield([]byte(key)) {
				return
			}
		}
	}, func() {}
}

func writeOwnersText(w *bufio.Writer, r *hashring.Ring, policy hashring.Policy, keys iter.Seq[[]byte]) error {
	var nodes []int
	for key := range keys {
		nodes = policy.AppendAt(nodes[:0], r, r.PositionBytes(key))
		if unprintable(string(key)) != "" || key[0] == '"' { // so that it can be told what was quoted
			key = strconv.AppendQuote(nil, string(key))
		}
		w.Write(key)
		for _, n := range nodes {
			w.WriteByte('\t')
			w.WriteString(r.Name(n))
		}
		if err := w.WriteByte('\n'); err != nil { // it tells of all writes before
			return err
		}
	}
	return nil
}

// Owners is what owner prints of a key with -json. Its field names do not change.
type Owners struct {
	Key      *string  `json:"key,omitempty"`
	Key64    []byte   `json:"key64,omitempty"` // instead, if the key is not UTF-8
	Position uint64   `json:"position,string"`
	Nodes    []string `json:"nodes"` // the owner first
}

func writeOwnersJSON(w *bufio.Writer, r *hashring.Ring, policy hashring.Policy, keys iter.Seq[[]byte]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var nodes []int
	for key := range keys {
		o := Owners{Position: r.PositionBytes(key)}
		if utf8.Valid(key) {
			text := string(key)
			o.Key = &text
		} else {
			o.Key64 = key
		}
		nodes = policy.AppendAt(nodes[:0], r, o.Position)
		for _, n := range nodes {
			o.Nodes = append(o.Nodes, r.Name(n))
		}
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return nil
}
