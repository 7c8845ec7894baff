"""How the model of model.py reads requests and writes answers: Anthropic's messages, OpenAI's chat completions and responses, Gemini's.

Each API is a class with what it needs of a request's body (as 'Request'), and a stream of server-sent events for an answer. An answer is
('say', pieces) with an iterable of texts, or ('call', tool, arguments), where the arguments of a tool without a schema are text.
"""
import json
import time

USAGE = (120, 20)  # tokens in, tokens out


class Tool:
    def __init__(self, name, schema=None, free=False, space=None):
        self.name, self.schema, self.free, self.space = name, schema or {}, free, space


class Request:
    """What was asked: the offered tools, what was said and done: ('user', text), ('result', text), ('model', ''), the schema that the answer
    must have, if any, and whether commands must ask to be run outside of a sandbox."""

    def __init__(self, tools, turns, stream, schema=None, confined=False):
        self.tools, self.turns, self.stream, self.schema, self.confined = tools, turns, stream, schema, confined


def text_of(content):
    """The text in what may be a string, an object or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        for key in "text", "output", "content", "result", "error":
            if key in content:
                return text_of(content[key])
        return json.dumps(content)
    return ""


def number():
    number.last += 1
    return number.last


number.last = 0


def pieces_of(arguments):
    text = json.dumps(arguments)
    return [text[at:at + 20] for at in range(0, len(text), 20)]


class Messages:
    """POST /v1/messages of Anthropic."""

    @staticmethod
    def read(body):
        turns = []
        for message in body.get("messages", []):
            content = message["content"]
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if message["role"] == "assistant":
                    turns.append(("model", ""))
                elif part.get("type") == "tool_result":
                    turns.append(("result", text_of(part.get("content"))))
                elif part.get("type") == "text":
                    turns.append(("user", part["text"]))
        tools = [Tool(t["name"], t.get("input_schema")) for t in body.get("tools") or []]
        form = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
        return Request(tools, turns, body.get("stream", False), form.get("schema"))

    @staticmethod
    def stream(body, answer):
        usage = {"input_tokens": USAGE[0], "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        yield "message_start", {"message": {"id": "msg_%d" % number(), "type": "message", "role": "assistant", "model": body.get("model"),
                                            "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}}
        if answer[0] == "call":
            block = {"type": "tool_use", "id": "toolu_%08d" % number(), "name": answer[1].name, "input": {}}
            yield "content_block_start", {"index": 0, "content_block": block}
            for piece in pieces_of(answer[2]):
                yield "content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
        else:
            yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
            for piece in answer[1]:
                yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield "content_block_stop", {"index": 0}
        yield "message_delta", {"delta": {"stop_reason": "tool_use" if answer[0] == "call" else "end_turn", "stop_sequence": None},
                                "usage": {"output_tokens": USAGE[1]}}
        yield "message_stop", {}

    @staticmethod
    def whole(body, answer):
        if answer[0] == "call":
            content = [{"type": "tool_use", "id": "toolu_%08d" % number(), "name": answer[1].name, "input": answer[2]}]
        else:
            content = [{"type": "text", "text": "".join(answer[1])}]
        return {"id": "msg_%d" % number(), "type": "message", "role": "assistant", "model": body.get("model"), "content": content,
                "stop_reason": "tool_use" if answer[0] == "call" else "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": USAGE[0], "output_tokens": USAGE[1]}}


class Chat:
    """POST /v1/chat/completions of OpenAI."""

    @staticmethod
    def read(body):
        kinds = {"user": "user", "tool": "result", "assistant": "model"}
        turns = [(kinds[m["role"]], text_of(m.get("content"))) for m in body.get("messages", []) if m["role"] in kinds]
        tools = [Tool(t["function"]["name"], t["function"].get("parameters")) for t in body.get("tools") or [] if "function" in t]
        return Request(tools, turns, body.get("stream", False))

    @staticmethod
    def usage():
        return {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}

    @staticmethod
    def stream(body, answer):
        head = {"id": "chatcmpl-%d" % number(), "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model")}

        def chunk(delta, finish=None):
            return None, dict(head, choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

        yield chunk({"role": "assistant", "content": ""})
        if answer[0] == "call":
            call = {"index": 0, "id": "call_%d" % number(), "type": "function", "function": {"name": answer[1].name, "arguments": ""}}
            yield chunk({"tool_calls": [call]})
            for piece in pieces_of(answer[2]):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
            yield chunk({}, "tool_calls")
        else:
            for piece in answer[1]:
                yield chunk({"content": piece})
            yield chunk({}, "stop")
        yield None, dict(head, choices=[], usage=Chat.usage())
        yield None, "[DONE]"

    @staticmethod
    def whole(body, answer):
        message = {"role": "assistant", "content": None}
        if answer[0] == "call":
            message["tool_calls"] = [{"id": "call_%d" % number(), "type": "function",
                                      "function": {"name": answer[1].name, "arguments": json.dumps(answer[2])}}]
        else:
            message["content"] = "".join(answer[1])
        return {"id": "chatcmpl-%d" % number(), "object": "chat.completion", "created": int(time.time()), "model": body.get("model"),
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if answer[0] == "call" else "stop"}],
                "usage": Chat.usage()}


class Responses:
    """POST /v1/responses of OpenAI."""

    @staticmethod
    def read(body):
        turns, items = [], body.get("input", [])
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        for item in items:
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user":
                turns.append(("user", text_of(item.get("content"))))
            elif kind.endswith("_call_output"):
                turns.append(("result", text_of(item.get("output"))))
            elif kind == "message" and item.get("role") == "assistant":
                turns.append(("model", ""))
        # Tools may come later, in an item, and be in name spaces.
        given = (body.get("tools") or []) + [t for i in items if i.get("type") == "additional_tools" for t in i.get("tools", [])]
        given = [(t, t.get("name") if t.get("type") == "namespace" else None) for t in given]
        flat = [(u, space) for t, space in given for u in (t.get("tools", []) if space else [t])]
        tools = [Tool(t["name"], t.get("parameters"), t["type"] == "custom", space) for t, space in flat if t.get("type") in ("function", "custom")]
        told = " ".join(text_of(i.get("content")) for i in items if i.get("role") == "developer")
        confined = "`sandbox_mode` is `" in told and "`sandbox_mode` is `danger-full-access`" not in told
        return Request(tools, turns, body.get("stream", False), ((body.get("text") or {}).get("format") or {}).get("schema"), confined)

    @staticmethod
    def item(answer, text):
        if answer[0] == "say":
            return {"type": "message", "id": "msg_%d" % number(), "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}
        call = {"id": "fc_%d" % number(), "call_id": "call_%d" % number(), "name": answer[1].name, "status": "completed"}
        if answer[1].space:
            call["namespace"] = answer[1].space
        if answer[1].free:
            return dict(call, type="custom_tool_call", id="ctc_%d" % number(), input=answer[2])
        return dict(call, type="function_call", arguments=json.dumps(answer[2]))

    @staticmethod
    def response(body, name, status, output):
        return {"id": name, "object": "response", "created_at": int(time.time()), "status": status, "model": body.get("model"),
                "output": output, "parallel_tool_calls": False, "error": None, "incomplete_details": None,
                "usage": None if status != "completed" else {
                    "input_tokens": USAGE[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USAGE[1],
                    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(USAGE)}}

    @staticmethod
    def stream(body, answer):
        name, count = "resp_%d" % number(), iter(range(1 << 30))

        def event(kind, **data):
            return kind, dict(data, sequence_number=next(count))

        yield event("response.created", response=Responses.response(body, name, "in_progress", []))
        done = Responses.item(answer, "")
        empty = dict(done, status="in_progress")
        at = {"item_id": done["id"], "output_index": 0}
        if answer[0] == "say":
            yield event("response.output_item.added", output_index=0, item=dict(empty, content=[]))
            at["content_index"] = 0
            yield event("response.content_part.added", **at, part={"type": "output_text", "text": "", "annotations": []})
            text = ""
            for piece in answer[1]:
                text += piece
                yield event("response.output_text.delta", **at, delta=piece)
            done["content"][0]["text"] = text
            yield event("response.output_text.done", **at, text=text)
            yield event("response.content_part.done", **at, part=done["content"][0])
        else:
            field, kind = ("input", "custom_tool_call_input") if answer[1].free else ("arguments", "function_call_arguments")
            yield event("response.output_item.added", output_index=0, item=dict(empty, **{field: ""}))
            for start in range(0, len(done[field]), 20):
                yield event("response.%s.delta" % kind, **at, delta=done[field][start:start + 20])
            yield event("response.%s.done" % kind, **at, **{field: done[field]})
        yield event("response.output_item.done", output_index=0, item=done)
        yield event("response.completed", response=Responses.response(body, name, "completed", [done]))

    @staticmethod
    def whole(body, answer):
        text = "".join(answer[1]) if answer[0] == "say" else ""
        return Responses.response(body, "resp_%d" % number(), "completed", [Responses.item(answer, text)])


class Gemini:
    """POST /v1beta/models/MODEL:generateContent and :streamGenerateContent."""

    @staticmethod
    def read(body):
        turns = []
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if content.get("role") == "model":
                    turns.append(("model", ""))
                elif "functionResponse" in part:
                    turns.append(("result", text_of(part["functionResponse"].get("response"))))
                elif "text" in part:
                    turns.append(("user", part["text"]))
        tools = [Tool(f["name"], f.get("parametersJsonSchema") or f.get("parameters"))
                 for t in body.get("tools") or [] for f in t.get("functionDeclarations", [])]
        config = body.get("generationConfig") or {}
        # Whether it is a stream is said by the path.
        return Request(tools, turns, None, config.get("responseJsonSchema") or config.get("responseSchema"))

    @staticmethod
    def chunk(parts, finish=None):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {"candidates": [candidate], "modelVersion": "scripted", "responseId": "r%d" % number(),
                "usageMetadata": {"promptTokenCount": USAGE[0], "candidatesTokenCount": USAGE[1], "totalTokenCount": sum(USAGE)}}

    @staticmethod
    def stream(body, answer):
        if answer[0] == "call":
            yield None, Gemini.chunk([{"functionCall": {"name": answer[1].name, "args": answer[2]}}], "STOP")
            return
        for piece in answer[1]:
            yield None, Gemini.chunk([{"text": piece}])
        yield None, Gemini.chunk([{"text": ""}], "STOP")

    @staticmethod
    def whole(body, answer):
        if answer[0] == "call":
            return Gemini.chunk([{"functionCall": {"name": answer[1].name, "args": answer[2]}}], "STOP")
        return Gemini.chunk([{"text": "".join(answer[1])}], "STOP")
