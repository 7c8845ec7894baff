# --trace: calls in the manner of strace, on standard error. shellcheck shell=bash

lines() {
	exits 3 viv --trace -- sh -c 'cat /etc/hostname; exit 3'
	is "$(cat out)" cell 'the output itself is untouched'
	like "$(cat err)" '*openat(*"/etc/hostname"*) = [0-9]*'
	like "$(cat err)" '*execve(*cat*'
	[[ $(grep -c '^\[[0-9]*\] [a-z_0-9]*(.*' err) -ge $(($(wc -l <err) - 2)) ]] || { grep -v '^\[[0-9]*\] [a-z_0-9]*(' err; return 1; }
	# Two processes, two numbers.
	[[ $(cut -d' ' -f1 err | sort -u | wc -l) -ge 2 ]]
}
check 'each call is a line with its process, arguments and result @r' lines

errors_shown() {
	try viv --trace -- cat /no/such
	like "$(cat err)" '*openat(*"/no/such"*) = -1 ENOENT*'
	is "$rc" 1
}
check 'errors are shown by name @r' errors_shown

interrupted() {
	exits 0 viv --trace -- bash -c 'trap "exit 0" USR1; (sleep 0.3; kill -USR1 $$) & read -r x < <(sleep 20)'
	like "$(cat err)" '*] read(*) = ? ERESTARTSYS*'
	exits 0 viv --trace -- python3 -c 'import os, threading, time; r = os.pipe()[0]; threading.Thread(target=os.read, args=(r, 77), daemon=True).start(); time.sleep(0.3); os._exit(0)'
	like "$(cat err)" '*] read(*, 77) = \?*'
}
check 'a call that a signal or the end of its thread cuts short is shown' interrupted

unimplemented() {
	exits 0 viv --trace -- python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.syscall(425, 1, 0), ctypes.get_errno())'
	is "$(cat out)" '-1 38'
	exits 0 viv --trace -- python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.syscall(180, 1, 0), ctypes.get_errno())'
	like "$(cat err)" '*ENOSYS*'
}
check 'a call that is not there says ENOSYS, also in the trace' unimplemented

hostile_text() {
	# What a guest names can steer no terminal.
	try viv --trace -- cat $'/tmp/\x1b]0;title\x07\x1b[2J'
	! grep -q $'\x1b' <(grep openat err)
	try viv -- $'/nowhere\x1b[2J'
	! grep -q $'\x1b' err
	is "$rc" 127
}
check 'no escape sequence of a guest reaches the terminal @r' hostile_text

slow_reader() {
	# A trace that nobody reads does not stop the cell.
	mkfifo p
	sleep 20 <p &
	s=$!
	exec 9>p
	exits 0 bash -c 'timeout 20 "$0" run --trace -- sh -c "for i in \$(seq 2000); do : </dev/null; done; echo done" 2>&9' "$VIV"
	is "$(cat out)" done
	kill $s
}
check 'a trace that nobody reads stops nothing' slow_reader

without() {
	exits 0 viv -- ls /
	is "$(cat err)" ''
}
check 'no trace when it is not asked for @r' without
