/* See health.h. One check at a time for each cell; the next is waited for from the end of the one
 * before, so a slow cell is not asked more and more. A check is attached: it goes when vivd does,
 * and the keeper's own time-out ends one that does not. */
#include "daemon/cells/health.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/life.h"
#include "daemon/state/fields.h"

#define OUTPUT_MAX 1024 /* the end of it is kept */
#define STARTING_MS 1000 /* between checks in the start period, at most */
#define READ_ROUNDS 16

enum health_state { HEALTH_STARTING, HEALTH_HEALTHY, HEALTH_UNHEALTHY };
static const char *const names[] = { "starting", "healthy", "unhealthy" };

struct check {
	struct health *h; /* NULL: nobody wants its result */
	struct keeper_link *link;
	uint32_t proc; /* 0: not started yet */
	int out;
	uv_poll_t poll;
	uv_timer_t timer;
	unsigned nhandles;
	bool timed_out;
	bool spoiled; /* the cell was paused meanwhile: what it says is not the cell's fault */
	char output[OUTPUT_MAX + 1];
	size_t len;
	bool cut; /* the beginning is missing */
};

struct health {
	struct cell *c;
	uv_timer_t *timer; /* NULL: no check is waited for */
	struct check *check; /* the one that runs */
	enum health_state state;
	bool good; /* it passed a check in this run */
	uint32_t failures; /* in a row */
	bool checked; /* what follows is of the last one */
	int exit_code;
	bool timed_out;
	int64_t time;
	char output[OUTPUT_MAX + 1];
};

static const json_t *spec_of(const struct cell *c)
{
	return json_object_get(c->spec, "health");
}

static int64_t spec_ms(const struct cell *c, const char *name, int64_t otherwise)
{
	const json_t *v = json_object_get(spec_of(c), name);

	return v ? (int64_t)(json_number_value(v) * 1000) : otherwise;
}

static bool in_start_period(const struct cell *c)
{
	return (int64_t)(uv_hrtime() - c->began) / 1000000 < spec_ms(c, "start_period", 0);
}

static int64_t wait_ms(const struct health *h)
{
	int64_t interval = spec_ms(h->c, "interval", 30000);

	return in_start_period(h->c) && !h->good ? MIN(interval, (int64_t)STARTING_MS) : interval;
}

/* ---- results ---- */

static void on_due(uv_timer_t *t);

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

/* ms < 0: off. */
static void due_set(struct health *h, int64_t ms)
{
	if (h->timer)
		uv_close((uv_handle_t *)h->timer, timer_closed);
	h->timer = NULL;
	if (ms < 0)
		return;
	h->timer = xalloc(sizeof(*h->timer));
	uv_timer_init(&h->c->d->loop, h->timer);
	h->timer->data = h;
	uv_timer_start(h->timer, on_due, (uint64_t)ms, 0);
}

static void state_set(struct health *h, enum health_state state)
{
	struct cell *c = h->c;
	enum health_state from = h->state;
	json_t *data;

	h->state = state;
	db_begin(&c->d->db);
	cell_save(c);
	if (from != state) {
		data = health_json(c);
		json_object_set_new(data, "name", json_string(c->name));
		json_object_set_new(data, "from", json_string(names[from]));
		event_add(c->d, "cell.health", c->id, data);
	}
	db_end(&c->d->db, NULL);
	if (from != state)
		cell_changed_soon(c);
	if (from != state && state == HEALTH_UNHEALTHY)
		cell_stop_sick(c);
}

static void result_take(struct health *h, int exit_code, bool timed_out, const char *output)
{
	int64_t retries = json_integer_value(json_object_get(spec_of(h->c), "retries"));
	bool counts = exit_code && !(in_start_period(h->c) && !h->good);
	uint32_t before = h->failures;

	h->checked = true;
	h->exit_code = exit_code;
	h->timed_out = timed_out;
	h->time = time_now();
	snprintf(h->output, sizeof(h->output), "%s", output);
	h->good |= !exit_code;
	h->failures = !exit_code ? 0 : h->failures + counts;
	if (!exit_code)
		state_set(h, HEALTH_HEALTHY);
	else if (counts && h->failures >= (retries ? retries : 3))
		state_set(h, HEALTH_UNHEALTHY);
	else if (h->failures != before)
		state_set(h, h->state);
}

