"""A model that follows a script, behind the API of Anthropic's messages: model.py ADDRESS CERTIFICATE KEY VALUE LOG

The first answer calls the tools 'write' and 'bash', the next one says that it is done. What was asked goes to LOG, one
JSON object in each line. Only requests with the key VALUE are answered.
"""
import http.server
import json
import ssl
import sys

ADDRESS, CERTIFICATE, KEY, VALUE, LOG = sys.argv[1:6]
CALLS = [
    ("write", {"path": "hello.py", "content": "print('written by the agent')\n"}),
    ("bash", {"command": "python3 hello.py > result.txt; env | grep -c real-value >> result.txt; uname -n >> result.txt"}),
]


def events(step):
    """The stream of one answer."""
    yield "message_start", {"message": {"id": "msg_%d" % step, "type": "message", "role": "assistant", "model": "scripted", "content": [],
                                        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}}
    if step < len(CALLS):
        name, arguments = CALLS[step]
        yield "content_block_start", {"index": 0, "content_block": {"type": "tool_use", "id": "toolu_%d" % step, "name": name, "input": {}}}
        text = json.dumps(arguments)
        for at in range(0, len(text), 20):
            yield "content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": text[at:at + 20]}}
    else:
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        for word in "The file is written ", "and was run. ", "My key is " + VALUE + ".":
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {"stop_reason": "tool_use" if step < len(CALLS) else "end_turn", "stop_sequence": None},
                            "usage": {"output_tokens": 20}}
    yield "message_stop", {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        known = VALUE in (self.headers.get("x-api-key"), (self.headers.get("authorization") or "").removeprefix("Bearer "))
        with open(LOG, "a") as f:
            f.write(json.dumps({"path": self.path, "known": known, "host": self.headers.get("host"), "leak": VALUE in body.decode()}) + "\n")
        if not known:
            self.send_error(401)
            return
        results = sum(1 for m in json.loads(body).get("messages", []) if isinstance(m["content"], list)
                      for c in m["content"] if c.get("type") == "tool_result")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events(results):
            text = ("event: %s\ndata: %s\n\n" % (name, json.dumps(dict(data, type=name)))).encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer((ADDRESS, 443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
