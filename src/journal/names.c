/* See names.h. */
#include "journal/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

#define OPEN_CREAT 0100u /* as the flags of open(2) are in a cell */
#define OPEN_TRUNC 01000u
#define MODE_TYPE 0170000u
#define MODE_DIRECTORY 0040000u
#define WRITES_LOOKED_AT 16 /* of a file, for the one that a CONTENT is about */
#define STEPS_MAX 4096 /* from a directory up to the root: a path has no more */

const char *const name_effects[NAME_EFFECTS] = {
	[NAME_NONE] = "none",		[NAME_CHANGED] = "changed", [NAME_WRITTEN] = "written",
	[NAME_CREATED] = "created",	[NAME_REMOVED] = "removed", [NAME_RENAMED] = "renamed",
	[NAME_TEMPORARY] = "temporary",
};

static uint32_t file_new(struct names *t, uint32_t name, uint32_t origin, uint32_t flags)
{
	struct file *f = buf_more(&t->files, sizeof(*f));

	f->name = name;
	f->origin = origin;
	f->links = 1;
	f->flags = flags;
	return (uint32_t)(BUF_COUNT(&t->files, struct file) - 1);
}

void names_init(struct names *t, bool keep_writes)
{
	*t = (struct names){ .keep_writes = keep_writes, .nbuckets = 4096 };
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
	if (getrandom(t->key, sizeof(t->key), 0) != sizeof(t->key))
		t->key[0] = (uint64_t)(uintptr_t)t->buckets;
	buf_more(&t->names, sizeof(struct name));
	buf_more(&t->files, sizeof(struct file));
	buf_more(&t->writes, sizeof(struct file_write));
	buf_more(&t->contents, sizeof(struct file_content));
	file_new(t, 0, 0, FILE_DIRECTORY);
	file_new(t, 0, 0, FILE_DIRECTORY);
}

void names_fini(struct names *t)
{
	buf_free(&t->names);
	buf_free(&t->files);
	buf_free(&t->writes);
	buf_free(&t->contents);
	buf_free(&t->texts);
	free(t->buckets);
	*t = (struct names){ 0 };
}

/* ---- names ---- */

static uint32_t hash_of(const struct names *t, uint32_t dir, const char *text, size_t n)
{
	uint64_t key[2] = { t->key[0] ^ dir, t->key[1] };

	return (uint32_t)siphash(key, text, n);
}

static uint32_t name_find(const struct names *t, uint32_t dir, uint32_t hash, const char *text,
			  size_t n)
{
	uint32_t i = t->buckets[hash & (t->nbuckets - 1)];

	while (i) {
		const struct name *m = name_at(t, i);

		if (m->hash == hash && m->dir == dir && m->n == n &&
		    !memcmp(t->texts.p + m->text, text, n))
			break;
		i = m->next;
	}
	return i;
}

static void buckets_grow(struct names *t)
{
	if (names_count(t) < t->nbuckets)
		return;
	free(t->buckets);
	t->nbuckets *= 2;
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
	for (uint32_t i = 1; i < names_count(t); i++) {
		struct name *m = name_at(t, i);
		uint32_t *b = &t->buckets[m->hash & (t->nbuckets - 1)];

		m->next = *b;
		*b = i;
	}
}

/* 0: there are too many. */
static uint32_t name_made(struct names *t, uint32_t dir, const char *text, size_t n)
{
	uint32_t hash = hash_of(t, dir, text, n), i = name_find(t, dir, hash, text, n);
	uint32_t at;
	struct name *m;

	if (i)
		return i;
	if (names_count(t) >= NAMES_MAX || t->texts.len > UINT32_MAX - 2 * JOURNAL_TEXT_MAX) {
		t->left_out++;
		return 0;
	}
	buckets_grow(t);
	at = (uint32_t)buf_add(&t->texts, text, n);
	i = names_count(t);
	m = buf_more(&t->names, sizeof(*m));
	*m = (struct name){ .dir = dir, .text = at, .n = (uint32_t)n, .hash = hash };
	m->next = t->buckets[hash & (t->nbuckets - 1)];
	t->buckets[hash & (t->nbuckets - 1)] = i;
	return i;
}

/* The first time that a name is met: the file was there before, unless its directory was made. */
static void file_assume(struct names *t, uint32_t name)
{
	bool made = file_at(t, name_at(t, name)->dir)->flags & FILE_CREATED;
	uint32_t f = file_new(t, name, made ? 0 : name, made ? FILE_CREATED : 0);
	struct name *m = name_at(t, name);

	m->now = m->last = f;
	m->before = made ? 0 : f;
}

