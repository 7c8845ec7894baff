# Named cells: what they keep, snapshots, forks, rollback, volumes. shellcheck shell=bash

# Every test has a store of its own.
own_store() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p data run
	# A verb that asks vivd starts it.
	export VIV_POOL=0
	at_end 'v daemon stop'
}
v() { timeout -k 5 180 "$VIV" "$@"; }

# Nobody has its disk.
free() { flock -n "data/vivarium/disks/$(sed -n 's/^disk //p' "data/vivarium/cells/$1")/lock" true; }

keeps() {
	own_store
	viv --name a -- sh -c 'echo one >/root/f; mkdir -p /srv/d; ln -s d /srv/l; ln /root/f /root/g; chmod 600 /root/f; chown 1000:1000 /srv/d; touch -d @5 /root/f; mkfifo /root/p; mknod /root/n c 1 3; truncate -s 1G /root/sparse'
	is "$(viv --name a -- sh -c 'cat /root/g; stat -c "%a %h %Y" /root/f; stat -c "%u:%g %F" /srv/d; readlink /srv/l; stat -c %F /root/p; stat -c "%t %T" /root/n; echo x >/root/n; stat -c "%s %b" /root/sparse')" $'one\n600 2 5\n1000:1000 directory\nd\nfifo\n1 3\n1073741824 0'
	is "$(v ls -q)" a
	viv -- test ! -e /root/f
}
check 'a named cell keeps its files, an unnamed one does not @r' keeps

deletions() {
	own_store
	viv --name a -- sh -c 'rm -rf /opt /usr/share/doc; mv /etc/passwd /etc/passwd.old; echo x >/usr/bin/new; rm /usr/bin/env'
	is "$(viv --name a -- /bin/sh -c 'ls /usr/share/doc /usr/bin/env /opt 2>/dev/null; ls /etc/passwd*; cat /usr/bin/new')" $'/etc/passwd.old\nx'
}
check 'what was removed or moved from the image stays so @r' deletions

attributes() {
	own_store
	viv --name a -- python3 -c '
import os
open("/root/x", "w").write("hello")
os.setxattr("/root/x", "user.color", b"green")
os.setxattr("/root/x", "user.gone", b"1")
os.removexattr("/root/x", "user.gone")
os.setxattr("/usr/bin/env", "user.image", b"file")'
	is "$(viv --name a -- python3 -c '
import os
print(os.listxattr("/root/x"), os.getxattr("/root/x", "user.color"), os.getxattr("/usr/bin/env", "user.image"))')" "['user.color'] b'green' b'file'"
}
check 'extended attributes stay @r' attributes

snapshots() {
	own_store
	viv --name a -- sh -c 'echo 1 >/root/f'
	is "$(v snapshot a one)" one
	viv --name a -- sh -c 'echo 2 >/root/f; echo new >/root/n'
	is "$(v snapshot a)" s1 'a name is made'
	viv --name a -- sh -c 'rm /root/n; echo 3 >>/root/f'
	is "$(viv --name a -- sh -c 'cat /root/f; ls /root')" $'2\n3\nf'
	v rollback a one
	is "$(viv --name a -- sh -c 'cat /root/f; ls /root')" $'1\nf' 'back'
	v rollback a s1
	is "$(viv --name a -- sh -c 'cat /root/f; ls /root')" $'2\nf\nn' 'forward'
	is "$(v snapshot --ls a | sort)" $'one\ns1'
	exits 5 v snapshot a one
	like "$(cat err)" "*already*"
	exits 3 v rollback a none
	exits 3 v snapshot nobody
	exits 2 v snapshot a ../x
	v snapshot --rm a one
	exits 3 v rollback a one
	is "$(viv --name a -- cat /root/f)" 2
}
check 'snapshots: back, forward, errors @r' snapshots

