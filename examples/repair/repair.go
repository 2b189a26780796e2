package main

import (
	"context"
	"slices"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
)

// Report is what one comparison with a peer came to.
type Report struct {
	With       string
	Ranges     []hashring.Range // that were compared
	Missing    int              // keys that only the peer had
	Extra      int              // keys that only this node had
	Unlike     int              // keys of which one side had an older version
	Taken      int              // entries of the peer that were newer
	Given      int              // entries of this node that were newer there
	RoundTrips int              // of the comparison
	Bytes      int              // of the comparison, both ways
	Differ     []string         // the keys that differed
}

const (
	maxKeys = 20_000 // are repaired before the comparison goes on
	batch   = 1000   // entries to a message
)

// remote is what repair has to know of a peer.
type remote interface {
	Respond(ctx context.Context, request []byte) ([]byte, error)     // to a comparison
	At(ctx context.Context, positions []uint64) ([]Entry, error)     // what the peer has there
	Apply(ctx context.Context, entries []Entry) (newer int, _ error) // how many of them the peer had not
}

// repair compares what the store and the peer have in ranges, and brings both to the newer of each key. It is right
// whatever is written meanwhile, and whoever else repairs: an entry that is sent twice, or late, or for nothing, changes
// nothing.
func repair(ctx context.Context, s *Store, position func(key string) uint64, ranges []hashring.Range, peer remote) (Report, error) {
	report := Report{Ranges: ranges}
	for len(ranges) > 0 {
		d, err := antientropy.Compare(ctx, s.Set(), ranges, peer.Respond, &antientropy.Options{MaxKeys: maxKeys})
		if err != nil {
			return report, err
		}
		report.Missing += len(d.There)
		report.Extra += len(d.Here)
		report.Unlike += len(d.Unlike)
		report.RoundTrips += d.RoundTrips
		report.Bytes += d.Sent + d.Received

		var fetch, give []uint64
		for _, it := range d.There {
			fetch = append(fetch, it.Position)
		}
		for _, it := range d.Here {
			give = append(give, it.Position)
		}
		for _, u := range d.Unlike { // a digest does not say which side is behind
			fetch = append(fetch, u.Position)
			give = append(give, u.Position)
		}
		var ours []Entry // before those of the peer come in, which need not go back
		for positions := range slices.Chunk(give, batch) {
			ours = append(ours, s.At(positions...)...)
		}
		for positions := range slices.Chunk(fetch, batch) {
			entries, err := peer.At(ctx, positions)
			if err != nil {
				return report, err
			}
			for _, e := range entries {
				report.Differ = append(report.Differ, e.Key)
				if s.Apply(position(e.Key), e) {
					report.Taken++
				}
			}
		}
		for entries := range slices.Chunk(ours, batch) {
			newer, err := peer.Apply(ctx, entries)
			if err != nil {
				return report, err
			}
			report.Given += newer
			for _, e := range entries {
				report.Differ = append(report.Differ, e.Key)
			}
		}
		ranges = d.Left // none, unless so much differs that it is repaired in steps
	}
	slices.Sort(report.Differ)
	report.Differ = slices.Compact(report.Differ)
	return report, nil
}
