/* Owners of files in a mounted directory, as the cell sees them (docs/decisions/0033).
 *
 * On the host all that a cell makes belongs to one user, who looks like the user of the cell. A
 * file that belongs to somebody else in the cell, because that user made it or chown said so, has
 * the attribute OWNER_ATTR on the host, "UID:GID", which the next cell reads again. The guest does
 * not see it. It changes nothing for the host's users, and set-id bits are not kept in a mount, so
 * it is worth no more than a name outside of a cell.
 *
 * Most mounts have no such file, and none of them is to pay for the question. So the directory that
 * is mounted has a mark, too, OWNERS_ATTR, from the first chown on; without it no attribute is
 * read. Another cell may set it at any time: it is looked for once in a second while files are
 * looked up.
 *
 * Only files and directories can have attributes. FIFOs and sockets with an owner are held in
 * memory, at most KEPT_MAX of them, and have none for the next cell; a link has none at all, and
 * chown of one succeeds. So it does on a file system of the host without attributes, where it
 * changes nothing: what unpacks and copies as root must go on. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "kernel/fs/hostdir/hnode.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define OWNER_ATTR "user.vivarium.owner"
#define OWNERS_ATTR "user.vivarium.owners"
#define OWNERS_AGAIN NSEC_PER_SEC
#define OWNER_MAX 32
#define KEPT_MAX 256

bool owner_is_attr(const char *name)
{
	return !strcmp(name, OWNER_ATTR) || !strcmp(name, OWNERS_ATTR);
}

/* A number without leading zeros, up to the largest id but one: (uid_t)-1 is nobody's. */
static const char *id_parse(const char *s, uint32_t *ret_)
{
	uint64_t v = 0;

	if (*s < '0' || *s > '9' || (s[0] == '0' && s[1] >= '0' && s[1] <= '9'))
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v >= UINT32_MAX)
			return NULL;
	}
	*ret_ = (uint32_t)v;
	return s;
}

/* What another program wrote there may be anything. */
static bool owner_parse(const char *text, uint32_t *ret_uid, uint32_t *ret_gid)
{
	const char *s = id_parse(text, ret_uid);

	if (!s || *s != ':')
		return false;
	s = id_parse(s + 1, ret_gid);
	return s && !*s;
}

static bool may_have_attr(const struct hdnode *n)
{
	return inode_is_reg(&n->inode) || inode_is_dir(&n->inode);
}

