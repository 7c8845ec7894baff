/*
 * SIGSYS is the program's like any other: caught, blocked, ignored, inherited by exec; calls work
 * in each state.
 */
/* differs: SIGSYS carries the stub: a guest cannot block it */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	struct stat st;

	(void)sig;
	hits += stat("/", &st) == 0;
}

static void work(const char *what)
{
	int good = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(1);
	good += WEXITSTATUS(xwait(pid)) == 1;
	FILE *f = fopen("/proc/self/maps", "r");
	good += f != NULL;
	if (f)
		fclose(f);
	sigset_t set;
	good += sigprocmask(SIG_BLOCK, NULL, &set) == 0;
	good += system("exit 0") == 0;
	printf("%s: %d of 4 work\n", what, good);
}

int main(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGSYS, SIG_DFL);
	work("default");
	signal(SIGSYS, handler);
	raise(SIGSYS);
	kill(getpid(), SIGSYS);
	printf("hits %d\n", hits);
	work("caught");
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGSYS);
	work("blocked and pending");
	sigpending(&set);
	printf("hits %d, pending %d\n", hits, sigismember(&set, SIGSYS));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("hits %d\n", hits);
	CHECK(signal(SIGSYS, SIG_IGN) == handler);
	raise(SIGSYS);
	work("ignored");
	signal(SIGSYS, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	pid_t pid = xfork();
	if (pid == 0) {
		raise(SIGSYS);
		_exit(0);
	}
	show_status("default action", xwait(pid));
	return 0;
}
