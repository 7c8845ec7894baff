/* What a kernel says about the differences of a tree (kernel/cell/maintain.c: MODE_LIST,
 * MODE_CONTENTS), path by path.
 *
 * It is the word of a stranger: bounded, and refused unless every path is one that a tree can have
 * and comes after the one before it in the order of a walk. */
#ifndef VIV_KEEPER_DISK_CHANGES_H
#define VIV_KEEPER_DISK_CHANGES_H

#include <stdio.h>

#include "keeper/disk/view.h"
#include "wire/bootspec.h"

struct change_side {
	char type; /* f d l c b p s; 0: it is not there */
	uint32_t mode, uid, gid;
	uint64_t size; /* of a device: its number */
	char id[96]; /* of the content: its layer and its number there */
	char when[40];
	/* '+': data, '=': as on the other side, '!': too large to be told, '-': none */
	char content;
	char *data; /* size bytes, or NULL */
};

struct change {
	char *path; /* from "/" on */
	struct change_side base, tree; /* what it was, and is */
};

struct change_stream {
	struct view *view;
	struct disk_kernel disk_kernel;
	FILE *f;
	bool contents;
	char *last; /* path */
};

/* Differences to the first from_layers of the view's chain. */
int must_check changes_open(struct change_stream *s, struct view *v, uint32_t from_layers,
			    bool contents, struct err *e);
/* The next one: 1; 0: that was all, and the kernel ended well; -1 with e. */
int must_check changes_next(struct change_stream *s, struct change *ret, struct err *e);
/* Also before the end. */
void changes_close(struct change_stream *s);
void change_fini(struct change *t);

/* The order of a walk: a directory before what is in it, names by their bytes. */
int change_path_compare(const char *a, const char *b);
bool change_path_is_below(const char *path, const char *dir);

#endif
