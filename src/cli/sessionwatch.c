/* session_watch: the events of a session on a terminal, until a turn ends; see sessionview.h.
 *
 * Two streams are read: the session's events, and vivd's own, which say when a call of the cell
 * waits for an answer. While a question is on the screen nothing else is printed: what comes is
 * held and shown behind the answer, so that no text of the agent can stand between the question and
 * the person's answer to it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "cli/approvals.h"
#include "cli/question.h"
#include "base/safetext.h"
#include "cli/sessionview.h"
#include "cli/vivd.h"
#include "keeper/channel.h"

#define HELD_MAX (16u << 20) /* then the stream waits */
#define LOST_AFTER (20 * NSEC_PER_SEC) /* without vivd */
#define RETRY_US 100000

struct watch {
	const struct session_watch *w;
	struct viv_client *events, *news;
	struct session_view *view;
	struct questions questions;
	uint64_t last; /* event that was shown or held */
	struct buf held; /* lines, each with its NUL */
	int interrupts; /* that were acted upon */
	int status; /* -1: it goes on */
	int64_t lost; /* since when vivd is not there; 0: it is */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted++;
}

/* ---- questions ---- */

static void question_hint(struct watch *x, const struct question *q)
{
	view_break(x->view);
	if (!q->agent) {
		printf("the cell asks to ");
		approval_what_print(q->data);
		printf("\n");
	}
	printf("'viv approvals allow %lld' or 'viv approvals deny %lld' answers\n",
	       (long long)q->id, (long long)q->id);
}

static void question_take(struct watch *x, const char *key, struct json_doc *doc,
			  const struct json *data)
{
	uint64_t id = 0;

	if (!json_get_u64(data, key, &id)) {
		json_free(doc);
		return;
	}
	if (questions_add(&x->questions, (int64_t)id, doc, data) &&
	    (!x->w->keys || x->questions.left)) {
		size_t n = BUF_COUNT(&x->questions.open, struct question);

		question_hint(x, BUF_ITEM(&x->questions.open, struct question, n - 1));
	}
}

static void question_gone(struct watch *x, const struct json *data, const char *key)
{
	uint64_t id;

	if (json_get_u64(data, key, &id) && questions_drop(&x->questions, (int64_t)id))
		printf("\n(it was answered elsewhere, or is not asked any more)\n");
}

/* Whether this approval is for the person at this terminal: of the cell, and not of another
 * session. */
static bool is_ours(const struct watch *x, const struct json *a, const char *cell)
{
	return !strcmp(cell, x->w->cell) && (strcmp(member_text(a, "scope"), "agent") ||
					     !strcmp(member_text(a, "session"), x->w->session));
}

/* A line of vivd's own events. */
static void news_line(struct watch *x, const char *line, size_t size)
{
	struct json_doc d;
	struct err e;
	const struct json *data;
	const char *type;

	if (!strstr(line, "\"approval.") || json_parse_any(&d, line, size, EVENT_MAX, &e) < 0)
		return;
	type = member_text(d.root, "type");
	data = json_get(d.root, "data", JSON_OBJECT);
	if (strncmp(type, "approval.", 9) || !is_ours(x, data, member_text(d.root, "cell"))) {
		json_free(&d);
	} else if (!strcmp(type, "approval.asked") && strcmp(member_text(data, "scope"), "agent")) {
		question_take(x, "id", &d, data);
	} else {
		if (strcmp(type, "approval.asked"))
			question_gone(x, data, "id");
		json_free(&d);
	}
}

/* Those that were open before the stream began. */
static void questions_list(struct watch *x)
{
	struct buf path = { 0 };
	struct json_doc d = { 0 };
	const struct json *list;
	struct err e;

	buf_add_text(&path, "/v1/approvals");
	query_add(&path, "cell", x->w->cell);
	if (vivd_ask("GET", (char *)path.p, NULL, &d, &e) == 0) {
		list = json_get(d.root, "approvals", JSON_LIST);
		for (const struct json *a = list ? list->first : NULL; a; a = a->next) {
			struct json_doc one = { 0 };
			char *text = NULL;
			size_t n = 0;
			FILE *mem;

			if (!is_ours(x, a, member_text(a, "cell")) ||
			    !(mem = open_memstream(&text, &n)))
				continue;
			json_value_print(mem, a, false);
			fclose(mem);
			if (json_parse_any(&one, text, n, EVENT_MAX, &e) == 0)
				question_take(x, "id", &one, one.root);
			free(text);
		}
		json_free(&d);
	}
	buf_free(&path);
}

