#!/bin/bash
# End-to-end tests: real programs and the real command line, in real cells. Prints one TAP stream.
#
#   tests/e2e/run.sh BUILD_DIR VIV [pattern]     pattern: part of a theme's or of a test's name
#
# A theme is a file of this folder, NAME.sh: a list of tests made with the words of lib.sh. Themes
# run six at a time (E2E_JOBS; most of it is waiting), those that take longest first; those that need the machine for
# themselves follow one after the other.
# When we are root, tests with the mark @r run once more as the unprivileged user 'vivtest', with a
# copy of the programs. Each theme is a child subreaper, so what it leaves behind can be found among
# its descendants whatever else runs on the machine; every theme ends with such a leak check.
#
# E2E_KEEP=1 keeps the scratch directory; E2E_TIMES=1 prints how long each test took. E2E_THEMES is
# another folder of themes, with a lib.sh of more words (tests/toolchains).
set -u

here=$(cd "$(dirname "$0")" && pwd)
themes_at=${E2E_THEMES:-$here}
alone=' limits lifecycle '
# By how long they take, the longest first; others follow by name. With the wrong order it only takes longer.
longest=(outside agent opened vivd gate cells policy pool exec agents image netapprovals disks verbs merge tools sessions filesapi previews up cli survive websockets clients update health rollback streams secrets transcripts copies editor resolver storefaults threads signals)

# run.sh starts itself for each theme; perl, because a subreaper stays one through exec.
if [[ ${1-} == --theme ]]; then
	theme=$2
	[[ -r $themes_at/${theme%.rootless}.sh ]] || exit 1
	# shellcheck source=tests/e2e/lib.sh
	. "$here/lib.sh"
	# shellcheck source=tests/toolchains/lib.sh
	[[ -z ${E2E_THEMES-} ]] || . "$themes_at/lib.sh"
	watchdog &
	dog=$!
	# Not in a condition: the checks rely on set -e, which bash ignores there.
	# shellcheck disable=SC1090
	. "$themes_at/${theme%.rootless}.sh"
	leak_check
	kill "$dog"
	exit 0
fi

if [[ $# -lt 2 || $# -gt 3 ]]; then
	echo "usage: $0 BUILD_DIR VIV [pattern]" >&2
	exit 2
fi
viv=$(command -v "$2") || { echo "$0: no such program: $2" >&2; exit 2; }
viv=$(realpath "$viv")
export E2E_PATTERN=${3-}

work=$(mktemp -d /tmp/viv-e2e.XXXXXX) || exit 2
cleanup() {
	[[ -n ${E2E_KEEP-} ]] && { echo "# kept: $work"; return; }
	chmod -R u+rwX "$work" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
# Interrupted: whatever we started, cells included, goes first.
stop_all() {
	local list
	list=$(ps -e -o pid=,ppid= | awk -v me="$$" '{ p[$1] = $2 } END { for (q in p) { for (r = q; r > 1 && r != me; r = p[r]) ; if (r == me && q != me) print q } }')
	# shellcheck disable=SC2086
	kill -9 $list 2>/dev/null
	exit 130
}
trap stop_all INT TERM
chmod 755 "$work"
mkdir "$work/bin" "$work/programs" "$work/result" "$work/root"
cp "$viv" "$(dirname "$viv")"/viv-{kernel,keeper,store,s3,gate,journal,tools,hold,expr} "$(dirname "$viv")/vivd" "$work/bin/" || exit 2
cp -r "$here" "$work/e2e" && cp -r "$here/../../examples" "$work/e2e/" && cp -r "$here/../../clients" "$work/clients" && chmod -R a+rX "$work/e2e" "$work/clients" || exit 2
if [[ -n ${E2E_THEMES-} ]]; then
	cp -r "$E2E_THEMES" "$work/themes" && chmod -R a+rX "$work/themes" || exit 2
	export E2E_THEMES=$work/themes
fi
E2E_BUILD=$(realpath "$1") E2E_SOURCE=$(realpath "$here/../..")
export E2E_BUILD E2E_SOURCE # for what is about them, and only as their owner
export E2E_VIV=$work/bin/viv E2E_PROGRAMS=$work/programs E2E_RESULT=$work/result E2E_DIR=$work/e2e

# ---- the guest programs, built on the host ----
compile() { # source
	local name
	name=$(basename "$1" .c)
	case $name in
	musl_*) musl-gcc -static -O1 -Wall -pthread -o "$E2E_PROGRAMS/$name" "$1" ;;
	raw_*) gcc -static -nostdlib -ffreestanding -fno-stack-protector -O1 -Wall -o "$E2E_PROGRAMS/$name" "$1" ;;
	*) gcc -O1 -Wall -pthread -o "$E2E_PROGRAMS/$name" "$1" ;;
	esac
}
export -f compile
[[ -n ${E2E_THEMES-} ]] || find "$here/programs" -name '*.c' -print0 | xargs -0 -P 2 -I{} bash -c 'compile {}' 2>&1 | sed 's/^/# /'

