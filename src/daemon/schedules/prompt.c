/* A prompt in a session. The prompt and the run's new state are one transaction of the session, so
 * it is sent once. Its turn ends when the session says so (an event "turn" with its number), which
 * is also found by a vivd that comes later. What the agent says meanwhile is the run's output.
 *
 * live: prompt, its number; seq, the event that it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedules/private.h"

static int prompt_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	const char *id = json_text(spec, "session");
	struct session *found;

	if (json_object_get(spec, "cell") || json_object_get(spec, "env") ||
	    json_object_get(spec, "workdir") || json_object_get(spec, "user"))
		return err_set(e, ERR_INVALID,
			       "'cell', 'env', 'workdir' and 'user' are for 'command'");
	if (!id)
		return err_set(e, ERR_MISSING_FIELD, "'session' is missing: who gets the prompt");
	if (!*json_text(spec, "prompt"))
		return err_set(e, ERR_INVALID, "'prompt' is empty");
	found = session_find(d, NULL, id, e);
	if (!found)
		return -1;
	strcpy(s->cell, session_cell(found));
	return 0;
}

static struct session *session_of(struct cron_run *r)
{
	struct err e = { 0 };

	return session_find(r->d, NULL, json_text(r->spec, "session"), &e);
}

static int64_t prompt_of(const struct cron_run *r)
{
	return json_integer_value(json_object_get(r->live, "prompt"));
}

/* One event of the session. True: it is the end of our turn, and r is gone. */
static bool event_take(struct cron_run *r, const json_t *event)
{
	const char *type = json_text(event, "type"), *reason, *text;
	const json_t *data = json_object_get(event, "data"), *update;
	struct err e = { 0 };

	if (!type)
		return false;
	if (!strcmp(type, "update")) {
		update = json_object_get(data, "update");
		reason = json_text(update, "sessionUpdate");
		text = json_text(json_object_get(update, "content"), "text");
		if (reason && text && !strcmp(reason, "agent_message_chunk"))
			run_output(r, text, strlen(text));
		return false;
	}
	if (strcmp(type, "turn") != 0)
		return false;
	if (json_integer_value(json_object_get(data, "prompt")) != prompt_of(r)) {
		r->output.len = 0; /* what was said was for another */
		return false;
	}
	reason = json_text(data, "stop_reason");
	if (!reason || strcmp(reason, "end_turn") != 0)
		err_note(&e, ERR_FAILED, "the agent's turn ended: %.40s", reason ? reason : "?");
	run_end(r, -1, &e);
	return true;
}

static void events_read(struct cron_run *r, struct session *s)
{
	char *line;

	while ((line = session_event_next(s, &r->seq))) {
		json_t *event = json_loads(line, JSON_ALLOW_NUL, NULL);
		bool over = event_take(r, event);

		json_decref(event);
		free(line);
		if (over)
			return;
	}
}

static void on_news(struct session_watch *w, bool gone)
{
	struct cron_run *r = container_of(w, struct cron_run, watch);
	struct session *s = gone ? NULL : session_of(r);
	struct err e = { 0 };

	if (s) {
		events_read(r, s);
		return;
	}
	r->watches = false;
	err_note(&e, ERR_NOT_FOUND, "the session was removed");
	run_end(r, -1, &e);
}

static void sent(void *arg, int64_t prompt, int64_t seq)
{
	struct cron_run *r = arg;

	json_object_set_new(r->live, "prompt", json_integer(prompt));
	json_object_set_new(r->live, "seq", json_integer(seq));
	(void)!run_save(r, RUN_RUNNING); /* else the transaction fails */
}

static void prompt_step(struct cron_run *r)
{
	struct session *s = session_of(r);
	struct err e = { 0 };
	char by[SCHEDULE_NAME_MAX + 16];

	if (r->watches)
		return;
	if (!s) {
		err_note(&e, ERR_NOT_FOUND, "the session is gone");
		run_end(r, -1, &e);
		return;
	}
	if (!prompt_of(r)) {
		snprintf(by, sizeof(by), "schedule %s", r->name);
		if (session_prompt_with(s,
					json_pack("[{s:s,s:s}]", "type", "text", "text",
						  json_text(r->spec, "prompt")),
					by, sent, r, &e) < 0) {
			json_object_clear(r->live);
			if (e.kind == ERR_STORAGE)
				run_later(r);
			else
				run_end(r, -1, &e);
			return;
		}
	}
	r->seq = json_integer_value(json_object_get(r->live, "seq"));
	session_watch_add(s, &r->watch, on_news);
	r->watches = true;
	events_read(r, s);
}

static void prompt_stop(struct cron_run *r)
{
	struct session *s = session_of(r);
	struct err e = { 0 };

	/* An agent that does not end its turn when it is asked to is ended. */
	if (s && prompt_of(r) && session_prompt_end(s, prompt_of(r), r->stops++ > 0, &e) == 0)
		return; /* its turn's end follows */
	if (!prompt_of(r))
		run_end(r, -1, &e);
}

static void prompt_forget(struct cron_run *r)
{
	if (r->watches)
		session_watch_remove(&r->watch);
	r->watches = false;
}

const struct action action_prompt = { .field = "prompt",
				      .check = prompt_check,
				      .step = prompt_step,
				      .stop = prompt_stop,
				      .forget = prompt_forget };
