/* Tries to change the root file system of a cell that was started with --read-only, as its root, in
 * every way that could lead around a read-only mount. Prints each one that worked, and "tried N".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *victim = "/etc/passwd"; /* a file of the image */
static int tried;

static void failed(const char *what, long ret)
{
	tried++;
	if (ret >= 0)
		printf("%s: worked\n", what);
}

/* The same, and the error is that of a read-only file system. */
static void rofs(const char *what, long ret)
{
	int e = errno;

	failed(what, ret);
	if (ret < 0 && e != EROFS)
		printf("%s: %s\n", what, strerror(e));
}

static const char *below(const char *dir, const char *name)
{
	static char buf[8][512];
	static unsigned i;

	i = (i + 1) % 8;
	snprintf(buf[i], sizeof(buf[i]), "%s%s", dir, name);
	return buf[i];
}

static long bind_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	long ret;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	ret = bind(s, (struct sockaddr *)&a, sizeof(a));
	close(s);
	return ret;
}

/* The calls that change something, through a way to the root: "" is the root itself. */
static void calls(const char *top)
{
	const struct timespec times[2] = { { 5, 0 }, { 5, 0 } };
	const char *file = below(top, victim), *new = below(top, "/tmp/new");

	rofs("open for writing", open(file, O_WRONLY));
	rofs("open for both", open(file, O_RDWR));
	rofs("open to append", open(file, O_WRONLY | O_APPEND));
	rofs("O_TRUNC", open(file, O_RDONLY | O_TRUNC));
	rofs("O_CREAT", open(new, O_CREAT | O_RDONLY, 0644));
	rofs("O_CREAT|O_EXCL", open(new, O_CREAT | O_EXCL | O_WRONLY, 0644));
	rofs("O_TMPFILE", open(below(top, "/tmp"), O_TMPFILE | O_RDWR, 0600));
	rofs("mkdir", mkdir(new, 0755));
	rofs("mkdir of what is there", mkdir(new, 0755));
	rofs("mkfifo", mknod(new, S_IFIFO | 0644, 0));
	rofs("mknod", mknod(new, S_IFCHR | 0644, makedev(1, 3)));
	rofs("symlink", symlink("x", new));
	rofs("link", link(file, new));
	rofs("rename", rename(file, new));
	rofs("unlink", unlink(file));
	rofs("rmdir", rmdir(below(top, "/tmp")));
	rofs("truncate", truncate(file, 0));
	rofs("chmod", chmod(file, 0777));
	rofs("fchmodat of /", fchmodat(AT_FDCWD, below(top, "/"), 0777, 0));
	rofs("chown", chown(file, 1, 1));
	rofs("lchown", lchown(file, 1, 1));
	rofs("utimensat", utimensat(AT_FDCWD, file, times, 0));
	rofs("setxattr", setxattr(file, "user.x", "y", 1, 0));
	rofs("removexattr", removexattr(file, "user.x"));
	rofs("bind of a socket", bind_socket(new));
	rofs("access", access(file, W_OK));
}

