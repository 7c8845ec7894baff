/* wait with __WCLONE, __WALL and __WNOTHREAD: which children each of them means. */
#include "guest.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

static char stack[65536] __attribute__((aligned(16)));

static int quick(void *p)
{
	_exit((int)(long)p);
}

static pid_t make(int sig, int code)
{
	return clone(quick, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | sig,
		     (void *)(long)code);
}

static pid_t of_main;

static void *thread(void *p)
{
	int status = 0;
	pid_t own;

	(void)p;
	SHOW(waitpid(of_main, &status, __WNOTHREAD));
	own = fork();
	if (own == 0)
		_exit(6);
	CHECK(waitpid(own, &status, __WNOTHREAD) == own && WEXITSTATUS(status) == 6);
	return NULL;
}

int main(void)
{
	int status = 0;
	siginfo_t si;
	pthread_t t;
	pid_t a = make(SIGCHLD, 1), b = make(0, 2);
	struct rusage ru;

	CHECK(a > 0 && b > 0);
	SHOW(waitpid(b, &status, 0));
	SHOW(waitpid(a, &status, __WCLONE));
	CHECK(waitpid(b, &status, __WCLONE) == b && WEXITSTATUS(status) == 2);
	CHECK(waitpid(a, &status, __WALL) == a && WEXITSTATUS(status) == 1);
	b = make(SIGUSR2 * 0, 3);
	CHECK(waitpid(-1, &status, __WALL) == b && WEXITSTATUS(status) == 3);
	SHOW(waitpid(-1, &status, __WCLONE));
	SHOW(waitpid(-1, &status, 0x40));
	SHOW(waitid(P_ALL, 0, &si, WEXITED | __WCLONE));
	of_main = xfork();
	if (of_main == 0)
		_exit(5);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	CHECK(waitpid(of_main, &status, __WNOTHREAD) == of_main && WEXITSTATUS(status) == 5);

	/* The time of children counts once they were waited for, with that of their own children.
	 */
	pid_t pid = xfork();
	if (pid == 0) {
		pid_t inner = fork();
		if (inner == 0) {
			do
				getrusage(RUSAGE_SELF, &ru);
			while (ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec +
				       ru.ru_stime.tv_usec <
			       60000);
			_exit(0);
		}
		waitpid(inner, NULL, 0);
		_exit(0);
	}
	getrusage(RUSAGE_CHILDREN, &ru);
	CHECK(ru.ru_utime.tv_sec == 0 && ru.ru_utime.tv_usec < 50000);
	xwait(pid);
	getrusage(RUSAGE_CHILDREN, &ru);
	CHECK(ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec + ru.ru_stime.tv_usec >= 55000);
	CHECK(ru.ru_maxrss > 100 && ru.ru_minflt > 0);
	return 0;
}
