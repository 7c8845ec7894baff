#!/usr/bin/env python3
"""What a cell's journal says about its network, compared with what servers saw and with what the cell did:
journalnet.py VIV DIRECTORY LOG CASE, in a world (world.sh) with journalserver.py, which writes LOG."""

import collections
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

VIV, WHERE, LOG, CASE = sys.argv[1:5]
BUILD = os.path.dirname(os.path.realpath(VIV))
HERE = os.path.dirname(os.path.realpath(__file__))
DATA = os.path.join(os.environ["XDG_DATA_HOME"], "vivarium", "journals")
RULES = ["good.org:8443 GET,HEAD,POST", "good.org:8080", "tcp.org:7 tcp", "tcp.org:7 udp", "closed.org:81 tcp"]
MADE = ("allow", "audit")


def soon(what, why, seconds=120):
    end = time.monotonic() + seconds
    while not (v := what()):
        assert time.monotonic() < end, f"not within {seconds} s: {why}"
        time.sleep(0.02)
    return v


def journals():
    try:
        return {n for n in os.listdir(DATA) if n[0] != "." and os.path.isdir(os.path.join(DATA, n))}
    except FileNotFoundError:
        return set()


def seen(since):
    """What the servers have logged from there on."""
    with open(LOG) as f:
        f.seek(since)
        return [line.split() for line in f]


def end_of_log():
    return os.stat(LOG).st_size


def asked_of_dns():
    """Names that the world's name server was asked for, ever."""
    with open(os.path.join(os.path.dirname(LOG), "world.dns")) as f:
        return {w[w.index("from") - 1] for w in map(str.split, f) if "from" in w and any(x.startswith("query[") for x in w)}


