/* Another thread changes a path, an iovec, a sockaddr, a sigset, a poll set while the kernel reads
 * it. What is checked must be what is used: a path is one of the two, never a mixture that leads
 * elsewhere; counts are right; the kernel lives. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "hostile.h"

static volatile int stop;
static char path[64];
static struct iovec iov[64];
static char data[1 << 16];
static struct sockaddr_un sun;
static struct pollfd fds[128];
static uint64_t set[2];

static void *flip_path(void *arg)
{
	(void)arg;
	while (!stop) {
		memcpy(path, "/tmp/r/good/file", 17);
		memcpy(path, "/tmp/r/../../etc", 17);
		memset(path, 'a', 40);
	}
	return NULL;
}
static void *flip_iov(void *arg)
{
	(void)arg;
	while (!stop)
		for (int i = 0; i < 64; i++) {
			iov[i].iov_len = (size_t[]){ 1, 4096, ~0ul >> 1, ~0ul, 0, 1ul << 40 }[below(6)];
			iov[i].iov_base = (void *[]){ data, NULL, (void *)STUB_BASE, (void *)-4096L, data + 60000 }[below(5)];
		}
	return NULL;
}
static void *flip_other(void *arg)
{
	(void)arg;
	while (!stop) {
		sun.sun_family = (sa_family_t)below(3);
		memset(sun.sun_path, (int)below(2) * 'x', sizeof(sun.sun_path));
		for (int i = 0; i < 128; i++) {
			fds[i].fd = (int)below(12) - 2;
			fds[i].events = (short)rnd();
		}
		set[0] = rnd();
		set[1] = rnd();
	}
	return NULL;
}

int main(void)
{
	pthread_t th[3];
	int fd, p[2], strange = 0;
	double end;
	struct stat st;

	mkdir("/tmp/r", 0700);
	mkdir("/tmp/r/good", 0700);
	fd = open("/tmp/r/good/file", O_CREAT | O_RDWR, 0600);
	(void)!pipe2(p, O_NONBLOCK);
	for (int i = 0; i < 64; i++)
		iov[i] = (struct iovec){ data, 1 };
	pthread_create(&th[0], NULL, flip_path, NULL);
	pthread_create(&th[1], NULL, flip_iov, NULL);
	pthread_create(&th[2], NULL, flip_other, NULL);
	end = seconds() + 1.5;
	while (seconds() < end) {
		int s = socket(AF_UNIX, SOCK_DGRAM, 0), d;
		struct timespec ts = { 0, 1000 };

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (1 << 24))
			strange++;
		d = open(path, O_RDWR | O_CREAT, 0600);
		if (d >= 0)
			close(d);
		rename(path, path + 3);
		symlink(path, path);
		unlink(path);
		ftruncate(fd, 0);
		pwritev(fd, iov, 64, 0);
		if (fstat(fd, &st) == 0 && st.st_size > 64 * 65536L)
			strange++;
		preadv(fd, iov, (int)below(64), 0);
		writev(p[1], iov, 64);
		readv(p[0], iov, 64);
		vmsplice(p[1], iov, 8, 0);
		if (s >= 0) {
			struct msghdr m = { .msg_name = &sun, .msg_namelen = (unsigned)below(200), .msg_iov = iov,
					    .msg_iovlen = below(64), .msg_control = set, .msg_controllen = 16 };

			bind(s, (void *)&sun, sizeof(sun));
			connect(s, (void *)&sun, sizeof(sun));
			sendmsg(s, &m, MSG_DONTWAIT);
			recvmsg(s, &m, MSG_DONTWAIT);
			close(s);
		}
		poll(fds, below(128), 0);
		RAW(SYS_ppoll, fds, 128, &ts, set, 8);
		RAW(SYS_select, 64, set, set + 1, set, &ts);
		RAW(SYS_rt_sigtimedwait, set, 0, &ts, 8);
		RAW(SYS_rt_sigprocmask, below(3), set, set + 1, 8);
		RAW(SYS_execve, path, set, set);
		mkdir("/tmp/r", 0700);
		mkdir("/tmp/r/good", 0700);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	check(!strange, "paths, vectors and sets that change while they are read");
	check(cell_is_well(), "the kernel goes on");
	return done();
}
