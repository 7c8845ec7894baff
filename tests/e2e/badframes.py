#!/usr/bin/env python3
"""Malformed WebSockets at vivd's socket: badframes.py SOCKET CELL COUNT SEED.

Each is a handshake, whole or broken, and a number of frames that are whole, cut, mixed, made up from pieces or random bytes. vivd must answer a handshake with 101 or
4xx, send nothing but well-formed frames, with codes that servers may send, end the connection after a violation, and answer an ordinary request after each lot.
At the end nothing is left of it: no process in the cell, no connection, no memory."""

import json
import os
import random
import socket
import struct
import sys
import time

from wsclient import BINARY, CLOSE, PING, PONG, TEXT, WebSocket, connect

PATH, CELL, COUNT, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rnd = random.Random(SEED)

TEXTS = [b'{"command":["cat"]}', b'{"command":["sh","-c","echo x; sleep 0.01"],"tty":true}', b'{"command":["sh","-c","yes | head -c 100000"]}', b'{"command":["/no"]}', b'{"command":["true"],"timeout":1}',
         b'{"type":"resize","rows":3,"cols":4}', b'{"type":"signal","signal":15}', b'{"type":"signal","signal":9,"group":true}', b'{"type":"stdin_close"}', b'{"type":"x"}', b"{}", b"", b"[" * 3000, b'{"a":' * 1000,
         b"null", b"\xff", b"\xed\xa0\x80", b'{"command":["\xc3"]}', b'{"command":["cat"],"stdin":"abc"}', b'{"command":["cat"],"detach":true}', b'{"command":["cat"],"rows":-1,"cols":99999999999}',
         b'{"command":["a\\u0000b"]}', b'{"type":"resize","rows":1e99,"cols":1}', b'{"command":["cat"],"env":{"A=":"x"}}', b'{"command":["cat"],"stdin_base64":"!"}']
HEADERS = ["Upgrade: websocket", "Upgrade: h2c", "Upgrade: websocket, h2c", "Connection: Upgrade", "Connection: close", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13",
           "Sec-WebSocket-Version: 8", "Sec-WebSocket-Version: 13, 8", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Key: x", "Sec-WebSocket-Key:", "Sec-WebSocket-Protocol: vivarium.exec.v1",
           "Sec-WebSocket-Protocol: a,b,,,c", "Sec-WebSocket-Protocol: bearer.x", "Sec-WebSocket-Protocol: bearer.", "Sec-WebSocket-Protocol: " + "a," * 2000, "Sec-WebSocket-Extensions: permessage-deflate",
           "Origin: null", "Origin: http://x", "Content-Length: 3", "Transfer-Encoding: chunked", "Expect: 100-continue", "Authorization: Bearer x"]
GOOD = ["Host: x", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]


def handshake():
    """The bytes, and whether it is as it should be."""
    path = f"/v1/cells/{CELL}/exec"
    if rnd.random() < 0.85:
        lines = GOOD + (["Sec-WebSocket-Protocol: vivarium.exec.v1"] if rnd.random() < 0.5 else [])
        return ("\r\n".join([f"GET {path} HTTP/1.1"] + lines) + "\r\n\r\n").encode(), True
    lines = [h for h in GOOD if rnd.random() < 0.8] + [rnd.choice(HEADERS) for _ in range(rnd.randrange(4))]
    rnd.shuffle(lines)
    method = rnd.choice(["GET", "GET", "GET", "HEAD", "POST", "OPTIONS"])
    path += rnd.choice(["", "", "?ping=0", "?ping=-1", "?ping=99999999999999999999", "?x=1", "/"])
    return ("\r\n".join([f"{method} {path} HTTP/1.{rnd.choice('1110')}"] + lines) + "\r\n\r\n").encode(), False


