#!/usr/bin/env python3
"""Stress and leaks. Prints TAP.

    tests/stress/run.py BUILD_DIR VIV [--short] [--seed N]

Storms (storm.c) run in rounds in one cell that lives on: after each round the kernel's descriptors must be as many as after the
first, its runners gone, and its memory (PSS) bounded. Then cells are started and ended in a loop and several at once, some of
them killed, and what the host has afterwards is compared with before: processes, mounts, control groups, temporary files.
"""
import atexit
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

args = sys.argv[1:]
short = "--short" in args
seed = int(args[args.index("--seed") + 1]) if "--seed" in args else 1
build, viv = os.path.abspath(args[0]), os.path.abspath(args[1])
here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, "../e2e"))
from vivdclient import processes  # noqa: E402
sanitized = "asan" in build
number = failed = 0
random.seed(seed)
# Every viv of this run has a TMPDIR of its own: what it leaves there is seen. Our own files lie beside it.
outside = tempfile.mkdtemp(prefix="stress.")
atexit.register(shutil.rmtree, outside, True)
scratch = f"{outside}/tmp"
os.mkdir(scratch)
os.chmod(outside, 0o755)
os.environ["TMPDIR"] = scratch


# Types that a kernel keeps some of for later use.
CACHES = {"blob-bytes"}


def report(ok, name, *notes):
    global number, failed
    number += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {number} - {name}", flush=True)
    for n in notes:
        for line in str(n).rstrip().splitlines()[:30]:
            print(f"# {line}", flush=True)


def kernel_of(pid):
    """The viv-kernel below a viv."""
    for _ in range(3000):
        for p, (parent, _, name) in processes().items():
            if parent == pid and name == "viv-kernel":
                return p
        time.sleep(0.01)
    return None


def kernel_state(kernel):
    """Descriptors, memory in KiB, and runners of a kernel that is at rest."""
    fds = len(os.listdir(f"/proc/{kernel}/fd"))
    pss = 0
    for line in open(f"/proc/{kernel}/smaps_rollup"):
        if line.startswith("Pss:"):
            pss = int(line.split()[1])
    runners = sum(1 for parent, _, _ in processes().values() if parent == kernel)
    return fds, pss, runners


started_here = set()  # numbers of the vivs that this run has started


def start(*args, **kwargs):
    p = subprocess.Popen(*args, **kwargs)
    started_here.add(p.pid)
    return p


def host_state():
    """What a cell could leave behind. The machine may run other cells: only processes of our build, and control groups that
    carry the number of a viv of ours, are looked at."""
    names = re.compile(r"viv")
    procs = {p for p, (_, _, name) in processes().items() if names.match(name) and exe_is_ours(p)}
    cgroups = set()
    for top, dirs, _ in os.walk("/sys/fs/cgroup"):
        for d in dirs:
            owner = re.match(r"viv\.(\d+)\.", d)
            if owner and int(owner[1]) in started_here:
                cgroups.add(os.path.join(top, d))
    mounts = {m for m in open("/proc/self/mounts").read().splitlines() if re.search(r"viv|cell|scratch", m)}
    temps = {os.path.join(scratch, f) for f in os.listdir(scratch)}
    return {"processes": procs, "cgroups": cgroups, "mounts": mounts, "files": temps}


