/* Families about descriptors: fcntl, dup, pipes, readiness, epoll, eventfd, timerfd, memfd, locks,
 * ioctl. */
#include "diff.h"

#include <linux/memfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

int odd_fd(const char **kind)
{
	static const char *const kinds[] = { "file", "rdonly", "dir", "opath", "pipe-r", "pipe-w", "pipe-full", "pipe-data", "pipe-hup", "pipe-err",
					     "unix", "unix-shut", "eventfd", "eventfd0", "timerfd", "epoll", "null", "bad", "neg", "udp", "tcp", "memfd",
					     "signalfd", "inotify", "fifo", "append" };
	int p[2], i = (int)rnd(COUNT(kinds));
	static char big[70000];
	sigset_t set;

	*kind = kinds[i];
	switch (i) {
	case 0:
		return open("f", O_RDWR);
	case 1:
		return open("f", O_RDONLY);
	case 2:
		return open("d", O_RDONLY);
	case 3:
		return open("f", O_PATH);
	case 4:
	case 5:
		return pipe2(p, O_NONBLOCK) ? -1 : p[i - 4];
	case 6:
		return pipe2(p, O_NONBLOCK) || write(p[1], big, sizeof(big)) < 0 ? -1 : p[1];
	case 7:
		return pipe2(p, O_NONBLOCK) || write(p[1], big, 100) < 0 ? -1 : p[0];
	case 8:
	case 9:
		if (pipe2(p, O_NONBLOCK))
			return -1;
		close(p[i == 8]);
		return p[i != 8];
	case 10:
	case 11:
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p))
			return -1;
		if (i == 11)
			shutdown(p[1], (int)rnd(3));
		return p[0];
	case 12:
		return eventfd(1, EFD_NONBLOCK);
	case 13:
		return eventfd(0, EFD_NONBLOCK);
	case 14:
		return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	case 15:
		return epoll_create1(0);
	case 16:
		return open("/dev/null", O_RDWR);
	case 17:
		return 77;
	case 18:
		return -1;
	case 19:
		return socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	case 20:
		return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	case 21:
		return (int)sys(SYS_memfd_create, "m", MFD_ALLOW_SEALING);
	case 22:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		return signalfd(-1, &set, SFD_NONBLOCK);
	case 23:
		return (int)sys(SYS_inotify_init1, O_NONBLOCK);
	case 24:
		return open("p", O_RDWR | O_NONBLOCK);
	default:
		return open("f", O_RDWR | O_APPEND);
	}
}

