#!/usr/bin/env python3
"""What vivd records in the journal of a cell, and that it is there once, whatever is killed."""

import json
import os
import signal
import struct

from sessions import Session, cell
from vivdclient import Unix, gone, kill9, processes, run_case, soon


def records(v, cell, **filters):
    """All of them, in their order."""
    query = "&".join(f"{k}={w}" for k, w in filters.items())
    status, out = v.ask("GET", f"/v1/cells/{cell}/journal?{query}", headers={"Accept": "application/x-ndjson"})
    assert status == 200, (status, out)
    lines = [json.loads(line) for line in out.splitlines() if line]
    seqs = [r["seq"] for r in lines]
    assert seqs == sorted(set(seqs)), seqs
    return lines


def of(v, cell, kind, **wanted):
    return [r for r in records(v, cell, kind=kind) if r["kind"] == kind and all(r.get(k) == w for k, w in wanted.items())]


def written(v):
    """One record for each thing, though vivd is killed between them."""
    name = cell(v, journal="all")
    s = Session(v, name)
    s.state("idle")
    session = soon(lambda: of(v, name, "session"), "its session")
    assert len(session) == 1 and session[0]["session"] == s.id and session[0]["root"] > 1, session
    text = "say hello; " + "x" * 600
    n = s.prompt("say one")["prompt"]
    s.turn(n)
    ps = [n]
    for i in range(12):
        ps.append(s.prompt(f"say <{i}>" if i else text)["prompt"])
        if i % 4 == 3:
            v.replace()
    for p in ps:
        s.turn(p)
    soon(lambda: len(of(v, name, "answer")) >= len(ps), "all answers")
    prompts, answers = of(v, name, "prompt"), of(v, name, "answer")
    assert [p["number"] for p in prompts] == ps, prompts
    assert [a["number"] for a in answers] == ps and all(a["session"] == s.id for a in answers), answers
    assert len(prompts[1]["text"].encode()) == 512 and prompts[1]["text"].startswith("say hello"), prompts[1]
    # Each prompt is open before its end, and one at a time.
    turns = [(r["kind"], r["number"]) for r in records(v, name, kind="prompt,answer")]
    assert turns == [(k, p) for p in ps for k in ("prompt", "answer")], turns
    # A process of the agent's is the session's.
    s.do("run touch /tmp/by-agent")
    # The record of whose the process is comes after the process has started.
    blame = lambda: v.call("GET", f"/v1/cells/{name}/journal/blame?path=/tmp/by-agent", want=200)
    soon(lambda: s.id in json.dumps(blame()), "who made it")


def decided(v):
    """Answers, and what the operator does."""
    name = cell(v, journal="all", policy=["ask files /asked/** write"])
    s = Session(v, name)
    s.state("idle")
    approvals = lambda: v.call("GET", "/v1/approvals", want=200)["approvals"]
    p = s.prompt("ask rm -rf")
    a = soon(approvals, "the question")[0]
    v.call("POST", f"/v1/approvals/{a['id']}", {"answer": "allow"})
    s.turn(p["prompt"])
    r = soon(lambda: of(v, name, "approval", id=str(a["id"])), "its record")
    assert len(r) == 1 and r[0]["scope"] == "agent" and r[0]["answer"] == "allow" and r[0]["by"] == "owner" and "rm -rf" in r[0]["what"], r
    # Withdrawn, since nobody waits any more.
    p = s.prompt("ask other")
    a = soon(approvals, "the question")[0]
    s.post("cancel", want=None)
    s.turn(p["prompt"])
    r = soon(lambda: of(v, name, "approval", id=str(a["id"])), "its record")
    assert len(r) == 1 and r[0]["answer"] == "withdrawn", r
    # Files, settings, a name.
    status, out = v.ask("PUT", f"/v1/cells/{name}/files?path=/tmp/put", {"x": 1})
    assert status in (200, 201), out
    v.call("POST", f"/v1/cells/{name}/files/move?from=/tmp/put&to=/tmp/moved")
    v.call("PATCH", f"/v1/cells/{name}", {"restart": {"policy": "no"}, "idle_timeout": 7200}, want=200)
    found = soon(lambda: (lambda l: l if len(l) >= 3 else None)([(r["action"], r.get("detail")) for r in of(v, name, "operator")]), "three records")
    assert ("files", "write /tmp/put") in found and ("files", "move /tmp/put to /tmp/moved") in found, found
    assert any(a == "settings" and "idle_timeout" in d for a, d in found), found
    # While it does not run they wait for its next start, over the death of vivd.
    before = len(found)
    v.call("POST", f"/v1/cells/{name}/stop", {}, want=None)
    soon(lambda: v.call("GET", f"/v1/cells/{name}", want=200)["state"] == "stopped", "its end")
    assert v.ask("POST", f"/v1/cells/{name}/snapshots", {"name": "first"})[0] == 201
    assert v.ask("POST", f"/v1/cells/{name}/rename", {"name": "d"})[0] == 200
    v.replace()
    assert not of(v, "d", "operator", action="rename")
    v.call("POST", "/v1/cells/d/start", want=200)
    soon(lambda: of(v, "d", "operator", action="rename", detail="d"), "the record of its name")
    new = [(r["action"], r.get("detail")) for r in of(v, "d", "operator")][before:]
    assert [x for x in new if x[0] in ("snapshot", "rename")] == [("snapshot", "first"), ("rename", "d")], new
    # It outlives its cell, and its head is kept.
    id_ = v.call("GET", "/v1/cells/d", want=200)["id"]
    assert v.ask("DELETE", f"/v1/journals/{id_}")[0] == 409
    assert v.ask("DELETE", "/v1/cells/d?force=1")[0] == 204
    soon(lambda: v.call("GET", f"/v1/cells/{id_}/journal/head").get("kept"), "its head")
    for who in (id_, "d"):
        check = v.call("POST", f"/v1/cells/{who}/journal/verify", {"deep": True}, want=200)
        assert check["ok"] and not check["wrong"], check
    journals = v.call("GET", "/v1/journals", want=200)["journals"]
    assert [(j["id"], j["running"]) for j in journals] == [(id_, False)], journals
    assert v.ask("DELETE", f"/v1/journals/{id_}")[0] == 204
    assert v.call("GET", "/v1/journals", want=200)["journals"] == []


