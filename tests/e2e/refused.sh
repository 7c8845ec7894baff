# What a cell must not reach, tried by programs in it. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
# rebind.org is somewhere else each time.
world_run rebind python3 "$E2E_DIR/rebind.py" 5353
world_name_server --server=/rebind.org/127.0.0.1#5353
world_web
world_plain

refused() { # options of viv..., --, arguments of refused.py
	local given=()
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	is "$(LIMIT=120 viv --mount "$E2E_DIR/refused.py:/refused.py:ro" "${given[@]}" -- python3 /refused.py "$@" 2>&1)" ''
}

check 'special addresses are not reached in any form @r' refused --network open --allow '0.0.0.0/0:* any' --allow '[::/0]:* any' \
	--allow '*:* any' -- addresses

by_name() {
	local name
	# Names of the operator's own cells: addresses of this host, of any kind, behind names.
	for name in own.org private.org metadata.org metadata6.org loop.org any.org badalias.org; do
		try viv --allow "$name:* any" -- curl -sS --max-time 10 "http://$name/who"
		[[ $rc != 0 && ! -s out ]] || { echo "$name is reached"; return 1; }
		# Listed, the same is reached, where there is something.
	done
	is "$(viv --allow 'own.org:80 any' --allow "$WORLD_OWN:80 any" -- curl -sS http://own.org/who)" "own.org $WORLD_OWN 80 HTTP/1.1"
	# A range that has it does not mean it.
	try viv --allow 'own.org:80 any' --allow 93.184.216.96/29:80 -- curl -sS http://own.org/who
	[[ $rc != 0 && ! -s out ]]
}
check 'the host'"'"'s own addresses are not reached behind a name @r' by_name

check 'a name that changes leads nowhere else @r' refused --allow rebind.org --allow '*.rebind.org' -- rebind rebind.org
check 'TLS for another name, hidden in many ways' refused --allow good.org --allow other.org -- hello good.org other.org
check 'other name servers are not reached @r' refused --allow '*' -- resolvers

tunnel() {
	local long n
	long=$(printf 'a%.0s' {1..60})
	viv --allow '*.good.org' -- sh -c "
		getent hosts secret.$long.denied.org
		getent hosts $long.$long.$long.good.org
		getent hosts short.good.org
		for i in \$(seq 4000); do echo \$i.loud.good.org; done | xargs -n 4000 -P 1 getent hosts" >/dev/null || true
	is "$(grep -c "$long" "$scratch/world.dns")" 0 'long names'
	world_asked short.good.org
	# Some thousand questions for new names are let through, then a few in a second.
	n=$(grep -o '[0-9]*.loud.good.org' "$scratch/world.dns" | sort -u | wc -l)
	((n > 100 && n < 2900)) || { echo "$n names were asked for"; return 1; }
}
check 'names are a narrow tunnel' tunnel

world_end
