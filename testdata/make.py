#!/usr/bin/env python3
"""Writes hash.txt and native.json: what the built-in hashes give, and where the native rule places nodes and keys.

It shares no code with the library: everything here is written from the published algorithms and from the rule in
vnode.go, in Python without dependencies. The files are frozen. Run it to see that they are still what the rule says:

    python3 testdata/make.py && git diff --exit-code testdata
"""
import bisect
import hashlib
import json
import math
import os
import zlib

M = 2**64 - 1
HERE = os.path.dirname(os.path.abspath(__file__))


def rotl(x, r):
    return (x << r | x >> (64 - r)) & M


def le64(b, i=0):
    return int.from_bytes(b[i:i + 8], "little")


# XXH64, seed 0: doc/xxhash_spec.md of Cyan4973/xxHash.
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def xxh64(b):
    def round_(acc, lane):
        return rotl((acc + lane * P2) & M, 31) * P1 & M

    i = 0
    if len(b) >= 32:
        acc = [(P1 + P2) & M, P2, 0, -P1 & M]
        while i + 32 <= len(b):
            acc = [round_(a, le64(b, i + 8 * k)) for k, a in enumerate(acc)]
            i += 32
        h = sum(rotl(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M
        for a in acc:
            h = ((h ^ round_(0, a)) * P1 + P4) & M
    else:
        h = P5
    h = (h + len(b)) & M
    while i + 8 <= len(b):
        h = (rotl(h ^ round_(0, le64(b, i)), 27) * P1 + P4) & M
        i += 8
    if i + 4 <= len(b):
        h = (rotl(h ^ int.from_bytes(b[i:i + 4], "little") * P1 & M, 23) * P2 + P3) & M
        i += 4
    for c in b[i:]:
        h = rotl(h ^ c * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


# MurmurHash3_x64_128, seed 0, its first half: src/MurmurHash3.cpp of aappleby/smhasher.
def murmur3(b):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    n = len(b) & ~15
    for i in range(0, n, 16):
        h1 ^= rotl(le64(b, i) * c1 & M, 31) * c2 & M
        h1 = ((rotl(h1, 27) + h2) * 5 + 0x52DCE729) & M
        h2 ^= rotl(le64(b, i + 8) * c2 & M, 33) * c1 & M
        h2 = ((rotl(h2, 31) + h1) * 5 + 0x38495AB5) & M
    tail = b[n:]
    h2 ^= rotl(le64(tail, 8) * c2 & M, 33) * c1 & M
    h1 ^= rotl(le64(tail) * c1 & M, 31) * c2 & M
    h1, h2 = h1 ^ len(b), h2 ^ len(b)
    h1 = (h1 + h2) & M
    h2 = (h2 + h1) & M

    def fmix(k):
        k = (k ^ k >> 33) * 0xFF51AFD7ED558CCD & M
        k = (k ^ k >> 33) * 0xC4CEB9FE1A85EC53 & M
        return k ^ k >> 33

    return (fmix(h1) + fmix(h2)) & M


def fnv1a(b):
    h = 0xCBF29CE484222325
    for c in b:
        h = (h ^ c) * 0x100000001B3 & M
    return h


GAMMA = 0x9E3779B97F4A7C15


def mix(x):
    """The output of SplitMix64 in state x."""
    x = (x + GAMMA) & M
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M
    return x ^ x >> 31


HASHES = {
    "xxh64": xxh64,
    "murmur3": murmur3,
    "fnv1a": lambda b: mix(fnv1a(b)),
    "sha256": lambda b: int.from_bytes(hashlib.sha256(b).digest()[:8], "big"),
    "md5": lambda b: int.from_bytes(hashlib.md5(b).digest()[:8], "big"),
    "crc32": lambda b: mix(zlib.crc32(b)),
}

# Published values, from the specifications and test suites of the functions. They hold this file to them.
assert xxh64(b"") == 0xEF46DB3751D8E999 and xxh64(b"abc") == 0x44BC2CF5AD770999
assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1
assert murmur3(b"") == 0 and murmur3(b"hello") == 0xCBD8A7B341BD9B02
assert murmur3(b"The quick brown fox jumps over the lazy dog") == 0xE34BBC7BBC071B6C
assert fnv1a(b"") == 0xCBF29CE484222325 and fnv1a(b"foobar") == 0x85944171F73967E8
assert zlib.crc32(b"123456789") == 0xCBF43926
assert HASHES["sha256"](b"abc") == 0xBA7816BF8F01CFEA and HASHES["md5"](b"") == 0xD41D8CD98F00B204
assert [mix(1234567 + i * GAMMA & M) for i in range(3)] == [
    6457827717110365317, 3203168211198807973, 9817491932198370423]


def hash_inputs():
    """Every length from 0 to 64, of bytes that count up, of 0x00, 0x7f, 0x80 and 0xff, and some longer."""
    for n in list(range(65)) + [100, 127, 128, 255, 256, 1000]:
        yield bytes(i & 255 for i in range(n))
        if 0 < n <= 64:
            for c in (0x00, 0x7F, 0x80, 0xFF):
                yield bytes([c]) * n


def write_hashes():
    with open(os.path.join(HERE, "hash.txt"), "w") as f:
        f.write("# key in hex (- is the empty key), then its position by " + ", ".join(HASHES) + "\n")
        for key in hash_inputs():
            row = [key.hex() or "-"] + ["%016x" % h(key) for h in HASHES.values()]
            f.write(" ".join(row) + "\n")


def seed_of(name, h):
    return mix((xxh64(name) + 2 * h(name)) & M)


def tokens_of(name, h, n):
    seed = seed_of(name, h)
    return [mix(seed + i * GAMMA & M) for i in range(n)]


def count_of(weight, virtual_nodes):
    return max(1, math.floor(weight * virtual_nodes + 0.5))


class Ring:
    def __init__(self, hash_name, virtual_nodes, nodes):
        self.h = HASHES[hash_name]
        nodes = sorted(nodes)
        self.names = [name for name, _ in nodes]
        self.tokens = sorted((t, i) for i, (name, weight) in enumerate(nodes)
                             for t in tokens_of(name, self.h, count_of(weight, virtual_nodes)))

    def replicas(self, key, n):
        start = bisect.bisect_left(self.tokens, (self.h(key), -1))
        out = []
        for k in range(len(self.tokens)):
            name = self.names[self.tokens[(start + k) % len(self.tokens)][1]]
            if name not in out:
                out.append(name)
                if len(out) == n:
                    break
        return out


NAMES = [b"a", b"b", b"a1", b"a11", b"node-0", b"node-1", b"10.0.0.1:11211", b"[2001:db8::1]:80",
         b"cache-07.eu-west-1.example.com:6379", "узел-1".encode(), b"Node-1", b"node-1 ", b"\x00", b"\xff\xfe", b"#" * 100]

RINGS = [
    ("xxh64", 160, [(b"node-%d" % i, 1) for i in range(10)]),
    ("xxh64", 160, [(b"big", 2), (b"small", 0.5), (b"tiny", 0.001), (b"odd", 1.503125), (b"one", 1)]),
    ("xxh64", 1, [(b"a", 1), (b"b", 1), (b"c", 1)]),
    ("xxh64", 512, [(b"10.0.%d.%d:6379" % (i // 8, i % 8), 1 + i % 3) for i in range(40)]),
] + [(h, 150, [(b"shard-%d" % i, 1) for i in range(4)]) for h in HASHES]

KEYS = ([b"", b"a", b"hashring", "ключ".encode(), b"\x00", b"\xff" * 33] + [b"user:%d" % i for i in range(40)] +
        [b"/articles/2026/%d/comments?page=%d" % (i * 7919, i) for i in range(20)])


def text(b):
    return b.decode("latin-1")  # one character a byte


def write_native():
    doc = {
        "about": "Strings hold one byte a character (latin-1). Numbers of 64 bits are decimal strings. By make.py.",
        "nodes": [{"hash": h, "name": text(name), "tokens": [str(t) for t in tokens_of(name, HASHES[h], 8)]}
                  for h in HASHES for name in NAMES],
        "rings": [],
    }
    for hash_name, virtual_nodes, nodes in RINGS:
        ring = Ring(hash_name, virtual_nodes, nodes)
        fold = 0
        for t, i in ring.tokens:
            fold = mix(fold ^ t) + i & M
        doc["rings"].append({
            "hash": hash_name,
            "virtual_nodes": virtual_nodes,
            "nodes": [{"name": text(name), "weight": weight} for name, weight in nodes],
            "tokens": len(ring.tokens),
            "fold": str(fold),  # over the tokens, ascending, with the indexes of their owners: see TestNativeVectors
            "keys": [[text(key), str(ring.h(key)), [text(n) for n in ring.replicas(key, 3)]] for key in KEYS],
        })
    with open(os.path.join(HERE, "native.json"), "w") as f:
        json.dump(doc, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    write_hashes()
    write_native()
