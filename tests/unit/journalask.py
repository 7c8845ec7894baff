"""Runs viv-journal on the journal that test_journal_ask.c makes. Prints TAP.

    journalask.py VIV_JOURNAL DIR
"""
import http.server
import json
import os
import subprocess
import sys
import threading

import ocsf

program, journal = sys.argv[1], sys.argv[2]
count = failed = 0


def ok(good, what, more=""):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good:
        failed += 1
        print("# " + str(more)[:800].replace("\n", "\n# "))


def eq(got, want, what):
    ok(got == want, what, "got %r, want %r" % (got, want))


def run(*words, status=0, env=None):
    p = subprocess.run([program, words[0], journal, *words[1:]], capture_output=True, env={**os.environ, **(env or {})})
    if p.returncode != status:
        ok(False, "%s ends with %d" % (" ".join(words), status), p.returncode.__str__() + p.stderr.decode())
    return p.stdout


# ---- touched ----

t = json.loads(run("touched", "--json"))
files = {f["path"]: f for f in t["files"]}
eq(t["cell"], "0123456789ab", "touched names the cell")
eq(files["/work/a.c"]["effect"], "read", "a file that was only read")
eq(files["/work/a.o"]["effect"], "temporary", "one that was made by a rename and removed")
eq(files["/work/a.o.tmp"]["effect"], "temporary", "one that was renamed away")
eq(files["/work/page"]["effect"], "created", "one that was made")
eq(files["/work/page2"]["effect"], "created", "and its link")
eq(sum(p["count"] for p in t["programs"]), 4, "programs are counted")
host = [h for h in t["hosts"] if h["host"] == "example.org" and h.get("port") == "443"][0]
eq((host["connections"], host["in"], host["out"], host["requests"]), (1, 1500, 300, 1), "a host with bytes and requests")
evil = [h for h in t["hosts"] if h["host"] == "evil.example"][0]
eq((evil["connections"], evil["denied"]), (0, 1), "a host that was denied")
eq([d["what"] for d in t["denials"]], ["request https://user@[2001:db8::1]:8443/a?b", "tcp evil.example:80", "evil.example:80"], "denials, of requests and connections, too")
eq(t["approvals"][0]["by"], "me", "an approval")
eq(t["holes"][0]["records"], 2, "a hole")
text = run("touched").decode()
ok("example.org:443" in text and "/work/page" in text and "Denied" in text, "touched for people", text)

d = json.loads(run("diff", "one", "two", "--json"))
files = {f["path"]: f for f in d["files"]}
eq(files["/work/a.o"]["effect"], "removed", "between snapshots: removed")
eq(files["/work/page"]["effect"], "created", "between snapshots: created")
ok("/work/a.c" not in files, "between snapshots: not what was before")
eq([p["path"] for p in d["programs"]], ["/usr/bin/curl"], "between snapshots: its programs")
d = json.loads(run("diff", "start", "one", "--json"))
eq({f["path"]: f["effect"] for f in d["files"]}["/work/a.o"], "created", "up to the first snapshot")
run("diff", "two", "one", status=2)
run("diff", "none", "two", status=3)
s = json.loads(run("touched", "--since", "20", "--until", "35", "--json"))
eq((s["first"], s["last"], s["cell"]), (20, 35, "0123456789ab"), "a part of it by numbers")

# ---- blame ----

b = json.loads(run("blame", "/work/a.o", "--json"))
eq(b["state"], "removed", "blame of a file that is gone")
w = b["writers"][0]
eq((w["program"], w["args"], w["pid"]), ("/usr/bin/cc", ["cc", "a.c"], 11), "the process that wrote it, by its old name")
eq([p["program"] for p in w["parents"]], ["/bin/sh", "/usr/bin/agent"], "its parents")
eq((w["session"], w["agent"], w["prompt"]["number"], w["prompt"]["text"]), ("s1", "coder", 1, "build <b>it</b>"), "its prompt")
eq(w["command"]["args"], ["agent", "--acp"], "its command")
ok(w["hash"].startswith("abcd"), "the hash of its content")
eq((b["name"]["how"], b["name"]["program"]), ("removed", "/usr/bin/curl"), "and what removed it")
b = json.loads(run("blame", "/work/page2", "--json", "--all"))
eq((b["state"], b["writers"][0]["prompt"]["number"], b["writers"][0]["program"]), ("present", 2, "/usr/bin/curl"), "blame of a link")
text = run("blame", "/work/page2").decode()
ok("prompt  2 of session s1 (coder): fetch" in text, "blame for people", text)
run("blame", "/nothing", status=3)
run("blame", "work/page", status=2)
eq(json.loads(run("blame", "/work/a.c", "--json"))["writers"], [], "nobody wrote it")

# ---- timeline ----

text = run("timeline").decode()
for want in ("prompt: 1: build <b>it</b>", "sh -c make", "connected example.org:443", "denied: net evil.example:80", "limit: memory", "exit status 22"):
    ok(want in text, "the timeline has '%s'" % want, text)
page = run("timeline", "--html", "-").decode()
data = json.loads(page.split('id="data">')[1].split("</script>")[0])
eq(len(data["p"]), 5, "the page has the cell and its processes")
ok("<b>it" not in page, "and no HTML of the guest")

# ---- exports ----

lines = [json.loads(x) for x in run("export", "--format", "ndjson").splitlines()]
eq([x["seq"] for x in lines], list(range(1, len(lines) + 1)), "NDJSON has every record in its order")
write = [x for x in lines if x["kind"] == "write"][0]
eq((write["program"], write["session"], write["prompt"], write["path"], write["cell"]), ("/usr/bin/cc", "s1", 1, "/work/a.o.tmp", "0123456789ab"), "with program, session and prompt")
kinds = {x["kind"] for x in lines}

