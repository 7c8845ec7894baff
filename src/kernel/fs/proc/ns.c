/* /proc/PID/ns: links to the namespaces of a process, and the files that they lead to (Linux's
 * nsfs).
 *
 * A cell has one namespace of each kind, with fixed numbers, except for mounts:
 * unshare(CLONE_NEWNS) makes trees of a process's own (vfs/mounttree.c), which have numbers of
 * their own. A file of such a one keeps it. Nothing can be read from these files: they are given to
 * setns() (sys/setns.c) and asked by ioctl what they are. Left out: mounting them somewhere, and
 * the questions about a mount namespace's mounts. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/program.h"
#include "kernel/fs/proc/ns.h"
#include "kernel/fs/proc/proc_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/mount.h"

static const struct ns_kind {
	const char *name;
	uint32_t flag; /* CLONE_NEW* */
	uint32_t number; /* 0: the tree's own */
} kinds[] = {
	{ "cgroup", CLONE_NEWCGROUP, 4026531835 },
	{ "ipc", CLONE_NEWIPC, 4026531839 },
	{ "mnt", CLONE_NEWNS, 0 },
	{ "net", CLONE_NEWNET, 4026531992 },
	{ "pid", CLONE_NEWPID, 4026531836 },
	{ "time", CLONE_NEWTIME, 4026531834 },
	{ "user", CLONE_NEWUSER, 4026531837 },
	{ "uts", CLONE_NEWUTS, 4026531838 },
};
enum { NS_CGROUP, NS_IPC, NS_MNT, NS_NET, NS_PID, NS_TIME, NS_USER, NS_UTS };

struct ns_inode {
	struct inode ino; /* first */
	const struct ns_kind *kind;
	struct mntns *mnt; /* counted; only of mounts, NULL: the cell's own */
};
OBJ_TYPE(ns_inode_type, struct ns_inode, 0);

static struct fs nsfs;
static const struct inode_ops ns_iops;

static uint64_t ns_number(const struct ns_kind *k, const struct mntns *mnt)
{
	return k->number ? k->number : mntns_number(mnt);
}

static int ns_label(const struct ns_kind *k, const struct mntns *mnt, char *buf, size_t size)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "%s:[%lu]", k->name, (unsigned long)ns_number(k, mnt));

	size = MIN(size, (size_t)n);
	memcpy(buf, text, size);
	return (int)size;
}

/* ---- the files ---- */

static int nsfile_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	const struct ns_inode *n = container_of(ino, struct ns_inode, ino);

	(void)t;
	return ns_label(n->kind, n->mnt, buf, size);
}

static void nsfile_evict(struct inode *ino)
{
	struct ns_inode *n = container_of(ino, struct ns_inode, ino);

	mntns_put(n->mnt);
	obj_free(&ns_inode_type, n);
}

static const struct inode_ops ns_iops = { .readlink = nsfile_readlink, .evict = nsfile_evict };

/* returns path ref. */
static int nsfile_place(const struct ns_kind *k, struct mntns *mnt, struct path *ret_);

static int64_t nsfile_give(struct task *t, const struct ns_kind *k)
{
	struct path p;
	struct file *f;
	int ret = nsfile_place(k, NULL, &p);

	if (ret < 0)
		return ret;
	ret = file_open(t, &p, O_RDONLY, &f);
	path_put(&p);
	if (ret < 0)
		return ret;
	ret = fd_install(t, f, 0, true);
	if (ret < 0)
		file_put(f);
	return ret;
}

