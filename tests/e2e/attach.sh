# Processes that outlive their clients. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/attach.py" "$VIV" "$PWD" "$1"; }
check 'a process is detached from and attached to again, with what was missed @r' case_of again
check 'the same as streams of lines and of frames, and a client that goes in the middle' case_of streams
check 'a terminal with two clients @r' case_of terminal
check 'a detached process with open input is written to @r' case_of detached_input
check 'the command of a cell is attached to' case_of first
check 'a client that reads too slowly is told how many bytes it missed' case_of slow
check 'attached to again after kill -9 of vivd @r' case_of restart
check 'many clients of one process' case_of many
check 'much output in small pieces' case_of hostile
check 'a cursor in logs' case_of cursor

# ---- viv attach ----

attach_verb() {
	at_end "'$VIV' daemon stop"
	at_end "'$VIV' rm -f pipe quiet sig"
	# Earlier output with --logs only, then what is new; the exit status is the command's.
	"$VIV" run -d -i --name pipe -- sh -c 'echo early; while read x; do echo got $x; echo err $x >&2; done; exit 7' >id
	until [[ $("$VIV" logs pipe) == early ]]; do sleep 0.05; done
	rc=0
	printf 'a\nb\n' | timeout 180 "$VIV" attach pipe >out 2>err || rc=$?
	is "$rc" 7 status
	is "$(cat out)" $'got a\ngot b' output
	is "$(cat err)" $'err a\nerr b' errors
	"$VIV" run -d --name quiet -- sh -c 'echo early; until [ -e /tmp/go ]; do sleep 0.05; done; echo late; exit 3' >id
	until [[ $("$VIV" logs quiet) == early ]]; do sleep 0.05; done
	timeout 180 "$VIV" attach --logs quiet >out2 2>err2 &
	local pid=$!
	until [[ -s out2 ]]; do sleep 0.05; done
	"$VIV" exec -d quiet -- touch /tmp/go >started # the cell may end before it does
	rc=0
	wait "$pid" || rc=$?
	is "$rc" 3 'status with --logs'
	is "$(cat out2)" $'early\nlate' 'output with --logs'
	# A signal reaches the process, unless --sig-proxy=false; then viv ends alone.
	"$VIV" run -d --name sig -- sh -c 'trap "echo usr; exit 9" USR1; trap "" TERM; echo ready; while :; do sleep 0.05; done' >id
	until [[ $("$VIV" logs sig) == ready ]]; do sleep 0.05; done
	"$VIV" attach --logs --sig-proxy=false sig >out3 2>err3 &
	pid=$!
	until [[ -s out3 ]]; do sleep 0.05; done
	kill -USR1 "$pid"
	rc=0
	wait "$pid" || rc=$?
	is "$rc" $((128 + 10)) 'status without forwarding'
	"$VIV" attach --logs sig >out4 2>err4 &
	pid=$!
	until [[ -s out4 ]]; do sleep 0.05; done
	kill -USR1 "$pid"
	rc=0
	wait "$pid" || rc=$?
	is "$rc" 9 'status with forwarding'
	is "$(cat out4)" $'ready\nusr'
	"$VIV" wait sig >waited # its keeper ends a moment after its command
	exits 125 "$VIV" attach sig
	exits 125 "$VIV" attach --detach-keys ctrl sig
	exits 125 "$VIV" attach --sig-proxy=x sig
}
check 'viv attach: output, input, signals and exit status @r' attach_verb

attach_more() {
	at_end "'$VIV' daemon stop"
	at_end "'$VIV' rm -f file proc killed"
	# A file as input, more of it than a pipe holds.
	"$VIV" run -d -i --name file -- wc -c >id
	head -c 3000000 /dev/zero >big
	exits 0 timeout 180 "$VIV" attach file <big
	is "$(cat out)" 3000000
	# A detached process.
	"$VIV" run -d --name proc -- sleep 1000 >id
	n=$("$VIV" exec -d proc -- sh -c 'until [ -e /tmp/go ]; do sleep 0.05; done; echo hi; exit 4')
	"$VIV" attach "proc:$n" >out2 2>err2 &
	local pid=$!
	"$VIV" exec proc -- sh -c 'echo x >/tmp/go'
	rc=0
	wait "$pid" || rc=$?
	is "$rc" 4 'status of the process'
	exits 125 "$VIV" attach proc:999
	# A cell that is killed.
	"$VIV" run -d --name killed -- sh -c 'echo ready; sleep 1000' >id
	"$VIV" attach --logs killed >out3 2>err3 &
	pid=$!
	until [[ -s out3 ]]; do sleep 0.05; done
	"$VIV" kill killed >id
	rc=0
	wait "$pid" || rc=$?
	is "$rc" 137 'status after kill'
}
check 'viv attach: a file as input, a detached process, a cell that is killed' attach_more

attach_closed() {
	at_end "'$VIV' daemon stop"
	at_end "'$VIV' rm -f shut"
	# A process that closes its input: viv takes no CPU time while it waits for the end.
	"$VIV" run -d -i --name shut -- sh -c 'exec </dev/null; echo ready; until [ -e /tmp/go ]; do sleep 0.05; done; exit 6' >id
	soon same_logs shut ready
	mkfifo in
	exec 9<>in
	"$VIV" attach --logs shut <in >out 2>err &
	local pid=$! ticks
	soon test -s out
	sleep 1
	ticks=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
	((ticks < 25)) || { echo "$ticks ticks of CPU time"; return 1; }
	"$VIV" exec -d shut -- touch /tmp/go >started
	rc=0
	wait "$pid" || rc=$?
	is "$rc" 6 status
}
same_logs() { [[ $("$VIV" logs "$1") == "$2" ]]; }
check 'viv attach: a process that closes its input' attach_closed

attach_terminal() {
	at_end "'$VIV' daemon stop"
	at_end "'$VIV' rm -f term"
	"$VIV" run -d -it --name term -e 'PS1=P>' -- sh >id
	cat >t.py <<'P'
import subprocess
import sys
sys.path.insert(0, sys.argv[1])
from terminal import Terminal, VIV
t = Terminal([VIV, 'attach', '--logs', 'term'], rows=33, cols=77)
t.expect('P>')
assert t.is_raw()
t.type('stty size\r')
t.expect('33 77\r\n')
t.resize(20, 60)
t.type('until [ "$(stty size)" = "20 60" ]; do :; done; echo re""sized\r')
t.expect('resized')
# Ctrl-C is the cell's; the first detach key alone is typed with what follows.
t.type('sleep 1000\r')
t.expect('sleep 1000')
t.soon(lambda: b'sleep' in subprocess.run([VIV, 'exec', 'term', '--', 'sh', '-c', 'cat /proc/[0-9]*/comm'], capture_output=True).stdout)
t.type('\x03')
t.expect('P>')
t.type('\x10x\r')
t.expect('\x10x: not found')
t.type('\x10\x11')
assert t.wait() == 0
t = Terminal([VIV, 'attach', '--detach-keys', 'ctrl-a,z', 'term'])
t.soon(t.is_raw)
t.type('echo ag""ain\r')
t.expect('again')
t.type('\x01z')
assert t.wait() == 0
t = Terminal([VIV, 'attach', 'term'])
t.soon(t.is_raw)
t.type('exit 5\r')
assert t.wait() == 5
P
	python3 t.py "$E2E_DIR"
}
check 'viv attach: a terminal, its size, and detach keys @r' attach_terminal
