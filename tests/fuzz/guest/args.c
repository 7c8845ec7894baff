/* How arguments are made: each kind from the step's own random numbers and the places of the world,
 * so that the same step gives the same arguments. Now and then a pointer is wrong, a number absurd,
 * a descriptor of another kind. */
#include "guest.h"

#include <arpa/inet.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

uint64_t r(struct run *run, uint64_t n)
{
	run->state ^= run->state << 13;
	run->state ^= run->state >> 7;
	run->state ^= run->state << 17;
	return n ? (run->state * 0x2545f4914f6cdd1dull >> 11) % n : 0;
}

void say(struct run *run, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!verbose || run->text_len >= sizeof(run->text))
		return;
	va_start(ap, fmt);
	n = vsnprintf(run->text + run->text_len, sizeof(run->text) - run->text_len, fmt, ap);
	va_end(ap);
	run->text_len += n > 0 ? (size_t)n : 0;
}

void *room_take(struct run *run, size_t n)
{
	char *p;

	n = (n + 15) & ~15UL;
	if (run->used + n > ROOM)
		run->used = 0;
	p = run->room + run->used;
	run->used += n;
	return memset(p, 0, n);
}

/* p, or now and then an address that is none. */
static long pointer(struct run *run, void *p)
{
	static const long odd[] = { 0, 1, -1, (long)STUB_BASE, 0x7fffffffffff, (long)0x8000000000000000 };

	if (r(run, 40))
		return (long)p;
	return r(run, 2) ? odd[r(run, 6)] : (long)(run->room + ROOM - 4);
}

static const char *const names[] = { "a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "l", "l/a", "m", "m/a", "m/d", "m/d/a", "n", "n/a",
				     "n/d", "p", "s", "t", "../fz/a", "d/../a" };
static const char *const near[] = { "a", "b", "d", "d/a", "d/e", "p" };
static const char *const dirs[] = { "d", "d/e", "m", "m/d", "n", "n/d", ".", "m/d/e", "d", "m", "n", "l" };
static const char *const far[] = { "/", "/tmp", "/mnt", "/dev/shm/fz", "/proc/self/cwd", "/proc", "/usr/bin/env", "/etc/passwd", "/dev/null",
				   "/dev/zero", "/dev/ptmx", "/dev/tty", "/dev/pts/0", "/dev/pts/1", "/proc/self/exe", "", "/srv", "/dev/full",
				   "/sys", "/dev/mqueue/a", "..", "/dev/stdin", "/proc/self/root/tmp", "/proc/thread-self/fd" };
static const char *const of_proc[] = { "maps", "status", "stat", "fd", "mountinfo", "task", "environ", "limits", "cwd/a", "root", "exe", "ns/mnt",
				       "mem", "fdinfo", "comm", "wchan", "auxv", "smaps", "timers", "net/unix", "oom_score_adj",
				       "ns/uts", "ns/user", "pagemap", "numa_maps", "io", "coredump_filter" };
#define PICK(run, list) list[r(run, sizeof(list) / sizeof(list[0]))]

const char *path_any(struct run *run)
{
	char *text;

	if (r(run, 10))
		return r(run, 2) ? PICK(run, near) : PICK(run, names);
	text = room_take(run, 64);
	switch (r(run, 5)) {
	case 0:
		snprintf(text, 64, "/proc/self/fd/%d", fd_any(run, K_ANY));
		break;
	case 1:
		snprintf(text, 64, "/proc/%d/%s", world->pids[r(run, SLOTS)], PICK(run, of_proc));
		break;
	case 2:
		snprintf(text, 64, "/proc/self/%s", PICK(run, of_proc));
		break;
	case 3:
		snprintf(text, 64, "%s/fz/%s", base_dir, PICK(run, names));
		break;
	default:
		return PICK(run, far);
	}
	return text;
}

static long text_arg(struct run *run, const char *s)
{
	size_t n = strlen(s) + 1;
	char *at = room_take(run, n);
	long p;

	memcpy(at, s, n);
	p = pointer(run, at);
	if (p == (long)at)
		say(run, "\"%s\"", s);
	else
		say(run, "%#lx", p);
	return p;
}

static size_t length(struct run *run)
{
	switch (r(run, 12)) {
	case 0:
		return 0;
	case 1:
		return 1UL << r(run, 34);
	case 2:
		return 65536;
	default:
		return r(run, r(run, 2) ? 64 : 8192);
	}
}

static void *iovs(struct run *run)
{
	struct iovec *v = room_take(run, 4 * sizeof(*v));

	for (int i = 0; i < 4; i++)
		v[i] = (struct iovec){ run->data + r(run, ROOM), length(run) & 0xffff };
	return v;
}

