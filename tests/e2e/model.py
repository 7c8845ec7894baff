"""A model that follows a script, behind the APIs of Anthropic, OpenAI and Gemini: model.py ADDRESS CERTIFICATE KEY VALUE LOG

The script is in the prompt, between '<<<' and '>>>': a JSON list of steps, one for each answer. The last prompt that has one counts.

    ["read", PATH]  ["write", PATH, TEXT]  ["edit", PATH, OLD LINE, NEW LINE]  ["run", COMMAND]    a call of a tool
    ["call", NAME, ARGUMENTS]    a call of the tool with this name, whatever stands before it (the name of its MCP server)
    ["say", TEXT]      a report: {result} is what the last tool answered, {key} the key that came with the request
    ["wait", SECONDS]  words, slowly, for that long or until nobody listens

Steps become calls of whatever tools the request offers (Read, read_file, bash, exec_command, apply_patch, ...), with arguments by their
schemas. A request without tools (agents want titles and summaries) is answered in a word, one with a schema for the answer with such a value.

Only requests with the key VALUE are answered. Each one is a line of LOG, a JSON object: host, path, known (the key came), leak (it also came in
the body), placeholder (a header or the path has something that stands for a key), scripts (how many prompts the request remembers), step, and
what the answer was.
"""
import http.server
import json
import re
import ssl
import sys
import threading
import time

from modelwire import Chat, Gemini, Messages, Responses

ADDRESS, CERTIFICATE, KEY, VALUE, LOG = sys.argv[1:6]
NAMES = {
    "read": ("read", "read_file", "view"),
    "write": ("write", "write_file"),
    "edit": ("edit", "replace", "edit_file", "apply_patch"),
    "run": ("bash", "shell", "shell_command", "exec_command", "run_shell_command", "local_shell"),
}
LOCK = threading.Lock()


def log(**entry):
    with LOCK, open(LOG, "a") as f:
        f.write(json.dumps(entry) + "\n")


def patch(verb, path, old, new):
    if verb == "write":
        body = "*** Add File: %s\n%s" % (path, "".join("+%s\n" % line for line in new.splitlines()))
    else:
        body = "*** Update File: %s\n@@\n-%s\n+%s\n" % (path, old, new)
    return "*** Begin Patch\n%s*** End Patch\n" % body


def as_command(verb, path, old="", new=""):
    """A step for an agent whose only tool is a shell."""
    if verb == "read":
        return "cat '%s'" % path
    if verb == "write":
        return "cat >'%s' <<'END'\n%sEND" % (path, new)
    return "sed -i 's|^%s$|%s|' '%s'" % (old, new, path)


def filled(schema, values):
    """Arguments by a JSON schema: what a property is for is known by its name."""
    arguments = {}
    required = schema.get("required") or []
    for name, about in (schema.get("properties") or {}).items():
        kinds = about.get("type") or [a.get("type") for a in about.get("anyOf") or []]
        kinds = [str(k).lower() for k in (kinds if isinstance(kinds, list) else [kinds])]
        kind = next((k for k in kinds if k != "null"), "")
        key = name.lower().replace("_", "")
        if key in values and kind == "array":
            arguments[name] = ["bash", "-c", values[key]]
        elif key in values:
            arguments[name] = values[key]
        elif kind == "array" and name == "edits":
            arguments[name] = [filled(about.get("items", {}), values)]
        elif name in required and "null" in kinds:
            arguments[name] = None
        elif name in required and about.get("enum"):
            arguments[name] = about["enum"][0]
        elif name in required:
            arguments[name] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}.get(kind, "as the script says")
    return arguments


def as_code(verb, command, change, confined):
    """A step for an agent whose tools are functions of a script in JavaScript (Codex)."""
    if verb in ("edit", "write"):
        return "text(await tools.apply_patch(%s));" % json.dumps(change)
    arguments = {"cmd": command}
    if confined:
        arguments.update(sandbox_permissions="require_escalated", justification="May this be run?")
    return "const r = await tools.exec_command(%s);\ntext(r.output ?? r);" % json.dumps(arguments)


def call_named(name, arguments, tools):
    """The call of a tool of an MCP server."""
    code = next((t for t in tools if t.name.lower() == "exec" and t.free), None)
    if code:
        return "call", code, ("const name = Object.keys(tools).find((n) => n.endsWith(%s));\nconst r = await tools[name](%s);\n"
                              "text(typeof r === 'string' ? r : JSON.stringify(r));" % (json.dumps("__" + name), json.dumps(arguments)))
    named = [t for t in tools if t.name.endswith("_" + name) or t.name == name and t.space]
    if not named:
        return "say", ["There is no tool '%s'." % name]
    return "call", named[0], arguments


