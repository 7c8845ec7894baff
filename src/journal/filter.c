/* See filter.h. */
#include "journal/filter.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "policy/compiled.h"
#include "spec/values.h"

void filter_init(struct filter *f)
{
	*f = (struct filter){ .last = UINT64_MAX, .earliest = INT64_MIN, .latest = INT64_MAX };
	memset(f->kinds, true, sizeof(f->kinds));
}

int filter_kinds(struct filter *f, const char *words, struct err *e)
{
	memset(f->kinds, false, sizeof(f->kinds));
	for (;; words++) {
		size_t n = strcspn(words, ",");
		bool found = false;

		for (unsigned k = 1; k < J_KINDS; k++) {
			const struct journal_desc *d = &journal_kinds[k];

			if ((strlen(d->name) == n && !strncmp(words, d->name, n)) ||
			    (strlen(d->group) == n && !strncmp(words, d->group, n)))
				f->kinds[k] = found = true;
		}
		if (!found)
			return err_set(e, ERR_USAGE,
				       "--kind '%.*s' is not a kind of record" REMEDY
				       "use cell, exec, file, net, policy, agent, operator, or one "
				       "of docs/journal-records.md",
				       (int)MIN(n, 100), words);
		words += n;
		if (!*words)
			return 0;
	}
}

int filter_path(struct filter *f, const char *glob, struct err *e)
{
	const char *why = glob_wrong(glob);

	if (why)
		return err_set(e, ERR_USAGE,
			       "--path '%s': %s" REMEDY
			       "'*' stands for a part of a name, '**' for any path",
			       glob, why);
	f->path = glob;
	f->fixed = strcspn(glob, "*?");
	return 0;
}

int filter_process(struct filter *f, const char *text, struct err *e)
{
	uint32_t pid;
	const char *why;

	if (value_u32(text, &pid) && pid && pid <= INT32_MAX) {
		f->pid = (int32_t)pid;
		return 0;
	}
	why = glob_wrong(text);
	if (why)
		return err_set(e, ERR_USAGE,
			       "--process '%s': %s" REMEDY
			       "give the number of a process or a program",
			       text, why);
	f->program = text;
	return 0;
}

static int when_parse(const char *name, const char *text, uint64_t *seq, int64_t *wall,
		      struct err *e)
{
	struct timespec now;

	if (*text && strspn(text, "0123456789") == strlen(text)) {
		*seq = strtoull(text, NULL, 10);
		return 0;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	if (value_instant(text, now.tv_sec * NSEC_PER_SEC + now.tv_nsec, wall))
		return 0;
	return err_set(e, ERR_USAGE,
		       "--%s '%s': must be the number of a record, or a time such as 10m or "
		       "2026-01-31T12:00:00Z",
		       name, text);
}

int filter_since(struct filter *f, const char *text, struct err *e)
{
	return when_parse("since", text, &f->first, &f->earliest, e);
}

int filter_until(struct filter *f, const char *text, struct err *e)
{
	return when_parse("until", text, &f->last, &f->latest, e);
}

/* glob_match takes texts with an end. */
static bool text_matches(const char *glob, struct jtext t)
{
	char text[JOURNAL_TEXT_MAX + 1];

	if (t.n > JOURNAL_TEXT_MAX || memchr(t.p, '\0', t.n))
		return false;
	memcpy(text, t.p, t.n);
	text[t.n] = '\0';
	return glob_match(glob, text);
}

static bool path_matches(const struct filter *f, const struct journal_entry *j)
{
	const struct journal_desc *d = &journal_kinds[j->kind];

	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *field = &d->fields[i];
		struct jtext t;

		if (!journal_field_is_path(field) || !strcmp(field->name, "cwd"))
			continue;
		memcpy(&t, (const char *)j->record + field->offset, sizeof(t));
		/* Most paths differ at their beginning. */
		if (t.n < f->fixed || memcmp(t.p, f->path, f->fixed) != 0)
			continue;
		if (text_matches(f->path, t))
			return true;
	}
	return false;
}

static bool program_matches(const char *glob, struct jtext program)
{
	const char *slash;

	if (!program.n)
		return false;
	if (text_matches(glob, program))
		return true;
	slash = memrchr(program.p, '/', program.n);
	if (strchr(glob, '/') || !slash)
		return false;
	return text_matches(glob, (struct jtext){ slash + 1,
						  (uint32_t)(program.p + program.n - slash - 1) });
}

bool filter_takes(const struct filter *f, const struct journal_entry *j, struct jtext program)
{
	return f->kinds[j->kind] && j->seq >= f->first && j->seq <= f->last &&
	       j->wall >= f->earliest && j->wall <= f->latest && (!f->pid || j->pid == f->pid) &&
	       (!f->path || path_matches(f, j)) &&
	       (!f->program || program_matches(f->program, program));
}
