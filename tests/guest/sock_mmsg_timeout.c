/* recvmmsg looks at its timeout after each message only: nobody is woken by it, and a message that
 * comes later ends the call. */
#include "net.h"
#include <sys/time.h>

static int a, b;
static struct mmsghdr m[8];
static struct iovec iov[8];
static char in[8][64];

/* Sends one datagram after each of these times, in a child. */
static pid_t sender(const int *ms, int n)
{
	pid_t pid = xfork();

	if (pid)
		return pid;
	for (int i = 0; i < n; i++) {
		poll(NULL, 0, ms[i]);
		if (send(a, "message", 7, 0) != 7)
			_exit(1);
	}
	_exit(0);
}

static void drain(void)
{
	char c[64];

	while (recv(b, c, sizeof(c), MSG_DONTWAIT) >= 0)
		;
}

static void got(const char *what, struct timespec ts, unsigned n, int flags, const int *ms,
		int count)
{
	struct timespec t0, t1;
	pid_t pid = sender(ms, count);

	clock_gettime(CLOCK_MONOTONIC, &t0);
	errno = 0;
	int r = recvmmsg(b, m, n, flags, &ts);
	int e = errno;
	clock_gettime(CLOCK_MONOTONIC, &t1);
	long took = (t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000;
	xwait(pid);
	printf("%s: %d %s, after %s, left %s\n", what, r, r < 0 ? ename(e) : "",
	       took < 100   ? "no time"
	       : took < 390 ? "a while"
			    : "long",
	       ts.tv_sec || ts.tv_nsec ? "some" : "none");
	drain();
}

static void alarmed(int sig)
{
	(void)sig;
}

int main(void)
{
	const int now[] = { 0, 0, 0, 0 }, late[] = { 200, 0, 0 }, later[] = { 450 },
		  spread[] = { 0, 200, 250, 50 }, often[] = { 0, 150, 150, 150 };
	struct sockaddr_in to;

	a = bound4(SOCK_DGRAM);
	b = bound4(SOCK_DGRAM);
	to = loop4(port_of(b));
	SHOW(connect(a, SA(&to), sizeof(to)));
	for (int i = 0; i < 8; i++) {
		iov[i] = (struct iovec){ in[i], sizeof(in[i]) };
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	for (int i = 0; i < 4; i++)
		if (send(a, "message", 7, 0) != 7)
			puts("no message");
	struct timespec ts = { 5, 0 };
	SHOW(recvmmsg(b, m, 4, 0, &ts));
	CHECK(ts.tv_sec == 4 || (ts.tv_sec == 5 && !ts.tv_nsec));
	got("all that was asked for", (struct timespec){ 5, 0 }, 4, 0, now, 4);
	got("no time at all, one is there", (struct timespec){ 0, 0 }, 4, 0, now, 1);
	got("the message comes in time", (struct timespec){ 5, 0 }, 1, 0, late, 1);
	got("the message comes too late", (struct timespec){ 0, 50000000 }, 4, 0, late, 3);
	got("it waits for the next message", (struct timespec){ 0, 100000000 }, 8, 0, spread, 4);
	got("one is enough", (struct timespec){ 0, 100000000 }, 8, MSG_WAITFORONE, later, 1);
	got("without waiting", (struct timespec){ 5, 0 }, 4, MSG_DONTWAIT, later, 1);
	/* A timeout of the socket ends the wait. */
	struct timeval tv = { 0, 200000 };
	SHOW(setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	got("timeout of the socket", (struct timespec){ 5, 0 }, 4, 0, later, 1);
	got("timeout of the socket, and one message", (struct timespec){ 5, 0 }, 4, 0, now, 1);
	got("both, the call's is shorter", (struct timespec){ 0, 50000000 }, 4, 0, now, 1);
	got("both, the call's ends at a message", (struct timespec){ 0, 120000000 }, 8, 0, often,
	    4);
	got("each message has the socket's whole time", (struct timespec){ 5, 0 }, 3, 0, often, 3);
	tv.tv_usec = 0;
	SHOW(setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	/* A signal ends it; what came before is told. */
	struct sigaction sa = { .sa_handler = alarmed };
	sigaction(SIGALRM, &sa, NULL);
	struct itimerval it = { { 0, 0 }, { 0, 200000 } };
	setitimer(ITIMER_REAL, &it, NULL);
	got("signal", (struct timespec){ 5, 0 }, 4, 0, later, 1);
	setitimer(ITIMER_REAL, &it, NULL);
	got("signal after a message", (struct timespec){ 5, 0 }, 4, 0, now, 1);
	/* Wrong times. */
	struct timespec bad[] = { { -1, 0 }, { 0, 1000000000 }, { 0, -1 } };
	for (int i = 0; i < 3; i++)
		SHOW(recvmmsg(b, m, 1, MSG_DONTWAIT, &bad[i]));
	return 0;
}
