/* /proc is not for making, renaming or removing things. */
#include "guest.h"

static void body(void)
{
	drop_to_user();
	put_file("f", "x");
	SHOW(open("/proc/missing", O_RDONLY));
	SHOW(open("/proc/new", O_WRONLY | O_CREAT, 0644));
	SHOW(mkdir("/proc/new", 0755));
	SHOW(mkdir("/proc/self/new/", 0755));
	SHOW(mknod("/proc/new", S_IFIFO | 0644, 0));
	SHOW(symlink("f", "/proc/self/new"));
	SHOW(link("/proc/version", "/proc/new"));
	SHOW(rename("/proc/version", "/proc/new"));
	SHOW(mkdir("/proc/version", 0755));
	SHOW(open("/proc/version", O_WRONLY));
	SHOW(open("/proc/self/status", O_WRONLY));
	SHOW(open("/proc/self/new", O_WRONLY | O_CREAT, 0644));
	SHOW(open("/proc/self/fd", O_RDWR));
	SHOW(unlink("/proc/version"));
	SHOW(unlink("/proc/self/status"));
	SHOW(rmdir("/proc/self/fd"));
	SHOW(rename("/proc/version", "x"));
	SHOW(link("/proc/version", "x"));
	SHOW(rename("f", "/proc/x"));
	SHOW(chmod("/proc/version", 0600));
	SHOW(truncate("/proc/version", 0));
	SHOW(open("/proc/self/exe/x", O_RDONLY));
	SHOW(open("/proc/version/x", O_RDONLY));
	SHOW(access("/proc/version", R_OK));
	SHOW(lseek(open("/proc/version", O_RDONLY), 0, SEEK_END));
	struct stat st;
	SHOW(stat("/proc/version", &st));
	SHOW(st.st_size);
	unlink("f");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
