/* See turn.h. Events are read from a stream of their own, which is opened again when vivd was
 * restarted; a signal that cancels the call wakes the wait for them. */
#include "cli/mcp/turn.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/safetext.h"
#include "cli/sessionevent.h"
#include "cli/vivd.h"
#include "keeper/channel.h"

#define CANCEL_WAIT (10 * NSEC_PER_SEC) /* for the end of a turn that was cancelled */
#define END_WAIT (5 * NSEC_PER_SEC) /* for that of a session that failed or was closed */
#define LOST_AFTER (20 * NSEC_PER_SEC) /* without vivd */
#define RETRY_US 100000
#define WAKE_MS 250 /* a signal just before the wait is seen after so long */
#define TITLE_SHOWN 200

/* ---- texts ---- */

char *agent_text(const char *text, size_t n, size_t *ret_len)
{
	char *clean = NULL;
	FILE *f = open_memstream(&clean, ret_len);

	if (!f)
		abort();
	safe_print(f, text, n, 0, 0);
	fclose(f);
	return clean;
}

void question_line(FILE *to, uint64_t approval, const char *title)
{
	fprintf(to,
		"approval %llu waits for a person: %s ('viv approvals allow %llu' or 'viv "
		"approvals "
		"deny %llu' answers)",
		(unsigned long long)approval, title, (unsigned long long)approval,
		(unsigned long long)approval);
}

static void title_clean(const char *title, char *to, size_t size)
{
	text_clean(title, strnlen(title, TITLE_SHOWN), to, size);
}

/* ---- tool calls ---- */

static void call_tell(struct turn *x, const struct turn_call *c)
{
	char line[400];
	int n = snprintf(line, sizeof(line), "tool call: %s%s%s", c->title,
			 c->status[0] ? ", " : "", c->status);

	task_tell(x->t, line, (size_t)n, false);
}

static void call_set(struct turn_call *c, const struct json *update)
{
	const char *title = member_text(update, "title"), *kind = member_text(update, "kind"),
		   *status = member_text(update, "status");

	if (*title)
		title_clean(title, c->title, sizeof(c->title));
	if (*kind)
		text_clean(kind, strlen(kind), c->kind, sizeof(c->kind));
	if (*status)
		text_clean(status, strlen(status), c->status, sizeof(c->status));
}

static void call_take(struct turn *x, const struct json *update, bool is_new)
{
	const char *id = member_text(update, "toolCallId");
	unsigned kept = MIN(x->ncalls, (unsigned)TURN_CALLS_MAX), i = 0;
	struct turn_call more = { 0 }, *c = &more;

	while (i < kept && strncmp(x->calls[i].id, id, sizeof(x->calls[i].id) - 1))
		i++;
	if (i < kept) {
		c = &x->calls[i];
	} else if (is_new) {
		x->ncalls += x->ncalls < UINT32_MAX;
		if (kept < TURN_CALLS_MAX)
			c = &x->calls[kept];
		*c = (struct turn_call){ 0 };
		snprintf(c->id, sizeof(c->id), "%s", id);
	} else {
		return;
	}
	call_set(c, update);
	call_tell(x, c);
	x->new_message = true;
}

/* ---- questions ---- */

static void question_add(struct turn *x, uint64_t approval, const char *title)
{
	struct turn_question *q = &x->questions[x->nquestions];
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	for (unsigned i = 0; i < x->nquestions; i++)
		if (x->questions[i].approval == approval)
			return;
	if (x->nquestions == TURN_QUESTIONS_MAX)
		return;
	x->nquestions++;
	q->approval = approval;
	title_clean(title, q->title, sizeof(q->title));
	f = open_memstream(&line, &size);
	if (!f)
		return;
	question_line(f, q->approval, q->title);
	fclose(f);
	task_tell(x->t, line, size, true);
	free(line);
}

static void question_take(struct turn *x, const struct json *data)
{
	uint64_t id;

	if (json_get_u64(data, "approval", &id))
		question_add(x, id, member_text(json_get(data, "tool_call", JSON_OBJECT), "title"));
}

/* Those of an earlier turn, which this one waits for. */
static void questions_list(struct turn *x)
{
	struct buf path = { 0 };
	struct json_doc d = { 0 };
	const struct json *list;
	struct err unused;
	uint64_t id;

	buf_add_text(&path, "/v1/approvals");
	query_add(&path, "cell", x->session.cell);
	if (vivd_ask("GET", (char *)path.p, NULL, &d, &unused) == 0) {
		list = json_get(d.root, "approvals", JSON_LIST);
		for (const struct json *q = list ? list->first : NULL; q; q = q->next)
			if (!strcmp(member_text(q, "session"), x->session.id) &&
			    json_get_u64(q, "id", &id))
				question_add(x, id, member_text(q, "title"));
		json_free(&d);
	}
	buf_free(&path);
}

static void question_drop(struct turn *x, const struct json *data)
{
	uint64_t id;

	if (!json_get_u64(data, "approval", &id))
		return;
	for (unsigned i = 0; i < x->nquestions; i++)
		if (x->questions[i].approval == id) {
			x->questions[i] = x->questions[--x->nquestions];
			return;
		}
}

/* ---- events ---- */

/* Of a turn that was before it in the queue. */
static void begin_anew(struct turn *x)
{
	bounded_fini(&x->text);
	bounded_init(&x->text, x->max);
	x->ncalls = 0;
	x->error[0] = '\0';
	x->new_message = false;
}

