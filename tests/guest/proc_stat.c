/*
 * /proc/self/stat: 52 fields, the name in brackets whatever it contains, ids, threads, and a
 * parent's view of a child.
 */
#include "guest.h"

static char text[4096], *field[64];
static int fields;

static void load(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	snprintf(text, sizeof(text), "%s", get_file(path));
	/* Fields after the last bracket; field[3] is the state, as the manual counts. */
	fields = 2;
	for (char *s = strtok(strrchr(text, ')') + 1, " \n"); s && fields < 60;
	     s = strtok(NULL, " \n"))
		field[++fields] = s;
}

int main(void)
{
	prctl(PR_SET_NAME, "od) R (d x");
	load(getpid());
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	printf("name %.*s\n", (int)(close - open + 1), open);
	SHOW(fields);
	CHECK(atoi(text) == getpid());
	printf("state %s\n", field[3]);
	CHECK(atoi(field[4]) == getppid());
	CHECK(atoi(field[5]) == getpgrp());
	CHECK(atoi(field[6]) == getsid(0));
	printf("threads %s\n", field[20]);
	CHECK(atoll(field[22]) > 0 && atoll(field[23]) > 100000 && atoll(field[24]) > 10);
	CHECK(atoi(field[14]) >= 0 && atoi(field[15]) >= 0);

	int p[2];
	char c;
	pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		setpgid(0, 0);
		write(p[1], "x", 1);
		pause();
		_exit(0);
	}
	read(p[0], &c, 1);
	for (int i = 0; i < 300; i++) {
		load(pid);
		if (field[3][0] == 'S')
			break;
		usleep(10000);
	}
	printf("child state %s\n", field[3]);
	CHECK(atoi(field[4]) == getpid() && atoi(field[5]) == pid && atoi(field[6]) == getsid(0));
	kill(pid, SIGKILL);
	siginfo_t si;
	waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
	load(pid);
	printf("dead child state %s, name kept %d\n", field[3],
	       strstr(text, "(od) R (d x)") != NULL);
	show_status("child", xwait(pid));
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	printf("reaped %s\n", get_file(path));
	return 0;
}
