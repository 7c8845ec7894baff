"""Processes that outlive their clients, over the API: attach.py VIV DIRECTORY CASE."""
import base64
import json
import os
import time

from vivdclient import Unix, processes, run_case, soon
from wsclient import Refused, WebSocket

RING = 2 * (8 << 20)  # bytes of a log with its records' heads, at most


def cell(v, **more):
    return v.call("POST", "/v1/cells", {"start": True, **more}, want=201)["id"]


def exec_ws(v, c, *command, **more):
    w = WebSocket(v.socket, f"/v1/cells/{c}/exec")
    w.say(command=list(command), detachable=True, **more)
    kind, o = w.message()
    assert kind == "started", o
    return w, o["proc"]


def attach(v, c, proc, cursor=None):
    w = WebSocket(v.socket, f"/v1/cells/{c}/processes/{proc}/attach" + ("" if cursor is None else f"?cursor={cursor}"))
    kind, o = w.message()
    return w, o


def drop(w):
    """The client goes without a word."""
    w.s.close()


def seen(w, text):
    out, end = b"", time.monotonic() + 180
    while text not in out:
        assert time.monotonic() < end, (text, out[-200:])
        kind, what = w.message()
        assert kind == 1, (kind, what, out[-200:])
        out += what
    return out


def detached(v, c, *command, **more):
    return v.call("POST", f"/v1/cells/{c}/exec", {"command": list(command), "detach": True, **more}, want=201)["proc"]


def give(v, c, proc, want=204, **o):
    return v.call("POST", f"/v1/cells/{c}/processes/{proc}/input", o, want=want)


def lines_of(v, path):
    status, out = v.ask("GET", path)
    assert status == 200, (status, out[:300])
    return [json.loads(line) for line in out.splitlines()]


def text_of(lines):
    return "".join(o.get("text", "") for o in lines if o["type"] == "stdout")


def again(v):
    """Detached from and attached to again, with what was missed; the process sees no hang-up."""
    c = cell(v)
    w, proc = exec_ws(v, c, "sh", "-c", "trap 'echo hup' HUP; while read x; do echo got $x; echo err $x >&2; done; echo over")
    w.input(b"1\n")
    seen(w, b"got 1\n")
    drop(w)

    def logged(text):  # both streams, of which each may be late: positions count both
        soon(lambda: text in v.ask("GET", f"/v1/cells/{c}/logs?proc={proc}", headers={"Accept": "text/plain"})[1].decode(), f"'{text}' in its log")

    logged("err 1")
    give(v, c, proc, text="2\n")
    logged("err 2")
    w, o = attach(v, c, proc)
    assert (o["type"], o["cursor"], o["tty"], o["stdin_open"]) == ("attached", 0, False, True), o
    w.input(b"3\n")
    w.say(type="stdin_close")
    out, err, said, code = w.rest()
    assert (out, err, code) == (b"got 1\ngot 2\ngot 3\nover\n", b"err 1\nerr 2\nerr 3\n", 1000), (out, err, code)
    assert said == [{"type": "exit", "exit_code": 0}], said
    # From a position on, and what is still to come only.
    out = attach(v, c, proc, len(b"got 1\nerr 1\n"))[0].rest()
    assert out[0] + out[1] in (b"got 2\ngot 3\nover\nerr 2\nerr 3\n",), out
    assert attach(v, c, proc, "end")[0].rest()[:2] == (b"", b"")
    for bad, status in (("x", 400), ("-1", 400)):
        try:
            attach(v, c, proc, bad)
            raise AssertionError(bad)
        except Refused as e:
            assert e.status == status, e
    w, o = attach(v, c, proc, 1 << 40)
    assert (o["type"], o["status"]) == ("error", 400), o
    w, o = attach(v, c, 999)
    assert (o["type"], o["status"]) == ("error", 404), o
    assert v.ask("GET", f"/v1/cells/{c}/processes/0/attach")[0] == 404
    # One whose streams are a client's own cannot be attached to.
    w = WebSocket(v.socket, f"/v1/cells/{c}/exec")
    w.say(command=["cat"])
    proc = w.message()[1]["proc"]
    status, out = v.ask("GET", f"/v1/cells/{c}/processes/{proc}/attach")
    assert status == 409, (status, out)
    drop(w)


