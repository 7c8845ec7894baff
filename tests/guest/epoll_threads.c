/* A thread in epoll_wait is woken by another; a descriptor added meanwhile counts; close of the
 * watched file. */
#include "guest.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int ep, e;

static void *waiter(void *arg)
{
	struct epoll_event ev[4];
	(void)arg;
	int n = epoll_wait(ep, ev, 4, 5000);
	printf("woken: %d %x\n", n, n > 0 ? ev[0].events : 0);
	return NULL;
}

static void *added(void *arg)
{
	struct epoll_event ev = { .events = EPOLLIN };
	(void)arg;
	usleep(50000);
	epoll_ctl(ep, EPOLL_CTL_ADD, e, &ev);
	return NULL;
}

static void *poker(void *arg)
{
	(void)arg;
	usleep(50000);
	eventfd_write(e, 1);
	return NULL;
}

int main(void)
{
	void *(*other[])(void *) = { added, poker };
	pthread_t a, b;

	ep = epoll_create1(0);
	e = eventfd(1, 0);
	for (int i = 0; i < 2; i++) {
		pthread_create(&a, NULL, waiter, NULL);
		pthread_create(&b, NULL, other[i], NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		SHOW(read(e, &(uint64_t){ 0 }, 8));
	}
	return 0;
}
