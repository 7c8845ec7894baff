"""A small client of the Agent Client Protocol: JSON-RPC 2.0, one message in each line of an agent's standard streams.

    agent = Agent(["viv", "run", ..., "--", "opencode", "acp"])
    agent.initialize()
    session = agent.new("/work")
    turn = agent.prompt(session, "hello")      # a Call
    print(turn.result()["stopReason"], agent.text(session))

A permission request is answered by 'agent.permit': 'allow', 'reject', 'cancelled', or None, which leaves it open.
"""
import json
import subprocess
import threading
import time

PROTOCOL = 1


class Refused(Exception):
    """The agent answered with an error."""


class Call:
    def __init__(self):
        self.done, self.value, self.error = threading.Event(), None, None

    def result(self, seconds=120):
        if not self.done.wait(seconds):
            raise TimeoutError("no answer within %d s" % seconds)
        if self.error is not None:
            raise Refused(json.dumps(self.error))
        return self.value


class Agent:
    def __init__(self, command, stderr=None, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, **options)
        self.calls, self.last, self.lock = {}, 0, threading.Lock()
        self.updates, self.noise, self.asked, self.lines = [], [], [], []
        self.permit = "allow"
        self.about = None
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    # ---- messages ----

    def send(self, message):
        data = (json.dumps(dict(message, jsonrpc="2.0")) + "\n").encode()
        with self.lock:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def call(self, method, **params):
        call = Call()
        self.last += 1
        self.calls[self.last] = call
        self.send({"id": self.last, "method": method, "params": params})
        return call

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            try:
                message = json.loads(line)
                assert message.get("jsonrpc") == "2.0"
            except (ValueError, AssertionError, AttributeError):
                self.noise.append(line)
                continue
            with self.changed:
                self.take(message)
                self.changed.notify_all()
        for call in self.calls.values():
            if not call.done.is_set():
                call.error = {"message": "the agent has ended"}
                call.done.set()

    def take(self, message):
        method = message.get("method")
        if method is None:
            call = self.calls.get(message.get("id"))
            if call:
                call.value, call.error = message.get("result"), message.get("error")
                call.done.set()
        elif method == "session/update":
            self.updates.append((message["params"]["sessionId"], message["params"]["update"]))
        elif method == "session/request_permission":
            self.asked.append(message)
            if self.permit:
                self.answer(message, self.permit)
        elif "id" in message:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "this client has no method " + method}})

    def answer(self, message, how):
        """Answers a permission request with the option of that kind."""
        outcome = {"outcome": "cancelled"}
        options = [o for kind in (how + "_once", how + "_always") for o in message["params"]["options"] if o["kind"] == kind]
        if how != "cancelled":
            outcome = {"outcome": "selected", "optionId": options[0]["optionId"]}
        self.send({"id": message["id"], "result": {"outcome": outcome}})

    def wait(self, condition, seconds=60):
        """Waits for something that a message brings."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition():
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() >= end:
                    raise TimeoutError("nothing of the kind within %d s" % seconds)

    # ---- the protocol ----

    def initialize(self):
        self.about = self.call("initialize", protocolVersion=PROTOCOL, clientInfo={"name": "acpclient.py", "version": "1"},
                               clientCapabilities={"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}).result()
        return self.about

    def authenticate(self, method):
        return self.call("authenticate", methodId=method).result()

    def new(self, directory):
        return self.call("session/new", cwd=directory, mcpServers=[]).result()

    def load(self, session, directory):
        return self.call("session/load", sessionId=session, cwd=directory, mcpServers=[]).result()

    def prompt(self, session, text):
        return self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def cancel(self, session):
        self.send({"method": "session/cancel", "params": {"sessionId": session}})

    def text(self, kind="agent_message_chunk", since=0):
        """What the agent has said."""
        return "".join(u["content"].get("text", "") for _, u in self.updates[since:] if u.get("sessionUpdate") == kind and "content" in u)

    def close(self, seconds=20):
        """Ends the agent; its exit status."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            return self.process.wait(seconds)
