/* See follow.h. inotify tells of new records; it is asked again for each file that the log goes on
 * in. */
#include "daemon/keepers/follow.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

#define POLL_MS 100
/* also where inotify is there: whether somebody still writes is asked by the user */
#define LOOK_MS 1000

static void on_event(uv_fs_event_t *e, const char *name, int events, int status)
{
	struct follow *f = e->data;

	(void)name;
	(void)events;
	(void)status;
	f->ready(f->arg);
}

static void on_timer(uv_timer_t *t)
{
	struct follow *f = t->data;

	f->ready(f->arg);
}

static uint64_t poll_ms(const struct follow *f)
{
	return f->watches ? LOOK_MS : POLL_MS;
}

static void watch(struct follow *f)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->reader.files[1]);
	f->watches = uv_fs_event_start(&f->event, on_event, path, 0) == 0;
	uv_timer_start(&f->timer, on_timer, poll_ms(f), poll_ms(f));
}

struct follow *follow_new(uv_loop_t *loop, const char *cell, uint32_t proc, uint64_t position,
			  bool live, void (*ready)(void *arg), void *arg)
{
	struct follow *f = xalloc(sizeof(*f));

	if (log_reader_open(&f->reader, cell, proc, position)) {
		free(f);
		return NULL;
	}
	f->live = live;
	f->ready = ready;
	f->arg = arg;
	uv_fs_event_init(loop, &f->event);
	uv_timer_init(loop, &f->timer);
	f->event.data = f->timer.data = f;
	f->nhandles = 2;
	if (live)
		watch(f);
	return f;
}

static void handle_closed(uv_handle_t *h)
{
	struct follow *f = h->data;

	if (--f->nhandles == 0)
		free(f);
}

void follow_free(struct follow *f)
{
	uv_close((uv_handle_t *)&f->event, handle_closed);
	uv_close((uv_handle_t *)&f->timer, handle_closed);
	log_reader_close(&f->reader);
}

int follow_next(struct follow *f)
{
	struct log_reader *r = &f->reader;
	unsigned before = r->opened;
	int some;

	if (r->given < r->len)
		return 1;
	some = log_reader_next(r);
	if (f->live && r->opened != before) {
		if (f->watches)
			uv_fs_event_stop(&f->event);
		watch(f);
		/* It may have been written to before it was watched. */
		if (!some)
			some = log_reader_next(r);
	}
	if (some == LOG_AGAIN)
		uv_timer_start(&f->timer, on_timer, 0, f->live ? poll_ms(f) : 0);
	return some == LOG_AGAIN ? 0 : some == 1 ? 1 : -1;
}
