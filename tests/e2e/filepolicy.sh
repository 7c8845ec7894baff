# Rules about files, programs and variables, and ways around them that must not exist. shellcheck shell=bash

rules() { # lines...
	printf '%s\n' "$@" >rules.policy
}

plain() {
	rules 'deny files /work/.git/** write,create,delete' 'deny files **/.env read' 'deny exec **/id' \
		'deny files /locked/**' 'allow files /locked/open/**'
	cat >t.sh <<-'EOS'
		mkdir -p /work/.git /locked
		say() { echo "$1: $(eval "$2" 2>&1 >/dev/null | sed 's/.*: //')"; }
		say env 'touch /work/.env; cat /work/.env'
		say env2 'cat /work/./x/../.env'
		say create 'touch /work/.git/x'
		say mkdir 'mkdir /work/.git/x'
		say plain 'touch /work/z && mv /work/z /work/y && cat /work/y && rm /work/y'
		say exec /usr/bin/id
		say link 'ln -s /usr/bin/id /tmp/other; /tmp/other'
		say locked 'mkdir /locked/open'
		say list 'ls /work /locked'
	EOS
	is "$(viv --policy rules.policy -- sh -c 'mkdir -p /work/x; '"$(cat t.sh)")" "env: Permission denied
env2: Permission denied
create: Permission denied
mkdir: Permission denied
plain: 
exec: Permission denied
link: Permission denied
locked: Permission denied
list: "
	# The last rule that matches decides.
	rules 'deny files /** write,create,delete' 'allow files /tmp/**' 'allow files /dev/**'
	is "$(viv --policy rules.policy -- sh -c 'echo a >/tmp/a; echo b >/root/b; cat /tmp/a; ls /root/b' 2>/dev/null)" a
}
check 'rules about files and programs decide @r' plain

