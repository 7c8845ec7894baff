# WebAssembly made by a C compiler: arguments, environment, streams, files, exit status. shellcheck shell=bash

if [[ -e /usr/lib/wasm32-wasi/libc.a ]]; then wasi=clang; else wasi=no-wasi-libc; fi
inside 'a module of C: built and run in the cell' "node wasm-ld $wasi" $'args 3: one two words\nenv here\nread HELLO from a file\nstdin: line\nrelative: made\nexit 7\npipe 3' <<'END'
cat >p.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char line[100] = "";
	printf("args %d: %s %s\n", argc, argv[1], argv[2]);
	printf("env %s\n", getenv("SOME") ? getenv("SOME") : "missing");
	FILE *f = fopen("/tmp/w/in.txt", "r");
	if (!f || !fgets(line, sizeof(line), f))
		return 1;
	printf("read %s from a file\n", strtok(line, "\n"));
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	printf("stdin: %s", line);
	f = fopen("out.txt", "w");
	if (!f || fputs("made\n", f) < 0 || fclose(f))
		return 3;
	f = fopen("/nowhere/x", "r");
	fflush(stdout);
	if (argc > 3)
		printf("1\n2\n3\n");
	return f ? 4 : errno == ENOENT ? 7 : 5;
}
C
clang --target=wasm32-wasi -O1 -o p p.c && head -c 4 p | od -c | head -n 1 | grep -q asm && chmod 755 p
echo HELLO >in.txt
echo line | SOME=here ./p one 'two words' || rc=$?
echo "relative: $(cat out.txt)"; echo "exit $rc"
echo line | ./p 1 2 3 2>/dev/null | tail -n 3 | wc -l | sed 's/^/pipe /'
END
