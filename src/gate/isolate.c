/* How a gate is locked in. Three stages, in this order, each whole before the next begins:
 *
 *   read    settings, and whatever a library reads from files: c-ares its configuration, OpenSSL
 * its own, its providers and certificates, all of them their random numbers. After this there are
 * no files: a library that tries gets ENOENT lock    this file. The keeper has made the process
 * with user, mount, PID, IPC, UTS and cgroup namespaces of its own, as process 1 and with an
 * unprivileged uid (host/isolate.h); it keeps the network of the host, which it is there to use.
 * Now: an empty read-only root, no capabilities, limits, memory that no other process can look
 * into, the filter serve   the first byte that is not the keeper's is read now: the channel is
 * opened, and the loop runs
 *
 * The filter is made at build time (tools/gen-gate-filter.c says what it allows, traps and kills
 * for) from the comments "#syscalls:", "#ioctls:" and "#sockopts:" at the functions that need each.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/gate.h"
#include "host/jail.h"

/* Connections with two descriptors each, look-ups, and some. */
#define FILES_MAX (2 * GATE_CONNS_MAX + 2048)
#define DATA_MAX (512UL << 20)
#define STACK_MAX (8UL << 20)

static const struct sock_filter program[] = {
#include "gate_filter.h"
};

/* The call was not made. */
static void denied(int sig, siginfo_t *si, void *context)
{
	char line[128];
	int n = snprintf(line, sizeof(line),
			 "viv: viv-gate made system call %d, which it is not allowed (at %p); "
			 "please report this\n",
			 si->si_syscall, si->si_call_addr);

	(void)sig;
	(void)context;
	(void)!write(STDERR_FILENO, line, (size_t)n);
	_exit(125);
}

static int isolate_stage_rlimits(void)
{
	static const struct {
		int which;
		rlim_t max;
	} limits[] = {
		{ RLIMIT_NOFILE, FILES_MAX },	  { RLIMIT_CORE, 0 },
		{ RLIMIT_FSIZE, GATE_NAMES_MAX }, { RLIMIT_NPROC, 0 },
		{ RLIMIT_MSGQUEUE, 0 },		  { RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_SIGPENDING, 16 },	  { RLIMIT_STACK, STACK_MAX },
#ifndef __SANITIZE_ADDRESS__ /* whose own memory is terabytes, most of it never used */
		{ RLIMIT_DATA, DATA_MAX },
#endif
	};

	for (unsigned i = 0; i < ARRAY_LEN(limits); i++) {
		int err = rlimit_set(limits[i].which, limits[i].max, limits[i].max);

		if (err)
			return err;
	}
	return 0;
}

static int isolate_stage_filter(void)
{
	struct sock_fprog prog = { .len = ARRAY_LEN(program),
				   .filter = (struct sock_filter *)program };
	struct sigaction sa = { .sa_sigaction = denied, .sa_flags = SA_SIGINFO };

	if (prctl(PR_SET_DUMPABLE, 0) < 0 || sigaction(SIGSYS, &sa, NULL) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return -errno;
	return 0;
}

/* What glibc, the compiler's runtime and the sanitizers do by themselves:
 * #syscalls: exit exit_group rt_sigreturn rt_sigaction rt_sigprocmask restart_syscall brk futex
 * #syscalls: mmap mprotect munmap mremap madvise clock_gettime gettimeofday time getpid gettid
 * #syscalls: tgkill getrandom sysinfo read write readv writev close fstat lseek fcntl ioctl */
int isolate_enter(struct err *e)
{
	struct frame frame;
	const char *stage = "frame";
	int err = isolate_stage_frame(&frame);

	if (!err)
		stage = "root", err = isolate_stage_root(&frame);
	if (!err)
		stage = "caps", err = isolate_stage_caps(0);
	if (!err)
		stage = "rlimits", err = isolate_stage_rlimits();
	if (!err)
		stage = "filter", err = isolate_stage_filter();
	return err ? err_set(e, ERR_FAILED, "isolation failed at stage '%s': %s", stage,
			     strerror(-err))
		   : 0;
}

#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* No files, no processes: no names in reports, no search for leaks at the end. */
const char *__asan_default_options(void)
{
	return "symbolize=0:detect_leaks=0";
}

const char *__ubsan_default_options(void)
{
	return "symbolize=0:print_stacktrace=1";
}
#endif
