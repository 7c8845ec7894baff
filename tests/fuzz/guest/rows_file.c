/* Files, mounts and bytes: what goes through a path or moves between descriptors. */
#include "guest.h"

#include <linux/nsfs.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/uio.h>

#define OPENS OF(O_RDONLY, O_RDWR | O_CREAT, O_WRONLY, O_RDWR | O_CREAT | O_TRUNC, O_RDWR | O_APPEND, O_RDWR | O_CREAT | O_EXCL, O_NOFOLLOW, \
		 O_RDWR | O_NONBLOCK, O_RDONLY | O_NONBLOCK, O_RDWR)
#define XATTR TEXT("user.a", "user.b", "security.capability", "trusted.x", "system.posix_acl_access", "user.")

static const char *drop_names[] = { "1", "2", "3" };

/* What /proc/sys/vm/drop_caches is for: whatever is not held is gone. */
static void drop_caches(struct run *run)
{
	const char *what = drop_names[r(run, 3)];
	long fd = RAW(SYS_openat, AT_FDCWD, "/proc/sys/vm/drop_caches", O_WRONLY);

	say(run, "%s", what);
	RAW(SYS_write, fd, what, 1);
	RAW(SYS_close, fd);
}

static void read_all(struct run *run, const char *path)
{
	long fd = RAW(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);

	say(run, "%s", path);
	RAW(SYS_read, fd, run->data, 9000);
	RAW(SYS_getdents64, fd, run->data, 4096);
	RAW(SYS_close, fd);
}

static void proc_read(struct run *run)
{
	static const char *const files[] = { "/proc/self/mountinfo", "/proc/self/maps", "/proc/locks", "/proc/net/unix", "/proc/sysvipc/shm", "/proc/slabinfo",
					     "/proc/self/fdinfo/44", "/proc/self/fdinfo/62", "/proc/self/task", "/proc/mounts", "/proc/sysvipc/sem",
					     "/proc/sysvipc/msg", "/proc/self/status", "/proc/self/timers", "/proc/net/tcp", "/proc/self/fdinfo",
					     "/proc/self/smaps", "/proc/self/numa_maps", "/proc/self/pagemap", "/proc/self/io", "/proc/net/snmp",
					     "/proc/loadavg", "/proc/self/coredump_filter" };

	read_all(run, files[r(run, sizeof(files) / sizeof(files[0]))]);
}

