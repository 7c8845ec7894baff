# --trace: calls in the manner of strace, on standard error. shellcheck shell=bash

lines() {
	exits 3 viv --trace -- sh -c 'cat /etc/hostname; exit 3'
	is "$(cat out)" cell 'the output itself is untouched'
	like "$(cat err)" '*openat(*"/etc/hostname"*) = [0-9]*'
	like "$(cat err)" '*execve(*cat*'
	[[ $(grep -cE '^\[[0-9]*\] ([a-z_0-9]*\(|-> )' err) -ge $(($(wc -l <err) - 2)) ]] || { grep -vE '^\[[0-9]*\] ([a-z_0-9]*\(|-> )' err; return 1; }
	# Two processes, two numbers.
	[[ $(cut -d' ' -f1 err | sort -u | wc -l) -ge 2 ]]
}
check 'each call is a line with its process, arguments and result @r' lines

# What a call means is on lines before its own, once for each thing that happens.
shows() { # count, line
	is "$(grep -cE "^\[[0-9]+\] -> $2\$" err)" "$1" "$2"
}
meaning() {
	exits 0 viv --trace -- sh -c 'mkdir /tmp/d; cd /tmp/d; echo x >a; ln -s a l; cat l; mv l ../m; ln a b; rm a; rmdir ../d || rm -r ../d'
	shows 1 'create directory "/tmp/d"'
	shows 1 'create file "/tmp/d/a"'
	shows 2 'open "/tmp/d/a"'
	shows 1 'create symbolic link "/tmp/d/l"'
	shows 1 'rename symbolic link "/tmp/d/l" to "/tmp/m"'
	shows 1 'link file "/tmp/d/a" to "/tmp/d/b"'
	shows 1 'remove file "/tmp/d/a"'
	shows 1 'remove file "/tmp/d/b"'
	# rmdir, which fails, and rm.
	shows 2 'remove directory "/tmp/d"'
	grep -A1 -- '-> rename' err | grep -q 'rename[at2]*(.*"l".*"../m".*) = 0'
	# The program, then what loads it.
	shows 1 'exec "/usr/bin/cat"'
	grep -A1 '> exec "/usr/bin/cat"' err | grep -q '> exec "/.*/ld-linux.*"'
	# A file that two sides open, of which one waits.
	exits 0 viv --trace -- sh -c 'mkfifo /tmp/f; (sleep 0.2; echo x >/tmp/f) & cat /tmp/f'
	shows 2 'open "/tmp/f"'
}
check 'files, names and programs are shown as they were found' meaning

destinations() {
	exits 0 viv --trace -- python3 -c '
import socket as s
l = s.socket(); l.bind(("127.0.0.1", 7000)); l.listen(); c = s.create_connection(("0.0.0.0", 7000))
u = s.socket(s.AF_INET6, s.SOCK_DGRAM); u.sendto(b"x", ("::1", 53)); u.connect(("::1", 54)); u.close()
try: s.create_connection(("192.0.2.1", 443))
except OSError: pass
l = s.socket(s.AF_UNIX); l.bind("/tmp/s"); l.listen(); s.socket(s.AF_UNIX).connect("/dev/../tmp/s")
l = s.socket(s.AF_UNIX); l.bind(b"\0a\x1b"); l.listen(); s.socket(s.AF_UNIX).connect(b"\0a\x1b")'
	shows 1 'bind to tcp 127.0.0.1:7000'
	shows 1 'connect to tcp 127.0.0.1:7000'
	shows 1 'send to udp \[::1\]:53'
	shows 1 'connect to udp \[::1\]:54'
	shows 1 'connect to tcp 192.0.2.1:443'
	shows 1 'create socket "/tmp/s"'
	shows 1 'connect to unix "/tmp/s"'
	shows 1 'bind to unix @"a\\33"'
	shows 1 'connect to unix @"a\\33"'
}
check 'destinations are shown' destinations

errors_shown() {
	try viv --trace -- cat /no/such
	like "$(cat err)" '*openat(*"/no/such"*) = -1 ENOENT*'
	is "$rc" 1
}
check 'errors are shown by name @r' errors_shown

interrupted() {
	exits 0 viv --trace -- bash -c 'trap "exit 0" USR1; me=$$; { while [ "$n" != xxx ]; do sleep 0.1; [[ $(</proc/$me/stat) == *") S "* ]] && n+=x || n=; done; kill -USR1 $me; } & read -r x < <(sleep 100)'
	like "$(cat err)" '*] read(*) = ? ERESTARTSYS*'
	exits 0 viv --trace -- python3 -c 'import os, threading, time; r = os.pipe()[0]; threading.Thread(target=os.read, args=(r, 77), daemon=True).start(); time.sleep(1.5); os._exit(0)'
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
	fails grep -q $'\x1b' <(grep openat err)
	try viv -- $'/nowhere\x1b[2J'
	fails grep -q $'\x1b' err
	is "$rc" 127
}
check 'no escape sequence of a guest reaches the terminal @r' hostile_text

slow_reader() {
	# A trace that nobody reads does not stop the cell.
	mkfifo p
	sleep 150 <p &
	s=$!
	exec 9>p
	exits 0 bash -c 'timeout 120 "$0" run --trace -- sh -c "for i in \$(seq 2000); do : </dev/null; done; echo done" 2>&9' "$VIV"
	is "$(cat out)" done
	kill $s
}
check 'a trace that nobody reads stops nothing' slow_reader

without() {
	exits 0 viv -- ls /
	is "$(cat err)" ''
}
check 'no trace when it is not asked for @r' without
