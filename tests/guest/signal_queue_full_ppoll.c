/* When no more signals can be queued, ppoll with a mask still hears that its file is ready. */
#include "guest.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

static int p[2];

static void *writer(void *arg)
{
	(void)arg;
	usleep(100000);
	if (write(p[1], "x", 1) != 1)
		_exit(9);
	return NULL;
}

int main(void)
{
	union sigval v = { 0 };
	struct rlimit lim;
	struct timespec ten = { 10, 0 };
	pthread_t th;
	sigset_t set;
	long queued = 0;

	/* All of a user's processes count: full for us, it leaves the other half to them. */
	getrlimit(RLIMIT_SIGPENDING, &lim);
	CHECK(lim.rlim_cur > 0);
	lim.rlim_cur /= 2;
	SHOW(setrlimit(RLIMIT_SIGPENDING, &lim));
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(pipe(p) == 0);
	pthread_create(&th, NULL, writer, NULL);
	while (queued < 2000000 && sigqueue(getpid(), SIGRTMIN + 1, v) == 0)
		queued++;
	SHOW(queued > 0 && queued < 2000000);
	struct pollfd f = { .fd = p[0], .events = POLLIN };
	for (int i = 0; i < 3; i++) {
		SHOW(ppoll(&f, 1, &ten, &set));
		char c;
		SHOW(read(p[0], &c, 1));
		pthread_join(th, NULL);
		if (i < 2)
			pthread_create(&th, NULL, writer, NULL);
	}
	return 0;
}