static const struct row rows_file[] = {
	{ CALL(openat, DIRFD, PATH, OPENS, MODE), GIVES(K_FILE), .weight = 5 },
	{ CALL(openat, DIRFD, DIRPATH, OF(O_DIRECTORY, O_DIRECTORY | O_PATH), V(0)), GIVES(K_DIR), .weight = 2 },
	{ CALL(openat, DIRFD, PATH, OF(O_PATH, O_PATH | O_NOFOLLOW), V(0)), GIVES(K_OPATH) },
	{ CALL(openat, DIRFD, DIRPATH, OF(O_TMPFILE | O_RDWR, O_TMPFILE | O_RDWR | O_EXCL), MODE), GIVES(K_FILE) },
	{ CALL(openat, V(AT_FDCWD), PATH, OF(O_RDONLY | O_NONBLOCK), V(0)), GIVES(K_PROC) },
	{ NUMBER("openat2", 437, DIRFD, PATH, HOW, V(24)), GIVES(K_FILE) },
	{ CALL(mkdirat, DIRFD, DIRPATH, MODE), .weight = 2 },
	{ CALL(unlinkat, DIRFD, PATH, OF(0, AT_REMOVEDIR)), .weight = 2 },
	{ CALL(renameat2, DIRFD, PATH, DIRFD, PATH, OF(0, 0, RENAME_EXCHANGE, RENAME_NOREPLACE, RENAME_WHITEOUT)), .weight = 3 },
	{ CALL(linkat, DIRFD, PATH, DIRFD, PATH, OF(0, AT_SYMLINK_FOLLOW)) },
	{ CALL(linkat, ANYFD, TEXT(""), DIRFD, PATH, V(AT_EMPTY_PATH)) },
	{ CALL(symlinkat, PATH, DIRFD, PATH) },
	{ CALL(mknodat, DIRFD, PATH, OF(S_IFIFO | 0600, S_IFREG | 0600, S_IFSOCK | 0600, S_IFCHR | 0600), BELOW(600)) },
	{ CALL(newfstatat, DIRFD, PATH, MEM, OF(0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH)), .weight = 1 },
	{ CALL(statx, DIRFD, PATH, OF(0, AT_EMPTY_PATH), V(0xfff), MEM) },
	{ CALL(truncate, PATH, OFFSET) },
	{ CALL(ftruncate, FD(K_FILE), OFFSET) },
	{ CALL(fallocate, FD(K_FILE), OF(0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
					 FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE), BELOW(100000), BELOW(100000)) },
	{ CALL(fchmodat, DIRFD, PATH, MODE) },
	{ CALL(fchown, ANYFD, BELOW(3), BELOW(3)) },
	{ CALL(readlinkat, DIRFD, PATH, MEM, BELOW(300)) },
	{ CALL(setxattr, PATH, XATTR, MEM, BELOW(300), BELOW(3)) },
	{ CALL(fsetxattr, FD(K_FILE), XATTR, MEM, BELOW(300), BELOW(3)) },
	{ CALL(getxattr, PATH, XATTR, MEM, BELOW(300)) },
	{ CALL(flistxattr, ANYFD, MEM, BELOW(300)) },
	{ CALL(removexattr, PATH, XATTR) },
	{ CALL(getdents64, FD(K_DIR), MEM, BELOW(9000)), .weight = 1 },
	{ CALL(lseek, FD(K_FILE), OFFSET, BELOW(6)) },
	{ CALL(lseek, FD(K_DIR), BELOW(20), BELOW(3)) },
	{ CALL(chdir, DIRPATH), .weight = 1 },
	{ CALL(fchdir, FD(K_DIR)), .weight = 1 },
	{ CALL(getcwd, MEM, BELOW(300)) },
	{ CALL(utimensat, DIRFD, PATH, V(0), V(0)) },
	{ CALL(fsync, FD(K_FILE)) },
	{ CALL(syncfs, ANYFD) },
	{ CALL(sync) },
	{ CALL(statfs, PATH, MEM) },
	{ CALL(faccessat, DIRFD, PATH, BELOW(8)) },
	{ CALL(umask, MODE) },
	{ CALL(inotify_add_watch, FD(K_INOTIFY), PATH, OF(IN_ALL_EVENTS, IN_ALL_EVENTS | IN_ONESHOT, IN_DELETE_SELF | IN_MASK_ADD, IN_MODIFY)), .weight = 1 },
	{ DO("proc_read", proc_read) },
	{ DO("drop_caches", drop_caches) },
};

