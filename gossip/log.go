package gossip

import (
	"bytes"
	"context"
	"log"
	"log/slog"
)

// bridge returns a logger for memberlist that writes to l.
func bridge(l *slog.Logger) *log.Logger { return log.New(logWriter{l}, "", 0) }

// logWriter takes the level off the front of a line as memberlist writes it: "[WARN] memberlist: …".
type logWriter struct{ to *slog.Logger }

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
	if w.to.Enabled(context.Background(), level) {
		w.to.Log(context.Background(), level, string(bytes.TrimSpace(text)))
	}
	return len(line), nil
}
