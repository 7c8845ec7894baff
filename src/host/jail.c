/* See jail.h. */
#include "host/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc 2.36 declares these with <sys/mount.h>, which cannot be included beside <linux/mount.h>. */
#define MNT_DETACH 2
#define sys_fsopen(fs, flags) ((int)syscall(SYS_fsopen, fs, flags))
#define sys_fsconfig(fd, cmd, key, value, aux) \
	((int)syscall(SYS_fsconfig, fd, cmd, key, value, aux))
#define sys_fsmount(fd, flags, attr) ((int)syscall(SYS_fsmount, fd, flags, attr))
#define sys_move_mount(ffd, fpath, tfd, tpath, flags) \
	((int)syscall(SYS_move_mount, ffd, fpath, tfd, tpath, flags))
#define sys_mount_setattr(fd, path, flags, attr) \
	((int)syscall(SYS_mount_setattr, fd, path, flags, attr, sizeof(*(attr))))

int mount_new(const char *fs, const char *const *options, unsigned attr)
{
	int ctx = sys_fsopen(fs, FSOPEN_CLOEXEC), fd = -1, err = 0;

	if (ctx < 0)
		return -errno;
	for (; *options && !err; options += 2)
		if (sys_fsconfig(ctx, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
			err = -errno;
	if (!err && sys_fsconfig(ctx, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		err = -errno;
	if (!err) {
		fd = sys_fsmount(ctx, FSMOUNT_CLOEXEC, attr);
		err = fd < 0 ? -errno : 0;
	}
	close(ctx);
	return err ? err : fd;
}

int isolate_stage_frame(struct frame *f)
{
	static const char *const options[] = { "mode",	    "0755", "size", "64k",
					       "nr_inodes", "1024", NULL };

	f->attached = false;
	f->fd = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return MIN(f->fd, 0);
}

int frame_mount(struct frame *f, int dir, const char *name, int mount)
{
	struct stat st;

	if (fstat(mount, &st) < 0)
		return -errno;
	if ((S_ISDIR(st.st_mode) ? mkdirat(dir, name, 0755)
				 : mknodat(dir, name, S_IFREG | 0644, 0)) < 0)
		return -errno;
	if (!sys_move_mount(mount, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH))
		return 0;
	if (errno != EINVAL || f->attached)
		return -errno;
	/* On top of "/", which lookups by path do not see until the root is changed. */
	if (sys_move_mount(f->fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	f->attached = true;
	return sys_move_mount(mount, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

int isolate_stage_root(struct frame *f)
{
	struct mount_attr readonly = { .attr_set = MOUNT_ATTR_RDONLY };

	if (mkdirat(f->fd, "empty", 0555) < 0 ||
	    sys_mount_setattr(f->fd, "", AT_EMPTY_PATH, &readonly) < 0 || fchdir(f->fd) < 0)
		return -errno;
	if (f->attached && (syscall(SYS_pivot_root, ".", ".") < 0 ||
			    syscall(SYS_umount2, ".", MNT_DETACH) < 0 || fchdir(f->fd) < 0))
		return -errno;
	if (chroot("empty") < 0 || chdir("/") < 0)
		return -errno;
	/* A frame that hangs nowhere lives as long as its descriptor. */
	return f->attached && close(f->fd) < 0 ? -errno : 0;
}

int isolate_stage_caps(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct kept[2] = { 0 };

	for (int i = 0; i < 2; i++)
		kept[i].permitted = kept[i].effective = (uint32_t)(keep >> 32 * i);

	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
		;
	if (prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &head, kept) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int rlimit_set(int which, rlim_t soft, rlim_t hard)
{
	struct rlimit old, new;

	if (getrlimit(which, &old) < 0)
		return -errno;
	new.rlim_max = MIN(hard, old.rlim_max);
	new.rlim_cur = MIN(soft, new.rlim_max);
	return setrlimit(which, &new) < 0 ? -errno : 0;
}