def tool(*words):
    p = subprocess.run([os.path.join(BUILD, "viv-journal"), *words], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stdout + p.stderr
    return p.stdout


def records(path):
    out = [json.loads(line) for line in tool("print", path, "--json").splitlines()]
    assert [r["seq"] for r in out] == list(range(1, len(out) + 1))
    return out


def sealed(path):
    soon(lambda: not [n for n in os.listdir(path) if n.startswith(("raw.", "ring."))], f"sealed: {os.listdir(path)}")
    tool("verify", path, "--deep")
    return records(path)


def command(*words, journal="all", rules=RULES, viv=VIV, first=()):
    return [viv, "run", "--journal", journal, *first, *(x for r in rules for x in ("--allow", r)), *words]


def run(*words, **kw):
    before = journals()
    p = subprocess.run(command(*words, **kw), capture_output=True, text=True, timeout=170)
    assert p.returncode == 0, p.stdout[-2000:] + p.stderr[-3000:]
    return os.path.join(DATA, (journals() - before).pop()), p


def scrape():
    return subprocess.run(["curl", "-sS", "--max-time", "100", "--unix-socket", os.path.join(os.environ["XDG_RUNTIME_DIR"], "vivarium", "vivd.sock"),
                           "http://vivd/metrics"], check=True, capture_output=True, text=True).stdout


def in_order(rs):
    """Whoever asks has been seen before, and what ends was made before."""
    pids, open_ = {0}, set()
    for r in rs:
        if r["kind"] in ("fork", "exec"):
            pids.add(r["pid"])
        if r["kind"] in ("name", "connect", "request"):
            assert r["pid"] in pids and r["pid"], f"nobody knows the process of {r}"
        if r["kind"] == "connect" and r["decision"] in MADE:
            open_.add(r["connection"])
        if r["kind"] == "close" and r["address"] not in ("198.19.255.1", "fd7a:7669:7600::1"):
            assert r.get("connection") in open_, f"closed before it was made: {r}"


# ---- everything ----

WORK = r"""
import errno, http.client, json, os, random, socket, ssl, sys
rnd, log = random.Random(int(sys.argv[1])), []
def lookup(name):
    log.append(("name", name))
    return socket.getaddrinfo(name, 1, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
def connect(name, port, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_INET, kind)
    s.settimeout(100)
    s.connect((lookup(name), port))
    return s
def tcp():
    s, data = connect("tcp.org", 7), b"x" * rnd.choice([1, 100, 70000])
    got = 0
    s.sendall(data)
    while got < len(data): got += len(s.recv(65536))
    s.close()
    log.append(("tcp", os.getpid(), len(data)))
def udp():
    s, n = connect("tcp.org", 7, socket.SOCK_DGRAM), rnd.choice([1, 500])
    s.send(b"x" * n)
    assert len(s.recv(1000)) == n
    s.close()
    log.append(("udp", os.getpid(), n))
def web():
    port = rnd.choice([8443, 8080])
    if port == 8443:
        c = http.client.HTTPSConnection("good.org", port, context=ssl.create_default_context(), timeout=100)
    else:
        c = http.client.HTTPConnection("good.org", port, timeout=100)
    log.append(("name", "good.org")) # HTTPSConnection asks for any family
    c._create_connection = lambda at, *_: socket.create_connection((socket.gethostbyname(at[0]), at[1]), 100)
    log.append(("web", os.getpid(), port))
    for _ in range(rnd.randrange(1, 4)):
        method = rnd.choice(["GET", "GET", "HEAD", "POST"] + (["DELETE"] if port == 8443 else []))
        n = rnd.choice([0, 10, 200000])
        target = f"/{rnd.choice(['bytes', 'chunked', 'missing'])}/{n}?q={rnd.randrange(10**9)}"
        body = b"y" * rnd.choice([0, 5, 90000]) if method == "POST" else None
        c.request(method, target, body)
        r = c.getresponse()
        got = len(r.read())
        log.append(("request", os.getpid(), port, method, target, len(body or b""), r.status, got if r.status != 403 else 0))
    c.close()
def denied_name():
    try: lookup("bad.org")
    except OSError: log.append(("nobody", os.getpid(), "bad.org"))
def denied_address():
    s = socket.socket()
    e = s.connect_ex(("10.9.9.9", 99))
    log.append(("denied", os.getpid(), "10.9.9.9", 99, e))
def closed():
    try: connect("closed.org", 81)
    except OSError as e: log.append(("refused", os.getpid(), e.errno))
for _ in range(int(sys.argv[2])):
    what = rnd.choice([tcp, tcp, udp, web, web, denied_name, denied_address, closed])
    if rnd.randrange(3):
        what()
        continue
    # By a process of its own.
    r, w = os.pipe()
    if not os.fork():
        mine = len(log)
        what()
        os.write(w, json.dumps(log[mine:]).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f: log += [tuple(x) for x in json.loads(f.read())]
    os.wait()
print(json.dumps(log))
"""


def of(rs, kind):
    return [r for r in rs if r["kind"] == kind]


def everything(seed, count, journal):
    since = end_of_log()
    path, p = run("--", "python3", "-c", WORK, str(seed), str(count), journal=journal)
    model = [tuple(x) for x in json.loads(p.stdout)]
    rs = sealed(path)
    assert not of(rs, "hole"), of(rs, "hole")
    in_order(rs)
    servers = seen(since)
    C = collections.Counter
    connects = of(rs, "connect")
    made = [r for r in connects if r["decision"] == "allow"]
    # Connections: exactly those that servers saw, by the process that made them.
    assert C(("accept", str(r["port"])) for r in made if r["protocol"] == "tcp") == C(tuple(s) for s in servers if s[0] == "accept"), (made, servers)
    assert C((r["pid"], r["port"]) for r in made if r["protocol"] == "tcp") == C([(x[1], 7) for x in model if x[0] == "tcp"] + [
        (x[1], x[2]) for x in model if x[0] == "web"])
    assert C(r["pid"] for r in made if r["protocol"] == "udp") == C(x[1] for x in model if x[0] == "udp")
    assert {(r["name"], r["address"]) for r in made} <= {("tcp.org", "93.184.216.36"), ("good.org", "93.184.216.34")}, made
    assert all(r["rule"] and "python3" in r["program"] for r in made if r["port"] != 8443), made
    assert len({r["connection"] for r in connects}) == len(connects), "numbers of connections come again"
    # What was not made.
    assert C((r["pid"], r["address"], r["port"]) for r in connects if r["decision"] == "deny") == C(x[1:4] for x in model if x[0] == "denied")
    assert C(r["pid"] for r in connects if r["decision"] == "failed") == C(x[1] for x in model if x[0] == "refused")
    assert {r["address"] for r in connects if r["decision"] == "failed"} <= {"93.184.216.37"}
    # Requests.
    requests = of(rs, "request")
    sent = [r for r in requests if r["decision"] == "allow"]
    ports = {r["connection"]: r["port"] for r in made}
    target = lambda r: "/" + r["url"].split("/", 3)[3]
    assert C((str(ports[r["connection"]]), r["method"], target(r)) for r in sent) == C((s[1], s[2], s[3]) for s in servers if s[0] == "request")
    assert C((r["pid"], r["method"], target(r)) for r in requests if r["decision"] == "deny") == C(
        (x[1], x[3], x[4]) for x in model if x[0] == "request" and x[3] == "DELETE")
    assert C((r["pid"], ports[r["connection"]], r["method"], target(r), r["out"], r["status"], r["in"]) for r in of(rs, "response")) == C(
        x[1:] for x in model if x[0] == "request" and x[3] != "DELETE"), of(rs, "response")
    assert {(r["connection"], r["number"]) for r in of(rs, "response")} == {(r["connection"], r["number"]) for r in sent}
    # Names: every question of an allowed one, at least one of each other; nobody outside heard of those.
    names = of(rs, "name")
    asked = [r["name"] for r in names if r["decision"] == "allow"]
    assert C(asked) == C(x[1] for x in model if x[0] == "name" and x[1] != "bad.org"), (C(asked), model)
    assert {r["type"] for r in names} == {"A"}
    bad = [r["pid"] for r in names if r["decision"] == "deny"]
    assert set(bad) == {x[1] for x in model if x[0] == "nobody"} and len(bad) >= len([x for x in model if x[0] == "nobody"])
    assert set(asked) <= asked_of_dns() and "bad.org" not in asked_of_dns()
    readers(path, model)


def readers(path, model):
    """The same by the questions, and as events of others."""
    hosts = {(h["host"], h.get("port", "")): h for h in json.loads(tool("touched", path, "--json"))["hosts"] if h["protocol"] in ("tcp", "http")}
    plain = [x[2] for x in model if x[0] == "tcp"]
    h = hosts[("tcp.org", "7")]
    assert (h["connections"], h["in"], h["out"]) == (len(plain), sum(plain), sum(plain)), h
    for port in (8443, 8080):
        mine = [x for x in model if x[0] == "request" and x[2] == port]
        if mine:
            h = hosts[("good.org", str(port))]
            assert (h["requests"], h["requests_denied"]) == (len([x for x in mine if x[3] != "DELETE"]), len([x for x in mine if x[3] == "DELETE"])), h
            assert h["in"] > sum(x[7] for x in mine) and h["out"] > sum(x[5] for x in mine), h
    assert not {k for k in hosts if k[0].startswith("93.")}, f"bytes of no connection: {hosts}"
    story = tool("timeline", path)
    assert "connected tcp.org:7" in story and "good.org" in story, story
    events = [json.loads(line) for line in tool("export", path, "--format", "ocsf").splitlines()]
    classes = collections.Counter(e["class_uid"] for e in events)
    assert classes[4001] and classes[4002] and classes[4003], classes
    for e in events:
        if e["class_uid"] == 4002:
            assert e["http_request"]["url"]["url_string"].startswith("http") and e["dst_endpoint"]["hostname"] == "good.org", e
        if e["class_uid"] == 4003:
            assert e["query"]["hostname"] and e["query"]["type"] == "A", e
    assert "connect" in tool("export", path, "--format", "otlp")
    net = [json.loads(line)["group"] for line in tool("print", path, "--kind", "net", "--json").splitlines()]
    assert net and set(net) == {"net"}


def model():
    everything(1, 60, "all")
    everything(2, 40, "changes")


# ---- under way ----

def under_way():
    """Requests that never end are in the journal, with what was there of them."""
    since = end_of_log()
    path, _ = run("--", "python3", "-c", r"""
import socket, ssl
ends = []
for target in ("/never", "/half/1000"):
    s = ssl.create_default_context().wrap_socket(socket.create_connection(("good.org", 8443)), server_hostname="good.org")
    s.sendall(b"GET %s HTTP/1.1\r\nHost: good.org:8443\r\n\r\n" % target.encode())
    if target != "/never":
        got = b""
        while got.count(b"x") < 500: got += s.recv(1000)
    else:
        import http.client
        # The server has it when another one behind it is answered.
        c = http.client.HTTPSConnection("good.org", 8443); c.request("GET", "/bytes/1"); c.getresponse().read()
    ends.append(s)
""")
    rs = sealed(path)
    got = {r["url"].rsplit("8443")[1]: (r["status"], r["in"]) for r in of(rs, "response")}
    assert got["/half/1000"] == (200, 500) and got["/bytes/1"] == (200, 1), got
    soon(lambda: [s for s in seen(since) if s[:4] == ["request", "8443", "GET", "/never"]], "the request arrives")
    assert got["/never"] == (0, 0) and [r for r in of(rs, "request") if r["url"].endswith("/never")], rs


def http2():
    """Streams of one connection, as the server has them in its log."""
    log = os.path.join(os.path.dirname(LOG), "world.access")
    since = os.stat(log).st_size
    path, p = run("--", "sh", "-c", "curl -4sSZ --http2 -w '%{http_version} %{http_code}\n' -o /dev/null " + " ".join(
        f"-o /dev/null https://good.org/who?{i}" for i in range(20)) + "; curl -4sS --http2 -o /dev/null -d x https://good.org/who", rules=["good.org GET"])
    assert p.stdout.count("2 200\n") == 20, p.stdout
    rs = sealed(path)
    in_order(rs)
    with open(log) as f:
        f.seek(since)
        served = collections.Counter(tuple(line.split('"')[1].split()[:2] + line.split('"')[2].split()) for line in f)
    assert served == collections.Counter((r["method"], r["url"].replace("https://good.org", ""), str(r["status"]), str(r["in"])) for r in of(rs, "response")), (served, rs)
    sent = [(r["connection"], r["number"]) for r in of(rs, "request") if r["decision"] == "allow"]
    assert len(set(sent)) == 20 and set(sent) == {(r["connection"], r["number"]) for r in of(rs, "response")}, sent
    assert [(r["method"], r["status"]) for r in of(rs, "request") if r["decision"] == "deny"] == [("POST", 403)], of(rs, "request")


# ---- the policy changes ----

def changed():
    """A connection that is ended because the rules are others, and a question to the operator."""
    viv = lambda *words: subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=100).stdout
    viv("run", "-d", "--name", "c", "--journal", "all", "--allow", "tcp.org:7 tcp", "--", "bash", "-c",
        "exec 3<>/dev/tcp/tcp.org/7; echo x >&3; read -u 3 a; echo $a; read -u 3 b; exec 4<>/dev/tcp/tcp.org/7; echo made; sleep 1000")
    soon(lambda: "x" in viv("logs", "c"), "the connection")
    with open(os.path.join(WHERE, "rules"), "w") as f:
        f.write("ask net tcp.org:7 tcp\n")
    viv("policy", "set", "c", os.path.join(WHERE, "rules"))
    viv("approvals", "allow", soon(lambda: viv("approvals", "ls", "-q").split(), "the question")[0])
    soon(lambda: "made" in viv("logs", "c"), "the second connection")
    path = os.path.join(DATA, journals().pop())
    viv("rm", "-f", "c")
    rs = sealed(path)
    assert [r["decision"] for r in of(rs, "connect")] == ["allow", "ask", "allow"], of(rs, "connect")
    assert len({r["connection"] for r in of(rs, "connect")}) == 2 and of(rs, "connect")[2]["rule"].startswith("ask net tcp.org"), of(rs, "connect")
    assert [(r["what"], "changed" in r["rule"] or "ask" in r["rule"]) for r in of(rs, "denial")] == [("tcp tcp.org:7", True)], of(rs, "denial")