/* ---- a check ---- */

static void check_closed(uv_handle_t *handle)
{
	struct check *k = handle->data;

	if (--k->nhandles)
		return;
	close(k->out);
	free(k);
}

static void check_close(struct check *k)
{
	k->h = NULL;
	uv_close((uv_handle_t *)&k->poll, check_closed);
	uv_close((uv_handle_t *)&k->timer, check_closed);
}

/* False: there is nothing more now. */
static bool output_read(struct check *k)
{
	char data[16384];
	ssize_t n = read(k->out, data, sizeof(data));
	size_t keep, old;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			uv_poll_stop(&k->poll);
		return false;
	}
	keep = MIN((size_t)n, (size_t)OUTPUT_MAX);
	old = MIN(k->len, OUTPUT_MAX - keep);
	k->cut |= k->len + (size_t)n > OUTPUT_MAX;
	memmove(k->output, k->output + k->len - old, old);
	memcpy(k->output + old, data + (size_t)n - keep, keep);
	k->len = old + keep;
	return true;
}

static void on_output(uv_poll_t *p, int status, int events)
{
	(void)status;
	(void)events;
	output_read(p->data);
}

static void check_kill(struct check *k)
{
	struct keep_msg m = {
		.type = KEEP_SIGNAL, .proc = k->proc, .a = SIGKILL, .flags = KEEP_TO_GROUP
	};

	if (k->proc && link_ask(k->link, &m, NULL, 0, link_ignore, NULL) < 0)
		log_warn("a health check does not end");
}

static void on_timeout(uv_timer_t *t)
{
	struct check *k = t->data;

	/* Paused, it can neither end nor be ended. */
	if (k->h && k->h->c->state == CELL_PAUSED)
		return;
	k->timed_out = true;
	check_kill(k);
}

static void check_end(struct check *k, int exit_code, const char *text)
{
	struct health *h = k->h;
	const char *output;
	char said[OUTPUT_MAX + 1];

	for (int i = 0; i < READ_ROUNDS && output_read(k); i++)
		;
	k->output[k->len] = '\0';
	output = k->output;
	/* Not in the middle of a character. */
	while (k->cut && ((unsigned char)*output & 0xc0) == 0x80)
		output++;
	snprintf(said, sizeof(said), "%s", text ? text : output);
	if (h)
		h->check = NULL;
	if (h && h->c->state == CELL_RUNNING) {
		due_set(h, wait_ms(h));
		if (!k->spoiled)
			result_take(h, k->timed_out ? 124 : exit_code, k->timed_out, said);
	}
	check_close(k);
}

static void check_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct check *k = arg;

	link_ignore(NULL, m, fds, nfds);
	if (m && m->type == KEEP_STARTED) {
		k->proc = m->proc;
		if (k->timed_out)
			check_kill(k);
	} else if (m && m->type == KEEP_EXITED) {
		check_end(k, WIFSIGNALED(m->a) ? 128 + WTERMSIG(m->a) : WEXITSTATUS(m->a), NULL);
	} else {
		/* It cannot be started; or the cell is gone, or stopping, and then nobody asks. */
		check_end(k, m && m->a ? m->a : 125, m ? m->text : "");
	}
}

/* False: not now. */
static bool check_begin(struct health *h)
{
	struct cell *c = h->c;
	int64_t timeout = spec_ms(c, "timeout", 30000);
	char **argv = json_words(json_object_get(spec_of(c), "command"));
	/* The time-out is for when we are gone by then. */
	struct keep_start s = { .spec = { .flags = EXECSPEC_CELL_ENV, .argv = argv },
				.exec = { .flags = KEEP_X_QUIET,
					  .timeout_ns = (timeout + 1000) * 1000000 },
				.fds = { -1, -1, -1 } };
	int out[2] = { -1, -1 };
	struct check *k = NULL;
	bool ok = false;

	s.fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (s.fds[0] >= 0 && pipe2(out, O_CLOEXEC) == 0) {
		s.fds[1] = s.fds[2] = out[1];
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		k = xalloc(sizeof(*k));
		k->h = h;
		k->link = c->keeper;
		k->out = out[0];
		ok = link_exec(c->keeper, &s, check_answer, k) == 0;
	}
	free(argv);
	if (s.fds[0] >= 0)
		close(s.fds[0]);
	if (out[1] >= 0)
		close(out[1]);
	if (!ok) {
		free(k);
		if (out[0] >= 0)
			close(out[0]);
		return false;
	}
	h->check = k;
	uv_poll_init(&c->d->loop, &k->poll, k->out);
	uv_timer_init(&c->d->loop, &k->timer);
	k->nhandles = 2;
	k->poll.data = k->timer.data = k;
	uv_poll_start(&k->poll, UV_READABLE, on_output);
	uv_timer_start(&k->timer, on_timeout, (uint64_t)timeout, 1000);
	return true;
}

