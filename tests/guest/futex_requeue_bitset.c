/* FUTEX_CMP_REQUEUE moves waiters to another word; a bitset wake reaches those whose bits match. */
#include "guest.h"
#include <dirent.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

static int a, b, woken[4];

static long futex(int *addr, int op, int val, long val2, int *addr2, int val3)
{
	return syscall(SYS_futex, addr, op, val, val2, addr2, val3);
}

static void *on_a(void *arg)
{
	futex(&a, FUTEX_WAIT, 0, 0, NULL, 0);
	return arg;
}

static void *on_bit(void *arg)
{
	long i = (long)arg;

	futex(&b, FUTEX_WAIT_BITSET, 0, 0, NULL, 1 << i);
	__atomic_store_n(&woken[i], 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Until n other threads wait: one that is only about to would be left on the first word. */
static void wait_asleep(int n)
{
	int found;

	do {
		DIR *d = opendir("/proc/self/task");
		struct dirent *e;

		found = 0;
		while ((e = readdir(d))) {
			char path[64], text[512], *state;
			FILE *f;

			if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
				continue;
			snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", e->d_name);
			f = fopen(path, "r");
			if (f && fgets(text, sizeof(text), f) && (state = strrchr(text, ')')))
				found += state[2] == 'S';
			if (f)
				fclose(f);
		}
		closedir(d);
		usleep(1000);
	} while (found < n);
}

int main(void)
{
	pthread_t t[6];
	long n;

	SHOW(futex(&a, FUTEX_CMP_REQUEUE, 1, INT_MAX, &b, 7));
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, on_a, NULL);
	wait_asleep(6);
	/* Move all to the second word, waking none; the result counts them. */
	for (n = 0; n < 6;)
		n += futex(&a, FUTEX_CMP_REQUEUE, 0, INT_MAX, &b, 0);
	printf("moved %ld\n", n);
	SHOW(futex(&a, FUTEX_WAKE, INT_MAX, 0, NULL, 0));
	SHOW(futex(&b, FUTEX_WAKE, 2, 0, NULL, 0));
	SHOW(futex(&b, FUTEX_WAKE, INT_MAX, 0, NULL, 0));
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, on_bit, (void *)i);
	for (n = 0; n < 2;)
		n += futex(&b, FUTEX_WAKE_BITSET, INT_MAX, 0, NULL, 1 << 1 | 1 << 3);
	pthread_join(t[1], NULL);
	pthread_join(t[3], NULL);
	printf("woken %d %d %d %d\n", woken[0], woken[1], woken[2], woken[3]);
	for (; n < 4;)
		n += futex(&b, FUTEX_WAKE, INT_MAX, 0, NULL, 0);
	pthread_join(t[0], NULL);
	pthread_join(t[2], NULL);
	printf("woken in all %ld\n", n);
	return 0;
}