# ---- requests that are more than one answer ----

def websocket():
    """A WebSocket is a request with what went both ways, through TLS and without it."""
    since = end_of_log()
    path, p = run("--", "python3", "-c", r"""
import base64, os, socket, ssl
for port, n in (8443, 70000), (8080, 5):
    s = socket.create_connection(("good.org", port))
    if port == 8443: s = ssl.create_default_context().wrap_socket(s, server_hostname="good.org")
    key = base64.b64encode(os.urandom(16))
    s.sendall(b"GET /ws?%d HTTP/1.1\r\nHost: good.org:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (n, port, key))
    got = b""
    while b"\r\n\r\n" not in got: got += s.recv(1)
    print(got.split()[1].decode())
    s.sendall(b"x" * n)
    while n: n -= len(s.recv(65536))
    s.close()
""")
    assert p.stdout.split() == ["101", "101"], p.stdout
    rs = sealed(path)
    in_order(rs)
    assert [(r["method"], r["url"], r["decision"]) for r in of(rs, "request")] == [("GET", "https://good.org:8443/ws?70000", "allow"), ("GET", "http://good.org:8080/ws?5", "allow")]
    assert [(r["status"], r["in"], r["out"]) for r in of(rs, "response")] == [(101, 70000, 70000), (101, 5, 5)], of(rs, "response")
    assert [s[3] for s in seen(since) if s[0] == "request"] == ["/ws?70000", "/ws?5"], seen(since)
    closes = [(r["port"], r["in"] > n, r["out"] > n) for r, n in zip(of(rs, "close"), (70000, 5)) if r["port"] in (8443, 8080)]
    assert len(closes) <= 2 and all(c[1:] == (True, True) for c in closes), closes


