# --mount: host directories in a cell, and nothing beside them. shellcheck shell=bash

readwrite() {
	mkdir m
	echo host >m/f
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'cat /m/f; echo cell >/m/g; mkdir /m/d; mv /m/f /m/d/h; ln -s d/h /m/l; ln /m/d/h /m/d/i; chmod 700 /m/d; truncate -s 5000 /m/g; touch -d @5 /m/g; cat /m/l; rm /m/l; sync')" $'host\nhost'
	is "$(cat m/d/h)" host
	is "$(stat -c '%s %Y' m/g)" '5000 5'
	is "$(stat -c '%a' m/d)" 700
	is "$(stat -c '%h' m/d/i)" 2
	is "$(ls m)" $'d\ng'
	is "$(viv --mount "$PWD/m:/m:rw" -- cat /m/d/h)" host 'explicit rw'
}
check 'read-write: what the cell does is on the host @r' readwrite

readonly_mount() {
	mkdir -p m/d
	echo host >m/f
	find m -printf '%p %s %m %T@ %l\n' | sort >before
	# shellcheck disable=SC2016
	viv --mount "$PWD/m:/m:ro" -- sh -c 'cat /m/f
		for c in "echo x >/m/f" "echo x >>/m/f" "echo x >/m/new" "mkdir /m/n" "rm /m/f" "rmdir /m/d" "mv /m/f /m/g" "ln /m/f /m/l" "ln -s x /m/s" "chmod 777 /m/f" "touch /m/f" "truncate -s 0 /m/f" "mkfifo /m/p" "chown 1 /m/f" "mv /tmp /m/" "python3 -c \"import os; os.setxattr(\\\"/m/f\\\", \\\"user.x\\\", b\\\"1\\\")\"" "python3 -c \"import mmap; mmap.mmap(open(\\\"/m/f\\\", \\\"r+b\\\").fileno(), 0)\""; do
			(eval "$c") 2>/dev/null && echo "worked: $c"
		done; echo tried' >out
	is "$(cat out)" $'host\ntried'
	find m -printf '%p %s %m %T@ %l\n' | sort >after
	cmp before after
}
check 'read-only: nothing can be changed @r' readonly_mount

confined() {
	mkdir -p secret m/sub
	echo secret >secret/key
	ln -s "$PWD/secret/key" m/abs
	ln -s ../secret/key m/rel
	ln -s ../../../../../../../../../../etc/shadow m/shadow
	ln -s .. m/up
	ln -s /proc/self/root m/rootlink
	ln -s /etc/hostname m/hostname
	for f in /m/abs /m/rel /m/up/secret/key /m/../secret/key /m/sub/../../secret/key "/m/rootlink$PWD/secret/key" /proc/self/cwd/../secret/key; do
		exits 1 viv --mount "$PWD/m:/m" --workdir /m -- cat "$f"
	done
	exits 1 viv --mount "$PWD/m:/m" -- cat /m/shadow
	# A link to an absolute path means the cell's file of that name.
	is "$(viv --hostname box --mount "$PWD/m:/m" -- cat /m/hostname)" box
	# Writing through links that the cell makes itself.
	viv --mount "$PWD/m:/m" -- sh -c "ln -s ../secret /m/way; echo x >/m/way/new; ln -s '$PWD/secret' /m/way2; echo x >/m/way2/new; cd /m/sub; echo x >../../secret/new; mkdir -p /m/deep; mv /m/deep /m/../escaped; ln /m/../secret/key /m/hard" >out 2>&1 || true
	is "$(ls secret)" key
	[[ ! -e escaped && ! -e m/hard ]]
}
check 'symlinks and .. never lead out @r' confined

