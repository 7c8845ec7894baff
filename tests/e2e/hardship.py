#!/usr/bin/env python3
"""Hard times for vivd: hardship.py VIV DIRECTORY CASE. DIRECTORY must be empty."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from vivdclient import kill9, run_case, soon

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* The wall clock, so many seconds off as the file says; other clocks as they are. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static volatile int64_t *off;
	int r = (int)syscall(SYS_clock_gettime, id, ts);

	if (!off && getenv("CLOCK_OFFSET")) {
		int fd = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
		off = mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (id == CLOCK_REALTIME && off)
		ts->tv_sec += *off;
	return r;
}
"""


def say_storage(status, out):
    """A clear answer that there is no room."""
    body = json.loads(out)
    assert status == 507 and body["code"] == "storage" and body["message"] and body["remedy"], (status, body)


def full(v):
    """No room for the state: requests say so, cells go on, and all is well when there is room again."""
    v.stop()
    if "--inside" not in sys.argv:
        ns = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        sys.exit(subprocess.run([*ns, sys.executable, *sys.argv, "--inside"]).returncode)
    state = f"{v.top}/state"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", state], check=True)
    v.start()
    for name in ("a", "b", "p"):
        v.call("POST", "/v1/cells", {"name": name, "start": True}, 201)
    proc = v.call("POST", "/v1/cells/b/exec", {"command": ["sh", "-c", "while :; do echo x >>/root/n; sleep 0.02; done"], "detach": True}, 201)["proc"]

    def fill():
        with open(f"{state}/filler", "ab", buffering=0) as f:
            for size in (65536, 4096, 512):
                try:
                    while True:
                        f.write(b"x" * size)
                except OSError:
                    pass

    def exhausted():
        """Until what SQLite has reserved is used up as well."""
        fill()
        status, out = v.ask("POST", "/v1/cells", {})
        return (status, out) if status != 201 else None

    say_storage(*soon(exhausted, "a full disk", 60))
    say_storage(*v.ask("POST", "/v1/cells", {"name": "new"}))
    say_storage(*v.ask("POST", "/v1/tokens", {"scope": "read"}))
    say_storage(*v.ask("POST", "/v1/cells", {"start": True}))
    # What runs goes on, and can be looked at, used, paused and stopped.
    n = int(v.exec("b", "sh", "-c", "cat /root/n 2>/dev/null | wc -l"))
    soon(lambda: int(v.exec("b", "sh", "-c", "cat /root/n 2>/dev/null | wc -l")) > n, "more lines")
    assert v.exec("a", "sh", "-c", "echo w >/root/w && sync /root/w && cat /root/w") == "w\n"
    assert v.call("POST", "/v1/cells/a/pause", want=200)["state"] == "paused"
    assert v.call("GET", "/v1/cells/a", want=200)["state"] == "paused"
    assert v.call("POST", "/v1/cells/a/resume", want=200)["state"] == "running"
    assert v.call("POST", "/v1/cells/p/stop", {"grace": 1}, want=200)["state"] == "stopped"
    # A new vivd on a full disk still finds and serves them.
    v.replace()
    states = {c.get("name"): c["state"] for c in v.cells().values()}
    assert (states["a"], states["b"]) == ("running", "running"), states
    assert v.exec("a", "cat", "/root/w") == "w\n"
    fill()
    status, out = soon(lambda: exhausted(), "a full disk", 60)
    say_storage(status, out)
    # A cell that ends now has ended, whether it can be written or not.
    pid = v.call("GET", "/v1/cells/b")["pid"]
    kill9(pid)
    soon(lambda: v.call("GET", "/v1/cells/b")["state"] == "failed", "its state")
    say_storage(*v.ask("POST", "/v1/cells/b/start"))
    assert v.call("GET", "/v1/cells/b")["state"] == "failed"
    os.unlink(f"{state}/filler")
    v.call("POST", "/v1/cells/b/start", want=200)
    assert int(v.exec("b", "sh", "-c", "cat /root/n 2>/dev/null | wc -l")) > n
    v.call("POST", "/v1/cells", {"name": "new", "start": True}, 201)
    v.call("POST", "/v1/tokens", {"scope": "read"}, 201)
    seqs = [e["seq"] for e in v.call("GET", "/v1/events?since=0&follow=0") if "seq" in e]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "events are numbered without a gap"
    v.replace()
    assert sorted(c["name"] for c in v.cells().values() if "name" in c) == ["a", "b", "new", "p"]
    assert proc


