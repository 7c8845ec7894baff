/* sigtimedwait of a signal that is blocked and ignored; a signal can be queued to a thread's
 * number. */
#include "guest.h"

#include <pthread.h>
#include <sys/syscall.h>

static pthread_barrier_t b;
static pid_t tid;

static void *thread(void *p)
{
	(void)p;
	tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	return NULL;
}

int main(void)
{
	struct timespec zero = { 0 };
	siginfo_t si, in = { 0 };
	pthread_t t;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, SIG_IGN);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	SHOW(sigtimedwait(&set, &si, &zero));
	CHECK(raise(SIGUSR1) == 0);
	SHOW(sigtimedwait(&set, &si, &zero) == SIGUSR1);
	/* SIGCHLD is ignored by default: blocked and waited for it arrives. */
	pid_t pid = xfork();
	if (pid == 0)
		_exit(3);
	struct timespec some = { 10, 0 };
	SHOW(sigtimedwait(&set, &si, &some) == SIGCHLD);
	CHECK(si.si_pid == pid && si.si_status == 3 && si.si_code == CLD_EXITED);
	xwait(pid);

	signal(SIGUSR1, SIG_DFL);
	in.si_signo = SIGRTMIN;
	in.si_code = SI_QUEUE;
	in.si_pid = getpid();
	in.si_uid = getuid();
	in.si_value.sival_int = 99;
	SHOW(syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &in));
	CHECK(sigtimedwait(&set, &si, &zero) == SIGRTMIN);
	printf("value %d code %d\n", si.si_value.sival_int, si.si_code);
	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, thread, NULL);
	pthread_barrier_wait(&b);
	in.si_value.sival_int = 100;
	SHOW(syscall(SYS_rt_sigqueueinfo, tid, SIGRTMIN, &in));
	CHECK(sigtimedwait(&set, &si, &some) == SIGRTMIN);
	printf("value %d\n", si.si_value.sival_int);
	SHOW(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGRTMIN, &in));
	SHOW(sigtimedwait(&set, &si, &zero));
	in.si_code = SI_USER;
	SHOW(syscall(SYS_rt_sigqueueinfo, getppid(), SIGRTMIN, &in));
	in.si_code = SI_TKILL;
	SHOW(syscall(SYS_rt_sigqueueinfo, 1, 0, &in));
	SHOW(kill(tid, 0));
	pthread_barrier_wait(&b);
	pthread_join(t, NULL);
	return 0;
}
