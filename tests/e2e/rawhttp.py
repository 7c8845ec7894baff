"""A client in a cell that does everything wrong:  rawhttp.py h1 | h2 | websocket | early  (of tests/e2e/opened.sh)"""
import base64
import concurrent.futures
import hashlib
import os
import socket
import ssl
import struct
import sys
import time

HOST = "other.org"
H = b"Host: other.org:8001\r\n"
SMUGGLED = {
    "length and chunks": b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + H + b"\r\n",
    "two lengths": b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\n" + H + b"\r\n",
    "a list of lengths": b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 0, 44\r\n\r\nGET /smuggled HTTP/1.1\r\n" + H + b"\r\n",
    "another coding": b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: xchunked\r\n\r\nGET /smuggled HTTP/1.1\r\n" + H + b"\r\n",
    "two codings": b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a folded line": b"POST / HTTP/1.1\r\n" + H + b"X: a\r\n Content-Length: 4\r\n\r\n",
    "a bare LF": b"GET / HTTP/1.1\n" + H + b"\r\n",
    "a bare LF in a head": b"GET / HTTP/1.1\r\n" + H + b"X: a\nY: b\r\n\r\n",
    "a bare CR": b"GET / HTTP/1.1\r\n" + H + b"X: a\rY: b\r\n\r\n",
    "a NUL": b"GET / HTTP/1.1\r\n" + H + b"X: a\0b\r\n\r\n",
    "a space before the colon": b"POST / HTTP/1.1\r\n" + H + b"Content-Length : 4\r\n\r\nabcd",
    "an extension of a chunk": b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + H + b"\r\n",
    "a chunk with a sign": b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n0\r\n\r\n",
    "a chunk that is longer": b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    "a space in the path": b"GET /a HTTP/1.1\r\nX: HTTP/1.1\r\n".replace(b"\r\nX:", b" /b") + H + b"\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + H + H + b"\r\n",
    "connect": b"CONNECT other.org:8001 HTTP/1.1\r\n" + H + b"\r\n",
    "a path without a slash": b"GET a HTTP/1.1\r\n" + H + b"\r\n",
    "a URL of another scheme": b"GET https://other.org:8001/ HTTP/1.1\r\n" + H + b"\r\n",
    "nonsense": b"GET / nonsense\r\n\r\n",
}
# These are another status.
OTHERS = {
    "a long head": (b"GET / HTTP/1.1\r\n" + H + b"X: " + b"a" * 100000 + b"\r\n\r\n", 431),
    "many headers": (b"GET / HTTP/1.1\r\n" + H + b"X: a\r\n" * 1000 + b"\r\n", 431),
    "another host": (b"GET / HTTP/1.1\r\nHost: good.org\r\n\r\n", 421),
    "another port": (b"GET / HTTP/1.1\r\nHost: other.org\r\n\r\n", 421),
    "a URL of another host": (b"GET http://good.org/ HTTP/1.1\r\n" + H + b"\r\n", 421),
    "a URL of this host": (b"GET http://other.org:8001/x HTTP/1.1\r\n" + H + b"\r\n", 200),
    "an upgrade to something else": (b"GET /headers HTTP/1.1\r\n" + H + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n", 200),
}


def talk(data, seconds=10):
    s = socket.create_connection((HOST, 8001), seconds)
    s.settimeout(seconds)
    try:
        s.sendall(data)
    except OSError:
        pass
    got = b""
    try:
        while more := s.recv(65536):
            got += more
            if got.startswith(b"HTTP/1.1 2") and b"\r\n\r\n" in got:
                break
    except OSError as e:
        got += repr(e).encode()
    s.close()
    return got


def h1():
    # At once: the gate closes a refused connection only when it has waited for its client.
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        smuggled = dict(zip(SMUGGLED, pool.map(talk, SMUGGLED.values())))
        others = dict(zip(OTHERS, pool.map(lambda o: talk(o[0]), OTHERS.values())))
    for name, got in smuggled.items():
        # Nothing follows the answer: the connection is closed.
        if not got.startswith(b"HTTP/1.1 400") or got.count(b"HTTP/1.1 ") != 1 or b"connection: close" not in got.lower():
            print(name, got)
    for name, (_, status) in OTHERS.items():
        got = others[name]
        if not got.startswith(b"HTTP/1.1 %d" % status):
            print(name, got[:500])
        if b"h2c" in got:
            print(name, "was passed on", got)
    # One after the other, without waiting.
    s = socket.create_connection((HOST, 8001), 10)
    s.sendall((b"GET /a HTTP/1.1\r\n" + H + b"\r\nPOST /b HTTP/1.1\r\n" + H + b"Content-Length: 3\r\n\r\nabc") * 20)
    got = b""
    while got.count(b"/a HTTP/1.1 0") < 20 or got.count(b"/b HTTP/1.1 3") < 20:
        more = s.recv(65536)
        if not more:
            print("pipelined", got)
            break
        got += more


def frame(kind, flags, stream, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(path=b"/who", authority=b"good.org", method=b"GET", more=b""):
    return literal(b":method", method) + literal(b":scheme", b"https") + literal(b":path", path) + literal(b":authority", authority) + more


class H2:
    def __init__(self):
        ctx = ssl.create_default_context()
        ctx.set_alpn_protocols(["h2"])
        self.s = ctx.wrap_socket(socket.create_connection(("good.org", 443), 10), server_hostname="good.org")
        assert self.s.selected_alpn_protocol() == "h2"
        self.s.settimeout(10)
        self.s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
        self.buf = b""

    def frames(self):
        while True:
            while len(self.buf) >= 9 and len(self.buf) >= 9 + (n := int.from_bytes(self.buf[:3], "big")):
                yield self.buf[3], self.buf[4], int.from_bytes(self.buf[5:9], "big"), self.buf[9 : 9 + n]
                self.buf = self.buf[9 + n :]
            try:
                more = self.s.recv(65536)
            except OSError:
                return
            if not more:
                return
            self.buf += more

    def answer(self, stream):
        """What a stream is answered: the bytes of its head and body; None: it is reset or the connection ends."""
        got = b""
        for kind, flags, of, data in self.frames():
            if of == stream and kind in (0, 1):
                got += data
                if flags & 1:
                    return got
            elif (of == stream and kind == 3) or kind == 7:
                return None
        return None

    def went_away(self):
        """Is the client told to go away before the connection ends?"""
        return any(kind == 7 for kind, *_ in self.frames())


def h2():
    c = H2()
    c.s.sendall(frame(1, 5, 1, head()))
    if b"good.org 93" not in (c.answer(1) or b""):
        print("a request")
    c.s.sendall(frame(1, 5, 3, head(authority=b"same.org")))
    if b"misdirected" not in (c.answer(3) or b""):
        print("another authority")
    c.s.sendall(frame(1, 5, 5, head(more=literal(b"host", b"other.org"))))
    if b"misdirected" not in (c.answer(5) or b""):
        print("another host")
    for n, bad in enumerate([head(method=b"CONNECT"), head(more=literal(b"connection", b"close")), head(more=literal(b"transfer-encoding", b"chunked")),
                             head(more=literal(b"x", b"a\r\nhost: b")), head(path=b"/a b"), head(path=b"/a\r\nx: y"), head(more=literal(b"X-Upper", b"a")),
                             head(more=literal(b":path", b"/b")), head(path=b""), head(more=literal(b"content-length", b"5"))]):
        c = H2()
        c.s.sendall(frame(1, 5, 1, bad))
        got = c.answer(1)
        if got is not None and b"bad_request" not in got:
            print("a wrong head", n, got)
    # Many streams that are reset at once.
    c = H2()
    try:
        for i in range(1, 3000, 2):
            c.s.sendall(frame(1, 5, i, head()) + frame(3, 0, i, b"\0\0\0\x08"))
        if not c.went_away():
            print("resets without end")
    except OSError:
        pass
    # A head without end.
    c = H2()
    try:
        c.s.sendall(frame(1, 1, 1, head()))
        for _ in range(20000):
            c.s.sendall(frame(9, 0, 1, literal(b"a", b"b")))
        if c.answer(1):
            print("continuations without end")
    except OSError:
        pass


def websocket():
    for port, tls in ((8001, False), (8443, True)):
        s = socket.create_connection((HOST, port), 10)
        if tls:
            s = ssl.create_default_context().wrap_socket(s, server_hostname=HOST)
        key = base64.b64encode(os.urandom(16))
        s.sendall(b"GET /echo HTTP/1.1\r\nHost: other.org:%d\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                  b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (port, key))
        f = s.makefile("rb")
        lines = []
        while (line := f.readline()) not in (b"\r\n", b""):
            lines.append(line)
        want = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        assert lines[0].startswith(b"HTTP/1.1 101") and any(want in l for l in lines), lines
        for data in (b"hello", b"x" * 1000, b"bye"):
            size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
            s.sendall(b"\x81" + size + b"\0\0\0\0" + data)
            f.read(2 if len(data) < 126 else 4)
            assert f.read(len(data)) == data
            time.sleep(0.1)
        print("echoed")


{"h1": h1, "h2": h2, "websocket": websocket}[sys.argv[1]]()
