// Package feed keeps the ring of a [hashring.Live] in step with a source of membership: gossip, DNS, a file, whatever
// knows the nodes. The source says all it knows, as often as it likes, in any order; the feed decides what of that
// reaches the ring, and when.
//
//	f, err := feed.New(live, nil)
//	f.Update(nodes) // all that there are, now and whenever they have changed
//
// Three things stand between a source and the ring. News settles: a burst of changes is published as one. A node that
// keeps coming and going is held down: it stays off the ring for a time that doubles. And a loss of more nodes than is
// likely is not believed: a process that is cut off from the others keeps the ring that it had, instead of taking itself
// for the owner of everything.
//
// All of these are about nodes that are lost: that the source no longer has, or says have failed. A node that leaves of
// its own will, so that the source says [Feed.Leave], goes at once and may be back at once.
package feed

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clockwise-go/hashring"
)

// ErrClosed is the error of [Feed.Update] after [Feed.Close].
var ErrClosed = errors.New("feed: closed")

// Feed brings the news of one source to one [hashring.Live], which it takes over: what others do to that is undone by
// the next change. No method waits for the ring, or for OnChange. A Feed has a goroutine, and another if there is an
// OnChange; Close ends them.
type Feed struct {
	live *hashring.Live
	opts Options

	wake    chan struct{} // of the publisher; holds one
	changed chan struct{} // of the notifier; holds one
	stop    chan struct{}
	stopped chan struct{} // when the publisher has

	mu          sync.Mutex
	members     *members
	first, last time.Time // of the changes that wait to be published; zero if there are none
	status      Status    // but for what follows from members
	closed      bool
	ring        *hashring.Ring // published last
}

// State is how far the ring can be relied on.
type State uint8

const (
	Steady   State = iota // the ring is what the source says, but for nodes in grace or held down
	Settling              // there is news that the ring does not have yet
	Degraded              // so many nodes are lost that this is not believed: see Options.MaxLoss
)

func (s State) String() string {
	switch s {
	case Steady:
		return "steady"
	case Settling:
		return "settling"
	case Degraded:
		return "degraded"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Status is what a [Feed] knows about its ring.
type Status struct {
	State   State
	Lost    []string  // nodes that are on the ring though the source has lost them: in grace, or Degraded
	Held    []string  // nodes that the source has and the ring has not: held down, or not published yet
	Changed time.Time // when the Feed last changed the ring; zero if it has not
	Err     error     // why the ring refused what was to be published last; nil if it did not
}

// New returns a Feed for l. A nil opts means the defaults. What is on the ring counts as present, so a program that
// starts with a ring that it saved is protected as if the source had said so: the first Update removes what it lacks,
// unless that is too much. The error is [hashring.ErrOptions].
func New(l *hashring.Live, opts *Options) (*Feed, error) {
	if opts == nil {
		opts = new(Options)
	}
	full, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	ring := l.Load()
	f := &Feed{
		live:    l,
		opts:    full,
		wake:    make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
		members: newMembers(full, ring),
		ring:    ring,
	}
	go f.publishAll()
	if full.OnChange != nil {
		go f.notifyAll(ring)
	}
	return f, nil
}

// Update says which nodes there are: all, those that are as before too. A node that was there and is not in the list is
// lost. Order matters under a [hashring.Placement] alone. Update copies nodes, and costs O(N).
//
// A list that is no good, by [hashring.Ring.Check], is ignored, and the error says which nodes are at fault. What only the
// whole ring shows, too many tokens or a node that its Placement refuses, shows later: the ring stays as it is, and
// [Feed.Status] has the error.
func (f *Feed) Update(nodes []hashring.Node) error {
	if err := f.live.Load().Check(nodes); err != nil {
		return err
	}
	return f.change(func(now time.Time) bool { return f.members.update(nodes, now) })
}

// Fail says that the node called name is lost, though the last list has it. It is back with the next list that has it. A
// name that is not known, or lost already, is ignored.
func (f *Feed) Fail(name string) {
	f.change(func(now time.Time) bool {
		m := f.members.byName[name]
		return m != nil && f.members.lose(m, now)
	})
}

// Leave says that the node called name is gone of its own will. Neither grace nor MaxLoss keep it on the ring, and if it
// is in a list again, nothing keeps it off. A name that is not known is ignored. So it also ends the [Degraded] state, if
// someone who knows says of enough nodes that they are gone for good.
func (f *Feed) Leave(name string) {
	f.change(func(time.Time) bool { return f.members.remove(name) })
}

// change lets note take note of news, and has that published if there is any.
func (f *Feed) change(note func(now time.Time) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	now := time.Now()
	if !note(now) {
		return nil
	}
	if f.last = now; f.first.IsZero() {
		f.first = now
	}
	signal(f.wake)
	return nil
}

// signal wakes whoever waits for c. If c is full, it is awake.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Status returns the present state. Its lists are the caller's, and in the order of the source's list.
func (f *Feed) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.status
	if !f.first.IsZero() {
		s.State = Settling
	}
	if f.members.degraded {
		s.State = Degraded
	}
	for _, m := range f.members.list {
		switch {
		case m.on && !m.present:
			s.Lost = append(s.Lost, m.node.Name)
		case m.present && !m.on:
			s.Held = append(s.Held, m.node.Name)
		}
	}
	return s
}

// Close ends the Feed. When it returns, the Feed does not change the ring any more. What was not published yet is
// dropped, and so is what OnChange was not told yet; a call that has begun is not waited for. Closing twice is fine.
func (f *Feed) Close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.stop)
	}
	f.mu.Unlock()
	<-f.stopped
}

