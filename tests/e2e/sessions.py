#!/usr/bin/env python3
"""Sessions of agents, with an agent that does what it is told (acpagent.py)."""

import base64
import http.client
import json
import os
import socket
import sys
import threading
import time

from vivdclient import Unix, gone, kill9, run_case, soon

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = ["python3", "/e2e/acpagent.py"]


class Session:
    def __init__(self, v, cell, **spec):
        self.v, self.cell, self.seen = v, cell, []
        self.is_ = v.call("POST", f"/v1/cells/{cell}/sessions", spec or {"command": AGENT}, want=201)
        self.id = self.is_["id"]
        self.path = f"/v1/cells/{cell}/sessions/{self.id}"

    def get(self):
        return self.v.call("GET", self.path, want=200)

    def state(self, *wanted, seconds=60):
        try:
            return soon(lambda: (lambda s: s["state"] in wanted and s)(self.get()), str(wanted), seconds)
        except AssertionError:
            print(self.get(), self.events()[-10:])
            raise

    def read(self, since=0):
        out = self.v.ask("GET", f"{self.path}/events?since={since}")[1]
        return [json.loads(line) for line in out.splitlines() if line]

    def events(self, since=0):
        """Those that were seen before do not change, and are not read again."""
        self.seen += self.read(self.seen[-1]["seq"] if self.seen else 0)
        return [e for e in self.seen if e["seq"] > since]

    def of(self, kind, since=0):
        return [e["data"] for e in self.events(since) if e["type"] == kind]

    def prompt(self, text, want=202):
        return self.v.call("POST", f"{self.path}/prompt", {"text": text}, want=want)

    def post(self, what, body=None, want=200):
        return self.v.call("POST", f"{self.path}/{what}", body or {}, want=want)

    def turn(self, n, seconds=60):
        """How prompt n ended."""
        def found():
            t = [t for t in self.of("turn") if t["prompt"] == n]
            assert len(t) <= 1, t
            return t and t[0]
        return soon(found, f"the end of prompt {n}: {self.get()}", seconds)

    def do(self, text, reason="end_turn"):
        """Prompts, and gives what the agent said."""
        p = self.prompt(text)
        t = self.turn(p["prompt"])
        assert t["stop_reason"] == reason, (text, t, self.events(p["seq"]))
        return self.said(p["seq"])

    def said(self, since=0):
        return "".join(u["update"]["content"]["text"] for u in self.of("update", since) if u["update"]["sessionUpdate"] == "agent_message_chunk")


def cell(v, name="c", **more):
    v.call("POST", "/v1/cells", {"name": name, "command": ["sleep", "100000"], "mounts": [{"source": HERE, "target": "/e2e", "readonly": True}], **more}, want=201)
    v.call("POST", f"/v1/cells/{name}/start", want=200)
    return name


def whole(s):
    """Numbers without a gap, and the same as a reader that follows sees."""
    events = s.read()
    assert events[:len(s.seen)] == s.seen
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1)), [e["seq"] for e in events][:50]
    return events


def basic(v):
    s = Session(v, cell(v), command=AGENT, prompt="say hello; think hm; tool Edit file; odd; notify; usage; title A name")
    assert s.is_["state"] == "starting" and s.is_["agent"] is None and s.is_["command"] == AGENT, s.is_
    s.turn(1)
    events = whole(s)
    kinds = [e["type"] for e in events]
    assert kinds[0] == "state" and "agent" in kinds and kinds.count("prompt") == 1, kinds
    agent = s.of("agent")[0]
    assert agent["name"] == "acpagent" and agent["protocol"] == 1, agent
    updates = [u["update"]["sessionUpdate"] for u in s.of("update")]
    assert updates == ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "never_heard_of", "x_notification", "usage_update", "session_info_update"], updates
    # As it stood.
    raw = v.ask("GET", f"{s.path}/events")[1]
    assert b'{"update":{ "sessionUpdate":"never_heard_of", "n": 1.10, "big":123456789012345678901234567890, "z":1,"a":"\\u00e9" }}' in raw, raw
    is_ = s.state("idle")
    assert is_["title"] == "A name" and is_["last_seq"] == len(whole(s)) and is_["queue"] == 0, is_
    assert is_["usage"]["input_tokens"] == 3 and is_["usage"]["cost"]["amount"] == 0.25 and is_["usage"]["context_size"] == 100, is_
    assert s.do("say again; stderr oops; unknown").startswith("again"), s.events()
    soon(lambda: s.of("stderr") == [{"text": "oops\n"}], f"{s.of('stderr')}")
    assert "-32601" in s.said()
    # Prompts wait for each other.
    ps = [s.prompt(f"say <{i}>")["prompt"] for i in range(5)]
    for p in ps:
        s.turn(p)
    assert s.said().endswith("<0><1><2><3><4>"), s.said()
    assert s.do("error of a kind", "error") == ""
    assert s.of("error")[-1]["message"].endswith("of a kind"), s.of("error")
    assert [x["id"] for x in v.call("GET", "/v1/sessions", want=200)["sessions"]] == [s.id]
    assert s.post("close")["id"] == s.id
    s.state("closed")
    s.prompt("say x", want=409)
    assert v.ask("DELETE", s.path)[0] == 204
    assert v.ask("GET", s.path)[0] == 404
    assert v.call("GET", "/v1/cells/c/sessions", want=200)["sessions"] == []


