/* Records of vivd for cells that are gone (note.h): viv-journal appends them to the journal, which
 * outlives its cell, one cell after the other. It is a process of its own, as the journal has what
 * a hostile cell wrote, and waiting for its disk is not vivd's.
 *
 * Rows go when they are in the journal. One that cannot be written now (a full disk, a sealer that
 * has the lock) is tried again each minute for as long as vivd runs, and after its next start. A
 * vivd that is killed between the two writes the rows again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/journal/note.h"
#include "daemon/journal/scan.h"
#include "daemon/keepers/program.h"
#include "wire/memfd.h"

#define ROWS 256 /* of a cell at a time */
#define RETRY_MS 60000

static struct {
	uv_work_t work;
	bool busy;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	char path[4200];
	int64_t last; /* row */
	int fd; /* the frames */
	bool good;
	char after[CELL_ID_LEN + 1]; /* cells up to this one could not be written in this round */
} at_work;

static uv_timer_t again;

static void append_work(uv_work_t *w)
{
	char verb[] = "append", option[] = "--cell", name[] = "viv-journal";
	char *argv[] = { name, verb, option, at_work.cell, at_work.path, NULL };
	const int fds[PROGRAM_FDS] = { at_work.fd, -1, -1, -1, -1 };
	int pid = program_spawn(name, argv, fds), status = -1;

	(void)w;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	at_work.good = pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void append_done(uv_work_t *w, int status)
{
	(void)w, (void)status;
	at_work.busy = false;
	close(at_work.fd);
	if (at_work.good) {
		db_run(&at_work.d->db, NULL, "DELETE FROM journal_notes WHERE cell=? AND id<=?",
		       "ti", at_work.cell, at_work.last);
		orphans_send(at_work.d);
		return;
	}
	log_warn("cell %s: its last records are not in its journal yet", at_work.cell);
	memcpy(at_work.after, at_work.cell, sizeof(at_work.after));
	orphans_send(at_work.d);
}

/* The rows of one cell. 0: there are none. */
static size_t rows_take(struct daemon *d, struct buf *frames)
{
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT cell,id,frame FROM journal_notes WHERE cell=(SELECT cell "
			 "FROM journal_notes WHERE cell NOT IN (SELECT id FROM cells) AND "
			 "cell>? ORDER BY cell LIMIT 1) ORDER BY id LIMIT ?",
			 "ti", at_work.after, (int64_t)ROWS);
	size_t count = 0, n;

	while (db_next(q)) {
		const void *frame = db_blob(q, 2, &n);

		snprintf(at_work.cell, sizeof(at_work.cell), "%s", db_text(q, 0));
		at_work.last = db_int(q, 1);
		if (n)
			buf_add(frames, frame, n);
		count++;
	}
	db_done(q);
	return count;
}

static void on_again(uv_timer_t *t)
{
	at_work.after[0] = '\0';
	orphans_send(t->data);
}

void orphans_send(struct daemon *d)
{
	struct buf frames = { 0 };
	struct err e;

	if (at_work.busy)
		return;
	if (!rows_take(d, &frames)) {
		if (at_work.after[0] && !uv_is_active((uv_handle_t *)&again))
			uv_timer_start(&again, on_again, RETRY_MS, 0);
		return;
	}
	/* Nothing is in a journal that the database could still lose. */
	db_flush(&d->db);
	at_work.d = d;
	at_work.fd = -1;
	if (journal_path(at_work.path, sizeof(at_work.path), at_work.cell, &e) == 0)
		at_work.fd = memfd_sealed("viv-records", frames.p, frames.len);
	/* It was written up to its end. */
	if (at_work.fd >= 0)
		lseek(at_work.fd, 0, SEEK_SET);
	at_work.fd = program_fd(at_work.fd);
	buf_free(&frames);
	if (at_work.fd < 0) {
		uv_timer_start(&again, on_again, RETRY_MS, 0);
		return;
	}
	at_work.busy = true;
	uv_queue_work(&d->loop, &at_work.work, append_work, append_done);
}

bool orphan_has_ring(const char *cell)
{
	char path[4300];
	struct stat st;
	struct err e;

	if (journal_path(path, sizeof(path) - 16, cell, &e) < 0)
		return false;
	strcat(path, "/ring.kernel");
	return !lstat(path, &st);
}

void orphans_open(struct daemon *d)
{
	again.data = d;
	uv_timer_init(&d->loop, &again);
	uv_unref((uv_handle_t *)&again);
}
