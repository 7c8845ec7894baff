/* WCOREDUMP says whether a core was written: not with a limit of 0, nor for signals without one,
 * nor for a process that is not dumpable. */
#include "guest.h"

#include <sys/resource.h>

static void end(const char *what, int sig, rlim_t limit, bool dumpable)
{
	struct rlimit rl = { limit, limit };
	int status;
	pid_t pid = xfork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &rl);
		prctl(PR_SET_DUMPABLE, dumpable);
		kill(getpid(), sig);
		_exit(1);
	}
	status = xwait(pid);
	printf("%s: %s, core %d\n", what,
	       WIFSIGNALED(status) ? signame(WTERMSIG(status)) : "exited", WCOREDUMP(status) != 0);
}

int main(void)
{
	end("no limit on signals", SIGTERM, RLIM_INFINITY, true);
	end("limit 0", SIGABRT, 0, true);
	end("limit 0", SIGSEGV, 0, true);
	end("not dumpable", SIGQUIT, RLIM_INFINITY, false);
	end("killed", SIGKILL, RLIM_INFINITY, true);
	return 0;
}
