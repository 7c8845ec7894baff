/* viv session: agents in cells, over many prompts. */
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/color.h"
#include "cli/list.h"
#include "base/safetext.h"
#include "cli/sessionview.h"

#define PROMPT_MAX (32u << 20)

/* ---- which one ---- */

int session_read(const struct json *o, struct session_id *ret, struct err *e)
{
	*ret = (struct session_id){ 0 };
	snprintf(ret->id, sizeof(ret->id), "%s", member_text(o, "id"));
	snprintf(ret->cell, sizeof(ret->cell), "%s", member_text(o, "cell"));
	snprintf(ret->state, sizeof(ret->state), "%s", member_text(o, "state"));
	json_get_u64(o, "last_seq", &ret->last);
	return *ret->id && *ret->cell ? 0
				      : err_set(e, ERR_FAILED, "vivd's answer is not a session");
}

static bool is_open(const struct json *s)
{
	return strcmp(member_text(s, "state"), "closed") != 0;
}

static int one_find(const struct json *list, const char *word, bool by_cell, const char *cell,
		    const struct json **ret, struct err *e)
{
	*ret = NULL;
	for (const struct json *s = list ? list->first : NULL; s; s = s->next) {
		const char *id = member_text(s, "id");

		if (!strcmp(id, word))
			return *ret = s, 0;
		if (by_cell ? strcmp(member_text(s, "cell"), cell) || !is_open(s)
			    : strncmp(id, word, strlen(word)))
			continue;
		if (*ret)
			return err_set(e, ERR_AMBIGUOUS,
				       "'%s' can be several sessions" REMEDY
				       "give the whole id; 'viv session ls' lists them",
				       word);
		*ret = s;
	}
	return 0;
}

