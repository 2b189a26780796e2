package hashring

import "slices"

// Transition is the time between two rings, while data moves from where Old has it to where New wants it. It says for
// each key which nodes to read from and to write to, so that no read misses a write meanwhile. The rings may differ in
// everything, the hash of keys too; neither may be nil.
//
// A store that changes its ring goes through four steps. Each begins when every process that reads or writes has taken
// the one before; which step a process is at is the only state.
//
//  1. Transition{Old: old, New: new}: writes go to the replicas of both rings, reads to those of old.
//  2. Copy. For each range of [DiffReplicas] the nodes in Gained take from those in Kept, Lost or Departed what they have
//     not got in a newer version.
//  3. Transition{Old: new, New: old}, the two swapped: writes go to both still, reads to those of new. A process that is
//     a step behind reads from old, which has every write.
//  4. new alone. Nodes in Lost may delete their ranges.
//
// If the ring has to change once more before step 3, Old stays what it is, the last ring that has all data, and New is
// replaced; what had been copied for the abandoned New counts as absent. To go back, let New be Old.
type Transition struct {
	Old, New *Ring
	Policy   Policy // of both rings
}

// AppendRead appends the nodes to read key from to dst and returns it: the replicas in Old, in their order, since only
// those have everything. The methods here cost a replica walk in one ring or both, and the comparison of at most n² names
// for n replicas. They allocate as [Ring.AppendReplicas] and [Ring.AppendSpread] do, and to make room in dst: for n names
// here, 3n in AppendWrite, else 2n.
func (t Transition) AppendRead(dst []string, key string) []string {
	return t.Policy.Append(dst, t.Old, key)
}

// AppendWrite appends the nodes to write key to: those of AppendRead, then those of AppendPending. A write that has to
// reach a quorum of each ring's replicas counts the acknowledgements of the two rings apart: those of Old by AppendRead.
func (t Transition) AppendWrite(dst []string, key string) []string {
	return t.AppendPending(t.AppendRead(dst, key), key)
}

// AppendPending appends the nodes that are to have key and have not: the replicas in New that are none in Old.
func (t Transition) AppendPending(dst []string, key string) []string {
	return t.Policy.appendOnly(dst, key, t.New, t.Old)
}

// AppendLeaving appends the nodes that have key and are to lose it: the replicas in Old that are none in New. Those that
// New has not at all are among them.
func (t Transition) AppendLeaving(dst []string, key string) []string {
	return t.Policy.appendOnly(dst, key, t.Old, t.New)
}

// appendOnly appends those replicas of key in r that are none in other, whose replicas lie behind them meanwhile.
func (p Policy) appendOnly(dst []string, key string, r, other *Ring) []string {
	start := len(dst)
	dst = p.Append(dst, r, key)
	end := len(dst)
	dst = p.Append(dst, other, key)
	kept := start
	for _, node := range dst[start:end] {
		if !slices.Contains(dst[end:], node) {
			dst[kept] = node
			kept++
		}
	}
	return dst[:kept]
}
