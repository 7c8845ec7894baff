/* See operation.h: the life of an operation. The input and the output of viv-files are pipes
 * (pipeend.h): who does not read stops the other side. A client that goes away closes them, and
 * viv-files undoes what it began. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/files/private.h"
#include "daemon/cells/filesprogram.h"

/* ---- its end ---- */

static void fds_close(struct fileop *x)
{
	for (unsigned i = 0; i < ARRAY_LEN(x->fds); i++) {
		if (x->fds[i] >= 0)
			close(x->fds[i]);
		x->fds[i] = -1;
	}
}

/* A cell that runs is not idle meanwhile. */
static void hold_end(struct fileop *x)
{
	struct cell *c = x->held ? cell_by_id(x->d, x->cell) : NULL;

	x->held = false;
	if (c)
		cell_hold(c, -1);
}

void fileop_free(struct fileop *x)
{
	struct keep_msg m = { .type = KEEP_SIGNAL, .proc = x->proc, .a = SIGHUP };

	pipe_end_close(&x->in);
	pipe_end_close(&x->out);
	if (x->link) {
		link_forget(x->link, x);
		/* It may wait for something else than its pipes, also when there was an end of its
		 * answer: others in the cell can write that. */
		if (x->proc && !x->exited)
			(void)!link_ask(x->link, &m, NULL, 0, link_ignore, NULL);
	}
	if (x->visits || x->leaving)
		(void)visit_end(&x->visitor, NULL);
	hold_end(x);
	fds_close(x);
	json_decref(x->object);
	free(x->line);
	free(x->body);
	free(x);
}

/* ---- the start ---- */

static void in_ready(struct pipe_end *e)
{
	fileop_upload_step(e->owner);
}

static void out_ready(struct pipe_end *e)
{
	struct fileop *x = e->owner;

	if (x->r)
		request_wake(x->r);
	else
		fileop_answer_step(x);
}

static void keeper_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct fileop *x = arg;
	struct err e = { .kind = ERR_FAILED };

	link_ignore(NULL, m, fds, nfds);
	if (m && m->type == KEEP_STARTED) {
		x->proc = m->proc;
		return;
	}
	x->exited = true;
	x->lost = !m;
	hold_end(x);
	x->link = NULL; /* nobody tells us of its end any more */
	/* Its streams tell the rest, unless they have ended and this was waited for. */
	if (x->r || x->ended)
		return;
	if (!m || m->type == KEEP_EXITED) {
		if (x->out.fd < 0)
			fileop_broken(x, NULL);
		return;
	}
	keep_fail_get(m, &e);
	fileop_broken(x, &e);
}

static int pipes_make(struct fileop *x, int fds[3])
{
	fds[0] = pipe_end_open(&x->in, false);
	if (fds[0] < 0)
		return fds[0];
	fds[1] = pipe_end_open(&x->out, true);
	if (fds[1] < 0)
		return fds[1];
	pipe_end_widen(&x->in);
	pipe_end_widen(&x->out);
	fds[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fds[2] < 0 ? -errno : 0;
}

static int spec_make(const struct fileop_spec *s)
{
	const char *words[FILEOP_WORDS + 2] = { NULL };
	unsigned at = 0;

	if (s->stored)
		words[at++] = "stored";
	for (unsigned i = 0; i < FILEOP_WORDS && s->words[i]; i++)
		words[at++] = s->words[i];
	_Static_assert(FILEOP_WORDS + 1 <= FILES_WORDS, "all of them fit");
	return files_spec(words, s->user);
}

/* What the exec will need: 0 or -errno. */
static int fileop_prepare(struct fileop *x, const struct fileop_spec *s)
{
	int err = pipes_make(x, x->fds + 1);

	if (!err && (x->fds[0] = spec_make(s)) < 0)
		err = x->fds[0];
	if (!err && !x->upload)
		pipe_end_close(&x->in);
	return err;
}

/* Asks the keeper for it. False: it does not take it. */
static bool fileop_launch(struct fileop *x, struct keeper_link *l)
{
	int err = files_run(l, x->fds[0], x->fds + 1, keeper_answer, x);

	fds_close(x);
	if (err == 0) {
		x->link = l;
		if (pipe_end_wait(&x->out))
			return true;
		err = -EAGAIN;
	}
	if (err == -EAGAIN)
		err_note(&x->err, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
	else
		err_note(&x->err, ERR_ENDED, "the cell has just ended");
	return false;
}

static void visit_ready(struct visitor *w, struct keeper_link *l, const struct err *f)
{
	struct fileop *x = container_of(w, struct fileop, visitor);

	if (!x->op.r) { /* nobody waits any more */
		x->visits &= l != NULL;
		fileop_free(x);
		return;
	}
	if (l && fileop_launch(x, l))
		return;
	if (!l) {
		x->visits = false;
		x->err = *f;
	}
	fileop_fail(x);
}

void fileop_begin(struct request *r, struct cell *c, const struct fileop_spec *s)
{
	const char *accept = request_header(r, "Accept");
	struct fileop *x = xalloc(sizeof(*x));

	x->d = r->d;
	x->answer = s->answer;
	x->ranged = s->ranged;
	x->upload = s->upload;
	x->type = s->type;
	x->sse = s->answer == FILEOP_EVENTS && accept && strstr(accept, "text/event-stream");
	pipe_end_init(&x->in, &x->d->loop, in_ready, x);
	pipe_end_init(&x->out, &x->d->loop, out_ready, x);
	for (unsigned i = 0; i < ARRAY_LEN(x->fds); i++)
		x->fds[i] = -1;
	strcpy(x->cell, c->id);
	x->body = xalloc(FILES_RECORD_MAX + 1);
	if (fileop_prepare(x, s) < 0) {
		fileop_free(x);
		reply_error(r, ERR_OVERLOADED,
			    "vivd has too many open files" REMEDY "try again later");
		return;
	}
	x->op.r = r;
	r->op = &x->op;
	if (s->upload)
		r->upload = &fileop_upload;
	else
		request_wait(r);
	if (!c->keeper) {
		x->visits = true;
		visit_begin(c, &x->visitor, visit_ready);
	} else if (fileop_launch(x, c->keeper)) {
		x->held = true;
		cell_hold(c, 1);
	} else {
		fileop_fail(x);
	}
}
