#!/usr/bin/env python3
"""An MCP server for tests, on standard streams. Its tools: add, fail, die, slow, state, big; the others cannot be used. Arguments:
a file to which it writes what it gets, and the version of the protocol that it speaks."""
import json
import os
import sys
import threading
import time

log = open(sys.argv[1], "a", buffering=1)
version = sys.argv[2] if len(sys.argv) > 2 else None
lock = threading.Lock()
count = 0
number = {"type": "number"}
pages = {
    None: (
        [
            {"name": "add", "description": "adds numbers", "inputSchema": {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}},
            {"name": "fail", "inputSchema": {"type": "object"}},
            {"name": "die", "inputSchema": {"type": "object"}},
        ],
        "second",
    ),
    "second": (
        [
            {"name": "slow", "inputSchema": {"type": "object"}},
            {"name": "state", "inputSchema": {"type": "object"}},
            {"name": "big", "inputSchema": {"type": "object"}},
            {"name": "odd\u0007 name", "inputSchema": {"type": "object"}},
            {"name": "pattern", "inputSchema": {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}},
        ],
        None,
    ),
}


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def answer(id, text, error=False):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": error}})


def slow(id):
    time.sleep(3600)
    answer(id, "late")


def call(id, name, arguments):
    global count
    count += 1
    if name == "add":
        send({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
        answer(id, str(arguments["a"] + arguments["b"]))
    elif name == "fail":
        answer(id, "it went wrong", True)
    elif name == "die":
        print("dying words", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "slow":
        threading.Thread(target=slow, args=(id,), daemon=True).start()
    elif name == "state":
        answer(id, f"call {count} of {os.environ.get('VIV_CELL_NAME', '?')}")
    elif name == "big":
        with lock:
            sys.stdout.write("x" * (20 << 20))
            sys.stdout.flush()
    else:
        send({"id": id, "error": {"code": -32602, "message": "no such tool"}})


print("noise on stdout that is no message", flush=True)
for line in sys.stdin:
    m = json.loads(line)
    log.write(m.get("method", "answer") + "\n")
    if m.get("method") == "initialize":
        send({"id": "ours", "method": "ping"})
        send({"id": 999, "result": {}})
        send({"id": m["id"], "result": {"protocolVersion": version or m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}})
    elif m.get("method") == "tools/list":
        tools, cursor = pages[m["params"].get("cursor")]
        send({"id": m["id"], "result": {"tools": tools, **({"nextCursor": cursor} if cursor else {})}})
    elif m.get("method") == "tools/call":
        call(m["id"], m["params"]["name"], m["params"]["arguments"])
