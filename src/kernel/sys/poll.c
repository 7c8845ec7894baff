/* poll, select and epoll_wait in all their forms.
 *
 * Each run asks every file what is ready; if nothing is and there is time left, the call waits on
 * all their queues. The mask of the p-forms is the platform's affair and was dealt with before. As
 * on Linux the time that is left is written back for select, pselect6 and ppoll.
 *
 * A copy to or from the guest costs a fifth of a whole call, so a poll of few descriptors, which is
 * nearly every one, makes two: all that it asks for is read at once and kept while it waits, and
 * all that it tells is written at once. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/abi/fs.h"
#include "kernel/abi/time.h"
#include "kernel/fs/epoll/epoll.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/kept.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

/* ---- time ---- */

/* Nanoseconds, cut where they would not fit. */
static int64_t timeout_ns(int64_t sec, int64_t nsec)
{
	return sec >= TIME_NEVER / NSEC_PER_SEC - 1 ? TIME_NEVER : sec * NSEC_PER_SEC + nsec;
}

static int timespec_check(const struct linux_timespec *ts, int64_t *ret_ns)
{
	if (ts->sec < 0 || ts->nsec < 0 || ts->nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*ret_ns = timeout_ns(ts->sec, ts->nsec);
	return 0;
}

/* A struct timespec argument; 0: TIME_NEVER. */
static int timespec_arg(struct task *t, uaddr_t addr, int64_t *ret_ns)
{
	struct linux_timespec ts;

	*ret_ns = TIME_NEVER;
	if (!addr)
		return 0;
	if (guest_get(t->tid, &ts, addr) < 0)
		return -EFAULT;
	return timespec_check(&ts, ret_ns);
}

static int64_t millis_ns(int ms)
{
	return ms < 0 ? TIME_NEVER : ms * 1000000ll;
}

/* Of ns, which is all of it when the call never had to wait. */
static int64_t time_left(const struct task *t, int64_t ns)
{
	return t->call.has_deadline ? MAX(t->call.deadline - now_mono(), (int64_t)0) : ns;
}

/* What is to be written back: not a time of zero, which cannot change. */
static bool timespec_left(const struct task *t, uaddr_t addr, int64_t ns,
			  struct linux_timespec *out)
{
	if (!addr || !ns || ns == TIME_NEVER)
		return false;
	int64_t left = time_left(t, ns);
	*out = (struct linux_timespec){ left / NSEC_PER_SEC, left % NSEC_PER_SEC };
	return true;
}

/* A failure to write it is not told. */
static void timespec_back(struct task *t, uaddr_t addr, int64_t ns)
{
	struct linux_timespec left;

	if (timespec_left(t, addr, ns, &left))
		(void)!guest_put(t->tid, addr, &left);
}

/* Does a call that found nothing wait? */
static bool may_wait(struct task *t, int64_t ns)
{
	if (!ns)
		return false;
	call_set_timeout(t, ns);
	return !call_is_expired(t);
}

/* ---- poll ---- */

#define POLL_SMALL 256
#define POLL_ALWAYS (POLLERR | POLLHUP)

/* Asks all; the count of those with an answer. */
static int poll_ask(struct task *t, struct linux_pollfd *fds, uint32_t n)
{
	int count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct file *f;
		uint32_t ready = 0;

		if (fds[i].fd >= 0) {
			f = fd_file(t, fds[i].fd);
			ready = f ? file_poll(f) & ((uint16_t)fds[i].events | POLL_ALWAYS)
				  : POLLNVAL;
		}
		fds[i].revents = (int16_t)ready;
		count += ready != 0;
	}
	return count;
}

static int64_t poll_park(struct task *t, const struct linux_pollfd *fds, uint32_t n)
{
	if (call_reserve(t, n) < 0)
		return -ENOMEM;
	/* Parked first: the queues come after. */
	call_wait(t, NULL, 0, PARK_EINTR);
	for (uint32_t i = 0; i < n; i++) {
		struct file *f = fds[i].fd >= 0 ? fd_file(t, fds[i].fd) : NULL;
		struct waitq *q = f ? file_poll_q(f) : NULL;

		if (q)
			call_wait_more(t, q, (uint16_t)fds[i].events | POLL_ALWAYS);
	}
	return WAITING;
}

