/* Files that a process can write without a call, for the journal: through a shared mapping of a
 * file that is open for writing.
 *
 * The kernel hands out the descriptor for such a mapping, and hears nothing of munmap, which is the
 * host's. So whoever was given one may write for as long as it has its memory: until it executes
 * another program or ends, and so may whatever it forks. When the process that made the mapping
 * goes, and when the last one goes that can have it, the file is recorded as written and hashed
 * again.
 *
 * Who can have it is a *set* of marks, which belongs to an address space (struct maps: one for all
 * processes that share it, as after vfork). A fork has its parent's set; an address space that maps
 * something while others have its set gets a new one that leads to the old one. A set whose last
 * user goes records its marks. A file that loses its last name loses its marks. A mark holds the
 * file; of a mount that goes it keeps the text of its path, so that it holds up nobody. A mapping
 * without a mark is refused. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/list.h"
#include "kernel/cell/journal.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/path.h"

#define MARKS_MAX 8192u

struct mapset {
	uint32_t refs;
	struct mapset *before; /* counted; NULL: none */
	struct list marks;
};

/* Of an address space. */
struct maps {
	uint32_t refs; /* processes, and those to be */
	struct mapset *set; /* counted; NULL: none */
};

struct mark {
	struct list link, all_link;
	struct inode *ino; /* counted, and its file system */
	struct path at; /* counted; no name: the mount is gone, and text is where it was */
	char *text; /* blob of len */
	uint32_t len;
	const struct proc *by; /* who mapped it; NULL: it is gone, and recorded */
};

OBJ_TYPE(set_type, struct mapset, MARKS_MAX);
OBJ_TYPE(maps_type, struct maps, 0);
OBJ_TYPE(mark_type, struct mark, MARKS_MAX);

static struct list all = LIST_INIT(all);

static void mark_record(const struct mark *m, int pid)
{
	struct jtext path = m->at.name ? journal_path(&m->at) : (struct jtext){ m->text, m->len };

	if (m->ino->ops->getattr)
		(void)!CHECKED(m->ino->ops)->getattr(m->ino);
	if (path.n)
		journal_put(J_WRITE,
			    &(const struct journal_WRITE){ .path = path, .size = m->ino->size },
			    pid);
	if (m->at.name)
		content_changed(&m->at, m->ino, pid);
	else
		content_lost(m->ino, path, pid);
}

static void mark_free(struct mark *m)
{
	struct fs *fs = m->ino->fs;

	list_remove(&m->link);
	list_remove(&m->all_link);
	inode_put(m->ino);
	if (m->at.name)
		path_put(&m->at);
	if (m->text)
		blob_free(m->text, m->len);
	fs_put(fs);
	obj_free(&mark_type, m);
}

static void set_put(struct mapset *s, int pid)
{
	struct mark *m, *tmp;

	while (s && !--s->refs) {
		struct mapset *before = s->before;

		list_for_each_safe(m, tmp, &s->marks, link) {
			mark_record(m, pid);
			mark_free(m);
		}
		obj_free(&set_type, s);
		s = before;
	}
}

static struct maps *maps_new(struct mapset *s)
{
	struct maps *m = obj_new(&maps_type);

	if (!m)
		return NULL;
	m->refs = 1;
	m->set = s;
	if (s)
		s->refs++;
	return m;
}

int maps_give(struct proc *p, bool shared, struct maps **ret)
{
	*ret = NULL;
	if (!shared && (!p->maps || !p->maps->set))
		return 0;
	if (!p->maps)
		p->maps = maps_new(NULL);
	if (shared && p->maps) {
		p->maps->refs++;
		*ret = p->maps;
	} else if (p->maps) {
		*ret = maps_new(p->maps->set);
	}
	return *ret ? 0 : -ENOMEM;
}

void maps_put(struct maps *m, int pid)
{
	if (!m || --m->refs)
		return;
	set_put(m->set, pid);
	obj_free(&maps_type, m);
}

void maps_leave(struct proc *p)
{
	struct maps *own = p->maps;
	bool last;
	struct mark *m;

	if (!own)
		return;
	p->maps = NULL;
	last = own->refs == 1;
	for (struct mapset *s = own->set; s; s = s->before) {
		last = last && s->refs == 1; /* then it is recorded below */
		list_for_each(m, &s->marks, link)
			if (m->by == p) {
				m->by = NULL;
				if (!last)
					mark_record(m, p->pid);
			}
	}
	maps_put(own, p->pid);
}

/* The mark of ino that p made; NULL: none. */
static struct mark *mark_find(const struct proc *p, const struct inode *ino)
{
	struct mark *m;

	for (struct mapset *s = p->maps ? p->maps->set : NULL; s; s = s->before)
		list_for_each(m, &s->marks, link)
			if (m->ino == ino && m->by == p)
				return m;
	return NULL;
}

/* A set of p's address space alone; NULL: no memory. */
static struct mapset *set_own(struct proc *p)
{
	struct mapset *s;

	if (!p->maps)
		p->maps = maps_new(NULL);
	if (!p->maps)
		return NULL;
	if (p->maps->set && p->maps->set->refs == 1)
		return p->maps->set;
	s = obj_new(&set_type);
	if (!s)
		return NULL;
	s->refs = 1;
	s->before = p->maps->set;
	list_init(&s->marks);
	p->maps->set = s;
	return s;
}

int maps_add(struct proc *p, struct file *f)
{
	struct mapset *s;
	struct mark *m;

	/* One that was removed is of no interest, and its room is free when it is unmapped. */
	if (mark_find(p, f->inode) || (!f->inode->nlink && !f->inode->linkable))
		return 0;
	s = set_own(p);
	m = s ? obj_new(&mark_type) : NULL;
	if (!m)
		return -ENOMEM;
	fs_get(f->inode->fs);
	m->ino = inode_get(f->inode);
	m->at = f->path;
	path_get(&m->at);
	m->by = p;
	list_init(&m->link);
	list_init(&m->all_link);
	list_append(&s->marks, &m->link);
	list_append(&all, &m->all_link);
	return 0;
}

void maps_forget(const struct inode *ino, bool removed)
{
	struct mark *m, *tmp;

	list_for_each_safe(m, tmp, &all, all_link)
		if (m->ino == ino) {
			if (removed && m->by)
				mark_record(m, m->by->pid);
			mark_free(m);
		}
}

void maps_release(const struct mount *mnt)
{
	struct mark *m;

	list_for_each(m, &all, all_link) {
		struct path at = m->at;
		struct jtext t;

		if (at.mnt != mnt || !at.name)
			continue;
		t = journal_path(&at);
		m->text = t.n ? blob_new(t.n) : NULL;
		if (!m->text)
			continue; /* it is busy */
		memcpy(m->text, t.p, t.n);
		m->len = t.n;
		m->at = (struct path){ 0 };
		path_put(&at);
	}
}
