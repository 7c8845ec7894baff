/* viv agent run: one prompt for an agent in a cell of its own, from the command line: makes the
 * cell, shows what the agent says and does, asks its questions on the terminal, and ends with what
 * changed and how to look at it, keep it, or throw it away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "cli/agentcell.h"
#include "cli/args.h"
#include "cli/copies/copies.h"
#include "cli/dirchanges.h"
#include "base/safetext.h"
#include "cli/session.h"
#include "cli/sessionview.h"

#define SHOWN 20 /* changes that are listed */

struct changes {
	unsigned a, c, d, listed;
	unsigned refused; /* of a copy: more that a merge leaves out */
	const char *without; /* what is below this path is not counted; NULL */
	struct buf lines; /* the first ones, each with its NUL */
};

static void change_note(struct changes *x, char kind, const char *path)
{
	x->a += kind == 'A';
	x->c += kind == 'C';
	x->d += kind == 'D';
	if (x->listed >= SHOWN)
		return;
	x->listed++;
	buf_add(&x->lines, &kind, 1);
	buf_add(&x->lines, " ", 1);
	buf_add(&x->lines, path, strlen(path) + 1);
}

static void tree_change(void *arg, char kind, const char *path)
{
	change_note(arg, kind, path);
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return n && !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static int cell_change(void *arg, const char *line, size_t size)
{
	struct changes *x = arg;
	struct json_doc d;
	struct err e;

	if (json_parse(&d, line, size, &e) == 0) {
		const char *path = member_text(d.root, "path");

		if (!is_below(path, x->without))
			change_note(x, *member_text(d.root, "kind"),
				    *path ? path : "(a name that is not UTF-8)");
		json_free(&d);
	}
	return 0;
}

static void changes_print(const struct changes *x, const char *where, const char *all)
{
	unsigned n = x->a + x->c + x->d;

	if (!n) {
		printf("Nothing changed in %s.\n", where);
		return;
	}
	printf("Changed in %s: %u added, %u changed, %u deleted\n", where, x->a, x->c, x->d);
	for (size_t at = 0; at < x->lines.len;) {
		const char *line = (char *)x->lines.p + at;

		fputs("  ", stdout);
		safe_print(stdout, line, strlen(line), SAFE_LINE, 0);
		putchar('\n');
		at += strlen(line) + 1;
	}
	if (n > x->listed)
		printf("  … and %u more%s%s\n", n - x->listed, *all ? ": " : "", all);
}

struct run {
	struct args *a;
	struct agent_cell cell;
	struct session_id session;
	struct dir_list before;
	uint64_t prompt;
};

/* ---- the end ---- */

/* What a merge would bring back. */
static int copy_compare(const struct run *x, struct changes *ret, struct err *e)
{
	struct plan p = { 0 };
	struct copies all;
	int r = copies_read(&all, x->cell.id, e);

	if (r < 0)
		return -1;
	for (unsigned i = 0; i < all.n && !r; i++) {
		if (strcmp(all.v[i].dst, x->cell.target))
			continue;
		r = plan_make(&p, &all.v[i], x->cell.id, MERGE_MAX_SIZE, false, e);
		for (size_t k = 0; k < p.n && !r; k++) {
			if (p.v[k].refused)
				ret->refused++;
			else if (!p.v[k].done)
				change_note(ret, p.v[k].kind, p.v[k].path);
		}
		plan_fini(&p);
		break;
	}
	copies_fini(&all);
	return r;
}

static int diff_ask(const struct run *x, struct changes *ret, struct err *e)
{
	struct buf path = { 0 };
	int r;

	buf_add_text(&path, cell_path(x->cell.id, "/diff").str);
	query_add(&path, "format", "list");
	r = vivd_stream("GET", (char *)path.p, NULL, cell_change, ret, e);
	buf_free(&path);
	return r;
}

static void json_end(const struct run *x, const struct changes *cell, const struct changes *work,
		     int status)
{
	printf("{\"type\":\"end\",\"session\":\"%s\",\"cell\":\"%s\",\"status\":%d,"
	       "\"cell_changes\":{\"added\":%u,\"changed\":%u,\"deleted\":%u}",
	       x->session.id, x->cell.shown, status, cell->a, cell->c, cell->d);
	if (*x->cell.source)
		printf(",\"%s_changes\":{\"added\":%u,\"changed\":%u,\"deleted\":%u",
		       x->cell.copied ? "copy" : "mount", work->a, work->c, work->d);
	if (x->cell.copied)
		printf(",\"left_out\":%u", work->refused);
	if (*x->cell.source)
		putchar('}');
	printf("}\n");
}

static void hints_print(const struct run *x)
{
	const char *cell = x->cell.shown;

	if (x->cell.copied)
		printf("\nLook at it:   viv merge --dry-run %s; viv transcript %s\n", cell,
		       x->session.id);
	else
		printf("\nLook at it:   viv diff --patch %s; viv transcript %s\n", cell,
		       x->session.id);
	printf("Go on:        viv session prompt %s TEXT\n", x->session.id);
	if (x->cell.copied) {
		printf("Bring back:   viv merge %s\n", cell);
		printf("Throw away:   viv merge --discard %s; viv rm -f %s\n", cell, cell);
	} else {
		printf("Keep it:      viv stop %s\n", cell);
		printf("Throw away:   viv rm -f %s\n", cell);
	}
}

static int work_compare(struct run *x, struct changes *ret, bool *cut, struct err *e)
{
	struct dir_list after = { 0 };

	if (x->cell.copied)
		return copy_compare(x, ret, e);
	dir_read(&after, x->cell.source);
	dir_compare(&x->before, &after, tree_change, ret);
	*cut = x->before.cut || after.cut;
	dir_free(&after);
	return 0;
}

static void work_print(const struct run *x, const struct changes *work, bool cut)
{
	char where[4200], all[128] = "";

	snprintf(where, sizeof(where), "%s%s", x->cell.copied ? "the copy of " : "",
		 x->cell.source);
	if (x->cell.copied)
		snprintf(all, sizeof(all), "viv merge --dry-run %s", x->cell.shown);
	changes_print(work, where, all);
	if (cut)
		printf("  (not all of it could be compared)\n");
	if (work->refused)
		printf("  (besides, %u that 'viv merge' leaves out; it says why)\n", work->refused);
}

static void end_show(struct run *x, int status, bool removed)
{
	struct changes cell = { .without = x->cell.copied ? x->cell.target : NULL }, work = { 0 };
	struct err e, work_e;
	bool cut = false;
	char all[128];
	int r = diff_ask(x, &cell, &e),
	    w = *x->cell.source ? work_compare(x, &work, &cut, &work_e) : 0;

	if (x->a->json) {
		if (w < 0)
			report(&work_e);
		json_end(x, &cell, &work, status);
	} else {
		snprintf(all, sizeof(all), "viv diff %s", x->cell.shown);
		printf("\n");
		if (w < 0)
			report(&work_e);
		else if (*x->cell.source)
			work_print(x, &work, cut);
		if (!r)
			changes_print(&cell, "the cell", all);
		else
			report(&e);
		if (!removed)
			hints_print(x);
	}
	buf_free(&cell.lines);
	buf_free(&work.lines);
}

/* ---- the begin ---- */

static int session_open(struct run *x, struct err *e)
{
	static const char *const texts[] = { "mode", "model" };
	const char *append = arg_value(x->a, "append-prompt");
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_text(&b, "agent", x->cell.agent);
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		json_member_text(&b, texts[i], arg_value(x->a, texts[i]));
	json_member_text(&b, "append_prompt", append);
	if (*x->cell.target)
		json_member_text(&b, "workdir", x->cell.target);
	if (arg_is_on(x->a, "no-system-prompt"))
		json_member_add(&b, "system_prompt", "false");
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", cell_path(x->cell.id, "/sessions").str, (char *)b.p, &d, e);
	buf_free(&b);
	if (!r)
		r = session_read(d.root, &x->session, e);
	json_free(&d);
	/* Its start is of interest. */
	x->session.last = 0;
	return r;
}

static int run_watch(struct run *x, struct err *e)
{
	bool json = x->a->json, remove = arg_is_on(x->a, "rm") && x->cell.made;
	struct session_watch w = { .cell = x->session.cell,
				   .session = x->session.id,
				   .prompt = x->prompt,
				   .json = json,
				   .view = VIEW_NO_PROMPT,
				   .keys = !json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
	int status = session_watch(&w, e);

	if (status < 0 || status == 130) {
		if (!json)
			hints_print(x);
		return status;
	}
	end_show(x, status, remove);
	if (remove)
		agent_cell_drop(&x->cell);
	return status;
}

static int run_all(struct run *x, const char *text, struct err *e)
{
	if (agent_cell_get(&x->cell, e) < 0)
		return -1;
	if (*x->cell.source && !x->cell.copied)
		dir_read(&x->before, x->cell.source);
	if (session_open(x, e) < 0 || session_prompt(&x->session, text, &x->prompt, e) < 0) {
		/* Nobody has a use for a cell that was made for this alone. */
		if (x->cell.made)
			agent_cell_drop(&x->cell);
		return -1;
	}
	if (!arg_is_on(x->a, "detach"))
		return run_watch(x, e);
	if (x->a->json)
		printf("{\"session\":\"%s\",\"cell\":\"%s\",\"prompt\":%llu}\n", x->session.id,
		       x->cell.shown, (unsigned long long)x->prompt);
	else
		printf("%s\n", x->session.id);
	return 0;
}

/* --on-copy copies what would be mounted. */
static int options_read(struct run *x, struct err *e)
{
	struct agent_cell *c = &x->cell;
	const struct args *a = x->a;
	bool on_copy = arg_is_on(a, "on-copy");

	c->agent = a->words[0];
	c->name = arg_value(a, "cell");
	c->copy = arg_value(a, "copy");
	c->no_secrets = arg_is_on(a, "no-secrets");
	c->quiet = a->json;
	if (agent_cell_mounts(c, a, e) < 0)
		return -1;
	if (on_copy && (c->copy || c->nmounts > 1))
		return args_wrong(a, e, "--on-copy takes one --mount, and no --copy");
	if (on_copy) {
		c->copy = c->nmounts ? c->mounts[0] : ".";
		c->nmounts = 0;
	}
	if (arg_is_on(a, "rm") && (arg_is_on(a, "detach") || c->copy))
		return args_wrong(a, e, "--rm and --%s exclude each other",
				  c->copy ? on_copy ? "on-copy" : "copy" : "detach");
	return 0;
}

int agent_run_main(struct args *a, struct err *e)
{
	static struct run x;
	char *text;
	int r;

	x.a = a;
	if (options_read(&x, e) < 0)
		return -1;
	text = prompt_read(a->words + 1, e);
	if (!text)
		return -1;
	r = run_all(&x, text, e);
	free(text);
	dir_free(&x.before);
	return r;
}
