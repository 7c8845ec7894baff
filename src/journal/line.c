/* See line.h. */
#include "journal/line.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "journal/show.h"

/* ---- for people ---- */

static void word(FILE *to, const char *before, struct jtext t)
{
	if (!t.n)
		return;
	fputs(before, to);
	show_text(to, t, 0);
}

static void bytes(FILE *to, const char *before, uint64_t n)
{
	char text[32];

	fprintf(to, "%s%s", before, show_bytes(n, text));
}

/* Kinds that have no form of their own: texts as they are, numbers with their names. */
static void fields_print(FILE *to, const struct journal_entry *j)
{
	const struct journal_desc *d = &journal_kinds[j->kind];

	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *f = &d->fields[i];
		const char *at = (const char *)j->record + f->offset;
		struct jtext t;
		uint64_t n;

		switch ((enum journal_type)f->type) {
		case JT_NUMBER:
			memcpy(&n, at, sizeof(n));
			if (n)
				fprintf(to, " %s %" PRIu64, f->name, n);
			break;
		case JT_SIGNED:
			memcpy(&n, at, sizeof(n));
			fprintf(to, " %s %" PRId64, f->name, (int64_t)n);
			break;
		case JT_TEXT:
			memcpy(&t, at, sizeof(t));
			word(to, " ", t);
			break;
		case JT_WORDS:
			memcpy(&t, at, sizeof(t));
			fputc(' ', to);
			show_words(to, t, 0);
			break;
		case JT_HASH:
			break;
		}
	}
}

static void exec_print(FILE *to, const struct journal_EXEC *r)
{
	fputc(' ', to);
	show_words(to, r->args, 0);
	word(to, " (", r->path);
	word(to, " in ", r->cwd);
	fputc(')', to);
}

static void connect_print(FILE *to, const struct journal_CONNECT *r)
{
	word(to, " ", r->protocol);
	word(to, " ", r->name);
	word(to, r->name.n ? " (" : " ", r->address);
	fputs(r->name.n && r->address.n ? ")" : "", to);
	fprintf(to, " port %" PRIu64, r->port);
	word(to, ": ", r->decision);
	word(to, ", ", r->rule);
}

void line_what(FILE *to, const struct journal_entry *j)
{
	const union journal_record *r = j->record;

	fprintf(to, "%-8s", journal_kinds[j->kind].name);
	switch (j->kind) {
	case J_EXEC:
		exec_print(to, &r->EXEC);
		break;
	case J_EXIT:
		fprintf(to, r->EXIT.signal ? " by signal %" PRIu64 : " %" PRIu64,
			r->EXIT.signal ? r->EXIT.signal : r->EXIT.code);
		break;
	case J_FORK:
		fprintf(to, " by %" PRIu64, r->FORK.parent);
		break;
	case J_OPEN:
		word(to, " ", r->OPEN.path);
		break;
	case J_WRITE:
		word(to, " ", r->WRITE.path);
		bytes(to, ", ", r->WRITE.size);
		break;
	case J_CONTENT:
		word(to, " ", r->CONTENT.path);
		bytes(to, ", ", r->CONTENT.size);
		if (r->CONTENT.hash) {
			fputs(", sha256 ", to);
			show_hash(to, r->CONTENT.hash);
		}
		word(to, ", no hash: ", r->CONTENT.why);
		break;
	case J_CREATE:
		word(to, " ", r->CREATE.path);
		word(to, " -> ", r->CREATE.target);
		fprintf(to, ", mode %" PRIo64, r->CREATE.mode);
		break;
	case J_RENAME:
		word(to, " ", r->RENAME.path);
		word(to, r->RENAME.exchange ? " <-> " : " -> ", r->RENAME.to);
		if (r->RENAME.replaced)
			fputs(", replacing what was there", to);
		break;
	case J_LINK:
		word(to, " ", r->LINK.path);
		word(to, " -> ", r->LINK.to);
		break;
	case J_CONNECT:
		connect_print(to, &r->CONNECT);
		break;
	case J_CLOSE:
		word(to, " ", r->CLOSE.protocol);
		word(to, " ", r->CLOSE.address);
		fprintf(to, " port %" PRIu64, r->CLOSE.port);
		bytes(to, ": in ", r->CLOSE.in);
		bytes(to, ", out ", r->CLOSE.out);
		break;
	case J_REQUEST:
		word(to, " ", r->REQUEST.method);
		word(to, " ", r->REQUEST.url);
		word(to, ": ", r->REQUEST.decision);
		if (r->REQUEST.status)
			fprintf(to, ", %" PRIu64, r->REQUEST.status);
		word(to, ", ", r->REQUEST.rule);
		break;
	case J_RESPONSE:
		fprintf(to, " %" PRIu64, r->RESPONSE.status);
		bytes(to, ", in ", r->RESPONSE.in);
		bytes(to, ", out ", r->RESPONSE.out);
		word(to, ": ", r->RESPONSE.method);
		word(to, " ", r->RESPONSE.url);
		break;
	case J_NAME:
		word(to, " ", r->NAME.name);
		word(to, " ", r->NAME.type);
		word(to, ": ", r->NAME.decision);
		word(to, ", ", r->NAME.rule);
		break;
	default:
		fields_print(to, j);
	}
}

