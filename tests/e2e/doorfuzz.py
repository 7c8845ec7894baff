#!/usr/bin/env python3
"""Malformed requests to vivd's API from inside a cell that may make cells: doorfuzz.py OPENAPI COUNT SEED DECOY...

Each request begins as a valid one of a route that cells may use, with values made from its schema, and is then damaged in at least one place:
the cell's name, the path, the query, the types and bytes of the body, the headers, where the body ends, how it is cut into writes; several may be
sent in one go. The same seed gives the same requests.

vivd must answer each whole request once and in order, with 2xx, 4xx or 503 (too much at once), or close the connection; it must not name a DECOY, the
id or name of a cell of another family; and it must answer an ordinary request after each lot."""
import json
import random
import select
import sys
from urllib.parse import quote

sys.path.insert(0, __file__.rpartition("/")[0])
from subcells import OURS, call, connect  # noqa: E402

API, COUNT, SEED, DECOYS = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
rnd = random.Random(SEED)
ROUTES = sorted(OURS)
# These answer bit by bit, or when something happens, or need a cell that is not paused: nobody waits for it.
ENDLESS = ("/wait", "/watch", "/exec", "/attach", "/events", "/logs", "/snapshots", "/fork", "/rollback", "POST /v1/cells/{cell}/sessions")
LOT = 100

NAMES = ["", ".", "..", "../..", "kid/../kid", "%", "%2", "%zz", "%00", "kid%00", "%2e%2e%2f", "kid%2Fexec", "%c0%af", "\xff\xfe", "KID", "kid ", "kid?",
         "kid#x", "kid'", "kid'--", "%27%20OR%201=1", "%s%s%n", "%25s%25n", "-kid", "kid." + "0" * 16, "a" * 65, "a" * 5000, "\u0130", "k\u0131d", "*", "0000", "{cell}",
         "kid;x", "$(id)", "kid%0d%0aX: y", "kid\t", "..%5c", "None", "null", "18446744073709551616", "-1", "1e3"]
TEXTS = ["", "x", "a" * 300, "a" * 9000, "\0", "a\0b", "\ud800", "\u202e", "../../etc/shadow", "/", "//", "/proc/self/fd/3", "/..", "%n%s", "'; DROP TABLE cells;--", "\n", "a=b",
         "=", "-1", "0", "1e999", "nan", "true", "sha256:", "host", "s3://x/y", "0:80", "within", "use parent", "allow cells *", "allow net *\nallow files *", "root:root", "4294967296"]
NUMBERS = ["0", "-0", "-1", "1", "0.5", "-0.0001", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
           "1" * 400, "1e308", "1e309", "-1e309", "1E-400", "0x10", "01", "+1", ".5", "1.", "NaN", "Infinity"]
VALUES = [None, True, False, [], {}, [[]], [None], {"": None}, {"a": {"b": {}}}, "", 0, -1, 1.5]


class Raw:
    """A piece of JSON as it is to stand there."""

    def __init__(self, text):
        self.text = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def schema_of(s):
    while "$ref" in s:
        at = API
        for part in s["$ref"][2:].split("/"):
            at = at[part]
        s = at
    return s


def value_of(s, deep=0):
    s = schema_of(s)
    for many in ("oneOf", "anyOf", "allOf"):
        if many in s:
            return value_of(rnd.choice(s[many]), deep)
    if "enum" in s:
        return rnd.choice(s["enum"])
    kind = s.get("type", "string")
    if isinstance(kind, list):
        kind = rnd.choice(kind)
    if kind == "object":
        out = {}
        for name, of in s.get("properties", {}).items():
            if name in s.get("required", []) or rnd.random() < (0.2 if deep else 0.15):
                out[name] = value_of(of, deep + 1)
        if isinstance(s.get("additionalProperties"), dict) and rnd.random() < 0.5:
            out[rnd.choice(["K", "a.b", "PATH"])] = value_of(s["additionalProperties"], deep + 1)
        return out
    if kind == "array":
        return [value_of(s.get("items", {}), deep + 1) for _ in range(rnd.randrange(3))]
    if kind in ("integer", "number"):
        least = int(s.get("minimum", 0))
        return rnd.randint(least, max(least, int(min(s.get("maximum", least + 100), 1 << 40))))
    if kind == "boolean":
        return rnd.random() < 0.5
    return rnd.choice(["true", "kid", "x", "/tmp", "host"])


def hostile():
    kind = rnd.random()
    if kind < 0.3:
        return rnd.choice(TEXTS)
    if kind < 0.55:
        return Raw(rnd.choice(NUMBERS))
    if kind < 0.6:
        n = rnd.choice([3, 60, 1000, 2048, 5000])
        return Raw("[" * n + "]" * n if rnd.random() < 0.5 else '{"a":' * n + "1" + "}" * n)
    if kind < 0.65:
        return Raw(rnd.choice([b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b'"\xf4\x90\x80\x80"', b'"\\x"', b'"\x01"', b'"']))
    if kind < 0.7:
        return ["x"] * rnd.choice([5, 70, 5000])
    return rnd.choice(VALUES)


