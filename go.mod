module github.com/clockwise-go/hashring

go 1.25.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/spaolacci/murmur3 v1.1.0
)
