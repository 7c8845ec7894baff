/* See tools.h: MCP servers of the operator's (modelcontextprotocol.io), over their standard
 * streams: JSON-RPC 2.0, one message in each line.
 *
 * Each cell has a server process of its own for each such tool, so that no state of one cell is
 * another's. It is started by the first call, used by all that follow, and ended with the cell,
 * when the tool is changed or removed, or after IDLE_MS without a call. If it ends by itself, the
 * calls that wait fail, and the next one starts it again. What it sends is bounded: lines, pages,
 * tools.
 *
 * Left out: resources, prompts, sampling, roots and elicitation; requests of the server for them
 * are refused. Progress and log messages are ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/state/fields.h"
#include "daemon/tools/hosted.h"
#include "daemon/tools/schema.h"
#include "daemon/tools/tools.h"

#define SERVERS_MAX 64
#define CELL_SERVERS 16
#define CALLS_MAX 32 /* of a server at once */
#define LINE_MAX_HERE (16u << 20)
#define PAGES_MAX 64
#define LIST_MS 60000
#define IDLE_MS 600000
#define STDERR_KEPT 400
#define SUBS_BYTES                                                                     \
	(1u << 20) /* of all schemas and descriptions: cells are told them in one line \
		    */

static const char *const versions[] = { "2025-06-18", "2025-03-26", "2024-11-05" };

struct server {
	struct list link;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1]; /* "": it is only asked for its tools */
	char tool[64];
	json_t *command; /* that it was started with */
	struct hosted *h;
	bool ready; /* it was initialized */
	int64_t last_id;
	struct buf in;
	char said[STDERR_KEPT + 1]; /* the last that it printed to standard error */
	struct list calls;
	unsigned ncalls;
	struct cell_wait wait;
	uv_timer_t timer;
	/* of one that is asked for its tools */
	mcp_listed_fn listed;
	void *arg;
	json_t *subs, *skipped;
	unsigned pages;
	size_t bytes; /* of subs */
};

struct mcp_call {
	struct list link;
	struct server *s;
	int64_t id; /* 0: not sent yet */
	char *name;
	json_t *arguments;
	const struct mcp_ops *ops;
	void *arg;
};

static struct list servers = LIST_INIT(servers);
static unsigned nservers;

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *h)
{
	struct server *s = h->data;

	json_decref(s->command);
	json_decref(s->subs);
	json_decref(s->skipped);
	buf_free(&s->in);
	free(s);
}

static void call_free(struct mcp_call *x)
{
	list_remove(&x->link);
	x->s->ncalls--;
	json_decref(x->arguments);
	free(x->name);
	free(x);
}

static void call_end(struct mcp_call *x, const json_t *result, const struct err *e)
{
	const struct mcp_ops *ops = x->ops;
	void *arg = x->arg;

	call_free(x);
	ops->done(arg, result, e);
}

/* Ends it, with whatever waits for it. e NULL: nothing does. */
static void server_end(struct server *s, const struct err *e)
{
	mcp_listed_fn listed = s->listed;
	struct hosted *h = s->h;

	s->listed = NULL;
	s->h = NULL;
	list_remove(&s->link); /* no new call finds it */
	nservers--;
	if (s->cell[0])
		cell_wait_remove(&s->wait);
	if (h)
		hosted_drop(h);
	while (!list_is_empty(&s->calls))
		call_end(list_first(&s->calls, struct mcp_call, link), NULL, e);
	if (listed)
		listed(s->arg, NULL, NULL, e);
	uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

static void server_fail(struct server *s, const char *fmt, ...) printf_like(2, 3);
static void server_fail(struct server *s, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, ERR_FAILED, fmt, ap);
	va_end(ap);
	err_wrap_note(&e, "the MCP server of tool '%s' cannot be used", s->tool);
	if (s->said[0])
		err_cause(&e, s->said);
	server_end(s, &e);
}

static void on_time(uv_timer_t *t)
{
	struct server *s = t->data;

	if (!s->cell[0])
		server_fail(s, "it did not list its tools within %d s", LIST_MS / 1000);
	else if (list_is_empty(&s->calls))
		server_end(s, NULL);
}

static void cell_changed(struct cell_wait *w, struct cell *c, bool gone)
{
	struct server *s = container_of(w, struct server, wait);
	struct err e;

	if (!gone && cell_state_is_live(c->state))
		return;
	err_note(&e, ERR_FAILED, "the cell has ended");
	server_end(s, &e);
}

