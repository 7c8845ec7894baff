/*
 * sigqueue carries an int or a pointer unchanged; from another process too; to a thread by
 * pthread_sigqueue.
 */
#include "guest.h"
#include <pthread.h>

static volatile uintptr_t got;
static volatile pid_t by;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	got = (uintptr_t)si->si_value.sival_ptr;
	by = gettid();
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t self = getpid();

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGRTMIN + 1, &sa, NULL);
	sigqueue(self, SIGRTMIN + 1, (union sigval){ .sival_ptr = (void *)0x123456789abcdef0 });
	printf("self: %#lx\n", (long)got);
	pid_t pid = xfork();
	if (pid == 0) {
		sigqueue(self, SIGRTMIN + 1,
			 (union sigval){ .sival_ptr = (void *)0xfedcba9876543210 });
		_exit(0);
	}
	xwait(pid);
	printf("child: %#lx\n", (long)got);
	pthread_sigqueue(pthread_self(), SIGRTMIN + 1, (union sigval){ .sival_ptr = (void *)0x42 });
	printf("thread: %#lx, handled by itself %d\n", (long)got, by == gettid());
	SHOW(sigqueue(self, 0, (union sigval){ 0 }));
	SHOW(sigqueue(self, 65, (union sigval){ 0 }));
	SHOW(sigqueue(self, -1, (union sigval){ 0 }));
	SHOW(sigqueue(0x3fffffff, SIGRTMIN, (union sigval){ 0 }));
	return 0;
}