/* The next component of a path: false at its end. */
static bool part_next(const char **at, const char *end, const char **part, size_t *n)
{
	const char *slash;

	while (*at < end && **at == '/')
		++*at;
	if (*at == end)
		return false;
	slash = memchr(*at, '/', (size_t)(end - *at));
	slash = slash ? slash : end;
	*part = *at;
	*n = (size_t)(slash - *at);
	*at = slash;
	return true;
}

/* The name at a path; directories on the way are assumed. 0: none, or too many. */
static uint32_t path_made(struct names *t, struct jtext path)
{
	const char *at = path.p, *end = path.p + path.n, *part;
	uint32_t dir = path.n && *path.p == '/' ? NAMES_ROOT : NAMES_LOOSE, name = 0;
	size_t n;

	while (part_next(&at, end, &part, &n)) {
		if (name) {
			struct name *m = name_at(t, name);

			if (!m->last) {
				file_assume(t, name);
				m = name_at(t, name);
			}
			dir = m->now ? m->now : m->last;
			file_at(t, dir)->flags |= FILE_DIRECTORY;
		}
		name = name_made(t, dir, part, n);
		if (!name)
			return 0;
	}
	return name;
}

uint32_t names_find(const struct names *t, const char *path, size_t n)
{
	const char *at = path, *end = path + n, *part;
	uint32_t dir = n && *path == '/' ? NAMES_ROOT : NAMES_LOOSE, name = 0;

	while (part_next(&at, end, &part, &n)) {
		if (name) {
			const struct name *m = name_at(t, name);

			dir = m->now ? m->now : m->last;
			if (!dir)
				return 0;
		}
		name = name_find(t, dir, hash_of(t, dir, part, n), part, n);
		if (!name)
			return 0;
	}
	return name && name_at(t, name)->last ? name : 0;
}

/* The file that a path is or was; what is removed stays so. 0: none. */
static uint32_t path_file(struct names *t, struct jtext path)
{
	uint32_t name = path_made(t, path);

	if (!name)
		return 0;
	if (!name_at(t, name)->last)
		file_assume(t, name);
	return name_at(t, name)->now ? name_at(t, name)->now : name_at(t, name)->last;
}

/* ---- changes of names ---- */

static void name_note(struct names *t, uint32_t name, const struct journal_entry *e)
{
	name_at(t, name)->seq = e->seq;
	name_at(t, name)->kind = e->kind;
}

static void name_clear(struct names *t, uint32_t name)
{
	struct name *m = name_at(t, name);

	if (m->now && file_at(t, m->now)->links)
		file_at(t, m->now)->links--;
	m->now = 0;
}

static void name_set(struct names *t, uint32_t name, uint32_t file)
{
	name_clear(t, name);
	name_at(t, name)->now = name_at(t, name)->last = file;
	file_at(t, file)->links++;
	file_at(t, file)->name = name;
}

static void write_add(struct names *t, uint32_t file, const struct journal_entry *e)
{
	struct file *f = file_at(t, file);
	struct file_write *w;

	if (!t->keep_writes || !file)
		return;
	if (BUF_COUNT(&t->writes, struct file_write) >= UINT32_MAX) {
		t->left_out++;
		return;
	}
	w = buf_more(&t->writes, sizeof(*w));
	w->before = f->write;
	f->write = (uint32_t)(BUF_COUNT(&t->writes, struct file_write) - 1);
	w->seq = e->seq;
	w->pid = e->pid;
}

static void follow_create(struct names *t, const struct journal_entry *e)
{
	uint32_t name = path_made(t, e->record->CREATE.path), file;
	uint32_t flags = FILE_CREATED;
	struct name *m;

	if (!name)
		return;
	m = name_at(t, name);
	if ((e->record->CREATE.mode & MODE_TYPE) == MODE_DIRECTORY)
		flags |= FILE_DIRECTORY;
	if (m->now && m->now == m->before && file_at(t, m->now)->flags == FILE_OPENED) {
		/* The record of its opening came first. */
		file = m->now;
		m->before = 0;
		file_at(t, file)->origin = 0;
		file_at(t, file)->flags |= flags;
	} else {
		file = file_new(t, name, 0, flags);
		file_at(t, file)->links = 0;
		name_set(t, name, file);
	}
	name_note(t, name, e);
	write_add(t, file, e);
}

