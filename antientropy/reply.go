package antientropy

import (
	"slices"

	"github.com/clockwise-go/hashring"
)

// answer is what a peer has in a range: the fingerprints of its equal parts, or else its items.
type answer struct {
	hashring.Range
	split []uint64
	items []Item // all that it has in the range
}

// readReply returns the answers in reply to the questions asked, and the questions that are still to be asked. Where it
// returns an error it returns nothing else.
func readReply(reply []byte, asked []question, fanOut int) (answers []answer, rest []question, err error) {
	r := readMessage("reply", 'A', reply)
	state := r.count(numStates - 1)
	c := cursor{questions: asked}
	for r.more() {
		if !c.skip(r.count(len(asked) * maxFanOut)) {
			r.fail("it skips what was asked for, or goes beyond it")
			break
		}
		a := answer{Range: c.part()}
		if n := r.count(1 + len(r.rest)/minItemRoom); n > 0 {
			a.items = r.items(a.Range, n-1)
		} else if c.question().parts == 0 {
			r.fail("it splits a range whose items were asked for")
		} else {
			a.split = r.split(atMost(a.Range, fanOut))
		}
		answers = append(answers, a)
		c.i++
	}
	switch n := len(answers); {
	case r.err != nil:
	case state == complete:
		if slices.ContainsFunc(c.rest(), func(q question) bool { return q.parts == 0 }) {
			r.fail("it leaves out items that were asked for")
		}
	case n == 0:
		r.fail("it is cut short before it says anything")
	case state == cutItems:
		a := &answers[n-1]
		if len(a.items) == 0 {
			r.fail("it is cut short within no items")
			break
		}
		last := a.items[len(a.items)-1].Position
		if unlisted, more := behind(a.Range, last); more {
			rest = append(rest, question{Range: unlisted})
			a.Through = last
		}
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	if state != complete {
		rest = append(rest, c.rest()...)
	}
	return answers, rest, nil
}

// split takes the fingerprints of so many parts at most.
func (r *reader) split(limit int) []uint64 {
	n := r.count(limit)
	if n == 0 {
		r.fail("it splits a range in nothing")
	}
	split := make([]uint64, n)
	for i := range split {
		split[i] = r.fingerprint()
	}
	return split
}

// items takes n items in a.
func (r *reader) items(a hashring.Range, n int) []Item {
	items := make([]Item, 0, n)
	for left := extent(a); len(items) < n && r.err == nil; left-- { // left: the largest gap that is within a
		gap := r.number(left)
		left -= gap
		items = append(items, Item{a.Through - left, r.fingerprint()})
		if left == 0 && len(items) < n {
			r.fail("items behind the end of their range")
		}
	}
	return items
}

// cursor goes over the parts of questions: it is at part i of the first of them, or at the end of that.
type cursor struct {
	questions []question
	i         int
}

func (c *cursor) question() question { return c.questions[0] }

func (c *cursor) part() hashring.Range { return part(c.question().Range, c.i, c.question().answers()) }

// skip passes n parts, and reports whether there is a part behind them and no question for items among them.
func (c *cursor) skip(n int) bool {
	for len(c.questions) > 0 {
		switch left := c.question().answers() - c.i; {
		case left == 0:
			c.questions, c.i = c.questions[1:], 0
		case n == 0:
			return true
		case c.question().parts == 0:
			return false
		default:
			passed := min(n, left)
			c.i += passed
			n -= passed
		}
	}
	return false
}

// rest returns what is left of the questions.
func (c *cursor) rest() []question {
	if len(c.questions) == 0 {
		return nil
	}
	rest := slices.Clone(c.questions)
	switch left := c.question().answers() - c.i; {
	case left == 0:
		return rest[1:]
	case c.i > 0:
		rest[0] = question{hashring.Range{After: c.part().After, Through: c.question().Through}, left}
	}
	return rest
}
