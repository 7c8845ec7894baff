# vivarium.yaml: viv up, apply, down. shellcheck shell=bash

# Names and states of all cells, in order.
cells() { api /v1/cells | python3 -c 'import json,sys; print(*sorted(c["name"] + ":" + c["state"] for c in json.load(sys.stdin)["cells"]))'; }
events() { api '/v1/events?since=0&follow=0' >events; }
# The numbers of the first events like these, one after the other.
in_order() { # patterns...
	local p n last=0
	for p; do
		n=$(grep -n -m 1 -e "$p" events | cut -d: -f1)
		[[ -n $n && $n -gt $last ]] || { echo "not in order: $p ($n after $last)"; cat events; return 1; }
		last=$n
	done
}
id_of() { api "/v1/cells/$1" | field id; }
# The same machine twice is the same machine.
settled() {
	exits 0 v up
	is "$(tail -n 1 out)" 'nothing to do'
}

whole() {
	own_vivd
	cat >vivarium.yaml <<-'EOF'
	name: shop
	cells:
	  db:
	    command: [sleep, 600]
	    stop_grace: 0
	    limits: {memory: 64M, pids: 50}
	    mounts:
	      - {volume: data, target: /data}
	      - {tmpfs: true, target: /scratch, size: 1M}
	      - {source: ./here, target: /here, readonly: true}
	  web:
	    replicas: 3
	    command: [sh, -c, 'sleep 600; :']
	    env: {PORT: 8080}
	    labels: {tier: front}
	    stop_grace: 0
	    restart: on-failure
	    depends_on: [db]
	volumes:
	  data:
	EOF
	mkdir here
	echo from the host >here/file
	exits 0 v up
	is "$(grep -E '^  \+' out | tr -s ' ')" "$(printf ' + db create\n + web-1 create\n + web-2 create\n + web-3 create\n + data make the volume')"
	is "$(tail -n 1 out)" '5 changed, 0 unchanged, 0 failed'
	is "$(cells)" 'db:running web-1:running web-2:running web-3:running'
	is "$(api /v1/cells/web-2 | field labels | python3 -c 'import json,sys; v=json.load(sys.stdin); print(v["tier"], v["vivarium.project"], v["vivarium.cell"], len(v["vivarium.spec"]))')" 'front shop web 32'
	is "$(run_in db sh -c 'cat /here/file; echo 1 >/data/kept; df -k /scratch | tail -n 1 | tr -s " " | cut -d" " -f2')" "$(printf 'from the host\n1024')"
	run_in web-1 sh -c 'echo mine >/root/f'
	events
	last=$(tail -n 1 events | field seq)
	before=$(id_of web-1) pid=$(api /v1/cells/web-1 | field pid)
	settled
	is "$(grep -c '^  = ' out)" 4
	events
	is "$(tail -n 1 events | field seq)" "$last" 'nothing happened'
	# A change: the files in the cell stay. One replica less, one cell more.
	sed -i 's/8080/8081/; s/replicas: 3/replicas: 2/; s/^  web:/  extra: {command: [sleep, 600], stop_grace: 0}\n  web:/' vivarium.yaml
	exits 0 v up --dry-run
	is "$(grep -E '^  [-+~=]' out | tr -s ' ')" "$(printf ' = db\n + extra create\n ~ web-1 change and restart: env.PORT\n ~ web-2 change and restart: env.PORT\n - web-3 remove')"
	is "$(tail -n 1 out)" 'dry run: nothing was changed'
	events
	is "$(tail -n 1 events | field seq)" "$last" 'a dry run changes nothing'
	is "$(cells)" 'db:running web-1:running web-2:running web-3:running'
	exits 0 v up
	is "$(cells)" 'db:running extra:running web-1:running web-2:running'
	is "$(id_of web-1)" "$before"
	[[ $(api /v1/cells/web-1 | field pid) != "$pid" ]]
	is "$(run_in web-1 sh -c 'cat /root/f; echo $PORT')" "$(printf 'mine\n8081')"
	settled
	# One that was stopped is started; only those that are asked for, and what they depend on.
	api /v1/cells/db/stop -X POST >/dev/null
	api /v1/cells/extra/stop -X POST >/dev/null
	exits 0 v up web-1
	is "$(cells)" 'db:running extra:stopped web-1:running web-2:running'
	# What is not in the file any more is told, and goes when that is asked for.
	sed -i '/^  extra:/d' vivarium.yaml
	exits 0 v up
	like "$(cat out)" '*? extra*not in the file; --remove-orphans removes it*'
	is "$(cells)" 'db:running extra:stopped web-1:running web-2:running'
	exits 0 v up --remove-orphans
	is "$(cells)" 'db:running web-1:running web-2:running'
	sed -i 's/replicas: 2/replicas: 4/' vivarium.yaml
	exits 0 v up --json
	is "$(tail -n 1 out)" '{"type":"end","changed":2,"unchanged":3,"failed":0}'
	is "$(cells)" 'db:running web-1:running web-2:running web-3:running web-4:running'
	exits 0 v down --dry-run --volumes
	is "$(grep -c '^  - ' out)" 6
	is "$(cells)" 'db:running web-1:running web-2:running web-3:running web-4:running'
	exits 0 v down
	is "$(cells)" ''
	is "$(v volume ls -q)" data 'volumes stay'
	exits 0 v up db
	is "$(run_in db cat /data/kept)" 1
	exits 0 v down --volumes
	is "$(v volume ls -q)$(cells)" '' 'nothing is left'
	exits 0 v down
	is "$(tail -n 1 out)" 'nothing to do'
}
check 'up, again, changes, replicas, orphans, down @r' whole

