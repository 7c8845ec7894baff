/* One import: a source becomes a tree and objects, these become an image.
 *
 *   import_init        takes the store's lock (shared), collects what dead imports left
 *   import_directory | import_tar | ...   fills the tree, writes objects as it goes
 *   image_publish      normalises, numbers, writes the index, links the objects, syncs, and makes
 *                      the image visible by one rename
 *   import_fini        removes what is left of the work, whatever happened; contents only stay
 *                      for the image, and when we were interrupted, for the next time */
#ifndef VIV_IMPORT_IMPORT_H
#define VIV_IMPORT_IMPORT_H

#include "base/base.h"
#include "base/err.h"
#include "base/buf.h"
#include "import/object.h"
#include "import/tree.h"
#include "store/config.h"
#include "store/store.h"

#define IMPORT_MAX_SIZE (64ull << 30)
#define IMPORT_MAX_ENTRIES 4000000

struct import_options {
	uint64_t max_size, max_entries; /* 0: the defaults above */
	bool owner_set; /* all files belong to uid and gid */
	uint32_t uid, gid;
	bool quiet;
};

struct import {
	const struct store *store;
	struct import_options opt;
	struct work work;
	int lock;
	int held; /* the image when it is there: nobody removes it before it has its tag; -1 */
	struct tree tree;
	struct objects objects;
	struct buf pycs; /* struct import_pyc */
	struct config_list {
		struct buf items; /* struct config_value */
	} config;
	unsigned long warnings;
	bool made; /* the image: it was not there before */
	bool published; /* all of its objects are in the image */
};

/* A .pyc file whose time was normalised. */
struct import_pyc {
	uint32_t node;
	uint32_t object; /* its normalised content */
	uint32_t time; /* of its source, as it was recorded */
};

int import_init(struct import *im, const struct store *s, const struct import_options *opt,
		struct err *e);
void import_fini(struct import *im);

/* The image's hash. */
int image_publish(struct import *im, char hash[HASH_TEXT], struct err *e);
/* Takes it back, for what follows has failed; one that was there before stays, or that others use
 * by now. */
void image_unpublish(struct import *im, const char *hash);

/* Warns, but not more than a few times. */
void import_warn(struct import *im, const char *fmt, ...) printf_like(2, 3);
/* The owner that a file gets. */
void import_owner(const struct import *im, struct tree_attr *attr);
/* After object_end: gives the content to the node. */
void import_content(struct import *im, uint32_t node, uint32_t object, uint64_t size,
		    int64_t pyc_time);
bool import_is_pyc(const char *name, size_t len);
/* Stale .pyc files are made to look so (pyc.c). */
int import_pycs_check(struct import *im, struct err *e);

/* ---- configuration (publish.c) ---- */

void config_add(struct config_list *c, enum config_tag tag, const char *value, size_t len);
void config_clear(struct config_list *c);

/* ---- sources ---- */

/* A directory of the host as the image's root. */
int import_directory(struct import *im, int dir, const char *shown, struct err *e);
/* Paths of a Nix store, one in a line: they appear below /nix/store. */
int import_nix(struct import *im, int list, struct err *e);

/* A tar stream in any compression. strict: an archive without its end is an error. layer: it is a
 * layer of a container image, names with .wh. delete. */
struct tar_source {
	int fd;
	const char *shown; /* for messages */
	uint64_t size; /* of the file; 0: unknown */
	bool strict, layer;
	const struct image
		*base; /* may be NULL: entries may name contents of it instead of having one */
	bool detect; /* an archive of a container image is imported as that, */
	bool container; /* or it must be one, */
	const char *ref; /* and this is which of several; may be NULL */
	struct hash *hash; /* may be NULL: gets all bytes as they are read */
};
int import_tar(struct import *im, const struct tar_source *src, struct err *e);

#endif
