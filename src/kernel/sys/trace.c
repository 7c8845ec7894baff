/* --trace: calls in the manner of strace, one line each when it leaves (task/gate.h):
 *     [2] openat(AT_FDCWD, "/etc/passwd", 0x80000, 00) = 3
 * Calls that never reach the kernel (NATIVE rows) do not appear. A reader that is slow slows the
 * cell down, as with strace: no line is lost. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/errname.h"
#include "host/host.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/dispatch.h"
#include "kernel/task/call.h"
#include "kernel/task/gate.h"
#include "stub/stub.h"
#include "kernel/task/task.h"

static int trace_fd = -1;

struct line {
	char text[1024];
	size_t len;
};

static void add(struct line *l, const char *fmt, ...) printf_like(2, 3);
static void add(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len = MIN(l->len + (size_t)n, sizeof(l->text) - 2);
}

static void add_bytes(struct line *l, const char *s, size_t n, bool cut)
{
	add(l, "\"");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '\n')
			add(l, "\\n");
		else if (c == '\t')
			add(l, "\\t");
		else if (c == '"' || c == '\\')
			add(l, "\\%c", c);
		else if (c < 32 || c > 126)
			add(l, "\\%o", c);
		else
			add(l, "%c", c);
	}
	add(l, cut ? "\"..." : "\"");
}

static void add_arg(struct line *l, const struct task *t, char kind, const uint64_t *arg)
{
	char buf[65];
	int n;

	switch (kind) {
	case 'd':
		add(l, "%d", (int)*arg);
		break;
	case 'u':
		add(l, "%llu", (unsigned long long)*arg);
		break;
	case 'o':
		add(l, "0%o", (unsigned)*arg);
		break;
	case 'f':
		if ((int)*arg == -100)
			add(l, "AT_FDCWD");
		else
			add(l, "%d", (int)*arg);
		break;
	case 's':
		n = *arg ? guest_read_str(t->tid, buf, *arg, sizeof(buf)) : -EFAULT;
		if (n >= 0)
			add_bytes(l, buf, (size_t)n, false);
		else if (n == -ENAMETOOLONG)
			add_bytes(l, buf, 32, true);
		else
			add(l, *arg ? "%#llx" : "NULL", (unsigned long long)*arg);
		break;
	case 'b': {
		size_t want = MIN(arg[1], 32), got = guest_read_some(t->tid, buf, *arg, want);

		add_bytes(l, buf, got, arg[1] > 32);
		break;
	}
	default:
		if (*arg)
			add(l, "%#llx", (unsigned long long)*arg);
		else
			add(l, kind == 'p' ? "NULL" : "0");
	}
}

static void trace_call(const struct task *t, int64_t ret)
{
	const struct call *c = &t->call;
	const char *name = syscall_name(c->nr), *fmt = syscall_format(c->nr);
	struct line l = { .len = 0 };

	/* The stub's own bookkeeping is not the guest's doing; what it stands for has a name of its
	 * own. */
	if (c->nr > HC_BASE && c->nr != HC_MMAP && c->nr != HC_EXEC_PREP && c->nr != HC_PSELECT6 &&
	    c->nr != HC_SHMAT && c->nr != HC_SHMDT && c->nr != HC_SECCOMP && c->nr != HC_IO_SETUP &&
	    c->nr != HC_IO_DESTROY)
		return;
	/* Carried out by the host, which does not say how it went. */
	if (ret == CALL_NATIVE || ret == CALL_EXIT)
		return;
	if (c->nr == HC_MMAP) {
		name = "mmap"; /* the address is the host's to choose */
		ret = ret > 0 ? 0 : ret;
	}
	if (c->nr == HC_SECCOMP) /* where the host gets it from */
		ret = ret > 0 ? 0 : ret;
	if (c->nr == HC_EXEC_PREP)
		name = "execve";
	add(&l, "[%d] ", t->tid);
	if (name)
		add(&l, "%s(", name);
	else
		add(&l, "syscall_%d(", c->nr);
	for (int i = 0; fmt && fmt[i] && i < 6; i++) {
		if (i)
			add(&l, ", ");
		add_arg(&l, t, fmt[i], &c->args.a[i]);
	}
	if (ret == CALL_LOST)
		add(&l, ") = ?");
	else if (ret == -ERESTARTSYS)
		add(&l, ") = ? ERESTARTSYS (Interrupted by a signal)");
	else if (ret < 0 && ret > -4096)
		add(&l, ") = -1 %s (%s)%s", errno_name((int)-ret), strerror((int)-ret),
		    ret == -ENOSYS ? " [not implemented]" : "");
	else
		add(&l, ret > 0xffff ? ") = %#llx" : ") = %lld", (unsigned long long)ret);
	l.text[l.len++] = '\n';
	(void)host_write(trace_fd, l.text, l.len);
}

void trace_open(int fd)
{
	trace_fd = fd;
	call_hooks.trace = trace_call;
}
