# The caller's streams are the command's: bytes, ends, back-pressure, terminals. shellcheck shell=bash

random_through() { # how many MB
	head -c "$1M" /dev/urandom >in
	want=$(md5sum <in)
	is "$(viv -- cat <in | md5sum)" "$want" 'file to pipe'
	# shellcheck disable=SC2002
	is "$(cat in | viv -- cat | md5sum)" "$want" 'pipe to pipe'
	viv -- cat <in >out
	is "$(md5sum <out)" "$want" 'file to file'
	cat in | viv -- sh -c 'cat | cat | cat' >out
	is "$(md5sum <out)" "$want" 'pipes inside'
}
check '50 MB of random bytes, unchanged' random_through 50
check '5 MB of random bytes, unchanged @r' random_through 5

ends() {
	is "$(printf 'no newline' | viv -- cat)" 'no newline'
	is "$(printf '' | viv -- wc -c)" 0
	is "$(viv -- wc -c </dev/null)" 0
	is "$(printf 'a\0b' | viv -- od -An -c | tr -d ' \n')" 'a\0b'
	# The end is seen while a writer of another pipe lives on.
	is "$({ echo first; sleep 0.3; echo second; } | viv -- sh -c 'read a; echo "<$a>"; read b; echo "<$b>"; read c || echo end')" $'<first>\n<second>\nend'
}
check 'ends of input @r' ends

two_streams() {
	exits 3 viv -- sh -c 'echo out; echo err >&2; echo out2; exit 3'
	is "$(cat out)" $'out\nout2'
	is "$(cat err)" err
	is "$(viv -- sh -c 'for i in 1 2 3; do echo o$i; echo e$i >&2; done' 2>&1 | tr '\n' ' ')" 'o1 e1 o2 e2 o3 e3 ' 'one pipe for both keeps the order'
	viv -- sh -c 'echo a; echo b >&2; echo c' >both 2>&1
	is "$(tr '\n' ' ' <both)" 'a b c ' 'one file for both'
	echo before >log
	viv -- sh -c 'echo appended' >>log
	is "$(cat log)" $'before\nappended'
}
check 'stdout and stderr are separate @r' two_streams

back_pressure() {
	mkfifo slow
	(exec 3<slow; soon test -e go; head -c 1000 <&3 >/dev/null; sleep 0.2; cat <&3 >/dev/null) &
	# Were the writer not held back, the marker would come at once.
	viv -- sh -c 'head -c 1000000 /dev/zero; date +%s%N >&2' >slow 2>ended &
	v=$!
	sleep 0.4
	[[ ! -s ended ]] || { echo 'the writer was not held back'; return 1; }
	: >go
	wait $v
	[[ -s ended ]]
	wait
	# A reader that goes away: SIGPIPE inside, as anywhere.
	is "$(viv -- yes | head -n 2)" $'y\ny'
	viv -- sh -c 'yes; echo "yes $?" >&2' 2>err | head -n 1 >/dev/null
	is "$(cat err)" 'yes 141'
}
check 'back-pressure and readers that leave @r' back_pressure

closed() {
	is "$(viv -- sh -c 'cat; echo done' <&-)" done 'closed stdin'
	exits 0 bash -c '"$0" run -- sh -c "echo lost; exit 0" >&-' "$VIV"
	exits 0 bash -c '"$0" run -- sh -c "echo lost >&2; exit 0" 2>&-' "$VIV"
	exits 5 bash -c '"$0" run -- sh -c "exit 5" <&- >&- 2>&-' "$VIV"
	is "$(viv -- sh -c 'echo x >/dev/full || echo full' 2>/dev/null)" full
	rc=0
	viv -- echo x >/dev/full 2>err || rc=$?
	is "$rc" 1 'writing to a full device'
	like "$(cat err)" '*No space left on device*'
	echo file >f
	is "$(viv -- sh -c 'cat; echo more >&0 2>/dev/null || echo readonly' <f)" $'file\nreadonly'
	# Seeking on the caller's file, and where it is afterwards.
	seq 10 >n
	{ viv -- head -n 2 >/dev/null; cat; } <n >rest
	is "$(cat rest)" "$({ head -n 2 >/dev/null; cat; } <n)" 'offset is shared'
}
check 'closed streams, full devices, shared offsets @r' closed

