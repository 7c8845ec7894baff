/* RLIMIT_CORE 0: a fatal signal leaves no core file, and the status does not say one was dumped. */
#include "guest.h"
#include <dirent.h>
#include <sys/resource.h>

int main(void)
{
	struct rlimit lim = { 0 };
	int n = 0;

	signal(SIGQUIT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	SHOW(setrlimit(RLIMIT_CORE, &lim));
	SHOW(getrlimit(RLIMIT_CORE, &lim));
	printf("%ld %ld\n", (long)lim.rlim_cur, (long)lim.rlim_max);
	pid_t pid = xfork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	int status = xwait(pid);
	show_status("child", status);
	printf("dumped %d\n", WCOREDUMP(status) != 0);
	siginfo_t si;
	pid = xfork();
	if (pid == 0)
		raise(SIGQUIT);
	waitid(P_PID, pid, &si, WEXITED);
	printf("code killed %d\n", si.si_code == CLD_KILLED);
	DIR *d = opendir(".");
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	printf("files %d\n", n);
	return 0;
}
