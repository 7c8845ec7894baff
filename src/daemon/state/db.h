/* vivd's state: one SQLite database in WAL mode, written by one process. Statements are prepared
 * once.
 *
 * Values are bound by a format of one letter each: t text (NULL: null), i int64_t, b bytes and
 * their size_t. A failure (a full disk) is an error 507 and leaves the database as it was before
 * the transaction.
 *
 * What nobody waits for to be written (what keepers tell) can be kept for a moment and written
 * together with the next change, or by db_flush: before an answer is given, and soon in any
 * case. */
#ifndef VIV_DAEMON_STATE_DB_H
#define VIV_DAEMON_STATE_DB_H

#include <sqlite3.h>

#include "base/err.h"

#define DB_STATEMENTS 384

struct db {
	sqlite3 *sql;
	struct {
		const char *text; /* compared by address: a literal of the caller */
		sqlite3_stmt *stmt;
	} cache[DB_STATEMENTS];
	unsigned ncache;
	unsigned depth; /* of transactions; only the outermost is one */
	bool failed; /* something within it went wrong: it is rolled back */
	bool held; /* a transaction is open whose changes are still to be written */
	/* one was opened: db_flush is to follow soon; NULL: nothing is held */
	void (*hold)(struct db *db);
	/* Its log is long, and db_shorten is to be called, by another thread at best; NULL: that is
	 * done at once. */
	void (*full)(struct db *db);
	void (*lost)(struct db *db); /* what was held could not be written; NULL: nobody cares */
	bool shortening; /* set before full is called, to be cleared afterwards */
	int pages, next; /* of the log after the last commit, and when full is called */
	void *arg; /* of both */
	char file[4200];
	int dirs[2]; /* where it is, and the store: room is kept back there (store/room.h); -1 */
};

/* Opens or makes it at path/state.db. store: the directory of the store, or -1; borrowed for a
 * call. */
int db_open(struct db *db, const char *path, int store, struct err *e);
void db_close(struct db *db);

/* Runs one that gives no rows. How many rows changed, or -1. */
int db_run(struct db *db, struct err *f, const char *sql, const char *fmt, ...);
/* A query that is ready for db_next; NULL: db_next gives no row. Ends with db_done. */
sqlite3_stmt *db_query(struct db *db, const char *sql, const char *fmt, ...);
bool db_next(sqlite3_stmt *q);
void db_done(sqlite3_stmt *q);
int64_t db_int(sqlite3_stmt *q, int column);
/* Never NULL; until the next db_next. */
const char *db_text(sqlite3_stmt *q, int column);
/* The same for bytes. */
const void *db_blob(sqlite3_stmt *q, int column, size_t *ret_n);

/* Everything between is one change. db_end gives 0 or, when anything within failed, -1. */
void db_begin(struct db *db);
int db_end(struct db *db, struct err *f);
/* The same, but it may be written later. */
void db_end_later(struct db *db);
/* Moves what is in the log to the database, which waits for the disk; by a connection of its
 * own. */
void db_shorten(const char *file);
/* Writes what was kept. */
void db_flush(struct db *db);
/* Something is about to be removed, for which records have to be written: on a full disk, what was
 * kept back for that is given up. */
void db_room_give(struct db *db);
/* It was, or nothing needs to be: room is kept back again if there is some. */
void db_room_keep(struct db *db);

#endif
