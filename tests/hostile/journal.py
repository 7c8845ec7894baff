"""What the journal of tests/hostile/journal.c says: journal.py VIV CELL OUTPUT. Prints TAP without numbers."""

import hashlib
import json
import subprocess
import sys

viv, cell, output = sys.argv[1:4]


def run(*words):
    return subprocess.run([viv, *words], capture_output=True, timeout=300)


def check(good, what, more=""):
    print(("ok - " if good else "not ok - ") + what)
    if not good:
        print("# " + str(more)[:600].replace("\n", "\n# "))


p = run("journal", "verify", "--deep", cell)
check(p.returncode == 0, "the journal is good", p.stdout + p.stderr)
rs = [json.loads(line) for line in run("journal", "--json", cell).stdout.splitlines()]
check([r["seq"] for r in rs] == list(range(1, len(rs) + 1)) and not [r for r in rs if r["kind"] == "hole"], "it has no hole")
hashes, writers = {}, {}
for r in rs:
    path = r.get("path", "")
    path = "(odd)" if path.endswith("odd") else "(lost)" if path.endswith("/deepfile") else path
    if r["kind"] == "content":
        hashes.setdefault(path, []).append(r.get("hash"))
    if r["kind"] == "write":
        writers.setdefault(path, []).append(r["pid"])
for line in open(output, errors="replace"):
    words = line.split()
    if words[:2] == ["#", "file"]:
        name, byte, count, pid = words[2], int(words[3]), int(words[4]), int(words[5])
        want = hashlib.sha256(bytes([byte]) * count).hexdigest()
        check((hashes.get(name) or [None])[-1] == want, f"{name}: its last hash is that of what it held", hashes.get(name))
        if name != "/w/final":  # it was written under another name
            check(pid in writers.get(name, []), f"{name}: the process that wrote it is named", writers.get(name))
    if words[:2] == ["#", "ring"]:
        n = {k: sum(1 for r in rs if r["kind"] == k and r.get("path") == "/w/ring") for k in ("create", "remove")}
        check(n == {"create": int(words[2]), "remove": int(words[2])}, "a ring that is full loses nothing", n)
    if words[:2] == ["#", "renames"]:
        n = sum(1 for r in rs if r["kind"] == "rename")
        check(n == int(words[2]), "each rename is there", n)
lost = [r for r in rs if r["kind"] == "write" and r["path"].startswith("(lost)") and r["path"].endswith("/deepfile")]
check(lost, "a name that is too long for a path is marked as lost")
if any(r["kind"] == "mount" for r in rs):
    orphan = [r for r in rs if r["kind"] == "write" and r["path"].endswith("/orphan")]
    check(orphan, "what is written in a detached mount is recorded")
odd = [r for r in rs if r["kind"] == "create" and r["path"].endswith("odd")]
check(len(odd) == 1 and odd[0].get("path_base64"), "a name that is not UTF-8 has its bytes", odd)
text = run("journal", cell).stdout
check(b"\x1b" not in text and b"\r" not in text and all(line[:1] == b"2" for line in text.splitlines()), "no control character reaches the terminal")
blame = json.loads(run("blame", "--json", "--all", cell, "/w/final").stdout)
check("/t/journal" in json.dumps(blame), "blame finds the writer behind the renames", blame)
touched = json.loads(run("touched", "--json", cell).stdout)
effects = {f["path"]: f["effect"] for f in touched["files"]}
check(effects.get("/w/mapped") == "created" and effects.get("/w/ring") == "temporary", "touched tells what is left", effects)
