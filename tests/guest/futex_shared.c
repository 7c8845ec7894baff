/*
 * A futex in shared memory is known by its page: waiters in other processes are woken, also at
 * another address.
 */
#include "guest.h"
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long futex(int *addr, int op, int val)
{
	return syscall(SYS_futex, addr, op, val, NULL, NULL, 0);
}

int main(void)
{
	int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);

	signal(SIGCHLD, SIG_DFL);
	(void)!ftruncate(fd, 4096);
	int *file1 = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int kind = 0; kind < 2; kind++) {
		int *mine = kind ? file1 : word;
		pid_t pid = xfork();
		if (pid == 0) {
			int *w = kind ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
				      : word;
			while (__atomic_load_n(w, __ATOMIC_SEQ_CST) == 0)
				futex(w, FUTEX_WAIT, 0);
			_exit(*w);
		}
		/* Wake it at least once while it really waits. */
		while (futex(mine, FUTEX_WAKE, 1) == 0)
			usleep(1000);
		__atomic_store_n(mine, 33 + kind, __ATOMIC_SEQ_CST);
		futex(mine, FUTEX_WAKE, 1);
		show_status(kind ? "file mapped twice" : "anonymous", xwait(pid));
	}
	unlink("f");
	return 0;
}
