/* See fast.h.
 *
 * Contexts. What a path leads to depends on the root and working directory and on the caller's
 * credentials. A context is a number for one combination of them: without a working directory for
 * absolute paths, with it for the others. The same combination gets the same number as long as it
 * is in a small table, so that processes profit from each other; a number never gets another
 * meaning. The numbers for an address space lie in it (struct fast_own), written at execve, copied
 * by fork, written again when they change. Threads that do not agree (one has its own fsuid, a
 * vfork child changed its directory) share memory, so as long as that lasts 0 is there, and every
 * call comes here.
 *
 * Users. Every runner can read the whole region. While all of a cell has been of one user that
 * gives nothing away. At the first change of credentials everything in it is erased, and from then
 * on only look-ups are remembered which went through directories that everybody may search: what
 * such a path leads to, anybody can ask.
 *
 * Rewriting. Which call instructions are worth it shows when they ask for what they could have
 * found: at the second time such a call is made from one place, the stub is told to rewrite that
 * place (stub/fast.c). Programs that are gone before that pay nothing. */
#include "kernel/sys/fast.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/ref.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/fastmem.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/post.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define CTX_TABLE 64
#define CRED_TABLE 8
#define SITES 24
#define SITE_HITS 2
#define SITE_HITS_ID 6 /* of calls that a program makes a few times at its start */
#define SITE_HITS_POST 64
#define POST_CALLS 512 /* a program that makes fewer is not worth a box */

/* An address space. */
struct fastmm {
	uint32_t refs; /* births on their way, and one if there are tasks */
	uint32_t mark; /* counts changes of what is published */
	struct list tasks;
	uaddr_t own; /* where struct fast_own is; 0: no use of it */
	struct fast_own published;
	struct post *post; /* its box; NULL: none */
	uint32_t calls; /* that could have been posted */
	bool forked; /* what is rewritten in it was so before: it has not been offered a box */
	uint32_t nsites;
	struct {
		uint64_t ip;
		uint32_t hits;
		int nr;
	} site[SITES];
};
OBJ_TYPE(fastmm_type, struct fastmm, 0);

struct ctx {
	uint32_t id;
	uint32_t cred;
	uint32_t mounts; /* mount_changes when it was made */
	struct path root, cwd; /* not counted: on_name_gone */
};

static struct ctx ctxs[CTX_TABLE];
static uint32_t ctx_last, ctx_turn;
static struct {
	uint32_t id;
	struct cred cred;
} creds[CRED_TABLE];
static uint32_t cred_last;

/* ---- contexts ---- */

static uint32_t cred_number(const struct cred *c)
{
	for (uint32_t i = 0; i < CRED_TABLE; i++)
		if (creds[i].id && !memcmp(&creds[i].cred, c, sizeof(*c)))
			return creds[i].id;
	if (cred_last == 1)
		fastmem_purge();
	creds[cred_last % CRED_TABLE].cred = *c;
	creds[cred_last % CRED_TABLE].id = cred_last + 1;
	return ++cred_last;
}

void fast_name_gone(struct name *n)
{
	for (uint32_t i = 0; i < CTX_TABLE; i++)
		if (ctxs[i].root.name == n || ctxs[i].cwd.name == n)
			ctxs[i].id = 0;
}

static uint32_t ctx_number(uint32_t cred, const struct path *root, const struct path *cwd)
{
	struct ctx *c;

	for (c = ctxs; c < ctxs + CTX_TABLE; c++)
		if (c->id && c->cred == cred && c->mounts == mount_changes &&
		    path_is_same(&c->root, root) && path_is_same(&c->cwd, cwd))
			return c->id;
	if (ctx_last == UINT32_MAX)
		return 0;
	c = &ctxs[ctx_turn++ % CTX_TABLE];
	*c = (struct ctx){ ++ctx_last, cred, mount_changes, *root, *cwd };
	root->name->is_ctx = true;
	if (cwd->name)
		cwd->name->is_ctx = true;
	return c->id;
}

static void own_make(const struct task *t, struct fast_own *out)
{
	static const struct path none;

	memset(out, 0, sizeof(*out));
	if (!fastmem || t->fast_off || !t->fs)
		return;
	uint32_t cred = cred_number(&t->cred);
	out->abs = ctx_number(cred, &t->fs->root, &none);
	out->rel = ctx_number(cred, &t->fs->root, &t->fs->cwd);
	out->ids = 1;
	out->opens = t->files && !t->files->was_full;
	out->uid = t->cred.uid;
	out->euid = t->cred.euid;
	out->gid = t->cred.gid;
	out->egid = t->cred.egid;
}

/* Whether a call can be posted in the name of a thread: all of them are of one process. A vfork
 * child is in its parent's place. */