static void on_due(uv_timer_t *t)
{
	struct health *h = t->data;

	due_set(h, -1);
	if (h->c->state != CELL_RUNNING || !h->c->keeper || h->check)
		return;
	if (!check_begin(h))
		due_set(h, wait_ms(h));
}

/* ---- the cell ---- */

static struct health *health_of(struct cell *c)
{
	if (!c->health && spec_of(c)) {
		c->health = xalloc(sizeof(*c->health));
		c->health->c = c;
	}
	return c->health;
}

void health_follow(struct cell *c)
{
	struct health *h = health_of(c);

	if (!h)
		return;
	if (!spec_of(c)) {
		health_free(c);
		return;
	}
	if (h->check && c->state == CELL_PAUSED)
		h->check->spoiled = true;
	if (c->state != CELL_RUNNING || !c->keeper)
		due_set(h, -1);
	else if (!h->check && !h->timer)
		due_set(h, in_start_period(c) && !h->good ? 0 : wait_ms(h));
}

void health_reset(struct cell *c)
{
	struct health *h = health_of(c);

	if (!h)
		return;
	due_set(h, -1);
	h->state = HEALTH_STARTING;
	h->good = h->checked = false;
	h->failures = 0;
}

void health_free(struct cell *c)
{
	if (!c->health)
		return;
	due_set(c->health, -1);
	if (c->health->check)
		c->health->check->h = NULL;
	free(c->health);
	c->health = NULL;
}

bool health_is_bad(const struct cell *c)
{
	return c->health && c->health->state == HEALTH_UNHEALTHY;
}

bool health_is_good(const struct cell *c)
{
	return c->health && c->health->state == HEALTH_HEALTHY && c->state == CELL_RUNNING;
}

bool health_was_good(const struct cell *c)
{
	return !c->health || c->health->good;
}

/* ---- telling ---- */

json_t *health_json(const struct cell *c)
{
	const struct health *h = c->health;
	json_t *o;

	if (!h)
		return NULL;
	o = json_pack("{s:s,s:I}", "status", names[h->state], "failures", (json_int_t)h->failures);
	if (h->checked) {
		json_object_set_new(o, "checked", json_string(time_text(h->time).str));
		json_object_set_new(o, "exit_code", json_integer(h->exit_code));
		json_object_set_new(o, "timed_out", json_boolean(h->timed_out));
		json_object_set_new(o, "output", json_clean(h->output));
	}
	return o;
}

char *health_text(const struct cell *c)
{
	json_t *o = health_json(c);
	char *text;

	if (!o)
		return NULL;
	if (c->health->checked)
		json_object_set_new(o, "time", json_integer(c->health->time));
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

void health_read(struct cell *c, const char *text)
{
	struct health *h = health_of(c);
	json_t *o = h && *text ? json_loads(text, 0, NULL) : NULL;
	const char *status = json_text(o, "status"), *output = json_text(o, "output");

	if (!h || !status)
		return;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(status, names[i]))
			h->state = (enum health_state)i;
	h->failures = (uint32_t)json_integer_value(json_object_get(o, "failures"));
	h->time = json_integer_value(json_object_get(o, "time"));
	h->checked = h->time != 0;
	h->good = h->state == HEALTH_HEALTHY;
	h->exit_code = (int)json_integer_value(json_object_get(o, "exit_code"));
	h->timed_out = json_is_true(json_object_get(o, "timed_out"));
	snprintf(h->output, sizeof(h->output), "%s", output ? output : "");
	json_decref(o);
}
