/* Children whose exit signal is not SIGCHLD are seen by wait only with __WALL or __WCLONE. */
#include "guest.h"
#include <sched.h>
#include <sys/syscall.h>

static pid_t start(int sig, int code)
{
	fflush(stdout);
	pid_t pid = syscall(SYS_clone, sig, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(code);
	return pid;
}

int main(void)
{
	int status;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	pid_t pid = start(0, 1);
	SHOW(waitpid(pid, &status, 0));
	SHOW(waitpid(-1, &status, WNOHANG));
	CHECK(waitpid(pid, &status, __WALL) == pid);
	show_status("no signal", status);
	pid = start(0, 2);
	CHECK(waitpid(-1, &status, __WCLONE) == pid);
	show_status("no signal", status);
	pid = start(SIGUSR1, 3);
	SHOW(waitpid(pid, &status, 0));
	CHECK(waitpid(pid, &status, __WCLONE) == pid);
	show_status("USR1", status);
	pid = start(SIGCHLD, 4);
	SHOW(waitpid(pid, &status, __WCLONE));
	CHECK(waitpid(pid, &status, __WALL) == pid);
	show_status("CHLD", status);
	pid = start(SIGCHLD, 5);
	CHECK(waitpid(pid, &status, 0) == pid);
	show_status("CHLD", status);
	return 0;
}
