/* Requests to viv-s3 and its answers. The loop never waits: a request that the socket has no room
 * for goes out later, an answer wakes the calls that wait on its node. When viv-s3 is gone,
 * everything fails with EIO. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/s3/s3node.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"
#include "kernel/vfs/inode.h"

#define REQUESTS_MAX 8192
#define SYNC_STEP (NSEC_PER_SEC / 2)

struct s3req {
	struct list link;
	struct s3node *node; /* counted */
	struct s3_request q;
	bool sent;
};

OBJ_TYPE(s3req_type, struct s3req, REQUESTS_MAX);

static int64_t sync_since; /* when the waiting without a call began */

bool s3_is_fresh(int64_t at)
{
	const struct task *t = task_current;
	int64_t since = t ? t->call.wait_since : sync_since;

	return at && (now_mono() - at < S3_TTL || (since && at >= since));
}

int s3_failed(const struct s3node *n)
{
	const struct task *t = task_current;
	int64_t since = t ? t->call.wait_since : sync_since;

	return n->failed_at && since && n->failed_at >= since ? n->err : 0;
}

static void watch_arm(struct s3fs *s)
{
	if (!s->dead)
		(void)hostwatch_arm(&s->watch, POLLIN | (list_is_empty(&s->unsent) ? 0 : POLLOUT));
}

static int request_send(struct s3fs *s, const struct s3req *r)
{
	bool with_fd = r->q.op == S3_GET || r->q.op == S3_PUT;
	int64_t n = host_send_fd(s->sock, &r->q, S3_REQUEST_HEAD + r->q.key_len + r->q.key2_len,
				 with_fd ? r->node->fd : -1);

	return n < 0 ? (int)n : 0;
}

int s3_ask(struct s3node *n, enum s3_op op, uint64_t off, uint64_t len, uint32_t flags,
	   const char *to, size_t to_len)
{
	struct s3fs *s = s3fs_of(n);
	struct s3req *r;
	size_t key_len;
	int err;

	if (s->dead)
		return -EIO;
	r = obj_new(&s3req_type);
	if (!r)
		return -ENOMEM;
	r->q = (struct s3_request){ .op = op, .off = off, .len = len, .flags = flags };
	err = s3node_key(n, r->q.keys, S3_KEY_MAX, &key_len);
	if (err == 0 && to_len > S3_KEY_MAX)
		err = -ENAMETOOLONG;
	if (err < 0) {
		obj_free(&s3req_type, r);
		return err;
	}
	r->q.key_len = (uint16_t)key_len;
	r->q.key2_len = (uint16_t)to_len;
	if (to_len)
		memcpy(r->q.keys + key_len, to, to_len);
	r->q.id = ++s->last_id;
	r->node = n;
	inode_get(&n->inode);
	n->req_op = (uint8_t)op;
	s->puts += op == S3_PUT;
	err = list_is_empty(&s->unsent) ? request_send(s, r) : -EAGAIN;
	/* Another failure than a full socket shows when answers are read. */
	list_append(err == -EAGAIN ? &s->unsent : &s->pending, &r->link);
	watch_arm(s);
	return 0;
}

/* The answer to r, or a part of it. */
static void request_answer(struct s3req *r, const struct s3_reply *a, size_t len)
{
	struct s3node *n = r->node;
	bool more = r->q.op == S3_LIST && a->err == 0 && (a->flags & S3_MORE);

	if (!more) {
		n->req_op = 0;
		s3fs_of(n)->puts -= r->q.op == S3_PUT;
		list_remove(&r->link);
	}
	if (a->err < 0 && a->err > -4096) {
		n->err = a->err;
		n->failed_at = now_mono();
	}
	if (r->q.op == S3_GET || r->q.op == S3_PUT)
		s3_content_answer(n, r->q.op, a);
	else
		s3_names_answer(n, r->q.op, a, len);
	if (more)
		return;
	waitq_wake(&n->q, POLLIN);
	inode_put(&n->inode);
	obj_free(&s3req_type, r);
}

static void fail_all(struct s3fs *s)
{
	s->dead = true;
	hostwatch_fini(&s->watch);
	while (!list_is_empty(&s->unsent) || !list_is_empty(&s->pending)) {
		struct list *from = list_is_empty(&s->unsent) ? &s->pending : &s->unsent;
		struct s3req *r = list_first(from, struct s3req, link);
		struct s3_reply a = { .err = -EIO };

		request_answer(r, &a, 0);
	}
}

static void answers_take(struct s3fs *s)
{
	static struct s3_reply a;
	struct s3req *r;

	while (!s->dead) {
		int64_t n = host_recv(s->sock, &a, sizeof(a), MSG_DONTWAIT);

		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n <= 0) {
			fail_all(s);
			return;
		}
		if ((size_t)n < S3_REPLY_HEAD || a.nbytes != (size_t)n - S3_REPLY_HEAD)
			continue;
		list_for_each(r, &s->pending, link)
			if (r->q.id == a.id)
				break;
		if (&r->link != &s->pending)
			request_answer(r, &a, a.nbytes);
	}
	while (!s->dead && !list_is_empty(&s->unsent)) {
		r = list_first(&s->unsent, struct s3req, link);
		if (request_send(s, r) == -EAGAIN)
			break;
		list_remove(&r->link);
		list_append(&s->pending, &r->link);
	}
}

static void on_ready(struct hostwatch *w, uint32_t events)
{
	struct s3fs *s = container_of(w, struct s3fs, watch);

	(void)events;
	answers_take(s);
	watch_arm(s);
}

int s3_watch(struct s3fs *s)
{
	hostwatch_init(&s->watch, s->sock, on_ready);
	return hostwatch_arm(&s->watch, POLLIN);
}

bool s3_is_settled(const struct s3fs *s)
{
	const struct list *lists[] = { &s->pending, &s->unsent };
	const struct s3req *r;

	for (unsigned i = 0; i < ARRAY_LEN(lists); i++)
		list_for_each(r, lists[i], link)
			if (r->q.op >= S3_PUT)
				return false;
	return true;
}

void s3_pump(struct s3fs *s)
{
	struct pollfd p = { .fd = s->sock,
			    .events = POLLIN | (list_is_empty(&s->unsent) ? 0 : POLLOUT) };

	(void)host_poll(&p, 1, SYNC_STEP);
	now_update();
	answers_take(s);
}

int s3_throttle(struct s3fs *s)
{
	struct s3req *r;

	while (s->puts > S3_PUTS_MAX && !s->dead) {
		int err = 0;

		list_for_each(r, list_is_empty(&s->pending) ? &s->unsent : &s->pending, link)
			if (r->q.op == S3_PUT) {
				err = s3_wait(r->node);
				break;
			}
		if (err < 0)
			return err;
		if (!task_current)
			s3_pump(s);
		else
			break; /* none that could be waited for */
	}
	return 0;
}

int s3_wait(struct s3node *n)
{
	struct s3fs *s = s3fs_of(n);

	if (task_current)
		return call_wait_outside(task_current, &n->q);
	sync_since = now_mono();
	inode_get(&n->inode);
	while (n->req_op && !s->dead)
		s3_pump(s);
	inode_put(&n->inode);
	return 0;
}
