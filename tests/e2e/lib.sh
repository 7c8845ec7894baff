# The words that themes are written in; sourced by run.sh in a process of its own for each theme.
#
#   same NAME INTERPRETER...  <<script   the script prints the same on the host and in a cell
#   check NAME FUNCTION [ARG...]         the function, run with set -e in an empty directory, succeeds
#   skip NAME REASON       only for what the machine cannot have: it is counted (inside of a check: skipped REASON)
#   lack NAME REASON       fails: a program is not installed
#
# '@r' in a name: also for an unprivileged user. '@root': only when the host's side is root.
# In a script of 'same', $P is the folder of the programs of programs/, and the directory is empty.
#
# A test ends what it starts; at_end names what is to be done for that however it ends. One that fails, or takes longer than
# E2E_LIMIT seconds (900), has all its processes ended, its mounts undone and its files removed, so that it fails alone.
# shellcheck shell=bash

export LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export E2E_DIR
tap=$E2E_RESULT/$theme.tap
P=$E2E_PROGRAMS
VIV=$E2E_VIV
scratch=$E2E_ROOT/$theme
mkdir "$scratch" "$scratch/tmp" || exit 1
export TMPDIR=$scratch/tmp
# Nothing is kept in the caller's own store.
export XDG_DATA_HOME=$scratch/data XDG_RUNTIME_DIR=$scratch/run XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config
mkdir "$XDG_RUNTIME_DIR"
number=0
: >"$tap"
mkfifo "$scratch/never" || exit 1

# viv run, never for longer than three minutes. What takes a second alone can take a minute on a machine with much else to do.
viv() { timeout -k 5 "${LIMIT:-180}" "$VIV" run "$@"; }

# ---- inside of checks ----

is() { # got, wanted, [what]
	[[ $1 == "$2" ]] && return 0
	printf '%s: got %q, wanted %q\n' "${3:-value}" "${1:0:400}" "${2:0:400}"
	return 1
}
like() { # got, glob, [what]
	# shellcheck disable=SC2053
	[[ $1 == $2 ]] && return 0
	printf '%s: got %q, wanted something like %q\n' "${3:-value}" "${1:0:800}" "$2"
	return 1
}
# Runs a command: status in $rc, streams in the files out and err.
try() {
	rc=0
	"$@" >out 2>err || rc=$?
}
exits() { # status, command...
	local want=$1
	shift
	try "$@"
	[[ $rc == "$want" ]] && return 0
	printf 'exit status %s, wanted %s: %s\n' "$rc" "$want" "$*"
	head -n 20 out err
	return 1
}
# What the test does at its end, whatever that is; what is named last is done first. A process that this shell has just made, and
# that a signal ends before it runs its program, has the same trap: it does nothing of it.
at_end() { # command line
	at_end_lines=$1$'\n'${at_end_lines-}
	trap 'at_end_do' EXIT
}
at_end_do() {
	[[ $BASHPID == "$check_pid" ]] || return 0
	set +e
	eval "$at_end_lines"
}
# A process that this shell has made runs its program. Before that a signal would be for the shell.
has_program() { # pid
	[[ $(readlink "/proc/$1/exe") != "$(readlink /proc/$BASHPID/exe)" ]]
}
# A condition that is met soon. The limit is for what never comes: nobody waits for it otherwise.
soon() { # command...
	local end=$((SECONDS + 120))
	until "$@"; do
		((SECONDS < end)) || { echo "not within 120 s: $*" && return 1; }
		sleep 0.05
	done
}
# A command that must fail. set -e does not look at one with '!' before it.
fails() { # command...
	if "$@"; then
		echo "this should have failed: $*"
		return 1
	fi
}
# A port of the host that nobody has, outside of the range from which the host takes ports itself.
free_port() {
	local p used
	used=$(cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6)
	while :; do
		p=$((10000 + (RANDOM << 15 | RANDOM) % 22000))
		[[ $used == *":$(printf %04X "$p") "* ]] || break
	done
	echo "$p"
}
# Ends a test that needs what is not there after all, such as a server that nobody here runs. It is counted as one that was skipped.
skipped() { # reason
	echo "$1" >"$scratch/skipped"
	exit 77
}

