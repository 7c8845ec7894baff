/* The well-known devices: type, mode and numbers. */
#include "guest.h"
#include <sys/sysmacros.h>

int main(void)
{
	static const char *const names[] = { "null",	"zero", "full", "random",
					     "urandom", "tty",	"ptmx" };
	for (int i = 0; i < 7; i++) {
		char path[64];
		struct stat st;
		snprintf(path, sizeof(path), "/dev/%s", names[i]);
		if (stat(path, &st))
			printf("%s: %s\n", path, ename(errno));
		else
			printf("%s: %s %u:%u readable %d writable %d\n", path,
			       S_ISCHR(st.st_mode) ? "character" : "other", major(st.st_rdev),
			       minor(st.st_rdev), (st.st_mode & 0444) == 0444,
			       (st.st_mode & 0222) == 0222);
	}
	struct stat st;
	SHOW(stat("/dev/shm", &st));
	CHECK(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 01777);
	SHOW(stat("/tmp", &st));
	CHECK(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 01777);
	SHOW(stat("/dev/pts", &st));
	CHECK(S_ISDIR(st.st_mode));
	return 0;
}
