/*
 * SIGTSTP, SIGTTIN and SIGTTOU stop by default, unless the process group is orphaned; SIGSTOP
 * always does.
 */
#include "guest.h"

static void stopper(int sig)
{
	alarm(20);
	for (int s = SIGTSTP; s <= SIGTTOU; s++)
		signal(s, SIG_DFL);
	raise(sig);
	_exit(7);
}

int main(void)
{
	int sigs[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP }, status;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 4; i++) {
		for (int session = 0; session < 2; session++) {
			pid_t pid = xfork();
			if (pid == 0) {
				/*
				 * Alone in a new session: no parent in it, so the group is
				 * orphaned.
				 */
				if (session)
					setsid();
				else
					setpgid(0, 0);
				stopper(sigs[i]);
			}
			waitpid(pid, &status, WUNTRACED);
			printf("%s%s: ", signame(sigs[i]), session ? ", orphaned" : "");
			if (WIFSTOPPED(status)) {
				printf("stopped by it %d, then ", WSTOPSIG(status) == sigs[i]);
				kill(pid, SIGCONT);
				waitpid(pid, &status, 0);
			}
			show_status("end", status);
		}
	}
	return 0;
}
