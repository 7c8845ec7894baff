/* Directories of the host that were copied into a cell (--copy), and the way back (viv merge).
 *
 * The record of a copy is the host's: what was copied, by path, with a hash of each content. So a
 * merge tells without the cell's help what the cell changed and what the host changed meanwhile.
 * All that comes from the cell is a stranger's: names, sizes, types, links and contents are judged
 * here, and written without ever following a link.
 *
 *   record   reading, writing and finding records
 *   scan     a directory as it is now, for the record
 *   put      the copy into the cell
 *   plan     what the cell changed, with the contents, and what stands against it
 *   judge    names that are refused, and files that tools run by themselves
 *   show     what is shown before it is asked
 *   write    the only code that writes to the host's directory */
#ifndef VIV_CLI_COPIES_COPIES_H
#define VIV_CLI_COPIES_COPIES_H

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sha1.h"
#include "spec/options.h"

/* ---- records (record.c) ---- */

/* What was at a path when it was copied, or merged last. */
struct base {
	char *path; /* from the directory on */
	char type; /* f d l */
	uint32_t mode;
	uint64_t size, ino;
	int64_t mtime, ctime; /* ns: as long as they are the same, the content is */
	uint8_t hash[SHA1_SIZE]; /* of the content, or of the text of a link */
	bool seen; /* of a plan: the cell still has it */
};

struct copied {
	char *dir, *dst; /* on the host, in the cell */
	uint64_t dev, ino; /* of dir */
	struct base *base; /* by path */
	size_t n;
};

struct copies {
	char cell[64]; /* its id */
	struct copied v[RUN_COPIES_MAX];
	unsigned n;
};

/* ERR_NOT_FOUND: the cell has none. */
int must_check copies_read(struct copies *c, const char *cell_id, struct err *e);
int must_check copies_write(const struct copies *c, struct err *e);
void copies_remove(const char *cell_id);
/* Removes the records of cells that are gone. */
void copies_prune(bool (*is_gone)(const char *cell_id));
void copies_fini(struct copies *c);
/* NULL: there was nothing. */
struct base *base_find(const struct copied *c, const char *path);
void base_sort(struct copied *c);

/* ---- the host's directory (scan.c) ---- */

/* Fills c->base with what is in c->dir. */
int must_check copied_scan(struct copied *c, struct err *e);
/* Opens c->dir, which has to be the one that was copied. */
int must_check copied_open(const struct copied *c, int *ret, struct err *e);

/* What is at a path below root now. No link is followed on the way. */
struct host_state {
	char type; /* f d l, or o for all else; 0: nothing; '!': something is in the way of it */
	struct stat st;
};
void host_look(int root, const char *path, struct host_state *ret);
/* The directory of a path, O_PATH, opened without following a link or leaving root; name is the
 * last part of path. -errno. */
int must_check host_parent(int root, const char *path, const char **name);
/* Is it what the record says? */
bool host_is_base(int root, const struct base *b, const struct host_state *s);
/* The hash of what is at a path: a file's content, a link's text. false: it cannot be read. */
bool host_hash(int root, const char *path, const struct host_state *s, uint8_t ret[SHA1_SIZE]);
bool host_same(const struct host_state *a, const struct host_state *b);
void base_set(struct base *b, const struct host_state *s);

/* ---- into the cell (put.c) ---- */

/* Copies the directories of o into its cell, which exists and does not run, and writes the
 * record. */
int must_check copies_put(const struct run_options *o, const char *cell_id, struct err *e);

/* ---- a merge (plan.c) ---- */

struct delta {
	char *path;
	char kind; /* A C D */
	char type; /* of what the cell has: f d l; 0: nothing */
	uint32_t mode;
	uint64_t size, at; /* the content: in the spool */
	uint8_t hash[SHA1_SIZE];
	char *target; /* of a link */
	bool content; /* not only the mode is new */
	bool exec; /* it becomes executable */
	const char *refused; /* why it is not written; NULL */
	const char *conflict; /* what the host did meanwhile; NULL */
	const char *runs; /* what runs it by itself; NULL */
	bool done; /* the host has it already */
	struct host_state was; /* when the plan was made */
	/* after the merge */
	bool written;
	char failed[160]; /* "": nothing did */
};

#define MERGE_MAX_SIZE (4ull << 30) /* of all contents together, unless --max-size is given */

struct plan {
	struct copied *copied;
	int root; /* the host's directory */
	int spool;
	uint64_t used; /* of the spool */
	uint64_t max;
	struct delta *v; /* by path */
	size_t n;
	bool with_git;
	void *index; /* while it is made: by path */
};

int must_check plan_make(struct plan *p, struct copied *c, const char *cell, uint64_t max,
			 bool with_git, struct err *e);
void plan_fini(struct plan *p);
struct delta *delta_find(const struct plan *p, const char *path);
/* Content as memory; NULL: more than max bytes. free() it. */
char *delta_content(const struct plan *p, const struct delta *d, uint64_t max);

/* ---- judging (judge.c) ---- */

/* Does a name stand for .git on some file system? */
bool name_is_git(const char *name, size_t n);
/* Why nothing may be written to this path; NULL: it may. */
const char *path_wrong(const char *path, bool with_git);
/* Why a link at path may not have this text; NULL: it may. */
const char *link_wrong(const char *path, const char *target);
/* What runs a file of this path by itself; NULL: nothing that is known. */
const char *path_runs(const char *path);
/* Refuses what would be part of a git directory of another name. */
void git_dirs_refuse(struct plan *p);

/* ---- showing and writing (show.c, write.c) ---- */

/* A path, a link's text: what could steer a terminal is escaped. */
void name_show(const char *path);
void plan_show(const struct plan *p, bool patch);
void plan_json(const struct plan *p, const char *cell);

#define WRITE_BESIDE 1 /* of a conflict, the cell's version as NAME.theirs */
/* Writes all that is not refused; says of each delta what became of it. The number of failures. */
unsigned plan_write(struct plan *p, unsigned flags);

#endif