rename_race() {
	mkdir -p secret m/a/b/c
	echo secret >secret/key
	echo inside >m/a/b/c/key
	# While the cell looks at a/b/c/../../../key, the host moves b out of the mount and back.
	(for _ in $(seq 300); do mv m/a/b moved && mv moved m/a/b; done) &
	viv --timeout 20s --mount "$PWD/m:/m" -- python3 -c '
import time
end = time.monotonic() + 1.5; bad = seen = 0
while time.monotonic() < end:
    for p in "/m/a/b/c/../../../secret/key", "/m/a/b/c/../../../../secret/key", "/m/a/b/../../secret/key":
        try: bad += "secret" in open(p).read()
        except OSError: seen += 1
print("bad" if bad else "safe" if seen else "nothing tried")' >out
	wait
	is "$(cat out)" safe
}
check 'a rename on the host while the cell walks never leads out' rename_race

owners() {
	mkdir m
	echo x >m/f
	if [[ $(id -u) == 0 ]]; then
		chown -R vivtest: m
		is "$(viv --mount "$PWD/m:/m" -- sh -c 'echo y >/m/g; id -u; cat /m/f')" $'0\nx'
		is "$(stat -c %U m/g)" vivtest 'owner of what the cell made'
	else
		viv --mount "$PWD/m:/m" -- sh -c 'echo y >/m/g'
		is "$(stat -c %u m/g)" "$(id -u)"
	fi
	is "$(viv --mount "$PWD/m:/m" -- stat -c '%u %g' /m/f)" "$(viv --mount "$PWD/m:/m" -- stat -c '%u %g' /m/g)" 'all one owner inside'
}
check 'owners: what a cell makes belongs to the directory'\''s owner @r' owners

# Owners are the cell's to keep, and change nothing on the host.
unpacked() {
	mkdir m tree
	echo 1 >tree/f
	tar c --owner=1234 --group=4321 -f m/tar tree
	exits 0 viv --mount "$PWD/m:/m" -- sh -ec 'cd /m; tar xf tar; mkdir /root/s; echo 1 >/root/s/f; chown -R 1000:1000 /root/s
		cp -a /root/s c; mv /root/s v; chown 5:6 tree/f; stat -c "%u %g" tree/f c/f v/f'
	is "$(cat out)" $'5 6\n1000 1000\n1000 1000'
	is "$(cat err)" ''
	is "$(find m -printf '%U %G\n' | sort -u)" "$(stat -c '%u %g' m)"
	exits 1 viv --user agent --mount "$PWD/m:/m" -- chown 5 /m/tree/f
	# Another cell sees them too, and what has no owner of its own is its user's.
	is "$(viv --user nobody --mount "$PWD/m:/m" -- stat -c '%u %g' /m/tree/f /m/c/f /m/tar)" $'5 6\n1000 1000\n65534 65534'
	# As programs do that give up root.
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'mkdir -m 700 /m/data; chown agent: /m/data; chmod 755 /m
		su agent -c "cd /m/data; umask 077; echo x >own; chmod 640 own; mkfifo p; ls -ln own p; ls /m/tree"; stat -c "%u %a" /m/data/own' | sed 's/ *[0-9]* [A-Z][a-z][a-z] .*//')" $'-rw-r----- 1 1000 1000\nprw------- 1 1000 1000\nf\n1000 640'
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'chown 0:0 /m/tree/f; stat -c %u /m/tree/f')" 0
	is "$(viv --user 7 --mount "$PWD/m:/m" -- stat -c %u /m/tree/f)" 7
	is "$(python3 -c 'import os; print(*os.listxattr("m/tree/f"), *os.listxattr("m/c/f"))')" user.vivarium.owner
	exits 1 viv --mount "$PWD/m:/m:ro" -- chown 9 /m/c/f
}
check 'owners: tar, cp and mv of root @r' unpacked

foreign() {
	mkdir m
	chown vivtest: m
	echo root >m/rootfile
	chmod 600 m/rootfile
	exits 1 viv --mount "$PWD/m:/m" -- cat /m/rootfile
	exits 1 viv --mount "$PWD/m:/m" -- chown 5 /m/rootfile
	is "$(viv --quiet --mount /root:/r:ro -- sh -c 'ls /r >/dev/null 2>&1 && echo seen; cat /etc/shadow 2>/dev/null')" seen
}
check 'owners: files of others in a mount stay foreign @root' foreign

