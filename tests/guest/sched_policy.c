/*
 * The scheduling policy is SCHED_OTHER with priority 0; ranges of priorities; yield; wrong values
 * are EINVAL.
 */
#include "guest.h"
#include <sched.h>

static void as_user(void)
{
	struct sched_param p = { .sched_priority = 10 };

	drop_to_user();
	SHOW(sched_setscheduler(0, SCHED_FIFO, &p));
}

int main(void)
{
	struct sched_param p = { .sched_priority = 5 };
	struct timespec ts;

	signal(SIGCHLD, SIG_DFL);
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	SHOW(sched_getparam(0, &p));
	printf("priority %d\n", p.sched_priority);
	SHOW(sched_get_priority_min(SCHED_FIFO));
	SHOW(sched_get_priority_max(SCHED_FIFO));
	SHOW(sched_get_priority_min(SCHED_OTHER));
	SHOW(sched_get_priority_max(SCHED_OTHER));
	SHOW(sched_get_priority_max(77));
	SHOW(sched_yield());
	SHOW(sched_setscheduler(0, SCHED_OTHER, &p));
	p.sched_priority = 3;
	SHOW(sched_setscheduler(0, SCHED_OTHER, &p));
	p.sched_priority = 0;
	SHOW(sched_setscheduler(0, SCHED_FIFO, &p));
	SHOW(sched_setscheduler(0, 77, &p));
	SHOW(sched_getscheduler(-1));
	SHOW(sched_getscheduler(0x3fffffff));
	SHOW(sched_rr_get_interval(0x3fffffff, &ts));
	p.sched_priority = 0;
	SHOW(sched_setscheduler(0, SCHED_BATCH, &p));
	CHECK(sched_getscheduler(0) == SCHED_BATCH);
	SHOW(sched_setscheduler(0, SCHED_OTHER, &p));
	show_status("user", in_child(as_user));
	return 0;
}
