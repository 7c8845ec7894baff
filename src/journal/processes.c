/* See processes.h.
 *
 * Processes that run and those that ended are in two lists, in the order of their begin and their
 * end; all of them are in a hash by their number, the newest first. A reference on the first list
 * is the tracker's; eviction takes it away. */
#include "journal/processes.h"

#include <stdlib.h>
#include <string.h>

#define STARTED_BEFORE 64 /* processes that may be faster than the record of their command */

void processes_init(struct processes *t, void (*gone)(void *arg, struct process *p), void *arg)
{
	*t = (struct processes){ .nbuckets = 1024, .next_id = 1, .round = 1, .gone = gone };
	t->arg = arg;
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
}

/* ---- lifetimes ---- */

struct program *program_get(struct program *p)
{
	if (p)
		p->refs++;
	return p;
}

void program_put(struct program *p)
{
	if (p && !--p->refs)
		free(p);
}

struct process *process_get(struct process *p)
{
	if (p)
		p->refs++;
	return p;
}

void process_put(struct processes *t, struct process *p)
{
	while (p && !--p->refs) {
		struct process *parent = p->parent;

		if (t->gone)
			t->gone(t->arg, p);
		program_put(p->born);
		program_put(p->program);
		free(p);
		p = parent; /* its reference goes as well */
	}
}

static size_t bucket_of(const struct processes *t, int32_t pid)
{
	return ((uint32_t)pid * 2654435761u) & (t->nbuckets - 1);
}

static void hash_add(struct processes *t, struct process *p)
{
	struct process **b = &t->buckets[bucket_of(t, p->pid)];

	p->hash_next = *b;
	*b = p;
	t->count++;
}

static void hash_remove(struct processes *t, struct process *p)
{
	struct process **b = &t->buckets[bucket_of(t, p->pid)];

	while (*b && *b != p)
		b = &(*b)->hash_next;
	if (*b) {
		*b = p->hash_next;
		t->count--;
	}
}

/* The order within a bucket stays: of two with one number, the newer is the first. */
static void hash_grow(struct processes *t)
{
	struct processes old = *t;

	if (t->count < t->nbuckets)
		return;
	t->nbuckets *= 4;
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
	for (size_t i = 0; i < old.nbuckets; i++)
		for (struct process *p = old.buckets[i], *next; p; p = next) {
			struct process **b = &t->buckets[bucket_of(t, p->pid)];

			next = p->hash_next;
			while (*b)
				b = &(*b)->hash_next;
			p->hash_next = NULL;
			*b = p;
		}
	free(old.buckets);
}

static struct process *hash_find(const struct processes *t, int32_t pid)
{
	struct process *p = t->buckets[bucket_of(t, pid)];

	while (p && p->pid != pid)
		p = p->hash_next;
	return p;
}

static void list_add(struct process **first, struct process **last, struct process *p)
{
	p->list_prev = *last;
	p->list_next = NULL;
	*(*last ? &(*last)->list_next : first) = p;
	*last = p;
}

static void list_remove(struct process **first, struct process **last, struct process *p)
{
	*(p->list_prev ? &p->list_prev->list_next : first) = p->list_next;
	*(p->list_next ? &p->list_next->list_prev : last) = p->list_prev;
}

static void process_end(struct processes *t, struct process *p, const struct journal_entry *e)
{
	if (p->ended)
		return;
	p->ended = true;
	p->end = e->wall;
	list_remove(&t->running_first, &t->running_last, p);
	t->nrunning--;
	list_add(&t->ended_first, &t->ended_last, p);
	if (++t->nended > PROCESSES_ENDED) {
		struct process *old = t->ended_first;

		list_remove(&t->ended_first, &t->ended_last, old);
		t->nended--;
		hash_remove(t, old);
		process_put(t, old);
	}
}

/* Lets the oldest parents go. */
static void parents_cut(struct processes *t, struct process *p)
{
	struct process *oldest = p, *gone;
	uint32_t n = 0;

	while (n < PROCESSES_PARENTS && oldest->parent) {
		oldest = oldest->parent;
		n++;
	}
	/* What was counted before a cut is counted anew, also for its next children. */
	p->depth = n;
	if (p->parent)
		p->parent->depth = n - 1;
	gone = oldest->parent;
	if (!gone)
		return;
	oldest->command = process_command(gone);
	if (!oldest->session)
		oldest->session = process_session(t, gone);
	oldest->parent = NULL;
	oldest->cut = true;
	process_put(t, gone);
}

