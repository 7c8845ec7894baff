/* The hashes of files that were changed, for the journal.
 *
 * A file that was changed and closed waits here for a second, or until many do: what is temporary
 * is removed by then, and is never read. Then another thread reads and hashes it (host/worker.h),
 * large ones in parts, so that others who need that thread have their turn. A file that was changed
 * meanwhile waits again, and some times later is recorded without a hash, as are large ones. At the
 * end of the cell there is nobody left who could be kept waiting, but the operator: only so many
 * bytes are read then.
 *
 * What waits holds the file and its place: it is recorded under the name that it has then. A file
 * that got a name while it was open for writing keeps its place here after that, since the name
 * that it was opened by may be none (O_TMPFILE) or go: *kept* ones wait for nothing, and go when
 * room is needed. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/sha256.h"
#include "host/host.h"
#include "kernel/cell/journal.h"
#include "kernel/platform/hostwork.h"
#include "kernel/task/clock.h"
#include "kernel/task/timer.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"

#define WAIT_NS NSEC_PER_SEC
#define MANY                                                                                     \
	8192u /* then the oldest is not waited for. An archive is unpacked first, and read later \
	       */
#define CONTENTS_MAX 12288u
#define SIZE_MAX_HASHED (64ull << 20)
#define PART (1ull << 20)
#define AT_ONCE 32u /* that the other thread has: it tells of all of them once */
#define TRIES 3u
#define END_BYTES (32ull << 20)
#define RELEASE_BYTES (4ull << 20) /* of a mount that goes */

struct content {
	struct hostwork work; /* first */
	struct list link;
	struct path at; /* counted */
	struct jtext text; /* instead of it: of a mount that is gone */
	struct inode *ino; /* counted; NULL: it was removed while the other thread has it */
	int pid;
	int64_t due;
	bool hashing; /* the other thread has it */
	bool changed; /* ... and it was changed since */
	bool idle; /* in "kept" */
	bool keeps; /* its place is wanted while it is open for writing */
	bool in_parts; /* it is the one that "parts" is about */
	unsigned tries;
	uint64_t size, done;
	struct timespec mtime;
};
OBJ_TYPE(content_type, struct content, CONTENTS_MAX);

static struct list waiting = LIST_INIT(waiting); /* the one that is due first comes first */
static struct list kept = LIST_INIT(kept); /* the oldest first */
static unsigned nwaiting, nhashing;
static bool ending; /* nothing more is given to the other thread */
static bool parts; /* a file in parts is on its way: one at a time */

static void contents_time(struct ktimer *timer);
KTIMER(timer, contents_time);

static void record(struct content *c, const uint8_t *hash, const char *why)
{
	const struct journal_CONTENT r = { .path = c->text.n ? c->text : journal_path(&c->at),
					   .size = c->size,
					   .hash = hash,
					   .why = { why, (uint32_t)strlen(why) } };

	if (r.path.n)
		journal_put(J_CONTENT, &r, c->pid);
}

/* The file is let go. */
static void content_leave(struct content *c)
{
	struct inode *ino = c->ino;

	if (!ino)
		return;
	c->ino = NULL;
	ino->content = NULL;
	inode_put(ino);
	path_put(&c->at);
}

static void content_unlink(struct content *c)
{
	if (!list_is_empty(&c->link) && !c->idle)
		nwaiting--;
	list_remove(&c->link);
	c->idle = false;
}

static void content_free(struct content *c)
{
	content_unlink(c);
	content_leave(c);
	obj_free(&content_type, c);
}

/* It is recorded. */
static void content_done(struct content *c)
{
	if (!c->keeps || ending || !c->ino || !c->ino->writers || !c->ino->nlink) {
		content_free(c);
		return;
	}
	c->idle = true;
	c->tries = 0;
	list_append(&kept, &c->link);
}

static struct content *content_alloc(void)
{
	struct content *c = obj_new(&content_type);

	if (c || list_is_empty(&kept))
		return c;
	content_free(list_first(&kept, struct content, link));
	return obj_new(&content_type);
}

static void content_place(struct content *c, const struct path *p)
{
	struct path old = c->at;

	c->at = *p;
	path_get(&c->at);
	path_put(&old);
}

static struct content *content_new(const struct path *p, struct inode *ino, int pid)
{
	struct content *c = content_alloc();

	if (!c)
		return NULL;
	c->at = *p;
	path_get(&c->at);
	c->ino = inode_get(ino);
	c->pid = pid;
	list_init(&c->link);
	ino->content = c;
	return c;
}

