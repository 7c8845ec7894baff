/* See tools.h: connections that cells open to vivd (wire/tools.h).
 *
 * They come over the link to a cell's keeper (KEEP_DOOR), and that says which cell it is: nothing
 * that is said on them does. All of it is hostile: a connection has one request, whose bytes and
 * time are bounded; one that begins with a capital letter is a connection to the API (HTTP), and is
 * handed over before anything of it is read; the first cell of a family has at most
 * CELL_CONNECTIONS of them, and all below it BELOW_CONNECTIONS, with CELL_BYTES of requests that
 * are not whole yet; what a cell does not read is not produced. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/cells/family.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"
#include "daemon/tools/tools.h"
#include "wire/tools.h"

#define CELL_CONNECTIONS 32
#define BELOW_CONNECTIONS 64
#define ALL_CONNECTIONS 1024
#define CELL_BYTES (4u << 20)
#define REQUEST_MS 30000 /* for a request to be there */
#define LINGER_MS 30000 /* for the last line to be read */
/* In a minute: approvals that a cell can make, and events that its calls leave. */
#define ASKS_MINUTE 60
#define EVENTS_MINUTE 300

struct door {
	struct list link;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	struct family_group group;
	char program[KEEP_TEXT];
	uv_pipe_t pipe;
	uv_timer_t timer;
	unsigned nhandles;
	struct buf in;
	bool http; /* it is a connection to the API */
	bool asked; /* the request is there */
	bool granting; /* its keeper is asked what it may do */
	bool finished; /* the last line was written */
	bool closed;
	json_t *request;
	struct call *call; /* NULL: none */
	size_t unread;
};

struct output {
	uv_write_t w;
	struct door *c;
	size_t n;
	char *data;
};

/* What a group of cells has used of this minute. */
struct minute {
	struct list link;
	struct family_group group;
	uint64_t since; /* ms */
	unsigned asks, events, suppressed;
};

static struct list doors = LIST_INIT(doors), minutes = LIST_INIT(minutes);
static unsigned ndoors;

/* ---- the end ---- */

static void on_closed(uv_handle_t *h)
{
	struct door *c = h->data;

	if (--c->nhandles)
		return;
	json_decref(c->request);
	buf_free(&c->in);
	free(c);
}

static void door_close(struct door *c)
{
	struct cell *cell = door_cell(c);
	struct call *call = c->call;

	if (c->closed)
		return;
	c->closed = true;
	c->call = NULL;
	if (call)
		call_cancel(call);
	if (c->granting && cell && cell->keeper)
		link_forget(cell->keeper, c);
	list_remove(&c->link);
	ndoors--;
	uv_close((uv_handle_t *)&c->pipe, on_closed);
	uv_close((uv_handle_t *)&c->timer, on_closed);
}

static void on_time(uv_timer_t *t)
{
	struct door *c = t->data;
	struct err e;

	if (c->finished) {
		door_close(c);
		return;
	}
	err_note(&e, ERR_USAGE, "the request was not there within %d s", REQUEST_MS / 1000);
	door_fail(c, &e, TOOL_EXIT_FAILED);
}

/* ---- writing ---- */

static void on_written(uv_write_t *w, int status)
{
	struct output *o = w->data;
	struct door *c = o->c;

	c->unread -= o->n;
	free(o->data);
	free(o);
	if (c->closed)
		return;
	if (status < 0 || (c->finished && !c->unread))
		door_close(c);
	else if (c->call)
		call_room(c->call);
}

void door_say(struct door *c, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);
	struct output *o;
	uv_buf_t b;

	json_decref(line);
	if (!text || c->closed || c->finished) {
		free(text);
		return;
	}
	o = xalloc(sizeof(*o));
	o->w.data = o;
	o->c = c;
	o->n = strlen(text) + 1;
	o->data = text;
	text[o->n - 1] = '\n'; /* in the place of the NUL */
	c->unread += o->n;
	b = uv_buf_init(text, (unsigned)o->n);
	if (uv_write(&o->w, (uv_stream_t *)&c->pipe, &b, 1, on_written)) {
		c->unread -= o->n;
		free(text);
		free(o);
	}
}

