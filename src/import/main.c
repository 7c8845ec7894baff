/* viv-store: the program that writes the store. vivd runs it, and 'viv image' for what only reads;
 * it is a program of its own because it links OpenSSL and libarchive, which viv, the starter of
 * cells, does without. viv has looked at the words before (its table of verbs has all options, and
 * the help). */
#include <locale.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limit.h"
#include "import/progress.h"
#include "import/verbs.h"

static const struct verb verbs[] = {
	{ "import", verb_import }, { "ls", verb_ls },	      { "inspect", verb_inspect },
	{ "export", verb_export }, { "tag", verb_tag },	      { "rm", verb_rm },
	{ "gc", verb_gc },	   { "verify", verb_verify },
};

static mode_t umask_before;

mode_t caller_umask(void)
{
	return umask_before;
}

static void environment_prepare(void)
{
	/* Names in archives may be in UTF-8, whatever the terminal's language is. */
	setlocale(LC_CTYPE, "C.UTF-8");
	umask_before = umask(022);
	limit_files_raise(65536);
	interrupt_catch();
}

int main(int argc, char **argv)
{
	const struct verb *v = NULL;
	struct store s;
	struct err e;
	int status;

	if (argc < 2) {
		fprintf(stderr, "viv-store is started by viv; 'viv help image' explains it\n");
		return ERR_USAGE;
	}
	for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			report_json(true);
		else if (!strcmp(argv[i], "--progress"))
			progress_json();
	for (unsigned i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			v = &verbs[i];
	if (!v)
		return fail(ERR_USAGE,
			    "unknown command 'image %s'" REMEDY "'viv help image' lists them",
			    argv[1]);
	environment_prepare();
	if (store_open(&s, &e) < 0)
		return report(&e);
	status = v->main(&s, argc - 1, argv + 1);
	if (fflush(stdout) && !status) {
		err_set(&e, ERR_FAILED, "cannot write the output");
		status = report(&e);
	}
	interrupt_finish();
	return status;
}
