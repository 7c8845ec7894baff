# The warm pool of vivd: viv run and the API take idle cells, and nobody can tell. shellcheck shell=bash

pool_vivd() {
	own_vivd
	v daemon start
}
metric() { api /metrics | sed -n "s/^vivarium_$1 //p"; }
waits() { (($(metric pool_cells) >= 1 && $(metric pool_booting) == 0)); }
none_waits() { [[ $(metric pool_cells) == 0 && $(metric pool_booting) == 0 ]]; }
# A cell waits; asked for by a run that finds none.
warm() { # viv run's options...
	v run "$@" -- true </dev/null >/dev/null 2>&1 || true
	soon waits
}
keepers() { descendants | awk '$2 == "viv-keeper" { print $1 }'; }
no_keeper() { [[ -z $(keepers) ]]; }
is_stopped() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == T* ]]; }
# The same outputs and status from a cell of the pool and from one of viv's own; input: the file in, if it is there.
both() {
	local in=/dev/null given rc1=0 rc2=0
	[[ ! -e in ]] || in=in
	VIV_POOL=0 timeout -k 5 180 "$VIV" run "$@" <"$in" >out1 2>err1 || rc1=$?
	soon waits
	given=$(metric pool_given_total)
	timeout -k 5 180 "$VIV" run "$@" <"$in" >out2 2>err2 || rc2=$?
	is "$(metric pool_given_total)" $((given + 1)) "taken from the pool: $*"
	is "$rc2" "$rc1" "status: $*"
	cmp out1 out2
	cmp err1 err2
}
# Not for the pool: viv starts a cell of its own.
cold() {
	local given
	soon waits
	given=$(metric pool_given_total)
	timeout -k 5 180 "$VIV" run "$@" </dev/null >out 2>err
	is "$(metric pool_given_total)" "$given" "not taken from the pool: $*"
}

# A cell of the pool that a run has taken is in the list, and others can use it.
taken_is_listed() {
	pool_vivd
	warm
	local given c
	given=$(metric pool_given_total)
	"$VIV" run -- sh -c 'echo up; exec sleep 1000' </dev/null >up 2>/dev/null &
	soon test -s up
	is "$(metric pool_given_total)" $((given + 1))
	listed() { c=$(v ps -q) && [[ $c ]]; }
	soon listed
	like "$(v ps | tail -n 1)" "$c *(foreground)*running*sh -c echo up*"
	is "$(v exec "$c" cat /proc/2/comm)" sleep
	v stop -t 0 "$c" >/dev/null
	rc=0
	wait $! || rc=$?
	is "$rc" 137
	soon eval '[[ -z $(find run/vivarium/cells -name "*.sock") ]]'
}
check 'a cell of the pool that was taken is listed @r' taken_is_listed

alike() {
	pool_vivd
	warm
	both -- true
	both -- sh -c 'exit 3'
	both -- sh -c 'kill -TERM $$'
	both -- nosuch
	both -- /etc/hostname
	both --workdir /nowhere -- true
	both -- sh -c 'echo out; echo err >&2; pwd; id; hostname; umask; ulimit -a; ls /'
	both -- env
	both --env A=1 --env 'B=x y' --workdir /tmp -- sh -c 'env; pwd'
	both --user agent -- sh -c 'id; env; touch /root/x'
	both --user 77:88 -- sh -c 'id; env'
	both --entrypoint /bin/echo -- one two
	both --timeout 200ms -- sleep 10
	both --timeout 20s -- true
	both --timeout 4s --stop-signal USR1 -- sh -c 'trap "echo usr1; exit 9" USR1; sleep 100 & wait'
	both --quiet --timeout 4s -- sh -c 'trap "echo term; exit 9" TERM; sleep 100 & wait'
	both -- ps -o pid,ppid,pgid,sid,tty,args
	both -- sh -c 'cat /proc/self/mounts /proc/self/cgroup; ls -l /proc/self/fd | wc -l'
}
check 'a cell of the pool is like one of its own @r' alike

