/* See client.h. */
#include "keeper/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/fdmsg.h"
#include "store/named.h"
#include "store/store.h"

/* How long a cell has for a snapshot. Its kernel brings all that was written to the host's disk. */
#define SEAL_WAITS_MS 20000
/* How long a signal lets an answer come first. */
#define SIGNAL_WAITS_MS 2000

/* ---- where keepers are ---- */

int keep_run_dir(struct err *e)
{
	char path[4096 + 16];
	int fd;

	if (store_run_path(path, sizeof(path), e) < 0)
		return -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make '%s': %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
	return fd;
}

int keep_cells_dir(struct err *e)
{
	char path[4096 + 16];
	int run, fd;

	if (store_run_path(path, sizeof(path) - 8, e) < 0)
		return -1;
	strcat(path, "/cells");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	run = keep_run_dir(e);
	if (run < 0)
		return -1;
	if (mkdirat(run, "cells", 0700) < 0 && errno != EEXIST)
		err_set(e, ERR_FAILED, "cannot make the directory of running cells: %s",
			strerror(errno));
	else if ((fd = openat(run, "cells", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		err_set(e, ERR_FAILED, "cannot open the directory of running cells: %s",
			strerror(errno));
	close(run);
	return fd;
}

/* A connected socket, or -errno. */
static int connect_in(int dir, const char *id, int flags)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int nowait = flags & KEEP_NOWAIT ? SOCK_NONBLOCK : 0;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | nowait, 0), err;

	if (fd < 0)
		return -errno;
	/* By way of the directory's descriptor: the path itself may be longer than a socket's
	 * address. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s.sock", dir, id);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

bool keep_is_heard(int dir, const char *id)
{
	int fd = connect_in(dir, id, KEEP_NOWAIT);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EAGAIN;
}

/* What a keeper left that was killed: its socket and its logs. */
static void remains_remove(int dir, const char *id, int flags)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	DIR *d = again < 0 ? NULL : fdopendir(again);
	size_t n = strlen(id);
	struct dirent *e;

	if (!d) {
		if (again >= 0)
			close(again);
		return;
	}
	/* Nobody takes the name while we look once more. */
	if (flock(dir, LOCK_EX | (flags & KEEP_NOWAIT ? LOCK_NB : 0)) == 0) {
		fd = connect_in(dir, id, KEEP_NOWAIT);
		/* The record of an end is for whoever asked that it be left. */
		while (fd == -ECONNREFUSED && (e = readdir(d)))
			if (!strncmp(e->d_name, id, n) && e->d_name[n] == '.' &&
			    strcmp(e->d_name + n, ".end"))
				unlinkat(dir, e->d_name, 0);
		if (fd >= 0)
			close(fd);
		flock(dir, LOCK_UN);
	}
	closedir(d);
}

void keep_bury(const char *id)
{
	char name[KEEP_ID_LEN + 8];
	struct err e;
	int dir = keep_cells_dir(&e), fd;

	if (dir < 0)
		return;
	if (flock(dir, LOCK_EX | LOCK_NB) == 0) {
		fd = connect_in(dir, id, KEEP_NOWAIT);
		snprintf(name, sizeof(name), "%s.sock", id);
		if (fd == -ECONNREFUSED)
			unlinkat(dir, name, 0);
		if (fd >= 0)
			close(fd);
	}
	close(dir);
}

int keep_connect(const char *id, int flags, struct err *e)
{
	int fd, dir;

	if (!cell_id_is_valid(id))
		return err_set(e, ERR_NOT_FOUND, "there is no running cell '%s'", id);
	dir = keep_cells_dir(e);
	if (dir < 0)
		return -1;
	fd = connect_in(dir, id, flags);
	if (fd == -ECONNREFUSED)
		remains_remove(dir, id, flags);
	close(dir);
	if (fd >= 0)
		return fd;
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return err_set(e, ERR_NOT_FOUND, "there is no running cell '%s'", id);
	return err_set(e,
		       fd == -EACCES || fd == -EPERM ? ERR_DENIED
		       : fd == -EAGAIN		     ? ERR_CONFLICT
						     : ERR_FAILED,
		       "cannot reach the keeper of cell '%s': %s", id, strerror(-fd));
}

int keep_each(bool (*fn)(void *arg, const char *id), void *arg, struct err *e)
{
	int fd = keep_cells_dir(e);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? -1 : err_set(e, ERR_FAILED, "out of memory");
	}
	while ((d = readdir(dir))) {
		size_t n = strlen(d->d_name);
		char id[KEEP_ID_LEN + 1];

		if (n <= 5 || n - 5 > KEEP_ID_LEN || strcmp(d->d_name + n - 5, ".sock"))
			continue;
		memcpy(id, d->d_name, n - 5);
		id[n - 5] = 0;
		if (cell_id_is_valid(id) && !fn(arg, id))
			break;
	}
	closedir(dir);
	return 0;
}

