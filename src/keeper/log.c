/* Keeping output: what a detached process writes goes through pipes to files in RUN/cells,
 * ID.PROC.log and ID.PROC.log.old (log.h has the format). The pipes are read as fast as the files
 * take it, so a process waits for the disk at most. What cannot be written, because the disk is
 * full, is dropped: a log never stops a process.
 *
 * A whole one (KEEP_X_WHOLE) drops nothing: the older file goes only when all of it was taken, no
 * more is read while too much is not, and bytes that the disk has no room for wait in memory, one
 * record of them, until it has. */
#include "keeper/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "keeper/keeper.h"

#define RETRY (NSEC_PER_SEC / 5)

struct log {
	struct source in[2]; /* output, errors */
	uint32_t proc;
	int fd;
	uint64_t size;
	uint64_t position; /* bytes of output that went to it, over all files */
	bool whole;
	uint64_t taken; /* of a whole one: so much of it is stored elsewhere */
	uint64_t began; /* where in the output the current file begins */
	char *stuck; /* of a whole one: a record that the disk has no room for; NULL: none */
	size_t nstuck;
	int stuck_stream;
	int64_t retry; /* when that is tried again */
};

static int dir_fd(void)
{
	static int fd = -1;
	struct err e;

	if (fd < 0)
		fd = keep_cells_dir(&e);
	return fd;
}

/* The older file of a whole one holds nothing that somebody still wants. */
static bool old_is_taken(const struct log *l)
{
	return l->taken >= l->began;
}

static void name_make(char *out, size_t size, uint32_t proc, bool old)
{
	snprintf(out, size, "%s.%u.log%s", keeper.id, proc, old ? ".old" : "");
}

