#!/usr/bin/env python3
"""The API against its own document: api.py VIVD SOCKET.

Every route of the server's table is in the document and the reverse; every operation is used, its status is one that the document
names for it, and its body is what the document's schema says. The steps below are one walk through the API."""

import http.client
import io
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

import jsonschema

from wsclient import WebSocket


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("vivd")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(180)
        self.sock.connect(self.path)


VIVD, SOCKET = sys.argv[1:3]
used = set()
problems = []


def raw(method, path, body=None, headers=None):
    c = Unix(SOCKET)
    data = json.dumps(body) if body is not None else None
    c.request(method, path, data, headers or {})
    r = c.getresponse()
    out = r.read()
    c.close()
    return r, out


def document():
    r, out = raw("GET", "/v1/openapi.json")
    assert r.status == 200, out
    return json.loads(out)


doc = document()


def operation(method, path):
    """The operation of the document that a request is for."""
    path = path.split("?")[0]
    best = None
    for template, ops in doc["paths"].items():
        pattern = "^" + re.sub(r"\\{[a-z]+\\}|\{[a-z]+\}", "[^/]+", re.escape(template).replace(r"\{", "{").replace(r"\}", "}")) + "$"
        if re.match(pattern, path) and method.lower() in ops:
            if best is None or template.count("{") < best[0].count("{"):
                best = (template, ops[method.lower()])
    return best


def check(schema, value, what):
    full = {**schema, "components": doc["components"]}
    for e in jsonschema.Draft202012Validator(full).iter_errors(value):
        problems.append(f"{what}: {e.message[:200]} at {list(e.absolute_path)}")


def call(method, path, body=None, want=None, headers=None):
    """One request, checked; its body as JSON, a list of objects for NDJSON, or text."""
    r, out = raw(method, path, body, headers)
    what = f"{method} {path}: {r.status}"
    found = operation(method, path)
    if not found:
        problems.append(f"{what}: the document has no such operation")
        return None
    template, op = found
    if r.status < 300:
        used.add((method, template))
    if want is not None and r.status != want:
        problems.append(f"{what}, wanted {want}: {out[:300]!r}")
    answer = op["responses"].get(str(r.status))
    if answer is None:
        problems.append(f"{what}: the document does not name this status")
        return None
    kind = (r.getheader("Content-Type") or "").split(";")[0]
    if r.status == 204:
        return None
    content = answer.get("content", {}).get(kind)
    if content is None:
        problems.append(f"{what}: the document does not name the type {kind!r}")
        return None
    if body is not None and r.status < 300 and "application/json" in op.get("requestBody", {}).get("content", {}):
        check(op["requestBody"]["content"]["application/json"]["schema"], body, what + " (request)")
    if kind == "application/json":
        value = json.loads(out)
        check(content["schema"], value, what)
        return value
    if kind == "application/x-ndjson":
        lines = [json.loads(line) for line in out.splitlines() if line.strip()]
        for line in lines:
            check(content["schema"], line, what)
        return lines
    return out.decode("utf-8", "replace")


def routes_compare():
    table = set(subprocess.run([VIVD, "--routes"], capture_output=True, text=True, check=True).stdout.splitlines())
    documented = {f"{m.upper()} {p}" for p, ops in doc["paths"].items() for m in ops}
    for x in sorted(table - documented):
        problems.append(f"not in the document: {x}")
    for x in sorted(documented - table):
        problems.append(f"not in the server: {x}")


def about():
    call("GET", "/v1/version", want=200)
    call("GET", "/v1/openapi.json", want=200)
    text = call("GET", "/metrics", want=200)
    for line in text.splitlines():
        if not re.match(r"^(# (HELP|TYPE) vivarium_\w+ .+|vivarium_\w+(\{[^}]*\})? [-+0-9.eE]+)$", line):
            problems.append(f"/metrics: {line!r}")
    call("GET", "/v1/version", want=400, body={})


def tools():
    """Programs of the host for cells."""
    spec = {"command": ["/bin/cat"], "schema": {"type": "object"}, "description": "cat", "timeout": 5, "max_output": 1000}
    made = call("PUT", "/v1/tools/api-tool", spec, 201)
    assert made["kind"] == "command" and made["schema"] == {"type": "object"}, made
    call("PUT", "/v1/tools/api-tool", spec, 200)
    assert [t["name"] for t in call("GET", "/v1/tools", want=200)["tools"]] == ["api-tool"]
    assert call("GET", "/v1/tools/api-tool", want=200) == made
    for bad in ({}, {"command": []}, {"command": ["cat"], "schema": {"type": "object"}}, {"command": ["/bin/cat"]},
                {"command": ["/bin/cat"], "mcp": ["/bin/cat"]}, dict(spec, timeout=0), dict(spec, schema={"type": "array"}), dict(spec, extra=1)):
        call("PUT", "/v1/tools/bad", bad, 400)
    call("PUT", "/v1/tools/Bad", spec, 400)
    call("GET", "/v1/tools/bad", want=404)
    call("DELETE", "/v1/tools/bad", want=404)
    call("DELETE", "/v1/tools/api-tool", want=204)


def secrets():
    spec = {"value": "value-of-the-api-test", "hosts": ["api.example.org", "*.example.net:8443"], "places": ["header x-key", "bearer"]}
    s = call("PUT", "/v1/secrets/api-key", spec, 201)
    if s["env"] != "API_KEY" or s["source"] != "value" or s["hosts"] != spec["hosts"] or not s["placeholder"].startswith("viv-secret-api-key-"):
        problems.append(f"a secret: {s}")
    again = call("PUT", "/v1/secrets/api-key", {"value": "value-of-the-api-test-2"}, 200)
    if again["hosts"] != s["hosts"] or again["placeholder"] != s["placeholder"]:
        problems.append(f"a new value changes more: {again}")
    listed = call("GET", "/v1/secrets", want=200)
    shown = call("GET", "/v1/secrets/api-key", want=200)
    if "value-of" in json.dumps([s, again, listed, shown]):
        problems.append("the value of a secret is told")
    known = call("PUT", "/v1/secrets/ANTHROPIC_API_KEY", {"value": "value-of-the-api-test"}, 201)
    if known["hosts"] != ["api.anthropic.com"] or not known["placeholder"].startswith("sk-ant-"):
        problems.append(f"a well-known secret: {known}")
    for bad in ({}, {"value": "short", "hosts": ["a.b"]}, {"value": "two\nlines of it", "hosts": ["a.b"]}, {"value": "long enough"},
                {"value": "long enough", "hosts": ["*"]}, {"value": "long enough", "hosts": ["a b"]}, {"value": "long enough", "hosts": []},
                {"value": "long enough", "hosts": ["a.b"], "places": ["nowhere"]}, {"value": "long enough", "hosts": ["a.b"], "places": ["header a:b"]},
                {"value": "long enough", "hosts": ["a.b"], "env": "1=2"}, {"value": "long enough", "file": "/x", "hosts": ["a.b"]},
                {"file": "relative", "hosts": ["a.b"]}, {"value": "long enough", "hosts": ["a.b"], "prefix": "a b"}):
        call("PUT", "/v1/secrets/bad", bad, 400)
    call("PUT", "/v1/secrets/bad", {"file": "/nonexistent", "hosts": ["a.b"]}, 500)
    call("PUT", "/v1/secrets/..%2Fx", {"value": "long enough", "hosts": ["a.b"]}, 400)
    call("GET", "/v1/secrets/bad", want=404)
    call("DELETE", "/v1/secrets/api-key", want=204)
    call("DELETE", "/v1/secrets/ANTHROPIC_API_KEY", want=204)
    call("DELETE", "/v1/secrets/api-key", want=404)


