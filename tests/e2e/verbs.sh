# The verbs as one thing: one world of cells, exit statuses, JSON, help, completion, doctor, top. shellcheck shell=bash

v() { timeout -k 5 180 "$VIV" "$@"; }
# Every test has a vivd of its own, which goes with all its cells.
world() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state VIV_POOL=0
	mkdir -p data run state
	at_end world_end
}
world_end() {
	local list
	[[ -S run/vivarium/vivd.sock ]] || return 0
	list=$(v ls -q)
	# shellcheck disable=SC2086
	[[ -z $list ]] || v rm -f $list >/dev/null || true
	v daemon stop
}
state_of() { v inspect --json "$1" | python3 -c 'import json,sys; print(json.load(sys.stdin)["state"])'; }
state_is() { [[ $(state_of "$1" 2>/dev/null) == "$2" ]]; }
field() { python3 -c 'import json,sys; v=json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if isinstance(v, list) else v[k]
print(v if isinstance(v, str) else json.dumps(v))' "$1"; }
api() { curl -sS --max-time 180 --unix-socket run/vivarium/vivd.sock "http://vivd$1" "${@:2}"; }

one_world() {
	world
	# Made by run -d: known to the API, with its policy.
	c=$(v run -d --label team=x --restart on-failure:2 --stop-timeout 300ms -- sh -c 'echo up; exec sleep 1000')
	is "$(api "/v1/cells/$c" | field state)" running
	is "$(api "/v1/cells/$c" | field spec.restart.max)" 2
	is "$(v ps -q)" "$c"
	# Made by the API: known to the verbs.
	api /v1/cells -d '{"name":"a","start":true,"command":["sleep","1000"]}' >/dev/null
	is "$(v exec a echo in)" in
	is "$(v ps -q | sort | tr '\n' ' ')" "$(printf '%s\n' a "$c" | sort | tr '\n' ' ')"
	is "$(v ps -q -f label=team=x)" "$c"
	is "$(v ps -q -f label=team=y)" ''
	is "$(v ps -q --filter state=stopped)" ''
	# Run in the foreground, and forked: known as soon as anybody asks.
	"$VIV" run --name fore -- sh -c 'echo ready >/run/up; exec sleep 1000' &
	p=$!
	soon v exec fore test -e /run/up 2>/dev/null
	state_is fore running
	v pause fore >/dev/null
	state_is fore paused
	v resume fore >/dev/null
	v fork fore copy >/dev/null
	is "$(state_of copy)" stopped
	v start copy >/dev/null
	is "$(v exec copy echo 1)" 1
	v stop -t 0 fore >/dev/null
	rc=0
	wait "$p" || rc=$?
	is "$rc" 137
	soon state_is fore stopped
	# The same name again, in both ways.
	is "$(viv --name fore -- cat /run/up)" ready
	is "$(v run -d --name fore -- sh -c 'cat /run/up; exec sleep 1000')" fore
	soon eval 'v logs fore | grep -qx ready'
	exits 125 v run -d --name fore -- true
	is "$(cat err)" "viv: cell 'fore' is in use; stop it first"
	# Killed, vivd is replaced, and nobody notices.
	kill -9 "$(v daemon status --json | field pid)"
	soon eval 'v ps -q | grep -qx fore'
	is "$(v exec "$c" echo on)" on
	v stop "$c" >/dev/null
	is "$(v inspect --json "$c" | field reason)" asked
}
check 'one world: cells of run, of the API, of others @r' one_world

# What 'viv run' made in the foreground is started with the settings of its last run.
start_again() {
	world
	local f
	mkdir m
	echo here >m/f
	exits 4 viv --name w --env A=1 --workdir /tmp --mount ./m:/m -- sh -c 'echo "$A $PWD $(cat /m/f)"; exit 4'
	is "$(v inspect --json w | field spec.command.2)" 'echo "$A $PWD $(cat /m/f)"; exit 4'
	f=$(find data -name run.json)
	is "$(stat -c %a "$f")" 600
	exits 4 v start -a w
	is "$(cat out)" '1 /tmp here'
	# Also those of a run that vivd did not see; with limits that were changed since.
	v daemon stop
	exits 0 viv --name w -- sh -c 'echo second; exec sleep "${N:-0}"'
	exits 0 v start -a w
	is "$(cat out)" second
	v update --pids 77 w >/dev/null
	exits 0 v start -a w
	is "$(v inspect --json w | field spec.limits.pids)" 77
	exits 0 viv --name w -e N=1000 -- sh -c 'echo second; exec sleep "${N:-0}"' &
	soon state_is w running
	v restart -t 0 w >/dev/null
	wait $! || true
	state_is w running
	soon eval '[[ $(v logs w) == second ]]'
	v stop -t 0 w >/dev/null
	# Settings that a client of vivd gave stay.
	v run -d --name w -- sh -c 'echo third' >/dev/null
	v wait w >/dev/null
	exits 0 viv --name w -- echo fourth
	exits 0 v start -a w
	is "$(cat out)" third
	# A cell that is to go keeps none. vivd, which knows it, does not wait for viv.
	exits 0 viv --rm --name gone -- sleep 1
	exits 3 v inspect gone
	is "$(find data -name run.json)" "$f"
}
check 'a cell that viv run made is started again with its command @r' start_again

# Those that vivd does not take: the cell has no command then, and waits for what exec brings.
start_refused() {
	world
	local f
	exits 0 viv --name w -- sh -c 'echo ran >>/root/ran'
	f=$(find data -name run.json)
	waits() { # what was done to the file
		v start w >/dev/null
		is "$(v exec w cat /root/ran)" ran "$1"
		v stop -t 0 w >/dev/null
		exits 0 viv --name w -- sh -c ': >/root/ran; echo ran >>/root/ran'
	}
	chmod 644 "$f"
	waits 'a file that others can read'
	mv "$f" other
	ln -s "$PWD/other" "$f"
	waits 'a link'
	echo '{"command":"sh"}' >"$f"
	waits 'settings that are not valid'
	echo '{"command":["sh"],"command":["true"]}' >"$f"
	waits 'the same field twice'
	head -c 2000000 /dev/zero >"$f"
	waits 'too many bytes'
	rm "$f"
	mkfifo -m 600 "$f"
	waits 'a pipe'
	rm -f "$f"
	waits 'none'
	if ((EUID == 0)); then
		chown 12345 "$f"
		waits 'the file of another user'
	fi
	grep -q 'the settings of its last run are not used' state/vivarium/vivd.log
	# What JSON cannot carry is not kept, and nothing older either.
	exits 0 viv --name w -- sh -c "$(printf ': \377')"
	[[ ! -e $f ]]
	v start w >/dev/null
	state_is w running
}
check 'settings of a run that vivd refuses @r' start_refused

# A wait outlives vivd: for cells and processes that end after its restart, and while it is not there.
waits_on() {
	world
	local c n p
	mkdir m
	v run -d --name late --mount ./m:/m:ro -- sh -c 'until [ -e /m/late ]; do sleep 0.05; done; exit 7' >/dev/null
	v run -d --name soon --mount ./m:/m:ro -- sh -c 'until [ -e /m/soon ]; do sleep 0.05; done; exit 8' >/dev/null
	c=$(v run -d --mount ./m:/m:ro -- sh -c 'until [ -e /m/soon ]; do sleep 0.05; done; exit 9')
	n=$(v exec -d late sh -c 'until [ -e /m/proc ]; do sleep 0.05; done; exit 6')
	v wait late >late 2>&1 &
	p=$!
	v wait soon >soon 2>&1 &
	p="$p $!"
	v wait "$c" >unnamed 2>&1 &
	p="$p $!"
	v wait "late:$n" >process 2>&1 &
	p="$p $!"
	sleep 0.5
	v daemon restart
	kill -9 "$(v daemon status --json | field pid)"
	v daemon start
	v daemon stop
	# vivd does not see these two end.
	touch m/soon
	soon eval '[[ $(cat soon unnamed) == $'"'8\\n9'"' ]]'
	is "$(cat late process)" '' 'before their end'
	touch m/proc
	soon eval '[[ $(cat process) == 6 ]]'
	touch m/late
	for c in $p; do
		rc=0
		wait "$c" || rc=$?
		is "$rc" 0 "status of a wait: $(cat late soon unnamed process)"
	done
	is "$(cat late)" 7
	# Where vivd cannot be started, that is the end of it.
	v run -d --name never -- sleep 1000 >/dev/null
	v wait never >never 2>&1 &
	p=$!
	sleep 0.5
	v daemon stop
	mv state/vivarium state/away
	touch state/vivarium
	rc=0
	wait "$p" || rc=$?
	rm state/vivarium
	mv state/away state/vivarium
	is "$rc" 1 'without vivd'
	like "$(cat never)" 'viv: *'
	v daemon start
}
check 'viv wait outlives vivd @r' waits_on

# Cells in the foreground without a name: they are listed, and do what they can.
foreground() {
	world
	local c p
	one() { c=$(v ps -q) && [[ $c && $c != *$'\n'* ]]; }
	none() { [[ -z $(v ps -q) && -z $(find run/vivarium/cells -name '*.sock') ]]; }
	"$VIV" run -- sh -c 'trap "exit 5" TERM; echo up; while :; do sleep 0.05; done' >up &
	p=$!
	soon test -s up
	soon one
	like "$(v ps | tail -n 1)" "$c  *(foreground)*host*running*sh -c trap*"
	is "$(v inspect --json "$c" | field foreground)" true
	exits 125 v exec "$c" true
	like "$(cat err)" "*in the foreground without a name*start it with --name or --detach"
	exits 3 v logs "$c"
	exits 125 v attach "$c"
	exits 5 v restart "$c"
	exits 5 v snapshot "$c"
	exits 5 v cp "$c:/etc/hostname" .
	v pause "$c" >/dev/null
	state_is "$c" paused
	v resume "$c" >/dev/null
	like "$(v stats --no-stream "$c")" "*$c*"
	v stop "$c" >/dev/null
	rc=0
	wait "$p" || rc=$?
	is "$rc" 5 'stopped'
	soon none
	exits 5 v start "$c"
	"$VIV" run -- sleep 1000 &
	p=$!
	soon one
	v kill "${c:0:6}" >/dev/null
	rc=0
	wait "$p" || rc=$?
	is "$rc" 137 'killed'
	# Without vivd, and whatever its end is, nothing stays that is found.
	v daemon stop
	"$VIV" run -- sleep 1000 &
	p=$!
	soon eval '[[ $(find run/vivarium/cells -name "*.sock") ]]'
	kill -9 "$p"
	wait "$p" || true
	soon none
	v daemon stop
	# No place for its socket is no reason not to run.
	is "$(XDG_RUNTIME_DIR=$PWD/up "$VIV" run -- echo fine)" fine
	# Nothing is made in the directory of another user.
	if ((EUID == 0)); then
		mkdir theirs
		chown 12345 theirs
		is "$(XDG_RUNTIME_DIR=$PWD/theirs "$VIV" run -- echo fine)" fine
		is "$(ls theirs)" ''
	fi
}
check 'cells in the foreground without a name are listed @r' foreground

lifecycle() {
	world
	is "$(v create --name c --env A=1 --workdir /tmp --memory 64M --pids 50 -- sh -c 'echo "$A $PWD"; exec sleep 1000')" c
	is "$(state_of c)" created
	exits 5 v create --name c
	v start c >/dev/null
	soon eval 'v logs c | grep -qx "1 /tmp"'
	before=$(v inspect --json c | field started)
	v restart -t 0 c >/dev/null
	is "$(state_of c)" running
	[[ $(v inspect --json c | field started) != "$before" ]]
	exits 5 v start c
	exits 5 v rename c d
	exits 5 v rm c
	v stop -t 0 c >/dev/null
	is "$(v wait c)" 137
	exits 5 v stop c
	exits 5 v pause c
	exits 125 v exec c true # a guest's status would be confused with another one
	v rename c d >/dev/null
	exits 3 v inspect c
	is "$(state_of d)" stopped
	v rm d >/dev/null
	exits 3 v start d
	# Attached, its streams and its status are there.
	v create --name e -- sh -c 'echo out; echo err >&2; exit 7' >/dev/null
	exits 7 v start -a e
	is "$(cat out)" out
	is "$(cat err)" err
	# Without a command it waits for what exec brings; relative places are viv's.
	mkdir m
	echo here >m/f
	v create --name idle --mount ./m:/m >/dev/null
	v start idle >/dev/null
	is "$(v exec idle cat /m/f)" here
	is "$(v rm -f idle)" idle
	# Words that JSON cannot carry, and a keeper's own start.
	c=$(v run -d -- sh -c "$(printf 'printf "<\377>"; exec sleep 1000')")
	soon eval '[[ $(v logs "$c" | od -An -tx1 | tr -d " \n") == 3cff3e ]]'
	v stop -t 0 "$c" >/dev/null
	# A policy is carried out.
	v run -d --name again --restart on-failure:2 --mount ./m:/m -- sh -c 'echo run >>/m/runs; exit 3' >/dev/null
	soon eval '[[ $(grep -c run m/runs) == 3 ]]' # stopped is also what it is before each new start
	soon state_is again stopped
	is "$(v inspect --json again | field restarts)" 2
	# The last one counts, in whatever form; what is in a file counts less.
	printf 'A=file\nB=file\n' >vars
	c=$(A=host v run -d --restart unless-stopped -v ./m:/m --env-file vars -e A=1 -e A \
		--health-cmd 'test -e /well' --health-interval 50ms --health-timeout 20s --health-retries 2 --health-start-period 1h -- sleep 1000)
	is "$(v exec "$c" sh -c 'echo "$A $B"; cat /m/f')" $'host file\nhere'
	is "$(v exec --env-file vars -e B=2 "$c" sh -c 'echo "$A $B"')" 'file 2'
	is "$(v inspect --json "$c" | field spec.restart.policy)" always
	is "$(v inspect --json "$c" | field spec.health)" \
		'{"command": ["/bin/sh", "-c", "test -e /well"], "interval": 0.05, "timeout": 20, "start_period": 3600, "retries": 2}'
	is "$(v inspect --json "$c" | field health.status)" starting
	v exec "$c" touch /well
	soon eval '[[ $(v inspect --json "$c" | field health.status) == healthy ]]'
	is "$(v ps -q --filter status=running)" "$c"
	# What no option may become: a volume that is a directory of the host.
	for m in '"volume":"/etc"' '"source":"type=bind,src=/etc"' '"source":"etc"'; do
		is "$(status_of /v1/cells -d "{\"mounts\":[{$m,\"target\":\"/x\"}]}")" 400
	done
}
check 'create, start, restart, stop, rename, rm @r' lifecycle

# What hands that know docker type.
dockers_hands() {
	world
	is "$(viv --rm --name gone -h box -- sh -c 'hostname; echo kept >/root/f')" box
	is "$(v ls -q)" ''
	viv --name stays -- true
	exits 125 viv --rm --name stays -- true
	like "$(cat err)" "viv: cell 'stays' exists already*"
	is "$(v ls -q)" stays
	# It goes with its end: who wants to know how it ended waits before.
	mkdir m
	is "$(v run -d --rm --name brief --mount ./m:/m:ro -- sh -c 'until [ -e /m/go ]; do sleep 0.05; done; exit 3')" brief
	"$VIV" wait brief >status &
	p=$!
	asked() { [[ $(ls -l "/proc/$p/fd" 2>/dev/null) == *socket:* && $(sed 's/.*) //' "/proc/$p/stat") == S* ]]; }
	soon asked
	touch m/go
	wait "$p"
	is "$(cat status)" 3
	gone() { ! v inspect brief >/dev/null 2>&1; }
	soon gone
	exits 125 v run -d --rm --name stays -- true
	is "$(v ls -q)" stays
	is "$(viv --shm-size 2M -- df -k --output=size /dev/shm | tail -n 1 | tr -d ' ')" 2048
	viv --pull never -- true
	for o in --privileged '--cap-add X' '--cap-drop ALL' '--pull always'; do
		# shellcheck disable=SC2086
		exits 125 viv $o -- true
		like "$(cat err)" "viv: ${o%% *}*"
	done
	exits 127 viv -- ubuntu:22.04 bash
	like "$(cat err)" '*--image ubuntu:22.04 -- bash*'
	exits 2 v unpause stays
	like "$(cat err)" '*viv resume*'
	exits 125 viv --nmae x -- true
	like "$(cat err)" '*--name*'
	printf 'services: {a: {command: [true]}}\n' >vivarium.yaml
	exits 2 v up
	like "$(cat err)" "*'cells'*"
	# The command ends by the signal that it was made for.
	c=$(v run -d --stop-signal USR1 -- sh -c 'trap "exit 9" USR1; echo up; while :; do sleep 0.05; done')
	soon eval 'v logs "$c" | grep -q up'
	v stop "$c" >/dev/null
	is "$(v wait "$c")" 9
	is "$(api "/v1/cells/$c" | field spec.stop_signal)" USR1
}
check "docker's options: taken, or refused with a reason @r" dockers_hands

# Each verb and class: 2 usage, 3 not found, 5 conflict; one line each, and as JSON an object, which json_errors looks at.
status_is() { # status, arguments of viv...
	exits "$1" v "${@:2}"
	[[ $(<err) == 'viv: '* && $(<err) != *$'\n'* ]] || { cat err; echo "${*:2}"; return 1; }
	exits "$1" v "${@:2:1}" --json "${@:3}"
	echo "$1 ${*:2}" >>asked
	cat err >>answers
}
json_errors() {
	python3 - <<-'PY'
	import json
	codes = {2: ["usage", "invalid", "failed"], 3: ["not_found", "no_log"]}
	asked, answers = open("asked").read().splitlines(), open("answers").read().splitlines()
	assert len(asked) == len(answers) > 80, (len(asked), len(answers))
	for a, e in zip(asked, map(json.loads, answers)):
	    assert set(e) <= {"code", "message", "cause", "remedy"} and e["message"], (a, e)
	    assert e["code"] in codes.get(int(a.split()[0]), [e["code"]]), (a, e)
	PY
}
statuses() {
	world
	v create --name s -- sleep 1000 >/dev/null
	for verb in start stop restart kill pause resume wait rm inspect stats logs; do status_is 3 "$verb" nosuch; done
	status_is 3 create --image nosuch -- true
	status_is 3 rename nosuch x
	status_is 3 cp nosuch:/x x
	status_is 3 cp s:/nosuch x
	status_is 3 cp s:/etc/passwd nosuch/
	status_is 3 cp nosuch s:/
	status_is 5 cp s:/etc out
	status_is 2 cp a b
	status_is 3 snapshot nosuch
	status_is 3 fork nosuch x
	status_is 3 diff nosuch
	status_is 3 verify nosuch
	status_is 3 rollback nosuch x
	status_is 3 commit nosuch --tag x
	for verb in start stop restart kill pause resume wait rm inspect logs rename snapshot fork diff verify commit rollback completion; do status_is 2 "$verb"; done
	for verb in start stop restart kill pause resume wait rm inspect stats logs rename ps ls top events prune doctor version snapshot fork diff verify commit rollback create up apply down; do
		status_is 2 "$verb" --nosuch
	done
	for verb in ps ls top events prune doctor version; do status_is 2 "$verb" toomuch; done
	status_is 2 stop -t x s
	status_is 2 kill -s NOSUCH s
	status_is 2 stop s:1
	status_is 2 logs --tail x s
	status_is 2 logs --since x s
	status_is 2 ps --filter x
	status_is 2 top --sort x
	status_is 2 events --since x
	status_is 2 create --name 'a b'
	status_is 2 create --memory x
	status_is 2 completion fish
	status_is 5 create --name s
	for verb in stop pause resume kill; do status_is 5 "$verb" s; done
	v volume create vol >/dev/null
	status_is 125 run --nosuch -- true
	status_is 125 exec nosuch true
	status_is 125 shell nosuch
	json_errors
	# Two words: --json follows the second.
	for w in 'volume rm nosuch' 'image rm nosuch' 'image inspect nosuch' 'token rm nosuch'; do
		# shellcheck disable=SC2086
		exits 3 v $w
		# shellcheck disable=SC2086
		exits 3 v $w --json
		is "$(field code <err)" not_found
	done
	for w in volume image token daemon 'volume frob' 'image frob' 'volume create' 'image import' 'token rm' 'daemon start --frob' 'volume ls x'; do
		# shellcheck disable=SC2086
		exits 2 v $w
		is "$(wc -l <err)" 1
	done
	exits 5 v volume create vol
	exits 2 v frobnicate
	# Several: all are tried, the first failure counts.
	v create --name t -- sleep 1000 >/dev/null
	exits 3 v start nosuch t
	is "$(cat out)" t
	state_is t running
	# Not ours: denied.
	if [[ $(id -u) != 0 ]]; then
		v daemon stop
		mkdir -m 0 locked
		VIVARIUM_SOCKET=$PWD/locked/vivd.sock exits 4 v ps
		v daemon start
	fi
	# Why a cell could not start is kept with it, in its parts, also by the next vivd.
	exits 127 v run -d --name nope --json -- nosuch
	like "$(cat err)" '{"code":"command_not_found","message":"the cell could not start","cause":"nosuch: *"}'
	v daemon restart
	like "$(v inspect nope --json)" '*"detail":"nosuch: *","error":{"code":"command_not_found","message":"nosuch: *"}*'
	v rm nope >/dev/null
	# vivd cannot start: said, and the foreground does without it.
	v rm -f s t >/dev/null
	v daemon stop
	touch file
	XDG_STATE_HOME=$PWD/file exits 1 v ps
	like "$(cat err)" 'viv: vivd cannot be reached: *viv doctor*'
	# What vivd said is all there, also for programs, and its kind decides the exit status.
	XDG_STATE_HOME=$PWD/file exits 1 v ps --json
	like "$(cat err)" '{"code":"failed","message":"vivd cannot be reached","cause":"cannot make *","remedy":"*"}'
	exits 2 v daemon start --listen nonsense --json
	like "$(cat err)" '{"code":"usage","message":"--listen *"}'
	XDG_STATE_HOME=$PWD/file exits 125 v run -d -- true
	XDG_STATE_HOME=$PWD/file exits 0 v run -- true
}
check 'exit statuses and errors of every verb, as text and as JSON @r' statuses

json_everywhere() {
	world
	c=$(v run -d --json --name j -- sh -c 'echo line; exec sleep 1000' | field id)
	soon eval 'v logs j | grep -q line'
	lines() { # how many objects; arguments of viv...
		v "${@:2}" >out
		python3 - "$1" <<-'PY' || { cat out; echo "${*:2}"; return 1; }
		import json, sys
		objects = [json.loads(l) for l in open("out")]
		assert len(objects) == int(sys.argv[1]) and all(isinstance(o, dict) for o in objects), objects
		PY
	}
	lines 1 ps --json
	lines 1 ls --json
	lines 1 inspect --json j
	is "$(field id <out)" "$c"
	lines 1 stats --json j
	lines 1 stats --json
	lines 1 top --json -n 1
	lines 1 logs --json j
	lines 1 pause --json j
	is "$(field state <out)" paused
	lines 1 resume --json j
	lines 1 exec --json -d j true
	lines 1 snapshot --json j one
	lines 1 snapshot --json --ls j
	lines 1 fork --json j k
	lines 1 rename --json k l
	lines 1 verify --json l
	lines 1 restart --json -t 0 j
	lines 1 stop --json -t 0 j
	lines 1 wait --json j
	lines 1 start --json j
	lines 1 kill --json j
	lines 2 rm --json j l
	lines 1 create --json --name m -- true
	lines 1 volume create --json v1
	lines 1 volume ls --json
	lines 1 volume inspect --json v1
	lines 1 volume rm --json v1
	lines 1 volume prune --json -f
	lines 1 system df --json
	lines 1 token create --json
	lines 1 token ls --json
	lines 1 token rm --json "$(v token ls -q)"
	lines 1 daemon status --json
	lines 1 version --json
	lines 1 prune --json -f
	mkdir files
	echo x >files/x
	lines 1 image import --json --tag t files
	lines 1 image inspect --json t
	lines 1 image import --json --tag other <(tar -c files)
	lines 2 image ls --json
	v image rm other
	mkdir files/sub
	lines 1 cp --json files m:/root
	is "$(cat out)" '{"cell":"m","to":"/root","from":"files","entries":3,"bytes":2}'
	lines 1 cp --json files/. m:/root
	is "$(cat out)" '{"cell":"m","to":"/root","from":"files/.","entries":2,"bytes":2}'
	lines 1 cp -r --json m:/root/files back
	is "$(cat out)" '{"cell":"m","from":"/root/files","to":"back","entries":3,"bytes":2}'
	lines 1 cp --json m:/root/files/. back
	is "$(cat out)" '{"cell":"m","from":"/root/files/.","to":"back","entries":2,"bytes":2}'
	v cp --json m:/root/files - >archive
	is "$(tar tf archive | sort | tr '\n' ' ')" 'files/ files/sub/ files/x '
	lines 1 cp --json - m:/root <archive
	is "$(field archive_bytes <out)" "$(stat -c %s archive)"
	lines 1 image tag --json t u
	lines 1 image rm --json u
	lines 1 image gc --json
	lines 1 image verify --json
	v events --json --no-follow --since 0 >out
	python3 -c 'import json; assert len([json.loads(l) for l in open("out")]) > 10'
	v help --json >out
	python3 -c 'import json; assert {"run", "volume ls"} < {json.loads(l)["name"] for l in open("out")}'
	# Colours are for terminals.
	v ls >out
	v doctor >>out || true
	fails grep -q $'\033' out
}
check '--json of every verb @r' json_everywhere

help_of_all() {
	v help --json | python3 -c 'import json,sys
for l in sys.stdin: print(json.loads(l)["name"])' >names
	[[ $(wc -l <names) -gt 50 ]]
	while read -r name; do
		# shellcheck disable=SC2086
		v help $name </dev/null >h
		like "$(head -n 1 h)" "Usage: viv $name*"
		# shellcheck disable=SC2086
		is "$(v $name --help </dev/null)" "$(cat h)" "$name --help"
	done <names
	v help --options | while read -r line; do
		v help ${line% *} | grep -q -e "${line##* }" || { echo "$line"; return 1; }
	done
}
check 'help of every verb, from one table @r' help_of_all

formats() {
	world
	v create --name one --label a=1 --label b=2 -- sh -c 'exec sleep 1000' >/dev/null
	v create --name twotwo -- true >/dev/null
	id=$(v inspect --json one | field id)
	is "$(v ps -a -f name=one --format '{{.ID}} {{ .Names }}\t{{.State}}: {{.Command}}')" "$id one	created: sh -c exec sleep 1000"
	is "$(v ps -a -f name=one --format '{{.Image}}|{{.Labels}}|{{.Status}}\n{{.CreatedAt}}')" "host|a=1,b=2|Created
$(v inspect --json one | field created)"
	is "$(v ls --format 'table {{.Names}}\t{{.State}}' | sort)" "$(printf '%s\n' 'NAMES    STATE' 'one      created' 'twotwo   created')"
	is "$(v ls --format json)" "$(v ls --json)"
	is "$(v ps --format '{{.Names}}')" ''
	v start one twotwo >/dev/null
	soon state_is twotwo completed
	v ls --format '{{.Names}} {{.Status}}' | sort >out
	grep -qE '^one Up [0-9]+ (second|minute)s?$' out
	grep -qE '^twotwo Exited \(0\) [0-9]+ (second|minute)s? ago$' out
	exits 2 v ps --format '{{.ID}} {{.Mounts}}'
	like "$(cat err)" "viv: --format: '{{.Mounts}}' is not supported; the fields are {{.ID}}, {{.Names}}, *{{.Labels}}; usage: viv ps *"
	for bad in '{{' '{{.ID' '{{.ID}' '{{ID}}' '{{json .ID}}' 'table {{.X}}'; do exits 2 v ps --format "$bad"; done
	exits 2 v ps -q --format '{{.ID}}'
}
check 'ps --format: fields, tables and wrong templates @r' formats

logs_of() {
	world
	c=$(v run -d -- sh -c 'echo one; sleep 1; printf "two\nthree\n"; exec sleep 1000')
	soon eval '[[ $(v logs "$c" | wc -l) == 3 ]]'
	is "$(v logs --tail 1 "$c")" three
	is "$(v logs -n 2 "$c")" $'two\nthree'
	is "$(v logs --tail 0 "$c")" ''
	at=$(v logs --json "$c" | tail -n 1 | field time)
	is "$(v logs --since "$at" "$c")" $'two\nthree'
	is "$(v logs --since 1h "$c" | wc -l)" 3
	v logs -f "$c" >f &
	p=$!
	soon eval '[[ $(wc -l <f) == 3 ]]'
	v stop -t 0 "$c" >/dev/null
	wait "$p"
	is "$(v logs --tail 1 "$c")" three 'after its end'
}
check 'logs: tail by lines, since, follow to the end @r' logs_of

pruning() {
	world
	v run -d -- true >/dev/null
	v run -d --name kept -- true >/dev/null
	soon eval '[[ $(v ls --json | grep -c "\"state\":\"completed\"") == 2 ]]'
	touch run/vivarium/cells/00ff.1.log
	mkdir files
	v image import -q files >/dev/null
	exits 2 v prune
	like "$(cat out)" '*1 ended cells*1 images*1 files*00ff.1.log*'
	is "$(v ls -q | wc -l)" 2
	v prune -f >/dev/null
	is "$(v ls -q)" kept
	is "$(v image ls -q)" ''
	[[ ! -e run/vivarium/cells/00ff.1.log ]]
	is "$(v prune -f)" 'There is nothing to remove.'
}
check 'prune says what it removes and keeps what has a name @r' pruning

volumes_of() {
	world
	for n in mounted free1 free2 running; do v volume create "$n" >/dev/null; done
	v create --name keeps -v mounted:/data -- true >/dev/null
	v run -d --name has -v running:/data -- sh -c 'head -c 1000000 /dev/zero >/data/x; sync; touch /run/up; exec sleep 1000' >/dev/null
	soon v exec has test -e /run/up
	v volume inspect --json running >out
	is "$(field name <out) $(field in_use <out) $(field cells <out)" 'running true ["has"]'
	[[ $(field size <out) -ge 1000000 ]]
	is "$(v volume inspect mounted | field in_use) $(v volume inspect mounted | field cells.0)" 'false keeps'
	exits 3 v volume inspect none
	# Nobody can be asked: shown, and nothing happens.
	exits 2 v volume prune
	like "$(cat out)" 'Volumes that no cell mounts:*free1 *free2 *'
	fails grep -qE 'mounted|running' out
	is "$(v volume ls -q | wc -l)" 4
	like "$(v volume prune -f | tail -n 1)" 'Removed 2 volumes (*B).'
	is "$(v volume ls -q | tr '\n' ' ')" 'mounted running '
	is "$(v volume prune -f)" 'There is nothing to remove.'
	is "$(v volume prune -f --json)" '{"volumes":[],"removed":true,"size":0}'
	v rm keeps >/dev/null
	v volume prune -f >/dev/null
	is "$(v volume ls -q)" running
}
check 'volume inspect, and prune of those that no cell mounts @r' volumes_of

disk_usage() {
	world
	df() { v system df --json | field "$1.$2"; }
	is "$(df cells count) $(df snapshots count) $(df images count) $(df volumes count)" '0 0 0 0'
	mkdir files
	head -c 500000 /dev/urandom >files/x
	v image import -q --tag t files >/dev/null
	is "$(df images count) $(df images reclaimable)" '1 0'
	[[ $(df images size) -ge 500000 ]]
	v image tag t kept >/dev/null
	v image rm t >/dev/null
	is "$(df images reclaimable)" 0
	v volume create vol >/dev/null
	[[ $(df volumes reclaimable) -gt 0 && $(df volumes reclaimable) == "$(df volumes size)" ]]
	v run --name a -- sh -c 'head -c 600000 /dev/zero | tr "\0" x >/root/big'
	[[ $(df cells size) -ge 600000 && $(df cells reclaimable) == "$(df cells size)" ]]
	v snapshot a one >/dev/null
	is "$(df cells count) $(df snapshots count) $(df snapshots reclaimable)" '1 1 0'
	[[ $(df cells size) -lt 600000 && $(df snapshots size) -ge 600000 ]]
	v run -d --name b -- sleep 1000 >/dev/null
	is "$(df cells count)" 2
	[[ $(df cells reclaimable) -lt $(df cells size) ]]
	is "$(v system df | awk '{print $1, $2}' | tr '\n' ' ')" 'TYPE COUNT cells 2 snapshots 1 images 1 volumes 1 '
	# An untagged image is what prune removes.
	head -c 500000 /dev/urandom >files/y
	v image import -q files >/dev/null
	[[ $(df images count) == 2 && $(df images reclaimable) -ge 500000 && $(df images reclaimable) -lt 600000 ]]
	v prune -f >/dev/null
	is "$(df images count) $(df images reclaimable)" '1 0'
}
check 'system df: what takes how much room, and what could go @r' disk_usage

doctor() {
	world
	exits 0 v doctor
	[[ $(grep -c '^ok ' out) -ge 8 ]]
	fails grep -q '^fail' out
	v doctor --json >out
	is "$(grep -c '"check"' out)" "$(v doctor | grep -cE '^(ok|warn|fail) ')"
	# What is missing is said, with what to do, and is exit status 1.
	exits 1 bash -c 'ulimit -n 100; "$0" doctor' "$VIV"
	grep -q '^fail *open-files' out
	grep -q -e '-> raise the hard limit' out
	# A /proc of which something is hidden cannot be had anew.
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mount --bind /dev/null /proc/cpuinfo && "$0" doctor' "$VIV" >out || true
	grep -A 1 '^warn *private-proc' out | grep -q -e '-> .*--memory'
	touch file
	XDG_DATA_HOME=$PWD/file exits 1 v doctor
	grep -q '^fail *store' out
	if [[ $(id -u) != 0 ]]; then
		mkdir -m 500 home
		XDG_DATA_HOME='' HOME=$PWD/home exits 1 v doctor --json
		like "$(grep '"store"' out)" '*"status":"fail"*"remedy"*'
	fi
	v daemon start
	v doctor | grep -q '^ok *vivd .* runs'
}
check 'doctor: what is there, and what is not @r' doctor

completion_bash() {
	world
	ln -s "$VIV" viv
	export PATH=$PWD:$PATH
	v create --name alpha -- true >/dev/null
	v create --name beta -- true >/dev/null
	v volume create vol >/dev/null
	mkdir files
	v image import -q --tag debian files >/dev/null
	v completion bash >script
	complete_of() { # words...: the candidates for the last one
		bash --norc -c '. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _viv; printf "%s\n" "${COMPREPLY[@]}"' x viv "$@" | sort | tr '\n' ' '
	}
	is "$(complete_of st)" 'start stats stop '
	is "$(complete_of start '')" 'alpha beta '
	is "$(complete_of exec al)" 'alpha '
	is "$(complete_of stop --t)" '--time '
	is "$(complete_of run --image de)" 'debian '
	is "$(complete_of volume '')" 'create inspect ls prune rm '
	v snapshot alpha >/dev/null
	v snapshot alpha before >/dev/null
	is "$(complete_of rollback al)" 'alpha '
	is "$(complete_of rollback alpha '')" 'before s1 '
	is "$(complete_of volume rm '')" 'vol '
	is "$(complete_of run --restart '')" 'always no on-failure '
	like "$(complete_of run --)" '*--cpus *--memory *'
	is "$(bash --norc -c '. ./script; complete -p viv')" 'complete -F _viv viv'
	# Asking starts no vivd.
	v rm alpha beta >/dev/null
	v daemon stop
	is "$(complete_of start '')" ' '
	exits 3 v daemon status
}
check 'completion in bash @r' completion_bash

completion_zsh() {
	world
	ln -s "$VIV" viv
	v create --name alpha -- true >/dev/null
	v completion zsh >_viv
	python3 "$E2E_DIR/verbs.py" zsh "$PWD"
}
if command -v zsh >/dev/null; then
	check 'completion in zsh @r' completion_zsh
else
	lack 'completion in zsh @r' 'zsh is not installed'
fi

terminal() {
	world
	c=$(v run -d --name shown -- sh -c 'while :; do :; done')
	python3 "$E2E_DIR/verbs.py" "$1" "$VIV"
}
check 'top has the screen, sorts, follows its size and gives the terminal back @r' terminal top
check 'shell: the login shell of the cell, on a terminal @r' terminal shell
check 'prune asks at a terminal @r' terminal prune

shells() {
	world
	v run -d --name sh -- sleep 1000 >/dev/null
	is "$(echo 'echo $0 $HOME; pwd; exit 5' | { v shell sh || echo "rc $?"; })" $'/bin/bash /root\n/root\nrc 5'
	is "$(echo 'id -u; pwd' | v shell -u agent -w /tmp sh)" $'1000\n/tmp'
	v exec sh sh -c 'sed -i "s|^root:.*|root:x:0:0::/:/no/such/shell|" /etc/passwd'
	is "$(echo 'echo $SHELL' | v shell sh)" /bin/sh
}
check 'shell: by the cell'"'"'s own /etc/passwd, else /bin/sh @r' shells
