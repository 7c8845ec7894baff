/* The other programs of the project: beside viv, or where 'make install' puts them. */
#include "keeper/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int program_open(const char *program)
{
	static const char *const places[] = { "", "../libexec/vivarium/" };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *name;
	int fd = -1;

	if (n <= 0) {
		fail("cannot read /proc/self/exe; viv needs /proc");
		return -1;
	}
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	for (unsigned i = 0; fd < 0 && i < ARRAY_LEN(places); i++) {
		snprintf(name, 64, "%s%s", places[i], program);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	*name = '\0';
	if (fd < 0)
		fail("%s is not in %s nor in %s../libexec/vivarium; 'make' builds it, "
		     "'make install' puts both in place",
		     program, path, path);
	return fd;
}
