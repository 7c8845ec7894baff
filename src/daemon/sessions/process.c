/* The agent's process: started in the cell by its keeper, met again by a vivd that comes later, and
 * what follows from its end.
 *
 * An agent that ends while it is needed is started again, with growing delays, if it can load its
 * session; otherwise the session has failed, and says why. One whose cell ended waits for the next
 * prompt, which starts both. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/cells/sleep.h"
#include "daemon/journal/note.h"
#include "daemon/sessions/private.h"

#define RESTARTS_MAX 5 /* in a row */
#define RESTART_MS 500
#define TERM_MS 2000 /* after its input was closed */
#define KILL_MS 3000 /* after that */

struct keeper_link *session_keeper(const struct session *s)
{
	const struct cell *c = cell_by_id(s->d, s->cell);

	return c ? c->keeper : NULL;
}

struct keeper_link *process_keeper(const struct session *s)
{
	struct keeper_link *l = session_keeper(s);

	return s->keeper ? s->keeper : l == s->ended_by ? l : NULL;
}

static void fds_close(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

void session_fail(struct session *s, const struct err *e)
{
	json_t *error = json_err(e);

	s->phase = PHASE_NONE;
	s->starting = false;
	event_put(s, "error", json_incref(error), 0);
	if (s->running)
		turn_end(s, "error", NULL);
	turn_drop(s, "error");
	live_set(s, "error", error);
	state_set(s, SESSION_FAILED, e->message);
	session_timer(s, -1, NULL);
}

static void fail_now(struct session *s, const struct err *e)
{
	s->asked = false;
	/* It waits for no answer by which it would hear that the link is gone. */
	s->keeper = NULL;
	session_begin(s);
	session_fail(s, e);
	session_end(s, NULL);
}

/* ---- its end ---- */

static void signal_send(struct session *s, int sig)
{
	struct keep_msg m = {
		.type = KEEP_SIGNAL, .proc = s->proc, .a = sig, .flags = KEEP_TO_GROUP
	};

	/* When it cannot be told, its cell is about to end. */
	if (s->proc && s->keeper)
		(void)!link_ask(s->keeper, &m, NULL, 0, link_ignore, NULL);
}

void process_kill(struct session *s)
{
	signal_send(s, SIGKILL);
}

static void end_kill(struct session *s)
{
	signal_send(s, SIGKILL);
	session_timer(s, KILL_MS, end_kill);
}

static void end_term(struct session *s)
{
	signal_send(s, SIGTERM);
	signal_send(s, SIGCONT);
	session_timer(s, KILL_MS, end_kill);
}

/* Also by a vivd that comes later. */
static void end_begin(struct session *s)
{
	struct keep_msg m = { .type = KEEP_CLOSE_INPUT, .proc = s->proc };

	if (s->keeper)
		(void)!link_ask(s->keeper, &m, NULL, 0, link_ignore, NULL);
	session_timer(s, TERM_MS, end_term);
}

void process_end(struct session *s, enum session_state then)
{
	live_set(s, "ending", json_string(state_name(then)));
	s->phase = PHASE_ENDING;
	s->starting = false;
	outbox_clear(s);
	end_begin(s);
}

bool session_is_closing(const struct session *s)
{
	const char *then = json_string_value(live_get(s, "ending"));

	return then && !strcmp(then, state_name(SESSION_CLOSED));
}

/* What is over with the process. */
static void process_clear(struct session *s)
{
	struct keep_msg m = { .type = KEEP_TAKEN, .proc = s->proc, .n = KEEP_ALL };
	struct keeper_link *l = process_keeper(s);

	stream_close(s);
	if (l)
		(void)!link_tell(l, &m);
	if (s->keeper)
		link_forget(s->keeper, s);
	s->keeper = NULL;
	serve_drop(s);
	setters_drop(s);
	permission_drop(s, true);
	terminals_end(s);
	outbox_clear(s);
	live_set(s, "calls", NULL);
	s->run = 0;
	s->proc = 0;
	s->taken = s->err_at = s->skip = 0;
	s->attached = s->exited = s->asked = s->putting = false;
	session_timer(s, -1, NULL);
}

static bool cell_runs(const struct session *s)
{
	const struct cell *c = cell_by_id(s->d, s->cell);

	return c && c->state == CELL_RUNNING && c->keeper;
}

static void end_err(const struct session *s, struct err *e)
{
	if (s->cell_over || !cell_runs(s))
		err_note(e, ERR_ENDED, "the agent ended with its cell");
	else if (WIFSIGNALED(s->status))
		err_note(e, ERR_FAILED, "the agent was killed by signal %d", WTERMSIG(s->status));
	else
		err_note(e, ERR_FAILED, "the agent ended with status %d", WEXITSTATUS(s->status));
}

/* Its cell is not started only for it. */
static void wait_for_prompt(struct session *s)
{
	state_set(s, SESSION_IDLE, "the cell ended; a prompt starts it again");
	turn_next(s);
}

static void restart_now(struct session *s)
{
	if (s->state == SESSION_CLOSED)
		return;
	session_begin(s);
	if (cell_runs(s))
		session_start(s);
	else
		wait_for_prompt(s);
	session_end(s, NULL);
}

/* It is needed, and can go on where it was. */
static void restart(struct session *s)
{
	int64_t ms = RESTART_MS << s->restarts;

	s->restarts++;
	state_set(s, SESSION_STARTING, "the agent ended and is started again");
	session_timer(s, ms, restart_now);
}

static void ended_unexpectedly(struct session *s, enum phase was)
{
	bool loads = acp_can_load(s), ready = was == PHASE_READY;
	struct err e = { 0 };

	end_err(s, &e);
	if (ready ? loads : s->restarts && loads && s->restarts < RESTARTS_MAX) {
		if (s->running || !s->cell_over)
			event_error(s, &e);
		if (s->running)
			turn_end(s, "error", NULL);
		if (cell_runs(s))
			restart(s);
		else
			wait_for_prompt(s);
		return;
	}
	if (ready || s->restarts)
		err_remedy(&e,
			   loads ? "its messages on standard error may say why; a further "
				   "prompt starts it once more"
				 : "it cannot load a session, so what it knew is lost; a further "
				   "prompt starts it anew");
	else
		err_remedy(&e, "it never got ready; its messages on standard error may say why");
	session_fail(s, &e);
}

void process_ended(struct session *s)
{
	enum phase was = s->phase;
	bool failed = !session_is_closing(s);

	process_clear(s);
	s->phase = PHASE_NONE;
	live_set(s, "ending", NULL);
	if (was == PHASE_ENDING && failed) {
		/* The error was told when it was ended. Prompts may have come since. */
		state_set(s, SESSION_FAILED, NULL);
		turn_next(s);
	} else if (was == PHASE_ENDING) {
		state_set(s, SESSION_CLOSED, NULL);
	} else if (!session_is_acp(s)) {
		oneshot_ended(s);
	} else {
		ended_unexpectedly(s, was);
	}
	s->cell_over = false;
}

/* It is gone: what it wrote is still read. */
static void exit_note(struct session *s, bool over, int status)
{
	s->exited = true;
	s->cell_over = over;
	s->status = status;
	if (!s->follow)
		stream_open(s);
	if (s->follow) {
		/* An agent that is gone needs no answers. */
		s->replies = 0;
		serve_drop(s);
		stream_kick(s);
		if (over)
			while (s->follow && !s->stepping)
				stream_step(s);
		return;
	}
	session_begin(s);
	process_ended(s);
	session_end(s, NULL);
}

static void wait_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg;

	fds_close(fds, nfds);
	/* From now on it waits for no answer, by which it would hear that the link is gone. */
	s->ended_by = m ? s->keeper : NULL;
	if (m)
		link_forget(s->keeper, s);
	s->keeper = NULL;
	if (m && m->type == KEEP_EXITED)
		exit_note(s, false, m->a);
	else
		exit_note(s, !m, 0);
}

