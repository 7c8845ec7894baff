#!/usr/bin/env python3
"""Cells that sleep: sleep.py VIV DIRECTORY CASE."""

import json
import os
import socket
import subprocess
import threading
import urllib.request

import sessions as agents
import wsclient
from vivdclient import Down, gone, run_case, soon

SERVER = "import socket\ns = socket.create_server(('', 8000), backlog=512)\nwhile True:\n    c = s.accept()[0]\n    c.sendall(b'up\\n')\n    c.recv(100)\n    c.close()"


def state(v, cell="a"):
    return v.call("GET", f"/v1/cells/{cell}", want=200)["state"]


def becomes(v, wanted, cell="a"):
    soon(lambda: state(v, cell) == wanted, f"{cell} is {wanted}, not {state(v, cell)}")


def make(v, cell="a", **more):
    return v.call("POST", "/v1/cells", {"name": cell, "start": True, **more}, 201)["id"]


def sleep(v, cell="a", **more):
    c = v.call("POST", f"/v1/cells/{cell}/sleep", more, 200)
    assert c["state"] == "sleeping", c
    return c


def wakes(v, cell_id):
    return [e["reason"] for e in v.events(cell_id, "cell.woken")]


def uses(v):
    i = make(v)
    v.exec("a", "sh", "-c", "echo kept >/root/f; echo lost >/dev/shm/f")
    pid = v.call("GET", "/v1/cells/a")["pid"]
    c = sleep(v)
    assert gone(pid) and "pid" not in c and c["reason"] == "sleep", c
    assert not os.path.exists(f"{v.run}/cells/{i}.sock")
    assert [e["reason"] for e in v.events(i, "cell.sleeping")] == ["asked"]
    assert v.call("GET", "/v1/cells?state=sleeping")["cells"][0]["id"] == i
    assert "sleeping" in v.cli("ps").stdout
    # Looking at it is no use of it.
    v.call("GET", "/v1/cells/a/snapshots", want=200)
    assert v.ask("GET", "/v1/cells/a/processes")[0] == 409
    assert state(v) == "sleeping"
    assert v.exec("a", "cat", "/root/f") == "kept\n"
    assert v.exec("a", "sh", "-c", "test -e /dev/shm/f", want=1) == ""
    sleep(v)
    status, out = v.ask("GET", "/v1/cells/a/files?path=/root/f")
    assert (status, out) == (200, b"kept\n"), (status, out)
    sleep(v)
    open(f"{v.top}/up", "w").write("x" * 200000)
    r = v.cli("cp", f"{v.top}/up", "a:/root/up")
    assert r.returncode == 0, r.stderr
    sleep(v)
    r = v.cli("exec", "a", "--", "sh", "-c", "wc -c </root/up; exit 7")
    assert (r.returncode, r.stdout) == (7, "200000\n"), r
    assert v.cli("sleep", "a").stdout == "a\n"
    w = wsclient.WebSocket(v.socket, "/v1/cells/a/exec")
    # Put to sleep before the first message, it is woken by that.
    sleep(v)
    w.say(command=["cat"])
    w.input(b"typed")
    w.say(type="stdin_close")
    assert w.rest()[0] == b"typed"
    sleep(v)
    assert v.cli("wake", "a").stdout == "a\n"
    assert wakes(v, i) == ["exec", "files", "files", "exec", "exec", "exec", "asked"], wakes(v, i)
    # A token that may only read starts nothing, and sees its files.
    sleep(v)
    token = v.call("POST", "/v1/tokens", {"name": "r", "scope": "read"}, 201)["token"]
    head = {"Authorization": f"Bearer {token}"}
    assert v.ask("GET", "/v1/cells/a/files?path=/root/f", headers=head) == (200, b"kept\n")
    assert state(v) == "sleeping"
    # A token for another cell wakes nothing.
    make(v, "b")
    token = v.call("POST", "/v1/tokens", {"name": "c", "scope": "cell", "cell": "b"}, 201)["token"]
    assert v.ask("POST", "/v1/cells/a/exec", {"command": ["true"]}, {"Authorization": f"Bearer {token}"})[0] == 404
    assert state(v) == "sleeping"
    # Stopped, it is not woken; and it can sleep without having run.
    assert v.call("POST", "/v1/cells/a/stop", {}, 200)["state"] == "stopped"
    assert v.ask("POST", "/v1/cells/a/exec", {"command": ["true"]})[0] == 409
    assert v.ask("POST", "/v1/cells/a/wake")[0] == 409
    r = v.cli("exec", "a", "true")
    assert r.returncode and "does not run" in r.stderr, r
    sleep(v)
    assert v.exec("a", "cat", "/root/f") == "kept\n"
    sleep(v)
    v.call("DELETE", "/v1/cells/a", want=204)
    # What cannot sleep, and what a wait sees of it.
    n = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    assert v.ask("POST", f"/v1/cells/{n}/sleep", {})[0] == 409
    assert v.ask("POST", "/v1/cells", {"sleep_after": 3})[0] == 400
    i = make(v, "w", command=["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"], restart={"policy": "always"})
    waiter = subprocess.Popen([v.viv, "wait", "w"], env=v.env, stdout=subprocess.PIPE)
    sleep(v, "w")
    v.call("POST", "/v1/cells/w/wake", want=200)
    assert waiter.poll() is None and not v.events(i, "cell.restarting")
    sleep(v, "w")
    v.call("POST", "/v1/cells/w/stop", {}, 200)
    assert waiter.wait(60) == 0


