#!/usr/bin/env python3
"""Kept output over the API and the command line: logs.py VIV DIRECTORY CASE."""

import json
import os
import threading
import time

from vivdclient import Unix, gone, run_case, soon

N = 10000  # lines at once
PLAIN = {"Accept": "text/plain"}


def detached(v, cell, script):
    return v.call("POST", f"/v1/cells/{cell}/exec", {"command": ["sh", "-c", script], "detach": True}, 201)["proc"]


def log(v, cell, proc, query=""):
    status, out = v.ask("GET", f"/v1/cells/{cell}/logs?proc={proc}{query}", headers=PLAIN)
    assert status == 200, out
    return out.decode()


def cut(v):
    """tail counts lines, since counts time; both together, both ways."""
    c = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    p = detached(v, c, "printf '1\\n2\\n3\\n'; while [ ! -e /tmp/go ]; do sleep 0.05; done; printf '4\\n5\\n' >&2; "
                 "while [ ! -e /tmp/on ]; do sleep 0.05; done; printf '6\\n7'")
    soon(lambda: "3" in log(v, c, p), "the first lines")
    time.sleep(0.05)
    between = time.time()
    v.exec(c, "touch", "/tmp/go")
    soon(lambda: "5" in log(v, c, p), "what goes another way than the rest")
    v.exec(c, "touch", "/tmp/on")
    v.call("GET", f"/v1/cells/{c}/processes/{p}/wait", want=200)
    everything = log(v, c, p)
    assert sorted(everything.split()) == list("1234567"), everything
    assert sorted(log(v, c, p, f"&since={between:.3f}").split()) == list("4567")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(between)) + f"{between % 1:.6f}"[1:] + "Z"
    assert sorted(log(v, c, p, f"&since={stamp}").split()) == list("4567"), stamp
    east = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(between) + 1 + 5400)) + "%2B01:30"
    assert len(log(v, c, p, f"&since={east}").split()) in (0, 2, 4), east
    assert log(v, c, p, "&since=1h") == everything and log(v, c, p, "&since=2100-01-01T00:00:00Z") == ""
    lines = everything.split("\n")
    for n in (0, 1, 2, 4, 7, 100):
        got = log(v, c, p, f"&tail={n}")
        assert got == ("\n".join(lines[-n:]) if n else ""), (n, got, everything)
        shown = v.cli("logs", "--tail", str(n), f"{c}:{p}")
        assert sorted(shown.stdout.split() + shown.stderr.split()) == sorted(got.split()), (n, shown)
    assert len(log(v, c, p, f"&tail=2&since={between:.3f}").split()) == 2
    shown = v.cli("logs", "--since", f"{between:.3f}", f"{c}:{p}")
    assert (sorted(shown.stdout.split()), sorted(shown.stderr.split())) == (list("67"), list("45")), shown
    assert v.cli("logs", "--since", "1h", f"{c}:{p}").stdout == "1\n2\n3\n6\n7"
    assert v.cli("logs", "--since", stamp, "--tail", "1", f"{c}:{p}").returncode == 0
    assert v.cli("logs", "--since", "yesterday", f"{c}:{p}").returncode == 2
    for bad in ("yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "-5", "10x", "%00", ""):
        status, out = v.ask("GET", f"/v1/cells/{c}/logs?since={bad}")
        assert status == 400, (bad, status, out)


def follows(v):
    """Following ends with the process, not only with the cell; across vivd's death it goes on where it was asked to."""
    c = v.call("POST", "/v1/cells", {"name": "f", "start": True}, 201)["id"]
    p = detached(v, c, "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done")
    began = time.monotonic()
    assert log(v, c, p, "&follow=1").split() == list("12345678")
    assert time.monotonic() - began < 150
    assert log(v, c, p, "&follow=1&tail=2").split() == list("78"), "of one that has ended"
    assert v.call("GET", "/v1/cells/f")["state"] == "running"
    p = detached(v, c, "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo $i; sleep 0.02; done")
    got = []
    conn = Unix(v.socket)
    conn.request("GET", f"/v1/cells/f/logs?proc={p}&follow=1")
    r = conn.getresponse()
    while len(got) < 10:
        got += json.loads(r.readline())["text"].split()
    pid = v.kill()
    soon(lambda: gone(pid), "its end")
    conn.close()
    v.start()
    more = log(v, "f", p, "&follow=1").split()
    assert more == [str(i) for i in range(1, 101)] and more[:len(got)] == got
    # What a cell wrote stays when it has ended.
    v.call("POST", "/v1/cells/f/stop", {"grace": 0})
    assert log(v, "f", p, "&tail=1") == "100\n"


def rotates(v):
    """Two files of 8 MiB are kept; who follows misses nothing while files come and go."""
    c = v.call("POST", "/v1/cells", {"start": True}, 201)["id"]
    script = "import os, time\nfor i in range(24):\n os.write(1, b''.join(b'%0100d\\n' % (i * N + k + 1) for k in range(N)))\n time.sleep(0.15)"
    p = v.call("POST", f"/v1/cells/{c}/exec", {"command": ["python3", "-c", f"N = {N}\n{script}"], "detach": True}, 201)["proc"]
    seen, last = {}, 24 * N

    def by_cli():
        seen["cli"] = v.cli("logs", "-f", f"{c}:{p}").stdout

    t = threading.Thread(target=by_cli)
    t.start()
    seen["api"] = log(v, c, p, "&follow=1")
    t.join()
    for who, text in seen.items():
        lines = text.split("\n")[:-1]
        first = int(lines[0])
        assert lines == [f"{i:0100}" for i in range(first, last + 1)], f"{who}: {len(lines)} lines from {first}, a hole or a line twice"
        assert first < last / 2, (who, first)
    rest = log(v, c, p)
    assert (4 << 20) < len(rest) < (17 << 20) and rest.endswith(f"\n{last:0100}\n"), len(rest)
    lines = rest.split("\n")[1:-1]
    assert lines == [f"{i:0100}" for i in range(int(lines[0]), last + 1)]
    assert log(v, c, p, "&tail=3") == "".join(f"{last - i:0100}\n" for i in (2, 1, 0))
    sizes = [os.stat(f"{v.run}/cells/{c}.{p}.log{x}").st_size for x in ("", ".old")]
    assert max(sizes) <= 8 << 20, sizes


if __name__ == "__main__":
    run_case(cut, follows, rotates)
