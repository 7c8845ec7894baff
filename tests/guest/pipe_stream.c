/*
 * 8 MB through a pipe in odd pieces, reader and writer each sleeping in turn: nothing lost, nothing
 * reordered.
 */
#include "guest.h"

enum { TOTAL = 8 << 20 };

static unsigned next(unsigned x)
{
	return x * 1103515245u + 12345u;
}

int main(void)
{
	static unsigned char buf[70000];
	int p[2], bad = 0;
	unsigned seed = 1, size = 7;
	long total = 0;
	pipe(p);
	pid_t pid = xfork();
	if (pid == 0) {
		close(p[0]);
		for (long sent = 0; sent < TOTAL;) {
			size = next(size);
			long n = size % sizeof(buf) + 1;
			if (n > TOTAL - sent)
				n = TOTAL - sent;
			for (long i = 0; i < n; i++)
				buf[i] = (seed = next(seed)) >> 16;
			if (write(p[1], buf, n) != n)
				_exit(1);
			sent += n;
		}
		_exit(0);
	}
	close(p[1]);
	size = 99;
	for (ssize_t n; size = next(size), (n = read(p[0], buf, size % sizeof(buf) + 1)) > 0;
	     total += n)
		for (ssize_t i = 0; i < n; i++)
			bad += buf[i] != (unsigned char)((seed = next(seed)) >> 16);
	SHOW(total);
	SHOW(bad);
	show_status("writer", xwait(pid));
	return 0;
}
