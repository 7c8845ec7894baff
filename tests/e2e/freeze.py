#!/usr/bin/env python3
"""Cells that sleep with their processes: freeze.py VIV DIRECTORY CASE."""

import glob
import hashlib
import os
import signal
import struct

from vivdclient import gone, run_case, soon

# State in every form that the interpreter has: objects, threads with locks and timed waits, an interval timer, a pipe with content, a
# file with a position, a child that waits. It says what it is each time it is asked by a file that appears.
PYTHON = r"""
import os, queue, signal, sys, threading, time
state = {i: str(i) * 10 for i in range(20000)}
work, done = queue.Queue(), [0] * 4
def worker(i):
    while True:
        work.get()
        done[i] += 1
for i in range(4):
    threading.Thread(target=worker, args=(i,), daemon=True).start()
alarms = 0
def alarm(*a):
    global alarms
    alarms += 1
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
r, w = os.pipe()
os.write(w, b'x' * 60000)
f = open('/root/lines', 'a+')
child = os.fork()
if not child:
    os.close(w)
    while True:
        time.sleep(1000)
os.umask(0o027)
os.chdir('/var')
n = 0
while True:
    n += 1
    for i in range(8):
        work.put(i)
    while sum(done) != 8 * n:
        time.sleep(0.001)
    f.write('%d\n' % n)
    f.flush()
    os.kill(child, 0)
    with open('/root/now.new', 'w') as o:
        o.write(' '.join(str(x) for x in (n, os.getpid(), child, os.getppid(), threading.get_native_id(), len(state), state[n % 20000] == str(n % 20000) * 10, alarms, f.tell(), len(threading.enumerate()), os.getcwd())))
    os.rename('/root/now.new', '/root/now')
    time.sleep(0.01)
"""


def frozen(v):
    return glob.glob(f"{v.top}/data/vivarium/disks/*/frozen*") + glob.glob(f"{v.top}/data/vivarium/disks/*/thawing")


def make(v, *command, cell="a", **more):
    return v.call("POST", "/v1/cells", {"name": cell, "start": True, "command": list(command), **more}, 201)["id"]


def freeze(v, cell="a"):
    c = v.call("POST", f"/v1/cells/{cell}/sleep", {"freeze": True}, 200)
    assert c["state"] == "sleeping" and frozen(v), (c, frozen(v))


def freeze_soon(v, cell="a"):
    """One that is about to be started or to end is refused: it can be tried again."""

    def one():
        status, out = v.ask("POST", f"/v1/cells/{cell}/sleep", {"freeze": True})
        assert status == 200 or b"try again" in out or b"from outside" in out, (status, out)
        return status == 200

    soon(one, "a moment to freeze it")


def wake(v, cell="a"):
    assert v.call("POST", f"/v1/cells/{cell}/wake", want=200)["state"] == "running"
    assert not frozen(v), frozen(v)


def text(v, path, cell="a"):
    status, out = v.ask("GET", f"/v1/cells/{cell}/files?path={path}")
    return out.decode() if status == 200 else ""


def goes_on(v):
    make(v, "python3", "-c", PYTHON)
    soon(lambda: text(v, "/root/now"), "its first word")
    for _ in range(3):
        before = text(v, "/root/now").split()
        freeze(v)
        wake(v)
        soon(lambda: int(text(v, "/root/now").split()[0]) > int(before[0]) + 3, "that it goes on")
        soon(lambda: int(text(v, "/root/now").split()[7]) > int(before[7]) + 3, "that its timer goes on")
        after = text(v, "/root/now").split()
        # Numbers, memory, threads and directory are what they were; nothing was lost on the way.
        assert after[1:7] == before[1:7] and after[9:] == before[9:], (before, after)
        assert after[6] == "True" and after[1] == "2" and after[4] == "2" and after[9] == "5", after
        lines = text(v, "/root/lines").split()
        assert lines == [str(i + 1) for i in range(len(lines))], lines[-5:]
    # A command is started in it as ever, and sees the processes under their old numbers.
    assert v.exec("a", "sh", "-c", "readlink /proc/2/cwd; grep -c python /proc/2/maps >/dev/null && echo maps").split() == ["/var", "maps"]
    v.call("POST", "/v1/cells/a/kill", {"signal": 15}, 200)
    soon(lambda: v.call("GET", "/v1/cells/a")["state"] == "stopped", "its end")
    # A shell in the middle of a pipeline whose pipes are full.
    make(v, "sh", "-c", "seq 1 100000 | sed 's/$/ x/' | { read a; echo $a >/root/first; sleep 0.4; cat; } >/root/all; echo end >>/root/all; exec sleep 1000", cell="b")
    soon(lambda: text(v, "/root/first", "b"), "that the pipes fill")
    freeze_soon(v, "b")
    wake(v, "b")
    soon(lambda: text(v, "/root/all", "b").endswith("end\n"), "the end of the pipeline")
    assert text(v, "/root/all", "b") == "".join(f"{i} x\n" for i in range(2, 100001)) + "end\n"
    # Its use wakes it, and its sleep goes on.
    freeze(v, "b")
    assert "sleep" in v.exec("b", "cat", "/proc/2/comm")


