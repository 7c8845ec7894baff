/* The lease of a cell that was made from inside another one (docs/decisions/0051-subcells.md).
 *
 * Our keeper is connected to the keeper of the cell that made ours (KEEP_LEASE). When that
 * connection ends, that cell is gone, stopped or killed, and ours ends: whether vivd runs or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper/journal.h"
#include "keeper/keeper.h"

#define END_NS (NSEC_PER_SEC / 2)

static struct source lease = { .fd = -1 };

static void lease_ready(struct source *s, uint32_t events)
{
	struct keep_msg m;
	ssize_t n = recv(s->fd, &m, sizeof(m), MSG_DONTWAIT);

	(void)events;
	/* The only thing that it says is that it has heard us. */
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	source_close(s);
	journal_operator("stop", "its parent has ended");
	cell_stop(0);
	/* A kernel that does not end by itself is ended. */
	if (!keeper.stay.ended)
		keeper.stay.deadline = clock_mono() + END_NS;
}

int lease_open(const char *parent, struct err *e)
{
	struct keep_msg m = { .type = KEEP_LEASE, .id = 1 };
	struct err why;
	int fd = keep_connect(parent, 0, &why), err;

	if (fd < 0)
		return err_set(e, ERR_CONFLICT, "the cell that made this one does not run");
	err = keep_send(fd, &m, NULL, 0, 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (!err)
		err = source_add(&lease, fd, EPOLLIN, lease_ready);
	if (!err)
		return 0;
	close(fd);
	return err_set(e, ERR_CONFLICT, "the cell that made this one does not answer: %s",
		       strerror(-err));
}