# Packages from npm's registry, in node_modules of a directory. Where npm cannot use its registry the test is skipped: it is about
# something else.
npm_here() { # directory, package...
	mkdir -p "$1"
	timeout -k 5 150 npm install --prefix "$1" --no-audit --no-fund --no-update-notifier --fetch-retries 1 --fetch-timeout 20000 \
		"${@:2}" >"$1/npm.log" 2>&1 || skipped "npm cannot use its registry: $(grep -m 1 -i 'npm err' "$1/npm.log")"
}

# All descendants of this theme, without those of its own shells.
descendants() {
	ps -e -o pid=,ppid=,stat=,args= >"$scratch/ps"
	awk -v me="$$" '
		{ pid = $1; parent[pid] = $2; state[pid] = $3; $1 = $2 = $3 = ""; args[pid] = $0 }
		END {
			for (p in parent) {
				for (q = p; q != me && q > 1; q = parent[q])
					;
				if (q == me && p != me && state[p] !~ /^Z/ &&
				    args[p] !~ /run\.sh --theme/ && args[p] !~ /ps -e -o pid=/)
					print p, args[p]
			}
		}' "$scratch/ps"
}
# A cell and all its processes are descendants of the theme, even when their viv is dead.
alone() { [[ -z $(descendants) ]]; }
cgroups_of_ours() {
	find /sys/fs/cgroup -type d -name 'viv.*' -user "$(id -u)" 2>/dev/null |
		grep -vxFf "$E2E_RESULT/cgroups.before" | while read -r d; do
		p=${d##*/viv.} p=${p%%.*}
		# Other people's cells may run as well: theirs have a living viv.
		[[ -d /proc/$p ]] && ! descendants | grep -q "^$p " && continue
		[[ ! -d $d ]] || echo "$d"
	done
}

# A viv that starts removes what a killed one could not; those of others may be on their way at any moment.
no_cgroups() {
	viv --quiet --memory 64M -- true
	[[ -z $(cgroups_of_ours) ]]
}

# ---- around checks ----

# Clock ticks since the machine started, as the start of a process is counted.
ticks_now() {
	local up
	read -r up _ </proc/uptime
	echo "${up/./}"
}
# A sleep without a process that could be found.
pause_for() { # seconds
	read -rt "$1" <>"$scratch/never" || true
}
# The processes that have been started since then, below the theme's shell: $scratch/started. Made without any that would be found. The
# watchdog may be as old as the first test.
started_since() { # ticks
	cat /proc/[0-9]*/stat >"$scratch/stats" 2>/dev/null
	awk -v me="$$" -v since="$1" -v dog="${dog-0}" '
		{
			name = rest = $0
			sub(/^[0-9]+ \(/, "", name)
			sub(/\) [A-Za-z] -?[0-9]+ .*/, "", name)
			sub(/^.*\) /, "", rest)
			split(rest, f, " ")
			state[$1] = f[1]; parent[$1] = f[2]; start[$1] = f[20]; called[$1] = name
		}
		END {
			for (p in parent) {
				for (q = p; q != me && q > 1; q = parent[q])
					;
				if (q == me && p != me && p != dog && start[p] >= since && state[p] != "Z" &&
				    !(parent[p] == me && called[p] == "cat"))
					print p, called[p]
			}
		}' "$scratch/stats" >"$scratch/started"
	[[ -s $scratch/started ]]
}
# Ends whatever a test that failed has left.
sweep() { # ticks
	local i p _
	for ((i = 0; i < 200; i++)); do
		started_since "$1" || break
		while read -r p _; do kill -KILL "$p" 2>/dev/null; done <"$scratch/started"
		pause_for 0.05
	done
	sed 's/^/cannot be ended: /' "$scratch/started"
	find "$TMPDIR" -mindepth 1 -delete
}
# For a theme whose tests share something: how that is brought in order after one that failed.
after_failure() { :; }
unmount_below() { # directory
	local at
	[[ $(</proc/self/mountinfo) == *" $1/"* ]] || return 0
	while read -r at; do umount -l "$at"; done < <(awk -v d="$1/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
}
# Ends a test that takes too long, for which the test itself has no limit. Without a process for the time in between. It ends with the
# theme, also when that was killed and its files are gone.
watchdog() {
	local pid since
	while [[ -d /proc/$$ && -p $scratch/never ]]; do
		pause_for 5
		read -r pid since 2>/dev/null <"$scratch/running" || continue
		((SECONDS - since > ${E2E_LIMIT:-900})) || continue
		[[ $(<"$scratch/running") == "$pid $since" ]] || continue
		echo "took longer than ${E2E_LIMIT:-900} s" >>"$scratch/log"
		kill -KILL "$pid" 2>/dev/null
	done
}

# ---- inside of checks that use vivd ----

# Every test has a vivd of its own, which it ends.
own_vivd() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p data run state
	sock=$XDG_RUNTIME_DIR/vivarium/vivd.sock
	at_end vivd_end
}
vivd_end() {
	local id
	[[ -S $sock ]] || return 0
	for id in $(cell_ids); do api "/v1/cells/$id?force=1" -X DELETE || true; done
	timeout 120 "$VIV" daemon stop || true
}
cell_ids() { api /v1/cells | python3 -c 'import json,sys; print(*(c["id"] for c in json.load(sys.stdin)["cells"]))'; }
v() { timeout -k 5 180 "$VIV" "$@"; }
api() { # path, curl's options...
	local path=$1
	shift
	curl -sS --max-time 180 --unix-socket "$sock" "$@" "http://vivd$path"
}
status_of() { api "$@" -o /dev/null -w '%{http_code}'; }
field() { python3 -c 'import json,sys; v=json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if isinstance(v, list) else v[k]
print(v if isinstance(v, str) else json.dumps(v))' "$1"; }
# Ended; whoever is its parent now may not have noticed yet.
gone() { [[ ! -d /proc/$1 || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]; }
pid_of() { api /v1/version | field pid; }
state_is() { [[ $(api "/v1/cells/$1" | field state) == "$2" ]]; }
make_cell() { api /v1/cells -d "$1" | field id; }
run_in() { # cell, words...: its output; exit status of the process
	local cell=$1 body
	shift
	body=$(python3 -c 'import json,sys; print(json.dumps({"command": sys.argv[1:]}))' "$@")
	api "/v1/cells/$cell/exec" -d "$body" | python3 -c 'import base64,json,sys
for line in sys.stdin:
    x = json.loads(line)
    if x["type"] in ("stdout", "stderr"): sys.stdout.buffer.write(base64.b64decode(x["base64"]) if "base64" in x else x["text"].encode())
    if x["type"] == "exit": sys.stdout.flush(); sys.exit(x["exit_code"])
sys.exit(99)'
}

# ---- tests ----

begin() { # name: false when it is not to be run
	title=${1%%@*}
	title=${title%"${title##*[! ]}"}
	[[ -n ${E2E_ROOTLESS-} && $1 != *@r\ * && $1 != *@r ]] && return 1
	[[ -z $E2E_PATTERN || $theme == *"$E2E_PATTERN"* || $title == *"$E2E_PATTERN"* ]] || return 1
	if [[ $1 == *@root* && $(id -u) != 0 ]]; then
		echo "ok - $title # SKIP needs root on the host" >>"$tap"
		return 1
	fi
	number=$((number + 1))
	dir=$scratch/$number
	mkdir "$dir"
	began=$(ticks_now)
	started=$EPOCHREALTIME
}
finish() { # status, file of diagnostics
	local took= n
	if [[ $1 != 0 ]]; then
		sweep "$began" >>"$2" 2>&1
		after_failure >>"$2" 2>&1 </dev/null
	fi
	[[ -n ${E2E_TIMES-} ]] &&
		took=$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf " (%.2f s)", b - a }')
	if [[ $1 == 77 && -s $scratch/skipped ]]; then
		echo "ok - $title # SKIP $(<"$scratch/skipped")" >>"$tap"
	elif [[ $1 == 0 ]]; then
		echo "ok - $title$took" >>"$tap"
	else
		echo "not ok - $title$took" >>"$tap"
		head -n 40 "$2" | cut -c -300 | sed 's/^/# /' >>"$tap"
	fi
	unmount_below "$dir"
	chmod -R u+rwX "$dir" 2>/dev/null
	# The sealer of a store that a test has used may be at its last journal.
	for ((n = 0; n < 200; n++)); do
		rm -rf --one-file-system "$dir" 2>/dev/null && return
		sleep 0.05
	done
	rm -rf --one-file-system "$dir"
}

check() { # name, function, arguments...
	begin "$1" || return 0
	local status
	rm -f "$scratch/skipped"
	(
		check_pid=$BASHPID
		echo "$check_pid $SECONDS" >"$scratch/running"
		cd "$dir" || exit 1
		set -e
		"${@:2}"
	) >"$scratch/log" 2>&1 </dev/null
	status=$?
	: >"$scratch/running"
	finish "$status" "$scratch/log"
}

same() { # name, interpreter...
	local name=$1 why=() host cell
	if ! begin "$name"; then
		cat >/dev/null
		return 0
	fi
	shift
	mkdir "$dir/t" "$dir/host" "$dir/home"
	cat >"$dir/t/script"
	(cd "$dir/host" && exec env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME="$dir/home" P="$P" \
		timeout 180 setsid -w "$@" "$dir/t/script") >"$dir/host.out" 2>"$dir/host.err" </dev/null
	host=$?
	viv --mount "$dir/t:$dir/t:ro" --mount "$P:$P:ro" --env LC_ALL=C.UTF-8 --env P="$P" --env PATH="$PATH" -- \
		/bin/sh -c 'mkdir /tmp/w && cd /tmp/w && exec "$@"' sh "$@" "$dir/t/script" \
		>"$dir/cell.out" 2>"$dir/cell.err" </dev/null
	cell=$?
	cmp -s "$dir/host.out" "$dir/cell.out" || why+=(output)
	[[ $host == "$cell" ]] || why+=(status)
	[[ $host == 0 ]] || why+=(host)
	[[ -s $dir/host.out ]] || why+=(silent)
	{
		echo "${why[*]}: exit status host $host, cell $cell"
		diff -a -U 1 --label host --label cell "$dir/host.out" "$dir/cell.out"
		head -n 8 "$dir/host.err" | sed 's/^/host stderr: /'
		head -n 8 "$dir/cell.err" | sed 's/^/cell stderr: /'
	} >"$scratch/log"
	finish "${#why[@]}" "$scratch/log"
}

skip() { # name, reason
	begin "$1" || return 0
	rm -rf "$dir"
	echo "ok - $title # SKIP $2" >>"$tap"
}

# A program that tools/deps installs is not there: the test fails. Without a program, 'same' would find that both sides say so.
lack() { # name, reason
	begin "$1" || return 0
	echo "$2; tools/deps installs what the tests need" >"$scratch/log"
	finish 1 "$scratch/log"
}

# The end of every theme.
leak_check() {
	title='nothing is left behind' dir=$scratch/leaks started=$EPOCHREALTIME
	mkdir "$dir"
	{
		soon alone || descendants | sed 's/^/process: /'
		ls -A "$TMPDIR"
		soon no_cgroups || cgroups_of_ours | sed 's/^/cgroup: /'
	} >"$scratch/log" 2>&1
	finish "$([[ -s $scratch/log ]] && echo 1 || echo 0)" "$scratch/log"
}
