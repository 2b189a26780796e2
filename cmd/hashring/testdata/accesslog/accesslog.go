// Package accesslog makes up the access log of a web shop, and takes the paths out of one. The paths are the keys that
// the tests and the examples of the command hashring work on.
//
// The log is the same wherever and whenever it is made. So everything is drawn with integers, from a generator whose
// sequence is specified: floating-point functions may differ in their last bits from one architecture to the next.
package accesslog

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"sort"
	"strings"
	"time"
)

var (
	adjectives = strings.Fields("amber azure black brass bright classic copper cotton dark deep felt folding gold grey heavy ivory " +
		"large light linen long mint narrow navy oak olive pale pine plain red round ruby sand short silver slim small soft steel teal")
	things = strings.Fields("apron basket bench bowl box brush cabinet candle carafe chair clock cup cushion desk drawer frame glass " +
		"hook jar kettle ladder lamp mat mirror mug pan pillow plate pot rack rug shelf spoon stool table towel tray vase")
	categories = strings.Fields("bathroom bedroom garden hallway kitchen kids lighting living office outdoor sale storage textiles")
	agents     = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	}
	networks = []string{"192.0.2", "198.51.100", "203.0.113"} // set aside for documentation
)

// source draws numbers.
type source struct{ pcg *rand.PCG }

// below returns a number from 0 to n-1.
func (s source) below(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

func (s source) pick(from []string) string { return from[s.below(len(from))] }

// site returns the paths of the shop, the most popular first: a few pages that everybody sees, then products, lists of
// products and searches in any order.
func site(s source) []string {
	var rest []string
	for id := range 6000 {
		rest = append(rest, fmt.Sprintf("/p/%d/%s-%s", 10000+id, s.pick(adjectives), s.pick(things)))
	}
	for _, c := range categories {
		for page := 2; page <= 40; page++ {
			rest = append(rest, fmt.Sprintf("/c/%s?page=%d", c, page))
		}
	}
	for _, a := range adjectives {
		for _, t := range things {
			rest = append(rest, "/search?q="+a+"+"+t)
		}
	}
	for i := len(rest) - 1; i > 0; i-- {
		j := s.below(i + 1)
		rest[i], rest[j] = rest[j], rest[i]
	}
	paths := []string{"/", "/cart", "/api/cart", "/login", "/account", "/checkout", "/robots.txt", "/help/delivery"}
	for _, c := range categories {
		paths = append(paths, "/c/"+c)
	}
	return append(paths, rest...)
}

// Write writes the first n lines of the log to w, in Combined Log Format. Path number k, counted from 0, is asked for
// with a probability in proportion to 1/(k+10), which is Zipf's law with its head cut off.
func Write(w io.Writer, n int) error {
	s := source{rand.NewPCG(2014, 6)}
	paths := site(s)
	ends := make([]int, len(paths)) // path k is drawn by numbers below ends[k] that are not below ends[k-1]
	sum := 0
	for k := range paths {
		sum += 100_000 / (k + 10)
		ends[k] = sum
	}
	out := bufio.NewWriter(w)
	now := time.Date(2025, time.March, 3, 6, 0, 0, 0, time.UTC)
	for range n {
		now = now.Add(time.Duration(s.below(1500)) * time.Millisecond)
		path := paths[sort.SearchInts(ends, s.below(sum)+1)]
		status := 200
		if s.below(50) == 0 {
			status = 304
		}
		fmt.Fprintf(out, "%s.%d - - [%s] \"GET %s HTTP/1.1\" %d %d \"-\" \"%s\"\n", s.pick(networks), 1+s.below(254),
			now.Format("02/Jan/2006:15:04:05 -0700"), path, status, 800+s.below(60_000), s.pick(agents))
	}
	return out.Flush()
}

// Paths copies from a log in Common or Combined Log Format the path of each request, with its query, to a line of w.
func Paths(w io.Writer, log io.Reader) error {
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		_, request, _ := strings.Cut(lines.Text(), `"`)
		request, _, _ = strings.Cut(request, `"`)
		if words := strings.Fields(request); len(words) == 3 {
			fmt.Fprintln(out, words[1])
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}
