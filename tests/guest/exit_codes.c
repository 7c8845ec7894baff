/*
 * The low 8 bits of the exit code come back, from _exit, exit, return, exit_group and a last
 * thread's exit.
 */
#include "guest.h"
#include <sys/syscall.h>

int main(void)
{
	int codes[] = { 0, 1, 42, 127, 128, 255, 256, 259, -1, -129 };

	signal(SIGCHLD, SIG_DFL);
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		for (int how = 0; how < 4; how++) {
			pid_t pid = xfork();
			if (pid == 0) {
				if (how == 0)
					_exit(codes[i]);
				if (how == 1)
					exit(codes[i]);
				if (how == 2)
					syscall(SYS_exit_group, codes[i]);
				syscall(SYS_exit, codes[i]);
			}
			int status = xwait(pid);
			printf("%d: status %#x%s", codes[i], (unsigned)status,
			       how == 3 ? "\n" : ", ");
		}
	}
	return 0;
}
