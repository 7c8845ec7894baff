/* See touched.h. */
#include "journal/touched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "journal/show.h"

#define LINES 8 /* of one kind, on the screen */

void touched_init(struct touched *t)
{
	memset(t, 0, sizeof(*t));
	names_init(&t->names, false);
	hosts_init(&t->hosts);
	tally_init(&t->programs);
	tally_init(&t->denials);
	tally_init(&t->approvals);
	tally_init(&t->tools);
	tally_init(&t->limits);
	tally_init(&t->operators);
	tally_init(&t->mounts);
	tally_init(&t->inbound);
	tally_init(&t->holes);
}

void touched_fini(struct touched *t)
{
	names_fini(&t->names);
	hosts_fini(&t->hosts);
	tally_fini(&t->programs);
	tally_fini(&t->denials);
	tally_fini(&t->approvals);
	tally_fini(&t->tools);
	tally_fini(&t->limits);
	tally_fini(&t->operators);
	tally_fini(&t->mounts);
	tally_fini(&t->inbound);
	tally_fini(&t->holes);
}

static void count(struct tally *t, const struct journal_entry *e, const struct jtext *parts,
		  size_t n, uint64_t more)
{
	struct tally_item *it = tally_get(t, parts, n, e->seq);

	if (it) {
		it->counts[0]++;
		it->counts[1] += more;
	}
}
#define COUNT(tally, e, more, ...)                             \
	count(tally, e, (const struct jtext[]){ __VA_ARGS__ }, \
	      sizeof((const struct jtext[]){ __VA_ARGS__ }) / sizeof(struct jtext), more)

static void text_keep(char *to, size_t size, struct jtext text)
{
	size_t n = MIN(text.n, size - 1);

	if (n)
		memcpy(to, text.p, n);
	to[n] = 0;
}

void touched_before(struct touched *t, const struct journal_entry *e)
{
	if (e->kind != J_START)
		return;
	text_keep(t->id, sizeof(t->id), e->record->START.id);
	text_keep(t->name, sizeof(t->name), e->record->START.name);
	text_keep(t->image, sizeof(t->image), e->record->START.image);
}

/* What the gate refused. */
static void net_denied(struct touched *t, const struct journal_entry *e, const char *how,
		       struct jtext where, uint64_t port, struct jtext rule)
{
	char what[JOURNAL_TEXT_MAX], digits[24] = "";
	int n;

	if (port)
		snprintf(digits, sizeof(digits), ":%" PRIu64, port);
	n = snprintf(what, sizeof(what), "%s %.*s%s", how, (int)MIN(where.n, 3000u),
		     where.n ? where.p : "", digits);
	COUNT(&t->denials, e, 0, text_of("net"),
	      ((struct jtext){ what, (uint32_t)MIN(n, (int)sizeof(what) - 1) }), rule);
}

void touched_follow(struct touched *t, const struct journal_entry *e)
{
	const union journal_record *x = e->record;
	char port[24];

	if (!t->records++) {
		t->first = e->seq;
		t->begin = MAX(e->wall, 0);
	}
	t->last = e->seq;
	t->end = MAX(e->wall, 0);
	if (e->kind < J_KINDS)
		t->kinds[e->kind]++;
	names_follow(&t->names, e);
	hosts_follow(&t->hosts, e);
	switch (e->kind) {
	case J_START:
		touched_before(t, e);
		break;
	case J_EXEC:
		COUNT(&t->programs, e, 0, x->EXEC.path);
		break;
	case J_DENIAL:
		COUNT(&t->denials, e, 0, x->DENIAL.scope, x->DENIAL.what, x->DENIAL.rule);
		break;
	case J_NAME:
		if (text_equals(x->NAME.decision, "deny"))
			net_denied(t, e, "name", x->NAME.name, 0, x->NAME.rule);
		break;
	case J_CONNECT:
		if (text_equals(x->CONNECT.decision, "deny"))
			net_denied(t, e, text_equals(x->CONNECT.protocol, "udp") ? "udp" : "tcp",
				   x->CONNECT.name.n ? x->CONNECT.name : x->CONNECT.address,
				   x->CONNECT.port, x->CONNECT.rule);
		break;
	case J_REQUEST:
		if (text_equals(x->REQUEST.decision, "deny"))
			net_denied(t, e, "request", x->REQUEST.url, 0, x->REQUEST.rule);
		break;
	case J_APPROVAL:
		COUNT(&t->approvals, e, 0, x->APPROVAL.scope, x->APPROVAL.what, x->APPROVAL.answer,
		      x->APPROVAL.by);
		break;
	case J_TOOL:
		COUNT(&t->tools, e, x->TOOL.status != 0, x->TOOL.tool);
		break;
	case J_LIMIT:
		COUNT(&t->limits, e, 0, x->LIMIT.what);
		break;
	case J_OPERATOR:
		COUNT(&t->operators, e, 0, x->OPERATOR.action, x->OPERATOR.detail);
		break;
	case J_MOUNT:
		COUNT(&t->mounts, e, 0, x->MOUNT.path);
		break;
	case J_INBOUND:
		snprintf(port, sizeof(port), "%" PRIu64, x->INBOUND.port);
		COUNT(&t->inbound, e, 0, text_of(port));
		break;
	case J_HOLE:
		COUNT(&t->holes, e, x->HOLE.count, x->HOLE.reason);
		break;
	default:
		break;
	}
}

