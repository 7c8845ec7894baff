"""Measures a cell beside the bare machine, bubblewrap and runsc and prints one table. Started by run.sh.

Every row is measured in rounds, each round in every system before the next, so that what else the machine does
hits all of them alike; the figures are medians. There are these kinds of rows:
  whole   the command with all that it takes to start a cell or a container for it
  inside  a program that takes the time itself, so that the start is not counted; what it works on is made in the
          same place first
  rate    the same, with requests in a second; more is better
  bytes   the same: the program prints the time for a block, shown is bytes in a second; more is better
  memory  proportional set sizes of an idle cell
  disk    images and the disks of named cells, natively and in a cell: disk.py
  net     connections to other hosts, also beside slirp4netns and pasta: network.py
  journal the same work with a journal and without one: journal.py
  load    vivd: its pool, its API, many cells and streams: ../e2e/load.py
  agents  sessions of agents: agents.py
  fleet   cells that cells make, schedules, workflows: fleet.py

The last columns compare with what was asked for (the issues that the project was built from). A figure that is missed
makes the exit status 1; a row that cannot run says why, and is missed if something was asked of it.
"""
import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import disk
import journal
import network

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import agents  # noqa: E402
import fleet  # noqa: E402
import load  # noqa: E402

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENV = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/tmp"}
SYSTEMS = ["native", "bwrap", "viv", "runsc"]
TIMEOUT = 300


class Row:
    """command: for the shell, with {b} for the programs' directory and {d} for an empty writable directory.
    setup: before it, in the same place, not timed. runs: timed runs in one round (inside), rounds: of all systems.
    limit: at most this times the reference (rate, bytes: at least); vs: the system that is the reference.
    needs: programs. prepare: a script that fetches data into {b} once, before all rounds. block: bytes in an operation.
    user: not as root in bubblewrap, which has one user only. idle: with vs="idle", the command in a cell that is the reference."""

    def __init__(self, name, title, command, kind="inside", setup="", runs=3, rounds=5, limit=None, vs="native",
                 only=None, needs="", beats_runsc=False, prepare=None, block=65536, user=False, idle=None):
        self.name, self.title, self.command, self.kind = name, title, command, kind
        self.setup, self.runs, self.rounds = setup, runs, rounds
        self.limit, self.vs, self.only, self.needs = limit, vs, only, needs
        self.beats_runsc, self.prepare, self.block, self.user = beats_runsc, prepare, block, user
        self.idle = Row(name + "-idle", title, idle, kind, setup, runs, rounds) if idle else None

    def more_is_better(self):
        return self.kind in ("rate", "bytes")


def timed(command):
    return "{b}/timer -w 1 -n {n} " + command


BASH100 = "/bin/bash -c 'for ((i = 0; i < 100; i++)); do /bin/true; done'"
GIT = ("cd {d}/t && git init -q . && git config gc.auto 0 && git add . && "
       "git -c user.name=x -c user.email=x@x commit -qm x && sleep 1 && git status >/dev/null && ")

NPM_CI = "npm ci --ignore-scripts --offline --no-audit --no-fund --cache {d}/c"

OBJECT = "/tmp/viv-bench.o"  # on the host as well; removed at the end

