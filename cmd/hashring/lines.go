package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
)

// lines reads a text line by line. Unlike a [bufio.Scanner] it sets no limit to the length of a line.
type lines struct {
	err error // why the text ended, unless that was its end

	r    *bufio.Reader
	long []byte // of a line that the buffer of r cannot hold
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 1<<16)}
}

// all yields the lines with their numbers, from 1, without their ends: "\n", "\r\n", or nothing at the end of the text.
// A byte order mark that starts the text, which some editors write, is no part of it. A line is valid only until the
// next. After an error err is set, and the line that it cut short is not yielded.
func (l *lines) all() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for n := 1; ; n++ {
			line, err := l.next()
			if err != nil && err != io.EOF {
				l.err = err
				return
			}
			if err == io.EOF && len(line) == 0 {
				return
			}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			line = bytes.TrimSuffix(line, []byte("\n"))
			line = bytes.TrimSuffix(line, []byte("\r"))
			if !yield(n, line) {
				return
			}
		}
	}
}

// next returns a line with its end.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.long = append(l.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.r.ReadSlice('\n')
		l.long = append(l.long, line...)
	}
	return l.long, err
}

// keys yields the lines that are not empty.
func (l *lines) keys() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, line := range l.all() {
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

// generated yields n keys: key-0, key-1 and so on. A key is valid only until the next.
func generated(n int64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		key := []byte("key-")
		for i := range n {
			if !yield(strconv.AppendInt(key, i, 10)) {
				return
			}
		}
	}
}

// unique yields each key once. It is the one thing here that holds keys in memory: every distinct one.
func unique(keys iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		seen := make(map[string]struct{})
		for key := range keys {
			if _, dup := seen[string(key)]; dup {
				continue
			}
			seen[string(key)] = struct{}{}
			if !yield(key) {
				return
			}
		}
	}
}