def together(n, fn):
    """The results of n calls at once."""
    out = [None] * n

    def one(k):
        try:
            out[k] = fn(k)
        except Exception as e:
            out[k] = e
    threads = [threading.Thread(target=one, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def stubborn(v, cell="a", **more):
    """A cell whose command does not end when it is asked to."""
    i = make(v, cell, command=["sh", "-c", "trap : TERM; : >/root/up; while :; do sleep 0.02; done"], stop_grace=300, **more)
    soon(lambda: v.ask("GET", f"/v1/cells/{cell}/files/stat?path=/root/up")[0] == 200, "its trap")
    return i


def drowsy(v, cell="a", **more):
    """It falls asleep, until its command is killed or the grace is over."""
    t = threading.Thread(target=lambda: together(1, lambda k: v.ask("POST", f"/v1/cells/{cell}/sleep", more)))
    t.start()
    becomes(v, "stopping", cell)
    return t


def waiters(v):
    # All of these come while it falls asleep.
    i = stubborn(v)
    sleeper = drowsy(v)
    results = []
    many = threading.Thread(target=lambda: results.extend(together(24, lambda k: v.exec("a", "echo", str(k)))))
    many.start()
    cli = subprocess.Popen([v.viv, "exec", "a", "--", "echo", "cli"], env=v.env, stdout=subprocess.PIPE)
    # One that goes away does not take the others with it.
    s = socket.socket(socket.AF_UNIX)
    s.connect(v.socket)
    body = json.dumps({"command": ["touch", "/root/gone"]})
    s.sendall(f"POST /v1/cells/a/exec HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    s.close()
    assert state(v) == "stopping"
    v.call("POST", "/v1/cells/a/kill", {"signal": 9}, 200)
    many.join()
    sleeper.join()
    assert results == [f"{k}\n" for k in range(24)], results
    assert cli.communicate(timeout=120)[0] == b"cli\n"
    assert len(wakes(v, i)) == 1, wakes(v, i)
    # One that cannot be started answers all with the reason, and is not tried for each.
    os.mkdir(f"{v.top}/dir")
    i = make(v, "m", mounts=[{"source": f"{v.top}/dir", "target": "/m"}])
    sleep(v, "m")
    os.rmdir(f"{v.top}/dir")
    answers = together(16, lambda k: v.ask("POST", "/v1/cells/m/exec", {"command": ["true"]}))
    assert all(s in (409, 422) for s, _ in answers), answers
    assert any(s == 422 and b"there is no" in out for s, out in answers), answers
    starts = [e for e in v.events(i, "cell.state") if e["state"] == "starting"]
    assert len(starts) == 2 and state(v, "m") == "failed", starts
    r = v.cli("exec", "m", "true")
    assert r.returncode != 0, r
    os.mkdir(f"{v.top}/dir")
    sleep(v, "m")
    v.exec("m", "true")


def unused(v):
    i = make(v, sleep_after=0.4, health={"command": ["true"], "interval": 0.05}, restart={"policy": "always"})
    becomes(v, "sleeping")
    assert [e["reason"] for e in v.events(i, "cell.sleeping")] == ["unused"]
    # A command that runs for as long as this test wants it to.
    x = subprocess.Popen([v.viv, "exec", "-i", "a", "--", "cat"], env=v.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    x.stdin.write(b"1")
    x.stdin.flush()
    assert x.stdout.read(1) == b"1"
    n = len(v.events(i, "cell.sleeping"))
    until(v, 1.5)
    assert len(v.events(i, "cell.sleeping")) == n and state(v) == "running"
    x.stdin.close()
    assert x.wait(60) == 0
    becomes(v, "sleeping")
    # Somebody who watches its files, until he goes.
    s = socket.socket(socket.AF_UNIX)
    s.connect(v.socket)
    s.sendall(b"GET /v1/cells/a/files/watch?path=/root HTTP/1.1\r\nHost: x\r\n\r\n")
    assert s.recv(12) == b"HTTP/1.1 200"
    n = len(v.events(i, "cell.sleeping"))
    until(v, 1.5)
    assert len(v.events(i, "cell.sleeping")) == n
    s.close()
    becomes(v, "sleeping")
    # What an exec leaves behind is ended with it: sleep was asked for.
    v.exec("a", "sh", "-c", "sleep 1000 >/dev/null 2>&1 &")
    becomes(v, "sleeping")
    # Changed while it runs.
    v.exec("a", "true")
    v.call("PATCH", "/v1/cells/a", {"sleep_after": 0}, 200)
    v.exec("a", "true")
    n = len(v.events(i, "cell.sleeping"))
    until(v, 1.5)
    assert len(v.events(i, "cell.sleeping")) == n and state(v) == "running"
    assert v.cli("update", "--sleep-after", "300ms", "a").returncode == 0
    becomes(v, "sleeping")
    # A command of its own is not use; without the setting it is not put to sleep.
    make(v, "s", command=["sleep", "100000"], sleep_after=0.3)
    make(v, "t", command=["sleep", "100000"])
    becomes(v, "sleeping", "s")
    assert state(v, "t") == "running"


def until(v, seconds):
    """So much time has passed for another cell that nobody uses, which is asleep by then."""
    until.n = getattr(until, "n", 0) + 1
    make(v, f"clock{until.n}", sleep_after=seconds)
    becomes(v, "sleeping", f"clock{until.n}")


def said(port):
    with socket.create_connection(("127.0.0.1", port), 120) as s:
        s.settimeout(120)
        return s.recv(100)


def ports(v):
    # Its program takes its time until it listens.
    i = make(v, command=["sh", "-c", f"sleep 0.3; exec python3 -c \"{SERVER}\""], ports=["127.0.0.1:0:8000", "127.0.0.1:0:8001/udp"], sleep_after=0.5, stop_grace=1)
    port, udp = (p["host_port"] for p in v.call("GET", "/v1/cells/a")["ports"])
    becomes(v, "sleeping")
    assert [p["host_port"] for p in v.call("GET", "/v1/cells/a")["ports"]] == [port, udp]
    assert said(port) == b"up\n"
    assert wakes(v, i) == ["port"]
    # A connection that is open keeps it awake.
    with socket.create_connection(("127.0.0.1", port), 120) as s:
        assert s.recv(100) == b"up\n"
        n = len(v.events(i, "cell.sleeping"))
        until(v, 2)
        assert len(v.events(i, "cell.sleeping")) == n and state(v) == "running"
    becomes(v, "sleeping")
    # Many at once are one wake, and none is lost.
    v.call("PATCH", "/v1/cells/a", {"sleep_after": 0}, 200)
    n = len(wakes(v, i))
    assert together(40, lambda k: said(port)) == [b"up\n"] * 40
    assert len(wakes(v, i)) == n + 1
    sleep(v)
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", udp))
    becomes(v, "running")
    # A vivd that is started anew listens there as well.
    sleep(v)
    v.replace()
    assert said(port) == b"up\n"
    # Stopped, nobody listens.
    sleep(v)
    v.call("POST", "/v1/cells/a/stop", {}, 200)
    try:
        said(port)
        raise AssertionError("somebody listens for a stopped cell")
    except ConnectionRefusedError:
        pass
    # A preview, whose token stays.
    page = "import http.server\nhttp.server.HTTPServer(('', 80), http.server.SimpleHTTPRequestHandler).serve_forever()"
    j = make(v, "p", command=["sh", "-c", f"sleep 0.3; cd /usr; exec python3 -c \"{page}\""], stop_grace=1)
    url = v.call("POST", "/v1/cells/p/previews", {"port": 80}, 201)["path_url"]
    sleep(v, "p")
    assert urllib.request.urlopen(url, timeout=120).status == 200
    sleep(v, "p")
    assert v.call("POST", "/v1/cells/p/fetch", {"port": 80, "timeout": 60}, 200)["status"] == 200
    assert wakes(v, j) == ["preview", "fetch"], wakes(v, j)


def sessions(v):
    more = {"mounts": [{"source": agents.HERE, "target": "/e2e", "readonly": True}]}
    i = make(v, **more)
    s = agents.Session(v, "a", command=[*agents.AGENT, "--load"])
    s.state("idle")
    assert s.do("say one") == "one"
    sleep(v)
    s.state("idle")
    assert s.do("say two") == "two"
    assert wakes(v, i) == ["prompt"], wakes(v, i)
    # A prompt that comes while it falls asleep is for the next agent.
    i = stubborn(v, "c", **more)
    t = agents.Session(v, "c", command=[*agents.AGENT, "--load"])
    t.state("idle")
    assert t.do("say three") == "three"
    sleeper = drowsy(v, "c")
    p = t.prompt("say four")
    v.call("POST", "/v1/cells/c/kill", {"signal": 9}, 200)
    assert t.turn(p["prompt"])["stop_reason"] == "end_turn" and t.said(p["seq"]) == "four", t.events()
    sleeper.join()
    assert wakes(v, i) == ["prompt"], wakes(v, i)
    # Its agent waits for a prompt: that is no use, but one that could not go on afterwards is.
    v.call("PATCH", "/v1/cells/a", {"sleep_after": 0.4}, 200)
    becomes(v, "sleeping")
    make(v, "b", sleep_after=0.4, **more)
    s = agents.Session(v, "b")
    s.state("idle")
    assert s.do("say here") == "here"
    n = len(v.events(v.call("GET", "/v1/cells/b")["id"], "cell.sleeping"))
    until(v, 1.5)
    assert state(v, "b") == "running" and len(v.events(v.call("GET", "/v1/cells/b")["id"], "cell.sleeping")) == n
    s.post("close")
    becomes(v, "sleeping", "b")


def killed(v):
    make(v)
    v.exec("a", "sh", "-c", "echo kept >/root/f")
    sleep(v)
    v.replace()
    assert state(v) == "sleeping" and v.exec("a", "cat", "/root/f") == "kept\n"
    # It falls asleep, and goes on with that.
    stubborn(v, "b")
    t = drowsy(v, "b", grace=600)
    v.replace()
    t.join()
    assert state(v, "b") == "stopping"
    v.call("POST", "/v1/cells/b/kill", {"signal": 9}, 200)
    becomes(v, "sleeping", "b")
    # Its command ends while there is no vivd.
    v.call("POST", "/v1/cells/b/wake", want=200)
    pid = v.call("GET", "/v1/cells/b")["pid"]
    soon(lambda: int(v.exec("b", "sh", "-c", "grep SigCgt /proc/2/status").split()[1], 16) & 1 << 14, "its trap")
    t = drowsy(v, "b", grace=600)
    old = v.kill()
    soon(lambda: gone(old), "the end of vivd")
    t.join()
    os.kill(pid, 9)
    soon(lambda: gone(pid), "the end of the cell")
    v.start()
    becomes(v, "sleeping", "b")
    v.exec("b", "true")
    # It wakes, at any moment of that.
    for n in range(6):
        sleep(v)
        t = threading.Thread(target=lambda: together(1, lambda k: v.ask("POST", "/v1/cells/a/wake")))
        t.start()
        if n % 2:
            soon(lambda: state(v) != "sleeping", "its start")
        v.replace()
        t.join()
        soon(lambda: state(v) in ("running", "sleeping"), "a cell that runs or sleeps")
        assert v.exec("a", "cat", "/root/f") == "kept\n"
    # Neither way while it is asked for the other.
    out = together(24, lambda k: v.ask("POST", f"/v1/cells/a/{'sleep' if k % 2 else 'wake'}", {} if k % 2 else None)[0])
    assert set(out) <= {200, 409}, out
    assert v.exec("a", "cat", "/root/f") == "kept\n"


def hostile(v):
    # It ignores every signal it can, and makes more of itself.
    bomb = "import os, signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, lambda *a: os.fork())\n    except (OSError, ValueError):\n        pass\nwhile True:\n    signal.pause()"
    make(v, command=["python3", "-c", bomb], limits={"pids": 64}, ports=["127.0.0.1:0:8000"])
    port = v.call("GET", "/v1/cells/a")["ports"][0]["host_port"]
    sleep(v, grace=0.2)
    pid = v.pid()
    fds = len(os.listdir(f"/proc/{pid}/fd"))
    # Nobody ever listens in it: the storm is refused in the end, and costs vivd nothing that stays.
    v.call("PATCH", "/v1/cells/a", {"sleep_after": 0}, 200)
    for n in range(3):
        socks = []
        for k in range(200):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
            socks.append(s)
        becomes(v, "running")
        for s in socks:
            s.close()
        sleep(v, grace=0.2)
    assert len(wakes(v, v.call("GET", "/v1/cells/a")["id"])) >= 3
    soon(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= fds + 4, "as many descriptors as before")
    assert v.pid() == pid
    # A cell that connects to its own sleeping port cannot: nothing of it runs. Another that may not use the network neither.
    make(v, "b")
    v.exec("b", "python3", "-c", f"import socket\ntry:\n    socket.create_connection(('127.0.0.1', {port}), 5)\nexcept OSError:\n    pass\nelse:\n    raise SystemExit(1)")
    assert state(v) == "sleeping"


if __name__ == "__main__":
    run_case(uses, waiters, unused, ports, sessions, killed, hostile)
