package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// keySource returns what a request is routed by, or "" if the request does not have it.
type keySource func(*http.Request) string

// parseBy reads a list of header:NAME, cookie:NAME and addr.
func parseBy(list string) ([]keySource, error) {
	var by []keySource
	for s := range strings.SplitSeq(list, ",") {
		kind, name, named := strings.Cut(strings.TrimSpace(s), ":")
		switch {
		case kind == "header" && strings.EqualFold(name, "Host"): // net/http keeps it apart
			by = append(by, func(r *http.Request) string { return r.Host })
		case kind == "header" && name != "":
			by = append(by, func(r *http.Request) string { return r.Header.Get(name) })
		case kind == "cookie" && name != "":
			by = append(by, func(r *http.Request) string {
				c, err := r.Cookie(name)
				if err != nil {
					return ""
				}
				return c.Value
			})
		case kind == "addr" && !named:
			by = append(by, clientAddr)
		default:
			return nil, fmt.Errorf("-by: %q is none of header:NAME, cookie:NAME and addr", s)
		}
	}
	return by, nil
}

// key returns what r is routed by. Every request has a client address, so none is without a key.
func (p *Proxy) key(r *http.Request) string {
	for _, source := range p.by {
		if key := source(r); key != "" {
			return key
		}
	}
	return clientAddr(r)
}

// clientAddr returns the host at the other end of the connection. The port is another for each connection of a client.
// X-Forwarded-For does not count: anybody can send that.
func clientAddr(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
