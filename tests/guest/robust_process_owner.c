/*
 * A robust, process-shared mutex: the owner process is killed, exits, or execs; a waiter in another
 * process gets EOWNERDEAD.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

int main(void)
{
	pthread_mutex_t *m =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static const char *const what[] = { "killed", "exited", "exec" };
	pthread_mutexattr_t at;
	int up[2];
	char c;

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(up);
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &at);
	for (int i = 0; i < 3; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			pthread_mutex_lock(m);
			(void)!write(up[1], "x", 1);
			/* Long enough for the parent to wait on the mutex. */
			usleep(100000);
			if (i == 0)
				raise(SIGKILL);
			if (i == 2)
				execl("/bin/sleep", "sleep", "0.2", (char *)NULL);
			_exit(0);
		}
		(void)!read(up[0], &c, 1);
		printf("%s: %s", what[i], ename(pthread_mutex_lock(m)));
		printf(", consistent %s", ename(pthread_mutex_consistent(m)));
		printf(", unlock %s\n", ename(pthread_mutex_unlock(m)));
		show_status("owner", xwait(pid));
	}
	return 0;
}
