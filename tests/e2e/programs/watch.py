#!/usr/bin/env python3
"""Watches paths with inotify and prints what it is told, until an entry called 'end' is made: watch.py PATH..."""

import ctypes
import os
import struct
import sys

NAMES = ["ACCESS", "MODIFY", "ATTRIB", "CLOSE_WRITE", "CLOSE_NOWRITE", "OPEN", "MOVED_FROM", "MOVED_TO", "CREATE", "DELETE",
         "DELETE_SELF", "MOVE_SELF", None, "UNMOUNT", "Q_OVERFLOW", "IGNORED"]
CHANGES = 0xfce  # all but those of who reads
libc = ctypes.CDLL(None, use_errno=True)


def name_of(mask):
    return "|".join([n for i, n in enumerate(NAMES) if n and mask & 1 << i] + (["ISDIR"] if mask & 0x40000000 else []))


def main(paths):
    fd, watched = libc.inotify_init1(0), {}
    for p in paths:
        wd = libc.inotify_add_watch(fd, p.encode(), CHANGES)
        if wd < 0:
            sys.exit("%s: %s" % (p, os.strerror(ctypes.get_errno())))
        watched[wd] = os.path.basename(p)
    print("ready", flush=True)
    while True:
        data, at = os.read(fd, 65536), 0
        while at < len(data):
            wd, mask, cookie, size = struct.unpack_from("iIII", data, at)
            name = data[at + 16:at + 16 + size].rstrip(b"\0").decode()
            at += 16 + size
            print(watched[wd], name_of(mask), *([name] if name else []), flush=True)
            if name == "end":
                return


main(sys.argv[1:])
