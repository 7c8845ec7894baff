# Fleets: agents in vivarium.yaml, replicas with variables of their own, viv up --wait, viv init. shellcheck shell=bash

states() { api /v1/cells | python3 -c 'import json,sys; print(*sorted(c["name"] + ":" + c["state"] for c in json.load(sys.stdin)["cells"]))'; }
agent_of() { # name, definition on standard input
	mkdir -p config/vivarium/agents
	export XDG_CONFIG_HOME=$PWD/config
	cat >"config/vivarium/agents/$1.yaml"
}
kill_vivd() { # and wait for its end
	local pid
	pid=$(pid_of)
	kill -KILL "$pid"
	soon gone "$pid"
}
settled() {
	exits 0 v up "$@"
	is "$(tail -n 1 out)" 'nothing to do'
}

replicas() {
	own_vivd
	cat >vivarium.yaml <<-'END'
	cells:
	  shard:
	    replicas: [{SHARD: a, KEY: "${KEY}"}, {SHARD: b}, {}]
	    command: [sh, -c, 'echo $$VIV_REPLICA $$SHARD $$KEY; exec sleep infinity']
	    env: {SHARD: none}
	    stop_grace: 0
	  one: {replicas: 1, command: [sh, -c, 'echo $$VIV_REPLICA; exec sleep infinity'], stop_grace: 0}
	  plain: {command: [sh, -c, 'echo "[$$VIV_REPLICA]"; exec sleep infinity'], stop_grace: 0}
	END
	export KEY=hidden-value
	exits 0 v up -p r
	said() { soon eval "[[ \$(v logs $1) == '$2' ]]"; }
	said shard-1 '1 a hidden-value'
	said shard-2 '2 b'
	said shard-3 '3 none'
	said one-1 1
	said plain '[]'
	fails grep -r hidden-value out err
	fails eval "api /v1/cells/shard-1 | grep hidden-value"
	settled -p r
	# Another value of one replica is a change of that one.
	sed -i 's/SHARD: b/SHARD: c/' vivarium.yaml
	exits 0 v up -p r --dry-run
	is "$(grep -c '^  ~' out)" 1
	like "$(grep '^  ~' out)" '*shard-2*env.SHARD*'
	exits 0 v up -p r
	said shard-2 '2 c'
	# Fewer maps are fewer replicas.
	sed -i 's/, {}\]/]/' vivarium.yaml
	exits 0 v up -p r
	is "$(states)" 'one-1:running plain:running shard-1:running shard-2:running'
	settled -p r
	for bad in 'replicas: [a]' 'replicas: [{A=B: 1}]' 'replicas: {A: 1}' 'replicas: [[]]' 'replicas: -1'; do
		printf 'cells: {a: {%s}}\n' "$bad" >bad.yaml
		exits 2 v up -f bad.yaml -p bad
	done
	is "$(v up -f bad.yaml -p bad --json 2>&1 | grep -c hidden)" 0
}
check 'replicas with variables of their own @r' replicas

