# Running cells: run -d, exec, ps, logs, wait, stop, kill, pause, resume, stats. All tests share one vivd, which the first one starts.
# shellcheck shell=bash

v() { timeout -k 5 "${LIMIT:-180}" "$VIV" "$@"; }
# Cells that wait for somebody (pool.sh) would be found by those who look whether anything is left.
export VIV_POOL=0
# vivd itself is no cell's, and goes at the end of the theme.
alone() {
	local vivd='' list
	[[ ! -e $XDG_RUNTIME_DIR/vivarium/vivd.lock ]] || read -r vivd <"$XDG_RUNTIME_DIR/vivarium/vivd.lock"
	list=$(descendants)
	[[ -z $list || $list == "$vivd "* && $list != *$'\n'* ]]
}
# A detached cell in $c, which is gone at the end of the test, however that ends.
cell() { # arguments of viv run
	c=$(v run -d "$@")
	at_end "v rm -f $c >/dev/null 2>&1; soon alone || descendants"
}
idle() { cell "$@" -- sleep 1000; }
files() { find "$XDG_RUNTIME_DIR/vivarium/cells" -type f -o -type s; }
no_files() { [[ -z $(files) ]] || { files; false; }; }
kernel_pid() { v ps --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | head -n 1; }
keeper_pid() { ps -o ppid= -p "$(kernel_pid)" | tr -d ' '; }
# What vivd still knows of cells that have ended goes with them.
forget() { soon forgotten; }
forgotten() { # vivd sees the end of a cell a moment after its processes have gone
	local list
	list=$(v ls -q)
	# shellcheck disable=SC2086
	[[ -z $list ]] || v rm $list >/dev/null 2>&1
}
none_runs() { [[ -z $(v ps -q) ]]; }
# So many processes are in the cell, the shell that counts them and its init included.
processes_are() { [[ $(v exec "$c" sh -c 'set -- /proc/[0-9]*; echo $#') == "$1" ]]; }

after_failure() {
	local list
	list=$(v ls -q)
	# shellcheck disable=SC2086
	[[ -z $list ]] || v rm -f $list
}

# ---- starting ----

run_detached() {
	cell -- sh -c 'echo out; echo err >&2; read line; exec sleep 1000'
	like "$c" '????????????????'
	logged() { try v logs "$c" && [[ $(cat out err) == $'out\nerr' ]]; }
	soon logged
	is "$(cat out)" out
	is "$(cat err)" err
	like "$(v ps)" "*$c*host*running*sh -c echo out*"
	is "$(v ps -q)" "$c"
	# The first process is the one with the lowest number, as in a cell with a terminal.
	soon eval '[[ $(v exec "$c" ps -e -o pid=,args=) == *"2 sleep 1000"* ]]'
	v stop -t 0 "$c" >/dev/null
	is "$(v ps -q)" ''
	# For a minute one can ask how it was.
	is "$(v ls -q)" "$c"
	is "$(v wait "$c")" 137
	is "$(v logs "$c" 2>/dev/null)" out
	v rm "$c" >/dev/null
	is "$(v ls -q)" ''
	soon no_files
}
check 'run -d leaves a cell that logs, ps and stop know @r' run_detached

run_detached_fails() {
	exits 127 v run -d -- nosuch
	is "$(cat err)" 'viv: the cell could not start: nosuch: command not found in the cell'
	# From the keeper through vivd, in parts.
	exits 125 v run -d --json --mount "$PWD/nope:/x" -- true
	is "$(cat err)" '{"code":"start_failed","message":"the cell could not start","cause":"--mount: there is no '"'$PWD/nope'"' on this host","remedy":"make it first"}'
	exits 126 v run -d -- /etc/passwd
	exits 125 v run -d --workdir /nosuch -- true
	exits 125 v run -d
	exits 125 v run -d --trace -- true
	exits 125 v run --idle -- true
	soon alone || { descendants; return 1; }
	soon no_files
}
check 'a detached cell that cannot start says why and leaves nothing @r' run_detached_fails

run_detached_short() {
	# Its end is nobody's business here, but it must not stay.
	for i in 1 2 3 4 5; do v run -d -- sh -c "echo $i; exit $i" >/dev/null; done
	soon alone || { descendants; return 1; }
	forget
	soon no_files
}
check 'a detached cell goes when its command ends @r' run_detached_short

