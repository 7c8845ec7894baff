/* See plan.h. */
#include "cli/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safetext.h"
#include "cli/cli.h"
#include "cli/vivd.h"

static const struct {
	const char *action, *sign, *words, *colour;
	bool work;
} actions[] = {
	{ "create", "+", "create", "32", true },
	{ "keep", "=", "", "", false },
	{ "start", "~", "start", "33", true },
	{ "change", "~", "change", "33", true },
	{ "restart", "~", "change and restart", "33", true },
	{ "recreate", "~", "recreate", "31", true },
	{ "remove", "-", "remove", "31", true },
	{ "orphan", "?", "not in the file; --remove-orphans removes it", "", false },
	{ "needs-restart", "!", "needs a restart", "33", false },
	{ "needs-recreate", "!", "must be recreated, which removes its files; --recreate does so",
	  "31", false },
};

void plan_print_init(struct plan_print *p, bool json, bool dry_run, bool down)
{
	const char *no = getenv("NO_COLOR");

	*p = (struct plan_print){ .json = json, .dry_run = dry_run, .down = down };
	p->colour = !json && isatty(1) && !(no && *no);
}

static void sign_print(const struct plan_print *p, const char *sign, const char *colour)
{
	if (p->colour && *colour)
		printf("  \033[%sm%s\033[0m ", colour, sign);
	else
		printf("  %s ", sign);
}

static void list_print(const struct json *list)
{
	const char *between = ": ";

	for (const struct json *v = list ? list->first : NULL; v; v = v->next) {
		printf("%s%s", between, v->text ? v->text : "");
		between = ", ";
	}
}

static void action_print(struct plan_print *p, const struct json *a)
{
	const char *action = json_show(a, "action");
	unsigned i = 0;

	while (i < ARRAY_LEN(actions) && strcmp(actions[i].action, action))
		i++;
	if (i == ARRAY_LEN(actions))
		return;
	p->work += actions[i].work;
	p->later |= !strcmp(action, "needs-restart");
	p->refused |= !strcmp(action, "needs-recreate");
	if (p->json)
		return;
	sign_print(p, actions[i].sign, actions[i].colour);
	printf(*actions[i].words ? "%-20s %s" : "%s%s", json_show(a, "cell"), actions[i].words);
	list_print(json_get(a, "changes", JSON_LIST));
	printf("\n");
}

/* Workflows and schedules. */
static void automation_print(struct plan_print *p, const struct json *a)
{
	static const struct {
		const char *action, *sign, *colour;
	} signs[] = { { "create", "+", "32" }, { "change", "~", "33" }, { "remove", "-", "31" } };
	const char *action = json_show(a, "action"), *workflow = json_show(a, "workflow");
	const char *name = *workflow ? workflow : json_show(a, "schedule");
	unsigned i = 0;

	while (i < ARRAY_LEN(signs) && strcmp(signs[i].action, action))
		i++;
	p->work += i < ARRAY_LEN(signs);
	if (p->json)
		return;
	if (i == ARRAY_LEN(signs)) {
		sign_print(p, "=", "");
		printf("%s\n", name);
		return;
	}
	sign_print(p, signs[i].sign, signs[i].colour);
	printf("%-20s %s the %s\n", name, action, *workflow ? "workflow" : "schedule");
}

static void plan_show(struct plan_print *p, const struct json *o)
{
	const struct json *automation = json_get(o, "automation", JSON_LIST);
	const struct json *list = json_get(o, "actions", JSON_LIST),
			  *volumes = json_get(o, "volumes", JSON_LIST);

	p->planned = true;
	if (!p->json)
		printf("project %s\n", json_show(o, "project"));
	for (const struct json *a = list ? list->first : NULL; a; a = a->next)
		action_print(p, a);
	for (const struct json *v = volumes ? volumes->first : NULL; v; v = v->next) {
		p->work++;
		if (p->json)
			continue;
		sign_print(p, p->down ? "-" : "+", p->down ? "31" : "32");
		printf("%-20s %s\n", v->text, p->down ? "remove the volume" : "make the volume");
	}
	for (const struct json *a = automation ? automation->first : NULL; a; a = a->next)
		automation_print(p, a);
}

