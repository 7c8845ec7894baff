"""Servers of a world for opened connections, at other.org: what nginx does not do.

  8001  HTTP, 8443 HTTPS: /echo a WebSocket, /events server-sent events (/events?N: after the first only as /heard?N is asked for), /ticks?N one in a second, /headers the head as it came, /length n bytes of a body are
        counted, /early an answer before the body is read, /never none, /reset and /reset-head a reset in the body and in the head
  8002  HTTP responses that are wrong in the way that the path says
  8444  HTTPS with the certificate of another name, 8445 an expired one, 8446 one that nobody signed
  8447  HTTP/2 frames that are wrong, 8448 reads a byte and says nothing
"""
import base64
import hashlib
import itertools
import socket
import ssl
import struct
import sys
import threading
import time

ADDR = "93.184.216.35"
CERTS = sys.argv[1]


def head_read(f):
    lines = []
    while (line := f.readline()) not in (b"\r\n", b""):
        lines.append(line.decode("latin1").rstrip("\r\n"))
    if not lines:
        return None, None, {}
    fields = dict((a.strip().lower(), b.strip()) for a, _, b in (l.partition(":") for l in lines[1:]))
    return lines[0].split(), lines, fields


def body_read(f, fields):
    if fields.get("transfer-encoding") == "chunked":
        n = 0
        while size := int(f.readline(), 16):
            left = size
            while left:
                left -= len(f.read(min(left, 65536)))
            f.readline()
            n += size
        while f.readline() not in (b"\r\n", b""):
            pass
        return n
    n = left = int(fields.get("content-length", 0))
    while left:
        got = f.read(min(left, 65536))
        if not got:
            break
        left -= len(got)
    return n - left


heard = {}


def reply(s, body, more=""):
    s.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{more}\r\n{body}".encode())


