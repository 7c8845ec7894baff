"""A captured kernel in front of a gate: it says on the channel whatever it likes. After each attack the gate must still serve, or have
ended by itself, and it must have kept to its bounds of memory and descriptors. Prints what went wrong, and figures after '#'.

   hostile_kernel.py VIV-GATE [SEED [COUNT]]     run as root in a world (world.sh)
"""
import array
import os
import random
import resource
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

HEAD = struct.Struct("=IIiIi16sHHI")
CONNECT, FIRST, DNS, CANCEL, OPEN, HELD, FAIL, ANSWER, LOST = range(1, 10)
BYTES = 16384
SERVERS = "server 93.184.216.53\nown 93.184.216.99\n"
POLICY = """allow net good.org
allow net *.good.org
allow net tcp.org:7,9,21 tcp
allow net closed.org:1-65535 tcp
allow net 93.184.216.36:7,13,20 tcp
allow net 93.184.216.36:7 udp
"""
asan = "asan" in sys.argv[1]
RSS_MAX = 900 if asan else 80  # MiB
FDS_MAX = 2 * 16384 + 2048


def address(text):
    if ":" in text:
        return socket.inet_pton(socket.AF_INET6, text)
    return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(text)


def pack(kind, number, addr="0.0.0.0", port=0, protocol=6, flags=0, data=b"", nbytes=None, pid=1):
    return HEAD.pack(kind, number, 0, flags, pid, address(addr), port, protocol, len(data) if nbytes is None else nbytes) + data


def question(name, kind=1):
    labels = b"".join(bytes([len(x)]) + x.encode() for x in name.split("."))
    return b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, 1)


class Gate:
    def __init__(self):
        self.kernel, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control, self.keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        text = tempfile.TemporaryFile()
        text.write((SERVERS + "\n" + POLICY).encode())
        text.seek(0)
        names = tempfile.TemporaryFile()
        given = [os.dup2(f.fileno(), 200 + i) for i, f in enumerate((end, text, control, names))]

        def descriptors():
            for i, fd in enumerate(given):
                os.dup2(fd, 3 + i)
            os.closerange(7, 300)

        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--ipc", "--fork", "--kill-child",
                                         # unshare leaves descriptors of its own, which are no journal.
                                         "sh", "-c", 'exec "$0" 7<&- 8<&-', sys.argv[1]],
                                        preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.said)
        for fd in given:
            os.close(fd)
        for f in (end, text, control, names):
            f.close()
        self.pid = None
        while self.pid is None and self.process.poll() is None:
            children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()
            self.pid = int(children[0]) if children else None

    def send(self, data, fds=(), reads=True):
        """False: the gate is gone, or takes nothing although (with reads) all that it says is read."""
        for _ in range(10000):
            try:
                self.kernel.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [], socket.MSG_DONTWAIT)
                return True
            except BlockingIOError:
                if not reads and not select.select([], [self.kernel], [], 2)[1]:
                    return False
                if reads and not self.receive(0.01):
                    select.select([], [self.kernel], [], 0.01)
            except OSError:
                return False
        return False

    def flood(self, messages):
        """Sends without ever reading, until the gate takes no more."""
        n = 0
        for m in messages:
            if not self.send(m, reads=False):
                break
            n += 1
        return n

    def receive(self, wait=100, keep=None):
        try:
            if not select.select([self.kernel], [], [], wait)[0]:
                return None
            data, fds, _, _ = socket.recv_fds(self.kernel, 70000, 4)
        except OSError:
            return None
        if len(data) < HEAD.size:
            return None
        for fd in fds:
            os.close(fd) if keep is None else keep.append(fd)
        return HEAD.unpack(data[:HEAD.size])[:2] + (data[HEAD.size:],)

    def drain(self):
        n = 0
        while self.receive(0.5):
            n += 1
        return n

    def serves(self):
        """It answers a question, whatever else it says before."""
        if not self.send(pack(DNS, 0x7ffffff0, data=question("good.org"))):
            return False
        while True:
            m = self.receive()
            if not m or m[1] == 0x7ffffff0:
                return bool(m) and m[0] == ANSWER

    def figures(self):
        status = open(f"/proc/{self.pid}/status").read()
        most = int(status.split("VmHWM:")[1].split()[0]) >> 10
        return most, len(os.listdir(f"/proc/{self.pid}/fd"))

    def end(self):
        """How it ended after the kernel was gone."""
        self.kernel.close()
        self.keeper.close()
        try:
            status = self.process.wait(100)
        except subprocess.TimeoutExpired:
            status = "never"
            self.process.kill()
            self.process.wait()
        self.said.seek(0)
        text = self.said.read().decode(errors="replace")
        if status != 0 or "Sanitizer" in text or "not allowed" in text:
            return f"ended with {status}: {text[-3000:]}"
        return None