/* ---- events ---- */

static void ends_note(struct watch *x, const struct event *ev)
{
	const char *state = event_is(ev, "state") ? member_text(ev->data, "state") : "";
	uint64_t prompt = 0;

	if (event_is(ev, "turn") && json_get_u64(ev->data, "prompt", &prompt) && x->w->prompt &&
	    prompt == x->w->prompt)
		x->status = strcmp(member_text(ev->data, "stop_reason"), "end_turn") != 0;
	else if (!strcmp(state, "closed"))
		x->status = x->w->prompt != 0;
	else if (!strcmp(state, "failed") && x->w->prompt)
		x->status = 1;
}

static void event_show(struct watch *x, const char *line, size_t size)
{
	struct event ev;
	struct err e;

	if (event_read(&ev, line, size, &e) < 0) {
		warn("an event of the session cannot be read: %s", e.message);
		return;
	}
	if (x->w->json) {
		if (isatty(STDOUT_FILENO))
			safe_json(stdout, line, size);
		else
			fwrite(line, 1, size, stdout);
		putchar('\n');
	} else {
		view_event(x->view, &ev);
	}
	ends_note(x, &ev);
	if (event_is(&ev, "answered"))
		question_gone(x, ev.data, "approval");
	if (event_is(&ev, "permission") && !x->w->json) {
		question_take(x, "approval", &ev.doc, ev.data);
		return;
	}
	event_free(&ev);
}

static void event_line(struct watch *x, const char *line, size_t size)
{
	struct event ev;
	struct err e;

	if (event_read(&ev, line, size, &e) == 0) {
		/* Told twice, after vivd was restarted. */
		if (ev.seq && ev.seq <= x->last) {
			event_free(&ev);
			return;
		}
		x->last = MAX(x->last, ev.seq);
		if (x->questions.shown && event_is(&ev, "answered"))
			question_gone(x, ev.data, "approval");
		event_free(&ev);
	}
	if (x->questions.shown)
		buf_add(&x->held, line, size + 1);
	else
		event_show(x, line, size);
}

static void held_show(struct watch *x)
{
	struct buf held = x->held;

	x->held = (struct buf){ 0 };
	for (size_t at = 0; at < held.len;) {
		const char *line = (char *)held.p + at;
		size_t n = strlen(line);

		event_show(x, line, n);
		at += n + 1;
	}
	buf_free(&held);
}

/* ---- streams ---- */

static int streams_open(struct watch *x, struct err *e)
{
	char tail[160];
	int r;

	if (!x->events) {
		snprintf(tail, sizeof(tail), "/sessions/%.64s/events?follow=true&since=%llu",
			 x->w->session, (unsigned long long)x->last);
		r = vivd_follow(&x->events, cell_path(x->w->cell, tail).str, e);
		if (r <= 0)
			return r;
	}
	if (!x->news && !x->w->json) {
		r = vivd_follow(&x->news, "/v1/events?follow=1", e);
		if (r <= 0)
			return r;
		questions_list(x);
	}
	x->lost = 0;
	return 1;
}

/* Some lines of one of them; it is closed when it broke. */
static void stream_read(struct watch *x, struct viv_client **c,
			void (*fn)(struct watch *x, const char *line, size_t size))
{
	struct viv_error error;
	const char *line;
	size_t size;
	int r = 1;

	for (unsigned i = 0; i < 256 && x->status < 0 && r > 0; i++) {
		r = viv_follow_line(*c, &line, &size, &error);
		if (r > 0)
			fn(x, line, size);
	}
	if (r < 0) {
		viv_close(*c);
		*c = NULL;
	}
}