static int64_t nsfile_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	const struct ns_kind *k = container_of(f->inode, struct ns_inode, ino)->kind;
	uint32_t owner = 0;

	switch (cmd) {
	case NS_GET_NSTYPE:
		return k->flag;
	case NS_GET_USERNS: /* of the user namespace itself: its parent */
		return k == &kinds[NS_USER] ? -EPERM : nsfile_give(t, &kinds[NS_USER]);
	case NS_GET_PARENT: /* the cell's are the topmost */
		return k == &kinds[NS_USER] || k == &kinds[NS_PID] ? -EPERM : -EINVAL;
	case NS_GET_OWNER_UID:
		if (k != &kinds[NS_USER])
			return -EINVAL;
		return guest_put(t->tid, arg, &owner) < 0 ? -EFAULT : 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_ops ns_fops = { .ioctl = nsfile_ioctl };

static void nsfs_statfs(const struct inode *ino, struct fs_stat *out)
{
	(void)ino;
	out->type = NSFS_MAGIC;
}

static const struct fs_ops nsfs_ops = { .statfs = nsfs_statfs };

static int nsfile_place(const struct ns_kind *k, struct mntns *mnt, struct path *ret_)
{
	struct ns_inode *n = obj_new(&ns_inode_type);
	int ret;

	if (!n)
		return -ENOMEM;
	if (!nsfs.refs)
		fs_init(&nsfs, &nsfs_ops, "nsfs");
	inode_init(&n->ino, &nsfs, &ns_iops, S_IFREG | 0444);
	n->ino.ino = ns_number(k, mnt);
	n->ino.fops = &ns_fops;
	n->ino.fixed = true;
	n->kind = k;
	n->mnt = mntns_get(mnt);
	ret = inode_place(&n->ino, ret_);
	inode_put(&n->ino); /* the place holds it now, or nobody */
	return ret;
}

uint32_t nsfile_kind(const struct file *f, struct mntns **ret_)
{
	const struct ns_inode *n;

	if (f->ops != &ns_fops)
		return 0;
	n = container_of(f->inode, struct ns_inode, ino);
	*ret_ = n->mnt;
	return n->kind->flag;
}

/* ---- the links ---- */

/* What a link is about; the process's main thread has its tree of mounts. */
static int ns_look(struct pinode *pi, struct task *t, struct mntns **ret_)
{
	struct proc *p = pi_proc(pi);
	struct task *of = pi_task(pi);

	*ret_ = NULL;
	if (pi_pid(pi) == INIT_PID) /* root's own, as Linux's init */
		return !t || cred_has_cap(&t->cred, CAP_SYS_PTRACE) ? 0 : -EACCES;
	if (!p)
		return -ENOENT;
	if (!proc_may_look(t, p))
		return -EACCES;
	if (of && of->fs)
		*ret_ = of->fs->ns;
	return of ? 0 : -ENOENT;
}

static int ns_readlink(struct pinode *pi, struct task *t, char *buf, size_t size,
		       const struct ns_kind *k)
{
	struct mntns *mnt;
	int err = ns_look(pi, t, &mnt);

	return err ? err : ns_label(k, mnt, buf, size);
}

static int ns_follow(struct pinode *pi, struct task *t, struct path *ret_, const struct ns_kind *k)
{
	struct mntns *mnt;
	int err = ns_look(pi, t, &mnt);

	return err ? err : nsfile_place(k, k->number ? NULL : mnt, ret_);
}

#define LINK(name, kind)                                                                      \
	static int readlink_##name(struct pinode *pi, struct task *t, char *buf, size_t size) \
	{                                                                                     \
		return ns_readlink(pi, t, buf, size, &kinds[kind]);                           \
	}                                                                                     \
	static int follow_##name(struct pinode *pi, struct task *t, struct path *ret_)        \
	{                                                                                     \
		return ns_follow(pi, t, ret_, &kinds[kind]);                                  \
	}
LINK(cgroup, NS_CGROUP)
LINK(ipc, NS_IPC)
LINK(mnt, NS_MNT)
LINK(net, NS_NET)
LINK(pid, NS_PID)
LINK(time, NS_TIME)
LINK(user, NS_USER)
LINK(uts, NS_UTS)

#define ROW(n, of)                                                            \
	{                                                                     \
		.name = n, .mode = S_IFLNK | 0777, .readlink = readlink_##of, \
		.follow = follow_##of                                         \
	}
const struct pnode ns_nodes[] = {
	ROW("cgroup", cgroup),
	ROW("ipc", ipc),
	ROW("mnt", mnt),
	ROW("net", net),
	ROW("pid", pid),
	ROW("pid_for_children", pid),
	ROW("time", time),
	ROW("time_for_children", time),
	ROW("user", user),
	ROW("uts", uts),
	{ 0 },
};
