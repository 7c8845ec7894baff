/* An ordinary user cannot become another, nor change groups: EPERM; and stays what it is. */
#include "guest.h"

static void as_user(void)
{
	drop_to_user();
	uid_t uid = getuid();
	gid_t gid = getgid();

	SHOW(setuid(0));
	SHOW(seteuid(0));
	SHOW(setreuid(0, 0));
	SHOW(setresuid(-1, -1, 0));
	SHOW(setgid(0));
	SHOW(setegid(0));
	SHOW(setresgid(4242, -1, -1));
	SHOW(setgroups(0, NULL));
	SHOW(setuid(4242));
	CHECK(getuid() == uid && geteuid() == uid && getgid() == gid && getegid() == gid);
	SHOW(chroot("."));
	SHOW(sethostname("x", 1));
	SHOW(chown(".", 0, -1));
	volatile int minus = -1;
	SHOW(getgroups(minus, NULL));
	CHECK(getgroups(0, NULL) >= 0);
	/* A child and a program inherit it. */
	pid_t pid = xfork();
	if (pid == 0)
		_exit(getuid() == uid && setuid(0) < 0 ? 1 : 2);
	show_status("fork", xwait(pid));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("user", in_child(as_user));
	return 0;
}
