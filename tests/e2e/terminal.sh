# Programs in a cell at a real terminal of the host: tmux types the keys and looks at the screen. shellcheck shell=bash

# A terminal of 80 x 24 that runs a command line and then shows its status. (tmux itself is not a reliable witness
# of an end: it misses SIGCHLD at times.)
term() { # command line
	export TMUX_TMPDIR=$PWD
	at_end 'tmux -L t kill-server 2>/dev/null; soon gone'
	tmux -L t -f /dev/null new-session -d -x 80 -y 24 "trap : INT QUIT TSTP; $1; echo \"ended: \$?.\"; sleep 100"
	server=$(tmux -L t display-message -p '#{pid}')
}
cell() { # arguments of viv run
	term "$VIV run --env TERM=screen $*"
}
gone() { ! kill -0 "$server" 2>/dev/null; }
keys() { tmux -L t send-keys "$@"; }
line() { # text: typed, and Enter
	keys -l "$1"
	keys Enter
}
screen() { tmux -L t capture-pane -p; }
shown() { screen | grep -qF -- "$1"; }
unseen() { ! shown "$1"; }
sees() { # text: it appears on the screen
	soon shown "$1" >/dev/null && return 0
	echo "not on the screen: $1"
	screen
	return 1
}
ends() { sees "ended: $1."; } # status
lists() { # text: until it is in the shell's list of jobs
	line "jobs; echo li''sted"
	sees 'listed'
	shown "$1" && return 0
	line 'clear'
	return 1
}

# A key that a terminal makes a signal of goes to whoever is in the foreground at that moment, and Enter is a new line only when the shell
# does not read. So the jobs say when they are in the foreground. They use fork and not vfork, by ( ): a child that is stopped between vfork
# and exec keeps its parent from stopping, on Linux too.
the_jobs() {
	cat >m/job <<-'EOF'
	#!/bin/sh
	was=back front=0
	while :; do
		case $(ps -o stat= -p $$) in
		*+*) now=front ;;
		*) now=back ;;
		esac
		[ $now = $was ] || [ $now = back ] || echo "front $((front += 1))"
		was=$now
		(sleep 0.02)
	done
	EOF
	cat >m/reader <<-'EOF'
	#!/bin/sh
	trap 'echo continued' CONT
	exec 3<&0
	cat <&3 &
	wait
	wait
	EOF
	chmod +x m/job m/reader
}

job_control() { # how to start the shell
	mkdir m
	the_jobs
	cell --mount "$PWD/m:/m" "$@"
	sees 'P>'
	line '/m/job'
	sees 'front 1'
	keys C-z
	sees 'Stopped'
	keys C-z # at the prompt it means nothing
	line 'bg'
	sees '/m/job &'
	line 'jobs; echo state: $?'
	sees 'Running'
	line 'fg'
	sees 'front 2'
	keys C-c
	line 'echo status $?'
	sees 'status 130'
	line 'clear; /m/reader &'
	soon lists 'Stopped'
	line 'clear; fg'
	sees 'continued'
	line 'to the cat'
	soon eval '[[ $(screen | grep -c "to the cat") == 2 ]]' # echo and answer
	keys C-d
	# Each step starts with an empty screen and waits for what the typed line itself does not show.
	line "clear; stty tostop; (echo la''te) &"
	soon lists 'Stopped'
	line "clear; fg; stty -tostop; echo be''fore"
	sees 'late'
	sees 'before'
	line "clear; sh -c 'echo be\"\"gun; exec cat /dev/tty'"
	sees 'begun'
	keys C-\\
	sees 'Quit'
	line 'exit 7'
	ends 7
}
shell_prompt='bash --norc --noprofile -i'
check 'bash with job control' job_control "--env PS1='P> ' -- $shell_prompt"
check 'bash with job control in a pty of the cell' job_control \
	"--env PS1='P> ' -- /usr/bin/python3 -c 'import os,pty; os._exit(os.waitstatus_to_exitcode(pty.spawn(\"$shell_prompt\".split())))'"

stops_viv() {
	term 'bash --norc --noprofile -i'
	line "$VIV run -- sh -c 'trap \"echo o\\n again\" CONT; echo be\"\"gun; while :; do sleep 0.1; done'"
	sees 'begun'
	keys C-z
	sees 'Stopped'
	line 'stty -a | grep -c icanon; fg'
	sees 'on again' # it was in the foreground before it was continued
	keys C-c
	line 'echo status $?'
	sees 'status 130'
}
check 'Ctrl-Z of a command that is no shell stops viv itself' stops_viv

edit() {
	mkdir m
	cell --mount "$PWD/m:/m" -- vim -u NONE -N /m/text
	sees '~'
	keys i
	line 'one line'
	keys -l 'another'
	keys Escape
	line ':s/an/the /'
	line ':wq'
	ends 0
	is "$(cat m/text)" "one line"$'\n'"the other"
}
check 'vim: insert, change, save' edit

page() {
	mkdir m && seq 1 1000 >m/numbers
	cell --mount "$PWD/m:/m" -- less /m/numbers
	sees 23
	keys Space
	sees 46
	keys G
	sees 1000
	keys g
	line '/^500$'
	sees 500
	line '!echo from the shell'
	sees 'from the shell'
	keys Enter
	keys q
	ends 0
}
check 'less: pages, search, shell' page

watch_top() {
	cell -- top -d 0.3
	sees 'Tasks:'
	sees 'top'
	tmux -L t resize-window -x 60 -y 15
	sees 'SHR S  %CPU'
	keys q
	ends 0
}
check 'top' watch_top