/* What a waiting call remembers, so that it is read once. */
#define POLL_KEPT 8
struct poll_kept {
	int64_t ns;
	uint32_t n;
	struct linux_pollfd fds[POLL_KEPT];
};
OBJ_TYPE(poll_kept_type, struct poll_kept, 65536);

void poll_kept_free(struct poll_kept *kept)
{
	obj_free(&poll_kept_type, kept);
}

static struct poll_kept *poll_kept_of(const struct task *t)
{
	const struct call *c = &t->call;

	return c->resumed && c->kept.kind == KEPT_POLL ? c->kept.poll : NULL;
}

/* Without memory the next run reads it again. */
static void poll_keep(struct task *t, const struct poll_kept *p)
{
	struct poll_kept *kept;

	if (t->call.kept.kind != KEPT_NOTHING)
		return;
	kept = obj_new(&poll_kept_type);
	if (!kept)
		return;
	*kept = *p;
	t->call.kept = (struct call_kept){ .kind = KEPT_POLL, .poll = kept };
}

/* Only the answers, as Linux does, and the time that is left. */
static int poll_tell(struct task *t, struct poll_kept *p, uaddr_t addr, uaddr_t ts_addr)
{
	struct guest_piece back[POLL_KEPT + 1];
	struct linux_timespec left;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		back[i] = (struct guest_piece){ addr + i * sizeof(p->fds[0]) +
							offsetof(struct linux_pollfd, revents),
						&p->fds[i].revents, sizeof(p->fds[i].revents) };
	if (timespec_left(t, ts_addr, p->ns, &left)) {
		back[i] = (struct guest_piece){ ts_addr, &left, sizeof(left) };
		if (guest_write_pieces(t->tid, back, i + 1) == 0)
			return 0;
		/* That the time cannot be written is not told. */
	}
	return guest_write_pieces(t->tid, back, i);
}

/* Up to POLL_KEPT descriptors. */
static int64_t poll_few(struct task *t, uaddr_t addr, uaddr_t ts_addr, struct poll_kept *p)
{
	int count = poll_ask(t, p->fds, p->n);

	if (!count && may_wait(t, p->ns)) {
		poll_keep(t, p);
		return poll_park(t, p->fds, p->n);
	}
	return poll_tell(t, p, addr, ts_addr) < 0 ? -EFAULT : count;
}

static int64_t poll_run(struct task *t, struct linux_pollfd *fds, uaddr_t addr, uint32_t n,
			int64_t ns)
{
	if (n && guest_read(t->tid, fds, addr, n * sizeof(*fds)) < 0)
		return -EFAULT;
	int count = poll_ask(t, fds, n);
	if (!count && may_wait(t, ns))
		return poll_park(t, fds, n);
	if (n && guest_write(t->tid, addr, fds, n * sizeof(*fds)) < 0)
		return -EFAULT;
	return count;
}

static int64_t poll_many(struct task *t, uaddr_t addr, uint32_t n, int64_t ns)
{
	static struct linux_pollfd small[POLL_SMALL];
	struct linux_pollfd *fds = small;
	int64_t r;

	if (n > POLL_SMALL) {
		fds = n <= BLOB_MAX / sizeof(*fds) ? blob_new(n * sizeof(*fds)) : NULL;
		if (!fds)
			return -ENOMEM;
	}
	r = poll_run(t, fds, addr, n, ns);
	if (fds != small)
		blob_free(fds, n * sizeof(*fds));
	return r;
}

int64_t sys_poll(struct task *t, const struct sysargs *a)
{
	uint32_t n = ARG_UINT(a, 1);
	struct poll_kept p = { millis_ns(ARG_INT(a, 2)), n, { { 0 } } };

	if (poll_kept_of(t))
		p = *poll_kept_of(t);
	else if (n > t->proc->limits[RLIMIT_NOFILE].cur)
		return -EINVAL;
	else if (n > POLL_KEPT)
		return poll_many(t, a->a[0], n, p.ns);
	else if (guest_read(t->tid, p.fds, a->a[0], n * sizeof(p.fds[0])) < 0)
		return -EFAULT;
	return poll_few(t, a->a[0], 0, &p);
}

