#!/usr/bin/env python3
"""Malformed HTTP and JSON at vivd's socket: badrequests.py SOCKET COUNT SEED, or over TCP: badrequests.py PORT COUNT SEED TOKEN.

Each request is cut, mixed or made up from pieces. vivd must answer with a status of 4xx (or 2xx when the mutation did no harm) or close the connection, never with
5xx, and must answer an ordinary request after each lot."""

import random
import socket
import sys

PATH, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
AUTH = f"Authorization: Bearer {sys.argv[4]}" if len(sys.argv) > 4 else "X: y"
rnd = random.Random(SEED)

METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "BREW", "get", "", "G" * 300]
PATHS = ["/", "/v1", "/v1/version", "/v1/tokens", "/v1/tokens/x", "/v1/cells", "/v1/cells/x", "/v1/cells/x/exec", "/v1/cells/x/files",
         "/v1/cells/x/logs", "/v1/events?follow=0", "/v1/events?follow=0&since=%ff", "/v1/cells?label=%00", "/metrics", "//", "/v1//cells",
         "/v1/tokens/%2e%2e%2f", "/" + "a" * 5000, "/v1/cells/%", "/v1/cells/%c0%80", "*", "http://x/v1/version", "/v1/tokens?x=y&&=&a=b=c",
         "/v1/volumes", "/v1/images", "/v1/volumes/%0a", "/v1/cells/x/snapshots", "/v1/cells/" + "a/" * 40,
         "/v1/cells/x/policy", "/v1/cells/x/policy/check", "/v1/cells/x/policy/learn"]
VERSIONS = ["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTTP", "", "HTTP/1.1 x"]
HEADERS = ["Host: x", "Host:", "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 1048577",
           "Content-Length: x", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Authorization: Bearer x", "Authorization: Basic eA==",
           "Authorization: Bearer viv_000000000000_" + "0" * 64, "Connection: close", "Connection: upgrade", "Upgrade: websocket",
           "Idempotency-Key: " + "k" * 300, "Idempotency-Key: a", "Expect: 100-continue", "X: " + "y" * 20000, "\x00: \x01", ": novalue",
           "Accept: text/event-stream", "Last-Event-ID: zz", "Range: bytes=5-1", "Content-Type: application/json", "noColon",
           "Origin: https://app.example.org", "Origin: null", "Origin:", "Origin: " + "o" * 5000, "Access-Control-Request-Method: GET",
           "Access-Control-Request-Method:", "Access-Control-Request-Headers: " + "h," * 900, AUTH]
BODIES = [b"", b"{}", b"{", b"[]", b"null", b"\"x\"", b"{\"scope\":\"read\"}", b"{\"scope\":\"read\",\"scope\":\"admin\"}", b"[" * 3000,
          b"{\"a\":" * 3000, b"\xff\xfe", b"{\"scope\":\"\\ud800\"}", b"{\"name\":\"\\u0000\",\"scope\":\"read\"}", b"1e999", b"{\"expires_in\":1e400}",
          b"{\"image\":\"host\",\"command\":[1]}", b"{\"name\":\"../x\"}", b"{\"labels\":{\"a\":1}}", b"{\"limits\":{\"memory\":-1}}", b"x" * 2000000,
          b"{\"rules\":[\"allow net *\"]}", b"{\"rules\":\"use open\"}", b"{\"connect\":\"https://[::1\"}", b"{\"policy\":[\"allow net x\\ny\"]}",
          b"{\"argv\":[]}", b"{\"argv\":[\"\\u0000\"]}", b"5\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffff\r\n", b"-1\r\nx\r\n", b"{\"scope\":\"read\",\"expires_in\":1e308}"]


