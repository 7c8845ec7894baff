/* viv-journal verify, prove, check. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/jsontext.h"
#include "base/report.h"
#include "journal/hash.h"
#include "journal/journal.h"
#include "journal/keys.h"
#include "journal/line.h"
#include "journal/show.h"
#include "journal/verbs.h"

#define PROOF_MAX (1u << 20)

static bool json;

/* ---- verify ---- */

static void wrong_print(void *arg, const char *what)
{
	unsigned *n = arg;

	if (json) {
		fputs((*n)++ ? "," : "", stdout);
		json_quoted(stdout, what);
	} else {
		printf("wrong: %s\n", what);
	}
}

static int head_parse(const char *text, struct journal_check *c, struct err *e)
{
	const char *colon = strchr(text, ':');
	char number[24];

	if (colon && (size_t)(colon - text) < sizeof(number)) {
		memcpy(number, text, (size_t)(colon - text));
		number[colon - text] = '\0';
		if (number_parse(number, &c->head_block) &&
		    hash_unhex(colon + 1, c->head_hash, sizeof(c->head_hash)))
			return 0;
	}
	return err_set(e, ERR_USAGE,
		       "--head '%s': must be BLOCK:HASH as 'viv journal head' prints it", text);
}

static void result_json(const struct journal_check *c)
{
	char hex[HASH_HEX];

	hash_hex(c->tip.hash, sizeof(c->tip.hash), hex);
	printf("],\"ok\":%s,\"blocks\":%" PRIu64 ",\"records\":%" PRIu64 ",\"bytes\":%" PRIu64
	       ",\"unsealed\":%" PRIu64,
	       c->nwrong ? "false" : "true", c->blocks, c->records, c->bytes, c->raw_records);
	if (c->deep)
		printf(",\"holes\":%" PRIu64, c->holes);
	if (c->tip.block)
		printf(",\"head\":{\"block\":%" PRIu64 ",\"hash\":\"%s\"}", c->tip.block, hex);
	printf("}\n");
}

static void result_print(const struct journal_check *c)
{
	char blocks[32], records[32], bytes[32], raw[32], hex[HASH_HEX];

	hash_hex(c->tip.hash, sizeof(c->tip.hash), hex);
	printf("%s: %s block%s, %s record%s, %s", c->nwrong ? "NOT GOOD" : "good",
	       show_number(c->blocks, blocks), c->blocks == 1 ? "" : "s",
	       show_number(c->records, records), c->records == 1 ? "" : "s",
	       show_bytes(c->bytes, bytes));
	if (c->raw_records)
		printf("; %s not sealed yet", show_number(c->raw_records, raw));
	if (c->holes)
		printf("; %" PRIu64 " hole%s", c->holes, c->holes == 1 ? "" : "s");
	printf("\n");
	if (c->tip.block)
		printf("head: %" PRIu64 ":%s\n", c->tip.block, hex);
}

int verb_verify(int argc, char **argv)
{
	struct journal_check c = { .wrong = wrong_print };
	const char *key = NULL, *head = NULL;
	const struct word_opt opts[] = { { "deep", NULL, &c.deep },
					 { "cell", &c.cell, NULL },
					 { "key", &key, NULL },
					 { "head", &head, NULL },
					 { "json", NULL, &json } };
	uint8_t public[32];
	unsigned printed = 0;
	struct err e;
	int dir, rc, n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e);

	c.arg = &printed;
	if (n < 0 || (key && public_parse(key, public, &e) < 0) ||
	    (head && head_parse(head, &c, &e) < 0))
		return report(&e);
	if (n != 1)
		return fail(ERR_USAGE, "one directory is needed");
	dir = journal_dir_open(argv[0], &e);
	if (dir < 0)
		return report(&e);
	if (key)
		c.key = public;
	if (json)
		printf("{\"wrong\":[");
	rc = journal_verify(dir, &c, &e);
	close(dir);
	if (rc < 0) {
		if (json)
			printf("],\"ok\":false}\n");
		return report(&e);
	}
	if (json)
		result_json(&c);
	else
		result_print(&c);
	return c.nwrong ? 1 : 0;
}

/* ---- proofs ---- */