limited() {
	pool_vivd
	warm
	shown='nproc; grep MemTotal /proc/meminfo; cat /sys/fs/cgroup/*.max; bash -c "ulimit -a"; df -k / /dev/shm | awk "{ print \$2 }"; grep Cpus_allowed: /proc/self/status'
	both --memory 64M -- sh -c "$shown"
	both --cpus 1 -- sh -c "$shown"
	both --cpus 0.5 -- sh -c "$shown"
	both --quiet --cpus 0.5 --memory 200M --pids 30 --env A=b --user agent -- sh -c "$shown; id; env"
	both --pids 12 -- python3 -c 'import os, time
n = 0
try:
    while True:
        if not os.fork(): time.sleep(100)
        n += 1
except OSError as e: print(e.errno, n, flush=True)
os._exit(0)'
	# Without --quiet a number of a process is told, which differs.
	both --quiet --memory 100M -- sh -c 'python3 -c "x = bytearray(300 << 20)" 2>/dev/null; echo $?'
	both --memory 400M -- python3 -c 'x = bytearray(100 << 20)'
	both --memory 100M -- sh -c 'head -c 90000000 /dev/zero >/dev/shm/x 2>/dev/null; echo $?'
	both --cpus 2000 -- true
	both --pids 5000 -- cat /sys/fs/cgroup/pids.max
}
check 'a cell of the pool has limits as one of its own has them @r' limited

falls_back() {
	pool_vivd
	warm
	mkdir dir
	cold --disk-size 64M -- true
	cold --disk-inodes 5000 --memory 64M -- true
	cold --mount "$PWD/dir:/mnt" -- true
	cold --tmpfs /mnt -- true
	cold --hostname other -- hostname
	is "$(cat out)" other
	cold --changes -- touch /x
	cold --trace -- true
	cold --fast off -- true
	cold --name n -- true
	VIV_POOL=0 cold -- true
	(ulimit -t 100 && cold -- true)
	nice -n 5 true 2>/dev/null && cold_nice
	script -qec "$VIV run -- test -t 1" /dev/null </dev/null >out
	v daemon stop
	v run -- echo without >out
	is "$(cat out)" without
}
cold_nice() {
	local given
	soon waits
	given=$(metric pool_given_total)
	nice -n 5 "$VIV" run -- true
	is "$(metric pool_given_total)" "$given" 'another priority'
}
check 'what the pool cannot give starts by itself @r' falls_back

streams() {
	pool_vivd
	warm
	printf 'one\ntwo\nthree\n' >in
	both -- cat
	both -- head -n 1
	# Not a byte more than the command takes.
	soon waits
	printf 'one\ntwo\n' | { v run -- sh -c 'read x; echo "$x"'; cat; } >out
	is "$(cat out)" $'one\ntwo'
	soon waits
	head -c 5000000 /dev/urandom >in
	both -- cat
	soon waits
	(v run -- sh -c 'echo x >&2' 2>&1 >/dev/null) >out
	is "$(cat out)" x
	# Closed ones.
	soon waits
	is "$(v run -- sh -c 'cat; echo done' <&-)" 'done'
	# A reader that goes.
	soon waits
	v run -- yes </dev/null | head -n 1 >out
	is "$(cat out)" y
}
check 'streams are the caller'"'"'s own @r' streams

signals() {
	pool_vivd
	warm
	# Each begins without the file: what the one before it wrote is there until the new shell empties it.
	"$VIV" run -- sh -c 'trap "echo usr1; exit 7" USR1; echo up; sleep 30 & wait' </dev/null >out 2>&1 &
	pid=$!
	soon grep -q up out
	kill -USR1 $pid
	rc=0
	wait $pid || rc=$?
	is "$rc" 7
	like "$(cat out)" '*usr1'
	soon waits
	rm -f out
	"$VIV" run -- sh -c 'echo up; while :; do sleep 0.05; echo x; done' </dev/null >out 2>&1 &
	pid=$!
	soon grep -q up out
	kill -TSTP $pid
	# The command stops before viv does.
	soon is_stopped $pid
	size=$(wc -c <out)
	sleep 0.2
	is "$(wc -c <out)" "$size" 'stopped with viv'
	kill -CONT $pid
	grows() { (($(wc -c <out) > size)); }
	soon grows
	kill -INT $pid
	rc=0
	wait $pid || rc=$?
	is "$rc" 130
	# Blocked for longer than anybody would look at it, then not.
	soon waits
	rm -f out
	"$VIV" run -- python3 -c "import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
print('up', flush=True)
while signal.SIGTSTP not in signal.sigpending(): time.sleep(0.01)
time.sleep(2)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
time.sleep(100)" </dev/null >out 2>&1 &
	pid=$!
	soon grep -q up out
	kill -TSTP $pid
	soon is_stopped $pid
	kill -CONT $pid
	kill -INT $pid
	rc=0
	wait $pid || rc=$?
	is "$rc" 130
	# The cell ends with viv.
	soon waits
	rm -f out
	"$VIV" run -- sh -c 'echo up; exec sleep 1000' </dev/null >out &
	pid=$!
	soon grep -q up out
	sleeps() { descendants | grep -q '^[0-9]* *sleep 1000$'; }
	ended() { ! sleeps; }
	soon sleeps # it may be the shell still
	kill -9 $pid
	soon ended
}
check 'signals, and the end with viv @r' signals

