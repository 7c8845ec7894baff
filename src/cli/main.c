/* viv: the command line. Finds the verb and runs it; each verb is in a file of its own. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);
static void help_help(void);
static void version_help(void);

const struct verb verbs[] = {
	{ "run", "run a command in a new cell", run_main, run_help },
	{ "exec", "run a command in a running cell", exec_main, exec_help },
	{ "ps", "list the running cells", ps_main, ps_help },
	{ "logs", "show the output of a detached cell or process", logs_main, logs_help },
	{ "wait", "wait for the end of cells", wait_main, wait_help },
	{ "stop", "end cells, giving them time for it", stop_main, stop_help },
	{ "kill", "signal a cell, or end it at once", kill_main, kill_help },
	{ "pause", "let nothing in a cell run", pause_main, pause_help },
	{ "resume", "let a paused cell go on", resume_main, resume_help },
	{ "stats", "show what cells use", stats_main, stats_help },
	{ "image", "import, list, export and remove images", image_main, image_help },
	{ "ls", "list the named cells", ls_main, ls_help },
	{ "rm", "remove named cells", rm_main, rm_help },
	{ "snapshot", "keep a cell's files as they are now", snapshot_main, snapshot_help },
	{ "fork", "make a cell with the files of another", fork_main, fork_help },
	{ "diff", "list what a cell changed", diff_main, diff_help },
	{ "verify", "check a cell's disk", verify_main, verify_help },
	{ "commit", "make an image of a cell's files", commit_main, commit_help },
	{ "rollback", "set a cell's files back to a snapshot", rollback_main, rollback_help },
	{ "volume", "make, list and remove volumes", volume_main, volume_help },
	{ "up", "make and start the cells of vivarium.yaml", up_main, up_help },
	{ "apply", "change running cells to what vivarium.yaml says", apply_main, apply_help },
	{ "down", "stop and remove the cells of vivarium.yaml", down_main, down_help },
	{ "cp", "copy files between a cell and the host", cp_main, cp_help },
	{ "events", "print what happens to cells", events_main, events_help },
	{ "token", "make, list and revoke tokens of the API", token_main, token_help },
	{ "daemon", "start and stop vivd, or ask after it", daemon_main, daemon_help },
	{ "help", "explain viv, or one of its commands", help_main, help_help },
	{ "version", "print the version", version_main, version_help },
};
const unsigned nverbs = ARRAY_LEN(verbs);

static void usage(FILE *to)
{
	fprintf(to, "Usage: viv COMMAND [OPTIONS]\n\n"
		    "A computer of its own for every agent: its own kernel, files, processes and "
		    "limits.\n\n");
	for (unsigned i = 0; i < nverbs; i++)
		fprintf(to, "  viv %-8s %s\n", verbs[i].name, verbs[i].summary);
	fprintf(to,
		"\n'viv help COMMAND' explains one of them. For a start: viv run -- uname -a\n");
}

static const struct verb *verb_find(const char *name)
{
	for (unsigned i = 0; i < nverbs; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int verb_unknown(const char *name)
{
	const char *similar = value_similar(name, &verbs[0].name, nverbs, sizeof(verbs[0]));

	if (similar)
		return fail("unknown command '%s'; did you mean '%s'?", name, similar);
	return fail("unknown command '%s'; 'viv help' lists the commands", name);
}

static void help_help(void)
{
	printf("Usage: viv help [COMMAND]\n");
}

static void version_help(void)
{
	printf("Usage: viv version\n");
}

static int help_main(int argc, char **argv)
{
	const struct verb *v;

	if (argc < 2) {
		usage(stdout);
		return 0;
	}
	v = verb_find(argv[1]);
	if (!v)
		return verb_unknown(argv[1]);
	v->help();
	return 0;
}

static int version_main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return fail("'viv version' takes no arguments");
	printf("viv %s\n", VIV_VERSION);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct verb *v;
	int status;

	if (!name) {
		usage(stderr);
		return EXIT_OWN;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	else if (name[0] == '-')
		return fail("unknown option '%s'; options follow a command: viv run [OPTIONS] -- "
			    "COMMAND",
			    name);
	v = verb_find(name);
	if (!v)
		return verb_unknown(name);
	if (argc > 2 && v->main != run_main && v->main != exec_main &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		v->help();
		status = 0;
	} else {
		status = v->main(argc - 1, argv + 1);
	}
	if ((fflush(stdout) || ferror(stdout)) && !status)
		return fail("cannot write the output");
	return status;
}
