#!/usr/bin/env python3
"""Schedules, with a clock of the test's own: cron.py VIV DIRECTORY CASE."""

import base64
import json
import os
import random
import sqlite3
import sys
import time
from datetime import datetime, timezone

from vivdclient import gone, kill9, processes, run_case, soon

HERE = os.path.dirname(os.path.abspath(__file__))
NEVER = "0 0 29 2 *"  # no test takes so long


class Clock:
    """The clock of schedules is the host's and a number of seconds, which a file has."""

    def __init__(self, top):
        self.file = f"{os.path.abspath(top)}/clock"
        self.write(0)

    def write(self, offset):
        self.offset = offset
        with open(self.file + ".new", "w") as f:
            f.write(f"{offset}\n")
        # In place: vivd watches this file.
        with open(self.file, "w") as f:
            f.write(f"{offset}\n")

    def now(self):
        return time.time() + self.offset

    def set(self, text):
        t = datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()
        self.write(int(t - time.time()) + 1)


def cell(v, name="c", **more):
    return v.call("POST", "/v1/cells", {"name": name, "command": ["sleep", "100000"], **more}, 201)["id"]


def add(v, name, want=201, **spec):
    spec.setdefault("tz", "UTC")
    if not {"schedule", "at", "in"} & set(spec):
        spec["schedule"] = NEVER
    return v.call("POST", "/v1/schedules", {"name": name, **spec}, want)


def get(v, name):
    return v.call("GET", f"/v1/schedules/{name}", want=200)


def runs(v, name):
    return v.call("GET", f"/v1/schedules/{name}/runs", want=200)["runs"]


def ended(v, name, n=1):
    """The n runs of a schedule, oldest first, when all are over."""
    def look():
        r = runs(v, name)
        return len(r) >= n and all(x["state"] in ("done", "failed") for x in r) and r
    return list(reversed(soon(look, f"{n} runs of {name}: {runs(v, name)}")))


def output(v, name, run="last"):
    return v.call("GET", f"/v1/schedules/{name}/runs/{run}", want=200)["output"]


def events(v, kind, name):
    return [e["data"] for e in v.call("GET", "/v1/events?since=0&follow=0", want=200) if e["type"] == kind and e["data"].get("schedule") == name]


def sh(text):
    return ["sh", "-c", text]


# ---- cases ----