static unsigned address(struct run *run, unsigned kind, void *out)
{
	struct sockaddr_un *u = out;
	struct sockaddr_in *in = out;
	static const char *const at[] = { "s", "t", "d/s", "m/s", "a" };

	if (r(run, 16) == 0)
		kind = (unsigned)r(run, KINDS);
	if (kind == K_INET && r(run, 6) == 0) {
		struct sockaddr_in6 *in6 = out;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)(7000 + r(run, 3)));
		in6->sin6_addr = in6addr_loopback;
		return sizeof(*in6);
	}
	if (kind == K_INET) {
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)(r(run, 8) ? 7000 + r(run, 3) : 0));
		in->sin_addr.s_addr = htonl(r(run, 4) ? INADDR_LOOPBACK : r(run, 2) ? INADDR_ANY : 0xe0000001);
		return sizeof(*in);
	}
	if (kind == K_NETLINK) {
		struct sockaddr_nl *nl = out;

		nl->nl_family = AF_NETLINK;
		nl->nl_pid = (uint32_t)r(run, 3);
		nl->nl_groups = (uint32_t)r(run, 3);
		return sizeof(*nl);
	}
	u->sun_family = AF_UNIX;
	if (r(run, 3) == 0) {
		u->sun_path[1] = (char)('x' + r(run, 2)); /* abstract */
		return sizeof(sa_family_t) + 2;
	}
	if (r(run, 16) == 0)
		return sizeof(sa_family_t); /* any name; or no peer any more */
	strcpy(u->sun_path, PICK(run, at));
	return sizeof(*u);
}

static void *message(struct run *run, bool descriptors)
{
	struct msghdr *m = room_take(run, sizeof(*m));
	size_t n = r(run, 16) ? 1 + r(run, 4) : r(run, 250);
	struct cmsghdr *h = room_take(run, 1040);
	int kind = r(run, 3) ? K_UNIX : K_ANY;

	m->msg_iov = iovs(run);
	m->msg_iov[0].iov_len = 1 + r(run, r(run, 8) ? 40 : 60000);
	m->msg_iovlen = r(run, 4) ? 1 : r(run, 4);
	m->msg_control = h;
	m->msg_controllen = CMSG_SPACE(n * 4);
	if (!descriptors) {
		m->msg_controllen = r(run, 4) ? 1024 : r(run, 64);
		return m;
	}
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = r(run, 10) ? SCM_RIGHTS : (int)r(run, 4);
	h->cmsg_len = r(run, 20) ? CMSG_LEN(n * 4) : r(run, 300);
	say(run, "{rights");
	for (size_t i = 0; i < n; i++) {
		/* One that is not there spoils all. */
		do
			((int *)CMSG_DATA(h))[i] = fd_any(run, (unsigned)kind);
		while (((int *)CMSG_DATA(h))[i] < FD_FIRST && r(run, 16));
		if (i < 6)
			say(run, " %d", ((int *)CMSG_DATA(h))[i]);
	}
	say(run, "%s}", n > 6 ? " ..." : "");
	if (r(run, 12) == 0) {
		m->msg_name = room_take(run, 128);
		m->msg_namelen = address(run, K_UNIX, m->msg_name);
	}
	return m;
}

static void *iocbs(struct run *run)
{
	static const int ops[] = { IOCB_CMD_PREAD, IOCB_CMD_PWRITE, IOCB_CMD_FSYNC, IOCB_CMD_NOOP, IOCB_CMD_PREADV, IOCB_CMD_PWRITEV, 5 };
	struct iocb **list = room_take(run, 3 * sizeof(*list));

	for (int i = 0; i < 3; i++) {
		struct iocb *c = list[i] = room_take(run, sizeof(*c));

		c->aio_lio_opcode = (uint16_t)PICK(run, ops);
		c->aio_fildes = (uint32_t)fd_any(run, r(run, 2) ? K_FILE : K_ANY);
		c->aio_buf = (uint64_t)(c->aio_lio_opcode >= IOCB_CMD_PREADV ? iovs(run) : run->data + r(run, ROOM));
		c->aio_nbytes = c->aio_lio_opcode >= IOCB_CMD_PREADV ? r(run, 5) : length(run) & 0xfffff;
		c->aio_offset = (int64_t)r(run, 100000);
		c->aio_flags = r(run, 6) == 0;
		c->aio_resfd = (uint32_t)fd_any(run, K_EVENTFD);
	}
	return list;
}

static void *program(struct run *run)
{
	struct sock_fprog *p = room_take(run, sizeof(*p));
	struct sock_filter *f = room_take(run, 4 * sizeof(*f));

	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(r(run, 2) ? SYS_getpriority : SYS_sysinfo), 0, 1);
	f[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 5);
	f[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, r(run, 40) ? SECCOMP_RET_ALLOW : r(run, UINT32_MAX));
	p->len = r(run, 20) ? 4 : (uint16_t)r(run, 5);
	p->filter = f;
	return p;
}

