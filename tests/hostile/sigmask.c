/* A handler that returns with SIGSYS, the reserved signal and all others blocked, by the mask in
 * its frame: no call can do that, the return can. Such a process may end by its next trapped call
 * (the host ends what blocks SIGSYS); it must not stay for ever, get away, or hurt another. */
#include <ucontext.h>

#include "hostile.h"

static uint64_t bits;
static volatile int came;

static void spoil(int sig, siginfo_t *si, void *ctx)
{
	(void)sig, (void)si;
	memcpy(&((ucontext_t *)ctx)->uc_sigmask, &bits, sizeof(bits));
}
static void arrive(int sig)
{
	came = sig;
}

static void spoiled(uint64_t mask)
{
	struct sigaction sa = { .sa_sigaction = spoil, .sa_flags = SA_SIGINFO };

	bits = mask;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
}

static void trapped_calls(void)
{
	for (int i = 0; i < 20; i++) {
		struct sigaction sa = { .sa_handler = arrive };
		int fd = open("/etc/passwd", O_RDONLY);
		pid_t p;

		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		sigaction(SIGUSR2, &sa, NULL);
		p = fork();
		if (p == 0)
			_exit(0);
		waitpid(p, NULL, 0);
		close(fd);
	}
	_exit(0);
}

/* How a child ended within some seconds; -1: it did not. */
static int ended(pid_t pid)
{
	int status;

	for (int i = 0; i < 500; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

int main(void)
{
	static const uint64_t masks[] = { 1ul << 30, 1ul << 63, 1ul << 30 | 1ul << 63, ~0ul };
	char name[64];
	int p[2], status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		snprintf(name, sizeof(name), "mask %016lx", masks[i]);
		pid = fork();
		if (pid == 0) {
			spoiled(masks[i]);
			trapped_calls();
		}
		status = ended(pid);
		check(status != -1 && (status == 0 || WTERMSIG(status) == SIGSYS), "%s: trapped calls end well or by SIGSYS (%x)", name, status);

		/* Waiting in the kernel, and running without a call. */
		for (int spin = 0; spin < 2; spin++) {
			(void)!pipe(p);
			pid = fork();
			if (pid == 0) {
				char c;

				spoiled(masks[i]);
				(void)!write(p[1], "x", 1);
				while (spin)
					;
				for (;;)
					(void)!read(p[0], &c, 1), (void)!read(p[0], &c, 1);
			}
			usleep(100000);
			kill(pid, SIGSTOP);
			check(waitpid(pid, &status, WUNTRACED) == pid && (WIFSTOPPED(status) || WIFSIGNALED(status)), "%s: it stops", name);
			kill(pid, SIGCONT);
			kill(pid, SIGKILL);
			check(ended(pid) != -1, "%s: it can be killed", name);
			close(p[0]), close(p[1]);
		}
	}
	/* The reserved signal alone is unblocked again by the next trapped call. */
	pid = fork();
	if (pid == 0) {
		struct sigaction sa = { .sa_handler = arrive };

		spoiled(1ul << 63);
		sigaction(SIGUSR2, &sa, NULL);
		kill(getpid(), SIGUSR2);
		for (int i = 0; i < 200 && !came; i++)
			usleep(10000);
		_exit(came == SIGUSR2 ? 0 : 1);
	}
	status = ended(pid);
	check(status == 0, "signals arrive after the reserved one was blocked (%x)", status);
	return done();
}
