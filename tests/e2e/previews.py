# Previews as browsers, and others, use them. previews.py TEST: with vivd's socket in $SOCK and a cell 'web' that runs previewserver.py at port 8000.
import http.client, json, os, re, socket, sys, threading, time, zlib

SOCK = os.environ["SOCK"]


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCK)


def api(method, path, body=None, headers={}):
    c = Unix("vivd", timeout=180)
    c.request(method, path, json.dumps(body) if body is not None else None, headers)
    r = c.getresponse()
    data = r.read()
    return r.status, json.loads(data) if data else None


def preview(cell="web", port=8000, **more):
    status, p = api("POST", "/v1/cells/%s/previews" % cell, {"port": port, **more})
    assert status == 201, (status, p)
    m = re.fullmatch(r"http://([0-9a-f]{16})--(\d+)\.localhost:(\d+)/\?viv_token=([0-9a-f]{80})", p["url"])
    assert m and m[1] == p["id"] and int(m[2]) == port and m[4].startswith(m[1]), p
    assert p["path_url"] == "http://127.0.0.1:%s/p/%s/" % (m[3], m[4])
    p["listen"], p["token"], p["host"] = int(m[3]), m[4], "%s--%s.localhost:%s" % (m[1], m[2], m[3])
    return p


def raw(p, data, timeout=120, to_end=True):
    s = socket.create_connection(("127.0.0.1", p["listen"]), timeout)
    s.sendall(data)
    got = b""
    while to_end:
        d = s.recv(65536)
        if not d:
            break
        got += d
    return got if to_end else s


def ask(p, path="/", method="GET", host=None, cookie=True, body=None, headers={}, conn=None):
    c = conn or http.client.HTTPConnection("127.0.0.1", p["listen"], timeout=180)
    h = {"Host": host or p["host"], **headers}
    if cookie is True:
        h["Cookie"] = "viv_preview=" + p["token"]
    elif cookie:
        h["Cookie"] = cookie
    c.request(method, path, body, h, encode_chunked="Transfer-Encoding" in h)
    r = c.getresponse()
    r.data = r.read()
    return r


def by_path(p, path="/", **more):
    return ask(p, "/p/" + p["token"] + path, host="127.0.0.1:%d" % p["listen"], cookie=False, **more)


def is_status(r, *wanted):
    assert r.status in wanted, (r.status, r.data[:300])


