#!/usr/bin/env python3
"""Time-outs, restarts and ends of cells that vivd does not see in time: timers.py VIV DIRECTORY CASE."""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import threading
import time

from vivdclient import Down, gone, kill9, processes, run_case, soon

KEEP_STOP, KEEP_MESSAGE = 6, 512  # src/wire/keeper.h


def timeouts(v):
    """Times that were begun are kept: of cells, of processes, of a stop, and idle ones."""
    began = time.monotonic()
    t = v.call("POST", "/v1/cells", {"start": True, "timeout": 2, "command": ["sleep", "1000"]}, 201)["id"]
    x = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    p = v.call("POST", f"/v1/cells/{x}/exec", {"command": ["sleep", "1000"], "detach": True, "timeout": 2}, 201)["proc"]
    i = v.call("POST", "/v1/cells", {"start": True, "idle_timeout": 1.5}, 201)["id"]
    b = v.call("POST", "/v1/cells", {"start": True, "idle_timeout": 6}, 201)["id"]
    v.call("POST", f"/v1/cells/{b}/exec", {"command": ["sh", "-c", "while [ ! -e /tmp/end ]; do sleep 0.05; done"], "detach": True}, 201)
    s = v.call("POST", "/v1/cells", {"name": "s", "start": True, "restart": {"policy": "always"}, "stop_grace": 6,
                                  "command": ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]}, 201)["id"]
    soon(lambda: b"ready" in v.ask("GET", "/v1/cells/s/logs")[1], "its command")
    def stop():
        try:
            v.ask("POST", "/v1/cells/s/stop")
        except Down:  # vivd is killed before it is over
            pass

    threading.Thread(target=stop, daemon=True).start()
    soon(lambda: v.call("GET", "/v1/cells/s")["state"] == "stopping", "its stop")
    v.replace()
    v.replace()
    end = v.call("GET", f"/v1/cells/{t}/wait")
    assert (end["reason"], end["exit_code"]) == ("timeout", 124), end
    assert time.monotonic() - began > 1.9
    end = v.call("GET", f"/v1/cells/{x}/processes/{p}/wait")
    assert end["exit_code"] == 124 and end["signal"] == 15 and end["timed_out"], end
    assert v.call("GET", f"/v1/cells/{i}/wait")["reason"] == "idle"
    # A new vivd knows that something runs in it.
    assert v.call("GET", f"/v1/cells/{b}")["state"] == "running"
    v.exec(b, "touch", "/tmp/end")
    assert v.call("GET", f"/v1/cells/{b}/wait")["reason"] == "idle"
    end = v.call("GET", "/v1/cells/s/wait")
    assert (end["state"], end["reason"]) == ("stopped", "asked"), end
    time.sleep(0.3)
    assert v.call("GET", "/v1/cells/s")["state"] == "stopped" and not v.events(s, "cell.restarting"), "asked to stop, it stays so"


def restarts(v):
    """Numbers and delays of restarts go on where they were; max is max."""
    m = v.call("POST", "/v1/cells", {"name": "m", "start": True, "command": ["sh", "-c", "sleep 0.1; exit 3"], "restart": {"policy": "on-failure", "max": 3}}, 201)["id"]
    a = v.call("POST", "/v1/cells", {"name": "a", "start": True, "command": ["false"], "restart": {"policy": "always"}}, 201)["id"]
    for n in (1, 2, 3):
        soon(lambda: len(v.events(a, "cell.restarting")) >= n, "a restart")
        v.replace()
    soon(lambda: max(e["restarts"] for e in v.events(a, "cell.restarting")) >= 4, "more restarts")
    told = v.events(a, "cell.restarting")
    for e in told:
        assert e["delay_ms"] == 100 * 2 ** (e["restarts"] - 1), told
    numbers = [e["restarts"] for e in told]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, numbers[-1] + 1)), numbers
    soon(lambda: (lambda c: c["state"] == "stopped" and "restart_at" not in c and c["restarts"] == 3)(v.call("GET", "/v1/cells/m")), "the end of its restarts")
    v.replace()
    time.sleep(0.3)
    c = v.call("GET", "/v1/cells/m")
    assert (c["state"], c["restarts"], c["exit_code"]) == ("stopped", 3, 3), c
    assert len([e for e in v.events(m, "cell.state") if e["state"] == "starting"]) == 4
    # Stopped while it waits for a restart, it is not started, by a new vivd neither.
    soon(lambda: "restart_at" in v.call("GET", "/v1/cells/a"), "it waits")
    v.call("POST", "/v1/cells/a/stop", want=200)
    n = len(v.events(a, "cell.state"))
    v.replace()
    time.sleep(0.5)
    assert len(v.events(a, "cell.state")) == n and v.call("GET", "/v1/cells/a")["state"] == "stopped"


