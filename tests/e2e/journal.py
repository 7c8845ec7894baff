#!/usr/bin/env python3
"""What a cell's journal says, compared with what the cell did: journal.py VIV DIRECTORY CASE."""

import hashlib
import json
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time

VIV, WHERE, CASE = sys.argv[1:4]
BUILD = os.path.dirname(os.path.realpath(VIV))
DATA = os.path.join(os.environ["XDG_DATA_HOME"], "vivarium", "journals")


def soon(what, why, seconds=60):
    end = time.monotonic() + seconds
    while not (v := what()):
        assert time.monotonic() < end, f"not within {seconds} s: {why}"
        time.sleep(0.02)
    return v


def journals():
    try:
        return {n for n in os.listdir(DATA) if n[0] != "." and os.path.isdir(os.path.join(DATA, n))}
    except FileNotFoundError:
        return set()


def run(*words, journal="all", **kw):
    """Runs a cell and returns its journal's directory and its end."""
    before = journals()
    p = subprocess.run([VIV, "run", "--journal", journal, *words], capture_output=True, text=True, timeout=120, **kw)
    new = journals() - before
    return (os.path.join(DATA, new.pop()) if new else None), p


def records(path):
    """All of them, sealed or not; the numbers follow each other."""
    p = subprocess.run([os.path.join(BUILD, "viv-journal"), "print", path, "--json"], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    out = [json.loads(line) for line in p.stdout.splitlines()]
    assert [r["seq"] for r in out] == list(range(1, len(out) + 1)), [r["seq"] for r in out][:50]
    return out


def sealed(path):
    """Waits until nothing is left to be sealed, and verifies."""
    soon(lambda: not [n for n in os.listdir(path) if n.startswith(("raw.", "ring."))], f"sealed: {os.listdir(path)}")
    p = subprocess.run([os.path.join(BUILD, "viv-journal"), "verify", path, "--deep"], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stdout + p.stderr


# ---- exactly what happened ----

WORKLOAD = r"""
import os, random, subprocess, sys
rnd = random.Random(int(sys.argv[1]))
log, files, dirs, n = [], {}, ["/w"], 0
os.mkdir("/w")
log.append(("create", "/w"))
def name():
    global n
    n += 1
    return rnd.choice(dirs) + "/" + rnd.choice(["f", "ä", "a b", "-x", "x\ty", "\udcff"]) + str(n)
for _ in range(int(sys.argv[2])):
    what = rnd.randrange(14)
    old = rnd.choice(sorted(files)) if files else None
    if what < 4 or not old:
        p, data = name(), bytes(rnd.randrange(256) for _ in range(rnd.choice([0, 1, 100, 5000])))
        with open(p, "wb") as f: f.write(data)
        files[p] = data
        log.append(("create", p)); log.append(("open", p))
        if data: log.append(("write", p, len(data)))
    elif what == 4:
        with open(old, "ab") as f: f.write(b"more")
        files[old] += b"more"
        log.append(("open", old)); log.append(("write", old, len(files[old])))
    elif what == 5:
        p = name(); os.rename(old, p); files[p] = files.pop(old)
        log.append(("rename", old, p, False))
    elif what == 6:
        other = rnd.choice(sorted(files))
        if other != old:
            os.rename(old, other); files[other] = files.pop(old)
            log.append(("rename", old, other, True))
    elif what == 7:
        os.unlink(old); del files[old]
        log.append(("remove", old))
    elif what == 8:
        p = name(); os.link(old, p); os.unlink(old); files[p] = files.pop(old)
        log.append(("link", old, p)); log.append(("remove", old))
    elif what == 9:
        p = name(); os.mkdir(p); dirs.append(p)
        log.append(("create", p))
    elif what == 10:
        p = name(); os.symlink(old, p); os.unlink(p)
        log.append(("create", p)); log.append(("remove", p))
    elif what == 11:
        os.chmod(old, rnd.choice([0o600, 0o644]))
        log.append(("change", old))
    elif what == 12:
        os.truncate(old, 3); files[old] = (files[old] + b"\0\0\0")[:3]
        log.append(("change", old))
    else:
        # What fails leaves no record.
        for f, a in ((os.unlink, "/w/none"), (os.mkdir, "/w"), (os.rmdir, "/"), (os.chmod, "/w/none", ), (os.rename, "/w/none")):
            try: f(a, *( [0o600] if f is os.chmod else ["/w/x"] if f is os.rename else [] ))
            except OSError: pass
        try: open("/w/none/x", "w")
        except OSError: pass
        subprocess.run(["/bin/true", str(n)])
        try: subprocess.run(["/w/none"])
        except OSError: pass
        log.append(("exec", "true"))
sys.stdout.buffer.write(repr((log, files)).encode("utf-8", "surrogateescape"))
"""


def text(s):
    """As JSON has it: what is not UTF-8 cannot be there."""
    return s.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def in_a_row(entries):
    """Changes of one file in a row are one record, if they are close together."""
    return [e for i, e in enumerate(entries) if not (i and e[0] == "change" and entries[i - 1] == e)]


def model(seed, count):
    path, p = run("--", "python3", "-c", WORKLOAD, str(seed), str(count), errors="surrogateescape")
    assert p.returncode == 0, p.stderr
    log, files = eval(p.stdout)
    sealed(path)
    got, contents = [], {}
    for r in records(path):
        k, at = r["kind"], r.get("path", "")
        if not (at + "/").startswith("/w/") and k != "exec":
            continue
        if k in ("create", "remove", "open", "change"):
            got.append((k, at))
        elif k == "write":
            got.append((k, at, r["size"]))
        elif k == "rename":
            got.append((k, at, r["to"], stat.S_ISREG(r["replaced"])))
        elif k == "link":
            got.append((k, at, r["to"]))
        elif k == "exec" and at.endswith("/true"):
            got.append((k, "true"))
        elif k == "content":
            contents[at] = r.get("hash", "")
    want = [tuple(text(x) if isinstance(x, str) else x for x in e) for e in log]
    got, want = in_a_row(got), in_a_row(want)
    for i, (a, b) in enumerate(zip(got, want)):
        assert a == b, f"seed {seed}: entry {i}: the journal has {a}, the program did {b}"
    assert len(got) == len(want), (len(got), len(want))
    hashes = {text(p): hashlib.sha256(d).hexdigest() for p, d in files.items()}
    for p, h in contents.items():
        if p in hashes and h:
            assert h == hashes[p], f"seed {seed}: {p!r} has another content"


def models():
    for seed in range(1, 6):
        model(seed, 150)


def kinds():
    path, p = run("--", "sh", "-c", "echo hi >/tmp/a; cat /tmp/a /etc/hostname >/dev/null; cat /tmp/a; (exit 3); kill -9 $$")
    assert p.returncode == 137, p
    sealed(path)
    rs = records(path)
    assert rs[0]["kind"] == "start" and rs[0]["level"] == "all" and rs[-1]["kind"] == "stop", rs
    assert rs[-1]["status"] == 137, rs[-1]
    execs = [r for r in rs if r["kind"] == "exec"]
    assert [e["args"][0] for e in execs] == ["sh", "cat", "cat"], execs
    assert execs[0]["parent"] == 0 and execs[1]["parent"] == execs[0]["pid"] and execs[0]["cwd"] == "/", execs
    reads = [(r["pid"], r["path"]) for r in rs if r["kind"] == "read"]
    assert len(reads) == len(set(reads)), "a file was recorded twice"
    assert (execs[1]["pid"], "/etc/hostname") in reads and (execs[2]["pid"], "/tmp/a") in reads, reads
    exits = {r["pid"]: (r["code"], r["signal"]) for r in rs if r["kind"] == "exit"}
    assert exits[execs[0]["pid"]] == (0, 9) and (3, 0) in exits.values(), exits
    content = [r for r in rs if r["kind"] == "content"]
    assert [c["path"] for c in content] == ["/tmp/a"] and content[0]["hash"] == hashlib.sha256(b"hi\n").hexdigest(), content
    path, p = run("--", "sh", "-c", "cat /etc/hostname >/dev/null; echo >/tmp/a", journal="changes")
    assert not [r for r in records(path) if r["kind"] == "read"] and [r for r in records(path) if r["kind"] == "write"]
    path, p = run("--", "true", journal="off")
    assert path is None and p.returncode == 0


def writers():
    """Every way to change a file, and the process that did."""
    program = r"""
import mmap, os, ctypes
def new(p, size=0):
    f = os.open(p, os.O_RDWR | os.O_CREAT, 0o644)
    os.write(f, b"x" * 4096)
    os.close(f)
for how in ("mmap", "truncate", "fallocate", "sendfile", "copy_range", "splice", "open_trunc", "child", "pwrite"):
    p = "/tmp/" + how
    new(p)
os.write(1, b"")
src = os.open("/etc/passwd", os.O_RDONLY)
f = os.open("/tmp/mmap", os.O_RDWR); m = mmap.mmap(f, 4096); m[0:2] = b"hi"; os.close(f); m.close()
f = os.open("/tmp/truncate", os.O_RDWR); os.ftruncate(f, 7); os.close(f)
f = os.open("/tmp/fallocate", os.O_RDWR); os.posix_fallocate(f, 0, 8192); os.close(f)
f = os.open("/tmp/sendfile", os.O_RDWR); os.sendfile(f, src, 0, 10); os.close(f)
f = os.open("/tmp/copy_range", os.O_RDWR); os.copy_file_range(src, f, 10, 0, 0); os.close(f)
r, w = os.pipe(); os.write(w, b"abc")
f = os.open("/tmp/splice", os.O_RDWR); ctypes.CDLL(None).splice(r, None, f, None, 3, 0); os.close(f)
f = os.open("/tmp/open_trunc", os.O_RDWR | os.O_TRUNC); os.close(f)
f = os.open("/tmp/pwrite", os.O_RDWR); os.pwritev(f, [b"a", b"b"], 3); os.close(f)
f = os.open("/tmp/child", os.O_RDWR)
if os.fork() == 0:
    os.write(f, b"child")
    os._exit(0)
os.wait()
os.close(f)
f = os.open("/tmp/same", os.O_RDWR | os.O_CREAT)  # nothing is written
os.close(f)
os.open("/tmp/left", os.O_RDWR | os.O_CREAT); os.write(f, b"open at the end")
"""
    path, p = run("--", "python3", "-c", program)
    assert p.returncode == 0, p.stderr
    rs = records(path)
    first = next(r["pid"] for r in rs if r["kind"] == "exec")
    count = {}
    for r in rs:
        if r["kind"] == "write":
            count.setdefault(r["path"], []).append(r["pid"])
    assert count.get("/tmp/mmap") == [first] * 3, count  # made, closed while it is mapped, and the end of that
    for how in ("truncate", "fallocate", "sendfile", "copy_range", "splice", "open_trunc", "pwrite"):
        assert count.get("/tmp/" + how) == [first, first], (how, count)
    assert len(count["/tmp/child"]) == 2 and count["/tmp/child"][1] != first, count
    assert "/tmp/same" not in count and count["/tmp/left"] == [first], count
    hashes = {r["path"]: r.get("hash", "") for r in rs if r["kind"] == "content"}
    assert hashes["/tmp/truncate"] == hashlib.sha256(b"x" * 7).hexdigest(), hashes


GAPS = r"""
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def link(f, to):
    assert libc.linkat(-100, b"/proc/self/fd/%d" % f, -100, to, 0x400) == 0
def new(p, data=b"x" * 4096):
    f = os.open(p, os.O_RDWR | os.O_CREAT, 0o644)
    os.write(f, data)
    return f
def mapped(p):
    f = new(p)
    m = mmap.mmap(f, 4096)
    os.close(f)
    return m
def child(what, *a):
    pid = os.fork()
    if pid == 0:
        what(*a)
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
# After the close, and after the hash of what it held then: by the process itself, by a child, and by one that outlives the mapper.
a = mapped("/w/own"); b = mapped("/w/forked")
time.sleep(2.5)
a[0:3] = b"own"
def put(m, text): m[0:len(text)] = text
child(put, b, b"forked")
def outlived():
    m = mapped("/w/outlived")
    if os.fork() == 0:
        while os.getppid() != 1: time.sleep(0.01)
        put(m, b"outlived")
        os._exit(0)
child(outlived)
# Without a name, and given one: closed after that, and before.
f = os.open("/w", os.O_RDWR | os.O_TMPFILE, 0o644)
os.write(f, b"tmpfile")
link(f, b"/w/linked")
os.close(f)
f = os.open("/w", os.O_RDWR | os.O_TMPFILE, 0o644)
link(f, b"/w/late")
time.sleep(2.5)
os.write(f, b"late")
os.close(f)
# Another name while it is open; the first one goes before the write.
f = os.open("/w/first", os.O_RDWR | os.O_CREAT, 0o644)
os.link("/w/first", "/w/second")
os.unlink("/w/first")
os.write(f, b"second")
os.close(f)
# Written by a process that is gone when the file is closed, and by one that is another program by then.
f = new("/w/gone", b"")
gone = child(os.write, f, b"gone")
time.sleep(0.1)
os.close(f)
pid = os.fork()
if pid == 0:
    f = new("/w/exec", b"exec")
    os.set_inheritable(f, True)
    os.execv("/bin/true", ["/bin/true"])
os.waitpid(pid, 0)
print(os.getpid(), gone, pid)
"""


def gaps():
    """What a program does to keep a change out of the journal, or to have another process named for it."""
    path, p = run("--tmpfs", "/w", "--", "python3", "-c", GAPS)
    assert p.returncode == 0, p.stderr
    me, gone, execed = map(int, p.stdout.split())
    sealed(path)
    rs = records(path)
    hashes = {r["path"]: r.get("hash", "") for r in rs if r["kind"] == "content"}
    writes = {}
    for r in rs:
        if r["kind"] == "write":
            writes.setdefault(r["path"], []).append((r["pid"], r["seq"]))
    for name, data in (("own", b"own" + b"x" * 4093), ("forked", b"forked" + b"x" * 4090), ("outlived", b"outlived" + b"x" * 4088),
                       ("linked", b"tmpfile"), ("late", b"late"), ("second", b"second"), ("gone", b"gone"), ("exec", b"exec")):
        assert hashes.get("/w/" + name) == hashlib.sha256(data).hexdigest(), (name, hashes)
        assert writes.get("/w/" + name), (name, writes)
    assert [w[0] for w in writes["/w/own"]] == [me, me], writes
    exits = {r["pid"]: r["seq"] for r in rs if r["kind"] == "exit"}
    assert gone in [w[0] for w in writes["/w/gone"]] and all(w[1] < exits[gone] for w in writes["/w/gone"] if w[0] == gone), (writes, exits)
    true = next(r["seq"] for r in rs if r["kind"] == "exec" and r["pid"] == execed and r["path"].endswith("true"))
    assert [w[0] for w in writes["/w/exec"]] == [execed] and writes["/w/exec"][0][1] < true, (writes, true)
    last = writes["/w/outlived"][-1]
    assert last[1] < exits[last[0]] and last[0] != writes["/w/outlived"][0][0], writes


# ---- processes that are killed ----

LOOP = r"""
i=0
while :; do i=$((i + 1)); : >/mnt/f$i; echo $i; done
"""


def children(pid):
    out = []
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                if int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]) == pid:
                    out.append(int(p))
            except (OSError, IndexError, ValueError):
                pass
    return out