# The agent is a command that is run once for each prompt, and keeps a list of them.
agents() {
	own_vivd
	mkdir work
	agent_of lister <<-'END'
	name: lister
	image: host
	print: [sh, -c, 'echo "$0" >>/work/prompts; test "$0" != fail']
	workdir: /work
	env: {COLOR: red, SIZE: small}
	network: [allow net agent.example]
	END
	cat >vivarium.yaml <<-'END'
	cells:
	  coder:
	    agent: lister
	    prompt: first task for ${WHO}
	    env: {SIZE: large}
	    policy: [deny net other.example]
	    mounts: [{source: work, target: /work}]
	    stop_grace: 0
	END
	export WHO=you
	exits 0 v up -p a --wait
	like "$(cat out)" $'*coder: prompted*coder: answered*'
	is "$(cat work/prompts)" 'first task for you'
	is "$(run_in coder sh -c 'echo $COLOR $SIZE; pwd')" $'red large\n/work'
	is "$(api /v1/cells/coder | python3 -c 'import json,sys; print(json.load(sys.stdin)["spec"]["policy"])')" "['allow net agent.example', 'deny net other.example']"
	# It is given once: again, after a restart of the cell, and after kill -9 of vivd.
	settled -p a --wait
	v restart coder >/dev/null
	settled -p a
	pid=$(v daemon status --json | field pid)
	kill -9 "$pid"
	settled -p a --wait
	is "$(cat work/prompts)" 'first task for you'
	# Another prompt is another session; the first one stays.
	printf 'second task' >task.md
	sed -i 's/prompt: .*/prompt_file: task.md/' vivarium.yaml
	exits 0 v up -p a --wait
	like "$(cat out)" '*~ coder*prompt*'
	is "$(cat work/prompts)" $'first task for you\nsecond task'
	is "$(v session ls --json | wc -l)" 2
	settled -p a
	v down -p a >/dev/null
	# What cannot be is said before anything is done.
	try() { # keys, message
		printf 'cells: {a: {%s}}\n' "$1" >bad.yaml
		status=0
		v up -f bad.yaml -p bad >out 2>err || status=$?
		[[ $status != 0 ]] || { echo "accepted: $1"; return 1; }
		like "$(cat err)" "*$2*"
		is "$(states)" ''
	}
	try 'prompt: x' "a prompt is for an agent"
	try 'agent: lister, prompt: x, prompt_file: task.md' "one of 'prompt' and 'prompt_file'"
	try 'agent: lister, command: [sh]' "one of 'agent' and 'command'"
	try 'agent: lister, prompt_file: none.md' "'prompt_file': cannot read it"
	try 'agent: nobody, prompt: x' "there is no agent 'nobody'"
	try 'agent: claude, prompt: x' "the agent 'claude' has no image*viv agent add claude"
	printf 'a\0b' >zero.md
	try 'agent: lister, prompt_file: zero.md' 'not a text'
}
check 'agents with prompts, which are given once @r' agents

waits() {
	own_vivd
	mkdir go
	cat >vivarium.yaml <<-'END'
	cells:
	  job: {command: [sh, -c, 'echo done'], stop_grace: 0}
	  server: {command: [sleep, infinity], stop_grace: 0}
	  slow:
	    command: [sleep, infinity]
	    stop_grace: 0
	    mounts: [{source: go, target: /go, readonly: true}]
	    health: {command: [test, -e, /go/on], interval: 50ms, retries: 1000}
	    depends_on: [server]
	END
	"$VIV" up -p w --wait >o 2>&1 &
	up=$!
	soon grep -q 'slow: running' o
	kill -0 "$up"
	fails grep -q healthy o
	touch go/on
	wait "$up"
	grep -q 'slow: healthy' o
	like "$(tail -n 1 o)" '3 changed, 0 unchanged, 0 failed'
	soon state_is job completed
	is "$(api /v1/cells/job | field exit_code)" 0
	settled -p w --wait
	like "$(cat out)" '*job: completed*'
	# One that sleeps is as it is to be, and stays asleep.
	v sleep server >/dev/null
	soon eval "[[ \$(api /v1/cells/server | field state) == sleeping ]]"
	settled -p w --wait
	is "$(api /v1/cells/server | field state)" sleeping
	v wake server >/dev/null
	# What does not get there is a failure, and so is the time.
	rm go/on
	sed -i 's/interval: 50ms/interval: 60ms/' vivarium.yaml
	exits 1 v up -p w --wait-timeout 300ms
	like "$(cat err)" '*slow*not ready yet*'
	# A client that goes away does not stop what was begun, and the next one is not refused.
	"$VIV" up -p w --wait >o 2>&1 &
	up=$!
	soon grep -q 'project w' o
	kill "$up"
	wait "$up" || true
	touch go/on
	exits 0 v up -p w --wait
	like "$(cat out)" '*slow: healthy*'
	# One that is given up is a failure: it is unhealthy, and nobody starts it again.
	rm go/on
	sed -i 's/retries: 1000/retries: 2/' vivarium.yaml
	exits 1 v up -p w --wait
	like "$(cat err)" '*slow*it is unhealthy*'
	v down -p w >/dev/null
}
check 'up --wait: healthy, completed, failed, too late @r' waits