/* ---- meeting it ---- */

/* Its process is followed from now on. */
static bool process_follow(struct session *s)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = s->proc };

	s->asked = false;
	s->attached = true;
	if (link_ask(s->keeper, &m, NULL, 0, wait_answer, s) < 0) {
		s->keeper = NULL;
		exit_note(s, true, 0);
		return false;
	}
	stream_open(s);
	return true;
}

static void attach_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg;

	fds_close(fds, nfds);
	if (!m || m->type != KEEP_ATTACH) {
		s->keeper = NULL;
		exit_note(s, true, 0);
		return;
	}
	if (!process_follow(s))
		return;
	terminals_follow(s);
	acp_watch(s);
	if (s->phase == PHASE_ENDING)
		end_begin(s);
	session_follow(s);
}

static void meet_hello(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg;
	struct keep_msg attach = { .type = KEEP_ATTACH, .proc = s->proc };

	fds_close(fds, nfds);
	/* Another run of the cell: the process went with the one before. */
	if (!m || m->type != KEEP_HELLO || m->hello.started != s->run ||
	    link_ask(s->keeper, &attach, NULL, 0, attach_answer, s) < 0) {
		s->keeper = NULL;
		exit_note(s, true, 0);
	}
}

static void meet(struct session *s, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_HELLO };

	s->keeper = c->keeper;
	s->asked = link_ask(s->keeper, &m, NULL, 0, meet_hello, s) == 0;
	if (!s->asked)
		s->keeper = NULL;
}

