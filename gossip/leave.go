package gossip

import (
	"context"
	"errors"
	"time"

	"github.com/clockwise-go/hashring"
)

// Leave takes this member off all rings, its own included, hands over, and ends it:
//
//  1. It tells the others that it is leaving. They take it off their rings at once, so it gets no new keys, though
//     those that have not heard yet still send some: it should go on serving.
//  2. It calls drain, if that is not nil, with the ranges that move, from this member to whom. drain's context ends with
//     ctx, and with Close.
//  3. It leaves, for good: until Config.Tombstone is over, no hearsay brings this instance back. A new Member of the same
//     name is welcome at once.
//
// If ctx ends before the others have been told, or drain returns an error, that is returned, but does not keep the member
// from leaving. Leave while or after the member leaves waits until it has, or ctx has ended. After Close it is [ErrClosed].
func (m *Member) Leave(ctx context.Context, drain func(context.Context, []hashring.Move) error) error {
	m.mu.Lock()
	if m.self.leaving {
		m.mu.Unlock()
		select {
		case <-m.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.stop, cancel)()
	m.self.leaving = true
	m.feed.Leave(m.view.self)
	m.sync()
	m.mu.Unlock()
	errs := []error{m.announce(ctx)}
	if drain != nil {
		moves, err := m.handover()
		if err == nil {
			err = drain(ctx, moves)
		}
		errs = append(errs, err)
	}
	m.quitting.take()
	if m.stop.Err() != nil {
		m.quitting.giveUp()
		return errors.Join(append(errs, ErrClosed)...)
	}
	if err := m.list.Leave(m.cfg.LeaveTimeout); err != nil { // it has been told, if not as often as is usual
		m.log.Info("gossip: leaving", "error", err)
	}
	m.quitting.giveUp()
	select { // Those who have not heard yet probe it, and would take it for failed.
	case <-time.After(linger):
	case <-m.stop.Done():
	}
	m.Close()
	return errors.Join(errs...)
}

const linger = 300 * time.Millisecond

// handover returns what moves from this member when it goes.
func (m *Member) handover() ([]hashring.Move, error) {
	m.mu.Lock()
	self := m.self
	m.mu.Unlock()
	if self.observer {
		return nil, nil
	}
	without, err := m.live.Load().Without(m.view.self)
	if err != nil {
		return nil, err
	}
	with, err := without.With(hashring.Node{Name: m.view.self, Weight: self.weight, Zone: self.zone, Label: self.label})
	if err != nil {
		return nil, err
	}
	diff, err := hashring.Diff(with, without)
	if err != nil {
		return nil, err
	}
	var moves []hashring.Move
	for move := range diff {
		moves = append(moves, move)
	}
	return moves, nil
}

// Close ends the member without a word: the others find out that it has failed, as if the process had died. The ring
// stays as it is. It returns when nothing of it runs any more but an OnChange that has begun, and what waits for the
// network, for seconds at most. Closing again, or after Leave, does nothing.
func (m *Member) Close() error {
	m.mu.Lock()
	again := m.closed
	m.closed = true
	m.mu.Unlock()
	if again {
		<-m.done
		return nil
	}
	m.end()
	m.feed.Close()
	m.quitting.take()
	err := m.list.Shutdown()
	m.quitting.giveUp()
	m.loops.Wait()
	close(m.done)
	return err
}
