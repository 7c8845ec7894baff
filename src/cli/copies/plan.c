/* What a cell changed in its copy; see copies.h. The cell's whole directory comes as a tar archive,
 * in one pass: contents are hashed, those that differ from the record stay in a file without a name
 * (the spool). So what is shown later is what is written, whatever the cell does meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/copies/copies.h"
#include "cli/vivd.h"
#include "client/paths.h"
#include "files/tar.h"

#define ENTRIES_MAX 2000000
#define NAMES_MAX (256u << 20) /* bytes of memory for all that differs */
#define STREAM_MORE                                                                  \
	(8ull << 30) /* bytes of an archive beyond what was copied and may be merged \
		      */

struct reading {
	struct plan *p;
	const char *cell;
	struct viv_client *client;
	struct viv_error error;
	bool cut;
	uint64_t entries, bytes, bytes_max, names;
	struct buf list; /* struct delta * */
	/* the file that is being read */
	struct delta d;
	const struct base *base;
	struct sha1 sum;
	bool open;
	struct err *e;
};

/* ---- deltas ---- */

static int delta_compare(const void *a, const void *b)
{
	return strcmp(((const struct delta *)a)->path, ((const struct delta *)b)->path);
}

struct delta *delta_find(const struct plan *p, const char *path)
{
	struct delta key = { .path = (char *)path };

	return p->n ? bsearch(&key, p->v, p->n, sizeof(key), delta_compare) : NULL;
}

/* Takes path and target of d. The first one of a path counts. */
static void delta_add(struct reading *r, const struct delta *d)
{
	struct delta *copy = xalloc(sizeof(*copy)), **found;

	*copy = *d;
	found = tsearch(copy, &r->p->index, delta_compare);
	if (found && *found == copy) {
		r->names += sizeof(*copy) + strlen(copy->path) +
			    (copy->target ? strlen(copy->target) : 0);
		buf_add(&r->list, &copy, sizeof(copy));
		return;
	}
	free(copy->path);
	free(copy->target);
	free(copy);
}

/* ---- entries ---- */

static const char *kind_refused(char type)
{
	return type == '6' ? "it is a FIFO" : "it is a device";
}

/* The file whose content came, all of it. */
static void file_end(struct reading *r)
{
	struct delta *d = &r->d;
	const struct base *b = r->base;
	bool exec_was = b && b->type == 'f' && (b->mode & 0100);

	if (!r->open)
		return;
	r->open = false;
	sha1_end(&r->sum, d->hash);
	d->content = !b || b->type != 'f' || b->size != d->size ||
		     memcmp(b->hash, d->hash, SHA1_SIZE) != 0;
	d->exec = (d->mode & 0100) && !exec_was;
	if (!d->content && !!(d->mode & 0100) == exec_was) {
		free(d->path);
		return;
	}
	if (d->content && !d->refused)
		r->p->used += d->size;
	delta_add(r, d);
}

/* A second name of a file that came before. */
static int hard_link(struct reading *r, const char *link)
{
	struct plan *p = r->p;
	struct delta key = { 0 }, **found;
	const struct base *b;

	while (!strncmp(link, "./", 2))
		link += 2;
	key.path = (char *)link;
	found = tfind(&key, &p->index, delta_compare);
	b = base_find(p->copied, link);
	if (found && (*found)->type == 'f' && (*found)->content && !(*found)->refused) {
		r->d.size = (*found)->size;
		r->d.at = (*found)->at;
		memcpy(r->d.hash, (*found)->hash, SHA1_SIZE);
	} else if (!found && b && b->type == 'f' && r->base && r->base->type == 'f' &&
		   !memcmp(b->hash, r->base->hash, SHA1_SIZE)) {
		free(r->d.path); /* as it was */
		return 0;
	} else {
		r->d.refused = "it is a hard link to a file that is not merged";
	}
	r->d.content = true;
	r->d.exec =
		(r->d.mode & 0100) && !(r->base && r->base->type == 'f' && (r->base->mode & 0100));
	delta_add(r, &r->d);
	return 0;
}

static void link_add(struct reading *r, const char *link)
{
	struct sha1 s;

	sha1_init(&s);
	sha1_add(&s, link, strlen(link));
	sha1_end(&s, r->d.hash);
	r->d.size = strlen(link);
	if (r->base && r->base->type == 'l' && !memcmp(r->base->hash, r->d.hash, SHA1_SIZE)) {
		free(r->d.path);
		return;
	}
	r->d.content = true;
	r->d.target = xstrndup(link, strlen(link));
	r->d.refused = r->d.refused ? r->d.refused : link_wrong(r->d.path, link);
	delta_add(r, &r->d);
}

