/* What a program sees of TCP connections to another machine; the server is outside.py. Prints
 * relations and names of errors, so that the host and a cell can be compared. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_storage server;
static socklen_t server_len;
static int family, pipes;

#define SHOW(what, value)                                                            \
	do {                                                                         \
		errno = 0;                                                           \
		long v_ = (long)(value);                                             \
		printf("%s: %ld%s%s\n", what, v_, v_ < 0 ? " " : "",                 \
		       v_ < 0 ? strerrorname_np(errno) : "");                        \
	} while (0)

static void on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static const struct sockaddr *at(int port)
{
	if (family == AF_INET)
		((struct sockaddr_in *)&server)->sin_port = htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)&server)->sin6_port = htons((uint16_t)port);
	return (struct sockaddr *)&server;
}

static int fresh(int flags)
{
	return socket(family, SOCK_STREAM | flags, 0);
}

static int number;
/* A connection on which the server was told what to do. */
static int ask(const char *what)
{
	char line[64];
	int fd = fresh(0);

	if (connect(fd, at(4000), server_len) < 0)
		perror("connect");
	snprintf(line, sizeof(line), "%d %s\n", ++number, what);
	if (write(fd, line, strlen(line)) < 0)
		perror("write");
	return fd;
}

static void tell(const char *fmt, int n)
{
	char what[64], c;
	int fd;

	snprintf(what, sizeof(what), fmt, n);
	fd = ask(what);
	while (read(fd, &c, 1) == 1)
		if (c != '\n')
			putchar(c);
	close(fd);
	if (strncmp(what, "go", 2))
		putchar('\n');
}

static void ended(const char *what, int n)
{
	printf("%s: ", what);
	tell("ended %d", n);
}

static void events_put(const char *what, unsigned got)
{
	static const struct {
		unsigned bit;
		const char *name;
	} bits[] = { { POLLIN, "IN" },	 { POLLPRI, "PRI" }, { POLLOUT, "OUT" },
		     { POLLERR, "ERR" }, { POLLHUP, "HUP" }, { POLLRDHUP, "RDHUP" } };

	printf("%s:", what);
	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (got & bits[i].bit)
			printf(" %s", bits[i].name);
	puts("");
}

/* Polls until one of wanted is true, then shows all. */
static void polled(const char *what, int fd, short wanted)
{
	struct pollfd p = { .fd = fd, .events = wanted };

	if (wanted && poll(&p, 1, 5000) != 1)
		printf("%s: in vain\n", what);
	p.events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP;
	(void)!poll(&p, 1, 0);
	events_put(what, (unsigned)p.revents);
}

static int so_error(int fd)
{
	int e = -1;
	socklen_t n = sizeof(e);

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n);
	return e;
}

static void connecting(void)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);
	int fd = fresh(0);

	SHOW("getpeername before", getpeername(fd, (struct sockaddr *)&a, &n));
	polled("a fresh socket", fd, 0);
	SHOW("connect", connect(fd, at(4000), server_len));
	SHOW("connect again", connect(fd, at(4000), server_len));
	n = sizeof(a);
	SHOW("getpeername", getpeername(fd, (struct sockaddr *)&a, &n));
	printf("it is the server: %d\n", n == server_len && !memcmp(&a, &server, n));
	n = sizeof(a);
	SHOW("getsockname", getsockname(fd, (struct sockaddr *)&a, &n));
	printf("it has a port: %d\n", ((struct sockaddr_in *)&a)->sin_port != 0);
	SHOW("bind", bind(fd, (struct sockaddr *)&a, n));
	SHOW("listen", listen(fd, 1));
	SHOW("accept", accept(fd, NULL, NULL));
	polled("connected", fd, POLLOUT);
	close(fd);

	fd = fresh(SOCK_NONBLOCK);
	SHOW("connect without waiting", connect(fd, at(4000), server_len));
	polled("connected", fd, POLLOUT);
	SHOW("SO_ERROR", so_error(fd));
	SHOW("connect", connect(fd, at(4000), server_len));
	SHOW("connect", connect(fd, at(4000), server_len));
	close(fd);
}

