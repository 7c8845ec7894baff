/* Names of an S3 file system: look-ups, listings, and what changes them.
 *
 * An answer that is not there yet parks the call (call_wait), which then runs again from its start.
 * So a look-up asks, and finds the answer in the tree the next time. A change must not be visible
 * to the second run before it gets to the change itself, or it would not find its own victim: the
 * answer waits in the node's record until the call that asked for it comes and takes it.
 *
 * A directory is a prefix. One made here has a marker, an object of its name with a slash; one that
 * is about to lose an entry gets a marker, so that it does not vanish with its last file.
 * Directories cannot be renamed (EXDEV: mv copies). There are no links, devices or modes. Keys are
 * UTF-8: what another name would become differs from server to server, so there are no files of
 * such names (EILSEQ). */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "kernel/fs/s3/s3node.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

/* ---- records ---- */

static bool record_is_ours(const struct s3record *rec)
{
	return task_current ? rec->tid == task_current->tid && rec->call == task_current->call.id
			    : !rec->tid;
}

/* Will nobody come for it? */
static bool record_is_left(const struct s3record *rec)
{
	const struct task *t = rec->tid ? task_find(rec->tid) : NULL;

	return rec->done && rec->tid && (!t || !t->call.active || t->call.id != rec->call);
}

/* n's name is gone from its directory. A listing that is on its way may still have it. */
static void forget_name(struct s3node *dir, const char *name, size_t len)
{
	struct s3node *n = dir && dir->req_op == S3_LIST ? s3node_add(dir, name, len) : NULL;

	if (n)
		n->seen_at = now_mono();
}

/* The change is made: the tree follows. */
static void record_apply(struct s3node *n, struct s3record *rec)
{
	struct s3node *dir = n->parent, *there;
	char name[S3_NAME_MAX + 1];
	const size_t len = n->len;

	memcpy(name, n->name, len + 1);
	if (rec->keep_parent && dir)
		dir->marker = true;
	switch (rec->op) {
	case S3_MKDIR:
		s3node_type(n, S3_DIR);
		n->marker = n->complete = true;
		n->seen_at = n->listed_at = now_mono();
		break;
	case S3_RENAME:
		there = s3node_find(rec->to, rec->to_name, rec->to_len);
		if (there && there != n)
			s3node_cut(there);
		if (dir && (rec->to->parent || rec->to->inode.fs->root == &rec->to->inode))
			s3node_move(n, rec->to, rec->to_name, rec->to_len);
		n->seen_at = now_mono();
		forget_name(dir, name, len);
		break;
	default:
		s3node_cut(n);
		forget_name(dir, name, len);
	}
}

/* Takes the record off and applies it if it went well. */
static int record_take(struct s3node *n)
{
	struct s3record rec = n->rec;

	n->rec = (struct s3record){ 0 };
	inode_get(&n->inode);
	if (rec.err == 0)
		record_apply(n, &rec);
	if (rec.to) {
		blob_free(rec.to_name, (size_t)rec.to_len + 1);
		inode_put(&rec.to->inode);
	}
	waitq_wake(&n->q, POLLIN);
	inode_put(&n->inode);
	return rec.err;
}

/* 1: nothing is in the way, the change may be asked for. 0 or an error: the result of the change
 * that this call asked for. WAITING: wait. */
static int record_ready(struct s3node *n, enum s3_op op)
{
	for (;;) {
		int r;

		if (n->rec.op && record_is_left(&n->rec)) {
			(void)record_take(n);
			if (!n->parent)
				return -ENOENT;
			continue;
		}
		if (n->rec.op && n->rec.done && n->rec.op == op && record_is_ours(&n->rec))
			return record_take(n);
		if (!n->rec.op && !n->req_op)
			return 1;
		r = s3_wait(n);
		if (r < 0)
			return r;
	}
}

