# A cell's own disk: what it keeps, and what a kernel that is killed leaves. shellcheck shell=bash

# Every test has a store of its own, with one cell; D is the directory of its disk.
own_store() { own_vivd; D='data/vivarium/disks/*'; }

# Prints all that is known of a tree, so that two looks at it can be compared.
look='
import os, sys, hashlib
for dir, dirs, files in os.walk(sys.argv[1]):
    dirs.sort()
    for name in [""] + sorted(files + [d for d in dirs if os.path.islink(os.path.join(dir, d))]):
        p = os.path.join(dir, name); s = os.lstat(p)
        what = os.readlink(p) if os.path.islink(p) else hashlib.md5(open(p, "rb").read(1 << 20)).hexdigest() if os.path.isfile(p) else ""
        x = [] if os.path.islink(p) else [(n, os.getxattr(p, n)) for n in sorted(os.listxattr(p))]
        print(p, oct(s.st_mode), s.st_uid, s.st_gid, s.st_nlink, s.st_ino, s.st_rdev, 0 if os.path.isdir(p) else s.st_size, s.st_mtime_ns, s.st_ctime_ns, what, x)
'
make='
import os, socket
os.mkdir("/work"); os.chdir("/work")
for i in range(300): os.makedirs(f"d{i % 7}/e{i % 5}", exist_ok=True); open(f"d{i % 7}/e{i % 5}/f{i}", "w").write("x" * i * 37)
os.symlink("d1/e1", "link"); os.link("d1/e1/f1", "hard"); os.mkfifo("fifo", 0o640); os.mknod("null", 0o20666, os.makedev(1, 3))
s = socket.socket(socket.AF_UNIX); s.bind("sock")
os.setxattr("hard", "user.note", b"a\0b"); os.setxattr("d2", "user.dir", b"yes"); os.chown("fifo", 12, 34); os.chmod("d3", 0o2751)
f = os.open("sparse", os.O_RDWR | os.O_CREAT); os.ftruncate(f, 1 << 32); os.pwrite(f, b"middle", 1 << 31); os.utime("sparse", ns=(1, 1234567890123456789))
os.rename("d4", "moved"); os.rename("/usr/share/misc", "/work/misc"); os.unlink("/etc/hosts"); open("/etc/passwd", "a").write("# more\n"); os.chmod("/opt", 0o711)
gone = open("gone", "w"); gone.write("nobody sees it"); gone.flush(); os.unlink("gone")
'

