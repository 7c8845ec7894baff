/* viv: the command line. Finds the verb and runs it; verbs.c is the table of them. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/inside.h"
#include "client/vivarium.h"

/* What docker calls our verbs. */
static const struct {
	const char *theirs, *ours;
} docker_verbs[] = {
	{ "unpause", "resume" },    { "images", "image ls" },	  { "rmi", "image rm" },
	{ "load", "image import" }, { "import", "image import" }, { "save", "image export" },
	{ "tag", "image tag" },	    { "build", "commit" },	  { "compose", "up" },
};

static int verb_unknown(const char *name, struct err *e)
{
	const char *similar = value_similar(name, &verbs[0].name, nverbs, sizeof(verbs[0]));

	for (unsigned i = 0; i < ARRAY_LEN(docker_verbs); i++)
		if (!strcmp(docker_verbs[i].theirs, name))
			return err_set(e, ERR_USAGE, "unknown command '%s'" REMEDY "use 'viv %s'",
				       name, docker_verbs[i].ours);

	if (similar && !strchr(similar, ' '))
		return err_set(e, ERR_USAGE, "unknown command '%s'" REMEDY "did you mean '%s'?",
			       name, similar);
	return err_set(e, ERR_USAGE, "unknown command '%s'" REMEDY "'viv help' lists the commands",
		       name);
}

/* The verb of a group that the second word names. */
static const struct verb *second_find(const struct verb *group, const char *second)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", group->name, second);
	return verb_find(name);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Failures before the words are parsed are to be in the form that these ask for. */
static void json_look(const struct verb *v, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--json"))
			report_json(true);
		if (argv[i][0] != '-' && (v->flags & VERB_COMMAND))
			return;
	}
}

static int verb_run(const struct verb *v, int argc, char **argv, struct err *e)
{
	static struct args a;

	report_guest(v->flags & VERB_GUEST);
	json_look(v, argc, argv);
	if (argc > 1 && (v->help || (v->flags & VERB_OWN)) && !(v->flags & VERB_COMMAND) &&
	    is_help(argv[1])) {
		verb_help(v);
		return 0;
	}
	if (v->flags & VERB_OWN)
		a = (struct args){ .verb = v, .argc = argc, .argv = argv };
	else if (args_take(&a, v, argc, argv, e) < 0)
		return -1;
	else if (arg_is_on(&a, "help"))
		return verb_help(v), 0;
	if (viv_inside() && inside_check(v, e) < 0)
		return -1;
	return v->main(&a, e);
}

static int group_run(const struct verb *group, int argc, char **argv, struct err *e)
{
	const char *second = argc > 1 ? argv[1] : NULL;
	const struct verb *ls = second_find(group, "ls");

	if (second && is_help(second)) {
		verb_help(group);
		return 0;
	}
	if (!second && group->main)
		return verb_run(ls ? ls : group, argc, argv, e); /* with its options */
	if (!second)
		return err_set(e, ERR_USAGE,
			       "'viv %s' needs one more word" REMEDY "'viv help %s' lists them",
			       group->name, group->name);
	return err_set(e, ERR_USAGE, "unknown command '%s %s'" REMEDY "'viv help %s' lists them",
		       group->name, second, group->name);
}

static int main_run(int argc, char **argv, struct err *e)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct verb *v, *second;

	if (!name) {
		usage_print(stderr);
		return ERR_USAGE;
	}
	if (is_help(name))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	else if (name[0] == '-')
		return err_set(e, ERR_USAGE,
			       "unknown option '%s'" REMEDY
			       "options follow a command: viv run [OPTIONS] -- COMMAND",
			       name);
	v = verb_find(name);
	if (!v || strchr(name, ' '))
		return verb_unknown(name, e);
	second = argc > 2 ? second_find(v, argv[2]) : NULL;
	if (second)
		return verb_run(second, argc - 2, argv + 2, e);
	return v->flags & VERB_GROUP ? group_run(v, argc - 1, argv + 1, e)
				     : verb_run(v, argc - 1, argv + 1, e);
}

int main(int argc, char **argv)
{
	struct err e;
	int status;

	if (program_seal() < 0)
		return fail(ERR_FAILED, "cannot make the program's tables read-only");
	status = main_run(argc, argv, &e);
	if (status < 0) {
		fflush(stdout);
		status = report(&e);
	}
	if ((fflush(stdout) || ferror(stdout)) && !status)
		return fail(ERR_FAILED, "cannot write the output");
	return status;
}
