package compat

import (
	"fmt"

	"github.com/clockwise-go/hashring"
)

// Uhashring is the rule of Python's uhashring with its default ring (uhashring/ring.py, at 2.1). vnodes is its argument of
// that name, 0 the default of 160. hash is md5, or empty, for its own hash, or crc32 where hash_fn is that function.
//
// A server of weight w has vnodes*w points, the hash of name-k, all 128 bits of an MD5. The first point above the key's
// hash, not at it, owns; of equal points that of the last server. Weights are whole. A node's Label, if it has one, is
// hashed in place of the name.
//
// Where two servers have an equal point, removing one of them takes it from both in the program; here the other keeps it.
func Uhashring(vnodes int, hash string) (*Rule, error) {
	if vnodes == 0 {
		vnodes = 160
	}
	if hash == "" {
		hash = "md5"
	}
	if err := checkCount("uhashring", "vnodes", vnodes); err != nil {
		return nil, err
	}
	r := &Rule{
		name:     fmt.Sprintf("uhashring,vnodes=%d,hash=%s", vnodes, hash),
		label:    func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "uhashring", maxUint32) },
		lastWins: true,
		circle:   circle{strict: true},
	}
	switch hash {
	case "md5": // the upper half of it, the built-in hash, tells points apart as well as the whole
		r.keys = hashring.MD5
		r.plan = fixed(uint64(vnodes), joined("-", hashring.MD5.Sum64))
	case "crc32":
		r.keys = crc32Hash
		r.plan = fixed(uint64(vnodes), joined("-", crc32Hash.point))
		r.circle.narrow = true
	default:
		return nil, badOption("uhashring has no hash %q here, but crc32, md5", hash)
	}
	return r, nil
}

// UhashringKetama is the rule of Python's uhashring with hash_fn="ketama" (uhashring/ring_ketama.py, at 2.1). vnodes and
// replicas are its arguments of these names, 0 the defaults of 40 and 4; replicas is from 1 to 4.
//
// A server of weight w of a total of W on n servers has vnodes*n*w/W digests MD5(name-k), rounded down in whole numbers,
// each of which gives as many points as replicas says, its little-endian words. The first point above MD5(key)'s first word
// owns, and of equal points that of the last server: in both this is the opposite of [Libketama], from which only keys
// whose hash is a point show the difference. Weights are whole.
func UhashringKetama(vnodes, replicas int) (*Rule, error) {
	if vnodes == 0 {
		vnodes = 40
	}
	if replicas == 0 {
		replicas = 4
	}
	if err := checkCount("uhashring", "vnodes", vnodes); err != nil {
		return nil, err
	}
	if replicas < 1 || replicas > 4 {
		return nil, badOption("uhashring's replicas is %d, but an MD5 has 4 words", replicas)
	}
	return &Rule{
		name:     fmt.Sprintf("uhashring-ketama,vnodes=%d,replicas=%d", vnodes, replicas),
		keys:     md5Hash,
		label:    func(n hashring.Node) (string, error) { return labelOf(n), whole(n, "uhashring", maxUint32) },
		total:    noLimit,
		lastWins: true,
		plan:     share(wholeDigests(uint64(vnodes)), digestWords("-", replicas)),
		circle:   circle{narrow: true, strict: true},
	}, nil
}

// maxCount is the most points, or batches of them, per unit of weight that a rule takes. A ring with more than this for
// one node is beyond the largest that there can be.
const maxCount = 1 << 30

// checkCount says why program does not take a setting that counts points.
func checkCount(program, setting string, n int) error {
	if n < 1 || n > maxCount {
		return badOption("%s's %s is %d, not from 1 to %d", program, setting, n, maxCount)
	}
	return nil
}