def served(v):
    """Files and terminals of the cell, for its agent."""
    s = Session(v, cell(v))
    assert s.do("write /tmp/new/a.txt some text") == "write {}"
    assert s.do("read /tmp/new/a.txt") == 'read {"content": "some text\\n"}'
    v.exec("c", "sh", "-c", "seq 1 10 >/tmp/ten; printf '\\377' >/tmp/binary; truncate -s 5M /tmp/large; mkfifo /tmp/fifo; chmod 600 /tmp/ten")
    assert s.do("readpart /tmp/ten 3 2") == 'read {"content": "3\\n4\\n"}'
    assert s.do("readpart /tmp/ten 30 2") == 'read {"content": ""}'
    for path, why in (("/no/such", "-32002"), ("relative", "-32602"), ("/tmp/binary", "UTF-8"), ("/tmp/large", "4 MiB"), ("/tmp", "-32603")):
        assert why in s.do("read " + path), (path, s.said())
    # A file keeps its mode.
    s.do("write /tmp/ten new")
    assert v.exec("c", "sh", "-c", "cat /tmp/ten; stat -c %a /tmp/ten") == "new\n600\n"
    assert s.do("run echo out && echo err >&2 && exit 3") == 'run {"exitCode": 3, "signal": null} {"exitStatus": {"exitCode": 3, "signal": null}, "output": "out\\nerr\\n", "truncated": false}'
    said = s.do("runkill")
    assert "Killed" in said and "-32002" in said, said
    assert s.do("terminals 20") == "terminals 15"
    # They end with the session.
    assert v.exec("c", "sh", "-c", "pgrep -c -x sleep || true").strip() == "16"
    s.post("close")
    s.state("closed")
    soon(lambda: v.exec("c", "sh", "-c", "pgrep -c -x sleep || true").strip() == "1", "the end of its terminals")


def permissions(v):
    s = Session(v, cell(v))
    approvals = lambda: v.call("GET", "/v1/approvals", want=200)["approvals"]

    def asked(text):
        p = s.prompt("ask " + text)
        soon(lambda: [a for a in approvals() if a["title"] == text], text)
        s.state("waiting")
        return p, next(a for a in approvals() if a["title"] == text)

    p, a = asked("rm one")
    assert a["scope"] == "agent" and a["session"] == s.id and a["tool_call"]["toolCallId"] == "c9" and [o["kind"] for o in a["options"]] == ["allow_once", "allow_always", "reject_once"], a
    # The first answer counts.
    answers = []
    threads = [threading.Thread(target=lambda x=x: answers.append((v.ask("POST", f"/v1/approvals/{a['id']}", {"answer": x})[0], x))) for x in ("allow", "deny")]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(x[0] for x in answers) == [200, 409], answers
    won = next(x[1] for x in answers if x[0] == 200)
    s.turn(p["prompt"])
    assert ('"yes"' if won == "allow" else '"no"') in s.said(p["seq"]), (won, s.said())
    for body, option in (({"answer": "allow", "always": True}, "ever"), ({"answer": "deny"}, "no"), ({"option": "ever"}, "ever"), ({"answer": "deny", "always": True}, "no")):
        p, a = asked(json.dumps(body))
        assert v.ask("POST", f"/v1/approvals/{a['id']}", {"option": "nonsense"})[0] == 400
        v.call("POST", f"/v1/approvals/{a['id']}", body, want=200)
        s.turn(p["prompt"])
        assert f'"optionId": "{option}"' in s.said(p["seq"]), (body, s.said(p["seq"]))
        assert s.of("answered", p["seq"]) == [{"approval": a["id"], "outcome": "allowed" if option == "ever" else "denied", "option": option, "by": "owner"}], s.of("answered")
    # Cancelled, and withdrawn.
    p, a = asked("to be cancelled")
    s.post("cancel")
    assert s.turn(p["prompt"])["stop_reason"] == "cancelled"
    assert v.call("GET", f"/v1/approvals/{a['id']}")["state"] == "withdrawn"
    assert v.ask("POST", f"/v1/approvals/{a['id']}", {"answer": "allow"})[0] == 409
    assert '"cancelled"' in s.said(p["seq"])
    # A flood of them is bounded.
    s.do("asks 200")
    assert len(approvals()) == 32
    s.state("waiting")
    s.post("close")
    s.state("closed")
    assert approvals() == []
    # A vivd that is killed does not lose one.
    s = Session(v, "c")
    p, a = asked("while vivd is away")
    v.replace()
    assert s.get()["state"] == "waiting" and [x["id"] for x in approvals()] == [a["id"]]
    v.call("POST", f"/v1/approvals/{a['id']}", {"answer": "allow"}, want=200)
    s.turn(p["prompt"])
    assert '"yes"' in s.said(p["seq"])
    whole(s)


