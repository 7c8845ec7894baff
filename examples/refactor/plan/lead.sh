# The orchestrator, in the parent cell: plans, starts a child for each part, looks after those that fail, and merges. The
# children see the source read-only, have budgets of their own out of this cell's, and keep their work on their own disks.
set -eu
parts='parser printer tests'
job() { # part: a stopped child with what it needs
	viv create --name "$1" --memory 64M --pids 32 --mount /src:/src:ro --mount /plan:/plan:ro -- sh /plan/worker.sh "$1" >/dev/null
	viv cp /src/names.txt "$1:/root/names"
}
for part in $parts; do
	job "$part"
	viv start "$part" >/dev/null
done
viv tree
for part in $parts; do
	status=$(viv wait "$part")
	[ "$status" != 0 ] || continue
	# Its log says what was missing: with that it starts again, on the same disk.
	unknown=$(viv logs "$part" 2>&1 | sed -n 's/.*unknown name: //p')
	echo "$part failed with status $status: it does not know '$unknown'; once more"
	{ cat /src/names.txt; echo "$unknown"; } >/tmp/names
	viv cp /tmp/names "$part:/root/names"
	viv start "$part" >/dev/null
	[ "$(viv wait "$part")" = 0 ]
done
for part in $parts; do
	viv cp "$part:/root/result" "/out/$part.txt"
	viv rm "$part" >/dev/null
done
echo "done: $(cat /out/*.txt | wc -l) lines"
