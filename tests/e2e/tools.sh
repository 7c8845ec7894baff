# Tools: programs and MCP servers of the host as commands in cells. shellcheck shell=bash

# A program, by the lines of its script, as a tool; options of 'viv tool add' behind it.
program() { # name, lines, options...
	local name=$1 lines=$2
	shift 2
	printf '#!/bin/bash\n%s\n' "$lines" >"$PWD/$name.prog"
	chmod 755 "$name.prog"
	[[ -f $name.json ]] || echo '{"type": "object"}' >"$name.json"
	v tool add "$name" --command "$PWD/$name.prog" --schema "$name.json" "$@" >/dev/null
}
schema() { # name, JSON
	echo "$2" >"$1.json"
}
cell() { # options..., --, command...: in the foreground
	viv --quiet "$@"
}
open_is() { [[ $(v approvals ls -q | wc -l) == "$1" ]]; }
newest() { v approvals ls -q | tail -n 1; }
has() { # file, text
	grep -qF -- "$2" "$1"
}
policy() { # lines...: a file with them
	printf '%s\n' "$@" >rules.policy
}
events() { api '/v1/events?since=0&follow=0'; }
nobody_runs() { # a word of its command line
	! pgrep -f -- "$1" >/dev/null
}

flags() {
	own_vivd
	schema deploy '{"type": "object", "required": ["env"], "additionalProperties": false, "properties": {
		"env": {"type": "string", "enum": ["prod", "test"], "description": "where to"},
		"dry_run": {"type": "boolean"}, "maxLines": {"type": "integer", "minimum": 1}, "ratio": {"type": "number"},
		"tag": {"type": "array", "items": {"type": "string"}, "maxItems": 2}, "more": {"type": "object"}}}'
	program deploy 'cat; echo problem >&2; [[ $(pwd) == / && $VIV_TOOL == deploy && -n $VIV_CELL && -z $SECRET ]] || exit 9; exit 3' --description 'deploys it'
	export SECRET=of-the-operator
	cell --tool deploy -- sh -c '
		deploy --env prod --dry-run --max-lines 7 --ratio=0.5 --tag a --tag "b c" --more "{\"x\": [1]}"; echo "status $?"
		deploy --env test --no-dry-run 2>/dev/null; echo "status $?"
		echo "{\"env\": \"test\"}" | deploy --json - 2>/dev/null; echo "status $?"
		viv-tools; deploy --help | grep -c -e "--env" -e "--\[no-\]dry-run" -e "--tag" -e "--json"' >out 2>err
	is "$(cat out)" '{"env":"prod","dry_run":true,"maxLines":7,"ratio":0.5,"tag":["a","b c"],"more":{"x":[1]}}
status 3
{"env":"test","dry_run":false}
status 3
{"env":"test"}
status 3
deploy                       deploys it
4'
	is "$(cat err)" problem
	# What does not fit is refused, by the command or by vivd, with the same status.
	cell --tool deploy -- sh -c '
		for w in "" "--env nowhere" "--env prod --nothing" "--env prod --max-lines x" "--env prod --max-lines 0" "--env prod --env test" word \
			"--env prod --tag a --tag b --tag c" "--json []" "--json {\"env\":1}" "--json {\"env\":\"prod\",\"x\":1}"; do
			deploy $w; echo $?; done' >out 2>err
	is "$(sort -u out)" 2
	is "$(wc -l <err)" 11
	for t in 'missing option: --env' 'no option --nothing' "'x' is not a number" 'maxLines must be at least 1' 'given twice' \
		"unexpected word 'word'" 'tag must have at most 2 items' 'arguments are an object' 'env must be of type string' "cannot have 'x'"; do
		has err "$t"
	done
	# Without tools there is no door.
	exits 1 cell -- sh -c 'ls /run/viv/sock 2>/dev/null || exit 1'
	exits 125 cell --tool missing -- true
	like "$(cat err)" "*no tool 'missing'*"
	events >events.json
	has events.json '"tool.called"'
	if grep -q -e of-the-operator -e 'b c' events.json; then return 1; fi
}
check 'arguments by flags and as JSON, exit statuses, help @r' flags

