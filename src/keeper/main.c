/* viv-keeper: runs one cell without a terminal, as long as it lives, whoever asked for it. Started by keep_spawn (client.h) with what
 * 'viv run' takes as words, and with nothing in its command line that others could read. It has no policy: who may do what is decided by
 * those who can open its socket. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/program.h"
#include "keeper/keeper.h"
#include "keeper/merge.h"

static int merge_only(const char *cell)
{
	struct keep_msg m = { .type = KEEP_FAIL };
	struct store s;
	struct err e;

	if (store_open(&s, &e) < 0) {
		m.a = EXIT_OWN;
	} else {
		m.a = cell_merge(&s, cell, &e) < 0 ? EXIT_OWN : 0;
		store_close(&s);
	}
	if (m.a)
		snprintf(m.text, sizeof(m.text), "%.*s", (int)sizeof(m.text) - 1, e.text);
	(void)!send(KEEPER_FD_READY, &m, sizeof(m), MSG_NOSIGNAL);
	return m.a;
}

int main(int argc, char **argv)
{
	static struct run_options o = { .detach = true, .keeper = true };
	struct err e;
	int n, status;

	(void)argv;
	if (program_seal() < 0 || argc != 1 || fcntl(KEEPER_FD_READY, F_SETFD, FD_CLOEXEC) < 0 ||
	    !(argv = words_read(KEEPER_FD_WORDS, &n))) {
		fprintf(stderr,
			"viv-keeper is started by viv and vivd; 'viv run --detach' does so\n");
		return EXIT_OWN;
	}
	close(KEEPER_FD_WORDS);
	keeper.detached = true;
	keeper.ready = KEEPER_FD_READY;
	status = run_options_parse(&o, n, argv, &e);
	if (status)
		return status < 0 ? fail_with(&e) : EXIT_OWN;
	if (o.merge)
		return merge_only(o.name);
	return run_command(&o);
}