nobodys() {
	pool_vivd
	soon none_waits
	no_keeper
	warm
	soon eval '[[ -z $(v ps -q) ]]'
	soon eval "[[ \$(api /v1/cells) == '{\"cells\":[]}' ]]"
	# Twenty at once have twenty cells.
	for i in {1..20}; do v run -- sh -c "ls /tmp; touch /tmp/$i; sleep 0.1; ls /tmp" </dev/null >"o$i" & done
	wait
	for i in {1..20}; do is "$(cat "o$i")" "$i"; done
	soon waits
	pid=$(api /v1/version | field pid)
	v daemon stop
	soon no_keeper
	v daemon start
	warm
	kill -9 "$(api /v1/version | field pid)"
	soon no_keeper
	v run -- echo cold >out </dev/null
	is "$(cat out)" cold
	v daemon stop
	# Unused, they go.
	VIV_POOL_SECONDS=5 v daemon start
	warm
	soon none_waits
	soon no_keeper
}
check 'cells of the pool are nobody'"'"'s, and go @r' nobodys

images() {
	pool_vivd
	mkdir one two
	echo 1 >one/which
	echo 2 >two/which
	cp /bin/busybox one/cat
	cp /bin/busybox two/cat
	v image import one --tag t >id1
	warm --image t
	both --image t -- /cat /which
	is "$(cat out2)" 1
	# The tag moves.
	v image import two --tag t >id2
	warm --image t
	both --image t -- /cat /which
	is "$(cat out2 err2)" 2
	# Idle cells do not keep an image.
	v image rm "$(cat id1)"
	warm --image t
	v image rm "$(cat id2)"
	exits 125 v run --image t -- /cat /which
	v image import two --tag t >id2
	warm --image t
	is "$(v run --image t -- /cat /which </dev/null)" 2
	# A directory that the image names and does not have.
	mkdir bin
	cp /bin/busybox bin/pwd
	tar -cf root.tar bin
	python3 "$E2E_DIR/containers.py" --configured layout root.tar '{"WorkingDir": "/a/b"}'
	v image import layout --tag w
	warm --image w
	both --image w -- /bin/pwd
	is "$(cat out2 err2)" /a/b
}
check 'images that move and go @r' images

