/* viv-journal: seals, prints and verifies journals. The keeper and vivd run it, and 'viv journal'
 * does; a program of its own, because it links OpenSSL and zstd, which viv and the keeper do
 * without. viv has looked at the words before.
 *
 *   seal DIR [--all | --through NUMBER]  make blocks of raw files: of complete ones, of all, or up
 *                             to that number (journal.h)
 *   append DIR --cell ID      add the frames on standard input to the journal of a cell that does
 *                             not run, behind what its last run left in rings; vivd does
 *   print DIR [FILTERS] [--follow] [--json] [--page|--sse] [--after SEQ] [--limit N] [--ping]
 *   verify DIR [--deep] [--cell ID] [--key PUBLIC] [--head BLOCK:HASH] [--json]
 *   head DIR [--json]         number and hash of the last sealed block
 *   key JOURNALS [--rotate] [--json]    the public key; made if there is none, or with --rotate
 *   prove DIR SEQ             a proof for a record, on standard output
 *   touched DIR [--all] [--since WHEN] [--until WHEN] [--json]
 *   blame DIR PATH [--all] [--json]
 *   timeline DIR [--html FILE] [--since WHEN] [--until WHEN]
 *   diff DIR A B [--all] [--json]    touched, between two snapshots
 *   export DIR [--format ndjson|ocsf|otlp] [--to URL] [--since WHEN] [--until WHEN]
 *   check FILE|- --key PUBLIC | --journals JOURNALS [--json]
 *
 * Exit status: 0; 1: the journal or the proof is not good, or something failed; 2: wrong usage; 3:
 * there is no such journal, record or key; 4: a file is not safe to use (a link, of another user);
 * 5: conflict (it is being written). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/report.h"
#include "journal/hash.h"
#include "journal/verbs.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} verbs[] = {
	{ "seal", verb_seal },	   { "append", verb_append },	  { "print", verb_print },
	{ "verify", verb_verify }, { "head", verb_head },	  { "key", verb_key },
	{ "prove", verb_prove },   { "check", verb_check },	  { "touched", verb_touched },
	{ "blame", verb_blame },   { "timeline", verb_timeline }, { "diff", verb_diff },
	{ "export", verb_export }, { "tend", verb_tend },
};

static const struct word_opt *opt_find(const struct word_opt *opts, unsigned n, const char *word)
{
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(opts[i].name);

		if (!strncmp(word, opts[i].name, len) && (!word[len] || word[len] == '='))
			return &opts[i];
	}
	return NULL;
}

int words_take(int argc, char **argv, const struct word_opt *opts, unsigned nopts, struct err *e)
{
	int n = 0;

	for (int i = 0; i < argc; i++) {
		const struct word_opt *o;
		const char *equals;

		if (!strcmp(argv[i], "--")) {
			while (++i < argc)
				argv[n++] = argv[i];
			break;
		}
		if (strncmp(argv[i], "--", 2) != 0) {
			argv[n++] = argv[i];
			continue;
		}
		o = opt_find(opts, nopts, argv[i] + 2);
		equals = strchr(argv[i], '=');
		if (!o || (equals && !o->value))
			return err_set(e, ERR_USAGE,
				       "unknown option '%s'" REMEDY "'viv help journal' lists them",
				       argv[i]);
		if (o->on)
			*o->on = true;
		if (!o->value)
			continue;
		if (!equals && ++i == argc)
			return err_set(e, ERR_USAGE,
				       "--%s needs a value" REMEDY "'viv help journal' explains it",
				       o->name);
		*o->value = equals ? equals + 1 : argv[i];
	}
	argv[n] = NULL;
	return n;
}

bool number_parse(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno && !*end && *ret;
}

int public_parse(const char *text, uint8_t public[32], struct err *e)
{
	char line[HASH_HEX] = "";
	ssize_t n;
	int fd;

	if (hash_unhex(text, public, 32))
		return 0;
	fd = open(text, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (n == sizeof(line) - 1 && hash_unhex(line, public, 32))
		return 0;
	return err_set(e, ERR_USAGE,
		       "--key '%s' is neither a public key of 64 digits nor a file with one" REMEDY
		       "'viv journal key' prints it where the journal was written",
		       text);
}

int main(int argc, char **argv)
{
	int status = -1;

	if (argc < 2) {
		fprintf(stderr, "viv-journal is started by viv; 'viv help journal' explains it\n");
		return ERR_USAGE;
	}
	for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			report_json(true);
	umask(077);
	for (unsigned i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			status = verbs[i].main(argc - 2, argv + 2);
	if (status < 0)
		return fail(ERR_USAGE,
			    "unknown command 'journal %s'" REMEDY "'viv help journal' lists them",
			    argv[1]);
	if (fflush(stdout) && !status && errno != EPIPE)
		status = fail(ERR_FAILED, "cannot write the output: %s", strerror(errno));
	return status;
}
