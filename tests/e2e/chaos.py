#!/usr/bin/env python3
"""SIGKILL at random moments: chaos.py VIV DIRECTORY [--seconds N] [--seed N].

Under load vivd, keepers, kernels and commands are killed, one after the other, at moments that the seed gives. Meanwhile and afterwards:

- every named cell whose making was acknowledged is there; one whose removal was, is not
- what a process in a cell had written, fsynced and reported is in the file, whatever was killed since
- a state that vivd shows is so: a running cell has its kernel, one that does not run has no process
- the output that is kept of a process has no hole and no line twice
- events are numbered without a gap across vivd's deaths, and each cell's states follow from each other
- the database is whole
- when all cells are removed and vivd is stopped: no process, socket, file, mount or control group is left

Everything is below DIRECTORY, which must be empty."""

import http.client
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback

from vivdclient import Down, Unix, Vivd, descendants, kill9, reap, soon, subreaper

argv = sys.argv[1:]
seconds = float(argv[argv.index("--seconds") + 1]) if "--seconds" in argv else 6
seed = int(argv[argv.index("--seed") + 1]) if "--seed" in argv else int(time.time())
os.environ["VIV_POOL_SECONDS"] = "1"  # cells that wait for a use end soon after the last one was asked for
vivd = Vivd(argv[0], argv[1])
problems = []
ending = threading.Event()
guard = threading.Lock()
count = {}


def counted(what, n=1):
    with guard:
        count[what] = count.get(what, 0) + n


def problem(text):
    with guard:
        if len(problems) < 20:
            problems.append(text)


def again(fn):
    """Until it is answered: a client that finds nobody starts vivd, as 'viv' does."""
    while True:
        try:
            return fn()
        except Down:
            if not os.path.exists(vivd.socket) or not vivd.pid():
                vivd.start()
            time.sleep(0.01)


def revive():
    r = vivd.cli("daemon", "start")
    # It may have been killed in the middle of that.
    if r.returncode and "could not start" not in r.stderr and "does not answer" not in r.stderr:
        problem(f"viv daemon start: {r.returncode} {r.stderr}")


vivd.start = revive


# ---- load ----

class Named:
    """A named cell with a file of numbered lines."""

    def __init__(self, name, restart):
        self.name, self.restart = name, restart
        self.acknowledged = False  # its making
        self.removed = None  # None, "asked" or "acknowledged"
        self.written = set()
        self.next = 0

    def make(self):
        body = {"name": self.name, "restart": {"policy": self.restart}, "labels": {"kind": "chaos"}, "get": True, "start": True}
        status, out = again(lambda: vivd.ask("POST", "/v1/cells", body))
        if status in (200, 201):
            self.acknowledged = True
            if json.loads(out)["labels"] != body["labels"]:
                problem(f"{self.name} is not what was asked for: {out}")
            counted("cells made")
        elif status == 422 or (status == 409 and b"being changed" in out) or status == 503:
            self.acknowledged = status == 422  # it could not start; it is there
        elif status != 409:
            problem(f"make {self.name}: {status} {out[:200]!r}")

    def write(self):
        self.next += 1
        line = str(self.next)
        try:
            vivd.exec(self.name, "sh", "-c", f"echo {line} >>/root/f && sync /root/f")
        except Down:
            return False
        self.written.add(line)
        counted("writes")
        return True

    def check(self):
        text = vivd.exec(self.name, "cat", "/root/f") if self.written else ""
        lines = text.split("\n")
        lost = self.written - set(lines)
        if lost:
            problem(f"{self.name}: {len(lost)} acknowledged writes are lost: {sorted(lost)[:5]} of {len(self.written)}")


