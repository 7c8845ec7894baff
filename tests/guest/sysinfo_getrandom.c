/* getrandom: lengths, flags, errors; two results differ, as do those of a parent and its child. */
#include "guest.h"
#include <sys/random.h>

int main(void)
{
	unsigned char a[64] = { 0 }, b[64] = { 0 };
	static unsigned char big[100000];
	char *volatile bad = (char *)8;
	int p[2];

	SHOW(getrandom(a, sizeof(a), 0));
	SHOW(getrandom(b, sizeof(b), GRND_NONBLOCK));
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	SHOW(getrandom(b, 0, 0));
	SHOW(getrandom(big, sizeof(big), 0));
	SHOW(getrandom(b, 8, GRND_INSECURE));
	SHOW(getrandom(b, 8, 0x100));
	SHOW(getrandom(b, 8, GRND_RANDOM | GRND_INSECURE));
	SHOW(getrandom(bad, 8, 0));
	SHOW(getentropy(big, 256));
	SHOW(getentropy(big, 257));
	(void)!pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		(void)!getrandom(b, 32, 0);
		_exit(write(p[1], b, 32) == 32 ? 0 : 1);
	}
	(void)!getrandom(a, 32, 0);
	(void)!read(p[0], b, 32);
	xwait(pid);
	CHECK(memcmp(a, b, 32) != 0);
	return 0;
}
