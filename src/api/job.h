/* Slow work for a request, in a process of its own: viv-store works on images, viv-keeper on disks
 * (keeper/disk/tool.h).
 *
 * The process writes its result to standard output: one object of JSON, or what becomes the body of
 * the answer as it is. To standard error it writes lines of JSON: {"progress":{...}}, and
 * {"code","message"} for warnings and for why it failed. A client that goes away ends it: its group
 * gets SIGTERM, and it removes what it began. The job stays until the process has ended, and done()
 * is called if it succeeded all the same. */
#ifndef VIV_API_JOB_H
#define VIV_API_JOB_H

#include "api/http/request.h"

struct job;

enum job_answer {
	JOB_OBJECT, /* the object, when the process has ended */
	/* lines of progress, then the object, as NDJSON; an error before the first line is an
	 * answer of its own */
	JOB_PROGRESS,
	JOB_LINES, /* what it writes are lines of JSON; one more tells why they end early */
	JOB_BYTES, /* what it writes; the connection breaks if it ends early */
};

struct job_options {
	const char *program;
	enum job_answer answer;
	const char *type; /* of JOB_BYTES */
	unsigned status; /* of JOB_OBJECT: 200, 201 or 204 */
	enum err_kind failed; /* what "failed" means; 0: that itself */
	/* an object is the answer whatever the exit status is, with "problems" for what it said */
	bool verdict;
	bool stays; /* it follows something for as long as the client does: not counted as work */
	bool upload; /* the body of the request is its standard input */
	/* It has succeeded; result is the object (NULL: none) and may be added to. cell: id of
	 * job_cell, or "". */
	void (*done)(struct job *j, json_t *result);
};

/* Then job_word() for each argument, and job_start(). NULL: answered (too many run). */
struct job *job_new(struct request *r, const struct job_options *o);
void job_word(struct job *j, const char *word);
/* NAME VALUE, unless value is NULL. */
void job_option(struct job *j, const char *name, const char *value);
/* For done(). */
void job_note(struct job *j, const char *cell, const char *text);
/* What is answered instead of its own object. */
void job_result_set(struct job *j, json_t *answer);
struct daemon *job_daemon(const struct job *j);
const char *job_cell(const struct job *j);
const char *job_text(const struct job *j);
void job_start(struct job *j, struct request *r);
/* Instead of that: the request was answered. */
void job_drop(struct job *j);
/* How many run: those of clients that went away count until their process has ended. */
unsigned job_count(void);

/* For done(): the event of an image that was made (images.c), by an import or of a cell. */
void image_created(struct job *j, json_t *result);
void images_collected(struct job *j, json_t *result);

#endif