struct search {
	const char *text;
	unsigned found;
	bool exact;
	char id[KEEP_ID_LEN + 1];
};

static bool search_step(void *arg, const char *id)
{
	struct search *s = arg;

	if (strncmp(id, s->text, strlen(s->text)))
		return true;
	s->found++;
	strcpy(s->id, id);
	s->exact = !strcmp(id, s->text);
	return !s->exact;
}

int keep_find(const char *text, char ret_id[KEEP_ID_LEN + 1], struct err *e)
{
	struct search s = { .text = text };
	struct store store;
	struct named n;
	int fd;

	/* A named cell has the id of its disk. */
	if (disk_name_is_valid(text) && store_open(&store, e) == 0) {
		int err = named_find(store.fd, NAMED_CELL, text, &n);

		store_close(&store);
		if (err == 0) {
			fd = keep_connect(n.disk, 0, e);
			if (fd >= 0)
				close(fd);
			if (fd < 0 && e->kind == ERR_NOT_FOUND)
				return err_set(e, ERR_NOT_FOUND, "cell '%s' does not run", text);
			strcpy(ret_id, n.disk);
			return fd < 0 ? -1 : 0;
		}
	}
	if (*text && keep_each(search_step, &s, e) < 0)
		return -1;
	if (s.exact || s.found == 1) {
		strcpy(ret_id, s.id);
		return 0;
	}
	if (s.found)
		return err_set(e, ERR_CONFLICT,
			       "'%s' is the beginning of several cells' ids" REMEDY
			       "give more of it",
			       text);
	return err_set(e, ERR_NOT_FOUND,
		       "there is no running cell '%s'" REMEDY "'viv ps' lists them", text);
}

/* ---- messages ---- */

int keep_send(int fd, const struct keep_msg *m, const int *fds, unsigned nfds, int flags)
{
	return fdmsg_send(fd, m, sizeof(*m), fds, nfds, flags & KEEP_NOWAIT ? MSG_DONTWAIT : 0);
}

int keep_recv(int fd, struct keep_msg *ret, int *fds, unsigned *ret_nfds, int flags)
{
	unsigned nfds;
	int64_t n = fdmsg_recv(fd, ret, sizeof(*ret), fds, fds ? KEEP_MAX_FDS : 0, &nfds,
			       flags & KEEP_NOWAIT ? MSG_DONTWAIT : 0);

	if (n >= 0 && n != sizeof(*ret) && fds)
		while (nfds)
			close(fds[--nfds]);
	if (ret_nfds)
		*ret_nfds = nfds;
	if (n < 0)
		return (int)n;
	return n == sizeof(*ret) ? 0 : n ? -EBADMSG : -EPIPE;
}

static int lost(struct err *e, int err)
{
	if (err == -EPIPE || err == -ECONNRESET)
		return err_set(e, ERR_FAILED, "the cell ended while it was asked");
	return err_set(e, ERR_FAILED, "cannot talk to the cell's keeper: %s", strerror(-err));
}

bool keep_signal_waits(int sig)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, sig) == 1;
}

static bool signal_ends(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT ||
	       sig == SIGALRM || sig == SIGUSR1 || sig == SIGUSR2;
}

/* Takes one out of signals that ends us. 0: there is none; the others stay for whoever passes them
 * on. The descriptor gives the lowest number first: SIGPIPE, which nobody passes on, comes before
 * some of those, and the others after all of them. */
static int signal_take(int signals)
{
	struct signalfd_siginfo si;

	for (int sig = 1; sig <= SIGTERM; sig++)
		while (signal_ends(sig) && keep_signal_waits(sig) &&
		       read(signals, &si, sizeof(si)) == sizeof(si))
			if (signal_ends((int)si.ssi_signo))
				return (int)si.ssi_signo;
	return 0;
}

int keep_await(int fd, int signals)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
			       { .fd = signals, .events = POLLIN } };
	int sig;

	for (;;) {
		poll(p, 2, -1);
		/* Soon whoever it is for can have it. */
		if (!p[0].revents && p[1].revents)
			poll(p, 1, SIGNAL_WAITS_MS);
		if (p[0].revents)
			return 0;
		sig = signal_take(signals);
		if (sig)
			return sig;
	}
}

