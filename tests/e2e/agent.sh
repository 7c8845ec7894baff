# A coding agent in a cell: installed with npm through the gate, then at work with a model that follows a script (model.py), with a
# key that it never has. shellcheck shell=bash

AGENT=@mariozechner/pi-coding-agent@0.73.1

# Packages from npm's registry, by npm in a cell, through the gate: in node_modules of the current directory.
npm_get() { # registry, package...
	local host=${1#*://}
	host=${host%%/*}
	# The address as well, as a registry may be on a private network. A registry that is not ours fails now and then: npm
	# tries each request again, and all of it, with what it has got.
	LIMIT=500 try viv --mount "$PWD:/agent:rw" -w /agent -e HOME=/tmp --allow "$host" \
		--allow "$(getent ahostsv4 "${host%%:*}" | awk '{ print $1; exit }')" -- \
		sh -c 'for i in 1 2 3; do npm install --no-audit --no-fund --no-update-notifier --fetch-retries 5 --fetch-timeout 60000 "$@" && exit 0; done; exit 1' sh "${@:2}"
	[[ $rc == 0 ]] && return 0
	cat out err
	# A registry that npm on the host cannot use in the same environment is no matter of the gate.
	mkdir "$PWD/again"
	env -i PATH="$PATH" HOME="$PWD/again" timeout 200 npm install --prefix "$PWD/again" --no-audit --no-fund --no-update-notifier "${@:2}" >out 2>err ||
		skipped "npm cannot use its registry on the host either: $(grep -m 1 -i 'npm err' err)"
	return 1
}
npm_install() { # registry
	mkdir "$scratch/agent"
	cd "$scratch/agent"
	npm_get "$1" "$AGENT"
	[[ $(find node_modules -maxdepth 3 -path '*/@*/*/package.json' -o -maxdepth 3 -path 'node_modules/[!@]*/package.json' | wc -l) -ge 100 ]]
}

# A function in a world of its own, in this directory.
in_world() { # function
	local words=(unshare --net --mount)
	[[ $(id -u) == 0 ]] || words+=(--map-root-user)
	export -f is like "$1"
	export VIV scratch
	"${words[@]}" "$E2E_DIR/world.sh" enter "$PWD/world" bash -c "set -e; tap=/dev/stderr; pause_for() { sleep \"\$1\"; }; . \"\$E2E_DIR/world.sh\"; $1"
}
at_work() {
	[[ -x $scratch/agent/node_modules/.bin/pi ]] || skipped 'the agent could not be installed'
	in_world at_work_inside
}
at_work_inside() {
	local value=sk-ant-the-real-value-123
	trap 'set +e; "$VIV" daemon stop; world_end' EXIT
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
	mkdir -m 700 data run state config work
	world_name_server
	world_run model python3 "$E2E_DIR/model.py" 93.184.216.40 "$E2E_WORLD/server.pem" "$E2E_WORLD/server.key" "$value" "$PWD/log"
	world_wait 93.184.216.40 443
	echo "$value" | "$VIV" secret set ANTHROPIC_API_KEY
	local script='[["write", "hello.py", "print('"'written by the agent'"')\n"],
		["run", "python3 hello.py > result.txt; env | grep -c real-value >> result.txt; uname -n >> result.txt"],
		["say", "The file is written and was run. My key is {key}."]]'
	timeout 400 "$VIV" run --network pi --secret ANTHROPIC_API_KEY --mount "$scratch/agent:/agent:ro" --mount "$PWD/work:/work:rw" -w /work \
		-e HOME=/tmp -- /agent/node_modules/.bin/pi --provider anthropic --model claude-sonnet-4-5 --no-session -p "write hello.py and run it: <<<$script>>>" >said || { cat said; return 1; }
	# It wrote a file and ran it, in its cell, without the key among its variables.
	is "$(cat work/hello.py)" "print('written by the agent')"
	is "$(cat work/result.txt)" $'written by the agent\n0\ncell'
	# The model had the key, said it, and the agent did not hear it.
	is "$(python3 -c 'import json,sys
print([(r["known"], r["host"], r["leak"]) for r in map(json.loads, sys.stdin)])' <log)" \
		"[(True, 'api.anthropic.com', False), (True, 'api.anthropic.com', False), (True, 'api.anthropic.com', False)]"
	like "$(cat said)" 'The file is written and was run. My key is sk-ant-api03-viv-secret-ANTHROPIC_API_KEY-*'
}

# undici and ws, the clients that most programs for Node use without knowing.
node_packages() { # registry
	mkdir lib
	cd lib
	npm_get "$1" undici@6.21.1 ws@8.18.0
	cat >c.mjs <<'P'
import { Pool, request } from "undici";
import WebSocket from "ws";
const text = async (r) => (await r.body.text()).trim().split(" ")[0];
console.log(await text(await request("https://good.org/who")));
const pool = new Pool("https://good.org", { connections: 5, pipelining: 4 });
const all = await Promise.all(Array.from({ length: 40 }, () => pool.request({ path: "/who", method: "GET" }).then(text)));
console.log(all.length, new Set(all));
await pool.close();
console.log(await (await request("https://other.org:8443/length", { method: "POST", body: Buffer.alloc(1 << 20) })).body.text());
const w = new WebSocket("wss://other.org:8443/echo");
await new Promise((done, fail) => w.on("open", done).on("error", fail));
for (let i = 1; i <= 3; i++) {
	w.send("x".repeat(i * 20000));
	console.log((await new Promise((got) => w.once("message", got))).length);
}
w.close();
await request("https://same.org/").catch((e) => console.log(e.code));
P
	cd ..
	in_world node_packages_inside
}
node_packages_inside() {
	local name how given
	trap 'set +e; world_end' EXIT
	world_name_server
	world_web
	mkdir certs
	cp "$E2E_WORLD/ca.pem" certs
	for name in server wrongname expired selfsigned; do cp "$E2E_WORLD/server.pem" "certs/$name.pem" && cp "$E2E_WORLD/server.key" "certs/$name.key"; done
	world_run webserver python3 "$E2E_DIR/webserver.py" "$PWD/certs"
	world_wait 93.184.216.35 8443
	# Passed, with the server's own certificate; then opened, with one of the cell's CA.
	for how in passed opened; do
		given=(--mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -e NODE_EXTRA_CA_CERTS=/ca.pem)
		[[ $how == passed ]] || given=(--deny 'good.org DELETE' --deny 'other.org:8443 DELETE')
		is "$(timeout 300 "$VIV" run --allow good.org --allow other.org:8443 "${given[@]}" --mount "$PWD/lib:/lib0:ro" -e HOME=/tmp -- node /lib0/c.mjs)" \
			$'good.org\n40 Set(1) { \'good.org\' }\n1048576\n\n20000\n40000\n60000\nEAI_AGAIN' "$how"
	done
}

registry=$(npm config get registry 2>/dev/null)
if curl -sSf --max-time 20 -o /dev/null "${registry}lodash" 2>/dev/null; then
	check 'npm install of a coding agent, through the gate' npm_install "$registry"
	check 'a coding agent writes a file and runs a command, with a brokered key' at_work
	rm -rf "$scratch/agent"
	check 'undici and ws from npm, through the gate' node_packages "$registry"
else
	skip 'npm install of a coding agent, through the gate' 'npm has no registry that can be reached'
	skip 'a coding agent writes a file and runs a command, with a brokered key' 'npm has no registry that can be reached'
	skip 'undici and ws from npm, through the gate' 'npm has no registry that can be reached'
fi
