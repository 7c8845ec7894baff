/* viv merge: what a cell changed in its copy of a host directory comes back; see copies.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bar.h"
#include "cli/args.h"
#include "cli/copies/copies.h"
#include "cli/list.h"
#include "cli/vivd.h"

struct count {
	unsigned planned, conflicts, refused, failed, written;
};

static void plan_count(const struct plan *p, struct count *c)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct delta *d = &p->v[i];

		c->refused += d->refused != NULL;
		c->conflicts += !d->refused && d->conflict;
		c->planned += !d->refused && !d->conflict && !d->done;
		c->written += d->written;
		c->failed += d->failed[0] != '\0';
	}
}

static int cell_id(const char *name, char *id, size_t size, struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("GET", cell_path(name, "").str, NULL, &d, e) < 0)
		return -1;
	snprintf(id, size, "%s", json_show(d.root, "id"));
	json_free(&d);
	return 0;
}

/* 1: yes; 0: no; -1: nobody can be asked. */
static int is_agreed(const struct args *a, const struct count *c, struct err *e)
{
	char line[16];

	if (arg_is_on(a, "yes"))
		return 1;
	if (a->json || !isatty(0))
		return err_set(
			e, ERR_USAGE,
			"cannot ask for confirmation: standard input is not a terminal" REMEDY
			"'--yes' writes without asking, '--dry-run' only shows the changes");
	printf("\nWrite %u change%s? [y/N] ", c->planned, c->planned == 1 ? "" : "s");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static void failures_show(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!p->v[i].failed[0])
			continue;
		printf("! ");
		name_show(p->v[i].path);
		printf(": %s\n", p->v[i].failed);
	}
}

static void git_warn(const struct plan *p)
{
	if (p->with_git)
		warn("--with-git: what the cell wrote to .git can run programs here, for example "
		     "as "
		     "hooks");
}

static int discard(const struct args *a, const char *id)
{
	copies_remove(id);
	if (a->json)
		printf("{\"cell\":\"%s\",\"discarded\":true}\n", a->words[0]);
	else
		printf("Nothing of %s comes back any more. 'viv rm %s' removes the cell with its "
		       "files.\n",
		       a->words[0], a->words[0]);
	return 0;
}

static int plans_make(const struct args *a, struct copies *c, struct plan *plans, struct count *n,
		      struct err *e)
{
	const char *size = arg_value(a, "max-size");
	uint64_t max = MERGE_MAX_SIZE;

	if (size && (!value_size(size, &max) || !max || max > INT64_MAX / 4))
		return args_wrong(a, e, "--max-size '%s': must be a size such as 100M or 2G", size);
	for (unsigned i = 0; i < c->n; i++) {
		if (plan_make(&plans[i], &c->v[i], a->words[0], max, arg_is_on(a, "with-git"), e) <
		    0)
			return -1;
		plan_count(&plans[i], n);
	}
	return 0;
}

static int conflicts_refuse(const struct count *n, const struct args *a, struct err *e)
{
	if (!n->conflicts || arg_is_on(a, "beside") || arg_is_on(a, "skip-conflicts"))
		return 0;
	return err_set(
		e, ERR_CONFLICT,
		"%u file%s changed both in the cell and on the host; nothing was written" REMEDY
		"'--beside' writes the cell's version as NAME.theirs, '--skip-conflicts' "
		"leaves it out",
		n->conflicts, n->conflicts == 1 ? "" : "s");
}

static int write_all(const struct args *a, struct copies *c, struct plan *plans, struct err *e)
{
	unsigned bad = 0;
	struct count n = { 0 };

	for (unsigned i = 0; i < c->n; i++) {
		bad += plan_write(&plans[i], arg_is_on(a, "beside") ? WRITE_BESIDE : 0);
		plan_count(&plans[i], &n);
		if (a->json)
			plan_json(&plans[i], a->words[0]);
		else
			failures_show(&plans[i]);
	}
	if (copies_write(c, e) < 0)
		return -1;
	if (!a->json)
		printf("%u written, %u left out, %u failed\n", n.written, n.refused, n.failed);
	return bad ? err_set(e, ERR_FAILED, "%u of the changes could not be written", bad) : 0;
}

static int merge(const struct args *a, struct copies *c, struct plan *plans, struct err *e)
{
	struct count n = { 0 };
	bool dry = arg_is_on(a, "dry-run");
	int r = plans_make(a, c, plans, &n, e);

	if (r < 0)
		return -1;
	for (unsigned i = 0; i < c->n && !a->json; i++) {
		git_warn(&plans[i]);
		if (plans[i].n)
			printf("%s:%s -> %s\n", a->words[0], c->v[i].dst, c->v[i].dir);
		plan_show(&plans[i], !arg_is_on(a, "no-patch"));
	}
	if (!n.planned && !n.conflicts && !a->json)
		printf("There is nothing to write.\n");
	dry |= !n.planned && !n.conflicts;
	r = dry ? 0 : conflicts_refuse(&n, a, e);
	for (unsigned i = 0; i < c->n && a->json && (dry || r < 0); i++)
		plan_json(&plans[i], a->words[0]);
	if (dry || r < 0)
		return r;
	r = is_agreed(a, &n, e);
	return r > 0 ? write_all(a, c, plans, e) : r;
}

int merge_main(struct args *a, struct err *e)
{
	static struct plan plans[RUN_COPIES_MAX];
	struct copies c;
	char id[64];
	int r;

	if (arg_is_on(a, "beside") && arg_is_on(a, "skip-conflicts"))
		return args_wrong(a, e, "--beside cannot be combined with --skip-conflicts");
	if (cell_id(a->words[0], id, sizeof(id), e) < 0 || copies_read(&c, id, e) < 0)
		return -1;
	if (arg_is_on(a, "discard"))
		return discard(a, id);
	r = merge(a, &c, plans, e);
	for (unsigned i = 0; i < c.n; i++)
		plan_fini(&plans[i]);
	copies_fini(&c);
	return r;
}