int verb_prove(int argc, char **argv)
{
	const struct word_opt opts[] = { { "json", NULL, &json } };
	struct buf out = { 0 };
	uint64_t seq;
	struct err e;
	int dir, rc, n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e);

	if (n < 0)
		return report(&e);
	if (n != 2 || !number_parse(argv[1], &seq))
		return fail(ERR_USAGE,
			    "'%s' is not the number of a record" REMEDY
			    "'viv journal --json' shows it as seq",
			    n == 2 ? argv[1] : "");
	dir = journal_dir_open(argv[0], &e);
	if (dir < 0)
		return report(&e);
	rc = journal_prove(dir, seq, &out, &e);
	close(dir);
	if (!rc)
		fwrite(out.p, 1, out.len, stdout);
	buf_free(&out);
	return rc < 0 ? report(&e) : 0;
}

static int proof_load(const char *name, struct buf *to, struct err *e)
{
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, err = errno;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && to->len < PROOF_MAX) {
		size_t before = to->len;

		n = read(fd, buf_more(to, 65536), 65536);
		err = errno;
		to->len = before + (size_t)MAX(n, 0);
	}
	if (fd > STDIN_FILENO)
		close(fd);
	if (n < 0)
		return err_set(e, err == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot read '%s': %s", name, strerror(err));
	if (n > 0)
		return err_set(e, ERR_TOO_LARGE, "'%s' is too large for a proof", name);
	return 0;
}

/* Adds the public halves of the host's own key and of those that it replaced. */
static int own_publics(const char *journals, struct buf *publics, struct err *e)
{
	struct journal_keys olds;
	struct journal_key k;
	int dir, rc;

	if (!journals)
		return err_set(e, ERR_USAGE,
			       "--key is needed" REMEDY
			       "'viv journal key' prints it where the journal was "
			       "written");
	dir = journal_dir_open(journals, e);
	if (dir < 0)
		return -1;
	rc = key_open(&k, dir, false, e);
	if (!rc) {
		buf_add(publics, k.public, sizeof(k.public));
		rc = keys_read(&olds, dir, &k, e);
		for (size_t i = 0; i < BUF_COUNT(&olds.old, struct key_old); i++)
			buf_add(publics, BUF_ITEM(&olds.old, struct key_old, i)->key.public,
				sizeof(k.public));
		keys_free(&olds);
		key_close(&k);
	}
	close(dir);
	return rc;
}

int verb_check(int argc, char **argv)
{
	const char *key = NULL, *journals = NULL;
	const struct word_opt opts[] = { { "key", &key, NULL },
					 { "journals", &journals, NULL },
					 { "json", NULL, &json } };
	struct buf text = { 0 }, hold = { 0 }, publics = { 0 };
	union journal_record record;
	struct journal_entry j;
	uint8_t public[32];
	char cell[40];
	struct err e;
	int rc, n = words_take(argc, argv, opts, ARRAY_LEN(opts), &e);

	if (n < 0)
		return report(&e);
	if (n != 1)
		return fail(ERR_USAGE, "one file with a proof is needed");
	rc = key ? public_parse(key, public, &e) : own_publics(journals, &publics, &e);
	if (key && !rc)
		buf_add(&publics, public, sizeof(public));
	if (!rc)
		rc = proof_load(argv[0], &text, &e);
	/* What is said is why it is not good by the current key. */
	for (size_t i = 0; !rc && i < publics.len; i += sizeof(public)) {
		struct err why;

		hold.len = 0;
		rc = journal_proof_check((char *)text.p, text.len, publics.p + i, &j, &record, cell,
					 &hold, &why);
		if (!rc)
			break;
		if (!i)
			e = why;
		rc = i + sizeof(public) < publics.len ? 0 : -1;
	}
	if (!rc && json) {
		line_json(stdout, &j, (struct jtext){ 0 });
	} else if (!rc) {
		printf("good: record %" PRIu64 " of cell ", j.seq);
		show_text(stdout, text_of(cell), 0);
		printf("\n");
		line_print(stdout, &j, (struct jtext){ 0 });
	}
	buf_free(&text);
	buf_free(&hold);
	buf_free(&publics);
	return rc < 0 ? report(&e) : 0;
}
