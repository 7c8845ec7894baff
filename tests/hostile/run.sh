#!/bin/bash
# Attacks cells from inside and looks at them from outside. Prints TAP.
#
#   tests/hostile/run.sh BUILD_DIR VIV [pattern]     pattern: part of a program's name
#
# Each program runs in a cell of its own; afterwards, in the same cell, a normal command must give its usual answer, unless the
# program is the cell's first process. Programs run three at a time (HOSTILE_JOBS), each with files of its own; those that use up what
# cells share follow one after the other. The report is in their order.
# FUZZ_SECONDS: for guest-fuzz (4), FUZZ_SEED: where it starts (1); HOSTILE_SCALE: how many more rounds (1).
# With the sanitized kernel (MODE=asan) a report of the sanitizer ends the cell, which is a failure.
set -u

build=$1 viv=$2 pattern=${3-}
src=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$src/../.." && pwd)
bin=$build/tests/hostile
scale=${HOSTILE_SCALE:-1}
FUZZ_SECONDS=${FUZZ_SECONDS:-4}
all=$(mktemp -d "${TMPDIR:-/tmp}/hostile.XXXXXX") || exit 1
chmod 755 "$all" # other users run cells from below it
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
viv=$(cd "$(dirname "$viv")" && pwd)/$(basename "$viv")

trap 'rm -rf "$all"' EXIT

# What an attack has started for its own use ends with it.
pids=()
attack_end() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
}

# The number comes when it is printed, in order.
report() { # ok?, name
	if [[ $1 == 0 ]]; then echo "ok - $2"; else echo "not ok - $2"; fi
}

wanted() { [[ -z $pattern || $1 == *$pattern* ]]; }

compile() { # name, source
	[[ $build/libviv.a -nt $bin/$1 ]] && grep -q '^/\* links:' "$2" && rm -f "$bin/$1"
	[[ $bin/$1 -nt $2 && $bin/$1 -nt $src/hostile.h && $bin/$1 -nt $root/src/stub/stub.h && $bin/$1 -nt $root/src/stub/fast.h && $bin/$1 -nt $root/src/stub/post.h && $bin/$1 -nt $src/box.h && $bin/$1 -nt $src/slow.h ]] && return
	local more=()
	if grep -q '^/\* links: libviv.a \*/$' "$2"; then # a stand-in for the kernel: with its own way in
		[[ $build == *asan* ]] && return 0 # no static program can be linked with it
		more=(-I"$build/gen" "$build/libviv.a")
	fi
	${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -O1 -Wall -Wextra -Wno-unused-result -static -pthread -I"$root/src" -o "$bin/$1.new" "$2" "${more[@]}" &&
		mv "$bin/$1.new" "$bin/$1"
}

# The output of a cell: TAP lines without numbers become ours; the last line must say that the cell is well.
collect() { # name, file, status, need "alive"
	local line any=0
	while IFS= read -r line; do
		case $line in
		"ok - "*) any=1 && report 0 "$1: ${line#ok - }" ;;
		"not ok - "*) any=1 && report 1 "$1: ${line#not ok - }" ;;
		"alive"*) ;;
		*) echo "# $line" ;;
		esac
	done <"$2"
	[[ $any == 1 ]] || report 1 "$1: said nothing"
	if [[ $4 == alive ]]; then
		grep -q '^alive 42$' "$2"
		report $? "$1: a normal command afterwards"
	fi
	[[ $3 == 0 ]]
	report $? "$1: the cell ends with status $3"
}