added() {
	own_vivd
	for s in '[]' '{' '{"type": "array"}' '{"type": "object", "properties": {"a": {"type": "strange"}}}' '{"type": "object", "$ref": "#"}' \
		'{"type": "object", "properties": {"a": {"$ref": "#"}}}' '{"type": "object", "properties": {"a": {"$ref": "http://x/"}}}' \
		'{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}' '{"type": "object", "required": [1]}' \
		'{"type": "object", "properties": {"a": {"anyOf": []}}}' '{"type": "object", "properties": {"a": {"multipleOf": 0}}}'; do
		echo "$s" >s.json
		exits 2 v tool add x --command /bin/true --schema s.json
	done
	python3 -c 'import json; print(json.dumps({"type": "object", "properties": {"p%d" % i: {"enum": list(range(900))} for i in range(400)}}))' >s.json
	exits 2 v tool add x --command /bin/true --schema s.json
	python3 -c 'print("{\"type\": \"object\", \"properties\": " + "{\"a\": {\"properties\": " * 60 + "{}" + "}}" * 60 + "}")' >s.json
	exits 2 v tool add x --command /bin/true --schema s.json
	# Each reference twice the one before: small as it is written.
	python3 -c 'import json
d = {"x0": {"type": "string"}}
for i in range(1, 30): d["x%d" % i] = {"type": "object", "properties": {k: {"$ref": "#/$defs/x%d" % (i - 1)} for k in "ab"}}
print(json.dumps({"type": "object", "$defs": d, "properties": {"a": {"$ref": "#/$defs/x29"}}}))' >s.json
	exits 2 v tool add x --command /bin/true --schema s.json
	echo '{"type": "object", "$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"anyOf": [{"type": "null"}, {"const": 1}]}}}' >s.json
	for n in '' X 'a b' 'a/b' -a viv-tools 'aé' "$(printf 'a%.0s' {1..40})" $'a\nb' '..'; do
		exits 2 v tool add --command /bin/true --schema s.json -- "$n"
	done
	exits 3 v tool add x --command /nowhere/program --schema s.json
	exits 2 v tool add x --command /bin/true
	exits 2 v tool add x --from-mcp "sh 'unclosed"
	exits 2 v tool add x --command /bin/true --schema s.json --timeout 999999h
	is "$(v tool ls -q)" ''
	v tool add x --command true --schema s.json >/dev/null
	is "$(api /v1/tools/x | field command.0)" "$(type -P true)"
	is "$(api /v1/tools/x | field schema.properties.a.type)" integer
	exits 0 v tool rm x
	exits 3 v tool show x
}
check 'tools that cannot be added' added

rules() {
	own_vivd
	schema pay '{"type": "object", "properties": {"amount": {"type": "integer"}}}'
	program pay 'cat' ; program peek 'echo seen'
	# Rules give tools, and take those that were given.
	policy 'allow tools peek'
	cell --policy rules.policy -- sh -c 'viv-tools; peek; pay; echo $?' >out 2>err || true
	is "$(cat out)" $'peek                         \nseen\n127'
	policy 'deny tools *' 'allow tools peek' 'ask tools mcp/write_*'
	exits 0 v policy check --policy rules.policy --tool peek
	exits 1 v policy check --policy rules.policy --tool pay
	exits 10 v policy check --policy rules.policy --tool mcp/write_file
	policy 'ask tools pay'
	v run -d --name work --tool pay --tool peek --policy rules.policy -- sleep 600 >/dev/null
	v exec work -- pay --amount 3 >paid 2>&1 &
	soon open_is 1
	id=$(newest)
	v approvals show --json "$id" >a.json
	is "$(field scope <a.json) $(field tool <a.json) $(field arguments.amount <a.json) $(field rule <a.json)" 'tools pay 3 ask tools pay'
	like "$(v approvals ls)" '*call pay {"amount":3}*'
	v approvals allow "$id" >/dev/null
	wait %%
	has paid '{"amount":3}'
	v exec work -- pay --amount 4 >refused 2>&1 &
	soon open_is 1
	v approvals deny "$(newest)" >/dev/null
	rc=0; wait %% || rc=$?
	is "$rc" 126
	has refused 'is denied'
	# The cell's own list has it; wrong arguments are no refusal.
	exits 2 v exec work -- pay --amount x
	is "$(v exec work -- cut -d' ' -f2- /run/viv/denials)" "calling 'pay' is denied by 'the answer of a person'"
	# Nobody waits for it any more.
	v exec work -- timeout 1 pay --amount 5 >/dev/null 2>&1 || true
	soon open_is 0
	# Always: a rule; and rules that change count for the next call.
	v exec work -- pay --amount 6 >paid 2>&1 &
	soon open_is 1
	v approvals allow --always "$(newest)" >/dev/null
	wait %%
	has paid '{"amount":6}'
	exits 0 v exec work -- pay --amount 7
	v policy add work 'deny tools peek' >/dev/null
	exits 127 v exec work -- peek
	v policy check work --tool pay >/dev/null
}
check 'rules allow, deny and ask @r' rules