stays() {
	own_store
	viv --name d -- python3 -c "$make"
	viv --name d -- python3 -c "$look" /work >one
	viv --name d -- sh -c 'tail -n 1 /etc/passwd; stat -c %a /opt; ls /etc/hosts /usr/share/misc 2>&1 | sed "s/.*cannot/cannot/"' >other
	viv --name d -- python3 -c "$look" /work >two
	cmp one two
	(($(wc -l <one) > 340))
	is "$(tr '\n' ' ' <other)" "# more 711 cannot access '/etc/hosts': No such file or directory cannot access '/usr/share/misc': No such file or directory "
	# Only contents that are in use are left: the unlinked one went.
	is "$(find $D/data/1/c -type f | wc -l)" "$(viv --name d -- sh -c 'find /work -type f -size +0 ! -path "/work/misc/*" -printf "%i\n" | sort -u | wc -l' | awk '{ print $1 + 1 }')" 'contents'
}
check 'everything stays: kinds, owners, times, links, attributes, holes, what was moved and removed @r' stays

in_use() {
	own_store
	mkfifo go
	viv --name d -- sh -c 'echo in; read x' <go >log &
	exec 9>go
	soon grep -q in log
	exits 125 viv --name d -- true
	like "$(cat err)" '*in use by another viv*'
	exec 9>&-
	wait
}
check 'a disk is for one cell at a time @r' in_use

# The guest says what it has done; everything it said is there after its kernel was killed.
killed() {
	own_store
	local i pid kernel n
	for i in 1 2 3 4 5 6; do
		"$VIV" run --name d -- python3 -u -c '
import os, sys
i = int(sys.argv[1]) * 100000
while True:
    d = f"/k/{i % 10}"; os.makedirs(d, exist_ok=True)
    open(f"{d}/{i}", "w").write(str(i) * 50); os.setxattr(f"{d}/{i}", "user.n", str(i).encode())
    if i % 3 == 0: os.rename(f"{d}/{i}", f"{d}/r{i}")
    if i % 5 == 0: open(f"{d}/{i}.tmp", "w").write("x"); os.unlink(f"{d}/{i}.tmp")
    os.write(1, b"%d\n" % i); i += 1' "$i" >>said 2>/dev/null &
		pid=$!
		soon grep -q "^$i....." said
		sleep "0.$((RANDOM % 9 + 1))"
		kernel=$(ps -e -o pid=,ppid= | awk -v p="$pid" '$2 == p { print $1; exit }')
		kill -9 "$kernel"
		wait $pid || true
	done
	n=$(wc -l <said)
	((n > 20)) || { echo "only $n were made"; return 1; }
	viv --name d --mount "$PWD:/m:ro" -- python3 -c '
import os
bad = n = 0
for line in open("/m/said"):
    if not line.endswith("\n"): continue
    i = int(line); n += 1; p = f"/k/{i % 10}/" + (f"r{i}" if i % 3 == 0 else f"{i}")
    if open(p).read() != str(i) * 50 or os.getxattr(p, "user.n") != str(i).encode() or os.path.exists(f"/k/{i % 10}/{i}.tmp"): bad += 1
print(n > 20, bad)' >out
	is "$(cat out)" 'True 0'
	exits 0 v verify d
	# Nothing that the killed kernels left behind stays. Who was killed between making a content and the first write has left a file that is empty.
	is "$(viv --name d -- sh -c 'find /k -type f -size +0 | wc -l')" "$(find $D/data/1/c -type f -size +0 | wc -l)" 'contents'
	(($(viv --name d -- sh -c 'find /k -type f -empty | wc -l') >= $(find $D/data/1/c -type f -empty | wc -l)))
}
check 'a kernel killed at any instant loses nothing that was answered @r' killed

many() {
	own_store
	LIMIT=300 viv --name d -- python3 -c '
import os
for d in range(100):
    os.makedirs(f"/m/{d}")
    for f in range(300): os.close(os.open(f"/m/{d}/{f}", os.O_CREAT | os.O_WRONLY))'
	is "$(viv --name d -- sh -c 'find /m -type f | wc -l; rm -r /m/5; find /m | wc -l' | tr '\n' ' ')" '30000 29800 '
	is "$(viv --name d -- sh -c 'find /m | wc -l')" 29800
}
check 'thirty thousand files' many

outgrown() {
	own_store
	viv --name d -- python3 -c '
import os
for i in range(40000): os.chmod("/root", 0o700 + i % 7); os.utime("/root", ns=(i, i))
open("/root/x", "w").write("kept")'
	size=$(stat -c %s $D/data/1/log)
	((size < 4500000)) || { echo "the log has $size bytes"; return 1; }
	is "$(viv --name d -- cat /root/x)" kept
}
check 'a log that has outgrown its tree is written anew' outgrown

full() {
	mkdir small
	mount -t tmpfs -o size=4M none small
	at_end 'umount small'
	own_store
	export XDG_DATA_HOME=$PWD/small
	at_end vivd_end
	exits 0 viv --name d -- sh -c '
		head -c 1M /dev/zero >/root/a; sync
		for i in $(seq 100); do head -c 200k /dev/zero >/root/b$i 2>/dev/shm/err || break; done
		sed "s/.*: //" /dev/shm/err; mkdir /root/d 2>/dev/null; rm /root/b* && echo removed; echo again >/root/c && cat /root/c'
	is "$(tr '\n' ' ' <out)" 'No space left on device removed again '
	is "$(viv --name d -- sh -c 'stat -c %s /root/a; cat /root/c' | tr '\n' ' ')" '1048576 again '
	exits 0 v verify d
}
check 'a full host: an error, then room again @root' full

# With not a byte left, also none that was kept back at the last start: what is to be removed can be.
full_remove() {
	mkdir -p data run
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mount -t tmpfs -o size=64M tmpfs data && mkdir data/d data/s || exit 1
		export XDG_DATA_HOME=$PWD/data/d XDG_STATE_HOME=$PWD/data/s XDG_RUNTIME_DIR=$PWD/run
		fill() { cat /dev/zero >>data/fill; cat /dev/zero >>data/fill; } 2>/dev/null
		"$0" run --name a -- sh -c "head -c 8M /dev/zero >/big; touch /small"
		"$0" run --name b -- true
		fill
		echo cells: $("$0" ls -q | wc -l)
		fill
		"$0" run --name a -- sh -c "echo x >/more && echo there is room; rm /small /usr/bin/perl && echo removed"
		kill -9 $("$0" daemon status --json | sed "s/.*\"pid\":\([0-9]*\).*/\1/")
		fill
		echo cells: $("$0" ls -q | wc -l)
		"$0" verify a && echo verified
		fill
		"$0" rm b && echo removed
		"$0" run --name a -- rm /big && echo removed
		test -s data/d/vivarium/room || echo nothing is kept back yet
		rm data/fill
		"$0" rm a && echo removed
		i=0; until test -s data/d/vivarium/room && test -s data/s/vivarium/room; do i=$((i + 1)); test $i -lt 300 || exit 1; sleep 0.1; done
		echo kept back again
		"$0" daemon stop' "$VIV" >out 2>err || { cat out err; return 1; }
	is "$(cat out)" "$(printf '%s\n' 'cells: 2' removed 'cells: 2' verified b removed removed 'nothing is kept back yet' a removed 'kept back again')"
	is "$(grep -cv 'No space left\|I/O error' err)" 0 "$(cat err)"
}
check 'a full host: files, cells and lists without any room @r' full_remove

