/* Opening FIFOs: the pipe behind one exists while somebody has it open or waits to.
 *
 * Linux lets an open for reading wait until a writer comes (and the other way round), even if that
 * writer is gone again before the reader runs. So a waiting open counts as a reader already and
 * remembers how many writers had come before; it goes on when that number has changed. As the call
 * is run again from its start after a wake-up, this state is kept with the call, together with the
 * place that was opened: a rename meanwhile changes nothing. */
#include <errno.h>
#include <fcntl.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/fs/pipe/pipe_priv.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

struct fifo_wait {
	struct pipe *pipe; /* counted, also as reader or writer */
	struct inode *ino; /* counted */
	struct path path; /* counted */
	bool reader; /* else a writer */
	uint32_t counter; /* of the other side when the wait began */
};
OBJ_TYPE(fifo_wait_type, struct fifo_wait, 0);

static void fifo_wait_free(struct fifo_wait *w)
{
	inode_put(w->ino); /* first: the path keeps its file system */
	path_put(&w->path);
	obj_free(&fifo_wait_type, w);
}

void fifo_wait_cancel(struct fifo_wait *w)
{
	pipe_drop_end(w->pipe, w->reader, !w->reader);
	fifo_wait_free(w);
}

static struct fifo_wait *fifo_wait_of(struct task *t)
{
	return t->call.kept.kind == KEPT_FIFO ? t->call.kept.fifo : NULL;
}

bool fifo_wait_path(struct task *t, struct path *ret_)
{
	struct fifo_wait *w = fifo_wait_of(t);

	if (!w)
		return false;
	*ret_ = w->path;
	path_get(ret_);
	return true;
}

static void fifo_file_set(struct file *f, struct pipe *p)
{
	f->ops = &pipe_fops;
	f->priv = p;
	f->mode |= FMODE_STREAM;
}

/* The second and later runs of an open that waits. */
static int fifo_open_again(struct fifo_wait *w, struct task *t, struct file *f)
{
	struct pipe *p = w->pipe;

	if ((w->reader ? p->w_counter : p->r_counter) == w->counter) {
		return call_wait(t, &p->q, PIPE_EVENT_OPENED, PARK_RESTART);
	}
	fifo_file_set(f, p); /* takes over what the wait counted */
	t->call.kept.kind = KEPT_NOTHING;
	fifo_wait_free(w);
	return 0;
}

int fifo_open(struct inode *ino, struct task *t, struct file *f)
{
	uint32_t acc = f->flags & O_ACCMODE;
	bool reader = acc == O_RDONLY || acc == O_RDWR, writer = acc == O_WRONLY || acc == O_RDWR;
	struct fifo_wait *w = fifo_wait_of(t);
	struct pipe *p = (struct pipe *)ino->fifo;

	if (w && w->ino == ino)
		return fifo_open_again(w, t, f);
	if (!reader && !writer)
		return -EINVAL;
	bool alone =
		reader != writer && !(p && (p->anonymous || (reader ? p->writers : p->readers)));
	bool wait = alone && !(f->flags & O_NONBLOCK);
	if (alone && writer && !wait)
		return -ENXIO;
	w = NULL;
	if (wait) {
		/* A path is always there: a FIFO is reached by its name. */
		if (t->call.kept.kind || !(w = obj_new(&fifo_wait_type)))
			return -ENOMEM;
	}
	if (p) {
		ref_get(&p->refs);
	} else {
		p = pipe_new();
		if (!p) {
			if (w)
				obj_free(&fifo_wait_type, w);
			return -ENFILE;
		}
		p->ino = ino;
		ino->fifo = (struct fifo *)p;
	}
	p->readers += reader;
	p->r_counter += reader;
	p->writers += writer;
	p->w_counter += writer;
	waitq_wake(&p->q, PIPE_EVENT_OPENED);
	if (!wait) {
		if (alone)
			f->pos = p->w_counter;
		fifo_file_set(f, p);
		return 0;
	}
	w->pipe = p;
	w->ino = inode_get(ino);
	w->path = f->path;
	path_get(&w->path);
	w->reader = reader;
	w->counter = reader ? p->w_counter : p->r_counter;
	t->call.kept = (struct call_kept){ .kind = KEPT_FIFO, .fifo = w };
	return call_wait(t, &p->q, PIPE_EVENT_OPENED, PARK_RESTART);
}
