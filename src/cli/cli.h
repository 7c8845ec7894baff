/* What the verbs of viv share. A verb is a row of the table in verbs.c, which describes it once:
 * its parser (args.c), its help (help.c), the completion of shells (completion.c) and the synopsis
 * of the man page are made from that row. */
#ifndef VIV_CLI_CLI_H
#define VIV_CLI_CLI_H

#include "keeper/run.h"

/* Of a verb. */
/* ends with a guest's status; viv's own failures are 125 to 127, as docker has them */
#define VERB_GUEST 1
#define VERB_COMMAND 2 /* options end with the first word: what follows is a command's */
#define VERB_OWN 4 /* parses its words itself; what is said here is for help and completion */
#define VERB_GROUP 8 /* only a head: the verbs follow as "NAME SECOND" */

struct verb {
	const char *name; /* "run"; "volume ls" */
	const char *summary;
	int (*main)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
	void (*help)(void); /* NULL: made from the rest */
	const char *args; /* "CELL..." */
	int min, max; /* words after the options; max < 0: any number */
	const struct opt *opts;
	unsigned nopts;
	unsigned flags; /* VERB_ */
	const char *about; /* for its help */
};

extern const struct verb verbs[];
extern const unsigned nverbs;

/* By "run" or by "volume ls"; NULL. */
const struct verb *verb_find(const char *name);
/* Prints what 'viv help NAME' says. */
void verb_help(const struct verb *v);
/* "viv stop [-t TIME] [--json] CELL...", into text. */
const char *verb_usage(const struct verb *v, char *text, size_t size);

int run_main(int argc, char **argv);
int create_main(int argc, char **argv);
int exec_main(int argc, char **argv);
int shell_main(int argc, char **argv);
int start_main(int argc, char **argv);
int stop_main(int argc, char **argv);
int restart_main(int argc, char **argv);
int kill_main(int argc, char **argv);
int pause_main(int argc, char **argv);
int resume_main(int argc, char **argv);
int wait_main(int argc, char **argv);
int rm_main(int argc, char **argv);
int rename_main(int argc, char **argv);
int update_main(int argc, char **argv);
int ps_main(int argc, char **argv);
int ls_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int stats_main(int argc, char **argv);
int top_main(int argc, char **argv);
int logs_main(int argc, char **argv);
int events_main(int argc, char **argv);
int prune_main(int argc, char **argv);
int image_main(int argc, char **argv);
int image_import_main(int argc, char **argv);
int image_tag_main(int argc, char **argv);
int image_rm_main(int argc, char **argv);
int image_gc_main(int argc, char **argv);
int snapshot_main(int argc, char **argv);
int fork_main(int argc, char **argv);
int diff_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int commit_main(int argc, char **argv);
int rollback_main(int argc, char **argv);
int volume_create_main(int argc, char **argv);
int volume_ls_main(int argc, char **argv);
int volume_inspect_main(int argc, char **argv);
int volume_prune_main(int argc, char **argv);
int system_df_main(int argc, char **argv);
int volume_rm_main(int argc, char **argv);
int token_create_main(int argc, char **argv);
int token_ls_main(int argc, char **argv);
int token_rm_main(int argc, char **argv);
int daemon_start_main(int argc, char **argv);
int daemon_stop_main(int argc, char **argv);
int daemon_restart_main(int argc, char **argv);
int daemon_status_main(int argc, char **argv);
int cp_main(int argc, char **argv);
int up_main(int argc, char **argv);
int apply_main(int argc, char **argv);
int down_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int completion_main(int argc, char **argv);
int help_main(int argc, char **argv);
int version_main(int argc, char **argv);

#endif
