#!/usr/bin/env python3
"""What cells use, and how near they are to their limits: usage.py VIV DIRECTORY CASE."""

import re
import time

from vivdclient import run_case, soon

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)$")


def parse(text):
    """The text format 0.0.4, strictly: {(name, labels): value}. A family is in one piece, with HELP and TYPE before it, and no sample is there twice."""
    assert text.endswith("\n")
    found, family, seen, kind = {}, None, set(), None
    for line in text[:-1].split("\n"):
        m = re.match(rf"# HELP ({NAME}) (.+)$", line)
        if m:
            assert m[1] not in seen, f"{m[1]} is there twice"
            family, kind = m[1], None
            seen.add(family)
            continue
        m = re.match(rf"# TYPE ({NAME}) (counter|gauge)$", line)
        if m:
            assert m[1] == family and kind is None, line
            kind = m[2]
            assert (kind == "counter") == family.endswith("_total"), line
            continue
        m = SAMPLE.match(line)
        assert m and m[1] == family and kind, f"no sample of {family}: {line!r}"
        key = (m[1], m[2] or "")
        assert key not in found, line
        found[key] = float(m[3])
        assert found[key] >= 0, line
    return found


def metrics(v):
    status, out = v.ask("GET", "/metrics")
    assert status == 200, out
    return parse(out.decode())


def figures(v):
    """/metrics has every running cell, and what it says is what was done."""
    cells = {n: v.call("POST", "/v1/cells", {"name": n, "start": True, "limits": {"disk": 50 << 20}}, 201)["id"] for n in ("a", "b.c-d_e")}
    cells[""] = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    v.exec("a", "sh", "-c", "head -c 3000000 /dev/zero >/root/f; i=0; while [ $i -lt 20 ]; do : >/root/$i; i=$((i+1)); done")
    v.call("POST", "/v1/cells/a/exec", {"command": ["sh", "-c", "sleep 1000 & sleep 1000"], "detach": True}, 201)
    soon(lambda: v.call("GET", "/v1/cells/a/stats")["processes"] >= 3, "three processes")
    time.sleep(1.1)  # what was told before is used again for a second
    m = metrics(v)
    for name, i in cells.items():
        for what in ("cpu_seconds_total", "memory_bytes", "disk_bytes", "inodes", "processes", "system_calls_total", "open_files", "tasks"):
            assert (f"vivarium_cell_{what}", f'cell="{i}",name="{name}"') in m, (name, what)

    def of(what, name):
        return m[(f"vivarium_cell_{what}", f'cell="{cells[name]}",name="{name}"')]

    assert of("disk_bytes", "a") >= 3000000 and of("disk_bytes", "b.c-d_e") < 1000000
    assert of("inodes", "a") >= 21 and of("processes", "a") >= 3 and of("system_calls_total", "a") > 100
    assert of("memory_bytes", "a") > 100000 and 0 < of("cpu_seconds_total", "a") < 60
    assert of("disk_limit_bytes", "a") == 50 << 20
    # Asked often, cells are asked once a second.
    calls = m[("vivarium_cell_system_calls_total", f'cell="{cells["a"]}",name="a"')]
    v.exec("a", "sh", "-c", "ls -lR /etc >/dev/null")
    again = [metrics(v) for _ in range(5)]
    late = soon(lambda: (lambda x: x if x > calls else None)(metrics(v)[("vivarium_cell_system_calls_total", f'cell="{cells["a"]}",name="a"')]), "new figures")
    assert late > calls and again
    v.call("POST", "/v1/cells/a/stop", {"grace": 0})
    assert not [k for k in metrics(v) if 'name="a"' in k[1]], "one that does not run has no figures"


