#!/usr/bin/env python3
"""Health checks: health.py VIV DIRECTORY CASE."""

import time

from vivdclient import run_case, soon


def health(v, cell):
    return v.call("GET", f"/v1/cells/{cell}", want=200)["health"]


def becomes(v, cell, status):
    return soon(lambda: (lambda h: h if h["status"] == status else None)(health(v, cell)), f"{cell} is {status}")


def states(v):
    check = ["sh", "-c", "echo looked >>/tmp/n; yes 0123456789 | head -c 5000; printf '\\377last'; test -e /tmp/ok"]
    c = v.call("POST", "/v1/cells", {"name": "a", "start": True, "health": {"command": check, "interval": 0.1, "retries": 3}}, 201)
    assert c["health"] == {"status": "starting", "failures": 0}, c["health"]
    h = becomes(v, "a", "unhealthy")
    assert h["failures"] >= 3 and h["exit_code"] == 1 and not h["timed_out"], h
    assert len(h["output"]) <= 1024 and h["output"].endswith("?last"), h
    assert int(v.exec("a", "sh", "-c", "wc -l </tmp/n")) >= 3
    v.exec("a", "touch", "/tmp/ok")
    h = becomes(v, "a", "healthy")
    assert h["failures"] == 0 and h["exit_code"] == 0, h
    assert [(e["from"], e["status"]) for e in v.events(c["id"], "cell.health")] == [("starting", "unhealthy"), ("unhealthy", "healthy")]
    # Without a policy it is not stopped for that; nobody but vivd hears of checks.
    assert v.call("GET", "/v1/cells/a")["state"] == "running"
    assert not [e for e in v.events(c["id"], "process.started") if "looked" in e["command"]]
    # Paused, it is not asked.
    v.call("POST", "/v1/cells/a/pause", want=200)
    n = health(v, "a").get("checked")
    time.sleep(0.7)
    assert health(v, "a").get("checked") == n and health(v, "a")["status"] == "healthy"
    v.call("POST", "/v1/cells/a/resume", want=200)
    soon(lambda: health(v, "a")["checked"] != n, "checks after a pause")
    assert health(v, "a")["status"] == "healthy"


def hangs(v):
    """Killed at its time-out, whatever it ignores."""
    c = v.call("POST", "/v1/cells", {"start": True, "health": {"command": ["sh", "-c", "trap '' TERM HUP; echo in; sleep 1000; sleep 1000"], "interval": 0.05,
                                                            "timeout": 3, "retries": 2}}, 201)["id"]
    h = becomes(v, c, "unhealthy")
    assert h["timed_out"] and h["exit_code"] == 124 and h["output"] == "in\n", h
    assert len([p for p in v.call("GET", f"/v1/cells/{c}/processes")["processes"] if not p["ended"]]) <= 1
    # A vivd that is killed meanwhile leaves none behind for good: its keeper ends it.
    v.replace()
    assert health(v, c)["status"] == "unhealthy", "what was found is kept"
    n = health(v, c).get("checked")
    soon(lambda: health(v, c).get("checked") not in (None, n), "checks by a new vivd")
    soon(lambda: len([p for p in v.call("GET", f"/v1/cells/{c}/processes")["processes"] if not p["ended"]]) <= 1, "one check at a time")
    c = v.call("POST", "/v1/cells", {"start": True, "health": {"command": ["/no/such"], "interval": 0.05, "retries": 1}}, 201)["id"]
    h = becomes(v, c, "unhealthy")
    assert h["exit_code"] == 127 and "/no/such" in h["output"], h


