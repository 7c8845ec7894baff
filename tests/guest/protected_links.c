/* needs: root */
/* In a sticky directory that all may write, nobody follows another user's symbolic link, nor opens
 * another user's file or FIFO with O_CREAT (protected_symlinks, protected_regular,
 * protected_fifos). What is refused depends on the settings, which differ between machines: printed
 * is whether it is as they say. */
#include "guest.h"

static int setting(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/fs/protected_%s", name);
	return atoi(get_file(path));
}

/* Tries it; kind is the setting that may refuse it, at this value or above. */
static void try_as(const char *what, const char *path, int flags, const char *kind, int value)
{
	int fd = open(path, flags | O_NONBLOCK, 0644);
	bool off = !kind || setting(kind) < value;

	if (off)
		printf("%s %s: %s\n", what, path, fd < 0 ? ename(errno) : "as expected");
	else
		printf("%s %s: %s\n", what, path,
		       fd < 0 && errno == EACCES ? "as expected" : "not refused");
	if (fd >= 0)
		close(fd);
}

static void as(uid_t uid, void (*fn)(void))
{
	pid_t pid = xfork();

	if (pid == 0) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			printf("ids: %s\n", ename(errno));
		fn();
		fflush(stdout);
		_exit(0);
	}
	xwait(pid);
}

static void owner_makes(void)
{
	(void)!symlink("../target", "s/link");
	(void)!symlink("../d", "s/dlink");
	put_file("s/file", "x");
	chmod("s/file", 0666);
	mkfifo("s/fifo", 0666);
	chmod("s/fifo", 0666);
	(void)!symlink("../target", "n/link");
	put_file("n/file", "x");
	chmod("n/file", 0666);
	put_file("g/file", "x");
	chmod("g/file", 0666);
	mkfifo("g/fifo", 0666);
	chmod("g/fifo", 0666);
}

/* trap: what somebody else has put there. */
static void all(const char *who, bool trap)
{
	const char *links = trap ? "symlinks" : NULL, *files = trap ? "regular" : NULL,
		   *fifos = trap ? "fifos" : NULL;
	struct stat st;
	char buf[64];
	bool refused;

	try_as(who, "s/link", O_RDONLY, links, 1);
	try_as(who, "s/dlink", O_RDONLY, links, 1);
	try_as(who, "s/dlink/x", O_RDONLY, NULL, 0);
	try_as(who, "n/link", O_RDONLY, NULL, 0);
	refused = links && setting(links) >= 1;
	errno = 0;
	printf("%s stat: %d\n", who, (stat("s/link", &st) && errno == EACCES) == refused);
	printf("%s lstat: %s\n", who, lstat("s/link", &st) ? ename(errno) : "ok");
	printf("%s readlink: %s\n", who,
	       readlink("s/link", buf, sizeof(buf)) < 0 ? ename(errno) : "ok");
	try_as(who, "s/file", O_RDWR, NULL, 0);
	try_as(who, "s/file", O_RDWR | O_CREAT, files, 1);
	try_as(who, "s/file", O_WRONLY | O_CREAT | O_TRUNC, files, 1);
	try_as(who, "s/file", O_RDONLY | O_CREAT, files, 1);
	try_as(who, "g/file", O_RDONLY | O_CREAT, files, 2);
	try_as(who, "s/fifo", O_RDWR, NULL, 0);
	try_as(who, "s/fifo", O_RDWR | O_CREAT, fifos, 1);
	try_as(who, "g/fifo", O_RDWR | O_CREAT, fifos, 2);
	try_as(who, "n/file", O_RDWR | O_CREAT, NULL, 0);
}

static void by_owner(void)
{
	all("owner", false);
}
static void by_other(void)
{
	all("other", true);
}
static void by_dir_owner(void)
{
	all("owner of the directory", true);
}

int main(void)
{
	chmod(".", 0777);
	mkdir("s", 0777);
	chmod("s", 01777);
	mkdir("g", 0777);
	chmod("g", 0777);
	mkdir("n", 0777);
	chmod("n", 0777);
	mkdir("d", 0755);
	put_file("d/x", "x");
	put_file("target", "x");
	if (chown("s", 1002, 1002))
		printf("chown: %s\n", ename(errno));
	as(1000, owner_makes);
	chmod("g", 01775);
	as(1000, by_owner);
	as(1001, by_other);
	as(1002, by_dir_owner);
	all("root", true);
	(void)!system("rm -rf s g n d target");
	return 0;
}