order() {
	own_vivd
	cat >vivarium.yaml <<-'EOF'
	cells:
	  web: {command: [sleep, 600], stop_grace: 0, depends_on: {job: {condition: exited}, db: {condition: started}}}
	  job: {command: [sh, -c, 'sleep 0.3; exit 0'], depends_on: [db]}
	  db: {command: [sleep, 600], stop_grace: 0}
	EOF
	exits 0 v up -p ordered
	is "$(cells)" 'db:running job:completed web:running'
	db=$(id_of db) job=$(id_of job) web=$(id_of web)
	events
	in_order "cell.state.*$db.*\"state\":\"running\"" "cell.created.*$job" "cell.state.*$job.*\"state\":\"completed\"" "cell.created.*$web"
	settled_job=$(api /v1/cells/job | field started)
	exits 0 v up -p ordered
	is "$(tail -n 1 out)" 'nothing to do'
	is "$(api /v1/cells/job | field started)" "$settled_job" 'what is done is not done again'
	exits 0 v down -p ordered
	events
	# Without a file nobody knows what depends on what.
	is "$(cells)" ''
	v up -p ordered >/dev/null
	web=$(id_of web) db=$(id_of db)
	v down -f vivarium.yaml -p ordered >/dev/null
	events
	in_order "cell.created.*$db" "cell.created.*$web" "cell.removed.*$web" "cell.removed.*$db"
	# A failure stops what depends on it, and nothing else.
	sed -i "s/exit 0/exit 3/; s/^  db:/  other: {command: [sleep, 600], stop_grace: 0}\n  db:/" vivarium.yaml
	exits 1 v up -p ordered
	like "$(cat err)" "*web: it depends on 'job', which ended with status 3*"
	is "$(cells)" 'db:running job:stopped other:running'
	sed -i 's/exit 3/exit 0/' vivarium.yaml
	exits 0 v up -p ordered
	is "$(cells)" 'db:running job:completed other:running web:running'
	# One that cannot start.
	printf 'cells:\n  bad: {command: [sleep, 1], mounts: [{source: /no/such/place, target: /x}]}\n  after: {depends_on: [bad]}\n' >bad.yaml
	exits 1 v up -f bad.yaml -p bad
	like "$(cat err)" '*bad: the cell could not start*/no/such/place*after: it depends on*'
	is "$(api '/v1/cells?label=vivarium.project%3Dbad' | field cells.0.state)" failed
}
check 'depends_on: order, conditions, failures @r' order