static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Is there something to read before that time (clock_ms), 0 being never? */
static bool await_until(int fd, int64_t end)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left;
	int n;

	if (!end)
		return true;
	do {
		left = end - clock_ms();
		n = left > 0 ? poll(&p, 1, (int)left) : 0;
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

int keep_ask_by(int fd, struct keep_msg *m, const int *fds, unsigned nfds, uint32_t want,
		struct keep_wait *w, struct keep_msg *ret, struct err *e)
{
	static uint32_t last;
	int64_t end = w->deadline_ms ? clock_ms() + w->deadline_ms : 0;
	int err;

	m->id = ++last ? last : ++last;
	err = keep_send(fd, m, fds, nfds, 0);
	while (!err) {
		w->signal = w->signals < 0 ? 0 : keep_await(fd, w->signals);
		if (w->signal)
			return err_set(e, ERR_FAILED, "the cell does not answer");
		if (!await_until(fd, end)) {
			ret->type = 0;
			return err_set(e, ERR_SILENT,
				       "the cell has not answered for %d seconds" REMEDY
				       "try again, or stop the cell",
				       w->deadline_ms / 1000);
		}
		err = keep_recv(fd, ret, NULL, NULL, 0);
		if (err)
			break;
		if (ret->type != KEEP_STATS && ret->type != KEEP_HELLO)
			ret->text[sizeof(ret->text) - 1] = 0;
		if (ret->id != m->id) {
			if (w->other)
				w->other(w->arg, ret);
			continue;
		}
		if (ret->type == KEEP_FAIL) {
			keep_fail_get(ret, e);
			return -1;
		}
		if (ret->type == want)
			return 0;
		return err_set(e, ERR_FAILED, "the cell was started by another version of viv");
	}
	ret->type = 0;
	return lost(e, err);
}

int keep_ask(int fd, struct keep_msg *m, const int *fds, unsigned nfds, uint32_t want,
	     struct keep_msg *ret, struct err *e)
{
	struct keep_wait w = { .signals = -1 };

	return keep_ask_by(fd, m, fds, nfds, want, &w, ret, e);
}

/* ---- requests ---- */

int keep_start_fill(const struct keep_start *s, struct keep_msg *m, int fds[KEEP_MAX_FDS])
{
	*m = (struct keep_msg){ .type = KEEP_EXEC, .exec = s->exec };
	fds[0] = s->made ? fcntl(s->made, F_DUPFD_CLOEXEC, 3) : execspec_write(&s->spec);
	if (fds[0] < 0)
		return s->made ? -errno : fds[0];
	memcpy(fds + 1, s->fds, sizeof(s->fds));
	fds[4] = s->program;
	return s->exec.flags & KEEP_X_LOG ? 1 : s->exec.flags & KEEP_X_PROGRAM ? 5 : 4;
}

int keep_exec(int fd, const struct keep_start *s, struct keep_wait *w, struct keep_msg *ret,
	      struct err *e)
{
	int fds[KEEP_MAX_FDS], n, r;
	struct keep_msg m;

	ret->type = 0;
	w->signal = 0;
	n = keep_start_fill(s, &m, fds);
	if (n == -E2BIG)
		return err_set(e, ERR_USAGE, "the command and its environment are too long");
	if (n < 0)
		return err_set(e, ERR_FAILED, "cannot prepare the command: %s", strerror(-n));
	r = keep_ask_by(fd, &m, fds, (unsigned)n, KEEP_STARTED, w, ret, e);
	close(fds[0]);
	return r;
}

int keep_seal(int fd, const char *name, uint32_t *ret_layer, struct err *e)
{
	struct keep_wait w = { .signals = -1, .deadline_ms = SEAL_WAITS_MS };
	struct keep_msg m = { .type = KEEP_SEAL }, answer;

	snprintf(m.text, sizeof(m.text), "%s", name);
	if (keep_ask_by(fd, &m, NULL, 0, KEEP_OK, &w, &answer, e) < 0)
		return -1;
	*ret_layer = (uint32_t)answer.n;
	return 0;
}

int keep_forget(int fd, const char *snapshot, struct err *e)
{
	struct keep_wait w = { .signals = -1, .deadline_ms = SEAL_WAITS_MS };
	struct keep_msg m = { .type = KEEP_FORGET }, answer;

	snprintf(m.text, sizeof(m.text), "%s", snapshot);
	return keep_ask_by(fd, &m, NULL, 0, KEEP_OK, &w, &answer, e);
}
