package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/clockwise-go/hashring"
)

const benchUsage = `Bench measures on this machine what lookups in a ring of your nodes cost, and what a change of it does.

Usage:

  hashring bench [flags]

For example:

  hashring bench -file nodes.txt -keys keys.txt
  hashring bench -n 1000 -vnodes 500 -json

Nodes, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

What is measured:

  -keys FILE       look its keys up, the first 65536 over and over; one a line; - is standard input
                   (without it, 16384 random keys of 16 to 24 bytes)
  -replicas N      how many replicas to look up (default 3)
  -time T          how long to measure each thing for, as in 200ms or 2s (default 500ms)

Output:

  -json            print the report as JSON
`

// benchFlags are the flags of bench.
type benchFlags struct {
	*flags
	members  *members
	placing  *placing
	keys     string
	replicas int
	time     time.Duration
	json     bool
}

func newBenchFlags() *benchFlags {
	f := newFlags("bench")
	b := &benchFlags{flags: f, members: f.members(), placing: f.placing(160)}
	f.StringVar(&b.keys, "keys", "", "")
	f.IntVar(&b.replicas, "replicas", 3, "")
	f.DurationVar(&b.time, "time", 500*time.Millisecond, "")
	f.BoolVar(&b.json, "json", false, "")
	return b
}

// BenchReport is what bench found, and with -json what it prints. Its field names do not change.
type BenchReport struct {
	Machine      Machine     `json:"machine"`
	Hash         string      `json:"hash"`          // of keys
	VirtualNodes int         `json:"virtual_nodes"` // per unit of weight
	Nodes        int         `json:"nodes"`
	Tokens       int         `json:"tokens"`
	Keys         int         `json:"keys"`
	Costs        []BenchCost `json:"costs"`
}