static void message_take(struct turn *x, const struct json *update)
{
	struct buf b = { 0 };

	if (x->new_message) {
		bounded_fini(&x->text);
		bounded_init(&x->text, x->max);
		x->new_message = false;
	}
	block_text(&b, json_get(update, "content", JSON_OBJECT));
	if (b.len)
		bounded_add(&x->text, (char *)b.p, b.len);
	buf_free(&b);
}

static void update_take(struct turn *x, const struct event *ev)
{
	if (!strcmp(ev->kind, "agent_message_chunk"))
		message_take(x, ev->update);
	else if (!strcmp(ev->kind, "tool_call"))
		call_take(x, ev->update, true);
	else if (!strcmp(ev->kind, "tool_call_update"))
		call_take(x, ev->update, false);
}

static void turn_take(struct turn *x, const struct json *data)
{
	const char *reason = member_text(data, "stop_reason");
	uint64_t prompt = 0;

	if (!json_get_u64(data, "prompt", &prompt) || prompt != x->prompt) {
		begin_anew(x);
		return;
	}
	text_clean(*reason ? reason : "unknown", strlen(*reason ? reason : "unknown"),
		   x->stop_reason, sizeof(x->stop_reason));
}

static void error_take(struct turn *x, const struct json *data)
{
	static const char *const members[] = { "message", "cause", "remedy" };
	struct buf b = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(members); i++)
		if (*member_text(data, members[i])) {
			buf_add_text(&b, b.len ? ": " : "");
			buf_add_text(&b, member_text(data, members[i]));
		}
	if (b.len)
		text_clean((char *)b.p, b.len, x->error, sizeof(x->error));
	buf_free(&b);
}

static void event_take(struct turn *x, const struct event *ev)
{
	const char *text;

	if (event_is(ev, "update")) {
		update_take(x, ev);
	} else if (event_is(ev, "permission")) {
		question_take(x, ev->data);
	} else if (event_is(ev, "answered")) {
		question_drop(x, ev->data);
	} else if (event_is(ev, "turn")) {
		turn_take(x, ev->data);
	} else if (event_is(ev, "error")) {
		error_take(x, ev->data);
	} else if (event_is(ev, "state")) {
		text = member_text(ev->data, "state");
		if (!x->timed_out)
			x->give_up = !strcmp(text, "failed") || !strcmp(text, "closed")
					     ? clock_mono() + END_WAIT
					     : 0;
	}
}

static void line_take(struct turn *x, const char *line, size_t size)
{
	struct event ev;
	struct err unused;

	if (event_read(&ev, line, size, &unused) < 0)
		return;
	/* Told twice, after vivd was restarted. */
	if (!ev.seq || ev.seq > x->last) {
		x->last = MAX(x->last, ev.seq);
		event_take(x, &ev);
	}
	event_free(&ev);
}

/* ---- the loop ---- */

static void turn_cancel(struct turn *x)
{
	struct err unused;

	(void)!vivd_ask("POST", session_path(&x->session, "/cancel").str, NULL, NULL, &unused);
}

void turn_cancel_check(struct turn *x)
{
	if (!(x->flags & TASK_CANCELLED))
		return;
	if (x->prompt)
		turn_cancel(x);
	_exit(0);
}

/* What there is of the stream, which is closed when it broke. */
static void stream_read(struct turn *x, struct viv_client **c)
{
	struct viv_error error;
	const char *line;
	size_t size;
	int64_t until = x->timed_out ? x->give_up : x->deadline;
	int r = 1;

	/* An agent may write faster than this reads. */
	while (r > 0 && !x->stop_reason[0] && !(x->flags & TASK_CANCELLED) &&
	       clock_mono() < until) {
		r = viv_follow_line(*c, &line, &size, &error);
		if (r > 0)
			line_take(x, line, size);
	}
	if (r < 0) {
		viv_close(*c);
		*c = NULL;
	}
}

static int stream_open(struct turn *x, struct viv_client **c, int64_t *lost, struct err *e)
{
	int64_t now = clock_mono();
	char tail[64];
	int r;

	snprintf(tail, sizeof(tail), "/events?follow=true&since=%llu", (unsigned long long)x->last);
	r = vivd_follow(c, session_path(&x->session, tail).str, e);
	if (r > 0) {
		*lost = 0;
		return 0;
	}
	if (!*lost)
		*lost = now;
	if (r < 0 || now - *lost > LOST_AFTER)
		return -1;
	usleep(RETRY_US);
	return 0;
}

/* Is there nothing more to wait for? */
static bool is_over(struct turn *x)
{
	int64_t now = clock_mono();

	if (x->stop_reason[0] || (x->give_up && now > x->give_up))
		return true;
	if (x->timed_out || now < x->deadline)
		return false;
	x->timed_out = true;
	if (x->nquestions)
		return true;
	turn_cancel(x);
	x->give_up = clock_mono() + CANCEL_WAIT;
	return false;
}

int turn_follow(struct turn *x, struct err *e)
{
	struct viv_client *c = NULL;
	int64_t lost = 0;
	int r = 0;

	bounded_init(&x->text, x->max);
	if (!strcmp(x->session.state, "waiting"))
		questions_list(x);
	turn_cancel_check(x);
	while (!r && !is_over(x)) {
		if (c) {
			struct pollfd p = { .fd = viv_follow_fd(c), .events = POLLIN };

			poll(&p, 1, WAKE_MS);
			stream_read(x, &c);
		} else {
			r = stream_open(x, &c, &lost, e);
			if (c)
				stream_read(x, &c);
		}
		turn_cancel_check(x);
	}
	if (c)
		viv_close(c);
	return r;
}
