/* See worker.h.
 *
 * The ring has three counters that only grow: put (by the caller, seen at the kick), done (by the
 * thread) and taken (by the caller). The thread sleeps in a futex on the first, whoever waits for
 * it in one on the second.
 *
 * The thread shares memory, descriptors and signal handlers with the process and is of its thread
 * group, so that it ends with it. It runs on a stack of its own, with a page at each end that
 * cannot be touched, and with the thread register of its maker, which nothing in here uses: calls
 * are made without libc, as errno is the other thread's. All signals that the process blocks it
 * blocks, too.
 *
 * "alive" says who is in charge of the ring: 1 the thread, 0 nobody. A thread that leaves sets it
 * to 0 and looks once more; who finds work and 0 and can make it a 1 again has to see to the
 * work. */
#include "host/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "stub/sys.h"

#define STACK_SIZE 16384 /* pages of it that are never touched cost nothing */
#define IDLE_SECONDS 2

static struct {
	uint32_t put, done, taken; /* put and done: futexes */
	uint32_t staged; /* put, and not seen yet */
	uint32_t alive;
	uint32_t awaited; /* somebody sleeps until one is done */
	int there; /* cleared by the host when the thread is off its stack */
	int fd; /* the eventfd */
	struct work ring[WORK_RING];
} q = { .fd = -1 };

static char *stack_top; /* made with the first thread */

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define NO_RUNTIME __attribute__((no_sanitize("address", "undefined"), noinline))

/* ---- what the thread runs: no libc, no state but q ---- */

