/* EPOLLEXCLUSIVE: of several sets that wait for one file, an event wakes one; without it, all. */
#include "guest.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define SETS 4
static int ev, woken;

static void *waiter(void *arg)
{
	int ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN | (arg ? EPOLLEXCLUSIVE : 0) };

	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, ev, &e) == 0);
	if (epoll_wait(ep, &e, 1, 500) == 1)
		__atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
	close(ep);
	return NULL;
}

static void round_of(int exclusive, int events)
{
	pthread_t th[SETS];
	uint64_t one = 1;

	ev = eventfd(0, EFD_SEMAPHORE);
	woken = 0;
	for (int i = 0; i < SETS; i++)
		pthread_create(&th[i], NULL, waiter, exclusive ? &ev : NULL);
	usleep(150000);
	for (int i = 0; i < events; i++) {
		CHECK(write(ev, &one, sizeof(one)) == sizeof(one));
		usleep(50000);
	}
	for (int i = 0; i < SETS; i++)
		pthread_join(th[i], NULL);
	printf("exclusive %d, events %d: woken %d\n", exclusive, events, woken);
	close(ev);
}

int main(void)
{
	round_of(0, 1);
	round_of(1, 1);
	round_of(1, 2);
	round_of(1, SETS);
	return 0;
}
