/* The other programs of the project: beside viv, or where 'make install' puts them. */
#include "keeper/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int program_open(const char *program, struct err *e)
{
	static const char *const places[] = { "", "../libexec/vivarium/", "../../bin/" };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *name;
	int fd = -1;

	if (n <= 0)
		return err_set(e, ERR_FAILED,
			       "cannot read /proc/self/exe" REMEDY "viv needs /proc");
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	for (unsigned i = 0; fd < 0 && i < ARRAY_LEN(places); i++) {
		snprintf(name, 64, "%s%s", places[i], program);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	*name = '\0';
	if (fd < 0)
		err_set(e, ERR_FAILED,
			"%s is not in %s nor in %s../libexec/vivarium" REMEDY "'make' builds it, "
			"'make install' puts both in place",
			program, path, path);
	return fd;
}

int program_run(const char *program, char **argv, struct err *e)
{
	int fd = program_open(program, e);

	if (fd < 0)
		return -1;
	fexecve(fd, argv, environ);
	return err_set(e, ERR_FAILED, "cannot run %s: %s", program, strerror(errno));
}
