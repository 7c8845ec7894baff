"""The rows of bench.py about sessions of agents, with a vivd of their own.

The agent is ../e2e/acpagent.py, which does what its prompts say, so that no model and no installation is needed, and what is measured is
ours: the start of a cell and of a process in it, the messages of ACP, and the way of an update to a client. Natively the same program runs
on the host and hears the same messages from us."""
import json
import os
import statistics
import subprocess
import threading
import time

import load

E2E = os.path.dirname(os.path.abspath(load.__file__))
AGENT = os.path.join(E2E, "acpagent.py")
PYTHON = "/usr/bin/python3"
MORE_S = 0.150  # what a session may take longer than the agent itself
UPDATES, PIECES = 10000, 5  # in turn with the agent itself, so that what else the machine does hits both alike
RATE = 1000  # updates in a second
LATE_S = 0.001
SESSIONS, SESSIONS_BYTES = 50, 40 << 20
WAIT_S = 120


def native_first():
    """Seconds from the start of the agent to its first word."""
    start = time.monotonic()
    with subprocess.Popen([PYTHON, AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        def say(message):
            p.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            p.stdin.flush()

        def ask(number, method, params):
            say({"id": number, "method": method, "params": params})
            return json.loads(p.stdout.readline())["result"]

        ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = ask(2, "session/new", {"cwd": "/", "mcpServers": []})["sessionId"]
        say({"id": 3, "method": "session/prompt", "params": {"sessionId": session, "prompt": [{"type": "text", "text": "say first"}]}})
        line = p.stdout.readline()
        took = time.monotonic() - start
        p.stdout.readline()  # the answer to the prompt
        p.stdin.close()
    if b"agent_message_chunk" not in line:
        raise RuntimeError("the agent did not speak: %r" % line[:200])
    return took


class Sessions:
    def __init__(self, l):
        self.l, self.made = l, 0

    def cell(self, start):
        """A named cell that sees the agent."""
        self.made += 1
        name = "a%d" % self.made
        self.l.ask("POST", "/v1/cells", {"name": name, "start": start, "stop_grace": 0, "command": ["/bin/sleep", "infinity"],
                                         "mounts": [{"source": E2E, "target": "/e2e", "readonly": True}]})
        return name

    def command(self):
        return [PYTHON, "/e2e/acpagent.py"]

    def viv_new(self, cell, prompt):
        """'viv session new', and the path of the session."""
        p = subprocess.run([self.l.viv, "session", "new", cell, "--prompt", prompt, "--", *self.command()], env=self.l.env,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT_S)
        if p.returncode:
            raise RuntimeError("viv session new: %s" % p.stderr.strip()[:200])
        return "/v1/cells/%s/sessions/%s" % (cell, p.stdout.strip())

    def follow(self, path):
        """Events as they come, with their times."""
        c = load.Connection(self.l.socket)
        c.request("GET", path + "/events?since=0&follow=true")
        for line in c.getresponse():
            now = time.time()
            if line.strip():
                yield now, json.loads(line)

    def turn(self, path):
        """The same, up to the end of the first turn."""
        for now, event in self.follow(path):
            yield now, event
            if event["type"] == "turn":
                return

    def viv_first(self):
        """Seconds from the start of 'viv session new' on a cell that does not run to the agent's first word at a client."""
        cell = self.cell(False)
        start = time.time()
        for now, event in self.follow(self.viv_new(cell, "say first")):
            if event["type"] in ("error", "turn"):
                raise RuntimeError("the agent did not speak: %s" % event)
            if event["type"] == "update":
                break
        self.l.ask("DELETE", "/v1/cells/%s?force=1" % cell)
        return now - start


def row_first(l, rounds=20):
    s, native, viv = Sessions(l), [], []
    s.viv_first()
    for _ in range(rounds):
        native.append(native_first())
        viv.append(s.viv_first())
    theirs, ours = statistics.median(native), statistics.median(viv)
    return [load.Line("viv session new to the first word", load.ms(ours), ours <= theirs + MORE_S, "<= native + 150 ms",
                      native=load.ms(theirs), ratio=ours / theirs, samples={"native": native, "viv": viv}),
            load.Line("  p99", load.ms(load.percentile(viv, 0.99)), native=load.ms(load.percentile(native, 0.99)))]


def paced(lines):
    """How late each of the agent's paced updates came, in seconds, by the time that it wrote into it."""
    late = []
    for now, update in lines:
        if update.get("sessionUpdate") == "agent_message_chunk":
            late.append(now - float(update["content"]["text"].split()[1]))
    return late


def native_paced(n):
    """The same stream, read by us from the agent itself."""
    with subprocess.Popen([PYTHON, AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        messages = [("initialize", {"protocolVersion": 1, "clientCapabilities": {}}), ("session/new", {"cwd": "/", "mcpServers": []}),
                    ("session/prompt", {"sessionId": "x", "prompt": [{"type": "text", "text": "paced %d %d" % (n, RATE)}]})]
        for i, (method, params) in enumerate(messages):
            p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}).encode() + b"\n")
        p.stdin.close()
        return paced((time.time(), json.loads(line).get("params", {}).get("update", {})) for line in p.stdout)


def viv_paced(s, n):
    path = s.viv_new(s.cell(True), "paced %d %d" % (n, RATE))
    return paced((now, e["data"]["update"]) for now, e in s.turn(path) if e["type"] == "update")


def row_updates(l):
    """The difference of what a client of vivd sees and what one of the agent itself would is what the keeper and vivd take."""
    s, late, direct = Sessions(l), [], []
    for _ in range(PIECES):
        late += viv_paced(s, UPDATES // PIECES)
        direct += native_paced(UPDATES // PIECES)
    if len(late) != UPDATES or len(direct) != UPDATES:
        raise RuntimeError("%d and %d of %d updates came" % (len(late), len(direct), UPDATES))
    ours, theirs = load.percentile(late, 0.99), load.percentile(direct, 0.99)
    return [load.Line("session, 10,000 updates, p50", load.ms(statistics.median(late)), native=load.ms(statistics.median(direct)), samples=late),
            load.Line("  p99", load.ms(ours), ours <= theirs + LATE_S, "<= native + 1 ms", native=load.ms(theirs))]


def row_memory(l):
    s, paths = Sessions(l), []
    cells = [s.cell(True) for _ in range(5)]
    before, highest, ended = l.rss(), [0], threading.Event()

    def watch():
        while not ended.wait(0.05):
            highest[0] = max(highest[0], l.rss())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for i in range(SESSIONS):
            made = l.ask("POST", "/v1/cells/%s/sessions" % cells[i % len(cells)], {"command": s.command(), "prompt": "tool Edit; count 200"})
            paths.append("/v1/cells/%s/sessions/%s" % (cells[i % len(cells)], made["id"]))
        for path in paths:
            if list(s.turn(path))[-1][1]["data"]["stop_reason"] != "end_turn":
                raise RuntimeError("a session's turn failed")
    finally:
        ended.set()
        watcher.join()
    top = max(highest[0], l.rss())
    return [load.Line("vivd, 50 sessions, RSS", load.mib(l.rss()), l.rss() <= SESSIONS_BYTES, "<= 40 MiB"),
            load.Line("  at its highest", load.mib(top), top <= SESSIONS_BYTES, "<= 40 MiB"), load.Line("  before them", load.mib(before))]


ROWS = {
    "session-first": ("viv session new to the first word", row_first),
    "session-updates": ("10,000 updates of a session", row_updates),
    "session-memory": ("vivd with 50 sessions", row_memory),
}
