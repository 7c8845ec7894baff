/*
 * With SIGCHLD ignored, or SA_NOCLDWAIT, children leave no zombie: wait sleeps until all are gone,
 * then ECHILD.
 */
#include "guest.h"

static volatile sig_atomic_t hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void three_children(const char *what)
{
	int p[2], n = 0;
	char c;

	(void)!pipe(p);
	for (int i = 0; i < 3; i++) {
		if (xfork() == 0) {
			usleep(i * 50000);
			(void)!write(p[1], "x", 1);
			_exit(i);
		}
	}
	while (wait(NULL) < 0 && errno == EINTR)
		;
	printf("%s: wait gave %s", what, ename(errno));
	close(p[1]);
	while (read(p[0], &c, 1) == 1)
		n++;
	printf(" after %d had ended\n", n);
	close(p[0]);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_NOCLDWAIT };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_IGN);
	three_children("ignored");
	sigaction(SIGCHLD, &sa, NULL);
	three_children("SA_NOCLDWAIT");
	printf("handler ran %d\n", hits > 0);
	signal(SIGCHLD, SIG_DFL);
	pid_t pid = xfork();
	if (pid == 0)
		_exit(4);
	show_status("default", xwait(pid));
	/* Ignoring it does not remove a zombie that is there already. */
	pid = xfork();
	if (pid == 0)
		_exit(5);
	siginfo_t si;
	waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
	signal(SIGCHLD, SIG_IGN);
	show_status("ignored late", xwait(pid));
	return 0;
}
