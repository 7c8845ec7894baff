#!/usr/bin/env python3
"""Prints the raw files of a journal, one JSON object in a line: for tests that have no viv-journal, or must not trust it.

    journalraw.py [--rings] DIR       --rings: what is still in the rings, too (of processes that were killed)

It knows the table src/wire/journal.tbl.h and nothing else of the program. Exits with 1 if sequence numbers do not follow
each other, or a batch is damaged anywhere but at the end of a file.
"""
import json, os, re, struct, sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = 256 << 10


def table():
    kinds, cur = [None], None
    for line in open(os.path.join(HERE, "../../src/wire/journal.tbl.h")):
        if m := re.match(r'RECORD\((\w+), "(\w+)"', line):
            cur = (m[2], [])
            kinds.append(cur)
        elif m := re.match(r"FIELD\((\w+), (\w+), (\w+),", line):
            cur[1].append((m[3], m[2]))
    return kinds


KINDS = table()


def number(b, at):
    n = shift = 0
    while True:
        c = b[at]
        at += 1
        n |= (c & 0x7F) << shift
        shift += 7
        if not c & 0x80:
            return n, at


def decode(b):
    size, kind, pad, pid, _, mono, wall = struct.unpack_from("<IHHiIqq", b)
    name, fields = KINDS[kind]
    out = {"kind": name, "pid": pid, "mono": mono, "wall": wall}
    at = 32
    for field, type_ in fields:
        if type_ in ("NUMBER", "SIGNED"):
            n, at = number(b, at)
            out[field] = n if type_ == "NUMBER" else (n >> 1) ^ -(n & 1)
        elif type_ == "HASH":
            n = b[at]
            out[field] = b[at + 1 : at + 1 + n].hex()
            at += 1 + n
        else:
            n, at = number(b, at)
            raw = b[at : at + n]
            at += n
            out[field] = raw.decode("utf-8", "surrogateescape") if type_ == "TEXT" else [
                w.decode("utf-8", "surrogateescape") for w in raw.split(b"\0")[:-1]]
    assert at + pad == size, (out, at, pad, size)
    return out


def frames(b):
    at = 0
    while at < len(b):
        size = struct.unpack_from("<I", b, at)[0]
        yield b[at : at + size]
        at += size


def main():
    args = [a for a in sys.argv[1:] if a != "--rings"]
    dir_, expect, last = args[0], None, {}
    for name in sorted(f for f in os.listdir(dir_) if f.startswith("raw.")):
        b = open(os.path.join(dir_, name), "rb").read()
        if len(b) < 64:
            continue
        at = 64
        while at + 48 <= len(b):
            magic, crc, nbytes, count, seq, source, _, position, ring = struct.unpack_from("<IIIIQIIQQ", b, at)
            if at + 48 + nbytes > len(b) or magic != 0x48435442:
                break
            if expect is not None and seq != expect:
                sys.exit(f"{name}: record {seq} where {expect} should be")
            n = 0
            for f in frames(b[at + 48 : at + 48 + nbytes]):
                print(json.dumps({"seq": seq + n, **decode(f)}))
                n += 1
            assert n == count
            last[source] = (ring, position)
            expect = seq + n
            at += 48 + nbytes
        if at != len(b) and name != sorted(f for f in os.listdir(dir_) if f.startswith("raw."))[-1]:
            sys.exit(f"{name}: damaged at {at}")
    if "--rings" not in sys.argv:
        return
    for source, name in enumerate(("ring.kernel", "ring.gate")):
        try:
            b = open(os.path.join(dir_, name), "rb").read()
        except FileNotFoundError:
            continue
        _, head, tail, _, _, _, _, id_ = struct.unpack_from("<QQQIIIIQ", b)
        if source in last and last[source][0] == id_:
            tail = last[source][1]
        while tail < head:
            at = 4096 + tail % DATA
            size, kind = struct.unpack_from("<IH", b, at)
            if kind:
                print(json.dumps({"seq": 0, **decode(b[at : at + size])}))
            tail += size


main()
