/*
 * Mounting as mount(8) of util-linux 2.39 and later does it: with the calls that work on
 * descriptors where there are some, with mount(2) where they give ENOSYS. Both lead to the same.
 */
/* needs: root */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/statvfs.h>

#define N_open_tree 428
#define N_move_mount 429
#define N_fsopen 430
#define N_fsconfig 431
#define N_fsmount 432
#define N_mount_setattr 442

struct attr {
	uint64_t set, clr, propagation, userns_fd;
};

static int attach(int fd, const char *dst)
{
	int r = (int)syscall(N_move_mount, fd, "", AT_FDCWD, dst, 4 /* MOVE_MOUNT_F_EMPTY_PATH */);

	close(fd);
	return r;
}

static int mount_tmpfs(const char *dst, const char *size)
{
	int fs = (int)syscall(N_fsopen, "tmpfs", 1), m;
	char opts[64];

	if (fs < 0 && errno == ENOSYS) {
		snprintf(opts, sizeof(opts), "size=%s", size);
		return mount("none", dst, "tmpfs", 0, opts);
	}
	if (fs < 0 || syscall(N_fsconfig, fs, 1, "source", "none", 0) ||
	    syscall(N_fsconfig, fs, 1, "size", size, 0) ||
	    syscall(N_fsconfig, fs, 6, NULL, NULL, 0))
		return -1;
	m = (int)syscall(N_fsmount, fs, 1, 0);
	close(fs);
	return m < 0 ? -1 : attach(m, dst);
}

static int mount_bind(const char *src, const char *dst)
{
	int fd = (int)syscall(N_open_tree, AT_FDCWD, src, O_CLOEXEC | 1 /* OPEN_TREE_CLONE */);

	if (fd < 0 && errno == ENOSYS)
		return mount(src, dst, NULL, MS_BIND, NULL);
	return fd < 0 ? -1 : attach(fd, dst);
}

static int remount_readonly(const char *dst)
{
	struct attr a = { .set = 1 /* MOUNT_ATTR_RDONLY */ };
	int fd = (int)syscall(N_open_tree, AT_FDCWD, dst, O_CLOEXEC), r;

	if (fd < 0 && errno == ENOSYS)
		return mount("none", dst, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
	if (fd < 0)
		return -1;
	r = (int)syscall(N_mount_setattr, fd, "", AT_EMPTY_PATH, &a, sizeof(a));
	close(fd);
	return r;
}

static void body(void)
{
	struct statvfs v;

	SHOW(unshare(CLONE_NEWNS));
	SHOW(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	SHOW(mkdir("t", 0755));
	SHOW(mkdir("b", 0755));
	SHOW(mount_tmpfs("t", "1m"));
	CHECK(statvfs("t", &v) == 0 && v.f_blocks * v.f_frsize == 1 << 20);
	put_file("t/f", "in the tmpfs\n");
	SHOW(mount_bind("t", "b"));
	printf("%s", get_file("b/f"));
	SHOW(remount_readonly("b"));
	SHOW(open("b/g", O_CREAT | O_WRONLY, 0644));
	SHOWOK(open("t/g", O_CREAT | O_WRONLY, 0644));
	SHOW(mount_bind("t/none", "b"));
	SHOW(mount_bind("t", "none"));
	SHOW(umount("b"));
	SHOW(umount2("t", MNT_DETACH));
	rmdir("b");
	rmdir("t");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