run_detached_tty() {
	cell -it -- sh -c 'tty; test -t 0 && echo yes; cat'
	soon eval 'v logs "$c" | grep -q yes'
	is "$(v logs "$c" | tr -d '\r' | head -n 1)" /dev/pts/0
	# Nobody typed an end.
	sleep 0.2
	is "$(v ps -q)" "$c"
}
check 'run -dit has a terminal and an input that stays open @r' run_detached_tty

# ---- streams ----

exec_streams() {
	idle
	is "$(echo in | v exec -i "$c" sh -c 'cat; echo err >&2' 2>err)" in
	is "$(cat err)" err
	is "$(echo in | v exec "$c" cat)" '' 'input without -i'
	head -c 3000000 /dev/urandom >data
	v exec -i "$c" cat <data >copy
	cmp data copy
	v exec -i "$c" cat <data | cmp - data
	cat data | v exec -i "$c" sh -c 'cat >/tmp/x; cat /tmp/x' | cmp - data
	# A file is shared with its position.
	{
		v exec -i "$c" head -c 10 >/dev/null
		cat
	} <<<'0123456789rest' >out
	is "$(cat out)" rest
	# The reader goes: SIGPIPE inside, as on the host.
	v exec "$c" yes | head -n 1 | grep -qx y
	# The end of an output is seen although the process goes on.
	started=$SECONDS
	v exec "$c" sh -c 'echo x; exec >&- 2>&-; sleep 3' 2>/dev/null | cat >out
	is "$(cat out)" x
	[[ $((SECONDS - started)) -lt 30 ]]
}
check 'streams of exec are the caller'"'"'s own, byte for byte @r' exec_streams

exec_status() {
	idle
	exits 0 v exec "$c" true
	exits 7 v exec "$c" sh -c 'exit 7'
	exits 7 v exec "$c" -- sh -c 'exit 7'
	is "$(v exec "$c" -- echo -- x)" "-- x"
	exits 143 v exec "$c" sh -c 'kill -TERM $$'
	exits 127 v exec "$c" nosuch
	is "$(cat err)" 'viv: nosuch: command not found in the cell'
	exits 127 v exec "$c" /no/such/file
	exits 126 v exec "$c" /etc/passwd
	exits 126 v exec "$c" /etc
	exits 125 v exec -w /nosuch "$c" true
	exits 125 v exec -u nosuch "$c" true
	exits 125 v exec --nosuch "$c" true
	exits 125 v exec "$c"
	exits 125 v exec nosuch true
	exits 126 v exec "$c" true "$(head -c 131072 /dev/zero | tr '\0' x)"
	exits 0 v exec "$c" true "$(head -c 100000 /dev/zero | tr '\0' x)"
	is "$(v exec "$c" sh -c 'echo $#' sh $(seq 20000))" 20000
	# Long enough for the process to be there before (late_birth has the other case).
	exits 124 v exec --timeout 2s "$c" sleep 100
	like "$(cat err)" 'viv: the time is up'
	exits 124 v exec --timeout 2s "$c" sh -c 'sleep 100; true'
	exits 143 v exec --timeout 100s "$c" sh -c 'kill -15 $$'
	# None of them is still there.
	soon processes_are 3
}
check 'exit statuses of exec @r' exec_status

exec_unanswered() {
	c=limited
	(ulimit -n 210 && exec "$VIV" run --name limited -- sleep 1000) &
	p=$!
	at_end 'kill $p 2>/dev/null; v rm -f limited "$c" >/dev/null 2>&1'
	soon v exec limited true
	# Where the kernel cannot take the streams, it says so.
	for i in {1..100}; do
		try v exec -d limited sleep 1000
		((rc == 0)) || break
	done
	is "$rc $(cat err)" '125 viv: the cell has too many open files'
	exits 125 v exec limited true
	kill $p
	try wait $p
	v rm limited >/dev/null
	c=$(v run -d -- sleep 1000)
	# What the other side says steers no terminal.
	exits 127 v exec "$c" $'no\e[31msuch'
	is "$(cat err)" 'viv: no\x1b[31msuch: command not found in the cell'
	# And one that does not answer at all is not waited for against a signal.
	kill -STOP "$(kernel_pid)"
	"$VIV" exec "$c" true >out 2>err &
	p=$!
	# It has SIGTERM blocked; so has the shell, for a moment, before it runs viv.
	soon has_program $p
	soon eval 'grep -q "^SigBlk:.*[4-7c-f]...$" /proc/$p/status'
	kill -TERM $p
	try wait $p
	is "$rc" 143
	# Other signals wait as long as it takes.
	"$VIV" exec "$c" sh -c 'echo up; exec sleep 1000' >out 2>err &
	p=$!
	soon has_program $p
	soon eval 'grep -q "^SigBlk:.*[4-7c-f]...$" /proc/$p/status'
	kill -TSTP $p
	sleep 3
	kill -CONT "$(kernel_pid)"
	soon eval '[[ $(sed "s/.*) //" /proc/$p/stat) == T* ]]'
	kill -CONT $p
	soon grep -q up out
	kill -TERM $p
	try wait $p
	is "$rc" 143
	exits 3 v exec "$c" sh -c 'exit 3'
}
check 'exec where the kernel cannot answer @r' exec_unanswered

