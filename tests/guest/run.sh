#!/bin/bash
# Runs every guest program on the host's kernel and in a cell, and compares stdout and exit status.
# Prints TAP.
#
#   tests/guest/run.sh BUILD_DIR VIV [pattern]     pattern: part of a program's name, or a glob
#   tests/guest/run.sh BUILD_DIR host [pattern]    the host twice: are the programs deterministic?
#
# A fresh, empty directory for each run, which the program must leave empty on the host. Programs run
# three at a time (GUEST_JOBS; many wait) into result files first; the report follows in order.
# Markers in a source: see guest.h.
# GUEST_FLAGS: more options of viv run.
# GUEST_BIN: use the programs found there, compile nothing (for a user who cannot write BUILD_DIR).
set -u

src=$(cd "$(dirname "$0")" && pwd)
jobs=${GUEST_JOBS:-3}
# A cell's own priority, whatever ours is.
[[ $(id -u) != 0 ]] || renice -n 0 -p $$ >/dev/null

compile_one() { # name
	local c=$src/$1.c out=$bin/$1
	[[ $out -nt $c && $out -nt $src/guest.h ]] && return 0
	rm -f "$out"
	${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -pthread -o "$out.new.$$" "$c" &&
		mv "$out.new.$$" "$out"
}

on_host() { # name, result prefix
	local dir rc
	dir=$(mktemp -d "${TMPDIR:-/tmp}/guest.XXXXXX") || return 1
	# A session of its own, as in a cell: a program that signals its process group must not hit
	# timeout. The outer 2>/dev/null is for the shell's own word on a program that a signal ends.
	{
		(cd "$dir" && exec timeout -k 5 300 setsid env -i PATH=/usr/bin:/bin "$bin/$1") \
			</dev/null >"$2.out" 2>"$2.err"
	} 2>/dev/null
	rc=$?
	echo "$rc" >"$2.rc"
	ls -A "$dir" >"$2.left"
	chmod -R u+rwx "$dir" && rm -rf "$dir"
}

in_cell() { # name, result prefix
	local dir=/tmp/w name=()
	# Not in the cell's memory, but on a disk of its own.
	if [[ -n $(marker "$1" disk) ]]; then
		dir=/w name=(--name guest)
		mkdir -p "$2.data" "$2.run"
		export XDG_DATA_HOME=$2.data XDG_RUNTIME_DIR=$2.run
	fi
	timeout -k 5 300 "$viv" run ${GUEST_FLAGS-} "${name[@]}" --mount "$bin:/t:ro" -- /bin/sh -c \
		"mkdir -p $dir && cd $dir && exec env -i PATH=/usr/bin:/bin /t/$1" \
		</dev/null >"$2.out" 2>"$2.err"
	echo $? >"$2.rc"
	: >"$2.left"
}

marker() { # name, word: the text after "word:" in the source
	sed -n "s|^/\* $2: \(.*[^ ]\) *\*/\$|\1|p" "$src/$1.c" | head -n 1
}

run_one() { # name
	[[ $(marker "$1" needs) == root && $(id -u) != 0 ]] && return 0
	on_host "$1" "$res/$1.host"
	if [[ $viv == host ]]; then on_host "$1" "$res/$1.cell"; else in_cell "$1" "$res/$1.cell"; fi
}

# run.sh starts itself through xargs, so that programs can run side by side.
case ${1-} in
--compile-one | --run-one)
	bin=$GUEST_RUN_BIN res=${GUEST_RUN_RES-} viv=${GUEST_RUN_VIV-}
	if [[ $1 == --run-one ]]; then run_one "$2"; else compile_one "$2"; fi
	exit
	;;
esac

if [[ $# -lt 2 || $# -gt 3 ]]; then
	echo "usage: $0 BUILD_DIR VIV|host [pattern]" >&2
	exit 2
fi
viv=$2 pattern=${3-}
if [[ $viv != host ]]; then
	viv=$(command -v "$2") || { echo "$0: no such program: $2" >&2; exit 2; }
	viv=$(realpath "$viv")
fi
if [[ -n ${GUEST_BIN-} ]]; then
	bin=$(realpath "$GUEST_BIN")
else
	mkdir -p "$1/tests/guest" && bin=$(cd "$1/tests/guest" && pwd) || exit 2
fi
res=$(mktemp -d) || exit 2
trap 'rm -rf "$res"' EXIT
export GUEST_RUN_BIN=$bin GUEST_RUN_RES=$res GUEST_RUN_VIV=$viv

names=()
for c in "$src"/*.c; do
	name=$(basename "$c" .c)
	# shellcheck disable=SC2254
	case $name in *$pattern*) names+=("$name") ;; esac
done
if [[ ${#names[@]} == 0 ]]; then
	echo "$0: no program matches '$pattern'" >&2
	exit 2
fi

if [[ -z ${GUEST_BIN-} ]]; then
	printf '%s\n' "${names[@]}" | xargs -P "$jobs" -n 1 "$0" --compile-one >"$res/compile.log" 2>&1
	sed 's/^/# /' "$res/compile.log"
fi
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -n 1 "$0" --run-one

echo "1..${#names[@]}"
n=0 failed=0 skipped=0 known=0
for name in "${names[@]}"; do
	n=$((n + 1)) r=$res/$name why=()
	if [[ $(marker "$name" needs) == root && $(id -u) != 0 ]]; then
		echo "ok $n - $name # SKIP needs root on the host"
		skipped=$((skipped + 1))
		continue
	fi
	cmp -s "$r.host.out" "$r.cell.out" || why+=(output)
	cmp -s "$r.host.rc" "$r.cell.rc" || why+=(status)
	[[ -s $r.host.left ]] && why+=(leftovers)
	[[ -x $bin/$name ]] || why+=(compile)
	case $(cat "$r.host.rc") in 124 | 126 | 127 | 137 | 142) why+=(host-run) ;; esac
	differs=$(marker "$name" differs)
	todo=${differs:+ # TODO $differs}
	if [[ ${#why[@]} == 0 ]]; then
		echo "ok $n - $name$todo"
	else
		echo "not ok $n - $name$todo"
		if [[ -n $differs ]]; then known=$((known + 1)); else failed=$((failed + 1)); fi
		echo "# ${why[*]}: exit status host $(cat "$r.host.rc"), cell $(cat "$r.cell.rc")"
		diff -a -U 2 --label host --label cell "$r.host.out" "$r.cell.out" | head -n 60 | sed 's/^/# /'
		sed 's/^/# left behind on the host: /' "$r.host.left"
		[[ -s $r.host.err ]] && head -n 5 "$r.host.err" | sed 's/^/# host stderr: /'
		[[ -s $r.cell.err ]] && head -n 5 "$r.cell.err" | sed 's/^/# cell stderr: /'
	fi
	# A check that fails on Linux itself: a wrong program or an unusual host. Say so, though both agree.
	grep -a 'FAIL (errno' "$r.host.out" | sed 's/^/# fails on the host: /'
done
echo "# $n programs, $failed failed, $known known differences, $skipped skipped"
[[ $failed == 0 ]]