/* ---- its start ---- */

/* A process that is being started. It may be there when its session is not any more. */
struct start {
	struct daemon *d;
	char session[SESSION_ID_LEN + 1], cell[CELL_ID_LEN + 1];
};

/* Nobody wants it. */
static void start_undo(const struct start *x, uint32_t proc)
{
	struct keep_msg kill = { .type = KEEP_SIGNAL, .proc = proc, .a = SIGKILL };
	struct cell *c = cell_by_id(x->d, x->cell);

	if (c && c->keeper)
		(void)!link_ask(c->keeper, &kill, NULL, 0, link_ignore, NULL);
}

/* It was closed, or its prompt was cancelled, meanwhile. False: it was not. */
static bool start_is_over(struct session *s)
{
	if (s->starting)
		return false;
	s->asked = false;
	s->keeper = NULL;
	session_begin(s);
	s->phase = PHASE_NONE;
	if (s->state == SESSION_STARTING)
		state_set(s, SESSION_IDLE, NULL);
	session_end(s, NULL);
	return true;
}

static void start_again(struct session *s)
{
	session_cell_changed(s, cell_by_id(s->d, s->cell));
}

void process_note(struct session *s, int32_t pid)
{
	const char *agent = json_text(s->spec, "agent");
	struct journal_SESSION r = { .session = note_text(s->id), .root = (uint64_t)MAX(pid, 0) };

	if (!agent)
		agent = json_string_value(json_array_get(json_object_get(s->spec, "command"), 0));
	r.agent = note_text(agent);
	note_add(s->d, s->cell, J_SESSION, &r);
}

static void started(struct session *s, const struct start *x, uint32_t proc, int32_t pid)
{
	s->starting = false;
	session_begin(s);
	outbox_clear(s);
	live_set(s, "calls", NULL);
	s->proc = proc;
	s->taken = s->err_at = s->skip = 0;
	acp_begin(s);
	process_note(s, pid);
	if (session_end(s, NULL) < 0) {
		/* Nobody will know of it; there may be room for another in a moment. */
		start_undo(x, proc);
		s->keeper = NULL;
		s->asked = false;
		s->starting = true;
		session_timer(s, 1000, start_again);
		return;
	}
	if (process_follow(s))
		session_follow(s);
}

