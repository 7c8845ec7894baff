/* Megabytes through a connection in uneven pieces arrive whole and in order; a blocking write takes
 * all. */
#include "net.h"

#define TOTAL (8 << 20)

int main(void)
{
	static unsigned char buf[100003];
	int s[2];
	size_t done = 0;
	unsigned sum = 0, bad = 0;

	tcp_pair(s);
	pid_t pid = xfork();
	if (pid == 0) {
		close(s[1]);
		while (done < TOTAL) {
			size_t n = 1 + done * 7 % sizeof(buf);
			n = n > TOTAL - done ? TOTAL - done : n;
			for (size_t i = 0; i < n; i++)
				buf[i] = (unsigned char)((done + i) * 31 >> 3);
			if (write(s[0], buf, n) != (ssize_t)n)
				_exit(1);
			done += n;
		}
		_exit(0);
	}
	close(s[0]);
	ssize_t n;
	while ((n = read(s[1], buf, 1 + done * 5 % 70001)) > 0) {
		for (ssize_t i = 0; i < n; i++, done++) {
			bad += buf[i] != (unsigned char)(done * 31 >> 3);
			sum += buf[i];
		}
	}
	printf("%zu bytes, %u bad, sum %u\n", done, bad, sum);
	show_status("writer", xwait(pid));
	return 0;
}