/* A time that a captured kernel made up has a form, too. */
static void time_parts(int64_t wall, char out[40], unsigned *ret_ms)
{
	int64_t s = wall / NSEC_PER_SEC, ns = wall % NSEC_PER_SEC;
	time_t t;
	struct tm tm = { 0 };

	if (ns < 0) {
		ns += NSEC_PER_SEC;
		s--;
	}
	t = (time_t)s;
	gmtime_r(&t, &tm);
	/* 64 bits of nanoseconds end in the year 2262: it is always as long. */
	snprintf(out, 40, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	*ret_ms = (unsigned)(ns / 1000000);
}

void line_print(FILE *to, const struct journal_entry *j, struct jtext program)
{
	const char *slash = program.n ? memrchr(program.p, '/', program.n) : NULL;
	char when[40];
	size_t shown;
	unsigned ms;

	if (slash)
		program =
			(struct jtext){ slash + 1, (uint32_t)(program.p + program.n - slash - 1) };
	time_parts(j->wall, when, &ms);
	fprintf(to, "%s.%03u ", when, ms);
	if (j->pid)
		fprintf(to, "%6d ", j->pid);
	else
		fputs("     - ", to);
	/* Programs have short names of ASCII mostly; others are not cut, and so not aligned. */
	show_text(to, program, 16);
	for (shown = MIN(program.n, 16); shown < 12; shown++)
		fputc(' ', to);
	fputc(' ', to);
	line_what(to, j);
	fputc('\n', to);
}

/* ---- JSON ---- */

static void base64_member(FILE *to, const char *name, struct jtext t)
{
	char out[BASE64_SIZE(JOURNAL_TEXT_MAX)];

	if (t.n > JOURNAL_TEXT_MAX)
		return;
	base64_encode(out, t.p, t.n);
	fprintf(to, ",\"%s_base64\":\"%.*s\"", name, (int)BASE64_SIZE(t.n), out);
}

static void field_json(FILE *to, const struct journal_field *f, const char *at)
{
	const uint8_t *hash;
	struct jtext t;
	uint64_t n;

	switch ((enum journal_type)f->type) {
	case JT_NUMBER:
		memcpy(&n, at, sizeof(n));
		fprintf(to, ",\"%s\":%" PRIu64, f->name, n);
		break;
	case JT_SIGNED:
		memcpy(&n, at, sizeof(n));
		fprintf(to, ",\"%s\":%" PRId64, f->name, (int64_t)n);
		break;
	case JT_TEXT:
		memcpy(&t, at, sizeof(t));
		json_put_member(to, f->name, t);
		break;
	case JT_WORDS:
		memcpy(&t, at, sizeof(t));
		json_put_list(to, f->name, t);
		if (!text_is_utf8(t.p, t.n))
			base64_member(to, f->name, t);
		break;
	case JT_HASH:
		memcpy(&hash, at, sizeof(hash));
		json_put_hash(to, f->name, hash);
		break;
	}
}

void line_json(FILE *to, const struct journal_entry *j, struct jtext program)
{
	const struct journal_desc *d = &journal_kinds[j->kind];
	char when[40];
	unsigned ms;

	time_parts(j->wall, when, &ms);
	when[10] = 'T';
	fprintf(to, "{\"seq\":%" PRIu64 ",\"time\":\"%s.%03uZ\",\"mono\":%" PRId64 ",\"pid\":%d",
		j->seq, when, ms, j->mono, j->pid);
	/* The gate's own word for it comes with the fields. */
	if (j->kind != J_CONNECT || !j->record->CONNECT.program.n)
		json_put_member(to, "program", program);
	fprintf(to, ",\"kind\":\"%s\",\"group\":\"%s\"", d->name, d->group);
	if (j->block)
		fprintf(to, ",\"block\":%" PRIu64, j->block);
	for (unsigned i = 0; i < d->nfields; i++)
		field_json(to, &d->fields[i], (const char *)j->record + d->fields[i].offset);
	fputs("}\n", to);
}
