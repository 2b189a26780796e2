package docs_test

import (
	"fmt"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
)

func Example_libmemcached() {
	rule, err := compat.Libmemcached("ketama_weighted", "") // PHP's OPT_LIBKETAMA_COMPATIBLE
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New([]hashring.Node{
		{Name: "10.0.0.1:11211"},
		{Name: "10.0.0.2:11211", Weight: 3},
	}, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	fmt.Println(ring)
	// Output:
	// hashring: 2 nodes, 320 tokens, keys by md5-le32, placed by libmemcached,distribution=ketama_weighted,hash=md5
}
