/* The store: where images, tags and work in progress lie (docs/decisions/0016-store.md).
 *
 * This part opens, finds and locks; it links nothing but the C library and is part of viv. What
 * writes images is in src/import. */
#ifndef VIV_STORE_STORE_H
#define VIV_STORE_STORE_H

#include "base/base.h"
#include "base/err.h"
#include "store/index.h"

#define HASH_TEXT 65 /* a SHA-256 in hex, with its NUL */
#define TAG_MAX 128

struct store {
	int fd; /* its directory */
	char path[4096];
};

/* ---- the place (store.c) ---- */

/* The path, by XDG_DATA_HOME, HOME, or for root /var/lib; nothing is made. */
int store_path(char *path, size_t size, struct err *e);
/* RUN, where the sockets of running things are: $XDG_RUNTIME_DIR/vivarium, /run/vivarium for root,
 * else "run" in the store. Nothing is made. */
int store_run_path(char *path, size_t size, struct err *e);
/* Opens the store; makes it when it is not there. */
int store_open(struct store *s, struct err *e);
void store_close(struct store *s);

/* Opens (and makes) a directory of the store: "tags", "objects/ab". -1 with errno. */
int store_dir(const struct store *s, const char *name);

/* What take() makes of the files of such a directory (false: leave it out), sorted: entries of size
 * bytes, in *ret for free(). A directory that is not there has none. */
int store_list(const struct store *s, const char *name, size_t size,
	       bool (*take)(int dir, const char *file, void *entry),
	       int (*compare)(const void *, const void *), void **ret, size_t *ret_n,
	       struct err *e);

/* The lock of the store: shared for who adds or reads, exclusive for who collects. Blocks; waiting
 * (may be NULL) is called before. Returns a descriptor, closing it unlocks; -1. */
int store_lock(const struct store *s, bool exclusive, void (*waiting)(void), struct err *e);
/* Exclusively, if that takes no longer than about two seconds. A descriptor or -1. */
int store_lock_try(const struct store *s);

/* ---- work in progress (work.c) ---- */

struct work {
	int fd; /* tmp/PID.RANDOM, locked */
	char name[64]; /* "tmp/PID.RANDOM" */
};

int work_new(const struct store *s, struct work *w, struct err *e);
/* The same of a directory that is there, whose descriptor is locked; taken when all goes well. -1
 * with errno. */
int work_adopt(const struct store *s, struct work *w, const char *path, int fd);
/* Removes it, unless it was renamed away. */
void work_free(const struct store *s, struct work *w);
/* Removes what dead makers left. Returns how many there were. */
unsigned work_collect(const struct store *s);

/* ---- tags (tags.c) ---- */

struct tag {
	char name[TAG_MAX + 1];
	char hash[HASH_TEXT];
};

/* Letters, digits and . _ - : / + with a letter or digit first, no '..' nor '//'; not "host", not
 * 64 hex digits. */
bool tag_is_valid(const char *name);
int tag_get(const struct store *s, const char *name, char hash[HASH_TEXT], struct err *e);
/* Replaces an older tag of that name at once. */
int tag_set(const struct store *s, const char *name, const char *hash, struct err *e);
int tag_remove(const struct store *s, const char *name, struct err *e);
/* All tags, sorted by name; free() the list. */
int tag_list(const struct store *s, struct tag **ret, size_t *n, struct err *e);
/* The names of all of them, damaged ones too. */
int tag_name_list(const struct store *s, char (**ret)[TAG_MAX + 1], size_t *n, struct err *e);

/* ---- images (image.c) ---- */

struct image {
	int dir; /* its directory, locked shared: it is not removed while this is open */
	char hash[HASH_TEXT];
	struct index ix; /* of the map */
	void *map;
	size_t map_size;
};

bool hash_is_valid(const char *hash);
/* An image by tag, hash, or the start of a hash (6 digits at least, and only one image has it). */
int image_find(const struct store *s, const char *name, char hash[HASH_TEXT], struct err *e);
int image_open(const struct store *s, const char *name, struct image *ret, struct err *e);
void image_close(struct image *i);
/* A descriptor that keeps the image of that hash from being removed, until it is closed. -1:
 * ERR_NOT_FOUND, ERR_CONFLICT when it is being removed. */
int image_hold(const struct store *s, const char *hash, struct err *e);
/* The hashes of all images, sorted; free() the list. */
int image_list(const struct store *s, char (**ret)[HASH_TEXT], size_t *n, struct err *e);
/* An image that is to be removed: ERR_CONFLICT when a cell or a disk uses it. Returns a descriptor,
 * until which is closed nobody can open it. */
int image_seize(const struct store *s, const char *hash, struct err *e);
/* Removes a seized one, and closes its descriptor. Needs no space on the disk: it becomes work in
 * progress first. */
int image_discard(const struct store *s, const char *hash, int fd, struct err *e);
/* Both. Tags stay. */
int image_remove(const struct store *s, const char *hash, struct err *e);

#endif
