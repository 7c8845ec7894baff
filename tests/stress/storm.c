/* The storms of the stress test, run inside a cell (run.py). Each mode starts from nothing, makes
 * much trouble for about the given number of milliseconds, waits for all that it started, and says
 * how much it did. Exit status 1: something that cannot happen on Linux happened.
 *
 *   storm fork|exec|threads|kill|files|sockets MILLISECONDS [SEED] storm child: what 'exec'
 *   executes */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static long stop_at;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}
static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
static void fail(const char *what)
{
	fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads what /proc has of every process, again and again; processes come and go under it. */
static void proc_reader(void)
{
	static const char *const names[] = { "stat", "status", "cmdline", "maps", "fd", "task", "environ", "statm", "exe", "cwd", "limits", "mounts" };

	for (;;) {
		DIR *d = opendir("/proc");
		struct dirent *e;

		while (d && (e = readdir(d))) {
			char path[300], buf[4096];
			const char *name = names[rnd(sizeof(names) / sizeof(names[0]))];
			int fd;

			if (e->d_name[0] < '0' || e->d_name[0] > '9')
				continue;
			snprintf(path, sizeof(path), "/proc/%s/%s", e->d_name, name);
			if (readlink(path, buf, sizeof(buf)) > 0)
				continue;
			fd = open(path, O_RDONLY);
			while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
				;
			if (fd >= 0)
				close(fd);
			if (!strcmp(name, "fd")) {
				DIR *s = opendir(path);

				while (s && readdir(s))
					;
				if (s)
					closedir(s);
			}
		}
		if (d)
			closedir(d);
	}
}

static void storm_fork(int with_exec, char *self)
{
	pid_t readers[2];
	long count = 0;

	for (int i = 0; i < 2; i++) {
		readers[i] = fork();
		if (!readers[i]) {
			state += (uint64_t)i;
			proc_reader();
		}
	}
	while (now_ms() < stop_at) {
		int n = 1 + (int)rnd(12), left = n, status;
		pid_t pids[12];

		for (int i = 0; i < n; i++) {
			pids[i] = with_exec && rnd(4) == 0 ? vfork() : fork();
			if (pids[i] < 0)
				fail("fork");
			if (pids[i])
				continue;
			if (with_exec) {
				execl(self, self, "child", (char *)NULL);
				_exit(99);
			}
			if (rnd(3) == 0 && !fork())
				_exit(0); /* an orphan, or a zombie that the cell's first process gets */
			_exit(i);
		}
		while (left) {
			pid_t p = waitpid(rnd(2) ? -1 : pids[n - left], &status, 0);

			if (p < 0 && errno == ECHILD && with_exec)
				break;
			if (p < 0 && errno != ECHILD)
				fail("waitpid");
			if (p < 0)
				break;
			if (!WIFEXITED(status) || WEXITSTATUS(status) == 99)
				if (p != readers[0] && p != readers[1])
					fail("a child's status");
			left--;
			count++;
		}
		while (waitpid(-1, &status, WNOHANG) > 0)
			;
	}
	for (int i = 0; i < 2; i++) {
		kill(readers[i], SIGKILL);
		waitpid(readers[i], NULL, 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%ld children\n", count);
}

static volatile int ending;
static volatile long caught;
static void on_signal(int sig)
{
	(void)sig;
	__sync_fetch_and_add(&caught, 1);
}
static void *thread_main(void *arg)
{
	int p[2];
	char c[16];

	(void)arg;
	if (pipe(p))
		return NULL;
	while (!ending) {
		struct pollfd pf = { p[0], POLLIN, 0 };

		if (write(p[1], "x", 1) != 1 && errno != EINTR)
			break;
		if (poll(&pf, 1, 1) < 0 && errno != EINTR)
			break;
		if (read(p[0], c, 1) != 1 && errno != EINTR)
			break;
	}
	close(p[0]);
	close(p[1]);
	return NULL;
}
static void storm_threads(void)
{
	struct sigaction a = { .sa_handler = on_signal };
	long rounds = 0;

	sigaction(SIGUSR1, &a, NULL);
	a.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &a, NULL);
	while (now_ms() < stop_at) {
		pthread_t th[16];
		int n = 2 + (int)rnd(14);

		ending = 0;
		for (int i = 0; i < n; i++)
			if (pthread_create(&th[i], NULL, thread_main, NULL))
				fail("pthread_create");
		for (int i = 0; i < 300; i++) {
			pthread_kill(th[rnd((uint64_t)n)], rnd(2) ? SIGUSR1 : SIGUSR2);
			if (rnd(4) == 0)
				kill(getpid(), SIGUSR2);
		}
		ending = 1;
		for (int i = 0; i < n; i++) {
			/* A thread that waits for its byte is woken by its own write or by the
			 * poll's end. */
			if (pthread_join(th[i], NULL))
				fail("pthread_join");
		}
		rounds++;
	}
	printf("%ld rounds, %s\n", rounds, caught > 0 ? "signals came" : "no signal came");
	if (!caught)
		exit(1);
}

/* Something that holds many kinds of things, in the middle of which it is killed. */
static void victim(void)
{
	int p[2], ep = epoll_create1(0);
	struct epoll_event ev = { EPOLLIN | EPOLLET, { 0 } };
	struct itimerspec it = { { 0, 1000000 }, { 0, 1000000 } };
	char name[64], buf[4096] = { 0 };
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	timerfd_settime(t, 0, &it, NULL);
	epoll_ctl(ep, EPOLL_CTL_ADD, t, &ev);
	if (rnd(3) == 0) {
		pthread_t th;

		pthread_create(&th, NULL, thread_main, NULL);
	}
	for (;;) {
		int fd, sv[2];

		snprintf(name, sizeof(name), "v%d", (int)rnd(20));
		fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd >= 0) {
			char *m;

			if (write(fd, buf, sizeof(buf)) != sizeof(buf))
				break;
			m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (m != MAP_FAILED)
				munmap(m, 4096);
			lockf(fd, F_TLOCK, 0);
			close(fd);
		}
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) {
			struct msghdr msg = { 0 };
			struct iovec v = { buf, 1 };
			char c[CMSG_SPACE(sizeof(int))];

			msg.msg_iov = &v;
			msg.msg_iovlen = 1;
			msg.msg_control = c;
			msg.msg_controllen = sizeof(c);
			CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
			CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
			CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &sv[rnd(2)], sizeof(int));
			sendmsg(sv[0], &msg, MSG_DONTWAIT); /* left in flight, sometimes a ring */
			close(sv[0]);
			close(sv[1]);
		}
		if (pipe(p) == 0) {
			if (write(p[1], buf, rnd(4000)) < 0)
				break;
			close(p[0]);
			close(p[1]);
		}
		if (rnd(8) == 0)
			unlink(name);
		if (rnd(30) == 0 && !fork())
			execl("/bin/true", "true", (char *)NULL);
		if (rnd(10) == 0)
			epoll_wait(ep, &ev, 1, 1);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	_exit(3);
}
static void storm_kill(void)
{
	enum { N = 8 };
	pid_t pids[N] = { 0 };
	long count = 0;

	while (now_ms() < stop_at) {
		int i = (int)rnd(N), status;

		if (!pids[i]) {
			uint64_t seed = rnd(1u << 30);

			pids[i] = fork();
			if (pids[i] < 0)
				fail("fork");
			if (!pids[i]) {
				state ^= seed * 2654435761u;
				rnd(2);
				victim();
			}
			continue;
		}
		usleep((useconds_t)rnd(1500));
		if (kill(pids[i], SIGKILL))
			fail("kill");
		if (waitpid(pids[i], &status, 0) != pids[i] || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			fail("a victim's status");
		pids[i] = 0;
		count++;
	}
	for (int i = 0; i < N; i++)
		if (pids[i]) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
	for (int i = 0; i < 20; i++) {
		char name[64];

		snprintf(name, sizeof(name), "v%d", i);
		unlink(name);
	}
	printf("%ld kills\n", count);
}

/* Objects made and dropped in one process: any that the kernel keeps show in its memory. */
static void storm_files(void)
{
	long count = 0;

	while (now_ms() < stop_at) {
		char a[64], b[64];
		int fd;

		snprintf(a, sizeof(a), "file-%ld", count % 50);
		snprintf(b, sizeof(b), "dir-%ld", count % 7);
		mkdir(b, 0700);
		fd = open(a, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			fail("open");
		if (write(fd, a, strlen(a)) < 0 || ftruncate(fd, (off_t)rnd(100000)))
			fail("write");
		if (rnd(2))
			symlink(a, "link");
		rename(a, "other");
		close(fd);
		unlink("other");
		unlink("link");
		rmdir(b);
		count++;
	}
	printf("%ld files\n", count);
}

static void storm_sockets(void)
{
	long count = 0;

	while (now_ms() < stop_at) {
		int sv[2], e = eventfd(1, 0), ep = epoll_create1(0), t = timerfd_create(CLOCK_MONOTONIC, 0);
		struct epoll_event ev = { EPOLLIN, { 0 } };
		char buf[100] = { 0 };

		if (socketpair(AF_UNIX, rnd(2) ? SOCK_STREAM : SOCK_DGRAM, 0, sv))
			fail("socketpair");
		epoll_ctl(ep, EPOLL_CTL_ADD, e, &ev);
		epoll_ctl(ep, EPOLL_CTL_ADD, sv[1], &ev);
		if (write(sv[0], buf, sizeof(buf)) != sizeof(buf) || epoll_wait(ep, &ev, 1, 100) != 1)
			fail("epoll_wait");
		close(e);
		if (rnd(2))
			close(ep), ep = -1;
		close(sv[0]);
		close(sv[1]);
		close(t);
		if (ep >= 0)
			close(ep);
		count++;
	}
	printf("%ld rounds\n", count);
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "child"))
		return 7;
	if (argc < 3)
		return 2;
	state = 0x9e3779b97f4a7c15u ^ (argc > 3 ? strtoull(argv[3], NULL, 0) * 0x2545f4914f6cdd1du : 0);
	stop_at = now_ms() + atol(argv[2]);
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(argv[1], "fork"))
		storm_fork(0, argv[0]);
	else if (!strcmp(argv[1], "exec"))
		storm_fork(1, argv[0]);
	else if (!strcmp(argv[1], "threads"))
		storm_threads();
	else if (!strcmp(argv[1], "kill"))
		storm_kill();
	else if (!strcmp(argv[1], "files"))
		storm_files();
	else if (!strcmp(argv[1], "sockets"))
		storm_sockets();
	else
		return 2;
	return 0;
}
