/* See db.h. */
#include "daemon/state/db.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/room.h"

#define LOG_PAGES 500 /* then another thread shortens it */
#define LOG_MOST 2000

/* What each version of the schema adds to the one before; user_version counts them. */
static const char *const migrations[] = {
	"CREATE TABLE tokens(id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, scope "
	"TEXT NOT NULL, cell TEXT,"
	" created INTEGER NOT NULL, expires INTEGER NOT NULL, used INTEGER NOT NULL);"
	"CREATE TABLE events(seq INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, type "
	"TEXT NOT NULL, cell TEXT,"
	" data TEXT NOT NULL);"
	"CREATE TABLE cells(id TEXT PRIMARY KEY, name TEXT UNIQUE, spec TEXT NOT NULL, state "
	"INTEGER NOT NULL,"
	" wanted INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL, started INTEGER NOT NULL "
	"DEFAULT 0,"
	" ended INTEGER NOT NULL DEFAULT 0, status INTEGER NOT NULL DEFAULT -1, reason TEXT NOT "
	"NULL DEFAULT '',"
	" detail TEXT NOT NULL DEFAULT '', restarts INTEGER NOT NULL DEFAULT 0, seen INTEGER NOT "
	"NULL DEFAULT 0);"
	"CREATE TABLE keys(owner TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, status "
	"INTEGER NOT NULL,"
	" reply TEXT NOT NULL, time INTEGER NOT NULL, PRIMARY KEY(owner, key));",
	/* Named cells that are being made: what they are to be, until they have a row. */
	"CREATE TABLE making(name TEXT PRIMARY KEY, spec TEXT NOT NULL);",
	/* Volumes that projects made. */
	"CREATE TABLE project_volumes(volume TEXT PRIMARY KEY, project TEXT NOT NULL);"
	"CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL);",
	"ALTER TABLE cells ADD COLUMN health TEXT NOT NULL DEFAULT '';",
	/* Cells whose keeper is being told of other limits: KEEP_L_. */
	"CREATE TABLE changing(id TEXT PRIMARY KEY, limits INTEGER NOT NULL);",
	/* Cells that 'viv run' made: the settings of which run they have (store/runspec.h). */
	"ALTER TABLE cells ADD COLUMN run INTEGER NOT NULL DEFAULT 0;",
	/* What cells used of the network (cells/uses.h). */
	"CREATE TABLE uses(cell TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY(cell, text)) "
	"WITHOUT ROWID;",
	/* Questions of cells; run and ask are the keeper's names for one (wire/keeper.h). */
	"CREATE TABLE approvals(id INTEGER PRIMARY KEY AUTOINCREMENT, cell TEXT NOT NULL, run "
	"INTEGER NOT NULL, ask INTEGER NOT NULL,"
	" state TEXT NOT NULL, question TEXT NOT NULL, created INTEGER NOT NULL, answered INTEGER "
	"NOT NULL, by TEXT NOT NULL);"
	"CREATE INDEX approvals_cell ON approvals(cell, state);",
	/* Ports of cells for browsers (previews/previews.h). */
	"CREATE TABLE previews(id TEXT PRIMARY KEY, cell TEXT NOT NULL, port INTEGER NOT NULL, "
	"created INTEGER NOT NULL, expires INTEGER NOT NULL);",
	/* "secrets" were the variables whose values are not shown; now they are secrets by name. */
	"UPDATE cells SET spec=json_remove(json_set(spec,'$.hidden_env',json(json_extract(spec,"
	"'$.secrets'))),'$.secrets') WHERE json_type(spec,'$.secrets')='array';"
	"UPDATE making SET spec=json_remove(json_set(spec,'$.hidden_env',json(json_extract(spec,"
	"'$.secrets'))),'$.secrets') WHERE json_type(spec,'$.secrets')='array';",
	/* Sessions of agents (sessions/sessions.h): what changes rarely, and numbers that change
	 * with each event; the transcript; lines for the agent by their place in its input; prompts
	 * that wait; the agent's requests that are served; texts that can be searched. */
	"CREATE TABLE sessions(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, "
	"cell TEXT "
	"NOT NULL, spec TEXT NOT NULL, live TEXT NOT NULL, state INTEGER NOT NULL, phase INTEGER "
	"NOT "
	"NULL, created INTEGER NOT NULL);"
	"CREATE TABLE session_at(row INTEGER PRIMARY KEY, updated INTEGER NOT NULL, seq INTEGER "
	"NOT NULL "
	"DEFAULT 0, first INTEGER NOT NULL DEFAULT 1, bytes INTEGER NOT NULL DEFAULT 0, indexed "
	"INTEGER "
	"NOT NULL DEFAULT 0, run INTEGER NOT NULL DEFAULT 0, proc INTEGER NOT NULL DEFAULT 0, "
	"taken "
	"INTEGER NOT NULL DEFAULT 0, err_at INTEGER NOT NULL DEFAULT 0, skip INTEGER NOT NULL "
	"DEFAULT 0, "
	"put_end INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0, prompts INTEGER NOT "
	"NULL "
	"DEFAULT 0, running INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE session_events(session INTEGER NOT NULL, seq INTEGER NOT NULL, time INTEGER "
	"NOT "
	"NULL, type TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(session, seq)) WITHOUT ROWID;"
	"CREATE TABLE session_outbox(session INTEGER NOT NULL, at INTEGER NOT NULL, reply INTEGER "
	"NOT "
	"NULL, line TEXT NOT NULL, PRIMARY KEY(session, at)) WITHOUT ROWID;"
	"CREATE TABLE session_prompts(session INTEGER NOT NULL, prompt INTEGER NOT NULL, content "
	"TEXT NOT "
	"NULL, PRIMARY KEY(session, prompt)) WITHOUT ROWID;"
	"CREATE TABLE session_asks(ask INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT "
	"NULL, id "
	"TEXT NOT NULL, method TEXT NOT NULL, params TEXT NOT NULL);"
	"CREATE INDEX session_asks_session ON session_asks(session, ask);"
	"CREATE TABLE session_texts(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT "
	"NULL, seq "
	"INTEGER NOT NULL, type TEXT NOT NULL, text TEXT NOT NULL);"
	"CREATE INDEX session_texts_session ON session_texts(session, seq);"
	"CREATE VIRTUAL TABLE transcripts USING fts5(text, content='session_texts', "
	"content_rowid='id');",
	/* Programs of the operator's that cells can call (tools/tools.h). */
	"CREATE TABLE tools(name TEXT PRIMARY KEY, tool TEXT NOT NULL);",
	/* Records on their way to the journals of cells (journal/note.h), and the last known head
	 * of each journal (journal/heads.h). */
	"CREATE TABLE journal_notes(id INTEGER PRIMARY KEY AUTOINCREMENT, cell TEXT NOT NULL, "
	"number INTEGER NOT NULL, frame BLOB NOT NULL);"
	"CREATE INDEX journal_notes_cell ON journal_notes(cell, id);"
	"CREATE TABLE journal_heads(cell TEXT PRIMARY KEY, name TEXT NOT NULL, block INTEGER NOT "
	"NULL, records INTEGER NOT NULL, hash TEXT NOT NULL, time INTEGER NOT NULL, damaged TEXT "
	"NOT NULL) WITHOUT ROWID;",
	/* enum cell_sleep (cells/cells.h), and the ports at which the host listens for a sleeping
	 * cell. */
	"ALTER TABLE cells ADD COLUMN sleep INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE cells ADD COLUMN ports TEXT NOT NULL DEFAULT '';",
	/* Runs of workflows, their steps and the attempts of these (workflows/rows.c). */
	"CREATE TABLE workflow_runs(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL "
	"UNIQUE, "
	"name TEXT NOT NULL, code INTEGER NOT NULL, by TEXT NOT NULL, doc TEXT NOT NULL, inputs "
	"TEXT NOT NULL, live TEXT NOT NULL, state INTEGER NOT NULL, undone INTEGER NOT NULL, "
	"created INTEGER NOT NULL, ended INTEGER NOT NULL, error TEXT NOT NULL);"
	"CREATE TABLE workflow_steps(run INTEGER NOT NULL, path TEXT NOT NULL, n INTEGER NOT NULL, "
	"over_n INTEGER NOT NULL, idx INTEGER NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT "
	"NULL, attempt INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL, due "
	"INTEGER NOT NULL, live TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL, PRIMARY "
	"KEY(run, path)) WITHOUT ROWID;"
	"CREATE TABLE workflow_attempts(run INTEGER NOT NULL, path TEXT NOT NULL, attempt INTEGER "
	"NOT NULL, state INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL, error "
	"TEXT NOT NULL, PRIMARY KEY(run, path, attempt)) WITHOUT ROWID;",
	/* The cell that made a cell (cells/family.h). */
	"ALTER TABLE cells ADD COLUMN parent TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE making ADD COLUMN parent TEXT NOT NULL DEFAULT '';",
	/* Schedules and their runs (schedules/schedules.h). base: its times after this one are
	 * still to come; due: the next one, fire: with jitter; 0: none. */
	"CREATE TABLE schedules(row INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, "
	"cell TEXT NOT NULL, spec TEXT NOT NULL, state INTEGER NOT NULL, created INTEGER NOT NULL, "
	"base INTEGER NOT NULL, due INTEGER NOT NULL, fire INTEGER NOT NULL, fired INTEGER NOT "
	"NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX schedules_fire ON schedules(fire) WHERE fire>0;"
	"CREATE INDEX schedules_cell ON schedules(cell);"
	"CREATE TABLE schedule_runs(id INTEGER PRIMARY KEY AUTOINCREMENT, schedule INTEGER NOT "
	"NULL, reason TEXT NOT NULL, due INTEGER NOT NULL, fired INTEGER NOT NULL, state INTEGER "
	"NOT NULL, started INTEGER NOT NULL DEFAULT 0, ended INTEGER NOT NULL DEFAULT 0, live TEXT "
	"NOT NULL DEFAULT '{}', result TEXT NOT NULL DEFAULT '{}', output BLOB NOT NULL DEFAULT "
	"x'');"
	"CREATE INDEX schedule_runs_schedule ON schedule_runs(schedule, id);"
	"CREATE INDEX schedule_runs_open ON schedule_runs(state, id) WHERE state<3;",
	/* What the last run of a cell left (cells/result.h). A cell whose command ended by itself
	 * with status 0, and which is not to be started again, was 'stopped' (6) and is 'completed'
	 * (10). */
	"ALTER TABLE cells ADD COLUMN result TEXT NOT NULL DEFAULT '';"
	"UPDATE cells SET state=10 WHERE state=6 AND status=0 AND reason='exited' AND wanted=0;",
	/* What projects declare (projects/automation.h): source is what the file says of it. short:
	 * the name in the file. */
	"ALTER TABLE schedules ADD COLUMN project TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE schedules ADD COLUMN source TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE workflow_defs(name TEXT PRIMARY KEY, project TEXT NOT NULL, short TEXT NOT "
	"NULL, doc TEXT NOT NULL) WITHOUT ROWID;",
};