// publishAll publishes what there is to publish, whenever it is time.
func (f *Feed) publishAll() {
	defer close(f.stopped)
	timer := time.NewTimer(0)
	timer.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-f.wake:
		case <-timer.C:
		}
		timer.Stop()
		if next := f.publish(); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}

// publish brings the ring up to date if it is time, and returns when to look again; zero if only after more news.
func (f *Feed) publish() (next time.Time) {
	f.mu.Lock()
	now := time.Now()
	if due := f.due(); now.Before(due) {
		f.mu.Unlock()
		return due
	}
	f.first, f.last = time.Time{}, time.Time{}
	before := f.members.degraded
	nodes, next := f.members.judge(now)
	after := f.members.degraded
	f.mu.Unlock()

	if before != after {
		f.logDegraded(after, len(nodes))
	}
	change, err := f.live.Set(nodes) // may wait for other writers, so not under the lock
	if err != nil {
		f.opts.Logger.Error("feed: the ring refuses the nodes and stays as it is", "nodes", len(nodes), "error", err)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.members.published(change.New)
	f.status.Err = err
	if change.Old != change.New {
		f.status.Changed = time.Now()
		f.ring = change.New
		signal(f.changed)
	}
	return next
}

// due returns when the changes that wait are to be published; a zero time if there are none.
func (f *Feed) due() time.Time {
	if f.first.IsZero() {
		return time.Time{}
	}
	due, latest := f.last.Add(f.opts.Settle), f.first.Add(f.opts.MaxWait)
	if latest.Before(due) {
		return latest
	}
	return due
}

func (f *Feed) logDegraded(degraded bool, nodes int) {
	if degraded {
		f.opts.Logger.Warn("feed: more nodes are lost than is likely: they stay on the ring", "nodes", nodes)
	} else {
		f.opts.Logger.Info("feed: enough nodes are back: the ring follows its source again", "nodes", nodes)
	}
}

// notifyAll calls OnChange for every ring that is there when it gets round to it.
func (f *Feed) notifyAll(told *hashring.Ring) {
	for {
		select {
		case <-f.stop:
			return
		case <-f.changed:
		}
		f.mu.Lock()
		ring, closed := f.ring, f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		if ring != told {
			f.opts.OnChange(hashring.Change{Old: told, New: ring})
			told = ring
		}
	}
}
