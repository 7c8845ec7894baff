#!/bin/bash
# The differential runner: the same program makes the same variations of system calls on the host's kernel and in a cell, and
# the lines that it prints are compared one by one. TAP: one test for each family, and one for known.txt.
#
#   tests/diff/run.sh BUILD_DIR VIV|host [--seed N | --seeds "N..."] [--count N] [--known FILE] [--all] [family...]
#
# 'host' runs the host twice: is the program deterministic? --all prints every difference, also the known ones.
# known.txt lists differences that are wanted: a pattern for awk, a tab, the reason. It is matched against
# 'family number: call(arguments) = host's result <> cell's result'. An entry that nothing matches in a run of all families over
# STALE_SEEDS seeds or more is stale, and the last test fails.
# The host's side runs in a directory on a tmpfs, as a cell's files are of that kind.
set -u

STALE_SEEDS=5
src=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 ]]; then
	echo "usage: $0 BUILD_DIR VIV|host [--seed N | --seeds \"N...\"] [--count N] [--known FILE] [--all] [family...]" >&2
	exit 2
fi
build=$1 viv=$2 seeds=1 count=100 show=8 known=$src/known.txt
shift 2
args=()
while [[ $# -gt 0 ]]; do
	case $1 in
	--seed | --seeds) seeds=$2 && shift ;;
	--count) count=$2 && shift ;;
	--known) known=$2 && shift ;;
	--all) show=1000000 ;;
	*) args+=("$1") ;;
	esac
	shift
done
if [[ $(id -u) != 0 ]]; then
	echo "1..0 # SKIP the comparison needs root on the host, as a cell's first user is root"
	exit 0
fi
# A cell's own, whatever ours is.
renice -n 0 -p $$ >/dev/null
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
# A network and System V objects of its own, as a cell has them: one loopback and nothing else.
alone=()
unshare -n -i -- ip link set lo up 2>"$tmp/unshare" && alone=(unshare -n -i -- sh -c 'ip link set lo up && exec "$@"' sh)
[[ -s $tmp/unshare ]] && sed 's/^/# the host side shares its network: /' "$tmp/unshare"
on_host() { # seed output
	(
		ulimit -Sn 1024 && mkdir "$dir/w" && cd "$dir/w" &&
			exec "${alone[@]}" timeout -k 5 600 setsid -w env -i PATH=/usr/bin:/bin "$bin/diff" --seed "$1" --count "$count" "${args[@]}"
	) </dev/null >"$2" 2>"$2.err"
	rm -rf "$dir/w"
}
in_cell() { # seed output
	timeout -k 5 600 "$viv" run --mount "$bin:/t:ro" -- /bin/sh -c 'mkdir -m 755 -p /tmp/w && cd /tmp/w && exec setsid -w env -i PATH=/usr/bin:/bin /t/diff "$@"' \
		sh --seed "$1" --count "$count" "${args[@]}" </dev/null >"$2" 2>"$2.err"
}
outputs=()
for seed in $seeds; do
	if [[ $viv == host ]]; then
		on_host "$seed" "$tmp/$seed.host"
		on_host "$seed" "$tmp/$seed.cell"
	else
		# Side by side: neither measures time.
		on_host "$seed" "$tmp/$seed.host" &
		in_cell "$seed" "$tmp/$seed.cell"
		wait $!
	fi
	head -n 3 "$tmp/$seed.host.err" "$tmp/$seed.cell.err" | grep -a . | grep -v '^==>' | sed "s/^/# seed $seed, stderr: /"
	outputs+=("$tmp/$seed.host" "$tmp/$seed.cell")
done
"$bin/diff" --list "${args[@]}" >"$tmp/list"
if [[ ! -s $tmp/list ]]; then
	echo "$0: no family is called ${args[*]}" >&2
	exit 2
fi
# Keep the outputs of the last run for whoever looks into a difference.
cp "${outputs[-2]}" "$bin/last.host"
cp "${outputs[-1]}" "$bin/last.cell"

# Lines are numbered within their variation, so that one that is missing on a side moves nothing else.
stale_at=$STALE_SEEDS
[[ ${#args[@]} -gt 0 ]] && stale_at=1000000
awk -v show="$show" -v stale_at="$stale_at" -v out="$tmp/bad" '
function key(  k) { k = seed " " $1 " " $2; return k " " (++seen[FILENAME, k]); }
FNR == 1 { file++; seed = FILENAME; sub(/.*\//, "", seed); side = seed; sub(/.*\./, "", side); sub(/\..*/, "", seed) }
file == 1 { if ($0 !~ /^#/ && split($0, part, "\t") >= 2) { patterns++; pattern[patterns] = part[1] } next }
file == 2 { families++; order[families] = $1; next }
side == "host" { host[key()] = $0; seeds[seed] = 1; next }
{ cell[key()] = $0; seeds[seed] = 1 }
END {
	for (k in host) { split(k, p, " "); all[k] = 1; lines[p[2]]++ }
	for (k in cell) if (!(k in all)) { split(k, p, " "); all[k] = 1; lines[p[2]]++ }
	for (k in all) {
		split(k, p, " ")
		total[p[1]]++
		if (host[k] == cell[k]) { same[p[1]]++; continue }
		h = host[k]; c = cell[k]
		# What both begin with is the call.
		n = index(h, ") = "); rest = c
		if (n && substr(h, 1, n + 3) == substr(c, 1, n + 3)) rest = substr(c, n + 4)
		text = h " <> " rest
		is_known = 0
		for (i = 1; i <= patterns && !is_known; i++) if (text ~ pattern[i]) { is_known = 1; hits[i]++ }
		if (is_known) { known[p[1]]++; knowns[p[2]]++; if (show > 1000) print "# known: " text }
		else { bad[p[1]]++; failed = 1; bads[p[2]]++; print p[2] "\t" p[1] "\t" p[3] + 0 "\t" p[4] "\t" text >out }
	}
	for (s in seeds) nseeds++
	print "1.." families + 1
	for (i = 1; i <= families; i++) {
		f = order[i]
		if (!lines[f]) { failed = 1; print "not ok " i " - " f; print "#   it made no line"; continue }
		printf "%s %d - %s, %d lines%s\n", bads[f] ? "not ok" : "ok", i, f, lines[f], knowns[f] ? ", " knowns[f] " known differences" : ""
	}
	close(out)
	for (i = 1; i <= patterns; i++) if (!hits[i]) { stale++; if (nseeds >= stale_at || show > 1000) print "# stale, nothing matched: " pattern[i] }
	if (nseeds < stale_at) printf "ok %d - known.txt: every entry is needed # SKIP asked of %d seeds or more, all families\n", families + 1, stale_at < 1000 ? stale_at : 5
	else { printf "%s %d - known.txt: every entry is needed\n", stale ? "not ok" : "ok", families + 1; if (stale) failed = 1 }
	printf "# %d families, %d skipped\n", families, nseeds < stale_at
	for (s in seeds) printf "# seed %s: %d comparisons, %d the same, %d known differences, %d differ\n", s, total[s], same[s], known[s], bad[s]
	exit failed
}' "$known" "$tmp/list" "${outputs[@]}"
rc=$?
if [[ -s $tmp/bad ]]; then
	sort -t "$(printf '\t')" -k1,1 -k2,2n -k3,3n -k4,4n "$tmp/bad" |
		awk -F '\t' -v show="$show" '{ if (++n[$1] <= show) print "#   seed " $2 ": " substr($5, 1, 700) }'
fi
exit $rc
