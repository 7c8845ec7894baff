"""The network rows of the benchmark: connections of a cell through its gate, beside the bare machine and beside
slirp4netns and pasta, which are what a user has without root otherwise.

All of it happens in a network namespace that is made here; the server is in it, at an address of its loopback device,
and slirp4netns and pasta have a namespace of their own below it. Nothing leaves it.
"""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

ADDRESS = "93.184.216.36"
HTTPS = "https://bench.org:8443/"
NGINX = """daemon off; pid %(d)s/pid; error_log stderr; worker_processes 1; events { worker_connections 4096; }
http { access_log off; client_body_temp_path %(d)s/a; proxy_temp_path %(d)s/b; fastcgi_temp_path %(d)s/c; uwsgi_temp_path %(d)s/d; scgi_temp_path %(d)s/e;
keepalive_requests 1000000; server { listen %(a)s:8443 ssl; ssl_certificate %(d)s/cert.pem; ssl_certificate_key %(d)s/key.pem; root %(d)s/www; } }
"""
ROUTE = "ip link add v0 type veth peer name v1 && ip addr add 192.0.2.2/24 dev v0 && ip link set v0 up && " \
        "ip link set v1 up && ip route add default via 192.0.2.1"


# Opened connections that are kept, each with a request behind it.
HOLD = """import socket, ssl, sys
context = ssl.create_default_context()
held = []
for i in range(int(sys.argv[1])):
    s = context.wrap_socket(socket.create_connection(("bench.org", 8443)), server_hostname="bench.org")
    s.sendall(b"GET /small HTTP/1.1\\r\\nHost: bench.org:8443\\r\\n\\r\\n")
    data = b""
    while not data.endswith(b"x" * 1024):
        more = s.recv(65536)
        if not more:
            sys.exit("connection %d ends" % i)
        data += more
    held.append(s)
print("ready", flush=True)
sys.stdin.read()
"""


class Line:
    """samples: {system: [...]} in nanoseconds, or bytes in a second where more is better."""

    def __init__(self, title, samples, view, more=False, ratio=None, extra=None, least=None, most=None, asked=""):
        self.title, self.samples, self.view, self.asked = title, samples, view, asked
        self.med = {k: statistics.median(v) for k, v in samples.items() if v}
        viv, native = self.med["viv"], self.med.get("native")
        self.ratio = viv / native if native else None
        ok = (least is None or viv >= least) and (most is None or viv <= most)
        if ratio:
            ok &= self.ratio >= ratio if more else self.ratio <= ratio
        if extra:
            ok &= viv <= native + extra
        for peer in "slirp4netns", "pasta":
            if more and peer in self.med:
                ok &= viv > self.med[peer]
        self.verdict = "" if not asked else "ok" if ok else "missed"


def wrk_time(text):
    """The median latency, in nanoseconds."""
    value = re.search(r"50%\s+([\d.]+)(us|ms|s)", text)
    return float(value.group(1)) * {"us": 1e3, "ms": 1e6, "s": 1e9}[value.group(2)]


def wrk_rate(text):
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))


def comm(pid):
    try:
        with open("/proc/%s/comm" % pid) as f:
            return f.read().strip()
    except OSError:
        return ""


def pss(pid):
    with open("/proc/%s/smaps_rollup" % pid) as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))


def below_of(pid):
    """All descendants."""
    rows = [line.split() for line in subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True).stdout.splitlines()]
    found = {str(pid)}
    while more := {r[0] for r in rows if r[1] in found} - found:
        found |= more
    return found