def survives(v):
    """kill -9 of vivd: nothing is lost, nothing doubled."""
    cell(v)
    s = Session(v, "c")
    s.state("idle")
    # A client that comes back after each death; what it was told must be what is read in the end.
    told, over = [], threading.Event()

    def follow():
        while not over.is_set():
            try:
                listen((v.socket, f"{s.path}/events?follow=1&since={told[-1]['seq'] if told else 0}"), {}, lambda e: over.is_set(), told)
            except (OSError, http.client.HTTPException, ValueError, AssertionError):
                time.sleep(0.01)

    client = threading.Thread(target=follow, daemon=True)
    client.start()
    p = s.prompt("count 3000; partial cut in two; count 2000; run echo $$; read /e2e/acpagent.py; say end")
    for _ in range(3):
        before = s.get()["last_seq"]
        v.replace()
        soon(lambda: s.get()["last_seq"] > before or s.of("stderr"), "more")
    # In the middle of a line.
    soon(lambda: s.of("stderr"), "the half of a line")
    v.replace()
    v.exec("c", "touch", "/tmp/go")
    assert s.turn(p["prompt"])["stop_reason"] == "end_turn"
    said = s.said(p["seq"])
    assert said.startswith("".join(f"{i} " for i in range(3000)) + "cut in two" + "".join(f"{i} " for i in range(2000)) + 'run {"exitCode": 0'), said[:100]
    assert said.endswith("say end") or said.endswith("end"), said[-100:]
    assert s.of("stderr") == [{"text": "between\n"}], s.of("stderr")
    assert not s.of("noise"), s.of("noise")
    assert len(s.of("agent")) == 1
    whole(s)
    # While prompts wait, and the agent never notices.
    ps = [s.prompt(f"say <{i}>")["prompt"] for i in range(20)]
    v.replace()
    ps += [s.prompt(f"say <{i}>")["prompt"] for i in range(20, 40)]
    for n in ps:
        assert s.turn(n)["stop_reason"] == "end_turn"
    assert s.said().endswith("".join(f"<{i}>" for i in range(40)))
    assert s.do("count_state") == "turns 42"
    over.set()
    s.do("say last")
    client.join(30)
    events = whole(s)
    assert len(told) > 5000 and told == events[:len(told)], [(a, b) for a, b in zip(told, events) if a != b][:3]


