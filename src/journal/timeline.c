/* A run as text: a line for each process, indented below its parent, with the time since the
 * beginning; under it what it changed and whom it contacted; denials, approvals, prompts and limits
 * between the processes, where they happened. Many alike (a compiler that runs a hundred
 * times) are one line. */
#include "journal/story.h"

#include <inttypes.h>
#include <string.h>

#include "journal/show.h"

#define DEPTH_SHOWN 30 /* indentation ends there */
#define ALIKE 5 /* so many alike, one after the other, are one line */
#define MARKS_SHOWN 6 /* of a kind, of a process */

static void line_begin(FILE *to, int64_t at, unsigned depth)
{
	if (at < 0)
		fprintf(to, "%13s", "");
	else
		fprintf(to, "%11.3f  ", (double)at / NSEC_PER_SEC);
	fprintf(to, "%*s", (int)(2 * MIN(depth, DEPTH_SHOWN)), "");
}

static struct jtext program_of(const struct story *s, const struct story_process *n)
{
	return story_text(s, n->program, n->nprogram);
}

/* node, or with !one all of its siblings from it up to until. */
#define EACH(i)                                         \
	for (uint32_t i = node, more_##i = 1; more_##i; \
	     i = story_at(s, i)->next, more_##i = !one && i != until)

/* What a process or many of them did, a line for each kind with its first texts. */
static void effects_show(const struct story *s, uint32_t node, uint32_t until, bool one, FILE *to,
			 unsigned depth)
{
	const struct story_process *n = story_at(s, node);
	char number[32];
	uint64_t reads = 0, in = 0, out = 0;

	for (unsigned k = 0; k < MARK_DENIED; k++) {
		uint64_t count = 0, shown = 0;

		EACH(i)
		count += one ? story_at(s, i)->counts[k] : story_at(s, i)->all_counts[k];
		if (!count)
			continue;
		line_begin(to, -1, depth + 1);
		fprintf(to, "%s ", mark_names[k]);
		if (!one)
			fprintf(to, "%s: ", show_number(count, number));
		EACH(i)
		for (uint32_t m = story_at(s, i)->mark_first; m && shown < MARKS_SHOWN;
		     m = mark_at(s, m)->next) {
			const struct story_mark *mark = mark_at(s, m);

			if (mark->kind != k)
				continue;
			fputs(shown++ ? ", " : "", to);
			show_text(to, story_text(s, mark->text, mark->n), 120);
		}
		if (count > shown)
			fprintf(to, "%s%s%s", shown ? " and " : "",
				show_number(count - shown, number), shown ? " more" : "");
		fputc('\n', to);
	}
	EACH(i)
	{
		reads += one ? story_at(s, i)->reads : story_at(s, i)->all_reads;
		in += story_at(s, i)->in;
		out += story_at(s, i)->out;
	}
	if (in || out) {
		line_begin(to, -1, depth + 1);
		fprintf(to, "%s in, ", show_bytes(in, number));
		fprintf(to, "%s out\n", show_bytes(out, number));
	}
	if (reads) {
		line_begin(to, -1, depth + 1);
		fprintf(to, "read %s %s\n", show_number(reads, number),
			reads == 1 ? "file" : "files");
	}
	if (one && n->processes) {
		line_begin(to, -1, depth + 1);
		fprintf(to, "and %s further processes\n", show_number(n->processes, number));
	}
}

static void process_show(const struct story *s, uint32_t node, FILE *to, unsigned depth)
{
	const struct story_process *n = story_at(s, node);
	char text[32];

	line_begin(to, n->start, depth);
	if (!n->nprogram)
		fprintf(to, "process %d", n->pid);
	else if (n->execs && n->nargs)
		show_words(to, story_text(s, n->args, n->nargs), 160);
	else
		show_text(to, program_of(s, n), 160);
	if (!n->execs && n->nprogram)
		fputs(" (a copy of its parent)", to);
	if (n->end < 0)
		fputs("  [still running]", to);
	else
		fprintf(to, "  [%s]", show_duration(n->end - n->start, text));
	if (n->signal)
		fprintf(to, "  ended by signal %" PRIu64, n->signal);
	else if (n->code)
		fprintf(to, "  exit status %" PRIu64, n->code);
	fputc('\n', to);
	effects_show(s, node, 0, true, to, depth);
}

static void mark_show(const struct story *s, const struct story_mark *m, FILE *to, unsigned depth)
{
	line_begin(to, m->at, depth);
	fprintf(to, "* %s: ", mark_names[m->kind]);
	show_text(to, story_text(s, m->text, m->n), 200);
	fputc('\n', to);
}

static bool is_alike(const struct story *s, const struct story_process *a,
		     const struct story_process *b)
{
	struct jtext x = program_of(s, a), y = program_of(s, b);

	return !b->notes && x.n == y.n && x.n && !memcmp(x.p, y.p, x.n);
}

/* Those from node on, of at most the notes before next_note, that are alike: where they end. 0 as
 * an end is the last sibling's next. */
static uint32_t run_end(const struct story *s, uint32_t node, uint64_t next_note, uint64_t *count)
{
	const struct story_process *first = story_at(s, node);
	uint32_t i = node;

	*count = 0;
	while (i && story_at(s, i)->seq < next_note && is_alike(s, first, story_at(s, i))) {
		i = story_at(s, i)->next;
		++*count;
	}
	return i;
}

static void run_show(const struct story *s, uint32_t node, uint32_t until, uint64_t count, FILE *to,
		     unsigned depth)
{
	uint64_t processes = 0, failed = 0;
	char number[32];
	int64_t took = 0;

	for (uint32_t i = node; i != until; i = story_at(s, i)->next) {
		const struct story_process *n = story_at(s, i);

		processes += n->all_processes;
		failed += n->code || n->signal;
		if (n->end > n->start && took < INT64_MAX / 2)
			took += MIN(n->end - n->start, INT64_MAX / 2);
	}
	line_begin(to, story_at(s, node)->start, depth);
	show_text(to, program_of(s, story_at(s, node)), 160);
	fprintf(to, "  %s times", show_number(count, number));
	if (processes > count)
		fprintf(to, " (%s processes)", show_number(processes, number));
	fprintf(to, "  [%s in all]", show_duration(took, number));
	if (failed)
		fprintf(to, "  %s failed", show_number(failed, number));
	fputc('\n', to);
	effects_show(s, node, until, false, to, depth);
}

static uint32_t next_note(const struct story *s, uint32_t mark)
{
	while (mark && mark_at(s, mark)->kind < MARK_DENIED)
		mark = mark_at(s, mark)->next;
	return mark;
}

/* Where the story is within a process: its next child and its next note. */
struct place {
	uint32_t node, child, note;
};

static void tree_show(const struct story *s, FILE *to)
{
	struct buf stack = { 0 };
	struct place *p = buf_more(&stack, sizeof(*p));

	*p = (struct place){ 0, story_at(s, 0)->first, next_note(s, story_at(s, 0)->mark_first) };
	while (stack.len) {
		size_t depth = BUF_COUNT(&stack, struct place) - 1;
		uint64_t count;
		uint32_t child, end;

		p = BUF_ITEM(&stack, struct place, depth);
		if (p->note &&
		    (!p->child || mark_at(s, p->note)->seq <= story_at(s, p->child)->seq)) {
			mark_show(s, mark_at(s, p->note), to, (unsigned)depth);
			p->note = next_note(s, mark_at(s, p->note)->next);
			continue;
		}
		if (!p->child) {
			stack.len -= sizeof(*p);
			continue;
		}
		child = p->child;
		end = run_end(s, child, p->note ? mark_at(s, p->note)->seq : UINT64_MAX, &count);
		if (count >= ALIKE) {
			run_show(s, child, end, count, to, (unsigned)depth);
			p->child = end;
			continue;
		}
		p->child = story_at(s, child)->next;
		process_show(s, child, to, (unsigned)depth);
		p = buf_more(&stack, sizeof(*p));
		*p = (struct place){ child, story_at(s, child)->first,
				     next_note(s, story_at(s, child)->mark_first) };
	}
	buf_free(&stack);
}

void timeline_show(const struct story *s, FILE *to)
{
	char text[40], number[32];

	if (s->id[0]) {
		fputs("Cell ", to);
		show_text(to, text_of(s->name[0] ? s->name : s->id), 0);
		if (s->image[0]) {
			fputs(", image ", to);
			show_text(to, text_of(s->image), 100);
		}
		fputc('\n', to);
	}
	fprintf(to, "From %s UTC", show_time(s->begin, text));
	fprintf(to, ", %s", show_duration(s->now, text));
	fprintf(to, ", %s processes", show_number(story_at(s, 0)->all_processes, number));
	fprintf(to, ", %s records\n\n", show_number(s->records, number));
	tree_show(s, to);
	effects_show(s, 0, 0, true, to, 0);
	if (s->left_out)
		fprintf(to, "\n%s further changes and events are only counted.\n",
			show_number(s->left_out, number));
}
