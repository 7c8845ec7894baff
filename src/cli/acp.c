/* viv acp: an editor that speaks ACP has an agent that lives in a cell; see acp.h.
 *
 * The project of the editor is in the cell only with --mount, or as a copy with --on-copy, and then
 * under the same path, so that paths mean the same on both sides. The agent's files and terminals
 * are the cell's: nothing of ACP that would read or write files of the editor is passed on. */
#include "cli/acp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "base/siphash.h"
#include "cli/args.h"
#include "keeper/channel.h"

#define LINE_MAX_BYTES (32u << 20)
#define LOST_AFTER (20 * NSEC_PER_SEC)
#define RETRY_MS 200
#define IDLE "3600" /* seconds until a cell without an editor stops */

#define INVALID_PARAMS (-32602)
#define INTERNAL (-32603)

static struct acp_session *session_by(struct acp *x, const char *id)
{
	for (unsigned i = 0; i < x->n; i++)
		if (!strcmp(x->sessions[i].s.id, id))
			return &x->sessions[i];
	return NULL;
}

static struct acp_session *session_add(struct acp *x, const struct session_id *id)
{
	struct acp_session *s = session_by(x, id->id);

	if (!s && x->n < ACP_SESSIONS) {
		s = &x->sessions[x->n++];
		*s = (struct acp_session){ .s = *id };
	}
	return s;
}

/* ---- the cell ---- */

/* The same project has the same cell each time. */
static int cell_get(struct acp *x, struct err *e)
{
	static const uint64_t key[2] = { 0x6163702d63656c6c, 0x7669766172697566 };
	static struct mount_text m;
	static char name[80];
	struct agent_cell *c = &x->cell;
	const char *dir = c->copy ? c->copy : c->nmounts ? c->mounts[0] : NULL;

	if (*c->id)
		return 0;
	c->agent = x->agent;
	if (!c->name && dir) {
		if (mount_read("--mount", dir, &m, e) < 0)
			return -1;
		if (*m.dst)
			return err_set(e, ERR_USAGE,
				       "--mount '%s': the editor and the agent use the same "
				       "path" REMEDY "give the directory only",
				       dir);
		c->mount_at = m.source;
		snprintf(name, sizeof(name), "acp-%.40s%s-%08x", x->agent, c->copy ? "-copy" : "",
			 (unsigned)siphash(key, m.source, strlen(m.source)));
	} else if (!c->name) {
		snprintf(name, sizeof(name), "acp-%.40s", x->agent);
	}
	if (!c->name) {
		c->name = name;
		c->idle = IDLE;
	}
	if (agent_cell_get(c, e) < 0)
		return -1;
	if (c->copied)
		fprintf(stderr,
			"viv: the agent works on a copy of '%s'; 'viv merge %s' brings its changes "
			"back\n",
			c->source, c->shown);
	return 0;
}

/* ---- requests ---- */

/* The editor's directory, if the cell has it. */
static const char *workdir_of(const struct acp *x, const char *cwd)
{
	size_t n = strlen(x->cell.source);

	if (!n || !x->cell.mount_at)
		return *x->cell.target ? x->cell.target : NULL;
	return !strncmp(cwd, x->cell.source, n) && (!cwd[n] || cwd[n] == '/') ? cwd
									      : x->cell.target;
}

/* Servers that are programs of the editor's machine are not in the cell. */
static void servers_add(struct buf *b, const struct json *list)
{
	struct buf out = { 0 };

	for (const struct json *s = list ? list->first : NULL; s; s = s->next) {
		const char *type = member_text(s, "type");
		char *text;

		if (strcmp(type, "http") && strcmp(type, "sse")) {
			fprintf(stderr, "viv: an MCP server of the editor is a program of this "
					"machine, and "
					"is not given to the agent\n");
			continue;
		}
		text = acp_json(s);
		buf_add_text(&out, out.len ? "," : "[");
		buf_add_text(&out, text);
		free(text);
	}
	if (out.len) {
		buf_add(&out, "]", 2);
		json_member_add(b, "mcp_servers", (char *)out.p);
	}
	buf_free(&out);
}