NO_RUNTIME static bool alive_set(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&q.alive, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Fails if there are fewer. #syscalls: copy_file_range */
NO_RUNTIME static long work_copy(const struct work *w)
{
	int64_t in = w->off, out = w->off, end = w->off + w->len;

	while (in < end) {
		long n =
			sys6(SYS_copy_file_range, w->fd, (long)&in, w->to, (long)&out, end - in, 0);

		if (n <= 0)
			return n < 0 ? n : -EIO;
	}
	return 0;
}

/* Of whole files, or of one in parts. #syscalls: pread64 */
NO_RUNTIME static long work_hash(struct work *w)
{
	static uint8_t buffer[1 << 16];
	static struct sha256 part; /* of a file in parts */
	struct sha256 whole, *s = w->to == (HASH_FIRST | HASH_LAST) ? &whole : &part;
	int64_t done = 0;

	if (w->to & HASH_FIRST)
		sha256_init(s);
	while (done < w->len) {
		long n = sys6(SYS_pread64, w->fd, (long)buffer,
			      MIN((int64_t)sizeof(buffer), w->len - done), w->off + done, 0, 0);

		if (n < 0)
			return n;
		if (!n)
			break;
		sha256_add(s, buffer, (size_t)n);
		done += n;
	}
	if (w->to & HASH_LAST)
		sha256_end(s, w->hash);
	return done;
}

/* #syscalls: fsync fdatasync syncfs sync_file_range fadvise64 ftruncate close write futex */
NO_RUNTIME static long work_do(struct work *w)
{
	switch (w->op) {
	case WORK_FSYNC:
		return sys6(SYS_fsync, w->fd, 0, 0, 0, 0, 0);
	case WORK_FDATASYNC:
		return sys6(SYS_fdatasync, w->fd, 0, 0, 0, 0, 0);
	case WORK_SYNCFS:
		return sys6(SYS_syncfs, w->fd, 0, 0, 0, 0, 0);
	case WORK_FLUSH:
		return sys6(SYS_sync_file_range, w->fd, w->off, w->len,
			    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				    SYNC_FILE_RANGE_WAIT_AFTER,
			    0, 0);
	case WORK_FORGET:
		return sys6(SYS_fadvise64, w->fd, 0, 0, POSIX_FADV_DONTNEED, 0, 0);
	case WORK_CUT:
		return sys6(SYS_ftruncate, w->fd, w->len, 0, 0, 0, 0);
	case WORK_COPY:
		return work_copy(w);
	case WORK_HASH:
		return work_hash(w);
	default:
		return 0;
	}
}

/* #syscalls: clock_gettime */
NO_RUNTIME static int64_t clock_now(void)
{
	struct timespec ts = { 0, 0 };

	(void)sys6(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0, 0, 0, 0);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* All that was put by now. */
NO_RUNTIME static void ring_run(void)
{
	static bool failed; /* the chain; of whoever is in charge */
	uint64_t one = 1;

	while (q.done != LOAD(&q.put)) {
		struct work *w = &q.ring[q.done % WORK_RING];
		bool quiet = w->flags & WORK_QUIET;
		int64_t began = clock_now();

		if (w->flags & WORK_FIRST)
			failed = false;
		w->result = failed ? -ECANCELED : work_do(w);
		w->ns = clock_now() - began;
		if (w->result < 0 && w->flags & WORK_MUST)
			failed = true;
		if (w->flags & WORK_CLOSE)
			(void)sys6(SYS_close, w->fd, 0, 0, 0, 0, 0);
		if (w->flags & WORK_CLOSE && w->op == WORK_COPY)
			(void)sys6(SYS_close, w->to, 0, 0, 0, 0, 0);
		STORE(&q.done, q.done + 1); /* from here on the slot is the caller's */
		if (LOAD(&q.awaited))
			(void)sys6(SYS_futex, (long)&q.done, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
		if (!quiet)
			(void)sys6(SYS_write, q.fd, (long)&one, sizeof(one), 0, 0, 0);
	}
}

/* #syscalls: futex exit */
NO_RUNTIME static void thread_main(void)
{
	for (;;) {
		struct timespec idle = { .tv_sec = IDLE_SECONDS };
		long r;

		if (q.done != LOAD(&q.put))
			ring_run();
		r = sys6(SYS_futex, (long)&q.put, FUTEX_WAIT_PRIVATE, q.done, (long)&idle, 0, 0);
		if (r != -ETIMEDOUT)
			continue;
		(void)alive_set(1, 0);
		if (q.done == LOAD(&q.put) || !alive_set(0, 1))
			break;
	}
	(void)sys6(SYS_exit, 0, 0, 0, 0, 0, 0);
	__builtin_trap();
}

/* The clone itself, allowed by tools/gen-kernel-filter.c for these flags alone. The new thread
 * begins on an empty stack, so it cannot return from here. */
NO_RUNTIME static long thread_clone(void)
{
	register long ctid __asm__("r10") = (long)&q.there;
	register long tls __asm__("r8") = 0;
	register void (*fn)(void) __asm__("r9") = thread_main;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%%r9\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(ret)
			 : "0"((long)SYS_clone), "D"((long)WORKER_CLONE_FLAGS),
			   "S"((long)stack_top), "d"(0L), "r"(ctid), "r"(tls), "r"(fn)
			 : "rcx", "r11", "memory");
	return ret;
}

/* ---- the caller's side ---- */

/* #syscalls: eventfd2 */
int worker_init(void)
{
	if (q.fd < 0)
		q.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return q.fd < 0 ? -errno : q.fd;
}

uint32_t worker_room(void)
{
	return WORK_RING - (q.staged - q.taken);
}

uint32_t worker_pending(void)
{
	return q.staged - q.taken;
}

void worker_put(const struct work *w)
{
	q.ring[q.staged++ % WORK_RING] = *w;
}

/* Between two pages that cannot be touched. #syscalls: mmap mprotect munmap */
static bool stack_make(void)
{
	char *p;

	if (stack_top)
		return true;
	p = mmap(NULL, STACK_SIZE + 2 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	if (mprotect(p + PAGE_SIZE, STACK_SIZE, PROT_READ | PROT_WRITE) < 0) {
		munmap(p, STACK_SIZE + 2 * PAGE_SIZE);
		return false;
	}
	stack_top = p + PAGE_SIZE + STACK_SIZE;
	return true;
}

/* #syscalls: futex sched_yield sched_setaffinity */
void worker_kick(void)
{
	long tid;

	if (q.put == q.staged)
		return;
	STORE(&q.put, q.staged);
	if (LOAD(&q.alive)) {
		(void)sys6(SYS_futex, (long)&q.put, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
		return;
	}
	if (!alive_set(0, 1))
		return; /* it has seen it and stays */
	/* The last one is on its way out. */
	while (LOAD(&q.there))
		host_yield();
	STORE(&q.there, 1);
	tid = stack_make() ? thread_clone() : -ENOMEM;
	if (tid > 0) {
		host_cpu_unbind((pid_t)tid);
		return;
	}
	STORE(&q.there, 0);
	ring_run();
	STORE(&q.alive, 0);
}

bool worker_take(struct work *out)
{
	if (q.taken == LOAD(&q.done))
		return false;
	*out = q.ring[q.taken++ % WORK_RING];
	return true;
}

/* #syscalls: futex */
void worker_wait(void)
{
	worker_kick();
	STORE(&q.awaited, 1);
	while (LOAD(&q.done) == q.taken)
		(void)sys6(SYS_futex, (long)&q.done, FUTEX_WAIT_PRIVATE, q.taken, 0, 0, 0);
	STORE(&q.awaited, 0);
}

/* #syscalls: read */
void worker_heard(void)
{
	uint64_t n;

	(void)!read(q.fd, &n, sizeof(n));
}
