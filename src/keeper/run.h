/* A run: what was asked for, and what starting and keeping a cell share. */
#ifndef VIV_KEEPER_RUN_H
#define VIV_KEEPER_RUN_H

#include <sys/types.h>

#include "base/base.h"
#include "base/report.h"
#include "spec/options.h"
#include "wire/execspec.h"

#define EXIT_TIMEOUT 124

/* Another program of the project ("viv-kernel"), as a descriptor to be executed, or -1
 * (program.c). */
int program_open(const char *program, struct err *e);
/* Becomes it, or -1. */
int program_run(const char *program, char **argv, struct err *e);

/* ---- a run ---- */

struct host_mount;
struct cgroup;
struct isolated;

struct rootfs;

/* The command of o as a process of its cell; user is room for what ret->user may point to. */
struct run_user {
	char text[32];
};
void run_execspec(const struct run_options *o, bool stored, struct execspec *ret,
		  struct run_user *user);
/* Sets K=V among the variables of the first process; text is copied. */
void run_env_set(struct run_options *o, const char *text);
/* Takes the variables that rules deny out of those of o's command, and says so (rules.c). */
int rules_env(const struct run_options *o, struct err *e);
/* What the command line and the image left open. */
int run_options_finish(struct run_options *o, bool stored, struct err *e);
/* Starts the cell and stays with it to its end: the exit status, or -1: it could not start. */
int run_cell(const struct run_options *o, struct rootfs *p, struct err *e);
/* Before somebody who has run a cell waits for vivd, which waits until the cell's keeper has left
 * its disks: they are closed, and the record of the cell's end is no longer locked. */
void run_release(void);
/* All of it: opens what the options name, completes them, and does as run_cell. */
int run_command(struct run_options *o, struct err *e);
/* S3 mounts (s3.c): is src one; starts its viv-s3, whose socket the cell gets. */
bool s3_is_url(const char *src);
int s3_start(const struct run_options *o, const char *src, bool readonly, int *ret_sock,
	     struct err *e);
/* Was it given tools, or may its rules allow some (rules.c)? */
bool door_is_wanted(const struct run_options *o);
/* The network (gate.c). Gives the cell its end of the channel to a gate, if o grants it any. */
int gate_prepare(const struct run_options *o, int *ret_kernel_end, struct err *e);
/* From now on a gate is started when the cell has something to ask, again if it has died. */
int gate_follow(struct err *e);
/* The cell is gone: so is its gate, at the return. */
void gate_end(void);
/* The time with a cell (watch.c). First what comes before its kernel is there. */
int watch_prepare(const struct run_options *o, struct rootfs *rootfs, struct err *e);
/* From the first message to the exit status; -1: it cannot be watched. Takes control and signals
 * (stay_signals), borrows the others. */
int watch(const struct isolated *kernel, int control, int signals, struct cgroup *cg,
	  struct err *e);

#endif
