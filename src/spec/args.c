/* The command line of viv run, and the words that a keeper is started with, by the table of
 * settings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"
#include "spec/options.h"
#include "spec/ports.h"
#include "store/disk.h"

bool cell_name_is_valid(const char *name)
{
	return disk_name_is_valid(name) && name[0] != '_';
}

/* ---- memory ---- */

void *run_keep(struct run_options *o, void *p)
{
	void **more = xalloc((o->nkept + 1) * sizeof(*more));

	if (o->nkept)
		memcpy(more, o->kept, o->nkept * sizeof(*more));
	free(o->kept);
	o->kept = more;
	return more[o->nkept++] = p;
}

char *run_keep_text(struct run_options *o, const char *text)
{
	return run_keep(o, xstrndup(text, strlen(text)));
}

void run_options_fini(struct run_options *o)
{
	for (size_t i = 0; i < o->nkept; i++)
		free(o->kept[i]);
	free(o->kept);
	free(o->env);
	free(o->env_given.v);
	free(o->labels.v);
	free(o->ulimits.v);
	*o = (struct run_options){ 0 };
}

/* ---- values ---- */

int setting_bounds(enum setting_id id, double v, const char *name, struct err *e)
{
	const struct setting *s = &settings[id];

	if ((s->flags & S_ZERO) && v == 0)
		return 0;
	if (v >= s->min && (!s->max || v <= s->max))
		return 0;
	if (s->type == SETTING_SIZE && !s->max)
		return err_set(e, ERR_INVALID, "%s: at least %.0f bytes", name, s->min);
	if (!s->max)
		return err_set(e, ERR_INVALID, "%s: at least %.10g", name, s->min);
	if (s->type == SETTING_TIME)
		return err_set(e, ERR_INVALID, "%s: between %.10g and %.10g seconds", name, s->min,
			       s->max);
	return err_set(e, ERR_INVALID, "%s: between %.10g and %.10g", name, s->min, s->max);
}

static const char *const examples[] = {
	[SETTING_COUNT] = "a whole number",
	[SETTING_CPUS] = "a number of processors such as 2 or 0.5",
	[SETTING_SIZE] = "a size such as 64M or 1G",
	[SETTING_TIME] = "a time such as 500ms, 10s or 5m",
};

/* A number as it is written on a command line; *v is in the unit of JSON. */
static bool number_parse(const struct setting *s, const char *text, void *member, double *v)
{
	/* Whoever writes 0 for a limit on a command line means something else than none. */
	bool zero = s->type == SETTING_TIME && !(s->flags & S_ZERO) && !strcmp(text, "0");
	uint64_t u = 0;
	int64_t ns = 0;

	switch (s->type) {
	case SETTING_CPUS:
		if (!value_milli(text, &u) || (!u && (s->flags & S_ZERO)))
			return false;
		*v = (double)u / 1000;
		u = MIN(u, (uint64_t)UINT32_MAX);
		*(uint32_t *)member = (uint32_t)u;
		return true;
	case SETTING_TIME:
		if (!zero && !value_duration(text, &ns))
			return false;
		*v = (double)ns / NSEC_PER_SEC;
		*(int64_t *)member = ns;
		return true;
	default: /* sizes, and counts, which may be written as one: 64k */
		if (!value_size(text, &u) || (s->type == SETTING_COUNT && strchr(text, '.')))
			return false;
		*v = (double)u;
		*(uint64_t *)member = u;
		return true;
	}
}

static int number_option(struct run_options *o, enum setting_id id, const char *name,
			 const char *text, struct err *e)
{
	const struct setting *s = &settings[id];
	void *member = (char *)o + s->offset;
	char shown[160];
	double v;

	snprintf(shown, sizeof(shown), "--%s '%.100s'", name, text);
	if (!number_parse(s, text, member, &v))
		return err_set(e, ERR_USAGE, "%s: must be %s", shown, examples[s->type]);
	return setting_bounds(id, v, shown, e);
}

static int choice_option(struct run_options *o, enum setting_id id, const char *text, struct err *e)
{
	const char *const *words = setting_choices(id);
	char all[128] = "";
	uint32_t i = 0;

	while (words[i] && strcmp(words[i], text))
		i++;
	if (!words[i]) {
		for (i = 0; words[i]; i++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 i ? ", " : "", words[i]);
		return err_set(e, ERR_USAGE, "--%s '%s': must be one of: %s", run_opts[id].name,
			       text, all);
	}
	*(uint32_t *)(void *)((char *)o + settings[id].offset) = i;
	return 0;
}

