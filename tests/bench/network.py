"""The network rows of the benchmark: connections of a cell through its gate, beside the bare machine and beside
slirp4netns and pasta, which are what a user has without root otherwise.

All of it happens in a network namespace that is made here; the server is in it, at an address of its loopback device,
and slirp4netns and pasta have a namespace of their own below it. Nothing leaves it.
"""
import os
import signal
import statistics
import subprocess
import tempfile
import time

ADDRESS = "93.184.216.36"
ROUTE = "ip link add v0 type veth peer name v1 && ip addr add 192.0.2.2/24 dev v0 && ip link set v0 up && " \
        "ip link set v1 up && ip route add default via 192.0.2.1"


class Line:
    """samples: {system: [...]} in nanoseconds, or bytes in a second where more is better."""

    def __init__(self, title, samples, view, more=False, ratio=None, extra=None, asked=""):
        self.title, self.samples, self.view, self.asked = title, samples, view, asked
        self.med = {k: statistics.median(v) for k, v in samples.items() if v}
        viv, native = self.med["viv"], self.med["native"]
        self.ratio = viv / native
        ok = True
        if ratio:
            ok &= self.ratio >= ratio if more else self.ratio <= ratio
        if extra:
            ok &= viv <= native + extra
        for peer in "slirp4netns", "pasta":
            if more and peer in self.med:
                ok &= viv > self.med[peer]
        self.verdict = "" if not asked else "ok" if ok else "missed"


class Network:
    def __init__(self, args, path, env):
        self.bin, self.viv, self.quick = args.bin, args.viv, args.quick
        self.env = dict(env, PATH=path)
        self.tmp = tempfile.mkdtemp(prefix="viv-network.")
        for name, where in ("XDG_DATA_HOME", "data"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"):
            self.env[name] = os.path.join(self.tmp, where)
            os.makedirs(self.env[name], mode=0o700)
        self.started = []
        root = os.getuid() == 0
        self.holder = self.start(["unshare", "--net"] + ([] if root else ["--map-root-user"]) +
                                 ["sh", "-c", "ip link set lo up && ip addr add %s/32 dev lo && %s && echo ready && exec sleep 100000"
                                  % (ADDRESS, ROUTE)], ready=True)
        self.inside = ["nsenter", "-t", str(self.holder.pid), "-n"] + ([] if root else ["-U", "--preserve-credentials"])
        self.start(self.inside + [self.bin + "/outside", "serve", ADDRESS])
        self.peers = {}
        for _ in range(100):
            if subprocess.run(self.inside + [self.bin + "/outside", "trip", ADDRESS, "1"], env=self.env,
                              capture_output=True).returncode == 0:
                break
            time.sleep(0.05)
        for name, start in ("slirp4netns", self.slirp), ("pasta", self.pasta):
            try:
                self.peers[name] = start()
            except (OSError, RuntimeError):
                pass

    def start(self, argv, ready=False, **more):
        p = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if ready else subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, text=True, start_new_session=True, **more)
        self.started.append(p)
        if ready and p.stdout.readline() != "ready\n":
            raise RuntimeError("the network namespace cannot be made")
        return p

    def close(self):
        for p in reversed(self.started):
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
        subprocess.run(["rm", "-rf", self.tmp])

    # ---- the systems: the words before a command ----

    def below(self, p):
        """Enters the namespaces of a process that was started inside."""
        return ["nsenter", "-t", str(p.pid), "-n", "-U", "--preserve-credentials"]

    def works(self, words):
        for _ in range(100):
            if subprocess.run(words + [self.bin + "/outside", "trip", ADDRESS, "1"], env=self.env, capture_output=True,
                              timeout=20).returncode == 0:
                return words
            time.sleep(0.05)
        raise RuntimeError("does not connect")

    def slirp(self):
        p = self.start(self.inside + ["unshare", "--net", "--user", "--map-root-user", "sh", "-c", "echo ready; exec sleep 100000"],
                       ready=True)
        self.start(self.inside + ["slirp4netns", "--configure", "--mtu=65520", str(p.pid), "tap0"])
        return self.works(self.below(p))

    def pasta(self):
        p = self.start(self.inside + ["pasta", "--config-net", "-f", "-q", "--runas", "0", "--", "sleep", "99999"])
        for _ in range(100):
            # What it started, in its own namespaces.
            shown = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True).stdout
            rows = [line.split(None, 2) for line in shown.splitlines()]
            mine = {str(p.pid)}
            for _ in range(4):
                mine |= {r[0] for r in rows if r[1] in mine}
            found = [r[0] for r in rows if r[0] in mine and r[2] == "sleep 99999"]
            if found:
                return self.works(["nsenter", "-t", found[0], "-n", "-U", "--preserve-credentials"])
            time.sleep(0.05)
        raise RuntimeError("pasta does not start")

    def words(self, system):
        if system == "native":
            return self.inside
        if system == "viv":
            return self.inside + [self.viv, "run", "--allow", ADDRESS + ":7001-7003 tcp", "--mount", self.bin + ":" + self.bin + ":ro", "--"]
        return self.peers[system]

    def once(self, system, mode, n):
        r = subprocess.run(self.words(system) + [self.bin + "/outside", mode, ADDRESS, str(n)], env=self.env,
                           capture_output=True, text=True, timeout=120)
        if r.returncode:
            raise RuntimeError("%s: %s" % (system, r.stderr.strip()[-200:]))
        return float(r.stdout)

    def measure(self, mode, n, rounds):
        systems = ["native", "viv"] + list(self.peers)
        samples = {s: [] for s in systems}
        for _ in range(2 if self.quick else rounds):
            for s in systems:
                samples[s].append(self.once(s, mode, n))
        return samples

    # ---- the rows ----

    def row_trip(self):
        return [Line("outside TCP, there and back", self.measure("trip", 3000, 5), "time", extra=60000, asked="<= native + 60 us")]

    def row_bulk(self):
        lines = []
        for mode, title in ("out", "outside TCP, sending"), ("in", "outside TCP, receiving"):
            samples = {s: [131072e9 / v for v in vs] for s, vs in self.measure(mode, 8000, 5).items()}
            lines.append(Line(title, samples, "bytes", more=True, ratio=0.6, asked=">= 0.6, > peers"))
        return lines

    def row_connect(self):
        first = self.measure("first", 1, 9)
        later = self.measure("connect", 300, 5)
        return [Line("first connection of a cell", first, "time", extra=15e6, asked="<= native + 15 ms"),
                Line("later connections", later, "time", extra=300e3, asked="<= native + 0.3 ms")]


ROWS = {
    "net-trip": ("a byte to another host", Network.row_trip),
    "net-bulk": ("bytes to another host", Network.row_bulk),
    "net-connect": ("connections to another host", Network.row_connect),
}
