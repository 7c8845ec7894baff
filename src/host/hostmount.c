/* Host directories and files for a cell. When viv is root, a cell runs under a uid that owns
 * nothing on the host; to let it use a directory, a detached copy of the mount is made whose id
 * mapping shows the owner of that directory as the cell's uid, and what the cell creates belongs to
 * that owner. Files of other owners in there stay foreign. Submounts are left out. The mapping is
 * carried by a user namespace, which a short-lived child lends. */
#include "host/hostmount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int map_write(pid_t pid, const char *file, unsigned inside, unsigned outside)
{
	char path[64], line[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	snprintf(line, sizeof(line), "%u %u 1\n", inside, outside);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, strlen(line)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* A user namespace in which owner is the host's id of the cell: its descriptor or -errno. */
static int idmap_new(const struct stat *owner, uid_t uid, gid_t gid)
{
	struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	char path[64];
	int fd;

	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	fd = map_write((pid_t)pid, "uid_map", owner->st_uid, uid);
	if (!fd)
		fd = map_write((pid_t)pid, "gid_map", owner->st_gid, gid);
	if (!fd) {
		snprintf(path, sizeof(path), "/proc/%ld/ns/user", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
	return fd;
}

static int mount_mapped(int dir, const struct stat *owner, bool readonly, uid_t uid, gid_t gid)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID |
					       MOUNT_ATTR_NODEV };
	int ns = idmap_new(owner, uid, gid), tree, err = 0;

	if (ns < 0)
		return ns;
	attr.userns_fd = (unsigned)ns;
	if (readonly)
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	tree = (int)syscall(SYS_open_tree, dir, "",
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (tree < 0)
		err = -errno;
	else if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0) {
		err = -errno;
		close(tree);
	}
	close(ns);
	return err ? err : tree;
}

/* -errno. Who can write to the directory can change what is there at any moment. */
static int source_open(const char *src, const char *subpath)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };
	int fd = open(src, O_PATH | O_CLOEXEC | (subpath ? O_DIRECTORY : 0)), below;

	if (fd < 0)
		return -errno;
	if (!subpath)
		return fd;
	below = (int)syscall(SYS_openat2, fd, subpath, &how, sizeof(how));
	if (below < 0)
		below = -errno;
	close(fd);
	return below;
}

int host_mount_open(const char *src, const char *subpath, bool readonly, uid_t uid, gid_t gid,
		    struct host_mount *ret)
{
	struct stat st;
	int fd = source_open(src, subpath), tree, err = 0;
	bool is_file;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		err = -errno;
	is_file = !err && S_ISREG(st.st_mode);
	if (!err && !is_file && !S_ISDIR(st.st_mode))
		err = -ENOTSUP;
	if (!err && faccessat(fd, "", is_file ? R_OK : R_OK | X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	*ret = (struct host_mount){ .fd = fd, .is_file = is_file };
	if (uid == geteuid())
		return 0;
	tree = mount_mapped(fd, &st, readonly, uid, gid);
	if (tree < 0) {
		ret->foreign = st.st_uid != uid;
		return 0;
	}
	close(fd);
	ret->fd = tree;
	ret->detached = true;
	return 0;
}

int host_tree_detach(int dir, bool readonly)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					       (readonly ? MOUNT_ATTR_RDONLY : 0) };
	int tree = (int)syscall(SYS_open_tree, dir, "",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	int err;

	if (tree < 0)
		return -errno;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0)
		return tree;
	err = -errno;
	close(tree);
	return err;
}
