/* See pool.h. */
#include "daemon/keepers/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/keepers/poolsize.h"
#include "daemon/keepers/spawn.h"
#include "host/fdmsg.h"
#include "keeper/pool.h"
#include "store/store.h"

#define ACCEPTS 32 /* before others have their turn */

/* The cells of one image. */
struct kind {
	struct list link;
	struct pool *pool;
	char image[POOL_IMAGE];
	struct list ready; /* struct idle, the one that waits longest first */
	struct list waits; /* struct pool_wait */
	struct pool_kind size;
};

struct idle {
	struct list link;
	struct kind *kind;
	struct keep_hello hello;
	int fd;
	uv_poll_t poll;
};

/* One that nobody wanted, until its keeper has ended. */
struct ending {
	struct pool *pool;
	int pidfd;
	uv_poll_t poll;
};

struct pool {
	struct daemon *d;
	struct list kinds;
	struct pool_total size;
	unsigned nending;
	uint64_t around, cgroup; /* ours */
	int fd;
	uv_poll_t listening;
	uv_timer_t tick, refill;
	struct list asks; /* struct asking, those that have not said yet what they want */
	uint64_t unused_ms; /* after which those that wait go */
	bool closed;
};

static void refill_soon(struct pool *p);

/* ---- cells that wait ---- */

static void idle_closed(uv_handle_t *h)
{
	free(h->data);
}

/* Out of the pool; its descriptor is the caller's. */
static int idle_take(struct idle *i)
{
	int fd = i->fd;

	list_remove(&i->link);
	uv_close((uv_handle_t *)&i->poll, idle_closed);
	return fd;
}

static void on_ended(uv_poll_t *h, int status, int events)
{
	struct ending *e = h->data;

	(void)status;
	(void)events;
	e->pool->nending--;
	uv_close((uv_handle_t *)h, idle_closed);
	close(e->pidfd);
}

/* It ends by itself when nobody has its descriptor. */
static void idle_end(struct idle *i)
{
	struct ending *e = xalloc(sizeof(*e));

	e->pool = i->kind->pool;
	e->pidfd = (int)syscall(SYS_pidfd_open, i->hello.keeper_pid, 0);
	e->poll.data = e;
	if (e->pidfd >= 0 && uv_poll_init(&e->pool->d->loop, &e->poll, e->pidfd) == 0) {
		uv_poll_start(&e->poll, UV_READABLE, on_ended);
		e->pool->nending++;
	} else {
		if (e->pidfd >= 0)
			close(e->pidfd);
		free(e);
	}
	close(idle_take(i));
}

static void on_idle(uv_poll_t *h, int status, int events)
{
	struct idle *i = h->data;
	struct pool *p = i->kind->pool;

	(void)status;
	(void)events;
	/* It has nothing to say: it is gone. */
	pool_kind_lost(&i->kind->size, uv_now(&p->d->loop));
	idle_end(i);
	refill_soon(p);
}

static void kind_give(struct kind *k)
{
	while (pool_kind_give(&k->size)) {
		struct pool_wait *w = list_first(&k->waits, struct pool_wait, link);
		struct idle *i = list_first(&k->ready, struct idle, link);
		struct keep_hello hello = i->hello;
		int fd = idle_take(i);

		list_remove(&w->link);
		w->fn(w, fd, &hello);
	}
}

static void kind_cut(struct kind *k, struct pool_cut c)
{
	while (c.end--)
		idle_end(list_last(&k->ready, struct idle, link));
	while (c.refuse--) {
		struct pool_wait *w = list_last(&k->waits, struct pool_wait, link);

		list_remove(&w->link);
		w->fn(w, -1, NULL);
	}
	if (c.drop) {
		list_remove(&k->link);
		free(k);
	}
}

/* ---- booting ---- */

/* Takes fd. */
static bool idle_add(struct kind *k, const struct keep_hello *hello, int fd)
{
	struct pool *p = k->pool;
	struct idle *i = xalloc(sizeof(*i));

	i->kind = k;
	i->hello = *hello;
	i->fd = fd;
	i->poll.data = i;
	if (uv_poll_init(&p->d->loop, &i->poll, fd)) {
		close(fd);
		free(i);
		return false;
	}
	/* Who gets it waits on it as it likes. */
	fcntl(fd, F_SETFL, 0);
	uv_poll_start(&i->poll, UV_READABLE | UV_DISCONNECT, on_idle);
	list_append(&k->ready, &i->link);
	return true;
}

