/* Starting vivd. It is beside the program that asks, or where 'make install' puts it, or in PATH.
 * 'vivd --detach' returns when it answers, or says on standard error why it does not; one that
 * finds another one running waits for that one's answer. */
#include "client/start.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"

#define MAX_OPTIONS 128

static int vivd_find(char *path, size_t size)
{
	static const char *const places[] = { "", "../libexec/vivarium/" };
	ssize_t n = readlink("/proc/self/exe", path, size - 64);
	char *name;

	if (n > 0) {
		path[n] = '\0';
		name = strrchr(path, '/') + 1;
		for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
			snprintf(name, 64, "%svivd", places[i]);
			if (access(path, X_OK) == 0)
				return 0;
		}
	}
	strcpy(path, "vivd");
	return 0;
}

/* The last line that it said is its error. */
static void error_take(int fd, struct viv_error *error)
{
	char text[8192], *line;
	struct json_doc d;
	struct err e;
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 && ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0 ||
					  (n < 0 && errno == EINTR)))
		if (n > 0)
			len += (size_t)n;
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	viv_error_set(error, 0, "vivd could not start");
	if (!*line || json_parse(&d, line, strlen(line), &e) < 0)
		return;
	json_get_err(d.root, 0, &e);
	viv_error_from(error, 0, &e);
	json_free(&d);
}

int viv_start(const char *const options[], struct viv_error *error)
{
	char path[4096], detach[] = "--detach", json[] = "--json";
	char *argv[MAX_OPTIONS + 4] = { path, detach, json };
	posix_spawn_file_actions_t fa;
	int said[2], status, err;
	extern char **environ;
	unsigned n = 3;
	pid_t pid;

	vivd_find(path, sizeof(path));
	for (unsigned i = 0; options && options[i]; i++) {
		if (i == MAX_OPTIONS)
			return viv_error_set(error, E2BIG, "too many options for vivd");
		argv[n++] = (char *)(uintptr_t)options[i];
	}
	if (pipe2(said, O_CLOEXEC) < 0)
		return viv_error_set(error, errno, "no pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&fa, 0, 1);
	posix_spawn_file_actions_adddup2(&fa, said[1], 2);
	err = posix_spawnp(&pid, path, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(said[1]);
	if (err) {
		close(said[0]);
		return viv_error_set(error, err, "cannot start vivd (%s): %s", path, strerror(err));
	}
	error_take(said[0], error);
	close(said[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return viv_error_set(error, errno, "cannot wait for vivd: %s",
					     strerror(errno));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
