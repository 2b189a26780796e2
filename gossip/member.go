package gossip

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/hashicorp/memberlist"
)

// Member is this process among the members of a cluster. Its methods may be called from any number of goroutines.
type Member struct {
	cfg  Config
	live *hashring.Live
	feed *feed.Feed
	log  *slog.Logger
	list *memberlist.Memberlist
	keys *memberlist.Keyring // nil without encryption

	stop  context.Context // ends when the member does
	end   context.CancelFunc
	ready chan struct{}
	done  chan struct{}
	loops sync.WaitGroup

	rotating sync.Mutex
	telling  turn // of announcements
	quitting turn // memberlist panics if it is to leave when it has been shut down

	sum atomic.Pointer[sum]

	mu       sync.Mutex // never held while memberlist is called, which calls back under locks of its own
	view     view
	self     metadata
	gossip   netip.AddrPort // where the others reach this member
	told     []byte         // the metadata that they are told
	entered  bool           // a seed has taken it in
	closed   bool           // Close has been called
	entrance entrance
	clash    time.Time // when another member was last seen under this one's name
}

// turn is a lock for what takes long. Unlike at a Mutex, time goes on in a test's fake time while somebody waits for it.
type turn chan struct{}

func newTurn() turn    { return make(turn, 1) }
func (t turn) take()   { t <- struct{}{} }
func (t turn) giveUp() { <-t }

// sum keeps a fingerprint, which takes long to compute, beside its ring.
type sum struct {
	ring  *hashring.Ring
	print uint64
}

// Join makes this process a member of a cluster, and l the cluster's ring. It returns when a seed has taken it in, or, if
// no seed but itself answers, when it is the first. The options of l's ring are the cluster's: l must be made with them,
// and Update of l is not to change them. What l's ring holds before counts as the last known state of the cluster; see
// feed.New. ctx bounds the call, not the life of the Member; Close or Leave end that.
//
// Errors are [ErrParams], [ErrConflict], [ErrNoSeed] once ctx has ended, [ErrMetaTooBig], [hashring.ErrOptions] for a
// Config that makes no sense, those of [hashring.New] for its Node, and those of listening. The rings of the others are
// then as if nothing had been, unless ctx ended while one of them was taking this member in: that will take it for failed.
func Join(ctx context.Context, l *hashring.Live, cfg Config) (*Member, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	opts := l.Load().Options()
	params, err := hashring.New(nil, &opts)
	if err != nil {
		return nil, err
	}
	if _, err := params.With(cfg.Node); err != nil {
		return nil, err
	}
	m := &Member{
		cfg:      cfg,
		live:     l,
		log:      cfg.Logger,
		ready:    make(chan struct{}),
		done:     make(chan struct{}),
		telling:  newTurn(),
		quitting: newTurn(),
		self: metadata{
			known:    true,
			observer: cfg.Observer,
			boot:     newBoot(),
			weight:   cfg.Node.Weight,
			params:   params.Fingerprint(),
			zone:     cfg.Node.Zone,
			label:    cfg.Node.Label,
			addr:     cfg.Addr,
		},
	}
	m.view = view{
		self:   cfg.Node.Name,
		opts:   opts,
		params: m.self.params,
		peers:  make(map[string]*peer),
		graves: newGraves(cfg.Tombstone, maxGraves),
	}
	if _, err := m.self.encode(); err != nil {
		return nil, err
	}
	if m.feed, err = feed.New(l, &cfg.Feed); err != nil {
		return nil, err
	}
	m.stop, m.end = context.WithCancel(context.Background())
	if err := m.listen(); err != nil {
		m.end()
		m.feed.Close()
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		m.Close()
		return nil, err
	}
	m.loops.Go(m.rejoinLoop)
	m.loops.Go(m.awaitReady)
	return m, nil
}

// listen starts memberlist.
func (m *Member) listen() (err error) {
	conf := m.cfg.tuned()
	conf.Logger = bridge(m.stop, m.log)
	if len(m.cfg.Keys) > 0 {
		keys := cloneKeys(m.cfg.Keys)
		if m.keys, err = memberlist.NewKeyring(keys, keys[0]); err != nil {
			return fmt.Errorf("gossip: %w", err)
		}
		conf.Keyring = m.keys
	}
	d := delegate{m}
	conf.Delegate, conf.Events, conf.Alive, conf.Merge, conf.Conflict, conf.Ping = d, d, d, d, d, d
	if m.list, err = memberlist.Create(conf); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	if at := m.Gossip(); m.keys == nil && !at.Addr().IsLoopback() {
		m.log.Warn("gossip: no Keys: whoever reaches this address can change the ring", "address", at)
	}
	return nil
}

