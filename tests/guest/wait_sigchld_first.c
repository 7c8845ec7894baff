/* The SIGCHLD handler has run when wait returns the child; and wait gives the child, not EINTR. */
#include "guest.h"

static volatile sig_atomic_t hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	int late = 0, eintr = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	for (int i = 0; i < 200; i++) {
		int before = hits;
		pid_t pid = fork();
		if (pid == 0) {
			if (i % 2)
				usleep(500);
			_exit(0);
		}
		pid_t got = waitpid(pid, NULL, 0);
		late += hits == before;
		if (got != pid) {
			eintr++;
			xwait(pid);
		}
	}
	printf("handler late %d, wait interrupted %d\n", late, eintr);
	return 0;
}
