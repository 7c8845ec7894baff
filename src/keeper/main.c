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

/* Who sees the end later reads it from here. */
static void end_leave(void)
{
	struct err e;
	char name[KEEP_ID_LEN + 8];
	int dir = keep_cells_dir(&e), fd;

	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "%s.end", keeper.id);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The very last event is that of the state. */
	if (fd >= 0) {
		(void)!write(fd, event_get(events_next() - 2), sizeof(struct keep_msg));
		close(fd);
	}
	close(dir);
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
	status = run_command(&o);
	if (keeper.leave && keeper.id[0])
		end_leave();
	return status;
}
