/* No signal to a group is lost, whatever its members do at that moment: fork, vfork, execve, wait,
 * change the handler or the mask, sleep, end. The sender waits for each before it sends the next,
 * so none may be merged with another. */
#include "guest.h"
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 1500
#define LIMIT 5.0 /* seconds for one signal */
#define TOTAL 1.2

static struct {
	volatile int seen; /* by the worker */
	volatile int twice; /* the handler ran once more than there were signals */
	volatile int sent;
	volatile int strange; /* ends of children that are neither by themselves nor by SIGINT */
	volatile int ready, stop;
} *shared;
static pid_t worker;

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void count(void)
{
	if (getpid() != worker)
		_exit(3); /* a child between fork and its own handlers */
	if (shared->seen == shared->sent)
		shared->twice++;
	else
		shared->seen = shared->sent;
}

static void one(int sig)
{
	(void)sig;
	count();
}

static void other(int sig)
{
	(void)sig;
	count();
}

static void handle(void (*fn)(int), int flags)
{
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = fn, .sa_flags = flags }, NULL);
}

static void ended(int status)
{
	if (!(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3)) &&
	    !(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT))
		shared->strange++;
}

static void child_with(int what)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		if (what == 1)
			execl("/proc/self/exe", "x", "child", NULL);
		else if (what == 2)
			poll(NULL, 0, 1);
		_exit(0);
	}
	if (pid > 0)
		ended(xwait(pid));
}

static void vfork_child(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/proc/self/exe", "x", "child", NULL);
		_exit(0);
	}
	if (pid > 0)
		ended(xwait(pid));
}

static void work(void)
{
	sigset_t set, old;
	unsigned seed = 7;

	worker = getpid();
	setpgid(0, 0);
	handle(one, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	shared->ready = 1;
	while (!shared->stop) {
		seed = seed * 1103515245 + 12345;
		switch (seed >> 16 & 7) {
		case 0:
			child_with(0);
			break;
		case 1:
			child_with(1);
			break;
		case 2:
			child_with(2);
			break;
		case 3:
			vfork_child();
			break;
		case 4:
			for (int i = 0; i < 20; i++)
				handle(i & 1 ? one : other, i & 2 ? SA_RESTART : 0);
			break;
		case 5:
			/* As shells do around fork. */
			sigprocmask(SIG_BLOCK, &set, &old);
			child_with(0);
			sigprocmask(SIG_SETMASK, &old, NULL);
			break;
		case 6:
			poll(NULL, 0, 1);
			break;
		default:
			handle(SIG_DFL == signal(SIGUSR2, SIG_IGN) ? one : other, SA_RESTART);
			(void)!read(-1, NULL, 0);
		}
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	double start = seconds(), at;
	unsigned seed = 1;
	pid_t pid;
	int i;

	(void)argv;
	if (argc > 1)
		return 0; /* what children run */
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = xfork();
	if (pid == 0)
		work();
	while (!shared->ready)
		poll(NULL, 0, 1);
	for (i = 1; i <= ROUNDS && seconds() - start < TOTAL; i++) {
		seed = seed * 1103515245 + 12345;
		nanosleep(&(struct timespec){ .tv_nsec = (seed >> 16 & 511) * 1000 }, NULL);
		shared->sent = i;
		kill(-pid, SIGINT);
		for (at = seconds(); shared->seen != i && seconds() - at < LIMIT;)
			sched_yield();
		if (shared->seen != i)
			break;
	}
	CHECK(shared->seen == shared->sent);
	shared->stop = 1;
	show_status("worker", xwait(pid));
	CHECK(i > 20);
	CHECK(shared->twice == 0);
	CHECK(shared->strange == 0);
	return 0;
}
