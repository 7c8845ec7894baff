#!/usr/bin/env python3
"""Changing cells while they run: update.py VIV DIRECTORY CASE.

The first process of a cell does what it is told through a FIFO, so that it is one that was there before the change that is asked."""

import glob
import json
import os
import sqlite3

from vivdclient import run_case, soon

TOOL = r"""
import os, sys, time
kids = []
def fork_one():
    p = os.fork()
    if not p:
        time.sleep(1000)
    kids.append(p)
def forks(most=60):
    # How many children it can have; then it has none.
    n = 0
    try:
        while n < most:
            fork_one()
            n += 1
    except OSError as e:
        assert e.errno == 11, e
    while kids:
        os.kill(kids[-1], 9)
        os.waitpid(kids.pop(), 0)
    return n
def alloc(mib, seconds=0.25):
    # How a child ended that used so much for so long. Where there is no cgroup, somebody has to look at it.
    p = os.fork()
    if not p:
        x = bytearray(mib << 20)
        time.sleep(seconds)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(p, 0)[1])
held = []
def hold(mib):
    held[:] = [bytearray(mib << 20)] if mib else []
    return mib
def share(seconds=0.5):
    # Processor time of what would use all of one, for each second.
    end = time.monotonic() + seconds
    used = time.process_time()
    while time.monotonic() < end:
        pass
    return (time.process_time() - used) / seconds
def write(path, mib):
    try:
        with open(path, 'wb') as f:
            for i in range(mib):
                f.write(bytes(1 << 20))
                f.flush()
    except OSError as e:
        return e.errno
    return 0
if len(sys.argv) > 1:
    print(repr(eval(sys.argv[1])))
    sys.exit()
for name in ('/tmp/in', '/tmp/out'):
    os.path.exists(name) or os.mkfifo(name)
while True:
    with open('/tmp/in') as f:
        line = f.readline()
    answer = repr(eval(line))
    with open('/tmp/out', 'w') as f:
        f.write(answer)
"""


class Tool:
    def __init__(self, v, **spec):
        self.v, self.ready = v, False
        self.id = v.call("POST", "/v1/cells", {"start": True, "command": ["python3", "-uc", TOOL], **spec}, 201)["id"]
        self.at = f"/v1/cells/{self.id}"

    def ask(self, what):
        """By the first process. Who asks is one more process in the cell."""
        if not self.ready:
            soon(lambda: self.v.exec(self.id, "sh", "-c", "test -p /tmp/out && echo yes", want=None), "its first process")
            self.ready = True
        return eval(self.v.exec(self.id, "sh", "-c", 'echo "$1" >/tmp/in; exec cat /tmp/out', "sh", what))

    def once(self, what, **more):
        """By a process of its own."""
        return eval(self.v.exec(self.id, "python3", "-c", TOOL, what, **more))

    def patch(self, body, want=200):
        return self.v.call("PATCH", self.at, body, want)

    def limits(self, want=200, **limits):
        return self.patch({"limits": limits}, want)

    def stats(self):
        return self.v.call("GET", f"{self.at}/stats", want=200)


def processes(v):
    t = Tool(v)
    pid = v.call("GET", t.at)["pid"]
    assert t.ask("forks(60)") == 60
    t.limits(pids=12)
    assert t.ask("forks(60)") == 10, "of a process that was there before"
    n = t.once("forks(60)")
    assert n == 10, n
    assert t.stats()["tasks_limit"] == 12 and v.exec(t.id, "cat", "/sys/fs/cgroup/pids.max") == "12\n"
    # Fewer than there are: they stay, and there are no more.
    t.ask("[fork_one() for i in range(8)]")
    t.limits(pids=3)
    soon(lambda: t.stats()["tasks"] >= 9, "their number")
    assert t.ask("forks(60)") == 0
    t.limits(pids=40)
    assert t.ask("forks(60)") == 38
    assert 30 <= t.once("forks(60)", user="1000") < 40, "as a user, who is counted alone"
    t.limits(pids=None)
    assert t.ask("forks(60)") == 60 and t.stats()["tasks_limit"] == 4096
    assert t.once("forks(60)", user="1000") == 60
    assert v.call("GET", t.at)["pid"] == pid


