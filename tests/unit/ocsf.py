"""What OCSF 1.3 asks of the events that journals are exported as: which attributes each class and object may have, must have
(required), or must have one of, their types and the values of enums. Attributes that our events do not use are not listed, so one
that appears and is not here is an error: look it up and add it."""

import ipaddress

REQUIRED = {  # class or object: attributes that it cannot do without
    "base": ["activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"],
    1001: ["actor", "device", "file"],
    1007: ["actor", "device", "process"],
    4001: [],
    4002: [],
    4003: [],
    6003: ["actor", "api", "src_endpoint"],
    "metadata": ["product", "version"],
    "product": ["vendor_name"],
    "device": ["type_id"],
    "file": ["name", "type_id"],
    "fingerprint": ["algorithm_id", "value"],
    "connection_info": ["direction_id"],
    "http_response": ["code"],
    "query": ["hostname"],
    "api": ["operation"],
}
ONE_OF = {  # constraints "at_least_one"
    4001: ["dst_endpoint", "src_endpoint"],
    4002: ["http_request", "http_response"],
    4003: ["dst_endpoint", "src_endpoint"],
    "product": ["name", "uid"],
    "device": ["ip", "uid", "name", "hostname"],
    "endpoint": ["ip", "uid", "name", "hostname", "svc_name"],
    "process": ["pid", "uid"],
    "user": ["name", "uid"],
    "actor": ["process", "user", "session", "app_name", "app_uid"],
    "url": ["url_string", "path"],
}
BASE = {"activity_id": int, "activity_name": str, "category_uid": {1, 4, 6}, "class_uid": int, "type_uid": int, "severity_id": {0, 1, 2, 3, 4, 5, 6, 99}, "status_id": {0, 1, 2, 99},
        "time": "time", "metadata": "metadata", "unmapped": dict}
HOST = {"actor": "actor", "device": "device"}  # of the profile "host", or of the class itself
NETWORK = {"src_endpoint": "endpoint", "dst_endpoint": "endpoint", "connection_info": "connection_info", "traffic": "traffic"}
TYPES = {
    1001: {**BASE, **HOST, "file": "file", "file_result": "file"},
    1007: {**BASE, **HOST, "process": "process", "exit_code": int},
    4001: {**BASE, **HOST, **NETWORK},
    4002: {**BASE, **HOST, **NETWORK, "http_request": "http_request", "http_response": "http_response"},
    4003: {**BASE, **HOST, **NETWORK, "query": "query"},
    6003: {**BASE, **HOST, "api": "api", "src_endpoint": "endpoint"},
    "metadata": {"version": str, "product": "product", "sequence": int, "correlation_uid": str, "profiles": [str]},
    "product": {"name": str, "vendor_name": str, "version": str},
    "device": {"type_id": set(range(9)), "type": str, "uid": str, "name": str},
    "actor": {"process": "process", "session": "session", "app_name": str},
    "session": {"uid": str},
    "process": {"pid": int, "uid": str, "created_time": "time", "name": str, "cmd_line": str, "file": "file", "user": "user"},
    "user": {"uid": str, "type_id": {0, 1, 2, 3, 4, 99}},
    "file": {"name": str, "path": str, "type_id": {0, 1, 2, 3, 4, 5, 6, 7, 99}, "size": int, "hashes": ["fingerprint"]},
    "fingerprint": {"algorithm_id": {0, 1, 2, 3, 4, 5, 6, 7, 99}, "algorithm": str, "value": str},
    "endpoint": {"type_id": set(range(13)), "uid": str, "name": str, "hostname": str, "ip": "ip", "port": "port"},
    "connection_info": {"direction_id": {0, 1, 2, 3, 99}, "direction": str, "protocol_name": str, "protocol_num": int},
    "traffic": {"bytes": int, "bytes_in": int, "bytes_out": int},
    "http_request": {"http_method": str, "url": "url", "length": int},
    "http_response": {"code": int, "length": int},
    "url": {"url_string": str},
    "query": {"hostname": str},
    "api": {"operation": str},
}
RECOMMENDED = {  # that our records have, and so must be there
    1007: [], 4001: ["dst_endpoint", "src_endpoint", "connection_info"], 4002: ["dst_endpoint", "src_endpoint", "http_request", "traffic"],
    4003: ["dst_endpoint", "src_endpoint", "query"], 6003: [], 1001: [], "process": ["pid"], "endpoint": [], "traffic": ["bytes"], "http_request": ["http_method", "url"],
}
ACTIVITIES = {1001: set(range(15)), 1007: set(range(6)), 4001: set(range(8)), 4002: set(range(9)), 4003: {0, 1, 2, 6}, 6003: set(range(5))}


def value(v, kind, at):
    if isinstance(kind, list):
        return [w for i, x in enumerate(v) for w in value(x, kind[0], "%s[%d]" % (at, i))] if isinstance(v, list) else ["%s is not a list" % at]
    if isinstance(kind, set):
        return [] if isinstance(v, int) and v in kind else ["%s is %r" % (at, v)]
    if isinstance(kind, type):
        return [] if isinstance(v, kind) and not isinstance(v, bool) and v != "" else ["%s is %r" % (at, v)]
    if kind == "time":
        return [] if isinstance(v, int) and 0 <= v < 10**13 else ["%s is %r" % (at, v)]
    if kind == "port":
        return [] if isinstance(v, int) and 0 < v < 65536 else ["%s is %r" % (at, v)]
    if kind == "ip":
        try:
            ipaddress.ip_address(v)
        except ValueError:
            return ["%s is %r" % (at, v)]
        return []
    return thing(v, kind, at)


def thing(v, kind, at):
    if not isinstance(v, dict):
        return ["%s is not an object" % at]
    wrong = ["%s has no %s" % (at, n) for n in REQUIRED.get(kind, []) + RECOMMENDED.get(kind, []) if n not in v]
    if kind in ONE_OF and not any(n in v for n in ONE_OF[kind]):
        wrong.append("%s has none of %s" % (at, ", ".join(ONE_OF[kind])))
    for n, x in v.items():
        wrong += value(x, TYPES[kind][n], "%s.%s" % (at, n)) if n in TYPES[kind] else ["%s.%s: there is no such attribute" % (at, n)]
    return wrong


def check(e):
    """What is wrong with an event, as sentences."""
    c, name = e.get("class_uid"), e.get("unmapped", {}).get("kind", "?")
    if c not in ACTIVITIES:
        return ["%s: class %r" % (name, c)]
    wrong = thing(e, c, name) + ["%s has no %s" % (name, n) for n in REQUIRED["base"] if n not in e]
    a = e["activity_id"]
    if a not in ACTIVITIES[c] | {99} or (a == 99) != ("activity_name" in e):
        wrong.append("%s: activity %r" % (name, a))
    if e["type_uid"] != c * 100 + a or e["category_uid"] != c // 1000:
        wrong.append("%s: type_uid or category_uid" % name)
    if c not in (1001, 1007) and "host" not in e["metadata"].get("profiles", []) and ("device" in e or "actor" in e):
        wrong.append("%s: actor and device are of the profile host" % name)
    return wrong
