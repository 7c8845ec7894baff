/* Names of AF_UNIX sockets: paths, abstract names, names made up by the kernel.
 *
 * A path becomes an inode of type S_IFSOCK whose sock field leads to the bound socket as long as
 * that lives; the socket holds the place. An abstract name lies in a hash table. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/net/door.h"
#include "kernel/net/unix.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define PATH_OFF offsetof(struct sockaddr_un, sun_path)
#define BUCKETS 256
#define AUTO_NAMES 0x100000u

OBJ_TYPE(unix_name_type, struct unix_name, 32768);
static struct list buckets[BUCKETS];

struct unix_name *unix_name_get(struct unix_name *n)
{
	if (n)
		ref_get(&n->refs);
	return n;
}

void unix_name_put(struct unix_name *n)
{
	if (n && ref_put(&n->refs))
		obj_free(&unix_name_type, n);
}

static uint32_t name_hash(const struct sockname *n)
{
	uint32_t h = 2166136261u;

	for (uint32_t i = PATH_OFF; i < n->len; i++)
		h = (h ^ (uint8_t)n->u.raw[i]) * 16777619u;
	return h ^ h >> 15;
}

static struct list *bucket_of(uint32_t hash)
{
	if (!buckets[0].next)
		for (uint32_t i = 0; i < BUCKETS; i++)
			list_init(&buckets[i]);
	return &buckets[hash % BUCKETS];
}

static bool is_abstract(const struct sockname *n)
{
	return n->len > PATH_OFF && !n->u.un.sun_path[0];
}

int unix_name_check(const struct sockname *n)
{
	if (n->len <= PATH_OFF || n->len > sizeof(struct sockaddr_un) ||
	    n->u.sa.sa_family != AF_UNIX)
		return -EINVAL;
	return 0;
}

static struct unix_sock *abstract_find(const struct sockname *n, uint32_t hash, int type)
{
	struct list *bucket = bucket_of(hash);
	struct unix_sock *u;

	list_for_each(u, bucket, hash_link)
		if (u->name->hash == hash && u->name->n.len == n->len &&
		    (!type || u->s.type == type) && !memcmp(u->name->n.u.raw, n->u.raw, n->len))
			return u;
	return NULL;
}

/* The path of n with its NUL. */
static void path_of_name(const struct sockname *n, char *buf)
{
	size_t len = strnlen(n->u.un.sun_path, n->len - PATH_OFF);

	memcpy(buf, n->u.un.sun_path, len);
	buf[len] = 0;
}

static struct unix_name *name_new(const struct sockname *n)
{
	struct unix_name *un = obj_new(&unix_name_type);

	if (!un)
		return NULL;
	un->refs = 1;
	un->n = *n;
	un->hash = name_hash(n);
	return un;
}

static int bind_abstract(struct unix_sock *u, const struct sockname *n)
{
	struct unix_name *un;

	if (abstract_find(n, name_hash(n), u->s.type))
		return -EADDRINUSE;
	un = name_new(n);
	if (!un)
		return -ENOMEM;
	u->name = un;
	list_append(bucket_of(un->hash), &u->hash_link);
	return 0;
}

static int bind_path(struct unix_sock *u, struct task *t, const struct sockname *n)
{
	char path[sizeof(n->u.un.sun_path) + 1], last[NAME_MAX_LEN + 3];
	/* fchmod of the socket before it is bound limits who may connect. */
	uint32_t mode = u->s.file ? u->s.file->inode->mode & 07777 : 0777;
	struct newnode node = { .mode = S_IFSOCK | (mode & ~t->fs->umask),
				.uid = t->cred.fsuid,
				.gid = t->cred.fsgid };
	struct sockname full = *n;
	struct unix_name *un;
	struct path dir, at;
	bool slash;
	int r;

	path_of_name(n, path);
	full.len = (uint32_t)(PATH_OFF + strlen(path) + 1);
	memcpy(full.u.raw + PATH_OFF, path, full.len - PATH_OFF);
	r = path_lookup_parent(t, AT_FDCWD, path, LOOKUP_FOLLOW, &dir, last, &slash);
	if (r < 0)
		return r;
	const struct destination d = { .use = DEST_BIND, .sock = &u->s, .name = &full, .at = &dir };
	r = ask_dest(t, &d);
	un = r < 0 ? NULL : name_new(&full);
	if (!un) {
		path_put(&dir);
		return r < 0 ? r : -ENOMEM;
	}
	if (slash)
		strcat(last, "/");
	if (dir.name->inode->mode & S_ISGID)
		node.gid = dir.name->inode->gid;
	r = vfs_create(t, &dir, last, &node, &at);
	if (r == 0 && u->name) {
		/* Linux makes the node, then finds out that there is a name already. */
		path_put(&at);
		(void)!vfs_unlink(t, &dir, last, false);
		r = -EINVAL;
	}
	path_put(&dir);
	if (r < 0) {
		unix_name_put(un);
		return r == -EEXIST ? -EADDRINUSE : r;
	}
	u->name = un;
	u->path = at;
	u->node = inode_get(at.name->inode);
	u->node->sock = u;
	return 0;
}

