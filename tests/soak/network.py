"""The measurements of network.sh: network.py VIV CA SIZE, in its world. Prints a line for each; status 1 if something is wrong."""
import os
import subprocess
import sys
import time

VIV, CA, SIZE = sys.argv[1], sys.argv[2], int(sys.argv[3])
LONG = int(os.environ.get("SOAK_SECONDS", 3600))
CONNECTIONS = int(os.environ.get("SOAK_CONNECTIONS", 1000))
CELLS = int(os.environ.get("SOAK_CELLS", 200))
wrong = []


def viv(*words, **more):
    return subprocess.run([VIV, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, **more).stdout


def processes(name):
    """Of all cells here: {pid: PSS in KiB}."""
    found = {}
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and open(f"/proc/{p}/comm").read().strip() == name and os.readlink(f"/proc/{p}/ns/net") == os.readlink("/proc/self/ns/net"):
                found[p] = next(int(line.split()[1]) for line in open(f"/proc/{p}/smaps_rollup") if line.startswith("Pss:"))
        except OSError:
            pass
    return found


def gate_of(cell):
    """Of a cell's gate: PSS now and the most that was resident, in KiB."""
    kernel = next(p for p in viv("inspect", "--json", cell).split('"pid":')[1].split(",")[:1])
    keeper = open(f"/proc/{kernel}/stat").read().rsplit(")")[1].split()[1]
    for p in open(f"/proc/{keeper}/task/{keeper}/children").read().split():
        if open(f"/proc/{p}/comm").read().strip() == "viv-gate":
            pss = next(int(line.split()[1]) for line in open(f"/proc/{p}/smaps_rollup") if line.startswith("Pss:"))
            most = next(int(line.split()[1]) for line in open(f"/proc/{p}/status") if line.startswith("VmHWM:"))
            return pss, most
    raise RuntimeError(f"{cell} has no gate")


def check(good, what):
    if not good:
        wrong.append(what)
        print("WRONG:", what, flush=True)


def mib(kib):
    return f"{kib / 1024:.1f} MiB"


class Events:
    """Streams of events in a cell, one that is passed and one that the gate opens, which last as long as everything else."""

    def __init__(self):
        viv("run", "-d", "--name", "events", "--allow", "other.org:8443 GET", "--", "sleep", "1000000")
        self.began = time.monotonic()
        url = f"https://other.org:8443/ticks?{LONG}"
        self.opened = subprocess.Popen([VIV, "exec", "events", "--", "curl", "-4", "-sSN", url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        viv("run", "-d", "--name", "passed", "--allow", "other.org:8443", "--mount", f"{CA}:/ca.pem:ro", "--", "sleep", "1000000")
        self.passed = subprocess.Popen([VIV, "exec", "passed", "--", "curl", "-4", "-sSN", "--cacert", "/ca.pem", url], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, text=True)
        for p in self.opened, self.passed:
            check(p.stdout.readline() == "data: 0\n", "the first event")
        self.before = gate_of("events")[0]

    def end(self):
        for p, how in (self.opened, "opened"), (self.passed, "passed"):
            lines = [line for line in p.stdout if line.startswith("data: ")]
            check(lines == [f"data: {i}\n" for i in range(1, LONG)] and p.wait() == 0, f"{how}: {len(lines) + 1} of {LONG} events")
        print(f"events for {time.monotonic() - self.began:.0f} s, passed and opened: all came; the gate had {mib(self.before)}, "
              f"has {mib(gate_of('events')[0])}, at most {mib(gate_of('events')[1])}", flush=True)
        viv("rm", "-f", "events", "passed")


def large():
    viv("run", "-d", "--name", "large", "--allow", "good.org GET", "--allow", "other.org:8443 POST", "--", "sleep", "1000000")
    viv("exec", "large", "--", "curl", "-4", "-sS", "https://good.org/who")
    before = gate_of("large")[1]
    down = "curl -4 -sS https://good.org/large | wc -c"
    up = f"head -c {SIZE} /dev/zero | curl -4 -sS -T - -X POST https://other.org:8443/length"
    for what, script in ("down", down), ("up", up):
        began = time.monotonic()
        got = viv("exec", "large", "--", "sh", "-c", script)
        took = time.monotonic() - began
        check(int(got) == SIZE, f"{what}: {got.strip()} of {SIZE} bytes")
        most = gate_of("large")[1]
        check(most < before + 24000, f"{what}: the gate grows from {mib(before)} to {mib(most)}")
        print(f"{SIZE / 2**30:.2f} GiB {what}, opened: {SIZE / took / 1e6:.0f} MB/s; the gate at most {mib(most)}, {mib(before)} before", flush=True)
    viv("rm", "-f", "large")


HOLD = """
import socket, ssl, sys
context, held = ssl.create_default_context(), []
def ask(s):
    s.sendall(b"GET /who HTTP/1.1\\r\\nHost: good.org\\r\\n\\r\\n")
    data = b""
    while b"HTTP/1.1\\n" not in data[20:]:
        more = s.recv(65536)
        assert more, data
        data += more
for i in range(int(sys.argv[1])):
    held.append(context.wrap_socket(socket.create_connection(("good.org", 443)), server_hostname="good.org"))
    ask(held[-1])
print("ready", flush=True)
sys.stdin.readline()
for s in held: ask(s)
print("again", flush=True)
"""


def connections():
    viv("run", "-d", "--name", "many", "--ulimit", "nofile=8192", "--allow", "good.org GET", "--", "sleep", "1000000")
    began = time.monotonic()
    p = subprocess.Popen([VIV, "exec", "-i", "many", "--", "python3", "-c", HOLD, str(CONNECTIONS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    check(p.stdout.readline() == "ready\n", f"{CONNECTIONS} opened connections")
    took = time.monotonic() - began
    pss = gate_of("many")[0]
    out, _ = p.communicate("\n")
    check(out == "again\n" and p.returncode == 0, "a second request on each connection")
    print(f"{CONNECTIONS} opened connections: {took / CONNECTIONS * 1000:.1f} ms each; the gate has {mib(pss)}", flush=True)
    viv("rm", "-f", "many")


def cells():
    began = time.monotonic()
    for i in range(CELLS):
        viv("run", "-d", "--name", f"c{i}", "--allow", "good.org", "--", "sleep", "1000000")
    for i in range(CELLS):
        check("93.184.216.34" in viv("exec", f"c{i}", "--", "getent", "ahostsv4", "good.org"), f"cell {i} finds good.org")
    took = time.monotonic() - began
    gates = processes("viv-gate")
    check(len(gates) >= CELLS, f"{len(gates)} gates of {CELLS} cells")
    print(f"{CELLS} cells with a gate each: {took / CELLS * 1000:.0f} ms each to start and ask; gates {mib(sum(gates.values()))} in all, "
          f"{mib(sum(gates.values()) / max(len(gates), 1))} each", flush=True)
    for i in range(CELLS):
        viv("rm", "-f", f"c{i}")
    end = time.monotonic() + 60
    while len(processes("viv-gate")) > 2 and time.monotonic() < end:
        time.sleep(0.1)
    check(len(processes("viv-gate")) <= 2, "gates are left")


events = Events()
large()
connections()
cells()
events.end()
sys.exit(1 if wrong else 0)
