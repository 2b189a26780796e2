package gossip

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemberlistLogsAsWeDo(t *testing.T) {
	var out bytes.Buffer
	to := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	ctx, cancel := context.WithCancel(t.Context())
	l := bridge(ctx, to)
	l.Printf("[DEBUG] memberlist: nobody wants to know")
	l.Printf("[INFO] memberlist: one")
	l.Printf("[WARN] memberlist: two\n")
	l.Printf("[ERR] memberlist: three")
	l.Printf("[ERROR] memberlist: four")
	l.Printf("five")
	cancel()
	l.Printf("[ERR] memberlist: after the end")
	require.Equal(t, []string{
		`level=INFO msg="memberlist: one"`,
		`level=WARN msg="memberlist: two"`,
		`level=ERROR msg="memberlist: three"`,
		`level=ERROR msg="memberlist: four"`,
		`level=INFO msg=five`,
	}, strings.Split(strings.TrimSpace(out.String()), "\n"))
}
