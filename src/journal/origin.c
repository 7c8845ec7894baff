/* See origin.h. */
#include "journal/origin.h"

#include <inttypes.h>

#include "journal/show.h"

void origin_init(struct origin *o, struct processes *t, struct process *p)
{
	*o = (struct origin){ .process = process_get(p) };
	if (!p)
		return;
	o->program = program_get(p->program);
	o->session = process_session(t, p);
	o->prompt = process_prompt(t, p);
}

void origin_settle(struct origin *o, struct processes *t, int64_t wall)
{
	struct prompt *q;

	if (!o->process || o->prompt)
		return;
	o->session = process_session(t, o->process);
	for (q = o->session ? o->session->last : NULL; q; q = q->next)
		if (q->wall <= wall && (!q->ended || q->ended >= wall))
			break;
	o->prompt = q;
}

void origin_fini(struct origin *o, struct processes *t)
{
	process_put(t, o->process);
	program_put(o->program);
	*o = (struct origin){ 0 };
}

bool origin_is(const struct origin *a, const struct origin *b)
{
	return a->process == b->process && a->program == b->program && a->prompt == b->prompt;
}

static void program_show(const struct process *p, const struct program *program, FILE *to,
			 size_t max)
{
	fprintf(to, "process %d  ", p->pid);
	if (!program)
		fputs("(its program is not known)", to);
	else if (program->args.n)
		show_words(to, program->args, max);
	else
		show_text(to, program->path, max);
	fputc('\n', to);
}

void origin_show(const struct origin *o, FILE *to, unsigned indent)
{
	const struct process *p = o->process;
	const struct program *program = o->program;
	unsigned shown = 0, more = 0;
	int in = (int)indent;

	if (!p) {
		fprintf(to, "%*sfrom outside: no process of the cell\n", in, "");
		return;
	}
	fprintf(to, "%*sby      ", in, "");
	program_show(p, program, to, 300);
	if (program) {
		fprintf(to, "%*s        program ", in, "");
		show_text(to, program->path, 300);
		if (program->cwd.n) {
			fputs(" in ", to);
			show_text(to, program->cwd, 200);
		}
		fprintf(to, ", user %" PRIu64 "\n", program->uid);
	}
	for (; p->parent; p = p->parent) {
		program = p->born ? p->born : p->parent->program;
		if (shown++ < ORIGIN_PARENTS) {
			fprintf(to, "%*sfrom    ", in, "");
			program_show(p->parent, program, to, 120);
		} else {
			more++;
		}
	}
	if (more)
		fprintf(to, "%*s        and %u more\n", in, "", more);
	if (o->prompt) {
		fprintf(to, "%*sprompt  %" PRIu64 " of session ", in, "", o->prompt->number);
		show_text(to, text_of(o->session->id), 60);
		fputs(" (", to);
		show_text(to, text_of(o->session->agent), 40);
		fputs("): ", to);
		show_text(to, o->prompt->text, 200);
		fputc('\n', to);
	} else if (o->session) {
		fprintf(to, "%*ssession ", in, "");
		show_text(to, text_of(o->session->id), 60);
		fputs(" (", to);
		show_text(to, text_of(o->session->agent), 40);
		fputs("), outside of its prompts\n", to);
	}
	if (p->command) {
		fprintf(to, "%*scommand %" PRIu64 "  ", in, "", p->command->number);
		show_words(to, p->command->args, 120);
		fputc('\n', to);
	}
}

static void program_json(const struct process *p, const struct program *program, FILE *to)
{
	fprintf(to, "\"pid\":%d,\"instance\":%" PRIu64, p->pid, p->id);
	if (!program)
		return;
	json_put_member(to, "program", program->path);
	json_put_list(to, "args", program->args);
	json_put_member(to, "cwd", program->cwd);
	fprintf(to, ",\"uid\":%" PRIu64, program->uid);
	json_put_hash(to, "program_hash", program->has_hash ? program->hash : NULL);
}

static void session_json(const struct origin *o, FILE *to)
{
	char time[40];

	if (!o->session)
		return;
	json_put_member(to, "session", text_of(o->session->id));
	json_put_member(to, "agent", text_of(o->session->agent));
	if (o->prompt) {
		fprintf(to,
			",\"prompt\":{\"number\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"time\":\"%s\"",
			o->prompt->number, o->prompt->seq, show_time_iso(o->prompt->wall, time));
		json_put_member(to, "text", o->prompt->text);
		fputc('}', to);
	}
}

void origin_json(const struct origin *o, FILE *to)
{
	const struct process *p = o->process;
	unsigned shown = 0;

	if (!p)
		return;
	fputc(',', to);
	program_json(p, o->program, to);
	fputs(",\"parents\":[", to);
	for (; p->parent; p = p->parent)
		if (shown++ < ORIGIN_PARENTS) {
			fputs(shown > 1 ? ",{" : "{", to);
			program_json(p->parent, p->born ? p->born : p->parent->program, to);
			fputc('}', to);
		}
	fputc(']', to);
	if (shown > ORIGIN_PARENTS)
		fprintf(to, ",\"parents_left_out\":%u", shown - ORIGIN_PARENTS);
	session_json(o, to);
	if (p->command) {
		fprintf(to, ",\"command\":{\"number\":%" PRIu64 ",\"seq\":%" PRIu64,
			p->command->number, p->command->seq);
		json_put_list(to, "args", p->command->args);
		fputc('}', to);
	}
}

void origin_json_short(const struct origin *o, FILE *to)
{
	if (!o->process)
		return;
	fprintf(to, ",\"instance\":%" PRIu64, o->process->id);
	if (o->program)
		json_put_member(to, "program", o->program->path);
	if (o->session)
		json_put_member(to, "session", text_of(o->session->id));
	if (o->prompt)
		fprintf(to, ",\"prompt\":%" PRIu64, o->prompt->number);
}