void door_finish(struct door *c, json_t *line)
{
	door_say(c, line);
	c->finished = true;
	c->call = NULL;
	if (c->closed)
		return;
	uv_timer_start(&c->timer, on_time, c->unread ? LINGER_MS : 0, 0);
}

void door_fail(struct door *c, const struct err *e, int status)
{
	door_finish(c, json_pack("{s:o,s:i}", "error", json_err(e), "exit", status));
}

size_t door_unread(const struct door *c)
{
	return c->unread;
}

struct cell *door_cell(const struct door *c)
{
	return cell_by_id(c->d, c->cell);
}

struct daemon *door_daemon(const struct door *c)
{
	return c->d;
}

const char *door_program(const struct door *c)
{
	return c->program;
}

/* What was suppressed is told with the next event of the group, if there can be one. */
static bool minute_is_over(struct daemon *d, const struct minute *m)
{
	char first[CELL_ID_LEN + 1];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(m->group.str, "+"), m->group.str);
	return uv_now(&d->loop) - m->since > 60000 && (!m->suppressed || !cell_by_id(d, first));
}

static struct minute *minute_of(struct daemon *d, const char *cell)
{
	const struct cell *c = cell_by_id(d, cell);
	struct family_group g = { 0 }; /* of all that are gone */
	uint64_t now = uv_now(&d->loop);
	struct minute *m, *tmp, *found = NULL;

	if (c)
		g = family_group(c);
	list_for_each_safe(m, tmp, &minutes, link) {
		if (!strcmp(m->group.str, g.str)) {
			found = m;
		} else if (minute_is_over(d, m)) {
			list_remove(&m->link);
			free(m);
		}
	}
	if (!found) {
		found = xalloc(sizeof(*found));
		list_init(&found->link);
		list_append(&minutes, &found->link);
		found->group = g;
		found->since = now;
	}
	if (now - found->since > 60000) {
		found->since = now;
		found->asks = found->events = 0;
	}
	return found;
}

bool cell_may_ask(struct daemon *d, const char *cell)
{
	return minute_of(d, cell)->asks++ < ASKS_MINUTE;
}

bool door_may_ask(struct door *c)
{
	return cell_may_ask(c->d, c->cell);
}

void door_event(struct daemon *d, const char *type, const char *cell, json_t *data)
{
	struct minute *m = minute_of(d, cell);

	if (m->events >= EVENTS_MINUTE) {
		m->suppressed++;
		json_decref(data);
		return;
	}
	m->events++;
	if (m->suppressed)
		json_object_set_new(data, "suppressed", json_integer(m->suppressed));
	m->suppressed = 0;
	event_add(d, type, cell, data);
}

/* ---- requests ---- */

struct shown {
	const struct grants *g;
	const char *tool;
};

static bool sub_is_shown(void *arg, const char *sub)
{
	const struct shown *s = arg;

	return grants_decide(s->g, tool_path(s->tool, sub).str, NULL) != TOOL_DENY;
}

/* NULL: the cell may call nothing of it. The caller's. */
static json_t *tool_for(const struct grants *g, const json_t *tool, bool schemas)
{
	struct shown s = { .g = g, .tool = json_text(tool, "name") };
	json_t *made, *subs;

	if (!json_object_get(tool, "subcommands") && !sub_is_shown(&s, NULL))
		return NULL;
	made = tool_shown(tool, schemas, sub_is_shown, &s);
	subs = json_object_get(made, "subcommands");
	if (!subs || json_array_size(subs))
		return made;
	json_decref(made);
	return NULL;
}

static void list_answer(struct door *c, const struct grants *g)
{
	json_t *all = tools_all(c->d), *list = json_array(), *t, *made;
	size_t i;

	json_array_foreach(all, i, t) {
		made = tool_for(g, t, false);
		if (made)
			json_array_append_new(list, made);
	}
	json_decref(all);
	door_finish(c, json_pack("{s:o}", "tools", list));
}