static bool is_one_process(const struct fastmm *mm)
{
	const struct task *first = list_first(&mm->tasks, struct task, mm_link), *t;

	list_for_each(t, &mm->tasks, mm_link)
		if (t->proc != first->proc)
			return false;
	return true;
}

/* ---- address spaces ---- */

static bool tasks_agree(const struct task *a, const struct task *b)
{
	return (a->fs == b->fs || (a->fs && b->fs && path_is_same(&a->fs->root, &b->fs->root) &&
				   path_is_same(&a->fs->cwd, &b->fs->cwd))) &&
	       !b->fast_off && !memcmp(&a->cred, &b->cred, sizeof(a->cred));
}

/* What all of its tasks may use is written there, if it is not there yet. */
static void publish(struct fastmm *mm)
{
	struct fast_own own;
	struct task *first, *t;

	if (!mm || !mm->own || list_is_empty(&mm->tasks))
		return;
	first = list_first(&mm->tasks, struct task, mm_link);
	own_make(first, &own);
	list_for_each(t, &mm->tasks, mm_link)
		if (!tasks_agree(first, t))
			memset(&own, 0, sizeof(own));
	list_for_each(t, &mm->tasks, mm_link)
		own.opens &= t->files && !t->files->was_full;
	own.post = mm->post && is_one_process(mm);
	if (!memcmp(&own, &mm->published, sizeof(own)))
		return;
	mm->mark++;
	mm->published = own;
	/* One of them may be dying. If none has the page any more, they have wrecked the stub, and
	 * only themselves. */
	list_for_each(t, &mm->tasks, mm_link)
		if (guest_put(t->tid, mm->own, &own) == 0)
			break;
}

/* Those who have the table: also ones with memory of their own. */
void fast_files_full(struct fdtable *ft)
{
	struct fastmm *last = NULL;
	struct task *t;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(t, &p->threads, thread_link)
			if (t->files == ft && t->mm != last)
				publish(last = t->mm);
}

static struct fastmm *mm_new(void)
{
	struct fastmm *mm = obj_new(&fastmm_type);

	if (mm) {
		mm->refs = 1;
		list_init(&mm->tasks);
	}
	return mm;
}

static void mm_join(struct fastmm *mm, struct task *t)
{
	t->mm = mm;
	list_append(&mm->tasks, &t->mm_link);
}

struct fastmm *fast_mm_get(struct task *t, uint32_t *ret_mark)
{
	if (!t->mm)
		return NULL;
	ref_get(&t->mm->refs);
	*ret_mark = t->mm->mark;
	return t->mm;
}

void fast_mm_put(struct fastmm *mm)
{
	if (!mm || !ref_put(&mm->refs))
		return;
	post_free(mm->post);
	obj_free(&fastmm_type, mm);
}

void fast_gone(struct task *t)
{
	struct fastmm *mm = t->mm;

	if (!mm)
		return;
	t->mm = NULL;
	list_remove(&t->mm_link);
	if (!list_is_empty(&mm->tasks)) {
		post_forget(mm->post, t->tid);
		/* Perhaps the others agree; of a process that ends, who is left when its last
		 * thread goes. */
		if ((!mm->published.abs || !mm->published.post) &&
		    !(t->proc->exiting && t->proc->nthreads > 1))
			publish(mm);
		return;
	}
	fast_mm_put(mm);
}

void fast_leave(struct proc *p)
{
	struct fastmm *mm = NULL;
	struct task *t;

	list_for_each(t, &p->threads, thread_link) {
		if (!t->mm)
			continue;
		mm = t->mm; /* the same for all of them */
		t->mm = NULL;
		list_remove(&t->mm_link);
		post_forget(mm->post, t->tid);
	}
	if (mm && !list_is_empty(&mm->tasks))
		publish(mm); /* who made it with vfork goes on */
	else
		fast_mm_put(mm);
}

void fast_exec(struct task *t, uaddr_t own, struct fast_own *ret_own)
{
	struct fastmm *mm;

	memset(ret_own, 0, sizeof(*ret_own));
	fast_gone(t);
	mm = fastmem ? mm_new() : NULL;
	if (!mm)
		return;
	mm->own = own;
	own_make(t, &mm->published);
	*ret_own = mm->published;
	mm_join(mm, t);
}

void fast_born(struct task *t, struct fastmm *mm, uint32_t mark, bool shares)
{
	struct fastmm *copy;

	if (!mm)
		return;
	if (shares) {
		if (list_is_empty(&mm->tasks))
			ref_get(&mm->refs);
		mm_join(mm, t);
		publish(mm);
		return;
	}
	copy = mm_new();
	if (!copy) { /* what it has copied could not be kept true */
		static const struct fast_own none;

		(void)!guest_put(t->tid, mm->own, &none);
		return;
	}
	copy->own = mm->own;
	copy->forked = true;
	copy->nsites = mm->nsites;
	memcpy(copy->site, mm->site, sizeof(copy->site));
	copy->published = mm->published;
	if (mark != mm->mark) /* it may have either */
		memset(&copy->published, 0xff, sizeof(copy->published));
	mm_join(copy, t);
	publish(copy);
}

