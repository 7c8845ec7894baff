#!/usr/bin/env python3
"""Writes a small WASI module, assembled by hand:  wasm-module.py FILE

It prints its last argument and ends with 40 + the number of its arguments (its own name counts)."""
import sys


def leb(n):
    out = b""
    while True:
        b, n = n & 0x7F, n >> 7
        if not n:
            return out + bytes([b])
        out += bytes([b | 0x80])


def sleb(n):
    out = b""
    while True:
        b, n = n & 0x7F, n >> 7
        if (n == 0 and not b & 0x40) or (n == -1 and b & 0x40):
            return out + bytes([b])
        out += bytes([b | 0x80])


def vec(items):
    return leb(len(items)) + b"".join(items)


def section(num, body):
    return bytes([num]) + leb(len(body)) + body


def name(s):
    return leb(len(s)) + s.encode()


I32 = b"\x7f"


def ftype(params, results):
    return b"\x60" + vec([I32] * params) + vec([I32] * results)


def const(n):
    return b"\x41" + sleb(n)


LOAD, STORE = b"\x28\x02\x00", b"\x36\x02\x00"
ADD, SUB, MUL = b"\x6a", b"\x6b", b"\x6c"


def call(n):
    return b"\x10" + leb(n)


def load(addr):
    return const(addr) + LOAD


MODULE = "wasi_snapshot_preview1"
imports = [("args_sizes_get", 0), ("args_get", 0), ("fd_write", 1), ("proc_exit", 2)]
ARGC, SIZE, ARGV, BUF, IOV, DONE = 0, 4, 8, 4096, 2048, 2056
last = const(ARGV - 4) + load(ARGC) + const(4) + MUL + ADD + LOAD  # the address of the last argument
code = (
    const(ARGC) + const(SIZE) + call(0) + b"\x1a"  # drop
    + const(ARGV) + const(BUF) + call(1) + b"\x1a"
    + const(IOV) + last + STORE
    + const(IOV + 4) + const(BUF - 1) + load(SIZE) + ADD + last + SUB + STORE
    + const(1) + const(IOV) + const(1) + const(DONE) + call(2) + b"\x1a"
    + load(ARGC) + const(40) + ADD + call(3)
    + b"\x0b"
)
body = vec([]) + code
module = (
    b"\0asm\x01\0\0\0"
    + section(1, vec([ftype(2, 1), ftype(4, 1), ftype(1, 0), ftype(0, 0)]))
    + section(2, vec([name(MODULE) + name(n) + b"\0" + leb(t) for n, t in imports]))
    + section(3, vec([leb(3)]))
    + section(5, vec([b"\0\x01"]))
    + section(7, vec([name("memory") + b"\x02\0", name("_start") + b"\0" + leb(len(imports))]))
    + section(10, vec([leb(len(body)) + body]))
)
with open(sys.argv[1], "wb") as f:
    f.write(module)
