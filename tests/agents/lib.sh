# More words for themes, besides those of tests/e2e/lib.sh.
#
#   installed AGENT            its image is there, made by 'viv agent add' if need be; else $why says why not
#   in_world COMMAND...        runs it in a world of its own (world.sh) with the model, in the test's directory, with the keys of all
#                              agents as secrets and the images of this run. $VIV is viv; the model writes the file 'log'
# shellcheck shell=bash

E2E_LIMIT=1200
export KEY=sk-ant-the-real-value-123

# Images are kept, everything else is the test's.
in_cache() { # command...
	XDG_DATA_HOME=$AGENTS_CACHE/data XDG_STATE_HOME=$AGENTS_CACHE/state XDG_CONFIG_HOME=$AGENTS_CACHE/config "$@"
}

installed() { # agent
	local out status=0
	mkdir -p -m 700 "$AGENTS_CACHE"/{data,state,config}
	out=$(in_cache timeout 900 "$VIV" agent show --json "$1") || { why="there is no such agent: $out"; return 1; }
	if [[ -z $(field image_id <<<"$out" 2>/dev/null) ]]; then
		out=$(in_cache timeout 900 "$VIV" agent add "$1" 2>&1) || status=$?
		why="viv agent add: $(tail -n 1 <<<"$out")"
	fi
	in_cache timeout 60 "$VIV" daemon stop >/dev/null 2>&1
	return "$status"
}

in_world() { # command...
	local words=(unshare --net --mount)
	[[ $(id -u) == 0 ]] || words+=(--map-root-user)
	export -f in_world_inside
	export VIV AGENTS_CACHE E2E_THEMES scratch=$PWD
	"${words[@]}" "$E2E_DIR/world.sh" enter "$PWD/world" bash -c 'set -e; in_world_inside "$@"' bash "$@"
}
in_world_inside() {
	local tap=/dev/stderr name
	pause_for() { sleep "$1"; }
	# shellcheck source=tests/e2e/world.sh
	. "$E2E_DIR/world.sh"
	trap 'set +e; "$VIV" daemon stop; world_end' EXIT
	export XDG_DATA_HOME=$AGENTS_CACHE/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
	mkdir -m 700 run state config
	world_name_server
	world_run model python3 "$E2E_DIR/model.py" 93.184.216.40 "$E2E_WORLD/server.pem" "$E2E_WORLD/server.key" "$KEY" "$PWD/log"
	world_wait 93.184.216.40 443
	for name in ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY; do echo "$KEY" | "$VIV" secret set "$name" >/dev/null; done
	PYTHONPATH=$E2E_DIR "$@"
}
