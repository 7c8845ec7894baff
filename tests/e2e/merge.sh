# Layers of a disk that become one (docs/decisions/0017): nothing that can be seen of the trees changes.
# shellcheck shell=bash

own_store() {
	own_vivd
	mkdir -p tree/t/d/e tree/t/f tree/m
	for i in $(seq 20); do
		echo "file $i" >"tree/t/d/$i"
		ln "tree/t/d/$i" "tree/t/f/also$i"
		head -c 9000 /dev/zero >"tree/t/d/e/$i"
	done
	ln -s usr/bin usr/lib usr/lib64 tree/
	cp "$E2E_DIR/merge.py" tree/m/
	v image import -q --tag small tree >/dev/null
}
cell() { viv --name "$1" --image small --mount /usr:/usr:ro -- python3 /m/merge.py "${@:2}"; }
layers() { set -- data/vivarium/disks/*/data/*; echo $#; }

# The oldest of three goes whenever there is a new one.
rotation() {
	own_store
	local i
	for i in 1 2 3 4 5 6 7; do
		cell c change "$i"
		cell c tell ctimes >"want$i"
		v snapshot c "s$i" >/dev/null
		((i <= 3)) || v snapshot --rm c "s$((i - 3))"
		cell c tell ctimes | cmp - "want$i"
	done
	is "$(v snapshot --ls c | tr '\n' ' ')" 's5 s6 s7 '
	(($(layers) <= 4)) || { ls data/vivarium/disks/*/data; return 1; }
	for i in 5 6 7; do
		exits 0 v verify "c@s$i"
		v fork "c@s$i" "f$i" >/dev/null
		cell "f$i" tell ctimes | cmp - "want$i"
	done
	is "$(v diff c@s7)" '' 'nothing has changed since'
	v rollback c s5
	cell c tell ctimes | cmp - want5
	# What a fork stands on stays as it is.
	for i in 5 6 7; do v snapshot --rm c "s$i"; done
	for i in 5 6 7; do cell "f$i" tell ctimes | cmp - "want$i"; done
	cell c tell ctimes | cmp - want5
	exits 0 v verify c
}
check 'snapshots that come and go leave no layers behind @r' rotation

# Many snapshots of a cell that runs; a file without a name lives through all of them and gets one at the end.
many() {
	own_store
	local i
	cell c change 1
	mkfifo go
	"$VIV" run --name c --mount /usr:/usr:ro -- python3 -c '
import ctypes, os, sys
sys.path.append("/m")
import merge
f = os.open("/t", os.O_RDWR | os.O_TMPFILE); os.write(f, b"kept")
for line in sys.stdin:
    if line == "end\n": print(ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % f, -100, b"/t/named", 0x400))
    merge.change(int(line.replace("end", "99")))
    print(line, end="", flush=True)' <go >did &
	exec 7>go
	for i in $(seq 2 70); do
		echo "$i" >&7
		soon grep -qx "$i" did
		v snapshot c "s$i" >/dev/null
	done
	"$VIV" exec c python3 /m/merge.py tell >want70
	v fork c f >/dev/null
	echo end >&7
	soon grep -qx end did
	"$VIV" exec c python3 /m/merge.py tell >want
	exec 7>&-
	wait
	for i in 1 2; do
		cell c tell >got; diff want got
		cell f tell | cmp - want70
	done
	grep -q '/t/named ' want
	exits 0 v verify c
	exits 0 v verify f
	local fork uid
	fork=data/vivarium/disks/$(sed -n 's/^disk //p' data/vivarium/cells/f)
	[[ -s $fork/data/2/log ]] || return 1
	# What its kernel may write to is of no other disk.
	uid=$(sed -n 's/^uid //p' "$fork/tree")
	find "$fork/data" -type f -user "$uid" -printf '%i\n' | sort >own
	find data/vivarium/disks -path "$fork" -prune -o -type f -printf '%i\n' | sort >others
	is "$(comm -12 own others)" ''
	[[ -s others ]] || return 1
}
check 'a long chain becomes one layer when the cell starts @r' many