/* Where the host has no call that does it by name. */
static int attr_read_slowly(struct hdnode *n, const char *attr, char *buf, size_t size)
{
	bool is_dir = inode_is_dir(&n->inode);
	int fd = is_dir ? host_openat(n->fd, ".", O_RDONLY | O_DIRECTORY, 0)
			: host_open_beneath_xdev(n->parent->fd, n->name,
						 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int r;

	if (fd < 0)
		return fd;
	r = host_fgetxattr(fd, attr, buf, size);
	host_close(fd);
	return r;
}

static int attr_read(struct hdnode *n, const char *attr, char *buf, size_t size)
{
	static bool by_name_missing;
	int r;

	if (n->rd >= 0)
		return host_fgetxattr(n->rd, attr, buf, size);
	if (!n->parent && !inode_is_dir(&n->inode))
		return -ENODATA;
	if (!by_name_missing) {
		r = n->parent ? host_getxattrat(n->parent->fd, n->name, attr, buf, size)
			      : host_getxattrat(n->fd, ".", attr, buf, size);
		if (r != -ENOSYS)
			return r;
		by_name_missing = true;
	}
	return attr_read_slowly(n, attr, buf, size);
}

/* Whether files of the mount can have owners of their own. The root of one that is being made
 * always can. */
static bool mount_has_owners(struct hostdir *hd)
{
	int64_t now = now_mono();
	char mark[OWNER_MAX];

	if (hd->owners || !hd->fs.root || !inode_is_dir(hd->fs.root))
		return true;
	if (hd->owners_asked && now - hd->owners_asked < OWNERS_AGAIN)
		return false;
	hd->owners_asked = now;
	hd->owners = attr_read(hdnode_of(hd->fs.root), OWNERS_ATTR, mark, sizeof(mark)) > 0;
	return hd->owners;
}

void owner_load(struct hdnode *n)
{
	char text[OWNER_MAX + 1];
	struct rights lent;
	int len;

	n->owned = false;
	if (n->foreign || !may_have_attr(n) || !mount_has_owners(hostdir_of(n)))
		return;
	len = attr_read(n, OWNER_ATTR, text, OWNER_MAX);
	if (rights_lend(&lent, n, 0400, len)) {
		len = attr_read(n, OWNER_ATTR, text, OWNER_MAX);
		rights_return(&lent);
	}
	if (len <= 0 || len > OWNER_MAX)
		return;
	text[len] = '\0';
	if (strlen(text) == (size_t)len && owner_parse(text, &n->own_uid, &n->own_gid))
		n->owned = true;
}

/* text NULL: takes it away. */
static int attr_write_once(struct hdnode *n, const char *attr, const char *text)
{
	bool must_close;
	int fd = hdnode_handle(n, &must_close), r;

	if (fd < 0)
		return fd;
	r = text ? host_fsetxattr(fd, attr, text, strlen(text), 0) : host_fremovexattr(fd, attr);
	if (must_close)
		host_close(fd);
	return r == -ENODATA && !text ? 0 : r;
}

static int attr_write(struct hdnode *n, const char *attr, const char *text)
{
	int r = attr_write_once(n, attr, text);
	struct rights lent;

	if (rights_lend(&lent, n, 0600, r)) {
		r = attr_write_once(n, attr, text);
		rights_return(&lent);
	}
	return r;
}

/* The mark comes first: an owner that nobody looks for would be none. */
static int owner_write(struct hdnode *n, const char *text)
{
	struct hostdir *hd = hostdir_of(n);
	int r = 0;

	if (text && !hd->owners && inode_is_dir(hd->fs.root))
		r = attr_write(hdnode_of(hd->fs.root), OWNERS_ATTR, "1");
	if (r < 0)
		return r;
	r = attr_write(n, OWNER_ATTR, text);
	if (r == 0 && text)
		hd->owners = true;
	return r;
}

static void kept_drop(struct hdnode *n)
{
	if (list_is_empty(&n->kept_link))
		return;
	list_remove(&n->kept_link);
	hostdir_of(n)->nkept--;
	inode_put(&n->inode);
}

static void kept_add(struct hdnode *n)
{
	struct hostdir *hd = hostdir_of(n);

	if (!list_is_empty(&n->kept_link))
		return;
	if (hd->nkept >= KEPT_MAX)
		kept_drop(list_first(&hd->kept, struct hdnode, kept_link));
	list_append(&hd->kept, &n->kept_link);
	hd->nkept++;
	inode_get(&n->inode);
}

void owner_unlinked(struct hdnode *n)
{
	if (!n->inode.nlink)
		kept_drop(n);
}

void owners_free(struct hostdir *hd)
{
	while (!list_is_empty(&hd->kept))
		kept_drop(list_first(&hd->kept, struct hdnode, kept_link));
}

int owner_set(struct hdnode *n, uint32_t uid, uint32_t gid)
{
	const struct hostdir *hd = hostdir_of(n);
	bool usual = uid == hd->show_uid && gid == hd->show_gid;
	char text[OWNER_MAX];
	int r = 0;

	if (inode_is_lnk(&n->inode) || (usual && !n->owned))
		return 0;
	snprintf(text, sizeof(text), "%u:%u", uid, gid);
	if (may_have_attr(n))
		r = owner_write(n, usual ? NULL : text);
	if (r < 0)
		return r == -EOPNOTSUPP || r == -ENOSYS || r == -EACCES || r == -EPERM ? 0 : r;
	n->owned = !usual;
	n->own_uid = uid;
	n->own_gid = gid;
	if (may_have_attr(n))
		return 0;
	/* The caller holds it. */
	if (usual)
		kept_drop(n);
	else
		kept_add(n);
	return 0;
}
