/*
 * A futex wait interrupted by a handler: EINTR without SA_RESTART, restarted with it, EINTR always
 * when it has a timeout.
 */
#include "guest.h"
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static void handler(int sig)
{
	(void)sig;
}

int main(void)
{
	volatile int *word =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec ten = { .tv_sec = 10 };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 4; i++) {
		struct sigaction sa = { .sa_handler = handler, .sa_flags = i & 1 ? SA_RESTART : 0 };
		sigaction(SIGUSR1, &sa, NULL);
		*word = 0;
		pid_t pid = xfork();
		if (pid == 0) {
			/*
			 * Restarted calls end by the wake after ten signals; the others end
			 * earlier.
			 */
			for (int k = 0; i == 1 ? k < 10 : k < 300; k++) {
				usleep(10000);
				kill_parent(SIGUSR1);
			}
			*word = 1;
			syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
			_exit(0);
		}
		long rc = syscall(SYS_futex, word, FUTEX_WAIT, 0, i & 2 ? &ten : NULL, NULL, 0);
		int e = errno;
		kill(pid, SIGKILL);
		xwait(pid);
		printf("timeout %d, SA_RESTART %d: %s\n", i >> 1, i & 1,
		       rc ? e == EAGAIN ? "woken" : ename(e) : "woken");
	}
	return 0;
}
