package compat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Dubbo is the rule of Apache Dubbo's consistenthash load balancing (ConsistentHashLoadBalance.java, at 324c6255) in a
// virtual machine whose charset is UTF-8. nodes is the parameter hash.nodes, 0 the default of 160; with less than 4 the
// program has no ring, so that is refused.
//
// The label is host:port, or the host alone where the port is not positive. Each server has nodes/4 digests MD5(label k),
// with nothing between, of four points each, their little-endian words. Weights are ignored. The first point at or above
// MD5(key)'s first word owns; of equal points that of the last server, and labels of which one begins with the other have
// many: 10.0.0.1:2088 and 11 make the digest of 10.0.0.1:20881 and 1.
//
// The key is the concatenation of the arguments that hash.arguments selects, by default the first.
func Dubbo(nodes int) (*Rule, error) {
	if nodes == 0 {
		nodes = 160
	}
	if nodes < 4 || nodes > maxCount {
		return nil, badOption("dubbo's hash.nodes is %d, not from 4 to %d", nodes, maxCount)
	}
	return &Rule{
		name: fmt.Sprintf("dubbo,hash.nodes=%d", nodes),
		keys: md5Hash,
		label: func(n hashring.Node) (string, error) {
			label := labelOf(n)
			if i := strings.LastIndexByte(label, ':'); i > 0 {
				if port, err := strconv.Atoi(label[i+1:]); err == nil && port <= 0 {
					label = label[:i]
				}
			}
			return label, nil
		},
		lastWins: true,
		plan: func(servers []server) expander {
			for i := range servers {
				servers[i].count = uint64(nodes / 4)
			}
			return digestWords("", 4)
		},
		circle: circle{narrow: true},
	}, nil
}