def attack(name, run, survives):
    g = Gate()
    ended = None
    try:
        run(g)
        alive = g.serves()
        most, fds = g.figures() if g.process.poll() is None and alive else (0, 0)
        print(f"# {name}: {most} MiB, {fds} descriptors" if alive else f"# {name}: ended")
        if alive != survives and survives is not None:
            print(f"{name}: the gate {'does not serve any more' if survives else 'goes on'}")
        if most > RSS_MAX or fds > FDS_MAX:
            print(f"{name}: {most} MiB, {fds} descriptors")
    finally:
        ended = g.end()
    if ended:
        print(f"{name}: {ended}")


# ---- attacks ----

def messages_of(*raw):
    return lambda g: [g.send(m) for m in raw]


def descriptors(g):
    null = os.open("/dev/null", os.O_RDWR)
    before = g.serves() and g.figures()[1]
    for i in range(2000):
        g.send(pack(CANCEL, i), [null])
    for i in range(500):
        g.send(pack(DNS, 1000 + i, data=question("bad.org")), [null, null, null, null])
        g.receive()
    os.close(null)
    # Sockets to name servers, of which there may be one at any look, are closed a moment after the answer.
    for _ in range(50):
        after = g.serves() and g.figures()[1]
        if after and after <= before:
            break
        time.sleep(0.1)
    else:
        print(f"foreign descriptors stay: {before}, then {after}")


def same_ids(g):
    for _ in range(2000):
        g.send(pack(CONNECT, 7, "93.184.216.36", 7))
        g.send(pack(CONNECT, 7, "93.184.216.36", 7, data=b"x" * 4000))
        g.send(pack(FIRST, 7, data=b"GET / HTTP/1.1\r\n"))
        g.send(pack(CANCEL, 7))
    g.drain()


def foreign_ids(g):
    for i in range(3000):
        g.send(pack(FIRST, i, data=b"\x16\3\1" + b"x" * 8000))
        g.send(pack(CANCEL, i))
        g.send(pack(OPEN, i)) if i == 2999 else None
    g.drain()


def bind(g):
    """good.org has an address now."""
    g.send(pack(DNS, 1, data=question("good.org")))
    g.receive()


def held_bytes(g):
    """Many connections that wait for what the client says first, which never ends."""
    bind(g)
    for i in range(3000):
        g.send(pack(CONNECT, 100 + i, "93.184.216.34", 443))
        if not g.receive():
            break
    piece = b"\x16\3\1\x40\0\1\0\xff\xff" + b"\0" * 15000
    for _ in range(4):
        for i in range(3000):
            g.send(pack(FIRST, 100 + i, data=piece[:15000]))
            while g.receive(0):
                pass


def never_reads(kind):
    def run(g):
        bind(g)
        if kind == "dns":
            n = g.flood(pack(DNS, i + 10, data=question(f"n{i}.good.org")) for i in range(200000))
        elif kind == "refused":
            n = g.flood(pack(DNS, i + 10, data=question(f"{'x' * 60}.{'y' * 60}.{i}.bad.org")) for i in range(200000))
        elif kind == "connect":
            n = g.flood(pack(CONNECT, i + 10, "93.184.216.36", 7) for i in range(60000))
        elif kind == "closed":
            n = g.flood(pack(CONNECT, i + 10, "10.1.2.3", 1 + i % 65535, data=b"/bin/x" * 100) for i in range(200000))
        else:
            n = g.flood(pack(CANCEL, i) for i in range(400000))
        most, fds = g.figures()
        print(f"# {kind}: {n} messages taken, {most} MiB, {fds} descriptors while nothing is read")
        if most > RSS_MAX or fds > FDS_MAX:
            print(f"{kind}: {most} MiB, {fds} descriptors while nothing is read")
        g.drain()
    return run


