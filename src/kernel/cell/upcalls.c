/* Upcalls: where a lower layer calls a higher one.
 *
 * A file may include only its own layer and lower ones (tools/check-layers). What a lower layer has
 * to ask of a higher one goes through a pointer to a function, and all of them are set here, before
 * anything else happens; after program_seal() they are read-only
 * (docs/decisions/0029-hardening.md). Their contracts are in the headers of the lower layer.
 *
 * What watches or restricts calls is not here but in task/hooks.h. */
#include "kernel/cell/upcalls.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/program.h"
#include "wire/bootspec.h"
#include "kernel/cell/control.h"
#include "kernel/cell/end.h"
#include "kernel/cell/launch.h"
#include "kernel/cell/question.h"
#include "kernel/fs/dev/dev.h"
#include "kernel/fs/epoll/epoll.h"
#include "kernel/fs/inotify/inotify.h"
#include "kernel/fs/pipe/pipe.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/fs/proc/procmap.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/ipc/ipc.h"
#include "kernel/ipc/procipc.h"
#include "kernel/net/door.h"
#include "kernel/net/procnet.h"
#include "kernel/sys/aio.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/kept.h"
#include "kernel/sys/rest.h"
#include "kernel/sys/wasm.h"
#include "kernel/task/itimer.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/task/upcalls.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/upcalls.h"

static void on_task_gone(struct task *t)
{
	rest_gone(t);
	fast_gone(t);
	seccomp_gone(t);
	if (t->files)
		fdtable_put(t->files, t);
	if (t->fs)
		fsctx_put(t->fs);
	t->files = NULL;
	t->fs = NULL;
}

static void on_proc_gone(struct proc *p)
{
	births_reparent(p);
	ipc_proc_gone(p);
	exec_state_free(p);
	exec_release(p);
	aio_free(p);
	timers_free(p);
	if (p->sid == p->pid)
		tty_session_ended(p);
	if (p->launch)
		launch_ended(p);
}

static void say_line(const char *line)
{
	control_say(CTL_LOG, 0, "%s", line);
}

static void say_damage(const char *text)
{
	control_say(CTL_FAIL, 125, "%s", text);
}

static void on_arena_warn(const struct obj_type *type)
{
	control_say(CTL_EVENT, 0, "the cell uses %u of at most %u objects of type %s", type->count,
		    type->limit, type->name);
}

void upcalls_init(void)
{
	log_sink = say_line;
	damage_sink = say_damage;
	arena_warn = on_arena_warn;
	task_upcalls = (struct task_upcalls){
		.call_run = dispatch_run,
		.call_release = kept_release,
		.question_put = question_put,
		.task_gone = on_task_gone,
		.proc_gone = on_proc_gone,
		.signal_unborn = births_signal,
		.cell_ended = cell_end,
		.cell_stopped = control_stopped,
	};
	vfs_upcalls = (struct vfs_upcalls){
		.fifo_open = fifo_open,
		.dev_open = dev_open,
		.file_gone = epoll_file_gone,
		.name_gone = procmap_name_gone,
		.ctx_gone = fast_name_gone,
		.files_full = fast_files_full,
		.notify = inotify_notify,
	};
	proc_net_show = procnet_show;
	proc_ipc_show = procipc_show;
	wasm_missing = say_line;
	door_tell = control_tell;
}