def cycles(v):
    script = "i=0; while [ $i -lt 120 ]; do i=$((i+1)); x=$(seq 1 500 | sort -n | tail -n 1); echo $i $x; done >/root/out; echo end >>/root/out; exec sleep 1000"
    make(v, "bash", "-c", script)
    n = 0
    while not text(v, "/root/out").endswith("end\n"):
        freeze_soon(v)
        wake(v)
        n += 1
    assert text(v, "/root/out") == "".join(f"{i} 500\n" for i in range(1, 121)) + "end\n"
    assert n > 3, n


REFUSED = {
    "socket": "import socket\nk = socket.socketpair()",
    "/dev/ptmx": "import os\nk = os.openpty()",
    "eventpoll": "import select\nk = select.epoll()",
    "memory": "import mmap\nk = mmap.mmap(-1, 8192)",
    "/root/gone": "import os\nk = open('/root/gone', 'w')\nos.unlink('/root/gone')",
    "POSIX timer": "import ctypes\nl = ctypes.CDLL(None)\nt = ctypes.c_void_p()\nassert l.timer_create(1, None, ctypes.byref(t)) == 0",
    "/dev/shm": "open('/dev/shm/f', 'w').write('x')",
    "/root/locked": "import fcntl\nk = open('/root/locked', 'w')\nfcntl.flock(k, 2)",
    "object of type": "import ctypes\nl = ctypes.CDLL(None)\nassert l.semget(0, 1, 0o1600) >= 0",
    "mounts": "import ctypes\nl = ctypes.CDLL(None)\nassert l.mount(b'none', b'/mnt', b'tmpfs', 0, None) == 0",
    "/dev/result": "open('/dev/result', 'w').write('x')",
    "another root": "import os\nos.chroot('/var')\nos.chdir('/')",
    "seccomp": "import ctypes, struct\nl = ctypes.CDLL(None)\nl.prctl(38, 1, 0, 0, 0)\nk = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))\np = struct.pack('HxxxxxxQ', 1, ctypes.addressof(k))\nassert l.prctl(22, 2, p) == 0",
}
TICKS = "\nimport os, time\nn = 0\nwhile True:\n    n += 1\n    open('/root/n.new', 'w').write(str(n))\n    os.rename('/root/n.new', '/root/n')\n    time.sleep(0.01)"