const struct path *content_place_of(const struct inode *ino)
{
	return ino->content && ino->nlink ? &ino->content->at : NULL;
}

/* What the other thread has it has by a descriptor of its own. */
void content_forget(const struct name *n)
{
	struct content *c = n->inode->content;

	if (c->ino->nlink && c->at.name != n)
		return;
	c->size = c->ino->size;
	if (c->ino->nlink && !c->idle)
		record(c, NULL, "removed");
	if (c->hashing)
		content_leave(c);
	else
		content_free(c);
}

static void content_wait(struct content *c)
{
	c->due = now_mono() + WAIT_NS;
	list_append(&waiting, &c->link);
	nwaiting++;
	if (!ktimer_is_started(&timer))
		(void)ktimer_start(&timer, c->due);
	/* Not from here: the caller may be closing a file in the middle of something. */
	if (nwaiting > MANY && timer.expires > now_mono())
		(void)ktimer_start(&timer, now_mono());
}

void content_moved(const struct path *p, int pid)
{
	struct inode *ino = p->name->inode;
	struct content *c = ino->content;

	if (!inode_is_reg(ino) || !ino->ops->hostfd)
		return;
	if (c) {
		content_place(c, p);
	} else if (ino->nlink == 1 || ino->writers) {
		c = content_new(p, ino, pid);
		if (!c)
			return;
		if (ino->nlink == 1) { /* it was made without a name */
			content_wait(c);
		} else {
			c->idle = true;
			list_append(&kept, &c->link);
		}
	} else {
		return;
	}
	c->keeps = ino->writers;
}

static bool is_as_before(const struct content *c)
{
	return !c->changed && c->ino->size == c->size &&
	       !memcmp(&c->ino->mtime, &c->mtime, sizeof(c->mtime));
}

static void part_done(struct hostwork *h, uint32_t tag, const struct work *w);

/* The next part to the other thread; false: that cannot be done. */
static bool part_put(struct content *c)
{
	uint64_t n = MIN(c->size - c->done, PART);
	int fd = c->ino->ops->hostfd ? CHECKED(c->ino->ops)->hostfd(c->ino, false) : -ENODEV;
	struct work w = { .op = WORK_HASH,
			  .flags = WORK_CLOSE | WORK_FIRST | WORK_QUIET,
			  .off = (int64_t)c->done,
			  .len = (int64_t)n,
			  .to = (c->done ? 0 : HASH_FIRST) |
				(c->done + n == c->size ? HASH_LAST : 0) };

	w.fd = fd < 0 ? fd : host_dup(fd);
	if (w.fd < 0)
		return false;
	c->work.done = CALLBACK(part_done);
	hostwork_put(&c->work, 0, &w);
	return true;
}

/* What was put starts, and its end is told. */
static void round_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	(void)h, (void)tag, (void)w;
}

static void round_start(void)
{
	static struct hostwork end;
	const struct work w = { .op = WORK_NOTHING, .flags = WORK_FIRST };

	end.done = CALLBACK(round_done);
	hostwork_put(&end, 0, &w);
	hostwork_start();
}

static void content_end(struct content *c)
{
	nhashing--;
	if (c->in_parts)
		parts = c->in_parts = false;
	c->hashing = false;
	content_done(c);
}

static void part_done(struct hostwork *h, uint32_t tag, const struct work *w)
{
	struct content *c = container_of(h, struct content, work);
	uint64_t want = MIN(c->size - c->done, PART);
	bool last = c->done + want == c->size;

	(void)tag;
	if (!c->ino) {
		/* it was removed */
	} else if (w->result >= 0 && ((uint64_t)w->result != want || !is_as_before(c))) {
		if (c->ino->nlink && ++c->tries < TRIES) {
			nhashing--;
			if (c->in_parts)
				parts = c->in_parts = false;
			c->hashing = c->changed = false;
			content_wait(c);
			if (!nhashing)
				contents_time(&timer);
			return;
		}
		if (c->ino->nlink)
			record(c, NULL, "error");
	} else if (w->result < 0) {
		record(c, NULL, "error");
	} else if (last) {
		record(c, w->hash, "");
	} else {
		c->done += want;
		if (hostwork_has_room(2) && part_put(c)) {
			round_start();
			return;
		}
		record(c, NULL, "error");
	}
	content_end(c);
	if (!nhashing)
		contents_time(&timer);
}

