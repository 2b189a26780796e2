package compat

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Nginx is the rule of nginx's "hash key consistent" in an upstream block
// (src/http/modules/ngx_http_upstream_hash_module.c and its twin for streams, at 1.22.1).
//
// A node's name is the server's address as written in the configuration, case and all: with the port or without it, which
// are two different labels even for port 80; a unix socket with "unix:" before it. A name that resolves to several
// addresses is one server. A node's Label, if it has one, is taken instead.
//
// A server of weight w has 160*w points, a chain: each is the CRC-32 of host, NUL, port and the point before, little-endian
// (0 before the first). So a change of weight adds or drops points at the end and moves no other key. The first point at
// or above CRC-32(key) owns; of equal points that of the first server. Weights are whole.
//
// nginx gives an empty key, and every key while there is a single server, to round robin. A server that is down stays on
// the ring, and so must its node: see [NginxAttempts]. A backup server is refused with this method.
func Nginx() *Rule {
	return &Rule{
		name:  "nginx",
		keys:  crc32Hash,
		label: nginxLabel,
		plan:  fixed(nginxPoints, crcChain),

		circle: circle{narrow: true},
	}
}

const nginxPoints = 160 // per unit of weight

// CacheMemcachedFast is the rule of Perl's Cache::Memcached::Fast with ketama_points set (src/dispatch_key.c, at 0.28):
// that of [Nginx], but a server of weight w has floor(ketamaPoints*w + 0.5) points, and weights may have fractions. With
// 160 and whole weights both agree. ketamaPoints is from 1 to 2^31-1; without it the program has no ring. Servers are named
// host:port, or by the path of a unix socket.
func CacheMemcachedFast(ketamaPoints int) (*Rule, error) {
	if ketamaPoints < 1 || ketamaPoints > maxInt32 {
		return nil, badOption("ketama_points is %d, not from 1 to 2^31-1", ketamaPoints)
	}
	return &Rule{
		name: fmt.Sprintf("cache-memcached-fast,ketama_points=%d", ketamaPoints),
		keys: crc32Hash,
		label: func(n hashring.Node) (string, error) {
			if n.Weight > maxInt32 {
				return "", refuse("weight %v is more than 2^31-1", n.Weight)
			}
			address := labelOf(n)
			if strings.HasPrefix(address, "/") {
				return address + "\x00", nil
			}
			host, port := splitPort(address)
			if port == "" {
				return "", refuse("%q is neither host:port nor the path of a unix socket", address)
			}
			return host + "\x00" + port, nil
		},
		plan: func(servers []server) expander {
			for i, s := range servers {
				servers[i].count = uint64(math.Floor(float64(s.weight*float64(ketamaPoints)) + 0.5))
			}
			return crcChain
		},
		circle: circle{narrow: true},
	}, nil
}

// nginxLabel returns host, NUL and port of the address of n.
func nginxLabel(n hashring.Node) (string, error) {
	if err := whole(n, "nginx", maxInt32); err != nil {
		return "", err
	}
	address := labelOf(n)
	if len(address) > 5 && strings.EqualFold(address[:5], "unix:") {
		return address[5:] + "\x00", nil
	}
	host, port := splitPort(address)
	bare := !strings.Contains(host, ":") || strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if n, err := strconv.ParseUint(port, 10, 16); host == "" || !bare || port != "" && (err != nil || n == 0) {
		return "", refuse("%q is not a server's address: it has no host, or no valid port behind its colon", address)
	}
	return host + "\x00" + port, nil
}

// splitPort splits an address before the digits at its end, if those follow a colon. Else there is no port.
func splitPort(address string) (host, port string) {
	host = strings.TrimRight(address, "0123456789")
	if !strings.HasSuffix(host, ":") || host == address {
		return address, ""
	}
	return host[:len(host)-1], address[len(host):]
}

// crcChain makes each point of the one before.
func crcChain(s server, emit func(point uint64) bool) bool {
	base := crc32IEEE(s.label)
	var before [4]byte
	for range s.count {
		point := crc32.Update(base, crc32.IEEETable, before[:])
		if !emit(uint64(point)) {
			return false
		}
		binary.LittleEndian.PutUint32(before[:], point)
	}
	return true
}