def basic(v):
    """A command in a cell that is stopped; verbs; what is told."""
    i = cell(v)
    s = add(v, "a", cell="c", command=sh("echo out $VIVARIUM_SCHEDULE $VIVARIUM_RUN $X; echo err >&2; id -un; pwd; exit 3"), env={"X": "y"}, workdir="/usr")
    assert s["state"] == "active" and s["cell"] == i and s["cell_name"] == "c" and s["next"].endswith("-02-29T00:00:00Z"), s
    run = v.call("POST", "/v1/schedules/a/run", want=201)
    (r,) = ended(v, "a")
    assert r["run"] == run["run"] and r["state"] == "failed" and r["exit_code"] == 3 and r["reason"] == "manual", r
    assert sorted(output(v, "a").split("\n")) == sorted([f"out a {r['run']} y", "err", "root", "/usr", ""]), output(v, "a")
    assert [e["reason"] for e in events(v, "cron.fired", "a")] == ["manual"] and events(v, "cron.failed", "a")[0]["exit_code"] == 3
    # Nothing is left in the keeper.
    soon(lambda: not [p for p in v.call("GET", "/v1/cells/c/processes", want=200)["processes"] if p["proc"] != 1], "the process is forgotten")
    # The clock: once at its time, and not again.
    v.clock.set("2028-02-29 00:00:05")
    soon(lambda: len(runs(v, "a")) == 2, "the time")
    assert ended(v, "a", 2)[1]["due"] == "2028-02-29T00:00:00.000Z" and get(v, "a")["next"].startswith("2032"), get(v, "a")
    # Paused times are not missed.
    assert v.call("POST", "/v1/schedules/a/pause", want=200)["state"] == "paused" and "next" not in get(v, "a")
    v.clock.set("2033-01-01 00:00:00")
    assert v.call("POST", "/v1/schedules/a/resume", want=200)["next"].startswith("2036-02-29"), get(v, "a")
    assert get(v, "a")["fired"] == 2 and get(v, "a")["skipped"] == 0
    # A program that is not there, binary output, output that is too long.
    add(v, "b", cell="c", command=["/no/such"])
    v.call("POST", "/v1/schedules/b/run", want=201)
    (r,) = ended(v, "b")
    assert r["state"] == "failed" and r["exit_code"] == 127 and "/no/such" in json.dumps(r["error"]), r
    add(v, "bytes", cell="c", command=sh("printf '\\377\\0x'"))
    v.call("POST", "/v1/schedules/bytes/run", want=201)
    assert ended(v, "bytes")[0]["state"] == "done"
    assert base64.b64decode(v.call("GET", "/v1/schedules/bytes/runs/last")["output_base64"]) == b"\xff\0x"
    add(v, "long", cell="c", command=sh("yes 0123456789 | head -c 3000000; echo end"))
    v.call("POST", "/v1/schedules/long/run", want=201)
    ended(v, "long")
    assert len(output(v, "long")) == 16384, (len(output(v, "long")), output(v, "long")[-100:])
    assert output(v, "long").endswith("012end\n")
    # A sleeping cell is woken, and does not fall asleep meanwhile.
    v.call("POST", "/v1/cells/c/sleep", {}, want=200)
    soon(lambda: v.call("GET", "/v1/cells/c")["state"] == "sleeping", "sleep")
    v.call("POST", "/v1/schedules/bytes/run", want=201)
    assert [r["state"] for r in ended(v, "bytes", 2)] == ["done"] * 2 and v.call("GET", "/v1/cells/c")["state"] == "running"
    # A cell that is removed takes its schedules with it.
    v.call("DELETE", "/v1/cells/c?force=1", want=204)
    assert v.call("GET", "/v1/schedules", want=200) == {"schedules": []}


