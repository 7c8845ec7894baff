/*
 * Attributes belong to the inode: shared by links, kept by rename and truncation, gone with the
 * file; and permissions.
 */
#include "guest.h"
#include <sys/xattr.h>

static const char *get(const char *path)
{
	static char buf[64];
	ssize_t n = getxattr(path, "user.a", buf, sizeof(buf) - 1);
	if (n < 0)
		return ename(errno);
	buf[n] = '\0';
	return buf;
}

static void body(void)
{
	drop_to_user();
	put_file("f", "content");
	SHOW(setxattr("f", "user.a", "one", 3, 0));
	SHOW(link("f", "g"));
	printf("link: %s\n", get("g"));
	SHOW(setxattr("g", "user.a", "two", 3, 0));
	printf("other link: %s\n", get("f"));
	SHOW(rename("f", "h"));
	printf("renamed: %s\n", get("h"));
	SHOW(truncate("h", 0));
	printf("truncated: %s\n", get("h"));
	int fd = open("h", O_RDWR);
	SHOW(unlink("h"));
	SHOW(unlink("g"));
	SHOW(fsetxattr(fd, "user.b", "x", 1, 0));
	SHOW(fgetxattr(fd, "user.a", NULL, 0));
	put_file("h", "new");
	printf("new file: %s\n", get("h"));
	SHOW(setxattr("h", "user.a", "x", 1, 0));
	SHOW(chmod("h", 0400));
	SHOW(setxattr("h", "user.a", "y", 1, 0));
	SHOW(removexattr("h", "user.a"));
	printf("read only: %s\n", get("h"));
	SHOW(chmod("h", 0200));
	printf("write only: %s\n", get("h"));
	SHOW(fsetxattr(open("h", O_WRONLY), "user.a", "z", 1, 0));
	SHOW(setxattr("h", "trusted.x", "y", 1, 0));
	SHOW(setxattr("/usr/bin/env", "user.x", "y", 1, 0));
	unlink("h");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
