/*
 * Limits pass through fork and exec; lowering the hard limit cannot be taken back by a user; cur >
 * max is EINVAL.
 */
#include "guest.h"
#include <sys/resource.h>

static void as_user(void)
{
	struct rlimit lim = { .rlim_cur = 50, .rlim_max = 60 },
		      more = { .rlim_cur = 50, .rlim_max = 70 },
		      wrong = { .rlim_cur = 61, .rlim_max = 60 }, old;

	drop_to_user();
	SHOW(setrlimit(RLIMIT_NOFILE, &lim));
	SHOW(setrlimit(RLIMIT_NOFILE, &more));
	SHOW(setrlimit(RLIMIT_NOFILE, &wrong));
	lim.rlim_cur = 60;
	SHOW(setrlimit(RLIMIT_NOFILE, &lim));
	SHOW(prlimit(0, RLIMIT_NOFILE, NULL, &old));
	printf("%ld %ld\n", (long)old.rlim_cur, (long)old.rlim_max);
	SHOW(getrlimit(99, &old));
	SHOW(setrlimit(99, &lim));
	SHOW(prlimit(0x3fffffff, RLIMIT_NOFILE, NULL, &old));
	SHOW(prlimit(1, RLIMIT_NOFILE, &lim, &old));
	fflush(stdout);
	pid_t pid = xfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "ulimit -Sn; ulimit -Hn", (char *)NULL);
		_exit(127);
	}
	show_status("sh", xwait(pid));
}

int main(void)
{
	struct rlimit lim = { .rlim_cur = 33, .rlim_max = 44 }, old;
	int p[2];
	char c;

	signal(SIGCHLD, SIG_DFL);
	show_status("user", in_child(as_user));
	/* prlimit reaches another process of the same user. */
	(void)!pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		close(p[1]);
		(void)!read(p[0], &c, 1);
		getrlimit(RLIMIT_NOFILE, &old);
		_exit(old.rlim_cur == 33 && old.rlim_max == 44 ? 1 : 2);
	}
	SHOW(prlimit(pid, RLIMIT_NOFILE, &lim, NULL));
	close(p[1]);
	show_status("by prlimit", xwait(pid));
	return 0;
}