survives() {
	own_vivd
	program pay 'cat; echo done'
	policy 'ask tools pay'
	v run -d --name work --policy rules.policy -- sleep 600 >/dev/null
	v exec work -- sh -c 'pay >/root/out 2>&1; echo $? >/root/status' &
	soon open_is 1
	id=$(newest)
	pid=$(pid_of)
	kill -KILL "$pid"
	soon gone "$pid"
	v daemon start >/dev/null
	# The same question, with the same number, and one answer is enough.
	soon open_is 1
	is "$(newest)" "$id"
	waited() { v exec work -- grep -q "waiting for approval $id" /root/out; }
	soon waited
	v approvals allow "$id" >/dev/null
	over() { v exec work -- test -s /root/status; }
	soon over
	is "$(v exec work -- cat /root/status)" 0
	has <(v exec work -- cat /root/out) done
	# A call in the middle ends with vivd, and so does its program.
	program pay 'echo begun; exec -a "tool-$VIV_CELL" sleep 3600'
	v policy add work 'allow tools pay' >/dev/null
	cellid=$(api /v1/cells/work | field id)
	v exec work -- sh -c 'pay >/root/out 2>&1; echo $? >/root/status2' &
	begun() { v exec work -- grep -q begun /root/out; }
	soon begun
	pid=$(pid_of)
	kill -KILL "$pid"
	soon gone "$pid"
	soon nobody_runs "tool-$cellid"
	v daemon start >/dev/null
	over() { v exec work -- test -s /root/status2; }
	soon over
	is "$(v exec work -- cat /root/status2)" 125
}
check 'vivd is killed while a call waits, and while one runs' survives

bad() {
	own_vivd
	local nap=3601.$RANDOM$RANDOM # by which its processes are found
	program hang "setsid sleep $nap & (trap '' HUP TERM; sleep $nap) & sleep $nap" --timeout 1s
	program binary 'head -c 100000 /dev/urandom | tee '"$PWD"'/random'
	program flood 'yes' --max-output 64K
	program silent 'exec </dev/null >/dev/null 2>/dev/null; exit 0'
	program killed 'kill -SEGV $$'
	v tool add gone --command "$PWD/hang.prog" --schema hang.json >/dev/null
	program gone 'true'
	rm gone.prog
	cell --tool hang --tool binary --tool flood --tool silent --tool killed --tool gone --mount "$PWD:/out" -- sh -c '
		hang; echo $?; binary >/out/got; echo $?; flood | wc -c; flood >/dev/null; echo $?; silent; echo $?; killed; echo $?; gone; echo $?' >out 2>err
	is "$(cat out)" "$(printf '%s\n' 124 0 "$(sed -n 3p out)" 125 0 139 127)"
	[[ $(sed -n 3p out) -le 65536 ]]
	cmp random got
	has err 'took longer than 1 s'
	has err 'printed more than 65536 bytes'
	# All of it, whatever it did to get away.
	soon nobody_runs "sleep $nap"
	# A cell that stops in the middle takes its program with it.
	program forever 'exec -a "forever-'"$nap"'-$VIV_CELL" sleep 3602'
	v run -d --name work --tool forever -- forever >/dev/null
	id=$(api /v1/cells/work | field id)
	runs() { pgrep -f "forever-$nap-$id" >/dev/null; }
	soon runs
	v stop -t 0 work >/dev/null
	soon nobody_runs "forever-$nap-$id"
	# So does a command that is interrupted.
	exits 124 cell --tool forever -- timeout 1 forever
	soon nobody_runs "forever-$nap"
}
check 'tools that hang, flood, print binary, crash and are gone' bad

