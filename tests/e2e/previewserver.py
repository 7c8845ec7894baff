# A server of HTTP/1.1 for previews.py, run in a cell: it also says what no good server would.
import base64, hashlib, json, socket, sys, threading, time, zlib


def head_read(f):
    lines = []
    while True:
        line = f.readline()
        if not line:
            return None
        if line in (b"\r\n", b"\n"):
            return lines
        lines.append(line.decode("latin-1").rstrip("\r\n"))


def body_read(f, head):
    fields = {l.split(":", 1)[0].lower(): l.split(":", 1)[1].strip() for l in head[1:]}
    n = crc = 0

    def take(size):
        nonlocal n, crc
        while size:
            d = f.read(min(size, 1 << 20))
            if not d:
                raise SystemExit
            n += len(d)
            crc = zlib.crc32(d, crc)
            size -= len(d)
    if fields.get("transfer-encoding") == "chunked":
        while True:
            size = int(f.readline(), 16)
            take(size)
            f.readline()
            if not size:
                break
    else:
        take(int(fields.get("content-length", 0)))
    return fields, n, crc


def answer(c, body, more="", status="200 OK"):
    if isinstance(body, str):
        body = body.encode()
    c.sendall(("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n" % (status, len(body), more)).encode() + body)


def websocket(c, f, fields):
    accept = base64.b64encode(hashlib.sha1((fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    c.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n" % accept).encode())
    c.sendall(b"\x81\x05hello")
    while True:
        d = c.recv(65536)
        if not d:
            break
        c.sendall(d)


def serve(c):
    f = c.makefile("rb")
    head = head_read(f)
    if not head:
        return
    path = head[0].split()[1]
    if path == "/silent":
        time.sleep(1000)
    if path == "/unread":
        return answer(c, "enough")
    if path.startswith("/early"):
        answer(c, "no more, please", "Connection: close\r\n", "413 Too Large")
        time.sleep(0.2)
        return
    fields, n, crc = body_read(f, head)
    if path == "/ws":
        return websocket(c, f, fields)
    if path == "/cookies":
        return answer(c, "", "Set-Cookie: a=1; Path=/; Domain=localhost\r\nSet-Cookie: viv_preview=x\r\nset-cookie: b=2; DOMAIN = .localhost ; HttpOnly\r\nSet-Cookie: domain=3\r\n")
    if path == "/there":
        return answer(c, "", "Location: /here?x\r\n", "302 Found")
    if path == "/there2":
        return answer(c, "", "Location: http://localhost:8000/here\r\n", "302 Found")
    if path == "/there3":
        return answer(c, "", "Location: //example.org/\r\n", "302 Found")
    if path == "/chunks":
        c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n")
        return
    if path == "/close":
        c.sendall(b"HTTP/1.0 200 OK\r\n\r\nuntil the end")
        return
    if path == "/sse":
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for i in range(100):
            c.sendall(b"data: %d\n\n" % i)
            time.sleep(0.2)
        return
    if path.startswith("/big/"):
        left = int(path[5:])
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
        block = bytes(1 << 20)
        while left:
            c.sendall(block[:left])
            left -= min(left, len(block))
        return
    if path == "/interim":
        c.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3)
        return answer(c, "after all")
    # What is refused or broken off.
    bad = {
        "/bomb": lambda: c.sendall(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(100000)) + b"\r\n"),
        "/endless": lambda: [c.sendall(b"X" * 65536) for i in range(1 << 14)],
        "/hints": lambda: c.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000),
        "/two": lambda: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        "/lengths": lambda: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nhello"),
        "/lf": lambda: c.sendall(b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
        "/fold": lambda: c.sendall(b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 5\r\n\r\nhello"),
        "/101": lambda: c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
        "/noise": lambda: c.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 1000),
        "/nothing": lambda: None,
        "/short": lambda: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
        "/badchunk": lambda: c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
    }
    if path in bad:
        return bad[path]()
    answer(c, json.dumps({"line": head[0], "fields": fields, "n": n, "crc": crc}))


def run(c):
    try:
        serve(c)
        c.shutdown(socket.SHUT_WR)
        while c.recv(65536):
            pass
    except OSError:
        pass
    c.close()


s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(64)
print("ready", flush=True)
while True:
    c, a = s.accept()
    threading.Thread(target=run, args=(c,), daemon=True).start()