create() {
	pool_vivd
	api /v1/cells -d '{"start":true}' | field id >id
	soon waits
	given=$(metric pool_given_total)
	api /v1/cells -d '{"start":true,"labels":{"a":"b"}}' >cell
	is "$(metric pool_given_total)" $((given + 1))
	id=$(field id <cell)
	is "$(field state <cell)" running
	like "$(api "/v1/cells/$id/exec" -d '{"command":["sh","-c","echo $HOME; hostname"]}')" '*/root*cell*"exit_code":0*'
	is "$(v ps -q | grep -c "$id")" 1
	v exec "$id" true
	# It is a cell like others: it outlives vivd.
	pid=$(api /v1/version | field pid)
	kill -9 "$pid"
	gone() { [[ ! -d /proc/$1 || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]; }
	soon gone "$pid"
	v daemon start
	is "$(api "/v1/cells/$id" | field state)" running
	v exec "$id" echo still >out
	is "$(cat out)" still
	is "$(api "/v1/cells/$id?force=1" -X DELETE -o /dev/null -w '%{http_code}')" 204
	api "/v1/cells/$(cat id)?force=1" -X DELETE
	# With a command: its log, its end, and one that cannot be run.
	warm
	id=$(api /v1/cells -d '{"start":true,"command":["sh","-c","echo hello; exit 4"]}' | field id)
	is "$(api "/v1/cells/$id/wait" | field exit_code)" 4
	like "$(api "/v1/cells/$id/logs")" '*hello*'
	soon waits
	like "$(api /v1/cells -d '{"start":true,"command":["nosuch"]}')" '*start_failed*nosuch: command not found*'
	soon waits
	id=$(api /v1/cells -d '{"start":true,"timeout":2,"command":["sleep","60"]}' | field id)
	is "$(api "/v1/cells/$id/wait" | field reason)" timeout
	soon waits
	id=$(api /v1/cells -d '{"start":true,"idle_timeout":1}' | field id)
	is "$(api "/v1/cells/$id/wait" | field reason)" idle
	soon eval "[[ -z \$(find '$XDG_RUNTIME_DIR/vivarium/cells' -name '*.sock') ]]"
}
check 'cells of the API come from it @r' create

# What cells of these specifications print, and what is run in them later.
specs_run() { # file
	local spec id command='["sh","-c","env | sort; id; pwd; nproc; grep MemTotal /proc/meminfo; cat /sys/fs/cgroup/*.max; echo done; exec sleep 1000"]'
	: >"$1"
	while read -r spec; do
		echo "$spec" >>"$1"
		[[ $1 != pooled ]] || soon waits
		api /v1/cells -d "{\"start\":true,\"stop_grace\":0,\"command\":$command,$spec" >cell
		id=$(sed -n 's/^{"id":"\([0-9a-f]*\)".*/\1/p' cell)
		if [[ -z $id ]]; then
			sed 's/cell [0-9a-f]*//' cell >>"$1"
			continue
		fi
		# As text: a line of JSON has it as base64 when that is shorter.
		printed() { api "/v1/cells/$id/logs" -H 'Accept: text/plain' | grep -q done; }
		soon printed
		api "/v1/cells/$id/logs" -H 'Accept: text/plain' >>"$1"
		v exec "$id" sh -c 'env | sort; id; pwd' >>"$1"
		api "/v1/cells/$id" | sed 's/"\(id\|created\|started\)":"[^"]*",//g; s/"pid":[0-9]*,//' >>"$1"
		api "/v1/cells/$id/stats" | grep -o '"[a-z]*_limit":[0-9]*' >>"$1"
		api "/v1/cells/$id?force=1" -X DELETE
	done <<-'EOF'
	"env":{"A":"b","PATH":"/usr/bin:/bin:/x"}}
	"env":{"HOME":"/h"},"user":"agent","workdir":"/tmp"}
	"user":"77:88"}
	"user":"nosuchuser"}
	"workdir":"/nowhere"}
	"entrypoint":"/usr/bin/env"}
	"limits":{"pids":30}}
	"limits":{"pids":5000}}
	"limits":{"memory":200000000,"cpus":0.5,"pids":60},"env":{"A":"c"}}
	"limits":{"cpus":3000}}
	"limits":{"disk":100000000}}
	"tty":true,"stdin_open":true,"env":{"X":"y"}}
	"hostname":"other"}
	"image":"t"}
	"image":"t","user":"www","env":{"V":"mine"}}
	EOF
}

given_specs() {
	own_vivd
	mkdir -p tree/etc tree/bin
	cp /bin/busybox tree/bin/busybox
	for i in sh env sort id pwd nproc grep cat echo sleep; do ln tree/bin/busybox "tree/bin/$i"; done
	printf 'root:x:0:0::/root:/bin/sh\nwww:x:33:44::/var/www:/bin/sh\n' >tree/etc/passwd
	printf 'root:x:0:\nwww:x:44:\nmore:x:55:www\n' >tree/etc/group
	v image import tree --tag t >/dev/null
	VIV_POOL=0 v daemon start
	specs_run unpooled
	v daemon stop
	v daemon start
	warm
	warm --image t
	specs_run pooled
	is "$(metric pool_given_total | awk '{ print ($1 >= 10) }')" 1 'they came from the pool'
	diff unpooled pooled
}
check 'cells of the API with an environment, a user or limits are like those without a pool @r' given_specs

# What 'make bench BENCH="--only vivd-cells"' and its like measure, in small.
small_load() { python3 "$E2E_DIR/load.py" "$P" "$VIV" "$PWD" --cells 30 --cycles 300 --streams 50; }
check 'many cells, cycles and streams, and nothing grows' small_load
