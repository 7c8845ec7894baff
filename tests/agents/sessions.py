"""A conversation with a real agent in a session of vivd: sessions.py AGENT MODEL-LOG KEY

Reads, edits, runs a command and reports; permission requests are allowed, denied, and left open while vivd is killed; a turn is cancelled;
the cell is stopped and started. The transcript is whole, the same for a client that followed it, and without the key. Output as drive.py.
"""
import http.client
import json
import os
import sys
import threading
import time
import traceback

from known import Known, model_had_key, prompt_of, requests_of, search
from vivdclient import Unix, Vivd, soon

NAME, LOG, KEY = sys.argv[1:4]
VIV = os.environ["VIV"]
NOTES = "/work/notes.txt"


class OwnVivd(Vivd):
    """The one of the environment's directories."""

    def __init__(self, viv):
        self.viv, self.env = os.path.abspath(viv), dict(os.environ)
        self.run = os.environ["XDG_RUNTIME_DIR"] + "/vivarium"
        self.socket = self.run + "/vivd.sock"


class Follower(threading.Thread):
    """A client that wants everything, once, and comes back when vivd has gone."""

    def __init__(self, vivd, path):
        super().__init__(daemon=True)
        self.vivd, self.path, self.lines, self.ended = vivd, path, [], False

    def run(self):
        while not self.ended:
            connection = Unix(self.vivd.socket, 600)
            since = json.loads(self.lines[-1])["seq"] if self.lines else 0
            try:
                connection.request("GET", "%s/events?since=%d&follow=true" % (self.path, since))
                for line in connection.getresponse():
                    if line.strip() and line.endswith(b"\n"):
                        self.lines.append(line)
            except (OSError, ValueError, http.client.HTTPException):
                pass
            connection.close()
            time.sleep(0.05)