static struct process *process_new(struct processes *t, int32_t pid, struct process *parent,
				   const struct journal_entry *e)
{
	struct process *p;

	hash_grow(t);
	p = xalloc(sizeof(*p));
	p->refs = 1;
	p->pid = pid;
	p->id = t->next_id++;
	p->seq = e->seq;
	p->start = e->wall;
	p->parent = process_get(parent);
	p->depth = parent ? parent->depth + 1 : 0;
	if (p->depth > 2 * PROCESSES_PARENTS)
		parents_cut(t, p);
	p->born = program_get(parent ? parent->program : NULL);
	p->program = program_get(p->born);
	p->prompt = parent ? process_prompt(t, parent) : NULL;
	hash_add(t, p);
	list_add(&t->running_first, &t->running_last, p);
	/* Never the new one, and never one that the caller still uses: the parent is held. */
	if (++t->nrunning > PROCESSES_RUNNING)
		process_end(t, t->running_first, e);
	return p;
}

struct process *processes_add(struct processes *t, const struct process *like,
			      enum process_held held)
{
	struct process *p;

	hash_grow(t);
	p = xalloc(sizeof(*p));
	*p = *like;
	p->refs = held == HELD_PARENT ? 1 : 2; /* the caller's, the tracker's */
	p->round = 0;
	p->user = NULL;
	p->hash_next = p->list_prev = p->list_next = NULL;
	p->depth = p->parent ? p->parent->depth + 1 : 0;
	process_get(p->parent);
	program_get(p->born);
	program_get(p->program);
	if (held != HELD_PARENT)
		hash_add(t, p);
	if (held == HELD_RUNNING) {
		list_add(&t->running_first, &t->running_last, p);
		t->nrunning++;
	} else if (held == HELD_ENDED) {
		list_add(&t->ended_first, &t->ended_last, p);
		t->nended++;
	}
	return p;
}

void processes_ended_order(struct processes *t, struct process **ended)
{
	t->ended_first = t->ended_last = NULL;
	for (size_t i = 0; i < t->nended; i++)
		list_add(&t->ended_first, &t->ended_last, ended[i]);
}

void processes_fini(struct processes *t)
{
	struct process *next;
	struct session *s;
	struct command *c;

	for (struct process *p = t->running_first; p; p = next) {
		next = p->list_next;
		process_put(t, p);
	}
	for (struct process *p = t->ended_first; p; p = next) {
		next = p->list_next;
		process_put(t, p);
	}
	while ((s = t->sessions)) {
		struct prompt *q;

		t->sessions = s->next;
		while ((q = s->last)) {
			s->last = q->next;
			free(q);
		}
		free(s->id);
		free(s->agent);
		free(s);
	}
	while ((c = t->commands)) {
		t->commands = c->next;
		free(c);
	}
	free(t->buckets);
	*t = (struct processes){ 0 };
}

void processes_clear(struct processes *t)
{
	void (*gone)(void *arg, struct process *p) = t->gone;
	void *arg = t->arg;

	processes_fini(t);
	processes_init(t, gone, arg);
}

/* ---- programs ---- */

static struct jtext text_copy(char **at, struct jtext text)
{
	struct jtext copy = { *at, text.n };

	if (text.n)
		memcpy(*at, text.p, text.n);
	*at += text.n;
	return copy;
}

struct program *program_make(const struct program *like)
{
	struct program *p = xalloc(sizeof(*p) + (size_t)like->path.n + (size_t)like->args.n +
				   (size_t)like->cwd.n);
	char *at = (char *)(p + 1);

	*p = *like;
	p->refs = 1;
	p->path = text_copy(&at, like->path);
	p->args = text_copy(&at, like->args);
	p->cwd = text_copy(&at, like->cwd);
	return p;
}

static struct program *program_new(const struct journal_entry *e, const struct journal_EXEC *x)
{
	struct program p = { .seq = e->seq,
			     .wall = e->wall,
			     .uid = x->uid,
			     .has_hash = x->hash,
			     .path = x->path,
			     .args = x->args,
			     .cwd = x->cwd };

