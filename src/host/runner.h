/* The first runner: the host process whose children are all others. */
#ifndef VIV_HOST_RUNNER_H
#define VIV_HOST_RUNNER_H

#include <sys/types.h>

#include "base/base.h"

/* Puts the stub (an ELF file in memory) behind descriptor STUB_FD. 0 or -errno. */
int must_check runner_stub_install(const void *elf, size_t size);
/* Starts a runner that executes the stub under the filter with these strings. Its number, or -errno; the listener of its
 * notifications in *ret_listener. Must come before the kernel gives up the right to clone. */
pid_t must_check runner_spawn(char *const argv[], char *const envp[], int *ret_listener);

#endif
