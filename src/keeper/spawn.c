/* Starting a viv-keeper: its words in a sealed memory file, and a socket on which it says when its
 * cell runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/memfd.h"
#include "keeper/client.h"
#include "keeper/run.h"

#define WORDS_MAX (4UL << 20)

static int words_pack(char *const words[], struct err *e)
{
	size_t size = 0, at = 0;
	char *bytes;
	int fd;

	for (char *const *w = words; *w; w++)
		size += strlen(*w) + 1;
	if (size > WORDS_MAX)
		return err_set(e, ERR_USAGE, "the command and its environment are too long");
	bytes = malloc(size + 1);
	if (!bytes)
		return err_set(e, ERR_FAILED, "out of memory");
	for (char *const *w = words; *w; w++) {
		strcpy(bytes + at, *w);
		at += strlen(*w) + 1;
	}
	fd = memfd_sealed("viv-words", bytes, size);
	free(bytes);
	return fd < 0 ? err_set(e, ERR_FAILED, "no memory file: %s", strerror(-fd)) : fd;
}

int keep_spawn(char *const words[], struct keep_hello *ret, struct err *e)
{
	static char name[] = "viv-keeper";
	char *argv[] = { name, NULL };
	int pair[2], fds[3] = { -1, -1, -1 };
	struct keep_msg m;
	ssize_t n;
	pid_t pid;

	fds[0] = words_pack(words, e);
	if (fds[0] < 0)
		return -1;
	fds[2] = program_open("viv-keeper", e);
	if (fds[2] < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		close(fds[0]);
		if (fds[2] >= 0) {
			err_set(e, ERR_FAILED, "no socket: %s", strerror(errno));
			close(fds[2]);
		}
		return err_wrap(e, "cannot start a keeper");
	}
	fds[1] = pair[1];
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* Twice, so that nobody has to wait for it. */
		setsid();
		if (fork())
			_exit(0);
		for (int i = 0; i < 3; i++)
			fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 10);
		if (dup2(fds[0], KEEPER_FD_WORDS) == KEEPER_FD_WORDS &&
		    dup2(fds[1], KEEPER_FD_READY) == KEEPER_FD_READY)
			fexecve(fds[2], argv, environ);
		_exit(126);
	}
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(e, ERR_FAILED, "cannot fork: %s", strerror(errno));
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	do
		n = recv(pair[0], &m, sizeof(m), 0);
	while (n < 0 && errno == EINTR);
	close(pair[0]);
	if (n != sizeof(m))
		return err_set(e, ERR_FAILED, "the cell's keeper ended at its start");
	if (m.type == KEEP_FAIL) {
		keep_fail_get(&m, e);
		return -1;
	}
	*ret = m.hello;
	return 0;
}
