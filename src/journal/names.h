/* The files of a cell as its journal shows them: which names there were before the first record,
 * which there are now, and which file each of them is. Follows CREATE, REMOVE, RENAME, LINK, OPEN,
 * WRITE, CONTENT, CHANGE and READ.
 *
 * A *file* is an object with an identity (of any type, directories included); a *name* is a pair of
 * a directory and a text. Renaming a directory moves one name, and what is below it goes along. A
 * name knows the file that it was at the beginning, the one that it is now, and the last one. A
 * name that is met for the first time by something other than its making was there before.
 *
 * Paths come from a hostile guest: they are walked in a loop, directories cannot be moved below
 * themselves, and there are at most NAMES_MAX names; what is above that is counted and left out. */
#ifndef VIV_JOURNAL_NAMES_H
#define VIV_JOURNAL_NAMES_H

#include "base/buf.h"
#include "journal/journal.h"

#define NAMES_MAX (16u << 20)
#define NAMES_PATH 8192 /* bytes of a path that is shown, its end; longer ones begin with "..." */

#define FILE_READ 1 /* a process opened it for reading */
#define FILE_OPENED 2 /* ... for writing */
#define FILE_WRITTEN 4 /* its content changed */
#define FILE_CHANGED 8 /* its attributes did */
#define FILE_CREATED 16 /* it was made; not set: it was there before */
#define FILE_DIRECTORY 32

struct name {
	uint32_t dir; /* the file that it is in */
	uint32_t text, n; /* in names.texts */
	uint32_t before, now, last; /* files; 0: none */
	uint32_t hash, next; /* in its bucket */
	uint64_t seq; /* of the record that made it what it is now; 0: none */
	uint32_t kind; /* of that record */
};

/* A change of content: a WRITE, a CREATE, or an OPEN that empties it. */
struct file_write {
	uint64_t seq;
	uint32_t before; /* the one before it of the same file; 0: none */
	uint32_t content; /* what is known of it; 0: nothing */
	int32_t pid;
};

struct file_content {
	uint64_t seq, size;
	bool has_hash;
	uint8_t hash[JOURNAL_HASH];
	char why[16];
};

struct file {
	uint32_t name; /* that it has or had last */
	uint32_t origin; /* the name that it had before; 0: it was made */
	uint32_t links; /* how many it has */
	uint32_t write; /* the last one */
	uint32_t content; /* the last one */
	uint32_t flags;
	uint64_t size; /* as the last record of it has it */
	uint64_t changed; /* the last CHANGE of it; 0: none */
};

struct names {
	struct buf names, files, writes, contents, texts; /* item 0 of each is none */
	uint32_t *buckets;
	size_t nbuckets;
	uint64_t left_out; /* names that were too many */
	bool keep_writes; /* writes and contents are kept, for blame */
	uint64_t key[2];
};

#define NAMES_ROOT 1u /* the file "/" */
#define NAMES_LOOSE 2u /* what has no absolute path: a cut one, a memfd ... */

void names_init(struct names *t, bool keep_writes);
void names_fini(struct names *t);
/* Takes a record in; of other kinds nothing happens. */
void names_follow(struct names *t, const struct journal_entry *e);
/* After the last record and before the questions below. */
void names_settle(struct names *t);

static inline struct name *name_at(const struct names *t, uint32_t i)
{
	return BUF_ITEM(&t->names, struct name, i);
}

static inline struct file *file_at(const struct names *t, uint32_t i)
{
	return BUF_ITEM(&t->files, struct file, i);
}

static inline struct file_write *write_at(const struct names *t, uint32_t i)
{
	return BUF_ITEM(&t->writes, struct file_write, i);
}

static inline struct file_content *content_at(const struct names *t, uint32_t i)
{
	return BUF_ITEM(&t->contents, struct file_content, i);
}

static inline uint32_t names_count(const struct names *t)
{
	return (uint32_t)BUF_COUNT(&t->names, struct name);
}

/* The name at a path as it is now; 0: the journal does not know it. */
uint32_t names_find(const struct names *t, const char *path, size_t n);

/* The path of a name, as it is now or, with before, as it was at the beginning. Returns its length
 * without the NUL; out has NAMES_PATH bytes. */
size_t name_path(const struct names *t, uint32_t name, bool before, char *out);

/* What became of a name between the beginning and now. */
enum name_effect {
	NAME_NONE, /* nothing, or it was only read */
	NAME_CHANGED, /* attributes */
	NAME_WRITTEN, /* it was there and is there, with other content */
	NAME_CREATED, /* it is new */
	NAME_REMOVED, /* it is gone */
	NAME_RENAMED, /* the file that is there had another name before; see from */
	NAME_TEMPORARY, /* it was made and is gone */
	NAME_EFFECTS
};
extern const char *const name_effects[NAME_EFFECTS];

struct name_story {
	enum name_effect effect;
	uint32_t file; /* that it is about: the one there now, else the last */
	uint32_t from; /* NAME_RENAMED: the name that it had before */
	bool read; /* the file that was there before was read */
	bool moved_away; /* what was here before is elsewhere now, where it is NAME_RENAMED */
};
void name_story(const struct names *t, uint32_t name, struct name_story *ret);

#endif