def cli(v):
    """viv cron."""
    def viv(*words, want=0):
        r = v.cli("cron", *words)
        assert r.returncode == want, (words, r.stdout, r.stderr)
        return r.stdout if not want else r.stderr
    cell(v)
    v.clock.set("2030-06-01 12:00:00")
    assert viv("add", "n", "0 3 * * *", "--cell", "c", "--tz", "Europe/Oslo", "--", "sh", "-c", "echo hi; exit 1") == "n: next 2030-06-02T03:00:00+02:00\n"
    assert viv("add", "o", "--at", "2030-12-24T18:00", "--tz", "America/New_York", "--cell", "c", "--", "true") == "o: next 2030-12-24T18:00:00-05:00\n"
    assert viv("add", "i", "--in", "30m", "--tz", "UTC", "--cell", "c", "--", "true").startswith("i: next 2030-06-01T12:3")
    assert viv("add", "boot", "@reboot", "--cell", "c", "--", "true") == "boot: when this machine starts\n"
    assert viv("add", "r", "@daily", "--run", "--", "--memory", "64M", "sh", "-c", "echo new").startswith("r: next")
    assert viv("run", "n").startswith("n: run ")
    ended(v, "n")
    assert viv("logs", "n") == "hi\n"
    assert " failed " in viv("logs", "n", "--all") and json.loads(viv("logs", "n", "--json"))["exit_code"] == 1
    assert viv("ls", "-q").split() == ["boot", "i", "n", "o", "r"]
    rows = viv("ls").splitlines()
    assert rows[0].startswith("NAME") and "sh -c echo hi; exit 1" in rows[3] and " new " in rows[5], rows
    assert "exit_code  1" in viv("show", "n") and json.loads(viv("show", "--json", "n"))["schedule"] == "0 3 * * *"
    viv("run", "r")
    assert ended(v, "r")[0]["state"] == "done" and viv("logs", "r") == "new\n"
    assert viv("pause", "n", "o") == "n\no\n" and get(v, "o")["state"] == "paused"
    assert viv("resume", "n", "o") == "n\no\n" and get(v, "o")["next"] == "2030-12-24T18:00:00-05:00"
    # What is refused, with the way out.
    assert "30 February" in viv("add", "x", "0 0 30 2 *", "--cell", "c", "--", "true", want=2)
    assert "minute '61'" in viv("add", "x", "61 * * * *", "--cell", "c", "--", "true", want=2)
    assert "Europe/Oslo" in viv("add", "x", "@daily", "--tz", "../../etc/passwd", "--cell", "c", "--", "true", want=2)
    assert "already" in viv("add", "n", "@daily", "--cell", "c", "--", "true", want=5)
    assert "in the past" in viv("add", "x", "--at", "2001-01-01T00:00", "--cell", "c", "--", "true", want=2)
    assert "one of --cell" in viv("add", "x", "@daily", "--", "true", want=2)
    assert "COMMAND" in viv("add", "x", "@daily", "--cell", "c", want=2)
    assert "no name" in viv("add", "x", "@daily", "--run", "--", "--name", "q", "true", want=2)
    assert "no cell" in viv("add", "x", "@daily", "--cell", "nope", "--", "true", want=3)
    assert "no session" in viv("add", "x", "@daily", "--session", "s_nope", "--prompt", "hi", want=3)
    assert "no schedule" in viv("rm", "nope", want=3)
    viv("rm", "n", "o", "i", "boot", "r")
    assert v.call("GET", "/v1/schedules", want=200) == {"schedules": []}


def missed(v):
    """Times that pass without vivd, or when the clock is set: none, one, all; never twice."""
    cell(v)
    v.clock.set("2030-01-01 00:30:00")
    for how in ("none", "one", "all"):
        add(v, how, schedule="0 * * * *", cell="c", command=["true"], catch_up=how)
    add(v, "shot", at="2030-01-01T02:00:00Z", cell="c", command=["true"])
    add(v, "strict", at="2030-01-01T02:00:00Z", catch_up="none", cell="c", command=["true"])
    assert get(v, "none")["next"] == "2030-01-01T01:00:00Z"
    pid = v.kill()
    soon(lambda: gone(pid), "its end")
    v.clock.set("2030-01-01 05:30:00")
    v.start()
    assert len(ended(v, "all", 5)) == 5 and len(ended(v, "one")) == 1 and len(ended(v, "shot")) == 1
    assert [r["due"][11:16] for r in ended(v, "all", 5)] == ["01:00", "02:00", "03:00", "04:00", "05:00"]
    assert {r["reason"] for r in ended(v, "all", 5)} == {"late"} and ended(v, "one")[0]["due"][11:16] == "05:00"
    assert runs(v, "none") == [] and runs(v, "strict") == [] and get(v, "strict")["state"] == get(v, "shot")["state"] == "finished"
    assert [(e["count"], e["reason"]) for e in events(v, "cron.skipped", "none")] == [(5, "missed")]
    assert [(e["count"], e["reason"]) for e in events(v, "cron.skipped", "one")] == [(4, "missed")]
    # In the order of their times, one after the other.
    every = ended(v, "all", 5)
    assert all(a["ended"] <= b["started"] for a, b in zip(every, every[1:])), every
    # A clock that is set back by less than three hours repeats nothing ...
    v.clock.set("2030-01-01 03:30:00")
    v.replace()
    assert get(v, "one")["next"] == "2030-01-01T06:00:00Z", get(v, "one")
    v.clock.set("2030-01-01 05:45:00")
    assert get(v, "one")["next"] == "2030-01-01T06:00:00Z" and get(v, "one")["fired"] == 1
    # ... and by more, was wrong before.
    v.clock.set("2029-12-31 20:30:00")
    soon(lambda: get(v, "one")["next"] == "2029-12-31T21:00:00Z", "the next time by the new clock")
    # A time that came a moment ago is not missed.
    v.clock.set("2029-12-31 21:00:10")
    soon(lambda: [r["reason"] for r in ended(v, "none")] == ["time"], "a time that has just come")
    # Years of every minute: bounded, and said.
    add(v, "minutes", schedule="* * * * *", cell="c", command=["true"], catch_up="all", history=100)
    pid = v.kill()
    soon(lambda: gone(pid), "its end")
    v.clock.set("2040-01-01 00:00:30")
    v.start()
    soon(lambda: get(v, "minutes")["fired"] >= 100, "a hundred")
    (skipped,) = events(v, "cron.skipped", "minutes")
    assert skipped["count"] >= 800 and skipped["more"] is True, skipped
    assert get(v, "minutes")["fired"] <= 103, get(v, "minutes")
    assert all(get(v, n)["next"] == "2040-01-01T01:00:00Z" for n in ("none", "one", "all"))


