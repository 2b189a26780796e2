//go:build race

package hashring_test

func init() { raceDetector = true }
