"""A vivd of a test's own, and a client for it that expects its death at any moment."""

import base64
import ctypes
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time


class Down(Exception):
    """The connection broke, or nobody answers: whether the request was done is not known."""


class Unix(http.client.HTTPConnection):
    def __init__(self, path, timeout=180):
        super().__init__("vivd")
        self.path, self.limit = path, timeout

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.limit)
        self.sock.connect(self.path)


class Vivd:
    """Places for everything below a directory, which is the current one unless said."""

    def __init__(self, viv, top):
        self.viv, self.top = os.path.abspath(viv), os.path.abspath(top)
        self.env = dict(os.environ)
        for name in ("data", "run", "state", "tmp"):
            os.makedirs(f"{top}/{name}", exist_ok=True)
        self.env.update(XDG_DATA_HOME=f"{self.top}/data", XDG_RUNTIME_DIR=f"{self.top}/run", XDG_STATE_HOME=f"{self.top}/state", TMPDIR=f"{self.top}/tmp")
        self.run = f"{self.top}/run/vivarium"
        self.socket = f"{self.run}/vivd.sock"

    def cli(self, *words, **more):
        return subprocess.run([self.viv, *words], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, **more)

    def start(self):
        r = self.cli("daemon", "start")
        assert r.returncode == 0, r.stderr

    def stop(self):
        r = self.cli("daemon", "stop")
        assert r.returncode == 0, r.stderr

    def pid(self):
        """Of the vivd that has the lock; None: none."""
        try:
            pid = int(open(f"{self.run}/vivd.lock").read())
            return pid if os.readlink(f"/proc/{pid}/exe").startswith(os.path.dirname(self.viv)) else None
        except (OSError, ValueError):
            return None

    def kill(self):
        pid = self.pid()
        if pid:
            kill9(pid)
        return pid

    def replace(self):
        """Killed, and another one started."""
        pid = self.kill()
        soon(lambda: gone(pid), "its end")
        self.start()

    def events(self, cell, kind):
        """The data of all of a kind that tell of a cell."""
        return [e["data"] for e in self.call("GET", "/v1/events?since=0&follow=0", want=200) if e["type"] == kind and e.get("cell") == cell]

    def ask(self, method, path, body=None, headers=None, timeout=180):
        """(status, bytes) or Down."""
        c = Unix(self.socket, timeout)
        try:
            c.request(method, path, json.dumps(body) if body is not None else None, headers or {})
            r = c.getresponse()
            return r.status, r.read()
        except (OSError, http.client.HTTPException) as e:
            raise Down(repr(e)) from e
        finally:
            c.close()

    def call(self, method, path, body=None, want=None, headers=None):
        """The answer as JSON (a list for NDJSON), which must have this status if one is given."""
        status, out = self.ask(method, path, body, headers)
        if want is not None and status != want:
            raise AssertionError(f"{method} {path} {body}: {status}, wanted {want}: {out[:400]!r}")
        try:
            return json.loads(out) if out.strip() else None
        except ValueError:
            return [json.loads(line) for line in out.splitlines() if line.strip()]

    def exec(self, cell, *words, want=0, **more):
        """What it wrote, when it ended with that status; Down when that is not known."""
        status, out = self.ask("POST", f"/v1/cells/{cell}/exec", {"command": list(words), **more})
        if status != 200:
            raise Down(f"{status} {out[:200]!r}")
        lines = [json.loads(line) for line in out.splitlines()]
        if not lines or lines[-1].get("type") != "exit" or lines[-1].get("reason"):
            raise Down("no end")
        text = b"".join(base64.b64decode(x["base64"]) if "base64" in x else x["text"].encode() for x in lines if x["type"] == "stdout").decode()
        if lines[-1].get("signal") == signal.SIGKILL:
            raise Down("killed")
        assert want is None or lines[-1]["exit_code"] == want, (words, lines)
        return text

    def cells(self):
        return {c["id"]: c for c in self.call("GET", "/v1/cells", want=200)["cells"]}

    def remove_all(self):
        for i in self.cells():
            self.ask("DELETE", f"/v1/cells/{i}?force=1")


def soon(fn, what, seconds=120):
    """The first true value of fn."""
    until = time.monotonic() + seconds
    while True:
        v = fn()
        if v:
            return v
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def kill9(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def subreaper():
    """What our descendants leave behind becomes our child, and can be found."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def processes():
    """pid -> (parent, state, name) of all of the machine."""
    found = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                text = open(f"/proc/{d}/stat").read()
            except OSError:
                continue
            rest = text[text.rindex(")") + 2:].split()
            found[int(d)] = (int(rest[1]), rest[0], text[text.index("(") + 1:text.rindex(")")])
    return found


def descendants():
    """The same, of ours that are no zombies."""
    every, me = processes(), os.getpid()
    mine = {}
    for pid, (parent, state, name) in every.items():
        q = parent
        while q > 1 and q != me:
            q = every.get(q, (0,))[0]
        if q == me and state != "Z":
            mine[pid] = (parent, state, name)
    return mine


def reap():
    """Orphans that have become ours."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def gone(pid):
    """It has ended; whoever is its parent now may not have noticed yet."""
    try:
        text = open(f"/proc/{pid}/stat").read()
    except OSError:
        return True
    return text[text.rindex(")") + 2] in "ZX"


def run_case(*cases):
    """PROGRAM VIV DIRECTORY CASE [...]: one of the functions, by its name, with a vivd that is started and, whatever happens, ended."""
    v = Vivd(sys.argv[1], sys.argv[2])
    v.start()
    try:
        {f.__name__: f for f in cases}[sys.argv[3]](v)
    finally:
        try:
            v.remove_all()
            v.stop()
        except (Down, AssertionError):
            pass
