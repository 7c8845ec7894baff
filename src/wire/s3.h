/* What a kernel and its viv-s3 say to each other, over a SOCK_SEQPACKET pair for each mount.
 *
 * The kernel sends a request of fixed head and one or two keys; S3_GET and S3_PUT carry a
 * descriptor of a regular file. viv-s3 answers each with one reply, S3_LIST with several (S3_MORE
 * in all but the last). Keys are names below the mount's prefix, in the form "a/b/c", never with a
 * slash at an end. Neither side trusts the other. */
#ifndef VIV_WIRE_S3_H
#define VIV_WIRE_S3_H

#include "base/base.h"

#define S3_KEY_MAX 1024 /* bytes, as S3 has it */
#define S3_NAME_MAX 255
#define S3_LIST_BYTES 16384

enum s3_op {
	S3_STAT = 1, /* what is there: type, size, mtime, etag; -ENOENT */
	S3_LIST, /* the entries of a directory */
	S3_GET, /* len bytes from off on go to the same place of the file */
	S3_PUT, /* the first len bytes of the file become the object */
	S3_DELETE,
	S3_RENAME, /* the object moves to key2 */
	S3_MKDIR, /* the marker of a directory */
	S3_RMDIR, /* the marker goes; -ENOTEMPTY */
	S3_LAST,
};

/* with S3_DELETE, S3_RENAME, S3_RMDIR: key's parent gets a marker before */
#define S3_KEEP_PARENT 1u

struct s3_request {
	uint32_t op, id;
	uint64_t off, len;
	uint32_t flags;
	uint16_t key_len, key2_len;
	char keys[2 * S3_KEY_MAX];
};
#define S3_REQUEST_HEAD offsetof(struct s3_request, keys)

enum s3_type { S3_NOTHING, S3_FILE, S3_DIR };

#define S3_MORE 1u
#define S3_MARKER 2u /* the directory itself has one */

struct s3_reply {
	uint32_t id;
	int32_t err; /* 0 or -errno */
	uint32_t type; /* enum s3_type */
	uint32_t flags;
	uint64_t size;
	int64_t mtime; /* seconds; 0: not known */
	uint64_t etag; /* a hash of it; 0: not known */
	uint64_t done; /* bytes that S3_GET wrote */
	uint32_t nbytes; /* of entries */
	uint32_t unused;
	char entries[S3_LIST_BYTES];
};
#define S3_REPLY_HEAD offsetof(struct s3_reply, entries)

/* In entries, each at a multiple of 8. */
struct s3_entry {
	uint64_t size;
	int64_t mtime;
	uint64_t etag;
	uint16_t type, len;
	char name[S3_NAME_MAX + 1 + 4]; /* len bytes of it, then padding */
};
#define S3_ENTRY_HEAD offsetof(struct s3_entry, name)
#define S3_ENTRY_SIZE(len) ((S3_ENTRY_HEAD + (len) + 7) & ~(size_t)7)

/* The first message of viv-s3, for viv. */
struct s3_hello {
	int32_t err; /* 0: ready */
	char text[508];
};

/* A name that can be an entry: 1..255 bytes, no slash, no NUL, neither "." nor "..". */
static inline bool s3_name_ok(const char *s, size_t len)
{
	if (len == 0 || len > S3_NAME_MAX || (len == 1 && s[0] == '.') ||
	    (len == 2 && s[0] == '.' && s[1] == '.'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] == '/' || s[i] == '\0')
			return false;
	return true;
}

/* A key as above; empty: the directory that is mounted. */
static inline bool s3_key_ok(const char *s, size_t len)
{
	size_t start = 0;

	if (len > S3_KEY_MAX)
		return false;
	for (size_t i = 0; len && i <= len; i++) {
		if (i < len && s[i] != '/')
			continue;
		if (!s3_name_ok(s + start, i - start))
			return false;
		start = i + 1;
	}
	return true;
}

#endif
