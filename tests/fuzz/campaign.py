#!/usr/bin/env python3
"""Random calls (tests/fuzz/guest) in cells of every kind. Prints TAP.

    tests/fuzz/campaign.py BUILD_DIR [--seconds N] [--seed N] [--kinds A,B] [--tables A,B] [--keep-going] [--known FILE]
    tests/fuzz/campaign.py BUILD_DIR --replay KIND SEED [--only STEPS] [--minimise]

BUILD_DIR is that of MODE=asan (with 'make MODE=asan tight' for the kind 'tight'). The seconds are shared by the kinds. What is found
is shown with names for the addresses, made again from its seed, minimised, and left in BUILD_DIR/crashes. --keep-going looks for more
after a find; a find of a known place (--known: a file with one signature in each line) is counted and passed over.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CELL_SECONDS = 60  # a fresh cell after so long: what one leaves behind is part of the test, but so is a cell that is young

# What is special about each kind: options of 'viv run', and the directory that the calls are about.
KINDS = {
    "plain": ([], "/tmp"),
    "disk": (["--name", "fuzz-{pid}", "--disk-size", "64M", "--disk-inodes", "2000"], "/var"),
    "mount": (["--mount", "{work}/m:/m:rw"], "/m"),
    "eager": (["--fast", "eager"], "/tmp"),
    "detach": (["--fast", "detach"], "/tmp"),
    "user": (["--user", "nobody"], "/tmp"),
    "tight": (["--pids", "40", "--memory", "256M"], "/tmp"),
    "exec": ([], "/tmp"),
}


class Find:
    def __init__(self, kind, seed, text, signature):
        self.kind, self.seed, self.text, self.signature = kind, seed, text, signature


class Campaign:
    def __init__(self, build, tables):
        self.build, self.tables = os.path.abspath(build), tables
        self.work = tempfile.mkdtemp(prefix="campaign.")
        os.chmod(self.work, 0o755)
        os.makedirs(os.path.join(self.work, "m"))
        os.chmod(os.path.join(self.work, "m"), 0o777)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.work + "/run", XDG_DATA_HOME=self.work + "/data", XDG_STATE_HOME=self.work + "/state")
        for d in ("run", "data", "state"):
            os.makedirs(os.path.join(self.work, d), mode=0o700)
        self.bin = os.path.join(self.build, "tests", "hostile")
        self.cells = 0

    def compile(self):
        sources = sorted(os.path.join(HERE, "guest", f) for f in os.listdir(os.path.join(HERE, "guest")) if f.endswith(".c"))
        target, new = self.bin + "/guest-fuzz", "%s/guest-fuzz.%d" % (self.bin, os.getpid())
        newest = max(os.path.getmtime(f) for f in sources + [os.path.join(HERE, "guest", "guest.h")])
        if os.path.exists(target) and os.path.getmtime(target) > newest:
            return
        os.makedirs(self.bin, exist_ok=True)
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-result", "-static",
                        "-pthread", "-I", os.path.join(HERE, "..", "..", "src"), "-o", new, *sources], check=True)
        os.rename(new, target)

    def viv(self, kind):
        return os.path.join(self.build, "tight" if kind == "tight" else "", "viv")

    def names(self, kind, text):
        """The report with functions and lines instead of addresses."""
        kernel = os.path.join(os.path.dirname(self.viv(kind)), "viv-kernel")
        place = r"\((?:\S*viv-kernel|/proc/self/exe)\+(0x[0-9a-f]+)\)"
        at = re.findall(place, text)
        if not at:
            return text
        out = subprocess.run(["addr2line", "-f", "-s", "-e", kernel, *at], capture_output=True, text=True).stdout.split("\n")
        names = iter(zip(out[::2], out[1::2]))
        return re.sub(place, lambda m: "%s %s" % next(names), text)

    def signature(self, text):
        what = re.search(r"ERROR: AddressSanitizer: (\S+)|(runtime error: .*)", text)
        frames = re.findall(r"#\d+ 0x[0-9a-f]+ +(\w+) (\S+):", text)
        where = [f for f, _ in frames if not f.startswith(("__asan", "__ubsan", "__interceptor", "free_check", "obj_free", "memory_free"))]
        if what:
            return "%s %s" % (what.group(1) or re.sub(r"0x[0-9a-f]+|\d+", "N", what.group(2)), " ".join(where[:3]))
        bad = re.search(r"^not ok - (.*)", text, re.M)
        if bad:
            return "not ok: " + re.sub(r"\d+", "N", bad.group(1))
        return "the cell ended: " + (text.strip().split("\n") or ["silently"])[-1][:100]

    def once(self, kind, seconds, seed, more):
        """One cell. Returns a Find, or None and the next seed."""
        options, place = KINDS[kind]
        options = [o.format(pid=os.getpid(), work=self.work) for o in options]
        limit = seconds + 60
        fuzz = ["/t/guest-fuzz", "--seconds", str(seconds), "--seed", str(seed), "--dir", place, *more]
        if kind not in ("tight", "exec"):
            fuzz += ["--leaks"]
        if self.tables:
            fuzz += ["--tables", self.tables]
        general = ["--quiet", "--timeout", "%ds" % limit, "--mount", self.bin + ":/t:ro"]
        if "--pids" not in options:
            general += ["--pids", "512"]
        self.cells += 1
        log = os.path.join(self.work, "log")
        with open(log, "wb") as out:
            if kind == "exec":
                rc = self.exec_in(general, fuzz, limit, out)
            else:
                rc = self.call([self.viv(kind), "run", *general, *options, "--", *fuzz], limit + 20, out)
        with open(log, errors="replace") as f:
            text = f.read()
        rounds = re.findall(r"^# round (\d+)", text, re.M)
        last = int(rounds[-1]) if rounds else seed
        # In the tight cell a process may well be refused, or killed by want of memory: only the kernel's own end counts.
        weak = kind == "tight" and "ended without a result" not in text and "Sanitizer" not in text and "runtime error" not in text
        if rc == 0 or (weak and rc != 124):
            return None, last + 1
        shown = "\n".join(line for line in self.names(kind, text).split("\n") if not re.match(r"# (round|objects|\d+ w| +w)", line))
        return Find(kind, last, shown, self.signature(shown)), last + 1

    def call(self, words, limit, out):
        try:
            return subprocess.run(words, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            out.write(b"\nthe cell does not end\n")
            return 124

    def exec_in(self, general, fuzz, limit, out):
        """A detached cell: the calls come from processes that are started in it, while others are, too."""
        viv = self.viv("exec")
        cell = subprocess.run([viv, "run", "-d", *general, "--", "sleep", str(limit)], env=self.env, stdout=subprocess.PIPE, stderr=out, stdin=subprocess.DEVNULL,
                              text=True).stdout.strip()
        if not cell:
            return 125
        main = subprocess.Popen([viv, "exec", cell, *fuzz], env=self.env, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        end = time.time() + limit
        while main.poll() is None and time.time() < end:
            subprocess.run([viv, "exec", cell, "true"], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        rc = main.poll()
        if rc is None:
            main.kill()
            rc = 124
            out.write(b"\nthe cell does not end\n")
        logs = subprocess.run([viv, "logs", cell], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout
        out.write(logs)
        subprocess.run([viv, "kill", cell], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([viv, "rm", "-f", cell], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return rc

    def again(self, find, rounds, only, tries=2):
        """Does it happen again from its seed?"""
        more = ["--rounds", str(rounds)] + (["--only", ",".join(map(str, only))] if only is not None else [])
        for _ in range(tries):
            other, _next = self.once(find.kind, 20, find.seed - rounds + 1, more)
            if other and other.signature == find.signature:
                return other
        return None

    def minimise(self, find, steps=600, limit=240):
        """The steps that it needs, by leaving out ever smaller pieces."""
        end = time.time() + limit
        only, piece = list(range(steps)), steps // 2
        if not self.again(find, 1, None, 3):
            return None
        while piece and time.time() < end:
            at, smaller = 0, False
            while at < len(only) and time.time() < end:
                rest = only[:at] + only[at + piece:]
                if rest and self.again(find, 1, rest, 1):
                    only, smaller = rest, True
                else:
                    at += piece
            piece = piece // 2 if not smaller or piece > 1 else 1
            if piece == 1 and not smaller:
                break
        return only

    def trace(self, find, only):
        options = ["--rounds", "1", "--verbose"] + (["--only", ",".join(map(str, only))] if only else [])
        self.once(find.kind, 20, find.seed, options)
        with open(os.path.join(self.work, "log"), errors="replace") as f:
            return "".join(line for line in f if re.match(r"# (\d+ w| +w)", line))

    def save(self, find, only, trace):
        where = os.path.join(self.build, "crashes")
        os.makedirs(where, exist_ok=True)
        name = os.path.join(where, "guest-%s-%d" % (find.kind, find.seed))
        with open(name, "w") as f:
            f.write("%s\n\nkind %s, seed %d" % (find.signature, find.kind, find.seed))
            f.write(", steps %s\n\n%s\n%s" % (",".join(map(str, only)) if only else "all", trace, find.text))
        return name


def campaign(c, args):
    known = {}
    if args.known and os.path.exists(args.known):
        with open(args.known) as f:
            known = {line.strip(): 0 for line in f if line.strip()}
    seen, failed = {}, 0
    kinds = args.kinds.split(",")
    for n, kind in enumerate(kinds, 1):
        start, seed, rounds, finds = time.time(), args.seed, 0, []
        end = start + args.seconds / len(kinds)
        while time.time() < end:
            first = seed
            find, seed = c.once(kind, min(CELL_SECONDS, max(1, end - time.time())), seed, [])
            rounds += seed - first
            if not find:
                continue
            if find.signature in known:
                known[find.signature] += 1
                continue
            if find.signature in seen:
                continue
            seen[find.signature] = find
            finds.append(find)
            print("# %s: after %d s, seed %d: %s" % (kind, time.time() - start, find.seed, find.signature), flush=True)
            only = c.minimise(find) if args.minimise else None
            name = c.save(find, only, c.trace(find, only) if only else "")
            print("# in %s%s" % (name, "" if only or not args.minimise else " (it did not happen again)"), flush=True)
            if not args.keep_going:
                break
        failed += bool(finds)
        print("%s %d - %s: %d rounds from seed %d" % ("not ok" if finds else "ok", n, kind, rounds, args.seed), flush=True)
    for signature, count in known.items():
        print("# known, %d times: %s" % (count, signature))
    print("1..%d" % len(kinds))
    return failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--tables")
    p.add_argument("--known")
    p.add_argument("--keep-going", action="store_true")
    p.add_argument("--minimise", action="store_true")
    p.add_argument("--replay", nargs=2, metavar=("KIND", "SEED"))
    p.add_argument("--only")
    args = p.parse_args()
    c = Campaign(args.build, args.tables)
    try:
        c.compile()
        if not args.replay:
            return campaign(c, args)
        kind, seed = args.replay[0], int(args.replay[1])
        more = ["--rounds", "1", "--verbose"] + (["--only", args.only] if args.only else [])
        find, _ = c.once(kind, 20, seed, more)
        with open(os.path.join(c.work, "log"), errors="replace") as f:
            sys.stdout.write(c.names(kind, f.read()))
        if find and args.minimise:
            only = c.minimise(find)
            print("# steps:", only and ",".join(map(str, only)))
            print(only and c.trace(find, only))
        return 1 if find else 0
    finally:
        subprocess.run([c.viv("plain"), "rm", "-f", "fuzz-%d" % os.getpid()], env=c.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([c.viv("plain"), "daemon", "stop"], env=c.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(c.work, ignore_errors=True)


sys.exit(1 if main() else 0)
