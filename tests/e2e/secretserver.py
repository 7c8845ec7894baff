"""A web server of a world that gives back what it was sent, in every way that the name of the path says.

   secretserver.py DIR LOG PORT ADDRESS...   with TLS, certificate DIR/server.pem; the heads and bodies of all requests go to LOG.

What it echoes is the value of the header x-echo-of names (or authorization, x-api-key, the target), as it arrived.
The events of /events?N come one by one, each of them after /heard?N was asked for.
"""
import asyncio
import base64
import ctypes
import gzip
import hashlib
import json
import ssl
import sys
import urllib.parse
import zlib

world, log_path, port, addresses = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
log = open(log_path, "ab", buffering=0)


def brotli(data):
    lib = ctypes.CDLL("libbrotlienc.so.1")
    out = ctypes.create_string_buffer(len(data) + 1024)
    size = ctypes.c_size_t(len(out))
    assert lib.BrotliEncoderCompress(5, 22, 0, ctypes.c_size_t(len(data)), data, ctypes.byref(size), out)
    return out.raw[: size.value]


def zstd(data):
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_compress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(len(data) + 1024)
    size = lib.ZSTD_compress(out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)), 5)
    return out.raw[:size]


heard = {}


def plain(body, *more):
    head = ["HTTP/1.1 200 OK", "Content-Type: text/plain", *more, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


async def slowly(w, data, size=1, pause=0.0):
    for i in range(0, len(data), size):
        w.write(data[i : i + size])
        await w.drain()
        await asyncio.sleep(pause)


async def websocket(w, key, raw):
    accept = base64.b64encode(hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    w.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\nX-Echo: " + raw + b"\r\n\r\n")
    await w.drain()
    frame = b"you sent " + raw
    await slowly(w, b"\x81%c" % len(frame) + frame, 1, 0.002)
    w.write(b"\x81%c" % len(frame) + frame + b"\x88\x00")
    await w.drain()
    w.close()


async def answer(w, path, text, number=""):
    raw = text.encode()
    if path == "/plain":
        w.write(plain(raw))
    elif path == "/json":
        w.write(plain(json.dumps({"you sent": text}).replace("/", "\\/").encode()))
    elif path == "/url":
        w.write(plain(urllib.parse.quote(text, safe="").encode()))
    elif path == "/base64":
        w.write(plain(base64.b64encode(b"you sent: " + raw)))
    elif path == "/hex":
        w.write(plain(raw.hex().encode()))
    elif path == "/gzip":
        w.write(plain(gzip.compress(raw), "Content-Encoding: gzip"))
    elif path == "/deflate":
        w.write(plain(zlib.compress(raw), "Content-Encoding: deflate"))
    elif path == "/br":
        w.write(plain(brotli(raw), "Content-Encoding: br"))
    elif path == "/zstd":
        w.write(plain(zstd(raw), "Content-Encoding: zstd"))
    elif path == "/unknown":
        w.write(plain(raw, "Content-Encoding: compress"))
    elif path == "/bomb":
        w.write(plain(gzip.compress(bytes(1 << 26) + raw, 9), "Content-Encoding: gzip"))
    elif path == "/brbomb":
        w.write(plain(brotli(bytes(1 << 26) + raw), "Content-Encoding: br"))
    elif path == "/twice":
        w.write(plain(gzip.compress(gzip.compress(raw)), "Content-Encoding: gzip, gzip"))
    elif path == "/split":
        await slowly(w, plain(raw), 1, 0.002)
    elif path == "/chunked":
        w.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n\r\n")
        await slowly(w, b"".join(b"1\r\n%c\r\n" % c for c in raw), 7)
        w.write(b"0\r\nX-Trailer: " + raw + b"\r\n\r\n")
    elif path == "/chunked-gzip":
        w.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n")
        await slowly(w, b"".join(b"1\r\n%c\r\n" % c for c in gzip.compress(raw)), 9)
        w.write(b"0\r\n\r\n")
    elif path == "/close":
        w.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + raw)
        await w.drain()
        w.close()
    elif path == "/header":
        w.write(plain(b"", "X-Echo: " + text, "Set-Cookie: session=" + urllib.parse.quote(text)))
    elif path == "/redirect":
        w.write(b"HTTP/1.1 302 Found\r\nLocation: https://good.org/?key=" + raw + b"\r\nContent-Length: 0\r\n\r\n")
    elif path == "/reason":
        w.write(b"HTTP/1.1 200 " + raw + b"\r\nContent-Length: 0\r\n\r\n")
    elif path == "/early":
        w.write(b"HTTP/1.1 103 Early Hints\r\nLink: <" + raw + b">\r\n\r\n" + plain(b"late"))
    elif path == "/events":
        w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for i in range(3):
            event = b"data: %d %s\n\n" % (i, raw)
            w.write(b"%x\r\n%s\r\n" % (len(event), event))
            await w.drain()
            # With a number each waits for a request for /heard that says that the one before has come.
            if number:
                await asyncio.wait_for(heard.setdefault(number, asyncio.Semaphore(0)).acquire(), 60)
        w.write(b"0\r\n\r\n")
    else:
        if path == "/heard":
            heard.setdefault(number, asyncio.Semaphore(0)).release()
        w.write(plain(b"hello\n"))
    await w.drain()


async def serve(r, w):
    try:
        while True:
            head = (await r.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = head.split("\r\n")
            fields = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines[1:] if x)}
            body = b""
            if "chunked" in fields.get("transfer-encoding", ""):
                while size := int(await r.readline(), 16):
                    body += await r.readexactly(size)
                    await r.readline()
                await r.readline()
            elif "content-length" in fields:
                body = await r.readexactly(int(fields["content-length"]))
            log.write(head.encode("latin-1") + body + b"\n")
            target = lines[0].split(" ")[1]
            text = fields.get("x-api-key") or fields.get("authorization") or body.decode("latin-1") or target
            if "upgrade" in fields:
                await websocket(w, fields["sec-websocket-key"], text.encode())
                return
            await answer(w, target.partition("?")[0], text, target.partition("?")[2])
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    finally:
        w.close()


async def main():
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(f"{world}/server.pem", f"{world}/server.key")
    servers = [await asyncio.start_server(serve, a, port, ssl=tls) for a in addresses]
    await asyncio.gather(*(s.serve_forever() for s in servers))


asyncio.run(main())