def tokens():
    t = call("POST", "/v1/tokens", {"scope": "read", "name": "one", "expires_in": 60}, 201)
    call("GET", "/v1/tokens", want=200)
    call("GET", f"/v1/tokens/{t['id']}", want=200)
    call("GET", "/v1/tokens/nobody", want=404)
    read = {"Authorization": "Bearer " + t["token"]}
    call("GET", "/v1/version", want=200, headers=read)
    call("GET", "/v1/tokens", want=403, headers=read)
    call("DELETE", f"/v1/tokens/{t['id']}", want=204)
    call("DELETE", f"/v1/tokens/{t['id']}", want=404)
    call("GET", "/v1/version", want=401, headers=read)
    for bad in ({}, {"scope": "all"}, {"scope": "cell"}, {"scope": "read", "more": 1}, {"scope": 1}, [], "x",
                {"scope": "read", "name": "n" * 65}, {"scope": "read", "expires_in": -1}, {"scope": "read", "expires_in": 1e99}):
        call("POST", "/v1/tokens", bad, 400)
    call("POST", "/v1/tokens", {"scope": "cell", "cell": "nobody"}, 404)


def events():
    lines = call("GET", "/v1/events?since=0&follow=0", want=200)
    numbers = [e["seq"] for e in lines if "seq" in e]
    if not numbers or numbers != sorted(numbers):
        problems.append(f"events are not in order: {numbers[:20]}")
    for bad in ("since=x", "since=-1", "since=99999999999999999999", "other=1", "follow=2", "since=%zz"):
        call("GET", "/v1/events?" + bad, want=400)


def agents():
    a = call("PUT", "/v1/agents/api-agent", {"command": ["sh"], "acp": ["sh", "-l"], "image": "host", "env": {"A": "1"}, "files": {"~/.x": "y"},
                                             "packages": {"@a/b": "1.0.0"}, "network": ["use pi"], "secrets": [{"name": "K", "hosts": ["a.org"]}],
                                             "system_prompt": {"file": "~/.told"}}, 201)
    assert a["files"] == {"/root/.x": "y"} and a["system_prompt"] == {"file": "/root/.told"}, f"the agent is {a}"
    call("PUT", "/v1/agents/api-agent", {"command": ["sh"], "image": "host"}, 200)
    assert call("GET", "/v1/agents/api-agent", want=200)["command"] == ["sh"], "the agent was not changed"
    names = [a["name"] for a in call("GET", "/v1/agents", want=200)["agents"]]
    assert "api-agent" in names and "claude" in names, f"agents are {names}"
    for bad in ({}, {"command": []}, {"command": "sh"}, {"comand": ["sh"]}, {"command": ["sh"], "files": {"x": ""}}):
        call("PUT", "/v1/agents/bad", bad, 400)
    call("GET", "/v1/agents/bad", want=404)
    call("DELETE", "/v1/agents/claude", want=409)
    call("DELETE", "/v1/agents/api-agent", want=204)
    call("DELETE", "/v1/agents/api-agent", want=404)
    call("POST", "/v1/cells", {"name": "told"}, 201)
    assert call("GET", "/v1/cells/told/prompt", want=200)["text"].startswith("# The computer"), "the prompt begins otherwise"
    call("DELETE", "/v1/cells/told", want=204)


def sessions():
    """An agent that does what it is told, over all routes of its session."""
    call("POST", "/v1/cells", {"name": "talk", "command": ["sleep", "100000"], "start": True,
                               "mounts": [{"source": os.path.dirname(os.path.abspath(__file__)), "target": "/e2e", "readonly": True}]}, 201)
    s = call("POST", "/v1/cells/talk/sessions", {"command": ["python3", "/e2e/acpagent.py", "--modes", "--models", "--options"], "prompt": "say hello world"}, 201)
    at = f"/v1/cells/talk/sessions/{s['id']}"

    def until(what, condition):
        for _ in range(1200):
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        problems.append(f"not soon: {what}")

    def turn(n):
        return until(f"the end of prompt {n}", lambda: any(e["type"] == "turn" and e["data"]["prompt"] == n for e in call("GET", at + "/events", want=200)))

    turn(1)
    assert [x["id"] for x in call("GET", "/v1/cells/talk/sessions", want=200)["sessions"]] == [s["id"]], "the sessions of a cell"
    assert s["id"] in [x["id"] for x in call("GET", "/v1/sessions", want=200)["sessions"]], "all sessions"
    for what, value in (("mode", call("GET", at, want=200)["modes"][-1]["id"]), ("model", "large")):
        assert call("POST", f"{at}/{what}", {what: value}, 200)[what] == value, what
    call("POST", at + "/config", {"option": "effort", "value": "high"}, 200)
    p = call("POST", at + "/prompt", {"text": "say once more"}, 202)
    turn(p["prompt"])
    assert call("GET", at + f"/events?since={p['seq']}&limit=1", want=200)[0]["seq"] == p["seq"] + 1, "events after a number"
    assert call("GET", "/v1/transcripts?q=hello&cell=talk", want=200)["transcripts"][0]["session"] == s["id"], "the search"
    call("POST", at + "/cancel", {}, 200)
    for bad in ({}, {"text": 1}, {"text": "a", "content": []}, {"content": {}}, {"more": 1}):
        call("POST", at + "/prompt", bad, 400)
    call("POST", "/v1/cells/talk/sessions", {}, 400)
    call("GET", "/v1/cells/talk/sessions/s_0000000000000000", want=404)
    call("GET", at + "/events?since=x", want=400)
    call("POST", at + "/close", {}, 200)
    until("the end of the session", lambda: call("GET", at, want=200)["state"] == "closed")
    call("DELETE", at, want=204)
    call("DELETE", at, want=404)
    call("DELETE", "/v1/cells/talk?force=1", want=204)


def main():
    routes_compare()
    about()
    secrets()
    tools()
    agents()
    sessions()
    tokens()
    for step in MORE:
        step()
    events()
    for path, ops in doc["paths"].items():
        for method in ops:
            if (method.upper(), path) not in used:
                problems.append(f"never used with success: {method.upper()} {path}")
    for p in problems:
        print(p)
    print(f"{len(used)} operations used")
    sys.exit(1 if problems else 0)


def pages(what, ids):
    """All of a list, in pages of each size, is each item once and in order."""
    for limit in (1, 2, len(ids) - 1, len(ids), len(ids) + 1):
        found, query = [], f"?limit={limit}"
        while query:
            page = call("GET", f"/v1/{what}{query}", want=200)
            if len(page[what]) != limit and "next" in page or len(page[what]) > limit:
                problems.append(f"{what}{query}: {len(page[what])}")
            found += [x["id"] for x in page[what]]
            query = f"?limit={limit}&cursor={page['next']}" if "next" in page else None
        if found != sorted(ids, key=lambda x: (x != "host", x)):
            problems.append(f"pages of {limit} {what}: {found}, wanted {ids}")
    rest = call("GET", f"/v1/{what}?cursor={found[0]}", want=200)
    if [x["id"] for x in rest[what]] != found[1:] or "next" in rest:
        problems.append(f"{what} after the first: {rest}")