static int entry(void *arg, const struct tar_entry *t, const char *path, const char *link)
{
	struct reading *r = arg;
	struct plan *p = r->p;
	struct base *b = base_find(p->copied, path);

	file_end(r);
	if (++r->entries > ENTRIES_MAX || r->names > NAMES_MAX)
		return -E2BIG;
	/* Its contents would come to that after minutes. */
	if (t->type == '0' && t->size > r->bytes_max - r->bytes)
		return -EFBIG;
	if (b)
		b->seen = true;
	r->base = b;
	r->d = (struct delta){ .path = xstrndup(path, strlen(path)),
			       .kind = b ? 'C' : 'A',
			       .mode = t->mode & 0777,
			       .refused = path_wrong(path, p->with_git) };
	switch (t->type) {
	case '5':
		r->d.type = 'd';
		r->d.content = true;
		if (b && b->type == 'd')
			free(r->d.path);
		else
			delta_add(r, &r->d);
		return 0;
	case '2':
		r->d.type = 'l';
		link_add(r, link);
		return 0;
	case '1':
		r->d.type = 'f';
		return hard_link(r, link);
	case '0':
		r->d.type = 'f';
		r->d.size = t->size;
		r->d.at = p->used;
		/* Of what is refused, only whether it is as it was. */
		if (t->size <= p->max - p->used && (!r->d.refused || (b && b->size == t->size))) {
			sha1_init(&r->sum);
			r->open = true;
			r->d.content = true;
			if (!t->size)
				file_end(r);
			return 1;
		}
		if (!r->d.refused)
			r->d.refused = "it is larger than --max-size allows";
		break;
	default:
		r->d.type = 'o';
		r->d.refused = kind_refused(t->type);
	}
	r->d.content = true;
	delta_add(r, &r->d);
	return 0;
}

static int data(void *arg, const void *bytes, size_t n)
{
	struct reading *r = arg;
	uint64_t at = r->d.at + r->sum.len;
	const char *from = bytes;
	size_t done = 0;

	/* One that is as it was is overwritten by the next. */
	while (done < n) {
		ssize_t some = pwrite(r->p->spool, from + done, n - done, (off_t)(at + done));

		if (some < 0 && errno != EINTR)
			return -errno;
		done += (size_t)MAX(some, 0);
	}
	sha1_add(&r->sum, bytes, n);
	return 0;
}

static ssize_t answer_read(void *arg, void *buf, size_t n)
{
	struct reading *r = arg;
	long got = viv_get_data(r->client, buf, n, &r->error);

	if (got < 0) {
		r->cut = true;
		return -EIO;
	}
	r->bytes += (uint64_t)got;
	return r->bytes > r->bytes_max ? -EFBIG : got;
}

/* ---- all of it ---- */

static int archive_read(struct reading *r, struct err *e)
{
	const struct tar_in in = { .read = answer_read, .arg = r };
	const struct tar_visit visit = { .entry = entry, .data = data, .arg = r };
	char about[TAR_ABOUT], *dst = xalloc(strlen(r->p->copied->dst) + 3);
	struct buf path = { 0 };
	int ret;

	sprintf(dst, "%s/.", r->p->copied->dst);
	buf_add_text(&path, cell_path(r->cell, "/files/tar").str);
	query_add(&path, "path", dst);
	free(dst);
	ret = vivd_get((char *)path.p, &r->client, e);
	buf_free(&path);
	if (ret < 0)
		return err_wrap(e, "cannot read '%s' of the cell", r->p->copied->dst);
	ret = tar_read(&in, &visit, about);
	file_end(r);
	if (ret == 0)
		return 0;
	vivd_disconnect();
	if (r->cut)
		return viv_error_get(&r->error, e);
	if (ret == -EFBIG || ret == -E2BIG)
		return err_set(e, ERR_TOO_LARGE,
			       "'%s' of the cell is too large to merge" REMEDY
			       "remove what is large in it, or raise --max-size",
			       r->p->copied->dst);
	return err_set(e, ERR_FAILED, "cannot read '%s' of the cell: %s", about,
		       ret == -EILSEQ || ret == -EXDEV ? "what comes is no archive of it"
						       : strerror(-ret));
}