# It has a name in one snapshot only, which is neither the one that takes in others nor the last.
nameless() {
	own_store
	umask 077 # kernels of other users are to read the layers nevertheless
	mkfifo go
	"$VIV" run --name c --image small --mount /usr:/usr:ro -- python3 -c '
import ctypes, os, sys
f = os.open("/t", os.O_RDWR | os.O_TMPFILE); os.write(f, b"kept")
for line in sys.stdin:
    if line == "link\n": ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % f, -100, b"/t/named", 0x400)
    elif line == "unlink\n": os.unlink("/t/named")
    else: open("/t/big", "wb").write(os.urandom(1 << 20))
    print(line, end="", flush=True)' <go >did &
	exec 7>go
	local step i=0
	for step in big1 big2 link unlink; do
		echo $step >&7
		soon grep -qx $step did
		v snapshot c "s$((++i))" >/dev/null
	done
	exec 7>&-
	wait
	v snapshot --rm c s1
	(($(layers) == 4)) || { ls data/vivarium/disks/*/data; return 1; }
	exits 0 v verify c@s3
	v fork c@s3 f >/dev/null
	is "$(viv --name f --mount /usr:/usr:ro -- cat /t/named)" kept
}
check 'a file that has a name for a while keeps its content' nameless

# The snapshot goes all the same; why its room stays is known to whoever asks.
unmerged() {
	own_store
	local i
	for i in 1 2 3; do
		viv --name c --image small --mount /usr:/usr:ro -- dd if=/dev/urandom of=/t/big bs=1M count=1 2>/dev/null
		v snapshot c "s$i" >/dev/null
	done
	! v inspect c | grep -q unmerged || return 1
	mv data/vivarium/disks/*/data/2/log kept
	exits 0 v snapshot --rm c s1
	v inspect c --json >told
	like "$(cat told)" '*"unmerged":{"code":"*","message":"what only a removed snapshot needed stays","cause":"*}*'
	v events --no-follow --json --since 0 | grep '"snapshot.unmerged"' >event
	like "$(cat event)" '*"error":{"code":"*","message":"what only a removed snapshot needed stays","cause":"*}*'
	mv kept "$(echo data/vivarium/disks/*/data/2)/log"
	v snapshot --rm c s2
	fails eval "v inspect c | grep -q unmerged"
}
check 'a merge that fails is an event, and shown with the cell @r' unmerged

# The fork is made when it has been decided already which layers become one, and runs when they go.
forked() {
	own_store
	local i pid want
	want=$(viv --name c --image small --mount /usr:/usr:ro -- sh -c 'echo kept >/t/old; cat /t/old')
	for i in 1 2 3; do
		viv --name c --mount /usr:/usr:ro -- dd if=/dev/urandom of=/t/big bs=1M count=1 2>/dev/null
		v snapshot c "s$i" >/dev/null
	done
	mkfifo go
	"$VIV" snapshot --rm c s1 &
	pid=$!
	until compgen -G 'data/vivarium/disks/*/data/5' >/dev/null; do
		kill -0 $pid 2>/dev/null || break
	done
	kill -STOP $pid 2>/dev/null || true
	v fork c@s3 f >/dev/null
	"$VIV" run --name f --mount /usr:/usr:ro -- sh -c 'echo here; read -r x; cat /t/old' <go >did &
	exec 7>go
	soon grep -qx here did
	kill -CONT $pid 2>/dev/null || true
	wait $pid
	echo >&7
	exec 7>&-
	wait
	is "$(tail -n 1 did)" "$want"
	exits 0 v verify f
	exits 0 v verify c
}
check 'a fork that runs keeps what it stands on' forked