forks() {
	own_store
	viv --name a -- sh -c 'echo 1 >/root/f; seq 1000 >/root/big'
	v snapshot a base
	viv --name a -- sh -c 'echo 2 >/root/f'
	v fork a@base b
	v fork a c
	is "$(viv --name b -- cat /root/f)" 1
	is "$(viv --name c -- cat /root/f)" 2
	viv --name b -- sh -c 'echo b >/root/f; echo more >>/root/big'
	viv --name c -- sh -c 'rm /root/big'
	is "$(viv --name a -- sh -c 'cat /root/f; wc -l </root/big')" $'2\n1000' 'the first is as it was'
	is "$(viv --name b -- sh -c 'cat /root/f; wc -l </root/big')" $'b\n1001'
	v fork b d
	v rm a
	is "$(viv --name d -- sh -c 'cat /root/f; wc -l </root/big; echo d >/root/f')" $'b\n1001' 'a fork of a fork, its origin gone'
	is "$(viv --name b -- cat /root/f)" b
	v rm b c
	is "$(viv --name d -- cat /root/f)" d
	v rm d
	is "$(v ls -q)" ''
	is "$(find data -type f ! -name lock ! -name room ! -path '*/tags/*' ! -path '*/journals/*')" '' 'nothing is left'
	exits 3 v fork a x
}
check 'forks live by themselves, and what they use stays @r' forks

is_bare() { [[ ! $(find "$1" ! -type d ! -name 'vivd.*') ]]; }

running() {
	own_store
	mkfifo go
	viv --name a -- sh -c 'echo 1 >/root/f; exec 3<>/root/open; echo before >&3; echo ready; read x; echo 2 >/root/f; echo after >&3; cat /root/open' <go >log &
	exec 9>go
	soon grep -q ready log
	is "$(v snapshot a live)" live
	v fork a b
	is "$(viv --name b -- cat /root/f /root/open)" $'1\nbefore'
	exits 125 viv --name a -- true
	like "$(cat err)" "*in use*"
	exits 5 v rm a
	like "$(v ls)" "*a *running*"
	echo go >&9
	exec 9>&-
	wait
	is "$(cat log)" $'ready\nbefore\nafter'
	is "$(viv --name a -- cat /root/f)" 2
	is "$(viv --name b -- cat /root/f)" 1
	v rollback a live
	is "$(viv --name a -- cat /root/f /root/open)" $'1\nbefore'
	# vivd, which met it, clears away the record of its end when it has noted it.
	soon is_bare run/vivarium
}
check 'a running cell is snapshot and forked, and goes on @r' running

mapped() {
	own_store
	mkfifo go
	viv --name a -- python3 -uc '
import mmap, sys
f = open("/root/m", "w+b"); f.truncate(8192)
m = mmap.mmap(f.fileno(), 8192); m[0:5] = b"first"
print("ready"); sys.stdin.readline()
m[0:5] = b"later"; m.flush(); f.seek(0); print(f.read(5).decode())' <go >log &
	exec 9>go
	soon grep -q ready log
	v snapshot a live
	echo >&9
	exec 9>&-
	wait
	is "$(cat log)" $'ready\nlater'
	v fork a@live b
	is "$(viv --name b -- head -c 5 /root/m)" first 'the snapshot has what was there'
	is "$(viv --name a -- head -c 5 /root/m)" later
}
check 'a file mapped during a snapshot: the map goes on, the snapshot does not change @r' mapped

killed() {
	own_store
	local i pid
	viv --name a -- true
	for i in 1 2 3 4 5 6 7 8; do
		"$VIV" run --name a -- sh -c 'i=0; while :; do i=$((i+1)); echo $i >/root/n.$i; mv /root/n.$i /root/last; echo $i; done' >log 2>/dev/null &
		pid=$!
		soon test -s log
		sleep 0.$((RANDOM % 3))$((RANDOM % 10))
		kill -9 "$pid"
		wait "$pid" || true
		# The last number that was printed was acknowledged: the file has it, or the next one.
		last=$(tail -n 1 log | tr -dc 0-9)
		soon free a
		got=$(viv --name a -- cat /root/last)
		[[ $got -ge ${last:-0} ]] || { echo "round $i: file says $got, acknowledged $last"; return 1; }
	done
}
check 'SIGKILL loses nothing that was acknowledged @r' killed

