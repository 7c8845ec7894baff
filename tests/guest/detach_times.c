/*
 * Calls with a time limit that wait for long: not too short, and the limit goes on over a stop that
 * nobody handles.
 */
#include "detach.h"
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>

#define KINDS 6
static int p[2], s[2], ep, sem;
static mqd_t mq;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void timed(struct blocked *b)
{
	struct pollfd pf = { .fd = p[0], .events = POLLIN };
	struct timespec ts = { .tv_sec = 1 }, at;
	struct timeval tv = { .tv_sec = 1 };
	struct epoll_event e;
	struct sembuf o = { 0, -1, 0 };
	long long start = now(), took;
	char c[64];

	b->tid = gettid();
	switch (b->i) {
	case 0:
		b->ret = poll(&pf, 1, 1000);
		break;
	case 1:
		b->ret = select(0, NULL, NULL, NULL, &tv);
		break;
	case 2:
		b->ret = epoll_wait(ep, &e, 1, 1000);
		break;
	case 3:
		b->ret = recv(s[0], c, 1, 0);
		break;
	case 4:
		b->ret = semtimedop(sem, &o, 1, &ts);
		break;
	default:
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec++;
		b->ret = mq_timedreceive(mq, c, sizeof(c), NULL, &at);
	}
	if (b->ret < 0)
		b->ret = -errno;
	took = now() - start;
	if (took < 995 || took > 15000)
		printf("%d took %lld ms\n", b->i, took);
}

static void all(void)
{
	static struct blocked b[KINDS];

	for (int i = 0; i < KINDS; i++)
		blocked_start(&b[i], i, 64 << 10, timed);
	for (int i = 0; i < KINDS; i++)
		while (!b[i].tid)
			usleep(100);
	make_calls();
	for (int i = 0; i < KINDS; i++) {
		pthread_join(b[i].thread, NULL);
		printf("%d: %s\n", i, b[i].ret < 0 ? ename(-(int)b[i].ret) : b[i].ret ? "?" : "0");
	}
}

int main(void)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 64 };
	struct timeval tv = { .tv_sec = 1 };
	pid_t pid, parent = getpid();
	char name[64];
	int status;

	alarm(28);
	snprintf(name, sizeof(name), "/detach-times-%d", parent);
	if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return 99;
	setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	ep = epoll_create1(0);
	sem = semget(IPC_PRIVATE, 1, 0600);
	mq = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq_unlink(name);
	crowd_start();
	all();
	pid = xfork();
	if (pid == 0) {
		struct pollfd pf = { .fd = p[0], .events = POLLIN };
		long long start = now(), took;
		int n = poll(&pf, 1, 1200);

		took = now() - start;
		_exit(n == 0 && took >= 1195 && took < 15000 ? 0 : 1);
	}
	task_await(pid, pid);
	make_calls();
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	usleep(100000);
	kill(pid, SIGCONT);
	show_status("poll over a stop", xwait(pid));
	crowd_end();
	semctl(sem, 0, IPC_RMID);
	return 0;
}
