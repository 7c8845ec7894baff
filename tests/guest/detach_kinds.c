/*
 * Every kind of call that waits, woken after a long wait: its result, and what it wrote.
 */
#include "detach.h"
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

static int p_read[2], p_readv[2], p_poll[2], p_select[2], p_epoll[2], p_write[2], p_splice[2],
	p_splice_to[2], s_recv[2], s_recvmsg[2], s_all[2], ev, listener, ep, flock_fd, fcntl_fd,
	sem, msg, tfd;
static pid_t child, child2;
static mqd_t mq;
static char got[64];
static int got_count;

#define KIND(name, call)                                                   \
	static void k_##name(struct blocked *b)                            \
	{                                                                  \
		char buf[16] = { 0 };                                      \
		(void)buf;                                                 \
		b->tid = gettid();                                         \
		b->ret = call;                                             \
		if (b->ret < 0)                                            \
			b->ret = -errno;                                   \
		if (buf[0])                                                \
			got[__sync_fetch_and_add(&got_count, 1)] = buf[0]; \
	}

static long do_readv(char *buf)
{
	struct iovec v[2] = { { buf, 2 }, { buf + 2, 8 } };

	return readv(p_readv[0], v, 2);
}
static long do_poll(int ms)
{
	struct pollfd p = { .fd = p_poll[0], .events = POLLIN };
	int n = poll(&p, 1, ms);

	return n == 1 ? p.revents : n;
}
static long do_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(p_select[0], &set);
	return select(p_select[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(p_select[0], &set);
}
static long do_epoll(void)
{
	struct epoll_event e = { 0 };
	int n = epoll_wait(ep, &e, 1, -1);

	return n == 1 ? (long)e.data.u32 : n;
}
static long do_recvmsg(char *buf)
{
	struct iovec v = { buf, 8 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return recvmsg(s_recvmsg[0], &m, 0);
}
static long do_accept(void)
{
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
static long do_lock(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_len = 1 };

	return fcntl(fcntl_fd, F_OFD_SETLKW, &l);
}
static long do_semop(void)
{
	struct sembuf o = { 0, -1, 0 };

	return semop(sem, &o, 1);
}
static long do_msgrcv(char *buf)
{
	struct {
		long type;
		char text[8];
	} m;
	long n = msgrcv(msg, &m, sizeof(m.text), 0, 0);

	if (n > 0)
		buf[0] = m.text[0];
	return n;
}
static long do_mq(char *buf)
{
	char m[64];
	long n = mq_receive(mq, m, sizeof(m), NULL);

	if (n > 0)
		buf[0] = m[0];
	return n;
}
static long do_wait(void)
{
	int status;

	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}
static long do_waitid(void)
{
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)child2, &si, WEXITED) < 0 ? -1 : si.si_status;
}
static long do_write(void)
{
	static char block[100000];

	return write(p_write[1], block, sizeof(block));
}
static long do_open(void)
{
	int fd = open("fifo", O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
static long do_event(void)
{
	uint64_t v;

	return read(ev, &v, 8) == 8 ? (long)v : -1;
}
static long do_timer(void)
{
	uint64_t v;

	return read(tfd, &v, 8) == 8 ? (long)(v > 0) : -1;
}

KIND(read, read(p_read[0], buf, 8))
KIND(readv, do_readv(buf))
KIND(poll, do_poll(-1))
KIND(select, do_select())
KIND(epoll, do_epoll())
KIND(recv, recv(s_recv[0], buf, 8, 0))
KIND(recv_all, recv(s_all[0], buf, 6, MSG_WAITALL))
KIND(recvmsg, do_recvmsg(buf))
KIND(accept, do_accept())
KIND(flock, flock(flock_fd, LOCK_EX))
KIND(fcntl, do_lock())
KIND(semop, do_semop())
KIND(msgrcv, do_msgrcv(buf))
KIND(mq, do_mq(buf))
KIND(wait4, do_wait())
KIND(waitid, do_waitid())
KIND(write, do_write())
KIND(open, do_open())
KIND(eventfd, do_event())
KIND(timerfd, do_timer())
KIND(splice, splice(p_splice[0], NULL, p_splice_to[1], NULL, 100, 0))

static const struct {
	const char *name;
	void (*fn)(struct blocked *b);
} kinds[] = {
#define K(name)                 \
	{                       \
#name, k_##name \
	}
	K(read),    K(readv),  K(poll),	 K(select), K(epoll),	K(recv),    K(recv_all),
	K(recvmsg), K(accept), K(flock), K(fcntl),  K(semop),	K(msgrcv),  K(mq),
	K(wait4),   K(waitid), K(write), K(open),   K(eventfd), K(timerfd), K(splice),
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static pid_t child_start(int p[2])
{
	pid_t pid = xfork();
	char c;

	if (pid == 0) {
		close(p[1]);
		_exit(read(p[0], &c, 1) == 1 ? c : 99);
	}
	return pid;
}

int main(void)
{
	static struct blocked b[KINDS];
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "sock" };
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 64 };
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = 77 };
	struct itimerspec its = { .it_value.tv_nsec = 1 };
	struct {
		long type;
		char text[8];
	} m = { 1, "m" };
	int c1[2], c2[2], block, fd, flock_own, fcntl_own;
	struct flock l = { .l_type = F_WRLCK, .l_len = 1 };
	static char buf[200000];
	char name[64];
	ssize_t n, sum = 0;

	alarm(25);
	snprintf(name, sizeof(name), "/detach-kinds-%d", getpid());
	CHECK(pipe(c1) == 0 && pipe(c2) == 0 && pipe(p_read) == 0 && pipe(p_readv) == 0 &&
	      pipe(p_poll) == 0 && pipe(p_select) == 0 && pipe(p_epoll) == 0 &&
	      pipe(p_write) == 0 && pipe(p_splice) == 0 && pipe(p_splice_to) == 0);
	child = child_start(c1);
	child2 = child_start(c2);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s_recv) == 0 &&
	      socketpair(AF_UNIX, SOCK_DGRAM, 0, s_recvmsg) == 0 &&
	      socketpair(AF_UNIX, SOCK_STREAM, 0, s_all) == 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(listener, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(listener, 5) == 0);
	CHECK((ep = epoll_create1(0)) >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, p_epoll[0], &e) == 0);
	CHECK((ev = eventfd(0, 0)) >= 0 && (tfd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
	CHECK((flock_own = open("l", O_RDWR | O_CREAT, 0600)) >= 0 &&
	      (flock_fd = open("l", O_RDWR)) >= 0 && flock(flock_own, LOCK_EX) == 0);
	CHECK((fcntl_own = open("r", O_RDWR | O_CREAT, 0600)) >= 0 &&
	      (fcntl_fd = open("r", O_RDWR)) >= 0 && fcntl(fcntl_own, F_OFD_SETLK, &l) == 0);
	CHECK((sem = semget(IPC_PRIVATE, 1, 0600)) >= 0 && (msg = msgget(IPC_PRIVATE, 0600)) >= 0);
	CHECK((mq = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr)) >= 0 &&
	      mq_unlink(name) == 0);
	CHECK(mkfifo("fifo", 0600) == 0);

	crowd_start();
	for (size_t i = 0; i < KINDS; i++)
		blocked_start(&b[i], (int)i, 64 << 10, kinds[i].fn);
	for (size_t i = 0; i < KINDS; i++)
		blocked_await(&b[i]);
	make_calls();
	for (size_t i = 0; i < KINDS; i++)
		if (b[i].done)
			printf("%s did not wait\n", kinds[i].name);

	CHECK(write(p_read[1], "a", 1) == 1 && write(p_readv[1], "bcdef", 5) == 5 &&
	      write(p_poll[1], "x", 1) == 1);
	CHECK(write(p_select[1], "x", 1) == 1 && write(p_epoll[1], "x", 1) == 1);
	CHECK(send(s_recv[1], "ghi", 3, 0) == 3 && send(s_recvmsg[1], "jk", 2, 0) == 2);
	CHECK(send(s_all[1], "lm", 2, 0) == 2);
	make_calls();
	CHECK(!b[6].done && send(s_all[1], "nopq", 4, 0) == 4);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	CHECK(flock(flock_own, LOCK_UN) == 0);
	l.l_type = F_UNLCK;
	CHECK(fcntl(fcntl_own, F_OFD_SETLK, &l) == 0);
	CHECK(semop(sem, &(struct sembuf){ 0, 1, 0 }, 1) == 0 && msgsnd(msg, &m, 3, 0) == 0 &&
	      mq_send(mq, "q", 1, 0) == 0);
	CHECK(write(c1[1], "\7", 1) == 1 && write(c2[1], "\11", 1) == 1);
	CHECK((block = open("fifo", O_WRONLY)) >= 0);
	CHECK(write(ev, &(uint64_t){ 5 }, 8) == 8 && timerfd_settime(tfd, 0, &its, NULL) == 0);
	CHECK(write(p_splice[1], "spliced", 7) == 7);
	/* A writer that is let go on piece by piece. */
	while (sum < 100000 && (n = read(p_write[0], buf, 30000)) > 0) {
		sum += n;
		if (sum < 60000)
			make_calls();
	}
	for (size_t i = 0; i < KINDS; i++) {
		pthread_join(b[i].thread, NULL);
		printf("%s: %ld\n", kinds[i].name, b[i].ret);
	}
	printf("splice moved %zd\n", read(p_splice_to[0], buf, 100));
	for (int i = 0; i < got_count; i++) /* sorted */
		for (int j = i + 1; j < got_count; j++)
			if (got[j] < got[i]) {
				char c = got[i];
				got[i] = got[j];
				got[j] = c;
			}
	printf("read %s\n", got);
	crowd_end();
	semctl(sem, 0, IPC_RMID);
	msgctl(msg, IPC_RMID, NULL);
	unlink("sock"), unlink("l"), unlink("r"), unlink("fifo");
	return 0;
}