# Each trick gets at /m/secret/key, /m/fixed/file or /usr/bin/id in another way; all of them must fail with EACCES, or have nothing.
tricks() {
	rules 'deny files /m/secret/** read' 'deny files /m/fixed/**' 'deny exec /usr/bin/id' 'deny exec /(unnamed)'
	mkdir -p m/secret m/fixed/dir m/t
	echo key >m/secret/key
	echo old >m/fixed/file
	chmod -R a+rwX m
	cat >t.py <<-'EOS'
		import ctypes, errno, os, socket, subprocess, sys
		libc = ctypes.CDLL(None, use_errno=True)
		def call(name, *args):
		    r = getattr(libc, name)(*[a.encode() if isinstance(a, str) else a for a in args])
		    if r < 0: raise OSError(ctypes.get_errno(), name)
		    return r
		bad = 0
		def no(what, f, other=0):
		    global bad
		    try: r = f()
		    except OSError as e:
		        if e.errno in (errno.EACCES, other): return
		        r = e
		    except subprocess.CalledProcessError as e: return
		    bad += 1
		    print("got through:", what, repr(r))
		def read(p): return open(p).read()
		def fd_read(fd): return os.read(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), 9)
		S, F, I = "/m/secret/key", "/m/fixed/file", "/usr/bin/id"
		no("read", lambda: read(S))
		no("..", lambda: read("/m/secret/../secret/./key"))
		os.symlink(S, "/tmp/l1"); os.symlink("/tmp/l1", "/tmp/l2")
		no("symbolic link", lambda: read("/tmp/l2"))
		d = os.open("/m/secret", os.O_PATH)
		no("openat", lambda: os.open("key", os.O_RDONLY, dir_fd=d))
		no("directory by /proc", lambda: read(f"/proc/self/fd/{d}/key"))
		p = os.open(S, os.O_PATH)
		no("O_PATH by /proc", lambda: fd_read(p))
		no("O_PATH by /dev/fd", lambda: read(f"/dev/fd/{p}"))
		no("O_PATH by thread", lambda: read(f"/proc/thread-self/fd/{p}"))
		no("hard link", lambda: os.link(S, "/m/t/h"))
		no("link of a descriptor", lambda: call("linkat", p, "", -100, "/m/t/h", 0x1000))
		no("link by /proc", lambda: call("linkat", -100, f"/proc/self/fd/{p}", -100, "/m/t/h", 0x400))
		no("rename", lambda: os.rename(S, "/m/secret/../t/h"))
		no("rename of the directory", lambda: os.rename("/m/secret", "/m/s2"))
		os.mkdir("/m/t/e")
		no("exchange", lambda: call("renameat2", -100, "/m/secret", -100, "/m/t/e", 2))
		pid = os.fork()
		if pid == 0:
		    os.chroot("/m/secret")
		    try: read("/key")
		    except OSError as e: os._exit(e.errno)
		    os._exit(0)
		if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != errno.EACCES: bad += 1; print("got through: chroot")
		os.chdir("/m/secret")
		no("working directory", lambda: read("key"))
		no("working directory by /proc", lambda: read("/proc/self/cwd/key"))
		no("root by /proc", lambda: read("/proc/self/root/m/secret/key"))
		os.chdir("/")
		os.makedirs("/mnt/x", exist_ok=True)
		if call("mount", "/m/secret", "/mnt/x", "", 4096, None) == 0: no("bind mount", lambda: read("/mnt/x/key"))
		if call("mount", "/", "/mnt/x", "", 4096 | 16384, None) == 0: no("bind mount of the root", lambda: read("/mnt/x/m/secret/key"))
		no("moved by its other path", lambda: os.rename("/mnt/x/m/secret", "/mnt/x/m/s3"), errno.EBUSY)
		no("linked by its other path", lambda: os.link("/mnt/x/m/secret/key", "/mnt/x/m/t/h"))
		no("chroot there", lambda: subprocess.run(["chroot", "/mnt/x", "cat", S], check=True, stderr=subprocess.DEVNULL))
		no("another tree of mounts", lambda: subprocess.run(
		    ["unshare", "-m", "sh", "-c", "mkdir /tmp/t; mount -t tmpfs none /tmp/t; mkdir /tmp/t/old; mount --rbind / /tmp/t/old;"
		     "cd /tmp/t; pivot_root . old; exec /old/usr/bin/cat /old/m/secret/key"], check=True, stderr=subprocess.DEVNULL))
		no("mount over it", lambda: call("mount", "none", "/m/fixed", "tmpfs", 0, None))
		no("mount above it", lambda: call("mount", "/tmp", "/", "", 4096, None))
		q = os.open(S, os.O_PATH)
		os.unlink(S)
		no("deleted, by a descriptor", lambda: fd_read(q))
		# writing
		f = os.open(F, os.O_PATH)
		no("open for writing", lambda: os.open(F, os.O_WRONLY))
		no("open for both", lambda: os.open(F, os.O_RDWR))
		no("truncation by opening", lambda: os.open(F, os.O_RDONLY | os.O_TRUNC))
		no("truncate", lambda: os.truncate(F, 0))
		no("chmod", lambda: os.chmod(F, 0o777))
		no("chmod by /proc", lambda: os.chmod(f"/proc/self/fd/{f}", 0o777))
		no("chown", lambda: os.chown(F, 0, 0))
		no("utime", lambda: os.utime(F, (1, 1)))
		no("setxattr", lambda: os.setxattr(F, "user.x", b"y"))
		no("removexattr", lambda: os.removexattr(F, "user.x"))
		no("unlink", lambda: os.unlink(F))
		no("rmdir", lambda: os.rmdir("/m/fixed/dir"))
		no("mkdir", lambda: os.mkdir("/m/fixed/new"))
		no("mknod", lambda: os.mkfifo("/m/fixed/new"))
		no("symlink", lambda: os.symlink("x", "/m/fixed/new"))
		no("create", lambda: os.open("/m/fixed/new", os.O_CREAT | os.O_WRONLY))
		no("temporary file", lambda: os.open("/m/fixed", os.O_TMPFILE | os.O_RDWR), errno.EOPNOTSUPP)
		open("/m/t/mine", "w").write("new")
		no("rename onto it", lambda: os.rename("/m/t/mine", F))
		no("link into it", lambda: os.link("/m/t/mine", "/m/fixed/new"))
		no("exchange with it", lambda: call("renameat2", -100, "/m/t/mine", -100, F, 2))
		os.mkdir("/m/t/dir")
		no("a directory into it", lambda: os.rename("/m/t/dir", "/m/fixed/dir2"))
		no("the directory above", lambda: os.rename("/m/fixed", "/m/fixed2"))
		s = socket.socket(socket.AF_UNIX)
		no("socket", lambda: s.bind("/m/fixed/sock"))
		# programs
		def run(*a, **k): return subprocess.run(a, check=False, stdout=subprocess.PIPE, **k).stdout
		no("exec", lambda: run(I))
		os.symlink(I, "/tmp/id")
		no("exec of a link", lambda: run("/tmp/id"))
		no("exec by /proc", lambda: run(f"/proc/self/root{I}"))
		i = os.open(I, os.O_RDONLY)
		no("fexecve", lambda: run(f"/proc/self/fd/{i}", pass_fds=[i]))
		no("execveat", lambda: call("execveat", i, "", None, None, 0x1000))
		open("/tmp/script", "w").write("#!/usr/bin/id\n"); os.chmod("/tmp/script", 0o755)
		no("interpreter", lambda: run("/tmp/script"))
		open("/tmp/script2", "w").write("#!/tmp/script\n"); os.chmod("/tmp/script2", 0o755)
		no("interpreter of an interpreter", lambda: run("/tmp/script2"))
		no("hard link to a program", lambda: os.link(I, "/usr/bin/id2"))
		no("rename of a program", lambda: os.rename(I, "/usr/bin/id2"))
		no("rename of its directory", lambda: os.rename("/usr/bin", "/usr/bin2"))
		m = os.memfd_create("x", 0)
		os.write(m, open(I, "rb").read())
		no("memfd", lambda: run(f"/proc/self/fd/{m}", pass_fds=[m]))
		no("bind mount of a program", lambda: (call("mount", "/usr", "/mnt/x", "", 4096, None), run("/mnt/x/bin/id"))[1])
		# an open file stays open
		print("ok" if not bad else "bad", read("/proc/self/comm").strip() != "")
	EOS
	is "$(viv --policy rules.policy --mount "$PWD/m:/m" -- python3 -c "$(cat t.py)")" 'ok True'
	is "$(cat m/fixed/file)" old
	# The same for files of the cell's own.
	{
		sed -n '1,/^S, F, I/p' t.py
		echo 'for d in "/m", "/m/secret", "/m/t": os.mkdir(d)'
		echo 'open(S, "w").write("key")'
		sed -n '/^no("read"/,/^no("mount over/p' t.py | sed '$d'
		echo 'print("bad" if bad else "ok")'
	} >t2.py
	is "$(viv --policy rules.policy -- python3 -c "$(cat t2.py)")" ok
}
check 'no way leads around rules about files and programs' tricks

