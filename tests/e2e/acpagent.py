#!/usr/bin/env python3
"""An agent that speaks ACP on its standard streams, and does what its prompts say: each prompt is a
line of words separated by ';', of the form VERB or VERB ARGUMENT. It can misbehave in many ways.

Options: --load, --resume (it can go on with a session after its end; its state is in a file),
--silent (it never answers), --version N, --auth (it wants authentication first), --exit N (at once),
--modes, --models, --options (what it offers)."""

import json
import os
import subprocess
import sys
import time

ARGS = sys.argv[1:]
STATE = os.environ.get("AGENT_STATE", "/tmp/agent-state.json")
out = sys.stdout.buffer
pending = {}
last_id = 0
early = []
cancelled = False
authenticated = "--auth" not in ARGS
session = None
turns = 0


def option(name, default=None):
    return ARGS[ARGS.index(name) + 1] if name in ARGS else default


def raw(data):
    out.write(data)
    out.flush()


def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")


def read():
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line.strip():
            return json.loads(line)


def ask(method, params):
    """A request of ours, and its answer."""
    global last_id
    last_id += 1
    send({"id": last_id, "method": method, "params": {"sessionId": session, **params}})
    return answer_to(last_id)


def answer_to(mine):
    """The answer to a request; what comes before it is kept, but for a cancel."""
    global cancelled
    while True:
        m = read()
        if m.get("id") == mine and "method" not in m:
            return m
        if m.get("method") == "session/cancel":
            cancelled = True
        else:
            early.append(m)


def update(which, **more):
    send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": which, **more}}})


def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def answer_text(m):
    return json.dumps(m.get("result", m.get("error")), sort_keys=True)


