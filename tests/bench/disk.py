"""The rows of bench.py about images and the disks of named cells.

All that these rows make lies in one directory beside the programs: the store of the cells and what the native runs
write, so that both are on the same file system of the host. Before each sample the host writes back what it holds, so
that no sample pays for the one before it. For the same reason what was made is removed at the end: ext4 does not give the
inode of a file that was just removed to a new one, and looks at all of those for each.

A row gives one or more lines. A line has samples of two things, which are taken in turn; or samples of one thing that
is held against a fixed limit."""
import os
import shutil
import statistics
import subprocess
import tempfile
import time

MIB = 1 << 20
TIMEOUT = 900
SETTLE = 20
FILES = 50000
EQUAL = 1.05  # as fast as the other


def settle():
    """The host writes back what it holds. Others who write must not keep us for ever."""
    p = subprocess.Popen(["sync"])
    try:
        p.wait(SETTLE)
    except subprocess.TimeoutExpired:
        p.kill()  # it ends when the host is done


class Line:
    """samples: {"native": [...], "viv": [...]}, or a name of its own for what viv is compared with: that gets a line below.
    limit: times that, or with fixed, in the unit of the line (ns or bytes). Judged are medians; where viv is to be as
    fast as the other, the best of all samples, as medians differ by more between two runs of one thing."""

    def __init__(self, title, samples, limit=None, fixed=False, unit="time", asked=None):
        self.title, self.samples, self.limit, self.fixed, self.unit = title, samples, limit, fixed, unit
        self.med = {k: statistics.median(v) for k, v in samples.items()}
        self.vs = next((k for k in samples if k != "viv"), None)
        judged = {k: min(v) for k, v in samples.items()} if limit == EQUAL else self.med
        viv, ref = judged["viv"], judged.get(self.vs)
        self.ratio = viv / ref if ref else None
        self.asked, self.verdict = "", ""
        if limit is None:
            return
        self.asked = asked or "<= %g x %s" % (limit, self.vs)
        ok = viv <= limit if fixed else self.ratio is not None and self.ratio <= limit
        self.verdict = "ok" if ok else "missed"