two_at_once() {
	own_store
	mkfifo go
	viv --name a -- sh -c 'echo in; read x' <go >log &
	exec 9>go
	soon grep -q in log
	exits 125 viv --name a -- true
	like "$(cat err)" "viv: cell 'a' is in use by another viv*"
	exec 9>&-
	wait
	viv --name a -- true
	local ok=0 p
	for p in 1 2 3 4 5 6; do (viv --name race -- true 2>/dev/null && echo made >>made) & done
	wait
	ok=$(wc -l <made)
	[[ $ok -ge 1 ]]
	is "$(v ls -q | grep -c race)" 1
}
check 'one user at a time, with a clear message @r' two_at_once

volumes() {
	own_store
	viv --volume data:/data -- sh -c 'echo kept >/data/f; mkdir /data/d'
	is "$(viv --volume data:/mnt/x -- sh -c 'cat /mnt/x/f; ls /mnt/x')" $'kept\nd\nf'
	exits 2 viv --volume data:/data:ro -- sh -c 'echo no >/data/g'
	is "$(viv --volume data:/data:ro -- cat /data/f)" kept
	is "$(v volume ls -q)" data
	viv --name a --volume data:/data -- sh -c 'echo 2 >>/data/f'
	is "$(viv --volume data:/data:ro -- cat /data/f)" $'kept\n2'
	mkfifo go
	viv --volume data:/data:ro -- sh -c 'echo in; read x' <go >log &
	exec 9>go
	soon grep -q in log
	is "$(viv --volume data:/data:ro -- cat /data/f)" $'kept\n2' 'two readers'
	exits 125 viv --volume data:/data -- true
	exits 5 v volume rm data
	like "$(v volume ls)" $'NAME*\ndata * in use *' 'with readers alone'
	exec 9>&-
	wait
	v volume rm data
	is "$(v volume ls -q)" ''
	exits 3 v volume rm data
	exits 2 v volume create 'a b'
}
check 'volumes: one writes, many read @r' volumes