def unnamed_before_hello(v, name, spec):
    """(id, thread that starts it) of a cell whose keeper lost its socket's name before vivd could connect; (None, None): vivd was faster."""
    cell = v.call("POST", "/v1/cells", {"name": name, **spec}, 201)["id"]
    start = threading.Thread(target=v.ask, args=("POST", f"/v1/cells/{cell}/start"))
    start.start()
    until = time.monotonic() + 120
    while True:
        try:
            os.rename(f"{v.run}/cells/{cell}.sock", f"socket.{name}")
            break
        except FileNotFoundError:
            assert time.monotonic() < until, "no socket within 30 s"
    now = soon(lambda: next((c for c in [v.call("GET", f"/v1/cells/{cell}", want=200)] if "pid" in c or c["state"] != "starting"), None), "its keeper's word")
    if now["state"] != "running":
        return cell, start
    v.call("POST", f"/v1/cells/{cell}/stop", {"grace": 0}, 200)
    start.join()
    return None, None


def quick_ends(v):
    """A keeper that is at its end, where it cannot be reached any more, is not taken for killed before it is gone."""
    os.mkdir("go")
    spec = {"command": ["sh", "-c", "until test -e /go/on; do sleep 0.02; done; exit 3"],
            "mounts": [{"source": os.path.abspath("go"), "target": "/go", "readonly": True}]}
    for n in range(50):
        cell, start = unnamed_before_hello(v, f"q{n}", spec)
        if cell:
            break
    assert cell, "vivd is always faster"
    open("go/on", "w").close()
    end = v.call("GET", f"/v1/cells/{cell}/wait", want=200)
    assert (end["state"], end["reason"], end["exit_code"]) == ("stopped", "exited", 3), end
    start.join()


def last_words(v):
    """All that a keeper tells at its end is heard, however late vivd comes to it."""
    n = 100  # fit into the socket, so that the keeper need not wait
    cell = v.call("POST", "/v1/cells", {"start": True}, 201)
    for _ in range(n):
        v.call("POST", f"/v1/cells/{cell['id']}/exec", {"command": ["sleep", "1000"], "detach": True}, 201)
    keeper, vivd = processes()[cell["pid"]][0], v.pid()
    os.kill(vivd, signal.SIGSTOP)
    try:
        os.kill(keeper, signal.SIGTERM)
        soon(lambda: gone(keeper), "its end")
    finally:
        os.kill(vivd, signal.SIGCONT)
    end = v.call("GET", f"/v1/cells/{cell['id']}/wait", want=200)
    assert end["state"] == "stopped", end
    assert len(v.events(cell["id"], "process.exited")) == n, len(v.events(cell["id"], "process.exited"))


def ends_unseen(v):
    """A new vivd finds a keeper between the end of its socket and its own: how the cell ended is told, and when its disk is free."""
    record = None
    for name in ("a", "b"):
        cell = v.call("POST", "/v1/cells", {"name": name, "start": True, "command": ["sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"]}, 201)
        soon(lambda: b"ready" in v.ask("GET", f"/v1/cells/{cell['id']}/logs")[1], "its handler")
        left, keeper = f"{v.run}/cells/{cell['id']}", processes()[cell["pid"]][0]
        pid = v.kill()
        soon(lambda: gone(pid), "vivd's end")
        os.kill(keeper, signal.SIGTERM)
        until = time.monotonic() + 120
        while os.path.exists(f"{left}.sock"):
            assert time.monotonic() < until, "it does not end"
        record = open(f"{left}.end", "rb").read()  # it is there before
        assert record
        soon(lambda: gone(keeper), "its end")
        if name == "a":
            v.start()
            assert v.call("GET", "/v1/cells/a", want=200)["exit_code"] == 7
    # The second one as if its keeper took its time.
    with open(f"{left}.end", "r+b") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        v.start()
        b = v.call("GET", "/v1/cells/b", want=200)
        assert b["state"] == "running" and "pid" not in b, b
        assert v.call("POST", "/v1/cells/b/exec", {"command": ["true"]})["code"] == "wrong_state"
    end = v.call("GET", "/v1/cells/b/wait", want=200)
    assert (end["state"], end["reason"], end["exit_code"]) == ("stopped", "asked", 7), end