class Disk:
    def __init__(self, args, path, env):
        self.args, self.viv, self.bin, self.quick = args, args.viv, args.bin, args.quick
        self.tmp = tempfile.mkdtemp(prefix="disk.", dir=os.path.dirname(args.bin))
        os.chmod(self.tmp, 0o755)
        self.path, self.env, self.many = path, env, None
        self.images_made = False
        self.dropped = 0
        self.store("main")

    def close(self):
        for name in "main", "many":
            self.store(name)
            self.run([self.viv, "daemon", "stop"])
        shutil.rmtree(self.tmp, ignore_errors=True)

    # ---- stores ----

    def store(self, name):
        """The store that viv uses from now on; all of it lies in the directory returned."""
        where = os.path.join(self.tmp, "store", name)
        env = dict(self.env)
        for key, sub in ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "run"):
            env[key] = os.path.join(where, sub)
            os.makedirs(env[key], mode=0o700 if sub == "run" else 0o755, exist_ok=True)
        self.store_env = env
        return where

    def store_copy(self, source, name):
        target = self.store(name)
        self.drop(target)
        self.shell("cp -a '%s' '%s'" % (source, target))
        self.store(name)
        return target

    def store_drop(self, where):
        self.run([self.viv, "daemon", "stop"])
        self.drop(where)
        self.store("main")

    def drop(self, where):
        """Out of the way; of it, only what takes much space goes at once."""
        self.shell("find '%s' -type f -size +1M -delete" % where)
        self.dropped += 1
        os.rename(where, "%s/dropped.%d" % (self.tmp, self.dropped))

    # ---- running ----

    def run(self, argv):
        """Nanoseconds and output."""
        start = time.monotonic_ns()
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.store_env,
                           timeout=TIMEOUT)
        took = time.monotonic_ns() - start
        if p.returncode:
            tail = (p.stderr or p.stdout).strip().splitlines()
            raise RuntimeError("%s: exit %d: %s" % (argv[0], p.returncode, tail[-1][:200] if tail else ""))
        return took, p.stdout

    def shell(self, text):
        return self.run(["/bin/sh", "-c", text])

    def cell(self, name, text, extra=()):
        """A shell command in a named cell, with {b} for the programs and {d} for a directory of its own."""
        text = "mkdir -p /root/d && " + text.replace("{b}", "/bench").replace("{d}", "/root/d")
        return self.run([self.viv, "run", "--name", name, "--mount", self.bin + ":/bench:ro", *extra, "--", "/bin/sh",
                         "-c", text])[1]

    def native(self, text):
        d = tempfile.mkdtemp(prefix="native.", dir=self.tmp)
        try:
            return self.shell(text.replace("{b}", self.bin).replace("{d}", d))[1]
        finally:
            self.drop(d)

    def rounds(self, n):
        return range(2 if self.quick else n)

    def side_by_side(self, text, rounds):
        """A command that prints figures, natively and in a fresh named cell."""
        samples = {"native": [], "viv": []}
        for i in self.rounds(rounds):
            for system in samples:
                settle()
                if system == "native":
                    out = self.native(text)
                else:
                    where = self.store("fresh")
                    out = self.cell("bench", text)
                    self.store_drop(where)
                samples[system] += [float(x) for x in out.split()]
        return samples

    def used(self, where):
        """Bytes that the host gives for it. A file with several names counts once."""
        return int(self.shell("du -s --block-size=1 '%s'" % where)[1].split()[0])

    # ---- what is measured ----

    def image(self):
        """An image of 5,000 files in which /bin/true can run, with one large file: made once."""
        root = os.path.join(self.tmp, "root")
        if self.images_made:
            return root
        self.store("main")
        os.makedirs(root + "/bin")
        self.shell("'%s/micro' files '%s/data' 50 100 1000" % (self.bin, root))
        shutil.copy("/bin/true", root + "/bin/true")
        shutil.copy(self.bin + "/disk", root + "/bin/disk")
        for line in self.shell("ldd /bin/true '%s/disk'" % self.bin)[1].split():
            if line.startswith("/") and ".so" in line and not os.path.exists(root + line):
                os.makedirs(os.path.dirname(root + line), exist_ok=True)
                shutil.copy(line, root + line)
        os.makedirs(root + "/etc", exist_ok=True)
        if os.path.exists("/etc/ld.so.cache"):  # without it the loader searches more directories than on the host
            shutil.copy("/etc/ld.so.cache", root + "/etc/ld.so.cache")
        self.shell("'%s/disk' make '%s/large' %d" % (self.bin, root, 128 if self.quick else 512))
        self.run([self.viv, "image", "import", root, "--tag", "five", "-q"])
        self.images_made = True
        return root

    def start_image(self):
        self.image()
        samples = {"viv": [], "host image": []}
        extra = {"viv": ["--image", "five"], "host image": ["--image", "host"]}
        for i in range(10 if self.quick else 60):
            for name in samples:
                samples[name].append(self.run([self.viv, "run", *extra[name], "--", "/bin/true"])[0])
        return [Line("start of /bin/true, imported image", samples, EQUAL)]

    def create(self):
        text = "{b}/timer -w 0 -n 1 {b}/micro files {d}/t 100 100 1000"
        return [Line("create 10,000 files, named cell", self.side_by_side(text, 5), 4)]

    def sequential(self):
        mib, name = (256, "256 MiB") if self.quick else (1024, "1 GiB")
        write = self.side_by_side("{b}/disk write {d}/f %d 2" % mib, 3)
        sync = self.side_by_side("{b}/disk write {d}/f %d 2 sync" % mib, 3)
        read = self.side_by_side("{b}/disk make {d}/f %d && {b}/disk read {d}/f 3" % mib, 3)
        return [Line("write %s, named cell" % name, write, 1.15), Line("  and fsync", sync, 1.15),
                Line("read %s, named cell" % name, read, 1.15)]

    def mmap(self):
        root = self.image()
        count, samples = 20000, {"native": [], "viv": []}
        for i in self.rounds(5):
            for system in samples:
                prefix = [root + "/bin/disk"] if system == "native" else [self.viv, "run", "--image", "five", "--",
                                                                         "/bin/disk"]
                large = root + "/large" if system == "native" else "/large"
                samples[system] += [float(x) for x in self.run(prefix + ["mmap", large, str(count), "4"])[1].split()]
        disk = self.mmap_disk(128 if self.quick else 512, count)
        return [Line("mmap, random 4 KiB, image", samples, EQUAL), Line("mmap, random 4 KiB, disk", disk, EQUAL)]

    def mmap_disk(self, mib, count):
        """Both map the same file, that of the cell: what pages the host found for a file makes more difference than anything
        else (up to a half, between two files that were written alike)."""
        samples = {"native": [], "viv": []}
        for i in self.rounds(5):
            where = self.store("fresh")
            self.cell("bench", "{b}/disk make {d}/f %d" % mib)
            large = self.shell("find '%s' -type f -size +%dM" % (where, mib - 1))[1].split("\n")[0]
            settle()
            for system in samples:
                out = (self.cell("bench", "{b}/disk mmap {d}/f %d 4" % count) if system == "viv" else
                       self.shell("'%s/disk' mmap '%s' %d 4" % (self.bin, large, count))[1])
                samples[system] += [float(x) for x in out.split()]
            self.store_drop(where)
        return samples

    def many_files(self):
        """A store with a cell 'many' of 50,000 files, and an empty cell: made once, and copied for each use."""
        if not self.many:
            self.many = self.store("many")
            self.cell("many", "{b}/micro files {d}/t %d 100 10" % (FILES // 100))
            self.cell("none", "true")
            self.store("main")
        return self.many

    def taken(self, where, verb, running, cell):
        """What a snapshot or a fork takes: nanoseconds, and bytes in the store."""
        guest = None
        if running:
            guest = subprocess.Popen([self.viv, "run", "--name", cell, "--", "/bin/sh", "-c", "echo ready; read x; exit 0"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.store_env, text=True)
            if guest.stdout.readline() != "ready\n":
                raise RuntimeError("the cell did not start")
        # vivd does it, and is there already unless this is the first command of all.
        self.run([self.viv, "daemon", "start"])
        try:
            settle()
            before = self.used(where)
            ns = self.run([self.viv, verb, cell, "new-%s-%d" % (verb, running)])[0]
            return ns, max(self.used(where) - before, 0)
        finally:
            if guest:
                guest.stdin.close()
                guest.wait()

    def snapshot(self):
        base, lines = self.many_files(), []
        for verb in "snapshot", "fork":
            for running in False, True:
                times, sizes = [], []
                for i in self.rounds(5):
                    where = self.store_copy(base, "copy")
                    ns, size = self.taken(where, verb, running, "many")
                    times.append(ns)
                    sizes.append(size)
                    self.store_drop(where)
                title = "%s, 50,000 files, %s" % (verb, "running" if running else "stopped")
                lines += [Line(title, {"viv": times}, 20e6, True, asked="<= 20 ms"),
                          Line("  space", {"viv": sizes}, MIB, True, "size", "<= 1 MiB")]
        return lines

    def gap(self):
        """How long others wait for one small call while a process does something to a large file."""
        mib = 128 if self.quick else 512
        verbs = (("fsync", "fsync"), ("osync", "a write with O_SYNC"), ("truncate", "truncate"), ("unlink", "unlink"))
        lines = []
        for verb, what in verbs:
            samples = self.side_by_side("{b}/gap %s {d}/f %d 2 | cut -d' ' -f1" % (verb, mib), 3)
            lines.append(Line("longest wait of others, %s" % what, samples))
        for verb, what in ("watch", "snapshot"), ("first", "first write after it"):
            samples = [self.gap_snapshot(verb, mib) for i in self.rounds(5)]
            lines.append(Line("longest wait of others, %s" % what, {"viv": samples}))
        return lines

    def gap_snapshot(self, verb, mib):
        """A snapshot is made of a cell that has much to write, or a large file open."""
        where = self.store("fresh")
        text = "mkdir -p /root/d && /bench/disk make /root/d/dirty %d && exec /bench/gap %s /root/d/f %d 1" % (mib, verb, mib)
        guest = subprocess.Popen([self.viv, "run", "--name", "bench", "--mount", self.bin + ":/bench:ro", "--", "/bin/sh", "-c",
                                  text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.store_env, text=True)
        try:
            if guest.stdout.readline() != "ready\n":
                raise RuntimeError("the cell did not start")
            self.run([self.viv, "snapshot", "bench", "one"])
            guest.stdin.write("\n")
            guest.stdin.flush()
            return float(guest.stdout.readline().split()[0])
        finally:
            guest.stdin.close()
            guest.wait()
            self.store_drop(where)

    def content(self):
        """One cell for all four: between them it writes a little, so that there is something to seal."""
        gib = 1 if self.quick else 10
        if shutil.disk_usage(self.tmp).free < (gib + 2) << 30:
            raise RuntimeError("needs %d GiB of disk" % (gib + 2))
        where, lines = self.store("content"), []
        self.cell("many", "".join("{b}/disk make {d}/%d 256 && " % i for i in range(gib * 4)) + "true")
        for verb in "snapshot", "fork":
            for running in False, True:
                ns, size = self.taken(where, verb, running, "many")
                title = "%s, %d GiB, %s" % (verb, gib, "running" if running else "stopped")
                lines += [Line(title, {"viv": [ns]}),
                          Line("  space", {"viv": [size]}, MIB, True, "size", "no copy: <= 1 MiB")]
                self.cell("many", "{b}/disk make {d}/more.%s.%d 1" % (verb, running))
        self.store_drop(where)
        return lines

    def archive(self):
        """A tar of 500 MB: small files and large ones, no two alike."""
        tar = os.path.join(self.tmp, "big.tar")
        tree = os.path.join(self.tmp, "tree")
        os.makedirs(tree)
        seed = os.urandom(1 << 16)
        for i in range(20000):
            d = "%s/d%03d" % (tree, i // 100)
            os.makedirs(d, exist_ok=True)
            with open("%s/f%05d" % (d, i), "wb") as f:
                f.write(b"%d\n" % i + seed[i % 50000:i % 50000 + 10000])
        for i in range(10):
            with open("%s/large%d" % (tree, i), "wb") as f:
                for _ in range(30):
                    f.write(os.urandom(1000000))
        self.shell("tar cf '%s' -C '%s' . && rm -r '%s'" % (tar, tree, tree))
        return tar

    def importing(self):
        tar = self.archive()
        samples = {"viv": [], "tar x, sha256sum": []}
        for i in self.rounds(5):
            for name in samples:
                settle()
                if name == "viv":
                    where = self.store("import")
                    samples[name].append(self.run([self.viv, "image", "import", tar, "-q"])[0])
                    self.store_drop(where)
                else:
                    d = os.path.join(self.tmp, "x")
                    os.mkdir(d)
                    samples[name].append(self.shell("cd '%s' && tar xf '%s' && find . -type f -print0 | xargs -0 sha256sum "
                                                    ">../sums" % (d, tar))[0])
                    self.drop(d)
        os.unlink(tar)
        return [Line("import a tar of 500 MB", samples, 1.0)]

    def reopen(self):
        base = self.many_files()
        where = self.store_copy(base, "copy")
        samples = {"viv": [], "empty cell": []}
        for i in range(5 if self.quick else 20):
            for name, cell in ("viv", "many"), ("empty cell", "none"):
                samples[name].append(self.run([self.viv, "run", "--name", cell, "--", "/bin/true"])[0])
        self.store_drop(where)
        return [Line("reopen, 50,000 changed files", samples, 150e6, True, asked="<= 150 ms")]


ROWS = {
    "image-start": ("start with an imported image", Disk.start_image),
    "disk-create": ("create 10,000 files", Disk.create),
    "disk-sequential": ("write and read a large file", Disk.sequential),
    "disk-mmap": ("random reads of a mapped file", Disk.mmap),
    "disk-snapshot": ("snapshot and fork, 50,000 files", Disk.snapshot),
    "disk-gap": ("how long others wait for a large file", Disk.gap),
    "disk-content": ("snapshot and fork, much content", Disk.content),
    "image-import": ("import a tar of 500 MB", Disk.importing),
    "disk-reopen": ("reopen a cell with 50,000 changed files", Disk.reopen),
}
