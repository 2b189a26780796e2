package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// An instance is one life of a member: a process that starts anew under an old name is another one.
type instance struct {
	name string
	boot uint64
}

// graves are the instances that have left: what a tombstone is in other programs. They keep a member that has left from
// coming back by hearsay, from a peer that was cut off when it left and still takes it for alive. That the name is free
// for the next instance follows from the boot id, without a clock.
//
// The state is a map from instances to ages, and merging takes the greater age of each. So it does not matter in which
// order, how often, and by whom graves are told. Ages travel, and not times, since clocks differ; they are rounded up to a
// millisecond, so that an instance does not get younger on its way, and is forgotten everywhere once it is as old as keep.
type graves struct {
	keep  time.Duration
	limit int
	since map[instance]time.Time // when it was buried, by the local clock
}

const (
	gravesVersion = 1
	maxGraves     = 10_000
)

var errGraves = errors.New("not a list of members that left")

func newGraves(keep time.Duration, limit int) *graves {
	return &graves{keep: keep, limit: limit, since: make(map[instance]time.Time)}
}

func (g *graves) has(i instance) bool {
	_, ok := g.since[i]
	return ok
}

// sawLeave reports whether an instance of the member called name has left since a time.
func (g *graves) sawLeave(name string, since time.Time) bool {
	for i, at := range g.since {
		if i.name == name && at.After(since) {
			return true
		}
	}
	return false
}

// bury notes that i left at a time. It reports whether it was not known that i had left.
func (g *graves) bury(i instance, at, now time.Time) (news bool) {
	if now.Sub(at) >= g.keep {
		return false
	}
	was, known := g.since[i]
	if !known || at.Before(was) {
		g.since[i] = at
	}
	if len(g.since) > g.limit {
		g.trim()
	}
	return !known
}

// trim forgets the oldest graves, an eighth of them, so that it is not called for each grave once there are too many.
func (g *graves) trim() {
	all := make([]instance, 0, len(g.since))
	for i := range g.since {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b instance) int { return g.since[a].Compare(g.since[b]) })
	for _, i := range all[:len(all)-g.limit+g.limit/8] {
		delete(g.since, i)
	}
}

// expire forgets those that are too old.
func (g *graves) expire(now time.Time) {
	for i, at := range g.since {
		if now.Sub(at) >= g.keep {
			delete(g.since, i)
		}
	}
}

// append appends the encoding of g to b: the version, how many there are, and of each its name, its boot id and its age
// in milliseconds.
func (g *graves) append(b []byte, now time.Time) []byte {
	g.expire(now)
	b = append(b, gravesVersion)
	b = binary.AppendUvarint(b, uint64(len(g.since)))
	for i, at := range g.since {
		b = appendText(b, i.name)
		b = binary.BigEndian.AppendUint64(b, i.boot)
		age := max(0, now.Sub(at))
		b = binary.AppendUvarint(b, uint64((age+time.Millisecond-1)/time.Millisecond))
	}
	return b
}

// merge takes in what another member sent, and returns those that it did not know. What is not an encoding changes
// nothing. Of what is of another version, nothing is taken, and that is no error.
func (g *graves) merge(data []byte, now time.Time) (news []instance, err error) {
	if len(data) == 0 || data[0] == 0 {
		return nil, fmt.Errorf("%w: there is no version", errGraves)
	}
	if data[0] != gravesVersion {
		return nil, nil
	}
	type grave struct {
		instance
		at time.Time
	}
	d := decoder{rest: data[1:]}
	var told []grave
	for left := d.uvarint(); left > 0 && !d.bad; left-- {
		i := instance{name: d.text(maxName), boot: d.uint64()}
		age := d.uvarint()
		if i.name == "" {
			d.fail()
		}
		if age < uint64(g.keep/time.Millisecond)+1 {
			told = append(told, grave{i, now.Add(-time.Duration(age) * time.Millisecond)})
		}
	}
	if d.bad || len(d.rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes", errGraves, len(data))
	}
	for _, t := range told {
		if g.bury(t.instance, t.at, now) {
			news = append(news, t.instance)
		}
	}
	return news, nil
}