static void session_new(struct acp *x, const char *id, const struct json *params)
{
	struct json_doc d = { 0 };
	struct acp_session *s;
	struct session_id made;
	struct buf b = { 0 };
	struct err e = { 0 };
	int r = cell_get(x, &e);

	if (!r) {
		buf_add_text(&b, "{");
		json_member_text(&b, "agent", x->agent);
		if (x->command)
			words_write(&b, "command", x->command);
		json_member_text(&b, "workdir", workdir_of(x, member_text(params, "cwd")));
		servers_add(&b, json_get(params, "mcpServers", JSON_LIST));
		buf_add(&b, "}", 2);
		r = vivd_ask("POST", cell_path(x->cell.id, "/sessions").str, (char *)b.p, &d, &e);
		buf_free(&b);
	}
	if (!r)
		r = session_read(d.root, &made, &e);
	json_free(&d);
	s = r ? NULL : session_add(x, &made);
	if (!r && !s)
		r = err_set(&e, ERR_TOO_MANY, "too many sessions for one editor");
	if (r < 0)
		acp_error(id, INTERNAL, NULL, &e);
	else
		s->opening = xstrndup(id, strlen(id));
}

static void session_load(struct acp *x, const char *id, const struct json *params, bool replay)
{
	struct session_id found;
	struct acp_session *s = NULL;
	struct err e = { 0 };
	int r = session_find(member_text(params, "sessionId"), &found, &e);

	if (!r && !(s = session_add(x, &found)))
		r = err_set(&e, ERR_TOO_MANY, "too many sessions for one editor");
	if (r < 0) {
		acp_error(id, e.kind == ERR_NOT_FOUND ? -32002 : INTERNAL, NULL, &e);
		return;
	}
	acp_prompts_end(s, "the session was loaded again");
	viv_close(s->events);
	s->events = NULL;
	s->opening = xstrndup(id, strlen(id));
	s->loading = replay && found.last;
	s->load_to = found.last;
	s->last = s->loading ? 0 : found.last;
	if (!s->loading) {
		acp_opened(s, false);
		acp_questions(x, s->s.cell);
	}
}

static void prompt_post(struct acp_session *s, const char *id, const struct json *params)
{
	const struct json *blocks = json_get(params, "prompt", JSON_LIST);
	struct acp_prompt p = { 0 };
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	struct err e = { 0 };
	char *text;
	int r;

	if (!blocks || !blocks->first) {
		acp_error(id, INVALID_PARAMS, "the prompt is empty", NULL);
		return;
	}
	text = acp_json(blocks);
	buf_add_text(&b, "{");
	json_member_add(&b, "content", text);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", session_path(&s->s, "/prompt").str, (char *)b.p, &d, &e);
	if (!r && !json_get_u64(d.root, "prompt", &p.number))
		r = err_set(&e, ERR_FAILED, "vivd's answer has no number of the prompt");
	free(text);
	buf_free(&b);
	json_free(&d);
	if (r < 0) {
		acp_error(id, INTERNAL, NULL, &e);
		return;
	}
	p.id = xstrndup(id, strlen(id));
	buf_add(&s->prompts, &p, sizeof(p));
}

/* set_mode, set_model, set_config_option: {"mode":"plan"}. */
static void setting_post(struct acp_session *s, const char *id, const char *tail, struct buf *b)
{
	struct json_doc d = { 0 };
	struct err e = { 0 };
	char *text, *result = NULL;

	buf_add(b, "}", 2);
	if (vivd_ask("POST", session_path(&s->s, tail).str, (char *)b->p, NULL, &e) < 0) {
		acp_error(id, INTERNAL, NULL, &e);
	} else if (strcmp(tail, "/config")) {
		acp_reply(id, "{}");
	} else if (vivd_ask("GET", session_path(&s->s, "").str, NULL, &d, &e) < 0) {
		acp_error(id, INTERNAL, NULL, &e);
	} else {
		text = json_get(d.root, "config_options", JSON_LIST)
			       ? acp_json(json_get(d.root, "config_options", JSON_LIST))
			       : xstrndup("[]", 2);
		if (asprintf(&result, "{\"configOptions\":%s}", text) > 0)
			acp_reply(id, result);
		free(result);
		free(text);
		json_free(&d);
	}
	buf_free(b);
}