	if (x->hash)
		memcpy(p.hash, x->hash, sizeof(p.hash));
	return program_make(&p);
}

static struct process *found_or_made(struct processes *t, uint64_t pid,
				     const struct journal_entry *e)
{
	struct process *p;

	if (!pid || pid > INT32_MAX)
		return NULL;
	p = hash_find(t, (int32_t)pid);
	return p ? p : process_new(t, (int32_t)pid, NULL, e);
}

static struct process *follow_fork(struct processes *t, const struct journal_entry *e)
{
	uint64_t from = e->record->FORK.parent;
	struct process *parent, *old;

	if (e->pid <= 0)
		return NULL;
	parent = from == (uint64_t)e->pid ? NULL : found_or_made(t, from, e);
	/* The reference keeps it while others are ended. */
	process_get(parent);
	old = hash_find(t, e->pid);
	if (old && !old->ended)
		process_end(t, old, e);
	old = process_new(t, e->pid, parent, e);
	old->forked = true;
	process_put(t, parent);
	return old;
}

static bool text_is(struct jtext a, struct jtext b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

static void pending_remove(struct processes *t, unsigned i)
{
	memmove(&t->pending[i], &t->pending[i + 1], (--t->npending - i) * sizeof(struct command *));
}

/* The command that a process from outside comes from: one with its arguments, else the oldest that
 * has no process yet. */
static void command_find(struct processes *t, struct process *p)
{
	unsigned i = 0;

	if (!t->npending)
		return;
	while (i < t->npending && !text_is(t->pending[i]->args, p->program->args))
		i++;
	i = i < t->npending ? i : 0;
	p->command = t->pending[i];
	pending_remove(t, i);
}

static struct process *follow_exec(struct processes *t, const struct journal_entry *e)
{
	const struct journal_EXEC *x = &e->record->EXEC;
	struct process *p, *parent = NULL;

	if (e->pid <= 0)
		return NULL;
	p = hash_find(t, e->pid);
	if (!p || p->ended) {
		if (x->parent != (uint64_t)e->pid)
			parent = process_get(found_or_made(t, x->parent, e));
		p = process_new(t, e->pid, parent, e);
		process_put(t, parent);
	}
	program_put(p->program);
	p->program = program_new(e, x);
	if (!p->parent && !p->cut && !p->command && !x->parent)
		command_find(t, p);
	return p;
}

/* ---- commands, sessions, prompts ---- */

static void pending_add(struct processes *t, struct command *c)
{
	if (t->npending == ARRAY_LEN(t->pending))
		pending_remove(t, 0);
	t->pending[t->npending++] = c;
}

struct command *processes_add_command(struct processes *t, const struct command *like, bool pending)
{
	struct command *c = xalloc(sizeof(*c) + like->args.n);
	char *at = (char *)(c + 1);

	*c = *like;
	c->args = text_copy(&at, like->args);
	c->next = NULL;
	*(t->commands_last ? &t->commands_last->next : &t->commands) = c;
	t->commands_last = c;
	t->ncommands++;
	if (pending)
		pending_add(t, c);
	return c;
}

static struct process *follow_command(struct processes *t, const struct journal_entry *e)
{
	const struct journal_COMMAND *x = &e->record->COMMAND;
	struct process *p = e->pid > 0 ? found_or_made(t, (uint64_t)e->pid, e) : NULL;
	struct command *c = processes_add_command(t,
						  &(struct command){ .seq = e->seq,
								     .number = x->number,
								     .wall = e->wall,
								     .args = x->args },
						  false);
	unsigned n = 0;

	if (!p) /* its process may have been faster than this record */
		for (struct process *o = t->running_last; o && n < STARTED_BEFORE;
		     o = o->list_prev, n++)
			if (!o->parent && !o->cut && !o->command && o->program &&
			    text_is(o->program->args, c->args)) {
				p = o;
				break;
			}
	if (p && !p->command) {
		p->command = c;
		return p;
	}
	pending_add(t, c);
	return p;
}

struct session *processes_session(struct processes *t, struct jtext id)
{
	struct session *s = t->sessions;

	while (s && !(strlen(s->id) == id.n && !memcmp(s->id, id.p, id.n)))
		s = s->next;
	return s;
}

struct session *processes_add_session(struct processes *t, const struct session *like,
				      struct jtext id, struct jtext agent)
{
	struct session *s = xalloc(sizeof(*s));

	s->seq = like->seq;
	s->wall = like->wall;
	s->id = xstrndup(id.n ? id.p : "", id.n);
	s->agent = xstrndup(agent.n ? agent.p : "", agent.n);
	s->next = t->sessions;
	t->sessions = s;
	t->nsessions++;
	return s;
}

static struct session *session_made(struct processes *t, struct jtext id,
				    const struct journal_entry *e)
{
	struct session *s = id.n ? processes_session(t, id) : NULL;

	if (s || t->nsessions >= SESSIONS_MAX)
		return s;
	return processes_add_session(t, &(struct session){ .seq = e->seq, .wall = e->wall }, id,
				     (struct jtext){ 0 });
}

static struct process *follow_session(struct processes *t, const struct journal_entry *e)
{
	const struct journal_SESSION *x = &e->record->SESSION;
	struct process *p = found_or_made(t, x->root, e);
	struct session *s = session_made(t, x->session, e);

	if (!s)
		return p;
	free(s->agent);
	s->agent = xstrndup(x->agent.n ? x->agent.p : "", x->agent.n);
	if (p)
		p->session = s;
	t->round++; /* what was found before may be otherwise now */
	return p;
}

struct prompt *processes_add_prompt(struct processes *t, struct session *s,
				    const struct prompt *like)
{
	struct prompt *q = xalloc(sizeof(*q) + like->text.n);
	char *at = (char *)(q + 1);

	*q = *like;
	q->session = s;
	q->text = text_copy(&at, like->text);
	q->next = s->last;
	s->last = q;
	t->nprompts++;
	return q;
}

static void follow_prompt(struct processes *t, const struct journal_entry *e)
{
	const struct journal_PROMPT *x = &e->record->PROMPT;
	struct session *s = session_made(t, x->session, e);

	if (s && t->nprompts < PROMPTS_MAX)
		processes_add_prompt(t, s,
				     &(struct prompt){ .seq = e->seq,
						       .number = x->number,
						       .wall = e->wall,
						       .text = x->text });
}

static void follow_answer(struct processes *t, const struct journal_entry *e)
{
	const struct journal_ANSWER *x = &e->record->ANSWER;
	struct session *s = processes_session(t, x->session);

	for (struct prompt *q = s ? s->last : NULL; q; q = q->next)
		if (q->number == x->number && !q->ended) {
			q->ended = e->wall ? e->wall : 1;
			break;
		}
}

struct session *process_session(struct processes *t, struct process *p)
{
	struct session *found = NULL;
	struct process *q;

	for (q = p; q && q->round != t->round; q = q->parent)
		if (q->session)
			break;
	if (q)
		found = q->session ? q->session : q->under;
	/* What was passed is not asked again in this round. */
	for (; p && p != q; p = p->parent) {
		p->under = found;
		p->round = t->round;
	}
	return found;
}

struct prompt *process_prompt(struct processes *t, struct process *p)
{
	struct session *s = process_session(t, p);

	return s && s->last && !s->last->ended ? s->last : NULL;
}

struct command *process_command(const struct process *p)
{
	while (p && p->parent)
		p = p->parent;
	return p ? p->command : NULL;
}

struct process *processes_follow(struct processes *t, const struct journal_entry *e)
{
	struct process *p;

	switch (e->kind) {
	case J_FORK:
		return follow_fork(t, e);
	case J_EXEC:
		return follow_exec(t, e);
	case J_COMMAND:
		return follow_command(t, e);
	case J_SESSION:
		return follow_session(t, e);
	case J_PROMPT:
		follow_prompt(t, e);
		break;
	case J_ANSWER:
		follow_answer(t, e);
		break;
	case J_EXIT:
		p = e->pid > 0 ? found_or_made(t, (uint64_t)e->pid, e) : NULL;
		if (p && !p->ended) {
			p->code = e->record->EXIT.code;
			p->signal = e->record->EXIT.signal;
			process_end(t, p, e);
		}
		return p;
	default:
		break;
	}
	return e->pid > 0 ? found_or_made(t, (uint64_t)e->pid, e) : NULL;
}