ROWS = [
    Row("true", "start of /bin/true", "/bin/true", kind="whole", runs=5, rounds=12, limit=1.0, vs="bwrap"),
    Row("getppid", "getppid (ratio: to notify)", "{b}/micro getppid 10000 {n}", runs=5, rounds=5, limit=1.25,
        vs="notify"),
    Row("python", "python3 -c pass", timed("/usr/bin/python3 -c pass"), runs=5, rounds=6, limit=1.5, beats_runsc=True),
    Row("gcc", "gcc -c, one file", timed("gcc -c -o {d}/one.o {b}/timer.c"), runs=5, rounds=6, limit=1.7,
        beats_runsc=True),
    Row("forkexec", "bash: 100 x /bin/true", timed(BASH100), runs=3, rounds=5, limit=2.2, beats_runsc=True),
    Row("find", "find, 20,000 files", timed("find {d}/t -type f"), setup="{b}/micro files {d}/t 200 100 0 && ", runs=4,
        rounds=3, limit=8, beats_runsc=True),
    Row("find-stat", "find -size, 20,000 files", timed("find {d}/t -size +1k"),
        setup="{b}/micro files {d}/t 200 100 0 && ", runs=4, rounds=3, limit=8, beats_runsc=True),
    Row("tar", "tar, 5,000 small files", timed("tar cf {d}/out.tar -C {d} t"),
        setup="{b}/micro files {d}/t 50 100 1000 && ", runs=4, rounds=3, limit=8, beats_runsc=True),
    Row("cpu", "CPU-bound", "{b}/compute cpu {n}", runs=3, rounds=8, limit=1.02, beats_runsc=True),
    Row("memory", "memory-bound", "{b}/compute memory {n}", runs=3, rounds=8, limit=1.02, beats_runsc=True),
    # The same with the start of the cell: what one command costs.
    Row("python-run", "python3 -c pass, with start", "/usr/bin/python3 -c pass", kind="whole", runs=3, rounds=8,
        limit=1.5, beats_runsc=True),
    Row("gcc-run", "gcc -c, with start", "gcc -c -o " + OBJECT + " {b}/timer.c", kind="whole", runs=2, rounds=8,
        limit=1.7, beats_runsc=True),
    Row("forkexec-run", "bash: 100 x true, with start", BASH100, kind="whole", runs=1, rounds=6, limit=2.2,
        beats_runsc=True),
    # Toolchains and servers.
    Row("node", "node -e 1", timed("node -e 1"), runs=5, rounds=6, limit=1.2, needs="node"),
    Row("git", "git status, 5,000 files", timed("git status"), setup="{b}/micro files {d}/t 50 100 100 && " + GIT,
        runs=5, rounds=3, limit=3, needs="git"),
    Row("npm", "npm ci, 222 packages", timed("sh -c 'rm -rf node_modules; exec " + NPM_CI + "'"),
        setup="cp -r {b}/npm/p {b}/npm/c {d} && cd {d}/p && ", runs=2, rounds=3, limit=2.5, needs="node npm",
        prepare="npm.sh {b}/npm"),
    Row("make", "make -j2, 50 C files", timed("make -s -B -j2 -C {d}/p"), setup="{b}/project.sh {d}/p 50 && ", runs=2,
        rounds=3, limit=1.8, needs="make gcc"),
    Row("redis", "redis-benchmark, SET and GET", "{b}/servers.sh redis {d} {n}", kind="rate", runs=3, rounds=3,
        limit=2, vs="runsc", needs="redis-server redis-benchmark"),
    Row("postgres", "pgbench, 4 clients", "{b}/servers.sh postgres {d} {n}", kind="rate", runs=2, rounds=2, limit=2,
        vs="runsc", needs="pgbench", user=True),
    Row("nginx", "nginx and wrk, 1 KiB", "{b}/servers.sh nginx {d} {n}", kind="rate", runs=2, rounds=3, limit=2,
        vs="runsc", needs="nginx wrk curl"),
    # Many threads or processes that wait, and few that do not.
    Row("blocked", "a call, 3,000 blocked threads", "{b}/blocked call 3000 4000 {n}", runs=5, rounds=3, limit=1.3, vs="idle",
        idle="{b}/blocked call 0 4000 {n}"),
    Row("pool", "1,000 threads, a request to each", "{b}/blocked pool 1000 2000 {n}", runs=4, rounds=3),
    Row("jvm", "Java, 1,000 threads for connections", "{b}/servers.sh jvm {d} {n}", kind="rate", runs=3, rounds=2,
        needs="java javac"),
    Row("postgres-200", "pgbench, 4 of 200 connections", "{b}/servers.sh postgres-200 {d} {n}", kind="rate", runs=2, rounds=2,
        needs="pgbench", user=True),
    # For information.
    Row("pipe", "pipe, there and back", "{b}/micro pipe 2000 {n}", runs=4, rounds=3),
    Row("unix", "unix socket, there and back", "{b}/micro unix 2000 {n}", runs=4, rounds=3),
    Row("tcp", "loopback TCP, there and back", "{b}/micro tcp 2000 {n}", runs=4, rounds=3),
    Row("pipe-bulk", "pipe, throughput", "{b}/micro pipe-bulk 4000 {n}", kind="bytes", runs=3, rounds=3),
    Row("unix-bulk", "unix socket, throughput", "{b}/micro unix-bulk 4000 {n}", kind="bytes", runs=3, rounds=3),
    Row("tcp-bulk", "loopback TCP, throughput", "{b}/micro tcp-bulk 4000 {n}", kind="bytes", runs=3, rounds=3),
    Row("stat", "stat", "{b}/micro stat 5000 {n}", runs=4, rounds=3),
    Row("open", "open, read 1 KiB, close", "{b}/micro open 3000 {n}", runs=4, rounds=3),
    Row("create", "create, write 1 KiB, unlink", "{b}/micro create 1000 {n}", runs=4, rounds=3),
    Row("fork", "fork + wait", "{b}/micro fork 200 {n}", runs=4, rounds=3),
    Row("thread", "thread create + join", "{b}/micro thread 500 {n}", runs=4, rounds=3),
    Row("signal", "signal to self, handled", "{b}/micro signal 2000 {n}", runs=4, rounds=3),
    Row("read", "read 256 MiB", "{b}/micro read 1 {n}", runs=3, rounds=2),
    Row("write", "write 256 MiB", "{b}/micro write 1 {n}", runs=3, rounds=2),
]
LOAD_ROWS = {**load.ROWS, **agents.ROWS, **fleet.ROWS}
MEMORY_ROWS = ["idle-kernel", "idle-ours"]


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, args):
        self.args = args
        self.bin = args.bin
        self.tmp = tempfile.mkdtemp(prefix="viv-bench.")
        os.chmod(self.tmp, 0o755)
        self.dead = {}  # system: why it is not measured
        if not shutil.which("bwrap"):
            self.dead["bwrap"] = "bwrap is not installed"
        self.runsc_version = ""
        if args.no_runsc:
            self.dead["runsc"] = "not asked for"
        elif not shutil.which("runsc", path=PATH + ":" + os.environ.get("PATH", "")):
            self.dead["runsc"] = "runsc is not installed"
        else:
            out = subprocess.run(["runsc", "--version"], capture_output=True, text=True).stdout.split()
            flags = subprocess.run(["runsc", "flags"], capture_output=True, text=True)
            self.runsc_version = out[2] if len(out) > 2 else "?"
            for name in "systrap", "ptrace", "kvm":
                if '(default "%s")' % name in flags.stdout + flags.stderr:
                    self.runsc_version += ", " + name

    def systems(self, row):
        return [s for s in SYSTEMS if s not in self.dead and (not row.only or s in row.only)]

    def argv(self, system, shell_or_argv, exact=False, user=False):
        """exact: the very commands that the issue names, with nothing but what they need. user: see Row."""
        a = shell_or_argv
        if system == "native":
            return a
        if system == "bwrap":
            extra = [] if exact else ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", self.bin,
                                      "/tmp/b"] + (["--uid", "1000", "--gid", "1000"] if user else [])
            return ["bwrap", "--unshare-all", "--ro-bind", "/", "/"] + extra + a
        if system == "viv":
            extra = [] if exact else ["--env", "HOME=/tmp", "--mount", self.bin + ":/bench:ro"]
            return [self.args.viv, "run"] + extra + ["--"] + a
        return ["runsc", "--network=none", "do"] + a

    def places(self, system):
        """The programs' directory and an empty one, as seen there."""
        d = tempfile.mkdtemp(prefix="d.", dir=self.tmp) if system == "native" else "/tmp/vivbench"
        return self.programs(system), d

    def programs(self, system):
        return {"native": self.bin, "bwrap": "/tmp/b", "viv": "/bench", "runsc": self.bin}[system]

    def run(self, argv):
        start = time.monotonic_ns()
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV, timeout=TIMEOUT)
        took = time.monotonic_ns() - start
        if p.returncode:
            tail = (p.stderr or p.stdout).strip().splitlines()
            raise RuntimeError("exit %d: %s" % (p.returncode, tail[-1][:200] if tail else ""))
        return took, p.stdout

    def sample(self, row, system):
        runs = 1 if self.args.quick else row.runs
        if row.kind == "whole":
            argv = shlex.split(row.command.replace("{b}", self.programs(system)))
            full = self.argv(system, argv, exact="{b}" not in row.command)
            return [spawn_timed(full) for _ in range(runs)]
        b, d = self.places(system)
        text = "mkdir -p {d} && " + row.setup + row.command
        text = text.replace("{b}", b).replace("{d}", d).replace("{n}", str(max(runs, 2)))
        try:
            out = self.run(self.argv(system, ["/bin/sh", "-c", text], user=row.user))[1]
        finally:
            if system == "native":
                shutil.rmtree(d, ignore_errors=True)
        values = [float(line) for line in out.split()]
        if not values:
            raise RuntimeError("it printed no figure")
        return [row.block * 1e9 / ns for ns in values] if row.kind == "bytes" else values

    def why_not(self, row):
        """Why the row cannot run here, or None. Fetches what it needs."""
        for program in row.needs.split():
            if not shutil.which(program, path=PATH):
                return program + " is not installed (make deps-bench)"
        if row.prepare:
            script, *args = row.prepare.replace("{b}", self.bin).split()
            p = subprocess.run([os.path.join(self.bin, script)] + args, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True)
            if p.returncode:
                tail = (p.stderr or p.stdout).strip().splitlines()
                return tail[-1][:200] if tail else "%s failed" % script
        return None

    def measure(self, row):
        samples, errors = {}, {}
        rounds = 2 if self.args.quick else row.rounds
        for _ in range(rounds):
            for system in self.systems(row):
                if system in errors:
                    continue
                try:
                    samples.setdefault(system, []).extend(self.sample(row, system))
                except (RuntimeError, subprocess.TimeoutExpired, ValueError) as e:
                    errors[system] = str(e)
            if row.vs == "notify":
                out = self.run([self.bin + "/notify", "10000", "3"])[1]
                samples.setdefault("notify", []).extend(float(x) for x in out.split())
            if row.idle:
                samples.setdefault("idle", []).extend(self.sample(row.idle, "viv"))
        return samples, errors

    # ---- memory ----

    def memory(self):
        """An idle cell with a shell. viv and viv-kernel are copied first: no other cell shares their pages."""
        own = tempfile.mkdtemp(prefix="m.", dir=self.tmp)
        os.chmod(own, 0o755)
        here = os.path.dirname(os.path.realpath(self.args.viv))
        for name in "viv", "viv-kernel":
            shutil.copy2(os.path.join(here, name), own)
        p = subprocess.Popen([own + "/viv", "run", "--", "/bin/bash", "-c", "echo ready; read x; exit 0"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV, text=True)
        try:
            p.stdout.readline()
            time.sleep(0.3)
            kernel = children(p.pid)[0]
            runner = children(kernel)[0]
            out = {"viv": pss(p.pid), "kernel": pss(kernel), "runner": pss(runner), "stub": pss_stub(runner)}
        finally:
            p.stdin.close()
            p.wait()
        return out

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)
        if os.path.exists(OBJECT):
            os.unlink(OBJECT)