def program_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def killed(whom):
    rnd = random.Random(whom)
    for round_ in range(6):
        mnt = os.path.join(WHERE, f"mnt.{whom}.{round_}")
        os.mkdir(mnt)
        os.chmod(mnt, 0o777)
        before = journals()
        p = subprocess.Popen([VIV, "run", "--name", f"k{whom}{round_}", "--journal", "all", "--mount", f"{mnt}:/mnt", "--",
                              "sh", "-c", LOOP], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        said = [p.stdout.readline() for _ in range(20)]
        time.sleep(rnd.random() / 4)
        if whom == "kernel":
            kernel = next(c for c in children(p.pid) if program_of(c) == "viv-kernel")
            os.kill(kernel, signal.SIGKILL)
        else:
            p.kill()
        said += p.stdout.readlines()
        p.wait()
        path = os.path.join(DATA, (journals() - before).pop())
        told = {int(s) for s in said if s.endswith(b"\n")}
        # The files themselves are what the guest was told of, also where the pipe lost its last line.
        told |= {int(n[1:]) for n in os.listdir(mnt)} - {max(int(n[1:]) for n in os.listdir(mnt))}
        if whom == "keeper":
            # The next one that runs the cell finds what is left in the ring.
            again = subprocess.run([VIV, "run", "--name", f"k{whom}{round_}", "--journal", "all", "--", "true"], capture_output=True, text=True, timeout=60)
            assert again.returncode == 0, again.stderr
        sealed(path)
        rs = records(path)
        made = {int(r["path"][6:]) for r in rs if r["kind"] == "create" and r["path"].startswith("/mnt/f")}
        assert told <= made, f"round {round_}: {sorted(told - made)} of {len(told)} are missing"
        assert not [r for r in rs if r["kind"] == "hole"], "a hole"
        made_twice = [r["path"] for r in rs if r["kind"] == "create"]
        assert len(made_twice) == len(set(made_twice)), "a record came twice"


def twice():
    """A cell that runs again continues its journal; two at once do not write to one."""
    run("--name", "c", "--", "sh", "-c", "echo a >/root/a")
    path = os.path.join(DATA, (journals()).pop())
    run("--name", "c", "--", "sh", "-c", "echo b >/root/b")
    sealed(path)
    rs = records(path)
    assert [r["kind"] for r in rs].count("start") == 2 and [r["kind"] for r in rs].count("stop") == 2
    assert {"/root/a", "/root/b"} <= {r.get("path") for r in rs}
    lock = os.open(path, os.O_RDONLY)
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_EX)
    _, p = run("--name", "c", "--", "true")
    assert p.returncode == 125 and "another process writes to the journal" in p.stderr, p
    os.close(lock)
    _, p = run("--name", "c", "--", "true")
    assert p.returncode == 0, p


