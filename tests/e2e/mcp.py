#!/usr/bin/env python3
"""A scripted client of viv mcp.  mcp.py VIV CHECK runs one check; see mcp.sh."""
import base64, http.client, json, os, queue, signal, socket, subprocess, sys, threading, time

VIV = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = ["python3", "/e2e/acpagent.py"]


class Client:
    """Talks to 'viv mcp ARGS' over its standard streams."""

    def __init__(self, *args, hello=True, version="2025-06-18"):
        self.p = subprocess.Popen([VIV, "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.q = queue.Queue()
        self.notes, self.kept, self.last = [], {}, 0
        threading.Thread(target=self.read, daemon=True).start()
        if hello:
            self.info = self.ask("initialize", protocolVersion=version, capabilities={},
                                 clientInfo={"name": "test", "version": "1"})["result"]
            self.note("notifications/initialized")

    def read(self):
        for line in self.p.stdout:
            self.q.put(json.loads(line))
        self.q.put(None)

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, **m):
        self.raw(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n")

    def note(self, method, **params):
        self.send(method=method, params=params)

    def begin(self, method, **params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        return self.last

    def next(self, limit=60):
        return self.q.get(timeout=limit)

    def answer(self, want, limit=60):
        while want not in self.kept:
            m = self.next(limit)
            assert m is not None, "the server ended"
            if "id" in m:
                self.kept[m["id"]] = m
            else:
                self.notes.append(m)
        return self.kept.pop(want)

    def ask(self, method, **params):
        return self.answer(self.begin(method, **params))

    def tool(self, tool, **args):
        r = self.ask("tools/call", name=tool, arguments=args)
        assert "result" in r, r
        return r["result"]

    def good(self, tool, **args):
        r = self.tool(tool, **args)
        assert not r["isError"], r
        return r.get("structuredContent")

    def bad(self, tool, **args):
        r = self.tool(tool, **args)
        assert r["isError"], r
        return r["content"][0]["text"]

    def names(self):
        return {t["name"] for t in self.ask("tools/list")["result"]["tools"]}

    def end(self):
        self.p.stdin.close()
        assert self.p.wait(60) == 0, self.p.returncode


def error(answer):
    assert "error" in answer, answer
    return answer["error"]["code"]


def soon(what):
    for _ in range(600):
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("not within 30 s")


def is_running(c, cell, word):
    return word in c.good("exec", cell=cell, script="cat /proc/[0-9]*/cmdline | tr '\\0' ' '")["stdout"]


def tools():
    c = Client("--", "--memory", "512M")
    assert c.info["serverInfo"]["name"] == "vivarium", c.info
    listed = c.ask("tools/list")["result"]["tools"]
    assert all(t["inputSchema"]["additionalProperties"] is False and t["description"] for t in listed)
    assert c.good("cell_create", name="a", memory="256M", env={"X": "y z"})["state"] == "running"
    assert "a" in [x.get("name") for x in c.good("cell_list")["cells"]]
    seen = c.good("cell_inspect", cell="a")
    assert seen["spec"]["limits"]["memory"] == 256 << 20, seen
    r = c.good("exec", cell="a", script="echo out; echo err >&2; cat; echo $X; pwd; exit 3", stdin="in\n", workdir="/tmp")
    assert r == {"exit_code": 3, "stdout": "out\nin\ny z\n/tmp\n", "stderr": "err\n", "truncated": False}, r
    r = c.good("exec", cell="a", command=["printf", "%s|", "a b", "$HOME"], env={"K": "v"}, user="nobody")
    assert r["stdout"] == "a b|$HOME|", r
    r = c.good("exec", cell="a", script="sleep 100", timeout=0.2)
    assert r["exit_code"] == 124 and r["timed_out"], r
    # Bytes that are not text, and more than is returned.
    r = c.good("exec", cell="a", script="printf 'a\\377b'")
    assert r["stdout"] == "a\ufffdb", r
    r = c.good("exec", cell="a", script="seq 100000", max_output=1000)
    assert r["truncated"] and r["stdout"].startswith("1\n2\n") and r["stdout"].endswith("\n100000\n"), r["stdout"][-50:]
    assert len(r["stdout"]) < 1100 and "bytes left out" in r["stdout"]
    # Files.
    assert c.good("file_write", cell="a", path="/root/d/e.txt", text="h\u00e9llo\n")["bytes"] == 7
    assert c.good("file_read", cell="a", path="/root/d/e.txt")["text"] == "h\u00e9llo\n"
    r = c.good("file_read", cell="a", path="/root/d/e.txt", offset=3, limit=2)
    assert (r["text"], r["next_offset"]) == ("ll", 5), r
    blob = bytes(range(256)) * 100
    c.good("file_write", cell="a", path="/root/blob", base64=base64.b64encode(blob).decode(), executable=True)
    assert base64.b64decode(c.good("file_read", cell="a", path="/root/blob")["base64"]) == blob
    entries = {e["path"]: e for e in c.good("file_list", cell="a", path="/root")["entries"]}
    assert entries["/root/blob"]["mode"] == "0755" and entries["/root/d"]["type"] == "directory", entries
    # Snapshots, forks, differences.
    assert c.good("snapshot", cell="a", name="s1") == {"snapshot": "s1"}
    c.good("exec", cell="a", script="rm /root/blob; echo new >/root/n; echo more >>/root/d/e.txt")
    kinds = {x["path"]: x["kind"] for x in c.good("diff", cell="a", snapshot="s1")["changes"]}
    assert kinds["/root/blob"] == "D" and kinds["/root/n"] == "A" and kinds["/root/d/e.txt"] == "C", kinds
    assert "+more" in c.good("diff", cell="a", snapshot="s1", format="patch")["patch"]
    assert c.good("fork", cell="a", snapshot="s1", name="b", start=True)["started"]
    assert c.good("exec", cell="b", script="ls /root")["stdout"] == "blob\nd\n"
    assert c.good("rollback", cell="a", snapshot="s1") == {"state": "running"}
    assert c.good("exec", cell="a", script="ls /root")["stdout"] == "blob\nd\n"
    assert [s["name"] for s in c.good("snapshot_list", cell="a")["snapshots"]] == ["s1"]
    # In the background.
    n = c.good("exec", cell="a", script="echo begun; exec sleep 1000", detach=True)["process"]
    soon(lambda: c.good("logs", cell="a", process=n)["output"] == "begun\n")
    c.good("process_kill", cell="a", process=n)
    soon(lambda: not is_running(c, "a", "sleep 1000"))
    c.good("cell_stop", cell="b")
    assert c.good("cell_start", cell="b")["state"] == "running"
    # What fails says why, and what to do.
    assert "not_found" in c.bad("exec", cell="nobody", script="true")
    assert "more than the operator allows" in c.bad("cell_create", name="c", memory="1G")
    assert "either 'command' or 'script'" in c.bad("exec", cell="a")
    assert "no argument 'wrong'" in c.bad("exec", cell="a", script="true", wrong=1)
    assert "'cell' must be" in c.bad("exec", cell=5, script="true")
    assert "'cell' is missing" in c.bad("exec", script="true")
    assert "'timeout' must be" in c.bad("exec", cell="a", script="true", timeout=-1)
    assert "'path' must be absolute" in c.bad("file_read", cell="a", path="etc")
    assert "not_found" in c.bad("file_read", cell="a", path="/none")
    assert "file_list" in c.bad("file_read", cell="a", path="/root")
    assert "exists" in c.bad("cell_create", name="a")
    for cell in "a", "b":
        c.good("cell_remove", cell=cell, force=True)
    assert c.good("cell_list")["cells"] == []
    c.end()


def inside():
    """In a cell: its tools are for its children, and for nothing else. VIV_OTHER is the id of a cell of somebody else."""
    c = Client()
    assert c.info["serverInfo"]["name"] == "vivarium", c.info
    assert {"cell_create", "exec", "file_read", "file_write", "snapshot", "fork", "cell_remove"} <= c.names()
    assert c.good("cell_create", name="kid", memory="64M", env={"X": "y"})["state"] == "running"
    own = [x.get("name") for x in c.good("cell_list")["cells"]]
    assert sorted(own) == ["kid", "mum"], own
    r = c.good("exec", cell="kid", script="cat; echo $X; exit 3", stdin="in\n")
    assert (r["exit_code"], r["stdout"]) == (3, "in\ny\n"), r
    assert c.good("file_write", cell="kid", path="/root/f", text="one\n")["bytes"] == 4
    assert c.good("file_read", cell="kid", path="/root/f")["text"] == "one\n"
    assert c.good("snapshot", cell="kid", name="s") == {"snapshot": "s"}
    c.good("file_write", cell="kid", path="/root/f", text="two\n")
    assert c.good("fork", cell="kid", snapshot="s", name="twin", start=True)["started"]
    assert c.good("file_read", cell="twin", path="/root/f")["text"] == "one\n"
    assert c.good("rollback", cell="kid", snapshot="s") == {"state": "running"}
    assert c.good("file_read", cell="kid", path="/root/f")["text"] == "one\n"
    for cell in (os.environ["VIV_OTHER"], "other", "mum"):
        assert "not_found" in c.bad("exec", cell=cell, script="true"), cell
    assert "not_found" in c.bad("cell_remove", cell="other", force=True)
    assert c.bad("cell_create", name="big", memory="100G")
    for cell in "kid", "twin":
        c.good("cell_remove", cell=cell, force=True)
    assert [x["name"] for x in c.good("cell_list")["cells"]] == ["mum"]
    c.end()


def cancel():
    c = Client()
    c.good("cell_create", name="a")
    # A command that ignores the hang-up; its children go with it.
    call = c.begin("tools/call", name="exec", _meta={"progressToken": "tok"},
                   arguments={"cell": "a", "script": "trap '' HUP TERM; echo begun; sleep 1234 & wait"})
    soon(lambda: is_running(c, "a", "sleep 1234") and any(n["params"]["message"] == "begun\n" for n in c.notes))
    assert all(n["params"]["progressToken"] == "tok" for n in c.notes), c.notes
    c.note("notifications/cancelled", requestId=call, reason="enough")
    soon(lambda: not is_running(c, "a", "sleep 1234"))
    # Nothing is answered; other requests go on.
    assert c.ask("ping")["result"] == {}
    assert call not in c.kept
    c.note("notifications/cancelled", requestId=call)
    c.note("notifications/cancelled", requestId="never there")
    c.note("notifications/cancelled")
    # Progress grows, and comes in silence as well.
    c.notes.clear()
    call = c.begin("tools/call", name="exec", _meta={"progressToken": 5},
                   arguments={"cell": "a", "script": "for i in 1 2 3 4 5; do echo $i; until test -e /step$i; do sleep 0.05; done; sleep 0.3; done"})
    for i in 1, 2, 3, 4, 5:
        soon(lambda: c.ask("ping") and any(n["params"]["message"] == f"{i}\n" for n in c.notes))
        if i == 5:
            soon(lambda: c.ask("ping") and any("still running" in n["params"]["message"] for n in c.notes))
        c.good("file_write", cell="a", path=f"/step{i}", text="")
    assert c.answer(call)["result"]["structuredContent"]["exit_code"] == 0
    steps = [n["params"]["progress"] for n in c.notes]
    assert len(steps) >= 5 and steps == sorted(set(steps)), steps
    assert any("still running" in n["params"]["message"] for n in c.notes), c.notes
    # One that waits for a stopped cell's file and so on does not disturb others: two at once.
    slow = c.begin("tools/call", name="exec", arguments={"cell": "a", "script": "until test -e /go; do sleep 0.05; done; echo went"})
    c.good("file_write", cell="a", path="/go", text="")
    assert c.answer(slow)["result"]["structuredContent"]["stdout"] == "went\n"
    # The end of the client is the end of its commands.
    c.begin("tools/call", name="exec", arguments={"cell": "a", "script": "trap '' HUP; sleep 4321 & wait"})
    soon(lambda: is_running(c, "a", "sleep 4321"))
    c.end()
    c = Client()
    assert not is_running(c, "a", "sleep 4321")
    # So is the end of the server, however it comes.
    c.begin("tools/call", name="exec", arguments={"cell": "a", "script": "trap '' HUP; sleep 2341 & wait"})
    soon(lambda: is_running(c, "a", "sleep 2341"))
    c.p.kill()
    c.p.wait()
    c = Client()
    soon(lambda: not is_running(c, "a", "sleep 2341"))
    c.good("cell_remove", cell="a", force=True)
    c.end()


def limits():
    c = Client()
    for name in "a", "b":
        c.good("cell_create", name=name)
    c.good("file_write", cell="a", path="/root/f", text="x")
    c.end()
    # One cell only.
    c = Client("--cell", "a")
    assert c.names() == {"cell_inspect", "cell_start", "cell_stop", "exec", "process_kill", "logs", "file_read",
                         "file_write", "file_list", "snapshot", "snapshot_list", "rollback", "diff", "agent_list", "agent_run",
                         "session_events", "session_close", "approvals_list"}, c.names()
    assert c.good("exec", script="echo one")["stdout"] == "one\n"
    assert c.good("exec", cell="a", script="echo one")["stdout"] == "one\n"
    assert "only" in c.bad("exec", cell="b", script="true")
    assert "only" in c.bad("file_read", cell="b", path="/etc/passwd")
    assert error(c.ask("tools/call", name="cell_remove", arguments={"cell": "b"})) == -32602
    assert error(c.ask("resources/read", uri="cell://b/etc/passwd")) == -32002
    assert c.ask("resources/read", uri="cell://a/root/f")["result"]["contents"][0]["text"] == "x"
    assert len(c.ask("resources/list")["result"]["resources"]) == 2
    c.end()
    # Looking only.
    c = Client("--read-only")
    assert c.names() == {"cell_list", "cell_inspect", "logs", "file_read", "file_list", "snapshot_list", "diff", "agent_list", "session_events",
                         "approvals_list"}, c.names()
    assert error(c.ask("tools/call", name="exec", arguments={"cell": "a", "script": "true"})) == -32602
    assert c.good("file_read", cell="a", path="/root/f")["text"] == "x"
    c.end()
    # What the operator gives to all.
    os.mkdir("shared")
    open("shared/hello", "w").write("from the host")
    c = Client("--", "--mount", os.path.abspath("shared") + ":/shared:ro", "--label", "by=mcp")
    c.good("cell_create", name="c")
    assert c.good("file_read", cell="c", path="/shared/hello")["text"] == "from the host"
    assert "'mounts'" in c.bad("cell_create", name="d", mounts=["/:/host"])
    for cell in "a", "b", "c":
        c.good("cell_remove", cell=cell, force=True)
    c.end()
    for wrong in (["--", "sh"], ["--", "--name", "x"], ["--", "--nonsense"], ["--cell", "a/b"]):
        assert subprocess.run([VIV, "mcp", *wrong], stdin=subprocess.DEVNULL, capture_output=True).returncode == 2, wrong


def agents():
    own = os.environ["XDG_CONFIG_HOME"] + "/vivarium/agents"
    os.makedirs(own, exist_ok=True)
    open(own + "/scripted.yaml", "w").write("name: scripted\ntitle: A scripted one\nacp: [python3, /e2e/acpagent.py]\nimage: host\n")
    open(own + "/broken.yaml", "w").write("nonsense: [\n")
    c = Client("--", "--mount", HERE + ":/e2e:ro")
    for name in "a", "b":
        c.good("cell_create", name=name)
    known = {x["name"]: x for x in c.good("agent_list")["agents"]}
    assert known["claude"]["image_exists"] is False and known["claude"]["title"], known
    assert (known["scripted"]["title"], known["scripted"]["image_exists"]) == ("A scripted one", True), known
    assert known["broken"]["image_exists"] is False, known
    r = c.good("agent_run", cell="b", agent="scripted", prompt="env VIVARIUM_SESSION")
    assert r["text"] == "env " + r["session"], r
    # One prompt: what it said last, its tool calls, and its session.
    call = c.begin("tools/call", name="agent_run", _meta={"progressToken": 1}, arguments={
        "cell": "a", "command": AGENT, "prompt": "say first; sleep 0.3; tool Edit \x1b[2Jit; think hm; say sec; say ond"})
    r = c.answer(call)["result"]
    first, told = r["structuredContent"], [n["params"]["message"] for n in c.notes]
    s = first["session"]
    assert first["stop_reason"] == "end_turn" and first["text"] == "second" and not first["timed_out"], r
    assert [(t["kind"], t["status"]) for t in first["tool_calls"]] == [("edit", "completed")] and first["approvals"] == [], first
    assert "Edit" in first["tool_calls"][0]["title"] and "\x1b" not in json.dumps(r, ensure_ascii=False), r
    assert any(s in m for m in told) and any("Edit" in m for m in told), told
    # Further ones, of which one waits for another; an error; much text, and what could steer a terminal.
    go = lambda text, **more: c.good("agent_run", cell="a", session=s, prompt=text, **more)
    assert go("count_state")["text"] == "turns 2"
    slow = c.begin("tools/call", name="agent_run", arguments={"cell": "a", "session": s, "prompt": "say slow; tool T; wait /go; say ly"})
    soon(lambda: "slow" in c.good("session_events", session=s)["text"])
    later = c.begin("tools/call", name="agent_run", arguments={"cell": "a", "session": s, "prompt": "say later"})
    c.good("file_write", cell="a", path="/go", text="")
    r = c.answer(later)["result"]["structuredContent"]
    assert (r["text"], r["tool_calls"]) == ("later", []), r
    assert c.answer(slow)["result"]["structuredContent"]["text"] == "ly"
    r = go("error of a kind")
    assert r["stop_reason"] == "error" and "of a kind" in r["error"], r
    r = go("count 5000", max_output=1000)
    assert r["truncated"] and r["text"].startswith("0 1 2 ") and r["text"].endswith(" 4999 ") and len(r["text"]) < 1100, r
    r = go("say a\x1b[31m\u202eb")
    assert "\x1b" not in r["text"] and "\u202e" not in r["text"] and r["text"].startswith("a"), r
    r = go(";".join(["tool x" + "y" * 5000, "call " + json.dumps({"title": "z" * 9000, "status": "pending"})]))
    assert len(r["tool_calls"]) == 2 and len(json.dumps(r)) < 2000, len(json.dumps(r))
    r = go("flood 4; noise; answers; requests 50; say end", max_output=200)
    assert r["stop_reason"] == "end_turn" and r["text"].endswith("end") and len(r["text"]) < 300, r
    # The transcript, in pieces.
    seen, at = "", 0
    while True:
        part = c.good("session_events", session=s, cell="a", since=at, limit=20, max_output=100)
        assert part["next"] > at, part
        seen, at = seen + part["text"], part["next"]
        if "later" in seen:
            break
    assert "first" in seen and "Edit" in seen and part["more"], seen
    # A question is told, and not answered here; when the time is up it stays open.
    for seconds in 1, 5, 25:
        r = go("ask rm \x1b[2J all; say over", timeout=seconds)
        if r["stop_reason"] != "cancelled":  # the machine was too slow to come to the question
            break
    assert r["stop_reason"] == "waiting" and r["timed_out"] and len(r["approvals"]) == 1, r
    n = r["approvals"][0]["id"]
    later = go("say behind", timeout=0.1)  # it waits for the same answer
    assert later["stop_reason"] == "waiting" and [x["id"] for x in later["approvals"]] == [n], later
    open_ = c.good("approvals_list", cell="a")["approvals"]
    assert [(x["id"], x["scope"], x["session"]) for x in open_] == [(n, "agent", s)] and "rm" in open_[0]["what"], open_
    assert c.good("approvals_list", cell="b")["approvals"] == [] and len(c.good("approvals_list")["approvals"]) == 1
    subprocess.run([VIV, "approvals", "allow", str(n)], check=True, stdout=subprocess.DEVNULL)
    soon(lambda: all(x in c.good("session_events", session=s, since=r["last_seq"])["text"] for x in ("over", "behind\n")))
    soon(lambda: c.good("session_events", session=s, since=r["last_seq"])["state"] == "idle")
    c.notes.clear()
    call = c.begin("tools/call", name="agent_run", _meta={"progressToken": 2}, arguments={"cell": "a", "session": s, "prompt": "ask again"})
    soon(lambda: c.ask("ping") and any("viv approvals allow" in n["params"]["message"] for n in c.notes))
    n = c.good("approvals_list")["approvals"][0]["id"]
    subprocess.run([VIV, "approvals", "deny", str(n)], check=True, stdout=subprocess.DEVNULL)
    r = c.answer(call)["result"]["structuredContent"]
    assert '"no"' in r["text"] and r["approvals"] == [], r
    # One that takes too long is cancelled; so is one whose call is; the session stays.
    r = go("until_cancel", timeout=0.5)
    assert r["stop_reason"] == "cancelled" and r["timed_out"], r
    call = c.begin("tools/call", name="agent_run", arguments={"cell": "a", "session": s, "prompt": "say begun-now; until_cancel"})
    at = r["last_seq"]
    soon(lambda: "begun-now" in c.good("session_events", session=s, since=at)["text"])
    c.note("notifications/cancelled", requestId=call)
    soon(lambda: c.good("session_events", session=s, since=at)["state"] == "idle")
    assert call not in c.kept and "cancelled" in c.good("session_events", session=s, since=at)["text"]
    assert go("say there")["text"] == "there"
    # vivd is killed meanwhile: nothing is lost or told twice.
    call = c.begin("tools/call", name="agent_run", arguments={"cell": "a", "session": s, "prompt": "say before-it; wait /go2; say ,after"})
    soon(lambda: "before-it" in c.good("session_events", session=s, since=at)["text"])
    os.kill(int(open(os.environ["XDG_RUNTIME_DIR"] + "/vivarium/vivd.lock").read()), signal.SIGKILL)
    soon(lambda: not c.tool("file_write", cell="a", path="/go2", text="")["isError"])
    r = c.answer(call)["result"]["structuredContent"]
    assert r["text"] == "before-it,after" and r["stop_reason"] == "end_turn", r
    # What fails says why.
    r = c.good("agent_run", cell="a", command=["/no/such"], prompt="x")
    assert r["stop_reason"] == "error" and "no/such" in r["error"], r
    assert "one of" in c.bad("agent_run", cell="a", prompt="x") and "one of" in c.bad("agent_run", cell="a", prompt="x", session=s, agent="claude")
    assert "not_found" in c.bad("agent_run", cell="b", session=s, prompt="x")
    assert "not_found" in c.bad("agent_run", cell="a", agent="nobody-knows-it", prompt="x")
    for wrong in "../../../cells", "s_", "a", "s_0123456789abcdef/../x":
        assert "'session' must be" in c.bad("session_events", session=wrong), wrong
    assert "not_found" in c.bad("session_events", session="s_0123456789abcdef")
    # Of one cell, and looking only.
    other = Client("--cell", "b", "--read-only")
    assert "not_found" in other.bad("session_events", session=s)
    assert "only" in other.bad("session_events", session=s, cell="a") and "only" in other.bad("approvals_list", cell="a")
    assert error(other.ask("tools/call", name="agent_run", arguments={"session": s, "prompt": "x"})) == -32602
    assert error(other.ask("tools/call", name="session_close", arguments={"session": s})) == -32602
    other.end()
    assert c.good("session_close", session=s) == {"closed": s}
    assert "closed" in c.bad("agent_run", cell="a", session=s, prompt="x")
    for cell in "a", "b":
        c.good("cell_remove", cell=cell, force=True)
    c.end()


def resources():
    c = Client()
    c.good("cell_create", name="a")
    assert {t["uriTemplate"] for t in c.ask("resources/templates/list")["result"]["resourceTemplates"]} == {
        "cell://{cell}/{+path}", "cell-log://{cell}"}
    c.good("file_write", cell="a", path="/root/a b%c", text="spaces\n")
    assert "cell://a/" in [r["uri"] for r in c.ask("resources/list")["result"]["resources"]]
    r = c.ask("resources/read", uri="cell://a/root/a%20b%25c")["result"]["contents"][0]
    assert r["text"] == "spaces\n" and r["mimeType"] == "text/plain", r
    c.good("file_write", cell="a", path="/root/bin", base64="AAEC")
    assert c.ask("resources/read", uri="cell://a/root/bin")["result"]["contents"][0]["blob"] == "AAEC"
    lines = c.ask("resources/read", uri="cell://a/root")["result"]["contents"][0]["text"].splitlines()
    assert "/root/bin" in [json.loads(x)["path"] for x in lines], lines
    c.good("exec", cell="a", script="head -c 2000000 /dev/zero >/root/big")
    assert "file_read" in c.ask("resources/read", uri="cell://a/root/big")["error"]["message"]
    for uri in ("cell://a/none", "cell://nobody/etc/passwd", "file:///etc/passwd", "cell://", "cell:///etc", "cell://a/%zz",
                "cell://a/%00", "", "cell-log://a/x"):
        assert error(c.ask("resources/read", uri=uri)) == -32002, uri
    assert error(c.ask("resources/read")) == -32602
    c.good("cell_remove", cell="a", force=True)
    subprocess.run([VIV, "run", "-d", "--name", "l", "--", "sh", "-c", "echo one; echo two >&2; sleep 1000"], check=True,
                   stdout=subprocess.DEVNULL)
    soon(lambda: c.good("logs", cell="l")["output"].count("\n") == 2)
    text = c.ask("resources/read", uri="cell-log://l")["result"]["contents"][0]["text"]
    assert sorted(text.splitlines()) == ["one", "two"], text
    c.good("cell_remove", cell="l", force=True)
    c.end()


def bad():
    c = Client(hello=False)
    # Before the handshake.
    assert error(c.ask("tools/list")) == -32600
    assert c.ask("ping")["result"] == {}
    assert error(c.ask("initialize")) == -32602
    assert c.ask("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == "2025-06-18"

    def told(data, code, want=None):
        c.raw(data + b"\n")
        m = c.next()
        assert m["error"]["code"] == code and m["id"] == want, (data[:100], m)

    for data in (b"{", b"nonsense", b"\xff\xfe", b'{"a":1}x', b"[" * 100, b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000b"}'):
        told(data, -32700)
    for data in (b"1", b'"x"', b"null", b"{}", b'{"jsonrpc":"1.0","method":"x"}', b'{"jsonrpc":"2.0"}',
                 b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1e5x,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":"' + b"x" * 600 + b'","method":"ping"}', b"[]",
                 b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'):
        told(data, -32600)
    told(b'{"jsonrpc":"2.0","id":"q\\"\\u000a","method":"none"}', -32601, 'q"\n')
    told(b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', -32602, 9)
    told(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{}}', -32602, 9)
    told(b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}', -32602, 9)
    told(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"exec","arguments":[]}}', -32602, 9)
    # A line of 30 MB is one error, and costs no such memory.
    for _ in range(30):
        c.raw(b"x" * 1000000)
    told(b"", -32600)
    rss = [int(x.split()[1]) for x in open(f"/proc/{c.p.pid}/status") if x.startswith("VmHWM")][0]
    assert rss < 40000, rss
    # Answers to nothing, notes about nothing, empty lines, two messages in one piece.
    c.raw(b'\n\r\n{"jsonrpc":"2.0","id":5,"result":{}}\n{"jsonrpc":"2.0","method":"notifications/none"}\n'
          b'{"jsonrpc":"2.0","id":70,"method":"ping"}\n{"jsonrpc":"2.0","id":71,"method":"ping"}\r\n')
    assert c.answer(70)["result"] == c.answer(71)["result"] == {}
    # More calls than may run at once: each is answered.
    c.good("cell_create", name="a")
    ids = [c.begin("tools/call", name="exec", arguments={"cell": "a", "script": "until test -e /go; do sleep 0.2; done"}) for _ in range(70)]
    first = c.next()
    assert "too many calls" in first["error"]["message"], first
    subprocess.run([VIV, "exec", "a", "touch", "/go"], check=True)
    done = [first] + [c.answer(i) for i in ids if i != first["id"]]
    assert sum("error" in x for x in done) in (6, 7), [x for x in done if "error" in x]
    c.good("cell_remove", cell="a", force=True)
    # A client that goes without a word.
    c.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/')
    c.end()
    # Lists of messages are of one version only.
    c = Client(version="2025-03-26")
    assert c.info["protocolVersion"] == "2025-03-26"
    c.raw(b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"no"},7]\n')
    assert c.answer("a")["result"] == {} and error(c.answer("b")) == -32601 and error(c.answer(None)) == -32600
    c.end()
    c = Client(version="2024-11-05")
    assert c.info["protocolVersion"] == "2024-11-05"
    c.p.send_signal(signal.SIGTERM)
    assert c.p.wait(60) == 0


class Web:
    """Talks to 'viv mcp --http'."""

    def __init__(self, *args):
        self.p = subprocess.Popen([VIV, "mcp", "--http", "127.0.0.1:0", "--json", *args], stdout=subprocess.PIPE)
        about = json.loads(self.p.stdout.readline())
        self.host, self.port = about["url"].split("/")[2].split(":")
        self.token, self.session, self.last = about["token"], None, 0

    def request(self, method="POST", body=b"", path="/mcp", headers=None, raw=False):
        h = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json",
             "Accept": "application/json, text/event-stream", **(headers or {})}
        if self.session and "Mcp-Session-Id" not in h:
            h["Mcp-Session-Id"] = self.session
        c = http.client.HTTPConnection(self.host, int(self.port), timeout=60)
        c.request(method, path, body, {k: v for k, v in h.items() if v is not None})
        r = c.getresponse()
        return r if raw else (r.status, dict(r.getheaders()), r.read())

    def begin(self, method, **params):
        self.last += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode()
        return self.last, self.request(body=body, raw=True)

    def messages(self, r):
        if r.getheader("Content-Type") == "application/json":
            yield json.loads(r.read())
            return
        assert r.getheader("Content-Type") == "text/event-stream", r.getheaders()
        for line in r:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def ask(self, method, **params):
        n, r = self.begin(method, **params)
        assert r.status == 200, (r.status, r.read())
        got = list(self.messages(r))
        assert got[-1]["id"] == n, got
        if r.getheader("Mcp-Session-Id"):
            self.session = r.getheader("Mcp-Session-Id")
        return got[-1]

    def note(self, method, **params):
        status, _, body = self.request(body=json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())
        assert (status, body) == (202, b""), (status, body)

    def hello(self):
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.note("notifications/initialized")

    good = Client.good
    tool = Client.tool

    def end(self):
        self.p.terminate()
        assert self.p.wait(60) == 0


def web():
    w = Web()
    w.hello()
    assert len(w.session) == 32
    w.good("cell_create", name="a")
    n, r = w.begin("tools/call", name="exec", _meta={"progressToken": 1},
                   arguments={"cell": "a", "script": "for i in 1 2 3; do echo $i; sleep 0.2; done"})
    got = list(w.messages(r))
    assert got[-1]["id"] == n and len(got) >= 2 and got[0]["method"] == "notifications/progress", got
    # Cancelled by another request: the stream ends without an answer.
    n, r = w.begin("tools/call", name="exec", arguments={"cell": "a", "script": "trap '' HUP; sleep 1234 & wait"})
    soon(lambda: is_running(w, "a", "sleep 1234"))
    w.note("notifications/cancelled", requestId=n)
    assert list(w.messages(r)) == []
    soon(lambda: not is_running(w, "a", "sleep 1234"))
    # Another session cannot.
    n, r = w.begin("tools/call", name="exec", arguments={"cell": "a", "script": "until test -e /go; do sleep 0.1; done; echo went"})
    first, w.session = w.session, None
    w.hello()
    assert w.session != first
    w.note("notifications/cancelled", requestId=n)
    w.good("file_write", cell="a", path="/go", text="")
    assert list(w.messages(r))[-1]["result"]["structuredContent"]["stdout"] == "went\n"
    # A client that goes does not cancel; the end of its session does.
    n, r = w.begin("tools/call", name="exec", arguments={"cell": "a", "script": "trap '' HUP; sleep 4321 & wait"})
    soon(lambda: is_running(w, "a", "sleep 4321"))
    r.close()
    assert is_running(w, "a", "sleep 4321")
    assert w.request("DELETE")[0] == 200
    assert w.request("DELETE")[0] == 404
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert w.request(body=ping)[0] == 404
    w.session = first
    soon(lambda: not is_running(w, "a", "sleep 4321"))
    # Who may.
    assert w.request(body=ping)[0] == 200
    for headers, status in (({"Authorization": None}, 401), ({"Authorization": "Bearer wrong"}, 401),
                            ({"Authorization": "Bearer " + w.token + "x"}, 401), ({"Authorization": w.token}, 401),
                            ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                            ({"Host": "evil.example"}, 403), ({"Host": "localhost.evil.example"}, 403), ({"Host": "localhost"}, 200),
                            ({"Content-Type": "text/plain"}, 415), ({"Mcp-Protocol-Version": "1999-01-01"}, 400),
                            ({"Mcp-Protocol-Version": "2025-06-18"}, 200), ({"Mcp-Session-Id": "x"}, 404),
                            ({"Mcp-Session-Id": None}, 400)):
        got = w.request(body=ping, headers=headers)
        assert got[0] == status, (headers, got)
    assert w.request("GET")[0] == 405 and w.request("PUT", ping)[0] == 405 and w.request(path="/")[0] == 404
    assert w.request(body=b"{")[0] == 200 and json.loads(w.request(body=b"{")[2])["error"]["code"] == -32700
    # Noise, halves and slow ones do not disturb.
    socks = []
    for data in (b"", b"GET", b"\x00" * 100, b"POST /mcp HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                 b"A" * 60000, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n",
                 b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + w.token.encode() +
                 b"\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 2000000):
        s = socket.create_connection((w.host, int(w.port)))
        s.sendall(data)
        socks.append(s)
    socks += [socket.create_connection((w.host, int(w.port))) for _ in range(50)]
    assert w.request(body=ping)[0] == 200
    w.good("cell_remove", cell="a", force=True)
    w.end()
    # Lists, of the version that has them.
    w = Web("--allow-origin", "https://app.example")
    w.ask("initialize", protocolVersion="2025-03-26", capabilities={})
    status, _, body = w.request(body=b"[" + ping + b',{"jsonrpc":"2.0","method":"x"},' + ping + b"]",
                                headers={"Origin": "https://app.example"})
    assert status == 200 and [x["id"] for x in json.loads(body)] == [1, 1], body
    w.end()
    for wrong in ("0.0.0.0:0", "1.2.3.4:80", "[::]:0", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"):
        assert subprocess.run([VIV, "mcp", "--http", wrong], capture_output=True).returncode == 2, wrong


if __name__ == "__main__":
    globals()[sys.argv[2]]()
