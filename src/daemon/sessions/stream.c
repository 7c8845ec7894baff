/* The streams of an agent.
 *
 * Output: the keeper writes it to files (keeper/log.h) and forgets it when told that it is stored.
 * Lines that are complete become events; how far they were read is in the same transaction. Updates
 * that change nothing else are told before they are written to the disk, a few milliseconds later:
 * a vivd that is killed in between leaves them to the next one, which reads the same records and
 * makes the same events of them, with the same numbers and times, before it serves anybody. Of a
 * line that is not complete nothing is stored: it is read once more by the vivd that comes next.
 * Standard output and standard error share one count of bytes, so each has a position of its own.
 *
 * Input: lines wait in the outbox, with their place in the input. The keeper takes some of them at
 * a time and says how far it has come; what it was sent before is not written twice.
 *
 * An agent that does not read its answers is not read either, nor is one whose requests are as many
 * as are served at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sessions/private.h"
#include "daemon/state/output.h"
#include "wire/memfd.h"

#define STEP_RECORDS 64
#define STEP_BYTES (256u << 10)
#define TELL_BYTES (256u << 10) /* before the keeper is told what was taken ... */
#define TELL_MS 500 /* ... or so long */
#define PUT_BYTES (1u << 20) /* in one message, if a line is not longer */
#define REPLIES_MAX (1u << 20)
#define RETRY_MS 500
#define LATER_MS 1000

bool stream_is_held(const struct session *s)
{
	return !s->exited && (s->replies > REPLIES_MAX || s->nops >= SERVE_OPS);
}

/* ---- output ---- */

struct step {
	struct session *s;
	int64_t time; /* of the record */
};

static void on_line(void *arg, const char *p, size_t n)
{
	struct step *x = arg;

	if (session_is_acp(x->s))
		acp_line(x->s, p, n, x->time);
}

static void on_skipped(void *arg, const char *p, size_t n, uint64_t length)
{
	struct step *x = arg;

	event_put(x->s, "noise",
		  json_pack("{s:o,s:I,s:s}", "text", output_text(p, n, n), "bytes",
			    (json_int_t)length, "reason", "the line is too long"),
		  x->time);
}

static void out_take(struct step *x, const char *p, size_t n, uint64_t at)
{
	struct lines_user u = { .line = on_line, .skipped = on_skipped, .arg = x };
	struct session *s = x->s;
	const char *last = memrchr(p, '\n', n);

	if (!session_is_acp(s)) {
		oneshot_output(s, p, n, x->time);
		s->taken = at + n;
		return;
	}
	if (last)
		s->line_at = at + (uint64_t)(last - p) + 1;
	else if (!lines_kept(&s->lines) && !s->lines.skipped)
		s->line_at = at;
	lines_feed(&s->lines, p, n, &u);
	s->skip = s->lines.skipped;
	s->taken = lines_kept(&s->lines) ? s->line_at : at + n;
}

static void err_take(struct step *x, const char *p, size_t n, uint64_t at)
{
	struct session *s = x->s;
	uint64_t known = s->err_at > at ? MIN(s->err_at - at, (uint64_t)n) : 0;

	if (known < n)
		event_put(s, "stderr",
			  json_pack("{s:o}", "text", output_text(p + known, n - known, n)),
			  x->time);
	s->err_at = MAX(s->err_at, at + n);
	if (!lines_kept(&s->lines))
		s->taken = at + n;
}

static void lost_note(struct session *s, struct log_reader *r)
{
	if (!r->dropped)
		return;
	event_put(s, "gap",
		  json_pack("{s:I,s:I,s:I,s:s}", "from", (json_int_t)s->seq + 1, "to",
			    (json_int_t)s->seq + 1, "bytes", (json_int_t)r->dropped, "reason",
			    "output of the agent was lost"),
		  0);
	r->dropped = 0;
}

static void record_take(struct step *x)
{
	struct log_reader *r = &x->s->follow->reader;
	size_t n = r->len - r->given;
	const char *p = r->data + r->given;

	lost_note(x->s, r);
	x->time = x->s->now = r->head.time;
	if (r->head.stream == 1)
		out_take(x, p, n, r->position);
	else
		err_take(x, p, n, r->position);
	log_reader_take(r, n);
}

static void taken_tell(struct session *s)
{
	struct keep_msg m = { .type = KEEP_TAKEN, .proc = s->proc, .n = s->taken };
	uint64_t now = uv_now(&s->d->loop);
	struct keeper_link *l;

	/* What is not on the disk yet is not taken. A keeper whose disk is full waits for a little
	 * less. */
	if (s->taken == s->told || !s->proc || s->d->db.held ||
	    (s->taken - s->told < TELL_BYTES && now - s->told_at < TELL_MS))
		return;
	/* Of a process that has ended, the rest is still read. */
	l = process_keeper(s);
	if (!l || link_tell(l, &m) < 0)
		return;
	s->told = s->taken;
	s->told_at = now;
}

static void on_again(uv_timer_t *t)
{
	struct session *s = t->data;

	if (s->attached && !s->follow)
		stream_open(s);
	session_follow(s);
	stream_step(s);
}

static void again_in(struct session *s, uint64_t ms)
{
	if (!s->again) {
		s->again = xalloc(sizeof(*s->again));
		uv_timer_init(&s->d->loop, s->again);
		s->again->data = s;
	}
	uv_timer_start(s->again, on_again, ms, 0);
}

