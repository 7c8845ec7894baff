/* A run as a story: its processes as a tree, what each of them changed, which hosts it was in
 * contact with, and what happened besides (denials, approvals, prompts, limits). What is shown as
 * text (timeline.c) and as a page (timelinehtml.c).
 *
 * Memory is bounded: STORY_PROCESSES processes (what further ones did counts for their nearest
 * parent that is there), STORY_MARKS marks and notes in all, STORY_MARKS_EACH marks of a process;
 * what is above is counted. Times are nanoseconds since the first record, by the monotonic clock,
 * so that a clock that was set does not tear the picture; where that begins anew (another boot of
 * the host), the wall clock is followed. */
#ifndef VIV_JOURNAL_STORY_H
#define VIV_JOURNAL_STORY_H

#include <stdio.h>

#include "journal/processes.h"

#define STORY_PROCESSES 50000
#define STORY_MARKS 400000
#define STORY_MARKS_EACH 64
#define STORY_TEXT 300 /* bytes of a text that is kept */

enum mark_kind {
	MARK_CREATED,
	MARK_WROTE,
	MARK_REMOVED,
	MARK_RENAMED,
	MARK_CHANGED,
	MARK_CONNECT,
	MARK_REQUEST,
	MARK_DENIED, /* from here on they are notes: never summarised */
	MARK_APPROVAL,
	MARK_PROMPT,
	MARK_ANSWER,
	MARK_SESSION,
	MARK_COMMAND,
	MARK_TOOL,
	MARK_LIMIT,
	MARK_OPERATOR,
	MARK_HOLE,
	MARK_CELL, /* it started, it ended */
	MARK_POLICY,
	MARK_KINDS
};
extern const char *const mark_names[MARK_KINDS];

struct story_mark {
	uint64_t seq;
	int64_t at;
	uint32_t next; /* of the same process; 0: the last */
	uint32_t text, n; /* in story.texts */
	uint8_t kind;
};

struct story_process {
	uint32_t parent, first, last, next; /* child and sibling; 0: none */
	uint32_t mark_first, mark_last, nmarks;
	uint32_t program, nprogram, args, nargs; /* in story.texts; args are words */
	int32_t pid;
	uint64_t id, seq;
	int64_t start, end; /* end: -1, it did not end */
	uint64_t code, signal;
	uint64_t counts[MARK_KINDS]; /* also of marks that are left out */
	uint64_t reads, in, out, inbound, execs;
	uint64_t processes; /* further ones that are left out */
	/* of all that is below it and itself, after story_end() */
	uint64_t all_counts[MARK_KINDS], all_processes, all_reads;
	bool notes;
};

struct story {
	struct processes processes;
	struct buf nodes, marks, texts; /* item 0 of nodes is the cell; of marks none */
	uint64_t records, left_out; /* marks */
	int64_t begin, finish, now; /* wall of the first and the last; now: since the first */
	int64_t mono, wall; /* of the record before */
	char id[48], name[80], image[160];
};

void story_init(struct story *s);
void story_fini(struct story *s);
void story_follow(struct story *s, const struct journal_entry *e);
/* A record that is not part of it: only the processes are followed, and the cell's name. */
void story_before(struct story *s, const struct journal_entry *e);
/* The same of a table of processes, instead of all records before it: of a journal_seek. */
bool story_table(void *story, const void *data, size_t n);
/* After the last record, before it is shown. */
void story_end(struct story *s);

static inline struct story_process *story_at(const struct story *s, uint32_t i)
{
	return BUF_ITEM(&s->nodes, struct story_process, i);
}

static inline struct story_mark *mark_at(const struct story *s, uint32_t i)
{
	return BUF_ITEM(&s->marks, struct story_mark, i);
}

static inline uint32_t story_count(const struct story *s)
{
	return (uint32_t)BUF_COUNT(&s->nodes, struct story_process);
}

static inline struct jtext story_text(const struct story *s, uint32_t at, uint32_t n)
{
	return (struct jtext){ (const char *)s->texts.p + at, n };
}

void timeline_show(const struct story *s, FILE *to);
void timeline_html(const struct story *s, FILE *to);
/* What the page has as its data: texts as a terminal would show them. */
void timeline_json(const struct story *s, FILE *to);

#endif