applying() {
	own_vivd
	cat >vivarium.yaml <<-'EOF'
	name: a
	cells:
	  one: {command: [sleep, 600], stop_grace: 0, env: {X: 1}, labels: {l: a}}
	  two: {command: [sleep, 600], stop_grace: 0}
	  idle: {stop_grace: 0}
	EOF
	v up >/dev/null
	one=$(api /v1/cells/one | field pid) two=$(api /v1/cells/two | field pid)
	sed -i 's/X: 1}, labels: {l: a}/X: 2}, labels: {l: b}, restart: always/; s/two: {command: .sleep, 600./two: {idle_timeout: 900, command: [sleep, 600]/; s/idle: {/idle: {idle_timeout: 0.5, /' vivarium.yaml
	exits 0 v apply
	is "$(grep -E '^  [!~]' out | tr -s ' ')" "$(printf ' ! one needs a restart: env.X, labels.l, restart\n ~ two change: idle_timeout\n ~ idle change: idle_timeout')"
	like "$(cat out)" "*'viv apply --restart' restarts what needs it*"
	is "$(api /v1/cells/one | field pid) $(api /v1/cells/two | field pid)" "$one $two" 'both go on'
	is "$(api /v1/cells/one | field labels.l)" b 'what can be changed is'
	is "$(api /v1/cells/one | field spec.restart.policy)" always
	is "$(run_in one sh -c 'echo $X')" 1
	is "$(api /v1/cells/idle/wait | field reason)" idle 'a new time-out counts at once'
	exits 0 v apply one two
	is "$(grep -E '^  [!~=]' out | tr -s ' ')" "$(printf ' ! one needs a restart: env.X\n = two')"
	exits 0 v apply --restart one two
	[[ $(api /v1/cells/one | field pid) != "$one" ]]
	is "$(run_in one sh -c 'echo $X')" 2
	exits 0 v apply one two
	is "$(tail -n 1 out)" 'nothing to do'
	# Another image is another disk: not without being asked.
	mkdir -p tree/bin && cp "$(command -v busybox)" tree/bin/busybox && ln -s busybox tree/bin/sh
	v image import -q --tag small tree >/dev/null
	run_in two sh -c 'echo 1 >/root/f'
	sed -i 's/two: {/two: {image: small, entrypoint: "", /; s/command: .sleep, 600.}/command: [\/bin\/busybox, sleep, 600]}/' vivarium.yaml
	sed -i 's/idle_timeout: 900, command: .sleep/idle_timeout: 900, command: [\/bin\/busybox, sleep/' vivarium.yaml
	exits 5 v up two
	like "$(cat out)" '*! two*--recreate does so*image*'
	state_is two running
	run_in two test -e /root/f
	exits 0 v up --recreate two
	run_in two /bin/busybox test ! -e /root/f
	exits 0 v up two
	is "$(tail -n 1 out)" 'nothing to do'
	v down >/dev/null
}
check 'apply: what can be changed, what needs a restart or a new disk @r' applying