def writer(rnd, n):
    """Makes cells, writes in them, starts those that were killed, removes some."""
    cells = []
    while not ending.is_set():
        if len(cells) < 2:
            c = Named(f"w{n}-{len(all_named)}", rnd.choice(["no", "always"]))
            with guard:
                all_named.append(c)
            c.make()
            if c.acknowledged:
                cells.append(c)
        for c in cells:
            if not c.write():
                time.sleep(0.02)
                try:
                    status, out = vivd.ask("POST", f"/v1/cells/{c.name}/start")
                except Down:
                    continue
                if status not in (200, 409, 422, 503):
                    problem(f"start {c.name}: {status} {out[:200]!r}")
        if cells and rnd.random() < 0.1:
            c = cells.pop(rnd.randrange(len(cells)))
            c.removed = "asked"
            try:
                status, out = vivd.ask("DELETE", f"/v1/cells/{c.name}?force=1")
            except Down:
                continue
            if status in (204, 404):
                c.removed = "acknowledged"
                counted("cells removed")
            elif status not in (409, 503):
                problem(f"remove {c.name}: {status} {out[:200]!r}")


NUMBERS = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done"


def numbers_check(lines, what):
    if lines and lines != list(range(1, len(lines) + 1)):
        at = next(i for i, v in enumerate(lines) if v != i + 1)
        problem(f"{what}: line {at + 1} is {lines[at]}, after {lines[max(at - 2, 0):at]}")


def logger(rnd, n):
    """A detached process that writes numbered lines; its log is read again and again."""
    name = f"l{n}"
    c = Named(name, "no")
    with guard:
        all_named.append(c)
    while not c.acknowledged and not ending.is_set():
        c.make()
    proc = run = None
    longest = 0
    while not ending.is_set():
        try:
            if proc is None:
                vivd.ask("POST", f"/v1/cells/{name}/start")
                status, out = vivd.ask("POST", f"/v1/cells/{name}/exec", {"command": ["sh", "-c", NUMBERS], "detach": True})
                proc = json.loads(out)["proc"] if status == 201 else None
                run = json.loads(vivd.ask("GET", f"/v1/cells/{name}")[1]).get("pid")
                longest = 0
                continue
            time.sleep(rnd.random() * 0.2)
            status, out = vivd.ask("GET", f"/v1/cells/{name}/logs?proc={proc}", headers={"Accept": "text/plain"})
            now = json.loads(vivd.ask("GET", f"/v1/cells/{name}")[1])
            if now.get("pid") != run or now["state"] != "running":
                proc = None  # it was killed
                continue
            if status != 200:
                problem(f"log of {name}: {status} {out[:200]!r}")
                continue
            lines = [int(x) for x in out.split(b"\n")[:-1]]
            numbers_check(lines, f"log of {name}")
            if len(lines) < longest:
                problem(f"log of {name}: {len(lines)} lines after {longest}")
            longest = len(lines)
            counted("log lines", len(lines))
        except Down:
            time.sleep(0.02)


def follower(_rnd, _n):
    """Follows events across vivd's deaths."""
    last = 0
    while not followed.is_set():
        c = Unix(vivd.socket)
        try:
            c.request("GET", f"/v1/events?since={last}")
            r = c.getresponse()
            for line in r:
                if not line.endswith(b"\n"):
                    break
                if not line.strip():
                    continue
                e = json.loads(line)
                if e.get("seq") != last + 1:
                    problem(f"event {e} after number {last}")
                last = e.get("seq", last)
                events.append(e)
                if followed.is_set() and last >= last_event[0]:
                    return
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
        finally:
            c.close()


def states_check():
    """Each cell's states lead from one to the next; only an adoption may set one without that."""
    state = {}
    for e in events:
        cell, data = e.get("cell"), e["data"]
        if e["type"] == "cell.created":
            if cell in state:
                problem(f"made twice: {e}")
            state[cell] = "created"
        elif e["type"] == "cell.adopted":
            state[cell] = data["state"]
        elif e["type"] == "cell.state":
            if state.get(cell) != data["from"]:
                problem(f"{e} while it was {state.get(cell)}")
            state[cell] = data["state"]
        elif e["type"] == "cell.removed":
            state.pop(cell, None)
    return state