/* NAME=VALUE, or NAME. */
static void texts_add(struct texts *t, unsigned at, const char *text)
{
	const char **more = xalloc((t->n + 1) * sizeof(*more));

	if (at)
		memcpy(more, t->v, at * sizeof(*more));
	more[at] = text;
	if (at < t->n)
		memcpy(more + at + 1, t->v + at, (t->n - at) * sizeof(*more));
	free(t->v);
	t->v = more;
	t->n++;
}

static int ulimit_option(const char *text, struct err *e)
{
	size_t n = strcspn(text, "=");
	char name[24];
	struct ulimit l;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(n, sizeof(name) - 1), text);
	if (!text[n])
		return err_set(e, ERR_USAGE,
			       "--ulimit '%s' has no value" REMEDY "write --ulimit %s=SOFT[:HARD]",
			       text, name);
	if (ulimit_parse("--ulimit", name, text + n + 1, &l, e) == 0)
		return 0;
	e->kind = ERR_USAGE;
	return -1;
}

static int pair_option(struct run_options *o, enum setting_id id, const char *text, struct err *e)
{
	struct texts *t = (void *)((char *)o + settings[id].offset);

	if (!*text || *text == '=')
		return err_set(e, ERR_USAGE, "--%s needs a name: --%s NAME=VALUE%s",
			       run_opts[id].name, run_opts[id].name,
			       settings[id].flags & S_HOST ? ", or NAME for the host's value" : "");
	if (id == SET_ULIMIT && ulimit_option(text, e) < 0)
		return -1;
	texts_add(t, t->n, text);
	return 0;
}

/* Of a file: before all that --env gave, wherever that stands. */
static int env_file_take(void *arg, const char *text, struct err *e)
{
	struct run_options *o = arg;

	(void)e;
	texts_add(&o->env_given, o->nenv_file++, run_keep_text(o, text));
	o->given[SET_ENV] = true;
	return 0;
}

/* One more word of a list. */
static int word_option(struct run_options *o, enum setting_id id, const char *text, struct err *e)
{
	char ***list = (void *)((char *)o + settings[id].offset), **more;
	const char *wrong = setting_word_wrong(id, text);
	size_t n = 0;

	if (wrong)
		return err_set(e, ERR_USAGE, "--%s '%s' %s", run_opts[id].name, text, wrong);
	while (*list && (*list)[n])
		n++;
	if ((double)n >= settings[id].max)
		return err_set(e, ERR_USAGE, "--%s: at most %.0f of them", run_opts[id].name,
			       settings[id].max);
	more = run_keep(o, xalloc((n + 2) * sizeof(*more)));
	if (n)
		memcpy(more, *list, n * sizeof(*more));
	more[n] = run_keep_text(o, text);
	more[n + 1] = NULL;
	*list = more;
	return id == SET_PUBLISH ? ports_check("--publish", more, e) : 0;
}

/* A line for the shell. */
static void shell_words(struct run_options *o, char ***ret, const char *line)
{
	static const char *const shell[] = { "/bin/sh", "-c" };
	char **words = run_keep(o, xalloc(4 * sizeof(*words)));

	for (unsigned i = 0; i < ARRAY_LEN(shell); i++)
		words[i] = run_keep_text(o, shell[i]);
	words[2] = run_keep_text(o, line);
	*ret = words;
}

static int restart_option(struct run_options *o, const char *text, struct err *e)
{
	const char *colon = strchr(text, ':');
	char name[24];

	snprintf(name, sizeof(name), "%.*s",
		 (int)(colon ? (size_t)(colon - text) : MIN(strlen(text), sizeof(name))), text);
	o->restart.max = 0;
	/* One that was stopped is not started again in any case. */
	if (restart_parse(strcmp(name, "unless-stopped") ? name : "always", &o->restart.policy) &&
	    (!colon ||
	     (o->restart.policy == RESTART_ON_FAILURE && value_u32(colon + 1, &o->restart.max))))
		return 0;
	return err_set(
		e, ERR_USAGE,
		"--restart '%s': must be no, on-failure, on-failure:N, always or unless-stopped",
		text);
}