static void deleted_add(struct reading *r)
{
	struct copied *c = r->p->copied;

	for (size_t i = 0; i < c->n; i++) {
		struct delta d = { .kind = 'D' };

		if (c->base[i].seen)
			continue;
		d.path = xstrndup(c->base[i].path, strlen(c->base[i].path));
		d.refused = path_wrong(d.path, r->p->with_git);
		delta_add(r, &d);
	}
}

/* What stands against it on the host, or is there already. */
static void host_judge(struct plan *p, struct delta *d)
{
	const struct base *b = base_find(p->copied, d->path);
	uint8_t hash[SHA1_SIZE];

	host_look(p->root, d->path, &d->was);
	if (d->was.type == '!') {
		d->conflict = "something else is in its place on the host";
	} else if (d->kind == 'D') {
		d->done = !d->was.type;
		if (!d->done && !host_is_base(p->root, b, &d->was))
			d->conflict = "it was changed on the host";
	} else if (d->type == 'd' && d->was.type == 'd') {
		d->done = true;
	} else if (d->was.type == d->type && d->content && d->type != 'd' &&
		   (uint64_t)d->was.st.st_size == d->size &&
		   host_hash(p->root, d->path, &d->was, hash) &&
		   !memcmp(hash, d->hash, SHA1_SIZE)) {
		d->done = !d->exec || (d->was.st.st_mode & 0100);
	} else if (!b && d->was.type) {
		d->conflict = "the host has a file of this name, too";
	} else if (b && !d->was.type) {
		d->conflict = "it was deleted on the host";
	} else if (b && !host_is_base(p->root, b, &d->was)) {
		d->conflict = "it was changed on the host";
	}
}

static void deltas_finish(struct reading *r)
{
	struct plan *p = r->p;

	p->n = BUF_COUNT(&r->list, struct delta *);
	p->v = xalloc((p->n + 1) * sizeof(*p->v));
	for (size_t i = 0; i < p->n; i++) {
		struct delta *d = *BUF_ITEM(&r->list, struct delta *, i);

		p->v[i] = *d;
		tdelete(d, &p->index, delta_compare);
		free(d);
	}
	buf_free(&r->list);
	qsort(p->v, p->n, sizeof(*p->v), delta_compare);
	if (!p->with_git)
		git_dirs_refuse(p);
	for (size_t i = 0; i < p->n; i++) {
		struct delta *d = &p->v[i];

		d->runs = d->kind == 'D' || !d->content ? NULL : path_runs(d->path);
		if (!d->refused)
			host_judge(p, d);
	}
}

static int spool_open(struct err *e)
{
	char dir[3000], path[3100];
	int fd;

	if (path_state(dir, sizeof(dir), e) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/merge.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot make a file in '%s': %s", dir,
			       strerror(errno));
	unlink(path);
	return fd;
}

int plan_make(struct plan *p, struct copied *c, const char *cell, uint64_t max, bool with_git,
	      struct err *e)
{
	struct reading *r = xalloc(sizeof(*r));
	int ret;

	*p = (struct plan){
		.copied = c, .root = -1, .spool = -1, .max = max, .with_git = with_git
	};
	r->p = p;
	r->cell = cell;
	r->e = e;
	r->bytes_max = 2 * max + STREAM_MORE;
	for (size_t i = 0; i < c->n; i++) {
		c->base[i].seen = false;
		r->bytes_max += c->base[i].size + 2048;
	}
	ret = copied_open(c, &p->root, e);
	if (!ret && (p->spool = spool_open(e)) < 0)
		ret = -1;
	if (!ret)
		ret = archive_read(r, e);
	if (!ret)
		deleted_add(r);
	deltas_finish(r);
	free(r);
	return ret;
}

void plan_fini(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].path);
		free(p->v[i].target);
	}
	free(p->v);
	if (p->root >= 0)
		close(p->root);
	if (p->spool >= 0)
		close(p->spool);
}

char *delta_content(const struct plan *p, const struct delta *d, uint64_t max)
{
	char *text;
	size_t n = 0;

	if (d->size > max)
		return NULL;
	text = xalloc((size_t)d->size + 1);
	if (d->type == 'l') {
		memcpy(text, d->target, (size_t)d->size);
		return text;
	}
	while (n < d->size) {
		ssize_t some = pread(p->spool, text + n, (size_t)d->size - n, (off_t)(d->at + n));

		if (some <= 0) {
			free(text);
			return NULL;
		}
		n += (size_t)some;
	}
	return text;
}
