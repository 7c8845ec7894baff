/* --env-file, as docker has it: each line is NAME=VALUE, the value as it stands, or NAME for the
 * value that viv has. Blanks before a name are left out, and so are empty lines and those that
 * begin with '#'. Nothing is unquoted, and no line goes on in the next one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spec/options.h"

#define MAX_SIZE (1 << 20)

/* The whole file with a NUL behind it, or NULL with an error. */
static char *file_read(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = fd < 0 ? NULL : malloc(MAX_SIZE + 1);
	size_t size = 0;
	ssize_t n = -1;

	while (text && size <= MAX_SIZE) {
		n = read(fd, text + size, MAX_SIZE + 1 - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	if (n < 0) {
		err_note(e, ERR_USAGE, "--env-file '%s': %s", path, strerror(errno));
	} else if (size > MAX_SIZE || memchr(text, '\0', size)) {
		err_note(e, ERR_USAGE, "--env-file '%s': %s", path,
			 size > MAX_SIZE ? "larger than 1 MiB"
					 : "a variable cannot contain NUL bytes");
		n = -1;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

int env_file_read(const char *path, int (*take)(void *arg, const char *text, struct err *e),
		  void *arg, struct err *e)
{
	static const char blanks[] = " \t\v\f\r";
	char *text = file_read(path, e), *rest = text, *line;
	int status = text ? 0 : -1;

	/* What some editors put before UTF-8. */
	if (text && !strncmp(text, "\xef\xbb\xbf", 3))
		rest += 3;
	for (unsigned number = 1; !status && rest && (line = strsep(&rest, "\n")); number++) {
		size_t n = strlen(line), name;

		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		line += strspn(line, blanks);
		if (!*line || *line == '#')
			continue;
		name = strcspn(line, "=");
		if (!name || strcspn(line, blanks) < name)
			status = err_set(e, ERR_USAGE,
					 "--env-file '%s', line %u: give it as NAME=VALUE, or NAME "
					 "for the host's value",
					 path, number);
		else
			status = take(arg, line, e);
	}
	free(text);
	return status;
}