def cells():
    c = call("POST", "/v1/cells", {"labels": {"a": "b"}, "env": {"V": "cell"}, "start": True, "health": {"command": ["true"], "interval": 0.1}}, 201)
    at = f"/v1/cells/{c['id']}"
    call("GET", "/v1/cells", want=200)
    call("GET", at, want=200)
    call("GET", at[:-8], want=200)
    for query, n in (("label=a", 1), ("label=a%3Db", 1), ("label=a%3Dc", 0), ("state=running", 1), ("state=paused", 0), ("name=x", 0)):
        found = call("GET", "/v1/cells?" + query, want=200)["cells"]
        if len(found) != n:
            problems.append(f"{query}: {len(found)} cells, wanted {n}")
    for bad in ("state=asleep", "other=1", "label=%ff", "limit=0", "limit=1001", "limit=x", "cursor=", "cursor=../x"):
        call("GET", "/v1/cells?" + bad, want=400)
    for bad in ("limit=0", "cursor=x", "other=1"):
        call("GET", "/v1/images?" + bad, want=400)
    more = [call("POST", "/v1/cells", {}, 201)["id"] for _ in range(4)]
    pages("cells", [x["id"] for x in call("GET", "/v1/cells", want=200)["cells"]])
    for x in more:
        call("DELETE", "/v1/cells/" + x, want=204)
    lines = call("POST", at + "/exec", {"command": ["sh", "-c", "echo $V $W; cat; echo e >&2; exit 3"], "env": {"W": "w"}, "stdin": "in"}, 200)
    text = "".join(x["text"] for x in lines if x["type"] == "stdout")
    if text != "cell w\nin" or lines[-1] != {"type": "exit", "exit_code": 3}:
        problems.append(f"exec: {lines}")
    lines = call("POST", at + "/exec", {"command": ["sh", "-c", "kill -9 $$"], "workdir": "/tmp"}, 200)
    if lines[-1] != {"type": "exit", "exit_code": 137, "signal": 9}:
        problems.append(f"exec: {lines}")
    lines = call("POST", at + "/exec", {"command": ["sleep", "60"], "timeout": 1.5}, 200)
    if lines[-1] != {"type": "exit", "exit_code": 124, "signal": 15, "timed_out": True}:
        problems.append(f"timeout: {lines}")
    p = call("POST", at + "/exec", {"command": ["sleep", "60"], "timeout": 1.5, "detach": True}, 201)
    if call("GET", f"{at}/processes/{p['proc']}/wait", want=200) != {"proc": p["proc"], "exit_code": 124, "signal": 15, "timed_out": True}:
        problems.append("timeout of a detached process")
    lines = call("POST", at + "/exec", {"command": ["od", "-An", "-tx1"], "stdin_base64": "AP8="}, 200)
    if "".join(x.get("text", "") for x in lines).strip() != "00 ff":
        problems.append(f"exec: {lines}")
    r, out = raw("POST", at + "/exec", {"command": ["sh", "-c", "printf '\\000\\377'; printf e >&2; exit 2"]}, {"Accept": "application/vnd.vivarium.frames"})
    frames = []
    while out:
        n = int.from_bytes(out[4:8], "big")
        frames.append((out[:1], out[8:8 + n]))
        out = out[8 + n:]
    if (b"o", b"\0\xff") not in frames or (b"e", b"e") not in frames or json.loads(frames[-1][1]) != {"type": "exit", "exit_code": 2}:
        problems.append(f"frames: {frames}")
    for bad in ({}, {"command": []}, {"command": [""]}, {"command": ["x"], "env": {"a=b": ""}}, {"command": ["x"], "stdin_base64": "!"},
                {"command": ["x"], "stdin": "", "stdin_base64": ""}, {"command": "x"}):
        call("POST", at + "/exec", bad, 400)
    call("POST", at + "/exec", {"command": ["/no/such"]}, 422)
    p = call("POST", at + "/exec", {"command": ["sh", "-c", "echo kept; exec sleep 60"], "detach": True}, 201)
    call("GET", at + "/processes", want=200)
    call("POST", f"{at}/processes/{p['proc']}/resize", {"rows": 5, "cols": 5}, 409)
    t = call("POST", at + "/exec", {"command": ["sleep", "60"], "detach": True, "tty": True, "rows": 3, "cols": 4}, 201)
    call("POST", f"{at}/processes/{t['proc']}/resize", {"rows": 5, "cols": 5}, 204)
    call("POST", f"{at}/processes/{t['proc']}/resize", {"rows": 0, "cols": 5}, 400)
    end = time.monotonic() + 120
    while not call("GET", f"{at}/logs?proc={p['proc']}", want=200) and time.monotonic() < end:
        time.sleep(0.05)
    call("POST", f"{at}/processes/{p['proc']}/signal", {"signal": 15}, 204)
    call("POST", f"{at}/processes/{p['proc']}/signal", {"signal": 99}, 400)
    call("POST", f"{at}/processes/9999/signal", {"signal": 15}, 404)
    call("POST", f"{at}/processes/x/signal", {"signal": 15}, 404)
    e = call("GET", f"{at}/processes/{p['proc']}/wait", want=200)
    if e["exit_code"] != 143:
        problems.append(f"wait: {e}")
    logs = call("GET", f"{at}/logs?proc={p['proc']}", want=200)
    if [x["text"] for x in logs] != ["kept\n"]:
        problems.append(f"logs: {logs}")
    if call("GET", f"{at}/logs?proc={p['proc']}&tail=1", want=200, headers={"Accept": "text/plain"}) != "kept\n":
        problems.append("logs as text")
    call("GET", f"{at}/logs?proc=77", want=404)
    call("GET", f"{at}/logs?tail=-1", want=400)
    call("POST", f"{at}/processes/{p['proc']}/input", {"text": "x"}, 409)
    call("GET", at + "/stats", want=200)
    call("POST", at + "/pause", want=200)
    call("POST", at + "/pause", want=409)
    call("POST", at + "/exec", {"command": ["true"]}, 409)
    call("POST", at + "/resume", want=200)
    call("POST", at + "/resume", want=409)
    call("POST", at + "/rename", {"name": "n"}, 409)
    c = call("PATCH", at, {"limits": {"pids": 50, "memory": None}, "labels": {"p": "q", "none": None}, "restart": {"policy": "no"}, "stop_grace": 1}, 200)
    if c["spec"]["limits"] != {"pids": 50} or c["labels"].get("p") != "q":
        problems.append(f"patch: {c}")
    call("PATCH", at, {"command": ["true"]}, 400)
    call("PATCH", at, {"limits": {"pids": 5000}}, 409)
    call("PATCH", at, {"limits": None, "labels": {"p": None}}, 200)
    call("POST", at + "/start", want=409)
    call("DELETE", at, want=409)
    call("GET", at + "/snapshots", want=409)
    call("POST", at + "/stop", {"grace": 0.1}, 200)
    call("POST", at + "/stop", want=409)
    call("GET", at + "/wait", want=200)
    for path in ("/stats", "/processes"):
        call("GET", at + path, want=409)
    call("DELETE", at, want=204)
    call("GET", at, want=404)
    call("DELETE", at + "?force=2", want=400)


def websocket(at):
    """What it says in text is as the document has it."""
    call("GET", at + "/exec", want=426)
    w = WebSocket(SOCKET, at + "/exec")
    w.say(command=["sh", "-c", "exec <&-; echo closed; sleep 100"])
    said = [w.message()[1]]
    if w.message() != (1, b"closed\n"):
        problems.append("WebSocket: the output")
    w.input(b"x")
    said.append(w.message()[1])
    w.say(type="signal", signal=15, group=True)
    said += w.rest()[2]
    w = WebSocket(SOCKET, at + "/exec")
    w.say(command=["/no/such"])
    said += w.rest()[2]
    for o in said:
        check({"$ref": "#/components/schemas/ExecEvent"}, o, "exec over a WebSocket")
    kinds = [o["type"] for o in said]
    if kinds != ["started", "stdin_closed", "exit", "error"]:
        problems.append(f"WebSocket: {kinds}")
    used.add(("GET", "/v1/cells/{cell}/exec"))
    proc = call("POST", at + "/exec", {"command": ["sleep", "100"], "detach": True}, 201)["proc"]
    w = WebSocket(SOCKET, f"{at}/processes/{proc}/attach")
    said = [w.message()[1]]
    call("POST", f"{at}/processes/{proc}/signal", {"signal": 15}, 204)
    said += w.rest()[2]
    for o in said:
        check({"$ref": "#/components/schemas/ExecEvent"}, o, "attach over a WebSocket")
    if [o["type"] for o in said] != ["attached", "exit"]:
        problems.append(f"attach: {said}")
    used.add(("GET", "/v1/cells/{cell}/processes/{proc}/attach"))


