/* viv-keeper: runs one cell without a terminal, as long as it lives, whoever asked for it. Started
 * by keep_spawn (client.h) with what 'viv run' takes as words, and with nothing in its command line
 * that others could read. It has no policy: who may do what is decided by those who can open its
 * socket. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/program.h"
#include "keeper/disk/tool.h"
#include "keeper/keeper.h"
#include "keeper/merge.h"

/* Whoever started us waits for this, unless he has heard of the cell already. */
static int start_failed(const struct err *e)
{
	struct keep_msg m = { .a = err_exit_guest(e) };

	keep_fail_set(&m, e);
	if (keeper.ready >= 0)
		(void)!send(keeper.ready, &m, sizeof(m), MSG_NOSIGNAL);
	return m.a;
}

static int merge_only(const char *cell, struct err *e)
{
	const struct keep_msg m = { .type = KEEP_FAIL };
	struct store s;
	int err;

	if (store_open(&s, e) < 0)
		return -1;
	err = cell_merge(&s, cell, e);
	store_close(&s);
	if (err == 0)
		(void)!send(keeper.ready, &m, sizeof(m), MSG_NOSIGNAL);
	return err;
}

int main(int argc, char **argv)
{
	static struct run_options o = { .detach = true, .keeper = true };
	struct err e;
	int n, status;

	if (program_seal() < 0) {
		fprintf(stderr, "viv-keeper cannot seal its memory\n");
		return EXIT_OWN;
	}
	if (argc > 1)
		return disk_tool(argc, argv);
	if (fcntl(KEEPER_FD_READY, F_SETFD, FD_CLOEXEC) < 0 ||
	    !(argv = words_read(KEEPER_FD_WORDS, &n))) {
		fprintf(stderr,
			"viv-keeper is started by viv and vivd; 'viv run --detach' does so\n");
		return EXIT_OWN;
	}
	close(KEEPER_FD_WORDS);
	keeper.detached = true;
	keeper.ready = KEEPER_FD_READY;
	status = run_options_parse(&o, n, argv, &e);
	if (status == 0)
		status = o.merge ? merge_only(o.name, &e) : run_command(&o, &e);
	else if (status > 0)
		err_set(&e, ERR_USAGE, "a keeper has no help");
	return status < 0 ? start_failed(&e) : status;
}
