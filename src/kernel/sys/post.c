/* See post.h.
 *
 * When to be awake. To look at boxes takes a processor, and who is answered by notification
 * meanwhile is woken on another one, which is slow. So it has to pay, and whether it does is
 * measured: how many calls the cell makes in a millisecond while the kernel sleeps, and while it is
 * awake. A cell that makes few has no use for it. Where it does not pay it is tried again at longer
 * and longer intervals; where it does, the other measure is taken again now and then.
 *
 * What a slot says is copied before it is looked at. What remains in the slot and is read later is
 * the bytes of the call's own buffers: as in any memory of the guest's, they are what they are at
 * the moment of reading. */
#include "kernel/sys/post.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "host/host.h"
#include "host/notify.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/fastmem.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/gueststream.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "stub/post.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define BOXES 32
#define AREAS 8
#define OFFERS 3 /* of an area, to a runner that does not take it */
#define USEC 1000LL
#define WINDOW (2000 * USEC)
#define WINDOWS_AWAKE 64 /* before the other measure is taken again */
#define BUSY 15 /* calls in a millisecond, asleep, that are worth a try */
#define IDLE (200 * USEC) /* without a post: back to sleep. Who is woken takes its time to come */
#define HOST_TURN (6 * USEC) /* the host's descriptors are looked at so often while awake ... */
#define HOST_TURN_BULK (40 * USEC) /* ... and so often between large transfers */
/* who gives a turn and has not got it back by then is on a busy processor */
#define TAKEN_AWAY (1000 * USEC)
#define BULK 16384 /* bytes of a large transfer that count as much as a call */
#define REST_FIRST (2000 * USEC)
#define REST_MAX (256000 * USEC)

struct post {
	struct post_box *box;
	uint32_t at; /* in boxes */
	char *area; /* NULL: none */
	uint32_t offers;
};
OBJ_TYPE(post_type, struct post,
	 0); /* who gets none makes its calls as before: no limit to warn of */

static struct post *boxes[BOXES];
static uint32_t nboxes, nareas;
static uint64_t bulk; /* what large transfers count for, beside calls */

static struct {
	bool on; /* awake */
	uint32_t windows; /* since it is */
	int64_t since; /* the start of the window ... */
	uint64_t calls; /* ... and of how many calls the cell had made by then */
	uint32_t posts; /* in it */
	/* a large transfer is made in the usual way: it takes longer than nothing to do for who
	 * waits for posts */
	bool bulky;
	uint64_t asleep; /* calls in a millisecond, measured last */
	int64_t last; /* when something was posted, or the reason to be awake */
	int64_t host; /* when the host's descriptors were looked at ... */
	uint64_t bulk; /* ... and what bulk was */
	int64_t rest, until; /* how long not to try again, and till when */
} awake;

bool post_is_on(void)
{
	return fastmem && (cell.spec.fast != FAST_OFF && cell.spec.fast != FAST_CHECK) &&
	       cell.spec.cpus > 1;
}

/* ---- boxes ---- */

void post_free(struct post *p)
{
	if (!p)
		return;
	boxes[p->at] = boxes[--nboxes];
	boxes[p->at]->at = p->at;
	host_unmap(p->box, POST_SIZE);
	if (p->area) {
		host_unmap(p->area, AREA_SIZE);
		nareas--;
	}
	obj_free(&post_type, p);
}

void post_forget(struct post *p, pid_t tid)
{
	for (uint32_t i = 0; p && i < POST_SLOTS; i++)
		if (POST_TID(__atomic_load_n(&p->box->state[i], __ATOMIC_ACQUIRE)) == (uint32_t)tid)
			__atomic_store_n(&p->box->state[i], 0, __ATOMIC_RELEASE);
	if (p && __atomic_load_n(&p->box->area_owner, __ATOMIC_ACQUIRE) == (uint32_t)tid)
		__atomic_store_n(&p->box->area_owner, 0, __ATOMIC_RELEASE);
}