static void failing(void)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct timeval tv = { .tv_usec = 300000 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	char byte = 0;
	int fd = fresh(0);

	SHOW("a closed port", connect(fd, at(4009), server_len));
	SHOW("SO_ERROR", so_error(fd));
	polled("after it", fd, 0);
	SHOW("an open one", connect(fd, at(4000), server_len));
	close(fd);
	fd = fresh(SOCK_NONBLOCK);
	SHOW("a closed port without waiting", connect(fd, at(4009), server_len));
	polled("refused", fd, POLLOUT);
	SHOW("SO_ERROR", so_error(fd));
	SHOW("SO_ERROR", so_error(fd));
	polled("after it", fd, 0);
	SHOW("connect", connect(fd, at(4009), server_len));
	close(fd);
	fd = fresh(SOCK_NONBLOCK);
	(void)!connect(fd, at(4009), server_len);
	polled("refused", fd, POLLIN);
	SHOW("read", read(fd, &byte, 1));
	SHOW("read", read(fd, &byte, 1));
	SHOW("write", write(fd, &byte, 1));
	close(fd);
	fd = fresh(SOCK_NONBLOCK);
	SHOW("a port without room", connect(fd, at(4001), server_len));
	SHOW("connect", connect(fd, at(4001), server_len));
	SHOW("read", read(fd, &byte, 1));
	SHOW("write", write(fd, &byte, 1));
	polled("connecting", fd, 0);
	SHOW("AF_UNSPEC", connect(fd, &none, sizeof(none)));
	SHOW("SO_ERROR", so_error(fd));
	SHOW("connect", connect(fd, at(4001), server_len));
	SHOW("shutdown", shutdown(fd, SHUT_RDWR));
	SHOW("SO_ERROR", so_error(fd));
	close(fd);
	fd = fresh(0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	SHOW("a port without room, with a time limit", connect(fd, at(4001), server_len));
	SHOW("connect", connect(fd, at(4001), server_len));
	close(fd);
	inet_pton(AF_INET, "93.184.200.1", &nowhere.sin_addr);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	SHOW("an address without a route", connect(fd, (void *)&nowhere, sizeof(nowhere)));
	close(fd);
}

static void receiving(void)
{
	char b[100];
	int fd = ask("say 30"), n = 0;
	struct timeval tv = { .tv_usec = 100000 };
	struct msghdr m = { 0 };
	struct iovec v = { .iov_base = b, .iov_len = 4 };

	while (n < 30)
		ioctl(fd, FIONREAD, &n);
	printf("FIONREAD: %d\n", n);
	SHOW("peek", recv(fd, b, 10, MSG_PEEK));
	SHOW("peek", recv(fd, b, 100, MSG_PEEK));
	SHOW("truncate", recv(fd, b, 10, MSG_TRUNC));
	SHOW("peek and truncate", recv(fd, b, 5, MSG_PEEK | MSG_TRUNC));
	SHOW("read", read(fd, b, 5));
	SHOW("nothing", recv(fd, b, 0, MSG_DONTWAIT));
	m.msg_iov = &v;
	m.msg_iovlen = 1;
	m.msg_name = b + 50;
	m.msg_namelen = 40;
	SHOW("recvmsg", recvmsg(fd, &m, MSG_TRUNC));
	printf("flags %d name %d\n", m.msg_flags, m.msg_namelen);
	SHOW("without waiting", recv(fd, b, 100, MSG_DONTWAIT));
	SHOW("without waiting", recv(fd, b, 100, MSG_DONTWAIT));
	SHOW("nothing", recv(fd, b, 0, MSG_DONTWAIT));
	SHOW("urgent", recv(fd, b, 1, MSG_OOB));
	SHOW("errors", recv(fd, b, 1, MSG_ERRQUEUE));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	SHOW("in time", read(fd, b, 1));
	SHOW("all in time", recv(fd, b, 10, MSG_WAITALL));
	close(fd);
	fd = ask("bye 30");
	SHOW("all", recv(fd, b, 20, MSG_WAITALL));
	SHOW("all", recv(fd, b, 20, MSG_WAITALL));
	SHOW("all", recv(fd, b, 20, MSG_WAITALL));
	close(fd);
	fd = ask("say 10");
	SHOW("SO_RCVLOWAT", setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &(int){ 20 }, sizeof(int)));
	usleep(100000);
	polled("less than asked for", fd, 0);
	close(fd);
}

