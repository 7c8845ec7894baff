/* Descriptors and files of the host: thin wrappers that turn errno into a negative result.
 *
 * Nothing here decides anything. Where the C library would make another call than its name says, or
 * would emulate a flag through /proc, the system call is made directly, so that the "#syscalls:"
 * lines are exactly what reaches the host: they are the source of the kernel's own allowlist. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "wire/bootspec.h"
#include "host/fdmsg.h"
#include "host/openhow.h"

#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static inline int result(long r)
{
	return r < 0 ? -errno : (int)r;
}

static inline int64_t result64(int64_t r)
{
	return r < 0 ? -errno : r;
}

/* #syscalls: close */
int host_close(int fd)
{
	return result(close(fd));
}

/* #syscalls: read */
int64_t host_read(int fd, void *buf, size_t n)
{
	return result64(read(fd, buf, n));
}

/* #syscalls: write */
int64_t host_write(int fd, const void *buf, size_t n)
{
	return result64(write(fd, buf, n));
}

/* #syscalls: pread64 */
int64_t host_pread(int fd, void *buf, size_t n, int64_t off)
{
	return result64(pread(fd, buf, n, off));
}

/* #syscalls: pwrite64 */
int64_t host_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	return result64(pwrite(fd, buf, n, off));
}

/* ---- below a directory ---- */

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
#define MAKE (O_RDWR | O_CREAT | O_EXCL)

/* One for each combination of what callers want. */
union how {
	struct open_how how;
	char step[OPENHOW_STEP];
};
enum {
	ACCESS_PATH = 3,
	HOW_NOFOLLOW = 4,
	HOW_NONBLOCK = 8,
	HOW_DIRECTORY = 16,
	HOW_XDEV = 32,
	HOW_MAKE = 64,
	HOWS
};
_Static_assert(sizeof(struct open_how) == OPENHOW_SIZE &&
		       HOWS * OPENHOW_STEP <= OPENHOW_END - OPENHOW_BASE,
	       "open_how");

static bool hows_are_sealed;

/* Which one; -EINVAL: none is like that. */
static int how_index(int flags, mode_t mode, bool xdev)
{
	const int known = O_ACCMODE | O_PATH | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_DIRECTORY;

	if (flags == MAKE)
		return mode == OPENHOW_MODE && !xdev ? HOW_MAKE : -EINVAL;
	if ((flags & ~known) || (flags & O_ACCMODE) == O_ACCMODE ||
	    (!(flags & O_NONBLOCK) != !(flags & O_NOCTTY)))
		return -EINVAL;
	return (flags & O_PATH ? ACCESS_PATH : flags & O_ACCMODE) |
	       (flags & O_NOFOLLOW ? HOW_NOFOLLOW : 0) | (flags & O_NONBLOCK ? HOW_NONBLOCK : 0) |
	       (flags & O_DIRECTORY ? HOW_DIRECTORY : 0) | (xdev ? HOW_XDEV : 0);
}

static struct open_how how_make(int index)
{
	int access = index & ACCESS_PATH;
	struct open_how how = { .resolve = BENEATH | (index & HOW_XDEV ? RESOLVE_NO_XDEV : 0) };

	if (index == HOW_MAKE) {
		how.flags = O_CLOEXEC | MAKE;
		how.mode = OPENHOW_MODE;
		return how;
	}
	how.flags = O_CLOEXEC | (access == ACCESS_PATH ? O_PATH : (unsigned)access) |
		    (index & HOW_NOFOLLOW ? O_NOFOLLOW : 0) |
		    (index & HOW_NONBLOCK ? O_NONBLOCK | O_NOCTTY : 0) |
		    (index & HOW_DIRECTORY ? O_DIRECTORY : 0);
	return how;
}

int host_open_prepare(void)
{
	union how all[HOWS] = { 0 };
	void *p;
	int fd;

	for (int i = 0; i < HOWS; i++)
		all[i].how = how_make(i);
	fd = host_memfd_sealed("viv-open", all, sizeof(all));
	if (fd < 0)
		return fd;
	p = mmap((void *)OPENHOW_BASE, OPENHOW_END - OPENHOW_BASE, PROT_READ,
		 MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	host_close(fd);
	if (p != (void *)OPENHOW_BASE)
		return p == MAP_FAILED ? -errno : -EEXIST;
	hows_are_sealed = true;
	return 0;
}

/* #syscalls: openat2 */
static int open_resolve(int dirfd, const char *path, int flags, mode_t mode, bool xdev)
{
	int index = how_index(flags, mode, xdev), tries = 8;
	struct open_how local;
	const struct open_how *how = &local;
	long r;

	if (index < 0)
		return index;
	if (hows_are_sealed)
		how = &((const union how *)OPENHOW_BASE)[index].how;
	else
		local = how_make(index);
	/* The host gives EAGAIN when a rename anywhere raced with the confinement check. */
	do {
		r = syscall(SYS_openat2, dirfd, path, how, OPENHOW_SIZE);
	} while (r < 0 && (errno == EAGAIN || errno == EINTR) && --tries > 0);
	return result(r);
}

int host_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
	return open_resolve(dirfd, path, flags, mode, false);
}

