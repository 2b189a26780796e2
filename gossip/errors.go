package gossip

import "errors"

// The causes of errors, for errors.Is.
var (
	ErrParams     = errors.New("other ring parameters")             // the cluster's rings have another hash, number of virtual nodes or placement
	ErrConflict   = errors.New("the name is taken")                 // by another member that is alive
	ErrNoSeed     = errors.New("no seed took this member in")       // before the context ended
	ErrMetaTooBig = errors.New("too much to tell")                  // the name, or zone, label and address together, are too long
	ErrClosed     = errors.New("this member has left or is closed") // so it can do nothing any more
)
