/* Writes of up to PIPE_BUF bytes by several processes are never mixed. */
#include "guest.h"

enum { WRITERS = 4, BLOCKS = 60, SIZE = 4096 };

int main(void)
{
	static char block[SIZE];
	int p[2], count[WRITERS] = { 0 }, torn = 0;
	pid_t pid[WRITERS];
	pipe(p);
	for (int w = 0; w < WRITERS; w++) {
		if ((pid[w] = xfork()) != 0)
			continue;
		close(p[0]);
		memset(block, 'a' + w, SIZE);
		for (int i = 0; i < BLOCKS; i++)
			if (write(p[1], block, SIZE) != SIZE)
				_exit(1);
		_exit(0);
	}
	close(p[1]);
	for (;;) {
		size_t have = 0;
		ssize_t n = 0;
		/* An odd size of read, so that blocks are split on the reader's side. */
		while (have < SIZE &&
		       (n = read(p[0], block + have, SIZE - have < 1000 ? SIZE - have : 1000)) > 0)
			have += n;
		if (have == 0)
			break;
		for (size_t i = 1; i < have; i++)
			if (block[i] != block[0]) {
				torn++;
				break;
			}
		if (have == SIZE && block[0] >= 'a' && block[0] < 'a' + WRITERS)
			count[block[0] - 'a']++;
	}
	for (int w = 0; w < WRITERS; w++) {
		show_status("writer", xwait(pid[w]));
		SHOW(count[w]);
	}
	SHOW(torn);
	return 0;
}
