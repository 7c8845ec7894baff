#!/usr/bin/env python3
"""What the host sees of the memory of cells' kernels.

   hardening.py VIV places     two cells: program, arena and stack lie elsewhere in each, tables are read-only
   hardening.py VIV damage     memory of a running kernel is overwritten: it ends, and says so
"""
import re
import subprocess
import sys

viv, what = sys.argv[1:]


def cell(script):
    p = subprocess.Popen([viv, "run", "--", "sh", "-c", "echo up; read x; " + script], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "up\n"
    for pid in subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, text=True).stdout.split():
        with open(f"/proc/{pid}/comm") as f:
            if f.read() == "viv-kernel\n":
                return p, int(pid)
    raise SystemExit("no kernel")


def maps(pid):
    rows = []
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) (\S+) \S+ \S+ *(.*)", line)
            rows.append((int(m[1], 16), int(m[2], 16), m[3], int(m[4], 16), m[5]))
    return rows


def program(rows):
    return next(r[0] for r in rows if r[4].endswith("viv-kernel"))


def places():
    cells = [cell("true") for _ in range(2)]
    seen = [maps(pid) for _, pid in cells]
    for p, _ in cells:
        p.communicate("\n", timeout=150)
    arenas = [[r for r in rows if 0x110000000000 <= r[0] < 0x520000000000] for rows in seen]
    assert program(seen[0]) != program(seen[1]), "the program"
    assert arenas[0] and arenas[1] and arenas[0][0][0] != arenas[1][0][0], "the arena"
    stacks = [next(r[0] for r in rows if r[4] == "[stack]") for rows in seen]
    assert stacks[0] != stacks[1], "the stack"
    for rows, arena in zip(seen, arenas):
        assert not [r for r in rows if "w" in r[2] and "x" in r[2]], "writable code"
        # Never two accessible zones side by side.
        open_ends = {r[1] for r in arena if "w" in r[2]}
        assert not [r for r in arena if "w" in r[2] and r[0] in open_ends and r[2] != "---p"], "no gap"
        own = [r for r in rows if r[4].endswith("viv-kernel")]
        assert [r[2] for r in own] == ["r--p", "r-xp", "r--p", "r--p", "rw-p"], [r[2] for r in own]
    print("ok")


def damage():
    symbols = subprocess.run(["nm", viv + "-kernel"], capture_output=True, text=True).stdout
    at = re.search(r"^([0-9a-f]+) . blobs_freed$", symbols, re.M)
    p, pid = cell("ls -l /etc /usr/bin >/dev/null; echo survived")
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as f:
        f.seek(program(maps(pid)) + int(at[1], 16))
        f.write(b"\x77" * 68 * 84)
    out, err = p.communicate("\n", timeout=150)
    assert p.returncode == 125 and "survived" not in out, (p.returncode, out)
    assert "memory of the cell's kernel is damaged" in err, err
    print("ok")


{"places": places, "damage": damage}[what]()
