/* The first runner.
 *
 * It is cloned with the kernel's memory and descriptors shared and the kernel waiting (as vfork
 * does), so the listener that the filter gives it appears in the kernel's own table: no descriptor
 * has to be sent from a process that may not send. Its execve of the stub then gives it a table of
 * its own, in which nothing is left but the stub: every other descriptor is close-on-exec. The stub
 * has a fixed number there, which in the kernel's table may be anything's, one of a disk's many
 * layers say: that file makes way for the time of the clone. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/runner.h"
#include "stub/stub.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static struct sock_filter filter[] = {
#include "runner_filter.h"
};

static int stub_fd = -1; /* wherever there was room */

struct spawn {
	char *const *argv;
	char *const *envp;
	int listener;
	int err;
};

/* The stub's program header for shared memory gets its place in the file, behind everything else.
 * It has none as it was linked. */
static int shared_segment(int fd, const char *elf, uint64_t addr, uint64_t off, uint64_t size)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)elf;

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		uint64_t at = eh->e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr ph;

		memcpy(&ph, elf + at, sizeof(ph));
		if (ph.p_type != PT_LOAD || ph.p_vaddr != addr)
			continue;
		ph.p_type = size ? PT_LOAD : PT_NULL;
		ph.p_offset = off;
		ph.p_filesz = ph.p_memsz = size;
		return pwrite(fd, &ph, sizeof(ph), (off_t)at) == sizeof(ph) ? 0 : -EIO;
	}
	return -ENOEXEC;
}

/* Nobody can write to the file any more, or map it shared and writable, but through the mapping
 * made here before that. A private mapping, which execve makes, shows what we write as long as its
 * owner does not write there himself. */
int runner_stub_install(const void *elf, size_t size, uint64_t shared_addr, size_t shared_size,
			void **ret_shared)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;
	off_t off = (off_t)ALIGN_UP(size, PAGE_SIZE);
	int fd = memfd_create("viv-stub", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC), ret;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("viv-stub", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (write(fd, elf, size) != (ssize_t)size || fchmod(fd, 0555) < 0)
		return -errno;
	ret = shared_segment(fd, elf, shared_addr, (uint64_t)off, shared_size);
	if (ret < 0)
		return ret;
	*ret_shared = NULL;
	if (shared_size) {
		if (ftruncate(fd, off + (off_t)shared_size) < 0)
			return -errno;
		*ret_shared = mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, off);
		if (*ret_shared == MAP_FAILED)
			return -errno;
	}
	if (fcntl(fd, F_ADD_SEALS, seals | (shared_size ? F_SEAL_FUTURE_WRITE : F_SEAL_WRITE)) < 0)
		return -errno;
	stub_fd = fd;
	return 0;
}

/* Puts the stub at its number for runners; what was there is *ret_moved now, or -1. */
static int stub_place(int *ret_moved)
{
	*ret_moved = -1;
	if (stub_fd != STUB_FD) {
		*ret_moved = fcntl(STUB_FD, F_DUPFD_CLOEXEC, STUB_FD + 1);
		if (*ret_moved < 0 && errno != EBADF)
			return -errno;
		if (dup3(stub_fd, STUB_FD, O_CLOEXEC) < 0)
			return -errno;
	}
	return fcntl(STUB_FD, F_SETFD, 0) < 0 ? -errno : 0;
}

static int stub_unplace(int moved)
{
	int ret = 0;

	if (moved >= 0) {
		ret = dup3(moved, STUB_FD, O_CLOEXEC) < 0 ? -errno : 0;
		close(moved);
	} else {
		close(STUB_FD);
	}
	if (stub_fd != STUB_FD)
		close(stub_fd);
	stub_fd = -1;
	return ret;
}

/* In the child; shares memory with the kernel until the last line. */
static int spawn_child(void *arg)
{
	struct spawn *s = arg;
	struct sock_fprog prog = { .len = ARRAY_LEN(filter), .filter = filter };
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t all;

	for (int sig = 1; sig < 65; sig++)
		sigaction(sig, &sa, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* In the kernel's session, which has no terminal, and in a group that is not the kernel's:
	 * so the host does not take it for orphaned, and stops it by a stop signal that it unblocks
	 * (kernel/task/signal.c). */
	setpgid(0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		s->err = errno;
		_exit(1);
	}
	s->listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				   SECCOMP_FILTER_FLAG_NEW_LISTENER |
					   SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
				   &prog);
	if (s->listener < 0) {
		s->err = errno;
		_exit(1);
	}
	/* From here on every call but the filter's own list would wait for the kernel, which waits
	 * for us. */
	syscall(SYS_execveat, STUB_FD, "", s->argv, s->envp, AT_EMPTY_PATH, STUB_MAGIC);
	s->err = errno;
	syscall(SYS_exit_group, 1);
	return 1;
}

pid_t runner_spawn(char *const argv[], char *const envp[], int *ret_listener)
{
	static char stack[65536] __attribute__((aligned(64)));
	/* Set from here: before, the listener needs a number that the kernel has free, and later it
	 * waits for us. */
	struct rlimit nofile = { STUB_SLOT_FD + STUB_SLOTS + 8, STUB_SLOT_FD + STUB_SLOTS + 8 };
	struct spawn s = { .argv = argv, .envp = envp, .listener = -1 };
	int moved, ret;
	pid_t pid;

	if (syscall(SYS_close_range, 0, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	ret = stub_place(&moved);
	if (ret < 0)
		return ret;
	pid = clone(spawn_child, stack + sizeof(stack),
		    CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &s);
	if (pid < 0)
		return -errno;
	ret = stub_unplace(moved);
	if (ret == 0 && !s.err && prlimit(pid, RLIMIT_NOFILE, &nofile, NULL) < 0)
		ret = -errno;
	if (s.err || ret < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return s.err ? -s.err : ret;
	}
	*ret_listener = s.listener;
	return pid;
}
