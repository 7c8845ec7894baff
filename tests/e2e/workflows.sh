# Workflows: files, runs that survive kills, hostile files and outputs. shellcheck shell=bash

run_state() { api "/v1/workflows/$1" | field state; }
run_is() { [[ $(run_state "$1") == "$2" ]]; }
step_is() { # run, step, state
	[[ $(v workflow show --json "$1" | python3 -c 'import json,sys
print(*(s["state"] for s in json.load(sys.stdin)["steps"] if s["step"] == sys.argv[1]))' "$2") == "$3" ]]
}
kill_vivd() { # and wait for its end
	local pid
	pid=$(pid_of)
	kill -KILL "$pid"
	soon gone "$pid"
}
# A line of the host's file for each time that a command ran.
counted() { grep -c . "$1" || true; }

kinds() {
	own_vivd
	cat >w.yaml <<-'EOF'
	name: kinds
	inputs:
	  who: world
	  n: {type: number, default: 3}
	  list: {type: array, default: [1, 2]}
	outputs:
	  greeting: ${{ .steps.greet.output }}
	  sum: ${{ .steps.sum.output | add }}
	  par: ${{ .steps.both.output }}
	  branch: ${{ .steps.branch.output }}
	  skipped: ${{ .steps.not.state }}
	  sub: ${{ .steps.sub.output }}
	  box: ${{ .steps.inbox.output }}
	  items: ${{ .steps.items.output }}
	  said: ${{ .steps.ask.output.text }}
	workflows:
	  part:
	    inputs: {x: }
	    outputs: {twice: "${{ .inputs.x * 2 }}", got: "${{ .steps.a.output }}"}
	    steps:
	      - {name: a, run: [echo, "x is ${{ .inputs.x }}"]}
	steps:
	  - name: greet
	    run: echo "hello $WHO"
	    env: {WHO: "${{ .inputs.who }}"}
	  - {name: json, run: "echo '{\"a\": [10, 20, 30]}'"}
	  - name: sum
	    foreach: .steps.json.output.a
	    max: 3
	    steps:
	      - {run: [sh, -c, 'echo $(($1 + 1))', x, "${{ .item }}"]}
	  - name: both
	    parallel:
	      - {name: a, run: 'echo a; echo careful >&2'}
	      - {name: b, sleep: 10ms}
	  - name: branch
	    if: .inputs.n > 2
	    then: [{run: echo big}]
	    else: [{run: echo small}]
	  - {name: not, if: .inputs.n > 5, run: exit 1}
	  - {name: sub, workflow: part, with: {x: "${{ .inputs.n }}"}}
	  - {name: box, cell: {limits: {memory: 64M}}}
	  - {name: inbox, in: "${{ .steps.box.output.name }}", run: 'test -n "$VIV_IDEMPOTENCY_KEY" && echo "$VIV_WORKFLOW_STEP"'}
	  - name: items
	    foreach: .inputs.list
	    steps:
	      - {name: t, run: [echo, "${{ .index }}:${{ .item }}"]}
	      - {name: u, run: [echo, "${{ .steps.t.output }}!"]}
	  - {name: ask, in: "${{ .steps.box.output.id }}", prompt: "say ${{ .inputs.who }}", command: [echo, agent], acp: false}
	EOF
	exits 0 v workflow check w.yaml
	is "$(<out)" 'kinds: 11 steps'
	exits 0 v workflow run --wait w.yaml -i who=you -i n=4
	is "$(python3 -c 'import json; print(json.dumps(json.load(open("out")), sort_keys=True))')" \
		'{"box": "inbox", "branch": "big", "greeting": "hello you", "items": ["0:1!", "1:2!"], "par": {"a": "a", "b": null}, "said": "agent say you\n", "skipped": "skipped", "sub": {"got": "x is 4", "twice": 8}, "sum": 63}'
	id=$(v workflow ls -q)
	exits 0 v workflow logs "$id" both/a
	like "$(<out)" '*both/a (done)*a'
	is "$(<err)" careful
	exits 3 v workflow logs "$id" nothing
	exits 0 v workflow show "${id:0:6}"
	like "$(<out)" '*sum/2/step1 *run *done*'
	# Cells that were made for it are gone.
	soon eval '[[ -z $(cell_ids) ]]'
	api '/v1/events?since=0&follow=0' >events
	for e in started step done; do grep -q "workflow.$e" events; done
	exits 5 v workflow cancel "$id"
	exits 0 v workflow rm "$id"
	exits 3 v workflow show "$id"
	exits 2 v workflow run w.yaml -i n=x
	like "$(<err)" "*input 'n' must be of type number*"
	exits 2 v workflow run w.yaml -i nobody=x
	like "$(<err)" "*no input 'nobody'*"
}
check 'steps of every kind, inputs, outputs and expressions @r' kinds

mistakes() {
	own_vivd
	local n=0
	bad() { # text, glob
		printf '%s\n' "$1" >bad.yaml
		exits 2 v workflow check bad.yaml
		like "$(<err)" "*$2*"
		n=$((n + 1))
	}
	bad 'steps: [{run: true, sleep: 1}]' "bad.yaml:1:21: a step has either 'run' or 'sleep'"
	bad $'steps:\n  - runn: x' "bad.yaml:2:5: a step has no key 'runn'*did you mean 'run'"
	bad $'steps:\n  - run: echo ${{ .inputs.x }}' 'bad.yaml:2:10: a shell*env*'
	bad $'steps:\n  - {name: a-b, run: x}' 'bad.yaml:2:12: a name has letters'
	bad $'steps:\n  - {name: a, run: x}\n  - {name: a, run: x}' "bad.yaml:3:5: there is a step 'a' already"
	bad $'steps:\n  - foreach: .x' "bad.yaml:2:5: 'foreach' needs 'steps'"
	bad $'steps:\n  - {run: [echo, "${{ .x"]}' 'not closed'
	bad 'steps: []' "bad.yaml:1:8: 'steps' must be a list of steps"
	bad 'name: x' "must have a key 'steps'"
	bad '' 'the file is empty'
	bad $'steps:\n  - workflow: nowhere' "bad.yaml:2:15: there is no workflow 'nowhere'"
	bad $'steps:\n  - workflow: ./nowhere.yaml' 'bad.yaml:2:15: cannot read*nowhere.yaml'
	bad $'workflows:\n  a: {steps: [{workflow: b}]}\n  b: {steps: [{workflow: a}]}\nsteps: [{workflow: a}]' 'in a circle'
	bad $'steps:\n  - {run: x, retry: 1000}' "'count' must be between 0 and 100"
	bad $'steps:\n  - {prompt: x, agent: y}' "needs 'in'"
	# Files that name each other.
	printf 'steps: [{workflow: ./two.yaml}]\n' >one.yaml
	printf 'steps: [{workflow: ./one.yaml}]\n' >two.yaml
	exits 2 v workflow check one.yaml
	like "$(<err)" '*in a circle*'
	# A million steps: six workflows, each ten times the next.
	python3 - >many.yaml <<-'EOF'
	print("workflows:")
	for i in range(6):
	    kind = "run: 'true'" if i == 5 else f"workflow: w{i + 1}"
	    print(f"  w{i}: {{steps: [" + ", ".join("{" + kind + "}" for _ in range(10)) + "]}")
	print("steps: [{workflow: w0}]")
	EOF
	exits 2 v workflow check many.yaml
	like "$(<err)" '*more than 20000 steps*'
	python3 -c 'print("steps:"); print("  - {run: x}\n" * 1001)' >long.yaml
	exits 2 v workflow check long.yaml
	like "$(<err)" '*at most 1000 steps*'
}
check 'mistakes are told with line and column; circles and explosions are refused' mistakes

# A step that waits for a cell has what it left; each attempt is one run of it, whoever starts it.
cell_results() {
	own_vivd
	mkdir box
	cat >w.yaml <<-EOF
	name: results
	outputs: {sum: "\${{ .steps.job.output.result.n + .steps.again.output.result }}", state: "\${{ .steps.job.output.exit_code }}"}
	steps:
	  - {name: job, wait: true, cell: {mounts: [{source: $PWD/box, target: /box}], command: [sh, -c, 'echo run >>/box/ran; until test -e /box/go; do sleep 0.05; done; echo "{\\"n\\": 40}" >/dev/result']}}
	  - {name: again, wait: true, retry: {count: 1, backoff: 10ms}, cell: {mounts: [{source: $PWD/box, target: /box}], command: [sh, -c, 'echo try >>/box/tried; test -e /once && exec sh -c "echo 2 >/dev/result"; touch /once; exit 5']}}
	EOF
	sed -i 's/^\t//' w.yaml
	run=$(v workflow run w.yaml)
	soon eval '[[ -s box/ran ]]'
	kill_vivd
	touch box/go
	v ls >/dev/null
	soon run_is "$run" done
	is "$(api "/v1/workflows/$run" | field output)" '{"sum": 42, "state": 0}'
	is "$(counted box/ran) $(counted box/tried)" '1 2'
	soon eval '[[ -z $(v ls -q) ]]'
	# One that does not complete fails the step, with what it left.
	printf 'name: bad\nsteps: [{name: c, wait: true, cell: {command: [sh, -c, "echo why >/dev/result; exit 7"]}}]\n' >w.yaml
	exits 1 v workflow run --wait w.yaml
	like "$(cat err)" '*ended with status 7*'
	run=$(v workflow ls --json | head -n 1 | field id)
	like "$(v workflow show --json "$run")" '*"result":"why"*'
	# A time that is up and a cancel stop the cell.
	printf 'name: long\nsteps: [{name: c, timeout: 300ms, wait: true, cell: {command: [sleep, 1000], stop_grace: 0}}]\n' >w.yaml
	exits 1 v workflow run --wait w.yaml
	soon eval '[[ -z $(v ls -q) ]]'
	printf 'name: x\nsteps: [{run: "true", wait: true}]\n' >w.yaml
	exits 2 v workflow run w.yaml
}
check 'a step waits for a cell and has its result @r' cell_results

# The same command is met again by its number, not started twice.
vivd_killed() {
	own_vivd
	mkdir host
	cat >w.yaml <<-'EOF'
	name: survivor
	cell: {mounts: [{source: ./host, target: /host}]}
	outputs: ${{ .steps.last.output }}
	steps:
	  - {name: first, run: 'echo x >>/host/first; echo one'}
	  - {name: long, run: 'echo x >>/host/long; until test -e /host/go; do sleep 0.05; done; echo two'}
	  - {name: nap, sleep: 100ms}
	  - {name: last, run: [echo, "${{ .steps.first.output }} ${{ .steps.long.output }}"]}
	EOF
	id=$(v workflow run w.yaml)
	soon test -s host/long
	kill_vivd
	v daemon start
	run_is "$id" running
	kill_vivd
	touch host/go
	exits 0 v workflow wait "$id"
	is "$(<out)" 'one two'
	is "$(counted host/first) $(counted host/long)" '1 1'
}
check 'kill -9 of vivd: the run goes on, and a command that runs is not started again @r' vivd_killed

kernel_killed() {
	own_vivd
	mkdir host
	cat >w.yaml <<-'EOF'
	name: survivor
	cell: {mounts: [{source: ./host, target: /host}]}
	steps:
	  - {name: first, run: 'echo x >>/host/first; echo kept >/kept'}
	  - {name: long, run: 'echo "$VIV_IDEMPOTENCY_KEY" >>/host/long; until test -e /host/go; do sleep 0.05; done; cat /kept'}
	EOF
	id=$(v workflow run w.yaml)
	soon test -s host/long
	cell=$(cell_ids)
	kill -KILL "$(api "/v1/cells/$cell" | field pid)"
	soon eval '[[ $(counted host/long) == 2 ]]'
	touch host/go
	exits 0 v workflow wait "$id"
	is "$(<out)" kept
	is "$(counted host/first) $(sort -u host/long | grep -c .)" '1 1' 'runs of the first step, keys of the second'
}
check 'kill -9 of the kernel of a cell: the step runs again with the same key @r' kernel_killed

# The state at one moment, opened elsewhere: another machine.
copied() {
	own_vivd
	mkdir host
	cat >w.yaml <<-EOF
	name: survivor
	cell: {mounts: [{source: $PWD/host, target: /host}]}
	outputs: \${{ .steps.after.output }}
	steps:
	  - {name: first, run: 'echo x >>/host/first; echo one'}
	  - {name: long, run: 'echo x >>/host/long; until test -e /host/go; do sleep 0.05; done; echo two'}
	  - {name: ask, approve: 'Go on?'}
	  - {name: after, run: [echo, "\${{ .steps.first.output }} \${{ .steps.long.output }}"]}
	EOF
	id=$(v workflow run w.yaml)
	soon test -s host/long
	cp -r state state2
	v workflow cancel "$id"
	vivd_end
	mkdir data2 run2
	export XDG_DATA_HOME=$PWD/data2 XDG_RUNTIME_DIR=$PWD/run2 XDG_STATE_HOME=$PWD/state2
	sock=$XDG_RUNTIME_DIR/vivarium/vivd.sock
	rm -f state2/vivarium/vivd.lock
	v daemon start
	soon eval '[[ $(counted host/long) == 2 ]]'
	touch host/go
	soon step_is "$id" ask running
	api '/v1/approvals' >approvals
	is "$(field approvals.0.text <approvals)" 'Go on?'
	# The question and its answer survive as well.
	kill_vivd
	v daemon start
	exits 0 v approvals allow "$(field approvals.0.id <approvals)"
	exits 0 v workflow wait "$id"
	is "$(<out)" 'one two'
	is "$(counted host/first)" 1
}
check 'the database of one moment, opened elsewhere: the run goes on there @r' copied

undone() {
	own_vivd
	mkdir host
	cat >w.yaml <<-'EOF'
	name: undo
	cell: {mounts: [{source: ./host, target: /host}]}
	steps:
	  - {name: a, run: echo 1, rollback: [{run: 'echo a "$OUT" >>/host/log', env: {OUT: "${{ .steps.a.output }}"}}]}
	  - name: each
	    foreach: [x, y]
	    steps:
	      - {name: b, run: 'true', rollback: [{run: [sh, -c, 'echo b $1 >>/host/log', s, "${{ .item }}"]}]}
	  - {name: flaky, run: 'echo x >>/host/tries; exit 3', retry: {count: 2, backoff: 10ms}, rollback: [{run: 'echo never >>/host/log'}]}
	EOF
	exits 1 v workflow run --wait -q w.yaml
	like "$(<err)" "*step 'flaky' failed*status 3*"
	is "$(counted host/tries)" 3
	is "$(tr '\n' ,  <host/log)" 'b y,b x,a 1,'
	id=$(v workflow ls -q --state failed)
	exits 5 v workflow retry "$id"
	like "$(<err)" '*rolled back*'
}
check 'a run that fails undoes its steps, the last one first @r' undone

# A run that is cancelled undoes its steps as well, over a kill of vivd; cancelled again, or told not to, it does not.
cancelled() {
	own_vivd
	mkdir box
	cat >w.yaml <<-EOF
	name: undo
	cell: {mounts: [{source: $PWD/box, target: /box}]}
	steps:
	  - {name: a, run: 'echo a >>/box/did', rollback: [{run: 'until test -e /box/go; do sleep 0.05; done; echo a >>/box/undid'}]}
	  - {name: b, run: 'echo b >>/box/did; sleep 1000'}
	EOF
	begun() { [[ $(counted box/did) == "$1" ]]; }
	run=$(v workflow run w.yaml)
	soon begun 2
	v workflow cancel "$run" >/dev/null
	is "$(run_state "$run")" rollback
	kill_vivd
	touch box/go
	v ls >/dev/null
	soon run_is "$run" cancelled
	is "$(cat box/undid) $(api "/v1/workflows/$run" | field rolled_back)" 'a true'
	exits 5 v workflow resume "$run"
	# Not to be undone.
	run=$(v workflow run w.yaml)
	soon begun 4
	v workflow cancel --no-rollback "$run" >/dev/null
	is "$(run_state "$run") $(counted box/undid)" 'cancelled 1'
	v workflow resume "$run" >/dev/null
	soon begun 5
	# Cancelled once more while it is undone.
	rm box/go
	v workflow cancel "$run" >/dev/null
	is "$(run_state "$run")" rollback
	v workflow cancel "$run" >/dev/null
	is "$(run_state "$run") $(counted box/undid)" 'cancelled 1'
}
check 'a run that is cancelled undoes its steps @r' cancelled

again() {
	own_vivd
	mkdir host
	cat >w.yaml <<-'EOF'
	name: again
	cell: {mounts: [{source: ./host, target: /host}]}
	steps:
	  - {name: a, run: 'echo x >>/host/a'}
	  - {name: b, run: 'test -e /host/good'}
	  - {name: c, run: 'echo x >>/host/c; until test -e /host/go; do sleep 0.05; done; echo end'}
	EOF
	exits 1 v workflow run --wait -q w.yaml
	id=$(v workflow ls -q)
	touch host/good
	exits 0 v workflow retry "$id"
	soon test -s host/c
	exits 0 v workflow cancel "$id"
	run_is "$id" cancelled
	exits 1 v workflow wait "$id"
	exits 0 v workflow resume "$id"
	soon eval '[[ $(counted host/c) == 2 ]]'
	touch host/go
	exits 0 v workflow wait "$id"
	is "$(<out) $(counted host/a)" 'end 1'
	# One of a group has to end the others.
	rm host/go
	cat >t.yaml <<-'EOF'
	cell: {mounts: [{source: ./host, target: /host}]}
	steps:
	  - parallel:
	      - {run: 'echo $$ >/host/pid; sleep 600'}
	      - {run: 'until test -s /host/pid; do sleep 0.05; done; exit 4'}
	EOF
	exits 1 v workflow run --wait -q t.yaml
	like "$(<err)" '*status 4*'
	echo 'steps: [{run: sleep 600, timeout: 100ms}]' >t.yaml
	exits 1 v workflow run --wait -q t.yaml
	like "$(<err)" '*longer than*'
	printf 'steps:\n  - {name: q, approve: "Sure?"}\n' >t.yaml
	id=$(v workflow run t.yaml)
	soon eval '[[ $(api /v1/approvals | grep -c Sure) == 1 ]]'
	exits 0 v approvals deny "$(api /v1/approvals | field approvals.0.id)"
	exits 1 v workflow wait "$id"
	like "$(<err)" '*not approved by owner*'
}
check 'retry, cancel and resume; failures of groups; times; denials @r' again

hostile() {
	own_vivd
	expr() { # expression, glob
		printf 'steps:\n  - {name: a, sleep: "${{ %s }}"}\n' "$1" >e.yaml
		exits 1 v workflow run --wait -q e.yaml
		like "$(<err)" "*$2*"
	}
	expr 'def f: f; f' 'took more than'
	expr '[range(1e9)]' 'took more than'
	expr '.a |' 'failed'
	expr 'env.HOME' "number of seconds"
	expr 'input' 'failed'
	# What steps print is data, whatever it is.
	cat >o.yaml <<-'EOF'
	outputs: ${{ .steps | map_values(.output | type) }}
	steps:
	  - {name: binary, run: 'head -c 100000 /dev/urandom'}
	  - {name: huge, run: 'head -c 3000000 /dev/zero | tr "\\0" x'}
	  - {name: deep, run: 'i=0; while test $i -lt 5000; do printf "["; i=$((i + 1)); done'}
	  - {name: nested, run: 'i=0; while test $i -lt 100; do o="[$o]"; i=$((i + 1)); done; echo "$o"'}
	  - {name: twice, run: 'echo "{\"a\":1,\"a\":2}"'}
	  - {name: escape, run: 'printf "\033]0;evil\007<script>alert(1)</script>\n"; printf "\033[31m" >&2'}
	  - {name: template, run: 'printf "$%s\n" "{{ .inputs }}"'}
	  - {name: used, run: [echo, "${{ .steps.template.output }}", "${{ .steps.escape.output }}"]}
	EOF
	exits 0 v workflow run --wait -q o.yaml
	is "$(<out)" '{"binary":"string","huge":"string","deep":"string","nested":"string","twice":"string","escape":"string","template":"string","used":"string"}'
	id=$(v workflow ls -q --state done)
	exits 0 v workflow logs "$id"
	fails grep -q $'\033' out err
	grep -q 'the output was longer' out
	grep -q '{{ .inputs }}' out
	exits 0 v workflow show --html page.html "$id"
	fails grep -q '<script>alert' page.html
	fails grep -q $'\033' page.html
	# A step that ends its own cell again and again is not run for ever.
	printf 'steps:\n  - {in: victim, run: "kill -9 -1; sleep 600"}\n' >k.yaml
	make_cell '{"name": "victim", "command": ["sleep", "600"]}' >/dev/null
	exits 1 v workflow run --wait -q k.yaml
	# Only owners use them.
	token=$(v token create --scope read --name t | tail -n 1)
	[[ -z $token ]] || like "$(api /v1/workflows -H "Authorization: Bearer $token" -o /dev/null -w '%{http_code}')" '40[13]'
}
check 'expressions without end, outputs of every kind' hostile

# The program that evaluates expressions cannot be started for a while, also by the next vivd; and then not at all.
expr_missing() {
	own_vivd
	mkdir bin
	cp "$(dirname "$VIV")"/viv "$(dirname "$VIV")"/vivd "$(dirname "$VIV")"/viv-{kernel,keeper,store,s3,gate,journal,tools,hold,expr} bin/
	VIV=$PWD/bin/viv
	v daemon start
	printf 'outputs: ${{ 1 + 2 }}\nsteps:\n  - {sleep: "${{ 0.01 + 0.01 }}"}\n' >w.yaml
	tries() { grep -c 'viv-expr cannot be started' state/vivarium/vivd.log || true; }
	tried() { (($(tries) > $1)); }
	mv bin/viv-expr away
	id=$(v workflow run w.yaml)
	soon tried 0
	kill_vivd
	# It goes on with its runs before it answers.
	v daemon start
	is "$(run_state "$id")" running
	mv away bin/viv-expr
	exits 0 v workflow wait "$id"
	is "$(<out)" 3
	mv bin/viv-expr away
	exits 1 v workflow run --wait -q w.yaml
	like "$(<err)" '*viv-expr cannot be started*'
	# One that is tried again can be cancelled.
	before=$(tries)
	id=$(v workflow run w.yaml)
	soon tried "$before"
	v workflow cancel "$id" >/dev/null
	soon run_is "$id" cancelled
	mv away bin/viv-expr
	exits 0 v workflow run --wait -q w.yaml
	is "$(<out)" 3
}
check 'expressions whose program cannot be started for a while' expr_missing

many() {
	own_vivd
	printf 'steps:\n  - {name: n, sleep: 50ms}\n  - {name: q, approve: wait}\n' >w.yaml
	for ((i = 0; i < 100; i++)); do v workflow run w.yaml; done >ids
	soon eval '[[ $(api /v1/approvals | grep -o Wait -i | wc -l) -ge 100 ]]'
	kill_vivd
	v daemon start
	is "$(api '/v1/workflows?state=running&limit=1000' | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["runs"]))')" 100
	api /v1/approvals | python3 -c 'import json,sys; print(*(a["id"] for a in json.load(sys.stdin)["approvals"]))' >asked
	# shellcheck disable=SC2046
	v approvals allow $(<asked)
	soon eval '[[ $(v workflow ls --state done -q -n 1000 | wc -l) == 100 ]]'
}
check 'a hundred at once, over a kill of vivd' many

# A trigger of the database lets no prompt be written.
prompt_refused() {
	own_vivd
	v daemon start
	make_cell '{"name": "c", "command": ["sleep", "600"]}' >/dev/null
	id=$(api /v1/cells/c/sessions -d '{"command": ["cat"], "acp": false}' | field id)
	kill_vivd
	python3 - "$XDG_STATE_HOME/vivarium/state.db" <<-'EOF'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("CREATE TRIGGER refused BEFORE INSERT ON session_prompts BEGIN SELECT RAISE(ABORT, 'refused'); END")
	db.commit()
	EOF
	v daemon start
	printf 'steps:\n  - {in: c, prompt: hello, command: [cat], retry: {count: 2, backoff: 10ms}}\n' >w.yaml
	exits 1 v workflow run --wait -q w.yaml
	like "$(<err)" '*prompt could not be written*'
	# One that the step did not make stays.
	printf 'steps:\n  - {session: %s, prompt: hello}\n' "$id" >w.yaml
	exits 1 v workflow run --wait -q w.yaml
	is "$(api /v1/cells/c/sessions | python3 -c 'import json,sys; print(*(s["id"] for s in json.load(sys.stdin)["sessions"]))')" "$id"
}
check 'a session that was made for a prompt goes if the prompt is refused' prompt_refused

program() {
	own_vivd
	v daemon start
	post() { api "/v1/workflows/$1" -d "$2"; }
	id=$(post code '{"name": "mine", "inputs": {"a": 1}}' | field id)
	is "$(post code "{\"name\": \"mine\", \"id\": \"$id\"}" | field id)" "$id"
	lease=$(post "$id/claim" '{"step": "one"}' | field lease)
	is "$(post "$id/claim" '{"step": "one"}' | field code)" in_use
	is "$(post "$id/finish" '{"step": "one", "lease": "x", "output": 1}' | field code)" conflict
	kill_vivd
	v daemon start
	post "$id/finish" "{\"step\": \"one\", \"lease\": \"$lease\", \"output\": {\"b\": 2}}"
	is "$(post "$id/claim" '{"step": "one"}' | field output.b)" 2
	# A lease that ran out is another's.
	old=$(post "$id/claim" '{"step": "two", "lease_seconds": 0.01}' | field lease)
	new() { lease=$(post "$id/claim" '{"step": "two"}' | field lease 2>/dev/null); }
	soon new
	is "$(post "$id/finish" "{\"step\": \"two\", \"lease\": \"$old\", \"output\": 1}" | field code)" conflict
	post "$id/finish" "{\"step\": \"two\", \"lease\": \"$lease\", \"error\": \"no\", \"again\": true}"
	is "$(post "$id/claim" '{"step": "two"}' | field attempt)" 3
	post "$id/finish" '{"output": "all"}'
	is "$(run_state "$id")" done
	is "$(post "$id/claim" '{"step": "three"}' | field code)" wrong_state
}
check 'runs of programs: claims, leases, results @r' program

# Those that a program began and never ends count as others do; what is found by its id needs no room.
programs_bounded() {
	own_vivd
	v daemon start
	post() { api "/v1/workflows/$1" -d "$2"; }
	id=$(post code '{"name": "mine"}' | field id)
	kill_vivd
	python3 - "$XDG_STATE_HOME/vivarium/state.db" "$id" <<-'EOF'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	columns = "name,code,by,doc,inputs,live,state,undone,created,ended,error"
	for i in range(998):
	    db.execute(f"INSERT INTO workflow_runs(id,{columns}) SELECT ?,{columns} FROM workflow_runs WHERE id=?", (f"{i:016x}", sys.argv[2]))
	db.commit()
	EOF
	v daemon start
	printf 'steps: [{sleep: 1h}]\n' >w.yaml
	file=$(v workflow run w.yaml)
	is "$(post code '{"name": "mine"}' | field code)" too_many
	is "$(post code "{\"name\": \"mine\", \"id\": \"$id\"}" | field id)" "$id"
	exits 5 v workflow run w.yaml
	like "$(<err)" "*1000 runs*viv workflow cancel*"
	v workflow cancel "$file" >/dev/null
	soon run_is "$file" cancelled
	room() { other=$(post code '{"name": "mine"}' | field id 2>/dev/null); }
	soon room
	exits 5 v workflow run w.yaml
	post "$other/finish" '{"output": 1}'
	exits 0 v workflow run w.yaml
}
check 'runs of programs that are not over are bounded' programs_bounded

scheduled() {
	own_vivd
	mkdir host
	cat >w.yaml <<-'EOF'
	inputs: {who: }
	cell: {mounts: [{source: ./host, target: /host}]}
	outputs: ${{ .steps.b.output }}
	steps:
	  - {name: a, run: 'echo x >>/host/a'}
	  - {name: b, run: 'until test -e /host/go; do sleep 0.05; done; echo "hello $WHO"', env: {WHO: "${{ .inputs.who }}"}}
	EOF
	exits 2 v cron add w --in 1h --workflow w.yaml
	like "$(<err)" "*input 'who' is missing*"
	exits 2 v cron add w --in 1h --workflow w.yaml -i who=you -- true
	exits 0 v cron add w @yearly --workflow w.yaml -i who=you
	exits 0 v cron run w
	soon test -s host/a
	kill_vivd
	touch host/go
	soon eval '[[ $(v cron logs w) == *"hello you"* ]]'
	is "$(counted host/a)" 1
	is "$(v workflow ls -q | wc -l)" 1
	api /v1/workflows | grep -q '"by":"cron"'
	# One that fails, and one that is ended.
	echo 'steps: [{run: exit 3}]' >bad.yaml
	exits 0 v cron add bad @yearly --workflow bad.yaml
	exits 0 v cron run bad
	soon eval '[[ $(api /v1/schedules/bad) == *"status 3"* ]]'
	echo 'steps: [{sleep: 1h}]' >long.yaml
	exits 0 v cron add long @yearly --timeout 100ms --workflow long.yaml
	exits 0 v cron run long
	soon eval '[[ -n $(v workflow ls -q --state cancelled) ]]'
}
check 'a schedule runs a workflow, once, over a kill of vivd @r' scheduled