def churn(rnd, _n):
    """Cells without names, commands that end at once, and streams that nobody reads to the end."""
    while not ending.is_set():
        try:
            status, out = vivd.ask("POST", "/v1/cells", {"start": True, "command": ["sh", "-c", f"echo x; sleep {rnd.random() * 0.2:.3f}; exit 4"]})
            if status == 201:
                i = json.loads(out)["id"]
                status, out = vivd.ask("GET", f"/v1/cells/{i}/wait")
                end = json.loads(out)
                # Killed or not: what it says is one of the two.
                if status == 200 and (end.get("exit_code"), end.get("reason")) not in ((4, "exited"), (137, "lost"), (137, "failed")):
                    problem(f"an end of {end.get('exit_code')} {end.get('reason')} {end}")
                counted("ends")
            elif status not in (422, 503):
                problem(f"POST /v1/cells: {status} {out[:200]!r}")
        except Down:
            time.sleep(0.02)


def commands(rnd, n):
    """The command line, killed now and then; what it ran goes with it."""
    name = f"l{n}"
    while not ending.is_set():
        words = rnd.choice([["run", "--", "/bin/sleep", "0.1"], ["exec", name, "sleep", "0.1"], ["events", "--no-follow", "--since", "0"],
                            ["run", "--", "sh", "-c", "sleep 100 & sleep 100"]])
        p = subprocess.Popen([vivd.viv, *words], env=vivd.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if rnd.random() < 0.5 or words[-1].startswith("sleep 100"):
            time.sleep(rnd.random() * 0.15)
            p.kill()
            counted("kills of viv")
        p.wait()


def killer(rnd, _n):
    while not ending.wait(rnd.random() * 0.4):
        kind = rnd.choice(["vivd", "vivd", "vivd", "kernel", "keeper"])
        if kind == "vivd":
            if vivd.kill():
                counted("kills of vivd")
            if rnd.random() < 0.5:
                vivd.start()
            continue
        victims = [p for p, (_, _, name) in descendants().items() if name == f"viv-{kind}"]
        if victims:
            kill9(rnd.choice(victims))
            counted(f"kills of {kind}s")


def guarded(fn, rnd, n):
    try:
        fn(rnd, n)
    except Exception:  # noqa: BLE001
        problem(f"{fn.__name__}: {traceback.format_exc()[-600:]}")


# ---- what must be so afterwards ----

def settled():
    """All cells at rest: no start, stop or restart under way, and none that waits for somebody."""
    try:
        cells = vivd.cells()
        figures = vivd.ask("GET", "/metrics")[1].decode()
    except Down:
        vivd.start()
        return None
    if any(f"\nvivarium_pool_{what} 0\n" not in figures for what in ("cells", "booting", "ending")):
        return None  # nobody asks any more: they go
    busy = [c for c in cells.values() if c["state"] in ("starting", "stopping") or "restart_at" in c]
    return cells if not busy else None


def pooled():
    text = vivd.ask("GET", "/metrics")[1].decode()
    return sum(int(float(n)) for n in re.findall(r"^vivarium_pool_(?:cells|booting) (\S+)$", text, re.M))


def cells_check(cells):
    names = {c["name"]: c for c in cells.values() if "name" in c}
    for c in all_named:
        if c.acknowledged and c.removed is None and c.name not in names:
            problem(f"the cell {c.name} is lost")
        if c.removed == "acknowledged" and c.name in names:
            problem(f"the cell {c.name} was removed and is there")
    there = descendants()
    later = vivd.cells()  # a command may have ended while we looked
    kernels = {p for p, (parent, _, name) in there.items() if name == "viv-kernel" and there.get(parent, (0, 0, ""))[2] == "viv-keeper"}
    shown = {c["pid"] for c in cells.values() if c["state"] in ("running", "paused")}
    for c in cells.values():
        still = later.get(c["id"], {})
        if c["state"] in ("running", "paused") and c["pid"] not in kernels and still.get("pid") == c["pid"]:
            problem(f"no kernel of the running cell {c}")
    # Those of the pool wait for somebody.
    if kernels - shown and len(kernels - shown) > pooled():
        problem(f"kernels {sorted(kernels - shown)} of no running cell; cells: {[(c.get('name'), c['state'], c.get('reason'), c.get('detail')) for c in cells.values()]}")
    for c in all_named:
        if c.name not in names or c.removed:
            continue
        if names[c.name]["state"] != "running":
            vivd.call("POST", f"/v1/cells/{c.name}/start", want=200)
        c.check()


def remains():
    left = [f"process {p}: {name}" for p, (_, _, name) in descendants().items()]
    left += [f"file RUN/{os.path.relpath(os.path.join(d, f), vivd.run)}" for d, _, fs in os.walk(vivd.run) for f in fs if f != "vivd.lock"]
    left += [f"temporary {f}" for f in os.listdir(f"{vivd.top}/tmp")]
    left += [f"mount {m.split()[4]}" for m in open("/proc/self/mountinfo") if vivd.top in m]
    for kind in ("cells", "disks"):
        place = f"{vivd.top}/data/vivarium/{kind}"
        left += [f"{kind}: {f}" for f in (os.listdir(place) if os.path.isdir(place) else [])]
    # A group that a killed keeper left goes with the next cell.
    for d, dirs, _ in os.walk("/sys/fs/cgroup"):
        for g in dirs:
            owner = re.match(r"viv\.(\d+)\.", g)
            if owner and int(owner[1]) in keepers_seen and not os.path.exists(f"/proc/{owner[1]}"):
                left.append(f"control group {d}/{g}")
    return left


def watcher(_rnd, _n):
    """Remembers who ran: control groups carry their numbers."""
    while not ending.wait(0.1):
        keepers_seen.update(p for p, (_, _, name) in descendants().items() if name in ("viv-keeper", "viv"))


all_named, events, keepers_seen = [], [], set()
followed, last_event = threading.Event(), [1 << 62]


def main():
    subreaper()
    print(f"# seed {seed}, {seconds:g} s")
    vivd.start()
    workers = [follower, killer, watcher, churn, logger, writer, commands, writer]
    threads = [threading.Thread(target=guarded, args=(fn, random.Random(seed * 100 + i), i % 4)) for i, fn in enumerate(workers)]
    for t in threads:
        t.start()
    time.sleep(seconds)
    ending.set()
    for t in threads[1:]:
        t.join()
    vivd.start()
    cells = soon(settled, "cells at rest", 60)
    cells_check(cells)
    vivd.remove_all()
    vivd.cli("run", "--memory", "64M", "--", "true")  # removes groups of killed keepers
    last_event[0] = vivd.call("GET", "/v1/events?since=0&follow=0")[-1]["seq"]
    followed.set()
    vivd.call("POST", "/v1/tokens", {"scope": "read"}, want=201)  # one more event, for the follower
    threads[0].join(30)
    if threads[0].is_alive():
        problem("the follower of events got no end")
    left = states_check()
    if left:
        problem(f"cells that no event says were removed: {left}")
    vivd.stop()
    reap()
    try:
        soon(lambda: not (reap() or remains()), "nothing left", 20)
    except AssertionError:
        problem(f"left behind: {remains()[:20]}")
    with sqlite3.connect(f"{vivd.top}/state/vivarium/state.db") as db:
        said = db.execute("PRAGMA integrity_check").fetchall()
    if said != [("ok",)]:
        problem(f"the database: {said[:5]}")
    print("#", ", ".join(f"{n} {what}" for what, n in sorted(count.items())), f"{len(events)} events")
    for p in problems:
        print("problem:", p)
    return 1 if problems else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    sys.exit(main())
