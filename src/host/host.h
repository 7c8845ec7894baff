/* The only door to the host's system calls. Every function returns a result or a negative errno;
 * the host's errno is read nowhere else. Each function of the .c files that the kernel uses carries
 * a comment
 *     #syscalls: name [name...]
 * from which the kernel's own seccomp allowlist is generated (tools/gen-seccomp). Paths given here
 * never come from a guest with more than one component, except to host_open_beneath. */
#ifndef VIV_HOST_HOST_H
#define VIV_HOST_HOST_H

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

#include "base/base.h"

struct iovec;
struct pollfd;

/* ---- descriptors and files (host/file.c) ---- */
int host_close(int fd);
int64_t host_read(int fd, void *buf, size_t n);
int64_t host_write(int fd, const void *buf, size_t n);
/* All of it, also to what is not ready yet: waits. 0 or -errno. */
int must_check host_write_all(int fd, const void *buf, size_t n);
int64_t host_pread(int fd, void *buf, size_t n, int64_t off);
int64_t host_pwrite(int fd, const void *buf, size_t n, int64_t off);
/* openat2 with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | O_CLOEXEC: path may
 * have several components, none of which may be a link or lead out of dirfd. flags: an access mode
 * or O_PATH, O_NOFOLLOW, O_NONBLOCK | O_NOCTTY, O_DIRECTORY; or exactly O_RDWR | O_CREAT | O_EXCL,
 * with the mode 0644. */
int host_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
/* The same, and no mount below dirfd is crossed either (-EXDEV). Makes nothing. */
int host_open_beneath_xdev(int dirfd, const char *path, int flags);
/* In the kernel, before it is sealed: from here on the arguments are where nobody can change them
 * (host/openhow.h). */
int must_check host_open_prepare(void);
/* Plain openat (O_CLOEXEC added), for paths of the operator or of one component. */
int host_openat(int dirfd, const char *path, int flags, mode_t mode);
int host_fstat(int fd, struct stat *st);
int host_fstatat(int dirfd, const char *name, struct stat *st, int flags);
int host_fstatfs(int fd, struct statfs *st);
int host_readlinkat(int dirfd, const char *name, char *buf, size_t size);
int host_mkdirat(int dirfd, const char *name, mode_t mode);
int host_mknodat(int dirfd, const char *name, mode_t mode, dev_t dev);
int host_symlinkat(const char *target, int dirfd, const char *name);
int host_linkat(int odirfd, const char *oname, int ndirfd, const char *nname, int flags);
int host_unlinkat(int dirfd, const char *name, int flags);
int host_renameat2(int odirfd, const char *oname, int ndirfd, const char *nname, unsigned flags);
int host_fchdir(int fd);
int host_inotify(void);
int host_inotify_add(int fd, int dirfd, const char *name, uint32_t mask); /* never follows a link */
int host_inotify_remove(int fd, int wd);
int host_fchmod(int fd, mode_t mode);
int host_fchmodat(int dirfd, const char *name,
		  mode_t mode); /* no link is followed; name "": dirfd itself, O_PATH too */
int host_utimensat(int dirfd, const char *name, const struct timespec ts[2],
		   int flags); /* name NULL: dirfd itself */
int host_ftruncate(int fd, int64_t size);
int host_fallocate(int fd, int mode, int64_t off, int64_t len);
int host_fsync(int fd, bool data_only);
int host_syncfs(int fd);
int64_t host_lseek(int fd, int64_t off, int whence);
int64_t host_copy_range(int in, int64_t in_off, int out, int64_t out_off,
			size_t n); /* copy_file_range, may be short; -EXDEV etc. */
int host_reflink(int dst, int src); /* FICLONE */
int64_t host_getdents(int fd, void *buf, size_t size);
int host_ioctl(int fd, unsigned long cmd, void *arg);
int host_memfd(const char *name, unsigned flags);
/* A new descriptor of n bytes that nobody can change. */
int must_check host_memfd_sealed(const char *name, const void *buf, size_t n);
int host_fcntl(int fd, int cmd, long arg);
int host_getxattrat(int dirfd, const char *name, const char *attr, void *buf, size_t size);
int host_fgetxattr(int fd, const char *name, void *buf, size_t size);
int host_fsetxattr(int fd, const char *name, const void *buf, size_t size, int flags);
int host_flistxattr(int fd, char *buf, size_t size);
int host_fremovexattr(int fd, const char *name);
/* The same file for reading only, through the kernel's own /proc. */
int host_reopen_readonly(int proc_fd, int fd);
uint64_t host_max_files(void); /* RLIMIT_NOFILE */
int host_dup(int fd); /* F_DUPFD_CLOEXEC above the fixed numbers */
int host_poll(struct pollfd *fds, unsigned n, int64_t timeout_ns); /* < 0: for ever */
int64_t host_send(int fd, const void *buf, size_t n,
		  int flags); /* sockets that are the caller's streams */
/* A message with a copy of descriptor pass (-1: none); never waits. */
int64_t host_send_fd(int fd, const void *buf, size_t n, int pass);
int64_t host_recv(int fd, void *buf, size_t n, int flags);
int host_shutdown(int fd, int how);

/* ---- memory, clocks (host/sys.c) ---- */
void *host_map_anon(void *fixed_addr, size_t n); /* NULL on failure; fixed_addr NULL: anywhere */
void *host_map_file(int fd, size_t n); /* read-only, private; NULL on failure */
void *host_map_shared(int fd, size_t n); /* to read and write; NULL on failure */
void host_unmap(void *p, size_t n);
void host_discard(void *p, size_t n); /* madvise DONTNEED */
int64_t host_clock(int clock_id); /* ns */
void host_random(void *buf, size_t n);
/* On: we move to another processor than the one we are on, and stay away from that; off: we are no
 * longer bound. */
void host_cpu_leave(bool on);
/* The processors that are ours, also while we stay away from one; 0 or -errno. */
int host_cpus_get(uint64_t *mask, size_t bytes);
int host_cpus_set(const uint64_t *mask, size_t bytes);
void host_cpu_unbind(
	pid_t tid); /* a thread of ours, made meanwhile: may run where we could before */
int host_cpu(void); /* that we are on */
void host_yield(void);
int64_t host_own_cputime(void); /* of this process and its ended children, ns */
uint32_t host_uid(void); /* the effective one, as this user namespace numbers it */

#endif
