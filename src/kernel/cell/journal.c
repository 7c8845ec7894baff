/* What a cell does, put into the ring of its journal (host/journalring.h).
 *
 * The kernel tells its observer (task/observe.h) what has happened, before the call is answered: so
 * what a guest knows to have happened is in the ring, which outlives this process. A ring that is
 * full makes the call wait, and with it the cell.
 *
 *   reads    of a regular file: once by a process and program. What it has read is a set of
 *            fingerprints, which is emptied when it is full: then a file is recorded again
 *   writes   an open file notes which processes have changed it, and a record is made for each of
 *            them when it is closed: the last reference or the end of the cell; and of a process
 *            that ends or executes another program before that, so that none is named for what
 *            another one did. There is room for WRITERS; of more, the one that wrote least recently
 *            is recorded at once. What is written through memory: mapped.c
 *   changes  of attributes: several by one process in a row, of one file, are one record
 *   content  a while after that (contents.c)
 *
 * Not recorded: what the kernel does for the operator; directories, pipes, devices and sockets that
 * are opened; files without a path (memfd); stat and the like. */
#include "kernel/cell/journal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/list.h"
#include "host/host.h"
#include "host/journalring.h"
#include "kernel/cell/question.h"
#include "kernel/net/route.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/hooks.h"
#include "kernel/task/observe.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "policy/compiled.h"

#define WRITERS 4
#define SEEN 128 /* a power of two */
#define IN_A_ROW (100 * 1000000LL)

/* A process that changed an open file. */
struct writer_of {
	struct list of_file, of_proc;
	struct change *c;
	int pid; /* 0: nobody in the cell */
};

/* An open file that was changed. */
struct change {
	struct list link;
	struct file *f; /* whose it is */
	struct list writers; /* the last one first: at most WRITERS */
	unsigned nwriters;
	int last; /* who changed it last, and may be gone */
};

struct seen_files {
	uint32_t count;
	uint64_t prints[SEEN]; /* 0: free */
};

OBJ_TYPE(change_type, struct change, 0);
OBJ_TYPE(writer_type, struct writer_of, 0);
OBJ_TYPE(seen_type, struct seen_files, 0);

static struct ring_writer writer;
static struct list changes = LIST_INIT(changes);
static uint64_t nput; /* records of this process */

void journal_put(enum journal_kind kind, const void *record, int pid)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	size_t n;

	if (!writer.ring)
		return;
	n = journal_encode(kind, record, pid, now_mono(), now_real(), frame);
	if (n)
		ring_writer_put(&writer, frame, n);
	nput++;
}

#define PUT(ID, who, ...) journal_put(J_##ID, &(const struct journal_##ID){ __VA_ARGS__ }, who)

/* ---- texts ---- */

static struct jtext text_of(const char *s)
{
	return (struct jtext){ s, (uint32_t)strlen(s) };
}

static struct jtext path_to(const struct path *p, char *buf, size_t size)
{
	static const char lost[] = "(lost)"; /* no path begins so */
	char *text;
	size_t len, at = size;

	if (!p->name)
		return (struct jtext){ "", 0 };
	if (path_text(p, NULL, false, buf, size, &text, &len) >= 0)
		return (struct jtext){ text, (uint32_t)len - 1 };
	/* Too long, or in no tree: its end, as its file system has it. */
	for (const struct name *n = p->name; n->parent && at >= n->len + sizeof(lost) + 1;
	     n = n->parent) {
		at -= n->len;
		memcpy(buf + at, n->str, n->len);
		buf[--at] = '/';
	}
	at -= sizeof(lost) - 1;
	memcpy(buf + at, lost, sizeof(lost) - 1);
	return (struct jtext){ buf + at, (uint32_t)(size - at) };
}

struct jtext journal_path(const struct path *p)
{
	static char buf[PATH_MAX_LEN + 16];

	return path_to(p, buf, sizeof(buf));
}

/* The same of an entry of a directory. */
static struct jtext entry_to(const struct path *dir, const char *name, size_t len, char *buf,
			     size_t size)
{
	struct jtext t = path_to(dir, buf, size - len - 1);
	size_t n = t.n;

	memmove(buf, t.p, n);
	if (n == 1 && buf[0] == '/')
		n = 0;
	buf[n++] = '/';
	memcpy(buf + n, name, len);
	return (struct jtext){ buf, (uint32_t)(n + len) };
}