int host_open_beneath_xdev(int dirfd, const char *path, int flags)
{
	return open_resolve(dirfd, path, flags, 0, true);
}

/* #syscalls: openat */
int host_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	return result(openat(dirfd, path, flags | O_CLOEXEC, mode));
}

/* The C library makes newfstatat for both.
 * #syscalls: newfstatat fstat */
int host_fstat(int fd, struct stat *st)
{
	return result(fstat(fd, st));
}

/* #syscalls: newfstatat */
int host_fstatat(int dirfd, const char *name, struct stat *st, int flags)
{
	return result(fstatat(dirfd, name, st, flags));
}

/* #syscalls: fstatfs */
int host_fstatfs(int fd, struct statfs *st)
{
	return result(fstatfs(fd, st));
}

/* #syscalls: readlinkat */
int host_readlinkat(int dirfd, const char *name, char *buf, size_t size)
{
	return result(readlinkat(dirfd, name, buf, size));
}

/* #syscalls: mkdirat */
int host_mkdirat(int dirfd, const char *name, mode_t mode)
{
	return result(mkdirat(dirfd, name, mode));
}

/* #syscalls: mknodat */
int host_mknodat(int dirfd, const char *name, mode_t mode, dev_t dev)
{
	return result(mknodat(dirfd, name, mode, dev));
}

/* #syscalls: symlinkat */
int host_symlinkat(const char *target, int dirfd, const char *name)
{
	return result(symlinkat(target, dirfd, name));
}

/* #syscalls: linkat */
int host_linkat(int odirfd, const char *oname, int ndirfd, const char *nname, int flags)
{
	return result(linkat(odirfd, oname, ndirfd, nname, flags));
}

/* #syscalls: unlinkat */
int host_unlinkat(int dirfd, const char *name, int flags)
{
	return result(unlinkat(dirfd, name, flags));
}

/* #syscalls: renameat2 */
int host_renameat2(int odirfd, const char *oname, int ndirfd, const char *nname, unsigned flags)
{
	return result(syscall(SYS_renameat2, odirfd, oname, ndirfd, nname, flags));
}

