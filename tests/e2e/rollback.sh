# Cells that run are set back to snapshots, and snapshots of theirs are forgotten. shellcheck shell=bash

# A cell that runs by itself. /root/run is another one in each run; /root/beat is written all the time.
beating() { # name, options...
	v run -d --name "$@" -- sh -c 'trap "exit 0" TERM; cat /proc/sys/kernel/random/uuid >/root/run; i=0; while :; do i=$((i+1)); echo "$i" >/root/beat.new; mv /root/beat.new /root/beat; sleep 0.05; done' >/dev/null
	soon beats "$1"
}
beats() { v exec "$1" test -s /root/beat; }
put() { v exec "$1" sh -c "echo $2 >/root/f"; }
got() { v exec "$1" cat /root/f; }
run_of() { v exec "$1" cat /root/run; }
pid_in() { v inspect "$1" | field pid; }
# What a disk says when nobody has it: like a pattern.
# shellcheck disable=SC2053
file_is() { [[ $(viv --name "$1" -- cat /root/f 2>&1) == $2 ]]; }

forgotten() {
	own_vivd
	beating a
	put a 1 && v snapshot a one
	put a 2 && v snapshot a two
	put a 3 && v snapshot a three
	pid=$(pid_in a)
	is "$(v snapshot --rm a two)" ''
	is "$(v snapshot --ls a)" $'one\nthree'
	exits 3 v snapshot --rm a two
	like "$(cat err)" "viv: cell 'a' has no snapshot 'two'*"
	exits 3 v fork a@two x
	exits 3 v rollback a two
	is "$(v snapshot --rm --json a three)" '{"name":"three"}'
	is "$(pid_in a) $(got a)" "$pid 3" 'it goes on'
	is "$(v snapshot a two)" two 'the name is free again'
	v fork a@one b
	is "$(viv --name b -- cat /root/f)" 1
	put a 4
	v rollback a two
	is "$(got a)" 3
	v rollback a one
	is "$(got a)" 1
	v stop a >/dev/null
	is "$(v snapshot --ls a)" $'one\ntwo'
	v verify a >/dev/null
	v snapshot --rm a two
	is "$(viv --name a -- cat /root/f)" 1
}
check 'a snapshot is forgotten while the cell runs; others still work @r' forgotten

back() {
	own_vivd
	beating a --env WHO=me --label of=test
	put a 1 && v snapshot a one
	put a 2 && v exec a sh -c 'rm /usr/bin/perl; touch /root/new; sync'
	v snapshot a two
	pid=$(pid_in a) run=$(run_of a)
	put a 3
	is "$(v rollback a one 2>&1)" ''
	is "$(got a)" 1
	v exec a test ! -e /root/new -a -e /usr/bin/perl
	soon beats a
	[[ $(pid_in a) != "$pid" && $(run_of a) != "$run" ]]
	is "$(v inspect a | field state) $(v inspect a | field labels.of) $(v exec a sh -c 'echo $WHO')" 'running test me' 'it was started the same'
	is "$(v rollback --json --time 1s a two)" '{"snapshot":"two","state":"running"}' 'forward'
	is "$(got a)" 2
	v exec a test -e /root/new -a ! -e /usr/bin/perl
	put a 4
	v pause a >/dev/null
	is "$(v snapshot a three)" three 'of a paused one'
	v rollback a one
	is "$(v inspect a | field state) $(got a)" 'running 1' 'one that was paused'
	v rollback a three
	is "$(got a)" 4
	v snapshot --rm a three
	is "$(v snapshot --ls a)" $'one\ntwo'
	v stop a >/dev/null
	is "$(v rollback --json a two)" '{"snapshot":"two","state":"stopped"}' 'one that does not run stays so'
	is "$(v inspect a | field state)" stopped
	is "$(viv --name a -- cat /root/f)" 2
}
check 'a running cell is set back, and runs anew @r' back

refused() {
	own_vivd
	beating a
	put a 1 && v snapshot a one && put a 2
	pid=$(pid_in a)
	exits 3 v rollback a none
	is "$(cat err)" "viv: cell 'a' has no snapshot 'none'; 'viv snapshot --ls a' lists them"
	exits 2 v rollback a ../x
	exits 2 v rollback --time x a one
	exits 3 v rollback nobody one
	is "$(status_of /v1/cells/a/rollback -d '{"snapshot":"none"}')" 404
	is "$(status_of /v1/cells/a/rollback -d '{"snapshot":"one","grace":-1}')" 400
	is "$(status_of /v1/cells/a/rollback -d '{}')" 400
	u=$(make_cell '{"start":true}')
	is "$(status_of "/v1/cells/$u/rollback" -d '{"snapshot":"one"}')" 409 'without a name'
	is "$(pid_in a) $(got a)" "$pid 2" 'it goes on'
}
check 'what cannot be set back goes on @r' refused

# A 'viv run' waits for it: it is told, and who asked, too.
foreground() {
	own_vivd
	"$VIV" run --name a -- sh -c 'trap "echo ends; exit 7" TERM; echo 1 >/root/f; echo ready; while :; do sleep 0.05; done' >log 2>said &
	p=$!
	soon grep -q ready log
	v snapshot a one
	v exec a sh -c 'echo 2 >/root/f'
	exits 3 v rollback a none
	exits 0 v rollback a one
	is "$(cat err)" "viv: cell 'a' was ended; 'viv run --name a -- COMMAND' starts it again"
	rc=0
	wait $p || rc=$?
	is "$rc $(tail -n 1 log)" '7 ends'
	is "$(cat said)" "viv: the cell was ended, and its files were set back to snapshot 'one'"
	is "$(v inspect a | field state)" stopped
	is "$(viv --name a -- cat /root/f)" 1
}
check 'a cell that viv run waits for is set back and ended @r' foreground