# A program, then an ordinary pipeline in the same cell.
attack() { # name, viv options, arguments...
	local name=$1 options=$2 rc start=$SECONDS limit=310
	shift 2
	wanted "$name" || return 0
	[[ $name != slow* ]] || limit=$((scale > 1 ? 900 : 450)) # of what it does each has its time
	# shellcheck disable=SC2086
	timeout $((FUZZ_SECONDS + limit + 10)) "$viv" run --quiet --timeout $((FUZZ_SECONDS + limit))s --pids 512 $options --mount "$bin:/t:ro" -- /bin/sh -c \
		'"$@"; rc=$?; echo "alive $(seq 1 42 | sort -n | tail -n 1)"; exit $rc' sh "/t/${name%%:*}" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	rc=$?
	collect "$name" "$work/out" "$rc" alive
	echo "# $name: $((SECONDS - start)) s"
	grep -a -E 'ERROR: AddressSanitizer|runtime error|crashed|please report' "$work/err" | sed 's/^/# /'
	[[ $rc == 0 ]] || tail -n 30 "$work/err" | sed 's/^/# /'
}

# As the cell's first process.
alone() { # name, viv options, arguments...
	local name=$1 options=$2 rc
	shift 2
	wanted "$name" || return 0
	# shellcheck disable=SC2086
	timeout 320 "$viv" run --quiet --timeout 310s --pids 512 $options --mount "$bin:/t:ro" -- "/t/$name" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	rc=$?
	collect "$name" "$work/out" "$rc" -
	[[ $rc == 0 ]] || tail -n 30 "$work/err" | sed 's/^/# /'
}

# ---- what the host must keep for itself ----

decoys() {
	local mark=$1 d
	secrets=("$work/secret")
	for d in /root "$HOME" /home /var/run /run /srv /opt/none /var/tmp; do
		[[ -w $d ]] || continue
		echo "$mark" >"$d/.viv-decoy.$$" 2>/dev/null && secrets+=("$d/.viv-decoy.$$")
	done
	[[ -r /etc/shadow ]] && secrets+=(/etc/shadow)
	secrets+=("/proc/$$/environ" "/proc/$$/cmdline")
	for d in "${secrets[@]}"; do [[ $d == *.viv-decoy.* ]] && chmod 644 "$d"; done
	echo "$mark" >"$work/secret"
	chmod 755 "$work"
	chmod 644 "$work/secret"
	mkdir -p "$work/ssh-decoy" "$work/mnt"
	python3 - "$work" "viv-decoy-$$" <<-'PY' >"$work/port" &
		import os, select, socket, sys
		work, name = sys.argv[1], sys.argv[2]
		socks = []
		for path in ("docker.sock", "ssh-decoy/agent.1", "mnt/host.sock"):
		    s = socket.socket(socket.AF_UNIX); s.bind(os.path.join(work, path)); s.listen(5); socks.append(s)
		    os.chmod(os.path.join(work, path), 0o777)
		s = socket.socket(socket.AF_UNIX); s.bind("\0" + name); s.listen(5); socks.append(s)
		s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(5); socks.append(s)
		print(s.getsockname()[1], flush=True)
		for _ in range(600):
		    for r in select.select(socks, [], [], 1)[0]:
		        r.accept()
		        open(os.path.join(work, "reached"), "w").close()
	PY
	pids+=($!)
	for _ in $(seq 1200); do [[ -s $work/port ]] && break || sleep 0.05; done
	sleep 600 &
	pids+=($!)
	host_pid=$!
}

host_secrets() {
	local mark="VIV-HOST-SECRET-$$-$RANDOM"
	wanted secrets || return 0
	decoys "$mark"
	attack secrets "--mount $work/mnt:/mnt:rw" "$mark" "$host_pid" "$(cat "$work/port")" "viv-decoy-$$" /mnt "${secrets[@]}" \
		"$work/docker.sock" "$work/ssh-decoy/agent.1" /var/run/docker.sock /run/docker.sock
	kill -0 "$host_pid" 2>/dev/null
	report $? "secrets: the host's process lives"
	[[ ! -e $work/reached ]]
	report $? "secrets: nobody came to the host's sockets"
	rm -f /root/.viv-decoy.$$ "$HOME/.viv-decoy.$$" /home/.viv-decoy.$$ /var/run/.viv-decoy.$$ /run/.viv-decoy.$$ \
		/srv/.viv-decoy.$$ /var/tmp/.viv-decoy.$$
}