def do(verb, rest):
    global last_id, cancelled
    if verb == "say":
        say(rest)
    elif verb == "think":
        update("agent_thought_chunk", content={"type": "text", "text": rest})
    elif verb == "count":
        for i in range(int(rest)):
            say(f"{i} ")
    elif verb == "trickle":
        for i in range(int(rest)):
            say(f"{i} ")
            time.sleep(0.002)
    elif verb == "paced":
        n, per_second = map(int, rest.split())
        begin = time.monotonic()
        for i in range(n):
            due = begin + i / per_second
            while time.monotonic() < due:
                time.sleep(max(0, due - time.monotonic()))
            say(f"{i} {time.time()}")
    elif verb == "tool":
        update("tool_call", toolCallId="c1", title=rest, kind="edit", status="pending")
        update("tool_call_update", toolCallId="c1", status="completed")
    elif verb == "odd":
        raw(b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + session.encode() + b'","update":{ "sessionUpdate":"never_heard_of", "n": 1.10, "big":123456789012345678901234567890, "z":1,"a":"\\u00e9" }}}\n')
    elif verb == "notify":
        send({"method": "x/strange", "params": {"a": 1}})
    elif verb == "ask":
        m = ask("session/request_permission", {"toolCall": {"toolCallId": "c9", "title": rest, "kind": "execute"}, "options": OPTIONS})
        say("answer " + answer_text(m))
    elif verb == "askwith":
        m = ask("session/request_permission", {"toolCall": {"toolCallId": "c8", **json.loads(rest)}, "options": OPTIONS})
        say("answer " + answer_text(m))
    elif verb == "call":
        update("tool_call", toolCallId="c7", **json.loads(rest))
    elif verb == "asks":
        for i in range(int(rest)):
            last_id += 1
            send({"id": last_id, "method": "session/request_permission", "params": {"sessionId": session, "toolCall": {"toolCallId": f"c{i}", "title": f"t{i}"}, "options": OPTIONS}})
    elif verb == "read":
        say("read " + answer_text(ask("fs/read_text_file", {"path": rest})))
    elif verb == "readpart":
        path, line, limit = rest.split()
        say("read " + answer_text(ask("fs/read_text_file", {"path": path, "line": int(line), "limit": int(limit)})))
    elif verb == "write":
        path, text = rest.split(" ", 1)
        say("write " + answer_text(ask("fs/write_text_file", {"path": path, "content": text + "\n"})))
    elif verb == "run":
        t = ask("terminal/create", {"command": "/bin/sh", "args": ["-c", rest]})
        if "error" in t:
            say("run " + answer_text(t))
            return
        t = t["result"]["terminalId"]
        e = ask("terminal/wait_for_exit", {"terminalId": t})
        o = ask("terminal/output", {"terminalId": t})
        ask("terminal/release", {"terminalId": t})
        say("run " + answer_text(e) + " " + answer_text(o))
    elif verb == "runkill":
        t = ask("terminal/create", {"command": "sleep 1000"})["result"]["terminalId"]
        ask("terminal/kill", {"terminalId": t})
        say("killed " + answer_text(ask("terminal/wait_for_exit", {"terminalId": t})))
        say("gone " + answer_text(ask("terminal/output", {"terminalId": "t_nothing"})))
    elif verb == "terminals":
        made = [ask("terminal/create", {"command": "sleep", "args": ["1000"]}) for _ in range(int(rest))]
        say("terminals %d" % sum("result" in t for t in made))
    elif verb == "unknown":
        say("unknown " + answer_text(ask("no/such_method", {})))
    elif verb == "unknown_as":
        # With an id of its own, as JSON; what is answered to it.
        raw(b'{"jsonrpc":"2.0","id":%s,"method":"no/such_method","params":{}}\n' % rest.encode())
        say("unknown " + answer_text(answer_to(json.loads(rest))))
    elif verb == "ask_as":
        raw(b'{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":%s}\n' % (rest.encode(), json.dumps(
            {"sessionId": session, "toolCall": {"toolCallId": "c9", "title": "Run it"}, "options": OPTIONS}).encode()))
        say("answer " + answer_text(answer_to(json.loads(rest))))
    elif verb == "read_as":
        raw(b'{"jsonrpc":"2.0","id":%s,"method":"fs/read_text_file","params":%s}\n' % (rest.encode(), json.dumps({"sessionId": session, "path": "/etc/hostname"}).encode()))
        say("read " + answer_text(answer_to(json.loads(rest))))
    elif verb == "sleep":
        end = time.monotonic() + float(rest)
        while time.monotonic() < end and not cancelled:
            time.sleep(0.02)
    elif verb == "until_cancel":
        while not cancelled:
            m = read()
            if m.get("method") == "session/cancel":
                cancelled = True
            else:
                early.append(m)
    elif verb == "ignore_cancel":
        time.sleep(1000)
    elif verb == "noise":
        raw(b"this is not JSON\n\xff\xfe bytes\n{\"jsonrpc\":\n[1,2]\n\"text\"\n{}\n")
    elif verb == "answers":
        send({"id": 4711, "result": {}})
        send({"id": "x", "error": {"code": 1, "message": "m"}})
        send({"id": None, "result": {}})
    elif verb == "long":
        for _ in range(int(rest)):
            raw(b"x" * (1 << 20))
        raw(b"\n")
    elif verb == "flood":
        block = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + session.encode() + b'","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"' + b"y" * 8000 + b'"}}}}\n'
        for _ in range(int(rest) * 128):
            raw(block)
    elif verb == "requests":
        for i in range(int(rest)):
            send({"id": f"r{i}", "method": "no/such_method", "params": {"pad": "p" * 200}})
    elif verb == "stderr":
        sys.stderr.write(rest + "\n")
        sys.stderr.flush()
    elif verb == "partial":
        # A line in two halves, with a message on standard error between them.
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": rest}}}}).encode() + b"\n"
        raw(line[:40])
        sys.stderr.write("between\n")
        sys.stderr.flush()
        while not os.path.exists("/tmp/go"):
            time.sleep(0.02)
        raw(line[40:])
    elif verb == "wait":
        while not os.path.exists(rest):
            time.sleep(0.02)
    elif verb == "touch":
        open(rest, "w").close()
    elif verb == "die":
        os.kill(os.getpid(), 9)
    elif verb == "exit":
        sys.exit(int(rest))
    elif verb == "fork":
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    elif verb == "error":
        raise RuntimeError(rest)
    elif verb == "usage":
        update("usage_update", used=10, size=100, cost={"amount": 0.25, "currency": "USD"})
    elif verb == "title":
        update("session_info_update", title=rest)
    elif verb == "env":
        say("env " + os.environ.get(rest, "none"))
    elif verb == "count_state":
        say("turns " + str(turns))


