/* viv-keeper: runs one cell without a terminal, as long as it lives, whoever asked for it. Started by keep_spawn (client.h) with what
 * 'viv run' takes as words, and with nothing in its command line that others could read. It has no policy: who may do what is decided by
 * those who can open its socket. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper/keeper.h"

#define WORDS_MAX 65536

/* The words as an argv whose first is "run". */
static char **words_read(int *ret_n)
{
	struct stat st;
	char **argv, *bytes;
	size_t size, n = 1;

	if (fstat(KEEPER_FD_WORDS, &st) < 0 || st.st_size <= 0 || st.st_size > (4 << 20))
		return NULL;
	size = (size_t)st.st_size;
	bytes = malloc(size + 1);
	if (!bytes || pread(KEEPER_FD_WORDS, bytes, size, 0) != st.st_size || bytes[size - 1])
		return NULL;
	for (size_t i = 0; i < size; i++)
		n += !bytes[i];
	argv = n < WORDS_MAX ? calloc(n + 1, sizeof(*argv)) : NULL;
	if (!argv)
		return NULL;
	n = 0;
	argv[n++] = strdup("run");
	for (size_t i = 0; i < size; i += strlen(bytes + i) + 1)
		argv[n++] = bytes + i;
	*ret_n = (int)n;
	return argv;
}

int main(int argc, char **argv)
{
	static struct run_options o = { .detach = true, .keeper = true };
	int n, status;

	(void)argv;
	if (argc != 1 || fcntl(KEEPER_FD_READY, F_SETFD, FD_CLOEXEC) < 0 ||
	    !(argv = words_read(&n))) {
		fprintf(stderr,
			"viv-keeper is started by viv and vivd; 'viv run --detach' does so\n");
		return EXIT_OWN;
	}
	close(KEEPER_FD_WORDS);
	keeper.detached = true;
	keeper.ready = KEEPER_FD_READY;
	status = run_options_parse(&o, n, argv);
	if (status)
		return status < 0 ? 0 : status;
	return run_command(&o);
}
