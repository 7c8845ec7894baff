/* viv-files (wire/files.h), which vivd carries with it. */
#ifndef VIV_DAEMON_CELLS_FILESPROGRAM_H
#define VIV_DAEMON_CELLS_FILESPROGRAM_H

#include "daemon/keepers/link.h"

#define FILES_WORDS 16

/* A memory file that nobody can write, made once and kept: its descriptor, or -errno. */
int files_program(void);
/* What it is to do: its words, NULL-terminated, and as whom (NULL: root). A descriptor as
 * execspec_write gives it, or -errno. */
int files_spec(const char *const words[], const char *user);
/* Runs it with such a spec and these streams, all of them borrowed; as link_exec. */
int files_run(struct keeper_link *l, int spec, const int fds[3], ask_fn fn, void *arg);
/* The same for so long at most; 0: for ever. */
int files_run_for(struct keeper_link *l, int spec, const int fds[3], int64_t timeout_ns, ask_fn fn,
		  void *arg);

#endif