def interactive():
    """Input while the output is read."""
    c = call("POST", "/v1/cells", {"start": True}, 201)
    at = f"/v1/cells/{c['id']}"
    websocket(at)
    conn = Unix(SOCKET)
    conn.request("POST", at + "/exec", json.dumps({"command": ["cat"], "stdin_open": True}))
    r = conn.getresponse()
    proc = json.loads(r.readline())["proc"]
    call("POST", f"{at}/processes/{proc}/input", {"text": "one\n"}, 204)
    if json.loads(r.readline()) != {"type": "stdout", "text": "one\n"}:
        problems.append("interactive: the first line")
    call("POST", f"{at}/processes/{proc}/input", {"base64": "?"}, 400)
    call("POST", f"{at}/processes/{proc}/input", {"base64": "dHdvCg==", "close": True}, 204)
    rest = [json.loads(x) for x in r.read().splitlines()]
    if rest != [{"type": "stdout", "text": "two\n"}, {"type": "exit", "exit_code": 0}]:
        problems.append(f"interactive: {rest}")
    conn.close()
    # Input that is refused takes nothing away from what is still to be read, nor its end.
    for more in ({"stdin_open": True}, {}):
        conn = Unix(SOCKET)
        conn.request("POST", at + "/exec", json.dumps({"command": ["sh", "-c", "until rmdir /tmp/go 2>/dev/null; do sleep 0.05; done; cat | wc -c"], "stdin": "x" * 300000, **more}))
        r = conn.getresponse()
        proc = json.loads(r.readline())["proc"]
        call("POST", f"{at}/processes/{proc}/input", {"base64": "????"} if more else {"text": "x"}, 400 if more else 409)
        call("POST", at + "/exec", {"command": ["mkdir", "/tmp/go"]}, 200)
        if more:
            call("POST", f"{at}/processes/{proc}/input", {"close": True}, 204)
        rest = [json.loads(x) for x in r.read().splitlines()]
        if rest != [{"type": "stdout", "text": "300000\n"}, {"type": "exit", "exit_code": 0}]:
            problems.append(f"interactive, input that is refused: {rest}")
        conn.close()
    call("DELETE", at + "?force=1", want=204)


def named():
    key = {"Idempotency-Key": "k1"}
    body = {"name": "n1", "command": ["sh", "-c", "trap 'exit 7' TERM; echo out; while :; do sleep 0.1; done"], "restart": {"policy": "no"}}
    a = call("POST", "/v1/cells", body, 201, key)
    b = call("POST", "/v1/cells", body, 201, key)
    if a != b:
        problems.append("the same key gave another cell")
    call("POST", "/v1/cells", {**body, "name": "n2"}, 422, key)
    call("POST", "/v1/cells", body, 409)
    if call("POST", "/v1/cells", {**body, "get": True}, 200)["id"] != a["id"]:
        problems.append("get gave another cell")
    at = "/v1/cells/n1"
    call("POST", at + "/kill", want=409)
    call("POST", at + "/start", want=200)
    call("POST", at + "/kill", {"signal": 0}, 400)
    call("POST", at + "/kill", {"signal": 18}, 200)
    call("POST", at + "/snapshots", {"name": "s1"}, 201)
    call("POST", at + "/snapshots", {"name": "s1"}, 409)
    call("POST", at + "/snapshots", {"name": "../x"}, 400)
    if [x["name"] for x in call("GET", at + "/snapshots", want=200)["snapshots"]] != ["s1"]:
        problems.append("snapshots")
    call("POST", at + "/snapshots", {"name": "s2"}, 201)
    call("DELETE", at + "/snapshots/s2", want=204)
    call("DELETE", at + "/snapshots/s2", want=404)
    call("DELETE", at + "/snapshots/..%2fx", want=404)
    call("POST", at + "/rollback", {"snapshot": "s2"}, 404)
    call("POST", at + "/rollback", {"snapshot": "../x"}, 400)
    call("POST", at + "/rollback", {"snapshot": "s1", "grace": 1e6}, 400)
    if call("POST", at + "/rollback", {"snapshot": "s1", "grace": 5}, 200)["state"] != "running":
        problems.append("rollback")
    call("POST", at + "/rename", {"name": "n3"}, 409)
    call("POST", at + "/restart", {"grace": 5}, 200)
    for _ in range(2400):  # its handler is set before it writes
        if call("GET", at + "/logs", want=200):
            break
        time.sleep(0.05)
    c = call("POST", at + "/stop", want=200)
    if (c["state"], c["exit_code"], c["reason"]) != ("stopped", 7, "asked"):
        problems.append(f"stop: {c}")
    if "".join(x["text"] for x in call("GET", at + "/logs", want=200)) != "out\n":
        problems.append("logs after the end")
    call("POST", at + "/rename", {"name": "bad/name"}, 400)
    call("POST", at + "/rename", {"name": "n3"}, 200)
    call("GET", at, want=404)
    call("DELETE", "/v1/cells/n3", want=204)
    for bad in ({"name": "a/b"}, {"name": ""}, {"name": "x" * 65}, {"command": "x"}, {"limits": {"cpus": 0.001}}, {"limits": {"x": 1}}, {"mounts": [{}]},
                {"mounts": [{"target": "/x"}]}, {"mounts": [{"target": "x", "tmpfs": True}]}, {"mounts": [1]}, {"restart": {"policy": "maybe"}}, {"restart": {}},
                {"labels": {"": "x"}}, {"env": {"a=b": "x"}}, {"timeout": -1}, {"timeout": 1e300}, {"unknown": 1}):
        call("POST", "/v1/cells", bad, 400)
    call("POST", "/v1/cells", {"name": "n4", "image": "no-such-image"}, 404)
    call("POST", "/v1/cells", {"image": "no-such-image"}, 404)
    c = call("POST", "/v1/cells", {"user": "nosuch"}, 201)
    call("POST", f"/v1/cells/{c['id']}/start", want=422)
    call("DELETE", f"/v1/cells/{c['id']}", want=204)


def put(path, data, want, headers=None):
    """A body that is no JSON, checked against the document."""
    c = Unix(SOCKET)
    c.request("PUT", path, data, {"Content-Type": "application/x-tar", **(headers or {})})
    r = c.getresponse()
    out = r.read()
    c.close()
    what = f"PUT {path}: {r.status}"
    template, op = operation("PUT", path)
    if r.status != want:
        problems.append(f"{what}, wanted {want}: {out[:300]!r}")
    if r.status < 300:
        used.add(("PUT", template))
    if str(r.status) not in op["responses"]:
        problems.append(f"{what}: the document does not name this status")
        return None
    value = json.loads(out)
    check(op["responses"][str(r.status)]["content"]["application/json"]["schema"], value, what)
    return value


def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for name, data in files.items():
            i = tarfile.TarInfo(name)
            i.size = len(data)
            t.addfile(i, io.BytesIO(data))
    return out.getvalue()


def events_of(*types):
    return [e for e in call("GET", "/v1/events?since=0&follow=0", want=200) if e.get("type") in types]


