/* What has happened, told to one observer: the journal (cell/journal.c).
 *
 * Hooks (task/hooks.h) are asked before an effect, which may still fail; the observer is told after
 * it, before the call is answered, so that it hears of everything that happened and of nothing
 * else. It is added at boot, and while there is none each place costs one comparison.
 *
 * What the kernel does for the operator is no call, and not told, but for processes. */
#ifndef VIV_KERNEL_TASK_OBSERVE_H
#define VIV_KERNEL_TASK_OBSERVE_H

#include "base/program.h"

struct file;
struct inode;
struct ipaddr;
struct maps;
struct mount;
struct name;
struct path;
struct newnode;
struct proc;
struct task;

/* A name that was changed: the directory that it is or was in, and the last part. After a rename
 * only these are certain. */
struct name_done {
	int op; /* enum name_op */
	const struct path *dir;
	const char *name;
	size_t len;
	const struct path *dir2; /* of a rename: the other one; else NULL */
	const char *name2;
	size_t len2;
	const struct path *old; /* of a link: the file; else NULL */
	const struct path *made; /* of a link: the new name; else NULL */
	const struct inode *ino; /* what was made, or replaced by a rename; else NULL */
	const char *target; /* of a symbolic link that was made; else NULL */
};

/* All are required; all arguments are borrowed. */
struct observer {
	/* A file is open; flags are those of open(2). */
	void (*opened)(struct task *t, struct file *f, uint32_t flags, bool created);
	/* Its content was changed. */
	void (*wrote)(struct file *f);
	/* A shared mapping of f, which is open for writing, is about to be made. 0 or -errno: it is
	 * not. */
	int (*mapped)(struct task *t, struct file *f);
	/* For a new process, whose memory is t's own or a copy: the files that it can write by
	 * that. *ret: counted, and put by "unmapped"; pid: the process that had it. */
	int (*copied)(struct task *t, bool shared, struct maps **ret);
	void (*unmapped)(struct maps *m, int pid);
	/* A file that has f->change goes. */
	void (*closed)(struct file *f);
	void (*named)(struct task *t, const struct name_done *d);
	/* A name of an inode that has inode->content goes, or the last one of an unsteady inode:
	 * what the observer holds of it goes. */
	void (*removed)(const struct name *n);
	/* Attributes of what is at p; size: its size, too. */
	void (*changed)(struct task *t, const struct path *p, bool size);
	void (*mounted)(struct task *t, const struct path *p);
	/* It is about to be unmounted, if nobody holds something there: what the observer holds
	 * goes. */
	void (*unmounting)(const struct mount *m);
	/* p is a new process; parent: the one that made it. */
	void (*forked)(const struct proc *p, int parent);
	/* The program that t's process started runs. */
	void (*executed)(struct task *t);
	/* All that it had open is closed. */
	void (*exited)(struct proc *p);
	/* A connection to the outside ended. number: of the gate's call that made it; 0: none. */
	void (*disconnected)(bool tcp, const struct ipaddr *a, uint16_t port, uint64_t in,
			     uint64_t out, uint32_t number);
};

extern const struct observer *observer; /* NULL: there is none */
/* At boot: before the program is sealed. */
void observer_set(const struct observer *o);

#define observe(slot, arg...)                              \
	do {                                               \
		if (__builtin_expect(observer != NULL, 0)) \
			CHECKED(observer)->slot(arg);      \
	} while (0)

#endif