def streams(v):
    """The same as streams of JSON and of frames; a client that goes in the middle."""
    c = cell(v)
    u = Unix(v.socket)
    u.request("POST", f"/v1/cells/{c}/exec", json.dumps({"command": ["sh", "-c", "echo a; read x; echo $x; exit 7"], "detachable": True, "stdin_open": True}))
    r = u.getresponse()
    proc = json.loads(r.readline())["proc"]
    assert json.loads(r.readline()) == {"type": "stdout", "text": "a\n"}
    u.sock.close()
    r.close()
    u.close()
    give(v, c, proc, text="bé\n")
    assert v.call("GET", f"/v1/cells/{c}/processes/{proc}/wait", want=200)["exit_code"] == 7
    said = lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")
    assert said[0]["type"] == "attached" and not said[0]["stdin_open"], said
    assert text_of(said) == "a\nbé\n" and said[-1] == {"type": "exit", "exit_code": 7}, said
    status, out = v.ask("GET", f"/v1/cells/{c}/processes/{proc}/attach?cursor=2", headers={"Accept": "application/vnd.vivarium.frames"})
    frames = []
    while out:
        n = int.from_bytes(out[4:8], "big")
        frames.append((out[:1], out[8:8 + n]))
        out = out[8 + n:]
    assert [f[0] for f in frames] == [b"s", b"o", b"x"] and frames[1][1] == "bé\n".encode(), frames


def terminal(v):
    """A terminal, of which two clients see the same and to which both type; it keeps its size."""
    c = cell(v)
    a, proc = exec_ws(v, c, "sh", tty=True, rows=20, cols=70, env={"PS1": "P>"})
    seen(a, b"P>")
    drop(a)
    a, o = attach(v, c, proc)
    assert o["tty"] and o["stdin_open"], o
    seen(a, b"P>")
    b, _ = attach(v, c, proc, "end")
    a.input(b"stty size\n")
    for w in (a, b):
        seen(w, b"20 70\r\n")
    # A size is there before what is typed after it.
    b.say(type="resize", rows=30, cols=90)
    b.input(b"stty size\n")
    for w in (a, b):
        seen(w, b"30 90\r\n")
    a.input(b"sleep 1000\n")
    seen(b, b"sleep 1000")
    soon(lambda: "sleep" in v.exec(c, "sh", "-c", "cat /proc/[0-9]*/comm"), "the sleep")
    b.input(b"\x03")
    for w in (a, b):
        seen(w, b"P>")
    b.input(b"exit 5\n")
    for w in (a, b):
        assert w.rest()[2][-1]["exit_code"] == 5