single() {
	echo content >f
	echo other >g
	is "$(viv --mount "$PWD/f:/etc/app/f.conf" --mount "$PWD/g:/usr/bin/env:ro" -- sh -c 'cat /etc/app/f.conf /usr/bin/env; echo more >>/etc/app/f.conf; ls /etc/app; truncate -s 3 /etc/app/f.conf; chmod 640 /etc/app/f.conf; echo x >/usr/bin/env || echo refused' 2>err)" $'content\nother\nf.conf\nrefused'
	is "$(cat f g)" 'conother'
	is "$(stat -c %a f)" 640
	# As Linux has it where something is mounted.
	viv --mount "$PWD/f:/f" -- sh -c 'rm /f; mv /f /g; echo n >/n; mv /n /f; ln /f /h' >out 2>&1 || true
	is "$(grep -c 'Device or resource busy' out)" 3
	# Mapped, and from a program that locks it; the host sees it at once, and the cell what the host writes.
	is "$(viv --mount "$PWD/g:/g" -- python3 -c '
import fcntl, mmap, os
f = open("/g", "r+b"); fcntl.flock(f, fcntl.LOCK_EX); m = mmap.mmap(f.fileno(), 0); m[0:1] = b"O"; m.flush(); os.fsync(f.fileno()); print(os.stat("/g").st_size)')" 6
	is "$(cat g)" Other
	mkfifo ready
	(read -r _ <ready; echo changed >g) &
	is "$(viv --mount "$PWD/g:/g:ro" -- sh -c 'echo; i=0; while ! grep -q changed /g && [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done; cat /g' | tee ready)" $'\nchanged'
	wait
	# What it is a name of, and what cannot be.
	ln -s f l
	is "$(viv --mount ./l:/f -- cat /f)" con
	is "$(viv --mount "type=bind,source=$PWD/f,target=/f,readonly" -- cat /f)" con
	is "$(viv -v "$PWD/f:/f:ro" -- cat /f)" con
	for d in ready /dev/null; do
		exits 125 viv --mount "$d:/x" -- true
		like "$(cat err)" '*neither a directory nor a regular file*'
	done
	exits 125 viv --mount "$PWD/f:/etc" -- true
	like "$(cat err)" "*cannot mount /etc in the cell: it is a directory there*"
	exits 125 viv --mount "$PWD:/etc/hosts" -- true
	like "$(cat err)" "*Not a directory*"
	# A file that its user may only read.
	chmod 440 f
	exits 0 viv --mount "$PWD/f:/f" -- cat /f
	# The name that it is mounted on is made in the cell, and stays in one that is kept.
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run
	mkdir run
	viv --name k --mount "$PWD/f:/new/place/f" -- true
	is "$(viv --name k -- stat -c '%s %F' /new/place/f)" '0 regular empty file'
}
check 'a single file @r' single

single_told() {
	own_vivd
	echo content >f
	"$VIV" daemon start
	cat >vivarium.yaml <<-EOF
		cells:
		  one:
		    command: [sh, -c, "cat /etc/one/g; echo back >>/etc/one/f; exec sleep 60"]
		    mounts: [{source: ./f, target: /etc/one/f}, {source: ./f, target: /etc/one/g, readonly: true}]
	EOF
	v up
	soon grep -q back f
	v down
	is "$(cat f)" $'content\nback'
	id=$(make_cell "{\"start\":true,\"mounts\":[{\"source\":\"$PWD/f\",\"target\":\"/f\",\"readonly\":true}]}")
	is "$(run_in "$id" cat /f)" $'content\nback'
}
check 'a single file in vivarium.yaml and over the API' single_told

# Names on the host, and what they are inside only: those who open one meet in the cell's kernel.
rendezvous() {
	mkdir m
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'mkfifo -m 640 /m/p; cat /m/p & echo through >/m/p; wait; stat -c "%F %a" /m/p')" $'through\nfifo 640'
	is "$(stat -c '%F %a' m/p)" 'fifo 640'
	is "$(viv --mount "$PWD/m:/m" -- python3 -c '
