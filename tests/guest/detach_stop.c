/*
 * A process whose threads have waited for long is stopped: it takes nothing until it is continued,
 * its parent hears of it, and it can be killed; a handler for SIGCONT ends poll and not read.
 */
#include "detach.h"
#include <sys/ioctl.h>

static int p[2], q[2], out[2];
static volatile int conts;

static void on_cont(int sig)
{
	(void)sig;
	conts++;
}

static void reader(struct blocked *b)
{
	char c = 0;

	b->tid = gettid();
	b->ret = read(b->i ? q[0] : p[0], &c, 1);
	c = (char)('0' + b->ret);
	if (write(out[1], &c, 1) != 1)
		_exit(98);
}

/* The main thread polls; two others read. */
static void child(int handled)
{
	static struct blocked b[2];
	struct sigaction sa = { .sa_handler = on_cont, .sa_flags = SA_RESTART };
	struct pollfd pf = { .fd = p[0], .events = POLLPRI };
	sigset_t set;
	char c = 'r';
	int n;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, NULL); /* for the other threads */
	if (handled)
		sigaction(SIGCONT, &sa, NULL);
	crowd_start();
	for (int i = 0; i < 2; i++)
		blocked_start(&b[i], i, 64 << 10, reader);
	for (int i = 0; i < 2; i++)
		blocked_await(&b[i]);
	make_calls();
	if (write(out[1], &c, 1) != 1)
		_exit(97);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	do {
		n = poll(&pf, 1, -1);
		c = n < 0 && errno == EINTR ? 'E' : 'P';
		if (write(out[1], &c, 1) != 1)
			_exit(96);
	} while (n < 0);
	_exit(0);
}

static char next(void)
{
	char c = '?';

	return read(out[0], &c, 1) == 1 ? c : '-';
}

static void run(int handled)
{
	int status, left = -1;
	pid_t pid;

	printf("SIGCONT %s\n", handled ? "with a handler" : "without");
	if (pipe(p) || pipe(q) || pipe(out))
		exit(99);
	pid = xfork();
	if (pid == 0)
		child(handled);
	setpgid(pid, pid); /* not orphaned: SIGTSTP stops it */
	printf("ready %c\n", next());
	for (int i = 0; i < 3; i++) {
		int fd = i == 1 ? q[1] : p[1];

		task_await(pid, pid);
		make_calls(); /* its main thread waits for long, too */
		kill(pid, i == 2 ? SIGTSTP : SIGSTOP);
		printf("stopped %d", waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
		printf(" by %s\n", signame(WSTOPSIG(status)));
		if (i < 2 && write(fd, "x", 1) != 1)
			printf("write failed\n");
		usleep(100000);
		ioctl(i == 1 ? q[0] : p[0], FIONREAD, &left);
		printf("untouched %d\n", left);
		kill(pid, SIGCONT);
		printf("continued %d\n",
		       waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
		/* What it says may come in either order. */
		char a = i < 2 ? next() : 0, b = handled ? next() : 0;
		printf("it says %c%c\n", a > b ? a : b, a > b && b ? b : a > b ? '.' : a ? a : '.');
	}
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGTERM);
	usleep(50000);
	printf("waits for SIGCONT %d\n", waitpid(pid, &status, WNOHANG | WUNTRACED) == 0);
	kill(pid, SIGCONT);
	show_status("child", xwait(pid));
	for (int i = 0; i < 2; i++)
		close(p[i]), close(q[i]), close(out[i]);
}

int main(void)
{
	alarm(28);
	run(0);
	run(1);
	return 0;
}