static void setting_set(struct acp_session *s, const char *id, const char *method,
			const struct json *params)
{
	struct buf b = { 0 };
	char *value;

	buf_add_text(&b, "{");
	if (!strcmp(method, "session/set_mode")) {
		json_member_text(&b, "mode", member_text(params, "modeId"));
		setting_post(s, id, "/mode", &b);
	} else if (!strcmp(method, "session/set_model")) {
		json_member_text(&b, "model", member_text(params, "modelId"));
		setting_post(s, id, "/model", &b);
	} else {
		value = acp_json(json_member(params, "value"));
		json_member_text(&b, "option", member_text(params, "configId"));
		json_member_add(&b, "value", value);
		setting_post(s, id, "/config", &b);
		free(value);
	}
}

static void session_close(struct acp *x, struct acp_session *s, const char *id)
{
	struct err e = { 0 };

	if (vivd_ask("POST", session_path(&s->s, "/close").str, NULL, NULL, &e) < 0) {
		acp_error(id, INTERNAL, NULL, &e);
		return;
	}
	acp_prompts_end(s, "the session was closed");
	viv_close(s->events);
	buf_free(&s->prompts);
	*s = x->sessions[--x->n];
	acp_reply(id, "{}");
}

static void sessions_list(struct acp *x, const char *id)
{
	struct json_doc d = { 0 };
	struct err e = { 0 };
	const char *before = "";
	const struct json *list;

	if (vivd_ask("GET", "/v1/sessions", NULL, &d, &e) < 0) {
		acp_error(id, INTERNAL, NULL, &e);
		return;
	}
	list = json_get(d.root, "sessions", JSON_LIST);
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessions\":[", id);
	for (const struct json *s = list ? list->first : NULL; s; s = s->next) {
		const char *dir = member_text(s, "workdir");

		if (strcmp(member_text(s, "agent"), x->agent ? x->agent : "") ||
		    !strcmp(member_text(s, "state"), "closed"))
			continue;
		printf("%s{\"sessionId\":", before);
		json_quoted(stdout, member_text(s, "id"));
		printf(",\"cwd\":");
		json_quoted(stdout, *dir ? dir : *x->cell.target ? x->cell.target : "/");
		printf(",\"updatedAt\":");
		json_quoted(stdout, member_text(s, "updated"));
		if (*member_text(s, "title")) {
			printf(",\"title\":");
			json_quoted(stdout, member_text(s, "title"));
		}
		printf("}");
		before = ",";
	}
	printf("]}}\n");
	json_free(&d);
}

static void initialize(const char *id)
{
	acp_reply(id, "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,"
		      "\"promptCapabilities\":{\"image\":true,\"audio\":false,"
		      "\"embeddedContext\":true},\"mcpCapabilities\":{\"http\":true,\"sse\":true},"
		      "\"sessionCapabilities\":{\"list\":{},\"resume\":{},\"close\":{}}},"
		      "\"agentInfo\":{\"name\":\"vivarium\",\"title\":\"Vivarium\","
		      "\"version\":\"" VIV_VERSION "\"},\"authMethods\":[]}");
}

/* Those that are about one session that is open here. */
static void session_request(struct acp *x, const char *id, const char *method,
			    const struct json *params)
{
	struct acp_session *s = session_by(x, member_text(params, "sessionId"));
	struct err e = { 0 };

	if (!s) {
		acp_error(id, -32002, "there is no such session here: it has to be loaded first",
			  NULL);
	} else if (!strcmp(method, "session/prompt")) {
		prompt_post(s, id ? id : "null", params);
	} else if (!strcmp(method, "session/cancel")) {
		if (vivd_ask("POST", session_path(&s->s, "/cancel").str, NULL, NULL, &e) < 0)
			report(&e);
		acp_reply(id, "{}");
	} else if (!strcmp(method, "session/close")) {
		session_close(x, s, id);
	} else {
		setting_set(s, id, method, params);
	}
}

