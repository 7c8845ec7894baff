/* needs: root */
/* Mount options about times and links: noatime, nodiratime, strictatime, nosymfollow. */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <dirent.h>

#ifndef MS_NOSYMFOLLOW
#define MS_NOSYMFOLLOW 256
#endif

static struct timespec atime_of(const char *path)
{
	struct stat st = { 0 };

	stat(path, &st);
	return st.st_atim;
}

static bool moves(const char *path, bool dir)
{
	struct timespec old[2] = { { 1000, 0 }, { 2000, 0 } }, now;
	char c;

	utimensat(AT_FDCWD, path, old, 0);
	if (dir) {
		DIR *d = opendir(path);
		readdir(d);
		closedir(d);
	} else {
		int fd = open(path, O_RDONLY);
		(void)!read(fd, &c, 1);
		close(fd);
	}
	now = atime_of(path);
	return now.tv_sec != 1000;
}

/* Does it move though it is newer than mtime already? */
static bool moves_always(const char *path)
{
	struct timespec old[2] = { { 0, UTIME_NOW }, { 2000, 0 } }, before, now;
	char c;
	int fd;

	utimensat(AT_FDCWD, path, old, 0);
	before = atime_of(path);
	usleep(30000);
	fd = open(path, O_RDONLY);
	(void)!read(fd, &c, 1);
	close(fd);
	now = atime_of(path);
	return now.tv_sec != before.tv_sec || now.tv_nsec != before.tv_nsec;
}

static void options(void)
{
	char line[1024], dir[256], *at;
	FILE *f = fopen("/proc/self/mounts", "r");

	(void)!getcwd(dir, sizeof(dir) - 4);
	strcat(dir, "/d ");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, dir) && (at = strstr(line, "tmpfs r"))) {
			at += 6;
			at[strcspn(at, " ")] = 0;
			at[strcspn(at, "0123456789")] = 0;
			char *inode = strstr(at, ",inode");
			if (inode)
				*inode = 0;
			printf("  %s\n", at);
		}
	fclose(f);
}

static void try(const char *what, unsigned long flags)
{
	struct statvfs v;

	printf("%s: %s", what,
	       mount("x", "d", NULL, MS_REMOUNT | MS_BIND | flags, NULL) ? ename(errno) : "ok");
	printf(", file %d, dir %d, always %d", moves("d/f", false), moves("d/s", true),
	       moves_always("d/f"));
	int fd = open("d/l", O_RDONLY);
	printf(", link %s", fd < 0 ? ename(errno) : "ok");
	close(fd);
	statvfs("d", &v);
	printf(", flags %lx\n", v.f_flag);
	options();
}

int main(void)
{
	char buf[16];

	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	mkdir("d", 0755);
	CHECK(mount("x", "d", "tmpfs", 0, NULL) == 0);
	put_file("d/f", "x");
	mkdir("d/s", 0755);
	put_file("d/s/f", "x");
	(void)!symlink("f", "d/l");
	try("default", 0);
	try("noatime", MS_NOATIME);
	try("nodiratime", MS_NODIRATIME);
	try("both", MS_NOATIME | MS_NODIRATIME);
	try("strict", MS_STRICTATIME);
	try("relatime", MS_RELATIME);
	try("nosymfollow", MS_NOSYMFOLLOW);
	SHOW(readlink("d/l", buf, sizeof(buf)));
	try("nosuid, noexec", MS_NOSUID | MS_NOEXEC | MS_RELATIME);
	CHECK(umount("d") == 0);
	CHECK(mount("x", "d", "tmpfs", MS_NOATIME | MS_NOSUID, NULL) == 0);
	options();
	/* A new set of flags without one about times keeps those of before. */
	CHECK(mount("x", "d", NULL, MS_REMOUNT | MS_NODEV, NULL) == 0);
	options();
	CHECK(umount("d") == 0);
	rmdir("d");
	return 0;
}