int unix_autobind(struct unix_sock *u)
{
	static uint32_t next;
	struct sockname n = { .len = PATH_OFF + 6 };
	char text[8];

	if (u->name)
		return 0;
	n.u.un.sun_family = AF_UNIX;
	for (uint32_t i = 0; i < 4096; i++) {
		snprintf(text, sizeof(text), "%05x", next++ % AUTO_NAMES);
		memcpy(n.u.un.sun_path + 1, text, 5);
		if (bind_abstract(u, &n) != -EADDRINUSE)
			return u->name ? 0 : -ENOMEM;
	}
	return -ENOSPC;
}

int unix_bind(struct sock *s, struct task *t, const struct sockname *n)
{
	struct unix_sock *u = unix_sk(s);
	int r;

	if (n->len == PATH_OFF && n->u.sa.sa_family == AF_UNIX)
		return unix_autobind(u);
	if (unix_name_check(n) < 0)
		return -EINVAL;
	if (!is_abstract(n))
		return bind_path(u, t, n);
	if (u->name)
		return -EINVAL;
	const struct destination d = { .use = DEST_BIND, .sock = s, .name = n };
	r = ask_dest(t, &d);
	return r < 0 ? r : bind_abstract(u, n);
}

/* The socket at a path, borrowed, and its place; NULL: it is the door. returns path ref. */
static int path_find(struct task *t, const struct sockname *n, int type, struct path *ret_at,
		     struct unix_sock **ret_)
{
	char path[sizeof(n->u.un.sun_path) + 1];
	struct inode *ino;
	int r;

	path_of_name(n, path);
	r = path_lookup(t, AT_FDCWD, path, LOOKUP_FOLLOW, ret_at);
	if (r < 0)
		return r;
	ino = ret_at->name->inode;
	if (!ino)
		r = -ENOENT;
	else
		r = vfs_permission(t, ret_at, W_OK);
	*ret_ = NULL;
	if (r == 0 && door_is_at(ino)) {
		if (type == SOCK_STREAM)
			return 0;
		r = -EPROTOTYPE;
	}
	if (r == 0 && (!S_ISSOCK(ino->mode) || !ino->sock))
		r = -ECONNREFUSED;
	if (r == 0) {
		*ret_ = ino->sock;
		if ((*ret_)->s.type != type)
			r = -EPROTOTYPE;
	}
	if (r < 0)
		path_put(ret_at);
	return r;
}

int unix_find(const struct sock *s, struct task *t, enum destination_use use,
	      const struct sockname *n, struct unix_sock **ret_)
{
	struct destination d = { .use = use, .sock = s, .name = n };
	struct path at = { NULL, NULL };
	int r = 0;

	if (is_abstract(n)) {
		/* Another type under the name is as good as nobody. */
		*ret_ = abstract_find(n, name_hash(n), s->type);
		r = *ret_ ? 0 : -ECONNREFUSED;
	} else {
		r = path_find(t, n, s->type, &at, ret_);
		d.at = &at;
	}
	if (r == 0)
		r = ask_dest(t, &d);
	if (r == 0 && !*ret_)
		r = -EREMOTE;
	if (r == 0)
		file_get((*ret_)->s.file); /* what has a name of its own has a file */
	path_put(&at); /* the socket holds its place */
	return r;
}

void unix_sock_put(struct unix_sock *u)
{
	file_put(u->s.file);
}

void unix_unbind(struct unix_sock *u)
{
	list_remove(&u->hash_link);
	if (u->node) {
		u->node->sock = NULL;
		inode_put(u->node); /* first: the path keeps its file system */
		path_put(&u->path);
	}
	u->node = NULL;
	unix_name_put(u->name);
	u->name = NULL;
}
