#!/usr/bin/env python3
"""A cell as a client of vivd's API, from inside the cell: requests at its own socket, and attacks on it.

'call METHOD PATH [JSON]': the status and the body. 'refused OPENAPI OWN OTHER NAME': every route that is not a cell's, and every route with
the id or name of a cell of another family, is answered with 404. 'malformed N SEED': so many requests that are wrong. 'hoard': as many
connections as there can be, held until the end of the input. 'flood SECONDS': requests as fast as they go. 'bomb N': so many cells at once.
'leave N': so many new cells are asked for by clients that do not wait. 'unread': large answers that nobody reads. 'streams': all events, over many connections. 'ended N': so many cells without a
name, one after the other. 'storm CELL N', 'forks CELL N': so many snapshots or forks of a child at once."""
import json
import os
import random
import socket
import sys
import threading
import time

PATH = os.environ.get("VIV_SOCK", "/run/viv/sock")


def connect(timeout=60):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    s.connect(PATH)
    return s


def read_all(s):
    data = b""
    try:
        while chunk := s.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


def call(method, path, body=None, headers=()):
    while True:
        data = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: vivd\r\nConnection: close\r\n" + "".join(f"{h}\r\n" for h in headers)
        if data:
            head += f"Content-Length: {len(data)}\r\n"
        try:
            s = connect()
            s.sendall(head.encode() + b"\r\n" + data)
            got = read_all(s)
        except (BlockingIOError, BrokenPipeError, ConnectionRefusedError, ConnectionResetError):
            got = b""
        if not got.startswith(b"HTTP/"):  # more connections than it can have, or too fast
            time.sleep(0.05)
            continue
        top, _, rest = got.partition(b"\r\n\r\n")
        status = int(top.split()[1])
        if b"chunked" in top.lower():
            out, text = b"", rest
            while text:
                size, _, text = text.partition(b"\r\n")
                n = int(size, 16)
                if not n:
                    break
                out, text = out + text[:n], text[n + 2:]
            rest = out
        return status, rest.decode(errors="replace")


OURS = {
    "GET /v1/cells", "POST /v1/cells", "GET /v1/cells/{cell}", "DELETE /v1/cells/{cell}", "GET /v1/cells/{cell}/diff", "GET /v1/cells/{cell}/exec",
    "POST /v1/cells/{cell}/exec", "GET /v1/cells/{cell}/files", "PUT /v1/cells/{cell}/files", "DELETE /v1/cells/{cell}/files",
    "GET /v1/cells/{cell}/files/list", "POST /v1/cells/{cell}/files/mkdir", "POST /v1/cells/{cell}/files/move", "GET /v1/cells/{cell}/files/stat",
    "GET /v1/cells/{cell}/files/tar", "PUT /v1/cells/{cell}/files/tar", "GET /v1/cells/{cell}/files/watch", "POST /v1/cells/{cell}/kill",
    "GET /v1/cells/{cell}/logs", "POST /v1/cells/{cell}/pause", "GET /v1/cells/{cell}/processes", "GET /v1/cells/{cell}/processes/{proc}/attach",
    "POST /v1/cells/{cell}/processes/{proc}/input", "POST /v1/cells/{cell}/processes/{proc}/resize", "POST /v1/cells/{cell}/processes/{proc}/signal",
    "GET /v1/cells/{cell}/processes/{proc}/wait", "POST /v1/cells/{cell}/restart", "POST /v1/cells/{cell}/resume", "GET /v1/cells/{cell}/snapshots",
    "DELETE /v1/cells/{cell}/snapshots/{snapshot}", "POST /v1/cells/{cell}/start", "GET /v1/cells/{cell}/stats",
    "POST /v1/cells/{cell}/snapshots", "POST /v1/cells/{cell}/fork", "POST /v1/cells/{cell}/rollback", "POST /v1/cells/{cell}/rename",
    "POST /v1/up", "POST /v1/down", "GET /v1/projects",
    "GET /v1/agents", "GET /v1/agents/{agent}", "GET /v1/sessions", "GET /v1/transcripts", "GET /v1/cells/{cell}/sessions", "POST /v1/cells/{cell}/sessions",
    "GET /v1/cells/{cell}/sessions/{session}", "DELETE /v1/cells/{cell}/sessions/{session}", "POST /v1/cells/{cell}/sessions/{session}/cancel",
    "POST /v1/cells/{cell}/sessions/{session}/close", "POST /v1/cells/{cell}/sessions/{session}/config", "GET /v1/cells/{cell}/sessions/{session}/events",
    "POST /v1/cells/{cell}/sessions/{session}/mode", "POST /v1/cells/{cell}/sessions/{session}/model", "POST /v1/cells/{cell}/sessions/{session}/prompt",
    "POST /v1/cells/{cell}/stop", "GET /v1/cells/{cell}/wait", "POST /v1/cells/{cell}/sleep", "POST /v1/cells/{cell}/wake", "GET /v1/events", "GET /v1/version", "GET /v1/approvals", "GET /v1/approvals/{approval}",
}
SELF = {"GET /v1/cells/{cell}", "GET /v1/cells/{cell}/stats"}


