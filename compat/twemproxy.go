package compat

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clockwise-go/hashring"
)

// Twemproxy is the rule of twemproxy (nutcracker) with "distribution: ketama" (src/hashkit/nc_ketama.c, src/nc_conf.c and
// src/nc_server.c, at 0.5.0). hash and hashTag are those of the pool: hash is crc16, crc32, crc32a, fnv1_32, fnv1_64,
// fnv1a_32, fnv1a_64, hsieh, jenkins, md5, murmur, one_at_a_time, or empty for the default, fnv1a_64; hashTag is two
// characters of one byte each, or empty. Only with md5 are keys where other clients of ketama have them.
//
// A node's name is the server's address, host:port or the path of a unix socket, or the name that follows the address.
// The label is a name as it is; an address without the port if that is 11211; the path of a unix socket with ":" behind
// it. So a name that looks like an address with port 11211 goes into the node's Label, which is hashed as it is.
//
// The points are those of [Libmemcached] under ketama_weighted. But twemproxy takes servers by the length of their
// labels, and then by their bytes, so that the order of the configuration makes no difference. The first point at or
// above the key's hash owns; of equal points that of the first server. Weights are whole numbers up to 2^31-1, and
// 2^32-1 together. Two servers with one label are refused.
//
// With a hash tag "{}" the key is what is between the first { and the next }, if that is not empty. The empty key has
// hash 0.
//
// auto_eject_hosts is the ring without the servers ejected.
func Twemproxy(hash, hashTag string) (*Rule, error) {
	if hash == "" {
		hash = "fnv1a_64"
	}
	keys, err := hashCalled(twemproxyHashes, "twemproxy", hash)
	if err != nil {
		return nil, err
	}
	name := "twemproxy,hash=" + hash
	keys = orZero(keys)
	switch {
	case !utf8.ValidString(hashTag): // it is part of the rule's name
		return nil, badOption("twemproxy's hash_tag %q is not UTF-8", hashTag)
	case len(hashTag) == 2:
		name += ",hash_tag=" + hashTag
		keys = tagged(keys, hashTag)
	case hashTag != "":
		return nil, badOption("twemproxy's hash_tag %q is not two characters", hashTag)
	}
	return &Rule{
		name:  name,
		keys:  keys,
		label: twemproxyLabel,
		order: func(a, b server) int {
			return cmp.Or(cmp.Compare(len(a.label), len(b.label)), strings.Compare(a.label, b.label))
		},
		distinct: true,
		total:    maxUint32,
		plan:     share(twemproxyDigests, digestWords("-", 4)),
		circle:   circle{narrow: true},
	}, nil
}

// orZero returns h with 0 for the empty key, which Redis clients can send.
func orZero(h *hash32) *hash32 {
	return &hash32{h.name + "-or-0", func(key string) uint32 {
		if key == "" {
			return 0
		}
		return h.sum(key)
	}}
}

// tagged returns h for what is between the two characters of tag in a key, where they are in it with something between.
func tagged(h *hash32, tag string) *hash32 {
	return &hash32{h.name + " within " + tag, func(key string) uint32 {
		if _, after, ok := strings.Cut(key, tag[:1]); ok {
			if inner, _, ok := strings.Cut(after, tag[1:]); ok && inner != "" {
				return h.sum(inner)
			}
		}
		return h.sum(key)
	}}
}

// twemproxyLabel returns what twemproxy hashes for n.
func twemproxyLabel(n hashring.Node) (string, error) {
	if err := whole(n, "twemproxy", maxInt32); err != nil || n.Label != "" {
		return n.Label, err
	}
	if strings.HasPrefix(n.Name, "/") {
		return n.Name + ":", nil
	}
	if i := strings.LastIndexByte(n.Name, ':'); i > 0 {
		if port, err := strconv.ParseUint(n.Name[i+1:], 10, 16); err == nil && port == 11211 {
			return n.Name[:i], nil
		}
	}
	return n.Name, nil
}