def one_frame():
    opcode = rnd.choice([TEXT, TEXT, TEXT, BINARY, BINARY, 0, PING, PONG, CLOSE, rnd.randrange(16)])
    data = rnd.choice(TEXTS) if opcode == TEXT else rnd.choice([b"", b"\0", b"\0abc", b"\1", b"\xff", struct.pack(">H", rnd.choice([0, 999, 1000, 1001, 1005, 1006, 1015, 4000, 65535])), b"\0" * 126, b"\0" * 70000])
    n = len(data) if rnd.random() < 0.95 else rnd.choice([0, 1, 125, 126, 127, 65535, 65536, 1 << 20, 1 << 31, 1 << 62, (1 << 64) - 1])
    mask = rnd.random() < 0.97
    head = bytes([(0x80 if rnd.random() < 0.9 else 0) | (rnd.randrange(8) << 4 if rnd.random() < 0.03 else 0) | opcode])
    kind = 7 if n < 126 else 126 if n < 65536 else 127
    if rnd.random() < 0.03:
        kind = rnd.choice([126, 127])
    head += bytes([(0x80 if mask else 0) | (n if kind == 7 else kind)])
    if kind == 126:
        head += struct.pack(">H", n & 0xffff)
    elif kind == 127:
        head += struct.pack(">Q", n)
    if not mask:
        return head + data
    key = rnd.randbytes(4)
    return head + key + bytes(a ^ b for a, b in zip(data, key * (len(data) // 4 + 1)))


def frames():
    data = b"".join(one_frame() for _ in range(rnd.randrange(6)))
    kind = rnd.random()
    if kind < 0.15:
        data = data[:rnd.randrange(len(data) + 1)]
    elif kind < 0.3 and data:
        data = bytearray(data)
        for _ in range(rnd.randrange(1, 5)):
            data[rnd.randrange(min(len(data), 300))] = rnd.randrange(256)
        data = bytes(data)
    elif kind < 0.35:
        data = rnd.randbytes(rnd.randrange(500))
    elif kind < 0.8:
        data = start() + data
    return data


def start():
    data = rnd.choice(TEXTS[:5])
    key = rnd.randbytes(4)
    return bytes([0x81, 0x80 | len(data)]) + key + bytes(a ^ b for a, b in zip(data, key * (len(data) // 4 + 1)))


def frames_check(data):
    """The codes of close frames in what a server sent; an answer that is no frames is an error."""
    codes, at = [], 0
    while at + 2 <= len(data):
        a, b = data[at], data[at + 1]
        assert a & 0xf0 == 0x80 and b & 0x80 == 0 and a & 15 in (TEXT, BINARY, CLOSE, PING, PONG), f"a frame begins with {data[at:at + 8]!r}"
        at, n = at + 2, b
        if n == 126:
            n, at = struct.unpack_from(">H", data, at)[0], at + 2
        elif n == 127:
            n, at = struct.unpack_from(">Q", data, at)[0], at + 8
        body = data[at:at + n]
        at += n
        assert not codes, "a frame after the close frame"
        if a & 15 == TEXT and len(body) == n:
            assert json.loads(body)["type"] in ("started", "exit", "error", "stdin_closed"), body
        if a & 15 == CLOSE:
            codes.append(struct.unpack(">H", body[:2])[0] if len(body) >= 2 else 1005)
            assert codes[0] not in (1006, 1015) and codes[0] < 5000, codes
    return codes


def ask(first, more, wait, whole=False):
    """All that comes within a moment. Whole: in one piece, and the connection stays open."""
    s = connect(PATH)
    s.settimeout(wait)
    out = b""
    try:
        if whole or rnd.random() < 0.5:
            s.sendall(first + more)
        else:
            s.sendall(first)
            s.sendall(more)
        if not whole and rnd.random() < 0.3:
            s.shutdown(socket.SHUT_WR)
        while len(out) < 1 << 20:
            part = s.recv(65536)
            if not part:
                break
            out += part
    except (BrokenPipeError, ConnectionResetError, socket.timeout):
        pass
    s.close()
    return out


def alive():
    return ask(b"GET /v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"", 30, True).startswith(b"HTTP/1.1 200")



def is_of_state(fd):
    """SQLite keeps what a thread had opened of the database until nobody has a lock on it."""
    try:
        return "/state.db" in os.readlink(fd)
    except OSError:
        return True


def vivd_status():
    pid = open(os.path.dirname(PATH) + "/vivd.lock").read().strip()
    rss = int([line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")][0].split()[1])
    return rss, sum(1 for f in os.listdir(f"/proc/{pid}/fd") if not is_of_state(f"/proc/{pid}/fd/{f}"))


def processes():
    w = WebSocket(PATH, f"/v1/cells/{CELL}/exec")
    w.say(command=["sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null; :"])
    return sorted(w.rest()[0].split())


def main():
    seen = {}
    want = processes()
    rss, fds = vivd_status()
    for i in range(COUNT):
        first, good = handshake()
        more = frames()
        out = ask(first, more, 0.05)
        status = out[9:12].decode() if out.startswith(b"HTTP/1.1 ") else "none"
        seen[status] = seen.get(status, 0) + 1
        what = f"number {i}: {first[:200]!r} {more[:200]!r}"
        if good and status not in ("101", "none") or status[0] == "5" and status not in ("501", "505"):
            sys.exit(f"status {status} for {what}")
        if status == "101":
            try:
                for code in frames_check(out.split(b"\r\n\r\n", 1)[1]):
                    seen[code] = seen.get(code, 0) + 1
            except (AssertionError, ValueError) as e:
                sys.exit(f"{e}: {what}")
        if i % 50 == 49 and not alive():
            sys.exit(f"no answer after {what}")
    end = time.monotonic() + 120
    while processes() != want or vivd_status()[1] > fds:
        if time.monotonic() > end:
            sys.exit(f"left: {processes()} and not {want}; {vivd_status()[1]} descriptors, {fds} before")
        time.sleep(0.1)
    now = vivd_status()[0]
    if now - rss > 16384 and not os.environ.get("BAD_FRAMES_SANITIZED"):
        sys.exit(f"vivd uses {now} KiB, {rss} before")
    print(f"{COUNT} from seed {SEED}: " + ", ".join(f"{k}: {v}" for k, v in sorted(seen.items(), key=str)) + f"; {rss} KiB before, {now} after")


main()
