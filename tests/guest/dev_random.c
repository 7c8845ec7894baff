/* /dev/random and /dev/urandom: as many bytes as asked for, never the same, writable. */
#include "guest.h"
#include <poll.h>
#include <sys/random.h>

static bool varied(const unsigned char *b, int n)
{
	int seen[256] = { 0 }, distinct = 0;
	for (int i = 0; i < n; i++)
		distinct += seen[b[i]]++ == 0;
	return distinct > 150;
}

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	unsigned char a[1024], b[1024];
	int u = open("/dev/urandom", O_RDWR), r = open("/dev/random", O_RDONLY);
	SHOW(read(u, a, sizeof(a)));
	SHOW(read(u, b, sizeof(b)));
	CHECK(varied(a, sizeof(a)) && varied(b, sizeof(b)) && memcmp(a, b, sizeof(a)) != 0);
	SHOW(read(r, a, sizeof(a)));
	CHECK(varied(a, sizeof(a)));
	SHOW(pread(u, b, 16, 99));
	SHOW(read(u, bad, 16));
	SHOW(write(u, a, 16));
	SHOW(lseek(u, 10, SEEK_SET));
	struct pollfd f = { r, POLLIN, 0 };
	SHOW(poll(&f, 1, 0));
	SHOW(getrandom(a, 256, 0));
	SHOW(getrandom(b, 256, GRND_NONBLOCK));
	CHECK(memcmp(a, b, 256) != 0);
	SHOW(getrandom(a, 16, 0x100));
	SHOW(getrandom(NULL, 0, 0));
	return 0;
}
