/* viv run: the options are in keeper/options.c, the cell in keeper/cell.c, the time with it in keeper/watch.c. */
#include "cli/cli.h"

#include <stdio.h>

#include "cli/pooled.h"
#include "keeper/client.h"

/* The keeper reads the same words again. */
static int detached_start(char **words)
{
	struct keep_hello hello;
	struct err e;
	int status;

	if (keep_spawn(words, &hello, &status, &e) < 0) {
		if (e.text[0])
			fail("%s", e.text);
		return status;
	}
	printf("%s\n", hello.name[0] ? hello.name : hello.id);
	return 0;
}

/* In a cell that waits for it, or in one of its own. */
static int attached_run(struct run_options *o)
{
	static struct place place;
	int status = place_open(&place, o);

	if (!status)
		status = run_options_finish(o, place.stored);
	if (!status && !run_pooled(o, &place, &status))
		status = run_cell(o, &place);
	place_close(&place);
	return status;
}

int run_main(int argc, char **argv)
{
	static struct run_options o;
	int status = run_options_parse(&o, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	if (o.detach)
		return detached_start(argv + 1);
	return attached_run(&o);
}