wrong() {
	own_vivd
	exits 3 v up
	like "$(cat err)" "*cannot read 'vivarium.yaml'*-f names another file*"
	v daemon start
	try_file() { # text, what is told
		printf '%b' "$1" >vivarium.yaml
		exits 2 v up
		is "$(cat err)" "viv: vivarium.yaml:$2"
	}
	try_file 'cells:\n  a: {}\n  web:\n    imgae: x\n' "4:5: a cell has no key 'imgae'; did you mean 'image'?"
	try_file 'cells:\n  web: {replicas: many}\n' "2:19: 'replicas' must be a whole number, not negative"
	try_file 'cells:\n  a: {depends_on: [b]}\n  b: {depends_on: [c]}\n  c: {depends_on: [a]}\n' '2:3: cells depend on each other in a circle: a -> b -> c -> a'
	try_file 'cells:\n  a: {command: [sleep, 5}\n' "2:25: this is not YAML: did not find expected ',' or ']' while parsing a flow sequence"
	try_file 'cells:\n  a: {env: {X: "${NOT_SET_AT_ALL}"}}\n' '2:16: the variable NOT_SET_AT_ALL is not set; set it, or write ${NOT_SET_AT_ALL:-DEFAULT}'
	printf 'cells:\n  a: {}\n  \xff: {}\n' >vivarium.yaml
	exits 2 v up
	is "$(cat err)" 'viv: vivarium.yaml:3: not valid UTF-8'
	head -c 1100000 /dev/zero | tr '\0' x >vivarium.yaml
	exits 2 v up
	echo 'cells: {a: {}}' | exits 2 v up --many
	echo 'cells: {a: {}}' | exits 0 v up -f - -p piped
	# What is somebody else's is left alone.
	echo 'cells: {a: {}}' >vivarium.yaml
	exits 5 v up -p other
	like "$(cat err)" "*cell 'a' belongs to project 'piped'*"
	make_cell '{"name":"mine"}' >/dev/null
	echo 'cells: {mine: {}, new: {}}' >vivarium.yaml
	exits 5 v up -p other
	like "$(cat err)" "*there is a cell 'mine' already that project 'other' did not make*"
	v volume create theirs >/dev/null
	printf 'cells: {b: {mounts: [{volume: theirs, target: /v}]}}\nvolumes: {theirs: }\n' >vivarium.yaml
	exits 0 v up -p other
	exits 0 v down -p other --volumes
	is "$(v volume ls -q)" theirs 'a volume that was there stays'
	printf 'cells: {}\nvolumes: {none: {external: true}}\n' >vivarium.yaml
	exits 3 v up -p other
	is "$(cells)" 'a:running mine:created'
	exits 3 v up -f vivarium.yaml -p other nobody
}
check 'a wrong file, a name that is taken: nothing is done @r' wrong

secrets() {
	own_vivd
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	read=$(v token create --scope read)
	export PASSWORD=hush-4711-hush OTHER=other-0815-other
	cat >vivarium.yaml <<-'EOF'
	name: hidden
	cells:
	  a:
	    command: [sh, -c, 'sleep 600; :']
	    stop_grace: 0
	    env: {DB: "pg://u:${PASSWORD}@db", PLAIN: visible, DEFAULT: "${NONE:-hush-default-hush}"}
	  fails:
	    command: [/no/such/program]
	    env: {DB: "${PASSWORD}"}
	EOF
	{
		v up --dry-run
		v up || true
		v up --json || true
		sed -i 's/PLAIN: visible/PLAIN: "${OTHER}"/' vivarium.yaml
		v apply || true
		v up || true
		v ps
		v ls
		v events --since 0 --no-follow
		v events --since 0 --no-follow --json
		v inspect a || true
		v logs a || true
		for wrong in 'replicas: ${PASSWORD}' 'timeout: ${PASSWORD}' 'restart: "${PASSWORD}"' 'command: ["${PASSWORD}"]' 'labels: {a: "${PASSWORD}"}' 'mounts: [{source: "${PASSWORD}/no", target: x}]' \
			'files: [{path: /f, from: "${PASSWORD}"}]' 'depends_on: ["${PASSWORD}"]' 'limits: {memory: "${PASSWORD}"}' 'user: ["${PASSWORD}"]'; do
			printf 'cells: {x: {%s}}\n' "$wrong" | v up -f - -p wrong && exit 1
		done
		api /v1/cells
		api /v1/cells/a
		api /v1/projects
		api '/v1/events?since=0&follow=0'
		for path in cells cells/a projects 'events?since=0&follow=0'; do
			curl -sS -H "Authorization: Bearer $read" "http://127.0.0.1:$port/v1/$path"
		done
		cat state/vivarium/vivd.log
		tr '\0' '\n' </proc/"$(pid_of)"/cmdline
		descendants # not all of the machine: the same test may run beside, and look for the values
	} >told 2>&1
	is "$(run_in a sh -c 'echo $DB $PLAIN $DEFAULT')" 'pg://u:hush-4711-hush@db other-0815-other hush-default-hush' 'the cell has them'
	[[ $(wc -l <told) -gt 60 ]]
	grep -q 'env.PLAIN' told
	fails grep -E 'hush-|other-0815' told
	v down >/dev/null
}
check 'the value of a variable is in no output, event, log or answer @r' secrets