def websocket(s, f, fields):
    key = hashlib.sha1((fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    s.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
              + base64.b64encode(key) + b"\r\n\r\n")
    while len(head := f.read(2)) == 2:
        n = head[1] & 127
        if n == 126:
            n = struct.unpack(">H", f.read(2))[0]
        mask, data = f.read(4), f.read(n)
        plain = bytes(c ^ mask[i % 4] for i, c in enumerate(data))
        s.sendall(bytes([head[0]]) + (bytes([n]) if n < 126 else b"\x7e" + struct.pack(">H", n)) + plain)
        if head[0] & 15 == 8:
            break


def web(s):
    f = s.makefile("rb")
    while True:
        line, lines, fields = head_read(f)
        if not line:
            return
        path = line[1].split("?")[0]
        if path == "/echo" and fields.get("upgrade") == "websocket":
            websocket(s, f, fields)
            return
        if path == "/events":
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            # With a number each waits for a request for /heard that says that the one before has come.
            number = line[1].partition("?")[2]
            for i in range(5):
                data = b"data: %d\n\n" % i
                s.sendall(b"%x\r\n%s\r\n" % (len(data), data))
                if number and not heard.setdefault(number, threading.Semaphore(0)).acquire(timeout=60):
                    return
            s.sendall(b"0\r\nX-Trailer: there\r\n\r\n")
            continue
        if path == "/ticks":
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(int(line[1].partition("?")[2])):
                data = b"data: %d\n\n" % i
                s.sendall(b"%x\r\n%s\r\n" % (len(data), data))
                time.sleep(1)
            s.sendall(b"0\r\n\r\n")
            continue
        if path == "/heard":
            heard.setdefault(line[1].partition("?")[2], threading.Semaphore(0)).release()
        if path == "/early":
            reply(s, "too large\n", "Connection: close\r\n")
            return
        if path == "/never":
            # Nothing is said; that the other side was here and has gone is noted.
            print("never: asked", flush=True)
            while f.read(1):
                pass
            print("never: ended", flush=True)
            return
        if path in ("/reset", "/reset-head"):
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n" + (b"\r\nhello" if path == "/reset" else b""))
            time.sleep(0.2)  # what was sent is there before the reset, which would take it away
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise OSError
        if path == "/old":
            s.sendall(b"HTTP/1.0 200 OK\r\n\r\nuntil the end\n")
            return
        if fields.get("expect") == "100-continue":
            s.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        n = body_read(f, fields)
        if path == "/headers":
            reply(s, "\n".join(lines) + "\n")
        elif path == "/length":
            reply(s, f"{n}\n")
        else:
            reply(s, f"{' '.join(line)} {n}\n")


WRONG = {
    "/both": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "/lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
    "/nonsense": b"nonsense\r\n\r\n",
    "/version": b"HTTP/3.0 200 OK\r\n\r\n",
    "/fold": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "/bare": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "/switch": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    "/fields": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    "/gone": b"",
    # The head is good, the body is not.
    "/chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n0\r\n\r\n",
    "/size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n",
    "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "/cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
}


def wrong(s):
    line, _, _ = head_read(s.makefile("rb"))
    if not line:
        return
    if line[1] == "/endless":
        s.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            s.sendall(b"a" * 65536)
    if line[1] == "/interims":
        for _ in range(1000):
            s.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
    if line[1] == "/slow":
        for c in b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc":
            s.sendall(bytes([c]))
            time.sleep(0.02)
        return
    s.sendall(WRONG.get(line[1], b""))


def frame(kind, flags, stream, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data


kinds = itertools.cycle("cblwpgs")


def frames(s):
    """After the first request, one of these, each connection the next. (The path is compressed.)"""
    f = s.makefile("rb")
    f.read(24)
    while True:
        head = f.read(9)
        if len(head) < 9:
            return
        f.read(int.from_bytes(head[:3], "big"))
        if head[3] == 1:
            break
    kind = next(kinds)
    s.sendall(frame(4, 0, 0) + frame(4, 1, 0))
    ok = b"\x88"  # :status 200
    if kind == "c":  # CONTINUATION without end
        s.sendall(frame(1, 0, 1, ok))
        for _ in range(5000):
            s.sendall(frame(9, 0, 1, b"\x00\x01a\x01b"))
    elif kind == "b":  # a head that becomes megabytes
        s.sendall(frame(1, 4, 1, ok + b"\x40\x01a\x7f\x81\x1e" + b"x" * 4000 + b"\xbe" * 10000))
    elif kind == "l":  # a length beyond its frame
        s.sendall(b"\xff\xff\xff" + bytes([0, 0, 0, 0, 0, 1]) + b"x" * 100000)
    elif kind == "w":  # more than the window
        s.sendall(frame(1, 4, 1, ok))
        while True:
            s.sendall(frame(0, 0, 1, b"x" * 16384))
    elif kind == "p":  # a push
        s.sendall(frame(5, 4, 1, b"\x00\x00\x00\x02" + b"\x82\x87\x84"))
    elif kind == "g":  # goes away
        s.sendall(frame(7, 0, 0, b"\x00" * 8))
    elif kind == "s":  # settings and pings without end
        while True:
            s.sendall(frame(6, 0, 0, b"12345678") * 100 + frame(4, 0, 0) * 100)
    time.sleep(0.5)


def mute(s):
    if s.recv(1):
        print("never: asked", flush=True)
        threading.Event().wait(600)


def serve(port, handler, cert=None, alpn=("http/1.1",)):
    ctx = None
    if cert:
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(f"{CERTS}/{cert}.pem", f"{CERTS}/{cert}.key")
        ctx.set_alpn_protocols(list(alpn))
    listener = socket.create_server((ADDR, port), backlog=128)

    def one(s):
        try:
            if ctx:
                s = ctx.wrap_socket(s, server_side=True)
            handler(s)
            s.shutdown(socket.SHUT_WR)
            # A close with bytes that were not read would be a reset, which takes away what was sent.
            while s.recv(65536):
                pass
        except (OSError, ValueError):
            pass
        finally:
            s.close()

    def run():
        while True:
            threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()


serve(8001, web)
serve(8443, web, "server")
serve(8002, wrong)
serve(8444, web, "wrongname")
serve(8445, web, "expired")
serve(8446, web, "selfsigned")
serve(8448, mute)
serve(8447, frames, "server", ("h2",))
print("ready", flush=True)
threading.Event().wait()
