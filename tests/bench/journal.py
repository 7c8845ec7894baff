"""The journal's rows of the benchmark: the same work in cells with `--journal all` and with `--journal off`, taken in turn
in one run; then bytes a record on disk and the memory of a running cell.

The work is timed inside the cell, so the start is not counted, but for the row of starts. A journal is written, packed and
signed on the same processors meanwhile, and that counts."""
import json
import math
import os
import statistics
import subprocess
import tempfile
import time

from disk import Line

TIMEOUT = 600
NPM_CI = "npm ci --ignore-scripts --offline --no-audit --no-fund --cache /tmp/w/c"
GIT = "git -c user.name=x -c user.email=x@x -c gc.auto=0 "
# name: what is made first, what is timed, runs in one cell, what it needs
WORK = {
    "npm ci": ("cp -r /bench/npm/p /bench/npm/c /tmp/w && cd /tmp/w/p",
               "sh -c 'rm -rf node_modules; exec %s'" % NPM_CI, 2, "npm"),
    "make -j2": ("/bench/project.sh /tmp/w/p 50", "make -s -B -j2 -C /tmp/w/p", 2, "make"),
    "git add, commit, status": ("/bench/micro files /tmp/w/t 50 100 100 && cd /tmp/w/t",
                                "sh -c 'rm -rf .git; git init -q . && git add . && %s commit -qm x && git status'" % GIT, 3, "git"),
    "gcc -c": (":", "gcc -c -o /tmp/w/one.o /bench/timer.c", 8, "gcc"),
    "python3 -c pass": (":", "python3 -c pass", 10, "python3"),
    "tar, create and extract": ("/bench/micro files /tmp/w/t 50 100 1000 && cd /tmp/w",
                                "sh -c 'rm -rf x; mkdir x; tar cf t.tar t && tar xf t.tar -C x'", 4, "tar"),
}


class Journal:
    def __init__(self, args, path, env):
        self.bin, self.viv, self.quick = args.bin, args.viv, args.quick
        self.tmp = tempfile.mkdtemp(prefix="viv-journal.", dir=os.path.dirname(args.bin))
        self.env = dict(env, PATH=path)
        for name, where in ("XDG_DATA_HOME", "data"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"):
            self.env[name] = os.path.join(self.tmp, where)
            os.makedirs(self.env[name], mode=0o700)

    def close(self):
        subprocess.run([self.viv, "daemon", "stop"], env=self.env, capture_output=True)
        subprocess.run(["rm", "-rf", self.tmp])

    def run(self, argv, env=None):
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env or self.env, timeout=TIMEOUT)
        if p.returncode:
            tail = (p.stderr or p.stdout).strip().splitlines()
            raise RuntimeError("exit %d: %s" % (p.returncode, tail[-1][:200] if tail else ""))
        return p.stdout

    def cell(self, level, shell, *more):
        return self.run([self.viv, "run", "--journal", level, "--env", "HOME=/tmp", "--mount", self.bin + ":/bench:ro", *more,
                         "--", "/bin/sh", "-c", "mkdir -p /tmp/w && " + shell])

    def compare(self, name):
        setup, command, runs, _ = WORK[name]
        samples = {"viv": [], "off": []}
        for n in range(3 if self.quick else 8):
            for level in ("all", "off") if n % 2 else ("off", "all"):
                out = self.cell(level, "%s && /bench/timer -w 1 -n %d %s" % (setup, runs, command))
                samples["viv" if level == "all" else "off"] += [float(x) for x in out.split()]
        return Line("journal: " + name, samples, limit=1.10)

    def redis(self):
        samples = {"viv": [], "off": []}
        for n in range(2 if self.quick else 6):
            for level in ("all", "off") if n % 2 else ("off", "all"):
                out = self.cell(level, "/bench/servers.sh redis /tmp/w 3")
                samples["viv" if level == "all" else "off"] += [1e9 / float(x) for x in out.split()]
        return Line("journal: redis, a request", samples, limit=1.10)

    def start(self):
        samples = {"viv": [], "off": []}
        for n in range(10 if self.quick else 60):
            for level in ("all", "off") if n % 2 else ("off", "all"):
                begin = time.monotonic_ns()
                self.run([self.viv, "run", "--journal", level, "--", "/bin/true"])
                samples["viv" if level == "all" else "off"].append(time.monotonic_ns() - begin)
        return Line("journal: start of /bin/true", samples)


def cost(j):
    lines = [j.compare(name) for name in WORK] + [j.redis()]
    mean = math.exp(statistics.mean(math.log(l.ratio) for l in lines))
    total = Line("journal: geometric mean of these", {"viv": [mean * 1e9], "off": [1e9]}, limit=1.05)
    return lines + [total, j.start()]


def space(j):
    """A build: what its journal takes on disk for each record."""
    j.cell("all", "/bench/project.sh /tmp/w/p 50 && make -s -j2 -C /tmp/w/p", "--name", "space")
    verdict = json.loads(j.run([j.viv, "journal", "verify", "--json", "space"]))
    return [Line("journal of a build: bytes a record", {"viv": [verdict["bytes"] / verdict["records"]]}, limit=60, fixed=True,
                 unit="bytes", asked="<= 60 B")]


def pss(pid):
    with open("/proc/%s/smaps_rollup" % pid) as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))


def memory(j):
    """What a journal adds to viv and viv-kernel of one cell that has just built something."""
    samples = {"viv": [], "off": []}
    for level in ("off", "all") * (1 if j.quick else 3):
        p = subprocess.Popen([j.viv, "run", "--journal", level, "--mount", j.bin + ":/bench:ro", "--", "/bin/sh", "-c",
                              "/bench/project.sh /tmp/p 20 && make -s -C /tmp/p >/dev/null && echo ready && read x; exit 0"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=j.env, text=True)
        try:
            if p.stdout.readline() != "ready\n":
                raise RuntimeError("the cell does not build")
            time.sleep(7)  # sealed by then
            kernel = subprocess.run(["pgrep", "-P", str(p.pid), "viv-kernel"], capture_output=True, text=True).stdout.split()[0]
            samples["viv" if level == "all" else "off"].append(pss(p.pid) + pss(kernel))
        finally:
            p.stdin.close()
            p.wait()
    line = Line("journal: memory of a cell after a build", samples, unit="size")
    line.asked = "<= off + 1 MiB"
    line.verdict = "ok" if line.med["viv"] <= line.med["off"] + (1 << 20) else "missed"
    return [line]


ROWS = {
    "journal-cost": ("work with a journal, beside none", cost),
    "journal-space": ("bytes a record", space),
    "journal-memory": ("memory with a journal, beside none", memory),
}