import os, socket, stat
s = socket.socket(socket.AF_UNIX); s.bind("/m/s"); s.listen(1)
c = socket.socket(socket.AF_UNIX); c.connect("/m/s"); a = s.accept()[0]
os.rename("/m/s", "/m/t"); d = socket.socket(socket.AF_UNIX); d.connect("/m/t")
c.send(b"hello"); print(a.recv(9), stat.S_ISSOCK(os.stat("/m/t").st_mode), a.getsockname())')" "b'hello' True /m/s"
	is "$(stat -c %F m/t)" socket
	# Nobody is there afterwards, and nobody for the host at any time.
	is "$(viv --mount "$PWD/m:/m" -- python3 -c '
import socket
try: socket.socket(socket.AF_UNIX).connect("/m/t")
except OSError as e: print(e.strerror)')" 'Connection refused'
	viv --mount "$PWD/m:/m" -- sh -c 'python3 -c "
import socket, time, os
s = socket.socket(socket.AF_UNIX); s.bind(\"/m/u\"); s.listen(1)
while not os.path.exists(\"/m/stop\"): time.sleep(0.02)"' &
	soon test -S m/u
	is "$(python3 -c '
import socket
try: socket.socket(socket.AF_UNIX).connect("m/u")
except OSError as e: print(e.strerror)')" 'Connection refused'
	: >m/stop
	wait
	viv --mount "$PWD/m:/m" -- rm /m/t /m/u /m/p /m/stop
	is "$(ls m)" ''
}
check 'FIFOs and sockets in a mount @r' rendezvous

# The cell's root is not bound by modes, which the host asks of an ordinary user; they are afterwards what they were.
modes() {
	mkdir -p m/d/e m/shut
	echo x >m/d/f
	echo y >m/d/e/g
	echo z >m/shut/h
	echo w >m/f
	chmod 0 m/f m/shut
	chmod 444 m/d/f
	chmod 555 m/d m/d/e
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'cat /m/f; echo more >>/m/f; cat /m/shut/h; ls /m/shut; echo new >>/m/d/f; touch /m/d/made; mv /m/d/e /m/shut/e; rm /m/d/made; stat -c %a /m/f /m/shut /m/d /m/shut/e')" $'w\nz\nh\n0\n0\n555\n555'
	is "$(stat -c %a m/f m/shut m/d m/d/f | tr '\n' ' ')" '0 0 555 444 '
	# Not for others in the cell, not in what is read-only, and not for those of others.
	exits 1 viv --mount "$PWD/m:/m" -- su agent -c 'cat /m/f'
	exits 1 viv --mount "$PWD/m:/m:ro" -- cat /m/f
	is "$(viv --mount "$PWD/m:/m" -- sh -c 'chown agent /m/f; su agent -c "chmod 600 /m/f; tail -n 1 /m/f; chmod 0 /m/f"; stat -c "%U %a" /m/f')" $'more\nagent 0'
	viv --mount "$PWD/m:/m" -- sh -c 'rm -r /m/d /m/shut /m/f'
	is "$(ls m)" ''
}
check 'modes: the root of a cell and its own files @r' modes

several() {
	mkdir a b
	echo 1 >a/x
	echo 2 >b/x
	is "$(viv --mount "$PWD/a:/m" --mount "$PWD/b:/m/in:ro" --tmpfs /m/t -- sh -c 'cat /m/x /m/in/x; echo z >/m/t/z; mv /m/x /m/t/ && cat /m/t/x; mount | grep -c " /m"; ls /m')" $'1\n2\n1\n3\nin\nt'
	rmdir a/in a/t
	is "$(viv --mount "$PWD/a:/usr/share/doc" -- ls /usr/share/doc)" '' 'over the image'
	ln -s b l
	is "$(viv --mount "$PWD/l:/m" --mount ./b:/n -- cat /m/x /n/x)" $'2\n2' 'a link and a relative path as source'
	mkdir 'co lon'
	echo 3 >'co lon/x'
	is "$(viv --mount "$PWD/co lon:/sp ace" -- cat '/sp ace/x')" 3
}
check 'several mounts, nested, over the image @r' several