def refused(file, own, others):
    paths = json.load(open(file))["paths"]
    routes = {f"{m.upper()} {p}" for p, ms in paths.items() for m in ms if m in ("get", "post", "put", "delete", "patch")}
    assert OURS <= routes, OURS - routes
    n = 0
    for r in sorted(routes):
        method, path = r.split(" ")
        for cell in [own, *others] if "{cell}" in path else [""]:
            if r in OURS and (not cell or (cell == own and r in SELF)):
                continue
            p = path.replace("{cell}", cell).replace("{proc}", "1")
            p = p.replace("{session}", "1").replace("{snapshot}", "s").replace("{", "").replace("}", "")
            status, body = call(method, p)
            assert status == 404, (r, cell, status, body)
            # The same as for one that there never was.
            if cell and cell != own and r in OURS:
                other = "n" * len(cell)
                assert body.replace(cell, other) == call(method, p.replace(cell, other))[1], (r, cell, body)
            n += 1
    print("refused", n)


def malformed(count, seed):
    r = random.Random(seed)
    good = b'POST /v1/cells HTTP/1.1\r\nHost: vivd\r\nContent-Length: 24\r\n\r\n{"command":["true"]}    '
    fixed = [b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"G" * 100000, b"GET /" + b"a" * 90000 + b" HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"A\x00\r\n\r\n",
             b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: -1\r\n\r\n", b"GET /v1/cells HTTP/1.1\r\n" + b"X: y\r\n" * 2000 + b"\r\n",
             b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: 4294967297\r\n\r\n{}", b"GET /v1/cells/%00/exec HTTP/1.1\r\nHost: v\r\n\r\n",
             b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"GET /v1/cells/../../metrics HTTP/1.1\r\nHost: v\r\n\r\n",
             b"GET /v1/cells?limit=%s HTTP/1.1\r\nHost: v\r\n\r\n" % (b"9" * 400), b"GET /v1/cells/{cell} HTTP/1.1\r\nHost: v\r\n\r\n",
             b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: 6\r\n\r\n" + b'{"a":1', b"GET http://vivd/v1/tokens HTTP/1.1\r\nHost: v\r\n\r\n",
             b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: 20000\r\n\r\n" + b"[" * 20000, b"HEAD /v1/secrets HTTP/1.1\r\nHost: v\r\n\r\n"]
    sent = 0
    while sent < count:
        kind = r.random()
        if kind < 0.5:
            m = bytearray(good)
            for _ in range(r.randint(1, 8)):
                m[r.randrange(len(m))] = r.randrange(256)
            data = b"P" + bytes(m[1:])
        elif kind < 0.9:
            data = r.choice(fixed)
        else:
            data = b"GET " + r.randbytes(r.randint(1, 600)) + b"\r\n\r\n"
        try:
            s = connect()
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            if b"\r\n\r\n" in data and r.random() < 0.3:
                s.settimeout(15)  # a head that is not whole has 10 s
                got = read_all(s)
                assert not got or got.startswith((b"HTTP/1.", b"{")), got
                assert b" 200 " not in got[:16] or b"/v1/cells" in data, (data, got)
            s.close()
        except (ConnectionRefusedError, BrokenPipeError, ConnectionResetError):
            pass
        sent += 1
    print("sent", sent)


def hoard():
    held = []
    try:
        while len(held) < 400:
            s = connect(2)
            s.sendall(b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000)
            held.append(s)
    except OSError:
        pass
    print("held", len(held), flush=True)
    sys.stdin.read()


def flood(stop):
    n = [0]

    def one():
        while not stop.is_set():
            if call("GET", "/v1/cells")[0] == 200:
                n[0] += 1

    threads = [threading.Thread(target=one, daemon=True) for _ in range(16)]
    for t in threads:
        t.start()
    print("flooding", flush=True)
    sys.stdin.read()
    stop.set()
    print("answered", n[0])


def bomb(count):
    status, threads = [], []

    def one(i):
        spec = {"command": ["sleep", "1000"], "start": True, "limits": {"memory": 16 << 20, "pids": 20, "disk": 1 << 20}}
        status.append(call("POST", "/v1/cells", spec | ({"name": f"b{i}"} if i % 2 else {}))[0])

    for i in range(count):
        threads.append(threading.Thread(target=one, args=(i,)))
        threads[-1].start()
    for t in threads:
        t.join()
    print("made", status.count(201), "of", count, *sorted(set(status)))


def leave(count):
    body = b'{"command":["true"]}'
    for i in range(count):
        s = connect()
        s.sendall(b"POST /v1/cells HTTP/1.1\r\nHost: v\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(i % 8 * 0.0005)  # at different moments of its way
        s.close()
    # What comes behind them on the same way is answered when they are over.
    print("left", count, call("GET", "/v1/version")[0])


def unread():
    assert call("POST", "/v1/cells", {"command": ["x" * 1000] * 70})[0] == 413
    for i in range(14):
        status, body = call("POST", "/v1/cells", {"command": ["x" * 1000] * 63})
        assert status == 201, body
    held, status = [], []
    for i in range(45):  # 14 times 63 KB each
        held.append(connect())
        held[-1].sendall(b"GET /v1/cells HTTP/1.1\r\nHost: v\r\n\r\n")
        status.append(held[-1].recv(12, socket.MSG_WAITALL)[9:])
    assert set(status) == {b"200", b"503"} and 30 < status.count(b"200") < 42, status
    for s in held:
        s.close()
    while call("GET", "/v1/cells")[0] != 200:
        time.sleep(0.02)
    print("unread", len(held))


def streams():
    """All that happened, again and again, until the end of the input: how often somebody got it."""
    n, stop = [0], threading.Event()

    def one():
        while not stop.is_set():
            try:
                s = connect()
                s.sendall(b"GET /v1/events?since=0&follow=0 HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n")
                n[0] += read_all(s).endswith(b"0\r\n\r\n")
            except OSError:
                pass

    for _ in range(40):
        threading.Thread(target=one, daemon=True).start()
    print("reading", flush=True)
    sys.stdin.read()
    print("read", n[0], flush=True)
    os._exit(0)


def ended(count):
    for i in range(count):
        status, body = call("POST", "/v1/cells", {"command": [("true", "missing")[i % 2]], "start": True})
        assert status == (201, 422)[i % 2], (i, status, body)  # it is not there; more than at once can be wait
    print("ended", count)


def sessions(own, cell, session, *ours):
    """A session of a cell of another family, by its id and below cells of ours: as if it were not there."""
    status, body = call("GET", "/v1/sessions")
    assert status == 200 and session not in body and cell not in body, body
    status, body = call("GET", "/v1/transcripts?q=cousinword")
    assert status == 200 and json.loads(body) == {"transcripts": []}, body
    for c in (own, cell, *ours):
        for s in (session, session[:8]):
            for method, tail in (("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("POST", "/close"), ("POST", "/prompt"), ("GET", "/events"),
                                 ("POST", "/mode"), ("POST", "/model"), ("POST", "/config")):
                status, body = call(method, f"/v1/cells/{c}/sessions/{s}{tail}", {"text": "say x"} if tail == "/prompt" else None)
                assert status == 404, (method, tail, c, s, status, body)
        assert c in ours or call("GET", f"/v1/transcripts?q=cousinword&cell={c}")[0] == 404
        assert c in ours or call("POST", f"/v1/cells/{c}/sessions", {"command": ["true"]})[0] == 404
    print("none")


def at_once(count, request):
    status, threads, busy = [], [], []

    def one(i):
        while True:
            s, body = call(*request(i))
            if '"busy"' not in body:
                break
            busy.append(i)
            time.sleep(0.02)
        status.append(s)

    for i in range(count):
        threads.append(threading.Thread(target=one, args=(i,)))
        threads[-1].start()
    for t in threads:
        t.join()
    print("made", status.count(201), "of", count, *sorted(set(status)), "busy" if busy else "never busy")


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "call":
        print(*call(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]) if len(sys.argv) > 4 else None, sys.argv[5:]))
    elif what == "refused":
        refused(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif what == "malformed":
        malformed(int(sys.argv[2]), int(sys.argv[3]))
    elif what == "hoard":
        hoard()
    elif what == "flood":
        flood(threading.Event())
    elif what == "leave":
        leave(int(sys.argv[2]))
    elif what == "streams":
        streams()
    elif what == "unread":
        unread()
    elif what == "ended":
        ended(int(sys.argv[2]))
    elif what == "sessions":
        sessions(*sys.argv[2:])
    elif what == "many":
        at_once(int(sys.argv[3]), lambda i: ("POST", f"/v1/cells/{sys.argv[2 + i % 2 * 2]}/sessions", {"command": ["true"], "acp": False}))
    elif what == "storm":
        at_once(int(sys.argv[3]), lambda i: ("POST", f"/v1/cells/{sys.argv[2]}/snapshots", {"name": f"storm{i}"}))
    elif what == "forks":
        at_once(int(sys.argv[3]), lambda i: ("POST", f"/v1/cells/{sys.argv[2]}/fork", {"name": f"f{i}"}))
    elif what == "bomb":
        bomb(int(sys.argv[2]))
