/* A run: what was asked for, and what starting and keeping a cell share. */
#ifndef VIV_KEEPER_RUN_H
#define VIV_KEEPER_RUN_H

#include <sys/types.h>

#include "base/base.h"
#include "base/err.h"
#include "spec/options.h"

#define EXIT_TIMEOUT 124
#define EXIT_OWN 125 /* viv itself failed: bad usage, or the cell could not start */

/* Prints "viv: MESSAGE" and returns EXIT_OWN. A message says what to do, after "; ". */
int fail(const char *fmt, ...) printf_like(1, 2);
void warn(const char *fmt, ...) printf_like(1, 2);
/* Prints an error; returns EXIT_OWN. */
int fail_with(const struct err *e);
/* The same for a failure of a kind, whose code it has as JSON; returns the kind, which is the exit status. */
int fail_as(enum err_kind kind, const char *fmt, ...) printf_like(2, 3);
/* From here on failures are printed as {"code","message","remedy"}, one object for each line. */
void say_json(bool on);
bool say_is_json(void);

/* Another program of the project ("viv-kernel"), as a descriptor to be executed; -1, with the message
 * printed (program.c). */
int program_open(const char *program);

/* ---- a run ---- */

struct host_mount;
struct cgroup;
struct isolated;

struct place;

/* Sets K=V among the variables of the first process; text is copied. */
void run_env_set(struct run_options *o, const char *text);
/* What the command line and the image left open. 0 or an exit status. */
int run_options_finish(struct run_options *o, bool stored);
/* Starts the cell and stays with it to its end: the exit status. */
int run_cell(const struct run_options *o, struct place *p);
/* All of it: opens what the options name, completes them, starts the cell and stays with it. */
int run_command(struct run_options *o);
/* S3 mounts (s3.c): is src one; starts its viv-s3, whose socket the cell gets. 0 or an exit status. */
bool s3_is_url(const char *src);
int s3_start(const struct run_options *o, const char *src, bool readonly, int *ret_sock);
/* The time with a cell (watch.c). First what comes before its kernel is there: 0 or an exit status. */
int watch_prepare(const struct run_options *o, struct place *place);
/* From the first message to the exit status. Takes control and signals, borrows the others. */
int watch(const struct isolated *kernel, int control, int signals, struct cgroup *cg);
/* The signals that viv forwards to the cell, blocked, as a descriptor; -1 on failure. */
int watch_signals(void);

#endif
