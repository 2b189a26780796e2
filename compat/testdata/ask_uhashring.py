"""Asks uhashring which node has a key. Standard input: {"args": {...}, "nodes": [[name, weight], ...], "keys": [...]},
where args are those of HashRing, and its hash_fn is absent, "ketama" or "crc32". Standard output: a list of names."""

import json
import sys
import zlib

from uhashring import HashRing

asked = json.load(sys.stdin)
args = asked["args"]
if args.get("hash_fn") == "crc32":
    args["hash_fn"] = lambda key: zlib.crc32(str(key).encode())
ring = HashRing(nodes=dict(asked["nodes"]), **args)
json.dump([ring.get_node(key) for key in asked["keys"]], sys.stdout)