static void half_closed(void)
{
	char b[100] = "";
	int fd = ask("count");

	SHOW("write", write(fd, "12345", 5));
	SHOW("shutdown", shutdown(fd, SHUT_WR));
	SHOW("write", write(fd, "12345", 5));
	printf("signals: %d\n", pipes);
	polled("the answer and the end", fd, POLLHUP);
	SHOW("read", read(fd, b, sizeof(b)));
	printf("%s", b);
	polled("the end", fd, POLLRDHUP);
	SHOW("read", read(fd, b, sizeof(b)));
	polled("both sides", fd, POLLHUP);
	SHOW("shutdown", shutdown(fd, SHUT_WR));
	SHOW("shutdown", shutdown(fd, SHUT_RD));
	SHOW("getpeername", getpeername(fd, (void *)b, &(socklen_t){ sizeof(b) }));
	SHOW("connect", connect(fd, at(4000), server_len));
	close(fd);

	fd = ask("bye 3");
	polled("the other side's end", fd, POLLRDHUP);
	SHOW("read", read(fd, b, sizeof(b)));
	SHOW("read", read(fd, b, sizeof(b)));
	polled("after it", fd, POLLRDHUP);
	SHOW("getpeername", getpeername(fd, (void *)b, &(socklen_t){ sizeof(b) }));
	SHOW("write", write(fd, "1", 1));
	polled("its answer", fd, POLLHUP);
	SHOW("write", write(fd, "1", 1));
	SHOW("SO_ERROR", so_error(fd));
	SHOW("read", read(fd, b, sizeof(b)));
	close(fd);

	fd = ask("echo");
	SHOW("shutdown to read", shutdown(fd, SHUT_RD));
	polled("after it", fd, 0);
	SHOW("read", read(fd, b, sizeof(b)));
	SHOW("write", write(fd, "1234", 4));
	usleep(100000);
	SHOW("read", read(fd, b, sizeof(b)));
	SHOW("shutdown", shutdown(fd, SHUT_RDWR));
	polled("after it", fd, 0);
	SHOW("shutdown", shutdown(fd, 3));
	close(fd);
}

static void reset(void)
{
	char b[100];
	int fd = ask("reset"), n;

	SHOW("read", read(fd, b, 1));
	polled("after a reset", fd, 0);
	SHOW("read", read(fd, b, 1));
	pipes = 0;
	SHOW("write", write(fd, b, 1));
	SHOW("send without a signal", send(fd, b, 1, MSG_NOSIGNAL));
	printf("signals: %d\n", pipes);
	SHOW("shutdown", shutdown(fd, SHUT_RDWR));
	SHOW("getpeername", getpeername(fd, (void *)b, &(socklen_t){ sizeof(b) }));
	close(fd);
	fd = ask("reset");
	polled("a reset", fd, POLLHUP);
	SHOW("SO_ERROR", so_error(fd));
	SHOW("SO_ERROR", so_error(fd));
	SHOW("read", read(fd, b, 1));
	close(fd);
	fd = ask("reset");
	polled("a reset", fd, POLLHUP);
	SHOW("write", write(fd, b, 1));
	SHOW("write", write(fd, b, 1));
	close(fd);

	fd = ask("echo"), n = number;
	close(fd);
	ended("closed", n);
	fd = ask("echo"), n = number;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
	close(fd);
	ended("closed with a reset", n);
	fd = ask("say 10"), n = number;
	polled("unread", fd, POLLIN);
	close(fd);
	ended("closed with bytes unread", n);
	fd = ask("echo"), n = number;
	SHOW("AF_UNSPEC", connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, 16));
	ended("disconnected", n);
	polled("after it", fd, 0);
	SHOW("SO_ERROR", so_error(fd));
	SHOW("read", read(fd, b, 1));
	SHOW("connect", connect(fd, at(4000), server_len));
	close(fd);
}

static unsigned edge(int ep, int ms)
{
	struct epoll_event e = { 0 };

	return epoll_wait(ep, &e, 1, ms) == 1 ? e.events : 0;
}