def crashes(v):
    shared = v.top + "/shared"
    os.mkdir(shared)
    cell(v, mounts=[{"source": HERE, "target": "/e2e", "readonly": True}, {"source": shared, "target": "/shared"}])
    # One that cannot load: lost, and said.
    s = Session(v, "c")
    s.do("die", "error")
    is_ = s.state("failed")
    assert "signal 9" in is_["error"]["message"] and "lost" in is_["error"]["remedy"], is_
    # A further prompt tries again.
    assert s.do("count_state") == "turns 1"
    assert "anew" in s.of("error")[-1]["message"]
    s.post("close")
    # One that can is started again and goes on, and its history is not told twice.
    for how in ("--load", "--resume"):
        s = Session(v, "c", command=AGENT + [how], env={"AGENT_STATE": f"/tmp/state{how}"})
        assert s.do("say one") == "one"
        s.do("die", "error")
        s.state("idle")
        assert s.do("count_state") == "turns 3"
        assert "history" not in s.said()
        # With its cell.
        p = s.prompt("say before; wait /never")
        soon(lambda: s.said(p["seq"]) == "before", "its beginning")
        v.call("POST", "/v1/cells/c/stop", {"grace": 0}, want=200)
        assert s.turn(p["prompt"])["stop_reason"] == "error"
        s.state("idle")
        assert v.call("GET", "/v1/cells/c")["state"] == "stopped"
        p = s.prompt("count_state")
        s.turn(p["prompt"])
        # The files of the cell stayed.
        assert s.said(p["seq"]) == "turns 5", (s.said(p["seq"]), s.of("error"))
        whole(s)
        s.post("close")
    # The cell ends while vivd is away.
    s = Session(v, "c", command=AGENT + ["--load"])
    p = s.prompt("touch /shared/begun; wait /shared/now; count 500; wait /never")
    soon(lambda: os.path.exists(shared + "/begun"), "its beginning")
    pid = v.kill()
    soon(lambda: gone(pid), "the end of vivd")
    open(shared + "/now", "w").close()
    soon(lambda: any(b'"499 "' in open(f, "rb").read() for f in logs_of(v)), "its output")
    for e in os.listdir("/proc"):
        try:
            if e.isdigit() and b"viv-keeper" in open(f"/proc/{e}/cmdline", "rb").read() and open(f"/proc/{e}/environ", "rb").read().find(v.top.encode()) >= 0:
                kill9(int(e))
        except OSError:
            pass
    v.start()
    assert s.turn(p["prompt"])["stop_reason"] == "error"
    assert s.said(p["seq"]) == "".join(f"{i} " for i in range(500)), s.said(p["seq"])[-50:]
    whole(s)
    assert s.do("count_state") == "turns 2"
    # Those that never get ready.
    s = Session(v, "c", command=AGENT + ["--exit", "7"])
    is_ = s.state("failed")
    assert "status 7" in is_["error"]["message"], is_
    assert s.of("stderr") == [{"text": "this agent ends at once\n"}]
    s = Session(v, "c", command=["/no/such/program"], prompt="say x")
    is_ = s.state("failed")
    assert is_["error"]["code"] == "command_not_found" or "no/such" in json.dumps(is_["error"]), is_
    assert s.turn(1)["stop_reason"] == "error"
    s = Session(v, "c", command=AGENT + ["--silent"], start_timeout=0.5)
    is_ = s.state("failed")
    assert "initialize" in is_["error"]["message"], is_
    s = Session(v, "c", command=AGENT + ["--version", "2"])
    assert s.state("failed")["error"]["code"] == "unsupported"
    s = Session(v, "c", command=["cat"])
    s.state("failed", "starting")
    v.ask("DELETE", s.path)
    # It leaves a child that holds its streams.
    s = Session(v, "c")
    s.do("fork", "error")
    s.state("failed")


def cancels(v):
    s = Session(v, cell(v))
    first = s.prompt("until_cancel; say not this")
    more = [s.prompt("say x") for _ in range(3)]
    s.state("running")
    assert s.get()["queue"] == 3
    s.post("cancel")
    for p in [first] + more:
        assert s.turn(p["prompt"])["stop_reason"] == "cancelled"
    assert s.said() == ""
    assert s.do("say on") == "on"
    # One that does not listen is closed all the same.
    p = s.prompt("ignore_cancel")
    s.state("running")
    s.post("cancel")
    s.post("close")
    s.state("closed")
    s.post("cancel")
    s.post("mode", {"mode": "x"}, want=409)
    # Its cell goes.
    s = Session(v, "c", prompt="until_cancel", command=AGENT)
    s.state("running")
    v.call("DELETE", "/v1/cells/c?force=1", want=204)
    assert v.call("GET", "/v1/sessions")["sessions"] == []