host_mounts() { # ro|rw
	local d=$work/m-$1 mark="VIV-OUTSIDE-$RANDOM" sum
	wanted mounts || return 0
	mkdir -p "$d/mount/inside" "$d/outside"
	echo "$mark" >"$d/outside/secret"
	echo content >"$d/mount/file"
	ln -s "$d/outside" "$d/mount/out"
	ln -s ../outside "$d/mount/up"
	ln -s "$d/outside/secret" "$d/mount/abs"
	chmod -R a+rwX "$d"
	sum=$(cd "$d/outside" && ls -lan --time-style=full-iso | grep -v ' \.\.$' && cat ./*)
	ro=$(cd "$d/mount" && ls -lanR --time-style=full-iso && cat file)
	attack "mounts:$1" "--mount $d/mount:/m:$1" "$1" /m "$mark"
	[[ $sum == "$(cd "$d/outside" && ls -lan --time-style=full-iso | grep -v ' \.\.$' && cat ./*)" ]]
	report $? "mounts:$1: outside nothing changed"
	if [[ $1 == ro ]]; then
		[[ $ro == "$(cd "$d/mount" && ls -lanR --time-style=full-iso && cat file)" ]]
		report $? "mounts:ro: inside nothing changed"
	fi
}

host_files() {
	local d=$work/files mark="VIV-BESIDE-$RANDOM" before
	wanted hostfile || return 0
	mkdir -p "$d/dir" "$d/single"
	echo "$mark" >"$d/single/secret"
	echo one >"$d/single/rw"
	echo two >"$d/single/ro"
	mkfifo "$d/dir/host.fifo"
	chmod -R a+rwX "$d"
	chmod 644 "$d/single/rw" "$d/single/ro"
	chmod 666 "$d/dir/host.fifo"
	before=$(cd "$d/single" && ls -lan --time-style=full-iso secret ro && cat secret ro)
	python3 - "$d/dir" "$mark" "$work/heard" <<-'PY' &
		import os, select, socket, sys
		s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + "/host.sock"); s.listen(5); os.chmod(sys.argv[1] + "/host.sock", 0o777)
		f = os.open(sys.argv[1] + "/host.fifo", os.O_RDWR | os.O_NONBLOCK)
		mark = sys.argv[2].encode()
		os.write(f, mark)
		for _ in range(600):
		    if select.select([s], [], [], 0.2)[0]: s.accept(); open(sys.argv[3], "w").close()
		    got = os.read(f, 65536)
		    if got.replace(mark, b""): open(sys.argv[3], "w").close()
		    os.write(f, mark)
	PY
	pids+=($!)
	for _ in $(seq 1200); do [[ -S $d/dir/host.sock ]] && break || sleep 0.05; done
	attack hostfile "--mount $d/single/rw:/one/rw --mount $d/single/ro:/one/ro:ro --mount $d/dir:/dir" /one/rw /one/ro /dir "$mark"
	[[ $before == "$(cd "$d/single" && ls -lan --time-style=full-iso secret ro && cat secret ro)" ]]
	report $? "hostfile: the files beside it and the read-only one are as they were"
	[[ -z $(find "$d" -perm /6000) ]]
	report $? "hostfile: no set-id bits on the host"
	[[ ! -e $work/heard ]]
	report $? "hostfile: nothing of the cell reached the host's FIFO and socket"
}

# What a cell does to its journal, which is read from outside afterwards.
host_journal() {
	wanted journal || return 0
	export XDG_DATA_HOME=$work/data XDG_RUNTIME_DIR=$work/run
	mkdir -m 700 "$XDG_DATA_HOME" "$XDG_RUNTIME_DIR"
	attack journal "--name hostile-journal --journal changes"
	python3 "$src/journal.py" "$viv" hostile-journal "$work/out" >"$work/journal" 2>&1
	report $? "journal: it can be read"
	sed -E 's/^((not )?ok - )/\1journal: /' "$work/journal"
}

# ---- the host's view of the processes of a cell ----

processes_below() { # pid
	local p
	for p in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		echo "$p"
		processes_below "$p"
	done
}

status_field() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" 2>/dev/null; }

host_view() {
	local vpid kernel p fd to bad=() runners=0 ns
	wanted view || return 0
	"$viv" run --quiet --timeout 300s --pids 256 --mount "$bin:/t:ro" -- /bin/sh -c \
		'/t/hyper >/dev/null & for i in 1 2 3; do sleep 250 & done; cat /etc/passwd | wc -l; wait' >"$work/view" 2>/dev/null </dev/null &
	vpid=$!
	pids+=("$vpid")
	for _ in $(seq 1200); do [[ -s $work/view ]] && break || sleep 0.05; done
	for _ in 1 2 3; do
		kernel=$(cat "/proc/$vpid/task/"*/children 2>/dev/null | tr ' ' '\n' | grep . | head -n 1)
		[[ -n $kernel ]] || break
		for p in $kernel $(processes_below "$kernel"); do
			[[ -r /proc/$p/status && $(status_field "$p" State) != Z* ]] || continue
			for f in CapInh CapPrm CapEff CapBnd CapAmb; do
				to=$(status_field "$p" $f)
				[[ -z $to || $to == 0000000000000000 ]] || bad+=("$p $f $to")
			done
			to=$(status_field "$p" NoNewPrivs)
			[[ -z $to || $to == 1 ]] || bad+=("$p NoNewPrivs $to")
			to=$(status_field "$p" Seccomp)
			[[ -z $to || $to == 2 ]] || bad+=("$p Seccomp $to")
			to=$(status_field "$p" Uid | tr -s '\t' ' ')
			[[ -z $to || $(id -u) != 0 || " $to " != *" 0 "* ]] || bad+=("$p Uid $to")
			for ns in user mnt pid net ipc uts; do
				to=$(readlink "/proc/$p/ns/$ns" 2>/dev/null)
				[[ -z $to || $to != "$(readlink /proc/self/ns/$ns)" ]] || bad+=("$p shares $ns")
			done
			for fd in "/proc/$p/fd/"*; do
				to=$(readlink "$fd" 2>/dev/null) || continue
				if [[ $p == "$kernel" ]]; then
					case $to in
					/dev/null | pipe:* | "anon_inode:"* | socket:* | / | /host* | /usr/* | /etc/* | /bin/* | /lib* | /opt* | \
						/scratch* | /proc | /proc/* | /memfd:* | /[0-9a-f]* | "$bin"* | "$work"* | /t* | *deleted*) ;;
					*) [[ -e $bin$to ]] || bad+=("kernel's ${fd##*/} is $to") ;; # a mount's own root is / there
					esac
				else
					runners=$((runners + 1))
					flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$p/fdinfo/${fd##*/}" 2>/dev/null)
					case $to in
					*viv-stub*) ;;
					/usr/* | /lib* | /bin/* | /opt/* | /etc/* | /host/*)
						(((0${flags:-0} & 3) == 0)) || bad+=("$p can write $to") ;;
					/*) # on its way to being mapped: a file of the cell
						((${fd##*/} < 63)) || bad+=("$p keeps ${fd##*/} $to") ;;
					*) bad+=("$p has ${fd##*/} $to") ;;
					esac
				fi
			done
		done
		sleep 0.3
	done
	((runners > 0))
	report $? "view: runners were seen ($runners descriptors)"
	((${#bad[@]} == 0))
	report $? "view: no capability, no descriptor, no shared namespace"
	printf '# %s\n' "${bad[@]:0:20}" | grep -v '^# $'
	kill "$vpid" 2>/dev/null
	wait "$vpid" 2>/dev/null
	for _ in $(seq 1200); do kill -0 "$kernel" 2>/dev/null && sleep 0.05 || break; done
	! kill -0 "$kernel" 2>/dev/null
	report $? "view: nothing is left when viv is ended"
}

# viv with a kernel that is an enemy: the clock goes on.
bad_kernel() {
	local start=$SECONDS rc
	wanted kernel || return 0
	mkdir -p "$work/bad"
	cp "$viv" "$work/bad/viv"
	cp "$(dirname "$viv")/viv-stub" "$work/bad/" 2>/dev/null
	cp "$bin/kernel" "$work/bad/viv-kernel"
	chmod 755 "$work" "$work/bad" "$work"/bad/*
	timeout -s KILL 120 "$work/bad/viv" run --quiet --timeout 1s -- true </dev/null >"$work/out" 2>/dev/null
	rc=$?
	echo "# kernel: status $rc after $((SECONDS - start)) s"
	[[ $rc != 137 && $((SECONDS - start)) -lt 100 ]]
	report $? "kernel: one that talks without end is ended in time"
}

# One that was taken over, with everything that viv gives to a kernel: it leaves nothing on the host that runs with the rights of
# the directory's owner, by itself or by its runners. "root": an idmapped mount; else a mount of the user's own directory.
captured_kernel() { # how, command...
	local d=$work/captured-$1 name=captured:$1 rc found
	wanted captured && [[ -x $bin/captured ]] || return 0
	shift
	mkdir -p "$d/bin" "$d/mount"
	cp "$viv" "$d/bin/viv"
	cp "$bin/captured" "$d/bin/viv-kernel"
	chmod 755 "$work" "$d" "$d/bin" "$d"/bin/*
	chown -R "${owner:-$(id -u)}" "$d/mount"
	timeout -s KILL 320 "$@" "$d/bin/viv" run --quiet --timeout 310s --mount "$d/mount:/m:rw" -- true </dev/null >"$work/out" 2>"$work/err"
	rc=$?
	collect "$name" "$work/out" "$rc" -
	[[ $rc == 0 ]] || sed 's/^/# /' "$work/err" | head -n 10
	found=$(find "$d/mount" -type f -perm /6000; getcap -r "$d/mount" 2>/dev/null)
	[[ -z $found ]]
	report $? "$name: nothing with rights of its own is left"
}

captured_kernels() {
	captured_kernel user
	[[ $(id -u) == 0 ]] || return 0
	owner=12345 captured_kernel other
	id vivtest >/dev/null 2>&1 || return 0
	owner=vivtest captured_kernel rootless setpriv --reuid vivtest --regid vivtest --init-groups
}

# Five cells of one user use up what the host counts for him, as far as they can; he has something left. In a user namespace of his own,
# where the quota of watches can be set.
user_quotas() {
	local as=() d=$work/quota n cells=()
	wanted quota || return 0
	if [[ $(id -u) == 0 ]]; then
		id vivtest >/dev/null 2>&1 || return 0
		as=(setpriv --reuid vivtest --regid vivtest --init-groups)
	fi
	mkdir -p "$d/bin" "$d/files" "$d/t"
	cp "$viv" "$(dirname "$viv")/viv-kernel" "$d/bin/"
	cp "$bin/quota" "$d/t/"
	for n in $(seq 0 999); do : >"$d/files/$n"; done
	chmod -R a+rX "$work" "$d"
	chmod 777 "$d"
	"${as[@]}" prlimit --sigpending=2000 unshare --user --map-root-user sh -c '
		d=$1
		echo 2000 >/proc/sys/user/max_inotify_watches || exit 1
		for n in 1 2 3 4 5; do
			"$d/bin/viv" run --quiet --timeout 310s --mount "$d/t:/t:ro" --mount "$d/files:/f:ro" -- /t/quota fill /f </dev/null >"$d/out.$n" 2>&1 &
			cells="$cells $!"
		done
		for n in 1 2 3 4 5; do
			for i in $(seq 1200); do grep -q "^full" "$d/out.$n" && break; sleep 0.1; done
		done
		"$d/t/quota" probe "$d/files" 400 600
		kill -9 $cells # they block every other signal
		wait' sh "$d" >"$work/out" 2>"$work/err"
	for n in 1 2 3 4 5; do grep -v '^full' "$d/out.$n" >>"$work/out"; done
	collect quota "$work/out" 0 -
	grep -q "^full" "$d"/out.{1,2,3,4,5}
	report $? "quota: the cells came so far"
	sed 's/^/# /' "$work/err" | head -n 10
}

# Processes are started from outside while the first one attacks what makes them.
seed_under_fire() {
	local cell n good=0 rc
	wanted seed || return 0
	export XDG_RUNTIME_DIR=$work/run XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state
	mkdir -p "$XDG_RUNTIME_DIR"
	cell=$("$viv" run -d --quiet --timeout $((300 + 4 * scale))s --pids 512 --mount "$bin:/t:ro" -- /t/seed $((4 * scale)) 2>"$work/err")
	for n in $(seq 40); do
		[[ $(timeout 180 "$viv" exec "$cell" sh -c "echo $n" 2>>"$work/err") == "$n" ]] && good=$((good + 1))
	done
	timeout 180 "$viv" exec "$cell" touch /tmp/enough 2>>"$work/err"
	timeout $((320 + 4 * scale)) "$viv" logs -f "$cell" >"$work/out" 2>>"$work/err"
	rc=$?
	collect seed "$work/out" "$rc" -
	[[ $good == 40 ]]
	report $? "seed: $good of 40 processes were started meanwhile"
	"$viv" daemon stop >/dev/null 2>>"$work/err"
	unset XDG_RUNTIME_DIR XDG_DATA_HOME XDG_STATE_HOME
	sed 's/^/# /' "$work/err" | head -n 20
}

# Clock ticks of all processes below pid.
ticks_below() {
	local sum=0 p t
	for p in $(processes_below "$1"); do
		t=$(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null | awk '{ print $12 + $13 }')
		sum=$((sum + ${t:-0}))
	done
	echo "$sum"
}

# What runs behind the kernel's back does not run while the cell is paused, and goes on afterwards.
paused_strays() {
	local cell kernel a b c
	wanted paused || return 0
	export XDG_RUNTIME_DIR=$work/run XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state
	mkdir -p "$XDG_RUNTIME_DIR"
	cell=$("$viv" run -d --quiet --timeout 310s --pids 512 --mount "$bin:/t:ro" -- /t/paused 2>"$work/err")
	for _ in $(seq 1200); do "$viv" logs "$cell" 2>>"$work/err" | grep -q ready && break || sleep 0.05; done
	kernel=$("$viv" ps --json 2>>"$work/err" | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')
	for _ in $(seq 600); do [[ $(ticks_below "$kernel") -gt 5 ]] && break || sleep 0.1; done
	"$viv" pause "$cell" >/dev/null 2>>"$work/err"
	a=$(ticks_below "$kernel")
	sleep 0.6
	b=$(ticks_below "$kernel")
	"$viv" resume "$cell" >/dev/null 2>>"$work/err"
	for _ in $(seq 600); do
		c=$(ticks_below "$kernel")
		[[ $c -gt $((b + 5)) ]] && break || sleep 0.1
	done
	[[ $a -gt 0 && $((b - a)) -le 2 ]]
	report $? "paused: nothing of a paused cell runs ($a, $b ticks)"
	[[ $c -gt $((b + 5)) ]]
	report $? "paused: it goes on when it is resumed ($c ticks)"
	"$viv" kill "$cell" >/dev/null 2>>"$work/err"
	"$viv" daemon stop >/dev/null 2>>"$work/err"
	unset XDG_RUNTIME_DIR XDG_DATA_HOME XDG_STATE_HOME
	sed 's/^/# /' "$work/err" | head -n 20
}

# Memory where no cgroup counts it: as root, none is in sight.
without_cgroup() { # command...
	if [[ $(id -u) == 0 ]]; then
		# shellcheck disable=SC2016
		unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh "$@"
	else "$@"; fi
}
hidden_memory() {
	local rc
	wanted memory || return 0
	without_cgroup timeout 320 "$viv" run --timeout 310s --memory 64M --pids 512 --mount "$bin:/t:ro" -- /bin/sh -c \
		'/t/memory; rc=$?; echo "alive $(seq 1 42 | sort -n | tail -n 1)"; exit $rc' >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	collect memory "$work/out" "$rc" alive
	grep -q 'without a usable cgroup' "$work/err"
	report $? "memory: a warning says that no cgroup counts it"
	[[ $rc == 0 ]] || tail -n 30 "$work/err" | sed 's/^/# /'
	# Nobody's end gives back what files take of the kernel's memory, so this may be the cell's.
	without_cgroup timeout 320 "$viv" run --quiet --timeout 310s --memory 64M --mount "$bin:/t:ro" -- /t/memory names >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	[[ $rc == 137 || ( $rc == 0 && $(cat "$work/out") == ok* ) ]]
	report $? "memory: names in the kernel's own memory are counted (status $rc)"
}

# A keeper with a kernel that is an enemy: it ends, and so does who waits for it.
bad_kernel_kept() {
	local start=$SECONDS rc
	wanted kernel || return 0
	cp "$(dirname "$viv")/viv-keeper" "$work/bad/"
	chmod 755 "$work/bad/viv-keeper"
	XDG_RUNTIME_DIR=$work/bad/run
	mkdir -p "$XDG_RUNTIME_DIR"
	export XDG_RUNTIME_DIR
	# It may say that all is well; it ends in time all the same.
	timeout -s KILL 120 "$work/bad/viv" run -d --quiet --timeout 1s -- true </dev/null >"$work/out" 2>/dev/null
	rc=$?
	while [[ -n $(ls -A "$XDG_RUNTIME_DIR/vivarium/cells") && $((SECONDS - start)) -lt 100 ]]; do sleep 0.1; done
	echo "# kernel: kept, status $rc, gone after $((SECONDS - start)) s"
	[[ $rc != 137 && $((SECONDS - start)) -lt 100 ]]
	report $? "kernel: one that talks without end is ended by its keeper too"
	unset XDG_RUNTIME_DIR
}

for c in "$root"/tests/fuzz/guest/*.[ch] "$src/hostile.h" "$root/src/stub/stub.h"; do [[ $bin/guest-fuzz -nt $c ]] || rm -f "$bin/guest-fuzz"; done
compile_fuzz() {
	[[ -e $bin/guest-fuzz ]] ||
		${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -O1 -Wall -Wextra -Wno-unused-result -static -pthread -I"$root/src" -o "$bin/guest-fuzz" "$root"/tests/fuzz/guest/*.c
}
compile_all() {
	local c
	{ compile_fuzz || echo guest-fuzz >>"$all/broken"; } &
	for c in "$src"/*.c; do
		{ compile "$(basename "$c" .c)" "$c" || basename "$c" .c >>"$all/broken"; } &
		[[ $(jobs -rp | wc -l) -lt 2 ]] || wait -n
	done
	wait
	[[ ! -e $all/broken ]] || awk '{ print "not ok " NR " - " $0 ": does not compile"; bad = 1 } END { exit bad }' "$all/broken"
}
compile_all || exit 1

# ---- what is run ----

plan=() last=()
beside() { plan+=("${*@Q}"); }    # with others
by_itself() { last+=("${*@Q}"); } # after them, alone

bad_kernels() {
	bad_kernel
	bad_kernel_kept
}
holders_host() {
	mkdir -p "$work/held" && chmod 777 "$work/held"
	attack holders:host "--mount $work/held:/held:rw" $((2 * scale)) "$((${FUZZ_SEED:-1} + 9))" /held
}

# The sanitizer makes everything longer; there it is about what it finds.
turn=20
[[ $build != *asan* ]] || turn=400
# The longest first.
beside attack detach:all "--fast detach" "$scale"
for part in slowtables slowproc slow slownet; do
	beside attack "$part" "--pids 4096" "" "$scale" "$turn"
done
beside attack hyper ""
beside attack stubjump "" $((150 * scale)) 1
beside attack lifetimes:groups "--pids 4096" groups
beside alone storms ""
beside bad_kernels
beside host_secrets
beside host_mounts ro
beside host_mounts rw
beside host_files
beside host_journal
beside host_view
beside captured_kernels
beside seed_under_fire
beside paused_strays
beside attack arch ""
beside attack procfs ""
beside attack races ""
beside attack sigmask ""
beside attack fastmem ""
beside attack post "" $((2 * scale))
beside attack post:eager "--fast eager" $((2 * scale))
beside attack stream "" $((2 * scale))
beside attack stream:eager "--fast eager" $((2 * scale))
beside attack detach "" "$scale"
beside attack ghost ""
beside attack privatemap ""
beside attack seccomp ""
beside attack mounttree ""
beside attack mounttree:fixed "--tmpfs /srv/a --tmpfs /mnt/a/b"
for part in shm mounts unix fifo stub; do beside attack "lifetimes:$part" "" "$part"; done
beside attack stubseq "" $((12 * scale)) "${FUZZ_SEED:-1}"
beside attack holders "" $((3 * scale)) "${FUZZ_SEED:-1}"
beside attack holders:eager "--fast eager" $((2 * scale)) "$((${FUZZ_SEED:-1} + 7))"
beside attack holders:layer "" $((2 * scale)) "$((${FUZZ_SEED:-1} + 8))" /var/tmp
beside holders_host
beside attack uncover "--tmpfs /usr/share" /usr/share
beside attack sysfuzz "" $((30 * scale)) 1
beside attack sysfuzz:user "--user nobody" $((15 * scale)) 2
beside attack leftovers ""
beside attack guest-fuzz "" --seconds "$FUZZ_SECONDS" --seed "${FUZZ_SEED:-1}"
by_itself user_quotas
by_itself hidden_memory
by_itself attack exhaust ""

# ---- running and reporting ----

run_one() { # number, command: prints to NUMBER.tap, and makes NUMBER.done
	(
		work=$all/$1
		mkdir -m 755 "$work"
		trap attack_end EXIT
		eval "$2"
	) >"$all/$1.tap" 2>&1 </dev/null
	rm -rf "${all:?}/$1"
	: >"$all/$1.done"
}
run_all() {
	local i running=0 at_once=3
	# In their long form, and on the sanitized kernel, they need all of the machine to be done in time.
	[[ $scale == 1 && $build != *asan* ]] || at_once=1
	for ((i = 0; i < ${#plan[@]}; i++)); do
		((running < ${HOSTILE_JOBS:-$at_once})) || { wait -n; running=$((running - 1)); }
		running=$((running + 1))
		run_one "$i" "${plan[i]}" &
	done
	wait
	for ((i = 0; i < ${#last[@]}; i++)); do run_one $((${#plan[@]} + i)) "${last[i]}"; done
}
run_all &
runner=$!
# Interrupted: nothing more is started, and whatever we started, cells included, goes.
stop_all() {
	local list
	kill -STOP "$runner"
	list=$(ps -e -o pid=,ppid= | awk -v me="$$" '{ p[$1] = $2 } END { for (q in p) { for (r = q; r > 1 && r != me; r = p[r]) ; if (r == me && q != me) print q } }')
	# shellcheck disable=SC2086
	kill -KILL $list 2>/dev/null
	exit 130
}
trap stop_all INT TERM

count=0 failed=0
for ((i = 0; i < ${#plan[@]} + ${#last[@]}; i++)); do
	until [[ -e $all/$i.done ]]; do sleep 0.05; done
	while IFS= read -r line; do
		case $line in
		"ok - "*) count=$((count + 1)) && echo "ok $count - ${line#ok - }" ;;
		"not ok - "*) count=$((count + 1)) failed=$((failed + 1)) && echo "not ok $count - ${line#not ok - }" ;;
		"#"*) printf '%s\n' "$line" ;;
		*) printf '# %s\n' "$line" ;;
		esac
	done <"$all/$i.tap"
done
wait "$runner"
echo "1..$count"
[[ $failed == 0 ]]
