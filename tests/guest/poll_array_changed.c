/*
 * poll and ppoll read what they are asked once: another thread that changes the array meanwhile
 * changes neither what is waited for nor is its change undone, as only the answers are written. A
 * time that cannot be written back is no error; one that cannot be read is, before the array is
 * looked at.
 */
#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* libc's own copies the time. */
#define ppoll(fds, n, ts, mask) (int)syscall(SYS_ppoll, fds, n, ts, mask, 8)

static int p[2], q[2];
static struct pollfd fds[12];

static void *change(void *arg)
{
	int n = *(int *)arg;

	usleep(50000);
	for (int i = 0; i < n; i++) {
		fds[i].fd = 7777;
		fds[i].events = POLLPRI;
		fds[i].revents = 0x55;
	}
	return write(q[1], "x", 1) == 1 ? NULL : arg;
}

static void run(int n, int form)
{
	struct timespec ts = { 5, 0 };
	pthread_t t;
	char c;

	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){ i == 1 ? q[0] : p[0], POLLIN, -1 };
	CHECK(pthread_create(&t, NULL, change, &n) == 0);
	if (form)
		SHOW(ppoll(fds, n, &ts, NULL));
	else
		SHOW(poll(fds, n, 5000));
	CHECK(pthread_join(t, NULL) == 0);
	if (n <= 8)
		for (int i = 0; i < n; i++)
			printf("%d %d %d\n", fds[i].fd, fds[i].events, fds[i].revents);
	if (form)
		printf("time went by: %d\n", ts.tv_sec == 4 && ts.tv_nsec > 0);
	CHECK(read(q[0], &c, 1) == 1);
}

int main(void)
{
	SHOW(pipe(p));
	SHOW(pipe(q));
	for (int form = 0; form < 2; form++) {
		run(2, form);
		run(8, form);
	}

	struct timespec *ro = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*ro = (struct timespec){ 0, 20000000 };
	CHECK(mprotect(ro, 4096, PROT_READ) == 0);
	fds[0] = (struct pollfd){ p[0], POLLIN, -1 };
	SHOW(ppoll(fds, 1, ro, NULL));
	printf("%d %ld\n", fds[0].revents, ro->tv_nsec);
	SHOW(write(p[1], "x", 1));
	SHOW(ppoll(fds, 1, ro, NULL));
	printf("%d %ld\n", fds[0].revents, ro->tv_nsec);

	struct timespec odd = { 0, 2000000000 };
	SHOW(ppoll(none, 1, none, NULL));
	SHOW(ppoll(none, 1, &odd, NULL));
	SHOW(ppoll(none, 1, ro, NULL));
	SHOW(ppoll(none, 0, ro, NULL));
	SHOW(ppoll(fds, 1, none, NULL));
	SHOW(poll(none, 1, 0));
	/* The answers are written, but into nothing that may be written. */
	struct pollfd *rofds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rofds[0] = (struct pollfd){ p[0], POLLIN, 0 };
	CHECK(mprotect(rofds, 4096, PROT_READ) == 0);
	SHOW(poll(rofds, 1, 0));
	SHOW(ppoll(rofds, 1, ro, NULL));
	SHOW(poll(rofds, 1, -1));
	return 0;
}