/* The time and the descriptors; errors in Linux's order, the time's first. */
static int ppoll_read(struct task *t, const struct sysargs *a, struct poll_kept *p)
{
	struct linux_timespec ts;
	const struct guest_piece in[] = {
		{ a->a[2], &ts, a->a[2] ? sizeof(ts) : 0 },
		{ a->a[0], p->fds, p->n <= POLL_KEPT ? p->n * sizeof(p->fds[0]) : 0 },
	};
	bool all = guest_read_pieces(t->tid, in, ARRAY_LEN(in)) == 0;

	if (!all && guest_read_pieces(t->tid, in, 1) < 0)
		return -EFAULT;
	p->ns = TIME_NEVER;
	if (a->a[2] && timespec_check(&ts, &p->ns) < 0)
		return -EINVAL;
	if (p->n > t->proc->limits[RLIMIT_NOFILE].cur)
		return -EINVAL;
	return all ? 0 : -EFAULT;
}

int64_t sys_ppoll(struct task *t, const struct sysargs *a)
{
	struct poll_kept p = { .n = ARG_UINT(a, 1) };
	int64_t r;

	if (poll_kept_of(t)) {
		p = *poll_kept_of(t);
	} else {
		r = ppoll_read(t, a, &p);
		if (r < 0)
			return r;
	}
	if (p.n <= POLL_KEPT)
		return poll_few(t, a->a[0], a->a[2], &p);
	r = poll_many(t, a->a[0], p.n, p.ns);
	if (r != WAITING)
		timespec_back(t, a->a[2], p.ns);
	return r;
}

/* ---- select ---- */

#define SET_IN (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define SET_OUT (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)
#define SET_EX POLLPRI
#define SELECT_SMALL 16 /* words of 64 descriptors */

static const uint32_t set_events[3] = { SET_IN, SET_OUT, SET_EX };

struct select_sets {
	uint32_t words;
	uint64_t *asked[3], *found[3];
	uaddr_t addr[3];
};

/* Calls for each descriptor that is in one of the sets; the events that are asked of it. */
#define for_each_asked(s, fd, events)                                                           \
	for (uint32_t w_ = 0; w_ < (s)->words; w_++)                                            \
		for (uint64_t all_ = (s)->asked[0][w_] | (s)->asked[1][w_] | (s)->asked[2][w_]; \
		     all_ && (fd = (int)(w_ * 64) + __builtin_ctzll(all_),                      \
			     events = select_events(s, (uint32_t)fd), true);                    \
		     all_ &= all_ - 1)

static uint32_t select_events(const struct select_sets *s, uint32_t fd)
{
	uint32_t events = 0;

	for (int i = 0; i < 3; i++)
		if (s->asked[i][fd / 64] >> fd % 64 & 1)
			events |= set_events[i];
	return events;
}

static int select_ask(struct task *t, struct select_sets *s, uint32_t *ret_files)
{
	uint32_t events;
	int fd, count = 0;

	*ret_files = 0;
	for_each_asked(s, fd, events)
	{
		struct file *f = fd_file_or_path(t, fd);
		if (!f)
			return -EBADF;
		/* An O_PATH descriptor is open but cannot be asked: Linux says that all is
		 * ready. */
		uint32_t ready = f->mode & FMODE_PATH ? ~0u : file_poll(f) & events;
		++*ret_files;
		for (int i = 0; i < 3; i++) {
			bool asked = s->asked[i][fd / 64] >> fd % 64 & 1;
			if (asked && ready & set_events[i]) {
				s->found[i][fd / 64] |= 1ull << fd % 64;
				count++;
			}
		}
	}
	return count;
}

static int64_t select_run(struct task *t, struct select_sets *s, size_t bytes, int64_t ns)
{
	struct guest_piece sets[3];
	uint32_t events, files;
	int fd, count;

	count = select_ask(t, s, &files);
	if (count < 0)
		return count;
	if (!count && may_wait(t, ns)) {
		if (call_reserve(t, files) < 0)
			return -ENOMEM;
		call_wait(t, NULL, 0, PARK_EINTR);
		for_each_asked(s, fd, events)
		{
			struct waitq *q = file_poll_q(fd_file(t, fd));
			if (q)
				call_wait_more(t, q, events);
		}
		return WAITING;
	}
	for (int i = 0; i < 3; i++)
		sets[i] = (struct guest_piece){ s->addr[i], s->found[i], s->addr[i] ? bytes : 0 };
	return guest_write_pieces(t->tid, sets, 3) < 0 ? -EFAULT : count;
}

/* Bits from n on do not count. */
static void select_cut(struct select_sets *s, uint32_t n)
{
	for (int i = 0; i < 3 && n % 64; i++)
		s->asked[i][n / 64] &= (1ull << n % 64) - 1;
}