def memory(v):
    for start in ({}, {"limits": {"memory": 80 << 20}}):
        t = Tool(v, **start)
        if not start:
            assert t.ask("alloc(150)") == 0
            t.limits(memory=80 << 20)
        assert t.ask("alloc(150, 60)") == -9
        assert t.ask("os.sysconf('SC_PHYS_PAGES') * 4096") == 80 << 20
        t.limits(memory=600 << 20)
        assert t.ask("alloc(150)") == 0
        assert t.stats()["memory_limit"] == 600 << 20
        assert t.ask("os.statvfs('/dev/shm').f_blocks * os.statvfs('/dev/shm').f_frsize") == 300 << 20
        # Less than is in use: refused, and nothing dies.
        t.ask("hold(120)")
        e = t.limits(409, memory=60 << 20, pids=7)
        assert e["code"] == "conflict" and "memory" in e["message"], e
        assert t.stats()["memory_limit"] == 600 << 20 and t.stats()["tasks_limit"] == 4096
        assert t.ask("alloc(150)") == 0
        t.ask("hold(0)")
        t.limits(memory=60 << 20)
        assert t.ask("alloc(150, 60)") == -9
        t.limits(memory=None)
        assert t.ask("alloc(150)") == 0 and t.stats()["memory_limit"] == 0


def allowed(v, t):
    """On how many processors of the host the cell's processes may run."""
    kernel = v.call("GET", t.at)["pid"]
    found = set()
    for p in open(f"/proc/{kernel}/task/{kernel}/children").read().split() + [str(kernel)]:
        for path in glob.glob(f"/proc/{p}/task/*/status"):
            try:
                text = open(path).read()
            except OSError:
                continue
            found.add(bin(int(text.split("Cpus_allowed:")[1].split()[0].replace(",", ""), 16)).count("1"))
    return found


def quota(v, t):
    """Of the cell's cgroup, as a part of a processor; None: there is none, or no limit in it."""
    kernel = v.call("GET", t.at)["pid"]
    keeper = open(f"/proc/{kernel}/stat").read().rsplit(")")[1].split()[1]
    for path in glob.glob(f"/sys/fs/cgroup/**/viv.{keeper}.*/cpu.*", recursive=True):
        words = open(path).read().split() if path.endswith(("cfs_quota_us", "cpu.max")) else ["-1"]
        if words[0] not in ("-1", "max"):
            return int(words[0]) / 100000
    return None


def processors(v):
    n = len(os.sched_getaffinity(0))
    root = os.geteuid() == 0
    for start in ({}, {"limits": {"cpus": 1}}):
        t = Tool(v, **start)
        t.limits(cpus=n)
        assert t.ask("os.cpu_count()") == n
        t.limits(cpus=0.2)
        assert t.ask("os.cpu_count()") == 1 and t.ask("len(os.sched_getaffinity(0))") == 1
        if root:  # with a cgroup: so much time
            assert t.ask("share()") < 0.5
            assert t.once("share()") < 0.5
            assert quota(v, t) == 0.2
        else:  # else: so many processors
            assert allowed(v, t) == {1}, allowed(v, t)
        t.limits(cpus=None)
        assert t.ask("os.cpu_count()") == n and t.once("os.cpu_count()") == n
        assert allowed(v, t) == {n} and quota(v, t) is None, (allowed(v, t), quota(v, t))


def disk(v):
    t = Tool(v, name="d")
    assert t.ask("write('/root/a', 4)") == 0
    t.limits(disk=6 << 20, inodes=50)
    assert t.ask("write('/root/b', 8)") == 28
    assert t.ask("os.statvfs('/').f_blocks * os.statvfs('/').f_frsize") == 6 << 20
    t.limits(disk=2 << 20)  # less than is there: it stays
    assert t.ask("os.path.getsize('/root/a')") == 4 << 20
    assert t.ask("write('/root/c', 1)") == 28
    t.limits(disk=100 << 20)
    assert t.ask("write('/root/b', 8)") == 0
    assert t.stats()["disk_limit"] == 100 << 20
    # Without a name it has the room that was made at its start.
    t = Tool(v, limits={"disk": 8 << 20})
    t.limits(disk=2 << 20)
    assert t.ask("write('/root/a', 4)") == 28
    t.limits(disk=8 << 20)
    assert t.ask("write('/root/a', 4)") == 0
    e = t.limits(409, disk=1 << 30)
    assert "started with" in e["message"], e