/* ---- messages ---- */

static void message_send(struct server *s, json_t *m)
{
	char *text;

	json_object_set_new(m, "jsonrpc", json_string("2.0"));
	text = json_dumps(m, JSON_COMPACT);
	json_decref(m);
	if (text && s->h && hosted_write(s->h, text, strlen(text)))
		(void)!hosted_write(s->h, "\n", 1);
	free(text);
}

static int64_t request_send(struct server *s, const char *method, json_t *params)
{
	message_send(s, json_pack("{s:I,s:s,s:o}", "id", (json_int_t)++s->last_id, "method", method,
				  "params", params));
	return s->last_id;
}

static void list_ask(struct server *s, const json_t *cursor)
{
	json_t *params = json_object();

	if (cursor)
		json_object_set(params, "cursor", (json_t *)(uintptr_t)cursor);
	request_send(s, "tools/list", params);
}

static void calls_send(struct server *s)
{
	struct mcp_call *x;

	list_for_each(x, &s->calls, link)
		if (!x->id)
			x->id = request_send(s, "tools/call",
					     json_pack("{s:s,s:O}", "name", x->name, "arguments",
						       x->arguments));
}

static void initialized(struct server *s, const json_t *result)
{
	const char *version = json_text(result, "protocolVersion");
	unsigned i = 0;

	while (i < ARRAY_LEN(versions) && (!version || strcmp(version, versions[i])))
		i++;
	if (i == ARRAY_LEN(versions)) {
		server_fail(s, "it speaks version '%.40s' of the protocol, which is not known",
			    version ? version : "");
		return;
	}
	message_send(s, json_pack("{s:s}", "method", "notifications/initialized"));
	s->ready = true;
	if (s->listed)
		list_ask(s, NULL);
	else
		calls_send(s);
}

/* ---- its tools ---- */

static bool sub_name_is_valid(const char *name)
{
	size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-.")
			: 0;

	return n && n <= 64 && !name[n] && name[0] != '-' && name[0] != '.';
}

static void skip(struct server *s, const char *name, const char *reason)
{
	char shown[80];

	snprintf(shown, sizeof(shown), "%.64s", name ? name : "");
	if (json_array_size(s->skipped) < TOOL_SUBCOMMANDS)
		json_array_append_new(s->skipped, json_pack("{s:o,s:o}", "name", json_clean(shown),
							    "reason", json_clean(reason)));
}

static void sub_add(struct server *s, const json_t *tool)
{
	const char *name = json_text(tool, "name"), *text = json_text(tool, "description");
	struct err e = { 0 };
	char description[TOOL_TEXT_MAX];
	json_t *schema;

	if (!sub_name_is_valid(name)) {
		skip(s, name, "its name cannot be a subcommand");
		return;
	}
	if (tool_sub(s->subs, name) ||
	    json_array_size(json_object_get(s->subs, "subcommands")) >= TOOL_SUBCOMMANDS) {
		skip(s, name, "there is another one of this name, or there are too many");
		return;
	}
	schema = schema_read(json_object_get(tool, "inputSchema"), &e);
	if (!schema) {
		skip(s, name, err_line(&e).str);
		return;
	}
	snprintf(description, sizeof(description), "%s", text ? text : "");
	s->bytes += json_dumpb(schema, NULL, 0, JSON_COMPACT) + strlen(description) + 100;
	if (s->bytes > SUBS_BYTES) {
		json_decref(schema);
		skip(s, name, "the schemas of the server are larger than 1 MiB together");
		return;
	}
	json_array_append_new(json_object_get(s->subs, "subcommands"),
			      json_pack("{s:s,s:o,s:o}", "name", name, "description",
					json_clean(description), "schema", schema));
}

static void tools_listed(struct server *s, const json_t *result)
{
	const json_t *list = json_object_get(result, "tools"), *t;
	const json_t *next = json_object_get(result, "nextCursor");
	mcp_listed_fn fn = s->listed;
	void *arg = s->arg;
	json_t *subs, *skipped;
	size_t i;

	if (!json_is_array(list)) {
		server_fail(s, "its list of tools is not one");
		return;
	}
	json_array_foreach(list, i, t)
		sub_add(s, t);
	if (json_is_string(next) && ++s->pages < PAGES_MAX) {
		list_ask(s, next);
		return;
	}
	if (!json_array_size(json_object_get(s->subs, "subcommands"))) {
		server_fail(s, json_array_size(s->skipped) ? "none of its tools can be used"
							   : "it has no tools");
		return;
	}
	subs = json_incref(json_object_get(s->subs, "subcommands"));
	skipped = json_incref(s->skipped);
	s->listed = NULL;
	server_end(s, NULL);
	fn(arg, subs, skipped, NULL);
}

