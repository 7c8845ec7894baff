/* The program in memory: what counts as one of its constants, and what is read-only once it is
 * sealed. */
/* objects: src/base/program.c */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "tap.h"

struct ops {
	int (*answer)(void);
	int (*other)(void);
};

static int answer(void)
{
	return 42;
}

static const struct ops good = { .answer = answer };
static const struct ops empty;
static struct ops variable = { .answer = answer };
static int written_once SEALED;

static int status_of(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		close(2);
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void call_variable(void)
{
	(void)CHECKED((const struct ops *)&variable)->answer();
}

static void call_stack(void)
{
	struct ops made = { .answer = answer };

	(void)CHECKED((const struct ops *)&made)->answer();
}

static void call_heap(void)
{
	struct ops *made = calloc(1, sizeof(*made));

	made->answer = answer;
	(void)CHECKED((const struct ops *)made)->answer();
}

static void call_code(void)
{
	(void)CHECKED((const struct ops *)(uintptr_t)answer)->answer();
}

static void call_null(void)
{
	const struct ops *volatile none = NULL;

	(void)CHECKED(none)->answer();
}

static void write_table(void)
{
	int (*volatile *slot)(void) = (int (*volatile *)(void)) & good.answer;

	*slot = NULL;
}

static void write_sealed(void)
{
	*(volatile int *)&written_once = 2;
}

static struct {
	int (*const *fn)(void);
} object;

int main(void)
{
	eq(CHECKED(&good)->answer(), 42, "a constant table");
	ok(CHECKED(&empty)->answer == NULL, "one without functions");
	object.fn = CALLBACK(answer);
	eq((*CHECKED(object.fn))(), 42, "a callback");
	ok(WIFSIGNALED(status_of(call_variable)), "a table that is a variable");
	ok(WIFSIGNALED(status_of(call_stack)), "one on the stack");
	ok(WIFSIGNALED(status_of(call_heap)), "one on the heap");
	ok(WIFSIGNALED(status_of(call_code)), "code");
	ok(WIFSIGNALED(status_of(call_null)), "none");
	written_once = 1;
	eq(program_seal(), 0, "sealed");
	eq(written_once, 1, "what was written before is there");
#ifndef __SANITIZE_ADDRESS__ /* it ends otherwise then */
	ok(WTERMSIG(status_of(write_table)) == SIGSEGV, "a table is read-only");
#else
	ok(status_of(write_table) != 0, "a table is read-only");
#endif
#ifdef VIV_SEAL_LATE
	ok(WTERMSIG(status_of(write_sealed)) == SIGSEGV, "a sealed variable, too");
#else
	(void)write_sealed;
#endif
	ok(program_base() % PAGE_SIZE == 0 && (uintptr_t)&good > program_base(),
	   "where the program is");
	return tap_end();
}
