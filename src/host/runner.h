/* The first runner: the host process whose children are all others. */
#ifndef VIV_HOST_RUNNER_H
#define VIV_HOST_RUNNER_H

#include <sys/types.h>

#include "base/base.h"

/* Makes the file that runners execute of the stub (an ELF file in memory). Its segment at
 * shared_addr becomes shared_size bytes that we can write (at *ret_shared) and runners can read; 0:
 * it goes. Before runner_spawn, which uses it up. 0 or -errno. */
int must_check runner_stub_install(const void *elf, size_t size, uint64_t shared_addr,
				   size_t shared_size, void **ret_shared);
/* Starts a runner that executes the stub under the filter with these strings. Its number, or
 * -errno; the listener of its notifications in *ret_listener. Must come before the kernel gives up
 * the right to clone. */
pid_t must_check runner_spawn(char *const argv[], char *const envp[], int *ret_listener);

#endif
