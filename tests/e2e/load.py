"""vivd under load: what the rows vivd-* of bench.py measure, with a vivd of their own; and by itself a short check for the tests:

  load.py PROGRAMS VIV DIRECTORY [--cells N] [--cycles N] [--streams N]

starts so many cells, goes through so many cycles of create, exec and remove, reads so many streams at once, and fails if something is lost or
grows. DIRECTORY must be empty.
"""
import argparse
import concurrent.futures
import fcntl
import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
OUTPUT = 1 << 30
TICK = os.sysconf("SC_CLK_TCK")
SLEEPER = ["/bin/sh", "-c", "sleep 100000 & wait"]


class Line:
    """viv, bwrap, native: texts for the columns; samples: what they come from."""

    def __init__(self, title, viv, ok=None, asked="", bwrap="", ratio=None, samples=None, native=""):
        self.title, self.viv, self.asked, self.bwrap, self.native, self.ratio = title, viv, asked, bwrap, native, ratio
        self.verdict = "" if ok is None else "ok" if ok else "missed"
        self.samples = samples


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("vivd", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(self.path)


def ms(seconds):
    return "%.2f ms" % (seconds * 1e3)


def gbs(rate):
    return "%.2f GB/s" % (rate / 1e9)


def mib(n):
    return "%.1f MiB" % (n / 1048576)


def percentile(values, p):
    values = sorted(values)
    return values[min(int(len(values) * p), len(values) - 1)]


def processes():
    """pid: (parent, name)."""
    out = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    text = f.read()
                out[int(name)] = (int(text.rsplit(")", 1)[1].split()[1]), text[text.index("(") + 1:text.rindex(")")])
            except OSError:
                pass
    return out


def available():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))


