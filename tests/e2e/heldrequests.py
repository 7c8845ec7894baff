"""A client in a cell whose requests wait for the operator: 'ask' rules about requests of good.org, whose /who is allowed.

   streams       HTTP/2: streams that wait, and others that go on; prints what each got
   gone          HTTP/1: sends a request, much more behind it, and goes away when a line is read
   flood         as many requests as a hostile client can make, on many connections; prints what it got and how it ended
   resets        HTTP/2: streams that wait are reset, again and again, until the gate has enough
   udp N         a datagram to each of N ports, then waits for a line
"""
import collections
import resource
import socket
import ssl
import struct
import sys
import time

NAME = "good.org"


def connect(http2):
    context = ssl.create_default_context(cafile="/etc/viv-bundle.pem")
    context.set_alpn_protocols(["h2"] if http2 else ["http/1.1"])
    return context.wrap_socket(socket.create_connection((NAME, 443), timeout=60), server_hostname=NAME)


def frame(kind, flags, stream, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data


def literal(name, value):
    def text(t):
        return (bytes([len(t)]) if len(t) < 127 else b"\x7f" + varint(len(t) - 127)) + t

    return b"\0" + text(name) + text(value)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def head(path, method=b"GET", more=b""):
    return (
        literal(b":method", method) + literal(b":scheme", b"https") + literal(b":path", path) + literal(b":authority", NAME.encode()) + more
    )


class Http2:
    def __init__(self):
        self.s = connect(True)
        self.s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
        self.bytes = b""
        self.got = collections.defaultdict(bytes)
        self.ended = {}

    # Reads frames until a stream has ended (0: the connection). False: it is over.
    def until(self, stream):
        while stream not in self.ended:
            while len(self.bytes) < 9 or len(self.bytes) < 9 + int.from_bytes(self.bytes[:3], "big"):
                more = self.s.recv(65536)
                if not more:
                    return False
                self.bytes += more
            n = int.from_bytes(self.bytes[:3], "big")
            kind, flags, at = self.bytes[3], self.bytes[4], struct.unpack(">I", self.bytes[5:9])[0]
            body, self.bytes = self.bytes[9 : 9 + n], self.bytes[9 + n :]
            if kind == 0:
                self.got[at] += body
            if kind == 7:
                self.ended[0] = body
            if kind == 4 and not flags & 1:
                self.s.sendall(frame(4, 1, 0))
            if kind == 3 or (kind in (0, 1) and flags & 1):
                self.ended[at] = "reset" if kind == 3 else "end"
        return True


def streams():
    c = Http2()
    # 1 waits with a body that it has sent, 3 without one; 5, 7 and 9 go on.
    c.s.sendall(frame(1, 4, 1, head(b"/put", b"POST")) + b"".join(frame(0, 0, 1, bytes(8192)) for _ in range(7)))
    c.s.sendall(frame(1, 5, 3, head(b"/held")))
    for stream in (5, 7, 9):
        c.s.sendall(frame(1, 5, stream, head(b"/who")))
        c.until(stream)
        print(stream, c.got[stream].decode().strip(), flush=True)
    c.s.sendall(frame(0, 1, 1, b"the end"))
    for stream in (1, 3):
        c.until(stream)
        print(stream, c.ended[stream], c.got[stream].decode()[:300].strip(), flush=True)


def gone():
    s = connect(False)
    s.sendall(b"GET /held HTTP/1.1\r\nHost: good.org\r\n\r\n")
    s.settimeout(2)
    try:
        # What cannot be read yet stays here.
        for _ in range(200):
            s.sendall(bytes(65536))
        print("endless")
    except TimeoutError:
        print("full", flush=True)
    sys.stdin.readline()


def flood():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    answers = collections.Counter()
    conns = []
    for i in range(80):
        try:
            c = Http2()
        except OSError as e:
            answers[str(e)[:40]] += 1
            continue
        conns.append(c)
        # 128 streams each, heads of some 40 KiB, bodies as far as the window goes: 10,240 requests.
        big = b"".join(literal(b"x-%d" % k, b"v" * 8000) for k in range(5)) if i % 8 == 0 else b""
        c.s.settimeout(20)
        try:
            for stream in range(1, 257, 2):
                block = head(b"/held/%d/%d" % (i, stream), b"POST", big)
                parts = [block[at : at + 16000] for at in range(0, len(block), 16000)]
                for k, part in enumerate(parts):
                    c.s.sendall(frame(9 if k else 1, 4 if k == len(parts) - 1 else 0, stream, part))
                c.s.sendall(frame(0, 0, stream, bytes(512)))
        except OSError as e:
            answers["closed"] += 1
    # Those that do not wait are answered.
    end = time.monotonic() + 100
    while answers["403"] <= 5000 and time.monotonic() < end:
        for c in conns:
            c.s.settimeout(0.02)
            try:
                c.until(1 << 30)
            except OSError:
                pass
        answers["403"] = sum(b"too many wait" in body or b"operator denies" in body for c in conns for body in c.got.values())
    # The gate is there, and does what it should.
    c = Http2()
    c.s.sendall(frame(1, 5, 1, head(b"/who")))
    c.until(1)
    print(len(conns), answers["403"] > 5000, answers["closed"], c.got[1].decode().strip())


def resets():
    ended = 0
    for _ in range(3):
        c = Http2()
        try:
            for stream in range(1, 4001, 2):
                c.s.sendall(frame(1, 5, stream, head(b"/held/%d" % stream)) + frame(3, 0, stream, b"\0\0\0\x08"))
            c.until(0)
        except OSError:
            pass
        try:
            ended += c.until(1 << 30) is False
        except OSError:
            ended += 1
    c = Http2()
    c.s.sendall(frame(1, 5, 1, head(b"/who")))
    c.until(1)
    print(ended, c.got[1].decode().strip())


def udp(n):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    addr = socket.gethostbyname("tcp.org")
    refused = 0
    for port in range(1000, 1000 + int(n)):
        try:
            s.sendto(b"x", (addr, port))
        except OSError:
            refused += 1
    print("sent", flush=True)
    sys.stdin.readline()


globals()[sys.argv[1]](*sys.argv[2:])
