package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/gossip"
)

// server answers questions about the ring of one member.
type server struct {
	name   string
	live   *hashring.Live
	member *gossip.Member
	wires  *wires // nil without -cut
	leave  chan<- struct{}
}

// place is a node, and where it serves.
type place struct {
	Name string `json:"name"`
	Addr string `json:"addr,omitempty"`
}

// ownerAnswer is what GET /owner says. Who compares its fingerprint with that of another ring knows whether both agree.
type ownerAnswer struct {
	Key         string  `json:"key"`
	Owner       place   `json:"owner"`
	Replicas    []place `json:"replicas"`
	Fingerprint string  `json:"fingerprint"`
}

// ringAnswer is what GET /ring says.
type ringAnswer struct {
	Member      string           `json:"member"`
	State       string           `json:"state"`
	Fingerprint string           `json:"fingerprint"`
	Agreement   gossip.Agreement `json:"agreement"`
	Observers   int              `json:"observers"`
	Nodes       []nodeAnswer     `json:"nodes"`
}

type nodeAnswer struct {
	place
	Weight float64 `json:"weight"`
	Zone   string  `json:"zone,omitempty"`
	Share  float64 `json:"share"`
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /owner", s.owner)
	mux.HandleFunc("GET /ring", s.ring)
	mux.HandleFunc("GET /ready", s.ready)
	mux.HandleFunc("POST /weight", s.weight)
	mux.HandleFunc("POST /leave", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case s.leave <- struct{}{}:
		default: // it is leaving
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if s.wires != nil {
		mux.HandleFunc("POST /cut", s.cut)
		mux.HandleFunc("POST /heal", func(http.ResponseWriter, *http.Request) { s.wires.cut(nil) })
	}
	return mux
}

func (s *server) place(node string) place {
	addr, _ := s.member.Addr(node)
	return place{node, addr}
}

func (s *server) owner(w http.ResponseWriter, r *http.Request) {
	key := r.FormValue("key")
	ring := s.live.Load() // one ring for the whole answer
	answer := ownerAnswer{Key: key, Fingerprint: fmt.Sprintf("%016x", ring.Fingerprint())}
	for _, node := range ring.AppendReplicas(nil, key, 3) {
		answer.Replicas = append(answer.Replicas, s.place(node))
	}
	if len(answer.Replicas) == 0 {
		http.Error(w, "the ring is empty", http.StatusServiceUnavailable)
		return
	}
	answer.Owner = answer.Replicas[0]
	reply(w, answer)
}

func (s *server) ring(w http.ResponseWriter, _ *http.Request) {
	ring, status := s.live.Load(), s.member.Status()
	answer := ringAnswer{
		Member:      s.name,
		State:       status.State.String(),
		Fingerprint: fmt.Sprintf("%016x", ring.Fingerprint()),
		Agreement:   status.Agreement,
		Observers:   status.Observers,
		Nodes:       []nodeAnswer{},
	}
	for _, n := range ring.Ownership(hashring.Policy{N: 1}).Nodes {
		answer.Nodes = append(answer.Nodes, nodeAnswer{s.place(n.Name), n.Weight, n.Zone, n.Owned().Fraction()})
	}
	reply(w, answer)
}

func (s *server) ready(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.member.Ready():
	default:
		http.Error(w, "not ready", http.StatusServiceUnavailable)
	}
}

func (s *server) weight(w http.ResponseWriter, r *http.Request) {
	weight, err := strconv.ParseFloat(r.FormValue("w"), 64)
	if err == nil {
		err = s.member.SetWeight(r.Context(), weight)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *server) cut(w http.ResponseWriter, r *http.Request) {
	var from []netip.AddrPort
	for _, text := range strings.Split(r.FormValue("from"), ",") {
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from = append(from, addr)
	}
	s.wires.cut(from)
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.Encode(answer)
}
