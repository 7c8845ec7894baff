#!/usr/bin/env python3
"""Files of a cell over the API: filesapi.py VIV SOCKET STEP. Prints what is wrong, and fails then."""

import base64
import hashlib
import http.client
import http.server
import io
import json
import os
import socket
import socketserver
import subprocess
import sys
import tarfile
import threading
import time
from urllib.parse import quote_from_bytes

from vivdclient import gone

VIV, SOCKET, STEP = sys.argv[1:4]
problems = []


class Unix(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("vivd")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(180)
        self.sock.connect(SOCKET)


def query(**values):
    return "&".join(f"{k.rstrip('_')}={quote_from_bytes(v if isinstance(v, bytes) else str(v).encode())}" for k, v in values.items())


def raw(method, path, body=None, headers=None):
    c = Unix()
    c.request(method, path, body, headers or {})
    r = c.getresponse()
    out = r.read()
    c.close()
    return r, out


def ask(method, path, want, body=None, headers=None):
    """The answer as JSON, if it is that; its status must be what is wanted."""
    r, out = raw(method, path, body, headers)
    if r.status != want:
        problems.append(f"{method} {path}: {r.status}, wanted {want}: {out[:300]!r}")
    kind = r.getheader("Content-Type") or ""
    if kind == "application/json":
        out = json.loads(out)
        if r.status >= 400 and not {"code", "message"} <= set(out):
            problems.append(f"{method} {path}: {out}")
        return out
    if kind == "application/x-ndjson":
        return [json.loads(line) for line in out.splitlines() if line.strip()]
    return out


def files(method, want, what="", body=None, headers=None, cell="work", **values):
    return ask(method, f"/v1/cells/{cell}/files{what}?{query(**values)}", want, body, headers)


def run(*command, cell="work"):
    """Runs in the cell: what it printed."""
    lines = ask("POST", f"/v1/cells/{cell}/exec", 200, json.dumps({"command": list(command)}))
    if lines[-1].get("exit_code") != 0:
        problems.append(f"{command}: {lines}")
    return b"".join(x["text"].encode() if "text" in x else base64.b64decode(x["base64"]) for x in lines if x["type"] == "stdout")


def shell(script, cell="work"):
    return run("sh", "-c", script, cell=cell)


def same(got, want, what):
    if got != want:
        problems.append(f"{what}: {str(got)[:300]}, wanted {str(want)[:300]}")


def soon(what, condition):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    problems.append(f"not within 120 s: {what}")


def name_of(entry, key="path"):
    return entry[key].encode() if key in entry else base64.b64decode(entry[key + "_base64"])


def content():
    made = files("PUT", 201, path="/root/a", body=b"hello\n", mode=600, uid=5, gid=6)
    same((made["type"], made["size"], made["mode"], made["uid"], made["gid"]), ("file", 6, "0600", 5, 6), "what was made")
    same(shell("stat -c '%a %u %g %s' /root/a; cat /root/a"), b"600 5 6 6\nhello\n", "in the cell")
    same(files("GET", 200, path="/root/a"), b"hello\n", "read")
    # What is not said stays as it is.
    made = files("PUT", 200, path="/root/a", body=b"0123456789")
    same((made["mode"], made["uid"], made["gid"]), ("0600", 5, 6), "after it was replaced")
    for value, want, first in (("bytes=0-3", b"0123", "bytes 0-3/10"), ("bytes=8-", b"89", "bytes 8-9/10"), ("bytes=-3", b"789", "bytes 7-9/10"),
                               ("bytes=2-99", b"23456789", "bytes 2-9/10"), ("bytes=-99", b"0123456789", "bytes 0-9/10")):
        r, out = raw("GET", "/v1/cells/work/files?path=/root/a", headers={"Range": value})
        same((r.status, out, r.getheader("Content-Range"), r.getheader("Content-Length")), (206, want, first, str(len(want))), value)
    for value in ("bytes=0-1,3-4", "bytes=x", "lines=1-2", "bytes=3-2"):
        same(files("GET", 200, path="/root/a", headers={"Range": value}), b"0123456789", value)
    r, out = raw("GET", "/v1/cells/work/files?path=/root/a", headers={"Range": "bytes=10-"})
    same((r.status, r.getheader("Content-Range"), json.loads(out)["code"]), (416, "bytes */10", "range"), "a range behind the end")
    r, out = raw("HEAD", "/v1/cells/work/files?path=/root/a")
    same((r.status, out, r.getheader("Content-Length"), r.getheader("Accept-Ranges")), (200, b"", "10", "bytes"), "HEAD")
    made = files("PUT", 201, path="/root/empty", body=b"")
    same((made["size"], made["mode"]), (0, "0644"), "an empty one")
    same(files("GET", 200, path="/root/empty"), b"", "an empty one")
    files("PUT", 409, path="/root/a", body=b"x", replace=0)
    files("PUT", 201, path="/root/b", body=b"x", replace=0, sync=1)
    same(files("GET", 404, path="/root/none")["code"], "not_found", "code")
    same(files("GET", 409, path="/root")["code"], "is_directory", "code")
    same(files("PUT", 409, path="/root", body=b"x")["code"], "is_directory", "code")
    same(files("PUT", 404, path="/no/where/x", body=b"x")["code"], "not_found", "code")
    same(files("PUT", 409, path="/etc/passwd/x", body=b"x")["code"], "not_directory", "code")
    # With the directories above it, which may be there, or cannot be.
    files("PUT", 201, path="/root/new/deep/f", body=b"deep", parents=1)
    files("PUT", 200, path="/root/new/deep/f", body=b"deeper", parents=1)
    same(shell("cat /root/new/deep/f; stat -c %a /root/new/deep"), b"deeper755\n", "parents")
    same(files("PUT", 409, path="/etc/passwd/x/y", body=b"x", parents=1)["code"], "not_directory", "code")
    same(files("PUT", 409, path="/root/new", body=b"x", parents=1)["code"], "is_directory", "code")
    same(files("PUT", 403, path="/root/not/mine", body=b"x", user="1000:1000", parents=1)["code"], "denied", "code")
    same(files("GET", 403, path="/root/a", user="1000:1000")["code"], "denied", "code")
    files("PUT", 201, path="/tmp/theirs", body=b"x", user="1000:1000")
    same(shell("stat -c '%u %g' /tmp/theirs"), b"1000 1000\n", "of another user")
    for bad in ("path=relative", "", "path=/a&path2=x", "path=%00", "path=/" + "x" * 5000, "path=/a&mode=9", "path=/a&mode=77777", "path=/a&uid=x", "path=/a&recursive=1"):
        ask("PUT", "/v1/cells/work/files?" + bad, 400, b"x")
    # Chunks, as who does not know the size sends them.
    c = Unix()
    c.request("PUT", "/v1/cells/work/files?path=/root/chunks", (b"%d," % i for i in range(3000)), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    r = c.getresponse()
    r.read()
    same(r.status, 201, "chunks")
    same(files("GET", 200, path="/root/chunks"), b"".join(b"%d," % i for i in range(3000)), "chunks")


def vivd_memory():
    pid = json.loads(raw("GET", "/v1/version")[1])["pid"]
    return int([x for x in open(f"/proc/{pid}/status") if x.startswith("VmHWM")][0].split()[1])


def big():
    block = os.urandom(1 << 20)
    digest = hashlib.sha256()

    def blocks():
        for i in range(200):
            piece = i.to_bytes(4, "big") + block[4:]
            digest.update(piece)
            yield piece

    before = vivd_memory()
    c = Unix()
    c.request("PUT", "/v1/cells/work/files?path=/root/big", blocks(), headers={"Content-Length": str(200 << 20)})
    r = c.getresponse()
    same((r.status, json.loads(r.read())["size"]), (201, 200 << 20), "written")
    same(run("sha256sum", "/root/big").split()[0].decode(), digest.hexdigest(), "in the cell")
    c.request("GET", "/v1/cells/work/files?path=/root/big")
    r = c.getresponse()
    back = hashlib.sha256()
    while piece := r.read(1 << 20):
        back.update(piece)
    same(back.hexdigest(), digest.hexdigest(), "read")
    r, out = raw("GET", "/v1/cells/work/files?path=/root/big", headers={"Range": f"bytes={(100 << 20) - 2}-{(100 << 20) + 3}"})
    same(out, block[-2:] + (100).to_bytes(4, "big"), "a range in the middle")
    grown = vivd_memory() - before
    if grown > 4096:
        problems.append(f"vivd needed {grown} KiB more for it")
    # A reader that does not read keeps nobody else waiting, and costs nothing.
    slow = Unix()
    slow.request("GET", "/v1/cells/work/files?path=/root/big")
    same(slow.getresponse().status, 200, "the slow one")
    same(files("GET", 200, "/stat", path="/root/big")["size"], 200 << 20, "meanwhile")
    slow.close()
    soon("no viv-files is left", lambda: b"viv-files" not in run("ps", "-eo", "comm"))


def atomic():
    old, new = b"o" * 3_000_000, b"n" * 3_000_000
    files("PUT", 201, path="/root/f", body=old)
    shell("echo same >/root/target; ln -s target /root/link; ln -s missing /root/dangling")
    stop, seen = threading.Event(), set()

    def reader():
        while not stop.is_set():
            seen.add(files("GET", 200, path="/root/f"))

    t = threading.Thread(target=reader)
    t.start()
    for i in range(6):
        files("PUT", 200, path="/root/f", body=(old, new)[i % 2 ^ 1])
    stop.set()
    t.join()
    if not seen <= {old, new}:
        problems.append("a reader saw a part")
    # The client goes in the middle: nothing of it is left, and the old file is.
    before = shell("ls -A /root")
    s = socket.socket(socket.AF_UNIX)
    s.connect(SOCKET)
    s.sendall(b"PUT /v1/cells/work/files?path=/root/f HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + b"z" * 4_000_000)
    soon("viv-files runs", lambda: b"viv-files" in run("ps", "-eo", "comm"))
    s.close()
    soon("no viv-files is left", lambda: b"viv-files" not in run("ps", "-eo", "comm"))
    same(shell("ls -A /root"), before, "names after a client that went away")
    same(files("GET", 200, path="/root/f"), old, "the file after it")
    # Links are followed, and stay.
    files("PUT", 200, path="/root/link", body=b"through")
    same(shell("cat /root/target; readlink /root/link"), b"throughtarget\n", "through a link")
    files("PUT", 201, path="/root/dangling", body=b"new")
    same(shell("cat /root/missing"), b"new", "through a link to nothing")


ODD = [b"a b", b"\xff\xfe", b"new\nline", b"quote\"'\\", b"%41", b"+plus+", b"\x01\x7f", "größe".encode(), b"-rf", b"a&b=c?d#e", b"x" * 255]


def names():
    shell("mkdir /root/odd")
    for name in ODD:
        files("PUT", 201, path=b"/root/odd/" + name, body=name)
        same(files("GET", 200, path=b"/root/odd/" + name), name, name)
        same(name_of(files("GET", 200, "/stat", path=b"/root/odd/" + name)), b"/root/odd/" + name, name)
    same(sorted(name_of(e) for e in files("GET", 200, "/list", path="/root/odd")), sorted(b"/root/odd/" + n for n in ODD), "list")
    same(run("python3", "-c", "import os, sys; sys.stdout.buffer.write(b'\\0'.join(sorted(os.listdir(b'/root/odd'))))"), b"\0".join(sorted(ODD)), "in the cell")
    files("POST", 200, "/move", from_=b"/root/odd/\xff\xfe", to=b"/root/odd/\xfe\xff")
    files("DELETE", 204, path=b"/root/odd/\xfe\xff")
    run("python3", "-c", "import os\nfor i in range(50):\n  os.makedirs(f'/root/many/{i}')\n  for j in range(100): open(f'/root/many/{i}/{j}', 'w')\n"
        "os.symlink('\\udcff/x', '/root/many/link')\nos.symlink('..', '/root/many/up')")
    listed = files("GET", 200, "/list", path="/root/many", recursive=1)
    same(len(listed), 5052, "how many")
    same(len({name_of(e) for e in listed}), 5052, "how many names")
    same(len(files("GET", 200, "/list", path="/root/many")), 52, "not recursive")
    link = [e for e in listed if e.get("path") == "/root/many/link"][0]
    same((link["type"], name_of(link, "target")), ("symlink", b"\xff/x"), "a link")
    same(files("GET", 200, "/stat", path="/root/many/up")["type"], "symlink", "a link itself")
    same(files("GET", 200, "/stat", path="/root/many/up", follow=1)["type"], "directory", "a link, followed")
    same(files("GET", 409, "/list", path="/etc/passwd")["code"], "not_directory", "code")
    same(files("GET", 404, "/list", path="/none")["code"], "not_found", "code")
    # A client that wants no more of it.
    c = Unix()
    c.request("GET", "/v1/cells/work/files/list?path=/&recursive=1")
    c.getresponse().read(1000)
    c.close()
    # Deeper than any path that a call takes.
    run("python3", "-c", "import os\nos.mkdir('/root/deep'); os.chdir('/root/deep')\nfor i in range(2500):\n  os.mkdir('d' * 9); os.chdir('d' * 9)")
    deep = files("GET", 200, "/list", path="/root/deep", recursive=1)
    if not 1000 < len(deep) < 2500 or deep[-1].get("error", {}).get("code") != "invalid":
        problems.append(f"a deep tree: {len(deep)}, {deep[-1]}")


def odd():
    shell("mkfifo /root/fifo; ln -s loop /root/loop; ln -s fifo /root/to-fifo; touch /root/f")
    for path in ("/root/fifo", "/root/to-fifo", "/dev/zero", "/dev/null", "/dev/tty"):
        same(files("GET", 409, path=path)["code"], "not_a_file", path)
        same(files("GET", 409, path=path, headers={"Range": "bytes=0-99"})["code"], "not_a_file", path)
        same(files("PUT", 409, path=path, body=b"x" * 1000)["code"], "not_a_file", path)
    same(files("GET", 409, path="/root/loop")["code"], "link_loop", "a loop")
    same(files("PUT", 409, path="/root/loop", body=b"x")["code"], "link_loop", "a loop")
    same(files("GET", 200, "/stat", path="/root/loop")["target"], "loop", "a loop itself")
    if not files("GET", 200, path="/proc/self/status").startswith(b"Name:\tviv-files\n"):
        problems.append("/proc/self/status")
    same(files("GET", 206, path="/proc/sys/kernel/ostype", headers={"Range": "bytes=0-1"}), b"Li", "a range of a file of /proc")
    same(files("PUT", 403, path="/proc/version", body=b"x")["code"], "denied", "a file of /proc")
    # One that grows while it is read ends where it ended; one that shrinks breaks the connection off.
    run("python3", "-c", "open('/root/grows', 'wb').truncate(60 << 20); open('/root/shrinks', 'wb').truncate(60 << 20)")
    for name, change in (("grows", "truncate -s 70M"), ("shrinks", "truncate -s 1M")):
        c = Unix()
        c.request("GET", f"/v1/cells/work/files?path=/root/{name}")
        r = c.getresponse()
        got = len(r.read(1000))
        shell(f"{change} /root/{name}")
        try:
            while piece := r.read(1 << 20):
                got += len(piece)
            whole = got == 60 << 20
        except http.client.IncompleteRead:
            whole = False
        same(whole, name == "grows", name)
        c.close()
    same(files("GET", 200, "/list", path="/proc/self/fd", recursive=1)[0]["type"], "symlink", "/proc/self/fd")
    lines = files("GET", 200, "/list", path="/proc", recursive=1)
    if len(lines) < 100:
        problems.append(f"/proc: {len(lines)}")


def changes():
    same(files("POST", 201, "/mkdir", path="/root/d", mode=700, uid=1, gid=2)["mode"], "0700", "mode")
    same(shell("stat -c '%a %u %g' /root/d"), b"700 1 2\n", "in the cell")
    same(files("POST", 409, "/mkdir", path="/root/d")["code"], "exists", "code")
    files("POST", 200, "/mkdir", path="/root/d", parents=1)
    same(files("POST", 404, "/mkdir", path="/root/x/y/z")["code"], "not_found", "code")
    files("POST", 201, "/mkdir", path="/root/x/y/z", parents=1)
    files("PUT", 201, path="/root/x/f", body=b"1")
    files("PUT", 201, path="/root/x/g", body=b"2")
    same(files("POST", 409, "/move", from_="/root/x/f", to="/root/x/g", replace=0)["code"], "exists", "code")
    same(files("POST", 200, "/move", from_="/root/x/f", to="/root/x/g")["path"], "/root/x/g", "path")
    same(files("GET", 200, path="/root/x/g"), b"1", "what was moved")
    same(files("POST", 404, "/move", from_="/root/x/f", to="/root/x/h")["code"], "not_found", "code")
    same(files("POST", 400, "/move", from_="/root/x", to="/root/x/y/in")["code"], "invalid", "into itself")
    same(files("POST", 409, "/move", from_="/root/x/g", to="/dev/shm/g")["code"], "other_file_system", "code")
    same(files("DELETE", 409, path="/root/x")["code"], "not_empty", "code")
    shell("mkdir /root/out; echo kept >/root/out/f; ln -s /root/out /root/x/out; ln -s /root/out/f /root/x/y/f; mkdir -p /root/x/many; cd /root/x/many; seq 3000 | xargs touch")
    files("DELETE", 204, path="/root/x", recursive=1)
    same(files("GET", 404, "/stat", path="/root/x")["code"], "not_found", "code")
    same(shell("cat /root/out/f"), b"kept\n", "what links led to")
    same(files("DELETE", 404, path="/root/x", recursive=1)["code"], "not_found", "code")
    for path in ("/", "/root/.", "/root/.."):
        files("DELETE", 409, path=path, recursive=1)
    same(files("DELETE", 403, path="/proc", recursive=1)["code"], "denied", "what cannot be removed")
    files("DELETE", 204, path="/root/d")
    shell("mkdir -p /root/s/sub; ln -s s /root/tos")
    same(files("DELETE", 409, path="/root/tos/", recursive=1)["code"], "not_directory", "a slash behind a link")
    files("DELETE", 204, path="/root/s//", recursive=1)
    same(shell("readlink /root/tos; ls /root/s 2>&1 | wc -l"), b"s\n1\n", "a slash behind a directory")


def tar_make(entries):
    """entries: name, type, and more of tarfile's attributes, and the content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        for name, kind, more in entries:
            i = tarfile.TarInfo(name)
            i.type = kind
            i.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
            data = more.pop("data", b"")
            i.size = len(data)
            for k, v in more.items():
                setattr(i, k, v)
            t.addfile(i, io.BytesIO(data))
    return out.getvalue()


def archives():
    long = "d" * 120 + "/" + "f" * 200
    shell(f"""mkdir -p /root/t/sub/{'d' * 120}; cd /root/t; echo one >one; chmod 4755 one; ln one sub/other; ln -s ../one sub/link; ln -s /etc/passwd out; mkfifo fifo
        mkdir -m 700 private; chown 7:8 private; echo long >'sub/{long}'; touch -d @1000000000 one; mkdir empty; : >'sub/a b'; head -c 3000000 /dev/urandom >bin""")
    run("python3", "-c", "import os; os.setxattr('/root/t/one', 'user.colour', b'red'); os.chown('/root/t/empty', 3000000, 3000000)\nopen(b'/root/t/sub/\\xff', 'w')")
    data = files("GET", 200, "/tar", path="/root/t")
    t = tarfile.open(fileobj=io.BytesIO(data))
    got = {m.name: m for m in t.getmembers()}
    same(sorted(got), sorted(["t", "t/one", "t/out", "t/fifo", "t/private", "t/empty", "t/bin", "t/sub", "t/sub/other", "t/sub/link", "t/sub/a b", "t/sub/\udcff",
                              "t/sub/" + "d" * 120, "t/sub/" + long]), "names")
    linked = {got["t/one"].type, got["t/sub/other"].type}
    same(linked, {tarfile.REGTYPE, tarfile.LNKTYPE}, "a file with two links")
    one = got["t/one"]
    same((one.mode, one.mtime, got["t/private"].mode, got["t/private"].uid, got["t/empty"].uid), (0o4755, 1000000000, 0o700, 7, 3000000), "attributes")
    same((got["t/sub/link"].linkname, got["t/out"].linkname, got["t/fifo"].type), ("../one", "/etc/passwd", tarfile.FIFOTYPE), "links")
    file = one if one.isreg() else got["t/sub/other"]
    same(file.pax_headers.get("SCHILY.xattr.user.colour"), "red", "an extended attribute")
    # GNU tar reads it, and what it packs is read.
    listed = subprocess.run(["tar", "tf", "-"], input=data, capture_output=True)
    same((listed.returncode, listed.stderr), (0, b""), "GNU tar")
    ask("PUT", "/v1/cells/work/files/tar?path=/root/back", 404, data)
    files("POST", 201, "/mkdir", path="/root/back")
    ask("PUT", "/v1/cells/work/files/tar?path=/root/back", 204, data)
    shell("cd /root; diff -r --no-dereference -x fifo t back/t")
    listing = "cd /root/%s; find . -printf '%%p %%m %%U %%G %%y %%n %%l\\n' | sort; stat -c %%Y one private; getfattr -d one 2>/dev/null || true"
    same(shell(listing % "back/t"), shell(listing % "t"), "the same in the cell")
    same(run("python3", "-c", "import os; print(os.getxattr('/root/back/t/one', 'user.colour'))"), b"b'red'\n", "an extended attribute")
    again = subprocess.run(["tar", "--format=gnu", "-C", "/", "-cf", "-", "etc/hostname", "etc/alternatives"], capture_output=True).stdout
    ask("PUT", "/v1/cells/work/files/tar?path=/root/back&uid=5&gid=6", 204, again)
    same(shell("stat -c '%u %g' /root/back/etc/hostname /root/back/etc/alternatives/awk"), b"5 6\n5 6\n", "owners that were given")
    same(tarfile.open(fileobj=io.BytesIO(files("GET", 200, "/tar", path="/root/t/."))).getnames()[0], ".", "the content of a directory")
    same(tarfile.open(fileobj=io.BytesIO(files("GET", 200, "/tar", path="/root/t/one"))).getnames(), ["one"], "a single file")
    files("GET", 404, "/tar", path="/root/none")
    for bad in (b"x" * 2000, data[:3000], b"\x1f\x8b" + b"\0" * 1000, tar_make([("x", b"S", {})])):
        ask("PUT", "/v1/cells/work/files/tar?path=/tmp", 422, bad)


def hostile_tar():
    D, L, H, F = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.REGTYPE
    shell("mkdir /root/in /root/out; echo kept >/root/out/f; ln -s /root/out /root/in/there")
    evil = {"data": b"evil"}

    def put(entries, want):
        return ask("PUT", "/v1/cells/work/files/tar?path=/root/in", want, tar_make(entries))

    put([("../out/f", F, dict(evil))], 409)
    put([("a/../../out/f", F, dict(evil))], 409)
    put([("a", L, {"linkname": "../out"}), ("a/f", F, dict(evil))], 409)
    put([("b", L, {"linkname": "/root/out"}), ("b/f", F, dict(evil))], 409)
    put([("there/f", F, dict(evil))], 409)
    put([("c", L, {"linkname": "/root/out/f"}), ("c", F, dict(evil))], 204)
    put([("d", H, {"linkname": "../out/f"})], 409)
    put([("d", H, {"linkname": "there/f"})], 409)
    put([("there", D, {"mode": 0o777}), ("there/f", F, dict(evil))], 409)
    put([("e", L, {"linkname": "e"}), ("e/f", F, dict(evil))], 409)
    put([("g", D, {}), ("g", L, {"linkname": "/root/out"}), ("g/f", F, dict(evil))], 409)
    # A directory whose path leads to a link when its mode is set.
    put([("h", D, {}), ("i", L, {"linkname": "h"}), ("i/f", D, {"mode": 0o777}), ("j", D, {}), ("j/f", L, {"linkname": "/root/out/f"}), ("i", L, {"linkname": "j"})], 409)
    same(shell("cat /root/out/f; stat -c '%h %a' /root/out/f; ls /root/out; cat /root/in/c"), b"kept\n1 644\nf\nevil", "nothing got out")
    # A leading slash means the directory; links inside of it are followed.
    put([("/abs/x", F, dict(evil)), ("real", D, {}), ("alias", L, {"linkname": "real"}), ("alias", D, {}), ("alias/f", F, dict(evil))], 204)
    same(shell("cat /root/in/abs/x /root/in/real/f; readlink /root/in/alias; ls /abs 2>&1 | wc -l"), b"evilevilreal\n1\n", "inside")
    # Sizes that lie.
    whole = tar_make([("big", F, {"data": b"x" * 1000})])
    for size in (b"77777777777\0", b"\x80" + b"\xff" * 11, b"-1\0         "):
        h = bytearray(whole[:512])
        h[124:136] = size
        h[148:156] = b"        "
        h[148:156] = b"%06o\0 " % sum(h)
        ask("PUT", "/v1/cells/work/files/tar?path=/root/in", 422, bytes(h) + whole[512:])
    same(shell("ls -A /root/in | grep -c big || true"), b"0\n", "half a file")
    # The root itself: links that begin with a slash are its own.
    shell("mkdir /root/lib; ln -s /root/lib /library")
    ask("PUT", "/v1/cells/work/files/tar?path=/", 204, tar_make([("library/f", F, {"data": b"in"})]))
    same(shell("cat /root/lib/f"), b"in", "through an absolute link")


def watch():
    shell("mkdir -p /root/w/sub; echo x >/root/w/old")
    c = Unix()
    c.request("GET", "/v1/cells/work/files/watch?path=/root/w/&recursive=1")
    r = c.getresponse()
    same(json.loads(r.readline()), {"type": "ready", "path": "/root/w"}, "the first line")

    def expect(script, *events):
        shell(script)
        wanted = [e if isinstance(e, tuple) else (e,) for e in events]
        while wanted:
            e = json.loads(r.readline())
            got = (e["type"],) + tuple(name_of(e, k) for k in ("path", "to") if k in e or k + "_base64" in e)
            if got in wanted:
                wanted.remove(got)

    expect("echo 1 >/root/w/f", ("created", b"/root/w/f"), ("modified", b"/root/w/f"))
    expect("chmod 600 /root/w/f", ("attributes", b"/root/w/f"))
    expect("mv /root/w/f /root/w/sub/g", ("moved", b"/root/w/f", b"/root/w/sub/g"))
    expect("mkdir -p /root/w/n/m; echo 1 >/root/w/n/m/f", ("created", b"/root/w/n"), ("created", b"/root/w/n/m"), ("created", b"/root/w/n/m/f"))
    expect("mv /root/w/n /root/w/sub/o; echo 2 >>/root/w/sub/o/m/f", ("moved", b"/root/w/n", b"/root/w/sub/o"), ("modified", b"/root/w/sub/o/m/f"))
    expect("mv /root/w/old /root/elsewhere", ("removed", b"/root/w/old"))
    expect("mv /root/elsewhere /root/w/new", ("created", b"/root/w/new"))
    expect("python3 -c \"open(b'/root/w/\\xff', 'w')\"", ("created", b"/root/w/\xff"))
    files("PUT", 201, path="/root/w/put", body=b"x")
    expect("rm /root/w/put", ("removed", b"/root/w/put"))
    # What goes out of sight stays there, also when something else takes its place.
    expect("mkdir -p /root/w/gone/below", ("created", b"/root/w/gone"), ("created", b"/root/w/gone/below"))
    expect("mv /root/w/gone /root/gone", ("removed", b"/root/w/gone"))
    expect("mkdir /root/w/other", ("created", b"/root/w/other"))
    shell("touch /root/gone/below/f; touch /root/w/other/g")
    event = json.loads(r.readline())
    same((event["type"], event["path"]), ("created", "/root/w/other/g"), "the next event")
    expect("mv /root/gone /root/w/back; touch /root/w/back/below/h", ("created", b"/root/w/back/below/h"))
    # The program that does it is nobody's to change.
    pid = run("pgrep", "viv-files").split()[0].decode()
    same(shell(f"readlink /proc/{pid}/exe; (echo x >/proc/{pid}/exe) 2>&1 | grep -c . ; chmod 777 /proc/{pid}/exe; (echo x >>/proc/{pid}/exe) 2>&1 | grep -c ."),
         b"/memfd:viv-files (deleted)\n1\n1\n", "its file")
    expect("rm -r /root/w", ("removed", b"/root/w/sub/o/m/f"), ("removed", b"/root/w"))
    same(r.read(), b"", "the end")
    c.request("GET", "/v1/cells/work/files/watch?path=/etc/passwd", headers={"Accept": "text/event-stream"})
    r = c.getresponse()
    same((r.getheader("Content-Type"), r.readline(), r.readline()), ("text/event-stream", b'data: {"type":"ready","path":"/etc/passwd"}\n', b"\n"), "server-sent events")
    shell("echo x:x:9:9::/: >>/etc/passwd")
    same(r.readline(), b'data: {"type":"modified","path":"/etc/passwd"}\n', "a file")
    c.close()
    soon("no viv-files is left", lambda: b"viv-files" not in run("ps", "-eo", "comm"))
    same(files("GET", 404, "/watch", path="/none")["code"], "not_found", "code")


def stranger():
    """In its cell viv-files is at the mercy of others: what they say in its place is told as far as it has a form, and then the stream breaks."""
    shell("mkdir /root/w")
    speak = """if 1:
        import glob, os, struct, sys
        def frame(kind, body=b'', size=None):
            return struct.pack('=cxxxI', kind, len(body) if size is None else size) + body
        def record(path, event=2, length=None):
            return frame(b'r', struct.pack('=QQqqIIIIQQIIiIIxxxx', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, event, 0, 0, len(path) if length is None else length, 0) + path)
        def name(p):
            try: return open('/proc/' + p + '/comm').read()
            except OSError: return '' # it has just ended
        pid, = [p for p in os.listdir('/proc') if p.isdigit() and name(p) == 'viv-files\\n']
        os.write(os.open('/proc/' + pid + '/fd/1', os.O_WRONLY), eval(sys.argv[1]))
    """
    rest = " + record(b'/behind') + frame(b'z')"
    for evil in ("frame(b'r', size=2**32 - 1)", "frame(b'r')", "frame(b'd', size=0)", "frame(b'd', b'x')", "frame(b'd', size=2**32 - 1)", "frame(b'z', b'x')", "frame(b'q')",
                 "frame(b'z')", "record(b'/x', event=99)", "record(b'/x', length=2**32 - 1)", "record(b'/x', length=1)", "frame(b'e', struct.pack('=iiQ', 2, 0, 0))"):
        c = Unix()
        c.request("GET", "/v1/cells/work/files/watch?path=/root/w")
        r = c.getresponse()
        got = [json.loads(r.readline())]
        run("python3", "-c", speak, "record(b'/told') + " + evil + rest)
        try:
            got += [json.loads(line) for line in r.read().splitlines()] + ["the end"]
        except http.client.IncompleteRead as e:
            got += [json.loads(line) for line in e.partial.splitlines()]
        c.close()
        # An end in its proper form is believed.
        same([e["path"] if isinstance(e, dict) else e for e in got], ["/root/w", "/told"] + ["the end"] * (evil == "frame(b'z')"), evil)
        soon("it has ended", lambda: b"viv-files" not in run("ps", "-eo", "comm"))


def ended():
    """A cell that ends meanwhile, and a user that is not there: told as what they are, whoever is the first to notice."""
    for i in range(12):
        s = upload_begin("/root/half", 1000000, b"x" * 100000)
        soon("viv-files runs", lambda: b"viv-files" in run("ps", "-eo", "comm"))
        ask("POST", "/v1/cells/work/stop", 200, json.dumps({"grace": 0}))
        s.sendall(b"x" * 900000)
        answer = http.client.HTTPResponse(s)
        answer.begin()
        same((answer.status, json.loads(answer.read())["code"]), (409, "ended"), "the cell was ended")
        s.close()
        ask("POST", "/v1/cells/work/start", 200)
        same(files("GET", 404, path="/root/half")["code"], "not_found", "half a file")
        same(files("GET", 404, "/list", path="/root", user="nobody-there")["message"],
             "--user nobody-there: the cell's /etc/passwd has no such user", "a user that is not there")


def upload_begin(path, size, first, cell="work"):
    """A connection with a PUT that has begun."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(180)
    s.connect(SOCKET)
    s.sendall(f"PUT /v1/cells/{cell}/files?path={path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode() + first)
    return s


def vanished():
    """A cell whose name goes out of the store while somebody uses its files."""
    ask("POST", "/v1/cells", 201, json.dumps({"name": "gone"}))
    s = upload_begin("/root/f", 10, b"half ", cell="gone")
    files("GET", 404, "/stat", path="/root/f", cell="gone")
    os.unlink(os.path.join(os.environ["XDG_DATA_HOME"], "vivarium/cells/gone"))
    ask("GET", "/v1/cells/gone", 200)
    s.sendall(b"whole")
    answer = http.client.HTTPResponse(s)
    answer.begin()
    same(answer.status, 201, "the upload")
    s.close()
    soon("it is gone", lambda: raw("GET", "/v1/cells/gone")[0].status == 404)


def stopped():
    run("sh", "-c", "echo before >/root/f")
    ask("POST", "/v1/cells/work/stop", 200)
    events = len(ask("GET", "/v1/events?since=0&follow=0", 200))
    same(files("GET", 200, path="/root/f"), b"before\n", "read")
    files("PUT", 200, path="/root/f", body=b"after\n")
    files("POST", 201, "/mkdir", path="/root/d")
    same(files("GET", 404, path="/root/none")["code"], "not_found", "code")
    same(tarfile.open(fileobj=io.BytesIO(files("GET", 200, "/tar", path="/root/d"))).getnames(), ["d"], "tar")
    same(ask("GET", "/v1/cells/work", 200)["state"], "stopped", "its state")
    same(len(ask("GET", "/v1/events?since=0&follow=0", 200)), events, "events")
    # The disk is free when the answer has come.
    for i in range(4):
        files("PUT", 200, path="/root/f", body=b"%d" % i)
        out = subprocess.run([VIV, "run", "--name", "work", "--", "cat", "/root/f"], capture_output=True)
        same((out.returncode, out.stdout, out.stderr), (0, b"%d" % i, b""), "a run after it")
        # A run that is over before vivd has met its keeper leaves the state that the cell had.
        soon("vivd sees that it has ended", lambda: ask("GET", "/v1/cells/work", 200)["state"] in ("stopped", "completed"))
    # Several at once.
    threads = [threading.Thread(target=files, args=("PUT", 201), kwargs={"path": f"/root/n{i}", "body": b"x"}) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    same(len(files("GET", 200, "/list", path="/root/")) >= 10, True, "all of them")
    same(files("GET", 409, "/watch", path="/root")["code"], "wrong_state", "a watch")
    # A start waits for an operation that is under way; removing does not.
    s = upload_begin("/root/slow", 2000, b"1" * 1000)
    soon("the upload has begun", lambda: ask_status("DELETE", "/v1/cells/work") == 409)
    starts = threading.Thread(target=ask, args=("POST", "/v1/cells/work/start", 200))
    starts.start()
    soon("it is starting", lambda: ask("GET", "/v1/cells/work", 200)["state"] == "starting")
    s.sendall(b"2" * 1000)
    same(s.recv(100).split()[1], b"201", "the upload")
    starts.join()
    same(run("cat", "/root/slow"), b"1" * 1000 + b"2" * 1000, "in the cell")
    # One without a name keeps nothing.
    other = ask("POST", "/v1/cells", 201, json.dumps({"start": True}))["id"]
    ask("POST", f"/v1/cells/{other}/stop", 200)
    same(files("GET", 409, path="/etc/passwd", cell=other)["code"], "wrong_state", "without a name")
    ask("POST", "/v1/cells/work/stop", 200)
    # vivd is killed in the middle: the old file is there, and nothing else.
    s = upload_begin("/root/f", 9_000_000, b"z" * 4_000_000)
    soon("the upload has begun", lambda: ask_status("DELETE", "/v1/cells/work") == 409)
    pid = json.loads(raw("GET", "/v1/version")[1])["pid"]
    os.kill(pid, 9)
    soon("vivd is gone", lambda: gone(pid))
    s.close()
    subprocess.run([VIV, "daemon", "start"], check=True)
    got = []

    def again():  # what the killed one had started gives the disk back a little later
        r, out = raw("GET", "/v1/cells/work/files?path=/root/f")
        got[:] = [r.status, out]
        return r.status == 200

    soon("a new vivd can use it", again)
    same(got[1], b"3", "the file")
    same(sorted(name_of(e) for e in files("GET", 200, "/list", path="/root") if b".viv" in name_of(e)), [], "what is left of it")


def ask_status(method, path):
    return raw(method, path)[0].status


def cp(*words, want=0, data=None):
    out = subprocess.run([VIV, "cp", *words], input=data, capture_output=True)
    if out.returncode != want:
        problems.append(f"viv cp {words}: exit status {out.returncode}, wanted {want}: {out.stderr[:300]!r}")
    if not want:
        same(out.stderr, b"", f"viv cp {words}")
    return out.stdout


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def tree(top):
    """Everything below a local directory, as text."""
    return sorted(os.path.relpath(os.path.join(d, n), top) for d, dirs, names in os.walk(top) for n in dirs + names)


def copies():
    """docker's rules for cp, in both directions."""
    write("src/one", b"1")
    write("src/sub/two", b"2")
    os.symlink("one", "src/link")
    os.chmod("src/one", 0o750)
    os.utime("src/one", (1000000000, 1000000000))
    # In: a file.
    cp("src/one", "work:/root/new")
    cp("src/one", "work:/root/")
    cp("src/one", "work:root")
    same(shell("cat /root/new /root/one; stat -c '%a %u %g %Y' /root/one"), b"11750 0 0 1000000000\n", "a file")
    cp("src/sub/two", "work:/root/new")
    same(shell("cat /root/new"), b"2", "over a file")
    cp("src/one", "work:/root/none/", want=3)
    cp("src/one", "work:/none/x", want=3)
    cp("src/none", "work:/root", want=3)
    shell("ln -s new /root/ln; mkdir /root/real; ln -s real /root/lndir")
    cp("src/one", "work:/root/ln")
    cp("src/one", "work:/root/lndir")
    same(shell("readlink /root/ln; cat /root/new; readlink /root/lndir; cat /root/real/one"), b"new\n1real\n1", "onto links")
    # In: a directory.
    cp("src", "work:/root/d")
    cp("src/", "work:/root/d")
    cp("src/.", "work:/root/e")
    cp("src/.", "work:/root/e")
    same(shell("cd /root/d; find . | sort | tr '\\n' ' '"), b". ./link ./one ./src ./src/link ./src/one ./src/sub ./src/sub/two ./sub ./sub/two ", "a directory")
    same(shell("cd /root/e; find . | sort | tr '\\n' ' '; readlink link"), b". ./link ./one ./sub ./sub/two one\n", "its content")
    cp("src", "work:/root/new", want=5)
    cp("src/link", "work:/root/l1")
    cp("-L", "src/link", "work:/root/l2")
    same(shell("readlink /root/l1; cat /root/l2"), b"one\n1", "a link")
    if os.geteuid() == 0:
        os.chown("src/one", 12, 34)
        cp("-a", "src/one", "work:/root/owned")
        same(shell("stat -c '%u %g' /root/owned"), b"12 34\n", "owners")
    # Out.
    shell("chown -R 12:34 /root/d")
    cp("work:/root/one", "out1")
    os.mkdir("dir")
    cp("work:/root/one", "dir")
    cp("work:/root/one", "./dir/other")
    same((open("out1").read(), tree("dir")), ("1", ["one", "other"]), "a file")
    same((os.stat("out1").st_mode & 0o777, os.stat("out1").st_mtime, os.stat("out1").st_uid), (0o750, 1000000000, os.geteuid()), "its attributes")
    cp("work:/root/one", "none/", want=3)
    cp("work:/root/one", "none/x", want=3)
    cp("work:/root/nothing", "x", want=3)
    cp("nobody:/root/one", "x", want=3)
    cp("work:/root/e", "out1", want=5)
    cp("work:/root/e", "new")
    cp("work:/root/e", "dir")
    os.mkdir("dir2")
    cp("work:/root/e/.", "dir2")
    cp("work:/root/e/.", "new2")
    inside = ["link", "one", "sub", "sub/two"]
    same((tree("new"), tree("dir2"), tree("new2")), (inside, inside, inside), "a directory")
    same(tree("dir"), ["e"] + ["e/" + x for x in inside] + ["one", "other"], "into a directory")
    same((os.readlink("new/link"), open("new/sub/two").read()), ("one", "2"), "what is in it")
    cp("work:/root/lndir", "link1")
    cp("-L", "work:/root/lndir", "link2")
    same((os.readlink("link1"), tree("link2")), ("real", ["one"]), "links")
    if os.geteuid() == 0:
        cp("-a", "work:/root/d", "owned")
        same((os.stat("owned/one").st_uid, os.stat("owned/one").st_gid), (12, 34), "owners")
    # Archives.
    data = cp("work:/root/e", "-")
    same(sorted(tarfile.open(fileobj=io.BytesIO(data)).getnames()), ["e"] + ["e/" + x for x in inside], "out as an archive")
    cp("-", "work:/root/real", data=data)
    same(shell("cat /root/real/e/sub/two"), b"2", "in as an archive")
    cp("-", "work:/root/one", data=data, want=3)
    cp("-", "work:/root/real", data=b"x" * 1000, want=2)
    # A cell that wants to get out of the directory.
    shell(f"mkdir /root/evil; ln -s {os.getcwd()}/dir2 /root/evil/there")
    cp("work:/root/evil", "evil")
    shell("rm /root/evil/there; mkdir /root/evil/there; echo evil >/root/evil/there/one")
    cp("work:/root/evil/.", "evil", want=1)
    same((open("dir2/one").read(), os.readlink("evil/there")), ("1", os.getcwd() + "/dir2"), "through a link")
    # Names with every byte, and big ones.
    odd = b"odd/" + bytes(range(1, 47)) + bytes(range(48, 180))
    write(odd, b"odd")
    write("odd/big", os.urandom(5_000_000))
    cp("odd", "work:/root")
    cp("work:/root/odd", "back")
    same((open(b"back/" + odd[4:], "rb").read(), open("back/big", "rb").read() == open("odd/big", "rb").read()), (b"odd", True), "odd names")
    # One that does not run.
    ask("POST", "/v1/cells/work/stop", 200)
    cp("src/one", "work:/root/stopped")
    cp("work:/root/stopped", "stopped")
    same(open("stopped").read(), "1", "a cell that does not run")
    for bad in (("a",), ("a", "b"), ("work:/a", "work:/b"), ("--what", "work:/a", "b"), ("-", "-")):
        cp(*bad, want=2)


def hostile_cp():
    """What a cell says is a stranger's: a vivd that gives 'viv cp' any archive."""
    F, D, L, C = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE
    answers = {}

    class Vivd(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = answers["tar" if "/files/tar?" in self.path else "stat"]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def address_string(self):
            return "unix"

        def log_message(self, *words):
            pass

    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True

    server = Server("vivd", Vivd)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def fake_cp(kind, entries, *words, want=0):
        answers["stat"] = json.dumps({"path": "/x", "type": kind}).encode()
        answers["tar"] = tar_make(entries)
        out = subprocess.run([VIV, "cp", *words], capture_output=True, env={**os.environ, "VIVARIUM_SOCKET": os.path.abspath("vivd")})
        same(out.returncode, want, f"viv cp {words}: {out.stderr[:300]!r}")
        return out.stderr

    evil = {"data": b"evil"}
    os.mkdir("home")
    write("home/.profile", b"mine")
    write("secret", b"mine")
    os.chmod("secret", 0o600)
    # One name was asked for, and others come, to be put beside it.
    fake_cp("file", [(".profile", F, dict(evil)), (".ssh/keys", F, dict(evil))], "work:/root/f", "home", want=1)
    fake_cp("file", [("f", F, dict(evil)), (".profile", F, dict(evil))], "work:/root/f", "home")
    fake_cp("directory", [("d", D, {}), ("d/x", F, dict(evil)), (".ssh/keys", F, dict(evil))], "work:/root/d/", "home")
    same((tree("home"), open("home/.profile").read()), ([".profile", "d", "d/keys", "d/x", "f"], "mine"), "beside what was asked for")
    # A directory whose path leads to a link when its mode is set.
    fake_cp("directory", [("d/h", D, {}), ("d/i", L, {"linkname": "h"}), ("d/i/f", D, {"mode": 0o777}), ("d/j", D, {}),
                          ("d/j/f", L, {"linkname": os.path.abspath("secret")}), ("d/i", L, {"linkname": "j"})], "work:/root/d", "home", want=1)
    same(os.stat("secret").st_mode & 0o7777, 0o600, "a mode through a link")
    # Nothing that gives rights.
    fake_cp("directory", [("r", D, {"mode": 0o2755}), ("r/f", F, {"data": b"x", "mode": 0o6755})], "work:/r", "home")
    same((os.stat("home/r").st_mode & 0o7777, os.stat("home/r/f").st_mode & 0o7777), (0o755, 0o755), "modes")
    fake_cp("file", [("null", C, {"mode": 0o666, "devmajor": 1, "devminor": 3})], "work:/null", "home", want=1)
    same(os.path.lexists("home/null"), False, "a device")
    # Nor does it steer the terminal.
    said = fake_cp("directory", [("d/../\x1b]0;evil\x07\n", F, dict(evil))], "work:/root/d", "home", want=1)
    same([c for c in said if c < 32], [10], "control characters")
    server.shutdown()


def rights():
    files("PUT", 201, path="/root/f", body=b"x")
    other = ask("POST", "/v1/cells", 201, json.dumps({"start": True}))["id"]
    token = {n: {"Authorization": "Bearer " + ask("POST", "/v1/tokens", 201, json.dumps(b))["token"]}
             for n, b in (("read", {"scope": "read"}), ("cell", {"scope": "cell", "cell": "work"}))}
    same(files("GET", 200, path="/root/f", headers=token["read"]), b"x", "read scope")
    files("GET", 200, "/list", path="/root", headers=token["read"])
    for method, what, values in (("PUT", "", {"path": "/root/f"}), ("DELETE", "", {"path": "/root/f"}), ("POST", "/mkdir", {"path": "/root/d"}),
                                 ("POST", "/move", {"from_": "/root/f", "to": "/root/g"})):
        same(files(method, 403, what, headers=token["read"], **values)["code"], "forbidden", f"{method} with the read scope")
    files("PUT", 200, path="/root/f", body=b"y", headers=token["cell"])
    same(files("GET", 404, path="/etc/passwd", cell=other, headers=token["cell"])["code"], "not_found", "another's cell")
    same(files("PUT", 404, path="/root/f", body=b"z", cell=other, headers=token["cell"])["code"], "not_found", "another's cell")
    files("GET", 404, path="/root/f", cell="nobody")
    ask("POST", "/v1/cells/work/pause", 200)
    same(files("GET", 409, path="/root/f")["code"], "wrong_state", "a paused cell")
    ask("POST", "/v1/cells/work/resume", 200)
    # Nobody asked for these processes.
    same(ask("GET", "/v1/cells/work/processes", 200)["processes"], [], "processes")
    same([e["type"] for e in ask("GET", "/v1/events?since=0&follow=0", 200) if e["type"].startswith("process")], [], "events")
    ask("DELETE", f"/v1/cells/{other}?force=1", 204)


def stored():
    token = {n: {"Authorization": "Bearer " + ask("POST", "/v1/tokens", 201, json.dumps(b))["token"]}
             for n, b in (("read", {"scope": "read"}), ("cell", {"scope": "cell", "cell": "work"}))}
    # Nothing of processes and devices, whatever way leads there; all of it for others.
    shell("""cd /root; ln -s /proc/1/environ l; ln -s /proc p; mkdir m n t; touch t/a
        mount -t proc proc m; mount --bind /proc n; mkdir t/m; mount -t proc proc t/m""")
    for what, path in (("", "/proc/1/environ"), ("", "/proc/self/environ"), ("", "/root/l"), ("", "/root/p/1/environ"), ("", "/root/m/1/environ"), ("", "/root/n/1/maps"),
                       ("", "/sys/kernel/mm/transparent_hugepage/enabled"), ("/stat", "/proc/1/environ"), ("/list", "/proc/1"), ("/list", "/root/p"), ("/list", "/dev"),
                       ("/list", "/sys"), ("/tar", "/proc/1"), ("/tar", "/root/m/."), ("/tar", "/dev"), ("/watch", "/proc"), ("/list", "/dev/pts")):
        said = files("GET", 403, what, path=path, headers=token["read"])
        same(said["code"], "forbidden", f"{what} of {path} with the read scope")
        if what not in ("/watch", "/tar"):
            files("GET", 200, what, path=path, headers=token["cell"])
    for path in ("/proc/self/root/root/f", "/proc/self/cwd", "/proc/self/fd/0"):
        same(files("GET", 409, path=path, headers=token["read"])["code"], "link_loop", f"{path} with the read scope")
    same(files("GET", 403, "/tar", path="/root/p", follow=1, headers=token["read"])["code"], "forbidden", "a link to /proc, followed")
    with tarfile.open(fileobj=io.BytesIO(files("GET", 200, "/tar", path="/root/t", headers=token["read"]))) as t:
        same(sorted(t.getnames()), ["t", "t/a"], "a tree with a mount of proc in it")
    shell("cd /root; umount m n t/m; rm -r l p m n t")


ask("POST", "/v1/cells", 201, json.dumps({"name": "work", "start": True}))
globals()[STEP](*sys.argv[4:])
ask("DELETE", "/v1/cells/work?force=1", 204)
for p in problems:
    print(p)
sys.exit(1 if problems else 0)
