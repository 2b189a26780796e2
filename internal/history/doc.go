// Package history checks that a Live is linearizable: that whatever goroutines do to it at once could have been done one
// call after the other, in an order in which each call lies between its beginning and its end. The check is that of
// porcupine, which the library does not depend on, so this is a module of its own.
package history