attacks() {
	own_vivd
	schema echo '{"type": "object", "properties": {"text": {"type": "string", "maxLength": 100}}, "required": ["text"], "additionalProperties": false}'
	program echo 'cat'
	program flood 'yes' --max-output 1G
	v run -d --name bad --tool echo --tool flood --mount "$E2E_DIR:/e2e:ro" -- sleep 600 >/dev/null
	v run -d --name good --tool echo -- sleep 600 >/dev/null
	memory() { awk '/VmRSS/ { print $2 }' "/proc/$(pid_of)/status"; }
	like "$(v exec bad -- python3 /e2e/door.py malformed "${BAD_REQUESTS:-1000}" "${BAD_SEED:-1}")" 'sent *'
	is "$(v exec bad -- echo --text fine)" '--text fine'
	is "$(v exec bad -- /run/viv/bin/echo --text fine)" '{"text":"fine"}'
	# All connections at once, none of which is read: others are served, and nothing grows.
	v exec -i bad -- python3 /e2e/door.py hoard >hoard <"$scratch/never" &
	held() { grep -q 'held 64' hoard; }
	soon held
	before=$(memory)
	is "$(v exec good -- /run/viv/bin/echo --text fine)" '{"text":"fine"}'
	is "$(api /v1/version -o /dev/null -w '%{http_code}')" 200
	after=$(memory)
	((after - before < 20000)) || { echo "vivd grew from $before to $after KiB"; return 1; }
	v stop -t 0 bad >/dev/null
	soon nobody_runs "$PWD/flood.prog"
	# Who it is counts, not what it says; other kinds of sockets do not lead there.
	like "$(v exec good -- python3 -c '
import socket
for kind in socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
    try: socket.socket(socket.AF_UNIX, kind).connect("/run/viv/sock")
    except OSError as e: print(type(e).__name__, e.errno)
s = socket.socket(socket.AF_UNIX); s.connect("/run/viv/sock")
try: socket.send_fds(s, [b"{"], [0])
except OSError as e: print(e.errno)
')" $'OSError 91\nOSError 91\n95'
}
check 'attacks on the door' attacks

