#!/bin/bash
# Runs the parsers' fuzzers. Prints TAP.
#
#   tests/fuzz/run.sh BUILD_DIR [--runs N | --seconds N] [--seed N] [NAME...]
#
# BUILD_DIR is that of MODE=asan. Each one runs its corpus, then N inputs, or inputs for N seconds; two run at a time. --runs with the
# same seed is the same work each time. A find is left in BUILD_DIR/crashes; once fixed it belongs into tests/fuzz/corpus/NAME.
set -u

src=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
how=(--runs 10000) seed=1 names=()
while [[ $# -gt 0 ]]; do
	case $1 in
	--runs | --seconds) how=("$1" "$2") && shift ;;
	--seed) seed=$2 && shift ;;
	*) names+=("$1") ;;
	esac
	shift
done
if [[ ${#names[@]} == 0 ]]; then
	for c in "$src"/fuzz_*.c; do
		n=$(basename "$c" .c)
		names+=("${n#fuzz_}")
	done
fi
mkdir -p "$build/crashes"
TMPDIR=$(mktemp -d /dev/shm/fuzz.XXXXXX) || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
run_one() { # name
	"$build/tests/fuzz/fuzz_$1" "${how[@]}" --seed "$seed" --corpus "$src/corpus/$1" --crash "$build/crashes" >"$TMPDIR/$1.out" 2>&1 &&
		: >"$TMPDIR/$1.good"
}
running=0
for n in "${names[@]}"; do
	((running < 2)) || { wait -n; running=$((running - 1)); }
	running=$((running + 1))
	run_one "$n" &
done
wait
count=0 failed=0
for n in "${names[@]}"; do
	count=$((count + 1)) out=$TMPDIR/$n.out
	if [[ -e $TMPDIR/$n.good ]]; then
		echo "ok $count - $(tail -n 1 "$out")"
	else
		echo "not ok $count - $n"
		failed=$((failed + 1))
		head -n 40 "$out" | sed 's/^/# /'
		grep -a '^the input is in' "$out" | sed 's/^/# /'
	fi
done
echo "1..$count"
[[ $failed == 0 ]]