def restarts(v):
    """Unhealthy, it is stopped and started again by its policy; a run that was never healthy does not begin the count anew."""
    body = {"name": "r", "start": True, "restart": {"policy": "on-failure", "max": 2}, "stop_grace": 20, "command": ["sh", "-c", "trap 'exit 0' TERM; : >/dev/shm/up; while :; do sleep 0.05; done"],
            "health": {"command": ["sh", "-c", "until test -e /dev/shm/up; do sleep 0.01; done; false"], "interval": 0.1, "retries": 2}}
    c = v.call("POST", "/v1/cells", body, 201)["id"]
    soon(lambda: len([e for e in v.events(c, "cell.state") if e["state"] == "stopped"]) == 3, "three ends")
    ends = [(e["reason"], e["exit_code"]) for e in v.events(c, "cell.state") if e["state"] == "stopped"]
    assert ends == [("unhealthy", 0)] * 3, ends
    assert [e["restarts"] for e in v.events(c, "cell.restarting")] == [1, 2]
    cell = v.call("GET", "/v1/cells/r")
    assert (cell["state"], cell["reason"]) == ("stopped", "unhealthy"), cell
    # Killed while it is being stopped for that, vivd starts it again all the same.
    body.update(name="k", restart={"policy": "always"}, command=["sh", "-c", "trap 'sleep 5; exit 0' TERM; : >/dev/shm/up; while :; do sleep 0.05; done"])
    c = v.call("POST", "/v1/cells", body, 201)["id"]
    soon(lambda: v.call("GET", "/v1/cells/k")["state"] == "stopping", "it is stopped")
    v.replace()
    soon(lambda: v.events(c, "cell.restarting"), "a restart")
    # One that was asked to stop stays so.
    v.call("POST", "/v1/cells/k/stop", {"grace": 0})
    soon(lambda: v.call("GET", "/v1/cells/k")["state"] == "stopped", "its end")
    n = len(v.events(c, "cell.restarting"))
    time.sleep(0.5)
    assert len(v.events(c, "cell.restarting")) == n and v.call("GET", "/v1/cells/k")["state"] == "stopped"


def periods(v):
    """The start period forgives; a check does not keep an idle cell awake."""
    c = v.call("POST", "/v1/cells", {"start": True, "health": {"command": ["sh", "-c", "echo x >>/tmp/n; test $(wc -l </tmp/n) -gt 4"], "interval": 0.1, "retries": 1,
                                                            "start_period": 60}}, 201)["id"]
    h = becomes(v, c, "healthy")
    assert h["failures"] == 0
    assert [e["status"] for e in v.events(c, "cell.health")] == ["healthy"]
    # Healthy once, its failures count.
    v.exec(c, "sh", "-c", ": >/tmp/n")
    becomes(v, c, "unhealthy")
    c = v.call("POST", "/v1/cells", {"start": True, "idle_timeout": 4, "health": {"command": ["true"], "interval": 0.05}}, 201)["id"]
    becomes(v, c, "healthy")
    assert v.call("GET", f"/v1/cells/{c}/wait")["reason"] == "idle"
    for bad in ({}, {"command": []}, {"command": [""]}, {"command": "x"}, {"command": ["x"], "interval": 0}, {"command": ["x"], "timeout": 0}, {"command": ["x"], "retries": 0},
                {"command": ["x"], "retries": 1001}, {"command": ["x"], "more": 1}, {"command": ["x"], "interval": 1e12}, {"command": ["x"], "start_period": -1}):
        status, out = v.ask("POST", "/v1/cells", {"health": bad})
        assert status == 400, (bad, status, out)


FILE = '''
name: p
cells:
  db:
    command: [sh, -c, "sleep 0.7; touch /tmp/up; sleep 1000"]
    health: {command: [test, -e, /tmp/up], interval: 100ms, start_period: 1m}
  web:
    command: [sleep, "1000"]
    depends_on: {db: {condition: healthy}}
'''


def depends(v):
    """In vivarium.yaml: what depends on a healthy cell is started when that is so, or not at all."""
    with open(f"{v.top}/vivarium.yaml", "w") as f:
        f.write(FILE)
    r = v.cli("up", "-f", f"{v.top}/vivarium.yaml")
    assert r.returncode == 0, r.stdout + r.stderr
    cells = {c["name"]: c["id"] for c in v.cells().values() if "name" in c}
    db, web = (next(i for n, i in cells.items() if what in n) for what in ("db", "web"))
    order = [(e["type"], e["cell"]) for e in v.call("GET", "/v1/events?since=0&follow=0")
             if (e["type"], e.get("cell")) == ("cell.health", db) or (e["type"] == "cell.state" and e.get("cell") == web and e["data"]["state"] == "starting")]
    assert order == [("cell.health", db), ("cell.state", web)], order
    with open(f"{v.top}/bad.yaml", "w") as f:
        f.write(FILE.replace("name: p", "name: q").replace("db", "base").replace("web", "page").replace("test, -e, /tmp/up", "test, -e, /none").replace("start_period: 1m", "retries: 2"))
    r = v.cli("up", "-f", f"{v.top}/bad.yaml")
    assert r.returncode and "unhealthy" in r.stdout + r.stderr, r


if __name__ == "__main__":
    run_case(states, hangs, restarts, periods, depends)