void stream_kick(struct session *s)
{
	again_in(s, 0);
}

void stream_later(struct session *s)
{
	again_in(s, LATER_MS);
}

/* What is there, as one transaction. 1: there was something; 0: not now, or it could not be stored;
 * -1: nothing. */
static int stream_batch(struct session *s)
{
	struct step x = { .s = s };
	uint64_t bytes = 0;
	int some = follow_next(s->follow);

	if (some <= 0)
		return some;
	s->hard = false;
	session_begin(s);
	if (!s->follow) { /* what was to be written was lost: it is read again */
		session_end(s, NULL);
		return 0;
	}
	for (int i = 0; i < STEP_RECORDS && bytes < STEP_BYTES && some > 0; i++) {
		bytes += s->follow->reader.len;
		record_take(&x);
		some = s->attached && stream_is_held(s) ? 0 : follow_next(s->follow);
	}
	s->now = 0;
	if (session_end_stream(s, s->taken - s->told < TELL_BYTES) < 0)
		return 0;
	taken_tell(s);
	return 1;
}

/* The last line may have no end. */
static void stream_over(struct session *s)
{
	struct step x = { .s = s, .time = time_now() };
	struct lines_user u = { .line = on_line, .skipped = on_skipped, .arg = &x };

	session_begin(s);
	lines_end(&s->lines, &u);
	s->skip = 0;
	process_ended(s);
	session_end(s, NULL);
}

void stream_step(struct session *s)
{
	int some;

	if (!s->follow || s->stepping || stream_is_held(s))
		return;
	s->stepping = true;
	some = stream_batch(s);
	if (some > 0)
		stream_kick(s);
	else if (some < 0 && s->exited)
		stream_over(s);
	else if (some < 0)
		taken_tell(s);
	s->stepping = false;
}

static void on_ready(void *arg)
{
	stream_step(arg);
}

void stream_open(struct session *s)
{
	if (s->follow || !s->proc)
		return;
	lines_free(&s->lines);
	s->lines.skipped = s->skip;
	s->line_at = s->taken;
	s->told = 0;
	s->follow = follow_new(&s->d->loop, s->cell, s->proc, s->taken, true, on_ready, s);
	if (s->follow)
		stream_step(s);
}

void stream_drain(struct session *s)
{
	stream_open(s);
	while (s->follow && stream_batch(s) >= 0)
		;
	stream_close(s);
}

void stream_close(struct session *s)
{
	if (s->follow)
		follow_free(s->follow);
	s->follow = NULL;
	lines_free(&s->lines);
}

/* ---- input ---- */

static void put_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg;
	bool held = stream_is_held(s);

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	s->putting = false;
	if (!m || s->exited || !s->proc)
		return;
	if (m->type == KEEP_FAIL) {
		/* Its end follows if its input is closed. */
		if (m->b == ERR_BUSY)
			again_in(s, RETRY_MS);
		return;
	}
	/* Lost, it is sent again, which does no harm. */
	db_begin(&s->d->db);
	db_run(&s->d->db, NULL,
	       "DELETE FROM session_outbox WHERE session=? AND at+length(CAST(line AS BLOB))<=?",
	       "ii", s->row, (int64_t)m->n);
	db_end_later(&s->d->db);
	if (s->replies) {
		sqlite3_stmt *q = db_query(
			&s->d->db,
			"SELECT coalesce(sum(length(CAST(line AS BLOB))),0) FROM session_outbox "
			"WHERE session=? AND reply=1",
			"i", s->row);

		s->replies = db_next(q) ? (uint64_t)db_int(q, 0) : 0;
		db_done(q);
	}
	put_step(s);
	if (held && !stream_is_held(s))
		stream_kick(s);
}

/* The first lines that wait; 0: none. */
static size_t outbox_read(struct session *s, struct buf *b, uint64_t *ret_at)
{
	sqlite3_stmt *q =
		db_query(&s->d->db,
			 "SELECT at,line FROM session_outbox WHERE session=? ORDER BY at LIMIT 64",
			 "i", s->row);

	while ((!b->len || b->len < PUT_BYTES) && db_next(q)) {
		const char *line = db_text(q, 1);

		if (!b->len)
			*ret_at = (uint64_t)db_int(q, 0);
		buf_add(b, line, strlen(line));
	}
	db_done(q);
	return b->len;
}

void put_step(struct session *s)
{
	struct keep_msg m = { .type = KEEP_PUT, .proc = s->proc };
	struct buf b = { 0 };
	int fd = -1, err;

	if (s->putting || !s->attached || !s->keeper || !s->proc || s->exited ||
	    !outbox_read(s, &b, &m.n))
		return;
	if (b.len < KEEP_TEXT) { /* the keeper ends each text with a NUL */
		memcpy(m.text, b.p, b.len);
		m.a = (int)b.len;
	} else {
		fd = memfd_sealed("viv-input", b.p, b.len);
	}
	buf_free(&b);
	err = fd < 0 && !m.a ? -EMFILE
			     : link_ask(s->keeper, &m, &fd, fd >= 0 ? 1 : 0, put_answer, s);
	if (fd >= 0)
		close(fd);
	s->putting = !err;
	if (err)
		again_in(s, RETRY_MS);
}