def orphans(v):
    """What waits for a cell that is removed before it runs again is in its journal."""
    name = cell(v, "gone", journal="changes")
    id_ = v.call("GET", f"/v1/cells/{name}", want=200)["id"]
    v.call("POST", f"/v1/cells/{name}/stop", {}, want=None)
    soon(lambda: v.call("GET", f"/v1/cells/{name}", want=200)["state"] == "stopped", "its end")
    assert v.ask("POST", f"/v1/cells/{name}/snapshots", {"name": "last"})[0] == 201
    v.call("PATCH", f"/v1/cells/{name}", {"idle_timeout": 7200}, want=200)
    assert not of(v, id_, "operator", action="snapshot")
    assert v.ask("DELETE", f"/v1/cells/{name}")[0] == 204
    soon(lambda: of(v, id_, "operator", action="settings"), "records of a cell that is gone")
    got = [r["action"] for r in of(v, id_, "operator")]
    assert got[-2:] == ["snapshot", "settings"] and got.count("snapshot") == 1, got
    check = v.call("POST", f"/v1/cells/{id_}/journal/verify", {"deep": True}, want=200)
    assert check["ok"] and not check["unsealed"] and not check.get("holes"), check
    # One that never ran has a journal of them; so does one that is removed just before vivd is killed.
    for how in ("soon", "later"):
        status, out = v.ask("POST", "/v1/cells", {"name": how, "journal": "changes", "start": False, "command": ["sleep", "inf"]})
        assert status == 201, out
        gone_id = json.loads(out)["id"]
        v.call("PATCH", f"/v1/cells/{how}", {"idle_timeout": 7200}, want=200)
        assert v.ask("DELETE", f"/v1/cells/{how}")[0] == 204
        if how == "later":
            v.replace()
        soon(lambda: v.ask("GET", f"/v1/cells/{gone_id}/journal")[0] == 200, "the journal of a cell that never ran")
        got = soon(lambda: of(v, gone_id, "operator"), "its records")
        assert [r["action"] for r in got] == ["settings"], got


def killed(v):
    """A cell whose processes are killed and that is removed then: nothing stays in its ring."""
    name = cell(v, "dead", journal="changes")
    id_ = v.call("GET", f"/v1/cells/{name}", want=200)["id"]
    v.exec(name, "sh", "-c", "(i=0; while :; do i=$((i + 1)); echo >/tmp/file$i; done) >/dev/null 2>&1 &")
    kernel = v.call("GET", f"/v1/cells/{name}", want=200)["pid"]
    keeper = processes()[kernel][0]
    ring = f"{v.top}/data/vivarium/journals/{id_}/ring.kernel"
    waiting = lambda: (lambda head, tail: head - tail)(*struct.unpack_from("<QQ", open(ring, "rb").read(24), 8))
    soon(lambda: of(v, id_, "create", path="/tmp/file9"), "its first records")
    os.kill(keeper, signal.SIGSTOP)
    soon(lambda: waiting() > 1000, "records that nobody takes")
    kill9(kernel)
    kill9(keeper)
    soon(lambda: gone(keeper) and gone(kernel), "their end")
    assert waiting() > 1000
    before = len(records(v, id_))
    assert v.ask("DELETE", f"/v1/cells/{name}?force=1")[0] == 204
    soon(lambda: of(v, id_, "operator", action="remove"), "its last record")
    after = [r for r in records(v, id_) if r["seq"] > before]
    assert len([r for r in after if r["kind"] == "create"]) > 5, after
    assert not os.path.exists(ring)
    check = v.call("POST", f"/v1/cells/{id_}/journal/verify", {"deep": True}, want=200)
    assert check["ok"] and not check["unsealed"] and not check.get("holes"), check


def follows(v):
    """A stream has what comes later; without a journal there is none."""
    name = cell(v, journal="changes")
    c = Unix(v.socket, 60)
    c.request("GET", f"/v1/cells/{name}/journal?kind=file&path=/tmp/later", headers={"Accept": "text/event-stream"})
    r = c.getresponse()
    assert r.status == 200 and r.headers["Content-Type"] == "text/event-stream"
    v.exec(name, "sh", "-c", "echo x >/tmp/later")
    line = ""
    while not line.startswith("data: "):
        line = r.readline().decode()
    assert json.loads(line[6:])["path"] == "/tmp/later"
    c.close()
    cell(v, "none", journal="off")
    assert v.ask("GET", "/v1/cells/none/journal")[0] == 404
    assert v.ask("PUT", "/v1/cells/none/files?path=/tmp/x", {"x": 1})[0] in (200, 201)


if __name__ == "__main__":
    run_case(written, decided, orphans, killed, follows)
