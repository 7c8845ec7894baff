"""A server that does what its client says, for tests of sockets (outside.sh): at tcp.org and six.org, port 4000.

The first line of a connection is NUMBER COMMAND [ARGUMENT]:
   echo           sends back what comes
   say N          sends N bytes and waits for the end
   bye N          sends N bytes and closes
   reset          closes with a reset
   count          reads to the end, says how many bytes, closes
   wait           does nothing until "go NUMBER" comes over another connection, then counts as above
   ended NUMBER   how that connection ended: fin, reset or open; of one that was closed without a word, 0
   one            closes after the first byte that comes
Port 4001 accepts nobody and has no room. UDP 4000 sends back what comes, 4001 to and from where, 4002 in three datagrams.
"""
import socket
import struct
import sys
import threading

ends, gates, lock = {}, {}, threading.Condition()


def read_line(c):
    line = b""
    while not line.endswith(b"\n"):
        byte = c.recv(1)
        if not byte:
            return line
        line += byte
    return line


def to_end(c):
    n = 0
    while data := c.recv(1 << 16):
        n += len(data)
    return n


def reset(c):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def act(c, words):
    number, command, arg = words[0], words[1], words[2] if len(words) > 2 else ""
    if command == "echo":
        while data := c.recv(1 << 16):
            c.sendall(data)
    elif command in ("say", "bye"):
        c.sendall(b"x" * int(arg))
        if command == "say":
            to_end(c)
    elif command == "reset":
        reset(c)
    elif command == "one":
        c.recv(1)
    elif command == "wait":
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with lock:
            lock.wait_for(lambda: gates.get(number), 60)
        c.sendall(b"%d\n" % to_end(c))
    elif command == "count":
        c.sendall(b"%d\n" % to_end(c))
    elif command == "go":
        with lock:
            gates[arg] = True
            lock.notify_all()
    elif command == "ended":
        with lock:
            lock.wait_for(lambda: ends.get(arg), 20)
            c.sendall(b"%s\n" % ends.get(arg, "open").encode())


def serve(c):
    words, end = ["0"], "fin"
    try:
        words = read_line(c).decode().split() or ["0"]
        if len(words) > 1:
            act(c, words)
    except ConnectionError:
        end = "reset"
    with lock:
        ends[words[0]] = end
        lock.notify_all()
    c.close()


def listen(addr, port, backlog):
    s = socket.create_server((addr, port), family=socket.AF_INET6 if ":" in addr else socket.AF_INET, backlog=backlog)
    while backlog > 1:
        c, _ = s.accept()
        threading.Thread(target=serve, args=(c,), daemon=True).start()
    full = [socket.socket(s.family, socket.SOCK_STREAM) for _ in range(4)]
    for f in full:
        f.setblocking(False)
        f.connect_ex((addr, port))
    threading.Event().wait()


def datagrams(addr, port):
    u = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET, socket.SOCK_DGRAM)
    u.bind((addr, port))
    while True:
        data, peer = u.recvfrom(1 << 16)
        if port == 4000:
            u.sendto(data, peer)
        elif port == 4001:
            u.sendto(b"%s %d" % (addr.encode(), port), peer)
        else:
            for part in (b"one", b"", data):
                u.sendto(part, peer)


for address in ["93.184.216.36", "2606:2800:220:1::36"]:
    for args in ((listen, 4001, 0), (listen, 4000, 4096), (datagrams, 4000), (datagrams, 4001), (datagrams, 4002)):
        threading.Thread(target=args[0], args=(address, *args[1:]), daemon=True).start()
threading.Event().wait()