static void request_do(struct acp *x, const char *id, const char *method, const struct json *params)
{
	static const char *const of_session[] = {
		"session/prompt",   "session/cancel",	 "session/close",
		"session/set_mode", "session/set_model", "session/set_config_option"
	};

	for (unsigned i = 0; i < ARRAY_LEN(of_session); i++)
		if (!strcmp(method, of_session[i])) {
			session_request(x, id, method, params);
			return;
		}
	/* What nobody waits for cannot open a session. */
	if (!id)
		return;
	if (!strcmp(method, "initialize"))
		initialize(id);
	else if (!strcmp(method, "authenticate"))
		acp_reply(id, "{}");
	else if (!strcmp(method, "session/new"))
		session_new(x, id, params);
	else if (!strcmp(method, "session/load"))
		session_load(x, id, params, true);
	else if (!strcmp(method, "session/resume"))
		session_load(x, id, params, false);
	else if (!strcmp(method, "session/list"))
		sessions_list(x, id);
	else
		acp_error(id, -32601, "this method is not supported", NULL);
}

static void line_do(struct acp *x, const char *line, size_t size)
{
	const struct json *id;
	const char *method;
	struct json_doc d;
	struct err e;
	uint64_t number;
	char *text;

	if (json_parse_any(&d, line, size, LINE_MAX_BYTES, &e) < 0) {
		acp_error("null", -32700, NULL, &e);
		return;
	}
	method = json_get_text(d.root, "method");
	id = json_member(d.root, "id");
	text = id ? acp_json(id) : NULL;
	if (d.root->type != JSON_OBJECT)
		acp_error("null", -32600, "a message has to be an object", NULL);
	else if (method)
		request_do(x, text, method, json_get(d.root, "params", JSON_OBJECT));
	else if (json_get_u64(d.root, "id", &number) && json_get(d.root, "result", JSON_OBJECT))
		acp_answer(x, number, json_get(d.root, "result", JSON_OBJECT));
	free(text);
	json_free(&d);
}

/* ---- the loop ---- */

/* 0 at the end of the editor's input. */
static int input_read(struct acp *x, struct err *e)
{
	size_t at = 0;
	ssize_t n;
	char *nl;

	n = read(STDIN_FILENO, buf_more(&x->in, 65536), 65536);
	x->in.len -= 65536 - (size_t)MAX(n, 0);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return err_set(e, ERR_FAILED, "cannot read from the editor: %s", strerror(errno));
	while (x->in.len > x->seen && (nl = memchr(x->in.p + x->seen, '\n', x->in.len - x->seen))) {
		size_t end = (size_t)(nl - (char *)x->in.p);

		*nl = '\0';
		if (end > at && (char)x->in.p[end - 1] == '\r')
			x->in.p[end - 1] = ' ';
		if (end > at)
			line_do(x, (char *)x->in.p + at, end - at);
		at = x->seen = end + 1;
	}
	memmove(x->in.p, x->in.p + at, x->in.len - at);
	x->in.len -= at;
	x->seen = x->in.len;
	if (x->in.len > LINE_MAX_BYTES)
		return err_set(e, ERR_TOO_LARGE, "the editor sent a line of more than %u MiB",
			       LINE_MAX_BYTES >> 20);
	return n != 0;
}

