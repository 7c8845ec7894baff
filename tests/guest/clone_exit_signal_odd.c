/* A child whose end is told by a signal that there is not: nothing is sent, and __WALL finds it. */
#include "guest.h"

#include <sys/syscall.h>

int main(void)
{
	static const int sigs[] = { 0, 65, 122, 255 };

	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		int status = -1;
		long pid = syscall(SYS_clone, (long)sigs[i], 0L, 0L, 0L, 0L);

		if (pid == 0)
			_exit(7);
		CHECK(pid > 0);
		SHOW(waitpid((pid_t)pid, &status, __WALL) == pid);
		SHOW(status);
	}
	return 0;
}
