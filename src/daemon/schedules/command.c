/* A command in a cell, which is started if it does not run. The process outlives vivd: the cell's
 * keeper keeps its output, its time-out and its end.
 *
 * live: tag, a random number by which the keeper knows the request; run, the keeper's start; sent,
 * the request may have been sent; proc, the process that it made. sent is written before the
 * request is. A vivd that comes later and finds it sends the same request again: the keeper starts
 * one process for a tag. If the cell was started anew meanwhile, nobody knows whether the process
 * was there: the run has failed, and is not repeated. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/keepers/link.h"
#include "daemon/schedules/private.h"

#define GRACE_NS (3 * NSEC_PER_SEC) /* after which the keeper has ended it by itself */
#define WORDS_MAX 1024

static int64_t live_int(const struct cron_run *r, const char *name)
{
	return json_integer_value(json_object_get(r->live, name));
}

static void live_put(struct cron_run *r, const char *name, int64_t v)
{
	json_object_set_new(r->live, name, json_integer(v));
}

static int command_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	const json_t *words = json_object_get(spec, "command"), *env = json_object_get(spec, "env"),
		     *v;
	const char *name = json_text(spec, "cell"), *key;
	struct cell *c;
	size_t n = json_array_size(words);

	if (json_object_get(spec, "session"))
		return err_set(e, ERR_INVALID, "'session' is for 'prompt'");
	if (!name)
		return err_set(e, ERR_MISSING_FIELD,
			       "'cell' is missing: where the command runs" REMEDY
			       "name a cell, or give 'run' instead");
	if (!n || n > WORDS_MAX || !*json_string_value(json_array_get(words, 0)))
		return err_set(
			e, ERR_INVALID,
			"'command' is a list that begins with a program, of at most %d words",
			WORDS_MAX);
	json_object_foreach((json_t *)(uintptr_t)env, key, v)
		if (!*key || strchr(key, '='))
			return err_set(e, ERR_INVALID, "'env': '%.40s' is not a name of a variable",
				       key);
	c = cell_find(d, name, e);
	if (!c)
		return -1;
	if (!c->name[0] || json_is_true(json_object_get(c->spec, "auto_remove")))
		return err_set(
			e, ERR_NO_DISK,
			"cell '%.64s' goes when it ends, and its schedules would with it" REMEDY
			"name a cell that stays, or give 'run' instead",
			name);
	strcpy(s->cell, c->id);
	json_object_set_new(spec, "cell", json_string(c->id));
	return 0;
}

/* ---- its end ---- */

static void fds_close(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

static void command_forget(struct cron_run *r)
{
	if (r->keeper)
		link_forget(r->keeper, r);
	r->keeper = NULL;
	r->asked = false;
}

/* The cell ended, or was started anew. */
static void lost(struct cron_run *r)
{
	struct err e = { 0 };

	if (live_int(r, "proc")) {
		run_output_log(r, r->cell, (uint32_t)live_int(r, "proc"));
		err_note(&e, ERR_ENDED, "the cell ended while the command ran");
	} else {
		err_note(&e, ERR_ENDED,
			 "the cell ended when the command was started; whether it ran is not "
			 "known");
	}
	run_end(r, -1, &e);
}

static void wait_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cron_run *r = arg;
	struct keep_msg taken = { .type = KEEP_TAKEN, .n = KEEP_ALL };
	struct keeper_link *link;
	int status;

	fds_close(fds, nfds);
	if (!m)
		r->keeper = NULL;
	if (!m || m->type != KEEP_EXITED) {
		lost(r);
		return;
	}
	run_output_log(r, r->cell, (uint32_t)live_int(r, "proc"));
	taken.proc = m->proc;
	status = WIFSIGNALED(m->a) ? 128 + WTERMSIG(m->a) : WEXITSTATUS(m->a);
	r->timed_out |= m->b;
	link = r->keeper;
	/* When its end is written, the keeper need not keep it any more. */
	if (run_end(r, r->timed_out ? 124 : status, NULL))
		(void)!link_tell(link, &taken);
}

static void command_stop(struct cron_run *r)
{
	struct keep_msg m = { .type = KEEP_SIGNAL,
			      .proc = (uint32_t)live_int(r, "proc"),
			      .a = SIGKILL,
			      .flags = KEEP_TO_GROUP };
	struct err e = { 0 };

	if (m.proc && r->keeper) {
		/* The keeper asks it to end first, when its time is up. */
		if (r->timed_out &&
		    time_now() - r->started < spec_ns(r->spec, "timeout") + GRACE_NS)
			return;
		(void)!link_ask(r->keeper, &m, NULL, 0, link_ignore, NULL);
		m.flags = 0;
		(void)!link_ask(r->keeper, &m, NULL, 0, link_ignore, NULL);
		return;
	}
	/* Its start is on its way: it is ended when it is there. */
	if (live_int(r, "sent") && r->asked)
		return;
	err_note(&e, ERR_ENDED, "the cell did not start in time");
	run_end(r, -1, &e);
}

