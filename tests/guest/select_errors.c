/* select's errors, and that they leave the sets alone; pselect's mask and unchanged timeout. */
#include "guest.h"
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

static int hits;

static void on_usr1(int sig)
{
	hits += sig == SIGUSR1;
}

int main(void)
{
	fd_set r;
	struct timeval tv = { 0, 0 };
	int p[2];
	SHOW(pipe(p));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	int closed = dup(0);
	close(closed);
	FD_SET(closed, &r);
	SHOW(select(closed + 1, &r, NULL, NULL, &tv));
	CHECK(FD_ISSET(p[0], &r) && FD_ISSET(closed, &r));
	FD_CLR(closed, &r);
	SHOW(select(-1, &r, NULL, NULL, &tv));
	tv.tv_sec = -1;
	SHOW(select(p[0] + 1, &r, NULL, NULL, &tv));
	SHOW(select(p[0] + 1, (fd_set *)8, NULL, NULL, NULL));
	SHOW(syscall(SYS_select, p[0] + 1, &r, NULL, NULL, 8));

	struct timespec ts = { 0, 30000000 };
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, &ts, NULL));
	CHECK(ts.tv_sec == 0 && ts.tv_nsec == 30000000);
	sigset_t block, empty;
	signal(SIGUSR1, on_usr1);
	sigemptyset(&empty);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGUSR1);
	FD_SET(p[0], &r);
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, NULL, &empty));
	SHOW(hits);
	CHECK(FD_ISSET(p[0], &r));
	ts.tv_nsec = -1;
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, &ts, NULL));
	return 0;
}
