#!/usr/bin/env python3
"""Archives that no honest program makes, for the theme 'image'.

    archives.py DIRECTORY        writes them all there, small ones
    archives.py --many N         N empty files as a tar stream on standard output
    archives.py --tree DIR       a small tree of every kind of file
"""
import gzip
import io
import os
import sys
import tarfile


def entry(name, kind=tarfile.REGTYPE, data=b"", **more):
    t = tarfile.TarInfo(name)
    t.type = kind
    t.size = len(data)
    t.mode = more.pop("mode", 0o755 if kind == tarfile.DIRTYPE else 0o644)
    for key, value in more.items():
        setattr(t, key, value)
    return t, io.BytesIO(data)


def tar(entries, fmt=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fmt) as f:
        for t, data in entries:
            f.addfile(t, data)
    return out.getvalue()


def header(name, size=b"00000000000", kind=b"0", link=b"", magic=b"ustar\x0000", uid=b"0000000", rest=b""):
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:107] = b"0000644"
    h[108:108 + len(uid)] = uid
    h[116:123] = b"0000000"
    h[124:124 + len(size)] = size
    h[136:147] = b"00000000000"
    h[148:156] = b" " * 8
    h[156:157] = kind
    h[157:157 + len(link)] = link
    h[257:257 + len(magic)] = magic
    h[329:329 + len(rest)] = rest
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


END = bytes(1024)


def padded(data):
    return data + bytes(-len(data) % 512)


def pax(records, then):
    body = b""
    for key, value in records:
        text = b" " + key + b"=" + value + b"\n"
        n = len(text)
        while len(str(n)) + len(text) != n:
            n = len(str(n)) + len(text)
        body += str(n).encode() + text
    return header(b"pax", b"%011o" % len(body), b"x") + padded(body) + then


def sparse(size, at, data=b"data"):
    """A file of that size with data at an offset, in the format that GNU tar calls 1.0."""
    table = padded(b"1\n%d\n%d\n" % (at, len(data)))
    body = table + padded(data)
    return pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", b"sparse"),
                (b"GNU.sparse.realsize", b"%d" % size)],
               header(b"GNUSparseFile.0/sparse", b"%011o" % (len(table) + len(data))) + body) + END