def settings(v):
    t = Tool(v, name="s", labels={"a": "1", "b": "2"}, restart={"policy": "no"})
    c = t.patch({"labels": {"a": None, "c": "3"}, "restart": {"policy": "on-failure", "max": 2}, "stop_grace": 0,
                 "health": {"command": ["true"], "interval": 0.05}})
    assert c["labels"] == {"b": "2", "c": "3"} and c["spec"]["restart"] == {"policy": "on-failure", "max": 2}, c
    soon(lambda: v.call("GET", t.at)["health"]["status"] == "healthy", "a check that came later")
    t.patch({"health": {"command": ["false"], "retries": 1}, "restart": None})
    soon(lambda: v.call("GET", t.at)["health"]["status"] == "unhealthy", "another check")
    c = t.patch({"health": None, "labels": None, "idle_timeout": 500})
    assert "health" not in c and c["labels"] == {} and "restart" not in c["spec"], c
    assert [e for e in v.events(t.id, "cell.updated")]
    # A policy that was given later.
    t.patch({"restart": {"policy": "on-failure"}})
    v.call("POST", f"{t.at}/kill", {"signal": 9}, 200)
    soon(lambda: v.call("GET", t.at)["restarts"] == 1 and v.call("GET", t.at)["state"] == "running", "its restart")
    # One that waits for its restart, and is not to be restarted any more.
    v.exec(t.id, "sh", "-c", "true")
    # Time from the start on; one that has passed ends it.
    t.patch({"restart": None, "timeout": 1000})
    assert v.call("GET", t.at)["state"] == "running"
    t.patch({"timeout": None})
    t.patch({"timeout": 0.2})
    soon(lambda: v.call("GET", t.at)["state"] == "stopped", "its end")
    assert v.call("GET", t.at)["reason"] == "timeout"
    c = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    v.call("PATCH", f"/v1/cells/{c}", {"idle_timeout": 0.1}, 200)
    soon(lambda: v.call("GET", f"/v1/cells/{c}")["state"] == "stopped", "the end of an idle cell")
    assert v.call("GET", f"/v1/cells/{c}")["reason"] == "idle"
    # Waiting for a restart that is called off.
    c = v.call("POST", "/v1/cells", {"name": "r", "start": True, "command": ["false"], "restart": {"policy": "always"}}, 201)["id"]
    soon(lambda: v.call("GET", f"/v1/cells/{c}")["restarts"] >= 3 and "restart_at" in v.call("GET", f"/v1/cells/{c}"), "a restart that waits")
    soon(lambda: "restart_at" not in v.call("PATCH", f"/v1/cells/{c}", {"restart": None}, 200), "its end")
    soon(lambda: v.call("GET", f"/v1/cells/{c}")["state"] == "stopped", "its last end")


def refused(v):
    t = Tool(v, labels={"a": "b"})
    before = v.call("GET", t.at, want=200)["spec"], t.stats()["tasks_limit"]
    for body, want in (({"env": {"A": "b"}}, 400), ({"command": ["x"]}, 400), ({"limits": 3}, 400), ({"limits": {"cpus": 0.001}}, 400),
                       ({"limits": {"cpus": 4000, "pids": 9}}, 400), ({"limits": {"memory": 1000, "pids": 9}}, 400), ({"limits": {"what": 1}}, 400),
                       ({"limits": {"pids": 5000}, "labels": {"a": "c"}}, 409), ({"restart": {"policy": "often"}}, 400), ({"restart": {"max": 1}}, 400),
                       ({"labels": {"a": 1}}, 400), ({"labels": {"": "x"}}, 400), ([1], 400), ({"timeout": "1"}, 400), ({"name": "x"}, 400)):
        v.call("PATCH", t.at, body, want)
    assert (v.call("GET", t.at)["spec"], t.stats()["tasks_limit"]) == before
    assert t.ask("forks(60)") == 60
    v.call("PATCH", "/v1/cells/nobody", {"labels": {}}, 404)
    # It does not run: from its next start on.
    v.call("POST", "/v1/cells", {"name": "later", "command": ["sleep", "1000"], "stop_grace": 0}, 201)
    v.call("PATCH", "/v1/cells/later", {"limits": {"pids": 5000}}, 200)
    v.call("POST", "/v1/cells/later/start", want=200)
    assert v.exec("later", "cat", "/sys/fs/cgroup/pids.max") == "5000\n"
    v.call("PATCH", "/v1/cells/later", {"limits": {"pids": 4500}}, 200)
    v.call("PATCH", "/v1/cells/later", {"limits": {"pids": 5000}}, 200)
    assert v.exec("later", "cat", "/sys/fs/cgroup/pids.max") == "5000\n"
    # Paused, too.
    v.call("POST", f"{t.at}/pause", want=200)
    t.limits(pids=30)
    v.call("POST", f"{t.at}/resume", want=200)
    assert t.ask("forks(60)") == 28


def kept(v):
    t = Tool(v, name="k", stop_grace=0)
    t.patch({"limits": {"pids": 20, "memory": 400 << 20}, "labels": {"x": "y"}})
    v.replace()
    c = v.call("GET", t.at, want=200)
    assert c["state"] == "running" and c["spec"]["limits"] == {"pids": 20, "memory": 400 << 20} and c["labels"] == {"x": "y"}, c
    assert t.stats()["tasks_limit"] == 20 and t.ask("forks(60)") == 18 and t.ask("alloc(500, 60)") == -9
    t.limits(pids=25)
    v.call("POST", f"{t.at}/restart", want=200)
    t.ready = False
    assert t.ask("forks(60)") == 23 and t.ask("alloc(500, 60)") == -9
    # Killed when the keeper was told and the row was not written: what the row says counts.
    v.stop()
    db = sqlite3.connect(glob.glob(f"{v.top}/state/**/state.db", recursive=True)[0])
    spec = json.loads(db.execute("SELECT spec FROM cells WHERE id=?", (t.id,)).fetchone()[0])
    spec["limits"]["pids"] = 15
    db.execute("UPDATE cells SET spec=? WHERE id=?", (json.dumps(spec), t.id))
    db.execute("INSERT INTO changing(id,limits) VALUES(?,4)", (t.id,))
    db.commit()
    db.close()
    v.start()
    soon(lambda: t.stats()["tasks_limit"] == 15, "what the row says")
    assert t.stats()["memory_limit"] == 400 << 20 and t.ask("forks(60)") == 13
    v.replace()
    t.limits(pids=16)
    assert t.ask("forks(60)") == 14