special() {
	mkdir m
	mkfifo m/p
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("m/s")'
	if [[ $(id -u) == 0 ]]; then mknod m/null c 1 3 && mknod m/disk b 253 0; fi
	exits 1 viv --timeout 100s --mount "$PWD/m:/m" -- python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("/m/s")'
	if [[ $(id -u) == 0 ]]; then
		exits 1 viv --timeout 100s --mount "$PWD/m:/m" -- sh -c 'head -c 1 /m/disk'
	fi
	is "$(viv --timeout 100s --mount "$PWD/m:/m" -- ls /m)" "$(ls m)"
	chmod 4755 m 2>/dev/null || true
	cp /usr/bin/id m/suid
	chmod 4755 m/suid
	is "$(viv --user agent --mount "$PWD/m:/m" -- /m/suid -u)" 1000 'no setuid from a mount'
}
check 'sockets, devices and setuid files of the host are of no use @r' special

# What runs on the host with its owner's rights is not the cell's to change: neither by writing, by which Linux takes the bits away,
# nor through a mapping, by which it does not.
set_id_stays_out() {
	mkdir m
	for f in written mapped read; do cp /usr/bin/id "m/$f" && chmod 6755 "m/$f"; done
	viv --mount "$PWD/m:/m" -- python3 -c 'import mmap, os
with open("/m/written", "r+b") as f: f.write(b"x")
with open("/m/mapped", "r+b") as f: mmap.mmap(f.fileno(), 0)[0:1] = b"x"
with open("/m/read", "rb") as f: mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[0:1]
for n in "abc": open("/m/" + n, "w").close()
os.chmod("/m/a", 0o4755)
os.close(os.open("/m/d", os.O_CREAT | os.O_RDWR, 0o6755))
os.mknod("/m/e", 0o106755)
print(oct(os.stat("/m/a").st_mode))' >out || true
	is "$(stat -c '%n %a' m/written m/mapped m/read)" $'m/written 755\nm/mapped 755\nm/read 6755'
	is "$(find m -type f -perm /6000 | sort)" m/read
}
check 'set-id files of the host are not changed, and none are made @r' set_id_stays_out

shared_between() {
	mkdir m
	viv --mount "$PWD/m:/m" -- sh -c 'while [ ! -e /m/go ]; do sleep 0.02; done; cat /m/go; echo back >/m/back' >out &
	sleep 0.2
	viv --mount "$PWD/m:/m" -- sh -c 'echo went >/m/go.tmp; mv /m/go.tmp /m/go; while [ ! -e /m/back ]; do sleep 0.02; done; cat /m/back' >out2
	wait
	is "$(cat out out2)" $'went\nback'
	# The host changes a file while it is open and mapped.
	echo aaaa >m/f
	(soon test -e m/seen; printf bbbb | dd of=m/f conv=notrunc status=none) &
	is "$(viv --mount "$PWD/m:/m" -- python3 -c 'import mmap, time
f = open("/m/f", "rb"); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); a = m[:4]; open("/m/seen", "w").close()
for _ in range(3000):
    if m[:4] != a: break
    time.sleep(0.01)
f.seek(0); print(a, m[:4], f.read(4))')" "b'aaaa' b'bbbb' b'bbbb'"
	wait
}
check 'a mount is shared: two cells and the host @r' shared_between

