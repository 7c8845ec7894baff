/* Locks: ranges split and merge, conflicts between owners, flock, deadlock. */
/* objects: src/base/arena.c src/base/program.c src/kernel/vfs/lock.c src/kernel/vfs/ranges.c src/kernel/task/waitq.c */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/lock.h"
#include "tap.h"

static struct proc procs[3];
static struct task tasks[3];
static struct fdtable tables[3];
static struct inode inode;
static struct file files[3];
static int woken;

struct proc *proc_find(pid_t pid)
{
	return pid >= 1 && pid <= 3 ? &procs[pid - 1] : NULL;
}

static int set(int who, int type, uint64_t start, uint64_t end, bool ofd, bool wait)
{
	struct lock_range r = { .type = type, .start = start, .end = end };
	return lock_posix_set(&files[who], &tasks[who], ofd, &r, wait);
}

/* What who would meet in the range: type, and its borders in *r. */
static int get(int who, uint64_t start, uint64_t end, struct lock_range *r)
{
	*r = (struct lock_range){ .type = F_WRLCK, .start = start, .end = end };
	lock_posix_get(&files[who], &tables[who], false, r);
	return r->type;
}

static void wake(struct waiter *w, uint32_t events)
{
	(void)events;
	waiter_remove(w);
	woken++;
}

static void test_ranges(void)
{
	struct lock_range r;

	eq(set(0, F_WRLCK, 0, 99, false, false), 0, "a lock");
	eq(set(0, F_UNLCK, 40, 59, false, false), 0, "a hole in it");
	eq(get(1, 0, 99, &r), F_WRLCK, "the first part");
	ok(r.start == 0 && r.end == 39 && r.pid == 1, "its borders and holder");
	get(1, 40, 99, &r);
	ok(r.start == 60 && r.end == 99, "the second part");
	eq(get(1, 40, 59, &r), F_UNLCK, "the hole is free");
	eq(set(0, F_RDLCK, 90, 120, false, false), 0, "the end becomes a read lock");
	get(1, 85, 85, &r);
	ok(r.type == F_WRLCK && r.start == 60 && r.end == 89, "the write lock was cut");
	get(1, 100, 100, &r);
	ok(r.type == F_RDLCK && r.start == 90 && r.end == 120, "the read lock is there");
	eq(set(1, F_RDLCK, 100, 200, false, false), 0, "read locks go together");
	eq(set(1, F_WRLCK, 100, 200, false, false), -EAGAIN, "a write lock does not");
	eq(set(0, F_WRLCK, 40, 59, false, false), 0, "the hole is filled");
	get(1, 50, 50, &r);
	ok(r.start == 0 && r.end == 89, "three became one");
	eq(set(2, F_WRLCK, 50, 50, true, false), -EAGAIN, "OFD against POSIX");
	locks_release_posix(&inode, &tables[0]);
	eq(set(2, F_WRLCK, 50, LOCK_TO_EOF, true, false), -EAGAIN, "another process still has one");
	locks_release_posix(&inode, &tables[1]);
	eq(set(2, F_WRLCK, 50, LOCK_TO_EOF, true, false), 0, "to the end");
	eq(get(0, 1000000, 1000000, &r), F_WRLCK, "which is far");
	eq(r.pid, -1, "an OFD lock has no process");
	locks_release_file(&files[2]);
	ok(inode.locks == NULL, "nothing is left");
}

static void test_range_init(void)
{
	struct lock_range r;

	eq(lock_range_init(&r, F_RDLCK, 10, 5, 0), 0, "length 0");
	ok(r.start == 15 && r.end == LOCK_TO_EOF, "is to the end");
	eq(lock_range_init(&r, F_RDLCK, 10, 5, -5), 0, "a negative length");
	ok(r.start == 10 && r.end == 14, "goes backwards");
	eq(lock_range_init(&r, F_RDLCK, 0, 5, -6), -EINVAL, "not before the start");
	eq(lock_range_init(&r, F_RDLCK, 0, -1, 1), -EINVAL, "negative start");
	eq(lock_range_init(&r, F_RDLCK, INT64_MAX, 1, 1), -EOVERFLOW, "overflow of the start");
	eq(lock_range_init(&r, F_RDLCK, INT64_MAX, 0, 2), -EOVERFLOW, "overflow of the end");
	eq(lock_range_init(&r, 7, 0, 0, 1), -EINVAL, "type");
}

static void test_wait(void)
{
	struct waiter w;

	eq(set(0, F_WRLCK, 0, 0, false, false), 0, "1 has a");
	eq(set(1, F_WRLCK, 1, 1, false, false), 0, "2 has b");
	eq(set(0, F_WRLCK, 1, 1, false, true), -EAGAIN, "1 waits for b");
	tasks[0].call.parked = true;
	tasks[0].call.nr = SYS_fcntl;
	eq(set(1, F_WRLCK, 0, 0, false, true), -EDEADLK, "2 must not wait for a");
	eq(set(2, F_WRLCK, 0, 0, false, true), -EAGAIN, "3 may");
	waiter_init(&w, POLLOUT, wake);
	waitq_add(lock_waitq(&inode), &w);
	locks_release_posix(&inode, &tables[1]);
	eq(woken, 1, "a release wakes");
	tasks[0].call.parked = false;
	waiter_init(&w, POLLOUT, wake);
	waitq_add(lock_waitq(&inode), &w);
	locks_release_posix(&inode, &tables[0]);
	eq(woken, 2, "the last release wakes too");
	ok(inode.locks == NULL, "nothing is left");
}

static void test_flock(void)
{
	eq(lock_flock(&files[0], LOCK_SH), 0, "shared");
	eq(lock_flock(&files[1], LOCK_SH | LOCK_NB), 0, "shared by two");
	eq(lock_flock(&files[1], LOCK_EX | LOCK_NB), -EAGAIN, "not exclusive");
	eq(lock_flock(&files[0], LOCK_EX), 0, "the failed upgrade gave its lock up");
	eq(lock_flock(&files[2], LOCK_SH), -EAGAIN, "exclusive");
	eq(lock_flock(&files[0], LOCK_UN), 0, "unlock");
	eq(lock_flock(&files[0], 0), -EINVAL, "no operation");
	ok(inode.locks == NULL, "nothing is left");
}

int main(void)
{
	struct arena_stats stats;

	if (arena_init() < 0)
		return 1;
	for (int i = 0; i < 3; i++) {
		procs[i].pid = i + 1;
		list_init(&procs[i].threads);
		tasks[i].proc = &procs[i];
		list_append(&procs[i].threads, &tasks[i].thread_link);
		files[i].inode = &inode;
		files[i].mode = FMODE_READ | FMODE_WRITE;
		files[i].lock_id = tables[i].lock_id = (uint64_t)i + 1;
		tasks[i].files = &tables[i];
	}
	test_ranges();
	test_range_init();
	test_wait();
	test_flock();
	arena_stats_get(&stats);
	eq(stats.objects, 0, "no object is left");
	return tap_end();
}