# Who lists volumes, or collects garbage, has to lock a disk for a moment.
moment() {
	local i lock
	own_store
	viv --volume data:/data -- true
	lock=$(echo data/vivarium/disks/*/lock)
	(while [[ ! -e stop ]]; do flock -x "$lock" sleep 0.01; sleep 0.01; done) &
	for ((i = 0; i < 20; i++)); do
		viv --volume data:/data -- true && viv --volume data:/data:ro -- true || { touch stop; return 1; }
	done
	touch stop
	wait
}
check 'volumes: who has one for a moment is waited for' moment

# What a kernel that was taken over leaves in a volume is not to reach the other disks of those who use it next.
volume_links() {
	local disk
	own_store
	viv --name a -- sh -c 'echo precious >/root/f; sync'
	viv --volume data:/data -- sh -c 'for i in 1 2 3 4; do echo junk >/data/f$i; done; sync'
	disk=$(sed -n 's/^disk //p' data/vivarium/volumes/data)
	mv "data/vivarium/disks/$disk/data/1/c" "data/vivarium/disks/$disk/data/1/old"
	ln -s ../../disk32/1/c "data/vivarium/disks/$disk/data/1/c"
	viv --name a --volume data:/data -- sh -c 'rm -f /data/f*; echo new >/data/g; sync' || true
	is "$(viv --name a -- cat /root/f)" precious
}
check 'links in a volume lead nowhere @r' volume_links

names() {
	own_store
	for n in '' . .. -x a/b 'a b' "$(printf 'x%.0s' {1..65})" $'a\nb' 'ä'; do
		exits 125 viv --name "$n" -- true
	done
	viv --name A.b-c_9 -- true
	is "$(v ls -q)" A.b-c_9
	like "$(v ls --json)" '{"id":*,"state":"stopped","image":"host",*"name":"A.b-c_9",*}'
	exits 3 v rm nobody
	XDG_DATA_HOME=relative exits 125 viv --name a -- true
}
check 'names and where things are kept @r' names

many() {
	own_store
	viv --name a -- sh -c 'cd /root; mkdir d; cd d; seq 20000 | split -l 1 -a 4 - f; ls | wc -l' >out
	is "$(cat out)" 20000
	is "$(viv --name a -- sh -c 'ls /root/d | wc -l; cat /root/d/* | sort -n | tail -n 1')" $'20000\n20000'
	v snapshot a big
	viv --name a -- sh -c 'rm -r /root/d'
	v fork a@big b
	is "$(viv --name b -- sh -c 'ls /root/d | wc -l')" 20000
}
check '20,000 files' many

deep() {
	own_store
	viv --name a -- python3 -c '
import os
os.chdir("/root")
for i in range(20000): os.mkdir("d"); os.chdir("d")
open("f", "w").write("down here")'
	is "$(viv --name a -- python3 -c '
import os
os.chdir("/root")
for i in range(20000): os.chdir("d")
print(open("f").read())')" 'down here'
}
check '20,000 directories in each other' deep

differences() {
	own_store
	viv --name a -- sh -c 'echo 1 >/root/f; rm /usr/bin/perl; mkdir /srv/d; echo x >/srv/d/e; chmod 700 /home'
	is "$(v diff a)" $'C /home\nA /root/f\nA /srv/d\nA /srv/d/e\nD /usr/bin/perl'
	v snapshot a one
	is "$(v diff a@one)" ''
	viv --name a -- sh -c 'echo 2 >/root/f; rm -r /srv/d; printf "" >"/root/odd
name"'
	is "$(v diff a@one)" $'C /root/f\nA /root/odd\\x0aname\nD /srv/d'
	like "$(v diff --json a@one)" '*{"kind":"A","path":"/root/odd\\u000aname"}*'
	v fork a@one b
	viv --name b -- sh -c 'echo b >/root/b; rm /root/f'
	is "$(v diff b a@one)" $'D /root/b\nA /root/f' 'of two that went different ways'
	mkfifo go
	viv --name b -- sh -c 'echo live >/root/live; echo ready; read x' <go >log &
	exec 9>go
	soon grep -q ready log
	like "$(v diff b)" '*A /root/live*' 'while it runs'
	exec 9>&-
	wait
	is "$(TERM=xterm script -qec "timeout 180 $VIV diff a@one" /dev/null </dev/null | tr -d '\r')" "$(v diff a@one)" 'on a terminal'
	exits 3 v diff nobody
	exits 3 v diff a@none
	exits 2 v diff
}
check 'diff: since the image, a snapshot, another cell @r' differences

# Two trees in one cell, of all that a patch can say: edits, files that come and go, empty ones, no newline at the end, links,
# modes, odd names.
two_trees() {
	viv --name a -- python3 -c "$(cat "$E2E_DIR/programs/trees.py")" one
	v snapshot a one >/dev/null
	viv --name a -- tar -C /w -cf - . >one.tar
	viv --name a -- python3 -c "$(cat "$E2E_DIR/programs/trees.py")" two
	v snapshot a two >/dev/null
	viv --name a -- tar -C /w -cf - . >two.tar
	mkdir -p one/w two/w
	tar -C one/w -xf one.tar
	tar -C two/w -xf two.tar
}
tree_print() { (cd "$1" && find . \( -type f -o -type l \) -printf '%P %m %l ' -exec sh -c 'test -h "$1" || cksum <"$1"; echo' x {} \; | LC_ALL=C sort); }

patches() {
	own_store
	two_trees
	v diff --patch a@one a@two >forth
	v diff --patch a@two a@one >back
	grep -q '^@@ ' forth
	tree_print one >want.one
	tree_print two >want.two
	cmp -s want.one want.two && return 1
	cp -a one tree
	(cd tree && patch -s -p1 <../forth)
	tree_print tree >got
	diff want.two got
	(cd tree && patch -s -p1 <../back)
	tree_print tree >got
	diff want.one got
	rm -rf tree
	cp -a one tree
	(cd tree && git apply -q ../forth)
	# git knows only whether a file can be executed.
	diff -r --no-dereference two tree
	# Of two that went different ways, each with half of the changes.
	v fork a@one b
	viv --name b -- python3 -c "$(cat "$E2E_DIR/programs/trees.py")" half
	v diff --patch b a@two >across
	viv --name b -- tar -C /w -cf - . >half.tar
	rm -rf tree
	mkdir -p tree/w
	tar -C tree/w -xf half.tar
	(cd tree && patch -s -p1 <../across)
	tree_print tree >got
	diff want.two got
	is "$(v diff --patch a@one a@one)" ''
	exits 2 v diff --patch
	exits 2 v diff --patch --json a
}
check 'patches: what patch and git make of one tree is the other @r' patches

patch_forms() {
	own_store
	viv --name a -- sh -c 'cd /srv; printf "a\0b" >bin; head -c 5000000 /dev/zero | tr "\0" x >big; echo t >text; mkdir d; ln -s to link; mkfifo p; mknod n c 1 3; mkdir -p g/h; echo 1 >g/h/i; touch -d @9 text'
	v snapshot a one
	viv --name a -- sh -c 'cd /srv; printf "a\0c" >bin; chmod 700 bin; echo y >>big; rmdir d; echo f >d; ln -sfn too link; chown 5:6 text; rm p; chmod 600 n; rm -r g; touch -d @5 text; printf "\033]0;t\007" >esc'
	v diff --patch a@one | cat -v >got
	diff got - <<'END'
Files a/srv/big and b/srv/big differ (5000000 and 5000002 bytes; not compared above 4194304)
Binary files a/srv/bin and b/srv/bin differ
diff --git a/srv/bin b/srv/bin
old mode 100644
new mode 100700
# deleted directory srv/d, mode 755
diff --git a/srv/d b/srv/d
new file mode 100644
--- /dev/null
+++ b/srv/d
@@ -0,0 +1 @@
+f
diff --git a/srv/esc b/srv/esc
new file mode 100644
--- /dev/null
+++ b/srv/esc
@@ -0,0 +1 @@
+^[]0;t^G
\ No newline at end of file
# deleted directory srv/g, mode 755
# deleted directory srv/g/h, mode 755
diff --git a/srv/g/h/i b/srv/g/h/i
deleted file mode 100644
--- a/srv/g/h/i
+++ /dev/null
@@ -1 +0,0 @@
-1
diff --git a/srv/link b/srv/link
deleted file mode 120000
--- a/srv/link
+++ /dev/null
@@ -1 +0,0 @@
-to
\ No newline at end of file
diff --git a/srv/link b/srv/link
new file mode 120000
--- /dev/null
+++ b/srv/link
@@ -0,0 +1 @@
+too
\ No newline at end of file
# changed character device srv/n, mode 600, number 1:3
# deleted fifo srv/p, mode 644
# owner of srv/text was 0:0, is 5:6
END
	# A terminal is not steered.
	TERM=xterm script -qec "timeout 180 $VIV diff --patch a@one" /dev/null </dev/null >typescript
	like "$(cat typescript)" '*+\\x1b]0;t\\x07*'
	is "$(grep -c $'\033' typescript)" 0
	# What both deleted, and what only one did, below a directory that is gone.
	v fork a@one b
	viv --name b -- sh -c 'cd /srv/g/h; echo 2 >i; echo 3 >j'
	is "$(v diff a b | grep -a srv/g)" $'A /srv/g\nA /srv/g/h\nA /srv/g/h/i\nA /srv/g/h/j'
	is "$(v diff b a | grep -a srv/g)" 'D /srv/g'
}
check 'patches: what has no form in one is told @r' patch_forms

names_in_differences() {
	own_store
	viv --name a -- sh -c "touch \"/root/\$(printf 'x\\033]0;title\\007\\nD')\""
	is "$(v diff a | grep -a title)" 'A /root/x\x1b]0;title\x07\x0aD'
	is "$(v diff --json a | grep -a title)" '{"kind":"A","path":"/root/x\u001b]0;title\u0007\u000aD"}'
}
check 'names in differences steer no terminal' names_in_differences

commits() {
	own_store
	mkdir -p root/bin root/etc
	cp /bin/busybox root/bin/
	for a in sh cat ls id echo; do ln -s busybox root/bin/$a; done
	echo 'app:x:500:501::/home/app:/bin/sh' >root/etc/passwd
	h=$(v image import root --tag small -q)
	like "$h" '????????????????????????????????????????????????????????????????'
	is "$(v image import root -q)" "$h" 'the same again'
	is "$(viv --image small --user app -- sh -c 'id -u; id -g; echo $HOME; cat /etc/hostname')" $'500\n501\n/home/app\ncell'
	# What is given from outside belongs to a user that only the image knows.
	mkdir -p mine
	is "$(echo in | viv --image small --user app --mount "$PWD/mine:/m" -- sh -c 'cat /dev/stdin; echo out >/dev/stdout; echo x >/m/x; ls -ln /m' | sed 's/ *[0-9]* [A-Z][a-z][a-z] .*//')" $'in\nout\ntotal 4\n-rw-r--r--    1 500      501'
	viv --name a --image small -- sh -c 'echo hello >/hello; rm /bin/id'
	exits 125 viv --name a --image host -- true
	like "$(cat err)" "*was made from image*"
	is "$(v diff a)" $'D /bin/id\nA /hello'
	v commit a --tag second >out
	is "$(viv --image second -- sh -c 'cat /hello; ls /bin')" $'hello\nbusybox\ncat\necho\nls\nsh'
	v image verify >/dev/null
	exits 5 v image rm "$h"
	is "$(cat err)" "viv: the image ${h:0:12} is used by the cell 'a'; remove it first"
	v fork a b
	exits 5 v image rm small
	like "$(cat err)" "*the cell 'a' and 1 more*"
	v rm b
	v rm a
	exits 2 v commit a
	exits 3 v commit a --tag x
	exits 125 viv --image small
	like "$(cat err)" "*no command*"
	exits 125 viv --image nosuch -- true
	exits 125 viv --image small --user nobody -- sh
	like "$(cat err)" "*no such user*"
}
check 'cells of an image of the store, and images of cells @r' commits

# hosts, hostname and resolv.conf are the cell's, whatever its image has; what a guest makes of them stays.
own_names() {
	own_store
	mkdir -p root/bin root/etc root/run
	cp /bin/busybox root/bin/
	for a in sh cat ls hostname readlink head; do ln -s busybox root/bin/$a; done
	printf '127.0.0.1 localhost\n10.1.2.3 database' >root/etc/hosts
	echo builder >root/etc/hostname
	ln -s ../run/systemd/resolve/stub-resolv.conf root/etc/resolv.conf
	v image import root --tag own -q
	is "$(viv --image own --hostname box -- cat /etc/hosts)" $'127.0.0.1 localhost\n10.1.2.3 database\n127.0.0.1\tbox'
	is "$(viv --image own --hostname box -- sh -c 'cat /etc/hostname; hostname -f; readlink /etc/resolv.conf; cat /etc/resolv.conf' | head -n 3)" $'box\nbox\nnameserver 198.19.255.1'
	is "$(viv --image own -- ls /etc | tr '\n' ' ')" 'hostname hosts resolv.conf '
	# Of an unchanged cell nothing differs, and its image is the same image.
	viv --name a --image own -- sh -c 'cat /etc/hosts /etc/hostname'
	is "$(v diff a)" ''
	v commit a --tag again >/dev/null
	is "$(viv --image again --hostname other -- sh -c 'cat /etc/hosts; cat /etc/hostname')" $'127.0.0.1 localhost\n10.1.2.3 database\n127.0.0.1\tother\nother'
	# A name that follows, until the file is the guest's own.
	is "$(viv --name a --hostname second -- sh -c 'cat /etc/hosts; echo 10.9.9.9 more >>/etc/hosts; echo mine >/etc/hostname; rm /etc/resolv.conf')" $'127.0.0.1 localhost\n10.1.2.3 database\n127.0.0.1\tsecond'
	is "$(viv --name a --hostname third -- sh -c 'cat /etc/hosts /etc/hostname; ls /etc')" $'127.0.0.1 localhost\n10.1.2.3 database\n127.0.0.1\tsecond\n10.9.9.9 more\nmine\nhostname\nhosts'
	is "$(v diff a | tr '\n' ' ')" 'C /etc/hostname C /etc/hosts D /etc/resolv.conf '
	v image verify >/dev/null
	# Files that are no such files.
	rm root/etc/hosts root/etc/resolv.conf root/etc/hostname
	ln -s /bin/cat root/etc/hosts
	mkdir root/etc/hostname
	head -c 70000 /dev/zero | tr '\0' '#' >root/etc/resolv.conf
	v image import root --tag odd -q
	is "$(viv --image odd --hostname box -- sh -c 'cat /etc/hosts; ls /etc; ls -d /etc/hostname/; head -n 1 /etc/resolv.conf')" $'127.0.0.1\tlocalhost\n127.0.0.1\tbox\n::1\tlocalhost ip6-localhost ip6-loopback\nhostname\nhosts\nresolv.conf\n/etc/hostname/\nnameserver 198.19.255.1'
	rm root/etc/hosts
	head -c 80000 /dev/zero | tr '\0' '#' >root/etc/hosts
	v image import root --tag large -q
	is "$(viv --image large -- cat /etc/hosts | wc -c)" 80000
	is "$(viv --hostname box -- sh -c 'hostname -f; getent hosts box localhost | tr -s " "')" $'box\n127.0.0.1 box\n::1 localhost ip6-localhost ip6-loopback'
}
check 'hosts, hostname and resolv.conf of cells and their images @r' own_names

# Contents that the cell did not change are named by their number in the image, not sent and hashed again.
importer() { timeout -k 5 180 "${VIV%/*}/viv-store" import "$@"; }
commit_objects() {
	own_store
	mkdir -p root/bin root/lib root/d
	cp /bin/busybox root/bin/
	for a in sh mv rm ln cp cat touch; do ln -s busybox root/bin/$a; done
	for i in 1 2 3 4 5; do head -c 100000 /dev/urandom >root/d/f$i; done
	: >root/d/empty
	echo 'x = 1' >root/lib/fresh.py
	echo 'x = 1' >root/lib/edited.py
	python3 -m compileall -q root/lib
	# What becomes a .pyc file only in the cell.
	printf '\xa7\x0d\r\n\0\0\0\0\5\0\0\0\3\0\0\0code' >root/lib/later
	base=$(v image import root --tag base -q)
	viv --name a --image base -- sh -c 'mv /d/f1 /d/moved; rm /d/f2; ln /d/f3 /d/also; cp /d/f4 /d/copy; echo more >>/d/f5; mv /d /e; mv /lib/later /lib/later.pyc; echo "x = 2" >/lib/edited.py'
	h=$(v commit a --tag two -q)
	v image verify >/dev/null
	is "$(viv --image two -- sh -c 'cat /e/moved /e/also /e/copy /e/f4' | cksum)" "$(cat root/d/f1 root/d/f3 root/d/f4 root/d/f4 | cksum)"
	v image export two >two.tar
	is "$(XDG_DATA_HOME=$PWD/other importer -q two.tar)" "$h" 'the same as if all had been read'
	tar -xf two.tar
	is "$(od -An -tu4 -j8 -N4 lib/later.pyc | tr -d ' ')" 315619200 'a new .pyc file'
	is "$(od -An -tu4 -j8 -N4 lib/__pycache__/fresh.*.pyc | tr -d ' ')" 315619200 'one that fits its source'
	is "$(od -An -tu4 -j8 -N4 lib/__pycache__/edited.*.pyc | tr -d ' ')" 0 'one that does not any more'
	# A kernel that lies gets what its image has, or nothing.
	n=$(find "data/vivarium/images/$base/o" -type f | wc -l)
	lie() { python3 -c '
import io, sys, tarfile
t = tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT)
i = tarfile.TarInfo("f")
i.pax_headers = {"SCHILY.xattr.VIVARIUM.object": sys.argv[1]}
t.addfile(i)
t.close()' "$1" | importer - --format tar -q "${@:2}"; }
	for x in "$n" $((n + 1)) 18446744073709551615 18446744073709551616 99999999999999999999999 -1 0x1 '' '1 ' one; do
		exits 1 lie "$x" --base base
		like "$(cat err)" 'viv: *does not have*'
	done
	lie $((n - 1)) --base base --tag last >/dev/null
	v image export last | tar -xOf - f >last
	is "$(sha256sum <last | cut -c -64)" "$(sha256sum <"$(find "data/vivarium/images/$base/o" -name "$(printf %x $((n - 1)))")" | cut -c -64)" 'the content of that number'
	# Without an image there is nothing to name.
	lie 1 --tag none >/dev/null
	is "$(v image export none | tar -xOf - f)" ''
	v image verify >/dev/null
}
check 'commit: contents of the image are named, and only those @r' commit_objects
