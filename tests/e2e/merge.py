#!/usr/bin/env python3
# merge.py change SEED | tell [ctimes]: changes a tree of files below /t in all ways, or prints all that there is to see of it.
import ctypes, hashlib, os, random, stat, sys

libc = ctypes.CDLL(None, use_errno=True)


def walk():
    for dir, dirs, files in os.walk("/t"):
        dirs.sort()
        yield dir
        for name in sorted(files + [d for d in dirs if os.path.islink(f"{dir}/{d}")]):
            yield f"{dir}/{name}"


def tell(ctimes):
    first = {}
    for path in sorted(walk()):
        s = os.lstat(path)
        line = [path, oct(s.st_mode), s.st_uid, s.st_gid, s.st_mtime_ns] + [s.st_ctime_ns] * ctimes
        if not stat.S_ISDIR(s.st_mode):
            line += [s.st_nlink, s.st_size, s.st_rdev, first.setdefault(s.st_ino, path)]
        if stat.S_ISREG(s.st_mode):
            line += [hashlib.sha256(open(path, "rb").read()).hexdigest()[:16]]
        if stat.S_ISLNK(s.st_mode):
            line += [os.readlink(path)]
        else:
            line += [(x, os.getxattr(path, x)) for x in sorted(os.listxattr(path))]
        print(*line)


def change(seed):
    r = random.Random(seed)
    paths = list(walk())

    def any(kind=lambda p: True):
        few = [p for p in r.sample(paths, min(len(paths), 20)) if os.path.lexists(p) and kind(p)]
        return few[0] if few else "/t"

    isdir = lambda p: os.path.isdir(p) and not os.path.islink(p)
    isreg = lambda p: os.path.isfile(p) and not os.path.islink(p)
    for i in range(60):
        new = f"{any(isdir)}/{seed}.{i}"
        what = r.randrange(14)
        p = any(isreg)
        try:
            if what == 0: os.mkdir(new, r.choice([0o700, 0o755, 0o1777]))
            elif what in (1, 2): open(new, "wb").write(r.randbytes(r.choice([0, 5, 5000, 300000])))
            elif what == 3: open(p, "ab").write(r.randbytes(r.randrange(1, 9000)))
            elif what == 4: os.truncate(p, r.randrange(20000))
            elif what == 5: os.link(p, new)
            elif what == 6: os.unlink(p)
            elif what == 7: os.rename(any(), new)
            elif what == 8: libc.renameat2(-100, any().encode(), -100, any().encode(), 2)
            elif what == 9: os.symlink("x" * r.randrange(1, 200), new)
            elif what == 10: os.setxattr(p, f"user.a{r.randrange(3)}", r.randbytes(r.randrange(200)))
            elif what == 11: os.chmod(p, r.randrange(0o1000)); os.chown(p, r.randrange(9), r.randrange(9)); os.utime(p, ns=(r.randrange(1 << 62), r.randrange(1 << 62)))
            elif what == 12: os.system(f"rm -rf '{any(isdir)}'") if r.randrange(3) == 0 else None; os.makedirs("/t", exist_ok=True)
            elif what == 13: os.mkfifo(new)
        except OSError:
            pass
        paths.append(new)


if __name__ == "__main__":
    tell(sys.argv[2:] == ["ctimes"]) if sys.argv[1] == "tell" else change(int(sys.argv[2]))