def forms():
    p = preview()
    # The token becomes a cookie of this host alone.
    r = ask(p, "/a?x=1&viv_token=%s&y=2" % p["token"], cookie=False)
    is_status(r, 303)
    assert r.getheader("Location") == "http://%s/a?x=1&y=2" % p["host"]
    cookie = r.getheader("Set-Cookie")
    assert re.fullmatch(r"viv_preview=%s; Path=/; Max-Age=\d+; HttpOnly; SameSite=Strict" % p["token"], cookie), cookie
    r = ask(p, "//example.org/?viv_token=" + p["token"], cookie=False)
    assert r.getheader("Location") == "http://%s//example.org/" % p["host"]
    r = ask(p, "/a?x=1", headers={"X-Forwarded-For": "6.6.6.6", "Forwarded": "for=6.6.6.6", "Connection": "X-Secret", "X-Secret": "1", "Proxy-Authorization": "x"},
            cookie="a=1; viv_preview=%s; b=2" % p["token"])
    is_status(r, 200)
    got = json.loads(r.data)
    assert got["line"] == "GET /a?x=1 HTTP/1.1", got
    f = got["fields"]
    assert f["cookie"] == "a=1; b=2" and f["host"] == p["host"] and f["x-forwarded-for"] == "127.0.0.1" and f["x-forwarded-host"] == p["host"], f
    assert not {"forwarded", "x-secret", "proxy-authorization"} & set(f), f
    assert p["token"] not in r.data.decode()
    assert "content-security-policy" not in r.headers
    assert json.loads(ask(p).data)["fields"].get("cookie") is None
    r = ask(p, "/cookies")
    assert r.headers.get_all("Set-Cookie") == ["a=1; Path=/", "b=2; HttpOnly", "domain=3"], r.headers.get_all("Set-Cookie")
    r = ask(p, "/there")
    assert r.getheader("Location") == "/here?x"
    # The path form has no cookies, and no origin.
    r = by_path(p, "/a?x", headers={"Referer": "http://127.0.0.1/p/x/", "Cookie": "a=1", "Origin": "null"})
    is_status(r, 200)
    got = json.loads(r.data)
    assert got["line"] == "GET /a?x HTTP/1.1" and got["fields"]["host"] == "localhost:8000", got
    assert not {"cookie", "referer"} & set(got["fields"]) and p["token"] not in r.data.decode()
    assert r.getheader("Content-Security-Policy").startswith("sandbox ") and "same-origin" not in r.getheader("Content-Security-Policy")
    assert r.getheader("Referrer-Policy") == "no-referrer" and r.getheader("Access-Control-Allow-Origin") == "*"
    assert by_path(p, "/cookies").headers.get_all("Set-Cookie") is None
    assert by_path(p, "/there").getheader("Location") == "/p/%s/here?x" % p["token"]
    assert by_path(p, "/there2").getheader("Location") == "/p/%s/here" % p["token"]
    assert by_path(p, "/there3").getheader("Location") == "//example.org/"
    r = ask(p, "/p/" + p["token"], host="localhost", cookie=False)
    is_status(r, 303)
    assert r.getheader("Location") == "http://localhost/p/%s/" % p["token"]
    # In one connection, also after an answer that is chunked anew.
    c = http.client.HTTPConnection("127.0.0.1", p["listen"], timeout=180)
    for i in range(20):
        for path, want in (("/chunks", b"hello world"), ("/close", b"until the end"), ("/interim", b"after all"), ("/unread", b"enough")):
            r = ask(p, path, conn=c)
            assert r.status == 200 and r.data == want, (path, r.data)
    assert ask(p, "/x", method="HEAD", conn=c).data == b""
    # Two requests at once, HTTP/1.0.
    one = ("GET /chunks HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\n" % (p["host"], p["token"])).encode()
    got = raw(p, one + b"\r\n" + one + b"Connection: close\r\n\r\n")
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 2 and got.count(b"hello") == 2, got
    got = raw(p, one.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n")
    assert got.endswith(b"\r\n\r\nhello world") and b"chunked" not in got, got


def bodies():
    p = preview()
    for size, chunked in ((0, False), (1, False), (5 << 20, False), (5 << 20, True)):
        data = os.urandom(size)
        body = iter([data[i:i + 100000] for i in range(0, size, 100000)]) if chunked else data
        r = ask(p, "/up", method="POST", body=body, headers={"Transfer-Encoding": "chunked"} if chunked else {})
        got = json.loads(r.data)
        assert got["n"] == size and got["crc"] == zlib.crc32(data), got
    s = raw(p, ("POST /up HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n" % (p["host"], p["token"])).encode(), to_end=False)
    assert s.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    s.sendall(b"abc")
    got = b""
    while b'"n": 3' not in got:
        more = s.recv(10000)
        assert more, got
        got += more
    # An answer before the request is over.
    r = raw(p, ("POST /early HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\nContent-Length: 100000000\r\n\r\n" % (p["host"], p["token"])).encode())
    assert r.startswith(b"HTTP/1.1 413 ") and r.endswith(b"no more, please"), r


def large():
    p = preview()
    pid = api("GET", "/v1/version")[1]["pid"]
    c = http.client.HTTPConnection("127.0.0.1", p["listen"], timeout=180)
    c.request("GET", "/big/%d" % (1 << 30), headers={"Host": p["host"], "Cookie": "viv_preview=" + p["token"]})
    r = c.getresponse()
    n, began = 0, time.time()
    while True:
        d = r.read(1 << 20)
        if not d:
            break
        n += len(d)
    assert n == 1 << 30
    print("1 GiB down in %.1f s" % (time.time() - began))
    block, began = bytes(1 << 20), time.time()
    r = ask(p, "/up", method="POST", body=(block for i in range(1024)), headers={"Transfer-Encoding": "chunked"})
    assert json.loads(r.data)["n"] == 1 << 30
    print("1 GiB up in %.1f s" % (time.time() - began))
    # A reader that does not read: nothing piles up.
    s = [raw(p, ("GET /big/%d HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\n\r\n" % (1 << 30, p["host"], p["token"])).encode(), to_end=False) for i in range(20)]
    time.sleep(3)
    rss = int(re.search(r"VmHWM:\s+(\d+)", open("/proc/%d/status" % pid).read())[1])
    print("vivd: %d KiB" % rss)
    # A sanitized program keeps what was freed for a while: 256 MiB of it.
    assert rss < (600000 if "libasan" in open("/proc/%d/maps" % pid).read() else 60000), rss


def streams():
    p = preview()
    # Events come as they are sent.
    began = time.time()
    c = http.client.HTTPConnection("127.0.0.1", p["listen"], timeout=180)
    c.request("GET", "/sse", headers={"Host": p["host"], "Cookie": "viv_preview=" + p["token"]})
    r = c.getresponse()
    assert r.getheader("Content-Type") == "text/event-stream"
    assert r.readline() == b"data: 0\n" and time.time() - began < 10
    c.close()
    # WebSockets, by host and by path.
    for host, path, cookie in ((p["host"], "/ws", "Cookie: viv_preview=%s\r\n" % p["token"]), ("127.0.0.1", "/p/%s/ws" % p["token"], "")):
        s = raw(p, ("GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % (path, host, cookie)).encode(), to_end=False)
        f = s.makefile("rb")
        assert f.readline() == b"HTTP/1.1 101 Switching Protocols\r\n"
        head = []
        while (line := f.readline()) != b"\r\n":
            head.append(line.decode().strip().lower())
        assert "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=" in head and "upgrade: websocket" in head and "connection: upgrade" in head, head
        assert f.read(7) == b"\x81\x05hello"
        data = os.urandom(3 << 20)
        t = threading.Thread(target=s.sendall, args=(data,))
        t.start()
        assert f.read(len(data)) == data
        t.join()
        s.shutdown(socket.SHUT_WR)
        assert f.read() == b""
    # Without a cookie nobody gets in, as for a page of another site.
    assert raw(p, ("GET /ws HTTP/1.1\r\nHost: %s\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n" % p["host"]).encode()).startswith(b"HTTP/1.1 403 ")
    # They end with the preview.
    s = raw(p, ("GET /sse HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\n\r\n" % (p["host"], p["token"])).encode(), to_end=False)
    assert s.recv(10)
    assert api("DELETE", "/v1/previews/" + p["id"])[0] == 204
    while True:
        try:
            if not s.recv(65536):
                break
        except ConnectionResetError:
            break
    is_status(ask(p), 403)


def tokens():
    p, q, other = preview(), preview(port=8001), preview("other")
    is_status(ask(p), 200)
    flip = p["token"][:-1] + ("0" if p["token"][-1] != "0" else "1")
    for bad in ("", "x", flip, p["token"][:-1], p["token"] + "0", p["token"].upper(), q["token"], other["token"], p["id"] + q["token"][16:], p["token"][:16] + "0" * 64,
                "0" * 80, p["token"] + "%00", "../" + p["token"]):
        is_status(ask(p, cookie="viv_preview=" + bad), 403)
        is_status(ask(p, "/?viv_token=" + bad, cookie=False), 403)
        is_status(ask(p, "/p/%s/" % bad, host="127.0.0.1", cookie=False), *((403, 404) if bad not in (q["token"], other["token"]) else (502, 200)))
    is_status(ask(p, cookie=False), 403)
    # The host names preview and port; they are what the token is for.
    is_status(ask(p, host=p["host"].replace("--8000", "--8001")), 403)
    is_status(ask(p, host=q["host"]), 403)
    # A token in the query that is wrong does not fall back to the cookie.
    is_status(ask(p, "/?viv_token=" + flip), 403)
    for host in ("evil.example", "localhost.evil.example", "169.254.1.1", "", "x--8000.localhost", p["id"] + "--8000.localhost.evil.example", p["id"] + "--08000.localhost",
                 p["id"] + "--99999.localhost", p["id"] + "--8000.localhost:x", p["id"] + "--8000.localhost."):
        is_status(ask(p, host=host) if host else ask(p, headers={"Host": ""}), 404)
        if host:
            is_status(ask(p, "/p/%s/" % p["token"], host=host, cookie=False), 404, 403)
    is_status(ask(p, host=p["host"].upper().replace("LOCALHOST", "localhost")), 200)
    # It ends.
    e = preview(expires_in=15)
    is_status(ask(e), 200)
    s = raw(e, ("GET /sse HTTP/1.1\r\nHost: %s\r\nCookie: viv_preview=%s\r\n\r\n" % (e["host"], e["token"])).encode())
    is_status(ask(e), 403)
    is_status(by_path(e), 403)
    assert e["id"] not in [x["id"] for x in api("GET", "/v1/previews")[1]["previews"]]
    for bad in ({"port": 0}, {"port": 65536}, {"port": "80"}, {}, {"port": 80, "expires_in": 0}, {"port": 80, "expires_in": 1e10}, {"port": 80, "x": 1}):
        assert api("POST", "/v1/cells/web/previews", bad)[0] == 400, bad
    assert api("DELETE", "/v1/previews/" + p["id"])[0] == 204
    assert api("DELETE", "/v1/previews/" + p["id"])[0] == 404
    is_status(ask(p), 403)
    is_status(by_path(p), 403)
    # The state has no token in it.
    for root, dirs, files in os.walk(os.environ["XDG_STATE_HOME"]):
        for name in files:
            data = open(os.path.join(root, name), "rb").read()
            assert q["token"][16:].encode() not in data and other["token"].encode() not in data, name
            if name == "preview.key":
                assert os.stat(os.path.join(root, name)).st_mode & 0o777 == 0o600


def refused():
    p = preview()
    base = "Host: %s\r\nCookie: viv_preview=%s\r\n" % (p["host"], p["token"])
    for text in ("GET / HTTP/1.1\r\n" + base + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                 "GET / HTTP/1.1\r\n" + base + "Transfer-Encoding: gzip, chunked\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "X: y\n\r\n", "GET / HTTP/1.1\r\n" + base + " folded: 1\r\n\r\n",
                 "GET / HTTP/1.1\r\n" + base + "X : y\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "Host: b\r\n\r\n", "GET / HTTP/2.0\r\n" + base + "\r\n", "GET  / HTTP/1.1\r\n" + base + "\r\n",
                 "GET http://%s/ HTTP/1.1\r\n" % p["host"] + base + "\r\n", "CONNECT 127.0.0.1:22 HTTP/1.1\r\n" + base + "\r\n", "TRACE / HTTP/1.1\r\n" + base + "\r\n", "OPTIONS * HTTP/1.1\r\n" + base + "\r\n",
                 "GET / HTTP/1.1\r\n" + base + "Content-Length: -1\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "Content-Length: 1e3\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "X: a\0b\r\n\r\n",
                 "\r\nGET / HTTP/1.1\r\n" + base + "\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "GET / HTTP/1.1\r\n" + base + "X-A: " + "y" * 70000 + "\r\n\r\n",
                 "GET / HTTP/1.1\r\n" + base + "".join("X-%d: y\r\n" % i for i in range(1000)) + "\r\n", "GET / HTTP/1.0\r\n" + base + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
        got = raw(p, text.encode("latin-1"))
        assert re.match(rb"HTTP/1\.1 (400|404) ", got) and got.count(b"HTTP/1.1 ") == 1, (text, got[:200])
    # Chunks that are wrong end the connection.
    got = raw(p, ("POST /up HTTP/1.1\r\n" + base + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxx\r\n\r\n").encode())
    assert b"200 OK" not in got, got
    got = raw(p, ("POST /up HTTP/1.1\r\n" + base + "Transfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n0\r\n\r\n").encode())
    assert b"200 OK" not in got, got
    # What the cell says wrong.
    for path in ("/bomb", "/endless", "/hints", "/two", "/lengths", "/lf", "/fold", "/101", "/noise", "/nothing"):
        is_status(ask(p, path), 502)
    for path in ("/short", "/badchunk"):
        try:
            r = ask(p, path)
            raise SystemExit("%s: %r" % (path, r.data))
        except (http.client.IncompleteRead, ConnectionResetError):
            pass
    # A page that waits does not keep others from anything.
    hang = [raw(p, ("GET /silent HTTP/1.1\r\n" + base + "\r\n").encode(), to_end=False) for i in range(100)]
    slow = [raw(p, b"GET /", to_end=False) for i in range(100)]
    is_status(ask(p), 200)
    assert api("GET", "/v1/version")[0] == 200
    for s in hang + slow:
        s.close()
    # As many connections as there are at once.
    all = [http.client.HTTPConnection("127.0.0.1", p["listen"], timeout=180) for i in range(200)]
    for c in all:
        c.request("GET", "/", headers={"Host": p["host"], "Cookie": "viv_preview=" + p["token"]})
    for c in all:
        assert c.getresponse().read()


def fetch():
    def get(**q):
        return api("POST", "/v1/cells/web/fetch", {"port": 8000, **q})
    status, r = get(path="/a?b", headers={"X-Test": "1"})
    assert status == 200 and r["status"] == 200, r
    got = json.loads(r["body"])
    assert got["line"] == "GET /a?b HTTP/1.1" and got["fields"]["x-test"] == "1" and got["fields"]["host"] == "localhost:8000", got
    assert ["Content-Length", str(len(r["body"]))] in r["headers"], r["headers"]
    r = get(method="POST", path="/up", body="\u00e4x")[1]
    assert json.loads(r["body"])["n"] == 3, r
    r = get(method="PUT", path="/up", base64="AAEC/w==")[1]
    assert json.loads(r["body"])["crc"] == zlib.crc32(b"\0\1\2\xff"), r
    assert get(path="/chunks")[1]["body"] == "hello world" and get(path="/close")[1]["body"] == "until the end" and get(path="/interim")[1]["body"] == "after all"
    assert get(path="/big/3")[1]["body"] == "\0\0\0" and get(method="HEAD", path="/x")[1]["body"] == ""
    assert get(path="/there")[1]["status"] == 302
    assert get(path="/big/%d" % (16 << 20))[1]["status"] == 200
    assert get(path="/big/%d" % ((16 << 20) + 1)) == (413, {"code": "too_large", "message": "the response has more than 16 MiB"})
    for path in ("/bomb", "/endless", "/hints", "/two", "/lengths", "/lf", "/fold", "/101", "/noise", "/nothing", "/short", "/badchunk"):
        assert get(path=path)[0] == 500, path
    began = time.time()
    status, r = get(path="/silent", timeout=1)
    assert status == 500 and "in time" in r["message"] and time.time() - began < 20, r
    for bad in ({"path": "x"}, {"path": "/ x"}, {"path": "/\n"}, {"method": "A B"}, {"method": "CONNECT"}, {"method": ""}, {"headers": {"A": "b\r\nc: d"}}, {"headers": {"a b": "c"}},
                {"headers": {"Content-Length": "5"}}, {"headers": {"transfer-encoding": "chunked"}}, {"base64": "!"}, {"body": "a", "base64": "AA=="}, {"timeout": 0}, {"timeout": 601},
                {"port": 0}, {"port": 70000}, {"headers": {"a": 1}}, {"what": 1}):
        status, r = get(**bad)
        assert status == 400, (bad, status, r)
    status, r = get(port=9)
    assert status == 404 and "listens" in r["message"], r
    # Clients that go away.
    for i in range(50):
        s = socket.socket(socket.AF_UNIX)
        s.connect(SOCK)
        body = json.dumps({"port": 8000, "path": "/silent"})
        s.sendall(("POST /v1/cells/web/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).encode())
        s.close()


def rights():
    p, o = preview(), preview("other")
    listen = sys.argv[2]
    def by(token, method, path, body=None, headers={}):
        c = http.client.HTTPConnection("127.0.0.1", int(listen), timeout=180)
        c.request(method, path, json.dumps(body) if body is not None else None, {"Authorization": "Bearer " + token, **headers})
        r = c.getresponse()
        data = r.read()
        return r.status, json.loads(data) if data else None
    admin = api("POST", "/v1/tokens", {"scope": "admin"})[1]["token"]
    read = api("POST", "/v1/tokens", {"scope": "read"})[1]["token"]
    one = api("POST", "/v1/tokens", {"scope": "cell", "cell": "web"})[1]["token"]
    assert [x["id"] for x in by(one, "GET", "/v1/previews")[1]["previews"]] == [p["id"]]
    assert {x["id"] for x in by(read, "GET", "/v1/previews")[1]["previews"]} == {p["id"], o["id"]}
    assert "url" not in json.dumps(by(read, "GET", "/v1/previews")[1]) and "url" not in by(read, "GET", "/v1/previews/" + p["id"])[1]
    assert by(one, "GET", "/v1/previews/" + p["id"])[1]["url"] == p["url"]
    assert by(one, "GET", "/v1/previews/" + o["id"])[0] == 404 and by(one, "DELETE", "/v1/previews/" + o["id"])[0] == 404
    assert by(one, "GET", "/v1/previews?cell=other")[0] == 404
    assert by(read, "POST", "/v1/cells/web/previews", {"port": 1})[0] == 403 and by(read, "DELETE", "/v1/previews/" + p["id"])[0] == 403
    assert by(read, "POST", "/v1/cells/web/fetch", {"port": 8000})[0] == 403 and by(one, "POST", "/v1/cells/other/fetch", {"port": 8000})[0] == 404
    assert by(one, "POST", "/v1/cells/web/fetch", {"port": 8000})[1]["status"] == 200
    # The API is nothing for pages of previews, even with a token.
    for headers in ({"Host": p["host"]}, {"Host": "x.localhost"}, {"Origin": "http://" + p["host"]}, {"Origin": "http://a.localhost"}, {"Origin": "null"}):
        status, r = by(admin, "GET", "/v1/version", headers=headers)
        assert status == 403, (headers, status, r)
    assert by(admin, "GET", "/v1/version", headers={"Host": "localhost:%s" % listen})[0] == 200
    assert by(one, "DELETE", "/v1/previews/" + p["id"])[0] == 204


globals()[sys.argv[1]]()
