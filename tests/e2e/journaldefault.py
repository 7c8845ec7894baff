"""The journal by default: journaldefault.py VIV DIRECTORY CASE. Cells are started as a user starts them, without --journal."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import time

VIV, WHERE, CASE = sys.argv[1:]
JOURNAL = os.path.join(os.path.dirname(os.path.realpath(VIV)), "viv-journal")
DATA = os.path.join(os.environ["XDG_DATA_HOME"], "vivarium", "journals")


def soon(fn, what):
    end = time.monotonic() + 60
    while not (v := fn()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return v


def journals():
    try:
        return {n for n in os.listdir(DATA) if n[0] != "."} - {"journal.key", "journal.keys"}
    except FileNotFoundError:
        return set()


def viv(*words, ok=True, **env):
    p = subprocess.run([VIV, *words], capture_output=True, text=True, timeout=120, env={**os.environ, **env})
    assert not ok or p.returncode == 0, p
    return p


def run(*words, **kw):
    """Runs a cell that no pool has, and returns its journal's id, if it has one, and its end."""
    before = journals()
    p = viv("run", *words, **{"VIV_POOL": "0", **kw})
    new = journals() - before
    assert len(new) <= 1, new
    return (new.pop() if new else None), p


def records(id_):
    p = subprocess.run([JOURNAL, "print", os.path.join(DATA, id_), "--json"], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    return [json.loads(line) for line in p.stdout.splitlines()]


def unsealed():
    out = []
    for j in journals():
        out += [(j, n) for n in os.listdir(os.path.join(DATA, j)) if n.startswith(("raw.", "ring."))]
    return out


def all_sealed():
    soon(lambda: not unsealed(), "everything is sealed")
    for j in journals():
        p = subprocess.run([JOURNAL, "verify", os.path.join(DATA, j), "--deep"], capture_output=True, text=True, timeout=60)
        assert p.returncode == 0, p.stdout + p.stderr


def sealers():
    """Processes that seal the journals of this store."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read().startswith(b"viv-journal\0tend\0") and os.path.realpath(f"/proc/{pid}/fd/{fd_of(pid)}").startswith(DATA):
                    out.append(int(pid))
        except OSError:
            pass
    return out


def fd_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().split(b"\0")[4].decode()


def locked(id_):
    fd = os.open(os.path.join(DATA, id_), os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def settled():
    """The sealer removes its queue when it has nothing more to do."""
    soon(lambda: not os.path.exists(os.path.join(DATA, ".queue")), "the sealer's end")


# ---- cases ----

def levels():
    id_, _ = run("--", "sh", "-c", "cat /etc/hostname; echo x >/tmp/made")
    kinds = {(r["kind"], r.get("path")) for r in records(id_)}
    assert records(id_)[0]["level"] == "all" and {("read", "/etc/hostname"), ("write", "/tmp/made")} <= kinds, kinds
    # Right after it has returned.
    assert "/tmp/made" in viv("touched", id_).stdout and viv("blame", id_, "/tmp/made").stdout and viv("journal", "verify", id_)
    assert run("--journal", "off", "--", "true")[0] is None
    assert run("--", "true", VIV_JOURNAL="off")[0] is None
    assert records(run("--", "true", VIV_JOURNAL="changes")[0])[0]["level"] == "changes"
    assert records(run("--journal", "all", "--", "true", VIV_JOURNAL="off")[0])[0]["level"] == "all"
    p = viv("run", "--", "true", ok=False, VIV_JOURNAL="some")
    assert p.returncode == 2 or p.returncode == 125, p
    assert "VIV_JOURNAL 'some'" in p.stderr, p
    all_sealed()


def without():
    run("--", "true")
    all_sealed()
    settled()
    def refused(why):
        before = journals()
        p = viv("run", "--", "echo", "runs", VIV_POOL="0")
        assert p.stdout == "runs\n" and p.stderr.count("the cell runs without a journal") == 1 and why in p.stderr, p
        assert viv("run", "-q", "--", "echo", "runs", VIV_POOL="0").stderr == ""
        assert journals() == before
        p = viv("run", "--journal", "all", "--", "echo", "runs", ok=False, VIV_POOL="0")
        assert p.returncode == 125 and p.stdout == "" and why in p.stderr, p
        # Also of one that is kept by a keeper of its own.
        p = viv("run", "--name", "kept", "--", "echo", "runs", VIV_POOL="0")
        assert p.stdout == "runs\n" and why in p.stderr, p
    os.rename(DATA, DATA + ".real")
    os.symlink(DATA + ".real", DATA)
    refused("is a link")
    os.unlink(DATA)
    os.rename(DATA + ".real", DATA)
    os.chmod(DATA, 0o777)
    refused("others can write")
    os.chmod(DATA, 0o500)
    if os.geteuid():
        # Nothing can be made there.
        refused("cannot")
    os.chmod(DATA, 0o700)
    run("--", "true")
    all_sealed()


NOISE = "import os\nfor i in range(30000):\n f = '/tmp/' + os.urandom(100).hex()\n open(f, 'w').close(); os.unlink(f)"


def full():
    id_, p = run("--journal-max", "2M", "--", "python3", "-c", NOISE)
    assert "the cell goes on" in p.stderr, p
    all_sealed()
    holes = [r for r in records(id_) if r["kind"] == "hole"]
    assert holes and sum(h["count"] for h in holes) > 1000, holes
    assert records(id_)[-1]["kind"] == "stop"


def burst():
    for i in range(12):
        run("--", "true")
    all_sealed()
    spare = os.path.join(DATA, ".spare")
    soon(lambda: len(os.listdir(spare)) >= 4, "spare journals")
    assert all(sorted(os.listdir(os.path.join(spare, n))) == ["meta.json", "raw.00000001", "ring.kernel"] for n in ("0", "1", "2", "3"))
    settled()
    # One that cannot get to its work, since it is stopped at once, and is killed then.
    killed = 0
    for i in range(200):
        run("--", "true")
        for pid in sealers():
            os.kill(pid, signal.SIGSTOP)
        if sealers() and unsealed():
            for pid in sealers():
                os.kill(pid, signal.SIGKILL)
            soon(lambda: not sealers(), "it is killed")
            killed += 1
            if killed == 3:
                break
        else:
            for pid in sealers():
                os.kill(pid, signal.SIGCONT)
    assert killed == 3 and unsealed(), killed
    # Garbage is no line.
    with open(os.path.join(DATA, ".queue"), "ab") as f:
        f.write(b"x" * 5000 + b"\n../../x 1\n-1 -1\nabc 99999999999999999999999\n\0\0\0\n" + os.urandom(3000))
    run("--", "true")
    all_sealed()
    settled()


def sweep():
    old, _ = run("--name", "old", "--", "true")
    young, _ = run("--", "true")
    all_sealed()
    # One whose processes are all killed.
    p = subprocess.Popen([VIV, "run", "--", "sh", "-c", "echo x >/tmp/made; echo ready; sleep 1000"], stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "VIV_POOL": "0"})
    assert p.stdout.readline() == "ready\n"
    left = (journals() - {old, young}).pop()
    p.kill()
    p.wait()
    settled()
    soon(lambda: not locked(left), "its keeper is gone")
    def age(path, days):
        when = time.time() - days * 86400
        names = [os.path.join(path, n) for n in os.listdir(path)] if os.path.isdir(path) else []
        for n in [*names, path]:
            os.utime(n, (when, when))
    age(os.path.join(DATA, old), 31)
    age(os.path.join(DATA, left), 1)
    # It was done within the hour: nothing happens.
    run("--", "true")
    settled()
    assert {old, left} <= journals() and unsealed()
    age(os.path.join(DATA, ".limits"), 1)
    run("--", "true")
    soon(lambda: old not in journals(), "the old one goes")
    all_sealed()
    assert young in journals()
    rs = records(left)
    assert [r for r in rs if r["kind"] == "write" and r["path"] == "/tmp/made"] or [r for r in rs if r["kind"] == "create" and r["path"] == "/tmp/made"], rs
    # The operator's own limit; one that cannot be read removes nothing.
    for days, gone in ("x", False), ("0", False), ("20", True):
        settled()
        age(os.path.join(DATA, young), 25)
        age(os.path.join(DATA, ".limits"), 1)
        run("--", "true", VIV_JOURNAL_DAYS=days)
        settled()
        assert (young not in journals()) == gone, days
    # By size: all but a few of the newest.
    age(os.path.join(DATA, ".limits"), 1)
    new, _ = run("--", "true", VIV_JOURNAL_SPACE="64K")
    settled()
    assert 1 <= len(journals()) <= 5, journals()


def daemon():
    viv("daemon", "start")
    try:
        viv("run", "-d", "--name", "served", "--", "sleep", "1000")
        id_ = json.loads(viv("inspect", "served").stdout)
        id_ = (id_[0] if isinstance(id_, list) else id_)["id"]
        assert records(id_)[0]["level"] == "all"
        # From the pool, as soon as it has one.
        def pooled():
            before = journals()
            p = viv("run", "--", "sh", "-c", "echo x >/tmp/pooled; echo $PPID", VIV_POOL="1")
            new = journals() - before
            assert len(new) == 1 and p.stderr == "", (new, p)
            assert "/tmp/pooled" in {r.get("path") for r in records(new.copy().pop())}
            with urlopen("/metrics") as f:
                return [l for l in f.read().decode().splitlines() if "pool" in l and "given" in l and not l.startswith("#") and float(l.split()[-1]) > 0]
        soon(pooled, "a cell of the pool")
        # VIV_JOURNAL of viv is not that of vivd's pool.
        before = journals()
        viv("run", "--", "true", VIV_POOL="1", VIV_JOURNAL="off")
        assert journals() == before
        # Removed on purpose.
        viv("kill", "served")
        viv("rm", "-f", "served")
        soon(lambda: not [u for u in unsealed() if u[0] == id_], "sealed")
        def head():
            with urlopen(f"/v1/cells/{id_}/journal/head") as f:
                return f.status == 200
        soon(head, "its head is kept")
        # Its clock has seconds.
        soon(lambda: viv("journal", "prune", "--force", "--older", "1ms") and id_ not in journals(), "it is removed")
        # It looks after its start, and each minute.
        viv("daemon", "restart")
        def told():
            return [e for e in map(json.loads, viv("events", "--json", "--since", "0", "--no-follow").stdout.splitlines())
                    if e["type"].startswith("journal.") and e.get("cell") == id_]
        assert [(e["type"], e["data"]["reason"]) for e in soon(told, "its removal is reported")] == [("journal.removed", "asked")], told()
    finally:
        viv("daemon", "stop", ok=False)


def urlopen(path):
    import http.client
    import socket

    class Local(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(60)
            self.sock.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], "vivarium", "vivd.sock"))

    c = Local("vivd")
    c.request("GET", path)
    return c.getresponse()


{"levels": levels, "without": without, "full": full, "burst": burst, "sweep": sweep, "daemon": daemon}[CASE]()
