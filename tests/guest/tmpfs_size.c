/* needs: root */
/* The size of a tmpfs is rounded up to pages; a remount changes it. */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>

static void try(const char *options)
{
	struct statfs s;

	printf("%s: %s", options, mount("x", "d", "tmpfs", 0, options) ? ename(errno) : "ok");
	if (statfs("d", &s) == 0 && s.f_type == 0x01021994)
		printf(", blocks %ld of %ld, files %ld", s.f_blocks, s.f_bsize, s.f_files);
	umount("d");
	printf("\n");
}

int main(void)
{
	struct statfs s;
	static char big[1 << 20];
	int fd;

	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	mkdir("d", 0755);
	try("size=1,nr_inodes=10");
	try("size=4097,nr_inodes=10");
	try("size=1m,nr_inodes=1k");
	try("nr_blocks=3,nr_inodes=10");
	try("size=x");
	try("size=1q");
	try("size=-1");
	try("size=10,unknown=1");
	try("mode=9");
	CHECK(mount("x", "d", "tmpfs", 0, "size=64k,nr_inodes=20") == 0);
	fd = open("d/f", O_RDWR | O_CREAT, 0644);
	SHOW(write(fd, big, sizeof(big)));
	SHOW(write(fd, big, 1));
	SHOW(mount("x", "d", NULL, MS_REMOUNT, "size=1m"));
	SHOW(statfs("d", &s) ? -1 : (long)s.f_blocks);
	SHOW(write(fd, big, 65536));
	SHOW(mount("x", "d", NULL, MS_REMOUNT, "size=4k"));
	SHOW(mount("x", "d", NULL, MS_REMOUNT, "nr_inodes=1"));
	SHOW(mount("x", "d", NULL, MS_REMOUNT, "bogus=1"));
	close(fd);
	CHECK(umount("d") == 0);
	rmdir("d");
	return 0;
}