static int record_begin(struct s3node *n, enum s3_op op, struct s3node *to, const char *name,
			size_t len)
{
	static char key[2 * S3_KEY_MAX];
	struct s3node *dir = n->parent;
	size_t key_len = 0;
	int r;

	n->rec = (struct s3record){ .op = (uint8_t)op };
	if (task_current) {
		n->rec.tid = task_current->tid;
		n->rec.call = task_current->call.id;
	}
	n->rec.keep_parent = op != S3_MKDIR && dir && dir->parent && !dir->marker;
	if (to) {
		r = s3node_key(to, key, S3_KEY_MAX, &key_len);
		if (r == 0 && key_len + len + 1 > S3_KEY_MAX)
			r = -ENAMETOOLONG;
		n->rec.to_name = r == 0 ? blob_strndup(name, len) : NULL;
		if (!n->rec.to_name) {
			n->rec.op = 0;
			return r < 0 ? r : -ENOMEM;
		}
		if (key_len)
			key[key_len++] = '/';
		memcpy(key + key_len, name, len);
		key_len += len;
		n->rec.to = to;
		n->rec.to_len = (uint8_t)len;
		inode_get(&to->inode);
	}
	r = s3_ask(n, op, 0, 0, n->rec.keep_parent ? S3_KEEP_PARENT : 0, key, key_len);
	if (r < 0) {
		n->rec.done = true;
		n->rec.err = r;
		return record_take(n);
	}
	r = s3_wait(n);
	return r < 0 ? r : record_take(n); /* without a call, the answer is here */
}

/* ---- answers ---- */

/* What was cut out of the tree gets no entries any more: nobody would ever drop them. */
static bool is_in_tree(const struct s3node *n)
{
	return n->parent || n->inode.fs->root == &n->inode;
}

/* Was it changed here, or asked about, since the listing was asked for? The listing may have been
 * made before that. */
static bool is_newer(const struct s3node *n, const struct s3node *dir)
{
	return n->named_gen != dir->list_gen && n->seen_at >= dir->list_at;
}

/* The entry after n, or the first; returns ref, NULL: none. */
static struct s3node *child_next(struct s3node *dir, struct s3node *n)
{
	struct list *l = n ? n->sibling_link.next : dir->children.next;

	if (l == &dir->children)
		return NULL;
	n = list_entry(l, struct s3node, sibling_link);
	inode_get(&n->inode);
	return n;
}

/* What the listing has not named is gone. That it is gone is remembered by a new node, and to make
 * one may drop others: the next one is held. */
static void list_forget(struct s3node *dir)
{
	struct s3node *n = child_next(dir, NULL), *next;

	for (; n; n = next) {
		next = child_next(dir, n);
		if (n->named_gen != dir->list_gen && n->type != S3_NOTHING && !n->req_op &&
		    !is_newer(n, dir))
			s3node_told(n, S3_NOTHING, 0, 0, 0);
		inode_put(&n->inode);
	}
}

static void list_answer(struct s3node *dir, const struct s3_reply *r, size_t len)
{
	struct s3node *n;
	struct s3_entry e;

	for (size_t at = 0; at + S3_ENTRY_HEAD <= len; at += S3_ENTRY_SIZE(e.len)) {
		memcpy(&e, r->entries + at, S3_ENTRY_HEAD);
		if (e.len > S3_NAME_MAX || at + S3_ENTRY_HEAD + e.len > len)
			break;
		memcpy(e.name, r->entries + at + S3_ENTRY_HEAD, e.len);
		if (!s3_name_ok(e.name, e.len) || (e.type != S3_FILE && e.type != S3_DIR))
			continue;
		n = s3node_find(dir, e.name, e.len);
		if (!n)
			n = s3node_add(dir, e.name, e.len);
		if (!n) {
			dir->err = -ENOMEM;
			dir->failed_at = now_mono();
			continue;
		}
		/* A file and a directory of one name: the file is shown. */
		if (n->named_gen == dir->list_gen && n->type == S3_FILE && e.type == S3_DIR)
			continue;
		if (is_newer(n, dir))
			continue;
		n->named_gen = dir->list_gen;
		s3node_told(n, e.type, e.size, e.mtime, e.etag);
	}
	if (r->flags & S3_MORE)
		return;
	if (r->flags & S3_MARKER)
		dir->marker = true;
	list_forget(dir);
	dir->complete = true;
	dir->listed_at = now_mono();
}

