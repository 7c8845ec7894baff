"""A WebSocket client of nothing but sockets, for tests that must be able to do everything wrong."""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def connect(where):
    """where: the path of a socket, or (port, certificate) for TCP; certificate None: no TLS."""
    if isinstance(where, str):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(120)
        s.connect(where)
        return s
    port, cert = where
    s = socket.create_connection(("127.0.0.1", port), 120)
    if cert:
        s = ssl.create_default_context(cafile=cert).wrap_socket(s, server_hostname="127.0.0.1")
    return s


def frame(opcode, data=b"", fin=True, mask=True, rsv=0, length=None):
    n = len(data) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    bit = 0x80 if mask else 0
    if n < 126:
        head += bytes([bit | n])
    elif n < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", n)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", n)
    if not mask:
        return head + data
    key = os.urandom(4)
    whole = (key * (len(data) // 4 + 1))[: len(data)]
    return head + key + (int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")).to_bytes(len(data), "big")


class Refused(Exception):
    def __init__(self, status, head, body):
        super().__init__(f"{status} {body[:200]!r}")
        self.status, self.head, self.body = status, head, body


class WebSocket:
    def __init__(self, where, path, protocols="vivarium.exec.v1", headers=(), early=b"", key=None):
        self.s = connect(where)
        self.buf = b""
        key = key or base64.b64encode(os.urandom(16))
        lines = [b"GET " + path.encode() + b" HTTP/1.1", b"Host: vivd", b"Upgrade: websocket", b"Connection: keep-alive, Upgrade",
                 b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: " + key]
        if protocols:
            lines.append(b"Sec-WebSocket-Protocol: " + protocols.encode())
        lines += [h.encode() for h in headers]
        self.s.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + early)
        while b"\r\n\r\n" not in self.buf:
            more = self.s.recv(4096)
            if not more:
                raise Refused(0, "", self.buf)
            self.buf += more
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        self.status = int(self.head.split()[1])
        if self.status != 101:
            n = [int(line.split(":")[1]) for line in self.head.lower().split("\r\n") if line.startswith("content-length:")]
            while n and len(self.buf) < n[0]:
                self.buf += self.s.recv(4096)
            raise Refused(self.status, self.head, self.buf)
        want = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        assert f"sec-websocket-accept: {want}".lower() in self.head.lower(), self.head

    def send(self, opcode, data=b"", **more):
        self.s.sendall(frame(opcode, data, **more))

    def say(self, **o):
        self.send(TEXT, json.dumps(o).encode())

    def input(self, data):
        self.send(BINARY, b"\0" + data)

    def need(self, n):
        while len(self.buf) < n:
            more = self.s.recv(1 << 20)
            if not more:
                raise EOFError
            self.buf += more
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def frame(self):
        a, b = self.need(2)
        assert a & 0x70 == 0 and b & 0x80 == 0, "reserved bits, or a mask"
        n = b & 0x7f
        if n == 126:
            n, = struct.unpack(">H", self.need(2))
        elif n == 127:
            n, = struct.unpack(">Q", self.need(8))
        return a & 15, self.need(n)

    def message(self):
        """The next that is no control frame but a close: ("text", object), (channel, bytes), ("close", code)."""
        while True:
            opcode, data = self.frame()
            if opcode == TEXT:
                o = json.loads(data)
                return o["type"], o
            if opcode == BINARY:
                return data[0], data[1:]
            if opcode == CLOSE:
                return "close", struct.unpack(">H", data[:2])[0] if data else 1005
            if opcode == PING:
                self.send(PONG, data)

    def rest(self):
        """Everything to the end: output, errors, the objects, the code."""
        out, objects = {1: [], 2: []}, []
        while True:
            try:
                kind, what = self.message()
            except EOFError:
                return b"".join(out[1]), b"".join(out[2]), objects, None
            if kind == "close":
                try:
                    self.send(CLOSE, struct.pack(">H", 1000))
                    while self.s.recv(4096):
                        pass
                except OSError:
                    pass
                self.s.close()
                return b"".join(out[1]), b"".join(out[2]), objects, what
            if kind in out:
                out[kind].append(what)
            else:
                objects.append(what)
