/* What the verbs of viv share. A verb is one file and one row of the table in main.c. */
#ifndef VIV_CLI_CLI_H
#define VIV_CLI_CLI_H

#include "keeper/run.h"

struct verb {
	const char *name;
	const char *summary;
	int (*main)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
	void (*help)(void);
};

extern const struct verb verbs[];
extern const unsigned nverbs;

int run_main(int argc, char **argv);
int exec_main(int argc, char **argv);
void exec_help(void);
int ps_main(int argc, char **argv);
void ps_help(void);
int stop_main(int argc, char **argv);
void stop_help(void);
int kill_main(int argc, char **argv);
void kill_help(void);
int pause_main(int argc, char **argv);
void pause_help(void);
int resume_main(int argc, char **argv);
void resume_help(void);
int wait_main(int argc, char **argv);
void wait_help(void);
int logs_main(int argc, char **argv);
void logs_help(void);
int stats_main(int argc, char **argv);
void stats_help(void);
int image_main(int argc, char **argv);
void image_help(void);
int ls_main(int argc, char **argv);
void ls_help(void);
int rm_main(int argc, char **argv);
void rm_help(void);
int snapshot_main(int argc, char **argv);
void snapshot_help(void);
int fork_main(int argc, char **argv);
void fork_help(void);
int diff_main(int argc, char **argv);
void diff_help(void);
int verify_main(int argc, char **argv);
void verify_help(void);
int commit_main(int argc, char **argv);
void commit_help(void);
int rollback_main(int argc, char **argv);
void rollback_help(void);
int volume_main(int argc, char **argv);
void volume_help(void);
int up_main(int argc, char **argv);
void up_help(void);
int apply_main(int argc, char **argv);
void apply_help(void);
int down_main(int argc, char **argv);
void down_help(void);
int daemon_main(int argc, char **argv);
void daemon_help(void);
int cp_main(int argc, char **argv);
void cp_help(void);
int token_main(int argc, char **argv);
void token_help(void);
int events_main(int argc, char **argv);
void events_help(void);

#endif
