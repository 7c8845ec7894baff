/* access asks for the real user, open and AT_EACCESS for the effective one. */
/* needs: root */
#include "guest.h"
#include <sys/syscall.h>

static void body(void)
{
	SHOW(seteuid(1000));
	SHOW(access("f", R_OK));
	SHOW(open("f", O_RDONLY));
	SHOW(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, AT_EACCESS));
	SHOW(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, 0));
	SHOW(seteuid(0));
	SHOW(setreuid(1000, 0));
	SHOW(access("f", R_OK));
	SHOWOK(open("f", O_RDONLY));
	SHOW(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, AT_EACCESS));
}

int main(void)
{
	chmod(".", 0777);
	put_file("f", "x");
	SHOW(chmod("f", 0600));
	show_status("child", in_child(body));
	unlink("f");
	return 0;
}
