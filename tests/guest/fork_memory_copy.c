/* fork(2) copies private memory, and shares MAP_SHARED memory between parent and child. */
#include "guest.h"
#include <sys/mman.h>

static int global = 1;

int main(void)
{
	int local = 2;
	int *heap = malloc(sizeof(*heap));
	int *priv = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	signal(SIGCHLD, SIG_DFL);
	*heap = 3;
	*priv = 4;
	*shared = 5;
	pid_t pid = xfork();
	if (pid == 0) {
		printf("child sees %d %d %d %d %d\n", global, local, *heap, *priv, *shared);
		global = local = *heap = *priv = *shared = 100;
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
	printf("parent sees %d %d %d %d %d\n", global, local, *heap, *priv, *shared);
	return 0;
}