# The seed, from which processes are made, is held up, and the time passes before there is anything to end.
late_birth() {
	idle
	for seed in $(pgrep -P "$(kernel_pid)"); do [[ $(<"/proc/$seed/comm") == sleep ]] || break; done
	kill -STOP "$seed"
	"$VIV" exec --timeout 200ms "$c" sleep 1000 &
	p=$!
	sleep 1
	kill -CONT "$seed"
	rc=0
	wait $p || rc=$?
	[[ $rc == 143 || $rc == 124 ]] || { echo "status $rc"; return 1; }
}
check 'a time limit that passes while the process is still being made @r' late_birth

exec_settings() {
	idle --env FROM=cell --workdir /tmp
	is "$(v exec "$c" pwd)" /tmp
	is "$(v exec -w /usr "$c" pwd)" /usr
	is "$(v exec "$c" sh -c 'echo $FROM $HOME $USER')" 'cell /root root'
	is "$(v exec -e FROM=exec -e B=2 "$c" sh -c 'echo $FROM $B')" 'exec 2'
	is "$(v exec -e B=1 -e B=2 "$c" sh -c 'echo $B')" 2
	is "$(X=y v exec -e X "$c" sh -c 'echo $X')" y
	is "$(v exec -u nobody "$c" sh -c 'id -u; echo $HOME $USER' | tr '\n' ' ')" '65534 /nonexistent nobody '
	is "$(v exec -u 1234:5678 "$c" sh -c 'id -u; id -g' | tr '\n' ' ')" '1234 5678 '
	is "$(v exec -u nobody "$c" sh -c 'cat /etc/shadow 2>/dev/null; kill -0 2 2>/dev/null || echo denied')" denied
	# A session of its own, child of the cell's init.
	is "$(v exec "$c" sh -c 'ps -o ppid=,pgid=,sid= -p $$ | tr -s " "; echo " $$"' | tr -d '\n' | awk '{ print $1, $2 == $4, $3 == $4 }')" '1 1 1'
	# What one writes, another sees.
	v exec "$c" sh -c 'echo shared >/tmp/f'
	is "$(v exec "$c" cat /tmp/f)" shared
}
check 'environment, directory and user of exec @r' exec_settings

exec_many() {
	idle
	for i in $(seq 60); do
		(
			rc=0
			echo "$i" | v exec -i "$c" sh -c 'read a; sleep 0.1; echo "$a $a" >&2; exit "$a"' 2>"err$i" || rc=$?
			echo "$rc" >"st$i"
		) &
	done
	wait
	for i in $(seq 60); do
		is "$(cat "st$i")" "$i"
		is "$(cat "err$i")" "$i $i"
	done
	soon processes_are 3
}
check 'sixty at once @r' exec_many

exec_after_rest() {
	# A cell in which nothing happens for longer than a process may take to start.
	idle
	sleep 12
	is "$(v exec "$c" echo awake)" awake
	python3 - "$VIV" "$c" <<'PY'
import os, pty, subprocess, sys
m, s = pty.openpty()
p = subprocess.Popen([sys.argv[1], 'exec', '-t', sys.argv[2], 'sh', '-c', 'sleep 2; seq 1 300'], stdin=subprocess.DEVNULL, stdout=s, stderr=s)
os.close(s)
out = b''
while True:
    try:
        d = os.read(m, 65536)
    except OSError:
        break
    if not d:
        break
    out += d
assert p.wait() == 0
assert out.split() == [b'%d' % i for i in range(1, 301)], out
PY
}
check 'exec in a cell that has rested @r' exec_after_rest

