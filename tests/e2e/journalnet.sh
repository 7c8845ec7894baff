# The network in a cell's journal: what servers saw, what was denied, and no secret. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
seen=$scratch/seen
: >"$seen"
world_run journal python3 "$E2E_DIR/journalserver.py" "$E2E_WORLD" "$seen"
world_wait 93.184.216.36 7

net() { # case
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p "$XDG_DATA_HOME" "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"
	timeout -k 5 600 python3 "$E2E_DIR/journalnet.py" "$VIV" "$PWD" "$seen" "$1"
}
with_vivd() { # case
	own_vivd
	net "$1"
}
secret() {
	local VALUE='real-value/of+the&key%42' HOLDER FORMS
	own_vivd
	printf %s "$VALUE" | v secret set KEY --host good.org:8443 --bearer --basic '*' --query key --body >set.out
	HOLDER=$(v secret show KEY | awk '$1 == "placeholder" { print $2 }')
	FORMS=$(printf '%s\n' "$VALUE" real-value 'real-value%2F' cmVhbC12YWx1ZS9 JlYWwtdmFsdWUvb yZWFsLXZhbHVlL2 7265616c2d76616c7565)
	export VALUE HOLDER FORMS
	net secret
}

check 'every connection and request that servers saw is in the journal, and no other @r' net model
check 'requests that never end are recorded with what there was of them @r' net under_way
check 'streams of HTTP/2 are those that the server has in its log' net http2
check 'a WebSocket is recorded with the bytes of both directions' net websocket
check 'a request that waits for the operator while its server goes: both connections are recorded, and one request' with_vivd held
check '/metrics counts connections, requests, names and bytes as the journal has them' with_vivd metrics
check 'a network that a cell is given while it runs is in the journal from then on' with_vivd granted
check 'the same of a cell of the pool' with_vivd pooled
check 'a full disk while connections are made: the cell waits, and none is missing @root' net full_wait
check 'a full disk with --journal-full continue: what is missing is counted @root' net full_continue
check 'a connection that new rules end, and one that the operator allows' with_vivd changed
check 'values of secrets are nowhere in the journal: queries, users, echoes' secret
check 'kill -9 of the gate: what the cell was told is in the journal, and the next gate goes on @r' net kill_gate
check 'kill -9 of the keeper: what the cell was told is in the journal, once' net kill_keeper
check 'a gate that was broken into spoils nothing but its own records' net hostile
check 'what only an audit rule lets through is marked, as policy learn has it' with_vivd audit
world_end
