/* Processes that are being thawed, while they wait for their state (thaw.c, thawmemory.c). */
#ifndef VIV_KERNEL_CELL_THAW_H
#define VIV_KERNEL_CELL_THAW_H

#include "kernel/cell/frozen.h"
#include "stub/stub.h"

struct task;

/* A thread that the host has made. */
struct thawing {
	pid_t tid;
	uint64_t id; /* of the notification it waits in */
	uint64_t sp; /* where it goes on */
	uaddr_t work,
		data; /* of the first thread of a process: its struct stub_work, the stub's data */
};

/* A process that asks for work. The first failure stays. */
struct thaw_work {
	struct thawing *leader;
	struct task *t;
	struct stub_work work;
	unsigned n;
	int err;
};

/* Says why; returns -EINVAL. */
int thaw_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* It makes the calls that were added, and asks again. */
int thaw_flush(struct thaw_work *w);
void thaw_call(struct thaw_work *w, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
	       uint64_t e, uint64_t f);
/* Bytes of the file from at on, into the memory of pid. */
int must_check thaw_copy(pid_t pid, const struct frozen_pages *p);

/* thawmemory.c: the records of one process from at on. All but the stub's data. */
int must_check thaw_memory(struct thaw_work *w, const struct frozen_proc *p, const uint8_t *records,
			   size_t size, size_t at);
/* And that, when it runs no code any more. */
int must_check thaw_stub(pid_t pid, const uint8_t *records, size_t size, size_t at);

#endif