repl() {
	cell -- /usr/bin/python3 -q
	sees '>>>'
	line 'for i in range(3): print("n", i)'
	keys Enter
	sees 'n 2'
	line 'import time; print("sl" + "eeps"); time.sleep(100)'
	sees 'sleeps'
	keys C-c
	sees 'KeyboardInterrupt'
	keys Up Up Enter Enter # history by readline
	line 'import sys; sys.stdin.isatty(), 6 * 7'
	sees '(True, 42)'
	keys C-d
	ends 0
}
check 'python: REPL' repl

settings() {
	cell -- bash -c "'stty -a | head -n 1; stty size; tty; ls -l /dev/tty /dev/ptmx; ps -o tty= -p \$\$'"
	sees 'rows 24; columns 80'
	sees '24 80'
	sees '/dev/console'
	sees 'console'
	ends 0
}
check 'stty, tty and ps show the terminal' settings

resize() {
	cell -- bash -c "'trap \"stty size\" WINCH; echo begin; while :; do sleep 0.1; done'"
	sees begin
	tmux -L t resize-window -x 101 -y 33
	sees '33 101'
	keys C-c
	ends 130
}
check 'a resized window is told' resize

restores() {
	term 'bash --norc --noprofile -i'
	line "$VIV run --env TERM=screen -- bash -c 'stty raw -echo; kill -9 \$\$'; echo ended \$?"
	sees 'ended 137'
	line 'stty -a | grep -c -e -icanon -e -echo.; true'
	sees 'grep -c'
	line 'echo "see""n"'
	sees 'seen'
}
check 'the terminal is as before when a cell that changed it is killed' restores

flags() {
	cell -it -- tty
	sees '/dev/console'
	ends 0
	exits 125 "$VIV" run -it -- true
	like "$(cat err)" '*no terminal*'
	is "$("$VIV" run -i -- cat <<<input)" input
	is "$("$VIV" run --interactive -- tty || true)" 'not a tty'
}
check '-i, -t and -it' flags

# A terminal in a terminal in a terminal. The news of another size takes its time through all of them.
inner_is_narrow() {
	line "clear; stty size; echo sh''own"
	sees 'shown'
	shown ' 70'
}
inner_tmux() {
	cell --env TMUX= --env PS1="'P> '" --env HOME=/root --env SHELL=/bin/sh -- tmux -f /dev/null new-session -s inner
	sees '[inner]'
	line 'echo si""x $((6 * 7))'
	sees 'six 42'
	keys C-b '"'
	line 'stty size; echo lower'
	sees '11 80'
	tmux -L t resize-window -x 70 -y 20
	soon inner_is_narrow >/dev/null
	line 'exit'
	# For tmux, keys that come less than a millisecond apart are pasted and mean no command (assume-paste-time), on any kernel.
	soon unseen ' 70'
	keys C-b d
	sees 'detached'
	ends 0
}
check 'tmux in the cell, on the terminal' inner_tmux

# viv run at a terminal, and a terminal of the cell's own.
no_key_lost() {
	python3 "$E2E_DIR/keys.py" "$VIV" run --
	python3 "$E2E_DIR/keys.py" "$VIV" run -- /usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])'
}
check 'no key is lost while a program changes modes @r' no_key_lost

# ---- programs that make terminals themselves ----

recorded() {
	mkdir m
	cell --mount "$PWD/m:/m" -- script -qe -c "'tty; stty size; exit 3'" /m/record
	ends 3
	grep -q /dev/pts/ m/record
	grep -q '24 80' m/record
}
check 'script' recorded

inner_tmux() {
	cell -- tmux -f /dev/null new "'bash --norc'"
	sees '[0]'
	line 'echo "wind""ow" one; tty'
	sees 'window one'
	sees '/dev/pts/'
	keys C-b c
	sees '1:'
	line 'exit'
	sees 'window one'
	keys C-b %
	line 'echo spl""it; sleep 100'
	sees split
	keys C-c
	line 'exit'
	# What is typed before the pane is closed goes with it.
	soon unseen split
	line 'exit'
	ends 0
}
check 'tmux in the cell' inner_tmux

same 'ptys of python: pty.fork, pty.spawn, pexpect-like talk' /usr/bin/python3 <<'PY'
import os, pty, select, termios, tty, time
def talk(fd, text, want):
    os.write(fd, text); out = b''; end = time.time() + 60
    while want not in out and time.time() < end:
        if select.select([fd], [], [], 1)[0]: out += os.read(fd, 1000)
    return want in out
pid, fd = pty.fork()
if pid == 0: os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
print(talk(fd, b'PS1=; echo $((6*7))\n', b'42\r\n'), talk(fd, b'sh -c "echo be""gun; exec sleep 50"\n', b'begun'))
print(talk(fd, b'\x03', b'^C'), talk(fd, b'echo $?\n', b'130\r\n'))
print(talk(fd, b'sh -c "echo be""gun; exec cat"\n', b'begun'), talk(fd, b'x\n', b'x\r\nx\r\n'), talk(fd, b'\x04', b'')); os.write(fd, b'exit 5\n')
out = b''
try:
    while True: out += os.read(fd, 1000)
except OSError as e: print(e.strerror)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
m, s = os.openpty(); print(os.isatty(s), os.isatty(m), os.ttyname(s).startswith('/dev/pts/')); tty.setraw(s)
os.write(m, b'\x03\n'); print(os.read(s, 10)); os.write(s, b'a\n'); print(os.read(m, 10))
termios.tcsetwinsize(s, (10, 20)); print(os.get_terminal_size(m)); os.close(m); print(os.read(s, 1))
PY