void s3_names_answer(struct s3node *n, uint32_t op, const struct s3_reply *r, size_t len)
{
	if (n->rec.op == op && !n->rec.done) {
		n->rec.done = true;
		n->rec.err = r->err;
		if (r->err == 0 && n->rec.op == S3_RENAME && r->etag)
			n->etag = r->etag;
		if (record_is_left(&n->rec))
			(void)record_take(n);
		return;
	}
	if (r->type == S3_DIR && (r->flags & S3_MARKER))
		n->marker = true;
	if (r->err == 0 && op == S3_LIST && is_in_tree(n))
		list_answer(n, r, len);
	else if (r->err == 0 && (r->type == S3_FILE || r->type == S3_DIR))
		s3node_told(n, r->type, r->size, r->mtime, r->etag);
	else if (r->err == -ENOENT && n->parent)
		s3node_told(n, S3_NOTHING, 0, 0, 0);
}

/* ---- look-ups ---- */

/* Until it is known what n is: 0. */
static int node_settle(struct s3node *n)
{
	for (;;) {
		int r;

		if (n->rec.op && record_is_left(&n->rec))
			(void)record_take(n);
		if (!n->parent || s3node_is_own(n) || s3_is_fresh(n->seen_at))
			return 0;
		if (!n->req_op) {
			r = s3_failed(n);
			if (r == 0)
				r = s3_ask(n, S3_STAT, 0, 0, 0, NULL, 0);
			if (r < 0)
				return r;
		}
		r = s3_wait(n);
		if (r < 0)
			return r;
	}
}

static int s3_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct s3node *d = s3node_of(dir), *n = s3node_find(d, name, len);
	bool listed = d->complete && s3_is_fresh(d->listed_at);
	int r;

	if (!is_in_tree(d) || !text_is_utf8(name, len))
		return -ENOENT;
	if (!n) {
		if (listed)
			return -ENOENT;
		n = s3node_add(d, name, len);
		if (!n)
			return -ENOMEM;
	}
	inode_get(&n->inode);
	r = listed && !n->rec.op && n->type == S3_NOTHING ? 0 : node_settle(n);
	inode_put(&n->inode);
	if (r < 0)
		return r;
	/* What was told may have put another in its place. */
	n = s3node_find(d, name, len);
	if (!n || n->type == S3_NOTHING)
		return -ENOENT;
	*ret_ = inode_get(&n->inode);
	return 0;
}

int s3_refresh(struct s3node *n)
{
	return n->type == S3_FILE ? node_settle(n) : 0;
}

static int s3_getattr(struct inode *ino)
{
	return s3_refresh(s3node_of(ino));
}

/* ---- changes ---- */

/* n, which the caller holds, becomes what is asked for. */
static int node_create(struct s3node *n, const struct newnode *nn)
{
	char key[S3_KEY_MAX];
	size_t key_len;
	int r = s3node_key(n, key, sizeof(key), &key_len);

	if (r < 0)
		return r;
	r = record_ready(n, S3_MKDIR);
	if (r == 1 && n->type != S3_NOTHING)
		return -EEXIST;
	if (r == 1 && S_ISDIR(nn->mode))
		r = record_begin(n, S3_MKDIR, NULL, NULL, 0);
	else if (r == 1)
		r = 0;
	if (r < 0)
		return r;
	if (S_ISREG(nn->mode)) {
		if (n->type != S3_NOTHING)
			return -EEXIST;
		s3node_type(n, S3_FILE);
		n->inode.mtime = n->inode.ctime = n->inode.atime = n->inode.btime = inode_now();
		n->local = n->dirty = n->whole = true;
		n->gen++;
	}
	return 0;
}

static int s3_create(struct inode *dir, const char *name, size_t len, const struct newnode *nn,
		     struct inode **ret_)
{
	struct s3node *d = s3node_of(dir), *n;
	int r;

	if (!S_ISREG(nn->mode) && !S_ISDIR(nn->mode))
		return -EPERM;
	if (dir->fs->readonly)
		return -EROFS;
	if (!is_in_tree(d))
		return -ENOENT;
	if (!text_is_utf8(name, len))
		return -EILSEQ;
	r = s3_throttle((struct s3fs *)dir->fs);
	if (r < 0)
		return r;
	n = s3node_find(d, name, len);
	if (!n)
		n = s3node_add(d, name, len);
	if (!n)
		return -ENOMEM;
	/* A change that nobody waits for any more may take it out of the tree. */
	inode_get(&n->inode);
	r = node_create(n, nn);
	if (r < 0)
		inode_put(&n->inode);
	else
		*ret_ = &n->inode;
	return r;
}

