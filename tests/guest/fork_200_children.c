/*
 * 200 children alive at once: distinct pids, one parent, and every exit code comes back exactly
 * once.
 */
#include "guest.h"

int main(void)
{
	enum { N = 200 };
	static pid_t pids[N];
	static int seen[N];
	int gate[2], made = 0, bad = 0, same = 0;
	char c;

	signal(SIGCHLD, SIG_DFL);
	if (pipe(gate))
		return 1;
	pid_t parent = getpid();
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			break;
		if (pids[i] == 0) {
			close(gate[1]);
			if (read(gate[0], &c, 1) != 0 || getppid() != parent)
				_exit(255);
			_exit(i);
		}
		made++;
	}
	printf("made %d\n", made);
	for (int i = 0; i < made; i++)
		for (int j = 0; j < i; j++)
			same += pids[i] == pids[j];
	printf("equal pids %d\n", same);
	SHOW(waitpid(-1, NULL, WNOHANG));
	close(gate[1]);
	for (int i = 0; i < made; i++) {
		int status, j;
		pid_t pid = wait(&status);
		for (j = 0; j < made && pids[j] != pid; j++)
			;
		if (j == made || seen[j]++ || !WIFEXITED(status) || WEXITSTATUS(status) != j)
			bad++;
	}
	printf("wrong results %d\n", bad);
	SHOW(wait(NULL));
	return 0;
}