static void fam_fcntl(void)
{
	static const struct sym cmds[] = { S(F_DUPFD), S(F_DUPFD_CLOEXEC), S(F_GETFD), S(F_SETFD), S(F_GETFL), S(F_SETFL), S(F_SETFL), S(F_GETOWN),
					   S(F_SETSIG), S(F_GETSIG), S(F_SETLEASE), S(F_GETLEASE), S(F_NOTIFY), S(F_SETPIPE_SZ),
					   S(F_GETPIPE_SZ), S(F_ADD_SEALS), S(F_GET_SEALS), S(12345), S(-1), S(F_GETOWN_EX) };
	static const struct sym args[] = { S(0), S(1), S(2), S(10), S(64), S(4096), S(O_NONBLOCK), S(O_APPEND), S(O_APPEND | O_NONBLOCK), S(O_RDWR), S(-1),
					   S(100000), S(1L << 20), S(1L << 21), S(O_DIRECT), S(O_ASYNC), S(65), S(31), S(65536), S(0x7fffffff) };
	const char *kind;
	int fd = odd_fd(&kind);

	for (int i = 0; i < 3; i++) {
		const struct sym *c = pick(cmds), *a = pick(args);

		call("fcntl(%s, %s, %s)", kind, c->name, a->name);
		res(sys(SYS_fcntl, fd, c->v, a->v));
		note(" fl %d fd %d", fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	}
}

static void fam_lock(void)
{
	static const struct sym types[] = { S(F_RDLCK), S(F_WRLCK), S(F_WRLCK), S(F_UNLCK), S(7) };
	static const struct sym whence[] = { S(SEEK_SET), S(SEEK_SET), S(SEEK_CUR), S(SEEK_END), S(4) };
	static const struct sym nums[] = { S(0), S(1), S(5), S(10), S(-1), S(-5), S(0x7fffffffffffffff), S(100) };
	static const struct sym cmds[] = { S(F_SETLK), S(F_SETLK), S(F_GETLK), S(F_OFD_SETLK), S(F_OFD_SETLK), S(F_OFD_GETLK) };
	static const struct sym ops[] = { S(LOCK_SH), S(LOCK_EX), S(LOCK_UN), S(LOCK_SH | LOCK_EX), S(0), S(LOCK_MAND | LOCK_READ), S(32) };
	int fds[3] = { open("f", O_RDWR), open("f", chance(50) ? O_RDWR : O_RDONLY), open("f", chance(50) ? O_WRONLY : O_RDWR) };

	for (int i = 0; i < 5; i++) {
		const struct sym *t = pick(types), *w = pick(whence), *s = pick(nums), *l = pick(nums), *c = pick(cmds), *o = pick(ops);
		int which = (int)rnd(3);
		struct flock fl = { .l_type = (short)t->v, .l_whence = (short)w->v, .l_start = s->v, .l_len = l->v, .l_pid = chance(5) ? 1 : 0 };

		if (chance(25)) {
			call("flock(%d, %s)", which, o->name);
			res(flock(fds[which], (int)o->v | LOCK_NB));
			continue;
		}
		call("fcntl(%d, %s, %s %s %s %s %d)", which, c->name, t->name, w->name, s->name, l->name, fl.l_pid);
		if (!res(sys(SYS_fcntl, fds[which], c->v, &fl)))
			note(" -> %d %d %lld %lld %s", fl.l_type, fl.l_whence, (long long)fl.l_start, (long long)fl.l_len,
			     fl.l_pid == getpid() ? "me" : fl.l_pid == -1 ? "ofd" : fl.l_pid ? "other" : "0");
	}
}

static void fam_dup(void)
{
	static const struct sym nums[] = { S(-1), S(3), S(4), S(10), S(100), S(77), S(999999), S(0x7fffffff), S(20) };
	static const struct sym flags[] = { S(0), S(O_CLOEXEC), S(O_NONBLOCK), S(-1) };
	const char *kind;
	int fd = odd_fd(&kind);

	for (int i = 0; i < 3; i++) {
		const struct sym *n = pick(nums), *f = pick(flags);
		unsigned from = 3 + (unsigned)rnd(30), to = 3 + (unsigned)rnd(40);

		switch (rnd(4)) {
		case 0:
			call("dup2(%s, %s)", kind, n->name);
			res(sys(SYS_dup2, fd, n->v));
			break;
		case 1:
			call("dup3(%s, %s, %s)", kind, n->name, f->name);
			res(sys(SYS_dup3, fd, n->v, f->v));
			break;
		case 2:
			call("dup(%s)", kind);
			res(sys(SYS_dup, fd));
			break;
		default:
			call("close_range(%u, %u, %ld)", from, to, f->v & 7);
			res(sys(SYS_close_range, from, to, f->v & 7 & ~2));
			break;
		}
		for (int k = 3; k < 40; k++) {
			int r = fcntl(k, F_GETFD);

			if (r >= 0)
				note(" %d%s", k, r ? "c" : "");
		}
	}
}

static void fam_pipe(void)
{
	static const struct sym flags[] = { S(O_NONBLOCK), S(O_NONBLOCK), S(O_NONBLOCK | O_CLOEXEC), S(O_NONBLOCK | O_DIRECT), S(O_NONBLOCK | O_APPEND),
					    S(O_NONBLOCK | O_RDWR) };
	static const struct sym caps[] = { S(0), S(1), S(4096), S(4097), S(65536), S(8192), S(1 << 20), S((1 << 20) + 1), S(-1) };
	/* Linux counts pages, of which half-filled ones take more room than their bytes: so whole
	 * pages, or little altogether. */
	static const struct sym pages[] = { S(0), S(4096), S(4096), S(8192), S(12288), S(65536), S(69632), S(131072) };
	static const struct sym little[] = { S(0), S(1), S(2), S(100), S(400), S(511) };
	static char big[1 << 17];
	const struct sym *f = pick(flags);
	bool whole = chance(60);
	int p[2] = { -1, -1 };

	call("pipe2(%s)", f->name);
	if (res(sys(SYS_pipe2, p, f->v)))
		return;
	note(" %d %d fl %o %o", p[0], p[1], (unsigned)fcntl(p[0], F_GETFL), (unsigned)fcntl(p[1], F_GETFL));
	for (int i = 0; i < 8; i++) {
		const struct sym *s = whole ? pick(pages) : pick(little), *c = pick(caps);
		int avail = -1;
		struct pollfd pf[2] = { { p[0], POLLIN | POLLOUT, 0 }, { p[1], POLLIN | POLLOUT, 0 } };

		switch (rnd(5)) {
		case 0:
		case 1:
			call("write(pipe, %s)", s->name);
			res(write(p[1], big, (size_t)s->v));
			break;
		case 2:
			call("read(pipe, %s)", s->name);
			res(read(p[0], big, (size_t)s->v));
			break;
		case 3:
			call("fcntl(pipe, F_SETPIPE_SZ, %s)", c->name);
			res(sys(SYS_fcntl, p[rnd(2)], F_SETPIPE_SZ, c->v));
			break;
		default:
			call("wrong end");
			if (chance(50))
				res(write(p[0], big, 1));
			else
				res(read(p[1], big, 1));
			break;
		}
		ioctl(p[rnd(2)], FIONREAD, &avail);
		poll(pf, 2, 0);
		note(" avail %d poll %x %x", avail, pf[0].revents, pf[1].revents);
	}
}

static const struct sym poll_bits[] = { S(POLLIN), S(POLLOUT), S(POLLPRI), S(POLLRDHUP), S(POLLRDNORM), S(POLLWRNORM), S(POLLRDBAND), S(POLLWRBAND),
					S(POLLERR), S(POLLHUP), S(POLLNVAL) };

static void fam_poll(void)
{
	static const struct sym times[] = { S(0), S(0), S(1), S(-5) };
	struct pollfd pf[6];
	const char *kinds[6];
	int n = 1 + (int)rnd(5);
	char text[300];
	long nfds;
	struct timespec ts = { 0, chance(5) ? 1000000000 : chance(5) ? -1 : 1000 };
	const struct sym *t = pick(times);
	bool pp = chance(50);

	for (int i = 0; i < n; i++) {
		pf[i].fd = odd_fd(&kinds[i]);
		pf[i].events = (short)pick_flags(poll_bits, COUNT(poll_bits), 40, text, sizeof(text));
		pf[i].revents = 0x55;
	}
	/* Without a deadline only if something is sure to be ready. */
	nfds = chance(4) ? 1 << 30 : n;
	if (pp) {
		call("ppoll(");
		for (int i = 0; i < n; i++)
			note("%s:%x ", kinds[i], pf[i].events);
		note("%ld, %ld)", nfds, ts.tv_nsec);
		res(sys(SYS_ppoll, pf, nfds, &ts, NULL, 0));
	} else {
		call("poll(");
		for (int i = 0; i < n; i++)
			note("%s:%x ", kinds[i], pf[i].events);
		note("%ld, %s)", nfds, t->v < 0 ? "1" : t->name);
		res(sys(SYS_poll, pf, nfds, t->v < 0 ? 1 : t->v));
	}
	for (int i = 0; i < n; i++)
		note(" %x", (unsigned short)pf[i].revents);
}

static void fam_select(void)
{
	static const struct sym ns[] = { S(64), S(64), S(64), S(30), S(5), S(0), S(-1), S(1024), S(5000) };
	fd_set set[3];
	const char *kinds[5];
	int fds[5];
	const struct sym *n = pick(ns);
	struct timeval tv = { 0, chance(6) ? -1 : chance(5) ? 2000000 : 500 };

	memset(set, 0, sizeof(set));
	call("select(%s,", n->name);
	for (int i = 0; i < 5; i++) {
		fds[i] = odd_fd(&kinds[i]);
		for (int k = 0; k < 3; k++)
			if (fds[i] >= 0 && fds[i] < 64 && chance(50)) {
				FD_SET(fds[i], &set[k]);
				note(" %s:%d", kinds[i], k);
			}
	}
	if (tv.tv_usec == 2000000)
		tv.tv_sec = -1;
	note(", %ld)", (long)tv.tv_usec);
	res(sys(SYS_select, n->v, chance(10) ? NULL : &set[0], &set[1], &set[2], &tv));
	for (int k = 0; k < 3; k++)
		note(" %lx", *(long *)&set[k]);
}

static void fam_epoll(void)
{
	static const struct sym bits[] = { S(EPOLLIN), S(EPOLLOUT), S(EPOLLPRI), S(EPOLLRDHUP), S(EPOLLERR), S(EPOLLHUP), S(EPOLLET), S(EPOLLONESHOT),
					   S(EPOLLEXCLUSIVE), S(EPOLLWAKEUP), S(0x400) };
	static const struct sym ops[] = { S(EPOLL_CTL_ADD), S(EPOLL_CTL_ADD), S(EPOLL_CTL_ADD), S(EPOLL_CTL_MOD), S(EPOLL_CTL_DEL), S(0), S(4) };
	static const struct sym counts[] = { S(1), S(2), S(16), S(16), S(0), S(-1), S(1 << 30) };
	const char *kinds[5];
	int fds[5], ep = epoll_create1(0);
	char text[200];

	for (int i = 0; i < 4; i++)
		fds[i] = odd_fd(&kinds[i]);
	fds[4] = ep;
	kinds[4] = "itself";
	for (int i = 0; i < 8; i++) {
		struct epoll_event ev[16];
		int which = (int)rnd(5);
		const struct sym *op = pick(ops), *c = pick(counts);

		if (chance(65)) {
			ev[0].events = (uint32_t)pick_flags(bits, COUNT(bits), 22, text, sizeof(text));
			ev[0].data.u64 = (uint64_t)which;
			call("epoll_ctl(%s, %s, %s)", op->name, kinds[which], text);
			res(sys(SYS_epoll_ctl, chance(3) ? fds[0] : ep, op->v, fds[which], chance(3) ? BAD_PTR : ev));
		} else {
			long r;
			unsigned seen[5] = { 0 };

			memset(ev, 0, sizeof(ev));
			call("epoll_wait(%s)", c->name);
			r = res(sys(SYS_epoll_wait, ep, ev, c->v, 0));
			for (long k = 0; k < r; k++)
				seen[ev[k].data.u64 % 5] |= ev[k].events | 1u << 31;
			for (int k = 0; k < 5; k++)
				if (seen[k])
					note(" %s:%x", kinds[k], seen[k] & ~(1u << 31));
		}
	}
}

static void fam_eventfd(void)
{
	static const struct sym flags[] = { S(EFD_NONBLOCK), S(EFD_NONBLOCK | EFD_SEMAPHORE), S(EFD_NONBLOCK | EFD_CLOEXEC), S(EFD_NONBLOCK | 2) };
	static const struct sym vals[] = { S(0), S(1), S(5), S(-1), S(-2), S(0x7fffffff) };
	static const struct sym sizes[] = { S(8), S(8), S(8), S(8), S(16), S(7), S(0), S(4) };
	const struct sym *f = pick(flags), *v = pick(vals);
	int fd;

	call("eventfd2(%s, %s)", v->name, f->name);
	fd = (int)res(sys(SYS_eventfd2, v->v, f->v));
	for (int i = 0; i < 5; i++) {
		const struct sym *s = pick(sizes), *w = pick(vals);
		uint64_t x[2] = { (uint64_t)w->v, 7 };
		struct pollfd pf = { fd, POLLIN | POLLOUT, 0 };

		if (chance(50)) {
			call("write(eventfd, %s, %s)", w->name, s->name);
			res(write(fd, x, (size_t)s->v));
		} else {
			call("read(eventfd, %s)", s->name);
			x[0] = 0x77;
			res(read(fd, x, (size_t)s->v));
			note(" %llx", (unsigned long long)x[0]);
		}
		poll(&pf, 1, 0);
		note(" poll %x", pf.revents);
	}
}

static void fam_timerfd(void)
{
	static const struct sym clocks[] = { S(CLOCK_REALTIME), S(CLOCK_MONOTONIC), S(CLOCK_MONOTONIC), S(CLOCK_BOOTTIME), S(CLOCK_PROCESS_CPUTIME_ID), S(-1),
					     S(CLOCK_TAI), S(99) };
	static const struct sym flags[] = { S(TFD_NONBLOCK), S(TFD_NONBLOCK | TFD_CLOEXEC), S(TFD_NONBLOCK), S(3 | TFD_NONBLOCK) };
	static const struct sym sflags[] = { S(0), S(0), S(TFD_TIMER_ABSTIME), S(TFD_TIMER_CANCEL_ON_SET), S(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET),
					     S(4) };
	static const struct sym secs[] = { S(0), S(0), S(100), S(-1), S(1), S(1L << 40) };
	static const struct sym ns[] = { S(0), S(1), S(1000), S(999999999), S(1000000000), S(-1) };
	const struct sym *c = pick(clocks), *f = pick(flags);
	int fd;

	call("timerfd_create(%s, %s)", c->name, f->name);
	fd = (int)res(sys(SYS_timerfd_create, c->v, f->v));
	for (int i = 0; i < 4; i++) {
		const struct sym *s = pick(secs), *n = pick(ns), *si = pick(secs), *ni = pick(ns), *sf = pick(sflags);
		struct itimerspec it = { { si->v, ni->v }, { s->v, n->v } }, old = { { 1, 1 }, { 1, 1 } };
		uint64_t x = 0;

		switch (rnd(3)) {
		case 0:
			/* A first time of nanoseconds, or in the past, has come by the next call;
			 * an interval that short never ends. */
			if (si->v == 0 && ni->v > 0 && ni->v < 10000)
				it.it_interval.tv_nsec = 0;
			call("timerfd_settime(%s, %s.%s every %s.%ld)", sf->name, s->name, n->name, si->name, it.it_interval.tv_nsec);
			res(sys(SYS_timerfd_settime, fd, sf->v, chance(4) ? BAD_PTR : &it, chance(50) ? &old : NULL));
			usleep(300);
			break;
		case 1:
			call("timerfd_gettime()");
			res(sys(SYS_timerfd_gettime, fd, &old));
			note(" armed %d every %lld.%ld", old.it_value.tv_sec || old.it_value.tv_nsec, (long long)old.it_interval.tv_sec,
			     old.it_interval.tv_nsec);
			break;
		default:
			call("read(timerfd)");
			res(read(fd, &x, chance(10) ? 4 : 8));
			note(" %llu", (unsigned long long)(x > 2 ? 3 : x));
			break;
		}
	}
}

static void fam_memfd(void)
{
	static const struct sym flags[] = { S(MFD_CLOEXEC), S(MFD_ALLOW_SEALING), S(0x10000), S(0x40) };
	static const struct sym seals[] = { S(F_SEAL_SEAL), S(F_SEAL_SHRINK), S(F_SEAL_GROW), S(F_SEAL_WRITE), S(0x10), S(0x100) };
	char text[100], name[300];
	long f = pick_flags(flags, 3, 40, text, sizeof(text)) & ~0x10000L;
	int fd;
	size_t n = chance(80) ? rnd(20) : 245 + rnd(10);

	memset(name, 'a', n);
	name[n] = 0;
	call("memfd_create(%zu, %lx)", n, f);
	fd = (int)res(sys(SYS_memfd_create, name, f));
	for (int i = 0; i < 4; i++) {
		long s;
		void *p;
		struct stat st;

		switch (rnd(5)) {
		case 0:
			s = pick_flags(seals, COUNT(seals), 22, text, sizeof(text));
			call("fcntl(memfd, F_ADD_SEALS, %s)", text);
			res(fcntl(fd, F_ADD_SEALS, (int)s));
			break;
		case 1:
			s = (long)rnd(10000);
			call("ftruncate(memfd, %ld)", s);
			res(ftruncate(fd, s));
			break;
		case 2:
			call("pwrite(memfd)");
			res(pwrite(fd, "abc", 3, (long)rnd(9000)));
			break;
		case 3:
			call("mmap(memfd)");
			p = mmap(NULL, 4096, chance(50) ? PROT_READ : PROT_READ | PROT_WRITE, chance(50) ? MAP_SHARED : MAP_PRIVATE, fd, 0);
			res_sign((long)p);
			if (p != MAP_FAILED && chance(50))
				munmap(p, 4096);
			break;
		default:
			call("fcntl(memfd, F_GET_SEALS)");
			res(fcntl(fd, F_GET_SEALS));
			break;
		}
		if (!fstat(fd, &st))
			stat_note(&st);
	}
}

static void fam_ioctl(void)
{
	static const struct sym reqs[] = { S(FIONREAD), S(FIONBIO), S(FIOASYNC), S(FIOCLEX), S(FIONCLEX), S(TCGETS), S(TIOCGWINSZ), S(TIOCGPGRP), S(FIOQSIZE),
					   S(0x12345678), S(0), S(TIOCNOTTY), S(TIOCOUTQ), S(_IOW('f', 2, long)) };
	const char *kind;
	int fd = odd_fd(&kind);

	for (int i = 0; i < 3; i++) {
		const struct sym *q = pick(reqs);
		long value[32] = { 0 };

		value[0] = (long)rnd(2);
		call("ioctl(%s, %s, {%ld})", kind, q->name, value[0]);
		res(sys(SYS_ioctl, fd, q->v, chance(4) ? BAD_PTR : value));
		if (q->v == FIONREAD)
			note(" %d", (int)value[0]);
		note(" fl %d fd %d", fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	}
}

const struct family fd_families[] = {
	{ "fcntl", fam_fcntl, FIX, 130 }, { "lock", fam_lock, FIX, 80 },	 { "dup", fam_dup, FIX, 60 },
	{ "pipe", fam_pipe, 0, 60 },	  { "poll", fam_poll, FIX, 100 },	 { "select", fam_select, FIX, 60 },
	{ "epoll", fam_epoll, FIX, 100 }, { "eventfd", fam_eventfd, 0, 40 }, { "timerfd", fam_timerfd, 0, 60 },
	{ "memfd", fam_memfd, 0, 60 },	  { "ioctl", fam_ioctl, FIX, 80 },	 { NULL, NULL, 0, 0 },
};