def make_whole():
    """Well-formed HTTP with a path, a query or a body that is not what vivd expects."""
    body = rnd.choice(BODIES[:-6])
    if rnd.random() < 0.5 and body:
        body = bytearray(body)
        for _ in range(rnd.randrange(1, 4)):
            body[rnd.randrange(len(body))] = rnd.choice(b'{}[]",:\\0e-\xff\x80 x')
        body = bytes(body)
    path = rnd.choice(PATHS[:20])
    if path == "*":
        path = "/v1/cells"
    head = f"{rnd.choice(METHODS[:3] + ['OPTIONS'])} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n{AUTH}\r\n"
    if rnd.random() < 0.3:
        head += "Origin: https://app.example.org\r\nAccess-Control-Request-Method: GET\r\n"
    if rnd.random() < 0.3:
        head += rnd.choice(["Authorization: Bearer x", "Idempotency-Key: a", "Accept: text/event-stream", "Last-Event-ID: -5", "Expect: 100-continue"]) + "\r\n"
    return (head + "\r\n").encode() + body


def make():
    if rnd.random() < 0.5:
        return make_whole()
    head = f"{rnd.choice(METHODS)} {rnd.choice(PATHS)} {rnd.choice(VERSIONS)}"
    lines = [head] + [rnd.choice(HEADERS) for _ in range(rnd.randrange(6))]
    end = rnd.choice(["\r\n", "\r\n", "\r\n", "\n", "\r"])
    body = rnd.choice(BODIES)
    if rnd.random() < 0.5:
        lines.append(f"Content-Length: {len(body)}")
    if rnd.random() < 0.7:
        lines.append("Host: x")
    data = (end.join(lines) + end + end).encode("latin1") + body
    kind = rnd.random()
    if kind < 0.2:
        data = data[:rnd.randrange(len(data) + 1)]
    elif kind < 0.4:
        data = bytearray(data)
        for _ in range(rnd.randrange(1, 8)):
            data[rnd.randrange(min(len(data), 400))] = rnd.randrange(256)
        data = bytes(data)
    elif kind < 0.45:
        data = rnd.randbytes(rnd.randrange(2000))
    return data


def connect():
    tcp = PATH.isdigit()
    s = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
    s.settimeout(30)
    s.connect(("127.0.0.1", int(PATH)) if tcp else PATH)
    return s


def ask(data, wait=0.15):
    """The statuses of what was answered within a moment; what is incomplete gets no answer yet."""
    s = connect()
    s.settimeout(wait)
    out = b""
    try:
        s.sendall(data)
        while True:
            more = s.recv(65536)
            if not more:
                break
            out += more
            if len(out) > 8 << 20:
                break
    except (BrokenPipeError, ConnectionResetError, socket.timeout):
        pass
    s.close()
    return [int(part[:3]) for part in out.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]


def alive():
    return ask(f"GET /v1/version HTTP/1.1\r\nHost: x\r\n{AUTH}\r\nConnection: close\r\n\r\n".encode(), 30) == [200]


bad = 0
seen = {}
# Where a body ends, and what the path is, is to be clear: one answer of 400, and the connection is closed.
POST = b"POST /v1/cells HTTP/1.1\r\nHost: x\r\n"
UNCLEAR = [POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           b"GET /v1/version\0x HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /v1/events?follow=0&since=1\0x HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /v1/events?follow=0\0&since=1 HTTP/1.1\r\nHost: x\r\n\r\n"]
for data in UNCLEAR:
    got = ask(data + b"GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n", 30)
    if got != [400]:
        print(f"{got} for {data!r}")
        bad += 1
for i in range(COUNT):
    data = make()
    for status in ask(data):
        seen[status] = seen.get(status, 0) + 1
        # 501 and 505 are HTTP's own words for a method or a version that is not known.
        if status >= 500 and status not in (501, 505):
            print(f"status {status} for {data[:300]!r}")
            bad += 1
    if i % 50 == 49 and not alive():
        print(f"no answer after request {i}: {data[:300]!r}")
        sys.exit(1)
if not alive():
    print("no answer at the end")
    sys.exit(1)
print(f"{COUNT} requests from seed {SEED}: " + ", ".join(f"{k}: {v}" for k, v in sorted(seen.items())))
sys.exit(1 if bad else 0)