/* What no rule of a type covers. */
static int text_check(enum setting_id id, const char *text, struct err *e)
{
	const struct setting *s = &settings[id];
	size_t n = strlen(text);

	if (id == SET_STOP_SIGNAL && !value_signal(text))
		return err_set(e, ERR_USAGE, "--stop-signal '%s': there is no such signal", text);
	if (id == SET_USER && !n)
		return err_set(e, ERR_USAGE, "--user needs a name or a number");
	if (id == SET_S3_ENDPOINT && strncmp(text, "http://", 7) && strncmp(text, "https://", 8))
		return err_set(e, ERR_USAGE, "--s3-endpoint: must begin with http:// or https://");
	if (s->type == SETTING_PATH && text[0] != '/')
		return err_set(e, ERR_USAGE, "--%s: must be an absolute path in the cell, not '%s'",
			       run_opts[id].name, text);
	if (s->max && ((double)n < s->min || (double)n > s->max))
		return err_set(e, ERR_USAGE, "--%s: must have %.0f to %.0f characters",
			       run_opts[id].name, s->min, s->max);
	return 0;
}

/* ---- rules ---- */

static void rule_add(struct run_options *o, const char *text)
{
	size_t n = 0;
	char **rules;

	while (o->policy && o->policy[n])
		n++;
	rules = run_keep(o, xalloc((n + 2) * sizeof(*rules)));
	for (size_t i = 0; i < n; i++)
		rules[i] = o->policy[i];
	rules[n] = run_keep_text(o, text);
	rules[n + 1] = NULL;
	o->policy = rules;
	o->given[SET_POLICY] = true;
}

static void rules_add(struct run_options *o, const struct policy *p)
{
	for (unsigned i = 0; i < policy_nlines(p); i++)
		rule_add(o, policy_line(p, i));
}

int run_policy_check(const struct run_options *o, struct err *e)
{
	struct policy p;
	int ret;

	policy_init(&p);
	ret = policy_words(&p, o->policy, "policy", NULL, e);
	policy_fini(&p);
	return ret;
}

/* A rule whose first words are known. */
static int rule_option(struct run_options *o, const char *option, const char *head,
		       const char *value, struct err *e)
{
	struct policy p;
	struct buf line = { 0 };
	int ret;

	policy_init(&p);
	buf_add_text(&line, head);
	buf_add_text(&line, value);
	ret = policy_parse(&p, (const char *)line.p, line.len, option, 0, 0, e);
	if (ret == 0)
		rules_add(o, &p);
	else
		e->kind = ERR_USAGE;
	buf_free(&line);
	policy_fini(&p);
	return ret;
}

static int policy_option(struct run_options *o, const char *path, struct err *e)
{
	struct policy p;
	int ret;

	policy_init(&p);
	ret = policy_read(&p, path, e);
	if (ret == 0)
		ret = policy_check(&p, e);
	if (ret == 0)
		rules_add(o, &p);
	policy_fini(&p);
	return ret;
}

/* Rows with code of their own. 1: help was asked for. */
static int own_option(struct run_options *o, enum setting_id id, const char *value, struct err *e)
{
	switch (id) {
	case SET_PIDS_LIMIT:
		o->given[SET_PIDS] = true;
		return number_option(o, SET_PIDS, run_opts[id].name, value, e);
	case SET_ENV_FILE:
		return env_file_read(value, env_file_take, o, e);
	case SET_VOLUME:
		return volume_option(o, value, e);
	case SET_TMPFS:
		return tmpfs_option(o, value, e);
	case SET_COPY:
		return copy_option(o, value, e);
	case SET_NETWORK:
		return rule_option(o, "--network", "use ", value, e);
	case SET_ALLOW:
		return rule_option(o, "--allow", "allow net ", value, e);
	case SET_DENY:
		return rule_option(o, "--deny", "deny net ", value, e);
	case SET_ASK:
		return rule_option(o, "--ask", "ask net ", value, e);
	case SET_POLICY_FILE:
		return policy_option(o, value, e);
	case SET_SHM_SIZE: {
		struct run_mount m = { .dst = run_keep_text(o, "/dev/shm") };

		if (!value_size(value, &m.size))
			return err_set(e, ERR_USAGE, "--shm-size '%s': must be %s", value,
				       examples[SETTING_SIZE]);
		return mount_add(o, "--shm-size", m, e);
	}
	case SET_PULL:
		if (strcmp(value, "missing") && strcmp(value, "never"))
			return err_set(e, ERR_USAGE,
				       "--pull '%s': viv pulls nothing by itself" REMEDY
				       "'viv image import' "
				       "and 'viv image bootstrap' make images",
				       value);
		return 0;
	case SET_SPEC:
		return run_options_read(o, value, strlen(value), e);
	case SET_ID:
		if (!cell_id_is_valid(value))
			return err_set(e, ERR_USAGE, "--id '%s': lower case letters and digits",
				       value);
		o->id = value;
		return 0;
	case SET_PARENT:
		if (!cell_id_is_valid(value))
			return err_set(e, ERR_USAGE, "--parent '%s': lower case letters and digits",
				       value);
		o->parent = value;
		return 0;
	case SET_POOL:
		o->pool = o->idle = true;
		return 0;
	case SET_MERGE:
		o->merge = o->idle = true;
		return 0;
	case SET_HELP:
		return 1;
	default:
		return 0;
	}
}

