# However viv or its kernel ends, nothing stays. Every process of a cell is a descendant of this theme
# (a subreaper), so 'alone' says whether there is one left. shellcheck shell=bash

busy='sleep 300 & (while :; do :; done) & python3 -c "import threading, time; [threading.Thread(target=time.sleep, args=(300,)).start() for _ in range(5)]" & trap "" TERM HUP INT; for i in 1 2 3 4 5; do (trap "" TERM; setsid sleep 300) & done; while :; do /bin/true; done'

kernel_of() { pgrep -P "$p"; }

kill_viv() { # after how long
	"$VIV" run --memory 500M -- bash -c "$busy" >/dev/null 2>&1 &
	p=$!
	sleep "$1"
	kill -9 "$p"
	wait "$p" 2>/dev/null || true
	soon alone || { descendants; return 1; }
}
each_moment() {
	for t in 0 0.001 0.002 0.003 0.005 0.008 0.012 0.02 0.05 0.1 0.4; do "$1" "$t"; done
}
check 'kill -9 of viv, at many moments @r' each_moment kill_viv

kill_kernel() {
	"$VIV" run --memory 500M -- bash -c "$busy" >/dev/null 2>err &
	p=$!
	sleep "$1"
	# The child of viv, which may not have become viv-kernel yet. Too early for that: viv itself.
	k=$(pgrep -P "$p" || true)
	kill -9 "${k:-$p}" 2>/dev/null || kill -9 "$p"
	rc=0
	wait "$p" 2>/dev/null || rc=$?
	[[ $rc == 137 || $rc == 125 ]] || { echo "status $rc"; cat err; return 1; }
	soon alone || { descendants; return 1; }
}
check 'kill -9 of viv-kernel, at many moments' each_moment kill_kernel

kernel_says() {
	"$VIV" run -- sh -c 'echo up; exec sleep 300' >out 2>err &
	p=$!
	soon grep -qs up out
	kill -9 "$(kernel_of)"
	rc=0
	wait "$p" || rc=$?
	is "$rc" 137
	is "$(cat err)" "viv: the cell's kernel was killed"
	soon alone
}
check 'viv says that its kernel was killed @root' kernel_says

kill_runner() {
	"$VIV" run -- bash -c 'sleep 300; echo "status $?"' >out 2>&1 &
	p=$!
	soon eval 'descendants | grep -q "[0-9] *sleep 300$"'
	kill -9 "$(descendants | awk '$2 == "sleep" { print $1; exit }')"
	wait "$p"
	like "$(cat out)" '*status 137*'
}
check 'a runner killed from outside is a killed process inside @root' kill_runner

ends_with_first() {
	# The first process ends: so does the cell, whatever still runs in it.
	exits 3 viv -- bash -c 'sleep 300 & setsid sleep 300 & (trap "" TERM HUP; while :; do :; done) & exit 3'
	soon alone
	exits 0 viv -- sh -c '(sleep 0.3; echo late) & echo early'
	is "$(cat out)" early
}
check 'the end of the command ends the cell @r' ends_with_first

hundred() {
	for _ in $(seq 100); do "$VIV" run -- true || return 1; done
	soon alone
}
check 'a hundred cells, one after the other @r' hundred

cgroups_gone() {
	soon no_cgroups # what other themes have killed
	viv --memory 64M --cpus 0.5 --quiet -- true
	is "$(cgroups_of_ours)" ''
	"$VIV" run --memory 64M -- sleep 100 &
	p=$!
	sleep 0.2
	kill -9 $p
	wait $p 2>/dev/null || true
	soon alone
	# Those of a killed viv go with the next cell that is started more than a moment later.
	soon no_cgroups
}
check 'no cgroup stays @r' cgroups_gone

fails_clean() {
	for i in 1 2 3; do
		try viv --mount /nowhere:/x -- true
		try viv --workdir /nowhere -- true
		try viv -- /nowhere
	done
	soon alone
	is "$(ls -A "$TMPDIR")" ''
	# Out of descriptors and processes on the host: a message, not a hang.
	exits 125 bash -c 'ulimit -n 8; exec timeout 20 "$0" run -- true' "$VIV"
	like "$(cat err)" 'viv: *'
	soon alone
}
check 'a start that fails leaves nothing @r' fails_clean

stopped() {
	"$VIV" run -- bash -c 'while :; do date +%s%N >/dev/null; sleep 0.02; done' &
	p=$!
	sleep 0.2
	kill -STOP $p
	sleep 0.1
	kill -9 $p
	wait $p 2>/dev/null || true
	soon alone
}
check 'kill -9 of a stopped viv @r' stopped