/* ---- files for people ---- */

/* What became of each name, and under which directory of the same fate it is shown. */
struct fates {
	uint8_t *effect;
	uint32_t *group; /* itself: it is shown */
	uint64_t *below; /* how many are in the group but itself */
	uint64_t counts[NAME_EFFECTS], read;
};

static uint32_t name_above(const struct names *t, uint32_t name, bool before)
{
	const struct file *d = file_at(t, name_at(t, name)->dir);

	return before && d->origin ? d->origin : d->name;
}

static void fates_make(struct fates *f, const struct names *t)
{
	uint32_t n = names_count(t);

	memset(f, 0, sizeof(*f));
	f->effect = xalloc(n);
	f->group = xalloc(n * sizeof(*f->group));
	f->below = xalloc(n * sizeof(*f->below));
	for (uint32_t i = 1; i < n; i++) {
		struct name_story s;

		name_story(t, i, &s);
		f->effect[i] = (uint8_t)s.effect;
		f->counts[s.effect]++;
		f->read += s.read || (s.file && file_at(t, s.file)->flags & FILE_READ);
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t top = i, next;
		bool before = f->effect[i] == NAME_REMOVED;

		/* What has a group already is not followed again. A circle of lies has no top. */
		for (unsigned steps = 0; !f->group[top] && steps < 4096; steps++) {
			next = name_above(t, top, before);
			if (!next || f->effect[next] != f->effect[i])
				break;
			top = next;
		}
		top = f->group[top] ? f->group[top] : top;
		for (uint32_t k = i; k != top && !f->group[k]; k = next) {
			next = name_above(t, k, before);
			f->group[k] = top;
			f->below[top]++;
			if (!next)
				break;
		}
		f->group[top] = top;
	}
}

static void fates_free(struct fates *f)
{
	free(f->effect);
	free(f->group);
	free(f->below);
}

static void path_show(const struct names *t, uint32_t name, bool before, FILE *to)
{
	char path[NAMES_PATH];
	uint32_t n = (uint32_t)name_path(t, name, before, path);

	show_text(to, (struct jtext){ path, n }, 0);
}

static void effect_show(const struct fates *f, const struct names *t, enum name_effect effect,
			FILE *to, bool all)
{
	uint64_t shown = 0, left = 0;
	char number[32];

	for (uint32_t i = 1; i < names_count(t); i++) {
		struct name_story s;

		if (f->effect[i] != effect || (f->group[i] != i && !all))
			continue;
		if (shown >= LINES && !all) {
			left += 1 + f->below[i];
			continue;
		}
		name_story(t, i, &s);
		fprintf(to, "  %-10s", shown++ ? "" : name_effects[effect]);
		if (effect == NAME_RENAMED) {
			path_show(t, s.from, true, to);
			fputs(" -> ", to);
		}
		path_show(t, i, effect == NAME_REMOVED, to);
		if (f->below[i] && !all)
			fprintf(to, "/ and %s below it", show_number(f->below[i], number));
		fputc('\n', to);
	}
	if (left)
		fprintf(to, "  %-10sand %s more\n", "", show_number(left, number));
}

