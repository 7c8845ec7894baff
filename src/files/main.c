/* viv-files: file operations of vivd, done inside of a cell. vivd carries this program and has the
 * cell's kernel execute it (KEEP_X_PROGRAM), so that paths, links, mounts, permissions and limits
 * are the cell's own, and the trusted side walks no tree of a guest. See wire.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/limit.h"
#include "files/ops.h"
#include "files/say.h"
#include "files/stored.h"

struct operation {
	const char *name;
	int (*run)(char **words);
	int nwords;
};

static const struct operation operations[] = {
	{ "read", read_op, 4 },	    { "write", write_op, 7 }, { "stat", stat_op, 2 },
	{ "list", list_op, 2 },	    { "mkdir", mkdir_op, 5 }, { "move", move_op, 3 },
	{ "remove", remove_op, 2 }, { "tar", tar_op, 2 },     { "untar", untar_op, 3 },
	{ "watch", watch_op, 2 },
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	/* A deep tree needs a directory for each level. */
	limit_files_raise(0);
	if (argc > 1 && !strcmp(argv[1], "stored")) {
		stored_restrict();
		argc--;
		argv++;
	}
	for (unsigned i = 0; argc > 1 && i < ARRAY_LEN(operations); i++)
		if (!strcmp(argv[1], operations[i].name) && argc - 2 == operations[i].nwords)
			return operations[i].run(argv + 2);
	return error_say(EINVAL, argc > 1 ? argv[1] : NULL);
}