// newBoot returns the id of an instance.
func newBoot() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// sync hands the nodes that this member knows to the feed.
func (m *Member) sync() {
	if !m.entered {
		return
	}
	m.feed.Update(m.view.nodes(m.self)) // no name is twice, so the only error is that it is closed
}

// announce tells the others what this member is now, and waits until that is on its way, or until ctx ends.
//
// memberlist has a member's news wait for its turn, so that in a cluster where much is going on it takes long until it has
// been sent as often as is usual: after tellTime it has been sent often enough. And it drops the news if, in the same
// moment, it has to object to being suspected: then it is to be told again.
func (m *Member) announce(ctx context.Context) error {
	told := make(chan struct{})
	go func() {
		m.telling.take()
		defer m.telling.giveUp()
		for m.stop.Err() == nil {
			err := m.list.UpdateNode(tellTime)
			if m.isTold() {
				close(told)
				return
			}
			m.log.Info("gossip: telling the others once more", "error", err)
		}
	}()
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("gossip: the others may not know yet: %w", ctx.Err())
	case <-m.stop.Done():
		return ErrClosed
	}
}

const tellTime = time.Second

// isTold reports whether memberlist tells of this member what it is now.
func (m *Member) isTold() bool {
	now := delegate{m}.NodeMeta(maxMeta)
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Equal(m.told, now)
}

// SetWeight changes the weight of this member's node, on all rings, and returns when the news is on its way or ctx has
// ended. Errors are those of [hashring.New]; then nothing has changed. An observer's weight is of no effect.
func (m *Member) SetWeight(ctx context.Context, weight float64) error {
	node := m.cfg.Node
	node.Weight = weight
	if weight == 0 {
		return &hashring.NodeError{Index: -1, Name: node.Name, Err: fmt.Errorf("%w: weight 0; to drain a node is to leave", hashring.ErrInvalidNode)}
	}
	if _, err := hashring.New([]hashring.Node{node}, &m.view.opts); err != nil {
		return err
	}
	if m.stop.Err() != nil {
		return ErrClosed
	}
	m.mu.Lock()
	m.self.weight = weight
	m.sync()
	m.mu.Unlock()
	return m.announce(ctx)
}

// Rotate replaces Config.Keys: the first encrypts, all decrypt. To change a key without losing a message takes three
// rounds over all members: old and new; then new and old; then new alone. A member that began without keys cannot have
// any, and one that has some cannot be without: [hashring.ErrOptions].
func (m *Member) Rotate(keys [][]byte) error {
	switch err := checkKeys(keys); {
	case m.keys == nil:
		return fmt.Errorf("gossip: %w: this member was started without keys", hashring.ErrOptions)
	case len(keys) == 0:
		return fmt.Errorf("gossip: %w: there must be a key", hashring.ErrOptions)
	case err != nil:
		return fmt.Errorf("gossip: %w: %w", hashring.ErrOptions, err)
	}
	keys = cloneKeys(keys)
	m.rotating.Lock()
	defer m.rotating.Unlock()
	for _, key := range keys {
		if err := m.keys.AddKey(key); err != nil {
			return fmt.Errorf("gossip: %w", err)
		}
	}
	// The keyring shares its list with those who decrypt, and removes from that in place. Only the last can be removed
	// without moving another under their hands: so those that stay go to the front, in their order.
	for i := len(keys) - 1; i >= 0; i-- {
		if err := m.keys.UseKey(keys[i]); err != nil {
			return fmt.Errorf("gossip: %w", err)
		}
	}
	for {
		all := m.keys.GetKeys()
		last := all[len(all)-1]
		if slices.ContainsFunc(keys, func(key []byte) bool { return bytes.Equal(key, last) }) {
			return nil
		}
		if err := m.keys.RemoveKey(last); err != nil {
			return fmt.Errorf("gossip: %w", err)
		}
	}
}

func cloneKeys(keys [][]byte) [][]byte {
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = bytes.Clone(key)
	}
	return out
}
