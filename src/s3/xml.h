/* The little of XML that S3 answers with. The text comes from a server: nothing in it is
 * trusted. */
#ifndef VIV_S3_XML_H
#define VIV_S3_XML_H

#include "base/base.h"

struct listing_entry {
	char key[1025]; /* decoded; a directory's without its last slash */
	size_t key_len;
	bool is_dir;
	uint64_t size;
	int64_t mtime;
	uint64_t etag;
};

struct listing {
	bool truncated;
	char token[2048]; /* of the next page */
	/* in the older form: where the next page begins, if the server says it */
	char marker[1025];
	/* Called for each entry; false ends the reading. */
	bool (*entry)(struct listing *l, const struct listing_entry *e);
	void *arg;
};

/* The answer to ListObjectsV2 or ListObjects. False: not such an answer, or not all of it. */
bool listing_parse(struct listing *l, const char *text, size_t len);
/* The text of the first element of that name, decoded, as a string. False: none, or too long. */
bool xml_value(const char *text, size_t len, const char *name, char *out, size_t size);
/* 64 bits that stand for an entity tag; never 0. Quotation marks do not count. */
uint64_t etag_hash(const char *s, size_t len);

#endif