mcp() {
	own_vivd
	server="python3 '$E2E_DIR/mcpserver.py' '$PWD/mcp.log'"
	exits 0 v tool add calc --from-mcp "$server"
	has err "subcommand 'odd? name' cannot be used"
	has err "subcommand 'pattern' cannot be used"
	is "$(api /v1/tools/calc | field subcommands | python3 -c 'import json,sys; print(*(s["name"] for s in json.load(sys.stdin)))')" 'add fail die slow state big'
	exits 0 v tool add old --from-mcp "$server 2024-11-05"
	exits 1 v tool add new --from-mcp "$server 2099-01-01"
	has err "version '2099-01-01'"
	exits 1 v tool add not --from-mcp 'sh -c "echo dying words >&2; exit 4"'
	has err 'dying words'
	policy 'deny tools calc/fail'
	v run -d --name one --tool calc --mount "$E2E_DIR:/e2e:ro" --policy rules.policy -- sleep 600 >/dev/null
	v run -d --name two --tool calc -- sleep 600 >/dev/null
	is "$(v exec one -- calc add --a 2 --b 3.5)" 5.5
	exits 2 v exec one -- calc add --a 2
	exits 2 v exec one -- calc nothing
	like "$(v exec one -- calc --help)" '*add*adds numbers*'
	# Each cell has a server of its own, which has a state.
	is "$(v exec one -- calc state)" 'call 2 of one'
	is "$(v exec two -- calc state)" 'call 1 of two'
	is "$(v exec one -- calc state)" 'call 3 of one'
	# What is denied is not shown, and not called either.
	exits 2 v exec one -- calc fail
	like "$(v exec one -- python3 /e2e/door.py raw '{"op":"call","tool":"calc","subcommand":"fail","arguments":{}}'$'\n')" '*"denied"*"exit":126*'
	like "$(v exec one -- cat /run/viv/denials)" "*calling 'calc/fail' is denied by 'deny tools calc/fail'*"
	exits 1 v exec two -- calc fail
	has err 'it went wrong'
	# It dies, or sends what cannot be read: an error, and a new one for the next call.
	exits 125 v exec one -- calc die
	has err 'dying words'
	is "$(v exec one -- calc state)" 'call 1 of one'
	exits 125 v exec one -- calc big
	is "$(v exec one -- calc state)" 'call 1 of one'
	# A command that is gone is cancelled; the end of the cell is the server's.
	: >mcp.log
	v exec one -- sh -c 'echo $$ >/root/pid; exec calc slow' >/dev/null 2>&1 &
	soon has mcp.log tools/call
	fails has mcp.log notifications/cancelled
	v exec one -- sh -c 'kill "$(cat /root/pid)"'
	rc=0; wait $! || rc=$?
	is "$rc" 143
	soon has mcp.log notifications/cancelled
	v stop -t 0 one >/dev/null
	v stop -t 0 two >/dev/null
	soon nobody_runs "$PWD/mcp.log"
}
check 'an MCP server as a tool' mcp

example() {
	own_vivd
	exits 0 v tool add weather --command "$E2E_DIR/examples/tool/weather" --schema "$E2E_DIR/examples/tool/weather.json"
	is "$(cell --tool weather -- weather --city Oslo --days 2 --fahrenheit)" '{"city": "Oslo", "degrees": [39, 36]}'
	exits 1 cell --tool weather -- weather --city Atlantis
	# In vivarium.yaml, and in an image that has nothing.
	printf 'name: p\ncells:\n  a:\n    tools: [weather]\n    command: [sleep, "600"]\n' >vivarium.yaml
	v up >/dev/null 2>&1
	is "$(v exec a -- weather --city Lima)" '{"city": "Lima", "degrees": [19]}'
	v down >/dev/null 2>&1
	mkdir -p empty/bin && tar -C empty -c . | v image import --tag empty - >/dev/null
	is "$(cell --image empty --tool weather -- /run/viv/bin/weather --city Cairo)" '{"city": "Cairo", "degrees": [31]}'
}
check 'the example, in vivarium.yaml and in an empty image' example

registry=$(npm config get registry 2>/dev/null)
everything() {
	own_vivd
	mkdir shared && echo content >shared/file
	npm_here "$PWD/npm" @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
	exits 0 v tool add every --from-mcp "node '$PWD/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js'"
	exits 0 v tool add fs --from-mcp "node '$PWD/npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js' '$PWD/shared'"
	policy 'deny tools fs/write_file'
	cell --tool every --tool fs --policy rules.policy -- sh -c "
		every echo --message 'hello there'; every get-sum --a 2 --b 40 || every add --a 2 --b 40
		fs read_text_file --path '$PWD/shared/file'; fs read_text_file --path /etc/passwd; echo \$?
		fs write_file --path '$PWD/shared/new' --content x; echo \$?" >out 2>err
	has out 'hello there'
	has out 42
	has out content
	is "$(tail -n 2 out)" $'1\n2'
	[[ ! -e shared/new ]]
}
if curl -sSf --max-time 20 -o /dev/null "${registry}lodash" 2>/dev/null; then
	check 'MCP servers from npm as tools' everything
else
	skip 'MCP servers from npm as tools' 'npm has no registry that can be reached'
fi
