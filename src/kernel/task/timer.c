/* Timers of the kernel (timer.h): a binary heap of pointers in a blob that grows by doubling.
 *
 * Each timer knows its slot, so that stopping or moving one costs no search. The number is bounded;
 * a guest that starts too many gets ENOMEM from the call that wanted one more. Timers that are due
 * at the same moment run in no particular order. */
#include <errno.h>

#include "base/arena.h"
#include "kernel/task/timer.h"

#define ROUND_MAX 64u
#define TIMERS_MIN 64u
#define TIMERS_MAX 65536u

static struct ktimer **heap;
static uint32_t heap_count, heap_size;

static void heap_set(uint32_t i, struct ktimer *timer)
{
	heap[i] = timer;
	timer->slot = i + 1;
}

static void heap_up(uint32_t i, struct ktimer *timer)
{
	uint32_t parent;

	while (i > 0) {
		parent = (i - 1) / 2;
		if (heap[parent]->expires <= timer->expires)
			break;
		heap_set(i, heap[parent]);
		i = parent;
	}
	heap_set(i, timer);
}

static void heap_down(uint32_t i, struct ktimer *timer)
{
	uint32_t child;

	while ((child = 2 * i + 1) < heap_count) {
		if (child + 1 < heap_count && heap[child + 1]->expires < heap[child]->expires)
			child++;
		if (timer->expires <= heap[child]->expires)
			break;
		heap_set(i, heap[child]);
		i = child;
	}
	heap_set(i, timer);
}

/* Puts timer where it belongs, given that slot i is free for it. */
static void heap_place(uint32_t i, struct ktimer *timer)
{
	if (i > 0 && timer->expires < heap[(i - 1) / 2]->expires)
		heap_up(i, timer);
	else
		heap_down(i, timer);
}

static int heap_grow(void)
{
	uint32_t size = heap_size ? heap_size * 2 : TIMERS_MIN;
	void *bigger;

	if (heap_size >= TIMERS_MAX)
		return -ENOMEM;
	if (heap)
		bigger = blob_resize(heap, heap_size * sizeof(*heap), size * sizeof(*heap));
	else
		bigger = blob_new(size * sizeof(*heap));
	if (!bigger)
		return -ENOMEM;
	heap = bigger;
	heap_size = size;
	return 0;
}

void ktimer_init_with(struct ktimer *timer, void (*const *fn)(struct ktimer *))
{
	timer->expires = TIME_NEVER;
	timer->slot = 0;
	timer->fn = fn;
}

int ktimer_start(struct ktimer *timer, int64_t expires)
{
	int err;

	if (timer->slot) {
		timer->expires = expires;
		heap_place(timer->slot - 1, timer);
		return 0;
	}
	if (heap_count == heap_size) {
		err = heap_grow();
		if (err < 0)
			return err;
	}
	timer->expires = expires;
	heap_up(heap_count++, timer);
	return 0;
}

void ktimer_stop(struct ktimer *timer)
{
	uint32_t i;
	struct ktimer *last;

	if (!timer->slot)
		return;
	i = timer->slot - 1;
	timer->slot = 0;
	last = heap[--heap_count];
	if (last != timer)
		heap_place(i, last);
}

bool ktimer_is_started(const struct ktimer *timer)
{
	return timer->slot != 0;
}

int64_t ktimer_next(void)
{
	return heap_count ? heap[0]->expires : TIME_NEVER;
}

void ktimer_run(int64_t now)
{
	/* Not more than a few at a time, and not those that start themselves again at once: a
	 * thousand fast timers must not keep the main loop here. The rest has its turn after the
	 * next event. */
	uint32_t budget = MIN(heap_count, ROUND_MAX);

	while (budget-- && heap_count && heap[0]->expires <= now) {
		struct ktimer *timer = heap[0];

		ktimer_stop(timer);
		(*CHECKED(timer->fn))(timer);
	}
}
