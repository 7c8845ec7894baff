# More words for themes, besides those of tests/e2e/lib.sh.
#
#   tool_same NAME 'TOOL...' INTERPRETER...  <<script          'same'; fails if a tool is missing
#   inside NAME 'TOOL...' WANTED [OPTION of viv run...]  <<script
#                     the bash script, run with -eu in an empty directory of a cell, prints WANTED and succeeds
#   fetched DIR PACKAGE@VERSION...       the npm packages are in DIR/node_modules; else $why says why not
#   wanted NAME...                       one of these tests is to be run: worth fetching something for
#
# Scripts of 'inside' have the word 'soon': a command that succeeds within ten seconds.
# shellcheck shell=bash

PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)
PATH=${PATH%:}
LIMIT=120

missing() { # tools: the first that is not installed
	local tool
	for tool in $1; do
		command -v "$tool" >/dev/null || { echo "$tool is not installed"; return 0; }
	done
	return 1
}

tool_same() { # name, tools, interpreter...
	local why
	if why=$(missing "$2"); then
		cat >/dev/null
		lack "$1" "$why"
		return 0
	fi
	same "$1" "${@:3}"
}

run_inside() { # script, wanted, options...
	local script=$1 want=$2
	shift 2
	mkdir t
	{
		echo 'soon() { local i; for ((i = 0; i < 100; i++)); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; echo "never: $*" >&2; return 1; }'
		echo 'mkdir -p /tmp/w && cd /tmp/w'
		printf '%s\n' "$script"
	} >t/script
	exits 0 viv --mount "$PWD/t:$PWD/t:ro" --env LC_ALL=C.UTF-8 --env PATH="$PATH" "$@" -- bash -eu "$PWD/t/script"
	is "$(cat out)" "$want" output || { head -n 20 err; return 1; }
}

inside() { # name, tools, wanted, options...
	local why script
	script=$(cat)
	if why=$(missing "$2"); then
		lack "$1" "$why"
		return 0
	fi
	check "$1" run_inside "$script" "${@:3}"
}

wanted() { # names
	local name
	[[ -z $E2E_PATTERN || $theme == *"$E2E_PATTERN"* ]] && return 0
	for name; do [[ $name == *"$E2E_PATTERN"* ]] && return 0; done
	return 1
}

# A registry that did not answer once in this run is not asked again: npm is slow to give up.
fetched() { # directory, packages...
	local dir=$1 silent=$E2E_RESULT/registry.silent
	shift
	why='npm is not installed'
	command -v npm >/dev/null || return 1
	[[ -e $dir/.fetched && $(cat "$dir/.fetched") == "$*" ]] && return 0
	why='the npm registry does not answer'
	[[ -e $silent ]] && return 1
	rm -rf "$dir"
	mkdir -p "$dir" && echo '{ "private": true }' >"$dir/package.json"
	if ! TMPDIR=$dir timeout 600 npm install --prefix "$dir" --cache "$TOOLCHAINS_CACHE/npm" --no-audit --no-fund \
		--fetch-retries 1 --fetch-timeout 60000 "$@" >"$dir/log" 2>&1; then
		why="not from the npm registry: $(grep -m 1 -i 'npm err' "$dir/log")"
		grep -q 'ENOTFOUND\|EAI_AGAIN\|ETIMEDOUT\|ECONNREFUSED\|ERR_SOCKET_TIMEOUT' "$dir/log" && : >"$silent"
		return 1
	fi
	chmod -R a+rX "$dir"
	echo "$*" >"$dir/.fetched"
}