told() {
	own_store
	viv --name d -- python3 -c "$make"
	v diff d >list
	grep -qx 'D /etc/hosts' list
	grep -qx 'C /etc/passwd' list
	grep -qx 'A /work/fifo' list
	grep -qx 'D /usr/share/misc' list
	fails grep -q gone list
	exits 0 v verify d
	rm "$(find $D/data/1/c -type f | head -n 1)"
	exits 1 v verify d
}
check 'a list of what was changed, and a check of all contents @r' told

# Files that have several names in the image: the same steps on the host and in a cell, which is opened again for each.
links_steps=(
	'echo 1 >>a; cat d/b d/e/c'
	'chmod 600 d/b; rm a'
	'mv d/e/c moved; echo 2 >>moved; cat d/b'
	'mv p/y p/z; echo 3 >p/z; ln p/x p/w; rm p/x'
	'echo new >n; mv n r/two; cat r/*'
	'rm r/one; echo 4 >>r/three'
	'ln s/two s/four; rm s/one s/two; cat s/three'
	'mv t/one t/two; ls t'
	'mv u/k u/l; echo 5 >>u/l/one; mv u/l/two two; rm two'
)
links_look='find a d p r s t u moved n two -type f -exec stat -c "%n %h %s %a" {} + 2>/dev/null | sort; find . -xdev -type f -links +1 -path "./[a-z]*" ! -path "./bin/*" -exec stat -c "%i %n" {} + | sort -k 2 | awk "{ if (!(\$1 in n)) n[\$1] = ++k; print n[\$1], \$2 }"'
links_of_images() {
	own_store
	mkdir -p root/bin root/d/e root/{p,r,s,t,u/k} host
	cp /bin/busybox root/bin/
	(cd root && echo a >a && ln a d/b && ln a d/e/c && echo x >p/x && ln p/x p/y &&
		for i in r s t; do echo $i >$i/one; ln $i/one $i/two; ln $i/one $i/three; done && echo u >u/k/one && ln u/k/one u/k/two && ln u/k/one u/three)
	cp -a root/. host/
	h=$(v image import root -q)
	in_cell() { viv --name d --image "$h" -- /bin/busybox sh -c "cd /; $1"; }
	for s in "${links_steps[@]}"; do
		is "$(in_cell "$s")" "$(cd host && busybox sh -c "$s")" "$s"
		is "$(in_cell "$links_look")" "$(cd host && busybox sh -c "$links_look")" "after $s"
	done
	# What was changed by one name is told by each; a commit has them all, and is what the host has.
	is "$(v diff d | grep -E ' /(d/b|s/|u/)' | tr '\n' ' ')" 'C /d/b A /s/four D /s/one D /s/two D /u/k A /u/l A /u/l/one C /u/three '
	v commit d --tag after >/dev/null
	is "$(viv --image after -- /bin/busybox sh -c "cd /; $links_look")" "$(cd host && busybox sh -c "$links_look")" 'the commit'
	v snapshot d s1 >/dev/null
	in_cell 'echo 6 >>d/b; rm moved' && (cd host && echo 6 >>d/b && rm moved)
	is "$(in_cell "$links_look; cat d/b")" "$(cd host && busybox sh -c "$links_look; cat d/b")" 'above a snapshot'
	v rollback d s1 >/dev/null
	is "$(in_cell 'cat moved d/b')" $'a\n1\n2\na\n1\n2' 'back'
	exits 0 v verify d
}
check 'names of one file of an image are one file, whichever is changed, moved or removed @r' links_of_images