def disks():
    """Forks, differences, checks and images of a cell, whether it runs or not."""
    call("POST", "/v1/cells", {"name": "d1", "start": True}, 201)
    at = "/v1/cells/d1"
    call("POST", at + "/exec", {"command": ["sh", "-c", "echo one >/root/f; rm /etc/hostname; printf x >/root/$(printf '\\377')"]}, 200)
    want = [{"kind": "D", "path": "/etc/hostname"}, {"kind": "A", "path": "/root/f"}, {"kind": "A", "path_base64": "L3Jvb3Qv/w=="}]
    if call("GET", at + "/diff", want=200) != want:
        problems.append(f"diff: {call('GET', at + '/diff')}")
    if call("POST", at + "/snapshots", {}, 201)["name"] != "s1":
        problems.append("a snapshot without a name")
    call("POST", at + "/exec", {"command": ["sh", "-c", "echo two >/root/f"]}, 200)
    if call("GET", at + "/diff?snapshot=s1", want=200) != [{"kind": "C", "path": "/root/f"}]:
        problems.append("diff since a snapshot")
    patch = call("GET", at + "/diff?snapshot=s1&format=patch", want=200)
    if "-one\n+two\n" not in patch:
        problems.append(f"patch: {patch}")
    f = call("POST", at + "/fork", {"name": "d2", "snapshot": "s1"}, 201, {"Idempotency-Key": "fork"})
    if call("POST", at + "/fork", {"name": "d2", "snapshot": "s1"}, 201, {"Idempotency-Key": "fork"}) != f or f["name"] != "d2":
        problems.append(f"fork: {f}")
    call("POST", at + "/fork", {"name": "d2"}, 409)
    call("POST", at + "/fork", {"name": "d3", "snapshot": "none"}, 404)
    for bad in ({}, {"name": "a/b"}, {"name": "x" * 65}, {"name": "x" * 100000}, {"name": "d3", "snapshot": "../x"}, {"name": 1}, {"name": "d3", "more": 1}):
        call("POST", at + "/fork", bad, 400)
    call("POST", "/v1/cells/nobody/fork", {"name": "d3"}, 404)
    call("POST", at + "/fork", {"name": "d3"}, 201)
    if call("GET", "/v1/cells/d2/diff?to=d1", want=200) != [{"kind": "C", "path": "/root/f"}] or call("GET", at + "/diff?to=d3", want=200):
        problems.append("diff between cells")
    if call("GET", at + "/diff?snapshot=s1&to_snapshot=s1", want=200):
        problems.append("diff of a snapshot with itself")
    for bad in ("format=x", "snapshot=..%2f", "other=1", "to_snapshot=" + "y" * 1000, "snapshot=%ff"):
        call("GET", at + "/diff?" + bad, want=400)
    for gone in ("snapshot=none", "to=nobody", "to_snapshot=none"):
        call("GET", at + "/diff?" + gone, want=404)
    if call("POST", at + "/verify", {}, 200) != {"sound": True, "problems": []} or not call("POST", at + "/verify", {"snapshot": "s1"}, 200)["sound"]:
        problems.append("verify")
    call("POST", at + "/verify", {"snapshot": "none"}, 404)
    call("POST", at + "/verify", {"snapshot": "a/b"}, 400)
    c = call("POST", "/v1/cells", {}, 201)
    for method, tail in (("GET", "/diff"), ("POST", "/fork"), ("POST", "/verify"), ("POST", "/commit")):
        call(method, f"/v1/cells/{c['id']}{tail}", {"name": "d9"} if tail == "/fork" else None, 409)
    if [e["data"].get("from") for e in events_of("cell.forked")] != [call("GET", at)["id"]] * 2 or not events_of("snapshot.created"):
        problems.append("events of forks and snapshots")
    for n in ("d2", "d3"):
        call("DELETE", "/v1/cells/" + n, want=204)
    call("DELETE", at + "?force=1", want=204)


def images():
    files = {"bin/tool": b"#!/x\n", "etc/note": b"hello"}
    a = put("/v1/images?tag=small", archive(files), 201)
    pages("images", ["host", a["id"]])
    if put("/v1/images", archive(files), 201)["id"] != a["id"]:
        problems.append("the same archive gives another image")
    for bad in (b"", b"x", b"\0" * 100, archive({"../out": b""}), archive({"a": b"b" * 9000})[:5000], b"\x1f\x8b" + b"z" * 1000):
        put("/v1/images?tag=bad", bad, 422)
    for bad in ("tag=..", "tag=" + "t" * 129, "format=zip", "owner=root", "max_size=x", "other=1", "tag=%ff", "tag=a%00b"):
        put("/v1/images?" + bad, archive(files), 400)
    put("/v1/images?max_size=3", archive(files), 422)
    call("POST", "/v1/images", {"path": "relative"}, 400)
    call("POST", "/v1/images", {"path": "/no/such/file"}, 404)
    call("POST", "/v1/images", {"path": "/etc/passwd"}, 422)
    call("POST", "/v1/images", {"path": "/", "max_size": "1"}, 400)
    with tempfile.TemporaryDirectory() as d:
        open(d + "/f", "w").write("host")
        b = call("POST", "/v1/images", {"path": d, "tag": "dir"}, 201)
        lines = call("POST", "/v1/images", {"path": d, "progress": True}, 200)
    if lines[-1] != {"type": "end", "id": b["id"]}:
        problems.append(f"import with progress: {lines}")
    if call("GET", "/v1/images/small", want=200)["id"] != a["id"]:
        problems.append("inspect")
    call("GET", "/v1/images/none", want=404)
    call("GET", "/v1/images/" + "x" * 3000, want=404)
    call("GET", "/v1/images/--json", want=404)
    call("POST", "/v1/images/small/tag", {"tag": "org/small:1"}, 200)
    call("POST", "/v1/images/none/tag", {"tag": "other"}, 404)
    for bad in ({}, {"tag": ""}, {"tag": "a//b"}, {"tag": "host"}, {"tag": "t" * 5000}):
        call("POST", "/v1/images/small/tag", bad, 400)
    r, out = raw("GET", "/v1/images/org%2Fsmall:1/tar")
    with tarfile.open(fileobj=io.BytesIO(out)) as t:
        if t.extractfile(next(n for n in t.getnames() if n.endswith("etc/note"))).read() != b"hello":
            problems.append("export")
    if put("/v1/images", out, 201)["id"] != a["id"]:
        problems.append("what is exported gives another image")
    viv = os.path.join(os.path.dirname(sys.argv[1]), "viv")
    for form in ("tar", "oci-archive"):
        r, out = raw("GET", "/v1/images/org%2Fsmall:1/tar?format=" + form)
        if r.status != 200 or out != subprocess.run([viv, "image", "export", "--format", form, "org/small:1"], stdout=subprocess.PIPE, check=True).stdout:
            problems.append(f"export as {form} is not what viv exports")
    b = put("/v1/images?tag=oci", out, 201)
    r, again = raw("GET", "/v1/images/oci/tar?format=oci-archive")
    if put("/v1/images?format=oci", again, 201)["id"] != b["id"]:
        problems.append("an OCI archive gives another image")
    raw("DELETE", "/v1/images/oci")
    for bad in ("format=oci", "format=", "format=zip", "format=%ff", "format=tar&other=1", "output=/tmp/x", "format=--output"):
        call("GET", "/v1/images/small/tar?" + bad, want=400)
    call("GET", "/v1/images/none/tar?format=oci-archive", want=404)
    call("GET", "/v1/images/small/tar", want=200)
    call("GET", "/v1/images/none/tar", want=404)
    if call("POST", "/v1/images/small/verify", {}, 200)["damaged"] or call("POST", "/v1/images/verify", {}, 200)["problems"]:
        problems.append("verify of images")
    call("POST", "/v1/images/verify", {"progress": True, "repair": True}, 200)
    call("POST", "/v1/images/none/verify", {}, 404)
    call("POST", "/v1/cells", {"name": "i1", "image": "small"}, 201)
    made = call("POST", "/v1/cells/i1/commit", {"tag": "again"}, 201)
    if made["tag"] != "again":
        problems.append(f"commit: {made}")
    if call("POST", "/v1/cells/i1/commit", {"tag": "again", "progress": True}, 200)[-1] != {"type": "end", **made}:
        problems.append("commit with progress")
    for bad in ({}, {"tag": ""}, {"tag": "host"}, {"tag": "again", "snapshot": "a b"}, {"tag": "again", "progress": 1}):
        call("POST", "/v1/cells/i1/commit", bad, 400)
    call("POST", "/v1/cells/i1/commit", {"tag": "again", "snapshot": "none"}, 404)
    call("DELETE", "/v1/images/none", want=404)
    call("DELETE", "/v1/images/small?force=2", want=400)
    call("DELETE", "/v1/images/" + a["id"], want=409)
    for tag in ("small", "again", "dir"):
        call("DELETE", "/v1/images/" + tag, want=204)
    call("DELETE", "/v1/images/org%2Fsmall:1", want=409)
    call("DELETE", "/v1/cells/i1", want=204)
    call("DELETE", "/v1/images/org%2Fsmall:1", want=204)
    call("POST", "/v1/images/gc", {"untagged": 1}, 400)
    call("POST", "/v1/images/gc", {"untagged": True}, 200)
    if [i["id"] for i in call("GET", "/v1/images", want=200)["images"]] != ["host"]:
        problems.append("images are left")
    kinds = {e["type"] for e in events_of("image.created", "image.tagged", "image.removed", "image.collected", "volume.created", "volume.removed", "cell.rolledback", "snapshot.removed")}
    if len(kinds) != 8:
        problems.append(f"events of the store: {kinds}")


