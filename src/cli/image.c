/* viv image: the work is done by viv-store, which links the libraries that viv does without. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* argv[0] is for viv-store to ignore. Returns only when it cannot be run. */
static int store_run(char **argv)
{
	int fd = program_open("viv-store");

	if (fd < 0)
		return EXIT_OWN;
	fexecve(fd, argv, environ);
	return fail("cannot run viv-store: %s", strerror(errno));
}

int image_main(int argc, char **argv)
{
	(void)argc;
	return store_run(argv);
}

void image_help(void)
{
	static char name[] = "image", help[] = "--help";
	char *argv[] = { name, help, NULL };

	store_run(argv);
}
