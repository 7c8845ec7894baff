/*
 * The plain futex calls: value differs EAGAIN, timeout ETIMEDOUT, wake counts the woken; bad
 * arguments.
 */
#include "guest.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

static int word, woken;

static long futex(void *addr, int op, int val, const struct timespec *ts, int *addr2, int val3)
{
	return syscall(SYS_futex, addr, op, val, ts, addr2, val3);
}

static void *waiter(void *arg)
{
	(void)arg;
	while (futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) && errno == EINTR)
		;
	__atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(void)
{
	struct timespec ts = { .tv_nsec = 30000000 }, past = { .tv_sec = 1 },
			wrong = { .tv_nsec = -1 };
	char *volatile bad = (char *)8;
	pthread_t t[5];
	long n = 0;

	SHOW(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_WAIT, 0, &ts, NULL, 0));
	SHOW(futex(&word, FUTEX_WAIT_BITSET, 0, &past, NULL, -1));
	SHOW(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past, NULL, -1));
	SHOW(futex(&word, FUTEX_WAIT, 0, &wrong, NULL, 0));
	SHOW(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
	SHOW(futex((char *)&word + 1, FUTEX_WAIT, 0, NULL, NULL, 0));
	SHOW(futex(bad, FUTEX_WAIT, 0, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
	SHOW(futex(&word, 99, 0, NULL, NULL, 0));
	for (int i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, waiter, NULL);
	while (n < 2)
		n += futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	printf("woken one by one %ld\n", n);
	while (n < 5)
		n += futex(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	for (int i = 0; i < 5; i++)
		pthread_join(t[i], NULL);
	printf("sum of wake results %ld, woken %d\n", n, woken);
	return 0;
}
