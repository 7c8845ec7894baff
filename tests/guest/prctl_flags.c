/*
 * PR_SET_NO_NEW_PRIVS cannot be taken back and is inherited; PR_SET_DUMPABLE takes 0 and 1; unknown
 * options are EINVAL.
 */
#include "guest.h"

static void child(void)
{
	SHOW(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(PR_GET_DUMPABLE));
	printf("status: %d\n", atoi(strstr(get_file("/proc/self/status"), "NoNewPrivs:") + 11));
}

static void all(void)
{
	SHOW(prctl(PR_SET_DUMPABLE, 1));
	SHOW(prctl(PR_GET_DUMPABLE));
	SHOW(prctl(PR_SET_DUMPABLE, 0));
	SHOW(prctl(PR_GET_DUMPABLE));
	SHOW(prctl(PR_SET_DUMPABLE, 2));
	SHOW(prctl(PR_SET_DUMPABLE, 1));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	show_status("child", in_child(child));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(123456, 0, 0, 0, 0));
	SHOW(prctl(PR_GET_KEEPCAPS));
	SHOW(prctl(PR_SET_KEEPCAPS, 7));
	SHOW(prctl(PR_GET_TIMING));
	SHOW(prctl(PR_SET_TIMERSLACK, 70000));
	SHOW(prctl(PR_GET_TIMERSLACK));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("all", in_child(all));
	return 0;
}
