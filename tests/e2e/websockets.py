"""Exec over WebSockets: websockets.py CASE SOCKET CELL [ARGUMENT...]."""
import hashlib
import json
import os
import socket
import struct
import sys
import time

from wsclient import BINARY, CLOSE, PING, PONG, TEXT, Refused, WebSocket, frame

CASE, SOCKET, CELL = sys.argv[1:4]
MORE = sys.argv[4:]
PATH = f"/v1/cells/{CELL}/exec"
LIMIT = 120


def opened(**more):
    return WebSocket(SOCKET, PATH, **more)


def run(*command, **more):
    w = opened()
    w.say(command=list(command), **more)
    return w


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"not within {LIMIT} s: {what}"
        time.sleep(0.05)


def there(path):
    """Whether a file is in the cell."""
    return run("test", "-e", path).rest()[2][-1]["exit_code"] == 0


def vivd_kib():
    pid = open(os.path.dirname(SOCKET) + "/vivd.lock").read().strip()
    return int([line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")][0].split()[1])


def seen(w, channel, text):
    """Reads until the output has the text; all of it."""
    out = b""
    while text not in out:
        kind, what = w.message()
        assert kind == channel, (kind, what, out[-200:])
        out += what
    return out


def basic():
    out, err, said, code = run("sh", "-c", "echo $A; pwd; echo e >&2; exit 3", env={"A": "a"}, workdir="/tmp").rest()
    assert (out, err, code) == (b"a\n/tmp\n", b"e\n", 1000), (out, err, code)
    assert [o["type"] for o in said] == ["started", "exit"] and said[1]["exit_code"] == 3, said
    assert run("sh", "-c", "kill -9 $$").rest()[2][1] == {"type": "exit", "exit_code": 137, "signal": 9}
    # What comes behind the handshake, in the same packet.
    w = opened(early=frame(TEXT, b'{"command":["cat"]}') + frame(BINARY, b"\0early") + frame(TEXT, b'{"type":"stdin_close"}'))
    assert w.rest()[0] == b"early"
    w = opened(early=frame(TEXT, b'{"command":["sleep","1000"]}') + frame(TEXT, b'{"type":"signal","signal":15}'))
    assert w.rest()[2][-1] == {"type": "exit", "exit_code": 143, "signal": 15}
    # Messages in fragments, and control frames between them.
    w = opened()
    w.send(TEXT, b'{"comm', fin=False)
    w.send(PING, b"one")
    w.send(0, b"", fin=False)
    w.send(0, b'and":["cat"]}')
    assert w.frame() == (PONG, b"one")
    assert w.message()[0] == "started"
    w.send(BINARY, b"\0ab", fin=False)
    w.send(PING, b"x" * 125)
    w.send(0, b"cd", fin=False)
    w.send(PONG, b"unasked")
    w.send(0, b"ef")
    assert w.frame() == (PONG, b"x" * 125)
    assert seen(w, 1, b"abcdef") == b"abcdef"
    w.input(b"")
    # Every byte, many of them, both ways at once.
    data = bytes(range(256)) * 4096
    w.s.settimeout(LIMIT)
    w.send(BINARY, b"\0" + data[:-1])
    w.input(data[-1:])
    w.say(type="stdin_close")
    assert w.rest()[0] == data
    # Input of the first message; no more follows.
    assert run("cat", stdin="given", stdin_open=False).rest()[0] == b"given"
    w = run("sh", "-c", "exec <&-; echo ready; exec sleep 100")
    while w.message() != (1, b"ready\n"):
        pass
    w.input(b"x")
    assert w.message()[0] == "stdin_closed"
    w.say(type="signal", signal=15)
    assert w.rest()[2][-1] == {"type": "exit", "exit_code": 143, "signal": 15}
    # Signals for its group, and many processes at once.
    w = run("sh", "-c", "sleep 100; echo not reached")
    w.message()
    until(lambda: b"sleep\n" in run("sh", "-c", "cat /proc/*/comm").rest()[0], "sleep runs")
    w.say(type="signal", signal=2, group=True)
    assert w.rest()[2][-1]["exit_code"] == 130
    many = [run("sh", "-c", "read x; echo $x") for _ in range(40)]
    for i, w in enumerate(many):
        w.input(b"%d\n" % i)
    assert [w.rest()[0] for w in many] == [b"%d\n" % i for i in range(40)]


def refused(status, path=PATH, **more):
    try:
        WebSocket(SOCKET, path, **more)
    except Refused as e:
        assert e.status == status, f"{e.status} and not {status}: {more}"
        assert json.loads(e.body)["code"], e.body
        return e.head.lower()
    raise AssertionError(f"accepted: {path} {more}")


def raw(head):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(LIMIT)
    s.connect(SOCKET)
    s.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
    out = s.recv(4096).decode()
    return int(out.split()[1]), out.lower()


def handshake():
    w = WebSocket(SOCKET, PATH, protocols=None)
    assert "sec-websocket-protocol" not in w.head.lower()
    w.s.close()
    w = opened(protocols="chat, VIVARIUM.EXEC.V1 ,x")
    assert "sec-websocket-protocol: vivarium.exec.v1\r\n" in w.head.lower() + "\r\n"
    w.s.close()
    refused(400, protocols="chat")
    refused(400, key=b"c2hvcnQ=")
    refused(400, key=b"!" * 24)
    refused(400, path=PATH + "?ping=x")
    refused(400, path=PATH + "?pong=1")
    refused(401, protocols="vivarium.exec.v1, bearer.viv_x")
    refused(403, headers=["Origin: https://example.org"])
    refused(404, path="/v1/cells/none/exec")
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n"
    up = "Host: x\nConnection: Upgrade\nUpgrade: websocket\n"
    status, head = raw(f"GET {PATH} HTTP/1.1\n{up}{key}Sec-WebSocket-Version: 12\n")
    assert status == 426 and "sec-websocket-version: 13" in head, head
    assert raw(f"GET {PATH} HTTP/1.1\nHost: x\n")[0] == 426
    assert raw(f"GET {PATH} HTTP/1.1\nHost: x\nUpgrade: websocket\n{key}Sec-WebSocket-Version: 13\n")[0] == 426
    assert raw(f"GET {PATH} HTTP/1.0\n{up}{key}Sec-WebSocket-Version: 13\n")[0] == 426
    assert raw(f"HEAD {PATH} HTTP/1.1\n{up}{key}Sec-WebSocket-Version: 13\n")[0] == 426
    assert raw(f"GET {PATH} HTTP/1.1\n{up}Sec-WebSocket-Version: 13\n")[0] == 400
    assert raw(f"GET {PATH} HTTP/1.1\n{up}{key}Sec-WebSocket-Version: 13\n")[0] == 101


def ends(code, *frames):
    """What such frames are answered with."""
    w = opened()
    for f in frames:
        w.s.sendall(f)
    _, _, said, got = w.rest()
    assert got == code, f"{got} and not {code}: {frames!r}"[:300]
    if code >= 4000:
        assert said[-1]["type"] == "error" and 4000 + said[-1]["status"] == code and said[-1]["code"], said


def violations():
    cat = frame(TEXT, b'{"command":["cat"]}')
    ends(1002, frame(TEXT, b"{}", mask=False))
    ends(1002, cat, frame(BINARY, b"\0x", mask=False))
    ends(1002, frame(TEXT, b"{}", rsv=4))
    ends(1002, frame(BINARY, b"\0x", rsv=1))
    ends(1002, frame(3, b""))
    ends(1002, frame(15, b""))
    ends(1002, frame(0, b"x"))
    ends(1002, frame(TEXT, b"{", fin=False), frame(TEXT, b"}"))
    ends(1002, frame(PING, b"x" * 126))
    ends(1002, frame(PING, b"x", fin=False))
    ends(1002, frame(CLOSE, struct.pack(">H", 999)))
    ends(1002, frame(CLOSE, struct.pack(">H", 1005)))
    ends(1007, frame(TEXT, b'{"command":["\xff"]}'))
    ends(1007, frame(TEXT, b"\xed\xa0\x80"))
    ends(1007, frame(TEXT, b'{"command":["\xc3', fin=False), frame(0, b'"]}'))
    ends(1007, frame(TEXT, b'{"x":"\xe2\x82'))
    ends(1007, frame(CLOSE, struct.pack(">H", 1000) + b"\xff"))
    ends(1009, frame(TEXT, b"x", length=1 << 40))
    ends(1009, cat, frame(BINARY, b"x", length=(1 << 20) + 1))
    ends(1009, cat, frame(BINARY, b"\0" * (1 << 19), fin=False), frame(0, b"x" * (1 << 19), fin=False), frame(0, b"x"))
    ends(1000, cat, frame(CLOSE, struct.pack(">H", 1000) + b"bye"))
    ends(1005, cat, frame(CLOSE))
    for bad in (b"", b"{", b"[]", b"1", b"{}", b'{"command":[]}', b'{"command":["a"],"x":1}', b'{"command":["a"],"detach":true}', b'{"command":["a\\u0000"]}',
                b'{"command":["true"],"command":["true"]}', b"[" * 5000):
        ends(4400, frame(TEXT, bad))
    ends(4422, frame(TEXT, b'{"command":["/no/such"]}'))
    ends(4400, frame(BINARY, b"\0x"))
    ends(4400, cat, frame(BINARY, b"\1x"))
    ends(4400, cat, frame(BINARY, b""))
    for bad in (b"{}", b'{"type":"jump"}', b'{"type":"resize"}', b'{"type":"resize","rows":0,"cols":9}', b'{"type":"signal","signal":65}', b'{"type":1}'):
        ends(4400, cat, frame(TEXT, bad))
    # Nothing runs any more of what they started.
    until(lambda: b"cat" not in run("sh", "-c", "for i in /proc/[0-9]*; do read c <$i/comm; echo $c; done").rest()[0].split(), "no cat runs")


def terminal():
    w = run("sh", "-c", "stty size; tty; exec sh -i", tty=True, rows=31, cols=97, env={"PS1": "P>", "ENV": ""})
    assert w.message()[0] == "started"
    out = seen(w, 1, b"P>")
    assert b"31 97\r\n/dev/pts/" in out, out
    w.input(b"echo o''k\n")
    seen(w, 1, b"ok\r\nP>")
    w.input(b"sleep 100\n")
    seen(w, 1, b"sleep 100\r\n")
    until(lambda: b"sleep\n" in run("sh", "-c", "cat /proc/*/comm").rest()[0], "sleep runs")
    w.input(b"\x03")
    seen(w, 1, b"P>")
    w.say(type="resize", rows=40, cols=120)
    size = b""
    while b"40 120" not in size:  # the size is set when the keeper has passed it on
        w.input(b"stty size; echo en''d\n")
        size = seen(w, 1, b"end\r\n")
    w.input(b"exit 7\n")
    assert w.rest()[2] == [{"type": "exit", "exit_code": 7}]


def trap(path):
    # The shell tells of its dead child on a stream that is closed by then.
    w = run("sh", "-c", f"exec 2>/dev/null; trap 'echo >{path}; exit' HUP; echo ready; while :; do sleep 0.05; done")
    w.message()
    seen(w, 1, b"ready\n")
    return w


def hangup():
    trap("/tmp/gone").s.close()
    w = trap("/tmp/closed")
    w.send(CLOSE, struct.pack(">H", 1001))
    assert w.rest()[3] == 1001
    w = trap("/tmp/half")
    w.s.shutdown(socket.SHUT_WR)
    w = trap("/tmp/broken")
    w.send(BINARY, b"x", mask=False)
    for name in ("gone", "closed", "half", "broken"):
        until(lambda: there(f"/tmp/{name}"), f"hung up: {name}")
    # Gone before the process has started.
    for i in range(20):
        w = run("sh", "-c", f"echo $$ >/tmp/early{i}; exec sleep 1000")
        w.s.close()
    until(lambda: b"sleep" not in run("sh", "-c", "cat /proc/*/comm").rest()[0].split(), "no sleep runs")


def pressure():
    # A client that does not read stops the process, and vivd keeps nothing.
    w = run("sh", "-c", "yes 0123456789abcde | head -c 32000000; echo >/tmp/written")
    w.message()
    # It grows until the process is stopped, and then not.
    before, after = 0, vivd_kib()
    for _ in range(LIMIT):
        time.sleep(1)
        before, after = after, vivd_kib()
        if after - before < 1024:
            break
    assert after - before < 1024 and after < 40000, (before, after)
    assert not there("/tmp/written")
    out, _, said, code = w.rest()
    assert out == b"0123456789abcde\n" * 2000000 and said[-1]["exit_code"] == 0 and code == 1000, (len(out), said, code)
    # A process that does not read stops the client.
    w = run("sh", "-c", "until [ -e /tmp/go ]; do sleep 0.05; done; sha256sum")
    w.message()
    data = os.urandom(1 << 16)
    sent, part = 0, b""
    w.s.settimeout(0.5)
    whole = hashlib.sha256()
    try:
        while sent < 32 << 20:
            part = frame(BINARY, b"\0" + data)
            while part:
                part = part[w.s.send(part):]
            whole.update(data)
            sent += len(data)
        raise AssertionError("32 MiB were taken for a process that reads nothing")
    except TimeoutError:
        pass
    now = vivd_kib()
    assert sent < 4 << 20 and now < 40000, (sent, now)
    run("touch", "/tmp/go").rest()
    w.s.settimeout(LIMIT)
    w.s.sendall(part)
    whole.update(data)
    for _ in range(100):
        w.send(BINARY, b"\0" + data)
        whole.update(data)
    w.say(type="stdin_close")
    assert w.rest()[0].split()[0].decode() == whole.hexdigest()
    # Pings of a client that takes no answer: it is not read any more.
    w = run("sleep", "100")
    w.s.settimeout(0.5)
    n = 0
    try:
        while n < 64 << 20:
            n += w.s.send(frame(PING, b"x" * 125) * 100)
        raise AssertionError("64 MiB of pings were taken")
    except TimeoutError:
        pass
    now = vivd_kib()
    assert now < 40000, now
    w.s.close()


def pings():
    silent = opened()
    w = WebSocket(SOCKET, PATH + "?ping=1")
    w.say(command=["sh", "-c", "exec 2>/dev/null; trap 'echo >/tmp/mute; exit' HUP; while :; do sleep 0.05; done"])
    w.message()
    other = WebSocket(SOCKET, PATH + "?ping=1")
    other.say(command=["sleep", "100"])
    other.message()
    for _ in range(6):  # one that answers stays
        opcode, data = other.frame()
        assert opcode == PING
        other.send(PONG, data)
    until(lambda: there("/tmp/mute"), "one that does not answer is gone")
    other.say(type="signal", signal=9)
    assert other.rest()[3] == 1000
    assert silent.rest()[3] == 4408, "nothing was said"


def network():
    """ARGUMENTS: port, certificate or "", admin's token, a read-only one, one for CELL, one for another cell."""
    global SOCKET
    port, cert, admin, read, mine, others = MORE
    SOCKET = (int(port), cert or None)
    refused(401)
    refused(401, protocols="vivarium.exec.v1, bearer.viv_000000000000_" + "0" * 64)
    refused(401, headers=["Origin: https://example.org"])
    refused(403, protocols=f"vivarium.exec.v1, bearer.{read}")
    refused(404, protocols=f"vivarium.exec.v1, bearer.{others}")
    for more in ({"headers": [f"Authorization: Bearer {admin}"]}, {"protocols": f"vivarium.exec.v1, bearer.{mine}"},
                 {"protocols": f"bearer.{mine},vivarium.exec.v1", "headers": ["Origin: https://example.org"]}):
        w = opened(**more)
        assert "bearer" not in w.head.lower() and "sec-websocket-protocol: vivarium.exec.v1" in w.head.lower(), w.head
        data = os.urandom(1 << 20)
        w.say(command=["sh", "-c", "cat; echo done >&2; exit 4"])
        w.message()
        for i in range(0, len(data), 1 << 16):
            w.input(data[i:i + (1 << 16)])
        w.say(type="stdin_close")
        out, err, said, code = w.rest()
        assert out == data and err == b"done\n" and said[-1]["exit_code"] == 4 and code == 1000, (len(out), err, said, code)


def stopping():
    """Stays until vivd ends."""
    w = trap("/tmp/x")
    print("ready", flush=True)
    assert w.rest()[3] == 1001


globals()[CASE]()
