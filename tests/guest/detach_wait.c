/*
 * wait4 after a long wait: a child's end both answers it and sends SIGCHLD, whose handler has no
 * SA_RESTART; the answer wins. A stop and a continuation of the child do not end it, but their
 * handler does.
 */
#include "detach.h"
#include <sys/mman.h>

static volatile int *hits; /* shared with the child */

static void on_chld(int sig)
{
	(void)sig;
	++*hits;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_chld };
	int go[2], status, good = 0, eintr = 0, bad = 0, ran = 0;

	alarm(28);
	hits = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	crowd_start();
	sigaction(SIGCHLD, &sa, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t pid, got;

		if (pipe(go))
			return 99;
		*hits = 0;
		pid = xfork();
		if (pid == 0) {
			task_await(getppid(), getppid());
			make_calls();
			_exit(i);
		}
		errno = 0;
		got = waitpid(i % 2 ? pid : -1, &status, 0);
		good += got == pid && WEXITSTATUS(status) == i;
		eintr += got < 0 && errno == EINTR;
		bad += got != pid;
		ran += *hits == 1;
		close(go[0]), close(go[1]);
	}
	printf("answered %d, interrupted %d, wrong %d, handler ran %d\n", good, eintr, bad, ran);
	pid_t pid = xfork();
	if (pid == 0) {
		task_await(getppid(), getppid());
		make_calls();
		*hits = 0;
		kill(getppid(), SIGCHLD);
		while (!*hits)
			usleep(500);
		usleep(50000);
		_exit(3);
	}
	SHOW(waitpid(pid, &status, 0));
	show_status("child", xwait(pid));
	crowd_end();
	return 0;
}