// Machine is what the figures are of.
type Machine struct {
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// BenchCost is what one operation costs.
type BenchCost struct {
	What   string  `json:"what"`
	Lookup bool    `json:"lookup"` // it is done with a key
	Ns     float64 `json:"ns"`     // the least mean of several runs
}

func runBench(args []string, std streams) int {
	m := Machine{runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()}
	return bench(args, std, m, time.Now)
}

// bench is runBench for a machine with that clock.
func bench(args []string, std streams, m Machine, now func() time.Time) int {
	f := newBenchFlags()
	if status, done := f.parse(args, benchUsage, std); done {
		return status
	}
	var p problems
	f.refuseArgs(&p)
	if f.replicas < 1 {
		p.input("-replicas", "%d is less than 1", f.replicas)
	}
	if f.time < time.Millisecond || f.time > time.Hour {
		p.input("-time", "%v is not between 1ms and 1h", f.time)
	}
	ring := f.members.ring(f.placing, std.in, &p)
	keys := f.load(std.in, &p)
	if p.status == exitOK && ring.NumTokens() == 0 {
		p.input(f.where(), "there are no nodes to look up")
	}
	if p.status != exitOK {
		return p.report(std.err)
	}
	rep := BenchReport{Machine: m, Hash: f.placing.hash, VirtualNodes: f.placing.vnodes,
		Nodes: ring.Len(), Tokens: ring.NumTokens(), Keys: len(keys)}
	rep.measure(f, ring, keys, now, newProgress(std.err, 0))
	return writeReport(&rep, f.json, std, &p)
}

const (
	benchKeys  = 1 << 16 // read from a file at most
	randomKeys = 1 << 14
	benchRuns  = 5 // of which the fastest counts: what else the machine does only slows it
)

// load returns the keys to look up.
func (f *benchFlags) load(stdin io.Reader, p *problems) (loaded []string) {
	if !f.given["keys"] {
		rnd := rand.New(rand.NewPCG(1, 2)) // the same keys in every run
		for range randomKeys {
			key := make([]byte, 16+rnd.IntN(9))
			for i := range key {
				key[i] = byte(rnd.Uint64())
			}
			loaded = append(loaded, string(key))
		}
		return loaded
	}
	keys, done := openKeys(f.keys, f.where(), stdin, f.members.file == "-", p)
	if keys == nil {
		return nil
	}
	for key := range keys {
		if loaded = append(loaded, string(key)); len(loaded) == benchKeys {
			break
		}
	}
	if done(); p.status == exitOK && len(loaded) == 0 {
		p.input("-keys", "there are no keys in %s", f.keys)
	}
	return loaded
}

// measure adds the costs of operations on ring.
func (rep *BenchReport) measure(f *benchFlags, ring *hashring.Ring, keys []string, now func() time.Time, p *progress) {
	list := make([]hashring.Node, 0, ring.Len())
	for _, n := range ring.Nodes() {
		list = append(list, n)
	}
	opts := ring.Options()
	tokens := make([]uint64, 0, ring.NumTokens())
	for t := range ring.Tokens() {
		tokens = append(tokens, t)
	}
	var buf []string
	each := func(look func(key string) int) func(int) {
		return func(n int) {
			sum := 0
			for i, k := 0, 0; i < n; i++ {
				sum += look(keys[k])
				if k++; k == len(keys) {
					k = 0
				}
			}
			runtime.KeepAlive(sum) // so that the compiler cannot leave out what computes it
		}
	}
	ops := []struct {
		what   string
		lookup bool
		run    func(n int)
	}{
		{"the hash of a key alone", true, each(func(key string) int { return int(ring.Position(key)) })},
		{"Owner", true, each(func(key string) int { name, _ := ring.Owner(key); return len(name) })},
		{"the same tokens by sort.Search", true, each(func(key string) int {
			pos := ring.Position(key)
			return sort.Search(len(tokens), func(i int) bool { return tokens[i] >= pos })
		})},
		{fmt.Sprintf("AppendReplicas, %d", f.replicas), true, each(func(key string) int {
			buf = ring.AppendReplicas(buf[:0], key, f.replicas)
			return len(buf)
		})},
		{fmt.Sprintf("AppendSpread, %d", f.replicas), true, each(func(key string) int {
			buf = ring.AppendSpread(buf[:0], key, f.replicas)
			return len(buf)
		})},
		{"New", false, func(n int) {
			for range n {
				r, _ := hashring.New(list, &opts) // it was accepted before
				runtime.KeepAlive(r)
			}
		}},
		{"Without one node", false, func(n int) {
			for i := range n {
				r, _ := ring.Without(list[i%len(list)].Name) // it fails under a Placement only
				runtime.KeepAlive(r)
			}
		}},
	}
	for i, op := range ops {
		p.step(i, len(ops), op.what)
		cost := BenchCost{op.what, op.lookup, nsPerOp(op.run, f.time, now)}
		round(&cost.Ns)
		rep.Costs = append(rep.Costs, cost)
	}
	p.erase()
}

// nsPerOp returns the time that one of run's n operations takes, in nanoseconds. It takes about the time d.
func nsPerOp(run func(n int), d time.Duration, now func() time.Time) float64 {
	timed := func(n int) time.Duration {
		start := now()
		run(n)
		return now().Sub(start)
	}
	n := 1
	for timed(n) < d/(2*benchRuns) && n < 1<<30 {
		n *= 2
	}
	least := timed(n)
	for range benchRuns - 1 {
		least = min(least, timed(n))
	}
	return float64(least.Nanoseconds()) / float64(n)
}

// writeText writes rep as a table, for people.
func (rep *BenchReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s (%s per unit of weight), keys by %s\n", count(int64(rep.Nodes), "node"),
		count(int64(rep.Tokens), "token"), count(int64(rep.VirtualNodes), "virtual node"), rep.Hash)
	m := rep.Machine
	fmt.Fprintf(&b, "%s, over and over; %s, %s/%s, %s\n\n", count(int64(rep.Keys), "key"), m.Go, m.OS, m.Arch,
		count(int64(m.CPUs), "CPU"))
	t := table{left: 1}
	t.add("one operation", "time", "/ hash")
	for _, c := range rep.Costs {
		times := "-"
		if hash := rep.Costs[0].Ns; c.Lookup && hash > 0 {
			times = fmt.Sprintf("%.1f", c.Ns/hash)
		}
		t.add(c.What, duration(c.Ns), times)
	}
	t.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// duration formats nanoseconds in a unit that suits them.
func duration(ns float64) string {
	switch {
	case ns < 1e4:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1e7:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	}
}