def damage(v):
    """Some place of a value becomes something else."""
    if isinstance(v, dict) and v and rnd.random() < 0.8:
        k = rnd.choice(sorted(v))
        kind = rnd.random()
        if kind < 0.7:
            return v | {k: damage(v[k])}
        if kind < 0.8:
            return {n: x for n, x in v.items() if n != k}
        return v | {rnd.choice([k + " ", k.upper(), "x" * 100, "", k + "\0", "parent", "id", "update"]): v[k]}
    if isinstance(v, list) and v and rnd.random() < 0.6:
        i = rnd.randrange(len(v))
        return v[:i] + [damage(v[i])] + v[i + 1:]
    return hostile()


def dump(v):
    if isinstance(v, Raw):
        return v.text
    if isinstance(v, dict):
        parts = [dump(k) + b":" + dump(x) for k, x in v.items()]
        if parts and rnd.random() < 0.05:
            parts.append(rnd.choice(parts))  # a key twice
        return b"{" + b",".join(parts) + b"}"
    if isinstance(v, list):
        return b"[" + b",".join(dump(x) for x in v) + b"]"
    return json.dumps(v).encode()


def bytes_damage(b):
    b = bytearray(b)
    for _ in range(rnd.randrange(1, 6)):
        at = rnd.randrange(len(b) + 1)
        kind = rnd.random()
        if kind < 0.5 and at < len(b):
            b[at] = rnd.choice(b'{}[]",:\\0e-\x00\xff\x80 x/')
        elif kind < 0.7:
            b[at:at + rnd.randrange(8)] = b""
        elif kind < 0.9:
            b[at:at] = b[:rnd.randrange(40)]
        else:
            del b[at:]
    return bytes(b)


def body_make(op, bad):
    content = op.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if not content:
        return rnd.choice([b"{}", b"[]", b"null", b"x" * 2000]) if bad else b""
    if not schema:
        return rnd.randbytes(rnd.choice([0, 1, 511, 512, 1024, 5000]))
    v = value_of(schema)
    if isinstance(v, dict):
        v.pop("start", None)
        v.pop("timeout", None)
    for _ in range(rnd.randrange(1, 4) if bad else 0):
        v = damage(v)
    b = dump(v)
    return bytes_damage(b) if bad and rnd.random() < 0.3 else b


def request_make():
    """The bytes, their end included, whether they are whole and clear, and the route."""
    route = rnd.choice(ROUTES)
    method, path = route.split(" ")
    op = API["paths"][path][method.lower()]
    bad = {k for k in ("name", "query", "body", "head") if rnd.random() < 0.4} or {rnd.choice(["name", "query", "body", "head"])}
    names = {"{cell}": "kid", "{proc}": "1", "{snapshot}": "s", "{approval}": "1", "{session}": "s_1", "{agent}": "pi"}
    for k in names:
        if k in path:
            name = names[k]
            if "name" in bad:
                name = rnd.choice(NAMES + DECOYS)
                if rnd.random() < 0.4:
                    name = quote(name.encode("utf-8", "surrogatepass"))
            path = path.replace(k, name)
    given = [p for p in op.get("parameters", []) if p.get("in") == "query" and rnd.random() < 0.5]
    query = [(p["name"], str(value_of(p.get("schema", {})))) for p in given]
    if "query" in bad:
        query += [(rnd.choice([p["name"] for p in given] + ["x", "path", "cell", "to", "follow", "%00", ""]), rnd.choice(TEXTS + NUMBERS + NAMES + DECOYS)) for _ in range(rnd.randrange(1, 3))]
    text = "&".join(k + "=" + (quote(x.encode("utf-8", "surrogatepass")) if rnd.random() < 0.7 else x) for k, x in query)
    line = f"{method} {path}{'?' if text else ''}{text} HTTP/1.1\r\nHost: vivd\r\n".encode("utf-8", "surrogatepass")
    body = body_make(op, "body" in bad)
    clear = True
    head = b""
    chunked = rnd.random() < 0.15 and body
    if "head" in bad:
        more = rnd.choice([b"X: " + b"y" * rnd.choice([10, 9000, 70000]), b"Upgrade: websocket\r\nConnection: Upgrade", b"Authorization: Bearer viv_0", b"Cookie: viv=1", b"Range: bytes=9-1,0-",
                           b"Sec-WebSocket-Protocol: viv.token.viv_0", b"Origin: https://preview.example", b"Content-Type: text/xml", b"Accept: text/event-stream", b"Last-Event-ID: -5",
                           b"Last-Event-ID: 99999999999999999999999", b"Idempotency-Key: k", b"X-Forwarded-For: ::1", b"Host: other", b"Transfer-Encoding: gzip", b"Content-Length: 3", b"Content-Length: -1",
                           b"Content-Length: 0x5", b"Content-Length: 99999999999999999999", b"Transfer-Encoding: chunked\r\nContent-Length: 4", b"Expect: 100-continue", b"a\x00b: c", b"no colon", b" folded: x",
                           b"X:\x01\x7f", b"Connection: close"])
        clear = more.startswith((b"Cookie", b"Content-Type", b"Accept", b"Idempotency", b"X-F", b"Sec", b"Origin"))
        head += more + b"\r\n"
    if chunked:
        head += b"Transfer-Encoding: chunked\r\n"
        cut = rnd.randrange(1, len(body) + 1)
        parts = [p for p in (body[:cut], body[cut:]) if p]
        body = b"".join(b"%x%s\r\n" % (len(p), rnd.choice([b"", b";x=y"])) + p + b"\r\n" for p in parts) + b"0\r\n" + rnd.choice([b"", b"", b"X: y\r\n"]) + b"\r\n"
    elif body or rnd.random() < 0.2:
        head += b"Content-Length: %d\r\n" % len(body)
    data = line + head + b"\r\n" + body
    # What a space, a NUL or a line's end in the first line makes of it is not clear either.
    clear = clear and line.count(b" ") == 3 and line.count(b"\r\n") == 2 and b"\0" not in line and b"\n" not in line.replace(b"\r\n", b"") and b"#" not in line and b"\t" not in line and b"\r" not in line.replace(b"\r\n", b"")
    return data, clear and len(line) < 20000, route