# The same changes from outside and from inside, heard by a watcher; its output in the file named.
watched() { # directory, output, command before that of the watcher...
	local m=$1 out=$2
	shift 2
	mkdir -p "$m/d"
	echo a >"$m/f"
	echo b >"$m/d/g"
	mkfifo "$out.go"
	"$@" sh -c 'cd "$1"; python3 "$2/watch.py" . f d & read x; echo own >own; mv own own2; chmod 600 own2; echo >>d/g; rm own2
		mkdir own; rmdir own; echo did >&2; wait' sh "$WATCHED" "$WATCHER" <"$out.go" >"$out" 2>"$out.err" &
	exec 7>"$out.go"
	soon grep -q ready "$out"
	(cd "$m" && echo x >>f && mv f f2 && mv f2 f && touch d/new && mkdir e && rmdir e && chmod 600 f && echo z >d/g && ln f l && echo y >l)
	soon grep -q CLOSE_WRITE.l "$out"
	echo >&7
	soon grep -q did "$out.err"
	rm "$m/l"
	soon grep -q 'DELETE l' "$out"
	rm "$m/f"
	: >"$m/end"
	exec 7>&-
	wait
}

host_watch() {
	WATCHED=$PWD/n WATCHER=$E2E_DIR/programs watched n native env
	WATCHED=/m WATCHER=/t watched m cell "$VIV" run -i --mount "$PWD/m:/m" --mount "$E2E_DIR/programs:/t:ro" --
	# Two of a kind are one if nobody has read the first by then.
	diff <(uniq native) <(uniq cell)
	like "$(cat cell)" "*MOVED_TO f*DELETE own2*f ATTRIB*"
	# Two mounts of one directory, of which one is changed inside: the other hears of it as of the host's.
	rm -r m
	mkdir m
	viv --mount "$PWD/m:/a" --mount "$PWD/m:/b" --mount "$E2E_DIR/programs:/t:ro" -- sh -c 'python3 /t/watch.py /a /b >/tmp/out &
		until grep -qs ready /tmp/out; do sleep 0.02; done; : >/a/one; : >/b/end; wait; cat /tmp/out' >out
	is "$(grep -c '^[ab] CREATE one' out)" 2
}
check 'inotify tells of what the host does in a mount, and of what the cell does once @r' host_watch

# A path below a mounted directory is found below it, or not at all. source and subpath, JSON of more members.
sub() {
	api /v1/cells -d "{\"start\":true,\"command\":[\"sleep\",\"1000\"],\"mounts\":[{\"source\":\"$PWD/$1\",\"subpath\":\"$2\",\"target\":\"${3:-/w}\"${4:-}}]}" >made
	field id <made 2>/dev/null || true
}
subpaths() {
	local id
	own_vivd
	v daemon start >/dev/null || return 1
	mkdir -p m/a/b out m/a/mnt
	echo inner >m/a/b/f
	echo secret >out/f
	echo file >m/one
	ln -s ../../out m/a/link
	ln -s b m/a/near
	id=$(sub m a/b)
	is "$(v exec "$id" cat /w/f)" inner
	v exec "$id" sh -c 'echo x >/w/g; ls /w/..' >ls
	is "$(cat m/a/b/g)" x
	fails grep -q link ls
	id=$(sub m one)
	is "$(v exec "$id" cat /w)" file
	# Through links, whatever they lead to, and out of it.
	for p in a/link a/link/f a/near a/near/f one/x nothing; do
		id=$(sub m "$p")
		like "$(cat made)" '*--mount: *'
	done
	for p in .. a/../.. /etc . a/./b a//b '' a/; do
		is "$(status_of /v1/cells -d "{\"mounts\":[{\"source\":\"$PWD/m\",\"subpath\":\"$p\",\"target\":\"/w\"}]}")" 400
	done
	is "$(status_of /v1/cells -d '{"mounts":[{"volume":"v","subpath":"a","target":"/w"}]}')" 400
	# A place in the cell that is a link there.
	id=$(sub m a/b /lib/x ',"nofollow":true')
	like "$(cat made)" '*leads through a symbolic link*'
	id=$(sub m a/b /new/x ',"nofollow":true')
	is "$(v exec "$id" cat /new/x/f)" inner
}
check 'a path below a mounted directory is opened without links @r' subpaths