def refused(v):
    for n, (word, code) in enumerate(REFUSED.items()):
        cell = f"r{n}"
        make(v, "python3", "-c", code + (TICKS if word != "another root" else "\nimport time\ntime.sleep(1000)"), cell=cell)
        if word != "another root":
            soon(lambda: text(v, "/root/n", cell), "its first tick")
        else:
            soon(lambda: v.exec(cell, "readlink", "/proc/2/root") == "/var\n", "its root")
        status, out = v.ask("POST", f"/v1/cells/{cell}/sleep", {"freeze": True})
        assert status == 409 and word.encode() in out, (word, status, out)
        assert not frozen(v) and v.call("GET", f"/v1/cells/{cell}")["state"] == "running"
        if word != "another root":
            before = text(v, "/root/n", cell)
            soon(lambda: text(v, "/root/n", cell) not in ("", before), "that it runs on")
        v.call("DELETE", f"/v1/cells/{cell}?force=1")
    make(v, "sleep", "1000")
    p = v.cli("exec", "-d", "a", "--", "sleep", "1000")
    assert p.returncode == 0, p
    r = v.cli("sleep", "--freeze", "a")
    assert r.returncode != 0 and "from outside" in r.stderr, r
    v.call("POST", "/v1/cells/a/pause", want=200)
    assert v.ask("POST", "/v1/cells/a/sleep", {"freeze": True})[0] == 409
    v.call("POST", "/v1/cells/a/resume", want=200)
    v.call("POST", "/v1/cells/a/stop", {"grace": 0}, 200)
    assert v.ask("POST", "/v1/cells/a/sleep", {"freeze": True})[0] == 409
    # The old way is not changed by any of this.
    v.call("POST", "/v1/cells/a/start", want=200)
    v.call("POST", "/v1/cells/a/sleep", {"grace": 0}, 200)
    assert not frozen(v)
    assert v.exec("a", "cat", "/proc/2/comm") == "sleep\n"


