/*
 * rt_sigqueueinfo: any si_code to oneself; to others none that the kernel uses (>= 0) and not
 * SI_TKILL.
 */
#include "guest.h"
#include <sys/syscall.h>

static volatile int code;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	code = si->si_code;
}

static long raw(pid_t pid, int si_code)
{
	siginfo_t si = { .si_signo = SIGUSR1, .si_code = si_code };

	si.si_pid = getpid();
	return syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &si);
}

static long raw_thread(pid_t pid, pid_t tid, int si_code)
{
	siginfo_t si = { .si_signo = SIGUSR1, .si_code = si_code };

	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGUSR1, &si);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	char *volatile bad = (char *)8;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	int codes[] = { SI_USER, CLD_EXITED, SI_TKILL, SI_QUEUE, SI_TIMER, -60, 0x80 };
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		code = 12345;
		long rc = raw(getpid(), codes[i]);
		printf("self, code %d: %s, got %d\n", codes[i], rc ? ename(errno) : "0", code);
	}
	pid_t pid = xfork();
	if (pid == 0)
		for (;;)
			pause();
	SHOW(raw(pid, SI_USER));
	SHOW(raw(pid, CLD_EXITED));
	SHOW(raw(pid, SI_TKILL));
	SHOW(raw(pid, SI_QUEUE));
	SHOW(raw_thread(pid, pid, SI_USER));
	SHOW(raw_thread(pid, pid, SI_QUEUE));
	SHOW(raw_thread(getpid(), pid, SI_QUEUE));
	SHOW(raw_thread(-1, pid, SI_QUEUE));
	SHOW(syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, bad));
	kill(pid, SIGKILL);
	show_status("child", xwait(pid));
	return 0;
}