exec_in_named() {
	"$VIV" run --name web -- sh -c 'echo up >/run/up; exec sleep 100' &
	p=$!
	soon v exec web test -e /run/up 2>/dev/null
	is "$(v exec web cat /run/up)" up
	is "$(v ps -q)" web
	v stop -t 0 web >/dev/null
	rc=0
	wait "$p" || rc=$?
	is "$rc" 137
	exits 5 v stop web
	c=$(v run -d --name web -- sh -c 'cat /run/up; sleep 100')
	is "$c" web
	soon eval 'v logs web | grep -q up'
	exits 125 v run -d --name web -- true
	like "$(cat err)" '*in use*'
	v snapshot web first
	v kill web >/dev/null
	soon none_runs
	v rm web >/dev/null
}
check 'exec into a named cell, attached or detached @r' exec_in_named

# ---- signals ----

exec_signals() {
	idle
	"$VIV" exec "$c" sh -c 'trap "echo got; exit 3" TERM; echo ready; while :; do sleep 0.05; done' >out &
	p=$!
	soon grep -q ready out
	kill -TERM "$p"
	rc=0
	wait "$p" || rc=$?
	is "$rc" 3
	is "$(cat out)" $'ready\ngot'
	n=$(v exec -d "$c" sh -c 'trap "echo usr1" USR1; echo ready; while :; do sleep 0.05; done')
	soon eval 'v logs "$c:$n" | grep -q ready'
	v kill -s USR1 "$c:$n" >/dev/null
	soon eval 'v logs "$c:$n" | grep -q usr1'
	v kill "$c:$n" >/dev/null
	is "$(v wait "$c:$n")" 137
	exits 3 v kill -s TERM "$c:$n"
	exits 2 v kill -s NOSUCH "$c"
	is "$(v ps -q)" "$c"
	v kill -s TERM "$c" >/dev/null
	soon alone || { descendants; return 1; }
}
check 'signals to exec, to a process and to a cell @r' exec_signals

client_killed() {
	idle
	"$VIV" exec "$c" sh -c 'trap "echo hup >/tmp/hup; exit" HUP; echo ready; while :; do sleep 0.05; done' >out &
	p=$!
	soon grep -q ready out
	kill -9 "$p"
	wait "$p" 2>/dev/null || true
	soon v exec "$c" test -e /tmp/hup
	# One that is detached goes on.
	n=$(v exec -d "$c" sh -c 'sleep 0.5; echo done')
	is "$(v wait "$c:$n")" 0
	is "$(v logs "$c:$n")" done
	soon processes_are 3
}
check 'kill -9 of the client hangs its process up @r' client_killed

# ---- logs and waiting ----

logs() {
	idle
	n=$(v exec -d "$c" sh -c 'for i in 1 2 3 4 5; do echo line $i; done; echo bad >&2; exit 5')
	is "$(v wait "$c:$n")" 5
	try v logs "$c:$n"
	is "$(cat out)" $'line 1\nline 2\nline 3\nline 4\nline 5'
	is "$(cat err)" bad
	is "$(v logs --tail 2 "$c:$n" 2>&1)" $'line 5\nbad'
	like "$(v logs -t --tail 1 "$c:$n" 2>&1)" '20??-??-??T??:??:??.???Z bad'
	exits 3 v logs "$c:99"
	exits 3 v logs nosuch
	exits 2 v logs
	# Following ends with the process.
	n=$(v exec -d "$c" sh -c 'for i in 1 2 3; do echo $i; sleep 0.2; done')
	is "$(v logs -f "$c:$n" | tr '\n' ' ')" '1 2 3 '
}
check 'logs of detached processes, followed and cut @r' logs

logs_rotate() {
	idle
	# 40 MB go through; what is kept is bounded and ends with the end.
	n=$(v exec -d "$c" sh -c 'i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero | tr "\0" "\n"; i=$((i + 1)); done; echo last')
	v logs -f "$c:$n" | tail -n 1 | grep -qx last
	is "$(v wait "$c:$n")" 0
	is "$(v logs "$c:$n" | tail -n 1)" last
	[[ $(files | grep -c log) -le 3 ]]
	[[ $(files | xargs stat -c %s | awk '{ s += $1 } END { print s }') -le 17000000 ]]
}
check 'logs are bounded @r' logs_rotate

wait_for_end() {
	c=$(v run -d -- sh -c 'sleep 0.3; exit 9')
	is "$(v wait "$c")" 9
	soon alone || { descendants; return 1; }
	is "$(v wait "$c")" 9 'also afterwards'
	v rm "$c" >/dev/null
	exits 3 v wait "$c"
	c=$(v run -d --timeout 2s -- sleep 100)
	is "$(v wait "$c")" 124
	soon alone || { descendants; return 1; }
}
check 'wait gives the exit status @r' wait_for_end