/* #syscalls: inotify_init1 */
int host_inotify(void)
{
	return result(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
}

/* #syscalls: fchdir */
int host_fchdir(int fd)
{
	return result(fchdir(fd));
}

/* The call takes a path only, which begins in the directory that we are in: dirfd from now on.
 * #syscalls: inotify_add_watch */
int host_inotify_add(int fd, int dirfd, const char *name, uint32_t mask)
{
	int r = host_fchdir(dirfd);

	return r < 0 ? r : result(inotify_add_watch(fd, name, mask | IN_DONT_FOLLOW));
}

/* #syscalls: inotify_rm_watch */
int host_inotify_remove(int fd, int wd)
{
	return result(inotify_rm_watch(fd, wd));
}

/* #syscalls: fchmod */
int host_fchmod(int fd, mode_t mode)
{
	return result(fchmod(fd, mode));
}

/* Never follows a link; an empty name means dirfd itself, which may be O_PATH. -ENOSYS before Linux
 * 6.6: plain fchmodat has no flags, and the C library's emulation goes through /proc.
 * #syscalls: fchmodat2 */
int host_fchmodat(int dirfd, const char *name, mode_t mode)
{
	int flags = name[0] ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

	return result(syscall(SYS_fchmodat2, dirfd, name, mode, flags));
}

/* #syscalls: utimensat */
int host_utimensat(int dirfd, const char *name, const struct timespec ts[2], int flags)
{
	return result(syscall(SYS_utimensat, dirfd, name, ts, flags));
}

/* #syscalls: ftruncate */
int host_ftruncate(int fd, int64_t size)
{
	return result(ftruncate(fd, size));
}

/* #syscalls: fallocate */
int host_fallocate(int fd, int mode, int64_t off, int64_t len)
{
	return result(fallocate(fd, mode, off, len));
}

/* #syscalls: fsync fdatasync */
int host_fsync(int fd, bool data_only)
{
	return result(data_only ? fdatasync(fd) : fsync(fd));
}

/* #syscalls: syncfs */
int host_syncfs(int fd)
{
	return result(syncfs(fd));
}

/* #syscalls: lseek */
int64_t host_lseek(int fd, int64_t off, int whence)
{
	return result64(lseek(fd, off, whence));
}

/* #syscalls: copy_file_range */
int64_t host_copy_range(int in, int64_t in_off, int out, int64_t out_off, size_t n)
{
	return result64(copy_file_range(in, &in_off, out, &out_off, n, 0));
}

/* #syscalls: ioctl
 * #ioctls: FICLONE */
int host_reflink(int dst, int src)
{
	return result(ioctl(dst, FICLONE, src));
}

/* #syscalls: getdents64 */
int64_t host_getdents(int fd, void *buf, size_t size)
{
	return result64(syscall(SYS_getdents64, fd, buf, size));
}

/* #syscalls: ioctl */
int host_ioctl(int fd, unsigned long cmd, void *arg)
{
	return result(ioctl(fd, cmd, arg));
}

/* #syscalls: memfd_create */
int host_memfd(const char *name, unsigned flags)
{
	return result(memfd_create(name, flags | MFD_CLOEXEC));
}

/* #syscalls: fcntl */
int host_fcntl(int fd, int cmd, long arg)
{
	return result(fcntl(fd, cmd, arg));
}

int host_memfd_sealed(const char *name, const void *buf, size_t n)
{
	int fd = host_memfd(name, MFD_ALLOW_SEALING);
	int64_t put;
	int r;

	if (fd < 0)
		return fd;
	put = n ? host_pwrite(fd, buf, n, 0) : 0;
	r = put < 0 ? (int)put : (size_t)put < n ? -EIO : 0;
	if (r == 0)
		r = host_fcntl(fd, F_ADD_SEALS,
			       F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	if (r < 0) {
		host_close(fd);
		return r;
	}
	return fd;
}

/* #syscalls: fgetxattr */
int host_fgetxattr(int fd, const char *name, void *buf, size_t size)
{
	return result(fgetxattr(fd, name, buf, size));
}

/* Of the entry name of a directory, which is not followed when it is a link. -ENOSYS before Linux
 * 6.13. #syscalls: getxattrat */
int host_getxattrat(int dirfd, const char *name, const char *attr, void *buf, size_t size)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = { (uintptr_t)buf, (uint32_t)size, 0 };

	return result(syscall(SYS_getxattrat, dirfd, name, AT_SYMLINK_NOFOLLOW, attr, &args,
			      sizeof(args)));
}

/* #syscalls: fsetxattr */
int host_fsetxattr(int fd, const char *name, const void *buf, size_t size, int flags)
{
	return result(fsetxattr(fd, name, buf, size, flags));
}

/* #syscalls: flistxattr */
int host_flistxattr(int fd, char *buf, size_t size)
{
	return result(flistxattr(fd, buf, size));
}

/* #syscalls: fremovexattr */
int host_fremovexattr(int fd, const char *name)
{
	return result(fremovexattr(fd, name));
}

/* #syscalls: fcntl */
int host_dup(int fd)
{
	return result(fcntl(fd, F_DUPFD_CLOEXEC, SPEC_FDS));
}

/* #syscalls: ppoll */
int host_poll(struct pollfd *fds, unsigned n, int64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / NSEC_PER_SEC, timeout_ns % NSEC_PER_SEC };

	return result(ppoll(fds, n, timeout_ns < 0 ? NULL : &ts, NULL));
}

int host_write_all(int fd, const void *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		int64_t put = host_write(fd, (const char *)buf + done, n - done);
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (put == -EAGAIN || put == -EINTR)
			(void)host_poll(&p, 1, -1);
		else if (put < 0)
			return (int)put;
		else
			done += (size_t)put;
	}
	return 0;
}

/* #syscalls: sendto */
int64_t host_send(int fd, const void *buf, size_t n, int flags)
{
	return result64(send(fd, buf, n, flags));
}

int64_t host_send_fd(int fd, const void *buf, size_t n, int pass)
{
	int err = fdmsg_send(fd, buf, n, &pass, pass >= 0 ? 1 : 0, MSG_DONTWAIT);

	return err ? err : (int64_t)n;
}

/* #syscalls: shutdown */
int host_shutdown(int fd, int how)
{
	return result(shutdown(fd, how));
}

/* #syscalls: recvfrom */
int64_t host_recv(int fd, void *buf, size_t n, int flags)
{
	return result64(recv(fd, buf, n, flags));
}

/* #syscalls: openat */
int host_reopen_readonly(int proc_fd, int fd)
{
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "1/fd/%d", fd); /* the kernel is process 1 there */
	ret = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

/* #syscalls: prlimit64 */
uint64_t host_max_files(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_NOFILE, &l) < 0 ? 1024 : l.rlim_cur;
}
