/* See words.h. */
#include "cli/words.h"

#include <string.h>

#include "base/err.h"
#include "cli/cli.h"

static void word_remove(int *argc, char **argv, int i, int n)
{
	memmove(argv + i, argv + i + n, (size_t)(*argc - i - n + 1) * sizeof(*argv));
	*argc -= n;
}

int option_take(int *argc, char **argv, const char *name, const char **ret)
{
	size_t n = strlen(name);

	for (int i = 1; i < *argc && strcmp(argv[i], "--"); i++) {
		if (strncmp(argv[i], name, n) || (argv[i][n] && argv[i][n] != '='))
			continue;
		if (argv[i][n] == '=') {
			*ret = argv[i] + n + 1;
			word_remove(argc, argv, i, 1);
		} else if (i + 1 < *argc) {
			*ret = argv[i + 1];
			word_remove(argc, argv, i, 2);
		} else {
			fail("%s needs a value", name);
			return ERR_USAGE;
		}
		i--;
	}
	return 0;
}

bool flag_take(int *argc, char **argv, const char *name)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], name)) {
			word_remove(argc, argv, i, 1);
			return true;
		}
	return false;
}

int words_check(int argc, char **argv, int min, int max, const char *usage)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '-') {
			fail("unknown option '%s'; usage: %s", argv[i], usage);
			return ERR_USAGE;
		}
	if (argc - 1 < min || argc - 1 > max) {
		fail("usage: %s", usage);
		return ERR_USAGE;
	}
	return 0;
}