def overlaps(v):
    """skip, allow, queue; a time-out really ends what runs."""
    cell(v)
    v.clock.set("2030-01-01 00:30:00")
    # Each run waits until the test says so.
    hold = sh("echo $VIVARIUM_RUN >>/tmp/began; until test -e /tmp/go.$VIVARIUM_SCHEDULE; do sleep 0.05; done")
    for how in ("skip", "allow", "queue"):
        add(v, how, schedule="0 * * * *", cell="c", command=hold, overlap=how, **({"queue": 2} if how == "queue" else {}))
    for hour in range(1, 6):
        v.clock.set(f"2030-01-01 0{hour}:00:05")
        soon(lambda: all(get(v, n)["fired"] + get(v, n)["skipped"] == hour for n in ("skip", "allow", "queue")), f"hour {hour}")
    state = {n: (get(v, n)["fired"], get(v, n)["skipped"]) for n in ("skip", "allow", "queue")}
    assert state == {"skip": (1, 4), "allow": (5, 0), "queue": (3, 2)}, state
    soon(lambda: get(v, "allow")["running"] == 5, "five at a time")
    assert get(v, "queue")["running"] == 1 and get(v, "queue")["queued"] == 2
    assert {e["reason"] for e in events(v, "cron.skipped", "queue")} == {"queue_full"} and {e["reason"] for e in events(v, "cron.skipped", "skip")} == {"overlap"}
    assert v.call("POST", "/v1/schedules/skip/run")["code"] == "busy"
    assert v.call("DELETE", "/v1/schedules/skip")["code"] == "in_use"
    # A vivd that is killed meanwhile finds all of them again.
    v.replace()
    assert get(v, "queue")["running"] == 1 and get(v, "queue")["queued"] == 2
    v.exec("c", "touch", "/tmp/go.allow", "/tmp/go.queue")
    assert len(ended(v, "allow", 5)) == 5 and len(ended(v, "queue", 3)) == 3
    assert all(r["state"] == "done" for n in ("allow", "queue") for r in runs(v, n))
    assert sorted(v.exec("c", "cat", "/tmp/began").split()) == sorted(set(v.exec("c", "cat", "/tmp/began").split())), "each began once"
    # Removed while it runs: it is ended.
    v.call("DELETE", "/v1/schedules/skip?force=1", want=204)
    soon(lambda: not [p for p in v.call("GET", "/v1/cells/c/processes")["processes"] if p["proc"] != 1 and not p["ended"]], "its process's end")
    # Its time is up, whatever it ignores, with its children.
    add(v, "slow", cell="c", timeout=1, command=sh("trap '' TERM HUP; sleep 1234 & echo begun; while :; do sleep 1; done"))
    v.call("POST", "/v1/schedules/slow/run", want=201)
    (r,) = ended(v, "slow")
    assert r["timed_out"] and r["exit_code"] == 124 and r["state"] == "failed" and output(v, "slow") == "begun\n", r
    soon(lambda: "sleep 1234" not in v.exec("c", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), "no child is left")
    add(v, "newslow", run={"command": sh("trap '' TERM; echo in; while :; do sleep 1; done")}, timeout=1)
    v.call("POST", "/v1/schedules/newslow/run", want=201)
    (r,) = ended(v, "newslow")
    assert r["timed_out"] and r["exit_code"] == 124 and output(v, "newslow") == "in\n", r
    # Runs that wait do not start a cell that is being removed.
    add(v, "many", cell="c", overlap="queue", queue=100, command=["true"])
    for _ in range(60):
        v.call("POST", "/v1/schedules/many/run", want=201)
    v.call("DELETE", "/v1/cells/c?force=1", want=204)
    assert [s["name"] for s in v.call("GET", "/v1/schedules", want=200)["schedules"]] == ["newslow"]


