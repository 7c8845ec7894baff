/* Cells of a pool (docs/decisions/0026). One that is taken is given the words that a keeper would
 * have been started with, and reads them as that one would: so what they mean is the same. What can
 * still be had is made so by its kernel (CTL_SETUP); what cannot is refused before anything was
 * changed, and whoever asked starts a cell of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/isolate.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"

#define WORDS_MAX 65536

char **words_read(int fd, int *ret_n)
{
	struct stat st;
	char **argv, *bytes;
	size_t size, n = 1;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > (4 << 20))
		return NULL;
	size = (size_t)st.st_size;
	bytes = malloc(size + 1);
	if (!bytes || pread(fd, bytes, size, 0) != st.st_size || bytes[size - 1]) {
		free(bytes);
		return NULL;
	}
	for (size_t i = 0; i < size; i++)
		n += !bytes[i];
	argv = n < WORDS_MAX ? calloc(n + 1, sizeof(*argv)) : NULL;
	if (!argv) {
		free(bytes);
		return NULL;
	}
	n = 0;
	argv[n++] = strdup("run");
	for (size_t i = 0; i < size; i += strlen(bytes + i) + 1)
		argv[n++] = bytes + i;
	*ret_n = (int)n;
	return argv;
}

/* What it is to be, once its kernel agrees. */
static struct run_options taken;
static bool taking;

/* Nobody keeps the image for those who wait: it may have been removed, or removed and made again.
 * From here on it is kept. */
static bool image_is_there(void)
{
	const struct rootfs *p = keeper.rootfs;
	char path[HASH_TEXT + 16];
	struct stat mine, now;

	if (!p->stored)
		return true;
	snprintf(path, sizeof(path), "images/%s", p->image.hash);
	return flock(p->image.dir, LOCK_SH | LOCK_NB) == 0 && fstat(p->image.dir, &mine) == 0 &&
	       fstatat(p->store.fd, path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == now.st_dev && mine.st_ino == now.st_ino;
}

bool pool_leave(struct client *c, const struct keep_msg *in)
{
	if (!keeper.pooled)
		return true;
	if (!image_is_there()) {
		client_fail(c, in->id, ERR_NOT_FOUND, 0, "the image was removed meanwhile");
		return false;
	}
	keeper.pooled = false;
	keeper.started = clock_real();
	keeper.began = clock_mono();
	return true;
}

/* The words as options, complete. False: they are wrong, or there is no command. */
static bool words_take(int fd, struct err *e)
{
	char **argv;
	int n;

	taken = (struct run_options){ .detach = true, .keeper = true };
	argv = words_read(fd, &n);
	return argv && run_options_parse(&taken, n, argv, e) == 0 && taken.id &&
	       run_fits_warm(&taken) && rootfs_settings(keeper.rootfs, &taken, e) == 0 &&
	       run_options_finish(&taken, keeper.rootfs->stored, e) == 0;
}

/* For the kernel: as for a process, but for those that follow. */
static int setup_write(void)
{
	static char word[] = "cell", *words[] = { word, NULL };
	struct run_user user;
	struct execspec s;

	run_execspec(&taken, keeper.rootfs->stored, &s, &user);
	s.argv = words;
	s.flags = taken.workdir_make ? EXECSPEC_MAKE_CWD : 0;
	return execspec_write(&s);
}

void take_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds)
{
	struct ctl_msg m = { 0 };
	bool ours = keeper.pooled && !taking && nfds == 1;
	struct err e;
	bool read = ours && words_take(fds[0], &e);
	int fd = -1;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (!read) {
		client_fail(c, in->id, ERR_CONFLICT, 0,
			    ours ? "a cell that waits cannot become this one"
				 : "this cell is in no pool");
		return;
	}
	if (!pool_leave(c, in))
		return;
	taking = true;
	if (ports_open(&taken, &e) < 0 || ports_follow(&e) < 0) {
		e.kind = ERR_CONFLICT;
		client_err(c, in->id, 0, &e);
		return;
	}
	if (limits_fresh(&taken, &m, &e) == 0 && (fd = setup_write()) < 0)
		err_set(&e, ERR_CONFLICT, "cannot prepare the command: %s", strerror(-fd));
	m.type = CTL_SETUP;
	if (fd < 0) {
		ports_close(); /* for the cell that is started instead */
		e.kind = ERR_CONFLICT;
		client_err(c, in->id, 0, &e);
	} else {
		pass_on(c, in, &m, &fd, 1);
	}
}

void take_answer(struct client *c, uint32_t id, int err)
{
	struct err e;

	if (err) {
		ports_close();
		client_fail(c, id, ERR_CONFLICT, 0, "%s", strerror(-err));
		return;
	}
	strcpy(keeper.id, taken.id);
	if (!c)
		return;
	if (journal_begin(&e) < 0) {
		ports_close();
		/* A cell of its own can run without a journal. */
		client_fail(c, id, ERR_CONFLICT, 0, "%s", err_line(&e).str);
		return;
	}
	if ((taken.parent && lease_open(taken.parent, &e) < 0) || serve_open(&e) < 0) {
		ports_close();
		client_err(c, id, 0, &e);
		return;
	}
	keeper.o = &taken;
	keeper.leave = taken.leave;
	keeper.idle = taken.idle;
	if (taken.timeout_ns > 0)
		keeper.stay.deadline = keeper.began + taken.timeout_ns;
	keeper.leash = NULL;
	client_ok(c, id, 0);
	if (!taken.idle)
		first_start();
}