static const struct row rows_mount[] = {
	{ CALL(mount, TEXT("x"), DIRPATH, TEXT("tmpfs", "tmpfs", "tmpfs", "ramfs", "proc", "sysfs", "devpts", "devtmpfs", "mqueue"), OF(0, 0, MS_RDONLY, MS_NODEV),
	       TEXT("", "size=64k", "nr_inodes=4", "mode=700,uid=1")), .weight = 5 },
	{ CALL(mount, DIRPATH, DIRPATH, V(0), OF(MS_BIND, MS_BIND, MS_BIND | MS_REC)), .weight = 6 },
	{ CALL(mount, PATH, PATH, V(0), V(MS_BIND)), .weight = 2 },
	{ CALL(mount, DIRPATH, DIRPATH, V(0), V(MS_MOVE)), .weight = 2 },
	{ CALL(mount, TEXT("x"), DIRPATH, V(0), OF(MS_REMOUNT | MS_BIND | MS_RDONLY, MS_REMOUNT, MS_REMOUNT | MS_BIND, MS_PRIVATE, MS_SHARED | MS_REC), V(0)) },
	{ CALL(mount, TEXT("x"), DIRPATH, V(0), OF(MS_REMOUNT | MS_RDONLY, MS_REMOUNT | MS_NOATIME, MS_REMOUNT | MS_BIND | 256 /* nosymfollow */),
	       TEXT("size=64k", "size=1", "nr_inodes=2", "size=1m,nr_inodes=100", "", "bogus")), .weight = 2 },
	{ CALL(umount2, DIRPATH, OF(0, 0, MNT_DETACH, MNT_FORCE, MNT_EXPIRE, UMOUNT_NOFOLLOW)), .weight = 8 },
	{ CALL(umount2, PATH, OF(0, MNT_DETACH)), .weight = 1 },
	{ NUMBER("fsopen", 430, TEXT("tmpfs", "proc", "nonesuch"), OF(0, 1)), GIVES(K_OPATH) },
	{ NUMBER("fsconfig", 431, FD(K_OPATH), BELOW(8), TEXT("size", "source", "mode"), TEXT("64k", "x", "700"), V(0)) },
	{ NUMBER("fsmount", 432, FD(K_OPATH), OF(0, 1), OF(0, 1)), GIVES(K_OPATH) },
	{ NUMBER("fspick", 433, DIRFD, DIRPATH, BELOW(4)), GIVES(K_OPATH) },
	{ NUMBER("open_tree", 428, DIRFD, DIRPATH, OF(1, 0x8001, 0)), GIVES(K_OPATH), .weight = 1 },
	{ NUMBER("move_mount", 429, FD(K_OPATH), TEXT(""), V(AT_FDCWD), DIRPATH, V(4)), .weight = 1 },
	{ NUMBER("mount_setattr", 442, DIRFD, DIRPATH, OF(0, 0x8000), MEM, V(32)) },
	{ CALL(pivot_root, DIRPATH, DIRPATH) },
	{ CALL(chroot, DIRPATH) },
	{ CALL(chroot, TEXT("/", "/proc/1/root", "..")) },
	{ CALL(unshare, OF(CLONE_NEWNS, CLONE_FS, CLONE_FILES, CLONE_NEWNS | CLONE_FS)) },
	{ CALL(openat, V(AT_FDCWD), TEXT("/proc/self/ns/mnt", "/proc/1/ns/mnt", "/proc/self/ns/net", "/proc/self/mounts"), V(O_RDONLY), V(0)), GIVES(K_PROC) },
	{ CALL(setns, FD(K_PROC), OF(0, CLONE_NEWNS, CLONE_NEWUTS)) },
	{ CALL(setns, FD(K_PIDFD), OF(CLONE_NEWNS, CLONE_NEWNS | CLONE_NEWUTS, 0)) },
	{ CALL(ioctl, FD(K_PROC), OF(NS_GET_NSTYPE, NS_GET_USERNS, NS_GET_PARENT, NS_GET_OWNER_UID), MEM) },
	{ CALL(mkdirat, DIRFD, DIRPATH, V(0700)), .weight = 3 },
	{ CALL(openat, DIRFD, DIRPATH, OF(O_DIRECTORY, O_DIRECTORY | O_PATH), V(0)), GIVES(K_DIR), .weight = 1 },
	{ CALL(openat, DIRFD, PATH, OF(O_RDWR | O_CREAT, O_RDONLY), V(0600)), GIVES(K_FILE), .weight = 1 },
	{ CALL(chdir, DIRPATH), .weight = 1 },
	{ CALL(fchdir, FD(K_DIR)) },
	{ CALL(close, FD(K_DIR)) },
	{ CALL(close, FD(K_FILE)) },
	{ CALL(unlinkat, DIRFD, DIRPATH, V(AT_REMOVEDIR)) },
	{ CALL(renameat, DIRFD, DIRPATH, DIRFD, DIRPATH) },
	{ CALL(newfstatat, DIRFD, DIRPATH, MEM, V(0)), .weight = 1 },
	{ CALL(inotify_add_watch, FD(K_INOTIFY), DIRPATH, V(IN_ALL_EVENTS)) },
	{ DO("drop_caches", drop_caches), .weight = 4 },
	{ DO("proc_read", proc_read) },
};