def killed(v):
    """vivd is killed at random moments while schedules fire: each time runs once, and none is lost."""
    rng = random.Random(7)
    cell(v, "c")
    cell(v, "d")
    v.clock.set("2030-01-01 00:30:00")
    t0 = datetime(2030, 1, 1, tzinfo=timezone.utc).timestamp()
    names = []
    for i in range(8):
        names.append(f"s{i}")
        add(v, names[-1], schedule="0 * * * *", cell="cd"[i % 2], overlap="queue", queue=100, catch_up="one", history=100,
            command=sh("echo $VIVARIUM_SCHEDULE $VIVARIUM_RUN >>/var/tmp/log"))
    add(v, "new", schedule="0 * * * *", overlap="queue", queue=100, catch_up="one", history=100,
        run={"command": sh("echo ran"), "mounts": [{"source": v.top + "/shared", "target": "/shared"}]})
    v.call("DELETE", "/v1/schedules/new", want=204)
    os.makedirs(v.top + "/shared")
    add(v, "new", schedule="0 * * * *", overlap="queue", queue=100, catch_up="one", history=100,
        run={"command": sh("mktemp /shared/XXXXXXXX"), "mounts": [{"source": v.top + "/shared", "target": "/shared"}]})
    rounds = 12
    for n in range(1, rounds + 1):
        v.clock.write(int(t0 + 3600 * n + 2 - time.time()))
        time.sleep(rng.choice([0, 0.005, 0.01, 0.02, 0.04, 0.08]) * rng.random() * 2)  # any moment will do
        v.replace()
    for name in names + ["new"]:
        got = ended(v, name, rounds)
        odd = [r for r in got if r["state"] != "done"]
        assert len(got) == rounds and not odd, (name, len(got), odd)
        assert [r["due"][11:13] for r in got] == [f"{n:02d}" for n in range(1, rounds + 1)], (name, got)
        s = get(v, name)
        assert (s["fired"], s["skipped"]) == (rounds, 0), s
    for c in "cd":
        lines = v.exec(c, "cat", "/var/tmp/log").split("\n")[:-1]
        want = [f"{n} {r['run']}" for n in names if get(v, n)["cell_name"] == c for r in runs(v, n)]
        assert sorted(lines) == sorted(want), (sorted(set(want) - set(lines)), [x for x in lines if lines.count(x) > 1])
    assert len(os.listdir(v.top + "/shared")) == rounds, os.listdir(v.top + "/shared")
    # What ended while nobody was there, and a cell that ended with its run.
    add(v, "gone", cell="c", command=sh("until test -e /var/tmp/go; do sleep 0.02; done; echo late; exit 5"))
    v.call("POST", "/v1/schedules/gone/run", want=201)
    soon(lambda: runs(v, "gone")[0]["state"] == "running", "it runs")
    v.exec("c", "sh", "-c", "(sleep 0.3; touch /var/tmp/go) >/dev/null 2>&1 &")
    pid = v.kill()
    soon(lambda: gone(pid), "its end")
    v.start()
    (r,) = ended(v, "gone")
    assert r["exit_code"] == 5 and output(v, "gone") == "late\n", r
    add(v, "lost", cell="c", command=sh("echo before; sleep 1000"))
    v.call("POST", "/v1/schedules/lost/run", want=201)
    soon(lambda: output(v, "lost") == "before\n", "output of a run that is not over")
    v.call("POST", "/v1/cells/c/kill", {}, want=200)
    (r,) = ended(v, "lost")
    assert r["state"] == "failed" and (r.get("exit_code") == 137 or "cell ended" in r["error"]["message"]), r