def text_of(blocks):
    return ";".join(b.get("text") or b.get("uri") or b["type"] for b in blocks)


def prompt(m):
    global cancelled, turns
    cancelled = False
    turns += 1
    save()
    text = text_of(m["params"]["prompt"])
    try:
        if text.startswith("big "):
            say(str(len(text)))
        else:
            for words in text.split(";"):
                verb, _, rest = words.strip().partition(" ")
                if not cancelled:
                    do(verb, rest)
    except RuntimeError as e:
        send({"id": m["id"], "error": {"code": -32603, "message": str(e)}})
        return
    send({"id": m["id"], "result": {"stopReason": "cancelled" if cancelled else "end_turn", "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}}})


def save():
    if "--load" in ARGS or "--resume" in ARGS:
        json.dump({"session": session, "turns": turns}, open(STATE, "w"))


CONFIG = [{"id": "effort", "name": "Effort", "category": "model", "type": "select", "currentValue": "low", "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]


def state():
    o = {}
    if "--modes" in ARGS:
        o["modes"] = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    if "--models" in ARGS:
        o["models"] = {"currentModelId": "small", "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}]}
    if "--options" in ARGS:
        o["configOptions"] = CONFIG
    return o


def serve(m):
    global session, turns, authenticated
    method, params = m.get("method"), m.get("params", {})
    if method == "initialize":
        caps = {"promptCapabilities": {"image": "--images" in ARGS}}
        if "--load" in ARGS:
            caps["loadSession"] = True
        if "--resume" in ARGS:
            caps["sessionCapabilities"] = {"resume": {}}
        send({"id": m["id"], "result": {"protocolVersion": int(option("--version", "1")), "agentCapabilities": caps, "agentInfo": {"name": "acpagent", "version": "1"},
                                        "authMethods": [{"id": "browser", "name": "Log in"}, {"id": "test-api-key", "name": "Key"}]}})
    elif method == "authenticate":
        authenticated = params["methodId"] == "test-api-key"
        send({"id": m["id"], "result": {}} if authenticated else {"id": m["id"], "error": {"code": -32000, "message": "no"}})
    elif method == "session/new":
        if not authenticated:
            send({"id": m["id"], "error": {"code": -32000, "message": "Authentication required"}})
            return
        session, turns = "acp-%d" % os.getpid(), 0
        save()
        send({"id": m["id"], "result": {"sessionId": session, **state()}})
    elif method in ("session/load", "session/resume"):
        s = json.load(open(STATE))
        session, turns = s["session"], s["turns"]
        if method == "session/load":
            for i in range(turns):
                update("user_message_chunk", content={"type": "text", "text": "history"})
                say("history")
        send({"id": m["id"], "result": state()})
    elif method == "session/set_mode":
        send({"id": m["id"], "result": {}})
    elif method == "session/set_model":
        send({"id": m["id"], "result": {}})
    elif method == "session/set_config_option":
        CONFIG[0]["currentValue"] = params["value"]
        send({"id": m["id"], "result": {"configOptions": CONFIG}})
    elif method == "session/prompt":
        prompt(m)
    elif "id" in m and method:
        send({"id": m["id"], "error": {"code": -32601, "message": "unknown"}})


if "--exit" in ARGS:
    sys.stderr.write("this agent ends at once\n")
    sys.exit(int(option("--exit")))
if "--silent" in ARGS:
    time.sleep(1000)
while True:
    serve(early.pop(0) if early else read())