def pss(pid):
    try:
        with open("/proc/%d/smaps_rollup" % pid) as f:
            for line in f:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Load:
    def __init__(self, bin, viv, env, top=None):
        self.bin, self.viv = bin, viv
        self.top = top or tempfile.mkdtemp(prefix="viv-load.")
        self.own_top = top is None
        self.env = dict(env)
        for name, where in ("XDG_DATA_HOME", "data"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"):
            self.env[name] = os.path.join(self.top, where)
            os.makedirs(self.env[name], exist_ok=True)
        if self.own_top and os.access("/dev/shm", os.W_OK):  # in memory, as it is on most machines
            self.env["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="viv-load.", dir="/dev/shm")
        self.run = self.env["XDG_RUNTIME_DIR"] + "/vivarium"
        self.socket = self.run + "/vivd.sock"
        subprocess.run([viv, "daemon", "start"], env=self.env, check=True)
        self.pid = self.ask("GET", "/v1/version")["pid"]

    def close(self):
        for c in self.ask("GET", "/v1/cells")["cells"]:
            self.ask("DELETE", "/v1/cells/%s?force=1" % c["id"])
        subprocess.run([self.viv, "daemon", "stop"], env=self.env, check=True)
        if self.own_top:
            shutil.rmtree(self.top, ignore_errors=True)
            shutil.rmtree(self.env["XDG_RUNTIME_DIR"], ignore_errors=True)

    def ask(self, method, path, body=None, connection=None):
        c = connection or Connection(self.socket)
        c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        r = c.getresponse()
        text = r.read()
        if r.status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, path, r.status, text[:200]))
        if connection is None:
            c.close()
        return json.loads(text) if text.startswith(b"{") and text.count(b"\n") < 2 else text

    def metric(self, name):
        for line in self.ask("GET", "/metrics").decode().splitlines():
            if line.startswith("vivarium_%s " % name):
                return float(line.split()[1])
        return 0

    def warm(self):
        """Waits for a cell in the pool, asking for some first."""
        for _ in range(3):
            self.spawn()
        end = time.monotonic() + 120
        while not self.metric("pool_cells"):
            if time.monotonic() > end:
                raise RuntimeError("no cell waits in the pool")
            time.sleep(0.02)

    def spawn(self, argv=None):
        """Seconds for one command, by default viv run -- /bin/true."""
        argv = argv or [self.viv, "run", "--", "/bin/true"]
        null = os.open(os.devnull, os.O_RDWR)
        start = time.monotonic()
        pid = os.posix_spawnp(argv[0], argv, self.env, file_actions=[(os.POSIX_SPAWN_DUP2, null, n) for n in range(3)])
        status = os.waitpid(pid, 0)[1]
        took = time.monotonic() - start
        os.close(null)
        if status:
            raise RuntimeError("%s: status %#x" % (argv[0], status))
        return took

    # ---- what it holds ----

    def rss(self):
        with open("/proc/%d/statm" % self.pid) as f:
            return int(f.read().split()[1]) * PAGE

    def cpu(self):
        """Seconds that vivd has used."""
        with open("/proc/%d/stat" % self.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def held(self):
        """What must not grow."""
        files = sum(len(f) for _, _, f in os.walk(self.run))
        state = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(self.env["XDG_STATE_HOME"]) for f in fs)
        return {"RSS": self.rss(), "descriptors": len(os.listdir("/proc/%d/fd" % self.pid)), "files": files,
                "state": state}

    def descendants(self):
        all_of, found = processes(), {self.pid}
        while True:
            more = {p for p, (parent, _) in all_of.items() if parent in found} - found
            if not more:
                return {p: all_of[p][1] for p in found if p in all_of}
            found |= more

    # ---- rows ----

    def row_run(self):
        bwrap, viv = [], []
        self.warm()
        for _ in range(120):
            bwrap.append(self.spawn(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"]))
            viv.append(self.spawn())
        p50, p99, other = statistics.median(viv), percentile(viv, 0.99), statistics.median(bwrap)
        taken = self.metric("pool_given_total") / (self.metric("pool_given_total") + self.metric("pool_missed_total"))
        return [Line("viv run /bin/true, pool, p50", ms(p50), p50 <= other, "<= 1 x bwrap", ms(other), p50 / other, viv),
                Line("  p99", ms(p99), p99 <= 3 * p50, "<= 3 x p50", ms(percentile(bwrap, 0.99)), p99 / p50),
                Line("  from the pool", "%.0f %%" % (100 * taken))]

    def cycle(self, n, clients):
        out = subprocess.run([self.bin + "/cycle", self.socket, str(n), str(clients)], capture_output=True, text=True,
                             check=True).stdout.split()
        return [int(x) / 1e9 for x in out[:-2]], float(out[-1])

    def row_cycle(self):
        self.cycle(20, 1)
        took, _ = self.cycle(300, 1)
        _, rate = self.cycle(600, 4)
        p50 = statistics.median(took)
        return [Line("API: create, exec, exit, p50", ms(p50), p50 <= 0.005, "<= 5 ms", samples=took),
                Line("  p99", ms(percentile(took, 0.99))),
                Line("  cycles with removal, 4 clients", "%.0f /s" % rate, rate >= 200, ">= 200 /s")]

    def cells_start(self, n):
        """Seconds that each start took."""
        c, took = Connection(self.socket), []
        for _ in range(n):
            start = time.monotonic()
            self.ask("POST", "/v1/cells", {"start": True, "command": SLEEPER}, c)
            took.append(time.monotonic() - start)
        c.close()
        return took

    def cells_remove(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda c: self.ask("DELETE", "/v1/cells/%s?force=1" % c["id"]),
                          self.ask("GET", "/v1/cells")["cells"]))

    def idle_cpu(self, seconds):
        before, start = self.cpu(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu() - before) / (time.monotonic() - start)

    def row_memory(self):
        self.cells_start(100)
        out = [Line("vivd, 100 cells, RSS", mib(self.rss()), self.rss() <= 20 << 20, "<= 20 MiB")]
        self.cells_remove()
        return out

    def row_cells(self, n=1000):
        free = available()
        first = self.cells_start(50)
        took = self.cells_start(n - 100)
        last = self.cells_start(50)
        time.sleep(3)
        free -= available()
        kinds = {}
        for pid, name in self.descendants().items():
            kinds.setdefault(name, []).append(pss(pid))
        total = sum(sum(v) for v in kinds.values())
        idle = self.idle_cpu(20)
        ratio = statistics.median(last) / statistics.median(first)
        out = [Line("%d idle cells, PSS of all" % n, "%.2f GiB" % (total / 2**30), total <= 4 << 30, "<= 4 GiB",
                    samples={k: sum(v) for k, v in kinds.items()})]
        out += [Line("  %s (%d), each" % (k, len(v)), mib(sum(v) / len(v))) for k, v in sorted(kinds.items())]
        out += [Line("  less memory available", "%.2f GiB" % (free / 2**30)),
                Line("  a start, the last to the first", "%s, %s" % (ms(statistics.median(last)),
                                                                     ms(statistics.median(first))),
                     ratio <= 1.3, "<= 1.3 x", ratio=ratio, samples=took),
                Line("  vivd meanwhile, CPU", "%.2f %%" % (100 * idle), idle < 0.01, "< 1 %"),
                Line("  vivd, RSS", mib(self.rss()))]
        start = time.monotonic()
        self.cells_remove()
        out.append(Line("  removing them, each", ms((time.monotonic() - start) / n)))
        return out

    def row_wake(self, n=200):
        """A request to a sleeping cell, until its answer; beside one to the same cell when it is awake."""
        c, woken, awake = Connection(self.socket), [], []
        self.ask("POST", "/v1/cells", {"name": "wake", "start": True}, c)
        for _ in range(n):
            self.ask("POST", "/v1/cells/wake/sleep", {}, c)
            for took in woken, awake:
                start = time.monotonic()
                self.ask("POST", "/v1/cells/wake/exec", {"command": ["/bin/true"]}, c)
                took.append(time.monotonic() - start)
        c.close()
        p50 = statistics.median(woken)
        return [Line("wake of a sleeping cell and exec, p50", ms(p50), p50 <= 0.012, "<= 12 ms", samples=woken),
                Line("  p99", ms(percentile(woken, 0.99))),
                Line("  exec in the same cell, awake, p50", ms(statistics.median(awake)))]

    def row_sleeping(self, n=2000):
        """Cells that sleep beside ten that run."""
        before, processes_before = self.rss(), len(self.descendants())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda k: self.ask("POST", "/v1/cells", {"name": "s%d" % k}), range(n)))
            list(pool.map(lambda k: self.ask("POST", "/v1/cells/s%d/sleep" % k, {}), range(n)))
        grown = self.rss() - before
        running = len(self.descendants()) - processes_before
        for k in range(10):
            self.ask("POST", "/v1/cells", {"name": "up%d" % k, "start": True})
        idle = self.idle_cpu(10)
        out = [Line("%d sleeping cells: vivd, RSS for each" % n, "%.1f KiB" % (grown / n / 1024)),
               Line("  processes", "%d" % running, running <= 0, "0"),
               Line("  vivd with 10 awake, CPU", "%.2f %%" % (100 * idle), idle < 0.01, "< 1 %")]
        subprocess.run([self.viv, "daemon", "stop"], env=self.env, check=True)
        start = time.monotonic()
        subprocess.run([self.viv, "daemon", "start"], env=self.env, check=True)
        self.pid = self.ask("GET", "/v1/version")["pid"]
        return out + [Line("  start of vivd with them", ms(time.monotonic() - start)), Line("  its RSS", mib(self.rss()))]

    def grown(self, n):
        """What grew in n cycles, after as many as fill what is bounded: {what: (before, after)}."""
        before = self.held()
        self.cycle(n, 2)
        after = self.settled(before)
        return before, after

    def settled(self, before):
        """What is held when all that was asked for has gone, or after a while."""
        end = time.monotonic() + 120
        while True:
            now = self.held()
            if (now["descriptors"] <= before["descriptors"] and now["files"] <= before["files"]) or time.monotonic() > end:
                return now
            time.sleep(0.2)

    def row_growth(self, n=10000, first=2000):
        self.cycle(first, 2)
        before, after = self.grown(n - first)
        out = []
        for what, slack in ("RSS", 1 << 20), ("descriptors", 20), ("files", 10), ("state", 1 << 20):
            view = (lambda v: "%d" % v) if what in ("descriptors", "files") else mib
            out.append(Line("%d cycles: %s" % (n, what), "%s, %s" % (view(before[what]), view(after[what])),
                            after[what] <= before[what] + slack, "no growth"))
        return out

    def streams(self, n):
        """n processes at once, each of which writes 200 lines; whether all came. Seconds."""
        cell = self.ask("POST", "/v1/cells", {"start": True})["id"]
        command = ["/bin/sh", "-c", "read x; i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo line $i; done"]
        gate, wrong = threading.Barrier(n + 1), []

        def one(number):
            c = Connection(self.socket)
            try:
                c.request("POST", "/v1/cells/%s/exec" % cell, json.dumps({"command": command, "stdin_open": True}),
                          {"Content-Type": "application/json"})
                r = c.getresponse()
                started = json.loads(r.readline())
                gate.wait(120)
                self.ask("POST", "/v1/cells/%s/processes/%d/input" % (cell, started["proc"]), {"text": "go\n"})
                lines = [json.loads(x) for x in r.read().splitlines()]
                text = "".join(x.get("text", "") for x in lines)
                if text != "".join("line %d\n" % i for i in range(1, 201)) or lines[-1].get("exit_code") != 0:
                    wrong.append((number, text[-40:], lines[-1:]))
            except Exception as e:  # whatever it is, the stream is lost
                wrong.append((number, repr(e)))
                gate.abort()
            c.close()

        threading.stack_size(256 * 1024)
        threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
        for t in threads:
            t.start()
        start = time.monotonic()
        try:
            gate.wait(120)
            start = time.monotonic()
        except threading.BrokenBarrierError:
            pass
        for t in threads:
            t.join()
        took = time.monotonic() - start
        self.ask("DELETE", "/v1/cells/%s?force=1" % cell)
        if wrong:
            raise RuntimeError("%d of %d streams: %s" % (len(wrong), n, wrong[:2]))
        return took

    def row_streams(self, n=500):
        took = self.streams(n)
        return [Line("%d exec streams at once" % n, "%.2f s" % took, True, "all whole")]

    def drained(self, argv):
        """Bytes a second that it writes to a pipe."""
        start, n = time.monotonic(), 0
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.env) as p:
            fcntl.fcntl(p.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
            while part := len(os.read(p.stdout.fileno(), 1 << 20)):
                n += part
        if p.returncode or n < OUTPUT:
            raise RuntimeError("%s: %d, %d bytes" % (argv[0], p.returncode, n))
        return n / (time.monotonic() - start)

    def row_output(self, rounds=5):
        """The native one writes the same to the same pipe. Of HTTP the bytes with their frames are counted."""
        writer = ["dd", "if=/dev/zero", "bs=256k", "count=%d" % (OUTPUT >> 18), "status=none"]
        cell = self.ask("POST", "/v1/cells", {"start": True, "command": SLEEPER})["id"]
        curl = ["curl", "-sSN", "--unix-socket", self.socket, "-H", "Accept: application/vnd.vivarium.frames", "--json",
                json.dumps({"command": writer}), "http://vivd/v1/cells/%s/exec" % cell]
        kinds = {"native": writer, "cli": [self.viv, "exec", cell, "--", *writer], "http": curl}
        rates = {k: [] for k in kinds}
        for _ in range(rounds):
            for k, argv in kinds.items():
                rates[k].append(self.drained(argv))
        native, cli, http = (statistics.median(rates[k]) for k in ("native", "cli", "http"))
        self.ask("DELETE", "/v1/cells/%s?force=1" % cell)
        return [Line("viv exec, output to a pipe", gbs(cli), cli >= 1e9, ">= 1 GB/s", native=gbs(native), samples=rates["cli"]),
                Line("  over HTTP", gbs(http), http >= 3e8, ">= 0.3 GB/s", samples=rates["http"])]


ROWS = {
    "vivd-run": ("viv run through the pool", Load.row_run),
    "vivd-cycle": ("cycles through the API", Load.row_cycle),
    "vivd-wake": ("wake and exec", Load.row_wake),
    "vivd-sleeping": ("2,000 sleeping cells", Load.row_sleeping),
    "vivd-memory": ("vivd with 100 cells", Load.row_memory),
    "vivd-streams": ("exec streams", Load.row_streams),
    "vivd-output": ("output of exec", Load.row_output),
    "vivd-growth": ("10,000 cycles", Load.row_growth),
    "vivd-cells": ("1,000 idle cells", Load.row_cells),
}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("bin")
    ap.add_argument("viv")
    ap.add_argument("top")
    ap.add_argument("--cells", type=int, default=30)
    ap.add_argument("--cycles", type=int, default=300)
    ap.add_argument("--streams", type=int, default=50)
    args = ap.parse_args()
    load, problems = Load(args.bin, args.viv, os.environ, args.top), []
    try:
        load.cells_start(args.cells)
        running = [c for c in load.ask("GET", "/v1/cells")["cells"] if c["state"] == "running"]
        if len(running) != args.cells:
            problems.append("%d of %d cells run" % (len(running), args.cells))
        load.cells_remove()
        load.streams(args.streams)
        load.cycle(args.cycles // 3, 2)
        before, after = load.grown(args.cycles - args.cycles // 3)
        print("before %s\nafter  %s" % (before, after))
        # Of memory and the database some growth is to be expected before they are full: bounded per cycle.
        for what, slack in ("descriptors", 20), ("files", 10), ("RSS", 4 << 20), ("state", 8 << 20):
            if after[what] > before[what] + slack:
                problems.append("%s grew from %d to %d" % (what, before[what], after[what]))
    finally:
        load.close()
    for p in problems:
        print("problem: " + p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
