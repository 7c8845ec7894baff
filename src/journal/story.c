/* See story.h. */
#include "journal/story.h"

#include <inttypes.h>
#include <string.h>

#include "journal/hosts.h"
#include "journal/show.h"
#include "journal/table.h"

const char *const mark_names[MARK_KINDS] = {
	[MARK_CREATED] = "created",   [MARK_WROTE] = "wrote",	    [MARK_REMOVED] = "removed",
	[MARK_RENAMED] = "renamed",   [MARK_CHANGED] = "changed",   [MARK_CONNECT] = "connected",
	[MARK_REQUEST] = "requested", [MARK_DENIED] = "denied",	    [MARK_APPROVAL] = "approval",
	[MARK_PROMPT] = "prompt",     [MARK_ANSWER] = "answer",	    [MARK_SESSION] = "session",
	[MARK_COMMAND] = "command",   [MARK_TOOL] = "tool",	    [MARK_LIMIT] = "limit",
	[MARK_OPERATOR] = "operator", [MARK_HOLE] = "records lost", [MARK_CELL] = "cell",
	[MARK_POLICY] = "policy",
};

void story_init(struct story *s)
{
	memset(s, 0, sizeof(*s));
	processes_init(&s->processes, NULL, NULL);
	buf_more(&s->nodes, sizeof(struct story_process));
	buf_more(&s->marks, sizeof(struct story_mark));
	buf_more(&s->texts, 1);
	story_at(s, 0)->end = -1;
}

void story_fini(struct story *s)
{
	processes_fini(&s->processes);
	buf_free(&s->nodes);
	buf_free(&s->marks);
	buf_free(&s->texts);
}

/* ---- time ---- */

static void time_follow(struct story *s, const struct journal_entry *e)
{
	/* A guest's claims, that sums must not overflow by. */
	int64_t mono = MAX(e->mono, 0), wall = MAX(e->wall, 0), step;

	if (!s->records++) {
		s->begin = wall;
		s->mono = mono;
	}
	step = mono - s->mono;
	/* Records of different writers are not quite in order; more than that is a new clock. */
	if (step < -5 * NSEC_PER_SEC)
		step = wall - s->wall;
	if (step > 0)
		s->now = s->now > INT64_MAX - step ? s->now : s->now + step;
	if (mono > s->mono || mono < s->mono - 5 * NSEC_PER_SEC)
		s->mono = mono;
	s->wall = wall;
	s->finish = wall;
}

/* ---- processes ---- */

static uint32_t text_keep(struct story *s, struct jtext text, uint32_t *n)
{
	*n = MIN(text.n, (uint32_t)STORY_TEXT);
	return (uint32_t)buf_add(&s->texts, text.p, *n);
}

static uint32_t node_made(struct story *s, struct process *p, uint32_t parent,
			  const struct journal_entry *e)
{
	uint32_t i = story_count(s);
	struct story_process *n;

	if (i > STORY_PROCESSES) {
		story_at(s, parent)->processes++;
		return parent;
	}
	n = buf_more(&s->nodes, sizeof(*n));
	n->parent = parent;
	n->pid = p->pid;
	n->id = p->id;
	n->seq = e->seq;
	n->start = s->now;
	n->end = -1;
	if (p->program) { /* its parent's, until it has its own */
		n->program = text_keep(s, p->program->path, &n->nprogram);
		n->args = text_keep(s, p->program->args, &n->nargs);
	}
	if (story_at(s, parent)->last)
		story_at(s, story_at(s, parent)->last)->next = i;
	else
		story_at(s, parent)->first = i;
	story_at(s, parent)->last = i;
	return i;
}

/* The node of a process; those above that have none are made first. user is its number and one. */
static uint32_t node_of(struct story *s, struct process *p, const struct journal_entry *e)
{
	if (!p)
		return 0;
	while (!p->user) {
		struct process *q = p;
		uint32_t above;

		while (q->parent && !q->parent->user)
			q = q->parent;
		above = q->parent ? (uint32_t)((uintptr_t)q->parent->user - 1) : 0;
		q->user = (void *)(uintptr_t)(node_made(s, q, above, e) + 1u);
	}
	return (uint32_t)((uintptr_t)p->user - 1);
}

/* ---- marks ---- */

