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

# A signal is blocked for a moment whenever a process is made.
stop_while_forking() {
	local i p
	for i in 1 2 3 4 5 6 7 8; do
		rm -f out
		"$VIV" run -- sh -c 'echo up; while :; do sleep 0.001; done' </dev/null >out 2>&1 &
		p=$!
		soon grep -q up out
		kill -TSTP $p
		soon eval "[[ \$(sed 's/.*) //' /proc/$p/stat) == T* ]]" || { kill -KILL $p; return 1; }
		kill -CONT $p
		kill -KILL $p
		wait $p || true
	done
}
check 'SIGTSTP stops viv with a shell that makes processes all the time @r' stop_while_forking

# One that waits for a child in its memory has everything blocked for as long as that takes: here until somebody opens the FIFO.
stop_after_spawn() {
	local p ok
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
	soon eval "[[ \$(sed 's/.*) //' /proc/$p/stat) == T* ]]"
	ok=$?
	kill -KILL $p
	wait $p || true
	return $ok
}
check 'SIGTSTP stops viv with one that was long about making a process @r' stop_after_spawn