static int option_apply(struct run_options *o, enum setting_id id, const char *value, struct err *e)
{
	const struct setting *s = &settings[id];
	void *member = (char *)o + s->offset;

	o->given[id] = true;
	switch (s->type) {
	case SETTING_TEXT:
	case SETTING_PATH:
		*(const char **)member = value;
		return text_check(id, value, e);
	case SETTING_FLAG:
		*(bool *)member = true;
		return 0;
	case SETTING_CHOICE:
		return choice_option(o, id, value, e);
	case SETTING_COUNT:
	case SETTING_CPUS:
	case SETTING_SIZE:
	case SETTING_TIME:
		return number_option(o, id, run_opts[id].name, value, e);
	case SETTING_WORDS:
		if (s->flags & S_EACH)
			return word_option(o, id, value, e);
		if (!*value)
			return err_set(e, ERR_USAGE, "--%s needs a command", run_opts[id].name);
		shell_words(o, member, value);
		return 0;
	case SETTING_MAP:
		return pair_option(o, id, value, e);
	case SETTING_MOUNTS:
		return mount_option(o, value, e);
	case SETTING_RESTART:
		return restart_option(o, value, e);
	case SETTING_OWN:
		break;
	}
	return own_option(o, id, value, e);
}

/* ---- the command line ---- */

/* Options of docker run that a cell has no use for, or not yet. */
static const struct {
	const char *name, *letter, *why;
} dockers[] = {
	{ "privileged", "",
	  "root in a cell has every right inside of it already, and none outside" },
	{ "cap-add", "",
	  "root in a cell has every capability inside of it already, and none outside" },
	{ "cap-drop", "",
	  "a cell's capabilities reach nothing outside of it; use --user for a process without "
	  "them" },
	{ "security-opt", "", "a cell's isolation cannot be loosened" },
	{ "publish-all", "-P", "name the ports: -p HOSTPORT:CELLPORT" },
	{ "device", "", "a cell has no devices of the host" },
	{ "gpus", "", "a cell has no devices of the host" },
	{ "platform", "", "a cell runs the host's instruction set" },
};

static int option_unknown(const char *text, struct err *e)
{
	char name[64];
	const char *similar;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(strcspn(text, "="), sizeof(name) - 1), text);
	for (unsigned i = 0; i < ARRAY_LEN(dockers); i++)
		if ((!strncmp(name, "--", 2) && !strcmp(name + 2, dockers[i].name)) ||
		    !strcmp(name, dockers[i].letter))
			return err_set(e, ERR_USAGE, "%s is not supported: %s", name,
				       dockers[i].why);
	similar = value_similar(name + strspn(name, "-"), &run_opts[0].name, RUN_NOPTS,
				sizeof(run_opts[0]));
	if (similar)
		return err_set(e, ERR_USAGE, "unknown option '%s'" REMEDY "did you mean '--%s'?",
			       name, similar);
	return err_set(e, ERR_USAGE,
		       "unknown option '%s'" REMEDY "'viv run --help' lists the options", name);
}

/* -e K=V, -eK=V, or switches, alone or together: -dit, as docker has them. */
static int letters_parse(struct run_options *o, char **argv, int *i, struct err *e)
{
	const char *text = argv[(*i)++];
	int ret = 0;

	for (const char *c = text + 1; *c && !ret; c++) {
		unsigned opt = 0;

		while (opt < RUN_NOPTS && run_opts[opt].letter != *c)
			opt++;
		if (opt == RUN_NOPTS)
			return option_unknown(text, e);
		if (!run_opts[opt].value) {
			ret = option_apply(o, opt, NULL, e);
			continue;
		}
		/* Alone it is what most programs take it for. */
		if (opt == SET_HOSTNAME && !c[1] && !argv[*i])
			return 1;
		if (!c[1] && !argv[*i])
			return err_set(e, ERR_USAGE, "-%c needs a value: -%c %s", *c, *c,
				       run_opts[opt].value);
		return option_apply(o, opt, c[1] ? c + 1 : argv[(*i)++], e);
	}
	return ret;
}

static bool is_named(const char *name, const char *text, size_t n)
{
	return name && strlen(name) == n && !strncmp(text, name, n);
}

/* One option at argv[*i]; moves *i behind it and its value. */
static int option_parse(struct run_options *o, char **argv, int *i, struct err *e)
{
	const char *text = argv[*i], *equals = strchr(text, '='), *value = NULL;
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	unsigned opt = 0;

	if (text[1] != '-')
		return letters_parse(o, argv, i, e);
	while (opt < SETTINGS_COUNT && !is_named(run_opts[opt].name, text + 2, n - 2))
		opt++;
	if (opt == SETTINGS_COUNT || (!run_opts[opt].help && !o->keeper))
		return option_unknown(text, e);
	++*i;
	if (!run_opts[opt].value) {
		if (equals)
			return err_set(e, ERR_USAGE, "--%s takes no value", run_opts[opt].name);
	} else if (equals) {
		value = equals + 1;
	} else {
		value = argv[*i];
		if (!value)
			return err_set(e, ERR_USAGE, "--%s needs a value: --%s %s",
				       run_opts[opt].name, run_opts[opt].name, run_opts[opt].value);
		++*i;
	}
	return option_apply(o, opt, value, e);
}

const char *run_vivds_option(const struct run_options *o)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if ((settings[i].flags & S_VIVD) && run_is_given(o, i))
			return run_opts[i].name;
	return NULL;
}

bool run_fits_warm(const struct run_options *o)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++)
		if (!(settings[i].flags & S_WARM) && run_is_given(o, i))
			return false;
	return true;
}

/* What does not go together. */
static int options_agree(const struct run_options *o, struct err *e)
{
	if (o->keeper)
		return 0;
	if (o->detach && (o->trace || o->changes))
		return err_set(e, ERR_USAGE,
			       "--detach: %s prints to the terminal" REMEDY "leave one of them out",
			       o->trace ? "--trace" : "--changes");
	if (!o->detach && run_vivds_option(o))
		return err_set(e, ERR_USAGE,
			       "--%s is for cells that run in the background" REMEDY "add --detach",
			       run_vivds_option(o));
	if (o->ncopies && (!o->name || o->rm))
		return err_set(e, ERR_USAGE,
			       "--copy is for cells that keep their files" REMEDY
			       "add --name, and leave --rm out");
	for (unsigned i = SET_HEALTH_CMD + 1; i <= SET_HEALTH_RETRIES && !o->health_command; i++)
		if (run_is_given(o, i))
			return err_set(e, ERR_USAGE, "--%s needs --health-cmd", run_opts[i].name);
	if ((run_is_given(o, SET_DNS) || run_is_given(o, SET_DNS_SEARCH)) && !o->policy)
		return err_set(e, ERR_USAGE,
			       "--dns: the cell has no network" REMEDY
			       "allow it some with --allow or --network");
	if (o->labels.n > 64)
		return err_set(e, ERR_USAGE, "a cell has at most 64 labels");
	if (o->tty && !o->detach && !isatty(0) && !isatty(1) && !isatty(2))
		return err_set(e, ERR_USAGE,
			       "-t: viv has no terminal to give to the cell" REMEDY
			       "leave -t out, or make "
			       "one inside: viv run -- script -qec COMMAND /dev/null");
	return 0;
}

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *e)
{
	int i = 1, ret = 0;

	if (!o->hostname)
		o->hostname = "cell";
	while (!ret && i < argc && argv[i][0] == '-' && argv[i][1]) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		ret = option_parse(o, argv, &i, e);
	}
	if (ret)
		return ret;
	if (i < argc) {
		o->argv = argv + i;
		o->given[SET_COMMAND] = true;
	}
	if (o->policy && run_policy_check(o, e) < 0)
		return -1;
	return options_agree(o, e);
}