class Connection:
    def __init__(self):
        self.s, self.rest = connect(120), b""

    def more(self):
        got = self.s.recv(65536)
        if not got:
            raise ConnectionResetError
        self.rest += got

    def take(self, n):
        while len(self.rest) < n:
            self.more()
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        out, _, self.rest = self.rest.partition(b"\r\n")
        return out

    def answer(self):
        """Status, body, and whether the connection goes on."""
        top = self.line()
        if top.startswith(b'{"error"'):  # the door's own: too many connections
            raise ConnectionResetError
        assert top.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")), top
        status, fields = int(top[9:12]), {}
        while h := self.line():
            k, _, x = h.partition(b":")
            fields[k.lower()] = x.strip().lower()
        if status == 100:
            return self.answer()
        body = b""
        if status in (204, 304):
            pass
        elif fields.get(b"transfer-encoding") == b"chunked":
            while n := int(self.line(), 16):
                body += self.take(n)
                assert self.take(2) == b"\r\n"
            self.line()
        elif b"content-length" in fields:
            body = self.take(int(fields[b"content-length"]))
        else:
            try:
                while True:
                    self.more()
            except ConnectionResetError:
                body, self.rest = self.rest, b""
        return status, body, fields.get(b"connection") != b"close"


seen = {}


def check(status, body, data):
    seen[status] = seen.get(status, 0) + 1
    # Of a cell that ends at that moment it is said, with 500.
    ending = b'"the cell does not answer"' in body or b'"the cell ended while it was asked"' in body
    assert status < 500 or status in (501, 503, 505) or ending, (status, body, data)
    for d in DECOYS:  # what it was asked for may be in the message
        assert d.encode() not in body or d.encode() in data, (d, body, data)


def settle():
    """The cells that the requests are about are there again, and those that they made are gone."""
    assert call("GET", "/v1/version")[0] == 200
    cells = json.loads(call("GET", "/v1/cells")[1])["cells"]
    assert len(cells) <= 17 + 32, len(cells)
    for c in cells:
        if c.get("parent") and (c.get("name") != "kid" or c["state"] != "running"):
            call("DELETE", f"/v1/cells/{c['id']}?force=1")
    call("POST", "/v1/cells", {"name": "kid", "get": True, "start": True, "command": ["sleep", "100000"]})


def send(c, data):
    if rnd.random() < 0.1:
        for cut in sorted(rnd.randrange(len(data)) for _ in range(3)):
            c.s.sendall(data[:cut])
            data = data[cut:]
            if not data:
                return
    c.s.sendall(data)


def main():
    c, sent, settled = None, 0, -LOT
    while sent < COUNT:
        if sent - settled >= LOT:
            settled = sent
            settle()
        lot = [request_make()]
        endless = any(e in lot[0][2] for e in ENDLESS)
        while not endless and lot[-1][1] and len(lot) < 5 and rnd.random() < 0.5:
            lot.append(request_make())
            if any(e in lot[-1][2] for e in ENDLESS):
                lot.pop()
                break
        sent += len(lot)
        try:
            c = c or Connection()
            send(c, b"".join(x[0] for x in lot))
            if endless:
                select.select([c.s], [], [], 0.002)
                c.s.close()
                c = None
                continue
            for data, clear, _ in lot:
                # It may be half of a request, or two; of half a one there is no answer.
                if not clear and not c.rest and not select.select([c.s], [], [], 0.02)[0]:
                    c = None
                    break
                try:
                    status, body, goes_on = c.answer()
                except TimeoutError as e:
                    raise AssertionError(f"no answer to {data!r}") from e
                check(status, body, data)
                if not clear or not goes_on:
                    c = None
                    break
        except (ConnectionResetError, BrokenPipeError, ConnectionRefusedError):
            c = None
    settle()
    print("sent", sent, seen)


main()
