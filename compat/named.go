package compat

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Named returns the rule with a name: that of a program, and behind it settings in any order, as in
// "haproxy,hash=djb2,avalanche=true"; those that are not there have their defaults. It knows every name that [Rule.Name]
// gives, and with it [hashring.Decode] the rings of every rule. The names and their settings are
//
//	buraksezer-0.10       replicas
//	buraksezer-1          replicas
//	cache-memcached-fast  ketama_points
//	dubbo                 hash.nodes
//	envoy                 min max hash
//	groupcache            replicas
//	grpc                  min max
//	haproxy               hash avalanche
//	libketama
//	libmemcached          distribution hash
//	nginx
//	serialx
//	serialx-2019
//	stathat               replicas hash
//	twemproxy             hash hash_tag
//	uhashring             vnodes hash
//	uhashring-ketama      vnodes replicas
//
// hash_tag may be any two characters, so it comes last. The defaults are those of the constructors; libmemcached's
// distribution is ketama_weighted, cache-memcached-fast's ketama_points 160.
func Named(name string) (*Rule, error) {
	program, rest, more := strings.Cut(name, ",")
	p, ok := programs[program]
	if !ok {
		return nil, badOption("no program %q, but %s", program, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
	}
	s := settings{of: make(map[string]string)}
	for more {
		setting, value, ok := strings.Cut(rest, "=")
		if !slices.Contains(p.settings, setting) || !ok {
			return nil, badOption("%s has no setting %q, but %q", program, rest, p.settings)
		}
		if rest, more = "", false; setting != "hash_tag" {
			value, rest, more = strings.Cut(value, ",")
		}
		if _, twice := s.of[setting]; twice {
			return nil, badOption("%s has %s twice", program, setting)
		}
		s.of[setting] = value
	}
	r, err := p.rule(&s)
	if s.err != nil {
		return nil, s.err
	}
	return r, err
}

// program is what a name can begin with.
type program struct {
	settings []string
	rule     func(*settings) (*Rule, error)
}

// settings are the values of a name's settings, and the first error in reading one.
type settings struct {
	of  map[string]string
	err error
}

func (s *settings) text(setting string) string { return s.of[setting] }

// size returns a number from 0 to 2^31-1; 0 if it is not there.
func (s *settings) size(setting string) uint64 {
	text, ok := s.of[setting]
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if (err != nil || n == 0) && s.err == nil {
		s.err = badOption("%s=%s is not a whole number above 0", setting, text)
	}
	return n
}

func (s *settings) count(setting string) int { return int(s.size(setting)) }

func (s *settings) flag(setting string) bool {
	text, ok := s.of[setting]
	if !ok {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil && s.err == nil {
		s.err = badOption("%s=%s is not true or false", setting, text)
	}
	return on
}

// without makes the rule of a program that has no settings.
func without(rule func() *Rule) func(*settings) (*Rule, error) {
	return func(*settings) (*Rule, error) { return rule(), nil }
}

var programs = map[string]program{
	"libketama":    {nil, without(Libketama)},
	"nginx":        {nil, without(Nginx)},
	"serialx":      {nil, without(Serialx)},
	"serialx-2019": {nil, without(Serialx2019)},
	"libmemcached": {[]string{"distribution", "hash"}, func(s *settings) (*Rule, error) {
		if s.text("distribution") == "" {
			s.of["distribution"] = "ketama_weighted"
		}
		return Libmemcached(s.text("distribution"), s.text("hash"))
	}},
	"twemproxy": {[]string{"hash", "hash_tag"}, func(s *settings) (*Rule, error) {
		return Twemproxy(s.text("hash"), s.text("hash_tag"))
	}},
	"cache-memcached-fast": {[]string{"ketama_points"}, func(s *settings) (*Rule, error) {
		if s.text("ketama_points") == "" {
			return CacheMemcachedFast(nginxPoints)
		}
		return CacheMemcachedFast(s.count("ketama_points"))
	}},
	"haproxy": {[]string{"hash", "avalanche"}, func(s *settings) (*Rule, error) {
		if _, ok := s.of["avalanche"]; ok && s.text("hash") == "" {
			return nil, badOption("haproxy's avalanche stands behind a hash function")
		}
		return HAProxy(s.text("hash"), s.flag("avalanche"))
	}},
	"uhashring": {[]string{"vnodes", "hash"}, func(s *settings) (*Rule, error) {
		return Uhashring(s.count("vnodes"), s.text("hash"))
	}},
	"uhashring-ketama": {[]string{"vnodes", "replicas"}, func(s *settings) (*Rule, error) {
		return UhashringKetama(s.count("vnodes"), s.count("replicas"))
	}},
	"envoy": {[]string{"min", "max", "hash"}, func(s *settings) (*Rule, error) {
		return Envoy(s.size("min"), s.size("max"), s.text("hash"))
	}},
	"grpc":   {[]string{"min", "max"}, func(s *settings) (*Rule, error) { return GRPC(s.size("min"), s.size("max")) }},
	burak010: {[]string{"replicas"}, func(s *settings) (*Rule, error) { return Buraksezer010(s.count("replicas")) }},
	burak1:   {[]string{"replicas"}, func(s *settings) (*Rule, error) { return Buraksezer1(s.count("replicas")) }},
	"dubbo":  {[]string{"hash.nodes"}, func(s *settings) (*Rule, error) { return Dubbo(s.count("hash.nodes")) }},
	"groupcache": {[]string{"replicas"}, func(s *settings) (*Rule, error) {
		return Groupcache(s.count("replicas"))
	}},
	"stathat": {[]string{"replicas", "hash"}, func(s *settings) (*Rule, error) {
		return Stathat(s.count("replicas"), s.text("hash"))
	}},
}
