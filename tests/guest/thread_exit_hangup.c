/* A thread with descriptors of its own ends, and with it the master of the process's terminal. The
 * hang-up that comes of it is for the process: not for the thread that is no more. */
#include "pty.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

static volatile sig_atomic_t hung_up;
static pthread_barrier_t closed;

static void on_hup(int sig)
{
	hung_up = sig;
}

static void *keeper(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGHUP);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	CHECK(unshare(CLONE_FILES) == 0);
	pthread_barrier_wait(&closed);
	pthread_barrier_wait(&closed);
	syscall(SYS_exit, arg); /* with the mask that it has */
	return NULL;
}

static void leader(void)
{
	struct timespec wait = { 5, 0 };
	sigset_t hup;
	pthread_t th;

	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	sigprocmask(SIG_BLOCK, &hup, NULL);
	signal(SIGHUP, on_hup);
	CHECK(setsid() > 0);
	pair_open();
	CHECK(ioctl(s, TIOCSCTTY, 0) == 0);
	pthread_barrier_init(&closed, NULL, 2);
	pthread_create(&th, NULL, keeper, NULL);
	pthread_barrier_wait(&closed);
	close(m);
	pthread_barrier_wait(&closed);
	pthread_join(th, NULL);
	CHECK(sigtimedwait(&hup, NULL, &wait) == SIGHUP);
	CHECK(!hung_up);
	exit(0);
}

int main(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		leader();
	CHECK(waitpid(pid, &status, 0) == pid);
	SHOW(status);
	return 0;
}