/* The same file by the same process a moment ago: one mark is enough. */
static bool is_again(const struct story *s, const struct story_process *n, enum mark_kind kind,
		     struct jtext text)
{
	const struct story_mark *m;
	uint32_t size = MIN(text.n, (uint32_t)STORY_TEXT);

	if (!n->mark_last || kind != MARK_WROTE)
		return false;
	m = mark_at(s, n->mark_last);
	return (m->kind == MARK_CREATED || m->kind == MARK_WROTE) && m->n == size &&
	       !memcmp(s->texts.p + m->text, text.p, size);
}

static void mark_add(struct story *s, uint32_t node, const struct journal_entry *e,
		     enum mark_kind kind, struct jtext text)
{
	struct story_process *n = story_at(s, node);
	struct story_mark *m;
	uint32_t i;

	if (is_again(s, n, kind, text))
		return;
	n->counts[kind]++;
	if (BUF_COUNT(&s->marks, struct story_mark) >= STORY_MARKS ||
	    (kind < MARK_DENIED && n->nmarks >= STORY_MARKS_EACH)) {
		s->left_out++;
		return;
	}
	i = (uint32_t)BUF_COUNT(&s->marks, struct story_mark);
	m = buf_more(&s->marks, sizeof(*m));
	m->seq = e->seq;
	m->at = s->now;
	m->kind = (uint8_t)kind;
	m->text = text_keep(s, text, &m->n);
	if (n->mark_last)
		mark_at(s, n->mark_last)->next = i;
	else
		n->mark_first = i;
	n->mark_last = i;
	n->nmarks += kind < MARK_DENIED;
}

/* A text of several: "GET https://host/ (200)". */
static void mark_format(struct story *s, uint32_t node, const struct journal_entry *e,
			enum mark_kind kind, const char *format, ...) printf_like(5, 6);
static void mark_format(struct story *s, uint32_t node, const struct journal_entry *e,
			enum mark_kind kind, const char *format, ...)
{
	char text[3 * STORY_TEXT];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	mark_add(s, node, e, kind,
		 (struct jtext){ text, n < 0 ? 0 : MIN((uint32_t)n, (uint32_t)sizeof(text) - 1) });
}
/* A text of a record as arguments of %.*s. */
#define T(text) (int)MIN((text).n, (uint32_t)STORY_TEXT), (text).n ? (text).p : ""

static void follow_exec(struct story *s, uint32_t node, const struct journal_entry *e)
{
	const struct journal_EXEC *x = &e->record->EXEC;
	struct story_process *n = story_at(s, node);

	/* One that stands for others keeps its own. */
	if (!node || n->pid != e->pid)
		return;
	n->execs++;
	n->program = text_keep(s, x->path, &n->nprogram);
	n->args = text_keep(s, x->args, &n->nargs);
}

static void follow_net(struct story *s, uint32_t node, const struct journal_entry *e)
{
	const union journal_record *x = e->record;
	struct jtext host;

	switch (e->kind) {
	case J_CONNECT:
		host = x->CONNECT.name.n ? x->CONNECT.name : x->CONNECT.address;
		if (decision_allows(x->CONNECT.decision))
			mark_format(s, node, e, MARK_CONNECT, "%.*s:%" PRIu64 "%s", T(host),
				    x->CONNECT.port,
				    text_equals(x->CONNECT.decision, "audit") ? " (audit)" : "");
		else if (!text_equals(x->CONNECT.decision, "ask"))
			mark_format(s, node, e, MARK_DENIED,
				    "connection to %.*s:%" PRIu64 " (%.*s): %.*s", T(host),
				    x->CONNECT.port, T(x->CONNECT.decision), T(x->CONNECT.rule));
		break;
	case J_REQUEST:
		if (x->REQUEST.status)
			mark_format(s, node, e,
				    text_equals(x->REQUEST.decision, "deny") ? MARK_DENIED
									     : MARK_REQUEST,
				    "%.*s %.*s (%" PRIu64 ")", T(x->REQUEST.method),
				    T(x->REQUEST.url), x->REQUEST.status);
		else if (!text_equals(x->REQUEST.decision, "ask"))
			mark_format(s, node, e, MARK_REQUEST, "%.*s %.*s", T(x->REQUEST.method),
				    T(x->REQUEST.url));
		break;
	case J_RESPONSE:
		/* One that went well has its mark. */
		if (x->RESPONSE.status < 200 || x->RESPONSE.status >= 400)
			mark_format(s, node, e, MARK_REQUEST, "%.*s %.*s: %" PRIu64,
				    T(x->RESPONSE.method), T(x->RESPONSE.url), x->RESPONSE.status);
		break;
	case J_CLOSE:
		story_at(s, node)->in += x->CLOSE.in;
		story_at(s, node)->out += x->CLOSE.out;
		break;
	case J_NAME:
		if (text_equals(x->NAME.decision, "deny"))
			mark_format(s, node, e, MARK_DENIED, "name %.*s: %.*s", T(x->NAME.name),
				    T(x->NAME.rule));
		break;
	default:
		story_at(s, node)->inbound++;
	}
}

