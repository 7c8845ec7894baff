"""The rows of bench.py about families of cells and automation, with a vivd of their own: cells that a cell makes beside cells that the host
makes, what vivd needs for many children, schedules and workflows that wait, and what a workflow adds to the command of a step."""
import statistics
import subprocess
import time

import load

CHILDREN, SCHEDULES, WORKFLOWS = 200, 500, 100
IDLE_S = 20
BUSY, BYTES = 0.05, 40 << 20  # of vivd with all of them
STEPS, STEP_S = 100, 0.002
CYCLES, RUNS, ROUNDS = 15, 8, 3  # in all less than the 64 cells that a parent may make at once
RATIO = 1.5


def parent(l, rule):
    """A cell that may make cells and has the programs of the benchmark."""
    l.ask("POST", "/v1/cells", {"name": "lead", "start": True, "stop_grace": 0, "command": ["/bin/sleep", "infinity"],
                                "policy": ["allow cells " + rule], "mounts": [{"source": l.bin, "target": "/bench", "readonly": True}]})


def ended(l):
    """The parent is removed, and its children with it."""
    l.ask("DELETE", "/v1/cells/lead?force=1")
    end = time.monotonic() + 120
    while l.ask("GET", "/v1/cells")["cells"]:
        if time.monotonic() > end:
            raise RuntimeError("children are left")
        time.sleep(0.05)


def times(text):
    """The nanoseconds that a program printed, one line each, as seconds."""
    return [int(line) / 1e9 for line in text.split("\n") if line.isdigit()]


def inside(l, *command):
    p = subprocess.run([l.viv, "exec", "lead", "--", *command], env=l.env, capture_output=True, text=True, timeout=300)
    if p.returncode:
        raise RuntimeError("in the cell: %s" % p.stderr.strip()[:200])
    return times(p.stdout)


def outside(l, *command):
    return times(subprocess.run(command, env=l.env, capture_output=True, text=True, check=True, timeout=300).stdout)


def row_subcell(l):
    """Children do not come from the pool of warm cells, so they are compared with cells of a vivd that has none; the pool's are shown."""
    parent(l, "host max=32")
    cold = load.Load(l.bin, l.viv, {**l.env, "VIV_POOL": "0"})
    api, viv = {"cold": [], "pool": [], "cell": []}, {"cold": [], "pool": [], "cell": []}
    try:
        for _ in range(ROUNDS):
            for kind, at in ("cold", cold), ("pool", l):
                api[kind] += outside(at, l.bin + "/cycle", at.socket, str(CYCLES), "1")
                viv[kind] += outside(at, l.bin + "/timer", "-w", "1", "-n", str(RUNS), l.viv, "run", "--", "/bin/true")
            api["cell"] += inside(l, "sh", "-c", "exec /bench/cycle $VIV_SOCK %d 1" % CYCLES)
            viv["cell"] += inside(l, "/bench/timer", "-w", "1", "-n", str(RUNS), "viv", "run", "--", "/bin/true")
            time.sleep(3)  # as many cells as were made may be made again
    finally:
        cold.close()
        ended(l)
    out = []
    for title, took in ("API: create, exec, exit, by a cell", api), ("viv run -- /bin/true, by a cell", viv):
        cell, host, warm = (statistics.median(took[k]) for k in ("cell", "cold", "pool"))
        out += [load.Line(title, load.ms(cell), cell <= RATIO * host, "<= 1.5 x by the host", native=load.ms(host), ratio=cell / host, samples=took),
                load.Line("  beside the host's pool", load.ms(cell), native=load.ms(warm), ratio=cell / warm)]
    return out


CHILD = """
i=0; while [ $i -lt %d ]; do i=$((i + 1)); viv run -d --name c$i -- sleep infinity >/dev/null || exit 1; done
""" % CHILDREN


def row_idle(l):
    parent(l, "host max=%d" % CHILDREN)
    try:
        return idle(l)
    finally:
        ended(l)


def idle(l):
    inside(l, "sh", "-c", CHILD)
    for i in range(SCHEDULES):
        l.ask("POST", "/v1/schedules", {"name": "s%d" % i, "schedule": "%d %d 1 1 *" % (i % 60, i % 24), "cell": "lead", "command": ["true"]})
    for i in range(WORKFLOWS):
        l.ask("POST", "/v1/workflows", {"yaml": "name: w\nsteps:\n- {sleep: 24h}\n- {run: 'true', in: lead}\n"})
    cells = [c for c in l.ask("GET", "/v1/cells")["cells"] if c["state"] == "running"]
    if len(cells) != CHILDREN + 1:
        raise RuntimeError("%d cells run" % len(cells))
    busy, rss = l.idle_cpu(IDLE_S), l.rss()
    for w in l.ask("GET", "/v1/workflows?limit=1000")["runs"]:
        l.ask("POST", "/v1/workflows/%s/cancel" % w["id"])
    return [load.Line("vivd: 200 children, 500 schedules, 100 workflows: CPU", "%.2f %%" % (100 * busy), busy < BUSY, "< 5 %"),
            load.Line("  RSS", load.mib(rss), rss <= BYTES, "<= 40 MiB")]


def row_step(l):
    """A workflow of many commands beside the same commands through the API, one after the other."""
    l.ask("POST", "/v1/cells", {"name": "work", "start": True})
    flow = "name: w\nsteps:\n" + "- {run: [/bin/true], in: work}\n" * STEPS
    c, more = load.Connection(l.socket), []
    for _ in range(5):
        start = time.monotonic()
        for _ in range(STEPS):
            l.ask("POST", "/v1/cells/work/exec", {"command": ["/bin/true"]}, c)
        direct = time.monotonic() - start
        start = time.monotonic()
        run = l.ask("POST", "/v1/workflows", {"yaml": flow}, c)["id"]
        if l.ask("GET", "/v1/workflows/%s/wait" % run, connection=c)["state"] != "done":
            raise RuntimeError("the workflow failed")
        more.append((time.monotonic() - start - direct) / STEPS)
    c.close()
    p50 = statistics.median(more)
    return [load.Line("workflow: a step, over its command", load.ms(p50), p50 <= STEP_S, "<= 2 ms", samples=more)]


ROWS = {
    "subcell": ("cells that a cell makes", row_subcell),
    "fleet-idle": ("200 children, 500 schedules, 100 workflows", row_idle),
    "workflow-step": ("steps of a workflow", row_step),
}
