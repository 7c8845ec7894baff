/*
 * A shared file mapping is shared memory between processes: four of them count in it with atomic
 * additions.
 */
#include "guest.h"
#include <stdatomic.h>
#include <sys/mman.h>

enum { PROCS = 4, ROUNDS = 20000 };

int main(void)
{
	pid_t pid[PROCS];
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(ftruncate(fd, 4096));
	atomic_int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < PROCS; i++)
		if ((pid[i] = xfork()) == 0) {
			/* Half of them through a mapping of their own. */
			atomic_int *c = count;
			if (i % 2) {
				int own = open("f", O_RDWR);
				c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
				close(own);
			}
			for (int r = 0; r < ROUNDS; r++)
				atomic_fetch_add(c, 1);
			_exit(i);
		}
	for (int i = 0; i < PROCS; i++)
		show_status("child", xwait(pid[i]));
	SHOW(atomic_load(count));
	int value = 0;
	SHOW(pread(fd, &value, sizeof(value), 0));
	SHOW(value);
	unlink("f");
	return 0;
}
