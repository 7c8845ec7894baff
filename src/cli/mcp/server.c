/* The server's side of the protocol: the handshake, and which request is answered by whom; see
 * mcp.h. The versions are those that differ in nothing that this server uses but lists of messages,
 * which only 2025-03-26 has; a client that wants another one gets the newest, and decides. */
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "cli/mcp/mcp.h"

static const char *const versions[] = { "2025-06-18", "2025-03-26", "2024-11-05" };

static const char instructions[] =
	"Vivarium runs programs in cells. A cell is a Linux computer of its own: files, processes, "
	"users and limits; nothing of the host is in it, and it has no network unless the operator "
	"granted one. Create a cell with cell_create, run commands in it with exec, and read and "
	"write its files with file_read and file_write. Take a snapshot before something risky; "
	"rollback restores it, and fork makes another cell with the same files. Files are at "
	"cell://CELL/PATH, the output of a cell's command at cell-log://CELL.";

static void send_buf(struct sink *k, struct buf *b)
{
	k->send(k, (char *)b->p, b->len);
	buf_free(b);
}

static void answer_error(struct sink *k, const char *id, const struct rpc_error *e)
{
	struct buf b = { 0 };

	rpc_failure(&b, id, e);
	send_buf(k, &b);
	k->done(k);
}

static void answer(struct sink *k, const char *id, const char *result, size_t n)
{
	struct buf b = { 0 };

	rpc_result(&b, id, result, n);
	send_buf(k, &b);
	k->done(k);
}

/* ---- the handshake ---- */

static void initialize(struct session *s, struct sink *k, const struct message *m)
{
	const char *wanted = json_get_text(m->params, "protocolVersion"), *version = versions[0];
	struct rpc_error e;
	struct buf b = { 0 };

	if (!wanted) {
		rpc_fail(&e, RPC_PARAMS, "'protocolVersion' must be a text");
		answer_error(k, m->id, &e);
		return;
	}
	for (unsigned i = 0; i < ARRAY_LEN(versions); i++)
		if (!strcmp(versions[i], wanted))
			version = versions[i];
	s->initialized = true;
	s->batches = !strcmp(version, "2025-03-26");
	buf_add_text(&b, "{");
	json_member_text(&b, "protocolVersion", version);
	json_member_add(&b, "capabilities", "{\"tools\":{},\"resources\":{}}");
	json_member_add(&b, "serverInfo",
			"{\"name\":\"vivarium\",\"title\":\"Vivarium\",\"version\":\"" VIV_VERSION
			"\"}");
	json_member_text(&b, "instructions", instructions);
	buf_add_text(&b, "}");
	answer(k, m->id, (char *)b.p, b.len);
	buf_free(&b);
}

static void ping(struct session *s, struct sink *k, const struct message *m)
{
	(void)s;
	answer(k, m->id, "{}", 2);
}

/* ---- lists that need no cell ---- */

static void written(struct sink *k, const struct message *m, void (*write)(FILE *to))
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	write(f);
	if (fclose(f))
		abort();
	answer(k, m->id, text, size);
	free(text);
}

static void tools_list(struct session *s, struct sink *k, const struct message *m)
{
	(void)s;
	written(k, m, tools_write);
}

static void templates_list(struct session *s, struct sink *k, const struct message *m)
{
	(void)s;
	written(k, m, templates_write);
}

/* ---- what needs one ---- */

static void tools_call(struct session *s, struct sink *k, const struct message *m)
{
	const char *name = json_get_text(m->params, "name");
	const struct tool *tool = name ? tool_find(name) : NULL;
	struct rpc_error e;

	if (tool) {
		call_start(s, k, m->id, m->params, tool_call, tool);
		return;
	}
	if (name)
		rpc_fail(&e, RPC_PARAMS, "there is no tool '%.100s'; 'tools/list' lists them",
			 name);
	else
		rpc_fail(&e, RPC_PARAMS, "'name' must be the name of a tool");
	answer_error(k, m->id, &e);
}

static void list_resources(struct session *s, struct sink *k, const struct message *m)
{
	call_start(s, k, m->id, m->params, resources_list, NULL);
}

static void read_resource(struct session *s, struct sink *k, const struct message *m)
{
	call_start(s, k, m->id, m->params, resources_read, NULL);
}

static const struct method {
	const char *name;
	void (*take)(struct session *s, struct sink *k, const struct message *m);
	bool first; /* also before the handshake */
} methods[] = {
	{ "initialize", initialize, true },
	{ "ping", ping, true },
	{ "tools/list", tools_list, false },
	{ "tools/call", tools_call, false },
	{ "resources/list", list_resources, false },
	{ "resources/templates/list", templates_list, false },
	{ "resources/read", read_resource, false },
};

static void request_take(struct session *s, struct sink *k, const struct message *m)
{
	struct rpc_error e;

	for (unsigned i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(methods[i].name, m->method))
			continue;
		if (s->initialized || methods[i].first) {
			methods[i].take(s, k, m);
			return;
		}
		rpc_fail(&e, RPC_INVALID, "the first request must be 'initialize'");
		answer_error(k, m->id, &e);
		return;
	}
	rpc_fail(&e, RPC_NO_METHOD, "there is no method '%.100s'", m->method);
	answer_error(k, m->id, &e);
}

static void note_take(struct session *s, const struct message *m)
{
	char id[MCP_ID_MAX];
	const struct json *v;

	if (strcmp(m->method, "notifications/cancelled") || !m->params)
		return;
	for (v = m->params->first; v; v = v->next)
		if (!strcmp(v->key, "requestId") && id_write(v, id, sizeof(id)))
			call_cancel(s, id);
}

static void message_take(struct session *s, struct sink *k, const struct json *v)
{
	struct message m;
	struct rpc_error e;

	if (message_read(v, &m, &e) < 0) {
		answer_error(k, m.id, &e);
	} else if (m.kind == MESSAGE_REQUEST) {
		request_take(s, k, &m);
	} else {
		if (m.kind == MESSAGE_NOTE)
			note_take(s, &m);
		k->done(k);
	}
}

static unsigned batch_size(const struct json *list)
{
	unsigned n = 0;

	for (const struct json *v = list->first; v; v = v->next)
		n++;
	return n;
}

void session_take(struct session *s, struct sink *k, const char *text, size_t n)
{
	struct json_doc d = { 0 };
	struct rpc_error e;
	struct err bad;

	if (!text) {
		rpc_fail(&e, RPC_INVALID, "a message has at most %u bytes", MCP_MESSAGE_MAX);
		answer_error(k, "null", &e);
	} else if (json_parse(&d, text, n, &bad) < 0) {
		rpc_fail(&e, RPC_PARSE, "%s", bad.message);
		answer_error(k, "null", &e);
	} else if (d.root->type != JSON_LIST) {
		message_take(s, k, d.root);
	} else if (!s->batches || !d.root->first || batch_size(d.root) > MCP_BATCH_MAX) {
		rpc_fail(&e, RPC_INVALID,
			 s->batches ? "a list has 1 to %u messages"
				    : "this version of the protocol has no lists of messages",
			 MCP_BATCH_MAX);
		answer_error(k, "null", &e);
	} else {
		for (const struct json *v = d.root->first; v; v = v->next)
			message_take(s, k, v);
	}
	json_free(&d);
}

void session_end(struct session *s)
{
	calls_cancel(s);
}
