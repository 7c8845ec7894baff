/* needs: root */
/* A file system cannot become read-only while a file of it is open for writing; one that was
 * removed while it is open counts, too. */
#include "guest.h"

#include <sched.h>
#include <sys/mount.h>

int main(void)
{
	int fd;

	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	mkdir("d", 0755);
	mkdir("e", 0755);
	CHECK(mount("x", "d", "tmpfs", 0, NULL) == 0);
	fd = open("d/f", O_RDWR | O_CREAT, 0644);
	SHOW(mount("x", "d", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	SHOW(mount("x", "d", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	close(fd);
	fd = open("d/f", O_RDONLY);
	SHOW(mount("x", "d", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	SHOW(open("d/g", O_WRONLY | O_CREAT, 0644));
	SHOW(mount("x", "d", NULL, MS_REMOUNT, NULL));
	close(fd);
	fd = open("d/f", O_RDWR);
	unlink("d/f");
	SHOW(mount("x", "d", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	close(fd);
	put_file("d/f", "x");
	/* Two mounts of one file system: a writer in the one is no matter for the flags of the
	 * other. */
	CHECK(mount("d", "e", NULL, MS_BIND, NULL) == 0);
	fd = open("d/f", O_RDWR);
	SHOW(mount("x", "e", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	SHOW(open("e/f", O_RDWR));
	SHOW(mount("x", "e", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	SHOW(write(fd, "x", 1));
	close(fd);
	SHOW(mount("x", "e", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	SHOW(open("d/f", O_RDWR));
	CHECK(umount("e") == 0 && umount("d") == 0);
	rmdir("d");
	rmdir("e");
	return 0;
}
