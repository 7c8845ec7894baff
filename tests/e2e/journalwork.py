#!/usr/bin/env python3
"""Real work in cells with a journal: journalwork.py VIV DIRECTORY CASE.

For each piece of work
 - every path that 'viv diff' finds changed has a last effect in 'viv touched', and a writer with its program in 'viv blame';
 - every effect of 'viv touched' on the cell's disk is one that 'viv diff' finds, too: nothing is invented;
 - every program that --trace saw started in a process is in the journal, as often;
 - the same work on the host below strace starts the same programs with the same arguments."""

import collections
import concurrent.futures
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

VIV, WHERE, CASE = sys.argv[1:4]
JOURNAL = os.path.join(os.path.dirname(os.path.realpath(VIV)), "viv-journal")
DATA = os.path.join(os.environ["XDG_DATA_HOME"], "vivarium", "journals")
IN = os.path.join(WHERE, "in")  # what a test made for its work; /in in a cell
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENV = {"PATH": PATH, "HOME": "/tmp/home", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"}


def viv(*words):
    p = subprocess.run([VIV, *words], capture_output=True, text=True, errors="surrogateescape", timeout=180)
    assert p.returncode == 0, (words, p.stdout[-500:], p.stderr[-2000:])
    return p.stdout


def journal(verb, path, *words):
    p = subprocess.run([JOURNAL, verb, path, *words], capture_output=True, text=True, timeout=180)
    assert p.returncode == 0, (verb, words, p.stdout[-500:], p.stderr[-2000:])
    return p.stdout


def directory(name):
    """Of a cell's journal, with nothing left to be sealed."""
    path = os.path.join(DATA, json.loads(viv("touched", "--json", name))["cell"])
    check = json.loads(journal("verify", path, "--deep", "--json"))
    assert check["ok"] and not check["holes"], check
    return path


def records(path):
    return [json.loads(line) for line in journal("print", path, "--json").splitlines()]


# ---- files ----

EFFECTS = {"A": {"created", "renamed"}, "C": {"written", "changed", "renamed", "created"}, "D": {"removed"}}


def files_agree(name, path, mounts=("/tmp", "/dev", "/proc", "/sys", "/run", "/in")):
    """What differs has a writer, and what the journal says was done is what differs. Returns how many paths that are."""
    differs = {d["path"]: d["kind"] for d in map(json.loads, viv("diff", "--json", name).splitlines()) if d["path"] not in mounts}
    touched = {f["path"]: f for f in json.loads(journal("touched", path, "--json", "--all"))["files"]}
    for p, kind in differs.items():
        f = touched.get(p)
        # A file that was renamed away is told at its new name.
        if kind == "D" and any(t.get("from") == p for t in touched.values()):
            continue
        assert f, f"{name}: {kind} {p} is not in the journal"
        assert f["effect"] in EFFECTS[kind], f"{name}: {kind} {p} is {f} in the journal"
    for p, f in touched.items():
        if f["effect"] not in ("read", "temporary") and not p.startswith(tuple(m + "/" for m in mounts)) and p not in mounts:
            assert p in differs, f"{name}: the journal says {f}, and it does not differ"
    present = [p for p, kind in differs.items() if kind != "D"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda p: writer_known(name, path, p), present))
    return len(differs)


def writer_known(name, path, file):
    b = json.loads(journal("blame", path, "--json", "--", file))
    by = [w for w in [*b["writers"], b.get("name"), b.get("attributes")] if w]
    assert by, f"{name}: nobody changed {file}: {b}"
    assert all(w["pid"] > 0 and w["program"] and w["args"] for w in by), f"{name}: the writer of {file} is not known: {b}"


# ---- programs ----

def traced(err):
    """Programs that processes started by a call, as --trace shows them: {process: count}."""
    return collections.Counter(int(m[1]) for m in re.finditer(r"\[(\d+)\] execve(?:at)?\([^\n]*\) = 0$", err, re.M))


def programs_agree(name, rs, err):
    """Each process of the journal has started as many programs as the trace has seen; the first ones come from outside."""
    got = collections.Counter(r["pid"] for r in rs if r["kind"] == "exec")
    for pid in {r["pid"] for r in rs if r["kind"] == "exec" and r["parent"] == 0}:
        got[pid] -= 1
    got, want = +got, traced(err)
    assert got == want, f"{name}: journal - trace {got - want}, trace - journal {want - got}"


def plain(text, root):
    """What differs between two runs: names of temporary files, numbers of processes, the directory."""
    text = text.replace(root, "/w")
    text = re.sub(r"/cc[A-Za-z0-9]{6}\b", "/ccX", text)
    text = re.sub(r"(\btmp\.|--fd=|\.tmp-|/npm-|\bpid=)[A-Za-z0-9]+", r"\1X", text)
    return text