/* ---- answers ---- */

static void error_get(const json_t *error, struct err *e)
{
	char text[400];

	snprintf(text, sizeof(text), "%.390s",
		 json_text(error, "message") ? json_text(error, "message") : "unknown error");
	err_note(e, ERR_FAILED, "the MCP server refused the call: %s", text);
}

static void answer_take(struct server *s, const json_t *m, int64_t id)
{
	const json_t *result = json_object_get(m, "result"), *error = json_object_get(m, "error");
	struct mcp_call *x, *found = NULL;
	struct err e = { 0 };

	if (error)
		error_get(error, &e);
	if (!s->ready) {
		if (id != 1)
			return;
		if (json_is_object(result))
			initialized(s, result);
		else
			server_fail(s, "%s", error ? e.message : "its answer cannot be read");
		return;
	}
	if (s->listed) {
		if (id == s->last_id && json_is_object(result))
			tools_listed(s, result);
		else if (id == s->last_id)
			server_fail(s, "%s", error ? e.message : "its answer cannot be read");
		return;
	}
	list_for_each(x, &s->calls, link)
		if (x->id == id)
			found = x;
	if (!found)
		return; /* cancelled, or an answer to nothing */
	if (!json_is_object(result) && !error)
		err_note(&e, ERR_FAILED, "the answer of the MCP server cannot be read");
	uv_timer_start(&s->timer, on_time, IDLE_MS, 0);
	call_end(found, json_is_object(result) ? result : NULL, &e);
}

static void request_answer(struct server *s, const json_t *m, const char *method)
{
	json_t *id = json_incref(json_object_get(m, "id"));

	if (!strcmp(method, "ping"))
		message_send(s, json_pack("{s:o,s:{}}", "id", id, "result"));
	else
		message_send(s, json_pack("{s:o,s:{s:i,s:s}}", "id", id, "error", "code", -32601,
					  "message", "not supported"));
}

/* What makes no sense is ignored: its calls end by their time. */
static void line_take(struct server *s, const char *text, size_t n)
{
	json_t *m = json_loadb(text, n, 0, NULL);
	const json_t *id = json_object_get(m, "id");
	const char *method = m ? json_text(m, "method") : NULL;

	if (method && id)
		request_answer(s, m, method);
	else if (json_is_integer(id))
		answer_take(s, m, json_integer_value(id));
	json_decref(m);
}

/* ---- its streams ---- */

/* Whether s is still one of the servers: whoever is told something may end it. */
static bool is_alive(const struct server *s)
{
	const struct server *o;

	list_for_each(o, &servers, link)
		if (o == s)
			return true;
	return false;
}

static void on_out(void *arg, const char *data, size_t n)
{
	struct server *s = arg;
	char *end;

	buf_add(&s->in, data, n);
	while (is_alive(s) && (end = memchr(s->in.p, '\n', s->in.len))) {
		size_t line = (size_t)(end - (char *)s->in.p);
		char *copy = xstrndup((char *)s->in.p, line);

		memmove(s->in.p, s->in.p + line + 1, s->in.len - line - 1);
		s->in.len -= line + 1;
		line_take(s, copy, strlen(copy));
		free(copy);
	}
	if (is_alive(s) && s->in.len > LINE_MAX_HERE)
		server_fail(s, "it sent a line of more than %u bytes", LINE_MAX_HERE);
}

static void on_err(void *arg, const char *data, size_t n)
{
	struct server *s = arg;
	size_t have = strlen(s->said), most = STDERR_KEPT;

	/* The last bytes count. */
	if (n > most) {
		data += n - most;
		n = most;
	}
	if (have + n > most) {
		memmove(s->said, s->said + (have + n - most), most - n);
		have = most - n;
	}
	for (size_t i = 0; i < n; i++)
		s->said[have + i] = data[i] ? data[i] : '?';
	s->said[have + n] = '\0';
}