damaged() {
	own_store
	viv --name d -- sh -c 'echo one >/root/one'
	cp $D/data/1/log log
	viv --name d -- sh -c 'echo two >/root/two'
	# The last group was cut off by a power cut.
	truncate -s $(($(stat -c %s log) + 30)) "$(echo $D/data/1/log)"
	is "$(viv --quiet --name d -- ls /root)" one
	printf XXXX | dd of="$(echo $D/data/1/log)" bs=1 seek=20 conv=notrunc status=none
	exits 125 viv --name d -- true
	like "$(cat err)" '*disk cannot be used: layer 1 has no log that can be read*'
}
check 'a log that ends in the middle is read up to there, another is refused @root' damaged

quotas() {
	own_store
	exits 1 viv --name d --disk-size 2M -- sh -c 'head -c 1M /dev/urandom >/root/a && head -c 3M /dev/urandom >/root/b'
	like "$(cat err)" '*No space left*'
	exits 1 viv --name d --disk-size 2M -- sh -c 'head -c 1M /dev/urandom >/root/c'
	viv --name d --disk-size 2M -- sh -c 'rm /root/b /root/c; head -c 512K /dev/urandom >/root/c'
	exits 1 viv --disk-size 2M -- sh -c 'head -c 3M /dev/urandom >/root/b'
	exits 1 viv --name e --disk-inodes 50 -- python3 -c 'for i in range(60): open(f"/root/{i}", "w")'
	like "$(cat err)" '*No space left*'
}
check 'quotas hold, also when the cell is opened again @r' quotas