static int s3_unlink(struct inode *dir, const char *name, size_t len, struct inode *victim)
{
	struct s3node *n = s3node_of(victim), *c;
	enum s3_op op = n->type == S3_DIR ? S3_RMDIR : S3_DELETE;
	int r;

	(void)name;
	(void)len;
	if (dir->fs->readonly)
		return -EROFS;
	if (!n->parent)
		return -ENOENT;
	r = record_ready(n, op);
	if (r != 1)
		return r;
	if (op == S3_RMDIR)
		list_for_each(c, &n->children, sibling_link)
			if (c->type != S3_NOTHING && s3node_is_own(c))
				return -ENOTEMPTY;
	if (n->local) {
		s3node_cut(n);
		return 0;
	}
	return record_begin(n, op, NULL, NULL, 0);
}

static int s3_rename(struct inode *odir, const char *oname, size_t olen, struct inode *moved,
		     struct inode *ndir, const char *nname, size_t nlen, struct inode *victim,
		     unsigned flags)
{
	struct s3node *n = s3node_of(moved), *v = victim ? s3node_of(victim) : NULL;
	int r;

	(void)oname;
	(void)olen;
	if (odir->fs->readonly)
		return -EROFS;
	if (flags & RENAME_EXCHANGE_)
		return -EINVAL;
	if (!text_is_utf8(nname, nlen))
		return -EILSEQ;
	if (n->type != S3_FILE)
		return -EXDEV;
	if (!n->parent)
		return -ENOENT;
	r = record_ready(n, S3_RENAME);
	if (r != 1)
		return r;
	/* An upload of what is about to be replaced must not come after it. */
	while (v && (v->req_op || v->rec.op)) {
		if (record_is_left(&v->rec))
			(void)record_take(v);
		r = s3_wait(v);
		if (r < 0)
			return r;
	}
	r = s3_upload(n);
	if (r < 0)
		return r;
	return record_begin(n, S3_RENAME, s3node_of(ndir), nname, nlen);
}

static void s3_evict(struct inode *ino)
{
	s3node_free(s3node_of(ino));
}

const struct inode_ops s3_iops = {
	.lookup = s3_lookup,
	.create = s3_create,
	.unlink = s3_unlink,
	.rename = s3_rename,
	.getattr = s3_getattr,
	.setattr = s3_setattr,
	.open = s3_open,
	.hostfd = s3_hostfd,
	.evict = s3_evict,
};

/* ---- listings ---- */

/* Until all entries are known. */
static int dir_fill(struct s3node *d)
{
	while (!d->complete || !s3_is_fresh(d->listed_at)) {
		int r;

		if (!d->req_op) {
			r = s3_failed(d);
			if (r < 0)
				return r;
			d->list_gen++;
			d->list_at = now_mono();
			r = s3_ask(d, S3_LIST, 0, 0, 0, NULL, 0);
			if (r < 0)
				return r;
		}
		r = s3_wait(d);
		if (r < 0)
			return r;
	}
	return 0;
}

static int s3_iterate(struct file *f, struct dirsink *sink)
{
	struct s3node *d = s3node_of(f->inode), *n;
	int r = 0;

	if ((f->pos == 0 || !d->complete) && (d->parent || f->inode->fs->root == f->inode))
		r = dir_fill(d);
	if (r < 0)
		return r;
	if (!dirsink_dots(sink, f))
		return 0;
	list_for_each(n, &d->children, sibling_link) {
		if ((int64_t)n->cookie <= f->pos || n->type == S3_NOTHING)
			continue;
		if (!dirsink_emit(sink, n->name, n->len, n->inode.ino, n->inode.mode >> 12,
				  (int64_t)n->cookie))
			return 0;
		f->pos = (int64_t)n->cookie;
	}
	return 0;
}

const struct file_ops s3_dir_fops = { .iterate = s3_iterate, .fsync = file_fsync_nothing };
