/* See keys.h.
 *
 * A rotation, in the order in which a crash finds it:
 *
 *   1. the new key is written as .journal.key.next
 *   2. journal.keys is written, signed by it, with the heads of all journals
 *   3. the new key takes the place of the old one
 *   4. journal.keys is written again: a sealer that had the old key may have added a block since.
 *      Each head is read under the journal's seal.lock, so that all later blocks have the new key
 *
 * Before 3 and after a crash the next rotation goes on with the key of step 1; after 3 it is one
 * more, which takes the heads as they are. */
#include "journal/keys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "journal/files.h"
#include "journal/hash.h"
#include "journal/journal.h"

#define KEYS_NAME "journal.keys"
#define KEYS_MAX (64u << 20)
#define MAGIC "vivarium-journal-keys 1\n"
#define SIGNATURE JOURNAL_SIGNATURE

typedef unsigned long long ull;

void keys_free(struct journal_keys *k)
{
	for (size_t i = 0; i < BUF_COUNT(&k->old, struct key_old); i++)
		key_close(&BUF_ITEM(&k->old, struct key_old, i)->key);
	buf_free(&k->old);
	buf_free(&k->heads);
}

const struct key_old *keys_find(const struct journal_keys *k, const uint8_t id[JOURNAL_KEY_ID])
{
	for (size_t i = 0; i < BUF_COUNT(&k->old, struct key_old); i++) {
		const struct key_old *o = BUF_ITEM(&k->old, struct key_old, i);

		if (!memcmp(o->key.id, id, JOURNAL_KEY_ID))
			return o;
	}
	return NULL;
}

const struct key_head *keys_head(const struct journal_keys *k, const char *cell)
{
	for (size_t i = 0; i < BUF_COUNT(&k->heads, struct key_head); i++) {
		const struct key_head *h = BUF_ITEM(&k->heads, struct key_head, i);

		if (!strcmp(h->cell, cell))
			return h;
	}
	return NULL;
}

/* ---- reading ---- */

static int damaged(struct err *e)
{
	return err_set(e, ERR_FAILED,
		       "the list of earlier keys, " KEYS_NAME
		       ", is damaged or not signed by the current key" REMEDY
		       "restore it and journal.key from a backup of the same time");
}

static int file_load(int journals, struct buf *to, struct err *e)
{
	int fd = journal_file_open(journals, KEYS_NAME, O_RDONLY, e);
	ssize_t n = 1;

	if (fd < 0)
		return e->kind == ERR_NOT_FOUND ? 0 : -1;
	while (n > 0 && to->len <= KEYS_MAX) {
		size_t before = to->len;

		n = read(fd, buf_more(to, 65536), 65536);
		to->len = before + (size_t)MAX(n, 0);
	}
	close(fd);
	return n ? damaged(e) : 1;
}

static bool old_parse(struct journal_keys *k, const char *line)
{
	struct key_old o = { 0 };
	uint8_t public[JOURNAL_PUBLIC];
	char hex[HASH_HEX];
	long long until;
	struct err e;

	if (sscanf(line, "old %64[0-9a-f] %lld", hex, &until) != 2 ||
	    !hash_unhex(hex, public, sizeof(public)) || key_public(&o.key, public, &e) < 0)
		return false;
	o.until = until;
	buf_add(&k->old, &o, sizeof(o));
	return true;
}

static bool head_parse(struct journal_keys *k, const char *line)
{
	struct key_head h = { 0 };
	char hex[HASH_HEX];
	ull block;

	if (sscanf(line, "head %39[a-z0-9] %llu %64[0-9a-f]", h.cell, &block, hex) != 3 || !block ||
	    !hash_unhex(hex, h.hash, sizeof(h.hash)))
		return false;
	h.block = block;
	buf_add(&k->heads, &h, sizeof(h));
	return true;
}

/* The text is signed: what is in it was written by keys_write(). */
static bool text_parse(struct journal_keys *k, char *text)
{
	char *rest = text + strlen(MAGIC), *line;

	while ((line = strsep(&rest, "\n")) && *line)
		if (!old_parse(k, line) && !head_parse(k, line))
			return false;
	return true;
}

int keys_read(struct journal_keys *k, int journals, const struct journal_key *current,
	      struct err *e)
{
	static const char last[] = "signature ";
	struct buf all = { 0 };
	uint8_t signature[SIGNATURE];
	size_t end, tail = strlen(last) + 2 * sizeof(signature) + 1;
	int rc;

	*k = (struct journal_keys){ 0 };
	rc = file_load(journals, &all, e);
	if (rc > 0) {
		char hex[2 * SIGNATURE + 1] = "";

		rc = 0;
		end = all.len < tail ? 0 : all.len - tail;
		if (end < strlen(MAGIC) || memcmp(all.p, MAGIC, strlen(MAGIC)) != 0 ||
		    memchr(all.p, 0, all.len) || memcmp(all.p + end, last, strlen(last)) != 0)
			rc = damaged(e);
		else
			memcpy(hex, all.p + end + strlen(last), sizeof(hex) - 1);
		if (!rc && (!hash_unhex(hex, signature, sizeof(signature)) ||
			    !key_verify_bytes(current, all.p, end, signature)))
			rc = damaged(e);
		if (!rc) {
			all.p[end] = '\0';
			if (!text_parse(k, (char *)all.p))
				rc = damaged(e);
		}
	}
	buf_free(&all);
	if (rc < 0) {
		keys_free(k);
		*k = (struct journal_keys){ 0 };
	}
	return rc;
}

