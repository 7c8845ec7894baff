/*
 * A stop signal that comes while it is blocked waits and stops the process when it is unblocked,
 * however that happens; unless the group is orphaned by then, or something took it before: sigwait,
 * SIGCONT, SIG_IGN.
 */
#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

static int ready[2], go[2];
static sigset_t all, none;

static void say(void)
{
	if (write(ready[1], "r", 1) != 1)
		_exit(99);
}

static void await(void)
{
	char c;

	if (read(go[0], &c, 1) != 1)
		_exit(99);
}

static void unblock(void)
{
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void by_poll(void)
{
	struct timespec soon = { .tv_nsec = 1000000 };

	if (ppoll(NULL, 0, &soon, &none) != 0)
		_exit(98);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void by_suspend(void)
{
	signal(SIGALRM, on_alarm);
	ualarm(20000, 20000);
	sigsuspend(&none);
}

static void by_exec(void)
{
	execl("/proc/self/exe", "again", NULL);
}

static void taken(void)
{
	siginfo_t si;

	sigwaitinfo(&all, &si);
	unblock();
}

static void ignored(void)
{
	for (int s = SIGTSTP; s <= SIGTTOU; s++)
		signal(s, SIG_IGN);
	unblock();
}

static void *waits_open(void *arg)
{
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	say();
	for (;;)
		pause();
	return arg;
}

/* The first thread keeps it blocked; another one takes it. */
static void by_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waits_open, NULL);
	await();
}

static void *waits_blocked(void *arg)
{
	say();
	await();
	unblock();
	return arg;
}

static void by_last_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waits_blocked, NULL);
	pthread_join(t, NULL);
}

static void by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		unblock(); /* what is pending stays the parent's */
		_exit(5);
	}
	xwait(pid);
	unblock();
}

/* sig is sent when it says that it is ready; then it goes on with how(). */
static void try(const char *what, int sig, void (*how)(void), bool orphaned, bool cont)
{
	bool threads = how == by_thread || how == by_last_thread;
	int status;
	char c;
	pid_t pid = xfork();

	if (pid == 0) {
		if (orphaned)
			setsid();
		else
			setpgid(0, 0);
		for (int s = SIGTSTP; s <= SIGTTOU; s++)
			signal(s, SIG_DFL);
		sigprocmask(SIG_SETMASK, &all, NULL);
		if (!threads) {
			say();
			await();
		}
		how();
		_exit(7);
	}
	if (read(ready[0], &c, 1) != 1)
		exit(1);
	kill(pid, sig);
	if (cont)
		kill(pid, SIGCONT);
	if (how != by_thread && write(go[1], "g", 1) != 1)
		exit(1);
	waitpid(pid, &status, WUNTRACED);
	printf("%s, %s: ", what, signame(sig));
	if (WIFSTOPPED(status)) {
		printf("stopped by it %d, then ", WSTOPSIG(status) == sig);
		kill(pid, SIGCONT);
		if (how == by_thread && write(go[1], "g", 1) != 1)
			exit(1);
		waitpid(pid, &status, 0);
	}
	show_status("end", status);
}

int main(int argc, char **argv)
{
	(void)argc;
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigemptyset(&none);
	if (!strcmp(argv[0], "again")) {
		unblock();
		return 7;
	}
	signal(SIGCHLD, SIG_DFL);
	if (pipe(ready) < 0 || pipe(go) < 0)
		return 1;
	for (int sig = SIGTSTP; sig <= SIGTTOU; sig++) {
		try("unblocked", sig, unblock, false, false);
		try("unblocked, orphaned", sig, unblock, true, false);
	}
	try("ppoll", SIGTSTP, by_poll, false, false);
	try("ppoll, orphaned", SIGTSTP, by_poll, true, false);
	try("sigsuspend", SIGTSTP, by_suspend, false, false);
	try("execve", SIGTSTP, by_exec, false, false);
	try("fork", SIGTSTP, by_fork, false, false);
	try("another thread", SIGTSTP, by_thread, false, false);
	try("last thread", SIGTSTP, by_last_thread, false, false);
	try("sigwaitinfo", SIGTSTP, taken, false, false);
	try("ignored", SIGTSTP, ignored, false, false);
	try("SIGCONT", SIGTSTP, unblock, false, true);
	return 0;
}
