/* RLIMIT_STACK bounds the growth of the first thread's stack, for new programs from exec on. */
#include "guest.h"
#include <sys/resource.h>

__attribute__((noinline)) static int use(int kib)
{
	volatile char pad[1024];

	pad[0] = (char)kib;
	return kib > 0 ? use(kib - 1) + pad[0] : 0;
}

int main(int argc, char **argv)
{
	struct rlimit lim;

	if (argc > 1) {
		use(atoi(argv[1]));
		return 3;
	}
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	getrlimit(RLIMIT_STACK, &lim);
	char *kib[] = { "500", "3000", "3000" };
	int mib[] = { 1, 1, 8 };
	for (int i = 0; i < 3; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			lim.rlim_cur = mib[i] << 20;
			setrlimit(RLIMIT_STACK, &lim);
			execl("/proc/self/exe", "self", kib[i], (char *)NULL);
			_exit(127);
		}
		printf("%s KiB under a limit of %d MiB, ", kib[i], mib[i]);
		show_status("result", xwait(pid));
	}
	return 0;
}