static int64_t select_do(struct task *t, const struct sysargs *a, int64_t ns)
{
	static uint64_t small[6 * SELECT_SMALL];
	struct select_sets s = { .addr = { a->a[1], a->a[2], a->a[3] } };
	struct guest_piece sets[3];
	uint64_t *bits = small;
	int64_t r;

	if (ARG_INT(a, 0) < 0)
		return -EINVAL;
	/* Linux's table has 64 places at least, and none beyond its end is looked at. */
	uint32_t n = MIN((uint32_t)ARG_INT(a, 0), MAX(t->files->size, 64u));
	s.words = (n + 63) / 64;
	if (s.words > SELECT_SMALL) {
		bits = blob_new(6 * s.words * sizeof(*bits));
		if (!bits)
			return -ENOMEM;
	}
	memset(bits, 0, 6 * s.words * sizeof(*bits));
	for (int i = 0; i < 3; i++) {
		s.asked[i] = bits + (uint32_t)i * s.words;
		s.found[i] = bits + (uint32_t)(i + 3) * s.words;
	}
	for (int i = 0; i < 3; i++)
		sets[i] = (struct guest_piece){ s.addr[i], s.asked[i],
						s.addr[i] ? s.words * sizeof(*bits) : 0 };
	r = guest_read_pieces(t->tid, sets, 3);
	select_cut(&s, n);
	if (r == 0)
		r = select_run(t, &s, s.words * sizeof(*bits), ns);
	if (bits != small)
		blob_free(bits, 6 * s.words * sizeof(*bits));
	return r;
}

int64_t sys_select(struct task *t, const struct sysargs *a)
{
	struct linux_timeval tv;
	int64_t ns = TIME_NEVER, r;

	if (a->a[4]) {
		if (guest_get(t->tid, &tv, a->a[4]) < 0)
			return -EFAULT;
		/* Normalized before it is checked: {-1, 2000000} is a second. */
		if (tv.sec > INT64_MAX / 2)
			tv.sec = INT64_MAX / 2;
		if (tv.sec < INT64_MIN / 2)
			return -EINVAL;
		tv.sec += tv.usec / 1000000;
		tv.usec %= 1000000;
		if (tv.sec < 0 || tv.usec < 0)
			return -EINVAL;
		ns = timeout_ns(tv.sec, tv.usec * 1000);
	}
	r = select_do(t, a, ns);
	if (r != WAITING && ns && ns != TIME_NEVER) {
		int64_t left = time_left(t, ns);
		tv = (struct linux_timeval){ left / NSEC_PER_SEC, left % NSEC_PER_SEC / 1000 };
		(void)!guest_put(t->tid, a->a[4], &tv);
	}
	return r;
}

int64_t sys_pselect6(struct task *t, const struct sysargs *a)
{
	int64_t ns, r = timespec_arg(t, a->a[4], &ns);

	if (r < 0)
		return r;
	r = select_do(t, a, ns);
	if (r != WAITING)
		timespec_back(t, a->a[4], ns);
	return r;
}

/* ---- epoll_wait ---- */

static int64_t epoll_do(struct task *t, const struct sysargs *a, int64_t ns)
{
	int max = ARG_INT(a, 2), n;
	struct file *f;
	struct epoll *ep;

	if (max <= 0 || max > INT32_MAX / (int)sizeof(struct linux_epoll_event))
		return -EINVAL;
	f = file_of_call(t, ARG_INT(a, 0));
	if (!f)
		return -EBADF;
	ep = epoll_of(f);
	if (!ep)
		return -EINVAL;
	n = epoll_collect(ep, t, a->a[1], (uint32_t)max);
	if (n || !may_wait(t, ns))
		return n;
	file_keep(t, f);
	return call_wait(t, file_poll_q(f), POLLIN, PARK_EINTR);
}

int64_t sys_epoll_wait(struct task *t, const struct sysargs *a)
{
	return epoll_do(t, a, millis_ns(ARG_INT(a, 3)));
}

int64_t sys_epoll_pwait(struct task *t, const struct sysargs *a)
{
	return epoll_do(t, a, millis_ns(ARG_INT(a, 3)));
}

int64_t sys_epoll_pwait2(struct task *t, const struct sysargs *a)
{
	int64_t ns, r = timespec_arg(t, a->a[3], &ns);

	return r < 0 ? r : epoll_do(t, a, ns);
}