static void follow_remove(struct names *t, const struct journal_entry *e)
{
	uint32_t name = path_made(t, e->record->REMOVE.path);

	if (!name)
		return;
	if (!name_at(t, name)->last)
		file_assume(t, name);
	name_clear(t, name);
	name_note(t, name, e);
}

/* Is file the directory dir, or one above it? */
static bool is_above(const struct names *t, uint32_t file, uint32_t dir)
{
	for (unsigned steps = 0; dir > NAMES_LOOSE; steps++) {
		if (dir == file || steps > STEPS_MAX)
			return true;
		dir = name_at(t, file_at(t, dir)->name)->dir;
	}
	return dir == file;
}

/* The file at a name that something is done with: it is there, whatever was said before. */
static uint32_t name_live(struct names *t, uint32_t name)
{
	if (!name_at(t, name)->last)
		file_assume(t, name);
	if (!name_at(t, name)->now) {
		uint32_t f = file_new(t, name, 0, FILE_CREATED);

		name_at(t, name)->now = name_at(t, name)->last = f;
	}
	return name_at(t, name)->now;
}

/* In older journals a record does not say whether something was replaced: there, a new name that
 * was never met before counts as one that was not there. */
static void follow_rename(struct names *t, const struct journal_entry *e)
{
	const struct journal_RENAME *x = &e->record->RENAME;
	uint32_t from = path_made(t, x->path), to = from ? path_made(t, x->to) : 0;
	uint32_t a, b;

	if (!to || to == from)
		return;
	a = name_live(t, from);
	if (is_above(t, a, name_at(t, to)->dir))
		return;
	if (!x->exchange) {
		if (x->replaced) {
			b = name_live(t, to);
			if (b != a && (x->replaced & MODE_TYPE) == MODE_DIRECTORY)
				file_at(t, b)->flags |= FILE_DIRECTORY;
		}
		if (name_at(t, to)->now == a)
			return;
		file_at(t, a)->links++; /* so that it is never without a name */
		name_clear(t, from);
		name_set(t, to, a);
		file_at(t, a)->links--;
		name_note(t, from, e);
		name_note(t, to, e);
		return;
	}
	b = name_live(t, to);
	if (is_above(t, b, name_at(t, from)->dir))
		return;
	name_note(t, from, e);
	name_note(t, to, e);
	name_at(t, from)->now = name_at(t, from)->last = b;
	name_at(t, to)->now = name_at(t, to)->last = a;
	file_at(t, b)->name = from;
	file_at(t, a)->name = to;
}

static void follow_link(struct names *t, const struct journal_entry *e)
{
	const struct journal_LINK *x = &e->record->LINK;
	uint32_t from = path_made(t, x->path), to = from ? path_made(t, x->to) : 0, file, name;

	if (!to || to == from)
		return;
	file = name_live(t, from);
	if (file_at(t, file)->flags & FILE_DIRECTORY)
		return;
	name = file_at(t, file)->name;
	name_set(t, to, file);
	file_at(t, file)->name = name;
	name_note(t, to, e);
}

static void follow_content(struct names *t, const struct journal_entry *e)
{
	const struct journal_CONTENT *x = &e->record->CONTENT;
	uint32_t file = path_file(t, x->path);
	struct file_content *c;
	struct file *f = file_at(t, file);

	if (!file)
		return;
	f->size = x->size;
	if (!t->keep_writes || BUF_COUNT(&t->contents, struct file_content) >= UINT32_MAX)
		return;
	c = buf_more(&t->contents, sizeof(*c));
	c->seq = e->seq;
	c->size = x->size;
	c->has_hash = x->hash;
	if (x->hash)
		memcpy(c->hash, x->hash, sizeof(c->hash));
	if (x->why.n)
		memcpy(c->why, x->why.p, MIN(x->why.n, sizeof(c->why) - 1));
	f->content = (uint32_t)(BUF_COUNT(&t->contents, struct file_content) - 1);
	/* Of the last write of this process: a name that another file has got since says nothing
	 * about that one. */
	for (uint32_t i = f->write, n = 0; i && n < WRITES_LOOKED_AT;
	     i = write_at(t, i)->before, n++)
		if (write_at(t, i)->pid == e->pid) {
			write_at(t, i)->content = f->content;
			break;
		}
}