# Pipes belong to whoever made them, and the caller's streams to the user of the cell: both can be opened by their names.
by_name() {
	is "$(viv --user agent -- bash -c 'diff <(echo a) <(echo b)' | tr '\n' ' ')" '1c1 < a --- > b ' 'process substitution'
	is "$(echo in | viv --user agent -- bash -c 'cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr; echo tee | tee /proc/self/fd/1' 2>&1 | tr '\n' ' ')" 'in out err tee tee '
	is "$(: | viv --user agent -- sh -c 'chmod 640 /dev/stdin; stat -Lc "%a %U" /dev/stdin')" '640 agent'
	is "$(: | viv -- sh -c 'chown agent /dev/stdin; chmod 604 /dev/stdin; stat -Lc "%a %U" /dev/stdin')" '604 agent'
}
check 'streams and pipes are opened by their names @r' by_name

nonblocking_stays() {
	# viv must not leave O_NONBLOCK on a pipe that it shares with others.
	is "$({ viv -- true; python3 -c 'import fcntl, os; print(bool(fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK), bool(fcntl.fcntl(2, fcntl.F_GETFL) & os.O_NONBLOCK))'; } < <(sleep 0.5) 2> >(cat))" 'False False'
}
check 'no O_NONBLOCK is left on shared streams @r' nonblocking_stays

