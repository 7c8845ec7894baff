/* See sessionevent.h. */
#include "cli/sessionevent.h"

#include <stdio.h>
#include <string.h>

#include "keeper/disk/textdiff.h"

#define DIFF_MAX (32u << 20)
#define CONTEXT 3

int event_read(struct event *ev, const char *line, size_t size, struct err *e)
{
	*ev = (struct event){ 0 };
	if (json_parse_any(&ev->doc, line, size, EVENT_MAX, e) < 0)
		return -1;
	ev->time = member_text(ev->doc.root, "time");
	ev->type = member_text(ev->doc.root, "type");
	/* A gap may stand where no event is any more. */
	if (!*ev->type ||
	    (!json_get_u64(ev->doc.root, "seq", &ev->seq) && strcmp(ev->type, "gap"))) {
		json_free(&ev->doc);
		return err_set(e, ERR_FAILED, "that is not an event of a session");
	}
	ev->data = json_get(ev->doc.root, "data", JSON_OBJECT);
	ev->update = event_is(ev, "update") ? json_get(ev->data, "update", JSON_OBJECT) : NULL;
	ev->kind = json_get_text(ev->update, "sessionUpdate");
	if (!ev->kind)
		ev->kind = "";
	return 0;
}

void event_free(struct event *ev)
{
	json_free(&ev->doc);
	*ev = (struct event){ 0 };
}

bool event_is(const struct event *ev, const char *type)
{
	return !strcmp(ev->type, type);
}

const struct json *json_member(const struct json *v, const char *key)
{
	if (!v || v->type != JSON_OBJECT)
		return NULL;
	for (const struct json *m = v->first; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->type == JSON_NULL ? NULL : m;
	return NULL;
}

const char *member_text(const struct json *v, const char *key)
{
	const struct json *m = json_member(v, key);

	return m && (m->type == JSON_TEXT || m->type == JSON_NUMBER) ? m->text : "";
}

static void named_add(struct buf *b, const char *what, const char *name, const char *type,
		      size_t bytes)
{
	char size[40];

	buf_add_text(b, "[");
	buf_add_text(b, what);
	if (*name) {
		buf_add_text(b, " ");
		buf_add_text(b, name);
	}
	if (*type) {
		buf_add_text(b, " ");
		buf_add_text(b, type);
	}
	if (bytes) {
		snprintf(size, sizeof(size), ", %zu bytes", bytes);
		buf_add_text(b, size);
	}
	buf_add_text(b, "]");
}

void block_text(struct buf *b, const struct json *block)
{
	const char *type = member_text(block, "type");
	const struct json *resource = json_get(block, "resource", JSON_OBJECT);

	if (!strcmp(type, "text")) {
		buf_add_text(b, member_text(block, "text"));
	} else if (!strcmp(type, "image") || !strcmp(type, "audio")) {
		named_add(b, type, member_text(block, "uri"), member_text(block, "mimeType"),
			  strlen(member_text(block, "data")) / 4 * 3);
	} else if (!strcmp(type, "resource_link")) {
		named_add(b, "file", member_text(block, "uri"), member_text(block, "mimeType"), 0);
	} else if (resource) {
		named_add(b, "file", member_text(resource, "uri"),
			  member_text(resource, "mimeType"),
			  strlen(member_text(resource, "blob")) / 4 * 3);
		if (*member_text(resource, "text")) {
			buf_add_text(b, "\n");
			buf_add_text(b, member_text(resource, "text"));
		}
	} else if (*type) {
		named_add(b, type, "", "", 0);
	}
}

void blocks_text(struct buf *b, const struct json *blocks)
{
	if (!blocks || blocks->type != JSON_LIST)
		return;
	for (const struct json *m = blocks->first; m; m = m->next) {
		if (m != blocks->first && b->len && b->p[b->len - 1] != '\n')
			buf_add_text(b, "\n");
		block_text(b, m);
	}
}

bool diff_get(const struct json *content, struct diff_texts *ret)
{
	const char *from = json_get_text(content, "oldText");

	if (strcmp(member_text(content, "type"), "diff"))
		return false;
	*ret = (struct diff_texts){ .path = member_text(content, "path"),
				    .from = from ? from : "",
				    .to = member_text(content, "newText"),
				    .is_new = !from };
	return true;
}

static bool lines_of(const struct diff_texts *d, struct lines *a, struct lines *b)
{
	size_t from = strlen(d->from), to = strlen(d->to);

	return from <= DIFF_MAX && to <= DIFF_MAX && lines_init(a, d->from, from) &&
	       lines_init(b, d->to, to) && lines_compare(a, b);
}

bool diff_count(const struct diff_texts *d, unsigned *added, unsigned *removed)
{
	struct lines a = { 0 }, b = { 0 };
	bool good = lines_of(d, &a, &b);

	*added = *removed = 0;
	for (uint32_t i = 0; good && i < a.n; i++)
		*removed += a.changed[i];
	for (uint32_t i = 0; good && i < b.n; i++)
		*added += b.changed[i];
	lines_fini(&a);
	lines_fini(&b);
	return good;
}

static void line_give(const struct lines *l, uint32_t i, char mark, diff_line_fn fn, void *arg)
{
	size_t n = l->at[i + 1] - l->at[i];

	if (n && l->data[l->at[i] + n - 1] == '\n')
		n--;
	fn(arg, mark, l->data + l->at[i], n);
}

/* How many of the lines from i on both texts have. */
static uint32_t common_run(const struct lines *a, uint32_t i, const struct lines *b, uint32_t j)
{
	uint32_t n = 0;

	while (i + n < a->n && j + n < b->n && !a->changed[i + n] && !b->changed[j + n])
		n++;
	return n;
}

bool diff_lines(const struct diff_texts *d, diff_line_fn fn, void *arg)
{
	struct lines a = { 0 }, b = { 0 };
	bool good = lines_of(d, &a, &b);
	uint32_t i = 0, j = 0;

	while (good && (i < a.n || j < b.n)) {
		if (i < a.n && a.changed[i]) {
			line_give(&a, i++, '-', fn, arg);
		} else if (j < b.n && b.changed[j]) {
			line_give(&b, j++, '+', fn, arg);
		} else {
			uint32_t n = common_run(&a, i, &b, j);
			uint32_t head = i ? CONTEXT : 0,
				 tail = i + n < a.n || j + n < b.n ? CONTEXT : 0;
			bool cut = n > head + tail + 1;

			if (!n)
				break;
			for (uint32_t k = 0; k < n; k++) {
				if (cut && k == head)
					fn(arg, '@', "", 0);
				if (!cut || k < head || k >= n - tail)
					line_give(&a, i + k, ' ', fn, arg);
			}
			i += n;
			j += n;
		}
	}
	lines_fini(&a);
	lines_fini(&b);
	return good;
}

const char *answer_text(const struct json *answered, const struct json *options)
{
	const char *option = member_text(answered, "option");

	for (const struct json *o = options ? options->first : NULL; o && *option; o = o->next)
		if (!strcmp(member_text(o, "id"), option) ||
		    !strcmp(member_text(o, "optionId"), option))
			return member_text(o, "name");
	return *option ? option : member_text(answered, "outcome");
}