/* ---- rotating ---- */

static bool is_id(const char *name)
{
	size_t n = 0;

	while (islower((unsigned char)name[n]) || isdigit((unsigned char)name[n]))
		n++;
	return n && n < JOURNAL_CELL && !name[n];
}

static int seal_wait(int dir)
{
	int fd = openat(dir, "seal.lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	return fd;
}

/* One that cannot be read is left out: it is for 'verify' to say what is wrong with it. */
static void head_add(struct buf *text, int journals, const char *cell)
{
	int dir = openat(journals, cell, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int hold = dir < 0 ? -1 : seal_wait(dir);
	char line[400], hex[HASH_HEX];
	struct journal_tip tip;
	struct err e;

	if (dir >= 0 && journal_tip_read(dir, &tip, &e) == 0 && tip.block) {
		hash_hex(tip.hash, sizeof(tip.hash), hex);
		snprintf(line, sizeof(line), "head %s %llu %s\n", cell, (ull)tip.block, hex);
		buf_add_text(text, line);
	}
	if (hold >= 0)
		close(hold);
	if (dir >= 0)
		close(dir);
}

static int heads_add(struct buf *text, int journals, struct err *e)
{
	int fd = openat(journals, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_FAILED, "cannot read the directory of journals: %s",
			       strerror(errno));
	}
	while ((de = readdir(d)))
		if (is_id(de->d_name))
			head_add(text, journals, de->d_name);
	closedir(d);
	return 0;
}

static void old_add(struct buf *text, const uint8_t public[JOURNAL_PUBLIC], int64_t until)
{
	char line[160], hex[HASH_HEX];

	hash_hex(public, JOURNAL_PUBLIC, hex);
	snprintf(line, sizeof(line), "old %s %lld\n", hex, (long long)until);
	buf_add_text(text, line);
}

static int file_replace(int journals, const struct buf *text, struct err *e)
{
	int fd = openat(journals, "." KEYS_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write(fd, text->p, text->len) == (ssize_t)text->len && !fsync(fd);
	int err = errno;

	if (fd >= 0)
		close(fd);
	if (good &&
	    (renameat(journals, "." KEYS_NAME, journals, KEYS_NAME) < 0 || fsync(journals))) {
		good = false;
		err = errno;
	}
	return good ? 0 : err_set(e, ERR_FAILED, "cannot write " KEYS_NAME ": %s", strerror(err));
}

/* before: whom current replaces. olds: of the file that was there. */
static int keys_write(int journals, const struct journal_key *current,
		      const struct journal_key *before, const struct journal_keys *olds,
		      struct err *e)
{
	struct buf text = { 0 };
	uint8_t signature[SIGNATURE];
	char hex[2 * SIGNATURE + 1];
	int rc;

	buf_add_text(&text, MAGIC);
	for (size_t i = 0; i < BUF_COUNT(&olds->old, struct key_old); i++) {
		const struct key_old *o = BUF_ITEM(&olds->old, struct key_old, i);

		if (memcmp(o->key.id, before->id, sizeof(before->id)) != 0 &&
		    memcmp(o->key.id, current->id, sizeof(before->id)) != 0)
			old_add(&text, o->key.public, o->until);
	}
	old_add(&text, before->public, (int64_t)time(NULL) * NSEC_PER_SEC);
	rc = heads_add(&text, journals, e);
	if (!rc)
		rc = key_sign_bytes(current, text.p, text.len, signature, e);
	if (!rc) {
		hash_hex(signature, sizeof(signature), hex);
		buf_add_text(&text, "signature ");
		buf_add_text(&text, hex);
		buf_add_text(&text, "\n");
		rc = file_replace(journals, &text, e);
	}
	buf_free(&text);
	return rc;
}

static int rotate(int journals, const struct journal_key *before, struct journal_key *next,
		  struct err *e)
{
	struct journal_keys olds;
	int rc = keys_read(&olds, journals, before, e);

	/* One that was interrupted after step 2 has signed it already. */
	if (rc < 0)
		rc = keys_read(&olds, journals, next, e);
	if (rc < 0)
		return -1;
	rc = keys_write(journals, next, before, &olds, e);
	if (!rc)
		rc = key_take_place(journals, e);
	if (!rc)
		rc = keys_write(journals, next, before, &olds, e);
	keys_free(&olds);
	return rc;
}

int keys_rotate(int journals, struct journal_key *ret, struct err *e)
{
	int lock = journal_file_open(journals, "journal.keys.lock", O_RDWR | O_CREAT, e), rc;
	struct journal_key before;

	if (lock < 0)
		return -1;
	while (flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	rc = key_open(&before, journals, false, e);
	if (!rc) {
		rc = key_next(ret, journals, e);
		if (!rc && rotate(journals, &before, ret, e) < 0) {
			key_close(ret);
			rc = -1;
		}
		key_close(&before);
	}
	close(lock);
	return rc;
}