class Network:
    def __init__(self, args, path, env):
        self.bin, self.viv, self.quick = args.bin, args.viv, args.quick
        self.env = dict(env, PATH=path)
        self.tmp = tempfile.mkdtemp(prefix="viv-network.")
        for name, where in ("XDG_DATA_HOME", "data"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"):
            self.env[name] = os.path.join(self.tmp, where)
            os.makedirs(self.env[name], mode=0o700)
        self.started, self.held = [], []
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
            mine = below_of(p.pid)
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

    # ---- opened connections ----

    def web(self):
        """nginx with a certificate that the gate trusts."""
        d = self.tmp
        os.makedirs(d + "/www")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", d + "/key.pem",
                        "-out", d + "/cert.pem", "-days", "2", "-subj", "/CN=bench.org", "-addext", "subjectAltName=DNS:bench.org"],
                       check=True, capture_output=True)
        with open(d + "/www/large", "wb") as f:
            f.truncate(512 << 20)
        with open(d + "/www/small", "wb") as f:
            f.write(b"x" * 1024)
        with open(d + "/conf", "w") as f:
            f.write(NGINX % {"d": d, "a": ADDRESS} + ("user root;" if os.getuid() == 0 else ""))
        os.chmod(d, 0o755)
        self.env["VIV_CA_FILE"] = d + "/cert.pem"
        self.start(self.inside + ["nginx", "-e", "stderr", "-p", d, "-c", d + "/conf"])
        for _ in range(100):
            if subprocess.run(self.inside + ["curl", "-sk", "-o", "/dev/null", "https://%s:8443/small" % ADDRESS]).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError("nginx does not start")

    def opened(self, system, words):
        """Runs a client natively or in a cell, on a connection that the gate opens."""
        if system == "viv":
            cell = [self.viv, "run", "--add-host", "bench.org:" + ADDRESS, "--allow", "bench.org:8443 GET /**", "--allow", ADDRESS + ":8443", "--"]
        else:
            cell, words = [], [w.replace("bench.org", ADDRESS) for w in words]
        r = subprocess.run(self.inside + cell + words, env=self.env, capture_output=True, text=True, timeout=120)
        if r.returncode:
            raise RuntimeError("%s: %s" % (system, (r.stderr or r.stdout).strip()[-200:]))
        return r.stdout

    def row_opened(self):
        if "VIV_CA_FILE" not in self.env:
            self.web()
        rounds = 2 if self.quick else 5
        down, trip, rate = ({"native": [], "viv": []} for _ in range(3))
        for _ in range(rounds):
            for s in "native", "viv":
                down[s].append(float(self.opened(s, ["curl", "-sk", "-o", "/dev/null", "-w", "%{speed_download}", HTTPS + "large"])))
                out = self.opened(s, ["wrk", "-t1", "-c1", "-d2", "--latency", HTTPS + "small"])
                trip[s].append(wrk_time(out))
                rate[s].append(wrk_rate(self.opened(s, ["wrk", "-t1", "-c16", "-d2", HTTPS + "small"])))
        lines = [Line("opened HTTPS, receiving", down, "bytes", asked=">= 300 MB/s", least=300e6),
                 Line("opened HTTPS, a request of many", trip, "time", extra=500e3, asked="<= native + 0.5 ms"),
                 Line("opened HTTPS, 16 connections", rate, "rate", asked=">= 2,000/s", least=2000)]
        return lines

    # ---- memory ----

    def gate_pss(self, n):
        """Of a gate whose cell has n connections."""
        p = subprocess.Popen(self.inside + [self.viv, "run", "--ulimit", "nofile=4096", "--allow", ADDRESS + ":7001-7003 tcp", "--mount",
                                            self.bin + ":" + self.bin + ":ro", "--", self.bin + "/outside", "hold", ADDRESS, str(n)],
                             env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if p.stdout.readline() != "ready\n":
                raise RuntimeError("%d connections are not made" % n)
            return sum(pss(q) for q in below_of(p.pid) if comm(q) == "viv-gate")
        finally:
            p.stdin.close()
            p.wait()

    def holding(self, words):
        """A command that says when it is ready, and then waits for the end of its input."""
        p = subprocess.Popen(self.inside + words, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.held.append(p)
        return p

    def release(self):
        for p in self.held:
            p.stdin.close()
        for p in self.held:
            p.wait()
        self.held = []

    def opened_pss(self, n):
        """Of a gate that has opened n connections of its cell, each with a request behind it."""
        try:
            p = self.holding([self.viv, "run", "--ulimit", "nofile=4096", "--add-host", "bench.org:" + ADDRESS, "--allow", "bench.org:8443 GET /**",
                              "--allow", ADDRESS + ":8443", "--", "python3", "-c", HOLD, str(n)])
            if p.stdout.readline() != "ready\n":
                raise RuntimeError("%d opened connections are not made" % n)
            return sum(pss(q) for q in below_of(p.pid) if comm(q) == "viv-gate")
        finally:
            self.release()

    def row_memory(self):
        if "VIV_CA_FILE" not in self.env:
            self.web()
        lines = []
        for n, most in (1, 4), (1000, 40):
            got = [self.gate_pss(n) for _ in range(3)]
            lines.append(Line("viv-gate, %s, PSS" % ("one connection" if n == 1 else "1,000 connections"), {"viv": got}, "size",
                              most=most << 20, asked="<= %d MiB" % most))
        got = [self.opened_pss(100 if self.quick else 1000) for _ in range(1 if self.quick else 3)]
        lines.append(Line("viv-gate, %s opened connections, PSS" % ("100" if self.quick else "1,000"), {"viv": got}, "size"))
        return lines

    def row_cells(self):
        """Cells with a gate each, all of them there at once."""
        n = 20 if self.quick else 200
        gates, kernels, began = [], [], time.monotonic()
        try:
            for _ in range(n):
                self.holding([self.viv, "run", "--allow", ADDRESS + ":7001-7003 tcp", "--mount", self.bin + ":" + self.bin + ":ro", "--",
                              self.bin + "/outside", "hold", ADDRESS, "1"])
            if any(p.stdout.readline() != "ready\n" for p in self.held):
                raise RuntimeError("not all of %d cells connect" % n)
            took = time.monotonic() - began
            for p in self.held:
                for q in below_of(p.pid):
                    if comm(q) in ("viv-gate", "viv-kernel"):
                        (gates if comm(q) == "viv-gate" else kernels).append(pss(q))
        finally:
            self.release()
        if len(gates) != n:
            raise RuntimeError("%d gates of %d cells" % (len(gates), n))
        return [Line("%d cells with a gate each: until all are connected, each" % n, {"viv": [took / n * 1e9]}, "time"),
                Line("  their gates, PSS of all", {"viv": [sum(gates)]}, "size"),
                Line("  their kernels, PSS of all", {"viv": [sum(kernels)]}, "size")]

    def row_none(self):
        """A cell without a network: its start and its memory, beside those of another build (BENCH_OLD=DIRECTORY)."""
        builds = {"viv": self.viv}
        if os.environ.get("BENCH_OLD"):
            builds["old"] = os.path.join(os.environ["BENCH_OLD"], "viv")
        start, size = ({b: [] for b in builds} for _ in range(2))
        for _ in range(10 if self.quick else 60):
            for b, viv in builds.items():
                began = time.monotonic()
                subprocess.run([viv, "run", "--", "/bin/true"], env=self.env, check=True, stdin=subprocess.DEVNULL)
                start[b].append((time.monotonic() - began) * 1e9)
        for _ in range(5):
            for b, viv in builds.items():
                p = subprocess.Popen([viv, "run", "--", "sh", "-c", "echo ready; read x"], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                p.stdout.readline()
                size[b].append(sum(pss(q) for q in below_of(p.pid)))
                p.stdin.close()
                p.wait()
        lines = []
        for title, samples, view, show in (("a cell without network, start", start, "time", lambda v: "%.2f ms" % (v / 1e6)),
                                           ("a cell without network, PSS", size, "size", lambda v: "%.1f MiB" % (v / 1048576))):
            old = statistics.median(samples["old"]) if "old" in samples else None
            lines.append(Line(title, {"viv": samples["viv"]}, view, most=old and old * 1.02, asked="<= 1.02x of %s" % show(old) if old else ""))
        return lines

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
    "net-opened": ("HTTPS that the gate opens", Network.row_opened),
    "net-memory": ("memory of the gate", Network.row_memory),
    "net-cells": ("200 cells with a gate each", Network.row_cells),
    "net-none": ("a cell without network (BENCH_OLD=DIRECTORY: beside another build)", Network.row_none),
}