static void follow_open(struct names *t, const struct journal_entry *e)
{
	const struct journal_OPEN *x = &e->record->OPEN;
	uint32_t name = path_made(t, x->path), file;

	if (!name)
		return;
	/* A removed name that is opened to be made is there again. */
	if (x->flags & OPEN_CREAT && name_at(t, name)->last && !name_at(t, name)->now)
		file = name_live(t, name);
	else
		file = path_file(t, x->path);
	file_at(t, file)->flags |= FILE_OPENED;
	if (x->flags & OPEN_TRUNC && !(file_at(t, file)->flags & FILE_CREATED)) {
		file_at(t, file)->flags |= FILE_WRITTEN;
		write_add(t, file, e);
	}
}

void names_follow(struct names *t, const struct journal_entry *e)
{
	uint32_t file;

	switch (e->kind) {
	case J_READ:
		file = path_file(t, e->record->READ.path);
		file_at(t, file)->flags |= FILE_READ;
		break;
	case J_OPEN:
		follow_open(t, e);
		break;
	case J_WRITE:
		file = path_file(t, e->record->WRITE.path);
		file_at(t, file)->flags |= FILE_WRITTEN;
		file_at(t, file)->size = e->record->WRITE.size;
		write_add(t, file, e);
		break;
	case J_CONTENT:
		follow_content(t, e);
		break;
	case J_CHANGE:
		file = path_file(t, e->record->CHANGE.path);
		file_at(t, file)->flags |= FILE_CHANGED;
		file_at(t, file)->changed = e->seq;
		break;
	case J_CREATE:
		follow_create(t, e);
		break;
	case J_REMOVE:
		follow_remove(t, e);
		break;
	case J_RENAME:
		follow_rename(t, e);
		break;
	case J_LINK:
		follow_link(t, e);
		break;
	default:
		break;
	}
}

/* ---- questions ---- */

/* A file whose last name is gone, but that has another. */
void names_settle(struct names *t)
{
	for (uint32_t i = 1; i < names_count(t); i++) {
		const struct name *m = name_at(t, i);

		if (m->now && name_at(t, file_at(t, m->now)->name)->now != m->now)
			file_at(t, m->now)->name = i;
	}
}

size_t name_path(const struct names *t, uint32_t name, bool before, char *out)
{
	size_t at = NAMES_PATH - 1, n;
	uint32_t dir = NAMES_LOOSE;

	out[at] = 0;
	for (unsigned steps = 0; name && steps < STEPS_MAX; steps++) {
		const struct name *m = name_at(t, name);
		const struct file *d;

		if (m->n + 5 > at)
			break;
		at -= m->n;
		memcpy(out + at, t->texts.p + m->text, m->n);
		dir = m->dir;
		d = file_at(t, dir);
		name = before && d->origin ? d->origin : d->name;
		if (name || dir == NAMES_ROOT)
			out[--at] = '/';
	}
	if (name) {
		at -= 3;
		memcpy(out + at, "...", 3);
	}
	n = NAMES_PATH - 1 - at;
	memmove(out, out + at, n + 1);
	return n;
}

/* Had the file another name before, which it lost, and is this the one that it has for it? */
static bool is_renamed(const struct names *t, uint32_t name, const struct file *f)
{
	return f->origin && f->origin != name && f->name == name &&
	       name_at(t, f->origin)->now != name_at(t, name)->now;
}

void name_story(const struct names *t, uint32_t name, struct name_story *ret)
{
	const struct name *m = name_at(t, name);
	const struct file *was = m->before ? file_at(t, m->before) : NULL;
	const struct file *is = m->now ? file_at(t, m->now) : NULL;

	*ret = (struct name_story){ .file = m->now ? m->now : m->last };
	if (was) {
		ret->read = was->flags & FILE_READ;
		ret->moved_away = m->before != m->now && was->links;
	}
	if (!m->last) {
		ret->effect = NAME_NONE;
	} else if (is && is == was) {
		ret->effect = is->flags & FILE_WRITTEN	 ? NAME_WRITTEN
			      : is->flags & FILE_CHANGED ? NAME_CHANGED
							 : NAME_NONE;
	} else if (is && is_renamed(t, name, is)) {
		ret->effect = NAME_RENAMED;
		ret->from = is->origin;
	} else if (is) {
		ret->effect = was ? NAME_WRITTEN : NAME_CREATED;
	} else if (was) {
		ret->effect = ret->moved_away ? NAME_NONE : NAME_REMOVED;
	} else {
		ret->effect = NAME_TEMPORARY;
	}
}
