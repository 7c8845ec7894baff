/* What the work of the cell left in /dev/result. The kernel sends it in pieces before its last
 * message; it is kept as it came, is never looked into, and is left in RUN/cells/ID.result for
 * vivd, as ID.end is. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/keeper.h"

static char *bytes;
static size_t len;
static bool excess; /* more came than there can be */

void result_message(const struct ctl_msg *m)
{
	size_t n = MIN((size_t)MAX(m->a, 0), sizeof(m->text));

	/* A kernel that sends more than there can be is not believed at all. */
	excess |= n > CELL_RESULT_MAX - len;
	if (excess)
		return;
	if (!bytes)
		bytes = xalloc(CELL_RESULT_MAX);
	memcpy(bytes + len, m->text, n);
	len += n;
}

void result_leave(void)
{
	char name[KEEP_ID_LEN + 8];
	struct err e;
	int dir, fd;

	if (!(keeper.leave || keeper.word) || !keeper.id[0] || (dir = keep_cells_dir(&e)) < 0)
		return;
	snprintf(name, sizeof(name), "%s.result", keeper.id);
	unlinkat(dir, name, 0); /* of the run before */
	fd = len && !excess
		     ? openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
		     : -1;
	if (fd >= 0 && write(fd, bytes, len) != (ssize_t)len) {
		warn("the cell's result is lost: it cannot be written");
		unlinkat(dir, name, 0);
	}
	if (fd >= 0)
		close(fd);
	close(dir);
	free(bytes);
	bytes = NULL;
	len = 0;
	excess = false;
}