/* ---- its start ---- */

static void wait_begin(struct cron_run *r)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = (uint32_t)live_int(r, "proc") };

	if (link_ask(r->keeper, &m, NULL, 0, wait_answer, r) < 0) {
		command_forget(r);
		run_later(r);
	}
}

static void exec_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cron_run *r = arg;
	struct err e = { 0 };
	int code;

	fds_close(fds, nfds);
	if (m && m->type == KEEP_STARTED) {
		live_put(r, "proc", m->proc);
		/* If it cannot be written, the keeper tells the next vivd. */
		(void)!run_save(r, RUN_RUNNING);
		if (r->stopping)
			command_stop(r);
		wait_begin(r);
		return;
	}
	if (!m) {
		r->keeper = NULL;
		lost(r);
		return;
	}
	keep_fail_get(m, &e);
	err_wrap_note(&e, "the command cannot be started");
	code = m->a;
	run_end(r, code ? code : -1, &e);
}

static char **env_words(const struct cron_run *r)
{
	const json_t *env = json_object_get(r->spec, "env"), *v;
	char **words = xalloc((json_object_size(env) + 3) * sizeof(*words));
	const char *key;
	size_t n = 0;

	if (asprintf(&words[n], "VIVARIUM_SCHEDULE=%s", r->name) >= 0)
		n++;
	if (asprintf(&words[n], "VIVARIUM_RUN=%lld", (long long)r->id) >= 0)
		n++;
	json_object_foreach((json_t *)(uintptr_t)env, key, v)
		if (asprintf(&words[n], "%s=%s", key, json_string_value(v)) >= 0)
			n++;
	words[n] = NULL;
	return words;
}

static void exec_send(struct cron_run *r)
{
	char **argv = json_words(json_object_get(r->spec, "command")), **envp = env_words(r);
	struct keep_start x = { .exec = { .flags = KEEP_X_LOG | KEEP_X_DETACH,
					  .timeout_ns = run_left(r),
					  .tag = (uint64_t)live_int(r, "tag") } };
	struct err e = { 0 };
	int err;

	x.spec = (struct execspec){ .flags = EXECSPEC_CELL_ENV,
				    .argv = argv,
				    .envp = envp,
				    .cwd = json_text(r->spec, "workdir"),
				    .user = json_text(r->spec, "user") };
	err = link_exec(r->keeper, &x, exec_answer, r);
	for (char **p = envp; *p; p++)
		free(*p);
	free(envp);
	free(argv);
	if (!err)
		return;
	command_forget(r);
	if (err == -EAGAIN) {
		run_later(r);
		return;
	}
	err_note(&e, ERR_FAILED, "the command cannot be started: %s", strerror(-err));
	run_end(r, -1, &e);
}

static void hello_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cron_run *r = arg;
	char hex[17];

	fds_close(fds, nfds);
	if (!m) {
		r->keeper = NULL;
		r->asked = false;
		if (live_int(r, "sent"))
			lost(r);
		return; /* else its cell's end will be told */
	}
	if (live_int(r, "sent")) {
		if (m->type != KEEP_HELLO || m->hello.started != live_int(r, "run") ||
		    !(m->hello.flags & KEEP_H_TAGS))
			lost(r);
		else if (live_int(r, "proc"))
			wait_begin(r);
		else
			exec_send(r);
		return;
	}
	random_hex(hex, 8);
	live_put(r, "tag", (int64_t)(strtoull(hex, NULL, 16) >> 1 | 1));
	live_put(r, "run", m->hello.started);
	live_put(r, "sent", 1);
	if (run_save(r, RUN_STARTING) < 0) {
		json_object_clear(r->live);
		command_forget(r);
		run_later(r);
		return;
	}
	exec_send(r);
}

static void command_step(struct cron_run *r)
{
	struct keep_msg m = { .type = KEEP_HELLO };
	struct cell *c;

	if (r->asked)
		return;
	c = run_cell(r, !live_int(r, "sent"));
	if (!c)
		return;
	r->keeper = c->keeper;
	r->asked = true;
	if (link_ask(r->keeper, &m, NULL, 0, hello_answer, r) < 0) {
		command_forget(r);
		run_later(r);
	}
}

static void command_peek(struct cron_run *r)
{
	if (live_int(r, "proc"))
		run_output_log(r, r->cell, (uint32_t)live_int(r, "proc"));
}

const struct action action_command = { .field = "command",
				       .check = command_check,
				       .step = command_step,
				       .stop = command_stop,
				       .peek = command_peek,
				       .forget = command_forget };