def unescape(s):
    return s.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def interpreted(path, args):
    """What runs for a script: the journal has the arguments as the program got them."""
    with open(path, "rb") as f:
        line = f.readline(256) if f.read(2) == b"#!" else b""
    return line.decode().strip().split(None, 1) + [path] + args[1:] if line else args


def on_host(script):
    """The same work below strace: how often each list of arguments was started."""
    root = os.path.join(WHERE, "host")
    os.mkdir(root)
    out = os.path.join(WHERE, "strace")
    env = dict(ENV, W=root, IN=IN, HOME=os.path.join(root, ".home"))
    os.mkdir(env["HOME"])
    p = subprocess.run(["strace", "-f", "-qq", "-s", "65536", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", out,
                        "/bin/sh", "-ec", script], env=env, cwd=root, capture_output=True, text=True, timeout=180)
    assert p.returncode == 0, p.stderr[-2000:]
    found, begun = collections.Counter(), {}
    for line in open(out, errors="surrogateescape"):
        pid, rest = line.split(None, 1)
        # A call that another process's line has cut in two.
        if rest.rstrip().endswith("<unfinished ...>"):
            begun[pid] = rest
        elif " resumed>" in rest:
            first = begun.pop(pid, "")
            if first.startswith("execve") and rest.rstrip().endswith("= 0"):
                rest = first
            else:
                continue
        elif not rest.rstrip().endswith("= 0"):
            continue
        m = re.match(r'execve(?:at)?\((?:\w+, )?"((?:[^"\\]|\\.)*)", \[((?:"(?:[^"\\]|\\.)*"(?:, )?)*)\]', rest)
        if m and rest is not begun.get(pid):
            args = [unescape(a) for a in re.findall(r'"((?:[^"\\]|\\.)*)"', m[2])]
            found[tuple(plain(a, root).replace(IN, "/in") for a in interpreted(m[1], args))] += 1
    return found


def arguments_agree(name, rs, script):
    if not shutil.which("strace"):
        return
    want = on_host(script)
    got = collections.Counter(tuple(plain(a, "/w") for a in r["args"]) for r in rs if r["kind"] == "exec")
    assert got == want, f"{name}: only in the journal: {list((got - want).items())[:5]}; only on the host: {list((want - got).items())[:5]}"


# ---- a piece of work ----

def work(name, script, host=True, least=1, programs=1):
    """The script runs in /w of a cell, and in a directory of the host."""
    os.makedirs(IN, exist_ok=True)
    begin = "mkdir -p /w /tmp/home; cd /w; export W=/w IN=/in"
    words = [x for k, v in ENV.items() for x in ("--env", f"{k}={v}")]
    # A file: of a pipe that is full for a moment the trace leaves out lines.
    with open(os.path.join(WHERE, name + ".trace"), "w+", errors="replace") as err:
        p = subprocess.run([VIV, "run", "--name", name, "--journal", "all", "--trace", "--mount", f"{IN}:/in:ro", "--hostname", "cell",
                            *words, "--", "/bin/sh", "-ec", f"{begin}; exec /bin/sh -ec \"$1\"", "x", script],
                           stdout=subprocess.PIPE, stderr=err, text=True, errors="replace", timeout=180)
        err.seek(0)
        trace = err.read()
    assert p.returncode == 0, (p.stdout[-1000:], [x for x in trace.splitlines() if not re.match(r"\[\d+\] ", x)][-20:])
    path = directory(name)
    rs = records(path)
    programs_agree(name, rs, trace)
    if host:
        # Without what prepares it.
        first = next(i for i, r in enumerate(rs) if r["kind"] == "exec" and r["args"] == ["/bin/sh", "-ec", script])
        arguments_agree(name, rs[first:], script)
    n, started = files_agree(name, path), sum(r["kind"] == "exec" for r in rs)
    assert n >= least and started >= programs, f"{name}: {n} paths, {started} programs: the work was not done"
    print(f"{name}: {len(rs)} records, {n} paths, {started} programs")


def make():
    os.makedirs(IN)
    shutil.copy(os.path.join(os.environ["E2E_SOURCE"], "tests/bench/project.sh"), IN)
    work("make", 'bash "$IN/project.sh" "$W/p" 6; cd "$W/p"; make -s -j2; "$W/p/project" >out; touch part1.c; make -s; rm part2.o', least=20, programs=30)


def git():
    work("git", """
        export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q -b main r; cd r; mkdir d; echo one >a; echo two >d/b; git add .; git commit -qm first
        git checkout -q -b side; echo three >>a; git commit -qam side; git mv d/b d/c; git commit -qm moved
        git checkout -q main; echo four >e; git add e; git commit -qm main; git merge -q -m merged side
        git tag t; git gc -q; git clone -q . ../copy; cd ../copy; git rm -q a; git commit -qm gone; git status -s >../status; git stash list""",
         least=60, programs=30)


