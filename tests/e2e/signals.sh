# Signals: kinds in one process, and across processes. shellcheck shell=bash

same 'SA_RESTART, siginfo, sigaltstack, setjmp, SIGSEGV handlers @r' bash <<'EOF'
"$P/signal_kinds"; echo $?
EOF
same 'a deep and a broad tree of forks @r' bash <<'EOF'
"$P/fork_tree"
EOF
same 'signals across processes: every default action @r' bash <<'EOF'
for s in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS RTMIN RTMAX; do
	(exec bash -c 'ulimit -c 0; kill -'$s' $$; sleep 0.3') 2>/dev/null; echo "$s $?"
done
for s in CHLD CONT URG WINCH; do bash -c 'kill -'$s' $$; echo survived '$s; done
EOF
same 'stop, continue, wait; a chain of signals between processes @r' python3 <<'EOF'
import os, signal, time
p = os.fork()
if not p:
    while True: signal.pause()
os.kill(p, signal.SIGSTOP); r, s = os.waitpid(p, os.WUNTRACED); print(os.WIFSTOPPED(s), os.WSTOPSIG(s))
os.kill(p, signal.SIGCONT); r, s = os.waitpid(p, os.WCONTINUED); print(os.WIFCONTINUED(s))
os.kill(p, signal.SIGTERM); print(os.WTERMSIG(os.waitpid(p, 0)[1]))
# Ping-pong: 200 signals each way, none lost, because each waits for the other's.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); me = os.getpid(); p = os.fork()
if not p:
    for i in range(200): os.kill(me, signal.SIGUSR1); signal.sigwait([signal.SIGUSR1])
    os._exit(0)
for i in range(200): signal.sigwait([signal.SIGUSR1]); os.kill(p, signal.SIGUSR1)
print(os.waitpid(p, 0)[1])
info = []
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD]); p = os.fork()
if not p: os._exit(3)
i = signal.sigwaitinfo([signal.SIGCHLD]); print(i.si_pid == p, i.si_status, i.si_code); os.waitpid(p, 0)
try: os.kill(999999, 0)
except ProcessLookupError as e: print(e)
EOF

is_stopped() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == T* ]]; }

# Blocked for longer than anybody would look at it, then not.
stops_late() { # VIV_POOL
	VIV_POOL=$1 "$VIV" run -- python3 -c "import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
print('up', flush=True)
while signal.SIGTSTP not in signal.sigpending(): time.sleep(0.01)
time.sleep(2)
print('unblocks', flush=True)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
while True: print('on', flush=True); time.sleep(0.01)" </dev/null >out 2>&1 &
	p=$!
	soon grep -q up out
	kill -TSTP $p
	soon is_stopped $p
	is "$(tail -n 1 out)" unblocks
	kill -CONT $p
	soon grep -q on out
	kill -KILL $p
	wait $p || true
}
check 'SIGTSTP stops viv when the command unblocks it, however late @r' stops_late 0

# It brings in order what it has to and then stops itself by the same signal, as an editor does.
stops_itself() {
	"$VIV" run -- python3 -c "import os, signal, time
def stop(*_):
    print('tidy', flush=True)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    print('again', flush=True)
signal.signal(signal.SIGTSTP, stop)
print('up', flush=True)
while True: time.sleep(0.01)" </dev/null >out 2>&1 &
	p=$!
	soon grep -q up out
	kill -TSTP $p
	soon is_stopped $p
	is "$(tail -n 1 out)" tidy
	kill -CONT $p
	soon grep -q again out
	kill -KILL $p
	wait $p || true
}
check 'SIGTSTP that the command catches stops viv when the command stops itself @r' stops_itself

# SIGCONT takes back a SIGTSTP that has not had its effect.
stop_taken_back() {
	"$VIV" run -- python3 -c "import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
conts = []
signal.signal(signal.SIGCONT, lambda *_: conts.append(1))
print('up', flush=True)
while signal.SIGTSTP not in signal.sigpending(): time.sleep(0.01)
print('pending', flush=True)
while not conts: time.sleep(0.01)
print(signal.sigpending(), flush=True)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
print('end', flush=True)" </dev/null >out 2>&1 &
	p=$!
	soon grep -q up out
	kill -TSTP $p
	soon grep -q pending out
	kill -CONT $p
	wait $p
	is "$(cat out)" $'up\npending\nset()\nend'
}
check 'SIGCONT takes a SIGTSTP back that was not heard yet @r' stop_taken_back

# A signal is blocked for a moment whenever a process is made.
stop_while_forking() {
	local i p
	for i in 1 2 3 4 5 6 7 8; do
		rm -f out
		"$VIV" run -- sh -c 'echo up; while :; do sleep 0.001; done' </dev/null >out 2>&1 &
		p=$!
		soon grep -q up out
		kill -TSTP $p
		soon is_stopped $p
		kill -CONT $p
		kill -KILL $p
		wait $p || true
	done
}
check 'SIGTSTP stops viv with a shell that makes processes all the time @r' stop_while_forking

# One that waits for a child in its memory has everything blocked for as long as that takes: here until somebody opens the FIFO.
stop_after_spawn() {
	local p
	"$VIV" run -- python3 -c "import os, time
os.mkfifo('/tmp/f')
if not os.fork():
    time.sleep(0.3); print('up', flush=True); time.sleep(1.5); open('/tmp/f', 'w')
    os._exit(0)
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, '/tmp/f', os.O_RDONLY, 0)])
time.sleep(100)" </dev/null >out 2>&1 &
	p=$!
	soon grep -q up out
	kill -TSTP $p
	soon is_stopped $p
	kill -KILL $p
	wait $p || true
}
check 'SIGTSTP stops viv with one that was long about making a process @r' stop_after_spawn
