/* See tend.h, and keeper/journalseal.c for how cells hand their journals over.
 *
 * Lines of the queue are taken in batches, after a moment in which more may come: a disk that is
 * waited for once for all of them is what makes many short runs cheap. Spare journals are made at
 * once, since the next run wants one.
 *
 * The queue is a file of ours, but a power cut may have left anything in it: each line is checked,
 * and what it names is opened as every journal is. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "journal/files.h"
#include "journal/journal.h"
#include "journal/tend.h"

#define GATHER_MS 100
#define LINGER_MS 500
#define BATCH 32
#define ROOM 2048
#define BUSY_MS 20
#define BUSY_TRIES 1500 /* half a minute */
#define QUEUE_MAX (64 << 10) /* then the next cell begins another one */

struct tender {
	int journals, queue, notify;
	off_t at; /* in the queue */
	bool removed; /* it is, and its end has been read */
};

struct item {
	char id[40];
	uint64_t through;
	int dir;
	struct sealer *sealer;
};

/* ---- the queue ---- */

/* A line without its end. False: it is none of ours. */
static bool line_parse(const char *line, size_t n, struct item *ret)
{
	const char *space = memchr(line, ' ', n);
	size_t id = space ? (size_t)(space - line) : 0;
	char number[24] = "", *end;

	memset(ret, 0, sizeof(*ret));
	ret->dir = -1;
	if (!id || id >= sizeof(ret->id) || n - id - 1 >= sizeof(number) ||
	    strspn(line, "0123456789abcdefghijklmnopqrstuvwxyz") != id)
		return false;
	memcpy(ret->id, line, id);
	memcpy(number, space + 1, n - id - 1);
	ret->through = strtoull(number, &end, 10);
	return ret->through && !*end && number[0] != '-';
}

/* The lines that are there: how many of them are in items. */
static unsigned lines_take(struct tender *t, struct item items[BATCH])
{
	char text[ROOM + 1], *line = text, *end;
	ssize_t n = read_at(t->queue, text, ROOM, t->at);
	unsigned count = 0;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	while (count < BATCH && (end = memchr(line, '\n', (size_t)(text + n - line)))) {
		*end = '\0';
		if (line_parse(line, (size_t)(end - line), &items[count]))
			count++;
		line = end + 1;
	}
	/* What is too long to be a line is none. */
	t->at += line == text && n == ROOM ? n : line - text;
	return count;
}

/* A whole line, or what will never be one. */
static bool queue_has_more(const struct tender *t)
{
	char text[ROOM];
	ssize_t n = read_at(t->queue, text, ROOM, t->at);

	return n == ROOM || (n > 0 && memchr(text, '\n', (size_t)n));
}

/* ---- sealing ---- */

/* False: another one seals it. */
static bool item_begin(struct item *i)
{
	struct err e;

	/* What cannot be sealed stays as it is, for the next run or the sweep. */
	return journal_seal_begin(i->dir, i->through, false, &i->sealer, &e) == 0 ||
	       e.kind != ERR_BUSY;
}

static void item_end(struct item *i)
{
	struct err e;

	if (i->sealer)
		(void)!journal_seal_end(i->sealer, &e);
	i->sealer = NULL;
}

/* Nobody is waited for as long as locks are held. */
static void batch_seal(struct tender *t, struct item *items, unsigned n)
{
	bool busy[BATCH] = { false };

	for (unsigned i = 0; i < n; i++) {
		items[i].dir = journal_dir_open_at(t->journals, items[i].id);
		if (items[i].dir >= 0)
			busy[i] = !item_begin(&items[i]);
	}
	for (unsigned i = 0; i < n; i++)
		item_end(&items[i]);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < BUSY_TRIES && busy[i]; k++) {
			busy[i] = !item_begin(&items[i]);
			if (busy[i])
				usleep(BUSY_MS * 1000);
		}
		item_end(&items[i]);
		if (items[i].dir >= 0)
			close(items[i].dir);
	}
}

/* ---- waiting ---- */

/* For something to be written to the queue, or so long. */
static void queue_wait(struct tender *t, int ms)
{
	struct pollfd p = { .fd = t->notify, .events = POLLIN };
	char events[4096];

	(void)poll(&p, t->notify >= 0, t->notify >= 0 ? ms : MIN(ms, 50));
	if (t->notify >= 0 && p.revents)
		(void)!read(t->notify, events, sizeof(events));
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* As many more lines as come within a moment; each of them has taken a spare journal. */
static void gather(struct tender *t)
{
	struct stat st;

	for (int64_t until = now_ms() + GATHER_MS, now; (now = now_ms()) < until;) {
		spares_fill(t->journals);
		if (fstat(t->queue, &st) < 0 || st.st_size - t->at > BATCH * 14)
			return;
		queue_wait(t, (int)(until - now));
	}
}

/* Whoever writes a line from now on finds that it has no name. */
static void queue_remove(struct tender *t)
{
	struct stat mine, named;

	t->removed = true;
	if (fstat(t->queue, &mine) == 0 &&
	    fstatat(t->journals, JOURNAL_QUEUE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mine.st_dev == named.st_dev && mine.st_ino == named.st_ino)
		(void)!unlinkat(t->journals, JOURNAL_QUEUE, 0);
}

static int notify_open(int queue)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", queue);
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MODIFY) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void journals_tend(int journals, int queue)
{
	struct tender t = { .journals = journals, .queue = queue, .notify = notify_open(queue) };
	int64_t idle = now_ms();
	struct item items[BATCH];

	while (!t.removed || queue_has_more(&t)) {
		if (queue_has_more(&t)) {
			if (!t.removed)
				gather(&t);
			batch_seal(&t, items, lines_take(&t, items));
			idle = now_ms();
		} else if (now_ms() >= idle + LINGER_MS) {
			journals_sweep(journals);
			queue_remove(&t);
		} else {
			queue_wait(&t, LINGER_MS);
		}
		if (t.at > QUEUE_MAX && !t.removed)
			queue_remove(&t);
	}
	if (t.notify >= 0)
		close(t.notify);
}
