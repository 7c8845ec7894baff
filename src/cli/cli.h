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
#define VERB_OWN 4 /* parses argv itself; what is said here is for help and completion */
#define VERB_GROUP 8 /* only a head: the verbs follow as "NAME SECOND" */

struct args;

struct verb {
	const char *name; /* "run"; "volume ls" */
	const char *summary;
	/* The exit status, or -1 with an error, which main() reports. */
	int (*main)(struct args *a, struct err *e);
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

int run_main(struct args *a, struct err *e);
int create_main(struct args *a, struct err *e);
int attach_main(struct args *a, struct err *e);
int exec_main(struct args *a, struct err *e);
int shell_main(struct args *a, struct err *e);
int start_main(struct args *a, struct err *e);
int stop_main(struct args *a, struct err *e);
int sleep_main(struct args *a, struct err *e);
int wake_main(struct args *a, struct err *e);
int restart_main(struct args *a, struct err *e);
int kill_main(struct args *a, struct err *e);
int pause_main(struct args *a, struct err *e);
int resume_main(struct args *a, struct err *e);
int wait_main(struct args *a, struct err *e);
int rm_main(struct args *a, struct err *e);
int rename_main(struct args *a, struct err *e);
int update_main(struct args *a, struct err *e);
int ps_main(struct args *a, struct err *e);
int ls_main(struct args *a, struct err *e);
int tree_main(struct args *a, struct err *e);
int inspect_main(struct args *a, struct err *e);
int port_main(struct args *a, struct err *e);
int stats_main(struct args *a, struct err *e);
int top_main(struct args *a, struct err *e);
int logs_main(struct args *a, struct err *e);
int events_main(struct args *a, struct err *e);
int prune_main(struct args *a, struct err *e);
int image_main(struct args *a, struct err *e);
int image_bootstrap_main(struct args *a, struct err *e);
int image_verify_main(struct args *a, struct err *e);
int image_import_main(struct args *a, struct err *e);
int image_tag_main(struct args *a, struct err *e);
int image_rm_main(struct args *a, struct err *e);
int image_gc_main(struct args *a, struct err *e);
int snapshot_main(struct args *a, struct err *e);
int fork_main(struct args *a, struct err *e);
int diff_main(struct args *a, struct err *e);
int verify_main(struct args *a, struct err *e);
int commit_main(struct args *a, struct err *e);
int rollback_main(struct args *a, struct err *e);
int volume_create_main(struct args *a, struct err *e);
int volume_ls_main(struct args *a, struct err *e);
int volume_inspect_main(struct args *a, struct err *e);
int volume_prune_main(struct args *a, struct err *e);
int system_df_main(struct args *a, struct err *e);
int volume_rm_main(struct args *a, struct err *e);
int policy_show_main(struct args *a, struct err *e);
int policy_presets_main(struct args *a, struct err *e);
int policy_set_main(struct args *a, struct err *e);
int policy_add_main(struct args *a, struct err *e);
int policy_check_main(struct args *a, struct err *e);
int policy_learn_main(struct args *a, struct err *e);
int policy_denials_main(struct args *a, struct err *e);
int secret_set_main(struct args *a, struct err *e);
int secret_ls_main(struct args *a, struct err *e);
int secret_show_main(struct args *a, struct err *e);
int secret_refresh_main(struct args *a, struct err *e);
int secret_rm_main(struct args *a, struct err *e);
int agent_ls_main(struct args *a, struct err *e);
int agent_show_main(struct args *a, struct err *e);
int agent_add_main(struct args *a, struct err *e);
int agent_update_main(struct args *a, struct err *e);
int agent_rm_main(struct args *a, struct err *e);
int agent_prompt_main(struct args *a, struct err *e);
int agent_shell_main(struct args *a, struct err *e);
int tool_add_main(struct args *a, struct err *e);
int tool_ls_main(struct args *a, struct err *e);
int tool_show_main(struct args *a, struct err *e);
int tool_rm_main(struct args *a, struct err *e);
int workflow_run_main(struct args *a, struct err *e);
int workflow_wait_main(struct args *a, struct err *e);
int workflow_check_main(struct args *a, struct err *e);
int workflow_ls_main(struct args *a, struct err *e);
int workflow_show_main(struct args *a, struct err *e);
int workflow_logs_main(struct args *a, struct err *e);
int workflow_cancel_main(struct args *a, struct err *e);
int workflow_retry_main(struct args *a, struct err *e);
int workflow_rm_main(struct args *a, struct err *e);
int journal_main(struct args *a, struct err *e);
int journal_ls_main(struct args *a, struct err *e);
int journal_verify_main(struct args *a, struct err *e);
int journal_head_main(struct args *a, struct err *e);
int journal_key_main(struct args *a, struct err *e);
int journal_prove_main(struct args *a, struct err *e);
int journal_check_main(struct args *a, struct err *e);
int journal_prune_main(struct args *a, struct err *e);
int journal_diff_main(struct args *a, struct err *e);
int journal_export_main(struct args *a, struct err *e);
int touched_main(struct args *a, struct err *e);
int blame_main(struct args *a, struct err *e);
int timeline_main(struct args *a, struct err *e);
int preview_main(struct args *a, struct err *e);
int preview_ls_main(struct args *a, struct err *e);
int preview_rm_main(struct args *a, struct err *e);
int cron_add_main(struct args *a, struct err *e);
int cron_ls_main(struct args *a, struct err *e);
int cron_show_main(struct args *a, struct err *e);
int cron_rm_main(struct args *a, struct err *e);
int cron_pause_main(struct args *a, struct err *e);
int cron_resume_main(struct args *a, struct err *e);
int cron_run_main(struct args *a, struct err *e);
int cron_logs_main(struct args *a, struct err *e);
int token_create_main(struct args *a, struct err *e);
int approvals_ls_main(struct args *a, struct err *e);
int approvals_watch_main(struct args *a, struct err *e);
int approvals_show_main(struct args *a, struct err *e);
int approvals_allow_main(struct args *a, struct err *e);
int approvals_deny_main(struct args *a, struct err *e);
int session_new_main(struct args *a, struct err *e);
int session_prompt_main(struct args *a, struct err *e);
int session_cancel_main(struct args *a, struct err *e);
int session_ls_main(struct args *a, struct err *e);
int session_show_main(struct args *a, struct err *e);
int session_events_main(struct args *a, struct err *e);
int session_mode_main(struct args *a, struct err *e);
int session_model_main(struct args *a, struct err *e);
int session_config_main(struct args *a, struct err *e);
int session_close_main(struct args *a, struct err *e);
int session_rm_main(struct args *a, struct err *e);
int transcript_main(struct args *a, struct err *e);
int transcript_search_main(struct args *a, struct err *e);
int agent_run_main(struct args *a, struct err *e);
int acp_main(struct args *a, struct err *e);
int token_ls_main(struct args *a, struct err *e);
int token_rm_main(struct args *a, struct err *e);
int daemon_start_main(struct args *a, struct err *e);
int daemon_stop_main(struct args *a, struct err *e);
int daemon_restart_main(struct args *a, struct err *e);
int daemon_status_main(struct args *a, struct err *e);
int cp_main(struct args *a, struct err *e);
int init_main(struct args *a, struct err *e);
int up_main(struct args *a, struct err *e);
int apply_main(struct args *a, struct err *e);
int down_main(struct args *a, struct err *e);
int merge_main(struct args *a, struct err *e);
int mcp_main(struct args *a, struct err *e);
int doctor_main(struct args *a, struct err *e);
int completion_main(struct args *a, struct err *e);
int help_main(struct args *a, struct err *e);
int version_main(struct args *a, struct err *e);

#endif