/* The beginning of its result, in one line; 'viv wait --result' prints all. */
static void completed_show(const struct json *o)
{
	const struct json *m = o->first;

	while (m && strcmp(m->key, "result"))
		m = m->next;
	printf("%s: completed", json_show(o, "cell"));
	if (m) {
		char *text = NULL;
		size_t n = 0;
		FILE *to = open_memstream(&text, &n);

		if (to) {
			json_value_print(to, m, false);
			fclose(to);
			printf(": ");
			printf("%s", safe_print(stdout, text, n, SAFE_LINE, 200) < n ? "..." : "");
		}
		free(text);
	}
	printf("\n");
}

static void step_show(const struct json *o)
{
	static const char *const kinds[] = { "volume", "workflow", "schedule" };
	const char *step = json_show(o, "step");

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (*json_show(o, kinds[i])) {
			printf("%s %s: %s\n", kinds[i], json_show(o, kinds[i]), step);
			return;
		}
	if (!strcmp(step, "waiting"))
		printf("%s: waiting for %s\n", json_show(o, "cell"), json_show(o, "for"));
	else if (!strcmp(step, "exited"))
		printf("%s: ended with status %s\n", json_show(o, "cell"),
		       json_show(o, "exit_code"));
	else if (!strcmp(step, "completed"))
		completed_show(o);
	else
		printf("%s: %s\n", json_show(o, "cell"), step);
}

static void failure_show(const struct json *o)
{
	static const char *const kinds[] = { "volume", "workflow", "schedule", "project" };
	const char *kind = "", *name = json_show(o, "cell");
	struct err e;

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (*json_show(o, kinds[i])) {
			kind = kinds[i];
			name = json_show(o, kind);
		}
	json_get_err(o, 0, &e);
	err_wrap(&e, "%s%s%s", kind, *kind ? " " : "", name);
	report(&e);
}

int plan_line(void *arg, const char *line, size_t size)
{
	struct plan_print *p = arg;
	struct json_doc d;
	const char *type;
	struct err e;

	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	type = json_show(d.root, "type");
	if (p->json)
		printf("%s\n", line);
	if (!strcmp(type, "plan")) {
		plan_show(p, d.root);
	} else if (!strcmp(type, "step") && !p->json) {
		step_show(d.root);
	} else if (!strcmp(type, "failed") && !p->json) {
		fflush(stdout);
		failure_show(d.root);
	} else if (!strcmp(type, "end")) {
		p->ended = true;
		json_get_u64(d.root, "changed", &p->changed);
		json_get_u64(d.root, "unchanged", &p->same);
		json_get_u64(d.root, "failed", &p->failed);
	}
	json_free(&d);
	return fflush(stdout) ? 1 : 0;
}

int plan_print_end(struct plan_print *p, struct err *e)
{
	if (!p->planned || !p->ended)
		return err_set(e, ERR_FAILED,
			       "vivd broke off" REMEDY
			       "ask again, and it goes on from where it is");
	if (p->refused)
		return err_set(e, ERR_CONFLICT,
			       "nothing was changed: a cell's image cannot be changed" REMEDY
			       "--recreate recreates it, without the files in it");
	if (p->json)
		return p->failed ? ERR_FAILED : 0;
	if (p->dry_run)
		printf("%s\n", p->work ? "dry run: nothing was changed" : "nothing to do");
	else if (!p->changed && !p->failed)
		printf("nothing to do\n");
	else
		printf("%u changed, %u unchanged, %u failed\n", (unsigned)p->changed,
		       (unsigned)p->same, (unsigned)p->failed);
	if (p->later && !p->dry_run)
		printf("'viv apply --restart' restarts what needs it\n");
	return p->failed ? ERR_FAILED : 0;
}