def rates(v):
    """stats: totals, and what was used for each second since the last look."""
    i = v.call("POST", "/v1/cells", {"start": True, "limits": {"memory": 512 << 20, "pids": 100, "inodes": 1000, "disk": 10 << 20}}, 201)["id"]
    s = v.call("GET", f"/v1/cells/{i}/stats", want=200)
    for k in ("cpu_seconds", "cpus", "memory", "disk", "inodes", "processes", "tasks", "system_calls", "system_calls_per_second"):
        assert isinstance(s[k], (int, float)) and s[k] >= 0, (k, s)
    assert (s["memory_limit"], s["tasks_limit"], s["inodes_limit"], s["disk_limit"]) == (512 << 20, 100, 1000, 10 << 20), s
    proc = v.call("POST", f"/v1/cells/{i}/exec", {"command": ["sh", "-c", "while :; do : </etc/passwd; done"], "detach": True}, 201)["proc"]

    def look(wanted):
        """What was used since the last look, half a second before, is as wanted."""
        time.sleep(0.5)
        s = v.call("GET", f"/v1/cells/{i}/stats")
        return s if wanted(s) else None

    busy = soon(lambda: look(lambda s: s["system_calls_per_second"] > 50 and s["cpus"] > 0), "a busy cell")
    assert busy["system_calls"] > s["system_calls"], busy
    v.call("POST", f"/v1/cells/{i}/processes/{proc}/signal", {"signal": 9}, 204)
    v.call("GET", f"/v1/cells/{i}/processes/{proc}/wait", want=200)
    soon(lambda: look(lambda s: s["system_calls_per_second"] < busy["system_calls_per_second"] / 4), "a quiet cell")


def limits(v):
    """Events when four fifths of a limit are used, when it is hit, and when memory was too little."""
    c = v.call("POST", "/v1/cells", {"start": True, "limits": {"disk": 1 << 20, "inodes": 100, "pids": 20, "memory": 128 << 20}}, 201)["id"]

    def told(kind="limit"):
        return [e["data"] for e in v.call("GET", "/v1/events?since=0&follow=0") if e["type"] == kind and e.get("cell") == c]

    def limit(what, hit):
        return soon(lambda: [e for e in told() if e["limit"] == what and e["hit"] is hit], f"an event of {what}, hit: {hit}")

    assert not told()
    v.exec(c, "sh", "-c", "head -c 500000 /dev/zero >/tmp/f")
    assert not told(), "half of it is not told"
    v.exec(c, "sh", "-c", "head -c 900000 /dev/zero >/tmp/f")
    limit("disk", False)
    assert not [e for e in told() if e["hit"]]
    v.exec(c, "sh", "-c", "head -c 2000000 /dev/zero >/tmp/f; true")
    limit("disk", True)
    v.exec(c, "sh", "-c", "rm /tmp/f; i=0; while [ $i -lt 84 ]; do : >/tmp/$i; i=$((i+1)); done")
    limit("inodes", False)
    v.exec(c, "sh", "-c", "i=84; while [ $i -lt 120 ]; do : >/tmp/$i; i=$((i+1)); done; rm -f /tmp/*", want=None)
    limit("inodes", True)
    v.exec(c, "python3", "-c", "import subprocess as s\np = [s.Popen(['sleep', '5']) for _ in range(16)]\n[x.kill() or x.wait() for x in p]")
    limit("tasks", False)
    v.exec(c, "python3", "-c", "import subprocess as s\np = []\ntry:\n    for _ in range(30): p.append(s.Popen(['sleep', '5']))\nexcept OSError: pass\n[x.kill() or x.wait() for x in p]")
    limit("tasks", True)
    # Nobody can flood the events: each kind is told once in a while.
    v.exec(c, "sh", "-c", "i=0; while [ $i -lt 20 ]; do head -c 2000000 /dev/zero >/tmp/f; rm /tmp/f; i=$((i+1)); done", want=None)
    assert len(told()) <= 10, told()
    proc = v.call("POST", f"/v1/cells/{c}/exec", {"command": ["python3", "-c", "x = b'x' * (100 << 20)\nimport time\ntime.sleep(100)"], "detach": True}, 201)["proc"]
    limit("memory", False)
    v.call("POST", f"/v1/cells/{c}/processes/{proc}/signal", {"signal": 9}, 204)
    v.ask("POST", f"/v1/cells/{c}/exec", {"command": ["sh", "-c", "python3 -c \"x = [b'x' * (10 << 20) for _ in range(40)]\"; true"]})
    soon(lambda: told("oom"), "an event of too little memory")


if __name__ == "__main__":
    run_case(figures, rates, limits)
