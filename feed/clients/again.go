package clients

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/clockwise-go/hashring"
)

// again calls follow until ctx ends. When follow comes back, which it does if it has to begin anew, it has a second of
// rest.
func again(ctx context.Context, follow func(context.Context) error) {
	for ctx.Err() == nil {
		if err := follow(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("membership", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// byName orders nodes: a ring with a Placement needs the same list in every process.
func byName(a, b hashring.Node) int { return strings.Compare(a.Name, b.Name) }
