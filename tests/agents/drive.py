"""A conversation with a real agent over ACP, in a cell: drive.py AGENT MODEL-LOG KEY

It reads a file, edits it and runs a command, reports; is refused a command; is cancelled; and is loaded again by another process. Prints
what was seen, one line for each part, 'not ok' before those that failed. The working directory gets work/ and home/, which the cell has
as /work and /root. VIV is the program.
"""
import json
import os
import sys
import time
import traceback

from acpclient import Agent
from known import Known, model_had_key, prompt_of, requests_of, search

NAME, LOG, KEY = sys.argv[1:4]
VIV = os.environ["VIV"]
NOTES = "/work/notes.txt"


class Conversation:
    def __init__(self):
        self.failed = 0
        self.known = Known(VIV, NAME)
        self.agent = self.session = self.began = None
        self.heard = b""

    def part(self, name, function):
        start = time.monotonic()
        try:
            function()
            print("ok %s (%.1f s)" % (name, time.monotonic() - start), flush=True)
        except Exception as e:  # whatever it is, the other parts are tried as well
            self.failed += 1
            print("not ok %s: %s: %s" % (name, type(e).__name__, str(e)[:600]), flush=True)
            if os.environ.get("VERBOSE"):
                traceback.print_exc()

    # ---- parts ----

    def start(self):
        command = [VIV, "run", "--image", self.known.image, "--policy", "rules", "--secret", self.known.secret,
                   "--mount", os.path.abspath("work") + ":/work:rw", "--mount", os.path.abspath("home") + ":/root:rw", "-w", "/work"]
        for name, value in self.known.env.items():
            command += ["-e", name + "=" + value]
        self.agent = Agent(command + ["--"] + self.known.acp, stderr=open("stderr", "ab"))
        about = self.agent.initialize()
        assert about["protocolVersion"] == 1, about
        with open("about.json", "w") as f:
            json.dump(about, f, indent=1)

    def new(self):
        made = self.agent.new("/work")
        self.session, self.began = made["sessionId"], time.time()
        with open("session.json", "w") as f:
            json.dump(made, f, indent=1)

    def say(self, *steps, permit="allow"):
        """One turn: what was said in it, how it ended, and the permission requests that it made."""
        self.agent.permit = permit
        since, asked = len(self.agent.updates), len(self.agent.asked)
        reason = self.agent.prompt(self.session, prompt_of(*steps)).result()["stopReason"]
        return self.agent.text(since=since), reason, self.agent.asked[asked:]

    def read(self):
        said, reason, _ = self.say(["read", NOTES], ["say", "It says: {result}; key {key}."])
        assert reason == "end_turn" and "seventeen" in said, (reason, said)
        assert KEY not in said and "viv-secret" in said, said

    def edit(self):
        said, reason, asked = self.say(["edit", NOTES, "seventeen", "eighteen"], ["run", "wc -l <%s >/work/count; cat /work/count" % NOTES],
                                       ["say", "Lines: {result}!"])
        assert reason == "end_turn" and "3" in said, (reason, said)
        with open("work/notes.txt") as f:
            assert f.read() == "one\neighteen\nthree\n"
        with open("work/count") as f:
            assert f.read().strip() == "3"
        assert bool(asked) == self.known.asks, "%d permission requests" % len(asked)

    def refuse(self):
        if not self.known.asks:
            return
        said, reason, asked = self.say(["run", "touch /work/forbidden"], ["say", "Refused: {result}"], permit="reject")
        assert asked and not os.path.exists("work/forbidden"), (reason, said)
        assert reason in ("end_turn", "cancelled", "refusal"), reason

    def cancel(self):
        since = len(self.agent.updates)
        turn = self.agent.prompt(self.session, prompt_of(["wait", 120]))
        self.agent.wait(lambda: "tick" in self.agent.text(since=since))
        self.agent.cancel(self.session)
        assert turn.result(60)["stopReason"] == "cancelled", turn.value

    def cancel_asked(self):
        """Cancelled while a permission request is open, which the client answers with 'cancelled'."""
        if not self.known.asks:
            return
        self.agent.permit, asked = None, len(self.agent.asked)
        turn = self.agent.prompt(self.session, prompt_of(["run", "touch /work/forbidden"], ["say", "no"]))
        self.agent.wait(lambda: len(self.agent.asked) > asked)
        self.agent.cancel(self.session)
        self.agent.answer(self.agent.asked[-1], "cancelled")
        assert turn.result(60)["stopReason"] == "cancelled", turn.value
        assert not os.path.exists("work/forbidden")

    def stop(self):
        self.heard += b"".join(self.agent.lines)
        self.agent.close()

    def load(self):
        assert self.agent.about["agentCapabilities"].get("loadSession"), "it says that it cannot load sessions"
        # Gemini names the file of a session by its minute; loaded within that one, it writes over it.
        while self.known.minute and time.time() // 60 == self.began // 60:
            time.sleep(1)
        self.agent.load(self.session, "/work")
        assert "seventeen" in self.agent.text(), "what was said before is not told again"
        said, reason, _ = self.say(["run", "cat " + NOTES], ["say", "Now: {result}"])
        assert reason == "end_turn" and "eighteen" in said, (reason, said)
        scripts = [r["scripts"] for r in requests_of(LOG) if r.get("step") is not None]
        assert scripts[-1] >= 4, "the model is not told of the prompts before: %s" % scripts

    def clean(self):
        """The model had the key, and nobody else."""
        self.heard += b"".join(self.agent.lines)
        model_had_key(LOG)
        assert KEY.encode() not in self.heard
        assert not search(KEY, "home", "work")
        assert not self.agent.noise, self.agent.noise[:3]

    def run(self):
        os.makedirs("work", exist_ok=True)
        self.known.put_files("home", self.known.files)
        with open("rules", "w") as f:
            f.write("".join(rule + "\n" for rule in self.known.rules))
        with open("work/notes.txt", "w") as f:
            f.write("one\nseventeen\nthree\n")
        for name in "start", "new", "read", "edit", "refuse", "cancel", "cancel_asked", "stop":
            self.part(name, getattr(self, name))
        self.part("start again", self.start)
        for name in "load", "stop", "clean":
            self.part(name, getattr(self, name))
        return self.failed


sys.exit(1 if Conversation().run() else 0)
