/* viv-journal seal, head, key. */
#include <stdio.h>
#include <unistd.h>

#include "base/report.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/key.h"
#include "journal/verbs.h"

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
	const struct word_opt opts[] = { { "all", NULL, &all }, { "json", NULL, &json } };
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e), rc;

	if (dir < 0)
		return report(&e);
	rc = journal_seal(dir, all, &e);
	close(dir);
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
	const struct word_opt opts[] = { { "json", NULL, &json } };
	struct journal_key k;
	char hex[HASH_HEX];
	struct err e;
	int dir = only_dir(argc, argv, opts, ARRAY_LEN(opts), &e), rc;

	if (dir < 0)
		return report(&e);
	rc = key_open(&k, dir, true, &e);
	close(dir);
	if (rc < 0)
		return report(&e);
	hash_hex(k.public, sizeof(k.public), hex);
	key_close(&k);
	printf(json ? "{\"key\":\"%s\",\"type\":\"ed25519\"}\n" : "%s\n", hex);
	return 0;
}
