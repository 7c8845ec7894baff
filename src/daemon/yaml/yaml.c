/* See yaml.h. libyaml gives events; the tree is built from them with a stack of open lists and
 * maps. */
#include "daemon/yaml/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"

struct open {
	struct ynode *node, *last;
	struct ynode *key; /* of a map: waits for its value */
	unsigned n;
};

struct builder {
	struct ydoc *y;
	struct err *f;
	struct open open[YAML_MAX_DEPTH];
	unsigned depth;
	bool started; /* the document */
};

static void wrong_at(struct err *f, const char *file, unsigned line, unsigned column,
		     const char *text)
{
	err_note(f, ERR_INVALID_FILE, "%.200s:%u:%u: %s", file, line, column, text);
}

void yaml_note(struct err *f, const struct ydoc *y, const struct ynode *at, const char *fmt, ...)
{
	struct err said;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&said, ERR_INVALID_FILE, fmt, ap);
	va_end(ap);
	wrong_at(f, y->file, at ? at->line : 1, at ? at->column : 1, said.message);
	err_remedy(f, said.remedy);
}

/* ---- the tree ---- */

static struct ynode *node_new(struct builder *b, enum ynode_kind kind, const yaml_event_t *ev)
{
	struct ynode *n = xalloc(sizeof(*n));

	n->kind = kind;
	n->line = (unsigned)ev->start_mark.line + 1;
	n->column = (unsigned)ev->start_mark.column + 1;
	n->all = b->y->all;
	b->y->all = n;
	b->y->nnodes++;
	return n;
}

/* It is the next one in what is open: a key, a value, an item; or the root. */
static int node_place(struct builder *b, struct ynode *n)
{
	struct open *o = b->depth && b->open[b->depth - 1].node ? &b->open[b->depth - 1] : NULL;

	if (b->y->nnodes > YAML_MAX_NODES)
		return yaml_wrong(b->f, b->y, n, "the file has more than %d values",
				  YAML_MAX_NODES);
	if (!o) {
		b->y->root = n;
		return 0;
	}
	if (o->node->kind == YNODE_MAP && !o->key) {
		if (n->kind != YNODE_TEXT)
			return yaml_wrong(b->f, b->y, n, "a key must be a text");
		for (const struct ynode *m = o->node->first; m; m = m->next)
			if (!strcmp(m->key->text, n->text))
				return yaml_wrong(b->f, b->y, n,
						  "the key '%.60s' is there already, in line %u",
						  n->text, m->key->line);
		if (++o->n > YAML_MAX_KEYS)
			return yaml_wrong(b->f, b->y, n, "a map has at most %d keys",
					  YAML_MAX_KEYS);
		o->key = n;
		return 0;
	}
	n->key = o->key;
	o->key = NULL;
	if (o->last)
		o->last->next = n;
	else
		o->node->first = n;
	o->last = n;
	return 0;
}

static int node_open(struct builder *b, struct ynode *n)
{
	if (node_place(b, n) < 0)
		return -1;
	if (b->depth == YAML_MAX_DEPTH)
		return yaml_wrong(b->f, b->y, n, "the file is more than %d levels deep",
				  YAML_MAX_DEPTH);
	b->open[b->depth++] = (struct open){ .node = n };
	return 0;
}

static int odd(struct builder *b, const yaml_event_t *ev, const char *text)
{
	wrong_at(b->f, b->y->file, (unsigned)ev->start_mark.line + 1,
		 (unsigned)ev->start_mark.column + 1, text);
	return -1;
}

static const char no_anchors[] = "anchors and aliases are not taken; write the value again";
static const char no_tags[] =
	"tags are not taken; a text that looks like something else is put in quotes";

static int scalar_take(struct builder *b, const yaml_event_t *ev)
{
	const char *value = (const char *)ev->data.scalar.value;
	size_t size = ev->data.scalar.length;
	struct ynode *n;

	if (ev->data.scalar.anchor)
		return odd(b, ev, no_anchors);
	if (ev->data.scalar.tag)
		return odd(b, ev, no_tags);
	if (memchr(value, 0, size))
		return odd(b, ev, "a text has no NUL in it");
	n = node_new(b, YNODE_TEXT, ev);
	n->text = xstrndup(value, size);
	n->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return node_place(b, n);
}

static int event_take(struct builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->started)
			return odd(b, ev, "the file has one document; there is a second one here");
		b->started = true;
		return 0;
	case YAML_ALIAS_EVENT:
		return odd(b, ev, no_anchors);
	case YAML_SCALAR_EVENT:
		return scalar_take(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		if (ev->data.sequence_start.anchor)
			return odd(b, ev, no_anchors);
		if (ev->data.sequence_start.tag)
			return odd(b, ev, no_tags);
		return node_open(b, node_new(b, YNODE_LIST, ev));
	case YAML_MAPPING_START_EVENT:
		if (ev->data.mapping_start.anchor)
			return odd(b, ev, no_anchors);
		if (ev->data.mapping_start.tag)
			return odd(b, ev, no_tags);
		return node_open(b, node_new(b, YNODE_MAP, ev));
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return 0;
	default:
		return 0;
	}
}

/* ---- the text ---- */

/* What libyaml says of a byte it cannot read has no line. */
static void place_find(const char *text, size_t at, unsigned *line, unsigned *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < at; i++) {
		++*column;
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		}
	}
}

static int syntax_wrong(const yaml_parser_t *p, const char *file, const char *text, size_t size,
			struct err *f)
{
	unsigned line = (unsigned)p->problem_mark.line + 1,
		 column = (unsigned)p->problem_mark.column + 1;
	char why[300];

	if (p->error == YAML_READER_ERROR)
		place_find(text, MIN(p->problem_offset, size), &line, &column);
	/* Its words are constants: nothing of the text is in them. */
	snprintf(why, sizeof(why), "this is not YAML: %s%s%s", p->problem ? p->problem : "it ends",
		 p->context ? " " : "", p->context ? p->context : "");
	wrong_at(f, file, line, column, why);
	return -1;
}

int ydoc_parse(struct ydoc *y, const char *file, const char *text, size_t size, struct err *f)
{
	struct builder b = { .y = y, .f = f };
	yaml_parser_t p;
	yaml_event_t ev;
	bool end = false;
	int ret = 0;

	*y = (struct ydoc){ .file = file };
	if (size > YAML_MAX_BYTES) {
		wrong_at(f, file, 1, 1, "the file has more than 1 MiB");
		return -1;
	}
	if (!yaml_parser_initialize(&p))
		return err_set(f, ERR_FAILED, "out of memory");
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
	while (!end && ret == 0) {
		if (!yaml_parser_parse(&p, &ev)) {
			ret = syntax_wrong(&p, file, text, size, f);
			break;
		}
		end = ev.type == YAML_STREAM_END_EVENT;
		ret = event_take(&b, &ev);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	return ret;
}

void ydoc_free(struct ydoc *y)
{
	struct ynode *n, *before;

	for (n = y->all; n; n = before) {
		before = n->all;
		free(n->text);
		free(n);
	}
	y->all = y->root = NULL;
}

struct ynode *ynode_get(const struct ynode *map, const char *key)
{
	for (struct ynode *n = map && map->kind == YNODE_MAP ? map->first : NULL; n; n = n->next)
		if (!strcmp(n->key->text, key))
			return n;
	return NULL;
}

bool ynode_is_null(const struct ynode *n)
{
	return n->kind == YNODE_TEXT && n->plain && !n->variable &&
	       (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}
