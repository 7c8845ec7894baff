# viv acp: editors that speak ACP with an agent in a cell. shellcheck shell=bash

SDK=@agentclientprotocol/sdk@2.4.0

with_cell() {
	own_vivd
	v create --name c --mount "$E2E_DIR:/e2e:ro" >/dev/null
}

none_open() { [[ -z $(v session ls -q) ]]; }
official() {
	npm_here "$PWD" "$SDK" zod@4
	with_cell
	is "$(ACP_SDK=$PWD timeout -k 5 120 node "$E2E_DIR/editor.mjs" "$VIV" acp --cell c -- python3 /e2e/acpagent.py --modes --options 2>err || cat err)" ok
	soon none_open
}

# Lines for viv acp, and what it answers.
say() { printf '%s\n' "$1" >&"${COPROC[1]}"; }
hear() { IFS= read -rt 60 line <&"${COPROC[0]}"; }
hears() { # glob: a line that is like it comes
	while hear; do
		# shellcheck disable=SC2053
		[[ $line == $1 ]] && return 0
	done
	echo "never heard: $1"
	return 1
}

bad_lines() {
	with_cell
	coproc "$VIV" acp --cell c -- python3 /e2e/acpagent.py
	at_end "kill $COPROC_PID 2>/dev/null"
	say 'this is no JSON'
	hears '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,*'
	say '[1,2]'
	hears '*"code":-32600,*'
	say '{"jsonrpc":"2.0","id":"a\u001b","method":"no/such"}'
	hears '{"jsonrpc":"2.0","id":"a\\u001b","error":{"code":-32601,*'
	say '{"jsonrpc":"2.0","id":77,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}'
	say '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s_nothing"}}'
	say '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"../../x","prompt":[]}}'
	hears '*"id":1,"error":*no such session*'
	say '{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s_nothing"}}'
	hears '*"id":2,"error":*there is no session*'
	say '{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'
	hears '*"id":3,"result":{"sessionId":"s_*'
	S=$(v session ls -q)
	say "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"$S\",\"prompt\":[]}}"
	hears '*"id":4,"error":*the prompt is empty*'
	# Somebody else prompts the session: the editor sees it. Then vivd is killed in the middle of a turn.
	v session prompt "$S" 'say of another' >/dev/null
	hears '*user_message_chunk*say of another*'
	say "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"$S\",\"prompt\":[{\"type\":\"text\",\"text\":\"say begun; wait /tmp/go; ask me\"}]}}"
	hears '*begun*'
	kill -9 "$(pid_of)"
	# viv acp starts it again.
	soon run_in c touch /tmp/go
	hears '*session/request_permission*"title":"me"*'
	[[ $line =~ \"id\":([0-9]+) ]]
	# Two answer: the first counts.
	v approvals allow "$(v approvals ls -q)" >/dev/null
	say "{\"jsonrpc\":\"2.0\",\"id\":${BASH_REMATCH[1]},\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"no\"}}}"
	hears '*optionId*yes*'
	hears '*"id":5,"result":{"stopReason":"end_turn"}*'
	eval "exec ${COPROC[1]}>&-"
	wait "$COPROC_PID"
}
check 'an editor that sends nonsense, and one whose vivd is killed' bad_lines

# The rules of the cell ask the editor, too.
of_the_cell() {
	own_vivd
	printf 'ask files /secret/** read\n' >rules
	v create --name c --policy rules --mount "$E2E_DIR:/e2e:ro" >/dev/null
	coproc "$VIV" acp --cell c -- python3 /e2e/acpagent.py
	at_end "kill $COPROC_PID 2>/dev/null"
	say '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'
	hears '*"id":1,"result":{"sessionId":"s_*'
	S=$(v session ls -q)
	say "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"$S\",\"prompt\":[{\"type\":\"text\",\"text\":\"run mkdir /secret && echo key >/secret/a && cat /secret/a\"}]}}"
	hears '*session/request_permission*"title":"open /secret/a"*"kind":"reject_always"*'
	[[ $line =~ \"id\":([0-9]+) ]]
	say "{\"jsonrpc\":\"2.0\",\"id\":${BASH_REMATCH[1]},\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"allow_once\"}}}"
	hears '*output*key*'
	hears '*"id":2,"result":{"stopReason":"end_turn"}*'
	eval "exec ${COPROC[1]}>&-"
	wait "$COPROC_PID"
}
check 'questions of the cell in an editor' of_the_cell

# The agent sees the project under its own path, and changes a copy of it.
on_copy() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents project
	cp "$E2E_DIR/acpagent.py" project/
	echo old >project/file
	printf 'name: scripted\nacp: [python3, %s/project/acpagent.py]\nimage: host\n' "$PWD" >config/vivarium/agents/scripted.yaml
	coproc "$VIV" acp --agent scripted --mount project --on-copy 2>err
	at_end "kill $COPROC_PID 2>/dev/null"
	say "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"$PWD/project\",\"mcpServers\":[]}}"
	hears '*"id":1,"result":{"sessionId":"s_*'
	S=$(v session ls -q)
	say "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"$S\",\"prompt\":[{\"type\":\"text\",\"text\":\"run cat file; run echo new >file\"}]}}"
	hears '*"id":2,"result":{"stopReason":"end_turn"}*'
	eval "exec ${COPROC[1]}>&-"
	wait "$COPROC_PID"
	name=$(v ls -q)
	like "$name" 'acp-scripted-copy-????????'
	like "$(cat err)" "*works on a copy of '$PWD/project'; 'viv merge $name'*"
	is "$(cat project/file)" old
	exits 0 v merge -y "$name"
	is "$(cat project/file)" new
	exits 2 v acp --agent scripted --cell c --on-copy </dev/null
}
check 'an editor whose agent works on a copy' on_copy

registry=$(npm config get registry 2>/dev/null)
if curl -sSf --max-time 20 -o /dev/null "${registry}zod" 2>/dev/null; then
	check 'the client of the official ACP SDK' official
else
	skip 'the client of the official ACP SDK' 'npm has no registry that can be reached'
fi
