package seed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	t.Setenv("HASHRING_SEED", "")
	require.Equal(t, Of(t), Of(t))
	require.Equal(t, Random(t).Uint64(), Random(t).Uint64())
	t.Setenv("HASHRING_SEED", "7")
	require.Equal(t, uint64(7), Of(t))
	t.Setenv("HASHRING_SEED", "random")
	require.NotEqual(t, Of(t), Of(t)) // but for one run in 2^64
}
