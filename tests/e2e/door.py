#!/usr/bin/env python3
"""Attacks on a cell's own socket, from inside the cell. 'malformed N SEED': so many requests that are wrong. 'hoard': as many
connections as there can be, none of which is read. 'raw TEXT': one request, its answer printed."""
import json
import random
import socket
import sys
import time

PATH = "/run/viv/sock"


def connect(timeout=60):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    s.connect(PATH)
    return s


def answer(s):
    data = b""
    while chunk := s.recv(65536):
        data += chunk
    return data


def deep(n):
    return b'{"op":"call","tool":"echo","arguments":' + b'{"a":' * n + b"1" + b"}" * n + b"}\n"


def malformed(count, seed):
    r = random.Random(seed)
    good = b'{"op":"call","tool":"echo","arguments":{"text":"hello"}}\n'
    fixed = [b"\n", b"{}\n", b"[]\n", b"null\n", b"{\n", b'{"op":1}\n', b'{"op":"no"}\n', b'{"op":"call"}\n', b"GET / HTTP/1.1\r\n\r\n",
             b'{"op":"call","tool":"echo","arguments":[]}\n', b'{"op":"call","tool":"../../etc","arguments":{}}\n',
             b'{"op":"call","tool":"echo","subcommand":"x","arguments":{}}\n', b'{"op":"list","cell":"other"}\n', b'{"op":"list","op":"call"}\n',
             b'{"op":"show","tool":"\\u0000"}\n', b'{"op":"show","tool":"\xff\xfe"}\n', b'{"op":"list"}\n{"op":"list"}\n', deep(100), deep(5000),
             b'{"op":"call","tool":"echo","arguments":{"text":"' + b"x" * 5000 + b'"}}\n']
    for i in range(count):
        kind = r.random()
        if kind < 0.5:
            m = bytearray(good)
            for _ in range(r.randint(1, 6)):
                m[r.randrange(len(m) - 1)] = r.randrange(256)
            data = bytes(m)
        elif kind < 0.9:
            data = r.choice(fixed)
        else:
            data = r.randbytes(r.randint(1, 400)) + b"\n"
        s = connect()
        try:
            s.sendall(data)
            if b"\n" not in data or r.random() < 0.2:
                s.close()
                continue
            got = answer(s)
            if got:
                last = json.loads(got.rstrip(b"\n").split(b"\n")[-1])
                assert "exit" in last or "tools" in last or "tool" in last, (data, got)
        except ConnectionRefusedError:  # too fast
            time.sleep(0.05)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            s.close()
    print("sent", count)


def hoard():
    held = []
    for i in range(64):
        s = connect()
        s.setblocking(False)
        # Some with half a request, some that ask for output and never read it.
        try:
            s.send(b'{"op":"call","tool":"flood","arguments":{}}\n' if i % 2 else b'{"op":"call","tool":"' + b"x" * 100000)
        except OSError:
            pass
        held.append(s)
    extra = socket.socket(socket.AF_UNIX)
    extra.setblocking(False)
    try:
        extra.connect(PATH)
        print("one more")
    except BlockingIOError:
        print("held", len(held))
    sys.stdout.flush()
    sys.stdin.read()


if sys.argv[1] == "malformed":
    malformed(int(sys.argv[2]), int(sys.argv[3]))
elif sys.argv[1] == "hoard":
    hoard()
else:
    s = connect()
    s.sendall(sys.argv[2].encode())
    sys.stdout.buffer.write(answer(s))