events = [json.loads(x) for x in run("export", "--format", "ocsf").splitlines()]
eq(len(events), len(lines), "OCSF has every record")
eq([w for e in events for w in ocsf.check(e)], [], "every event is as its class in OCSF 1.3 must be")
for path, broken in (("file", lambda e: e["file"].pop("name")), ("time", lambda e: e.update(time="x")), ("other", lambda e: e.update(activity_id=77)), ("more", lambda e: e.update(colour=1))):
    e = json.loads(json.dumps([e for e in events if e["class_uid"] == 1001][0]))
    broken(e)
    ok(ocsf.check(e), "one that is not is found: " + path)
eq({e["class_uid"] for e in events}, set(ocsf.ACTIVITIES), "all classes occur")
eq({e["unmapped"]["kind"] for e in events}, kinds, "and all kinds")
rename = [e for e in events if e["unmapped"]["kind"] == "rename"][0]
eq((rename["file"]["path"], rename["file_result"]["path"]), ("/work/a.o.tmp", "/work/a.o"), "a rename has both files")
request = [e for e in events if e["unmapped"]["kind"] == "request"][0]
response = [e for e in events if e["unmapped"]["kind"] == "response"][0]
eq((request["dst_endpoint"], "http_response" in request), ({"hostname": "example.org"}, False), "a request has the host of its URL")
eq((response["dst_endpoint"], response["http_response"]["code"]), ({"hostname": "example.org"}, 200), "its end has the status")
unanswered = [e for e in events if e["class_uid"] == 4002][-1]
eq((unanswered["dst_endpoint"], "http_response" in unanswered), ({"ip": "2001:db8::1", "port": 8443}, False), "one without an answer has none")
inbound = [e for e in events if e["unmapped"]["kind"] == "inbound"][0]
eq((inbound["src_endpoint"], inbound["dst_endpoint"]["port"]), ({"ip": "127.0.0.1", "port": 5000}, 8080), "a connection from outside has its peer")
denied = [e for e in events if e["class_uid"] == 4001 and e["activity_id"] == 5]
eq((len(denied), denied[0]["status_id"]), (1, 2), "a denied connection is refused")


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), body))
        status = self.server.replies.pop(0) if self.server.replies else 200
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *a):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d" % server.server_port


def send(*words, replies=(), status=0, env=None):
    server.seen, server.replies = [], list(replies)
    run("export", "--to", url, *words, status=status, env=env)
    return server.seen


seen = send("--format", "otlp", env={"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer x,X-Org=7"})
eq(sorted({p for p, h, b in seen}), ["/v1/logs", "/v1/traces"], "a collector gets traces and logs")
ok(all(h["Content-Type"] == "application/json" and h["Authorization"] == "Bearer x" and h["X-Org"] == "7" for p, h, b in seen), "with headers of the environment")
spans, logs = {}, []
for path, headers, body in seen:
    doc = json.loads(body)
    for r in doc.get("resourceSpans", []) + doc.get("resourceLogs", []):
        ok({"key": "service.name", "value": {"stringValue": "vivarium"}} in r["resource"]["attributes"], "a document names its service")
        for scope in r.get("scopeSpans", []):
            for s in scope["spans"]:
                ok(s["spanId"] not in spans, "a span comes once")
                spans[s["spanId"]] = s
        for scope in r.get("scopeLogs", []):
            logs += scope["logRecords"]
eq(len(logs), len(lines), "every record is a log")
eq(len({s["traceId"] for s in spans.values()} | {x["traceId"] for x in logs}), 1, "all of it is one trace")
ok(all(len(s["traceId"]) == 32 and len(k) == 16 and int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) for k, s in spans.items()), "spans are well formed")
ok(all(s.get("parentSpanId", k) in spans for k, s in spans.items()), "every parent is there")
ok(all(x["spanId"] in spans for x in logs), "and every log's span")


def chain(name):
    s = [s for s in spans.values() if s["name"] == name][0]
    names = []
    while s:
        names.append(s["name"])
        s = spans.get(s.get("parentSpanId"))
    return names


eq(chain("/usr/bin/cc"), ["/usr/bin/cc", "/bin/sh", "prompt 1", "session", "cell"], "cell, session, prompt, processes")
eq(chain("/usr/bin/curl"), ["/usr/bin/curl", "prompt 2", "session", "cell"], "the next prompt has its own")
eq(chain("/usr/bin/agent"), ["/usr/bin/agent", "session", "cell"], "the agent is below its session")
eq([s["status"]["code"] for s in spans.values() if s["name"] == "/usr/bin/curl"], [2], "a program that failed")

seen = send("--format", "ocsf")
eq((sum(len(b.splitlines()) for p, h, b in seen), seen[0][1]["Content-Type"]), (len(lines), "application/x-ndjson"), "OCSF goes to a server, too")
eq(len(send("--format", "ndjson", replies=[503, 429, 200])), 3, "a server that is busy is asked again")
eq(len(send("--format", "ndjson", replies=[400], status=1)), 1, "one that refuses is not")
eq(len(send("--format", "ndjson", replies=[302], status=1)), 1, "and none is followed elsewhere")
run("export", "--to", "file:///etc/passwd", status=1)
run("export", "--format", "xml", status=2)
server.shutdown()

print("1..%d" % count)
sys.exit(1 if failed else 0)