static void *nanoseconds(struct run *run, int n)
{
	struct timespec *ts = room_take(run, 2 * sizeof(*ts));

	for (int i = 0; i < n; i++) {
		ts[i].tv_nsec = (long)(r(run, 3) ? r(run, 3000000) : r(run, 3));
		ts[i].tv_sec = r(run, 30) ? 0 : (long)(r(run, 2) ? 1UL << r(run, 63) : -1UL);
	}
	return ts;
}

static int signal_any(struct run *run)
{
	static const int some[] = { SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT, 0, SIGURG, SIGWINCH, SIGALRM, 34, 40, 63, SIGPIPE, SIGIO };
	static const int strong[] = { SIGKILL, SIGSTOP, SIGTSTP, SIGTERM, SIGSEGV, SIGHUP, SIGTTIN, SIGSYS, 64, 65, -1 };

	return r(run, 8) ? PICK(run, some) : PICK(run, strong);
}

static void *filled(struct run *run, size_t n)
{
	uint8_t *p = room_take(run, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(r(run, 3) ? 0 : r(run, 256));
	return p;
}

/* What an argument of this kind points to; NULL: it is no pointer. */
static void *pointee(struct run *run, const struct arg *a)
{
	switch (a->kind) {
	case A_MEM:
		return run->data + (r(run, 8) ? r(run, ROOM / 2) & ~7UL : ROOM - r(run, 16));
	case A_IOV:
		return iovs(run);
	case A_MSG:
		return message(run, a->n);
	case A_ADDR: {
		void *p = room_take(run, 128);

		address(run, a->n, p);
		return p;
	}
	case A_ADDRLEN: {
		uint32_t *p = room_take(run, 16);

		*p = (uint32_t)(r(run, 4) ? 128 : r(run, 200));
		return p;
	}
	case A_TIME:
		return nanoseconds(run, 1);
	case A_ITIMER:
		return nanoseconds(run, 2);
	case A_FDSET: {
		uint8_t *set = room_take(run, 128);

		for (int i = 0; i < 6; i++) {
			int fd = fd_any(run, K_ANY);

			if (fd >= 0 && fd < 1024)
				set[fd / 8] |= (uint8_t)(1 << fd % 8);
		}
		return set;
	}
	case A_POLLS: {
		struct pollfd *p = room_take(run, 8 * sizeof(*p));

		for (int i = 0; i < 8; i++)
			p[i] = (struct pollfd){ fd_any(run, K_ANY), (short)(r(run, 2) ? POLLIN | POLLOUT : r(run, 65536)), 0 };
		return p;
	}
	case A_EPEVENT: {
		struct epoll_event *e = room_take(run, sizeof(*e));

		e->events = (uint32_t)(r(run, 2) ? EPOLLIN | EPOLLOUT : r(run, 1UL << 32));
		e->data.u64 = r(run, 100);
		return e;
	}
	case A_SIGSET: {
		uint64_t *s = room_take(run, sizeof(*s));

		*s = r(run, 3) ? 1UL << (signal_any(run) & 63) >> 1 : r(run, 1UL << 52);
		return s;
	}
	case A_FLOCK: {
		struct flock *l = room_take(run, sizeof(*l));

		*l = (struct flock){ .l_type = (short)r(run, 3), .l_whence = (short)(r(run, 8) ? 0 : r(run, 4)), .l_start = (off_t)r(run, 12),
				     .l_len = (off_t)r(run, 6) };
		return l;
	}
	case A_IOCBS:
		return iocbs(run);
	case A_SEMOPS: {
		struct sembuf *s = room_take(run, 4 * sizeof(*s));

		for (int i = 0; i < 4; i++)
			s[i] = (struct sembuf){ (unsigned short)r(run, 4), (short)((int)r(run, 4) - 2), (short)((r(run, 3) ? IPC_NOWAIT : 0) | (r(run, 2) ? SEM_UNDO : 0)) };
		return s;
	}
	case A_MSGBUF: {
		long *p = room_take(run, 2048);

		*p = (long)r(run, 20) ? 1 + (long)r(run, 3) : 0;
		return p;
	}
	case A_FPROG:
		return program(run);
	case A_RLIMIT: {
		struct rlimit *l = room_take(run, sizeof(*l));

		l->rlim_cur = r(run, 2) ? r(run, 400) : 100000;
		l->rlim_max = 1000000;
		return l;
	}
	case A_SIGINFO: {
		siginfo_t *i = filled(run, sizeof(*i));

		i->si_signo = signal_any(run);
		i->si_code = r(run, 4) ? SI_QUEUE : (int)r(run, 10) - 5;
		return i;
	}
	case A_SIGEVENT: {
		struct sigevent *e = room_take(run, sizeof(*e));

		e->sigev_notify = (int[]){ SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD, 4 }[r(run, 4)];
		e->sigev_signo = signal_any(run);
		*(int *)((char *)e + 16) = world->worker[r(run, WORKERS)].tid; /* of SIGEV_THREAD_ID; of a cookie for mq_notify the address */
		return e;
	}
	case A_HOW: {
		uint64_t *how = room_take(run, 24);

		how[0] = (uint64_t)(int[]){ O_RDONLY, O_RDWR | O_CREAT, O_PATH, O_DIRECTORY }[r(run, 4)];
		how[1] = how[0] & O_CREAT ? 0600 : 0;
		how[2] = r(run, 64);
		return how;
	}
	case A_IDS: {
		uint32_t *g = room_take(run, 64);

		for (int i = 0; i < 16; i++)
			g[i] = (uint32_t)r(run, 3);
		return g;
	}
	default:
		return NULL;
	}
}

static long number(struct run *run, const struct arg *a)
{
	static const long odd[] = { -1, 1L << 31, 1L << 40, 0, 4096, (long)0x8000000000000000, 255, 0x7fffffff };
	long v = 0;

	switch (a->kind) {
	case A_VALUE:
		return a->of[0];
	case A_BELOW:
		return r(run, 60) ? (long)r(run, (uint64_t)a->of[0]) : PICK(run, odd);
	case A_OF:
		return r(run, 80) ? a->of[r(run, a->n)] : PICK(run, odd);
	case A_BITS:
		for (int i = 0; i < a->n; i++)
			v |= r(run, 2) ? a->of[i] : 0;
		return r(run, 80) ? v : (long)r(run, 1UL << 32);
	case A_FD:
		return fd_any(run, a->n);
	case A_DIRFD:
		return r(run, 5) ? AT_FDCWD : fd_any(run, r(run, 4) ? K_DIR : K_ANY);
	case A_LEN:
		return (long)length(run);
	case A_OFF:
		return r(run, 6) ? (long)r(run, 20000) : (long)(1UL << r(run, 63)) - (long)r(run, 2);
	case A_ID:
		return r(run, 40) ? world->ids[a->n][r(run, 2) ? 0 : r(run, SLOTS)] : PICK(run, odd);
	case A_PID:
		if (r(run, 12) == 0)
			return (long[]){ 0, 99999, -99999, 1L << 22, 1, 0 }[r(run, 6)];
		if (r(run, 2))
			return world->pids[r(run, SLOTS)];
		run->peer = (uint8_t)r(run, WORKERS);
		return world->worker[run->peer].pid;
	case A_TID:
		return r(run, 12) ? world->worker[run->peer < WORKERS && r(run, 8) ? run->peer : r(run, WORKERS)].tid : 0;
	case A_SIG:
		return signal_any(run);
	case A_CTX: {
		uint64_t *ctx = &own.contexts[r(run, 3)];

		if (!*ctx && r(run, 8))
			RAW(SYS_io_setup, 4, ctx);
		return (long)*ctx;
	}
	case A_TIMER:
		return own.timers[r(run, 3)];
	case A_MAP:
		return r(run, 10) ? (long)MAP_AT(r(run, SLOTS)) : 0;
	case A_TOKEN:
		return r(run, 12) ? (long)(r(run, 2) ? run->token : world->tokens[r(run, SLOTS)]) : (long)r(run, 5);
	default:
		return 0;
	}
}

long arg_make(struct run *run, const struct arg *a)
{
	static const uint64_t strings = 1UL << A_PATH | 1UL << A_DIRPATH | 1UL << A_TEXT;
	void *p;
	long v;

	if (strings >> a->kind & 1)
		return text_arg(run, a->kind == A_PATH ? path_any(run) : a->kind == A_TEXT ? ((const char *const *)(const void *)a->of)[r(run, a->n)] :
				     r(run, 12)	       ? PICK(run, dirs) :
							 path_any(run));
	p = pointee(run, a);
	v = p ? pointer(run, p) : number(run, a);
	if (a->kind == A_ADDR && v == (long)p && *(sa_family_t *)p == AF_UNIX)
		say(run, "{unix %s%s}", ((char *)p)[2] ? "" : "@", (char *)p + (((char *)p)[2] ? 2 : 3));
	else if (p)
		say(run, "&%s%lx", v == (long)p ? "" : "odd ", (unsigned long)v);
	else if (v > -200 && v < 10000)
		say(run, "%ld", v);
	else
		say(run, "%#lx", v);
	return v;
}