def prune():
    put("/v1/images", archive({"f": b"unused"}), 201)
    c = call("POST", "/v1/cells", {"start": True}, 201)
    call("POST", f"/v1/cells/{c['id']}/stop", {"grace": 0}, 200)
    found = call("POST", "/v1/prune", {"dry_run": True}, 200)
    if c["id"] not in found["cells"] or len(found["images"]) != 1 or found["removed"]:
        problems.append(f"prune: {found}")
    if call("POST", "/v1/prune", {}, 200) != {**found, "removed": True}:
        problems.append("prune removes something else than it says")
    again = call("POST", "/v1/prune", {"dry_run": True}, 200)
    if again["cells"] or again["images"] or again["files"]:
        problems.append(f"prune leaves: {again}")
    call("POST", "/v1/prune", {"dry_run": 1}, 400)


def store_rights():
    """Who may only look changes nothing and exports nothing; a token for a cell sees no other one."""
    call("POST", "/v1/cells", {"name": "r1"}, 201)
    call("POST", "/v1/cells", {"name": "r2"}, 201)
    put("/v1/images?tag=mine", archive({"f": b"x"}), 201)
    admin_only = [("POST", "/v1/cells/r1/fork", {"name": "r3"}), ("POST", "/v1/cells/r1/commit", {"tag": "t"}), ("POST", "/v1/images", {"path": "/etc"}),
                  ("POST", "/v1/images/gc", {}), ("POST", "/v1/images/verify", {}), ("GET", "/v1/images/mine", None), ("GET", "/v1/images/mine/tar", None),
                  ("DELETE", "/v1/images/mine", None), ("POST", "/v1/images/mine/tag", {"tag": "x"}), ("POST", "/v1/images/mine/verify", {}), ("POST", "/v1/prune", {}), ("POST", "/v1/volumes/prune", {})]
    for spec in ({"scope": "read"}, {"scope": "cell", "cell": "r1"}, {"scope": "read", "cell": "r1"}):
        t = call("POST", "/v1/tokens", spec, 201)
        h = {"Authorization": "Bearer " + t["token"]}
        for method, path, body in admin_only:
            call(method, path, body, 403, h)
        put("/v1/images?tag=x", archive({"f": b"y"}), 403, h)
        call("POST", "/v1/cells/r1/verify", {}, 200 if spec["scope"] == "cell" else 403, h)
        call("GET", "/v1/cells/r1/diff", want=200, headers=h)
        if "cell" in spec:
            call("GET", "/v1/cells/r2/diff", want=404, headers=h)
            call("GET", "/v1/cells/r1/diff?to=r2", want=404, headers=h)
    for path in ("/v1/cells/r1", "/v1/cells/r2", "/v1/images/mine"):
        call("DELETE", path, want=204)


def store():
    call("GET", "/v1/images", want=200)
    call("POST", "/v1/volumes", {"name": "v1"}, 201)
    call("POST", "/v1/volumes", {"name": "v1"}, 409)
    call("POST", "/v1/volumes", {"name": "a b"}, 400)
    if [v["name"] for v in call("GET", "/v1/volumes", want=200)["volumes"]] != ["v1"]:
        problems.append("volumes")
    call("POST", "/v1/cells", {"name": "mounts", "mounts": [{"volume": "v1", "target": "/v"}]}, 201)
    if (v := call("GET", "/v1/volumes/v1", want=200))["cells"] != ["mounts"] or v["in_use"] or v["size"] <= 0:
        problems.append(f"volume: {v}")
    call("GET", "/v1/volumes/none", want=404)
    call("GET", "/v1/volumes/%0a", want=404)
    call("POST", "/v1/volumes", {"name": "v2"}, 201)
    df = call("GET", "/v1/system/df", want=200)
    if df["volumes"]["count"] != 2 or not 0 < df["volumes"]["reclaimable"] < df["volumes"]["size"] or df["cells"]["size"] <= 0:
        problems.append(f"df: {df}")
    found = call("POST", "/v1/volumes/prune", {"dry_run": True}, 200)
    if [v["name"] for v in found["volumes"]] != ["v2"] or found["removed"] or found["size"] != found["volumes"][0]["size"]:
        problems.append(f"volumes/prune: {found}")
    if call("POST", "/v1/volumes/prune", {}, 200) != {**found, "removed": True}:
        problems.append("volumes/prune removes something else than it says")
    call("POST", "/v1/volumes/prune", {"dry_run": 1}, 400)
    call("DELETE", "/v1/cells/mounts", want=204)
    call("DELETE", "/v1/volumes/v1", want=204)
    call("DELETE", "/v1/volumes/v1", want=404)


def one_cell():
    """A token for one cell cannot see another."""
    a, b = (call("POST", "/v1/cells", {"name": n, "env": {"SECRET": "x"}}, 201) for n in ("t1", "t2"))
    t = call("POST", "/v1/tokens", {"scope": "cell", "cell": "t1"}, 201)
    h = {"Authorization": "Bearer " + t["token"]}
    if [c["id"] for c in call("GET", "/v1/cells", want=200, headers=h)["cells"]] != [a["id"]]:
        problems.append("a token for one cell sees others")
    call("GET", "/v1/cells/t1", want=200, headers=h)
    for path in ("t2", b["id"], b["id"][:8], "nobody"):
        call("GET", "/v1/cells/" + path, want=404, headers=h)
        call("POST", f"/v1/cells/{path}/start", want=404, headers=h)
    for method, path in (("POST", "/v1/cells"), ("DELETE", "/v1/cells/t1"), ("GET", "/v1/volumes"), ("GET", "/v1/images"), ("GET", "/v1/tokens"), ("GET", "/metrics")):
        call(method, path, want=403, headers=h)
    seen = {e.get("cell") for e in call("GET", "/v1/events?since=0&follow=0", want=200, headers=h)}
    if seen != {a["id"]}:
        problems.append(f"events of other cells: {seen}")
    r = call("POST", "/v1/tokens", {"scope": "read"}, 201)
    h = {"Authorization": "Bearer " + r["token"]}
    if "env" in call("GET", "/v1/cells/t1", want=200, headers=h)["spec"]:
        problems.append("a read token sees the environment")
    call("POST", "/v1/cells/t1/start", want=403, headers=h)
    call("DELETE", "/v1/cells/t1", want=204)
    call("DELETE", "/v1/cells/t2", want=204)
    call("GET", "/v1/version", want=401, headers={"Authorization": "Bearer " + t["token"]})