def detached_input(v):
    """A detached process with open input is written to, and its input ended."""
    c = cell(v)
    proc = detached(v, c, "sh", "-c", "cat; echo end", stdin_open=True)
    give(v, c, proc, text="one\n")
    give(v, c, proc, base64="dHdvCg==")
    give(v, c, proc, want=400, base64="?")
    give(v, c, proc, close=True)
    assert text_of(lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")) == "one\ntwo\nend\n"
    assert give(v, c, proc, want=409, text="x")["code"] == "closed"
    give(v, c, 999, want=404, text="x")
    # Given with it, and ended after it or not.
    big = "x" * 300000
    proc = detached(v, c, "sh", "-c", "wc -c", stdin=big)
    assert text_of(lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")) == "300000\n"
    proc = detached(v, c, "sh", "-c", "wc -c", stdin=big, stdin_open=True)
    give(v, c, proc, text="more", close=True)
    assert text_of(lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")) == "300004\n"
    # Whoever else is attached does not hold it open, and hears of it.
    proc = detached(v, c, "cat", stdin_open=True)
    a, b = attach(v, c, proc)[0], attach(v, c, proc)[0]
    a.input(b"hello\n")
    seen(b, b"hello\n")
    a.say(type="stdin_close")
    assert a.rest()[2] == [{"type": "exit", "exit_code": 0}]
    assert b.rest()[2] in ([{"type": "stdin_closed"}, {"type": "exit", "exit_code": 0}], [{"type": "exit", "exit_code": 0}])
    # Without open input it is empty.
    proc = detached(v, c, "wc", "-c")
    assert text_of(lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")) == "0\n"
    give(v, c, proc, want=409, text="x")


def first(v):
    """The command of the cell itself."""
    c = cell(v, command=["sh", "-c", "while read x; do echo got $x; done; exit 3"], stdin_open=True)
    w, o = attach(v, c, 1)
    w.input(b"a\n")
    seen(w, b"got a\n")
    drop(w)
    w, o = attach(v, c, 1)
    seen(w, b"got a\n")
    w.say(type="stdin_close")
    assert w.rest()[2][-1]["exit_code"] == 3
    soon(lambda: v.call("GET", f"/v1/cells/{c}", want=200)["state"] == "stopped", "its end")
    assert v.ask("GET", f"/v1/cells/{c}/processes/1/attach")[0] == 409


def slow(v):
    """A client that does not read holds nothing up, and is told how many bytes it missed; one that reads misses none."""
    c = cell(v)
    size = 3 * RING
    proc = detached(v, c, "sh", "-c", f"read x; head -c {size} /dev/zero; echo; echo done", stdin_open=True)
    lazy, _ = attach(v, c, proc)
    give(v, c, proc, text="go\n")
    assert v.call("GET", f"/v1/cells/{c}/processes/{proc}/wait", want=200)["exit_code"] == 0
    total = size + len("\ndone\n")
    out, _, said, _ = lazy.rest()
    missed = [o for o in said if o["type"] == "dropped"]
    assert missed and sum(o["bytes"] for o in missed) + len(out) == total, (missed, len(out))
    assert missed[-1]["cursor"] <= total and out.endswith(b"\ndone\n") and said[-1]["exit_code"] == 0
    # Who comes later gets the last of it, and knows where that begins.
    w, o = attach(v, c, proc)
    out, _, said, _ = w.rest()
    assert o["cursor"] + len(out) == total and RING / 3 < len(out) <= RING, (o, len(out))
    w, o = attach(v, c, proc, 5)
    out, _, said, _ = w.rest()
    assert o["cursor"] == 5 and said[0]["bytes"] + len(out) == total - 5, (o, said)
    # As lines of JSON.
    said = lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach?cursor=0")
    assert said[1]["type"] == "dropped" and said[-1]["type"] == "exit", (said[:2], said[-1])
    got = sum(len(o["text"]) if "text" in o else len(base64.b64decode(o["base64"])) for o in said if o["type"] == "stdout")
    assert said[1]["bytes"] + got == total, (said[1], got)


def restart(v):
    """kill -9 of vivd: the process, its input and what it wrote meanwhile are there."""
    c = cell(v)
    w, proc = exec_ws(v, c, "sh", "-c", "while read x; do echo got $x; done", tty=False)
    w.input(b"1\n")
    seen(w, b"got 1\n")
    v.replace()
    soon(lambda: v.call("GET", f"/v1/cells/{c}")["state"] == "running", "the cell")
    w, o = attach(v, c, proc)
    assert o["stdin_open"], o
    seen(w, b"got 1\n")
    w.input(b"2\n")
    seen(w, b"got 2\n")
    v.stop()
    v.start()
    give(v, c, proc, text="3\n", close=True)
    assert text_of(lines_of(v, f"/v1/cells/{c}/processes/{proc}/attach")) == "got 1\ngot 2\ngot 3\n"


def many(v):
    """Clients of one process are bounded; all get everything."""
    c = cell(v)
    proc = detached(v, c, "sh", "-c", "read x; seq 1 2000; while read x; do :; done", stdin_open=True)
    all_ = [attach(v, c, proc)[0] for _ in range(64)]
    w, o = attach(v, c, proc)
    assert (o["type"], o["status"]) == ("error", 503), o
    assert v.ask("GET", f"/v1/cells/{c}/processes/{proc}/attach")[0] == 503
    all_[0].input(b"go\n")
    want = "".join(f"{i}\n" for i in range(1, 2001)).encode()
    for w in all_[:-1]:
        assert seen(w, b"\n2000\n") == want
        drop(w)
    soon(lambda: attach(v, c, proc)[1]["type"] == "attached", "room for another")
    give(v, c, proc, close=True)
    assert all_[-1].rest()[0] == want


def hostile(v):
    """Hundreds of thousands of one-byte records, and a client that begins near their end: vivd goes on answering meanwhile."""
    c = cell(v)
    code = "import os\nfor i in range(150000): os.write(1, b'x')\n"
    proc = detached(v, c, "python3", "-c", code)
    worst, ended = 0.0, False
    busy = [v.pid(), processes()[v.call("GET", f"/v1/cells/{c}")["pid"]][0]]  # vivd and the keeper

    def used():
        """CPU time: how long it takes with whatever else the machine does says nothing."""
        return sum(sum(map(int, open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[11:13])) for p in busy) / os.sysconf("SC_CLK_TCK")

    while not ended:
        began = used()
        procs = v.call("GET", f"/v1/cells/{c}/processes", want=200)["processes"]
        ended = [p for p in procs if p["proc"] == proc][0]["ended"]
        w, o = attach(v, c, proc, "end")
        assert o["type"] == "attached", o
        drop(w)
        worst = max(worst, used() - began)
    assert worst < 4, worst
    out = attach(v, c, proc, 149000)[0].rest()[0]
    assert len(out) == 1000, len(out)


def cursor(v):
    """Each line of logs has a cursor, after which reading goes on."""
    c = cell(v)
    proc = detached(v, c, "sh", "-c", "echo one; read x; echo two", stdin_open=True)
    path = f"/v1/cells/{c}/logs?proc={proc}"
    soon(lambda: v.call("GET", path, want=200), "a line")
    line = v.call("GET", path, want=200)
    assert line["cursor"] == 4, line
    give(v, c, proc, text="\n")
    v.call("GET", f"/v1/cells/{c}/processes/{proc}/wait", want=200)
    line = v.call("GET", path + "&cursor=4", want=200)
    assert (line["text"], line["cursor"]) == ("two\n", 8), line
    assert v.call("GET", path + "&cursor=6", want=200)["text"] == "o\n"
    assert v.call("GET", path + "&cursor=8", want=200) is None
    v.call("GET", path + "&cursor=x", want=400)


if __name__ == "__main__":
    run_case(again, streams, terminal, detached_input, first, slow, restart, many, hostile, cursor)
