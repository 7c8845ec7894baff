/* The least of a cell that handlers need: one process with this program's number, so that its
 * memory is the guest's, on an empty tmpfs. Contents of files lie in a new folder in TMPDIR, which
 * whoever starts the fuzzer removes. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/kept.h"
#include "kernel/sys/limits.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/gate.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/task/upcalls.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"

static struct task *task;
/* What must not be left over; names and inodes stay in caches. */
static const char *const counted[] = { "file", "packet", "netlink_sock", "inet_sock", "unix_sock", "unix_name", "exec_state" };
static uint32_t before[ARRAY_LEN(counted)];

static int scratch_open(void)
{
	const char *top = getenv("TMPDIR");
	char dir[256];

	snprintf(dir, sizeof(dir), "%s/scratch.XXXXXX", top ? top : "/tmp");
	return mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

struct task *world_task(void)
{
	struct mount *m;
	struct path root;
	struct proc *p;
	struct fs *fs;

	if (task)
		return task;
	if (arena_init() < 0)
		abort();
	now_update();
	task_upcalls.call_run = dispatch_run;
	task_upcalls.call_release = kept_release;
	cell.spec.max_files = 4096;
	cell.spec.max_tasks = 64;
	cell.spec.cpus = 1;
	cell.proc_fd = -1;
	cell.scratch_fd = scratch_open();
	fs = layer_new(NULL, 16 << 20, 4096, "tmpfs");
	if (!fs || mount_add(fs, NULL, 0, "fuzz", &m) < 0)
		abort();
	root = (struct path){ .mnt = m, .name = name_get(m->root) };
	p = proc_new(getpid(), NULL);
	task = p ? task_new(p, getpid()) : NULL;
	if (!task)
		abort();
	p->pgid = p->sid = p->pid;
	limits_init(p);
	cred_init(&task->cred, 0, 0);
	task->files = fdtable_new();
	task->fs = fsctx_new(&root, &root, 022);
	if (!task->files || !task->fs)
		abort();
	return task;
}

int64_t world_call(int64_t (*handler)(struct task *t, const struct sysargs *a), uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		   uint64_t a4, uint64_t a5)
{
	struct sysargs a = { { a0, a1, a2, a3, a4, a5 } };
	int64_t ret;

	task->call = (struct call){ .args = a, .active = true };
	list_init(&task->call.ready_link);
	list_init(&task->call.waiting_link);
	task_current = task;
	ret = handler(task, &a);
	task_current = NULL;
	call_leave(task, CALL_LOST);
	return ret == WAITING ? -EAGAIN : ret;
}

static uint32_t count_of(const char *name)
{
	const struct obj_type *type = obj_type_find(name);

	return type ? type->count : 0;
}

void world_mark(void)
{
	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		before[i] = count_of(counted[i]);
}

void world_check(void)
{
	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		FUZZ_CHECK(count_of(counted[i]) == before[i]);
}
