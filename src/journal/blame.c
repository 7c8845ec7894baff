/* See blame.h. */
#include "journal/blame.h"

#include <inttypes.h>
#include <string.h>

#include "journal/show.h"

#define LATE (10ull * NSEC_PER_SEC) /* of records of vivd */

void blame_init(struct blame *b, const char *path, bool all)
{
	memset(b, 0, sizeof(*b));
	names_init(&b->names, true);
	processes_init(&b->processes, NULL, NULL);
	b->path = text_of(path);
	b->all = all;
}

void blame_fini(struct blame *b)
{
	for (size_t i = 0; i < BUF_COUNT(&b->writers, struct blame_writer); i++)
		origin_fini(&BUF_ITEM(&b->writers, struct blame_writer, i)->origin, &b->processes);
	origin_fini(&b->placed.origin, &b->processes);
	origin_fini(&b->attributes.origin, &b->processes);
	processes_fini(&b->processes);
	names_fini(&b->names);
	buf_free(&b->wanted);
	buf_free(&b->writers);
}

void blame_files(struct blame *b, const struct journal_entry *e)
{
	names_follow(&b->names, e);
}

bool blame_find(struct blame *b)
{
	const struct name *m;
	uint32_t *w;
	size_t n;

	b->name = names_find(&b->names, b->path.p, b->path.n);
	if (!b->name)
		return false;
	m = name_at(&b->names, b->name);
	b->file = m->now ? m->now : m->last;
	for (uint32_t i = file_at(&b->names, b->file)->write; i;
	     i = write_at(&b->names, i)->before) {
		buf_add(&b->wanted, &i, sizeof(i));
		if (!b->all)
			break;
	}
	w = (uint32_t *)(void *)b->wanted.p;
	n = BUF_COUNT(&b->wanted, uint32_t);
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t x = w[i];

		w[i] = w[n - 1 - i];
		w[n - 1 - i] = x;
	}
	if (m->kind == J_RENAME || m->kind == J_LINK || m->kind == J_REMOVE)
		b->placed.seq = m->seq;
	b->attributes.seq = file_at(&b->names, b->file)->changed;
	if (n && write_at(&b->names, w[n - 1])->seq > b->attributes.seq)
		b->attributes.seq = 0;
	return n || b->placed.seq || b->attributes.seq;
}

static void one_met(struct blame *b, struct blame_writer *w, const struct journal_entry *e,
		    struct process *p)
{
	if (e->seq != w->seq)
		return;
	w->wall = b->last = e->wall;
	w->kind = e->kind;
	w->count = 1;
	origin_init(&w->origin, &b->processes, p);
}

bool blame_processes(struct blame *b, const struct journal_entry *e)
{
	struct process *p = processes_follow(&b->processes, e);
	size_t n = BUF_COUNT(&b->wanted, uint32_t);

	one_met(b, &b->placed, e, p);
	one_met(b, &b->attributes, e, p);
	while (b->next < n) {
		const struct file_write *w =
			write_at(&b->names, *BUF_ITEM(&b->wanted, uint32_t, b->next));
		size_t have = BUF_COUNT(&b->writers, struct blame_writer);
		struct blame_writer one = { .seq = e->seq, .wall = e->wall, .kind = e->kind };
		struct blame_writer *last =
			have ? BUF_ITEM(&b->writers, struct blame_writer, have - 1) : NULL;

		if (w->seq > e->seq)
			break;
		b->next++;
		if (w->seq < e->seq)
			continue; /* the journal is not the one of the first pass any more */
		b->last = e->wall;
		one.content = w->content;
		one.count = e->kind == J_WRITE;
		origin_init(&one.origin, &b->processes, p);
		if (last && origin_is(&last->origin, &one.origin)) {
			one.count += last->count;
			origin_fini(&last->origin, &b->processes);
			*last = one;
		} else {
			buf_add(&b->writers, &one, sizeof(one));
		}
	}
	return b->next < n || b->placed.seq > e->seq || b->attributes.seq > e->seq ||
	       (uint64_t)e->wall - (uint64_t)b->last < LATE;
}