healthy() {
	own_vivd
	mkdir go
	cat >vivarium.yaml <<-'EOF'
	name: health
	cells:
	  db:
	    command: [sleep, 600]
	    stop_grace: 0
	    mounts: [{source: go, target: /go, readonly: true}]
	    health: {command: [test, -e, /go/on], interval: 100ms, timeout: 20s, retries: 1000}
	  web: {command: [sleep, 600], stop_grace: 0, depends_on: {db: {condition: healthy}}}
	EOF
	: >o
	v up >o 2>&1 &
	up=$!
	soon grep -q 'web: waiting for db' o
	soon grep -q 'db: running' o
	is "$(cells)" db:running
	touch go/on
	wait "$up"
	is "$(cells)" 'db:running web:running'
	is "$(api /v1/cells/db | field health.status)" healthy
	settled
	v down >/dev/null
	# One that is found to be unhealthy stops what depends on it.
	rm go/on
	sed -i 's/retries: 1000/retries: 2/' vivarium.yaml
	exits 1 v up
	like "$(cat err)" "*web: it depends on 'db', which is unhealthy*"
	is "$(cells)" db:running
	v down >/dev/null
}
check 'depends_on: a cell that is healthy @r' healthy

files() {
	own_vivd
	export PASSWORD=hush-4711-hush
	printf 'a\0b\377' >bytes
	cat >vivarium.yaml <<-'EOF'
	name: files
	cells:
	  one:
	    command: [sh, -c, 'cat /etc/app/conf; exec sleep 600']
	    stop_grace: 0
	    files:
	      - path: /etc/app/conf
	        mode: 0600
	        content: |
	          password=${PASSWORD}
	          cost=5$$
	      - {path: /opt/deep/er/bytes, from: bytes}
	      - {path: /top, content: 1}
	EOF
	{
		v up
		v up --json
	} >told 2>&1
	is "$(tail -n 1 told)" '{"type":"end","changed":0,"unchanged":1,"failed":0}'
	said() { [[ $(api /v1/cells/one/logs -H 'Accept: text/plain') == "$(printf 'password=hush-4711-hush\ncost=5$')" ]]; }
	soon said # they are there before its first process, which has yet to say so
	is "$(run_in one sh -c 'stat -c "%a %u" /etc/app/conf /opt/deep/er/bytes; od -An -tx1 /opt/deep/er/bytes; cat /top')" "$(printf '600 0\n644 0\n 61 00 62 ff\n1')"
	# They are the cell's from then on, and are written again when they change.
	run_in one sh -c 'echo mine >/top; echo other >/opt/deep/er/bytes'
	v up >/dev/null
	is "$(run_in one cat /top)" mine
	sed -i 's/content: 1}/content: 2}/' vivarium.yaml
	v apply >>told
	grep -q 'needs a restart: files' told
	is "$(run_in one cat /top)" mine
	v up >>told
	is "$(run_in one sh -c 'cat /top; od -An -tx1 /opt/deep/er/bytes')" "$(printf '2 61 00 62 ff')"
	PASSWORD=hush-new-hush v up >>told
	is "$(run_in one head -n 1 /etc/app/conf)" password=hush-new-hush
	export PASSWORD=hush-new-hush
	# What cannot be written is told, and the cell is not started.
	printf 'cells: {two: {command: [sleep, 600], stop_grace: 0, files: [{path: /etc/hostname/x, content: "${PASSWORD}"}]}}\n' >two.yaml
	exits 1 v up -f two.yaml -p two
	like "$(cat err)" '*two: cannot write /etc/hostname/x: Not a directory*'
	is "$(cells)" 'one:running two:created'
	sed -i 's|hostname/x|hostx|' two.yaml
	exits 0 v up -f two.yaml -p two
	is "$(run_in two cat /etc/hostx)" hush-new-hush
	api '/v1/events?since=0&follow=0' >>told
	api /v1/cells >>told
	cat out err state/vivarium/vivd.log >>told
	fails grep hush- told
	fails grep -r hush- state
	v down >/dev/null
	v down -p two >/dev/null
}
check 'files are there before the first start, and nobody is told what is in them @r' files