def held():
    """A request that waits for the operator while its server goes: the gate connects once more, and the journal has both connections, with one number."""
    viv = lambda *words: subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=100).stdout
    since = end_of_log()
    viv("run", "-d", "--name", "h", "--journal", "all", "--allow", "good.org:8444 GET", "--allow", "good.org:8080", "--ask", "good.org:8444 POST", "--", "bash", "-c",
        "curl -4sS -w ' %{http_code}\\n' -d body https://good.org:8444/bytes/3; sleep 1000")
    question = soon(lambda: viv("approvals", "ls", "-q").split(), "the question")[0]
    path = os.path.join(DATA, journals().pop())
    # What was asked is there before the answer.
    soon(lambda: [r["decision"] for r in of(records(path), "request")] == ["ask"], "the record of the question")
    assert viv("exec", "h", "curl", "-4sS", "http://good.org:8080/drop") == "1"
    viv("approvals", "allow", question)
    soon(lambda: "xxx 200" in viv("logs", "h"), "the answer")
    viv("rm", "-f", "h")
    rs = sealed(path)
    made = [r for r in of(rs, "connect") if r["port"] == 8444]
    assert [r["decision"] for r in made] == ["allow", "allow"] and len({r["connection"] for r in made}) == 1, made
    assert len([s for s in seen(since) if s[:2] == ["accept", "8444"]]) == 2, seen(since)
    mine = [r for r in of(rs, "request") if r["method"] == "POST"]
    assert [(r["decision"], r["status"], r["number"]) for r in mine] == [("ask", 0, 1), ("allow", 0, 1)] and mine[1]["rule"].startswith("ask net good.org:8444"), mine
    assert [(r["status"], r["in"], r["out"], r["connection"]) for r in of(rs, "response") if r["method"] == "POST"] == [(200, 3, 4, made[0]["connection"])], of(rs, "response")
    assert len([s for s in seen(since) if s[:3] == ["request", "8444", "POST"]]) == 1, seen(since)
    assert {r["answer"] for r in of(rs, "approval")} == {"allow"}, of(rs, "approval")


