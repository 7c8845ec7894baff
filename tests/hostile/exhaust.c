/* Uses up each kind of kernel object. Each ends with an errno of Linux for it, within its time, and
 * afterwards, with everything given back, the cell works. usage: exhaust [part of a name] */
#include <dirent.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "hostile.h"

#define MANY 400000

/* Prints what ended it, for the parent. */
static void said(int fd, long n, int err)
{
	long m[2] = { n, err };

	(void)!write(fd, m, sizeof(m));
}

static void limits_up(void)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* Descriptors of one process run out first (EMFILE); many processes then meet the cell's own limit
 * (ENFILE). Each child keeps what it has until told. */
static void with_children(int out, int (*open_one)(int i))
{
	long total = 0;
	int err = 0, gate[2], back[2];

	limits_up();
	(void)!pipe(gate);
	(void)!pipe(back);
	for (int c = 0; c < 40; c++) {
		long m[2];

		pid_t pid = fork();
		if (pid < 0)
			break;
		if (pid == 0) {
			long n = 0;

			close(gate[1]);
			errno = 0;
			while (n < MANY && open_one((int)n) >= 0)
				n++;
			m[0] = n;
			m[1] = errno;
			(void)!write(back[1], m, sizeof(m));
			(void)!read(gate[0], m, 1);
			_exit(0);
		}
		if (read(back[0], m, sizeof(m)) != sizeof(m))
			break;
		total += m[0];
		err = (int)m[1];
		if (err != EMFILE || m[0] < 8)
			break;
	}
	close(gate[1]);
	while (wait(NULL) > 0)
		;
	said(out, total, err);
}