static pid_t pid_current(void)
{
	return task_current && task_current->proc ? task_current->proc->pid : 0;
}

/* ---- files ---- */

/* Whether this process has read it before; from now on it has. */
static bool was_read(struct proc *p, const struct inode *ino)
{
	const uint64_t ids[] = { ino->fs->dev, ino->ino };
	uint64_t print = hooks_print(0, ids, sizeof(ids));
	struct seen_files *s = p->seen;
	uint32_t at;

	print += !print;
	if (!s)
		s = p->seen = obj_new(&seen_type);
	if (!s)
		return false;
	for (at = (uint32_t)print % SEEN; s->prints[at]; at = (at + 1) % SEEN)
		if (s->prints[at] == print)
			return true;
	if (s->count == SEEN * 3 / 4) {
		memset(s, 0, sizeof(*s));
		at = (uint32_t)print % SEEN;
	}
	s->prints[at] = print;
	s->count++;
	return false;
}

static void on_opened(struct task *t, struct file *f, uint32_t flags, bool created)
{
	struct jtext path;
	bool cut = (flags & O_TRUNC) && !created; /* which is noted already */

	if (!inode_is_reg(f->inode) || !f->path.name)
		return;
	if (!(f->mode & FMODE_WRITE) && !cut) {
		if (cell.spec.journal != JOURNAL_ALL || was_read(t->proc, f->inode))
			return;
		path = journal_path(&f->path);
		if (path.n)
			PUT(READ, t->proc->pid, .path = path);
		return;
	}
	path = journal_path(&f->path);
	if (path.n)
		PUT(OPEN, t->proc->pid, .path = path, .flags = flags);
}

/* By the name that it was opened by; if that is gone, by another one that is known. */
static void written(const struct file *f, int pid)
{
	const struct path *at = f->path.name->deleted ? content_place_of(f->inode) : NULL;
	struct jtext path = journal_path(at ? at : &f->path);

	if (path.n)
		PUT(WRITE, pid, .path = path, .size = f->inode->size);
}

static void writer_free(struct writer_of *w)
{
	list_remove(&w->of_file);
	list_remove(&w->of_proc);
	w->c->nwriters--;
	obj_free(&writer_type, w);
}

static void writer_record(struct writer_of *w)
{
	written(w->c->f, w->pid);
	writer_free(w);
}

static struct change *change_of(struct file *f)
{
	struct change *c = f->change;

	if (c)
		return c;
	c = obj_new(&change_type);
	if (!c)
		return NULL;
	c->f = f;
	list_init(&c->link);
	list_init(&c->writers);
	list_append(&changes, &c->link);
	f->change = c;
	return c;
}

static void on_wrote(struct file *f)
{
	struct proc *p = task_current ? task_current->proc : NULL;
	int pid = p ? p->pid : 0;
	struct change *c = f->change;
	struct writer_of *w;

	if (c && !list_is_empty(&c->writers) &&
	    list_first(&c->writers, struct writer_of, of_file)->pid == pid)
		return;
	if (!inode_is_reg(f->inode) || !f->path.name)
		return;
	c = change_of(f);
	if (c) {
		c->last = pid;
		list_for_each(w, &c->writers, of_file)
			if (w->pid == pid) {
				list_remove(&w->of_file);
				list_push(&c->writers, &w->of_file);
				return;
			}
	}
	w = c ? obj_new(&writer_type) : NULL;
	if (!w) { /* then of each write */
		written(f, pid);
		content_changed(&f->path, f->inode, pid);
		return;
	}
	if (c->nwriters == WRITERS)
		writer_record(list_last(&c->writers, struct writer_of, of_file));
	w->c = c;
	w->pid = pid;
	list_init(&w->of_file);
	list_init(&w->of_proc);
	list_push(&c->writers, &w->of_file);
	c->nwriters++;
	if (p)
		list_append(&p->written, &w->of_proc);
}

