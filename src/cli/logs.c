/* viv logs: kept output (keeper/log.h), read from the files themselves. Following waits for changes of the file and for the end of the
 * process; when the file becomes the one before, the new one is asked for. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "keeper/log.h"

static const char usage_logs[] = "viv logs [-f] [--tail N] [--since TIME] [-t] CELL[:PROCESS]";

struct reader {
	bool follow, times;
	int64_t since; /* nanoseconds since 1970 */
	uint64_t skip; /* lines that are not wanted */
	bool in_line[3]; /* by stream: the last byte was no line end */
};

void logs_help(void)
{
	printf("Usage: %s\n\n"
	       "Shows what a detached cell, or one of its detached processes, has written; what "
	       "went "
	       "to standard error\ngoes there. Kept are the last megabytes.\n\n"
	       "  -f, --follow       wait for more, until it ends\n"
	       "  --tail N           only the last N lines\n"
	       "  --since TIME       only what was written since then: 2026-01-31T12:00:00Z, "
	       "seconds "
	       "since 1970, or 10m\n"
	       "  -t, --timestamps   the time before each line\n",
	       usage_logs);
}

static void time_print(FILE *to, int64_t time)
{
	time_t seconds = (time_t)(time / NSEC_PER_SEC);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(to, "%s.%09lldZ ", text, (long long)(time % NSEC_PER_SEC));
}

/* A record, without the lines that are to be skipped. */
static void record_show(struct reader *r, const struct log_head *h, const char *bytes)
{
	int stream = h->stream == 2 ? 2 : 1;
	FILE *to = stream == 2 ? stderr : stdout;

	for (size_t at = 0; at < h->len;) {
		const char *nl = r->skip || r->times ? memchr(bytes + at, '\n', h->len - at) : NULL;
		size_t n = nl ? (size_t)(nl - bytes) + 1 - at : h->len - at;

		if (!r->skip) {
			if (r->times && !r->in_line[stream])
				time_print(to, h->time);
			fwrite(bytes + at, 1, n, to);
			r->in_line[stream] = !nl;
		}
		if (r->skip && nl)
			r->skip--;
		at += n;
	}
	fflush(to);
}

/* All whole records from *at on. */
static int file_show(struct reader *r, int fd, uint64_t *at, struct err *e)
{
	static char bytes[LOG_CHUNK_MAX];
	struct log_head h;
	int got;

	while ((got = log_next(fd, at, &h, bytes)) > 0)
		if (h.time >= r->since)
			record_show(r, &h, bytes);
	return got < 0 ? err_set(e, ERR_FAILED, "the log is damaged") : 0;
}

static uint64_t lines_count(int fd, int64_t since)
{
	static char bytes[LOG_CHUNK_MAX];
	uint64_t at = 0, lines = 0;
	struct log_head h;
	bool open = false;

	while (log_next(fd, &at, &h, bytes) > 0) {
		if (h.time < since)
			continue;
		for (uint32_t i = 0; i < h.len; i++)
			lines += bytes[i] == '\n';
		open = h.len && bytes[h.len - 1] != '\n';
	}
	return lines + open;
}

static int watch_file(int inotify, int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return inotify_add_watch(inotify, path, IN_MODIFY | IN_MOVE_SELF);
}

/* True: the file was renamed. */
static bool moved(int inotify)
{
	char buf[4096] __attribute__((aligned(8)));
	bool is = false;
	ssize_t n;

	while ((n = read(inotify, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *ev = (const void *)(buf + at);

			is |= (ev->mask & IN_MOVE_SELF) != 0;
			at += (ssize_t)(sizeof(*ev) + ev->len);
		}
	return is;
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
}

static int end_ask(struct target *t)
{
	struct keep_msg m = { .type = KEEP_WAIT, .id = 0x7ffffff0, .proc = t->proc };

	return keep_send(t->fd, &m, NULL, 0, 0);
}

static int follow(struct reader *r, struct target *t, int fd, uint64_t at, struct err *e)
{
	int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), before, seen, err;
	struct pollfd p[2] = { { .fd = inotify, .events = POLLIN },
			       { .fd = t->fd, .events = POLLIN } };
	bool ended,
		look = true; /* at once: something may have been written before it was watched */
	struct keep_msg m;

	if (inotify < 0 || watch_file(inotify, fd) < 0)
		return err_set(e, ERR_FAILED, "cannot follow the log: %s", strerror(errno));
	for (ended = end_ask(t) != 0;;) {
		bool rotated;

		if (!ended && !look)
			poll(p, 2, -1);
		look = false;
		rotated = moved(inotify);
		if (file_show(r, fd, &at, e) < 0)
			return -1;
		if (rotated) {
			seen = fd;
			if (keep_logs(t->fd, t->proc, &fd, &before, e) < 0)
				return -1;
			/* One that came and went meanwhile. */
			if (before >= 0 && !is_same(before, seen) &&
			    file_show(r, before, &(uint64_t){ 0 }, e) < 0)
				return -1;
			if (before >= 0)
				close(before);
			close(seen);
			at = 0;
			watch_file(inotify, fd);
			look = true;
			/* Its end may have been told while the new file was waited for. */
			ended |= end_ask(t) != 0;
			continue;
		}
		if (ended)
			return 0;
		/* Its end, or the cell's: what was written before that is in the file. */
		err = keep_recv(t->fd, &m, NULL, NULL, KEEP_NOWAIT);
		ended = err ? err != -EAGAIN : m.type == KEEP_EXITED || m.type == KEEP_FAIL;
	}
}

int logs_main(int argc, char **argv)
{
	struct reader r = { 0 };
	const char *tail = NULL, *since = NULL;
	struct timespec now;
	const struct verb_option list[] = { { 'f', "follow", .on = &r.follow },
					    { 't', "timestamps", .on = &r.times },
					    { 'n', "tail", .value = &tail },
					    { 0, "since", .value = &since } };
	int at = options_take(argc, argv, list, ARRAY_LEN(list), usage_logs), fd, before, result;
	uint64_t pos = 0, lines;
	struct target t;
	uint32_t wanted = 0;
	struct err e;

	if (at < 0)
		return ERR_USAGE;
	if (argc - at != 1 || (tail && strcmp(tail, "all") && !value_u32(tail, &wanted))) {
		fail("usage: %s", usage_logs);
		return ERR_USAGE;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	if (since && !value_instant(since, now.tv_sec * NSEC_PER_SEC + now.tv_nsec, &r.since)) {
		fail("--since '%s' is no time; give one such as 2026-01-31T12:00:00Z, or 10m",
		     since);
		return ERR_USAGE;
	}
	if (target_open(argv[at], &t, &e) < 0)
		return verb_failed(&e);
	result = keep_logs(t.fd, t.proc, &fd, &before, &e);
	if (result == 0 && tail && strcmp(tail, "all")) {
		lines = lines_count(fd, r.since) + (before >= 0 ? lines_count(before, r.since) : 0);
		r.skip = lines > wanted ? lines - wanted : 0;
	}
	if (result == 0 && before >= 0)
		result = file_show(&r, before, &(uint64_t){ 0 }, &e);
	if (result == 0)
		result = file_show(&r, fd, &pos, &e);
	if (result == 0 && r.follow)
		result = follow(&r, &t, fd, pos, &e);
	target_close(&t);
	return result < 0 ? verb_failed(&e) : 0;
}