# What the work of a cell leaves, as JSON or as a text; and the state of a cell that has done it.
results() {
	own_vivd
	cell_is() { api "/v1/cells/$1" | python3 -c 'import json,sys; c=json.load(sys.stdin); print(c["state"], c.get("exit_code"), json.dumps(c.get("result")))'; }
	cat >vivarium.yaml <<-'END'
	cells:
	  sum: {command: [sh, -c, 'echo "{\"sum\": [1, 2]}" >/dev/result'], read_only: true}
	  text: {command: [sh, -c, 'echo first >/dev/result; echo one >/dev/result; printf "two\\n" >>/dev/result'], user: nobody}
	  none: {command: ['true']}
	END
	exits 0 v up -p r
	is "$(v wait sum text none)" $'0\n0\n0'
	exits 0 v up -p r --wait
	grep -qF 'sum: completed: {"sum":[1,2]}' out
	grep -qxF 'none: completed' out
	v up -p r --wait --json >out
	is "$(python3 -c 'import json; print(*([o["exit_code"], o.get("result")] for o in map(json.loads, open("out")) if o.get("step") == "completed"))')" "[0, {'sum': [1, 2]}] [0, 'one\\ntwo'] [0, None]"
	is "$(cell_is sum)" 'completed 0 {"sum": [1, 2]}'
	is "$(v wait --result sum)" '{"sum":[1,2]}'
	is "$(v wait --result text)" $'one\ntwo'
	is "$(v wait --result --json text)" '"one\u000atwo"'
	is "$(v inspect sum | field result)" '{"sum": [1, 2]}'
	exits 3 v wait --result none
	like "$(cat err)" "*'none' left no result*/dev/result*"
	exits 2 v wait --result sum:1
	is "$(v ps -q)" '' 'they do not run'
	is "$(v ps -aq --filter state=completed | wc -l)" 3
	is "$(api '/v1/cells?state=completed' | grep -c '"result"' || true)" 0 'a list has no results'
	like "$(api /metrics)" '*vivarium_cells{state="completed"} 3*'
	like "$(v events --since 0 --no-follow --json | grep '"state":"completed"' | head -n 1)" '*"exit_code":0*"reason":"exited"*'
	# Another run is another result, also for one that left none; and kill -9 of vivd loses none.
	cell() { v create --name "$1" "${@:3}" -- sh -c "$2" >/dev/null && v start "$1" >/dev/null && v wait "$1" >/dev/null; }
	cell again 'test -e /once || echo 1 >/dev/result; touch /once'
	is "$(cell_is again)" 'completed 0 1'
	kill_vivd
	v ls >/dev/null # which starts another
	is "$(cell_is again)" 'completed 0 1'
	v start again >/dev/null
	v wait again >/dev/null
	is "$(cell_is again)" 'completed 0 null'
	v create --name late -- sh -c 'until test -e /go; do sleep 0.05; done; echo \"late\" >/dev/result' >/dev/null
	v start late >/dev/null
	soon eval "[[ \$(api /v1/cells/late | field state) == running ]]"
	kill_vivd
	keeper=$(ls run/vivarium/cells/*.sock)
	v exec late -- touch /go
	soon eval "[[ ! -S $keeper ]]"
	v ls >/dev/null
	is "$(cell_is late)" 'completed 0 "late"'
	is "$(find run/vivarium/cells -name '*.result' -o -name '*.end')" ''
	# One that failed, was stopped, or is to be started again is not completed; it may leave something.
	cell bad 'echo half >/dev/result; exit 3'
	is "$(cell_is bad)" 'stopped 3 "half"'
	v create --name told -- sh -c 'trap "echo told >/dev/result; exit 0" TERM; touch /up; while :; do sleep 0.05; done' >/dev/null
	v start told >/dev/null
	soon v exec told -- test -e /up
	v stop told >/dev/null
	is "$(cell_is told)" 'stopped 0 "told"'
	cell more 'exit 0' --restart always
	soon eval "v events --since 0 --no-follow --json | grep -q '\"type\":\"cell.restarting\"'"
	fails eval "v events --since 0 --no-follow --json | grep \"name\":\"more\" | grep -q completed"
	v rm --force more >/dev/null
	# Hostile bytes: bounded, never interpreted.
	cell large 'head -c 65536 /dev/zero | tr "\\0" x >/dev/result; echo y >>/dev/result || echo full >/dev/stderr'
	is "$(v wait --result large | wc -c)" 65537
	like "$(v logs large 2>&1)" '*full'
	cell holes 'printf z | dd of=/dev/result bs=1 seek=9 2>/dev/null; dd if=/dev/zero of=/dev/result bs=1 seek=70000 count=1 2>/dev/null; truncate -s 1T /dev/result; ! mv /dev/result /tmp/x 2>/dev/null; ! rm -f /dev/result 2>/dev/null; ! ln -s /etc/passwd /dev/result 2>/dev/null'
	is "$(cell_is holes)" 'completed 0 "?????????z"'
	cell deep 'python3 -c "print(40 * \"[\" + 40 * \"]\")" >/dev/result'
	like "$(cell_is deep)" 'completed 0 "\[\[*"'
	cell twice 'echo "{\"a\":1,\"a\":2}" >/dev/result'
	is "$(cell_is twice)" 'completed 0 "{\"a\":1,\"a\":2}"'
	cell bytes 'printf "\\377\\033[2J\\0end" >/dev/result'
	is "$(cell_is bytes)" 'completed 0 "?\u001b[2J?end"'
	cell file 'cat /dev/result; head -c 3 /dev/urandom >/dev/result; sed -i s/a/b/ /dev/result 2>/dev/null; ln /dev/result /tmp/l 2>/dev/null; mount -t tmpfs x /dev 2>/dev/null; echo 5 >/dev/result; exit 0'
	like "$(cell_is file)" 'completed 0 *'
	# A parent has the results of its children, and leaves its own.
	echo 'allow cells host max=2' >rules.policy
	cell parent 'viv run -d --name kid -- sh -c "echo [7] >/dev/result" >/dev/null; viv wait --result kid >/dev/result; viv rm kid' --policy rules.policy
	is "$(cell_is parent)" 'completed 0 [7]'
	v rm $(v ps -aq) >/dev/null
	is "$(v ps -aq)" ''
}
check 'completed cells and their results @r' results

init() {
	own_vivd
	agent_of mine <<<$'name: mine\nimage: host\nprint: [echo]'
	mkdir proj
	cd proj
	exits 0 v init
	is "$(cat out)" vivarium.yaml
	exits 0 v up
	is "$(states)" 'work:running'
	v down >/dev/null
	exits 5 v init
	like "$(cat err)" "*'vivarium.yaml' exists*--force*"
	exits 0 v init --force --json
	is "$(field file <out)" vivarium.yaml
	# What stands there as a comment is right, too.
	exits 0 v init -f other.yaml
	sed -i 's/^    # \([a-z_]*: \)/    \1/; s/^# \(volumes\|workflows\|schedules\)/\1/; s/^#   /  /; s/  *# .*//; /depends_on/d; /image:/d; /replicas:/d; /secrets:/d; /tools:/d' other.yaml
	TOKEN=t exits 0 v up -f other.yaml --dry-run
	like "$(cat out)" '*work*create*proj.tidy*create the workflow*proj.nightly*create the schedule*'
	exits 0 v init --agent mine --force
	exits 0 v up --dry-run
	like "$(cat out)" '*coder*create*'
	exits 2 v init --agent 'a: b'
}
check 'viv init writes a file that works' init

# Workflows and schedules of a file belong to its project: made, changed and removed with it.
automation() {
	own_vivd
	export TZ=UTC
	mkdir box flows
	cat >flows/tidy.yaml <<-'END'
	inputs: {n: 1}
	outputs: {got: "${{ .inputs.n }}"}
	steps: [{name: a, run: [sh, -c, 'echo "$0" >>/box/tidied', "${{ .inputs.n }}"], in: base}]
	END
	cat >vivarium.yaml <<-'END'
	name: shop
	cells:
	  base: {command: [sleep, infinity], stop_grace: 0, mounts: [{source: box, target: /box}]}
	workflows:
	  tidy: flows/tidy.yaml
	  hello:
	    outputs: {said: "${{ .steps.say.output }}"}
	    steps: [{name: say, run: 'echo "hello ${NOBODY:-you}"', in: base}]
	schedules:
	  far: {schedule: '0 3 1 1 *', tz: UTC, cell: base, command: [sh, -c, 'echo far >>/box/far'], timeout: 10s}
	  flow: {schedule: '@yearly', tz: UTC, workflow: tidy, inputs: {n: 7}}
	  fresh: {at: '2090-01-01T00:00Z', run: {command: [echo, fresh], limits: {memory: 64M}}}
	END
	plan() { grep '^  [-+~=]' out | tr -s ' ' | sort | tr '\n' '|'; }
	exits 0 v up --dry-run
	is "$(plan)" ' + base create| + shop.far create the schedule| + shop.flow create the schedule| + shop.fresh create the schedule| + shop.hello create the workflow| + shop.tidy create the workflow|'
	is "$(v cron ls -q)$(v workflow ls --defined -q)" ''
	exits 0 v up
	is "$(v cron ls -q | tr '\n' ' ')" 'shop.far shop.flow shop.fresh '
	is "$(v workflow ls --defined -q | tr '\n' ' ')" 'shop.hello shop.tidy '
	like "$(v cron ls)" $'*NAME*PROJECT*\nshop.far *base *shop *sh -c*'
	settled
	like "$(v up --json)" '*"unchanged":6*'
	# By name, with or without the project's; and by the schedules.
	is "$(v workflow run --wait -q hello 2>/dev/null)" '{"said":"hello you"}'
	is "$(v workflow run --wait -q shop.tidy -i n=5 2>/dev/null)" '{"got":5}'
	exits 3 v workflow run nothing
	like "$(cat err)" "*there is no workflow 'nothing'*--defined*"
	v cron run shop.flow >/dev/null
	soon eval '[[ $(tail -n 1 box/tidied) == 7 ]]'
	v cron run shop.far >/dev/null
	soon eval '[[ -s box/far ]]'
	v cron run shop.fresh >/dev/null
	soon eval '[[ $(v cron logs shop.fresh) == fresh ]]'
	soon eval '[[ $(v cron show --json shop.flow | field last_run.state) == done ]]'
	# A change is in place: runs are kept, and a paused one stays so. What a workflow names is read again.
	v cron pause shop.far >/dev/null
	sed -i 's/0 3 1 1/0 4 1 1/; s/hello \${NOBODY/bye ${NOBODY/' vivarium.yaml
	sed -i 's/n: 1/n: 2/' flows/tidy.yaml
	exits 0 v up
	is "$(plan)" ' = base| = shop.flow| = shop.fresh| ~ shop.far change the schedule| ~ shop.hello change the workflow| ~ shop.tidy change the workflow|'
	like "$(v cron show --json shop.far | tr -d ' \n')" '*"schedule":"04\*11\*"*' || v cron show --json shop.far
	is "$(v cron show --json shop.far | field state) $(v cron show --json shop.far | field fired)" 'paused 1'
	v cron resume shop.far >/dev/null
	settled
	# One that somebody removed, or that went with its cell, comes back; kill -9 of vivd changes nothing.
	v cron rm shop.fresh >/dev/null
	exits 0 v up
	is "$(plan)" ' + shop.fresh create the schedule| = base| = shop.far| = shop.flow| = shop.hello| = shop.tidy|'
	v rm --force base >/dev/null
	is "$(v cron ls -q | tr '\n' ' ')" 'shop.flow shop.fresh '
	exits 0 v up
	is "$(v cron ls -q | tr '\n' ' ')" 'shop.far shop.flow shop.fresh '
	kill_vivd
	settled
	# Only those that are asked for: the rest is left alone.
	cp vivarium.yaml all.yaml
	sed -i '/^  fresh/d; /^  hello/,/^    steps/d' vivarium.yaml
	exits 0 v up base
	is "$(v cron ls -q | wc -l)" 3
	exits 0 v up
	is "$(plan)" ' - shop.fresh remove the schedule| - shop.hello remove the workflow| = base| = shop.far| = shop.flow| = shop.tidy|'
	is "$(v cron ls -q | tr '\n' ' ')$(v workflow ls --defined -q | tr '\n' ' ')" 'shop.far shop.flow shop.tidy '
	# Another project has its own; a short name that two have is none; what is another's is not touched.
	printf 'cells: {}\nworkflows: {tidy: {steps: [{run: "true"}]}}\nschedules: {far: {schedule: "@yearly", run: {command: ["true"]}}}\n' >other.yaml
	exits 0 v up -f other.yaml -p other
	is "$(v cron ls -q | tr '\n' ' ')" 'other.far shop.far shop.flow '
	exits 5 v workflow run tidy
	like "$(cat err)" '*several projects have a workflow*PROJECT.tidy*'
	v cron add mine.far @yearly --run -- true >/dev/null
	sed 's/tidy:/a:/' other.yaml >mine.yaml
	exits 5 v up -f mine.yaml -p mine
	like "$(cat err)" "*there is a schedule 'mine.far' already*"
	is "$(v workflow ls --defined -q | grep -c mine || true)" 0
	exits 0 v down -p other
	like "$(cat out)" '*- other.far*remove the schedule*- other.tidy*' || grep -q 'other.tidy' out
	exits 0 v down
	is "$(v cron ls -q)$(v workflow ls --defined -q)$(v ls -q | grep -x base || true)" mine.far
	# Mistakes have line and column, and nothing is done.
	wrong() { # what follows "cells: {a: }", place and message
		printf 'cells:\n  a: {replicas: 2}\n  b:\nworkflows: {w: {steps: [{run: "true"}]}}\n%s\n' "$1" >bad.yaml
		exits 2 v up -f bad.yaml -p bad
		like "$(cat err)" "viv: bad.yaml:$2"
		is "$(v cron ls -q)" mine.far
	}
	wrong 'schedules: {x: {schedule: "0 3 * *", cell: b, command: [a]}}' '5:27: *'
	wrong 'schedules: {x: {schedule: "@daily", tz: Mars/Olympus, cell: b, command: [a]}}' "5:41: *Mars/Olympus*"
	wrong 'schedules: {x: {at: "tomorrow", cell: b, command: [a]}}' '5:21: *'
	wrong 'schedules: {x: {cell: b, command: [a]}}' "5:13: give one of 'schedule' and 'at'*"
	wrong 'schedules: {x: {schedule: "@daily"}}' '5:13: the schedule has nothing to do*'
	wrong 'schedules: {x: {schedule: "@daily", command: [a]}}' "5:37: 'cell' is missing*"
	wrong 'schedules: {x: {schedule: "@daily", cell: b, command: [a], workflow: w}}' "5:60: give one of*"
	wrong 'schedules: {x: {schedule: "@daily", cell: c, command: [a]}}' "5:43: the file has no cell 'c'*"
	wrong 'schedules: {x: {schedule: "@daily", cell: a, command: [a]}}' "5:43: the file has no cell 'a'*replicas*"
	wrong 'schedules: {x: {schedule: "@daily", cell: b, prompt: go}}' "5:43: 'b' has no agent*"
	wrong 'schedules: {x: {schedule: "@daily", workflow: v}}' "5:47: 'workflows' of the file has no 'v'*"
	wrong 'schedules: {x: {schedule: "@daily", workflow: w, env: {A: b}}}' "5:50: 'env' cannot be given with 'workflow'*"
	wrong 'schedules: {x: {schedule: "@daily", workflow: w, overlap: wait}}' "5:59: 'overlap'*"
	wrong 'schedules: {x: {schedule: "@daily", workflow: w, queue: 2}}' "5:50: 'queue' is for*"
	wrong 'schedules: {x: {schedule: "@daily", workflow: w, history: 0}}' '5:59: *'
	wrong 'schedules: {x: {schedule: "@daily", run: {image: host}}}' "5:42: 'run' has no 'command'*"
	wrong 'schedules: {x: {schedule: "@daily", run: {command: [a], replicas: 2}}}' "5:57: *no 'replicas'*"
	wrong 'schedules: {"x y": {schedule: "@daily", workflow: w}}' '5:13: this is not a valid name*'
	wrong 'schedules: {x: {schedules: "@daily"}}' "5:17: a schedule has no key 'schedules'; did you mean 'schedule'?"
	sed -i 's/workflows: .*/workflows: {w: {steps: [{run: 1, rnu: 2}]}}/' bad.yaml
	exits 2 v up -f bad.yaml -p bad
	like "$(cat err)" "viv: bad.yaml:4:34: *'rnu'*"
	sed -i 's/workflows: .*/workflows: {w: none.yaml}/' bad.yaml
	exits 2 v up -f bad.yaml -p bad
	like "$(cat err)" "viv: bad.yaml:4:16: cannot read the workflow's file: No such file*"
}
check 'workflows and schedules of a project @r' automation

# A parent cell with three children, one of which fails and is started again with a changed file.
orchestrator() {
	own_vivd
	cp -r "$E2E_DIR/examples/refactor" .
	cd refactor
	exits 0 v up
	is "$(v wait lead)" 0
	like "$(v logs lead)" "*tests failed with status 3: it does not know 'old_wrong'; once more*done: 6 lines"
	is "$(cat result/parser.txt result/printer.txt result/tests.txt)" "$(printf 'call new_%s\n' parse check print print check wrong)"
	is "$(states)" 'lead:completed' 'the children are gone'
	is "$(cat src/names.txt)" "$(printf 'old_%s\n' parse print check)" 'the source is as it was'
	exits 0 v down
	is "$(states)" ''
}
check 'an orchestrator and its children: the example of the documentation @r' orchestrator