void fast_changed(struct task *t)
{
	publish(t->mm);
}

void fast_fs_changed(struct fsctx *fs)
{
	struct task *t;

	if (!fastmem)
		return;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(t, &p->threads, thread_link)
			if (t->fs == fs) {
				publish(t->mm); /* that of all its threads */
				break;
			}
}

void fast_limit_changed(struct proc *p)
{
	struct task *t;

	list_for_each(t, &p->threads, thread_link)
		if (t->files && t->files->open >= p->limits[RLIMIT_NOFILE].cur)
			fdtable_note_full(t->files);
}

void fast_disable(struct task *t)
{
	t->fast_off = true;
	publish(t->mm);
}

/* ---- answers ---- */

/* After how many calls that could have been posted an address space gets a box. */
static uint32_t box_calls(void)
{
	return cell.spec.fast == FAST_EAGER ? 1 : POST_CALLS;
}

/* A call that the runner could have answered. */
static void site_hit(struct task *t, uint32_t weight, uint32_t enough)
{
	struct fastmm *mm = t->mm;
	uint64_t ip = t->call.ip;
	bool box = !mm->post && mm->calls >= box_calls();
	uint32_t i, before;

	if (cell.spec.fast == FAST_OFF || cell.spec.fast == FAST_CHECK)
		return;
	if (cell.spec.fast == FAST_EAGER)
		enough = 1;
	for (i = 0; i < mm->nsites && mm->site[i].ip != ip; i++)
		;
	if (i == SITES)
		return;
	if (i == mm->nsites) {
		mm->nsites++;
		mm->site[i].ip = ip;
		mm->site[i].nr = t->call.nr;
		mm->site[i].hits = 0;
	}
	before = mm->site[i].hits;
	mm->site[i].hits += weight;
	if (before < enough && before + weight >= enough)
		signal_patch(t, ip, mm->refs == 1 && mm->tasks.next == mm->tasks.prev, box);
	else if (mm->forked && box && before >= enough)
		signal_patch(t, 0, false, true);
	else
		return;
	mm->forked = mm->forked && !box;
}

int fast_site_nr(const struct task *t, uint64_t ip)
{
	for (uint32_t i = 0; t->mm && i < t->mm->nsites; i++)
		if (t->mm->site[i].ip == ip)
			return t->mm->site[i].nr;
	return -1;
}

void fast_postable(struct task *t, uint32_t weight)
{
	if (!t->mm || !t->mm->own || t->fast_off || !post_is_on())
		return;
	t->mm->calls += weight;
	if (t->mm->calls < box_calls())
		return;
	/* Where no box could be had, it is not tried for ever. */
	if (t->mm->post || t->mm->calls < 4 * POST_CALLS)
		site_hit(t, weight, SITE_HITS_POST);
}

struct post *fast_post(const struct task *t)
{
	return t->mm && t->mm->published.post ? t->mm->post : NULL;
}

int fast_post_set(struct task *t, struct post *post)
{
	if (!t->mm || t->mm->post)
		return -EBUSY;
	t->mm->post = post;
	publish(t->mm);
	return 0;
}

void fast_id_told(struct task *t)
{
	if (t->mm && t->mm->published.ids)
		site_hit(t, 1, SITE_HITS_ID);
}

void fast_answered(struct task *t, int dfd, const char *path, uint32_t kind, int64_t result,
		   const void *said)
{
	const struct fast_own *own = t->mm ? &t->mm->published : NULL;
	struct fast_key k = { .kind = kind, .path = path };
	bool known = result >= 0 || result == -ENOENT || result == -ENOTDIR ||
		     (result == -EINVAL && kind == FAST_READLINK);

	if (!fast_notes.on)
		return;
	if (own)
		k.ctx = path[0] == '/' ? own->abs : dfd == AT_FDCWD ? own->rel : 0;
	if (!known || !k.ctx) {
		fast_notes.on = false;
		return;
	}
	k.len = (uint32_t)strnlen(path, PATH_MAX_LEN);
	switch (fast_note_put(&k, (int32_t)result, said)) {
	case FAST_WAS_THERE:
		site_hit(t, 1, SITE_HITS);
		break;
	case FAST_DIFFERED:
		if (cell.spec.fast == FAST_CHECK)
			log_warn("call %d: what was remembered of %s is not true", t->call.nr,
				 path);
		break;
	default:
		break;
	}
}
