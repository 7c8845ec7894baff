/* /v1/cells/{cell}/files: the files of a cell. Paths are parameters of the query and begin with a
 * slash; percent-encoding carries every byte that a name can have. What is asked is done by
 * viv-files in the cell (fileop.h), as root unless 'user' says otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/files/operation.h"
#include "api/routes.h"
#include "api/http/text.h"
#include "daemon/journal/note.h"

/* The values of a request, all optional but path. */
struct values {
	char *path, *to, *user;
	char mode[16], uid[16], gid[16]; /* "-": not given */
	uint64_t recursive, replace, parents, follow, sync;
};

static void values_free(struct values *v)
{
	free(v->path);
	free(v->to);
	free(v->user);
}

/* A path of the cell; NULL: it is not there or none, and that was answered. */
static char *path_get(struct request *r, const char *name)
{
	bool bad = false;
	char *path = request_query_bytes(r, name, &bad);

	if (bad)
		return NULL;
	if (path && path[0] == '/' && strlen(path) < FILES_LINK)
		return path;
	reply_error(r, ERR_INVALID,
		    path ? "'%s' is a path that begins with a slash and has less than %d bytes"
			 : "the parameter '%s' is missing" REMEDY
			   "it is a path of less than %d bytes",
		    name, FILES_LINK);
	free(path);
	return NULL;
}

/* An octal mode. False: answered. */
static bool mode_get(struct request *r, char mode[16])
{
	bool bad = false;
	char *text = request_query(r, "mode", &bad);

	if (text && (!*text || strlen(text) > 5 || strspn(text, "01234567") != strlen(text) ||
		     strtoul(text, NULL, 8) > 07777)) {
		reply_error(r, ERR_INVALID, "'mode' is written in octal digits and at most 7777");
		bad = true;
	}
	snprintf(mode, 16, "%s", text && !bad ? text : "-");
	free(text);
	return !bad;
}

static bool id_get(struct request *r, const char *name, char id[16])
{
	uint64_t n = UINT64_MAX;

	if (!request_query_number(r, name, UINT32_MAX - 1, &n))
		return false;
	if (n == UINT64_MAX)
		strcpy(id, "-");
	else
		snprintf(id, 16, "%u", (unsigned)n);
	return true;
}

/* Reads the values that the names allow. False: answered, and nothing is to be freed. */
static bool values_get(struct request *r, const char *const *names, struct values *v)
{
	bool bad = false;
	const char *path = "path";

	*v = (struct values){ .replace = 1 };
	if (!request_query_only(r, names))
		return false;
	for (const char *const *n = names; *n; n++)
		if (!strcmp(*n, "from"))
			path = "from";
	v->path = path_get(r, path);
	if (v->path && !strcmp(path, "from"))
		v->to = path_get(r, "to");
	if (!v->path || (!strcmp(path, "from") && !v->to)) {
		values_free(v);
		return false;
	}
	v->user = request_query(r, "user", &bad);
	if (v->user && (!*v->user || strlen(v->user) > 64)) {
		reply_error(r, ERR_INVALID, "'user' is a user of the cell, or UID:GID");
		bad = true;
	}
	if (!bad && mode_get(r, v->mode) && id_get(r, "uid", v->uid) && id_get(r, "gid", v->gid) &&
	    request_query_number(r, "recursive", 1, &v->recursive) &&
	    request_query_number(r, "replace", 1, &v->replace) &&
	    request_query_number(r, "parents", 1, &v->parents) &&
	    request_query_number(r, "follow", 1, &v->follow) &&
	    request_query_number(r, "sync", 1, &v->sync))
		return true;
	values_free(v);
	return false;
}

static const char *on(uint64_t v)
{
	return v ? "1" : "0";
}

/* Noted before it is done: what was asked for is not lost, whatever becomes of it. */
static void change_note(struct cell *c, const char *what, const struct values *v)
{
	char *text = NULL;

	if (asprintf(&text, "%s %s%s%s", what, v->path, v->to ? " to " : "", v->to ? v->to : "") <
	    0)
		return;
	note_operator(c->d, c->id, "files", text);
	free(text);
}

/* All of them are the same but for these. */
static void files_ask(struct request *r, const char *const *names,
		      void (*fill)(const struct values *v, struct fileop_spec *s),
		      struct fileop_spec s)
{
	struct cell *c = request_cell(r);
	struct values v;

	if (!c || !values_get(r, names, &v))
		return;
	s.user = v.user;
	s.stored = r->rights.scope == SCOPE_READ;
	fill(&v, &s);
	if (c->state == CELL_PAUSED)
		reply_error(r, ERR_WRONG_STATE, "the cell is paused" REMEDY "resume it first");
	else if (!c->keeper && (!c->name[0] || cell_state_is_live(c->state) || c->busy))
		reply_error(r, ERR_WRONG_STATE,
			    c->name[0] ? "the cell is %s" REMEDY "try again in a moment"
				       : "the cell is %s, and one without a name keeps no files",
			    cell_state_name(c->state));
	else if (!c->keeper && s.answer == FILEOP_EVENTS)
		reply_error(r, ERR_WRONG_STATE,
			    "the cell does not run, and nothing changes in it" REMEDY
			    "start it first");
	else {
		if (r->route->need != NEED_READ)
			change_note(c, s.words[0], &v);
		fileop_begin(r, c, &s);
	}
	values_free(&v);
}