static void watching(void)
{
	static char b[1 << 16];
	int fd = ask("echo"), ep = epoll_create1(0), n;
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	events_put("nothing", edge(ep, 50));
	for (int i = 0; i < 3; i++) {
		(void)!write(fd, "1", 1);
		events_put("an arrival that is not read", edge(ep, 5000));
		events_put("once", edge(ep, 50));
	}
	SHOW("read", read(fd, b, sizeof(b)));
	events_put("nothing", edge(ep, 50));
	shutdown(fd, SHUT_WR);
	/* the other side's end; perhaps the own one in an event before it */
	for (unsigned got = 0; !(got & EPOLLRDHUP);)
		got = edge(ep, 5000);
	close(fd);

	fd = ask("wait"), n = number;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 20000 }, sizeof(int));
	e.events = EPOLLOUT | EPOLLET;
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	events_put("room", edge(ep, 5000));
	events_put("once", edge(ep, 50));
	while (write(fd, b, sizeof(b)) > 0)
		;
	printf("full: %s\n", strerrorname_np(errno));
	events_put("no room", edge(ep, 50));
	polled("no room", fd, 0);
	tell("go %d", n);
	events_put("room again", edge(ep, 5000));
	shutdown(fd, SHUT_WR);
	polled("counted", fd, POLLHUP);
	close(fd);

	fd = ask("echo");
	e.events = EPOLLIN | EPOLLONESHOT;
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	(void)!write(fd, "1", 1);
	events_put("one shot", edge(ep, 5000));
	events_put("one shot", edge(ep, 50));
	epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
	events_put("armed again", edge(ep, 5000));
	e.events = EPOLLIN;
	epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
	events_put("level", edge(ep, 5000));
	events_put("level", edge(ep, 5000));
	close(fd);
	events_put("closed", edge(ep, 50));
	close(ep);
}

static void filling(void)
{
	static char b[1 << 20];
	struct timeval tv = { .tv_usec = 200000 };
	int fd = ask("wait"), n = number, unsent = 0;
	long sent = 0, r;
	char line[32] = "";

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 20000 }, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	while ((r = write(fd, b, sizeof(b))) > 0)
		sent += r;
	printf("full: %s\n", strerrorname_np(errno));
	ioctl(fd, SIOCOUTQ, &unsent);
	printf("some is not sent: %d\n", unsent > 0);
	tell("go %d", n);
	shutdown(fd, SHUT_WR);
	SHOW("read", read(fd, line, sizeof(line)) > 0);
	printf("all came: %d\n", atol(line) == sent);
	close(fd);
	fd = ask("wait"), n = number;
	if (!fork()) {
		usleep(200000);
		tell("go %d", n);
		_exit(0);
	}
	SHOW("a large write waits", write(fd, b, sizeof(b)));
	shutdown(fd, SHUT_WR);
	SHOW("read", read(fd, line, sizeof(line)) > 0);
	printf("all came: %d\n", atol(line) == (long)sizeof(b));
	wait(NULL);
	close(fd);
}

static void options(void)
{
	static const struct {
		const char *name;
		int level, opt, value;
	} list[] = {
		{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1 },
		{ "TCP_CORK", IPPROTO_TCP, TCP_CORK, 1 },
		{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ "TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 33 },
		{ "TCP_KEEPINTVL", IPPROTO_TCP, TCP_KEEPINTVL, 7 },
		{ "TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, 3 },
		{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 9000 },
		{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 30000 },
		{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 30000 },
		{ "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1 },
	};
	for (int before = 0; before < 2; before++) {
		int fd = before ? fresh(0) : ask("echo");
		struct tcp_info ti;
		socklen_t n;

		for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
			int v = list[i].value;

			SHOW(list[i].name, setsockopt(fd, list[i].level, list[i].opt, &v, sizeof(v)));
		}
		if (before)
			SHOW("connect", connect(fd, at(4000), server_len));
		for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
			int v = -1;

			n = sizeof(v);
			getsockopt(fd, list[i].level, list[i].opt, &v, &n);
			printf("%s is %d\n", list[i].name, v);
		}
		n = sizeof(ti);
		SHOW("TCP_INFO", getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &n));
		printf("state %d, a segment %d, a round trip %d\n", ti.tcpi_state, ti.tcpi_snd_mss > 500,
		       ti.tcpi_rtt > 0);
		close(fd);
	}
}