/* Where what was read is: the directories with most of it. */
static void read_show(const struct names *t, FILE *to)
{
	struct tally places;
	uint32_t *sorted;
	char path[NAMES_PATH], number[32];
	size_t shown;

	tally_init(&places);
	for (uint32_t i = 1; i < names_count(t); i++) {
		struct tally_item *it;
		const char *slash;
		struct jtext dir;
		struct name_story s;

		name_story(t, i, &s);
		if (!s.read && !(s.file && file_at(t, s.file)->flags & FILE_READ))
			continue;
		name_path(t, i, s.read, path);
		slash = strchr(*path ? path + 1 : path, '/');
		if (slash && strchr(slash + 1, '/'))
			slash = strchr(slash + 1, '/');
		dir = (struct jtext){ path, slash ? (uint32_t)(slash - path) : 1 };
		it = tally_get(&places, &dir, 1, 0);
		if (it)
			it->counts[0]++;
	}
	sorted = tally_sorted(&places, 0);
	for (shown = 0; shown < tally_count(&places) && shown < 6; shown++) {
		const struct tally_item *it = tally_at(&places, sorted[shown]);

		fprintf(to, "%s", shown ? ", " : "  read      ");
		show_text(to, tally_part(&places, it, 0), 60);
		fprintf(to, " %s", show_number(it->counts[0], number));
	}
	if (shown)
		fputs(shown < tally_count(&places) ? ", ...\n" : "\n", to);
	free(sorted);
	tally_fini(&places);
}

static void files_show(struct touched *t, FILE *to, bool all)
{
	static const enum name_effect order[] = { NAME_CREATED, NAME_WRITTEN, NAME_RENAMED,
						  NAME_REMOVED, NAME_CHANGED, NAME_TEMPORARY };
	struct fates f;
	char number[32];
	bool first = true;

	fates_make(&f, &t->names);
	fputs("Files: ", to);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (f.counts[order[i]]) {
			fprintf(to, "%s%s %s", first ? "" : ", ",
				show_number(f.counts[order[i]], number), name_effects[order[i]]);
			first = false;
		}
	if (f.read || first)
		fprintf(to, "%s%s read", first ? "" : ", ", show_number(f.read, number));
	fputc('\n', to);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		effect_show(&f, &t->names, order[i], to, all);
	read_show(&t->names, to);
	if (t->names.left_out)
		fprintf(to, "  %s records of further names are left out\n",
			show_number(t->names.left_out, number));
	fates_free(&f);
}

/* ---- the rest for people ---- */

static void tally_show(const struct tally *t, FILE *to, const char *title, bool all,
		       void (*line)(const struct tally *t, const struct tally_item *it, FILE *to))
{
	uint32_t *sorted;
	char number[32];
	size_t n = tally_count(t);

	if (!n)
		return;
	sorted = tally_sorted(t, 0);
	fprintf(to, "\n%s\n", title);
	for (size_t i = 0; i < n && (all || i < LINES); i++) {
		fputs("  ", to);
		line(t, tally_at(t, sorted[i]), to);
		fputc('\n', to);
	}
	if (!all && n > LINES)
		fprintf(to, "  and %s more\n", show_number(n - LINES + t->left_out, number));
	free(sorted);
}

static void times_show(const struct tally_item *it, FILE *to)
{
	char number[32];

	if (it->counts[0] > 1)
		fprintf(to, "  (%s times)", show_number(it->counts[0], number));
}

/* Its texts with a space between them. */
static void plain_line(const struct tally *t, const struct tally_item *it, FILE *to)
{
	for (unsigned i = 0; i < 4; i++) {
		struct jtext part = tally_part(t, it, i);

		if (part.n && i)
			fputc(' ', to);
		show_text(to, part, 120);
	}
	times_show(it, to);
}

static void program_line(const struct tally *t, const struct tally_item *it, FILE *to)
{
	char number[32];

	fprintf(to, "%7s  ", show_number(it->counts[0], number));
	show_text(to, tally_part(t, it, 0), 120);
}