/* With descriptors that may only read. */
static void descriptors(void)
{
	int fd = open(victim, O_RDONLY), path = open(victim, O_PATH), dir = open("/tmp", O_RDONLY),
	    shm = open("/dev/shm/own", O_CREAT | O_RDWR, 0600), mem,
	    zero = open("/dev/zero", O_RDONLY);
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PWRITE,
			   .aio_buf = (uintptr_t) "x",
			   .aio_nbytes = 1 },
		    *list[] = { &cb };
	struct file_handle *h = calloc(1, sizeof(*h) + MAX_HANDLE_SZ);
	char name[64];
	aio_context_t ctx = 0;
	int id, flags = 0, pipes[2];
	void *map;
	loff_t zero_at = 0;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	rofs("/proc/self/fd for writing", open(name, O_WRONLY));
	rofs("/proc/self/fd truncated", open(name, O_WRONLY | O_TRUNC));
	rofs("truncate of /proc/self/fd", truncate(name, 0));
	rofs("chmod of /proc/self/fd", chmod(name, 0777));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	rofs("O_PATH opened again", open(name, O_RDWR));
	snprintf(name, sizeof(name), "/proc/self/fd/%d/new", dir);
	rofs("O_CREAT below /proc/self/fd", open(name, O_CREAT | O_RDWR, 0644));
	rofs("openat", openat(dir, "new", O_CREAT | O_RDWR, 0644));
	rofs("O_TMPFILE by descriptor", openat(dir, ".", O_TMPFILE | O_RDWR, 0600));
	rofs("fchmod", fchmod(fd, 0777));
	rofs("fchown", fchown(fd, 1, 1));
	rofs("futimens", futimens(fd, NULL));
	rofs("fsetxattr", fsetxattr(fd, "user.x", "y", 1, 0));
	failed("write", write(fd, "x", 1));
	failed("pwrite", pwrite(fd, "x", 1, 0));
	failed("ftruncate", ftruncate(fd, 0));
	failed("fallocate", fallocate(fd, 0, 0, 1 << 20));
	failed("sendfile", sendfile(fd, zero, NULL, 10));
	failed("copy_file_range", copy_file_range(shm, &zero_at, fd, &zero_at, 10, 0));
	failed("FICLONE", ioctl(fd, FICLONE, shm));
	failed("FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
	if (pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1)
		failed("splice", splice(pipes[0], NULL, fd, NULL, 1, 0));
	cb.aio_fildes = (uint32_t)fd;
	if (syscall(SYS_io_setup, 1, &ctx) == 0 && syscall(SYS_io_submit, ctx, 1, list) == 1) {
		struct io_event ev;

		syscall(SYS_io_getevents, ctx, 1, 1, &ev, NULL);
		failed("io_submit", (long)ev.res);
	}
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	failed("mmap for writing", map == MAP_FAILED ? -1 : 0);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	failed("mprotect of a shared mapping", mprotect(map, 4096, PROT_READ | PROT_WRITE));
	mem = open("/proc/self/mem", O_RDWR);
	failed("/proc/self/mem", pwrite(mem, "x", 1, (off_t)(uintptr_t)map));
	failed("link from another file system",
	       linkat(AT_FDCWD, "/dev/shm/own", AT_FDCWD, "/tmp/new", 0));
	failed("rename from another file system", rename("/dev/shm/own", "/tmp/new"));
	failed("link of a descriptor", linkat(fd, "", AT_FDCWD, "/tmp/new", AT_EMPTY_PATH));
	failed("link of a memfd",
	       linkat(memfd_create("m", 0), "", AT_FDCWD, "/tmp/new", AT_EMPTY_PATH));
	h->handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(AT_FDCWD, victim, h, &id, 0) == 0)
		failed("open_by_handle_at", open_by_handle_at(dir, h, O_RDWR));
	failed("acct", syscall(SYS_acct, "/tmp/new"));
	failed("swapon", syscall(SYS_swapon, victim, 0));
	unlink("/dev/shm/own");
}

static void remounts(const char *at)
{
	failed("remount", mount(NULL, at, NULL, MS_REMOUNT, NULL));
	failed("remount with a type", mount("vivarium", at, "overlay", MS_REMOUNT, "rw"));
	failed("remount of the mount", mount(NULL, at, NULL, MS_REMOUNT | MS_BIND, NULL));
	failed("remount with other flags",
	       mount(NULL, at, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID, NULL));
	failed("remount with an old magic", mount(NULL, at, NULL, 0xc0ed0000 | MS_REMOUNT, NULL));
	failed("a second mount of it", mount("vivarium", at, "overlay", 0, NULL));
	failed("an overlay",
	       mount("o", at, "overlay", 0, "lowerdir=/,upperdir=/dev/shm/u,workdir=/dev/shm/w"));
}