static void words_line(struct jtext words, char out[STORY_TEXT])
{
	uint32_t n = MIN(words.n, (uint32_t)STORY_TEXT - 1);

	if (n)
		memcpy(out, words.p, n);
	out[n] = 0;
	for (uint32_t i = 0; i + 1 < n; i++)
		if (!out[i])
			out[i] = ' ';
}

static void follow_agent(struct story *s, uint32_t node, const struct journal_entry *e)
{
	const union journal_record *x = e->record;
	struct session *session;

	switch (e->kind) {
	case J_SESSION:
		session = processes_session(&s->processes, x->SESSION.session);
		if (session)
			session->user = node;
		mark_format(s, node, e, MARK_SESSION, "%.*s (%.*s)", T(x->SESSION.session),
			    T(x->SESSION.agent));
		break;
	case J_PROMPT:
		session = processes_session(&s->processes, x->PROMPT.session);
		mark_format(s, session ? (uint32_t)session->user : 0, e, MARK_PROMPT,
			    "%" PRIu64 ": %.*s", x->PROMPT.number, T(x->PROMPT.text));
		break;
	case J_ANSWER:
		session = processes_session(&s->processes, x->ANSWER.session);
		mark_format(s, session ? (uint32_t)session->user : 0, e, MARK_ANSWER,
			    "%" PRIu64 " done: %.*s", x->ANSWER.number, T(x->ANSWER.reason));
		break;
	default:
		mark_format(s, node, e, MARK_TOOL, "%.*s %.*s (status %" PRId64 ")",
			    T(x->TOOL.tool), T(x->TOOL.args), x->TOOL.status);
	}
}

static void cell_name(void *story, const struct journal_entry *e)
{
	const struct journal_START *x = &e->record->START;
	struct story *s = story;

	snprintf(s->id, sizeof(s->id), "%.*s", T(x->id));
	snprintf(s->name, sizeof(s->name), "%.*s", T(x->name));
	snprintf(s->image, sizeof(s->image), "%.*s", T(x->image));
}

static void follow_cell(struct story *s, uint32_t node, const struct journal_entry *e)
{
	const union journal_record *x = e->record;
	char line[STORY_TEXT];

	switch (e->kind) {
	case J_START:
		cell_name(s, e);
		mark_format(s, 0, e, MARK_CELL, "started with Vivarium %.*s", T(x->START.version));
		break;
	case J_STOP:
		mark_format(s, 0, e, MARK_CELL, "ended with status %" PRId64 " (%.*s)",
			    x->STOP.status, T(x->STOP.reason));
		break;
	case J_HOLE:
		mark_format(s, 0, e, MARK_HOLE, "%.*s, %" PRIu64 " records", T(x->HOLE.reason),
			    x->HOLE.count);
		break;
	case J_LIMIT:
		mark_format(s, node, e, MARK_LIMIT, "%.*s", T(x->LIMIT.what));
		break;
	case J_COMMAND:
		words_line(x->COMMAND.args, line);
		mark_format(s, 0, e, MARK_COMMAND, "%" PRIu64 ": %s", x->COMMAND.number, line);
		break;
	case J_OPERATOR:
		mark_format(s, node, e, MARK_OPERATOR, "%.*s %.*s", T(x->OPERATOR.action),
			    T(x->OPERATOR.detail));
		break;
	case J_POLICY:
		words_line(x->POLICY.rules, line);
		mark_format(s, 0, e, MARK_POLICY, "%s", line);
		break;
	case J_DENIAL:
		mark_format(s, node, e, MARK_DENIED, "%.*s %.*s by %.*s", T(x->DENIAL.scope),
			    T(x->DENIAL.what), T(x->DENIAL.rule));
		break;
	default:
		mark_format(s, node, e, MARK_APPROVAL, "%.*s: %.*s %.*s by %.*s",
			    T(x->APPROVAL.answer), T(x->APPROVAL.scope), T(x->APPROVAL.what),
			    T(x->APPROVAL.by));
	}
}