def mute(v):
    """Keepers that do not answer a new vivd are not taken for gone: one goes on later, the other is killed. Nobody else waits for them."""
    keepers = {}
    v.call("POST", "/v1/cells", {"name": "c", "start": True}, 201)
    for name in ("a", "b"):
        cell = v.call("POST", "/v1/cells", {"name": name, "start": True, "command": ["sleep", "1000"]}, 201)
        keepers[name] = processes()[cell["pid"]][0]

    def anew():
        """How long it takes until a new vivd serves others."""
        pid = v.kill()
        soon(lambda: gone(pid), "vivd's end")
        began = time.monotonic()
        v.start()
        assert v.exec("c", "echo", "on") == "on\n"
        v.call("GET", "/v1/version", want=200)
        return time.monotonic() - began

    # What the machine takes for it when everybody answers is no waiting.
    usual = max(anew(), anew())
    for k in keepers.values():
        os.kill(k, signal.SIGSTOP)
    try:
        took = anew()
        assert took < 3 + 3 * usual, f"others waited {took:.2f} s for keepers that do not answer; usually it takes {usual:.2f} s"
        assert [c["state"] for c in v.cells().values()] == ["running"] * 3, v.cells()
        # Whoever asks for such a cell waits, but not for ever, and holds up nobody.
        late = threading.Thread(target=v.call, args=("GET", "/v1/cells/b"))
        late.start()
        began = time.monotonic()
        v.call("GET", "/v1/cells/c", want=200)
        took = time.monotonic() - began
        assert took < 1.5 + 3 * usual, f"another cell took {took:.2f} s"
        late.join()
        assert "does not answer" in v.call("POST", "/v1/cells/b/exec", {"command": ["true"]})["message"]

        def listing():
            began = time.monotonic()
            v.cells()
            return time.monotonic() - began

        assert min(listing() for _ in range(5)) < 0.4 + usual, "lists still wait for them"
        os.kill(keepers["a"], signal.SIGCONT)
        soon(lambda: "pid" in v.call("GET", "/v1/cells/a", want=200), "its word")
        assert v.exec("a", "echo", "on") == "on\n"
    finally:
        kill9(keepers["b"])
    end = v.call("GET", "/v1/cells/b/wait", want=200)
    assert (end["state"], end["reason"]) == ("failed", "lost"), end
    v.call("POST", "/v1/cells/b/start", want=200)
    v.call("POST", "/v1/cells/a/stop", {"grace": 0}, 200)


def runs_unseen(v):
    """A run of a known cell that is about to end when vivd comes to it is seen, and no record of it is left."""
    assert v.cli("run", "--name", "a", "--", "true").returncode == 0
    cell = soon(lambda: next((i for i, c in v.cells().items() if c["state"] == "completed"), None), "the first run")
    os.kill(v.pid(), signal.SIGSTOP)
    try:
        run = subprocess.Popen([v.viv, "run", "--name", "a", "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"],
                               env=v.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert run.stdout.readline() == b"ready\n"
        keeper = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        keeper.connect(f"{v.run}/cells/{cell}.sock")
        keeper.send(struct.pack("II24xQ", KEEP_STOP, 1, 20 * 10**9).ljust(KEEP_MESSAGE, b"\0"))
        assert keeper.recv(KEEP_MESSAGE)
    finally:
        os.kill(v.pid(), signal.SIGCONT)
    soon(lambda: v.call("GET", "/v1/cells/a", want=200)["state"] == "stopping", "its stop")
    v.call("POST", "/v1/cells/a/stop", {"grace": 0}, 200)
    run.wait(120)
    end = v.call("GET", "/v1/cells/a/wait", want=200)
    assert (end["state"], end["reason"]) == ("stopped", "asked"), end
    soon(lambda: not [f for f in os.listdir(f"{v.run}/cells") if f.endswith(".end")], "no record")


if __name__ == "__main__":
    run_case(timeouts, restarts, quick_ends, last_words, ends_unseen, runs_unseen, mute)