def half_open(v):
    """Connections that are half closed, or whose other side asks and does not read."""
    v.call("POST", "/v1/cells", {"name": "a", "start": True}, 201)
    pid = v.pid()

    def fds():
        return len(os.listdir(f"/proc/{pid}/fd"))

    body = json.dumps({"command": ["sleep", "300"]}).encode()
    exec_head = b"POST /v1/cells/a/exec HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    kinds = [b"GET /v1/vers", b"POST /v1/cells HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", b"GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
             b"GET /v1/events?since=0 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /v1/cells/a/wait HTTP/1.1\r\nHost: x\r\n\r\n", exec_head + body, b""]
    before = soon(fds, "a first look")
    for close in ("write", "both", "reset"):
        socks = []
        for i in range(140):
            s = socket.socket(socket.AF_UNIX)
            s.connect(v.socket)
            s.sendall(kinds[i % len(kinds)])
            if close == "write":
                s.shutdown(socket.SHUT_WR)
            socks.append(s)
        for _ in range(20):
            v.call("GET", "/v1/version", want=200)
        assert v.exec("a", "echo", "on") == "on\n"
        for s in socks:
            if close == "both":
                s.shutdown(socket.SHUT_RDWR)
            s.close()
        soon(lambda: fds() <= before + 2, f"descriptors as before: {before}")
        # What their requests started has been hung up on.
        soon(lambda: not [p for p in v.call("GET", "/v1/cells/a/processes")["processes"] if not p["ended"]], "no process left")
    assert v.pid() == pid


def waits(v):
    """Thousands that wait for an end and go away: nothing is in the way of others, and all who stay are told."""
    v.call("POST", "/v1/cells", {"name": "a", "start": True}, 201)
    proc = v.call("POST", "/v1/cells/a/exec", {"command": ["sleep", "1000"], "detach": True}, 201)["proc"]
    for _ in range(84):
        socks = []
        for _ in range(100):
            s = socket.socket(socket.AF_UNIX)
            s.connect(v.socket)
            s.sendall(b"GET /v1/cells/a/processes/%d/wait HTTP/1.1\r\nHost: x\r\n\r\n" % proc)
            socks.append(s)
        v.call("GET", "/v1/version", want=200)
        for s in socks:
            s.close()
    assert v.exec("a", "echo", "on") == "on\n"
    told = []
    stay = [threading.Thread(target=lambda: told.append(v.call("GET", f"/v1/cells/a/processes/{proc}/wait", want=200)["exit_code"])) for _ in range(5)]
    for t in stay:
        t.start()
    time.sleep(0.2)
    v.call("POST", f"/v1/cells/a/processes/{proc}/signal", {"signal": 15}, 204)
    for t in stay:
        t.join()
    assert told == [143] * 5, told
    v.call("POST", "/v1/cells/a/stop", {"grace": 0}, 200)


