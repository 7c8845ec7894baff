/*
 * chown as root: any ids, -1 leaves one alone, set-id bits go; symlinks by lchown; a user may only
 * name own groups.
 */
/* needs: root */
#include "guest.h"

static void show(const char *path)
{
	struct stat st;
	lstat(path, &st);
	printf("%s: uid %d gid %d mode %04o\n", path, st.st_uid, st.st_gid, st.st_mode & 07777);
}

static void as_user(void)
{
	drop_to_user();
	SHOW(chown("f", 0, -1));
	SHOW(chown("f", -1, 0));
	SHOW(chown("f", 1000, 1000));
	SHOW(chown("f", -1, 1000));
	SHOW(chown("roots", 1000, 1000));
	SHOW(chown("roots", -1, -1));
	SHOW(chmod("roots", 0777));
}

int main(void)
{
	put_file("f", "x");
	put_file("roots", "x");
	symlink("f", "l");
	int fd = open("f", O_RDONLY);
	SHOW(chown("f", 1234, 5678));
	show("f");
	SHOW(chown("f", -1, 42));
	show("f");
	SHOW(fchown(fd, 7, -1));
	show("f");
	SHOW(chmod("f", 06755));
	SHOW(chown("f", 8, 9));
	show("f");
	SHOW(chmod("f", 02644));
	SHOW(chown("f", 8, 9));
	show("f");
	SHOW(lchown("l", 11, 12));
	show("l");
	SHOW(chown("l", 13, 14));
	show("f");
	SHOW(fchownat(AT_FDCWD, "l", 15, 16, AT_SYMLINK_NOFOLLOW));
	show("l");
	SHOW(fchownat(fd, "", 17, 18, AT_EMPTY_PATH));
	show("f");
	SHOW(chown("missing", 1, 1));
	SHOW(fchown(-1, 1, 1));
	SHOW(chown("f", 1000, 1000));
	show_status("child", in_child(as_user));
	show("f");
	unlink("l");
	unlink("f");
	unlink("roots");
	return 0;
}