void blame_settle(struct blame *b)
{
	struct processes *t = &b->processes;

	for (size_t i = 0; i < BUF_COUNT(&b->writers, struct blame_writer); i++) {
		struct blame_writer *w = BUF_ITEM(&b->writers, struct blame_writer, i);

		origin_settle(&w->origin, t, w->wall);
	}
	origin_settle(&b->placed.origin, t, b->placed.wall);
	origin_settle(&b->attributes.origin, t, b->attributes.wall);
}

static const char *verb_of(const struct blame_writer *w)
{
	switch (w->kind) {
	case J_CREATE:
		return "made";
	case J_OPEN:
		return "emptied";
	case J_RENAME:
		return "renamed";
	case J_LINK:
		return "linked";
	case J_REMOVE:
		return "removed";
	case J_CHANGE:
		return "changed";
	default:
		return "written";
	}
}

static void writer_show(const struct blame *b, const struct blame_writer *w, FILE *to)
{
	char time[40], number[32];

	fprintf(to, "  %-8s%s UTC, record %" PRIu64, verb_of(w), show_time(w->wall, time), w->seq);
	if (w->count > 1)
		fprintf(to, ", %s times", show_number(w->count, number));
	fputc('\n', to);
	if (w->content) {
		const struct file_content *c = content_at(&b->names, w->content);

		if (c->has_hash) {
			fputs("    sha256 ", to);
			show_hash(to, c->hash);
		} else {
			fputs("    no hash: ", to);
			show_text(to, text_of(c->why), 16);
		}
		fprintf(to, "  %s\n", show_bytes(c->size, number));
	}
	origin_show(&w->origin, to, 4);
}

/* A writer that sets times and mode of what it has written is shown once. */
static bool attributes_count(const struct blame *b)
{
	size_t n = BUF_COUNT(&b->writers, struct blame_writer);

	return b->attributes.count &&
	       !(n && origin_is(&BUF_ITEM(&b->writers, struct blame_writer, n - 1)->origin,
				&b->attributes.origin));
}

void blame_show(struct blame *b, FILE *to)
{
	const struct name *m = b->name ? name_at(&b->names, b->name) : NULL;
	size_t n = BUF_COUNT(&b->writers, struct blame_writer);

	show_text(to, b->path, 0);
	fputs(!m ? ": the journal does not know it\n" : !m->now ? " (removed)\n" : "\n", to);
	if (!m)
		return;
	/* The newest first: that is what was asked for. */
	if (b->placed.count)
		writer_show(b, &b->placed, to);
	if (attributes_count(b))
		writer_show(b, &b->attributes, to);
	for (size_t i = n; i--;)
		writer_show(b, BUF_ITEM(&b->writers, struct blame_writer, i), to);
	if (!n)
		fputs(attributes_count(b) ? "  its content was not written in this cell\n"
					  : "  not written in this cell: it is as it was before\n",
		      to);
}

static void writer_json(const struct blame *b, const struct blame_writer *w, FILE *to)
{
	char time[40];

	fprintf(to, "{\"how\":\"%s\",\"seq\":%" PRIu64 ",\"time\":\"%s\",\"count\":%" PRIu64,
		verb_of(w), w->seq, show_time_iso(w->wall, time), w->count);
	if (w->content) {
		const struct file_content *c = content_at(&b->names, w->content);

		fprintf(to, ",\"size\":%" PRIu64, c->size);
		json_put_hash(to, "hash", c->has_hash ? c->hash : NULL);
		json_put_member(to, "no_hash", text_of(c->why));
	}
	origin_json(&w->origin, to);
	fputc('}', to);
}

void blame_json(struct blame *b, FILE *to)
{
	const struct name *m = b->name ? name_at(&b->names, b->name) : NULL;
	size_t n = BUF_COUNT(&b->writers, struct blame_writer);

	fprintf(to, "{\"state\":\"%s\"", !m ? "unknown" : m->now ? "present" : "removed");
	json_put_member(to, "path", b->path);
	if (b->placed.count) {
		fputs(",\n\"name\":", to);
		writer_json(b, &b->placed, to);
	}
	if (attributes_count(b)) {
		fputs(",\n\"attributes\":", to);
		writer_json(b, &b->attributes, to);
	}
	fputs(",\n\"writers\":[", to);
	for (size_t i = n; i--;) {
		fputs(i + 1 < n ? ",\n  " : "\n  ", to);
		writer_json(b, BUF_ITEM(&b->writers, struct blame_writer, i), to);
	}
	fputs("]}\n", to);
}