def call(step, tools, confined):
    """The call of an offered tool that does the step."""
    verb, words = step[0], step[1:]
    path = words[0] if verb != "run" else ""
    old, new = (words[1], words[2]) if verb == "edit" else ("", words[1] if verb == "write" else "")
    command = words[0] if verb == "run" else as_command(verb, path, old, new)
    by_name = {t.name.lower(): t for t in tools}
    if "exec" in by_name and by_name["exec"].free:
        return "call", by_name["exec"], as_code(verb, command, patch(verb, path, old, new), confined)
    names = [n for n in NAMES[verb] if n in by_name]
    if not names and verb == "write" and "apply_patch" in by_name:
        names = ["apply_patch"]
    tool = by_name[(names or [n for n in NAMES["run"] if n in by_name])[0]]
    if tool.free:
        return "call", tool, patch(verb, path, old, new)
    values = dict.fromkeys(("filepath", "path", "absolutepath", "targetfile"), path)
    values.update(dict.fromkeys(("oldstring", "oldtext"), old))
    values.update(dict.fromkeys(("newstring", "newtext", "content"), new))
    values.update(command=command, cmd=command)
    if tool.name == "apply_patch":
        values.update(dict.fromkeys(("input", "patch", "patchtext"), patch(verb, path, old, new)))
    elif tool.name.lower() in NAMES["run"]:
        values = {"command": command, "cmd": command}
    return "call", tool, filled(tool.schema, values)


def slowly(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield "tick "
        time.sleep(0.1)


def words_of(text):
    return re.findall(r"\S+\s*|\s+", text) or [""]


def next_answer(request):
    """(how many scripts, step, answer): what the script of the last prompt says after the results that have come since."""
    scripts = [(at, text.rsplit("<<<", 1)[1].split(">>>")[0]) for at, (who, text) in enumerate(request.turns)
               if who == "user" and ">>>" in text.rpartition("<<<")[2]]
    if request.schema:
        return len(scripts), None, ("say", [json.dumps(filled(request.schema, {}))])
    if not request.tools or not scripts:
        return len(scripts), None, ("say", ["Scripted."])
    at, text = scripts[-1]
    script = json.loads(text)
    results = [t for who, t in request.turns[at:] if who == "result"]
    step = len(results)
    if step >= len(script):
        return len(scripts), step, ("say", ["The script is over."])
    if script[step][0] == "wait":
        return len(scripts), step, ("say", slowly(script[step][1]))
    if script[step][0] == "say":
        said = script[step][1].replace("{result}", results[-1][:2000] if results else "").replace("{key}", VALUE)
        return len(scripts), step, ("say", words_of(said))
    if script[step][0] == "call":
        return len(scripts), step, call_named(*script[step][1:3], request.tools)
    return len(scripts), step, call(script[step], request.tools, request.confined)


def api_of(path):
    if path.endswith("/messages"):
        return Messages
    if path.endswith("/chat/completions"):
        return Chat
    if path.endswith("/responses"):
        return Responses
    return Gemini if re.search(r":(streamG|g)enerateContent$", path) else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def asked(self, body):
        """What the log says about every request; whether it has the key."""
        headers = self.headers
        sent = [headers.get("x-api-key"), (headers.get("authorization") or "").removeprefix("Bearer "), headers.get("x-goog-api-key"),
                dict(p.partition("=")[::2] for p in self.path.partition("?")[2].split("&")).get("key")]
        known = VALUE in sent
        return dict(host=headers.get("host"), path=self.path.replace(VALUE, "KEY"), known=known, leak=VALUE.encode() in body,
                    placeholder="viv-secret" in self.path + str(headers)), known

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        entry, known = self.asked(b"")
        log(**entry, method="GET")
        if known and self.path.partition("?")[0].endswith("/models"):
            return self.answer({"object": "list", "data": [], "models": [], "has_more": False})
        self.answer({"error": {"type": "not_found_error", "message": "not in the script"}}, 404 if known else 401)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        entry, known = self.asked(body)
        path = self.path.partition("?")[0]
        api = api_of(path)
        if not known or not api:
            log(**entry, answer=None)
            if known and "count" in path.lower():
                return self.answer({"input_tokens": 100, "totalTokens": 100})
            return self.answer({"error": {"type": "error", "code": 404, "message": "not in the script"}}, 404 if known else 401)
        body = json.loads(body)
        request = api.read(body)
        scripts, step, answer = next_answer(request)
        entry.update(scripts=scripts, step=step, answer=answer[0] if answer[0] == "say" else [answer[1].name, answer[2]], tools=[t.name for t in request.tools])
        log(**entry)
        if not (":stream" in path if api is Gemini else request.stream):
            return self.answer(api.whole(body, answer))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for name, data in api.stream(body, answer):
                self.event(name, data)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            log(host=entry["host"], broken=True)
            self.close_connection = True

    def event(self, name, data):
        text = data if isinstance(data, str) else json.dumps(dict(data, type=name) if name else data)
        text = ("event: %s\ndata: %s\n\n" % (name, text) if name else "data: %s\n\n" % text).encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server((ADDRESS, 443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
# The handshake is made by the connection's own thread, not by the one that accepts.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
