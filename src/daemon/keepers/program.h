/* Starting the other programs of the project, which are beside vivd. */
#ifndef VIV_DAEMON_KEEPERS_PROGRAM_H
#define VIV_DAEMON_KEEPERS_PROGRAM_H

#include "base/base.h"

#define PROGRAM_FDS 5

/* Where it is: size is 4096. */
void program_path(const char *name, char *path, size_t size);
/* Starts a program in a session of its own. fds[N] becomes its descriptor N; -1: /dev/null for 0 to
 * 2, else nothing. None of them is below PROGRAM_FDS. Returns when the program has been executed,
 * which on a busy machine takes its time: for a thread. Its number, or -errno. */
int program_spawn(const char *name, char *const argv[], const int fds[PROGRAM_FDS]);
/* Takes fd; the same file under a number that is not below PROGRAM_FDS, or -1. */
int program_fd(int fd);

#endif
