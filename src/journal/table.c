/* See table.h. Writing trusts the tracker, reading trusts nothing: whoever can forge a table has
 * the key, and still no reader may trip over it. */
#include "journal/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"

/* ---- writing ---- */

struct writer {
	struct buf *out;
	/* Pointers to what is written. */
	struct buf processes, programs, commands, sessions, prompts;
	struct buf ended; /* of processes: from the one that ended first on */
};

static void put_number(struct writer *w, uint64_t n)
{
	uint8_t bytes[LEB128_MAX];

	buf_add(w->out, bytes, (size_t)(leb128_put(bytes, n) - bytes));
}

static void put_signed(struct writer *w, int64_t n)
{
	put_number(w, zigzag((uint64_t)n));
}

static void put_text(struct writer *w, struct jtext text)
{
	put_number(w, text.n);
	if (text.n)
		buf_add(w->out, text.p, text.n);
}

#define COUNT(b) BUF_COUNT(b, void *)
#define AT(b, type, i) (*BUF_ITEM(b, struct type *, i))

/* Puts something on its list once; its mark is its place there. */
#define LIST(b, item)                                        \
	do {                                                 \
		if ((item) && !(item)->mark) {               \
			buf_add((b), &(item), sizeof(item)); \
			(item)->mark = (uint32_t)COUNT(b);   \
		}                                            \
	} while (0)
#define MARK(item) ((item) ? (item)->mark & ~IS_ENDED : 0)
#define IS_ENDED (1u << 31) /* in a process's mark: it is on the list of those that ended */

/* A process with its parents. */
static void process_choose(struct writer *w, struct process *p)
{
	for (; p && !p->mark; p = p->parent)
		LIST(&w->processes, p);
}