def settings(v):
    cell(v)
    s = Session(v, "c", command=AGENT + ["--modes", "--models", "--auth"], mode="code")
    is_ = s.state("idle")
    assert is_["mode"] == "code" and is_["model"] == "small" and [m["id"] for m in is_["modes"]] == ["ask", "code"], is_
    assert s.post("model", {"model": "large"})["model"] == "large"
    assert s.post("mode", {"mode": "ask"})["mode"] == "ask"
    s.post("mode", {"mode": "nonsense"}, want=400)
    s.post("config", {"option": 1}, want=400)
    s = Session(v, "c", command=AGENT + ["--options"], model="high", env={"WHO": "me"}, mcp_servers=[{"name": "m", "command": "x", "env": {"A": "b"}}])
    is_ = s.state("idle")
    assert is_["model"] == "high" and is_["config_options"][0]["currentValue"] == "high", is_
    assert s.post("config", {"option": "effort", "value": "low"})["model"] == "low"
    s.post("mode", {"mode": "x"}, want=422)
    assert s.do("env WHO") == "env me"
    assert s.do("env VIVARIUM_SESSION") == "env " + s.id
    # What it takes.
    p = s.post("prompt", {"content": [{"type": "text", "text": "say a"}, {"type": "resource_link", "uri": "say b", "name": "b"}]}, want=202)
    s.turn(p["prompt"])
    assert s.said(p["seq"]) == "ab"
    p = s.post("prompt", {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}, want=202)
    assert s.turn(p["prompt"])["stop_reason"] == "error"
    for bad in ({}, {"text": "a", "content": []}, {"content": []}, {"content": [1]}, {"content": [{"type": "text"}]}, {"content": [{"type": "x"}]}, {"text": 1}):
        s.post("prompt", bad, want=400)
    for bad in ({}, {"agent": "a", "command": ["b"]}, {"command": []}, {"command": [""]}, {"command": ["a"], "workdir": "x"}, {"command": ["a"], "mcp_servers": [{}]}, {"command": ["a"], "x": 1}):
        v.call("POST", "/v1/cells/c/sessions", bad, want=400)
    v.call("POST", "/v1/cells/c/sessions", {"agent": "nobody-knows"}, want=404)
    # A prompt of 10 MB.
    p = s.post("prompt", {"text": "big " + "x" * 10_000_000}, want=202)
    s.turn(p["prompt"])
    assert s.said(p["seq"]) == "10000004"
    # Without ACP: one run for each prompt.
    s = Session(v, "c", command=["sh", "-c", "echo \"<$1>\"; printf '\\303\\244'; echo err >&2; [ \"$1\" != bad ]", "x"], acp=False)
    assert s.state("idle")["modes"] == []
    assert s.do("a b") == "<a b>\nä"
    assert s.do("bad", "error") == "<bad>\nä"
    assert "status 1" in s.of("error")[-1]["message"]
    s2 = Session(v, "c", command=["sleep"], acp=False)
    p = s2.prompt("1000")
    s2.state("running")
    s2.post("cancel")
    assert s2.turn(p["prompt"])["stop_reason"] == "cancelled"
    s2.post("close")
    assert s2.state("closed")


def misbehaves(v):
    s = Session(v, cell(v))
    s.do("noise")
    noise = s.of("noise")
    assert [n["text"][:5] for n in noise] == ["this ", "?? by", '{"jso', "[1,2]", '"text', "{}"], noise
    s.do("answers; say on")
    assert len(s.of("noise")) == 9, s.of("noise")
    s.do("long 100; say after")
    assert s.of("noise")[-1]["bytes"] == 100 << 20 and len(s.of("noise")[-1]["text"]) <= 200, s.of("noise")[-1]
    assert s.do("say still here") == "still here"
    s.do("requests 20000; say done")
    whole(s)
    # It writes more than is kept.
    p = s.prompt("flood 70; say end")
    s.turn(p["prompt"], 120)
    events = s.read()
    assert events[0]["type"] == "gap" and events[0]["data"]["from"] == 1 and events[1]["seq"] == events[0]["data"]["to"] + 1 == events[0]["seq"] + 1, events[:2]
    assert [e["seq"] for e in events[1:]] == list(range(events[1]["seq"], s.get()["last_seq"] + 1))
    assert any("\"end\"" in json.dumps(e) for e in events[-5:])
    size = os.path.getsize(v.top + "/state/vivarium/state.db")
    assert size < 120 << 20, size
    assert v.ask("DELETE", s.path)[0] == 204


