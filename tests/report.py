#!/usr/bin/env python3
"""Runs test suites one after the other, keeps what they print, and shows what failed.

    tests/report.py LOG_DIR NAME... -- COMMAND...       a suite is run by COMMAND...NAME

A suite that prints TAP has a line for each test; one that failed is shown with the comments that follow it. Of a suite that
failed without such a line, the end is shown. All suites are run, whatever the others did, and what failed is shown once more
at the end, where it is found. The status is 1 when there was any.
"""
import os
import re
import signal
import subprocess
import sys
import time

END = 60  # lines shown of a suite that does not say what failed
PART = 60  # lines shown of one test

TEST = re.compile(r"(not )?ok \d+")
EXPECTED = re.compile(r"# (TODO|SKIP)", re.I)


def suite_run(name, command, log_path):
    """What failed, as lines, and the counts."""
    counts = {"passed": 0, "failed": 0, "expected": 0}
    failed, last, part = [], [], None
    with open(log_path, "w", errors="replace") as log:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                 text=True, errors="replace")
        for line in child.stdout:
            log.write(line)
            log.flush()
            line = line.rstrip("\n")
            last = last[1 - END:] + [line]
            test = TEST.match(line)
            if test:
                kind = "expected" if EXPECTED.search(line) else "failed" if test[1] else "passed"
                counts[kind] += 1
                part = [line] if kind == "failed" else None
                if part:
                    failed.append(part)
                if sys.stdout.isatty():
                    print("\r%-10s %d" % (name, sum(counts.values())), end="", flush=True)
            elif part and line.startswith("#") and len(part) < PART:
                part.append(line)
        status = child.wait()
    lines = ["%s: %s" % (name, line) for part in failed for line in part]
    if status and not lines:
        lines = ["%s: %s" % (name, line) for line in last]
    if lines and not status:
        status = 1
    return status, lines, counts


def main():
    split = sys.argv.index("--")
    logs, names, command = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
    os.makedirs(logs, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bad = []
    for name in names:
        log_path = "%s/%s.log" % (logs, name)
        start = time.monotonic()
        status, lines, counts = suite_run(name, command[:-1] + [command[-1] + name], log_path)
        tests = ", ".join("%d %s" % (n, kind) for kind, n in counts.items() if n)
        tests = tests.replace("expected", "skipped or known to differ")
        print("%s%-10s %-6s %4d s  %s" % ("\r" if sys.stdout.isatty() else "", name, "FAILED" if status else "ok",
                                        time.monotonic() - start, tests), flush=True)
        if status:
            print("\n".join(lines), flush=True)
            bad.append((name, log_path, lines))
    if not bad:
        print("all suites passed; their output is in " + logs)
        return 0
    print("\nWhat failed, once more:")
    for name, log_path, lines in bad:
        print("\n".join(lines))
        print("%s failed; all that it printed is in %s" % (name, log_path))
    return 1


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