static int one_file(int i) { (void)i; return open("/etc/passwd", O_RDONLY); }
static int one_dir(int i) { (void)i; return open("/usr/bin", O_RDONLY); }
static int one_pipe(int i) { int p[2]; (void)i; return pipe(p); }
static int one_full_pipe(int i)
{
	static char big[65536];
	int p[2];

	(void)i;
	if (pipe2(p, O_NONBLOCK) < 0)
		return -1;
	return (int)write(p[1], big, sizeof(big));
}
static int one_eventfd(int i) { (void)i; return eventfd(0, 0); }
static int one_timerfd(int i)
{
	struct itimerspec it = { { 0, 1000000 }, { 1000, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	(void)i;
	if (fd >= 0)
		timerfd_settime(fd, 0, &it, NULL);
	return fd;
}
static int one_epoll(int i) { (void)i; return epoll_create1(0); }
static int one_memfd(int i) { (void)i; return (int)syscall(SYS_memfd_create, "x", 0); }
static int one_pair(int i) { int p[2]; (void)i; return socketpair(AF_UNIX, SOCK_STREAM, 0, p); }
static int one_tmpfile(int i) { (void)i; return open("/tmp", O_TMPFILE | O_RDWR, 0600); }

static void files(int out) { with_children(out, one_file); }
static void dirs(int out) { with_children(out, one_dir); }
static void pipes(int out) { with_children(out, one_pipe); }
static void full_pipes(int out) { with_children(out, one_full_pipe); }
static void eventfds(int out) { with_children(out, one_eventfd); }
static void timerfds(int out) { with_children(out, one_timerfd); }
static void epolls(int out) { with_children(out, one_epoll); }
static void memfds(int out) { with_children(out, one_memfd); }
static void pairs(int out) { with_children(out, one_pair); }
static void tmpfiles(int out) { with_children(out, one_tmpfile); }

static void epoll_items(int out)
{
	long n = 0;
	int err = 0;

	limits_up();
	for (int e = 0; e < 200 && !err; e++) {
		int ep = epoll_create1(0);

		for (int i = 0; i < 600; i++) {
			struct epoll_event ev = { .events = EPOLLIN };
			static int fd[600];

			if (e == 0)
				fd[i] = eventfd(0, 0);
			if (epoll_ctl(ep, EPOLL_CTL_ADD, fd[i], &ev) < 0) {
				err = errno;
				break;
			}
			n++;
		}
	}
	said(out, n, err);
}
static void epoll_nest(int out)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int last = epoll_create1(0), err = 0, first = last;
	long n;

	for (n = 0; n < 1000 && !err; n++) {
		int e = epoll_create1(0);

		if (e < 0 || epoll_ctl(e, EPOLL_CTL_ADD, last, &ev) < 0)
			err = errno;
		last = e;
	}
	epoll_ctl(first, EPOLL_CTL_ADD, last, &ev);
	epoll_ctl(first, EPOLL_CTL_ADD, first, &ev);
	said(out, n, err);
}
static void timers(int out)
{
	struct itimerspec it = { { 0, 1000000 }, { 0, 1000000 } };
	long n = 0;
	timer_t t;

	signal(SIGUSR1, SIG_IGN);
	for (; n < MANY; n++) {
		struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };

		if (timer_create(CLOCK_MONOTONIC, &ev, &t) < 0)
			break;
		if (n < 2000)
			timer_settime(t, 0, &it, NULL);
	}
	said(out, n, errno);
}
static void locks(int out)
{
	long n = 0;
	int fd = -1;

	for (; n < MANY; n++) {
		if (n % 2000 == 0)
			fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		struct flock l = { .l_type = n & 1 ? F_RDLCK : F_WRLCK, .l_start = n * 2, .l_len = 1 };

		if (fcntl(fd, F_SETLK, &l) < 0)
			break;
	}
	said(out, n, errno);
}
static void names(int out)
{
	char path[300];
	long n = 0;

	mkdir("/tmp/names", 0700);
	long most = getenv("LONG") ? 4 * MANY : 20000;

	for (; n < most; n++) {
		snprintf(path, sizeof(path), "/tmp/names/%0200ld", n);
		if (symlink("x", path) < 0)
			break;
	}
	said(out, n, n == most ? 0 : errno); /* the short run does not get as far as the limit */
	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/tmp/names/%0200ld", i);
		unlink(path);
	}
}
static void missing_names(int out)
{
	char path[300];
	struct stat st;
	long n = 0;

	/* The kernel may remember that a name is not there, but not all of them. */
	for (; n < 20000; n++) {
		snprintf(path, sizeof(path), "/usr/bin/%0200ld", n);
		if (stat(path, &st) == 0)
			break;
	}
	said(out, n, ENOENT);
}
static void deep(int out)
{
	long n = 0;

	mkdir("/tmp/deep", 0700);
	chdir("/tmp/deep");
	for (; n < 5000; n++)
		if (mkdir("dddddddddddddddddddddddddddddd", 0700) < 0 || chdir("dddddddddddddddddddddddddddddd") < 0)
			break;
	char buf[8192];
	errno = 0;
	int err = getcwd(buf, sizeof(buf)) ? 0 : errno;
	long r = syscall(SYS_getcwd, buf, sizeof(buf));
	if (r < 0)
		err = errno;
	open("/proc/self/cwd/..", O_RDONLY);
	rename("/tmp/deep", "/tmp/deep/a");
	said(out, n, err);
}
static void links(int out)
{
	char a[64], b[4200];
	long n = 0;
	int err;

	mkdir("/tmp/sl", 0700);
	chdir("/tmp/sl");
	symlink(".", "l0");
	for (n = 1; n < 100; n++) {
		snprintf(a, sizeof(a), "l%ld", n);
		snprintf(b, sizeof(b), "l%ld", n - 1);
		symlink(b, a);
	}
	err = open("l99", O_RDONLY) < 0 ? errno : 0;
	/* The longest walk there is: 40 links of 4095 bytes. */
	for (int i = 0; i < 4095; i += 2)
		memcpy(b + i, "./", 2);
	for (n = 0; n < 39; n++) {
		snprintf(a, sizeof(a), "w%ld", n);
		snprintf(b + 4080, 16, n ? "/w%ld" : "/.", n - 1);
		symlink(b, a);
	}
	for (int i = 0; i < 20; i++)
		(void)!access("w38", F_OK);
	said(out, n, err);
}
static void xattrs(int out)
{
	static char value[65536];
	char name[64];
	int fd = open("/tmp/xa", O_RDWR | O_CREAT, 0600);
	long n = 0;

	for (; n < 20000; n++) {
		snprintf(name, sizeof(name), "user.x%ld", n);
		if (fsetxattr(fd, name, value, n % 3 ? 100 : 2000, 0) < 0)
			break;
	}
	said(out, n, errno);
	flistxattr(fd, value, sizeof(value));
}
static void inodes(int out)
{
	char path[64];
	long n = 0;
	int err;

	for (; n < 2000000; n++) {
		snprintf(path, sizeof(path), "/tmp/i%ld", n);
		if (mkdir(path, 0700) < 0)
			break;
		if (n == 20000 && !getenv("LONG"))
			break;
	}
	err = errno;
	for (long i = 0; i < n + 1; i++) {
		snprintf(path, sizeof(path), "/tmp/i%ld", i);
		rmdir(path);
	}
	said(out, n, n == 20000 && !getenv("LONG") ? 0 : err);
}
static void space(int out)
{
	int fd = open("/tmp/big", O_RDWR | O_CREAT, 0600);
	long n;

	/* More than there can be. */
	n = fallocate(fd, 0, 0, 1L << 45);
	said(out, n, errno);
	unlink("/tmp/big");
}
static void mounts(int out)
{
	char path[64];
	long n = 0;

	mkdir("/tmp/m", 0700);
	for (; n < 20000; n++) {
		snprintf(path, sizeof(path), "/tmp/m/%ld", n);
		mkdir(path, 0700);
		if (mount("none", path, "tmpfs", 0, NULL) < 0)
			break;
	}
	said(out, n, errno);
}
static void processes(int out)
{
	int gate[2];
	long n = 0;
	int err;

	(void)!pipe(gate);
	for (; n < 100000; n++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			char c;

			close(gate[1]);
			(void)!read(gate[0], &c, 1);
			_exit(0);
		}
	}
	err = errno;
	close(gate[1]);
	while (wait(NULL) > 0)
		;
	said(out, n, err);
}
static void *parked(void *arg)
{
	char c;

	(void)!read(*(int *)arg, &c, 1);
	return NULL;
}
static void threads(int out)
{
	pthread_attr_t attr;
	int gate[2], err = 0;
	long n = 0;
	pthread_t t;

	(void)!pipe(gate);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (; n < 100000 && !err; n++)
		err = pthread_create(&t, &attr, parked, gate);
	said(out, n, err);
}
static void zombies(int out)
{
	long n = 0;

	for (; n < 100000; n++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0)
			_exit(0);
	}
	said(out, n, errno);
}
static void signals(int out)
{
	sigset_t all;
	union sigval v = { 0 };
	long n = 0;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (; n < MANY; n++)
		if (sigqueue(getpid(), SIGRTMIN + 3, v) < 0)
			break;
	said(out, n, errno);
}
static void vectors(int out)
{
	static char data[4096];
	struct iovec v[1025];
	int fd = open("/dev/null", O_WRONLY);

	for (int i = 0; i < 1025; i++)
		v[i] = (struct iovec){ data, 1UL << 40 };
	for (int i = 0; i < 50; i++) {
		writev(fd, v, 1024);
		preadv(fd, v, 1024, -1);
	}
	errno = 0;
	writev(fd, v, 1025);
	said(out, 1024, errno);
}
static void poll_sets(int out)
{
	size_t n = 1 << 20;
	struct {
		int fd;
		short e, r;
	} *p = calloc(n, 8);
	long ret;

	limits_up();
	ret = RAW(SYS_poll, p, n, 0);
	if (ret >= 0)
		ret = RAW(SYS_poll, p, 0x7fffffff, 0);
	said(out, 0, (int)-ret);
}
static void packets(int out)
{
	int s[2];
	long n = 0;

	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	for (; n < MANY; n++)
		if (send(s[0], "x", 1, MSG_DONTWAIT) < 0)
			break;
	said(out, n, errno);
}
static void passed_files(int out)
{
	int s[2];
	long n = 0;
	char c = 'x';
	struct iovec v = { &c, 1 };
	union {
		char b[CMSG_SPACE(200 * sizeof(int))];
		struct cmsghdr h;
	} u;

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	/* A socket that carries itself, and is then forgotten. */
	for (; n < 100000; n++) {
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = u.b, .msg_controllen = sizeof(u.b) };
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);

		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(200 * sizeof(int));
		for (int i = 0; i < 200; i++)
			((int *)CMSG_DATA(h))[i] = s[i & 1];
		if (sendmsg(s[0], &m, MSG_DONTWAIT) < 0)
			break;
		if (n % 50 == 49) {
			close(s[0]);
			close(s[1]);
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0)
				break;
		}
	}
	said(out, n, errno);
}
static void big_directory(int out)
{
	char path[64], buf[65536];
	double worst = 0, s;
	long n = 0;
	int fd;

	mkdir("/tmp/bd", 0700);
	for (; n < 10000; n++) {
		snprintf(path, sizeof(path), "/tmp/bd/%ld", n);
		if (mknod(path, S_IFREG | 0600, 0) < 0)
			break;
	}
	fd = open("/tmp/bd", O_RDONLY);
	for (;;) {
		s = seconds();
		long r = RAW(SYS_getdents64, fd, buf, sizeof(buf));
		if (seconds() - s > worst)
			worst = seconds() - s;
		if (r <= 0)
			break;
	}
	s = seconds();
	lseek(fd, 1L << 40, SEEK_SET);
	RAW(SYS_getdents64, fd, buf, sizeof(buf));
	RAW(SYS_getdents64, fd, buf, 1);
	if (seconds() - s > worst)
		worst = seconds() - s;
	said(out, (long)(worst * 1e6), worst < 0.5 ? 0 : ETIME);
}