def begun(v):
    """The start of a new cell was under way when vivd was killed: it is met again, or started if it never began, and never twice."""
    shared = v.top + "/shared"
    os.makedirs(shared)
    names = ("running", "ended", "unborn", "lost", "rebooted")
    for n in names:
        add(v, n, run={"command": sh(f"echo x >>/shared/{n}; until test -e /shared/go.{n}; do sleep 0.05; done; echo ran; exit 4"),
                       "mounts": [{"source": shared, "target": "/shared"}]})
        v.call("POST", f"/v1/schedules/{n}/run", want=201)
    soon(lambda: all(os.path.exists(f"{shared}/{n}") for n in names), "all of them run")
    # vivd knows of it a moment after the command ran.
    soon(lambda: all("pid" in c for c in v.cells().values()), "that vivd knows their processes")
    cells = {c["labels"]["vivarium.schedule"]: c for c in v.cells().values()}
    pid = v.kill()
    soon(lambda: gone(pid), "its end")
    files = lambda n: [f"{v.run}/cells/{f}" for f in os.listdir(f"{v.run}/cells") if f.startswith(cells[n]["id"] + ".")]
    # One ends by itself, three with their keepers; two of these are as if no keeper had come up.
    open(f"{shared}/go.ended", "w").close()
    soon(lambda: f"{v.run}/cells/{cells['ended']['id']}.sock" not in files("ended"), "its end")
    for n in ("unborn", "lost", "rebooted"):
        keeper = processes()[cells[n]["pid"]][0]
        kill9(keeper)
        soon(lambda: gone(keeper) and gone(cells[n]["pid"]), "its end")
        assert files(n), n
    for n in ("unborn", "rebooted"):
        for f in files(n):
            os.unlink(f)
    db = sqlite3.connect(f"{v.top}/state/vivarium/state.db")
    for n in names:
        assert db.execute("UPDATE cells SET state=2 WHERE id=?", (cells[n]["id"],)).rowcount == 1
    for run, live in db.execute("SELECT r.id,r.live FROM schedule_runs r JOIN schedules s ON s.row=r.schedule WHERE s.name='rebooted'").fetchall():
        db.execute("UPDATE schedule_runs SET live=? WHERE id=?", (json.dumps({**json.loads(live), "boot": "another"}), run))
    db.commit()
    db.close()
    v.start()
    soon(lambda: open(f"{shared}/unborn").read() == "x\nx\n", "the start that never was")
    for n in ("running", "unborn"):
        open(f"{shared}/go.{n}", "w").close()
    for n in ("running", "ended", "unborn"):
        (r,) = ended(v, n)
        assert r["exit_code"] == 4 and "error" not in r and output(v, n) == "ran\n", (n, r)
    for n in ("lost", "rebooted"):
        (r,) = ended(v, n)
        assert r["state"] == "failed" and "keeper was killed" in json.dumps(r["error"]), (n, r)
    assert {n: len(open(f"{shared}/{n}").read().split()) for n in names} == {n: 2 if n == "unborn" else 1 for n in names}