/* The same for a tool that there is not and for one that the cell may not call. */
static void unknown(struct door *c, const char *name)
{
	struct err e;

	err_note(&e, ERR_NOT_FOUND,
		 "the cell has no tool '%.64s'" REMEDY
		 "'viv-tools' lists those that it has; the operator gives it others with --tool, "
		 "or by rules",
		 name);
	door_fail(c, &e, TOOL_EXIT_UNKNOWN);
}

static void tool_answer(struct door *c, const struct grants *g, const char *op)
{
	const char *name = json_text(c->request, "tool"),
		   *sub = json_text(c->request, "subcommand");
	json_t *arguments = json_object_get(c->request, "arguments");
	struct err e;
	json_t *tool = name ? tool_load(c->d, name, &e) : NULL;
	json_t *made = tool ? tool_for(g, tool, true) : NULL;

	if (!made) {
		unknown(c, name ? name : "");
	} else if (!strcmp(op, "show")) {
		door_finish(c, json_pack("{s:O}", "tool", made));
	} else if (!json_is_object(arguments)) {
		err_note(&e, ERR_INVALID, "'arguments' must be an object");
		door_fail(c, &e, TOOL_EXIT_USAGE);
	} else {
		uv_timer_stop(&c->timer);
		c->call = call_begin(c, g, json_incref(tool), sub, json_incref(arguments));
	}
	json_decref(made);
	json_decref(tool);
}

static void granted(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct door *c = arg;
	struct grants *g = m && m->type == KEEP_TOOLS && nfds == 1 ? grants_read(fds[0]) : NULL;
	const char *op = json_text(c->request, "op");
	struct err e;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	c->granting = false;
	if (c->finished) { /* it said more than it may */
		grants_free(g);
		return;
	}
	if (!g) {
		err_note(&e, ERR_FAILED, "the cell's keeper does not say what the cell may call");
		door_fail(c, &e, TOOL_EXIT_FAILED);
		return;
	}
	if (!strcmp(op, "list"))
		list_answer(c, g);
	else
		tool_answer(c, g, op);
	grants_free(g);
}

static void request_take(struct door *c, size_t n)
{
	struct keep_msg m = { .type = KEEP_TOOLS };
	struct cell *cell = door_cell(c);
	struct err e = { 0 };

	c->asked = true;
	c->request = door_request((char *)c->in.p, n, &e);
	buf_free(&c->in);
	if (!c->request) {
		door_fail(c, &e, TOOL_EXIT_USAGE);
		return;
	}
	if (!cell || !cell->keeper || link_ask(cell->keeper, &m, NULL, 0, granted, c) < 0) {
		err_note(&e, ERR_FAILED, "the cell is ending");
		door_fail(c, &e, TOOL_EXIT_FAILED);
		return;
	}
	c->granting = true;
}

/* ---- reading ---- */

static size_t group_bytes(const struct door *c)
{
	const struct door *o;
	size_t n = 0;

	list_for_each(o, &doors, link)
		n += strcmp(o->group.str, c->group.str) ? 0 : o->in.len;
	return n;
}

/* Of a connection that has sent nothing yet: does it begin as a line of JSON does not? */
static bool is_http(struct door *c)
{
	const struct cell *cell = door_cell(c);
	uv_os_fd_t fd;
	char first;

	return cell && cell->calls && uv_fileno((uv_handle_t *)&c->pipe, &fd) == 0 &&
	       recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && first >= 'A' && first <= 'Z';
}

static void on_room(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	static char chunk[65536];
	struct door *c = h->data;

	(void)size;
	c->http = !c->asked && !c->in.len && is_http(c);
	*ret = uv_buf_init(chunk, c->http ? 0 : sizeof(chunk));
}

