/*
 * What exec keeps: directory, umask, groups, nice value, limits, an alarm. What it drops: name,
 * signal stack, timers.
 */
#include "guest.h"
#include <sys/resource.h>
#include <sys/time.h>

static mode_t mask_before;
static unsigned alarm_before;

__attribute__((constructor(101))) static void early(void)
{
	mask_before = umask(0);
	alarm_before = alarm(0);
}

int main(int argc, char **argv)
{
	struct rlimit lim = { .rlim_cur = 77, .rlim_max = 99 };
	struct itimerval it = { .it_value = { .tv_sec = 1000 } };
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	char *cwd;

	if (argc > 1) {
		printf("umask %03o, alarm between 100 and 200: %d\n", mask_before,
		       alarm_before >= 100 && alarm_before <= 200);
		cwd = getcwd(NULL, 0);
		printf("directory %s\n", strrchr(cwd, '/') + 1);
		free(cwd);
		rmdir("../kept");
		printf("own group kept %d\n",
		       getpgrp() == atoi(argv[1]) && getpid() == atoi(argv[1]));
		printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
		getrlimit(RLIMIT_NOFILE, &lim);
		printf("files %ld %ld\n", (long)lim.rlim_cur, (long)lim.rlim_max);
		getitimer(ITIMER_VIRTUAL, &it);
		printf("virtual timer kept %d\n", it.it_value.tv_sec > 900);
		sigaltstack(NULL, &ss);
		printf("signal stack disabled %d\n", ss.ss_flags == SS_DISABLE);
		printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		char num[16];
		snprintf(num, sizeof(num), "%d", getpid());
		setpgid(0, 0);
		mkdir("kept", 0755);
		(void)!chdir("kept");
		umask(027);
		alarm(200);
		setpriority(PRIO_PROCESS, 0, 19);
		setrlimit(RLIMIT_NOFILE, &lim);
		setitimer(ITIMER_VIRTUAL, &it, NULL);
		sigaltstack(&ss, NULL);
		prctl(PR_SET_DUMPABLE, 0);
		char exe[512] = "";
		(void)!readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		execl(exe, "self", num, (char *)NULL);
		_exit(127);
	}
	show_status("exec", xwait(pid));
	return 0;
}
