// Package balance spreads load over the nodes of a ring more evenly than a ring alone does.
//
// A ring knows nothing of load. The busiest of 100 equal nodes has some 1.2 times the mean of the keys, and a key that
// is asked for more than all others takes its node with it, however even the ring is. The types of this package put a
// bound on each node: a factor times its part of the whole, by weight. A node at its bound is passed by, and what it
// would have had goes to the next node clockwise. As long as it has room, each key stays with its owner.
//
//   - [Balancer] counts the requests that are under way, and bounds those. It is for serving requests.
//   - [Bounds] does the same with loads that the caller knows, from health checks or the lengths of queues.
//   - [Partitions] cuts the keys into a fixed number of partitions and bounds how many of them a node has. It is for
//     holding data: which node has a key follows from the ring alone, and does not change as load does.
//
// The rule is that of Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing with Bounded Loads" (2016): when a
// request arrives and total are under way without it, node i, of weight w out of W for all, may have up to
//
//	ceil(factor * (total+1) * w/W)
//
// of them. A factor of 1.25 is a good start; 1 is as even as can be, but sends the most requests past their owners. The
// bounds together are never less than the total, so there is always a node with room. They are reckoned in float64. W
// counts the nodes that have tokens: a [hashring.Placement] may leave some without, and those get nothing.
package balance