static int streams_open(struct acp *x, bool *whole, struct err *e)
{
	char tail[64];
	int r = 1;

	*whole = true;
	for (unsigned i = 0; i < x->n; i++) {
		struct acp_session *s = &x->sessions[i];

		if (s->events)
			continue;
		snprintf(tail, sizeof(tail), "/events?follow=true&since=%llu",
			 (unsigned long long)s->last);
		r = vivd_follow(&s->events, session_path(&s->s, tail).str, e);
		if (r < 0) {
			/* It was removed. */
			acp_prompts_end(s, e->message);
			*s = x->sessions[--x->n];
			i--;
		}
		*whole &= r != 0;
	}
	if (x->n && !x->news) {
		r = vivd_follow(&x->news, "/v1/events?follow=1", e);
		*whole &= r > 0;
		for (unsigned i = 0; i < x->n && r > 0; i++)
			if (!x->sessions[i].loading)
				acp_questions(x, x->sessions[i].s.cell);
	}
	if (*whole)
		x->lost = 0;
	else if (!x->lost)
		x->lost = clock_mono();
	return x->lost && clock_mono() - x->lost > LOST_AFTER ? -1 : 0;
}

static void streams_read(struct acp *x)
{
	struct viv_error error;
	const char *line;
	size_t size;
	int r;

	for (unsigned i = 0; i < x->n; i++) {
		struct acp_session *s = &x->sessions[i];

		for (r = s->events ? 1 : 0; r > 0;)
			if ((r = viv_follow_line(s->events, &line, &size, &error)) > 0)
				acp_event(x, s, line, size);
		if (r < 0) {
			viv_close(s->events);
			s->events = NULL;
		}
	}
	for (r = x->news ? 1 : 0; r > 0;)
		if ((r = viv_follow_line(x->news, &line, &size, &error)) > 0)
			acp_news(x, line, size);
	if (r < 0) {
		viv_close(x->news);
		x->news = NULL;
	}
}

static int round_do(struct acp *x, struct err *e)
{
	struct pollfd p[ACP_SESSIONS + 2] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	unsigned n = 1;
	bool whole;

	if (streams_open(x, &whole, e) < 0)
		return -1;
	streams_read(x);
	if (fflush(stdout))
		return err_set(e, ERR_FAILED, "the editor does not read any more");
	for (unsigned i = 0; i < x->n; i++)
		if (x->sessions[i].events)
			p[n++] = (struct pollfd){ .fd = viv_follow_fd(x->sessions[i].events),
						  .events = POLLIN };
		else
			whole = false;
	if (x->news)
		p[n++] = (struct pollfd){ .fd = viv_follow_fd(x->news), .events = POLLIN };
	if (poll(p, n, whole ? -1 : RETRY_MS) < 0 && errno != EINTR)
		return err_set(e, ERR_FAILED, "cannot wait: %s", strerror(errno));
	return p[0].revents ? input_read(x, e) : 1;
}

int acp_main(struct args *a, struct err *e)
{
	static struct acp x;
	struct err unused;
	int r;

	x.agent = arg_value(a, "agent");
	x.cell.name = arg_value(a, "cell");
	x.cell.quiet = true;
	x.cell.no_secrets = arg_is_on(a, "no-secrets");
	x.command = a->n ? a->words : NULL;
	if (!x.agent == !x.command)
		return args_wrong(a, e,
				  "give either --agent AGENT, or a command that speaks ACP behind "
				  "'--'");
	if (x.command && !x.cell.name)
		return args_wrong(a, e, "a command needs --cell CELL");
	if (agent_cell_places(&x.cell, a, e) < 0)
		return -1;
	if (x.cell.nmounts > 1)
		return args_wrong(a, e, "--mount can be given once");
	if (x.cell.name && (x.cell.nmounts || x.cell.copy))
		return args_wrong(a, e, "--cell and --%s exclude each other",
				  x.cell.copy ? "on-copy" : "mount");
	do
		r = round_do(&x, e);
	while (r > 0);
	fflush(stdout);
	/* Nobody reads the answers of a turn that runs. */
	for (unsigned i = 0; i < x.n; i++)
		if (x.sessions[i].prompts.len)
			(void)!vivd_ask("POST", session_path(&x.sessions[i].s, "/cancel").str, NULL,
					NULL, &unused);
	return r;
}
