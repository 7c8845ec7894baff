/* See frozen.h. In the directory of the cell's disk:
 *
 *   frozen.new   is being written by the kernel
 *   frozen       is whole; the next wake goes on from it
 *   thawing      a kernel goes on from it
 *
 * A cell goes on once from a file, because its disk changes from then on: the name is taken away
 * before the kernel starts, and given back only if nothing of the cell ran. What a keeper that was
 * killed left as "thawing" is removed by the next start. */
#include "keeper/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"
#include "store/store.h"
#include "wire/frozen.h"

static struct {
	struct client *client; /* who asked; NULL: gone */
	uint32_t id;
	int fd; /* being written; -1: none is */
	bool used; /* the kernel goes on from one */
} frozen = { .fd = -1 };

/* Which run of which host this is: time and the vDSO of another one are others. */
static bool host_name(char out[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, 63);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return true;
}

int frozen_prepare(const struct run_options *o, const struct rootfs *p, int *ret_fd, struct err *e)
{
	struct frozen_head h = { 0 };
	char host[64];
	int fd;

	*ret_fd = -1;
	if (!p->kept || o->tell.mode != MODE_RUN || o->visit)
		return 0;
	unlinkat(p->disk.dir, "thawing", 0);
	unlinkat(p->disk.dir, "frozen.new", 0);
	if (!o->woken) {
		unlinkat(p->disk.dir, "frozen", 0);
		return 0;
	}
	fd = openat(p->disk.dir, "frozen", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : err_set(e, ERR_FAILED, "the frozen cell cannot be read: %s",
					 strerror(errno));
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || !host_name(host) ||
	    strncmp(h.host, host, sizeof(h.host))) {
		close(fd);
		return err_set(e, ERR_FAILED,
			       "the host was restarted since the cell was frozen" REMEDY
			       "'viv start' starts it without the processes that were frozen");
	}
	if (renameat(p->disk.dir, "frozen", p->disk.dir, "thawing") < 0 || fsync(p->disk.dir) < 0) {
		close(fd);
		return err_set(e, ERR_FAILED, "the frozen cell cannot be used: %s",
			       strerror(errno));
	}
	frozen.used = true;
	*ret_fd = fd;
	return 0;
}

void frozen_used(void)
{
	if (!frozen.used)
		return;
	frozen.used = false;
	unlinkat(keeper.rootfs->disk.dir, "thawing", 0);
}

void frozen_keep(void)
{
	int dir = keeper.rootfs ? keeper.rootfs->disk.dir : -1;

	if (frozen.used && dir >= 0)
		renameat(dir, "thawing", dir, "frozen");
	frozen.used = false;
}

void frozen_request(struct client *c, const struct keep_msg *in)
{
	struct rootfs *p = keeper.rootfs;
	struct ctl_msg m = { .type = CTL_FREEZE };
	char host[64];
	int fd, given;

	if (!p->kept || !host_name(host)) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    "the cell keeps no files" REMEDY "only a cell with a name can sleep");
		return;
	}
	if (frozen.fd >= 0 || (keeper.state != KEEP_RUNNING && keeper.state != KEEP_IDLE)) {
		client_fail(c, in->id, ERR_CONFLICT, 0, "the cell is paused, stopping or frozen");
		return;
	}
	fd = openat(p->disk.dir, "frozen.new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	given = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (given < 0) {
		client_fail(c, in->id, ERR_FAILED, 0, "the frozen cell cannot be written: %s",
			    strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	memcpy(m.text, host, sizeof(host));
	frozen.client = c;
	frozen.id = in->id;
	frozen.fd = fd;
	if (!control_put(&m, &given, 1)) {
		client_fail(c, in->id, ERR_FAILED, 0, "the cell does not answer");
		close(fd);
		frozen.fd = -1;
	}
}

void frozen_message(const struct ctl_msg *m)
{
	const struct ctl_msg goes_on = { .type = CTL_UNFREEZE };
	int dir = keeper.rootfs->disk.dir;
	struct err e;
	bool ok;

	if (frozen.fd < 0)
		return;
	ok = m->a == 0 && fsync(frozen.fd) == 0 &&
	     renameat(dir, "frozen.new", dir, "frozen") == 0 && fsync(dir) == 0;
	close(frozen.fd);
	frozen.fd = -1;
	if (ok) {
		journal_operator("sleep", "with its processes");
		ports_leave(frozen.client, frozen.id);
		client_ok(frozen.client, frozen.id, 0);
		cell_stop(0);
		return;
	}
	unlinkat(dir, "frozen.new", 0);
	if (m->a == 0) {
		err_set(&e, ERR_FAILED, "the frozen cell cannot be written: %s", strerror(errno));
		control_put(&goes_on, NULL, 0);
	} else {
		text_err(m, ERR_CONFLICT, &e);
		err_wrap_note(&e, "the cell's processes cannot be frozen");
	}
	client_err(frozen.client, frozen.id, 0, &e);
}

void frozen_client_gone(struct client *c)
{
	if (frozen.client == c)
		frozen.client = NULL;
}