int session_find(const char *word, struct session_id *ret, struct err *e)
{
	struct json_doc d = { 0 }, cell = { 0 };
	const struct json *list, *found = NULL;
	struct err unused;
	int r;

	if (vivd_ask("GET", "/v1/sessions", NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "sessions", JSON_LIST);
	r = !strncmp(word, "s_", 2) ? one_find(list, word, false, "", &found, e) : 0;
	if (!r && !found && vivd_ask("GET", cell_path(word, "").str, NULL, &cell, &unused) == 0) {
		r = one_find(list, word, true, member_text(cell.root, "id"), &found, e);
		json_free(&cell);
	}
	if (!r && !found)
		r = err_set(e, ERR_NOT_FOUND,
			    "there is no session '%s'" REMEDY "'viv session ls' lists them", word);
	if (!r)
		r = session_read(found, ret, e);
	json_free(&d);
	return r;
}

struct cell_path session_path(const struct session_id *s, const char *tail)
{
	char rest[256];

	snprintf(rest, sizeof(rest), "/sessions/%s%s", s->id, tail);
	return cell_path(s->cell, rest);
}

/* ---- new ---- */

int env_write(const struct args *a, struct buf *b, struct err *e)
{
	struct buf env = { 0 };
	const char *text, *value;
	unsigned at = 0;

	while ((text = arg_next(a, "env", &at))) {
		size_t n = strcspn(text, "=");
		char *name = xstrndup(text, n);

		value = text[n] ? text + n + 1 : getenv(name);
		if (n && value) {
			buf_add_text(&env, env.len ? "" : "{");
			json_member_text(&env, name, value);
		}
		free(name);
		if (!n) {
			buf_free(&env);
			return args_wrong(a, e, "--env needs a name: --env NAME=VALUE");
		}
	}
	if (env.len) {
		buf_add(&env, "}", 2);
		json_member_add(b, "env", (char *)env.p);
	}
	buf_free(&env);
	return 0;
}

void words_write(struct buf *b, const char *member, char **words)
{
	struct buf list = { 0 };

	buf_add_text(&list, "[");
	for (unsigned i = 0; words[i]; i++) {
		buf_add_text(&list, i ? "," : "");
		json_text_add(&list, words[i]);
	}
	buf_add(&list, "]", 2);
	json_member_add(b, member, (char *)list.p);
	buf_free(&list);
}

int utf8_check(const struct args *a, struct err *e)
{
	for (int i = 1; i < a->argc; i++)
		if (!text_is_utf8(a->argv[i], strlen(a->argv[i])))
			return err_set(e, ERR_USAGE, "'%s' is not valid UTF-8, which vivd requires",
				       a->argv[i]);
	return 0;
}

int session_new_main(struct args *a, struct err *e)
{
	static const struct {
		const char *option, *member;
	} texts[] = { { "agent", "agent" },  { "workdir", "workdir" },
		      { "user", "user" },    { "mode", "mode" },
		      { "model", "model" },  { "append-prompt", "append_prompt" },
		      { "prompt", "prompt" } };
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	if (!arg_value(a, "agent") == !a->words[1])
		return args_wrong(a, e,
				  "give either --agent AGENT, or a command that speaks ACP behind "
				  "the cell");
	if (utf8_check(a, e) < 0)
		return -1;
	buf_add_text(&b, "{");
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		json_member_text(&b, texts[i].member, arg_value(a, texts[i].option));
	if (a->words[1])
		words_write(&b, "command", a->words + 1);
	if (arg_is_on(a, "no-system-prompt"))
		json_member_add(&b, "system_prompt", "false");
	r = env_write(a, &b, e);
	buf_add(&b, "}", 2);
	if (!r)
		r = vivd_ask("POST", cell_path(a->words[0], "/sessions").str, (char *)b.p, &d, e);
	buf_free(&b);
	if (r < 0)
		return -1;
	if (a->json)
		json_line_print(d.root, false);
	else
		printf("%s\n", member_text(d.root, "id"));
	json_free(&d);
	return 0;
}

/* ---- prompt ---- */

static char *input_read(struct err *e)
{
	struct buf b = { 0 };
	ssize_t n;

	do {
		n = read(STDIN_FILENO, buf_more(&b, 65536), 65536);
		b.len -= 65536 - (size_t)MAX(n, 0);
	} while (n > 0 && b.len <= PROMPT_MAX);
	if (n < 0)
		err_set(e, ERR_FAILED, "cannot read standard input");
	else if (b.len > PROMPT_MAX)
		err_set(e, ERR_TOO_LARGE, "a prompt of more than %u MiB", PROMPT_MAX >> 20);
	else if (b.len && memchr(b.p, 0, b.len))
		err_set(e, ERR_USAGE, "the prompt has a NUL byte in it");
	else {
		buf_add(&b, "", 1);
		return (char *)b.p;
	}
	buf_free(&b);
	return NULL;
}

char *prompt_read(char **words, struct err *e)
{
	struct buf b = { 0 };
	char *text;

	if (words[0] && !words[1] && !strcmp(words[0], "-")) {
		text = input_read(e);
	} else {
		buf_add_text(&b, "");
		for (unsigned i = 0; words[i]; i++) {
			buf_add_text(&b, i ? " " : "");
			buf_add_text(&b, words[i]);
		}
		buf_add(&b, "", 1);
		text = (char *)b.p;
	}
	if (text && !text[strspn(text, " \t\r\n")])
		err_set(e, ERR_USAGE, "the prompt is empty");
	else if (text && !text_is_utf8(text, strlen(text)))
		err_set(e, ERR_USAGE, "the prompt is not valid UTF-8");
	else
		return text;
	free(text);
	return NULL;
}

int session_prompt(const struct session_id *s, const char *text, uint64_t *ret, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_text(&b, "text", text);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", session_path(s, "/prompt").str, (char *)b.p, &d, e);
	buf_free(&b);
	if (!r && !json_get_u64(d.root, "prompt", ret))
		r = err_set(e, ERR_FAILED, "vivd's answer has no number of the prompt");
	json_free(&d);
	return r;
}

int session_prompt_main(struct args *a, struct err *e)
{
	struct session_watch w = { .view = VIEW_NO_PROMPT };
	struct session_id s;
	char *text = prompt_read(a->words + 1, e);
	int r;

	if (!text)
		return -1;
	r = session_find(a->words[0], &s, e);
	if (!r)
		r = session_prompt(&s, text, &w.prompt, e);
	free(text);
	if (r)
		return -1;
	if (arg_is_on(a, "no-wait")) {
		printf(a->json ? "{\"prompt\":%llu}\n" : "%llu\n", (unsigned long long)w.prompt);
		return 0;
	}
	w.cell = s.cell;
	w.session = s.id;
	w.since = s.last;
	w.json = a->json;
	w.keys = !a->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	return session_watch(&w, e);
}

/* ---- events ---- */

struct events {
	struct session_view *view; /* NULL: as JSON */
};

static int event_line(void *arg, const char *line, size_t size)
{
	struct events *x = arg;
	struct event ev;
	struct err e;

	if (!x->view) {
		if (isatty(STDOUT_FILENO))
			safe_json(stdout, line, size);
		else
			fwrite(line, 1, size, stdout);
		putchar('\n');
	} else if (event_read(&ev, line, size, &e) == 0) {
		view_event(x->view, &ev);
		event_free(&ev);
	} else {
		warn("an event of the session cannot be read: %s", e.message);
	}
	return ferror(stdout) ? 1 : 0;
}

static int events_all(const struct session_id *s, const char *since, bool json, struct err *e)
{
	struct events x = { .view = json ? NULL : view_new(stdout, 0) };
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply;
	char tail[64];
	int r = vivd_connect(&c, e);

	snprintf(tail, sizeof(tail), "/events?since=%.20s", since ? since : "0");
	if (!r && viv_stream(c, "GET", session_path(s, tail).str, NULL, event_line, &x, &reply,
			     &error) < 0)
		r = viv_error_get(&error, e);
	else if (!r)
		r = reply.status != 200 ? vivd_refusal(&reply, e) : 0;
	if (x.view)
		view_break(x.view);
	view_free(x.view);
	return r;
}

int session_events_main(struct args *a, struct err *e)
{
	const char *since = arg_value(a, "since");
	struct session_id s;
	struct session_watch w = { .json = a->json };

	if (since &&
	    (!*since || strlen(since) > 18 || strspn(since, "0123456789") != strlen(since)))
		return args_wrong(a, e, "--since '%s': must be the number of an event", since);
	if (session_find(a->words[0], &s, e) < 0)
		return -1;
	if (!arg_is_on(a, "follow"))
		return events_all(&s, since, a->json, e);
	w.cell = s.cell;
	w.session = s.id;
	w.since = since ? strtoull(since, NULL, 10) : 0;
	return session_watch(&w, e);
}

/* ---- the others ---- */

static void heading_print(void)
{
	printf("%-18s  %-16s %-12s %-9s %-19s  %s\n", "ID", "CELL", "AGENT", "STATE", "UPDATED",
	       "TITLE");
}

static void column_print(const char *text, unsigned width)
{
	for (unsigned n = text_print(stdout, text, width); n < width + 1; n++)
		putchar(' ');
}

static void row_print(const struct json *s)
{
	const char *state = member_text(s, "state"), *agent = member_text(s, "agent");
	enum color color = color_state(state);

	printf("%-18.18s  %-16.16s ", member_text(s, "id"), member_text(s, "cell"));
	column_print(*agent ? agent : "-", 12);
	printf("%s%-9s%s %-19.19s  ", color_on(stdout, color), state, color_off(stdout, color),
	       member_text(s, "updated"));
	text_print(stdout, member_text(s, "title"), 80);
	putchar('\n');
}

static const char *session_shown(const struct json *s)
{
	return member_text(s, "id");
}

int session_ls_main(struct args *a, struct err *e)
{
	const char *cell = arg_value(a, "cell");
	struct cell_path path = cell_path(cell ? cell : "", "/sessions");
	struct listing l = { .path = cell ? path.str : "/v1/sessions",
			     .member = "sessions",
			     .heading = heading_print,
			     .row = row_print,
			     .name = session_shown,
			     .is_shown = arg_is_on(a, "all") ? NULL : is_open };

	return list_show(a, &l, e);
}

static int session_show(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	struct session_id s;

	(void)arg;
	if (session_find(word, &s, e) < 0 ||
	    vivd_ask("GET", session_path(&s, "").str, NULL, &d, e) < 0)
		return -1;
	json_line_print(d.root, !a->json);
	json_free(&d);
	return 0;
}

int session_show_main(struct args *a, struct err *e)
{
	return words_each(a, session_show, NULL, e);
}

struct act {
	const char *method, *tail;
};

static int session_act(const struct args *a, const char *word, void *arg, struct err *e)
{
	const struct act *act = arg;
	struct session_id s;

	if (session_find(word, &s, e) < 0 ||
	    vivd_ask(act->method, session_path(&s, act->tail).str, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"id\":\"%s\"}\n" : "%s\n", s.id);
	return 0;
}

int session_cancel_main(struct args *a, struct err *e)
{
	return words_each(a, session_act, &(struct act){ "POST", "/cancel" }, e);
}

int session_close_main(struct args *a, struct err *e)
{
	return words_each(a, session_act, &(struct act){ "POST", "/close" }, e);
}

int session_rm_main(struct args *a, struct err *e)
{
	return words_each(a, session_act, &(struct act){ "DELETE", "" }, e);
}

/* {"mode":"plan"}: what is said to the agent, and what the session is then. */
static int setting_set(struct args *a, const char *tail, struct buf *b, struct err *e)
{
	struct session_id s;
	int r = utf8_check(a, e);

	buf_add(b, "}", 2);
	if (!r)
		r = session_find(a->words[0], &s, e);
	if (!r)
		r = vivd_ask("POST", session_path(&s, tail).str, (char *)b->p, NULL, e);
	buf_free(b);
	if (!r)
		printf(a->json ? "{\"id\":\"%s\"}\n" : "%s\n", s.id);
	return r;
}

int session_mode_main(struct args *a, struct err *e)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	json_member_text(&b, "mode", a->words[1]);
	return setting_set(a, "/mode", &b, e);
}

int session_model_main(struct args *a, struct err *e)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	json_member_text(&b, "model", a->words[1]);
	return setting_set(a, "/model", &b, e);
}

int session_config_main(struct args *a, struct err *e)
{
	const char *value = a->words[2];
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	json_member_text(&b, "option", a->words[1]);
	/* Options of agents are switches or words. */
	if (!strcmp(value, "true") || !strcmp(value, "false"))
		json_member_add(&b, "value", value);
	else
		json_member_text(&b, "value", value);
	return setting_set(a, "/config", &b, e);
}
