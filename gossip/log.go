package gossip

import (
	"bytes"
	"context"
	"log"
	"log/slog"
)

// bridge returns a logger for memberlist that writes to l until ctx ends. What it says after that is about connections
// that were closed under it.
func bridge(ctx context.Context, l *slog.Logger) *log.Logger {
	return log.New(logWriter{ctx, l}, "", 0)
}

// logWriter takes the level off the front of a line as memberlist writes it: "[WARN] memberlist: …".
type logWriter struct {
	ctx context.Context
	to  *slog.Logger
}

var levels = []struct {
	prefix string
	level  slog.Level
}{
	{"[DEBUG] ", slog.LevelDebug},
	{"[INFO] ", slog.LevelInfo},
	{"[WARN] ", slog.LevelWarn},
	{"[ERR] ", slog.LevelError},
	{"[ERROR] ", slog.LevelError},
}

func (w logWriter) Write(line []byte) (int, error) {
	level, text := slog.LevelInfo, line
	for _, l := range levels {
		if rest, ok := bytes.CutPrefix(line, []byte(l.prefix)); ok {
			level, text = l.level, rest
			break
		}
	}
	if w.ctx.Err() == nil && w.to.Enabled(w.ctx, level) {
		w.to.Log(w.ctx, level, string(bytes.TrimSpace(text)))
	}
	return len(line), nil
}