/* What was sent is still there to be read. */
static void http_hand_over(struct door *c)
{
	struct cell *cell = door_cell(c);
	uv_os_fd_t fd;
	int copy = uv_fileno((uv_handle_t *)&c->pipe, &fd) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy >= 0 && cell && cell->keeper && c->d->calling)
		c->d->calling(cell, copy);
	else if (copy >= 0)
		close(copy);
	door_close(c);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct door *c = s->data;
	const char *end;
	struct err e;

	if (n < 0) {
		if (n == UV_ENOBUFS && c->http)
			http_hand_over(c);
		else
			door_close(c);
		return;
	}
	if (!n || c->finished)
		return; /* what is sent behind a request that failed is thrown away */
	if (c->asked) {
		err_note(&e, ERR_USAGE, "a connection has one request");
		if (c->call)
			call_cancel(c->call);
		door_fail(c, &e, TOOL_EXIT_USAGE);
		return;
	}
	buf_add(&c->in, b->base, (size_t)n);
	if (c->in.p[0] != '{' || c->in.len > DOOR_REQUEST_MAX + 1 || group_bytes(c) > CELL_BYTES) {
		err_note(&e, c->in.p[0] == '{' ? ERR_TOO_LARGE : ERR_INVALID,
			 c->in.p[0] == '{' ? "the requests of the cell are too large"
					   : "the request is not a line with an object of JSON");
		buf_free(&c->in);
		door_fail(c, &e, TOOL_EXIT_USAGE);
		return;
	}
	end = memchr(c->in.p, '\n', c->in.len);
	if (!end)
		return;
	if (end + 1 != (char *)c->in.p + c->in.len) {
		err_note(&e, ERR_USAGE, "a connection has one request");
		door_fail(c, &e, TOOL_EXIT_USAGE);
		return;
	}
	request_take(c, (size_t)(end - (char *)c->in.p));
}

/* ---- connections ---- */

static bool group_is_full(const struct cell *c, const struct family_group *g)
{
	const struct door *o;
	unsigned n = 0;

	list_for_each(o, &doors, link)
		n += !strcmp(o->group.str, g->str);
	return n >= (c->parent[0] ? BELOW_CONNECTIONS : CELL_CONNECTIONS);
}

/* Takes fd. */
static void door_new(struct cell *cell, const struct keep_msg *m, int fd)
{
	const struct family_group group = family_group(cell);
	struct door *c;

	if (group_is_full(cell, &group) || ndoors >= ALL_CONNECTIONS) {
		static const char busy[] =
			"{\"error\":{\"code\":\"busy\",\"message\":\"the cell has as many "
			"connections to vivd as it can have\",\"remedy\":\"try "
			"again\"},\"exit\":125}\n";

		(void)!write(fd, busy, sizeof(busy) - 1);
		close(fd);
		return;
	}
	c = xalloc(sizeof(*c));
	c->d = cell->d;
	strcpy(c->cell, cell->id);
	c->group = group;
	memcpy(c->program, m->text, sizeof(c->program));
	c->pipe.data = c->timer.data = c;
	uv_timer_init(&c->d->loop, &c->timer);
	uv_pipe_init(&c->d->loop, &c->pipe, 0);
	c->nhandles = 2;
	list_init(&c->link);
	list_append(&doors, &c->link);
	ndoors++;
	if (uv_pipe_open(&c->pipe, fd)) {
		close(fd);
		door_close(c);
		return;
	}
	uv_timer_start(&c->timer, on_time, REQUEST_MS, 0);
	uv_read_start((uv_stream_t *)&c->pipe, on_room, on_read);
}

static void door_came(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;

	if (m && m->type == KEEP_DOOR && nfds == 1) {
		door_new(c, m, fds[0]);
		return;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
}

static void cell_linked_(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_DOOR };

	if (link_ask(c->keeper, &m, NULL, 0, door_came, c) < 0)
		log_warn("cell %s: its tools cannot be used", c->id);
}

void tools_open(struct daemon *d)
{
	d->linked = cell_linked_;
	calls_open(d);
}