def prompts(v):
    """A prompt in a session: sent once, whatever happens to vivd; its answer is the output."""
    cell(v, mounts=[{"source": HERE, "target": "/e2e", "readonly": True}])
    v.call("POST", "/v1/cells/c/start", want=200)
    s = v.call("POST", "/v1/cells/c/sessions", {"command": ["python3", "/e2e/acpagent.py"]}, want=201)["id"]
    v.clock.set("2030-01-01 00:30:00")
    add(v, "p", schedule="0 * * * *", session=s, prompt="say hello", overlap="queue", queue=100, catch_up="one")
    for n in range(1, 5):
        v.clock.set(f"2030-01-01 0{n}:00:05")
        time.sleep(random.random() / 20)  # any moment will do
        v.replace()
    got = ended(v, "p", 4)
    assert [r["state"] for r in got] == ["done"] * 4, got
    lines = v.call("GET", f"/v1/cells/c/sessions/{s}/events", want=200)
    assert len([e for e in lines if e["type"] == "prompt"]) == 4 and {e["data"]["by"] for e in lines if e["type"] == "prompt"} == {"schedule p"}
    assert output(v, "p") == "hello", output(v, "p")
    # Its time is up: only this prompt is ended.
    add(v, "slow", session=s, prompt="until_cancel", timeout=1)
    v.call("POST", "/v1/schedules/slow/run", want=201)
    (r,) = ended(v, "slow")
    assert r["timed_out"] and r["state"] == "failed", r
    # One that does not listen is ended.
    add(v, "deaf", session=s, prompt="say in; ignore_cancel", timeout=1)
    v.call("POST", "/v1/schedules/deaf/run", want=201)
    (r,) = ended(v, "deaf")
    assert r["timed_out"] and r["state"] == "failed" and output(v, "deaf") == "in", r
    v.call("DELETE", f"/v1/cells/c/sessions/{s}", want=204)
    v.call("POST", "/v1/schedules/p/run", want=201)
    assert "session" in ended(v, "p", 5)[-1]["error"]["message"]


