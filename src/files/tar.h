/* Tar archives of trees of files: made of what is there, and unpacked without ever leaving a
 * directory. Used by viv-files in cells, and by viv outside.
 *
 * What is written is POSIX (ustar, with pax headers where something does not fit, and for extended
 * attributes). What is read: that, archives of GNU tar (but not its sparse files), and older ones.
 * Times have seconds. */
#ifndef VIV_FILES_TAR_H
#define VIV_FILES_TAR_H

#include <sys/types.h>

#include "base/base.h"

#define TAR_BLOCK 512
#define TAR_ABOUT 4096

/* What was packed or unpacked, but for the directory itself. */
struct tar_count {
	uint64_t entries; /* files, directories, links and all else */
	uint64_t bytes; /* of the content of files */
};

struct tar_out {
	int (*write)(void *arg, const void *data, size_t n); /* all of it: 0 or -errno */
	void *arg;
	struct tar_count *count; /* added to; NULL: nobody wants to know */
};

/* Packs what is called name in dir, under the name shown. about (TAR_ABOUT bytes) gets the path
 * that failed. 0 or -errno. */
int must_check tar_pack(const struct tar_out *o, int dir, const char *name, const char *shown,
			char *about);

struct tar_in {
	ssize_t (*read)(void *arg, void *buf, size_t n); /* how many, 0 at the end, -errno */
	void *arg;
	struct tar_count *count; /* as above */
};

struct tar_rules {
	bool owners; /* files get the owners that the archive says */
	int64_t uid, gid; /* or these; -1: not given */
	const char *rename; /* the first name of every path becomes this one; NULL: it stays */
	/* nothing that gives rights: no setuid and setgid bits, no devices (-EPERM), no extended
	 * attributes but those of users */
	bool plain;
	bool in_root; /* the directory is the root of all: absolute links lead into it */
};

/* Unpacks all of it into dir. No entry, and no link of the archive or of the tree, leads out of
 * dir: -EXDEV. -EILSEQ: it is no archive; -ENOTSUP: it has something that is not read. about as
 * above. What was unpacked before a failure stays. 0 or -errno. */
int must_check tar_unpack(const struct tar_in *i, int dir, const struct tar_rules *r, char *about);

/* ---- reading without unpacking ---- */

struct tar_entry;
struct tar_visit {
	/* An entry: its path has no "." or ".." in it and no slash at its begin. 1: data gets the
	 * content (of a file); 0: it is passed over; or -errno, which ends it all. link: of a
	 * symbolic link its text, of a hard link the path, as they are in the archive. */
	int (*entry)(void *arg, const struct tar_entry *e, const char *path, const char *link);
	int (*data)(void *arg, const void *data, size_t n);
	void *arg;
};
/* As tar_unpack, but nothing is made of it. */
int must_check tar_read(const struct tar_in *i, const struct tar_visit *v, char *about);

/* ---- the format (tarhead.c) ---- */

struct tar_header { /* ustar */
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100],
		magic[8], uname[32], gname[32], major[8], minor[8], prefix[155], none[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "the size of a block");

struct tar_entry {
	char type; /* as in the header; '0' for all kinds of files */
	uint32_t mode, major, minor;
	int64_t uid, gid, mtime;
	uint64_t size;
};

/* Octal digits, or base 256 where they do not suffice; false: no number. */
bool tar_number(const char *field, size_t n, int64_t *ret);
void tar_number_put(char *field, size_t n, uint64_t v);
/* The sum over a header whose own sum counts as spaces. */
uint32_t tar_sum(const struct tar_header *h);
bool tar_is_zero(const struct tar_header *h);
/* The numbers of a header; false: it is none. */
bool tar_parse(const struct tar_header *h, struct tar_entry *e);

#endif
