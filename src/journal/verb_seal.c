/* viv-journal seal, append, head, key. */
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/report.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/keys.h"
#include "journal/tend.h"
#include "journal/verbs.h"

#define APPEND_MAX (16u << 20)

static bool json;

/* The one directory that is asked for, open; -1. */
static int only_dir(int argc, char **argv, const struct word_opt *opts, unsigned nopts,
		    struct err *e)
{
	int n = words_take(argc, argv, opts, nopts, e);

	if (n < 0)
		return -1;
	if (n != 1)
		return err_set(e, ERR_USAGE, "one directory is needed");
	return journal_dir_open(argv[0], e);
}

int verb_seal(int argc, char **argv)
{
	bool all = false;
	const char *through = NULL;
	const struct word_opt opts[] = { { "all", NULL, &all },
					 { "through", &through, NULL },
					 { "json", NULL, &json } };
	uint64_t last = SEAL_COMPLETE;
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e), rc;

	if (dir < 0)
		return report(&e);
	if (through && !number_parse(through, &last))
		return fail(ERR_USAGE, "--through '%s' is not the number of a file", through);
	/* The host's configuration of OpenSSL has nothing for us, and takes time to read. */
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
	rc = journal_seal(dir, all ? SEAL_ALL : last, &e);
	close(dir);
	return rc < 0 ? report(&e) : 0;
}

/* Started by keepers only: its queue is a descriptor that it has from one. */
int verb_tend(int argc, char **argv)
{
	const char *text = NULL;
	const struct word_opt opts[] = { { "queue", &text, NULL } };
	uint64_t queue = 0;
	struct stat st;
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e);

	if (dir < 0)
		return report(&e);
	if (!text || !number_parse(text, &queue) || queue > INT_MAX || fstat((int)queue, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return fail(ERR_USAGE, "--queue must be the number of an open file");
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
	journals_tend(dir, (int)queue);
	close(dir);
	return 0;
}

/* Makes the directory of a cell that never ran. */
static int dir_make(const char *path, struct err *e)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make the journal '%s': %s", path,
			       strerror(errno));
	return 0;
}

int verb_append(int argc, char **argv)
{
	const char *cell = NULL;
	const struct word_opt opts[] = { { "cell", &cell, NULL }, { "json", NULL, &json } };
	struct buf frames = { 0 };
	struct err e;
	int n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e), dir = -1, rc;
	ssize_t got;

	if (n < 0)
		return report(&e);
	if (n != 1 || !cell)
		return fail(ERR_USAGE, "one directory and --cell are needed");
	do {
		size_t before = frames.len;

		got = read(STDIN_FILENO, buf_more(&frames, 65536), 65536);
		frames.len = before + (size_t)MAX(got, 0);
	} while (got > 0 && frames.len <= APPEND_MAX);
	if (got)
		rc = err_set(&e, ERR_TOO_LARGE, "the records cannot be read, or are too many");
	else if ((rc = dir_make(argv[0], &e)) == 0)
		rc = dir = journal_dir_open(argv[0], &e);
	if (rc >= 0)
		rc = journal_append(dir, cell, &frames, &e);
	if (dir >= 0)
		close(dir);
	buf_free(&frames);
	return rc < 0 ? report(&e) : 0;
}

int verb_head(int argc, char **argv)
{
	const struct word_opt opts[] = { { "json", NULL, &json } };
	struct journal_tip tip;
	char hex[HASH_HEX];
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e), rc;

	if (dir < 0)
		return report(&e);
	rc = journal_tip_read(dir, &tip, &e);
	close(dir);
	if (rc < 0)
		return report(&e);
	if (!tip.block)
		return fail(ERR_NOT_FOUND,
			    "the journal has no sealed block yet" REMEDY
			    "blocks are sealed every few seconds while records come");
	hash_hex(tip.hash, sizeof(tip.hash), hex);
	if (json)
		printf("{\"block\":%llu,\"hash\":\"%s\",\"records\":%llu}\n",
		       (unsigned long long)tip.block, hex, (unsigned long long)tip.records);
	else
		printf("%llu:%s\n", (unsigned long long)tip.block, hex);
	return 0;
}

int verb_key(int argc, char **argv)
{
	bool rotate = false;
	const struct word_opt opts[] = { { "rotate", NULL, &rotate }, { "json", NULL, &json } };
	struct journal_key k;
	char hex[HASH_HEX];
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e), rc;

	if (dir < 0)
		return report(&e);
	rc = rotate ? keys_rotate(dir, &k, &e) : key_open(&k, dir, true, &e);
	close(dir);
	if (rc < 0)
		return report(&e);
	hash_hex(k.public, sizeof(k.public), hex);
	key_close(&k);
	printf(json ? "{\"key\":\"%s\",\"type\":\"ed25519\"}\n" : "%s\n", hex);
	return 0;
}
