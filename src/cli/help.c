/* viv help and version; and the synopsis of the man page, which 'viv help --man' prints and a check
 * compares with docs/viv.1. */
#include "cli/help.h"

#include <string.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "spec/options.h"

#define USAGE_OPTIONS_MAX 6 /* that a usage line names one by one */

static bool is_second(const struct verb *v)
{
	return strchr(v->name, ' ') != NULL;
}

static bool is_of(const struct verb *v, const struct verb *group)
{
	size_t n = strlen(group->name);

	return !strncmp(v->name, group->name, n) && v->name[n] == ' ';
}

/* By what somebody wants to do, the usual ones first. A verb that is in none of them is shown at the end. */
static const struct {
	const char *title;
	const char *verbs[16];
} groups[] = {
	{ "Run commands", { "run", "exec", "shell", "attach" } },
	{ "Work with agents", { "agent", "session", "transcript", "acp", "mcp" } },
	{ "Manage cells",
	  { "create", "start", "stop", "restart", "pause", "resume", "sleep", "wake", "kill",
	    "wait", "update", "rename", "rm" } },
	{ "Look at cells",
	  { "ps", "ls", "tree", "inspect", "logs", "stats", "top", "events", "journal", "touched",
	    "blame", "timeline" } },
	{ "Network, secrets and permissions",
	  { "policy", "approvals", "secret", "tool", "port", "preview" } },
	{ "Files and snapshots",
	  { "cp", "diff", "merge", "snapshot", "rollback", "fork", "commit", "verify" } },
	{ "Images and volumes", { "image", "volume" } },
	{ "Projects (vivarium.yaml)", { "init", "up", "apply", "down" } },
	{ "Automation", { "cron", "workflow" } },
	{ "Daemon and API", { "daemon", "token" } },
	{ "This machine", { "doctor", "system", "prune", "completion", "help", "version" } },
};

static bool is_grouped(const struct verb *v)
{
	for (unsigned g = 0; g < ARRAY_LEN(groups); g++)
		for (unsigned i = 0; i < ARRAY_LEN(groups[0].verbs) && groups[g].verbs[i]; i++)
			if (!strcmp(groups[g].verbs[i], v->name))
				return true;
	return false;
}

static void summary_print(FILE *to, const struct verb *v)
{
	fprintf(to, "  %-10s  %s\n", v->name, v->summary);
}

void usage_print(FILE *to)
{
	fprintf(to, "Usage: viv COMMAND [OPTIONS]\n\n"
		    "Run programs in cells. Each cell is a Linux computer of its own: kernel, "
		    "files, processes, users and limits.\n");
	for (unsigned g = 0; g < ARRAY_LEN(groups); g++) {
		fprintf(to, "\n%s:\n", groups[g].title);
		for (unsigned i = 0; i < ARRAY_LEN(groups[0].verbs) && groups[g].verbs[i]; i++)
			summary_print(to, verb_find(groups[g].verbs[i]));
	}
	for (unsigned i = 0; i < nverbs; i++)
		if (!is_second(&verbs[i]) && !is_grouped(&verbs[i]))
			summary_print(to, &verbs[i]);
	fprintf(to, "\n'viv help COMMAND' or 'viv COMMAND --help' describes a command.\n"
		    "Try: viv run -- uname -a\n");
}

const struct verb *verb_find(const char *name)
{
	for (unsigned i = 0; i < nverbs; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void text_add(char *text, size_t size, const char *more)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s", more);
}

static void option_add(char *text, size_t size, const struct opt *o)
{
	char word[96];

	if (!o->help)
		return;
	if (o->letter)
		snprintf(word, sizeof(word), " [-%c%s%s]", o->letter, o->value ? " " : "",
			 o->value ? o->value : "");
	else
		snprintf(word, sizeof(word), " [--%s%s%s]", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
	text_add(text, size, word);
}

const char *verb_usage(const struct verb *v, char *text, size_t size)
{
	snprintf(text, size, "viv %s", v->name);
	if (v->flags & VERB_GROUP) {
		text_add(text, size, " COMMAND");
	} else if (v->nopts > USAGE_OPTIONS_MAX) {
		text_add(text, size, " [OPTIONS]");
	} else {
		for (unsigned i = 0; i < v->nopts; i++)
			option_add(text, size, &v->opts[i]);
		if (!(v->flags & VERB_OWN))
			option_add(text, size, &common_opts[0]);
	}
	if (v->args && *v->args) {
		text_add(text, size, " ");
		text_add(text, size, v->args);
	}
	return text;
}

static void option_print(const struct opt *o)
{
	char left[64], letter[8] = "    ";

	if (!o->help)
		return;
	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "",
		 o->value ? o->value : "");
	printf("  %-30s %s\n", left, o->help);
}

static void options_print(const struct verb *v)
{
	if (v->nopts || !(v->flags & VERB_OWN))
		printf("\n");
	for (unsigned i = 0; i < v->nopts; i++)
		option_print(&v->opts[i]);
	if (!(v->flags & VERB_OWN))
		for (unsigned i = 0; i < ncommon_opts; i++)
			option_print(&common_opts[i]);
}

void verb_help(const struct verb *v)
{
	char usage[600];

	if (v->help) {
		v->help();
		return;
	}
	printf("Usage: %s\n\n", verb_usage(v, usage, sizeof(usage)));
	if (v->about)
		printf("%s\n", v->about);
	else
		printf("%c%s.\n", v->summary[0] & ~0x20, v->summary + 1);
	if (v->flags & VERB_GROUP) {
		printf("\n");
		for (unsigned i = 0; i < nverbs; i++)
			if (is_of(&verbs[i], v))
				printf("  %-58s %s\n", verb_usage(&verbs[i], usage, sizeof(usage)),
				       verbs[i].summary);
		return;
	}
	options_print(v);
	if (v->flags & VERB_GUEST)
		printf("\nExit status: the command's; 124 timeout, 125 viv failed, 126 not "
		       "executable, 127 not found,\n128+N ended by signal N.\n");
}

/* ---- the man page ---- */

static void man_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '-' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
}