def links():
    """A directory that somebody else has put there is refused."""
    run("--name", "c", "--", "true")
    path = os.path.join(DATA, (journals()).pop())
    sealed(path)
    os.rename(path, path + ".real")
    os.symlink(path + ".real", path)
    _, p = run("--name", "c", "--", "true")
    assert p.returncode == 125 and "is a link" in p.stderr, p
    os.unlink(path)
    os.rename(path + ".real", path)
    os.chmod(path, 0o777)
    _, p = run("--name", "c", "--", "true")
    assert p.returncode == 125 and "others can write" in p.stderr, p
    os.chmod(path, 0o700)
    os.rename(DATA, DATA + ".real")
    os.symlink(DATA + ".real", DATA)
    _, p = run("--name", "c", "--", "true")
    assert p.returncode == 125 and "is a link" in p.stderr, p


FULL_LOOP = "i=0; while [ ! -e /mnt/end ]; do i=$((i + 1)); : >/tmp/f$i; rm /tmp/f$i; echo $i >/mnt/n; done; echo $i"


def waits(path):
    """Its kernel waits for room in the ring."""
    with open(os.path.join(path, "ring.kernel"), "rb") as f:
        return struct.unpack_from("<I", f.read(64), 28)[0] == 1


def seals(pid):
    """A sealer is a child of this viv, or was one and is not yet heard of."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        children = f.read().split()
    out = []
    for c in children:
        try:
            with open(f"/proc/{c}/comm") as f:
                out.append(f.read().strip())
        except FileNotFoundError:
            pass
    return "viv-journal" in out


NOISE = "import os\nfor i in range(%d):\n f = '/tmp/' + os.urandom(100).hex()\n open(f, 'w').close(); os.unlink(f)"


def full_ends():
    """At its limit a journal has holes, and the cell goes on; with --journal-full wait it stands still, and ends at once when it is asked to."""
    limit = ("--name", "c", "--journal-max", "2M")
    # Names that pack badly.
    path, p = run(*limit, "--journal-full", "continue", "--", "python3", "-c", NOISE % 30000, journal="changes")
    assert p.returncode == 0 and "it has reached --journal-max" in p.stderr, p.stderr
    sealed(path)
    rs = records(path)
    holes = [r for r in rs if r["kind"] == "hole"]
    assert holes and sum(h["count"] for h in holes) > 1000 and "--journal-max" in holes[0]["reason"], holes
    assert rs[-1]["kind"] == "stop", rs[-1]
    def size():
        total = 0
        for n in os.listdir(path):
            try:
                total += 0 if n.startswith("ring.") else os.path.getsize(os.path.join(path, n))
            except FileNotFoundError:  # sealed since
                pass
        return total

    assert size() < 3 << 20, size()
    for how, words, status in ((signal.SIGTERM, [], 143), (signal.SIGINT, [], 130), (None, ["--timeout", "5s"], 124)):
        said = os.path.join(WHERE, "said")
        with open(said, "w") as f:
            p = subprocess.Popen([VIV, "run", *limit, "--journal", "changes", *words, "--", "python3", "-c", NOISE % 10**9],
                                 stdout=subprocess.PIPE, stderr=f, text=True)
        if how:
            # For good: nothing is left that becomes smaller by sealing it, and the keeper has seen how much that was.
            soon(lambda: os.path.exists(os.path.join(path, "ring.kernel")) and size() > (2 << 20) - (300 << 10) and
                 len([n for n in os.listdir(path) if n.startswith("raw.")]) == 1 and not seals(p.pid) and
                 "cannot be written" in (open(said).read().splitlines() or [""])[-1] and waits(path), "the cell waits", 120)
            p.send_signal(how)
        out = p.communicate(timeout=120)[0]
        err = open(said).read()
        assert p.returncode == status, (how, p.returncode, err)
        assert how is None or ("it has reached --journal-max" in err and "stands still" in err), (how, out, err)
        assert size() < 3 << 20, size()
        # What is in the ring is not lost: the next run has it.
        if how:
            assert os.path.exists(os.path.join(path, "ring.kernel"))
            before = len(records(path))
            _, p = run("--name", "c", "--", "true", journal="changes")
            assert p.returncode == 0, p.stderr
            sealed(path)
            assert len([r for r in records(path)[before:] if r["kind"] == "create"]) > 100


def full(what):
    """A store on a small disk that is full for a while."""
    store = os.environ["XDG_DATA_HOME"]
    os.makedirs(store, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", store], check=True)
    mnt = os.path.join(WHERE, "mnt")
    os.mkdir(mnt)
    os.chmod(mnt, 0o777)
    p = None
    try:
        p = subprocess.Popen([VIV, "run", "--journal", "changes", "--journal-full", what, "--mount", f"{mnt}:/mnt", "--", "sh", "-c", FULL_LOOP],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        soon(lambda: os.path.exists(os.path.join(mnt, "n")), "the loop")
        path = os.path.join(DATA, journals().pop())
        with open(os.path.join(store, "filler"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass

        def count():
            try:
                return int(open(os.path.join(mnt, "n")).read() or 0)
            except ValueError:
                return 0

        if what == "wait":
            soon(lambda: waits(path), "the cell waits")
            at = count()
            time.sleep(0.3)
            assert at == count(), "the cell goes on"
        else:
            at = count()
            soon(lambda: count() > at + 3000, "the cell goes on")
        os.unlink(os.path.join(store, "filler"))
        at = count()
        soon(lambda: count() > at + 10, "the cell goes on when there is room")
        open(os.path.join(mnt, "end"), "w").close()
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0 and "journal cannot be written" in err, err
        sealed(path)
        rs = records(path)
        made = [r["path"] for r in rs if r["kind"] == "create" and r["path"].startswith("/tmp/f")]
        holes = [r for r in rs if r["kind"] == "hole"]
        if what == "wait":
            assert made == [f"/tmp/f{i}" for i in range(1, int(out) + 1)], (len(made), out)
            assert not holes, holes
        else:
            assert holes and sum(h["count"] for h in holes) > 1000, holes
            assert len(made) < int(out)
    finally:
        if p:
            p.kill()
            p.wait()
        subprocess.run(["umount", "-l", store])


def programs():
    """A program of an image of the store is recorded with the hash of its content; one that was changed has that of its record."""
    tree = os.path.join(WHERE, "tree")
    os.makedirs(os.path.join(tree, "bin"))
    # Statically linked, and the store's own.
    source = os.path.join(WHERE, "p.c")
    with open(source, "w") as f:
        f.write('#include <unistd.h>\n#include <fcntl.h>\nchar b[1 << 21];\n'
                'int main(int c, char **v) { if (c < 2) return 0; int i = open("/bin/first", 0), o = open("/copy", 66, 0755); '
                'long n; while ((n = read(i, b, sizeof(b))) > 0) if (write(o, b, n) != n) return 1; if (write(o, "more", 4) != 4 || close(o)) return 1; '
                'if (v[1][0] == 97) { if (!vfork()) _exit(execl("/copy", "copy", (char *)0)); sleep(3); return 0; } return execl("/bin/second", "second", (char *)0); }\n')
    subprocess.run(["gcc", "-static", "-O1", "-o", os.path.join(tree, "bin", "first"), source], check=True)
    shutil.copy(os.path.join(tree, "bin", "first"), os.path.join(tree, "bin", "second"))
    with open(os.path.join(tree, "bin", "second"), "ab") as f:
        f.write(b"another one")
    h = {n: hashlib.sha256(open(os.path.join(tree, "bin", n), "rb").read()).hexdigest() for n in ("first", "second")}
    # Importing starts vivd, which is not needed after that.
    subprocess.run([VIV, "image", "import", "-q", "-t", "programs", tree], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([VIV, "daemon", "stop"], check=True, stdout=subprocess.DEVNULL)
    path, p = run("--image", "programs", "--", "/bin/first", "b", journal="changes")
    assert p.returncode == 0, p.stderr
    sealed(path)
    got = [(r["path"], r.get("hash")) for r in records(path) if r["kind"] == "exec"]
    assert got == [("/bin/first", h["first"]), ("/bin/second", h["second"])], got
    path, p = run("--image", "programs", "--", "/bin/first", "a", journal="changes")
    assert p.returncode == 0, p.stderr
    sealed(path)
    rs = records(path)
    got = [(r["path"], r.get("hash")) for r in rs if r["kind"] == "exec"]
    assert got == [("/bin/first", h["first"]), ("/copy", None)], got
    want = hashlib.sha256(open(os.path.join(tree, "bin", "first"), "rb").read() + b"more").hexdigest()
    assert [r.get("hash") for r in rs if r["kind"] == "content" and r["path"] == "/copy"] == [want], rs
    # The host image has none.
    path, p = run("--", "true", journal="changes")
    assert [r.get("hash") for r in records(path) if r["kind"] == "exec"] == [None]


def missing():
    """Without viv-journal records stay in raw files."""
    here = os.path.join(WHERE, "bin")
    os.mkdir(here)
    for n in ("viv", "viv-kernel", "viv-keeper", "viv-gate"):
        shutil.copy(os.path.join(BUILD, n), here)
    p = subprocess.run([os.path.join(here, "viv"), "run", "--journal", "all", "--", "true"], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0 and p.stderr.count("viv-journal is not installed") == 1, p
    path = os.path.join(DATA, journals().pop())
    assert [n for n in os.listdir(path) if n.startswith("raw.")]
    assert [r["kind"] for r in records(path)][-1] == "stop"


cases = {"models": models, "kinds": kinds, "writers": writers, "gaps": gaps, "twice": twice, "links": links, "missing": missing, "programs": programs,
         "kernel": lambda: killed("kernel"), "keeper": lambda: killed("keeper"),
         "full_wait": lambda: full("wait"), "full_continue": lambda: full("continue"), "full_ends": full_ends}
cases[CASE]()
