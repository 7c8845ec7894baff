/* A caught SIGCONT: who sent it and how, and which calls it ends although the handler restarts. */
#include "guest.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static volatile int count, code, value;
static volatile pid_t sender;

static void handler(int sig, siginfo_t *si, void *ctx)
{
	(void)ctx;
	count += sig == SIGCONT;
	code = si->si_code;
	sender = si->si_pid;
	value = si->si_value.sival_int;
}

static void child(int how, int in, int out)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART }, old;
	struct pollfd f = { .fd = in, .events = POLLIN };
	struct timespec ten = { 10, 0 };
	char c = 0;
	int r = -2;

	sigaction(SIGCONT, &sa, NULL);
	sigaction(SIGCONT, NULL, &old);
	if (old.sa_sigaction != handler || (old.sa_flags & ~0x04000000) != (SA_SIGINFO | SA_RESTART))
		_exit(8);
	if (write(out, "r", 1) != 1)
		_exit(9);
	if (how == 0)
		r = poll(&f, 1, 10000);
	else if (how == 1)
		r = nanosleep(&ten, NULL);
	else if (how == 2)
		r = (int)read(in, &c, 1);
	else
		r = pause();
	printf("how %d: result %d %s, %d signals, code %d, from parent %d, value %d\n", how, r, r < 0 && errno == EINTR ? "EINTR" : "", count,
	       code, sender == getppid(), code == SI_QUEUE ? value : 0);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	for (int how = 0; how < 4; how++) {
		for (int stop = 0; stop < 3; stop++) {
			int in[2], out[2], status;
			char c;

			CHECK(pipe(in) == 0 && pipe(out) == 0);
			fflush(stdout);
			pid_t pid = fork();
			if (pid == 0)
				child(how, in[0], out[1]);
			CHECK(read(out[0], &c, 1) == 1);
			task_await(pid, pid);
			if (stop) {
				kill(pid, SIGSTOP);
				CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
			}
			if (stop == 2)
				sigqueue(pid, SIGCONT, (union sigval){ .sival_int = 77 });
			else
				kill(pid, SIGCONT);
			/* Only read goes on: the others are over. It prints now, and we after it. */
			bool told = how != 2 || write(in[1], "x", 1) == 1;
			CHECK(waitpid(pid, &status, 0) == pid && told);
			SHOW(status);
			close(in[0]), close(in[1]), close(out[0]), close(out[1]);
		}
	}
	return 0;
}
