/* See question.h.
 *
 * A question lives while a call waits for it, and a second longer: a call that a signal cuts short
 * is often made again at once, and finds the same question. When nobody has come back by then it is
 * withdrawn. An answer is for the calls that wait at that time; the next one asks anew. Only a
 * start of a program that comes by several questions, and is made again for a later one, finds the
 * earlier ones answered.
 *
 * A program is started by the stub, which has all signals blocked until the kernel has answered
 * (sys/exec.c). So such a call comes back to the program from time to time, and is made again. */
#include "kernel/cell/question.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/cell/control.h"
#include "kernel/task/clock.h"
#include "kernel/task/gate.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/path.h"
#include "stub/stub.h"
#include "wire/bootspec.h"

#define LINGER_NS NSEC_PER_SEC
#define EXEC_TURN_NS (NSEC_PER_SEC / 4)
#define REFUSALS_MAX 20 /* that are told in a second */
#define WITHDRAWN_MAX 64 /* in a minute: then no more questions in it */

struct question {
	struct list link;
	uint32_t id;
	uint32_t refs; /* calls that wait */
	uint64_t print; /* of all that is asked: the same for the same */
	enum { OPEN, ALLOWED, DENIED } state;
	bool exec; /* about the start of a program */
	pid_t used; /* the thread whose call the answer was for, the last of them; 0: none yet */
	struct waitq q;
	struct ktimer timer; /* the end of its last second */
};
OBJ_TYPE(question_type, struct question, CTL_ASK_MAX);

static struct list questions = LIST_INIT(questions);
static uint32_t id_last;
static int64_t minute; /* in which so many were withdrawn */
static unsigned withdrawn;

/* ---- telling viv ---- */

static const char *program_of(const struct task *t, char *buf, size_t size)
{
	char *text;
	size_t len;

	if (!t->proc->exe || !t->proc->exe->path.name ||
	    path_text(&t->proc->exe->path, NULL, false, buf, size, &text, &len) < 0)
		return "";
	return text;
}

static void tell_text(struct ctl_msg *m, unsigned which, const char *text, bool last)
{
	size_t len = strlen(text);

	do {
		size_t n = MIN(len, sizeof(m->text) - 1);

		memset(m->text, 0, sizeof(m->text));
		memcpy(m->text, text, n);
		text += n;
		len -= n;
		m->flags = (m->flags & ~15u) | which | (last && !len ? CTL_ASK_LAST : 0);
		control_tell(m);
	} while (len);
}

static void tell(const struct asking *a, uint32_t id)
{
	static char program[PATH_MAX_LEN + 16];
	struct ctl_msg m = { .type = CTL_ASK,
			     .id = id,
			     .a = (int32_t)a->scope,
			     .b = a->task->proc->pid,
			     .flags = a->access << CTL_ASK_ACCESS };

	tell_text(&m, CTL_ASK_ACTION, a->action, false);
	tell_text(&m, CTL_ASK_PATH, a->path, false);
	if (*a->to)
		tell_text(&m, CTL_ASK_TO, a->to, false);
	tell_text(&m, CTL_ASK_PROGRAM, program_of(a->task, program, sizeof(program)), false);
	tell_text(&m, CTL_ASK_RULE, a->rule, true);
}

void question_refused(const struct asking *a)
{
	static int64_t second;
	static unsigned told;
	int64_t now = now_mono() / NSEC_PER_SEC;

	if (now != second)
		told = 0;
	second = now;
	if (told++ < REFUSALS_MAX)
		tell(a, 0);
}

/* ---- the life of a question ---- */

static void question_free(struct question *q)
{
	ktimer_stop(&q->timer);
	list_remove(&q->link);
	obj_free(&question_type, q);
}

static void linger_end(struct ktimer *timer)
{
	struct question *q = container_of(timer, struct question, timer);
	const struct ctl_msg m = { .type = CTL_WITHDRAW, .id = q->id };

	if (q->refs)
		return;
	if (q->state == OPEN) {
		control_tell(&m);
		withdrawn++;
	}
	question_free(q);
}

void question_put(struct question *q)
{
	if (--q->refs)
		return;
	if (q->used && !q->exec)
		question_free(q);
	else if (ktimer_start(&q->timer, now_mono() + LINGER_NS) < 0)
		linger_end(&q->timer);
}

/* It starts a program. */
static bool call_is_in_stub(const struct task *t)
{
	return t->call.nr >= HC_BASE;
}

static uint64_t print_of(const struct asking *a)
{
	static char program[PATH_MAX_LEN + 16];
	const char *texts[] = { a->action, a->path, a->to, a->rule,
				program_of(a->task, program, sizeof(program)) };
	const uint32_t head[] = { a->scope, a->access };
	uint64_t print = hooks_print(0, head, sizeof(head));

	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		print = hooks_print(print, texts[i], strlen(texts[i]) + 1);
	return print;
}

static struct question *question_find(const struct task *t, uint64_t print)
{
	struct question *q = t->call.asked.question;

	if (q && q->print == print)
		return q;
	list_for_each(q, &questions, link)
		if (q->print == print && (!q->used || (call_is_in_stub(t) && q->used == t->tid)))
			return q;
	return NULL;
}

static struct question *question_new(const struct asking *a, uint64_t print)
{
	int64_t now = now_mono() / (60 * NSEC_PER_SEC);
	struct question *q;

	/* Who asks and does not wait for the answer would fill the lists of others. */
	if (now != minute)
		withdrawn = 0;
	minute = now;
	q = withdrawn < WITHDRAWN_MAX ? obj_new(&question_type) : NULL;
	if (!q)
		return NULL;
	q->id = ++id_last ? id_last : ++id_last;
	q->print = print;
	q->exec = a->scope == SCOPE_EXEC;
	waitq_init(&q->q);
	ktimer_init(&q->timer, linger_end);
	list_init(&q->link);
	list_append(&questions, &q->link);
	tell(a, q->id);
	return q;
}

int question_ask(const struct asking *a)
{
	struct task *t = a->task;
	uint64_t print = print_of(a);
	struct question *q = question_find(t, print);

	if (!q)
		q = question_new(a, print);
	if (!q) {
		question_refused(a);
		return -EACCES;
	}
	if (t->call.asked.question != q) {
		if (t->call.asked.question)
			question_put(t->call.asked.question);
		t->call.asked.question = q;
		q->refs++;
		ktimer_stop(&q->timer);
	}
	if (q->state != OPEN) {
		q->used = t->tid;
		return q->state == ALLOWED ? 0 : -EACCES;
	}
	if (call_is_in_stub(t) && call_is_expired(t))
		return -ERESTARTSYS;
	if (call_is_in_stub(t))
		call_set_timeout(t, EXEC_TURN_NS);
	return call_wait(t, &q->q, POLLIN, PARK_RESTART);
}

void question_answer(uint32_t id, bool allowed)
{
	struct question *q;

	list_for_each(q, &questions, link)
		if (q->id == id && q->state == OPEN) {
			q->state = allowed ? ALLOWED : DENIED;
			waitq_wake(&q->q, POLLIN);
			return;
		}
}

void questions_changed(void)
{
	struct question *q;

	list_for_each(q, &questions, link)
		waitq_wake(&q->q, POLLIN);
}