# The tree file cannot be written: a directory is where its draft is to be.
fails() {
	own_vivd
	beating a
	put a 1 && v snapshot a one && put a 2
	pid=$(pid_in a)
	keeper=$(ps -o ppid= -p "$pid" | tr -d ' ')
	mkdir "$(echo data/vivarium/disks/*)/tree.new$keeper"
	exits 1 v snapshot --rm a one
	is "$(v snapshot --ls a)" one
	exits 1 v rollback a one
	is "$(cat err)" "viv: the files could not be set back and are as they were: the disk of cell 'a': Is a directory; the cell was ended and started again"
	[[ $(pid_in a) != "$pid" ]]
	is "$(got a)" 2
	v rollback a one
	is "$(got a)" 1
}
check 'a rollback that fails: the cell runs with its files as they were @r' fails

# One of them does it, others hear that it is being done; what they do together leaves a disk that is whole.
at_once() {
	own_vivd
	local i n
	beating a
	put a 1 && v snapshot a one && put a 2
	for i in 1 2 3 4 5 6; do
		(rc=0; v rollback a one 2>"err.$i" || rc=$?; echo "$rc" >"rc.$i") &
		(v snapshot a "s$i" 2>/dev/null || true) &
		(v snapshot --rm a "s$i" 2>/dev/null || true) &
	done
	wait
	for i in 1 2 3 4 5 6; do
		case $(cat "rc.$i") in
		0) n=$i ;;
		5) like "$(cat "err.$i")" 'viv: *cell*' ;;
		*) cat "err.$i" && return 1 ;;
		esac
	done
	[[ -n $n ]]
	soon beats a
	is "$(got a)" 1
	v stop a >/dev/null
	v verify a >/dev/null
	for i in $(v snapshot --ls a); do v verify "a@$i" >/dev/null; done
}
check 'rollbacks and snapshots at once @r' at_once

# A fork looks for its snapshot, and only after a while makes its disk; the snapshot, of which nothing else makes use, is forgotten meanwhile.
fork_and_forget() {
	own_vivd
	viv --name a -- sh -c 'echo 1 >/root/f'
	v snapshot a base
	viv --name a -- sh -c 'echo 2 >/root/f'
	v snapshot a two
	v rollback a base
	pid=$(pid_of)
	strace -f -o calls -e trace=openat,flock -e inject=flock:delay_enter=500000 -p "$pid" 2>/dev/null &
	tracer=$!
	soon grep -q 'TracerPid:.*[1-9]' "/proc/$pid/status"
	exits 0 v fork a@two b &
	fork=$!
	soon grep -q '"tree"' calls
	v snapshot --rm a two
	wait "$fork"
	kill "$tracer"
	wait "$tracer" || true
	is "$(viv --name b -- cat /root/f)" 2
	is "$(viv --name a -- cat /root/f)" 1
}
check 'a fork of a snapshot that is forgotten at that moment @r' fork_and_forget

# Whoever is killed, the disk is what it was or what it was to be.
killed() {
	own_vivd
	local i pid
	for i in 1 2 3 4; do
		beating "k$i" --stop-timeout 0
		put "k$i" 1 && v snapshot "k$i" one && put "k$i" 2
		pid=$(ps -o ppid= -p "$(pid_in "k$i")" | tr -d ' ')
		v rollback "k$i" one 2>/dev/null &
		sleep "0.0$((RANDOM % 10))"
		kill -9 "$pid" 2>/dev/null || true
		wait $! || true
		v stop "k$i" >/dev/null 2>&1 || true
		is "$(v snapshot --ls "k$i")" one
		soon file_is "k$i" '[12]'
		v verify "k$i" >/dev/null
	done
	# vivd goes; the keeper still does what it was asked for.
	mkdir m
	v run -d --name t --stop-timeout 60s --mount "$PWD/m:/m:ro" -- sh -c 'trap "" TERM; echo 1 >/root/f; while [ ! -e /m/go ]; do sleep 0.05; done' >/dev/null
	soon v exec t test -s /root/f
	v snapshot t one && put t 2
	v rollback t one 2>/dev/null &
	soon state_is t stopping
	kill -9 "$(pid_of)"
	wait $! || true
	touch m/go
	soon file_is t 1
	is "$(v inspect t | field state)" stopped
}
check 'kill -9 of a keeper and of vivd during a rollback @r' killed

# What the API has besides.
over_http() {
	own_vivd
	v run --name c -- sh -c 'echo 1 >/root/f'
	v snapshot c good
	v run --name c -- rm /root/f
	v create --name a -- true >/dev/null
	is "$(status_of /v1/cells/a/rollback -d '{"snapshot":"x"}')" 404
	# It fails, and waits longer and longer for its restart.
	api /v1/cells -o /dev/null -d '{"name":"c","update":true,"command":["sh","-c","test -e /root/f || exit 1; exec sleep 1000"],"restart":{"policy":"always"},"stop_grace":0}'
	api /v1/cells/c/start -X POST -o /dev/null
	soon eval '(($(api /v1/cells/c | field restarts) > 2))'
	is "$(api /v1/cells/c/rollback -d '{"snapshot":"good"}' | field state)" running
	soon state_is c running
	is "$(got c)" 1
	is "$(api /v1/cells/c/rollback -d '{"snapshot":"good","grace":0.1}' | field state)" running
	api /v1/cells/c/stop -X POST -o /dev/null
	is "$(api /v1/cells/c/rollback -d '{"snapshot":"good"}' | field state)" stopped
}
check 'rollback over HTTP, of cells in all states @r' over_http