def python():
    work("python", """
        mkdir p; printf 'def f(): return 1\\n' >p/m.py; touch p/__init__.py
        PYTHONHASHSEED=0 python3 -c 'import p.m, sqlite3, os, tempfile, subprocess, shutil
db = sqlite3.connect("a.db"); db.execute("create table t(x)"); db.executemany("insert into t values(?)", [(i,) for i in range(500)]); db.commit(); db.close()
with tempfile.NamedTemporaryFile(dir=".", delete=False) as f: f.write(b"x" * 9999)
os.replace(f.name, "replaced")
subprocess.run(["sort", "-o", "sorted", "p/m.py"], check=True)
shutil.copytree("p", "copy"); shutil.rmtree("p")
os.symlink("copy", "link"); os.link("replaced", "second")'
        test -s a.db""", least=8)


def tar():
    os.makedirs(IN)
    with tarfile.open(os.path.join(IN, "t.tar.gz"), "w:gz") as t:
        for i in range(60):
            info = tarfile.TarInfo(f"t/d{i % 6}/file {i}")
            info.size, info.mode, info.mtime, info.uid = i * 37, 0o640, 1000000000 + i, 1000
            t.addfile(info, io.BytesIO(b"y" * info.size))
        for name, kind, to in (("t/l", tarfile.SYMTYPE, "d1"), ("t/h", tarfile.LNKTYPE, "t/d1/file 1"), ("t/p", tarfile.FIFOTYPE, "")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, to
            t.addfile(info)
    work("tar", 'tar xzf "$IN/t.tar.gz"; tar cf again.tar t; rm -rf t/d0; tar xf again.tar --overwrite t/d2; mv t u; gzip again.tar', least=60)


def attributes():
    """Files of the image of which only mode, owner, times or size are changed."""
    work("attributes", "chmod 600 /etc/fstab; chown 7:7 /etc/hosts; touch -d 2001-01-01 /etc/passwd; truncate -s 3 /etc/group; python3 -c 'import os; os.truncate(\"/etc/shells\", 2)'; setfattr -n user.x -v y /etc/profile 2>/dev/null || :",
         host=False, least=6)
    path = directory("attributes")
    for file, program in (("/etc/fstab", "chmod"), ("/etc/hosts", "chown"), ("/etc/passwd", "touch"), ("/etc/shells", "python3")):
        b = json.loads(journal("blame", path, "--json", "--", file))
        assert program in b["attributes"]["program"] and b["attributes"]["how"] == "changed" and not b["writers"], b


def dpkg():
    """A package with scripts, installed into the cell's root and removed again."""
    at = os.path.join(WHERE, "deb")
    for n, text, mode in (("DEBIAN/control", "Package: viv-test\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n", 0o644),
                          ("DEBIAN/conffiles", "/etc/viv-test.conf\n", 0o644),
                          ("DEBIAN/preinst", "#!/bin/sh\nset -e\nmkdir -p /var/lib/viv-test\n", 0o755),
                          ("DEBIAN/postinst", "#!/bin/sh\nset -e\ndate >/var/lib/viv-test/installed\nchmod 600 /etc/viv-test.conf\n", 0o755),
                          ("DEBIAN/prerm", "#!/bin/sh\nset -e\nrm -r /var/lib/viv-test\n", 0o755),
                          ("usr/bin/viv-test", "#!/bin/sh\necho works\n", 0o755), ("etc/viv-test.conf", "a=1\n", 0o644),
                          ("usr/share/viv-test/data", "z" * 5000, 0o644)):
        os.makedirs(os.path.dirname(os.path.join(at, n)), exist_ok=True)
        with open(os.path.join(at, n), "w") as f:
            f.write(text)
        os.chmod(os.path.join(at, n), mode)
    os.makedirs(IN)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", at, os.path.join(IN, "p.deb")], check=True, capture_output=True, timeout=60)
    work("dpkg", "dpkg -i /in/p.deb >log; viv-test >said; echo a=2 >/etc/viv-test.conf", host=False, least=8, programs=6)
    work("dpkg-removed", "dpkg -i /in/p.deb >log; dpkg -r viv-test >>log; dpkg -P viv-test >>log", host=False, least=3, programs=8)


REGISTRY = r"""
import base64, hashlib, http.server, json, os, sys
at = sys.argv[1]
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/")
        if name.endswith(".tgz"):
            body = open(os.path.join(at, os.path.basename(name)), "rb").read()
        elif os.path.exists(os.path.join(at, name + "-1.0.0.tgz")):
            data = open(os.path.join(at, name + "-1.0.0.tgz"), "rb").read()
            dist = {"tarball": "http://%s/%s-1.0.0.tgz" % (self.headers["Host"], name), "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
            meta = dict(json.load(open(os.path.join(at, name + ".json"))), dist=dist)
            body = json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": meta}}).encode()
        else:
            self.send_error(404); return
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
with open(sys.argv[2] + ".new", "w") as f: f.write(str(s.server_port))
os.rename(sys.argv[2] + ".new", sys.argv[2])
s.serve_forever()
"""


def npm():
    """From a registry on the cell's own loopback: two packages, with a program and a script of its installation."""
    os.makedirs(IN)
    packages = {"one": {"bin": {"one": "cli.js"}, "dependencies": {"two": "1.0.0"}},
                "two": {"scripts": {"postinstall": "node build.js"}}}
    for name, more in packages.items():
        meta = dict({"name": name, "version": "1.0.0", "main": "index.js"}, **more)
        if "postinstall" in json.dumps(more):
            meta["hasInstallScript"] = True
        with open(os.path.join(IN, name + ".json"), "w") as f:
            json.dump(meta, f)
        with tarfile.open(os.path.join(IN, name + "-1.0.0.tgz"), "w:gz") as t:
            for n, text in [("package.json", json.dumps(meta)), ("index.js", "module.exports = 1\n"),
                            ("cli.js", "#!/usr/bin/env node\nrequire('fs').writeFileSync('made', 'x')\n"),
                            ("build.js", "require('fs').writeFileSync('built.js', '1')\n")] + [(f"lib/{i}.js", f"// {i}\n") for i in range(15)]:
                info = tarfile.TarInfo("package/" + n)
                info.size, info.mode = len(text), 0o755 if n == "cli.js" else 0o644
                t.addfile(info, io.BytesIO(text.encode()))
    with open(os.path.join(IN, "registry.py"), "w") as f:
        f.write(REGISTRY)
    work("npm", """
        python3 "$IN/registry.py" "$IN" port & R=$!; while [ ! -e port ]; do :; done; read P <port || :; rm port
        mkdir p; cd p; echo '{"name":"p","version":"1.0.0","dependencies":{"one":"1.0.0"}}' >package.json
        export npm_config_registry="http://127.0.0.1:$P/" npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
        export npm_config_cache="$W/cache" npm_config_loglevel=error
        npm install >/dev/null; rm -r node_modules; kill $R; wait || :
        npm ci --offline >/dev/null; "$W/p/node_modules/.bin/one"; test -e made""", least=40, programs=8)


def agent():
    """An agent that speaks ACP, in a cell of vivd's: what its prompts asked for is blamed on them."""
    here = os.path.dirname(os.path.realpath(__file__))
    viv("create", "--name", "agent", "--journal", "all", "--mount", f"{here}:/e2e:ro")
    try:
        session = viv("session", "new", "agent", "--", "python3", "/e2e/acpagent.py").strip()
        asked = ["run mkdir /w && echo one >/w/a", "touch /w/b", "run cd /w && sed -i s/one/two/ a && ln -s a l && mv b c", "run rm /w/c && sh -c 'exit 3'"]
        for text in asked:
            viv("session", "prompt", session, text)
        viv("stop", "agent")
        path = directory("agent")
        rs = records(path)
        prompts = [r for r in rs if r["kind"] == "prompt"]
        assert [p["text"] for p in prompts] == asked, prompts
        assert [r["number"] for r in rs if r["kind"] == "answer"] == [p["number"] for p in prompts]
        args = [r["args"] for r in rs if r["kind"] == "exec"]
        for text in asked:
            if text.startswith("run "):
                assert args.count(["/bin/sh", "-c", text[4:]]) == 1, (text, args)
        for words in (["mkdir", "/w"], ["sed", "-i", "s/one/two/", "a"], ["mv", "b", "c"], ["sh", "-c", "exit 3"]):
            assert args.count(words) == 1, (words, args)
        assert files_agree("agent", path, ("/tmp", "/dev", "/proc", "/sys", "/run", "/e2e")) >= 3
        for file, number in (("/w/a", 2), ("/w/l", 2), ("/w/c", 1)):
            w = json.loads(journal("blame", path, "--json", "--", file))["writers"][0]
            assert w["session"] == session and w["prompt"]["number"] == prompts[number]["number"], (file, w)
    finally:
        subprocess.run([VIV, "rm", "--force", "agent"], capture_output=True, timeout=60)


cases = {"agent": agent, "make": make, "attributes": attributes, "git": git, "python": python, "tar": tar, "dpkg": dpkg, "npm": npm}
cases[CASE]()
