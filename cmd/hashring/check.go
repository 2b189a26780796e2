package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

const checkUsage = `Check compares a ring with answers that are known: which node each of some keys is on in a program that
you run. It prints how many agree, and the first that do not, with exit status 3 if there are any.

Usage:

  hashring check [flags] -vectors FILE

For example:

  hashring check -as nginx -file servers.txt -vectors answers.txt
  hashring owner -nodes a,b,c user:1 user:2 | hashring check -nodes a,b,c -vectors -

Answers:

  -vectors FILE    a JSON object of keys and the names of their nodes, {"user:1": "cache-a", ...}, or
                   lines as owner prints them: a key, a tab, and its node; - is standard input

Nodes, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring:

` + foreignUsage + `  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

Output:

  -json            print a JSON object
`

// exitDiffers is the exit status of check where the ring and the answers are not the same.
const exitDiffers = 3

// maxDiffering is how many keys that differ check prints.
const maxDiffering = 10

// checkFlags are the flags of check.
type checkFlags struct {
	*flags
	members *members
	placing *placing
	foreign *foreign
	vectors string
	json    bool
}

func newCheckFlags() *checkFlags {
	f := newFlags("check")
	c := &checkFlags{flags: f, members: f.members(), placing: f.placing(160), foreign: f.foreign()}
	f.StringVar(&c.vectors, "vectors", "", "")
	f.BoolVar(&c.json, "json", false, "")
	return c
}

// CheckReport is what check prints with -json. Its field names do not change.
type CheckReport struct {
	Keys      int64       `json:"keys"`
	Agree     int64       `json:"agree"`
	Differing []Differing `json:"differing"` // the first ten
}

// Differing is a key that is on another node. It is quoted as in Go if it is not UTF-8 or has control characters.
type Differing struct {
	Key   string `json:"key"`
	Ring  string `json:"ring"`  // the node on the ring
	Known string `json:"known"` // the node of the answer
}

func runCheck(args []string, std streams) int {
	f := newCheckFlags()
	if status, done := f.parse(args, checkUsage, std); done {
		return status
	}
	var p problems
	f.refuseArgs(&p)
	if !f.given["vectors"] {
		p.input(f.where(), "there are no answers: give -vectors")
	}
	ring := f.foreign.ring(f.members, f.placing, std.in, &p)
	if f.vectors == "-" && f.members.file == "-" {
		p.input(f.where(), "nodes and answers cannot both come from standard input")
	}
	if p.status != exitOK {
		return p.report(std.err)
	}
	r, name, err := openFile(f.vectors, std.in)
	if err != nil {
		p.failure(err)
		return p.report(std.err)
	}
	defer r.Close()
	rep := f.check(ring, newAnswers(r, name, &p), &p)
	if p.status == exitOK && rep.Keys == 0 {
		p.input("-vectors", "there are no answers in %s", name)
	}
	if p.status != exitOK {
		return p.report(std.err)
	}
	if status := writeReport(rep, f.json, std, &p); status != exitOK || rep.Agree == rep.Keys {
		return status
	}
	return exitDiffers
}

// check asks the ring for each key. A node that the ring does not have is a problem: of a name that is written in another
// way, most likely.
func (f *checkFlags) check(ring *hashring.Ring, answers iter.Seq2[string, string], p *problems) CheckReport {
	rep := CheckReport{Differing: []Differing{}}
	unknown := make(map[string]bool)
	for key, known := range answers {
		rep.Keys++
		owner, _ := ring.Owner(key)
		if owner == known {
			rep.Agree++
			continue
		}
		if _, ok := ring.Node(known); !ok && !unknown[known] && len(unknown) <= 2*maxProblems {
			unknown[known] = true
			p.input("-vectors", "key %q is on %q, which is none of the nodes", key, known)
		}
		if len(rep.Differing) < maxDiffering {
			if unprintable(key) != "" {
				key = strconv.Quote(key)
			}
			rep.Differing = append(rep.Differing, Differing{key, owner, known})
		}
	}
	return rep
}

func (rep CheckReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s agree\n", rep.Agree, count(rep.Keys, "key"))
	if len(rep.Differing) > 0 {
		t := table{left: 3}
		t.add("key", "on the ring", "known")
		for _, d := range rep.Differing {
			t.add(d.Key, d.Ring, d.Known)
		}
		b.WriteByte('\n')
		t.write(&b)
		if more := rep.Keys - rep.Agree - int64(len(rep.Differing)); more > 0 {
			fmt.Fprintf(&b, "and %d more\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// newAnswers returns the keys of a file with the names of their nodes. They are good only if p has no problems when they
// have been read.
func newAnswers(r io.Reader, name string, p *problems) iter.Seq2[string, string] {
	text := newLines(r)
	if start, _ := text.r.Peek(1); bytes.Equal(start, []byte("{")) {
		return jsonAnswers(text.r, name, p)
	}
	return func(yield func(string, string) bool) {
		for n, line := range text.all() {
			if len(line) == 0 {
				continue
			}
			where := name + ":" + strconv.Itoa(n)
			key, node, ok := strings.Cut(string(line), "\t")
			if !ok {
				p.input(where, "there is no tab between a key and its node")
				continue
			}
			node, _, _ = strings.Cut(node, "\t") // further replicas
			if strings.HasPrefix(key, `"`) {
				unquoted, err := strconv.Unquote(key)
				if err != nil {
					p.input(where, "the key %s is not quoted as in Go", key)
					continue
				}
				key = unquoted
			}
			if !yield(key, node) {
				return
			}
		}
		if text.err != nil {
			p.failure(text.err)
		}
	}
}

// jsonAnswers reads one object of strings, without holding it.
func jsonAnswers(r io.Reader, name string, p *problems) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		d := json.NewDecoder(r)
		d.Token() // the brace
		for d.More() {
			key, err := d.Token()
			var node string
			if err == nil {
				err = d.Decode(&node)
			}
			if err != nil {
				p.input(name, "%v", cutOff(err))
				return
			}
			if !yield(key.(string), node) {
				return
			}
		}
		_, err := d.Token()
		if err == nil {
			if _, err = d.Token(); err == nil {
				err = errors.New("more follows the object")
			} else if err == io.EOF {
				return
			}
		}
		p.input(name, "%v", cutOff(err))
	}
}

// cutOff says of the end of a file that there should be more.
func cutOff(err error) error {
	var syntax *json.SyntaxError // what Go 1.27 returns, with this text
	if err == io.EOF || errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		return io.ErrUnexpectedEOF
	}
	return err
}
