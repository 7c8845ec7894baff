/* What an ordinary user may not do to root's files. */
#include "guest.h"
#include <utime.h>

static void body(void)
{
	struct timespec ts[2] = { { 1, 0 }, { 1, 0 } },
			now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };
	drop_to_user();
	put_file("f", "x");
	SHOW(open("/usr/bin/env", O_WRONLY));
	SHOWOK(open("/usr/bin/env", O_RDONLY));
	SHOW(truncate("/usr/bin/env", 0));
	SHOW(chmod("/usr/bin/env", 0777));
	SHOW(chown("/usr/bin/env", getuid(), -1));
	SHOW(unlink("/usr/bin/env"));
	SHOW(rename("/usr/bin/env", "/usr/bin/x"));
	SHOW(open("/usr/bin/x", O_WRONLY | O_CREAT, 0644));
	SHOW(mkdir("/usr/x", 0755));
	SHOW(rmdir("/usr"));
	SHOW(utimensat(AT_FDCWD, "/usr/bin/env", ts, 0));
	SHOW(utimensat(AT_FDCWD, "/usr/bin/env", now, 0));
	SHOW(utimensat(AT_FDCWD, "/usr/bin/env", NULL, 0));
	SHOW(access("/usr/bin/env", R_OK | X_OK));
	SHOW(access("/usr/bin/env", W_OK));
	SHOW(chown("f", 0, 0));
	SHOW(chown("f", -1, -1));
	CHECK(chown("f", getuid(), getgid()) == 0);
	SHOW(chroot("."));
	SHOW(mknod("null", S_IFCHR | 0666, 0x103));
	SHOW(mknod("fifo", S_IFIFO | 0644, 0));
	SHOW(mknod("regular", S_IFREG | 0644, 0));
	SHOW(mknod("dir", S_IFDIR | 0755, 0));
	unlink("fifo");
	unlink("regular");
	unlink("f");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
