#!/bin/bash
# Compares a cell with the bare machine, bubblewrap and runsc, side by side in one run.
#
#   tests/bench/run.sh BUILD_DIR VIV [--quick] [--only ROW]... [--no-runsc] [--json FILE] [--list]
#
# The programs are compiled into BUILD_DIR/tests/bench; bench.py measures and prints the table.
set -eu

[[ $# -ge 2 ]] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
build=$1 viv=$(realpath "$2")
shift 2
src=$(cd "$(dirname "$0")" && pwd)
bin=$(realpath "$build")/tests/bench
mkdir -p "$bin"
for c in "$src"/*.c "$src/../e2e/programs/cycle.c"; do
	[[ $c != */journal_make.c ]] || continue # is built with the objects of the product, by make
	out=$bin/$(basename "$c" .c)
	[[ $out -nt $c ]] || ${CC:-gcc} -std=gnu17 -O2 -Wall -Wextra -pthread -o "$out" "$c"
done
exec /usr/bin/python3 "$src/bench.py" "$bin" "$viv" "$@"
