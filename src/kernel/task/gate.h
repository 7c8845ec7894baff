/* The gate: where system calls enter and leave.
 *
 * Every call of a thread enters through call_enter(), however it came, and leaves exactly once
 * through call_leave(), whichever way its answer takes:
 *
 *   notified by the host, from guest code or the stub (HC_*) ─┐
 *   posted into a box (sys/post.c) ───────────────────────────┤
 *                                                             ▼
 *                          call_enter() ─▶ handler, maybe often ─▶ call_leave() ─┐
 *                                                                                │
 *   the notification is answered ◀───────────────────────────────────────────────┤
 *   the slot of the box ◀────────────────────────────────────────────────────────┤
 *   a reserved signal, to a thread that was sent to wait in the                  │
 *   stub (task/detach.c) ◀───────────────────────────────────────────────────────┤
 *   the host carries the call out ◀──────────────────────────────────────────────┤
 *   nobody: the thread is gone ◀─────────────────────────────────────────────────┘
 *
 * At both ends the task, the call, its arguments (t->call) and, at the second, the result are
 * known. So this is the place for whatever sees all calls (hooks.h).
 *
 * What is not a call of a task is answered with call_reply(): the announcement of a new thread, the
 * seed's questions, and those of the stub about a call that waits elsewhere. */
#ifndef VIV_KERNEL_TASK_GATE_H
#define VIV_KERNEL_TASK_GATE_H

#include "host/notify.h"
#include "kernel/task/call.h"
#include "kernel/task/hooks.h"

#define ERESTARTSYS 512 /* the host's */

/* t makes the call in, which is number nr. What it was in before ends. */
void call_enter(struct task *t, const struct host_call *in, int nr, enum call_way way);
/* The same call, made again by a thread that waits for its end in the stub. */
void call_enter_again(struct task *t, const struct host_call *in);
/* The call ends with ret: frees what it holds, answers. After CALL_EXIT t is gone. WAITING is for a
 * posted call: it has had no effect and is made again. */
void call_leave(struct task *t, int64_t ret);

/* The call goes on, and its thread is sent to wait for the end in the stub: WAY_SIGNAL or
 * WAY_ARMED. */
void call_divert(struct task *t, enum call_way way);
/* Answers what is no call of a task. */
void call_reply(uint64_t id, int64_t ret);

#endif