static void hash_nothing(struct content *c)
{
	uint8_t hash[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_end(&s, hash);
	record(c, hash, "");
}

/* Of the file as it is now; true: there is nothing more to do about it. */
static bool content_start(struct content *c)
{
	c->size = c->ino->size;
	c->mtime = c->ino->mtime;
	c->done = 0;
	if (!c->ino->nlink)
		return true; /* its removal is recorded */
	if (c->size > SIZE_MAX_HASHED)
		record(c, NULL, "large");
	else if (!c->size)
		hash_nothing(c);
	else if (!part_put(c))
		record(c, NULL, "error");
	else
		return false;
	return true;
}

static void contents_time(struct ktimer *unused)
{
	bool any = false;

	(void)unused;
	if (ending)
		return;
	while (!list_is_empty(&waiting) && nhashing < AT_ONCE && hostwork_has_room(2)) {
		struct content *c = list_first(&waiting, struct content, link);

		if (nwaiting <= MANY && c->due > now_mono())
			break;
		if (c->ino->size > PART && parts)
			break;
		list_remove(&c->link);
		nwaiting--;
		if (content_start(c)) {
			content_done(c);
			continue;
		}
		if (c->size > PART)
			parts = c->in_parts = true;
		c->hashing = any = true;
		nhashing++;
	}
	if (any)
		round_start();
	if (list_is_empty(&waiting))
		ktimer_stop(&timer);
	else if (!nhashing) /* else the next one that is done comes back here */
		(void)ktimer_start(&timer, MAX(list_first(&waiting, struct content, link)->due,
					       now_mono() + 1));
}

void content_changed(const struct path *p, struct inode *ino, int pid)
{
	struct content *c = ino->content;

	if (!inode_is_reg(ino) || !ino->ops->hostfd || !ino->nlink)
		return;
	if (c) {
		c->pid = pid;
		c->changed |= c->hashing;
		if (!p->name->deleted)
			content_place(c, p);
		if (c->idle) {
			content_unlink(c);
			content_wait(c);
		}
		return;
	}
	c = p->name->deleted ? NULL : content_new(p, ino, pid);
	if (!c) {
		struct content now = { .at = *p, .size = ino->size, .pid = pid };

		record(&now, NULL, p->name->deleted ? "removed" : "error");
		return;
	}
	content_wait(c);
}

/* Here and now, in this thread. */
static void content_finish(struct content *c, uint64_t *left)
{
	static uint8_t buffer[1 << 16];
	uint8_t hash[SHA256_SIZE];
	int fd = CHECKED(c->ino->ops)->hostfd(c->ino, false);
	struct sha256 s;

	c->size = c->ino->size;
	if (!c->ino->nlink)
		return;
	if (c->size > *left || c->size > SIZE_MAX_HASHED) {
		record(c, NULL, c->size > SIZE_MAX_HASHED ? "large" : "ended");
		return;
	}
	*left -= c->size;
	sha256_init(&s);
	for (c->done = 0; fd >= 0 && c->done < c->size;) {
		int64_t n = host_pread(fd, buffer, MIN(sizeof(buffer), c->size - c->done),
				       (int64_t)c->done);

		if (n <= 0)
			break;
		sha256_add(&s, buffer, (size_t)n);
		c->done += (uint64_t)n;
	}
	sha256_end(&s, hash);
	record(c, c->done == c->size ? hash : NULL, c->done == c->size ? "" : "error");
}

void content_lost(struct inode *ino, struct jtext path, int pid)
{
	uint64_t left = RELEASE_BYTES;
	struct content c = { .text = path, .ino = ino, .pid = pid };

	if (ino->ops->hostfd)
		content_finish(&c, &left);
}

void contents_release(const struct mount *m)
{
	uint64_t left = RELEASE_BYTES;
	struct content *c, *tmp;

	ending = true;
	while (nhashing && hostwork_wait())
		;
	ending = false;
	list_for_each_safe(c, tmp, &waiting, link)
		if (c->at.mnt == m) {
			content_finish(c, &left);
			content_free(c);
		}
	list_for_each_safe(c, tmp, &kept, link)
		if (c->at.mnt == m)
			content_free(c);
	contents_time(&timer);
}

void contents_end(void)
{
	uint64_t left = END_BYTES;

	ending = true;
	/* What the other thread has, and what it puts off because it was changed. */
	while (nhashing && hostwork_wait())
		;
	while (!list_is_empty(&waiting)) {
		struct content *c = list_first(&waiting, struct content, link);

		content_finish(c, &left);
		content_free(c);
	}
}