#define WORDS(s, ...) \
	memcpy((s)->words, (const char *[FILEOP_WORDS]){ __VA_ARGS__ }, sizeof((s)->words))

/* ---- content ---- */

/* One range of bytes; others, and several, are as if they were not there. */
static bool range_parse(const char *text, const char **kind, char a[24], char b[24])
{
	uint64_t first, last;
	char copy[64], *dash;

	if (!text || strncmp(text, "bytes=", 6) || strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text + 6);
	dash = strchr(copy, '-');
	if (!dash)
		return false;
	*dash++ = '\0';
	*kind = *copy ? "from" : "last";
	strcpy(a, "-");
	strcpy(b, "-");
	if (!*copy) {
		if (!text_number(dash, INT64_MAX, &first))
			return false;
		snprintf(a, 24, "%llu", (unsigned long long)first);
		return true;
	}
	if (!text_number(copy, INT64_MAX, &first))
		return false;
	snprintf(a, 24, "%llu", (unsigned long long)first);
	if (!*dash)
		return true;
	if (!text_number(dash, INT64_MAX, &last) || last < first)
		return false;
	snprintf(b, 24, "%llu", (unsigned long long)last);
	return true;
}

static void read_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "read", v->path, s->ranged ? s->range[0] : "all", s->ranged ? s->range[1] : "-",
	      s->ranged ? s->range[2] : "-");
}

void files_get(struct request *r)
{
	static const char *const names[] = { "path", "user", NULL };
	struct fileop_spec s = { .answer = FILEOP_FILE };
	char first[24], last[24];

	s.ranged = range_parse(request_header(r, "Range"), &s.range[0], first, last);
	s.range[1] = first;
	s.range[2] = last;
	files_ask(r, names, read_fill, s);
}

static void write_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "write", v->path, v->mode, v->uid, v->gid, on(v->replace), on(v->sync),
	      on(v->parents));
}

void files_put(struct request *r)
{
	static const char *const names[] = { "path",	"user", "mode",	   "uid", "gid",
					     "replace", "sync", "parents", NULL };

	files_ask(r, names, write_fill,
		  (struct fileop_spec){ .answer = FILEOP_RECORD, .upload = true });
}

/* ---- names ---- */

static void remove_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "remove", v->path, on(v->recursive));
}

void files_delete(struct request *r)
{
	static const char *const names[] = { "path", "user", "recursive", NULL };

	files_ask(r, names, remove_fill, (struct fileop_spec){ .answer = FILEOP_NOTHING });
}

static void stat_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "stat", v->path, on(v->follow));
}

void files_stat_get(struct request *r)
{
	static const char *const names[] = { "path", "user", "follow", NULL };

	files_ask(r, names, stat_fill, (struct fileop_spec){ .answer = FILEOP_RECORD });
}

static void list_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "list", v->path, on(v->recursive));
}

void files_list_get(struct request *r)
{
	static const char *const names[] = { "path", "user", "recursive", NULL };

	files_ask(r, names, list_fill, (struct fileop_spec){ .answer = FILEOP_LINES });
}

static void mkdir_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "mkdir", v->path, on(v->parents), v->mode, v->uid, v->gid);
}

void files_mkdir_post(struct request *r)
{
	static const char *const names[] = {
		"path", "user", "parents", "mode", "uid", "gid", NULL
	};

	files_ask(r, names, mkdir_fill, (struct fileop_spec){ .answer = FILEOP_RECORD });
}

static void move_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "move", v->path, v->to, on(v->replace));
}

void files_move_post(struct request *r)
{
	static const char *const names[] = { "from", "to", "user", "replace", NULL };

	files_ask(r, names, move_fill, (struct fileop_spec){ .answer = FILEOP_RECORD });
}

/* ---- trees ---- */

static void tar_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "tar", v->path, on(v->follow));
}

void files_tar_get(struct request *r)
{
	static const char *const names[] = { "path", "user", "follow", NULL };

	files_ask(r, names, tar_fill,
		  (struct fileop_spec){ .answer = FILEOP_BYTES, .type = "application/x-tar" });
}

static void untar_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "untar", v->path, v->uid, v->gid);
}

void files_tar_put(struct request *r)
{
	static const char *const names[] = { "path", "user", "uid", "gid", NULL };

	files_ask(r, names, untar_fill,
		  (struct fileop_spec){ .answer = FILEOP_NOTHING, .upload = true });
}

static void watch_fill(const struct values *v, struct fileop_spec *s)
{
	WORDS(s, "watch", v->path, on(v->recursive));
}

void files_watch_get(struct request *r)
{
	static const char *const names[] = { "path", "user", "recursive", NULL };

	files_ask(r, names, watch_fill, (struct fileop_spec){ .answer = FILEOP_EVENTS });
}
