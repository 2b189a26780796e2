package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/clockwise-go/hashring"
)

const planUsage = `Plan answers what one asks before a ring is changed: how even it is, how many virtual nodes would keep
the busiest node below a peak, and what moves, from whom to whom, when a node joins, leaves or doubles
its weight.

Usage:

  hashring plan [flags]

For example:

  hashring plan -file nodes.txt -join cache-f -joinweight 2 -leave cache-a
  hashring plan -n 100 -peak 1.1 -confidence 0.999
  hashring plan -file nodes.txt -replicas 3 -spread -json

Nodes, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

How even it should be:

  -peak P          the greatest share of a node, divided by the mean (default 1.25)
  -confidence C    the probability that it is not exceeded (default 0.999999)

What changes:

  -join NAME       the node that joins (default joiner)
  -joinweight W    its weight (default 1)
  -leave NAME      the node that leaves (default the first by name)
  -double NAME     the node that doubles its weight (default the first by name)

Replicas, to see what has to be copied besides:

  -replicas N      how many nodes have a key (default 1)
  -spread          put them into as many zones as there are

Output:

  -json            print the report as JSON, with every pair of nodes
`

// planFlags are the flags of plan.
type planFlags struct {
	*flags
	members          *members
	placing          *placing
	changing         *changing
	replication      *replication
	peak, confidence float64
	json             bool
}

func newPlanFlags() *planFlags {
	f := newFlags("plan")
	s := &planFlags{flags: f, members: f.members(), placing: f.placing(160), changing: f.changing(),
		replication: f.replication()}
	f.Float64Var(&s.peak, "peak", 1.25, "")
	f.Float64Var(&s.confidence, "confidence", 0.999999, "")
	f.BoolVar(&s.json, "json", false, "")
	return s
}

// PlanReport is what plan found, and with -json what it prints. Its field names do not change. Shares are parts of the
// circle, rounded to 9 digits, which makes them the same on every architecture.
type PlanReport struct {
	Hash         string       `json:"hash"`          // of keys
	VirtualNodes int          `json:"virtual_nodes"` // per unit of weight
	Nodes        int          `json:"nodes"`
	Tokens       int          `json:"tokens"`  // of all nodes
	Circle       *Evenness    `json:"circle"`  // as it is; null without nodes
	Needed       *Needed      `json:"needed"`  // null without nodes
	Changes      []PlanChange `json:"changes"` // join, leave, double; none without nodes
}

// Needed is how many virtual nodes would keep the peak.
type Needed struct {
	Peak         float64 `json:"peak_to_mean"`
	Confidence   float64 `json:"confidence"`
	VirtualNodes int     `json:"virtual_nodes"` // of as many nodes of equal weight
}

// PlanChange is what one change of the ring moves.
type PlanChange struct {
	Change   string          `json:"change"` // "join", "leave" or "double"
	Node     string          `json:"node"`   // that changes
	Weight   float64         `json:"weight"` // that it joins with, leaves with, or had before it doubled
	Moved    float64         `json:"moved_share"`
	Ideal    float64         `json:"ideal_share"` // the least that gives each node what its weight says
	Flows    []FlowReport    `json:"flows"`       // the largest first
	Circle   Evenness        `json:"circle"`      // after it
	Replicas *ReplicasReport `json:"replicas"`    // null without -replicas and -spread
}

func runPlan(args []string, std streams) int {
	f := newPlanFlags()
	if status, done := f.parse(args, planUsage, std); done {
		return status
	}
	var p problems
	f.refuseArgs(&p)
	rep := f.plan(std.in, &p)
	if p.status != exitOK {
		return p.report(std.err)
	}
	return writeReport(rep, f.json, std, &p)
}

