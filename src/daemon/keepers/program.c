/* See program.h. */
#include "daemon/keepers/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void program_path(const char *name, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 64);

	path[MAX(n, 0)] = '\0';
	snprintf(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, 64, "%s", name);
}

int program_spawn(const char *name, char *const argv[], const int fds[PROGRAM_FDS])
{
	char path[4096];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	pid_t pid;
	int err;

	program_path(name, path, sizeof(path));
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	for (int i = 0; i < PROGRAM_FDS; i++)
		if (fds[i] >= 0)
			posix_spawn_file_actions_adddup2(&files, fds[i], i);
		else if (i < 3)
			posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
	err = posix_spawn(&pid, path, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err ? -err : pid;
}

int program_fd(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 2 * PROGRAM_FDS);

	if (fd >= 0)
		close(fd);
	return high;
}