def spawn_timed(argv):
    null = os.open(os.devnull, os.O_RDWR)
    start = time.monotonic_ns()
    pid = os.posix_spawnp(argv[0], argv, ENV, file_actions=[(os.POSIX_SPAWN_DUP2, null, 0),
                                                            (os.POSIX_SPAWN_DUP2, null, 1)])
    _, status = os.waitpid(pid, 0)
    took = time.monotonic_ns() - start
    os.close(null)
    if status:
        raise RuntimeError("%s: status %#x" % (argv[0], status))
    return took


def children(pid):
    out = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                    out.append(int(name))
        except OSError:
            pass
    return out


def pss(pid):
    with open("/proc/%d/smaps_rollup" % pid) as f:
        for line in f:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def pss_stub(pid):
    """What the stub's own mappings take in a runner: those around its fixed address."""
    total, ours = 0, False
    with open("/proc/%d/smaps" % pid) as f:
        for line in f:
            first = line.split()[0]
            if "-" in first and ":" not in first:
                ours = 0x7EA000000000 <= int(first.split("-")[0], 16) < 0x7EA100000000
            elif ours and first == "Pss:":
                total += int(line.split()[1]) * 1024
    return total


# ---- the table ----

def show_time(ns):
    if ns is None:
        return "-"
    for unit, size in ("s", 1e9), ("ms", 1e6), ("µs", 1e3):
        if ns >= size:
            v = ns / size
            return "%.3g %s" % (v, unit) if v < 100 else "%.0f %s" % (v, unit)
    return "%.0f ns" % ns


