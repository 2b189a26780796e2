// Package gossip keeps the rings of many processes in agreement without a central service: each is a member of a cluster,
// tells the others what it is, and hears of those that come, leave and fail. It is hashicorp/memberlist, with what a ring
// needs besides, in front of package feed.
//
//	live := hashring.NewLive(nil)
//	m, err := gossip.Join(ctx, live, gossip.Config{
//		Cluster: "sessions",
//		Node:    hashring.Node{Name: "node-7", Zone: "eu-1"},
//		Addr:    "10.0.0.7:8080",
//		Seeds:   gossip.Static("10.0.0.1:7946", "10.0.0.2:7946"),
//		Keys:    [][]byte{key},
//	})
//	…
//	owner, ok := live.Owner("user:42") // takes no lock, and knows nothing of all this
//	addr, ok := m.Addr(owner)
//	…
//	err = m.Leave(ctx, handOver)
//
// # What travels
//
// A member's name, weight, zone, label, address, an id of its process and a fingerprint of the ring's parameters: some 50
// to 200 bytes. Tokens do not, since they follow from the names. A member with other parameters (another hash, number of
// virtual nodes or placement) is refused, so rings cannot differ for that.
//
// # What it promises
//
// Rings agree eventually: when nothing changes, and messages get through, all members have the same ring, usually within
// half a second after a join or a leave, and some 6 to 10 seconds after a crash, which first has to be noticed. Meanwhile
// two members may name different owners of a key. Who must not mistake one for the other sends [hashring.Ring.Fingerprint]
// with each request.
//
// A member that has left does not come back by hearsay. One that is restarted under its name is welcome at once. One that
// is cut off keeps the ring that it had, and says so: [Degraded]. Two members of one name do not both get in. A partition
// heals when its sides can reach each other again, within Config.Rejoin, however long it has lasted.
//
// # What it does not
//
// Who has a key of the cluster, or reaches it where there are none, is trusted: it can claim any weight that fits on a
// ring, or that others have left. The rings of a few hundred members are what this is for.
package gossip
