/* What an S3 server answers to a listing. What is read of it must be bounded, and a key a
 * string. */
/* objects: src/s3/xml.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "s3/xml.h"

const char fuzz_name[] = "s3xml";
const size_t fuzz_max = 4096;

void fuzz_init(void)
{
}

static bool on_entry(struct listing *l, const struct listing_entry *e)
{
	(void)l;
	FUZZ_CHECK(e->key_len > 0 && e->key_len < sizeof(e->key));
	FUZZ_CHECK(strlen(e->key) == e->key_len);
	return true;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static struct listing l;
	char out[64];
	/* In memory of exactly that size, so that reading behind it shows. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return;
	memcpy(text, data, size);
	l = (struct listing){ .entry = on_entry };
	(void)listing_parse(&l, text, size);
	FUZZ_CHECK(strlen(l.token) < sizeof(l.token));
	if (xml_value(text, size, "UploadId", out, sizeof(out)))
		FUZZ_CHECK(strlen(out) < sizeof(out));
	free(text);
}