static int file_open(uint32_t proc)
{
	char name[96];

	name_make(name, sizeof(name), proc, false);
	return openat(dir_fd(), name,
		      O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static void rotate(struct log *l)
{
	char name[96], old[96];

	name_make(name, sizeof(name), l->proc, false);
	name_make(old, sizeof(old), l->proc, true);
	renameat(dir_fd(), name, dir_fd(), old);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = file_open(l->proc);
	l->size = 0;
	l->began = l->position;
}

/* False: it could not be written, and is not part of the log. */
static bool record_put(struct log *l, int stream, const char *bytes, size_t n)
{
	struct log_head h = { .at = l->position,
			      .time = clock_real(),
			      .len = (uint32_t)n,
			      .stream = (uint16_t)stream,
			      .magic = LOG_MAGIC };
	struct iovec iov[2] = { { &h, sizeof(h) }, { (void *)(uintptr_t)bytes, n } };
	ssize_t put;

	if (l->size && l->size + sizeof(h) + n > LOG_FILE_MAX && (!l->whole || old_is_taken(l)))
		rotate(l);
	if (l->fd < 0 && l->whole)
		l->fd = file_open(l->proc);
	put = l->fd < 0 ? -1 : writev(l->fd, iov, 2);
	if (put == (ssize_t)(sizeof(h) + n)) {
		l->size += (uint64_t)put;
		l->position += n;
		return true;
	}
	if (!l->whole)
		l->position += n;
	/* Half a record cannot stay. */
	if (put > 0 && ftruncate(l->fd, (off_t)l->size) < 0 && !l->whole)
		rotate(l);
	return false;
}

/* ---- whole ones ---- */

/* No more is read now. */
static bool is_held(const struct log *l)
{
	return l->whole && (l->stuck || l->position - l->taken > KEEP_WHOLE_MAX ||
			    (l->size + sizeof(struct log_head) + LOG_CHUNK_MAX > LOG_FILE_MAX &&
			     !old_is_taken(l)));
}

static void reading_set(struct log *l)
{
	bool held = is_held(l);

	for (int i = 0; i < 2; i++)
		source_hold(&l->in[i], held);
}

static void stuck_keep(struct log *l, int stream, const char *bytes, size_t n)
{
	if (!l->stuck)
		l->stuck = malloc(LOG_CHUNK_MAX);
	if (!l->stuck) {
		warn("the output of process %u cannot be kept: out of memory", l->proc);
		return;
	}
	memcpy(l->stuck, bytes, n);
	l->nstuck = n;
	l->stuck_stream = stream;
	l->retry = clock_mono() + RETRY;
}

void log_taken(struct log *l, uint64_t position)
{
	if (!l->whole)
		return;
	l->taken = MAX(l->taken, MIN(position, l->position));
	reading_set(l);
}

int64_t log_deadline(const struct log *l)
{
	return l->stuck ? l->retry : 0;
}

/* The disk is full: what was taken goes. */
static void room_make(struct log *l)
{
	char name[96];

	if (l->taken == l->position && l->size)
		rotate(l);
	if (!old_is_taken(l))
		return;
	name_make(name, sizeof(name), l->proc, true);
	unlinkat(dir_fd(), name, 0);
}

void log_time(struct log *l)
{
	if (!l->stuck || l->retry > clock_mono())
		return;
	l->retry = clock_mono() + RETRY;
	room_make(l);
	if (!record_put(l, l->stuck_stream, l->stuck, l->nstuck))
		return;
	free(l->stuck);
	l->stuck = NULL;
	reading_set(l);
}

bool log_is_stuck(const struct log *l)
{
	return l->stuck;
}

/* False: there is nothing more now. */
static bool pump(struct log *l, struct source *s)
{
	int stream = s == &l->in[0] ? 1 : 2;
	char bytes[LOG_CHUNK_MAX];
	ssize_t n;

	if (l->stuck)
		return false;
	n = read(s->fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		source_close(s);
		return false;
	}
	if (!record_put(l, stream, bytes, (size_t)n) && l->whole)
		stuck_keep(l, stream, bytes, (size_t)n);
	if (l->whole)
		reading_set(l);
	return true;
}

/* Which log a source belongs to shows in its function. */
static void out_ready(struct source *s, uint32_t events)
{
	(void)events;
	pump(container_of(s, struct log, in[0]), s);
}

static void err_ready(struct source *s, uint32_t events)
{
	(void)events;
	pump(container_of(s, struct log, in[1]), s);
}

struct log *log_new(uint32_t proc, int out, int err, bool whole)
{
	struct log *l = calloc(1, sizeof(*l));

	if (l) {
		l->proc = proc;
		l->whole = whole;
		l->fd = file_open(proc);
		l->in[0].fd = l->in[1].fd = -1;
		if (l->fd >= 0 && source_add(&l->in[0], out, EPOLLIN, out_ready) == 0) {
			if (err < 0 || source_add(&l->in[1], err, EPOLLIN, err_ready) == 0)
				return l;
			source_close(&l->in[0]);
			out = -1;
		}
		if (l->fd >= 0)
			close(l->fd);
		free(l);
	}
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return NULL;
}

void log_end(struct log *l)
{
	for (int i = 0; i < 2 && !l->stuck; i++) {
		/* Whoever else has the writing end is not waited for; a pipe has a bounded size. */
		for (int n = 0; n < 256 && l->in[i].fd >= 0 && pump(l, &l->in[i]); n++)
			;
		if (!l->stuck)
			source_close(&l->in[i]);
	}
	if (l->stuck)
		return;
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

void log_free(struct log *l, bool forget)
{
	char name[96];

	log_end(l);
	for (int i = 0; i < 2; i++)
		source_close(&l->in[i]);
	if (l->fd >= 0)
		close(l->fd);
	for (int old = 0; old < 2 && (forget || !keeper.leave); old++) {
		name_make(name, sizeof(name), l->proc, old);
		unlinkat(dir_fd(), name, 0);
	}
	free(l->stuck);
	free(l);
}

uint64_t log_position(const struct log *l)
{
	return l->position;
}

unsigned log_open(uint32_t proc, int fds[2])
{
	unsigned n = 0;

	for (int old = 0; old < 2; old++) {
		char name[96];
		int fd;

		name_make(name, sizeof(name), proc, old);
		fd = openat(dir_fd(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			fds[n++] = fd;
		else if (!old)
			return 0;
	}
	return n;
}