def projects():
    text = "name: api\ncells: {p1: {command: [sleep, 60], stop_grace: 0, env: {S: '${V}'}}}\nvolumes: {pv: {}}\n"
    body = {"yaml": text, "variables": {"V": "hidden"}}
    if [x["type"] for x in call("POST", "/v1/up", {**body, "dry_run": True}, 200)] != ["plan", "end"]:
        problems.append("up with dry_run does more than planning")
    call("GET", "/v1/cells/p1", want=404)
    lines = call("POST", "/v1/up", body, 200)
    if lines[-1] != {"type": "end", "changed": 2, "unchanged": 0, "failed": 0} or "hidden" in json.dumps(lines):
        problems.append(f"up: {lines}")
    spec = call("GET", "/v1/cells/p1", want=200)["spec"]
    if spec["env"] != {} or spec["hidden_env"] != ["S"]:
        problems.append(f"a value of a variable is told: {spec}")
    if call("POST", "/v1/up", body, 200)[-1] != {"type": "end", "changed": 0, "unchanged": 1, "failed": 0}:
        problems.append("a second up does something")
    if call("GET", "/v1/projects", want=200)["projects"] != [{"name": "api", "cells": [{"name": "p1", "state": "running"}]}]:
        problems.append("projects")
    e = call("POST", "/v1/up", {"yaml": "cells:\n  a: {imgae: x}\n", "fallback": "x", "file": "f"}, 400)
    if (e["code"], e["message"], e["remedy"]) != ("invalid_file", "f:2:7: a cell has no key 'imgae'", "did you mean 'image'?"):
        problems.append(f"an unknown key: {e}")
    call("POST", "/v1/up", {"yaml": "cells: {}", "dir": "x", "fallback": "x"}, 400)
    call("POST", "/v1/up", {"yaml": "cells: {}"}, 400)
    call("POST", "/v1/up", {}, 400)
    call("POST", "/v1/up", {**body, "cells": ["nobody"]}, 404)
    call("POST", "/v1/up", {**body, "project": "other"}, 409)
    call("POST", "/v1/up", {"yaml": "cells: {}\nvolumes: {none: {external: true}}", "fallback": "x"}, 404)
    call("POST", "/v1/down", {}, 400)
    call("POST", "/v1/down", {"project": "a/b"}, 400)
    if call("POST", "/v1/down", {"project": "api", "volumes": True}, 200)[-1]["changed"] != 2:
        problems.append("down")
    if call("POST", "/v1/down", {"project": "api"}, 200)[-1]["changed"] != 0:
        problems.append("a second down does something")
    call("GET", "/v1/cells/p1", want=404)


def files():
    """What is in them is tested by filesapi.py."""
    c = call("POST", "/v1/cells", {"start": True}, 201)
    at = f"/v1/cells/{c['id']}/files"
    call("PUT", at + "?path=/root/f&mode=600", "content", 201)
    call("PUT", at + "?path=/root/f", "content", 200)
    call("GET", at + "?path=/root/f", want=200)
    call("GET", at + "?path=/root/f", want=206, headers={"Range": "bytes=1-2"})
    call("GET", at + "?path=/root/f", want=416, headers={"Range": "bytes=99-"})
    call("GET", at + "/stat?path=/root/f", want=200)
    call("POST", at + "/mkdir?path=/root/d", want=201)
    call("POST", at + "/mkdir?path=/root/d", want=409)
    call("POST", at + "/move?from=/root/f&to=/root/d/f", want=200)
    call("GET", at + "/list?path=/etc&recursive=1", want=200)
    _, out = raw("GET", at + "/tar?path=/root/d")
    call("GET", at + "/tar?path=/root/d", want=200)
    c2 = Unix(SOCKET)
    c2.request("PUT", at + "/tar?path=/root", out)
    if c2.getresponse().status == 204:
        used.add(("PUT", "/v1/cells/{cell}/files/tar"))
    call("PUT", at + "/tar?path=/root", "x" * 600, 422)
    c2 = Unix(SOCKET)
    c2.request("GET", at + "/watch?path=/root")
    op = operation("GET", at + "/watch")
    check(op[1]["responses"]["200"]["content"]["application/x-ndjson"]["schema"], json.loads(c2.getresponse().readline()), "watch")
    used.add(("GET", op[0]))
    c2.close()
    call("DELETE", at + "?path=/root/d", want=409)
    call("DELETE", at + "?path=/root/d&recursive=1", want=204)
    call("GET", at + "/stat?path=/root/d", want=404)
    call("GET", at, want=400)
    call("PUT", at + "?path=/root/f&other=1", "content", 400)
    call("DELETE", f"/v1/cells/{c['id']}?force=1", want=204)


def soon(what, condition):
    for _ in range(2400):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    problems.append(f"not within 120 s: {what}")
    return None


def network():
    """Policies, approvals, previews and requests to a server in a cell."""
    call("POST", "/v1/cells", {"name": "net", "policy": ["allow net"]}, 400)
    call("POST", "/v1/cells", {"name": "net", "policy": ["allow net example.org", "ask files /root/asked"], "start": True,
                               "command": ["python3", "-m", "http.server", "-d", "/usr/share/doc", "8000"]}, 201)
    rules = call("GET", "/v1/cells/net/policy", want=200)["rules"]
    call("PUT", "/v1/cells/net/policy", {"rules": rules[:1]}, 200)
    call("PUT", "/v1/cells/net/policy", {"rules": ["nonsense"]}, 400)
    call("POST", "/v1/cells/net/policy", {"rules": rules[1:]}, 200)
    if call("GET", "/v1/cells/net/policy", want=200)["rules"] != rules:
        problems.append("a policy is not what it was set to")
    call("POST", "/v1/cells/net/policy/check", {"connect": "https://example.org/"}, 200)
    call("POST", "/v1/cells/net/policy/check", {}, 400)
    call("GET", "/v1/cells/net/policy/learn", want=200)
    call("DELETE", "/v1/cells/net/policy/learn", want=200)
    found = soon("the server answers", lambda: [a for a in [raw("POST", "/v1/cells/net/fetch", {"port": 8000, "path": "/"})] if a[0].status == 200])
    if found:
        call("POST", "/v1/cells/net/fetch", {"port": 8000, "path": "/nothing-here"}, 200)
    call("POST", "/v1/cells/net/fetch", {"port": 0}, 400)
    p = call("POST", "/v1/cells/net/previews", {"port": 8000, "expires_in": 60}, 201)
    call("GET", "/v1/previews", want=200)
    call("GET", f"/v1/previews/{p['id']}", want=200)
    call("DELETE", f"/v1/previews/{p['id']}", want=204)
    call("GET", f"/v1/previews/{p['id']}", want=404)
    done = []
    asks = threading.Thread(target=lambda: done.append(raw("POST", "/v1/cells/net/exec", {"command": ["mkdir", "/root/asked"]})))
    asks.start()
    pending = soon("a question", lambda: json.loads(raw("GET", "/v1/approvals?state=pending")[1])["approvals"])
    if pending:
        call("GET", "/v1/approvals", want=200)
        number = pending[0]["id"]
        call("GET", f"/v1/approvals/{number}", want=200)
        call("POST", f"/v1/approvals/{number}", {"answer": "perhaps"}, 400)
        call("POST", f"/v1/approvals/{number}", {"answer": "allow"}, 200)
        call("POST", f"/v1/approvals/{number}", {"answer": "deny"}, 409)
    asks.join(60)
    if not done or b'"exit_code":0' not in done[0][1]:
        problems.append(f"what was allowed was not done: {done}")
    call("GET", "/v1/approvals/999", want=404)
    call("DELETE", "/v1/cells/net?force=1", want=204)


