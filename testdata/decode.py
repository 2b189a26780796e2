#!/usr/bin/env python3
"""Reads the encodings in rings.json as docs/format.md describes them, and makes the rings anew.

It shares no code with the library, and stops at the first difference: in a node, the fingerprint, or an owner.

    python3 testdata/decode.py
"""
import base64
import bisect
import json
import os
import struct

from make import HASHES, HERE, count_of, tokens_of, xxh64

PROBES = [b"", b"hashring", b"The quick brown fox jumps over the lazy dog, again and again and again."]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "too short"
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self):  # 7 bits a byte, the lowest first; the highest bit says that more follow
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def uint64(self):
        return int.from_bytes(self.take(8), "big")

    def text(self):
        return self.take(self.number())

    def node(self):
        return {"name": self.text(), "weight": struct.unpack(">d", self.take(8))[0], "zone": self.text(),
                "label": self.text(), "tokens": [self.uint64() for _ in range(self.number())]}


def decode(data):
    r = Reader(data)
    assert r.take(9) == b"hashring\x01", "not version 1 of the format"
    ring = {"hash": r.text().decode(), "placement": r.text().decode(), "virtualNodes": r.number()}
    ring["nodes"] = [r.node() for _ in range(r.number())]
    body = data[9:r.at]
    ring["fingerprint"] = r.uint64()
    assert r.at == len(data), "more follows"
    return ring, body


def decode_json(doc):
    assert doc["format"] == "hashring/1"

    def text(node, field):
        return base64.b64decode(node[field + "64"]) if field + "64" in node else node.get(field, "").encode()

    ring = {k: doc[k] for k in ("hash", "placement", "virtualNodes")}
    ring["nodes"] = [{"name": text(n, "name"), "weight": n["weight"], "zone": text(n, "zone"), "label": text(n, "label"),
                      "tokens": [int(t) for t in n.get("tokens", [])]} for n in doc["nodes"]]
    ring["fingerprint"] = int(doc["fingerprint"])
    return ring


def place(ring):
    """The tokens with the indexes of their owners, ascending; equal ones by index."""
    assert ring["placement"] == "native/1"
    h = HASHES[ring["hash"]]
    return sorted((t, i) for i, n in enumerate(ring["nodes"])
                  for t in n["tokens"] or tokens_of(n["name"], h, count_of(n["weight"], ring["virtualNodes"])))


def fingerprint(ring, body, tokens):
    h = HASHES[ring["hash"]]
    return xxh64(body + b"".join(struct.pack(">QI", t, i) for t, i in tokens) +
                 b"".join(struct.pack(">Q", h(key)) for key in PROBES))


def owner(ring, tokens, key):
    if not tokens:
        return -1
    return tokens[bisect.bisect_left(tokens, (HASHES[ring["hash"]](key), -1)) % len(tokens)][1]


def main():
    keys = 0
    with open(os.path.join(HERE, "rings.json")) as f:
        entries = json.load(f)
    for e in entries:
        ring, body = decode(bytes.fromhex(e["binary"]))
        assert ring == decode_json(e["json"]), e["name"]
        tokens = place(ring)
        assert fingerprint(ring, body, tokens) == ring["fingerprint"] == int(e["fingerprint"]), e["name"]
        for o in e["owners"]:
            assert owner(ring, tokens, o["key"].encode()) == o["owner"], (e["name"], o["key"])
            keys += 1
    assert len(entries) > 0 and keys > 0
    print("%d rings and %d keys as in rings.json" % (len(entries), keys))


if __name__ == "__main__":
    main()
