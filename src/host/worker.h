/* A second thread for calls of the host that take long: syncing, copying, cutting files short, and
 * closing what frees gigabytes (docs/decisions/0027).
 *
 * The caller puts work into a ring, by value, and takes it out again when it is done, in the same
 * order. The thread is made when there is work and ends when there was none for a while. It touches
 * nothing but the ring and its stack: it knows of no object of the caller's, allocates nothing,
 * uses no libc. Where it cannot be made, the caller's own thread does the work. */
#ifndef VIV_HOST_WORKER_H
#define VIV_HOST_WORKER_H

#include <linux/sched.h>

#include "base/base.h"
#include "base/sha256.h"

#define WORK_RING 256

/* What the thread is made with: a thread of this process and nothing else. The kernel's filter
 * allows a clone with exactly these. */
#define WORKER_CLONE_FLAGS                                                                  \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_CHILD_CLEARTID)

enum work_op {
	WORK_NOTHING, /* only what the flags say */
	WORK_FSYNC,
	WORK_FDATASYNC,
	WORK_SYNCFS,
	/* writes out len bytes of content from off on, and waits for that: sync_file_range */
	WORK_FLUSH,
	WORK_FORGET, /* the host need not hold its content in memory any more: fadvise */
	WORK_CUT, /* cuts it to len bytes: ftruncate */
	/* copies len bytes from off on to the same place of the file "to": copy_file_range */
	WORK_COPY,
	/* SHA-256 of len bytes from off on, into hash; "to" is a set of HASH_. Parts of a file are
	 * put one after the other, with no part of another one between them. The result is how many
	 * bytes there were, fewer if it ends before */
	WORK_HASH,
};

#define HASH_FIRST 1 /* part of a file */
#define HASH_LAST 2 /* ... after which there is a hash */

#define WORK_CLOSE 1u /* fd is the work's: closed after it, whatever becomes of it */
#define WORK_FIRST 2u /* begins a chain */
#define WORK_MUST 4u /* if it fails, the rest of the chain is not done: -ECANCELED */
#define WORK_QUIET 8u /* others follow at once: the descriptor need not tell of this one */

struct work {
	uint8_t op, flags;
	int fd;
	int to; /* of WORK_COPY, closed as fd is; of WORK_HASH: HASH_ */
	int64_t off, len;
	int64_t result; /* of the op: 0 or -errno */
	uint8_t hash[SHA256_SIZE];
	int64_t ns; /* how long the host took for it */
};

/* The descriptor that can be read when there is something to take; made here. */
int must_check worker_init(void);
/* How many can be put. */
uint32_t worker_room(void);
/* Only where there is room. Nobody sees it before the kick. */
void worker_put(const struct work *w);
void worker_kick(void);
/* The next one that is done; false: none yet. */
bool worker_take(struct work *out);
/* How many were put and not taken. */
uint32_t worker_pending(void);
/* Until there is something to take. Only while something is pending. */
void worker_wait(void);
/* The descriptor is read, so that it tells of what comes next. Before what is done is taken. */
void worker_heard(void);

#endif