static void start_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct start *x = arg;
	struct err e = { 0 };
	struct session *s = session_find(x->d, NULL, x->session, &e);
	bool runs = m && m->type == KEEP_STARTED;

	fds_close(fds, nfds);
	if (!s || start_is_over(s)) {
		if (runs)
			start_undo(x, m->proc);
	} else if (runs) {
		started(s, x, m->proc, m->pid);
	} else {
		s->asked = false;
		s->keeper = NULL;
		if (m)
			keep_fail_get(m, &e);
		else
			err_note(&e, ERR_ENDED, "the cell ended meanwhile");
		err_wrap(&e, "the agent cannot be started");
		fail_now(s, &e);
	}
	free(x);
}

static char **env_words(const json_t *env)
{
	char **words = xalloc((json_object_size(env) + 2) * sizeof(*words));
	const char *key;
	json_t *v;
	size_t n = 0;

	json_object_foreach((json_t *)(uintptr_t)env, key, v)
		if (asprintf(&words[n], "%s=%s", key, json_string_value(v)) >= 0)
			n++;
	return words;
}

static int exec_send(struct session *s, const struct launch *l)
{
	struct keep_start x = { .exec.flags =
					KEEP_X_LOG | KEEP_X_INPUT | KEEP_X_DETACH | KEEP_X_WHOLE };
	char **argv = json_words(l->command), **envp = env_words(l->env);
	struct start *arg = xalloc(sizeof(*arg));
	int err;

	x.spec = (struct execspec){ .flags = EXECSPEC_CELL_ENV,
				    .argv = argv,
				    .envp = envp,
				    .cwd = l->workdir,
				    .user = l->user };
	arg->d = s->d;
	strcpy(arg->session, s->id);
	strcpy(arg->cell, s->cell);
	err = link_exec(s->keeper, &x, start_answer, arg);
	if (err)
		free(arg);
	for (char **p = envp; *p; p++)
		free(*p);
	free(envp);
	free(argv);
	return err;
}

static void exec_begin(struct session *s)
{
	struct cell *c = cell_by_id(s->d, s->cell);
	struct launch l = { 0 };
	struct err e = { 0 };
	int err = 0;

	if (start_is_over(s))
		return;
	if (!c || !c->keeper)
		err_note(&e, ERR_ENDED, "the cell ended meanwhile");
	else if (launch_make(s, c, &l, &e) == 0) {
		s->keeper = c->keeper;
		err = exec_send(s, &l);
	}
	launch_free(&l);
	if (err)
		err_note(&e, err == -E2BIG ? ERR_TOO_LARGE : ERR_FAILED,
			 err == -E2BIG ? "the command and its environment are too long"
				       : "the agent cannot be started: %s",
			 strerror(-err));
	s->asked = !e.kind;
	if (e.kind)
		fail_now(s, &e);
}

static void files_written(struct session *s, const struct err *f)
{
	if (start_is_over(s))
		return;
	if (f)
		fail_now(s, f);
	else
		exec_begin(s);
}

/* Its settings, and what it is told, may be files, which are there before it. */
static void launch_begin(struct session *s)
{
	struct cell *c = cell_by_id(s->d, s->cell);
	struct launch l = { 0 };
	struct err e = { 0 };

	if (start_is_over(s))
		return;
	if (!c || !c->keeper)
		err_note(&e, ERR_ENDED, "the cell ended meanwhile");
	else if (launch_make(s, c, &l, &e) == 0 && json_object_size(l.files)) {
		s->asked = true;
		files_give(s, l.files, files_written);
	} else if (!e.kind) {
		exec_begin(s);
	}
	launch_free(&l);
	if (e.kind)
		fail_now(s, &e);
}

static void procs_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg, *other;
	bool known = false;

	fds_close(fds, nfds);
	if (!m || m->type != KEEP_PROC) {
		s->orphans = false;
		if (!m)
			s->keeper = NULL;
		launch_begin(s);
		return;
	}
	if (!(m->proc_is.flags & KEEP_X_WHOLE) || m->proc_is.ended)
		return;
	list_for_each(other, sessions_all(), link)
		known |= other->proc == m->proc && !strcmp(other->cell, s->cell);
	if (!known) {
		struct keep_msg kill = { .type = KEEP_SIGNAL, .proc = m->proc, .a = SIGKILL };

		(void)!link_ask(s->keeper, &kill, NULL, 0, link_ignore, NULL);
	}
}

