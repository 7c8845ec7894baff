"""What must not work, tried by a program in a cell with the network. Each line that it prints is something that did work.

   refused.py addresses          every special address, in every form that programs take
   refused.py rebind NAME        a name that leads elsewhere when it is looked up again
   refused.py hello NAME OTHER   first bytes of TLS connections to NAME that must not be let through
   refused.py resolvers          other name servers
"""
import socket
import ssl
import struct
import sys
import time

FORMS = """
0.0.0.0 0 0.0.0.1 127.0.0.1 127.1 127.0.0.2 0x7f.1 0x7f000001 017700000001 2130706433 127.255.255.254
10.1.2.3 10.66051 0xa010203 012.1.2.3 167838211 169.254.169.254 2852039166 0xa9fea9fe 169.254.1.1
172.16.0.1 192.168.0.1 100.64.0.1 192.0.2.1 198.18.0.1 198.19.0.1 198.19.255.1 198.19.255.2 203.0.113.1 224.0.0.1 239.255.255.255
240.0.0.1 255.255.255.255 93.184.216.99
:: ::1 ::127.0.0.1 ::10.1.2.3 ::ffff:127.0.0.1 ::ffff:10.1.2.3 ::ffff:a9fe:a9fe ::ffff:93.184.216.99 ::ffff:0:10.1.2.3
64:ff9b::10.1.2.3 64:ff9b::7f00:1 64:ff9b:1::10.1.2.3 2002:a01:203::1 2002:7f00:1::1 2001:0:1:1:1:1:f5fe:fdfc
fe80::1 fe80::5efe:a01:203 2606:2800:220:1:0:5efe:a01:203 fec0::1 fc00::1 fd00:ec2::254 fd7a:7669:7600::1 fd7a:7669:7600:1::1
ff02::1 100::1 2001:db8::1 2606:2800:220:1::98 4000::1
"""


def connects(addr, port, kind=socket.SOCK_STREAM):
    """The error's number, 0 if it connects."""
    try:
        family, _, _, _, to = socket.getaddrinfo(addr, port, type=kind)[0]
    except OSError:
        return -1
    with socket.socket(family, kind) as s:
        s.settimeout(100)
        try:
            s.connect(to)
        except OSError as e:
            return e.errno or -1
        return 0


def addresses():
    for addr in FORMS.split():
        for port in (80, 443):
            if connects(addr, port) == 0:
                print("connected to", addr, port)
    # A control: the same program reaches what is public.
    if connects("93.184.216.34", 443):
        print("cannot connect to 93.184.216.34")


def rebind(name):
    first = socket.getaddrinfo(name, 443, socket.AF_INET, socket.SOCK_STREAM)[0][4]
    if first[0] != "93.184.216.34" or connects(*first):
        print("the first answer is", first)
    try:
        print("flipped to", socket.getaddrinfo("flip." + name, 443))
    except OSError:
        pass
    # It is looked up again for a connection, unless that was just done.
    time.sleep(1)
    if connects(*first) == 0:
        print("connected to", first)


# ---- TLS ----

def hello(name):
    """What OpenSSL says first."""
    c = ssl.create_default_context()
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    out = ssl.MemoryBIO()
    s = c.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    try:
        s.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def parts(data):
    """The body before the extensions, and these as [type, bytes]."""
    body = data[9:]
    at = 34
    at += 1 + body[at]
    at += 2 + struct.unpack(">H", body[at:at + 2])[0]
    at += 1 + body[at]
    exts, rest = [], body[at + 2:]
    while rest:
        kind, n = struct.unpack(">HH", rest[:4])
        exts.append([kind, rest[4:4 + n]])
        rest = rest[4 + n:]
    return body[:at], exts


def message(body, exts):
    tail = b"".join(struct.pack(">HH", t, len(d)) + d for t, d in exts)
    body += struct.pack(">H", len(tail)) + tail
    return b"\1" + struct.pack(">I", len(body))[1:] + body


