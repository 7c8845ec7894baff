/* The state database: changes that are written at once and changes that are kept for a moment, seen
 * by another connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/state/db.h"
#include "tap.h"

static struct db db;
static struct err f;
static unsigned held, full, lost;

static void on_hold(struct db *which)
{
	(void)which;
	held++;
}

static void on_full(struct db *which)
{
	full++;
	db_shorten(which->file);
	which->shortening = false;
}

static void on_lost(struct db *which)
{
	(void)which;
	lost++;
}

static int refuse(void *arg)
{
	(void)arg;
	return 1;
}

static int put(const char *id)
{
	return db_run(&db, NULL,
		      "INSERT INTO tokens(id,hash,name,scope,created,expires,used) "
		      "VALUES(?,'','','admin',0,0,0)",
		      "t", id);
}

/* What somebody else sees. */
static long long rows(void)
{
	sqlite3 *other = NULL;
	sqlite3_stmt *q = NULL;
	long long n = -1;

	if (sqlite3_open_v2(db.file, &other, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(other, "SELECT count(*) FROM tokens", -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(other);
	return n;
}

static void keeping(void)
{
	db_begin(&db);
	put("a");
	db_end_later(&db);
	eq(held, 1, "kept, and somebody was told");
	eq(rows(), 0, "not written yet");
	db_begin(&db);
	put("b");
	db_end_later(&db);
	eq(held, 1, "told once");
	db_flush(&db);
	eq(rows(), 2, "written together");
	db_flush(&db);

	db_begin(&db);
	put("c");
	db_end_later(&db);
	db_begin(&db);
	put("d");
	put("d");
	eq(db_end(&db, &f), -1, "a change that goes wrong");
	eq(rows(), 2, "what was kept before it waits on");
	db_flush(&db);
	eq(rows(), 3, "and is not lost with it");

	db_begin(&db);
	put("d");
	db_end_later(&db);
	db_begin(&db);
	put("d");
	db_end_later(&db);
	db_flush(&db);
	eq(rows(), 4, "nor with one that was to be kept");

	db_begin(&db);
	put("e");
	db_end_later(&db);
	db_begin(&db);
	db_begin(&db);
	put("f");
	db_end_later(&db);
	eq(rows(), 4, "within another it waits for that");
	eq(db_end(&db, &f), 0, "the next change");
	eq(rows(), 6, "takes all with it");

	db_begin(&db);
	put("g");
	db_end_later(&db);
	put("h");
	eq(rows(), 8, "as does a statement by itself");
}

static void log_is_bounded(void)
{
	char wal[4300], id[16];
	struct stat st;
	long long most = 0;

	snprintf(wal, sizeof(wal), "%s-wal", db.file);
	for (int i = 0; i < 4000; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		put(id);
		if (stat(wal, &st) == 0 && st.st_size > most)
			most = st.st_size;
	}
	ok(full > 0, "another was asked to shorten the log");
	ok(most < 10 << 20, "it stays below 10 MiB");
	eq(rows(), 4008, "all is there");
}

/* What was kept cannot be written, or SQLite has undone it: whoever believes in it is told. */
static void losing(void)
{
	long long before = rows();

	db.lost = on_lost;
	db_begin(&db);
	put("x");
	db_end_later(&db);
	sqlite3_commit_hook(db.sql, refuse, NULL);
	db_flush(&db);
	sqlite3_commit_hook(db.sql, NULL, NULL);
	eq(lost, 1, "it cannot be written: told");
	eq(rows(), before, "nothing of it is there");
	db_begin(&db);
	put("x");
	db_end_later(&db);
	sqlite3_exec(db.sql, "ROLLBACK", NULL, NULL, NULL);
	db_begin(&db);
	eq(lost, 2, "it was undone: told before the next change");
	put("y");
	eq(db_end(&db, &f), 0, "which is made");
	eq(rows(), before + 1, "alone");
	db_run(&db, NULL, "DELETE FROM tokens WHERE id='y'", "");
	db.lost = NULL;
}

int main(void)
{
	char dir[] = "/tmp/viv-db.XXXXXX", path[64];
	struct err e;

	if (!mkdtemp(dir) || db_open(&db, dir, -1, &e) < 0)
		return 1;
	db.hold = on_hold;
	db.full = on_full;
	keeping();
	losing();
	log_is_bounded();
	db_begin(&db);
	put("last");
	db_end_later(&db);
	db_close(&db);
	eq(rows(), 4009, "closed, all is written");
	snprintf(path, sizeof(path), "%s/state.db", dir);
	unlink(path);
	rmdir(dir);
	return tap_end();
}