static void start_hello(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct session *s = arg;
	struct keep_msg list = { .type = KEEP_PROCS };
	struct err e = { 0 };

	fds_close(fds, nfds);
	if (!m)
		s->keeper = NULL;
	if (!m || m->type != KEEP_HELLO)
		err_note(&e, ERR_ENDED, "the cell ended meanwhile");
	else if (!(m->hello.flags & KEEP_H_WHOLE))
		err_note(&e, ERR_UNSUPPORTED,
			 "the cell was started by an older version of viv, which cannot keep an "
			 "agent's output" REMEDY "stop the cell and start it again");
	if (e.kind) {
		s->asked = false;
		fail_now(s, &e);
		return;
	}
	s->run = m->hello.started;
	if (!s->orphans || link_ask(s->keeper, &list, NULL, 0, procs_answer, s) < 0)
		launch_begin(s);
}

/* It wants an agent. */
static void start_step(struct session *s, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_HELLO };
	struct err e = { 0 };

	if (!c) {
		err_note(&e, ERR_NOT_FOUND, "the cell is gone");
	} else if (c->sleep != SLEEP_NO) {
		return; /* it sleeps or wakes in a moment */
	} else if (c->state == CELL_RUNNING && c->keeper) {
		s->keeper = c->keeper;
		s->asked = link_ask(s->keeper, &m, NULL, 0, start_hello, s) == 0;
		if (!s->asked) {
			s->keeper = NULL;
			stream_later(s);
		}
		return;
	} else if (c->state == CELL_PAUSED) {
		err_note(&e, ERR_WRONG_STATE,
			 "the cell is paused" REMEDY "resume it, then prompt once more");
	} else if (cell_state_is_live(c->state)) {
		return; /* it will be told */
	} else if (s->cell_tried) {
		cell_start_error(c, "the cell could not start", &e);
	} else {
		s->cell_tried = true;
		if (cell_wake_begin(c, "prompt", &e) == 0)
			return;
	}
	fail_now(s, &e);
}

void session_start(struct session *s)
{
	if (s->proc || s->starting)
		return;
	s->starting = true;
	s->cell_tried = false;
	s->phase = PHASE_CELL;
	live_set(s, "error", NULL);
	state_set(s, SESSION_STARTING, NULL);
	stream_kick(s);
}

void session_cell_changed(struct session *s, struct cell *c)
{
	if (s->asked)
		return;
	if (s->proc && !s->attached) {
		if (c && c->keeper)
			meet(s, c);
		else if (!c || !cell_state_is_live(c->state))
			exit_note(s, true, 0);
	} else if (!s->proc && s->starting) {
		start_step(s, c);
	} else if (c && s->phase == PHASE_READY && s->queue && !s->running && !cell_is_asleep(c)) {
		/* It was not put to sleep after all. */
		session_begin(s);
		turn_next(s);
		session_end(s, NULL);
	}
}

void session_use(struct session *s)
{
	struct cell *c = cell_by_id(s->d, s->cell);
	bool uses = s->starting || s->running || s->queue || s->state == SESSION_WAITING ||
		    (s->proc && session_is_acp(s) && s->phase == PHASE_READY && !acp_can_load(s));

	if (!c || uses == s->holds)
		return;
	s->holds = uses;
	cell_hold(c, uses ? 1 : -1);
}

void on_cell(struct cell_wait *w, struct cell *c, bool gone)
{
	struct session *s = container_of(w, struct session, wait);

	if (!gone) {
		session_cell_changed(s, c);
		return;
	}
	db_begin(&s->d->db);
	permission_drop(s, true);
	session_rows_delete(s);
	db_end(&s->d->db, NULL);
	session_free(s);
}