# Whenever it is cut short.
killed() {
	own_store
	local i
	cell c change 1
	v snapshot c s1 >/dev/null
	for i in $(seq 0 19); do
		viv --name c --mount /usr:/usr:ro -- dd if=/dev/urandom of=/t/big bs=1M count=1 2>/dev/null
		cell c tell >want
		v snapshot c x >/dev/null
		timeout -s KILL "0.$(printf %03d $((i * 8)))" "$VIV" snapshot --rm c x 2>/dev/null || true
		cell c tell | cmp - want
		v snapshot --rm c x 2>/dev/null || true
	done
	v snapshot --rm c s1
	cell c tell | cmp - want
	exits 0 v verify c
	(($(layers) <= 3)) || { ls data/vivarium/disks/*/data; return 1; }
}
check 'killed at any time it leaves the disk whole' killed

# A kernel that was broken into has left a link.
linked() {
	own_store
	local i
	for i in 1 2; do
		viv --name c --image small --mount /usr:/usr:ro -- dd if=/dev/urandom of=/t/big bs=1M count=1 2>/dev/null
		v snapshot c "s$i" >/dev/null
	done
	rm -r data/vivarium/disks/*/data/2/c
	ln -s ../1/c "$(echo data/vivarium/disks/*/data/2)/c"
	v snapshot --rm c s1
	grep -q "the disk of cell 'c' is damaged" state/vivarium/vivd.log || { cat state/vivarium/vivd.log; return 1; }
	is "$(find data/vivarium/disks -type f -links +1)" ''
	is "$(layers)" 2
}
check 'no link is followed' linked

# The host's file that the cell has changed is gone: its layers stay as they are, and nothing is wrong with them.
changed() {
	own_vivd
	# shellcheck disable=SC2016
	VIV=$VIV unshare -m bash -ec '
		trap "\"$VIV\" daemon stop" EXIT
		mount -t tmpfs none /usr/local
		echo one >/usr/local/a
		timeout 180 "$VIV" run --name c -- sh -c "chmod 600 /usr/local/a; head -c 1000000 /dev/urandom >/usr/local/big"
		"$VIV" snapshot c s1
		timeout 180 "$VIV" run --name c -- sh -c "echo kept >/usr/local/big"
		"$VIV" snapshot c s2
		rm /usr/local/a
		"$VIV" snapshot --rm c s1
		timeout 180 "$VIV" run --name c -- cat /usr/local/big 2>last' >out 2>err
	is "$(<err)" ''
	is "$(tail -n 1 out)" kept
	grep -q 'are gone' last
}
check 'layers over files of the host that are gone stay as they are' changed

# The host has no room for a layer more: that is said, and a later time does what could not be done.
full() {
	own_store
	v daemon stop
	export XDG_DATA_HOME=$PWD/small
	mkdir small
	# shellcheck disable=SC2016
	VIV=$VIV unshare -m bash -ec '
		trap "\"$VIV\" daemon stop" EXIT
		mount -t tmpfs -o size=8M none small
		"$VIV" image import -q --tag small tree >/dev/null
		for i in 1 2 3; do
			timeout 180 "$VIV" run --name c --image small --mount /usr:/usr:ro -- sh -c "head -c 500000 /dev/urandom >/t/big; echo $i >/t/$i"
			"$VIV" snapshot c s$i >/dev/null
		done
		dd if=/dev/zero of=small/fill bs=4k 2>/dev/null || true
		truncate -s -20k small/fill
		"$VIV" snapshot --rm c s1
		timeout 180 "$VIV" verify c
		rm small/fill
		"$VIV" snapshot --rm c s2
		timeout 180 "$VIV" run --name c --mount /usr:/usr:ro -- cat /t/1 /t/2 /t/3
		ls small/vivarium/disks/*/data | wc -l' >out
	is "$(tr '\n' ' ' <out)" '1 2 3 2 '
	grep -q 'No space left' state/vivarium/vivd.log
	fails grep damaged state/vivarium/vivd.log
}
check 'a full host is no damage' full

# Who waits for a cell of vivd to start is told of that, and not of the merge before it.
started() {
	own_store
	local i
	v run -d --name c -- sleep 1000 >/dev/null
	for i in $(seq 65); do
		v exec c sh -c "echo $i >/n"
		v snapshot c >/dev/null
	done
	v stop -t 0 c >/dev/null
	exits 0 v start c
	is "$(v exec c cat /n)" 65
	v stop -t 0 c >/dev/null
	is "$(grep -c ' - [0-9]* -$' data/vivarium/disks/*/tree)" 1 'a layer that stands on nothing'
	v daemon stop
}
check 'a cell of vivd whose layers become one when it starts @r' started

# The same, asked of vivd: a cell whose snapshots take much room.
rotated() {
	own_store
	own_vivd
	local i
	v daemon start >/dev/null
	for i in 1 2 3 4 5 6 7; do
		viv --name c --image small --mount /usr:/usr:ro -- sh -c "seq $i 400000 >/t/large; echo $i >/t/n"
		is "$(status_of /v1/cells/c/snapshots -d "{\"name\": \"s$i\"}")" 201
		((i <= 2)) || is "$(status_of "/v1/cells/c/snapshots/s$((i - 2))" -X DELETE)" 204
	done
	is "$(v snapshot --ls c | tr '\n' ' ')" 's6 s7 '
	(($(layers) <= 3)) || { ls data/vivarium/disks/*/data; return 1; }
	(($(du -sk data/vivarium/disks | cut -f 1) < 3 * 2800)) || { du -k data/vivarium/disks; return 1; }
	v fork c@s6 f >/dev/null
	is "$(viv --name f --mount /usr:/usr:ro -- sh -c 'cat /t/n; tail -n 1 /t/large; wc -l </t/large')" $'6\n400000\n399995'
	exits 0 v verify c
	# Who starts it meanwhile waits.
	status_of /v1/cells/c/snapshots/s7 -X DELETE >gone &
	is "$(status_of /v1/cells/c/start -X POST)" 200
	wait $!
	is "$(cat gone)" 204
	soon state_is c completed
	is "$(viv --name c --mount /usr:/usr:ro -- cat /t/n)" 7
}
check 'vivd gives back the room of a snapshot that it removes @r' rotated