def damaged(v):
    make(v, "python3", "-c", PYTHON)
    soon(lambda: text(v, "/root/now"), "its first word")
    freeze(v)
    path = frozen(v)[0]
    good = open(path, "rb").read()
    records = int.from_bytes(good[136:144], "little")

    def change(at, to):
        open(path, "wb").write(good[:at] + to + good[at + len(to) :])

    def fails(word):
        status, out = v.ask("POST", "/v1/cells/a/wake")
        assert status >= 400 and word.encode() in out, (word, status, out)
        soon(lambda: v.call("GET", "/v1/cells/a")["state"] == "failed", "that it failed")
        assert frozen(v) == [path], frozen(v)
        # It sleeps again, as the next wake is to find it.
        v.call("POST", "/v1/cells/a/sleep", {}, 200)

    for at, to, word in (
        (0, b"nothing\n", "damaged"),
        (8, b"0" * 36, "restarted"),
        (72, b"\xff", "another version"),
        (104, b"\xff", "damaged"),
        (136, b"\xff" * 8, "read"),
        (144, b"\xff" * 8, "damaged"),
        (records + 40, b"\xff" * 4, "damaged"),
    ):
        change(at, to)
        fails(word)
    open(path, "wb").write(good[: len(good) // 2])
    fails("read")
    open(path, "wb").write(good)
    wake(v)
    before = text(v, "/root/now").split()
    soon(lambda: int(text(v, "/root/now").split()[0]) > int(before[0]), "that it goes on")
    # Guest memory that was changed is the guest's own crash, or none.
    freeze(v)
    path = frozen(v)[0]
    good = bytearray(open(path, "rb").read())
    for at in range(4096, int.from_bytes(good[136:144], "little") - 64, 4096 * 37):
        good[at : at + 64] = os.urandom(64)
    open(path, "wb").write(good)
    v.ask("POST", "/v1/cells/a/wake")
    soon(lambda: v.call("GET", "/v1/cells/a")["state"] in ("running", "stopped", "failed"), "any end")
    v.call("POST", "/v1/cells/a/stop", {"grace": 0}, 200)
    v.call("POST", "/v1/cells/a/start", want=200)
    assert not frozen(v)
    assert v.exec("a", "echo", "up") == "up\n"


# What a kernel that was captured could have written: frozen files whose hashes are right and whose records are not (src/kernel/cell/frozen.h).
PIPE, FILE, PROC, ZOMBIE, TASK, FD, MAP, PAGES, SIGNAL = range(1, 10)
PRIVATE, HOST = 2, 4


def records_of(file):
    start, size = struct.unpack_from("<QQ", file, 136)
    at, out = start, []
    while at < start + size:
        kind, n = struct.unpack_from("<II", file, at)
        out.append((kind, file[at + 8 : at + 8 + n]))
        at += 8 + (n + 7) // 8 * 8
    return out


def file_of(file, records):
    start = struct.unpack_from("<Q", file, 136)[0]
    body = b"".join(struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8) for kind, data in records)
    return file[:104] + hashlib.sha256(body).digest() + struct.pack("<QQ", start, len(body)) + file[152:start] + body


def forged(v):
    make(v, "python3", "-c", PYTHON, limits={"pids": 100})
    soon(lambda: text(v, "/root/now"), "its first word")
    freeze(v)
    path = frozen(v)[0]
    good = open(path, "rb").read()
    records = records_of(good)
    assert file_of(good, records) == good

    def first(kind, match=lambda data: True):
        return next(i for i, (k, data) in enumerate(records) if k == kind and match(data))

    def number(i, at, to):
        kind, data = records[i]
        return [*records[:i], (kind, data[:at] + struct.pack("<i", to) + data[at + 4 :]), *records[i + 1 :]]

    proc, task, fd, pages = first(PROC), first(TASK), first(FD), first(PAGES)
    pid = struct.unpack_from("<i", records[proc][1])[0]
    child = first(PROC, lambda data: struct.unpack_from("<i", data, 4)[0] == pid)
    thread = struct.unpack_from("<i", records[first(TASK, lambda data: struct.unpack_from("<i", data)[0] != pid)][1])[0]
    zombie = (ZOMBIE, struct.pack("<6iII16s", 4000, pid, pid, pid, 17, 0, 0, 0, b"gone"))
    # A library that is mapped from where no file reaches, and so often that the calls that are not made any more would fill any room.
    library = first(MAP, lambda data: b".so" in data[struct.calcsize("<3Q2I2Q2q32s") :] and struct.unpack_from("<I", data, 28)[0] == PRIVATE)
    head, rest = struct.Struct("<3Q2I"), records[library][1][32:]
    beyond = [(MAP, head.pack(0x10000 + 0x1000 * i, 0x11000 + 0x1000 * i, 1 << 61, 1, PRIVATE) + rest) for i in range(100000)]
    host = [r for r in records[first(MAP) : child] if r[0] == MAP and struct.unpack_from("<I", r[1], 28)[0] == HOST]

    for what, forgery, word in (
        ("a descriptor before the first thread", [*records[:task], records[fd], *records[task:]], "a descriptor"),
        ("a child of one that has ended", [*records[:child], zombie, *number(child, 4, 4000)[child:]], "a process"),
        ("one that has ended, of one that has ended", [*records, zombie, (ZOMBIE, struct.pack("<ii", 4001, 4000) + zombie[1][8:])], "has ended"),
        ("a child of a thread", number(child, 4, thread), "a process"),
        ("a group that no number is", number(proc, 8, 0x7FFFFFFF), "a process"),
        ("the kernel's number", number(task, 0, 1), "a thread"),
        ("a thread twice", [*records[: task + 1], records[task], *records[task + 1 :]], "a thread"),
        ("pages twice", [*records[: pages + 1], records[pages], *records[pages + 1 :]], "contents of memory"),
        ("more processes than it may have", [*records, *((ZOMBIE, struct.pack("<i", 5000 + i) + zombie[1][4:]) for i in range(95))], "more than it may have"),
        ("mappings that cannot be", [*records[: first(MAP)], *beyond, *host], "laid out"),
    ):
        open(path, "wb").write(file_of(good, forgery))
        status, out = v.ask("POST", "/v1/cells/a/wake")
        assert status >= 400 and word.encode() in out, (what, status, out)
        soon(lambda: v.call("GET", "/v1/cells/a")["state"] == "failed", "that it failed")
        assert frozen(v) == [path], frozen(v)
        v.call("POST", "/v1/cells/a/sleep", {}, 200)
    open(path, "wb").write(good)
    wake(v)
    before = text(v, "/root/now").split()
    soon(lambda: int(text(v, "/root/now").split()[0]) > int(before[0]), "that it goes on")


# By hand: the interpreter's own keeps a descriptor.
MAPPED = r"""
import ctypes
l = ctypes.CDLL(None)
l.mmap.restype = ctypes.c_long
open('/root/held', 'w').write('x' * 4096)
k = open('/root/held')
assert l.mmap(None, ctypes.c_size_t(4096), 1, 2, k.fileno(), ctypes.c_long(0)) != -1
k.close()
"""


def rules(v):
    make(v, "python3", "-c", "k = open('/root/held', 'w')" + TICKS)
    soon(lambda: text(v, "/root/n"), "its first tick")
    # While it runs, a rule does not close what is open; but it is not opened again behind the rule's back.
    for rule in ("deny files /root/held", "ask files /root/held"):
        v.call("PUT", "/v1/cells/a/policy", {"rules": [rule]}, 200)
        status, out = v.ask("POST", "/v1/cells/a/sleep", {"freeze": True})
        assert status == 409 and b"/root/held" in out and b"policy" in out, (status, out)
    v.call("PUT", "/v1/cells/a/policy", {"rules": ["deny files /root/other"]}, 200)
    freeze(v)
    v.call("PUT", "/v1/cells/a/policy", {"rules": ["deny files /root/held"]}, 200)
    status, out = v.ask("POST", "/v1/cells/a/wake")
    assert status >= 400 and b"/root/held: Permission denied" in out, (status, out)
    soon(lambda: v.call("GET", "/v1/cells/a")["state"] == "failed", "that it failed")
    # A mapping of it is no way round.
    v.call("PUT", "/v1/cells/a/policy", {"rules": []}, 200)
    v.call("POST", "/v1/cells/a/sleep", {}, 200)
    wake(v)
    before = text(v, "/root/n")
    soon(lambda: text(v, "/root/n") not in ("", before), "that it goes on")
    v.call("DELETE", "/v1/cells/a?force=1")
    make(v, "python3", "-c", MAPPED + TICKS)
    soon(lambda: text(v, "/root/n"), "its first tick")
    freeze(v)
    wake(v)
    freeze(v)
    v.call("PUT", "/v1/cells/a/policy", {"rules": ["deny files /root/held"]}, 200)
    status, out = v.ask("POST", "/v1/cells/a/wake")
    assert status >= 400 and b"/root/held: Permission denied" in out, (status, out)


def once(v):
    make(v, "python3", "-c", PYTHON)
    soon(lambda: text(v, "/root/now"), "its first word")
    freeze(v)
    # As a keeper leaves it that was killed while its kernel thawed.
    path = frozen(v)[0]
    os.rename(path, path.replace("frozen", "thawing"))
    wake(v)
    soon(lambda: 0 < int((text(v, "/root/now").split() or ["0"])[0]) < 1000 and int(text(v, "/root/lines").split()[-1]) < 100000, "a new start")
    pid = v.call("GET", "/v1/cells/a")["pid"]
    os.kill(pid, signal.SIGKILL)
    soon(lambda: gone(pid), "the end of its kernel")
    soon(lambda: v.call("GET", "/v1/cells/a")["state"] in ("stopped", "failed"), "its end")
    assert not frozen(v)
    # What a start, a rollback or a removal makes of it.
    v.call("POST", "/v1/cells/a/start", want=200)
    freeze_soon(v)
    v.call("POST", "/v1/cells/a/stop", {}, 200)
    v.call("POST", "/v1/cells/a/start", want=200)
    assert not frozen(v)
    assert v.cli("snapshot", "a", "s").returncode == 0
    soon(lambda: text(v, "/root/now"), "its first word")
    freeze_soon(v)
    assert v.cli("rollback", "a", "s").returncode == 0
    assert not frozen(v)
    v.exec("a", "true")
    freeze_soon(v)
    v.call("DELETE", "/v1/cells/a?force=1")
    assert not glob.glob(f"{v.top}/data/vivarium/disks/*")


# A thread that blocks the reserved signal (64), which only a program that knows the stub's mark can; one that is in vfork; one that says
# that it is at rest, with a stack pointer that leads nowhere.
NEVER = r"""
import ctypes, os, time
MARK = 0x7669766172697576
l = ctypes.CDLL(None)
l.syscall.restype = ctypes.c_long
full = ctypes.c_uint64(1 << 63)
assert l.syscall(14, 0, ctypes.byref(full), None, 8, 0, ctypes.c_uint64(MARK)) == 0
n = 0
while True:
    n += 1
    open('/root/n.new', 'w').write(str(n))
    os.rename('/root/n.new', '/root/n')
    time.sleep(0.01)
"""
LIES = r"""
import ctypes, os, threading, time
l = ctypes.CDLL(None)
l.syscall.restype = ctypes.c_long
def lie(sp):
    while True:
        l.syscall(0x761d, ctypes.c_uint64(sp))
        l.syscall(0x761e, ctypes.c_uint64(sp), 0, 0)
        l.syscall(0x761f)
        l.syscall(0x7620)
for sp in (8, 0x7ea000000000, 0xffffffffffffffff, 0x10000):
    threading.Thread(target=lie, args=(sp,), daemon=True).start()
n = 0
while True:
    n += 1
    open('/root/n.new', 'w').write(str(n))
    os.rename('/root/n.new', '/root/n')
    time.sleep(0.01)
"""
MANY = r"""
import ctypes, os, time
l = ctypes.CDLL(None)
l.mmap.restype = ctypes.c_void_p
l.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(20000):
    p = l.mmap(0x100000000000 + i * 8192, 4096, 3, 0x22 | 0x10, -1, 0)
    ctypes.memset(p, i & 0xff, 4096)
n = 0
while True:
    n += 1
    assert all(ctypes.string_at(0x100000000000 + i * 8192, 1)[0] == i & 0xff for i in range(0, 20000, 97))
    open('/root/n.new', 'w').write(str(n))
    os.rename('/root/n.new', '/root/n')
    time.sleep(0.01)
"""


# A child whose state is a lie crashes when it is thawed; its parent goes on all the same. A child that has ended keeps its number.
FAMILY = r"""
import ctypes, os, time
MARK = 0x7669766172697576
l = ctypes.CDLL(None)
l.syscall.restype = ctypes.c_long
liar = os.fork()
if not liar:
    full = ctypes.c_uint64(1 << 63)
    assert l.syscall(14, 0, ctypes.byref(full), None, 8, 0, ctypes.c_uint64(MARK)) == 0
    while True:
        l.syscall(0x761d, ctypes.c_uint64(0x10000))
ended = os.fork()
if not ended:
    os._exit(7)
os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
open('/root/ready', 'w').write(str(ended))
while os.waitid(os.P_PID, liar, os.WEXITED | os.WNOHANG) is None:
    time.sleep(0.01)
new = os.fork()
if not new:
    os._exit(0)
os.waitpid(new, 0)
open('/root/end.new', 'w').write('%d %d' % (os.waitstatus_to_exitcode(os.waitpid(ended, 0)[1]), new > ended))
os.rename('/root/end.new', '/root/end')
time.sleep(1000)
"""


def hostile(v):
    make(v, "python3", "-c", NEVER)
    soon(lambda: text(v, "/root/n"), "its first tick")
    status, out = v.ask("POST", "/v1/cells/a/sleep", {"freeze": True})
    assert status == 409 and b"does not come to rest" in out, (status, out)
    before = text(v, "/root/n")
    soon(lambda: text(v, "/root/n") not in ("", before), "that it runs on")
    v.call("DELETE", "/v1/cells/a?force=1")
    make(v, "python3", "-c", LIES)
    soon(lambda: text(v, "/root/n"), "its first tick")
    for _ in range(8):
        status, out = v.ask("POST", "/v1/cells/a/sleep", {"freeze": True})
        # Its own crash can come at any moment.
        assert status in (200, 409, 500) or b"just ended" in out, (status, out)
        status, out = v.ask("POST", "/v1/cells/a/wake")
        soon(lambda: v.call("GET", "/v1/cells/a")["state"] in ("running", "stopped", "failed"), "any state")
        if v.call("GET", "/v1/cells/a")["state"] != "running":
            v.call("POST", "/v1/cells/a/start", want=200)
    v.call("DELETE", "/v1/cells/a?force=1")
    make(v, "python3", "-c", FAMILY)
    soon(lambda: text(v, "/root/ready"), "its children")
    freeze_soon(v)
    wake(v)
    soon(lambda: text(v, "/root/end") == "7 1", "that the parent goes on")
    v.call("DELETE", "/v1/cells/a?force=1")
    make(v, "python3", "-c", MANY)
    soon(lambda: text(v, "/root/n"), "its first tick")
    freeze(v)
    wake(v)
    before = text(v, "/root/n")
    soon(lambda: text(v, "/root/n") not in ("", before), "that it goes on")


if __name__ == "__main__":
    run_case(goes_on, cycles, refused, damaged, forged, rules, once, hostile)