# ---- figures ----

def metrics():
    """/metrics counts what the journal has."""
    viv = lambda *words: subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=100).stdout
    words = command("--name", "m", "-d", "--", "python3", "-c", WORK + "import time\nopen('/root/done', 'w').close()\ntime.sleep(10000)", "3", "40")
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=100)
    viv("run", "-d", "--name", "none", "--journal", "off", *(x for r in RULES for x in ("--allow", r)), "--", "sleep", "10000")
    path = os.path.join(DATA, journals().pop())
    soon(lambda: subprocess.run([VIV, "exec", "m", "test", "-e", "/root/done"], capture_output=True, timeout=100).returncode == 0, "the work")

    def figures():
        got = collections.Counter()
        for line in scrape().splitlines():
            if line.startswith("vivarium_gate_") and 'name="none"' in line:
                raise AssertionError("figures of a cell without a journal: " + line)
            if line.startswith("vivarium_gate_") and 'name="m"' in line:
                labels, _, value = line.partition("} ")
                got[(labels.split("_")[2], labels.rsplit('"', 2)[1])] = int(value)
        return +got

    def expected():
        rs = records(path)
        want = collections.Counter((word, r["decision"]) for r in rs for kind, word in (("connect", "connections"), ("request", "requests"), ("name", "names")) if r["kind"] == kind)
        for way in "in", "out":
            want[("bytes", way)] = sum(r[way] for r in of(rs, "close"))
        return want

    want = expected()
    assert {w for w, _ in want} == {"connections", "requests", "names", "bytes"} and {d for w, d in want if w == "connections"} == {"allow", "deny", "failed"}, want
    assert ("requests", "deny") in want and ("names", "deny") in want and want[("bytes", "in")] > 1000, want
    soon(lambda: figures() == expected(), f"the same figures: {figures()} instead of {expected()}")
    # A cell that runs again begins at 0.
    viv("stop", "-t", "0", "m")
    assert not figures()
    viv("rm", "-f", "m", "none")


# ---- a network that comes later ----

def pooled():
    """A cell that waited in vivd's pool, where it had neither an id nor a network."""
    viv = lambda *words: subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=100).stdout
    figure = lambda name: int(re.search(rf"^vivarium_{name} (\d+)$", scrape(), re.M)[1])
    viv("daemon", "start")
    viv("run", "-d", "--rm", "--", "true")
    soon(lambda: figure("pool_cells") >= 1 and figure("pool_booting") == 0, "a cell that waits")
    given = figure("pool_given_total")
    cell = viv("run", "-d", "--", "sleep", "10000").strip()
    assert figure("pool_given_total") == given + 1, "it is not of the pool"
    path = granted(cell)
    assert os.path.basename(path) == records(path)[0]["id"]