static void on_end(void *arg, int status)
{
	struct server *s = arg;

	s->h = NULL;
	server_fail(s, "it ended with status %d", status);
}

/* ---- the start ---- */

static struct server *server_start(struct daemon *d, struct cell *c, const char *tool,
				   const json_t *command, struct err *e)
{
	static const struct hosted_ops ops = { .out = on_out, .err = on_err, .end = on_end };
	struct server *s = xalloc(sizeof(*s));
	char **argv = json_words(command);

	s->d = d;
	snprintf(s->tool, sizeof(s->tool), "%.40s", tool);
	s->h = hosted_start(d, argv, c ? c->id : NULL, c ? c->name : NULL, tool, &ops, s, e);
	free(argv);
	if (!s->h) {
		free(s);
		return NULL;
	}
	s->command = json_deep_copy(command);
	list_init(&s->calls);
	list_init(&s->link);
	list_append(&servers, &s->link);
	nservers++;
	s->timer.data = s;
	uv_timer_init(&d->loop, &s->timer);
	if (c) {
		snprintf(s->cell, sizeof(s->cell), "%s", c->id);
		cell_wait_add(c, &s->wait, cell_changed);
	}
	request_send(s, "initialize",
		     json_pack("{s:s,s:{},s:{s:s,s:s}}", "protocolVersion", versions[0],
			       "capabilities", "clientInfo", "name", "vivarium", "version",
			       VIV_VERSION));
	return s;
}

static struct server *server_find(const struct cell *c, const char *tool, const json_t *command)
{
	struct server *s, *found = NULL;

	list_for_each(s, &servers, link)
		if (!strcmp(s->cell, c->id) && !strcmp(s->tool, tool) &&
		    json_equal(s->command, command))
			found = s;
	return found;
}

static unsigned servers_of(const struct cell *c)
{
	const struct server *s;
	unsigned n = 0;

	list_for_each(s, &servers, link)
		n += !strcmp(s->cell, c->id);
	return n;
}

struct mcp_call *mcp_call(struct cell *c, const json_t *tool, const char *sub,
			  const json_t *arguments, const struct mcp_ops *ops, void *arg,
			  struct err *e)
{
	const char *name = json_text(tool, "name");
	const json_t *command = json_object_get(tool, "command");
	struct server *s = server_find(c, name, command);
	struct mcp_call *x;

	if (!s && (nservers >= SERVERS_MAX || servers_of(c) >= CELL_SERVERS)) {
		err_note(e, ERR_TOO_MANY, "too many MCP servers run for cells");
		return NULL;
	}
	if (!s)
		s = server_start(c->d, c, name, command, e);
	if (!s)
		return NULL;
	if (s->ncalls >= CALLS_MAX) {
		err_note(e, ERR_TOO_MANY, "the cell has %d calls of this server already",
			 CALLS_MAX);
		return NULL;
	}
	x = xalloc(sizeof(*x));
	x->s = s;
	x->name = xstrndup(sub, strlen(sub));
	x->arguments = json_deep_copy(arguments);
	x->ops = ops;
	x->arg = arg;
	list_init(&x->link);
	list_append(&s->calls, &x->link);
	s->ncalls++;
	if (s->ready)
		calls_send(s);
	return x;
}

void mcp_cancel(struct mcp_call *x)
{
	struct server *s = x->s;

	if (x->id)
		message_send(s, json_pack("{s:s,s:{s:I,s:s}}", "method", "notifications/cancelled",
					  "params", "requestId", (json_int_t)x->id, "reason",
					  "the caller is gone"));
	call_free(x);
	uv_timer_start(&s->timer, on_time, IDLE_MS, 0);
}

int mcp_list(struct daemon *d, char *const *argv, const char *name, mcp_listed_fn fn, void *arg,
	     struct err *e)
{
	json_t *command = json_array();
	struct server *s;

	for (; *argv; argv++)
		json_array_append_new(command, json_string(*argv));
	s = nservers < SERVERS_MAX ? server_start(d, NULL, name, command, e) : NULL;
	json_decref(command);
	if (!s)
		return e->kind ? -1 : err_set(e, ERR_TOO_MANY, "too many MCP servers run");
	s->listed = fn;
	s->arg = arg;
	s->subs = json_pack("{s:[]}", "subcommands");
	s->skipped = json_array();
	uv_timer_start(&s->timer, on_time, LIST_MS, 0);
	return 0;
}
