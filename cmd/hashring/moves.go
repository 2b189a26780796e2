package main

import (
	"iter"
	"slices"
	"strings"

	"github.com/clockwise-go/hashring"
)

// FlowReport is what moves from one node to another in total. From or To is "" for nobody, as in a ring without nodes.
type FlowReport struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Circle float64 `json:"circle_share"`
	Keys   *int64  `json:"keys,omitempty"` // of those that were counted, if any were
}

// flows returns what moves between two rings with the same hash of keys, the largest flow first, and how much it is.
func flows(old, new *hashring.Ring) (all []FlowReport, moved float64, err error) {
	moves, err := hashring.Diff(old, new)
	if err != nil {
		return nil, 0, err
	}
	all = []FlowReport{}
	var sum hashring.Share
	for _, f := range hashring.Summary(moves) {
		sum = sum.Add(f.Share)
		all = append(all, FlowReport{From: f.From, To: f.To, Circle: f.Share.Fraction()})
	}
	return all, sum.Fraction(), nil
}

// KeysReport is how many keys of a set move.
type KeysReport struct {
	Total      int64   `json:"total"`
	Moved      int64   `json:"moved"`
	MovedShare float64 `json:"moved_share"`
}

// countKeys counts which of keys move between two rings, and adds them to the flows that they are part of.
func countKeys(old, new *hashring.Ring, keys iter.Seq[[]byte], flows []FlowReport) *KeysReport {
	type pair struct{ from, to string }
	counts := make(map[pair]int64)
	var rep KeysReport
	counted := func(yield func(string) bool) {
		for key := range keys {
			if rep.Total++; !yield(string(key)) {
				return
			}
		}
	}
	for m := range hashring.DiffKeys(old, new, counted) {
		counts[pair{m.From, m.To}]++
		rep.Moved++
	}
	for i := range flows {
		n := counts[pair{flows[i].From, flows[i].To}]
		flows[i].Keys = &n
	}
	rep.MovedShare = part(rep.Moved, rep.Total)
	return &rep
}

// ReplicasReport is what moves where keys have replicas. Shares are parts of the circle: of one copy of all keys.
type ReplicasReport struct {
	N       int                 `json:"n"`
	Spread  bool                `json:"spread"`
	Changed float64             `json:"changed_share"` // where the set of replicas is another
	Copied  float64             `json:"copied_share"`  // what has to be copied: what all nodes gain
	Nodes   []GainReport        `json:"nodes"`         // that gain or lose, by name
	Moves   []ReplicaMoveReport `json:"moves,omitempty"`
}

// GainReport is how much a node has to take from others, and how much it may delete.
type GainReport struct {
	Node  string  `json:"node"`
	Gains float64 `json:"gains_share"`
	Loses float64 `json:"loses_share"` // all it had if it leaves
}

// ReplicaMoveReport is a [hashring.ReplicaMove].
type ReplicaMoveReport struct {
	After    uint64   `json:"after,string"`
	Through  uint64   `json:"through,string"`
	Gained   []string `json:"gained"`
	Kept     []string `json:"kept"`
	Lost     []string `json:"lost"`
	Departed []string `json:"departed"`
}

// replicas returns what moves between two rings with the same hash under the policy, and if list says so each range.
func replicas(old, new *hashring.Ring, policy hashring.Policy, list bool) (*ReplicasReport, error) {
	moves, err := hashring.DiffReplicas(old, new, policy, policy)
	if err != nil {
		return nil, err
	}
	rep := &ReplicasReport{N: policy.N, Spread: policy.Spread, Nodes: []GainReport{}}
	type both struct{ gains, loses hashring.Share }
	nodes := make(map[string]both)
	var changed, copied hashring.Share
	for m := range moves {
		share := m.Share()
		changed = changed.Add(share)
		for _, name := range m.Gained {
			n := nodes[name]
			n.gains = n.gains.Add(share)
			nodes[name] = n
			copied = copied.Add(share)
		}
		for _, name := range slices.Concat(m.Lost, m.Departed) {
			n := nodes[name]
			n.loses = n.loses.Add(share)
			nodes[name] = n
		}
		if list {
			rep.Moves = append(rep.Moves, ReplicaMoveReport{m.After, m.Through,
				orEmpty(m.Gained), orEmpty(m.Kept), orEmpty(m.Lost), orEmpty(m.Departed)})
		}
	}
	rep.Changed, rep.Copied = changed.Fraction(), copied.Fraction()
	for name, n := range nodes {
		rep.Nodes = append(rep.Nodes, GainReport{name, n.gains.Fraction(), n.loses.Fraction()})
	}
	slices.SortFunc(rep.Nodes, func(a, b GainReport) int { return strings.Compare(a.Node, b.Node) })
	return rep, nil
}

// orEmpty makes a list that JSON shows as [].
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (rep *ReplicasReport) round() {
	round(&rep.Changed, &rep.Copied)
	for i := range rep.Nodes {
		round(&rep.Nodes[i].Gains, &rep.Nodes[i].Loses)
	}
}
