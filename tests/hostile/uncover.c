/* Root of the cell tries to see what a mount of the operator covers. usage: uncover HIDDEN: a
 * directory of the root file system with something in it, on which the operator mounted an empty
 * one. */
#include <dirent.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "hostile.h"

static char hidden[256], top[256];

/* Is there anything in the directory? */
static bool shows(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool any = false;

	while (d && (e = readdir(d)))
		any |= e->d_name[0] != '.';
	if (d)
		closedir(d);
	return any;
}

/* A copy of the whole tree that is detached while somebody stands in it. */
static void by_detaching(void)
{
	char inside[300];
	int fd, again;

	mkdir("/mnt/r", 0755);
	check(mount("/", "/mnt/r", NULL, MS_BIND | MS_REC, NULL) == 0, "the tree can be bound");
	fd = open("/mnt/r", O_PATH | O_DIRECTORY);
	snprintf(inside, sizeof(inside), "/mnt/r%s", top);
	again = open(inside, O_RDONLY | O_DIRECTORY);
	check(umount2("/mnt/r", MNT_DETACH) == 0, "and detached");
	check(!shows(fd, hidden + 1), "a detached tree shows nothing below");
	check(!shows(again, strrchr(hidden, '/') + 1), "nor from inside");
	check(fchdir(fd) == 0 && mount("x", "mnt", "tmpfs", 0, NULL) < 0 && errno == EINVAL &&
		      mount("/tmp", "mnt", NULL, MS_BIND, NULL) < 0 && errno == EINVAL,
	      "nothing is mounted in a detached tree");
	check( umount2(hidden + 1, MNT_DETACH) < 0, "what covers it is not unmounted");
	check(unshare(CLONE_FS) == 0 && chroot(".") == 0 && unshare(CLONE_NEWNS) == 0 && !shows(AT_FDCWD, hidden),
	      "nor does a copy of the detached tree show it");
	close(fd);
	close(again);
}

/* A tree of a process's own, gone with it, of which a descriptor is left. */
static void by_namespace(void)
{
	int fd;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0)
			_exit(1);
		_exit(open("/", O_PATH | O_DIRECTORY) < 0);
	}
	waitpid(pid, NULL, 0);
	for (fd = 3; fd < 64; fd++)
		if (shows(fd, hidden + 1))
			break;
	check(fd == 64, "a tree that is gone shows nothing below");
}

/* The directory above goes to where another mount shows it. */
static void by_renaming(void)
{
	mkdir("/mnt/b", 0755);
	mkdir("/mnt/q", 0755);
	mkdir("/mnt/e", 0755);
	check(mount("/mnt/b", "/mnt/q", NULL, MS_BIND, NULL) == 0, "a directory can be bound");
	check(rename(top, "/mnt/b/moved") < 0 && errno == EBUSY, "what is above it stays");
	check(renameat2(AT_FDCWD, top, AT_FDCWD, "/mnt/b", RENAME_EXCHANGE) < 0 && errno == EBUSY, "also for an exchange");
	check(renameat2(AT_FDCWD, "/mnt/b", AT_FDCWD, top, RENAME_EXCHANGE) < 0 && errno == EBUSY, "either way");
	check(!shows(AT_FDCWD, "/mnt/q/moved/share"), "and nothing is seen");
	check(rename("/mnt/e", "/mnt/b/e") == 0, "other directories move");
}

/* Each in a process of its own: they change where it stands. */
static void apart(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		failures = 0;
		fn();
		_exit(failures);
	}
	waitpid(pid, &status, 0);
	check(status == 0, "all of it");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	snprintf(hidden, sizeof(hidden), "%s", argv[1]);
	snprintf(top, sizeof(top), "%s", hidden);
	*strrchr(top, '/') = 0;
	check(!shows(AT_FDCWD, hidden), "it is hidden at first");
	apart(by_namespace);
	apart(by_renaming);
	apart(by_detaching);
	check(!shows(AT_FDCWD, hidden), "it is hidden at the end");
	return done();
}
