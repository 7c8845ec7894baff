/* eventfd: counter and semaphore, limits, errors, readiness. */
#include "guest.h"
#include <poll.h>
#include <sys/eventfd.h>

static void ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	poll(&p, 1, 0);
	printf("ready %x\n", p.revents);
}

int main(void)
{
	uint64_t v = 5;
	char big[16] = { 1 };
	int e = eventfd(2, EFD_NONBLOCK), s = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE);

	ready(e);
	SHOW(write(e, &v, 8));
	SHOW(read(e, &v, 8));
	printf("%llu\n", (unsigned long long)v);
	ready(e);
	SHOW(read(e, &v, 8));
	SHOW(read(e, &v, 7));
	SHOW(write(e, &v, 7));
	SHOW(write(e, big, 16));
	SHOW(read(e, big, 16));
	v = UINT64_MAX;
	SHOW(write(e, &v, 8));
	v = UINT64_MAX - 1;
	SHOW(write(e, &v, 8));
	ready(e);
	v = 1;
	SHOW(write(e, &v, 8));
	v = 0;
	SHOW(write(e, &v, 8));
	SHOW(read(s, &v, 8));
	printf("%llu\n", (unsigned long long)v);
	SHOW(read(s, &v, 8));
	SHOW(read(s, &v, 8));
	SHOW(lseek(s, 0, SEEK_SET));
	SHOW(pread(s, &v, 8, 0));
	SHOW(eventfd(0, 0x10000));
	SHOW(fcntl(e, F_GETFL) & (O_ACCMODE | O_NONBLOCK));
	return 0;
}