static void booted(void *arg, const struct keep_hello *hello, int ready, int status,
		   const struct err *e)
{
	struct kind *k = arg;
	struct pool *p = k->pool;
	/* The loop may still know the number as that of another handle. */
	int fd = hello && !p->closed ? fcntl(ready, F_DUPFD_CLOEXEC, 0) : -1;

	(void)status;
	if (p->closed)
		return;
	if (fd >= 0 && idle_add(k, hello, fd)) {
		pool_kind_booted(&k->size);
		kind_give(k);
	} else {
		log_warn("no cell of image %s for the pool: %s", k->image,
			 e ? err_line(e).str : "too many open files");
		kind_cut(k, pool_kind_failed(&k->size, uv_now(&p->d->loop)));
	}
	refill_soon(p);
}

static void boot(struct kind *k)
{
	struct buf words = { 0 };
	static const char option[] = "--pool\0--image"; /* two words */

	buf_add(&words, option, sizeof(option));
	buf_add(&words, k->image, strlen(k->image) + 1);
	keeper_spawn(k->pool->d, &words, booted, k);
	buf_free(&words);
}

static void on_refill(uv_timer_t *t)
{
	struct pool *p = t->data;
	uint64_t now = uv_now(&p->d->loop);
	struct kind *k;

	list_for_each(k, &p->kinds, link)
		while (pool_kind_boot(&k->size, now))
			boot(k);
}

/* In a later round of the loop: a start takes a moment, and whoever asked has his answer first. */
static void refill_soon(struct pool *p)
{
	if (!p->closed && !uv_is_active((uv_handle_t *)&p->refill))
		uv_timer_start(&p->refill, on_refill, 0, 0);
}

/* ---- how many ---- */

static void on_tick(uv_timer_t *t)
{
	struct pool *p = t->data;
	uint64_t now = uv_now(&p->d->loop);
	struct kind *k, *tmp;

	list_for_each_safe(k, tmp, &p->kinds, link)
		kind_cut(k, pool_kind_tick(&k->size, now, p->unused_ms));
	if (!p->size.kinds)
		uv_timer_stop(t);
	refill_soon(p);
}

static struct kind *kind_get(struct pool *p, const char *image)
{
	struct kind *k;

	list_for_each(k, &p->kinds, link)
		if (!strcmp(k->image, image))
			return k;
	k = xalloc(sizeof(*k));
	if (!pool_kind_init(&k->size, &p->size)) {
		free(k);
		return NULL;
	}
	k->pool = p;
	snprintf(k->image, sizeof(k->image), "%s", image);
	list_init(&k->ready);
	list_init(&k->waits);
	list_append(&p->kinds, &k->link);
	if (!uv_is_active((uv_handle_t *)&p->tick))
		uv_timer_start(&p->tick, on_tick, POOL_TICK_MS, POOL_TICK_MS);
	return k;
}

bool pool_ask(struct daemon *d, const char *image, struct pool_wait *w)
{
	struct pool *p = d->pool;
	struct kind *k = p && !p->closed ? kind_get(p, image) : NULL;
	bool comes;

	if (!k)
		return false;
	comes = pool_kind_ask(&k->size, uv_now(&d->loop));
	if (comes) {
		list_init(&w->link);
		list_append(&k->waits, &w->link);
		kind_give(k);
	}
	refill_soon(p);
	return comes;
}

struct pool_figures pool_figures(const struct daemon *d)
{
	const struct pool *p = d->pool;

	return p ? (struct pool_figures){ p->size.ready, p->size.booting, p->nending, p->size.given,
					  p->size.missed }
		 : (struct pool_figures){ 0 };
}

/* ---- those who ask from outside ---- */

struct asking {
	struct pool_wait wait; /* first */
	struct list link;
	struct pool *pool;
	int fd;
	uv_poll_t poll;
};

static void asking_closed(uv_handle_t *h)
{
	free(h->data);
}

static void asking_end(struct asking *a)
{
	list_remove(&a->link);
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	uv_close((uv_handle_t *)&a->poll, asking_closed);
}

/* Takes cell; -1: none. */
static void asking_answer(struct asking *a, int cell)
{
	const struct pool_answer answer = { .version = POOL_VERSION, .given = cell >= 0 };

	if (fdmsg_send(a->fd, &answer, sizeof(answer), &cell, cell >= 0, MSG_DONTWAIT) < 0)
		a->pool->size.missed++; /* nobody waits for it any more, and it ends */
	if (cell >= 0)
		close(cell);
	asking_end(a);
}