broken_off() {
	own_vivd
	v daemon start
	{
		echo 'name: many'
		echo 'cells:'
		for i in 1 2 3 4 5 6; do echo "  c$i: {command: [sleep, 600], stop_grace: 0}"; done
		echo "  slow: {command: [sh, -c, 'until test -e /go/on; do sleep 0.05; done'], depends_on: [c1], mounts: [{source: go, target: /go, readonly: true}]}"
		echo '  last: {command: [sleep, 600], stop_grace: 0, depends_on: {slow: {condition: exited}}, mounts: [{volume: vol, target: /v}]}'
		echo 'volumes: {vol: }'
	} >vivarium.yaml
	mkdir go
	all='c1:running c2:running c3:running c4:running c5:running c6:running last:running slow:completed'
	# The command is interrupted while one waits: that one is not begun.
	: >o
	env --default-signal=INT "$VIV" up >o 2>&1 &
	up=$!
	soon grep -q 'last: waiting' o
	soon grep -q 'slow: running' o
	kill -INT "$up"
	wait "$up" || true
	touch go/on
	soon state_is slow completed
	is "$(status_of /v1/cells/last)" 404 'what was not begun is not'
	exits 0 v up
	is "$(cells)" "$all"
	settled
	v down >/dev/null
	# Killed at some moments: the command, and vivd.
	for moment in 0.02 0.1 0.3; do
		"$VIV" up >/dev/null 2>&1 &
		up=$!
		sleep "$moment"
		kill -9 "$up" || true
		wait "$up" || true
		exits 0 v up
		is "$(cells)" "$all" "after the command was killed at $moment"
		v down --volumes >/dev/null
		"$VIV" up >o 2>err &
		up=$!
		sleep "$moment"
		kill -9 "$(cat run/vivarium/vivd.lock)"
		# It fails, unless nothing had been said yet: then it asks the next vivd.
		wait "$up" || grep -q 'vivd' err
		exits 0 v up
		is "$(cells)" "$all" "after vivd was killed at $moment"
		settled
		"$VIV" down --volumes >o 2>err &
		down=$!
		sleep "$moment"
		kill -9 "$(cat run/vivarium/vivd.lock)"
		wait "$down" || true
		exits 0 v down --volumes
		is "$(cells)$(v volume ls -q)" '' "down, after vivd was killed at $moment"
	done
}
check 'broken off in the middle, the next one goes on @r' broken_off

at_once() {
	own_vivd
	v daemon start
	mkdir go
	printf 'name: p\ncells:\n  job: {command: [sh, -c, "until test -e /go/on; do sleep 0.05; done"], mounts: [{source: go, target: /go}]}\n  last: {command: [sleep, 600], stop_grace: 0, depends_on: {job: {condition: exited}}}\n' >vivarium.yaml
	: >o
	v up >o &
	up=$!
	soon grep -q 'job: running' o
	exits 5 v up
	like "$(cat err)" "*somebody else changes project 'p' now*"
	touch go/on
	wait "$up"
	is "$(cells)" 'job:completed last:running'
	v down >/dev/null
}
check 'one change of a project at a time' at_once

example() {
	own_vivd
	cp -r "$E2E_DIR/examples/notes" .
	cd notes
	exits 2 v up
	like "$(cat err)" '*vivarium.yaml:*: the variable TOKEN is not set: the token of the service'
	export TOKEN=secret WORKERS=2
	exits 0 v up
	is "$(cells)" 'app:running setup:completed worker-1:running worker-2:running'
	is "$(run_in app sh -c 'cat /data/notes; echo $TOKEN; grep ^name: /etc/app/vivarium.yaml')" "$(printf 'first note\nsecret\nname: notes')"
	soon eval "[[ \$(api /v1/cells/app/logs -H 'Accept: text/plain') == 'ready on port 8080' ]]"
	settled
	WORKERS=1
	exits 0 v up
	is "$(cells)" 'app:running setup:completed worker-1:running'
	exits 0 v down --volumes
	is "$(cells)$(v volume ls -q)" ''
}
check 'the example of the documentation @r' example
