# One part of the work, in a child cell: /src is the source, read-only; /root/names is the list of names that it knows.
# It stands for an agent that edits a file.
set -eu
part=$1
while read -r verb name; do
	grep -qx "$name" /root/names || { echo "$part: unknown name: $name" >&2; exit 3; }
	echo "$verb new_${name#old_}"
done <"/src/$part.txt" >/root/result
