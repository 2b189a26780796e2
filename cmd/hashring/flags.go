package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/clockwise-go/hashring"
)

// flags are those of one command. They know which of them were given.
type flags struct {
	*flag.FlagSet
	given map[string]bool
	ended bool // "--" ended them
}

func newFlags(command string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(command, flag.ContinueOnError), given: make(map[string]bool)}
	f.SetOutput(io.Discard) // errors are reported like all others, and usages are texts of their own
	return f
}

// parse parses args. If that is all there is to do, because usage was asked for or a flag is not right, it does that and
// returns true with the exit status.
func (f *flags) parse(args []string, usage string, std streams) (status int, done bool) {
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(std.out, usage)
		return exitOK, true
	} else if err != nil {
		fmt.Fprintf(std.err, "hashring %s: %v\nRun 'hashring %[1]s -h' for usage.\n", f.Name(), err)
		return exitInput, true
	}
	f.Visit(func(fl *flag.Flag) { f.given[fl.Name] = true })
	n := len(args) - f.NArg()
	f.ended = n > 0 && args[n-1] == "--"
	return exitOK, false
}

// where is what problems that are no single flag's are blamed on.
func (f *flags) where() string { return "hashring " + f.Name() }

// refuseArgs reports all arguments behind the flags.
func (f *flags) refuseArgs(p *problems) {
	for _, arg := range f.Args() {
		p.input(f.where(), "%q is not a flag, and nothing else is expected", arg)
	}
}

// refuseLateFlags reports arguments that look like flags, which would be taken for a thing.
func (f *flags) refuseLateFlags(thing string, p *problems) {
	for _, arg := range f.Args() {
		if !f.ended && len(arg) > 1 && strings.HasPrefix(arg, "-") {
			p.input(f.where(), `%q comes after a %s; flags come first, and "--" before a %[2]s that looks like one`, arg, thing)
		}
	}
}

// placing are the flags that say how a ring places keys and nodes.
type placing struct {
	hash   string
	vnodes int
}

func (f *flags) placing(vnodes int) *placing {
	var l placing
	f.StringVar(&l.hash, "hash", hashring.XXH64.Name(), "")
	f.IntVar(&l.vnodes, "vnodes", vnodes, "")
	return &l
}

// options returns the options that the flags describe. They are good only if p has no problems.
func (l *placing) options(p *problems) *hashring.Options {
	if l.vnodes < 1 {
		p.input("-vnodes", "%d is less than 1", l.vnodes)
	}
	hash, ok := hashring.HashNamed(l.hash)
	if !ok {
		var names []string
		for h := hashring.XXH64; h <= hashring.CRC32; h++ {
			names = append(names, h.Name())
		}
		p.input("-hash", "%q is none of %s", l.hash, strings.Join(names, ", "))
	}
	return &hashring.Options{Hash: hash, VirtualNodes: l.vnodes}
}

// members are the flags that say which nodes there are.
type members struct {
	*flags
	file, nodes string
	n           int
}

func (f *flags) members() *members {
	m := members{flags: f}
	f.StringVar(&m.file, "file", "", "")
	f.StringVar(&m.nodes, "nodes", "", "")
	f.IntVar(&m.n, "n", 0, "")
	return &m
}

// list returns the nodes that the flags name. ok is false if that is not known.
func (m *members) list(stdin io.Reader, p *problems) (list nodeList, ok bool) {
	given := 0
	for _, name := range []string{"file", "nodes", "n"} {
		if m.given[name] {
			given++
		}
	}
	switch {
	case given == 0:
		p.input(m.where(), "there are no nodes: give -file, -nodes or -n")
	case given > 1:
		p.input(m.where(), "give only one of -file, -nodes and -n")
	case m.given["n"] && (m.n < 0 || m.n > maxNodes):
		p.input("-n", "%d is not between 0 and %d", m.n, maxNodes)
	case m.given["n"]:
		return numberedNodes(m.n), true
	case m.given["nodes"]:
		return splitNodes(m.nodes, p)
	default:
		return openNodes(m.file, stdin, p)
	}
	return nodeList{}, false
}

// ring returns the ring of the nodes that the flags name. It is good only if p has no problems.
func (m *members) ring(l *placing, stdin io.Reader, p *problems) *hashring.Ring {
	opts := l.options(p)
	list, _ := m.list(stdin, p)
	return list.ring(opts, m.where(), p)
}

// replication are the flags that say which replicas a key has.
type replication struct {
	*flags
	policy hashring.Policy
}

func (f *flags) replication() *replication {
	r := replication{flags: f}
	f.IntVar(&r.policy.N, "replicas", 1, "")
	f.BoolVar(&r.policy.Spread, "spread", false, "")
	return &r
}

// wanted reports whether a report on replicas is asked for.
func (r *replication) wanted() bool { return r.given["replicas"] || r.given["spread"] }

func (r *replication) check(p *problems) {
	if r.policy.N < 1 {
		p.input("-replicas", "%d is less than 1", r.policy.N)
	}
}

// keySource are the flags that say which keys there are.
type keySource struct {
	*flags
	keys     string
	generate int64
	unique   bool
}

func (f *flags) keySource() *keySource {
	k := keySource{flags: f}
	f.StringVar(&k.keys, "keys", "", "")
	f.Int64Var(&k.generate, "generate", 100000, "")
	f.BoolVar(&k.unique, "unique", false, "")
	return &k
}

// total returns how many keys there are, or 0 if that is not known before they are read.
func (k *keySource) total() int64 {
	if k.given["keys"] {
		return 0
	}
	return k.generate
}

// open returns the keys that the flags name, and a function for when they have been read, which closes what they came
// from and reports what went wrong. They are good only if p has no problems. taken says that standard input is that of
// nodes.
func (k *keySource) open(stdin io.Reader, taken bool, p *problems) (keys iter.Seq[[]byte], done func()) {
	done = func() {}
	switch {
	case k.given["keys"] && k.given["generate"]:
		p.input(k.where(), "give only one of -keys and -generate")
	case k.given["keys"]:
		keys, done = openKeys(k.keys, k.where(), stdin, taken, p)
	case k.generate < 0:
		p.input("-generate", "%d is less than 0", k.generate)
	default:
		keys = generated(k.generate)
	}
	if k.unique && keys != nil {
		keys = unique(keys)
	}
	return keys, done
}

// openKeys returns the keys of a file, as open does.
func openKeys(file, where string, stdin io.Reader, taken bool, p *problems) (keys iter.Seq[[]byte], done func()) {
	if file == "-" && taken {
		p.input(where, "nodes and keys cannot both come from standard input")
		return nil, func() {}
	}
	r, _, err := openFile(file, stdin)
	if err != nil {
		p.failure(err)
		return nil, func() {}
	}
	text := newLines(r)
	return text.keys(), func() {
		if text.err != nil {
			p.failure(text.err)
		}
		r.Close() // nothing is lost if it fails: all was read
	}
}

// openFile opens the named file, or standard input for "-", and returns what to call it.
func openFile(name string, stdin io.Reader) (io.ReadCloser, string, error) {
	if name == "-" {
		return io.NopCloser(stdin), "stdin", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	return f, name, nil
}
