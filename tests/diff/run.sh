#!/bin/bash
# The differential runner: the same program makes the same variations of system calls on the host's kernel and in a cell, and
# the lines that it prints are compared one by one. TAP: one test for each family.
#
#   tests/diff/run.sh BUILD_DIR VIV|host [--seed N] [--count N] [--all] [family...]
#
# 'host' runs the host twice: is the program deterministic? --all prints every difference, also the known ones.
# known.txt lists differences that are wanted: a pattern for awk, a tab, the reason. It is matched against
# 'family number: call(arguments) = host's result <> cell's result'.
# The host's side runs in a directory on a tmpfs, as a cell's files are of that kind.
set -u

src=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 ]]; then
	echo "usage: $0 BUILD_DIR VIV|host [--seed N] [--count N] [--all] [family...]" >&2
	exit 2
fi
build=$1 viv=$2 seed=1 count=100 show=8
shift 2
args=()
while [[ $# -gt 0 ]]; do
	case $1 in
	--seed) seed=$2 && shift ;;
	--count) count=$2 && shift ;;
	--all) show=1000000 ;;
	*) args+=("$1") ;;
	esac
	shift
done
if [[ $(id -u) != 0 ]]; then
	echo "1..0 # SKIP the comparison needs root on the host, as a cell's first user is root"
	exit 0
fi
mkdir -p "$build/tests/diff" && bin=$(cd "$build/tests/diff" && pwd) || exit 2
new=
for f in "$src"/*.[ch]; do [[ $bin/diff -nt $f ]] || new=1; done
if [[ -n $new ]]; then
	${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -O1 -Wall -Wextra -o "$bin/diff.$$" "$src"/*.c && mv "$bin/diff.$$" "$bin/diff" || exit 2
fi
tmp=$(mktemp -d) || exit 2
dir=$(mktemp -d /dev/shm/diff.XXXXXX) || exit 2
chmod 755 "$dir"
trap 'rm -rf "$tmp" "$dir"' EXIT

# A fresh session, a clean environment, and the limit that a cell starts with: new descriptors have the same numbers.
on_host() { # output
	(
		ulimit -Sn 1024 && mkdir "$dir/w" && cd "$dir/w" &&
			exec timeout -k 5 600 setsid -w env -i PATH=/usr/bin:/bin "$bin/diff" --seed "$seed" --count "$count" "${args[@]}"
	) </dev/null >"$1" 2>"$1.err"
	rm -rf "$dir/w"
}
in_cell() { # output
	timeout -k 5 600 "$viv" run --mount "$bin:/t:ro" -- /bin/sh -c 'mkdir -m 755 -p /tmp/w && cd /tmp/w && exec setsid -w env -i PATH=/usr/bin:/bin /t/diff "$@"' \
		sh --seed "$seed" --count "$count" "${args[@]}" </dev/null >"$1" 2>"$1.err"
}
if [[ $viv == host ]]; then
	on_host "$tmp/host"
	on_host "$tmp/cell"
else
	# Side by side: neither measures time.
	on_host "$tmp/host" &
	in_cell "$tmp/cell"
	wait $!
fi
head -n 3 "$tmp/host.err" "$tmp/cell.err" | grep -a . | grep -v '^==>' | sed 's/^/# stderr: /'
"$bin/diff" --list "${args[@]}" >"$tmp/list"
# Keep the two outputs of the last run for whoever looks into a difference.
cp "$tmp/host" "$bin/last.host"
cp "$tmp/cell" "$bin/last.cell"

# Lines are numbered within their variation, so that one that is missing on a side moves nothing else.
awk -v show="$show" -v seed="$seed" -v out="$tmp/bad" '
function key(  k) { k = $1 " " $2; return k " " (++seen[FILENAME, k]); }
FNR == 1 { file++ }
file == 1 { if ($0 !~ /^#/ && split($0, part, "\t") >= 2) { patterns++; pattern[patterns] = part[1] } next }
file == 2 { families++; order[families] = $1; next }
file == 3 { host[key()] = $0; next }
{ cell[key()] = $0 }
END {
	for (k in host) { split(k, p, " "); all[k] = 1; lines[p[1]]++ }
	for (k in cell) if (!(k in all)) { split(k, p, " "); all[k] = 1; lines[p[1]]++ }
	for (k in all) {
		split(k, p, " ")
		if (host[k] == cell[k]) { same++; continue }
		h = host[k]; c = cell[k]
		# What both begin with is the call.
		n = index(h, ") = "); rest = c
		if (n && substr(h, 1, n + 3) == substr(c, 1, n + 3)) rest = substr(c, n + 4)
		text = h " <> " rest
		is_known = 0
		for (i = 1; i <= patterns && !is_known; i++) if (text ~ pattern[i]) { is_known = 1; hits[i]++ }
		if (is_known) { known++; knowns[p[1]]++; if (show > 1000) print "# known: " text }
		else { bad++; bads[p[1]]++; print p[1] "\t" p[2] + 0 "\t" p[3] "\t" text >out }
	}
	print "1.." families
	for (i = 1; i <= families; i++) {
		f = order[i]
		if (!lines[f]) { failed++; print "not ok " i " - " f; print "#   it made no line"; continue }
		printf "%s %d - %s, %d lines%s\n", bads[f] ? "not ok" : "ok", i, f, lines[f], knowns[f] ? ", " knowns[f] " known differences" : ""
	}
	close(out)
	for (i = 1; i <= patterns; i++) if (!hits[i] && show > 1000) print "# not needed by this run: " pattern[i]
	printf "# seed %s: %d comparisons, %d the same, %d known differences, %d differ\n", seed, same + known + bad, same, known, bad
	exit bad || failed ? 1 : 0
}' "$src/known.txt" "$tmp/list" "$tmp/host" "$tmp/cell"
rc=$?
if [[ -s $tmp/bad ]]; then
	sort -t "$(printf '\t')" -k1,1 -k2,2n -k3,3n "$tmp/bad" | cut -f 4- |
		awk -v show="$show" '{ if (++n[$1] <= show) print "#   " substr($0, 1, 700) }'
fi
exit $rc
