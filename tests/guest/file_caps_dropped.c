/* needs: root */
/* The capabilities of a file go when it is written, truncated or given away; those of ambient set
 * are kept over execve as capabilities(7) says. */
#include "guest.h"

#include <linux/capability.h>
#include <sys/xattr.h>

static void set(void)
{
	struct vfs_cap_data d = { VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
				  { { 1 << CAP_NET_RAW, 0 } } };

	if (setxattr("f", "security.capability", &d, XATTR_CAPS_SZ_2, 0))
		printf("setxattr: %s\n", ename(errno));
}

static void show(const char *what)
{
	char buf[64];
	ssize_t n = getxattr("f", "security.capability", buf, sizeof(buf));

	printf("%s: %s\n", what, n < 0 ? ename(errno) : "still there");
	set();
}

int main(void)
{
	int fd, p[2], fd2;
	struct stat st;

	put_file("f", "hello");
	set();
	fd = open("f", O_RDWR);
	show("open");
	(void)!read(fd, &st, 1);
	show("read");
	(void)!write(fd, "x", 1);
	show("write");
	(void)!pwrite(fd, "x", 0, 0);
	show("empty write");
	(void)!ftruncate(fd, 100);
	show("ftruncate");
	(void)!truncate("f", 3);
	show("truncate");
	(void)!chown("f", 1, 1);
	show("chown");
	(void)!chown("f", -1, -1);
	show("chown of nothing");
	chmod("f", 0700);
	show("chmod");
	(void)!fallocate(fd, 0, 0, 8192);
	show("fallocate");
	close(open("f", O_WRONLY | O_TRUNC));
	show("O_TRUNC");
	futimens(fd, NULL);
	show("times");
	(void)!link("f", "g");
	rename("g", "h");
	show("rename");
	put_file("o", "some");
	fd2 = open("o", O_RDONLY);
	lseek(fd, 0, SEEK_SET);
	(void)!copy_file_range(fd2, NULL, fd, NULL, 4, 0);
	show("copy_file_range");
	(void)!pipe(p);
	(void)!write(p[1], "abc", 3);
	(void)!splice(p[0], NULL, fd, NULL, 3, 0);
	show("splice");
	unlink("h");
	unlink("o");
	unlink("f");
	return 0;
}
