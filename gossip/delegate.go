package gossip

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
)

// delegate is what memberlist calls, mostly with its lock held: every method copies what it needs, and returns.
// memberlist's own lists of members are never asked for, since it goes on writing to what they return.
type delegate struct{ m *Member }

// NodeMeta returns what this member tells of itself.
func (d delegate) NodeMeta(int) []byte {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	b, err := d.m.self.encode()
	if err != nil {
		panic(err) // Join has checked it, and it does not get longer
	}
	return b
}

// NotifyAlive refuses members that do not belong here. Never what is told of this member itself: that has to be heard to
// be objected to.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if n.Name == d.m.view.self {
		return nil
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return d.m.view.admit(n.Name, n.Meta)
}

func (d delegate) NotifyJoin(n *memberlist.Node) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if n.Name == d.m.view.self {
		d.m.gossip, d.m.told = addrPort(n), bytes.Clone(n.Meta)
		return
	}
	if left := d.m.view.put(n.Name, n.Meta, n.Address(), time.Now()); left {
		d.m.feed.Leave(n.Name)
	}
	d.m.sync()
}

func (d delegate) NotifyUpdate(n *memberlist.Node) { d.NotifyJoin(n) }

func (d delegate) NotifyLeave(n *memberlist.Node) {
	if n.Name == d.m.view.self {
		return
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if left := d.m.view.gone(n.Name, time.Now()); left {
		d.m.feed.Leave(n.Name)
	}
	d.m.sync() // and what is missing has failed
}

func addrPort(n *memberlist.Node) netip.AddrPort {
	ip, _ := netip.AddrFromSlice(n.Addr)
	return netip.AddrPortFrom(ip.Unmap(), n.Port)
}

// NotifyConflict notes that another member has this one's name. The others go on with the one that they know.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	if existing.Name != d.m.view.self {
		return
	}
	now := time.Now()
	d.m.mu.Lock()
	old := now.Sub(d.m.clash) > clashMemory
	d.m.clash = now
	d.m.mu.Unlock()
	if old {
		d.m.log.Error("gossip: another member has this one's name", "name", other.Name, "address", other.Address())
	}
}

// NotifyMerge sees what the other side of a join knows, in either direction, before any of it counts.
func (d delegate) NotifyMerge(peers []*memberlist.Node) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return d.m.look(peers)
}

// LocalState and MergeRemoteState carry the graves in each exchange of state.
func (d delegate) LocalState(bool) []byte {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return d.m.view.graves.append(nil, time.Now())
}

func (d delegate) MergeRemoteState(data []byte, _ bool) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	left, self, err := d.m.view.merge(data, d.m.self.boot, time.Now())
	if err != nil {
		d.m.log.Warn("gossip: a member sent what cannot be read", "error", err)
	}
	for _, name := range left {
		d.m.feed.Leave(name)
	}
	if len(left) > 0 {
		d.m.sync()
	}
	if self && d.m.entered && !d.m.self.leaving {
		// Somebody says that this very instance has left. It has not: it goes on as another.
		d.m.self.boot = newBoot()
		d.m.log.Warn("gossip: this member is said to have left, and objects")
		go d.m.announce(context.Background())
	}
}

// AckPayload and NotifyPingComplete let each member compare its ring with another's about once a second.
func (d delegate) AckPayload() []byte {
	return binary.BigEndian.AppendUint64(nil, d.m.fingerprint())
}

func (d delegate) NotifyPingComplete(n *memberlist.Node, _ time.Duration, payload []byte) {
	if len(payload) != 8 {
		return
	}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if p := d.m.view.peers[n.Name]; p != nil {
		p.print, p.heard = binary.BigEndian.Uint64(payload), time.Now()
	}
}

// NotifyMsg and GetBroadcasts are for messages of the program's own; there are none.
func (d delegate) NotifyMsg([]byte)                {}
func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }
