/* See stored.h. */
#include "files/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_FS 0x9fa0
#define SYS_FS 0x62656572
#define DEVPTS_FS 0x1cd1
#define NO_MAGICLINKS 2 /* RESOLVE_NO_MAGICLINKS */

static bool stored_only;
static dev_t dev_dir; /* where /dev is, if that is a file system of its own; else 0 */
static dev_t good; /* the last one that was found to hold stored files */
static bool good_known;

void stored_restrict(void)
{
	struct stat root, dev;

	stored_only = true;
	if (lstat("/", &root) == 0 && lstat("/dev", &dev) == 0 && root.st_dev != dev.st_dev)
		dev_dir = dev.st_dev;
}

bool stored_is_made_up(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == PROC_FS || fs.f_type == SYS_FS);
}

static int fd_check(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type == PROC_FS || fs.f_type == SYS_FS || fs.f_type == DEVPTS_FS ||
	    (dev_dir && st.st_dev == dev_dir))
		return -STORED_REFUSED;
	good = st.st_dev;
	good_known = true;
	return 0;
}

int stored_open(const char *path, int flags)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = { .flags = (unsigned)flags, .resolve = NO_MAGICLINKS };
	int fd, err;

	if (!stored_only)
		return (fd = open(path, flags)) < 0 ? -errno : fd;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	err = fd_check(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int stored_check(const char *path, int flags)
{
	int fd = stored_only ? stored_open(path, O_PATH | O_CLOEXEC | flags) : 0;

	if (stored_only && fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int stored_entry(int dir, const char *name, const struct stat *st)
{
	int fd, err;

	if (!stored_only || (good_known && st->st_dev == good))
		return 0;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fd_check(fd);
	close(fd);
	return err;
}
