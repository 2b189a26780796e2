module github.com/clockwise-go/hashring/bench

go 1.25.0

require (
	github.com/authzed/consistent v0.4.0
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/clockwise-go/hashring v0.0.0
	github.com/dgryski/go-jump v0.0.0-20170409065014-e1f439676b57
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f
	github.com/golang/groupcache v0.0.0-20241129210726-2c02b8208cf8
	github.com/redis/go-redis/v9 v9.22.0
	github.com/serialx/hashring v0.0.0-20200727003509-22c0c7ab6b1b
	github.com/stretchr/testify v1.12.1
	github.com/zeromicro/go-zero v1.10.3
)

require (
	github.com/spaolacci/murmur3 v1.1.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/clockwise-go/hashring => ../