static void asking_given(struct pool_wait *w, int fd, const struct keep_hello *hello)
{
	(void)hello;
	asking_answer((struct asking *)w, fd);
}

/* False: it has said nothing yet. */
static bool asking_read(struct asking *a)
{
	struct pool *p = a->pool;
	struct pool_ask ask;
	int fds[FDMSG_MAX];
	unsigned n;
	int64_t got = fdmsg_recv(a->fd, &ask, sizeof(ask), fds, 0, &n, MSG_DONTWAIT);

	if (got == -EAGAIN)
		return false;
	uv_poll_stop(&a->poll);
	if (got != sizeof(ask)) {
		asking_end(a);
		return true;
	}
	ask.image[sizeof(ask.image) - 1] = '\0';
	if (ask.version != POOL_VERSION || ask.around != p->around ||
	    (ask.cgroup != p->cgroup && !(ask.flags & POOL_ANY_CGROUP)) ||
	    (strcmp(ask.image, "host") && !hash_is_valid(ask.image)) ||
	    !pool_ask(p->d, ask.image, &a->wait))
		asking_answer(a, -1);
	return true;
}

static void on_asking(uv_poll_t *h, int status, int events)
{
	(void)status;
	(void)events;
	(void)asking_read(h->data);
}

static void on_listening(uv_poll_t *h, int status, int events)
{
	struct pool *p = h->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		socklen_t len = sizeof(struct ucred);
		struct asking *a;
		struct ucred who;

		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ||
		    who.uid != geteuid()) {
			close(fd);
			continue;
		}
		a = xalloc(sizeof(*a));
		a->wait.fn = asking_given;
		a->pool = p;
		a->fd = fd;
		a->poll.data = a;
		if (uv_poll_init(&p->d->loop, &a->poll, fd)) {
			close(fd);
			free(a);
			continue;
		}
		list_init(&a->link);
		list_append(&p->asks, &a->link);
		if (!asking_read(a))
			uv_poll_start(&a->poll, UV_READABLE, on_asking);
	}
}

/* ---- the whole ---- */

static int listen_at(const char *run)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int dir = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err = 0;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* By way of the directory's descriptor: the path itself may be longer than a socket's
	 * address. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/" POOL_SOCKET, dir);
	unlinkat(dir, POOL_SOCKET, 0);
	if (dir < 0 || fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    fchmodat(dir, POOL_SOCKET, 0600, 0) < 0 || listen(fd, 512) < 0)
		err = errno;
	if (dir >= 0)
		close(dir);
	if (!err)
		return fd;
	log_warn("no pool of idle cells: cannot listen for clients: %s", strerror(err));
	if (fd >= 0)
		close(fd);
	return -1;
}

void pool_open(struct daemon *d)
{
	const char *setting = getenv("VIV_POOL");
	const char *seconds = getenv("VIV_POOL_SECONDS");
	struct pool *p;
	int fd;

	if (setting && !strcmp(setting, "0"))
		return;
	fd = listen_at(d->run);
	if (fd < 0)
		return;
	p = xalloc(sizeof(*p));
	p->d = d;
	p->fd = fd;
	p->unused_ms = seconds ? strtoul(seconds, NULL, 10) * 1000 : POOL_UNUSED_MS;
	list_init(&p->kinds);
	list_init(&p->asks);
	pool_surroundings(&p->around, &p->cgroup);
	uv_timer_init(&d->loop, &p->tick);
	uv_timer_init(&d->loop, &p->refill);
	uv_poll_init(&d->loop, &p->listening, fd);
	p->tick.data = p->refill.data = p->listening.data = p;
	uv_poll_start(&p->listening, UV_READABLE, on_listening);
	d->pool = p;
}

void pool_close(struct daemon *d)
{
	struct pool *p = d->pool;
	char path[4200];
	struct kind *k;

	if (!p)
		return;
	p->closed = true;
	snprintf(path, sizeof(path), "%s/" POOL_SOCKET, d->run);
	unlink(path);
	list_for_each(k, &p->kinds, link)
		kind_cut(k, pool_kind_close(&k->size));
	while (!list_is_empty(&p->asks))
		asking_end(list_first(&p->asks, struct asking, link));
	uv_close((uv_handle_t *)&p->tick, NULL);
	uv_close((uv_handle_t *)&p->refill, NULL);
	uv_close((uv_handle_t *)&p->listening, NULL);
	close(p->fd);
}
