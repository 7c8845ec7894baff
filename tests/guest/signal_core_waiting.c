/* The signals that end a process with a core end one that waits in a read, too; ignored they do
 * not. */
#include "guest.h"
#include <sys/resource.h>

static int fds[2];

static pid_t reader(void (*handler)(int), int sig)
{
	pid_t p = xfork();
	if (p == 0) {
		char c;
		signal(sig, handler);
		_exit(read(fds[0], &c, 1) == 1 ? 0 : 1);
	}
	usleep(50000);
	return p;
}

int main(void)
{
	static const int sigs[] = { SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGXCPU };
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	SHOW(pipe(fds));
	for (unsigned i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		pid_t p = reader(SIG_DFL, sigs[i]);
		kill(p, sigs[i]);
		show_status("default", xwait(p));
	}
	pid_t p = reader(SIG_IGN, SIGQUIT);
	kill(p, SIGQUIT);
	usleep(50000);
	SHOW(write(fds[1], "x", 1));
	show_status("ignored", xwait(p));
	return 0;
}