/* Other mounts of the same file system. */
static void binds(void)
{
	const char *at = "/dev/shm/at";

	mkdir(at, 0755);
	if (mount("/", at, NULL, MS_BIND, NULL) == 0) {
		remounts(at);
		calls(at);
		umount2(at, MNT_DETACH);
	}
	if (mount("/", at, NULL, MS_BIND | MS_REC, NULL) == 0) {
		remounts(at);
		calls(at);
		umount2(at, MNT_DETACH);
	}
	/* A directory that a flag in one call would make writable. */
	if (mount("/tmp", at, NULL, MS_BIND | MS_REMOUNT, NULL) == 0)
		failed("bind and remount in one", 0);
	if (mount("/tmp", at, NULL, MS_BIND, NULL) == 0) {
		remounts(at);
		rofs("bind of a directory", open(below(at, "/new"), O_CREAT | O_RDWR, 0644));
		umount2(at, MNT_DETACH);
	}
	if (mount(victim, "/dev/shm/file", NULL, MS_BIND, NULL) == 0 ||
	    (close(open("/dev/shm/file", O_CREAT | O_RDWR, 0644)),
	     mount(victim, "/dev/shm/file", NULL, MS_BIND, NULL) == 0)) {
		remounts("/dev/shm/file");
		rofs("bind of a file", open("/dev/shm/file", O_RDWR));
		umount2("/dev/shm/file", MNT_DETACH);
	}
	failed("move of the root", mount("/", at, NULL, MS_MOVE, NULL));
	failed("unmount of the root", umount2("/", MNT_DETACH));
	failed("propagation and remount", mount(NULL, "/", NULL, MS_SHARED | MS_REMOUNT, NULL));
	/* The interface of newer kernels. */
	failed("open_tree", syscall(428, AT_FDCWD, "/", 1));
	failed("fspick", syscall(433, AT_FDCWD, "/", 0));
	failed("fsopen", syscall(430, "overlay", 0));
	failed("mount_setattr",
	       syscall(442, AT_FDCWD, "/", 0, (uint64_t[4]){ 0, MS_RDONLY, 0, 0 }, 32));
}

/* A tmpfs as the root, with the old one below it. */
static void pivots(void)
{
	if (mount("t", "/dev/shm/at", "tmpfs", 0, NULL) < 0 || mkdir("/dev/shm/at/old", 0755) < 0 ||
	    syscall(SYS_pivot_root, "/dev/shm/at", "/dev/shm/at/old") < 0) {
		printf("pivot_root: %s\n", strerror(errno));
		return;
	}
	remounts("/old");
	calls("/old");
	mkdir("/again", 0755);
	if (mount("/old", "/again", NULL, MS_BIND | MS_REC, NULL) == 0) {
		remounts("/again");
		calls("/again");
	}
	mkdir("/moved", 0755);
	if (mount("/old", "/moved", NULL, MS_MOVE, NULL) == 0) {
		remounts("/moved");
		calls("/moved");
	}
}

static void apart(const char *what, int unshared, void (*work)(void))
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		if (unshare(unshared) < 0 && unshared == CLONE_NEWNS)
			printf("%s: unshare: %s\n", what, strerror(errno));
		else
			work();
		printf("%s: tried %d\n", what, tried);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
}

static void all(void)
{
	remounts("/");
	calls("");
	calls("/proc/self/root");
	calls("/proc/1/root");
	descriptors();
	binds();
}

static void inside_chroot(void)
{
	if (chroot("/proc/self/root") < 0 || chroot(".") < 0)
		printf("chroot: %s\n", strerror(errno));
	all();
}

int main(void)
{
	if (chdir("/") < 0)
		return 1;
	apart("plain", 0, all);
	apart("own mounts", CLONE_NEWNS, all);
	apart("own mounts and users", CLONE_NEWNS | CLONE_NEWUSER, all);
	apart("chroot", 0, inside_chroot);
	apart("pivot_root", CLONE_NEWNS, pivots);
	return 0;
}
