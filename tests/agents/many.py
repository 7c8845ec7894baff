#!/usr/bin/env python3
"""Many sessions at once, with an agent that does what it is told: many.py VIV DIRECTORY [SESSIONS [CELLS]]

All of them get their prompts at the same time, say 200 words each, ask for permission once, and end. Prints how long each phase took, and the
memory of vivd at its highest. Fails if an event is missing, doubled, or of another session.
"""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(HERE, "..", "e2e")
sys.path.insert(0, E2E)
from vivdclient import Vivd, soon  # noqa: E402

SESSIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 50
CELLS = int(sys.argv[4]) if len(sys.argv) > 4 else 10
WORDS = 200


def memory(pid):
    with open("/proc/%d/status" % pid) as f:
        return {line.split(":")[0]: int(line.split()[1]) for line in f if line.startswith(("VmHWM", "VmRSS"))}


def events(v, path):
    return [json.loads(line) for line in v.ask("GET", path + "/events")[1].splitlines()]


def main(v):
    start = time.monotonic()

    def phase(name):
        nonlocal start
        print("%-28s %6.2f s   vivd %5.1f MiB" % (name, time.monotonic() - start, memory(v.pid())["VmRSS"] / 1024), flush=True)
        start = time.monotonic()

    for c in range(CELLS):
        v.call("POST", "/v1/cells", {"name": "c%d" % c, "command": ["sleep", "infinity"], "stop_grace": 0, "start": True,
                                     "mounts": [{"source": os.path.abspath(E2E), "target": "/e2e", "readonly": True}]}, want=201)
    phase("%d cells" % CELLS)
    paths = []
    for s in range(SESSIONS):
        cell = "c%d" % (s % CELLS)
        made = v.call("POST", "/v1/cells/%s/sessions" % cell, {"command": ["python3", "/e2e/acpagent.py"], "env": {"AGENT_STATE": "/tmp/%d" % s}}, want=201)
        paths.append("/v1/cells/%s/sessions/%s" % (cell, made["id"]))
    soon(lambda: all(s["state"] == "idle" for s in v.call("GET", "/v1/sessions", want=200)["sessions"]), "not all are idle", 300)
    phase("%d sessions are idle" % SESSIONS)
    for s, path in enumerate(paths):
        text = "; ".join("say <%d.%d>" % (s, w) for w in range(WORDS)) + "; ask Run it; say <%d.end>" % s
        v.call("POST", path + "/prompt", {"text": text}, want=202)
    soon(lambda: len(v.call("GET", "/v1/approvals", want=200)["approvals"]) == SESSIONS, "not all ask", 300)
    phase("all have spoken, and ask")
    for a in v.call("GET", "/v1/approvals", want=200)["approvals"]:
        v.call("POST", "/v1/approvals/%s" % a["id"], {"answer": "allow"}, want=200)
    soon(lambda: all(s["state"] == "idle" for s in v.call("GET", "/v1/sessions", want=200)["sessions"]), "not all have ended", 300)
    phase("all are answered and end")
    for s, path in enumerate(paths):
        all_of = events(v, path)
        assert [e["seq"] for e in all_of] == list(range(1, len(all_of) + 1)), path
        updates = [e["data"]["update"] for e in all_of if e["type"] == "update"]
        said = "".join(u["content"]["text"] for u in updates if u["sessionUpdate"] == "agent_message_chunk")
        words = "".join("<%d.%d>" % (s, w) for w in range(WORDS))
        assert said.startswith(words) and said.endswith("<%d.end>" % s) and said.count("<") == WORDS + 1, said[-200:]
        assert [e["data"]["stop_reason"] for e in all_of if e["type"] == "turn"] == ["end_turn"], path
    phase("all transcripts are whole")
    print("highest memory of vivd: %.1f MiB" % (memory(v.pid())["VmHWM"] / 1024))


if __name__ == "__main__":
    vivd = Vivd(sys.argv[1], sys.argv[2])
    vivd.start()
    try:
        main(vivd)
    finally:
        vivd.remove_all()
        vivd.stop()
