/* --trace: calls in the manner of strace, one line each when it leaves (task/gate.h), after lines
 * for what it turned out to mean (task/hooks.h):
 *     [2] -> open "/usr/lib/os-release"
 *     [2] openat(AT_FDCWD, "/etc/os-release", 0x80000, 00) = 3
 * The paths are those of the cell, whatever links, working directory or root the caller has; of a
 * long one the end is shown. Calls that never reach the kernel (NATIVE rows) do not appear. A
 * reader that is slow slows the cell down, as with strace: no line is lost. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/errname.h"
#include "host/host.h"
#include "kernel/net/route.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/dispatch.h"
#include "kernel/task/call.h"
#include "kernel/task/gate.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/name.h"
#include "stub/stub.h"

#define PATH_SHOWN 480 /* two of them fit in a line even if each byte is escaped */

static int trace_fd = -1;

struct line {
	char text[4096];
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

static void line_put(struct line *l)
{
	l->text[l->len++] = '\n';
	(void)host_write(trace_fd, l->text, l->len);
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
	line_put(&l);
}

/* ---- what calls mean ---- */

static void add_path(struct line *l, const struct path *p)
{
	static char text[PATH_MAX_LEN + 16];
	char *start;
	size_t len;

	if (path_text(p, NULL, true, text, sizeof(text), &start, &len) < 0) {
		add(l, "(a file without a path)");
		return;
	}
	len--;
	if (len > PATH_SHOWN) {
		add(l, "...");
		start += len - PATH_SHOWN;
		len = PATH_SHOWN;
	}
	add_bytes(l, start, len, false);
}

static int trace_open_file(struct task *t, const struct path *p, uint32_t flags)
{
	struct line l = { .len = 0 };

	add(&l, "[%d] -> open%s ", t->tid,
	    (flags & O_TMPFILE) == O_TMPFILE ? " a temporary file in" : "");
	add_path(&l, p);
	line_put(&l);
	return 0;
}

static int trace_exec(struct task *t, const struct path *p, bool linker)
{
	struct line l = { .len = 0 };

	(void)linker;

	add(&l, "[%d] -> exec ", t->tid);
	add_path(&l, p);
	line_put(&l);
	return 0;
}

static const char *kind_name(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "FIFO";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
	case S_IFBLK:
		return "device";
	default:
		return "file";
	}
}

static int trace_name(struct task *t, const struct name_change *c)
{
	static const char *const ops[] = { [NAME_CREATE] = "create",
					   [NAME_LINK] = "link",
					   [NAME_RENAME] = "rename",
					   [NAME_EXCHANGE] = "exchange",
					   [NAME_REMOVE] = "remove" };
	struct line l = { .len = 0 };

	add(&l, "[%d] -> %s %s ", t->tid, ops[c->op],
	    kind_name(c->node ? c->node->mode : c->at.name->inode->mode));
	add_path(&l, &c->at);
	if (c->to.name) {
		add(&l, c->op == NAME_EXCHANGE ? " with " : " to ");
		add_path(&l, &c->to);
	}
	line_put(&l);
	return 0;
}

/* An address of IPv4 or IPv6 with its port. */
static void add_ip(struct line *l, const struct destination *d)
{
	bool v4 = ipaddr_is_v4(d->ip);
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, d->ip->b + (v4 ? 12 : 0), text, sizeof(text)))
		return;
	add(l, v4 ? "%s %s:%u" : "%s [%s]:%u", sock_is_stream(d->sock) ? "tcp" : "udp", text,
	    d->port);
}

static int trace_dest(struct task *t, const struct destination *d)
{
	static const char *const uses[] = {
		[DEST_CONNECT] = "connect to", [DEST_SEND] = "send to", [DEST_BIND] = "bind to"
	};
	struct line l = { .len = 0 };

	add(&l, "[%d] -> %s ", t->tid, uses[d->use]);
	if (d->ip) {
		add_ip(&l, d);
	} else if (d->at && d->use != DEST_BIND) {
		add(&l, "unix ");
		add_path(&l, d->at);
	} else {
		const char *name = d->name->u.un.sun_path;
		size_t n = d->name->len - offsetof(struct sockaddr_un, sun_path);

		add(&l, *name ? "unix " : "unix @");
		add_bytes(&l, *name ? name : name + 1, *name ? strnlen(name, n) : n - 1, false);
	}
	line_put(&l);
	return 0;
}

static const struct hooks trace_hooks = {
	.leave = trace_call,
	.open = trace_open_file,
	.exec = trace_exec,
	.name = trace_name,
	.dest = trace_dest,
};

void trace_open(int fd)
{
	trace_fd = fd;
	hooks_add(&trace_hooks);
	hooks_wanted(true);
}
