/* See heads.h. */
#include "daemon/journal/heads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/journal/note.h"
#include "daemon/state/fields.h"
#include "host/journalgone.h"
#include "journal/hash.h"

#define LOOK_MS 60000
#define GONE_MAX (256 << 10) /* bytes of what others have removed; the rest has its turn later */

static struct journal_limits limits;
static uv_timer_t timer;
static bool looking;
static unsigned removing; /* journals that are being removed now */
static struct buf known; /* struct journal_info, sorted by id */
static void (*met_before)(struct cell *c);

/* ---- heads ---- */

bool head_kept(struct daemon *d, const char *id, struct journal_kept *ret)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT block,records,hash,time,damaged FROM journal_heads "
				   "WHERE cell=?",
				   "t", id);
	bool found = db_next(q);

	memset(ret, 0, sizeof(*ret));
	if (found) {
		ret->block = (uint64_t)db_int(q, 0);
		ret->records = (uint64_t)db_int(q, 1);
		snprintf(ret->hash, sizeof(ret->hash), "%s", db_text(q, 2));
		ret->time = db_int(q, 3);
		snprintf(ret->damaged, sizeof(ret->damaged), "%s", db_text(q, 4));
	}
	db_done(q);
	return found;
}

bool head_by_name(struct daemon *d, const char *name, char id[CELL_ID_LEN + 1])
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT cell FROM journal_heads WHERE name=? AND name<>'' ORDER "
				   "BY time DESC LIMIT 1",
				   "t", name);
	bool found = db_next(q);

	if (found)
		snprintf(id, CELL_ID_LEN + 1, "%s", db_text(q, 0));
	db_done(q);
	return found;
}

/* Why it does not go with what is kept; "": it does. */
static void head_compare(const struct journal_kept *k, const struct journal_info *j,
			 const char *hash, char *why, size_t size)
{
	*why = '\0';
	if (j->tip.block < k->block)
		snprintf(why, size, "it ended with block %llu and ends with block %llu now",
			 (unsigned long long)k->block, (unsigned long long)j->tip.block);
	else if (j->tip.block == k->block && strcmp(hash, k->hash) != 0)
		snprintf(why, size, "block %llu is another one than before",
			 (unsigned long long)k->block);
	else if (j->tip.records < k->records)
		snprintf(why, size, "it had %llu records and has %llu now",
			 (unsigned long long)k->records, (unsigned long long)j->tip.records);
}

static void damaged(struct daemon *d, const struct journal_info *j, const char *why)
{
	db_begin(&d->db);
	db_run(&d->db, NULL, "UPDATE journal_heads SET damaged=? WHERE cell=?", "tt", why, j->id);
	event_add(d, "journal.damaged", j->id,
		  json_pack("{s:s,s:o}", "name", j->name, "reason", json_clean(why)));
	db_end(&d->db, NULL);
	log_warn("the journal of cell %s: %s", j->id, why);
}

void head_take(struct daemon *d, const struct journal_info *j)
{
	struct journal_kept k;
	bool found = head_kept(d, j->id, &k);
	char hash[HASH_HEX], why[sizeof(k.damaged)] = "";

	hash_hex(j->tip.hash, sizeof(j->tip.hash), hash);
	/* One that cannot be read may have been cut anywhere. */
	if (j->e.kind && j->e.kind != ERR_NOT_FOUND)
		snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, j->e.message);
	else if (found)
		head_compare(&k, j, hash, why, sizeof(why));
	if (!found && (j->tip.block || why[0]))
		db_run(&d->db, NULL,
		       "INSERT INTO journal_heads(cell,name,block,records,hash,time,damaged) "
		       "VALUES(?,?,?,?,?,?,'')",
		       "ttiiti", j->id, j->name, (int64_t)j->tip.block, (int64_t)j->tip.records,
		       hash, time_now());
	else if (found && !why[0] && (j->tip.block > k.block || k.damaged[0]))
		db_run(&d->db, NULL,
		       "UPDATE journal_heads SET name=?,block=?,records=?,hash=?,time=?,damaged='' "
		       "WHERE cell=?",
		       "tiitit", j->name, (int64_t)j->tip.block, (int64_t)j->tip.records, hash,
		       time_now(), j->id);
	if (why[0] && strcmp(why, k.damaged) != 0)
		damaged(d, j, why);
}

/* ---- clean-up ---- */

size_t journals_expired(const struct journal_info *list, size_t n, const struct journal_limits *l,
			int64_t now, size_t *ret)
{
	struct buf aged = { 0 };
	size_t gone;

	/* One that a cell makes grow must not push the others out. */
	for (size_t i = 0; i < n; i++)
		if (!list[i].running)
			buf_add(&aged, &(struct journal_aged){ i, list[i].written, list[i].space },
				sizeof(struct journal_aged));
	gone = limits_exceeded((struct journal_aged *)(void *)aged.p,
			       BUF_COUNT(&aged, struct journal_aged), l, now);
	for (size_t i = 0; i < gone; i++)
		ret[i] = BUF_ITEM(&aged, struct journal_aged, i)->index;
	buf_free(&aged);
	return gone;
}