static void follow_file(struct story *s, uint32_t node, const struct journal_entry *e)
{
	const union journal_record *x = e->record;

	switch (e->kind) {
	case J_READ:
		story_at(s, node)->reads++;
		break;
	case J_WRITE:
		mark_add(s, node, e, MARK_WROTE, x->WRITE.path);
		break;
	case J_CREATE:
		mark_add(s, node, e, MARK_CREATED, x->CREATE.path);
		break;
	case J_REMOVE:
		mark_add(s, node, e, MARK_REMOVED, x->REMOVE.path);
		break;
	case J_RENAME:
		mark_format(s, node, e, MARK_RENAMED, "%.*s -> %.*s", T(x->RENAME.path),
			    T(x->RENAME.to));
		break;
	case J_LINK:
		mark_format(s, node, e, MARK_CREATED, "%.*s (a link to %.*s)", T(x->LINK.to),
			    T(x->LINK.path));
		break;
	case J_CHANGE:
		mark_add(s, node, e, MARK_CHANGED, x->CHANGE.path);
		break;
	case J_MOUNT:
		mark_format(s, node, e, MARK_CHANGED, "%.*s (mounted)", T(x->MOUNT.path));
		break;
	default:
		break;
	}
}

void story_follow(struct story *s, const struct journal_entry *e)
{
	struct process *p;
	uint32_t node;

	time_follow(s, e);
	p = processes_follow(&s->processes, e);
	node = node_of(s, p, e);
	switch (e->kind) {
	case J_EXEC:
		follow_exec(s, node, e);
		break;
	case J_EXIT:
		if (node && story_at(s, node)->pid == e->pid && story_at(s, node)->end < 0) {
			story_at(s, node)->end = s->now;
			story_at(s, node)->code = e->record->EXIT.code;
			story_at(s, node)->signal = e->record->EXIT.signal;
		}
		break;
	case J_READ:
	case J_WRITE:
	case J_CREATE:
	case J_REMOVE:
	case J_RENAME:
	case J_LINK:
	case J_CHANGE:
	case J_MOUNT:
		follow_file(s, node, e);
		break;
	case J_NAME:
	case J_CONNECT:
	case J_CLOSE:
	case J_REQUEST:
	case J_RESPONSE:
	case J_INBOUND:
		follow_net(s, node, e);
		break;
	case J_SESSION:
	case J_PROMPT:
	case J_ANSWER:
	case J_TOOL:
		follow_agent(s, node, e);
		break;
	case J_START:
	case J_STOP:
	case J_HOLE:
	case J_LIMIT:
	case J_COMMAND:
	case J_OPERATOR:
	case J_POLICY:
	case J_DENIAL:
	case J_APPROVAL:
		follow_cell(s, node, e);
		break;
	default:
		break;
	}
}

void story_before(struct story *s, const struct journal_entry *e)
{
	processes_follow(&s->processes, e);
	if (e->kind == J_START)
		cell_name(s, e);
}

bool story_table(void *story, const void *data, size_t n)
{
	struct story *s = story;

	return table_read(&s->processes, data, n, cell_name, s);
}

/* Sums, from the youngest to the oldest: parents come before their children. */
void story_end(struct story *s)
{
	for (uint32_t i = story_count(s); i--;) {
		struct story_process *n = story_at(s, i), *parent = story_at(s, n->parent);

		n->all_processes += (i ? 1 : 0) + n->processes;
		n->all_reads += n->reads;
		for (unsigned k = 0; k < MARK_KINDS; k++) {
			n->all_counts[k] += n->counts[k];
			n->notes = n->notes || (k >= MARK_DENIED && n->counts[k]);
		}
		if (!i)
			break;
		parent->all_processes += n->all_processes;
		parent->all_reads += n->all_reads;
		for (unsigned k = 0; k < MARK_KINDS; k++)
			parent->all_counts[k] += n->all_counts[k];
		parent->notes = parent->notes || n->notes;
	}
}
