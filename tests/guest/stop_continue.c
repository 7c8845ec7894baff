/*
 * SIGSTOP stops a process, SIGCONT lets it go on; wait reports both, and nothing runs in between.
 */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	volatile int *count =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;) {
			(*count)++;
			usleep(1000);
		}
	while (*count == 0)
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		kill(pid, SIGSTOP);
		CHECK(waitpid(pid, &status, WUNTRACED) == pid);
		printf("stopped %d by STOP %d, exited %d, signaled %d\n", WIFSTOPPED(status),
		       WSTOPSIG(status) == SIGSTOP, WIFEXITED(status), WIFSIGNALED(status));
		int before = *count;
		usleep(30000);
		CHECK(*count == before);
		kill(pid, SIGCONT);
		CHECK(waitpid(pid, &status, WCONTINUED) == pid);
		CHECK(WIFCONTINUED(status));
		while (*count == before)
			usleep(1000);
	}
	kill(pid, SIGTERM);
	show_status("child", xwait(pid));
	return 0;
}