struct removal {
	uv_work_t work;
	struct daemon *d;
	struct journal_info j;
	const char *reason;
	struct err e;
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

static void gone_note(struct daemon *d, const struct journal_info *j, const char *reason)
{
	db_begin(&d->db);
	db_run(&d->db, NULL, "DELETE FROM journal_heads WHERE cell=?", "t", j->id);
	event_add(d, "journal.removed", j->id,
		  json_pack("{s:o,s:I,s:I,s:s}", "name", json_clean(j->name), "records",
			    (json_int_t)j->records, "bytes", (json_int_t)j->bytes, "reason",
			    reason));
	db_end(&d->db, NULL);
}

static void remove_work(uv_work_t *w)
{
	struct removal *x = w->data;

	(void)!journal_remove(x->j.id, &x->e);
}

static void remove_done(uv_work_t *w, int status)
{
	struct removal *x = w->data;

	(void)status;
	removing--;
	if (!x->e.kind)
		gone_note(x->d, &x->j, x->reason);
	if (x->done)
		x->done(x->arg, x->e.kind ? &x->e : NULL);
	else if (x->e.kind)
		log_warn("%s", x->e.message);
	free(x);
}

void journal_delete(struct daemon *d, const struct journal_info *j, const char *reason,
		    void (*done)(void *arg, const struct err *e), void *arg)
{
	struct removal *x = xalloc(sizeof(*x));

	x->d = d;
	x->j = *j;
	x->reason = reason;
	x->done = done;
	x->arg = arg;
	x->work.data = x;
	removing++;
	uv_queue_work(&d->loop, &x->work, remove_work, remove_done);
}

static void journals_clean(struct daemon *d, const struct journal_info *list, size_t n)
{
	size_t *gone = xalloc((n + 1) * sizeof(*gone));
	int64_t now = time_now();
	size_t ngone = journals_expired(list, n, &limits, now, gone);

	for (size_t i = 0; i < ngone; i++) {
		const struct journal_info *j = &list[gone[i]];

		journal_delete(d, j, limits.age && now - j->written > limits.age ? "age" : "size",
			       NULL, NULL);
	}
	free(gone);
}

/* ---- looking ---- */

static int id_compare(const void *key, const void *item)
{
	const struct journal_info *j = item;

	return strcmp(key, j->id);
}

/* Why it was removed by others than us, on purpose; false: nobody says so. */
static bool gone_reason(const char *lines, const char *id, const char **ret)
{
	static const char *const reasons[] = { "age", "size", "asked" };
	size_t n = strlen(id);

	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
		for (unsigned i = 0; i < ARRAY_LEN(reasons); i++)
			if (!strncmp(at, id, n) && at[n] == ' ' &&
			    !strncmp(at + n + 1, reasons[i], strlen(reasons[i]))) {
				*ret = reasons[i];
				return true;
			}
	return false;
}

/* Journals that were there and are not. lines: of journal_gone_take(). */
static void heads_missing(struct daemon *d, const struct journal_info *list, size_t n,
			  const char *lines)
{
	struct buf gone = { 0 };
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT cell,name,records FROM journal_heads WHERE damaged=''",
			 "");

	while (db_next(q)) {
		struct journal_info j = { .records = (uint64_t)db_int(q, 2) };

		snprintf(j.id, sizeof(j.id), "%s", db_text(q, 0));
		snprintf(j.name, sizeof(j.name), "%s", db_text(q, 1));
		if (!n || !bsearch(j.id, list, n, sizeof(*list), id_compare))
			buf_add(&gone, &j, sizeof(j));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&gone, struct journal_info); i++) {
		const struct journal_info *j = BUF_ITEM(&gone, struct journal_info, i);
		const char *reason;

		if (gone_reason(lines, j->id, &reason))
			gone_note(d, j, reason);
		else
			damaged(d, j, "its files are gone");
	}
	buf_free(&gone);
}

const struct journal_info *journal_known(const char *id)
{
	return known.len ? bsearch(id, known.p, BUF_COUNT(&known, struct journal_info),
				   sizeof(struct journal_info), id_compare)
			 : NULL;
}

/* The directory of all; -1: there is none. */
static int journals_dir(void)
{
	char path[4200];
	struct err e;

	return journal_path(path, sizeof(path), NULL, &e) < 0 ? -1 : journal_dir_open(path, &e);
}

static void looked(void *arg, const struct journal_info *list, size_t n, const struct err *e)
{
	static char lines[GONE_MAX + 1];
	struct daemon *d = arg;
	int dir;

	looking = false;
	if (e) {
		log_warn("journals: %s", e->message);
		return;
	}
	dir = journals_dir();
	lines[dir < 0 || removing ? 0 : journal_gone_take(dir, lines, GONE_MAX)] = '\0';
	db_begin(&d->db);
	for (size_t i = 0; i < n; i++)
		head_take(d, &list[i]);
	if (!removing)
		heads_missing(d, list, n, lines);
	db_end(&d->db, NULL);
	if (lines[0]) {
		db_flush(&d->db);
		journal_gone_done(dir);
	}
	/* So the sealer of the store leaves this to us, now and by our limits later. */
	if (dir >= 0) {
		limits_write(dir, &limits);
		close(dir);
	}
	known.len = 0;
	buf_add(&known, list, n * sizeof(*list));
	journals_clean(d, list, n);
}

static void on_timer(uv_timer_t *t)
{
	struct daemon *d = t->data;

	if (!looking) {
		looking = true;
		journals_scan(d, NULL, looked, d);
	}
}

static void one_looked(void *arg, const struct journal_info *list, size_t n, const struct err *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++)
		head_take(arg, &list[i]);
}

static void cell_met(struct cell *c)
{
	if (met_before)
		met_before(c);
	if (!c->keeper && cell_has_journal(c))
		journals_scan(c->d, c->id, one_looked, c->d);
}

void heads_open(struct daemon *d, const struct journal_limits *l)
{
	limits = *l;
	met_before = d->met;
	d->met = cell_met;
	timer.data = d;
	uv_timer_init(&d->loop, &timer);
	uv_timer_start(&timer, on_timer, 1000, LOOK_MS);
	uv_unref((uv_handle_t *)&timer);
}
