/* viv-hold: runs a program of the operator's for vivd and ends with it everything that it started.
 *
 *   viv-hold PROGRAM [ARGUMENT...]
 *
 * Descriptor 3 is a line to vivd: its end, because the call is over or vivd is, ends the program.
 * The program is the leader of a session of its own. Processes that it leaves behind become our
 * children, whatever they did to get away, and are killed. The exit status is the program's, or 128
 * and the number of the signal; 127 and 126 as a shell has them if it cannot be started. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE 3
#define ROUNDS 100000 /* of killing: whoever forks faster than that is left to the host */

static _Noreturn void child_run(char **argv, const sigset_t *mask)
{
	setsid();
	sigprocmask(SIG_SETMASK, mask, NULL);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* One of our children that still runs; 0: there is none. */
static pid_t child_left(void)
{
	char path[64], text[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (pid_t)atoi(text);
}

/* Everything: those that are killed leave their children to us. */
static void all_kill(pid_t group)
{
	pid_t left;

	kill(-group, SIGKILL);
	for (int i = 0; i < ROUNDS; i++) {
		left = child_left();
		if (left <= 0)
			break;
		kill(left, SIGKILL);
		waitpid(left, NULL, 0);
	}
}

static int status_of(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/* Its wait status; -1: the line to vivd ended. Others that end meanwhile are orphans. */
static int child_wait(pid_t pid, int signals)
{
	struct pollfd p[] = { { .fd = LIFE, .events = POLLIN },
			      { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo si;
	int status;

	for (;;) {
		pid_t ended;

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			return -1;
		(void)!read(signals, &si, sizeof(si));
		while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
			if (ended == pid)
				return status;
	}
}

int main(int argc, char **argv)
{
	sigset_t child, before;
	int signals, status, null;
	pid_t pid;

	if (argc < 2 || fcntl(LIFE, F_SETFD, FD_CLOEXEC) < 0)
		return 125;
	/* Whatever a terminal or a session's end would send: the line alone ends us. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sigemptyset(&before);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = signals < 0 ? -1 : fork();
	if (pid == 0)
		child_run(argv + 1, &before);
	if (pid < 0)
		return 125;
	/* The ends of its streams are its own. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null >= 0)
			dup2(null, i);
	status = child_wait(pid, signals);
	all_kill(pid);
	return status < 0 ? 128 + SIGKILL : status_of(status);
}