# ---- run ----
shared_state() { # what all of a machine shares and a cell could leave behind
	awk '$5 ~ /viv/ || $5 ~ "^/(tmp|var|run|mnt|dev/shm)/" { print "mount", $5 }' /proc/self/mountinfo
	find /tmp /var/tmp /dev/shm -maxdepth 1 -name '*viv*' ! -name 'viv-*' -printf 'file %p\n' 2>/dev/null
}
shared_state | sort >"$work/before"
# What somebody else's killed viv left in a cgroup that is not ours stays there for ever.
find /sys/fs/cgroup -type d -name 'viv.*' 2>/dev/null >"$E2E_RESULT/cgroups.before"

# For themes with the line '# world' (world.sh).
namespaces=(unshare --net --mount)
[[ $(id -u) == 0 ]] || namespaces+=(--map-root-user)
start() { # theme, user
	local as=() world=()
	grep -q '^# world$' "$themes_at/${1%.rootless}.sh" && world=("${namespaces[@]}" "$work/e2e/world.sh" enter "$work/world.$1")
	if [[ -n $2 ]]; then
		mkdir -p "$work/$2" && chown "$2:" "$work/$2" && chmod 777 "$work/result"
		as=(setpriv --reuid "$2" --regid "$2" --init-groups)
	fi
	(
		cd / && E2E_ROOT=$work/${2:-root} E2E_ROOTLESS=${2:+1} \
			"${world[@]}" "${as[@]}" perl -e 'syscall(157, 36, 1, 0, 0, 0) == 0 or die; exec @ARGV or die' \
			"$work/e2e/run.sh" --theme "$1" >"$E2E_RESULT/$1.log" 2>&1 </dev/null
		# In one step: whoever waits for the file reads it at once.
		echo "$?" >"$E2E_RESULT/$1.done.new" && mv "$E2E_RESULT/$1.done.new" "$E2E_RESULT/$1.done"
	)
}

theme_wanted() { # theme: by its name, or because a test in it (or in a list beside it) matches
	[[ -z $E2E_PATTERN || $1 == *"$E2E_PATTERN"* ]] || grep -q -e "$E2E_PATTERN" "$themes_at/$1".*
}
themes=() last=() again=()
for f in "$themes_at"/*.sh; do
	name=$(basename "$f" .sh)
	[[ $name == run || $name == lib || $name == world ]] && continue
	theme_wanted "$name" || continue
	if [[ $alone == *" $name "* ]]; then last+=("$name"); else themes+=("$name"); fi
done
if [[ $(id -u) == 0 ]]; then
	id vivtest >/dev/null 2>&1 || useradd -M -s /bin/sh vivtest ||
		{ echo 'Bail out! cannot make the user vivtest'; exit 1; }
	for name in "${themes[@]}" "${last[@]}"; do grep -q '@r' "$themes_at/$name.sh" && again+=("$name.rootless"); done
fi

by_length() { # themes...
	local first name
	for first in "${longest[@]}"; do
		for name in "$@"; do [[ ${name%.rootless} != "$first" ]] || echo "$name"; done
	done
	for name in "$@"; do [[ " ${longest[*]} " == *" ${name%.rootless} "* ]] || echo "$name"; done
}
for name in "${again[@]}"; do
	if [[ $alone == *" ${name%.rootless} "* ]]; then last+=("$name"); else themes+=("$name"); fi
done
mapfile -t themes < <(by_length "${themes[@]}")

workers() { # how many, themes...
	local jobs=$1 running=0 name
	shift
	for name in "$@"; do
		((running < jobs)) || { wait -n; running=$((running - 1)); }
		running=$((running + 1))
		if [[ $name == *.rootless ]]; then start "$name" vivtest & else start "$name" '' & fi
	done
	wait
}
all_themes() {
	workers "${E2E_JOBS:-6}" "${themes[@]}"
	workers 1 "${last[@]}"
}
all_themes &
pid=$!

n=0 passed=0 failed=0 skipped=0
report() { # status, name, rest
	n=$((n + 1))
	echo "$1 $n - $2"
}
for theme in "${themes[@]}" "${last[@]}"; do
	until [[ -e $E2E_RESULT/$theme.done ]]; do sleep 0.05; done
	while IFS= read -r line; do
		case $line in
		'not ok - '*) failed=$((failed + 1)) && report 'not ok' "$theme: ${line#not ok - }" ;;
		'ok - '*' # SKIP '*) skipped=$((skipped + 1)) && report ok "$theme: ${line#ok - }" ;;
		'ok - '*) passed=$((passed + 1)) && report ok "$theme: ${line#ok - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done < <(cat "$E2E_RESULT/$theme.tap" 2>/dev/null)
	if [[ $(cat "$E2E_RESULT/$theme.done") != 0 ]]; then
		failed=$((failed + 1)) && report 'not ok' "$theme: the theme ran to its end"
	fi
	sed 's/^/# /' "$E2E_RESULT/$theme.log"
done
wait "$pid" 2>/dev/null

shared_state | sort >"$work/after"
if new=$(comm -13 "$work/before" "$work/after" | grep .); then
	failed=$((failed + 1)) && report 'not ok' 'leaks: mounts and temporary files of the machine'
	sed 's/^/# new: /' <<<"$new"
else
	passed=$((passed + 1)) && report ok 'leaks: mounts and temporary files of the machine'
fi
echo "1..$n"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 && $passed -gt 0 ]]
