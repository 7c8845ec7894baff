/* viv run: the options are in keeper/options.c, the cell in keeper/cell.c, the time with it in keeper/watch.c. With --detach the cell is
 * vivd's (create.c). */
#include "cli/args.h"
#include "cli/create.h"
#include "cli/pooled.h"

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

	if (status < 0) {
		verb_help(verb_now);
		return ARGS_HELP;
	}
	if (status)
		return status;
	if (o.detach)
		return detached_run(&o, argv + 1);
	return attached_run(&o);
}
