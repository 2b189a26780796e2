package gossip

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// network is a network in memory, in which anything can go wrong. Its dice are seeded.
type network struct {
	mu     sync.Mutex
	random *rand.Rand
	hosts  map[netip.AddrPort]*host
	dead   map[[2]netip.AddrPort]bool // directions in which nothing gets through

	loss      float64 // of packets, and of attempts to connect
	duplicate float64 // of packets
	delay     [2]time.Duration
	bytes     int
}

func newNetwork(seed uint64) *network {
	return &network{
		random: rand.New(rand.NewPCG(seed, 1)),
		hosts:  make(map[netip.AddrPort]*host),
		dead:   make(map[[2]netip.AddrPort]bool),
		delay:  [2]time.Duration{100 * time.Microsecond, quick},
	}
}

// host is one end of the network: what memberlist calls a transport.
type host struct {
	net     *network
	addr    netip.AddrPort
	packets chan *memberlist.Packet
	streams chan net.Conn
	closed  chan struct{}
	once    sync.Once

	mu    sync.Mutex
	conns []net.Conn
}

// plug adds a host. What had its address before is unplugged.
func (n *network) plug(addr netip.AddrPort) *host {
	h := &host{
		net:     n,
		addr:    addr,
		packets: make(chan *memberlist.Packet, 1024),
		streams: make(chan net.Conn, 64),
		closed:  make(chan struct{}),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[addr] = h
	return h
}

// unplug takes a host off the network: it is not heard any more, and hears nothing.
func (n *network) unplug(h *host) {
	n.mu.Lock()
	if n.hosts[h.addr] == h {
		delete(n.hosts, h.addr)
	}
	n.mu.Unlock()
	h.Shutdown()
}

// set decides, for each direction between two hosts, whether it is dead.
func (n *network) set(dead func(from, to netip.AddrPort) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.dead)
	for from, h := range n.hosts {
		for to := range n.hosts {
			if from != to && dead(from, to) {
				n.dead[[2]netip.AddrPort{from, to}] = true
				h.hangUp()
			}
		}
	}
}

// disturb decides which part of the packets is lost, which comes twice, and how long they take at most.
func (n *network) disturb(loss, duplicate float64, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loss, n.duplicate, n.delay[1] = loss, duplicate, max(delay, n.delay[0])
}

// stream counts what is sent.
type stream struct {
	net.Conn
	net *network
}

func (s stream) Write(b []byte) (int, error) {
	s.net.mu.Lock()
	s.net.bytes += len(b)
	s.net.mu.Unlock()
	return s.Conn.Write(b)
}

func (n *network) pipe() (mine, theirs net.Conn) {
	a, b := net.Pipe()
	return stream{a, n}, stream{b, n}
}

// sent returns how many bytes were sent.
func (n *network) sent() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

const quick = 2 * time.Millisecond

func (n *network) heal() { n.set(func(_, _ netip.AddrPort) bool { return false }) }

// reach returns the host at addr, and after which delay, if what from sends gets there. Again says that it does so twice.
func (n *network) reach(from *host, addr string) (to *host, delay time.Duration, again bool) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, 0, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	to = n.hosts[at]
	if n.hosts[from.addr] != from || to == nil || n.dead[[2]netip.AddrPort{from.addr, at}] || n.random.Float64() < n.loss {
		return nil, 0, false
	}
	delay = n.delay[0] + time.Duration(n.random.Int64N(int64(n.delay[1]-n.delay[0])+1))
	return to, delay, n.random.Float64() < n.duplicate
}

func (h *host) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IP(h.addr.Addr().AsSlice()), int(h.addr.Port()), nil
}

func (h *host) WriteTo(b []byte, addr string) (time.Time, error) {
	return h.WriteToAddress(b, memberlist.Address{Addr: addr})
}

func (h *host) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	now := time.Now()
	to, delay, again := h.net.reach(h, a.Addr)
	h.net.mu.Lock()
	h.net.bytes += len(b)
	h.net.mu.Unlock()
	if to == nil {
		return now, nil // as with UDP, nobody knows
	}
	deliver := func() {
		p := &memberlist.Packet{Buf: append([]byte(nil), b...), From: net.UDPAddrFromAddrPort(h.addr), Timestamp: time.Now()}
		select {
		case to.packets <- p:
		default: // its buffer is full
		}
	}
	b = append([]byte(nil), b...)
	time.AfterFunc(delay, deliver)
	if again {
		time.AfterFunc(2*delay+time.Millisecond, deliver)
	}
	return now, nil
}

func (h *host) PacketCh() <-chan *memberlist.Packet { return h.packets }
func (h *host) StreamCh() <-chan net.Conn           { return h.streams }

func (h *host) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return h.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

var errRefused = errors.New("connection refused")

func (h *host) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	to, delay, _ := h.net.reach(h, a.Addr)
	if to != nil { // the answer has to get back
		back, _, _ := h.net.reach(to, h.addr.String())
		if back == nil {
			to = nil
		}
	}
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%s: %w", a.Addr, err)}
	}
	if to == nil {
		select {
		case <-time.After(timeout):
		case <-h.closed:
		}
		return fail(errors.New("timeout"))
	}
	time.Sleep(2 * delay)
	mine, theirs := h.net.pipe()
	select {
	case to.streams <- theirs:
	case <-to.closed:
		return fail(errRefused)
	}
	mine.SetDeadline(time.Now().Add(timeout)) // a pipe has no buffer to write to meanwhile, as a socket has
	h.keep(mine)
	to.keep(theirs)
	return mine, nil
}

// keep remembers a connection, so that it can be cut.
func (h *host) keep(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.conns) == 64 { // most of them are long over
		h.conns = append(h.conns[:0], h.conns[32:]...)
	}
	h.conns = append(h.conns, c)
}

func (h *host) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		c.Close()
	}
	h.conns = nil
}

func (h *host) Shutdown() error {
	h.once.Do(func() { close(h.closed) })
	h.hangUp()
	return nil
}