def granted(cell=None):
    """A cell that runs without a network and is given one: it is in the journal from then on."""
    viv = lambda *words: subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=100).stdout
    since = end_of_log()
    if not cell:
        cell = viv("run", "-d", "--journal", "all", "--", "sleep", "10000").strip()
    path = os.path.join(DATA, cell)
    with open(os.path.join(WHERE, "rules"), "w") as f:
        f.write("allow net good.org:8080\nallow net tcp.org:7 tcp\n")
    viv("policy", "set", cell, os.path.join(WHERE, "rules"))
    out = viv("exec", cell, "bash", "-c", "curl -4sS http://good.org:8080/bytes/7; exec 3<>/dev/tcp/tcp.org/7; echo x >&3; read -u 3 a; echo $a; ! curl -4sS http://bad.org")
    assert out == "xxxxxxxx\n", out
    soon(lambda: 'vivarium_gate_connections_total' in scrape() and re.search(rf'gate_connections_total\{{cell="{cell}",[^}}]*decision="allow"\}} 2$', scrape(), re.M), "the figures")
    viv("rm", "-f", cell)
    rs = sealed(path)
    in_order(rs)
    assert [(r["name"], r["port"], r["decision"]) for r in of(rs, "connect")] == [("good.org", 8080, "allow"), ("tcp.org", 7, "allow")], of(rs, "connect")
    assert [(r["url"], r["decision"]) for r in of(rs, "request")] == [("http://good.org:8080/bytes/7", "allow")], of(rs, "request")
    assert {(r["name"], r["decision"]) for r in of(rs, "name")} == {("good.org", "allow"), ("tcp.org", "allow"), ("bad.org", "deny")}, of(rs, "name")
    assert [s[:2] for s in seen(since) if s[0] == "accept"] == [["accept", "8080"], ["accept", "7"]], seen(since)
    return path


# ---- secrets ----

def secret():
    value, forms = os.environ["VALUE"], os.environ["FORMS"].split("\n")
    path, p = run("--secret", "KEY", "--", "sh", "-c", r"""
set -e
c() { curl -4sS -o /dev/null -w '%{http_code} ' "$@"; }
c -H "Authorization: Bearer $KEY" https://good.org:8443/echo
c "https://good.org:8443/bytes/3?a=b&key=$KEY&c=d"
c -u "user:$KEY" "https://good.org:8443/echo"
c "https://user:$KEY@good.org:8443/echo?by=userinfo"
c -d "x=$KEY" https://good.org:8443/echo
c "http://good.org:8080/bytes/1?key=$KEY"
c --request-target "http://me:open-sesame@good.org:8080/bytes/1" http://good.org:8080/
""")
    # The last two are refused: no TLS, and a host with a user in its name.
    assert p.stdout == "200 200 200 200 200 403 421 ", p.stdout
    rs = sealed(path)
    urls = [(r["url"], r["decision"]) for r in of(rs, "request")]
    assert urls == [("https://good.org:8443/echo", "allow"), ("https://good.org:8443/bytes/3?a=b&key={KEY}&c=d", "allow"), ("https://good.org:8443/echo", "allow"),
                    ("https://good.org:8443/echo?by=userinfo", "allow"), ("https://good.org:8443/echo", "allow"), ("http://good.org:8080/bytes/1?key={KEY}", "deny"),
                    ("http://good.org:8080/bytes/1", "failed")], urls
    assert value in open(LOG).read() or "%2F" in open(LOG).read(), "the server has not seen it"
    text = tool("print", path, "--json") + tool("touched", path, "--all") + tool("export", path, "--format", "ocsf")
    raw = b"".join(open(os.path.join(path, n), "rb").read() for n in os.listdir(path))
    for form in forms:
        assert form not in text and form.encode() not in raw, f"'{form}' is in the journal"
    # The arguments of a program are what they are; of its requests there is no user and no placeholder.
    net = json.dumps([r for r in rs if r["group"] == "net"])
    assert os.environ["HOLDER"] not in net and "open-sesame" not in net, net


# ---- killed ----

LOOP = r"""
import socket, sys
for i in range(int(sys.argv[1])):
    port = 20000 + i % 200
    # It does not get away from whoever kills its gate.
    if i and i % 100 == 0 and sys.argv[2:]: sys.stdin.readline()
    s = socket.socket()
    try:
        s.connect(("93.184.216.36", port))
        print("made", port, flush=True)
    except OSError as x:
        print("not", port, x.errno, flush=True)
    s.close()
"""