def show_rate(value, what="B/s"):
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1):
        if value >= size:
            break
    return "%.3g %s%s" % (value / size, unit, what)


def show(row, value):
    if value is None or row.kind not in ("rate", "bytes"):
        return show_time(value)
    return show_rate(value, "B/s" if row.kind == "bytes" else "/s")


def show_size(n):
    return "%.2f MiB" % (n / 1048576) if n >= 1 << 20 else "%.0f KiB" % (n / 1024)


def judge(row, med, best, runsc_alive):
    """Ratio to what the row is compared with, the text of what was asked, and whether it is met. A row that asks for
    less than 5 % is judged by the best of all runs: medians differ by more than that between two runs of one thing."""
    if row.limit and row.limit < 1.05 and row.vs == "native":
        med = best
    viv, ref = med.get("viv"), med.get(row.vs)
    ratio = viv / ref if viv and ref else None
    if not row.limit:
        return ratio, "", ""
    if row.more_is_better():
        asked = ">= %g x %s" % (row.limit, row.vs)
        if row.vs == "runsc" and not runsc_alive:
            return None, asked, "not compared"
        return ratio, asked, "ok" if ratio is not None and ratio >= row.limit else "missed"
    asked = "<= %g x %s" % (row.limit, row.vs)
    ok = ratio is not None and ratio <= row.limit
    if row.name == "true":
        asked += ", runsc >= 25 x"
        if runsc_alive and viv and med.get("runsc"):
            ok = ok and med["runsc"] >= 25 * viv
    if row.beats_runsc and viv and med.get("runsc"):
        ok = ok and viv < med["runsc"]
    return ratio, asked, "ok" if ok else "missed"