class Conversation:
    def __init__(self):
        self.known, self.vivd = Known(VIV, NAME), OwnVivd(VIV)
        self.failed, self.path, self.follower, self.began = 0, None, None, None

    def part(self, name):
        start = time.monotonic()
        try:
            getattr(self, name)()
            print("ok %s (%.1f s)" % (name, time.monotonic() - start), flush=True)
        except Exception as e:  # whatever it is, the other parts are tried as well
            self.failed += 1
            print("not ok %s: %s: %s" % (name, type(e).__name__, str(e)[:900]), flush=True)
            if os.environ.get("VERBOSE"):
                traceback.print_exc()

    # ---- words ----

    def events(self, kind=None, since=0):
        raw = self.vivd.ask("GET", "%s/events?since=%d" % (self.path, since))[1]
        return [e for e in map(json.loads, raw.splitlines()) if kind in (None, e["type"])]

    def said(self, since=0):
        updates = [e["data"]["update"] for e in self.events("update", since)]
        return "".join(u["content"].get("text", "") for u in updates if u["sessionUpdate"] == "agent_message_chunk")

    def prompt(self, *steps):
        return self.vivd.call("POST", self.path + "/prompt", {"text": prompt_of(*steps)}, want=202)

    def end(self, prompt, seconds=120):
        """How this prompt ended; exactly once."""
        def found():
            turns = [e["data"] for e in self.events("turn") if e["data"]["prompt"] == prompt["prompt"]]
            assert len(turns) <= 1, turns
            return turns and turns[0]
        return soon(found, "no end of prompt %s: %s" % (prompt, self.events()[-3:]), seconds)["stop_reason"]

    def waits(self):
        """The open permission request."""
        def found():
            mine = [a for a in self.vivd.call("GET", "/v1/approvals", want=200)["approvals"] if a.get("session") == self.path.split("/")[-1]]
            return mine and mine[0]
        asked = soon(found, "nothing is asked: %s" % self.events()[-3:], 120)
        assert self.vivd.call("GET", self.path, want=200)["state"] == "waiting"
        return asked

    def answer(self, approval, answer):
        self.vivd.call("POST", "/v1/approvals/%s" % approval["id"], {"answer": answer}, want=200)

    def answer_all(self, prompt, answer):
        """Answers every question of a turn; how many there were, and how it ended."""
        count, deadline = 0, time.monotonic() + 180
        while not [e for e in self.events("turn") if e["data"]["prompt"] == prompt["prompt"]]:
            assert time.monotonic() < deadline, "neither asks nor ends: %s" % self.events()[-3:]
            if self.vivd.call("GET", self.path, want=200)["state"] != "waiting":
                time.sleep(0.05)
                continue
            self.answer(self.waits(), answer)
            count += 1
            soon(lambda: len(self.events("answered", prompt["seq"])) >= count, "no answer is recorded")
        return count, self.end(prompt)

    # ---- parts ----

    def new(self):
        mounts = [{"source": os.path.abspath("work"), "target": "/work"}, {"source": os.path.abspath("home"), "target": "/root"}]
        cell = self.vivd.call("POST", "/v1/cells", {
            "name": "agent-" + NAME, "image": self.known.image, "command": ["sleep", "infinity"], "policy": self.known.rules,
            "secrets": [self.known.secret], "mounts": mounts, "stop_grace": 0}, want=201)["id"]
        made = self.vivd.call("POST", "/v1/cells/%s/sessions" % cell, {
            "agent": self.known.name, "env": self.known.own_env, "workdir": "/work",
            "prompt": prompt_of(["read", NOTES], ["say", "It says: {result}; key {key}."])}, want=201)
        self.path, self.began = "/v1/cells/%s/sessions/%s" % (cell, made["id"]), time.time()
        self.follower = Follower(self.vivd, self.path)
        self.follower.start()

    def read(self):
        # An agent that asks even for this (Codex, in this mode) may.
        _, reason = self.answer_all({"prompt": 1, "seq": 0}, "allow")
        said = self.said()
        assert reason == "end_turn" and "seventeen" in said, (reason, said)
        assert KEY not in said and "viv-secret" in said, said

    def edit(self):
        p = self.prompt(["edit", NOTES, "seventeen", "eighteen"], ["run", "wc -l <%s >/work/count; cat /work/count" % NOTES], ["say", "Lines: {result}!"])
        count, reason = self.answer_all(p, "allow")
        assert reason == "end_turn" and "3" in self.said(p["seq"]), (reason, self.said(p["seq"]))
        with open("work/notes.txt") as f:
            assert f.read() == "one\neighteen\nthree\n"
        with open("work/count") as f:
            assert f.read().strip() == "3"
        assert (count > 0) == self.known.asks, "%d permission requests" % count

    def refuse(self):
        if not self.known.asks:
            return
        p = self.prompt(["run", "touch /work/forbidden"], ["say", "Refused: {result}"])
        count, reason = self.answer_all(p, "deny")
        assert count and not os.path.exists("work/forbidden"), (count, reason)
        assert [e["data"]["outcome"] for e in self.events("answered", p["seq"])][0] in ("rejected", "selected", "deny", "denied"), self.events("answered", p["seq"])

    def cancel(self):
        p = self.prompt(["wait", 120])
        soon(lambda: "tick" in self.said(p["seq"]), "it says nothing", 60)
        self.vivd.call("POST", self.path + "/cancel", {})
        assert self.end(p) == "cancelled"

    def cancel_asked(self):
        if not self.known.asks:
            return
        p = self.prompt(["run", "touch /work/forbidden"], ["say", "no"])
        asked = self.waits()
        self.vivd.call("POST", self.path + "/cancel", {})
        assert self.end(p) == "cancelled"
        assert not os.path.exists("work/forbidden")
        status = self.vivd.ask("POST", "/v1/approvals/%s" % asked["id"], {"answer": "allow"})[0]
        assert status == 409, status

    def killed(self):
        """vivd is killed while a question is open, or, of an agent that asks nothing, while it speaks."""
        if self.known.asks:
            p = self.prompt(["run", "echo once >>/work/once"], ["say", "Then: {result}"])
            asked = self.waits()
            self.vivd.replace()
            again = self.waits()
            assert again["id"] == asked["id"], (asked, again)
            self.answer(again, "allow")
        else:
            p = self.prompt(["run", "echo once >>/work/once"], ["wait", 3])
            soon(lambda: "tick" in self.said(p["seq"]), "it says nothing", 60)
            self.vivd.replace()
        assert self.end(p) == "end_turn"
        with open("work/once") as f:
            assert f.read() == "once\n"

    def stopped(self):
        """The cell is stopped and started; the session goes on with what was said before."""
        cell = self.path.split("/")[3]
        while self.known.minute and time.time() // 60 == self.began // 60:
            time.sleep(1)
        self.vivd.call("POST", "/v1/cells/%s/stop" % cell, {}, want=200)
        p = self.prompt(["run", "cat " + NOTES], ["say", "Now: {result}"])
        _, reason = self.answer_all(p, "allow")
        assert reason == "end_turn" and "eighteen" in self.said(p["seq"]), (reason, self.said(p["seq"]), self.events(None, p["seq"])[:9])
        scripts = [r["scripts"] for r in requests_of(LOG) if r.get("step") is not None]
        assert scripts[-1] >= 4, "the model is not told of the prompts before: %s" % scripts

    def transcript(self):
        events = self.vivd.ask("GET", self.path + "/events")[1].splitlines(keepends=True)
        numbers = [json.loads(line)["seq"] for line in events]
        assert numbers == list(range(1, len(numbers) + 1)), numbers
        soon(lambda: len(self.follower.lines) >= len(events), "who followed saw %d of %d" % (len(self.follower.lines), len(events)))
        assert self.follower.lines == events, [(a, b) for a, b in zip(self.follower.lines, events) if a != b][:1]
        assert not self.events("noise") and not self.events("gap"), self.events("noise")

    def clean(self):
        """The model had the key, and nobody else: not the transcript, the files of the agent, vivd's state."""
        model_had_key(LOG)
        assert KEY.encode() not in self.vivd.ask("GET", self.path + "/events")[1]
        found = search(KEY, "home", "work", os.environ["XDG_STATE_HOME"], os.environ["XDG_RUNTIME_DIR"])
        assert not found, found

    def remove(self):
        self.follower.ended = True
        cell = self.path.split("/")[3]
        self.vivd.call("POST", self.path + "/close", {}, want=200)
        assert self.vivd.ask("DELETE", self.path)[0] == 204
        self.vivd.call("DELETE", "/v1/cells/%s?force=1" % cell)

    def run(self):
        os.makedirs("work", exist_ok=True)
        self.known.put_files("home", self.known.own_files)
        with open("work/notes.txt", "w") as f:
            f.write("one\nseventeen\nthree\n")
        try:
            self.part("new")
            if self.follower:
                for name in "read", "edit", "refuse", "cancel", "cancel_asked", "killed", "stopped", "transcript", "clean", "remove":
                    self.part(name)
        finally:
            self.vivd.remove_all()
        return self.failed


sys.exit(1 if Conversation().run() else 0)