// plan returns the report on the ring that the flags describe. It is good only if p has no problems.
func (f *planFlags) plan(stdin io.Reader, p *problems) *PlanReport {
	if !(f.peak > 1) || math.IsInf(f.peak, 1) {
		p.input("-peak", "%v is not above 1 and finite", f.peak)
	}
	if !(f.confidence > 0 && f.confidence < 1) {
		p.input("-confidence", "%v is not between 0 and 1", f.confidence)
	}
	f.replication.check(p)
	opts := f.placing.options(p)
	f.changing.read(p)
	list, ok := f.members.list(stdin, p)
	if ok {
		f.changing.check(list, p)
	}
	ring := list.ring(opts, f.where(), p)
	if p.status != exitOK {
		return nil
	}
	rep := &PlanReport{Hash: opts.Hash.Name(), VirtualNodes: opts.VirtualNodes, Nodes: ring.Len(), Tokens: ring.NumTokens(),
		Changes: []PlanChange{}}
	if ring.Len() == 0 {
		return rep
	}
	needed, err := hashring.VirtualNodesFor(ring.Len(), f.peak, f.confidence)
	if err != nil {
		p.input("-peak", "%s", strings.TrimPrefix(err.Error(), "hashring: "))
	}
	rep.Needed = &Needed{f.peak, f.confidence, needed}
	rep.Circle = evenness(ring)
	changes := f.changing.of(ring, p, join, leave, double)
	if p.status != exitOK {
		return nil
	}
	weights := sumOfWeights(ring)
	for _, c := range changes {
		change, err := f.change(ring, c)
		if err != nil {
			p.failure(err)
			return nil
		}
		change.Ideal = c.ideal(weights)
		round(&change.Moved, &change.Ideal)
		rep.Changes = append(rep.Changes, change)
	}
	return rep
}

// change returns what c moves, but for what would be ideal.
func (f *planFlags) change(ring *hashring.Ring, c change) (rep PlanChange, err error) {
	rep = PlanChange{Change: c.kind, Node: c.node.Name, Weight: c.node.Weight, Circle: *evenness(c.ring)}
	if rep.Flows, rep.Moved, err = flows(ring, c.ring); err != nil {
		return rep, err
	}
	for i := range rep.Flows {
		round(&rep.Flows[i].Circle)
	}
	if f.replication.wanted() {
		if rep.Replicas, err = replicas(ring, c.ring, f.replication.policy, false); err != nil {
			return rep, err
		}
		rep.Replicas.round()
	}
	return rep, nil
}

// evenness returns how evenly the nodes of r share the circle.
func evenness(r *hashring.Ring) *Evenness {
	o := r.Ownership(hashring.Policy{})
	e := &Evenness{o.Owned.Peak, o.Owned.Deviation, o.Theory}
	round(&e.Peak, &e.Deviation, &e.Theory)
	return e
}

// planFlows is how many pairs of nodes the tables of plan have at most.
const planFlows = 10

// writeText writes rep as tables, for people.
func (rep *PlanReport) writeText(w io.Writer) error {
	var b strings.Builder
	if rep.Nodes == 0 {
		b.WriteString("no nodes: nothing owns a key\n")
	} else {
		fmt.Fprintf(&b, "%s, %s (%s per unit of weight), keys by %s\n", count(int64(rep.Nodes), "node"),
			count(int64(rep.Tokens), "token"), count(int64(rep.VirtualNodes), "virtual node"), rep.Hash)
		fmt.Fprintf(&b, "the circle's peak/mean is %s, its deviation %s, in theory %s\n", ratio(rep.Circle.Peak),
			percent(rep.Circle.Deviation), percent(rep.Circle.Theory))
		fmt.Fprintf(&b, "a peak/mean of at most %v with probability %v takes %s, if all weights are equal\n", rep.Needed.Peak,
			rep.Needed.Confidence, count(int64(rep.Needed.VirtualNodes), "virtual node"))
	}
	for _, c := range rep.Changes {
		b.WriteByte('\n')
		c.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c PlanChange) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s of the circle moves, ideal %s; peak/mean %s then\n",
		describe(c.Change, c.Node, c.Weight), percent(c.Moved), percent(c.Ideal), ratio(c.Circle.Peak))
	if c.Replicas != nil {
		c.Replicas.writeTotal(b)
	}
	if len(c.Flows) == 0 {
		return
	}
	t := table{left: 2}
	t.add("from", "to", "circle", "part of it")
	rest := 0.0
	for i, f := range c.Flows {
		if i < planFlows {
			t.add(f.From, orNobody(f.To), percent(f.Circle), percent(c.partOf(f.Circle)))
		} else {
			rest += f.Circle
		}
	}
	if more := len(c.Flows) - planFlows; more > 0 {
		t.add(fmt.Sprintf("and %d more", more), "", percent(rest), percent(c.partOf(rest)))
	}
	t.write(b)
}

// partOf returns which part of all that moves share is.
func (c PlanChange) partOf(share float64) float64 {
	if c.Moved == 0 { // less than is shown
		return 0
	}
	return share / c.Moved
}
