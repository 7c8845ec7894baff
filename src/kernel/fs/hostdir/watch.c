/* inotify of what other programs of the host do in a mounted directory.
 *
 * What the cell itself does there the VFS tells whoever watches, as for every file system. The
 * host's own inotify tells of that too, so it has to be told apart. It queues an event within the
 * call that makes it: what is in the queue before a call of ours is the others', and what comes
 * with it and has the name or the node that the call was about is ours, and dropped. If somebody
 * else changed the same file in that moment, the watchers hear of the file all the same.
 *
 * There is one such queue for the cell, made with the first watch of a file in a mounted directory,
 * and a watch of the host's for each inode that somebody in the cell watches. Both count towards
 * the limits of the host's user: where there is no more, ENOSPC.
 *
 * Left out: who reads (IN_ACCESS, IN_OPEN, IN_CLOSE_NOWRITE), the end of a directory itself (its
 * parent is told), and file systems on which the host does not notice it (what another machine does
 * on a network file system). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>

#include "host/host.h"
#include "kernel/fs/hostdir/hnode.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"

#define CHANGES                                                                                    \
	(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE | IN_MOVE_SELF | \
	 IN_DELETE_SELF)
#define BUCKETS 256
#define TURNS 16 /* reads at a time: others may change things without end */
#define SAME 8 /* mounts that show one inode, and are told of it */
#define COOKIE 0x80000000u /* those of the VFS are below */

static int queue = -1;
static bool busy; /* what is told may end a node, whose content is closed: a change of ours */
static struct hostwatch readable;
static struct list watched[BUCKETS]; /* nodes by the number of the host's watch */
static uint32_t nwatched;

static struct list *bucket_of(int wd)
{
	return &watched[(unsigned)wd % BUCKETS];
}

static bool change_is_own(const struct change *c, const struct hdnode *n, const char *name)
{
	for (unsigned i = 0; i < CHANGE_PLACES; i++)
		if (name ? c->dir[i] == n && strcmp(c->name[i], name) == 0 : c->self[i] == n)
			return true;
	return false;
}

/* Ends the watch of the host's, unless another mount shows the same. */
static void node_forget(struct hdnode *n, bool gone)
{
	struct hdnode *other;
	int wd = n->wd;

	if (!wd)
		return;
	n->wd = 0;
	list_remove(&n->wd_link);
	nwatched--;
	list_for_each(other, bucket_of(wd), wd_link)
		if (other->wd == wd)
			return;
	if (!gone)
		(void)host_inotify_remove(queue, wd);
}

static void node_tell(struct hdnode *n, const struct inotify_event *e, const char *name)
{
	uint32_t mask = e->mask & (IN_ALL_EVENTS | IN_ISDIR);
	uint32_t cookie = e->cookie ? e->cookie | COOKIE : 0;

	if (!vfs_watched || !(mask & IN_ALL_EVENTS))
		return;
	if (name) {
		vfs_notify(&n->inode, name, NULL, mask, cookie);
		return;
	}
	vfs_notify(NULL, NULL, &n->inode, mask, cookie);
	/* The host says so when nobody holds it any more, and we do. */
	if ((mask & IN_ATTRIB) && !inode_is_dir(&n->inode) && hdnode_refresh(n) == 0 &&
	    n->inode.nlink == 0 && vfs_watched)
		vfs_notify(NULL, NULL, &n->inode, IN_DELETE_SELF, 0);
}

static void event_take(const struct inotify_event *e, const struct change *own)
{
	const char *name = e->len && e->name[0] ? e->name : NULL;
	struct hdnode *n, *found[SAME];
	unsigned nfound = 0;

	if (e->mask & IN_Q_OVERFLOW) {
		if (vfs_watched)
			vfs_notify(NULL, NULL, NULL, IN_Q_OVERFLOW, 0);
		return;
	}
	/* Who is told may end its watch, and with it the node. */
	list_for_each(n, bucket_of(e->wd), wd_link)
		if (n->wd == e->wd && nfound < SAME) {
			inode_get(&n->inode);
			found[nfound++] = n;
		}
	for (unsigned i = 0; i < nfound; i++) {
		if (e->mask & IN_IGNORED)
			node_forget(found[i], true);
		else if (!own || !change_is_own(own, found[i], name))
			node_tell(found[i], e, name);
		inode_put(&found[i]->inode);
	}
}

/* What is in the queue; own: a change of ours that is left out. */
static void queue_take(const struct change *own)
{
	static char buf[16384] __attribute__((aligned(8)));
	int64_t n;

	if (busy)
		return;
	busy = true;
	for (int i = 0; i < TURNS && (n = host_read(queue, buf, sizeof(buf))) > 0; i++)
		for (int64_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buf + at);

			event_take(e, own);
			at += (int64_t)sizeof(*e) + e->len;
		}
	busy = false;
}

static void queue_ready(struct hostwatch *w, uint32_t events)
{
	(void)events;
	queue_take(NULL);
	(void)hostwatch_arm(w, POLLIN);
}

void change_begin(void)
{
	if (nwatched)
		queue_take(NULL);
}

void change_end(const struct change *c)
{
	if (nwatched)
		queue_take(c);
}

void change_end_of(const struct hdnode *n)
{
	change_end(&(struct change){ .dir = { n->parent }, .name = { n->name }, .self = { n } });
}

static int queue_open(void)
{
	int fd = host_inotify();

	if (fd < 0)
		return fd;
	hostwatch_init(&readable, fd, queue_ready);
	if (hostwatch_arm(&readable, POLLIN) < 0) {
		host_close(fd);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < BUCKETS; i++)
		list_init(&watched[i]);
	queue = fd;
	return 0;
}

/* A file is watched by its name, which may be another's by now: then there is nothing of it to be
 * heard. */
static int node_watch(struct hdnode *n)
{
	bool is_dir = inode_is_dir(&n->inode);
	struct stat st;
	int wd;

	if (!is_dir && !n->parent)
		return 0;
	wd = host_inotify_add(queue, is_dir ? n->fd : n->parent->fd, is_dir ? "." : n->name,
			      CHANGES);
	if (wd < 0)
		return wd;
	n->wd = wd;
	list_push(bucket_of(wd), &n->wd_link);
	nwatched++;
	if (!is_dir && (host_fstatat(n->parent->fd, n->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			st.st_ino != n->host_ino || st.st_dev != n->dev))
		node_forget(n, false);
	return 0;
}

int hostdir_watch(struct inode *ino, bool on)
{
	struct hdnode *n = hdnode_of(ino);
	int r = 0;

	if (!on) {
		node_forget(n, false);
		return 0;
	}
	if (queue < 0)
		r = queue_open();
	if (r == 0)
		r = node_watch(n);
	(void)host_fchdir(cell.scratch_fd);
	/* What our host user may not read is watched as far as the cell goes. */
	return r == -ENOSPC || r == -EMFILE || r == -ENFILE ? -ENOSPC : r == -ENOMEM ? r : 0;
}