static const struct row rows_io[] = {
	{ CALL(read, ANYFD, MEM, LEN), .weight = 3 },
	{ CALL(write, ANYFD, MEM, LEN), .weight = 3 },
	{ CALL(read, FD(K_PIPE), MEM, LEN), .weight = 1 },
	{ CALL(write, FD(K_PIPE), MEM, LEN), .weight = 1 },
	{ CALL(pread64, FD(K_FILE), MEM, LEN, OFFSET) },
	{ CALL(pwrite64, FD(K_FILE), MEM, LEN, BELOW(1 << 24)) },
	{ CALL(readv, ANYFD, IOV, BELOW(5)) },
	{ CALL(writev, ANYFD, IOV, BELOW(5)) },
	{ CALL(preadv2, FD(K_FILE), IOV, BELOW(5), OFFSET, V(0), BELOW(64)) },
	{ CALL(pwritev2, FD(K_FILE), IOV, BELOW(5), BELOW(1 << 24), V(0), BELOW(64)) },
	{ CALL(pipe2, MEM, OF(O_NONBLOCK, O_NONBLOCK, 0, O_CLOEXEC, O_DIRECT | O_NONBLOCK)), .gives = G_PAIR, .kind = K_PIPE, .weight = 2 },
	{ CALL(splice, ANYFD, V(0), FD(K_PIPE), V(0), LEN, OF(SPLICE_F_NONBLOCK, 0)), .weight = 1 },
	{ CALL(splice, FD(K_PIPE), V(0), ANYFD, V(0), LEN, OF(SPLICE_F_NONBLOCK, 0)), .weight = 1 },
	{ CALL(tee, FD(K_PIPE), FD(K_PIPE), LEN, OF(SPLICE_F_NONBLOCK, 0)), .weight = 1 },
	{ CALL(vmsplice, FD(K_PIPE), IOV, BELOW(4), OF(SPLICE_F_NONBLOCK, SPLICE_F_GIFT)) },
	{ CALL(sendfile, ANYFD, FD(K_FILE), V(0), LEN), .weight = 1 },
	{ CALL(copy_file_range, FD(K_FILE), V(0), FD(K_FILE), V(0), LEN, V(0)) },
	{ CALL(dup, ANYFD), GIVES(K_FILE) },
	{ CALL(dup3, ANYFD, ANYFD, OF(0, O_CLOEXEC)), .weight = 1 },
	{ CALL(close, ANYFD), .weight = 2 },
	{ CALL(close_range, ANYFD, ANYFD, OF(0, 4 /* CLOEXEC */, 2 /* UNSHARE */)) },
	{ CALL(fcntl, ANYFD, OF(F_GETFL, F_SETFD, F_GETFD, F_DUPFD, F_DUPFD_CLOEXEC), BELOW(300)) },
	{ CALL(fcntl, ANYFD, V(F_SETFL), OF(O_NONBLOCK, O_NONBLOCK, 0, O_ASYNC | O_NONBLOCK, O_APPEND, O_DIRECT)), .weight = 1 },
	{ CALL(fcntl, ANYFD, OF(F_SETOWN, F_SETSIG, F_GETOWN, F_SETOWN_EX, F_SETLEASE, F_NOTIFY), PID) },
	{ CALL(fcntl, FD(K_PIPE), OF(F_SETPIPE_SZ, F_GETPIPE_SZ), BELOW(1 << 20)) },
	{ CALL(ioctl, ANYFD, OF(0x541b, 0x5421, 0x5451, 0x5450, 0x5452, 0x8901, 0x8905), MEM) },
	{ CALL(readahead, FD(K_FILE), OFFSET, LEN) },
	{ CALL(fadvise64, FD(K_FILE), OFFSET, LEN, BELOW(6)) },
	{ CALL(sync_file_range, FD(K_FILE), OFFSET, LEN, BELOW(8)) },
	{ NUMBER("io_setup", SYS_io_setup, BELOW(20), MEM), .gives = G_CTX },
	{ CALL(io_submit, CTX, BELOW(4), IOCBS), .weight = 1 },
	{ CALL(io_getevents, CTX, BELOW(3), BELOW(8), MEM, TIME), .weight = 1 },
	{ CALL(io_cancel, CTX, MEM, MEM) },
	{ CALL(io_destroy, CTX) },
};

/* Locks of all kinds on few bytes of few files, by threads, processes and open files. */
static const struct row rows_lock[] = {
	{ CALL(openat, V(AT_FDCWD), TEXT("a", "b", "d/a"), OF(O_RDWR | O_CREAT, O_RDONLY), V(0600)), GIVES(K_FILE), .weight = 2 },
	{ CALL(fcntl, FD(K_FILE), OF(F_SETLK, F_SETLKW, F_SETLKW), FLOCK), .weight = 6 },
	{ CALL(fcntl, FD(K_FILE), OF(F_OFD_SETLK, F_OFD_SETLKW), FLOCK), .weight = 4 },
	{ CALL(fcntl, FD(K_FILE), OF(F_GETLK, F_OFD_GETLK), FLOCK), .weight = 1 },
	{ CALL(flock, FD(K_FILE), OF(LOCK_SH, LOCK_EX, LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB)), .weight = 4 },
	{ CALL(dup3, FD(K_FILE), FD(K_FILE), V(0)), .weight = 1 },
	{ CALL(close, FD(K_FILE)), .weight = 2 },
	{ CALL(unlinkat, V(AT_FDCWD), TEXT("a", "b"), V(0)) },
	{ DO("proc_read", proc_read) },
};

#define rows rows_file
TABLE(table_file, "file");
#undef rows
#define rows rows_mount
TABLE(table_mount, "mount");
#undef rows
#define rows rows_io
TABLE(table_io, "io");
#undef rows
#define rows rows_lock
TABLE(table_lock, "lock");
