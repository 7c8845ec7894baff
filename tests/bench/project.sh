#!/bin/bash
# Writes a C project for the row 'make': project.sh DIR FILES. Each file has some work for a compiler and uses the next one.
set -eu

mkdir -p "$1"
cd "$1"
n=$2
{
	echo '#include <stdio.h>'
	echo '#include <stdlib.h>'
	echo '#include <string.h>'
	for ((i = 0; i < n; i++)); do echo "struct item$i { int id; char name[32]; double weight[8]; }; int part$i(int depth);"; done
} >project.h
for ((i = 0; i < n; i++)); do
	{
		echo '#include "project.h"'
		for ((f = 0; f < 12; f++)); do
			echo "static int work$f(struct item$i *it, int count)
{
	int sum = $f;
	for (int k = 0; k < count; k++) {
		it[k].id = k * $((f + 3)) + sum;
		snprintf(it[k].name, sizeof(it[k].name), \"%d-%d\", $i, it[k].id);
		for (int w = 0; w < 8; w++)
			it[k].weight[w] = (double)(it[k].id % (w + 1)) / (w + $((f + 1)));
		sum += (int)strlen(it[k].name) + (int)it[k].weight[k % 8];
	}
	return sum;
}"
		done
		echo "int part$i(int depth)
{
	struct item$i *it = calloc(16, sizeof(*it));
	int sum = 0;
	if (!it)
		abort();"
		for ((f = 0; f < 12; f++)); do echo "	sum += work$f(it, 16);"; done
		echo "	free(it);
	return depth ? sum + part$(((i + 1) % n))(depth - 1) : sum;
}"
	} >"part$i.c"
done
printf '#include "project.h"\nint main(void)\n{\n\tprintf("%%d\\n", part0(%d));\n\treturn 0;\n}\n' "$n" >main.c
cat >Makefile <<'X'
CFLAGS := -O1 -Wall
OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))
all: project
project: $(OBJECTS)
	$(CC) -o $@ $^
%.o: %.c project.h
	$(CC) $(CFLAGS) -c -o $@ $<
X
