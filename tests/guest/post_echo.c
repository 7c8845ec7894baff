/*
 * A server with many clients that never wait for long: thousands of calls on sockets and an epoll,
 * with every length from nothing to more than one buffer, while a timer interrupts. Every byte
 * arrives once, in order.
 */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#define PAIRS 8
#define ROUNDS 4000

static volatile int ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static void serve(int ep)
{
	struct epoll_event ev[PAIRS];
	static char buf[20000];
	int open_ends = PAIRS;

	while (open_ends) {
		int n = epoll_wait(ep, ev, PAIRS, 50);

		for (int i = 0; i < n; i++) {
			ssize_t got = read(ev[i].data.fd, buf, sizeof(buf)), put = 0;

			if (got == 0) {
				epoll_ctl(ep, EPOLL_CTL_DEL, ev[i].data.fd, NULL);
				close(ev[i].data.fd);
				open_ends--;
			}
			while (put < got) {
				struct iovec v[2] = { { buf + put, (got - put) / 2 },
						      { buf + put + (got - put) / 2, got - put - (got - put) / 2 } };
				ssize_t w = writev(ev[i].data.fd, v, 2);

				if (w > 0)
					put += w;
				else if (errno != EAGAIN && errno != EINTR)
					_exit(3);
			}
		}
	}
	_exit(0);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = tick };
	struct itimerval it = { { 0, 3000 }, { 0, 3000 } }, none = { { 0, 0 }, { 0, 0 } };
	uint64_t sent[PAIRS] = { 0 }, got[PAIRS] = { 0 };
	uint32_t x = 7, hash_out[PAIRS] = { 0 }, hash_in[PAIRS] = { 0 };
	static char buf[9000];
	int fd[PAIRS], bad = 0, ep = epoll_create1(0), mine = epoll_create1(0);

	for (int i = 0; i < PAIRS; i++) {
		int sv[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv))
			return 2;
		fd[i] = sv[0];
		epoll_ctl(ep, EPOLL_CTL_ADD, sv[1],
			  &(struct epoll_event){ .events = EPOLLIN, .data.fd = sv[1] });
		epoll_ctl(mine, EPOLL_CTL_ADD, sv[0],
			  &(struct epoll_event){ .events = EPOLLIN, .data.u32 = (uint32_t)i });
	}
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < PAIRS; i++)
			close(fd[i]);
		serve(ep);
	}
	/* Our copies of its ends go, so that it sees ours close. */
	close(ep);
	for (int f = 3; f < 64; f++) {
		int keep = f == mine;

		for (int i = 0; i < PAIRS; i++)
			keep |= f == fd[i];
		if (!keep)
			close(f);
	}
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	for (int r = 0; r < ROUNDS; r++) {
		int i = (int)(next(&x) % PAIRS), n = (int)(next(&x) % (r % 50 ? 300 : sizeof(buf)));
		struct epoll_event ev[PAIRS];
		ssize_t w;
		int k;

		for (int j = 0; j < n; j++)
			buf[j] = (char)next(&x);
		w = r & 1 ? write(fd[i], buf, (size_t)n) : send(fd[i], buf, (size_t)n, MSG_NOSIGNAL);
		for (int j = 0; j < w; j++)
			hash_out[i] = hash_out[i] * 31 + (unsigned char)buf[j];
		if (w > 0)
			sent[i] += (uint64_t)w;
		bad += w < 0 && errno != EAGAIN && errno != EINTR;
		k = epoll_wait(mine, ev, PAIRS, r % 7 ? 0 : 5);
		for (int e = 0; e < k; e++) {
			int c = (int)ev[e].data.u32;
			ssize_t g = e & 1 ? recv(fd[c], buf, sizeof(buf), 0) : read(fd[c], buf, sizeof(buf));

			for (int j = 0; j < g; j++)
				hash_in[c] = hash_in[c] * 31 + (unsigned char)buf[j];
			if (g > 0)
				got[c] += (uint64_t)g;
			bad += g == 0 || (g < 0 && errno != EAGAIN && errno != EINTR);
		}
	}
	for (int i = 0; i < PAIRS; i++) {
		while (got[i] < sent[i]) {
			ssize_t g = read(fd[i], buf, sizeof(buf));

			for (int j = 0; j < g; j++)
				hash_in[i] = hash_in[i] * 31 + (unsigned char)buf[j];
			if (g > 0)
				got[i] += (uint64_t)g;
			if (g == 0 || (g < 0 && errno != EAGAIN && errno != EINTR))
				break;
		}
		bad += sent[i] != got[i] || hash_in[i] != hash_out[i];
		close(fd[i]);
	}
	setitimer(ITIMER_REAL, &none, NULL);
	CHECK(bad == 0);
	CHECK(ticks > 0);
	SHOW(WEXITSTATUS(xwait(pid)));
	return 0;
}
