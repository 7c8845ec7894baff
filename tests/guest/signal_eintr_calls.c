/*
 * Which blocking calls a handled signal ends with EINTR, and which go on under SA_RESTART (poll
 * never does).
 */
#include "guest.h"
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

static int data[2], full[2], sock[2], ep;
static pid_t child;
static sem_t *sem;

static void handler(int sig)
{
	(void)sig;
}

static long call(const char *name)
{
	char c;
	fd_set fds;
	sigset_t none, usr2;
	struct epoll_event ev;

	FD_ZERO(&fds);
	FD_SET(data[0], &fds);
	sigemptyset(&none);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	if (!strcmp(name, "read"))
		return read(data[0], &c, 1);
	if (!strcmp(name, "write"))
		return write(full[1], "x", 1);
	if (!strcmp(name, "recv"))
		return recv(sock[0], &c, 1, 0);
	if (!strcmp(name, "waitpid"))
		return waitpid(child, NULL, 0);
	if (!strcmp(name, "sem_wait"))
		return sem_wait(sem);
	if (!strcmp(name, "poll"))
		return poll(&(struct pollfd){ .fd = data[0], .events = POLLIN }, 1, -1);
	if (!strcmp(name, "epoll_wait"))
		return epoll_wait(ep, &ev, 1, -1);
	if (!strcmp(name, "select"))
		return select(data[0] + 1, &fds, NULL, NULL, NULL);
	if (!strcmp(name, "nanosleep"))
		return nanosleep(&(struct timespec){ .tv_sec = 100 }, NULL);
	if (!strcmp(name, "sigwaitinfo"))
		return sigwaitinfo(&usr2, NULL);
	if (!strcmp(name, "sigsuspend"))
		return sigsuspend(&none);
	return pause();
}

/* Signals its parent until killed; a call that restarts gets five, then what it waits for. */
static pid_t pester(bool restarts)
{
	char buf[4096];
	pid_t pid = xfork();

	if (pid)
		return pid;
	for (int i = 0; i < (restarts ? 5 : 300); i++) {
		usleep(10000);
		kill_parent(SIGUSR1);
	}
	(void)!write(data[1], "x", 1);
	(void)!write(sock[1], "x", 1);
	(void)!read(full[0], buf, sizeof(buf));
	sem_post(sem);
	kill(child, SIGKILL);
	_exit(0);
}

static void round_(const char *name, bool restart, bool restarts)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0 };
	static char fill[65536];

	sigaction(SIGUSR1, &sa, NULL);
	(void)!pipe(data);
	(void)!pipe(full);
	(void)!write(full[1], fill, sizeof(fill));
	socketpair(AF_UNIX, SOCK_STREAM, 0, sock);
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, data[0], &(struct epoll_event){ .events = EPOLLIN });
	sem_init(sem, 1, 0);
	child = xfork();
	if (child == 0)
		for (;;)
			pause();
	pid_t pest = pester(restart && restarts);
	long rc = call(name);
	printf("%s%s: %s\n", name, restart ? " with SA_RESTART" : "",
	       rc < 0 ? ename(errno) : "completed");
	kill(pest, SIGKILL);
	xwait(pest);
	kill(child, SIGKILL);
	xwait(child);
	for (int fd = 3; fd < 20; fd++)
		close(fd);
}

int main(void)
{
	static const char *const names[] = {
		"read",	      "write",	"recv",	     "waitpid",	    "sem_wait",	  "poll",
		"epoll_wait", "select", "nanosleep", "sigwaitinfo", "sigsuspend", "pause",
	};

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int restart = 0; restart < 2; restart++)
		for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
			/* The first five are those that restart. */
			round_(names[i], restart, i < 5);
	return 0;
}