stop_grace() {
	cell -- sh -c 'trap "echo bye; exit 4" TERM; echo ready; while :; do sleep 0.05; done'
	soon eval 'v logs "$c" | grep -q ready'
	v wait "$c" >status &
	v logs -f "$c" >log &
	sleep 0.2
	v stop "$c" >/dev/null
	wait
	is "$(cat status)" 4
	is "$(cat log)" $'ready\nbye'
	cell -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
	soon eval 'v logs "$c" | grep -q ready'
	v wait "$c" >status &
	sleep 0.2
	v stop -t 0.3 "$c" >/dev/null
	wait
	is "$(cat status)" 137
	soon alone || { descendants; return 1; }
}
check 'stop gives time, and then does not @r' stop_grace

# ---- pausing ----

ticks() { v exec "$c" cat /tmp/n 2>/dev/null || echo 0; }
pausing() {
	cell -- sh -c 'n=0; while :; do n=$((n + 1)); echo $n >/tmp/n; done'
	soon eval '[[ $(ticks) -gt 3 ]]'
	k=$(v ps --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')
	v pause "$c" >/dev/null
	is "$(v ps --json | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p')" paused
	exits 5 v pause "$c"
	exits 125 v exec "$c" true
	like "$(cat err)" '*paused*'
	exits 5 v kill -s TERM "$c"
	# Nothing of it uses the processor.
	sleep 0.1
	a=$(cpu_of "$k")
	sleep 0.5
	b=$(cpu_of "$k")
	[[ $((b - a)) -le 2 ]] || { echo "ticks $a $b"; return 1; }
	v stats "$c" >/dev/null
	v resume "$c" >/dev/null
	exits 5 v resume "$c"
	a=$(ticks)
	soon eval '[[ $(ticks) -gt $((a + 3)) ]]'
	v pause "$c" >/dev/null
	v stop -t 1 "$c" >/dev/null
	soon alone || { descendants; return 1; }
}
# Clock ticks of all processes below pid.
cpu_of() {
	local sum=0 p
	for p in $(descendants | awk '{ print $1 }'); do
		[[ -r /proc/$p/stat ]] && sum=$((sum + $(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null | awk '{ print $12 + $13 }')))
	done
	echo "$sum"
}
check 'pause and resume @r' pausing

pause_unseen() {
	idle
	# Stopped by itself before: it stays stopped. A handler of SIGCONT does not run. A sleep is not cut short. A blocked SIGTSTP waits.
	cat >t.py <<'PY'
import os, signal, sys, time
conts = []
signal.signal(signal.SIGCONT, lambda *a: conts.append(1))
child = os.fork()
if not child:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(child, os.WUNTRACED)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
os.kill(os.getpid(), signal.SIGTSTP)
end = time.monotonic() + 1.5
print('ready', flush=True)
n = 0
while time.monotonic() < end:
    n += 1
    pid, st = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
    if pid:
        print('changed', pid, st)
print('conts', len(conts), 'pending', [int(s) for s in signal.sigpending()], flush=True)
os.kill(child, signal.SIGCONT)
print('child', os.waitpid(child, 0)[1])
PY
	v exec -i "$c" sh -c 'cat >/tmp/t.py' <t.py
	n=$(v exec -d "$c" python3 /tmp/t.py)
	soon eval 'v logs "$c:$n" | grep -q ready'
	for i in 1 2 3; do
		v pause "$c" >/dev/null
		sleep 0.1
		v resume "$c" >/dev/null
	done
	is "$(v wait "$c:$n")" 0
	is "$(v logs "$c:$n")" $'ready\nconts 0 pending [20]\nchild 0'
}
check 'a pause is not seen inside @r' pause_unseen

# ---- figures ----

stats() {
	idle
	v exec "$c" sh -c 'head -c 5000000 /dev/zero >/tmp/f; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	v stats --json "$c" >s
	for f in cpu_seconds memory disk inodes tasks processes system_calls files; do
		sed -n "s/.*\"$f\":\([0-9.]*\).*/\1/p" s | awk '{ exit !($1 > 0) }' || { cat s; return 1; }
	done
	[[ $(sed -n 's/.*"disk":\([0-9]*\).*/\1/p' s) -ge 5000000 ]]
	is "$(sed -n 's/.*"processes":\([0-9]*\).*/\1/p' s)" 1
}
check 'stats @r' stats

# ---- terminals ----

check 'a terminal for exec: job control, resize, keys @r' python3 "$E2E_DIR/exec.py" terminal
check 'several terminals at once, and their end @r' python3 "$E2E_DIR/exec.py" several
check 'a terminal whose client is killed @r' python3 "$E2E_DIR/exec.py" killed

# Where no vivd adopts it.
given_away() {
	mkdir run
	XDG_RUNTIME_DIR=$PWD/run python3 "$E2E_DIR/exec.py" warm
}
check 'an idle cell is given away @r' given_away

# ---- the worst ----

keeper_killed() {
	for t in 0 0.02 0.3; do
		c=$(v run -d -- sh -c 'sleep 1000 & (trap "" TERM HUP; while :; do :; done) & wait')
		v exec -d "$c" sh -c 'setsid sleep 1000 & wait' >/dev/null
		"$VIV" exec "$c" sleep 1000 2>err &
		p=$!
		sleep "$t"
		kill -9 "$(keeper_pid)"
		rc=0
		wait "$p" || rc=$?
		is "$rc" 125
		soon alone || { descendants; return 1; }
		soon none_runs
		forget
		soon no_files
	done
}
check 'kill -9 of the keeper ends the whole cell @r' keeper_killed

kernel_killed() {
	idle
	"$VIV" exec "$c" sleep 1001 2>err &
	p=$!
	soon v exec "$c" pgrep -x -f 'sleep 1001' >/dev/null
	v wait "$c" >status &
	sleep 0.2
	kill -9 "$(pgrep -P "$(keeper_pid)" -x viv-kernel)"
	rc=0
	wait "$p" || rc=$?
	is "$rc" 137
	wait
	is "$(cat status)" 137
	soon alone || { descendants; return 1; }
	forget
	soon no_files
}
check 'kill -9 of the kernel is told to everybody @root' kernel_killed

inside_cannot() {
	# What a guest does to all processes it can name does not hurt those that make further ones.
	idle
	v exec "$c" sh -c 'kill -9 -1; true' || true
	soon alone || { descendants; return 1; }
	cell -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
	v exec "$c" sh -c 'i=2; while [ $i -lt 40 ]; do [ $i = 2 ] || [ $i = $$ ] || kill -9 $i 2>/dev/null; i=$((i + 1)); done'
	is "$(v exec "$c" echo still)" still
}
check 'a guest cannot reach what makes further processes @r' inside_cannot

keeper_garbage() {
	idle
	python3 "$E2E_DIR/exec.py" garbage "$XDG_RUNTIME_DIR/vivarium/cells/$c.sock"
	is "$(v exec "$c" echo still)" still
}
check 'nonsense on the socket of a keeper @r' keeper_garbage

other_user() {
	idle
	chmod 755 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR"/vivarium{,/cells}
	chmod 666 "$XDG_RUNTIME_DIR/vivarium/cells/$c.sock"
	# Even who can open the socket is asked who it is.
	is "$(setpriv --reuid 12345 --clear-groups python3 "$E2E_DIR/exec.py" stranger "$XDG_RUNTIME_DIR/vivarium/cells/$c.sock")" closed
	chmod 700 "$XDG_RUNTIME_DIR/vivarium"
}
check 'a keeper does not talk to other users @root' other_user

fds_of() { ls "/proc/$1/fd" 2>/dev/null | wc -l; } # 0: not ours to see
figures() { v stats --json "$c" | sed 's/.*"tasks":\([0-9]*\),.*"files":\([0-9]*\).*/\1 \2/'; }
all_as_before() { is "$(fds_of "$k") $(fds_of "$kernel") $(figures)" "$before" >/dev/null; }
no_growth() {
	idle
	k=$(keeper_pid)
	kernel=$(pgrep -P "$k" -x viv-kernel)
	for i in $(seq 20); do v exec "$c" true; done
	# A keeper sees the end of a client a moment after the client: as it is when nothing changes any more.
	before='' same=0
	settled() {
		local now
		now="$(fds_of "$k") $(fds_of "$kernel") $(figures)"
		[[ $now == "$before" ]] && same=$((same + 1)) || same=0
		before=$now
		((same == 5))
	}
	soon settled
	for i in $(seq 200); do v exec "$c" true; done
	soon all_as_before || is "$(fds_of "$k") $(fds_of "$kernel") $(figures)" "$before"
}
check 'two hundred more leave nothing in keeper and kernel @r' no_growth

v daemon stop
alone() { [[ -z $(descendants) ]]; }
