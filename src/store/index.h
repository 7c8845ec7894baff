/* The index of an image: its whole tree in one file that is mapped and searched in place.
 *
 * Little-endian; a header and six tables, each at an offset that is a multiple of 8:
 *
 *   nodes     one for each file, numbered in the order of a walk by sorted names: 0 is the root, a
 *             file with several names has the number of the first
 *   dirents   the entries of a directory lie together, sorted by the bytes of their names;
 *             directories follow each other in the order of their numbers
 *   objects   SHA-256 and size of each content, in the order of first use; never empty
 *   strings   names and the texts of symbolic links, without ends; found by offset and length
 *   xattrs    at a multiple of 8: total length of what follows (u32), then for each attribute the
 *             lengths of name (u16) and value (u32), name, value; sorted by name
 *   config    see store/config.h
 *
 * The same tree gives the same bytes, so the SHA-256 of the file names the image.
 *
 * The reader is linked into the kernel and trusts no number: what it returns was checked against
 * the size of the table it came from, a broken index gives -EBADMSG and nothing else. A directory's
 * entries lead only to directories of a higher number that name it as their parent, so a walk down
 * ends. The file must not shrink while it is mapped. No allocation, no recursion, no host call. */
#ifndef VIV_STORE_INDEX_H
#define VIV_STORE_INDEX_H

#include "base/base.h"

#define INDEX_MAGIC "VIVINDX1"
#define INDEX_VERSION 1
/* The time of every file of every image: 1980-01-02 00:00:00 UTC. */
#define INDEX_TIME 315619200
#define INDEX_NAME_MAX 255
#define INDEX_LINK_MAX 4095
#define INDEX_XATTR_NAME_MAX 255
#define INDEX_XATTR_VALUE_MAX 65536
#define INDEX_XATTRS_MAX (1u << 20) /* the whole set of one file */
#define INDEX_HASH 32

/* ---- as it lies in the file ---- */

struct index_table {
	uint64_t offset;
	uint64_t count; /* bytes for strings, xattrs and config */
};

struct index_header {
	char magic[8];
	uint32_t version;
	uint32_t flags; /* 0 */
	uint64_t file_size;
	int64_t time;
	struct index_table nodes, dirents, objects, strings, xattrs, config;
};
_Static_assert(sizeof(struct index_header) == 128, "index header");

struct index_node {
	uint32_t mode; /* type and permissions, as st_mode */
	uint32_t uid, gid;
	uint32_t nlink;
	uint64_t size; /* of a file or the text of a link; else 0 */
	/* File: number of its object + 1, 0 when it is empty. Directory: its first entry. Link:
	 * offset of its text. Device: its number as Linux's st_rdev has it (new_encode_dev). */
	uint64_t a;
	uint32_t b; /* directory: number of entries; link: length of the text; else 0 */
	uint32_t xattr; /* 0: none; else offset / 8 + 1 */
	uint32_t parent; /* of a directory; the root is its own; else 0 */
	uint32_t reserved; /* 0 */
};
_Static_assert(sizeof(struct index_node) == 48, "index node");

struct index_dirent {
	uint32_t name; /* offset in strings */
	uint16_t len;
	uint16_t dtype; /* mode >> 12, as DT_* */
	uint32_t node;
	uint32_t reserved; /* 0 */
};
_Static_assert(sizeof(struct index_dirent) == 16, "index dirent");

struct index_object {
	uint8_t hash[INDEX_HASH];
	uint64_t size;
};
_Static_assert(sizeof(struct index_object) == 40, "index object");

/* ---- reading ---- */

struct index {
	const uint8_t *map;
	uint64_t size;
	struct index_header h; /* a copy that was checked */
};

/* Checks the header and the bounds of the tables. Borrows map for the life of ix. 0 or -EBADMSG. */
int must_check index_open(const void *map, size_t size, struct index *ix);

/* Copies node n. -EBADMSG when it is out of range or not as its type must be. */
int must_check index_node(const struct index *ix, uint32_t n, struct index_node *ret);

struct index_entry {
	const char *name; /* in the map, not terminated */
	uint32_t len;
	uint32_t dtype;
	uint32_t node;
};

/* Entry i of directory dir: 0, -ENOENT behind the last one, -ENOTDIR, -EBADMSG. */
int must_check index_entry(const struct index *ix, uint32_t dir, uint32_t i,
			   struct index_entry *ret);

/* The entry of that name: its node. -ENOENT, -ENOTDIR, -EBADMSG. ret_i (may be NULL): its place. */
int must_check index_lookup(const struct index *ix, uint32_t dir, const char *name, size_t len,
			    uint32_t *ret_node, uint32_t *ret_i);

/* The text of a symbolic link, in the map, not terminated and without NUL. -EINVAL: n is no
 * link. */
int must_check index_link_text(const struct index *ix, uint32_t n, const char **ret, uint32_t *len);

/* Object number n (not n + 1). */
int must_check index_object(const struct index *ix, uint64_t n, struct index_object *ret);

struct index_xattr {
	const char *name; /* in the map, not terminated */
	uint32_t name_len;
	const void *value;
	uint32_t value_len;
	/* private: where the next one starts, and the end of the set */
	uint64_t next, end;
};

/* Moves to the next attribute of node n; start with a zeroed x. 0, -ENOENT when there is none left,
 * -EBADMSG. */
int must_check index_xattr(const struct index *ix, uint32_t n, struct index_xattr *x);

/* The configuration's bytes, for config_next. */
const void *index_config(const struct index *ix, size_t *len);

/* Everything that open and the accessors cannot see: layout, order, numbering, parents, counts of
 * links, no cycles, use of every node and object. scratch: 4 bytes for each node. 0 or -EBADMSG;
 * why (may be NULL) says what is wrong. */
int must_check index_check(const struct index *ix, uint32_t *scratch, const char **why);

/* The path of object n in an image's directory: "o/XX/N". */
#define INDEX_OBJECT_PATH 24
void index_object_path(uint64_t n, char path[INDEX_OBJECT_PATH]);

#endif