def record(data, version=b"\3\1"):
    return b"\x16" + version + struct.pack(">H", len(data)) + data


def names(*each):
    one = b"".join(b"\0" + struct.pack(">H", len(n)) + n for n in each)
    return struct.pack(">H", len(one)) + one


def hellos(name, other):
    """Name of the trick, whether it is let through, the bytes."""
    plain = hello(name)
    body, exts = parts(plain)
    rest = [e for e in exts if e[0]]
    good, bad = name.encode(), other.encode()
    whole = message(body, exts)

    def sni(data):
        return record(message(body, [[0, data]] + rest))

    yield "as it is", True, [plain]
    yield "byte by byte", True, [plain[i:i + 1] for i in range(len(plain))]
    yield "in many records", True, [b"".join(record(whole[i:i + 50]) for i in range(0, len(whole), 50))]
    yield "large letters", True, [sni(names(good.upper()))]
    yield "another name", False, [sni(names(bad))]
    yield "another name in many records", False, [b"".join(record(m) for m in [message(body, [[0, names(bad)]] + rest)[:6],
                                                                             message(body, [[0, names(bad)]] + rest)[6:]])]
    yield "no name", False, [record(message(body, rest))]
    yield "an empty name", False, [sni(names(b""))]
    yield "no names in the list", False, [sni(b"\0\0")]
    yield "two names", False, [sni(names(good, bad))]
    yield "two names, the other first", False, [sni(names(bad, good))]
    yield "the same name twice", False, [sni(names(good, good))]
    yield "the extension twice", False, [record(message(body, [[0, names(good)]] + rest + [[0, names(bad)]]))]
    yield "an address", False, [sni(names(b"93.184.216.34"))]
    yield "a name with a zero byte", False, [sni(names(good + b"\0." + bad))]
    yield "a name with a blank", False, [sni(names(b" " + good))]
    yield "another type of name", False, [sni(b"\0\x0b\1" + struct.pack(">H", len(good)) + good)]
    yield "a wrong length", False, [sni(names(good)[:-1])]
    yield "more behind the list", False, [sni(names(good) + b"x")]
    yield "an encrypted hello", False, [record(message(body, [[0, names(good)]] + rest + [[0xfe0d, b"\0" * 40]]))]
    yield "a record that is no handshake in between", False, [record(whole[:40]) + b"\x17\3\3\0\1x" + record(whole[40:])]
    yield "an empty record in between", False, [record(whole[:40]) + record(b"") + record(whole[40:])]
    yield "SSL 2", False, [b"\x80\x2e\1\3\1\0\x15\0\0\0\x10" + b"\0" * 40]
    yield "no TLS at all", False, [b"SSH-2.0-x\r\n"]
    yield "65 KiB of nothing", False, [record(b"\1\0\xff\xff" + b"\0" * 16000) * 5]


def hello_try(name, other):
    for trick, good, pieces in hellos(name, other):
        s = socket.create_connection((name, 443))
        s.settimeout(100)
        got = b""
        try:
            for p in pieces:
                s.sendall(p)
            got = s.recv(100)
        except OSError as e:
            got = b"" if not isinstance(e, TimeoutError) else b"timeout"
        s.close()
        # A handshake message of the server's, and nothing else, shows that it has heard.
        if (got[:1] == b"\x16") != good or got == b"timeout":
            print(trick, "gets", got)


def resolvers():
    for addr in ("93.184.216.53", "93.184.216.34", "10.1.2.3", "127.0.0.53"):
        for port in (53, 853):
            if connects(addr, port) == 0:
                print("connected to", addr, port)
    # By UDP there is no error, but nothing comes back either.
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    try:
        s.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0\4good\3org\0\0\1\0\1", ("93.184.216.53", 53))
        print("answered", s.recv(512))
    except OSError:
        pass


{"addresses": addresses, "rebind": rebind, "hello": hello_try, "resolvers": resolvers}[sys.argv[1]](*sys.argv[2:])
