package compat

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/clockwise-go/hashring"
)

// HAProxy is the rule of HAProxy's "hash-type consistent" (src/lb_chash.c, src/hash.c, and gen_hash in src/backend.c, at
// 2.6.12) with servers identified by "hash-key id", the default. function and avalanche are what follows in that line:
// crc32, djb2, sdbm or wt6, and the modifier. No function is the default, which is sdbm with avalanche; "consistent sdbm"
// is without.
//
// A server of weight w has 16*w points, a mixture of 4096*id + k. Its name and address do not matter, so a node's Label
// is its id, and must be there: [HAProxyIDs] gives the ids that HAProxy gives where the configuration does not. Not the
// next but the nearest point owns a key, of two equally near the lower. All points are distinct. Weights are whole numbers
// from 1 to 256, and 2^20 together; a server of weight 0 has no points, so leave it out, but after the ids are given.
//
// Keys are what HAProxy hashes: "balance hdr" takes each value between commas, "balance uri" what is before "?".
// "balance source" has a hash of its own, which is not here.
//
// A server that is down leaves the ring, as by [hashring.Ring.Without]. A server that is full, or was tried, is passed
// over: see [Attempts].
func HAProxy(function string, avalanche bool) (*Rule, error) {
	if function == "" {
		function, avalanche = "sdbm", true
	}
	keys, err := hashCalled(haproxyHashes, "haproxy", function)
	if err != nil {
		return nil, err
	}
	if avalanche {
		sum := keys.sum
		keys = &hash32{keys.name + "-avalanche", func(key string) uint32 { return haproxyMix(sum(key)) }}
	}
	return &Rule{
		name:     fmt.Sprintf("haproxy,hash=%s,avalanche=%t", function, avalanche),
		keys:     keys,
		label:    haproxyLabel,
		distinct: true,
		total:    maxHAProxyWeight,
		plan: fixed(16, func(s server, emit func(point uint64) bool) bool {
			id, _ := strconv.ParseUint(s.label, 10, 32) // it is one: see haproxyLabel
			for k := range uint32(s.count) {
				if !emit(uint64(haproxyMix(uint32(id)<<12 + k))) {
					return false
				}
			}
			return true
		}),
		circle: circle{narrow: true, nearest: true},
	}, nil
}

// maxHAProxyID keeps the ids' points apart: 4,096 each, in 32 bits. HAProxy takes greater ids, but they share their points
// with smaller ones.
const maxHAProxyID = 1 << 20

// maxHAProxyWeight, of all servers together, bounds the points that are held while they are placed: they are as many as the
// tokens that [hashring.Options] allows by default, or 4,096 servers of the greatest weight.
const maxHAProxyWeight = 1 << 24 / 16

// haproxyLabel returns the id of n.
func haproxyLabel(n hashring.Node) (string, error) {
	if err := whole(n, "haproxy", 256); err != nil {
		return "", err
	}
	return haproxyID(n.Label)
}

// haproxyID returns an id in its usual form.
func haproxyID(label string) (string, error) {
	id, err := strconv.ParseUint(label, 10, 32)
	if err != nil || id == 0 || id > maxHAProxyID {
		return "", refuse("its Label, %q, is not a server id from 1 to %d; HAProxyIDs gives ids as haproxy does",
			label, maxHAProxyID)
	}
	return strconv.FormatUint(id, 10), nil
}

// HAProxyIDs returns servers, which are those of a backend in the order of the configuration, each with its id as Label.
// A Label that is there stays: that is "id" on the server's line. The others have, as HAProxy gives it, their place in the
// list, from 1, or if that id is taken the next that is free. An id that is not one, or is there twice, is a
// [*hashring.NodeError].
//
// Do this once, for the list of the configuration, before any server is left out. Ids by place are why nearly all keys move
// when a server is taken out of a configuration of HAProxy that does not write ids down.
func HAProxyIDs(servers []hashring.Node) ([]hashring.Node, error) {
	taken := make(map[string]bool, len(servers))
	for i, s := range servers {
		if s.Label == "" {
			continue
		}
		id, err := haproxyID(s.Label)
		if err == nil && taken[id] {
			err = refuse("id %s is that of another server too", id)
		}
		if err != nil {
			return nil, &hashring.NodeError{Index: i, Name: s.Name, Err: err}
		}
		taken[id] = true
	}
	out := slices.Clone(servers)
	next := 1
	for i := range out {
		if out[i].Label == "" {
			for taken[strconv.Itoa(next)] {
				next++
			}
			out[i].Label = strconv.Itoa(next)
			taken[out[i].Label] = true
		}
		next++
	}
	return out, nil
}

// haproxyHashes are the functions of hash-type, on unsigned bytes.
var haproxyHashes = map[string]*hash32{
	"crc32": crc32Hash,
	"djb2": {"djb2", func(key string) uint32 {
		h := uint32(5381)
		for i := range len(key) {
			h = h*33 + uint32(key[i])
		}
		return h
	}},
	"sdbm": {"sdbm", func(key string) uint32 {
		h := uint32(0)
		for i := range len(key) {
			h = h*65599 + uint32(key[i])
		}
		return h
	}},
	"wt6": {"wt6", wt6},
}

// wt6 keeps two words, and turns them by amounts that it draws from them.
func wt6(key string) uint32 {
	a, b := uint32(0xa53c965a), uint32(0x5ca6953a)
	turnA, turnB := 6, 18
	for i := range len(key) {
		a = ^(a ^ uint32(key[i]))
		b = ^(b + uint32(key[i]))
		a, b = bits.RotateLeft32(b, turnA), bits.RotateLeft32(a, turnB)
		mixed := (a>>16 ^ b) & 0xffff
		turnA, turnB = int(mixed&31), int(mixed>>11)
	}
	return a ^ b
}

// haproxyMix is full_hash of include/haproxy/intops.h: one of Bob Jenkins' integer hashes, times a large prime. It is a
// bijection.
func haproxyMix(x uint32) uint32 {
	x = x + 0x7ed55d16 + x<<12
	x = x ^ 0xc761c23c ^ x>>19
	x = x + 0x165667b1 + x<<5
	x = (x + 0xd3a2646c) ^ x<<9
	x = x + 0xfd7046c5 + x<<3
	x = x ^ 0xb55a4f09 ^ x>>16
	return x * 3221225473
}