static void moving(void)
{
	char name[] = "/tmp/outsideXXXXXX", b[5000], line[32] = "";
	int file = mkstemp(name), fd = ask("count"), p[2];
	off_t off = 0;

	unlink(name);
	memset(b, 'z', sizeof(b));
	for (int i = 0; i < 40; i++)
		(void)!write(file, b, sizeof(b));
	SHOW("sendfile", sendfile(fd, file, &off, 200000));
	shutdown(fd, SHUT_WR);
	(void)!read(fd, line, sizeof(line));
	printf("came: %s", line);
	close(fd);

	fd = ask("echo");
	(void)!pipe(p);
	SHOW("a pipe", write(p[1], b, 1000));
	SHOW("splice to", splice(p[0], NULL, fd, NULL, 1000, 0));
	for (int n = 0; n < 1000;)
		ioctl(fd, FIONREAD, &n);
	SHOW("splice from", splice(fd, NULL, p[1], NULL, 1000, 0));
	SHOW("read", read(p[0], b, sizeof(b)));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	SHOW("splice from without waiting", splice(fd, NULL, p[1], NULL, 1000, SPLICE_F_NONBLOCK));
	close(fd);
	close(file);
	close(p[0]);
	close(p[1]);
}

static void *close_it(void *arg)
{
	usleep(200000);
	close((int)(long)arg);
	return NULL;
}

static void *shut_it(void *arg)
{
	usleep(200000);
	shutdown((int)(long)arg, SHUT_RDWR);
	return NULL;
}

static void sharing(void)
{
	struct timeval tv = { .tv_usec = 600000 };
	int fd = ask("echo"), n = number, copy = dup(fd);
	pthread_t th;
	char b[10] = "";

	close(fd);
	SHOW("a copy", write(copy, "abc", 3));
	if (!fork()) {
		SHOW("the child", recv(copy, b, 3, MSG_WAITALL));
		(void)!write(copy, "de", 2);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	SHOW("the parent", recv(copy, b, 2, MSG_WAITALL));
	fflush(stdout);
	if (!fork()) {
		dup2(copy, 0);
		execlp("head", "head", "-c", "4", NULL);
	}
	(void)!write(copy, "exec", 4);
	wait(NULL);
	puts("");
	close(copy);
	ended("the last one closes", n);

	fd = ask("echo");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	pthread_create(&th, NULL, close_it, (void *)(long)fd);
	SHOW("a read while it is closed", read(fd, b, 1));
	pthread_join(th, NULL);
	SHOW("a read after that", read(fd, b, 1));
	fd = ask("echo");
	pthread_create(&th, NULL, shut_it, (void *)(long)fd);
	SHOW("a read while it is shut down", read(fd, b, 1));
	pthread_join(th, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "connecting", connecting }, { "failing", failing },	{ "receiving", receiving },
		{ "half_closed", half_closed }, { "reset", reset },	{ "watching", watching },
		{ "filling", filling },	      { "options", options },	{ "moving", moving },
		{ "sharing", sharing },
	};
	struct sockaddr_in *a4 = (void *)&server;
	struct sockaddr_in6 *a6 = (void *)&server;

	setlinebuf(stdout);
	family = strchr(argv[1], ':') ? AF_INET6 : AF_INET;
	server.ss_family = (sa_family_t)family;
	inet_pton(family, argv[1], family == AF_INET ? (void *)&a4->sin_addr : (void *)&a6->sin6_addr);
	server_len = family == AF_INET ? sizeof(*a4) : sizeof(*a6);
	number = argc > 3 ? atoi(argv[3]) : (int)getpid() * 1000;
	signal(SIGPIPE, on_pipe);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 2 && strcmp(argv[2], "all") && strcmp(argv[2], parts[i].name))
			continue;
		printf("== %s\n", parts[i].name);
		parts[i].run();
	}
	return 0;
}
