/*
 * kill: signal 0 only asks, ESRCH for nobody, EINVAL for no signal, EPERM for another user's
 * process.
 */
#include "guest.h"
#include <sys/syscall.h>

static void as_user(void)
{
	drop_to_user();
	SHOW(kill(1, 0));
	SHOW(kill(1, SIGTERM));
	SHOW(kill(1, 65));
}

int main(void)
{
	pid_t self = getpid();

	signal(SIGCHLD, SIG_DFL);
	SHOW(kill(self, 0));
	SHOW(kill(0, 0));
	SHOW(kill(0x3fffffff, 0));
	SHOW(kill(0x3fffffff, SIGTERM));
	SHOW(kill(-0x3fffffff, SIGTERM));
	SHOW(kill(self, 65));
	SHOW(kill(self, -1));
	SHOW(kill(0x3fffffff, 65));
	SHOW(kill((int)0x80000000, 0));
	SHOW(syscall(SYS_tgkill, self, self, 0));
	SHOW(syscall(SYS_tgkill, self, 0x3fffffff, 0));
	SHOW(syscall(SYS_tgkill, self, self, 65));
	SHOW(syscall(SYS_tgkill, -1, self, 0));
	SHOW(syscall(SYS_tgkill, self, 0, 0));
	SHOW(syscall(SYS_tgkill, 1, self, 0));
	SHOW(syscall(SYS_tkill, -1, 0));
	SHOW(syscall(SYS_tkill, 0x3fffffff, 0));
	show_status("as a user", in_child(as_user));
	return 0;
}