def listen(path, headers, want, got):
    c = Unix(path[0])
    c.request("GET", path[1], headers=headers)
    r = c.getresponse()
    assert r.status == 200, r.status
    while True:
        line = r.readline()
        if not line:
            break
        if line.startswith(b"data: "):
            line = line[6:]
        if line.startswith(b"{"):
            got.append(json.loads(line))
            if want(got[-1]):
                break
    c.close()


def watchers(v):
    """Several clients on one session each see everything, as it is read back."""
    from wsclient import WebSocket
    s = Session(v, cell(v))
    s.state("idle")
    last = lambda e: e["type"] == "turn" and e["data"]["prompt"] == 3
    got = [[] for _ in range(6)]
    threads = [threading.Thread(target=listen, args=((v.socket, f"{s.path}/events?follow=true&since=0"), {"Accept": "text/event-stream"} if i % 2 else {}, last, got[i])) for i in range(5)]
    [t.start() for t in threads]
    w = WebSocket(v.socket, f"{s.path}/events?since=0", "vivarium.session.v1")
    s.prompt("count 500")
    w.say(type="prompt", text="ask x")
    answered = []
    while not got[5] or not last(got[5][-1]):
        m = w.message()[1]
        if m.get("type") in ("ok", "error"):
            answered.append(m)
            continue
        got[5].append(m)
        if m["type"] == "permission":
            w.say(type="answer", approval=m["data"]["approval"], answer="allow")
            s.prompt("say end")
    [t.join(60) for t in threads]
    assert [(a["type"], a["of"]) for a in answered] == [("ok", "prompt"), ("ok", "answer")], answered
    events = [e for e in s.read() if e["seq"] <= got[5][-1]["seq"]]
    for g in got:
        assert g == events, (len(g), len(events))
    # From the middle on, and some of them.
    assert s.read(since=10)[0]["seq"] == 11
    out = v.ask("GET", f"{s.path}/events?since=3&limit=2")[1].splitlines()
    assert [json.loads(x)["seq"] for x in out] == [4, 5]
    out = v.ask("GET", f"{s.path}/events?limit=2", headers={"Accept": "text/event-stream", "Last-Event-ID": "7"})[1]
    assert out.startswith(b"id: 8\ndata: {") and out.count(b"id: ") == 2, out
    for bad in ("follow=maybe", "since=x", "y=1"):
        assert v.ask("GET", f"{s.path}/events?{bad}")[0] == 400, bad
    w.say(type="nonsense")
    w.send(1, b"no json")
    refused = []
    while len(refused) < 2:
        m = w.message()[1]
        refused += [m["status"]] if m["type"] == "error" and "status" in m else []
    assert refused == [400, 400]
    # A search.
    s.do("say zebra crossing; tool Paint stripes; say ahead")
    find = lambda q: [(t["session"], t["type"]) for t in v.call("GET", f"/v1/transcripts?q={q}", want=200)["transcripts"]]
    assert find("zebra") == [(s.id, "message"), (s.id, "prompt")], find("zebra")
    assert find("stripes") == [(s.id, "tool"), (s.id, "prompt")] and find("zebra+stripes") == [(s.id, "prompt")] and find("giraffe") == []
    assert find('%22+AND+NOT+*') == [] and v.ask("GET", "/v1/transcripts?q=")[0] == 400
    found = v.call("GET", "/v1/transcripts?q=crossing&cell=c&limit=1")["transcripts"]
    assert len(found) == 1 and found[0]["cell"] == s.is_["cell"] and "[crossing]" in found[0]["snippet"], found
    # Tokens of other cells.
    cell(v, "other")
    other = Session(v, "other")
    assert v.ask("GET", f"/v1/cells/other/sessions/{s.id}")[0] == 404
    assert v.ask("GET", f"/v1/cells/c/sessions/{other.id}/events")[0] == 404
    token = lambda **o: {"Authorization": "Bearer " + v.call("POST", "/v1/tokens", {"name": "t", **o}, want=201)["token"]}
    mine, reads = token(scope="cell", cell="c"), token(scope="read", cell="c")
    for who in (mine, reads):
        assert v.ask("GET", s.path, headers=who)[0] == 200
        for path in (other.path, f"{other.path}/events", f"/v1/cells/c/sessions/{other.id}", "/v1/cells/other/sessions"):
            assert v.ask("GET", path, headers=who)[0] == 404, path
        assert [x["id"] for x in v.call("GET", "/v1/sessions", headers=who)["sessions"]] == [s.id]
        assert len(v.call("GET", "/v1/transcripts?q=zebra", headers=who)["transcripts"]) == 2
        assert v.ask("GET", "/v1/transcripts?q=zebra&cell=other", headers=who)[0] == 404
    assert v.ask("POST", f"{other.path}/prompt", {"text": "say x"}, headers=mine)[0] == 404
    assert v.ask("POST", f"{s.path}/prompt", {"text": "say x"}, headers=reads)[0] == 403
    assert v.ask("DELETE", other.path, headers=mine)[0] == 404
    assert v.ask("POST", f"{s.path}/prompt", {"text": "say by me"}, headers=mine)[0] == 202
    soon(lambda: s.said().endswith("by me"), "its prompt")
    assert s.of("prompt")[-1]["by"] != "owner"
    assert v.ask("DELETE", s.path)[0] == 204
    assert find("zebra") == []