interactive_pair() {
	coproc C { viv -- python3 -uc 'import sys
for l in sys.stdin: print("got", l.strip())'; }
	pid=$C_PID
	for i in 1 2 3 4 5; do
		echo "line $i" >&"${C[1]}"
		read -r -t 120 answer <&"${C[0]}"
		is "$answer" "got line $i"
	done
	eval "exec ${C[1]}>&-"
	wait "$pid"
}
check 'a conversation through pipes @r' interactive_pair

# ---- terminals ----

tty_check() { PYTHONPATH=$E2E_DIR timeout 600 python3 -B -c "from terminal import *
$1"; }

check 'terminal: isatty, size, TERM @r' tty_check '
t = Terminal([VIV, "run", "--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo all; stty size; echo $TERM; tty"], 33, 111)
t.expect("all"); t.expect("33 111"); t.expect("xterm"); assert t.wait() == 0, t.out'

check 'terminal: a new size arrives, with SIGWINCH @r' tty_check '
t = Terminal([VIV, "run", "--", "bash", "-c", "trap \"stty size; exit 0\" WINCH; echo ready; while :; do sleep 0.1; done"])
t.expect("ready"); t.resize(50, 132); t.expect("50 132"); assert t.wait() == 0'

check 'terminal: raw mode, and restored at the end @r' tty_check '
t = Terminal([VIV, "run", "--", "sh", "-c", "stty raw -echo; echo ready; dd bs=1 count=3 2>/dev/null | od -An -c; exit 7"])
t.expect("ready"); assert t.is_raw(); t.type("a\x03b"); t.expect("a 003   b"); assert t.wait() == 7'

check 'terminal: restored when the command is killed in raw mode @r' tty_check '
t = Terminal([VIV, "run", "--", "sh", "-c", "stty raw -echo; echo ready; kill -9 $$"])
t.expect("ready"); assert t.wait() == 137'

check 'terminal: restored when viv is slower than the command' tty_check '
t = Terminal(["strace", "-o", "calls", "-e", "trace=epoll_ctl", "-e", "inject=epoll_ctl:delay_enter=200000", VIV, "run", "--", "stty", "raw", "-echo"])
assert t.wait() == 0, t.out'

check 'terminal: restored on a timeout and on SIGTERM' tty_check '
t = Terminal([VIV, "run", "--timeout", "5s", "--", "sh", "-c", "stty raw -echo; sleep 100"])
t.soon(t.is_raw); assert t.wait() == 124
t = Terminal([VIV, "run", "--", "sh", "-c", "stty raw -echo; exec sleep 100"])
t.soon(t.is_raw); time.sleep(0.2); os.kill(t.pid, signal.SIGTERM); assert t.wait() == 143'

check 'terminal: Ctrl-C reaches the command @r' tty_check '
t = Terminal([VIV, "run", "--", "sh", "-c", "echo up; exec sleep 100"]); t.expect("up"); t.type("\x03"); assert t.wait() == 130
t = Terminal([VIV, "run", "--", "bash", "-c", "trap \"echo caught; exit 9\" INT; echo ready; while :; do sleep 0.1; done"])
t.expect("ready"); t.type("\x03"); t.expect("caught"); assert t.wait() == 9
t = Terminal([VIV, "run", "--", "sh", "-c", "echo up; exec sleep 100"]); t.expect("up"); t.type("\x1c"); assert t.wait() == 131'

check 'terminal: a shell is used by hand @r' tty_check '
t = Terminal([VIV, "run", "--env", "PS1=P> ", "--env", "TERM=dumb", "--", "bash", "--norc", "-i"])
def do(line, answer): t.expect("P> "); t.type(line); t.expect(answer)
do("echo $((6*7))\r", "\n42"); t.expect("P> "); t.type("sh -c \"echo beg\"\"un; exec sleep 100\"\r"); t.expect("begun"); t.type("\x03"); do("echo rc=$?\r", "\nrc=130")
do("echo abc\x7fd\r", "\nabd"); do("sh -c \"echo beg\"\"un; exec cat\"\r", "begun"); t.type("typed\r"); t.expect("typed\r\ntyped\r\n"); t.type("\x04"); do("ls /nowhere\r", "No such file"); do("exit 4\r", "exit"); assert t.wait() == 4, t.out'

check 'terminal: python and its line editor @r' tty_check '
t = Terminal([VIV, "run", "--", "python3", "-q"]); t.expect(">>> "); t.type("print(6*7)\r"); t.expect("\n42"); t.expect(">>> "); t.type("import time; print(\"sl\" + \"eeps\"); time.sleep(50)\r"); t.expect("sleeps"); t.type("\x03"); t.expect("KeyboardInterrupt"); t.expect(">>> "); time.sleep(0.1); t.type("\x04"); status = t.wait(); assert status == 130, status  # Python ends itself with SIGINT after one at the prompt'

check 'terminal: end of input by Ctrl-D, canonical editing @r' tty_check '
t = Terminal([VIV, "run", "--", "cat"]); t.type("hello wrld\x7f\x7f\x7forld\r"); t.expect("\nhello world"); t.type("\x04"); assert t.wait() == 0'

check 'terminal: Ctrl-Z stops viv with the cell, fg goes on' tty_check '
t = Terminal(["bash", "--norc", "-i"], env=dict(os.environ, PS1="P> ", TERM="dumb")); t.expect("P> "); t.type(VIV + " run -- sh -c \"echo up; read x; echo got-\\$x\"\r"); t.expect("\nup"); time.sleep(0.2); t.type("\x1a"); t.expect("Stopped"); t.expect("P> "); t.type("echo here\r"); t.expect("\nhere"); t.expect("P> "); t.type("fg\r"); time.sleep(0.5); t.type("word\r"); t.expect("\ngot-word"); t.expect("P> "); t.type("exit 3\r"); assert t.wait() == 3'

mixed() {
	tty_check '
t = Terminal(["sh", "-c", "echo piped | \"$0\" run -- sh -c \"cat; test -t 0 || echo not-in; test -t 1 && echo out-tty\"", VIV])
t.expect("piped"); t.expect("not-in"); t.expect("out-tty"); assert t.wait() == 0
t = Terminal(["sh", "-c", "\"$0\" run -- sh -c \"test -t 0 && echo in-tty; test -t 1 || echo not-out\" | cat", VIV])
t.expect("in-tty"); t.expect("not-out"); assert t.wait() == 0'
}
check 'terminal: only some of the streams are one @r' mixed
