#!/usr/bin/env python3
"""Every call of viv-store to the host fails once, in the order they are made: an import, an export or the removal of an image then
fails with one line, or does not mind; the store is whole, and has in it what it had.

    storefaults.py VIV SHIM [STEP]      STEP: how many calls are left out between two, after the first ones
"""
import errno
import os
import shutil
import subprocess
import sys

VIV, SHIM, STEP = sys.argv[1], sys.argv[2], int(sys.argv[3])
CALLS = ("openat", "write", "pwrite", "read", "pread", "renameat", "rename", "linkat", "mkdirat", "fchmod", "ftruncate", "syncfs", "fsync", "close")
STORE = os.environ["XDG_DATA_HOME"] + "/vivarium"
count = 0
wrong = []


def viv(*words, **more):
    return subprocess.run([os.path.dirname(VIV) + "/viv-store", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, **more))


def files(top):
    return sorted(os.path.join(d, f) for d, _, names in os.walk(top) for f in names)


def state():
    return files(STORE), files("to"), os.listdir(STORE + "/tmp")


def fault(words, call, at, before):
    """Whether it was met at all."""
    global count
    open("mark", "w").close()
    r = viv(*words, LD_PRELOAD=SHIM, FAIL_CALL=call, FAIL_AT=str(at), FAIL_ERRNO=str(errno.ENOSPC if at % 2 else errno.EIO),
            FAIL_MARK=os.path.abspath("mark"), ASAN_OPTIONS="verify_asan_link_order=0")
    met = not os.path.exists("mark")
    count += met
    what = "%s, %s number %d: " % (" ".join(words), call, at)
    if r.returncode == 0:
        return met
    if r.returncode != 1 or not r.stderr.startswith("viv: ") or r.stderr.count("\n") != 1:
        wrong.append(what + "status %d, %r" % (r.returncode, r.stderr))
    if state() == before:
        return met
    # The tag is in its place, and only its directory could not be synced.
    if not (call == "fsync" and "/tags/" in r.stderr):
        wrong.append(what + "left %r: %r" % (sorted(set(map(str, before)) ^ set(map(str, state())))[-1][-200:], r.stderr))
    v = viv("verify")
    if v.returncode:
        wrong.append(what + v.stdout)
    return met


def faults(words, prepare):
    for call in CALLS:
        at = 1
        prepare()
        while fault(words, call, at, state()):
            at += 1 if at < 5 else STEP
            prepare()


def emptied():
    for name in ("images", "tags", "objects"):
        shutil.rmtree(STORE + "/" + name, ignore_errors=True)


os.mkdir("to")
os.mkdir("t")
for i in range(20):
    with open("t/%d" % i, "wb") as f:
        f.write(os.urandom(2000))
with open("t/large", "wb") as f:
    f.write(os.urandom(3 << 20))
subprocess.run(["tar", "-czf", "t.tar.gz", "t"], check=True)
subprocess.run([sys.executable, os.environ["E2E_DIR"] + "/containers.py", "c"], check=True)
viv("import", "-q", "t.tar.gz")
faults(["import", "-q", "-t", "x", "t"], emptied)
faults(["import", "-q", "-t", "x", "c/docker-gz.tar"], emptied)
emptied()
viv("import", "-q", "-t", "x", "t")
faults(["export", "x", "-o", "to/x.tar"], lambda: [os.unlink(f) for f in files("to")])
faults(["tag", "x", "y"], lambda: os.path.exists(STORE + "/tags/y") and os.unlink(STORE + "/tags/y"))
for line in wrong[:20]:
    print(line)
print("%d faults, %d of them wrong" % (count, len(wrong)))
sys.exit(1 if wrong or count < 50 else 0)