# What a mapping can do without a call: fill holes, and keep a file that has no name any more.
mapped_quotas() {
	own_store
	viv --name d --disk-size 4M -- python3 -c '
import ctypes, errno, os
c = ctypes.CDLL(None, use_errno=True); c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
c.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
M = 1 << 20
def tried(f, *a):
    try: return f(*a)
    except OSError as e: return errno.errorcode[e.errno]
def new(name, size): f = os.open(name, os.O_RDWR | os.O_CREAT); os.ftruncate(f, size); return f
def at(f, size, prot):
    p = c.mmap(None, size, prot, 1, f, 0)
    if p == 2 ** 64 - 1: raise OSError(ctypes.get_errno(), "")
    return p
f = new("/sparse", 16 * M); print(tried(at, f, 16 * M, 3)); r = at(f, 16 * M, 1)
print(ctypes.string_at(r, 3), c.mprotect(ctypes.c_void_p(r), M, 3)); c.munmap(r, 16 * M); os.close(f); os.unlink("/sparse")
f = new("/grows", M); p = at(f, 16 * M, 3); print(tried(os.ftruncate, f, 16 * M), tried(os.pwrite, f, b"x", 8 * M)); os.ftruncate(f, 2 * M)
ctypes.memset(p, 65, 2 * M); os.pwrite(f, b"y" * M, 0); g = new("/other", 0); print(tried(os.write, g, b"z" * 3 * M) // M); os.ftruncate(g, 0)
c.munmap(p, 16 * M); os.close(f); os.unlink("/grows"); n = 0; maps = []
while n < 20:
    f = new(f"/gone{n}", 0); os.unlink(f"/gone{n}")
    if tried(os.write, f, b"x" * M) != M: break
    maps.append(at(f, M, 1 + n % 2 * 2)); os.close(f); n += 1
print(n)
for m in maps: c.munmap(m, M)
print(tried(os.write, g, b"z" * 3 * M) // M, os.statvfs("/").f_bavail * 4096 // M)' >out
	is "$(cat out)" "ENOSPC
b'\\x00\\x00\\x00' -1
ENOSPC ENOSPC
2
4
3 1"
	exits 0 v verify d
}
check 'quotas hold for what is mapped @r' mapped_quotas

# Each layer of another disk is a descriptor of the kernel's, and a number that it uses for something else may be among them.
foreign_layers() {
	own_store
	local n=60 i m
	mkfifo go
	"$VIV" run --name d -- sh -c 'i=0; while read -r line; do i=$((i + 1)); echo "is $i" >/root/n$i; echo "$i"; done' <go >did &
	exec 7>go
	for ((i = 1; i <= n; i++)); do
		echo >&7
		soon grep -qx "$i" did
		v snapshot d "s$i" >/dev/null
	done
	exec 7>&-
	wait
	for m in 14 16 18 20 22 24 26 28 40 "$n"; do
		v fork "d@s$m" "f$m" >/dev/null
		viv --name "f$m" -- sh -c 'for i in $(seq "$0"); do cat /root/n$i; done; echo more >/root/more' "$m" >got
		cmp got <(seq -f 'is %g' "$m") || { echo "with $m layers"; return 1; }
		is "$(viv --name "f$m" -- cat /root/more)" more
	done
}
check 'many layers of another disk, each with its contents @r' foreign_layers

# More snapshots on top of each other than a process may have files open.
hundreds() {
	own_store
	local i
	mkdir -p tree/bin
	cp "$(command -v busybox)" tree/bin/
	ln -s busybox tree/bin/sh
	ln -s busybox tree/bin/cat
	v image import -q --tag small tree >/dev/null
	viv --image small --name d -- sh -c 'echo first >/first'
	mkfifo go
	"$VIV" run --name d -- sh -c 'echo then >/then; echo ready; read -r line' <go >did &
	exec 7>go
	soon grep -qs ready did
	ulimit -Sn 200
	for ((i = 1; i <= 260; i++)); do v snapshot d >/dev/null; done
	v fork d f >/dev/null
	exec 7>&-
	wait
	is "$(viv --name d -- sh -c 'echo more >/more; cat /first /then /more' | tr '\n' ' ')" 'first then more '
	is "$(viv --name f -- sh -c 'echo more >/more; cat /first /then /more' | tr '\n' ' ')" 'first then more '
	exits 0 v diff d@s1
	exits 0 v commit -q --tag all d
	is "$(viv --image all -- sh -c 'cat /first /then /more' | tr '\n' ' ')" 'first then more '
}
check 'hundreds of snapshots on top of each other' hundreds

# On a host of a few files, some of which are not for everybody.
closed() {
	local lib x
	mkdir -p h/{usr/bin,usr/lib,usr/lib64,opt/closed,proc,sys,dev,tmp,old,w/run,b,etc,root}
	ln -s usr/bin usr/lib usr/lib64 h
	cp "$(command -v busybox)" h/bin/
	for x in sh cat ls mv rm umount; do ln -s busybox "h/bin/$x"; done
	for lib in $(ldd "${VIV%/*}/viv-store" "${VIV%/*}/vivd" | grep -v ':$' | grep -o '/[^ ]*'); do
		mkdir -p "h${lib%/*}"
		cp -L "$lib" "h$lib"
	done
	echo open >h/opt/open
	echo closed | tee h/opt/closed/f h/opt/one >/dev/null
	chmod 700 h/opt/closed
	chmod 600 h/opt/one
	ln h/opt/one h/opt/two
	ln h/opt/one h/opt/three
	cat >h/w/script <<-'EOF'
		umount -l /old
		export HOME=/root XDG_DATA_HOME=/w/data XDG_RUNTIME_DIR=/w/run XDG_STATE_HOME=/w/state
		/b/viv run --name c -- /bin/sh -c 'echo x >/x; mv /opt/closed /moved; rm /opt/two'
		/b/viv diff c
		/b/viv diff --patch c | busybox grep Files
		/b/viv commit -q --tag t c >/dev/null
		/b/viv run --image t -- /bin/sh -c 'ls -A /opt /moved; cat /opt/open /x'
		/b/viv daemon stop
	EOF
	# shellcheck disable=SC2016
	exits 0 unshare -m sh -ec 'mount --make-rprivate /; mount --bind h h; for d in proc sys dev; do mount --rbind /$d h/$d; done
		mount --bind "$0" h/b; cd h; pivot_root . old; exec /bin/sh /w/script' "${VIV%/*}"
	is "$(cat out)" 'A /moved
D /opt/closed
D /opt/two
A /x
Files a/opt/two and /dev/null differ (7 and 0 bytes; the host does not let everybody read it)
/moved:

/opt:
open
open
x'
	is "$(cat err)" 'viv: left out what the host does not let everybody read: 2 files, and what is in 1 directories'
}
check 'an image of a cell, and its differences, where the host has files that are not for everybody @root' closed

# The kernel of a cell has one thread for its calls; the host takes its time to write. While one process waits for that, others go on.
beside() {
	own_store
	[[ $(stat -f -c %T .) == tmpfs ]] && { echo 'a sync of memory takes no time'; return 0; }
	viv --name d -- python3 -c '
import os, select
r, w = os.pipe(); go_r, go_w = os.pipe(); child = os.fork()
if child == 0:
    f = os.open("/big", os.O_RDWR | os.O_CREAT); block = bytes(1 << 20)
    for how in iter(lambda: os.read(go_r, 1), b"."):
        for i in range(96 if how == b"c" else 48): os.pwrite(f, block, i << 20)
        if how == b"c": os.fsync(f)
        os.write(w, b"s"); os.fsync(f) if how == b"f" else os.ftruncate(f, 0); os.write(w, b"e")
    os.close(f); os.unlink("/big"); os.sync()
    os._exit(0)
for how in b"f", b"c":
    for attempt in range(20):
        rounds = 0; os.write(go_w, how); os.read(r, 1)
        while not select.select([r], [], [], 0)[0]: rounds += 1
        os.read(r, 1)
        if rounds >= 50: break
    print("went on" if rounds >= 50 else f"{rounds} rounds", end=" ")
os.write(go_w, b"."); os.waitpid(child, 0)
print(os.path.exists("/big"))' >out
	is "$(cat out)" 'went on went on False'
	is "$(find $D/data/1/c -type f -size +1M | wc -l)" 0
}
check 'others go on while a process syncs, and cuts a large file @r' beside

# Three snapshots of the cell d that a viv runs, each after so many more lines of what it said; then its kernel is killed.
snapshots_and_kill() { # pid of viv, lines
	local i
	soon test -s said
	for i in 1 2 3; do
		v snapshot d "s$i" >/dev/null
		soon sh -c "test \$(wc -l <said) -gt $(($(wc -l <said) + $2))"
	done
	kill -9 "$(ps -e -o pid=,ppid= | awk -v p="$1" '$2 == p { print $1; exit }')"
	wait "$1" || true
	exits 0 v verify d
}

# Snapshots, and the death of the kernel, while syncs are on their way.
syncing() {
	own_store
	"$VIV" run --name d -- python3 -u -c '
import os, threading
os.mkdir("/w")
def content(i): return bytes([65 + i % 26]) * (6 << 20 if i % 7 == 0 else 3000)
def go(k):
    for i in range(1000000):
        n = f"/w/{k}-{i % 20}"; f = os.open(n + ".new", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.write(f, content(i)); os.fsync(f); os.close(f); os.rename(n + ".new", n)
        d = os.open("/w", os.O_RDONLY); os.fsync(d); os.close(d)
        os.write(1, b"%d %d\n" % (k, i))
for k in range(3): threading.Thread(target=go, args=(k,)).start()' >said 2>/dev/null &
	snapshots_and_kill $! 10
	viv --name d --mount "$PWD:/m:ro" -- python3 -c '
def content(i): return bytes([65 + i % 26]) * (6 << 20 if i % 7 == 0 else 3000)
last = {}
for line in open("/m/said"):
    if line.endswith("\n"): k, i = map(int, line.split()); last[k] = i
bad = sum(open(f"/w/{k}-{i % 20}", "rb").read() != content(i) for k in last for i in range(max(0, last[k] - 10), last[k] + 1))
print(len(last), bad)' >out
	is "$(cat out)" '3 0'
	v rollback d s1 >/dev/null
	exits 0 v verify d
}
check 'snapshots and a killed kernel while syncs are on their way @r' syncing

# The same while large files are copied and cut: files that are open when a snapshot is made, and are written to, cut and mapped after it.
cutting() {
	own_store
	"$VIV" run --name d -- python3 -u -c '
import mmap, os, threading
os.mkdir("/w")
M = 1 << 20
def go(k):
    f = os.open(f"/w/{k}", os.O_RDWR | os.O_CREAT); os.write(f, bytes([65 + k]) * (40 * M))
    for i in range(1, 1000000):
        if i % 40 == 0: os.ftruncate(f, 20 * M); os.pwrite(f, b"end", 40 * M - 3)
        if i % 60 == 30: m = mmap.mmap(f, 4096); m[4000:4008] = b"%08d" % i; m.close()
        os.pwrite(f, b"%08d" % i, i % 2000 * 8192)
        os.write(1, b"%d %d\n" % (k, i))
for k in range(3): threading.Thread(target=go, args=(k,)).start()' >said 2>/dev/null &
	snapshots_and_kill $! 400
	cat >look.py <<-'END'
	import os
	last = {}
	for line in open("/m/said"):
	    if line.endswith("\n"): k, i = map(int, line.split()); last[k] = i
	said = kept = 0
	for k in last:
	    f = open(f"/w/{k}", "rb").read()
	    said += all(f[i % 2000 * 8192:][:8] == b"%08d" % i for i in range(max(1, last[k] - 10), last[k] + 1))
	    kept += all(f[j * 8192 + 4096] == 65 + k for j in range(2000)) and len(f) in (20 << 20, 40 << 20)
	print(len(last), said, kept)
	END
	viv --name d --mount "$PWD:/m:ro" -- python3 /m/look.py >out
	is "$(cat out)" '3 3 3'
	v rollback d s2 >/dev/null
	exits 0 v verify d
	viv --name d --mount "$PWD:/m:ro" -- python3 /m/look.py >out
	like "$(cat out)" '3 * 3'
}
check 'snapshots and a killed kernel while files are copied and cut @r' cutting