static int db_failed(struct db *db, struct err *f, const char *what)
{
	const char *why = sqlite3_errmsg(db->sql);

	db->failed = true;
	log_warn("the state database: %s: %s", what, why);
	if (f) {
		err_note(f, ERR_STORAGE,
			 "vivd cannot write its state" REMEDY
			 "check the space and the rights of its state "
			 "directory");
		err_cause(f, why);
	}
	return -1;
}

static int db_migrate(struct db *db, struct err *e)
{
	sqlite3_stmt *q;
	int version = 0;
	char text[64], *why;

	if (sqlite3_prepare_v2(db->sql, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		version = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	if (version > (int)ARRAY_LEN(migrations))
		return err_set(e, ERR_FAILED,
			       "the state was written by a newer vivd" REMEDY
			       "use that one, or another "
			       "XDG_STATE_HOME");
	for (int i = MAX(version, 0); i < (int)ARRAY_LEN(migrations); i++) {
		snprintf(text, sizeof(text), "PRAGMA user_version=%d; COMMIT", i + 1);
		if (sqlite3_exec(db->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL) ||
		    sqlite3_exec(db->sql, migrations[i], NULL, NULL, &why) ||
		    sqlite3_exec(db->sql, text, NULL, NULL, NULL))
			return err_set(e, ERR_FAILED, "cannot prepare the state database: %s",
				       sqlite3_errmsg(db->sql));
	}
	return 0;
}

void db_shorten(const char *file)
{
	sqlite3 *sql = NULL;

	if (sqlite3_open_v2(file, &sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
	    SQLITE_OK)
		sqlite3_wal_checkpoint_v2(sql, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	sqlite3_close(sql);
}

/* After each commit, with the length of the log. */
static int on_wal(void *arg, sqlite3 *sql, const char *name, int pages)
{
	struct db *db = arg;

	if (pages < db->pages || !db->next) /* it began anew */
		db->next = LOG_PAGES;
	db->pages = pages;
	if (pages < db->next || db->shortening)
		return SQLITE_OK;
	/* While we write on, another thread never gets to the log's end, and it can only begin anew
	 * when somebody did. What is left for us is little. */
	if (!db->full || pages >= LOG_MOST)
		return sqlite3_wal_checkpoint_v2(sql, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	db->next = pages + LOG_PAGES;
	db->shortening = true;
	db->full(db);
	return SQLITE_OK;
}

void db_room_give(struct db *db)
{
	for (unsigned i = 0; i < ARRAY_LEN(db->dirs); i++)
		if (db->dirs[i] >= 0)
			room_give(db->dirs[i]);
}

void db_room_keep(struct db *db)
{
	for (unsigned i = 0; i < ARRAY_LEN(db->dirs); i++)
		if (db->dirs[i] >= 0)
			room_keep(db->dirs[i]);
}

int db_open(struct db *db, const char *path, int store, struct err *e)
{
	mode_t mask = umask(077);
	int r, keep = 1;

	memset(db, 0, sizeof(*db));
	snprintf(db->file, sizeof(db->file), "%s/state.db", path);
	db->dirs[0] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	db->dirs[1] = store < 0 ? -1 : fcntl(store, F_DUPFD_CLOEXEC, 3);
	db_room_give(db);
	r = sqlite3_open_v2(db->file, &db->sql,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	/* Killed at any moment, nothing acknowledged is lost; a power cut may take the last moments
	 * and no more. */
	if (r == SQLITE_OK)
		r = sqlite3_exec(db->sql,
				 "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
				 "PRAGMA busy_timeout=2000; PRAGMA cache_size=-1024; PRAGMA "
				 "temp_store=MEMORY;"
				 "PRAGMA journal_size_limit=8388608",
				 NULL, NULL, NULL);
	/* The log stays when vivd ends: with its place on the disk, the state can be opened and
	 * changed when there is no other. */
	if (r == SQLITE_OK)
		sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
	sqlite3_wal_hook(db->sql, on_wal, db);
	umask(mask);
	if (r != SQLITE_OK)
		return err_set(e, ERR_FAILED, "cannot open '%s': %s", db->file,
			       db->sql ? sqlite3_errmsg(db->sql) : "out of memory");
	if (db_migrate(db, e) < 0)
		return -1;
	db_room_keep(db);
	return 0;
}

void db_close(struct db *db)
{
	db_flush(db);
	for (unsigned i = 0; i < db->ncache; i++)
		sqlite3_finalize(db->cache[i].stmt);
	db->ncache = 0;
	sqlite3_close(db->sql);
	db->sql = NULL;
	for (unsigned i = 0; i < ARRAY_LEN(db->dirs); i++)
		if (db->dirs[i] >= 0)
			close(db->dirs[i]);
}

static sqlite3_stmt *statement(struct db *db, const char *sql)
{
	sqlite3_stmt *s = NULL;

	for (unsigned i = 0; i < db->ncache; i++)
		if (db->cache[i].text == sql)
			return db->cache[i].stmt;
	if (db->ncache == DB_STATEMENTS)
		log_die("too many statements for the state database");
	if (sqlite3_prepare_v3(db->sql, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL)) {
		log_warn("the state database: %s: %s", sql, sqlite3_errmsg(db->sql));
		return NULL;
	}
	db->cache[db->ncache].text = sql;
	db->cache[db->ncache++].stmt = s;
	return s;
}

static void values_bind(sqlite3_stmt *s, const char *fmt, va_list ap)
{
	for (int i = 1; *fmt; fmt++, i++) {
		if (*fmt == 'i') {
			sqlite3_bind_int64(s, i, va_arg(ap, int64_t));
		} else if (*fmt == 'b') {
			const void *p = va_arg(ap, const void *);
			size_t n = va_arg(ap, size_t);

			sqlite3_bind_blob64(s, i, p, n, SQLITE_TRANSIENT);
		} else {
			const char *text = va_arg(ap, const char *);

			if (text)
				sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
			else
				sqlite3_bind_null(s, i);
		}
	}
}

static int statement_run(struct db *db, struct err *f, const char *sql, const char *fmt, va_list ap)
{
	sqlite3_stmt *s = statement(db, sql);
	int r;

	if (!s)
		return db_failed(db, f, sql);
	values_bind(s, fmt, ap);
	r = sqlite3_step(s);
	if (r != SQLITE_DONE && r != SQLITE_ROW) {
		db_failed(db, f, sql);
		sqlite3_reset(s);
		return -1;
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return sqlite3_changes(db->sql);
}

int db_run(struct db *db, struct err *f, const char *sql, const char *fmt, ...)
{
	va_list ap;
	int n;

	/* By itself it is a change of its own. */
	if (!db->depth && db->held)
		db_flush(db);
	va_start(ap, fmt);
	n = statement_run(db, f, sql, fmt, ap);
	va_end(ap);
	return n;
}

sqlite3_stmt *db_query(struct db *db, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *s = statement(db, sql);
	va_list ap;

	if (!s)
		return NULL;
	va_start(ap, fmt);
	values_bind(s, fmt, ap);
	va_end(ap);
	return s;
}

bool db_next(sqlite3_stmt *q)
{
	return q && sqlite3_step(q) == SQLITE_ROW;
}

void db_done(sqlite3_stmt *q)
{
	if (q) {
		sqlite3_reset(q);
		sqlite3_clear_bindings(q);
	}
}

int64_t db_int(sqlite3_stmt *q, int column)
{
	return sqlite3_column_int64(q, column);
}

const char *db_text(sqlite3_stmt *q, int column)
{
	const unsigned char *s = sqlite3_column_text(q, column);

	return s ? (const char *)s : "";
}

const void *db_blob(sqlite3_stmt *q, int column, size_t *ret_n)
{
	const void *p = sqlite3_column_blob(q, column);

	*ret_n = p ? (size_t)sqlite3_column_bytes(q, column) : 0;
	return p ? p : "";
}

/* One of the words that steer transactions. */
static int word_run(struct db *db, struct err *f, const char *sql, ...)
{
	va_list ap;
	int n;

	va_start(ap, sql);
	n = statement_run(db, f, sql, "", ap);
	va_end(ap);
	return n;
}

void db_begin(struct db *db)
{
	if (db->depth++)
		return;
	db->failed = false;
	if (sqlite3_get_autocommit(db->sql)) { /* undone by SQLite itself, for want of room */
		bool held = db->held;

		db->held = false;
		if (held && db->lost)
			db->lost(db);
	}
	/* Within what is kept: it can go wrong alone. */
	if (word_run(db, NULL, db->held ? "SAVEPOINT change" : "BEGIN IMMEDIATE") < 0)
		db->failed = true;
}

/* The change is complete, or it is undone. */
static int change_end(struct db *db)
{
	if (!db->held)
		return db->failed ? -1 : 0;
	if (db->failed)
		word_run(db, NULL, "ROLLBACK TO change");
	return word_run(db, NULL, "RELEASE change") < 0 || db->failed ? -1 : 0;
}

static int commit(struct db *db, struct err *f)
{
	bool held = db->held;

	db->held = false;
	if (word_run(db, f, "COMMIT") >= 0)
		return 0;
	if (!sqlite3_get_autocommit(db->sql))
		word_run(db, NULL, "ROLLBACK");
	if (held && db->lost)
		db->lost(db);
	return -1;
}

void db_flush(struct db *db)
{
	if (db->held && !db->depth)
		commit(db, NULL);
}

void db_end_later(struct db *db)
{
	if (!db->hold || db->depth > 1) {
		db_end(db, NULL);
		return;
	}
	db->depth--;
	if (change_end(db) == 0 && !db->held) {
		db->held = true;
		db->hold(db);
	} else if (!db->held && !sqlite3_get_autocommit(db->sql)) {
		word_run(db, NULL, "ROLLBACK");
	}
}

int db_end(struct db *db, struct err *f)
{
	if (--db->depth)
		return db->failed ? -1 : 0;
	if (change_end(db) == 0) {
		if (commit(db, f) == 0)
			return 0;
	} else if (!db->held && !sqlite3_get_autocommit(db->sql)) {
		word_run(db, NULL, "ROLLBACK");
	}
	if (f && !f->kind)
		err_note(f, ERR_STORAGE,
			 "vivd cannot write its state" REMEDY "check the space on its disk");
	return -1;
}
