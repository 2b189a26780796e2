module github.com/clockwise-go/hashring/internal/history

go 1.25.0

replace github.com/clockwise-go/hashring => ../../

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/clockwise-go/hashring v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