def rights(v):
    """Who may see and change what; bounds; two thousand malformed requests."""
    a, b = cell(v, "a"), cell(v, "b")
    add(v, "of-a", cell="a", command=["true"], env={"SECRET": "x"})
    add(v, "of-b", cell="b", command=["true"])
    add(v, "new", run={"command": ["true"], "env": {"SECRET": "x"}})

    def token(scope, c=None):
        t = v.call("POST", "/v1/tokens", {"scope": scope, **({"cell": c} if c else {})}, 201)["token"]
        return {"Authorization": f"Bearer {t}"}
    own, read, look = token("cell", a), token("read"), token("read", a)

    def ask(method, path, who, body=None):
        return v.ask(method, path, body, headers=who)
    names = lambda who: [s["name"] for s in json.loads(ask("GET", "/v1/schedules", who)[1])["schedules"]]
    assert names(own) == names(look) == ["of-a"] and names(read) == ["new", "of-a", "of-b"]
    for path in ("of-b", "new", "of-b/runs", "new/runs/1"):
        assert ask("GET", f"/v1/schedules/{path}", own)[0] == 404, path
    assert ask("POST", "/v1/schedules/of-b/run", own)[0] == 404 and ask("POST", "/v1/schedules/of-a/run", own)[0] == 201
    assert ask("POST", "/v1/schedules/of-a/run", look)[0] == 403
    for method, path in (("DELETE", "of-a"), ("POST", "of-a/pause"), ("POST", "of-a/resume")):
        assert ask(method, f"/v1/schedules/{path}", own)[0] == 403 and ask(method, f"/v1/schedules/{path}", read)[0] == 403, path
    assert ask("POST", "/v1/schedules", own, {"name": "x", "schedule": "@daily", "cell": "a", "command": ["true"]})[0] == 403
    assert b"SECRET" not in ask("GET", "/v1/schedules", read)[1] and b"SECRET" in ask("GET", "/v1/schedules", own)[1]
    ended(v, "of-a")
    # Bounds and wrong values.
    good = {"schedule": "@daily", "tz": "UTC", "cell": "a", "command": ["true"]}
    wrong = [{"schedule": "x"}, {"tz": "Nowhere/At_All"}, {"tz": "../UTC"}, {"command": []}, {"command": [""]}, {"command": ["x"] * 2000}, {"command": ["x" * 70000]},
             {"overlap": "maybe"}, {"catch_up": "some"}, {"queue": 5}, {"overlap": "queue", "queue": 0}, {"overlap": "queue", "queue": 101}, {"jitter": 1e9},
             {"jitter": -1}, {"timeout": 1e12}, {"history": 0}, {"history": 1000}, {"env": {"A=B": "c"}}, {"env": {"": "c"}}, {"at": "2030-01-01T00:00Z"},
             {"prompt": "hi"}, {"session": "s_1"}, {"run": {"command": ["x"]}}, {"cell": None}, {"cell": "nope"}, {"unknown": 1}, {"schedule": "* " * 400},
             {"schedule": "0 0 31 2 *"}, {"schedule": 5}, {"command": "true"}, {"command": [1]}]
    for w in wrong:
        status, out = v.ask("POST", "/v1/schedules", {"name": "w", **good, **w})
        assert 400 <= status < 500, (w, status, out)
    for name in ("", "a b", "../x", "x" * 65, "é", "a/b", ".."):
        assert v.ask("POST", "/v1/schedules", {"name": name, **good})[0] == 400, name
    for run in ({}, {"command": ["x"], "name": "n"}, {"command": ["x"], "restart": {"policy": "always"}}, {"command": ["x"], "image": "nope"}, {"x": 1}):
        assert 400 <= v.ask("POST", "/v1/schedules", {"name": "w", "schedule": "@daily", "run": run})[0] < 500, run
    rng = random.Random(3)
    fields = list(good) + ["name", "at", "in", "session", "prompt", "run", "overlap", "queue", "catch_up", "jitter", "timeout", "history", "env"]
    values = [None, 0, -1, 1e300, "", "x", [], [[]], {}, {"a": 1}, True, "* * * * *", "@reboot", 1 << 62, "\u0000"]
    for _ in range(300):
        body = {f: rng.choice(values) for f in rng.sample(fields, rng.randint(1, 6))}
        status, out = v.ask("POST", "/v1/schedules", body)
        assert status == 201 or 400 <= status < 500, (body, status, out)
    assert v.ask("GET", "/v1/schedules/of-a/runs/0")[0] == v.ask("GET", "/v1/schedules/of-a/runs/-1")[0] == v.ask("GET", "/v1/schedules/of-a/runs/99999")[0] == 404
    # One-shots that are over make room; others do not.
    have = len(v.call("GET", "/v1/schedules")["schedules"])
    for i in range(1000 - have):
        add(v, f"n{i}", cell="b", command=["true"])
    assert v.call("POST", "/v1/schedules", {"name": "over", **good})["code"] == "too_many"
    assert len(v.call("GET", "/v1/schedules")["schedules"]) == 1000
    v.replace()
    assert len(v.call("GET", "/v1/schedules")["schedules"]) == 1000


def clocked(v):
    """A vivd whose clock is the test's."""
    v.clock = Clock(v.top)
    v.env["VIVD_TEST_CLOCK"] = v.clock.file
    v.stop()
    v.start()
    {f.__name__: f for f in CASES}[sys.argv[3].split(":")[1]](v)


CASES = [basic, cli, missed, overlaps, killed, begun, prompts, rights]

if __name__ == "__main__":
    clocked.__name__ = sys.argv[3]
    run_case(clocked)
