/* A signal stack of just AT_MINSIGSTKSZ plus a little is enough for a handler that makes calls. */
#include "guest.h"
#include <sys/auxv.h>
#include <sys/mman.h>

static volatile int hits, bad;

static void handler(int sig)
{
	struct stat st;
	sigset_t set;

	(void)sig;
	hits++;
	bad += stat("/", &st) != 0;
	sigemptyset(&set);
	bad += sigprocmask(SIG_BLOCK, &set, NULL) != 0;
	pid_t pid = vfork();
	if (pid == 0)
		_exit(0);
	bad += waitpid(pid, NULL, 0) != pid;
}

int main(void)
{
	size_t size = (getauxval(AT_MINSIGSTKSZ) + 4096 + 4095) & ~4095ul;
	char *area = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = { .ss_sp = area + 4096, .ss_size = size };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	/* Pages that fault stand on both sides. */
	mprotect(ss.ss_sp, size, PROT_READ | PROT_WRITE);
	SHOW(sigaltstack(&ss, NULL));
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	printf("hits %d, bad %d\n", hits, bad);
	ss.ss_size = getauxval(AT_MINSIGSTKSZ);
	SHOW(sigaltstack(&ss, NULL));
	return 0;
}