static void on_closed(struct file *f)
{
	struct change *c = f->change;

	while (!list_is_empty(&c->writers))
		writer_record(list_last(&c->writers, struct writer_of, of_file));
	if (!f->inode->nlink && f->inode->unsteady)
		maps_forget(f->inode, false);
	content_changed(&f->path, f->inode, c->last);
	f->change = NULL;
	list_remove(&c->link);
	obj_free(&change_type, c);
}

/* The process goes, or its program: what it changed is recorded while its number means it. */
static void writer_leaves(struct proc *p)
{
	while (!list_is_empty(&p->written))
		writer_record(list_first(&p->written, struct writer_of, of_proc));
	maps_leave(p);
}

static int on_mapped(struct task *t, struct file *f)
{
	return inode_is_reg(f->inode) && f->path.name ? maps_add(t->proc, f) : 0;
}

static int on_copied(struct task *t, bool shared, struct maps **ret)
{
	return maps_give(t->proc, shared, ret);
}

static void on_named(struct task *t, const struct name_done *d)
{
	static char at[2 * PATH_MAX_LEN], to[2 * PATH_MAX_LEN];
	pid_t pid = t->proc->pid;
	struct jtext path;

	if (!t->call.active)
		return;
	path = entry_to(d->dir, d->name, d->len, at, sizeof(at));
	switch ((enum name_op)d->op) {
	case NAME_CREATE:
		PUT(CREATE, pid, .path = path, .mode = d->ino->mode,
		    .target = text_of(d->target ? d->target : ""));
		break;
	case NAME_REMOVE:
		PUT(REMOVE, pid, .path = path);
		break;
	case NAME_LINK:
		PUT(LINK, pid, .path = journal_path(d->old), .to = path);
		content_moved(d->made, pid);
		break;
	case NAME_RENAME:
	case NAME_EXCHANGE:
		PUT(RENAME, pid, .path = path,
		    .to = entry_to(d->dir2, d->name2, d->len2, to, sizeof(to)),
		    .exchange = d->op == NAME_EXCHANGE, .replaced = d->ino ? d->ino->mode : 0);
		break;
	}
}

/* Whether the last record of all is a change of this file by this process, a moment ago: several
 * calls in a row are one change. */
static bool was_changed(struct jtext path, int pid)
{
	static char text[PATH_MAX_LEN + 16];
	static struct {
		uint64_t nput;
		int64_t at;
		uint32_t n;
		int pid;
	} last;
	bool same = last.nput == nput && last.pid == pid && now_mono() - last.at < IN_A_ROW &&
		    last.n == path.n && !memcmp(text, path.p, path.n);

	if (same || path.n > sizeof(text))
		return same;
	memcpy(text, path.p, path.n);
	last.nput = nput + 1; /* which is put next */
	last.at = now_mono();
	last.n = path.n;
	last.pid = pid;
	return false;
}

/* Nobody finds it any more: its room is free when its last user goes, and not later. */
static void on_removed(const struct name *n)
{
	struct inode *ino = n->inode;

	if (!ino->nlink && ino->unsteady)
		maps_forget(ino, true);
	if (ino->content)
		content_forget(n);
}

static void on_changed(struct task *t, const struct path *p, bool size)
{
	struct jtext path;

	if (!t->call.active)
		return;
	path = journal_path(p);
	if (!path.n)
		return;
	if (!was_changed(path, t->proc->pid))
		PUT(CHANGE, t->proc->pid, .path = path);
	if (size)
		content_changed(p, p->name->inode, t->proc->pid);
}

static void on_mounted(struct task *t, const struct path *p)
{
	PUT(MOUNT, t->proc->pid, .path = journal_path(p));
}

/* ---- processes ---- */

static void on_forked(const struct proc *p, int parent)
{
	PUT(FORK, p->pid, .parent = (uint64_t)parent);
}

