/* Mounts: a file system grafted onto a name of another mount. Counted (mount_get/mount_put). */
#ifndef VIV_KERNEL_VFS_MOUNT_H
#define VIV_KERNEL_VFS_MOUNT_H

#include "base/list.h"

struct fs;
struct name;
struct path;
struct waitq;

#define MNT_RDONLY 1u
#define MNT_NOSUID 2u
#define MNT_NODEV 4u
#define MNT_NOEXEC 8u
#define MNT_NOATIME 16u
#define MNT_NODIRATIME 32u
#define MNT_STRICTATIME 64u /* neither this nor NOATIME: relatime */
#define MNT_NOSYMFOLLOW 128u
#define MNT_ATIMES (MNT_NOATIME | MNT_NODIRATIME | MNT_STRICTATIME)

struct mount {
	uint32_t refs;
	struct list link; /* all mounts, in order */
	int id;
	struct fs *fs; /* counted */
	struct name *root; /* counted */
	struct mount *parent; /* counted; NULL for the root */
	struct name *point; /* counted; the name in parent that it covers */
	uint32_t flags; /* MNT_* */
	uint32_t writers; /* open files of it that write */
	uint32_t locked; /* flags that a guest cannot take away */
	bool fixed; /* the operator's: a guest cannot unmount or move it, or look below it */
	bool expiring; /* MNT_EXPIRE was asked for once */
	/* fixed, on a parent that was detached: goes with that, which it does not count */
	bool kept;
	struct mntns *ns; /* borrowed; whose tree it is in, NULL: the cell's own */
	struct mount *copy; /* while a tree is copied */
	char source[64]; /* as /proc/mounts shows it */
	char options[64]; /* what the file system was given, with a comma in front of each */
};

/* Mounts fs (takes its reference) at place, or as the root of the cell when place is NULL. returns
 * ref. */
int mount_add(struct fs *fs, const struct path *place, uint32_t flags, const char *source,
	      struct mount **ret_);
int mount_remove(struct mount *m); /* -EBUSY */
extern uint32_t mount_changes; /* counts what came and went */
extern uint32_t mount_events; /* changes of the tree alone, at each of which */
extern struct waitq mounts_q; /* ... this is woken, with POLLPRI */
void mounts_changed(void); /* what was found out about paths may not be so any more */
/* What is mounted on this name of this mount; borrowed, NULL nothing. */
struct mount *mount_covering(const struct mount *parent, const struct name *point);
struct mount *mount_get(struct mount *m);
void mount_put(struct mount *m);
struct mount *mount_next(struct mount *after); /* walks all; NULL first */

/* ---- changing the tree (vfs/mounttree.c). Places are as path_lookup gives them: on top of what is
 * mounted there. ---- */

/* A tree of mounts of a process's own (unshare). The cell's own has none: NULL. */
struct mntns;
struct mntns *mntns_get(struct mntns *ns); /* NULL passes */
void mntns_put(struct mntns *ns); /* NULL passes; the last one unmounts all of it */
uint64_t mntns_number(const struct mntns *ns); /* as /proc/PID/ns shows it */

/* What is at from appears at place as well, with all mounts below it if rec. -EINVAL, -ENOTDIR,
 * -ENOENT, -ENOMEM */
int mount_bind(const struct path *from, const struct path *place, bool rec);
int mount_move(struct mount *m, const struct path *place); /* -EINVAL, -ELOOP, -ENOTDIR */
/* Takes it and all below it out of the tree at once; who still uses it keeps it. */
void mount_detach(struct mount *m);
/* new_root (a mount) becomes the root of the tree, what was there is at put_old, which is below
 * it. */
int mount_pivot(struct mount *new_root, const struct path *put_old, struct mount *old_root);
bool mount_is_below(const struct mount *m, const struct mount *top); /* or is it */
/* Does the operator's mount cover something below the directory? */
bool mount_covers_below(const struct name *dir);
/* The place of its root inside its file system, as text in buf; "/" for all of it. */
const char *mount_root_text(const struct mount *m, char *buf, size_t size);

#endif