static void denial_line(const struct tally *t, const struct tally_item *it, FILE *to)
{
	show_text(to, tally_part(t, it, 0), 20);
	fputs("  ", to);
	show_text(to, tally_part(t, it, 1), 160);
	if (tally_part(t, it, 2).n) {
		fputs("  by ", to);
		show_text(to, tally_part(t, it, 2), 80);
	}
	times_show(it, to);
}

static void approval_line(const struct tally *t, const struct tally_item *it, FILE *to)
{
	show_text(to, tally_part(t, it, 2), 20);
	fputs("  ", to);
	show_text(to, tally_part(t, it, 0), 20);
	fputs("  ", to);
	show_text(to, tally_part(t, it, 1), 160);
	if (tally_part(t, it, 3).n) {
		fputs("  by ", to);
		show_text(to, tally_part(t, it, 3), 60);
	}
	times_show(it, to);
}

static void host_line(const struct tally *t, const struct tally_item *it, FILE *to)
{
	static const struct {
		uint8_t which;
		const char *one, *many;
	} words[] = {
		{ HOST_ALLOWED, "connection", "connections" },
		{ HOST_AUDITED, "of them audited", "of them audited" },
		{ HOST_DENIED, "denied", "denied" },
		{ HOST_FAILED, "failed", "failed" },
		{ HOST_REQUESTS, "request", "requests" },
		{ HOST_REQUESTS_DENIED, "request denied", "requests denied" },
		{ HOST_LOOKUPS, "lookup", "lookups" },
	};
	char number[32];

	show_text(to, tally_part(t, it, 0), 80);
	if (tally_part(t, it, 1).n) {
		fputc(':', to);
		show_text(to, tally_part(t, it, 1), 0);
	}
	fputc(' ', to);
	show_text(to, tally_part(t, it, 2), 8);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (it->counts[words[i].which])
			fprintf(to, ", %s %s", show_number(it->counts[words[i].which], number),
				it->counts[words[i].which] == 1 ? words[i].one : words[i].many);
	if (it->counts[HOST_IN] || it->counts[HOST_OUT]) {
		fprintf(to, ", %s in", show_bytes(it->counts[HOST_IN], number));
		fprintf(to, ", %s out", show_bytes(it->counts[HOST_OUT], number));
	}
}

static void head_show(const struct touched *t, FILE *to)
{
	char text[40], number[32];

	if (t->id[0]) {
		fputs("Cell ", to);
		show_text(to, text_of(t->name[0] ? t->name : t->id), 0);
		if (t->image[0]) {
			fputs(", image ", to);
			show_text(to, text_of(t->image), 100);
		}
		fputc('\n', to);
	}
	if (!t->records) {
		fputs("No records.\n", to);
		return;
	}
	fprintf(to, "%s UTC", show_time(t->begin, text));
	fprintf(to, " to %s", show_time(t->end, text));
	fprintf(to, " (%s)", show_duration(t->end - t->begin, text));
	fprintf(to, ", %s records", show_number(t->records, number));
	fprintf(to, ", %" PRIu64 " to %" PRIu64 "\n\n", t->first, t->last);
}

void touched_show(struct touched *t, FILE *to, bool all)
{
	char title[96], number[32], other[32];

	names_settle(&t->names);
	head_show(t, to);
	if (!t->records)
		return;
	files_show(t, to, all);
	snprintf(title, sizeof(title), "Programs: %s started, %s different",
		 show_number(t->kinds[J_EXEC], number),
		 show_number(tally_count(&t->programs), other));
	tally_show(&t->programs, to, title, all, program_line);
	tally_show(&t->hosts.tally, to, "Hosts", all, host_line);
	tally_show(&t->inbound, to, "Connections from the host, by port", all, plain_line);
	tally_show(&t->denials, to, "Denied", all, denial_line);
	tally_show(&t->approvals, to, "Approvals", all, approval_line);
	tally_show(&t->tools, to, "Tools of the host", all, plain_line);
	tally_show(&t->mounts, to, "Mounts", all, plain_line);
	tally_show(&t->limits, to, "Limits", all, plain_line);
	tally_show(&t->operators, to, "Operator", all, plain_line);
	tally_show(&t->holes, to, "Records are missing", all, plain_line);
}

/* ---- for programs ---- */