def borders(v):
    """Input of every length around that of one message to the keeper (KEEP_TEXT), and ids of every kind."""
    s = Session(v, cell(v))
    s.state("idle")
    for n in range(260, 400):
        assert s.do("big " + "x" * n) == str(n + 4), n
    for n in (4094, 4095, 4096, 4097, 65535, 65536, 65537, 131072):
        assert s.do("big " + "x" * n) == str(n + 4), n
    # An answer has the id of its request, whatever that is.
    for given in ('"a\\u0000b"', '"\\u0000"', '""', "1.5", "-3", '"1"', '"' + "z" * 200 + '"'):
        assert "-32601" in s.do(f"unknown_as {given}"), given
        assert '"content"' in s.do(f"read_as {given}"), given
        p = s.prompt(f"ask_as {given}")
        s.state("waiting")
        asked = v.call("GET", "/v1/approvals", want=200)["approvals"]
        v.call("POST", f"/v1/approvals/{asked[0]['id']}", {"answer": "allow"}, want=200)
        assert s.turn(p["prompt"])["stop_reason"] == "end_turn"
        assert '"yes"' in s.said(p["seq"]), (given, s.said(p["seq"]))
    assert not s.of("noise"), s.of("noise")
    whole(s)


def unstartable(v):
    """Cells and agents that cannot start, and are removed with the sessions that waited for them."""
    pid = v.pid()
    for i in range(6):
        name, source = f"u{i}", f"{v.top}/tmp/source{i}"
        os.makedirs(source)
        v.call("POST", "/v1/cells", {"name": name, "command": ["sleep", "100000"], "mounts": [{"source": source, "target": "/m"}]}, want=201)
        os.rmdir(source)
        sessions = [Session(v, name, command=AGENT, prompt="say x") for _ in range(4)]
        if i % 2:
            for s in sessions:
                assert s.state("failed")["error"]["message"], s.get()
                assert s.turn(1)["stop_reason"] == "error"
            # Again, and in the middle of it the cell goes.
            for s in sessions:
                s.prompt("say y")
        assert v.ask("DELETE", f"/v1/cells/{name}?force=1")[0] == 204
        assert v.call("GET", "/v1/sessions", want=200)["sessions"] == []
        assert v.ask("GET", sessions[0].path)[0] == 404
    # An agent that cannot start in a cell that runs. The cell stops, others take its place in vivd's memory, and it is removed.
    for i in range(6):
        name = cell(v, f"w{i}")
        sessions = [Session(v, name, command=["/no/such/program"], prompt="say x") for _ in range(4)]
        for s in sessions:
            s.state("failed")
        if i % 2:
            v.call("POST", f"/v1/cells/{name}/stop", {"grace": 0}, want=200)
            for n in range(4):
                cell(v, f"other{i}-{n}")
        assert v.ask("DELETE", f"/v1/cells/{name}?force=1")[0] == 204
        assert v.call("GET", "/v1/sessions", want=200)["sessions"] == []
    assert v.pid() == pid and v.call("GET", "/v1/approvals", want=200)["approvals"] == []


