/* needs: root */
/* pivot_root(".", "."): the old root lies on the new one, and an unmount of "." takes it away. */
#include "guest.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

int main(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 2;
	CHECK(mkdir("nr", 0755) == 0);
	CHECK(mount("tmpfs", "nr", "tmpfs", 0, NULL) == 0);
	CHECK(mkdir("nr/in", 0755) == 0);
	pid_t p = xfork();
	if (p == 0) {
		SHOW(chdir("nr"));
		SHOW(syscall(SYS_pivot_root, ".", "."));
		SHOW(umount2(".", MNT_DETACH));
		SHOW(chdir("/"));
		SHOW(access("/in", F_OK));
		SHOW(access("/usr", F_OK));
		SHOW(umount2("/in", MNT_DETACH));
		fflush(stdout);
		_exit(0);
	}
	SHOW(WEXITSTATUS(xwait(p)));
	CHECK(rmdir("nr") == -1 && errno == EBUSY);
	SHOW(umount2("nr", MNT_DETACH));
	SHOW(rmdir("nr"));
	return 0;
}