def led_elsewhere(g):
    """A connection that was handed over and is over, connected anew by sending with TCP fast open."""
    host = socket.create_server(("127.0.0.1", 0))
    host.settimeout(0.2)
    for port in (13, 20):
        fds = []
        # One that was reset before it could be handed over is none.
        for i in range(50):
            g.send(pack(CONNECT, 100 * port + i, "93.184.216.36", port))
            g.receive(keep=fds)
            if fds:
                break
        if len(fds) != 1:
            print(f"no connection to port {port}")
            continue
        s = socket.socket(fileno=fds[0])
        time.sleep(0.3)
        for _ in range(2):
            try:
                while s.recv(100, socket.MSG_DONTWAIT):
                    pass
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for _ in range(5):
            try:
                s.sendto(b"hello host", 0x20000000, host.getsockname())
            except OSError:
                pass
        s.close()
        try:
            print("a connection that was over is led to", host.getsockname(), host.accept()[0].recv(20))
        except OSError:
            pass


def cancels(g):
    bind(g)
    for i in range(20000):
        g.send(pack(CONNECT, i + 10, "93.184.216.34" if i % 2 else "93.184.216.36", 443 if i % 2 else 7))
        g.send(pack(CANCEL, i + 10))
        if i % 100 == 99:
            while g.receive(0):
                pass
    g.drain()


def random_messages(seed, count):
    def run(g):
        r = random.Random(seed)
        addrs = ["93.184.216.34", "93.184.216.36", "10.1.2.3", "127.0.0.1", "198.18.0.1", "198.19.255.1", "::1", "2606:2800:220:1::36", "::"]
        pieces = [b"", b"\x16\3\1\0\5\1\0\0\1\3", question("good.org"), question("a.good.org", 28), question("good.org", 65), b"GET / HTTP/1.1\r\nHost: good.org\r\n\r\n",
                  b"\0\x1a" + question("good.org"), bytes(r.randrange(256) for _ in range(400))]
        for _ in range(count):
            data = bytearray(r.choice(pieces) * r.choice([1, 1, 1, 3]))
            for _ in range(r.randrange(3)):
                if data:
                    data[r.randrange(len(data))] = r.randrange(256)
            g.send(pack(r.choice([CONNECT, CONNECT, FIRST, FIRST, DNS, CANCEL]), r.randrange(1, 40), r.choice(addrs), r.choice([7, 9, 53, 80, 443, 0, 21]),
                        r.choice([6, 6, 6, 17, 1, 255]), r.choice([0, 0, 1, 0xffffffff]), bytes(data), pid=r.choice([0, 1, 77, -1, 2**31 - 1, -(2**31)])))
            while r.randrange(3) and g.receive(0):
                pass
        g.drain()
    return run


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
count = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
began = time.time()
attack("an empty message", messages_of(b""), False)
attack("a short message", messages_of(b"x"), False)
attack("a head that is cut", messages_of(pack(DNS, 1)[:-1]), False)
attack("more than it says", messages_of(pack(DNS, 1, data=b"x" * 100, nbytes=50)), False)
attack("less than it says", messages_of(pack(DNS, 1, data=b"x" * 50, nbytes=100)), False)
attack("a length beyond all", messages_of(pack(DNS, 1, data=b"x" * 50, nbytes=0xffffffff)), False)
attack("a large message", messages_of(pack(DNS, 1, data=b"x" * (BYTES + 1), nbytes=BYTES)), False)
attack("the largest message", messages_of(pack(DNS, 1, data=b"x" * BYTES)), True)
for kind in (0, OPEN, ANSWER, LOST, 77, 0xffffffff):
    attack(f"type {kind}", messages_of(pack(kind, 1)), False)
attack("wrong requests", messages_of(*(pack(CONNECT, i, a, p, n) for i, (a, p, n) in enumerate([("0.0.0.0", 0, 6), ("93.184.216.36", 7, 1), (
    "93.184.216.36", 7, 255), ("::", 7, 6), ("93.184.216.36", 0, 17), ("198.19.255.1", 53, 6)]))), True)
attack("foreign descriptors", descriptors, True)
attack("the same id again", same_ids, True)
attack("ids of nobody", foreign_ids, False)
attack("connections that are over", led_elsewhere, True)
attack("endless first bytes", held_bytes, True)
for kind in ("dns", "refused", "connect", "closed", "cancel"):
    attack(f"never reading: {kind}", never_reads(kind), True)
attack("connections that are cancelled", cancels, True)
for i in range(4):
    attack(f"random messages, seed {seed + i}", random_messages(seed + i, count), True)
print(f"# {time.time() - began:.1f} s")