def journals():
    """Of a cell that runs, and of the same when it is gone."""
    made = call("POST", "/v1/cells", {"name": "noted", "command": ["sh", "-c", "echo x >/tmp/file; sleep 1000"], "journal": "all"}, 201)
    call("POST", "/v1/cells/noted/start", want=200)
    soon("its record", lambda: [r for r in json.loads(raw("GET", "/v1/cells/noted/journal?path=/tmp/file")[1]).get("records", []) if r["kind"] == "write"])
    call("GET", "/v1/cells/noted/journal?limit=3", want=200)
    call("GET", "/v1/cells/noted/journal?limit=0", want=400)
    call("GET", "/v1/cells/noted/journal?kind=nothing", want=400)
    call("GET", "/v1/cells/noted/journal", want=200, headers={"Accept": "application/x-ndjson"})
    call("DELETE", f"/v1/journals/{made['id']}", want=409)
    call("DELETE", "/v1/cells/noted?force=1", want=204)
    soon("a sealed block", lambda: raw("GET", "/v1/cells/noted/journal/head")[0].status == 200)
    call("GET", "/v1/cells/noted/journal/head", want=200)
    call("GET", "/v1/cells/noted/journal/touched", want=200)
    call("GET", "/v1/cells/noted/journal/timeline", want=200)
    call("GET", "/v1/cells/noted/journal/blame?path=/tmp/file", want=200)
    call("GET", "/v1/cells/noted/journal/blame", want=400)
    call("POST", "/v1/cells/noted/journal/verify", {"deep": True}, 200)
    call("GET", "/v1/journals", want=200)
    call("GET", "/v1/journals?limit=1", want=200)
    call("DELETE", f"/v1/journals/{made['id']}", want=204)
    call("GET", "/v1/cells/noted/journal", want=404)


def workflows():
    """Runs of files and of programs."""
    good = "outputs: ${{ .steps.a.output }}\nsteps:\n  - {name: a, run: 'echo one; echo two >&2'}\n"
    call("POST", "/v1/workflows/check", {"yaml": good}, 200)
    call("POST", "/v1/workflows/check", {"yaml": "steps: 1"}, 400)
    assert call("GET", "/v1/workflows/defined", want=200)["workflows"] == []
    call("POST", "/v1/workflows", {"yaml": good, "inputs": {"x": 1}}, 400)
    call("POST", "/v1/workflows", {"yaml": good, "dir": "here"}, 400)
    run = call("POST", "/v1/workflows", {"yaml": good, "file": "w.yaml", "inputs": {}, "arguments": {}}, 201)["id"]
    over = call("GET", f"/v1/workflows/{run}/wait", want=200)
    assert over["state"] == "done" and over["output"] == "one", over
    steps = call("GET", f"/v1/workflows/{run}", want=200)["steps"]
    assert [s["step"] for s in steps] == ["a"] and steps[0]["stderr"] == "two\n", steps
    assert "output" not in call("GET", f"/v1/workflows/{run[:8]}?outputs=0", want=200)["steps"][0]
    assert call("GET", f"/v1/workflows/{run}?step=b", want=200)["steps"] == []
    call("GET", f"/v1/workflows/{run}?outputs=2", want=400)
    call("GET", "/v1/workflows?state=odd", want=400)
    assert [r["id"] for r in call("GET", "/v1/workflows?state=done&limit=5", want=200)["runs"]] == [run]
    call("POST", f"/v1/workflows/{run}/cancel", want=409)
    call("POST", f"/v1/workflows/{run}/retry", want=409)
    call("DELETE", f"/v1/workflows/{run}", want=204)
    call("GET", f"/v1/workflows/{run}", want=404)
    slow = call("POST", "/v1/workflows", {"yaml": "steps: [{sleep: 1h}]"}, 201)["id"]
    call("DELETE", f"/v1/workflows/{slow}", want=409)
    call("POST", f"/v1/workflows/{slow}/retry", want=409)
    assert call("POST", f"/v1/workflows/{slow}/cancel", want=200)["state"] == "cancelled"
    assert call("POST", f"/v1/workflows/{slow}/retry", want=200)["state"] == "running"
    call("POST", f"/v1/workflows/{slow}/cancel", want=200)
    code = call("POST", "/v1/workflows/code", {"name": "mine", "inputs": {"a": 1}}, 200)["id"]
    call("POST", "/v1/workflows/code", {"name": "mine", "id": "x"}, 400)
    call("POST", "/v1/workflows/code", {"name": "other", "id": code}, 409)
    lease = call("POST", f"/v1/workflows/{code}/claim", {"step": "one", "lease_seconds": 30}, 200)["lease"]
    call("POST", f"/v1/workflows/{code}/claim", {"step": "one"}, 409)
    call("POST", f"/v1/workflows/{code}/claim", {"step": ""}, 400)
    call("POST", f"/v1/workflows/{code}/renew", {"step": "one", "lease": lease}, 204)
    call("POST", f"/v1/workflows/{code}/finish", {"step": "one", "lease": lease, "output": [1, None]}, 204)
    assert call("POST", f"/v1/workflows/{code}/claim", {"step": "one"}, 200)["output"] == [1, None]
    call("POST", f"/v1/workflows/{code}/finish", {"output": "x", "odd": 1}, 400)
    call("POST", f"/v1/workflows/{code}/finish", {"error": "no"}, 204)
    call("POST", f"/v1/workflows/{code}/retry", want=409)
    call("POST", f"/v1/workflows/{code}/claim", {"step": "two"}, 409)


def schedules():
    """A schedule of a cell that sleeps, which a run wakes."""
    call("POST", "/v1/cells", {"name": "napping"}, 201)
    call("POST", "/v1/cells/napping/wake", want=409)
    assert call("POST", "/v1/cells/napping/sleep", {"grace": 0}, 200)["state"] == "sleeping"
    call("POST", "/v1/cells/napping/sleep", {"grace": "x"}, 400)
    call("POST", "/v1/cells/napping/wake", want=200)
    call("POST", "/v1/cells/napping/sleep", {"grace": 0}, 200)
    spec = {"name": "nightly", "schedule": "0 3 * * *", "tz": "UTC", "cell": "napping", "command": ["echo", "hi"]}
    call("POST", "/v1/schedules", {**spec, "schedule": "61 * * * *"}, 400)
    call("POST", "/v1/schedules", {**spec, "cell": "nobody"}, 404)
    call("POST", "/v1/schedules", spec, 201)
    call("POST", "/v1/schedules", spec, 409)
    call("GET", "/v1/schedules", want=200)
    call("GET", "/v1/schedules/nobody", want=404)
    run = call("POST", "/v1/schedules/nightly/run", want=201)["run"]
    soon("its end", lambda: call("GET", f"/v1/schedules/nightly/runs/{run}", want=200).get("state") == "done")
    assert call("GET", "/v1/schedules/nightly/runs", want=200)["runs"][0]["run"] == run
    assert call("POST", "/v1/schedules/nightly/pause", want=200)["state"] == "paused"
    call("POST", "/v1/schedules/nightly/resume", want=200)
    call("GET", "/v1/schedules/nightly", want=200)
    call("DELETE", "/v1/schedules/nightly", want=204)
    call("DELETE", "/v1/cells/napping?force=1", want=204)


MORE = [schedules, workflows, journals, network, cells, interactive, named, disks, store, images, prune, store_rights, one_cell, projects, files]

if __name__ == "__main__":
    main()