def quick(v):
    """Commands that end at once, in cells with a cgroup that takes its time to go."""
    for _ in range(60):
        c = v.call("POST", "/v1/cells", {"start": True, "command": ["true"], "limits": {"memory": 256 << 20, "cpus": 1, "pids": 100}}, 201)
        c = v.call("GET", f"/v1/cells/{c['id']}/wait", want=200)
        assert (c["reason"], c["exit_code"]) == ("exited", 0), c


FILE = """
name: p
cells:
  a: {command: [sleep, infinity], stop_grace: 0, limits: {pids: 50, memory: 200M}, labels: {l: x}}
"""


def commands(v):
    def cli(*words, want=0):
        r = v.cli(*words)
        assert r.returncode == want, (words, r)
        return r.stdout + r.stderr

    t = Tool(v, name="c", labels={"old": "1"})
    assert cli("update", "c", "--cpus", "1", "-m", "400M", "--pids-limit", "20", "--restart", "on-failure:3", "--label", "a=b=c", "--label-rm", "old", "--timeout", "1h",
               "--stop-timeout", "0", "--idle-timeout", "10m") == "c\n"
    s = v.call("GET", t.at)["spec"]
    assert s["limits"] == {"cpus": 1.0, "memory": 400 << 20, "pids": 20} and s["restart"] == {"policy": "on-failure", "max": 3}, s
    assert s["labels"] == {"a": "b=c"} and s["timeout"] == 3600 and s["idle_timeout"] == 600 and "stop_grace" not in s, s
    assert t.ask("forks(60)") == 18
    cli("update", "--json", "c", "--memory", "0", "--pids", "-1", "--restart", "no", "--timeout", "0")
    s = v.call("GET", t.at)["spec"]
    assert s["limits"] == {"cpus": 1.0} and s["restart"] == {"policy": "no"} and "timeout" not in s, s
    for words in (["c"], ["--memory", "much", "c"], ["--pids-limit", "x", "c"], ["--memory", "10M"], ["--cpus", "x", "c"], ["--timeout", "x", "c"]):
        cli("update", *words, want=2)
    cli("update", "--pids", "3", "nobody", want=3)
    cli("update", "--pids", "5000", "c", want=5)
    # apply
    path = f"{v.top}/vivarium.yaml"

    def apply(text, *more):
        with open(path, "w") as f:
            f.write(text)
        return cli("apply", "-f", path, *more)

    apply(FILE)
    pid = v.call("GET", "/v1/cells/a")["pid"]
    other = FILE.replace("pids: 50, memory: 200M", "pids: 30, cpus: 1, disk: 1G").replace("stop_grace", "timeout: 1h, stop_grace")
    out = apply(other)
    assert "~ a" in out and "change: " in out and "needs a restart" not in out, out
    stats = v.call("GET", "/v1/cells/a/stats", want=200)
    assert (stats["tasks_limit"], stats["memory_limit"], stats["disk_limit"]) == (30, 0, 1 << 30), stats
    assert v.call("GET", "/v1/cells/a")["pid"] == pid
    assert "nothing to do" in apply(other)
    # What needs a restart is told, the rest is changed.
    out = apply(other.replace("pids: 30, cpus: 1", "pids: 5000, memory: 300M").replace("timeout: 1h", "env: {A: b}"))
    assert "needs a restart: " in out and "limits.pids" in out, out
    stats = v.call("GET", "/v1/cells/a/stats", want=200)
    assert (stats["tasks_limit"], stats["memory_limit"]) == (30, 300 << 20), stats
    assert v.call("GET", "/v1/cells/a")["pid"] == pid and "timeout" not in v.call("GET", "/v1/cells/a")["spec"]
    out = apply(other.replace("pids: 30, cpus: 1", "pids: 5000, memory: 300M").replace("timeout: 1h", "env: {A: b}"), "--restart")
    assert v.call("GET", "/v1/cells/a/stats")["tasks_limit"] == 5000 and v.call("GET", "/v1/cells/a")["pid"] != pid


if __name__ == "__main__":
    run_case(processes, memory, processors, disk, settings, refused, kept, quick, commands)
