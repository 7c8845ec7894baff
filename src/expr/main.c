/* viv-expr: evaluates expressions of workflows with libjq, and nothing else.
 *
 * An expression can loop for ever and take any amount of memory, and libjq reads bytes that come
 * out of cells. So it never runs in vivd: this process lives for one evaluation, with limits on its
 * processor time, memory and output, no environment, and a filter that leaves it the calls it needs
 * for memory, its streams and its end. It can open no file, so 'import', 'include' and ~/.jq do not
 * work; vivd ends it by the clock as well.
 *
 *   standard input    {"context": VALUE, "exprs": [TEXT, ...]}
 *   standard output   {"values": [VALUE, ...]}, or {"error": TEXT, "at": INDEX}
 *
 * Each expression has the context as its input. Its value is the first that it gives; without any
 * it is null. */
#include <errno.h>
#include <jq.h>
#include <jv.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/workflows/limits.h"

#define INPUT_MAX (WF_RUN_BYTES * 4u)
#define OUTPUT_MAX (WF_RESULT_MAX * 4u)

static const int allowed[] = {
	SYS_read,	    SYS_write,	      SYS_brk,		 SYS_mmap,
	SYS_munmap,	    SYS_mremap,	      SYS_madvise,	 SYS_mprotect,
	SYS_futex,	    SYS_exit,	      SYS_exit_group,	 SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_clock_gettime, SYS_gettimeofday,
	SYS_getrandom,	    SYS_fstat,	      SYS_newfstatat,	 SYS_close,
	SYS_lseek,	    SYS_sched_yield,  SYS_tgkill,	 SYS_getpid,
	SYS_gettid,
};
#define NALLOWED (sizeof(allowed) / sizeof(allowed[0]))

/* Any other call fails with EPERM; one of another kind of program ends this one. */
static int filter_install(void)
{
	struct sock_filter f[2 * NALLOWED + 8];
	struct sock_fprog prog = { .filter = f };
	unsigned short n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, arch));
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < NALLOWED; i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      (unsigned)allowed[i], 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	prog.len = n;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)
		       ? -1
		       : 0;
}

static int limits_set(void)
{
	static const struct {
		int what;
		rlim_t max;
	} limits[] = {
		{ RLIMIT_CPU, WF_EXPR_CPU }, { RLIMIT_AS, WF_EXPR_MEMORY }, { RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 0 },	     { RLIMIT_STACK, 8u << 20 },
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit r = { limits[i].max, limits[i].max };

		if (setrlimit(limits[i].what, &r) < 0 && limits[i].what != RLIMIT_NPROC)
			return -1;
	}
	return 0;
}

/* Everything on standard input; NULL: too much. */
static char *input_read(size_t *ret_n)
{
	size_t n = 0, cap = 65536;
	char *p = malloc(cap);
	ssize_t got;

	while (p && (got = read(0, p + n, cap - n)) > 0) {
		n += (size_t)got;
		if (n == INPUT_MAX)
			return NULL;
		if (n == cap) {
			cap *= 2;
			p = realloc(p, cap);
		}
	}
	*ret_n = n;
	return p;
}

static int answer(jv v)
{
	jv text = jv_dump_string(v, 0);
	const char *p = jv_string_value(text);
	size_t n = (size_t)jv_string_length_bytes(jv_copy(text));

	if (n > OUTPUT_MAX) {
		p = "{\"error\":\"the value is too large\"}";
		n = strlen(p);
	}
	while (n) {
		ssize_t sent = write(1, p, n);

		if (sent <= 0)
			return 1;
		p += sent;
		n -= (size_t)sent;
	}
	jv_free(text);
	return 0;
}

static int failed(const char *why, int at)
{
	char text[400];

	/* It is told as one line, and may have quoted the value that it could not use. */
	snprintf(text, sizeof(text), "%.390s", why);
	text[strcspn(text, "\n")] = '\0';
	return answer(jv_object_set(jv_object_set(jv_object(), jv_string("error"),
						  jv_string_sized(text, (int)strlen(text))),
				    jv_string("at"), jv_number(at)));
}

/* What libjq says about an expression that it cannot read: the first line of it. */
static char complaint[400];

static void on_error(void *arg, jv message)
{
	(void)arg;
	if (!complaint[0] && jv_get_kind(message) == JV_KIND_STRING)
		snprintf(complaint, sizeof(complaint), "%s", jv_string_value(message));
	jv_free(message);
}

/* False: *ret is the error. */
static int evaluate(const char *expr, jv context, jv *ret)
{
	jq_state *jq = jq_init();
	jv message;

	if (!jq) {
		jv_free(context);
		*ret = jv_string("out of memory");
		return 0;
	}
	complaint[0] = '\0';
	jq_set_error_cb(jq, on_error, NULL);
	if (!jq_compile(jq, expr)) {
		jv_free(context);
		*ret = jv_string(complaint[0] ? complaint : "it is not an expression of jq");
		return 0;
	}
	jq_start(jq, context, 0);
	*ret = jq_next(jq);
	if (jv_is_valid(*ret))
		return 1;
	message = jv_invalid_get_msg(*ret);
	*ret = message;
	if (jv_get_kind(message) == JV_KIND_NULL)
		return 1; /* it gave nothing */
	if (jv_get_kind(message) != JV_KIND_STRING)
		*ret = jv_dump_string(message, 0);
	return 0;
}

int main(void)
{
	jv doc, exprs, context, values, v;
	size_t n = 0;
	char *text;

	if (limits_set() < 0 || filter_install() < 0)
		return failed("the process cannot be confined", -1);
	text = input_read(&n);
	doc = text ? jv_parse_sized(text, (int)n) : jv_invalid();
	if (!jv_is_valid(doc))
		return failed("the context is too large", -1);
	free(text);
	exprs = jv_object_get(jv_copy(doc), jv_string("exprs"));
	context = jv_object_get(doc, jv_string("context"));
	values = jv_array();
	for (int i = 0; i < jv_array_length(jv_copy(exprs)); i++) {
		jv expr = jv_array_get(jv_copy(exprs), i);

		if (!evaluate(jv_string_value(expr), jv_copy(context), &v))
			return failed(jv_string_value(v), i);
		values = jv_array_append(values, v);
	}
	return answer(jv_object_set(jv_object(), jv_string("values"), values));
}
