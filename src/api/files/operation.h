/* One operation on the files of a cell, done for one request by viv-files in that cell
 * (wire/files.h). */
#ifndef VIV_API_FILES_OPERATION_H
#define VIV_API_FILES_OPERATION_H

#include "api/cells.h"
#include "wire/files.h"

/* What the client is answered. */
enum fileop_answer {
	FILEOP_NOTHING, /* 204 */
	FILEOP_RECORD, /* one record, as an object */
	FILEOP_LINES, /* records, one in each line */
	FILEOP_EVENTS, /* those of a watch */
	FILEOP_FILE, /* a file's bytes, of which a record tells first */
	FILEOP_BYTES, /* bytes until the end */
};

/* The words for viv-files after its name; what they point to stays the caller's. */
#define FILEOP_WORDS 9

struct fileop_spec {
	enum fileop_answer answer;
	const char *words[FILEOP_WORDS]; /* NULL-terminated */
	bool stored; /* stored files only (files/stored.h) */
	const char *user; /* NULL: root */
	const char *type; /* of FILEOP_BYTES */
	bool ranged; /* of FILEOP_FILE: only a part was asked for */
	const char *range[3]; /* then: its words */
	bool upload; /* the request's body is its input */
};

/* Begins it; it answers the request. */
void fileop_begin(struct request *r, struct cell *c, const struct fileop_spec *s);

/* A record as an object (filejson.c). */
json_t *file_json(const struct files_record *rec, const char *path, const char *second);
json_t *file_event_json(const struct files_record *rec, const char *path, const char *second);
/* What an errno of an operation means for the client. about: bytes of anybody's. */
void file_err(struct err *f, int code, const char *about);

#endif
