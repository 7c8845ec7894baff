/* The system call table: every row that says KERNEL has a handler, every REFUSED one has an answer
 * and a reason, and no number stands twice. Linked with the whole kernel. */
#include <stdio.h>
#include <string.h>

#include "kernel/sys/handlers.h"
#include "kernel/sys/refused.h"
#include "kernel/task/task.h"
#include "tap.h"

typedef int64_t (*handler_fn)(struct task *, const struct sysargs *);

static const struct row {
	int nr;
	const char *name, *status;
	handler_fn fn;
} rows[] = {
#define SYSCALL(nr, name, status, format) { nr, #name, #status, sys_##name },
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
};

int main(void)
{
	int missing = 0, reasons = 0, order = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];

		if (!strcmp(r->status, "KERNEL") && !r->fn) {
			printf("# no handler: %s\n", r->name);
			missing++;
		}
		if (!strcmp(r->status, "REFUSED") != (refused_reason(r->nr) != NULL)) {
			printf("# REFUSED and sys/refused.c disagree: %s\n", r->name);
			reasons++;
		}
		if (i && r->nr <= rows[i - 1].nr) {
			printf("# out of order: %s\n", r->name);
			order++;
		}
	}
	eq(missing, 0, "every KERNEL row has a handler");
	eq(reasons, 0, "REFUSED rows and the list of reasons agree");
	eq(order, 0, "numbers go up");
	return tap_end();
}