/* As /proc/PID/exe and /proc/PID/cmdline have them. */
static void on_executed(struct task *t)
{
	static char exe[PATH_MAX_LEN + 16], cwd[PATH_MAX_LEN + 16], args[JOURNAL_TEXT_MAX];
	struct proc *p = t->proc;
	uint64_t n = p->arg_end > p->arg_start ? p->arg_end - p->arg_start : 0;
	size_t got = guest_read_some(t->tid, args, p->arg_start, MIN(n, sizeof(args)));
	int len = p->exe ? file_label(p->exe, NULL, exe, sizeof(exe)) : 0;
	struct jtext path = { exe, len > 0 ? (uint32_t)len : 0 };
	uint8_t hash[JOURNAL_HASH];
	bool known = p->exe && inode_hash(p->exe->inode, hash) == 0;

	writer_leaves(p);
	if (len < 0)
		path = path_to(&p->exe->path, exe, sizeof(exe));
	/* Each word ends. */
	if (got && args[got - 1])
		args[got == sizeof(args) ? got - 1 : got++] = '\0';
	PUT(EXEC, p->pid, .path = path, .args = { args, (uint32_t)got },
	    .cwd = path_to(&t->fs->cwd, cwd, sizeof(cwd)),
	    .parent = p->launch ? 0 : (uint64_t)proc_ppid(p), .uid = t->cred.uid,
	    .hash = known ? hash : NULL);
	if (p->seen)
		memset(p->seen, 0, sizeof(*p->seen));
}

static void on_exited(struct proc *p)
{
	int s = p->wait_status;

	if (p->seen)
		obj_free(&seen_type, p->seen);
	p->seen = NULL;
	writer_leaves(p);
	PUT(EXIT, p->pid, .code = WIFEXITED(s) ? (uint64_t)WEXITSTATUS(s) : 0,
	    .signal = WIFSIGNALED(s) ? (uint64_t)WTERMSIG(s) : 0);
}

/* ---- the network, and rules ---- */

static void on_disconnected(bool tcp, const struct ipaddr *a, uint16_t port, uint64_t in,
			    uint64_t out, uint32_t number)
{
	bool v4 = ipaddr_is_v4(a);
	char text[INET6_ADDRSTRLEN] = "";

	(void)!inet_ntop(v4 ? AF_INET : AF_INET6, a->b + (v4 ? 12 : 0), text, sizeof(text));
	PUT(CLOSE, pid_current(), .protocol = text_of(tcp ? "tcp" : "udp"),
	    .address = text_of(text), .port = port, .in = in, .out = out, .connection = number);
}

void journal_denied(const struct asking *a)
{
	static char what[JOURNAL_TEXT_MAX];
	size_t n = 0;

	if (!writer.ring)
		return;
	n += strnlen(a->action, 32);
	memcpy(what, a->action, n);
	what[n++] = ' ';
	for (const char *const *text = (const char *const[]){ a->path, a->to, NULL }; *text;
	     text++) {
		size_t len = MIN(strlen(*text), (sizeof(what) - n - 1) / 2);

		if (text[0] == a->to && len)
			what[n++] = ' ';
		memcpy(what + n, *text, len);
		n += len;
	}
	PUT(DENIAL, a->task->proc->pid, .scope = text_of(a->scope == SCOPE_EXEC ? "exec" : "files"),
	    .what = { what, (uint32_t)n }, .rule = text_of(a->rule ? a->rule : ""));
}

/* ---- begin and end ---- */

static void on_unmounting(const struct mount *m)
{
	maps_release(m);
	contents_release(m);
}

static const struct observer journal_observer = {
	.opened = on_opened,
	.wrote = on_wrote,
	.mapped = on_mapped,
	.copied = on_copied,
	.unmapped = maps_put,
	.closed = on_closed,
	.named = on_named,
	.removed = on_removed,
	.changed = on_changed,
	.mounted = on_mounted,
	.unmounting = on_unmounting,
	.forked = on_forked,
	.executed = on_executed,
	.exited = on_exited,
	.disconnected = on_disconnected,
};

int journal_init(void)
{
	int err;

	if (cell.spec.journal == JOURNAL_OFF)
		return 0;
	err = ring_writer_init(&writer, cell.spec.journal_fd, cell.spec.journal_bell);
	if (err)
		return err;
	/* Who breaks into this process later can change what is in the ring, and not the file. */
	host_close(cell.spec.journal_fd);
	observer_set(&journal_observer);
	return 0;
}

void journal_end(void)
{
	struct change *c, *tmp;

	if (!writer.ring)
		return;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		writer_leaves(p);
	list_for_each_safe(c, tmp, &changes, link)
		on_closed(c->f);
	contents_end();
}