def odd_bytes(v):
    """Names, labels, paths and words with every odd byte: taken and given back as they were, or refused with 400."""
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    odd = [chr(i) for i in range(256)] + ["\u2028", "\uffff", "\U0001f980", "\u202e", "\u0301"]
    refused = 0
    for ch in odd:
        for name in (ch, "a" + ch):
            ok = set(name) <= plain and name[0] not in "._-"
            # Of an image that is not there: a name that is accepted gets as far as that.
            status, out = v.ask("POST", "/v1/cells", {"name": name, "image": "none"})
            assert status == (404 if ok else 400) and json.loads(out)["message"], (name, status, out)
            if ok:
                continue
            refused += 1
            status, out = v.ask("POST", "/v1/volumes", {"name": name})
            assert status == 400 and json.loads(out)["message"], (name, status, out)
        status, out = v.ask("GET", "/v1/cells/" + urllib.parse.quote(ch, safe=""))
        assert status in (400, 404) or ch == ".", (ch, status, out)
    assert refused > 300
    # Labels and variables: any character but NUL; what separates name and value is in no name.
    texts = [ch for ch in odd if ch not in "\0"]
    labels = {f"k{ch}": ch * 3 for ch in texts[:64] if ch != "="}
    cell = v.call("POST", "/v1/cells", {"labels": labels, "env": {"ALL": "".join(texts)}, "start": True}, 201)
    assert v.call("GET", f"/v1/cells/{cell['id']}")["labels"] == labels
    for k, val in labels.items():
        found = v.call("GET", "/v1/cells?label=" + urllib.parse.quote(f"{k}={val}", safe=""), want=200)["cells"]
        assert [c["id"] for c in found] == [cell["id"]], (k, val)
    for bad in ({"labels": {"a=b": ""}}, {"labels": {"": ""}}, {"labels": {"k\0": ""}}, {"labels": {"k": "\0"}}, {"labels": {"k" * 129: ""}},
                {"labels": {"k": "v" * 1025}}, {"labels": {str(i): "" for i in range(65)}}, {"env": {"A\0": ""}}, {"env": {"A=": ""}}, {"env": {"": ""}},
                {"command": ["a\0b"]}, {"mounts": [{"target": "/a:b", "tmpfs": True}]}, {"mounts": [{"target": "a", "tmpfs": True}]}, {"workdir": "\0"}):
        status, out = v.ask("POST", "/v1/cells", bad)
        assert status == 400 and json.loads(out)["message"], (bad, status, out)
    # Words of a command and paths of the cell are bytes of their own.
    i, words = cell["id"], "".join(texts)
    assert v.exec(i, "printf", "%s", words) == words
    assert v.exec(i, "sh", "-c", 'printf %s "$ALL"') == words
    place = "/tmp/" + "".join(ch for ch in texts if ch not in "/")[:120]
    v.exec(i, "mkdir", place)
    assert v.exec(i, "pwd", workdir=place) == place + "\n"
    for raw in (b"/v1/cells/%ff", b"/v1/cells/%00", b"/v1/cells/a%00b", b"/v1/cells/%", b"/v1/cells/%zz", b"/v1/cells/..%2f..", b"/v1/cells/%2e%2e/start",
                b"/v1/cells/\xff\xfe", b"/v1/cells?label=%ff", b"/v1/cells?name=%00"):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(v.socket)
            s.sendall(b"GET " + raw + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = b""
            while more := s.recv(65536):
                answer += more
        assert answer.split()[1] in (b"400", b"404", b"405"), (raw, answer[:200])
        head, _, text = answer.partition(b"\r\n\r\n")
        assert b"application/json" not in head or json.loads(text)["message"], (raw, answer)


def tokens(v):
    """A token for one cell on every route of the document: nothing of another cell is seen or done."""
    mine, other = (v.call("POST", "/v1/cells", {"name": n, "env": {"SECRET": "s3cr3t"}, "start": True}, 201) for n in ("mine", "other"))
    doc = v.call("GET", "/v1/openapi.json")
    cell = {"Authorization": "Bearer " + v.call("POST", "/v1/tokens", {"scope": "cell", "cell": "mine"}, 201)["token"]}
    read = {"Authorization": "Bearer " + v.call("POST", "/v1/tokens", {"scope": "read"}, 201)["token"]}
    bad = {"Authorization": cell["Authorization"][:-1] + ("0" if cell["Authorization"][-1] != "0" else "1")}
    seen = 0

    # A preview of another cell is none for it.
    preview = v.call("POST", "/v1/cells/other/previews", {"port": 80}, 201)["id"]
    for method in "GET", "DELETE":
        status, out = v.ask(method, "/v1/previews/" + preview, None, cell)
        assert status == 404, (method, status, out)

    def fill(path, name):
        path = path.replace("{cell}", name).replace("{proc}", "1")
        while "{" in path:
            path = path[:path.index("{")] + "x" + path[path.index("}") + 1:]
        return path + ("?follow=0&since=0" if path.endswith("/events") else "?q=word" if path.endswith("/transcripts") else "")

    for path, ops in doc["paths"].items():
        for method in (m.upper() for m in ops if m in ("get", "post", "put", "delete", "patch", "head")):
            body = {} if "requestBody" in ops[method.lower()] and "json" in str(ops[method.lower()]["requestBody"]) else None
            what = f"{method} {path}"
            seen += 1
            status, out = v.ask(method, fill(path, "other"), body, bad)
            assert status == 401, (what, status, out)
            if "{cell}" in path:
                nobody = v.ask(method, fill(path, "nobody"), body, cell)
                for name in ("other", other["id"], other["id"][:8]):
                    status, out = v.ask(method, fill(path, name), body, cell)
                    assert status in (403, 404), (what, status, out)
                    assert (status, out.replace(name.encode(), b"nobody")) == nobody, f"{what}: another cell and none are told apart: {out} {nobody}"
            else:
                status, out = v.ask(method, fill(path, ""), body, cell)
                assert status in (200, 403) or (status == 404 and "{" in path), (what, status, out)
                assert other["id"].encode() not in out and (path.endswith("openapi.json") or b'"other"' not in out), f"{what} shows another cell"
            status, out = v.ask(method, fill(path, "nobody"), body, read)
            asks = method == "GET" or path.endswith(("/policy/check", "/journal/verify"))
            assert asks or status == 403, f"{what} with a read-only token: {status} {out}"
            if method == "GET" and "{proc}" not in path and not path.endswith(("/wait", "/watch", "/ws", "/attach")):
                status, out = v.ask(method, fill(path, "mine"), None, read)
                assert b"s3cr3t" not in out, f"{what} shows a read-only token the environment"
    assert seen > 30, seen
    states = {c["name"]: c["state"] for c in v.cells().values()}
    assert states == {"mine": "running", "other": "running"}, states
    assert mine


def clock(v):
    """The wall clock jumps; what counts seconds does not."""
    with open(f"{v.top}/clock.c", "w") as f:
        f.write(CLOCK)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", f"{v.top}/clock.so", f"{v.top}/clock.c"], check=True)

    def jump(seconds):
        with open(f"{v.top}/offset", "r+b" if os.path.exists(f"{v.top}/offset") else "wb") as f:
            f.write(int(seconds).to_bytes(8, "little", signed=True))

    jump(0)
    v.stop()
    v.env.update(LD_PRELOAD=f"{v.top}/clock.so", CLOCK_OFFSET=f"{v.top}/offset")
    v.start()
    day = 86400
    r = v.call("POST", "/v1/cells", {"name": "r", "start": True, "command": ["sh", "-c", "sleep 0.3; exit 1"], "restart": {"policy": "always"}}, 201)["id"]

    def restarts():
        return [e["data"]["restarts"] for e in v.call("GET", "/v1/events?since=0&follow=0") if e["type"] == "cell.restarting" and e["cell"] == r]

    soon(lambda: len(restarts()) >= 1, "a restart")
    for seconds in (400 * day, -30 * day, day):
        jump(seconds)
        about = v.call("GET", "/v1/version")
        assert 0 <= about["uptime"] < 300, about
        n = len(restarts())
        soon(lambda: len(restarts()) > n, "one more restart")
    # Neither given up, nor begun anew with the first delay because a run seemed long.
    assert restarts() == list(range(1, len(restarts()) + 1)), restarts()
    v.call("POST", "/v1/cells/r/stop", {"grace": 0})
    began = time.monotonic()
    i = v.call("POST", "/v1/cells", {"start": True, "idle_timeout": 1}, 201)["id"]
    t = v.call("POST", "/v1/cells", {"start": True, "timeout": 1, "command": ["sleep", "100"]}, 201)["id"]
    jump(-10 * day)
    assert v.call("GET", f"/v1/cells/{i}/wait")["reason"] == "idle"
    assert v.call("GET", f"/v1/cells/{t}/wait")["reason"] == "timeout"
    assert 0.9 < time.monotonic() - began < 40
    seqs = [e["seq"] for e in v.call("GET", "/v1/events?since=0&follow=0")]
    assert seqs == list(range(1, len(seqs) + 1))
    # What is an instant by its meaning follows the wall clock.
    jump(0)
    token = {"Authorization": "Bearer " + v.call("POST", "/v1/tokens", {"scope": "read", "expires_in": 600}, 201)["token"]}
    v.call("GET", "/v1/version", want=200, headers=token)
    jump(3600)
    v.call("GET", "/v1/version", want=401, headers=token)


if __name__ == "__main__":
    run_case(full, half_open, waits, odd_bytes, tokens, clock)