def table(lines):
    widths = [max(len(l[i]) for l in lines) for i in range(len(lines[0]))]
    for n, l in enumerate(lines):
        print("| " + " | ".join(c.ljust(w) if i in (0, 6) else c.rjust(w)
                                for i, (c, w) in enumerate(zip(l, widths))) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")


def machine():
    cpu = "?"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo") as f:
        mem = int(f.readline().split()[1]) / 1048576
    virt = " (virtual)" if "hypervisor" in open("/proc/cpuinfo").read() else ""
    return "%d x %s%s, %.0f GiB, Linux %s" % (os.cpu_count(), cpu, virt, mem, platform.release())


def measure_disk(d, rows, want, lines, notes, missed, result):
    try:
        for name, (title, measure) in rows.items():
            if name not in want:
                continue
            say("bench: " + title)
            try:
                found = measure(d)
            except (RuntimeError, subprocess.TimeoutExpired, OSError, ValueError) as e:
                notes.append("%s: not measured: %s" % (name, e))
                lines.append([title] + ["-"] * 4 + ["-", "", "not measured"])
                result["rows"][name] = {"errors": {"all": str(e)}}
                missed.append(name)
                continue
            for l in found:
                view = {"size": show_size, "bytes": lambda v: "%.1f B" % v, "time": show_time}[l.unit]
                lines.append([l.title, view(l.med["native"]) if "native" in l.med else "", "", view(l.med["viv"]), "",
                              "%.2f" % l.ratio if l.ratio else "", l.asked, l.verdict])
                if l.vs not in (None, "native"):
                    lines.append(["  " + l.vs, view(l.med[l.vs])] + [""] * 6)
                if l.verdict == "missed" and name not in missed:
                    missed.append(name)
            result["rows"][name] = {"lines": [{"title": l.title, "median": l.med, "ratio": l.ratio, "asked": l.asked,
                                               "verdict": l.verdict, "samples": l.samples} for l in found]}
    finally:
        d.close()


def measure_network(args, want, lines, notes, missed, result):
    n = network.Network(args, PATH, ENV)
    try:
        notes += ["network: without " + p for p in ("slirp4netns", "pasta") if p not in n.peers]
        for name, (title, measure) in network.ROWS.items():
            if name not in want:
                continue
            say("bench: " + title)
            try:
                found = measure(n)
            except (RuntimeError, subprocess.TimeoutExpired, OSError, ValueError) as e:
                notes.append("%s: not measured: %s" % (name, e))
                lines.append([title] + ["-"] * 4 + ["-", "", "not measured"])
                result["rows"][name] = {"errors": {"all": str(e)}}
                missed.append(name)
                continue
            for l in found:
                view = {"bytes": show_rate, "rate": lambda v: show_rate(v, "/s"), "size": show_size, "time": show_time}[l.view]
                lines.append([l.title, view(l.med["native"]) if "native" in l.med else "", "", view(l.med["viv"]), "",
                              "%.2f" % l.ratio if l.ratio else "", l.asked, l.verdict])
                lines += [["  " + p, view(l.med[p])] + [""] * 6 for p in n.peers if p in l.med]
                if l.verdict == "missed" and name not in missed:
                    missed.append(name)
            result["rows"][name] = {"lines": [{"title": l.title, "median": l.med, "ratio": l.ratio, "asked": l.asked,
                                               "verdict": l.verdict, "samples": l.samples} for l in found]}
    finally:
        n.close()


def measure_load(args, rows, want, lines, notes, missed, result):
    for name, (title, measure) in rows.items():
        if name not in want:
            continue
        say("bench: " + title)
        d = load.Load(args.bin, args.viv, ENV)
        try:
            found = measure(d)
        except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as e:
            notes.append("%s: not measured: %s" % (name, e))
            lines.append([title] + ["-"] * 4 + ["-", "", "not measured"])
            result["rows"][name] = {"errors": {"all": str(e)}}
            missed.append(name)
            continue
        finally:
            d.close()
        for l in found:
            lines.append([l.title, l.native, l.bwrap, l.viv, "", "%.2f" % l.ratio if l.ratio else "", l.asked, l.verdict])
        if any(l.verdict == "missed" for l in found):
            missed.append(name)
        result["rows"][name] = {"lines": [vars(l) for l in found], "load": os.getloadavg()}


def main():
    ap = argparse.ArgumentParser(prog="run.sh BUILD_DIR VIV")
    ap.add_argument("bin")
    ap.add_argument("viv")
    ap.add_argument("--quick", action="store_true", help="two rounds, one or two runs each")
    ap.add_argument("--only", action="append", metavar="ROW")
    ap.add_argument("--no-runsc", action="store_true")
    ap.add_argument("--json", metavar="FILE")
    ap.add_argument("--list", action="store_true", help="names of the rows")
    args = ap.parse_args()
    names = [r.name for r in ROWS] + MEMORY_ROWS + list(disk.ROWS) + list(journal.ROWS) + list(network.ROWS) + list(LOAD_ROWS)
    if args.list:
        print("\n".join(names))
        return 0
    for o in args.only or []:
        if o not in names:
            ap.error("no row '%s'; --list names them" % o)
    want = args.only or names
    # What gcc compiles and what the rows run, where every system sees it.
    for name in "timer.c", "project.sh", "servers.sh", "npm.sh":
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), args.bin)

    b = Bench(args)
    lines = [["", "native", "bubblewrap", "vivarium", "runsc", "ratio", "asked", ""]]
    result = {"machine": machine(), "rows": {}}
    notes, missed = [], []
    try:
        if "runsc" not in b.dead:
            try:
                b.run(b.argv("runsc", ["true"]))
                result["runsc"] = b.runsc_version
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                b.dead["runsc"] = "cannot run here (%s)" % e
        for row in ROWS:
            if row.name not in want:
                continue
            say("bench: " + row.title)
            why = b.why_not(row)
            if why:
                notes.append("%s: not measured: %s" % (row.name, why))
                lines.append([row.title] + ["-"] * 4 + ["-", "", "not measured"])
                result["rows"][row.name] = {"errors": {"all": why}}
                if row.limit:
                    missed.append(row.name)
                continue
            samples, errors = b.measure(row)
            med = {s: statistics.median(v) for s, v in samples.items()}
            best = {s: (max if row.more_is_better() else min)(v) for s, v in samples.items()}
            ratio, asked, verdict = judge(row, med, best, "runsc" not in b.dead)
            notes += ["%s, %s: %s" % (row.name, s, e) for s, e in errors.items()]
            lines.append([row.title] + [show(row, med.get(s)) for s in SYSTEMS] +
                         ["%.2f" % ratio if ratio else "-", asked, verdict])
            if row.vs == "notify":
                lines.append(["  bare notify round trip", show_time(med.get("notify")), "", "", "", "", "", ""])
            if verdict == "missed":
                missed.append(row.name)
            result["rows"][row.name] = {"median": med, "best": best, "ratio": ratio, "asked": asked, "verdict": verdict,
                                        "errors": errors, "samples": samples}
        if set(want) & set(MEMORY_ROWS):
            say("bench: an idle cell")
            m = b.memory()
            ours = m["kernel"] + m["stub"]
            for title, name, value, limit in (
                    ("idle cell: viv-kernel, PSS", "idle-kernel", m["kernel"], 1.5),
                    ("  kernel + stub in the runner", "idle-ours", ours, None),
                    ("  and viv itself", "idle-ours", ours + m["viv"], 2.0)):
                verdict = "" if limit is None else "ok" if value <= limit * 1048576 else "missed"
                lines.append([title, "", "", show_size(value), "", "", "<= %g MiB" % limit if limit else "", verdict])
                if verdict == "missed":
                    missed.append(name)
            result["memory"] = m
        if set(want) & set(disk.ROWS):
            measure_disk(disk.Disk(args, PATH, ENV), disk.ROWS, want, lines, notes, missed, result)
        if set(want) & set(journal.ROWS):
            why = b.why_not(next(r for r in ROWS if r.name == "npm"))
            if why:
                notes.append("journal: without npm ci: " + why)
                journal.WORK.pop("npm ci")
            measure_disk(journal.Journal(args, PATH, ENV), journal.ROWS, want, lines, notes, missed, result)
        if set(want) & set(network.ROWS):
            measure_network(args, want, lines, notes, missed, result)
        if set(want) & set(LOAD_ROWS):
            measure_load(args, LOAD_ROWS, want, lines, notes, missed, result)
            notes.append("load of the machine at the end: %.1f" % os.getloadavg()[0])
    finally:
        b.close()

    print(result["machine"] + time.strftime(", %Y-%m-%d"))
    bw = subprocess.run(["bwrap", "--version"], capture_output=True, text=True).stdout.split() if "bwrap" not in b.dead \
        else ["-"]
    print("bubblewrap %s; runsc %s; medians\n" % (bw[-1], b.dead.get("runsc") or b.runsc_version))
    table(lines)
    print()
    for n in notes:
        print("note: " + n)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(result, f, indent=1)
    if missed:
        print("missed: " + " ".join(missed))
    return 1 if missed else 0


sys.exit(main())