def exe_is_ours(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(build)
    except OSError:
        return False


def left_behind(before, wait=120):
    """What is there that was not: given a moment, as the end of a namespace takes the host some time."""
    until = time.time() + wait
    while True:
        now = host_state()
        more = {k: sorted(now[k] - before[k]) for k in now if now[k] - before[k]}
        if not more or time.time() > until:
            return more
        time.sleep(0.05)


def long_lived(rounds, ms):
    """One cell, a shell that runs what it reads; the host looks at the kernel between the rounds."""
    cell = start([viv, "run", "--mount", f"{build}/tests/stress:/t:ro", "--", "/bin/sh", "-c",
                  'mkdir -p /tmp/w && cd /tmp/w && while read -r c; do eval "$c" 2>&1; echo "status $?"; done'],
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    kernel = kernel_of(cell.pid)

    def do(command, limit=300):
        cell.stdin.write(command + "\n")
        out = []
        signal.alarm(limit)
        for line in cell.stdout:
            if line.startswith("status "):
                signal.alarm(0)
                return int(line.split()[1]), "".join(out)
            out.append(line)
        signal.alarm(0)
        return -1, "".join(out) + "the cell ended\n"

    def objects(empty=True):
        """Objects of the kernel, by type: what /proc/slabinfo says inside, without what is only cached."""
        if empty:
            do("echo 3 >/proc/sys/vm/drop_caches")
        lines = do("cat /proc/slabinfo")[1].splitlines()[2:]
        return {line.split()[0]: int(line.split()[1]) for line in lines}

    def at_rest():
        do("/bin/true")
        until = time.time() + 120
        while True:
            time.sleep(0.05)
            state = kernel_state(kernel)
            # A birth whose maker was killed is given up after a second, with the files that it holds.
            if (state[2] <= 1 and not objects().get("birth")) or time.time() > until:
                return state

    modes = ["fork", "exec", "threads", "kill", "files", "sockets"]
    for mode in modes:
        bad, said, states, counts = [], [], [], []
        for i in range(rounds):
            try:
                status, out = do(f"/t/storm {mode} {ms} {seed * 100 + i}")
            except TimeoutError:
                report(False, f"{mode} storm", "it hangs")
                cell.kill()
                cell.wait()
                return
            said.append(out.strip())
            if status:
                bad.append(f"round {i}: status {status}: {out}")
                break
            states.append(at_rest())
            counts.append(objects())
        # The first round fills caches; from the second on nothing may grow. Memory: a quarter and 2 MiB is noise
        # (a sanitizer keeps what was freed for a while, so only its descriptors count).
        if len(states) > 1:
            base, last = states[1 if len(states) > 2 else 0], states[-1]
            if last[0] > base[0] + 2:
                bad.append(f"descriptors of the kernel grow: {[s[0] for s in states]}")
            if not sanitized and last[1] > base[1] * 1.25 + 2048:
                bad.append(f"memory of the kernel grows: {[s[1] for s in states]} KiB")
            first, now = counts[1 if len(counts) > 2 else 0], counts[-1]
            more = {k: (first.get(k, 0), n) for k, n in now.items() if n > first.get(k, 0) + 2 and k not in CACHES}
            if more:
                bad.append(f"objects of the kernel are left: {more}")
            if last[2] > 1:
                bad.append(f"runners left: {[s[2] for s in states]}")
        notes = [f"{said[-1] if said else ''}; descriptors {[s[0] for s in states]}, KiB {[s[1] for s in states]}"]
        report(not bad, f"{mode} storm, {len(states)} rounds", *(bad or notes))
    before = objects()
    do("ls -lR /usr/bin /usr/lib >/dev/null")
    cached, now = objects(empty=False), objects()
    report(cached["name"] > before["name"] + 1000 and all(now[k] <= n + 2 for k, n in before.items() if k not in CACHES),
           "caches are emptied when asked", before, cached, now)
    before = objects()
    do("sleep 1000 <&1 & sleep 1000 & sleep 1000 & echo")
    until = time.time() + 120
    while True:
        now = objects()
        seen = all(now.get(k, 0) > before.get(k, 0) + 2 for k in ("proc", "task", "fdtable")) and kernel_state(kernel)[2] > 3
        if seen or time.time() > until:
            break
        time.sleep(0.05)
    report(seen, "objects and runners that stay are noticed", now)
    do("kill $(jobs -p)")
    cell.stdin.close()
    report(cell.wait() == 0, "the cell of the storms ends well")


def make_project(files, jobs):
    """A project of generated C files, built by make in a cell."""
    with tempfile.TemporaryDirectory(dir=outside) as d:
        os.chmod(d, 0o755)
        for i in range(files):
            with open(f"{d}/m{i}.c", "w") as f:
                f.write('#include "all.h"\n' + "".join(f"int f{i}_{k}(int x) {{ return x * {k} + {i}; }}\n" for k in range(20)))
        with open(f"{d}/all.h", "w") as f:
            f.write("#include <stdio.h>\n" + "".join(f"int f{i}_0(int);\n" for i in range(files)))
        with open(f"{d}/main.c", "w") as f:
            f.write('#include "all.h"\nint main(void) { int s = 0; ' + "".join(f"s += f{i}_0({i});" for i in range(files)) +
                    ' printf("%d\\n", s); return 0; }\n')
        with open(f"{d}/Makefile", "w") as f:
            f.write("OBJ := $(patsubst %.c,%.o,$(wildcard *.c))\nprog: $(OBJ)\n\tgcc -o $@ $^\n%.o: %.c all.h\n\tgcc -O1 -c -o $@ $<\n")
        p = start([viv, "run", "--mount", f"{d}:/src:ro", "--", "/bin/sh", "-c",
                   f"cp -r /src /tmp/p && cd /tmp/p && make -s -j{jobs} && ./prog && make -q && echo done"],
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = p.communicate(timeout=300)
        want = f"{sum(range(files))}\ndone\n"
        report(p.returncode == 0 and out == want, f"make -j{jobs} of {files} files", "" if out == want else out + err)


def loop(count, at_once):
    """Cells in a loop, several at once; each third is killed from outside at a random moment."""
    bad, running, started = [], [], 0
    while started < count or running:
        while started < count and len(running) < at_once:
            kind = started % 3
            command = ["/bin/true"] if kind == 0 else ["/bin/sh", "-c", "for i in 1 2 3; do /bin/true & done; wait; exit 5"]
            if kind == 2:
                command = ["/bin/sh", "-c", "sleep 100 & sleep 100 | cat"]
            p = start([viv, "run", "--"] + command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT)
            running.append((p, kind, time.time() + random.random() * 0.1, time.time() + 120))
            started += 1
        for entry in running[:]:
            p, kind, when, limit = entry
            if kind == 2 and p.poll() is None and time.time() > when:
                p.send_signal(random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]))
                running.remove(entry)
                running.append((p, 3, when, limit))
            if p.poll() is not None:
                out = p.stdout.read().decode(errors="replace")
                p.stdout.close()
                running.remove(next(e for e in running if e[0] is p))
                if kind < 2 and p.returncode != (0, 5)[kind]:
                    bad.append(f"status {p.returncode} of kind {kind}: {out}")
            elif time.time() > limit:
                bad.append(f"kind {kind} does not end")
                p.kill()
        time.sleep(0.002)
    report(not bad, f"{count} cells, {at_once} at once", *bad[:5])


def leaks(before, what):
    more = left_behind(before)
    report(not more, f"nothing is left after {what}", *[f"{k}: {v}" for k, v in more.items()])


def checks_can_fail(before):
    """Leaves one of each kind behind and looks whether that is noticed."""
    name = f"viv.{os.getpid()}.check"
    started_here.add(os.getpid())
    groups = [g for g in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids") if os.access(g, os.W_OK)]
    made = None
    for g in groups:
        try:
            os.mkdir(f"{g}/{name}")
            made = f"{g}/{name}"
            break
        except OSError:
            pass
    open(f"{scratch}/left", "w").close()
    cell = start([viv, "run", "--", "/bin/sleep", "100"], stdin=subprocess.DEVNULL)
    kernel_of(cell.pid)
    seen = set(left_behind(before, 0))
    cell.kill()
    cell.wait()
    os.unlink(f"{scratch}/left")
    if made:
        os.rmdir(made)
    want = {"processes", "files"} | ({"cgroups"} if made else set())
    report(want <= seen, "what is left behind is noticed", f"{sorted(seen)} of {sorted(want)}")
    leaks(before, "that check")


def on_alarm(*_):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, on_alarm)
    out = f"{build}/tests/stress"
    os.makedirs(out, exist_ok=True)
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Wno-unused-result", "-Wno-clobbered", "-pthread", "-o", f"{out}/storm",
                    f"{here}/storm.c"], check=True)
    before = host_state()
    started = time.time()
    checks_can_fail(before)
    long_lived(3 if short else 12, 300 if short else 3000)
    leaks(before, "the storms")
    make_project(12 if short else 60, 8)
    leaks(before, "make")
    loop(30 if short else 200, 1)
    leaks(before, "the loop")
    loop(30 if short else 200, 6)
    leaks(before, "several at once")
    print(f"1..{number}")
    print(f"# {failed} failed, {time.time() - started:.0f} s, seed {seed}")
    return failed != 0


sys.exit(main())
