/*
 * A child inherits handlers and mask, not pending signals, alarms, interval timers or POSIX timers.
 */
#include "guest.h"
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void child(void)
{
	sigset_t set;
	struct sigaction sa;
	struct itimerval it;

	sigpending(&set);
	printf("child: pending USR1 %d RTMIN %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGRTMIN));
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("child: blocked USR1 %d USR2 %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2));
	sigaction(SIGUSR1, NULL, &sa);
	printf("child: handler kept %d, flags kept %d\n", sa.sa_handler == handler,
	       (sa.sa_flags & SA_RESTART) != 0);
	getitimer(ITIMER_VIRTUAL, &it);
	printf("child: virtual timer set %d\n",
	       it.it_value.tv_sec != 0 || it.it_value.tv_usec != 0);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	printf("child: handler ran %d\n", (int)hits);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval it = { .it_value = { .tv_sec = 100 } };
	struct itimerspec ts = { .it_value = { .tv_sec = 100 } };
	timer_t timer;
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_SETMASK, &set, NULL);
	raise(SIGUSR1);
	raise(SIGRTMIN);
	setitimer(ITIMER_VIRTUAL, &it, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &ts, NULL);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		printf("child: alarm left %u\n", alarm(0));
		printf("child: timer_gettime %s\n",
		       timer_gettime(timer, &ts) ? ename(errno) : "works");
		child();
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	printf("parent: handler ran %d\n", (int)hits);
	return 0;
}
