#!/bin/bash
# A small piece of agent-like work in a cell: write a program, compile it, run it, look at the result.
#   tools/demo.sh VIV
set -eu
viv=${1:-build/rel/viv}
work=$(mktemp -d "${TMPDIR:-/tmp}/viv-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

cat >"$work/task.sh" <<'TASK'
set -eu
echo "# a computer of its own: $(uname -s) on $(hostname), $(nproc) processor(s), process $$ of $(ls -d /proc/[0-9]* | wc -l)"
mkdir -p /root/primes && cd /root/primes

echo '# write a program'
cat >primes.c <<'C'
#include <stdio.h>
#include <string.h>

int main(void)
{
	static char composite[1000000];
	int count = 0;

	for (long i = 2; i < (long)sizeof(composite); i++) {
		if (composite[i])
			continue;
		count++;
		for (long j = i * i; j < (long)sizeof(composite); j += i)
			composite[j] = 1;
	}
	printf("%d primes below %zu\n", count, sizeof(composite));
	return count == 78498 ? 0 : 1;
}
C
cat >Makefile <<'M'
primes: primes.c
	gcc -O2 -Wall -o $@ $<
M

echo '# compile it'
make

echo '# run it'
./primes | tee result.txt

echo '# what it cannot see'
for secret in /etc/shadow /root/.ssh /home /var/run/docker.sock; do
	if [ -e "$secret" ] && [ -n "$(ls -A "$secret" 2>/dev/null)" ] && [ -r "$secret" ] && grep -rqs . "$secret"; then
		echo "$secret: visible"
	else
		echo "$secret: not there"
	fi
done
cp result.txt /out/
TASK
mkdir "$work/out"
chmod 777 "$work/out"

"$viv" run --changes --timeout 60s --hostname demo --mount "$work:/task:ro" --mount "$work/out:/out:rw" -- \
	/bin/bash /task/task.sh
echo "# back on the host, from the mounted directory: $(cat "$work/out/result.txt")"
