/*
 * SECCOMP_RET_TRAP: the handler learns which call it was, may put a result in its place, runs with
 * the right mask and on the right stack, and can be interrupted.
 */
#include "seccomp.h"

#include <sched.h>
#include <ucontext.h>

static volatile sig_atomic_t hits, on_alt, usr1;
static int last_nr, last_errno, last_code, last_arch, masked;
static char alt[65536];
static int emulate = 1;

static void handler(int sig, siginfo_t *si, void *uc_)
{
	ucontext_t *uc = uc_;
	sigset_t now;
	char here;

	hits += sig == SIGSYS;
	on_alt = &here >= alt && &here < alt + sizeof(alt);
	last_nr = si->si_syscall;
	last_errno = si->si_errno;
	last_code = si->si_code;
	last_arch = (int)si->si_arch;
	masked = -1;
	if (last_nr != SYS_rt_sigprocmask) {
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		masked = sigismember(&now, SIGUSR2);
	}
	if ((greg_t)(uintptr_t)si->si_call_addr != uc->uc_mcontext.gregs[REG_RIP])
		printf("si_call_addr is not behind the call\n");
	if (uc->uc_mcontext.gregs[REG_RAX] != last_nr)
		printf("rax is not the number\n");
	if (emulate)
		uc->uc_mcontext.gregs[REG_RAX] = 1000 + uc->uc_mcontext.gregs[REG_RDI];
}

static void on_usr1(int sig)
{
	(void)sig;
	usr1++;
}

static void show(const char *what, long ret)
{
	printf("%s: result %ld, call %d, data %d, code %d, arch %#x, hits %d, SIGUSR2 blocked %d, alt %d\n", what, ret,
	       last_nr, last_errno, last_code, (unsigned)last_arch, (int)hits, masked, (int)on_alt);
}

static void trapped(int flags)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };

	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGSYS, &sa, NULL);
	signal(SIGUSR1, on_usr1);
	sigaltstack(&ss, NULL);
	CHECK(FILTER(0, { SYS_sched_yield, SECCOMP_RET_TRAP | 7 }, { SYS_getppid, SECCOMP_RET_TRAP | 65535 },
		     { SYS_execve, SECCOMP_RET_TRAP }, { SYS_fork, SECCOMP_RET_TRAP | 3 }, { 4000, SECCOMP_RET_TRAP | 4 }) == 0);
	show("native", syscall(SYS_sched_yield, 1));
	show("asked", syscall(SYS_getppid, 2));
	show("execve", syscall(SYS_execve, 3, 0, 0));
	show("fork", syscall(SYS_fork, 4));
	show("no such call", syscall(4000, 5));
	double x = 1.5;
	for (int i = 0; i < 1000; i++)
		if (syscall(SYS_sched_yield, i) != 1000 + i || x != 1.5)
			printf("lost at %d\n", i);
	raise(SIGUSR1);
	printf("hits %d, usr1 %d\n", (int)hits, (int)usr1);
	fflush(stdout);
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		show("in a child", syscall(SYS_getppid, 6));
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
}

static void once(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESETHAND };

	sigaction(SIGSYS, &sa, NULL);
	FILTER(0, { SYS_getppid, SECCOMP_RET_TRAP });
	emulate = 0;
	printf("%ld\n", syscall(SYS_getppid));
	fflush(stdout);
	syscall(SYS_getppid);
}

int main(void)
{
	IN_CHILD("plain stack", trapped(0));
	IN_CHILD("alternate stack", trapped(SA_ONSTACK));
	IN_CHILD("once", once());
	return 0;
}