static const struct {
	const char *name;
	void (*fn)(int);
	int errs[4];
} kinds[] = {
	{ "open files", files, { ENFILE, EMFILE } },
	{ "open directories", dirs, { ENFILE, EMFILE } },
	{ "pipes", pipes, { ENFILE, EMFILE } },
	{ "full pipes", full_pipes, { ENFILE, EMFILE, EAGAIN, ENOMEM } },
	{ "eventfds", eventfds, { ENFILE, EMFILE, ENOMEM } },
	{ "timerfds", timerfds, { ENFILE, EMFILE, ENOMEM } },
	{ "epolls", epolls, { ENFILE, EMFILE, ENOMEM } },
	{ "memfds", memfds, { ENFILE, EMFILE, ENOMEM } },
	{ "socket pairs", pairs, { ENFILE, EMFILE, ENOMEM, ENOBUFS } },
	{ "nameless files", tmpfiles, { ENFILE, EMFILE, ENOSPC } },
	{ "epoll items", epoll_items, { ENOSPC, ENOMEM } },
	{ "nested epolls", epoll_nest, { ELOOP, EINVAL } },
	{ "timers", timers, { EAGAIN, ENOMEM } },
	{ "locks", locks, { ENOLCK } },
	{ "names", names, { 0, ENOSPC, EDQUOT } },
	{ "names that are not there", missing_names, { ENOENT } },
	{ "deep directories", deep, { ERANGE, ENAMETOOLONG, ENOENT, ENOSPC } },
	{ "chains of links", links, { ELOOP } },
	{ "extended attributes", xattrs, { ENOSPC, EDQUOT, ENOMEM } },
	{ "inodes", inodes, { 0, ENOSPC, EDQUOT } },
	{ "disk space", space, { ENOSPC, EDQUOT, EFBIG } },
	{ "mounts", mounts, { ENOSPC, ENOMEM, EPERM } },
	{ "processes", processes, { EAGAIN } },
	{ "threads", threads, { EAGAIN } },
	{ "zombies", zombies, { EAGAIN } },
	{ "pending signals", signals, { EAGAIN } },
	{ "huge vectors", vectors, { EINVAL } },
	{ "huge poll sets", poll_sets, { EINVAL, ENOMEM } },
	{ "packets", packets, { EAGAIN, ENOBUFS } },
	{ "sockets that carry themselves", passed_files, { EAGAIN, ETOOMANYREFS, ENFILE, EINVAL } },
	{ "a big directory", big_directory, { 0 } },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long m[2] = { -1, -1 };
		int p[2], ok = 0, st;
		double start = seconds(), end;
		pid_t pid;

		if (argc > 1 && !strstr(kinds[i].name, argv[1]))
			continue;
		(void)!pipe(p);
		pid = fork();
		if (pid == 0) {
			close(p[0]);
			kinds[i].fn(p[1]);
			_exit(0);
		}
		close(p[1]);
		end = seconds() + 30;
		while (waitpid(pid, &st, WNOHANG) == 0 && seconds() < end)
			naptime(2);
		kill(pid, SIGKILL);
		waitpid(pid, &st, 0);
		if (read(p[0], m, sizeof(m)) == sizeof(m))
			for (int e = 0; e < 4; e++)
				ok |= m[1] == kinds[i].errs[e] && (m[1] || e == 0);
		close(p[0]);
		/* Zombies of the dead child go to the cell's init, which collects them. */
		for (int n = 0; n < 50 && ok && !cell_is_well(); n++)
			naptime(50);
		check(ok && cell_is_well(), "%s: %ld, then %s (%.1f s)", kinds[i].name, m[0],
		      m[1] < 0 ? "nothing" : m[1] ? strerror((int)m[1]) : "no error", seconds() - start);
	}
	return done();
}