/* Memory to share, of a size that is not the guest's to change. */
static void *shared_new(const char *name, size_t size, int *ret_fd)
{
	int fd = host_memfd(name, MFD_ALLOW_SEALING);
	void *p = NULL;

	if (fd < 0)
		return NULL;
	if (host_ftruncate(fd, (int64_t)size) == 0 &&
	    host_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		p = host_map_shared(fd, size);
	if (!p)
		host_close(fd);
	else
		*ret_fd = fd;
	return p;
}

static struct post *post_new(int *ret_fd)
{
	struct post *p = nboxes < BOXES ? obj_new(&post_type) : NULL;

	if (!p)
		return NULL;
	p->box = shared_new("viv-post", POST_SIZE, ret_fd);
	if (!p->box) {
		obj_free(&post_type, p);
		return NULL;
	}
	p->at = nboxes;
	boxes[nboxes++] = p;
	return p;
}

static int64_t area_open(struct task *t)
{
	struct post *p = fast_post(t);
	int fd, ret;

	if (!p || p->area)
		return -EBUSY;
	p->area = nareas < AREAS ? shared_new("viv-area", AREA_SIZE, &fd) : NULL;
	if (!p->area)
		return -ENOMEM;
	memset(p->area, 0,
	       AREA_SIZE); /* its pages are had now, and not while it is measured whether it pays */
	awake.rest = awake.until = 0;
	ret = notify_addfd(t->call.id, fd, -1);
	host_close(fd);
	if (ret < 0) {
		host_unmap(p->area, AREA_SIZE);
		p->area = NULL;
	} else {
		nareas++;
	}
	return ret;
}

int64_t hc_post(struct task *t, const struct sysargs *a)
{
	struct post *p;
	int fd, ret;

	if (a->a[0] == 1)
		return area_open(t);
	if (!post_is_on() || t->fast_off || t->seccomp || fast_post(t))
		return -EBUSY;
	p = post_new(&fd);
	if (!p)
		return -ENOMEM;
	ret = notify_addfd(t->call.id, fd, -1);
	host_close(fd);
	if (ret >= 0 && fast_post_set(t, p) < 0)
		ret = -EBUSY;
	if (ret < 0)
		post_free(p);
	else
		awake.rest = awake.until = 0; /* what did not pay for others may for this one */
	return ret;
}

/* ---- calls ---- */

static bool follows_path(uint64_t nr)
{
	switch (nr) {
	case SYS_openat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_readlinkat:
	case SYS_lgetxattr:
	case SYS_getxattr:
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_renameat2:
	case SYS_utimensat:
	case SYS_fchmodat:
	case SYS_fchownat:
		return true;
	default:
		return false;
	}
}

/* Those that follow no path have a descriptor as their first argument. */
static bool is_postable(uint64_t nr)
{
	switch (nr) {
	case SYS_read:
	case SYS_write:
	case SYS_close:
	case SYS_fstat:
	case SYS_lseek:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_readv:
	case SYS_writev:
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmsg:
	case SYS_recvmsg:
	case SYS_setsockopt:
	case SYS_fcntl:
	case SYS_epoll_wait:
	case SYS_epoll_ctl:
	case SYS_getdents64:
	case SYS_fchmod:
	case SYS_fchown:
	case SYS_ftruncate:
	case SYS_accept4:
		return true;
	default:
		return follows_path(nr);
	}
}

static bool moves_bytes(uint64_t nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_pread64 || nr == SYS_pwrite64 ||
	       nr == SYS_readv || nr == SYS_writev || nr == SYS_sendto || nr == SYS_recvfrom ||
	       nr == SYS_sendmsg || nr == SYS_recvmsg;
}

/* Bytes of one buffer between a guest and a file. */
static bool is_plain(uint64_t nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_pread64 || nr == SYS_pwrite64;
}

/* For answers from outside. */
static bool file_waits(const struct file *f)
{
	return f->inode->fs && f->inode->fs->waits;
}

/* A write that syncs waits for that when the bytes are written. */
static bool write_waits(uint64_t nr, const struct file *f)
{
	return (nr == SYS_write || nr == SYS_pwrite64) && f->flags & O_DSYNC;
}

/* Whether a transfer of a size that only streams have is to be posted: of a file whose bytes are
 * the host's. */
static bool is_streamed(const struct file *f, uint64_t len)
{
	return len <= STREAM_MAX && S_ISREG(f->inode->mode) && f->inode->ops->hostfd &&
	       !file_waits(f);
}

/* Whether it ends at its first run, or has had no effect when it does not. What moves bytes and
 * waits in the middle is not so. */
static bool ends_at_once(struct task *t, uint64_t nr, const struct sysargs *a)
{
	const struct file *f = follows_path(nr) ? NULL : fd_file(t, (int)a->a[0]);
	bool is_file, nonblock;

	/* A change there is asked for once by each call, which has to be the one that takes the
	 * answer. */
	if (fs_waiting && (!f || file_waits(f)))
		return false;
	if (nr == SYS_fcntl)
		return a->a[1] == F_GETFL || a->a[1] == F_SETFL || a->a[1] == F_GETFD ||
		       a->a[1] == F_SETFD || a->a[1] == F_DUPFD_CLOEXEC;
	if (!moves_bytes(nr) || !f) /* EBADF */
		return true;
	if (write_waits(nr, f))
		return false;
	if (is_plain(nr) && a->a[2] > POST_LEN_MAX)
		return is_streamed(f, a->a[2]);
	is_file = S_ISREG(f->inode->mode);
	nonblock = f->flags & O_NONBLOCK;
	switch (nr) {
	case SYS_read:
	case SYS_pread64:
		return true;
	case SYS_write:
	case SYS_pwrite64:
		return is_file || nonblock;
	case SYS_recvfrom:
		return a->a[2] <= POST_LEN_MAX && !(a->a[3] & MSG_WAITALL);
	case SYS_sendto:
		return a->a[2] <= POST_LEN_MAX && (nonblock || a->a[3] & MSG_DONTWAIT);
	default:
		return nonblock && !is_file;
	}
}

/* A word of a slot, which can be another the next time that it is read. For variables alone: a
 * macro such as MIN() asks for its argument twice. */
static uint32_t slot_u32(const uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static uint64_t slot_u64(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* The slot's windows, checked. */
static void windows_open(struct post_slot *s, pid_t tid)
{
	struct guest_window *w = &guest_window;
	uint32_t nin = slot_u32(&s->nin), room = slot_u32(&s->out_room);

	*w = (struct guest_window){ .tid = tid };
	for (uint32_t i = 0; i < MIN(nin, (uint32_t)GUEST_WINDOWS); i++) {
		const struct post_in in = { slot_u64(&s->in[i].addr), slot_u32(&s->in[i].len),
					    slot_u32(&s->in[i].at) };

		if (!in.len || in.at > POST_ROOM || in.len > POST_ROOM - in.at)
			break;
		w->in[w->nin].addr = in.addr;
		w->in[w->nin].len = in.len;
		w->in[w->nin++].at = s->room + in.at;
	}
	w->out = slot_u64(&s->out);
	w->out_room = MIN(room, (uint32_t)POST_ROOM);
	w->out_at = s->room;
}

/* The slot's stream, checked. */
static void slot_stream(const struct post *p, struct post_slot *s, const struct task *t,
			uint64_t nr, const struct sysargs *a)
{
	uint32_t kind = slot_u32(&s->stream), len = slot_u32(&s->stream_len);
	uint32_t at = slot_u32(&s->stream_at);
	bool out = nr == SYS_read || nr == SYS_pread64;

	if (!p->area || !is_plain(nr) || kind != (out ? STREAM_OUT : STREAM_IN) || at > AREA_SIZE ||
	    len > AREA_SIZE - at)
		return;
	guest_stream_open(&(struct guest_stream){ .tid = t->tid,
						  .towards_guest = out,
						  .addr = a->a[1],
						  .len = len,
						  .at = p->area + at,
						  .ready = &s->ready,
						  .filled = &s->filled,
						  .far = &s->far });
}

/* What a call counts for beside being one. */
static uint32_t bulk_of(uint64_t nr, const struct sysargs *a)
{
	return is_plain(nr) ? (uint32_t)(MIN(a->a[2], STREAM_MAX) / BULK) : 0;
}

static void slot_work(struct post *p, uint32_t i, uint32_t state)
{
	uint32_t tid = POST_TID(state), step = POST_ASK;
	struct post_slot *s = &p->box->slot[i];
	struct host_call in = { .tid = (pid_t)tid };
	struct sysargs args;
	struct task *t;
	uint64_t nr;
	int64_t ret;

	if (!__atomic_compare_exchange_n(&p->box->state[i], &state, POST_STATE(tid, POST_WORKED),
					 false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	nr = slot_u64(&s->nr);
	for (uint32_t k = 0; k < ARRAY_LEN(args.a); k++)
		args.a[k] = slot_u64(&s->a[k]);
	t = task_find((pid_t)tid);
	if (t && is_postable(nr) && fast_post(t) == p && ends_at_once(t, nr, &args)) {
		windows_open(s, t->tid);
		slot_stream(p, s, t, nr, &args);
		bulk += bulk_of(nr, &args);
		in.nr = (int)nr;
		in.ip = slot_u64(&s->ip);
		memcpy(in.args, args.a, sizeof(in.args));
		ret = dispatch_posted(t, &in);
		if (ret != WAITING) {
			s->ret = ret;
			s->out_len = (uint32_t)guest_window.out_len;
			step = POST_DONE;
		}
		guest_window.tid = 0;
		guest_window.nin = 0;
		guest_stream_close();
	}
	__atomic_store_n(&p->box->state[i], POST_STATE(tid, step), __ATOMIC_RELEASE);
	guest_stream_clean();
}

bool posts_run(void)
{
	bool any = false;

	for (uint32_t b = 0; b < nboxes; b++) {
		struct post *p = boxes[b];

		for (uint32_t i = 0; i < POST_SLOTS; i++) {
			uint32_t state = __atomic_load_n(&p->box->state[i], __ATOMIC_ACQUIRE);

			if (POST_STEP(state) != POST_POSTED)
				continue;
			slot_work(p, i, state);
			any = true;
			if (b >= nboxes || boxes[b] != p) /* it may have ended its process */
				return true;
		}
	}
	return any;
}

/* ---- when ---- */

static bool is_eager(void)
{
	return cell.spec.fast == FAST_EAGER;
}

/* On which processor we are: who is there too cannot wait for us. */
static void awake_tell(void)
{
	uint32_t now = awake.on ? (uint32_t)host_cpu() + 1 : 0;

	if (fastmem->awake == now)
		return;
	__atomic_store_n(&fastmem->awake, now, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* While awake: whom we answer is not to wait for our processor, and who made us awake is to have
 * the one we were on. */
static void awake_set(bool on)
{
	if (awake.on == on)
		return;
	awake.on = on;
	notify_hand_over(!on);
	host_cpu_leave(on);
	awake_tell();
}

static void rest(int64_t now)
{
	awake.rest = awake.rest && !is_eager() ? MIN(2 * awake.rest, REST_MAX) : REST_FIRST;
	awake.until = now + awake.rest;
}

static void window_begin(int64_t now)
{
	awake.since = now;
	awake.calls = cell.calls + bulk;
	awake.posts = 0;
}

/* Calls in a millisecond since the window began. */
static uint64_t rate(int64_t now)
{
	return (cell.calls + bulk - awake.calls) * 1000 * USEC /
	       (uint64_t)MAX(now - awake.since, USEC);
}

/* The end of a window awake. True: go on. */
static bool window_end(int64_t now)
{
	bool pays = 4 * rate(now) >= 5 * awake.asleep;

	window_begin(now);
	if (is_eager())
		return true;
	if (!pays) {
		rest(now);
		return false;
	}
	awake.rest = 0;
	return ++awake.windows < WINDOWS_AWAKE;
}

/* It makes large transfers: more memory to share is worth it. */
static void area_offer(struct task *t)
{
	struct post *p = fast_post(t);

	if (!p || p->area || p->offers >= OFFERS || nareas >= AREAS ||
	    !is_plain((uint64_t)t->call.nr) || t->call.args.a[2] < STREAM_MIN)
		return;
	p->offers++;
	signal_patch(t, 0, false, 2);
}

void posts_missed(struct task *t)
{
	uint32_t more;
	int64_t now;

	if (!is_postable((uint64_t)t->call.nr))
		return;
	more = bulk_of((uint64_t)t->call.nr, &t->call.args);
	bulk += more;
	fast_postable(t, 1 + more);
	area_offer(t);
	awake.bulky |= more && fast_post(t);
	if (awake.on || !nboxes)
		return;
	now = now_mono();
	if (now - awake.since < WINDOW && !is_eager())
		return;
	awake.asleep = rate(now);
	window_begin(now);
	if (now < awake.until || !fast_post(t) || (awake.asleep < BUSY && !is_eager()))
		return;
	awake.windows = 0;
	awake.last = awake.host = now;
	awake_set(true);
}

/* Others have their turn: those on our processor, and the host's descriptors, which the loop looks
 * at next. */
static bool turn_give(void)
{
	int64_t before = now_mono();

	host_yield();
	now_update();
	awake.host = now_mono();
	awake.bulk = bulk;
	awake_tell();
	if (awake.host - before < TAKEN_AWAY)
		return true;
	/* There is more to do here than there are processors. */
	rest(awake.host);
	return false;
}

bool posts_wait(int64_t deadline)
{
	int64_t now = now_mono();

	if (!awake.on)
		return false;
	if (awake.bulky) {
		now_update();
		now = awake.last = now_mono();
		awake.bulky = false;
	}
	for (uint32_t spin = 1; !posts_run(); spin++) {
		if (spin % 16) {
			__builtin_ia32_pause();
			continue;
		}
		now_update();
		now = now_mono();
		if ((now - awake.last >= IDLE || (!awake.posts && now - awake.since >= WINDOW)) &&
		    !is_eager())
			goto sleep;
		if (now - awake.host >= HOST_TURN || now >= deadline)
			goto turn;
	}
	now_update();
	now = awake.last = now_mono();
	awake.posts++;
	if (now - awake.since >= WINDOW && !window_end(now))
		goto sleep;
	if (now - awake.host < (awake.bulk != bulk ? HOST_TURN_BULK : HOST_TURN))
		return true;
turn:
	if (turn_give())
		return false;
	goto off;
sleep:
	(void)window_end(now);
off:
	awake_set(false);
	return posts_run(); /* who posted a moment ago has not seen it */
}

bool posts_are_awake(void)
{
	return awake.on;
}
