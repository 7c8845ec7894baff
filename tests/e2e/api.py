#!/usr/bin/env python3
"""The API against its own document: api.py VIVD SOCKET.

Every route of the server's table is in the document and the reverse; every operation is used, its status is one that the document
names for it, and its body is what the document's schema says. The steps below are one walk through the API."""

import http.client
import json
import re
import socket
import subprocess
import sys

import jsonschema


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("vivd")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


VIVD, SOCKET = sys.argv[1:3]
used = set()
problems = []


def raw(method, path, body=None, headers=None):
    c = Unix(SOCKET)
    data = json.dumps(body) if body is not None else None
    c.request(method, path, data, headers or {})
    r = c.getresponse()
    out = r.read()
    c.close()
    return r, out


def document():
    r, out = raw("GET", "/v1/openapi.json")
    assert r.status == 200, out
    return json.loads(out)


doc = document()


def operation(method, path):
    """The operation of the document that a request is for."""
    path = path.split("?")[0]
    best = None
    for template, ops in doc["paths"].items():
        pattern = "^" + re.sub(r"\\{[a-z]+\\}|\{[a-z]+\}", "[^/]+", re.escape(template).replace(r"\{", "{").replace(r"\}", "}")) + "$"
        if re.match(pattern, path) and method.lower() in ops:
            if best is None or template.count("{") < best[0].count("{"):
                best = (template, ops[method.lower()])
    return best


def check(schema, value, what):
    full = {**schema, "components": doc["components"]}
    for e in jsonschema.Draft202012Validator(full).iter_errors(value):
        problems.append(f"{what}: {e.message[:200]} at {list(e.absolute_path)}")


def call(method, path, body=None, want=None, headers=None):
    """One request, checked; its body as JSON, a list of objects for NDJSON, or text."""
    r, out = raw(method, path, body, headers)
    what = f"{method} {path}: {r.status}"
    found = operation(method, path)
    if not found:
        problems.append(f"{what}: the document has no such operation")
        return None
    template, op = found
    if r.status < 300:
        used.add((method, template))
    if want is not None and r.status != want:
        problems.append(f"{what}, wanted {want}: {out[:300]!r}")
    answer = op["responses"].get(str(r.status))
    if answer is None:
        problems.append(f"{what}: the document does not name this status")
        return None
    kind = (r.getheader("Content-Type") or "").split(";")[0]
    if r.status == 204:
        return None
    content = answer.get("content", {}).get(kind)
    if content is None:
        problems.append(f"{what}: the document does not name the type {kind!r}")
        return None
    if body is not None and r.status < 300 and "requestBody" in op:
        check(op["requestBody"]["content"]["application/json"]["schema"], body, what + " (request)")
    if kind == "application/json":
        value = json.loads(out)
        check(content["schema"], value, what)
        return value
    if kind == "application/x-ndjson":
        lines = [json.loads(line) for line in out.splitlines() if line.strip()]
        for line in lines:
            check(content["schema"], line, what)
        return lines
    return out.decode("utf-8", "replace")


def routes_compare():
    table = set(subprocess.run([VIVD, "--routes"], capture_output=True, text=True, check=True).stdout.splitlines())
    documented = {f"{m.upper()} {p}" for p, ops in doc["paths"].items() for m in ops}
    for x in sorted(table - documented):
        problems.append(f"not in the document: {x}")
    for x in sorted(documented - table):
        problems.append(f"not in the server: {x}")


def about():
    call("GET", "/v1/version", want=200)
    call("GET", "/v1/openapi.json", want=200)
    text = call("GET", "/metrics", want=200)
    for line in text.splitlines():
        if not re.match(r"^(# (HELP|TYPE) vivarium_\w+ .+|vivarium_\w+(\{[^}]*\})? [-+0-9.eE]+)$", line):
            problems.append(f"/metrics: {line!r}")
    call("GET", "/v1/version", want=400, body={})


def tokens():
    t = call("POST", "/v1/tokens", {"scope": "read", "name": "one", "expires_in": 60}, 201)
    call("GET", "/v1/tokens", want=200)
    call("GET", f"/v1/tokens/{t['id']}", want=200)
    call("GET", "/v1/tokens/nobody", want=404)
    read = {"Authorization": "Bearer " + t["token"]}
    call("GET", "/v1/version", want=200, headers=read)
    call("GET", "/v1/tokens", want=403, headers=read)
    call("DELETE", f"/v1/tokens/{t['id']}", want=204)
    call("DELETE", f"/v1/tokens/{t['id']}", want=404)
    call("GET", "/v1/version", want=401, headers=read)
    for bad in ({}, {"scope": "all"}, {"scope": "cell"}, {"scope": "read", "more": 1}, {"scope": 1}, [], "x",
                {"scope": "read", "name": "n" * 65}, {"scope": "read", "expires_in": -1}, {"scope": "read", "expires_in": 1e99}):
        call("POST", "/v1/tokens", bad, 400)
    call("POST", "/v1/tokens", {"scope": "cell", "cell": "nobody"}, 404)


def events():
    lines = call("GET", "/v1/events?since=0&follow=0", want=200)
    numbers = [e["seq"] for e in lines if "seq" in e]
    if not numbers or numbers != sorted(numbers):
        problems.append(f"events are not in order: {numbers[:20]}")
    for bad in ("since=x", "since=-1", "since=99999999999999999999", "other=1", "follow=2", "since=%zz"):
        call("GET", "/v1/events?" + bad, want=400)


def main():
    routes_compare()
    about()
    tokens()
    for step in MORE:
        step()
    events()
    for path, ops in doc["paths"].items():
        for method in ops:
            if (method.upper(), path) not in used:
                problems.append(f"never used with success: {method.upper()} {path}")
    for p in problems:
        print(p)
    print(f"{len(used)} operations used")
    sys.exit(1 if problems else 0)


MORE = []

if __name__ == "__main__":
    main()
