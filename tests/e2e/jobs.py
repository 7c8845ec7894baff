#!/usr/bin/env python3
"""Long work of vivd whose client goes away, or never reads: jobs.py SOCKET STORE.

An import that breaks off at any byte, a commit and an export whose client closes the connection: no image, no tag, no work in progress and no process is
left, vivd answers as before, and its memory does not grow with what nobody reads."""

import http.client
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import time

SOCKET, STORE = sys.argv[1:3]
wrong = []


class Unix(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("vivd")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(180)
        self.sock.connect(SOCKET)


def call(method, path, body=None):
    c = Unix()
    c.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body))
    r = c.getresponse()
    out = r.read()
    c.close()
    return r.status, out


def archive(count, size):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for i in range(count):
            info = tarfile.TarInfo(f"d/{i}")
            info.size = size
            t.addfile(info, io.BytesIO(os.urandom(size)))
    return out.getvalue()


def listing(name):
    try:
        return os.listdir(f"{STORE}/{name}")
    except FileNotFoundError:
        return []


def helpers(pid):
    """The processes that vivd has started for jobs."""
    out = subprocess.run(["ps", "--ppid", str(pid), "-o", "stat=,comm="], capture_output=True, text=True).stdout
    return [line for line in out.splitlines() if "viv-store" in line or "viv-keeper" in line]


def soon(condition, what):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            wrong.append(what)
            return
        time.sleep(0.02)


def quiet(pid, what, images):
    soon(lambda: not helpers(pid), f"{what}: a process is left: {helpers(pid)}")
    soon(lambda: not listing("tmp"), f"{what}: work is left: {listing('tmp')}")
    if sorted(listing("images")) != images:
        wrong.append(f"{what}: images {listing('images')}")
    if call("GET", "/v1/version")[0] != 200:
        wrong.append(f"{what}: vivd does not answer")


def cut_imports(pid):
    data = archive(200, 8000)
    # At the begin, within an entry, at the border of one, and with all bytes but the last.
    for at in (0, 1, 700, 512 + 8192, 300000, len(data) - 1, len(data)):
        for length in (len(data) + 1, None):
            c = Unix()
            c.connect()
            head = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
            c.sock.sendall(f"PUT /v1/images?tag=cut HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
            part = data[:at]
            c.sock.sendall(part if length else b"%x\r\n%s\r\n" % (at, part) if at else b"")
            time.sleep(0.05)
            c.close()
            quiet(pid, f"an import cut at {at}", [])


def cut_answers(pid):
    status, out = call("PUT", "/v1/images?tag=whole", archive(400, 20000))
    images = [json.loads(out)["id"]]
    if call("POST", "/v1/cells", {"name": "c", "image": "whole"})[0] != 201:
        wrong.append("no cell")
    for method, path, body in (("GET", "/v1/images/whole/tar", None), ("GET", "/v1/images/whole/tar?format=oci-archive", None), ("POST", "/v1/cells/c/commit", {"tag": "cut"}),
                               ("POST", "/v1/cells/c/commit", {"tag": "cut", "progress": True}), ("POST", "/v1/images/verify", {}), ("GET", "/v1/cells/c/diff", None)):
        for wait in (0, 0.01):
            c = Unix()
            c.request(method, path, json.dumps(body) if body else None)
            time.sleep(wait)
            c.close()
            soon(lambda: not helpers(pid), f"{method} {path}: a process is left")
            # It may have been done before its client was missed: then all of it.
            call("DELETE", "/v1/images/cut")
            quiet(pid, f"{method} {path} that is cut", images)
    # One that does not read is not read for.
    for query, entries in (("", 402), ("?format=oci-archive", 8)):
        c = Unix()
        c.request("GET", "/v1/images/whole/tar" + query)
        soon(lambda: helpers(pid), "nobody exports")
        time.sleep(0.5)
        if not helpers(pid):
            wrong.append("an export whose client does not read was read to its end")
        r = c.getresponse()
        with tarfile.open(fileobj=io.BytesIO(r.read())) as t:
            if len(t.getnames()) != entries:
                wrong.append(f"an export{query} that waited is not whole: {len(t.getnames())}")
        c.close()


def many():
    """There is a bound, and beyond it an answer that says so."""
    conns = []
    for _ in range(40):
        c = Unix()
        c.connect()
        c.sock.sendall(b"PUT /v1/images HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        conns.append(c)
    told = []

    def refused():
        told[:] = call("POST", "/v1/images/verify", {})
        return told[0] == 503 and json.loads(told[1])["code"] == "busy"

    soon(refused, f"the job after the last that may run: {told}")
    for c in conns:
        c.close()
    soon(lambda: call("POST", "/v1/images/verify", {})[0] == 200, "no job can run any more")


pid = json.loads(call("GET", "/v1/version")[1])["pid"]
cut_imports(pid)
cut_answers(pid)
many()
for line in wrong:
    print(line)
sys.exit(1 if wrong else 0)
