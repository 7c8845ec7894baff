"""Servers of a world (world.sh) that log what they see, one line each:

   journalserver.py DIR LOG

   tcp.org   7 echo: TCP and UDP; 20000 to 20199: closes at once          accept PORT, datagram PORT BYTES
   good.org  8443, 8444 HTTPS, 8080 HTTP, all HTTP/1.1                    accept PORT, request PORT METHOD TARGET BYTES STATUS BYTES

Targets: /bytes/N, /chunked/N and /missing/N answer with N bytes; /echo with all that was sent; /never not at all, and /half with the
first half of a response, both until the client goes; /drop closes all connections to 8444 and answers with how many; /ws is a WebSocket
that gives back what it gets.
"""
import asyncio
import base64
import hashlib
import os
import ssl
import sys

world, log_path = sys.argv[1:]
log_fd = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
PLAIN, WEB = "93.184.216.36", "93.184.216.34"


def log(*words):
    os.write(log_fd, (" ".join(map(str, words)) + "\n").encode())


def port_of(w):
    return w.get_extra_info("sockname")[1]


async def echo(r, w):
    while data := await r.read(65536):
        w.write(data)
        await w.drain()


async def nothing(_r, _w):
    pass


async def body_read(r, fields):
    if "chunked" in fields.get("transfer-encoding", ""):
        body = b""
        while size := int(await r.readline(), 16):
            body += (await r.readexactly(size + 2))[:-2]
        await r.readline()
        return body
    return await r.readexactly(int(fields.get("content-length", 0)))


async def websocket(r, w, key):
    accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
    w.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    await echo(r, w)


waiting = set()  # connections to 8444


def drop():
    n = len(waiting)
    for w in waiting:
        w.transport.abort()
    waiting.clear()
    return n


async def web(r, w):
    if port_of(w) == 8444:
        waiting.add(w)
    while head := await r.readuntil(b"\r\n\r\n"):
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines[1:] if x)}
        body = await body_read(r, fields)
        kind, _, size = target.partition("?")[0].strip("/").partition("/")
        answer = head + body if kind == "echo" else b"%d" % drop() if kind == "drop" else b"x" * int(size or 0)
        status = 404 if kind == "missing" else 200
        log("request", port_of(w), method, target, len(body), status, len(answer))
        if kind == "never":
            await r.read()
            return
        if kind == "ws":
            return await websocket(r, w, fields["sec-websocket-key"])
        if kind == "chunked" and method != "HEAD":
            w.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(0, len(answer), 1000):
                w.write(b"%x\r\n%s\r\n" % (len(answer[i : i + 1000]), answer[i : i + 1000]))
            w.write(b"0\r\n\r\n")
        else:
            w.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(answer)))
            if method != "HEAD":
                w.write(answer[: len(answer) // 2] if kind == "half" else answer)
        await w.drain()
        if kind == "half":
            await r.read()
            return


def logging(serve):
    async def handler(r, w):
        log("accept", port_of(w))
        try:
            await serve(r, w)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            w.close()

    return handler


class UdpEcho(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        log("datagram", 7, len(data))
        self.transport.sendto(data, addr)


async def main():
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(f"{world}/server.pem", f"{world}/server.key")
    await asyncio.get_running_loop().create_datagram_endpoint(UdpEcho, local_addr=(PLAIN, 7))
    for port in range(20000, 20200):
        await asyncio.start_server(logging(nothing), PLAIN, port, backlog=64)
    await asyncio.start_server(logging(web), WEB, 8080)
    for port in 8443, 8444:
        await asyncio.start_server(logging(web), WEB, port, ssl=tls)
    await asyncio.start_server(logging(echo), PLAIN, 7)
    await asyncio.Event().wait()


asyncio.run(main())
