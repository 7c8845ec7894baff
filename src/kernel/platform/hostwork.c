/* See hostwork.h. The ring's owners are kept here, where the other thread never looks. */
#include "kernel/platform/hostwork.h"

#include <poll.h>

#include "host/host.h"
#include "kernel/platform/loop.h"

static struct {
	struct hostwork *h;
	uint32_t tag;
} owners[WORK_RING];
static uint32_t put, told;
static struct hostwatch watch;
static bool ready; /* the watch is there */

/* Of the oldest; false: it is not done yet. Its owner may come back here. */
static bool tell_one(void)
{
	struct hostwork *h = owners[told % WORK_RING].h;
	uint32_t tag = owners[told % WORK_RING].tag;
	struct work w;

	if (!worker_take(&w))
		return false;
	told++;
	(*CHECKED(h->done))(h, tag, &w);
	return true;
}

static void work_done(struct hostwatch *w, uint32_t events)
{
	(void)events;
	worker_heard();
	while (tell_one())
		;
	if (told != put)
		(void)hostwatch_arm(w, POLLIN);
}

bool hostwork_has_room(uint32_t n)
{
	int fd;

	if (!ready) {
		fd = worker_init();
		if (fd < 0)
			return false;
		hostwatch_init(&watch, fd, work_done);
		ready = true;
	}
	return worker_room() >= n;
}

void hostwork_put(struct hostwork *h, uint32_t tag, const struct work *w)
{
	owners[put % WORK_RING].h = h;
	owners[put % WORK_RING].tag = tag;
	put++;
	worker_put(w);
}

void hostwork_start(void)
{
	worker_kick();
	(void)hostwatch_arm(&watch, POLLIN);
}

bool hostwork_wait(void)
{
	if (told == put)
		return false;
	worker_wait();
	return tell_one();
}

static uint32_t closing;

static void close_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	(void)h, (void)tag, (void)w;
	closing--;
}

bool hostwork_is_closing(void)
{
	return closing > 0;
}

void hostwork_close(int fd, bool forget)
{
	static struct hostwork closer;
	struct work w = { .op = forget ? WORK_FORGET : WORK_NOTHING,
			  .flags = WORK_CLOSE | WORK_FIRST,
			  .fd = fd };

	if (!hostwork_has_room(1)) {
		host_close(fd);
		return;
	}
	closing++;
	closer.done = CALLBACK(close_done);
	hostwork_put(&closer, 0, &w);
	hostwork_start();
}
