#!/usr/bin/env python3
"""Asks a resolver for more than it should say, in ways that no client does (names.sh).

    dnsflood.py names COUNT SUFFIX   so many new names, as fast as answers come: how many were refused
    dnsflood.py garbage              random bytes as datagrams and in streams
    dnsflood.py streams COUNT        holds so many connections, and asks by another
    dnsflood.py pipeline             questions one behind the other, cut anywhere, then half-closed
"""
import os, random, select, socket, struct, sys

RESOLVER = ("198.19.255.1", 53)


def question(name, kind=1, number=0):
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
    return struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1)


def framed(message):
    return struct.pack(">H", len(message)) + message


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(RESOLVER)
    s.settimeout(100)
    return s


def asked_by_udp(name):
    s = udp()
    s.send(question(name, 1, 7))
    return s.recv(4096)[3] & 15


def read_frame(s):
    head = s.recv(2, socket.MSG_WAITALL)
    return s.recv(struct.unpack(">H", head)[0], socket.MSG_WAITALL) if len(head) == 2 else None


def asked_by_tcp(name):
    s = socket.create_connection(RESOLVER, 100)
    s.sendall(framed(question(name, 1, 8)))
    return read_frame(s)[3] & 15


def names(count, suffix):
    s, codes, sent, waiting = udp(), {}, 0, 0
    while sent < count or waiting:
        while sent < count and waiting < 48:
            s.send(question("n%d.%s" % (sent, suffix), 1, sent & 0xFFFF))
            sent, waiting = sent + 1, waiting + 1
        code = s.recv(4096)[3] & 15
        codes[code] = codes.get(code, 0) + 1
        waiting -= 1
    print("refused more than half:", codes.get(5, 0) > count / 2, "answered some:", codes.get(0, 0) >= 1000)


def garbage():
    random.seed(1)
    s = udp()
    for n in range(3000):
        s.send(os.urandom(random.choice((0, 1, 11, 12, 13, 40, 512, 4096, 9000))))
        q = bytearray(question("good.org", 1, n))
        for _ in range(random.randrange(1, 6)):
            q[random.randrange(2, len(q))] = random.randrange(256)
        s.send(q)
        while select.select([s], [], [], 0)[0]:
            s.recv(65536)
    for _ in range(300):
        t = socket.create_connection(RESOLVER, 100)
        try:
            t.sendall(os.urandom(random.choice((1, 2, 100, 70000))))
            if random.random() < 0.5:
                t.shutdown(socket.SHUT_WR)
                while t.recv(65536):
                    pass
        except OSError:
            pass
        t.close()
    print("still there:", asked_by_udp("good.org"), asked_by_tcp("good.org"))


def streams(count):
    held = []
    for n in range(count):
        held.append(socket.create_connection(RESOLVER, 100))
        if n % 3 == 0:
            held[-1].send(b"\x00")
    print("still there:", asked_by_udp("good.org"), asked_by_tcp("good.org"))


def pipeline():
    s = socket.create_connection(RESOLVER, 100)
    text = b"".join(framed(question(n, k, i)) for i, (n, k) in enumerate([("good.org", 1), ("bad.org", 1), ("good.org", 28)] * 100))
    random.seed(2)
    answers = {}

    def take(timeout):
        while len(answers) < 300 and select.select([s], [], [], timeout)[0]:
            a = read_frame(s)
            if a is None:
                return
            answers[struct.unpack(">H", a[:2])[0]] = a[3] & 15

    while text:
        n = random.randrange(1, 200)
        s.sendall(text[:n])
        text = text[n:]
        take(0)
    s.shutdown(socket.SHUT_WR)
    take(100)
    print(len(answers), all(code == (5 if i % 3 == 1 else 0) for i, code in answers.items()), s.recv(1))


what = {"names": lambda n, suffix: names(int(n), suffix), "garbage": garbage, "streams": lambda n: streams(int(n)), "pipeline": pipeline}
what[sys.argv[1]](*sys.argv[2:])
