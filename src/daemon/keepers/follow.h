/* The kept output of a process (keeper/log.h), read inside the loop: whoever follows it is told
 * when there is more. The process never waits for a reader: one that is too slow for the log misses
 * bytes, and reader.dropped says how many. */
#ifndef VIV_DAEMON_KEEPERS_FOLLOW_H
#define VIV_DAEMON_KEEPERS_FOLLOW_H

#include <uv.h>

#include "keeper/log.h"

struct follow {
	struct log_reader reader;
	uv_fs_event_t event; /* of the current file */
	uv_timer_t timer; /* where that cannot be had, and for the rest of a long step */
	bool live, watches;
	unsigned nhandles;
	void (*ready)(void *arg);
	void *arg;
};

/* NULL: nothing is kept of this process. ready() is called when follow_next() is worth another try;
 * without live only to go on with what is there already. */
struct follow *follow_new(uv_loop_t *loop, const char *cell, uint32_t proc, uint64_t position,
			  bool live, void (*ready)(void *arg), void *arg);
void follow_free(struct follow *f);
/* 1: there is something in the reader; 0: not now, and ready() follows; -1: nor in what is there
 * already. */
int follow_next(struct follow *f);

#endif
