/* Questions that calls wait for: rules that say "ask" (wire/bootspec.h, CTL_ASK). */
#ifndef VIV_KERNEL_CELL_QUESTION_H
#define VIV_KERNEL_CELL_QUESTION_H

#include "base/base.h"
#include "policy/compiled.h"

struct question;
struct task;

/* What a call is about to do. All is borrowed. */
struct asking {
	struct task *task;
	enum scope scope;
	unsigned access; /* FILES_ */
	const char *action, *path, *to, *rule; /* to: "" for none */
};

/* 0: allowed; -EACCES: denied, or too many questions are open; WAITING: not answered yet. Calls
 * that ask the same share one question. */
int question_ask(const struct asking *a);
/* A call was refused: tells viv, unless it was told of too many already. */
void question_refused(const struct asking *a);
/* CTL_ANSWER. */
void question_answer(uint32_t id, bool allowed);
/* There are other rules: calls that wait look at them. */
void questions_changed(void);
/* The call does not ask any more (task/upcalls.h). */
void question_put(struct question *q);

#endif
