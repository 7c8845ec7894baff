#!/usr/bin/env python3
# A small S3 server, in memory, that can be unkind: s3server.py PORT_FILE LOG [--older]
#
# --older: it cannot make the tokens of ListObjectsV2 (500). There are 1,200 objects below "many/", with a directory among them.
# What the last part of a key makes it do: "stale": each answer is another object; "hang": an answer never ends; "full": no room (507).
# A listing of "cut/" is only the first half of one; that of "late/" comes, as it was, when "go" was asked for.
import hashlib, itertools, sys, threading, time, urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

objects = {f"many/f{i:05}": b"%d" % i for i in range(1200)}
objects.update({"many/f00600.d/x": b"x", "stale": b"s" * 9, "hang": b"h" * 9, "cut/a": b"a", "cut/b": b"b", "late/old": b"o", "late/older": b"o"})
go = threading.Event()
tags = itertools.count()


def listing(query, newer):
    prefix = query.get("prefix", "")
    after = query.get("continuation-token" if newer else "marker", "")
    most = int(query.get("max-keys", 1000))
    names = {}
    for key in sorted(objects):
        if key.startswith(prefix):
            head, slash, _ = key[len(prefix):].partition("/")
            names[prefix + head + slash] = bool(slash)
    names = [n for n in sorted(names) if n > after]
    text = "<ListBucketResult><EncodingType>url</EncodingType>"
    for name in names[:most]:
        name = urllib.parse.quote(name)
        if name.endswith("/"):
            text += f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"
        else:
            data = objects[urllib.parse.unquote(name)]
            text += f"<Contents><Key>{name}</Key><Size>{len(data)}</Size><ETag>{etag(data)}</ETag></Contents>"
    if len(names) > most:
        if newer and "--older" in sys.argv:
            return None
        text += "<IsTruncated>true</IsTruncated>"
        if newer:
            text += f"<NextContinuationToken>{escape(names[most - 1])}</NextContinuationToken>"
    text += "</ListBucketResult>"
    return text[:len(text) // 2] if prefix == "cut/" else text


def etag(data):
    return '"%s"' % hashlib.md5(data).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", tag=None, length=None, extra=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if tag:
            self.send_header("ETag", tag)
        for name, value in extra:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        _, _, key = urllib.parse.unquote(path).lstrip("/").partition("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = key.rpartition("/")[2]
        with open(sys.argv[2], "a") as log:
            log.write(f"{self.command} {key}\n")
        if kind == "go":
            go.set()
        if self.command == "PUT" and kind == "full":
            self.answer(507)
        elif self.command == "PUT":
            source = self.headers.get("x-amz-copy-source")
            if source:
                body = objects[urllib.parse.unquote(source).lstrip("/").partition("/")[2]]
            objects[key] = body
            self.answer(200, f"<R><ETag>{escape(etag(body))}</ETag></R>".encode() if source else b"", etag(body))
        elif self.command == "DELETE":
            objects.pop(key, None)
            self.answer(204)
        elif not key:
            text = listing(query, query.get("list-type") == "2")
            if query.get("prefix") == "late/" and query.get("max-keys") == "1000":
                go.wait(30)
            self.answer(500) if text is None else self.answer(200, text.encode())
        elif key not in objects:
            self.answer(404)
        else:
            data = objects[key]
            tag = '"%d"' % next(tags) if kind == "stale" else etag(data)
            if self.command == "HEAD":
                self.answer(200, b"", tag, len(data))
            elif kind == "hang":
                self.answer(200, data[:1], tag, len(data))
                time.sleep(3600)
            else:
                first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
                part = data[int(first):int(last) + 1 if last else None]
                self.answer(206, part, tag, extra=[("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")])

    do_GET = do_HEAD = do_PUT = do_DELETE = handle_any


ThreadingHTTPServer.daemon_threads = True
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w") as f:
    f.write(f"{server.server_port}\n")
server.serve_forever()
