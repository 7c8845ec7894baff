# A coding agent in a cell: installed with npm through the gate, then at work with a model that follows a script (model.py), with a
# key that it never has. shellcheck shell=bash

AGENT=@mariozechner/pi-coding-agent@0.73.1

npm_install() { # registry
	local host=${1#*://}
	host=${host%%/*}
	mkdir "$scratch/agent"
	cd "$scratch/agent"
	# The address as well, as a registry may be on a private network.
	LIMIT=400 exits 0 viv --mount "$PWD:/agent:rw" -w /agent -e HOME=/tmp --allow "$host" \
		--allow "$(getent ahostsv4 "${host%%:*}" | awk '{ print $1; exit }')" -- \
		npm install --no-audit --no-fund --no-update-notifier "$AGENT"
	[[ $(find node_modules -maxdepth 3 -path '*/@*/*/package.json' -o -maxdepth 3 -path 'node_modules/[!@]*/package.json' | wc -l) -ge 100 ]]
}

at_work() {
	local words=(unshare --net --mount)
	[[ $(id -u) == 0 ]] || words+=(--map-root-user)
	export -f is like at_work_inside
	export VIV scratch
	"${words[@]}" "$E2E_DIR/world.sh" enter "$PWD/world" bash -c 'set -e; at_work_inside'
}
at_work_inside() {
	local tap=/dev/stderr value=sk-ant-the-real-value-123
	pause_for() { sleep "$1"; }
	# shellcheck source=tests/e2e/world.sh
	. "$E2E_DIR/world.sh"
	trap 'set +e; "$VIV" daemon stop; world_end' EXIT
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
	mkdir -m 700 data run state config work
	world_name_server
	world_run model python3 "$E2E_DIR/model.py" 93.184.216.40 "$E2E_WORLD/server.pem" "$E2E_WORLD/server.key" "$value" "$PWD/log"
	world_wait 93.184.216.40 443
	echo "$value" | "$VIV" secret set ANTHROPIC_API_KEY
	timeout 120 "$VIV" run --network pi --secret ANTHROPIC_API_KEY --mount "$scratch/agent:/agent:ro" --mount "$PWD/work:/work:rw" -w /work \
		-e HOME=/tmp -- /agent/node_modules/.bin/pi --provider anthropic --model claude-sonnet-4-5 --no-session -p 'write hello.py and run it' >said || { cat said; return 1; }
	# It wrote a file and ran it, in its cell, without the key among its variables.
	is "$(cat work/hello.py)" "print('written by the agent')"
	is "$(cat work/result.txt)" $'written by the agent\n0\ncell'
	# The model had the key, said it, and the agent did not hear it.
	is "$(python3 -c 'import json,sys
print([(r["known"], r["host"], r["leak"]) for r in map(json.loads, sys.stdin)])' <log)" \
		"[(True, 'api.anthropic.com', False), (True, 'api.anthropic.com', False), (True, 'api.anthropic.com', False)]"
	like "$(cat said)" 'The file is written and was run. My key is sk-ant-api03-viv-secret-ANTHROPIC_API_KEY-*'
}

registry=$(npm config get registry 2>/dev/null)
if curl -sSf --max-time 20 -o /dev/null "${registry}lodash" 2>/dev/null; then
	check 'npm install of a coding agent, through the gate' npm_install "$registry"
	check 'a coding agent writes a file and runs a command, with a brokered key' at_work
	rm -rf "$scratch/agent"
else
	skip 'npm install of a coding agent, through the gate' 'npm has no registry that can be reached'
	skip 'a coding agent writes a file and runs a command, with a brokered key' 'npm has no registry that can be reached'
fi