/* vivd is gone: it may come back. */
static int streams_again(struct watch *x, struct err *e)
{
	int64_t now = clock_mono();
	int r;

	if (!x->lost)
		x->lost = now;
	r = streams_open(x, e);
	if (r < 0 || (!r && now - x->lost > LOST_AFTER))
		return -1;
	if (!r)
		usleep(RETRY_US);
	return 0;
}

/* ---- Ctrl-C ---- */

static void interrupt_act(struct watch *x)
{
	char tail[96];
	struct err e;

	snprintf(tail, sizeof(tail), "/sessions/%.64s/cancel", x->w->session);
	view_break(x->view);
	if (x->interrupts++) {
		printf("detached; 'viv session events %s --follow' shows how it goes on\n",
		       x->w->session);
		x->status = 130;
		return;
	}
	printf("cancelling the turn; Ctrl-C again to detach\n");
	fflush(stdout);
	if (vivd_ask("POST", cell_path(x->w->cell, tail).str, NULL, NULL, &e) < 0)
		report(&e);
}

/* ---- the loop ---- */

static void input_read(struct watch *x)
{
	if (question_answer(&x->questions))
		held_show(x);
	else if (x->questions.left)
		held_show(x);
}

static void questions_step(struct watch *x)
{
	/* The one that was shown is gone: what came meanwhile is first. */
	if (!x->questions.shown && x->held.len)
		held_show(x);
	if (x->w->keys && !x->questions.left && !x->questions.shown && x->status < 0 &&
	    questions_first(&x->questions)) {
		view_break(x->view);
		question_ask(&x->questions);
	}
}

static int round_wait(struct watch *x, const sigset_t *open, struct err *e)
{
	struct pollfd p[3] = { { .fd = -1, .events = POLLIN },
			       { .fd = -1, .events = POLLIN },
			       { .fd = -1, .events = POLLIN } };

	if (!x->events || (!x->news && !x->w->json))
		return streams_again(x, e);
	if (x->held.len < HELD_MAX)
		p[0].fd = viv_follow_fd(x->events);
	if (x->news)
		p[1].fd = viv_follow_fd(x->news);
	if (x->questions.shown)
		p[2].fd = STDIN_FILENO;
	fflush(stdout);
	if (ferror(stdout))
		return err_set(e, ERR_FAILED, "cannot write to standard output");
	if (ppoll(p, 3, NULL, open) < 0 && errno != EINTR)
		return err_set(e, ERR_FAILED, "cannot wait: %s", strerror(errno));
	/* Answers first: what was asked is what was shown. */
	if (p[2].revents)
		input_read(x);
	if (p[1].revents)
		stream_read(x, &x->news, news_line);
	if (p[0].revents)
		stream_read(x, &x->events, event_line);
	return 0;
}

/* What came with the head of the answer is there without another byte to wait for. */
static void streams_first(struct watch *x)
{
	if (x->events)
		stream_read(x, &x->events, event_line);
	if (x->news)
		stream_read(x, &x->news, news_line);
}

static int watch_run(struct watch *x, const sigset_t *open, struct err *e)
{
	int r = streams_open(x, e);

	if (r <= 0)
		return -1;
	do {
		streams_first(x);
		questions_step(x);
		if (interrupted > x->interrupts)
			interrupt_act(x);
		if (x->status < 0 && round_wait(x, open, e) < 0)
			return -1;
	} while (x->status < 0);
	return x->status;
}

int session_watch(const struct session_watch *w, struct err *e)
{
	struct watch x = { .w = w, .last = w->since, .status = -1 };
	struct sigaction act = { .sa_handler = on_interrupt }, old;
	sigset_t block, open;
	int r;

	interrupted = 0;
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &open);
	if (w->keys) {
		sigaction(SIGINT, &act, &old);
		sigdelset(&open, SIGINT);
	}
	x.view = view_new(stdout, w->view);
	r = watch_run(&x, &open, e);
	view_break(x.view);
	fflush(stdout);
	if (w->keys)
		sigaction(SIGINT, &old, NULL);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	view_free(x.view);
	questions_free(&x.questions);
	buf_free(&x.held);
	viv_close(x.events);
	viv_close(x.news);
	return r;
}