# Each of two layers denies other things; what both allow works.
layered() {
	rules 'deny files /m/a/**' 'deny exec **/id' 'deny files /m/first read' within \
		'allow files /m/**' 'allow exec /**' 'deny files /m/b/**' 'deny exec **/whoami' 'deny files /m/second read' 'deny env HIDDEN' \
		within 'use parent'
	cat >t.sh <<-'EOS'
		mkdir -p /m
		say() { echo "$1: $(eval "$2" 2>&1 >/dev/null | sed 's/.*: //')"; }
		mkdir /m/c /m/moved
		say first 'mkdir -p /m/a/x'
		say second 'mkdir -p /m/b/x'
		say id /usr/bin/id
		say whoami /usr/bin/whoami
		say uname /usr/bin/uname
		say both 'echo x >/m/c/x && mv /m/c/x /m/c/y && cat /m/c/y'
		# From what one layer keeps from being read to what another one does: neither may let go of its own.
		echo x >/m/first
		say escape 'mv /m/first /m/second'
		say back 'echo x >/m/second; mv /m/second /m/first'
		say mount 'mount -t tmpfs none /m 2>/dev/null || echo failed >&2'
		echo "hidden: $HIDDEN"
	EOS
	is "$(viv --quiet --policy rules.policy --env HIDDEN=1 -- sh -c "$(cat t.sh)")" "first: Permission denied
second: Permission denied
id: Permission denied
whoami: Permission denied
uname: 
both: 
escape: Permission denied
back: Permission denied
mount: failed
hidden: "
}
check 'what one of several layers denies is denied' layered

variables() {
	at_end '"$VIV" daemon stop'
	rules 'deny env AWS_*' 'allow env AWS_REGION' 'deny env TOKEN'
	printf 'AWS_SECRET=file\nOTHER=file\n' >env
	try viv --policy rules.policy --env-file env --env TOKEN=x --env AWS_KEY=y --env AWS_REGION=z -- env
	is "$(grep -c -e TOKEN -e AWS_KEY -e AWS_SECRET out)" 0
	is "$(grep -e AWS -e OTHER out | sort | xargs)" 'AWS_REGION=z OTHER=file'
	like "$(cat err)" '*variables that the policy keeps from the cell: *AWS_KEY*'
	# Values are never printed.
	fails grep -q -e '=x' -e '=y' err
	at_end '"$VIV" rm -f vars >/dev/null'
	"$VIV" run -d --name vars --policy rules.policy --env TOKEN=x --env GOOD=1 -- sleep 1000 >/dev/null
	is "$("$VIV" exec --env TOKEN=x --env AWS_KEY=y --env MORE=2 vars env | grep -e TOKEN -e AWS -e GOOD -e MORE | sort | xargs)" 'GOOD=1 MORE=2'
	rules 'deny env *' 'allow env PATH'
	is "$(viv --quiet --policy rules.policy --env A=b -- env)" "$(viv --quiet -- sh -c 'echo PATH=$PATH')"
	rules 'ask env X'
	exits 125 viv --policy rules.policy -- true
}
check 'denied variables do not reach the cell @r' variables
