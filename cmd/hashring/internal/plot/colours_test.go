package plot

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// linear returns the three components of an sRGB colour as light.
func linear(t *testing.T, hex string) [3]float64 {
	t.Helper()
	require.Len(t, hex, 7)
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	require.NoError(t, err)
	var c [3]float64
	for i := range c {
		x := float64(v>>(16-8*i)&255) / 255
		if x <= 0.04045 {
			c[i] = x / 12.92
		} else {
			c[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return c
}

// lab returns a colour in CIE L*a*b*, in which equal distances look about equal.
func lab(c [3]float64) [3]float64 {
	f := func(x float64) float64 {
		if x > 216.0/24389 {
			return math.Cbrt(x)
		}
		return (24389.0/27*x + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// dichromats return what those who lack the cones for green, and for red, see of a colour: Viénot, Brettel and Mollon, "Digital video
// colourmaps for checking the legibility of displays by dichromats", 1999.
var dichromats = []func([3]float64) [3]float64{
	func(c [3]float64) [3]float64 {
		rg := 0.29275*c[0] + 0.70725*c[1]
		return [3]float64{rg, rg, -0.02234*c[0] + 0.02234*c[1] + c[2]}
	},
	func(c [3]float64) [3]float64 {
		rg := 0.11238*c[0] + 0.88762*c[1]
		return [3]float64{rg, rg, 0.00401*c[0] - 0.00401*c[1] + c[2]}
	},
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// contrast is that of the Web Content Accessibility Guidelines, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	light := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(light(a)/light(b), light(b)/light(a))
}

// TestColoursCanBeToldApart checks that colours differ enough from one another and from the ground, in light and in dark:
// a distance of 2.3 is just to be noticed. The first eight, which most pictures have, also do for the colour-blind.
func TestColoursCanBeToldApart(t *testing.T) {
	ground := map[bool]string{}
	for _, r := range theme {
		if r.class == "bg" {
			ground[false], ground[true] = r.light, r.dark
		}
	}
	for _, dark := range []bool{false, true} {
		colour := func(i int) string {
			if dark {
				return palette[i].dark
			}
			return palette[i].light
		}
		for i := range palette {
			a := linear(t, colour(i))
			require.Greater(t, contrast(a, linear(t, ground[dark])), 1.9, "%s on %s", colour(i), ground[dark])
			for j := range i {
				b, what := linear(t, colour(j)), fmt.Sprintf("%s and %s", colour(i), colour(j))
				require.Greater(t, distance(lab(a), lab(b)), 20.0, what)
				for _, seen := range dichromats {
					if i < 8 {
						require.Greater(t, distance(lab(seen(a)), lab(seen(b))), 9.0, what)
					}
				}
			}
		}
		for _, r := range theme {
			if text := map[bool]string{false: r.light, true: r.dark}[dark]; r.class == "fg" || r.class == "dim" {
				require.Greater(t, contrast(linear(t, text), linear(t, ground[dark])), 4.5, "%s is read", r.class)
			}
		}
	}
}
