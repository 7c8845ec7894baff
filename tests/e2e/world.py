"""Plain TCP and UDP servers of a world (world.sh), at the addresses of tcp.org and six.org.

   7  echo, TCP and UDP            9  reads and says nothing
  13  says a line and closes      19  sends bytes without end
  20  closes with a reset at once 21  accepts and never reads
  24  says a line first, then echoes
"""
import asyncio
import socket
import struct

ADDRESSES = ["93.184.216.36", "2606:2800:220:1::36"]


async def echo(r, w):
    while data := await r.read(65536):
        w.write(data)
        await w.drain()


async def discard(r, _):
    while await r.read(65536):
        pass


async def line(_, w):
    w.write(b"a line\r\n")
    await w.drain()


async def greet(r, w):
    await line(r, w)
    await echo(r, w)


async def chargen(_, w):
    while True:
        w.write(bytes(65536))
        await w.drain()


async def reset(_, w):
    sock = w.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def stuck(_, w):
    w.transport.pause_reading()
    await asyncio.sleep(3600)


def closing(serve):
    async def handler(r, w):
        try:
            await serve(r, w)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            w.close()

    return handler


class UdpEcho(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.transport.sendto(data, addr)


async def main():
    loop = asyncio.get_running_loop()
    services = {9: discard, 13: line, 19: chargen, 20: reset, 21: stuck, 24: greet, 7: echo}
    for addr in ADDRESSES:
        await loop.create_datagram_endpoint(UdpEcho, local_addr=(addr, 7))
        for port, serve in services.items():
            await asyncio.start_server(closing(serve), addr, port, backlog=4096)
    await asyncio.Event().wait()


asyncio.run(main())