/* "viv stop" bold, the rest as it is. */
static void man_print(void)
{
	char usage[600];

	for (unsigned i = 0; i < nverbs; i++) {
		if (verbs[i].flags & VERB_GROUP)
			continue;
		verb_usage(&verbs[i], usage, sizeof(usage));
		printf(".B viv %s\n", verbs[i].name);
		man_text(usage + strlen("viv ") + strlen(verbs[i].name) +
			 (usage[strlen("viv ") + strlen(verbs[i].name)] == ' '));
		printf("\n.br\n");
	}
}

/* One line for each option of each verb: "stop --time -t". */
static void options_list(void)
{
	for (unsigned i = 0; i < nverbs; i++)
		for (unsigned k = 0; k < verbs[i].nopts; k++)
			if (verbs[i].opts[k].help)
				printf("%s --%s\n", verbs[i].name, verbs[i].opts[k].name);
}

/* ---- the settings of a cell, for tools/gen-spec ---- */

static void member(const char *name, const char *value)
{
	if (!value)
		return;
	printf(",\"%s\":", name);
	json_quoted(stdout, value);
}

static void setting_print(unsigned i)
{
	static const char *const types[] = {
		[SETTING_TEXT] = "text",     [SETTING_PATH] = "path",
		[SETTING_FLAG] = "flag",     [SETTING_CHOICE] = "choice",
		[SETTING_COUNT] = "count",   [SETTING_CPUS] = "cpus",
		[SETTING_SIZE] = "size",     [SETTING_TIME] = "time",
		[SETTING_WORDS] = "words",   [SETTING_MAP] = "map",
		[SETTING_MOUNTS] = "mounts", [SETTING_RESTART] = "restart",
		[SETTING_OWN] = "own",
	};
	static const char *const flags[] = { "live", "warm", "place", "vivd",	  "yaml", "vars",
					     "word", "zero", "host",  "required", "each" };
	const struct setting *s = &settings[i];
	const char *const *words = setting_choices(i);
	const char letter[2] = { run_opts[i].letter };

	printf("{\"type\":\"%s\"", types[s->type]);
	member("json", s->json);
	member("option", run_opts[i].name);
	member("letter", *letter ? letter : NULL);
	member("value", run_opts[i].value);
	printf(",\"min\":%.10g,\"max\":%.10g,\"flags\":[", s->min, s->max);
	for (unsigned k = 0, n = 0; k < ARRAY_LEN(flags); k++)
		if (s->flags & (1u << k))
			printf("%s\"%s\"", n++ ? "," : "", flags[k]);
	printf("],\"choices\":[");
	for (unsigned k = 0; words[k]; k++)
		printf("%s\"%s\"", k ? "," : "", words[k]);
	printf("]");
	member("help", run_opts[i].help);
	printf("}\n");
}

static void settings_print(void)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if (run_opts[i].help)
			setting_print(i);
	for (unsigned i = 0; i < MOUNT_FIELDS; i++) {
		printf("{\"type\":\"%s\",\"mount\":\"%s\",\"required\":%s",
		       mount_fields[i].type == SETTING_FLAG   ? "flag"
		       : mount_fields[i].type == SETTING_SIZE ? "size"
							      : "text",
		       mount_fields[i].name, mount_fields[i].required ? "true" : "false");
		member("help", mount_fields[i].help);
		printf("}\n");
	}
}

static void verbs_json(void)
{
	for (unsigned i = 0; i < nverbs; i++) {
		printf("{\"name\":");
		json_quoted(stdout, verbs[i].name);
		printf(",\"summary\":");
		json_quoted(stdout, verbs[i].summary);
		printf(",\"options\":[");
		for (unsigned k = 0; k < verbs[i].nopts; k++) {
			printf("%s", k ? "," : "");
			json_quoted(stdout, verbs[i].opts[k].name);
		}
		printf("]}\n");
	}
}

int help_main(struct args *a, struct err *e)
{
	char name[64] = "";
	const struct verb *v;

	if (arg_is_on(a, "man")) {
		man_print();
	} else if (arg_is_on(a, "options")) {
		options_list();
	} else if (arg_is_on(a, "settings")) {
		settings_print();
	} else if (!a->n && a->json) {
		verbs_json();
	} else if (!a->n) {
		usage_print(stdout);
	} else {
		snprintf(name, sizeof(name), "%s%s%s", a->words[0], a->n > 1 ? " " : "",
			 a->n > 1 ? a->words[1] : "");
		v = verb_find(name);
		if (!v)
			return err_set(e, ERR_USAGE,
				       "unknown command '%s'" REMEDY
				       "'viv help' lists the commands",
				       name);
		verb_help(v);
	}
	return 0;
}

int version_main(struct args *a, struct err *e)
{
	(void)e;
	printf(a->json ? "{\"version\":\"%s\"}\n" : "viv %s\n", VIV_VERSION);
	return 0;
}