static int by_id(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* From the oldest on, as they are added again; the tracker has the newest first. */
static void reverse(struct buf *list)
{
	size_t n = COUNT(list);

	for (size_t i = 0; i < n / 2; i++) {
		void **a = BUF_ITEM(list, void *, i), **b = BUF_ITEM(list, void *, n - 1 - i);
		void *c = *a;

		*a = *b;
		*b = c;
	}
}

static void choose_sessions(struct writer *w, struct processes *t)
{
	for (struct session *s = t->sessions; s; s = s->next) {
		LIST(&w->sessions, s);
		for (struct prompt *q = s->last; q; q = q->next) {
			bool wanted = q == s->last || !q->ended || q->mark;

			q->mark = 0;
			if (wanted)
				LIST(&w->prompts, q);
		}
	}
	reverse(&w->sessions);
	for (uint32_t i = 0; i < COUNT(&w->sessions); i++)
		AT(&w->sessions, session, i)->mark = i + 1;
	reverse(&w->prompts);
	for (uint32_t i = 0; i < COUNT(&w->prompts); i++)
		AT(&w->prompts, prompt, i)->mark = i + 1;
}

/* All that runs, the last that ended, and what these refer to. */
static void choose(struct writer *w, struct processes *t, unsigned nended)
{
	struct process *p = t->ended_last;

	for (; p && COUNT(&w->ended) < nended; p = p->list_prev)
		buf_add(&w->ended, &p, sizeof(p));
	reverse(&w->ended);
	for (size_t i = 0; i < COUNT(&w->ended); i++)
		process_choose(w, AT(&w->ended, process, i));
	for (p = t->running_first; p; p = p->list_next)
		process_choose(w, p);
	if (w->processes.len)
		qsort(w->processes.p, COUNT(&w->processes), sizeof(void *), by_id);
	for (uint32_t i = 0; i < COUNT(&w->processes); i++) {
		p = AT(&w->processes, process, i);
		p->mark = i + 1;
		LIST(&w->programs, p->born);
		LIST(&w->programs, p->program);
		LIST(&w->commands, p->command);
		if (p->prompt)
			p->prompt->mark = 1;
	}
	for (size_t i = 0; i < COUNT(&w->ended); i++)
		AT(&w->ended, process, i)->mark |= IS_ENDED;
	/* None of these has a process. */
	for (unsigned i = 0; i < t->npending; i++)
		LIST(&w->commands, t->pending[i]);
	choose_sessions(w, t);
}

#define CLEAR(b, type)                                   \
	do {                                             \
		for (size_t i_ = 0; i_ < COUNT(b); i_++) \
			AT(b, type, i_)->mark = 0;       \
		(b)->len = 0;                            \
	} while (0)

static void marks_clear(struct writer *w)
{
	CLEAR(&w->processes, process);
	CLEAR(&w->programs, program);
	CLEAR(&w->commands, command);
	CLEAR(&w->sessions, session);
	CLEAR(&w->prompts, prompt);
	w->ended.len = 0;
}

static void put_programs(struct writer *w)
{
	put_number(w, COUNT(&w->programs));
	for (size_t i = 0; i < COUNT(&w->programs); i++) {
		const struct program *p = AT(&w->programs, program, i);

		put_number(w, p->seq);
		put_signed(w, p->wall);
		put_number(w, p->uid);
		put_text(w, p->has_hash ? (struct jtext){ (const char *)p->hash, JOURNAL_HASH }
					: (struct jtext){ 0 });
		put_text(w, p->path);
		put_text(w, p->args);
		put_text(w, p->cwd);
	}
}

static bool is_pending(const struct processes *t, const struct command *c)
{
	for (unsigned i = 0; i < t->npending; i++)
		if (t->pending[i] == c)
			return true;
	return false;
}

static void put_commands(struct writer *w, const struct processes *t)
{
	put_number(w, COUNT(&w->commands));
	for (size_t i = 0; i < COUNT(&w->commands); i++) {
		const struct command *c = AT(&w->commands, command, i);

		put_number(w, c->seq);
		put_number(w, c->number);
		put_signed(w, c->wall);
		put_text(w, c->args);
		put_number(w, is_pending(t, c));
	}
}

static void put_sessions(struct writer *w)
{
	put_number(w, COUNT(&w->sessions));
	for (size_t i = 0; i < COUNT(&w->sessions); i++) {
		const struct session *s = AT(&w->sessions, session, i);

		put_number(w, s->seq);
		put_signed(w, s->wall);
		put_text(w, (struct jtext){ s->id, (uint32_t)strlen(s->id) });
		put_text(w, (struct jtext){ s->agent, (uint32_t)strlen(s->agent) });
	}
	put_number(w, COUNT(&w->prompts));
	for (size_t i = 0; i < COUNT(&w->prompts); i++) {
		const struct prompt *q = AT(&w->prompts, prompt, i);

		put_number(w, MARK(q->session));
		put_number(w, q->seq);
		put_number(w, q->number);
		put_signed(w, q->wall);
		put_signed(w, q->ended);
		put_text(w, q->text);
	}
}

#define IS_FORKED 4
#define IS_CUT 8

static void put_processes(struct writer *w, const struct processes *t)
{
	put_number(w, t->next_id);
	put_number(w, COUNT(&w->processes));
	for (size_t i = 0; i < COUNT(&w->processes); i++) {
		const struct process *p = AT(&w->processes, process, i);
		enum process_held held = !p->ended	      ? HELD_RUNNING
					 : p->mark & IS_ENDED ? HELD_ENDED
							      : HELD_PARENT;

		put_number(w, (uint64_t)held | (p->forked ? IS_FORKED : 0) | (p->cut ? IS_CUT : 0));
		put_number(w, (uint64_t)p->pid);
		put_number(w, p->id);
		put_number(w, p->seq);
		put_signed(w, p->start);
		put_signed(w, p->end);
		put_number(w, p->code);
		put_number(w, p->signal);
		put_number(w, MARK(p->parent));
		put_number(w, MARK(p->born));
		put_number(w, MARK(p->program));
		put_number(w, MARK(p->command));
		put_number(w, MARK(p->session));
		put_number(w, MARK(p->prompt));
	}
	put_number(w, COUNT(&w->ended));
	for (size_t i = 0; i < COUNT(&w->ended); i++)
		put_number(w, MARK(AT(&w->ended, process, i)));
}

bool table_write(struct processes *t, const struct buf *start, struct buf *out)
{
	struct writer w = { .out = out };
	size_t begin = out->len;
	unsigned nended = TABLE_ENDED;
	bool fits;

	for (;; nended /= 4) {
		out->len = begin;
		choose(&w, t, nended);
		put_text(&w, (struct jtext){ (const char *)start->p, (uint32_t)start->len });
		put_programs(&w);
		put_commands(&w, t);
		put_sessions(&w);
		put_processes(&w, t);
		marks_clear(&w);
		fits = out->len - begin <= JOURNAL_TABLE_MAX;
		if (fits || !nended)
			break;
	}
	if (!fits)
		out->len = begin;
	buf_free(&w.processes);
	buf_free(&w.programs);
	buf_free(&w.commands);
	buf_free(&w.sessions);
	buf_free(&w.prompts);
	buf_free(&w.ended);
	return fits;
}

/* ---- reading ---- */

struct table {
	const uint8_t *p, *end;
	bool bad; /* it ended too early, or a value is none */
	struct processes *t;
	/* Pointers to what was made, the caller's references to programs and processes with them.
	 */
	struct buf programs, commands, sessions, prompts, processes, ended;
};

static uint64_t get_number(struct table *x)
{
	uint64_t n = 0;
	const uint8_t *p = x->bad ? NULL : leb128_get(x->p, x->end, &n);

	x->bad = !p;
	x->p = p ? p : x->p;
	return p ? n : 0;
}

static int64_t get_signed(struct table *x)
{
	return (int64_t)unzigzag(get_number(x));
}

static struct jtext get_text(struct table *x, size_t max)
{
	uint64_t n = get_number(x);
	struct jtext text = { (const char *)x->p, (uint32_t)n };

	if (x->bad || n > max || n > (uint64_t)(x->end - x->p)) {
		x->bad = true;
		return (struct jtext){ 0 };
	}
	x->p += n;
	return text;
}

/* How many things follow, each of some bytes at least. */
static uint64_t get_count(struct table *x, uint64_t max)
{
	uint64_t n = get_number(x);

	x->bad = x->bad || n > max || n > (uint64_t)(x->end - x->p);
	return x->bad ? 0 : n;
}

/* What a reference is to: something that was read before. */
static void *get_reference(struct table *x, const struct buf *list)
{
	uint64_t n = get_number(x);

	if (n > COUNT(list))
		x->bad = true;
	return n && !x->bad ? *BUF_ITEM(list, void *, n - 1) : NULL;
}

static void read_programs(struct table *x)
{
	for (uint64_t n = get_count(x, JOURNAL_TABLE_MAX); n && !x->bad; n--) {
		struct program p = { 0 }, *made;
		struct jtext hash;

		p.seq = get_number(x);
		p.wall = get_signed(x);
		p.uid = get_number(x);
		hash = get_text(x, JOURNAL_HASH);
		p.path = get_text(x, JOURNAL_TEXT_MAX);
		p.args = get_text(x, JOURNAL_TEXT_MAX);
		p.cwd = get_text(x, JOURNAL_TEXT_MAX);
		x->bad = x->bad || (hash.n && hash.n != JOURNAL_HASH);
		if (x->bad)
			return;
		p.has_hash = hash.n;
		if (hash.n)
			memcpy(p.hash, hash.p, sizeof(p.hash));
		made = program_make(&p);
		buf_add(&x->programs, &made, sizeof(made));
	}
}

static void read_commands(struct table *x)
{
	for (uint64_t n = get_count(x, JOURNAL_TABLE_MAX); n && !x->bad; n--) {
		struct command c = { 0 }, *made;
		uint64_t pending;

		c.seq = get_number(x);
		c.number = get_number(x);
		c.wall = get_signed(x);
		c.args = get_text(x, JOURNAL_TEXT_MAX);
		pending = get_number(x);
		x->bad = x->bad || pending > 1;
		if (x->bad)
			return;
		made = processes_add_command(x->t, &c, pending);
		buf_add(&x->commands, &made, sizeof(made));
	}
}

static void read_sessions(struct table *x)
{
	for (uint64_t n = get_count(x, SESSIONS_MAX); n && !x->bad; n--) {
		struct session s = { 0 }, *made;
		struct jtext id, agent;

		s.seq = get_number(x);
		s.wall = get_signed(x);
		id = get_text(x, JOURNAL_TEXT_MAX);
		agent = get_text(x, JOURNAL_TEXT_MAX);
		if (x->bad)
			return;
		made = processes_add_session(x->t, &s, id, agent);
		buf_add(&x->sessions, &made, sizeof(made));
	}
}

static void read_prompts(struct table *x)
{
	for (uint64_t n = get_count(x, PROMPTS_MAX); n && !x->bad; n--) {
		struct session *s = get_reference(x, &x->sessions);
		struct prompt q = { 0 }, *made;

		q.seq = get_number(x);
		q.number = get_number(x);
		q.wall = get_signed(x);
		q.ended = get_signed(x);
		q.text = get_text(x, JOURNAL_TEXT_MAX);
		x->bad = x->bad || !s;
		if (x->bad)
			return;
		made = processes_add_prompt(x->t, s, &q);
		buf_add(&x->prompts, &made, sizeof(made));
	}
}

/* One process; false: it is not one. */
static bool process_get_from(struct table *x, struct process *p, enum process_held *held)
{
	uint64_t flags = get_number(x), pid = get_number(x);

	p->id = get_number(x);
	p->seq = get_number(x);
	p->start = get_signed(x);
	p->end = get_signed(x);
	p->code = get_number(x);
	p->signal = get_number(x);
	p->parent = get_reference(x, &x->processes);
	p->born = get_reference(x, &x->programs);
	p->program = get_reference(x, &x->programs);
	p->command = get_reference(x, &x->commands);
	p->session = get_reference(x, &x->sessions);
	p->prompt = get_reference(x, &x->prompts);
	*held = (enum process_held)(flags & 3);
	p->pid = (int32_t)pid;
	p->forked = flags & IS_FORKED;
	p->cut = flags & IS_CUT;
	p->ended = *held != HELD_RUNNING;
	return !x->bad && *held <= HELD_PARENT && flags < 2 * IS_CUT && pid && pid <= INT32_MAX &&
	       (!p->parent || p->parent->depth < 2 * PROCESSES_PARENTS + 2);
}

static void read_processes(struct table *x)
{
	uint64_t next_id = get_number(x), last = 0;

	for (uint64_t n = get_count(x, JOURNAL_TABLE_MAX); n && !x->bad; n--) {
		enum process_held held;
		struct process p = { 0 }, *made;

		/* In the order of their ids, so that a parent is older than its children. */
		if (!process_get_from(x, &p, &held) || p.id <= last || p.id >= next_id ||
		    (held == HELD_RUNNING && x->t->nrunning >= PROCESSES_RUNNING) ||
		    (held == HELD_ENDED && x->t->nended >= PROCESSES_ENDED)) {
			x->bad = true;
			return;
		}
		last = p.id;
		made = processes_add(x->t, &p, held);
		made->mark = held == HELD_ENDED;
		buf_add(&x->processes, &made, sizeof(made));
	}
	x->t->next_id = MAX(next_id, 1);
}

/* In which order they ended: each of them once. */
static void read_ended(struct table *x)
{
	uint64_t n = get_count(x, PROCESSES_ENDED);

	x->bad = x->bad || n != x->t->nended;
	for (uint64_t i = 0; i < n && !x->bad; i++) {
		struct process *p = get_reference(x, &x->processes);

		x->bad = !p || !p->mark;
		if (x->bad)
			return;
		p->mark = 0;
		buf_add(&x->ended, &p, sizeof(p));
	}
	if (!x->bad && n)
		processes_ended_order(x->t, BUF_ITEM(&x->ended, struct process *, 0));
}

/* The frame is copied to where frames may lie. */
static void read_start(struct table *x, void (*start)(void *arg, const struct journal_entry *e),
		       void *arg)
{
	struct jtext text = get_text(x, JOURNAL_FRAME_MAX);
	union journal_record record;
	struct journal_frame f = { 0 };
	struct buf frame = { 0 };

	if (!text.n)
		return;
	buf_add(&frame, text.p, text.n);
	x->bad = text.n < sizeof(f) || !journal_decode(frame.p, frame.len, &record);
	if (!x->bad) {
		f = *(const struct journal_frame *)(const void *)frame.p;
		x->bad = f.kind != J_START;
	}
	if (!x->bad && start)
		start(arg, &(struct journal_entry){ .mono = f.mono,
						    .wall = f.wall,
						    .pid = f.pid,
						    .kind = J_START,
						    .record = &record,
						    .frame = frame.p,
						    .nframe = f.size - f.pad });
	buf_free(&frame);
}

bool table_read(struct processes *t, const void *data, size_t n,
		void (*start)(void *arg, const struct journal_entry *e), void *arg)
{
	struct table x = { .p = data, .end = (const uint8_t *)data + n, .t = t };

	processes_clear(t);
	read_start(&x, start, arg);
	read_programs(&x);
	read_commands(&x);
	read_sessions(&x);
	read_prompts(&x);
	read_processes(&x);
	read_ended(&x);
	x.bad = x.bad || x.p != x.end;
	for (size_t i = COUNT(&x.processes); i > 0; i--)
		process_put(t, AT(&x.processes, process, i - 1));
	for (size_t i = 0; i < COUNT(&x.programs); i++)
		program_put(AT(&x.programs, program, i));
	buf_free(&x.programs);
	buf_free(&x.commands);
	buf_free(&x.sessions);
	buf_free(&x.prompts);
	buf_free(&x.processes);
	buf_free(&x.ended);
	if (x.bad)
		processes_clear(t);
	return !x.bad;
}