def gate_of(pid):
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and open(f"/proc/{p}/cmdline").read() == "viv-gate\0" and int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]) == pid:
                return int(p)
        except OSError:
            pass
    return None


def looping(name, *words):
    return subprocess.Popen(command("--name", name, "--", "python3", "-c", LOOP, *words, rules=["93.184.216.36:20000-20199 tcp"]),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def kill_gate():
    since, kills, before = end_of_log(), 4, journals()
    p = looping("killed", "500", "paced")
    said = []
    for _ in range(kills):
        said += [p.stdout.readline() for _ in range(50)]
        os.kill(soon(lambda: gate_of(p.pid), "a gate"), signal.SIGKILL)
        said += [p.stdout.readline() for _ in range(50)]
        p.stdin.write("\n")
        p.stdin.flush()
    said += p.stdout.readlines()
    assert p.wait() == 0
    path = os.path.join(DATA, (journals() - before).pop())
    rs = sealed(path)
    in_order(rs)
    assert not of(rs, "hole"), of(rs, "hole")
    C = collections.Counter
    told = C(int(s.split()[1]) for s in said if s.startswith("made"))
    made = C(r["port"] for r in of(rs, "connect") if r["decision"] == "allow")
    saw = C(int(s[1]) for s in seen(since) if s[0] == "accept")
    assert not told - made, f"missing: {told - made}"
    assert not made - saw, f"invented: {made - saw}"
    assert sum((saw - made).values()) <= kills, f"servers saw more: {saw - made}"
    assert sum(told.values()) >= 300, "the next gate does not go on"
    numbers = [r["connection"] for r in of(rs, "connect")]
    assert len(numbers) == len(set(numbers)), "a record came twice"


def kill_keeper():
    for round_ in range(3):
        since, before, name = end_of_log(), journals(), f"keeper{round_}"
        p = looping(name, "100000")
        said = [p.stdout.readline() for _ in range(30 + 71 * round_)]
        p.kill()
        said += p.stdout.readlines()
        p.wait()
        path = os.path.join(DATA, (journals() - before).pop())
        # The next one that runs the cell finds what is left in the rings.
        again = subprocess.run([VIV, "run", "--name", name, "--journal", "all", "--", "true"], capture_output=True, text=True, timeout=100)
        assert again.returncode == 0, again.stderr
        rs = sealed(path)
        in_order(rs[: [r["kind"] for r in rs].index("start", 1)])
        assert not of(rs, "hole"), of(rs, "hole")
        C = collections.Counter
        told = C(int(s.split()[1]) for s in said if s.startswith("made") and s.endswith("\n"))
        made = C(r["port"] for r in of(rs, "connect") if r["decision"] == "allow")
        saw = C(int(s[1]) for s in seen(since) if s[0] == "accept")
        assert not told - made and not made - saw and sum((saw - made).values()) <= 1, (told - made, made - saw, saw - made)
        numbers = [r["connection"] for r in of(rs, "connect")]
        assert len(numbers) == len(set(numbers)), "a record came twice"


# ---- no room ----

CONNECTS = LOOP.replace("for i in range(int(sys.argv[1])):", "import select\ni = -1\nwhile not select.select([0], [], [], 0)[0]:\n    i += 1")


def full(what):
    """A store on a disk that is full while connections are made: the cell waits, also for the next gate, and has all of them; or there are holes."""
    store = os.environ["XDG_DATA_HOME"]
    os.makedirs(store, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", store], check=True)
    p, said = None, []
    try:
        since = end_of_log()
        p = subprocess.Popen(command("--journal-full", what, "--", "python3", "-c", CONNECTS, journal="changes", rules=["93.184.216.36:20000-20199 tcp"]),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: said.extend(p.stdout), daemon=True).start()
        soon(lambda: len(said) > 20, "connections")
        path = os.path.join(DATA, journals().pop())
        with open(os.path.join(store, "filler"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass

        def waits():
            for name in "ring.gate", "ring.kernel":
                with open(os.path.join(path, name), "rb") as f:
                    if struct.unpack_from("<I", f.read(64), 28)[0] == 1:
                        return True
            return False

        kills = 0
        if what == "wait":
            soon(waits, "the cell waits")
            # What the gate has recorded is in its ring; the next one is started when that is written.
            os.kill(gate_of(p.pid), signal.SIGKILL)
            kills = 1
        else:
            at = len(said)
            soon(lambda: len(said) > at + 3000, "the cell goes on")
        os.unlink(os.path.join(store, "filler"))
        at = len(said)
        soon(lambda: len([x for x in said[at:] if x.startswith("made")]) > 20, "connections when there is room")
        p.stdin.close()
        assert p.wait(timeout=100) == 0
        assert "journal cannot be written" in p.stderr.read()
        rs = sealed(path)
        in_order(rs) if what == "wait" else None
        C = collections.Counter
        soon(lambda: len(said) and said[-1].endswith("\n"), "its output")
        told = C(int(s.split()[1]) for s in said if s.startswith("made"))
        made = C(r["port"] for r in of(rs, "connect") if r["decision"] == "allow")
        # The server may be behind.
        saw = lambda: C(int(s[1]) for s in seen(since) if s[0] == "accept")
        missing, holes = sum((told - made).values()), of(rs, "hole")
        soon(lambda: not made - saw(), f"invented: {made - saw()}")
        if what == "wait":
            assert not missing and not holes, (told - made, holes)
            assert sum((saw() - made).values()) <= kills, saw() - made
        else:
            assert missing and holes and sum(h["count"] for h in holes) >= missing, (missing, holes)
    finally:
        if p and p.poll() is None:
            p.kill()
            p.wait()
        subprocess.run(["umount", "-l", store], check=True)


# ---- a gate that was broken into ----

def hostile():
    here = os.path.join(WHERE, "bin")
    os.mkdir(here)
    for n in ("viv", "viv-kernel", "viv-keeper", "viv-journal"):
        shutil.copy(os.path.join(BUILD, n), here)
    for mode in range(5):
        subprocess.run(["cc", "-O1", "-static", f"-DMODE={mode}", "-o", os.path.join(here, "viv-gate"), os.path.join(HERE, "hostilegate.c")], check=True)
        os.chmod(os.path.join(here, "viv-gate"), 0o755)
        path, _ = run("--name", f"h{mode}", "--quiet", "--", "python3", "-c", r"""
import os, socket
s = socket.socket(); s.setblocking(False); s.connect_ex(("93.184.216.36", 7))
for i in range(3000):
    with open(f"/root/f{i}", "w") as f: f.write("x")
""", viv=os.path.join(here, "viv"), rules=["93.184.216.36:7 tcp"])
        rs = sealed(path)
        made = [r["path"] for r in of(rs, "create") if r["path"].startswith("/root/f")]
        assert made == [f"/root/f{i}" for i in range(3000)], f"mode {mode}: records of the kernel are missing: {len(made)}"
        assert not [r for r in rs if r["pid"] == 4242 and r["kind"] not in ("name", "connect", "request", "response", "denial")], f"mode {mode}: a kernel's record by the gate"
        holes = of(rs, "hole")
        assert all(h["reason"].startswith("ring.gate: ") for h in holes) and (holes or mode in (3, 4)), f"mode {mode}: {holes[:5]}"
        assert rs[-1]["kind"] == "stop"


# ---- what would have been denied ----

def audit():
    """The journal marks what only an audit rule lets through, and that is what 'viv policy learn' makes rules of."""
    path, _ = run("--name", "audited", "--", "bash", "-c", r"""
curl -4sS -o /dev/null https://good.org:8443/bytes/1
curl -4sS -o /dev/null http://good.org:8080/bytes/2
exec 3<>/dev/tcp/tcp.org/7
""", first=("--network", "audit"), rules=["good.org:8080 GET /bytes/*"])
    rs = sealed(path)
    marked = {(r["name"], r["port"]) for r in of(rs, "connect") if r["decision"] == "audit"}
    assert marked == {("good.org", 8443), ("tcp.org", 7)}, of(rs, "connect")
    assert all(r["rule"].startswith("audit net") for r in rs if r.get("decision") == "audit"), rs
    assert {r["decision"] for r in of(rs, "request")} == {"allow"}, of(rs, "request")
    p = subprocess.run([VIV, "policy", "learn", "audited"], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    rules = [line for line in p.stdout.splitlines() if line.startswith("allow net")]
    assert {(n, port) for n, port in marked} == {(n, port) for n in ("good.org", "tcp.org", "closed.org") for port in (7, 8443, 8080)
                                                if any(f" {n}:{port}" in r for r in rules)} - {("good.org", 8080)}, rules


cases = {"websocket": websocket, "held": held, "metrics": metrics, "granted": granted, "pooled": pooled, "full_wait": lambda: full("wait"), "full_continue": lambda: full("continue"),
         "model": model, "under_way": under_way, "http2": http2, "changed": changed, "secret": secret, "kill_gate": kill_gate, "kill_keeper": kill_keeper, "hostile": hostile, "audit": audit}
cases[CASE]()
