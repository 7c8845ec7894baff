/* The list of earlier keys, journal.keys. The first byte is what the rest is: 0: the file as it is;
 * 1: its text behind the first line, which is signed by the current key. Whoever can write here has
 * the operator's uid, and for the second the key; still no reader may trip. */
/* objects: src/wire/journal.c src/journal/block.c src/journal/files.c src/journal/key.c src/journal/keys.c src/journal/hash.c src/base/buf.c src/base/crc32c.c src/base/err.c src/base/utf8.c src/base/jsontext.c src/base/log.c */
/* libraries: -lcrypto -lzstd */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "journal/hash.h"
#include "journal/keys.h"

const char fuzz_name[] = "journalkeys";
const size_t fuzz_max = 4096;

static int dir;
static struct journal_key key;

void fuzz_init(void)
{
	char path[4096];
	const char *tmp = getenv("TMPDIR");
	struct err e;

	snprintf(path, sizeof(path), "%s/fuzz-journalkeys.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path) || (dir = open(path, O_RDONLY | O_DIRECTORY)) < 0 ||
	    key_open(&key, dir, true, &e) < 0)
		exit(2);
}

static void sign(struct buf *text)
{
	uint8_t signature[JOURNAL_SIGNATURE];
	char hex[2 * JOURNAL_SIGNATURE + 1];
	struct err e;

	FUZZ_CHECK(!key_sign_bytes(&key, text->p, text->len, signature, &e));
	hash_hex(signature, sizeof(signature), hex);
	buf_add_text(text, "signature ");
	buf_add_text(text, hex);
	buf_add_text(text, "\n");
}

static void keys_check(const struct journal_keys *k)
{
	for (size_t i = 0; i < BUF_COUNT(&k->heads, struct key_head); i++) {
		const struct key_head *h = BUF_ITEM(&k->heads, struct key_head, i);

		FUZZ_CHECK(h->block && *h->cell && memchr(h->cell, 0, sizeof(h->cell)));
		FUZZ_CHECK(keys_head(k, h->cell));
	}
	for (size_t i = 0; i < BUF_COUNT(&k->old, struct key_old); i++)
		FUZZ_CHECK(keys_find(k, BUF_ITEM(&k->old, struct key_old, i)->key.id));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct journal_keys k;
	struct buf text = { 0 };
	struct err e;
	int fd, rc;

	if (!size)
		return;
	if (data[0] & 1)
		buf_add_text(&text, "vivarium-journal-keys 1\n");
	if (size > 1)
		buf_add(&text, data + 1, size - 1);
	if (data[0] & 1)
		sign(&text);
	fd = openat(dir, "journal.keys", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text.p, text.len) != (ssize_t)text.len)
		exit(2);
	close(fd);
	rc = keys_read(&k, dir, &key, &e);
	/* Nobody here signs but us. */
	FUZZ_CHECK(rc < 0 || data[0] & 1);
	keys_check(&k);
	keys_free(&k);
	buf_free(&text);
}
