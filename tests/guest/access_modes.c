/*
 * access and faccessat2 for an ordinary user: every combination of bits, symlinks, flags and
 * errors.
 */
#include "guest.h"
#include <sys/syscall.h>

static int fa2(int dir, const char *path, int mode, int flags)
{
	return syscall(SYS_faccessat2, dir, path, mode, flags);
}

static void body(void)
{
	drop_to_user();
	put_file("f", "x");
	for (mode_t m = 0; m < 8; m++) {
		chmod("f", m << 6);
		printf("%04o:", m << 6);
		for (int want = 0; want < 8; want++)
			printf(" %s", access("f", want) ? ename(errno) : "ok");
		printf("\n");
	}
	SHOW(access("f", 8));
	SHOW(access("f", -1));
	SHOW(access("missing", F_OK));
	SHOW(access("f/x", F_OK));
	SHOW(access("", F_OK));
	SHOW(access((char *)8, F_OK));
	symlink("missing", "dangling");
	symlink("f", "l");
	SHOW(access("dangling", F_OK));
	SHOW(fa2(AT_FDCWD, "dangling", F_OK, AT_SYMLINK_NOFOLLOW));
	SHOW(fa2(AT_FDCWD, "l", R_OK, AT_EACCESS));
	SHOW(chmod("f", 0400));
	SHOW(fa2(AT_FDCWD, "l", R_OK, AT_EACCESS));
	SHOW(fa2(AT_FDCWD, "l", W_OK, AT_EACCESS));
	int fd = open("f", O_PATH);
	SHOW(fa2(fd, "", R_OK, AT_EMPTY_PATH));
	SHOW(fa2(fd, "", W_OK, AT_EMPTY_PATH));
	SHOW(fa2(fd, "", R_OK, 0));
	SHOW(fa2(AT_FDCWD, "f", R_OK, 1));
	SHOW(fa2(-1, "f", R_OK, 0));
	SHOW(access(".", R_OK | W_OK | X_OK));
	SHOW(access("/", W_OK));
	SHOW(access("/dev/null", R_OK | W_OK));
	SHOW(access("/dev/null", X_OK));
	unlink("dangling");
	unlink("l");
	unlink("f");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
