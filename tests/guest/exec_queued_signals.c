/*
 * Real-time signals that are sent while a process replaces its program again and again, with a
 * handler and without, are all there in the end, in their order.
 */
#include "guest.h"

#define SIG (SIGRTMIN + 1)
#define EXECS 20
#define COUNT 250
#define ROUNDS 6

static void on_signal(int sig)
{
	(void)sig;
}

/* As long as there are programs to come; then what is pending. */
static int replaced(char **argv)
{
	const struct timespec none = { 0 };
	int left = atoi(argv[1]), n = 0, odd = 0;
	char next[16], c;
	siginfo_t si;
	sigset_t set;

	if (left) {
		if (left % 2)
			signal(SIG, on_signal);
		snprintf(next, sizeof(next), "%d", left - 1);
		execl("/proc/self/exe", argv[0], next, NULL);
		return 90;
	}
	if (read(0, &c, 1) != 1) /* all are sent */
		return 91;
	sigemptyset(&set);
	sigaddset(&set, SIG);
	while (sigtimedwait(&set, &si, &none) == SIG)
		odd += si.si_value.sival_int != n++;
	return n != COUNT ? 1 : odd ? 2 : 0;
}

int main(int argc, char **argv)
{
	int missing = 0, disorder = 0, other = 0;
	char execs[16];
	sigset_t set;

	if (argc > 1)
		return replaced(argv);
	snprintf(execs, sizeof(execs), "%d", EXECS);
	sigemptyset(&set);
	sigaddset(&set, SIG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int r = 0; r < ROUNDS; r++) {
		int p[2], status;

		if (pipe(p))
			return 99;
		pid_t pid = xfork();
		if (pid == 0) {
			dup2(p[0], 0);
			close(p[1]);
			execl("/proc/self/exe", argv[0], execs, NULL);
			_exit(92);
		}
		for (int i = 0; i < COUNT; i++) {
			union sigval v = { .sival_int = i };

			while (sigqueue(pid, SIG, v) < 0 && errno == EAGAIN)
				usleep(100);
			usleep((useconds_t)(i % 50));
		}
		if (write(p[1], "x", 1) != 1)
			return 98;
		close(p[0]);
		close(p[1]);
		status = xwait(pid);
		missing += status == 1 << 8;
		disorder += status == 2 << 8;
		other += status && status != 1 << 8 && status != 2 << 8;
	}
	printf("rounds with signals missing %d, in disorder %d, ended otherwise %d\n", missing,
	       disorder, other);
	return 0;
}
