package compat

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Libmemcached is the rule of libmemcached (src/libmemcached/hosts.cc, update_continuum, and hash.cc, dispatch_host, at
// 1.1.4), and so of PHP's memcached extension and others built on it. distribution is one of
//
//	ketama_weighted       MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED; PHP: OPT_LIBKETAMA_COMPATIBLE
//	ketama                MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA; also consistent: CONSISTENT, PHP: DISTRIBUTION_CONSISTENT
//	consistent_weighted   MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED, set alone
//	ketama_spy            MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY
//	ketama_spy_weighted   KETAMA_WEIGHTED and then CONSISTENT_KETAMA_SPY
//
// and hash, MEMCACHED_BEHAVIOR_HASH, is crc, fnv1_32, fnv1_64, fnv1a_32, fnv1a_64, jenkins, md5, murmur, murmur3,
// one_at_a_time, or empty where it is not set: then keys are hashed by md5 in the two distributions that set
// KETAMA_WEIGHTED, and by one_at_a_time in the others. MEMCACHED_BEHAVIOR_KETAMA_HASH makes no difference.
//
// Servers are named host:port, or host where the port is 11211, or by the path of a unix socket; an IPv6 address has no
// brackets. The label is the host if the port is 11211, else host:port, and of a unix socket path:0. Under the two spy
// distributions it is "/host:port", always with the port. A node's Label, if it has one, is hashed as it is.
//
// The weighted distributions have floor(w/W * 40 * n) digests MD5(label-k) of four points each, as [Libketama] has, but
// count them in other floating point, so that sets as small as 25 equal servers differ. The others have 100 points a
// server, each the key hash of label-k: that is not ketama, whatever its name. But when any server has a weight above 1,
// they have the points of the weighted ones, and keep their hash of keys.
//
// The first point at or above the key's hash owns; of equal points that of the first server. Weights are whole numbers
// up to 2^32-1, and 0 is 1, as it is for a [hashring.Node]. Auto-eject is the ring without the servers ejected, which
// under a weighted distribution can move keys between those that stay.
//
// Keys are those that libmemcached hashes: without the prefix (namespace) that it is given, unless
// MEMCACHED_BEHAVIOR_HASH_WITH_PREFIX_KEY is set. With MEMCACHED_BEHAVIOR_SORT_HOSTS the order of servers is by host and
// port, which matters only where two own a point.
func Libmemcached(distribution, hash string) (*Rule, error) {
	if distribution == "consistent" {
		distribution = "ketama"
	}
	var spy, weighted bool // weighted: whatever the weights
	usual := "one_at_a_time"
	switch distribution {
	case "ketama":
	case "consistent_weighted":
		weighted = true
	case "ketama_spy":
		spy = true
	case "ketama_weighted", "ketama_spy_weighted":
		weighted, spy = true, distribution == "ketama_spy_weighted"
		usual = "md5"
	default:
		return nil, badOption("libmemcached has no distribution %q here, but consistent, consistent_weighted, ketama, "+
			"ketama_spy, ketama_spy_weighted, ketama_weighted", distribution)
	}
	if hash == "" {
		hash = usual
	}
	keys, err := hashCalled(libmemcachedHashes, "libmemcached", hash)
	if err != nil {
		return nil, err
	}
	byShare := share(libmemcachedDigests, digestWords("-", 4))
	return &Rule{
		name:  fmt.Sprintf("libmemcached,distribution=%s,hash=%s", distribution, hash),
		keys:  keys,
		label: func(n hashring.Node) (string, error) { return libmemcachedLabel(n, spy) },
		plan: func(servers []server) expander {
			if weighted || slices.ContainsFunc(servers, func(s server) bool { return s.weight > 1 }) {
				return byShare(servers)
			}
			return fixed(100, joined("-", keys.point))(servers)
		},
		total:  noLimit,
		circle: circle{narrow: true},
	}, nil
}

// libmemcachedLabel returns what libmemcached hashes for n.
func libmemcachedLabel(n hashring.Node, spy bool) (string, error) {
	if err := whole(n, "libmemcached", maxUint32); err != nil || n.Label != "" {
		return n.Label, err
	}
	host, port := n.Name, uint64(11211)
	if i := strings.LastIndexByte(host, ':'); strings.HasPrefix(host, "/") {
		port = 0 // a unix socket
	} else if i >= 0 {
		var err error
		if port, err = strconv.ParseUint(host[i+1:], 10, 16); err != nil || i == 0 {
			return "", refuse("the name is not host:port with a port from 0 to 65535")
		}
		host = host[:i]
	}
	switch {
	case strings.HasPrefix(host, "["):
		return "", refuse("libmemcached has IPv6 addresses without brackets, and hashes those")
	case spy:
		return fmt.Sprintf("/%s:%d", host, port), nil
	case port == 11211:
		return host, nil
	}
	return fmt.Sprintf("%s:%d", host, port), nil
}

// hashCalled returns the hash that a program calls name.
func hashCalled[H any](hashes map[string]H, program, name string) (H, error) {
	h, ok := hashes[name]
	if !ok {
		return h, badOption("%s has no hash %q here, but %s", program, name,
			strings.Join(slices.Sorted(maps.Keys(hashes)), ", "))
	}
	return h, nil
}
