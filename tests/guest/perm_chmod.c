/*
 * chmod, fchmod, fchmodat: all twelve bits, through symlinks; writing and truncating take set-id
 * bits away.
 */
#include "guest.h"

static void mode_of(const char *what)
{
	struct stat st;
	stat("f", &st);
	printf("%s: %04o\n", what, st.st_mode & 07777);
}

static void body(void)
{
	drop_to_user();
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(chmod("f", 07777));
	mode_of("all");
	SHOW(fchmod(fd, 0100640));
	mode_of("type bits ignored");
	SHOW(symlink("f", "l"));
	SHOW(chmod("l", 0604));
	mode_of("through a symlink");
	SHOW(fchmodat(AT_FDCWD, "f", 0755, 0));
	mode_of("fchmodat");
	SHOW(fchmod(open("f", O_RDONLY), 04755));
	mode_of("set-user-id");
	SHOW(write(fd, "x", 1));
	mode_of("after write");
	SHOW(chmod("f", 06775));
	SHOW(ftruncate(fd, 10));
	mode_of("after ftruncate");
	SHOW(chmod("f", 02644));
	SHOW(pwrite(fd, "x", 1, 3));
	mode_of("set-group-id without x");
	SHOW(chmod("f", 01644));
	SHOW(write(fd, "x", 1));
	mode_of("sticky stays");
	SHOW(chmod("missing", 0644));
	SHOW(chmod("f/x", 0644));
	SHOW(fchmod(-1, 0644));
	SHOW(fchmodat(AT_FDCWD, "f", 0644, 0x40000000));
	SHOW(chmod("/usr", 0755));
	unlink("l");
	unlink("f");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
