package main

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// wires are the network as it is, but for some members to which nothing gets through: if both sides of a partition do that
// to each other, there is one.
type wires struct {
	*memberlist.NetTransport

	mu   sync.Mutex
	dead []netip.AddrPort
}

// tap puts wires under memberlist.
func tap(conf *memberlist.Config) (*wires, error) {
	t, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
		BindAddrs: []string{conf.BindAddr},
		BindPort:  conf.BindPort,
		Logger:    conf.Logger,
	})
	if err != nil {
		return nil, err
	}
	w := &wires{NetTransport: t}
	conf.Transport = w
	return w, nil
}

// cut decides to whom nothing gets through.
func (w *wires) cut(from []netip.AddrPort) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = from
}

func (w *wires) isDead(addr string) bool {
	at, err := netip.ParseAddrPort(addr)
	w.mu.Lock()
	defer w.mu.Unlock()
	return err == nil && slices.Contains(w.dead, at)
}

func (w *wires) WriteTo(b []byte, addr string) (time.Time, error) {
	return w.WriteToAddress(b, memberlist.Address{Addr: addr})
}

func (w *wires) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if w.isDead(a.Addr) {
		return time.Now(), nil
	}
	return w.NetTransport.WriteToAddress(b, a)
}

func (w *wires) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return w.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (w *wires) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	if w.isDead(a.Addr) {
		return nil, fmt.Errorf("dial %s: cut off", a.Addr)
	}
	return w.NetTransport.DialAddressTimeout(a, timeout)
}