def lost(v):
    """vivd has no room for its state: what was not written is read from the agent's output again, and comes once."""
    state = v.env["XDG_STATE_HOME"] + "/vivarium"
    s = Session(v, cell(v))
    s.state("idle")
    p = s.prompt("count 3000; wait /tmp/go; trickle 300; count 20000; say end")
    soon(lambda: s.said(p["seq"]).endswith("2999 "), "its beginning")
    filler = state + "/filler"
    with open(filler, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass
    v.exec("c", "touch", "/tmp/go")
    # The agent has said all, and vivd cannot store it.
    soon(lambda: any(b'"text":"end"' in open(f, "rb").read() for f in logs_of(v)), "its output")
    soon(lambda: v.ask("POST", f"{s.path}/prompt", {"text": "say refused"})[0] == 507, "there is room for a prompt")
    assert not s.of("turn"), "there was room"
    os.unlink(filler)
    s.turn(p["prompt"])
    said = s.said(p["seq"])
    assert said == "".join(f"{i} " for n in (3000, 300, 20000) for i in range(n)) + "end", (len(said), said[-100:])
    whole(s)


def logs_of(v):
    """What keepers have of the output of processes."""
    return [f"{v.run}/cells/{f}" for f in os.listdir(f"{v.run}/cells") if f.endswith(".log")]


def full(v):
    """The keeper has no room for the output of an agent: it waits, and nothing is lost."""
    s = Session(v, cell(v))
    s.state("idle")
    filler = v.run + "/filler"
    with open(filler, "wb") as f:
        try:
            while True:
                f.write(b"x" * 65536)
                f.flush()
        except OSError:
            pass
    p = s.prompt("count 20000; say end")
    time.sleep(1)
    assert not s.of("turn"), "it was not full"
    os.unlink(filler)
    s.turn(p["prompt"])
    assert s.said(p["seq"]) == "".join(f"{i} " for i in range(20000)) + "end"
    whole(s)


def timing(v):
    s = Session(v, cell(v))
    s.state("idle")
    for what in ("count 1000", "long 10", "flood 10", "requests 2000"):
        t = time.monotonic()
        p = s.prompt(what)
        s.turn(p["prompt"], 200)
        print(what, round(time.monotonic() - t, 2))
    t = time.monotonic()
    print(open(f"/proc/{v.pid()}/stat").read().split()[13:15])
    p = s.post("prompt", {"text": "big " + "x" * 10_000_000}, want=202)
    print("posted", round(time.monotonic() - t, 2), open(f"/proc/{v.pid()}/stat").read().split()[13:15])
    s.turn(p["prompt"])
    print("10 MB", round(time.monotonic() - t, 2))


def latency(v):
    """10,000 updates at 1,000 in a second: from the agent's write to a client of vivd. Figures, not a test."""
    n = int(os.environ.get("UPDATES", "10000"))
    s = Session(v, cell(v))
    s.state("idle")
    c = Unix(v.socket)
    c.request("GET", f"{s.path}/events?follow=true&since={s.get()['last_seq']}")
    r = c.getresponse()
    s.prompt(f"paced {n} 1000")
    late = []
    for line in r:
        now = time.time()
        if b'"turn"' in line:
            break
        if b"agent_message_chunk" in line:
            late.append(now - float(json.loads(line)["data"]["update"]["content"]["text"].split()[1]))
    late.sort()
    print(len(late), *(f"p{q}: {late[int(len(late) * q / 100)] * 1000:.2f} ms" for q in (50, 90, 99)), f"max {late[-1] * 1000:.1f} ms", open("/proc/loadavg").read().split()[0])


def fifty(v):
    """Memory of vivd with 50 sessions. Figures, not a test."""
    rss = lambda: int(next(line for line in open(f"/proc/{v.pid()}/status") if line.startswith("VmRSS")).split()[1]) // 1024
    cell(v)
    before = rss()
    all_ = [Session(v, "c", command=AGENT, prompt="say hello; tool x; count 200") for _ in range(50)]
    for s in all_:
        s.turn(1, 300)
    print("MiB before", before, "with 50 sessions", rss())


def removal(v):
    """Cells that are removed with all their sessions, whose ends are told while the keeper goes."""
    pid = v.pid()
    for i in range(3):
        name = cell(v, f"r{i}")
        sessions = [Session(v, name, command=AGENT) for _ in range(8)]
        for s in sessions:
            s.state("idle")
        assert v.ask("DELETE", f"/v1/cells/{name}?force=1")[0] == 204
    assert v.pid() == pid and v.call("GET", "/v1/sessions", want=200)["sessions"] == []


if __name__ == "__main__":
    run_case(latency, fifty, timing, borders, unstartable, lost, full, basic, served, permissions, survives, crashes, cancels, settings, misbehaves, watchers, removal)