static void file_json(const struct names *t, uint32_t i, const struct name_story *s, FILE *to,
		      bool *first)
{
	const struct file *f = file_at(t, s->file);
	bool read = s->read || f->flags & FILE_READ;
	char path[NAMES_PATH];
	struct jtext text = { path, 0 };

	if (s->effect == NAME_NONE && !read)
		return;
	fputs(*first ? "\n" : ",\n", to);
	*first = false;
	text.n = (uint32_t)name_path(
		t, i, s->effect == NAME_REMOVED || (s->effect == NAME_NONE && s->read), path);
	fprintf(to, "  {\"effect\":\"%s\"", s->effect ? name_effects[s->effect] : "read");
	json_put_member(to, "path", text);
	if (s->effect == NAME_RENAMED) {
		text.n = (uint32_t)name_path(t, s->from, true, path);
		json_put_member(to, "from", text);
		if (f->flags & FILE_WRITTEN)
			fputs(",\"written\":true", to);
	}
	if (f->flags & FILE_DIRECTORY)
		fputs(",\"directory\":true", to);
	if (read)
		fputs(",\"read\":true", to);
	if (f->flags & FILE_WRITTEN && s->effect != NAME_REMOVED)
		fprintf(to, ",\"size\":%" PRIu64, f->size);
	fputc('}', to);
}

static void tally_json(const struct tally *t, FILE *to, const char *title, const char *const *texts,
		       const char *const *counts)
{
	fprintf(to, ",\n\"%s\":[", title);
	for (size_t i = 0; i < tally_count(t); i++) {
		const struct tally_item *it = tally_at(t, i);

		fprintf(to, "%s\n  {\"first\":%" PRIu64, i ? "," : "", it->seq);
		for (unsigned k = 0; texts[k]; k++)
			json_put_member(to, texts[k], tally_part(t, it, k));
		for (unsigned k = 0; counts[k]; k++)
			fprintf(to, ",\"%s\":%" PRIu64, counts[k], it->counts[k]);
		fputc('}', to);
	}
	fputc(']', to);
	if (t->left_out)
		fprintf(to, ",\n\"%s_left_out\":%" PRIu64, title, t->left_out);
}
#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

void touched_json(struct touched *t, FILE *to)
{
	char time[40];
	bool first = true;

	names_settle(&t->names);
	fprintf(to, "{\"records\":%" PRIu64 ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, t->records,
		t->first, t->last);
	if (t->records) {
		fprintf(to, ",\"begin\":\"%s\"", show_time_iso(t->begin, time));
		fprintf(to, ",\"end\":\"%s\"", show_time_iso(t->end, time));
	}
	json_put_member(to, "cell", text_of(t->id));
	json_put_member(to, "name", text_of(t->name));
	json_put_member(to, "image", text_of(t->image));
	fputs(",\n\"files\":[", to);
	for (uint32_t i = 1; i < names_count(&t->names); i++) {
		struct name_story s;

		name_story(&t->names, i, &s);
		file_json(&t->names, i, &s, to, &first);
	}
	fputc(']', to);
	if (t->names.left_out)
		fprintf(to, ",\n\"files_left_out\":%" PRIu64, t->names.left_out);
	tally_json(&t->programs, to, "programs", TEXTS("path"), TEXTS("count"));
	tally_json(&t->hosts.tally, to, "hosts", TEXTS("host", "port", "protocol"),
		   TEXTS("connections", "denied", "failed", "in", "out", "requests",
			 "requests_denied", "lookups", "audited"));
	tally_json(&t->inbound, to, "inbound", TEXTS("port"), TEXTS("count"));
	tally_json(&t->denials, to, "denials", TEXTS("scope", "what", "rule"), TEXTS("count"));
	tally_json(&t->approvals, to, "approvals", TEXTS("scope", "what", "answer", "by"),
		   TEXTS("count"));
	tally_json(&t->tools, to, "tools", TEXTS("tool"), TEXTS("count", "failed"));
	tally_json(&t->mounts, to, "mounts", TEXTS("path"), TEXTS("count"));
	tally_json(&t->limits, to, "limits", TEXTS("what"), TEXTS("count"));
	tally_json(&t->operators, to, "operator", TEXTS("action", "detail"), TEXTS("count"));
	tally_json(&t->holes, to, "holes", TEXTS("reason"), TEXTS("count", "records"));
	fputs("}\n", to);
}
