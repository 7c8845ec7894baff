# Makes a tree at /w: "one", or of that "two" or "half" (with some of the changes of "two" and others). The same each time.
import os
import random
import shutil
import sys

ODD = ["a b", 'quo"te', "back\\slash", "tab\there", "new\nline", "\u00e4\u20ac\U0001f600", "-dash", "#hash", ".dot", "a\x1b[31m", "x,y;z"]


def text(r, n):
    return "".join("line %d\n" % r.choice((r.randrange(40), k, k)) for k in range(n))


def edit(r, s):
    lines = s.splitlines(True)
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(lines) + 1)
        what = r.randrange(4)
        if what == 0:
            lines[at:at] = ["new %d\n" % r.randrange(9)] * r.randrange(1, 4)
        elif what == 1:
            del lines[at : at + r.randrange(1, 9)]
        elif what == 2 and at < len(lines):
            lines[at] = "changed\n"
        elif what == 3:
            cut = lines[at : at + 5]
            del lines[at : at + 5]
            lines += cut
    s = "".join(lines)
    return s[:-1] if s and r.randrange(4) == 0 else s


def put(path, s):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path):
        os.unlink(path)
    with open(path, "w") as f:
        f.write(s)


def one(r):
    for k in range(120):
        put("/w/d%d/e%d/f%d" % (k % 7, k % 3, k), text(r, r.choice((0, 1, 3, 20, 60, 400))))
    for k, name in enumerate(ODD):
        put("/w/odd/" + name, text(r, k))
    for k in range(20):
        os.symlink("target%d" % k, "/w/d0/link%d" % k)
    put("/w/long", "".join("%d\n" % (k * k % 977) for k in range(20000)))
    put("/w/none", "no newline")


def change(r, odd, gone):
    for top, _, files in sorted(os.walk("/w")):
        for name in sorted(files):
            path = os.path.join(top, name)
            what = r.randrange(12)
            if os.path.islink(path):
                os.unlink(path)
                if what < 4:
                    os.symlink("elsewhere" + name, path)
                elif what < 6:
                    put(path, "a file now\n")
                elif what < 10:
                    os.symlink("target" + name[4:], path)
            elif what == 0:
                os.unlink(path)
            elif what == 1:
                os.chmod(path, r.choice((0o600, 0o755, 0o700)))
            elif what == 2:
                os.unlink(path)
                os.symlink("to", path)
            elif what == 3:
                put(path, "")
            elif what < 9:
                with open(path) as f:
                    s = f.read()
                put(path, edit(r, s))
    for k in range(20):
        put("/w/new%d/%s" % (k, ODD[k % len(ODD)] + odd), text(r, k * (k % 3)))
    shutil.rmtree(gone)


os.umask(0o022)
if sys.argv[1] == "one":
    one(random.Random(1))
else:
    change(random.Random(2), "", "/w/d5")
    if sys.argv[1] == "half":
        change(random.Random(3), ".h", "/w/d4")
