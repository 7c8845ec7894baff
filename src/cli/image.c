/* viv image: the work is done by viv-store, which links the libraries that viv does without. The words are looked at here, as those of every
 * verb, and then handed on as they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"

/* argv[0] is the second word, 'ls' of 'image ls'. */
int image_main(int argc, char **argv)
{
	static char name[] = "image";
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	struct args a;
	int status;

	if (!words)
		return fail(ERR_FAILED, "out of memory");
	words[0] = name;
	memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	status = args_take(&a, argc, argv);
	if (!status) {
		fflush(stdout);
		status = program_run("viv-store", words);
	}
	free(words);
	return status;
}
