//go:build !js && !wasip1

package feed_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
)

// lookup asks DNS for the nodes of a service. SRV weights are relative and those of a ring absolute, so someone has to
// say what 1 is: here a weight of 10. One of 0 means "hardly ever" in an SRV record; it is a hundredth here.
func lookup(ctx context.Context, r *net.Resolver, service string) ([]hashring.Node, error) {
	_, records, err := r.LookupSRV(ctx, "", "", service)
	if err != nil {
		return nil, err
	}
	var nodes []hashring.Node
	for _, srv := range records {
		weight := float64(srv.Weight) / 10
		if srv.Weight == 0 {
			weight = 0.01
		}
		nodes = append(nodes, hashring.Node{Name: strings.TrimSuffix(srv.Target, "."), Weight: weight})
	}
	return nodes, nil
}

// followDNS looks again and again until ctx ends. An answer that does not come says nothing about the nodes.
func followDNS(ctx context.Context, f *feed.Feed, r *net.Resolver, service string, every time.Duration) {
	for ticker := time.NewTicker(every); ; {
		nodes, err := lookup(ctx, r, service)
		if err == nil {
			err = f.Update(nodes)
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("membership", "service", service, "error", err)
		}
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
		}
	}
}

// The nodes of a service are its SRV records, as a headless Kubernetes service has them.
func ExampleFeed_dns() {
	zone := startDNS() // in place of a real one
	defer zone.Close()
	zone.set("cache-a 10", "cache-b 10", "cache-c 20")

	live := hashring.NewLive(nil)
	changes := make(chan hashring.Change)
	f, err := feed.New(live, &feed.Options{OnChange: func(c hashring.Change) { changes <- c }})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { followDNS(ctx, f, zone.resolver(), "_cache._tcp.example.", 10*time.Millisecond) })
	defer following.Wait()
	defer cancel()

	print := func(c hashring.Change) {
		for _, n := range c.New.Nodes() {
			fmt.Println(n.Name, n.Weight)
		}
		fmt.Println()
	}
	print(<-changes)
	zone.set("cache-a 10", "cache-c 20", "cache-d 0")
	print(<-changes)
	// Output:
	// cache-a.example 1
	// cache-b.example 1
	// cache-c.example 2
	//
	// cache-a.example 1
	// cache-c.example 2
	// cache-d.example 0.01
}

// dnsServer answers any question with its SRV records.
type dnsServer struct {
	net.PacketConn
	mu      sync.Mutex
	records []string
}

func startDNS() *dnsServer {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &dnsServer{PacketConn: conn}
	go s.serve()
	return s
}

func (s *dnsServer) set(records ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = records
}

func (s *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.LocalAddr().String())
	}}
}

func (s *dnsServer) serve() {
	for buf := make([]byte, 1500); ; {
		n, from, err := s.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := s.answer(buf[:n]); reply != nil {
			s.WriteTo(reply, from)
		}
	}
}

// answer makes a message by RFC 1035, with records by RFC 2782.
func (s *dnsServer) answer(query []byte) []byte {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 { // the name asked for, label by label
		end += 1 + int(query[end])
	}
	if end += 1 + 4; end > len(query) { // its end, type and class
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := append([]byte(nil), query[:2]...)
	reply = append(reply, 0x84, 0, 0, 1, 0, byte(len(s.records)), 0, 0, 0, 0) // an authoritative answer to one question
	reply = append(reply, query[header:end]...)
	for _, record := range s.records {
		name, weight, _ := strings.Cut(record, " ")
		var w uint16
		fmt.Sscan(weight, &w)
		data := []byte{0, 1}
		data = binary.BigEndian.AppendUint16(data, w)
		data = binary.BigEndian.AppendUint16(data, 11211)
		for _, label := range []string{name, "example"} {
			data = append(append(data, byte(len(label))), label...)
		}
		data = append(data, 0)
		reply = append(reply, 0xc0, header, 0, 33, 0, 1, 0, 0, 0, 1) // the name asked for, SRV, IN, 1 s to live
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(data)))
		reply = append(reply, data...)
	}
	return reply
}