def archives():
    honest = tar([entry("d", tarfile.DIRTYPE), entry("d/a", data=b"a" * 3000), entry("d/b", data=b"b" * 2000)])
    body = honest.rstrip(b"\0")
    yield "good.tar", honest
    yield "dotdot.tar", tar([entry("../evil", data=b"x")])
    yield "dotdot-inside.tar", tar([entry("a/../../evil", data=b"x")])
    yield "dotdot-dir.tar", tar([entry("..", tarfile.DIRTYPE)])
    yield "absolute.tar", tar([entry("/abs/x", data=b"x")])
    yield "link-out.tar", tar([entry("l", tarfile.LNKTYPE, linkname="/etc/passwd")])
    yield "link-dotdot.tar", tar([entry("l", tarfile.LNKTYPE, linkname="../../../etc/passwd")])
    yield "link-directory.tar", tar([entry("d", tarfile.DIRTYPE), entry("l", tarfile.LNKTYPE, linkname="d")])
    yield "link-self.tar", tar([entry("l", tarfile.LNKTYPE, linkname="l")])
    yield "through-link.tar", tar([entry("d", tarfile.SYMTYPE, linkname=os.environ.get("OUTSIDE", "/outside")),
                                   entry("d/evil", data=b"evil"),
                                   entry("up", tarfile.SYMTYPE, linkname="../../../../outside"),
                                   entry("up/evil", data=b"evil")])
    yield "link-loop.tar", tar([entry("a", tarfile.SYMTYPE, linkname="b"), entry("b", tarfile.SYMTYPE, linkname="a"),
                                entry("a/x", data=b"x")])
    yield "devices.tar", tar([entry("dev/sd%d" % i, tarfile.BLKTYPE, devmajor=8, devminor=i) for i in range(2000)])
    yield "device-wrong.tar", pax([(b"SCHILY.devmajor", b"99999999")], header(b"dev", kind=b"3", rest=b"7777777\0" * 2)) + END
    yield "duplicates.tar", tar([entry("f", data=b"first"), entry("f", tarfile.DIRTYPE), entry("f/x", data=b"x"),
                                 entry("f", data=b"last"), entry("g", data=b"file"), entry("g/h", data=b"below")])
    yield "sparse-8e.tar", sparse((1 << 63) - 1, 0)
    yield "sparse-1t.tar", sparse(1 << 40, (1 << 40) - 4)
    yield "sparse-1g.tar", sparse(1 << 30, (1 << 30) - 4)
    yield "sparse-back.tar", pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", b"s"),
                                  (b"GNU.sparse.realsize", b"8192")],
                                 header(b"s", b"%011o" % 1032) + padded(b"2\n4096\n4\n0\n4\n") + padded(b"datadata")) + END
    yield "cut-data.tar", body[:3000]
    yield "cut-header.tar", honest[:512 + 200]
    yield "cut-end.tar", honest[:512 * 2 + 3072]
    yield "cut.tar.gz", gzip.compress(honest)[:-20]
    yield "name-300.tar", tar([entry("n" * 300, data=b"x")])
    yield "name-4096.tar", tar([entry("n" * 4096, data=b"x")])
    yield "path-4090.tar", tar([entry("/".join(["d" * 100] * 40) + "/" + "f" * 45, data=b"deep")])
    yield "path-5000.tar", tar([entry("d/" * 2500 + "f", data=b"x")])
    yield "utf8-ustar.tar", header(b"bad-\xff\xfe\x80-name", b"%011o" % 1) + padded(b"x") + END
    yield "utf8-pax.tar", pax([(b"path", b"bad-\xff\xfe\x80-name")], header(b"x", b"%011o" % 1) + padded(b"x")) + END
    yield "utf8-link.tar", pax([(b"linkpath", b"\xff\xfe")], header(b"l", kind=b"2", link=b"x")) + END
    yield "control.tar", tar([entry("../\033[31mred\nline", data=b"x")])
    yield "size-negative.tar", header(b"f", b"\xff" * 12) + END
    yield "size-8e.tar", header(b"f", b"\x80\0\0\0\x7f" + b"\xff" * 7) + END
    yield "size-lies.tar", header(b"f", b"00077777777") + b"short"
    yield "checksum.tar", honest[:150] + b"X" + honest[151:]
    yield "uid.tar", pax([(b"uid", b"4294967295")], header(b"f")) + END
    yield "uid-negative.tar", header(b"f", uid=b"\xff" * 8) + END
    yield "longname.tar", header(b"././@LongLink", b"77777777777", b"L") + padded(b"n" * 500) + END
    yield "pax-long.tar", header(b"pax", b"17777777777", b"x") + padded(b"30 path=x\n") + END
    # What GNU tar refuses too: what the header says is not what would be taken.
    yield "pax-malformed.tar", header(b"pax", b"%011o" % 10, b"x") + padded(b"garbage\n\n\n") + header(b"f") + END
    yield "pax-1M.tar", pax([(b"linkpath", b"x" * 1000500)], header(b"l", kind=b"2", link=b"y")) + END
    yield "xattr-large.tar", pax([(b"SCHILY.xattr.user.x", b"v" * 70000)], header(b"f")) + END
    yield "xattr-many.tar", pax([(b"SCHILY.xattr.user.x%d" % i, b"v") for i in range(5000)], header(b"f")) + END
    yield "root-file.tar", tar([entry("./", data=b"x")])
    yield "empty-name.tar", header(b"") + END
    yield "zeros.tar", END
    yield "empty.tar", b""
    yield "text.tar", b"this is no archive\n" * 100
    yield "random.tar", bytes((i * 7919 + (i >> 3)) & 255 for i in range(20000))
    packed = gzip.compress(honest, mtime=0)
    yield "crc.tar.gz", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
    yield "length.tar.gz", packed[:-4] + bytes([packed[-4] ^ 1]) + packed[-3:]
    # Stored, not compressed: a bit of the contents that nothing but the checksum tells of.
    packed = gzip.compress(honest, compresslevel=0, mtime=0)
    yield "bit.tar.gz", packed[:3000] + bytes([packed[3000] ^ 1]) + packed[3001:]
    yield "member-cut.tar.gz", gzip.compress(honest[:3000]) + gzip.compress(honest[3000:])[:-4]
    yield "members.tar.gz", gzip.compress(honest[:3000]) + gzip.compress(honest[3000:]) + bytes(700)
    yield "behind.tar.gz", gzip.compress(honest) + b"\x1fsomething else"
    # A member behind the archive that cannot be unpacked: its method, its first block.
    yield "member-method.tar.gz", gzip.compress(honest) + b"\x1f\x8bsomething else"
    packed = bytearray(gzip.compress(bytes(10240)))
    packed[10] = 7
    yield "member-block.tar.gz", gzip.compress(honest) + packed
    yield "bomb.tar.gz", gzip.compress(header(b"zeros", b"%011o" % (64 << 20)) + bytes(64 << 20) + END)


def many(n):
    out = sys.stdout.buffer
    base = bytearray(header(b"d/000/0000000"))
    blocks = []
    plain = sum(base) - sum(base[148:156]) - sum(base[0:13]) + 8 * 32
    for i in range(n):
        name = b"d/%03d/%07d" % (i % 1000, i)
        base[0:13] = name
        base[148:156] = b"%06o\0 " % (plain + sum(name))
        blocks.append(bytes(base))
        if len(blocks) == 4096:
            out.write(b"".join(blocks))
            blocks = []
    out.write(b"".join(blocks) + END)


def tree(top):
    os.makedirs(top + "/bin")
    os.makedirs(top + "/etc/deep/er")
    os.makedirs(top + "/empty")
    for name, data in (("bin/tool", b"#!/bin/sh\necho tool\n"), ("etc/zero", b""), ("etc/one", b"same"),
                       ("etc/two", b"same"), ("etc/deep/er/big", bytes(range(256)) * 8192)):
        with open(top + "/" + name, "wb") as f:
            f.write(data)
    os.chmod(top + "/bin/tool", 0o755)
    os.chmod(top + "/etc/one", 0o600)
    os.chmod(top + "/empty", 0o1777)
    os.link(top + "/bin/tool", top + "/etc/tool-again")
    os.symlink("../bin/tool", top + "/etc/link")
    os.symlink("nowhere", top + "/dangling")
    os.link(top + "/dangling", top + "/dangling-again", follow_symlinks=False)
    os.mkfifo(top + "/fifo")
    with open(top.encode() + b"/name-\xff\n", "wb") as f:
        f.write(b"odd")
    with open(top + "/sparse", "wb") as f:
        f.truncate(8 << 20)
        f.seek(3 << 20)
        f.write(b"in the middle")
    os.chmod(top, 0o755)


if __name__ == "__main__":
    if sys.argv[1] == "--many":
        many(int(sys.argv[2]))
    elif sys.argv[1] == "--tree":
        tree(sys.argv[2])
    else:
        for file, content in archives():
            with open(os.path.join(sys.argv[1], file), "wb") as f:
                f.write(content)
