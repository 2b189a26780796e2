package gossip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// entrance is what this member has learned about its own standing while it joins. memberlist reports success as soon as
// state has been exchanged, also when the other side then refuses to take this member in; so what counts is whether some
// other member lists it.
type entrance struct {
	vouched bool             // another member lists this instance as alive
	alone   bool             // a seed turned out to be this member itself
	others  bool             // another member has answered
	rival   *memberlist.Node // another instance of the same name, elsewhere, that is listed as alive
	params  error            // a member has other parameters
}

const (
	clashMemory = time.Minute
	aloneAfter  = 2 * time.Second // for so long a member that is a seed itself waits for the others
	maxSeeds    = 32              // that are called at a time
	callTime    = time.Second     // after which those that have not answered are called once more
	callFailed  = 3               // so many members that have failed are called besides
)

// look draws the conclusions of what the other side of a join lists, and refuses to merge with those who have other rings.
func (m *Member) look(peers []*memberlist.Node) error {
	var listed, others bool
	for _, n := range peers {
		if n.State != memberlist.StateAlive && n.State != memberlist.StateSuspect {
			continue
		}
		meta, err := decodeMeta(n.Meta)
		switch {
		case n.Name != m.view.self:
			others = true
			if err == nil && meta.known && meta.params != m.self.params {
				err := m.view.admit(n.Name, n.Meta)
				m.entrance.params = err
				return err
			}
		case err == nil && meta.boot == m.self.boot:
			listed = true
		case addrPort(n) != m.gossip:
			rival := *n // a life of the same name at the same address is this process's last
			m.entrance.rival = &rival
		}
	}
	switch {
	case others:
		m.entrance.others = true
		m.entrance.vouched = m.entrance.vouched || listed
	case listed:
		m.entrance.alone = true
	}
	return nil
}

// enter calls the seeds until one has taken this member in, or it is clear that it is the first.
func (m *Member) enter(ctx context.Context) error {
	start := time.Now()
	cause, last := ErrNoSeed, error(nil) // why this member is not in yet
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		addrs, self, err := m.seeds(ctx)
		if err == nil && len(addrs) > 0 {
			round, done := context.WithTimeout(ctx, callTime)
			err = m.call(round, addrs)
			done()
		}
		if err != nil {
			cause, last = ErrNoSeed, err
		}
		m.mu.Lock()
		e := m.entrance
		m.entrance = entrance{alone: e.alone}
		first := err == nil && len(addrs) == 0 || (self || e.alone) && !e.others && time.Since(start) >= aloneAfter
		if e.vouched || first && e.params == nil && e.rival == nil {
			m.entered = true
			m.sync()
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		switch {
		case e.params != nil && err != nil && strings.Contains(err.Error(), e.params.Error()):
			return fmt.Errorf("gossip: %w", e.params) // memberlist passes only the text on
		case e.rival != nil && m.answers(ctx, e.rival):
			m.call(ctx, []string{e.rival.Address()}) // so that it knows of the conflict too
			return fmt.Errorf("gossip: %w: %q is at %s", ErrConflict, e.rival.Name, e.rival.Address())
		case e.rival != nil: // it may have crashed, so that the name will be free
			cause, last = ErrConflict, fmt.Errorf("%q is at %s, which does not answer, but the others take it for alive", e.rival.Name, e.rival.Address())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gossip: %w: %w", cause, errors.Join(ctx.Err(), last))
		case <-time.After(pause):
		}
	}
}

// answers reports whether a member of this one's name is alive at another address.
func (m *Member) answers(ctx context.Context, rival *memberlist.Node) bool {
	at := addrPort(rival)
	for range 5 {
		if _, err := m.list.Ping(rival.Name, net.UDPAddrFromAddrPort(at)); err == nil {
			return true
		}
		if ctx.Err() != nil {
			break
		}
	}
	return false
}

// seeds returns the addresses of the seeds but this member's own, at most maxSeeds of them, and whether that is one.
func (m *Member) seeds(ctx context.Context) (addrs []string, self bool, err error) {
	if m.cfg.Seeds == nil {
		return nil, false, nil
	}
	names, err := m.cfg.Seeds(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("seeds: %w", err)
	}
	own := m.Gossip()
	for _, name := range names {
		found, lookupErr := resolve(ctx, name)
		err = errors.Join(err, lookupErr)
		for _, addr := range found {
			if addr == own {
				self = true
			} else {
				addrs = append(addrs, addr.String())
			}
		}
	}
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	slices.Sort(addrs[:min(len(addrs), maxSeeds)])
	addrs = slices.Compact(addrs[:min(len(addrs), maxSeeds)])
	if len(addrs) > 0 {
		err = nil // some is enough
	}
	return addrs, self, err
}

// resolve returns the addresses of a host and port. memberlist could do that too, but without a context.
func resolve(ctx context.Context, name string) ([]netip.AddrPort, error) {
	if addr, err := netip.ParseAddrPort(name); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())}, nil
	}
	host, service, err := net.SplitHostPort(name)
	if err != nil {
		return nil, fmt.Errorf("seed %q: %w", name, err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, fmt.Errorf("seed %q: %w", name, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("seed %q: %w", name, err)
	}
	addrs := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return addrs, nil
}

// call exchanges state with those at addrs, all at once. It returns nil as soon as one has answered, and else why none
// has: within ctx, though what is under way goes on.
func (m *Member) call(ctx context.Context, addrs []string) error {
	answers := make(chan error, len(addrs))
	for _, addr := range addrs {
		go func() {
			_, err := m.list.Join([]string{addr})
			if one := errors.Unwrap(err); one != nil {
				err = one // of a list of one
			}
			answers <- err
		}()
	}
	var all []error
	for range addrs {
		select {
		case err := <-answers:
			if err == nil {
				return nil
			}
			all = append(all, err)
		case <-ctx.Done():
			return errors.Join(append(all, fmt.Errorf("no answer from all of %v: %w", addrs, ctx.Err()))...)
		}
	}
	return errors.Join(all...)
}

// rejoinLoop calls, again and again, the seeds that are not among the members alive, and some members that have failed, in
// turn. memberlist forgets who has been dead for long, and then nobody would call the other side of a partition any more.
func (m *Member) rejoinLoop() {
	for {
		m.mu.Lock()
		owners, observers := m.view.census()
		m.mu.Unlock()
		wait := m.cfg.Rejoin
		if owners+observers == 0 {
			wait = min(wait, time.Second)
		}
		wait -= time.Duration(rand.Int64N(int64(wait)/5 + 1)) // so that not all call at once
		select {
		case <-m.stop.Done():
			return
		case <-time.After(wait):
		}
		m.loops.Go(m.rejoin) // which may wait for those that do not answer, for longer than until the next time
	}
}

func (m *Member) rejoin() {
	ctx, cancel := context.WithTimeout(m.stop, m.cfg.Rejoin)
	defer cancel()
	seeds, _, err := m.seeds(ctx)
	if err != nil && m.stop.Err() == nil {
		m.log.Warn("gossip: looking for seeds", "error", err)
	}
	m.mu.Lock()
	m.view.tidy(time.Now())
	calls := m.view.missing(seeds, callFailed, time.Now())
	m.mu.Unlock()
	if len(calls) == 0 {
		return
	}
	if err := m.call(ctx, calls); err != nil && m.stop.Err() == nil {
		m.log.Info("gossip: calling seeds that are missing and members that have failed", "error", err)
	}
}
